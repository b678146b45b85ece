//! Trimmed numerators: the mean over a numerator becomes the worst one over most of its rows.
//!
//! With a share r of a sample's rows that may be outliers, `mean_i s_i` of the scores
//! `s_i = sign theta'f(z_i)` in the linear term becomes `min_w sum_i w_i s_i` over weights
//! `0 <= w_i <= 1 / (n (1 - r))` that sum to one: the mean over the share 1 - r with the smallest
//! scores. The loss stays convex. For given weights theta is an ordinary fit, whose objective D(w)
//! is concave in w with slope -s: it is raised step by step along projected slopes, and the
//! difference to the trimmed objective of its theta bounds what is left to gain.

use crate::features::{Coefficients, Features};
use crate::objective::loss::{Loss, Term};
use std::ops::Range;

/// Halvings of the interval that holds the multiplier of a projection: down to what doubles resolve.
const BISECTIONS: usize = 100;

/// The weights of every numerator.
#[derive(Debug, Clone, PartialEq)]
pub struct TrimWeights {
    parts: Vec<Part>,
}

/// The weights of one numerator.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    rows: Range<usize>,
    sign: f64,
    /// The largest weight.
    cap: f64,
    weights: Vec<f64>,
}

impl TrimWeights {
    /// Equal weights, of which a share may be trimmed.
    pub fn new(loss: &Loss, share: f64) -> Self {
        let rows = loss.linear().len();
        let part = |term: &Term| {
            // The other rows of the stack are the numerator.
            let (before, after) = (0..term.rows.start, term.rows.end..rows);
            let rows = if before.is_empty() { after } else { before };
            let equal = 1.0 / rows.len() as f64;
            let weights = vec![equal; rows.len()];
            Part { rows, sign: term.sign, cap: equal / (1.0 - share), weights }
        };
        Self { parts: loss.terms().iter().map(part).collect() }
    }

    /// Put the weights into the linear term of a loss.
    pub fn write(&self, loss: &mut Loss) {
        for part in &self.parts {
            loss.set_linear(part.rows.clone(), part.weights.iter().map(|w| part.sign * w));
        }
    }

    /// The scores of all numerators at theta, one after the other.
    pub fn scores(&self, features: &Features, theta: &Coefficients) -> Vec<f64> {
        let scores = |part: &Part| {
            let plain = features.scores(part.rows.clone(), theta);
            plain.into_iter().map(|score| part.sign * score).collect::<Vec<f64>>()
        };
        self.parts.iter().flat_map(scores).collect()
    }

    /// `sum_i w_i s_i` minus the trimmed mean: how much the objective rises by trimming at these
    /// scores.
    pub fn gap(&self, scores: &[f64]) -> f64 {
        let gap = |part: &Part, scores: &[f64]| {
            let mean: f64 = part.weights.iter().zip(scores).map(|(w, s)| w * s).sum();
            mean - trimmed_mean(scores, part.cap)
        };
        self.each(scores).map(|(part, scores)| gap(part, scores)).sum::<f64>().max(0.0)
    }

    /// A step against the scores, back to where weights may be, and the slope of D along it.
    pub fn step(&self, scores: &[f64], length: f64) -> (Vec<f64>, f64) {
        let part = |(part, scores): (&Part, &[f64])| -> Vec<f64> {
            let aim: Vec<f64> =
                part.weights.iter().zip(scores).map(|(w, s)| w - length * s).collect();
            project(&aim, part.cap).iter().zip(&part.weights).map(|(to, w)| to - w).collect()
        };
        let step: Vec<f64> = self.each(scores).flat_map(part).collect();
        let slope = -step.iter().zip(scores).map(|(d, s)| d * s).sum::<f64>();
        (step, slope)
    }

    /// The weights some share of a step on.
    pub fn moved(&self, step: &[f64], share: f64) -> Self {
        let mut moved = self.clone();
        let mut start = 0;
        for part in &mut moved.parts {
            let step = &step[start..start + part.weights.len()];
            part.weights.iter_mut().zip(step).for_each(|(w, d)| *w += share * d);
            start += part.weights.len();
        }
        moved
    }

