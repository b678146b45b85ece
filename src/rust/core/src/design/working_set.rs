//! The working set: the few factors whose features are stored while a fit is at work on them.

use crate::design::{Design, DualPoint, RowDesign, UpdateDesign};
use crate::features::factors::FactorMap;
use crate::features::Place;
use crate::numerics::simd::{axpy, dispatch, dot};
use crate::objective::loss::Loss;
use crate::objective::penalty::{norm, Lambda};
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// Stored values one task goes through: two megabytes. Fixed, so that no thread count changes a sum.
const TASK_VALUES: usize = 1 << 18;

/// A factor whose features are stored.
#[derive(Debug, Clone, Copy)]
struct Entry {
    factor: usize,
    weight: f64,
    first_row: usize,
    size: usize,
    active: bool,
}

/// Stored factors, of which some are active: the ones a solver sees.
#[derive(Debug)]
pub struct WorkingSet {
    width: usize,
    generation: usize,
    entries: Vec<Entry>,
    place: FactorMap<usize>,
    rows: Vec<f64>,
    row_linear: Vec<f64>,
    active: Vec<usize>,
    starts: Vec<usize>,
    linear: Vec<f64>,
}

impl WorkingSet {
    /// Nothing stored.
    pub fn new(loss: &Loss) -> Self {
        Self {
            width: loss.scores(),
            generation: 0,
            entries: Vec::new(),
            place: FactorMap::default(),
            rows: Vec::new(),
            row_linear: Vec::new(),
            active: Vec::new(),
            starts: vec![0],
            linear: Vec::new(),
        }
    }

    /// Numbers of the active factors, in the order of the coefficients.
    pub fn factors(&self) -> impl Iterator<Item = usize> + '_ {
        self.active.iter().map(|slot| self.entries[*slot].factor)
    }

    /// Whether a factor is active.
    pub fn contains(&self, factor: usize) -> bool {
        self.place.get(&factor).is_some_and(|slot| self.entries[*slot].active)
    }

    /// How many coefficients are active.
    pub fn coefficients(&self) -> usize {
        self.linear.len()
    }

    /// One stored row: a feature on the scored rows.
    fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.width..][..self.width]
    }

    /// Make just these factors active, storing what is not yet stored.
    pub fn activate(&mut self, problem: &Problem, factors: impl IntoIterator<Item = usize>) {
        for slot in self.active.drain(..) {
            self.entries[slot].active = false;
        }
        self.starts.truncate(1);
        self.linear.clear();
        self.extend(problem, factors);
    }

    /// Make these active, too.
    pub fn extend(&mut self, problem: &Problem, factors: impl IntoIterator<Item = usize>) {
        for factor in factors {
            let slot = match self.place.get(&factor) {
                Some(slot) => *slot,
                None => self.store(problem, factor),
            };
            let Entry { first_row, size, active, .. } = self.entries[slot];
            if active {
                continue;
            }
            self.entries[slot].active = true;
            self.active.push(slot);
            self.starts.push(self.linear.len() + size);
            self.linear.extend_from_slice(&self.row_linear[first_row..first_row + size]);
        }
    }

    /// Forget every stored factor.
    pub fn clear(&mut self) {
        self.generation += 1;
        self.entries.clear();
        self.place.clear();
        self.rows.clear();
        self.row_linear.clear();
        self.active.clear();
        self.starts.truncate(1);
        self.linear.clear();
    }

    fn store(&mut self, problem: &Problem, factor: usize) -> usize {
        let place = problem.features.place(factor);
        let size = problem.features.size_of(place.0, place.1);
        let first_row = self.row_linear.len();
        let start = self.rows.len();
        self.rows.resize(start + size * self.width, 0.0);
        let rows = &mut self.rows[start..];
        dispatch(Store { problem, place, rows, linear: &mut self.row_linear });
        let weight = problem.penalty_factor.at(factor);
        self.entries.push(Entry { factor, weight, first_row, size, active: false });
        self.place.insert(factor, self.entries.len() - 1);
        self.entries.len() - 1
    }

    /// Ranges of active factors with about as many values each.
    fn tasks(&self) -> Vec<Range<usize>> {
        let most = (TASK_VALUES / self.width.max(1)).max(1);
        let mut tasks = Vec::new();
        let mut first = 0;
        for group in 0..self.active.len() {
            let full = self.starts[group + 1] - self.starts[first] >= most;
            if full || group + 1 == self.active.len() {
                tasks.push(first..group + 1);
                first = group + 1;
            }
        }
        tasks
    }
}

impl Design for WorkingSet {
    fn groups(&self) -> usize {
        self.active.len()
    }

    fn span(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    fn weight(&self, group: usize) -> f64 {
        self.entries[self.active[group]].weight
    }

    fn linear(&self) -> &[f64] {
        &self.linear
    }

    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = self
            .tasks()
            .into_par_iter()
            .map(|groups| dispatch(ScoresPart { set: self, theta, groups }))
            .collect();
        let mut scores = vec![0.0; self.width];
        for part in parts {
            scores.iter_mut().zip(part).for_each(|(total, s)| *total += s);
        }
        scores
    }

    fn moments(&self, alpha: &[f64]) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = self
            .tasks()
            .into_par_iter()
            .map(|groups| dispatch(MomentsPart { set: self, alpha, groups }))
            .collect();
        parts.concat()
    }
}

