//! Samples from known networks.

use crate::convert::{count, matrix, matrix_for_r, named_list, whole, Fields};
use crate::guard::{guard, Result};
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::simulate::chains::{self, Sampler, Schedule};
use kliepnet_core::simulate::diamond::Diamond;
use kliepnet_core::simulate::gaussian;
use kliepnet_core::simulate::ising::Ising;

extendr_module! {
    mod simulate;
    fn draw_gaussian;
    fn draw_diamond;
    fn draw_ising;
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

/// `n` draws of a diamond distribution.
#[extendr]
fn draw_diamond(network: Robj, n: Robj, schedule: Robj, seed: Robj) -> Robj {
    guard(|| {
        let diamond = Diamond::new(matrix(&network, "network")?)?;
        draw_chains(&diamond, &n, &schedule, &seed)
    })
}

/// `n` draws of an Ising model.
#[extendr]
fn draw_ising(theta: Robj, n: Robj, schedule: Robj, seed: Robj) -> Robj {
    guard(|| {
        let ising = Ising::new(matrix(&theta, "theta")?)?;
        draw_chains(&ising, &n, &schedule, &seed)
    })
}

fn draw_chains(sampler: &impl Sampler, n: &Robj, schedule: &Robj, seed: &Robj) -> Result<Robj> {
    let (n, seed) = (count(n, "n")?, whole(seed, "seed")?);
    let fields = Fields::new(schedule, "schedule")?;
    let schedule = Schedule {
        burn_in: fields.count("burn_in")?,
        thin: fields.count("thin")?,
        chains: fields.count("chains")?,
    };
    let draws = run(fields.count("threads")?, &Robj::from(()), |monitor| {
        chains::draw(sampler, n, schedule, seed, monitor)
    })?;
    named_list([
        ("sample", matrix_for_r(draws.sample.view())?),
        ("effective", Robj::from(draws.effective)),
    ])
}
