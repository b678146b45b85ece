//! Tests of every edge for a change, given a support.

use crate::convert::{self, count, counts, doubles, flag, integers, matrix, named_list, Fields};
use crate::guard::{guard, Failure, Result};
use crate::run::run;
use extendr_api::prelude::*;
use kliepnet_core::inference::score::{
    self, Contrast, LogisticSettings, Moderated, NeighbourTests, Null, Polynomials, Sample, Scaled,
    Seen, Statistics, Units, BEYOND_TERMS,
};

extendr_module! {
    mod score;
    fn score_edges;
    fn moderate_tests;
    fn shuffle_null;
    fn neighbour_tests;
    fn logistic_tests;
    fn logistic_shuffles;
    fn beyond_features;
}

/// Numbers from 1 as numbers from 0.
fn from_zero(numbers: &[i32], name: &str) -> Result<Vec<usize>> {
    let one = |number: &i32| match *number {
        number @ 1.. => Ok(number as usize - 1),
        _ => Err(Failure::argument(format!("`{name}` must number from 1"))),
    };
    numbers.iter().map(one).collect()
}

/// A sample that was scaled before: a list of `values` and the `squares` behind its scales.
fn scaled(list: &Robj, name: &'static str) -> Result<Scaled> {
    let fields = Fields::new(list, name)?;
    let (values, squares) = (fields.get("values")?, fields.get("squares")?);
    Ok(Scaled::from_parts(matrix(&values, "values")?, matrix(&squares, "squares")?)?)
}

/// The units of both samples, counted from 1, as a list of `x` and `y`; NULL where there are none.
fn units_from_r(units: &Robj) -> Result<Option<[Vec<usize>; 2]>> {
    if units.is_null() {
        return Ok(None);
    }
    let fields = Fields::new(units, "units")?;
    let of = |name: &'static str| from_zero(&fields.integers(name)?, name);
    Ok(Some([of("x")?, of("y")?]))
}

fn pair_units(units: &Robj) -> Result<Option<Units>> {
    let labels = units_from_r(units)?;
    Ok(labels.map(|[x, y]| Units::new(&x, &y)).transpose()?)
}

fn scaled_for_r(scaled: &Scaled) -> Result<Robj> {
    let sample = scaled.sample();
    let shape = (sample.variables(), sample.rows());
    let table = |values: &[f64]| match ndarray::ArrayView2::from_shape(shape, values) {
        Ok(by_variable) => convert::matrix_for_r(by_variable.reversed_axes()),
        Err(wrong) => Err(Failure::argument(wrong.to_string())),
    };
    named_list([("values", table(sample.values())?), ("squares", table(scaled.all_squares())?)])
}

/// All edges given the factors of a support, pairs `from` <= `to` counted from 1. Samples are lists of
/// `values` and `squares`, as `neighbour_tests` returns them. NULL where they cannot tell the factors
/// apart.
#[extendr]
fn score_edges(
    x: Robj,
    y: Robj,
    support: Robj,
    units: Robj,
    threads: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let units = pair_units(&units)?;
        let fields = Fields::new(&support, "support")?;
        let from = from_zero(&fields.integers("from")?, "from")?;
        let to = from_zero(&fields.integers("to")?, "to")?;
        if from.len() != to.len() {
            return Err(Failure::argument("`from` and `to` differ in length"));
        }
        let pairs: Vec<(usize, usize)> = from.into_iter().zip(to).collect();
        let samples = [scaled(&x, "x")?, scaled(&y, "y")?];
        let tests = run(count(&threads, "threads")?, &on_progress, |monitor| {
            let tests = match &units {
                None => score::score_edges(&samples, &pairs, monitor)?,
                Some(units) => score::score_edges_by_unit(&samples, &pairs, units, monitor)?,
            };
            Ok(tests.map(|tests| (score::moderate(&tests.statistics), tests)))
        })?;
        let Some((moderated, tests)) = tests else {
            return Ok(Robj::from(()));
        };
        named_list([
            ("numerator", Robj::from(tests.statistics.numerator)),
            ("variance", Robj::from(tests.statistics.variance)),
            ("model", Robj::from(tests.statistics.model)),
            ("freedom", Robj::from(tests.statistics.freedom)),
            ("information", Robj::from(tests.information)),
            ("support", Robj::from(tests.estimates)),
            ("moderated", moderated_for_r(moderated)?),
        ])
    })
}

/// Moderated variances of tests that were computed elsewhere: a list of `numerator`, `variance`,
/// `model` and `freedom`, a number for each test.
#[extendr]
fn moderate_tests(tests: Robj) -> Robj {
    guard(|| {
        let fields = Fields::new(&tests, "tests")?;
        let statistics = Statistics {
            numerator: fields.doubles("numerator")?,
            variance: fields.doubles("variance")?,
            model: fields.doubles("model")?,
            freedom: fields.doubles("freedom")?,
        };
        let count = statistics.numerator.len();
        let others = [&statistics.variance, &statistics.model, &statistics.freedom];
        if others.iter().any(|part| part.len() != count) {
            return Err(Failure::argument("`tests` has parts of different length"));
        }
        moderated_for_r(score::moderate(&statistics))
    })
}

