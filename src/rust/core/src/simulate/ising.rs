//! The Ising model, by Gibbs sampling.

use super::chains::Sampler;
use super::couplings::Couplings;
use crate::error::Result;
use ndarray::ArrayView2;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Density `exp(sum_u theta_uu x_u + sum_{u<v} theta_uv x_u x_v)` on `{-1, 1}^d`.
#[derive(Debug, Clone)]
pub struct Ising {
    couplings: Couplings,
}

impl Ising {
    /// The model of a finite symmetric matrix; its diagonal is the external field.
    pub fn new(theta: ArrayView2<'_, f64>) -> Result<Self> {
        Couplings::new(theta).map(|couplings| Self { couplings })
    }
}

impl Sampler for Ising {
    fn variables(&self) -> usize {
        self.couplings.variables()
    }

    fn start(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        (0..self.variables()).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect()
    }

    fn sweep(&self, state: &mut [f64], rng: &mut ChaCha8Rng) {
        for u in 0..state.len() {
            let field = self.couplings.field(u, state, |x| x);
            let up = 1.0 / (1.0 + (-2.0 * field).exp());
            state[u] = if rng.random::<f64>() < up { 1.0 } else { -1.0 };
        }
    }

    fn statistic(&self, value: f64) -> f64 {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::super::chains::{draw, Schedule};
    use super::*;
    use crate::monitor::Monitor;
    use ndarray::array;

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn states_have_their_probabilities() {
        let theta = array![
            [0.2, 0.8, -0.5, 0.0],
            [0.8, 0.0, 0.3, 0.4],
            [-0.5, 0.3, -0.3, 0.6],
            [0.0, 0.4, 0.6, 0.0]
        ];
        let states: Vec<Vec<f64>> = (0..16u32)
            .map(|k| (0..4).map(|u| if k >> u & 1 == 1 { 1.0 } else { -1.0 }).collect())
            .collect();
        let weight = |x: &[f64]| {
            let pairs = (0..4).flat_map(|u| (0..u).map(move |v| (u, v)));
            let edges: f64 = pairs.map(|(u, v)| theta[[u, v]] * x[u] * x[v]).sum();
            (edges + (0..4).map(|u| theta[[u, u]] * x[u]).sum::<f64>()).exp()
        };
        let total: f64 = states.iter().map(|x| weight(x)).sum();
        let n = 100_000;
        let ising = Ising::new(theta.view()).unwrap();
        let schedule = Schedule { burn_in: 100, thin: 20, chains: 4 };
        let sample = draw(&ising, n, schedule, 2, &Monitor::new()).unwrap().sample;
        for state in &states {
            let p = weight(state) / total;
            let hits = sample.rows().into_iter().filter(|row| row.iter().eq(state.iter())).count();
            // Five standard errors of a share; twenty sweeps leave no correlation to speak of.
            let tolerance = 5.0 * (p * (1.0 - p) / n as f64).sqrt();
            assert!((hits as f64 / n as f64 - p).abs() < tolerance, "{state:?}");
        }
    }

    #[test]
    fn a_strong_field_wins() {
        let theta = array![[800.0, 0.0], [0.0, -800.0]];
        let ising = Ising::new(theta.view()).unwrap();
        let schedule = Schedule { burn_in: 1, thin: 1, chains: 2 };
        let draws = draw(&ising, 10, schedule, 2, &Monitor::new()).unwrap();
        assert!(draws.sample.rows().into_iter().all(|row| row[0] == 1.0 && row[1] == -1.0));
        assert!(draws.effective.is_nan());
    }
}
