//! The lasso-penalised D-trace loss: the difference of two precision matrices, estimated directly.
//!
//! With S and T the second moments of `x` and `y`,
//!
//! `minimise tr(D S D T)/2 - tr(D (S - T)) + lambda |D|_1`
//!
//! over symmetric D. Without a penalty and with S and T invertible the minimum is at
//! `T^-1 - S^-1`. The gradient of the loss is `(S D T + T D S)/2 - (S - T)`, linear in D, so that
//! accelerated proximal gradient steps need one product a step. They are made over a set of pairs that
//! holds all that is non-zero, and every other pair is looked at once that is solved.

use super::Moments;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch, dot};
use crate::numerics::tiles::{product, Panels, COLS, ROWS};
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::path::{along_grid, LambdaStep, Path, Settings, Step};
use crate::solver::momentum::Momentum;
use crate::solver::Stop;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::time::Instant;

/// lambda_max is rounded up by this share, which covers all ways to sum the moments.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// A solve over the active pairs goes this much further than what is asked of all.
const AHEAD: f64 = 0.3;
/// From one active pair in this many entries of D on, products of whole matrices are faster.
const DENSE: usize = 8;
/// Steps between two looks at the optimality conditions.
const CHECK_EVERY: usize = 5;
/// Steps between two checks for a direction along which the objective falls without end.
const ESCAPE_EVERY: usize = 50;
/// In a singular problem, a direction is flat if its curvature is below this share of the largest.
const FLAT: f64 = 1e-8;
/// A matrix is singular when it is not positive definite without this share of its largest entry.
const SINGULAR: f64 = 1e-9;
/// By this share the objective has to fall along such a direction.
const FALLING: f64 = 1e-6;
/// Rows of a product, or pairs, in one task.
const TASK_ROWS: usize = 16;
const TASK_PAIRS: usize = 256;

/// An entry of D, row >= column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The row.
    pub row: usize,
    /// The column.
    pub column: usize,
    /// `D[row, column]`.
    pub value: f64,
}

/// Each step has the non-zero entries of the lower triangle of D. There is no duality gap, and no use of
/// `lambda1`.
pub type DtracePath = Path<Vec<Entry>>;

/// Fit a path. A loss whose quadratic part has flat directions may have no minimum below some lambda:
/// the path ends there.
pub fn fit(moments: &Moments, settings: &Settings, monitor: &Monitor) -> Result<DtracePath> {
    let begun = Instant::now();
    let mut solver = Solver::new(moments);
    let largest = solver.target.iter().fold(0.0, |top: f64, value| top.max(value.abs()));
    let lambda_max = (largest * (1.0 + ROUNDING)).max(f64::MIN_POSITIVE);
    let grid = settings.lambda2.values(lambda_max);
    let tolerance = Tolerance { tol: settings.tol, scale: lambda_max };
    monitor.start(grid.len());
    let stop = Stop { tolerance, max_iter: settings.max_iter, monitor };
    let steps =
        along_grid(&grid, lambda_max, begun, monitor, |at| solver.solve(at, stop), |_| false)?;
    Ok(Path { lambda_max, steps, passes: 0 })
}

/// `sign(value) (|value| - threshold)_+`.
#[inline(always)]
fn soft(value: f64, threshold: f64) -> f64 {
    (value.abs() - threshold).max(0.0).copysign(value)
}

/// How far an entry is from stationarity where the loss has this slope.
#[inline(always)]
fn kkt(value: f64, slope: f64, lambda: f64) -> f64 {
    if value == 0.0 {
        (slope.abs() - lambda).max(0.0)
    } else {
        (slope + lambda.copysign(value)).abs()
    }
}

/// The moments and what has been found so far.
struct Solver<'a> {
    moments: &'a Moments,
    /// `S - T`, row by row.
    target: Vec<f64>,
    /// S as right and T as left side of products.
    right: Panels<COLS>,
    left: Panels<ROWS>,
    /// D, row by row, and the quadratic part of its gradient, `(S D T + T D S)/2`.
    delta: Vec<f64>,
    image: Vec<f64>,
    /// An upper bound on the curvature that has held so far.
    lipschitz: f64,
    /// Whether the quadratic part has flat directions.
    singular: bool,
}

/// Whether a symmetric matrix, given row by row, is not positive definite but for rounding.
fn is_singular(matrix: &[f64], size: usize) -> bool {
    let top = matrix.iter().fold(0.0, |top: f64, value| top.max(value.abs()));
    let mut lowered = matrix.to_vec();
    lowered.iter_mut().step_by(size + 1).for_each(|value| *value -= SINGULAR * top);
    Cholesky::new(&lowered, size).is_none()
}

