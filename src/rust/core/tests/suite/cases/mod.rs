//! Random problems and settings shared by the tests, and the reference that their solutions are
//! compared with.
#![allow(dead_code)] // The property tests use a part of it.

pub mod programme;
pub mod reference;

use kliepnet_core::features::{Basis, Features, Products};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, Grid, KliepPath, Settings, SolverChoice};
use kliepnet_core::samples::{Samples, Standardize};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use reference::Reference;

/// All directions.
pub const DIRECTIONS: [Direction; 3] =
    [Direction::Forward, Direction::Backward, Direction::Symmetric];

/// All solvers.
pub const SOLVERS: [SolverChoice; 3] =
    [SolverChoice::Auto, SolverChoice::Primal, SolverChoice::Dual];

/// Two samples of n rows; the second has a stronger link between neighbours.
pub fn samples(d: usize, n: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    samples_of(d, n, n, seed)
}

/// The same with different numbers of rows.
pub fn samples_of(d: usize, n_x: usize, n_y: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut rng = random(seed);
    let mut draw = |n: usize, link: f64| {
        let mut sample: Array2<f64> =
            Array2::from_shape_simple_fn((n, d), || StandardNormal.sample(&mut rng));
        for u in 1..d {
            let before = sample.column(u - 1).to_owned();
            sample.column_mut(u).scaled_add(link, &before);
        }
        sample
    };
    (draw(n_x, 0.2), draw(n_y, 0.6))
}

/// A stream of random numbers.
pub fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Normal values of this size.
pub fn normals(count: usize, size: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..count).map(|_| size * Distribution::<f64>::sample(&StandardNormal, rng)).collect()
}

/// All that a problem is made from.
#[derive(Clone)]
pub struct Case {
    pub x: Array2<f64>,
    pub y: Array2<f64>,
    pub standardize: Standardize,
    pub basis: Basis,
    pub direction: Direction,
    pub penalty: PenaltyFactors,
}

impl Case {
    /// The plain case on these samples.
    pub fn new((x, y): (Array2<f64>, Array2<f64>)) -> Self {
        Self {
            x,
            y,
            standardize: Standardize::Within,
            basis: Basis::gaussian(),
            direction: Direction::Forward,
            penalty: PenaltyFactors::equal(),
        }
    }

    /// The plain case.
    pub fn gaussian(d: usize, n: usize, seed: u64) -> Self {
        Self::new(samples(d, n, seed))
    }

    /// Too large to be solved over all factors at once: the default solver takes the working set.
    pub fn large(seed: u64) -> Self {
        Self::gaussian(480, 80, seed)
    }

    /// The same with three features a pair.
    pub fn large_cubic(seed: u64) -> Self {
        Self { basis: cubic(), ..Self::gaussian(300, 70, seed) }
    }

    /// The problem as the crate sees it.
    pub fn problem(&self) -> Problem {
        let samples = Samples::new(self.x.view(), self.y.view(), self.standardize).unwrap();
        let features = Products::new(samples, self.basis.clone()).unwrap();
        let loss = Loss::density_ratio(self.direction, self.x.nrows(), self.y.nrows());
        Problem::new(features, loss, self.penalty.clone()).unwrap()
    }

    /// The problem as it is defined.
    pub fn reference(&self) -> Reference {
        Reference::new(self)
    }

    /// A path with the usual settings.
    pub fn fit(&self, lambda1: f64, grid: Grid, solver: SolverChoice) -> KliepPath {
        fit(&self.problem(), &settings(lambda1, grid, solver), &Monitor::new()).unwrap()
    }
}

/// A problem with these features, direction and penalty factors.
pub fn problem(
    (x, y): &(Array2<f64>, Array2<f64>),
    basis: Basis,
    direction: Direction,
    penalty: PenaltyFactors,
) -> Problem {
    let case = Case { basis, direction, penalty, ..Case::new((x.clone(), y.clone())) };
    case.problem()
}

/// The plain case.
pub fn gaussian_problem(d: usize, n: usize, seed: u64) -> Problem {
    Case::gaussian(d, n, seed).problem()
}

/// Three features a pair, two a variable.
pub fn cubic() -> Basis {
    Basis { power: 1.0, pair: vec![(1, 1), (1, 2), (2, 1)], single: vec![2, 1] }
}

/// All monomials of two variables up to the fourth degree, powers of one included.
pub fn quartic() -> Basis {
    let pair = (0..=4).flat_map(|p| (0..=4 - p).map(move |q| (p, q)));
    let pair = pair.filter(|(p, q)| p + q > 0).collect();
    Basis { power: 1.0, pair, single: vec![1, 2, 3, 4] }
}

/// Penalty factors of every kind: by kind or each, with and without zeros and infinities.
pub fn penalty_factors(kind: usize, d: usize, rng: &mut ChaCha8Rng) -> PenaltyFactors {
    match kind % 6 {
        0 => PenaltyFactors::equal(),
        1 => PenaltyFactors::ByKind { single: 0.0, edge: 1.3 },
        2 => PenaltyFactors::ByKind { single: f64::INFINITY, edge: 0.7 },
        3 => PenaltyFactors::ByKind { single: 0.4, edge: f64::INFINITY },
        kind => {
            let mut draw = || match rng.random_range(0..10) {
                0 if kind == 5 => 0.0,
                1 if kind == 5 => f64::INFINITY,
                _ => rng.random_range(0.3..3.0),
            };
            PenaltyFactors::Each((0..d * (d + 1) / 2).map(|_| draw()).collect())
        }
    }
}

/// From lambda_max down.
pub fn down(nlambda: usize, lambda_min_ratio: f64) -> Grid {
    Grid::Geometric { nlambda, lambda_min_ratio }
}

/// The usual settings.
pub fn settings(lambda1: f64, lambda2: Grid, solver: SolverChoice) -> Settings {
    Settings { solver, ..Settings::new(lambda1, lambda2) }
}

/// The products of a problem made of them.
pub fn products(problem: &Problem) -> &Products {
    match &problem.features {
        Features::Products(products) => products,
        _ => panic!("not a problem of products"),
    }
}
