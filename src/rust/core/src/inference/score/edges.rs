//! Every edge tested given a support, in blocks of edges.
//!
//! With `M = D S_y - I` and `N = S_x D + I`, an observation moves `G` by `sym(E_x M)` or `sym(N E_y)`,
//! `E = x x' - (q S + S q) / 2`: the second part is what the estimated scales take away. Where these
//! are standard deviations, `q = diag(x^2)`; where they are those of residuals e, `q = diag(e^2)`. An edge outside of the support is tested by its own `G`, after the projection
//! of these influences on those of the support; one inside by its estimate.
//!
//! Both samples are treated alike: `M' = D S + sigma I`, where S is the *other* sample's, and sigma is -1
//! for `x` and 1 for `y`. Of `D S` only the rows of the support's variables are not zero, so that the
//! influence of an observation on an edge is a few products of its own two variables less an inner
//! product of length (factors + variables of the support): tiles of edges by observations.

use super::edge_count;
use super::moderate::{freedom, Statistics};
use super::sample::{Sample, Scaled};
use super::support::{share, MomentPair, Solved};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::numerics::simd::{axpy, dispatch};
use crate::numerics::tiles::{product, tile, Panels, COLS, ROWS};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Edges looked at together: their panels stay in the level-2 cache.
const CHUNK: usize = 16 * COLS;
/// Values of a variable that its own terms are made of.
const OWN: usize = 3;

/// The tests of all edges.
#[derive(Debug, Clone)]
pub struct ScoreTests {
    /// What is tested: an estimate on the support and a score elsewhere.
    pub statistics: Statistics,
    /// What a score is divided by to be an estimate; one on the support.
    pub information: Vec<f64>,
    /// The entries of `D` on the support.
    pub estimates: Vec<f64>,
}

/// Test every edge given the factors (i <= j) of a support; `None` where the samples cannot tell these
/// apart.
pub fn score_edges(
    [x, y]: &[Scaled; 2],
    support: &[(usize, usize)],
    monitor: &Monitor,
) -> Result<Option<ScoreTests>> {
    let d = x.sample().variables();
    if y.sample().variables() != d {
        return Err(Error::Argument("both samples must have the same variables".into()));
    }
    if support.iter().any(|(i, j)| i > j || *j >= d) {
        return Err(Error::Argument("a support has pairs i <= j of variables".into()));
    }
    let stride = d.div_ceil(COLS) * COLS;
    let moments =
        MomentPair { stride, x: x.sample().moments(stride), y: y.sample().moments(stride) };
    let Some(solved) = Solved::new(support, &moments) else {
        return Ok(None);
    };
    let sides = [
        Side::new(x, &moments.x, &moments.y, -1.0, &solved, stride),
        Side::new(y, &moments.y, &moments.x, 1.0, &solved, stride),
    ];
    let size = support.len();
    let inverse = Panels::pack(size, size, |k| &solved.inverse[k * size..][..size], None);
    let task = Task { moments: &moments, solved: &solved, inverse, sides: &sides };
    monitor.start(d);
    let columns: Vec<Column> = (0..d)
        .into_par_iter()
        .map(|j| {
            monitor.check()?;
            let column = dispatch(EdgesOf { task: &task, j });
            monitor.advance();
            Ok(column)
        })
        .collect::<Result<_>>()?;
    Ok(Some(task.finish(columns)))
}

/// One sample and what its influences are made of.
struct Side<'a> {
    sample: &'a Sample,
    moments: &'a [f64],
    sign: f64,
    /// `D` times the other sample's moments, on the rows of the support's variables.
    lifted: Vec<f64>,
    /// `S M`, row by row.
    product: Vec<f64>,
    /// Panels of observations with the `OWN` values of every variable side by side: itself, the square
    /// behind its scale, and `x M / 2`.
    own: Panels<ROWS>,
    /// The inverse information times the influences on the support, factor after factor.
    onto: Vec<f64>,
    /// What is taken off, with minus signs: `onto`, the centred squares of the support's variables, and
    /// ones.
    common: Panels<ROWS>,
}

