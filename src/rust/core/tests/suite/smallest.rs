//! Every way to a solution on samples of a few rows: what an interpreter that looks at each access to
//! memory (`make memcheck`) can follow to the end.

use crate::common::{cubic, down, Case, DIRECTIONS, METHODS};
use kliepnet_core::baselines::{dtrace, flasso, Moments};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::{fit, Method, Normalizer, Path, Settings};
use kliepnet_core::problem::Status;
use kliepnet_core::reweight::Shape;

fn case() -> Case {
    Case::gaussian(3, 5, 1)
}

fn converged(path: &Path) -> bool {
    path.steps.len() == 2 && path.steps.iter().all(|step| step.status == Status::Converged)
}

/// The path of some other settings.
fn with(change: impl Fn(&mut Settings)) -> Path {
    let mut settings = case().settings(0.1, down(2, 0.5), Method::Auto);
    change(&mut settings);
    fit(&case().problem(), &settings, &Monitor::new()).unwrap()
}

#[test]
fn each_solver_and_direction() {
    for method in METHODS {
        for direction in DIRECTIONS {
            let case = Case { direction, ..case() };
            assert!(converged(&case.fit(0.1, down(2, 0.5), method)), "{method:?} {direction:?}");
        }
    }
}

#[test]
fn several_features_a_pair() {
    let case = Case { basis: cubic(), ..case() };
    for method in METHODS {
        assert!(converged(&case.fit(0.1, down(2, 0.5), method)), "{method:?}");
    }
}

#[test]
fn each_penalty() {
    let adaptive = Shape::Adaptive { gamma: 1.0, share: 0.5 };
    for shape in [adaptive, Shape::Mcp { gamma: 3.0 }] {
        assert!(converged(&with(|settings| settings.shape = shape)), "{shape:?}");
    }
}

#[test]
fn trimmed() {
    assert!(converged(&with(|settings| settings.robust = 0.2)));
}

#[test]
fn without_weights_on_rows() {
    assert!(converged(&with(|settings| settings.normalizer = Normalizer::Gaussian)));
}

#[test]
fn by_regressions_and_by_traces() {
    let Case { x, y, .. } = case();
    let gram = |sample: &ndarray::Array2<f64>| sample.t().dot(sample) / sample.nrows() as f64;
    let moments = Moments::new(gram(&x).view(), gram(&y).view()).unwrap();
    let (tolerance, max_iter) = (1e-6, 1000);
    let settings = dtrace::Settings { grid: down(2, 0.5), tolerance, max_iter };
    let path = dtrace::fit(&moments, &settings, &Monitor::new()).unwrap();
    assert!(path.steps.iter().all(|step| step.status == Status::Converged));
    let settings = flasso::Settings { lambda1: 0.1, grid: down(2, 0.5), tolerance, max_iter };
    let path = flasso::fit(&moments, &settings, &Monitor::new()).unwrap();
    assert!(path.steps.iter().all(|step| step.status == Status::Converged));
}
