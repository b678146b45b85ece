//! One convex fit after the other at one lambda2: what the loops around it change in between.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::Tolerance;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::path::solver::{Fit, UpdateProblem};

/// A path solver, and the problem of its next fit.
pub struct ConvexFits {
    /// Which keeps where the last fit ended.
    pub solver: Box<dyn UpdateProblem>,
    /// What the next fit is to.
    pub problem: Problem,
    /// Of each fit.
    pub tolerance: Tolerance,
    /// How many fits were made at this lambda2.
    pub made: usize,
}

impl ConvexFits {
    /// How far apart what successive fits lead to may stay, relative to its own size.
    pub fn settled_within(&self) -> f64 {
        self.tolerance.tol.sqrt()
    }

    /// One fit.
    pub fn fit(&mut self, at: LambdaStep, monitor: &Monitor) -> Result<Fit> {
        self.made += 1;
        self.solver.solve(at, self.tolerance, monitor)
    }
}
