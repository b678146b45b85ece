//! What each step of a path reports, whichever the method.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::objective::certificate::{Certificate, Status};
use crate::path::grid::LambdaStep;
use std::time::Instant;

/// The fit at one lambda2; E is what the method estimates.
#[derive(Debug, Clone)]
pub struct Step<E> {
    /// The penalty that falls along the path.
    pub lambda2: f64,
    /// How it ended.
    pub status: Status,
    /// Iterations of the solver, over all fits.
    pub iterations: usize,
    /// Over all factors. The gap is NaN where there is none; nothing but the objective, minus infinity,
    /// is known of an unbounded step.
    pub certificate: Certificate,
    /// Wall time; that of the first step includes the search for lambda_max.
    pub seconds: f64,
    /// The estimate.
    pub estimate: E,
}

/// A whole path.
#[derive(Debug, Clone)]
pub struct Path<E> {
    /// The smallest lambda2 at which no penalised factor is detected.
    pub lambda_max: f64,
    /// One for each lambda2, the last perhaps unbounded.
    pub steps: Vec<Step<E>>,
    /// Full passes over all factors that it took, for solvers that count them.
    pub passes: usize,
}

impl<E> Step<E> {
    /// A step whose time is not known yet.
    pub fn new(
        lambda2: f64,
        status: Status,
        iterations: usize,
        certificate: Certificate,
        estimate: E,
    ) -> Self {
        let certificate = if status == Status::Unbounded {
            Certificate { objective: f64::NEG_INFINITY, gap: f64::NAN, kkt: f64::NAN }
        } else {
            let gap = if certificate.gap.is_finite() { certificate.gap } else { f64::NAN };
            Certificate { gap, ..certificate }
        };
        Self { lambda2, status, iterations, certificate, seconds: f64::NAN, estimate }
    }
}

/// Fit one lambda2 after the other, up to one without a minimum, or one after which there is enough;
/// `begun` is when the search for lambda_max was.
pub fn along_grid<E>(
    grid: &[f64],
    lambda_max: f64,
    mut begun: Instant,
    monitor: &Monitor,
    mut fit: impl FnMut(LambdaStep) -> Result<Step<E>>,
    mut enough: impl FnMut(&Step<E>) -> bool,
) -> Result<Vec<Step<E>>> {
    let mut steps = Vec::with_capacity(grid.len());
    for at in LambdaStep::through(grid, lambda_max) {
        let mut step = fit(at)?;
        step.seconds = begun.elapsed().as_secs_f64();
        begun = Instant::now();
        monitor.advance();
        let last = step.status == Status::Unbounded || enough(&step);
        steps.push(step);
        if last {
            break;
        }
    }
    Ok(steps)
}
