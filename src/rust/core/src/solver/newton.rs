//! Semismooth Newton in the dual, on a working set.
//!
//! The unknowns are the scores w of the rows; `alpha = softmax(w)`, theta follows from `xi(alpha)` in
//! closed form, and the fit is done when its own scores `w' = H'theta` are w again. With S the
//! factors off zero, `G = M^(1/2) H_S` (M the derivative of the group shrinkage, 1 for single
//! features) and `Gamma = diag(alpha) - alpha alpha'` term by term, a step solves
//!
//! `(I + G'G Gamma / lambda1) delta = w' - w`
//!
//! through whichever of the two Cholesky factors is smaller: as many rows as G has, or as many as
//! there are scores. The duality gap is `KL(alpha || softmax(w'))`.

use crate::dense::Cholesky;
use crate::error::Result;
use crate::kernel::{gram, Panels};
use crate::loss::{Loss, Weights};
use crate::monitor::Monitor;
use crate::penalty::norm;
use crate::problem::{Design, DualPoint, Lambda, Point, RowDesign};
use crate::simd::{axpy, dispatch, dot};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Share of the predicted increase a step must bring.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 40;

/// What one solve is about.
pub struct Task<'a> {
    /// The factors.
    pub set: &'a dyn RowDesign,
    /// The loss over their rows.
    pub loss: &'a Loss,
    /// The penalties; the ridge is positive.
    pub lambda: Lambda,
    /// The linear term: the set's own, or shifted by a proximal point.
    pub linear: &'a [f64],
    /// Stop at this duality gap, given the objective.
    pub enough: &'a dyn Fn(f64) -> f64,
    /// At most this many steps.
    pub max_iter: usize,
}

/// Where a solve ended.
pub struct Ended {
    /// The last theta.
    pub theta: Vec<f64>,
    /// Its scores, and what follows from them.
    pub own: Own,
    /// Steps made.
    pub iterations: usize,
    /// Whether the gap was reached.
    pub reached: bool,
}

impl Ended {
    /// Theta judged over the working set by `lambda`: the task's, or the one a proximal pull is for.
    pub fn into_point(self, set: &dyn Design, lambda: Lambda) -> Point {
        let Own { scores, weights, moments } = self.own;
        Point::with_moments(set, lambda, self.theta, scores, weights, &moments)
    }
}

/// The scores of a theta, their weights, and the moments of the features under those.
pub struct Own {
    /// `H'theta`.
    pub scores: Vec<f64>,
    /// `alpha(theta)`.
    pub weights: Weights,
    /// `H alpha(theta)`.
    pub moments: Vec<f64>,
}

/// The solver, with what is worth keeping from one solve to the next.
#[derive(Debug, Default)]
pub struct Newton {
    gram: RowGram,
}

/// A point of the dual.
struct Trial {
    scores: Vec<f64>,
    weights: Weights,
    at: DualPoint,
    /// The dual objective.
    value: f64,
    /// The fit's own scores minus the ones it was made with, centred under alpha.
    shift: Vec<f64>,
    /// `KL(alpha || softmax(own scores))`.
    gap: f64,
}

impl Newton {
    /// Maximise the dual from these scores on.
    pub fn solve(&mut self, task: &Task<'_>, scores: &[f64], monitor: &Monitor) -> Result<Ended> {
        let mut now = task.try_scores(scores.to_vec());
        let mut iterations = 0;
        loop {
            monitor.check()?;
            let enough = (task.enough)(now.value + now.gap);
            if now.gap <= enough {
                let own = task.own(&now.at);
                if task.own_gap(&now.at.theta, &own) <= enough {
                    return Ok(Ended { theta: now.at.theta, own, iterations, reached: true });
                }
            }
            let next = (iterations < task.max_iter)
                .then(|| self.direction(task, &now))
                .flatten()
                .and_then(|direction| task.line_search(&now, &direction));
            match next {
                Some(next) => now = next,
                None => {
                    let own = task.own(&now.at);
                    return Ok(Ended { theta: now.at.theta, own, iterations, reached: false });
                }
            }
            iterations += 1;
        }
    }

    /// The Newton direction, or `None` where the system cannot be factored.
    fn direction(&mut self, task: &Task<'_>, now: &Trial) -> Option<Vec<f64>> {
        let shift = &now.shift;
        let support = Support::new(task, &now.at);
        if support.rows() == 0 {
            return Some(shift.to_vec());
        }
        let alpha = &now.weights.alpha;
        let ridge = task.lambda.ridge;
        if support.rows() <= task.set.width() {
            let rows = support.scaled_rows(task.set);
            by_rows(&rows, task.loss, alpha, ridge, shift)
        } else {
            let scaled;
            let gram = if support.single {
                self.gram.of(task.set, &support)
            } else {
                scaled = gram_of_rows(task.set.width(), &support.scaled_rows(task.set));
                &scaled
            };
            by_scores(gram, task.loss, alpha, ridge, shift)
        }
    }
}

