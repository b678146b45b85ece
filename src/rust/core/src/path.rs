//! Fits along a sequence of lambda2, each started from the one before.

use crate::error::{Error, Result};
use crate::features::Coefficients;
use crate::monitor::Monitor;
use crate::penalty::norm;
use crate::problem::{Design, Lambda, Point, Problem, RowDesign, Status, Tolerance};
use crate::scan::{Drift, Hit, Hits};
use crate::screen::Screen;
use crate::solver::fista::Fista;
use crate::solver::newton::{Newton, Task};
use crate::solver::proximal::Proximal;
use crate::solver::{lbfgs, Solved};
use crate::streamed::Streamed;
use crate::whole::Whole;
use crate::working::WorkingSet;
use std::ops::Range;
use std::time::Instant;

/// Problems whose factors can be looked at this cheaply are solved over all of them at once.
const WHOLE_COST: usize = 1 << 23;
/// The same where there are more scores than factors, so that a working set would save little.
const TALL_COST: usize = 1 << 27;
/// Newton systems larger than this take longer than the gradient steps they save.
const NEWTON_SIZE: usize = 3000;
/// The fit of unpenalised factors alone decides on lambda_max: as exact as doubles allow.
const NULL_FIT: Tolerance = Tolerance { relative: 1e-12, scale: 1.0 };
/// By so much lambda_max is rounded up after such a fit, which has a tolerance of its own.
const NULL_FIT_ROUNDING: f64 = 1e-6;
/// Looks at all factors that L-BFGS makes at lambda1 = 1 or more; a ridge of r takes 1/sqrt(r) times.
const LBFGS_LOOKS: f64 = 15.0;
/// The share of the tolerated gap an inner solve may use up; the rest is for factors left out.
const INNER_SHARE: f64 = 0.5;

/// Which solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A growing working set, and on it the solver that fits its shape.
    Auto,
    /// Proximal gradient on all factors.
    Primal,
    /// L-BFGS in the dual on all factors; needs lambda1 > 0.
    Dual,
}

/// The lambda2 values of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// These, falling.
    Given(Vec<f64>),
    /// From lambda_max down by equal factors.
    Geometric {
        /// How many.
        count: usize,
        /// The last as a share of lambda_max.
        min_ratio: f64,
    },
}

impl Grid {
    fn values(&self, lambda_max: f64) -> Vec<f64> {
        match self {
            Self::Given(values) => values.clone(),
            Self::Geometric { count, min_ratio } => {
                let step = if *count > 1 { min_ratio.ln() / (*count as f64 - 1.0) } else { 0.0 };
                (0..*count).map(|k| lambda_max * (step * k as f64).exp()).collect()
            }
        }
    }
}

/// How a path is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Ridge, the same along the path.
    pub lambda1: f64,
    /// Group penalties.
    pub grid: Grid,
    /// Which solver.
    pub method: Method,
    /// Relative duality gap (lambda1 > 0), or residual relative to lambda_max (lambda1 = 0).
    pub tolerance: f64,
    /// Iterations for one lambda2.
    pub max_iter: usize,
    /// Rows over which the log-normaliser is taken: those of the denominator sample.
    pub denominator: Range<usize>,
}

/// The fit at one lambda2.
#[derive(Debug, Clone)]
pub struct Step {
    /// Group penalty.
    pub lambda2: f64,
    /// How it ended.
    pub status: Status,
    /// Iterations of the inner solver.
    pub iterations: usize,
    /// `J(theta)`.
    pub objective: f64,
    /// Duality gap of the whole problem; NaN for lambda1 = 0.
    pub gap: f64,
    /// Worst optimality residual over all factors.
    pub residual: f64,
    /// Wall time; that of the first step includes the search for lambda_max.
    pub seconds: f64,
    /// `log mean exp(f'theta)` over the denominator sample.
    pub log_normalizer: f64,
    /// The factors off zero.
    pub coefficients: Coefficients,
}

/// A whole path.
#[derive(Debug, Clone)]
pub struct Path {
    /// The smallest lambda2 at which every penalised factor is zero.
    pub lambda_max: f64,
    /// One for each lambda2, the last perhaps unbounded.
    pub steps: Vec<Step>,
    /// Full passes over all factors it took (working-set method).
    pub passes: usize,
}

