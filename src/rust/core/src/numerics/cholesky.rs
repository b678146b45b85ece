//! Small dense systems: Cholesky and its solves, lower triangles row by row.

use crate::numerics::simd::{axpy, dispatch, dot};
use crate::numerics::tiles::{single_tile, tile, tile_rows, Panels, COLS, ROWS, SINGLE_ROWS};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// A Cholesky factor, kept in panels of `ROWS` rows: column after column, its rows side by side.
pub struct Cholesky {
    size: usize,
    depth: usize,
    panels: Vec<f64>,
}

impl Cholesky {
    /// Factor the symmetric matrix whose lower triangle is given, row by row in a full matrix; `None`
    /// if it is not positive definite.
    pub fn new(matrix: &[f64], size: usize) -> Option<Self> {
        let depth = size.div_ceil(COLS) * COLS;
        let mut panels = vec![0.0; size.div_ceil(ROWS) * depth * ROWS];
        let factored = dispatch(Factor { matrix, size, depth, panels: &mut panels });
        factored.then_some(Self { size, depth, panels })
    }

    /// Solve with the matrix, in place.
    pub fn solve(&self, rhs: &mut [f64]) {
        self.solve_lower(rhs);
        self.solve_transposed(rhs);
    }

    /// Solve with the factor alone, in place.
    pub fn solve_lower(&self, rhs: &mut [f64]) {
        dispatch(Forward { factor: self, rhs });
    }

    /// Solve with the factor alone for every row of a matrix, in place.
    pub fn solve_lower_rows(&self, rows: &mut [f64]) {
        let steps = self.column_steps();
        rows.par_chunks_mut((ROWS * self.size).max(1)).for_each(|rows| {
            dispatch(ForwardRows { factor: self, steps: &steps, rows });
        });
    }

    /// The solutions with the factor alone for `count` right-hand sides, each `scale` times what
    /// `side(u)` gives.
    pub fn solve_lower_panels<'a>(
        &self,
        count: usize,
        side: impl Fn(usize) -> &'a [f64] + Sync,
        scale: f64,
    ) -> Panels<ROWS> {
        let steps = self.column_steps();
        Panels::build(count, self.size, |first, width, panel| {
            let sides: Vec<&[f64]> = (first..first + width).map(&side).collect();
            for (k, slots) in panel.chunks_exact_mut(ROWS).enumerate() {
                for (slot, side) in slots.iter_mut().zip(&sides) {
                    *slot = scale * side[k];
                }
            }
            dispatch(ForwardPanel { size: self.size, steps: &steps, panel });
        })
    }

    /// The inverse of the matrix, full. With F the factor, it is the Gram matrix of the columns of
    /// `F^-1`, of which the i-th starts with i zeros.
    pub fn inverse(&self) -> Vec<f64> {
        let Self { size, depth, .. } = *self;
        let columns = self.inverse_columns();
        let mut inverse = vec![0.0; size * size];
        let rows = inverse.par_chunks_mut((ROWS * size).max(1)).enumerate();
        rows.for_each(|(block, rows)| {
            dispatch(InverseRows { size, depth, columns: &columns, block, rows });
        });
        mirror(&mut inverse, size);
        inverse
    }

    /// The columns of the inverse factor, in panels of `ROWS` columns: row after row, side by side.
    fn inverse_columns(&self) -> Vec<f64> {
        let Self { size, depth, .. } = *self;
        let steps = self.column_steps();
        let mut columns = vec![0.0; size.div_ceil(ROWS) * depth * ROWS];
        let blocks = columns.par_chunks_mut((depth * ROWS).max(1)).enumerate();
        blocks.for_each(|(block, solved)| {
            dispatch(InverseColumns { size, steps: &steps, top: block * ROWS, solved });
        });
        columns
    }

    /// The inverse of the factor in single precision.
    pub fn single_inverse(&self) -> SingleInverse {
        let Self { size, depth, .. } = *self;
        let columns = self.inverse_columns();
        let entry = |i: usize, k: usize| columns[((k / ROWS) * depth + i) * ROWS + k % ROWS];
        let mut squares = 0.0;
        let mut step = |first: usize| {
            let width = COLS.min(size - first);
            let mut right = vec![0.0; (first + width) * COLS];
            for (c, i) in (first..first + width).enumerate() {
                let mut square = 0.0;
                for (k, slots) in right.chunks_exact_mut(COLS).enumerate().take(i + 1) {
                    let value = entry(i, k);
                    square += value * value;
                    slots[c] = value as f32;
                }
                // Both sides are rounded, and each of i + 1 products and sums.
                squares += ((i + 4) as f64).powi(2) * square;
            }
            right
        };
        let steps = (0..size).step_by(COLS).map(&mut step).collect();
        let rounding = 1.01 * 0.5 * f64::from(f32::EPSILON) * f64::sqrt(squares);
        SingleInverse { steps, rounding }
    }

    /// The factor in the order in which `COLS` unknowns at a time are solved for.
    fn column_steps(&self) -> Vec<ColumnStep> {
        let step = |first: usize| {
            let (home, lane) = (first / ROWS, first % ROWS);
            let mut right = Vec::with_capacity(first * COLS);
            for column in 0..first {
                right.extend_from_slice(&self.rows(home, column)[lane..lane + COLS]);
            }
            let mut corner = [[0.0; COLS]; COLS];
            for c in 0..COLS.min(self.size - first) {
                let column = &self.rows(home, first + c)[lane..lane + COLS];
                corner.iter_mut().zip(column).for_each(|(row, value)| row[c] = *value);
            }
            ColumnStep { right, corner }
        };
        (0..self.size).step_by(COLS).map(step).collect()
    }

    /// An entry on the diagonal of the factor.
    pub fn pivot(&self, i: usize) -> f64 {
        self.rows(i / ROWS, i)[i % ROWS]
    }

    /// The logarithm of the determinant of the matrix.
    pub fn log_determinant(&self) -> f64 {
        (0..self.size).map(|i| 2.0 * self.pivot(i).ln()).sum()
    }

    /// The factor as a full matrix, row by row.
    pub fn lower(&self) -> Vec<f64> {
        let entry = |i: usize, j: usize| self.rows(i / ROWS, j)[i % ROWS];
        let row = |i: usize| (0..self.size).map(move |j| if j > i { 0.0 } else { entry(i, j) });
        (0..self.size).flat_map(row).collect()
    }

    /// Solve with the transposed factor alone, in place.
    pub fn solve_transposed(&self, rhs: &mut [f64]) {
        dispatch(Backward { factor: self, rhs });
    }

    /// The rows of one panel on one column.
    #[inline(always)]
    fn rows(&self, panel: usize, column: usize) -> &[f64] {
        &self.panels[(panel * self.depth + column) * ROWS..][..ROWS]
    }
}

