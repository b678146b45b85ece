//! Looking at `xi_t = sum_r c_r f_t(r)` of every factor without storing any of them.

use crate::error::Result;
use crate::features::factors::{factor_index, factor_variables};
use crate::features::Products;
use crate::monitor::Monitor;
use crate::numerics::simd::{dispatch, dot, largest};
use crate::numerics::tiles::{tile, Panels, COLS, ROWS};
use crate::objective::penalty_factor::PenaltyFactors;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// Left panels in one task of a pass.
const TASK_ROWS: usize = 20;
/// Right panels in one task: at 200 samples three quarters of a megabyte, within a level-2 cache.
const TASK_COLS: usize = 60;
/// Factors in one task of a check of listed factors.
const TASK_FACTORS: usize = 2048;

/// A factor whose `|xi_t|` came out above what was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The variables u >= v: kept as they are because taking an index apart costs a square root.
    pub variables: (u32, u32),
    /// `|xi_t|_2`.
    pub norm: f64,
    /// `w_t`, its penalty factor.
    pub weight: f64,
}

impl Hit {
    /// `|xi_t| / w_t`: the lambda2 at which the factor would be at its threshold.
    pub fn ratio(&self) -> f64 {
        self.norm / self.weight
    }

    /// Index of the factor.
    pub fn factor(&self) -> usize {
        factor_index(self.variables.0 as usize, self.variables.1 as usize)
    }
}

/// The penalised factors with `|xi_t| > level * w_t`, in an order that no thread count changes.
pub type Hits = Vec<Hit>;

/// Record a factor above the level. An unpenalised one (weight 0) has no level.
#[inline(always)]
fn record(hits: &mut Hits, u: usize, v: usize, square: f64, query: &Query<'_>) {
    let weight = query.penalty_factor.of(u, v);
    let norm = square.sqrt();
    if weight > 0.0 && norm > query.level * weight {
        hits.push(Hit { variables: (u as u32, v as u32), norm, weight });
    }
}

/// Row weights `c`, and the level above which a factor is reported.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// `c_r` of every row of the stack.
    pub weights: &'a [f64],
    /// `w_t`.
    pub penalty_factor: &'a PenaltyFactors,
    /// Report `|xi_t| > level * w_t`.
    pub level: f64,
}

/// Look at the listed factors.
pub fn listed(
    features: &Products,
    query: Query<'_>,
    factors: &[usize],
    monitor: &Monitor,
) -> Result<Hits> {
    let parts: Result<Vec<Hits>> = factors
        .par_chunks(TASK_FACTORS)
        .map(|factors| {
            monitor.check()?;
            Ok(dispatch(Listed { features, query, factors }))
        })
        .collect();
    Ok(parts?.concat())
}

struct Listed<'a> {
    features: &'a Products,
    query: Query<'a>,
    factors: &'a [usize],
}

impl WithSimd for Listed<'_> {
    type Output = Hits;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Hits {
        let mut hits = Hits::new();
        for &factor in self.factors {
            let (u, v) = factor_variables(factor);
            let mut square = 0.0;
            for k in 0..self.features.size_of(u, v) {
                let xi = self.features.moment(
                    simd,
                    (u, v, k),
                    0..self.features.rows(),
                    self.query.weights,
                );
                square += xi * xi;
            }
            record(&mut hits, u, v, square, &self.query);
        }
        hits
    }
}

/// The features packed for passes over all factors. Made once, used for every pass.
#[derive(Debug)]
pub struct Scanner {
    /// First factors of the products, by exponent.
    left: Vec<Option<Panels<ROWS>>>,
    /// Second factors of the products, by exponent.
    right: Vec<Option<Panels<COLS>>>,
}

/// One power of every variable, if a product needs it.
fn pack<const WIDTH: usize>(features: &Products, p: usize, used: bool) -> Option<Panels<WIDTH>> {
    let column = |u| features.column(p, u);
    used.then(|| Panels::pack(features.variables(), features.rows(), column, None))
}

