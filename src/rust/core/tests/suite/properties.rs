//! What must hold whatever the numbers are.

use crate::cases::reference::{distance, length};
use crate::cases::{
    cubic, down, penalty_factors, random, samples, samples_of, settings, Case, DIRECTIONS, SOLVERS,
};
use kliepnet_core::features::factors::{factor_index, factor_variables};
use kliepnet_core::features::{Basis, Coefficients};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::path::{fit, Grid, KliepPath, SolverChoice};
use kliepnet_core::samples::Standardize;
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;

/// A path to a small gap.
fn solve(case: &Case, lambda1: f64, grid: Grid) -> KliepPath {
    solve_by(case, lambda1, grid, SolverChoice::Auto)
}

fn solve_by(case: &Case, lambda1: f64, grid: Grid, solver: SolverChoice) -> KliepPath {
    let mut settings = settings(lambda1, grid, solver);
    settings.tol = 1e-10;
    fit(&case.problem(), &settings, &Monitor::new()).unwrap()
}

/// Theta in full at every step.
fn thetas(case: &Case, path: &KliepPath) -> Vec<Vec<f64>> {
    let reference = case.reference();
    path.steps.iter().map(|step| reference.theta(&step.estimate.coefficients)).collect()
}

/// How far the thetas of two steps may be apart, given their gaps.
fn allowed(gaps: [f64; 2], lambda1: f64) -> f64 {
    gaps.iter().map(|gap| (2.0 * gap / lambda1).sqrt()).sum::<f64>() + 1e-8
}

fn assert_all_converged(path: &KliepPath, what: &str) {
    for (k, step) in path.steps.iter().enumerate() {
        assert_eq!(step.status, Status::Converged, "{what} step {k}: gap {}", step.certificate.gap);
    }
}

/// Cases for both ways the default solver goes.
fn small_and_large(seed: u64) -> [Case; 2] {
    [Case::gaussian(15, 40, seed), Case::large(seed)]
}

#[test]
fn equal_samples_have_no_change() {
    for case in small_and_large(1) {
        for direction in DIRECTIONS {
            let case = Case { y: case.x.clone(), direction, ..case.clone() };
            let given = Grid::Given(vec![1.0, 0.1, 1e-3, 1e-6]);
            for grid in [given, down(3, 0.1)] {
                for step in case.fit(0.1, grid, SolverChoice::Auto).steps {
                    assert_eq!(step.status, Status::Converged);
                    assert!(
                        step.estimate.coefficients.is_empty(),
                        "{:?}",
                        step.estimate.coefficients
                    );
                    assert_eq!(
                        (step.certificate.objective.abs(), step.certificate.gap),
                        (0.0, 0.0)
                    );
                }
            }
        }
    }
}

#[test]
fn equal_samples_have_no_change_without_ridge() {
    let case = Case::gaussian(15, 40, 1);
    let case = Case { y: case.x.clone(), ..case };
    for solver in [SolverChoice::Auto, SolverChoice::Primal] {
        for step in case.fit(0.0, Grid::Given(vec![1.0, 0.1, 1e-3]), solver).steps {
            assert_eq!(step.status, Status::Converged);
            assert!(step.estimate.coefficients.is_empty());
        }
    }
}

/// Exactly nothing at lambda_max and above, something just below.
fn assert_starts_at_lambda_max(case: &Case, lambda1: f64, solver: SolverChoice, what: &str) {
    let unpenalised = |factor: usize| {
        let (u, v) = factor_variables(factor);
        case.penalty.of(u, v) == 0.0
    };
    let penalised = |coefficients: &Coefficients| {
        coefficients.iter().filter(|(factor, _)| !unpenalised(*factor)).count()
    };
    let largest = case.fit(lambda1, down(1, 1.0), solver).lambda_max;
    let grid = Grid::Given([2.0, 1.0, 0.999].map(|share| share * largest).to_vec());
    // Just below, zero is nearly as good: a loose tolerance would accept it.
    let path = solve_by(case, lambda1, grid, solver);
    assert_eq!(path.lambda_max, largest);
    let counts: Vec<usize> =
        path.steps.iter().map(|step| penalised(&step.estimate.coefficients)).collect();
    assert_eq!(counts[..2], [0, 0], "{what} at lambda_max");
    assert!(counts[2] > 0, "{what} just below lambda_max");
}

