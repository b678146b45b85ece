//! What a path says of itself is what the judge finds, at every step and for every solver.

use crate::common::judge::Judge;
use crate::common::{
    cubic, down, penalty_factors, quartic, random, samples_of, Case, DIRECTIONS, METHODS,
};
use kliepnet_core::factors::PenaltyFactors;
use kliepnet_core::features::Basis;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::{fit, Grid, Method, Path, Settings, Step};
use kliepnet_core::problem::Status;

const TOLERANCE: f64 = 1e-6;

/// Objective, residual, gap and log-normaliser of a step against the judge's, up to rounding.
fn assert_judged(judge: &Judge, step: &Step, lambda1: f64, exact: bool, what: &str) {
    let theta = judge.theta(&step.coefficients);
    let verdict = judge.verdict(&theta, lambda1, step.lambda2);
    let rounding = 1e-12 * verdict.scale;
    let near = |got: f64, want: f64, name: &str| {
        assert!((got - want).abs() <= rounding, "{what}: {name} {got} judged {want}");
    };
    near(step.objective, verdict.objective, "objective");
    near(step.residual, verdict.residual, "residual");
    near(step.log_normalizer, verdict.log_normalizer, "log_normalizer");
    let off = step.effective_size / verdict.effective_size - 1.0;
    assert!(off.abs() <= 1e-9, "{what}: effective size off by {off}");
    // L-BFGS may have better weights than alpha(theta) to certify theta with.
    assert!(step.gap <= verdict.gap + rounding, "{what}: gap {} {}", step.gap, verdict.gap);
    assert!(!exact || step.gap >= verdict.gap - rounding, "{what}: {} {}", step.gap, verdict.gap);
}

/// The same, and it is good enough.
fn assert_certified(judge: &Judge, step: &Step, lambda1: f64, exact: bool, what: &str) {
    assert_judged(judge, step, lambda1, exact, what);
    assert_eq!(step.status, Status::Converged, "{what}: gap {}", step.gap);
    let enough = TOLERANCE * step.objective.abs().max(1e-3);
    assert!(step.gap <= enough * (1.0 + 1e-9), "{what}: gap {} for {enough}", step.gap);
}

fn assert_path_certified(case: &Case, lambda1: f64, grid: &Grid, method: Method) -> Path {
    let path = case.fit(lambda1, grid.clone(), method);
    let judge = case.judge();
    for (k, step) in path.steps.iter().enumerate() {
        let what = format!("{method:?} lambda1 {lambda1} step {k} lambda2 {}", step.lambda2);
        assert_certified(&judge, step, lambda1, method == Method::Primal, &what);
    }
    path
}

/// A valid gap bounds how far the objective is above anyone else's.
fn assert_gaps_bound(path: &Path, other: &Path) {
    for (own, other) in path.steps.iter().zip(&other.steps) {
        let beyond = own.objective - other.objective - own.gap;
        assert!(beyond <= 1e-12 * (1.0 + own.objective.abs()), "off by {beyond}");
    }
}

#[test]
fn small_problems_by_every_solver() {
    let mut rng = random(8);
    let bases = [Basis::gaussian(), cubic(), quartic()];
    for k in 0..9 {
        let d = 3 + k;
        let case = Case {
            basis: bases[k % 3].clone(),
            direction: DIRECTIONS[(k / 3 + k) % 3],
            penalty: penalty_factors(k, d, &mut rng),
            ..Case::new(samples_of(d, 25, 30, k as u64))
        };
        let lambda1 = [0.01, 0.1, 1.0][k % 3];
        let paths = METHODS.map(|m| assert_path_certified(&case, lambda1, &down(8, 0.05), m));
        for path in &paths {
            paths.iter().for_each(|other| assert_gaps_bound(path, other));
        }
    }
}

#[test]
fn the_papers_path_by_every_solver() {
    let grid: Vec<f64> = (0..20).map(|k| 10_f64.powf(-4.0 * f64::from(k) / 19.0)).collect();
    let case = Case::gaussian(20, 60, 1);
    for method in METHODS {
        assert_path_certified(&case, 0.1, &Grid::Given(grid.clone()), method);
    }
}

