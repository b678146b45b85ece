//! Variances of many tests that borrow from each other.
//!
//! The variance of one edge has few degrees of freedom, and its tail beyond four standard errors is
//! what thousands of edges are judged by. Its ratio to what a Gaussian would have is shrunken towards
//! what all edges have in common (Smyth, 2004; medians in place of means), and the quotient is
//! referred to Student's distribution.

use super::special::{digamma, inverse_trigamma, trigamma};
use super::student::Normaliser;

/// Above this a number of degrees of freedom is as good as infinite.
const MOST_FREEDOM: f64 = 1e6;
/// Less spread between variances than this is none.
const LEAST_SPREAD: f64 = 1e-4;
/// The median absolute deviation in units of a normal's standard deviation.
const DEVIATION: f64 = 1.4826;

/// The tests of all edges before variances are moderated.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    /// What would be zero without a change.
    pub numerator: Vec<f64>,
    /// Its variance as estimated edge by edge.
    pub variance: Vec<f64>,
    /// Its variance for a Gaussian, up to a factor that all edges have in common.
    pub model: Vec<f64>,
    /// The degrees of freedom of `variance`.
    pub freedom: Vec<f64>,
}

/// The same after.
#[derive(Debug, Clone)]
pub struct Moderated {
    /// Referred to the standard normal.
    pub z: Vec<f64>,
    /// The moderated variances.
    pub variance: Vec<f64>,
    /// The typical degrees of freedom of a variance by itself.
    pub freedom: f64,
    /// Those that it gains.
    pub prior: f64,
    /// The ratio of variances to `model` that edges have in common.
    pub common: f64,
}

/// `2 v^2 / var(v)`, where `fourth` is the sum of the fourth powers of the influences.
pub fn freedom(variance: f64, fourth: f64, rows: usize) -> f64 {
    let square = 2.0 * variance * variance;
    square / (fourth - square / rows as f64).max(1e-300)
}

/// Moderate the variances and refer the tests to the normal.
pub fn moderate(tests: &Statistics) -> Moderated {
    let mut scratch: Vec<f64> =
        tests.freedom.iter().copied().filter(|value| !value.is_nan()).collect();
    let freedom = median(&mut scratch).unwrap_or(MOST_FREEDOM);
    let ratio = || tests.variance.iter().zip(&tests.model).map(|(v, h)| v / h);
    scratch.clear();
    scratch.extend(ratio().filter(|value| *value > 0.0 && value.is_finite()).map(f64::ln));
    let center = median(&mut scratch).unwrap_or(0.0);
    scratch.iter_mut().for_each(|value| *value = (*value - center).abs());
    let spread = DEVIATION * median(&mut scratch).unwrap_or(0.0);
    // The logarithm of a chi-square over its degrees of freedom has a mean and a variance of its own.
    let bias = |freedom: f64| digamma(0.5 * freedom) - (0.5 * freedom).ln();
    let extra = spread * spread - trigamma(0.5 * freedom);
    let prior = if extra > LEAST_SPREAD { 2.0 * inverse_trigamma(extra) } else { MOST_FREEDOM };
    let common = (center - bias(freedom) + bias(prior)).exp();
    let table = Normaliser::new((freedom + prior).min(MOST_FREEDOM));
    let shrink = |(ratio, model): (f64, &f64)| {
        (prior * common + freedom * ratio) / (prior + freedom) * model
    };
    let variance: Vec<f64> = ratio().zip(&tests.model).map(shrink).collect();
    let z = tests.numerator.iter().zip(&variance).map(|(numerator, variance)| {
        let z = table.z(numerator / variance.sqrt());
        if z.is_finite() {
            z
        } else {
            0.0
        }
    });
    Moderated { z: z.collect(), variance, freedom, prior, common }
}

/// The middle value, or the mean of the two; their order changes.
pub fn median(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * (lower + upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn equal_ratios_are_left_alone() {
        let tests = Statistics {
            numerator: vec![1.0, -2.0, 0.5],
            variance: vec![0.5, 1.0, 2.0],
            model: vec![0.25, 0.5, 1.0],
            freedom: vec![100.0; 3],
        };
        let got = moderate(&tests);
        assert!(got.prior == MOST_FREEDOM && got.freedom == 100.0);
        // A chi-square has its median below its mean, for which `common` makes up.
        let high = (-(digamma(50.0) - 50f64.ln())).exp();
        assert!((got.common - 2.0 * high).abs() < 1e-5);
        assert!(got.z[0] > 0.0 && got.z[1] < 0.0);
    }

    #[test]
    fn an_edge_without_variance_has_no_say() {
        let tests = Statistics {
            numerator: vec![0.0, 1.0],
            variance: vec![0.0, 1.0],
            model: vec![0.0, 1.0],
            freedom: vec![f64::NAN, 50.0],
        };
        assert_eq!(moderate(&tests).z[0], 0.0);
    }
}