/// The coefficients of an edge's own terms: `x_i w_j / 2 + x_j w_i / 2 - first q_i - second q_j -
/// constant`.
#[derive(Clone, Copy)]
struct Own {
    first: f64,
    second: f64,
    constant: f64,
}

impl<'a> Side<'a> {
    fn new(
        scaled: &'a Scaled,
        moments: &'a [f64],
        other: &[f64],
        sign: f64,
        solved: &Solved,
        stride: usize,
    ) -> Self {
        let sample = scaled.sample();
        let (rows, d) = (sample.rows(), sample.variables());
        let lifted = solved.times(other, stride);
        let mut product = moments.to_vec();
        product.par_chunks_mut(stride).enumerate().for_each(|(i, row)| {
            let weights = solved.variables.iter().map(|k| moments[i * stride + k]);
            combine(sign, weights, &lifted, row);
        });
        let mut half = vec![0.0; d * rows];
        half.par_chunks_mut(rows).enumerate().for_each(|(j, column)| {
            column.copy_from_slice(sample.variable(j));
            column.iter_mut().for_each(|x| *x *= 0.5 * sign);
            for (k, u) in solved.variables.iter().enumerate() {
                let weight = 0.5 * lifted[k * stride + j];
                dispatch(AddScaled { weight, from: sample.variable(*u), to: column });
            }
        });
        let of_variable = |u: usize, which: usize| match which {
            0 => sample.variable(u),
            1 => scaled.squares(u),
            _ => &half[u * rows..][..rows],
        };
        let own = Panels::pack_rows(rows, OWN * d, |k| of_variable(k / OWN, k % OWN), |_| 1.0);
        let mut side = Self {
            sample,
            moments,
            sign,
            lifted,
            product,
            own,
            onto: Vec::new(),
            common: Panels::pack_rows(0, 0, |_| &[], |_| 1.0),
        };
        let mut centred: Vec<f64> = Vec::with_capacity((solved.variables.len() + 1) * rows);
        for u in &solved.variables {
            centred.extend(scaled.squares(*u).iter().map(|q| q - 1.0));
        }
        let influences = side.influences(scaled, solved, &half, &centred);
        side.onto = project(solved, &influences, rows);
        let mut common = side.onto.clone();
        common.extend(centred);
        common.resize(common.len() + rows, 1.0);
        let length = common.len() / rows;
        side.common = Panels::pack_rows(rows, length, |k| &common[k * rows..][..rows], |_| -1.0);
        side
    }

    fn own(&self, stride: usize, i: usize, j: usize) -> Own {
        let (ij, ji) = (self.product[i * stride + j], self.product[j * stride + i]);
        let moment = self.sign * self.moments[i * stride + j];
        Own {
            first: 0.25 * (ij + moment),
            second: 0.25 * (ji + moment),
            constant: 0.25 * (ij + ji) - 0.5 * moment,
        }
    }

    /// The centred influences of all observations on the support, factor after factor.
    fn influences(
        &self,
        scaled: &Scaled,
        solved: &Solved,
        half: &[f64],
        centred: &[f64],
    ) -> Vec<f64> {
        let rows = self.sample.rows();
        let stride = self.moments.len() / self.sample.variables();
        let one = |(i, j): (usize, usize), out: &mut [f64]| {
            let own = self.own(stride, i, j);
            let (x_i, x_j) = (self.sample.variable(i), self.sample.variable(j));
            let (q_i, q_j) = (scaled.squares(i), scaled.squares(j));
            let (w_i, w_j) = (&half[i * rows..][..rows], &half[j * rows..][..rows]);
            for r in 0..rows {
                out[r] = x_i[r] * w_j[r] - own.first * q_i[r] + x_j[r] * w_i[r]
                    - own.second * q_j[r]
                    - own.constant;
            }
            for (k, u) in solved.variables.iter().enumerate() {
                let weight = -0.25
                    * (self.moments[i * stride + u] * self.lifted[k * stride + j]
                        + self.moments[j * stride + u] * self.lifted[k * stride + i]);
                dispatch(AddScaled { weight, from: &centred[k * rows..][..rows], to: out });
            }
        };
        let mut all = vec![0.0; solved.pairs.len() * rows];
        all.par_chunks_mut(rows).zip(&solved.pairs).for_each(|(out, pair)| one(*pair, out));
        all
    }
}

