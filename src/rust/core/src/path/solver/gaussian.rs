//! Gaussian networks with their own normaliser: proximal Newton on a working set.

use super::{FindLambdaMax, Fit, Limits, PathSolver, UpdateProblem};
use crate::error::{Error, Result};
use crate::features::factors::{factor_index, factor_variables};
use crate::features::{Coefficients, Products};
use crate::monitor::Monitor;
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::objective::gaussian::{ActiveVariables, Entry, GaussianLoss};
use crate::objective::penalty::{Lambda, Penalty};
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::solver::gaussian_quadratic::GaussianQuadratic;
use crate::solver::Stop;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The share of the tolerance an inner solve may use up; the rest is for factors left out.
const INNER_SHARE: f64 = 0.5;
/// Share of the predicted decrease a step must bring.
const ARMIJO: f64 = 1e-3;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 60;

/// The default for the Gaussian normaliser.
pub struct GaussianSolver {
    problem: Problem,
    loss: GaussianLoss,
    variables: usize,
    limits: Limits,
    unpenalised: Vec<usize>,
    /// The non-zero coefficients, by factor.
    theta: BTreeMap<usize, f64>,
    /// `xi` of all factors there: the lower triangle of a full matrix.
    xi: Vec<f64>,
}

/// The coefficients at work.
struct ActiveSet {
    factors: Vec<usize>,
    places: Vec<(usize, usize)>,
    active: ActiveVariables,
    theta: Vec<f64>,
    penalties: Vec<Penalty>,
}

impl ActiveSet {
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
        let xi = loss.xi(
            &loss.restrict_to(Vec::new()),
            &[],
            &vec![Vec::new(); problem.loss.terms().len()],
        );
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
                let weight = self.problem.penalty_factor.of(u, v);
                let size = self.xi[u * self.variables + v].abs();
                (weight > 0.0).then(|| (factor_index(u, v), size / weight))
            })
        })
    }

    fn set(&self, factors: Vec<usize>, lambda: Lambda) -> ActiveSet {
        let pairs: Vec<(usize, usize)> = factors.iter().map(|t| factor_variables(*t)).collect();
        let mut variables: Vec<usize> = pairs.iter().flat_map(|(u, v)| [*u, *v]).collect();
        variables.sort_unstable();
        variables.dedup();
        let mut place = vec![0; self.variables];
        variables.iter().enumerate().for_each(|(k, u)| place[*u] = k);
        ActiveSet {
            places: pairs.iter().map(|(u, v)| (place[*u], place[*v])).collect(),
            theta: factors.iter().map(|t| self.theta.get(t).copied().unwrap_or(0.0)).collect(),
            penalties: factors
                .iter()
                .map(|t| lambda.penalty(self.problem.penalty_factor.at(*t)))
                .collect(),
            active: self.loss.restrict_to(variables),
            factors,
        }
    }

    /// Proximal Newton on a set, from its theta, as far as it gets; how many steps that took.
    fn solve_set(&self, set: &mut ActiveSet, lambda1: f64, stop: Stop<'_>) -> Result<usize> {
        for iteration in 0..=stop.max_iter {
            stop.monitor.check()?;
            let entries = set.entries();
            let Some((value, moments)) = self.loss.moments(&set.active, &entries) else {
                return Ok(iteration);
            };
            let xi = self.active_xi(set, &moments);
            let mut certificate = Certificate::new(value + set.penalty(&set.theta), lambda1);
            for ((penalty, theta), xi) in set.penalties.iter().zip(&set.theta).zip(&xi) {
                certificate.count(penalty, &[*theta], &[*xi]);
            }
            if stop.tolerance.accepts(&certificate) {
                return Ok(iteration);
            }
            // Exact enough for fast convergence, and no more.
            let share = (certificate.kkt / stop.tolerance.scale).clamp(1e-6, 0.1);
            let (size, penalties) = (set.active.variables.len(), &set.penalties);
            let model = GaussianQuadratic {
                size,
                moments: &moments,
                places: &set.places,
                xi: &xi,
                penalties,
            };
            let target = model.minimise(&set.theta, share * certificate.kkt);
            match self.line_search(set, certificate.objective, &xi, &target) {
                Some(theta) => set.theta = theta,
                None => return Ok(iteration),
            }
        }
        Ok(stop.max_iter)
    }

    fn active_xi(&self, set: &ActiveSet, moments: &[Vec<f64>]) -> Vec<f64> {
        let size = set.active.variables.len();
        let xi = |&(i, j): &(usize, usize)| {
            let weighted: f64 =
                self.loss.signs().zip(moments).map(|(sign, a)| sign * a[i * size + j]).sum();
            self.loss.linear(set.active.variables[i], set.active.variables[j]) - weighted
        };
        set.places.iter().map(xi).collect()
    }

    /// Shorten the step until it stays in the domain and the objective falls enough.
    fn line_search(
        &self,
        set: &ActiveSet,
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
            let value = self.loss.value(&set.active, &set.entries_of(&theta));
            let next = value.map(|value| value + set.penalty(&theta));
            if next.is_some_and(|next| next <= objective + ARMIJO * step * predicted + noise) {
                return (theta != set.theta).then_some(theta);
            }
            step *= 0.5;
        }
        None
    }

    /// Take over the theta of a set, with its objective and `xi` of all factors.
    fn adopt(&mut self, set: &ActiveSet) -> f64 {
        let known = set.factors.iter().zip(&set.theta).filter(|(_, t)| **t != 0.0);
        self.theta = known.map(|(factor, t)| (*factor, *t)).collect();
        let entries = set.entries();
        match self.loss.moments(&set.active, &entries) {
            Some((value, moments)) => {
                self.xi = self.loss.xi(&set.active, &entries, &moments);
                value + set.penalty(&set.theta)
            }
            None => f64::NAN,
        }
    }

    /// The certificate of theta over all factors.
    fn certify(&self, objective: f64, lambda: Lambda) -> Certificate {
        let mut certificate = Certificate::new(objective, lambda.lambda1);
        for factor in 0..self.problem.features.factors() {
            let penalty = lambda.penalty(self.problem.penalty_factor.at(factor));
            let theta = self.theta.get(&factor).copied().unwrap_or(0.0);
            certificate.count(&penalty, &[theta], &[self.xi_of(factor)]);
        }
        certificate
    }

    fn fit(&self, certificate: Certificate, status: Status, iterations: usize) -> Fit {
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
        Fit {
            status,
            iterations,
            certificate,
            log_sum: loss.weights(&scores).log_sum,
            coefficients,
        }
    }
}

