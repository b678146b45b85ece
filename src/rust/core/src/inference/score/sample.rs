//! The two samples as tests see them: each column with mean 0 and mean square 1, and their moments.

use crate::error::{Error, Result};
use crate::numerics::tiles::{add_gram, Panels};
use crate::samples::{Samples, Standardize};
use ndarray::ArrayView2;

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

/// One standardised sample.
#[derive(Debug, Clone)]
pub struct Sample {
    rows: usize,
    variables: usize,
    /// Variable after variable.
    values: Vec<f64>,
}

impl Sample {
    /// From values variable after variable, centred and scaled in place. A column without variation
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

    /// How many observations there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
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

/// Both samples, of the same variables.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The numerator.
    pub x: Sample,
    /// The denominator.
    pub y: Sample,
}

/// Variances and their degrees of freedom divide by `n - 2`.
const LEAST_ROWS: usize = 4;

impl Pair {
    /// Standardise each sample by itself; a constant column is an error.
    pub fn new<'a>(x: ArrayView2<'a, f64>, y: ArrayView2<'a, f64>) -> Result<Self> {
        let (x_rows, y_rows, variables) = (x.nrows(), y.nrows(), x.ncols());
        if x_rows < LEAST_ROWS || y_rows < LEAST_ROWS || variables < 2 {
            return Err(Error::Argument("tests need two variables and four rows of each".into()));
        }
        let stacked = Samples::new(x, y, Standardize::Within)?.into_values();
        let (mut x_values, mut y_values) = (Vec::new(), Vec::new());
        for column in stacked.chunks_exact(x_rows + y_rows) {
            let (x_part, y_part) = column.split_at(x_rows);
            x_values.extend_from_slice(x_part);
            y_values.extend_from_slice(y_part);
        }
        Ok(Self { x: Sample::new(x_values, x_rows), y: Sample::new(y_values, y_rows) })
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.x.variables
    }

    /// All observations.
    pub fn rows(&self) -> usize {
        self.x.rows + self.y.rows
    }

    /// The pair that a shuffle makes: these rows of both samples together as `x`, the rest as `y`.
    pub fn shuffled(&self, rows: &[usize]) -> Self {
        let mut is_x = vec![false; self.rows()];
        rows.iter().for_each(|row| is_x[*row] = true);
        let pick = |wanted: bool| {
            let mut values = Vec::new();
            for u in 0..self.variables() {
                let column = self.x.variable(u).iter().chain(self.y.variable(u));
                let kept = column.zip(&is_x).filter(|(_, is_x)| **is_x == wanted);
                values.extend(kept.map(|(value, _)| *value));
            }
            Sample::new(values, is_x.iter().filter(|is_x| **is_x == wanted).count())
        };
        Self { x: pick(true), y: pick(false) }
    }
}
