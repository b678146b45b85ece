//! Scores of new data, and samples standardised without a fit.

use crate::convert::{count, matrix, matrix_for_r, named_list, string, Fields};
use crate::family::Family;
use crate::guard::{guard, Failure, Result};
use crate::settings::{standardize, MOST_STEPS};
use extendr_api::prelude::*;
use kliepnet_core::features::factors::factor_index;
use kliepnet_core::features::{Coefficients, Features};
use kliepnet_core::samples::{Samples, Scaling};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

extendr_module! {
    mod scores;
    fn feature_scores;
    fn standardize_samples;
    fn standardize_alone;
}

/// `f(z)'theta` on the rows of new data, one column for each step of a path.
#[extendr]
fn feature_scores(
    newdata: Robj,
    scaling: Robj,
    features: Robj,
    coefficients: Robj,
    steps: Robj,
) -> Robj {
    guard(|| {
        let data = matrix(&newdata, "newdata")?;
        let fields = Fields::new(&scaling, "scaling")?;
        let scaling =
            Scaling { center: fields.doubles("center")?, scale: fields.doubles("scale")? };
        if scaling.center.len() != data.ncols() || scaling.scale.len() != data.ncols() {
            return Err(Failure::argument("`center` and `scale` need one number a column"));
        }
        let family = Family::read(&features)?;
        family.check_new_data()?;
        let features = family.features(Samples::single(data, scaling))?;
        let coefficients = Fields::new(&coefficients, "coefficients")?;
        let steps = count(&steps, "steps")?;
        if steps > MOST_STEPS {
            return Err(Failure::argument(format!("a path has at most {MOST_STEPS} values")));
        }
        let by_step = gather(&coefficients, steps, data.ncols(), &features)?;
        let rows = data.nrows();
        let scores = by_step.iter().flat_map(|theta| features.scores(0..rows, theta)).collect();
        let scores = Array2::from_shape_vec((rows, by_step.len()).f(), scores);
        matrix_for_r(scores.map_err(|error| Failure::argument(error.to_string()))?.view())
    })
}

/// Coefficients by step and factor from one entry each; anything out of range is refused.
fn gather(
    entries: &Fields,
    steps: usize,
    variables: usize,
    features: &Features,
) -> Result<Vec<Coefficients>> {
    let columns = ["step", "from", "to", "term"].map(|name| entries.integers(name));
    let [step, from, to, term] = columns;
    let (step, from, to, term, values) = (step?, from?, to?, term?, entries.doubles("value")?);
    if [step.len(), from.len(), to.len(), term.len()] != [values.len(); 4] {
        return Err(Failure::argument("the columns of the coefficients differ in length"));
    }
    let below = |number: i32, end: usize| {
        let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        index
            .filter(|index| *index < end)
            .ok_or_else(|| Failure::argument("a coefficient is out of range"))
    };
    let mut placed = Vec::with_capacity(values.len());
    for (k, value) in values.iter().enumerate() {
        let u = below(to[k], variables)?;
        let v = below(from[k], u + 1)?;
        let size = features.size_of(u, v);
        let place = (below(step[k], steps)?, factor_index(u, v));
        placed.push((place, size, below(term[k], size)?, *value));
    }
    // A path lists them in this order already, which the sort is quick to see.
    placed.sort_by_key(|(place, ..)| *place);
    let mut by_step = vec![Coefficients::default(); steps];
    let mut theta = Vec::new();
    for factor in placed.chunk_by(|one, next| one.0 == next.0) {
        let ((step, index), size, ..) = factor[0];
        theta.clear();
        theta.resize(size, 0.0);
        factor.iter().for_each(|(_, _, term, value)| theta[*term] = *value);
        by_step[step].push(index, &theta);
    }
    Ok(by_step)
}

/// Both samples as a fit would standardise them, and by what.
#[extendr]
fn standardize_samples(x: Robj, y: Robj, how: Robj) -> Robj {
    guard(|| {
        let (x, y) = (matrix(&x, "x")?, matrix(&y, "y")?);
        let samples = Samples::new(x, y, standardize(string(&how, "standardize")?)?)?;
        let (x_scaling, y_scaling) = (samples.x_scaling.clone(), samples.y_scaling.clone());
        named_list([
            ("stack", stack_for_r(samples)?),
            ("center_x", Robj::from(x_scaling.center)),
            ("scale_x", Robj::from(x_scaling.scale)),
            ("center_y", Robj::from(y_scaling.center)),
            ("scale_y", Robj::from(y_scaling.scale)),
        ])
    })
}

/// One sample as a fit would standardise it within.
#[extendr]
fn standardize_alone(sample: Robj) -> Robj {
    guard(|| stack_for_r(Samples::alone(matrix(&sample, "sample")?)?))
}

fn stack_for_r(samples: Samples) -> Result<Robj> {
    let shape = (samples.rows(), samples.variables());
    let values = samples.into_values();
    let stack = ArrayView2::from_shape(shape.f(), &values);
    matrix_for_r(stack.map_err(|error| Failure::argument(error.to_string()))?)
}