fn moderated_for_r(moderated: Moderated) -> Result<Robj> {
    named_list([
        ("z", Robj::from(moderated.z)),
        ("variance", Robj::from(moderated.variance)),
        ("df", Robj::from(moderated.freedom)),
        ("prior", Robj::from(moderated.prior)),
        ("common", Robj::from(moderated.common)),
    ])
}

/// The tests at the empty support, and those of shuffles: an integer matrix with a column for each,
/// the rows of both samples (`x` first, counted from 1) that become `x`, and zeros below where these
/// are fewer than in others.
#[extendr]
fn shuffle_null(
    x: Robj,
    y: Robj,
    shuffles: Robj,
    units: Robj,
    threads: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let units = units_from_r(&units)?.map(|both| both.concat());
        let shuffles = shuffles_from_r(&shuffles)?;
        let (x, y) = (matrix(&x, "x")?, matrix(&y, "y")?);
        let null = run(count(&threads, "threads")?, &on_progress, |monitor| {
            score::shuffle_null(x, y, &shuffles, units.as_deref(), monitor)
        })?;
        null_for_r(null)
    })
}

fn shuffles_from_r(shuffles: &Robj) -> Result<Vec<Vec<usize>>> {
    let shuffles = convert::integer_matrix(shuffles, "shuffles")?;
    let rows = |column: ndarray::ArrayView1<'_, i32>| {
        // Zeros fill up shuffles of different lengths.
        let named: Vec<i32> = column.iter().copied().filter(|row| *row != 0).collect();
        from_zero(&named, "shuffles")
    };
    shuffles.columns().into_iter().map(rows).collect()
}

fn null_for_r(null: Null) -> Result<Robj> {
    let seen =
        |value: fn(&Seen) -> f64| Robj::from(null.shuffles.iter().map(value).collect::<Vec<_>>());
    let (largest, squares) = (seen(|seen| seen.largest), seen(|seen| seen.squares));
    named_list([
        ("count", Robj::from(null.count as f64)),
        ("tail", Robj::from(null.tail)),
        ("tail_from", Robj::from(null.tail_from)),
        // Doubles: a bin of many shuffles may hold more than R's integers do.
        ("bins", Robj::from(null.bins.iter().map(|bin| *bin as f64).collect::<Vec<_>>())),
        ("largest", largest),
        ("squares", squares),
        ("observed", Robj::from([null.observed.largest, null.observed.squares])),
    ])
}

/// All edges by regressions of every variable on the others: a list of `samples`, and of contrasts, each a
/// list of the numbers `x` and `y` of two samples and of their `units`. The result has `tests`, a list for
/// each contrast, and the list `scaled`, in which they number their samples.
#[extendr]
fn neighbour_tests(
    samples: Robj,
    contrasts: Robj,
    deltas: Robj,
    threads: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let samples: Vec<Robj> = convert::list(&samples, "samples")?;
        let samples =
            samples.iter().map(|one| matrix(one, "samples")).collect::<Result<Vec<_>>>()?;
        let contrasts = convert::list(&contrasts, "contrasts")?;
        let contrasts = contrasts.iter().map(contrast_from_r).collect::<Result<Vec<_>>>()?;
        let deltas = doubles(&deltas, "deltas")?;
        let found = run(count(&threads, "threads")?, &on_progress, |monitor| {
            let samples = samples.into_iter().map(Sample::standardized);
            let samples = samples.collect::<kliepnet_core::error::Result<Vec<_>>>()?;
            score::neighbour_tests(&samples, &contrasts, deltas, monitor)
        })?;
        let tests = found.tests.into_iter().map(neighbours_for_r).collect::<Result<Vec<_>>>()?;
        let scaled = found.scaled.iter().map(scaled_for_r).collect::<Result<Vec<_>>>()?;
        named_list([
            ("tests", Robj::from(List::from_values(tests))),
            ("scaled", Robj::from(List::from_values(scaled))),
        ])
    })
}

fn contrast_from_r(contrast: &Robj) -> Result<Contrast> {
    let fields = Fields::new(contrast, "contrasts")?;
    let of = |name: &'static str| match from_zero(&fields.integers(name)?, name)?[..] {
        [sample] => Ok(sample),
        _ => Err(Failure::argument(format!("`{name}` must be one number"))),
    };
    Ok(Contrast { x: of("x")?, y: of("y")?, units: pair_units(&fields.get("units")?)? })
}

