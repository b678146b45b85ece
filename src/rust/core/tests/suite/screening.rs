//! Screening by bounds finds what full passes find, and a path with it is the path without.

use crate::cases::reference::distance;
use crate::cases::{cubic, down, normals, products, quartic, random, samples, settings, Case};
use kliepnet_core::design::drift::Drift;
use kliepnet_core::design::scan::{Hit, Query, Scanner};
use kliepnet_core::design::screen::Screen;
use kliepnet_core::features::factors::factor_index;
use kliepnet_core::features::{Basis, Coefficients};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, Grid, SolverChoice};
use rand::Rng;

/// Large enough that the screen keeps a reference; a few values are far out, so that the bound is
/// far above for some variables.
fn with_outliers(seed: u64) -> Case {
    let (mut x, mut y) = samples(600, 50, seed);
    let mut rng = random(seed);
    for _ in 0..20 {
        let at = (rng.random_range(0..50), rng.random_range(0..600));
        x[at] *= 30.0;
        y[at] *= 30.0;
    }
    Case::new((x, y))
}

/// Row weights of fits along a path: they move further and further from the first.
fn weights_along(
    problem: &Problem,
    settings: &kliepnet_core::path::Settings,
) -> Vec<(f64, Vec<f64>)> {
    let path = fit(problem, settings, &Monitor::new()).unwrap();
    let rows = 0..problem.features.rows();
    let weights = |coefficients: &Coefficients| {
        let by_row = problem.features.scores(rows.clone(), coefficients);
        let terms = problem.loss.terms().iter();
        let signed = terms.flat_map(|term| by_row[term.rows.clone()].iter().map(|s| s * term.sign));
        problem.loss.row_weights(&problem.loss.weights(&signed.collect::<Vec<f64>>()).alpha)
    };
    path.steps.iter().map(|step| (step.lambda2, weights(&step.estimate.coefficients))).collect()
}

/// What the screen says is above the level, against a pass over all factors.
fn assert_screened(screen: &mut Screen, problem: &Problem, level: f64, hint: f64, weights: &[f64]) {
    let screened = screen.above(weights, level, hint, &Monitor::new()).unwrap();
    let query = Query { weights, penalty_factor: &problem.penalty_factor, level };
    let scanner = Scanner::new(products(problem));
    let mut all = scanner.all(products(problem), query, &Monitor::new()).unwrap();
    all.sort_unstable_by_key(|hit| hit.variables);
    let above = |hit: &Hit| hit.norm > level * hit.weight;
    let found: Vec<Hit> = screened.iter().copied().filter(above).collect();
    for hit in &screened {
        assert!(hit.norm > hint.min(level) * hit.weight, "below what was asked for");
    }
    // Different sums round differently: who is at the level by a hair does not count.
    let clear = |hit: &&Hit| hit.norm > level * hit.weight * (1.0 + 1e-10);
    for hit in all.iter().filter(clear) {
        let same = found.iter().find(|other| other.variables == hit.variables);
        let same = same.unwrap_or_else(|| panic!("{hit:?} was missed at level {level}"));
        assert!((same.norm - hit.norm).abs() <= 1e-12 * (1.0 + hit.norm));
    }
    for hit in found.iter().filter(clear) {
        assert!(all.iter().any(|other| other.variables == hit.variables), "{hit:?} is not there");
    }
}

fn assert_screened_along(case: &Case, grid: Grid) {
    let problem = case.problem();
    let path = weights_along(&problem, &settings(0.1, grid, SolverChoice::Auto));
    let mut screen = Screen::new(products(&problem), &problem.penalty_factor);
    for (k, (lambda2, weights)) in path.iter().enumerate() {
        let next = path.get(k + 1).map_or(*lambda2, |next| next.0);
        assert_screened(&mut screen, &problem, *lambda2, 2.0 * next - lambda2, weights);
        // Again on the same weights, with the reference just made.
        assert_screened(&mut screen, &problem, 0.97 * lambda2, 0.0, weights);
    }
    let asked = 2 * path.len();
    assert!(screen.passes() < asked, "{} passes for {asked} questions", screen.passes());
}

#[test]
fn along_a_path_with_outliers() {
    assert_screened_along(&with_outliers(1), down(12, 0.4));
}

#[test]
fn along_a_path_with_outliers_of_groups() {
    let case = with_outliers(2);
    assert_screened_along(&Case { basis: cubic(), ..case }, down(8, 0.5));
}

