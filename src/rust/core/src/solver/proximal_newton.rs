//! Proximal Newton over the coefficients: for few coefficients and very many scores.
//!
//! Near theta the loss is `-xi'd + d'Md/2`, d the way from theta and M the sum over terms of the
//! covariance of the features under alpha. M takes as long as hundreds of looks at all features, and
//! changes slowly along a path: it is recomputed only when too many steps would be left otherwise. Each step
//! minimises this quadratic with the penalties, and goes along the way to its minimum as far as J falls.

use crate::design::subproblem::{Point, Subproblem};
use crate::design::RowDesign;
use crate::error::Result;
use crate::numerics::cholesky::Cholesky;
use crate::objective::certificate::{Certificate, Status, Tolerance};
use crate::objective::loss::Loss;
use crate::objective::penalty::{norm, Lambda};
use crate::solver::group_quadratic::{Factor, GroupCurvature, GroupQuadratic};
use crate::solver::newton_system::RowSubproblem;
use crate::solver::{Solved, Stop};
use std::ops::Range;

/// Factors within this share of their level may enter at this lambda2: M has to have them.
const NEXT: f64 = 0.9;
/// Factors within this share of their level may enter soon: a new M has them, too.
const NEAR: f64 = 0.5;
/// A new M costs about as much as this many steps: fewer have to do with the one there is.
const STEPS: f64 = 8.0;
/// Armijo's share of the promised decrease.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step before it counts as failed.
const HALVINGS: usize = 30;
/// How much is added to the diagonal of M, as a share of its largest entry, to begin with.
const DAMPING: f64 = 1e-12;
/// Beyond this share, damping will not help.
const MOST_DAMPING: f64 = 1e3;

/// M on some factors.
struct Curvature {
    groups: Vec<usize>,
    matrix: GroupCurvature,
    /// The largest entry on the diagonal of M,
    top: f64,
    /// and the share of it that was added to the diagonal.
    damping: f64,
    /// Of the last minimum.
    factor: Option<Factor>,
}

impl Curvature {
    fn new(design: &dyn RowDesign, groups: Vec<usize>, matrix: Vec<f64>) -> Self {
        let mut end = 0;
        let span = |group: &usize| {
            let start = end;
            end += design.span(*group).len();
            start..end
        };
        let spans: Vec<Range<usize>> = groups.iter().map(span).collect();
        let top = largest(&matrix, end);
        let mut matrix = GroupCurvature::new(matrix, spans);
        matrix.raise(DAMPING * top);
        Self { groups, matrix, top, damping: DAMPING, factor: None }
    }

    /// Pull harder towards the last point; false where that is no use any more.
    fn dampen(&mut self) -> bool {
        if self.damping >= MOST_DAMPING {
            return false;
        }
        let damping = (1e3 * self.damping).max(1e-6);
        self.matrix.raise((damping - self.damping) * self.top);
        self.damping = damping;
        self.factor = None;
        true
    }
}

/// The solver, with the M it last used.
#[derive(Default)]
pub struct ProximalNewton {
    curvature: Option<Curvature>,
}

/// Where the coefficients of some factors stand in the design.
fn coefficients(design: &dyn RowDesign, groups: &[usize]) -> Vec<usize> {
    groups.iter().flat_map(|group| design.span(*group)).collect()
}

