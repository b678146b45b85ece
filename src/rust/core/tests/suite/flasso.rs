//! Fused-lasso regressions: what they report is what they are, whoever computes them.

use crate::cases;
use kliepnet_core::compare::flasso::{fit, FlassoPath};
use kliepnet_core::compare::Moments;
use kliepnet_core::error::Error;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::path::{Grid, Settings};
use ndarray::{array, Array2};

fn gram(sample: &Array2<f64>) -> Array2<f64> {
    sample.t().dot(sample) / sample.nrows() as f64
}

fn settings(lambda1: f64) -> Settings {
    let lambda2 = Grid::Geometric { nlambda: 6, lambda_min_ratio: 0.05 };
    Settings { tol: 1e-8, max_iter: 10_000, ..Settings::new(lambda1, lambda2) }
}

fn path(x: &Array2<f64>, y: &Array2<f64>, settings: &Settings) -> FlassoPath {
    let moments = Moments::new(gram(x).view(), gram(y).view()).unwrap();
    fit(&moments, settings, &Monitor::new()).unwrap()
}

/// Coefficients of all regressions in both samples, a column for each response.
fn coefficients(path: &FlassoPath, step: usize, d: usize) -> [Array2<f64>; 2] {
    let mut both = [Array2::zeros((d, d)), Array2::zeros((d, d))];
    for row in &path.steps[step].estimate.coefficients {
        assert_ne!(row.response, row.predictor);
        both[0][(row.predictor, row.response)] = row.x;
        both[1][(row.predictor, row.response)] = row.y;
    }
    both
}

/// The sum of the objectives from its formula.
fn objective(
    [x, y]: [&Array2<f64>; 2],
    [a, b]: &[Array2<f64>; 2],
    lambda1: f64,
    lambda2: f64,
) -> f64 {
    let loss = |sample: &Array2<f64>, coefficients: &Array2<f64>| {
        let left = sample - &sample.dot(coefficients);
        left.mapv(|value| value * value).sum() / (2.0 * sample.nrows() as f64)
    };
    let size = |matrix: &Array2<f64>| matrix.mapv(f64::abs).sum();
    loss(x, a) + loss(y, b) + lambda1 * (size(a) + size(b)) + lambda2 * size(&(a - b))
}

#[test]
fn the_objective_is_its_formula_and_nothing_near_is_lower() {
    for (lambda1, n) in [(0.1, 30), (0.0, 30), (0.02, 6)] {
        let (x, y) = cases::samples_of(8, n, n + 3, 5);
        let path = path(&x, &y, &settings(lambda1));
        let mut rng = cases::random(9);
        for (k, step) in path.steps.iter().enumerate() {
            assert_eq!(step.status, Status::Converged);
            let fitted = coefficients(&path, k, 8);
            let value = objective([&x, &y], &fitted, lambda1, step.lambda2);
            assert!((value - step.certificate.objective).abs() < 1e-9 * value);
            for size in [1e-4, 1e-2] {
                for _ in 0..20 {
                    let mut near = fitted.clone();
                    for matrix in &mut near {
                        let noise = cases::normals(64, size, &mut rng);
                        let noise = Array2::from_shape_vec((8, 8), noise).unwrap();
                        *matrix += &(noise * (1.0 - Array2::<f64>::eye(8)));
                    }
                    let there = objective([&x, &y], &near, lambda1, step.lambda2);
                    assert!(there > value - 1e-8 * value);
                }
            }
        }
    }
}

#[test]
fn lambda_max_is_where_the_samples_part() {
    for lambda1 in [0.0, 0.05, 0.3] {
        let (x, y) = cases::samples(10, 40, 2);
        let first = path(&x, &y, &settings(lambda1)).lambda_max;
        let lambda2 = Grid::Given(vec![first, 0.999 * first]);
        let near = path(&x, &y, &Settings { lambda2, ..settings(lambda1) });
        let split =
            |k: usize| near.steps[k].estimate.coefficients.iter().filter(|c| c.x != c.y).count();
        assert_eq!(split(0), 0);
        assert!(split(1) > 0);
    }
}

#[test]
fn threads_change_nothing() {
    let (x, y) = cases::samples(12, 20, 4);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| path(&x, &y, &settings(0.05)))
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.lambda_max, three.lambda_max);
    for (a, b) in one.steps.iter().zip(&three.steps) {
        assert_eq!(a.estimate.coefficients, b.estimate.coefficients);
        assert_eq!((a.certificate.kkt, a.iterations), (b.certificate.kkt, b.iterations));
    }
}

#[test]
fn a_constant_column_stays_out_of_it() {
    let (mut x, y) = cases::samples(6, 30, 3);
    x.column_mut(2).fill(0.0);
    for lambda1 in [0.1, 0.0] {
        let path = path(&x, &y, &settings(lambda1));
        for step in &path.steps {
            assert_eq!(step.status, Status::Converged);
            assert!(step
                .estimate
                .coefficients
                .iter()
                .all(|row| row.x.is_finite() && row.y.is_finite()));
        }
    }
}

#[test]
fn strong_correlation_is_no_obstacle() {
    let (x, y) = cases::samples(10, 40, 6);
    let common: Array2<f64> = x.column(0).to_owned().insert_axis(ndarray::Axis(1)) * 8.0;
    let (x, y) = (&x + &common, &y + &common.slice(ndarray::s![..y.nrows(), ..]));
    let path = path(&x, &y, &settings(0.0));
    assert!(path.steps.iter().all(|step| step.status == Status::Converged));
}

#[test]
fn moments_are_checked_and_interrupts_seen() {
    let square = array![[1.0, 0.0], [0.0, 1.0]];
    let other = array![[1.0]];
    assert!(matches!(Moments::new(square.view(), other.view()), Err(Error::Argument(_))));
    let broken = array![[1.0, f64::NAN], [f64::NAN, 1.0]];
    assert!(matches!(Moments::new(square.view(), broken.view()), Err(Error::Argument(_))));
    let (x, y) = cases::samples(6, 30, 3);
    let moments = Moments::new(gram(&x).view(), gram(&y).view()).unwrap();
    let monitor = Monitor::new();
    monitor.cancel();
    assert_eq!(fit(&moments, &settings(0.1), &monitor).unwrap_err(), Error::Interrupted);
}