#[test]
fn along_a_path_with_penalty_factors() {
    let mut rng = random(3);
    let mut draw = || match rng.random_range(0..20) {
        0 => 0.0,
        1 => f64::INFINITY,
        _ => rng.random_range(0.5..2.0),
    };
    let mut each: Vec<f64> = (0..600 * 601 / 2).map(|_| draw()).collect();
    // Not so many unpenalised ones that they leave nothing to find.
    let mut kept = 0;
    for weight in each.iter_mut().filter(|weight| **weight == 0.0) {
        kept += 1;
        if kept > 10 {
            *weight = 1.0;
        }
    }
    let case = Case { penalty: PenaltyFactors::Each(each), ..with_outliers(3) };
    assert_screened_along(&case, down(8, 0.5));
}

/// `max_t |xi_t| / w_t` of some hits.
fn largest_ratio(hits: &[Hit]) -> f64 {
    hits.iter().map(Hit::ratio).fold(0.0, f64::max)
}

#[test]
fn at_weights_that_jump() {
    let problem = with_outliers(4).problem();
    let mut screen = Screen::new(products(&problem), &problem.penalty_factor);
    let base = problem.loss.row_weights_at_zero();
    let largest = largest_ratio(&screen.top(&base, &Monitor::new()).unwrap());
    for (k, size) in [1e-4, 1e-3, 1e-2, 1e-3, 0.1, 1e-4].into_iter().enumerate() {
        let noise = normals(base.len(), size / 50.0, &mut random(k as u64));
        let weights: Vec<f64> = base.iter().zip(noise).map(|(c, e)| c + e).collect();
        for level in [0.95, 0.6, 0.8] {
            assert_screened(&mut screen, &problem, level * largest, 0.5 * largest, &weights);
        }
    }
}

#[test]
fn the_largest_is_the_largest() {
    for seed in 5..7 {
        let case = with_outliers(seed);
        let problem = case.problem();
        let mut rng = random(seed);
        let weights = normals(problem.features.rows(), 0.02, &mut rng);
        let top = Screen::new(products(&problem), &problem.penalty_factor)
            .top(&weights, &Monitor::new())
            .unwrap();
        let largest = largest_ratio(&top);
        let reference = case.reference();
        let want = reference.largest_ratio(&reference.xi_of_rows(&weights));
        assert!((largest - want).abs() <= 1e-12 * want, "{largest} for {want}");
    }
}

#[test]
fn the_working_sets_path_is_the_path_over_all_factors() {
    for case in [Case::large(9), Case::large_cubic(9)] {
        let lambda1 = 0.5;
        let problem = case.problem();
        let reference = case.reference();
        let paths = [SolverChoice::Auto, SolverChoice::Primal].map(|solver| {
            let mut settings = settings(lambda1, down(3, 0.6), solver);
            settings.tol = 1e-8;
            fit(&problem, &settings, &Monitor::new()).unwrap()
        });
        assert!(paths[0].passes > 0, "the working set was not used");
        for (active, all) in paths[0].steps.iter().zip(&paths[1].steps) {
            assert_eq!(active.status, Status::Converged);
            assert_eq!(all.status, Status::Converged);
            let (a, b) = (
                reference.theta(&active.estimate.coefficients),
                reference.theta(&all.estimate.coefficients),
            );
            let radius = |gap: f64| (2.0 * gap / lambda1).sqrt();
            let allowed = radius(active.certificate.gap) + radius(all.certificate.gap) + 1e-9;
            assert!(distance(&a, &b) <= allowed, "{} apart", distance(&a, &b));
        }
    }
}

#[test]
fn the_drift_bound_holds_and_is_met_by_copies() {
    for basis in [Basis::gaussian(), cubic(), quartic()] {
        let (mut x, mut y) = samples(12, 20, 11);
        for sample in [&mut x, &mut y] {
            let column = sample.column(4).to_owned();
            sample.column_mut(9).assign(&column);
        }
        let single = basis.pair.len() == 1;
        let case = Case { basis, ..Case::new((x, y)) };
        let (problem, reference) = (case.problem(), case.reference());
        let mixed = normals(problem.features.rows(), 0.1, &mut random(11));
        let positive: Vec<f64> = mixed.iter().map(|delta| delta.abs()).collect();
        for delta in [&mixed, &positive] {
            let drift = Drift::new(products(&problem), delta);
            let norms = reference.norms(&reference.xi_of_rows(delta));
            for (u, v) in (1..12).flat_map(|u| (0..u).map(move |v| (u, v))) {
                let (norm, bound) = (norms[factor_index(u, v)], drift.bound(u, v));
                assert!(norm <= bound * (1.0 + 1e-12), "{u} {v}: {norm} beyond {bound}");
            }
        }
        if single {
            let bound = Drift::new(products(&problem), &positive).bound(9, 4);
            let norm = reference.norms(&reference.xi_of_rows(&positive))[factor_index(9, 4)];
            assert!((norm - bound).abs() <= 1e-12 * bound, "{norm} for {bound}");
        }
    }
}
