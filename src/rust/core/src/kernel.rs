//! Weighted cross-products in register tiles: the one kernel that costs time at scale.
//!
//! Both factors of a product are packed into *panels*: `ROWS` (or `COLS`) variables side by side,
//! sample after sample, so that the inner loop reads memory straight through. A tile of
//! `ROWS x COLS` sums stays in registers, and whoever asked looks at it before the next one is
//! made: no matrix of all products ever exists.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Variables side by side in a left panel: three AVX-512 registers.
pub const ROWS: usize = 24;
/// Variables side by side in a right panel: one cache line, and with `ROWS` 24 running sums in 32
/// registers. (16 x 12 has as many sums and reads half as much again from the level-2 cache.)
pub const COLS: usize = 8;

/// The sums of one tile, `ROWS` values for each of the `COLS` columns.
pub type Tile = [f64; ROWS * COLS];

/// Variables packed side by side, `WIDTH` to a panel, zeros after the last.
#[derive(Debug)]
pub struct Panels<const WIDTH: usize> {
    depth: usize,
    count: usize,
    /// Where the first panel starts in `values`: a register's load must not straddle cache lines.
    start: usize,
    values: Vec<f64>,
}

/// Doubles in a cache line.
const LINE: usize = 8;

impl<const WIDTH: usize> Panels<WIDTH> {
    /// Pack `count` variables of `depth` values each; `variable(u)` gives the values of one, and
    /// `weights` (where given) multiply them value by value.
    pub fn pack<'a>(
        count: usize,
        depth: usize,
        variable: impl Fn(usize) -> &'a [f64] + Sync,
        weights: Option<&[f64]>,
    ) -> Self {
        let panels = count.div_ceil(WIDTH);
        let mut values = vec![0.0; panels * depth * WIDTH + LINE];
        let start = (LINE - values.as_ptr() as usize / size_of::<f64>() % LINE) % LINE;
        let pack_one = |(index, panel): (usize, &mut [f64])| {
            let first = index * WIDTH;
            let columns: Vec<&[f64]> = (first..count.min(first + WIDTH)).map(&variable).collect();
            for (row, slots) in panel.chunks_exact_mut(WIDTH).enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[row]);
                for (slot, column) in slots.iter_mut().zip(&columns) {
                    *slot = weight * column[row];
                }
            }
        };
        values[start..start + panels * depth * WIDTH]
            .par_chunks_mut((depth * WIDTH).max(1))
            .enumerate()
            .for_each(pack_one);
        Self { depth, count: panels, start, values }
    }

    /// How many panels there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no panel.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The packed values of one panel.
    pub fn panel(&self, index: usize) -> &[f64] {
        &self.values[self.start + index * self.depth * WIDTH..][..self.depth * WIDTH]
    }
}

/// One tile: `out[c * ROWS + r] = sum_k left[k][r] * right[k][c]`.
#[inline(always)]
pub fn tile<S: Simd>(simd: S, left: &[f64], right: &[f64], out: &mut Tile) {
    // The whole tile where 32 wide registers hold it, otherwise quarters of 12 x 4 sums.
    if S::F64_LANES * 3 == ROWS {
        corner::<S, 3, COLS>(simd, left, right, 0, 0, out);
        return;
    }
    for row in [0, ROWS / 2] {
        for col in [0, COLS / 2] {
            match S::F64_LANES {
                4 => corner::<S, 3, { COLS / 2 }>(simd, left, right, row, col, out),
                2 => corner::<S, 6, { COLS / 2 }>(simd, left, right, row, col, out),
                _ => corner::<S, 12, { COLS / 2 }>(simd, left, right, row, col, out),
            }
        }
    }
}

/// `VECTORS` registers by `WIDTH` columns of a tile, from (row, col) on.
#[inline(always)]
fn corner<S: Simd, const VECTORS: usize, const WIDTH: usize>(
    simd: S,
    left: &[f64],
    right: &[f64],
    row: usize,
    col: usize,
    out: &mut Tile,
) {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; WIDTH];
    let (left, _) = left.as_chunks::<ROWS>();
    let (right, _) = right.as_chunks::<COLS>();
    for (l, r) in left.iter().zip(right) {
        let (vectors, _) = S::as_simd_f64s(&l[row..]);
        let mut values = [simd.splat_f64s(0.0); VECTORS];
        values.copy_from_slice(&vectors[..VECTORS]);
        for (sum, factor) in sums.iter_mut().zip(&r[col..col + WIDTH]) {
            let factor = simd.splat_f64s(*factor);
            for (s, v) in sum.iter_mut().zip(&values) {
                *s = simd.mul_add_e_f64s(*v, factor, *s);
            }
        }
    }
    for (c, sum) in sums.iter().enumerate() {
        let target = &mut out[(col + c) * ROWS + row..][..VECTORS * S::F64_LANES];
        let (target, _) = S::as_mut_simd_f64s(target);
        target.copy_from_slice(sum);
    }
}

/// The lower triangle (row by row, `count x count`) of `left right'` over all panels.
pub struct Gram<'a> {
    /// How many variables the panels hold.
    pub count: usize,
    /// The variables as rows.
    pub left: &'a Panels<ROWS>,
    /// The same variables as columns.
    pub right: &'a Panels<COLS>,
    /// The first row of `out`, and how many of its rows to fill; `first` divides by `ROWS`.
    pub first: usize,
    /// Rows `first..` of the matrix, row by row.
    pub out: &'a mut [f64],
}

impl WithSimd for Gram<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut sums = [0.0; ROWS * COLS];
        let rows = self.out.len() / self.count;
        for block in 0..rows.div_ceil(ROWS) {
            let top = block * ROWS;
            let height = ROWS.min(rows - top);
            let left = self.left.panel(self.first / ROWS + block);
            for column in 0..self.right.len() {
                let start = column * COLS;
                if start > self.first + top + height - 1 {
                    break;
                }
                tile(simd, left, self.right.panel(column), &mut sums);
                let width = COLS.min(self.count - start);
                for r in 0..height {
                    let row = &mut self.out[(top + r) * self.count + start..][..width];
                    for (c, target) in row.iter_mut().enumerate() {
                        *target = sums[c * ROWS + r];
                    }
                }
            }
        }
    }
}
