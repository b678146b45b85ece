//! Debiased estimates of single edges.

use crate::convert::{self, counts, named_list, unknown, Fields};
use crate::family::Family;
use crate::guard::{guard, Failure, Result};
use crate::run::run;
use crate::settings::standardize;
use extendr_api::prelude::*;
use kliepnet_core::features::factors::{factor_index, factor_variables};
use kliepnet_core::inference::debias::{infer, DebiasSettings, Edge, Estimator, Inference};
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::samples::{Samples, Standardize};

extendr_module! {
    mod inference;
    fn infer_edges;
}

/// What is asked for, but for the samples.
struct Request {
    family: Family,
    standardize: Standardize,
    factors: Vec<usize>,
    settings: DebiasSettings,
    threads: usize,
}

impl Request {
    fn read(features: &Robj, edges: &Robj, settings: &Robj) -> Result<Self> {
        let fields = Fields::new(settings, "settings")?;
        let standardize = standardize(&fields.string("standardize")?)?;
        Ok(Self {
            family: Family::read(features)?,
            standardize,
            factors: factors(&Fields::new(edges, "edges")?)?,
            settings: DebiasSettings {
                lambda: fields.positive("lambda")?,
                row_lambda: fields.positive("row_lambda")?,
                estimator: estimator(&fields.string("estimator")?)?,
                refit: convert::flag(&fields.get("refit")?, "refit")?,
                within: standardize == Standardize::Within,
                tol: fields.share("tol")?,
                max_iter: fields.count("max_iter")?,
                n_boot: fields.count("n_boot")?,
                seed: convert::whole(&fields.get("seed")?, "seed")?,
            },
            threads: fields.count("threads")?,
        })
    }
}

/// Pairs of variables counted from 1, from < to, as numbers of factors.
fn factors(edges: &Fields) -> Result<Vec<usize>> {
    let (from, to) = (edges.integers("from")?, edges.integers("to")?);
    if from.len() != to.len() {
        return Err(Failure::argument("`from` and `to` differ in length"));
    }
    let pairs = from.iter().zip(&to).map(|(from, to)| match (*from, *to) {
        (v @ 1.., u) if v < u => Ok(factor_index(u as usize - 1, v as usize - 1)),
        _ => Err(Failure::argument("an edge needs 1 <= from < to")),
    });
    pairs.collect()
}

fn estimator(name: &str) -> Result<Estimator> {
    match name {
        "one_step" => Ok(Estimator::OneStep),
        "double_selection" => Ok(Estimator::DoubleSelection),
        _ => Err(unknown("estimator", name)),
    }
}

/// Debiased estimates of some edges.
#[extendr]
fn infer_edges(
    x: Robj,
    y: Robj,
    features: Robj,
    edges: Robj,
    settings: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let request = Request::read(&features, &edges, &settings)?;
        let (x, y) = (convert::matrix(&x, "x")?, convert::matrix(&y, "y")?);
        let inference = run(request.threads, &on_progress, |monitor| {
            let samples = Samples::new(x, y, request.standardize)?;
            let features = request.family.features(samples)?;
            let loss = Loss::density_ratio(Direction::Forward, x.nrows(), y.nrows());
            let problem = Problem::new(features, loss, PenaltyFactors::equal())?;
            infer(problem, &request.factors, &request.settings, monitor)
        })?;
        for_r(&inference)
    })
}

fn for_r(inference: &Inference) -> Result<Robj> {
    let edges = &inference.edges;
    let numbers = |value: fn(&Edge) -> f64| Robj::from(edges.iter().map(value).collect::<Vec<_>>());
    let edge_status: Vec<&str> = edges.iter().map(|edge| edge.status.name()).collect();
    let first: Vec<(usize, f64)> =
        inference.theta.iter().map(|(factor, theta)| (factor, theta[0])).collect();
    let variables = || first.iter().map(|(factor, _)| factor_variables(*factor));
    named_list([
        ("status", Robj::from(inference.status.name())),
        ("kkt", Robj::from(inference.kkt)),
        ("largest", Robj::from(inference.largest)),
        ("first_from", counts(variables().map(|(_, v)| v + 1))?),
        ("first_to", counts(variables().map(|(u, _)| u + 1))?),
        ("first_value", Robj::from(first.iter().map(|(_, value)| *value).collect::<Vec<_>>())),
        ("estimate", numbers(|edge| edge.estimate)),
        ("se", numbers(|edge| edge.error)),
        ("support", counts(edges.iter().map(|edge| edge.support))?),
        ("row_kkt", numbers(|edge| edge.kkt)),
        ("effective_size", numbers(|edge| edge.effective_size)),
        ("edge_status", Robj::from(edge_status)),
        ("max_plain", Robj::from(inference.maxima.plain.clone())),
        ("max_studentized", Robj::from(inference.maxima.studentised.clone())),
    ])
}
