//! The linear system of a Newton step in the dual.
//!
//! With S the non-zero factors, `G = M^(1/2) H_S` (M the derivative of the group shrinkage, 1 for
//! single features) and `Gamma = diag(alpha) - alpha alpha'` term by term, a step solves
//!
//! `(I + G'G Gamma / lambda1) delta = w' - w`
//!
//! through whichever of the two Cholesky factors is smaller: as many rows as G has, or as many as
//! there are scores.

use crate::design::subproblem::Subproblem;
use crate::design::{DualPoint, RowDesign};
use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch, dot};
use crate::numerics::tiles::{add_gram, Panels};
use crate::objective::loss::Loss;
use crate::objective::penalty::norm;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Scores gone through at a time: the rows of some hundred features on them fit the cache.
const BLOCK: usize = 256;

/// A subproblem on a design with rows.
pub type RowSubproblem<'a> = Subproblem<'a, dyn RowDesign + 'a>;

/// The last system will do where no more than one row in this many has entered or left since.
const NEAR: usize = 256;

/// Newton systems, with what lasts from one to the next.
#[derive(Default)]
pub struct NewtonSystem {
    gram: RowGram,
    /// The last system over the scores, of `gram` as it is.
    last: Option<ScoreSystem>,
}

impl NewtonSystem {
    /// The direction of the last system, where it is nearly that of this dual point: nothing is factored.
    pub fn near_direction(
        &self,
        subproblem: &RowSubproblem<'_>,
        at: &DualPoint,
        shift: &[f64],
    ) -> Option<Vec<f64>> {
        let Subproblem { design, loss, lambda, .. } = *subproblem;
        let last = self.last.as_ref().filter(|last| last.ridge == lambda.lambda1)?;
        let near = design.single() && self.gram.is_near(design, &design.support(&at.theta));
        near.then(|| last.direction(&self.gram.matrix, loss, shift))
    }

    /// The Newton direction from a dual point whose own scores are off by `shift` (centred under
    /// alpha), or `None` where the system cannot be factored.
    pub fn direction(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        at: &DualPoint,
        alpha: &[f64],
        shift: &[f64],
    ) -> Option<Vec<f64>> {
        let Subproblem { design, loss, lambda, .. } = *subproblem;
        let (width, lambda1) = (design.width(), lambda.lambda1);
        let rows = at.theta.iter().filter(|t| **t != 0.0).count();
        if rows == 0 {
            return Some(shift.to_vec());
        }
        if rows > width && design.single() {
            let gram = self.gram.of(design, design.support(&at.theta));
            self.last = ScoreSystem::new(gram, loss, alpha, lambda1);
            return Some(self.last.as_ref()?.direction(gram, loss, shift));
        }
        let support = Support::new(subproblem, at);
        if support.rows() <= width {
            return by_rows(subproblem, &support, alpha, shift);
        }
        let mut matrix = vec![0.0; width * width];
        add_rows(width, &support.scaled_rows(design, 0..width), |_| 1.0, &mut matrix);
        Some(ScoreSystem::new(&matrix, loss, alpha, lambda1)?.direction(&matrix, loss, shift))
    }
}

/// The non-zero factors at a dual point.
struct Support {
    groups: Vec<SupportGroup>,
    /// `xi_t / |xi_t|` of every group, one after the other.
    directions: Vec<f64>,
}

struct SupportGroup {
    /// The factor in its design.
    group: usize,
    /// Its rows there.
    rows: Range<usize>,
    /// `sqrt(1 - rho)`, `rho = lambda2 w / |xi|`: M^(1/2) across the direction; along it, 1.
    across: f64,
}

impl Support {
    fn new(subproblem: &RowSubproblem<'_>, at: &DualPoint) -> Self {
        let Subproblem { design, lambda, .. } = *subproblem;
        let mut support = Self { groups: Vec::new(), directions: Vec::new() };
        for group in 0..design.groups() {
            let xi = &at.xi[design.span(group)];
            let size = norm(xi);
            let level = lambda.penalty(design.weight(group)).level;
            if size > level {
                let across = (1.0 - level / size).sqrt();
                let rows = design.row_ids(group);
                support.groups.push(SupportGroup { group, rows, across });
                support.directions.extend(xi.iter().map(|x| x / size));
            }
        }
        support
    }

