//! The two samples, standardised and stacked: what every feature is computed from.

use crate::error::{Error, Result};
use ndarray::{ArrayView1, ArrayView2};

/// How the columns are centred and scaled before any feature is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standardize {
    /// Each sample by its own means and standard deviations.
    Within,
    /// Both samples by those of all rows together.
    Pooled,
    /// Not at all.
    None,
}

/// The centres and scales of the columns of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Subtracted from each column.
    pub center: Vec<f64>,
    /// Then each column is divided by this.
    pub scale: Vec<f64>,
}

impl Scaling {
    /// The scaling that changes nothing.
    pub fn identity(columns: usize) -> Self {
        Self { center: vec![0.0; columns], scale: vec![1.0; columns] }
    }

    /// Mean and standard deviation (n - 1) of every column over the rows of all samples.
    fn measure(samples: &[ArrayView2<'_, f64>]) -> Result<Self> {
        let columns = samples[0].ncols();
        let mut scaling = Self::identity(columns);
        for u in 0..columns {
            let parts: Vec<_> = samples.iter().map(|sample| sample.column(u)).collect();
            let (center, scale) = mean_and_deviation(&parts);
            if !(scale > 0.0 && scale.is_finite()) {
                return Err(Error::Argument(format!("column {} cannot be scaled", u + 1)));
            }
            scaling.center[u] = center;
            scaling.scale[u] = scale;
        }
        Ok(scaling)
    }

    /// One column, centred and scaled, into `out`.
    fn apply(&self, column: usize, values: ArrayView1<'_, f64>, out: &mut [f64]) {
        let (center, scale) = (self.center[column], self.scale[column]);
        for (target, value) in out.iter_mut().zip(values) {
            *target = (value - center) / scale;
        }
    }
}

/// Over the parts together. Measured in units of the largest value: squares of 1e200 overflow.
fn mean_and_deviation(parts: &[ArrayView1<'_, f64>]) -> (f64, f64) {
    let values = || parts.iter().flat_map(|part| part.iter().copied());
    let count = values().count() as f64;
    let unit = values().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if unit == 0.0 {
        return (0.0, 0.0);
    }
    let mean = values().map(|x| x / unit).sum::<f64>() / count;
    let squares = values().map(|x| (x / unit - mean).powi(2)).sum::<f64>();
    (mean * unit, (squares / (count - 1.0)).sqrt() * unit)
}

/// Rows of `x`, then rows of `y`, variable after variable: one variable's values lie side by side.
#[derive(Debug, Clone)]
pub struct Samples {
    variables: usize,
    x_rows: usize,
    y_rows: usize,
    values: Vec<f64>,
    /// What was done to `x`.
    pub x_scaling: Scaling,
    /// What was done to `y`.
    pub y_scaling: Scaling,
}

impl Samples {
    /// Standardise and stack a pair of samples with the same columns.
    pub fn new<'a>(
        x: ArrayView2<'a, f64>,
        y: ArrayView2<'a, f64>,
        standardize: Standardize,
    ) -> Result<Self> {
        if x.ncols() != y.ncols() || x.ncols() == 0 || x.nrows() == 0 || y.nrows() == 0 {
            return Err(Error::Argument("the samples need rows and the same columns".into()));
        }
        let (x_scaling, y_scaling) = match standardize {
            Standardize::Within => (Scaling::measure(&[x])?, Scaling::measure(&[y])?),
            Standardize::Pooled => {
                let both = Scaling::measure(&[x, y])?;
                (both.clone(), both)
            }
            Standardize::None => (Scaling::identity(x.ncols()), Scaling::identity(x.ncols())),
        };
        Ok(Self::stack(x, y, x_scaling, y_scaling))
    }

    /// One sample by itself, in units of its own.
    pub fn alone(sample: ArrayView2<'_, f64>) -> Result<Self> {
        if sample.ncols() == 0 || sample.nrows() == 0 {
            return Err(Error::Argument("a sample needs rows and columns".into()));
        }
        let scaling = Scaling::measure(&[sample])?;
        Ok(Self::single(sample, scaling))
    }

    /// One sample by itself, as a stack whose other part is empty: for scores on new data.
    pub fn single(sample: ArrayView2<'_, f64>, scaling: Scaling) -> Self {
        let none = sample.slice(ndarray::s![..0, ..]);
        Self::stack(none, sample, scaling.clone(), scaling)
    }

    fn stack(
        x: ArrayView2<'_, f64>,
        y: ArrayView2<'_, f64>,
        x_scaling: Scaling,
        y_scaling: Scaling,
    ) -> Self {
        let (variables, x_rows, y_rows) = (x.ncols(), x.nrows(), y.nrows());
        let mut values = vec![0.0; variables * (x_rows + y_rows)];
        for (u, column) in values.chunks_exact_mut((x_rows + y_rows).max(1)).enumerate() {
            let (x_part, y_part) = column.split_at_mut(x_rows);
            x_scaling.apply(u, x.column(u), x_part);
            y_scaling.apply(u, y.column(u), y_part);
        }
        Self { variables, x_rows, y_rows, values, x_scaling, y_scaling }
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// How many rows of the stack are `x`.
    pub fn x_rows(&self) -> usize {
        self.x_rows
    }

    /// How many rows of the stack are `y`.
    pub fn y_rows(&self) -> usize {
        self.y_rows
    }

    /// All rows of the stack.
    pub fn rows(&self) -> usize {
        self.x_rows + self.y_rows
    }

    /// One variable on all rows.
    pub fn column(&self, variable: usize) -> &[f64] {
        &self.values[variable * self.rows()..][..self.rows()]
    }

    /// The values, variable after variable.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }
}
