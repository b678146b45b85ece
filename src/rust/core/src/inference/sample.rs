//! The two samples as inference sees them: features with one coefficient each, made when asked for.

use crate::error::{Error, Result};
use crate::features::{Coefficients, Features, Products};
use crate::numerics::simd::dispatch;
use crate::objective::loss::{Loss, Weights};
use crate::objective::problem::Problem;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// The features of both samples, and the loss of the ratio p/q.
pub struct Sample<'a> {
    /// The features of every factor.
    pub features: &'a Features,
    /// The same, known to be products.
    pub products: &'a Products,
    /// The loss: one term, over `y`.
    pub loss: &'a Loss,
    /// Rows of `x`.
    pub x: Range<usize>,
    /// Rows of `y`.
    pub y: Range<usize>,
}

impl<'a> Sample<'a> {
    /// The samples of a problem; anything but products with one feature and the ratio p/q is refused.
    pub fn new(problem: &'a Problem) -> Result<Self> {
        let Features::Products(products) = &problem.features else {
            return Err(Error::Argument("inference is for products".into()));
        };
        let basis = products.basis();
        if basis.pair.len() != 1 || basis.single.len() > 1 {
            return Err(Error::Argument("inference is for one feature a factor".into()));
        }
        let y = match problem.loss.terms() {
            [term] if term.sign > 0.0 => term.rows.clone(),
            _ => return Err(Error::Argument("inference is for the ratio p/q".into())),
        };
        let (features, loss) = (&problem.features, &problem.loss);
        Ok(Self { features, products, loss, x: 0..y.start, y })
    }

    /// Whether a factor has a feature.
    pub fn has(&self, factor: usize) -> bool {
        let (u, v) = self.products.place(factor);
        self.products.size_of(u, v) > 0
    }

    /// The factors that have one.
    pub fn factors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.products.factors()).filter(|factor| self.has(*factor))
    }

    /// The feature of a factor on some rows.
    pub fn feature(&self, factor: usize, rows: Range<usize>) -> Vec<f64> {
        let mut one = Coefficients::default();
        one.push(factor, &[1.0]);
        self.features.scores(rows, &one)
    }

    /// `g`: the mean of a feature over `x`.
    pub fn mean_over_x(&self, factor: usize) -> f64 {
        self.moment(factor, self.x.clone(), &self.loss.linear()[self.x.clone()])
    }

    /// `sum_i weights_i f(i)` of a feature over some rows.
    pub fn moment(&self, factor: usize, rows: Range<usize>, weights: &[f64]) -> f64 {
        dispatch(Moment { sample: self, factor, rows, weights })
    }

    /// The weights of `y` at a theta.
    pub fn weights(&self, theta: &Coefficients) -> Weights {
        self.loss.weights(&self.features.scores(self.y.clone(), theta))
    }
}

struct Moment<'a> {
    sample: &'a Sample<'a>,
    factor: usize,
    rows: Range<usize>,
    weights: &'a [f64],
}

impl WithSimd for Moment<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (u, v) = self.sample.products.place(self.factor);
        self.sample.products.moment(simd, (u, v, 0), self.rows, self.weights)
    }
}
