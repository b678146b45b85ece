//! The ratio fitted without a penalty on a few factors, by Newton's method.

use super::inverse_row::first_column;
use super::sample::Sample;
use crate::features::Coefficients;
use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch, dot};
use pulp::{Simd, WithSimd};

/// Newton steps before giving up.
const MAX_STEPS: usize = 100;
/// Halvings of one step.
const MAX_HALVINGS: usize = 40;
/// A step whose decrease this is, in units of the objective, is the last.
const LAST_DECREASE: f64 = 1e-18;
/// The share of the predicted decrease a step must make.
const ARMIJO: f64 = 1e-4;
/// From a decrease of this size on the scores should hardly move. Where the objective falls for ever,
/// ever more slowly, they go on as before while there is less and less to gain.
const LATE_DECREASE: f64 = 1e-8;
/// The most that they may.
const LATE_MOVE: f64 = 0.5;

/// The minimum on a support.
#[derive(Debug, Clone)]
pub struct Refit {
    /// One for each factor.
    pub theta: Vec<f64>,
    /// The weights of `y`.
    pub alpha: Vec<f64>,
    /// The Hessian on the support, row by row.
    pub hessian: Vec<f64>,
}

impl Refit {
    /// The row of the inverse Hessian of the support's first factor.
    pub fn first_row(&self) -> Option<Vec<f64>> {
        first_column(&self.hessian, self.theta.len())
    }
}

/// Minimise `log mean_i exp(f_i'theta) - g'theta` over some factors; `None` where there is no minimum,
/// or no single one.
pub fn refit(sample: &Sample<'_>, factors: &[usize], start: &Coefficients) -> Option<Refit> {
    let mut newton = Newton::new(sample, factors, start);
    let mut late: Option<Vec<f64>> = None;
    for _ in 0..MAX_STEPS {
        let (gradient, hessian) = newton.derivatives();
        let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
        Cholesky::new(&hessian, factors.len())?.solve(&mut step);
        let decrease: f64 = step.iter().zip(&gradient).map(|(s, g)| -s * g).sum();
        if !decrease.is_finite() || newton.runs_off() {
            return None;
        }
        if decrease <= LATE_DECREASE {
            let then = late.get_or_insert_with(|| newton.scores.clone());
            let moved = newton.scores.iter().zip(then).any(|(a, b)| (a - *b).abs() > LATE_MOVE);
            if moved {
                return None;
            }
        }
        if decrease <= LAST_DECREASE {
            return Some(Refit { theta: newton.theta, alpha: newton.alpha, hessian });
        }
        newton.advance(&step, decrease)?;
    }
    None
}

struct Newton<'a> {
    sample: &'a Sample<'a>,
    /// The features on `y`.
    rows: Vec<Vec<f64>>,
    /// Their means over `x`.
    linear: Vec<f64>,
    theta: Vec<f64>,
    scores: Vec<f64>,
    alpha: Vec<f64>,
    objective: f64,
}

impl<'a> Newton<'a> {
    fn new(sample: &'a Sample<'a>, factors: &[usize], start: &Coefficients) -> Self {
        let rows = factors.iter().map(|f| sample.feature(*f, sample.y.clone())).collect();
        let linear = factors.iter().map(|f| sample.mean_over_x(*f)).collect();
        let known = |factor: &usize| start.iter().find(|(f, _)| f == factor);
        let theta: Vec<f64> =
            factors.iter().map(|f| known(f).map_or(0.0, |(_, theta)| theta[0])).collect();
        let mut newton = Self {
            sample,
            rows,
            linear,
            theta: vec![],
            scores: vec![],
            alpha: vec![],
            objective: f64::INFINITY,
        };
        let scores = newton.scores_of(&theta);
        newton.move_to(theta, scores);
        newton
    }

    fn scores_of(&self, theta: &[f64]) -> Vec<f64> {
        dispatch(Combine { rows: &self.rows, theta, width: self.sample.y.len() })
    }

