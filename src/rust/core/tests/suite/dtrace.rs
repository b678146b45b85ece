//! The D-trace loss: solutions by their optimality condition, in plain matrices.

use crate::cases;
use kliepnet_core::compare::dtrace::{fit, DtracePath};
use kliepnet_core::compare::Moments;
use kliepnet_core::error::Error;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::path::{Grid, Settings};
use ndarray::Array2;

fn gram(sample: &Array2<f64>) -> Array2<f64> {
    sample.t().dot(sample) / sample.nrows() as f64
}

fn settings(lambda_min_ratio: f64) -> Settings {
    let lambda2 = Grid::Geometric { nlambda: 8, lambda_min_ratio };
    Settings { tol: 1e-8, ..Settings::new(0.0, lambda2) }
}

fn path(s: &Array2<f64>, t: &Array2<f64>, settings: &Settings) -> DtracePath {
    fit(&Moments::new(s.view(), t.view()).unwrap(), settings, &Monitor::new()).unwrap()
}

fn matrix(path: &DtracePath, step: usize, d: usize) -> Array2<f64> {
    let mut full = Array2::zeros((d, d));
    for entry in &path.steps[step].estimate {
        assert!(entry.row >= entry.column && entry.value != 0.0);
        full[(entry.row, entry.column)] = entry.value;
        full[(entry.column, entry.row)] = entry.value;
    }
    full
}

/// Objective and worst violation of the optimality condition, from their formulas.
fn reference(s: &Array2<f64>, t: &Array2<f64>, delta: &Array2<f64>, lambda: f64) -> (f64, f64) {
    let product = s.dot(delta).dot(t);
    let slope = (&product + &product.t()) * 0.5 - (s - t);
    let trace = |a: &Array2<f64>, b: &Array2<f64>| (a * &b.t()).sum();
    let objective = 0.5 * trace(delta, &product.t().to_owned()) - trace(delta, &(s - t))
        + lambda * delta.mapv(f64::abs).sum();
    let off = slope.iter().zip(delta).map(|(g, value)| {
        if *value == 0.0 {
            (g.abs() - lambda).max(0.0)
        } else {
            (g + lambda * value.signum()).abs()
        }
    });
    (objective, off.fold(0.0, f64::max))
}

#[test]
fn every_step_satisfies_the_optimality_condition() {
    // Few pairs, nearly all pairs, more tiles than one, and a singular matrix.
    for (d, n, ratio) in [(6, 40, 0.01), (30, 60, 0.05), (61, 200, 0.3), (30, 25, 0.4)] {
        let (x, y) = cases::samples_of(d, n, n + 9, 8);
        let (s, t) = (gram(&x), gram(&y));
        let path = path(&s, &t, &settings(ratio));
        for (k, step) in path.steps.iter().enumerate() {
            assert_eq!(step.status, Status::Converged, "d = {d}, step {k}");
            let (objective, worst) = reference(&s, &t, &matrix(&path, k, d), step.lambda2);
            assert!(
                (objective - step.certificate.objective).abs() < 1e-10 * objective.abs().max(1.0)
            );
            assert!((worst - step.certificate.kkt).abs() < 1e-12);
            assert!(worst <= 1e-8 * path.lambda_max);
        }
        assert!(path.steps[0].estimate.is_empty());
        assert!(!path.steps[7].estimate.is_empty());
    }
}

#[test]
fn just_below_lambda_max_something_enters() {
    let (x, y) = cases::samples(9, 50, 3);
    let (s, t) = (gram(&x), gram(&y));
    let top = path(&s, &t, &settings(0.5)).lambda_max;
    let lambda2 = Grid::Given(vec![top, 0.999 * top]);
    let near = path(&s, &t, &Settings { lambda2, ..settings(0.5) });
    assert_eq!(near.steps[0].estimate.len(), 0);
    assert_eq!(near.steps[1].estimate.len(), 1);
}

#[test]
fn a_path_ends_where_the_loss_has_no_minimum() {
    let (x, y) = cases::samples_of(12, 6, 40, 5);
    let (s, t) = (gram(&x), gram(&y));
    let settings = Settings { max_iter: 200_000, ..settings(1e-3) };
    let ended = path(&s, &t, &settings);
    let last = ended.steps.last().unwrap();
    assert_eq!(last.status, Status::Unbounded);
    assert_eq!(last.certificate.objective, f64::NEG_INFINITY);
    assert!(last.certificate.kkt.is_nan() && last.estimate.is_empty());
    assert!(ended.steps.len() < 8);
    // A loss without flat directions never does, however steep.
    let (x, y) = cases::samples_of(12, 14, 40, 5);
    let path = path(&gram(&x), &gram(&y), &settings);
    assert!(path.steps.iter().all(|step| step.status != Status::Unbounded));
    assert_eq!(path.steps.len(), 8);
}

#[test]
fn threads_change_nothing() {
    let (x, y) = cases::samples(40, 60, 4);
    let (s, t) = (gram(&x), gram(&y));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| path(&s, &t, &settings(0.1)))
    };
    let (one, three) = (on(1), on(3));
    for (a, b) in one.steps.iter().zip(&three.steps) {
        assert_eq!(a.estimate, b.estimate);
        assert_eq!((a.certificate.kkt, a.iterations), (b.certificate.kkt, b.iterations));
    }
}

#[test]
fn interrupts_are_seen() {
    let (x, y) = cases::samples(6, 30, 3);
    let moments = Moments::new(gram(&x).view(), gram(&y).view()).unwrap();
    let monitor = Monitor::new();
    monitor.cancel();
    assert_eq!(fit(&moments, &settings(0.1), &monitor).unwrap_err(), Error::Interrupted);
}
