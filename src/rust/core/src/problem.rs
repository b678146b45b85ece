//! The problem of one fit, and the certificate of a solution.

use crate::error::{Error, Result};
use crate::factors::PenaltyFactors;
use crate::features::Features;
use crate::kernel::{add_gram, Panels};
use crate::loss::{Loss, Weights};
use crate::penalty::{level, norm, Penalty};
use pulp::Simd;
use std::ops::Range;
use std::sync::Arc;

/// Objectives closer to zero than this are judged on an absolute scale: J is zero at lambda_max.
const OBJECTIVE_FLOOR: f64 = 1e-3;
/// Scores whose features are gathered at a time for a covariance.
const BLOCK: usize = 512;

/// What is minimised over theta, but for lambda1 and lambda2. A clone shares the features.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The features of every factor.
    pub features: Features,
    /// The loss over the rows of the stack.
    pub loss: Loss,
    /// `w_t`.
    pub penalty: Arc<PenaltyFactors>,
}

impl Problem {
    /// Put the parts together.
    pub fn new(features: impl Into<Features>, loss: Loss, penalty: PenaltyFactors) -> Result<Self> {
        let features = features.into();
        penalty.validate(features.factors())?;
        if let (Features::Table(_), PenaltyFactors::ByKind { .. }) = (&features, &penalty) {
            return Err(Error::Argument(
                "penalty factors: a table needs one for each factor".into(),
            ));
        }
        Ok(Self { features, loss, penalty: Arc::new(penalty) })
    }

    /// `sum_i alpha_i h_i` of feature k of a factor, h with the terms' signs.
    #[inline(always)]
    pub fn moment<S: Simd>(&self, simd: S, at: (usize, usize, usize), alpha: &[f64]) -> f64 {
        let mut total = 0.0;
        for term in self.loss.terms() {
            let part = &alpha[term.span.clone()];
            total += term.sign * self.features.moment(simd, at, term.rows.clone(), part);
        }
        total
    }

    /// Add `scale h_i` of feature k of the factor (u, v) to the scores, h with the terms' signs.
    #[inline(always)]
    pub fn add_feature<S: Simd>(
        &self,
        simd: S,
        at: (usize, usize, usize),
        scale: f64,
        scores: &mut [f64],
    ) {
        for term in self.loss.terms() {
            let out = &mut scores[term.span.clone()];
            self.features.add_feature(simd, at, term.rows.clone(), scale * term.sign, out);
        }
    }

    /// `g_k`: the linear term's moment of feature k of a factor.
    #[inline(always)]
    pub fn linear_moment<S: Simd>(&self, simd: S, at: (usize, usize, usize)) -> f64 {
        self.features.moment(simd, at, 0..self.features.rows(), self.loss.linear())
    }
}

/// The two penalties of one fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lambda {
    /// Ridge.
    pub ridge: f64,
    /// Group penalty.
    pub group: f64,
}

impl Lambda {
    /// The penalty of a factor with penalty factor `weight`.
    pub fn penalty(&self, weight: f64) -> Penalty {
        Penalty { lambda1: self.ridge, level: level(self.group, weight) }
    }
}

/// Some factors with their features on the scored rows: what an inner solver works on.
pub trait Design: Sync {
    /// How many factors.
    fn groups(&self) -> usize;
    /// Where the coefficients of a factor stand.
    fn span(&self, group: usize) -> Range<usize>;
    /// `w_t` of a factor.
    fn weight(&self, group: usize) -> f64;
    /// `g`: the linear term's moment of every feature.
    fn linear(&self) -> &[f64];
    /// `H'theta`: the scores of the rows.
    fn scores(&self, theta: &[f64]) -> Vec<f64>;
    /// `H alpha`: the moment of every feature under `alpha`.
    fn moments(&self, alpha: &[f64]) -> Vec<f64>;

    /// `xi = g - H alpha`.
    fn xi(&self, alpha: &[f64]) -> Vec<f64> {
        self.linear().iter().zip(self.moments(alpha)).map(|(g, h)| g - h).collect()
    }
}

/// A design behind a pointer as a plain one; rustc takes one for the other by itself from 1.86 on.
pub trait AsDesign {
    /// This very design.
    fn as_design(&self) -> &dyn Design;
}

impl<D: Design> AsDesign for D {
    fn as_design(&self) -> &dyn Design {
        self
    }
}

