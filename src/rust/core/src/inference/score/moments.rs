//! Products of two standardised variables: the moments of all pairs up to the fourth powers.

use super::edge_count;
use super::sample::Sample;
use crate::error::{Error, Result};
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
        let mut all = Self::zeros(edge_count(sample.variables()));
        let parts: Vec<_> = all.blocks(sample.variables()).into_iter().enumerate().collect();
        parts.into_par_iter().try_for_each(|(block, out)| {
            monitor.check()?;
            dispatch(Columns { powers: &powers, block, out });
            Ok::<_, Error>(())
        })?;
        Ok(all)
    }

    fn zeros(edges: usize) -> Self {
        let zeros = || vec![0.0; edges];
        Self { product: zeros(), squares: zeros(), cubes: zeros(), fourths: zeros() }
    }

    /// The part of each block of `COLS` variables j: edges of one j lie side by side.
    fn blocks(&mut self, variables: usize) -> Vec<[&mut [f64]; 4]> {
        let mut rest = [
            &mut self.product[..],
            &mut self.squares[..],
            &mut self.cubes[..],
            &mut self.fourths[..],
        ];
        let mut blocks = Vec::with_capacity(variables.div_ceil(COLS));
        for first in (0..variables).step_by(COLS) {
            let count = edge_count(variables.min(first + COLS)) - edge_count(first);
            let halves = rest.map(|part| part.split_at_mut(count));
            let [a, b, c, d] = halves;
            blocks.push([a.0, b.0, c.0, d.0]);
            rest = [a.1, b.1, c.1, d.1];
        }
        blocks
    }
}

/// The mean fourth power of every variable.
pub fn fourth_moments(sample: &Sample) -> Vec<f64> {
    let mean = |u: usize| {
        sample.variable(u).iter().map(|a| (a * a) * (a * a)).sum::<f64>() / sample.rows() as f64
    };
    (0..sample.variables()).map(mean).collect()
}

/// The powers 1, 2, 3 and 4 of all variables. Packed once: to bring values side by side takes longer than
/// to multiply them.
struct Powers {
    rows: usize,
    variables: usize,
    panels: [Panels<ROWS>; 4],
}

impl Powers {
    fn new(sample: &Sample) -> Self {
        let (rows, variables) = (sample.rows(), sample.variables());
        let values = Panels::pack(variables, rows, |u| sample.variable(u), None);
        let squares = values.map(|a| a * a);
        let cubes = values.map(|a| a * (a * a));
        let fourths = values.map(|a| (a * a) * (a * a));
        Self { rows, variables, panels: [values, squares, cubes, fourths] }
    }

    /// The same of the `COLS` variables from `first` on, as the right sides of tiles: made where they are
    /// used, as to keep those of all variables would take as much memory again.
    fn right(&self, first: usize) -> [Vec<f64>; 4] {
        let (panel, lane) = (first / ROWS, first % ROWS);
        self.panels.each_ref().map(|panels| {
            let mut right = Vec::with_capacity(self.rows * COLS);
            for row in panels.panel(panel).chunks_exact(ROWS) {
                right.extend_from_slice(&row[lane..lane + COLS]);
            }
            right
        })
    }
}

/// The edges of a block of `COLS` variables j with all i below them.
struct Columns<'a> {
    powers: &'a Powers,
    block: usize,
    /// Where products, squares, cubes and fourth powers go.
    out: [&'a mut [f64]; 4],
}

impl WithSimd for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Powers { rows, variables, panels } = self.powers;
        let [product, squares, cubes, fourths] = self.out;
        let first = self.block * COLS;
        let width = COLS.min(variables - first);
        let right = self.powers.right(first);
        let scale = 1.0 / *rows as f64;
        let mut sums = [[0.0; ROWS * COLS]; 5];
        for panel in 0..(first + width).div_ceil(ROWS) {
            for (sums, (l, r)) in sums.iter_mut().zip([(0, 0), (1, 1), (2, 0), (0, 2), (3, 3)]) {
                tile(simd, panels[l].panel(panel), &right[r], sums);
            }
            // Both cubes are one number.
            let [_, _, cube, other, _] = &mut sums;
            for (cube, other) in cube.iter_mut().zip(&*other) {
                *cube += other;
            }
            let top = panel * ROWS;
            let mut start = top;
            for c in 0..width {
                let count = ROWS.min((first + c).saturating_sub(top));
                if count > 0 {
                    let at = c * ROWS..c * ROWS + count;
                    put(scale, &sums[0][at.clone()], &mut product[start..]);
                    put(scale, &sums[1][at.clone()], &mut squares[start..]);
                    put(scale, &sums[2][at.clone()], &mut cubes[start..]);
                    put(scale, &sums[4][at], &mut fourths[start..]);
                }
                start += first + c;
            }
        }
    }
}

/// `scale` times some values.
#[inline(always)]
fn put(scale: f64, values: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = scale * value;
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
