//! Fits along a sequence of lambda2, each started from the one before.

use crate::error::{Error, Result};
use crate::features::{Coefficients, Features};
use crate::monitor::Monitor;
use crate::problem::{Problem, Status, Tolerance};
use crate::reweight::{adaptive, distance, excess, mcp, Shape};
use crate::scan::Drift;
use crate::strategy::{
    auto, Adjust, Around, ClosedForm, Dual, Fitted, Follow, Limits, Primal, NULL_FIT,
};
use crate::trim::Trim;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// By so much lambda_max is rounded up after a fit of unpenalised factors, which has a tolerance.
const NULL_FIT_ROUNDING: f64 = 1e-6;

/// Steps of the path to the first fit that adaptive penalties are made of.
const FIRST_STEPS: usize = 5;
/// Convex fits at one lambda2 before what they lead to counts as unsettled.
const MOST_FITS: usize = 100;
/// The same over the weights of trimmed numerators.
const MOST_WEIGHTINGS: usize = 300;
/// Trimmed objectives closer to zero than this are judged on an absolute scale.
const TRIMMED_FLOOR: f64 = 0.1;

/// Share of the predicted rise that a step of the numerators' weights must bring.
const ARMIJO: f64 = 1e-4;

/// Which solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A growing working set, and on it the solver that fits its shape.
    Auto,
    /// Proximal gradient on all factors.
    Primal,
    /// L-BFGS in the dual on all factors; needs lambda1 > 0.
    Dual,
}

/// Where the normaliser of the density ratio comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalizer {
    /// The mean over the sample in the denominator.
    Empirical,
    /// The closed form of zero-mean Gaussians with the samples' second moments.
    Gaussian,
}

/// The lambda2 values of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// These, falling.
    Given(Vec<f64>),
    /// From lambda_max down by equal factors.
    Geometric {
        /// How many.
        count: usize,
        /// The last as a share of lambda_max.
        min_ratio: f64,
    },
}

impl Grid {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Self::Given(values) => values.len(),
            Self::Geometric { count, .. } => *count,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, for this lambda_max.
    pub fn values(&self, lambda_max: f64) -> Vec<f64> {
        match self {
            Self::Given(values) => values.clone(),
            Self::Geometric { count, min_ratio } => {
                let step = if *count > 1 { min_ratio.ln() / (*count as f64 - 1.0) } else { 0.0 };
                (0..*count).map(|k| lambda_max * (step * k as f64).exp()).collect()
            }
        }
    }
}

/// How a path is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Ridge, the same along the path.
    pub lambda1: f64,
    /// Group penalties.
    pub grid: Grid,
    /// How the group penalty grows with a factor.
    pub shape: Shape,
    /// The share of the numerators' rows that may be outliers: below one half.
    pub robust: f64,
    /// Which solver.
    pub method: Method,
    /// Which normaliser; the Gaussian one has one solver.
    pub normalizer: Normalizer,
    /// Relative duality gap (lambda1 > 0), or residual relative to lambda_max (lambda1 = 0).
    pub tolerance: f64,
    /// Iterations for one lambda2.
    pub max_iter: usize,
    /// Rows of `x`, over which the mean score is taken.
    pub numerator: Range<usize>,
    /// Rows of `y`, over which the log-normaliser is taken.
    pub denominator: Range<usize>,
}

/// The fit at one lambda2.
#[derive(Debug, Clone)]
pub struct Step {
    /// Group penalty.
    pub lambda2: f64,
    /// How it ended.
    pub status: Status,
    /// Iterations of the inner solver, over all fits.
    pub iterations: usize,
    /// Convex fits it took.
    pub fits: usize,
    /// `J(theta)`.
    pub objective: f64,
    /// Duality gap of the whole problem; NaN for lambda1 = 0.
    pub gap: f64,
    /// Worst optimality residual over all factors.
    pub residual: f64,
    /// Wall time; that of the first step includes the search for lambda_max.
    pub seconds: f64,
    /// `log mean exp(f'theta)` over the denominator sample.
    pub log_normalizer: f64,
    /// `mean f'theta` over the numerator sample.
    pub mean_score: f64,
    /// Effective size of the weighted sample; NaN where nothing is weighted.
    pub effective_size: f64,
    /// The factors off zero.
    pub coefficients: Coefficients,
}

