//! One fit on one design: what every solver is given, and what it gives back.

use crate::design::Design;
use crate::objective::blocks::BlockPenalties;
use crate::objective::certificate::Certificate;
use crate::objective::loss::{Loss, Weights};
use crate::objective::penalty::{norm, Lambda};
use std::ops::Range;

/// `minimise loss(theta) + sum_t penalty_t(theta_t)` over the factors of a design.
pub struct Subproblem<'a, D: ?Sized> {
    /// The factors.
    pub design: &'a D,
    /// The loss over the scores of their rows.
    pub loss: &'a Loss,
    /// Both penalties.
    pub lambda: Lambda,
    /// Factors that are penalised together; only proximal gradient knows of any.
    pub blocks: Option<&'a BlockPenalties>,
}

impl<D: ?Sized> Clone for Subproblem<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: ?Sized> Copy for Subproblem<'_, D> {}

impl<'a, D: Design + ?Sized> Subproblem<'a, D> {
    /// Put the parts together.
    pub fn new(design: &'a D, loss: &'a Loss, lambda: Lambda) -> Self {
        Self { design, loss, lambda, blocks: None }
    }

    /// The same with blocks of factors that are penalised together.
    pub fn with_blocks(self, blocks: &'a BlockPenalties) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// Call `one` for every factor that is penalised by itself.
    pub fn each_alone(&self, one: impl FnMut(usize)) {
        match self.blocks {
            Some(blocks) => blocks.alone.iter().copied().for_each(one),
            None => (0..self.design.groups()).for_each(one),
        }
    }

    /// Evaluate a theta over all factors of the design.
    pub fn point(&self, theta: Vec<f64>) -> Point {
        let scores = self.design.scores(&theta);
        self.point_with_scores(theta, scores)
    }

    /// The same where `H'theta` is known.
    pub fn point_with_scores(&self, theta: Vec<f64>, scores: Vec<f64>) -> Point {
        let weights = self.loss.weights(&scores);
        let moments = self.design.moments(&weights.alpha);
        self.point_with_moments(theta, ScoredWeights { scores, weights, moments })
    }

    /// The same where the weights of the scores and the moments under them are known, too.
    pub fn point_with_moments(&self, theta: Vec<f64>, scored: ScoredWeights) -> Point {
        let ScoredWeights { scores, weights, moments } = scored;
        let design = self.design;
        let xi: Vec<f64> = design.linear().iter().zip(moments).map(|(g, h)| g - h).collect();
        let linear: f64 = design.linear().iter().zip(&theta).map(|(g, t)| g * t).sum();
        let objective = weights.log_sums() - linear;
        let mut certificate = Certificate::new(objective, self.lambda.lambda1);
        match self.blocks {
            Some(blocks) => {
                for group in &blocks.alone {
                    design.count(*group, self.lambda, (&theta, &xi), &mut certificate);
                }
                for block in &blocks.blocks {
                    block.certify(&mut certificate, &theta, &xi);
                }
            }
            None => design.count_all(self.lambda, (&theta, &xi), &mut certificate),
        }
        Point { theta, scores, weights, xi, certificate }
    }

    /// A lower bound on the smallest solvable lambda2 at lambda1 = 0, from a direction theta.
    ///
    /// Along theta the objective grows by `sum_k max_i s_ki - g'theta + lambda2 sum_t w_t |theta_t|` a
    /// unit in the end, s = H'theta: it has no lower bound below the lambda2 that makes this negative.
    /// The direction may live on any design: factors left out count as zeros.
    pub fn threshold_bound(&self, theta: &[f64], scores: &[f64]) -> f64 {
        let design = self.design;
        let top =
            |span: &Range<usize>| scores[span.clone()].iter().copied().fold(f64::MIN, f64::max);
        let tops: f64 = self.loss.terms().iter().map(|term| top(&term.span)).sum();
        let linear: f64 = design.linear().iter().zip(theta).map(|(g, t)| g * t).sum();
        let size = |group| {
            let size = norm(&theta[design.span(group)]);
            if size == 0.0 {
                0.0
            } else {
                design.weight(group) * size
            }
        };
        let blocks = self.blocks.iter().flat_map(|all| &all.blocks);
        let mut total: f64 = blocks.map(|block| block.size(theta)).sum();
        self.each_alone(|group| total += size(group));
        let escape = linear - tops;
        if total > 0.0 {
            escape / total
        } else if escape > 0.0 {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }
    }
}

/// The scores of a theta, their weights, and the moments of the features under those.
pub struct ScoredWeights {
    /// `H'theta`.
    pub scores: Vec<f64>,
    /// `alpha(theta)`.
    pub weights: Weights,
    /// `H alpha(theta)`.
    pub moments: Vec<f64>,
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
    /// Over all factors of the design.
    pub certificate: Certificate,
}
