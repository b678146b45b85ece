//! Problems of moderate size: a working set while few factors are non-zero, then all at once.

use super::all_factors::AllFactors;
use super::working_set::WorkingSetSolver;
use super::{FindLambdaMax, Fit, Limits, PathSolver, UpdateProblem};
use crate::design::by_products::ProductDesign;
use crate::error::Result;
use crate::features::Products;
use crate::monitor::Monitor;
use crate::objective::certificate::Tolerance;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use std::sync::Arc;

/// Once more than one factor in this many is non-zero, or expected to be, looking at the others costs
/// less than keeping them out.
const DENSE: usize = 10;

/// The default where a pass over all factors is cheap, though not free.
pub struct SparseThenDense {
    problem: Problem,
    products: Products,
    limits: Limits,
    sparse: WorkingSetSolver,
    dense: Option<AllFactors<ProductDesign>>,
}

impl SparseThenDense {
    /// Start with an empty working set.
    pub fn new(problem: &Problem, products: &Products, limits: Limits) -> Self {
        let sparse = WorkingSetSolver::new(problem, products, limits);
        let (problem, products) = (problem.clone(), products.clone());
        Self { problem, products, limits, sparse, dense: None }
    }
}

impl PathSolver for SparseThenDense {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        if let Some(dense) = &mut self.dense {
            return dense.solve(at, tolerance, monitor);
        }
        let fit = self.sparse.solve(at, tolerance, monitor)?;
        let soon = fit.coefficients.len().max(self.sparse.expected());
        if soon * DENSE > self.products.factors() {
            let design = ProductDesign::new(&self.problem, &self.products);
            let mut dense = AllFactors::new(&self.problem.loss, design, self.limits);
            dense.resume(&fit.coefficients, self.sparse.scores());
            self.dense = Some(dense);
        }
        Ok(fit)
    }

    fn passes(&self) -> usize {
        self.sparse.passes()
    }
}

impl UpdateProblem for SparseThenDense {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.problem.penalty_factor = penalty_factor.clone();
        match &mut self.dense {
            Some(dense) => dense.set_penalty_factor(penalty_factor),
            None => self.sparse.set_penalty_factor(penalty_factor),
        }
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.problem.loss = problem.loss.clone();
        match &mut self.dense {
            Some(dense) => dense.set_linear(problem),
            None => self.sparse.set_linear(problem),
        }
    }
}

impl FindLambdaMax for SparseThenDense {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        self.sparse.lambda_max(tolerance, monitor)
    }
}