impl Task<'_> {
    fn try_scores(&self, scores: Vec<f64>) -> Trial {
        let weights = self.loss.weights(&scores);
        let at = self.set.dual_point(self.lambda, self.linear, &weights.alpha);
        let value = -self.loss.divergence_from_base(&scores, &weights) - at.conjugate;
        let mut shift: Vec<f64> = at.fitted.iter().zip(&scores).map(|(own, s)| own - s).collect();
        self.loss.centre(&weights.alpha, &mut shift);
        let gap = self.loss.divergence(&weights.alpha, &shift);
        Trial { scores, weights, at, value, shift, gap }
    }

    /// The weights that belong to theta: those of its own scores.
    fn own(&self, at: &DualPoint) -> Own {
        let weights = self.loss.weights(&at.fitted);
        let moments = self.set.moments(&weights.alpha);
        Own { scores: at.fitted.clone(), weights, moments }
    }

    /// The gap of theta with its own weights: what the certificate will say.
    fn own_gap(&self, theta: &[f64], own: &Own) -> f64 {
        let xi: Vec<f64> = self.linear.iter().zip(&own.moments).map(|(g, h)| g - h).collect();
        let gap = |group| {
            let span = self.set.span(group);
            self.lambda.penalty(self.set.weight(group)).gap(&theta[span.clone()], &xi[span])
        };
        (0..self.set.groups()).map(gap).sum()
    }

    /// Shorten the step until the dual rises enough. Where the rise is too small for doubles to show,
    /// the gap must fall instead; `None` where neither happens.
    fn line_search(&self, now: &Trial, direction: &[f64]) -> Option<Trial> {
        let alpha = &now.weights.alpha;
        let slope: f64 = (0..alpha.len()).map(|i| alpha[i] * now.shift[i] * direction[i]).sum();
        let noise = 16.0 * f64::EPSILON * (now.value.abs() + now.at.conjugate);
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            let scores = now.scores.iter().zip(direction).map(|(s, d)| s + step * d).collect();
            let next = self.try_scores(scores);
            let rises = next.value >= now.value + ARMIJO * step * slope;
            let level = step * slope <= noise && next.value >= now.value - noise;
            if rises && step * slope > noise || level && next.gap < now.gap {
                return Some(next);
            }
            step *= 0.5;
        }
        None
    }
}

/// The factors off zero at a dual point.
struct Support {
    groups: Vec<SupportGroup>,
    /// `xi_t / |xi_t|` of every group, one after the other.
    directions: Vec<f64>,
    /// Whether every factor has a single feature.
    single: bool,
}

struct SupportGroup {
    /// The stored rows.
    rows: Range<usize>,
    /// `sqrt(1 - rho)`, `rho = lambda2 w / |xi|`: M^(1/2) across the direction; along it, 1.
    across: f64,
}

impl Support {
    fn new(task: &Task<'_>, at: &DualPoint) -> Self {
        let mut support = Self { groups: Vec::new(), directions: Vec::new(), single: true };
        for group in 0..task.set.groups() {
            let xi = &at.xi[task.set.span(group)];
            let size = norm(xi);
            let level = task.lambda.penalty(task.set.weight(group)).level;
            if size > level {
                let across = (1.0 - level / size).sqrt();
                support.groups.push(SupportGroup { rows: task.set.row_ids(group), across });
                support.directions.extend(xi.iter().map(|x| x / size));
                support.single &= xi.len() == 1;
            }
        }
        support
    }

    /// How many features.
    fn rows(&self) -> usize {
        self.directions.len()
    }

