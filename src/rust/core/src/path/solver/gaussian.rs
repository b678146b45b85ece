//! Gaussian networks with their own normaliser: proximal Newton on a working set.

use super::{FindLambdaMax, Fit, Limits, PathSolver, UpdateProblem};
use crate::error::{Error, Result};
use crate::features::factors::{factor_index, factor_variables};
use crate::features::{Coefficients, Products};
use crate::monitor::Monitor;
use crate::numerics::simd::{dispatch, largest_size, Number};
use crate::numerics::tiles::SINGLE_ROWS;
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::objective::gaussian::{ActiveVariables, Entry, Evaluation, GaussianLoss, Moments, Room};
use crate::objective::loss::Weights;
use crate::objective::penalty::{Lambda, Penalty};
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::solver::gaussian_quadratic::{Curvature, Enough, GaussianQuadratic};
use crate::solver::Stop;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::sync::Arc;

/// The share of the tolerance an inner solve may use up; the rest is for factors left out.
const INNER_SHARE: f64 = 0.8;
/// How much of the violations that the tolerance leaves the model of a step may have.
const NEEDED_SHARE: f64 = 0.3;
/// Share of the predicted decrease a step must bring.
const ARMIJO: f64 = 1e-3;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 60;

/// Values of `xi` that are looked at together.
const LINE: usize = 32;
/// By what share a value in single precision may be off, generously.
const SINGLE: f64 = 2.0 * f32::EPSILON as f64;
/// The largest ratio is looked for among those that are roughly within this share of it.
const ROUGHLY: f64 = 0.05;
/// Steps with the same curvature, where a new one costs more than a gradient.
const KEPT_STEPS: usize = 2;
/// Variables that are kept for each that is needed, before their covariances are factored anew.
const KEPT_VARIABLES: f64 = 1.3;

/// Non-zero coefficients by factor, in order.
type Theta = Vec<(usize, f64)>;

/// Values that are asked for in the order of their factors, none twice.
struct InOrder<'a>(std::slice::Iter<'a, (usize, f64)>);

impl<'a> InOrder<'a> {
    fn new(values: &'a [(usize, f64)]) -> Self {
        Self(values.iter())
    }

    /// The value of a factor, where there is one.
    fn of(&mut self, factor: usize) -> Option<f64> {
        while let Some(((first, value), rest)) = self.0.as_slice().split_first() {
            if *first > factor {
                break;
            }
            self.0 = rest.iter();
            if *first == factor {
                return Some(*value);
            }
        }
        None
    }
}

/// The default for the Gaussian normaliser.
pub struct GaussianSolver {
    problem: Problem,
    loss: GaussianLoss,
    variables: usize,
    limits: Limits,
    unpenalised: Vec<usize>,
    /// The non-zero coefficients.
    theta: Theta,
    /// `xi` of all factors there, roughly: the lower triangle of a full matrix. It says which factors
    /// may enter; whether they have to is decided by exact values.
    xi: Vec<f32>,
    /// Factors with a large `xi` there, where they have been looked for.
    beyond: Option<Beyond>,
    /// The variables of the last working set, and what was prepared for them.
    active: Arc<ActiveVariables>,
    /// Where theta comes from.
    trend: Option<Trend>,
    /// Matrices of the last quadratic model.
    curvature: Curvature,
    /// Of the last `xi` of all factors.
    room: Room,
}

/// `|xi_t| / w_t` of all penalised factors where it is above a threshold, in order; roughly.
struct Beyond {
    threshold: f64,
    ratios: Vec<(usize, f64)>,
}

/// Looks for these.
struct LookBeyond<'a> {
    penalty_factor: &'a PenaltyFactors,
    variables: usize,
    threshold: f64,
    /// By how much each `xi` may be off.
    rounding: f64,
    /// No `xi` below it is above the threshold.
    least: f64,
}

impl<'a> LookBeyond<'a> {
    fn new(penalty_factor: &'a PenaltyFactors, variables: usize, threshold: f64) -> Self {
        let least = threshold * penalty_factor.smallest();
        Self { penalty_factor, variables, threshold, rounding: 0.0, least }
    }

    /// Whatever may be above the threshold, where each `xi` may be off by `rounding`.
    fn within(self, rounding: f64) -> Self {
        let threshold = self.threshold * (1.0 - SINGLE);
        let least = self.least * (1.0 - SINGLE) - rounding;
        Self { threshold, rounding, least, ..self }
    }