/// A whole path.
#[derive(Debug, Clone)]
pub struct Path {
    /// The smallest lambda2 at which every penalised factor is zero.
    pub lambda_max: f64,
    /// One for each lambda2, the last perhaps unbounded.
    pub steps: Vec<Step>,
    /// Full passes over all factors it took (working-set method).
    pub passes: usize,
}

/// Fit a path.
pub fn fit(problem: &Problem, settings: &Settings, monitor: &Monitor) -> Result<Path> {
    let begun = Instant::now();
    let Shape::Adaptive { gamma, share } = settings.shape else {
        monitor.start(settings.grid.len());
        return follow(problem, settings, begun, monitor);
    };
    monitor.start(FIRST_STEPS + settings.grid.len());
    let grid = Grid::Geometric { count: FIRST_STEPS, min_ratio: share };
    let first = Settings { shape: Shape::GroupLasso, grid, ..settings.clone() };
    let first = follow(problem, &first, begun, monitor)?;
    let last = first.steps.iter().rfind(|step| step.status != Status::Unbounded);
    let theta = last.map(|step| step.coefficients.clone()).unwrap_or_default();
    let penalty = Arc::new(adaptive(&problem.penalty, &theta, gamma));
    let problem = Problem { penalty, ..problem.clone() };
    let mut path = follow(&problem, settings, begun, monitor)?;
    path.passes += first.passes;
    Ok(path)
}

/// Fit a path with the penalty factors of the problem.
fn follow(
    problem: &Problem,
    settings: &Settings,
    mut begun: Instant,
    monitor: &Monitor,
) -> Result<Path> {
    let limits = Limits { lambda1: settings.lambda1, max_iter: settings.max_iter };
    let mut default: Box<dyn Follow> = match (settings.normalizer, &problem.features) {
        (Normalizer::Empirical, _) => auto(problem, limits),
        (Normalizer::Gaussian, Features::Products(products)) => {
            Box::new(ClosedForm::new(problem, products, limits)?)
        }
        (Normalizer::Gaussian, _) => {
            return Err(Error::Argument("the Gaussian normaliser needs product features".into()))
        }
    };
    let lambda_max = round_up(default.start(NULL_FIT, monitor)?, problem);
    let grid = settings.grid.values(lambda_max);
    let tolerance = Tolerance { relative: settings.tolerance, scale: lambda_max };
    let solver: Box<dyn Adjust> = match settings.method {
        Method::Auto => default.into_adjust(),
        Method::Primal => Box::new(Primal::new(problem, limits)),
        Method::Dual if settings.lambda1 > 0.0 => Box::new(Dual::new(problem, limits)),
        Method::Dual => return Err(Error::Argument("the dual needs lambda1 > 0".into())),
    };
    let trim = (settings.robust > 0.0).then(|| Trim::new(&problem.loss, settings.robust));
    let mut fits = Fits { solver, problem: problem.clone(), trim, tolerance, made: 0 };
    let mut steps: Vec<Step> = Vec::with_capacity(grid.len());
    for (k, lambda2) in grid.iter().enumerate() {
        let around = Around {
            last: if k == 0 { lambda_max.max(*lambda2) } else { grid[k - 1] },
            now: *lambda2,
            next: grid.get(k + 1).copied().unwrap_or(*lambda2),
        };
        fits.made = 0;
        let fitted = match settings.shape {
            Shape::Mcp { gamma } => {
                let start = steps.last().map(|step| &step.coefficients);
                fits.concave(gamma, start, around, monitor)?
            }
            _ => fits.convex(around, monitor)?,
        };
        let unbounded = fitted.status == Status::Unbounded;
        steps.push(Step::new(fitted, fits.made, problem, settings, *lambda2, begun));
        // The first step's time includes the search for lambda_max.
        begun = Instant::now();
        monitor.advance();
        if unbounded {
            break;
        }
    }
    Ok(Path { lambda_max, steps, passes: fits.solver.passes() })
}

/// The convex fits that one lambda2 takes.
struct Fits {
    solver: Box<dyn Adjust>,
    /// The problem of the next fit.
    problem: Problem,
    /// Weights of the numerators, where these are trimmed.
    trim: Option<Trim>,
    tolerance: Tolerance,
    /// How many were made.
    made: usize,
}

/// A fit with some weights of the numerators.
struct Weighted {
    trim: Trim,
    fitted: Fitted,
    /// The scores of the numerators.
    scores: Vec<f64>,
}

