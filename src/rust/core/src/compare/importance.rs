//! Two networks by maximum likelihood, with normalisers by importance sampling.
//!
//! A network is `p(z) = exp(f(z)'theta) / Z(theta)` on all of space. With points drawn from an
//! instrumental density p', `Z(theta)` is about `1/m sum_i exp(f(z_i)'theta) / p'(z_i)`: minus the mean
//! log-likelihood is the density ratio's loss with the points as denominator and other base weights.

use super::paired_design::{rotate, PairedDesign};
use crate::design::by_products::ProductDesign;
use crate::design::working_set::WorkingSet;
use crate::design::RowDesign;
use crate::error::{Error, Result};
use crate::features::{Coefficients, Features};
use crate::monitor::Monitor;
use crate::numerics::simd::dispatch;
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::objective::loss::Loss;
use crate::objective::penalty::norm;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::solver::{
    default_solver, AllFactors, FindLambdaMax, Fit, Limits, ProximalNewtonSolver,
};
use crate::path::{along_grid, LambdaStep, Path, Settings, Step};
use pulp::{Simd, WithSimd};
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::time::Instant;

/// lambda_max is rounded up by this share: it follows from a fit, which has a tolerance.
const ROUNDING: f64 = 1e-6;

/// Beyond this many coefficients a matrix of their curvatures takes too long.
const MOST_COEFFICIENTS: usize = 2500;

/// How much more is asked of the fit without the penalised factors.
const NULL_FIT: f64 = 1e-2;

/// Both samples and the points, stacked in this order.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The features of all rows.
    pub features: Features,
    /// Rows of `x`.
    pub x_rows: usize,
    /// Rows of `y`.
    pub y_rows: usize,
    /// `-log(m p'(z_i))` of each point.
    pub log_base: Vec<f64>,
}

impl Stack {
    fn validate(&self) -> Result<()> {
        let rows = self.x_rows + self.y_rows + self.log_base.len();
        if self.features.rows() != rows
            || self.x_rows.min(self.y_rows).min(self.log_base.len()) == 0
        {
            return Err(Error::Argument("the stack has the wrong number of rows".into()));
        }
        Ok(())
    }

    fn x(&self) -> Range<usize> {
        0..self.x_rows
    }

    fn y(&self) -> Range<usize> {
        self.x_rows..self.x_rows + self.y_rows
    }

    fn points(&self) -> Range<usize> {
        self.x_rows + self.y_rows..self.features.rows()
    }

    fn loss(&self, sample: Range<usize>) -> Loss {
        Loss::likelihood(sample, self.points(), self.log_base.clone())
    }

    /// The number of points that would do as well if all had the same weight, `1 / sum alpha^2`.
    fn effective_size(&self, network: &Coefficients) -> f64 {
        let scores = self.features.scores(self.points(), network);
        let loss = self.loss(self.x());
        loss.effective_size(&loss.weights(&scores).alpha)
    }
}

/// The tolerance of the fit without the penalised factors, which decides on lambda_max: more than
/// the path's, and less than the last digit, for which high powers cost too many steps.
fn null_fit(settings: &Settings) -> Tolerance {
    Tolerance { tol: NULL_FIT * settings.tol, scale: 1.0 }
}

/// Both networks at one lambda2. The objective is minus both log-likelihoods, with the penalties.
#[derive(Debug, Clone, Default)]
pub struct Networks {
    /// Those of `x` and `y`.
    pub networks: [Coefficients; 2],
    /// `theta_P - theta_Q`, zero where the estimates are the same.
    pub change: Coefficients,
    /// `log Z` of both.
    pub log_normalizers: [f64; 2],
    /// Effective numbers of points of both.
    pub effective_size: [f64; 2],
}

/// Certificates are over all factors of both networks.
pub type NetworksPath = Path<Networks>;