#[test]
fn nothing_at_lambda_max_and_something_below() {
    let mut rng = random(2);
    for k in 0..24 {
        let d = 2 + k / 2;
        let case = Case {
            basis: if k % 2 == 0 { Basis::gaussian() } else { cubic() },
            direction: DIRECTIONS[k % 3],
            // All kinds that leave something penalised in, equal ones more often.
            penalty: penalty_factors([0, 2, 3, 4, 0][k % 5], d, &mut rng),
            ..Case::new(samples_of(d, 20 + k, 30 - k, k as u64))
        };
        for solver in SOLVERS {
            assert_starts_at_lambda_max(&case, 0.1, solver, &format!("case {k} {solver:?}"));
        }
        assert_starts_at_lambda_max(
            &case,
            0.0,
            SolverChoice::Auto,
            &format!("case {k} without ridge"),
        );
    }
}

#[test]
fn nothing_at_lambda_max_and_something_below_in_the_working_set() {
    for (seed, case) in [Case::large(3), Case::large_cubic(3)].into_iter().enumerate() {
        for kind in [0, 2, 4] {
            let d = case.x.ncols();
            let penalty = penalty_factors(kind, d, &mut random(seed as u64));
            let case = Case { penalty, ..case.clone() };
            assert_starts_at_lambda_max(&case, 0.1, SolverChoice::Auto, &format!("kind {kind}"));
        }
    }
}

#[test]
fn nothing_penalised_at_lambda_max_beside_unpenalised_factors() {
    for k in 0..6 {
        let penalty = penalty_factors([1, 5][k % 2], 8, &mut random(k as u64));
        let case = Case { penalty, ..Case::gaussian(8, 60, k as u64) };
        // The unpenalised factors are fitted to a tolerance only: lambda_max is one up to that.
        let largest = solve(&case, 0.1, down(1, 1.0)).lambda_max;
        let above = solve(&case, 0.1, Grid::Given(vec![1.001 * largest, 0.99 * largest]));
        let penalised = |coefficients: &Coefficients| {
            let of = |(factor, _): &(usize, &[f64])| {
                let (u, v) = factor_variables(*factor);
                case.penalty.of(u, v) > 0.0
            };
            coefficients.iter().filter(of).count()
        };
        assert_eq!(penalised(&above.steps[0].estimate.coefficients), 0);
        assert!(penalised(&above.steps[1].estimate.coefficients) > 0);
    }
}

#[test]
fn permuted_variables_permute_the_factors() {
    let mut rng = random(4);
    for case in small_and_large(4) {
        let d = case.x.ncols();
        let mut order: Vec<usize> = (0..d).collect();
        order.shuffle(&mut rng);
        let permuted = Case {
            x: case.x.select(Axis(1), &order),
            y: case.y.select(Axis(1), &order),
            ..case.clone()
        };
        let lambda1 = 0.2;
        let (path, other) =
            (solve(&case, lambda1, down(4, 0.5)), solve(&permuted, lambda1, down(4, 0.5)));
        assert!((path.lambda_max - other.lambda_max).abs() <= 1e-12 * path.lambda_max);
        for (step, moved) in path.steps.iter().zip(&other.steps) {
            let mut theta = vec![0.0; d * (d + 1) / 2];
            for (factor, value) in moved.estimate.coefficients.iter() {
                let (u, v) = factor_variables(factor);
                let (u, v) = (order[u].max(order[v]), order[u].min(order[v]));
                theta[factor_index(u, v)] = value[0];
            }
            let mut own = vec![0.0; theta.len()];
            step.estimate.coefficients.iter().for_each(|(factor, value)| own[factor] = value[0]);
            assert!(
                distance(&theta, &own)
                    <= allowed([step.certificate.gap, moved.certificate.gap], lambda1)
            );
        }
    }
}

fn swapped(case: &Case, direction: Direction) -> Case {
    Case { x: case.y.clone(), y: case.x.clone(), direction, ..case.clone() }
}

fn assert_opposite(case: &Case, other: &Case) {
    let lambda1 = 0.2;
    let (path, back) = (solve(case, lambda1, down(4, 0.2)), solve(other, lambda1, down(4, 0.2)));
    let pairs = thetas(case, &path).into_iter().zip(thetas(other, &back));
    for (k, (theta, minus)) in pairs.enumerate() {
        assert!(length(&theta) > 0.0 || k == 0);
        let opposite: Vec<f64> = minus.iter().map(|t| -t).collect();
        let within =
            allowed([path.steps[k].certificate.gap, back.steps[k].certificate.gap], lambda1);
        assert!(distance(&theta, &opposite) <= within, "step {k}");
    }
}

