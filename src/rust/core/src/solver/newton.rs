//! Semismooth Newton in the dual, on a working set.
//!
//! The unknowns are the scores w of the rows; `alpha = softmax(w)`, theta follows from `xi(alpha)` in
//! closed form, and the fit is done when its own scores `w' = H'theta` are w again. The duality gap
//! is `KL(alpha || softmax(w'))`; `system.rs` has the linear algebra of a step.

use crate::error::Result;
use crate::loss::{Loss, Weights};
use crate::monitor::Monitor;
use crate::problem::{Design, DualPoint, Lambda, Point, RowDesign};
use crate::solver::system::System;

/// Share of the predicted increase a step must bring.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 40;

/// What one solve is about.
pub struct Task<'a> {
    /// The factors.
    pub set: &'a dyn RowDesign,
    /// The loss over their rows.
    pub loss: &'a Loss,
    /// The penalties; the ridge is positive.
    pub lambda: Lambda,
    /// The linear term: the set's own, or shifted by a proximal point.
    pub linear: &'a [f64],
    /// Stop at this duality gap, given the objective.
    pub enough: &'a dyn Fn(f64) -> f64,
    /// At most this many steps.
    pub max_iter: usize,
}

/// Where a solve ended.
pub struct Ended {
    /// The last theta.
    pub theta: Vec<f64>,
    /// Its scores, and what follows from them.
    pub own: Own,
    /// Steps made.
    pub iterations: usize,
    /// Whether the gap was reached.
    pub reached: bool,
}

impl Ended {
    /// Theta judged over the working set by `lambda`: the task's, or the one a proximal pull is for.
    pub fn into_point(self, set: &dyn Design, lambda: Lambda) -> Point {
        let Own { scores, weights, moments } = self.own;
        Point::with_moments(set, lambda, self.theta, scores, weights, &moments)
    }
}

/// The scores of a theta, their weights, and the moments of the features under those.
pub struct Own {
    /// `H'theta`.
    pub scores: Vec<f64>,
    /// `alpha(theta)`.
    pub weights: Weights,
    /// `H alpha(theta)`.
    pub moments: Vec<f64>,
}

/// The solver, with what is worth keeping from one solve to the next.
#[derive(Debug, Default)]
pub struct Newton {
    system: System,
}

/// A point of the dual.
struct Trial {
    scores: Vec<f64>,
    weights: Weights,
    at: DualPoint,
    /// The dual objective.
    value: f64,
    /// The fit's own scores minus the ones it was made with, centred under alpha.
    shift: Vec<f64>,
    /// `KL(alpha || softmax(own scores))`.
    gap: f64,
}

impl Newton {
    /// Maximise the dual from these scores on.
    pub fn solve(&mut self, task: &Task<'_>, scores: &[f64], monitor: &Monitor) -> Result<Ended> {
        let mut now = task.try_scores(scores.to_vec());
        let mut iterations = 0;
        loop {
            monitor.check()?;
            let enough = (task.enough)(now.value + now.gap);
            if now.gap <= enough {
                let own = task.own(&now.at);
                if task.own_gap(&now.at.theta, &own) <= enough {
                    return Ok(Ended { theta: now.at.theta, own, iterations, reached: true });
                }
            }
            let next = (iterations < task.max_iter)
                .then(|| self.system.direction(task, &now.at, &now.weights.alpha, &now.shift))
                .flatten()
                .and_then(|direction| task.line_search(&now, &direction));
            match next {
                Some(next) => now = next,
                None => {
                    let own = task.own(&now.at);
                    return Ok(Ended { theta: now.at.theta, own, iterations, reached: false });
                }
            }
            iterations += 1;
        }
    }
}

impl Task<'_> {
    fn try_scores(&self, scores: Vec<f64>) -> Trial {
        let weights = self.loss.weights(&scores);
        let at = self.set.dual_point(self.lambda, self.linear, &weights.alpha);
        let value = -self.loss.divergence_from_base(&scores, &weights) - at.conjugate;
        let mut shift: Vec<f64> = at.fitted.iter().zip(&scores).map(|(own, s)| own - s).collect();
        self.loss.centre(&weights.alpha, &mut shift);
        let gap = self.loss.divergence(&weights.alpha, &shift);
        Trial { scores, weights, at, value, shift, gap }
    }

    /// The weights that belong to theta: those of its own scores.
    fn own(&self, at: &DualPoint) -> Own {
        let weights = self.loss.weights(&at.fitted);
        let moments = self.set.moments(&weights.alpha);
        Own { scores: at.fitted.clone(), weights, moments }
    }

    /// The gap of theta with its own weights: what the certificate will say.
    fn own_gap(&self, theta: &[f64], own: &Own) -> f64 {
        let xi: Vec<f64> = self.linear.iter().zip(&own.moments).map(|(g, h)| g - h).collect();
        let gap = |group| {
            let span = self.set.span(group);
            self.lambda.penalty(self.set.weight(group)).gap(&theta[span.clone()], &xi[span])
        };
        (0..self.set.groups()).map(gap).sum()
    }

    /// Shorten the step until the dual rises enough. Where the rise drowns in rounding, the gap must
    /// fall instead: two points can then not take turns for ever. `None` where neither happens.
    fn line_search(&self, now: &Trial, direction: &[f64]) -> Option<Trial> {
        let alpha = &now.weights.alpha;
        let slope: f64 = (0..alpha.len()).map(|i| alpha[i] * now.shift[i] * direction[i]).sum();
        let largest = now.scores.iter().fold(now.value.abs(), |top, s| top.max(s.abs()));
        let noise = 16.0 * f64::EPSILON * (largest + now.at.conjugate);
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            let scores = now.scores.iter().zip(direction).map(|(s, d)| s + step * d).collect();
            let next = self.try_scores(scores);
            let rise = next.value - now.value;
            let falls = next.gap < (1.0 - ARMIJO * step) * now.gap;
            if rise >= noise.max(ARMIJO * step * slope) || rise >= -noise && falls {
                return Some(next);
            }
            step *= 0.5;
        }
        None
    }
}