/// Copy the lower triangle to the upper one, block by block: a column is far apart in memory.
pub fn mirror<T: Copy>(matrix: &mut [T], size: usize) {
    const BLOCK: usize = 16;
    for top in (0..size).step_by(BLOCK) {
        for left in (0..=top).step_by(BLOCK) {
            for i in top..size.min(top + BLOCK) {
                for j in left..i.min(left + BLOCK) {
                    matrix[j * size + i] = matrix[i * size + j];
                }
            }
        }
    }
}

/// The inverse of a Cholesky factor in single precision: a product with it takes the place of a solve
/// where many right-hand sides need not be exact.
pub struct SingleInverse {
    /// `COLS` rows at a time up to their diagonal block, column after column.
    steps: Vec<Vec<f32>>,
    /// The norm of what is off in a product with a vector of norm one is no larger. By row i it is
    /// `(i + 4) u |row| |vector|` with u the rounding of one number (Higham, Accuracy and Stability of
    /// Numerical Algorithms, section 3.5, and Cauchy's inequality), whatever the order of the sums.
    pub rounding: f64,
}

impl SingleInverse {
    /// The products with `SINGLE_ROWS` vectors side by side, value after value.
    pub fn times(&self, vectors: &[f32], out: &mut [f32]) {
        dispatch(SingleTimes { steps: &self.steps, vectors, out });
    }
}

struct SingleTimes<'a> {
    steps: &'a [Vec<f32>],
    vectors: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for SingleTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut sums = [0.0; SINGLE_ROWS * COLS];
        for (step, out) in self.steps.iter().zip(self.out.chunks_mut(SINGLE_ROWS * COLS)) {
            single_tile(simd, self.vectors, step, &mut sums);
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

struct Factor<'a> {
    matrix: &'a [f64],
    size: usize,
    depth: usize,
    panels: &'a mut [f64],
}

