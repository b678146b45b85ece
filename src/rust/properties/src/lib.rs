//! Pairs of samples that are hard to fit, as recipes that a failing test can shrink.

use kliepnet_core::error::Error;
use kliepnet_core::features::Basis;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::samples::Standardize;
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use proptest::sample::select;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Cauchy, Distribution, StandardNormal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How single values are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Normal.
    Normal,
    /// Cauchy: no moments.
    Heavy,
    /// Normal, rounded: nearly all are tied.
    Ties,
    /// Plus and minus one.
    Signs,
}

/// What else is odd about the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twist {
    /// Nothing.
    None,
    /// One row of `x` a million times as large.
    Outlier,
    /// Every row of `y` is there three times.
    DuplicateRows,
    /// Two columns are the same.
    DuplicateColumns,
    /// All rows of `x` are the same.
    EqualRows,
    /// One column is constant in both.
    Constant,
    /// `y` lies far off `x` in one variable.
    Separable,
    /// `y` is `x`.
    SameSamples,
}

/// A recipe for a pair of samples.
#[derive(Debug, Clone)]
pub struct Hard {
    /// Variables.
    pub variables: usize,
    /// Rows of `x` and of `y`.
    pub rows: (usize, usize),
    /// Single values.
    pub values: Values,
    /// What else.
    pub twist: Twist,
    /// Powers of ten that the first and the last column are multiplied by; the others lie between.
    pub scales: (i32, i32),
    /// How they are standardised.
    pub standardize: Standardize,
    /// Of the random numbers.
    pub seed: u64,
}

/// Any recipe; it shrinks towards few rows and columns of plain normal values.
pub fn hard() -> impl Strategy<Value = Hard> {
    let rows = || prop_oneof![6 => 2_usize..30, 2 => Just(2_usize), 1 => 60_usize..90];
    let values = select(vec![Values::Normal, Values::Heavy, Values::Ties, Values::Signs]);
    let twist = select(vec![
        Twist::None,
        Twist::Outlier,
        Twist::DuplicateRows,
        Twist::DuplicateColumns,
        Twist::EqualRows,
        Twist::Constant,
        Twist::Separable,
        Twist::SameSamples,
    ]);
    let scales = prop_oneof![
        Just((0, 0)),
        (-8..=8_i32).prop_map(|power| (power, power)),
        (-8..=8_i32, -8..=8_i32)
    ];
    let standardize = select(vec![Standardize::Within, Standardize::Pooled, Standardize::None]);
    (2_usize..7, (rows(), rows()), values, twist, scales, standardize, 0_u64..1 << 16).prop_map(
        |(variables, rows, values, twist, scales, standardize, seed)| Hard {
            variables,
            rows,
            values,
            twist,
            scales,
            standardize,
            seed,
        },
    )
}

/// Directions, families of products and penalties.
pub fn directions() -> impl Strategy<Value = Direction> {
    select(vec![Direction::Forward, Direction::Backward, Direction::Symmetric])
}

/// Families of products of powers.
pub fn bases() -> impl Strategy<Value = Basis> {
    let cubic = Basis { power: 1.0, pair: vec![(1, 1), (1, 2), (2, 1)], single: vec![2, 1] };
    let pairs = Basis { power: 1.0, pair: vec![(1, 1)], single: vec![] };
    let roots = Basis { power: 0.5, pair: vec![(1, 1)], single: vec![2] };
    select(vec![Basis::gaussian(), pairs, roots, cubic])
}

impl Hard {
    /// The samples of the recipe.
    pub fn samples(&self) -> (Array2<f64>, Array2<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut x = self.draw(self.rows.0, 0.2, &mut rng);
        let mut y = self.draw(self.rows.1, 0.6, &mut rng);
        match self.twist {
            Twist::None => {}
            Twist::Outlier => x.row_mut(0).mapv_inplace(|value| 1e6 * value),
            Twist::DuplicateRows => {
                y = ndarray::concatenate(Axis(0), &[y.view(), y.view(), y.view()])
                    .expect("the same columns");
            }
            Twist::DuplicateColumns => {
                for sample in [&mut x, &mut y] {
                    let first = sample.column(0).to_owned();
                    sample.column_mut(1).assign(&first);
                }
            }
            Twist::EqualRows => {
                let first = x.row(0).to_owned();
                x.rows_mut().into_iter().for_each(|mut row| row.assign(&first));
            }
            Twist::Constant => {
                x.column_mut(0).fill(1.0);
                y.column_mut(0).fill(1.0);
            }
            Twist::Separable => y.column_mut(0).mapv_inplace(|value| value + 1e3),
            Twist::SameSamples => y = x.clone(),
        }
        let (first, last) = (self.scales.0 as f64, self.scales.1 as f64);
        for u in 0..self.variables {
            let share = u as f64 / (self.variables - 1) as f64;
            let scale = 10_f64.powf(first + share * (last - first));
            x.column_mut(u).mapv_inplace(|value| scale * value);
            y.column_mut(u).mapv_inplace(|value| scale * value);
        }
        (x, y)
    }

    fn draw(&self, rows: usize, link: f64, rng: &mut ChaCha8Rng) -> Array2<f64> {
        let cauchy = Cauchy::new(0.0, 1.0).expect("a Cauchy distribution");
        let mut sample =
            Array2::from_shape_simple_fn((rows, self.variables), || match self.values {
                Values::Heavy => cauchy.sample(rng),
                Values::Signs => {
                    if rng.random_bool(0.5) {
                        1.0
                    } else {
                        -1.0
                    }
                }
                _ => StandardNormal.sample(rng),
            });
        if self.values != Values::Signs {
            for u in 1..self.variables {
                let before = sample.column(u - 1).to_owned();
                sample.column_mut(u).scaled_add(link, &before);
            }
        }
        if self.values == Values::Ties {
            sample.mapv_inplace(f64::round);
        }
        sample
    }
}

/// Run something that takes a monitor, and cancel it when the time is over: what comes back then is
/// `Error::Interrupted`, which no test accepts.
pub fn in_time<T: Send>(
    limit: Duration,
    work: impl FnOnce(&Monitor) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let monitor = Monitor::new();
    let (done, over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            let over = over;
            if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                monitor.cancel();
            }
        });
        let outcome = work(&monitor);
        drop(done);
        outcome
    })
}
