//! Problems with few coefficients and very many scores, one lambda2 after the other.

use crate::error::Result;
use crate::loss::Loss;
use crate::monitor::Monitor;
use crate::penalty::norm;
use crate::problem::{Lambda, RowDesign, Tolerance};
use crate::solver::metric::{Metric, Task};
use crate::solver::Solved;
use crate::strategy::{Around, Auto, Fitted, Limits, Solve};

/// The curvature of the loss over some factors of a design, at these weights.
pub type Curvature<D> = fn(&D, &[usize], &[f64]) -> Vec<f64>;

/// Proximal Newton over all factors of a design.
pub struct Tall<'a, D> {
    design: D,
    loss: &'a Loss,
    limits: Limits,
    curvature: Curvature<D>,
    metric: Metric,
    theta: Vec<f64>,
}

impl<'a, D: RowDesign> Tall<'a, D> {
    /// Start where all scores have about the same weight.
    pub fn new(loss: &'a Loss, design: D, limits: Limits, curvature: Curvature<D>) -> Self {
        let bend = |groups: &[usize], alpha: &[f64]| curvature(&design, groups, alpha);
        let theta = Metric::level(&Task { design: &design, loss, curvature: &bend });
        Self { design, loss, limits, curvature, metric: Metric::default(), theta }
    }

    fn run(&mut self, lambda2: f64, tolerance: Tolerance, monitor: &Monitor) -> Result<Solved> {
        let Self { design, loss, limits, curvature, metric, theta } = self;
        let bend = |groups: &[usize], alpha: &[f64]| curvature(design, groups, alpha);
        let task = Task { design, loss, curvature: &bend };
        let lambda = Lambda { ridge: limits.lambda1, group: lambda2 };
        let start = std::mem::take(theta);
        let solved = metric.solve(&task, lambda, start, tolerance, limits.max_iter, monitor)?;
        theta.clone_from(&solved.point.theta);
        Ok(solved)
    }
}

impl<D: RowDesign> Solve for Tall<'_, D> {
    fn solve(&mut self, at: Around, tolerance: Tolerance, monitor: &Monitor) -> Result<Fitted> {
        let solved = self.run(at.now, tolerance, monitor)?;
        Ok(Fitted::new(&solved, &self.design, 0..self.design.groups()))
    }
}

impl<D: RowDesign> Auto for Tall<'_, D> {
    fn start(&mut self, tolerance: Tolerance, monitor: &Monitor) -> Result<f64> {
        let xi = self.run(f64::MAX, tolerance, monitor)?.point.xi;
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
