//! Penalty factors that depend on theta: shapes of the penalty that shrink large factors less, each
//! reached by one or more convex fits.

use crate::features::factors::FactorMap;
use crate::features::Coefficients;
use crate::objective::penalty::norm;
use crate::objective::penalty_factor::PenaltyFactors;
use std::sync::Arc;

/// A factor counts as at least this share of the largest when its adaptive penalty is set: one that
/// the first fit left at zero has a large penalty, but is not kept out for good.
const FLOOR: f64 = 0.01;

/// How the penalty grows with the size of a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PenaltyShape {
    /// `lambda2 w_t |theta_t|`.
    GroupLasso,
    /// The same with `w_t` divided by the size of the factor in a first fit, to the power `gamma`.
    Adaptive {
        /// The power.
        gamma: f64,
        /// The lambda2 of the first fit as a share of its lambda_max.
        first_share: f64,
    },
    /// The minimax concave penalty, whose slope `lambda2 w_t` at zero falls to nothing at
    /// `|theta_t| = gamma lambda2 w_t`.
    Mcp {
        /// Where the slope ends, in units of where it starts.
        gamma: f64,
    },
}

/// `w_t` times `max(|theta_t| / max_s |theta_s|, FLOOR)^-gamma`, over penalised factors.
pub fn adaptive(base: &Arc<PenaltyFactors>, theta: &Coefficients, gamma: f64) -> PenaltyFactors {
    let sizes: Vec<(usize, f64, f64)> = penalised(base, theta).collect();
    let largest = sizes.iter().map(|(_, _, size)| *size).fold(0.0, f64::max);
    if largest == 0.0 {
        return base.as_ref().clone();
    }
    let times = |share: f64| share.max(FLOOR).powf(-gamma);
    let own = sizes.iter().map(|(factor, weight, size)| (*factor, weight * times(size / largest)));
    PenaltyFactors::Except { base: base.clone(), times: times(0.0), own: own.collect() }
}

/// The slope of the minimax concave penalty at theta in units of lambda2:
/// `max(0, w_t - |theta_t| / (gamma lambda2))`.
pub fn mcp(
    base: &Arc<PenaltyFactors>,
    theta: &Coefficients,
    gamma: f64,
    lambda2: f64,
) -> PenaltyFactors {
    let reach = gamma * lambda2;
    // Without a penalty there is no slope to change.
    let slope = |weight: f64, size: f64| {
        if reach > 0.0 {
            (weight - size / reach).max(0.0)
        } else {
            weight
        }
    };
    let own = penalised(base, theta).map(|(factor, weight, size)| (factor, slope(weight, size)));
    PenaltyFactors::Except { base: base.clone(), times: 1.0, own: own.collect::<FactorMap<f64>>() }
}

/// The largest difference between two sets of factors with the same base.
pub fn distance(one: &PenaltyFactors, other: &PenaltyFactors) -> f64 {
    let mut factors = one.exceptions();
    factors.extend(other.exceptions());
    let apart = factors.iter().map(|factor| (one.at(*factor) - other.at(*factor)).abs());
    apart.fold(0.0, f64::max)
}

/// `sum_t (w_t - v_t) |theta_t|`: how much more the factors `one` penalise theta than `other` do.
pub fn excess(one: &PenaltyFactors, other: &PenaltyFactors, theta: &Coefficients) -> f64 {
    let more = |(factor, theta): (usize, &[f64])| (one.at(factor) - other.at(factor)) * norm(theta);
    theta.iter().map(more).sum()
}

/// Each non-zero factor that has a penalty, with its penalty factor and its size.
fn penalised<'a>(
    base: &'a PenaltyFactors,
    theta: &'a Coefficients,
) -> impl Iterator<Item = (usize, f64, f64)> + 'a {
    let all = theta.iter().map(|(factor, theta)| (factor, base.at(factor), norm(theta)));
    all.filter(|(_, weight, _)| *weight > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theta(values: &[f64]) -> Coefficients {
        let mut theta = Coefficients::default();
        values.iter().enumerate().for_each(|(factor, value)| theta.push(factor, &[*value]));
        theta
    }

    fn each(values: &[f64]) -> Arc<PenaltyFactors> {
        Arc::new(PenaltyFactors::Each(values.to_vec()))
    }

    #[test]
    fn equal_sizes_change_no_penalty() {
        let base = each(&[1.0, 2.0, 0.5]);
        let penalty = adaptive(&base, &theta(&[0.3, -0.3, 0.3]), 1.5);
        (0..3).for_each(|factor| assert_eq!(penalty.at(factor), base.at(factor)));
        assert_eq!(adaptive(&base, &theta(&[]), 1.0), *base);
    }

    #[test]
    fn adaptive_penalties_depend_on_shares_only() {
        let base = each(&[1.0, 1.0, 0.0, 2.0, f64::INFINITY, 0.0]);
        for scale in [1e-3, 1.0, 1e4] {
            let sizes: Vec<f64> = [0.4, -0.1, 9.0].iter().map(|size| scale * size).collect();
            let penalty = adaptive(&base, &theta(&sizes), 2.0);
            let expected = [1.0, 16.0, 0.0, 2e4, f64::INFINITY, 0.0];
            for (factor, weight) in expected.iter().enumerate() {
                let got = penalty.at(factor);
                assert!(got == *weight || (got / weight - 1.0).abs() < 1e-12, "{factor}: {got}");
            }
        }
    }

    #[test]
    fn mcp_is_the_slope_of_the_penalty() {
        let base = each(&[1.0, 1.0, 0.0, 1.5, 1.0]);
        let (gamma, lambda2) = (3.0, 0.2);
        let penalty = mcp(&base, &theta(&[0.3, 0.7, 5.0, -0.45]), gamma, lambda2);
        // lambda w t - t^2 / (2 gamma) up to t = gamma lambda w.
        let value = |t: f64, weight: f64| {
            let t = t.min(gamma * lambda2 * weight);
            lambda2 * weight * t - t * t / (2.0 * gamma)
        };
        for (factor, size) in [(0, 0.3_f64), (1, 0.7), (3, 0.45)] {
            let weight = base.at(factor);
            let slope = (value(size + 1e-6, weight) - value(size - 1e-6, weight)) / 2e-6;
            assert!((lambda2 * penalty.at(factor) - slope).abs() < 1e-8);
        }
        assert_eq!((penalty.at(1), penalty.at(2), penalty.at(4)), (0.0, 0.0, 1.0));
        assert!((distance(&penalty, &base) - 1.0).abs() < 1e-12);
        assert_eq!(mcp(&base, &theta(&[1.0]), gamma, 0.0).at(0), 1.0);
        // Factor 0 by half, factor 1 whole, factor 3 by half.
        let less = 0.5 * 2.0 + 1.0 * 3.0 + 0.75 * 4.0;
        let sizes = theta(&[2.0, 3.0, 9.0, -4.0, 1.0]);
        assert!((excess(&base, &penalty, &sizes) - less).abs() < 1e-12);
    }
}