/// Fit a path.
pub fn fit(problem: &Problem, settings: &Settings, monitor: &Monitor) -> Result<Path> {
    let mut begun = Instant::now();
    let tall = problem.loss.scores() >= problem.features.factors();
    let small = Whole::cost(problem) <= if tall { TALL_COST } else { WHOLE_COST };
    let mut auto: Box<dyn Auto + '_> = if small {
        Box::new(Small::new(problem, settings))
    } else {
        Box::new(Active::new(problem, settings))
    };
    let lambda_max = round_up(auto.start(monitor)?, problem);
    let grid = settings.grid.values(lambda_max);
    let tolerance = Tolerance { relative: settings.tolerance, scale: lambda_max };
    let mut solver: Box<dyn Solve + '_> = match settings.method {
        Method::Auto => auto,
        Method::Primal => Box::new(Primal::new(problem, settings)),
        Method::Dual if settings.lambda1 > 0.0 => Box::new(Dual::new(problem, settings)),
        Method::Dual => return Err(Error::Argument("the dual needs lambda1 > 0".into())),
    };
    monitor.start(grid.len());
    let mut steps: Vec<Step> = Vec::with_capacity(grid.len());
    for (k, lambda2) in grid.iter().enumerate() {
        let around = Around {
            last: if k == 0 { lambda_max.max(*lambda2) } else { grid[k - 1] },
            now: *lambda2,
            next: grid.get(k + 1).copied().unwrap_or(*lambda2),
        };
        let fitted = solver.solve(around, tolerance, monitor)?;
        let unbounded = fitted.status == Status::Unbounded;
        steps.push(fitted.into_step(problem, settings, *lambda2, begun));
        // The first step's time includes the search for lambda_max.
        begun = Instant::now();
        monitor.advance();
        if unbounded {
            break;
        }
    }
    Ok(Path { lambda_max, steps, passes: solver.passes() })
}

/// A lambda_max that is one for every way of summing: `xi` comes out of different kernels, which
/// round differently. Between equal samples all of `xi` is rounding, and nothing may be detected.
fn round_up(largest: f64, problem: &Problem) -> f64 {
    const ROUNDING: f64 = 64.0 * f64::EPSILON;
    let sums = Drift::new(&problem.features, &problem.loss.row_weights_at_zero()).largest();
    let least = problem.penalty.smallest(problem.features.variables());
    let noise = if least.is_finite() { ROUNDING * sums / least } else { 0.0 };
    let unpenalised = !problem.penalty.unpenalised(problem.features.variables()).is_empty();
    let share = if unpenalised { NULL_FIT_ROUNDING } else { ROUNDING };
    largest * (1.0 + share) + noise
}

/// One lambda2 and its neighbours on the path.
#[derive(Debug, Clone, Copy)]
struct Around {
    last: f64,
    now: f64,
    next: f64,
}

/// What a solver found at one lambda2.
struct Fitted {
    status: Status,
    iterations: usize,
    objective: f64,
    gap: f64,
    residual: f64,
    /// `log sum base exp(score)` of each term of the loss.
    log_sum: Vec<f64>,
    coefficients: Coefficients,
}

impl Fitted {
    /// A solver's own verdict over `design`, whose factors are numbered by `factors`.
    fn new(solved: &Solved, design: &dyn Design, factors: impl Iterator<Item = usize>) -> Self {
        let theta = |group| &solved.point.theta[design.span(group)];
        let mut coefficients = Coefficients::default();
        for (group, factor) in factors.enumerate() {
            if norm(theta(group)) > 0.0 {
                coefficients.push(factor, theta(group));
            }
        }
        Self {
            status: solved.status,
            iterations: solved.iterations,
            objective: solved.point.objective,
            gap: solved.point.gap,
            residual: solved.point.residual,
            log_sum: solved.point.weights.log_sum.clone(),
            coefficients,
        }
    }

    fn into_step(
        self,
        problem: &Problem,
        settings: &Settings,
        lambda2: f64,
        begun: Instant,
    ) -> Step {
        let unbounded = self.status == Status::Unbounded;
        let log_normalizer = self.log_normalizer(problem, &settings.denominator);
        let coefficients = if unbounded { Coefficients::default() } else { self.coefficients };
        Step {
            lambda2,
            status: self.status,
            iterations: self.iterations,
            objective: if unbounded { f64::NEG_INFINITY } else { self.objective },
            gap: if self.gap.is_finite() { self.gap } else { f64::NAN },
            residual: if unbounded { f64::NAN } else { self.residual },
            seconds: begun.elapsed().as_secs_f64(),
            log_normalizer: if unbounded { f64::NAN } else { log_normalizer },
            coefficients,
        }
    }

