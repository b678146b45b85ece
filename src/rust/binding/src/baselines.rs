//! Methods to compare with.

use crate::convert::{counts, doubles, matrix, named_list, Fields};
use crate::family::Family;
use crate::fit::{coefficients_for_r, grid, penalty, unknown};
use crate::guard::{guard, Result};
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::baselines::{dtrace, flasso, importance, Moments};
use kliepnet_core::data::{Samples, Standardize};
use kliepnet_core::features::Coefficients;

extendr_module! {
    mod baselines;
    fn fit_dtrace;
    fn fit_flasso;
    fn fit_importance;
}

/// Fused-lasso regressions on the second moments of both samples.
#[extendr]
fn fit_flasso(x: Robj, y: Robj, settings: Robj, on_progress: Robj) -> Robj {
    guard(|| {
        let fields = Fields::new(&settings, "settings")?;
        let request = flasso::Settings {
            lambda1: fields.level("lambda1")?,
            grid: grid(&fields)?,
            tolerance: fields.share("tol")?,
            max_iter: fields.count("max_iter")?,
        };
        let (x, y) = (matrix(&x, "x")?, matrix(&y, "y")?);
        let path = run(fields.count("threads")?, &on_progress, |monitor| {
            flasso::fit(&Moments::new(x, y)?, &request, monitor)
        })?;
        flasso_for_r(&path)
    })
}

fn flasso_for_r(path: &flasso::Path) -> Result<Robj> {
    let steps = &path.steps;
    let numbers =
        |value: fn(&flasso::Step) -> f64| Robj::from(steps.iter().map(value).collect::<Vec<_>>());
    let status: Vec<&str> = steps.iter().map(|step| step.status.name()).collect();
    let rows = || {
        let by_step = steps.iter().enumerate();
        by_step.flat_map(|(step, fitted)| fitted.coefficients.iter().map(move |row| (step, row)))
    };
    let places = |place: fn(usize, &flasso::Coefficient) -> usize| {
        counts(rows().map(|(step, row)| place(step, row) + 1).collect::<Vec<_>>().into_iter())
    };
    let values = |value: fn(&flasso::Coefficient) -> f64| {
        Robj::from(rows().map(|(_, row)| value(row)).collect::<Vec<_>>())
    };
    let variances = |sample: usize| {
        let all = steps.iter().flat_map(|step| step.variances[sample].iter().copied());
        Robj::from(all.collect::<Vec<_>>())
    };
    named_list([
        ("lambda_max", Robj::from(path.lambda_max)),
        ("lambda2", numbers(|step| step.lambda2)),
        ("objective", numbers(|step| step.objective)),
        ("kkt", numbers(|step| step.residual)),
        ("iterations", counts(steps.iter().map(|step| step.iterations))?),
        ("status", Robj::from(status)),
        ("seconds", numbers(|step| step.seconds)),
        ("step", places(|step, _| step)?),
        ("response", places(|_, row| row.response)?),
        ("predictor", places(|_, row| row.predictor)?),
        ("x", values(|row| row.x)),
        ("y", values(|row| row.y)),
        ("variances_x", variances(0)),
        ("variances_y", variances(1)),
    ])
}

/// The D-trace loss on the second moments of both samples.
#[extendr]
fn fit_dtrace(x: Robj, y: Robj, settings: Robj, on_progress: Robj) -> Robj {
    guard(|| {
        let fields = Fields::new(&settings, "settings")?;
        let request = dtrace::Settings {
            grid: grid(&fields)?,
            tolerance: fields.share("tol")?,
            max_iter: fields.count("max_iter")?,
        };
        let (x, y) = (matrix(&x, "x")?, matrix(&y, "y")?);
        let path = run(fields.count("threads")?, &on_progress, |monitor| {
            dtrace::fit(&Moments::new(x, y)?, &request, monitor)
        })?;
        dtrace_for_r(&path)
    })
}

