//! Several fits in one call: folds, halves and shuffles of one pair of samples.

use crate::convert::{self, list, matrix_for_r, named_list};
use crate::family::Family;
use crate::fit::{path_for_r, Prepared, Specification};
use crate::guard::{Failure, Result};
use crate::run::run;
use crate::steps;
use extendr_api::prelude::*;
use kliepnet_core::error::Result as CoreResult;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::{self, KliepPath};
use ndarray::{Array2, ArrayView2, ShapeBuilder};
use rayon::prelude::*;

extendr_module! {
    mod refits;
    fn fit_paths;
    fn score_paths;
}

/// The matrices and the settings of every fit, as R holds them.
struct Given {
    matrices: Vec<Vec<Robj>>,
    specifications: Vec<Specification>,
}

/// One of the fits.
struct Refit<'a> {
    specification: &'a Specification,
    /// `x` and `y`; what is to be scored comes after them.
    matrices: Vec<ArrayView2<'a, f64>>,
}

impl Given {
    /// `samples` is a list of lists of matrices, `settings` a list of settings, one for each fit.
    fn read(samples: &Robj, features: &Robj, settings: &Robj) -> Result<Self> {
        let matrices = list(samples, "samples")?
            .iter()
            .map(|one| list(one, "samples").map(|one| one.to_vec()))
            .collect::<Result<Vec<_>>>()?;
        let family = Family::read(features)?;
        let specifications = list(settings, "settings")?
            .iter()
            .map(|one| Specification::of_family(family.clone(), one))
            .collect::<Result<Vec<_>>>()?;
        if specifications.is_empty() || specifications.len() != matrices.len() {
            return Err(Failure::argument("`samples` and `settings` must have one entry a fit"));
        }
        Ok(Self { matrices, specifications })
    }

    /// The fits, each with as many matrices as there are `names`.
    fn refits(&self, names: &[&str]) -> Result<Vec<Refit<'_>>> {
        let pairs = self.matrices.iter().zip(&self.specifications);
        pairs.map(|(matrices, specification)| Refit::new(specification, matrices, names)).collect()
    }

    /// Threads are those of all fits together.
    fn threads(&self) -> usize {
        self.specifications.iter().map(|one| one.threads).max().unwrap_or(1)
    }
}

impl<'a> Refit<'a> {
    fn new(specification: &'a Specification, given: &'a [Robj], names: &[&str]) -> Result<Self> {
        if given.len() != names.len() {
            return Err(Failure::argument(format!("`samples` must hold {}", names.join(", "))));
        }
        let matrices = given
            .iter()
            .zip(names)
            .map(|(matrix, name)| convert::matrix(matrix, name))
            .collect::<Result<Vec<_>>>()?;
        if matrices.iter().any(|matrix| matrix.ncols() != matrices[0].ncols()) {
            return Err(Failure::argument("the samples differ in their number of columns"));
        }
        Ok(Self { specification, matrices })
    }

    fn fit(&self, monitor: &Monitor) -> CoreResult<(KliepPath, Prepared)> {
        let specification = self.specification;
        let (problem, prepared) = specification.problem(self.matrices[0], self.matrices[1])?;
        Ok((path::fit(&problem, &specification.settings, monitor)?, prepared))
    }

    /// The path, and what it makes of new rows of both samples.
    fn score(&self, monitor: &Monitor) -> CoreResult<(KliepPath, [Vec<f64>; 2])> {
        let (path, prepared) = self.fit(monitor)?;
        let of_x = prepared.scores(&path, self.matrices[2], 0)?;
        let of_y = prepared.scores(&path, self.matrices[3], 1)?;
        Ok((path, [of_x, of_y]))
    }
}

/// Fit several paths, each to samples and with settings of its own: a list with what `fit_path()` gives
/// for each, or its failure.
#[extendr]
fn fit_paths(samples: Robj, features: Robj, settings: Robj) -> Robj {
    guard_each(|| {
        let given = Given::read(&samples, &features, &settings)?;
        let refits = given.refits(&["x", "y"])?;
        let fitted = run(given.threads(), &Robj::from(()), |monitor| {
            Ok(refits.par_iter().map(|refit| refit.fit(monitor)).collect::<Vec<_>>())
        })?;
        let for_r = |one: CoreResult<(KliepPath, Prepared)>| {
            let (path, prepared) = one?;
            path_for_r(&path, prepared)
        };
        Ok(fitted.into_iter().map(for_r).collect())
    })
}

/// Fit several paths, and hand back what each makes of new rows of both samples instead of its
/// coefficients.
#[extendr]
fn score_paths(samples: Robj, features: Robj, settings: Robj) -> Robj {
    guard_each(|| {
        let given = Given::read(&samples, &features, &settings)?;
        if given.specifications.iter().any(|one| matches!(one.family, Family::Table(..))) {
            return Err(Failure::argument("a table has no features of new data"));
        }
        let refits = given.refits(&["x", "y", "new_x", "new_y"])?;
        let scored = run(given.threads(), &Robj::from(()), |monitor| {
            Ok(refits.par_iter().map(|refit| refit.score(monitor)).collect::<Vec<_>>())
        })?;
        let for_r = |one: CoreResult<(KliepPath, [Vec<f64>; 2])>| {
            let (path, [of_x, of_y]) = one?;
            named_list([
                ("lambda2", steps::numbers(&path, |step| step.lambda2)),
                ("status", steps::status(&path)),
                ("x", by_step(of_x, path.steps.len())?),
                ("y", by_step(of_y, path.steps.len())?),
            ])
        };
        Ok(scored.into_iter().map(for_r).collect())
    })
}

/// As `guard()`, for a list of values of which each may be a failure.
fn guard_each(body: impl FnOnce() -> Result<Vec<Result<Robj>>>) -> Robj {
    crate::guard::guard(|| {
        let values = body()?.into_iter().map(|one| one.unwrap_or_else(Failure::into_robj));
        Ok(Robj::from(List::from_values(values)))
    })
}

fn by_step(scores: Vec<f64>, steps: usize) -> Result<Robj> {
    let rows = scores.len() / steps.max(1);
    let scores = Array2::from_shape_vec((rows, steps).f(), scores);
    matrix_for_r(scores.map_err(|error| Failure::argument(error.to_string()))?.view())
}
