//! What shows that a theta is a solution: its duality gap, or how far it is from stationarity; and how
//! a solver ended.

use crate::objective::penalty::Penalty;

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
