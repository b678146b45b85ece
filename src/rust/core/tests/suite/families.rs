//! Families that are not products with squares: radial functions, tables, pairs without singles.

use crate::cases::reference::distance;
use crate::cases::{cubic, down, normals, random, samples_of, settings, Case, DIRECTIONS, SOLVERS};
use kliepnet_core::design::streamed::StreamedDesign;
use kliepnet_core::design::working_set::WorkingSet;
use kliepnet_core::design::Design;
use kliepnet_core::error::{Error, Result};
use kliepnet_core::features::factors::factor_variables;
use kliepnet_core::features::{Basis, Coefficients, Features, Rbf, Table};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, KliepPath, SolverChoice};
use kliepnet_core::samples::{Samples, Standardize};
use std::sync::Arc;

const VARIABLES: usize = 5;
const SIGMA: f64 = 0.8;

/// Two samples of five variables, standardised and stacked.
fn stack(seed: u64) -> Samples {
    let (x, y) = samples_of(VARIABLES, 14, 17, seed);
    Samples::new(x.view(), y.view(), Standardize::Within).unwrap()
}

/// Radial features by their formula.
fn radial_table(samples: Samples) -> Table {
    let rows = samples.rows();
    let values = samples.into_values();
    let (mut table, mut sizes) = (Vec::new(), Vec::new());
    for factor in 0..VARIABLES * (VARIABLES + 1) / 2 {
        let (u, v) = factor_variables(factor);
        sizes.push(usize::from(u != v));
        if u != v {
            let apart = |r: usize| values[u * rows + r] - values[v * rows + r];
            let radial = |r| (-apart(r).powi(2) / (2.0 * SIGMA * SIGMA)).exp();
            table.extend((0..rows).map(radial));
        }
    }
    Table::new(rows, Arc::from(table), &sizes).unwrap()
}

fn problem(features: impl Into<Features>, direction: Direction) -> Problem {
    let factors = VARIABLES * (VARIABLES + 1) / 2;
    let loss = Loss::density_ratio(direction, 14, 17);
    Problem::new(features, loss, PenaltyFactors::Each(vec![1.0; factors])).unwrap()
}

/// The features of a problem of products, stored.
fn table_of(problem: &Problem) -> Table {
    let streamed = StreamedDesign::new(problem);
    let rows = problem.features.rows();
    let (mut values, mut sizes) = (Vec::new(), Vec::new());
    for factor in 0..problem.features.factors() {
        let (u, v) = problem.features.place(factor);
        sizes.push(problem.features.size_of(u, v));
        for k in 0..problem.features.size_of(u, v) {
            let mut theta = vec![0.0; problem.features.size_of(u, v)];
            theta[k] = 1.0;
            let mut unit = Coefficients::default();
            unit.push(factor, &theta);
            values.extend(problem.features.scores(0..rows, &unit));
        }
    }
    assert_eq!(sizes.iter().sum::<usize>(), streamed.linear().len());
    Table::new(rows, Arc::from(values), &sizes).unwrap()
}

fn solve(problem: &Problem, lambda1: f64, solver: SolverChoice) -> KliepPath {
    let mut settings = settings(lambda1, down(4, 0.1), solver);
    settings.tol = 1e-9;
    settings.max_iter = 100_000;
    fit(problem, &settings, &Monitor::new()).unwrap()
}

fn dense(path: &KliepPath, problem: &Problem, step: usize) -> Vec<f64> {
    let streamed = StreamedDesign::new(problem);
    let mut theta = vec![0.0; streamed.linear().len()];
    for (factor, values) in path.steps[step].estimate.coefficients.iter() {
        theta[streamed.span(factor)].copy_from_slice(values);
    }
    theta
}

/// Two paths end where their gaps say they must.
fn assert_same(problem: &Problem, one: &KliepPath, other: &KliepPath, lambda1: f64, what: &str) {
    assert!((one.lambda_max - other.lambda_max).abs() <= 1e-9 * one.lambda_max, "{what}");
    for (k, (a, b)) in one.steps.iter().zip(&other.steps).enumerate() {
        assert_eq!((a.status, b.status), (Status::Converged, Status::Converged), "{what} {k}");
        let (here, there) = (dense(one, problem, k), dense(other, problem, k));
        let apart = distance(&here, &there);
        let allowed = (2.0 * a.certificate.gap / lambda1).sqrt()
            + (2.0 * b.certificate.gap / lambda1).sqrt()
            + 1e-6;
        assert!(apart <= allowed, "{what} {k}: {apart} apart, {allowed} allowed");
    }
    assert!(one.steps.last().unwrap().estimate.coefficients.len() > 1, "{what}: nothing detected");
}