    /// How many features.
    fn rows(&self) -> usize {
        self.directions.len()
    }

    /// `G = M^(1/2) H_S` on a span of the scores, row after row.
    fn scaled_rows(&self, set: &dyn RowDesign, span: Range<usize>) -> Vec<f64> {
        let width = span.len();
        let mut out = vec![0.0; self.rows() * width];
        let mut start = 0;
        for SupportGroup { rows, across, .. } in &self.groups {
            let size = rows.len();
            let part = &mut out[start * width..(start + size) * width];
            for (target, id) in part.chunks_exact_mut(width).zip(rows.clone()) {
                set.copy_row(id, span.clone(), target);
            }
            if size > 1 {
                scale_group(part, &self.directions[start..start + size], *across);
            }
            start += size;
        }
        out
    }

    /// `M^(1/2)` times a vector over the support's rows, as coefficients of all factors.
    fn expand(&self, set: &dyn RowDesign, vector: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; set.linear().len()];
        let mut start = 0;
        for SupportGroup { group, across, .. } in &self.groups {
            let target = &mut out[set.span(*group)];
            let part = &vector[start..start + target.len()];
            let direction = &self.directions[start..start + target.len()];
            let along: f64 = part.iter().zip(direction).map(|(x, u)| x * u).sum();
            for ((t, x), u) in target.iter_mut().zip(part).zip(direction) {
                *t = across * x + (1.0 - across) * along * u;
            }
            start += target.len();
        }
        out
    }
}

/// `M^(1/2)` times the rows of a group: `across` times each, but 1 along the direction.
fn scale_group(rows: &mut [f64], direction: &[f64], across: f64) {
    let width = rows.len() / direction.len();
    let mut along = vec![0.0; width];
    for (row, u) in rows.chunks_exact(width).zip(direction) {
        along.iter_mut().zip(row).for_each(|(a, h)| *a += u * h);
    }
    for (row, u) in rows.chunks_exact_mut(width).zip(direction) {
        let share = (1.0 - across) * u;
        row.iter_mut().zip(&along).for_each(|(h, a)| *h = across * *h + share * a);
    }
}

/// `delta = shift - G'(lambda1 I + G Gamma G')^-1 G Gamma shift`: a system with as many rows as G.
fn by_rows(
    subproblem: &RowSubproblem<'_>,
    support: &Support,
    alpha: &[f64],
    shift: &[f64],
) -> Option<Vec<f64>> {
    let Subproblem { design, loss, lambda, .. } = *subproblem;
    let count = support.rows();
    let mut system = vec![0.0; count * count];
    let mut solution = vec![0.0; count];
    for term in loss.terms() {
        let mut mean = vec![0.0; count];
        for start in term.span.clone().step_by(BLOCK) {
            let span = start..term.span.end.min(start + BLOCK);
            let width = span.len();
            let rows = support.scaled_rows(design, span.clone());
            let row = |r: usize| &rows[r * width..][..width];
            let left = Panels::pack(count, width, row, Some(&alpha[span.clone()]));
            let right = Panels::pack(count, width, row, None);
            add_gram(count, &left, &right, &mut system);
            let weighted: Vec<f64> = span.clone().map(|i| alpha[i] * shift[i]).collect();
            add_products(&rows, &weighted, &mut solution);
            add_products(&rows, &alpha[span], &mut mean);
        }
        // Gamma is diag(alpha) less alpha alpha'.
        for i in 0..count {
            let row = system[i * count..][..i + 1].iter_mut();
            row.zip(&mean).for_each(|(s, m)| *s -= mean[i] * m);
        }
    }
    (0..count).for_each(|i| system[i * count + i] += lambda.lambda1);
    Cholesky::new(&system, count)?.solve(&mut solution);
    let moved = design.scores(&support.expand(design, &solution));
    Some(shift.iter().zip(moved).map(|(s, m)| s - m).collect())
}