impl WithSimd for Factor<'_> {
    type Output = bool;

    /// `COLS` columns at a time: take off what earlier columns explain (a tile), factor the block
    /// on the diagonal, and divide the rows below by it. Finished columns are kept in panels of `ROWS`
    /// rows, ready to be the left side of the next tiles.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { matrix, size, depth, panels } = self;
        let blocks = size.div_ceil(ROWS);
        let mut right = vec![0.0; depth * COLS];
        let mut sums = [0.0; ROWS * COLS];
        for first in (0..size).step_by(COLS) {
            let width = COLS.min(size - first);
            let home = first / ROWS;
            // The rows of the diagonal block as columns: they lie side by side in one panel.
            let lane = first % ROWS;
            let panel = &panels[home * depth * ROWS..][..first * ROWS];
            for (target, source) in right.chunks_exact_mut(COLS).zip(panel.chunks_exact(ROWS)) {
                target.copy_from_slice(&source[lane..lane + COLS]);
            }
            let mut corner = [[0.0; COLS]; COLS];
            for block in home..blocks {
                let panel = &mut panels[block * depth * ROWS..][..depth * ROWS];
                let top = block * ROWS;
                let height = ROWS.min(size - top);
                let left = &panel[..first * ROWS];
                tile_rows(simd, height, left, &right[..first * COLS], &mut sums);
                for r in first.saturating_sub(top)..height {
                    let row = &matrix[(top + r) * size + first..];
                    for c in 0..width.min(top + r + 1 - first) {
                        sums[c * ROWS + r] = row[c] - sums[c * ROWS + r];
                    }
                }
                if block == home && !factor_corner(&sums, lane, width, &mut corner) {
                    return false;
                }
                divide(&mut sums, &corner, width);
                for c in 0..width {
                    // Above the diagonal there is nothing.
                    let start = (first + c).saturating_sub(top).min(ROWS);
                    let column = &mut panel[(first + c) * ROWS..][..ROWS];
                    column[start..height].copy_from_slice(&sums[c * ROWS..][start..height]);
                }
            }
        }
        true
    }
}

/// Factor the block on the diagonal, whose rows start at `lane` of a tile; false if it is not positive.
#[inline(always)]
fn factor_corner(
    sums: &[f64; ROWS * COLS],
    lane: usize,
    width: usize,
    corner: &mut [[f64; COLS]; COLS],
) -> bool {
    for i in 0..width {
        for j in 0..=i {
            let mut value = sums[j * ROWS + lane + i];
            for (a, b) in corner[i][..j].iter().zip(&corner[j][..j]) {
                value -= a * b;
            }
            if i > j {
                corner[i][j] = value / corner[j][j];
            } else if value > 0.0 && value.is_finite() {
                corner[i][i] = value.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// Solve `x corner' = sums` for every row of a tile, column by column.
#[inline(always)]
fn divide(sums: &mut [f64; ROWS * COLS], corner: &[[f64; COLS]; COLS], width: usize) {
    for (c, row) in corner[..width].iter().enumerate() {
        let (done, rest) = sums.split_at_mut(c * ROWS);
        let column = &mut rest[..ROWS];
        for (factor, earlier) in row.iter().zip(done.chunks_exact(ROWS)) {
            for (value, x) in column.iter_mut().zip(earlier) {
                *value -= factor * x;
            }
        }
        let inverse = 1.0 / row[c];
        for value in column {
            *value *= inverse;
        }
    }
}

struct Forward<'a> {
    factor: &'a Cholesky,
    rhs: &'a mut [f64],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    /// A panel at a time: take off what the solved unknowns explain, then solve its own.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, rhs } = self;
        for (panel, top) in (0..factor.size).step_by(ROWS).enumerate() {
            let height = ROWS.min(factor.size - top);
            let mut part = [0.0; ROWS];
            part[..height].copy_from_slice(&rhs[top..top + height]);
            for (column, solved) in rhs[..top].iter().enumerate() {
                axpy(simd, -solved, factor.rows(panel, column), &mut part);
            }
            for k in 0..height {
                let rows = factor.rows(panel, top + k);
                part[k] /= rows[k];
                for r in k + 1..height {
                    part[r] -= part[k] * rows[r];
                }
            }
            rhs[top..top + height].copy_from_slice(&part[..height]);
        }
    }
}

/// `COLS` rows of the factor: what stands before their diagonal block, column after column, and that
/// block.
struct ColumnStep {
    right: Vec<f64>,
    corner: [[f64; COLS]; COLS],
}

/// At most `ROWS` right-hand sides, row by row.
struct ForwardRows<'a> {
    factor: &'a Cholesky,
    steps: &'a [ColumnStep],
    rows: &'a mut [f64],
}

impl WithSimd for ForwardRows<'_> {
    type Output = ();

    /// The same steps as for the rows below a diagonal block in a factorisation.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, steps, rows } = self;
        let size = factor.size;
        let mut solved = vec![0.0; factor.depth * ROWS];
        let mut sums = [0.0; ROWS * COLS];
        for (step, first) in steps.iter().zip((0..size).step_by(COLS)) {
            let width = COLS.min(size - first);
            let (before, now) = solved.split_at_mut(first * ROWS);
            tile(simd, before, &step.right, &mut sums);
            for (r, row) in rows.chunks_exact(size).enumerate() {
                for (c, value) in row[first..first + width].iter().enumerate() {
                    sums[c * ROWS + r] = value - sums[c * ROWS + r];
                }
            }
            divide(&mut sums, &step.corner, width);
            now[..width * ROWS].copy_from_slice(&sums[..width * ROWS]);
            for (r, row) in rows.chunks_exact_mut(size).enumerate() {
                for (c, value) in row[first..first + width].iter_mut().enumerate() {
                    *value = sums[c * ROWS + r];
                }
            }
        }
    }
}

