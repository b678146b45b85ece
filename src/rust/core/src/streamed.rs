//! All factors as a design, their features made anew each time they are needed.
//!
//! What the paper's primal and dual solvers work on. It shares no kernel with the fast pass: that
//! the two agree is a check on both.

use crate::problem::{Design, Problem};
use crate::simd::{axpy, dispatch, dot};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// Factors in one task. Partial sums are added task by task, so no thread count changes a result.
const TASK_FACTORS: usize = 512;

/// Every factor of a problem.
pub struct Streamed<'a> {
    problem: &'a Problem,
    /// Where each factor's coefficients start, and where the last ends.
    starts: Vec<usize>,
    weights: Vec<f64>,
    linear: Vec<f64>,
}

impl<'a> Streamed<'a> {
    /// All factors that may ever be let in; one with an infinite penalty keeps its place as zeros.
    pub fn new(problem: &'a Problem) -> Self {
        let features = &problem.features;
        let variables = features.variables();
        let mut starts = vec![0];
        let mut weights = Vec::with_capacity(features.factors());
        for (u, v) in (0..variables).flat_map(|u| (0..=u).map(move |v| (u, v))) {
            let factor = weights.len();
            starts.push(starts[factor] + features.size(factor));
            weights.push(problem.penalty.of(u, v));
        }
        let coefficients = starts[weights.len()];
        let mut design = Self { problem, starts, weights, linear: vec![0.0; coefficients] };
        design.linear = design.linear_moments();
        design
    }

    fn linear_moments(&self) -> Vec<f64> {
        let features = &self.problem.features;
        let weights = self.problem.loss.linear();
        self.collect(|range, out| {
            let mut rows = Vec::new();
            for factor in range.clone() {
                let size = features.size(factor);
                rows.resize(size * weights.len(), 0.0);
                features.fill(factor, 0..weights.len(), 1.0, &mut rows);
                let start = self.starts[factor] - self.starts[range.start];
                dispatch(Dots { rows: &rows, vector: weights, out: &mut out[start..start + size] });
            }
        })
    }

    /// Fill a vector of coefficients, a range of factors at a time.
    fn collect(&self, fill: impl Fn(Range<usize>, &mut [f64]) + Sync) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = self
            .ranges()
            .into_par_iter()
            .map(|range| {
                let mut out = vec![0.0; self.starts[range.end] - self.starts[range.start]];
                fill(range, &mut out);
                out
            })
            .collect();
        parts.concat()
    }

    fn ranges(&self) -> Vec<Range<usize>> {
        let count = self.weights.len();
        (0..count).step_by(TASK_FACTORS).map(|f| f..(f + TASK_FACTORS).min(count)).collect()
    }

    /// Number and features of each factor of a range, one after the other.
    fn visit(&self, range: Range<usize>, mut see: impl FnMut(usize, &[f64])) {
        let width = self.problem.loss.scores();
        let mut rows = Vec::new();
        for factor in range {
            rows.resize((self.starts[factor + 1] - self.starts[factor]) * width, 0.0);
            self.problem.fill_rows(factor, &mut rows);
            see(factor, &rows);
        }
    }
}

impl Design for Streamed<'_> {
    fn groups(&self) -> usize {
        self.weights.len()
    }

    fn span(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    fn weight(&self, group: usize) -> f64 {
        self.weights[group]
    }

    fn linear(&self) -> &[f64] {
        &self.linear
    }

    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let width = self.problem.loss.scores();
        let parts: Vec<Vec<f64>> = self
            .ranges()
            .into_par_iter()
            .map(|range| {
                let mut scores = vec![0.0; width];
                self.visit(range, |factor, rows| {
                    let theta = &theta[self.span(factor)];
                    if theta.iter().any(|t| *t != 0.0) {
                        dispatch(Combine { rows, factors: theta, out: &mut scores });
                    }
                });
                scores
            })
            .collect();
        let mut scores = vec![0.0; width];
        for part in parts {
            scores.iter_mut().zip(part).for_each(|(total, s)| *total += s);
        }
        scores
    }

    fn moments(&self, alpha: &[f64]) -> Vec<f64> {
        self.collect(|range, out| {
            let first = self.starts[range.start];
            self.visit(range, |factor, rows| {
                let span = self.span(factor);
                let out = &mut out[span.start - first..span.end - first];
                dispatch(Dots { rows, vector: alpha, out });
            });
        })
    }
}

/// `out = rows vector`.
struct Dots<'a> {
    rows: &'a [f64],
    vector: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, target) in self.rows.chunks_exact(self.vector.len()).zip(self.out) {
            *target = dot(simd, row, self.vector);
        }
    }
}

/// `out += rows' factors`.
struct Combine<'a> {
    rows: &'a [f64],
    factors: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, factor) in self.rows.chunks_exact(self.out.len()).zip(self.factors) {
            axpy(simd, *factor, row, self.out);
        }
    }
}
