//! The path of the density-ratio estimator, KLIEP.

use crate::design::drift::Drift;
use crate::error::{Error, Result};
use crate::features::factors::factor_variables;
use crate::features::{Coefficients, Features};
use crate::monitor::Monitor;
use crate::objective::certificate::{Status, Tolerance};
use crate::objective::problem::Problem;
use crate::objective::reweight::{adaptive, PenaltyShape};
use crate::path::convex::ConvexFits;
use crate::path::grid::{Grid, LambdaStep};
use crate::path::reweighted::fit_mcp;
use crate::path::settings::{Normalizer, Settings, SolverChoice};
use crate::path::solver::{
    default_solver, DefaultSolver, Dual, Fit, GaussianSolver, Limits, Primal, UpdateProblem,
    NULL_FIT,
};
use crate::path::steps::{along_grid, Path, Step};
use crate::path::trim_weights::{lowest_mean, TrimWeights};
use crate::path::trimmed::TrimmedFits;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// lambda_max is rounded up by this share after a fit of unpenalised factors, which has a
/// tolerance.
const NULL_FIT_ROUNDING: f64 = 1e-6;
/// Steps of the path to the first fit that adaptive penalties are computed from.
const FIRST_STEPS: usize = 5;

/// The density ratio at one lambda2.
#[derive(Debug, Clone)]
pub struct DensityRatio {
    /// The non-zero factors.
    pub coefficients: Coefficients,
    /// Convex fits it took.
    pub fits: usize,
    /// `log mean exp(f'theta)` over `y`.
    pub log_normalizer: f64,
    /// `mean f'theta` over `x`, but for the share that may be outliers.
    pub mean_score: f64,
    /// Effective size of the weighted sample; NaN where nothing is weighted.
    pub effective_size: f64,
}

/// A step of a path of density ratios.
pub type KliepStep = Step<DensityRatio>;

/// A path of density ratios.
pub type KliepPath = Path<DensityRatio>;

/// Fit a path.
pub fn fit(problem: &Problem, settings: &Settings, monitor: &Monitor) -> Result<KliepPath> {
    let begun = Instant::now();
    KliepFits::new(problem, settings, monitor)?.path(begun, monitor)
}

/// Fits of one problem, each at the next lambda2.
pub struct KliepFits {
    problem: Problem,
    settings: Settings,
    /// The smallest lambda2 at which no penalised factor is detected.
    pub lambda_max: f64,
    fits: TrimmedFits,
    /// Of the last fit.
    coefficients: Coefficients,
    /// Passes that it took to find the penalties.
    passes: usize,
}

impl KliepFits {
    /// Find where the path starts, and the penalties where these depend on a first fit.
    pub fn new(problem: &Problem, settings: &Settings, monitor: &Monitor) -> Result<Self> {
        let begun = Instant::now();
        if problem.blocks.is_some() && settings.penalty != PenaltyShape::GroupLasso {
            return Err(Error::Argument("blocks of factors take the group lasso".into()));
        }
        let PenaltyShape::Adaptive { gamma, first_share } = settings.penalty else {
            monitor.start(settings.lambda2.len());
            return Self::weighted(problem.clone(), settings, monitor);
        };
        monitor.start(FIRST_STEPS + settings.lambda2.len());
        let lambda2 = Grid::Geometric { nlambda: FIRST_STEPS, lambda_min_ratio: first_share };
        let penalty = PenaltyShape::GroupLasso;
        let first = Settings { penalty, lambda2, most_edges: None, ..settings.clone() };
        let first = Self::weighted(problem.clone(), &first, monitor)?.path(begun, monitor)?;
        let last = first.steps.iter().rfind(|step| step.status != Status::Unbounded);
        let theta = last.map(|step| step.estimate.coefficients.clone()).unwrap_or_default();
        let penalty_factor = Arc::new(adaptive(&problem.penalty_factor, &theta, gamma));
        let problem = Problem { penalty_factor, ..problem.clone() };
        let mut fits = Self::weighted(problem, settings, monitor)?;
        fits.passes = first.passes;
        Ok(fits)
    }

