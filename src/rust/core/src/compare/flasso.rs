//! Fused-lasso neighbourhood regressions: every variable on all others, in both samples at once.
//!
//! For variable s, with S and T the second moments of `x` and `y`,
//!
//! `minimise a'Sa/2 - S_s'a + b'Tb/2 - T_s'b + lambda1 (|a|_1 + |b|_1) + lambda2 |a - b|_1`
//!
//! over coefficients a, b with a_s = b_s = 0, by descent over the pairs (a_j, b_j). What the moments
//! leave unexplained, `r = S_s - Sa`, is minus the gradient and is kept up to date. Where the signs have
//! settled, a Newton step on them ends what descent would only approach.

use super::fused_penalty::FusedPenalty;
use super::Moments;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch};
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::path::{Path, Settings, Step};
use crate::solver::Stop;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::time::Instant;

/// Curvatures below this share of the largest are those of constant variables.
const FLAT: f64 = 1e-12;
/// Below this share of the largest moment, lambda2 cannot serve as the unit of residuals: the
/// samples are equal.
const SCALE_FLOOR: f64 = 1e-3;
/// A solve over the active pairs goes this much further than what is asked of all.
const AHEAD: f64 = 0.3;
/// A Newton step waits for at least this many sweeps, and for as many as cost the same.
const SWEEPS_BEFORE_NEWTON: usize = 8;
/// Newton systems larger than this cost more than the sweeps they save.
const NEWTON_SIZE: usize = 600;
/// Sweeps between two looks at the monitor.
const SWEEPS_PER_CHECK: usize = 64;

/// The coefficients of one predictor, in both samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The variable that is explained.
    pub response: usize,
    /// The variable that explains.
    pub predictor: usize,
    /// In `x`.
    pub x: f64,
    /// In `y`.
    pub y: f64,
}

/// All regressions at one lambda2.
#[derive(Debug, Clone, Default)]
pub struct Regressions {
    /// Those non-zero in either sample, response after response.
    pub coefficients: Vec<Coefficient>,
    /// What is left of the moment of each variable in `x` and in `y`.
    pub variances: [Vec<f64>; 2],
}

/// A step counts the sweeps, objectives and shares of the wall time of all regressions; it has
/// converged if all of them have. There is no duality gap.
pub type FlassoPath = Path<Regressions>;

/// Fit a path. Regressions run in parallel and do not know of each other: no thread count changes a
/// result.
pub fn fit(moments: &Moments, settings: &Settings, monitor: &Monitor) -> Result<FlassoPath> {
    let begun = Instant::now();
    let Settings { lambda1, tol, max_iter, .. } = *settings;
    let variables = moments.variables();
    let largest = largest_moment(moments);
    let stop = |unit: f64| Stop { tolerance: Tolerance { tol, scale: unit }, max_iter, monitor };
    let start = |response: usize| {
        let mut regression = Regression::new(moments, response);
        let fused = FusedPenalty { lambda1, lambda2: f64::INFINITY };
        regression.solve(fused, stop(largest))?;
        Ok(regression)
    };
    let mut regressions: Vec<Regression> =
        (0..variables).into_par_iter().map(start).collect::<Result<_>>()?;
    let split = |regression: &Regression| regression.least_lambda2(lambda1);
    let lambda_max = regressions.iter().map(split).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let grid = settings.lambda2.values(lambda_max);
    let stop = stop(lambda_max.max(SCALE_FLOOR * largest));
    monitor.start(variables);
    let along = |regression: &mut Regression| {
        let penalties = grid.iter().map(|lambda2| FusedPenalty { lambda1, lambda2: *lambda2 });
        let steps = penalties.map(|fused| regression.step(fused, stop)).collect::<Result<Vec<_>>>();
        monitor.advance();
        steps
    };
    let by_response: Vec<Vec<Step<Regressions>>> =
        regressions.par_iter_mut().map(along).collect::<Result<_>>()?;
    let mut steps: Vec<Step<Regressions>> = grid.iter().map(|lambda2| no_step(*lambda2)).collect();
    for parts in by_response {
        steps.iter_mut().zip(parts).for_each(|(step, part)| add(step, part));
    }
    // Threads work side by side: share out what the clock says.
    let total: f64 = steps.iter().map(|step| step.seconds).sum();
    let share = begun.elapsed().as_secs_f64() / total.max(f64::MIN_POSITIVE);
    steps.iter_mut().for_each(|step| step.seconds *= share);
    Ok(Path { lambda_max, steps, passes: 0 })
}

