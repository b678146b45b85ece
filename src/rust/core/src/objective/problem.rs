//! The features, the loss and the penalty factors of one fit.

use crate::error::{Error, Result};
use crate::features::Features;
use crate::objective::blocks::Blocks;
use crate::objective::loss::Loss;
use crate::objective::penalty_factor::PenaltyFactors;
use pulp::Simd;
use std::sync::Arc;

/// What is minimised over theta, but for lambda1 and lambda2. A clone shares the features.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The features of every factor.
    pub features: Features,
    /// The loss over the rows of the stack.
    pub loss: Loss,
    /// `w_t`.
    pub penalty_factor: Arc<PenaltyFactors>,
    /// Factors that are penalised together, if any are.
    pub blocks: Option<Arc<Blocks>>,
}

impl Problem {
    /// Put the parts together.
    pub fn new(
        features: impl Into<Features>,
        loss: Loss,
        penalty_factor: PenaltyFactors,
    ) -> Result<Self> {
        let features = features.into();
        penalty_factor.validate(features.factors())?;
        if let (Features::Table(_), PenaltyFactors::ByKind { .. }) = (&features, &penalty_factor) {
            return Err(Error::Argument(
                "penalty factors: a table needs one for each factor".into(),
            ));
        }
        Ok(Self { features, loss, penalty_factor: Arc::new(penalty_factor), blocks: None })
    }

    /// The same with blocks of factors that are penalised together.
    pub fn with_blocks(self, blocks: Option<Blocks>) -> Result<Self> {
        if let Some(blocks) = &blocks {
            blocks.validate(self.features.factors())?;
        }
        Ok(Self { blocks: blocks.map(Arc::new), ..self })
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
