//! Large problems: a working set that grows by what violates.

use super::inner::Inner;
use super::{Adjust, Around, Auto, Fitted, Limits, Solve};
use crate::error::Result;
use crate::factors::PenaltyFactors;
use crate::features::Products;
use crate::monitor::Monitor;
use crate::penalty::norm;
use crate::problem::{Adjustable, Design, Lambda, Point, Problem, RowDesign, Status, Tolerance};
use crate::scan::{Hit, Hits};
use crate::screen::Screen;
use crate::working::WorkingSet;
use std::sync::Arc;

/// The share of the tolerated gap an inner solve may use up; the rest is for factors left out.
const INNER_SHARE: f64 = 0.5;

/// The default for large problems: solve on a working set, look at all factors, let in those that
/// violate, repeat.
pub struct Active {
    problem: Problem,
    products: Products,
    screen: Screen,
    set: WorkingSet,
    unpenalised: Vec<usize>,
    inner: Inner,
    /// Factors above the strong rule's level after the last solve.
    strong: Hits,
}

impl Active {
    /// Start with an empty working set.
    pub fn new(problem: &Problem, products: &Products, limits: Limits) -> Self {
        Self {
            problem: problem.clone(),
            products: products.clone(),
            screen: Screen::new(products, &problem.penalty),
            set: WorkingSet::new(&problem.loss),
            unpenalised: problem.penalty.unpenalised(products.factors()),
            inner: Inner::new(&problem.loss, limits, false),
            strong: Hits::new(),
        }
    }

    /// How many factors the strong rule expects off zero at the next lambda2.
    pub fn expected(&self) -> usize {
        self.strong.len()
    }

    /// The scores of the last fit.
    pub fn scores(&self) -> &[f64] {
        &self.inner.scores
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
        let needed = factors.len() * self.products.basis().pair.len();
        if self.set.row_count() > 2 * needed + 4096 {
            self.set.clear();
        }
        self.set.activate(&self.problem, factors);
        // The support comes first, in its order: its coefficients fill the beginning.
        theta.resize(self.set.coefficients(), 0.0);
        self.inner.theta = theta;
    }
}

impl Solve for Active {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        self.prepare(at);
        let Limits { lambda1, max_iter } = self.inner.limits;
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
            self.set.extend(&self.problem, outside.iter().map(|hit| hit.factor()));
            self.inner.theta.resize(self.set.coefficients(), 0.0);
        }
    }

    fn passes(&self) -> usize {
        self.screen.passes()
    }
}

impl Adjust for Active {
    fn set_penalty(&mut self, penalty: &Arc<PenaltyFactors>) {
        self.problem.penalty = penalty.clone();
        self.unpenalised = penalty.unpenalised(self.products.factors());
        self.screen.set_penalty(penalty);
        self.set.set_penalty(penalty);
    }

    fn set_loss(&mut self, problem: &Problem) {
        self.problem.loss = problem.loss.clone();
        self.inner.loss = problem.loss.clone();
        self.set.set_linear(problem);
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

impl Auto for Active {
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        if !self.unpenalised.is_empty() {
            self.set.activate(&self.problem, self.unpenalised.iter().copied());
            self.inner.theta = vec![0.0; self.set.coefficients()];
            self.inner.solve(&self.set, 0.0, tolerance, self.inner.limits.max_iter, monitor)?;
        }
        let loss = &self.problem.loss;
        let weights = loss.row_weights(&loss.weights(&self.inner.scores).alpha);
        self.strong = self.screen.top(&weights, monitor)?;
        Ok(self.strong.iter().map(Hit::ratio).fold(0.0, f64::max))
    }
}
