//! A row of the inverse Hessian by the scaled lasso.
//!
//! `omega = argmin 1/2 omega'H omega - omega_k + level sum_(t != k) |omega_t|` with
//! `level = lambda sigma`, `sigma^2 = omega'H omega`, over a part of the factors that grows by those
//! that violate the optimality conditions.
//!
//! The smallest value is `-sigma^2 / 2`, and it rises with the level: the sigma of a minimiser falls as
//! its level rises, so that there is one sigma at most that fits its own level. Taking both in turns may
//! go back and forth for ever; a secant between bounds does not.

use super::hessian::{Hessian, Part};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::cholesky::Cholesky;

/// Scales tried on one part.
const MAX_SCALES: usize = 100;
/// Sweeps of coordinate descent at one scale.
const MAX_SWEEPS: usize = 10_000;
/// Sweeps between jumps.
const SWEEPS_BETWEEN: usize = 5;
/// Factors let in at once, at least.
const LEAST_NEW: usize = 16;
/// Products with the Hessian are of the order of one, and this much below a level is lost in their
/// rounding.
const LEAST_UNIT: f64 = 0.01;
/// A scale that has grown by this is running away: the feature is a combination of others.
const RUNAWAY: f64 = 1e8;
/// Below this share of the squared size of a feature its variance is rounding.
const CONSTANT: f64 = 1e-12;

/// How the search for a row ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStatus {
    /// The optimality conditions hold.
    Converged,
    /// The feature does not vary over `y`.
    Constant,
    /// There is no end, or none in sight.
    Failed,
}

/// A row, non-zero on its support.
#[derive(Debug, Clone)]
pub struct InverseRow {
    /// How it ended.
    pub status: RowStatus,
    /// The support; the row's own factor comes first.
    pub factors: Vec<usize>,
    /// `H_SS^-1 e_k`: the row on its support, without the penalty; none where `H_SS` is singular.
    pub values: Option<Vec<f64>>,
    /// The penalised row on the same support.
    pub penalised: Vec<f64>,
    /// `sigma`.
    pub sigma: f64,
    /// The worst violation of the optimality conditions as a share of the level (or of 0.01, if that is
    /// larger).
    pub kkt: f64,
}

impl InverseRow {
    fn without(status: RowStatus, target: usize) -> Self {
        let (penalised, sigma, kkt) = (vec![f64::NAN], f64::NAN, f64::NAN);
        Self { status, factors: vec![target], values: None, penalised, sigma, kkt }
    }
}

/// The row of one factor, to a violation of `tol`.
pub fn inverse_row(
    hessian: &Hessian<'_>,
    target: usize,
    lambda: f64,
    tol: f64,
    monitor: &Monitor,
) -> Result<InverseRow> {
    let mut search = Search::new(hessian, target, lambda, tol);
    let size = hessian.square(target);
    let variance = search.part.row(0)[0];
    if variance <= CONSTANT * size {
        return Ok(InverseRow::without(RowStatus::Constant, target));
    }
    search.omega[0] = 1.0 / variance;
    search.sigma = variance.sqrt().recip();
    let limit = RUNAWAY * search.sigma;
    loop {
        monitor.check()?;
        if !search.settle(limit) {
            return Ok(InverseRow::without(RowStatus::Failed, target));
        }
        let level = search.level();
        let mut outside = hessian.beyond(&search.part, &search.omega, level, monitor)?;
        let worst = outside.iter().map(|(_, size)| size - level).fold(0.0, f64::max);
        if worst <= tol * search.unit() {
            return Ok(search.finish(worst));
        }
        outside.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        outside.truncate(LEAST_NEW.max(search.omega.len()));
        outside.iter().for_each(|(factor, _)| search.let_in(*factor));
    }
}

struct Search<'a> {
    hessian: &'a Hessian<'a>,
    lambda: f64,
    tol: f64,
    /// The row's own factor first.
    part: Part,
    omega: Vec<f64>,
    sigma: f64,
}

impl<'a> Search<'a> {
    fn new(hessian: &'a Hessian<'a>, target: usize, lambda: f64, tol: f64) -> Self {
        let part = Part::default();
        let mut search = Self { hessian, lambda, tol, part, omega: vec![], sigma: 0.0 };
        search.let_in(target);
        search
    }

    fn let_in(&mut self, factor: usize) {
        self.hessian.extend(&mut self.part, factor);
        self.omega.push(0.0);
    }

    fn level(&self) -> f64 {
        self.lambda * self.sigma
    }

    /// What violations are measured by.
    fn unit(&self) -> f64 {
        self.level().max(LEAST_UNIT)
    }

