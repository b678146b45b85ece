//! The reference: objective, gradient, duality gap and violation of the optimality conditions by
//! their definitions.
//!
//! Every feature of every factor is stored and every sum is a plain loop, from the raw samples on:
//! slow, and short enough to be checked by eye. It shares no code with the crate.

use super::Case;
use kliepnet_core::design::scan::Hits;
use kliepnet_core::features::{Basis, Coefficients};
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::samples::Standardize;
use ndarray::Array2;
use std::ops::Range;

/// All features of all factors, and the terms of the loss.
pub struct Reference {
    /// In the order (0,0), (1,0), (1,1), (2,0), ...
    factors: Vec<Factor>,
    ratios: Vec<Ratio>,
    rows: usize,
    y: Range<usize>,
}

struct Factor {
    weight: f64,
    /// Where its coefficients stand in theta.
    span: Range<usize>,
    /// One for each feature: its value on every row of x, then of y.
    features: Vec<Vec<f64>>,
}

/// `log mean_denominator exp(sign f'theta) - mean_numerator sign f'theta`.
struct Ratio {
    numerator: Range<usize>,
    denominator: Range<usize>,
    sign: f64,
}

/// What the reference finds at a theta.
pub struct ReferenceCertificate {
    pub objective: f64,
    /// Primal minus dual objective at alpha(theta).
    pub gap: f64,
    pub kkt: f64,
    pub xi: Vec<f64>,
    pub log_normalizer: f64,
    /// `1 / sum alpha^2`, of the ratio where it is smallest.
    pub effective_size: f64,
    /// The size of what the objective is a difference of: rounding errors are relative to it.
    pub scale: f64,
}

impl Reference {
    pub fn new(case: &Case) -> Self {
        let mut rows = stack(case);
        for value in rows.iter_mut().flatten() {
            *value = value.signum() * value.abs().powf(case.basis.power);
        }
        let (x_rows, y_rows) = (case.x.nrows(), case.y.nrows());
        let (x, y) = (0..x_rows, x_rows..x_rows + y_rows);
        let mut ratios = Vec::new();
        if case.direction != Direction::Backward {
            ratios.push(Ratio { numerator: x.clone(), denominator: y.clone(), sign: 1.0 });
        }
        if case.direction != Direction::Forward {
            ratios.push(Ratio { numerator: y.clone(), denominator: x, sign: -1.0 });
        }
        let mut factors = Vec::new();
        let mut start = 0;
        for u in 0..case.x.ncols() {
            for v in 0..=u {
                let features = features(&rows, &case.basis, u, v);
                let span = start..start + features.len();
                start = span.end;
                factors.push(Factor { weight: case.penalty.of(u, v), span, features });
            }
        }
        Self { factors, ratios, rows: x_rows + y_rows, y }
    }

    /// How many coefficients theta has.
    pub fn size(&self) -> usize {
        self.factors.last().unwrap().span.end
    }

    /// How many factors there are.
    pub fn factors(&self) -> usize {
        self.factors.len()
    }

    /// Where the coefficients of a factor stand.
    pub fn span(&self, factor: usize) -> Range<usize> {
        self.factors[factor].span.clone()
    }

    /// The penalty factor of a factor.
    pub fn weight(&self, factor: usize) -> f64 {
        self.factors[factor].weight
    }

    /// Theta in full.
    pub fn theta(&self, coefficients: &Coefficients) -> Vec<f64> {
        let mut theta = vec![0.0; self.size()];
        for (factor, values) in coefficients.iter() {
            theta[self.span(factor)].copy_from_slice(values);
        }
        theta
    }

