//! Features that are products of column powers, made when asked for, never stored for all factors.
//!
//! A factor is a pair (u, v), u > v, or a single variable (u, u). Its features are monomials
//! `s_u^p s_v^q` of the transformed columns `s = sign(x)|x|^power`. Gaussian features are the one
//! product `s_u s_v` and the square `s_u^2`. Orthonormal polynomials may stand for the powers.

use super::{Coefficients, Place};
use crate::error::{Error, Result};
use crate::features::factors::{factor_variables, factor_variables_near, pairwise_factors};
use crate::features::polynomials::Polynomials;
use crate::numerics::simd::{axpy, axpy_four, axpy_product, dot3};
use crate::samples::Samples;
use pulp::Simd;
use std::ops::Range;
use std::sync::Arc;

/// The powers of all columns are kept, up to the largest in use.
const LARGEST_EXPONENT: usize = 100;

/// Which monomials a family uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// Exponent of the transform `sign(x)|x|^power`, before any product.
    pub power: f64,
    /// Exponents (p, q) of `s_u^p s_v^q` for a pair u > v.
    pub pair: Vec<(usize, usize)>,
    /// Exponents p of `s_u^p` for a single variable.
    pub single: Vec<usize>,
}

impl Basis {
    /// `x_u x_v` and `x_u^2`.
    pub fn gaussian() -> Self {
        Self { power: 1.0, pair: vec![(1, 1)], single: vec![2] }
    }

    /// Exponents of feature `k` of the factor (u, v).
    pub fn exponents(&self, u: usize, v: usize, k: usize) -> (usize, usize) {
        if u == v {
            (self.single[k], 0)
        } else {
            self.pair[k]
        }
    }

    /// All exponents in use, pairs and singles.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pair.iter().copied().chain(self.single.iter().map(|p| (*p, 0)))
    }

    /// The largest exponent of any variable.
    pub fn degree(&self) -> usize {
        self.all().map(|(p, q)| p.max(q)).max().unwrap_or(0)
    }

    fn validate(&self) -> Result<()> {
        if self.pair.is_empty() || self.all().any(|(p, q)| p + q == 0) {
            return Err(Error::Argument(
                "features: pairs need at least one, and none may be constant".into(),
            ));
        }
        if self.degree() > LARGEST_EXPONENT {
            return Err(Error::Argument(format!(
                "features: exponents go up to {LARGEST_EXPONENT}: got {}",
                self.degree()
            )));
        }
        if !(self.power > 0.0 && self.power.is_finite()) {
            return Err(Error::Argument("features: the power must be positive".into()));
        }
        Ok(())
    }
}

/// The column powers of a stacked pair of samples. A clone shares them.
#[derive(Debug, Clone)]
pub struct Products {
    basis: Basis,
    variables: usize,
    rows: usize,
    /// `powers[p][u * rows + r] = s_u(r)^p`, or the polynomial of degree p; `powers[0]` is a single
    /// row of ones.
    powers: Arc<Vec<Vec<f64>>>,
}

impl Products {
    /// Transform the columns, raise them to the powers needed and check that no feature overflows.
    pub fn new(samples: Samples, basis: Basis) -> Result<Self> {
        basis.validate()?;
        let (variables, rows) = (samples.variables(), samples.rows());
        let mut base = samples.into_values();
        if basis.power != 1.0 {
            base.iter_mut().for_each(|x| *x = x.signum() * x.abs().powf(basis.power));
        }
        let degree = basis.degree();
        let mut powers = vec![vec![1.0; rows], base];
        for p in 2..=degree {
            powers.push(powers[p - 1].iter().zip(&powers[1]).map(|(a, b)| a * b).collect());
        }
        Self::of_columns(basis, variables, rows, powers)
    }

    /// The same products of polynomials in the place of powers.
    pub fn of_polynomials(
        samples: &Samples,
        basis: Basis,
        polynomials: &Polynomials,
    ) -> Result<Self> {
        basis.validate()?;
        let (variables, rows) = (samples.variables(), samples.rows());
        let mut powers = vec![vec![1.0; rows]];
        powers.extend(polynomials.columns(samples)?);
        if powers.len() <= basis.degree() {
            return Err(Error::Argument(
                "features: there are polynomials of too few degrees".into(),
            ));
        }
        Self::of_columns(basis, variables, rows, powers)
    }

    fn of_columns(
        basis: Basis,
        variables: usize,
        rows: usize,
        powers: Vec<Vec<f64>>,
    ) -> Result<Self> {
        let products = Self { basis, variables, rows, powers: Arc::new(powers) };
        products.check_overflow()?;
        Ok(products)
    }

    /// A feature and the sum of its squares over rows must stay finite.
    fn check_overflow(&self) -> Result<()> {
        let limit = (f64::MAX / self.rows as f64).sqrt();
        for (p, q) in self.basis.all() {
            let (first, top) = self.largest(p);
            let (second, other) = self.largest(q);
            // Written so that a NaN fails, too.
            if !(top * other).lt(&limit) {
                let second = if q == 0 { first } else { second };
                return Err(Error::Overflow { first, second });
            }
        }
        Ok(())
    }