    /// With the penalty factors of the problem.
    fn weighted(problem: Problem, settings: &Settings, monitor: &Monitor) -> Result<Self> {
        let limits = Limits::of(settings);
        let mut default = solver_of_normalizer(&problem, settings.normalizer, limits)?;
        let lambda_max = round_up(default.lambda_max(NULL_FIT, monitor)?, &problem);
        let solver: Box<dyn UpdateProblem> = match settings.solver {
            // Blocks have one solver.
            _ if problem.blocks.is_some() => default.into_update(),
            SolverChoice::Auto => default.into_update(),
            SolverChoice::Primal => Box::new(Primal::new(&problem, limits)),
            SolverChoice::Dual if settings.lambda1 > 0.0 => Box::new(Dual::new(&problem, limits)),
            SolverChoice::Dual => return Err(Error::Argument("the dual needs lambda1 > 0".into())),
        };
        let tolerance = Tolerance { tol: settings.tol, scale: lambda_max };
        let convex = ConvexFits { solver, problem: problem.clone(), tolerance, made: 0 };
        let weights =
            (settings.robust > 0.0).then(|| TrimWeights::new(&problem.loss, settings.robust));
        Ok(Self {
            problem,
            settings: settings.clone(),
            lambda_max,
            fits: TrimmedFits { convex, weights },
            coefficients: Coefficients::default(),
            passes: 0,
        })
    }

    /// The penalties of the path.
    pub fn grid(&self) -> Vec<f64> {
        self.settings.lambda2.values(self.lambda_max)
    }

    /// Fit at one lambda2, from where the last fit ended.
    pub fn fit(&mut self, at: LambdaStep, monitor: &Monitor) -> Result<Fit> {
        let fits = &mut self.fits;
        fits.convex.made = 0;
        let fit = match self.settings.penalty {
            PenaltyShape::Mcp { gamma } => fit_mcp(fits, gamma, &self.coefficients, at, monitor)?,
            _ => fits.fit(at, monitor)?,
        };
        if fit.status == Status::Unbounded {
            self.coefficients = Coefficients::default();
        } else {
            self.coefficients.clone_from(&fit.coefficients);
        }
        Ok(fit)
    }

    /// All steps of the path; `begun` is when the search for lambda_max was.
    fn path(mut self, begun: Instant, monitor: &Monitor) -> Result<KliepPath> {
        let (grid, lambda_max) = (self.grid(), self.lambda_max);
        let mut found = FoundEdges { most: self.settings.most_edges, edges: BTreeSet::new() };
        let fit_at = |at: LambdaStep| {
            let fit = self.fit(at, monitor)?;
            let (status, iterations, certificate) = (fit.status, fit.iterations, fit.certificate);
            let made = self.fits.convex.made;
            let ratio = DensityRatio::new(fit, made, &self.problem, &self.settings);
            Ok(Step::new(at.current, status, iterations, certificate, ratio))
        };
        let enough = |step: &KliepStep| found.add(&step.estimate.coefficients);
        let steps = along_grid(&grid, lambda_max, begun, monitor, fit_at, enough)?;
        let passes = self.passes + self.fits.convex.solver.passes();
        Ok(Path { lambda_max, steps, passes })
    }
}

/// The edges that were not zero at some step so far, where a path ends with a number of them.
struct FoundEdges {
    most: Option<usize>,
    edges: BTreeSet<usize>,
}

impl FoundEdges {
    /// Add those of one step; whether these are enough.
    fn add(&mut self, coefficients: &Coefficients) -> bool {
        let Some(most) = self.most else {
            return false;
        };
        let is_edge = |factor: &usize| {
            let (u, v) = factor_variables(*factor);
            u != v
        };
        self.edges.extend(coefficients.iter().map(|(factor, _)| factor).filter(is_edge));
        self.edges.len() >= most
    }
}

