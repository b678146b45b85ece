//! The quadratic model of a Newton step, minimised with the penalty by coordinate descent.

use crate::numerics::simd::{dispatch, dot};
use crate::objective::penalty::Penalty;
use pulp::{Simd, WithSimd};

/// Sweeps over all coordinates before the model counts as solved well enough.
const SWEEPS: usize = 100;
/// Sweeps over the non-zero coordinates between two over all.
const ACTIVE_SWEEPS: usize = 5;

/// `-xi'delta + 1/2 sum_k <delta, A_k delta A_k> + penalty(theta + delta)` over some coefficients.
pub struct GaussianQuadratic<'a> {
    /// How many variables.
    pub size: usize,
    /// `A_k`, full.
    pub moments: &'a [Vec<f64>],
    /// Places i >= j of every coefficient.
    pub places: &'a [(usize, usize)],
    /// `xi` of every coefficient at the start.
    pub xi: &'a [f64],
    /// The penalty of every coefficient.
    pub penalties: &'a [Penalty],
}

impl GaussianQuadratic<'_> {
    /// `theta + delta` that nearly minimises: until no coordinate violates its condition by more than
    /// `enough`.
    pub fn minimise(&self, theta: &[f64], enough: f64) -> Vec<f64> {
        let images = self.moments.iter().map(|_| vec![0.0; self.size * self.size]).collect();
        let mut state = State { model: self, values: theta.to_vec(), images };
        for _ in 0..SWEEPS {
            if state.sweep(false) <= enough {
                break;
            }
            for _ in 0..ACTIVE_SWEEPS {
                if state.sweep(true) <= enough {
                    break;
                }
            }
        }
        state.values
    }
}

struct State<'a> {
    model: &'a GaussianQuadratic<'a>,
    /// `theta + delta`.
    values: Vec<f64>,
    /// `A_k delta`, row by row.
    images: Vec<Vec<f64>>,
}

impl State<'_> {
    /// Go through the coordinates once; the worst violation met.
    fn sweep(&mut self, active: bool) -> f64 {
        dispatch(Sweep { state: self, active })
    }
}

struct Sweep<'a, 'b> {
    state: &'a mut State<'b>,
    active: bool,
}

impl WithSimd for Sweep<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let State { model, values, images } = self.state;
        let size = model.size;
        let mut worst = 0.0_f64;
        for (t, &(i, j)) in model.places.iter().enumerate() {
            let value = values[t];
            if self.active && value == 0.0 {
                continue;
            }
            // Minus the slope of the smooth part, and its curvature.
            let mut slope = model.xi[t];
            let mut curvature = 0.0;
            for (a, image) in model.moments.iter().zip(images.iter()) {
                slope -= dot(simd, &a[i * size..][..size], &image[j * size..][..size]);
                let cross = a[i * size + j];
                curvature += a[i * size + i] * a[j * size + j] + cross * cross;
            }
            let penalty = &model.penalties[t];
            worst = worst.max(penalty.kkt(&[value], &[slope]));
            let mut next = [value + slope / curvature];
            penalty.prox(1.0 / curvature, &mut next);
            let change = next[0] - value;
            if change == 0.0 {
                continue;
            }
            values[t] = next[0];
            let step = if i == j { 2.0 * change } else { change };
            for (a, image) in model.moments.iter().zip(images.iter_mut()) {
                add_column(image, a, size, j, i, step);
                if i != j {
                    add_column(image, a, size, i, j, step);
                }
            }
        }
        worst
    }
}

/// Add `step` times column `from` of a symmetric matrix to column `to` of another.
#[inline(always)]
fn add_column(out: &mut [f64], matrix: &[f64], size: usize, to: usize, from: usize, step: f64) {
    let source = &matrix[from * size..][..size];
    for (row, value) in out.chunks_exact_mut(size).zip(source) {
        row[to] += step * value;
    }
}
