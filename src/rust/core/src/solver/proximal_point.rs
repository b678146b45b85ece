//! Proximal points for lambda1 = 0, each a Newton solve in the dual.
//!
//! `theta_(k+1) = argmin J(theta) + sigma/2 |theta - theta_k|^2` is the problem with ridge sigma and
//! the linear term shifted by `sigma theta_k`. Every iterate is tried as a certificate that J has no
//! lower bound: below the smallest solvable lambda2 the iterates run off in such a direction.

use crate::design::subproblem::{Point, Subproblem};
use crate::error::Result;
use crate::objective::certificate::Status;
use crate::objective::penalty::Lambda;
use crate::solver::dual_newton::{DualNewton, DualProblem, DualSolution};
use crate::solver::newton_system::RowSubproblem;
use crate::solver::{Solved, Stop};

/// Proximal points before giving up.
const MAX_POINTS: usize = 100;
/// Newton steps to one proximal point.
const NEWTON_STEPS: usize = 50;
/// The weakest pull towards the last point.
const LEAST_SIGMA: f64 = 1e-9;
/// The strongest pull: beyond it a failing Newton solve is not going to work.
const MOST_SIGMA: f64 = 1e6;

/// The solver, with the pull it last used.
#[derive(Debug)]
pub struct ProximalPoint {
    sigma: f64,
}

impl Default for ProximalPoint {
    fn default() -> Self {
        Self { sigma: 0.1 }
    }
}

impl ProximalPoint {
    /// Minimise J with lambda1 = 0 over the working set, from `start` on.
    pub fn solve(
        &mut self,
        newton: &mut DualNewton,
        subproblem: &RowSubproblem<'_>,
        start: Vec<f64>,
        stop: Stop<'_>,
    ) -> Result<Solved> {
        let Stop { tolerance, max_iter, .. } = stop;
        let lambda2 = subproblem.lambda.lambda2;
        let mut point = subproblem.point(start);
        let (mut iterations, mut bound) = (0, f64::NEG_INFINITY);
        for _ in 0..MAX_POINTS {
            if tolerance.accepts(&point.certificate) {
                return Ok(Solved { point, iterations, status: Status::Converged });
            }
            let ended = self.pull(newton, subproblem, &point, stop.after(iterations))?;
            iterations += ended.iterations;
            let reached = ended.reached;
            let next = subproblem.point_with_moments(ended.theta, ended.own);
            bound = bound.max(best_bound(subproblem, &point, &next));
            if let Some(status) = Status::beside_threshold(lambda2, bound, false) {
                return Ok(Solved { point, iterations, status });
            }
            let (last, now) = (point.certificate, next.certificate);
            let progress = now.objective <= last.objective || now.kkt < last.kkt;
            if progress && now.objective.is_finite() {
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
        let status = if tolerance.accepts(&point.certificate) {
            Status::Converged
        } else {
            Status::beside_threshold(lambda2, bound, true).unwrap_or(Status::MaxIter)
        };
        Ok(Solved { point, iterations, status })
    }

    /// The next proximal point.
    fn pull(
        &self,
        newton: &mut DualNewton,
        subproblem: &RowSubproblem<'_>,
        from: &Point,
        stop: Stop<'_>,
    ) -> Result<DualSolution> {
        let pull = |(g, t): (&f64, &f64)| g + self.sigma * t;
        let linear = subproblem.design.linear().iter();
        let linear: Vec<f64> = linear.zip(&from.theta).map(pull).collect();
        let lambda = Lambda { lambda1: self.sigma, ..subproblem.lambda };
        // A gap this small leaves the violation to the pull.
        let target = 0.01 * stop.tolerance.kkt().powi(2);
        let problem = DualProblem {
            subproblem: Subproblem { lambda, ..*subproblem },
            linear: &linear,
            target_gap: &|_| target,
            max_iter: stop.max_iter.min(NEWTON_STEPS),
        };
        newton.solve(&problem, &from.scores, stop.monitor)
    }
}

/// The better of the certificates along the new point and along the step to it.
fn best_bound(subproblem: &RowSubproblem<'_>, last: &Point, next: &Point) -> f64 {
    let minus =
        |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let step = minus(&next.theta, &last.theta);
    let scores = minus(&next.scores, &last.scores);
    let along = subproblem.threshold_bound(&next.theta, &next.scores);
    along.max(subproblem.threshold_bound(&step, &scores))
}
