//! Fits with trimmed numerators: a loop over the weights of their rows around convex fits.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::Status;
use crate::path::convex::ConvexFits;
use crate::path::grid::LambdaStep;
use crate::path::solver::Fit;
use crate::path::trim_weights::TrimWeights;

/// Convex fits over the weights at one lambda2 before these count as unsettled.
const MOST_FITS: usize = 300;
/// Trimmed objectives closer to zero than this are measured on an absolute scale.
const OBJECTIVE_FLOOR: f64 = 0.1;
/// Share of the predicted rise that a step of the weights must bring.
const ARMIJO: f64 = 1e-4;

/// Convex fits, and the weights of the numerators where these are trimmed.
pub struct TrimmedFits {
    /// The fits, each with the weights at that time.
    pub convex: ConvexFits,
    /// The weights of the last fit; `None` where nothing is trimmed.
    pub weights: Option<TrimWeights>,
}

/// A fit with some weights of the numerators.
struct WeightedFit {
    weights: TrimWeights,
    fit: Fit,
    /// The scores of the numerators.
    scores: Vec<f64>,
}

impl TrimmedFits {
    /// How much trimmed objectives near this one may stay apart.
    pub fn settled_within(&self, objective: f64) -> f64 {
        self.convex.settled_within() * OBJECTIVE_FLOOR.max(objective.abs())
    }

    /// A fit with the penalty factors as they are: one, or with trimmed numerators as many as their
    /// weights take.
    pub fn fit(&mut self, at: LambdaStep, monitor: &Monitor) -> Result<Fit> {
        match self.weights.clone() {
            Some(weights) => self.fit_trimmed(weights, at, monitor),
            None => self.convex.fit(at, monitor),
        }
    }

    /// Raise the objective of the fit over the weights, by projected slopes with steps as long as the
    /// last change of slope suggests, until trimming by its scores would raise it no more.
    fn fit_trimmed(
        &mut self,
        weights: TrimWeights,
        mut at: LambdaStep,
        monitor: &Monitor,
    ) -> Result<Fit> {
        let most = self.convex.made + MOST_FITS;
        let mut now = self.fit_weighted(weights, at, monitor)?;
        at.previous = at.current;
        let (mut length, mut iterations) = (f64::INFINITY, now.fit.iterations);
        loop {
            let gap = now.weights.gap(&now.scores);
            let settled = gap <= self.settled_within(now.fit.certificate.objective);
            if settled || self.convex.made >= most || now.fit.status == Status::Unbounded {
                let mut fit = now.fit;
                fit.certificate.objective += gap;
                fit.certificate.gap += gap;
                fit.iterations = iterations;
                if !settled && fit.status == Status::Converged {
                    fit.status = Status::Unsettled;
                }
                self.weights = Some(now.weights);
                return Ok(fit);
            }
            let longest = longest(&now.scores, length);
            let (next, moved) = self.step(&now, longest, (at, most), monitor)?;
            iterations += next.fit.iterations;
            let turned: Vec<f64> =
                next.scores.iter().zip(&now.scores).map(|(to, from)| to - from).collect();
            let turn = dot(&moved, &turned);
            length = if turn > 0.0 { dot(&moved, &moved) / turn } else { f64::INFINITY };
            now = next;
        }
    }

    /// One step of the weights that raises the objective, shortened until it does, and how far it went.
    fn step(
        &mut self,
        now: &WeightedFit,
        length: f64,
        (at, most): (LambdaStep, usize),
        monitor: &Monitor,
    ) -> Result<(WeightedFit, Vec<f64>)> {
        let (step, slope) = now.weights.step(&now.scores, length);
        let before = now.fit.certificate.objective;
        let noise = 2.0 * self.convex.tolerance.gap(before);
        let (mut share, mut iterations) = (1.0, 0);
        loop {
            let mut next = self.fit_weighted(now.weights.moved(&step, share), at, monitor)?;
            iterations += next.fit.iterations;
            let rise = next.fit.certificate.objective - before;
            if rise >= ARMIJO * share * slope - noise || self.convex.made >= most {
                next.fit.iterations = iterations;
                return Ok((next, step.iter().map(|d| share * d).collect()));
            }
            // Where the slope along the step is zero if it changes evenly.
            let end = -dot(&step, &next.scores);
            share *= (slope / (slope - end)).clamp(0.1, 0.5);
        }
    }

    /// The fit with these weights of the numerators.
    fn fit_weighted(
        &mut self,
        weights: TrimWeights,
        at: LambdaStep,
        monitor: &Monitor,
    ) -> Result<WeightedFit> {
        let fits = &mut self.convex;
        weights.write(&mut fits.problem.loss);
        fits.solver.set_linear(&fits.problem);
        let fit = fits.fit(at, monitor)?;
        let scores = weights.scores(&fits.problem.features, &fit.coefficients);
        Ok(WeightedFit { weights, fit, scores })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A step against scores that is no longer than takes every weight to its limit.
fn longest(scores: &[f64], length: f64) -> f64 {
    let size = scores.iter().fold(f64::MIN_POSITIVE, |top: f64, score| top.max(score.abs()));
    length.min(1e3 / size)
}
