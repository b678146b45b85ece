//! The first stage: KLIEP with an l1 penalty whose loadings come from the data.

use super::sample::Sample;
use crate::error::{Error, Result};
use crate::features::Coefficients;
use crate::monitor::Monitor;
use crate::objective::certificate::Status;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::{self, Grid, Settings};
use rayon::prelude::*;
use std::sync::Arc;

/// The loadings are taken at theta = 0, and once more at the theta that this gives.
const PASSES: usize = 2;
/// Factors in one task.
const TASK_FACTORS: usize = 1024;

/// The penalised estimate.
#[derive(Debug, Clone)]
pub struct FirstStage {
    /// How the last pass ended.
    pub status: Status,
    /// Its worst violation of the optimality conditions, in units of the penalty.
    pub kkt: f64,
    /// The smallest multiple of the penalty at which nothing is detected.
    pub largest: f64,
    /// The non-zero factors.
    pub theta: Coefficients,
}

/// Fit with penalty `lambda` times the loadings, in passes.
pub fn fit(
    problem: &mut Problem,
    lambda: f64,
    (tol, max_iter): (f64, usize),
    monitor: &Monitor,
) -> Result<FirstStage> {
    let mut theta = Coefficients::default();
    let mut first = None;
    for _ in 0..PASSES {
        let sample = Sample::new(problem)?;
        let lambda2 = Grid::Given(vec![1.0]);
        let settings = Settings { tol, max_iter, ..Settings::new(0.0, lambda2) };
        let loadings = loadings(&sample, &theta, monitor)?;
        let factors = loadings.into_iter().map(|loading| penalty_factor(lambda, loading));
        problem.penalty_factor = Arc::new(PenaltyFactors::Each(factors.collect()));
        let mut fitted = path::fit(problem, &settings, monitor)?;
        let Some(step) = fitted.steps.pop() else {
            return Err(Error::Numeric("a path without a step".into()));
        };
        theta.clone_from(&step.estimate.coefficients);
        let done = FirstStage {
            status: step.status,
            kkt: step.certificate.kkt,
            largest: fitted.lambda_max,
            theta: step.estimate.coefficients,
        };
        if done.status == Status::Unbounded {
            return Ok(done);
        }
        first = Some(done);
    }
    first.ok_or_else(|| Error::Numeric("no pass was made".into()))
}

/// A feature that never varies says nothing: it is kept out.
fn penalty_factor(lambda: f64, loading: f64) -> f64 {
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
