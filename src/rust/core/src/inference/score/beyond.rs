//! Features of edges for changes that correlations do not show: products of polynomials of two
//! variables' normal scores, with what their product explains taken off.

use crate::error::{room_for, Error, Result};
use crate::monitor::Monitor;
use crate::numerics::simd::{axpy, axpy_product, dispatch, dot};
use ndarray::ArrayView2;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Polynomials of one variable.
const DEGREES: usize = 3;
/// The degrees of both variables in each term of an edge, from 0.
const TERMS: [(usize, usize); 5] = [(0, 1), (1, 0), (1, 1), (0, 2), (2, 0)];
/// For each degree, where its integrals begin: that of degree i has 3 - i of them, from 0.
const INTEGRALS: [usize; DEGREES + 1] = [0, 3, 5, 6];
/// Edges between two looks at the monitor.
const CHUNK: usize = 64;

/// How many terms an edge has beyond the product.
pub const BEYOND_TERMS: usize = TERMS.len();

/// Polynomials of all variables, column after column.
#[derive(Debug)]
pub struct Polynomials {
    rows: usize,
    variables: usize,
    /// Of the first degree for all variables, then of the second, then of the third.
    values: Vec<f64>,
    /// What estimated ranks explain: for degree i and k the centred integrals of the derivative of i
    /// times k, pairs (i, k) one after the other. Empty where the ranks are no estimate.
    integrals: Vec<f64>,
}

/// The features of some edges, column after column.
#[derive(Debug, Clone, PartialEq)]
pub struct BeyondFeatures {
    /// `BEYOND_TERMS` columns for each edge.
    pub beyond: Vec<f64>,
    /// A column for each edge: the product, centred.
    pub product: Vec<f64>,
}

impl Polynomials {
    /// `values` has three columns for each variable, `integrals` six or none.
    pub fn new(values: ArrayView2<'_, f64>, integrals: ArrayView2<'_, f64>) -> Result<Self> {
        let (rows, columns) = values.dim();
        let variables = columns / DEGREES;
        let sound = rows > 0
            && columns == DEGREES * variables
            && (integrals.is_empty() || integrals.dim() == (rows, INTEGRALS[DEGREES] * variables));
        if !sound {
            return Err(Error::Argument("every variable needs the same polynomials".into()));
        }
        let all = |table: ArrayView2<'_, f64>| table.t().iter().copied().collect();
        Ok(Self { rows, variables, values: all(values), integrals: all(integrals) })
    }

    fn value(&self, degree: usize, variable: usize) -> &[f64] {
        &self.values[(degree * self.variables + variable) * self.rows..][..self.rows]
    }

    fn integral(&self, degree: usize, other: usize, variable: usize) -> &[f64] {
        let at = (INTEGRALS[degree] + other) * self.variables + variable;
        &self.integrals[at * self.rows..][..self.rows]
    }

    /// The features of `edges`, pairs of variables.
    pub fn features(&self, edges: &[(usize, usize)], monitor: &Monitor) -> Result<BeyondFeatures> {
        if edges.iter().any(|(u, v)| *u.max(v) >= self.variables) {
            return Err(Error::Argument("an edge names a variable that is not there".into()));
        }
        let mut beyond = room_for(self.rows * BEYOND_TERMS, edges.len())?;
        beyond.resize(self.rows * BEYOND_TERMS * edges.len(), 0.0);
        let mut product = room_for(self.rows, edges.len())?;
        product.resize(self.rows * edges.len(), 0.0);
        beyond
            .par_chunks_mut(self.rows * BEYOND_TERMS * CHUNK)
            .zip(product.par_chunks_mut(self.rows * CHUNK))
            .zip(edges.par_chunks(CHUNK))
            .try_for_each(|((beyond, product), edges)| {
                monitor.check()?;
                dispatch(Fill { polynomials: self, edges, beyond, product });
                Ok(())
            })?;
        Ok(BeyondFeatures { beyond, product })
    }

    /// `h_i(z_u) h_j(z_v)`, less what estimated ranks of either variable explain of it: the integrals
    /// times the coefficients of the regression of the other polynomial.
    #[inline(always)]
    fn term<S: Simd>(
        &self,
        simd: S,
        (u, i): (usize, usize),
        (v, j): (usize, usize),
        out: &mut [f64],
    ) {
        out.fill(0.0);
        axpy_product(simd, 1.0, self.value(i, u), self.value(j, v), out);
        if self.integrals.is_empty() {
            return;
        }
        for ((own, degree), (other, of)) in [((u, i), (v, j)), ((v, j), (u, i))] {
            for k in 0..DEGREES - degree {
                let slope = dot(simd, self.value(of, other), self.value(k, own)) / self.rows as f64;
                axpy(simd, -slope, self.integral(degree, k, own), out);
            }
        }
    }
}