/// Each network by itself, with a group penalty of its own.
pub fn glasso(
    stack: &Stack,
    penalty_factor: &PenaltyFactors,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<NetworksPath> {
    let begun = Instant::now();
    stack.validate()?;
    let problem =
        |rows| Problem::new(stack.features.clone(), stack.loss(rows), penalty_factor.clone());
    let (p, q) = (problem(stack.x())?, problem(stack.y())?);
    let (exact, limits) = (null_fit(settings), Limits::of(settings));
    let (mut of_p, mut of_q) = (solver(&p, limits), solver(&q, limits));
    let start = of_p.lambda_max(exact, monitor)?.max(of_q.lambda_max(exact, monitor)?);
    path(settings, start, begun, monitor, |at, tolerance| {
        let fits = [of_p.solve(at, tolerance, monitor)?, of_q.solve(at, tolerance, monitor)?];
        let networks = fits.each_ref().map(|fit| fit.coefficients.clone());
        let change = difference(&networks, &stack.features);
        Ok(step(stack, at.current, &fits, networks, change))
    })
}

/// The solver of one network.
fn solver<'a>(problem: &'a Problem, limits: Limits) -> Box<dyn FindLambdaMax + 'a> {
    let free = problem.penalty_factor.unpenalised(problem.features.factors());
    // Without a factor to start from, the first fit is theta = 0, which has no curvature.
    if free.is_empty() || coefficients(&problem.features) > MOST_COEFFICIENTS {
        return default_solver(problem, limits).into_find();
    }
    match &problem.features {
        Features::Products(products) => Box::new(ProximalNewtonSolver::new(
            &problem.loss,
            ProductDesign::new(problem, products),
            limits,
        )),
        _ => Box::new(ProximalNewtonSolver::new(&problem.loss, stored(problem), limits)),
    }
}

/// All features of a problem, stored.
fn stored(problem: &Problem) -> WorkingSet {
    let mut set = WorkingSet::new(&problem.loss);
    set.activate(problem, 0..problem.features.factors());
    set
}

fn coefficients(features: &Features) -> usize {
    let size = |factor| {
        let (u, v) = features.place(factor);
        features.size_of(u, v)
    };
    (0..features.factors()).map(size).sum()
}

