//! Newton in the dual where the weights of the last lambda2 are all on one row.

use crate::common::{down, samples_of, Case, METHODS};
use kliepnet_core::data::Standardize;
use kliepnet_core::loss::Direction;
use kliepnet_core::problem::Status;

#[test]
fn weights_on_one_row_do_not_stop_a_path() {
    let direction = Direction::Symmetric;
    let sample = samples_of(12, 2, 2, 16);
    let case = Case { direction, standardize: Standardize::None, ..Case::new(sample) };
    for method in METHODS {
        for step in case.fit(0.1, down(6, 0.05), method).steps {
            let what = format!("{method:?} {}: gap {}", step.lambda2, step.gap);
            assert_eq!(step.status, Status::Converged, "{what}");
        }
    }
}