impl ProximalNewton {
    /// The theta of unpenalised factors whose scores make up for the base weights as well as they can:
    /// there all weights are about the same, and the loss is as curved as it will be.
    pub fn level_start(design: &dyn RowDesign, loss: &Loss) -> Vec<f64> {
        let mut theta = vec![0.0; design.linear().len()];
        let free: Vec<usize> =
            (0..design.groups()).filter(|group| design.weight(*group) == 0.0).collect();
        let places = coefficients(design, &free);
        if places.is_empty() {
            return theta;
        }
        let bases: Vec<f64> =
            loss.terms().iter().flat_map(|term| term.log_base.iter().copied()).collect();
        // The scores that undo the base weights leave all rows with the same weight.
        let equal = loss.weights(&bases.iter().map(|base| -base).collect::<Vec<_>>()).alpha;
        let mut wanted: Vec<f64> = bases.iter().map(|base| -base).collect();
        loss.centre(&equal, &mut wanted);
        let weighted: Vec<f64> = wanted.iter().zip(&equal).map(|(w, a)| w * a).collect();
        let products = design.moments(&weighted);
        let mut matrix = design.curvature(&free, loss.terms(), &equal);
        let top = largest(&matrix, places.len());
        raise(&mut matrix, places.len(), 1e-9 * top);
        let mut solution: Vec<f64> = places.iter().map(|place| products[*place]).collect();
        if let Some(factor) = Cholesky::new(&matrix, places.len()) {
            factor.solve(&mut solution);
            places.iter().zip(solution).for_each(|(place, value)| theta[*place] = value);
        }
        theta
    }

    /// Minimise from `start` on.
    pub fn solve(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        start: Vec<f64>,
        stop: Stop<'_>,
    ) -> Result<Solved> {
        let Stop { tolerance, max_iter, monitor } = stop;
        let mut point = subproblem.point(start);
        let mut iterations = 0;
        loop {
            monitor.check()?;
            let accepted = tolerance.accepts(&point.certificate);
            if accepted || iterations >= max_iter {
                return Ok(Solved { point, iterations, status: Status::within(accepted) });
            }
            let fresh = self.renew(subproblem, &point);
            let way = self.way(subproblem, &point, tolerance);
            let way_scores = subproblem.design.scores(&way);
            let Lambda { lambda1, lambda2 } = subproblem.lambda;
            if lambda1 == 0.0 {
                let along = subproblem.threshold_bound(&way, &way_scores);
                let there = subproblem.threshold_bound(&point.theta, &point.scores);
                let bound = along.max(there);
                if let Some(status) = Status::beside_threshold(lambda2, bound, false) {
                    return Ok(Solved { point, iterations, status });
                }
            }
            let next = line_search(subproblem, &point, &way, &way_scores);
            iterations += 1;
            let distance = |point: &Point| point.certificate.distance();
            let closer =
                next.as_ref().map_or(f64::INFINITY, |next| distance(next) / distance(&point));
            if let Some(next) = next {
                point = next;
            }
            if steps_left(&point.certificate, tolerance, closer) <= STEPS {
                continue;
            }
            if !fresh {
                self.curvature = None;
            } else if closer >= 1.0 && !self.dampen() {
                let status = Status::within(tolerance.accepts(&point.certificate));
                return Ok(Solved { point, iterations, status });
            }
        }
    }

    /// Compute M where there is none or it lacks a factor; whether that was so.
    fn renew(&mut self, subproblem: &RowSubproblem<'_>, point: &Point) -> bool {
        let design = subproblem.design;
        let needed = groups_within(NEXT, subproblem, point);
        let has = |curvature: &Curvature| {
            needed.iter().all(|group| curvature.groups.binary_search(group).is_ok())
        };
        if self.curvature.as_ref().is_some_and(has) {
            return false;
        }
        let groups = design.curvature_groups(&groups_within(NEAR, subproblem, point));
        let matrix = design.curvature(&groups, subproblem.loss.terms(), &point.weights.alpha);
        self.curvature = Some(Curvature::new(design, groups, matrix));
        true
    }

    fn dampen(&mut self) -> bool {
        self.curvature.as_mut().is_some_and(Curvature::dampen)
    }

