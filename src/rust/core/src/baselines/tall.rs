//! Problems with few coefficients and very many scores, one lambda2 after the other.

use crate::error::Result;
use crate::loss::Loss;
use crate::monitor::Monitor;
use crate::problem::{Lambda, RowDesign, Tolerance};
use crate::solver::metric::Metric;
use crate::solver::Solved;
use crate::strategy::{first_to_enter, Around, Auto, Fitted, Limits, Solve};

/// Proximal Newton over all factors of a design.
pub struct Tall<'a, D> {
    design: D,
    loss: &'a Loss,
    limits: Limits,
    metric: Metric,
    theta: Vec<f64>,
}

impl<'a, D: RowDesign> Tall<'a, D> {
    /// Start where all scores have about the same weight.
    pub fn new(loss: &'a Loss, design: D, limits: Limits) -> Self {
        let theta = Metric::level(&design, loss);
        Self { design, loss, limits, metric: Metric::default(), theta }
    }

    fn run(&mut self, lambda2: f64, tolerance: Tolerance, monitor: &Monitor) -> Result<Solved> {
        let lambda = Lambda { ridge: self.limits.lambda1, group: lambda2 };
        let start = std::mem::take(&mut self.theta);
        let parts = (&self.design as &dyn RowDesign, self.loss, lambda);
        let solved = self.metric.solve(parts, start, tolerance, self.limits.max_iter, monitor)?;
        self.theta.clone_from(&solved.point.theta);
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
        Ok(first_to_enter(&self.design, &xi))
    }
}
