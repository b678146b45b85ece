//! Penalties that depend on theta and trimmed numerators: every solver follows them, and what they
//! lead to is certified with the penalty factors that they stand for.

use crate::cases::reference::{length, Reference};
use crate::cases::{down, settings, Case, SOLVERS};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::reweight::{adaptive, mcp, PenaltyShape};
use kliepnet_core::path::{fit, Grid, KliepPath, KliepStep, Settings, SolverChoice};
use std::sync::Arc;

const TOLERANCE: f64 = 1e-8;
/// Weights of numerators settle slowly: the tolerance that is the default in R.
const TRIMMED_TOLERANCE: f64 = 1e-6;
const LAMBDA1: f64 = 0.1;
const ADAPTIVE: PenaltyShape = PenaltyShape::Adaptive { gamma: 1.0, first_share: 0.3 };
const MCP: PenaltyShape = PenaltyShape::Mcp { gamma: 3.0 };

fn tolerance(robust: f64) -> f64 {
    if robust > 0.0 {
        TRIMMED_TOLERANCE
    } else {
        TOLERANCE
    }
}

fn solve(
    case: &Case,
    grid: Grid,
    solver: SolverChoice,
    (penalty, robust): (PenaltyShape, f64),
) -> KliepPath {
    let base = settings(LAMBDA1, grid, solver);
    let settings = Settings { penalty, robust, tol: tolerance(robust), ..base };
    let path = fit(&case.problem(), &settings, &Monitor::new()).unwrap();
    for step in &path.steps {
        assert_eq!(
            step.status,
            Status::Converged,
            "{solver:?} {penalty:?}: gap {}",
            step.certificate.gap
        );
    }
    path
}

/// `sum_t |theta_t|`.
fn size(step: &KliepStep) -> f64 {
    step.estimate.coefficients.iter().map(|(_, theta)| length(theta)).sum()
}

/// How much an objective may change with penalty factors that have settled only so far.
fn unsettled(step: &KliepStep, robust: f64) -> f64 {
    step.lambda2 * tolerance(robust).sqrt() * size(step)
}

#[test]
fn every_solver_follows_penalties_and_trimming() {
    let case = Case::gaussian(6, 40, 21);
    for way in [(ADAPTIVE, 0.0), (MCP, 0.0), (PenaltyShape::GroupLasso, 0.2)] {
        let [own, primal, dual] = SOLVERS.map(|solver| solve(&case, down(4, 0.2), solver, way));
        for other in [primal, dual] {
            for (one, two) in own.steps.iter().zip(&other.steps) {
                let off = (one.certificate.objective - two.certificate.objective).abs();
                let within = one.certificate.gap.max(two.certificate.gap)
                    + 2.0 * unsettled(one, way.1)
                    + 1e-12;
                assert!(off <= within, "{way:?}: {off} for {within}");
            }
        }
        assert!(!own.steps[3].estimate.coefficients.is_empty());
    }
}

#[test]
fn trimming_can_only_raise_the_objective() {
    for case in [Case::gaussian(6, 40, 22), Case::large(22)] {
        let grid = Grid::Given(
            solve(&case, down(2, 0.5), SolverChoice::Auto, (PenaltyShape::GroupLasso, 0.0))
                .steps
                .iter()
                .map(|step| step.lambda2)
                .collect(),
        );
        let plain = solve(&case, grid.clone(), SolverChoice::Auto, (PenaltyShape::GroupLasso, 0.0));
        let trimmed = solve(&case, grid, SolverChoice::Auto, (PenaltyShape::GroupLasso, 0.1));
        for (one, two) in plain.steps.iter().zip(&trimmed.steps) {
            assert!(
                two.certificate.objective >= one.certificate.objective - one.certificate.gap,
                "{} {}",
                one.certificate.objective,
                two.certificate.objective
            );
            assert!(
                two.certificate.gap
                    <= TRIMMED_TOLERANCE.sqrt() * two.certificate.objective.abs().max(0.1) * 1.01
            );
        }
        assert!(size(&trimmed.steps[1]) < size(&plain.steps[1]), "nothing was trimmed");
    }
}

#[test]
fn trimmed_fits_of_concave_penalties_settle() {
    for seed in 21..27 {
        let case = Case::gaussian(6, 40, seed);
        for solver in SOLVERS {
            let path = solve(&case, down(4, 0.2), solver, (MCP, 0.2));
            let last = &path.steps[3];
            assert!(last.estimate.fits > 1 && !last.estimate.coefficients.is_empty(), "too easy");
        }
    }
}

/// The gap of a step with these penalty factors, by its definition.
fn gap_with(case: &Case, weights: &PenaltyFactors, step: &KliepStep) -> f64 {
    let d = case.x.ncols();
    let each = (0..d).flat_map(|u| (0..=u).map(move |v| (u, v))).map(|(u, v)| weights.of(u, v));
    let reference =
        Reference::new(&Case { penalty: PenaltyFactors::Each(each.collect()), ..case.clone() });
    reference.certify(&reference.theta(&step.estimate.coefficients), LAMBDA1, step.lambda2).gap
}

#[test]
fn the_working_set_follows_adaptive_penalties() {
    let case = Case::large(23);
    let PenaltyShape::Adaptive { gamma, first_share } = ADAPTIVE else { unreachable!() };
    // As the path makes them: five steps to a share of lambda_max.
    let first =
        solve(&case, down(5, first_share), SolverChoice::Auto, (PenaltyShape::GroupLasso, 0.0));
    let base = Arc::new(case.penalty.clone());
    let weights = adaptive(&base, &first.steps[4].estimate.coefficients, gamma);
    let path = solve(&case, down(3, 0.4), SolverChoice::Auto, (ADAPTIVE, 0.0));
    let last = &path.steps[2];
    assert!(last.estimate.coefficients.len() > 5, "too easy: {}", last.estimate.coefficients.len());
    let gap = gap_with(&case, &weights, last);
    assert!(gap <= 2.0 * TOLERANCE * last.certificate.objective.abs().max(1e-3) + 1e-12, "{gap}");
}

#[test]
fn the_working_set_follows_concave_penalties() {
    let case = Case::large(24);
    let PenaltyShape::Mcp { gamma } = MCP else { unreachable!() };
    let path = solve(&case, down(3, 0.5), SolverChoice::Auto, (MCP, 0.0));
    let last = &path.steps[2];
    assert!(
        last.estimate.fits > 1 && last.estimate.coefficients.len() > 5,
        "{} {}",
        last.estimate.fits,
        size(last)
    );
    let slopes =
        mcp(&Arc::new(case.penalty.clone()), &last.estimate.coefficients, gamma, last.lambda2);
    let gap = gap_with(&case, &slopes, last);
    // The last fit's own factors differ from the slopes at its theta by what counts as settled.
    let within = last.certificate.gap + 2.2 * unsettled(last, 0.0) + 1e-10;
    assert!(gap <= within, "{gap} for {within}");
}
