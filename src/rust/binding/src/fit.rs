//! Fits, and the pass that benchmarks time.

use crate::convert::{self, counts, matrix_for_r, named_list, Fields};
use crate::family::Family;
use crate::guard::{guard, Failure, Result};
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::data::{Samples, Scaling, Standardize};
use kliepnet_core::error::Error;
use kliepnet_core::factors::PenaltyFactors;
use kliepnet_core::features::{Coefficients, Features};
use kliepnet_core::loss::{Direction, Loss};
use kliepnet_core::path::{self, Grid, Method, Normalizer, Path, Settings, Step};
use kliepnet_core::problem::Problem;
use kliepnet_core::reweight::Shape;
use kliepnet_core::scan::timed_pass;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

extendr_module! {
    mod fit;
    fn fit_path;
    fn score_path;
    fn full_pass;
}

/// What a fit is asked for, but for the samples.
struct Request {
    family: Family,
    standardize: Standardize,
    direction: Direction,
    penalty: PenaltyFactors,
    lambda1: f64,
    grid: Grid,
    shape: Shape,
    robust: f64,
    method: Method,
    normalizer: Normalizer,
    tolerance: f64,
    max_iter: usize,
    threads: usize,
}

impl Request {
    fn read(features: &Robj, settings: &Robj) -> Result<Self> {
        let fields = Fields::new(settings, "settings")?;
        let family = Family::read(features)?;
        let values = fields.doubles("penalty")?;
        let penalty = match family {
            // Two of them are those of its two factors.
            Family::Table(..) => PenaltyFactors::Each(values),
            _ => penalty(values),
        };
        Ok(Self {
            family,
            standardize: standardize(&fields.string("standardize")?)?,
            direction: direction(&fields.string("direction")?)?,
            penalty,
            lambda1: fields.level("lambda1")?,
            grid: grid(&fields)?,
            shape: shape(&fields)?,
            robust: robust(&fields)?,
            method: method(&fields.string("solver")?)?,
            normalizer: normalizer(&fields.string("normalizer")?)?,
            tolerance: fields.share("tol")?,
            max_iter: fields.count("max_iter")?,
            threads: fields.count("threads")?,
        })
    }

    /// The problem, and the scalings of both samples.
    fn problem<'a>(
        &self,
        x: ArrayView2<'a, f64>,
        y: ArrayView2<'a, f64>,
    ) -> kliepnet_core::error::Result<(Problem, [Scaling; 2])> {
        let samples = Samples::new(x, y, self.standardize)?;
        let scalings = [samples.x_scaling.clone(), samples.y_scaling.clone()];
        let features = self.family.features(samples)?;
        let loss = Loss::density_ratio(self.direction, x.nrows(), y.nrows());
        Ok((Problem::new(features, loss, self.penalty.clone())?, scalings))
    }

    /// `f(z)'theta` on new rows, scaled like the sample they belong to: a column for each step.
    fn scores(
        &self,
        path: &Path,
        rows: ArrayView2<'_, f64>,
        scaling: Scaling,
    ) -> kliepnet_core::error::Result<Vec<f64>> {
        let features = self.family.features(Samples::single(rows, scaling))?;
        let score = |step: &Step| features.scores(0..rows.nrows(), &step.coefficients);
        Ok(path.steps.iter().flat_map(score).collect())
    }

    fn settings(&self, x_rows: usize, y_rows: usize) -> Settings {
        Settings {
            lambda1: self.lambda1,
            grid: self.grid.clone(),
            shape: self.shape,
            robust: self.robust,
            method: self.method,
            normalizer: self.normalizer,
            tolerance: self.tolerance,
            max_iter: self.max_iter,
            numerator: 0..x_rows,
            denominator: x_rows..x_rows + y_rows,
        }
    }
}

pub fn unknown(name: &str, value: &str) -> Failure {
    Failure::argument(format!("`{name}` cannot be \"{value}\""))
}

pub fn standardize(name: &str) -> Result<Standardize> {
    match name {
        "within" => Ok(Standardize::Within),
        "pooled" => Ok(Standardize::Pooled),
        "none" => Ok(Standardize::None),
        _ => Err(unknown("standardize", name)),
    }
}

