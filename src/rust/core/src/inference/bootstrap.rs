//! The largest error over many estimates at once, by the multiplier bootstrap: influences times
//! standard normal numbers, again and again.

use crate::error::{room_for, Result};
use crate::monitor::Monitor;
use crate::numerics::simd::dispatch;
use crate::numerics::tiles::{tile, Panels, COLS, ROWS};
use pulp::{Simd, WithSimd};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Estimates that are looked at together.
pub const BLOCK: usize = ROWS;

/// The normal numbers of all draws.
#[derive(Debug)]
pub struct Multipliers {
    count: usize,
    depth: usize,
    panels: Panels<COLS>,
}

/// For each draw the largest error of a set of estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Maxima {
    /// `max_k |sum_i e_i influence_ik|`.
    pub plain: Vec<f64>,
    /// The same with each estimate in units of its standard error.
    pub studentised: Vec<f64>,
}

impl Maxima {
    /// Those of no estimate.
    pub fn none(count: usize) -> Self {
        Self { plain: vec![0.0; count], studentised: vec![0.0; count] }
    }

    /// Those of two sets of estimates together.
    pub fn merge(&mut self, other: &Self) {
        let pairs = [(&mut self.plain, &other.plain), (&mut self.studentised, &other.studentised)];
        for (mine, theirs) in pairs {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a = a.max(*b));
        }
    }
}

impl Multipliers {
    /// `count` draws for `depth` rows. One seed, one set of numbers.
    pub fn draw(count: usize, depth: usize, seed: u64, monitor: &Monitor) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Once as they are drawn and once packed.
        let mut numbers = room_for(count, depth.saturating_mul(2))?;
        for _ in 0..count {
            monitor.check()?;
            numbers.extend((0..depth).map(|_| -> f64 { StandardNormal.sample(&mut rng) }));
        }
        let panels = Panels::pack(count, depth, |draw| &numbers[draw * depth..][..depth], None);
        Ok(Self { count, depth, panels })
    }

    /// The largest errors of at most `BLOCK` estimates, given by their influences.
    pub fn maxima(&self, influences: &[&[f64]]) -> Maxima {
        let mut maxima = Maxima::none(self.count);
        if influences.is_empty() || self.count == 0 {
            return maxima;
        }
        let errors: Vec<f64> = influences.iter().map(|influence| error(influence)).collect();
        let left = Panels::pack(influences.len(), self.depth, |k| influences[k], None);
        dispatch(Draws { multipliers: self, left: &left, errors: &errors, maxima: &mut maxima });
        maxima
    }
}

/// The standard error of an estimate from its influences.
pub fn error(influence: &[f64]) -> f64 {
    influence.iter().map(|value| value * value).sum::<f64>().sqrt()
}

struct Draws<'a> {
    multipliers: &'a Multipliers,
    left: &'a Panels<ROWS>,
    errors: &'a [f64],
    maxima: &'a mut Maxima,
}

impl WithSimd for Draws<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut sums = [0.0; ROWS * COLS];
        for panel in 0..self.multipliers.panels.len() {
            let right = self.multipliers.panels.panel(panel);
            tile(simd, self.left.panel(0), right, &mut sums);
            let first = panel * COLS;
            let draws = first..self.multipliers.count.min(first + COLS);
            for (draw, column) in draws.zip(sums.chunks_exact(ROWS)) {
                for (sum, error) in column.iter().zip(self.errors) {
                    let size = sum.abs();
                    let (plain, studentised) =
                        (&mut self.maxima.plain[draw], &mut self.maxima.studentised[draw]);
                    *plain = plain.max(size);
                    *studentised = studentised.max(size / error);
                }
            }
        }
    }
}
