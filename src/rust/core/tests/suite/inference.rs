//! Debiased estimates: rows of the inverse Hessian and estimates checked by plain dense arithmetic.

use crate::cases::{cubic, products, random, samples_of, Case};
use kliepnet_core::error::{Error, Result};
use kliepnet_core::features::factors::{factor_index, factor_variables};
use kliepnet_core::features::{Basis, Coefficients};
use kliepnet_core::inference::debias::{infer, DebiasSettings, EdgeStatus, Estimator, Inference};
use kliepnet_core::inference::hessian::{FactorScan, Hessian};
use kliepnet_core::inference::inverse_row::{inverse_row, InverseRow, RowStatus};
use kliepnet_core::inference::sample::Sample;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::samples::Standardize;
use ndarray::{Array1, Array2, Axis};
use rand::Rng;

/// The features of x and of y, one column for each factor, by their formula.
struct Dense {
    x: Array2<f64>,
    y: Array2<f64>,
}

impl Dense {
    fn new(case: &Case) -> Self {
        let problem = case.problem();
        let products = products(&problem);
        let n = case.x.nrows();
        let all = Array2::from_shape_fn((products.rows(), products.factors()), |(row, factor)| {
            let (u, v) = factor_variables(factor);
            if u == v && products.basis().single.is_empty() {
                return 0.0;
            }
            products.column(1, u)[row] * products.column(1, v)[row]
        });
        let (x, y) = all.view().split_at(Axis(0), n);
        Self { x: x.to_owned(), y: y.to_owned() }
    }

    fn alpha(&self, theta: &Array1<f64>) -> Array1<f64> {
        let weights = self.y.dot(theta).mapv(f64::exp);
        &weights / weights.sum()
    }

    fn hessian(&self, alpha: &Array1<f64>) -> Array2<f64> {
        let mean = alpha.dot(&self.y);
        let centred = &self.y - &mean;
        let weighted = &centred * &alpha.view().insert_axis(Axis(1));
        centred.t().dot(&weighted)
    }

    fn gradient(&self, alpha: &Array1<f64>) -> Array1<f64> {
        alpha.dot(&self.y) - self.x.sum_axis(Axis(0)) / self.x.nrows() as f64
    }
}

fn ising() -> Basis {
    Basis { power: 1.0, pair: vec![(1, 1)], single: vec![] }
}

/// Signs that hang together along a chain, more strongly in the second sample.
fn signs(d: usize, n_x: usize, n_y: usize, seed: u64) -> Case {
    let mut rng = random(seed);
    let mut draw = |n: usize, keep: f64| {
        let mut sample = Array2::zeros((n, d));
        for mut row in sample.rows_mut() {
            let mut sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
            for value in &mut row {
                if rng.random_bool(1.0 - keep) {
                    sign = -sign;
                }
                *value = sign;
            }
        }
        sample
    };
    let samples = (draw(n_x, 0.6), draw(n_y, 0.7));
    Case { standardize: Standardize::None, basis: ising(), ..Case::new(samples) }
}

fn gaussian(d: usize, n: usize, seed: u64) -> Case {
    Case::new(samples_of(d, n, n + 30, seed))
}

fn settings(estimator: Estimator, refit: bool) -> DebiasSettings {
    DebiasSettings {
        lambda: 2.5,
        row_lambda: 0.15,
        estimator,
        refit,
        within: false,
        tol: 1e-8,
        max_iter: 10_000,
        n_boot: 200,
        seed: 7,
    }
}

fn run(case: &Case, factors: &[usize], settings: &DebiasSettings) -> Result<Inference> {
    infer(case.problem(), factors, settings, &Monitor::new())
}

fn edges(d: usize) -> Vec<usize> {
    (1..d).flat_map(|u| (0..u).map(move |v| factor_index(u, v))).collect()
}

/// Some weights of y that are not all alike.
fn weights(case: &Case, sample: &Sample<'_>) -> Vec<f64> {
    let mut theta = Coefficients::default();
    theta.push(factor_index(1, 0), &[0.4]);
    theta.push(factor_index(3, 1), &[-0.3]);
    assert_eq!(sample.y.len(), case.y.nrows());
    sample.weights(&theta).alpha
}

/// The optimality conditions of a row, by their formula.
fn assert_row(row: &InverseRow, hessian: &Array2<f64>, lambda: f64, what: &str) {
    assert_eq!(row.status, RowStatus::Converged, "{what}");
    let mut omega = Array1::zeros(hessian.nrows());
    row.factors.iter().zip(&row.penalised).for_each(|(factor, value)| omega[*factor] = *value);
    let product = hessian.dot(&omega);
    let sigma = omega.dot(&product).sqrt();
    assert!((sigma / row.sigma - 1.0).abs() < 1e-7, "{what}: {sigma} {}", row.sigma);
    let level = lambda * sigma;
    for (factor, value) in product.iter().enumerate() {
        let violation = if factor == row.factors[0] {
            (value - 1.0).abs()
        } else if omega[factor] != 0.0 {
            (value + level * omega[factor].signum()).abs()
        } else {
            (value.abs() - level).max(0.0)
        };
        assert!(violation <= 2e-8 * level, "{what}: {factor} off by {violation}");
    }
    // And without the penalty: H_SS omega_S = e_k.
    let values = row.values.as_ref().unwrap();
    for (i, row_factor) in row.factors.iter().enumerate() {
        let entries = row.factors.iter().zip(values);
        let sum: f64 = entries.map(|(f, value)| hessian[[*row_factor, *f]] * value).sum();
        assert!((sum - f64::from(u8::from(i == 0))).abs() < 1e-8, "{what}");
    }
}