/// A step of no regression.
fn no_step(lambda2: f64) -> Step<Regressions> {
    let certificate = Certificate { objective: 0.0, gap: f64::INFINITY, kkt: 0.0 };
    let step = Step::new(lambda2, Status::Converged, 0, certificate, Regressions::default());
    Step { seconds: 0.0, ..step }
}

/// Add the same step of another regression.
fn add(step: &mut Step<Regressions>, part: Step<Regressions>) {
    if part.status != Status::Converged {
        step.status = part.status;
    }
    step.iterations += part.iterations;
    step.certificate.objective += part.certificate.objective;
    step.certificate.kkt = step.certificate.kkt.max(part.certificate.kkt);
    step.seconds += part.seconds;
    step.estimate.coefficients.extend(part.estimate.coefficients);
    let [x, y] = part.estimate.variances;
    step.estimate.variances[0].extend(x);
    step.estimate.variances[1].extend(y);
}

/// The largest moment of two different variables: minus the gradient at zero.
fn largest_moment(moments: &Moments) -> f64 {
    let off = |matrix: &[f64]| {
        let pairs = (0..moments.variables).flat_map(|u| (0..u).map(move |v| (u, v)));
        pairs.map(|(u, v)| matrix[u * moments.variables + v].abs()).fold(0.0, f64::max)
    };
    off(&moments.x).max(off(&moments.y))
}

/// How a solve ended.
#[derive(Debug, Clone, Copy)]
struct Descent {
    iterations: usize,
    kkt: f64,
}

/// One variable on all others, with what its last solve left behind.
struct Regression<'a> {
    moments: &'a Moments,
    response: usize,
    /// All other variables.
    predictors: Vec<usize>,
    /// Coefficients in `x` and in `y`, by variable.
    a: Vec<f64>,
    b: Vec<f64>,
    /// `S_s - Sa` and `T_s - Tb`.
    r: Vec<f64>,
    s: Vec<f64>,
    /// Curvatures that are safe to divide by.
    curvature: Vec<(f64, f64)>,
}

impl<'a> Regression<'a> {
    /// Start at zero.
    fn new(moments: &'a Moments, response: usize) -> Self {
        let variables = moments.variables;
        let diagonal = |j: usize| (moments.x_row(j)[j], moments.y_row(j)[j]);
        let top = (0..variables).map(diagonal).fold(0.0, |top: f64, (p, q)| top.max(p).max(q));
        // A constant variable has no slope either: any curvature leaves it where it is.
        let floor = if top > 0.0 { FLAT * top } else { 1.0 };
        let safe = |(p, q): (f64, f64)| (p.max(floor), q.max(floor));
        Self {
            moments,
            response,
            predictors: (0..variables).filter(|j| *j != response).collect(),
            a: vec![0.0; variables],
            b: vec![0.0; variables],
            r: moments.x_row(response).to_vec(),
            s: moments.y_row(response).to_vec(),
            curvature: (0..variables).map(|j| safe(diagonal(j))).collect(),
        }
    }

    /// Minimise from wherever the last solve ended.
    fn solve(&mut self, fused: FusedPenalty, stop: Stop<'_>) -> Result<Descent> {
        let target = stop.tolerance.kkt();
        let mut iterations = 0;
        loop {
            // Sums that are kept up to date drift: the conditions are checked on fresh ones.
            self.refresh();
            let kkt = self.kkt(fused, &self.predictors);
            if kkt <= target || iterations >= stop.max_iter {
                return Ok(Descent { iterations, kkt });
            }
            let active: Vec<usize> = self
                .predictors
                .iter()
                .copied()
                .filter(|j| {
                    self.a[*j] != 0.0
                        || self.b[*j] != 0.0
                        || self.kkt_of(fused, *j) > AHEAD * target
                })
                .collect();
            iterations += self.descend(fused, &active, stop.after(iterations))?;
        }
    }

    /// Sweep over some pairs until they are solved; how many sweeps it took.
    fn descend(&mut self, fused: FusedPenalty, active: &[usize], stop: Stop<'_>) -> Result<usize> {
        let mut sweeps = 0;
        let mut newton_at = self.sweeps_per_newton(active);
        while sweeps < stop.max_iter {
            if sweeps % SWEEPS_PER_CHECK == 0 {
                stop.monitor.check()?;
            }
            let last = (sweeps == newton_at).then(|| self.pattern(active));
            dispatch(Sweep { regression: self, fused, active });
            sweeps += 1;
            if self.kkt(fused, active) <= AHEAD * stop.tolerance.kkt() {
                break;
            }
            if let Some(last) = last {
                newton_at = sweeps + self.sweeps_per_newton(active);
                if last == self.pattern(active) {
                    self.newton(fused, active);
                }
            }
        }
        Ok(sweeps)
    }

