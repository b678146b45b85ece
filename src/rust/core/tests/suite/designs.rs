//! Three ways to look at all factors, and the pass over them, say the same.

use crate::cases::reference::{assert_same_hits, Reference};
use crate::cases::{
    cubic, normals, penalty_factors, products, quartic, random, samples_of, Case, DIRECTIONS,
};
use kliepnet_core::design::by_products::ProductDesign;
use kliepnet_core::design::scan::{Query, Scanner};
use kliepnet_core::design::streamed::StreamedDesign;
use kliepnet_core::design::working_set::WorkingSet;
use kliepnet_core::design::{Design, DualPoint, RowDesign};
use kliepnet_core::features::{Basis, Coefficients};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::penalty::Lambda;
use kliepnet_core::objective::problem::Problem;
use rand::seq::SliceRandom;

/// No pair of single features, powers that differ, no singles at all, a transform.
fn odd_bases() -> Vec<Basis> {
    vec![
        Basis { power: 1.0, pair: vec![(1, 1)], single: vec![] },
        Basis { power: 1.0, pair: vec![(3, 1), (0, 2)], single: vec![1, 4] },
        Basis { power: 0.5, pair: vec![(1, 1)], single: vec![2] },
    ]
}

/// Cases of every basis, direction and kind of penalty; sizes that fill no tile and some that do.
fn cases() -> Vec<Case> {
    let mut rng = random(3);
    let mut bases = vec![Basis::gaussian(), cubic(), quartic()];
    bases.extend(odd_bases());
    let sizes = [1, 2, 3, 7, 8, 9, 23, 24, 25, 31, 47, 48, 49, 60];
    let mut cases = Vec::new();
    for (k, d) in sizes.into_iter().enumerate() {
        for (b, basis) in bases.iter().enumerate() {
            let (n_x, n_y) = [(5, 9), (17, 8), (12, 33)][(k + b) % 3];
            let sample = samples_of(d, n_x, n_y, (10 * k + b) as u64);
            let direction = DIRECTIONS[(k + 2 * b) % 3];
            let penalty = penalty_factors(k + b, d, &mut rng);
            let basis = basis.clone();
            cases.push(Case { basis, direction, penalty, ..Case::new(sample) });
        }
    }
    cases
}

fn assert_close(got: &[f64], want: &[f64], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let size = want.iter().fold(1.0, |top: f64, w| top.max(w.abs()));
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got - want).abs() <= 1e-11 * size, "{what} {i}: {got} for {want}");
    }
}

/// Random positive weights, each term's summing to one.
fn random_alpha(problem: &Problem, seed: u64) -> Vec<f64> {
    let scores = normals(problem.loss.scores(), 1.0, &mut random(seed));
    problem.loss.weights(&scores).alpha
}

/// Coefficients of which most are zero, as solvers have them.
fn random_theta(size: usize, seed: u64) -> Vec<f64> {
    let mut theta = normals(size, 0.3, &mut random(seed));
    theta.iter_mut().for_each(|t| *t = (t.abs() - 0.3).max(0.0) * t.signum());
    theta
}

/// The scored rows of the stack, term after term, with the terms' signs.
fn signed_rows(problem: &Problem, by_row: &[f64]) -> Vec<f64> {
    let term = |term: &kliepnet_core::objective::loss::Term| {
        let sign = term.sign;
        by_row[term.rows.clone()].iter().map(move |s| sign * s).collect::<Vec<f64>>()
    };
    problem.loss.terms().iter().flat_map(term).collect()
}

#[test]
fn streamed_and_reference_agree() {
    for (k, case) in cases().iter().enumerate() {
        let (problem, reference) = (case.problem(), case.reference());
        let streamed = StreamedDesign::new(&problem);
        let theta = random_theta(reference.size(), k as u64);
        let scores = signed_rows(&problem, &reference.scores(&theta));
        assert_close(&streamed.scores(&theta), &scores, "scores");
        let alpha = random_alpha(&problem, k as u64);
        let weights = problem.loss.row_weights(&alpha);
        assert_close(&streamed.xi(&alpha), &reference.xi_of_rows(&weights), "xi");
        for t in 0..reference.factors() {
            assert_eq!(streamed.span(t), reference.span(t));
            assert_eq!(streamed.weight(t), reference.weight(t));
        }
    }
}

