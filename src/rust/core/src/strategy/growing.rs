//! Problems of moderate size: a working set while few factors are off zero, then all at once.

use super::active::Active;
use super::small::Small;
use super::{Adjust, Around, Auto, Fitted, Limits, Solve};
use crate::error::Result;
use crate::factors::PenaltyFactors;
use crate::features::Products;
use crate::monitor::Monitor;
use crate::problem::{Problem, Tolerance};
use crate::whole::Whole;
use std::sync::Arc;

/// Once more than one factor in this many is off zero, or expected to be, looking at the others costs
/// less than keeping them out.
const DENSE: usize = 10;

/// The default where all factors can be looked at cheaply, and still not for nothing.
pub struct Growing {
    problem: Problem,
    products: Products,
    limits: Limits,
    sparse: Active,
    dense: Option<Small<Whole>>,
}

impl Growing {
    /// Start with an empty working set.
    pub fn new(problem: &Problem, products: &Products, limits: Limits) -> Self {
        let sparse = Active::new(problem, products, limits);
        let (problem, products) = (problem.clone(), products.clone());
        Self { problem, products, limits, sparse, dense: None }
    }
}

impl Solve for Growing {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        if let Some(dense) = &mut self.dense {
            return dense.solve(at, tolerance, monitor);
        }
        let fitted = self.sparse.solve(at, tolerance, monitor)?;
        let soon = fitted.coefficients.len().max(self.sparse.expected());
        if soon * DENSE > self.products.factors() {
            let design = Whole::new(&self.problem, &self.products);
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

impl Adjust for Growing {
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>) {
        self.problem.penalty = penalty.clone();
        match &mut self.dense {
            Some(dense) => dense.set_penalty(penalty),
            None => self.sparse.set_penalty(penalty),
        }
    }

    fn set_loss(&mut self, problem: &Problem) {
        self.problem.loss = problem.loss.clone();
        match &mut self.dense {
            Some(dense) => dense.set_loss(problem),
            None => self.sparse.set_loss(problem),
        }
    }
}

impl Auto for Growing {
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        self.sparse.start(tolerance, monitor)
    }
}