    fn each<'a>(&'a self, scores: &'a [f64]) -> impl Iterator<Item = (&'a Part, &'a [f64])> {
        let mut rest = scores;
        self.parts.iter().map(move |part| {
            let (own, others) = rest.split_at(part.weights.len());
            rest = others;
            (part, own)
        })
    }
}

/// The mean over all but the share `robust` of these scores, the largest ones.
pub fn lowest_mean(scores: &[f64], robust: f64) -> f64 {
    let rows = scores.len() as f64;
    if robust > 0.0 {
        trimmed_mean(scores, 1.0 / rows / (1.0 - robust))
    } else {
        scores.iter().sum::<f64>() / rows
    }
}

/// The smallest `sum_i w_i s_i` over weights from 0 to `cap` that sum to one.
fn trimmed_mean(scores: &[f64], cap: f64) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut left, mut mean) = (1.0_f64, 0.0);
    for score in sorted {
        let weight = left.min(cap);
        mean += weight * score;
        left -= weight;
    }
    mean
}

/// The nearest weights from 0 to `cap` that sum to one: `clamp(aim - tau, 0, cap)`.
fn project(aim: &[f64], cap: f64) -> Vec<f64> {
    let at = |tau: f64| aim.iter().map(move |a| (a - tau).clamp(0.0, cap));
    let most = aim.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = aim.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (least - cap, most);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if at(middle).sum::<f64>() > 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let weights: Vec<f64> = at(low).collect();
    // What the bisection leaves is rounding.
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::loss::Direction;

    const SCORES: [f64; 5] = [0.3, -1.0, 4.0, 0.1, 2.0];

    #[test]
    fn the_trimmed_mean_leaves_the_largest_out() {
        // 4 of 5 rows, and 3.5 of them.
        assert!((trimmed_mean(&SCORES, 0.25) - 1.4 / 4.0).abs() < 1e-15);
        assert!((trimmed_mean(&SCORES, 1.0 / 3.5) - (-0.6 + 1.0) / 3.5).abs() < 1e-15);
        let all: f64 = SCORES.iter().sum::<f64>() / 5.0;
        assert!((trimmed_mean(&SCORES, 0.2) - all).abs() < 1e-15);
    }

    #[test]
    fn a_projection_is_the_nearest() {
        let cap = 0.25;
        let near = project(&SCORES, cap);
        assert!((near.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(near.iter().all(|w| (0.0..=cap + 1e-12).contains(w)));
        // No way to other weights goes nearer: (aim - near)'(other - near) <= 0 at every corner.
        for out in 0..5 {
            let other = |i: usize| if i == out { 0.0 } else { cap };
            let inner: f64 = (0..5).map(|i| (SCORES[i] - near[i]) * (other(i) - near[i])).sum();
            assert!(inner <= 1e-9, "{out}: {inner}");
        }
    }

    #[test]
    fn weights_go_into_the_linear_term() {
        let mut loss = Loss::density_ratio(Direction::Symmetric, 2, 5);
        let before = loss.linear().to_vec();
        let trim = TrimWeights::new(&loss, 0.2);
        trim.write(&mut loss);
        assert_eq!(before, loss.linear());
        // Both numerators: y, against which theta enters with a minus, before x.
        let scores: Vec<f64> = SCORES.iter().copied().chain([1.0, 1.0]).collect();
        // Long enough to get to the corner, and no longer: rounding grows with it.
        let (step, slope) = trim.step(&scores, 1e2);
        let trimmed = trim.moved(&step, 1.0);
        assert!((slope - trim.gap(&scores)).abs() < 1e-9 && trimmed.gap(&scores) < 1e-9);
        trimmed.write(&mut loss);
        let expected = [0.5, 0.5, -0.25, -0.25, 0.0, -0.25, -0.25];
        for (got, expected) in loss.linear().iter().zip(expected) {
            assert!((got - expected).abs() < 1e-9);
        }
    }
}
