//! What a path says of itself is what the reference finds, at every step and for every solver.

use crate::cases::reference::Reference;
use crate::cases::{
    cubic, down, penalty_factors, quartic, random, samples_of, settings, Case, DIRECTIONS, SOLVERS,
};
use kliepnet_core::features::Basis;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::path::{fit, Grid, KliepPath, KliepStep, Settings, SolverChoice};

const TOLERANCE: f64 = 1e-6;

/// Objective, residual, gap and log-normaliser of a step against the reference's, up to rounding.
fn assert_as_reference(
    reference: &Reference,
    step: &KliepStep,
    lambda1: f64,
    exact: bool,
    what: &str,
) {
    let theta = reference.theta(&step.estimate.coefficients);
    let expected = reference.certify(&theta, lambda1, step.lambda2);
    let rounding = 1e-12 * expected.scale;
    let near = |got: f64, want: f64, name: &str| {
        assert!((got - want).abs() <= rounding, "{what}: {name} {got} expected {want}");
    };
    near(step.certificate.objective, expected.objective, "objective");
    near(step.certificate.kkt, expected.kkt, "kkt");
    near(step.estimate.log_normalizer, expected.log_normalizer, "log_normalizer");
    let off = step.estimate.effective_size / expected.effective_size - 1.0;
    assert!(off.abs() <= 1e-9, "{what}: effective size off by {off}");
    // L-BFGS may have better weights than alpha(theta) to certify theta with.
    assert!(
        step.certificate.gap <= expected.gap + rounding,
        "{what}: gap {} {}",
        step.certificate.gap,
        expected.gap
    );
    assert!(
        !exact || step.certificate.gap >= expected.gap - rounding,
        "{what}: {} {}",
        step.certificate.gap,
        expected.gap
    );
}

/// The same, and it is good enough.
fn assert_certified(
    reference: &Reference,
    step: &KliepStep,
    lambda1: f64,
    exact: bool,
    what: &str,
) {
    assert_as_reference(reference, step, lambda1, exact, what);
    assert_eq!(step.status, Status::Converged, "{what}: gap {}", step.certificate.gap);
    let enough = TOLERANCE * step.certificate.objective.abs().max(1e-3);
    assert!(
        step.certificate.gap <= enough * (1.0 + 1e-9),
        "{what}: gap {} for {enough}",
        step.certificate.gap
    );
}

fn assert_path_certified(
    case: &Case,
    lambda1: f64,
    grid: &Grid,
    solver: SolverChoice,
) -> KliepPath {
    let path = case.fit(lambda1, grid.clone(), solver);
    let reference = case.reference();
    for (k, step) in path.steps.iter().enumerate() {
        let what = format!("{solver:?} lambda1 {lambda1} step {k} lambda2 {}", step.lambda2);
        assert_certified(&reference, step, lambda1, solver == SolverChoice::Primal, &what);
    }
    path
}

/// A valid gap bounds how far the objective is above anyone else's.
fn assert_gaps_bound(path: &KliepPath, other: &KliepPath) {
    for (own, other) in path.steps.iter().zip(&other.steps) {
        let beyond = own.certificate.objective - other.certificate.objective - own.certificate.gap;
        assert!(beyond <= 1e-12 * (1.0 + own.certificate.objective.abs()), "off by {beyond}");
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
        let paths = SOLVERS.map(|m| assert_path_certified(&case, lambda1, &down(8, 0.05), m));
        for path in &paths {
            paths.iter().for_each(|other| assert_gaps_bound(path, other));
        }
    }
}

#[test]
fn tall_problems_by_every_solver() {
    let mut rng = random(18);
    for (k, direction) in DIRECTIONS.into_iter().enumerate() {
        // 100 coefficients, and at least four times as many scores.
        let case = Case {
            basis: quartic(),
            direction,
            penalty: penalty_factors([0, 1, 5][k], 4, &mut rng),
            ..Case::new(samples_of(4, 640, 410, k as u64))
        };
        let lambda1 = [0.1, 0.001, 1.0][k];
        let paths = SOLVERS.map(|m| assert_path_certified(&case, lambda1, &down(8, 0.02), m));
        let detected = paths[0].steps.last().unwrap().estimate.coefficients.len();
        assert!(detected > 3, "too easy: {detected} detected");
        for path in &paths {
            paths.iter().for_each(|other| assert_gaps_bound(path, other));
        }
    }
}

#[test]
fn the_papers_path_by_every_solver() {
    let grid: Vec<f64> = (0..20).map(|k| 10_f64.powf(-4.0 * f64::from(k) / 19.0)).collect();
    let case = Case::gaussian(20, 60, 1);
    for solver in SOLVERS {
        assert_path_certified(&case, 0.1, &Grid::Given(grid.clone()), solver);
    }
}

fn assert_by_working_set(case: &Case, lambda1: f64, grid: &Grid) {
    let path = assert_path_certified(case, lambda1, grid, SolverChoice::Auto);
    assert!(path.passes > 0, "a small problem: the working set was not used");
    let last = path.steps.last().unwrap();
    assert!(
        last.estimate.coefficients.len() > 10,
        "too easy: {} detected",
        last.estimate.coefficients.len()
    );
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
    let largest = case.fit(0.1, down(1, 1.0), SolverChoice::Auto).lambda_max;
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
    for solver in [SolverChoice::Primal, SolverChoice::Dual] {
        assert_path_certified(&case, 1.0, &down(3, 0.6), solver);
    }
}

/// Both a path and the same path to a much smaller gap.
fn assert_certified_by_better(case: &Case, lambda1: f64, grid: &Grid) -> KliepPath {
    let path = assert_path_certified(case, lambda1, grid, SolverChoice::Auto);
    let mut settings = settings(lambda1, grid.clone(), SolverChoice::Auto);
    settings.tol = 1e-4 * TOLERANCE;
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
    for (case, solvers) in
        [(Case::gaussian(12, 40, 9), &SOLVERS[..]), (Case::large(9), &SOLVERS[..1])]
    {
        let reference = case.reference();
        let largest = case.fit(lambda1, down(1, 1.0), SolverChoice::Auto).lambda_max;
        for solver in solvers {
            for max_iter in [0, 1, 2] {
                let grid = Grid::Given(vec![0.5 * largest, 0.3 * largest]);
                let settings = Settings { max_iter, ..settings(lambda1, grid, *solver) };
                let path = fit(&case.problem(), &settings, &Monitor::new()).unwrap();
                for step in &path.steps {
                    let what = format!("{solver:?} {max_iter} iterations at {}", step.lambda2);
                    assert_eq!(step.status, Status::MaxIter, "{what}");
                    assert!(step.iterations <= max_iter, "{what}: {}", step.iterations);
                    assert_as_reference(
                        &reference,
                        step,
                        lambda1,
                        *solver == SolverChoice::Primal,
                        &what,
                    );
                    assert!(
                        step.certificate.gap
                            > TOLERANCE * step.certificate.objective.abs().max(1e-3),
                        "{what}"
                    );
                }
            }
        }
    }
}