impl Scanner {
    /// Pack what every pass reads.
    pub fn new(features: &Products) -> Self {
        // Products proper: features of both variables.
        let products: Vec<(usize, usize)> =
            features.basis().pair.iter().copied().filter(|(p, q)| *p > 0 && *q > 0).collect();
        let exponents = 0..=features.basis().degree();
        let left = |p| pack(features, p, products.iter().any(|product| product.0 == p));
        let right = |q| pack(features, q, products.iter().any(|product| product.1 == q));
        Self { left: exponents.clone().map(left).collect(), right: exponents.map(right).collect() }
    }

    /// One pass over every factor.
    pub fn all(&self, features: &Products, query: Query<'_>, monitor: &Monitor) -> Result<Hits> {
        let singles: Vec<usize> = (0..features.variables()).map(|u| factor_index(u, u)).collect();
        let mut hits = listed(features, query, &singles, monitor)?;
        let pass = Pass::new(self, features, query);
        let pairs: Result<Vec<Hits>> = pass
            .tasks()
            .par_iter()
            .map(|task| {
                monitor.check()?;
                Ok(dispatch(TaskScan { pass: &pass, task }))
            })
            .collect();
        pairs?.iter().for_each(|part| hits.extend_from_slice(part));
        Ok(hits)
    }
}

/// One pass over all pairs: the left sides packed with the row weights in them.
struct Pass<'a> {
    scanner: &'a Scanner,
    features: &'a Products,
    query: Query<'a>,
    /// First factors of the products times `c`, by exponent.
    left: Vec<Option<Panels<ROWS>>>,
    /// `sum_r c_r s_u^p` for features of a pair that involve one variable only, by exponent.
    sums: Vec<Vec<f64>>,
    /// The smallest `w_t` of any pair: what stays below its level needs no closer look.
    least: f64,
}

/// A rectangle of tiles: left panels by right panels.
struct Task {
    rows: Range<usize>,
    cols: Range<usize>,
}

impl<'a> Pass<'a> {
    fn new(scanner: &'a Scanner, features: &'a Products, query: Query<'a>) -> Self {
        let pairs = &features.basis().pair;
        let top = pairs.iter().map(|(p, q)| *p.max(q)).max().unwrap_or(0);
        let weighted = |panels: &Option<Panels<ROWS>>| {
            panels.as_ref().map(|panels| panels.weighted(query.weights))
        };
        let left = scanner.left.iter().map(weighted).collect();
        let sums = (0..=top)
            .map(|p| {
                let used = p > 0 && pairs.iter().any(|pair| *pair == (p, 0) || *pair == (0, p));
                let count = if used { features.variables() } else { 0 };
                (0..count)
                    .map(|u| dispatch(Dot { a: query.weights, b: features.column(p, u) }))
                    .collect()
            })
            .collect();
        let least = query.penalty_factor.smallest_edge(features.variables());
        Self { scanner, features, query, left, sums, least }
    }

    /// Rectangles that touch the triangle u > v, column block by column block.
    fn tasks(&self) -> Vec<Task> {
        let variables = self.features.variables();
        let (rows, cols) = (variables.div_ceil(ROWS), variables.div_ceil(COLS));
        let mut tasks = Vec::new();
        for col in (0..cols).step_by(TASK_COLS) {
            // Rows above the block's first column hold no pair u > v.
            let first = col * COLS / ROWS;
            for row in (first..rows).step_by(TASK_ROWS) {
                tasks.push(Task {
                    rows: row..(row + TASK_ROWS).min(rows),
                    cols: col..(col + TASK_COLS).min(cols),
                });
            }
        }
        tasks
    }

    /// Squared norms of `xi` in one tile.
    #[inline(always)]
    fn squares<S: Simd>(&self, simd: S, row: usize, col: usize, out: &mut [f64; ROWS * COLS]) {
        let mut product = [0.0; ROWS * COLS];
        for (k, &(p, q)) in self.features.basis().pair.iter().enumerate() {
            match (self.left.get(p), self.scanner.right.get(q)) {
                (Some(Some(left)), Some(Some(right))) if k == 0 => {
                    tile(simd, left.panel(row), right.panel(col), out);
                    out.iter_mut().for_each(|xi| *xi *= *xi);
                }
                (Some(Some(left)), Some(Some(right))) => {
                    tile(simd, left.panel(row), right.panel(col), &mut product);
                    out.iter_mut().zip(&product).for_each(|(square, xi)| *square += xi * xi);
                }
                _ => {
                    if k == 0 {
                        out.fill(0.0);
                    }
                    self.add_sums(p, q, row, col, out);
                }
            }
        }
    }

