//! Two networks by maximum likelihood, with normalisers by importance sampling.
//!
//! A network is `p(z) = exp(f(z)'theta) / Z(theta)` on all of space. With points drawn from an
//! instrumental density p', `Z(theta)` is about `1/m sum_i exp(f(z_i)'theta) / p'(z_i)`: minus the mean
//! log-likelihood is the density ratio's loss with the points as denominator and other base weights.

use super::fusion::{turn, Fusion};
use super::tall::Tall;
use crate::error::{Error, Result};
use crate::factors::PenaltyFactors;
use crate::features::{Coefficients, Features};
use crate::loss::Loss;
use crate::monitor::Monitor;
use crate::path::Grid;
use crate::penalty::norm;
use crate::problem::{Problem, RowDesign, Status, Tolerance};
use crate::simd::dispatch;
use crate::strategy::{auto, Around, Auto, Fitted, Limits, Small};
use crate::whole::Whole;
use crate::working::WorkingSet;
use pulp::{Simd, WithSimd};
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::time::Instant;

/// By so much lambda_max is rounded up: the fit that it follows from has a tolerance.
const ROUNDING: f64 = 1e-6;

/// From this many coefficients on, a matrix of their curvatures is too much.
const TALL: usize = 2500;

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
    fn effective(&self, network: &Coefficients) -> f64 {
        let scores = self.features.scores(self.points(), network);
        let loss = self.loss(self.x());
        loss.effective_size(&loss.weights(&scores).alpha)
    }
}

/// How a path is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Ridge on both networks, the same along the path.
    pub lambda1: f64,
    /// Group penalties, falling.
    pub grid: Grid,
    /// Relative duality gap (lambda1 > 0), or residual relative to lambda_max (lambda1 = 0).
    pub tolerance: f64,
    /// Iterations for one lambda2 and one problem.
    pub max_iter: usize,
}

impl Settings {
    fn limits(&self) -> Limits {
        Limits { lambda1: self.lambda1, max_iter: self.max_iter }
    }

    /// The tolerance of the fit without the penalised factors, which decides on lambda_max: more than
    /// the path's, and less than the last digit, for which high powers cost too many steps.
    fn null_fit(&self) -> Tolerance {
        Tolerance { relative: NULL_FIT * self.tolerance, scale: 1.0 }
    }
}

/// The fit at one lambda2.
#[derive(Debug, Clone)]
pub struct Step {
    /// Group penalty.
    pub lambda2: f64,
    /// How it ended.
    pub status: Status,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Minus both log-likelihoods, with the penalties.
    pub objective: f64,
    /// Duality gap; NaN for lambda1 = 0.
    pub gap: f64,
    /// Worst optimality residual over all factors of both networks.
    pub residual: f64,
    /// Wall time; that of the first step includes the search for lambda_max.
    pub seconds: f64,
    /// The networks of `x` and `y`.
    pub networks: [Coefficients; 2],
    /// `theta_P - theta_Q`, zero where the estimates are the same.
    pub change: Coefficients,
    /// `log Z` of both.
    pub log_normalizers: [f64; 2],
    /// Effective numbers of points of both.
    pub effective: [f64; 2],
}

/// A whole path.
#[derive(Debug, Clone)]
pub struct Path {
    /// The smallest lambda2 at which no penalised factor is detected.
    pub lambda_max: f64,
    /// One for each lambda2, the last perhaps unbounded.
    pub steps: Vec<Step>,
}

