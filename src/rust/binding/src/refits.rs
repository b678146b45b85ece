//! Several fits in one call: folds, halves and shuffles of one pair of samples.

use crate::convert::{self, list, matrix_for_r, named_list};
use crate::family::Family;
use crate::fit::{path_for_r, Prepared, Specification};
use crate::guard::{guard, Failure, Result};
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::error::Result as CoreResult;
use kliepnet_core::features::Features;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::held_out::{fit_folds, Fold, FoldPath, LogisticScore};
use kliepnet_core::path::{self, KliepPath, KliepStep};
use ndarray::{Array2, ArrayView2, ShapeBuilder};
use rayon::prelude::*;

extendr_module! {
    mod refits;
    fn fit_paths;
    fn score_paths;
    fn logistic_scores;
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
    fn score(&self, monitor: &Monitor) -> CoreResult<FoldPath> {
        let (path, prepared) = self.fit(monitor)?;
        let [new_x, new_y] = self.held_out(&prepared)?;
        let scores = |rows: &Features| {
            let of_step =
                |step: &KliepStep| rows.scores(0..rows.rows(), &step.estimate.coefficients);
            path.steps.iter().flat_map(of_step).collect()
        };
        Ok(FoldPath {
            lambda2: path.steps.iter().map(|step| step.lambda2).collect(),
            status: path.steps.iter().map(|step| step.status).collect(),
            scores: [scores(&new_x), scores(&new_y)],
        })
    }

    /// The new rows of both samples.
    fn held_out(&self, prepared: &Prepared) -> CoreResult<[Features; 2]> {
        Ok([prepared.features(self.matrices[2], 0)?, prepared.features(self.matrices[3], 1)?])
    }

    /// What the core needs of a fit that goes down the grid together with others.
    fn fold(&self) -> CoreResult<Fold> {
        let specification = self.specification;
        let (problem, prepared) = specification.problem(self.matrices[0], self.matrices[1])?;
        let settings = specification.settings.clone();
        Ok(Fold { problem, settings, held_out: self.held_out(&prepared)? })
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
/// coefficients. With a `most_fall` they are folds, which end together: see `held_out` in the core.
#[extendr]
fn score_paths(samples: Robj, features: Robj, settings: Robj, most_fall: Robj) -> Robj {
    guard_each(|| {
        let given = Given::read(&samples, &features, &settings)?;
        if given.specifications.iter().any(|one| matches!(one.family, Family::Table(..))) {
            return Err(Failure::argument("a table has no features of new data"));
        }
        let most_fall =
            (!most_fall.is_null()).then(|| convert::double(&most_fall, "most_fall")).transpose()?;
        let refits = given.refits(&["x", "y", "new_x", "new_y"])?;
        let scored = run(given.threads(), &Robj::from(()), |monitor| {
            let Some(most_fall) = most_fall else {
                return Ok(refits.par_iter().map(|refit| refit.score(monitor)).collect());
            };
            let folds: Vec<CoreResult<Fold>> = refits.par_iter().map(Refit::fold).collect();
            if folds.iter().any(CoreResult::is_err) {
                let none = |_| FoldPath::default();
                return Ok(folds.into_iter().map(|fold| fold.map(none)).collect());
            }
            let folds: Vec<Fold> = folds.into_iter().flatten().collect();
            Ok(fit_folds(&folds, most_fall, monitor))
        })?;
        Ok(scored.into_iter().map(|one| fold_for_r(one?)).collect())
    })
}

fn fold_for_r(path: FoldPath) -> Result<Robj> {
    let steps = path.lambda2.len();
    let status: Vec<&str> = path.status.iter().map(|status| status.name()).collect();
    let [of_x, of_y] = path.scores;
    named_list([
        ("lambda2", Robj::from(path.lambda2)),
        ("status", Robj::from(status)),
        ("x", by_step(of_x, steps)?),
        ("y", by_step(of_y, steps)?),
    ])
}

/// How well scores tell both samples apart: of rows of `x` and of `y`, a column for each fit.
#[extendr]
fn logistic_scores(of_x: Robj, of_y: Robj) -> Robj {
    guard(|| {
        let (x, y) = (convert::matrix(&of_x, "of_x")?, convert::matrix(&of_y, "of_y")?);
        if x.ncols() != y.ncols() || x.nrows() == 0 || y.nrows() == 0 {
            return Err(Failure::argument("both samples need rows and the same columns"));
        }
        let columns = x.columns().into_iter().zip(y.columns());
        let scores: Vec<LogisticScore> =
            columns.map(|(x, y)| LogisticScore::new(&x.to_vec(), &y.to_vec())).collect();
        let column = |value: fn(&LogisticScore) -> f64| {
            Robj::from(scores.iter().map(value).collect::<Vec<_>>())
        };
        named_list([
            ("score", column(|one| one.score)),
            ("se", column(|one| one.error)),
            ("intercept", column(|one| one.intercept)),
        ])
    })
}

/// As `guard()`, for a list of values of which each may be a failure.
fn guard_each(body: impl FnOnce() -> Result<Vec<Result<Robj>>>) -> Robj {
    guard(|| {
        let values = body()?.into_iter().map(|one| one.unwrap_or_else(Failure::into_robj));
        Ok(Robj::from(List::from_values(values)))
    })
}

fn by_step(scores: Vec<f64>, steps: usize) -> Result<Robj> {
    let rows = scores.len() / steps.max(1);
    let scores = Array2::from_shape_vec((rows, steps).f(), scores);
    matrix_for_r(scores.map_err(|error| Failure::argument(error.to_string()))?.view())
}
