//! What shows that a theta is a solution: its duality gap, or how far it is from stationarity; and how
//! a solver ended.

use crate::numerics::simd::dispatch;
use crate::objective::penalty::{level, Lambda, Penalty};
use pulp::{Simd, WithSimd};

/// Objectives closer to zero than this are measured on an absolute scale: J is zero at lambda_max.
const OBJECTIVE_FLOOR: f64 = 1e-3;

/// The objective at a theta, and two bounds on how far theta is from a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// `J(theta)`.
    pub objective: f64,
    /// `J(theta)` minus the dual objective at `alpha(theta)`; infinite for lambda1 = 0, where the dual
    /// has constraints that `alpha(theta)` does not meet.
    pub gap: f64,
    /// The worst violation of the optimality (KKT) conditions.
    pub kkt: f64,
}

impl Certificate {
    /// An objective with no factor counted yet.
    pub fn new(objective: f64, lambda1: f64) -> Self {
        let gap = if lambda1 > 0.0 { 0.0 } else { f64::INFINITY };
        Self { objective, gap, kkt: 0.0 }
    }

    /// Add the share of one factor in the gap and the optimality conditions.
    #[inline(always)]
    pub fn count(&mut self, penalty: &Penalty, theta: &[f64], xi: &[f64]) {
        self.kkt = self.kkt.max(penalty.kkt(theta, xi));
        if penalty.lambda1 > 0.0 {
            self.gap += penalty.gap(theta, xi);
        }
    }

    /// Count factors with one feature each: their penalties, and their shares.
    pub fn count_ones(&mut self, lambda: Lambda, weights: &[f64], theta: &[f64], xi: &[f64]) {
        let [value, gap, kkt] = dispatch(CountOnes { lambda, weights, theta, xi });
        self.objective += value;
        self.kkt = self.kkt.max(kkt);
        if lambda.lambda1 > 0.0 {
            self.gap += gap;
        }
    }

    /// The same for a factor at zero of which only `|xi_t|`, above its level, is known.
    pub fn count_zero(&mut self, penalty: &Penalty, xi_norm: f64) {
        self.kkt = self.kkt.max(xi_norm - penalty.level);
        if penalty.lambda1 > 0.0 {
            self.gap += penalty.conjugate(xi_norm);
        }
    }

    /// What has to become small: the gap, or where there is none the violation.
    pub fn distance(&self) -> f64 {
        if self.gap.is_finite() {
            self.gap
        } else {
            self.kkt
        }
    }
}

struct CountOnes<'a> {
    lambda: Lambda,
    weights: &'a [f64],
    theta: &'a [f64],
    xi: &'a [f64],
}

/// Factors that are counted side by side.
const LANES: usize = 8;

impl WithSimd for CountOnes<'_> {
    type Output = [f64; 3];

    /// The formulas of `Penalty` without branches, so that registers hold several factors.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 3] {
        let Lambda { lambda1, lambda2 } = self.lambda;
        let (mut value, mut gap, mut kkt) = ([0.0; LANES], [0.0; LANES], [0.0_f64; LANES]);
        let parts = self.theta.chunks(LANES).zip(self.xi.chunks(LANES));
        for ((theta, xi), weights) in parts.zip(self.weights.chunks(LANES)) {
            let (mut t, mut x, mut levels) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            t[..theta.len()].copy_from_slice(theta);
            x[..xi.len()].copy_from_slice(xi);
            for (target, weight) in levels.iter_mut().zip(weights) {
                *target = level(lambda2, *weight);
            }
            for k in 0..LANES {
                let (size, reach, is_zero) = (t[k].abs(), x[k].abs(), t[k] == 0.0);
                let excess = (reach - levels[k]).max(0.0);
                let off = lambda1 * size - excess;
                // An infinite level costs nothing at zero.
                let finite = if is_zero { 0.0 } else { levels[k] };
                value[k] += (0.5 * lambda1 * size + finite) * size;
                let slack = size * (finite - reach + excess) + (size * reach - t[k] * x[k]);
                gap[k] += (off * off / (2.0 * lambda1) + slack).max(0.0);
                let slope = (x[k] - lambda1 * t[k] - finite.copysign(t[k])).abs();
                kkt[k] = kkt[k].max(if is_zero { excess } else { slope });
            }
        }
        [value.iter().sum(), gap.iter().sum(), kkt.iter().copied().fold(0.0, f64::max)]
    }
}