/// Each network by itself, with a group penalty of its own.
pub fn glasso(
    stack: &Stack,
    penalty: &PenaltyFactors,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<Path> {
    let begun = Instant::now();
    stack.validate()?;
    let problem = |rows| Problem::new(stack.features.clone(), stack.loss(rows), penalty.clone());
    let (p, q) = (problem(stack.x())?, problem(stack.y())?);
    let exact = settings.null_fit();
    let (mut of_p, mut of_q) = (solver(&p, settings.limits()), solver(&q, settings.limits()));
    let start = of_p.start(exact, monitor)?.max(of_q.start(exact, monitor)?);
    along(settings, start, begun, monitor, |around, tolerance| {
        let fitted =
            [of_p.solve(around, tolerance, monitor)?, of_q.solve(around, tolerance, monitor)?];
        let networks = fitted.each_ref().map(|fitted| fitted.coefficients.clone());
        let change = difference(&networks, &stack.features);
        Ok(Step::new(stack, &fitted, networks, change))
    })
}

/// The solver of one network.
fn solver<'a>(problem: &'a Problem, limits: Limits) -> Box<dyn Auto + 'a> {
    let free = problem.penalty.unpenalised(problem.features.factors());
    // Without a factor to start from, the first fit is theta = 0, which has no curvature.
    if free.is_empty() || coefficients(&problem.features) > TALL {
        return auto(problem, limits).into_auto();
    }
    match &problem.features {
        Features::Products(products) => {
            Box::new(Tall::new(&problem.loss, Whole::new(problem, products), limits))
        }
        _ => Box::new(Tall::new(&problem.loss, stored(problem), limits)),
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
    penalty: &PenaltyFactors,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<Path> {
    stack.validate()?;
    let problem = Problem::new(stack.features.clone(), stack.loss(stack.x()), penalty.clone())?;
    match &problem.features {
        Features::Products(products) => {
            fused(stack, &problem, Whole::new(&problem, products), settings, monitor)
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
) -> Result<Path> {
    let begun = Instant::now();
    let loss = problem.loss.beside(&stack.loss(stack.y()));
    let linear = [stack.x(), stack.y()].map(|rows| linear_moments(stack, rows));
    let spans: Vec<Range<usize>> = (0..base.groups()).map(|group| base.span(group)).collect();
    let size = base.linear().len();
    let design = Fusion::new(base, &linear[0], &linear[1]);
    let mut solver: Box<dyn Auto + '_> = if 2 * size > TALL {
        Box::new(Small::new(&loss, design, settings.limits()))
    } else {
        Box::new(Tall::new(&loss, design, settings.limits()))
    };
    let start = solver.start(settings.null_fit(), monitor)?;
    along(settings, start, begun, monitor, |around, tolerance| {
        let fitted = solver.solve(around, tolerance, monitor)?;
        let (networks, change) = unfold(&fitted, &spans, size);
        Ok(Step::new(stack, &[fitted], networks, change))
    })
}

/// Both networks and their difference, from the factors of a and b that are off zero.
fn unfold(
    fitted: &Fitted,
    spans: &[Range<usize>],
    size: usize,
) -> ([Coefficients; 2], Coefficients) {
    let mut halves = [vec![0.0; size], vec![0.0; size]];
    let mut change = Coefficients::default();
    for (group, theta) in fitted.coefficients.iter() {
        let factor = group % spans.len();
        let half = usize::from(group >= spans.len());
        halves[half][spans[factor].clone()].copy_from_slice(theta);
        if half == 1 {
            change.push(factor, &theta.iter().map(|b| SQRT_2 * b).collect::<Vec<_>>());
        }
    }
    let networks = turn(&halves[0], &halves[1]).map(|theta| {
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

/// One lambda2 after the other, up to one without a minimum.
fn along(
    settings: &Settings,
    start: f64,
    mut begun: Instant,
    monitor: &Monitor,
    mut solve: impl FnMut(Around, Tolerance) -> Result<Step>,
) -> Result<Path> {
    let lambda_max = (start * (1.0 + ROUNDING)).max(f64::MIN_POSITIVE);
    let grid = settings.grid.values(lambda_max);
    let tolerance = Tolerance { relative: settings.tolerance, scale: lambda_max };
    monitor.start(grid.len());
    let mut steps = Vec::with_capacity(grid.len());
    for (k, lambda2) in grid.iter().enumerate() {
        let around = Around {
            last: if k == 0 { lambda_max.max(*lambda2) } else { grid[k - 1] },
            now: *lambda2,
            next: grid.get(k + 1).copied().unwrap_or(*lambda2),
        };
        let mut step = solve(around, tolerance)?;
        step.lambda2 = *lambda2;
        step.seconds = begun.elapsed().as_secs_f64();
        begun = Instant::now();
        monitor.advance();
        let unbounded = step.status == Status::Unbounded;
        steps.push(step);
        if unbounded {
            break;
        }
    }
    Ok(Path { lambda_max, steps })
}

impl Step {
    /// What one or two problems with these solutions say together.
    fn new(
        stack: &Stack,
        fitted: &[Fitted],
        networks: [Coefficients; 2],
        change: Coefficients,
    ) -> Self {
        let sum = |value: fn(&Fitted) -> f64| fitted.iter().map(value).sum::<f64>();
        let status = worst(fitted);
        let unbounded = status == Status::Unbounded;
        let gap = sum(|fitted| fitted.gap);
        let log_sums: Vec<f64> = fitted.iter().flat_map(|fitted| fitted.log_sum.clone()).collect();
        let known = |value: f64| if unbounded { f64::NAN } else { value };
        Self {
            lambda2: f64::NAN,
            status,
            iterations: fitted.iter().map(|fitted| fitted.iterations).sum(),
            objective: if unbounded { f64::NEG_INFINITY } else { sum(|fitted| fitted.objective) },
            gap: if gap.is_finite() { known(gap) } else { f64::NAN },
            residual: known(fitted.iter().map(|f| f.residual).fold(0.0, f64::max)),
            seconds: f64::NAN,
            log_normalizers: [known(log_sums[0]), known(log_sums[1])],
            effective: networks.each_ref().map(|network| known(stack.effective(network))),
            networks: if unbounded { Default::default() } else { networks },
            change: if unbounded { Coefficients::default() } else { change },
        }
    }
}

/// The status to report for several problems.
fn worst(fitted: &[Fitted]) -> Status {
    let order = [Status::Unbounded, Status::NearThreshold, Status::MaxIter];
    let found = order.into_iter().find(|status| fitted.iter().any(|f| f.status == *status));
    found.unwrap_or(Status::Converged)
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
