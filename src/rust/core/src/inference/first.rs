//! The first stage: KLIEP with an l1 penalty whose loadings come from the data.

use super::sample::Sample;
use crate::error::{Error, Result};
use crate::factors::PenaltyFactors;
use crate::features::Coefficients;
use crate::monitor::Monitor;
use crate::path::{self, Grid, Method, Normalizer, Settings};
use crate::problem::{Problem, Status};
use crate::reweight::Shape;
use rayon::prelude::*;
use std::sync::Arc;

/// The loadings are taken at theta = 0, and once more at the theta that this gives.
const PASSES: usize = 2;
/// Factors in one task.
const TASK_FACTORS: usize = 1024;

/// The penalised estimate.
#[derive(Debug, Clone)]
pub struct First {
    /// How the last pass ended.
    pub status: Status,
    /// Its worst optimality residual, in units of the penalty.
    pub residual: f64,
    /// The smallest multiple of the penalty at which nothing is detected.
    pub largest: f64,
    /// The factors off zero.
    pub theta: Coefficients,
}

/// Fit with penalty `lambda` times the loadings, in passes.
pub fn fit(
    problem: &mut Problem,
    lambda: f64,
    (tolerance, max_iter): (f64, usize),
    monitor: &Monitor,
) -> Result<First> {
    let mut theta = Coefficients::default();
    let mut first = None;
    for _ in 0..PASSES {
        let sample = Sample::new(problem)?;
        let settings = Settings {
            lambda1: 0.0,
            grid: Grid::Given(vec![1.0]),
            shape: Shape::GroupLasso,
            robust: 0.0,
            method: Method::Auto,
            normalizer: Normalizer::Empirical,
            tolerance,
            max_iter,
            numerator: sample.x.clone(),
            denominator: sample.y.clone(),
        };
        let loadings = loadings(&sample, &theta, monitor)?;
        let penalty = loadings.into_iter().map(|loading| penalty(lambda, loading)).collect();
        problem.penalty = Arc::new(PenaltyFactors::Each(penalty));
        let mut fitted = path::fit(problem, &settings, monitor)?;
        let Some(step) = fitted.steps.pop() else {
            return Err(Error::Numeric("a path without a step".into()));
        };
        theta.clone_from(&step.coefficients);
        let done = First {
            status: step.status,
            residual: step.residual,
            largest: fitted.lambda_max,
            theta: step.coefficients,
        };
        if done.status == Status::Unbounded {
            return Ok(done);
        }
        first = Some(done);
    }
    first.ok_or_else(|| Error::Numeric("no pass was made".into()))
}

/// A feature that never varies says nothing: it is kept out.
fn penalty(lambda: f64, loading: f64) -> f64 {
    if loading > 0.0 {
        lambda * loading
    } else {
        f64::INFINITY
    }
}

/// `sqrt(var(f(x)) / n_P + var(r f(y)) / n_Q)` of every factor, r the ratio at theta; zero for a factor
/// without a feature.
pub fn loadings(sample: &Sample<'_>, theta: &Coefficients, monitor: &Monitor) -> Result<Vec<f64>> {
    let n = sample.y.len() as f64;
    let ratio: Vec<f64> = sample.weights(theta).alpha.iter().map(|a| n * a).collect();
    let one = |factor: usize| {
        if !sample.has(factor) {
            return 0.0;
        }
        let mut weighted = sample.feature(factor, sample.y.clone());
        weighted.iter_mut().zip(&ratio).for_each(|(f, r)| *f *= r);
        let plain = sample.feature(factor, sample.x.clone());
        let share = |values: &[f64]| variance(values) / values.len() as f64;
        (share(&plain) + share(&weighted)).sqrt()
    };
    let factors: Vec<usize> = (0..sample.products.factors()).collect();
    let parts: Result<Vec<Vec<f64>>> = factors
        .par_chunks(TASK_FACTORS)
        .map(|part| {
            monitor.check()?;
            Ok(part.iter().map(|factor| one(*factor)).collect())
        })
        .collect();
    Ok(parts?.concat())
}

/// With n - 1.
fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}