    /// `log mean exp(f'theta)` over some rows: often one of the loss's own terms.
    fn log_normalizer(&self, problem: &Problem, rows: &Range<usize>) -> f64 {
        let terms = problem.loss.terms();
        let own = terms.iter().position(|term| term.rows == *rows && term.sign > 0.0);
        match own {
            Some(term) => self.log_sum[term],
            None => log_mean_exp(&problem.features.scores(rows.clone(), &self.coefficients)),
        }
    }
}

/// Overflow-safe `log mean exp`.
fn log_mean_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().map(|v| (v - top).exp()).sum::<f64>() / values.len() as f64;
    top + mean.ln()
}

trait Solve {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted>;

    fn passes(&self) -> usize {
        0
    }
}

/// The paper's primal: proximal gradient on all factors.
struct Primal<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    design: Streamed<'a>,
    fista: Fista,
    theta: Vec<f64>,
}

impl<'a> Primal<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings) -> Self {
        let design = Streamed::new(problem);
        let theta = vec![0.0; design.linear().len()];
        Self { problem, settings, design, fista: Fista::default(), theta }
    }
}

impl Solve for Primal<'_> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let lambda = Lambda { ridge: self.settings.lambda1, group: at.now };
        let start = std::mem::take(&mut self.theta);
        let parts = (&self.design as &dyn Design, &self.problem.loss, lambda);
        let solved = self.fista.solve(parts, start, tolerance, self.settings.max_iter, monitor)?;
        self.theta = solved.point.theta.clone();
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

/// The paper's dual: L-BFGS over all factors.
struct Dual<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    design: Streamed<'a>,
    scores: Vec<f64>,
}

impl<'a> Dual<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings) -> Self {
        let scores = vec![0.0; problem.loss.scores()];
        Self { problem, settings, design: Streamed::new(problem), scores }
    }
}

impl Solve for Dual<'_> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let lambda = Lambda { ridge: self.settings.lambda1, group: at.now };
        let parts = (&self.design as &dyn Design, &self.problem.loss, lambda);
        let max_iter = self.settings.max_iter;
        let solved = lbfgs::solve(parts, &self.scores, tolerance, max_iter, monitor)?;
        self.scores = solved.point.scores.clone();
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

/// The default solvers also find where the path starts.
trait Auto: Solve {
    /// Fit the unpenalised factors alone; the lambda2 at which the first other one enters.
    fn start(&mut self, monitor: &Monitor) -> Result<f64>;
}

/// Newton, proximal points or gradient steps, whichever fits a design, from a theta and its scores.
struct Inner<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    newton: Newton,
    proximal: Proximal,
    fista: Fista,
    theta: Vec<f64>,
    scores: Vec<f64>,
}

impl<'a> Inner<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings) -> Self {
        Self {
            problem,
            settings,
            newton: Newton::default(),
            proximal: Proximal::default(),
            fista: Fista::default(),
            theta: Vec::new(),
            scores: vec![0.0; problem.loss.scores()],
        }
    }

    /// Solve on a design, and keep where it ended unless there is no end.
    fn solve(
        &mut self,
        design: &dyn RowDesign,
        lambda2: f64,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<Solved> {
        let loss = &self.problem.loss;
        let lambda = Lambda { ridge: self.settings.lambda1, group: lambda2 };
        let start = std::mem::take(&mut self.theta);
        let method = self.method(design, lambda.ridge, &start);
        let mut solved = None;
        if method == InnerMethod::Lbfgs {
            let parts = (design as &dyn Design, loss, lambda);
            let ended = lbfgs::solve(parts, &self.scores, tolerance, max_iter, monitor)?;
            self.scores.clone_from(&ended.point.scores);
            solved = (ended.status == Status::Converged).then_some(ended);
        }
        let solved = match (solved, method) {
            (Some(solved), _) => solved,
            (None, InnerMethod::Fista) => {
                self.fista.solve((design, loss, lambda), start, tolerance, max_iter, monitor)?
            }
            (None, InnerMethod::Proximal) => {
                let parts = (design, loss, lambda2);
                self.proximal.solve(&mut self.newton, parts, start, tolerance, max_iter, monitor)?
            }
            (None, _) => self.newton_solve(design, lambda, tolerance, max_iter, monitor)?,
        };
        self.theta.clone_from(&solved.point.theta);
        self.scores.clone_from(&solved.point.scores);
        Ok(solved)
    }
}

