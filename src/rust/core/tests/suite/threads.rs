//! The number of threads changes nothing, to the last bit.

use crate::cases::{
    cubic, down, penalty_factors, quartic, random, samples_of, settings, Case, DIRECTIONS, SOLVERS,
};
use kliepnet_core::features::Coefficients;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::{fit, Grid, KliepPath, Normalizer, SolverChoice};

fn with_threads(
    threads: usize,
    case: &Case,
    lambda1: f64,
    grid: &Grid,
    solver: SolverChoice,
) -> KliepPath {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| case.fit(lambda1, grid.clone(), solver))
}

fn assert_same_bits(case: &Case, lambda1: f64, grid: &Grid, solver: SolverChoice) -> KliepPath {
    let one = with_threads(1, case, lambda1, grid, solver);
    assert!(one.steps.iter().any(|step| step.estimate.coefficients.len() > 3), "too easy");
    for threads in [2, 3] {
        let more = with_threads(threads, case, lambda1, grid, solver);
        assert_eq!(one.lambda_max.to_bits(), more.lambda_max.to_bits());
        assert_eq!(one.steps.len(), more.steps.len());
        for (a, b) in one.steps.iter().zip(&more.steps) {
            assert_eq!(a.estimate.coefficients, b.estimate.coefficients, "{threads} threads");
            assert_eq!(a.certificate.objective.to_bits(), b.certificate.objective.to_bits());
            assert_eq!(a.certificate.gap.to_bits(), b.certificate.gap.to_bits());
            assert_eq!(a.certificate.kkt.to_bits(), b.certificate.kkt.to_bits());
            assert_eq!(a.estimate.log_normalizer.to_bits(), b.estimate.log_normalizer.to_bits());
            assert_eq!((a.iterations, a.status), (b.iterations, b.status));
        }
    }
    one
}

#[test]
fn in_small_problems() {
    for (k, direction) in DIRECTIONS.into_iter().enumerate() {
        let penalty = penalty_factors(k + 3, 60, &mut random(1));
        let case = Case { direction, penalty, ..Case::new(samples_of(60, 50, 45, 1)) };
        for solver in SOLVERS {
            assert_same_bits(&case, 0.1, &down(4, 0.2), solver);
        }
    }
}

#[test]
fn in_small_problems_of_groups() {
    let case = Case { basis: cubic(), ..Case::new(samples_of(30, 60, 70, 2)) };
    for solver in SOLVERS {
        assert_same_bits(&case, 0.1, &down(4, 0.2), solver);
    }
}

#[test]
fn in_tall_problems() {
    for direction in DIRECTIONS {
        let case = Case { basis: quartic(), direction, ..Case::new(samples_of(4, 900, 700, 6)) };
        assert_same_bits(&case, 0.1, &down(6, 0.05), SolverChoice::Auto);
    }
}

#[test]
fn without_ridge() {
    let case = Case::new(samples_of(40, 60, 70, 3));
    assert_same_bits(&case, 0.0, &down(6, 0.6), SolverChoice::Auto);
}

#[test]
fn in_the_working_set() {
    for case in [Case::large(4), Case::large_cubic(4)] {
        let path = assert_same_bits(&case, 0.1, &down(6, 0.5), SolverChoice::Auto);
        assert!(path.passes > 0, "the working set was not used");
    }
}

#[test]
fn in_the_working_set_with_screening() {
    // More factors than a pass over all of them is cheap for.
    let case = Case::gaussian(700, 50, 5);
    let path = assert_same_bits(&case, 0.1, &down(6, 0.6), SolverChoice::Auto);
    assert!(path.passes > 0, "the working set was not used");
}

/// Rows of one thread and of three begin elsewhere.
#[test]
fn in_scores() {
    let problem = Case::new(samples_of(9, 203, 150, 4)).problem();
    let mut coefficients = Coefficients::default();
    (0..45).step_by(2).for_each(|factor| coefficients.push(factor, &[0.1 + factor as f64 / 9.0]));
    let scores = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| problem.features.scores(0..203, &coefficients))
    };
    assert_eq!(scores(1), scores(3));
    assert_eq!(scores(1).len(), 203);
}

/// With variables that stay out, whose `xi` comes from single precision first.
#[test]
fn with_the_gaussian_normaliser() {
    let problem = Case::new(samples_of(70, 40, 45, 5)).problem();
    let mut settings = settings(0.1, down(6, 0.6), SolverChoice::Auto);
    settings.normalizer = Normalizer::Gaussian;
    let path = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&problem, &settings, &Monitor::new()).unwrap())
    };
    let (one, more) = (path(1), path(3));
    assert!(one.steps.iter().any(|step| step.estimate.coefficients.len() > 3), "too easy");
    assert_eq!(one.lambda_max.to_bits(), more.lambda_max.to_bits());
    for (a, b) in one.steps.iter().zip(&more.steps) {
        assert_eq!(a.estimate.coefficients, b.estimate.coefficients);
        assert_eq!(a.certificate, b.certificate);
        assert_eq!(a.estimate.mean_score.to_bits(), b.estimate.mean_score.to_bits());
    }
}