    /// The variable with the largest |s^p|, and that value; a NaN counts as infinite.
    fn largest(&self, p: usize) -> (usize, f64) {
        let size = |x: &f64| if x.is_nan() { f64::INFINITY } else { x.abs() };
        let mut worst = (0, 0.0);
        for u in 0..self.variables {
            let top = self.column(p, u).iter().map(size).fold(0.0, f64::max);
            if top > worst.1 {
                worst = (u, top);
            }
        }
        worst
    }

    /// `s_u^p`, or the polynomial of degree p, on every row.
    pub fn column(&self, p: usize, u: usize) -> &[f64] {
        match p {
            0 => &self.powers[0],
            _ => &self.powers[p][u * self.rows..][..self.rows],
        }
    }

    /// Which monomials these are.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
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
        if u == v {
            self.basis.single.len()
        } else {
            self.basis.pair.len()
        }
    }

    /// The columns whose product is feature `k` of the factor (u, v).
    #[inline(always)]
    fn columns(&self, u: usize, v: usize, k: usize) -> (&[f64], &[f64]) {
        let (p, q) = self.basis.exponents(u, v, k);
        (self.column(p, u), self.column(q, v))
    }

    /// `sum_r weights_r f_tk(r)` of feature k over some rows, with a weight for each.
    #[inline(always)]
    pub fn moment<S: Simd>(
        &self,
        simd: S,
        (u, v, k): (usize, usize, usize),
        rows: Range<usize>,
        weights: &[f64],
    ) -> f64 {
        let (a, b) = self.columns(u, v, k);
        dot3(simd, weights, &a[rows.clone()], &b[rows])
    }

    /// Add `scale f_tk(r)` of feature k on some rows to `out`.
    #[inline(always)]
    pub fn add_feature<S: Simd>(
        &self,
        simd: S,
        (u, v, k): (usize, usize, usize),
        rows: Range<usize>,
        scale: f64,
        out: &mut [f64],
    ) {
        let (a, b) = self.columns(u, v, k);
        axpy_product(simd, scale, &a[rows.clone()], &b[rows], out);
    }

    /// Add `f(z_r)'theta` on some rows to `out`. Factors of one variable u that stand side by side, as
    /// in a path they do, share the product with its column.
    #[inline(always)]
    pub fn add_scores<S: Simd>(
        &self,
        simd: S,
        rows: Range<usize>,
        coefficients: &Coefficients,
        out: &mut [f64],
    ) {
        let mut sums = vec![vec![0.0; rows.len()]; self.basis.pair.len()];
        let (mut current, mut open) = (0, false);
        let (mut waiting, mut count): ([(usize, &[f64]); 4], usize) = ([(0, &[]); 4], 0);
        for (factor, theta) in coefficients.iter() {
            let (u, v) = factor_variables_near(factor, current);
            if u == v {
                for (p, value) in self.basis.single.iter().zip(theta) {
                    axpy(simd, *value, &self.column(*p, u)[rows.clone()], out);
                }
                continue;
            }
            if u != current && open {
                self.add_waiting(simd, rows.clone(), &waiting[..count], &mut sums);
                self.add_sums(simd, current, rows.clone(), &mut sums, out);
                count = 0;
            }
            (current, open) = (u, true);
            waiting[count] = (v, theta);
            count += 1;
            if count == waiting.len() {
                self.add_waiting(simd, rows.clone(), &waiting, &mut sums);
                count = 0;
            }
        }
        if open {
            self.add_waiting(simd, rows.clone(), &waiting[..count], &mut sums);
            self.add_sums(simd, current, rows, &mut sums, out);
        }
    }

    /// Add the columns of some variables to the sums, four at a time: their sum is read and written
    /// once.
    #[inline(always)]
    fn add_waiting<S: Simd>(
        &self,
        simd: S,
        rows: Range<usize>,
        waiting: &[(usize, &[f64])],
        sums: &mut [Vec<f64>],
    ) {
        for (k, (sum, (_, q))) in sums.iter_mut().zip(&self.basis.pair).enumerate() {
            if let [(a, s), (b, t), (c, x), (d, y)] = waiting {
                let columns = [
                    &self.column(*q, *a)[rows.clone()],
                    &self.column(*q, *b)[rows.clone()],
                    &self.column(*q, *c)[rows.clone()],
                    &self.column(*q, *d)[rows.clone()],
                ];
                axpy_four(simd, [s[k], t[k], x[k], y[k]], columns, sum);
                continue;
            }
            for (v, theta) in waiting {
                axpy(simd, theta[k], &self.column(*q, *v)[rows.clone()], sum);
            }
        }
    }

    /// Add the products of sums over other variables with the column of u, and make them zero.
    #[inline(always)]
    fn add_sums<S: Simd>(
        &self,
        simd: S,
        u: usize,
        rows: Range<usize>,
        sums: &mut [Vec<f64>],
        out: &mut [f64],
    ) {
        for (sum, (p, _)) in sums.iter_mut().zip(&self.basis.pair) {
            axpy_product(simd, 1.0, &self.column(*p, u)[rows.clone()], sum, out);
            sum.fill(0.0);
        }
    }
}