    /// Note the pairs of a tile that are above the level, looking only at rows whose largest is.
    fn report(
        &self,
        row: usize,
        col: usize,
        squares: &[f64; ROWS * COLS],
        tops: &[f64; ROWS],
        least: f64,
        hits: &mut Hits,
    ) {
        for (r, u) in (row * ROWS..self.features.variables()).enumerate().take(ROWS) {
            if tops[r] > least {
                for (c, v) in (col * COLS..u).enumerate().take(COLS) {
                    record(hits, u, v, squares[c * ROWS + r], &self.query);
                }
            }
        }
    }

    /// The share of a feature of one variable of the pair in the squared norms of a tile.
    fn add_sums(&self, p: usize, q: usize, row: usize, col: usize, out: &mut [f64; ROWS * COLS]) {
        let sum = |exponent: usize, u: usize| self.sums[exponent].get(u).copied().unwrap_or(0.0);
        for c in 0..COLS {
            for r in 0..ROWS {
                let xi = if q == 0 { sum(p, row * ROWS + r) } else { sum(q, col * COLS + c) };
                out[c * ROWS + r] += xi * xi;
            }
        }
    }
}

/// The largest of each row of a tile: row by row needs no sums across a register.
#[inline(always)]
fn largest_in_rows<S: Simd>(simd: S, squares: &[f64; ROWS * COLS]) -> [f64; ROWS] {
    let mut tops = [0.0; ROWS];
    let (targets, _) = S::as_mut_simd_f64s(&mut tops);
    for column in squares.chunks_exact(ROWS) {
        let (values, _) = S::as_simd_f64s(column);
        for (top, value) in targets.iter_mut().zip(values) {
            *top = simd.max_f64s(*top, *value);
        }
    }
    tops
}

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        dot(simd, self.a, self.b)
    }
}

struct TaskScan<'a> {
    pass: &'a Pass<'a>,
    task: &'a Task,
}

impl WithSimd for TaskScan<'_> {
    type Output = Hits;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Hits {
        let least = (self.pass.query.level.max(0.0) * self.pass.least).powi(2);
        let mut hits = Hits::new();
        let mut squares = [0.0; ROWS * COLS];
        for row in self.task.rows.clone() {
            for col in self.task.cols.clone() {
                if col * COLS >= (row + 1) * ROWS {
                    break;
                }
                self.pass.squares(simd, row, col, &mut squares);
                let tops = largest_in_rows(simd, &squares);
                // Nothing above any level: by far the common case.
                if largest(simd, &tops) > least {
                    self.pass.report(row, col, &squares, &tops, least, &mut hits);
                }
            }
        }
        hits
    }
}

/// What one pass over all factors cost.
pub struct TimedPass {
    /// Wall time.
    pub seconds: f64,
    /// How many factors it looked at.
    pub factors: usize,
    /// Multiplications and additions that the result needs, with none counted twice.
    pub operations: f64,
}

/// Time one pass that reports no factor: the yardstick for whole paths.
pub fn timed_pass(
    features: &Products,
    weights: &[f64],
    penalty_factor: &PenaltyFactors,
    monitor: &Monitor,
) -> Result<TimedPass> {
    let scanner = Scanner::new(features);
    let begun = Instant::now();
    scanner.all(features, Query { weights, penalty_factor, level: f64::MAX }, monitor)?;
    let seconds = begun.elapsed().as_secs_f64();
    let factors = features.factors();
    let products = features.basis().pair.len() * 2 * features.rows();
    Ok(TimedPass { seconds, factors, operations: factors as f64 * products as f64 })
}
