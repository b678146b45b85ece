//! The list of settings that R sends, field by field under R's own names.

use crate::convert::{self, unknown, Fields};
use crate::family::Family;
use crate::guard::{Failure, Result};
use kliepnet_core::objective::blocks::Blocks;
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::reweight::PenaltyShape;
use kliepnet_core::path::{Grid, Normalizer, Settings, SolverChoice};
use kliepnet_core::samples::Standardize;

/// The longest path: its steps are kept.
pub const MOST_STEPS: usize = 100_000;

/// What every path is asked for, whichever the method; D-trace has no `lambda1`.
pub fn path_settings(fields: &Fields, lambda1: f64) -> Result<Settings> {
    let settings = Settings::new(lambda1, lambda2(fields)?);
    Ok(Settings { tol: fields.share("tol")?, max_iter: fields.count("max_iter")?, ..settings })
}

/// What a path of density ratios is asked for.
pub fn kliep_settings(fields: &Fields) -> Result<Settings> {
    Ok(Settings {
        penalty: penalty(fields)?,
        robust: robust(fields)?,
        solver: solver(&fields.string("solver")?)?,
        normalizer: normalizer(&fields.string("normalizer")?)?,
        most_edges: most_edges(fields)?,
        ..path_settings(fields, fields.level("lambda1")?)?
    })
}

pub fn standardize(name: &str) -> Result<Standardize> {
    match name {
        "within" => Ok(Standardize::Within),
        "pooled" => Ok(Standardize::Pooled),
        "none" => Ok(Standardize::None),
        _ => Err(unknown("standardize", name)),
    }
}

pub fn direction(name: &str) -> Result<Direction> {
    match name {
        "p/q" => Ok(Direction::Forward),
        "q/p" => Ok(Direction::Backward),
        "symmetric" => Ok(Direction::Symmetric),
        _ => Err(unknown("direction", name)),
    }
}

fn solver(name: &str) -> Result<SolverChoice> {
    match name {
        "auto" => Ok(SolverChoice::Auto),
        "primal" => Ok(SolverChoice::Primal),
        "dual" => Ok(SolverChoice::Dual),
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

/// How the penalty grows; an adaptive one is computed from a fit in the middle of the default grid.
fn penalty(fields: &Fields) -> Result<PenaltyShape> {
    let gamma = fields.positive("gamma")?;
    match fields.string("penalty")?.as_str() {
        "group_lasso" => Ok(PenaltyShape::GroupLasso),
        "adaptive" => {
            Ok(PenaltyShape::Adaptive { gamma, first_share: fields.share("first_share")? })
        }
        "mcp" => Ok(PenaltyShape::Mcp { gamma }),
        name => Err(unknown("penalty", name)),
    }
}

/// With how many edges the path may end; NULL for the whole of it.
fn most_edges(fields: &Fields) -> Result<Option<usize>> {
    let given = fields.optional("most_edges")?;
    given.map(|value| convert::count(&value, "most_edges")).transpose()
}

/// The share of outliers that a trimmed fit may leave out.
fn robust(fields: &Fields) -> Result<f64> {
    let value = fields.double("robust")?;
    convert::in_range((0.0..0.5).contains(&value), value, "robust", "at least 0 and below 0.5")
}

/// Penalty factors by kind, or one for each factor.
pub fn penalty_factor(fields: &Fields, family: &Family) -> Result<PenaltyFactors> {
    let values = fields.doubles("penalty_factor")?;
    Ok(match (family, &values[..]) {
        // A table of two factors: both numbers are penalty factors of single factors, not of kinds.
        (Family::Table(..), _) => PenaltyFactors::Each(values),
        (_, &[single, edge]) => PenaltyFactors::ByKind { single, edge },
        _ => PenaltyFactors::Each(values),
    })
}

/// The number of every factor's block, counted from 1 with 0 for none, and the share of the penalty on
/// whole blocks; NULL where there are none.
pub fn blocks(fields: &Fields) -> Result<Option<Blocks>> {
    let Some(numbers) = fields.optional("penalty_groups")? else {
        return Ok(None);
    };
    let number = |block: &i32| {
        usize::try_from(*block).map_err(|_| Failure::argument("`penalty_groups` counts from 0"))
    };
    let numbers = convert::integers(&numbers, "penalty_groups")?.iter().map(number);
    let share = fields.double("group_share")?;
    Ok(Some(Blocks::new(&numbers.collect::<Result<Vec<usize>>>()?, share)?))
}

/// Penalties as they may be given, falling.
fn falling(values: &[f64]) -> Result<Vec<f64>> {
    let good = values.iter().all(|value| *value >= 0.0 && value.is_finite());
    if !good || values.is_empty() || values.windows(2).any(|pair| pair[0] < pair[1]) {
        return Err(Failure::argument("`lambda2` must be finite, 0 or more, and not rise"));
    }
    Ok(values.to_vec())
}

/// The grid: `lambda2`, or where that is NULL `nlambda` and `lambda_min_ratio`.
fn lambda2(fields: &Fields) -> Result<Grid> {
    let grid = match fields.optional("lambda2")? {
        Some(values) => Grid::Given(falling(convert::doubles(&values, "lambda2")?)?),
        None => Grid::Geometric {
            nlambda: fields.count("nlambda")?,
            lambda_min_ratio: fields.share("lambda_min_ratio")?,
        },
    };
    if grid.len() > MOST_STEPS {
        return Err(Failure::argument(format!("a path has at most {MOST_STEPS} values")));
    }
    Ok(grid)
}