/// Both networks at once, with a ridge on them and a group penalty on their difference.
pub fn flasso(
    stack: &Stack,
    penalty_factor: &PenaltyFactors,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<NetworksPath> {
    stack.validate()?;
    let loss = stack.loss(stack.x());
    let problem = Problem::new(stack.features.clone(), loss, penalty_factor.clone())?;
    match &problem.features {
        Features::Products(products) => {
            fused(stack, &problem, ProductDesign::new(&problem, products), settings, monitor)
        }
        _ => fused(stack, &problem, stored(&problem), settings, monitor),
    }
}

fn fused<D: RowDesign>(
    stack: &Stack,
    problem: &Problem,
    base: D,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<NetworksPath> {
    let begun = Instant::now();
    let loss = problem.loss.beside(&stack.loss(stack.y()));
    let linear = [stack.x(), stack.y()].map(|rows| linear_moments(stack, rows));
    let spans: Vec<Range<usize>> = (0..base.groups()).map(|group| base.span(group)).collect();
    let size = base.linear().len();
    let design = PairedDesign::new(base, &linear[0], &linear[1]);
    let mut solver: Box<dyn FindLambdaMax + '_> = if 2 * size > MOST_COEFFICIENTS {
        Box::new(AllFactors::new(&loss, design, Limits::of(settings)))
    } else {
        Box::new(ProximalNewtonSolver::new(&loss, design, Limits::of(settings)))
    };
    let start = solver.lambda_max(null_fit(settings), monitor)?;
    path(settings, start, begun, monitor, |at, tolerance| {
        let fit = solver.solve(at, tolerance, monitor)?;
        let (networks, change) = unfold(&fit, &spans, size);
        Ok(step(stack, at.current, &[fit], networks, change))
    })
}

/// Both networks and their difference, from the non-zero factors of a and b.
fn unfold(fit: &Fit, spans: &[Range<usize>], size: usize) -> ([Coefficients; 2], Coefficients) {
    let mut halves = [vec![0.0; size], vec![0.0; size]];
    let mut change = Coefficients::default();
    for (group, theta) in fit.coefficients.iter() {
        let factor = group % spans.len();
        let half = usize::from(group >= spans.len());
        halves[half][spans[factor].clone()].copy_from_slice(theta);
        if half == 1 {
            change.push(factor, &theta.iter().map(|b| SQRT_2 * b).collect::<Vec<_>>());
        }
    }
    let networks = rotate(&halves[0], &halves[1]).map(|theta| {
        let mut network = Coefficients::default();
        for (factor, span) in spans.iter().enumerate() {
            if norm(&theta[span.clone()]) > 0.0 {
                network.push(factor, &theta[span.clone()]);
            }
        }
        network
    });
    (networks, change)
}

/// `theta_P - theta_Q` over the factors of either network.
fn difference([p, q]: &[Coefficients; 2], features: &Features) -> Coefficients {
    let mut factors: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (network, sign) in [(p, 1.0), (q, -1.0)] {
        for (factor, values) in network.iter() {
            let (u, v) = features.place(factor);
            let zeros = || vec![0.0; features.size_of(u, v)];
            let theta = factors.entry(factor).or_insert_with(zeros);
            theta.iter_mut().zip(values).for_each(|(t, value)| *t += sign * value);
        }
    }
    let mut change = Coefficients::default();
    factors.iter().for_each(|(factor, theta)| change.push(*factor, theta));
    change
}

/// A path from the lambda2 at which the first penalised factor enters.
fn path(
    settings: &Settings,
    first_to_enter: f64,
    begun: Instant,
    monitor: &Monitor,
    mut fit: impl FnMut(LambdaStep, Tolerance) -> Result<Step<Networks>>,
) -> Result<NetworksPath> {
    let lambda_max = (first_to_enter * (1.0 + ROUNDING)).max(f64::MIN_POSITIVE);
    let grid = settings.lambda2.values(lambda_max);
    let tolerance = Tolerance { tol: settings.tol, scale: lambda_max };
    monitor.start(grid.len());
    let steps = along_grid(&grid, lambda_max, begun, monitor, |at| fit(at, tolerance), |_| false)?;
    Ok(Path { lambda_max, steps, passes: 0 })
}

/// What one or two problems with these solutions say together.
fn step(
    stack: &Stack,
    lambda2: f64,
    fits: &[Fit],
    networks: [Coefficients; 2],
    change: Coefficients,
) -> Step<Networks> {
    let sum = |value: fn(&Certificate) -> f64| -> f64 {
        fits.iter().map(|fit| value(&fit.certificate)).sum()
    };
    let certificate = Certificate {
        objective: sum(|certificate| certificate.objective),
        gap: sum(|certificate| certificate.gap),
        kkt: fits.iter().map(|fit| fit.certificate.kkt).fold(0.0, f64::max),
    };
    let status = Status::worst(fits.iter().map(|fit| fit.status));
    let iterations = fits.iter().map(|fit| fit.iterations).sum();
    let estimate = if status == Status::Unbounded {
        let unknown = [f64::NAN; 2];
        Networks { log_normalizers: unknown, effective_size: unknown, ..Networks::default() }
    } else {
        let log_sums: Vec<f64> = fits.iter().flat_map(|fit| fit.weights.log_sum.clone()).collect();
        let effective_size = networks.each_ref().map(|network| stack.effective_size(network));
        let log_normalizers = [log_sums[0], log_sums[1]];
        Networks { networks, change, log_normalizers, effective_size }
    };
    Step::new(lambda2, status, iterations, certificate, estimate)
}

/// The mean of every feature over some rows.
fn linear_moments(stack: &Stack, rows: Range<usize>) -> Vec<f64> {
    dispatch(Means { features: &stack.features, rows })
}

struct Means<'a> {
    features: &'a Features,
    rows: Range<usize>,
}

impl WithSimd for Means<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let share = vec![1.0 / self.rows.len() as f64; self.rows.len()];
        let mut means = Vec::new();
        for factor in 0..self.features.factors() {
            let (u, v) = self.features.place(factor);
            for k in 0..self.features.size_of(u, v) {
                means.push(self.features.moment(simd, (u, v, k), self.rows.clone(), &share));
            }
        }
        means
    }
}
