//! A radial function of the difference of two variables, computed when asked for.

use super::Place;
use crate::error::{Error, Result};
use crate::features::factors::{factor_variables, pairwise_factors};
use crate::samples::Samples;
use pulp::Simd;
use std::ops::Range;
use std::sync::Arc;

/// `f_uv = exp(-(x_u - x_v)^2 / (2 sigma^2))`. A variable alone has none: it would be constant.
#[derive(Debug, Clone)]
pub struct Rbf {
    variables: usize,
    rows: usize,
    /// `1 / (sqrt(2) sigma)`: applied before squaring, so that no square overflows.
    rate: f64,
    /// Shared by clones.
    values: Arc<[f64]>,
}

impl Rbf {
    /// The family on a stack of samples.
    pub fn new(samples: Samples, sigma: f64) -> Result<Self> {
        if !(sigma > 0.0 && sigma.is_finite()) {
            return Err(Error::Argument("features: sigma must be positive".into()));
        }
        let (variables, rows) = (samples.variables(), samples.rows());
        let rate = std::f64::consts::FRAC_1_SQRT_2 / sigma;
        Ok(Self { variables, rows, rate, values: samples.into_values().into() })
    }

    /// Rows of the stack.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many factors there are, singles included.
    pub fn factors(&self) -> usize {
        pairwise_factors(self.variables)
    }

    /// The variables of a factor.
    pub fn place(&self, factor: usize) -> Place {
        factor_variables(factor)
    }

    /// How many features the factor (u, v) has.
    #[inline(always)]
    pub fn size_of(&self, u: usize, v: usize) -> usize {
        usize::from(u != v)
    }

    /// Both variables of a pair on some rows.
    #[inline(always)]
    fn pair(
        &self,
        (u, v, _): (usize, usize, usize),
        rows: Range<usize>,
    ) -> impl Iterator<Item = (&f64, &f64)> {
        let column = |u: usize| self.values[u * self.rows..][rows.clone()].iter();
        column(u).zip(column(v))
    }

    #[inline(always)]
    fn value(&self, (a, b): (&f64, &f64)) -> f64 {
        let apart = (a - b) * self.rate;
        (-apart * apart).exp()
    }

    /// `sum_r weights_r f_t(r)` over some rows, with a weight for each.
    #[inline(always)]
    pub fn moment<S: Simd>(
        &self,
        _: S,
        at: (usize, usize, usize),
        rows: Range<usize>,
        weights: &[f64],
    ) -> f64 {
        self.pair(at, rows).zip(weights).map(|(pair, weight)| weight * self.value(pair)).sum()
    }

    /// Add `scale f_t(r)` on some rows to `out`.
    #[inline(always)]
    pub fn add_feature<S: Simd>(
        &self,
        _: S,
        at: (usize, usize, usize),
        rows: Range<usize>,
        scale: f64,
        out: &mut [f64],
    ) {
        self.pair(at, rows).zip(out).for_each(|(pair, total)| *total += scale * self.value(pair));
    }
}
