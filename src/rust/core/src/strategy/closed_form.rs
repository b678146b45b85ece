//! Gaussian networks with their own normaliser: proximal Newton on a working set.

use super::{Adjust, Around, Auto, Fitted, Limits, Solve};
use crate::error::{Error, Result};
use crate::factors::{factor_index, factor_variables, PenaltyFactors};
use crate::features::{Coefficients, Products};
use crate::gaussian::{Entry, GaussianLoss, Local, Model};
use crate::monitor::Monitor;
use crate::penalty::Penalty;
use crate::problem::{Lambda, Problem, Status, Tolerance};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The share of the tolerance an inner solve may use up; the rest is for factors left out.
const INNER_SHARE: f64 = 0.5;
/// Share of the predicted decrease a step must bring.
const ARMIJO: f64 = 1e-3;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 60;

/// The default for the Gaussian normaliser.
pub struct ClosedForm {
    problem: Problem,
    loss: GaussianLoss,
    variables: usize,
    limits: Limits,
    unpenalised: Vec<usize>,
    /// The coefficients off zero, by factor.
    theta: BTreeMap<usize, f64>,
    /// `xi` of all factors there: the lower triangle of a full matrix.
    xi: Vec<f64>,
}

/// The coefficients at work.
struct Set {
    factors: Vec<usize>,
    places: Vec<(usize, usize)>,
    local: Local,
    theta: Vec<f64>,
    penalties: Vec<Penalty>,
}

impl Set {
    fn entries(&self) -> Vec<Entry> {
        self.entries_of(&self.theta)
    }

    fn entries_of(&self, theta: &[f64]) -> Vec<Entry> {
        let all = self.places.iter().zip(theta).filter(|(_, t)| **t != 0.0);
        all.map(|(&(i, j), t)| Entry::new(i, j, *t)).collect()
    }

    fn penalty(&self, theta: &[f64]) -> f64 {
        self.penalties.iter().zip(theta).map(|(penalty, t)| penalty.value(&[*t])).sum()
    }
}

/// What a theta comes to over some factors.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    objective: f64,
    gap: f64,
    residual: f64,
}

impl Verdict {
    fn new(objective: f64, ridge: f64) -> Self {
        let gap = if ridge > 0.0 { 0.0 } else { f64::INFINITY };
        Self { objective, gap, residual: 0.0 }
    }

    fn count(&mut self, penalty: &Penalty, theta: f64, xi: f64) {
        self.residual = self.residual.max(penalty.residual(&[theta], &[xi]));
        if self.gap.is_finite() {
            self.gap += penalty.gap(&[theta], &[xi]);
        }
    }

    fn within(&self, tolerance: Tolerance) -> bool {
        tolerance.accepts_figures(self.objective, self.gap, self.residual)
    }
}