/// `row = sign row + sum_k weights_k lifted_k`.
fn combine(sign: f64, weights: impl Iterator<Item = f64>, lifted: &[f64], row: &mut [f64]) {
    row.iter_mut().for_each(|value| *value *= sign);
    for (weight, from) in weights.zip(lifted.chunks_exact(row.len())) {
        dispatch(AddScaled { weight, from, to: row });
    }
}

/// The inverse information times the influences on the support.
fn project(solved: &Solved, influences: &[f64], rows: usize) -> Vec<f64> {
    let size = solved.pairs.len();
    let left = Panels::pack(size, size, |k| &solved.inverse[k * size..][..size], None);
    let right = Panels::pack_rows(rows, size, |k| &influences[k * rows..][..rows], |_| 1.0);
    product(size, rows, &left, &right)
}

struct AddScaled<'a> {
    weight: f64,
    from: &'a [f64],
    to: &'a mut [f64],
}

impl WithSimd for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        axpy(simd, self.weight, self.from, self.to);
    }
}

/// What all edges share.
struct Task<'a> {
    moments: &'a MomentPair,
    solved: &'a Solved,
    inverse: Panels<ROWS>,
    sides: &'a [Side<'a>; 2],
}

/// The edges of one variable j with every i below it.
struct Column {
    /// Minus their `G`.
    score: Vec<f64>,
    /// The sums of squares of the influences of both samples, each over its n (n - 2).
    variance: Vec<f64>,
    /// The sums of fourth powers, each over its n^4.
    fourth: Vec<f64>,
    /// The information that the support leaves, and the same with single variables counted by half.
    left: Vec<[f64; 2]>,
}

impl Column {
    fn with_room(edges: usize) -> Self {
        Self {
            score: Vec::with_capacity(edges),
            variance: vec![0.0; edges],
            fourth: vec![0.0; edges],
            left: Vec::with_capacity(edges),
        }
    }
}

struct EdgesOf<'a> {
    task: &'a Task<'a>,
    j: usize,
}

impl WithSimd for EdgesOf<'_> {
    type Output = Column;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Column {
        let Self { task, j } = self;
        let mut column = Column::with_room(j);
        let depth = task.solved.pairs.len() + task.solved.variables.len() + 1;
        let mut right = vec![0.0; CHUNK.min(j).div_ceil(COLS) * COLS * depth];
        let mut sums = vec![0.0; 2 * CHUNK * COLS];
        let mut own = Vec::with_capacity(CHUNK);
        let weights = Weights::new(task, j);
        for first in (0..j).step_by(CHUNK) {
            let block = Block { j, first, count: CHUNK.min(j - first), depth };
            task.fill_information(simd, &weights, &block, &mut right);
            task.add_scores(simd, &block, &right, &mut column);
            for (side, weights) in task.sides.iter().zip(&weights.sides) {
                let stride = task.moments.stride;
                own.clear();
                own.extend((first..first + block.count).map(|i| side.own(stride, i, j)));
                task.fill_side(simd, (side, weights), &own, &block, &mut right);
                sums.fill(0.0);
                add_powers(simd, side, &own, &block, &right, &mut sums);
                let n = side.sample.rows() as f64;
                for (e, sums) in sums.chunks_exact(2 * COLS).take(block.count).enumerate() {
                    let (squares, fourths) = sums.split_at(COLS);
                    column.variance[first + e] += squares.iter().sum::<f64>() / (n * (n - 2.0));
                    column.fourth[first + e] += fourths.iter().sum::<f64>() / n.powi(4);
                }
            }
        }
        column
    }
}

/// The edges (first, j) to (first + count - 1, j).
struct Block {
    j: usize,
    first: usize,
    count: usize,
    /// The length of the inner products.
    depth: usize,
}

/// What panels of edges (i, j) are made of besides values of i: columns of matrices, brought side by side
/// once for all panels of one j.
struct Weights {
    /// For each factor (k, l) of the support: of `S_x,ik`, `S_y,ik`, `S_x,il` and `S_y,il`.
    information: Vec<[f64; 4]>,
    /// For each variable of the support, in both samples: of its moments, and of what is lifted.
    sides: [Vec<[f64; 2]>; 2],
}

