//! How close one pass over all factors comes to the machine's double-precision peak, on one thread.
//!
//! `cargo bench -p kliepnet-core --bench pass` prints both and their ratio.

#[cfg(feature = "avx512")]
extern crate pulp_avx512 as pulp;

use kliepnet_core::design::scan::{Query, Scanner};
use kliepnet_core::features::{Basis, Products};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::numerics::simd::dispatch;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::samples::{Samples, Standardize};
use ndarray::Array2;
use pulp::{Simd, WithSimd};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::hint::black_box;
use std::time::Instant;

/// Multiply-adds that wait for nothing but each other: more running sums than the units hide.
struct Peak {
    rounds: usize,
}

impl WithSimd for Peak {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        const SUMS: usize = 12;
        let factor = simd.splat_f64s(black_box(0.999_999));
        let mut sums = [simd.splat_f64s(black_box(1.0)); SUMS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f64s(*sum, factor, factor);
            }
        }
        let total = sums.iter().map(|sum| simd.reduce_sum_f64s(*sum)).sum();
        (total, (2 * SUMS * S::F64_LANES * self.rounds) as f64)
    }
}

/// The seconds that this thread has had a processor, where the system tells. By the clock, what takes
/// longer is interrupted more often, and comes out slower than the peak that it is compared with.
fn processor_seconds() -> Option<f64> {
    // The count is brought up to date where the thread gives way.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(told.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// The best of several runs, in operations a second: the machine is shared.
fn best(runs: usize, mut work: impl FnMut() -> f64) -> f64 {
    (0..runs)
        .map(|_| {
            let (clock, begun) = (Instant::now(), processor_seconds());
            let operations = work();
            let seconds = match (begun, processor_seconds()) {
                (Some(begun), Some(ended)) => ended - begun,
                _ => clock.elapsed().as_secs_f64(),
            };
            operations / seconds
        })
        .fold(0.0, f64::max)
}

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(rng))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (d, n) = (5000, 100);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (x, y) = (normal(n, d, &mut rng), normal(n, d, &mut rng));
    let samples = Samples::new(x.view(), y.view(), Standardize::Within)?;
    let features = Products::new(samples, Basis::gaussian())?;
    let scanner = Scanner::new(&features);
    let mut weights = vec![1.0 / n as f64; 2 * n];
    weights[n..].fill(-1.0 / n as f64);
    let penalty_factor = PenaltyFactors::equal();
    let monitor = Monitor::new();
    let query = Query {
        weights: &weights,
        penalty_factor: &penalty_factor,
        level: 3.0 * (2.0 / n as f64).sqrt(),
    };
    // Each pair costs one multiplication and one addition a row.
    let operations = (features.factors() * 2 * features.rows()) as f64;
    let (mut peak, mut pass) = (0.0_f64, 0.0_f64);
    for _ in 0..5 {
        peak = peak.max(best(3, || dispatch(Peak { rounds: black_box(5_000_000) }).1));
        pass = pass.max(pool.install(|| {
            best(3, || {
                black_box(scanner.all(&features, query, &monitor)).map_or(0.0, |_| operations)
            })
        }));
    }
    println!("peak_gflops {:.1}", peak / 1e9);
    println!("pass_gflops {:.1}", pass / 1e9);
    println!("pass_of_peak {:.3}", pass / peak);
    Ok(())
}