impl ClosedForm {
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
        let unpenalised = problem.penalty.unpenalised(products.factors());
        let xi =
            loss.xi(&loss.local(Vec::new()), &[], &vec![Vec::new(); problem.loss.terms().len()]);
        let problem = problem.clone();
        Ok(Self { problem, loss, variables, limits, unpenalised, theta: BTreeMap::new(), xi })
    }

    fn xi_of(&self, factor: usize) -> f64 {
        let (u, v) = factor_variables(factor);
        self.xi[u * self.variables + v]
    }

    /// `|xi_t| / w_t` of every penalised factor.
    fn ratios(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.variables).flat_map(move |u| {
            (0..=u).filter_map(move |v| {
                let weight = self.problem.penalty.of(u, v);
                let size = self.xi[u * self.variables + v].abs();
                (weight > 0.0).then(|| (factor_index(u, v), size / weight))
            })
        })
    }

    fn set(&self, factors: Vec<usize>, lambda: Lambda) -> Set {
        let pairs: Vec<(usize, usize)> = factors.iter().map(|t| factor_variables(*t)).collect();
        let mut variables: Vec<usize> = pairs.iter().flat_map(|(u, v)| [*u, *v]).collect();
        variables.sort_unstable();
        variables.dedup();
        let mut place = vec![0; self.variables];
        variables.iter().enumerate().for_each(|(k, u)| place[*u] = k);
        Set {
            places: pairs.iter().map(|(u, v)| (place[*u], place[*v])).collect(),
            theta: factors.iter().map(|t| self.theta.get(t).copied().unwrap_or(0.0)).collect(),
            penalties: factors
                .iter()
                .map(|t| lambda.penalty(self.problem.penalty.at(*t)))
                .collect(),
            local: self.loss.local(variables),
            factors,
        }
    }

    /// Proximal Newton on a set, from its theta, as far as it gets; how many steps that took.
    fn solve_set(
        &self,
        set: &mut Set,
        lambda: Lambda,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<usize> {
        for iteration in 0..=max_iter {
            monitor.check()?;
            let entries = set.entries();
            let Some((value, moments)) = self.loss.moments(&set.local, &entries) else {
                return Ok(iteration);
            };
            let xi = self.local_xi(set, &moments);
            let mut verdict = Verdict::new(value + set.penalty(&set.theta), lambda.ridge);
            for ((penalty, theta), xi) in set.penalties.iter().zip(&set.theta).zip(&xi) {
                verdict.count(penalty, *theta, *xi);
            }
            if verdict.within(tolerance) {
                return Ok(iteration);
            }
            // Exact enough for fast convergence, and no more.
            let share = (verdict.residual / tolerance.scale).clamp(1e-6, 0.1);
            let (size, penalties) = (set.local.variables.len(), &set.penalties);
            let model = Model { size, moments: &moments, places: &set.places, xi: &xi, penalties };
            let target = model.minimise(&set.theta, share * verdict.residual);
            match self.line_search(set, verdict.objective, &xi, &target) {
                Some(theta) => set.theta = theta,
                None => return Ok(iteration),
            }
        }
        Ok(max_iter)
    }

    fn local_xi(&self, set: &Set, moments: &[Vec<f64>]) -> Vec<f64> {
        let size = set.local.variables.len();
        let xi = |&(i, j): &(usize, usize)| {
            let weighted: f64 =
                self.loss.signs().zip(moments).map(|(sign, a)| sign * a[i * size + j]).sum();
            self.loss.linear(set.local.variables[i], set.local.variables[j]) - weighted
        };
        set.places.iter().map(xi).collect()
    }

    /// Shorten the step until it stays in the domain and the objective falls enough.
    fn line_search(
        &self,
        set: &Set,
        objective: f64,
        xi: &[f64],
        target: &[f64],
    ) -> Option<Vec<f64>> {
        let slope: f64 =
            set.theta.iter().zip(target).zip(xi).map(|((t, to), xi)| -xi * (to - t)).sum();
        let predicted = slope + set.penalty(target) - set.penalty(&set.theta);
        let noise = 16.0 * f64::EPSILON * objective.abs().max(1.0);
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            let theta: Vec<f64> =
                set.theta.iter().zip(target).map(|(t, to)| t + step * (to - t)).collect();
            let value = self.loss.value(&set.local, &set.entries_of(&theta));
            let next = value.map(|value| value + set.penalty(&theta));
            if next.is_some_and(|next| next <= objective + ARMIJO * step * predicted + noise) {
                return (theta != set.theta).then_some(theta);
            }
            step *= 0.5;
        }
        None
    }

    /// Take over the theta of a set, with its objective and `xi` of all factors.
    fn adopt(&mut self, set: &Set) -> f64 {
        let known = set.factors.iter().zip(&set.theta).filter(|(_, t)| **t != 0.0);
        self.theta = known.map(|(factor, t)| (*factor, *t)).collect();
        let entries = set.entries();
        match self.loss.moments(&set.local, &entries) {
            Some((value, moments)) => {
                self.xi = self.loss.xi(&set.local, &entries, &moments);
                value + set.penalty(&set.theta)
            }
            None => f64::NAN,
        }
    }

    /// Theta judged over all factors.
    fn judge(&self, objective: f64, lambda: Lambda) -> Verdict {
        let mut verdict = Verdict::new(objective, lambda.ridge);
        for factor in 0..self.problem.features.factors() {
            let penalty = lambda.penalty(self.problem.penalty.at(factor));
            let theta = self.theta.get(&factor).copied().unwrap_or(0.0);
            verdict.count(&penalty, theta, self.xi_of(factor));
        }
        verdict
    }

    fn fitted(&self, verdict: Verdict, status: Status, iterations: usize) -> Fitted {
        let mut coefficients = Coefficients::default();
        self.theta.iter().for_each(|(factor, theta)| coefficients.push(*factor, &[*theta]));
        let loss = &self.problem.loss;
        let scores: Vec<f64> = loss
            .terms()
            .iter()
            .flat_map(|term| {
                let scores = self.problem.features.scores(term.rows.clone(), &coefficients);
                scores.into_iter().map(|s| term.sign * s).collect::<Vec<f64>>()
            })
            .collect();
        Fitted {
            status,
            iterations,
            objective: verdict.objective,
            gap: verdict.gap,
            residual: verdict.residual,
            log_sum: loss.weights(&scores).log_sum,
            coefficients,
        }
    }
}

impl Solve for ClosedForm {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let lambda = Lambda { ridge: self.limits.lambda1, group: at.now };
        let on_set = Tolerance { relative: INNER_SHARE * tolerance.relative, ..tolerance };
        let expected = 2.0 * at.now - at.last;
        let mut factors: Vec<usize> = self.theta.keys().copied().collect();
        factors.extend(&self.unpenalised);
        factors.extend(self.ratios().filter(|(_, ratio)| *ratio > expected).map(|(t, _)| t));
        let mut iterations = 0;
        loop {
            factors.sort_unstable();
            factors.dedup();
            let mut set = self.set(factors.clone(), lambda);
            let left = self.limits.max_iter.saturating_sub(iterations);
            iterations += self.solve_set(&mut set, lambda, on_set, left, monitor)?;
            let objective = self.adopt(&set);
            let verdict = self.judge(objective, lambda);
            let before = factors.len();
            factors.extend(self.ratios().filter(|(_, ratio)| *ratio > at.now).map(|(t, _)| t));
            factors.sort_unstable();
            factors.dedup();
            let accepted = verdict.within(tolerance);
            if accepted || factors.len() == before || left == 0 {
                return Ok(self.fitted(verdict, Status::within(accepted), iterations));
            }
        }
    }
}

impl Adjust for ClosedForm {
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>) {
        self.problem.penalty = penalty.clone();
        self.unpenalised = penalty.unpenalised(self.problem.features.factors());
    }

    fn set_loss(&mut self, problem: &Problem) {
        let change = self.loss.set_linear(&problem.loss);
        self.xi.iter_mut().zip(change).for_each(|(xi, change)| *xi += change);
        self.problem.loss = problem.loss.clone();
    }
}

impl Auto for ClosedForm {
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if !self.unpenalised.is_empty() {
            let lambda = Lambda { ridge: self.limits.lambda1, group: f64::MAX };
            let mut set = self.set(self.unpenalised.clone(), lambda);
            self.solve_set(&mut set, lambda, tolerance, self.limits.max_iter, monitor)?;
            self.adopt(&set);
        }
        Ok(self.ratios().map(|(_, ratio)| ratio).fold(0.0, f64::max))
    }
}
