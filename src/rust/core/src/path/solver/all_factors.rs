//! Small problems: all factors at once.

use super::{first_to_enter, FindLambdaMax, Fit, Limits, PathSolver, UpdateProblem};
use crate::design::subproblem::Subproblem;
use crate::design::{RowDesign, UpdateDesign};
use crate::error::Result;
use crate::features::Coefficients;
use crate::monitor::Monitor;
use crate::objective::certificate::Tolerance;
use crate::objective::loss::Loss;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::solver::subproblem_solver::SubproblemSolver;
use crate::solver::Solved;
use std::sync::Arc;

/// The default for small problems: every fit is one subproblem.
pub struct AllFactors<D> {
    design: D,
    loss: Loss,
    limits: Limits,
    solver: SubproblemSolver,
}

impl<D: RowDesign> AllFactors<D> {
    /// Start at theta = 0 on a design that holds every factor.
    pub fn new(loss: &Loss, design: D, limits: Limits) -> Self {
        let mut solver = SubproblemSolver::new(loss, true);
        solver.theta = vec![0.0; design.linear().len()];
        Self { design, loss: loss.clone(), limits, solver }
    }

    /// Go on from a fit by another path solver, and its scores.
    pub fn resume(&mut self, fit: &Coefficients, scores: &[f64]) {
        self.solver.theta.fill(0.0);
        for (factor, theta) in fit.iter() {
            self.solver.theta[self.design.span(factor)].copy_from_slice(theta);
        }
        self.solver.scores.copy_from_slice(scores);
    }

    fn fit(&mut self, lambda2: f64, tolerance: Tolerance, monitor: &Monitor) -> Result<Solved> {
        let design: &dyn RowDesign = &self.design;
        let subproblem = Subproblem::new(design, &self.loss, self.limits.lambda(lambda2));
        self.solver.solve(&subproblem, self.limits.stop(tolerance, monitor))
    }
}

impl<D: RowDesign> PathSolver for AllFactors<D> {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let solved = self.fit(at.current, tolerance, monitor)?;
        Ok(Fit::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl<D: UpdateDesign> UpdateProblem for AllFactors<D> {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.design.set_penalty_factor(penalty_factor);
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.loss = problem.loss.clone();
        self.design.set_linear(problem);
    }
}

impl<D: RowDesign> FindLambdaMax for AllFactors<D> {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if (0..self.design.groups()).any(|group| self.design.weight(group) == 0.0) {
            self.fit(f64::MAX, tolerance, monitor)?;
        }
        let xi = self.design.xi(&self.loss.weights(&self.solver.scores).alpha);
        Ok(first_to_enter(&self.design, 0..self.design.groups(), &xi))
    }
}