fn assert_by_working_set(case: &Case, lambda1: f64, grid: &Grid) {
    let path = assert_path_certified(case, lambda1, grid, Method::Auto);
    assert!(path.passes > 0, "a small problem: the working set was not used");
    let last = path.steps.last().unwrap();
    assert!(last.coefficients.len() > 10, "too easy: {} detected", last.coefficients.len());
}

#[test]
fn large_gaussian_problems_by_the_working_set() {
    for direction in DIRECTIONS {
        let case = Case { direction, ..Case::large(2) };
        assert_by_working_set(&case, 0.1, &down(10, 0.4));
    }
}

#[test]
fn large_group_problems_by_the_working_set() {
    for direction in DIRECTIONS {
        let case = Case { direction, ..Case::large_cubic(3) };
        assert_by_working_set(&case, 0.1, &down(8, 0.4));
    }
}

#[test]
fn large_quartic_problems_by_the_working_set() {
    let case = Case { basis: quartic(), ..Case::gaussian(160, 50, 4) };
    assert_by_working_set(&case, 0.3, &down(6, 0.4));
}

#[test]
fn a_long_step_into_the_working_set() {
    let case = Case::large(5);
    let largest = case.fit(0.1, down(1, 1.0), Method::Auto).lambda_max;
    let grid = Grid::Given(vec![largest, 0.05 * largest, 0.01 * largest]);
    assert_by_working_set(&case, 0.1, &grid);
}

#[test]
fn penalty_factors_in_the_working_set() {
    for kind in 1..6 {
        let penalty = penalty_factors(kind, 480, &mut random(kind as u64));
        if matches!(penalty, PenaltyFactors::ByKind { edge: f64::INFINITY, .. }) {
            continue;
        }
        let case = Case { penalty, ..Case::large(6) };
        assert_by_working_set(&case, 0.5, &down(6, 0.5));
    }
}

#[test]
fn primal_and_dual_at_the_size_of_a_working_set() {
    let case = Case::large(2);
    for method in [Method::Primal, Method::Dual] {
        assert_path_certified(&case, 1.0, &down(3, 0.6), method);
    }
}

/// Both a path and the same path to a much smaller gap.
fn assert_certified_by_better(case: &Case, lambda1: f64, grid: &Grid) -> Path {
    let path = assert_path_certified(case, lambda1, grid, Method::Auto);
    let mut settings = case.settings(lambda1, grid.clone(), Method::Auto);
    settings.tolerance = 1e-4 * TOLERANCE;
    let better = fit(&case.problem(), &settings, &Monitor::new()).unwrap();
    assert_gaps_bound(&path, &better);
    path
}

#[test]
fn many_more_rows_than_factors() {
    for direction in DIRECTIONS {
        let case = Case { direction, ..Case::gaussian(30, 1000, 7) };
        let path = assert_certified_by_better(&case, 1.0, &down(8, 0.01));
        assert_eq!(path.passes, 0, "not a small problem");
    }
}

#[test]
fn a_working_set_of_hundreds() {
    let case = Case::gaussian(250, 300, 8);
    let path = assert_certified_by_better(&case, 1.0, &down(8, 0.2));
    assert!(path.passes > 0, "a small problem: the working set was not used");
}

#[test]
fn out_of_iterations_says_so_and_certifies_what_it_has() {
    let lambda1 = 0.01;
    for (case, methods) in
        [(Case::gaussian(12, 40, 9), &METHODS[..]), (Case::large(9), &METHODS[..1])]
    {
        let judge = case.judge();
        let largest = case.fit(lambda1, down(1, 1.0), Method::Auto).lambda_max;
        for method in methods {
            for max_iter in [0, 1, 2] {
                let grid = Grid::Given(vec![0.5 * largest, 0.3 * largest]);
                let settings = Settings { max_iter, ..case.settings(lambda1, grid, *method) };
                let path = fit(&case.problem(), &settings, &Monitor::new()).unwrap();
                for step in &path.steps {
                    let what = format!("{method:?} {max_iter} iterations at {}", step.lambda2);
                    assert_eq!(step.status, Status::MaxIter, "{what}");
                    assert!(step.iterations <= max_iter, "{what}: {}", step.iterations);
                    assert_judged(&judge, step, lambda1, *method == Method::Primal, &what);
                    assert!(step.gap > TOLERANCE * step.objective.abs().max(1e-3), "{what}");
                }
            }
        }
    }
}
