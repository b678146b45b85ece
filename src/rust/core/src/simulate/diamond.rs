//! The diamond distribution: dependence without correlation.

use super::chains::Sampler;
use super::couplings::Couplings;
use super::slice;
use crate::error::{Error, Result};
use ndarray::ArrayView2;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// In standard deviations of the conditional distribution: about the mean width of its slices, so
/// that stepping out and shrinking both are short.
const WIDTH: f64 = 3.0;

/// Density `exp(-sum_u a_uu x_u^2 - sum_{u<v} a_uv x_u^2 x_v^2)`.
#[derive(Debug, Clone)]
pub struct Diamond {
    couplings: Couplings,
}

impl Diamond {
    /// The distribution of a symmetric matrix with a positive diagonal and nothing negative.
    pub fn new(network: ArrayView2<'_, f64>) -> Result<Self> {
        let couplings = Couplings::new(network)?;
        if network.iter().any(|a| *a < 0.0) || couplings.own.iter().any(|a| *a <= 0.0) {
            return Err(Error::Argument(
                "a diamond needs a positive diagonal and no negative edge".into(),
            ));
        }
        Ok(Self { couplings })
    }
}

impl Sampler for Diamond {
    fn variables(&self) -> usize {
        self.couplings.variables()
    }

    /// Of the scale it would have without edges.
    fn start(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.couplings.own.iter().map(|a| (rng.random::<f64>() - 0.5) * 2.0 / a.sqrt()).collect()
    }

    fn sweep(&self, state: &mut [f64], rng: &mut ChaCha8Rng) {
        for u in 0..state.len() {
            // Given its neighbours, the log-density of a variable is -a x^2.
            let a = self.couplings.field(u, state, |x| x * x);
            let width = WIDTH / (2.0 * a).sqrt();
            state[u] = slice::update(state[u], width, |x| -a * x * x, rng);
        }
    }

    /// Signs are drawn anew in every sweep; sizes hang together.
    fn statistic(&self, value: f64) -> f64 {
        value * value
    }
}

#[cfg(test)]
mod tests {
    use super::super::chains::{draw, Schedule};
    use super::*;
    use crate::monitor::Monitor;
    use ndarray::array;

    const SCHEDULE: Schedule = Schedule { burn_in: 200, thin: 10, chains: 4 };

    /// `E x^2` and `E x^2 y^2` by the midpoint rule on a grid.
    fn moments(own: f64, edge: f64) -> (f64, f64) {
        let grid: Vec<f64> = (0..1200).map(|k| -3.0 + (f64::from(k) + 0.5) / 200.0).collect();
        let (mut mass, mut square, mut product) = (0.0, 0.0, 0.0);
        for x in &grid {
            for y in &grid {
                let (a, b) = (x * x, y * y);
                let density = (-own * (a + b) - edge * a * b).exp();
                mass += density;
                square += a * density;
                product += a * b * density;
            }
        }
        (square / mass, product / mass)
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn moments_of_two_variables() {
        let network = array![[2.0, 20.0], [20.0, 2.0]];
        let n = 60_000;
        let diamond = Diamond::new(network.view()).unwrap();
        let draws = draw(&diamond, n, SCHEDULE, 11, &Monitor::new()).unwrap();
        let mean = |f: fn(f64, f64) -> f64| {
            let values: Vec<f64> =
                draws.sample.rows().into_iter().map(|row| f(row[0], row[1])).collect();
            let mean = values.iter().sum::<f64>() / n as f64;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            // Five standard errors at the effective size.
            (mean, 5.0 * (variance / draws.effective).sqrt())
        };
        let (square, product) = moments(2.0, 20.0);
        for (truth, (found, tolerance)) in [
            (square, mean(|x, _| x * x)),
            (square, mean(|_, y| y * y)),
            (product, mean(|x, y| x * x * y * y)),
            (0.0, mean(|x, y| x * y)),
            (0.0, mean(|x, _| x)),
        ] {
            assert!((found - truth).abs() < tolerance, "{found} against {truth} +- {tolerance}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn without_edges_it_is_normal() {
        let network = array![[2.0, 0.0], [0.0, 0.5]];
        let n = 40_000;
        let diamond = Diamond::new(network.view()).unwrap();
        let sample = draw(&diamond, n, SCHEDULE, 3, &Monitor::new()).unwrap().sample;
        for (u, variance) in [(0, 0.25), (1, 1.0)] {
            let found = sample.column(u).iter().map(|x| x * x).sum::<f64>() / n as f64;
            assert!((found - variance).abs() < 5.0 * variance * (2.0 / n as f64).sqrt());
        }
    }

    #[test]
    fn what_has_no_density_is_refused() {
        for network in [
            array![[0.0, 1.0], [1.0, 1.0]],
            array![[1.0, -1.0], [-1.0, 1.0]],
            array![[1.0, 2.0], [1.0, 1.0]],
            array![[1.0, f64::NAN], [f64::NAN, 1.0]],
        ] {
            assert!(matches!(Diamond::new(network.view()), Err(Error::Argument(_))));
        }
    }
}
