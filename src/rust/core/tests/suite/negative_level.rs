//! A level below zero is below every norm.

use crate::cases::reference::assert_same_hits;
use crate::cases::{normals, products, random, Case};
use kliepnet_core::design::scan::{Query, Scanner};
use kliepnet_core::monitor::Monitor;

#[test]
fn every_penalised_factor_is_above_a_negative_level() {
    let case = Case::gaussian(10, 20, 1);
    let (problem, reference) = (case.problem(), case.reference());
    let weights = normals(problem.features.rows(), 0.01, &mut random(1));
    let query = Query { weights: &weights, penalty_factor: &problem.penalty_factor, level: -1.0 };
    let hits = Scanner::new(products(&problem)).all(products(&problem), query, &Monitor::new());
    assert_same_hits(
        &hits.unwrap(),
        &reference.above(&weights, -1.0),
        &reference,
        -1.0,
        "below zero",
    );
}
