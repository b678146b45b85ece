//! Samples from known networks.

use crate::convert::{count, matrix, matrix_for_r, whole};
use crate::guard::guard;
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::simulate::gaussian;

extendr_module! {
    mod simulate;
    fn draw_gaussian;
}

/// `n` rows of N(0, precision^-1).
#[extendr]
fn draw_gaussian(precision: Robj, n: Robj, seed: Robj) -> Robj {
    guard(|| {
        let precision = matrix(&precision, "precision")?;
        let (n, seed) = (count(&n, "n")?, whole(&seed, "seed")?);
        let sample = run(1, &Robj::from(()), |_| gaussian::draw(precision, n, seed))?;
        matrix_for_r(sample.view())
    })
}
