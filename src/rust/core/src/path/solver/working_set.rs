//! Large problems: a working set that grows by what violates.

use super::{FindLambdaMax, Fit, Limits, PathSolver, UpdateProblem};
use crate::design::scan::{Hit, Hits};
use crate::design::screen::Screen;
use crate::design::subproblem::Subproblem;
use crate::design::working_set::WorkingSet;
use crate::design::{Design, RowDesign, UpdateDesign};
use crate::error::Result;
use crate::features::Products;
use crate::monitor::Monitor;
use crate::objective::certificate::{Status, Tolerance};
use crate::objective::penalty::norm;
use crate::objective::penalty_factor::PenaltyFactors;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::solver::subproblem_solver::SubproblemSolver;
use std::sync::Arc;

/// The share of the tolerated gap an inner solve may use up; the rest is for factors left out.
const INNER_SHARE: f64 = 0.5;

/// The default for large problems: solve on a working set, look at all factors, let in those that
/// violate, repeat.
pub struct WorkingSetSolver {
    problem: Problem,
    products: Products,
    screen: Screen,
    set: WorkingSet,
    unpenalised: Vec<usize>,
    limits: Limits,
    solver: SubproblemSolver,
    /// Factors above the strong rule's level after the last solve.
    strong: Hits,
}

impl WorkingSetSolver {
    /// Start with an empty working set.
    pub fn new(problem: &Problem, products: &Products, limits: Limits) -> Self {
        Self {
            problem: problem.clone(),
            products: products.clone(),
            screen: Screen::new(products, &problem.penalty_factor),
            set: WorkingSet::new(&problem.loss),
            unpenalised: problem.penalty_factor.unpenalised(products.factors()),
            limits,
            solver: SubproblemSolver::new(&problem.loss, false),
            strong: Hits::new(),
        }
    }

    /// How many factors the strong rule expects to be non-zero at the next lambda2.
    pub fn expected(&self) -> usize {
        self.strong.len()
    }

    /// The scores of the last fit.
    pub fn scores(&self) -> &[f64] {
        &self.solver.scores
    }

    /// The working set for the next lambda2: what is non-zero, and what the strong rule expects.
    fn prepare(&mut self, at: LambdaStep) {
        let expected = 2.0 * at.current - at.previous;
        let mut strong: Vec<Hit> =
            self.strong.iter().filter(|hit| hit.ratio() > expected).copied().collect();
        strong.sort_unstable_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        let (mut factors, mut theta) = (Vec::new(), Vec::new());
        for (group, factor) in self.set.factors().enumerate() {
            let coefficients = &self.solver.theta[self.set.span(group)];
            if norm(coefficients) > 0.0 {
                factors.push(factor);
                theta.extend_from_slice(coefficients);
            }
        }
        // A long step makes the strong rule expect everything: then let the violators come in turn.
        strong.truncate((2 * factors.len()).max(2 * self.problem.loss.scores()).max(64));
        factors.extend_from_slice(&self.unpenalised);
        factors.extend(strong.iter().map(|hit| hit.factor()));
        let needed = factors.len() * self.products.basis().pair.len();
        if self.set.row_count() > 2 * needed + 4096 {
            self.set.clear();
        }
        self.set.activate(&self.problem, factors);
        // The support comes first, in its order: its coefficients fill the beginning.
        theta.resize(self.set.coefficients(), 0.0);
        self.solver.theta = theta;
    }
}

impl PathSolver for WorkingSetSolver {
    fn solve(&mut self, at: LambdaStep, tolerance: Tolerance, monitor: &Monitor) -> Result<Fit> {
        self.prepare(at);
        let lambda = self.limits.lambda(at.current);
        // The rest of the tolerance is for factors left out.
        let on_set = Tolerance { tol: INNER_SHARE * tolerance.tol, ..tolerance };
        let stop = self.limits.stop(on_set, monitor);
        let mut iterations = 0;
        loop {
            let stop = stop.after(iterations);
            let design: &dyn RowDesign = &self.set;
            let subproblem = Subproblem::new(design, &self.problem.loss, lambda);
            let mut solved = self.solver.solve(&subproblem, stop)?;
            iterations += solved.iterations;
            solved.iterations = iterations;
            if solved.status == Status::Unbounded {
                return Ok(Fit::new(&solved, &self.set, self.set.factors()));
            }
            let weights = self.problem.loss.row_weights(&solved.point.weights.alpha);
            let hits =
                self.screen.above(&weights, at.current, 2.0 * at.next - at.current, monitor)?;
            let mut outside: Vec<Hit> = hits
                .iter()
                .filter(|hit| hit.ratio() > at.current && !self.set.contains(hit.factor()))
                .copied()
                .collect();
            // Factors left out of the design are zeros, and count in the certificate as such.
            for hit in &outside {
                let penalty = lambda.penalty(hit.weight);
                solved.point.certificate.count_zero(&penalty, hit.norm);
            }
            let accepted = tolerance.accepts(&solved.point.certificate);
            if accepted || outside.is_empty() || stop.max_iter == 0 {
                solved.status = match (accepted, solved.status) {
                    (true, _) => Status::Converged,
                    (false, Status::Converged) => Status::MaxIter,
                    (false, other) => other,
                };
                self.strong = hits;
                return Ok(Fit::new(&solved, &self.set, self.set.factors()));
            }
            outside.sort_unstable_by(|a, b| b.ratio().total_cmp(&a.ratio()));
            outside.truncate(self.set.groups().max(2 * self.set.width()).max(64));
            self.set.extend(&self.problem, outside.iter().map(|hit| hit.factor()));
            self.solver.theta.resize(self.set.coefficients(), 0.0);
        }
    }

    fn passes(&self) -> usize {
        self.screen.passes()
    }
}

impl UpdateProblem for WorkingSetSolver {
    fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.problem.penalty_factor = penalty_factor.clone();
        self.unpenalised = penalty_factor.unpenalised(self.products.factors());
        self.screen.set_penalty_factor(penalty_factor);
        self.set.set_penalty_factor(penalty_factor);
    }

    fn set_linear(&mut self, problem: &Problem) {
        self.problem.loss = problem.loss.clone();
        self.set.set_linear(problem);
    }
}

impl FindLambdaMax for WorkingSetSolver {
    fn lambda_max(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if !self.unpenalised.is_empty() {
            self.set.activate(&self.problem, self.unpenalised.iter().copied());
            self.solver.theta = vec![0.0; self.set.coefficients()];
            let design: &dyn RowDesign = &self.set;
            let lambda = self.limits.lambda(0.0);
            let subproblem = Subproblem::new(design, &self.problem.loss, lambda);
            self.solver.solve(&subproblem, self.limits.stop(tolerance, monitor))?;
        }
        let loss = &self.problem.loss;
        let weights = loss.row_weights(&loss.weights(&self.solver.scores).alpha);
        self.strong = self.screen.top(&weights, monitor)?;
        Ok(self.strong.iter().map(Hit::ratio).fold(0.0, f64::max))
    }
}