/// A design that gives out single rows of H and goes from alpha to theta and its scores in one go:
/// what Newton needs.
pub trait RowDesign: Design + AsDesign {
    /// The length of a row: how many scores there are.
    fn width(&self) -> usize;
    /// The rows of a factor's features, by numbers that last as long as `generation` stays.
    fn row_ids(&self, group: usize) -> Range<usize>;
    /// All row numbers are below this.
    fn row_count(&self) -> usize;
    /// Whether no factor has more than one feature.
    fn single(&self) -> bool;
    /// Multiplications that one look at all features takes.
    fn look(&self) -> usize {
        self.linear().len() * self.width()
    }
    /// Changes when rows lose their numbers.
    fn generation(&self) -> usize;
    /// Copy a span of one row: a feature on the scored rows, with the terms' signs.
    fn copy_row(&self, id: usize, span: Range<usize>, out: &mut [f64]);
    /// `xi`, theta and its scores at `alpha`, for the linear term `linear`.
    fn dual_point(&self, lambda: Lambda, linear: &[f64], alpha: &[f64]) -> DualPoint;
    /// The second derivative of a loss of one term over some factors, at its weights; what stands above
    /// the diagonal is left undefined.
    fn curvature(&self, groups: &[usize], alpha: &[f64]) -> Vec<f64> {
        covariance(self, groups, alpha)
    }
    /// Some factors, and those whose curvature comes along with theirs; in order.
    fn curvature_groups(&self, groups: &[usize]) -> Vec<usize> {
        groups.to_vec()
    }
}

/// The covariance matrix of some factors' features under weights of the scores that sum to one; what
/// stands above the diagonal is left undefined.
pub fn covariance<D: RowDesign + ?Sized>(design: &D, groups: &[usize], alpha: &[f64]) -> Vec<f64> {
    let rows: Vec<usize> = groups.iter().flat_map(|group| design.row_ids(*group)).collect();
    let count = rows.len();
    let mut matrix = vec![0.0; count * count];
    let mut means = vec![0.0; count];
    let mut values = vec![0.0; count * BLOCK];
    for start in (0..alpha.len()).step_by(BLOCK) {
        let span = start..alpha.len().min(start + BLOCK);
        let width = span.len();
        for (row, out) in rows.iter().zip(values.chunks_exact_mut(width)) {
            design.copy_row(*row, span.clone(), out);
        }
        let weights = &alpha[span];
        for (mean, row) in means.iter_mut().zip(values.chunks_exact(width)) {
            *mean += row.iter().zip(weights).map(|(h, a)| h * a).sum::<f64>();
        }
        let variable = |u: usize| &values[u * width..][..width];
        let left = Panels::pack(count, width, variable, Some(weights));
        let right = Panels::pack(count, width, variable, None);
        add_gram(count, &left, &right, &mut matrix);
    }
    for (u, row) in matrix.chunks_exact_mut(count.max(1)).enumerate() {
        let mean = means[u];
        row.iter_mut().zip(&means).for_each(|(value, other)| *value -= mean * other);
    }
    matrix
}

/// A design of a problem whose penalty factors and linear term may change.
pub trait Adjustable: RowDesign {
    /// Other penalty factors.
    fn set_penalty(&mut self, penalty: &PenaltyFactors);
    /// Another linear term: that of a problem with the same features and log-sum-exps.
    fn set_linear(&mut self, problem: &Problem);
}

/// Everything at one dual point alpha: `xi`, the theta that maximises, and its scores.
#[derive(Debug, Clone)]
pub struct DualPoint {
    /// `g - H alpha`.
    pub xi: Vec<f64>,
    /// `theta_t = (1 - lambda2 w_t / |xi_t|)_+ xi_t / lambda1`.
    pub theta: Vec<f64>,
    /// `H'theta`.
    pub fitted: Vec<f64>,
    /// `sum_t max(0, |xi_t| - lambda2 w_t)^2 / (2 lambda1)`.
    pub conjugate: f64,
}

/// A theta on a design with everything that follows from it.
#[derive(Debug, Clone)]
pub struct Point {
    /// The coefficients.
    pub theta: Vec<f64>,
    /// `H'theta`.
    pub scores: Vec<f64>,
    /// `alpha(theta)`.
    pub weights: Weights,
    /// `xi(alpha(theta))`.
    pub xi: Vec<f64>,
    /// `J(theta)`.
    pub objective: f64,
    /// `J(theta)` minus the dual objective at `alpha(theta)`; infinite for lambda1 = 0.
    pub gap: f64,
    /// The worst violation of the optimality conditions.
    pub residual: f64,
}

