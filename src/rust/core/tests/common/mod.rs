//! Random problems and settings shared by the tests.
#![allow(dead_code)] // Each test file uses its own part.

use kliepnet_core::data::{Samples, Standardize};
use kliepnet_core::factors::PenaltyFactors;
use kliepnet_core::features::{Basis, Features};
use kliepnet_core::loss::{Direction, Loss};
use kliepnet_core::path::{Grid, Method, Settings};
use kliepnet_core::problem::Problem;
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Two samples of n rows; the second has a stronger link between neighbours.
pub fn samples(d: usize, n: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |link: f64| {
        let mut sample: Array2<f64> =
            Array2::from_shape_simple_fn((n, d), || StandardNormal.sample(&mut rng));
        for u in 1..d {
            let before = sample.column(u - 1).to_owned();
            sample.column_mut(u).scaled_add(link, &before);
        }
        sample
    };
    (draw(0.2), draw(0.6))
}

/// A problem with these features, direction and penalty factors.
pub fn problem(
    (x, y): &(Array2<f64>, Array2<f64>),
    basis: Basis,
    direction: Direction,
    penalty: PenaltyFactors,
) -> Problem {
    let samples = Samples::new(x.view(), y.view(), Standardize::Within).unwrap();
    let features = Features::new(samples, basis).unwrap();
    let loss = Loss::density_ratio(direction, x.nrows(), y.nrows());
    Problem::new(features, loss, penalty).unwrap()
}

/// The plain case.
pub fn gaussian_problem(d: usize, n: usize, seed: u64) -> Problem {
    let equal = PenaltyFactors::equal();
    problem(&samples(d, n, seed), Basis::gaussian(), Direction::Forward, equal)
}

/// Three features a pair, two a variable.
pub fn cubic() -> Basis {
    Basis { power: 1.0, pair: vec![(1, 1), (1, 2), (2, 1)], single: vec![2, 1] }
}

/// The usual settings for samples of n rows each.
pub fn settings(n: usize, lambda1: f64, grid: Grid, method: Method) -> Settings {
    Settings { lambda1, grid, method, tolerance: 1e-6, max_iter: 20_000, denominator: n..2 * n }
}