    /// Among some rows of `xi`.
    fn among<T: Number>(&self, first: usize, rows: &[T]) -> Vec<(usize, f64)> {
        dispatch(LookAmong { look: self, first, rows })
    }
}

struct LookAmong<'a, T> {
    look: &'a LookBeyond<'a>,
    first: usize,
    rows: &'a [T],
}

impl<T: Number> WithSimd for LookAmong<'_, T> {
    type Output = Vec<(usize, f64)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<(usize, f64)> {
        let LookBeyond { penalty_factor, variables, threshold, rounding, least } = self.look;
        let mut found = Vec::new();
        for (u, row) in (self.first..).zip(self.rows.chunks_exact(*variables)) {
            for (part, values) in row[..=u].chunks(LINE).enumerate() {
                // Nearly all lines hold nothing.
                if largest_size(simd, values) <= *least {
                    continue;
                }
                for (v, xi) in (part * LINE..).zip(values) {
                    let (size, weight) = (xi.double().abs(), penalty_factor.of(u, v));
                    if size > threshold * weight - rounding && weight > 0.0 {
                        found.push((factor_index(u, v), size / weight));
                    }
                }
            }
        }
        found
    }
}

/// Where theta comes from, by which the next one can be predicted.
struct Trend {
    /// The two last lambda2.
    lambda2: [f64; 2],
    /// Theta at the first of these.
    theta: Theta,
    /// `xi` there.
    xi: Vec<f32>,
}

/// The coefficients at work.
struct ActiveSet {
    factors: Vec<usize>,
    places: Vec<(usize, usize)>,
    active: Arc<ActiveVariables>,
    theta: Vec<f64>,
    penalties: Vec<Penalty>,
}

/// The loss at the theta of a set, and the moments there.
struct Position {
    evaluation: Evaluation,
    moments: Vec<Moments>,
}

impl ActiveSet {
    fn entries_of(&self, theta: &[f64]) -> Vec<Entry> {
        let all = self.places.iter().zip(theta).filter(|(_, t)| **t != 0.0);
        all.map(|(&(i, j), t)| Entry::new(i, j, *t)).collect()
    }

    fn penalty(&self, theta: &[f64]) -> f64 {
        self.penalties.iter().zip(theta).map(|(penalty, t)| penalty.value(&[*t])).sum()
    }

    /// Start from another theta.
    fn start_from(&mut self, theta: &Theta) {
        let mut known = InOrder::new(theta);
        self.theta = self.factors.iter().map(|factor| known.of(*factor).unwrap_or(0.0)).collect();
    }
}

impl GaussianSolver {
    /// Take the second moments of both samples.
    pub fn new(problem: &Problem, products: &Products, limits: Limits) -> Result<Self> {
        let basis = products.basis();
        if basis.pair != [(1, 1)] || basis.single != [2] {
            return Err(Error::Argument(
                "the Gaussian normaliser needs products and squares, nothing else".into(),
            ));
        }
        let loss = GaussianLoss::new(products, &problem.loss);
        // Along the null space of a covariance only the ridge holds the objective up.
        if limits.lambda1 == 0.0 && !loss.is_regular() {
            return Err(Error::Argument(
                "the Gaussian normaliser of a singular covariance needs lambda1 > 0".into(),
            ));
        }
        let variables = products.variables();
        let unpenalised = problem.penalty_factor.unpenalised(products.factors());
        Ok(Self {
            problem: problem.clone(),
            variables,
            limits,
            unpenalised,
            theta: Theta::new(),
            xi: loss.roughly_at_zero().to_vec(),
            beyond: None,
            active: Arc::new(loss.restrict_to(Vec::new())),
            trend: None,
            curvature: Curvature::default(),
            room: Room::default(),
            loss,
        })
    }

    /// `|xi_t| / w_t` of the penalised factors where it is above a threshold, in order; roughly.
    fn ratios_above(&self, threshold: f64) -> Vec<(usize, f64)> {
        if let Some(Beyond { ratios, .. }) =
            self.beyond.as_ref().filter(|b| b.threshold <= threshold)
        {
            return ratios.iter().copied().filter(|(_, ratio)| *ratio > threshold).collect();
        }
        let look = LookBeyond::new(&self.problem.penalty_factor, self.variables, threshold);
        let tasks = self.xi.par_chunks((SINGLE_ROWS * self.variables).max(1)).enumerate();
        let found = tasks.map(|(task, rows)| look.among(task * SINGLE_ROWS, rows));
        found.collect::<Vec<_>>().concat()
    }