impl Fits {
    /// How far apart what fits lead to may stay, relative to its own size.
    fn enough(&self) -> f64 {
        self.tolerance.relative.sqrt()
    }

    /// How much trimmed objectives near this one may stay apart.
    fn trimmed_enough(&self, objective: f64) -> f64 {
        self.enough() * TRIMMED_FLOOR.max(objective.abs())
    }

    /// A fit with the penalty as it is: one, or with trimmed numerators as many as their weights take.
    fn convex(&mut self, around: Around, monitor: &Monitor) -> Result<Fitted> {
        match self.trim.clone() {
            Some(trim) => self.trimmed(trim, around, monitor),
            None => {
                self.made += 1;
                self.solver.solve(around, self.tolerance, monitor)
            }
        }
    }

    /// The minimax concave penalty by local linear approximation: convex fits, each with the
    /// penalty's slopes at the fit before, until these settle. No fit raises the objective; trimmed
    /// ones are less exact than slopes are asked to be, and have settled when they stop lowering it.
    fn concave(
        &mut self,
        gamma: f64,
        start: Option<&Coefficients>,
        mut around: Around,
        monitor: &Monitor,
    ) -> Result<Fitted> {
        let base = self.problem.penalty.clone();
        let slopes = |theta: &Coefficients| mcp(&base, theta, gamma, around.now);
        let mut penalty = Arc::new(slopes(start.unwrap_or(&Coefficients::default())));
        let (mut rounds, mut iterations) = (0, 0);
        // The objective of the fit before, with the slopes at its own theta.
        let mut before = f64::INFINITY;
        loop {
            self.solver.set_penalty(&penalty);
            let mut fitted = self.convex(around, monitor)?;
            rounds += 1;
            iterations += fitted.iterations;
            fitted.iterations = iterations;
            let next = slopes(&fitted.coefficients);
            let lowered = before - fitted.objective;
            let settled = distance(&penalty, &next) <= self.enough()
                || self.trim.is_some() && lowered <= self.trimmed_enough(fitted.objective);
            if settled || rounds == MOST_FITS || fitted.status == Status::Unbounded {
                if !settled && fitted.status == Status::Converged {
                    fitted.status = Status::Unsettled;
                }
                return Ok(fitted);
            }
            let rise = excess(&next, &penalty, &fitted.coefficients);
            before = fitted.objective + around.now * rise;
            penalty = Arc::new(next);
            around.last = around.now;
        }
    }

    /// Trimmed numerators: raise the objective of the fit over their weights, by projected slopes
    /// with steps as long as the last change of slope suggests, until trimming by its scores would
    /// raise it no more.
    fn trimmed(&mut self, trim: Trim, mut around: Around, monitor: &Monitor) -> Result<Fitted> {
        let most = self.made + MOST_WEIGHTINGS;
        let mut now = self.weighted(trim, around, monitor)?;
        around.last = around.now;
        let (mut length, mut iterations) = (f64::INFINITY, now.fitted.iterations);
        loop {
            let gap = now.trim.gap(&now.scores);
            let settled = gap <= self.trimmed_enough(now.fitted.objective);
            if settled || self.made >= most || now.fitted.status == Status::Unbounded {
                let mut fitted = now.fitted;
                fitted.objective += gap;
                fitted.gap += gap;
                fitted.iterations = iterations;
                if !settled && fitted.status == Status::Converged {
                    fitted.status = Status::Unsettled;
                }
                self.trim = Some(now.trim);
                return Ok(fitted);
            }
            let (step, slope) = now.trim.step(&now.scores, longest(&now.scores, length));
            let mut share = 1.0;
            let next = loop {
                let next = self.weighted(now.trim.moved(&step, share), around, monitor)?;
                iterations += next.fitted.iterations;
                let noise = 2.0 * self.tolerance.gap(now.fitted.objective);
                let rise = next.fitted.objective - now.fitted.objective;
                if rise >= ARMIJO * share * slope - noise || self.made >= most {
                    break next;
                }
                // Where the slope along the step is zero if it changes evenly.
                let end = -dot(&step, &next.scores);
                share *= (slope / (slope - end)).clamp(0.1, 0.5);
            };
            let moved: Vec<f64> = step.iter().map(|d| share * d).collect();
            let turned: Vec<f64> =
                next.scores.iter().zip(&now.scores).map(|(to, from)| to - from).collect();
            let turn = dot(&moved, &turned);
            length = if turn > 0.0 { dot(&moved, &moved) / turn } else { f64::INFINITY };
            now = next;
        }
    }

