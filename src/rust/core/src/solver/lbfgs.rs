//! The paper's dual by L-BFGS, on any design.
//!
//! The unknowns are v with `alpha_i = v_i^2 / |v|^2` term by term: no constraint is left, and the
//! entropy is equally curved everywhere. (With `alpha = softmax(w)` the gradient dies out with alpha,
//! and L-BFGS stalls at gaps of 1e-2.) With w the scores of alpha and `w' = H'theta(alpha)`, minus the
//! dual has the gradient `2 alpha_i / v_i (w_i - w'_i)`, w - w' centred under alpha.

use crate::design::subproblem::{Point, Subproblem};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::objective::certificate::Tolerance;
use crate::objective::loss::Weights;
use crate::objective::penalty::norm;
use crate::solver::Stop;
use argmin::core::{
    CostFunction, Error as ArgminError, Executor, Gradient, IterState, Problem, Solver, State,
    TerminationReason, TerminationStatus, KV,
};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::cell::{Cell, RefCell};

/// Steps whose curvature is remembered.
const MEMORY: usize = 10;
/// Points that the search for one step may look at. It needs a few; without a limit it goes on for ever
/// where the dual is so large that the slopes along a step are all rounding.
const SEARCH_EVALUATIONS: usize = 100;
/// The smallest |v|: its square is still a positive double.
const LEAST_ROOT: f64 = 1e-150;
/// The smallest at the start: the gradient in v dies out with v, so L-BFGS would never leave less.
const LEAST_START: f64 = 1e-3;

type Search = MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64>;
type Inner = LBFGS<Search, Vec<f64>, Vec<f64>, f64>;
type Iterate = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

/// Where a maximisation of the dual ended.
pub struct DualMaximum {
    /// Theta with the weights of its own scores.
    pub point: Point,
    /// The duality gap of theta with the weights that maximise: over a design of all factors as good
    /// a certificate as the point's own, and reached sooner.
    pub gap: f64,
    /// Iterations made.
    pub iterations: usize,
}

/// Maximise the dual from these scores on until its gap is tolerated; lambda1 must be positive.
pub fn solve<D: Design + ?Sized>(
    subproblem: Subproblem<'_, D>,
    start: &[f64],
    stop: Stop<'_>,
) -> Result<DualMaximum> {
    let Stop { tolerance, max_iter, monitor } = stop;
    let dual = Dual { subproblem, monitor, searched: Cell::new(0), last: RefCell::new(None) };
    let mut roots = dual.roots(start);
    let mut iterations = 0;
    let mut gap = f64::INFINITY;
    let mut reached = false;
    // A line search that finds nothing ends a run; fresh memory often gets further.
    while !reached && iterations < max_iter {
        let before = gap;
        let made = dual.run(&roots, tolerance, max_iter - iterations)?;
        iterations += made.iterations;
        roots = made.roots;
        gap = dual.at(&roots).gap;
        reached = dual.at(&roots).reached(tolerance);
        if made.iterations == 0 || gap > 0.99 * before {
            break;
        }
    }
    let at = dual.at(&roots);
    let point = subproblem.point_with_scores(at.theta, at.fitted);
    Ok(DualMaximum { point, gap: at.gap, iterations })
}

struct Run {
    roots: Vec<f64>,
    iterations: usize,
}

/// The dual as an optimisation problem; the last evaluation is kept: cost, gradient and the
/// stopping rule ask for the same point.
struct Dual<'a, D: ?Sized> {
    subproblem: Subproblem<'a, D>,
    monitor: &'a Monitor,
    /// Points looked at since the last step.
    searched: Cell<usize>,
    last: RefCell<Option<Evaluation>>,
}

#[derive(Clone)]
struct Evaluation {
    roots: Vec<f64>,
    scores: Vec<f64>,
    weights: Weights,
    theta: Vec<f64>,
    fitted: Vec<f64>,
    value: f64,
    gap: f64,
}

impl Evaluation {
    fn reached(&self, tolerance: Tolerance) -> bool {
        self.gap <= tolerance.gap(self.value + self.gap)
    }
}