impl UpdateDesign for WorkingSet {
    fn set_penalty_factor(&mut self, penalty_factor: &PenaltyFactors) {
        self.entries.iter_mut().for_each(|entry| entry.weight = penalty_factor.at(entry.factor));
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.row_linear.clear();
        for entry in &self.entries {
            let (place, size) = (problem.features.place(entry.factor), entry.size);
            dispatch(LinearRows { problem, place, size, linear: &mut self.row_linear });
        }
        self.linear.clear();
        for slot in &self.active {
            let Entry { first_row, size, .. } = self.entries[*slot];
            self.linear.extend_from_slice(&self.row_linear[first_row..first_row + size]);
        }
    }
}

impl RowDesign for WorkingSet {
    fn width(&self) -> usize {
        self.width
    }

    fn row_ids(&self, group: usize) -> Range<usize> {
        let entry = self.entries[self.active[group]];
        entry.first_row..entry.first_row + entry.size
    }

    fn row_count(&self) -> usize {
        self.row_linear.len()
    }

    fn single(&self) -> bool {
        self.active.iter().all(|slot| self.entries[*slot].size <= 1)
    }

    fn generation(&self) -> usize {
        self.generation
    }

    fn copy_row(&self, id: usize, span: Range<usize>, out: &mut [f64]) {
        out.copy_from_slice(&self.row(id)[span]);
    }

    /// One look at each row.
    fn dual_point(&self, lambda: Lambda, linear: &[f64], alpha: &[f64]) -> DualPoint {
        let parts: Vec<DualPoint> = self
            .tasks()
            .into_par_iter()
            .map(|groups| dispatch(DualPart { set: self, lambda, linear, alpha, groups }))
            .collect();
        let mut parts = parts.into_iter();
        let empty = || DualPoint {
            xi: vec![],
            theta: vec![],
            fitted: vec![0.0; self.width],
            conjugate: 0.0,
        };
        let mut all = parts.next().unwrap_or_else(empty);
        for part in parts {
            all.xi.extend_from_slice(&part.xi);
            all.theta.extend_from_slice(&part.theta);
            all.fitted.iter_mut().zip(&part.fitted).for_each(|(total, s)| *total += s);
            all.conjugate += part.conjugate;
        }
        all
    }
}

/// Fill the rows of a factor and append its share of the linear term.
struct Store<'a> {
    problem: &'a Problem,
    place: Place,
    rows: &'a mut [f64],
    linear: &'a mut Vec<f64>,
}

impl WithSimd for Store<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (u, v) = self.place;
        let width = self.problem.loss.scores();
        for (k, row) in self.rows.chunks_exact_mut(width).enumerate() {
            self.problem.add_feature(simd, (u, v, k), 1.0, row);
            self.linear.push(self.problem.linear_moment(simd, (u, v, k)));
        }
    }
}

/// Append the linear term of the rows of a factor.
struct LinearRows<'a> {
    problem: &'a Problem,
    place: Place,
    size: usize,
    linear: &'a mut Vec<f64>,
}

impl WithSimd for LinearRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (u, v) = self.place;
        for k in 0..self.size {
            self.linear.push(self.problem.linear_moment(simd, (u, v, k)));
        }
    }
}

struct DualPart<'a> {
    set: &'a WorkingSet,
    lambda: Lambda,
    linear: &'a [f64],
    alpha: &'a [f64],
    groups: Range<usize>,
}

impl WithSimd for DualPart<'_> {
    type Output = DualPoint;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> DualPoint {
        let set = self.set;
        let size = set.starts[self.groups.end] - set.starts[self.groups.start];
        let mut xi = Vec::with_capacity(size);
        let mut theta = Vec::with_capacity(size);
        let mut fitted = vec![0.0; set.width];
        let mut conjugate = 0.0;
        for group in self.groups {
            let first = xi.len();
            for (row, g) in set.row_ids(group).zip(&self.linear[set.span(group)]) {
                xi.push(g - dot(simd, set.row(row), self.alpha));
            }
            let penalty = self.lambda.penalty(set.weight(group));
            let size = norm(&xi[first..]);
            conjugate += penalty.conjugate(size);
            let shrink = penalty.shrink(size);
            theta.extend(xi[first..].iter().map(|x| shrink * x));
            if shrink > 0.0 {
                for (row, t) in set.row_ids(group).zip(&theta[first..]) {
                    axpy(simd, *t, set.row(row), &mut fitted);
                }
            }
        }
        DualPoint { xi, theta, fitted, conjugate }
    }
}

struct ScoresPart<'a> {
    set: &'a WorkingSet,
    theta: &'a [f64],
    groups: Range<usize>,
}

impl WithSimd for ScoresPart<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut scores = vec![0.0; self.set.width];
        for group in self.groups {
            let theta = &self.theta[self.set.span(group)];
            for (row, t) in self.set.row_ids(group).zip(theta) {
                if *t != 0.0 {
                    axpy(simd, *t, self.set.row(row), &mut scores);
                }
            }
        }
        scores
    }
}

struct MomentsPart<'a> {
    set: &'a WorkingSet,
    alpha: &'a [f64],
    groups: Range<usize>,
}

impl WithSimd for MomentsPart<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let starts = &self.set.starts;
        let mut out = Vec::with_capacity(starts[self.groups.end] - starts[self.groups.start]);
        for group in self.groups {
            for row in self.set.row_ids(group) {
                out.push(dot(simd, self.set.row(row), self.alpha));
            }
        }
        out
    }
}
