//! One solve on a given design, by the method that fits its shape.

use super::Limits;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::{Design, Lambda, Problem, RowDesign, Status, Tolerance};
use crate::solver::fista::Fista;
use crate::solver::newton::{Newton, Task};
use crate::solver::proximal::Proximal;
use crate::solver::{lbfgs, Solved};

/// Newton systems larger than this take longer than the gradient steps they save.
const NEWTON_SIZE: usize = 3000;
/// Looks at all factors that L-BFGS makes at lambda1 = 1 or more; a ridge of r takes 1/sqrt(r) times.
const LBFGS_LOOKS: f64 = 15.0;

/// Newton, proximal points or gradient steps, whichever fits a design, from a theta and its scores.
pub struct Inner<'a> {
    /// The whole problem.
    pub problem: &'a Problem,
    /// Ridge and iterations.
    pub limits: Limits,
    newton: Newton,
    proximal: Proximal,
    fista: Fista,
    /// Theta on the design of the last solve.
    pub theta: Vec<f64>,
    /// Its scores.
    pub scores: Vec<f64>,
}

impl<'a> Inner<'a> {
    /// Start at theta = 0 on an empty design.
    pub fn new(problem: &'a Problem, limits: Limits) -> Self {
        Self {
            problem,
            limits,
            newton: Newton::default(),
            proximal: Proximal::default(),
            fista: Fista::default(),
            theta: Vec::new(),
            scores: vec![0.0; problem.loss.scores()],
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
        let loss = &self.problem.loss;
        let lambda = Lambda { ridge: self.limits.lambda1, group: lambda2 };
        let start = std::mem::take(&mut self.theta);
        let method = self.method(design, lambda.ridge, &start);
        let mut solved = None;
        if method == InnerMethod::Lbfgs {
            let parts = (design as &dyn Design, loss, lambda);
            let ended = lbfgs::solve(parts, &self.scores, tolerance, max_iter, monitor)?;
            self.scores.clone_from(&ended.point.scores);
            solved = (ended.status == Status::Converged).then_some(ended);
        }
        let solved = match (solved, method) {
            (Some(solved), _) => solved,
            (None, InnerMethod::Fista) => {
                self.fista.solve((design, loss, lambda), start, tolerance, max_iter, monitor)?
            }
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

impl Inner<'_> {
    /// Choose by the shape of the design and by how much was off zero at the last lambda2.
    fn method(&self, design: &dyn RowDesign, ridge: f64, theta: &[f64]) -> InnerMethod {
        let width = self.scores.len() as f64;
        let rows = theta.iter().filter(|t| **t != 0.0).count() as f64;
        let system = rows * rows.min(width) * width;
        let look = design.linear().len() as f64 * width;
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
            loss: &self.problem.loss,
            lambda,
            linear: design.linear(),
            enough: &|objective| tolerance.gap(objective),
            max_iter,
        };
        let ended = self.newton.solve(&task, &self.scores, monitor)?;
        let iterations = ended.iterations;
        let point = ended.into_point(design, lambda);
        let status = if tolerance.accepts(&point) { Status::Converged } else { Status::MaxIter };
        Ok(Solved { point, iterations, status })
    }
}
