//! Penalties that depend on theta and trimmed numerators: every solver follows them, and what they
//! lead to is certified with the penalty factors that they stand for.

use crate::common::judge::{length, Judge};
use crate::common::{down, Case, METHODS};
use kliepnet_core::factors::PenaltyFactors;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::{fit, Grid, Method, Path, Settings, Step};
use kliepnet_core::problem::Status;
use kliepnet_core::reweight::{adaptive, mcp, Shape};
use std::sync::Arc;

const TOLERANCE: f64 = 1e-8;
/// Weights of numerators settle slowly: the tolerance that is the default in R.
const TRIMMED_TOLERANCE: f64 = 1e-6;
const LAMBDA1: f64 = 0.1;
const ADAPTIVE: Shape = Shape::Adaptive { gamma: 1.0, share: 0.3 };
const MCP: Shape = Shape::Mcp { gamma: 3.0 };

fn tolerance(robust: f64) -> f64 {
    if robust > 0.0 {
        TRIMMED_TOLERANCE
    } else {
        TOLERANCE
    }
}

fn solve(case: &Case, grid: Grid, method: Method, (shape, robust): (Shape, f64)) -> Path {
    let base = case.settings(LAMBDA1, grid, method);
    let settings = Settings { shape, robust, tolerance: tolerance(robust), ..base };
    let path = fit(&case.problem(), &settings, &Monitor::new()).unwrap();
    for step in &path.steps {
        assert_eq!(step.status, Status::Converged, "{method:?} {shape:?}: gap {}", step.gap);
    }
    path
}

/// `sum_t |theta_t|`.
fn size(step: &Step) -> f64 {
    step.coefficients.iter().map(|(_, theta)| length(theta)).sum()
}

/// How much an objective may change with penalty factors that have settled only so far.
fn unsettled(step: &Step, robust: f64) -> f64 {
    step.lambda2 * tolerance(robust).sqrt() * size(step)
}

#[test]
fn every_solver_follows_penalties_and_trimming() {
    let case = Case::gaussian(6, 40, 21);
    for way in [(ADAPTIVE, 0.0), (MCP, 0.0), (Shape::GroupLasso, 0.2)] {
        let [own, primal, dual] = METHODS.map(|method| solve(&case, down(4, 0.2), method, way));
        for other in [primal, dual] {
            for (one, two) in own.steps.iter().zip(&other.steps) {
                let off = (one.objective - two.objective).abs();
                let within = one.gap.max(two.gap) + 2.0 * unsettled(one, way.1) + 1e-12;
                assert!(off <= within, "{way:?}: {off} for {within}");
            }
        }
        assert!(!own.steps[3].coefficients.is_empty());
    }
}

#[test]
fn trimming_can_only_raise_the_objective() {
    for case in [Case::gaussian(6, 40, 22), Case::large(22)] {
        let grid = Grid::Given(
            solve(&case, down(2, 0.5), Method::Auto, (Shape::GroupLasso, 0.0))
                .steps
                .iter()
                .map(|step| step.lambda2)
                .collect(),
        );
        let plain = solve(&case, grid.clone(), Method::Auto, (Shape::GroupLasso, 0.0));
        let trimmed = solve(&case, grid, Method::Auto, (Shape::GroupLasso, 0.1));
        for (one, two) in plain.steps.iter().zip(&trimmed.steps) {
            assert!(
                two.objective >= one.objective - one.gap,
                "{} {}",
                one.objective,
                two.objective
            );
            assert!(two.gap <= TRIMMED_TOLERANCE.sqrt() * two.objective.abs().max(0.1) * 1.01);
        }
        assert!(size(&trimmed.steps[1]) < size(&plain.steps[1]), "nothing was trimmed");
    }
}

#[test]
fn trimmed_fits_of_concave_penalties_settle() {
    for seed in 21..27 {
        let case = Case::gaussian(6, 40, seed);
        for method in METHODS {
            let path = solve(&case, down(4, 0.2), method, (MCP, 0.2));
            let last = &path.steps[3];
            assert!(last.fits > 1 && !last.coefficients.is_empty(), "too easy");
        }
    }
}

/// The gap of a step with these penalty factors, by its definition.
fn gap_with(case: &Case, weights: &PenaltyFactors, step: &Step) -> f64 {
    let d = case.x.ncols();
    let each = (0..d).flat_map(|u| (0..=u).map(move |v| (u, v))).map(|(u, v)| weights.of(u, v));
    let judge = Judge::new(&Case { penalty: PenaltyFactors::Each(each.collect()), ..case.clone() });
    judge.verdict(&judge.theta(&step.coefficients), LAMBDA1, step.lambda2).gap
}

#[test]
fn the_working_set_follows_adaptive_penalties() {
    let case = Case::large(23);
    let Shape::Adaptive { gamma, share } = ADAPTIVE else { unreachable!() };
    // As the path makes them: five steps to a share of lambda_max.
    let first = solve(&case, down(5, share), Method::Auto, (Shape::GroupLasso, 0.0));
    let base = Arc::new(case.penalty.clone());
    let weights = adaptive(&base, &first.steps[4].coefficients, gamma);
    let path = solve(&case, down(3, 0.4), Method::Auto, (ADAPTIVE, 0.0));
    let last = &path.steps[2];
    assert!(last.coefficients.len() > 5, "too easy: {}", last.coefficients.len());
    let gap = gap_with(&case, &weights, last);
    assert!(gap <= 2.0 * TOLERANCE * last.objective.abs().max(1e-3) + 1e-12, "{gap}");
}

#[test]
fn the_working_set_follows_concave_penalties() {
    let case = Case::large(24);
    let Shape::Mcp { gamma } = MCP else { unreachable!() };
    let path = solve(&case, down(3, 0.5), Method::Auto, (MCP, 0.0));
    let last = &path.steps[2];
    assert!(last.fits > 1 && last.coefficients.len() > 5, "{} {}", last.fits, size(last));
    let slopes = mcp(&Arc::new(case.penalty.clone()), &last.coefficients, gamma, last.lambda2);
    let gap = gap_with(&case, &slopes, last);
    // The last fit's own factors differ from the slopes at its theta by what counts as settled.
    let within = last.gap + 2.2 * unsettled(last, 0.0) + 1e-10;
    assert!(gap <= within, "{gap} for {within}");
}
