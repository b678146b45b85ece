//! Small problems: all factors at once.

use super::inner::Inner;
use super::{first_to_enter, Adjust, Around, Auto, Fitted, Limits, Solve};
use crate::error::Result;
use crate::factors::PenaltyFactors;
use crate::features::Coefficients;
use crate::loss::Loss;
use crate::monitor::Monitor;
use crate::problem::{Adjustable, Problem, RowDesign, Tolerance};
use std::sync::Arc;

/// The default for small problems: all factors at once.
pub struct Small<D> {
    design: D,
    inner: Inner,
}

impl<D: RowDesign> Small<D> {
    /// Start at theta = 0 on a design that holds every factor.
    pub fn new(loss: &Loss, design: D, limits: Limits) -> Self {
        let mut inner = Inner::new(loss, limits, true);
        inner.theta = vec![0.0; design.linear().len()];
        Self { design, inner }
    }

    /// Go on from a fit by another strategy, and its scores.
    pub fn resume(&mut self, fitted: &Coefficients, scores: &[f64]) {
        self.inner.theta.fill(0.0);
        for (factor, theta) in fitted.iter() {
            self.inner.theta[self.design.span(factor)].copy_from_slice(theta);
        }
        self.inner.scores.copy_from_slice(scores);
    }
}

impl<D: RowDesign> Solve for Small<D> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let max_iter = self.inner.limits.max_iter;
        let solved = self.inner.solve(&self.design, at.now, tolerance, max_iter, monitor)?;
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl<D: Adjustable> Adjust for Small<D> {
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>) {
        self.design.set_penalty(penalty);
    }

    fn set_loss(&mut self, problem: &Problem) {
        self.inner.loss = problem.loss.clone();
        self.design.set_linear(problem);
    }
}

impl<D: RowDesign> Auto for Small<D> {
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if (0..self.design.groups()).any(|group| self.design.weight(group) == 0.0) {
            self.inner.solve(
                &self.design,
                f64::MAX,
                tolerance,
                self.inner.limits.max_iter,
                monitor,
            )?;
        }
        let xi = self.design.xi(&self.inner.loss.weights(&self.inner.scores).alpha);
        Ok(first_to_enter(&self.design, &xi))
    }
}
