//! Newton in the dual where the weights of the last lambda2 are all on one row.

use crate::cases::{down, samples_of, Case, SOLVERS};
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::samples::Standardize;

#[test]
fn weights_on_one_row_do_not_stop_a_path() {
    let direction = Direction::Symmetric;
    let sample = samples_of(12, 2, 2, 16);
    let case = Case { direction, standardize: Standardize::None, ..Case::new(sample) };
    for solver in SOLVERS {
        for step in case.fit(0.1, down(6, 0.05), solver).steps {
            let what = format!("{solver:?} {}: gap {}", step.lambda2, step.certificate.gap);
            assert_eq!(step.status, Status::Converged, "{what}");
        }
    }
}