/// What an inner solve uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InnerMethod {
    Newton,
    /// lambda1 = 0.
    Proximal,
    /// Newton systems that cost more than the gradients they save.
    Lbfgs,
    /// The same at lambda1 = 0.
    Fista,
}

impl Inner<'_> {
    /// Choose by the shape of the design and by how much was off zero at the last lambda2.
    fn method(&self, design: &dyn RowDesign, ridge: f64, theta: &[f64]) -> InnerMethod {
        let width = self.scores.len() as f64;
        let rows = theta.iter().filter(|t| **t != 0.0).count() as f64;
        let system = rows * rows.min(width) * width;
        let look = design.linear().len() as f64 * width;
        let huge = theta.len().min(self.scores.len()) > NEWTON_SIZE && rows > NEWTON_SIZE as f64;
        if ridge == 0.0 {
            if huge {
                InnerMethod::Fista
            } else {
                InnerMethod::Proximal
            }
        } else if huge || rows < width && system > 2.0 * LBFGS_LOOKS / ridge.min(1.0).sqrt() * look
        {
            InnerMethod::Lbfgs
        } else {
            InnerMethod::Newton
        }
    }

    fn newton_solve(
        &mut self,
        design: &dyn RowDesign,
        lambda: Lambda,
        tolerance: Tolerance,
        max_iter: usize,
        monitor: &Monitor,
    ) -> Result<Solved> {
        let task = Task {
            set: design,
            loss: &self.problem.loss,
            lambda,
            linear: design.linear(),
            enough: &|objective| tolerance.gap(objective),
            max_iter,
        };
        let ended = self.newton.solve(&task, &self.scores, monitor)?;
        let iterations = ended.iterations;
        let point = ended.into_point(design, lambda);
        let status = if tolerance.accepts(&point) { Status::Converged } else { Status::MaxIter };
        Ok(Solved { point, iterations, status })
    }
}

/// The default for small problems: all factors at once.
struct Small<'a> {
    design: Whole<'a>,
    inner: Inner<'a>,
}

impl<'a> Small<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings) -> Self {
        let design = Whole::new(problem);
        let mut inner = Inner::new(problem, settings);
        inner.theta = vec![0.0; design.linear().len()];
        Self { design, inner }
    }
}

impl Solve for Small<'_> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let max_iter = self.inner.settings.max_iter;
        let solved = self.inner.solve(&self.design, at.now, tolerance, max_iter, monitor)?;
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl Auto for Small<'_> {
    fn start(&mut self, monitor: &Monitor) -> Result<f64> {
        let problem = self.inner.problem;
        if !problem.penalty.unpenalised(problem.features.variables()).is_empty() {
            self.inner.solve(
                &self.design,
                f64::MAX,
                NULL_FIT,
                self.inner.settings.max_iter,
                monitor,
            )?;
        }
        let xi = self.design.xi(&problem.loss.weights(&self.inner.scores).alpha);
        let ratio = |group| {
            let weight = self.design.weight(group);
            if weight > 0.0 {
                norm(&xi[self.design.span(group)]) / weight
            } else {
                0.0
            }
        };
        Ok((0..self.design.groups()).map(ratio).fold(0.0, f64::max))
    }
}

/// The default for large problems: solve on a working set, look at all factors, let in those that
/// violate, repeat.
struct Active<'a> {
    problem: &'a Problem,
    screen: Screen<'a>,
    set: WorkingSet,
    unpenalised: Vec<usize>,
    inner: Inner<'a>,
    /// Factors above the strong rule's level after the last solve.
    strong: Hits,
}

