//! `xi` is minus the gradient of the loss, whichever design computes it.

use crate::cases::{cubic, normals, products, quartic, random, samples_of, Case, DIRECTIONS};
use kliepnet_core::design::by_products::ProductDesign;
use kliepnet_core::design::streamed::StreamedDesign;
use kliepnet_core::design::working_set::WorkingSet;
use kliepnet_core::design::Design;
use kliepnet_core::features::Basis;
use kliepnet_core::objective::problem::Problem;

/// A case small enough to differentiate coefficient by coefficient, and a theta for it.
fn cases() -> Vec<(Case, Vec<f64>)> {
    let mut cases = Vec::new();
    for (seed, basis) in [Basis::gaussian(), cubic(), quartic()].into_iter().enumerate() {
        for direction in DIRECTIONS {
            let sample = samples_of(4, 9, 12, 20 + seed as u64);
            let case = Case { basis: basis.clone(), direction, ..Case::new(sample) };
            let size = case.reference().size();
            cases.push((case, normals(size, 0.05, &mut random(seed as u64))));
        }
    }
    cases
}

/// Minus the slope of the loss by central differences.
fn slopes(case: &Case, theta: &[f64]) -> Vec<f64> {
    let reference = case.reference();
    let loss = |i: usize, shift: f64| {
        let mut moved = theta.to_vec();
        moved[i] += shift;
        reference.loss(&moved)
    };
    let step = 1e-5;
    (0..theta.len()).map(|i| (loss(i, -step) - loss(i, step)) / (2.0 * step)).collect()
}

fn assert_is_gradient(xi: &[f64], slopes: &[f64], what: &str) {
    assert_eq!(xi.len(), slopes.len());
    for (i, (xi, slope)) in xi.iter().zip(slopes).enumerate() {
        // Third derivatives times 1e-10, and the rounding of the loss over 1e-5.
        assert!((xi - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{what} {i}: {xi} for {slope}");
    }
}

fn xi_of(design: &dyn Design, problem: &Problem, theta: &[f64]) -> Vec<f64> {
    design.xi(&problem.loss.weights(&design.scores(theta)).alpha)
}

#[test]
fn of_the_reference() {
    for (case, theta) in cases() {
        assert_is_gradient(&case.reference().xi(&theta), &slopes(&case, &theta), "reference");
    }
}

#[test]
fn of_the_streamed_design() {
    for (case, theta) in cases() {
        let problem = case.problem();
        let xi = xi_of(&StreamedDesign::new(&problem), &problem, &theta);
        assert_is_gradient(&xi, &slopes(&case, &theta), "streamed");
    }
}

#[test]
fn of_the_whole_design() {
    for (case, theta) in cases() {
        let problem = case.problem();
        let xi = xi_of(&ProductDesign::new(&problem, products(&problem)), &problem, &theta);
        assert_is_gradient(&xi, &slopes(&case, &theta), "whole");
    }
}

#[test]
fn of_the_working_set() {
    for (case, theta) in cases() {
        let problem = case.problem();
        let mut set = WorkingSet::new(&problem.loss);
        set.activate(&problem, 0..problem.features.factors());
        assert_is_gradient(&xi_of(&set, &problem, &theta), &slopes(&case, &theta), "working set");
    }
}