#[test]
fn rows_are_optimal_stored_or_not() {
    for (case, what) in [(signs(9, 80, 120, 1), "signs"), (gaussian(7, 60, 2), "gaussian")] {
        let problem = case.problem();
        let sample = Sample::new(&problem).unwrap();
        let alpha = weights(&case, &sample);
        let hessian = Dense::new(&case).hessian(&Array1::from(alpha.clone()));
        let monitor = Monitor::new();
        let scan = FactorScan::new(&sample);
        let stored = Hessian::stored(&sample, &alpha, &monitor).unwrap();
        let streamed = Hessian::streamed(&sample, &alpha, &scan);
        for factor in edges(case.x.ncols()) {
            for lambda in [0.05, 0.2, 0.6] {
                let find = |hessian| inverse_row(hessian, factor, lambda, 1e-8, &monitor).unwrap();
                let (one, other) = (find(&stored), find(&streamed));
                assert_row(&one, &hessian, lambda, what);
                assert_row(&other, &hessian, lambda, what);
                assert_eq!(one.factors.len(), other.factors.len(), "{what}");
            }
        }
    }
}

/// Theta on all factors from the first stage.
fn spread(theta: &Coefficients, count: usize) -> Array1<f64> {
    let mut all = Array1::zeros(count);
    theta.iter().for_each(|(factor, value)| all[factor] = value[0]);
    all
}

#[test]
fn one_step_is_a_newton_step_from_the_first_estimate() {
    let case = signs(8, 150, 200, 3);
    let settings = settings(Estimator::OneStep, false);
    let result = run(&case, &edges(8), &settings).unwrap();
    assert_eq!(result.status, Status::Converged);
    assert!(!result.theta.is_empty());
    let dense = Dense::new(&case);
    let theta = spread(&result.theta, dense.y.ncols());
    let alpha = dense.alpha(&theta);
    let gradient = dense.gradient(&alpha);
    let problem = case.problem();
    let sample = Sample::new(&problem).unwrap();
    let weights = alpha.to_vec();
    let monitor = Monitor::new();
    let hessian = Hessian::stored(&sample, &weights, &monitor).unwrap();
    for edge in &result.edges {
        assert_eq!(edge.status, EdgeStatus::Estimated);
        let row = inverse_row(&hessian, edge.factor, 0.15, 1e-10, &monitor).unwrap();
        let mut omega = Array1::zeros(theta.len());
        row.factors.iter().zip(&row.penalised).for_each(|(f, value)| omega[*f] = *value);
        let expected = theta[edge.factor] - omega.dot(&gradient);
        assert!((edge.estimate - expected).abs() < 1e-6);
        // The sum of squared influences, each by its formula.
        let (v_x, v_y) = (dense.x.dot(&omega), dense.y.dot(&omega));
        let (n, mean, centre) = (v_x.len() as f64, v_x.mean().unwrap(), v_y.dot(&alpha));
        let square = v_x.mapv(|v| ((v - mean) / n).powi(2)).sum()
            + v_y.iter().zip(&alpha).map(|(v, a)| (a * (v - centre)).powi(2)).sum::<f64>();
        assert!((edge.error - square.sqrt()).abs() < 1e-6);
    }
}

#[test]
fn both_estimators_are_the_full_fit_when_nothing_is_penalised() {
    let case = signs(5, 300, 300, 4);
    let dense = Dense::new(&case);
    let factors = edges(5);
    let results: Vec<Inference> = [Estimator::OneStep, Estimator::DoubleSelection]
        .map(|estimator| DebiasSettings {
            lambda: 1e-4,
            row_lambda: 1e-4,
            ..settings(estimator, true)
        })
        .iter()
        .map(|settings| run(&case, &factors, settings).unwrap())
        .collect();
    let mut theta = Array1::zeros(dense.y.ncols());
    for (one, other) in results[0].edges.iter().zip(&results[1].edges) {
        assert!((one.estimate - other.estimate).abs() < 1e-7);
        assert!((one.error - other.error).abs() < 1e-7);
        theta[other.factor] = other.estimate;
    }
    let gradient = dense.gradient(&dense.alpha(&theta));
    for factor in factors {
        assert!(gradient[factor].abs() < 1e-7);
    }
}

