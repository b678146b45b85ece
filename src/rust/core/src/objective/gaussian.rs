//! The loss with the normaliser of zero-mean Gaussians, and its derivatives.
//!
//! With `E_uv = theta_uv` and `E_uu = 2 theta_uu`, so that `theta'f(z) = z'Ez / 2`, the loss is
//!
//! `sum_k -1/2 logdet(I - s_k C_k E) - 1/2 tr(G E)`
//!
//! over the terms k: `C_k` the second moments of the sample that is weighted, `s_k` the sign with
//! which theta enters, and `G = sum_k s_k S_k` those of the other sample. The moments of the weighted
//! sample are `A_k = (I - s_k C_k E)^-1 C_k`, minus the gradient is `xi = G - sum_k s_k A_k`, and the
//! Hessian takes dE to `sum_k A_k dE A_k`, all entry by entry.
//!
//! Outside the variables J of the non-zero factors E is zero, so that all of it comes down to J:
//! with `C_JJ = L L'` and `M = I - s L'EL` (positive definite inside the domain),
//! `A_JJ = L M^-1 L'` and `A = C + C_J'(sE + E A_JJ E) C_J`.

use crate::features::Products;
use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch};
use crate::numerics::tiles::{add_gram, product, Panels};
use crate::objective::loss::Loss;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// A non-zero entry of E, between two places among [`ActiveVariables`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The larger place.
    pub i: usize,
    /// The smaller place, or the same.
    pub j: usize,
    /// `theta_ij`, or `2 theta_ii`.
    pub value: f64,
}

impl Entry {
    /// The entry of a coefficient.
    pub fn new(i: usize, j: usize, theta: f64) -> Self {
        Self { i, j, value: if i == j { 2.0 * theta } else { theta } }
    }
}

/// Second moments of both samples.
#[derive(Debug)]
pub struct GaussianLoss {
    products: Products,
    terms: Vec<Term>,
    /// `G`, full.
    linear: Vec<f64>,
}

#[derive(Debug)]
struct Term {
    sign: f64,
    /// The rows of the weighted sample.
    rows: Range<usize>,
    /// `C`, full.
    covariance: Vec<f64>,
}

/// The variables at work, with a root of each covariance among them.
#[derive(Debug)]
pub struct ActiveVariables {
    /// Their numbers.
    pub variables: Vec<usize>,
    roots: Vec<Root>,
}

/// L, row by row.
#[derive(Debug)]
struct Root {
    width: usize,
    values: Vec<f64>,
}

impl GaussianLoss {
    /// The closed form that takes the place of an empirical loss.
    pub fn new(products: &Products, loss: &Loss) -> Self {
        let terms = loss
            .terms()
            .iter()
            .map(|term| {
                let share = vec![1.0 / term.rows.len() as f64; term.rows.len()];
                let covariance = second_moments(products, term.rows.clone(), &share);
                Term { sign: term.sign, rows: term.rows.clone(), covariance }
            })
            .collect();
        let linear = linear_moments(products, loss);
        Self { products: products.clone(), terms, linear }
    }

    /// Another linear term; by how much `G` changes.
    pub fn set_linear(&mut self, loss: &Loss) -> Vec<f64> {
        let linear = linear_moments(&self.products, loss);
        let before = std::mem::replace(&mut self.linear, linear);
        self.linear.iter().zip(before).map(|(now, then)| now - then).collect()
    }

    /// Whether no covariance is singular.
    pub fn is_regular(&self) -> bool {
        let d = self.products.variables();
        self.terms.iter().all(|term| well_conditioned(&term.covariance, d).is_some())
    }