    /// Whether the objective at these is at most `limit`, and if so move there.
    fn try_move(&mut self, theta: Vec<f64>, scores: Vec<f64>, limit: f64) -> bool {
        let (alpha, objective) = self.value(&theta, &scores);
        // Written so that a NaN is no progress.
        let good = objective <= limit;
        if good {
            (self.theta, self.scores, self.alpha) = (theta, scores, alpha);
            self.objective = objective;
        }
        good
    }

    fn move_to(&mut self, theta: Vec<f64>, scores: Vec<f64>) {
        (self.alpha, self.objective) = self.value(&theta, &scores);
        (self.theta, self.scores) = (theta, scores);
    }

    fn value(&self, theta: &[f64], scores: &[f64]) -> (Vec<f64>, f64) {
        let weights = self.sample.loss.weights(scores);
        let linear: f64 = self.linear.iter().zip(theta).map(|(g, t)| g * t).sum();
        let objective = weights.log_sums() - linear;
        (weights.alpha, objective)
    }

    fn derivatives(&self) -> (Vec<f64>, Vec<f64>) {
        let (moments, hessian) = dispatch(Moments { rows: &self.rows, alpha: &self.alpha });
        let gradient = moments.iter().zip(&self.linear).map(|(m, g)| m - g).collect();
        (gradient, hessian)
    }

    /// Halve a step until it does its share; `None` where doubles cannot resolve any.
    fn advance(&mut self, step: &[f64], decrease: f64) -> Option<()> {
        let change = self.scores_of(step);
        // Sums of a thousand terms near the minimum: a decrease below this is rounding.
        let slack = 1e-14 * (1.0 + self.objective.abs());
        let mut length = 1.0;
        for _ in 0..MAX_HALVINGS {
            let along = |from: &[f64], by: &[f64]| -> Vec<f64> {
                from.iter().zip(by).map(|(a, b)| a + length * b).collect()
            };
            let (theta, scores) = (along(&self.theta, step), along(&self.scores, &change));
            let limit = self.objective - ARMIJO * length * decrease + slack;
            if self.try_move(theta, scores, limit) {
                return Some(());
            }
            length *= 0.5;
        }
        None
    }

    /// Along a theta whose mean score over `x` is at least its largest over `y` the objective falls
    /// for ever.
    fn runs_off(&self) -> bool {
        let top = self.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean: f64 = self.linear.iter().zip(&self.theta).map(|(g, t)| g * t).sum();
        // More than rounding beyond: at theta = 0 both are zero.
        mean > top + 1e-9 * top.abs()
    }
}

struct Combine<'a> {
    rows: &'a [Vec<f64>],
    theta: &'a [f64],
    width: usize,
}

impl WithSimd for Combine<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut scores = vec![0.0; self.width];
        for (row, theta) in self.rows.iter().zip(self.theta) {
            axpy(simd, *theta, row, &mut scores);
        }
        scores
    }
}

/// Means under alpha, and the covariance: its lower triangle, row by row in a full matrix.
struct Moments<'a> {
    rows: &'a [Vec<f64>],
    alpha: &'a [f64],
}

impl WithSimd for Moments<'_> {
    type Output = (Vec<f64>, Vec<f64>);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (Vec<f64>, Vec<f64>) {
        let size = self.rows.len();
        let mut means = Vec::with_capacity(size);
        let mut hessian = vec![0.0; size * size];
        let mut weighted = vec![0.0; self.alpha.len()];
        for (i, row) in self.rows.iter().enumerate() {
            let mean = dot(simd, row, self.alpha);
            means.push(mean);
            for ((w, f), a) in weighted.iter_mut().zip(row).zip(self.alpha) {
                *w = a * (f - mean);
            }
            for (j, other) in self.rows[..=i].iter().enumerate() {
                hessian[i * size + j] = dot(simd, &weighted, other);
            }
        }
        (means, hessian)
    }
}
