//! Methods to compare with.

use crate::convert::{counts, doubles, matrix, named_list, unknown, Fields};
use crate::family::Family;
use crate::guard::{guard, Result};
use crate::run::run;
use crate::settings::{path_settings, penalty_factor};
use crate::steps::{self, columns};
use extendr_api::prelude::*;
use kliepnet_core::compare::dtrace::{self, DtracePath};
use kliepnet_core::compare::flasso::{self, FlassoPath};
use kliepnet_core::compare::importance::{self, Networks, NetworksPath};
use kliepnet_core::compare::Moments;
use kliepnet_core::features::Coefficients;
use kliepnet_core::samples::{Samples, Scaling, Standardize};

extendr_module! {
    mod compare;
    fn fit_dtrace;
    fn fit_flasso;
    fn fit_importance;
}

/// Fused-lasso regressions on the second moments of both samples.
#[extendr]
fn fit_flasso(x: Robj, y: Robj, settings: Robj, on_progress: Robj) -> Robj {
    guard(|| {
        let fields = Fields::new(&settings, "settings")?;
        let settings = path_settings(&fields, fields.level("lambda1")?)?;
        let (x, y) = (matrix(&x, "x")?, matrix(&y, "y")?);
        let path = run(fields.count("threads")?, &on_progress, |monitor| {
            flasso::fit(&Moments::new(x, y)?, &settings, monitor)
        })?;
        flasso_for_r(&path)
    })
}

fn flasso_for_r(path: &FlassoPath) -> Result<Robj> {
    let steps = &path.steps;
    let rows = || {
        let by_step = steps.iter().map(|step| &step.estimate.coefficients).enumerate();
        by_step.flat_map(|(step, rows)| rows.iter().map(move |row| (step, row)))
    };
    let places = |place: fn(usize, &flasso::Coefficient) -> usize| {
        counts(rows().map(|(step, row)| place(step, row) + 1).collect::<Vec<_>>().into_iter())
    };
    let values = |value: fn(&flasso::Coefficient) -> f64| {
        Robj::from(rows().map(|(_, row)| value(row)).collect::<Vec<_>>())
    };
    let variances = |sample: usize| {
        let all = steps.iter().flat_map(|step| step.estimate.variances[sample].iter().copied());
        Robj::from(all.collect::<Vec<_>>())
    };
    let mut list = columns(path)?;
    list.extend([
        ("step", places(|step, _| step)?),
        ("response", places(|_, row| row.response)?),
        ("predictor", places(|_, row| row.predictor)?),
        ("x", values(|row| row.x)),
        ("y", values(|row| row.y)),
        ("variances_x", variances(0)),
        ("variances_y", variances(1)),
    ]);
    named_list(list)
}

/// The D-trace loss on the second moments of both samples.
#[extendr]
fn fit_dtrace(x: Robj, y: Robj, settings: Robj, on_progress: Robj) -> Robj {
    guard(|| {
        let fields = Fields::new(&settings, "settings")?;
        let settings = path_settings(&fields, 0.0)?;
        let (x, y) = (matrix(&x, "x")?, matrix(&y, "y")?);
        let path = run(fields.count("threads")?, &on_progress, |monitor| {
            dtrace::fit(&Moments::new(x, y)?, &settings, monitor)
        })?;
        dtrace_for_r(&path)
    })
}

fn dtrace_for_r(path: &DtracePath) -> Result<Robj> {
    let rows = || {
        let by_step = path.steps.iter().map(|step| &step.estimate).enumerate();
        by_step.flat_map(|(step, entries)| entries.iter().map(move |entry| (step, entry)))
    };
    let places = |place: fn(usize, &dtrace::Entry) -> usize| {
        counts(rows().map(|(step, entry)| place(step, entry) + 1).collect::<Vec<_>>().into_iter())
    };
    let mut list = columns(path)?;
    list.extend([
        ("step", places(|step, _| step)?),
        ("from", places(|_, entry| entry.column)?),
        ("to", places(|_, entry| entry.row)?),
        ("value", Robj::from(rows().map(|(_, entry)| entry.value).collect::<Vec<_>>())),
    ]);
    named_list(list)
}

/// Two networks by maximum likelihood, normalised by importance sampling over points of an
/// instrumental density. `samples` has the rows of both samples; the first `settings$x_rows` of
/// them are those of `x`.
#[extendr]
fn fit_importance(
    samples: Robj,
    points: Robj,
    log_base: Robj,
    features: Robj,
    settings: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let fields = Fields::new(&settings, "settings")?;
        let settings = path_settings(&fields, fields.level("lambda1")?)?;
        let fit = match fields.string("method")?.as_str() {
            "is_glasso" => importance::glasso,
            "is_flasso" => importance::flasso,
            method => return Err(unknown("method", method)),
        };
        let family = Family::read(&features)?;
        let penalty_factor = penalty_factor(&fields, &family)?;
        let x_rows = fields.count("x_rows")?;
        let (samples, points) = (matrix(&samples, "samples")?, matrix(&points, "points")?);
        let log_base = doubles(&log_base, "log_base")?;
        let (path, family) = run(fields.count("threads")?, &on_progress, |monitor| {
            // Polynomials are settled by the samples alone, and not by the points.
            let own = Samples::single(samples, Scaling::identity(samples.ncols()));
            let family = family.settle(&own)?;
            let stack = importance::Stack {
                features: family.features(Samples::new(samples, points, Standardize::None)?)?,
                x_rows,
                y_rows: samples.nrows().saturating_sub(x_rows),
                log_base: log_base.to_vec(),
            };
            Ok((fit(&stack, &penalty_factor, &settings, monitor)?, family))
        })?;
        importance_for_r(&path, &family)
    })
}

fn importance_for_r(path: &NetworksPath, family: &Family) -> Result<Robj> {
    let estimates = || path.steps.iter().map(|step| &step.estimate);
    let numbers = |value: fn(&Networks) -> f64| steps::numbers(path, |step| value(&step.estimate));
    let table = |part: fn(&Networks) -> &Coefficients| {
        named_list(steps::entries(estimates().map(part), family)?)
    };
    let mut list = columns(path)?;
    list.extend([
        steps::gap(path),
        ("change", table(|estimate| &estimate.change)?),
        ("network_x", table(|estimate| &estimate.networks[0])?),
        ("network_y", table(|estimate| &estimate.networks[1])?),
        ("log_normalizer_x", numbers(|estimate| estimate.log_normalizers[0])),
        ("log_normalizer_y", numbers(|estimate| estimate.log_normalizers[1])),
        ("effective_x", numbers(|estimate| estimate.effective_size[0])),
        ("effective_y", numbers(|estimate| estimate.effective_size[1])),
    ]);
    list.extend(family.settled());
    named_list(list)
}