/// `ROWS` right-hand sides side by side, value after value.
struct ForwardPanel<'a> {
    size: usize,
    steps: &'a [ColumnStep],
    panel: &'a mut [f64],
}

impl WithSimd for ForwardPanel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { size, steps, panel } = self;
        let mut sums = [0.0; ROWS * COLS];
        for (step, first) in steps.iter().zip((0..size).step_by(COLS)) {
            let width = COLS.min(size - first);
            let (before, now) = panel.split_at_mut(first * ROWS);
            let now = &mut now[..width * ROWS];
            tile(simd, before, &step.right, &mut sums);
            sums.iter_mut().zip(&*now).for_each(|(sum, value)| *sum = value - *sum);
            divide(&mut sums, &step.corner, width);
            now.copy_from_slice(&sums[..width * ROWS]);
        }
    }
}

/// Columns `top` to `top + ROWS - 1` of the inverse factor, side by side.
struct InverseColumns<'a> {
    size: usize,
    steps: &'a [ColumnStep],
    top: usize,
    solved: &'a mut [f64],
}

impl WithSimd for InverseColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { size, steps, top, solved } = self;
        let mut sums = [0.0; ROWS * COLS];
        for first in (top..size).step_by(COLS) {
            let step = &steps[first / COLS];
            let width = COLS.min(size - first);
            let (before, now) = solved.split_at_mut(first * ROWS);
            tile(simd, &before[top * ROWS..], &step.right[top * COLS..], &mut sums);
            for sum in &mut sums {
                *sum = -*sum;
            }
            for c in 0..width.min((top + ROWS).saturating_sub(first)) {
                sums[c * ROWS + first + c - top] += 1.0;
            }
            divide(&mut sums, &step.corner, width);
            now[..width * ROWS].copy_from_slice(&sums[..width * ROWS]);
        }
    }
}

/// `ROWS` rows of the inverse up to their diagonal, from the columns of the inverse factor.
struct InverseRows<'a> {
    size: usize,
    depth: usize,
    columns: &'a [f64],
    block: usize,
    rows: &'a mut [f64],
}

impl WithSimd for InverseRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { size, depth, columns, block, rows } = self;
        let panel = |block: usize| &columns[block * depth * ROWS..][..depth * ROWS];
        let top = block * ROWS;
        let left = &panel(block)[top * ROWS..];
        let mut right = vec![0.0; (depth - top) * COLS];
        let mut sums = [0.0; ROWS * COLS];
        for start in (0..size.min(top + ROWS)).step_by(COLS) {
            let lane = start % ROWS;
            let source = panel(start / ROWS)[top * ROWS..].chunks_exact(ROWS);
            for (target, source) in right.chunks_exact_mut(COLS).zip(source) {
                target.copy_from_slice(&source[lane..lane + COLS]);
            }
            tile(simd, left, &right, &mut sums);
            for (r, row) in rows.chunks_exact_mut(size).enumerate() {
                for c in 0..COLS.min((top + r + 1).saturating_sub(start)) {
                    row[start + c] = sums[c * ROWS + r];
                }
            }
        }
    }
}

