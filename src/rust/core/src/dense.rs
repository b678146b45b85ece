//! Small dense systems: Cholesky and its solves, lower triangles row by row.

use crate::simd::{axpy, dispatch, dot};
use pulp::{Simd, WithSimd};

/// A Cholesky factor: the lower triangle, row by row in a full matrix.
pub struct Cholesky {
    size: usize,
    factor: Vec<f64>,
}

impl Cholesky {
    /// Factor the symmetric matrix whose lower triangle is given; `None` if it is not positive definite.
    pub fn new(mut matrix: Vec<f64>, size: usize) -> Option<Self> {
        dispatch(Factor { matrix: &mut matrix, size }).then_some(Self { size, factor: matrix })
    }

    /// Solve with the matrix, in place.
    pub fn solve(&self, rhs: &mut [f64]) {
        dispatch(Forward { factor: &self.factor, size: self.size, rhs });
        self.solve_transposed(rhs);
    }

    /// Solve with the transposed factor alone, in place.
    pub fn solve_transposed(&self, rhs: &mut [f64]) {
        dispatch(Backward { factor: &self.factor, size: self.size, rhs });
    }
}

struct Factor<'a> {
    matrix: &'a mut [f64],
    size: usize,
}

impl WithSimd for Factor<'_> {
    type Output = bool;

    /// Row by row: `l_ij = (a_ij - l_i' l_j) / l_jj` over the columns before j.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let size = self.size;
        for i in 0..size {
            let (above, rest) = self.matrix.split_at_mut(i * size);
            let row = &mut rest[..size];
            let mut j = 0;
            // Four columns at a time share the loads of this row.
            while j + 4 <= i {
                let rows = [
                    &above[j * size..][..j + 4],
                    &above[(j + 1) * size..][..j + 4],
                    &above[(j + 2) * size..][..j + 4],
                    &above[(j + 3) * size..][..j + 4],
                ];
                let sums = dot4(simd, &row[..j], rows);
                for c in 0..4 {
                    let mut value = row[j + c] - sums[c];
                    for k in 0..c {
                        value -= row[j + k] * rows[c][j + k];
                    }
                    row[j + c] = value / rows[c][j + c];
                }
                j += 4;
            }
            while j < i {
                let other = &above[j * size..][..j + 1];
                row[j] = (row[j] - dot(simd, &row[..j], &other[..j])) / other[j];
                j += 1;
            }
            let pivot = row[i] - dot(simd, &row[..i], &row[..i]);
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            row[i] = pivot.sqrt();
        }
        true
    }
}

/// The inner products of one vector with the beginnings of four others.
#[inline(always)]
fn dot4<S: Simd>(simd: S, a: &[f64], others: [&[f64]; 4]) -> [f64; 4] {
    let (vectors, tail) = S::as_simd_f64s(a);
    let split = a.len() - tail.len();
    let (b0, _) = S::as_simd_f64s(&others[0][..split]);
    let (b1, _) = S::as_simd_f64s(&others[1][..split]);
    let (b2, _) = S::as_simd_f64s(&others[2][..split]);
    let (b3, _) = S::as_simd_f64s(&others[3][..split]);
    let mut sums = [simd.splat_f64s(0.0); 4];
    for ((((x, y0), y1), y2), y3) in vectors.iter().zip(b0).zip(b1).zip(b2).zip(b3) {
        sums[0] = simd.mul_add_e_f64s(*x, *y0, sums[0]);
        sums[1] = simd.mul_add_e_f64s(*x, *y1, sums[1]);
        sums[2] = simd.mul_add_e_f64s(*x, *y2, sums[2]);
        sums[3] = simd.mul_add_e_f64s(*x, *y3, sums[3]);
    }
    let mut totals = [0.0; 4];
    for c in 0..4 {
        totals[c] = simd.reduce_sum_f64s(sums[c]);
        for (x, y) in tail.iter().zip(&others[c][split..]) {
            totals[c] += x * y;
        }
    }
    totals
}

struct Forward<'a> {
    factor: &'a [f64],
    size: usize,
    rhs: &'a mut [f64],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for i in 0..self.size {
            let row = &self.factor[i * self.size..][..i + 1];
            let sum = dot(simd, &row[..i], &self.rhs[..i]);
            self.rhs[i] = (self.rhs[i] - sum) / row[i];
        }
    }
}

struct Backward<'a> {
    factor: &'a [f64],
    size: usize,
    rhs: &'a mut [f64],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for i in (0..self.size).rev() {
            let row = &self.factor[i * self.size..][..i + 1];
            let (head, tail) = self.rhs.split_at_mut(i);
            tail[0] /= row[i];
            axpy(simd, -tail[0], &row[..i], head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_solves() {
        for size in [1, 2, 5, 9, 40] {
            let entry = |i: usize, j: usize| {
                let off = ((i * j * 31 + i + j) % 17) as f64 / 17.0;
                if i == j {
                    size as f64 + off
                } else {
                    off
                }
            };
            let matrix: Vec<f64> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
            let truth: Vec<f64> = (0..size).map(|i| i as f64 - 2.5).collect();
            let mut rhs: Vec<f64> = (0..size)
                .map(|i| (0..size).map(|j| entry(i.max(j), i.min(j)) * truth[j]).sum())
                .collect();
            Cholesky::new(matrix, size).unwrap().solve(&mut rhs);
            for (got, want) in rhs.iter().zip(&truth) {
                assert!((got - want).abs() < 1e-12 * size as f64);
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        assert!(Cholesky::new(vec![1.0, 0.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::new(vec![f64::NAN], 1).is_none());
    }
}