    /// The fit with these weights of the numerators.
    fn weighted(&mut self, trim: Trim, around: Around, monitor: &Monitor) -> Result<Weighted> {
        trim.write(&mut self.problem.loss);
        self.solver.set_loss(&self.problem);
        self.made += 1;
        let fitted = self.solver.solve(around, self.tolerance, monitor)?;
        let scores = trim.scores(&self.problem.features, &fitted.coefficients);
        Ok(Weighted { trim, fitted, scores })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A step against scores that is no longer than takes every weight to its limit.
fn longest(scores: &[f64], length: f64) -> f64 {
    let size = scores.iter().fold(f64::MIN_POSITIVE, |top: f64, score| top.max(score.abs()));
    length.min(1e3 / size)
}

/// A lambda_max that is one for every way of summing: `xi` comes out of different kernels, which
/// round differently. Between equal samples all of `xi` is rounding, and nothing may be detected.
fn round_up(largest: f64, problem: &Problem) -> f64 {
    const ROUNDING: f64 = 64.0 * f64::EPSILON;
    let weights = problem.loss.row_weights_at_zero();
    let total = || weights.iter().map(|c| c.abs()).sum::<f64>();
    let sums = match &problem.features {
        Features::Products(products) => Drift::new(products, &weights).largest(),
        Features::Rbf(_) => total(),
        Features::Table(table) => total() * table.largest(),
    };
    let least = problem.penalty.smallest();
    let noise = if least.is_finite() { ROUNDING * sums / least } else { 0.0 };
    let unpenalised = !problem.penalty.unpenalised(problem.features.factors()).is_empty();
    let share = if unpenalised { NULL_FIT_ROUNDING } else { ROUNDING };
    largest * (1.0 + share) + noise
}

impl Step {
    fn new(
        fitted: Fitted,
        fits: usize,
        problem: &Problem,
        settings: &Settings,
        lambda2: f64,
        begun: Instant,
    ) -> Self {
        let unbounded = fitted.status == Status::Unbounded;
        let log_normalizer = log_normalizer(&fitted, problem, &settings.denominator);
        let scores = problem.features.scores(settings.numerator.clone(), &fitted.coefficients);
        let mean_score = scores.iter().sum::<f64>() / scores.len() as f64;
        let weighted = !unbounded && settings.normalizer == Normalizer::Empirical;
        let effective_size =
            if weighted { effective_size(&fitted.coefficients, problem) } else { f64::NAN };
        let coefficients = if unbounded { Coefficients::default() } else { fitted.coefficients };
        Self {
            lambda2,
            status: fitted.status,
            iterations: fitted.iterations,
            fits,
            objective: if unbounded { f64::NEG_INFINITY } else { fitted.objective },
            gap: if fitted.gap.is_finite() { fitted.gap } else { f64::NAN },
            residual: if unbounded { f64::NAN } else { fitted.residual },
            seconds: begun.elapsed().as_secs_f64(),
            log_normalizer: if unbounded { f64::NAN } else { log_normalizer },
            mean_score: if unbounded { f64::NAN } else { mean_score },
            effective_size,
            coefficients,
        }
    }
}

/// `log mean exp(f'theta)` over some rows: often one of the loss's own terms.
fn log_normalizer(fitted: &Fitted, problem: &Problem, rows: &Range<usize>) -> f64 {
    let terms = problem.loss.terms();
    let own = terms.iter().position(|term| term.rows == *rows && term.sign > 0.0);
    match own {
        Some(term) => fitted.log_sum[term],
        None => log_mean_exp(&problem.features.scores(rows.clone(), &fitted.coefficients)),
    }
}

fn effective_size(coefficients: &Coefficients, problem: &Problem) -> f64 {
    let mut scores = Vec::with_capacity(problem.loss.scores());
    for term in problem.loss.terms() {
        let plain = problem.features.scores(term.rows.clone(), coefficients);
        scores.extend(plain.iter().map(|score| term.sign * score));
    }
    problem.loss.effective_size(&problem.loss.weights(&scores).alpha)
}

/// Overflow-safe `log mean exp`.
fn log_mean_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().map(|v| (v - top).exp()).sum::<f64>() / values.len() as f64;
    top + mean.ln()
}
