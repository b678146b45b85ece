//! The two samples as tests see them: each column centred and scaled, and their moments.

use crate::error::{Error, Result};
use crate::numerics::tiles::{add_gram, Panels};
use crate::samples::{Samples, Standardize};
use ndarray::ArrayView2;

/// Variances and their degrees of freedom divide by `n - 2`.
const LEAST_ROWS: usize = 4;

/// Whether every shuffle names `count` different ones of the rows.
pub fn check_shuffles(shuffles: &[Vec<usize>], count: usize, rows: usize) -> Result<()> {
    let sound = |shuffle: &Vec<usize>| {
        let mut sorted = shuffle.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == count && shuffle.len() == count && sorted.iter().all(|row| *row < rows)
    };
    if shuffles.iter().all(sound) {
        return Ok(());
    }
    Err(Error::Argument("a shuffle must name as many different rows as `x` has".into()))
}

/// One centred sample.
#[derive(Debug, Clone)]
pub struct Sample {
    rows: usize,
    variables: usize,
    /// Variable after variable.
    values: Vec<f64>,
}

impl Sample {
    /// From values variable after variable, centred and scaled in place to mean square 1. A column without variation
    /// becomes zero: in a shuffle that may happen, and its edges then have nothing to say.
    pub fn new(mut values: Vec<f64>, rows: usize) -> Self {
        for column in values.chunks_exact_mut(rows.max(1)) {
            let mean = column.iter().sum::<f64>() / rows as f64;
            column.iter_mut().for_each(|x| *x -= mean);
            let square = column.iter().map(|x| x * x).sum::<f64>() / rows as f64;
            let factor = if square > 0.0 { square.sqrt().recip() } else { 0.0 };
            column.iter_mut().for_each(|x| *x *= factor);
        }
        let variables = values.len() / rows.max(1);
        Self { rows, variables, values }
    }

    /// A sample as it was observed; a constant column is an error.
    pub fn standardized(observed: ArrayView2<'_, f64>) -> Result<Self> {
        let (rows, variables) = observed.dim();
        if rows < LEAST_ROWS || variables < 2 {
            return Err(Error::Argument("tests need two variables and four rows of each".into()));
        }
        Ok(Self::new(Samples::alone(observed)?.into_values(), rows))
    }

    /// How many observations there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// All values, variable after variable.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Each variable divided by a number of its own.
    pub fn divided(&self, by: &[f64]) -> Self {
        let mut divided = self.clone();
        for (column, by) in divided.values.chunks_exact_mut(self.rows).zip(by) {
            column.iter_mut().for_each(|x| *x /= by);
        }
        divided
    }

    /// The values of one variable.
    pub fn variable(&self, u: usize) -> &[f64] {
        &self.values[u * self.rows..][..self.rows]
    }

    /// `S`: the second moments, a full matrix whose rows have `stride` entries, zeros at their ends.
    pub fn moments(&self, stride: usize) -> Vec<f64> {
        let d = self.variables;
        let left = Panels::pack(d, self.rows, |u| self.variable(u), None);
        let right = Panels::pack(d, self.rows, |u| self.variable(u), None);
        let mut gram = vec![0.0; d * d];
        add_gram(d, &left, &right, &mut gram);
        let mut moments = vec![0.0; d * stride];
        for u in 0..d {
            for v in 0..=u {
                let moment = gram[u * d + v] / self.rows as f64;
                moments[u * stride + v] = moment;
                moments[v * stride + u] = moment;
            }
        }
        moments
    }
}

/// A sample, and the squares that its scales were estimated by.
#[derive(Debug, Clone)]
pub struct Scaled {
    sample: Sample,
    /// Variable after variable, each with mean 1: what an observation adds to its variable's scale.
    squares: Vec<f64>,
}

impl Scaled {
    /// A sample in units of its standard deviations.
    pub fn by_deviation(sample: Sample) -> Self {
        let squares = sample.values.iter().map(|x| x * x).collect();
        Self { sample, squares }
    }