impl Weights {
    fn new(task: &Task<'_>, j: usize) -> Self {
        let MomentPair { stride, x, y } = task.moments;
        // Moments are symmetric: their row lies together.
        let (x, y) = (&x[j * stride..][..*stride], &y[j * stride..][..*stride]);
        let information = |(k, l): &(usize, usize)| [y[*l], x[*l], y[*k], x[*k]].map(|s| 0.5 * s);
        let side = |side: &Side<'_>| {
            let variables = task.solved.variables.iter().enumerate();
            let of = |(k, u): (usize, &usize)| {
                [side.lifted[k * stride + j], side.moments[j * stride + u]].map(|s| 0.25 * s)
            };
            variables.map(of).collect()
        };
        Self {
            information: task.solved.pairs.iter().map(information).collect(),
            sides: [side(&task.sides[0]), side(&task.sides[1])],
        }
    }
}

/// `out = sum_k weights_k values_k` for the edges of one panel.
#[inline(always)]
fn combine_lanes<S: Simd, const TERMS: usize>(
    simd: S,
    weights: &[f64; TERMS],
    values: [&[f64]; TERMS],
    out: &mut [f64],
) {
    let (out, _) = S::as_mut_simd_f64s(&mut out[..COLS]);
    for (lane, out) in out.iter_mut().enumerate() {
        let mut sum = simd.splat_f64s(0.0);
        for (weight, values) in weights.iter().zip(values) {
            let (values, _) = S::as_simd_f64s(&values[..COLS]);
            sum = simd.mul_add_e_f64s(simd.splat_f64s(*weight), values[lane], sum);
        }
        *out = sum;
    }
}

