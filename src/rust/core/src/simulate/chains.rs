//! Markov chains run side by side, and what their draws are worth.
//!
//! The number of chains is part of what is drawn and the number of threads is not: every chain has
//! a random stream of its own, so one seed gives the same sample however many run at a time.

use crate::error::{room_for, Error, Result};
use crate::monitor::Monitor;
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// A distribution that is drawn from by updating a state.
pub trait Sampler: Sync {
    /// The length of a state.
    fn variables(&self) -> usize;
    /// A state to start from, the same in distribution for all chains.
    fn start(&self, rng: &mut ChaCha8Rng) -> Vec<f64>;
    /// Update every variable once.
    fn sweep(&self, state: &mut [f64], rng: &mut ChaCha8Rng);
    /// The function of a variable by which mixing is judged.
    fn statistic(&self, value: f64) -> f64;
}

/// How long the chains run.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Sweeps before the first draw of a chain.
    pub burn_in: usize,
    /// Sweeps from one draw of a chain to the next.
    pub thin: usize,
    /// The number of chains.
    pub chains: usize,
}

/// A sample, and the smallest effective size over its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// One draw a row.
    pub sample: Array2<f64>,
    /// How many independent draws the sample is worth, where that is least; NaN if nothing moved.
    pub effective: f64,
}

/// `n` draws. Chains take turns in the rows, so that neighbouring rows come from different chains.
pub fn draw(
    sampler: &impl Sampler,
    n: usize,
    schedule: Schedule,
    seed: u64,
    monitor: &Monitor,
) -> Result<Draws> {
    if schedule.thin == 0 || schedule.chains == 0 {
        return Err(Error::Argument("at least one chain, and one sweep a draw".into()));
    }
    let d = sampler.variables();
    let count = schedule.chains.min(n);
    // The chains and the sample; a chain asks for its part again.
    room_for(n, d.saturating_mul(2))?;
    let chains: Vec<Array2<f64>> = (0..count)
        .into_par_iter()
        .map(|chain| {
            let length = (n - chain).div_ceil(count);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(chain as u64);
            run_chain(sampler, length, schedule, &mut rng, monitor)
        })
        .collect::<Result<_>>()?;
    let mut sample = Array2::zeros((n, d));
    for (row, mut target) in sample.rows_mut().into_iter().enumerate() {
        target.assign(&chains[row % count].row(row / count));
    }
    let sizes = (0..d).map(|u| {
        let series: Vec<Vec<f64>> = chains
            .iter()
            .map(|chain| chain.column(u).iter().map(|x| sampler.statistic(*x)).collect())
            .collect();
        effective_size(&series)
    });
    // f64::min leaves NaN out.
    Ok(Draws { effective: sizes.fold(f64::NAN, f64::min), sample })
}

fn run_chain(
    sampler: &impl Sampler,
    length: usize,
    schedule: Schedule,
    rng: &mut ChaCha8Rng,
    monitor: &Monitor,
) -> Result<Array2<f64>> {
    let mut state = sampler.start(rng);
    let mut draws = Array2::zeros((length, state.len()));
    let mut sweeps = schedule.burn_in;
    for mut target in draws.rows_mut() {
        for _ in 0..sweeps {
            monitor.check()?;
            sampler.sweep(&mut state, rng);
        }
        target.iter_mut().zip(&state).for_each(|(t, x)| *t = *x);
        sweeps = schedule.thin;
    }
    Ok(draws)
}

