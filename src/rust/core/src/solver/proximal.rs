//! lambda1 = 0 on a working set: proximal points, each a Newton solve.
//!
//! `theta_(k+1) = argmin J(theta) + sigma/2 |theta - theta_k|^2` is the problem with ridge sigma and
//! the linear term shifted by `sigma theta_k`. Every iterate is tried as a certificate that J has no
//! lower bound: below the smallest solvable lambda2 the iterates run off in such a direction.

use crate::error::Result;
use crate::loss::Loss;
use crate::monitor::Monitor;
use crate::problem::{threshold_bound, Design, Lambda, Point, RowDesign, Status, Tolerance};
use crate::solver::newton::{Newton, Task};
use crate::solver::Solved;

/// Proximal points before giving up.
const MAX_POINTS: usize = 100;
/// The weakest pull towards the last point.
const LEAST_SIGMA: f64 = 1e-9;
/// The strongest pull: beyond it a failing Newton solve is not going to work.
const MOST_SIGMA: f64 = 1e6;

/// The solver, with the pull it last used.
#[derive(Debug)]
pub struct Proximal {
    sigma: f64,
}

impl Default for Proximal {
    fn default() -> Self {
        Self { sigma: 0.1 }
    }
}

impl Proximal {
    /// Minimise J with lambda1 = 0 over the working set, from `start` on.
    pub fn solve(
        &mut self,
        newton: &mut Newton,
        (set, loss, group): (&dyn RowDesign, &Loss, f64),
        start: Vec<f64>,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<Solved> {
        let lambda = Lambda { ridge: 0.0, group };
        let mut point = Point::new(set.as_design(), loss, lambda, start);
        let (mut iterations, mut bound) = (0, f64::NEG_INFINITY);
        // An inner gap this small leaves the residual to the proximal pull.
        let enough = 0.01 * tolerance.residual().powi(2);
        for _ in 0..MAX_POINTS {
            if tolerance.accepts(&point) {
                return Ok(Solved { point, iterations, status: Status::Converged });
            }
            let pull = |(g, t): (&f64, &f64)| g + self.sigma * t;
            let linear: Vec<f64> = set.linear().iter().zip(&point.theta).map(pull).collect();
            let task = Task {
                set,
                loss,
                lambda: Lambda { ridge: self.sigma, group },
                linear: &linear,
                enough: &|_| enough,
                max_iter: max_iter.saturating_sub(iterations).min(50),
            };
            let ended = newton.solve(&task, &point.scores, monitor)?;
            iterations += ended.iterations;
            let reached = ended.reached;
            let next = ended.into_point(set.as_design(), lambda);
            bound = bound.max(best_bound(set.as_design(), loss, &point, &next));
            if let Some(status) = Status::beside_threshold(group, bound, false) {
                return Ok(Solved { point, iterations, status });
            }
            let progress = next.objective <= point.objective || next.residual < point.residual;
            if progress && next.objective.is_finite() {
                point = next;
            }
            let quick = reached && progress;
            self.sigma *= if quick { 0.2 } else { 8.0 };
            self.sigma = self.sigma.max(LEAST_SIGMA);
            if self.sigma > MOST_SIGMA || iterations >= max_iter {
                break;
            }
        }
        self.sigma = self.sigma.clamp(1e-4, 0.1);
        let status = if tolerance.accepts(&point) {
            Status::Converged
        } else {
            Status::beside_threshold(group, bound, true).unwrap_or(Status::MaxIter)
        };
        Ok(Solved { point, iterations, status })
    }
}

/// The better of the certificates along the new point and along the step to it.
fn best_bound(set: &dyn Design, loss: &Loss, last: &Point, next: &Point) -> f64 {
    let minus =
        |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let step = minus(&next.theta, &last.theta);
    let scores = minus(&next.scores, &last.scores);
    let along = threshold_bound(set, loss, &next.theta, &next.scores);
    along.max(threshold_bound(set, loss, &step, &scores))
}