/// `out += rows vector`.
fn add_products(rows: &[f64], vector: &[f64], out: &mut [f64]) {
    let products = dispatch(Products { rows, vector });
    out.iter_mut().zip(products).for_each(|(total, p)| *total += p);
}

/// `delta = shift - K L (I + L'KL)^-1 L'shift` with `K = G'G / lambda1` (given by its lower triangle
/// times lambda1) and `L L' = Gamma`, `L = diag(q) P`, `q = sqrt(alpha)`, P the projection that takes
/// out of each term its component along q: a system with as many rows as there are scores.
struct ScoreSystem {
    /// q.
    root: Vec<f64>,
    /// lambda1.
    ridge: f64,
    /// Of `I + L'KL`.
    factor: Cholesky,
}

impl ScoreSystem {
    fn new(gram: &[f64], loss: &Loss, alpha: &[f64], ridge: f64) -> Option<Self> {
        let size = alpha.len();
        let root: Vec<f64> = alpha.iter().map(|a| a.sqrt()).collect();
        // S = diag(q) K diag(q), lower triangle.
        let mut system = vec![0.0; size * size];
        for i in 0..size {
            let row = system[i * size..][..i + 1].iter_mut().zip(&gram[i * size..][..i + 1]);
            row.zip(&root).for_each(|((s, k), q)| *s = k * q * (root[i] / ridge));
        }
        project_both(loss, &root, &mut system);
        (0..size).for_each(|i| system[i * size + i] += 1.0);
        Some(Self { factor: Cholesky::new(&system, size)?, root, ridge })
    }

    /// With the Gram matrix it was made of.
    fn direction(&self, gram: &[f64], loss: &Loss, shift: &[f64]) -> Vec<f64> {
        let Self { root, ridge, factor } = self;
        let mut solution: Vec<f64> = shift.iter().zip(root).map(|(s, r)| s * r).collect();
        project(loss, root, &mut solution);
        factor.solve(&mut solution);
        project(loss, root, &mut solution);
        solution.iter_mut().zip(root).for_each(|(s, r)| *s *= r / ridge);
        let moved = dispatch(SymmetricProduct { lower: gram, vector: &solution });
        shift.iter().zip(moved).map(|(s, m)| s - m).collect()
    }
}

/// Take out of each term's part of a vector its component along q.
fn project(loss: &Loss, root: &[f64], vector: &mut [f64]) {
    for term in loss.terms() {
        let (root, part) = (&root[term.span.clone()], &mut vector[term.span.clone()]);
        let along: f64 = root.iter().zip(part.iter()).map(|(r, v)| r * v).sum();
        part.iter_mut().zip(root).for_each(|(v, r)| *v -= along * r);
    }
}

/// `P S P` in place of the lower triangle of S. With `v_b = S q_b` for term b, entry (i, j) of terms
/// (a, b) becomes `S_ij - q_i v_a,j - v_b,i q_j + q_a'v_b q_i q_j`.
fn project_both(loss: &Loss, root: &[f64], lower: &mut [f64]) {
    let size = root.len();
    let images: Vec<Vec<f64>> = loss
        .terms()
        .iter()
        .map(|term| {
            let mut part = vec![0.0; size];
            part[term.span.clone()].copy_from_slice(&root[term.span.clone()]);
            dispatch(SymmetricProduct { lower, vector: &part })
        })
        .collect();
    for (a, rows) in loss.terms().iter().enumerate() {
        for (b, cols) in loss.terms().iter().enumerate().take(a + 1) {
            let (cross_rows, cross_cols) = (&images[b], &images[a]);
            let inner: f64 = rows.span.clone().map(|i| root[i] * cross_rows[i]).sum();
            for i in rows.span.clone() {
                let (q, v) = (root[i], cross_rows[i] - inner * root[i]);
                let span = cols.span.start..cols.span.end.min(i + 1);
                let row = lower[i * size..][span.clone()].iter_mut();
                let columns = cross_cols[span.clone()].iter().zip(&root[span]);
                row.zip(columns).for_each(|(s, (image, r))| *s -= q * image + v * r);
            }
        }
    }
}

