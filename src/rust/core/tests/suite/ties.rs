//! Many factors at the very largest norm.

use crate::cases::{down, samples, Case};
use kliepnet_core::path::SolverChoice;
use kliepnet_core::samples::Standardize;

#[test]
fn a_level_met_by_many_is_not_lost() {
    // Copies of one column: a good share of all factors have the very same largest norm.
    let (mut x, mut y) = samples(600, 50, 10);
    y.column_mut(0).mapv_inplace(|value| value * 3.0);
    for sample in [&mut x, &mut y] {
        let first = sample.column(0).to_owned();
        (1..200).for_each(|u| sample.column_mut(u).assign(&first));
    }
    let case = Case { standardize: Standardize::None, ..Case::new((x, y)) };
    let path = case.fit(0.1, down(1, 1.0), SolverChoice::Auto);
    let reference = case.reference();
    let want = reference.largest_ratio(&reference.xi(&vec![0.0; reference.size()]));
    assert!((path.lambda_max - want).abs() <= 1e-9 * want, "{} for {want}", path.lambda_max);
}