/// The features of a few edges.
struct Fill<'a> {
    polynomials: &'a Polynomials,
    edges: &'a [(usize, usize)],
    beyond: &'a mut [f64],
    product: &'a mut [f64],
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.polynomials.rows;
        let columns = self.product.chunks_exact_mut(rows);
        let terms = self.beyond.chunks_exact_mut(rows * BEYOND_TERMS);
        for (((u, v), product), terms) in self.edges.iter().zip(columns).zip(terms) {
            self.polynomials.term(simd, (*u, 0), (*v, 0), product);
            let mean = product.iter().sum::<f64>() / rows as f64;
            product.iter_mut().for_each(|value| *value -= mean);
            let square = dot(simd, product, product);
            for ((i, j), term) in TERMS.iter().zip(terms.chunks_exact_mut(rows)) {
                self.polynomials.term(simd, (*u, *i), (*v, *j), term);
                if square > 0.0 {
                    let slope = dot(simd, term, product) / square;
                    axpy(simd, -slope, product, term);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    const ROWS: usize = 23;

    fn table(columns: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((ROWS, columns), |(r, k)| {
            ((r * 131 + k * 57 + r * k * seed + r * r * 7) % 101) as f64 / 50.0 - 1.0
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn terms_are_products_less_what_ranks_and_the_product_explain() {
        let variables = 4;
        let (values, integrals) = (table(3 * variables, 3), table(6 * variables, 5));
        let polynomials = Polynomials::new(values.view(), integrals.view()).unwrap();
        let (u, v) = (1, 3);
        let got = polynomials.features(&[(0, 2), (u, v)], &Monitor::new()).unwrap();
        let h = |i: usize, w: usize| values.column(i * variables + w).to_owned();
        let term = |i: usize, j: usize| {
            let mut term = h(i, u) * h(j, v);
            for k in 0..3 - i {
                let slope = h(j, v).dot(&h(k, u)) / ROWS as f64;
                term -= &(slope * &integrals.column((INTEGRALS[i] + k) * variables + u));
            }
            for k in 0..3 - j {
                let slope = h(i, u).dot(&h(k, v)) / ROWS as f64;
                term -= &(slope * &integrals.column((INTEGRALS[j] + k) * variables + v));
            }
            term
        };
        let product = term(0, 0);
        let product = &product - product.sum() / ROWS as f64;
        let own = &got.product[ROWS..];
        own.iter().zip(&product).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        let columns = got.beyond[BEYOND_TERMS * ROWS..].chunks_exact(ROWS);
        for ((i, j), column) in TERMS.iter().zip(columns) {
            let term = term(*i, *j);
            let want = &term - &(term.dot(&product) / product.dot(&product) * &product);
            column.iter().zip(&want).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn without_integrals_terms_are_products() {
        let values = table(6, 3);
        let none = Array2::zeros((0, 0));
        let polynomials = Polynomials::new(values.view(), none.view()).unwrap();
        let mut term = vec![0.0; ROWS];
        struct Term<'a>(&'a Polynomials, &'a mut [f64]);
        impl WithSimd for Term<'_> {
            type Output = ();
            fn with_simd<S: Simd>(self, simd: S) {
                self.0.term(simd, (0, 2), (1, 0), self.1);
            }
        }
        dispatch(Term(&polynomials, &mut term));
        for (row, value) in term.iter().enumerate() {
            assert!((value - values[(row, 4)] * values[(row, 1)]).abs() < 1e-15);
        }
    }

    #[test]
    fn shapes_that_do_not_match_are_refused() {
        let (values, none) = (table(6, 3), Array2::zeros((0, 0)));
        assert!(Polynomials::new(table(7, 3).view(), none.view()).is_err());
        assert!(Polynomials::new(values.view(), table(11, 3).view()).is_err());
        let polynomials = Polynomials::new(values.view(), none.view()).unwrap();
        assert!(polynomials.features(&[(0, 2)], &Monitor::new()).is_err());
    }
}