    /// The largest `|xi_t| / w_t` of the penalised factors, roughly.
    fn largest_ratio(&self) -> f64 {
        let mut largest = 0.0;
        let mut look = LookBeyond::new(&self.problem.penalty_factor, self.variables, 0.0);
        for (task, rows) in self.xi.chunks((SINGLE_ROWS * self.variables).max(1)).enumerate() {
            let found = look.among(task * SINGLE_ROWS, rows);
            largest = found.into_iter().map(|(_, ratio)| ratio).fold(largest, f64::max);
            // What comes later matters where it is larger.
            look = LookBeyond::new(&self.problem.penalty_factor, self.variables, largest);
        }
        largest
    }

    /// Some factors in any order, at the theta of the moment.
    fn set(&mut self, mut factors: Vec<usize>, lambda: Lambda) -> ActiveSet {
        // Runs in order, which a stable sort merges.
        factors.sort();
        factors.dedup();
        let pairs: Vec<(usize, usize)> = factors.iter().map(|t| factor_variables(*t)).collect();
        self.activate(&pairs);
        let mut place = vec![0; self.variables];
        self.active.variables.iter().enumerate().for_each(|(k, u)| place[*u] = k);
        let mut set = ActiveSet {
            places: pairs.iter().map(|(u, v)| (place[*u], place[*v])).collect(),
            theta: Vec::new(),
            penalties: pairs
                .iter()
                .map(|(u, v)| lambda.penalty(self.problem.penalty_factor.of(*u, *v)))
                .collect(),
            active: self.active.clone(),
            factors,
        };
        set.start_from(&self.theta);
        set
    }

    /// Prepare the variables of some factors, in order; some that were used before may stay.
    fn activate(&mut self, pairs: &[(usize, usize)]) {
        let mut needed = vec![false; self.variables];
        pairs.iter().for_each(|(u, v)| (needed[*u], needed[*v]) = (true, true));
        let count = needed.iter().filter(|needed| **needed).count();
        let before = &self.active.variables;
        let missing = count - before.iter().filter(|u| needed[**u]).count();
        let all = missing + before.len();
        let keep = all as f64 <= KEPT_VARIABLES * count as f64;
        if keep && missing == 0 {
            return;
        }
        if keep {
            before.iter().for_each(|u| needed[*u] = true);
        }
        let variables = (0..self.variables).filter(|u| needed[*u]).collect();
        self.active = Arc::new(self.loss.restrict_to(variables));
    }

