//! All factors of a small problem as a design, by products of matrices instead of rows of H.
//!
//! `xi` of every pair comes from register tiles of the columns, and so does `H'theta`: nothing of H is
//! stored, and both cost a tenth of going through stored rows one by one.

use crate::design::{Design, DualPoint, RowDesign, UpdateDesign};
use crate::features::factors::factor_index;
use crate::features::Products;
use crate::numerics::simd::{axpy, axpy_product, dispatch, dot};
use crate::numerics::tiles::{tile_rows, Panels, COLS, ROWS};
use crate::objective::certificate::Certificate;
use crate::objective::penalty::{level, norm, Lambda};
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use pulp::{as_arrays, as_arrays_mut, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// Once one coefficient in this many is non-zero, sums over all variables are faster.
const DENSE: usize = 8;
/// Scores in one block. Blocks are added up in order, so no thread count changes a result.
const BLOCK: usize = 512;

/// Every factor of a problem with product features.
pub struct ProductDesign {
    products: Products,
    blocks: Vec<Block>,
    /// The term's sign of every scored row.
    signs: Vec<f64>,
    weights: Vec<f64>,
    linear: Vec<f64>,
    /// Variables and feature of every coefficient.
    places: Vec<(usize, usize, usize)>,
    /// Where the coefficients of each factor start, and where the last end.
    starts: Vec<usize>,
}

/// Some of the scored rows: few enough that all columns on them stay in the cache.
struct Block {
    span: Range<usize>,
    /// By exponent: the variables one after the other.
    columns: Vec<Vec<f64>>,
    /// The same packed as left and as right sides of products, variables side by side.
    left: Vec<Panels<ROWS>>,
    right: Vec<Panels<COLS>>,
    /// The same with scores side by side, for sums over variables.
    by_score: Vec<Panels<ROWS>>,
}

impl Block {
    fn new(products: &Products, span: Range<usize>, rows: &[usize]) -> Self {
        let variables = products.variables();
        let width = span.len();
        let gather = |p: usize| {
            let mut values = Vec::with_capacity(variables * width);
            for column in (0..variables).map(|u| products.column(p, u)) {
                values.extend(rows.iter().map(|row| column[*row]));
            }
            values
        };
        let columns: Vec<Vec<f64>> = (0..=products.basis().degree()).map(gather).collect();
        let turn = |column: &Vec<f64>| {
            Panels::pack_rows(width, variables, |u| &column[u * width..][..width], |_| 1.0)
        };
        let left = columns.iter().map(|column| pack(column, width)).collect();
        let right = columns.iter().map(|column| pack(column, width)).collect();
        let by_score = columns.iter().map(turn).collect();
        Self { span, columns, left, right, by_score }
    }

    #[inline(always)]
    fn column(&self, p: usize, u: usize) -> &[f64] {
        &self.columns[p][u * self.span.len()..][..self.span.len()]
    }
}

/// Columns of `width` values one after the other, packed side by side.
fn pack<const WIDTH: usize>(columns: &[f64], width: usize) -> Panels<WIDTH> {
    Panels::pack(columns.len() / width, width, |u| &columns[u * width..][..width], None)
}

impl ProductDesign {
    /// Multiplications for one look at all factors: what decides whether a problem is small.
    pub fn cost(problem: &Problem, products: &Products) -> usize {
        products.factors() * products.basis().pair.len() * problem.loss.scores()
    }

    /// Gather the scored rows of a problem and its products.
    pub fn new(problem: &Problem, products: &Products) -> Self {
        let variables = products.variables();
        let terms = problem.loss.terms();
        let rows: Vec<usize> = terms.iter().flat_map(|term| term.rows.clone()).collect();
        let signs = terms.iter().flat_map(|term| vec![term.sign; term.rows.len()]).collect();
        let blocks = (0..rows.len())
            .step_by(BLOCK)
            .map(|start| start..rows.len().min(start + BLOCK))
            .map(|span| Block::new(products, span.clone(), &rows[span]))
            .collect();
        let mut places = Vec::new();
        let mut weights = Vec::with_capacity(products.factors());
        let mut starts = vec![0];
        for (u, v) in (0..variables).flat_map(|u| (0..=u).map(move |v| (u, v))) {
            places.extend((0..products.size_of(u, v)).map(|k| (u, v, k)));
            weights.push(problem.penalty_factor.of(u, v));
            starts.push(places.len());
        }
        let linear = dispatch(Linear { problem, places: &places });
        let products = products.clone();
        Self { products, blocks, signs, weights, linear, places, starts }
    }

    /// Whether every factor has one feature.
    fn one_each(&self) -> bool {
        self.single() && self.weights.len() == self.places.len()
    }

    /// Theta at `xi`, and the sum of the conjugates of the penalties.
    fn shrink(&self, lambda: Lambda, xi: &[f64]) -> (Vec<f64>, f64) {
        let mut theta = vec![0.0; xi.len()];
        if self.one_each() {
            let conjugate =
                dispatch(ShrinkOnes { lambda, weights: &self.weights, xi, theta: &mut theta });
            return (theta, conjugate);
        }
        let mut conjugate = 0.0;
        let mut start = 0;
        for (weight, end) in self.weights.iter().zip(&self.starts[1..]) {
            let part = &xi[start..*end];
            let size = norm(part);
            let penalty = lambda.penalty(*weight);
            if size > penalty.level {
                let shrink = penalty.shrink(size);
                conjugate += penalty.conjugate(size);
                theta[start..*end].iter_mut().zip(part).for_each(|(t, x)| *t = shrink * x);
            }
            start = *end;
        }
        (theta, conjugate)
    }

    /// Whether pairs one by one, with two loads to a multiplication, take less than tiles.
    fn few(&self) -> bool {
        let variables = self.products.variables();
        2 * (variables * variables.saturating_sub(1) / 2) < tiled_pairs(variables)
    }

    /// Where the coefficients of the factor (u, v) start: u singles and all earlier pairs precede.
    #[inline(always)]
    fn start(&self, u: usize, v: usize) -> usize {
        let basis = self.products.basis();
        (factor_index(u, v) - u) * basis.pair.len() + u * basis.single.len()
    }
}

/// How many products the tiles of all pairs hold: tiles are whole, and of few variables mostly padding.
fn tiled_pairs(variables: usize) -> usize {
    let tiles = |col: usize| ((col + 1) * COLS).min(variables).div_ceil(ROWS);
    (0..variables.div_ceil(COLS)).map(tiles).sum::<usize>() * ROWS * COLS
}

/// Theta where every factor has one feature; the conjugates add up to `lambda1 |theta|^2 / 2`.
struct ShrinkOnes<'a> {
    lambda: Lambda,
    weights: &'a [f64],
    xi: &'a [f64],
    theta: &'a mut [f64],
}