impl Point {
    /// Judge a theta over all factors of a design.
    pub fn new(design: &dyn Design, loss: &Loss, lambda: Lambda, theta: Vec<f64>) -> Self {
        let scores = design.scores(&theta);
        Self::with_scores(design, loss, lambda, theta, scores)
    }

    /// The same where `H'theta` is known.
    pub fn with_scores(
        design: &dyn Design,
        loss: &Loss,
        lambda: Lambda,
        theta: Vec<f64>,
        scores: Vec<f64>,
    ) -> Self {
        let weights = loss.weights(&scores);
        let moments = design.moments(&weights.alpha);
        Self::with_moments(design, lambda, theta, scores, weights, &moments)
    }

    /// The same where the weights of the scores and the moments under them are known, too.
    pub fn with_moments(
        design: &dyn Design,
        lambda: Lambda,
        theta: Vec<f64>,
        scores: Vec<f64>,
        weights: Weights,
        moments: &[f64],
    ) -> Self {
        let xi: Vec<f64> = design.linear().iter().zip(moments).map(|(g, h)| g - h).collect();
        let linear: f64 = design.linear().iter().zip(&theta).map(|(g, t)| g * t).sum();
        let (mut value, mut gap, mut residual) = (weights.log_sums() - linear, 0.0, 0.0_f64);
        for group in 0..design.groups() {
            let penalty = lambda.penalty(design.weight(group));
            let (theta, xi) = (&theta[design.span(group)], &xi[design.span(group)]);
            value += penalty.value(theta);
            residual = residual.max(penalty.residual(theta, xi));
            if lambda.ridge > 0.0 {
                gap += penalty.gap(theta, xi);
            }
        }
        if lambda.ridge == 0.0 {
            gap = f64::INFINITY;
        }
        Self { theta, scores, weights, xi, objective: value, gap, residual }
    }
}

/// When a solution is good enough.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    /// Relative to the objective (lambda1 > 0) or to `scale` (lambda1 = 0).
    pub relative: f64,
    /// `max_t |xi_t| / w_t` at the start of the path: the unit of residuals.
    pub scale: f64,
}

impl Tolerance {
    /// The largest duality gap that will do at this objective.
    pub fn gap(&self, objective: f64) -> f64 {
        self.relative * objective.abs().max(OBJECTIVE_FLOOR)
    }

    /// The largest residual that will do where there is no gap to judge by.
    pub fn residual(&self) -> f64 {
        self.relative * self.scale
    }

    /// Whether a point is good enough on its design.
    pub fn accepts(&self, point: &Point) -> bool {
        self.accepts_figures(point.objective, point.gap, point.residual)
    }

    /// The same by the figures alone.
    pub fn accepts_figures(&self, objective: f64, gap: f64, residual: f64) -> bool {
        if gap.is_finite() {
            gap <= self.gap(objective)
        } else {
            residual <= self.residual()
        }
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

/// A lower bound on the smallest solvable lambda2 at lambda1 = 0, from a direction theta.
///
/// Along theta the objective grows by `sum_k max_i s_ki - g'theta + lambda2 sum_t w_t |theta_t|` a unit
/// in the end, s = H'theta: it has no lower bound below the lambda2 that makes this negative. The
/// direction may live on any design: factors left out count as zeros.
pub fn threshold_bound(design: &dyn Design, loss: &Loss, theta: &[f64], scores: &[f64]) -> f64 {
    let top = |span: &Range<usize>| scores[span.clone()].iter().copied().fold(f64::MIN, f64::max);
    let tops: f64 = loss.terms().iter().map(|term| top(&term.span)).sum();
    let linear: f64 = design.linear().iter().zip(theta).map(|(g, t)| g * t).sum();
    let size = |group| {
        let size = norm(&theta[design.span(group)]);
        if size == 0.0 {
            0.0
        } else {
            design.weight(group) * size
        }
    };
    let total: f64 = (0..design.groups()).map(size).sum();
    let escape = linear - tops;
    if total > 0.0 {
        escape / total
    } else if escape > 0.0 {
        f64::INFINITY
    } else {
        f64::NEG_INFINITY
    }
}
