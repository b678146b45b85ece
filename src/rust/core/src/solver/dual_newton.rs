//! Semismooth Newton in the dual, on a working set.
//!
//! The unknowns are the scores w of the rows; `alpha = softmax(w)`, theta follows from `xi(alpha)` in
//! closed form, and the fit is done when its own scores `w' = H'theta` are w again. The duality gap
//! is `KL(alpha || softmax(w'))`; `newton_system.rs` has the linear algebra of a step.

use crate::design::subproblem::{ScoredWeights, Subproblem};
use crate::design::DualPoint;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::Certificate;
use crate::objective::loss::Weights;
use crate::solver::newton_system::{NewtonSystem, RowSubproblem};

/// Share of the predicted increase a step must bring.
const ARMIJO: f64 = 1e-4;
/// The most of the gap that a step by the last system may leave: a new one takes as long as two.
const LEFT: f64 = 0.03;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 40;

/// A subproblem as the dual sees it.
pub struct DualProblem<'a> {
    /// The factors, the loss and the penalties; lambda1 is positive.
    pub subproblem: RowSubproblem<'a>,
    /// The linear term: the design's own, or shifted by a proximal point.
    pub linear: &'a [f64],
    /// The duality gap to stop at, given the objective.
    pub target_gap: &'a dyn Fn(f64) -> f64,
    /// At most this many steps.
    pub max_iter: usize,
}

/// Where a solve ended.
pub struct DualSolution {
    /// The last theta.
    pub theta: Vec<f64>,
    /// Its scores, and what follows from them.
    pub own: ScoredWeights,
    /// Steps made.
    pub iterations: usize,
    /// Whether the gap was reached.
    pub reached: bool,
}

/// The solver, with what is worth keeping from one solve to the next.
#[derive(Default)]
pub struct DualNewton {
    system: NewtonSystem,
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

impl DualNewton {
    /// Maximise the dual from these scores on.
    pub fn solve(
        &mut self,
        problem: &DualProblem<'_>,
        scores: &[f64],
        monitor: &Monitor,
    ) -> Result<DualSolution> {
        let mut now = problem.try_scores(scores.to_vec());
        let mut iterations = 0;
        loop {
            monitor.check()?;
            let target = (problem.target_gap)(now.value + now.gap);
            if now.gap <= target {
                let own = problem.own(&now.at);
                if problem.own_gap(&now.at.theta, &own) <= target {
                    let theta = now.at.theta;
                    return Ok(DualSolution { theta, own, iterations, reached: true });
                }
            }
            let next = if iterations < problem.max_iter { self.step(problem, &now) } else { None };
            match next {
                Some(next) => now = next,
                None => {
                    let own = problem.own(&now.at);
                    let theta = now.at.theta;
                    return Ok(DualSolution { theta, own, iterations, reached: false });
                }
            }
            iterations += 1;
        }
    }

    /// A step by the last system, where that brings enough, and otherwise by a new one.
    fn step(&mut self, problem: &DualProblem<'_>, now: &Trial) -> Option<Trial> {
        let Trial { at, weights, shift, .. } = now;
        let near = self.system.near_direction(&problem.subproblem, at, shift);
        let next = near.map(|direction| problem.try_scores(moved(&now.scores, &direction, 1.0)));
        next.filter(|next| next.gap <= LEFT * now.gap).or_else(|| {
            let system = &mut self.system;
            let direction = system.direction(&problem.subproblem, at, &weights.alpha, shift)?;
            problem.line_search(now, &direction)
        })
    }
}

/// Some scores, a step on.
fn moved(scores: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
    scores.iter().zip(direction).map(|(s, d)| s + step * d).collect()
}

impl DualProblem<'_> {
    fn try_scores(&self, scores: Vec<f64>) -> Trial {
        let Subproblem { design, loss, lambda, .. } = self.subproblem;
        let weights = loss.weights(&scores);
        let at = design.dual_point(lambda, self.linear, &weights.alpha);
        let value = -loss.divergence_from_base(&scores, &weights) - at.conjugate;
        let mut shift: Vec<f64> = at.fitted.iter().zip(&scores).map(|(own, s)| own - s).collect();
        loss.centre(&weights.alpha, &mut shift);
        let gap = loss.divergence(&weights.alpha, &shift);
        Trial { scores, weights, at, value, shift, gap }
    }

    /// The weights that belong to theta: those of its own scores.
    fn own(&self, at: &DualPoint) -> ScoredWeights {
        let weights = self.subproblem.loss.weights(&at.fitted);
        let moments = self.subproblem.design.moments(&weights.alpha);
        ScoredWeights { scores: at.fitted.clone(), weights, moments }
    }

    /// The gap of theta with its own weights: what the certificate will say.
    fn own_gap(&self, theta: &[f64], own: &ScoredWeights) -> f64 {
        let Subproblem { design, lambda, .. } = self.subproblem;
        let xi: Vec<f64> = self.linear.iter().zip(&own.moments).map(|(g, h)| g - h).collect();
        let mut certificate = Certificate::new(0.0, lambda.lambda1);
        design.count_all(lambda, (theta, &xi), &mut certificate);
        certificate.gap
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
            let next = self.try_scores(moved(&now.scores, direction, step));
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