    /// `f'theta` on every row.
    pub fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.rows];
        for factor in &self.factors {
            for (feature, t) in factor.features.iter().zip(&theta[factor.span.clone()]) {
                if *t != 0.0 {
                    for r in 0..self.rows {
                        scores[r] += t * feature[r];
                    }
                }
            }
        }
        scores
    }

    /// The loss at theta.
    pub fn loss(&self, theta: &[f64]) -> f64 {
        self.loss_of_scores(&self.scores(theta))
    }

    fn loss_of_scores(&self, scores: &[f64]) -> f64 {
        self.ratios.iter().map(|ratio| ratio.log_mean(scores) - ratio.linear(scores)).sum()
    }

    /// `xi`: minus the gradient of the loss at theta.
    pub fn xi(&self, theta: &[f64]) -> Vec<f64> {
        let scores = self.scores(theta);
        let alphas: Vec<Vec<f64>> = self.ratios.iter().map(|ratio| ratio.alpha(&scores)).collect();
        self.xi_of_rows(&self.row_weights(&alphas))
    }

    /// The row weights `c` that make `xi = sum_r c_r f(r)`, for an alpha of each ratio.
    pub fn row_weights(&self, alphas: &[Vec<f64>]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rows];
        for (ratio, alpha) in self.ratios.iter().zip(alphas) {
            for r in ratio.numerator.clone() {
                weights[r] += ratio.sign / ratio.numerator.len() as f64;
            }
            for (r, a) in ratio.denominator.clone().zip(alpha) {
                weights[r] -= ratio.sign * a;
            }
        }
        weights
    }

    /// `sum_r weights_r f(r)` of every feature.
    pub fn xi_of_rows(&self, weights: &[f64]) -> Vec<f64> {
        let moment = |feature: &Vec<f64>| (0..self.rows).map(|r| weights[r] * feature[r]).sum();
        self.factors.iter().flat_map(|factor| factor.features.iter().map(moment)).collect()
    }

    /// `|xi_t|` of every factor.
    pub fn norms(&self, xi: &[f64]) -> Vec<f64> {
        self.factors.iter().map(|factor| length(&xi[factor.span.clone()])).collect()
    }

    /// The penalised factors with `|xi_t| > level w_t` at these row weights, with `|xi_t|`.
    pub fn above(&self, weights: &[f64], level: f64) -> Vec<(usize, f64)> {
        let norms = self.norms(&self.xi_of_rows(weights));
        (0..self.factors.len())
            .filter(|t| self.weight(*t) > 0.0 && norms[*t] > level * self.weight(*t))
            .map(|t| (t, norms[t]))
            .collect()
    }

    /// `max_t |xi_t| / w_t` over the penalised factors.
    pub fn largest_ratio(&self, xi: &[f64]) -> f64 {
        let norms = self.norms(xi);
        let penalised = (0..self.factors.len()).filter(|t| self.weight(*t) > 0.0);
        penalised.map(|t| norms[t] / self.weight(t)).fold(0.0, f64::max)
    }

    /// Objective, gap and violation of the optimality conditions at theta.
    pub fn certify(&self, theta: &[f64], lambda1: f64, lambda2: f64) -> ReferenceCertificate {
        let scores = self.scores(theta);
        let alphas: Vec<Vec<f64>> = self.ratios.iter().map(|ratio| ratio.alpha(&scores)).collect();
        let xi = self.xi_of_rows(&self.row_weights(&alphas));
        let mut entropy = 0.0;
        for alpha in &alphas {
            for a in alpha.iter().filter(|a| **a > 0.0) {
                entropy -= a * (a * alpha.len() as f64).ln();
            }
        }
        let (mut penalty, mut conjugate, mut kkt) = (0.0, 0.0, 0.0_f64);
        for factor in &self.factors {
            let (theta, xi) = (&theta[factor.span.clone()], &xi[factor.span.clone()]);
            let (size, slope) = (length(theta), length(xi));
            // Infinity times lambda2 = 0 is infinite: such a factor is never let in.
            let level =
                if factor.weight.is_finite() { lambda2 * factor.weight } else { f64::INFINITY };
            if lambda1 > 0.0 {
                conjugate += (slope - level).max(0.0).powi(2) / (2.0 * lambda1);
            }
            if size == 0.0 {
                kkt = kkt.max(slope - level);
            } else {
                penalty += lambda1 / 2.0 * size * size + level * size;
                let off: Vec<f64> = (0..xi.len())
                    .map(|k| xi[k] - lambda1 * theta[k] - level * theta[k] / size)
                    .collect();
                kkt = kkt.max(length(&off));
            }
        }
        let objective = self.loss_of_scores(&scores) + penalty;
        let linear: f64 = self.ratios.iter().map(|ratio| ratio.linear(&scores).abs()).sum();
        ReferenceCertificate {
            objective,
            gap: if lambda1 > 0.0 { objective - (entropy - conjugate) } else { f64::NAN },
            kkt,
            xi,
            log_normalizer: log_mean_exp(&scores[self.y.clone()]),
            effective_size: alphas
                .iter()
                .map(|alpha| 1.0 / alpha.iter().map(|a| a * a).sum::<f64>())
                .fold(f64::INFINITY, f64::min),
            scale: 1.0 + objective.abs() + linear + penalty + entropy.abs() + conjugate.abs(),
        }
    }

    /// For each ratio, and each row of its denominator, `sign f(row)` of every feature; and the linear
    /// term's moment `g` of every feature. `xi = g - sum_k sum_i alpha_ki rows_ki`.
    pub fn affine(&self) -> (Vec<f64>, Vec<Vec<Vec<f64>>>) {
        let mut linear = vec![0.0; self.rows];
        for ratio in &self.ratios {
            for r in ratio.numerator.clone() {
                linear[r] += ratio.sign / ratio.numerator.len() as f64;
            }
        }
        let all = || self.factors.iter().flat_map(|factor| &factor.features);
        let rows = |ratio: &Ratio| -> Vec<Vec<f64>> {
            let row = |r: usize| all().map(|feature| ratio.sign * feature[r]).collect();
            ratio.denominator.clone().map(row).collect()
        };
        (self.xi_of_rows(&linear), self.ratios.iter().map(rows).collect())
    }
}