    /// The row and its scale on the part; false if there is none, or none below the limit.
    fn settle(&mut self, limit: f64) -> bool {
        let mut bounds = (0.0, limit);
        // A scale and by how much the row's own exceeds it.
        let mut last: Option<(f64, f64)> = None;
        for _ in 0..MAX_SCALES {
            let own = self.descend().map_or(f64::INFINITY, |product| {
                let square: f64 = self.omega.iter().zip(&product).map(|(o, h)| o * h).sum();
                square.max(0.0).sqrt()
            });
            let (at, excess) = (self.sigma, own - self.sigma);
            // The conditions move by as much as the level does.
            if excess.abs() <= 0.1 * self.tol * at {
                return true;
            }
            if excess > 0.0 {
                bounds.0 = at;
            } else {
                bounds.1 = at;
            }
            if bounds.1 <= bounds.0 * (1.0 + f64::EPSILON) {
                return false;
            }
            let secant = last.map(|(before, other)| at - excess * (at - before) / (excess - other));
            let inside = |guess: &f64| *guess > bounds.0 && *guess < bounds.1;
            let halfway = if bounds.0 > 0.0 { (bounds.0 * bounds.1).sqrt() } else { 0.5 * at };
            self.sigma = secant.into_iter().chain([own]).find(inside).unwrap_or(halfway);
            last = Some((at, excess));
        }
        false
    }

    /// Coordinate descent at the present scale; `H omega` on the part, or `None` if it does not end.
    fn descend(&mut self) -> Option<Vec<f64>> {
        let (level, enough) = (self.level(), 0.3 * self.tol * self.unit());
        let far = RUNAWAY / self.part.row(0)[0];
        let mut product = self.part.product(&self.omega);
        for sweep in 1..=MAX_SWEEPS {
            if self.violation(&product) <= enough {
                // What was added up step by step may have drifted.
                product = self.part.product(&self.omega);
                if self.violation(&product) <= 2.0 * enough {
                    return Some(product);
                }
            }
            // Features that are close to each other make single coordinates slow.
            if sweep % SWEEPS_BETWEEN == 0 && self.jump() {
                product = self.part.product(&self.omega);
                continue;
            }
            for k in 0..self.omega.len() {
                let row = self.part.row(k);
                let curvature = row[k];
                // A feature that does not vary has nothing to give.
                if curvature <= 0.0 {
                    continue;
                }
                let old = self.omega[k];
                let new = if k == 0 {
                    old + (1.0 - product[k]) / curvature
                } else {
                    let free = old * curvature - product[k];
                    free.signum() * (free.abs() - level).max(0.0) / curvature
                };
                if new != old {
                    let step = new - old;
                    product.iter_mut().zip(row).for_each(|(sum, h)| *sum += step * h);
                    self.omega[k] = new;
                }
            }
            // Written so that a NaN is far, too.
            if !self.omega[0].abs().le(&far) {
                return None;
            }
        }
        None
    }

    /// From here straight to the minimum over the support, up to the first coordinate that would change
    /// its sign, which then leaves; false where the support has no single minimum.
    fn jump(&mut self) -> bool {
        let chosen = self.support();
        let mut goal: Vec<f64> = chosen
            .iter()
            .map(|k| if *k == 0 { 1.0 } else { -self.level().copysign(self.omega[*k]) })
            .collect();
        let Some(factor) = Cholesky::new(&self.part.block(&chosen), chosen.len()) else {
            return false;
        };
        factor.solve(&mut goal);
        if goal.iter().any(|value| !value.is_finite()) {
            return false;
        }
        let share = |(k, to): (&usize, &f64)| {
            let from = self.omega[*k];
            if *k > 0 && from * to <= 0.0 {
                from / (from - to)
            } else {
                f64::INFINITY
            }
        };
        let shares: Vec<f64> = chosen.iter().zip(&goal).map(share).collect();
        let length = shares.iter().copied().fold(1.0, f64::min);
        for ((k, to), share) in chosen.iter().zip(&goal).zip(&shares) {
            let from = self.omega[*k];
            self.omega[*k] = if *share <= length { 0.0 } else { from + length * (to - from) };
        }
        true
    }

    /// The row's own coordinate, and the non-zero ones.
    fn support(&self) -> Vec<usize> {
        (0..self.omega.len()).filter(|k| *k == 0 || self.omega[*k] != 0.0).collect()
    }

    /// How far the part is from optimal at the present scale, by its `H omega`.
    fn violation(&self, product: &[f64]) -> f64 {
        let level = self.level();
        let one = |(k, (omega, h)): (usize, (&f64, &f64))| match (k, *omega == 0.0) {
            (0, _) => (h - 1.0).abs(),
            (_, true) => (h.abs() - level).max(0.0),
            (_, false) => (h + level.copysign(*omega)).abs(),
        };
        self.omega.iter().zip(product).enumerate().map(one).fold(0.0, f64::max)
    }

    /// The row on its support, with the penalty and without.
    fn finish(self, outside: f64) -> InverseRow {
        let violation = self.violation(&self.part.product(&self.omega));
        let chosen = self.support();
        InverseRow {
            status: RowStatus::Converged,
            factors: chosen.iter().map(|k| self.part.factors[*k]).collect(),
            values: first_column(&self.part.block(&chosen), chosen.len()),
            penalised: chosen.iter().map(|k| self.omega[*k]).collect(),
            sigma: self.sigma,
            kkt: violation.max(outside) / self.unit(),
        }
    }
}

/// The first column of the inverse of a positive definite matrix, given row by row.
pub fn first_column(matrix: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut column = vec![0.0; size];
    column[0] = 1.0;
    Cholesky::new(matrix, size)?.solve(&mut column);
    column.iter().all(|value| value.is_finite()).then_some(column)
}