impl WithSimd for ShrinkOnes<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Lambda { lambda1, lambda2 } = self.lambda;
        for ((t, x), weight) in self.theta.iter_mut().zip(self.xi).zip(self.weights) {
            *t = (x.abs() - level(lambda2, *weight)).max(0.0).copysign(*x) / lambda1;
        }
        0.5 * lambda1 * dot(simd, self.theta, self.theta)
    }
}

struct Linear<'a> {
    problem: &'a Problem,
    places: &'a [(usize, usize, usize)],
}

impl WithSimd for Linear<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.places.len());
        for place in self.places {
            out.push(self.problem.linear_moment(simd, *place));
        }
        out
    }
}

impl Design for ProductDesign {
    fn groups(&self) -> usize {
        self.weights.len()
    }

    fn span(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    fn weight(&self, group: usize) -> f64 {
        self.weights[group]
    }

    fn linear(&self) -> &[f64] {
        &self.linear
    }

    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let nonzero = theta.iter().filter(|t| **t != 0.0).count();
        // A tile must be mostly variables, and those mostly with non-zero coefficients.
        let wide = self.products.variables() >= 2 * ROWS;
        let dense = wide && nonzero > theta.len() / DENSE;
        let part = |block: &Block| {
            if dense {
                dispatch(DenseScores { design: self, block, theta })
            } else {
                dispatch(SparseScores { design: self, block, theta })
            }
        };
        let parts: Vec<Vec<f64>> = self.blocks.par_iter().map(part).collect();
        parts.concat()
    }

    fn count_all(
        &self,
        lambda: Lambda,
        (theta, xi): (&[f64], &[f64]),
        certificate: &mut Certificate,
    ) {
        if self.one_each() {
            certificate.count_ones(lambda, &self.weights, theta, xi);
        } else {
            let each = 0..self.groups();
            each.for_each(|group| self.count(group, lambda, (theta, xi), certificate));
        }
    }

    fn moments(&self, alpha: &[f64]) -> Vec<f64> {
        let part = |block: &Block| dispatch(Moments { design: self, block, alpha });
        let parts: Vec<Vec<f64>> = self.blocks.par_iter().map(part).collect();
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.iter_mut().zip(part).for_each(|(total, h)| *total += h);
        }
        all
    }
}

impl UpdateDesign for ProductDesign {
    fn set_penalty_factor(&mut self, penalty_factor: &PenaltyFactors) {
        let weights = self.weights.iter_mut().enumerate();
        weights.for_each(|(factor, weight)| *weight = penalty_factor.at(factor));
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.linear = dispatch(Linear { problem, places: &self.places });
    }
}