    /// The way from a point to the minimum of the quadratic with the penalties.
    fn way(
        &mut self,
        subproblem: &RowSubproblem<'_>,
        point: &Point,
        tolerance: Tolerance,
    ) -> Vec<f64> {
        let Subproblem { design, lambda, .. } = *subproblem;
        let mut way = vec![0.0; point.theta.len()];
        let Some(curvature) = &mut self.curvature else {
            return way;
        };
        let places = coefficients(design, &curvature.groups);
        let gather = |values: &[f64]| -> Vec<f64> { places.iter().map(|k| values[*k]).collect() };
        let penalties =
            curvature.groups.iter().map(|group| lambda.penalty(design.weight(*group))).collect();
        let quadratic = GroupQuadratic::new(
            &curvature.matrix,
            gather(&point.xi),
            gather(&point.theta),
            penalties,
        );
        // Well below what is left, and what is asked for.
        let kkt = point.certificate.kkt;
        let enough = (0.03 * kkt).max(0.1 * tolerance.kkt().min(kkt));
        let minimum = quadratic.minimum(enough, &mut curvature.factor);
        for ((place, value), from) in places.iter().zip(minimum).zip(gather(&point.theta)) {
            way[*place] = value - from;
        }
        way
    }
}

/// The groups that are non-zero, or whose `|xi|` is above this share of their level.
fn groups_within(share: f64, subproblem: &RowSubproblem<'_>, point: &Point) -> Vec<usize> {
    let Subproblem { design, lambda, .. } = *subproblem;
    let near = |group: &usize| {
        let span = design.span(*group);
        let nonzero = point.theta[span.clone()].iter().any(|t| *t != 0.0);
        let level = lambda.penalty(design.weight(*group)).level;
        nonzero || norm(&point.xi[span]) > share * level
    };
    (0..design.groups()).filter(near).collect()
}

/// How many more steps it takes if each gets closer by this share.
fn steps_left(certificate: &Certificate, tolerance: Tolerance, closer: f64) -> f64 {
    let far = (certificate.distance() / tolerance.distance(certificate)).ln();
    if far <= 0.0 {
        0.0
    } else if closer < 1.0 {
        far / -closer.ln()
    } else {
        f64::INFINITY
    }
}

/// The first point on the way at which J has fallen enough.
fn line_search(
    subproblem: &RowSubproblem<'_>,
    from: &Point,
    way: &[f64],
    way_scores: &[f64],
) -> Option<Point> {
    let Subproblem { design, loss, lambda, .. } = *subproblem;
    let along = |values: &[f64], way: &[f64], far: f64| -> Vec<f64> {
        values.iter().zip(way).map(|(value, by)| value + far * by).collect()
    };
    let penalty = |theta: &[f64]| -> f64 {
        let of = |group| lambda.penalty(design.weight(group)).value(&theta[design.span(group)]);
        (0..design.groups()).map(of).sum()
    };
    let slope = -from.xi.iter().zip(way).map(|(xi, by)| xi * by).sum::<f64>();
    let before = penalty(&from.theta);
    let promised = slope + penalty(&along(&from.theta, way, 1.0)) - before;
    let mut shift = way_scores.to_vec();
    loss.centre(&from.weights.alpha, &mut shift);
    let noise = 64.0 * f64::EPSILON * from.certificate.objective.abs().max(1.0);
    let mut far = 1.0;
    for _ in 0..HALVINGS {
        let theta = along(&from.theta, way, far);
        // The loss beyond its linear part is a divergence: nothing cancels.
        let scaled: Vec<f64> = shift.iter().map(|by| far * by).collect();
        let curved = loss.divergence(&from.weights.alpha, &scaled);
        let change = far * slope + curved + penalty(&theta) - before;
        if change <= ARMIJO * far * promised + noise {
            let scores = along(&from.scores, way_scores, far);
            return Some(subproblem.point_with_scores(theta, scores));
        }
        far *= 0.5;
    }
    None
}

/// The largest entry on the diagonal.
fn largest(matrix: &[f64], size: usize) -> f64 {
    matrix.iter().step_by(size + 1).fold(f64::MIN_POSITIVE, |top, value| top.max(*value))
}

/// Add to the diagonal.
fn raise(matrix: &mut [f64], size: usize, by: f64) {
    matrix.iter_mut().step_by(size + 1).for_each(|value| *value += by);
}
