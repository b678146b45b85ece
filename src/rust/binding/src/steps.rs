//! The steps of a path for R: the columns that every method has, and coefficients as entries.

use crate::convert::{counts, integer};
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
    steps: impl Iterator<Item = &'a Coefficients> + Clone,
    family: &Family,
) -> Result<[(&'static str, Robj); 5]> {
    let total = steps.clone().map(Coefficients::values).sum();
    let column = || Vec::with_capacity(total);
    let (mut numbers, mut from, mut to, mut terms) = (column(), column(), column(), column());
    let mut values = Vec::with_capacity(total);
    for (step, fitted) in steps.enumerate() {
        let (number, mut u) = (integer(step + 1)?, 0);
        for (factor, theta) in fitted.iter() {
            let place = family.variables(factor, u);
            u = place.0;
            let (first, second) = (integer(place.1 + 1)?, integer(u + 1)?);
            for (term, value) in theta.iter().enumerate() {
                numbers.push(number);
                from.push(first);
                to.push(second);
                terms.push(integer(term + 1)?);
                values.push(*value);
            }
        }
    }
    Ok([
        ("step", Robj::from(numbers)),
        ("from", Robj::from(from)),
        ("to", Robj::from(to)),
        ("term", Robj::from(terms)),
        ("value", Robj::from(values)),
    ])
}
