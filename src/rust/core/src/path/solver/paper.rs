//! The paper's own solvers, on all factors.

use super::{Fit, Limits, PathSolver, UpdateProblem};
use crate::design::streamed::StreamedDesign;
use crate::design::subproblem::Subproblem;
use crate::design::Design;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::{Status, Tolerance};
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::solver::fista::Fista;
use crate::solver::{lbfgs, Solved};
use std::sync::Arc;

/// The paper's primal: proximal gradient on all factors.
pub struct Primal {
    limits: Limits,
    design: StreamedDesign,
    fista: Fista,
    theta: Vec<f64>,
}

impl Primal {
    /// Start at theta = 0.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        let design = StreamedDesign::new(problem);
        let theta = vec![0.0; design.linear().len()];
        Self { limits, design, fista: Fista::default(), theta }
    }
}

impl PathSolver for Primal {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let lambda = self.limits.lambda(at.current);
        let start = std::mem::take(&mut self.theta);
        let subproblem = Subproblem::new(&self.design, &self.design.problem().loss, lambda);
        let stop = self.limits.stop(tolerance, monitor);
        let solved = self.fista.solve(&subproblem, start, stop)?;
        self.theta = solved.point.theta.clone();
        Ok(Fit::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl UpdateProblem for Primal {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.design.set_penalty_factor(penalty_factor);
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.design.set_linear(&problem.loss);
    }
}

/// The paper's dual: L-BFGS over all factors.
pub struct Dual {
    limits: Limits,
    design: StreamedDesign,
    scores: Vec<f64>,
}

impl Dual {
    /// Start at theta = 0.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        let scores = vec![0.0; problem.loss.scores()];
        Self { limits, design: StreamedDesign::new(problem), scores }
    }
}

impl PathSolver for Dual {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let lambda = self.limits.lambda(at.current);
        let subproblem = Subproblem::new(&self.design, &self.design.problem().loss, lambda);
        let stop = self.limits.stop(tolerance, monitor);
        let ended = lbfgs::solve(subproblem, &self.scores, stop)?;
        let mut point = ended.point;
        point.certificate.gap = point.certificate.gap.min(ended.gap);
        let status = Status::within(tolerance.accepts(&point.certificate));
        let solved = Solved { point, iterations: ended.iterations, status };
        self.scores = solved.point.scores.clone();
        Ok(Fit::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl UpdateProblem for Dual {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.design.set_penalty_factor(penalty_factor);
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.design.set_linear(&problem.loss);
    }
}
