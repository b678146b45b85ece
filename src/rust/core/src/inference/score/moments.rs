//! Products of two standardised variables: the moments of all pairs up to the fourth powers.

use super::sample::Sample;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::simd::dispatch;
use crate::numerics::tiles::{tile, Panels, COLS, ROWS};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Means over a sample of products of a_i and a_j, for all edges in their order.
#[derive(Debug, Default)]
pub struct EdgeMoments {
    /// `a_i a_j`.
    pub product: Vec<f64>,
    /// `a_i^2 a_j^2`.
    pub squares: Vec<f64>,
    /// `a_i^3 a_j + a_i a_j^3`.
    pub cubes: Vec<f64>,
    /// `a_i^4 a_j^4`.
    pub fourths: Vec<f64>,
}

impl EdgeMoments {
    /// Five products of matrices in tiles; no matrix of them is stored.
    pub fn new(sample: &Sample, monitor: &Monitor) -> Result<Self> {
        let powers = Powers::new(sample);
        let blocks: Vec<Self> = (0..powers.right[0].len())
            .into_par_iter()
            .map(|block| {
                monitor.check()?;
                Ok(dispatch(Columns { powers: &powers, block }))
            })
            .collect::<Result<_>>()?;
        let mut all = Self::default();
        for block in blocks {
            all.product.extend(block.product);
            all.squares.extend(block.squares);
            all.cubes.extend(block.cubes);
            all.fourths.extend(block.fourths);
        }
        Ok(all)
    }
}

/// The mean fourth power of every variable.
pub fn fourth_moments(sample: &Sample) -> Vec<f64> {
    let mean = |u: usize| {
        sample.variable(u).iter().map(|a| (a * a) * (a * a)).sum::<f64>() / sample.rows() as f64
    };
    (0..sample.variables()).map(mean).collect()
}

/// The powers 1, 2, 3 and 4 of all variables.
struct Powers {
    rows: usize,
    variables: usize,
    left: [Panels<ROWS>; 4],
    right: [Panels<COLS>; 4],
}

impl Powers {
    fn new(sample: &Sample) -> Self {
        let (rows, variables) = (sample.rows(), sample.variables());
        Self { rows, variables, left: powers_of(sample), right: powers_of(sample) }
    }
}

/// Packed once: to bring values side by side takes longer than to multiply them.
fn powers_of<const WIDTH: usize>(sample: &Sample) -> [Panels<WIDTH>; 4] {
    let values = Panels::pack(sample.variables(), sample.rows(), |u| sample.variable(u), None);
    let squares = values.map(|a| a * a);
    let cubes = values.map(|a| a * (a * a));
    let fourths = values.map(|a| (a * a) * (a * a));
    [values, squares, cubes, fourths]
}

/// The edges of a block of `COLS` variables j with all i below them.
struct Columns<'a> {
    powers: &'a Powers,
    block: usize,
}

impl WithSimd for Columns<'_> {
    type Output = EdgeMoments;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> EdgeMoments {
        let Powers { rows, variables, left, right } = self.powers;
        let first = self.block * COLS;
        let width = COLS.min(variables - first);
        // Where the edges of each j begin.
        let mut starts = [0; COLS];
        let mut count = 0;
        for (c, start) in starts.iter_mut().enumerate().take(width) {
            *start = count;
            count += first + c;
        }
        let mut out = EdgeMoments {
            product: vec![0.0; count],
            squares: vec![0.0; count],
            cubes: vec![0.0; count],
            fourths: vec![0.0; count],
        };
        let scale = 1.0 / *rows as f64;
        let mut sums = [[0.0; ROWS * COLS]; 5];
        for panel in 0..(first + width).div_ceil(ROWS) {
            for (sums, (l, r)) in sums.iter_mut().zip([(0, 0), (1, 1), (2, 0), (0, 2), (3, 3)]) {
                tile(simd, left[l].panel(panel), right[r].panel(self.block), sums);
            }
            let top = panel * ROWS;
            for (c, start) in starts.iter().enumerate().take(width) {
                for r in 0..ROWS.min((first + c).saturating_sub(top)) {
                    let (from, to) = (c * ROWS + r, start + top + r);
                    out.product[to] = scale * sums[0][from];
                    out.squares[to] = scale * sums[1][from];
                    out.cubes[to] = scale * (sums[2][from] + sums[3][from]);
                    out.fourths[to] = scale * sums[4][from];
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::{edge_count, edge_index};
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn moments_are_plain_means_at_every_size() {
        for variables in [2, 7, 8, 9, 25, 33] {
            let rows = 11;
            let values = (0..rows * variables).map(|k| ((k * 7919 + 13) % 101) as f64).collect();
            let sample = Sample::new(values, rows);
            let got = EdgeMoments::new(&sample, &Monitor::new()).unwrap();
            assert_eq!(got.product.len(), edge_count(variables));
            for j in 1..variables {
                for i in 0..j {
                    let mean = |p: i32, q: i32| {
                        let pairs = sample.variable(i).iter().zip(sample.variable(j));
                        pairs.map(|(a, b)| a.powi(p) * b.powi(q)).sum::<f64>() / rows as f64
                    };
                    let e = edge_index(i, j);
                    assert!((got.product[e] - mean(1, 1)).abs() < 1e-12);
                    assert!((got.squares[e] - mean(2, 2)).abs() < 1e-12);
                    assert!((got.cubes[e] - mean(3, 1) - mean(1, 3)).abs() < 1e-12);
                    assert!((got.fourths[e] - mean(4, 4)).abs() < 1e-11);
                }
            }
        }
    }
}