fn dtrace_for_r(path: &dtrace::Path) -> Result<Robj> {
    let steps = &path.steps;
    let numbers =
        |value: fn(&dtrace::Step) -> f64| Robj::from(steps.iter().map(value).collect::<Vec<_>>());
    let status: Vec<&str> = steps.iter().map(|step| step.status.name()).collect();
    let rows = || {
        let by_step = steps.iter().enumerate();
        by_step.flat_map(|(step, fitted)| fitted.entries.iter().map(move |entry| (step, entry)))
    };
    let places = |place: fn(usize, &dtrace::Entry) -> usize| {
        counts(rows().map(|(step, entry)| place(step, entry) + 1).collect::<Vec<_>>().into_iter())
    };
    named_list([
        ("lambda_max", Robj::from(path.lambda_max)),
        ("lambda2", numbers(|step| step.lambda)),
        ("objective", numbers(|step| step.objective)),
        ("kkt", numbers(|step| step.residual)),
        ("iterations", counts(steps.iter().map(|step| step.iterations))?),
        ("status", Robj::from(status)),
        ("seconds", numbers(|step| step.seconds)),
        ("step", places(|step, _| step)?),
        ("from", places(|_, entry| entry.column)?),
        ("to", places(|_, entry| entry.row)?),
        ("value", Robj::from(rows().map(|(_, entry)| entry.value).collect::<Vec<_>>())),
    ])
}

/// Two networks by maximum likelihood, normalised over points drawn from elsewhere. `samples` has the
/// rows of both samples, `settings$x_rows` of them those of the first.
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
        let request = importance::Settings {
            lambda1: fields.level("lambda1")?,
            grid: grid(&fields)?,
            tolerance: fields.share("tol")?,
            max_iter: fields.count("max_iter")?,
        };
        let fit = match fields.string("method")?.as_str() {
            "is_glasso" => importance::glasso,
            "is_flasso" => importance::flasso,
            method => return Err(unknown("method", method)),
        };
        let family = Family::read(&features)?;
        let weights = penalty(fields.doubles("penalty_factor")?, &family);
        let x_rows = fields.count("x_rows")?;
        let (samples, points) = (matrix(&samples, "samples")?, matrix(&points, "points")?);
        let log_base = doubles(&log_base, "log_base")?;
        let path = run(fields.count("threads")?, &on_progress, |monitor| {
            let stack = importance::Stack {
                features: family.features(Samples::new(samples, points, Standardize::None)?)?,
                x_rows,
                y_rows: samples.nrows().saturating_sub(x_rows),
                log_base: log_base.to_vec(),
            };
            fit(&stack, &weights, &request, monitor)
        })?;
        importance_for_r(&path, &family)
    })
}

fn importance_for_r(path: &importance::Path, family: &Family) -> Result<Robj> {
    type Step = importance::Step;
    let steps = &path.steps;
    let numbers = |value: fn(&Step) -> f64| Robj::from(steps.iter().map(value).collect::<Vec<_>>());
    let status: Vec<&str> = steps.iter().map(|step| step.status.name()).collect();
    let table = |part: fn(&Step) -> &Coefficients| {
        let [step, from, to, term, value] = coefficients_for_r(steps.iter().map(part), family)?;
        named_list([("step", step), ("from", from), ("to", to), ("term", term), ("value", value)])
    };
    named_list([
        ("lambda_max", Robj::from(path.lambda_max)),
        ("lambda2", numbers(|step| step.lambda2)),
        ("objective", numbers(|step| step.objective)),
        ("gap", numbers(|step| step.gap)),
        ("kkt", numbers(|step| step.residual)),
        ("iterations", counts(steps.iter().map(|step| step.iterations))?),
        ("status", Robj::from(status)),
        ("seconds", numbers(|step| step.seconds)),
        ("change", table(|step| &step.change)?),
        ("network_x", table(|step| &step.networks[0])?),
        ("network_y", table(|step| &step.networks[1])?),
        ("log_normalizer_x", numbers(|step| step.log_normalizers[0])),
        ("log_normalizer_y", numbers(|step| step.log_normalizers[1])),
        ("effective_x", numbers(|step| step.effective[0])),
        ("effective_y", numbers(|step| step.effective[1])),
    ])
}
