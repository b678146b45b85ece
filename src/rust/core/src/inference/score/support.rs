//! The equation for `D` on a support: a linear system with the information between its factors.

use crate::numerics::cholesky::Cholesky;

/// A factor of which the others leave less than this share of its information is a combination of them.
const LEAST_ALONE: f64 = 1e-9;

/// The second moments of both samples, full matrices with rows of `stride` entries.
pub struct MomentPair {
    /// From one row to the next: the variables, filled up to whole registers.
    pub stride: usize,
    /// Of `x`.
    pub x: Vec<f64>,
    /// Of `y`.
    pub y: Vec<f64>,
}

impl MomentPair {
    /// `(S_x,ik S_y,jl + S_y,ik S_x,jl + S_x,il S_y,jk + S_y,il S_x,jk) / 2` between two factors.
    pub fn information(&self, (i, j): (usize, usize), (k, l): (usize, usize)) -> f64 {
        let x = |a: usize, b: usize| self.x[a * self.stride + b];
        let y = |a: usize, b: usize| self.y[a * self.stride + b];
        0.5 * (x(i, k) * y(j, l) + y(i, k) * x(j, l) + x(i, l) * y(j, k) + y(i, l) * x(j, k))
    }
}

/// The equation solved on a support.
pub struct Solved {
    /// The factors of the support.
    pub pairs: Vec<(usize, usize)>,
    /// The variables that take part in them.
    pub variables: Vec<usize>,
    /// The inverse of the information between the factors, row by row.
    pub inverse: Vec<f64>,
    /// The entry of `D` of each factor.
    pub estimates: Vec<f64>,
}

impl Solved {
    /// Solve `G_S(D_S) = 0`; `None` where the factors cannot be told apart.
    pub fn new(pairs: &[(usize, usize)], moments: &MomentPair) -> Option<Self> {
        let size = pairs.len();
        let mut matrix = vec![0.0; size * size];
        for (row, first) in matrix.chunks_exact_mut(size.max(1)).zip(pairs) {
            for (entry, second) in row.iter_mut().zip(pairs) {
                *entry = moments.information(*first, *second);
            }
        }
        let factor = Cholesky::new(&matrix, size)?;
        let alone = |k: usize| factor.pivot(k).powi(2) / matrix[k * size + k];
        if (0..size).any(|k| alone(k) < LEAST_ALONE) {
            return None;
        }
        let mut inverse = vec![0.0; size * size];
        for (k, row) in inverse.chunks_exact_mut(size.max(1)).enumerate() {
            row[k] = 1.0;
            factor.solve(row);
        }
        let place = |(i, j): (usize, usize)| i * moments.stride + j;
        let mut estimates: Vec<f64> =
            pairs.iter().map(|pair| moments.x[place(*pair)] - moments.y[place(*pair)]).collect();
        factor.solve(&mut estimates);
        // A factor of one variable stands for one entry of D, any other for two.
        for (estimate, pair) in estimates.iter_mut().zip(pairs) {
            *estimate /= share(*pair);
        }
        if estimates.iter().chain(&inverse).any(|value| !value.is_finite()) {
            return None;
        }
        let mut variables: Vec<usize> = pairs.iter().flat_map(|(i, j)| [*i, *j]).collect();
        variables.sort_unstable();
        variables.dedup();
        Some(Self { pairs: pairs.to_vec(), variables, inverse, estimates })
    }

    /// `D S` on the rows of `variables`, where alone it is not zero.
    pub fn times(&self, moments: &[f64], stride: usize) -> Vec<f64> {
        let mut product = vec![0.0; self.variables.len() * stride];
        let place = |u: usize| self.variables.partition_point(|v| *v < u) * stride;
        let mut add = |to: usize, from: usize, value: f64| {
            let target = &mut product[place(to)..][..stride];
            let source = &moments[from * stride..][..stride];
            target.iter_mut().zip(source).for_each(|(t, s)| *t += value * s);
        };
        for ((i, j), value) in self.pairs.iter().zip(&self.estimates) {
            add(*i, *j, *value);
            if i != j {
                add(*j, *i, *value);
            }
        }
        product
    }
}

/// By how much an entry of `D` counts in the information of its factor.
pub fn share((i, j): (usize, usize)) -> f64 {
    if i == j {
        0.5
    } else {
        1.0
    }
}
