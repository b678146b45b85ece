//! What a factor of the network looks like: the functions the log density ratio is linear in.

pub mod factors;

mod coefficients;
mod polynomials;
mod products;
mod rbf;
mod table;

pub use coefficients::Coefficients;
pub use polynomials::Polynomials;
pub use products::{Basis, Products};
pub use rbf::Rbf;
pub use table::Table;

use crate::numerics::simd::dispatch;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// Scores are computed for multiples of this many rows at a time: whole registers, and enough work
/// for a thread.
const LEAST_ROWS: usize = 64;

/// Where the features of a factor come from: its variables u >= v, or in a table its first column and
/// how many columns it has.
pub type Place = (usize, usize);

/// The features of every factor of a stacked pair of samples.
#[derive(Debug, Clone)]
pub enum Features {
    /// Products of column powers.
    Products(Products),
    /// One radial function of the difference of two variables.
    Rbf(Rbf),
    /// Any functions, evaluated beforehand.
    Table(Table),
}

impl From<Products> for Features {
    fn from(products: Products) -> Self {
        Self::Products(products)
    }
}

impl From<Rbf> for Features {
    fn from(rbf: Rbf) -> Self {
        Self::Rbf(rbf)
    }
}

impl From<Table> for Features {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

/// The same call on whichever family it is.
macro_rules! each {
    ($features:expr, $family:ident => $call:expr) => {
        match $features {
            Features::Products($family) => $call,
            Features::Rbf($family) => $call,
            Features::Table($family) => $call,
        }
    };
}

impl Features {
    /// Rows of the stack.
    pub fn rows(&self) -> usize {
        each!(self, family => family.rows())
    }

    /// How many factors there are, singles included.
    pub fn factors(&self) -> usize {
        each!(self, family => family.factors())
    }

    /// Where the features of a factor come from.
    pub fn place(&self, factor: usize) -> Place {
        each!(self, family => family.place(factor))
    }

    /// How many features the factor at a place has.
    #[inline(always)]
    pub fn size_of(&self, first: usize, second: usize) -> usize {
        each!(self, family => family.size_of(first, second))
    }

    /// `sum_r weights_r f_tk(r)` of feature k over some rows, with a weight for each.
    #[inline(always)]
    pub fn moment<S: Simd>(
        &self,
        simd: S,
        at: (usize, usize, usize),
        rows: Range<usize>,
        weights: &[f64],
    ) -> f64 {
        each!(self, family => family.moment(simd, at, rows, weights))
    }

    /// Add `scale f_tk(r)` of feature k on some rows to `out`.
    #[inline(always)]
    pub fn add_feature<S: Simd>(
        &self,
        simd: S,
        at: (usize, usize, usize),
        rows: Range<usize>,
        scale: f64,
        out: &mut [f64],
    ) {
        each!(self, family => family.add_feature(simd, at, rows, scale, out));
    }

    /// `f(z_r)'theta` on some rows, for a theta that is zero but for these factors.
    pub fn scores(&self, rows: Range<usize>, coefficients: &Coefficients) -> Vec<f64> {
        let Self::Products(_) = self else {
            return dispatch(Scores { features: self, rows, coefficients });
        };
        // Each thread has its rows: a score does not depend on the rows beside it.
        let part = rows.len().div_ceil(rayon::current_num_threads()).next_multiple_of(LEAST_ROWS);
        let firsts: Vec<usize> = rows.clone().step_by(part).collect();
        let scores = |first: usize| {
            let rows = first..rows.end.min(first + part);
            dispatch(Scores { features: self, rows, coefficients })
        };
        firsts.into_par_iter().map(scores).collect::<Vec<_>>().concat()
    }
}

struct Scores<'a> {
    features: &'a Features,
    rows: Range<usize>,
    coefficients: &'a Coefficients,
}

impl WithSimd for Scores<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut scores = vec![0.0; self.rows.len()];
        if let Features::Products(products) = self.features {
            products.add_scores(simd, self.rows, self.coefficients, &mut scores);
            return scores;
        }
        for (factor, theta) in self.coefficients.iter() {
            let (first, second) = self.features.place(factor);
            for (k, value) in theta.iter().enumerate() {
                let rows = self.rows.clone();
                self.features.add_feature(simd, (first, second, k), rows, *value, &mut scores);
            }
        }
        scores
    }
}