/// The default solver, which also finds lambda_max.
fn solver_of_normalizer(
    problem: &Problem,
    normalizer: Normalizer,
    limits: Limits,
) -> Result<Box<dyn DefaultSolver>> {
    match (normalizer, &problem.features) {
        (Normalizer::Gaussian, _) if problem.blocks.is_some() => {
            Err(Error::Argument("blocks of factors need the empirical normaliser".into()))
        }
        (Normalizer::Empirical, _) => Ok(default_solver(problem, limits)),
        (Normalizer::Gaussian, Features::Products(products)) => {
            Ok(Box::new(GaussianSolver::new(problem, products, limits)?))
        }
        (Normalizer::Gaussian, _) => {
            Err(Error::Argument("the Gaussian normaliser needs product features".into()))
        }
    }
}

/// lambda_max rounded up so that it holds for every way of summing: `xi` comes out of different
/// kernels, which round differently. Between equal samples all of `xi` is rounding, and nothing may
/// be detected.
fn round_up(largest: f64, problem: &Problem) -> f64 {
    const ROUNDING: f64 = 64.0 * f64::EPSILON;
    let weights = problem.loss.row_weights_at_zero();
    let total = || weights.iter().map(|c| c.abs()).sum::<f64>();
    let sums = match &problem.features {
        Features::Products(products) => Drift::new(products, &weights).largest(),
        Features::Rbf(_) => total(),
        Features::Table(table) => total() * table.largest(),
    };
    let least = problem.penalty_factor.smallest();
    let noise = if least.is_finite() { ROUNDING * sums / least } else { 0.0 };
    let unpenalised = !problem.penalty_factor.unpenalised(problem.features.factors()).is_empty();
    let share = if unpenalised { NULL_FIT_ROUNDING } else { ROUNDING };
    largest * (1.0 + share) + noise
}

impl DensityRatio {
    fn new(fit: Fit, fits: usize, problem: &Problem, settings: &Settings) -> Self {
        if fit.status == Status::Unbounded {
            let (log_normalizer, mean_score, effective_size) = (f64::NAN, f64::NAN, f64::NAN);
            let coefficients = Coefficients::default();
            return Self { coefficients, fits, log_normalizer, mean_score, effective_size };
        }
        let [x, y] = problem.loss.samples();
        let weighted = settings.normalizer == Normalizer::Empirical;
        Self {
            fits,
            log_normalizer: log_normalizer(&fit, problem, &y),
            mean_score: mean_score(&fit, problem, x, settings.robust),
            effective_size: if weighted {
                problem.loss.effective_size(&fit.weights.alpha)
            } else {
                f64::NAN
            },
            coefficients: fit.coefficients,
        }
    }
}

/// `mean f'theta` over some rows but for the share that may be outliers: often the linear term.
fn mean_score(fit: &Fit, problem: &Problem, rows: Range<usize>, robust: f64) -> f64 {
    match fit.linear {
        Some(linear) if robust == 0.0 && problem.loss.is_mean_over(&rows) => linear,
        _ => lowest_mean(&problem.features.scores(rows, &fit.coefficients), robust),
    }
}

/// `log mean exp(f'theta)` over some rows: often one of the loss's own terms.
fn log_normalizer(fit: &Fit, problem: &Problem, rows: &Range<usize>) -> f64 {
    let terms = problem.loss.terms();
    let own = terms.iter().position(|term| term.rows == *rows && term.sign > 0.0);
    match own.and_then(|term| fit.weights.log_sum.get(term)) {
        Some(log_sum) => *log_sum,
        None => log_mean_exp(&problem.features.scores(rows.clone(), &fit.coefficients)),
    }
}

/// Overflow-safe `log mean exp`.
fn log_mean_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().map(|v| (v - top).exp()).sum::<f64>() / values.len() as f64;
    top + mean.ln()
}