impl Task<'_> {
    /// The information between the edges and the support: the first part of each panel.
    #[inline(always)]
    fn fill_information<S: Simd>(
        &self,
        simd: S,
        weights: &Weights,
        block: &Block,
        right: &mut [f64],
    ) {
        let MomentPair { stride, x, y } = self.moments;
        let panels = right.chunks_exact_mut(block.depth * COLS);
        for (panel, i) in panels.zip((block.first..block.first + block.count).step_by(COLS)) {
            let factors = self.solved.pairs.iter().zip(&weights.information);
            for (out, ((k, l), weights)) in panel.chunks_exact_mut(COLS).zip(factors) {
                let (k, l) = (k * stride + i, l * stride + i);
                combine_lanes(simd, weights, [&x[k..], &y[k..], &x[l..], &y[l..]], out);
            }
        }
    }

    /// What an edge takes of the squares of the support's variables, and its constant: the rest.
    #[inline(always)]
    fn fill_side<S: Simd>(
        &self,
        simd: S,
        (side, weights): (&Side<'_>, &[[f64; 2]]),
        own: &[Own],
        block: &Block,
        right: &mut [f64],
    ) {
        let stride = self.moments.stride;
        let (size, variables) = (self.solved.pairs.len(), &self.solved.variables);
        let panels = right.chunks_exact_mut(block.depth * COLS);
        for ((panel, own), i) in panels.zip(own.chunks(COLS)).zip((block.first..).step_by(COLS)) {
            let (squares, constants) = panel[size * COLS..].split_at_mut(variables.len() * COLS);
            let terms = variables.iter().zip(weights).enumerate();
            for (out, (k, (u, weights))) in squares.chunks_exact_mut(COLS).zip(terms) {
                let (moments, lifted) =
                    (&side.moments[u * stride + i..], &side.lifted[k * stride + i..]);
                combine_lanes(simd, weights, [moments, lifted], out);
            }
            // Lanes after the last edge are not read.
            constants.fill(0.0);
            constants.iter_mut().zip(own).for_each(|(constant, own)| *constant = own.constant);
        }
    }

    /// Minus `G`, and the information that the support leaves of each edge.
    #[inline(always)]
    fn add_scores<S: Simd>(&self, simd: S, block: &Block, right: &[f64], column: &mut Column) {
        let (stride, j) = (self.moments.stride, block.j);
        let pairs = &self.solved.pairs;
        let x_product = &self.sides[0].product;
        for i in block.first..block.first + block.count {
            let equation = 0.5 * (x_product[i * stride + j] + x_product[j * stride + i])
                + self.moments.y[i * stride + j];
            column.score.push(-equation);
            column.left.push([self.moments.information((i, j), (i, j)); 2]);
        }
        let mut sums = [0.0; ROWS * COLS];
        let left = &mut column.left[block.first..];
        for (panel, left) in right.chunks_exact(block.depth * COLS).zip(left.chunks_mut(COLS)) {
            let panel = &panel[..pairs.len() * COLS];
            for index in 0..self.inverse.len() {
                tile(simd, self.inverse.panel(index), panel, &mut sums);
                let top = index * ROWS;
                for (lane, left) in left.iter_mut().enumerate() {
                    for (r, pair) in pairs[top..].iter().take(ROWS).enumerate() {
                        let taken = sums[lane * ROWS + r] * panel[(top + r) * COLS + lane];
                        left[0] -= taken;
                        left[1] -= share(*pair) * taken;
                    }
                }
            }
        }
    }

    /// All columns together, and the support by its estimates.
    fn finish(&self, columns: Vec<Column>) -> ScoreTests {
        let [x, y] = self.sides;
        let (n_x, n_y) = (x.sample.rows() as f64, y.sample.rows() as f64);
        let mut fourths = Vec::with_capacity(edge_count(columns.len()));
        let mut information = Vec::with_capacity(edge_count(columns.len()));
        let mut tests = Statistics::default();
        for column in columns {
            tests.numerator.extend(column.score);
            tests.variance.extend(column.variance);
            fourths.extend(column.fourth);
            tests.model.extend(column.left.iter().map(|left| left[1]));
            information.extend(column.left.iter().map(|left| left[0]));
        }
        let size = self.solved.pairs.len();
        let correction = 0.5 * (n_x / (n_x - 2.0) + n_y / (n_y - 2.0));
        for (s, pair) in self.solved.pairs.iter().enumerate().filter(|(_, (i, j))| i < j) {
            let edge = super::edge_index(pair.0, pair.1);
            let power = |exponent: i32| {
                let of = |side: &Side<'_>, n: f64| {
                    let rows = side.sample.rows();
                    let values = &side.onto[s * rows..][..rows];
                    values.iter().map(|u| (u / n).powi(exponent)).sum::<f64>()
                };
                of(x, n_x) + of(y, n_y)
            };
            tests.numerator[edge] = self.solved.estimates[s];
            tests.variance[edge] = power(2) * correction;
            fourths[edge] = power(4);
            tests.model[edge] = self.solved.inverse[s * size + s];
            information[edge] = 1.0;
        }
        let rows = x.sample.rows() + y.sample.rows();
        tests.freedom =
            tests.variance.iter().zip(&fourths).map(|(v, f)| freedom(*v, *f, rows)).collect();
        tests.model.iter_mut().for_each(|h| *h *= 1.0 / n_x + 1.0 / n_y);
        ScoreTests { statistics: tests, information, estimates: self.solved.estimates.clone() }
    }
}

/// Add the squares and fourth powers of the influences of one sample on the edges of a block: for each
/// edge `COLS` sums of squares, then `COLS` of fourth powers.
#[inline(always)]
fn add_powers<S: Simd>(
    simd: S,
    side: &Side<'_>,
    own: &[Own],
    block: &Block,
    right: &[f64],
    out: &mut [f64],
) {
    let mut sums = [0.0; ROWS * COLS];
    for index in 0..side.common.len() {
        let values = side.own.panel(index);
        let of_j = &values[block.j * OWN * ROWS..][..OWN * ROWS];
        let of_i = &values[block.first * OWN * ROWS..];
        let edges = own.chunks(COLS).zip(of_i.chunks(COLS * OWN * ROWS));
        let panels = right.chunks_exact(block.depth * COLS).zip(out.chunks_mut(COLS * 2 * COLS));
        for ((panel, out), (own, of_i)) in panels.zip(edges) {
            tile(simd, side.common.panel(index), panel, &mut sums);
            let edges = own.iter().zip(of_i.chunks_exact(OWN * ROWS));
            let sums = sums.chunks_exact(ROWS).zip(out.chunks_exact_mut(2 * COLS));
            for ((own, of_i), (common, out)) in edges.zip(sums) {
                add_powers_of_edge(simd, own, [of_i, of_j], common, out);
            }
        }
    }
}