#[test]
fn backward_on_swapped_samples_is_minus_forward() {
    for basis in [Basis::gaussian(), cubic()] {
        let case = Case { basis, ..Case::new(samples_of(8, 25, 40, 5)) };
        assert_opposite(&case, &swapped(&case, Direction::Backward));
    }
}

#[test]
fn symmetric_changes_sign_with_the_samples() {
    for basis in [Basis::gaussian(), cubic()] {
        let direction = Direction::Symmetric;
        let case = Case { basis, direction, ..Case::new(samples_of(8, 25, 40, 6)) };
        assert_opposite(&case, &swapped(&case, direction));
    }
}

/// All solvers converge, and the reference agrees.
fn assert_sound(case: &Case, what: &str) {
    let reference = case.reference();
    for solver in SOLVERS {
        let path = case.fit(0.1, down(6, 0.05), solver);
        assert_all_converged(&path, &format!("{what} {solver:?}"));
        for step in &path.steps {
            let expected =
                reference.certify(&reference.theta(&step.estimate.coefficients), 0.1, step.lambda2);
            let enough = 1e-6 * expected.objective.abs().max(1e-3);
            assert!(
                (step.certificate.objective - expected.objective).abs() <= 1e-12 * expected.scale,
                "{what}"
            );
            assert!(
                step.certificate.gap <= enough && step.certificate.gap >= -1e-15,
                "{what}: {}",
                step.certificate.gap
            );
        }
    }
}

#[test]
fn duplicate_columns_share_alike() {
    let (mut x, mut y) = samples(8, 30, 7);
    for sample in [&mut x, &mut y] {
        let column = sample.column(2).to_owned();
        sample.column_mut(5).assign(&column);
    }
    let case = Case::new((x, y));
    assert_sound(&case, "duplicate columns");
    let path = solve(&case, 0.1, down(4, 0.1));
    // The ridge makes the minimiser unique, so it cannot prefer one of two equal factors.
    for (theta, step) in thetas(&case, &path).iter().zip(&path.steps) {
        for other in [0, 1, 3, 4, 6, 7] {
            let of = |u: usize| theta[factor_index(u.max(other), u.min(other))];
            let within = allowed([step.certificate.gap, step.certificate.gap], 0.1);
            assert!((of(2) - of(5)).abs() <= within, "{} {}", of(2), of(5));
        }
    }
}

#[test]
fn collinear_columns() {
    let (mut x, mut y) = samples(8, 30, 8);
    for sample in [&mut x, &mut y] {
        let sum = &sample.column(1) + &(&sample.column(4) * 2.0);
        sample.column_mut(6).assign(&sum);
        let scaled = &sample.column(3) * -5.0;
        sample.column_mut(7).assign(&scaled);
    }
    assert_sound(&Case::new((x, y)), "collinear columns");
}

#[test]
fn constant_columns_unstandardised() {
    let (mut x, mut y) = samples(8, 30, 9);
    x.column_mut(3).fill(1.0);
    y.column_mut(3).fill(1.0);
    x.column_mut(5).fill(0.0);
    y.column_mut(5).fill(0.0);
    let case = Case { standardize: Standardize::None, ..Case::new((x, y)) };
    assert_sound(&case, "constant columns");
    let path = solve(&case, 0.1, down(4, 0.1));
    for step in &path.steps {
        for (factor, _) in step.estimate.coefficients.iter() {
            let (u, v) = factor_variables(factor);
            assert!(u != 5 && v != 5, "a column of zeros changes nothing");
            assert!((u, v) != (3, 3), "a constant feature cancels");
        }
    }
}

#[test]
fn a_constant_column_in_one_sample_only() {
    let (mut x, y) = samples(6, 30, 10);
    x.column_mut(2).fill(0.5);
    for standardize in [Standardize::None, Standardize::Pooled] {
        let case = Case { standardize, ..Case::new((x.clone(), y.clone())) };
        assert_sound(&case, "constant in one sample");
    }
}

#[test]
fn duplicate_rows_count_twice() {
    let (x, y) = samples(7, 20, 11);
    let twice = |sample: &Array2<f64>| {
        ndarray::concatenate(Axis(0), &[sample.view(), sample.view()]).unwrap()
    };
    let once = Case { standardize: Standardize::None, ..Case::new((x.clone(), y.clone())) };
    let doubled = Case { x: twice(&x), y: twice(&y), ..once.clone() };
    assert_sound(&doubled, "duplicate rows");
    let lambda1 = 0.2;
    let grid = Grid::Given(vec![0.5, 0.2, 0.1]);
    let (path, other) = (solve(&once, lambda1, grid.clone()), solve(&doubled, lambda1, grid));
    let pairs = thetas(&once, &path).into_iter().zip(thetas(&doubled, &other));
    for (k, (theta, same)) in pairs.enumerate() {
        let within =
            allowed([path.steps[k].certificate.gap, other.steps[k].certificate.gap], lambda1);
        assert!(distance(&theta, &same) <= within, "step {k}");
    }
}