fn direction(name: &str) -> Result<Direction> {
    match name {
        "p/q" => Ok(Direction::Forward),
        "q/p" => Ok(Direction::Backward),
        "symmetric" => Ok(Direction::Symmetric),
        _ => Err(unknown("direction", name)),
    }
}

fn method(name: &str) -> Result<Method> {
    match name {
        "auto" => Ok(Method::Auto),
        "primal" => Ok(Method::Primal),
        "dual" => Ok(Method::Dual),
        _ => Err(unknown("solver", name)),
    }
}

fn normalizer(name: &str) -> Result<Normalizer> {
    match name {
        "empirical" => Ok(Normalizer::Empirical),
        "gaussian" => Ok(Normalizer::Gaussian),
        _ => Err(unknown("normalizer", name)),
    }
}

/// How the penalty grows; an adaptive one is made of a fit in the middle of the default grid.
fn shape(fields: &Fields) -> Result<Shape> {
    let gamma = fields.positive("gamma")?;
    match fields.string("penalty_shape")?.as_str() {
        "group_lasso" => Ok(Shape::GroupLasso),
        "adaptive" => Ok(Shape::Adaptive { gamma, share: fields.share("first_share")? }),
        "mcp" => Ok(Shape::Mcp { gamma }),
        name => Err(unknown("penalty", name)),
    }
}

/// The share of outliers that a trimmed fit may leave out.
fn robust(fields: &Fields) -> Result<f64> {
    let value = fields.double("robust")?;
    convert::in_range((0.0..0.5).contains(&value), value, "robust", "at least 0 and below 0.5")
}

/// Penalty factors by kind, or one for each factor.
pub fn penalty(values: Vec<f64>) -> PenaltyFactors {
    match values[..] {
        [single, edge] => PenaltyFactors::ByKind { single, edge },
        _ => PenaltyFactors::Each(values),
    }
}

/// The longest path: its steps are kept.
pub const MOST_STEPS: usize = 100_000;

/// Penalties as they may be given, falling.
fn levels(values: &[f64]) -> Result<Vec<f64>> {
    let good = values.iter().all(|value| *value >= 0.0 && value.is_finite());
    if !good || values.is_empty() || values.windows(2).any(|pair| pair[0] < pair[1]) {
        return Err(Failure::argument("`lambda2` must be finite, 0 or more, and not rise"));
    }
    Ok(values.to_vec())
}

/// The grid that `settings` ask for.
pub fn grid(settings: &Fields) -> Result<Grid> {
    let grid = match settings.optional("lambda2")? {
        Some(values) => Grid::Given(levels(convert::doubles(&values, "lambda2")?)?),
        None => Grid::Geometric {
            count: settings.count("nlambda")?,
            min_ratio: settings.share("lambda_min_ratio")?,
        },
    };
    if grid.len() > MOST_STEPS {
        return Err(Failure::argument(format!("a path has at most {MOST_STEPS} values")));
    }
    Ok(grid)
}

/// Fit a path of lambda2 values.
#[extendr]
fn fit_path(x: Robj, y: Robj, features: Robj, settings: Robj, on_progress: Robj) -> Robj {
    guard(|| {
        let request = Request::read(&features, &settings)?;
        let (x, y) = (convert::matrix(&x, "x")?, convert::matrix(&y, "y")?);
        let (path, scalings) = run(request.threads, &on_progress, |monitor| {
            let (problem, scalings) = request.problem(x, y)?;
            let settings = request.settings(x.nrows(), y.nrows());
            Ok((path::fit(&problem, &settings, monitor)?, scalings))
        })?;
        path_for_r(&path, &request.family, scalings)
    })
}