fn neighbours_for_r(tests: NeighbourTests) -> Result<Robj> {
    named_list([
        ("variance", Robj::from(tests.statistics.variance)),
        ("model", Robj::from(tests.statistics.model)),
        ("freedom", Robj::from(tests.statistics.freedom)),
        ("moderated", moderated_for_r(tests.moderated)?),
        ("chosen", counts([tests.chosen + 1].into_iter())?),
        ("misfit", Robj::from(tests.misfit)),
        ("partial_x", Robj::from(tests.partial_x)),
        ("partial_y", Robj::from(tests.partial_y)),
        ("sizes_x", counts(tests.sizes[0].iter().copied())?),
        ("sizes_y", counts(tests.sizes[1].iter().copied())?),
        ("scaled", counts(tests.scaled.iter().map(|place| place + 1))?),
    ])
}

/// Groups of columns of a table, by logistic regression given some of them. NULL where the support's
/// columns depend on each other.
#[extendr]
fn logistic_tests(
    table: Robj,
    x_rows: Robj,
    groups: Robj,
    settings: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let fields = Fields::new(&settings, "settings")?;
        let request = LogisticSettings {
            firth: flag(&fields.get("firth")?, "firth")?,
            tolerance: fields.positive("tol")?,
            max_iter: fields.count("max_iter")?,
        };
        let support = from_zero(&fields.integers("support")?, "support")?;
        let units = match fields.optional("units")? {
            Some(labels) => Some(from_zero(integers(&labels, "units")?, "units")?),
            None => None,
        };
        let sizes = sizes_from_r(&groups)?;
        let (table, x_rows) = (matrix(&table, "table")?, count(&x_rows, "x_rows")?);
        let tests = run(fields.count("threads")?, &on_progress, |monitor| {
            let units = units.as_deref();
            score::logistic_tests(table, x_rows, &sizes, &support, units, &request, monitor)
        })?;
        let Some(tests) = tests else {
            return Ok(Robj::from(()));
        };
        named_list([
            ("converged", Robj::from(tests.converged)),
            ("iterations", counts([tests.iterations].into_iter())?),
            ("statistic", Robj::from(tests.statistic)),
            ("estimate", Robj::from(tests.estimate)),
            ("se", Robj::from(tests.error)),
        ])
    })
}

/// The statistics of groups of columns with nothing in the support, those of one shuffle after the
/// other: an integer matrix with a column for each, the rows (counted from 1) that become `x`.
#[extendr]
fn logistic_shuffles(
    table: Robj,
    groups: Robj,
    shuffles: Robj,
    threads: Robj,
    on_progress: Robj,
) -> Robj {
    guard(|| {
        let (sizes, shuffles) = (sizes_from_r(&groups)?, shuffles_from_r(&shuffles)?);
        let table = matrix(&table, "table")?;
        let statistics = run(count(&threads, "threads")?, &on_progress, |monitor| {
            score::logistic_shuffles(table, &sizes, &shuffles, monitor)
        })?;
        Ok(Robj::from(statistics))
    })
}

/// The features of edges, pairs `from` and `to` counted from 1, of polynomials of all variables: a list of
/// `beyond`, the terms of each edge side by side, and `product`. `integrals` is what estimated ranks
/// explain, or has no columns.
#[extendr]
fn beyond_features(values: Robj, integrals: Robj, edges: Robj, threads: Robj) -> Robj {
    guard(|| {
        let fields = Fields::new(&edges, "edges")?;
        let from = from_zero(&fields.integers("from")?, "from")?;
        let to = from_zero(&fields.integers("to")?, "to")?;
        if from.len() != to.len() {
            return Err(Failure::argument("`from` and `to` differ in length"));
        }
        let pairs: Vec<(usize, usize)> = from.into_iter().zip(to).collect();
        let (values, integrals) = (matrix(&values, "values")?, matrix(&integrals, "integrals")?);
        let rows = values.nrows();
        let features = run(count(&threads, "threads")?, &Robj::from(()), |monitor| {
            Polynomials::new(values, integrals)?.features(&pairs, monitor)
        })?;
        let table = |values: &[f64], columns: usize| {
            let by_column = ndarray::ArrayView2::from_shape((columns, rows), values);
            let by_column = by_column.map_err(|wrong| Failure::argument(wrong.to_string()))?;
            convert::matrix_for_r(by_column.reversed_axes())
        };
        named_list([
            ("beyond", table(&features.beyond, BEYOND_TERMS * pairs.len())?),
            ("product", table(&features.product, pairs.len())?),
        ])
    })
}

fn sizes_from_r(groups: &Robj) -> Result<Vec<usize>> {
    let sizes = integers(groups, "groups")?.iter().map(|size| usize::try_from(*size));
    sizes
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| Failure::argument("`groups` must be sizes"))
}