struct Backward<'a> {
    factor: &'a Cholesky,
    rhs: &'a mut [f64],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    /// From the last unknown up: a column of the factor times the unknowns below.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, rhs } = self;
        let panels = factor.size.div_ceil(ROWS);
        // Zeros after the last, so that every panel is whole.
        let mut solved = vec![0.0; panels * ROWS];
        for k in (0..factor.size).rev() {
            let mut sum = 0.0;
            for panel in k / ROWS..panels {
                sum += dot(simd, factor.rows(panel, k), &solved[panel * ROWS..][..ROWS]);
            }
            // Above the diagonal the factor is zero, and the k-th unknown is not yet set.
            solved[k] = (rhs[k] - sum) / factor.rows(k / ROWS, k)[k % ROWS];
        }
        rhs.copy_from_slice(&solved[..factor.size]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn cholesky_solves() {
        for size in [1, 2, 5, 8, 9, 24, 25, 40, 103] {
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
            Cholesky::new(&matrix, size).unwrap().solve(&mut rhs);
            for (got, want) in rhs.iter().zip(&truth) {
                assert!((got - want).abs() < 1e-12 * size as f64);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn many_right_hand_sides_and_the_inverse_are_solved_as_one_by_one() {
        for (size, count) in [(1, 1), (8, 30), (25, 5), (53, 49)] {
            let entry = |i: usize, j: usize| {
                let off = ((i * j * 31 + i + j) % 17) as f64 / 17.0;
                off + if i == j { size as f64 } else { 0.0 }
            };
            let matrix: Vec<f64> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
            let factor = Cholesky::new(&matrix, size).unwrap();
            let mut rows: Vec<f64> = (0..count * size).map(|k| (k % 11) as f64 - 4.0).collect();
            let mut single = rows.clone();
            single.chunks_exact_mut(size).for_each(|row| factor.solve_lower(row));
            factor.solve_lower_rows(&mut rows);
            assert!(rows.iter().zip(&single).all(|(a, b)| (a - b).abs() < 1e-12));
            let side = |u: usize| &rows[u * size..][..size];
            let again = factor.solve_lower_panels(count, side, 2.0);
            for (u, row) in rows.chunks_exact(size).enumerate() {
                let mut twice: Vec<f64> = row.iter().map(|value| 2.0 * value).collect();
                factor.solve_lower(&mut twice);
                let solved = again.panel(u / ROWS).iter().skip(u % ROWS).step_by(ROWS);
                assert!(solved.zip(&twice).all(|(a, b)| (a - b).abs() < 1e-12));
            }
            for (i, row) in factor.inverse().chunks_exact(size).enumerate() {
                let mut unit = vec![0.0; size];
                unit[i] = 1.0;
                factor.solve(&mut unit);
                assert!(row.iter().zip(&unit).all(|(a, b)| (a - b).abs() < 1e-12));
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn products_with_the_inverse_in_single_precision_are_solutions_within_their_bound() {
        for size in [1, 8, 53, 121] {
            // The smaller the diagonal, the larger the inverse.
            let entry = |i: usize, j: usize| {
                let near = 0.95_f64.powi(i.abs_diff(j) as i32);
                near + if i == j { 0.01 } else { 0.0 }
            };
            let matrix: Vec<f64> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
            let factor = Cholesky::new(&matrix, size).unwrap();
            let inverse = factor.single_inverse();
            let vectors: Vec<f64> =
                (0..size * SINGLE_ROWS).map(|k| ((k * 7919) % 101) as f64 / 50.0 - 1.0).collect();
            let single: Vec<f32> = vectors.iter().map(|value| *value as f32).collect();
            let mut out = vec![7.0; single.len()];
            inverse.times(&single, &mut out);
            for r in 0..SINGLE_ROWS {
                let of = |values: &[f64]| -> Vec<f64> {
                    values[r..].iter().step_by(SINGLE_ROWS).copied().collect()
                };
                let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
                let mut exact = of(&vectors);
                let bound = inverse.rounding * norm(&exact);
                factor.solve_lower(&mut exact);
                let products: Vec<f64> = out.iter().map(|value| f64::from(*value)).collect();
                let off: Vec<f64> = of(&products).iter().zip(&exact).map(|(a, b)| a - b).collect();
                assert!(norm(&off) <= bound);
                assert!(bound <= 1e-3 * norm(&exact));
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        assert!(Cholesky::new(&[1.0, 0.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::new(&[f64::NAN], 1).is_none());
    }
}
