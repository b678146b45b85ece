//! Problems with few coefficients and very many scores: all factors at once.

use super::{first_to_enter, FindLambdaMax, Fit, Limits, PathSolver};
use crate::design::subproblem::Subproblem;
use crate::design::RowDesign;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::Tolerance;
use crate::objective::loss::Loss;
use crate::path::grid::LambdaStep;
use crate::solver::proximal_newton::ProximalNewton;
use crate::solver::Solved;

/// Proximal Newton over all factors of a design.
pub struct ProximalNewtonSolver<'a, D> {
    design: D,
    loss: &'a Loss,
    limits: Limits,
    solver: ProximalNewton,
    theta: Vec<f64>,
}

impl<'a, D: RowDesign> ProximalNewtonSolver<'a, D> {
    /// Start where all scores have about the same weight.
    pub fn new(loss: &'a Loss, design: D, limits: Limits) -> Self {
        let theta = ProximalNewton::level_start(&design, loss);
        Self { design, loss, limits, solver: ProximalNewton::default(), theta }
    }

    fn run(&mut self, lambda2: f64, tolerance: Tolerance, monitor: &Monitor) -> Result<Solved> {
        let start = std::mem::take(&mut self.theta);
        let design: &dyn RowDesign = &self.design;
        let subproblem = Subproblem::new(design, self.loss, self.limits.lambda(lambda2));
        let solved = self.solver.solve(&subproblem, start, self.limits.stop(tolerance, monitor))?;
        self.theta.clone_from(&solved.point.theta);
        Ok(solved)
    }
}

impl<D: RowDesign> PathSolver for ProximalNewtonSolver<'_, D> {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let solved = self.run(at.current, tolerance, monitor)?;
        Ok(Fit::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl<D: RowDesign> FindLambdaMax for ProximalNewtonSolver<'_, D> {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        let xi = self.run(f64::MAX, tolerance, monitor)?.point.xi;
        Ok(first_to_enter(&self.design, 0..self.design.groups(), &xi))
    }
}
