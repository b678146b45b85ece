//! Every way to a solution on samples of a few rows: what an interpreter that looks at each access to
//! memory (`make memcheck`) can follow to the end.

use crate::cases::{cubic, down, settings, Case, DIRECTIONS, SOLVERS};
use kliepnet_core::compare::{dtrace, flasso, Moments};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::reweight::PenaltyShape;
use kliepnet_core::path::{fit, KliepPath, Normalizer, Settings, SolverChoice};

fn case() -> Case {
    Case::gaussian(3, 5, 1)
}

fn converged(path: &KliepPath) -> bool {
    path.steps.len() == 2 && path.steps.iter().all(|step| step.status == Status::Converged)
}

/// The path of some other settings.
fn with(change: impl Fn(&mut Settings)) -> KliepPath {
    let mut settings = settings(0.1, down(2, 0.5), SolverChoice::Auto);
    change(&mut settings);
    fit(&case().problem(), &settings, &Monitor::new()).unwrap()
}

#[test]
fn each_solver_and_direction() {
    for solver in SOLVERS {
        for direction in DIRECTIONS {
            let case = Case { direction, ..case() };
            assert!(converged(&case.fit(0.1, down(2, 0.5), solver)), "{solver:?} {direction:?}");
        }
    }
}

#[test]
fn several_features_a_pair() {
    let case = Case { basis: cubic(), ..case() };
    for solver in SOLVERS {
        assert!(converged(&case.fit(0.1, down(2, 0.5), solver)), "{solver:?}");
    }
}

#[test]
fn each_penalty() {
    let adaptive = PenaltyShape::Adaptive { gamma: 1.0, first_share: 0.5 };
    for penalty in [adaptive, PenaltyShape::Mcp { gamma: 3.0 }] {
        assert!(converged(&with(|settings| settings.penalty = penalty)), "{penalty:?}");
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
    let settings = Settings { max_iter: 1000, ..Settings::new(0.1, down(2, 0.5)) };
    let path = dtrace::fit(&moments, &settings, &Monitor::new()).unwrap();
    assert!(path.steps.iter().all(|step| step.status == Status::Converged));
    let path = flasso::fit(&moments, &settings, &Monitor::new()).unwrap();
    assert!(path.steps.iter().all(|step| step.status == Status::Converged));
}