impl RowDesign for ProductDesign {
    fn width(&self) -> usize {
        self.signs.len()
    }

    fn row_ids(&self, group: usize) -> Range<usize> {
        self.span(group)
    }

    fn row_count(&self) -> usize {
        self.places.len()
    }

    fn single(&self) -> bool {
        self.products.basis().single.len() <= 1 && self.products.basis().pair.len() == 1
    }

    fn pass_cost(&self) -> usize {
        let variables = self.products.variables();
        let pairs = if self.few() {
            variables * variables.saturating_sub(1)
        } else {
            tiled_pairs(variables)
        };
        pairs * self.products.basis().pair.len() * self.width()
    }

    fn generation(&self) -> usize {
        0
    }

    fn support(&self, theta: &[f64]) -> Vec<bool> {
        theta.iter().map(|t| *t != 0.0).collect()
    }

    fn copy_row(&self, id: usize, span: Range<usize>, out: &mut [f64]) {
        let (u, v, k) = self.places[id];
        let (p, q) = self.products.basis().exponents(u, v, k);
        let mut done = 0;
        for block in &self.blocks[span.start / BLOCK..span.end.div_ceil(BLOCK)] {
            let start = span.start.max(block.span.start) - block.span.start;
            let end = span.end.min(block.span.end) - block.span.start;
            let (a, b) = (&block.column(p, u)[start..end], &block.column(q, v)[start..end]);
            let signs = &self.signs[block.span.start + start..];
            let out = &mut out[done..done + end - start];
            dispatch(SignedProduct { signs: &signs[..end - start], a, b, out });
            done += end - start;
        }
    }

    fn dual_point(&self, lambda: Lambda, linear: &[f64], alpha: &[f64]) -> DualPoint {
        let mut xi = self.moments(alpha);
        xi.iter_mut().zip(linear).for_each(|(h, g)| *h = g - *h);
        let (theta, conjugate) = self.shrink(lambda, &xi);
        let fitted = self.scores(&theta);
        DualPoint { xi, theta, fitted, conjugate }
    }
}

/// The product of two columns with the terms' signs.
struct SignedProduct<'a> {
    signs: &'a [f64],
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for SignedProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (((target, sign), a), b) in self.out.iter_mut().zip(self.signs).zip(self.a).zip(self.b)
        {
            *target = sign * a * b;
        }
    }
}

/// A block's share of `H alpha`: tiles for pairs, sums for singles.
struct Moments<'a> {
    design: &'a ProductDesign,
    block: &'a Block,
    alpha: &'a [f64],
}

impl WithSimd for Moments<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { design, block, alpha } = self;
        let basis = design.products.basis();
        let size = basis.pair.len();
        let variables = design.products.variables();
        let mut signed = Vec::with_capacity(block.span.len());
        for (a, sign) in alpha[block.span.clone()].iter().zip(&design.signs[block.span.clone()]) {
            signed.push(a * sign);
        }
        let mut out = vec![0.0; design.places.len()];
        for u in 0..variables {
            for (k, &p) in basis.single.iter().enumerate() {
                out[design.start(u, u) + k] = dot(simd, &signed, block.column(p, u));
            }
        }
        if design.few() {
            add_few_pairs(simd, design, block, &signed, &mut out);
            return out;
        }
        let mut sums = [0.0; ROWS * COLS];
        let mut right = vec![0.0; COLS * signed.len()];
        for (col, first) in (0..variables).step_by(COLS).enumerate() {
            let end = (first + COLS).min(variables);
            let mut exponent = None;
            for (k, &(p, q)) in basis.pair.iter().enumerate() {
                if exponent != Some(p) {
                    weigh_rows(simd, block.right[p].panel(col), &signed, &mut right);
                    exponent = Some(p);
                }
                for row in 0..end.div_ceil(ROWS) {
                    let top = row * ROWS;
                    tile_rows(simd, end - top, block.left[q].panel(row), &right, &mut sums);
                    for (u, sums) in (first..end).zip(sums.chunks_exact(ROWS)) {
                        // Pairs of one u lie side by side.
                        let start = design.start(u, top) + k;
                        let count = ROWS.min(u - top);
                        for (target, sum) in
                            out[start..].iter_mut().step_by(size).zip(&sums[..count])
                        {
                            *target = *sum;
                        }
                    }
                }
            }
        }
        out
    }
}