#[test]
fn scores_of_few_factors_are_those_of_theta() {
    for (k, case) in cases().iter().enumerate() {
        let (problem, reference) = (case.problem(), case.reference());
        let theta = random_theta(reference.size(), k as u64);
        let rows = problem.features.rows();
        // In the order of a path, and in any.
        let mut factors: Vec<usize> = (0..reference.factors()).step_by(1 + k % 3).collect();
        for _ in 0..2 {
            let mut few = Coefficients::default();
            factors.iter().for_each(|t| few.push(*t, &theta[reference.span(*t)]));
            let scores = reference.scores(&reference.theta(&few));
            assert_close(&problem.features.scores(0..rows, &few), &scores, "scores");
            let part = rows / 3..rows;
            assert_close(&problem.features.scores(part.clone(), &few), &scores[part], "part");
            factors.shuffle(&mut random(k as u64));
        }
    }
}

fn assert_like_streamed(design: &dyn RowDesign, problem: &Problem, seed: u64, what: &str) {
    let streamed = StreamedDesign::new(problem);
    assert_eq!(design.groups(), streamed.groups());
    let theta = random_theta(streamed.linear().len(), seed);
    let alpha = random_alpha(problem, seed);
    assert_close(design.linear(), streamed.linear(), what);
    assert_close(&design.scores(&theta), &streamed.scores(&theta), what);
    assert_close(&design.moments(&alpha), &streamed.moments(&alpha), what);
    let mut row = vec![0.0; design.width()];
    for group in 0..design.groups() {
        assert_eq!(design.span(group), streamed.span(group));
        assert_eq!(design.weight(group), streamed.weight(group));
        for (id, coefficient) in design.row_ids(group).zip(design.span(group)) {
            let mut unit = vec![0.0; theta.len()];
            unit[coefficient] = 1.0;
            design.copy_row(id, 0..row.len(), &mut row);
            assert_close(&row, &streamed.scores(&unit), what);
        }
    }
}

#[test]
fn whole_and_streamed_agree() {
    for (k, case) in cases().iter().enumerate().filter(|(_, case)| case.x.ncols() < 32) {
        let problem = case.problem();
        assert_like_streamed(
            &ProductDesign::new(&problem, products(&problem)),
            &problem,
            k as u64,
            "whole",
        );
    }
}

#[test]
fn working_set_and_streamed_agree() {
    for (k, case) in cases().iter().enumerate().filter(|(_, case)| case.x.ncols() < 32) {
        let problem = case.problem();
        let mut set = WorkingSet::new(&problem.loss);
        set.activate(&problem, 0..problem.features.factors());
        assert_like_streamed(&set, &problem, k as u64, "working set");
    }
}

#[test]
fn a_working_set_keeps_its_factors_apart_through_changes() {
    let case = Case { basis: cubic(), ..Case::new(samples_of(9, 20, 25, 4)) };
    let problem = case.problem();
    let streamed = StreamedDesign::new(&problem);
    let alpha = random_alpha(&problem, 4);
    let moments = streamed.moments(&alpha);
    let mut set = WorkingSet::new(&problem.loss);
    let mut rng = random(4);
    for round in 0..30 {
        let mut factors: Vec<usize> = (0..problem.features.factors()).collect();
        factors.shuffle(&mut rng);
        if round % 7 == 6 {
            set.clear();
        }
        if round % 3 == 2 {
            set.extend(&problem, factors[..5].iter().copied());
        } else {
            set.activate(&problem, factors[..5 + round].iter().copied());
        }
        let active: Vec<usize> = set.factors().collect();
        let want: Vec<f64> =
            active.iter().flat_map(|t| moments[streamed.span(*t)].to_vec()).collect();
        assert_close(&set.moments(&alpha), &want, "moments");
        assert_eq!(set.coefficients(), want.len());
        assert!((0..problem.features.factors()).all(|t| set.contains(t) == active.contains(&t)));
    }
}

