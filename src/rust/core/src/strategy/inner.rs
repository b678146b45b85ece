//! One solve on a given design, by the method that fits its shape.

use super::Limits;
use crate::error::Result;
use crate::loss::Loss;
use crate::monitor::Monitor;
use crate::problem::{Lambda, RowDesign, Status, Tolerance};
use crate::solver::fista::Fista;
use crate::solver::newton::{Newton, Task};
use crate::solver::proximal::Proximal;
use crate::solver::{lbfgs, Solved};

/// Newton systems larger than this take longer than the gradient steps they save.
const NEWTON_SIZE: usize = 3000;
/// Looks at all factors that L-BFGS makes at lambda1 = 1 or more; a ridge of r takes 1/sqrt(r) times.
const LBFGS_LOOKS: f64 = 15.0;
/// How often L-BFGS is asked for ten times the accuracy before Newton has to finish.
const LBFGS_ROUNDS: usize = 3;

/// Newton, proximal points or gradient steps, whichever fits a design, from a theta and its scores.
pub struct Inner {
    /// What is minimised, but for the penalty.
    pub loss: Loss,
    /// Ridge and iterations.
    pub limits: Limits,
    /// Whether designs hold all factors, so that a gap on them is a gap of the whole problem.
    whole: bool,
    newton: Newton,
    proximal: Proximal,
    fista: Fista,
    /// Theta on the design of the last solve.
    pub theta: Vec<f64>,
    /// Its scores.
    pub scores: Vec<f64>,
}

impl Inner {
    /// Start at theta = 0 on an empty design; `whole` if designs will hold all factors.
    pub fn new(loss: &Loss, limits: Limits, whole: bool) -> Self {
        Self {
            loss: loss.clone(),
            limits,
            whole,
            newton: Newton::default(),
            proximal: Proximal::default(),
            fista: Fista::default(),
            theta: Vec::new(),
            scores: vec![0.0; loss.scores()],
        }
    }

    /// Solve on a design, and keep where it ended unless there is no end.
    pub fn solve(
        &mut self,
        design: &dyn RowDesign,
        lambda2: f64,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<Solved> {
        let lambda = Lambda { ridge: self.limits.lambda1, group: lambda2 };
        let start = std::mem::take(&mut self.theta);
        let method = self.method(design, lambda.ridge, &start);
        let by_gradients = match method {
            InnerMethod::Lbfgs => self.lbfgs_solve(design, lambda, tolerance, max_iter, monitor)?,
            _ => None,
        };
        let loss = &self.loss;
        let solved = match (by_gradients, method) {
            (Some(solved), _) => solved,
            (None, InnerMethod::Fista) => self.fista.solve(
                (design.as_design(), loss, lambda),
                start,
                tolerance,
                max_iter,
                monitor,
            )?,
            (None, InnerMethod::Proximal) => {
                let parts = (design, loss, lambda2);
                self.proximal.solve(&mut self.newton, parts, start, tolerance, max_iter, monitor)?
            }
            (None, _) => self.newton_solve(design, lambda, tolerance, max_iter, monitor)?,
        };
        self.theta.clone_from(&solved.point.theta);
        self.scores.clone_from(&solved.point.scores);
        Ok(solved)
    }
}

/// What an inner solve uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InnerMethod {
    Newton,
    /// lambda1 = 0.
    Proximal,
    /// Newton systems that cost more than the gradients they save.
    Lbfgs,
    /// The same at lambda1 = 0.
    Fista,
}

impl Inner {
    /// Choose by the shape of the design and by how much was off zero at the last lambda2.
    fn method(&self, design: &dyn RowDesign, ridge: f64, theta: &[f64]) -> InnerMethod {
        let width = self.scores.len() as f64;
        let rows = theta.iter().filter(|t| **t != 0.0).count() as f64;
        let system = rows * rows.min(width) * width;
        let look = design.look() as f64;
        let huge = theta.len().min(self.scores.len()) > NEWTON_SIZE && rows > NEWTON_SIZE as f64;
        if ridge == 0.0 {
            if huge {
                InnerMethod::Fista
            } else {
                InnerMethod::Proximal
            }
        } else if huge || rows < width && system > 2.0 * LBFGS_LOOKS / ridge.min(1.0).sqrt() * look
        {
            InnerMethod::Lbfgs
        } else {
            InnerMethod::Newton
        }
    }

    /// L-BFGS in the dual. On part of the factors it is asked for more until theta passes with its own
    /// weights, which are what the others are judged by; `None`, with the scores it got to, where it
    /// does not.
    fn lbfgs_solve(
        &mut self,
        design: &dyn RowDesign,
        lambda: Lambda,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<Option<Solved>> {
        let parts = (design.as_design(), &self.loss, lambda);
        let mut iterations = 0;
        let mut asked = tolerance;
        for _ in 0..LBFGS_ROUNDS {
            let left = max_iter.saturating_sub(iterations);
            let mut ended = lbfgs::solve(parts, &self.scores, asked, left, monitor)?;
            iterations += ended.iterations;
            if self.whole {
                ended.point.gap = ended.point.gap.min(ended.gap);
            }
            if tolerance.accepts(&ended.point) {
                let status = Status::Converged;
                return Ok(Some(Solved { point: ended.point, iterations, status }));
            }
            self.scores.clone_from(&ended.point.scores);
            asked.relative *= 0.1;
        }
        Ok(None)
    }

    fn newton_solve(
        &mut self,
        design: &dyn RowDesign,
        lambda: Lambda,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<Solved> {
        let task = Task {
            set: design,
            loss: &self.loss,
            lambda,
            linear: design.linear(),
            enough: &|objective| tolerance.gap(objective),
            max_iter,
        };
        let ended = self.newton.solve(&task, &self.scores, monitor)?;
        let iterations = ended.iterations;
        let point = ended.into_point(design.as_design(), lambda);
        if tolerance.accepts(&point) {
            return Ok(Solved { point, iterations, status: Status::Converged });
        }
        // Weights that are all on one row leave Newton no slope to see: gradient steps do not mind.
        let parts = (design.as_design(), &self.loss, lambda);
        let left = max_iter.saturating_sub(iterations);
        let mut solved = self.fista.solve(parts, point.theta, tolerance, left, monitor)?;
        solved.iterations += iterations;
        Ok(solved)
    }
}