/// Every row of a panel times its weight.
#[inline(always)]
fn weigh_rows<S: Simd>(simd: S, panel: &[f64], weights: &[f64], out: &mut [f64]) {
    let (rows, _) = as_arrays::<COLS, _>(panel);
    let (slots, _) = as_arrays_mut::<COLS, _>(out);
    for ((slots, row), weight) in slots.iter_mut().zip(rows).zip(weights) {
        let factor = simd.splat_f64s(*weight);
        let (slots, _) = S::as_mut_simd_f64s(slots);
        for (slot, values) in slots.iter_mut().zip(S::as_simd_f64s(row).0) {
            *slot = simd.mul_f64s(factor, *values);
        }
    }
}

/// The pairs of few variables, one by one: tiles would be mostly padding.
#[inline(always)]
fn add_few_pairs<S: Simd>(
    simd: S,
    design: &ProductDesign,
    block: &Block,
    signed: &[f64],
    out: &mut [f64],
) {
    let basis = design.products.basis();
    let size = basis.pair.len();
    let mut weighted = vec![0.0; signed.len()];
    for u in 1..design.products.variables() {
        let mut exponent = None;
        for (k, &(p, q)) in basis.pair.iter().enumerate() {
            if exponent != Some(p) {
                weighted.fill(0.0);
                axpy_product(simd, 1.0, signed, block.column(p, u), &mut weighted);
                exponent = Some(p);
            }
            let start = design.start(u, 0) + k;
            for v in 0..u {
                out[start + v * size] = dot(simd, &weighted, block.column(q, v));
            }
        }
    }
}

/// A block's `H'theta` where few coefficients are non-zero: for each u and feature, `s_u^p` times the
/// sum over v of `theta s_v^q`.
struct SparseScores<'a> {
    design: &'a ProductDesign,
    block: &'a Block,
    theta: &'a [f64],
}

impl WithSimd for SparseScores<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { design, block, theta } = self;
        let basis = design.products.basis();
        let size = basis.pair.len();
        let mut scores = vec![0.0; block.span.len()];
        let mut sum = vec![0.0; block.span.len()];
        for u in 0..design.products.variables() {
            for (k, &(p, q)) in basis.pair.iter().enumerate() {
                let start = design.start(u, 0) + k;
                let mut any = false;
                for v in 0..u {
                    let value = theta[start + v * size];
                    if value != 0.0 {
                        if !any {
                            sum.fill(0.0);
                            any = true;
                        }
                        axpy(simd, value, block.column(q, v), &mut sum);
                    }
                }
                if any {
                    axpy_product(simd, 1.0, block.column(p, u), &sum, &mut scores);
                }
            }
        }
        add_singles(simd, design, block, theta, &mut scores);
        scores
    }
}

/// The same where many are: the sums over v of `COLS` variables u and `ROWS` scores in a tile.
struct DenseScores<'a> {
    design: &'a ProductDesign,
    block: &'a Block,
    theta: &'a [f64],
}

impl WithSimd for DenseScores<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { design, block, theta } = self;
        let basis = design.products.basis();
        let (size, width) = (basis.pair.len(), block.span.len());
        let variables = design.products.variables();
        let mut scores = vec![0.0; width];
        let mut right = vec![0.0; variables.next_multiple_of(COLS) * COLS];
        let mut sums = [0.0; ROWS * COLS];
        for first in (0..variables).step_by(COLS) {
            let end = (first + COLS).min(variables);
            for (k, &(p, q)) in basis.pair.iter().enumerate() {
                let right = &mut right[..end * COLS];
                right.fill(0.0);
                for u in first..end {
                    let theta = theta[design.start(u, 0) + k..].iter().step_by(size);
                    for (slots, value) in right.chunks_exact_mut(COLS).zip(theta).take(u) {
                        slots[u - first] = *value;
                    }
                }
                for (row, part) in scores.chunks_mut(ROWS).enumerate() {
                    let left = block.by_score[q].panel(row);
                    tile_rows(simd, part.len(), &left[..end * ROWS], right, &mut sums);
                    for (u, sums) in (first..end).zip(sums.chunks_exact(ROWS)) {
                        let column = &block.column(p, u)[row * ROWS..][..part.len()];
                        axpy_product(simd, 1.0, column, &sums[..part.len()], part);
                    }
                }
            }
        }
        add_singles(simd, design, block, theta, &mut scores);
        scores
    }
}

/// Add the share of the single variables, then turn every score to its term's sign.
#[inline(always)]
fn add_singles<S: Simd>(
    simd: S,
    design: &ProductDesign,
    block: &Block,
    theta: &[f64],
    scores: &mut [f64],
) {
    for u in 0..design.products.variables() {
        for (k, &p) in design.products.basis().single.iter().enumerate() {
            axpy(simd, theta[design.start(u, u) + k], block.column(p, u), scores);
        }
    }
    for (s, sign) in scores.iter_mut().zip(&design.signs[block.span.clone()]) {
        *s *= sign;
    }
}