    /// Theta of a set at the next lambda2, from the two last ones. With h the curvature along a
    /// coordinate, `xi + h theta` is what the threshold makes theta of; along a path it moves nearly
    /// linearly, whether theta is zero or not.
    fn extrapolated(&self, set: &ActiveSet, lambda2: f64) -> Option<Vec<f64>> {
        let Trend { lambda2: [before, last], theta, xi } = self.trend.as_ref()?;
        if !(before > last && *last > lambda2) {
            return None;
        }
        let share = (last - lambda2) / (before - last);
        let (mut earlier, mut latest) = (InOrder::new(theta), InOrder::new(&self.theta));
        let ahead = |(factor, penalty): (&usize, &Penalty)| {
            let (u, v) = factor_variables(*factor);
            let (at, curvature) = (u * self.variables + v, self.loss.curvature_at_zero(u, v));
            let pull = |xi: &[f32], theta: &mut InOrder<'_>| {
                f64::from(xi[at]) + curvature * theta.of(*factor).unwrap_or(0.0)
            };
            let (then, now) = (pull(xi, &mut earlier), pull(&self.xi, &mut latest));
            let mut next = [(now + share * (now - then)) / curvature];
            penalty.prox(1.0 / curvature, &mut next);
            next[0]
        };
        Some(set.factors.iter().zip(&set.penalties).map(ahead).collect())
    }

    fn position(&self, set: &ActiveSet) -> Option<Position> {
        let evaluation = self.loss.evaluate(&set.active, &set.entries_of(&set.theta))?;
        let moments = self.loss.moments(&set.active, &evaluation);
        Some(Position { evaluation, moments })
    }

    /// Proximal Newton on a set, from its theta, as far as it gets; how many steps that took, and
    /// where it ended. `None` outside the domain.
    fn solve_set(
        &mut self,
        set: &mut ActiveSet,
        lambda1: f64,
        stop: Stop<'_>,
    ) -> Result<Option<(usize, Position)>> {
        let mut curvature = std::mem::take(&mut self.curvature);
        let solved = self.solve_with(set, lambda1, stop, &mut curvature);
        self.curvature = curvature;
        solved
    }

    fn solve_with(
        &self,
        set: &mut ActiveSet,
        lambda1: f64,
        stop: Stop<'_>,
        curvature: &mut Curvature,
    ) -> Result<Option<(usize, Position)>> {
        let size = set.active.variables.len();
        let Some(mut now) = self.position(set) else {
            return Ok(None);
        };
        for iteration in 0..=stop.max_iter {
            stop.monitor.check()?;
            let xi = self.active_xi(set, &now.moments);
            let certificate = self.certify(set, &now.evaluation, &xi, lambda1);
            let objective = certificate.objective;
            if stop.tolerance.accepts(&certificate) {
                return Ok(Some((iteration, now)));
            }
            // Where a matrix has yet to be computed, every other step makes do with the one before.
            if iteration % KEPT_STEPS == 0 || !now.moments.iter().all(Moments::is_gram) {
                curvature.set(size, &now.moments);
            }
            let model =
                GaussianQuadratic { places: &set.places, xi: &xi, penalties: &set.penalties };
            let enough = enough_of_model(&certificate, &stop.tolerance, lambda1);
            let target = model.minimise(&set.theta, &enough, curvature);
            let Some((theta, evaluation)) = self.line_search(set, objective, &xi, &target) else {
                return Ok(Some((iteration, now)));
            };
            set.theta = theta;
            let moments = self.loss.moments(&set.active, &evaluation);
            now = Position { evaluation, moments };
        }
        Ok(Some((stop.max_iter, now)))
    }

    fn active_xi(&self, set: &ActiveSet, moments: &[Moments]) -> Vec<f64> {
        let variables = &set.active.variables;
        let linear = |&(i, j): &(usize, usize)| self.loss.linear(variables[i], variables[j]);
        let mut xi: Vec<f64> = set.places.iter().map(linear).collect();
        for (sign, moments) in self.loss.signs().zip(moments) {
            let weighted = moments.at(variables.len(), &set.places);
            xi.iter_mut().zip(weighted).for_each(|(xi, a)| *xi -= sign * a);
        }
        xi
    }

    /// Shorten the step until it stays in the domain and the objective falls enough.
    fn line_search(
        &self,
        set: &ActiveSet,
        objective: f64,
        xi: &[f64],
        target: &[f64],
    ) -> Option<(Vec<f64>, Evaluation)> {
        let slope: f64 =
            set.theta.iter().zip(target).zip(xi).map(|((t, to), xi)| -xi * (to - t)).sum();
        let predicted = slope + set.penalty(target) - set.penalty(&set.theta);
        let noise = 16.0 * f64::EPSILON * objective.abs().max(1.0);
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            let theta: Vec<f64> =
                set.theta.iter().zip(target).map(|(t, to)| t + step * (to - t)).collect();
            if let Some(next) = self.loss.evaluate(&set.active, &set.entries_of(&theta)) {
                let value = next.value + set.penalty(&theta);
                if value <= objective + ARMIJO * step * predicted + noise {
                    return (theta != set.theta).then_some((theta, next));
                }
            }
            step *= 0.5;
        }
        None
    }

    /// Take over the theta of a set, and `xi` of all factors, of which those above a threshold are
    /// noted; the certificate over all factors, and the penalised ones beyond their level.
    fn adopt(
        &mut self,
        set: &ActiveSet,
        at: Option<&Position>,
        threshold: f64,
        lambda: Lambda,
    ) -> (Certificate, Vec<(usize, f64)>) {
        let Some(Position { evaluation, moments }) = at else {
            let nothing = Certificate { objective: f64::NAN, gap: f64::NAN, kkt: f64::NAN };
            return (nothing, Vec::new());
        };
        let known = set.factors.iter().zip(&set.theta).filter(|(_, t)| **t != 0.0);
        self.theta = known.map(|(factor, t)| (*factor, *t)).collect();
        let xi = self.active_xi(set, moments);
        let mut certificate = self.certify(set, evaluation, &xi, lambda.lambda1);
        let entries = set.entries_of(&set.theta);
        let room = std::mem::take(&mut self.room);
        let all = self.loss.xi(&set.active, &entries, (evaluation, moments), room);
        let (penalty_factor, level) = (&self.problem.penalty_factor, lambda.lambda2);
        let look = LookBeyond::new(penalty_factor, self.variables, threshold.min(level));
        let look = look.within(all.rounding);
        let look = |first: usize, rows: &[f32]| look.among(first, rows);
        let ratios = all.rough(&mut self.xi, look).concat();
        let doubtful = |&(factor, ratio): &(usize, f64)| {
            let (u, v) = factor_variables(factor);
            let weight = penalty_factor.of(u, v);
            let off = SINGLE * ratio * weight + all.rounding;
            (ratio * weight + off > level * weight).then_some((factor, u, v, weight))
        };
        // Those of the set are in the certificate and at work already.
        let mut others: Vec<(usize, usize, usize, f64)> =
            ratios.iter().filter_map(doubtful).collect();
        others.retain(|(factor, ..)| set.factors.binary_search(factor).is_err());
        let pairs: Vec<(usize, usize)> = others.iter().map(|(_, u, v, _)| (*u, *v)).collect();
        let mut above = Vec::new();
        for ((factor, _, _, weight), xi) in others.into_iter().zip(all.exact(&pairs)) {
            certificate.count(&lambda.penalty(weight), &[0.0], &[xi]);
            if xi.abs() > level * weight {
                above.push((factor, xi.abs() / weight));
            }
        }
        self.room = all.into_room();
        self.beyond = Some(Beyond { threshold, ratios });
        (certificate, above)
    }

    /// What the factors of a set have of a certificate.
    fn certify(&self, set: &ActiveSet, at: &Evaluation, xi: &[f64], lambda1: f64) -> Certificate {
        let mut certificate = Certificate::new(at.value + set.penalty(&set.theta), lambda1);
        for ((penalty, theta), xi) in set.penalties.iter().zip(&set.theta).zip(xi) {
            certificate.count(penalty, &[*theta], &[*xi]);
        }
        certificate
    }

    fn fit(&self, certificate: Certificate, status: Status, iterations: usize) -> Fit {
        let mut coefficients = Coefficients::default();
        self.theta.iter().for_each(|(factor, theta)| coefficients.push(*factor, &[*theta]));
        // No row has a score here: whoever needs sums over them makes them.
        let weights = Weights::default();
        Fit { status, iterations, certificate, linear: None, weights, coefficients }
    }
}