    fn refresh(&mut self) {
        dispatch(Refresh { regression: self });
    }

    #[inline(always)]
    fn kkt_of(&self, fused: FusedPenalty, j: usize) -> f64 {
        fused.kkt((self.a[j], self.b[j]), (self.r[j], self.s[j]))
    }

    fn kkt(&self, fused: FusedPenalty, pairs: &[usize]) -> f64 {
        pairs.iter().map(|j| self.kkt_of(fused, *j)).fold(0.0, f64::max)
    }

    /// The smallest lambda2 at which coefficients that are equal in both samples may stay so.
    fn least_lambda2(&self, lambda1: f64) -> f64 {
        let fused = FusedPenalty { lambda1, lambda2: f64::INFINITY };
        let least = |j: &usize| fused.least_lambda2(self.a[*j], (self.r[*j], self.s[*j]));
        self.predictors.iter().map(least).fold(0.0, f64::max)
    }

    /// The signs of both coefficients and of their difference.
    fn pattern(&self, pairs: &[usize]) -> Vec<[i8; 3]> {
        let sign = |value: f64| i8::from(value > 0.0) - i8::from(value < 0.0);
        let of = |j: &usize| {
            let (a, b) = (self.a[*j], self.b[*j]);
            [sign(a), sign(b), sign(a - b)]
        };
        pairs.iter().map(of).collect()
    }

    /// How many sweeps cost as much as a Newton step on the signs of this point.
    fn sweeps_per_newton(&self, active: &[usize]) -> usize {
        let size: usize = self.unknowns(active).count();
        // A third of size^3 products against two rows of moments for each pair.
        let sweep = 2 * active.len() * self.moments.variables;
        SWEEPS_BEFORE_NEWTON.max(size.pow(3) / (3 * sweep).max(1))
    }

    fn unknowns<'b>(&'b self, active: &'b [usize]) -> impl Iterator<Item = Unknown> + 'b {
        active.iter().flat_map(|j| Unknown::of(*j, self.a[*j], self.b[*j])).flatten()
    }

    /// The minimum over all points with the signs of this one, or the last point on the way to it
    /// whose signs are not opposed: the objective falls all along.
    fn newton(&mut self, fused: FusedPenalty, active: &[usize]) {
        let unknowns: Vec<Unknown> = self.unknowns(active).collect();
        let size = unknowns.len();
        if size == 0 || size > NEWTON_SIZE {
            return;
        }
        let mut matrix = vec![0.0; size * size];
        for (i, one) in unknowns.iter().enumerate() {
            let (x_row, y_row) = (self.moments.x_row(one.j), self.moments.y_row(one.j));
            for (entry, other) in matrix[i * size..=i * size + i].iter_mut().zip(&unknowns) {
                *entry = one.x * other.x * x_row[other.j] + one.y * other.y * y_row[other.j];
            }
        }
        let Some(factor) = Cholesky::new(&matrix, size) else {
            return;
        };
        let slope = |unknown: &Unknown| unknown.slope(self, fused);
        let mut step: Vec<f64> = unknowns.iter().map(slope).collect();
        factor.solve(&mut step);
        if step.iter().all(|value| value.is_finite()) {
            self.move_by(&unknowns, &step);
        }
    }

    /// Go along a step as far as no sign of a coefficient or of a difference turns.
    fn move_by(&mut self, unknowns: &[Unknown], step: &[f64]) {
        let mut to_a = vec![0.0; self.a.len()];
        let mut to_b = vec![0.0; self.b.len()];
        for (unknown, by) in unknowns.iter().zip(step) {
            to_a[unknown.j] += unknown.x * by;
            to_b[unknown.j] += unknown.y * by;
        }
        let turning = |value: f64, by: f64| {
            if value != 0.0 && value * by < 0.0 {
                -value / by
            } else {
                f64::INFINITY
            }
        };
        let mut far = 1.0_f64;
        for j in unknowns.iter().map(|unknown| unknown.j) {
            let (a, b, by_a, by_b) = (self.a[j], self.b[j], to_a[j], to_b[j]);
            far = far.min(turning(a, by_a)).min(turning(b, by_b)).min(turning(a - b, by_a - by_b));
        }
        // Just short of where a sign turns: the next sweep says what comes after.
        let far = if far < 1.0 { far * (1.0 - 1e-9) } else { far };
        for unknown in unknowns {
            let j = unknown.j;
            if to_a[j] != 0.0 || to_b[j] != 0.0 {
                let joined = self.a[j] == self.b[j];
                self.a[j] += far * to_a[j];
                self.b[j] = if joined { self.a[j] } else { self.b[j] + far * to_b[j] };
                (to_a[j], to_b[j]) = (0.0, 0.0);
            }
        }
        self.refresh();
    }