impl PathSolver for GaussianSolver {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        let lambda = self.limits.lambda(at.current);
        let on_set = Tolerance { tol: INNER_SHARE * tolerance.tol, ..tolerance };
        let expected = 2.0 * at.current - at.previous;
        let mut factors: Vec<usize> = self.theta.keys().copied().collect();
        factors.extend(&self.unpenalised);
        factors.extend(self.ratios().filter(|(_, ratio)| *ratio > expected).map(|(t, _)| t));
        let mut iterations = 0;
        loop {
            factors.sort_unstable();
            factors.dedup();
            let mut set = self.set(factors.clone(), lambda);
            let stop = self.limits.stop(on_set, monitor).after(iterations);
            iterations += self.solve_set(&mut set, lambda.lambda1, stop)?;
            let objective = self.adopt(&set);
            let certificate = self.certify(objective, lambda);
            let before = factors.len();
            factors.extend(self.ratios().filter(|(_, ratio)| *ratio > at.current).map(|(t, _)| t));
            factors.sort_unstable();
            factors.dedup();
            let accepted = tolerance.accepts(&certificate);
            if accepted || factors.len() == before || stop.max_iter == 0 {
                return Ok(self.fit(certificate, Status::within(accepted), iterations));
            }
        }
    }
}

impl UpdateProblem for GaussianSolver {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.problem.penalty_factor = penalty_factor.clone();
        self.unpenalised = penalty_factor.unpenalised(self.problem.features.factors());
    }

    fn set_linear(&mut self, problem: &Problem) {
        let change = self.loss.set_linear(&problem.loss);
        self.xi.iter_mut().zip(change).for_each(|(xi, change)| *xi += change);
        self.problem.loss = problem.loss.clone();
    }
}

impl FindLambdaMax for GaussianSolver {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if !self.unpenalised.is_empty() {
            let lambda = self.limits.lambda(f64::MAX);
            let mut set = self.set(self.unpenalised.clone(), lambda);
            self.solve_set(&mut set, lambda.lambda1, self.limits.stop(tolerance, monitor))?;
            self.adopt(&set);
        }
        Ok(self.ratios().map(|(_, ratio)| ratio).fold(0.0, f64::max))
    }
}
