//! Weighted cross-products in register tiles: the one kernel that costs time at scale.
//!
//! Both factors of a product are packed into *panels*: `ROWS` (or `COLS`) variables side by side,
//! sample after sample, so that the inner loop reads memory straight through. A tile of
//! `ROWS x COLS` sums stays in registers, and whoever asked looks at it before the next one is
//! made: no matrix of all products ever exists.

use crate::numerics::simd::{dispatch, Number};
use pulp::{as_arrays, as_arrays_mut, Simd, WithSimd};
use rayon::prelude::*;

/// Variables side by side in a left panel: three AVX-512 registers.
pub const ROWS: usize = 24;
/// Variables side by side in a right panel: one cache line, and with `ROWS` 24 running sums in 32
/// registers. (16 x 12 has as many sums and reads half as much again from the level-2 cache.)
pub const COLS: usize = 8;

/// Variables side by side in a left panel in single precision: as many registers.
pub const SINGLE_ROWS: usize = 2 * ROWS;

/// The sums of one tile, `ROWS` values for each of the `COLS` columns.
pub type Tile = [f64; ROWS * COLS];

/// Variables packed side by side, `WIDTH` to a panel, zeros after the last.
#[derive(Debug)]
pub struct Panels<const WIDTH: usize, T = f64> {
    depth: usize,
    count: usize,
    /// Where the first panel starts in `values`: a register's load must not straddle cache lines.
    start: usize,
    values: Vec<T>,
}

/// Bytes in a cache line.
const LINE: usize = 64;

/// How many values into a buffer its first whole cache line starts.
fn line_start<T>(buffer: &[T]) -> usize {
    (LINE - buffer.as_ptr() as usize % LINE) % LINE / size_of::<T>()
}

impl<const WIDTH: usize, T: Copy + Default + Send + Sync> Panels<WIDTH, T> {
    /// Make the panels, each filled by `fill(first variable, how many, panel)`.
    pub fn build(count: usize, depth: usize, fill: impl Fn(usize, usize, &mut [T]) + Sync) -> Self {
        Self::build_in(Vec::new(), count, depth, fill)
    }

    /// The same in the room of values that are no longer needed: new room would come from the system
    /// page by page. What `fill` leaves alone keeps what was there, but for zeros after the last.
    pub fn build_in(
        mut values: Vec<T>,
        count: usize,
        depth: usize,
        fill: impl Fn(usize, usize, &mut [T]) + Sync,
    ) -> Self {
        let panels = count.div_ceil(WIDTH);
        values.resize(panels * depth * WIDTH + LINE / size_of::<T>(), T::default());
        let start = line_start(&values);
        let body = &mut values[start..start + panels * depth * WIDTH];
        body.par_chunks_mut((depth * WIDTH).max(1)).enumerate().for_each(|(index, panel)| {
            let first = index * WIDTH;
            if count - first < WIDTH {
                panel.fill(T::default());
            }
            fill(first, WIDTH.min(count - first), panel);
        });
        Self { depth, count: panels, start, values }
    }

    /// The room of these panels.
    pub fn into_room(self) -> Vec<T> {
        self.values
    }

