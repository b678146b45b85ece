//! The quadratic model of a Newton step, minimised with the penalty by coordinate descent.

use crate::numerics::simd::{axpy, dispatch, dot};
use crate::objective::penalty::Penalty;
use pulp::{Simd, WithSimd};

/// Sweeps over all coordinates before the model counts as solved well enough.
const SWEEPS: usize = 100;
/// Sweeps over the non-zero coordinates between two over all.
const ACTIVE_SWEEPS: usize = 5;
/// Rows of matrices start at a multiple of this many values.
const LINE: usize = 8;

/// `-xi'delta + 1/2 sum_k <delta, A_k delta A_k> + penalty(theta + delta)` over some coefficients.
pub struct GaussianQuadratic<'a> {
    /// How many variables.
    pub size: usize,
    /// `A_k`, full.
    pub moments: &'a [Vec<f64>],
    /// Places i >= j of every coefficient; those with the same i in a row cost least.
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
        let mut state = State::new(self, theta);
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
    /// The curvature along every coordinate.
    curvature: Vec<f64>,
    /// From one row to the next.
    stride: usize,
    /// The rows of all `A_k` side by side.
    moments: Vec<f64>,
    /// The rows of all `delta A_k` side by side.
    images: Vec<f64>,
    /// One column of all `delta A_k`, one after the other.
    column: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(model: &'a GaussianQuadratic<'a>, theta: &[f64]) -> Self {
        let size = model.size;
        let stride = (size * model.moments.len()).div_ceil(LINE) * LINE;
        let mut moments = vec![0.0; size * stride];
        for (k, a) in model.moments.iter().enumerate() {
            for (row, source) in moments.chunks_exact_mut(stride).zip(a.chunks_exact(size)) {
                row[k * size..][..size].copy_from_slice(source);
            }
        }
        let curvature = |&(i, j): &(usize, usize)| {
            let along = |a: &Vec<f64>| {
                let cross = a[i * size + j];
                a[i * size + i] * a[j * size + j] + cross * cross
            };
            model.moments.iter().map(along).sum()
        };
        Self {
            model,
            values: theta.to_vec(),
            curvature: model.places.iter().map(curvature).collect(),
            stride,
            moments,
            images: vec![0.0; size * stride],
            column: vec![0.0; stride],
        }
    }

    /// Go through the coordinates once; the worst violation met.
    fn sweep(&mut self, active: bool) -> f64 {
        dispatch(Sweep { state: self, active })
    }

    /// Column i of all `delta A_k`.
    #[inline(always)]
    fn gather(&mut self, i: usize) {
        let size = self.model.size;
        for k in 0..self.model.moments.len() {
            let target = self.column[k * size..][..size].iter_mut();
            let source = self.images[k * size + i..].iter().step_by(self.stride);
            for (value, image) in target.zip(source) {
                *value = *image;
            }
        }
    }

    /// Add `step` to both places (i, j) of delta while column i is at hand.
    #[inline(always)]
    fn change<S: Simd>(&mut self, simd: S, i: usize, j: usize, step: f64) {
        let Self { stride, moments, images, column, .. } = self;
        let (stride, size) = (*stride, self.model.size);
        axpy(simd, step, &moments[j * stride..][..stride], &mut images[i * stride..][..stride]);
        if i != j {
            axpy(simd, step, &moments[i * stride..][..stride], &mut images[j * stride..][..stride]);
        }
        for k in 0..self.model.moments.len() {
            let start = k * size;
            column[start + i] = images[i * stride + start + i];
            column[start + j] = images[j * stride + start + i];
        }
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
        let Self { state, active } = self;
        let (model, stride) = (state.model, state.stride);
        let mut worst = 0.0_f64;
        let mut at_hand = usize::MAX;
        for (t, &(i, j)) in model.places.iter().enumerate() {
            let value = state.values[t];
            if active && value == 0.0 {
                continue;
            }
            if i != at_hand {
                state.gather(i);
                at_hand = i;
            }
            // Minus the slope of the smooth part: (A delta A)_ij is row j of A times column i of delta A.
            let row = &state.moments[j * stride..][..stride];
            let slope = model.xi[t] - dot(simd, row, &state.column);
            let penalty = &model.penalties[t];
            worst = worst.max(penalty.kkt(&[value], &[slope]));
            let curvature = state.curvature[t];
            let mut next = [value + slope / curvature];
            penalty.prox(1.0 / curvature, &mut next);
            let change = next[0] - value;
            if change != 0.0 {
                state.values[t] = next[0];
                state.change(simd, i, j, if i == j { 2.0 * change } else { change });
            }
        }
        worst
    }
}
