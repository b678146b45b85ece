//! The number of threads changes nothing, to the last bit.

use crate::common::{cubic, down, penalty_factors, random, samples_of, Case, DIRECTIONS, METHODS};
use kliepnet_core::path::{Grid, Method, Path};

fn with_threads(threads: usize, case: &Case, lambda1: f64, grid: &Grid, method: Method) -> Path {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| case.fit(lambda1, grid.clone(), method))
}

fn assert_same_bits(case: &Case, lambda1: f64, grid: &Grid, method: Method) -> Path {
    let one = with_threads(1, case, lambda1, grid, method);
    assert!(one.steps.iter().any(|step| step.coefficients.len() > 3), "too easy");
    for threads in [2, 3] {
        let more = with_threads(threads, case, lambda1, grid, method);
        assert_eq!(one.lambda_max.to_bits(), more.lambda_max.to_bits());
        assert_eq!(one.steps.len(), more.steps.len());
        for (a, b) in one.steps.iter().zip(&more.steps) {
            assert_eq!(a.coefficients, b.coefficients, "{threads} threads");
            assert_eq!(a.objective.to_bits(), b.objective.to_bits());
            assert_eq!(a.gap.to_bits(), b.gap.to_bits());
            assert_eq!(a.residual.to_bits(), b.residual.to_bits());
            assert_eq!(a.log_normalizer.to_bits(), b.log_normalizer.to_bits());
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
        for method in METHODS {
            assert_same_bits(&case, 0.1, &down(4, 0.2), method);
        }
    }
}

#[test]
fn in_small_problems_of_groups() {
    let case = Case { basis: cubic(), ..Case::new(samples_of(30, 60, 70, 2)) };
    for method in METHODS {
        assert_same_bits(&case, 0.1, &down(4, 0.2), method);
    }
}

#[test]
fn without_ridge() {
    let case = Case::new(samples_of(40, 60, 70, 3));
    assert_same_bits(&case, 0.0, &down(6, 0.6), Method::Auto);
}

#[test]
fn in_the_working_set() {
    for case in [Case::large(4), Case::large_cubic(4)] {
        let path = assert_same_bits(&case, 0.1, &down(6, 0.5), Method::Auto);
        assert!(path.passes > 0, "the working set was not used");
    }
}

#[test]
fn in_the_working_set_with_screening() {
    // More factors than a pass over all of them is cheap for.
    let case = Case::gaussian(700, 50, 5);
    let path = assert_same_bits(&case, 0.1, &down(6, 0.6), Method::Auto);
    assert!(path.passes > 0, "the working set was not used");
}