/// `N / (1 + 2 sum_t rho_t)`, at most `N`, for `N` draws in all. The autocorrelations are taken
/// about the mean of all chains, so that chains which stay apart count as slow mixing, and summed
/// over Geyer's (1992) initial monotone sequence of pairs, which ends with the first pair that
/// independent draws could show as well: two of its standard errors there. The smallest of many
/// sizes would otherwise be that of the noise. NaN for a series that never moves.
pub fn effective_size(chains: &[Vec<f64>]) -> f64 {
    let total = chains.iter().map(Vec::len).sum::<usize>() as f64;
    let longest = chains.iter().map(Vec::len).max().unwrap_or(0);
    let mean = chains.iter().flatten().sum::<f64>() / total;
    let centred: Vec<Vec<f64>> =
        chains.iter().map(|chain| chain.iter().map(|value| value - mean).collect()).collect();
    let covariance = |lag: usize| {
        let products = centred.iter().filter(|chain| chain.len() > lag);
        products.map(|c| c.iter().zip(&c[lag..]).map(|(a, b)| a * b).sum::<f64>()).sum::<f64>()
    };
    let variance = covariance(0);
    if variance <= 0.0 {
        return f64::NAN;
    }
    let noise = 2.0 * (2.0 / total).sqrt();
    let (mut sum, mut last) = (0.0, f64::INFINITY);
    for lag in (0..longest).step_by(2) {
        let pair = (covariance(lag) + covariance(lag + 1)) / variance;
        if pair <= noise {
            break;
        }
        last = pair.min(last);
        sum += last;
    }
    total / (2.0 * sum - 1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    /// An autoregressive process: variance 1 and autocorrelation `rho^t`.
    struct Autoregression {
        rho: f64,
    }

    impl Sampler for Autoregression {
        fn variables(&self) -> usize {
            2
        }

        fn start(&self, _: &mut ChaCha8Rng) -> Vec<f64> {
            vec![100.0; 2]
        }

        fn sweep(&self, state: &mut [f64], rng: &mut ChaCha8Rng) {
            for x in state {
                let z: f64 = StandardNormal.sample(rng);
                *x = self.rho * *x + (1.0 - self.rho * self.rho).sqrt() * z;
            }
        }

        fn statistic(&self, value: f64) -> f64 {
            value
        }
    }

    fn draw_autoregression(rho: f64, n: usize, schedule: Schedule, seed: u64) -> Draws {
        draw(&Autoregression { rho }, n, schedule, seed, &Monitor::new()).unwrap()
    }

    const SCHEDULE: Schedule = Schedule { burn_in: 200, thin: 1, chains: 4 };

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_effective_size_of_an_autoregression() {
        // N (1 - rho) / (1 + rho); its estimate is good to a tenth or two at this length.
        for (rho, tolerance) in [(0.0, 0.1), (0.5, 0.1), (0.9, 0.2)] {
            let n = 40_000;
            let truth = n as f64 * (1.0 - rho) / (1.0 + rho);
            let found = draw_autoregression(rho, n, SCHEDULE, 7).effective;
            assert!((found / truth - 1.0).abs() < tolerance, "{rho}: {found} against {truth}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn thinning_raises_the_effective_size_and_burning_in_forgets_the_start() {
        let draws = |thin, burn_in| {
            draw_autoregression(0.9, 4000, Schedule { burn_in, thin, chains: 4 }, 7)
        };
        assert!(draws(20, 200).effective > 4.0 * draws(1, 200).effective);
        assert!(draws(1, 0).sample[[0, 0]] == 100.0);
        assert!(draws(1, 200).sample[[0, 0]].abs() < 5.0);
    }

    #[test]
    fn chains_that_stay_apart_are_worth_one_draw_each() {
        let stuck: Vec<Vec<f64>> = (0..5).map(|chain| vec![f64::from(chain); 100]).collect();
        let found = effective_size(&stuck);
        assert!(found < 10.0, "{found}");
        assert!(effective_size(&[vec![1.0; 10], vec![1.0; 10]]).is_nan());
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_sample_depends_on_the_seed_and_not_on_the_threads() {
        let on = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| draw_autoregression(0.5, 103, SCHEDULE, seed))
        };
        assert_eq!(on(1, 1), on(3, 1));
        assert_ne!(on(1, 1).sample, on(1, 2).sample);
    }

    #[test]
    fn every_row_is_a_draw_of_its_own() {
        for n in [1, 3, 4, 5, 11] {
            let sample = draw_autoregression(0.5, n, SCHEDULE, 1).sample;
            assert_eq!(sample.dim(), (n, 2));
            let mut values: Vec<u64> = sample.iter().map(|x| x.to_bits()).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), 2 * n);
        }
    }

    #[test]
    fn a_cancelled_run_ends() {
        let monitor = Monitor::new();
        monitor.cancel();
        let outcome = draw(&Autoregression { rho: 0.5 }, 10, SCHEDULE, 1, &monitor);
        assert_eq!(outcome, Err(Error::Interrupted));
    }
}
