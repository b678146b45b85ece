//! One convex fit after the other at one lambda2: what the loops around it change in between.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::Tolerance;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::path::solver::{Fit, UpdateProblem};

/// A path solver, and the problem of its next fit.
pub struct ConvexFits {
    /// The path solver, which keeps where the last fit ended.
    pub solver: Box<dyn UpdateProblem>,
    /// The problem of the next fit.
    pub problem: Problem,
    /// The tolerance of each fit.
    pub tolerance: Tolerance,
    /// How many fits were made at this lambda2.
    pub made: usize,
}

impl ConvexFits {
    /// By how much penalty factors, or objectives relative to their size, may still differ between
    /// fits that count as settled.
    pub fn settled_within(&self) -> f64 {
        self.tolerance.tol.sqrt()
    }

    /// One fit.
    pub fn fit(&mut self, at: LambdaStep, monitor: &Monitor) -> Result<Fit> {
        self.made += 1;
        self.solver.solve(at, self.tolerance, monitor)
    }
}
