//! How a solver sees the factors: computed from the samples when needed, by products of matrices, or
//! stored; and which factors it does not need to see.

pub mod covariance;

pub mod subproblem;

pub mod streamed;

pub mod by_products;

pub mod working_set;

pub mod scan;

pub mod drift;

pub mod screen;

use crate::objective::certificate::Certificate;
use crate::objective::loss::Term;
use crate::objective::penalty::Lambda;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use covariance::covariance;
use std::ops::Range;

/// Some factors with their features on the scored rows: what a solver works on.
pub trait Design: Send + Sync {
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

    /// Count a factor in a certificate: its penalty, and its shares at `xi`.
    fn count(
        &self,
        group: usize,
        lambda: Lambda,
        (theta, xi): (&[f64], &[f64]),
        certificate: &mut Certificate,
    ) {
        let (span, penalty) = (self.span(group), lambda.penalty(self.weight(group)));
        let theta = &theta[span.clone()];
        certificate.objective += penalty.value(theta);
        certificate.count(&penalty, theta, &xi[span]);
    }

    /// Count all of them.
    fn count_all(&self, lambda: Lambda, at: (&[f64], &[f64]), certificate: &mut Certificate) {
        (0..self.groups()).for_each(|group| self.count(group, lambda, at, certificate));
    }

    /// `xi = g - H alpha`.
    fn xi(&self, alpha: &[f64]) -> Vec<f64> {
        self.linear().iter().zip(self.moments(alpha)).map(|(g, h)| g - h).collect()
    }
}

/// A design that gives out single rows of H and goes from alpha to theta and its scores in one go:
/// what Newton needs.
pub trait RowDesign: Design {
    /// The length of a row: how many scores there are.
    fn width(&self) -> usize;
    /// The rows of a factor's features, by numbers that last as long as `generation` stays.
    fn row_ids(&self, group: usize) -> Range<usize>;
    /// All row numbers are below this.
    fn row_count(&self) -> usize;
    /// Which rows have a coefficient that is not zero.
    fn support(&self, theta: &[f64]) -> Vec<bool> {
        let mut inside = vec![false; self.row_count()];
        for group in 0..self.groups() {
            for (row, t) in self.row_ids(group).zip(&theta[self.span(group)]) {
                inside[row] = *t != 0.0;
            }
        }
        inside
    }
    /// Whether no factor has more than one feature.
    fn single(&self) -> bool;
    /// Multiplications that one pass over all features takes.
    fn pass_cost(&self) -> usize {
        self.linear().len() * self.width()
    }
    /// Changes when rows lose their numbers.
    fn generation(&self) -> usize;
    /// Copy a span of one row: a feature on the scored rows, with the terms' signs.
    fn copy_row(&self, id: usize, span: Range<usize>, out: &mut [f64]);
    /// `xi`, theta and its scores at `alpha`, for the linear term `linear`.
    fn dual_point(&self, lambda: Lambda, linear: &[f64], alpha: &[f64]) -> DualPoint;
    /// The second derivative of a loss with these terms over some factors, at its weights; what stands
    /// above the diagonal is left undefined.
    fn curvature(&self, groups: &[usize], terms: &[Term], alpha: &[f64]) -> Vec<f64> {
        covariance(self, groups, terms, alpha)
    }
    /// Some factors, and those whose curvature comes along with theirs; in order.
    fn curvature_groups(&self, groups: &[usize]) -> Vec<usize> {
        groups.to_vec()
    }
}

/// A design whose penalty factors and linear term may change between two fits.
pub trait UpdateDesign: RowDesign {
    /// Replace the penalty factors.
    fn set_penalty_factor(&mut self, penalty_factor: &PenaltyFactors);
    /// Replace the linear term by that of a problem with the same features and log-sum-exps.
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