    /// A sample in units of the standard deviations of what the other variables leave of each one:
    /// `residuals` has mean square 1, and `deviations` is what it was divided by.
    pub fn by_residual(sample: &Sample, residuals: &Sample, deviations: &[f64]) -> Self {
        let squares = residuals.values.iter().map(|e| e * e).collect();
        Self { sample: sample.divided(deviations), squares }
    }

    /// From values and squares that were scaled before.
    pub fn from_parts(values: ArrayView2<'_, f64>, squares: ArrayView2<'_, f64>) -> Result<Self> {
        let (rows, variables) = values.dim();
        if squares.dim() != values.dim() || rows < LEAST_ROWS || variables < 2 {
            return Err(Error::Argument("scaled samples need values and squares alike".into()));
        }
        let columns = |table: ArrayView2<'_, f64>| table.t().iter().copied().collect();
        let sample = Sample { rows, variables, values: columns(values) };
        Ok(Self { sample, squares: columns(squares) })
    }

    /// The observations.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// All squares, variable after variable.
    pub fn all_squares(&self) -> &[f64] {
        &self.squares
    }

    /// The squares of one variable.
    pub fn squares(&self, u: usize) -> &[f64] {
        &self.squares[u * self.sample.rows..][..self.sample.rows]
    }
}

/// Both samples, of the same variables.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The numerator.
    pub x: Sample,
    /// The denominator.
    pub y: Sample,
}

impl Pair {
    /// Standardise each sample by itself; a constant column is an error.
    pub fn new<'a>(x: ArrayView2<'a, f64>, y: ArrayView2<'a, f64>) -> Result<Self> {
        if x.ncols() != y.ncols() {
            return Err(Error::Argument("both samples must have the same variables".into()));
        }
        Ok(Self { x: Sample::standardized(x)?, y: Sample::standardized(y)? })
    }

    /// Both in units of their standard deviations, as tests given a support take them.
    pub fn scaled(&self) -> [Scaled; 2] {
        [self.x.clone(), self.y.clone()].map(Scaled::by_deviation)
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.x.variables
    }

    /// All observations.
    pub fn rows(&self) -> usize {
        self.x.rows + self.y.rows
    }
}

/// The rows of both samples as they are, `x` first: what shuffles move.
#[derive(Debug, Clone)]
pub struct Pool {
    rows: usize,
    /// Variable after variable.
    values: Vec<f64>,
}

impl Pool {
    /// Nothing is standardised: where rows of one sample lie elsewhere, or are spread otherwise, this
    /// shows in every shuffle.
    pub fn new<'a>(x: ArrayView2<'a, f64>, y: ArrayView2<'a, f64>) -> Result<Self> {
        let samples = Samples::new(x, y, Standardize::None)?;
        Ok(Self { rows: samples.rows(), values: samples.into_values() })
    }

    /// Whether these are different rows, and enough of them are in and out to make two samples.
    pub fn can_divide(&self, rows: &[usize]) -> bool {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let different = sorted.len() == rows.len() && sorted.iter().all(|row| *row < self.rows);
        different && rows.len() >= LEAST_ROWS && self.rows - rows.len() >= LEAST_ROWS
    }

    /// The pair that a shuffle makes: these rows as `x`, the rest as `y`, each standardised.
    pub fn divided(&self, rows: &[usize]) -> Pair {
        let mut is_x = vec![false; self.rows];
        rows.iter().for_each(|row| is_x[*row] = true);
        let pick = |wanted: bool| {
            // Which rows, found once for all variables: a branch at every value would be
            // mispredicted for half of them.
            let kept: Vec<usize> = (0..self.rows).filter(|row| is_x[*row] == wanted).collect();
            let mut values = Vec::with_capacity(kept.len() * self.values.len() / self.rows.max(1));
            for column in self.values.chunks_exact(self.rows) {
                values.extend(kept.iter().map(|row| column[*row]));
            }
            Sample::new(values, kept.len())
        };
        Pair { x: pick(true), y: pick(false) }
    }
}
