//! Problems of moderate size: a working set while few factors are off zero, then all at once.

use super::active::Active;
use super::small::Small;
use super::{Around, Auto, Fitted, Limits, Solve};
use crate::error::Result;
use crate::features::Products;
use crate::monitor::Monitor;
use crate::problem::{Problem, Tolerance};
use crate::whole::Whole;

/// Once more than one factor in this many is off zero, or expected to be, looking at the others costs
/// less than keeping them out.
const DENSE: usize = 10;

/// The default where all factors can be looked at cheaply, and still not for nothing.
pub struct Growing<'a> {
    problem: &'a Problem,
    products: &'a Products,
    limits: Limits,
    sparse: Active<'a>,
    dense: Option<Small<'a, Whole<'a>>>,
}

impl<'a> Growing<'a> {
    /// Start with an empty working set.
    pub fn new(problem: &'a Problem, products: &'a Products, limits: Limits) -> Self {
        let sparse = Active::new(problem, products, limits);
        Self { problem, products, limits, sparse, dense: None }
    }
}

impl Solve for Growing<'_> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        if let Some(dense) = &mut self.dense {
            return dense.solve(at, tolerance, monitor);
        }
        let fitted = self.sparse.solve(at, tolerance, monitor)?;
        let soon = fitted.coefficients.len().max(self.sparse.expected());
        if soon * DENSE > self.products.factors() {
            let design = Whole::new(self.problem, self.products);
            let mut dense = Small::new(&self.problem.loss, design, self.limits);
            dense.resume(&fitted.coefficients, self.sparse.scores());
            self.dense = Some(dense);
        }
        Ok(fitted)
    }

    fn passes(&self) -> usize {
        self.sparse.passes()
    }
}

impl Auto for Growing<'_> {
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        self.sparse.start(tolerance, monitor)
    }
}