impl Ratio {
    fn linear(&self, scores: &[f64]) -> f64 {
        let total: f64 = self.numerator.clone().map(|r| self.sign * scores[r]).sum();
        total / self.numerator.len() as f64
    }

    fn log_mean(&self, scores: &[f64]) -> f64 {
        let values: Vec<f64> = self.denominator.clone().map(|r| self.sign * scores[r]).collect();
        log_mean_exp(&values)
    }

    /// `exp(s) / sum exp(s)`, with scores taken from the largest before anything is rounded to its
    /// size: `exp(s - log sum exp(s))` is off by the rounding of that logarithm, 1e-4 where it is 1e12,
    /// and such weights do not add up to one.
    fn alpha(&self, scores: &[f64]) -> Vec<f64> {
        let values = || self.denominator.clone().map(|r| self.sign * scores[r]);
        let top = values().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = values().map(|s| (s - top).exp()).sum();
        values().map(|s| (s - top).exp() / total).collect()
    }
}

/// The standardised rows of x, then of y.
fn stack(case: &Case) -> Vec<Vec<f64>> {
    let rows_of = |sample: &Array2<f64>| -> Vec<Vec<f64>> {
        sample.rows().into_iter().map(|row| row.to_vec()).collect()
    };
    let (mut x, mut y) = (rows_of(&case.x), rows_of(&case.y));
    match case.standardize {
        Standardize::Within => {
            standardise(&mut x);
            standardise(&mut y);
            x.extend(y);
        }
        Standardize::Pooled => {
            x.extend(y);
            standardise(&mut x);
        }
        Standardize::None => x.extend(y),
    }
    x
}

fn standardise(rows: &mut [Vec<f64>]) {
    let n = rows.len() as f64;
    for u in 0..rows[0].len() {
        let mean = rows.iter().map(|row| row[u]).sum::<f64>() / n;
        let variance = rows.iter().map(|row| (row[u] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        for row in rows.iter_mut() {
            row[u] = (row[u] - mean) / variance.sqrt();
        }
    }
}

/// The features of the factor (u, v) on every row of transformed values.
fn features(rows: &[Vec<f64>], basis: &Basis, u: usize, v: usize) -> Vec<Vec<f64>> {
    let exponents: Vec<(usize, usize)> =
        if u == v { basis.single.iter().map(|p| (*p, 0)).collect() } else { basis.pair.clone() };
    let value =
        |row: &Vec<f64>, (p, q): (usize, usize)| row[u].powi(p as i32) * row[v].powi(q as i32);
    exponents.into_iter().map(|pq| rows.iter().map(|row| value(row, pq)).collect()).collect()
}

fn log_mean_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().map(|s| (s - top).exp()).sum::<f64>() / values.len() as f64;
    top + mean.ln()
}

/// `|v|_2`.
pub fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `|a - b|_2`.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The same factors with the same norms, up to rounding and to factors at the level itself.
pub fn assert_same_hits(
    got: &Hits,
    want: &[(usize, f64)],
    reference: &Reference,
    level: f64,
    what: &str,
) {
    let mut got: Vec<(usize, f64)> = got.iter().map(|hit| (hit.factor(), hit.norm)).collect();
    got.sort_unstable_by_key(|(factor, _)| *factor);
    assert!(got.windows(2).all(|two| two[0].0 < two[1].0), "{what}: a factor is reported twice");
    let (mut left, mut right) = (got.iter().peekable(), want.iter().peekable());
    loop {
        let (alone, norm) = match (left.peek(), right.peek()) {
            (None, None) => return,
            (Some(a), Some(b)) if a.0 == b.0 => {
                let close = (a.1 - b.1).abs() <= 1e-12 * (1.0 + b.1);
                assert!(close, "{what}: factor {} has norm {} for {}", a.0, a.1, b.1);
                left.next();
                right.next();
                continue;
            }
            (Some(a), Some(b)) if a.0 < b.0 => *left.next().unwrap(),
            (Some(_), None) => *left.next().unwrap(),
            _ => *right.next().unwrap(),
        };
        let edge = level * reference.weight(alone);
        assert!((norm - edge).abs() <= 1e-12 * (1.0 + edge), "{what}: factor {alone} at {norm}");
    }
}