/// Fit a path, and hand back what it makes of new rows of both samples instead of its coefficients.
#[extendr]
fn score_path(x: Robj, y: Robj, new_x: Robj, new_y: Robj, features: Robj, settings: Robj) -> Robj {
    guard(|| {
        let request = Request::read(&features, &settings)?;
        if matches!(request.family, Family::Table(..)) {
            return Err(Failure::argument("a table has no features of new data"));
        }
        let (x, y) = (convert::matrix(&x, "x")?, convert::matrix(&y, "y")?);
        let (new_x, new_y) = (convert::matrix(&new_x, "new_x")?, convert::matrix(&new_y, "new_y")?);
        if [y.ncols(), new_x.ncols(), new_y.ncols()] != [x.ncols(); 3] {
            return Err(Failure::argument("the samples differ in their number of columns"));
        }
        let (path, of_x, of_y) = run(request.threads, &Robj::from(()), |monitor| {
            let (problem, [x_scaling, y_scaling]) = request.problem(x, y)?;
            let settings = request.settings(x.nrows(), y.nrows());
            let path = path::fit(&problem, &settings, monitor)?;
            let of_x = request.scores(&path, new_x, x_scaling)?;
            let of_y = request.scores(&path, new_y, y_scaling)?;
            Ok((path, of_x, of_y))
        })?;
        let steps = &path.steps;
        named_list([
            ("lambda2", Robj::from(steps.iter().map(|step| step.lambda2).collect::<Vec<_>>())),
            ("status", Robj::from(steps.iter().map(|step| step.status.name()).collect::<Vec<_>>())),
            ("x", by_step(of_x, new_x.nrows(), steps.len())?),
            ("y", by_step(of_y, new_y.nrows(), steps.len())?),
        ])
    })
}

fn by_step(scores: Vec<f64>, rows: usize, steps: usize) -> Result<Robj> {
    let scores = Array2::from_shape_vec((rows, steps).f(), scores);
    matrix_for_r(scores.map_err(|error| Failure::argument(error.to_string()))?.view())
}

fn path_for_r(path: &Path, family: &Family, [x, y]: [Scaling; 2]) -> Result<Robj> {
    let steps = &path.steps;
    let numbers = |value: fn(&Step) -> f64| Robj::from(steps.iter().map(value).collect::<Vec<_>>());
    let status: Vec<&str> = steps.iter().map(|step| step.status.name()).collect();
    let fitted = steps.iter().map(|step| &step.coefficients);
    let [step, from, to, term, value] = coefficients_for_r(fitted, family)?;
    named_list([
        ("lambda_max", Robj::from(path.lambda_max)),
        ("lambda2", numbers(|step| step.lambda2)),
        ("objective", numbers(|step| step.objective)),
        ("gap", numbers(|step| step.gap)),
        ("kkt", numbers(|step| step.residual)),
        ("n_detected", counts(steps.iter().map(|step| step.coefficients.len()))?),
        ("iterations", counts(steps.iter().map(|step| step.iterations))?),
        ("fits", counts(steps.iter().map(|step| step.fits))?),
        ("status", Robj::from(status)),
        ("seconds", numbers(|step| step.seconds)),
        ("effective_size", numbers(|step| step.effective_size)),
        ("log_normalizer", numbers(|step| step.log_normalizer)),
        ("mean_score", numbers(|step| step.mean_score)),
        ("step", step),
        ("from", from),
        ("to", to),
        ("term", term),
        ("value", value),
        ("center_x", Robj::from(x.center)),
        ("scale_x", Robj::from(x.scale)),
        ("center_y", Robj::from(y.center)),
        ("scale_y", Robj::from(y.scale)),
        ("passes", counts(std::iter::once(path.passes))?),
    ])
}

/// One entry for each coefficient: step, from, to, term (all counted from 1) and value. A factor of a
/// table is given by its number, as both `from` and `to`.
pub fn coefficients_for_r<'a>(
    steps: impl Iterator<Item = &'a Coefficients>,
    family: &Family,
) -> Result<[Robj; 5]> {
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
    Ok([column(0)?, column(1)?, column(2)?, column(3)?, Robj::from(values)])
}

/// Seconds of one pass over all factors at equal weights, and how many factors those are.
#[extendr]
fn full_pass(x: Robj, y: Robj, features: Robj, settings: Robj) -> Robj {
    guard(|| {
        let request = Request::read(&features, &settings)?;
        let (x, y) = (convert::matrix(&x, "x")?, convert::matrix(&y, "y")?);
        let pass = run(request.threads, &Robj::from(()), |monitor| {
            let (problem, _) = request.problem(x, y)?;
            let weights = problem.loss.row_weights_at_zero();
            match &problem.features {
                Features::Products(products) => {
                    timed_pass(products, &weights, &problem.penalty, monitor)
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