/// The same for one edge and the observations of one panel. `common` is what the support takes, with a
/// minus sign. The `ROWS` observations are added to `COLS` sums, in the same order for all registers.
#[inline(always)]
fn add_powers_of_edge<S: Simd>(
    simd: S,
    own: &Own,
    [of_i, of_j]: [&[f64]; 2],
    common: &[f64],
    out: &mut [f64],
) {
    let (registers, wide) = (ROWS / S::F64_LANES, COLS / S::F64_LANES);
    let (first, second) = (simd.splat_f64s(-own.first), simd.splat_f64s(-own.second));
    let [x_i, q_i, w_i] = own_values::<S>(of_i);
    let [x_j, q_j, w_j] = own_values::<S>(of_j);
    let (common, _) = S::as_simd_f64s(&common[..ROWS]);
    let (squares, fourths) = out.split_at_mut(COLS);
    let (squares, _) = S::as_mut_simd_f64s(&mut squares[..COLS]);
    let (fourths, _) = S::as_mut_simd_f64s(&mut fourths[..COLS]);
    for sum in 0..wide {
        // Not in memory meanwhile.
        let (mut second_powers, mut fourth_powers) = (squares[sum], fourths[sum]);
        for v in (sum..registers).step_by(wide) {
            let left = simd.mul_add_e_f64s(first, q_i[v], common[v]);
            let left = simd.mul_add_e_f64s(second, q_j[v], left);
            let left = simd.mul_add_e_f64s(x_j[v], w_i[v], left);
            let influence = simd.mul_add_e_f64s(x_i[v], w_j[v], left);
            let square = simd.mul_f64s(influence, influence);
            second_powers = simd.add_f64s(second_powers, square);
            fourth_powers = simd.mul_add_e_f64s(square, square, fourth_powers);
        }
        (squares[sum], fourths[sum]) = (second_powers, fourth_powers);
    }
}

