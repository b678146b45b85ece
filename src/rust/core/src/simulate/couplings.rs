//! A symmetric matrix of couplings, as a sampler reads it: by the neighbours of a variable.

use crate::error::{Error, Result};
use ndarray::ArrayView2;

/// What stands on the diagonal, and for each variable its neighbours with their couplings.
#[derive(Debug, Clone)]
pub struct Couplings {
    /// The diagonal.
    pub own: Vec<f64>,
    /// Non-zero couplings of each variable, itself left out.
    pub neighbours: Vec<Vec<(usize, f64)>>,
}

impl Couplings {
    /// Couplings of a finite symmetric matrix.
    pub fn new(matrix: ArrayView2<'_, f64>) -> Result<Self> {
        let d = matrix.nrows();
        if matrix.ncols() != d || d == 0 {
            return Err(Error::Argument("a matrix of couplings is square".into()));
        }
        if matrix.iter().any(|value| !value.is_finite()) || matrix != matrix.t() {
            return Err(Error::Argument("couplings are finite and symmetric".into()));
        }
        let neighbours = |u: usize| {
            let row = matrix.row(u);
            let coupled = row.iter().enumerate().filter(|(v, a)| *v != u && **a != 0.0);
            coupled.map(|(v, a)| (v, *a)).collect()
        };
        Ok(Self { own: matrix.diag().to_vec(), neighbours: (0..d).map(neighbours).collect() })
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.own.len()
    }

    /// `own_u + sum_v coupling_uv of_state(state_v)`.
    pub fn field(&self, u: usize, state: &[f64], of_state: impl Fn(f64) -> f64) -> f64 {
        let terms = self.neighbours[u].iter().map(|&(v, coupling)| coupling * of_state(state[v]));
        self.own[u] + terms.sum::<f64>()
    }
}
