//! Three solvers that share little more than the problem find the same theta.

use crate::cases::reference::distance;
use crate::cases::{
    cubic, down, penalty_factors, random, samples_of, settings, Case, DIRECTIONS, SOLVERS,
};
use kliepnet_core::features::Basis;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::path::{fit, KliepPath, KliepStep, Settings, SolverChoice};
use rand::Rng;

/// A random problem with one of four ridges, one or three features a pair, fewer or more rows than
/// factors.
fn random_problem(number: usize) -> (Case, f64) {
    let mut rng = random(1000 + number as u64);
    let lambda1 = [0.001, 0.1, 1.0, 10.0][number % 4];
    let basis = if number / 4 % 2 == 0 { Basis::gaussian() } else { cubic() };
    let d = rng.random_range(4..9);
    let factors = d * (d + 1) / 2;
    let rows = || if number / 8 % 2 == 0 { 5..factors } else { factors + 1..3 * factors };
    let (n_x, n_y) = (rng.random_range(rows()), rng.random_range(rows()));
    let case = Case {
        basis,
        direction: DIRECTIONS[rng.random_range(0..3)],
        penalty: penalty_factors(rng.random_range(0..6), d, &mut rng),
        ..Case::new(samples_of(d, n_x, n_y, number as u64))
    };
    (case, lambda1)
}

fn solve(case: &Case, lambda1: f64, solver: SolverChoice) -> KliepPath {
    let mut settings = settings(lambda1, down(3, 0.1), solver);
    settings.tol = 1e-9;
    settings.max_iter = 200_000;
    fit(&case.problem(), &settings, &Monitor::new()).unwrap()
}

#[test]
fn fifty_random_problems() {
    for number in 0..50 {
        let (case, lambda1) = random_problem(number);
        let reference = case.reference();
        let paths = SOLVERS.map(|solver| solve(&case, lambda1, solver));
        for (solver, path) in SOLVERS.iter().zip(&paths) {
            for (k, step) in path.steps.iter().enumerate() {
                let what = format!("problem {number} {solver:?} step {k}");
                assert_eq!(step.status, Status::Converged, "{what}: gap {}", step.certificate.gap);
                let best = &paths[0].steps[k];
                assert_eq!(step.lambda2, best.lambda2);
                // J is strongly convex: its gap bounds how far theta is from the minimiser.
                let radius = |gap: f64| (2.0 * gap / lambda1).sqrt();
                let (own, other) = (
                    reference.theta(&step.estimate.coefficients),
                    reference.theta(&best.estimate.coefficients),
                );
                let apart = distance(&own, &other);
                let rounding = 1e-8 / lambda1.sqrt();
                let allowed =
                    radius(step.certificate.gap) + radius(best.certificate.gap) + rounding;
                assert!(apart <= allowed, "{what}: {apart} apart, {allowed} allowed");
                let gap = step.certificate.gap.max(best.certificate.gap)
                    + 1e-13 * (1.0 + step.certificate.objective.abs());
                let differ = (step.certificate.objective - best.certificate.objective).abs();
                assert!(differ <= gap, "{what}: objectives differ by {differ}, gap {gap}");
            }
        }
    }
}

/// Where nearly all factors are non-zero Newton uses a system more than once; steps that these make
/// must lead to the solution all the same, on rows of both signs, too.
#[test]
fn dense_ends_are_those_of_the_dual() {
    for direction in DIRECTIONS {
        let case = Case { direction, ..Case::new(samples_of(24, 40, 45, 7)) };
        let path = |solver| {
            let settings = Settings { tol: 1e-9, ..settings(0.1, down(16, 1e-4), solver) };
            fit(&case.problem(), &settings, &Monitor::new()).unwrap()
        };
        let (newton, dual) = (path(SolverChoice::Auto), path(SolverChoice::Dual));
        let reference = case.reference();
        for (a, b) in newton.steps.iter().zip(&dual.steps) {
            assert_eq!((a.status, b.status), (Status::Converged, Status::Converged));
            let theta = |step: &KliepStep| reference.theta(&step.estimate.coefficients);
            let apart = distance(&theta(a), &theta(b));
            let radius = |step: &KliepStep| (2.0 * step.certificate.gap / 0.1).sqrt();
            assert!(apart <= radius(a) + radius(b) + 1e-7, "{direction:?}: {apart} apart");
            let mean = (a.estimate.mean_score, b.estimate.mean_score);
            assert!((mean.0 - mean.1).abs() <= 1e-4 * mean.1.abs().max(1e-3));
        }
        let last = newton.steps.last().unwrap();
        assert!(last.estimate.coefficients.len() > 290, "not dense");
    }
}