#[test]
fn radial_features_are_their_formula() {
    let (family, formula) = (Rbf::new(stack(1), SIGMA).unwrap(), radial_table(stack(1)));
    for direction in DIRECTIONS {
        let computed = problem(family.clone(), direction);
        let stored = problem(formula.clone(), direction);
        let theta = normals(10, 0.5, &mut random(3));
        let scores = StreamedDesign::new(&computed).scores(&theta);
        assert!(distance(&scores, &StreamedDesign::new(&stored).scores(&theta)) < 1e-12);
        let alpha = computed.loss.weights(&scores).alpha;
        let moments = StreamedDesign::new(&computed).moments(&alpha);
        assert!(distance(&moments, &StreamedDesign::new(&stored).moments(&alpha)) < 1e-12);
    }
}

#[test]
fn xi_is_the_gradient_for_stored_and_radial_features() {
    let features: [Features; 2] =
        [Rbf::new(stack(2), SIGMA).unwrap().into(), radial_table(stack(2)).into()];
    for (features, direction) in features.into_iter().zip(DIRECTIONS) {
        let problem = problem(features, direction);
        let mut set = WorkingSet::new(&problem.loss);
        set.activate(&problem, 0..problem.features.factors());
        let theta = normals(set.linear().len(), 0.5, &mut random(4));
        let loss = |theta: &[f64]| {
            let linear: f64 = set.linear().iter().zip(theta).map(|(g, t)| g * t).sum();
            problem.loss.weights(&StreamedDesign::new(&problem).scores(theta)).log_sums() - linear
        };
        let xi = set.xi(&problem.loss.weights(&set.scores(&theta)).alpha);
        for (i, xi) in xi.iter().enumerate() {
            let (mut up, mut down) = (theta.clone(), theta.clone());
            up[i] += 1e-5;
            down[i] -= 1e-5;
            let slope = (loss(&down) - loss(&up)) / 2e-5;
            assert!((xi - slope).abs() < 1e-7, "{i}: {xi} for {slope}");
        }
    }
}

#[test]
fn three_solvers_agree_on_radial_features() {
    for direction in DIRECTIONS {
        let problem = problem(Rbf::new(stack(5), SIGMA).unwrap(), direction);
        let [auto, primal, dual] = SOLVERS.map(|solver| solve(&problem, 0.1, solver));
        assert_same(&problem, &auto, &primal, 0.1, "primal");
        assert_same(&problem, &auto, &dual, 0.1, "dual");
    }
}

#[test]
fn a_table_of_products_is_the_same_problem() {
    for (seed, basis) in [Basis::gaussian(), cubic()].into_iter().enumerate() {
        let case = Case { basis, ..Case::new(samples_of(VARIABLES, 14, 17, 7 + seed as u64)) };
        let products = case.problem();
        let table = problem(table_of(&products), case.direction);
        for lambda1 in [0.01, 1.0] {
            let [streamed, stored] =
                [&products, &table].map(|problem| solve(problem, lambda1, SOLVERS[0]));
            assert_same(&table, &streamed, &stored, lambda1, "table");
        }
    }
}

#[test]
fn pairs_without_singles_are_solved_by_every_method() {
    let ising = Basis { power: 1.0, pair: vec![(1, 1)], single: vec![] };
    // More factors than rows and fewer: both kinds of Newton system.
    for (d, n) in [(9, 12), (4, 60)] {
        let sample = samples_of(d, n, n, 9);
        let signs = |m: ndarray::Array2<f64>| m.mapv(f64::signum);
        let case = Case {
            basis: ising.clone(),
            standardize: Standardize::None,
            ..Case::new((signs(sample.0), signs(sample.1)))
        };
        let problem = case.problem();
        let solved = SOLVERS.map(|solver| {
            let mut settings = settings(0.01, down(4, 0.05), solver);
            settings.tol = 1e-9;
            settings.max_iter = 100_000;
            fit(&problem, &settings, &Monitor::new()).unwrap()
        });
        assert_same(&problem, &solved[0], &solved[1], 0.01, "primal");
        assert_same(&problem, &solved[0], &solved[2], 0.01, "dual");
    }
}

#[test]
fn wrong_tables_are_refused() {
    let table = |values: Vec<f64>, sizes: &[usize]| Table::new(3, Arc::from(values), sizes);
    let refused = |result: Result<Table>| matches!(result, Err(Error::Argument(_)));
    assert!(refused(table(vec![0.0; 5], &[1, 1])));
    assert!(refused(table(vec![], &[0, 0])));
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let result = table(vec![1.0, 1.0, 1.0, 1.0, bad, 1.0], &[1, 1]);
        assert!(matches!(result, Err(Error::Overflow { first: 1, .. })), "{bad}");
    }
    assert!(Rbf::new(stack(1), 0.0).is_err());
    let loss = Loss::density_ratio(Direction::Forward, 14, 17);
    let by_kind = Problem::new(radial_table(stack(1)), loss, PenaltyFactors::equal());
    assert!(matches!(by_kind, Err(Error::Argument(_))));
}