    /// Minimise, and what the path reports of that.
    fn step(&mut self, fused: FusedPenalty, stop: Stop<'_>) -> Result<Step<Regressions>> {
        let begun = Instant::now();
        let Descent { iterations, kkt } = self.solve(fused, stop)?;
        let seconds = begun.elapsed().as_secs_f64();
        let status = Status::within(kkt <= stop.tolerance.kkt());
        let (objective, estimate) = self.estimate(fused);
        let certificate = Certificate { objective, gap: f64::INFINITY, kkt };
        let step = Step::new(fused.lambda2, status, iterations, certificate, estimate);
        Ok(Step { seconds, ..step })
    }

    /// The objective, and the coefficients with what they leave of the variable's moments.
    fn estimate(&self, fused: FusedPenalty) -> (f64, Regressions) {
        let coefficient = |j: &usize| Coefficient {
            response: self.response,
            predictor: *j,
            x: self.a[*j],
            y: self.b[*j],
        };
        let coefficients: Vec<Coefficient> = self
            .predictors
            .iter()
            .map(coefficient)
            .filter(|pair| pair.x != 0.0 || pair.y != 0.0)
            .collect();
        let penalty: f64 = coefficients.iter().map(|pair| fused.value(pair.x, pair.y)).sum();
        // S_ss - 2 S_s'a + a'Sa = r_s - r'a.
        let variances = [(&self.r, &self.a), (&self.s, &self.b)].map(|(r, a)| {
            let explained: f64 = r.iter().zip(a).map(|(r, a)| r * a).sum();
            (r[self.response] - explained).max(0.0)
        });
        let objective = 0.5 * (variances[0] + variances[1]) + penalty;
        (objective, Regressions { coefficients, variances: variances.map(|value| vec![value]) })
    }
}

/// Something that moves by itself where signs are kept: a coefficient in one sample, or the common one.
struct Unknown {
    j: usize,
    /// 1 where it is a coefficient in `x`, otherwise 0.
    x: f64,
    /// 1 where it is a coefficient in `y`, otherwise 0.
    y: f64,
}

impl Unknown {
    /// Those of one pair.
    fn of(j: usize, a: f64, b: f64) -> [Option<Self>; 2] {
        if a == b {
            [(a != 0.0).then_some(Self { j, x: 1.0, y: 1.0 }), None]
        } else {
            [
                (a != 0.0).then_some(Self { j, x: 1.0, y: 0.0 }),
                (b != 0.0).then_some(Self { j, x: 0.0, y: 1.0 }),
            ]
        }
    }

    /// Minus the slope of the objective.
    fn slope(&self, at: &Regression, fused: FusedPenalty) -> f64 {
        let j = self.j;
        let (a, b) = (at.a[j], at.b[j]);
        let split = if a == b { 0.0 } else { fused.lambda2.copysign(a - b) };
        self.x * (at.r[j] - fused.lambda1.copysign(a) - split)
            + self.y * (at.s[j] - fused.lambda1.copysign(b) + split)
    }
}

/// One round over some pairs, each brought to its minimum with the others fixed.
struct Sweep<'a, 'b> {
    regression: &'a mut Regression<'b>,
    fused: FusedPenalty,
    active: &'a [usize],
}

impl WithSimd for Sweep<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Regression { moments, a, b, r, s, curvature, .. } = self.regression;
        for j in self.active {
            let j = *j;
            let (p, q) = curvature[j];
            let at = (p * a[j] + r[j], q * b[j] + s[j]);
            let (next_a, next_b) = self.fused.minimum(at, (p, q));
            if next_a != a[j] {
                axpy(simd, a[j] - next_a, moments.x_row(j), r);
                a[j] = next_a;
            }
            if next_b != b[j] {
                axpy(simd, b[j] - next_b, moments.y_row(j), s);
                b[j] = next_b;
            }
        }
    }
}

/// The gradient from scratch.
struct Refresh<'a, 'b> {
    regression: &'a mut Regression<'b>,
}

impl WithSimd for Refresh<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Regression { moments, response, predictors, a, b, r, s, .. } = self.regression;
        r.copy_from_slice(moments.x_row(*response));
        s.copy_from_slice(moments.y_row(*response));
        for j in predictors.iter().copied() {
            if a[j] != 0.0 {
                axpy(simd, -a[j], moments.x_row(j), r);
            }
            if b[j] != 0.0 {
                axpy(simd, -b[j], moments.y_row(j), s);
            }
        }
    }
}