#[test]
fn few_edges_and_threads_change_nothing() {
    let case = gaussian(8, 90, 5);
    let factors = edges(8);
    for estimator in [Estimator::OneStep, Estimator::DoubleSelection] {
        for refit in [false, true] {
            let settings = DebiasSettings { within: true, ..settings(estimator, refit) };
            let all = run(&case, &factors, &settings).unwrap();
            let alone = run(&case, &factors[3..4], &settings).unwrap();
            assert!((all.edges[3].estimate - alone.edges[0].estimate).abs() < 1e-7);
            assert!((all.edges[3].error - alone.edges[0].error).abs() < 1e-7);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let on_three = pool.install(|| run(&case, &factors, &settings).unwrap());
            for (one, three) in all.edges.iter().zip(&on_three.edges) {
                assert_eq!(one.estimate.to_bits(), three.estimate.to_bits());
            }
            assert_eq!(all.maxima, on_three.maxima);
        }
    }
}

#[test]
fn maxima_have_the_spread_of_the_errors() {
    // Of one edge alone, the largest error is the size of a normal number times its error.
    let case = signs(6, 200, 200, 6);
    let settings = DebiasSettings { n_boot: 20_000, ..settings(Estimator::OneStep, true) };
    let one = run(&case, &edges(6)[..1], &settings).unwrap();
    let square = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
    // The mean square of a normal number over 20,000 draws is within five of its errors, 0.01.
    assert!((square(&one.maxima.studentised) - 1.0).abs() < 0.05);
    let error = one.edges[0].error;
    for (plain, studentised) in one.maxima.plain.iter().zip(&one.maxima.studentised) {
        assert!((plain - error * studentised).abs() < 1e-12);
    }
    // More edges can only make it larger.
    let all = run(&case, &edges(6), &settings).unwrap();
    let pairs = one.maxima.plain.iter().zip(&all.maxima.plain);
    assert!(pairs.clone().all(|(few, many)| few <= many) && pairs.clone().any(|(a, b)| a < b));
}

#[test]
fn what_cannot_be_estimated_says_why() {
    let mut case = signs(5, 100, 100, 7);
    let first = case.y.column(0).to_owned();
    case.y.column_mut(1).assign(&first);
    let settings = DebiasSettings { lambda: 1e3, ..settings(Estimator::OneStep, false) };
    let result = run(&case, &edges(5), &settings).unwrap();
    let status = |u, v| {
        let at = result.edges.iter().find(|edge| edge.factor == factor_index(u, v));
        at.map(|edge| edge.status).unwrap()
    };
    assert_eq!(status(1, 0), EdgeStatus::Constant);
    // Two features that are one cannot be told apart.
    assert_eq!(status(2, 0), EdgeStatus::NoRow);
    assert_eq!(status(4, 3), EdgeStatus::Estimated);
    assert!(result.maxima.plain.iter().all(|value| value.is_finite()));
    // One variable always equals another in x: without a penalty their edge has no end.
    let mut case = signs(5, 100, 100, 8);
    let first = case.x.column(0).to_owned();
    case.x.column_mut(1).assign(&first);
    for (estimator, row_lambda) in [
        (Estimator::OneStep, 0.2),
        (Estimator::DoubleSelection, 0.2),
        // With others in its support that have an end.
        (Estimator::DoubleSelection, 0.02),
    ] {
        let refit = estimator == Estimator::OneStep;
        let settings = DebiasSettings { estimator, row_lambda, refit, ..settings.clone() };
        let result = run(&case, &edges(5)[..1], &settings).unwrap();
        assert_eq!(result.edges[0].status, EdgeStatus::NoRefit);
        assert!(result.edges[0].estimate.is_nan() && result.edges[0].error.is_nan());
    }
}

#[test]
fn a_first_stage_without_minimum_says_so() {
    let case = signs(8, 20, 20, 9);
    let settings = DebiasSettings { lambda: 1e-3, ..settings(Estimator::OneStep, true) };
    let result = run(&case, &edges(8), &settings).unwrap();
    assert_eq!(result.status, Status::Unbounded);
    assert!(result.edges.is_empty() && result.theta.is_empty());
    assert!(result.largest > 1.0);
}

#[test]
fn what_inference_is_not_for_is_refused() {
    let refused = |case: &Case, factors: &[usize]| {
        let settings = settings(Estimator::OneStep, true);
        matches!(run(case, factors, &settings), Err(Error::Argument(_)))
    };
    let case = gaussian(4, 30, 1);
    assert!(refused(&Case { basis: cubic(), ..case.clone() }, &[1]));
    assert!(refused(&Case { direction: Direction::Symmetric, ..case.clone() }, &[1]));
    assert!(refused(&Case { direction: Direction::Backward, ..case.clone() }, &[1]));
    assert!(refused(&case, &[factor_index(4, 0)]));
    assert!(refused(&signs(4, 30, 30, 1), &[factor_index(2, 2)]));
}

#[test]
fn a_cancelled_monitor_ends_it() {
    let monitor = Monitor::new();
    monitor.cancel();
    let settings = settings(Estimator::OneStep, true);
    let ended = infer(gaussian(5, 30, 1).problem(), &edges(5), &settings, &monitor);
    assert!(matches!(ended, Err(Error::Interrupted)));
}