/// The own values of a variable, each `ROWS` observations in registers.
#[inline(always)]
fn own_values<S: Simd>(values: &[f64]) -> [&[S::f64s]; OWN] {
    let (values, _) = S::as_simd_f64s(&values[..OWN * ROWS]);
    let (x, rest) = values.split_at(ROWS / S::F64_LANES);
    let (q, w) = rest.split_at(ROWS / S::F64_LANES);
    [x, q, w]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::score::{edge_index, Pair};
    use ndarray::Array2;

    fn sample(rows: usize, d: usize, step: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, d), |(r, u)| {
            (((r * d + u) * step + r * r * 31 + u * u * r * 7) % 997) as f64 / 500.0 - 1.0
        })
    }

    /// The influences of one sample, by the formula and nothing else.
    fn influences(scaled: &Scaled, s: &[f64], m: &[f64], stride: usize) -> Vec<Vec<f64>> {
        let sample = scaled.sample();
        let (n, d) = (sample.rows(), sample.variables());
        let noise = |r: usize, a: usize, b: usize| {
            sample.variable(a)[r] * sample.variable(b)[r]
                - 0.5 * s[a * stride + b] * (scaled.squares(a)[r] + scaled.squares(b)[r])
        };
        let entry = |r: usize, i: usize, j: usize| -> f64 {
            (0..d).map(|k| noise(r, i, k) * m[k * stride + j]).sum()
        };
        let mut all = Vec::new();
        for j in 0..d {
            for i in 0..=j {
                let plain = |r| 0.5 * (entry(r, i, j) + entry(r, j, i));
                let values: Vec<f64> = (0..n).map(plain).collect();
                let mean = values.iter().sum::<f64>() / n as f64;
                all.push(values.iter().map(|value| value - mean).collect());
            }
        }
        all
    }

    fn factor(i: usize, j: usize) -> usize {
        j * (j + 1) / 2 + i
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn variances_are_those_of_the_plain_formula() {
        let pair = |x: usize, y: usize| {
            let (x, y) = (sample(29, 11, x), sample(35, 11, y));
            Pair::new(x.view(), y.view()).unwrap()
        };
        // Any squares and units will do for the formula.
        let (plain, others) = (pair(389, 613), pair(211, 71));
        let units: Vec<f64> = (0..11).map(|u| 0.5 + 0.1 * f64::from(u)).collect();
        let by_residual = [
            Scaled::by_residual(&plain.x, &others.x, &units),
            Scaled::by_residual(&plain.y, &others.y, &units),
        ];
        let supports = [vec![], vec![(0, 3), (2, 2), (3, 10), (4, 5)]];
        let scaled = [plain.scaled(), by_residual];
        for (scaled, support) in scaled.iter().flat_map(|s| supports.iter().map(move |t| (s, t))) {
            let got = score_edges(scaled, support, &Monitor::new()).unwrap().unwrap();
            let (d, stride) = (11, 16);
            let [x, y] = scaled;
            let moments =
                MomentPair { stride, x: x.sample().moments(stride), y: y.sample().moments(stride) };
            let solved = Solved::new(support, &moments).unwrap();
            let full = |other: &[f64], sign: f64| {
                let lifted = solved.times(other, stride);
                let mut m = vec![0.0; d * stride];
                for (k, u) in solved.variables.iter().enumerate() {
                    m[u * stride..][..stride].copy_from_slice(&lifted[k * stride..][..stride]);
                }
                (0..d).for_each(|u| m[u * stride + u] += sign);
                m
            };
            let sides = [
                (influences(x, &moments.x, &full(&moments.y, -1.0), stride), 29.0),
                (influences(y, &moments.y, &full(&moments.x, 1.0), stride), 35.0),
            ];
            let size = support.len();
            for j in 1..d {
                for i in 0..j {
                    if support.contains(&(i, j)) {
                        continue;
                    }
                    let weight = |s: usize| -> f64 {
                        let inverse = |t: usize| solved.inverse[t * size + s];
                        (0..size)
                            .map(|t| moments.information((i, j), support[t]) * inverse(t))
                            .sum()
                    };
                    let weights: Vec<f64> = (0..size).map(weight).collect();
                    let mut want = 0.0;
                    for (all, n) in &sides {
                        let mut rest = all[factor(i, j)].clone();
                        for (weight, (k, l)) in weights.iter().zip(support) {
                            let taken = &all[factor(*k, *l)];
                            rest.iter_mut().zip(taken).for_each(|(rest, t)| *rest -= weight * t);
                        }
                        let squares = rest.iter().map(|value| value * value).sum::<f64>();
                        want += squares / (n * (n - 2.0));
                    }
                    let v = got.statistics.variance[edge_index(i, j)];
                    assert!((v - want).abs() < 1e-12, "{v} for {want} at {i}, {j}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn on_the_support_the_equation_holds() {
        let (x, y) = (sample(40, 9, 389), sample(30, 9, 613));
        let pair = Pair::new(x.view(), y.view()).unwrap();
        let small =
            score_edges(&pair.scaled(), &[(0, 1), (3, 3)], &Monitor::new()).unwrap().unwrap();
        let large = score_edges(&pair.scaled(), &[(0, 1), (3, 3), (2, 7)], &Monitor::new())
            .unwrap()
            .unwrap();
        // The score of an edge over its information is the first step towards its estimate; the
        // equation is linear, so there is no second.
        let e = edge_index(2, 7);
        let step = small.statistics.numerator[e] / small.information[e];
        assert!((step - large.estimates[2]).abs() < 1e-10);
        assert_eq!(large.statistics.numerator[e], large.estimates[2]);
    }

    #[test]
    fn factors_that_cannot_be_told_apart_have_no_tests() {
        let (mut x, mut y) = (sample(20, 4, 389), sample(20, 4, 613));
        for sample in [&mut x, &mut y] {
            let first = sample.column(0).to_owned();
            sample.column_mut(1).assign(&first);
        }
        let pair = Pair::new(x.view(), y.view()).unwrap();
        let got = score_edges(&pair.scaled(), &[(0, 2), (1, 2)], &Monitor::new()).unwrap();
        assert!(got.is_none());
        assert!(score_edges(&pair.scaled(), &[(2, 1)], &Monitor::new()).is_err());
    }
}