impl<'a> Solver<'a> {
    fn new(moments: &'a Moments) -> Self {
        let d = moments.variables;
        Self {
            moments,
            target: moments.x.iter().zip(&moments.y).map(|(s, t)| s - t).collect(),
            right: Panels::pack(d, d, |u| moments.x_row(u), None),
            left: Panels::pack(d, d, |u| moments.y_row(u), None),
            delta: vec![0.0; d * d],
            image: vec![0.0; d * d],
            lipschitz: 1.0,
            singular: is_singular(&moments.x, d) || is_singular(&moments.y, d),
        }
    }

    fn at(&self, pair: (usize, usize)) -> usize {
        pair.0 * self.moments.variables + pair.1
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.moments.variables).flat_map(|u| (0..=u).map(move |v| (u, v)))
    }

    /// Minimise from wherever the last solve ended.
    fn solve(&mut self, at: LambdaStep, stop: Stop<'_>) -> Result<Step<Vec<Entry>>> {
        let lambda = at.current;
        let target = stop.tolerance.kkt();
        // What was this close to entering at the last lambda is likely to enter at this one.
        let mut level = 2.0 * lambda - at.previous;
        let mut iterations = 0;
        let mut chosen = vec![false; self.delta.len()];
        loop {
            let worst = self.choose(lambda, level, target, &mut chosen);
            level = f64::INFINITY;
            if worst <= target || iterations >= stop.max_iter {
                let status = Status::within(worst <= target);
                return Ok(self.step(lambda, status, iterations, worst));
            }
            let pairs = self.pairs().filter(|pair| chosen[self.at(*pair)]).collect();
            let active = ActivePairs::new(self, pairs);
            let ended = active.descend(self, lambda, AHEAD * target, stop.after(iterations))?;
            iterations += ended.iterations;
            if ended.unbounded {
                return Ok(self.step(lambda, Status::Unbounded, iterations, f64::NAN));
            }
            active.store(self, &ended.values);
        }
    }

    /// Add to the chosen pairs those that are non-zero, above the level or violate the optimality
    /// conditions; the worst violation.
    fn choose(&self, lambda: f64, level: f64, target: f64, chosen: &mut [bool]) -> f64 {
        let mut worst = 0.0_f64;
        for pair in self.pairs() {
            let at = self.at(pair);
            let slope = self.image[at] - self.target[at];
            let violation = kkt(self.delta[at], slope, lambda);
            worst = worst.max(violation);
            chosen[at] |=
                self.delta[at] != 0.0 || slope.abs() > level || violation > AHEAD * target;
        }
        worst
    }

    fn step(&self, lambda: f64, status: Status, iterations: usize, kkt: f64) -> Step<Vec<Entry>> {
        let value = |(k, delta): (usize, &f64)| {
            delta * (0.5 * self.image[k] - self.target[k]) + lambda * delta.abs()
        };
        let objective: f64 = self.delta.iter().enumerate().map(value).sum();
        let certificate = Certificate { objective, gap: f64::INFINITY, kkt };
        let unbounded = status == Status::Unbounded;
        let entry = |pair: (usize, usize)| Entry {
            row: pair.0,
            column: pair.1,
            value: self.delta[self.at(pair)],
        };
        let entries = self.pairs().map(entry).filter(|entry| entry.value != 0.0 && !unbounded);
        Step::new(lambda, status, iterations, certificate, entries.collect())
    }

    /// `(S D T + T D S)/2` of a D given row by row.
    fn image_of(&self, delta: &[f64]) -> Vec<f64> {
        let d = self.moments.variables;
        let rows = Panels::pack(d, d, |u| &delta[u * d..][..d], None);
        self.complete(&product(d, d, &rows, &self.right))
    }

    /// The same from `D S`: `T (D S)` and its transpose.
    fn complete(&self, half: &[f64]) -> Vec<f64> {
        let d = self.moments.variables;
        let columns = Panels::pack_rows(d, d, |k| &half[k * d..][..d], |_| 1.0);
        let mut whole = product(d, d, &self.left, &columns);
        for u in 0..d {
            for v in 0..u {
                let mean = 0.5 * (whole[u * d + v] + whole[v * d + u]);
                whole[u * d + v] = mean;
                whole[v * d + u] = mean;
            }
        }
        whole
    }
}

/// The pairs that a solve may move.
struct ActivePairs {
    pairs: Vec<(usize, usize)>,
    /// For each row of D, its entries: column and number of the pair.
    rows: Vec<Vec<(usize, usize)>>,
    /// How often each pair stands in D: once on the diagonal, otherwise twice.
    weights: Vec<f64>,
    dense: bool,
}