    /// Signs of the terms.
    pub fn signs(&self) -> impl Iterator<Item = f64> + '_ {
        self.terms.iter().map(|term| term.sign)
    }

    /// `G_uv`.
    pub fn linear(&self, u: usize, v: usize) -> f64 {
        self.linear[u * self.products.variables() + v]
    }

    /// Prepare to work on some variables.
    pub fn restrict_to(&self, variables: Vec<usize>) -> ActiveVariables {
        let roots = self.terms.iter().map(|term| self.root(term, &variables)).collect();
        ActiveVariables { variables, roots }
    }

    /// By Cholesky, or where the covariance is singular or large by the sample itself.
    fn root(&self, term: &Term, variables: &[usize]) -> Root {
        let (size, d) = (variables.len(), self.products.variables());
        if size < term.rows.len() {
            let entry = |i: usize, j: usize| term.covariance[variables[i] * d + variables[j]];
            let matrix: Vec<f64> =
                (0..size).flat_map(|i| (0..size).map(move |j| entry(i, j))).collect();
            if let Some(factor) = well_conditioned(&matrix, size) {
                return Root { width: size, values: factor.lower() };
            }
        }
        let scale = 1.0 / (term.rows.len() as f64).sqrt();
        let sample = |u: &usize| &self.products.column(1, *u)[term.rows.clone()];
        let values = variables.iter().flat_map(|u| sample(u).iter().map(|z| scale * z)).collect();
        Root { width: term.rows.len(), values }
    }

    /// Each `M` factored, or `None` outside the domain.
    fn factors(&self, active: &ActiveVariables, entries: &[Entry]) -> Option<Vec<Cholesky>> {
        let factor = |(term, root): (&Term, &Root)| {
            let (size, width) = (active.variables.len(), root.width);
            let image = times(entries, &root.values, width);
            let left =
                Panels::pack_rows(width, size, |k| &root.values[k * width..], |_| -term.sign);
            let right = Panels::pack_rows(width, size, |k| &image[k * width..], |_| 1.0);
            let mut matrix = vec![0.0; width * width];
            (0..width).for_each(|i| matrix[i * width + i] = 1.0);
            add_gram(width, &left, &right, &mut matrix);
            Cholesky::new(&matrix, width)
        };
        self.terms.iter().zip(&active.roots).map(factor).collect()
    }

    /// The loss, or `None` outside its domain.
    pub fn value(&self, active: &ActiveVariables, entries: &[Entry]) -> Option<f64> {
        let factors = self.factors(active, entries)?;
        Some(self.value_of(active, entries, &factors))
    }

    fn value_of(&self, active: &ActiveVariables, entries: &[Entry], factors: &[Cholesky]) -> f64 {
        let normalizers: f64 = factors.iter().map(|m| -0.5 * m.log_determinant()).sum();
        let linear: f64 = entries
            .iter()
            .map(|Entry { i, j, value }| {
                let g = self.linear(active.variables[*i], active.variables[*j]);
                // tr(GE) / 2 has both places of a pair, and half of a square.
                if i == j {
                    0.5 * g * value
                } else {
                    g * value
                }
            })
            .sum();
        normalizers - linear
    }

    /// The loss and the moments `A_k` among the active variables, or `None` outside the domain.
    pub fn moments(
        &self,
        active: &ActiveVariables,
        entries: &[Entry],
    ) -> Option<(f64, Vec<Vec<f64>>)> {
        let factors = self.factors(active, entries)?;
        let value = self.value_of(active, entries, &factors);
        let size = active.variables.len();
        let inverse = |(factor, root): (&Cholesky, &Root)| {
            let mut rows = root.values.clone();
            let width = root.width.max(1);
            rows.par_chunks_mut(width).for_each(|row| factor.solve_lower(row));
            let row = |i: usize| &rows[i * width..][..width];
            let left = Panels::pack(size, width, row, None);
            let right = Panels::pack(size, width, row, None);
            let mut moments = vec![0.0; size * size];
            add_gram(size, &left, &right, &mut moments);
            mirror(&mut moments, size);
            moments
        };
        Some((value, factors.iter().zip(&active.roots).map(inverse).collect()))
    }

    /// `xi` of all variables, its lower triangle in a full matrix.
    pub fn xi(
        &self,
        active: &ActiveVariables,
        entries: &[Entry],
        moments: &[Vec<f64>],
    ) -> Vec<f64> {
        let d = self.products.variables();
        let mut xi = self.linear.clone();
        for (term, a) in self.terms.iter().zip(moments) {
            xi.iter_mut().zip(&term.covariance).for_each(|(x, c)| *x -= term.sign * c);
            if entries.is_empty() {
                continue;
            }
            let size = active.variables.len();
            // W = sE + E A E, and E A E = E (E A)'.
            let image = transposed(&times(entries, a, size), size);
            let mut inner = times(entries, &image, size);
            for Entry { i, j, value } in entries {
                inner[i * size + j] += term.sign * value;
                if i != j {
                    inner[j * size + i] += term.sign * value;
                }
            }
            let across = |k: usize| &term.covariance[active.variables[k] * d..][..d];
            let left = Panels::pack_rows(size, size, |k| &inner[k * size..], |_| 1.0);
            let right = Panels::pack_rows(d, size, across, |_| 1.0);
            let image = product(size, d, &left, &right);
            let left = Panels::pack_rows(d, size, across, |_| -term.sign);
            let right = Panels::pack_rows(d, size, |k| &image[k * d..], |_| 1.0);
            add_gram(d, &left, &right, &mut xi);
        }
        xi
    }
}

/// `G`: second moments with the linear term's weights, which are zero outside numerators.
fn linear_moments(products: &Products, loss: &Loss) -> Vec<f64> {
    second_moments(products, 0..products.rows(), loss.linear())
}

/// `Z'diag(weights)Z` over some rows, full.
fn second_moments(products: &Products, rows: Range<usize>, weights: &[f64]) -> Vec<f64> {
    let (d, n) = (products.variables(), rows.len());
    let column = |u: usize| &products.column(1, u)[rows.clone()];
    let left = Panels::pack(d, n, column, Some(weights));
    let right = Panels::pack(d, n, column, None);
    let mut moments = vec![0.0; d * d];
    add_gram(d, &left, &right, &mut moments);
    mirror(&mut moments, d);
    moments
}

/// A factor whose pivots are all well above rounding.
fn well_conditioned(matrix: &[f64], size: usize) -> Option<Cholesky> {
    let factor = Cholesky::new(matrix, size)?;
    let sound = (0..size).all(|i| factor.pivot(i).powi(2) > 1e-10 * matrix[i * size + i]);
    sound.then_some(factor)
}

/// Copy the lower triangle to the upper one.
fn mirror(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        for j in 0..i {
            matrix[j * size + i] = matrix[i * size + j];
        }
    }
}

fn transposed(matrix: &[f64], size: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.len()];
    for (i, row) in matrix.chunks_exact(size).enumerate() {
        row.iter().enumerate().for_each(|(j, value)| out[j * size + i] = *value);
    }
    out
}

/// `E` times a matrix given row by row.
fn times(entries: &[Entry], matrix: &[f64], width: usize) -> Vec<f64> {
    dispatch(Times { entries, matrix, width })
}

struct Times<'a> {
    entries: &'a [Entry],
    matrix: &'a [f64],
    width: usize,
}

impl WithSimd for Times<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { entries, matrix, width } = self;
        let mut out = vec![0.0; matrix.len()];
        for Entry { i, j, value } in entries {
            axpy(simd, *value, &matrix[j * width..][..width], &mut out[i * width..][..width]);
            if i != j {
                axpy(simd, *value, &matrix[i * width..][..width], &mut out[j * width..][..width]);
            }
        }
        out
    }
}
