//! Samples from known networks.

use crate::convert::{count, counts, in_range, matrix, matrix_for_r, named_list, whole, Fields};
use crate::guard::{guard, Failure, Result};
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::simulate::chains::{self, Sampler, Schedule};
use kliepnet_core::simulate::diamond::Diamond;
use kliepnet_core::simulate::gaussian;
use kliepnet_core::simulate::genes::{self, GeneNetwork, Kind, Noise, Regulation};
use kliepnet_core::simulate::ising::Ising;

extendr_module! {
    mod simulate;
    fn draw_gaussian;
    fn draw_diamond;
    fn draw_ising;
    fn top_regulators;
    fn draw_genes;
}

/// `n` rows of N(0, precision^-1).
#[extendr]
fn draw_gaussian(precision: Robj, n: Robj, seed: Robj) -> Robj {
    guard(|| {
        let precision = matrix(&precision, "precision")?;
        let (n, seed) = (count(&n, "n")?, whole(&seed, "seed")?);
        let sample =
            run(1, &Robj::from(()), |monitor| gaussian::draw(precision, n, seed, monitor))?;
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

/// Factors beyond exp(50 z) overflow sooner or later.
const MOST_NOISE: f64 = 50.0;
/// Every gene has lists of its own, even if nothing regulates it: more genes than this are refused.
const MOST_GENES: usize = 10_000_000;

/// A network as R has it: the number of genes, and columns of regulations.
struct Network {
    genes: usize,
    regulations: Vec<Regulation>,
}

impl Network {
    fn read(value: &Robj) -> Result<Self> {
        let fields = Fields::new(value, "network")?;
        let genes = fields.count("genes")?;
        if genes > MOST_GENES {
            return Err(Failure::argument(format!("`genes` must be at most {MOST_GENES}")));
        }
        let (from, to) = (fields.integers("from")?, fields.integers("to")?);
        let kind = fields.integers("kind")?;
        let (half, hill) = (fields.doubles("half")?, fields.doubles("hill")?);
        if [to.len(), kind.len(), half.len(), hill.len()] != [from.len(); 4] {
            return Err(Failure::argument("the columns of `network` differ in length"));
        }
        let regulation = |k: usize| {
            Ok(Regulation {
                from: gene(from[k], genes)?,
                to: gene(to[k], genes)?,
                kind: self::kind(kind[k])?,
                half: half[k],
                hill: hill[k],
            })
        };
        let regulations = (0..from.len()).map(regulation).collect::<Result<_>>()?;
        Ok(Self { genes, regulations })
    }
}

/// A gene counted from 1, counted from 0.
fn gene(number: i32, genes: usize) -> Result<usize> {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index
        .filter(|index| *index < genes)
        .ok_or_else(|| Failure::argument("a regulation names a gene that is not there"))
}

fn kind(code: i32) -> Result<Kind> {
    match code {
        1 => Ok(Kind::Activates),
        2 => Ok(Kind::Represses),
        3 => Ok(Kind::Both),
        _ => Err(Failure::argument("`kind` must be 1, 2 or 3")),
    }
}

/// The genes (counted from 1) that nothing else drives.
#[extendr]
fn top_regulators(network: Robj) -> Robj {
    guard(|| {
        let network = Network::read(&network)?;
        let arrows: Vec<_> = network.regulations.iter().map(|r| (r.from, r.to)).collect();
        let tops = genes::top_regulators(network.genes, &arrows);
        counts(tops.into_iter().map(|gene| gene + 1))
    })
}

/// The spread of a log-normal factor, as long as that is a number.
fn noise(fields: &Fields, name: &str) -> Result<f64> {
    let value = fields.double(name)?;
    in_range((0.0..=MOST_NOISE).contains(&value), value, name, "at least 0 and at most 50")
}

/// `n` observations of gene expression.
#[extendr]
fn draw_genes(network: Robj, n: Robj, settings: Robj, seed: Robj) -> Robj {
    guard(|| {
        let network = Network::read(&network)?;
        let network = GeneNetwork::new(network.genes, &network.regulations)?;
        let (n, seed) = (count(&n, "n")?, whole(&seed, "seed")?);
        let fields = Fields::new(&settings, "settings")?;
        let noise = Noise {
            biological: noise(&fields, "biological_noise")?,
            measurement: noise(&fields, "measurement_noise")?,
        };
        let expression = run(fields.count("threads")?, &Robj::from(()), |monitor| {
            network.draw(n, noise, seed, monitor)
        })?;
        named_list([
            ("sample", matrix_for_r(expression.sample.view())?),
            ("unsettled", counts(std::iter::once(expression.unsettled))?),
        ])
    })
}