/// Values of the active pairs, with the quadratic part of the gradient there.
#[derive(Clone)]
struct Iterate {
    values: Vec<f64>,
    image: Vec<f64>,
}

impl Iterate {
    /// `self + factor (self - other)`; the gradient is linear.
    fn beyond(&self, other: &Iterate, factor: f64) -> Iterate {
        let mix =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + factor * (a - b)).collect();
        Iterate { values: mix(&self.values, &other.values), image: mix(&self.image, &other.image) }
    }
}

/// Where a descent over the active pairs ended.
struct Descent {
    values: Vec<f64>,
    iterations: usize,
    unbounded: bool,
}

impl ActivePairs {
    fn new(solver: &Solver, pairs: Vec<(usize, usize)>) -> Self {
        let mut rows = vec![Vec::new(); solver.moments.variables];
        for (k, (u, v)) in pairs.iter().enumerate() {
            rows[*u].push((*v, k));
            if u != v {
                rows[*v].push((*u, k));
            }
        }
        let weights = pairs.iter().map(|(u, v)| if u == v { 1.0 } else { 2.0 }).collect();
        let dense = pairs.len() * DENSE > solver.delta.len();
        Self { pairs, rows, weights, dense }
    }

    /// Put values back into D, and recompute the whole gradient.
    fn store(&self, solver: &mut Solver, values: &[f64]) {
        for ((u, v), value) in self.pairs.iter().zip(values) {
            let (lower, upper) = (solver.at((*u, *v)), solver.at((*v, *u)));
            solver.delta[lower] = *value;
            solver.delta[upper] = *value;
        }
        solver.image = if self.dense {
            solver.image_of(&solver.delta)
        } else {
            solver.complete(&self.half(solver, values))
        };
    }

    /// `D S` for values of the active pairs, all others zero.
    fn half(&self, solver: &Solver, values: &[f64]) -> Vec<f64> {
        let d = solver.moments.variables;
        let mut half = vec![0.0; d * d];
        half.par_chunks_mut(TASK_ROWS * d).enumerate().for_each(|(task, block)| {
            let rows = &self.rows[task * TASK_ROWS..];
            dispatch(HalfRows { moments: solver.moments, rows, values, block });
        });
        half
    }

    /// The quadratic part of the gradient on the active pairs.
    fn image(&self, solver: &Solver, values: &[f64]) -> Vec<f64> {
        let d = solver.moments.variables;
        if self.dense {
            let mut delta = vec![0.0; d * d];
            for ((u, v), value) in self.pairs.iter().zip(values) {
                delta[u * d + v] = *value;
                delta[v * d + u] = *value;
            }
            let whole = solver.image_of(&delta);
            return self.pairs.iter().map(|(u, v)| whole[u * d + v]).collect();
        }
        let turned = transposed(&self.half(solver, values), d);
        let mut image = vec![0.0; self.pairs.len()];
        image.par_chunks_mut(TASK_PAIRS).enumerate().for_each(|(task, out)| {
            let pairs = &self.pairs[task * TASK_PAIRS..];
            dispatch(PairProducts { moments: solver.moments, turned: &turned, pairs, out });
        });
        image
    }

    /// Accelerated proximal gradient steps until the conditions on the active pairs hold.
    fn descend(
        &self,
        solver: &mut Solver,
        lambda: f64,
        target_kkt: f64,
        stop: Stop<'_>,
    ) -> Result<Descent> {
        let gather = |matrix: &[f64]| -> Vec<f64> {
            self.pairs.iter().map(|pair| matrix[solver.at(*pair)]).collect()
        };
        let target = gather(&solver.target);
        let mut last = Iterate { values: gather(&solver.delta), image: gather(&solver.image) };
        let mut before = last.clone();
        let mut ahead = last.clone();
        let mut momentum = Momentum::default();
        let mut iterations = 0;
        let worst = |at: &Iterate| {
            let each = at.values.iter().zip(&at.image).zip(&target);
            each.map(|((value, h), t)| kkt(*value, h - t, lambda)).fold(0.0, f64::max)
        };
        loop {
            stop.monitor.check()?;
            let done = iterations % CHECK_EVERY == 0 && worst(&last) <= target_kkt;
            let looks = iterations / ESCAPE_EVERY;
            let look = solver.singular && looks > 0 && iterations % ESCAPE_EVERY == 0;
            let unbounded = look && self.escapes(&before, &last, &target, lambda, solver.lipschitz);
            if done || unbounded || iterations >= stop.max_iter {
                return Ok(Descent { values: last.values, iterations, unbounded });
            }
            // Over a longer way, the direction in which the objective falls without end dominates.
            if look && looks.is_power_of_two() {
                before.clone_from(&last);
            }
            let next = self.forward(solver, &ahead, &target, lambda);
            let turn: f64 = (0..next.values.len())
                .map(|k| {
                    let (ahead, next, last) = (ahead.values[k], next.values[k], last.values[k]);
                    self.weights[k] * (ahead - next) * (next - last)
                })
                .sum();
            ahead = match momentum.advance(turn) {
                Some(factor) => next.beyond(&last, factor),
                None => next.clone(),
            };
            last = next;
            iterations += 1;
        }
    }