#[test]
fn the_smallest_samples() {
    for direction in DIRECTIONS {
        for (d, n_x, n_y) in [(2, 2, 2), (2, 2, 40), (2, 40, 2), (12, 2, 2), (5, 3, 2)] {
            for standardize in [Standardize::Pooled, Standardize::None] {
                let sample = samples_of(d, n_x, n_y, 12);
                let case = Case { direction, standardize, ..Case::new(sample) };
                assert_sound(&case, &format!("d {d} n {n_x} {n_y} {direction:?} {standardize:?}"));
            }
        }
    }
}

#[test]
fn two_rows_each_standardised_within_are_alike() {
    // Two values standardise to plus and minus one half root: every square is the same in both.
    let case = Case::new(samples(3, 2, 13));
    let path = solve(&case, 0.1, down(3, 0.1));
    assert_all_converged(&path, "n = 2");
    for step in &path.steps {
        for (factor, _) in step.estimate.coefficients.iter() {
            let (u, v) = factor_variables(factor);
            assert_ne!(u, v, "squares do not differ");
        }
    }
}

#[test]
fn unpenalised_factors_are_stationary() {
    let lambda1 = 0.1;
    for (k, case) in small_and_large(14).into_iter().enumerate() {
        let kinds: &[usize] = if k == 0 { &[1, 5] } else { &[1] };
        for &kind in kinds {
            let penalty = penalty_factors(kind, case.x.ncols(), &mut random(14));
            let case = Case { penalty, ..case.clone() };
            let reference = case.reference();
            let path = solve(&case, lambda1, down(4, 0.4));
            assert_all_converged(&path, "unpenalised");
            for (step, theta) in path.steps.iter().zip(thetas(&case, &path)) {
                let expected = reference.certify(&theta, lambda1, step.lambda2);
                let mut seen = 0;
                for t in (0..reference.factors()).filter(|t| reference.weight(*t) == 0.0) {
                    let i = reference.span(t).start;
                    // The factor's share of the gap is (xi - lambda1 theta)^2 / (2 lambda1).
                    let within = (2.0 * lambda1 * step.certificate.gap).sqrt() + 1e-10;
                    let off = (expected.xi[i] - lambda1 * theta[i]).abs();
                    assert!(off <= within, "factor {t}: {off}");
                    seen += 1;
                }
                assert!(seen > 0);
            }
        }
    }
}

#[test]
fn excluded_factors_are_never_in() {
    for case in small_and_large(15) {
        let d = case.x.ncols();
        let each = (0..d * (d + 1) / 2).map(|t| if t % 3 == 0 { f64::INFINITY } else { 1.0 });
        let case = Case { penalty: PenaltyFactors::Each(each.collect()), ..case };
        for grid in [down(4, 0.4), Grid::Given(vec![1e-3, 0.0])] {
            if d > 100 && matches!(grid, Grid::Given(_)) {
                continue;
            }
            for solver in SOLVERS {
                if d > 100 && solver != SolverChoice::Auto {
                    continue;
                }
                let path = case.fit(0.5, grid.clone(), solver);
                assert_all_converged(&path, "excluded");
                let last = path.steps.last().unwrap();
                assert!(!last.estimate.coefficients.is_empty());
                for step in &path.steps {
                    assert!(step.estimate.coefficients.iter().all(|(factor, _)| factor % 3 != 0));
                }
            }
        }
    }
}

#[test]
fn no_penalty_but_the_ridge() {
    let case = Case::gaussian(6, 40, 16);
    let reference = case.reference();
    for solver in SOLVERS {
        let path = case.fit(0.3, Grid::Given(vec![0.1, 0.0]), solver);
        assert_all_converged(&path, "lambda2 = 0");
        let step = &path.steps[1];
        assert_eq!(step.estimate.coefficients.len(), reference.factors());
    }
}

#[test]
fn smaller_lambda2_never_raises_the_objective() {
    let path = solve(&Case::gaussian(10, 40, 17), 0.1, down(12, 0.01));
    for pair in path.steps.windows(2) {
        assert!(pair[1].certificate.objective <= pair[0].certificate.objective + 1e-12);
    }
}