/// `S vector` for a symmetric matrix given by its lower triangle.
struct SymmetricProduct<'a> {
    lower: &'a [f64],
    vector: &'a [f64],
}

impl WithSimd for SymmetricProduct<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let size = self.vector.len();
        let mut out = vec![0.0; size];
        for i in 0..size {
            let row = &self.lower[i * size..][..i + 1];
            out[i] += dot(simd, row, &self.vector[..i + 1]);
            axpy(simd, self.vector[i], &row[..i], &mut out[..i]);
        }
        out
    }
}

/// Add `sum_k sign_k row_k row_k'` (lower triangle) over rows given one after the other.
fn add_rows(width: usize, rows: &[f64], sign: impl Fn(usize) -> f64 + Sync, out: &mut [f64]) {
    let row = |k: usize| &rows[k * width..][..width];
    let depth = rows.len() / width;
    let left = Panels::pack_rows(width, depth, row, sign);
    let right = Panels::pack_rows(width, depth, row, |_| 1.0);
    add_gram(width, &left, &right, out);
}

/// `H_S'H_S` for single features, kept up to date by the rows that enter and leave S.
#[derive(Debug, Default)]
struct RowGram {
    generation: usize,
    inside: Vec<bool>,
    /// Lower triangle.
    matrix: Vec<f64>,
    /// Rows moved since the matrix was last made from scratch: rounding errors add up.
    moved: usize,
}

impl RowGram {
    /// Whether it is nearly that of these rows.
    fn is_near(&self, set: &dyn RowDesign, wanted: &[bool]) -> bool {
        let count = |rows: &[bool]| rows.iter().filter(|row| **row).count();
        // Rows get numbers, and keep them.
        let later = &wanted[self.inside.len().min(wanted.len())..];
        let moved = wanted.iter().zip(&self.inside).filter(|(a, b)| a != b).count() + count(later);
        self.generation == set.generation() && NEAR * moved <= count(wanted)
    }

    /// The matrix over these rows.
    fn of(&mut self, set: &dyn RowDesign, wanted: Vec<bool>) -> &[f64] {
        let width = set.width();
        let moves = self.moves(set, wanted);
        self.matrix.resize(width * width, 0.0);
        let mut rows = vec![0.0; BLOCK.min(moves.len()) * width];
        for part in moves.chunks(BLOCK) {
            let rows = &mut rows[..part.len() * width];
            for (row, (id, _)) in rows.chunks_exact_mut(width).zip(part) {
                set.copy_row(*id, 0..width, row);
            }
            add_rows(width, rows, |k| part[k].1, &mut self.matrix);
        }
        &self.matrix
    }

    /// The rows to add (+1) and to take away (-1); starts over when that is less work or safer.
    fn moves(&mut self, set: &dyn RowDesign, wanted: Vec<bool>) -> Vec<(usize, f64)> {
        let rows = wanted.iter().filter(|wanted| **wanted).count();
        self.inside.resize(wanted.len(), false);
        let mut moves = differences(&self.inside, &wanted);
        self.moved += moves.len();
        let stale = self.generation != set.generation() || self.moved > 8 * rows;
        if stale || self.matrix.is_empty() || moves.len() > rows {
            moves = differences(&vec![false; wanted.len()], &wanted);
            *self = Self { generation: set.generation(), ..Self::default() };
        }
        self.inside = wanted;
        moves
    }
}

/// Where two sets differ: +1 for what has to enter, -1 for what has to leave.
fn differences(inside: &[bool], wanted: &[bool]) -> Vec<(usize, f64)> {
    let pairs = inside.iter().zip(wanted).enumerate();
    pairs
        .filter(|(_, (inside, wanted))| inside != wanted)
        .map(|(row, (_, wanted))| (row, if *wanted { 1.0 } else { -1.0 }))
        .collect()
}

/// `rows vector`.
struct Products<'a> {
    rows: &'a [f64],
    vector: &'a [f64],
}

impl WithSimd for Products<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.rows.len() / self.vector.len());
        for row in self.rows.chunks_exact(self.vector.len()) {
            out.push(dot(simd, row, self.vector));
        }
        out
    }
}
