//! Penalties that shrink large factors less: loops over penalty factors around convex fits.

use crate::error::Result;
use crate::features::Coefficients;
use crate::monitor::Monitor;
use crate::objective::certificate::Status;
use crate::objective::reweight::{distance, excess, mcp};
use crate::path::grid::LambdaStep;
use crate::path::solver::Fit;
use crate::path::trimmed::TrimmedFits;
use std::sync::Arc;

/// Convex fits at one lambda2 before the penalty factors count as unsettled.
const MOST_FITS: usize = 100;

/// The minimax concave penalty by local linear approximation: convex fits, each with the penalty's
/// slopes at the fit before, until these settle. No fit raises the objective; trimmed ones are less
/// exact than slopes are asked to be, and have settled when they stop lowering it.
pub fn fit_mcp(
    fits: &mut TrimmedFits,
    gamma: f64,
    start: &Coefficients,
    mut at: LambdaStep,
    monitor: &Monitor,
) -> Result<Fit> {
    let lambda2 = at.current;
    let base = fits.fits.problem.penalty_factor.clone();
    let slopes = |theta: &Coefficients| mcp(&base, theta, gamma, lambda2);
    let mut penalty_factor = Arc::new(slopes(start));
    let (mut rounds, mut iterations) = (0, 0);
    // The objective of the fit before, with the slopes at its own theta.
    let mut before = f64::INFINITY;
    loop {
        fits.fits.solver.set_penalty_factor(&penalty_factor);
        let mut fit = fits.fit(at, monitor)?;
        rounds += 1;
        iterations += fit.iterations;
        fit.iterations = iterations;
        let objective = fit.certificate.objective;
        let next = slopes(&fit.coefficients);
        let settled = distance(&penalty_factor, &next) <= fits.fits.settled_within()
            || fits.weights.is_some() && before - objective <= fits.settled_within(objective);
        if settled || rounds == MOST_FITS || fit.status == Status::Unbounded {
            if !settled && fit.status == Status::Converged {
                fit.status = Status::Unsettled;
            }
            return Ok(fit);
        }
        before = objective + lambda2 * excess(&next, &penalty_factor, &fit.coefficients);
        penalty_factor = Arc::new(next);
        at.previous = at.current;
    }
}
