//! All factors as a design, their features recomputed each time they are needed.
//!
//! What the paper's primal and dual solvers work on. It shares neither the tiles nor the screening
//! of the fast pass: that the two agree is a check on both.

use crate::design::Design;
use crate::features::Place;
use crate::numerics::simd::dispatch;
use crate::objective::loss::Loss;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Factors in one task. Partial sums are added task by task, so no thread count changes a result.
const TASK_FACTORS: usize = 1024;

/// Every factor of a problem.
pub struct StreamedDesign {
    problem: Problem,
    factors: Vec<Factor>,
    linear: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Factor {
    place: Place,
    /// Where its coefficients start.
    start: usize,
    size: usize,
    weight: f64,
}

impl StreamedDesign {
    /// All factors; one with an infinite penalty keeps its place as zeros.
    pub fn new(problem: &Problem) -> Self {
        let mut factors = Vec::with_capacity(problem.features.factors());
        let mut start = 0;
        for number in 0..problem.features.factors() {
            let place = problem.features.place(number);
            let size = problem.features.size_of(place.0, place.1);
            factors.push(Factor { place, start, size, weight: problem.penalty_factor.at(number) });
            start += size;
        }
        let mut design = Self { problem: problem.clone(), factors, linear: Vec::new() };
        design.linear = design.collect(None);
        design
    }

    /// The problem whose factors these are.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Replace the penalty factors.
    pub fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.problem.penalty_factor = penalty_factor.clone();
        let factors = self.factors.iter_mut().enumerate();
        factors.for_each(|(number, factor)| factor.weight = penalty_factor.at(number));
    }

    /// Replace the loss by one that differs in its linear term alone.
    pub fn set_linear(&mut self, loss: &Loss) {
        self.problem.loss = loss.clone();
        self.linear = self.collect(None);
    }

    /// The moments of all features under `alpha`, or in the linear term.
    fn collect(&self, alpha: Option<&[f64]>) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = self
            .factors
            .par_chunks(TASK_FACTORS)
            .map(|factors| dispatch(Moments { problem: &self.problem, factors, alpha }))
            .collect();
        parts.concat()
    }
}

impl Design for StreamedDesign {
    fn groups(&self) -> usize {
        self.factors.len()
    }

    fn span(&self, group: usize) -> Range<usize> {
        let factor = self.factors[group];
        factor.start..factor.start + factor.size
    }

    fn weight(&self, group: usize) -> f64 {
        self.factors[group].weight
    }

    fn linear(&self) -> &[f64] {
        &self.linear
    }

    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = self
            .factors
            .par_chunks(TASK_FACTORS)
            .map(|factors| dispatch(Scores { problem: &self.problem, factors, theta }))
            .collect();
        let mut scores = vec![0.0; self.problem.loss.scores()];
        for part in parts {
            scores.iter_mut().zip(part).for_each(|(total, s)| *total += s);
        }
        scores
    }

    fn moments(&self, alpha: &[f64]) -> Vec<f64> {
        self.collect(Some(alpha))
    }
}

struct Moments<'a> {
    problem: &'a Problem,
    factors: &'a [Factor],
    alpha: Option<&'a [f64]>,
}

impl WithSimd for Moments<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut out = Vec::new();
        for Factor { place: (u, v), size, .. } in self.factors {
            for k in 0..*size {
                out.push(match self.alpha {
                    Some(alpha) => self.problem.moment(simd, (*u, *v, k), alpha),
                    None => self.problem.linear_moment(simd, (*u, *v, k)),
                });
            }
        }
        out
    }
}

struct Scores<'a> {
    problem: &'a Problem,
    factors: &'a [Factor],
    theta: &'a [f64],
}

impl WithSimd for Scores<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut scores = vec![0.0; self.problem.loss.scores()];
        for Factor { place: (u, v), start, size, .. } in self.factors {
            for (k, value) in self.theta[*start..start + size].iter().enumerate() {
                if *value != 0.0 {
                    self.problem.add_feature(simd, (*u, *v, k), *value, &mut scores);
                }
            }
        }
        scores
    }
}