/// How exactly the model of a Newton step is to be minimised: for fast convergence, and no more than
/// the tolerance asks for.
fn enough_of_model(certificate: &Certificate, tolerance: &Tolerance, lambda1: f64) -> Enough {
    let accepted = tolerance.distance(certificate);
    // Violations v of conditions add about |v|^2 / (2 lambda1) to the gap.
    let needed = if lambda1 > 0.0 { (2.0 * lambda1 * accepted).sqrt() } else { accepted };
    let share = (certificate.kkt / tolerance.scale).min(0.1);
    Enough { norm: NEEDED_SHARE * needed, share }
}

impl PathSolver for GaussianSolver {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let lambda = self.limits.lambda(at.current);
        let on_set = Tolerance { tol: INNER_SHARE * tolerance.tol, ..tolerance };
        let mut factors: Vec<usize> = self.theta.iter().map(|(t, _)| *t).collect();
        factors.extend(&self.unpenalised);
        let expected = self.ratios_above(2.0 * at.current - at.previous);
        factors.extend(expected.iter().map(|(factor, _)| factor));
        let mut set = self.set(factors, lambda);
        let mut start = self.extrapolated(&set, at.current);
        let mut xi = self.trend.take().map(|trend| trend.xi).unwrap_or_default();
        xi.clone_from(&self.xi);
        let (theta, lambda2) = (self.theta.clone(), [at.previous, at.current]);
        let before = Trend { lambda2, theta, xi };
        let mut iterations = 0;
        loop {
            let stop = self.limits.stop(on_set, monitor).after(iterations);
            let guess = start.take().map(|theta| set.theta = theta).is_some();
            let mut end = self.solve_set(&mut set, lambda.lambda1, stop)?;
            if guess && end.is_none() {
                set.start_from(&self.theta);
                end = self.solve_set(&mut set, lambda.lambda1, stop)?;
            }
            iterations += end.as_ref().map_or(0, |(steps, _)| *steps);
            // What is above this one is expected to enter next.
            let threshold = at.current.min(2.0 * at.next - at.current);
            let position = end.as_ref().map(|(_, position)| position);
            let (certificate, above) = self.adopt(&set, position, threshold, lambda);
            let accepted = tolerance.accepts(&certificate);
            if accepted || above.is_empty() || stop.max_iter == 0 {
                self.trend = Some(before);
                return Ok(self.fit(certificate, Status::within(accepted), iterations));
            }
            let mut factors = set.factors;
            factors.extend(above.iter().map(|(factor, _)| factor));
            set = self.set(factors, lambda);
        }
    }
}