    /// How many values each variable has.
    pub fn depth(&self) -> usize {
        self.depth
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
    pub fn panel(&self, index: usize) -> &[T] {
        &self.values[self.start + index * self.depth * WIDTH..][..self.depth * WIDTH]
    }
}

impl<const WIDTH: usize> Panels<WIDTH> {
    /// Pack `count` variables of `depth` values each; `variable(u)` gives the values of one, and
    /// `weights` (where given) multiply them value by value.
    pub fn pack<'a>(
        count: usize,
        depth: usize,
        variable: impl Fn(usize) -> &'a [f64] + Sync,
        weights: Option<&[f64]>,
    ) -> Self {
        Self::build(count, depth, |first, width, panel| {
            let columns: Vec<&[f64]> = (first..first + width).map(&variable).collect();
            for (row, slots) in panel.chunks_exact_mut(WIDTH).enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[row]);
                for (slot, column) in slots.iter_mut().zip(&columns) {
                    *slot = weight * column[row];
                }
            }
        })
    }

    /// The same from a matrix given row by row: `row(k)` holds value `k` of every variable, and
    /// `scale(k)` multiplies it.
    pub fn pack_rows<'a>(
        count: usize,
        depth: usize,
        row: impl Fn(usize) -> &'a [f64] + Sync,
        scale: impl Fn(usize) -> f64 + Sync,
    ) -> Self {
        Self::build(count, depth, |first, width, panel| {
            let (rows, _) = as_arrays_mut::<WIDTH, _>(panel);
            for (k, slots) in rows.iter_mut().enumerate() {
                let factor = scale(k);
                let values = &row(k)[first..first + width];
                // Of a whole panel the compiler knows how many there are.
                match as_arrays::<WIDTH, _>(values).0 {
                    [whole] => *slots = whole.map(|x| factor * x),
                    _ => slots.iter_mut().zip(values).for_each(|(slot, x)| *slot = factor * x),
                }
            }
        })
    }

    /// The same panels with value `k` of every variable times `weights[k]`.
    pub fn weighted(&self, weights: &[f64]) -> Self {
        Self::build(self.count * WIDTH, self.depth, |first, _, panel| {
            let source = self.panel(first / WIDTH).chunks_exact(WIDTH);
            for ((slots, values), weight) in panel.chunks_exact_mut(WIDTH).zip(source).zip(weights)
            {
                slots.iter_mut().zip(values).for_each(|(slot, x)| *slot = weight * x);
            }
        })
    }

    /// The same panels with every value replaced by a function of it, which must leave zeros zero.
    pub fn map(&self, function: impl Fn(f64) -> f64 + Sync) -> Self {
        Self::build(self.count * WIDTH, self.depth, |first, _, panel| {
            let source = self.panel(first / WIDTH);
            panel.iter_mut().zip(source).for_each(|(slot, x)| *slot = function(*x));
        })
    }
}

impl Panels<ROWS> {
    /// The inner product of two variables.
    pub fn product_of(&self, u: usize, v: usize) -> f64 {
        let values = |u: usize| self.panel(u / ROWS)[u % ROWS..].iter().step_by(ROWS);
        values(u).zip(values(v)).map(|(a, b)| a * b).sum()
    }
}

/// One tile: `out[c * ROWS + r] = sum_k left[k][r] * right[k][c]`.
#[inline(always)]
pub fn tile<S: Simd>(simd: S, left: &[f64], right: &[f64], out: &mut Tile) {
    tile_rows(simd, ROWS, left, right, out);
}

/// The same of the first `height` rows; some of the others may be made, too.
#[inline(always)]
pub fn tile_rows<S: Simd>(simd: S, height: usize, left: &[f64], right: &[f64], out: &mut Tile) {
    // The whole tile where 32 wide registers hold it, otherwise quarters of 12 x 4 sums.
    if S::F64_LANES * 3 == ROWS {
        match height.div_ceil(S::F64_LANES) {
            1 => corner::<S, f64, ROWS, 1, COLS>(simd, left, right, 0, 0, out),
            2 => corner::<S, f64, ROWS, 2, COLS>(simd, left, right, 0, 0, out),
            _ => corner::<S, f64, ROWS, 3, COLS>(simd, left, right, 0, 0, out),
        }
        return;
    }
    for row in (0..height.min(ROWS)).step_by(ROWS / 2) {
        for col in [0, COLS / 2] {
            match S::F64_LANES {
                4 => corner::<S, f64, ROWS, 3, { COLS / 2 }>(simd, left, right, row, col, out),
                2 => corner::<S, f64, ROWS, 6, { COLS / 2 }>(simd, left, right, row, col, out),
                _ => corner::<S, f64, ROWS, 12, { COLS / 2 }>(simd, left, right, row, col, out),
            }
        }
    }
}

/// The same in single precision, with twice the rows.
#[inline(always)]
pub fn single_tile<S: Simd>(simd: S, left: &[f32], right: &[f32], out: &mut [f32]) {
    const R: usize = SINGLE_ROWS;
    if S::F32_LANES * 3 == R {
        corner::<S, f32, R, 3, COLS>(simd, left, right, 0, 0, out);
        return;
    }
    for row in [0, R / 2] {
        for col in [0, COLS / 2] {
            match S::F32_LANES {
                8 => corner::<S, f32, R, 3, { COLS / 2 }>(simd, left, right, row, col, out),
                4 => corner::<S, f32, R, 6, { COLS / 2 }>(simd, left, right, row, col, out),
                _ => corner::<S, f32, R, 24, { COLS / 2 }>(simd, left, right, row, col, out),
            }
        }
    }
}

