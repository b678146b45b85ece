//! A level below zero is below every norm.

use crate::common::judge::assert_same_hits;
use crate::common::{normals, products, random, Case};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::scan::{Query, Scanner};

#[test]
fn every_penalised_factor_is_above_a_negative_level() {
    let case = Case::gaussian(10, 20, 1);
    let (problem, judge) = (case.problem(), case.judge());
    let weights = normals(problem.features.rows(), 0.01, &mut random(1));
    let query = Query { weights: &weights, penalty: &problem.penalty, level: -1.0 };
    let hits = Scanner::new(products(&problem)).all(products(&problem), query, &Monitor::new());
    assert_same_hits(&hits.unwrap(), &judge.above(&weights, -1.0), &judge, -1.0, "below zero");
}