/// When a solution is good enough.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    /// Relative to the objective (lambda1 > 0) or to `scale` (lambda1 = 0).
    pub tol: f64,
    /// `max_t |xi_t| / w_t` at the start of the path: the unit of violations.
    pub scale: f64,
}

impl Tolerance {
    /// The largest duality gap that is accepted at this objective.
    pub fn gap(&self, objective: f64) -> f64 {
        self.tol * objective.abs().max(OBJECTIVE_FLOOR)
    }

    /// The largest violation that is accepted where there is no gap.
    pub fn kkt(&self) -> f64 {
        self.tol * self.scale
    }

    /// The largest distance that is accepted: of the gap, or where there is none of the violation.
    pub fn distance(&self, certificate: &Certificate) -> f64 {
        if certificate.gap.is_finite() {
            self.gap(certificate.objective)
        } else {
            self.kkt()
        }
    }

    /// Whether a certificate is good enough.
    pub fn accepts(&self, certificate: &Certificate) -> bool {
        certificate.distance() <= self.distance(certificate)
    }
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Within the tolerance, over all factors.
    Converged,
    /// Out of iterations, or of what doubles can resolve.
    MaxIter,
    /// The objective has no lower bound; there is a certificate.
    Unbounded,
    /// lambda1 = 0 and lambda2 so close to the smallest solvable one that nothing can be said.
    NearThreshold,
    /// A convex fit that converged, but whose penalty factors still change with theta.
    Unsettled,
}

/// Within this share of the smallest solvable lambda2 no method is reliable.
const THRESHOLD_MARGIN: f64 = 1e-4;

impl Status {
    /// Converged or not.
    pub fn within(tolerance: bool) -> Self {
        if tolerance {
            Self::Converged
        } else {
            Self::MaxIter
        }
    }

    /// What a lower bound on the smallest solvable lambda2 says of a fit at `lambda2`; `last` when the
    /// solver has nothing more to try.
    pub fn beside_threshold(lambda2: f64, bound: f64, last: bool) -> Option<Self> {
        // More than rounding beyond: the certificate is a strict inequality.
        if lambda2 < bound * (1.0 - 1e-9) {
            Some(Self::Unbounded)
        } else if last && lambda2 <= bound * (1.0 + THRESHOLD_MARGIN) {
            Some(Self::NearThreshold)
        } else {
            None
        }
    }

    /// The status of several problems that are reported as one.
    pub fn worst(statuses: impl Iterator<Item = Self> + Clone) -> Self {
        let order = [Self::Unbounded, Self::NearThreshold, Self::MaxIter];
        let found = order.into_iter().find(|status| statuses.clone().any(|other| other == *status));
        found.unwrap_or(Self::Converged)
    }

    /// Whether there are coefficients that can be relied on, if not to the last digit.
    pub fn is_reliable(self) -> bool {
        !matches!(self, Self::Unbounded | Self::NearThreshold)
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::MaxIter => "max_iter",
            Self::Unbounded => "unbounded",
            Self::NearThreshold => "near_threshold",
            Self::Unsettled => "unsettled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Factors of every kind: at zero or not, free, excluded, within their level or beyond; and more
    /// than are counted side by side.
    #[test]
    fn ones_count_as_one_by_one() {
        let weights = [1.0, 0.0, f64::INFINITY, 0.5, 2.0, 1.0, 1.0, 3.0, 0.7, 1.0, 0.2];
        let theta = [0.0, 0.4, 0.0, -1.2, 0.0, -0.3, 0.8, 0.0, 0.0, 2.0, 0.0];
        let xi = [0.2, -0.1, 5.0, -0.9, 1.9, 0.6, 0.5, -0.1, 0.0, 1.3, -3.0];
        for lambda1 in [0.3, 0.0] {
            let lambda = Lambda { lambda1, lambda2: 0.7 };
            let mut ones = Certificate::new(1.5, lambda1);
            ones.count_ones(lambda, &weights, &theta, &xi);
            let mut each = Certificate::new(1.5, lambda1);
            for ((weight, theta), xi) in weights.iter().zip(&theta).zip(&xi) {
                let penalty = lambda.penalty(*weight);
                each.objective += penalty.value(&[*theta]);
                each.count(&penalty, &[*theta], &[*xi]);
            }
            assert!((ones.objective - each.objective).abs() < 1e-14 * each.objective);
            assert!((ones.kkt - each.kkt).abs() < 1e-15 && ones.kkt > 0.0);
            assert!(ones.gap == each.gap || (ones.gap - each.gap).abs() < 1e-14 * each.gap);
        }
    }
}