/// `VECTORS` registers by `WIDTH` columns of a tile of `HEIGHT` rows, from (row, col) on.
#[inline(always)]
fn corner<S: Simd, T: Number, const HEIGHT: usize, const VECTORS: usize, const WIDTH: usize>(
    simd: S,
    left: &[T],
    right: &[T],
    row: usize,
    col: usize,
    out: &mut [T],
) {
    let zero = T::splat(simd, T::default());
    let mut sums = [[zero; VECTORS]; WIDTH];
    let (left, _) = as_arrays::<HEIGHT, _>(left);
    let (right, _) = as_arrays::<COLS, _>(right);
    for (l, r) in left.iter().zip(right) {
        let (vectors, _) = T::vectors::<S>(&l[row..]);
        let mut values = [zero; VECTORS];
        values.copy_from_slice(&vectors[..VECTORS]);
        for (sum, factor) in sums.iter_mut().zip(&r[col..col + WIDTH]) {
            let factor = T::splat(simd, *factor);
            for (s, v) in sum.iter_mut().zip(&values) {
                *s = T::mul_add(simd, *v, factor, *s);
            }
        }
    }
    for (c, sum) in sums.iter().enumerate() {
        let (target, _) = T::vectors_mut::<S>(&mut out[(col + c) * HEIGHT + row..]);
        target[..VECTORS].copy_from_slice(sum);
    }
}

/// Rows of a Gram matrix that are made in one task: two blocks.
pub const TASK_ROWS: usize = 2 * ROWS;

/// Add the lower triangle of `left right'` to a full `count x count` matrix, row by row; what stands
/// above the diagonal is left undefined. Both sides hold the same `count` variables.
pub fn add_gram(count: usize, left: &Panels<ROWS>, right: &Panels<COLS>, out: &mut [f64]) {
    out.par_chunks_mut((TASK_ROWS * count).max(1)).enumerate().for_each(|(task, rows)| {
        add_gram_rows(count, left, right, task * TASK_ROWS, rows);
    });
}

/// The same for the rows from `first` on, a multiple of `ROWS`.
pub fn add_gram_rows(
    count: usize,
    left: &Panels<ROWS>,
    right: &Panels<COLS>,
    first: usize,
    rows: &mut [f64],
) {
    dispatch(GramRows { count, left, right, block: first / ROWS, rows });
}

struct GramRows<'a> {
    count: usize,
    left: &'a Panels<ROWS>,
    right: &'a Panels<COLS>,
    block: usize,
    rows: &'a mut [f64],
}

impl WithSimd for GramRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut sums = [0.0; ROWS * COLS];
        for (offset, rows) in self.rows.chunks_mut(ROWS * self.count).enumerate() {
            let block = self.block + offset;
            let last = block * ROWS + rows.len() / self.count;
            let height = rows.len() / self.count;
            for column in 0..last.div_ceil(COLS) {
                let right = self.right.panel(column);
                tile_rows(simd, height, self.left.panel(block), right, &mut sums);
                let start = column * COLS;
                let width = COLS.min(self.count - start);
                for (r, row) in rows.chunks_exact_mut(self.count).enumerate() {
                    for (c, target) in row[start..start + width].iter_mut().enumerate() {
                        *target += sums[c * ROWS + r];
                    }
                }
            }
        }
    }
}

/// The same in single precision, for the rows of one left panel.
pub fn add_single_gram_rows(
    count: usize,
    left: &Panels<SINGLE_ROWS, f32>,
    right: &Panels<COLS, f32>,
    first: usize,
    rows: &mut [f32],
) {
    let left = left.panel(first / SINGLE_ROWS);
    dispatch(SingleGramRows { count, left, right, first, rows });
}

struct SingleGramRows<'a> {
    count: usize,
    left: &'a [f32],
    right: &'a Panels<COLS, f32>,
    first: usize,
    rows: &'a mut [f32],
}

impl WithSimd for SingleGramRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { count, left, right, first, rows } = self;
        let mut sums = [0.0; SINGLE_ROWS * COLS];
        let last = first + rows.len() / count;
        for column in 0..last.div_ceil(COLS) {
            single_tile(simd, left, right.panel(column), &mut sums);
            let start = column * COLS;
            let width = COLS.min(count - start);
            for (r, row) in rows.chunks_exact_mut(count).enumerate() {
                for (c, target) in row[start..start + width].iter_mut().enumerate() {
                    *target += sums[c * SINGLE_ROWS + r];
                }
            }
        }
    }
}

