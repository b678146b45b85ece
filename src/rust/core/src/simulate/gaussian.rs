//! Draws from a Gaussian given by its precision matrix.

use crate::error::{room_for, Error, Result};
use crate::monitor::Monitor;
use crate::numerics::cholesky::Cholesky;
use ndarray::{Array2, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// `n` rows of N(0, precision^-1): with `precision = L L'`, `L'^-1 z` has that covariance.
pub fn draw(
    precision: ArrayView2<'_, f64>,
    n: usize,
    seed: u64,
    monitor: &Monitor,
) -> Result<Array2<f64>> {
    let d = precision.nrows();
    if precision.ncols() != d {
        return Err(Error::Argument("a precision matrix is square".into()));
    }
    let lower: Vec<f64> = precision.iter().copied().collect();
    let factor = Cholesky::new(&lower, d)
        .ok_or_else(|| Error::Argument("the precision matrix is not positive definite".into()))?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut sample = room_for(n, d)?;
    let mut row = vec![0.0; d];
    for _ in 0..n {
        monitor.check()?;
        row.iter_mut().for_each(|z| *z = StandardNormal.sample(&mut rng));
        factor.solve_transposed(&mut row);
        sample.extend_from_slice(&row);
    }
    Array2::from_shape_vec((n, d), sample).map_err(|error| Error::Numeric(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_covariance_is_the_inverse_precision() {
        let precision = ndarray::array![[2.0, 0.6], [0.6, 1.0]];
        let n = 200_000;
        let sample = draw(precision.view(), n, 3, &Monitor::new()).unwrap();
        let moment = |u: usize, v: usize| {
            sample.rows().into_iter().map(|row| row[u] * row[v]).sum::<f64>() / n as f64
        };
        let determinant = 2.0 - 0.36;
        let truth = [[1.0 / determinant, -0.6 / determinant], [0.0, 2.0 / determinant]];
        for (u, v) in [(0, 0), (0, 1), (1, 1)] {
            // Five standard errors of a second moment of unit scale.
            assert!((moment(u, v) - truth[u][v]).abs() < 5.0 * 1.6 / (n as f64).sqrt());
        }
    }

    #[test]
    fn one_seed_one_sample() {
        let precision = ndarray::array![[2.0, 0.6], [0.6, 1.0]];
        let draw = |seed| draw(precision.view(), 5, seed, &Monitor::new()).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn an_indefinite_precision_is_refused() {
        let precision = ndarray::array![[1.0, 2.0], [2.0, 1.0]];
        assert!(matches!(draw(precision.view(), 5, 1, &Monitor::new()), Err(Error::Argument(_))));
    }
}