impl<'a> Active<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings) -> Self {
        Self {
            problem,
            screen: Screen::new(problem),
            set: WorkingSet::new(&problem.loss),
            unpenalised: problem.penalty.unpenalised(problem.features.variables()),
            inner: Inner::new(problem, settings),
            strong: Hits::new(),
        }
    }

    /// The working set for the next lambda2: what is off zero, and what the strong rule expects.
    fn prepare(&mut self, at: Around) {
        let expected = 2.0 * at.now - at.last;
        let mut strong: Vec<Hit> =
            self.strong.iter().filter(|hit| hit.ratio() > expected).copied().collect();
        strong.sort_unstable_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        let (mut factors, mut theta) = (Vec::new(), Vec::new());
        for (group, factor) in self.set.factors().enumerate() {
            let coefficients = &self.inner.theta[self.set.span(group)];
            if norm(coefficients) > 0.0 {
                factors.push(factor);
                theta.extend_from_slice(coefficients);
            }
        }
        // A long step makes the strong rule expect everything: then let the violators come in turn.
        strong.truncate((2 * factors.len()).max(2 * self.problem.loss.scores()).max(64));
        factors.extend_from_slice(&self.unpenalised);
        factors.extend(strong.iter().map(|hit| hit.factor()));
        let needed = factors.len() * self.problem.features.basis().pair.len();
        if self.set.row_count() > 2 * needed + 4096 {
            self.set.clear();
        }
        self.set.activate(self.problem, factors);
        // The support comes first, in its order: its coefficients fill the beginning.
        theta.resize(self.set.coefficients(), 0.0);
        self.inner.theta = theta;
    }
}

impl Solve for Active<'_> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        self.prepare(at);
        let Settings { lambda1, max_iter, .. } = *self.inner.settings;
        let lambda = Lambda { ridge: lambda1, group: at.now };
        // The rest of the tolerance is for factors left out.
        let on_set = Tolerance { relative: INNER_SHARE * tolerance.relative, ..tolerance };
        let mut iterations = 0;
        loop {
            let left = max_iter.saturating_sub(iterations);
            let mut solved = self.inner.solve(&self.set, at.now, on_set, left, monitor)?;
            iterations += solved.iterations;
            solved.iterations = iterations;
            if solved.status == Status::Unbounded {
                return Ok(Fitted::new(&solved, &self.set, self.set.factors()));
            }
            let weights = self.problem.loss.row_weights(&solved.point.weights.alpha);
            let hits = self.screen.above(&weights, at.now, 2.0 * at.next - at.now, monitor)?;
            let mut outside: Vec<Hit> = hits
                .iter()
                .filter(|hit| hit.ratio() > at.now && !self.set.contains(hit.factor()))
                .copied()
                .collect();
            count_in(&mut solved.point, &outside, lambda);
            let accepted = tolerance.accepts(&solved.point);
            if accepted || outside.is_empty() || left == 0 {
                solved.status = match (accepted, solved.status) {
                    (true, _) => Status::Converged,
                    (false, Status::Converged) => Status::MaxIter,
                    (false, other) => other,
                };
                self.strong = hits;
                return Ok(Fitted::new(&solved, &self.set, self.set.factors()));
            }
            outside.sort_unstable_by(|a, b| b.ratio().total_cmp(&a.ratio()));
            outside.truncate(self.set.groups().max(2 * self.set.width()).max(64));
            self.set.extend(self.problem, outside.iter().map(|hit| hit.factor()));
            self.inner.theta.resize(self.set.coefficients(), 0.0);
        }
    }

    fn passes(&self) -> usize {
        self.screen.passes()
    }
}

/// Judge a point over factors left out of its design, too: they are zeros.
fn count_in(point: &mut Point, outside: &[Hit], lambda: Lambda) {
    for hit in outside {
        let penalty = lambda.penalty(hit.weight);
        point.residual = point.residual.max(hit.norm - penalty.level);
        if lambda.ridge > 0.0 {
            point.gap += penalty.conjugate(hit.norm);
        }
    }
}

impl Auto for Active<'_> {
    fn start(&mut self, monitor: &Monitor) -> Result<f64> {
        let loss = &self.problem.loss;
        if !self.unpenalised.is_empty() {
            self.set.activate(self.problem, self.unpenalised.iter().copied());
            self.inner.theta = vec![0.0; self.set.coefficients()];
            self.inner.solve(&self.set, 0.0, NULL_FIT, self.inner.settings.max_iter, monitor)?;
        }
        let weights = loss.row_weights(&loss.weights(&self.inner.scores).alpha);
        self.strong = self.screen.top(&weights, monitor)?;
        Ok(self.strong.iter().map(Hit::ratio).fold(0.0, f64::max))
    }
}
