//! One solve on a given design, by the solver that fits its shape.

use crate::error::Result;
use crate::objective::certificate::Status;
use crate::objective::loss::Loss;
use crate::solver::dual_newton::{DualNewton, DualProblem};
use crate::solver::fista::Fista;
use crate::solver::newton_system::RowSubproblem;
use crate::solver::proximal_newton::ProximalNewton;
use crate::solver::proximal_point::ProximalPoint;
use crate::solver::{lbfgs, Solved, Stop};

/// Newton systems larger than this take longer than the gradient steps they save.
const NEWTON_SIZE: usize = 3000;
/// Passes over all factors that L-BFGS makes at lambda1 = 1 or more; a lambda1 of r takes 1/sqrt(r)
/// times as many.
const LBFGS_PASSES: f64 = 15.0;
/// With so many times as many scores as coefficients, a curvature is worth keeping.
const TALL: usize = 4;
/// The most coefficients whose curvature is kept,
const MOST_COEFFICIENTS: usize = 2500;
/// and the most steps at one lambda2 before another solver is asked.
const TALL_STEPS: usize = 50;
/// How often L-BFGS is asked for ten times the accuracy before Newton has to finish.
const LBFGS_ROUNDS: usize = 3;

/// Newton, proximal points or gradient steps, whichever fits a design, from a theta and its scores.
pub struct SubproblemSolver {
    /// Whether designs hold all factors, so that a gap on them is a gap of the whole problem.
    all_factors: bool,
    newton: DualNewton,
    proximal_point: ProximalPoint,
    fista: Fista,
    proximal_newton: ProximalNewton,
    /// Theta on the design of the last solve.
    pub theta: Vec<f64>,
    /// Its scores.
    pub scores: Vec<f64>,
}

/// Which solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Newton,
    /// lambda1 = 0.
    ProximalPoint,
    /// Newton systems that cost more than the gradients they save.
    Lbfgs,
    /// The same at lambda1 = 0.
    Fista,
}

impl SubproblemSolver {
    /// Start at theta = 0 on an empty design; `all_factors` if designs will hold all of them.
    pub fn new(loss: &Loss, all_factors: bool) -> Self {
        Self {
            all_factors,
            newton: DualNewton::default(),
            proximal_point: ProximalPoint::default(),
            fista: Fista::default(),
            proximal_newton: ProximalNewton::default(),
            theta: Vec::new(),
            scores: vec![0.0; loss.scores()],
        }
    }

    /// Solve a subproblem, and keep where it ended for the next one.
    pub fn solve(&mut self, subproblem: &RowSubproblem<'_>, stop: Stop<'_>) -> Result<Solved> {
        let start = std::mem::take(&mut self.theta);
        let solved = if self.is_tall(subproblem) {
            self.solve_tall(subproblem, start, stop)?
        } else {
            self.run(subproblem, start, stop)?
        };
        self.theta.clone_from(&solved.point.theta);
        self.scores.clone_from(&solved.point.scores);
        Ok(solved)
    }

    fn run(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        start: Vec<f64>,
        stop: Stop<'_>,
    ) -> Result<Solved> {
        match self.choose(subproblem, &start) {
            Choice::Fista => self.fista.solve(subproblem, start, stop),
            Choice::ProximalPoint => {
                self.proximal_point.solve(&mut self.newton, subproblem, start, stop)
            }
            Choice::Newton => self.solve_by_newton(subproblem, stop),
            Choice::Lbfgs => match self.solve_by_lbfgs(subproblem, stop)? {
                Some(solved) => Ok(solved),
                None => self.solve_by_newton(subproblem, stop),
            },
        }
    }

    /// Choose by the shape of the design and by how much was non-zero at the last lambda2.
    fn choose(&self, subproblem: &RowSubproblem<'_>, theta: &[f64]) -> Choice {
        let lambda1 = subproblem.lambda.lambda1;
        let width = self.scores.len() as f64;
        let rows = theta.iter().filter(|t| **t != 0.0).count() as f64;
        let system = rows * rows.min(width) * width;
        let pass = subproblem.design.pass_cost() as f64;
        let huge = theta.len().min(self.scores.len()) > NEWTON_SIZE && rows > NEWTON_SIZE as f64;
        if lambda1 == 0.0 {
            return if huge { Choice::Fista } else { Choice::ProximalPoint };
        }
        let lbfgs = 2.0 * LBFGS_PASSES / lambda1.min(1.0).sqrt() * pass;
        if huge || rows < width && system > lbfgs {
            Choice::Lbfgs
        } else {
            Choice::Newton
        }
    }

    /// Whether there are few coefficients and many scores: then a curvature over the coefficients lasts
    /// for many steps.
    fn is_tall(&self, subproblem: &RowSubproblem<'_>) -> bool {
        let coefficients = subproblem.design.linear().len();
        self.all_factors
            && subproblem.lambda.lambda1 > 0.0
            && coefficients <= MOST_COEFFICIENTS
            && self.scores.len() >= TALL * coefficients
    }

    /// Proximal Newton, and where it does not get there soon another from where it ended.
    fn solve_tall(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        start: Vec<f64>,
        stop: Stop<'_>,
    ) -> Result<Solved> {
        let max_iter = stop.max_iter.min(TALL_STEPS);
        let solved = self.proximal_newton.solve(subproblem, start, Stop { max_iter, ..stop })?;
        if solved.status == Status::Converged || max_iter == stop.max_iter {
            return Ok(solved);
        }
        self.scores.clone_from(&solved.point.scores);
        let mut other = self.run(subproblem, solved.point.theta, stop.after(solved.iterations))?;
        other.iterations += solved.iterations;
        Ok(other)
    }

    /// L-BFGS in the dual. On part of the factors it is asked for more until theta passes with its own
    /// weights, which are what the other factors are certified with; `None`, with the scores it got to,
    /// where it does not.
    fn solve_by_lbfgs(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        stop: Stop<'_>,
    ) -> Result<Option<Solved>> {
        let mut iterations = 0;
        let mut asked = stop;
        for _ in 0..LBFGS_ROUNDS {
            asked.max_iter = stop.after(iterations).max_iter;
            let mut ended = lbfgs::solve(*subproblem, &self.scores, asked)?;
            iterations += ended.iterations;
            if self.all_factors {
                let certificate = &mut ended.point.certificate;
                certificate.gap = certificate.gap.min(ended.gap);
            }
            if stop.tolerance.accepts(&ended.point.certificate) {
                let status = Status::Converged;
                return Ok(Some(Solved { point: ended.point, iterations, status }));
            }
            self.scores.clone_from(&ended.point.scores);
            asked.tolerance.tol *= 0.1;
        }
        Ok(None)
    }

    fn solve_by_newton(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        stop: Stop<'_>,
    ) -> Result<Solved> {
        let problem = DualProblem {
            subproblem: *subproblem,
            linear: subproblem.design.linear(),
            target_gap: &|objective| stop.tolerance.gap(objective),
            max_iter: stop.max_iter,
        };
        let ended = self.newton.solve(&problem, &self.scores, stop.monitor)?;
        let iterations = ended.iterations;
        let point = subproblem.point_with_moments(ended.theta, ended.own);
        if stop.tolerance.accepts(&point.certificate) {
            return Ok(Solved { point, iterations, status: Status::Converged });
        }
        // Weights that are all on one row leave Newton no slope to see: gradient steps do not mind.
        let mut solved = self.fista.solve(subproblem, point.theta, stop.after(iterations))?;
        solved.iterations += iterations;
        Ok(solved)
    }
}
