//! Ways through one lambda2 after the other: what is solved, on which factors, from which start.

mod active;
mod closed_form;
mod growing;
mod inner;
mod paper;
mod small;

pub use closed_form::ClosedForm;
pub use paper::{Dual, Primal};
pub use small::Small;

use crate::error::Result;
use crate::factors::PenaltyFactors;
use crate::features::{Coefficients, Features};
use crate::monitor::Monitor;
use crate::penalty::norm;
use crate::problem::{Design, Problem, Status, Tolerance};
use crate::solver::Solved;
use crate::whole::Whole;
use crate::working::WorkingSet;
use active::Active;
use growing::Growing;
use std::sync::Arc;

/// Problems whose factors can be looked at this cheaply are solved over all of them at once, from
/// where enough of them are off zero.
const WHOLE_COST: usize = 1 << 23;
/// The same where there are more scores than factors, so that a working set would save little.
const TALL_COST: usize = 1 << 27;
/// The fit of unpenalised factors alone decides on lambda_max: as exact as doubles allow.
pub const NULL_FIT: Tolerance = Tolerance { relative: 1e-12, scale: 1.0 };

/// What stays the same along a path.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Ridge.
    pub lambda1: f64,
    /// Iterations for one lambda2.
    pub max_iter: usize,
}

/// One lambda2 and its neighbours on the path.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    /// The value before, or lambda_max.
    pub last: f64,
    /// The value in question.
    pub now: f64,
    /// The value after, or the same.
    pub next: f64,
}

/// What a solver found at one lambda2.
pub struct Fitted {
    /// How it ended.
    pub status: Status,
    /// Iterations of the solver.
    pub iterations: usize,
    /// `J(theta)`.
    pub objective: f64,
    /// Duality gap of the whole problem.
    pub gap: f64,
    /// Worst optimality residual over all factors.
    pub residual: f64,
    /// `log sum base exp(score)` of each term of the loss.
    pub log_sum: Vec<f64>,
    /// The factors off zero.
    pub coefficients: Coefficients,
}

impl Fitted {
    /// A solver's own verdict over `design`, whose factors are numbered by `factors`.
    pub fn new(solved: &Solved, design: &dyn Design, factors: impl Iterator<Item = usize>) -> Self {
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
            objective: solved.point.objective,
            gap: solved.point.gap,
            residual: solved.point.residual,
            log_sum: solved.point.weights.log_sum.clone(),
            coefficients,
        }
    }
}

/// Solves for one lambda2 after the other.
pub trait Solve {
    /// Solve at `at.now`, from wherever the last solve ended.
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted>;

    /// Full passes over all factors made so far.
    fn passes(&self) -> usize {
        0
    }
}

/// A solver whose problem may change a little between two solves.
pub trait Adjust: Solve {
    /// Other penalty factors from now on: other exceptions to those it was made with.
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>);

    /// The linear term of this problem from now on, which is otherwise the same.
    fn set_loss(&mut self, problem: &Problem);
}

/// The default solvers also find where the path starts.
pub trait Auto: Solve {
    /// Fit the unpenalised factors alone to this tolerance; the lambda2 at which the first other one
    /// enters.
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64>;
}

/// The lambda2 below which the first penalised factor leaves zero, from minus the gradient at a fit of
/// the unpenalised ones.
pub fn first_to_enter(design: &dyn Design, xi: &[f64]) -> f64 {
    let ratio = |group| {
        let weight = design.weight(group);
        if weight > 0.0 {
            norm(&xi[design.span(group)]) / weight
        } else {
            0.0
        }
    };
    (0..design.groups()).map(ratio).fold(0.0, f64::max)
}

/// What a path needs of its default solver, which becomes one or the other by name: rustc takes it
/// for either by itself from 1.86 on.
pub trait Follow: Auto + Adjust {
    /// As a solver that knows where its path starts.
    fn into_auto(self: Box<Self>) -> Box<dyn Auto>;
    /// As a solver whose problem can change.
    fn into_adjust(self: Box<Self>) -> Box<dyn Adjust>;
}

impl<T: Auto + Adjust + 'static> Follow for T {
    fn into_auto(self: Box<Self>) -> Box<dyn Auto> {
        self
    }

    fn into_adjust(self: Box<Self>) -> Box<dyn Adjust> {
        self
    }
}

/// The default for a problem of this size.
pub fn auto(problem: &Problem, limits: Limits) -> Box<dyn Follow> {
    let factors = problem.features.factors();
    let Features::Products(products) = &problem.features else {
        // Features that cost much to make anew: store them all.
        let mut set = WorkingSet::new(&problem.loss);
        set.activate(problem, 0..factors);
        return Box::new(Small::new(&problem.loss, set, limits));
    };
    let cost = Whole::cost(problem, products);
    let tall = problem.loss.scores() >= factors;
    if tall && cost <= TALL_COST {
        Box::new(Small::new(&problem.loss, Whole::new(problem, products), limits))
    } else if cost <= WHOLE_COST {
        Box::new(Growing::new(problem, products, limits))
    } else {
        Box::new(Active::new(problem, products, limits))
    }
}