/// `DualPoint` by its definition.
fn dual_point(
    reference: &Reference,
    problem: &Problem,
    lambda: Lambda,
    alpha: &[f64],
) -> DualPoint {
    let xi = reference.xi_of_rows(&problem.loss.row_weights(alpha));
    let mut theta = vec![0.0; xi.len()];
    let mut conjugate = 0.0;
    for (t, size) in reference.norms(&xi).into_iter().enumerate() {
        let level = lambda.lambda2 * reference.weight(t);
        if size > level {
            conjugate += (size - level).powi(2) / (2.0 * lambda.lambda1);
            for i in reference.span(t) {
                theta[i] = (1.0 - level / size) * xi[i] / lambda.lambda1;
            }
        }
    }
    let fitted = signed_rows(problem, &reference.scores(&theta));
    DualPoint { xi, theta, fitted, conjugate }
}

fn assert_dual_point(design: &dyn RowDesign, case: &Case, problem: &Problem, seed: u64) {
    let reference = case.reference();
    let alpha = random_alpha(problem, seed);
    let largest = reference.largest_ratio(&reference.xi_of_rows(&problem.loss.row_weights(&alpha)));
    for share in [0.0, 0.3, 0.9, 1.1] {
        // A level of its own for factors at the threshold: rounding must not decide.
        let group = if largest > 0.0 { share * largest } else { 0.1 };
        if group == 0.0 && (0..reference.factors()).any(|t| reference.weight(t).is_infinite()) {
            continue;
        }
        let lambda = Lambda { lambda1: 0.2, lambda2: group };
        let want = dual_point(&reference, problem, lambda, &alpha);
        let got = design.dual_point(lambda, design.linear(), &alpha);
        assert_close(&got.xi, &want.xi, "xi");
        assert_close(&got.theta, &want.theta, "theta");
        assert_close(&got.fitted, &want.fitted, "fitted");
        let close = (got.conjugate - want.conjugate).abs() <= 1e-11 * (1.0 + want.conjugate);
        assert!(close, "conjugate {} for {}", got.conjugate, want.conjugate);
    }
}

#[test]
fn dual_points_are_as_defined() {
    for (k, case) in cases().iter().enumerate().filter(|(_, case)| case.x.ncols() < 32) {
        let problem = case.problem();
        assert_dual_point(
            &ProductDesign::new(&problem, products(&problem)),
            case,
            &problem,
            k as u64,
        );
        let mut set = WorkingSet::new(&problem.loss);
        set.activate(&problem, 0..problem.features.factors());
        assert_dual_point(&set, case, &problem, k as u64);
    }
}

#[test]
fn a_pass_reports_what_is_above_the_level() {
    for (k, case) in cases().iter().enumerate() {
        let (problem, reference) = (case.problem(), case.reference());
        let scanner = Scanner::new(products(&problem));
        // Any weights of both signs, not only those of some alpha.
        let weights = normals(problem.features.rows(), 0.1, &mut random(k as u64));
        let largest = reference.largest_ratio(&reference.xi_of_rows(&weights));
        for share in [0.0, 0.1, 0.7, 1.1] {
            let level = share * largest;
            let query = Query { weights: &weights, penalty_factor: &problem.penalty_factor, level };
            let hits = scanner.all(products(&problem), query, &Monitor::new()).unwrap();
            for hit in &hits {
                assert_eq!(hit.weight, reference.weight(hit.factor()));
            }
            let what = format!("case {k} level {level}");
            assert_same_hits(&hits, &reference.above(&weights, level), &reference, level, &what);
        }
    }
}