    /// One step from `from`, as long as the curvature allows.
    fn forward(&self, solver: &mut Solver, from: &Iterate, target: &[f64], lambda: f64) -> Iterate {
        solver.lipschitz *= 0.98;
        loop {
            let length = 1.0 / solver.lipschitz;
            let values: Vec<f64> = from
                .values
                .iter()
                .zip(&from.image)
                .zip(target)
                .map(|((value, h), t)| soft(value - length * (h - t), length * lambda))
                .collect();
            let image = self.image(solver, &values);
            let next = Iterate { values, image };
            let (curved, moved) = self.curvature(from, &next);
            if curved <= solver.lipschitz * moved * (1.0 + 1e-9) || moved == 0.0 {
                return next;
            }
            solver.lipschitz = (1.1 * curved / moved).max(1.2 * solver.lipschitz);
        }
    }

    /// `<V, H V>` and `<V, V>` of the difference V of two iterates.
    fn curvature(&self, from: &Iterate, to: &Iterate) -> (f64, f64) {
        let (mut curved, mut moved) = (0.0, 0.0);
        for k in 0..self.weights.len() {
            let by = self.weights[k] * (to.values[k] - from.values[k]);
            curved += by * (to.image[k] - from.image[k]);
            moved += by * (to.values[k] - from.values[k]);
        }
        (curved, moved)
    }

    /// Whether the way from one iterate to another could be followed for ever: straight, and downhill.
    fn escapes(
        &self,
        from: &Iterate,
        to: &Iterate,
        target: &[f64],
        lambda: f64,
        lipschitz: f64,
    ) -> bool {
        let (curved, moved) = self.curvature(from, to);
        let (mut gain, mut cost) = (0.0, 0.0);
        let ways = to.values.iter().zip(&from.values).map(|(to, from)| to - from);
        for ((way, weight), t) in ways.zip(&self.weights).zip(target) {
            gain += weight * way * t;
            cost += lambda * weight * way.abs();
        }
        curved <= FLAT * lipschitz * moved && gain > cost + FALLING * gain.abs()
    }
}

/// The transpose of a square matrix, in blocks that stay in the cache.
fn transposed(matrix: &[f64], size: usize) -> Vec<f64> {
    const BLOCK: usize = 16;
    let mut turned = vec![0.0; matrix.len()];
    for top in (0..size).step_by(BLOCK) {
        for left in (0..size).step_by(BLOCK) {
            for row in top..size.min(top + BLOCK) {
                for column in left..size.min(left + BLOCK) {
                    turned[column * size + row] = matrix[row * size + column];
                }
            }
        }
    }
    turned
}

/// Some rows of `D S`.
struct HalfRows<'a> {
    moments: &'a Moments,
    rows: &'a [Vec<(usize, usize)>],
    values: &'a [f64],
    block: &'a mut [f64],
}

impl WithSimd for HalfRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let d = self.moments.variables;
        for (row, out) in self.rows.iter().zip(self.block.chunks_exact_mut(d)) {
            for (column, pair) in row {
                if self.values[*pair] != 0.0 {
                    axpy(simd, self.values[*pair], self.moments.x_row(*column), out);
                }
            }
        }
    }
}

/// `(S D T + T D S)/2` on some pairs, from the transpose of `D S`.
struct PairProducts<'a> {
    moments: &'a Moments,
    turned: &'a [f64],
    pairs: &'a [(usize, usize)],
    out: &'a mut [f64],
}

impl WithSimd for PairProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let d = self.moments.variables;
        for ((u, v), out) in self.pairs.iter().zip(self.out) {
            let (row_u, row_v) = (&self.turned[u * d..][..d], &self.turned[v * d..][..d]);
            let one = dot(simd, self.moments.y_row(*u), row_v);
            let other = dot(simd, self.moments.y_row(*v), row_u);
            *out = 0.5 * (one + other);
        }
    }
}
