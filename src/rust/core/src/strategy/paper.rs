//! The paper's own solvers, on all factors.

use super::{Adjust, Around, Fitted, Limits, Solve};
use crate::error::Result;
use crate::factors::PenaltyFactors;
use crate::monitor::Monitor;
use crate::problem::{Design, Lambda, Problem, Status, Tolerance};
use crate::solver::fista::Fista;
use crate::solver::{lbfgs, Solved};
use crate::streamed::Streamed;
use std::sync::Arc;

/// The paper's primal: proximal gradient on all factors.
pub struct Primal {
    limits: Limits,
    design: Streamed,
    fista: Fista,
    theta: Vec<f64>,
}

impl Primal {
    /// Start at theta = 0.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        let design = Streamed::new(problem);
        let theta = vec![0.0; design.linear().len()];
        Self { limits, design, fista: Fista::default(), theta }
    }
}

impl Solve for Primal {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let lambda = Lambda { ridge: self.limits.lambda1, group: at.now };
        let start = std::mem::take(&mut self.theta);
        let parts = (&self.design as &dyn Design, &self.design.problem().loss, lambda);
        let solved = self.fista.solve(parts, start, tolerance, self.limits.max_iter, monitor)?;
        self.theta = solved.point.theta.clone();
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl Adjust for Primal {
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>) {
        self.design.set_penalty(penalty);
    }

    fn set_loss(&mut self, problem: &Problem) {
        self.design.set_loss(&problem.loss);
    }
}

/// The paper's dual: L-BFGS over all factors.
pub struct Dual {
    limits: Limits,
    design: Streamed,
    scores: Vec<f64>,
}

impl Dual {
    /// Start at theta = 0.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        let scores = vec![0.0; problem.loss.scores()];
        Self { limits, design: Streamed::new(problem), scores }
    }
}

impl Solve for Dual {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let lambda = Lambda { ridge: self.limits.lambda1, group: at.now };
        let parts = (&self.design as &dyn Design, &self.design.problem().loss, lambda);
        let max_iter = self.limits.max_iter;
        let ended = lbfgs::solve(parts, &self.scores, tolerance, max_iter, monitor)?;
        let mut point = ended.point;
        point.gap = point.gap.min(ended.gap);
        let status = Status::within(tolerance.accepts(&point));
        let solved = Solved { point, iterations: ended.iterations, status };
        self.scores = solved.point.scores.clone();
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl Adjust for Dual {
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>) {
        self.design.set_penalty(penalty);
    }

    fn set_loss(&mut self, problem: &Problem) {
        self.design.set_loss(&problem.loss);
    }
}
