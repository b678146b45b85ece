//! The steps of a path for R: the columns that every method has, and coefficients as entries.

use crate::convert::counts;
use crate::family::Family;
use crate::guard::Result;
use extendr_api::prelude::*;
use kliepnet_core::features::Coefficients;
use kliepnet_core::path::{Path, Step};

/// One number for each step.
pub fn numbers<E>(path: &Path<E>, value: impl Fn(&Step<E>) -> f64) -> Robj {
    Robj::from(path.steps.iter().map(value).collect::<Vec<_>>())
}

/// The duality gaps.
pub fn gap<E>(path: &Path<E>) -> (&'static str, Robj) {
    ("gap", numbers(path, |step| step.certificate.gap))
}

/// How each step ended, by name.
pub fn status<E>(path: &Path<E>) -> Robj {
    Robj::from(path.steps.iter().map(|step| step.status.name()).collect::<Vec<_>>())
}

/// What every method reports of its steps. Some have no duality gap.
pub fn columns<E>(path: &Path<E>) -> Result<Vec<(&'static str, Robj)>> {
    Ok(vec![
        ("lambda_max", Robj::from(path.lambda_max)),
        ("lambda2", numbers(path, |step| step.lambda2)),
        ("objective", numbers(path, |step| step.certificate.objective)),
        ("kkt", numbers(path, |step| step.certificate.kkt)),
        ("iterations", counts(path.steps.iter().map(|step| step.iterations))?),
        ("status", status(path)),
        ("seconds", numbers(path, |step| step.seconds)),
    ])
}

/// One entry for each coefficient: step, from, to, term (all counted from 1) and value. A factor of a
/// table is given by its number, as both `from` and `to`.
pub fn entries<'a>(
    steps: impl Iterator<Item = &'a Coefficients>,
    family: &Family,
) -> Result<[(&'static str, Robj); 5]> {
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for (step, fitted) in steps.enumerate() {
        for (factor, theta) in fitted.iter() {
            let (u, v) = family.variables(factor);
            for (term, value) in theta.iter().enumerate() {
                places.push([step + 1, v + 1, u + 1, term + 1]);
                values.push(*value);
            }
        }
    }
    let column = |k: usize| counts(places.iter().map(|place| place[k]));
    Ok([
        ("step", column(0)?),
        ("from", column(1)?),
        ("to", column(2)?),
        ("term", column(3)?),
        ("value", Robj::from(values)),
    ])
}
