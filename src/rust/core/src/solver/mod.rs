//! Solvers of one subproblem: the paper's primal and dual on any design, Newton and proximal points on
//! designs with rows.

pub mod momentum;

pub mod fista;

pub mod lbfgs;

pub mod newton_system;

pub mod dual_newton;

pub mod proximal_point;

pub mod group_quadratic;

pub mod proximal_newton;

pub mod gaussian_quadratic;

pub mod subproblem_solver;

use crate::design::subproblem::Point;
use crate::monitor::Monitor;
use crate::objective::certificate::{Status, Tolerance};

/// When a solver has to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'a> {
    /// At a certificate within this tolerance,
    pub tolerance: Tolerance,
    /// after this many iterations,
    pub max_iter: usize,
    /// or when the caller asks for it.
    pub monitor: &'a Monitor,
}

impl Stop<'_> {
    /// The same after some iterations have been made.
    pub fn after(self, iterations: usize) -> Self {
        Self { max_iter: self.max_iter.saturating_sub(iterations), ..self }
    }
}

/// Where a solver ended on its design.
#[derive(Debug)]
pub struct Solved {
    /// The last point, certified over all factors of the design.
    pub point: Point,
    /// Iterations made.
    pub iterations: usize,
    /// Why it ended.
    pub status: Status,
}