impl UpdateProblem for GaussianSolver {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.problem.penalty_factor = penalty_factor.clone();
        self.unpenalised = penalty_factor.unpenalised(self.problem.features.factors());
        self.trend = None;
        self.beyond = None;
    }

    fn set_linear(&mut self, problem: &Problem) {
        let before = self.loss.roughly_at_zero().to_vec();
        self.loss.set_linear(&problem.loss);
        let change = self.loss.roughly_at_zero().iter().zip(before).map(|(now, then)| now - then);
        self.xi.iter_mut().zip(change).for_each(|(xi, change)| *xi += change);
        self.problem.loss = problem.loss.clone();
        self.trend = None;
        self.beyond = None;
    }
}

impl FindLambdaMax for GaussianSolver {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        // First roughly, and then exactly whatever may be the largest.
        if self.unpenalised.is_empty() {
            let rough = self.largest_ratio();
            let exact = |(factor, _): (usize, f64)| {
                let (u, v) = factor_variables(factor);
                self.loss.at_zero(u, v).abs() / self.problem.penalty_factor.of(u, v)
            };
            let candidates = self.ratios_above(rough * (1.0 - ROUGHLY)).into_iter();
            return Ok(candidates.map(exact).reduce(f64::max).unwrap_or(rough));
        }
        let lambda = self.limits.lambda(f64::MAX);
        let mut set = self.set(self.unpenalised.clone(), lambda);
        let stop = self.limits.stop(tolerance, monitor);
        let end = self.solve_set(&mut set, lambda.lambda1, stop)?;
        let position = end.as_ref().map(|(_, position)| position);
        self.adopt(&set, position, f64::INFINITY, lambda);
        let rough = self.largest_ratio();
        let lambda = self.limits.lambda(rough * (1.0 - ROUGHLY));
        let (_, above) = self.adopt(&set, position, rough, lambda);
        Ok(above.into_iter().map(|(_, ratio)| ratio).reduce(f64::max).unwrap_or(rough))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_order_are_found_and_others_are_not() {
        let values = [(2, 0.5), (3, -1.0), (7, 2.0)];
        let mut known = InOrder::new(&values);
        let found: Vec<Option<f64>> = [0, 2, 4, 7, 9].map(|factor| known.of(factor)).into();
        assert_eq!(found, [None, Some(0.5), None, Some(2.0), None]);
    }

    /// Rows over several tasks, with lines that are not full.
    #[test]
    fn what_is_above_a_threshold_is_found_in_order() {
        let d = SINGLE_ROWS + 7;
        let xi: Vec<f64> =
            (0..d * d).map(|k| ((k * 7919 + 13) % 1009) as f64 / 504.0 - 1.0).collect();
        for penalty_factor in [
            PenaltyFactors::equal(),
            PenaltyFactors::ByKind { single: 0.0, edge: 1.3 },
            PenaltyFactors::ByKind { single: 0.5, edge: f64::INFINITY },
        ] {
            let look = LookBeyond::new(&penalty_factor, d, 0.7);
            let rows = xi.chunks(SINGLE_ROWS * d).enumerate();
            let found: Vec<(usize, f64)> =
                rows.flat_map(|(task, rows)| look.among(task * SINGLE_ROWS, rows)).collect();
            let mut expected = Vec::new();
            for u in 0..d {
                for v in 0..=u {
                    let (size, weight) = (xi[u * d + v].abs(), penalty_factor.of(u, v));
                    if weight > 0.0 && size > 0.7 * weight {
                        expected.push((factor_index(u, v), size / weight));
                    }
                }
            }
            assert_eq!(found, expected);
        }
    }
}
