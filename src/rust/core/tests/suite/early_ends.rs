//! A path that ends with a number of edges is the beginning of the whole path.

use crate::cases::{cubic, down, settings, Case, DIRECTIONS};
use kliepnet_core::features::factors::factor_variables;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::reweight::PenaltyShape;
use kliepnet_core::path::{fit, KliepPath, Normalizer, Settings, SolverChoice};
use std::collections::BTreeSet;

/// How many edges have been non-zero up to each step.
fn found(path: &KliepPath) -> Vec<usize> {
    let mut edges = BTreeSet::new();
    let mut count = |factors: Vec<usize>| {
        let is_edge = |factor: &usize| {
            let (u, v) = factor_variables(*factor);
            u != v
        };
        edges.extend(factors.into_iter().filter(is_edge));
        edges.len()
    };
    let factors = |k: usize| path.steps[k].estimate.coefficients.iter().map(|(t, _)| t).collect();
    (0..path.steps.len()).map(|k| count(factors(k))).collect()
}

fn assert_beginning(case: &Case, settings: &Settings) {
    let problem = case.problem();
    let whole = fit(&problem, settings, &Monitor::new()).unwrap();
    let counts = found(&whole);
    assert!(counts[counts.len() - 1] > 8, "too easy: {counts:?}");
    for most in [1, 3, 8] {
        let asked = Settings { most_edges: Some(most), ..settings.clone() };
        let part = fit(&problem, &asked, &Monitor::new()).unwrap();
        let last = counts.iter().position(|count| *count >= most).unwrap();
        assert_eq!(part.steps.len(), last + 1, "{most} edges of {counts:?}");
        for (a, b) in part.steps.iter().zip(&whole.steps) {
            assert_eq!(a.lambda2.to_bits(), b.lambda2.to_bits());
            assert_eq!(a.estimate.coefficients, b.estimate.coefficients);
        }
    }
}

#[test]
fn with_every_direction_and_normaliser() {
    for direction in DIRECTIONS {
        let case = Case { direction, ..Case::gaussian(12, 60, 4) };
        let empirical = settings(0.1, down(20, 0.1), SolverChoice::Auto);
        assert_beginning(&case, &empirical);
        assert_beginning(&case, &Settings { normalizer: Normalizer::Gaussian, ..empirical });
    }
}

#[test]
fn with_groups_and_penalties_in_two_stages() {
    let case = Case { basis: cubic(), ..Case::gaussian(10, 80, 5) };
    let plain = settings(0.1, down(20, 0.1), SolverChoice::Auto);
    assert_beginning(&case, &plain);
    let penalty = PenaltyShape::Adaptive { gamma: 1.0, first_share: 0.2 };
    assert_beginning(&case, &Settings { penalty, ..plain });
}
