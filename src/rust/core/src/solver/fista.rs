//! Accelerated proximal gradient with backtracking and restarts, on any design.
//!
//! On all factors it is the paper's primal; on a working set it takes over from Newton where the
//! Newton system would be too large.

use crate::design::subproblem::{Point, Subproblem};
use crate::design::Design;
use crate::error::Result;
use crate::objective::certificate::{Status, Tolerance};
use crate::objective::penalty::Lambda;
use crate::solver::momentum::Momentum;
use crate::solver::{Solved, Stop};

/// Iterations between two checks of the certificate, which costs as much as half an iteration.
const CHECK_EVERY: usize = 10;

/// The solver, with the step size it last used.
#[derive(Debug)]
pub struct Fista {
    lipschitz: f64,
}

impl Default for Fista {
    fn default() -> Self {
        Self { lipschitz: 1.0 }
    }
}

/// A theta with its scores.
#[derive(Clone)]
struct Iterate {
    theta: Vec<f64>,
    scores: Vec<f64>,
}

impl Iterate {
    /// `self + factor (self - other)`; the scores are linear in theta.
    fn beyond(&self, other: &Iterate, factor: f64) -> Iterate {
        let mix =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + factor * (a - b)).collect();
        Iterate { theta: mix(&self.theta, &other.theta), scores: mix(&self.scores, &other.scores) }
    }
}

impl Fista {
    /// Minimise from `start` on.
    pub fn solve<D: Design + ?Sized>(
        &mut self,
        subproblem: &Subproblem<'_, D>,
        start: Vec<f64>,
        stop: Stop<'_>,
    ) -> Result<Solved> {
        let scores = subproblem.design.scores(&start);
        let mut last = Iterate { theta: start, scores };
        let mut ahead = last.clone();
        let mut momentum = Momentum::default();
        let mut iterations = 0;
        loop {
            stop.monitor.check()?;
            let out_of_time = iterations >= stop.max_iter;
            if iterations % CHECK_EVERY == 0 || out_of_time {
                let Iterate { theta, scores } = last.clone();
                let point = subproblem.point_with_scores(theta, scores);
                if let Some(status) = ending(subproblem, &point, stop.tolerance, out_of_time) {
                    return Ok(Solved { point, iterations, status });
                }
            }
            let next = self.step(subproblem, &ahead);
            let turn: f64 = (0..next.theta.len())
                .map(|i| (ahead.theta[i] - next.theta[i]) * (next.theta[i] - last.theta[i]))
                .sum();
            ahead = match momentum.advance(turn) {
                Some(factor) => next.beyond(&last, factor),
                None => next.clone(),
            };
            last = next;
            iterations += 1;
        }
    }

    /// One proximal gradient step from `from`, as long as the quadratic bound allows.
    fn step<D: Design + ?Sized>(
        &mut self,
        subproblem: &Subproblem<'_, D>,
        from: &Iterate,
    ) -> Iterate {
        let Subproblem { design, loss, lambda, blocks } = *subproblem;
        let weights = loss.weights(&from.scores);
        let xi = design.xi(&weights.alpha);
        self.lipschitz *= 0.95;
        loop {
            let length = 1.0 / self.lipschitz;
            let mut theta: Vec<f64> =
                from.theta.iter().zip(&xi).map(|(t, x)| t + length * x).collect();
            subproblem.each_alone(|group| {
                let penalty = lambda.penalty(design.weight(group));
                penalty.prox(length, &mut theta[design.span(group)]);
            });
            for block in blocks.iter().flat_map(|all| &all.blocks) {
                block.prox(length, &mut theta);
            }
            let scores = design.scores(&theta);
            let mut shift: Vec<f64> = scores.iter().zip(&from.scores).map(|(a, b)| a - b).collect();
            loss.centre(&weights.alpha, &mut shift);
            // The loss minus its linear part is this divergence: no cancellation near the end.
            let curved = loss.divergence(&weights.alpha, &shift);
            let moved: f64 = theta.iter().zip(&from.theta).map(|(a, b)| (a - b).powi(2)).sum();
            // A step too short to move leaves nothing but rounding to compare.
            if moved == 0.0 || curved <= 0.5 * self.lipschitz * moved * (1.0 + 1e-9) {
                return Iterate { theta, scores };
            }
            self.lipschitz *= 1.6;
        }
    }
}

/// How a solve ends at this point, if it does.
fn ending<D: Design + ?Sized>(
    subproblem: &Subproblem<'_, D>,
    point: &Point,
    tolerance: Tolerance,
    last: bool,
) -> Option<Status> {
    if tolerance.accepts(&point.certificate) {
        return Some(Status::Converged);
    }
    let Lambda { lambda1, lambda2 } = subproblem.lambda;
    if lambda1 == 0.0 {
        let bound = subproblem.threshold_bound(&point.theta, &point.scores);
        if let Some(status) = Status::beside_threshold(lambda2, bound, last) {
            return Some(status);
        }
    }
    last.then_some(Status::MaxIter)
}