impl<D: Design + ?Sized> Dual<'_, D> {
    /// The unknowns at these scores, about 1 in size.
    fn roots(&self, scores: &[f64]) -> Vec<f64> {
        let alpha = self.subproblem.loss.weights(scores).alpha;
        let count = alpha.len() as f64;
        alpha.iter().map(|a| (a * count).sqrt().max(LEAST_START)).collect()
    }

    /// The scores whose softmax is `v^2 / |v|^2`.
    fn scores(&self, roots: &[f64]) -> Vec<f64> {
        let bases = self.subproblem.loss.terms().iter().flat_map(|term| &term.log_base);
        let score = |(v, base): (&f64, &f64)| 2.0 * v.abs().max(LEAST_ROOT).ln() - base;
        roots.iter().zip(bases).map(score).collect()
    }

    fn run(&self, start: &[f64], tolerance: Tolerance, max_iter: usize) -> Result<Run> {
        let inner: Inner = LBFGS::new(Search::new(), MEMORY);
        let inner = inner.with_tolerance_grad(0.0).and_then(|s| s.with_tolerance_cost(0.0));
        let inner = inner.map_err(|error| Error::Numeric(error.to_string()))?;
        let solver = UntilGap { inner, dual: self, tolerance };
        let most = max_iter as u64;
        let outcome = Executor::new(Objective(self), solver)
            .configure(|state| state.param(start.to_vec()).max_iters(most))
            .timer(false)
            .run();
        // argmin's line search swallows errors of the cost function: ask the monitor itself.
        self.monitor.check()?;
        match outcome {
            Ok(done) => {
                let state = done.state();
                let roots = state.get_best_param().cloned().unwrap_or_else(|| start.to_vec());
                Ok(Run { roots, iterations: state.get_iter() as usize })
            }
            // The search for a step failed at the limit of what doubles resolve.
            Err(_) => {
                let last = self.last.borrow().as_ref().map(|at| at.roots.clone());
                Ok(Run { roots: last.unwrap_or_else(|| start.to_vec()), iterations: 1 })
            }
        }
    }

    fn at(&self, roots: &[f64]) -> Evaluation {
        if let Some(last) = self.last.borrow().as_ref() {
            if last.roots == roots {
                return last.clone();
            }
        }
        let fresh = self.evaluate(roots);
        *self.last.borrow_mut() = Some(fresh.clone());
        fresh
    }

    fn evaluate(&self, roots: &[f64]) -> Evaluation {
        let Subproblem { design, loss, lambda, .. } = self.subproblem;
        let scores = &self.scores(roots);
        let weights = loss.weights(scores);
        let mut theta = design.xi(&weights.alpha);
        let mut conjugate = 0.0;
        for group in 0..design.groups() {
            let penalty = lambda.penalty(design.weight(group));
            let part = &mut theta[design.span(group)];
            let size = norm(part);
            conjugate += penalty.conjugate(size);
            let shrink = penalty.shrink(size);
            part.iter_mut().for_each(|x| *x *= shrink);
        }
        let fitted = design.scores(&theta);
        let value = -loss.divergence_from_base(scores, &weights) - conjugate;
        let mut shift: Vec<f64> = fitted.iter().zip(scores).map(|(own, s)| own - s).collect();
        loss.centre(&weights.alpha, &mut shift);
        let gap = loss.divergence(&weights.alpha, &shift);
        Evaluation {
            roots: roots.to_vec(),
            scores: scores.clone(),
            weights,
            theta,
            fitted,
            value,
            gap,
        }
    }
}

/// What argmin sees.
struct Objective<'a, D: ?Sized>(&'a Dual<'a, D>);

impl<D: Design + ?Sized> CostFunction for Objective<'_, D> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, roots: &Vec<f64>) -> std::result::Result<f64, ArgminError> {
        self.0.monitor.check()?;
        let searched = self.0.searched.replace(self.0.searched.get() + 1);
        if searched >= SEARCH_EVALUATIONS {
            return Err(ArgminError::msg("no step among as many points as a search may look at"));
        }
        Ok(-self.0.at(roots).value)
    }
}

impl<D: Design + ?Sized> Gradient for Objective<'_, D> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, roots: &Vec<f64>) -> std::result::Result<Vec<f64>, ArgminError> {
        let at = self.0.at(roots);
        let mut gradient: Vec<f64> =
            at.scores.iter().zip(&at.fitted).map(|(s, own)| s - own).collect();
        self.0.subproblem.loss.centre(&at.weights.alpha, &mut gradient);
        let slope = at.weights.alpha.iter().zip(roots).map(|(a, v)| 2.0 * a / v);
        gradient.iter_mut().zip(slope).for_each(|(g, s)| *g *= s);
        Ok(gradient)
    }
}

/// L-BFGS that stops at a duality gap.
struct UntilGap<'a, D: ?Sized> {
    inner: Inner,
    dual: &'a Dual<'a, D>,
    tolerance: Tolerance,
}

impl<'a, D: Design + ?Sized> Solver<Objective<'a, D>, Iterate> for UntilGap<'a, D> {
    const NAME: &'static str = "L-BFGS until a duality gap";

    fn init(
        &mut self,
        problem: &mut Problem<Objective<'a, D>>,
        state: Iterate,
    ) -> std::result::Result<(Iterate, Option<KV>), ArgminError> {
        self.inner.init(problem, state)
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Objective<'a, D>>,
        state: Iterate,
    ) -> std::result::Result<(Iterate, Option<KV>), ArgminError> {
        self.dual.searched.set(0);
        self.inner.next_iter(problem, state)
    }

    fn terminate(&mut self, state: &Iterate) -> TerminationStatus {
        let here = state.get_param().map(|roots| self.dual.at(roots));
        if here.is_some_and(|at| at.reached(self.tolerance)) {
            return TerminationStatus::Terminated(TerminationReason::SolverConverged);
        }
        Solver::<Objective<'a, D>, Iterate>::terminate(&mut self.inner, state)
    }
}
