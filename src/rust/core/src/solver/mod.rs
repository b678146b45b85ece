//! The solvers: the paper's primal and dual on all factors, Newton and proximal points on a few.

pub mod fista;
pub mod lbfgs;
pub mod metric;
pub mod newton;
pub mod proximal;
pub mod quadratic;
pub mod system;

use crate::problem::{Point, Status};

/// Where a solver ended on its design.
#[derive(Debug)]
pub struct Solved {
    /// The last point, judged over the whole design.
    pub point: Point,
    /// Iterations made.
    pub iterations: usize,
    /// Why it ended.
    pub status: Status,
}
