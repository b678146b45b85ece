//! The quadratic model of a Newton step, minimised with the penalty by coordinate descent.

use crate::numerics::simd::{axpy, dispatch, dot};
use crate::objective::penalty::Penalty;
use pulp::{Simd, WithSimd};
use std::borrow::Cow;

/// Sweeps over all coordinates before the model counts as solved well enough.
const SWEEPS: usize = 100;
/// Sweeps over the non-zero coordinates between two over all.
const ACTIVE_SWEEPS: usize = 5;
/// Rows of matrices start at a multiple of this many values.
const LINE: usize = 8;

/// `-xi'delta + 1/2 sum_k <delta, A_k delta A_k> + penalty(theta + delta)` over some coefficients.
pub struct GaussianQuadratic<'a> {
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
    pub fn minimise(&self, theta: &[f64], enough: f64, matrices: &mut Curvature) -> Vec<f64> {
        let mut state = State::new(self, theta, matrices);
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

/// The `A_k` of a model, in matrices that stay from one model to the next: new ones would come from
/// the system page by page.
#[derive(Debug, Default)]
pub struct Curvature {
    /// How many variables.
    size: usize,
    /// How many `A_k`.
    terms: usize,
    /// From one row to the next.
    stride: usize,
    /// The rows of all `A_k` side by side.
    moments: Vec<f64>,
    /// The rows of all `delta A_k` side by side.
    images: Vec<f64>,
}

impl Curvature {
    /// Take other `A_k` of so many variables, each full.
    pub fn set<'m>(&mut self, size: usize, moments: impl ExactSizeIterator<Item = Cow<'m, [f64]>>) {
        (self.size, self.terms) = (size, moments.len());
        self.stride = (size * self.terms).div_ceil(LINE) * LINE;
        self.moments.clear();
        self.moments.resize(size * self.stride, 0.0);
        for (k, a) in moments.enumerate() {
            let rows = self.moments.chunks_exact_mut(self.stride.max(1));
            for (row, source) in rows.zip(a.chunks_exact(size.max(1))) {
                row[k * size..][..size].copy_from_slice(source);
            }
        }
    }

    /// The curvature along the coordinate of two variables.
    fn along(&self, i: usize, j: usize) -> f64 {
        let (row_i, row_j) = (&self.moments[i * self.stride..], &self.moments[j * self.stride..]);
        let of_term = |start: usize| {
            let cross = row_i[start + j];
            row_i[start + i] * row_j[start + j] + cross * cross
        };
        (0..self.terms).map(|k| of_term(k * self.size)).sum()
    }
}

struct State<'a> {
    model: &'a GaussianQuadratic<'a>,
    /// `theta + delta`.
    values: Vec<f64>,
    /// The curvature of the smooth part along every coordinate, and one over that with the ridge.
    curvature: Vec<(f64, f64)>,
    /// `A_k` and `delta A_k`.
    matrices: &'a mut Curvature,
    /// One column of all `delta A_k`, one after the other.
    column: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(model: &'a GaussianQuadratic<'a>, theta: &[f64], matrices: &'a mut Curvature) -> Self {
        matrices.images.clear();
        matrices.images.resize(matrices.moments.len(), 0.0);
        let curvature = |(&(i, j), penalty): (&(usize, usize), &Penalty)| {
            let smooth = matrices.along(i, j);
            (smooth, 1.0 / (smooth + penalty.lambda1))
        };
        Self {
            model,
            values: theta.to_vec(),
            curvature: model.places.iter().zip(model.penalties).map(curvature).collect(),
            column: vec![0.0; matrices.stride],
            matrices,
        }
    }

    /// Go through the coordinates once; the worst violation met.
    fn sweep(&mut self, active: bool) -> f64 {
        dispatch(Sweep { state: self, active })
    }

    /// Column i of all `delta A_k`.
    #[inline(always)]
    fn gather(&mut self, i: usize) {
        let Curvature { size, terms, stride, images, .. } = &*self.matrices;
        for k in 0..*terms {
            let target = self.column[k * size..][..*size].iter_mut();
            let source = images[k * size + i..].iter().step_by(*stride);
            for (value, image) in target.zip(source) {
                *value = *image;
            }
        }
    }

    /// Add `step` to both places (i, j) of delta while column i is at hand.
    #[inline(always)]
    fn change<S: Simd>(&mut self, simd: S, i: usize, j: usize, step: f64) {
        let Self { matrices, column, .. } = self;
        let Curvature { size, terms, stride, moments, images } = &mut **matrices;
        let (size, stride) = (*size, *stride);
        let (row_i, row_j) = (&moments[i * stride..][..stride], &moments[j * stride..][..stride]);
        // The column first: the next coordinate waits for nothing else.
        for start in (0..*terms).map(|k| k * size) {
            column[start + i] += step * row_j[start + i];
            if i != j {
                column[start + j] += step * row_i[start + i];
            }
        }
        axpy(simd, step, row_j, &mut images[i * stride..][..stride]);
        if i != j {
            axpy(simd, step, row_i, &mut images[j * stride..][..stride]);
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
        let (model, stride) = (state.model, state.matrices.stride);
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
            let row = &state.matrices.moments[j * stride..][..stride];
            let slope = model.xi[t] - dot(simd, row, &state.column);
            let penalty = &model.penalties[t];
            worst = worst.max(penalty.kkt(&[value], &[slope]));
            let (curvature, inverse) = state.curvature[t];
            // The minimum along this coordinate.
            let pull = curvature * value + slope;
            let beyond = (pull.abs() - penalty.level).max(0.0);
            let next = beyond.copysign(pull) * inverse;
            let change = next - value;
            if change != 0.0 {
                state.values[t] = next;
                state.change(simd, i, j, if i == j { 2.0 * change } else { change });
            }
        }
        worst
    }
}
