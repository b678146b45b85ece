//! The second moments of both samples.

use crate::error::{Error, Result};
use ndarray::ArrayView2;

/// The second moments of both samples: symmetric matrices of the same size, row by row.
#[derive(Debug, Clone)]
pub struct Moments {
    pub(super) variables: usize,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

impl Moments {
    /// Copy a pair of square matrices; of each the lower triangle counts.
    pub fn new(x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> Result<Self> {
        let variables = x.nrows();
        if [x.ncols(), y.nrows(), y.ncols()] != [variables; 3] || variables < 2 {
            return Err(Error::Argument("moments are square matrices of the same size".into()));
        }
        let symmetric = |matrix: ArrayView2<'_, f64>| {
            let entry = |k: usize| {
                let (u, v) = (k / variables, k % variables);
                matrix[(u.max(v), u.min(v))]
            };
            (0..variables * variables).map(entry).collect::<Vec<_>>()
        };
        let moments = Self { variables, x: symmetric(x), y: symmetric(y) };
        if moments.x.iter().chain(&moments.y).all(|value| value.is_finite()) {
            Ok(moments)
        } else {
            Err(Error::Argument("moments must be finite".into()))
        }
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// Row u of the moments of `x`.
    #[inline(always)]
    pub(super) fn x_row(&self, u: usize) -> &[f64] {
        &self.x[u * self.variables..][..self.variables]
    }

    /// Row u of the moments of `y`.
    #[inline(always)]
    pub(super) fn y_row(&self, u: usize) -> &[f64] {
        &self.y[u * self.variables..][..self.variables]
    }
}
