//! Blocks of factors that are penalised together: proximal gradient on all factors.

use super::{first_to_enter, FindLambdaMax, Fit, Limits, PathSolver, UpdateProblem};
use crate::design::subproblem::Subproblem;
use crate::design::{Design, UpdateDesign};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::blocks::{BlockPenalties, Blocks};
use crate::objective::certificate::Tolerance;
use crate::objective::loss::Loss;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::solver::fista::Fista;
use crate::solver::Solved;
use std::sync::Arc;

/// Proximal gradient over all factors of a design and their blocks.
pub struct Blocked<D> {
    design: D,
    loss: Loss,
    limits: Limits,
    blocks: Arc<Blocks>,
    fista: Fista,
    theta: Vec<f64>,
}

impl<D: Design> Blocked<D> {
    /// Start at theta = 0 on a design that holds every factor.
    pub fn new(loss: &Loss, design: D, blocks: Arc<Blocks>, limits: Limits) -> Self {
        let theta = vec![0.0; design.linear().len()];
        Self { design, loss: loss.clone(), limits, blocks, fista: Fista::default(), theta }
    }

    fn penalties(&self, lambda2: f64) -> BlockPenalties {
        let part = |group| (self.design.span(group), self.design.weight(group));
        self.blocks.at(self.limits.lambda(lambda2), self.design.groups(), part)
    }

    fn fit(&mut self, lambda2: f64, tolerance: Tolerance, monitor: &Monitor) -> Result<Solved> {
        let penalties = self.penalties(lambda2);
        let subproblem = Subproblem::new(&self.design, &self.loss, self.limits.lambda(lambda2))
            .with_blocks(&penalties);
        let start = std::mem::take(&mut self.theta);
        let solved = self.fista.solve(&subproblem, start, self.limits.stop(tolerance, monitor))?;
        self.theta.clone_from(&solved.point.theta);
        Ok(solved)
    }
}

impl<D: Design> PathSolver for Blocked<D> {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let solved = self.fit(at.current, tolerance, monitor)?;
        Ok(Fit::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl<D: UpdateDesign> UpdateProblem for Blocked<D> {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.design.set_penalty_factor(penalty_factor);
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.loss = problem.loss.clone();
        self.design.set_linear(problem);
    }
}

impl<D: Design> FindLambdaMax for Blocked<D> {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if (0..self.design.groups()).any(|group| self.design.weight(group) == 0.0) {
            self.fit(f64::MAX, tolerance, monitor)?;
        }
        let scores = self.design.scores(&self.theta);
        let xi = self.design.xi(&self.loss.weights(&scores).alpha);
        let penalties = self.penalties(0.0);
        let alone = first_to_enter(&self.design, penalties.alone.iter().copied(), &xi);
        Ok(penalties.blocks.iter().map(|block| block.entry(&xi)).fold(alone, f64::max))
    }
}
