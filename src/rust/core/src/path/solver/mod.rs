//! Path solvers: what is solved at one lambda2 after the other, on which factors, from which start.

mod paper;

mod all_factors;

mod working_set;

mod sparse_then_dense;

mod gaussian;

mod proximal_newton;

mod blocked;

pub use all_factors::AllFactors;
pub use gaussian::GaussianSolver;
pub use paper::{Dual, Primal};
pub use proximal_newton::ProximalNewtonSolver;

use crate::design::by_products::ProductDesign;
use crate::design::working_set::WorkingSet;
use crate::design::{Design, UpdateDesign};
use crate::error::Result;
use crate::features::{Coefficients, Features};
use crate::monitor::Monitor;
use crate::objective::blocks::Blocks;
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::objective::loss::Weights;
use crate::objective::penalty::{norm, Lambda};
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::path::settings::Settings;
use crate::solver::{Solved, Stop};
use blocked::Blocked;
use sparse_then_dense::SparseThenDense;
use std::sync::Arc;
use working_set::WorkingSetSolver;

/// Problems whose factors can be looked at this cheaply are solved over all of them at once, as soon
/// as enough of them are non-zero.
const ALL_FACTORS_COST: usize = 1 << 23;
/// The same where there are more scores than factors, so that a working set would save little.
const MANY_SCORES_COST: usize = 1 << 27;
/// The fit of unpenalised factors alone decides on lambda_max: as exact as doubles allow.
pub const NULL_FIT: Tolerance = Tolerance { tol: 1e-12, scale: 1.0 };

/// What stays the same along a path.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Ridge.
    pub lambda1: f64,
    /// Iterations for one lambda2.
    pub max_iter: usize,
}

impl Limits {
    /// Those of a path.
    pub fn of(settings: &Settings) -> Self {
        Self { lambda1: settings.lambda1, max_iter: settings.max_iter }
    }

    /// Both penalties at one lambda2.
    fn lambda(&self, lambda2: f64) -> Lambda {
        Lambda { lambda1: self.lambda1, lambda2 }
    }

    /// When a solver has to stop at one lambda2.
    fn stop<'a>(&self, tolerance: Tolerance, monitor: &'a Monitor) -> Stop<'a> {
        Stop { tolerance, max_iter: self.max_iter, monitor }
    }
}

/// What a solver found at one lambda2.
pub struct Fit {
    /// How it ended.
    pub status: Status,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Over all factors.
    pub certificate: Certificate,
    /// `g'theta`, the linear term, where the solver has it.
    pub linear: Option<f64>,
    /// Those of the rows in each term of the loss; none where the solver has no scores.
    pub weights: Weights,
    /// The non-zero factors.
    pub coefficients: Coefficients,
}

impl Fit {
    /// What a solver says itself over `design`, whose factors are numbered by `factors`.
    pub fn new(
        solved: &Solved,
        design: &impl Design,
        factors: impl Iterator<Item = usize>,
    ) -> Self {
        let theta = |group| &solved.point.theta[design.span(group)];
        let mut coefficients = Coefficients::default();
        for (group, factor) in factors.enumerate() {
            if norm(theta(group)) > 0.0 {
                coefficients.push(factor, theta(group));
            }
        }
        Self {
            status: solved.status,
            iterations: solved.iterations,
            certificate: solved.point.certificate,
            linear: Some(design.linear().iter().zip(&solved.point.theta).map(|(g, t)| g * t).sum()),
            weights: solved.point.weights.clone(),
            coefficients,
        }
    }
}

/// Solves for one lambda2 after the other.
pub trait PathSolver: Send {
    /// Solve at `at.current`, from wherever the last solve ended.
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit>;

    /// Full passes over all factors made so far.
    fn passes(&self) -> usize {
        0
    }
}

/// A path solver whose problem may change a little between two fits.
pub trait UpdateProblem: PathSolver {
    /// Replace the penalty factors; new ones differ in a few exceptions.
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>);

    /// Replace the linear term by that of this problem, which is otherwise the same.
    fn set_linear(&mut self, problem: &Problem);
}

/// A path solver that also finds where the path starts.
pub trait FindLambdaMax: PathSolver {
    /// Fit the unpenalised factors alone to this tolerance; the lambda2 at which the first other one
    /// enters.
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64>;
}

/// The lambda2 below which the first penalised one of these factors is not zero, from minus the
/// gradient at a fit of the unpenalised ones.
pub fn first_to_enter(design: &dyn Design, groups: impl Iterator<Item = usize>, xi: &[f64]) -> f64 {
    let ratio = |group| {
        let weight = design.weight(group);
        if weight > 0.0 {
            norm(&xi[design.span(group)]) / weight
        } else {
            0.0
        }
    };
    groups.map(ratio).fold(0.0, f64::max)
}

/// What a path asks of its default solver.
pub trait DefaultSolver: FindLambdaMax + UpdateProblem {
    /// As one of the two; rustc does this by itself from 1.86 on.
    fn into_update(self: Box<Self>) -> Box<dyn UpdateProblem>;
    /// As the other.
    fn into_find(self: Box<Self>) -> Box<dyn FindLambdaMax>;
}

impl<T: FindLambdaMax + UpdateProblem + 'static> DefaultSolver for T {
    fn into_update(self: Box<Self>) -> Box<dyn UpdateProblem> {
        self
    }

    fn into_find(self: Box<Self>) -> Box<dyn FindLambdaMax> {
        self
    }
}

/// The default for a problem of this size.
pub fn default_solver(problem: &Problem, limits: Limits) -> Box<dyn DefaultSolver> {
    if let Some(blocks) = &problem.blocks {
        return match &problem.features {
            Features::Products(products) => {
                blocked(problem, ProductDesign::new(problem, products), blocks, limits)
            }
            _ => blocked(problem, all_stored(problem), blocks, limits),
        };
    }
    let factors = problem.features.factors();
    let Features::Products(products) = &problem.features else {
        return Box::new(AllFactors::new(&problem.loss, all_stored(problem), limits));
    };
    let cost = ProductDesign::cost(problem, products);
    let many_scores = problem.loss.scores() >= factors;
    if many_scores && cost <= MANY_SCORES_COST {
        Box::new(AllFactors::new(&problem.loss, ProductDesign::new(problem, products), limits))
    } else if cost <= ALL_FACTORS_COST {
        Box::new(SparseThenDense::new(problem, products, limits))
    } else {
        Box::new(WorkingSetSolver::new(problem, products, limits))
    }
}

/// Features that cost much to compute: store them all.
fn all_stored(problem: &Problem) -> WorkingSet {
    let mut set = WorkingSet::new(&problem.loss);
    set.activate(problem, 0..problem.features.factors());
    set
}

fn blocked<D: UpdateDesign + 'static>(
    problem: &Problem,
    design: D,
    blocks: &Arc<Blocks>,
    limits: Limits,
) -> Box<dyn DefaultSolver> {
    Box::new(Blocked::new(&problem.loss, design, blocks.clone(), limits))
}