/// `left right'` of `rows` by `columns` variables with the same values, row by row.
pub fn product(rows: usize, columns: usize, left: &Panels<ROWS>, right: &Panels<COLS>) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    out.par_chunks_mut((ROWS * columns).max(1)).enumerate().for_each(|(block, part)| {
        dispatch(ProductRows { columns, left: left.panel(block), right, rows: part });
    });
    out
}

struct ProductRows<'a> {
    columns: usize,
    left: &'a [f64],
    right: &'a Panels<COLS>,
    rows: &'a mut [f64],
}

impl WithSimd for ProductRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut sums = [0.0; ROWS * COLS];
        for column in 0..self.right.len() {
            tile(simd, self.left, self.right.panel(column), &mut sums);
            let start = column * COLS;
            let width = COLS.min(self.columns - start);
            for (r, row) in self.rows.chunks_exact_mut(self.columns).enumerate() {
                for (c, target) in row[start..start + width].iter_mut().enumerate() {
                    *target = sums[c * ROWS + r];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize, depth: usize) -> Vec<f64> {
        (0..count * depth).map(|i| ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn gram_is_the_matrix_of_inner_products() {
        for (count, depth) in [(1, 1), (7, 3), (24, 8), (53, 31)] {
            let matrix = values(count, depth);
            let variable = |u: usize| &matrix[u * depth..][..depth];
            let left = Panels::pack(count, depth, variable, None);
            let right = Panels::pack(count, depth, variable, None);
            let mut product = vec![0.0; count * count];
            add_gram(count, &left, &right, &mut product);
            for i in 0..count {
                for j in 0..=i {
                    let plain: f64 = variable(i).iter().zip(variable(j)).map(|(a, b)| a * b).sum();
                    assert!((product[i * count + j] - plain).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn single_precision_adds_the_same_products_but_for_rounding() {
        for (count, depth) in [(1, 1), (53, 31), (101, 40)] {
            let matrix = values(count, depth);
            let single = |first: usize, width: usize, panel: &mut [f32], side: usize| {
                for (k, slots) in panel.chunks_exact_mut(side).enumerate() {
                    for (u, slot) in (first..first + width).zip(slots) {
                        *slot = matrix[u * depth + k] as f32;
                    }
                }
            };
            let left =
                Panels::build(count, depth, |first, w, out| single(first, w, out, SINGLE_ROWS));
            let right = Panels::build(count, depth, |first, w, out| single(first, w, out, COLS));
            // What was in the room before leaves no trace.
            let room = vec![7.0; left.panel(0).len()];
            let again: Panels<SINGLE_ROWS, f32> =
                Panels::build_in(room, count, depth, |f, w, out| single(f, w, out, SINGLE_ROWS));
            assert_eq!(left.panel(0), again.panel(0));
            let double = Panels::pack(count, depth, |u| &matrix[u * depth..][..depth], None);
            let mut product = vec![1.0_f32; count * count];
            for (task, rows) in product.chunks_mut(SINGLE_ROWS * count).enumerate() {
                add_single_gram_rows(count, &left, &right, task * SINGLE_ROWS, rows);
            }
            for i in 0..count {
                for j in 0..=i {
                    let exact = double.product_of(i, j);
                    assert!((f64::from(product[i * count + j]) - 1.0 - exact).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn product_is_the_matrix_of_inner_products_of_two_sets() {
        for (rows, columns, depth) in [(1, 1, 1), (7, 30, 3), (53, 9, 31)] {
            let (a, b) = (values(rows, depth), values(columns, depth));
            let left = Panels::pack(rows, depth, |u| &a[u * depth..][..depth], None);
            let right = Panels::pack(columns, depth, |u| &b[u * depth..][..depth], None);
            let out = product(rows, columns, &left, &right);
            for (i, x) in a.chunks_exact(depth).enumerate() {
                for (j, y) in b.chunks_exact(depth).enumerate() {
                    let plain: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
                    assert!((out[i * columns + j] - plain).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn packing_by_rows_is_packing_the_transpose() {
        let (count, depth) = (29, 17);
        let matrix = values(count, depth);
        let mut transposed = vec![0.0; count * depth];
        for u in 0..count {
            for k in 0..depth {
                transposed[k * count + u] = matrix[u * depth + k];
            }
        }
        let by_variable =
            Panels::<ROWS>::pack(count, depth, |u| &matrix[u * depth..][..depth], None);
        let by_row =
            Panels::<ROWS>::pack_rows(count, depth, |k| &transposed[k * count..][..count], |_| 1.0);
        for index in 0..by_row.len() {
            assert_eq!(by_row.panel(index), by_variable.panel(index));
        }
    }
}
