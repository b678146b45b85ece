//! Fits, and the pass that benchmarks time.

use crate::convert::{self, counts, named_list, Fields};
use crate::family::Family;
use crate::guard::{guard, Failure, Result};
use crate::run::run;
use crate::settings::{blocks, direction, kliep_settings, penalty_factor, standardize};
use crate::steps;
use extendr_api::prelude::*;
use kliepnet_core::design::scan::timed_pass;
use kliepnet_core::error::Error;
use kliepnet_core::features::Features;
use kliepnet_core::objective::blocks::Blocks;
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{self, KliepPath, KliepStep, Settings};
use kliepnet_core::samples::{Samples, Scaling, Standardize};
use ndarray::ArrayView2;

extendr_module! {
    mod fit;
    fn fit_path;
    fn full_pass;
}

/// What a fit is asked for, but for the samples.
pub struct Specification {
    /// The features.
    pub family: Family,
    standardize: Standardize,
    direction: Direction,
    penalty_factor: PenaltyFactors,
    blocks: Option<Blocks>,
    /// What the path is asked for.
    pub settings: Settings,
    /// How many threads may work on it.
    pub threads: usize,
}

impl Specification {
    fn read(features: &Robj, settings: &Robj) -> Result<Self> {
        Self::of_family(Family::read(features)?, settings)
    }

    /// The same where the features have been read.
    pub fn of_family(family: Family, settings: &Robj) -> Result<Self> {
        let fields = Fields::new(settings, "settings")?;
        let settings = kliep_settings(&fields)?;
        if settings.most_edges.is_some() && matches!(family, Family::Table(..)) {
            return Err(Failure::argument("a table does not say which factors are edges"));
        }
        Ok(Self {
            standardize: standardize(&fields.string("standardize")?)?,
            direction: direction(&fields.string("direction")?)?,
            penalty_factor: penalty_factor(&fields, &family)?,
            blocks: blocks(&fields)?,
            family,
            settings,
            threads: fields.count("threads")?,
        })
    }

    /// The problem, and how both samples were brought into it.
    pub fn problem<'a>(
        &self,
        x: ArrayView2<'a, f64>,
        y: ArrayView2<'a, f64>,
    ) -> kliepnet_core::error::Result<(Problem, Prepared)> {
        let samples = Samples::new(x, y, self.standardize)?;
        let scalings = [samples.x_scaling.clone(), samples.y_scaling.clone()];
        let family = self.family.settle(&samples)?;
        let features = family.features(samples)?;
        let loss = Loss::density_ratio(self.direction, x.nrows(), y.nrows());
        let problem = Problem::new(features, loss, self.penalty_factor.clone())?
            .with_blocks(self.blocks.clone())?;
        Ok((problem, Prepared { family, scalings }))
    }
}

/// What new rows need to have the features of the fit.
pub struct Prepared {
    family: Family,
    /// Of `x` and `y`.
    scalings: [Scaling; 2],
}

impl Prepared {
    /// The features of new rows, scaled like the sample they belong to.
    pub fn features(
        &self,
        rows: ArrayView2<'_, f64>,
        sample: usize,
    ) -> kliepnet_core::error::Result<Features> {
        let scaling = self.scalings[sample].clone();
        self.family.features(Samples::single(rows, scaling))
    }
}

/// Fit a path of lambda2 values.
#[extendr]
fn fit_path(x: Robj, y: Robj, features: Robj, settings: Robj, on_progress: Robj) -> Robj {
    guard(|| {
        let specification = Specification::read(&features, &settings)?;
        let (x, y) = (convert::matrix(&x, "x")?, convert::matrix(&y, "y")?);
        let (path, prepared) = run(specification.threads, &on_progress, |monitor| {
            let (problem, prepared) = specification.problem(x, y)?;
            Ok((path::fit(&problem, &specification.settings, monitor)?, prepared))
        })?;
        path_for_r(&path, prepared)
    })
}

/// A path as R takes it.
pub fn path_for_r(path: &KliepPath, prepared: Prepared) -> Result<Robj> {
    let Prepared { family, scalings: [x, y] } = prepared;
    let ratios = || path.steps.iter().map(|step| &step.estimate);
    let numbers = |value: fn(&KliepStep) -> f64| steps::numbers(path, value);
    let mut list = steps::columns(path)?;
    list.extend([
        steps::gap(path),
        ("n_detected", counts(ratios().map(|ratio| ratio.coefficients.len()))?),
        ("fits", counts(ratios().map(|ratio| ratio.fits))?),
        ("effective_size", numbers(|step| step.estimate.effective_size)),
        ("log_normalizer", numbers(|step| step.estimate.log_normalizer)),
        ("mean_score", numbers(|step| step.estimate.mean_score)),
        ("center_x", Robj::from(x.center)),
        ("scale_x", Robj::from(x.scale)),
        ("center_y", Robj::from(y.center)),
        ("scale_y", Robj::from(y.scale)),
        ("passes", counts(std::iter::once(path.passes))?),
    ]);
    list.extend(steps::entries(ratios().map(|ratio| &ratio.coefficients), &family)?);
    list.extend(family.settled());
    named_list(list)
}

/// Seconds of one pass over all factors at equal weights, and how many factors those are.
#[extendr]
fn full_pass(x: Robj, y: Robj, features: Robj, settings: Robj) -> Robj {
    guard(|| {
        let specification = Specification::read(&features, &settings)?;
        let (x, y) = (convert::matrix(&x, "x")?, convert::matrix(&y, "y")?);
        let pass = run(specification.threads, &Robj::from(()), |monitor| {
            let (problem, _) = specification.problem(x, y)?;
            let weights = problem.loss.row_weights_at_zero();
            match &problem.features {
                Features::Products(products) => {
                    timed_pass(products, &weights, &problem.penalty_factor, monitor)
                }
                _ => Err(Error::Argument("only products are passed over".into())),
            }
        })?;
        named_list([
            ("seconds", Robj::from(pass.seconds)),
            ("factors", Robj::from(pass.factors as f64)),
            ("flops", Robj::from(pass.operations)),
        ])
    })
}