    /// `G = M^(1/2) H_S`, row after row.
    fn scaled_rows(&self, set: &dyn RowDesign) -> Vec<f64> {
        let width = set.width();
        let mut out = vec![0.0; self.rows() * width];
        let mut start = 0;
        for SupportGroup { rows, across } in &self.groups {
            let size = rows.len();
            let part = &mut out[start * width..(start + size) * width];
            for (target, id) in part.chunks_exact_mut(width).zip(rows.clone()) {
                set.copy_row(id, target);
            }
            if size > 1 {
                scale_group(part, &self.directions[start..start + size], *across);
            }
            start += size;
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
    rows: &[f64],
    loss: &Loss,
    alpha: &[f64],
    ridge: f64,
    shift: &[f64],
) -> Option<Vec<f64>> {
    let width = alpha.len();
    let count = rows.len() / width;
    let root: Vec<f64> = alpha.iter().map(|a| a.sqrt()).collect();
    // Z = G Gamma^(1/2): centred under alpha, then times its root.
    let centred = dispatch(Centre { rows, loss, alpha, root: &root });
    let row = |r: usize| &centred[r * width..][..width];
    let left = Panels::pack(count, width, row, None);
    let right = Panels::pack(count, width, row, None);
    let mut system = gram(count, &left, &right);
    (0..count).for_each(|i| system[i * count + i] += ridge);
    let rooted: Vec<f64> = shift.iter().zip(&root).map(|(s, r)| s * r).collect();
    let mut solution = dispatch(Products { rows: &centred, vector: &rooted });
    Cholesky::new(system, count)?.solve(&mut solution);
    let mut direction = shift.to_vec();
    dispatch(Subtract { rows, factors: &solution, out: &mut direction });
    Some(direction)
}

/// `delta = shift - K L (I + L'KL)^-1 L'shift` with `K = G'G / lambda1` (given by its lower triangle
/// times lambda1) and `L L' = Gamma`, `L = diag(q) P`, `q = sqrt(alpha)`, P the projection that takes
/// out of each term its component along q: as many rows as there are scores.
fn by_scores(
    gram: &[f64],
    loss: &Loss,
    alpha: &[f64],
    ridge: f64,
    shift: &[f64],
) -> Option<Vec<f64>> {
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
    let mut solution: Vec<f64> = shift.iter().zip(&root).map(|(s, r)| s * r).collect();
    project(loss, &root, &mut solution);
    Cholesky::new(system, size)?.solve(&mut solution);
    project(loss, &root, &mut solution);
    solution.iter_mut().zip(&root).for_each(|(s, r)| *s *= r / ridge);
    let moved = dispatch(SymmetricProduct { lower: gram, vector: &solution });
    Some(shift.iter().zip(moved).map(|(s, m)| s - m).collect())
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

/// `rows'rows` (lower triangle) of a matrix given row by row.
fn gram_of_rows(width: usize, rows: &[f64]) -> Vec<f64> {
    let row = |k: usize| &rows[k * width..][..width];
    let depth = rows.len() / width;
    let left = Panels::pack_rows(width, depth, row);
    let right = Panels::pack_rows(width, depth, row);
    gram(width, &left, &right)
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
    fn of(&mut self, set: &dyn RowDesign, support: &Support) -> &[f64] {
        let width = set.width();
        let moves = self.moves(set, support);
        if moves.is_empty() {
            return &self.matrix;
        }
        let mut rows = vec![0.0; moves.len() * width];
        for (row, (id, _)) in rows.chunks_exact_mut(width).zip(&moves) {
            set.copy_row(*id, row);
        }
        let mut signed = rows.clone();
        for (row, (_, sign)) in signed.chunks_exact_mut(width).zip(&moves) {
            row.iter_mut().for_each(|h| *h *= sign);
        }
        let left = Panels::pack_rows(width, moves.len(), |k| &signed[k * width..][..width]);
        let right = Panels::pack_rows(width, moves.len(), |k| &rows[k * width..][..width]);
        let change = gram(width, &left, &right);
        if self.matrix.is_empty() {
            self.matrix = change;
        } else {
            self.matrix.iter_mut().zip(&change).for_each(|(k, c)| *k += c);
        }
        &self.matrix
    }

    /// The rows to add (+1) and to take away (-1); starts over when that is less work or safer.
    fn moves(&mut self, set: &dyn RowDesign, support: &Support) -> Vec<(usize, f64)> {
        let mut wanted = vec![false; set.row_count()];
        support.groups.iter().for_each(|group| wanted[group.rows.start] = true);
        self.inside.resize(set.row_count(), false);
        let differ = |inside: &[bool]| -> Vec<(usize, f64)> {
            (0..wanted.len())
                .filter(|row| wanted[*row] != inside[*row])
                .map(|row| (row, if wanted[row] { 1.0 } else { -1.0 }))
                .collect()
        };
        let mut moves = differ(&self.inside);
        self.moved += moves.len();
        let stale = self.generation != set.generation() || self.moved > 8 * support.rows();
        if stale || self.matrix.is_empty() || moves.len() > support.rows() {
            moves = differ(&vec![false; wanted.len()]);
            *self = Self { generation: set.generation(), ..Self::default() };
        }
        self.inside = wanted;
        moves
    }
}

/// Every row centred under alpha, term by term, times the root of alpha.
struct Centre<'a> {
    rows: &'a [f64],
    loss: &'a Loss,
    alpha: &'a [f64],
    root: &'a [f64],
}

impl WithSimd for Centre<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut out = self.rows.to_vec();
        for row in out.chunks_exact_mut(self.alpha.len()) {
            for term in self.loss.terms() {
                let part = &mut row[term.span.clone()];
                let mean = dot(simd, part, &self.alpha[term.span.clone()]);
                for (z, r) in part.iter_mut().zip(&self.root[term.span.clone()]) {
                    *z = (*z - mean) * r;
                }
            }
        }
        out
    }
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

/// `out -= rows' factors`.
struct Subtract<'a> {
    rows: &'a [f64],
    factors: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, factor) in self.rows.chunks_exact(self.out.len()).zip(self.factors) {
            axpy(simd, -factor, row, self.out);
        }
    }
}
