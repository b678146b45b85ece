//! The quadratic model of a Newton step, minimised with the penalty by coordinate descent.

use crate::numerics::simd::{axpy, axpy_four, dispatch, dot_four, dot_of};
use crate::objective::gaussian::Moments;
use crate::objective::penalty::Penalty;
use pulp::{Simd, WithSimd};

/// Sweeps over all coordinates before the model counts as solved well enough.
const SWEEPS: usize = 100;
/// Sweeps over the non-zero coordinates between two over all.
const ACTIVE_SWEEPS: usize = 5;
/// Coordinates for each variable up to which their second derivatives cost less than products.
const FEW_FOR_EACH: usize = 3;
/// Coordinates that are looked at together: their products with the same column are made side by side,
/// and nothing waits for the one before but what its step changes.
const BATCH: usize = 4;
/// Rows of matrices start at a multiple of this many values.
const LINE: usize = 16;
/// Share of the violations met at first that a descent in single precision can do something about.
const RESOLUTION: f64 = 1e-5;

/// `-xi'delta + 1/2 sum_k <delta, A_k delta A_k> + penalty(theta + delta)` over some coefficients.
pub struct GaussianQuadratic<'a> {
    /// Places i >= j of every coefficient; those with the same i in a row cost least.
    pub places: &'a [(usize, usize)],
    /// `xi` of every coefficient at the start.
    pub xi: &'a [f64],
    /// The penalty of every coefficient.
    pub penalties: &'a [Penalty],
}

/// When a model is minimised: what bounds the norm of the violations of all conditions.
pub struct Enough {
    /// This,
    pub norm: f64,
    /// or this share of what is met at first.
    pub share: f64,
}

impl GaussianQuadratic<'_> {
    /// `theta + delta` that nearly minimises.
    pub fn minimise(&self, theta: &[f64], enough: &Enough, matrices: &mut Curvature) -> Vec<f64> {
        let steepness = self.steepness(matrices);
        let values = theta.to_vec();
        if self.places.len() <= FEW_FOR_EACH * matrices.size {
            let slopes = BySecondDerivatives::new(self, matrices);
            Descent { model: self, steepness, values, slopes }.run(enough)
        } else {
            let slopes = ByProducts::new(self, matrices);
            Descent { model: self, steepness, values, slopes }.run(enough)
        }
    }

    fn steepness(&self, matrices: &Curvature) -> Vec<Steepness> {
        let of = |(&(i, j), penalty): (&(usize, usize), &Penalty)| {
            let smooth = matrices.along(i, j);
            Steepness { smooth, inverse: 1.0 / (smooth + penalty.lambda1) }
        };
        self.places.iter().zip(self.penalties).map(of).collect()
    }
}

/// The `A_k` of a model, in single precision: they only say where the next step goes, while what shows
/// how good it was, `xi` and the objective, is computed from doubles. Their matrices stay from one
/// model to the next: new ones would come from the system page by page.
#[derive(Debug, Default)]
pub struct Curvature {
    /// How many variables.
    size: usize,
    /// How many `A_k`.
    terms: usize,
    /// From one row to the next.
    stride: usize,
    /// The rows of all `A_k` side by side.
    moments: Vec<f32>,
    /// One `A_k`, before its rows join the others.
    single: Vec<f32>,
    /// The rows of all `delta A_k` side by side.
    images: Vec<f32>,
    /// Second derivatives between all coordinates of a model, where the row has been asked for.
    second: Vec<f32>,
    /// Whether it has.
    known: Vec<bool>,
}

impl Curvature {
    /// Take other `A_k` of so many variables.
    pub fn set(&mut self, size: usize, moments: &[Moments]) {
        (self.size, self.terms) = (size, moments.len());
        self.stride = (size * self.terms).div_ceil(LINE) * LINE;
        self.known.clear();
        self.moments.resize(size * self.stride, 0.0);
        for (k, a) in moments.iter().enumerate() {
            a.single(size, &mut self.single);
            let rows = self.moments.chunks_exact_mut(self.stride.max(1));
            for (row, source) in rows.zip(self.single.chunks_exact(size.max(1))) {
                row[k * size..][..size].copy_from_slice(source);
                row[self.terms * size..].fill(0.0);
            }
        }
    }

    /// The curvature along the coordinate of two variables.
    fn along(&self, i: usize, j: usize) -> f64 {
        let (row_i, row_j) = (&self.moments[i * self.stride..], &self.moments[j * self.stride..]);
        let of_term = |start: usize| {
            let cross = f64::from(row_i[start + j]);
            f64::from(row_i[start + i]) * f64::from(row_j[start + j]) + cross * cross
        };
        (0..self.terms).map(|k| of_term(k * self.size)).sum()
    }
}

/// Along one coordinate.
struct Steepness {
    /// The second derivative of the smooth part.
    smooth: f64,
    /// One over that with the ridge.
    inverse: f64,
}

/// How the slopes of the smooth part follow the coordinates.
trait Slopes {
    /// Look at up to `BATCH` coordinates, all of one row.
    fn look<S: Simd>(&mut self, simd: S, batch: &[usize]);

    /// Minus the slope along the k-th of these, once those before it have moved.
    fn at(&self, k: usize) -> f64;

    /// That one has moved.
    fn follow<S: Simd>(&mut self, simd: S, k: usize, change: f64);

    /// Go on to others.
    fn leave<S: Simd>(&mut self, simd: S);
}

struct Descent<'a, L> {
    model: &'a GaussianQuadratic<'a>,
    steepness: Vec<Steepness>,
    /// `theta + delta`.
    values: Vec<f64>,
    slopes: L,
}

impl<L: Slopes> Descent<'_, L> {
    /// A sweep leaves about the share of the violations it met that the one before had left: none is
    /// made only to see that there was enough of them.
    fn run(mut self, &Enough { norm: mut enough, share: of_first }: &Enough) -> Vec<f64> {
        let mut share = 1.0_f64;
        for round in 0..SWEEPS {
            let mut met = self.sweep(false);
            if round == 0 {
                enough = enough.max(of_first.max(RESOLUTION) * met);
            }
            if share * met <= enough {
                break;
            }
            for _ in 0..ACTIVE_SWEEPS {
                let now = self.sweep(true);
                share = (now / met).min(1.0);
                met = now;
                // The next sweep, over all, leaves that share again.
                if share * share * met <= enough {
                    break;
                }
            }
        }
        self.values
    }

    /// Go through the coordinates once; the norm of the violations met.
    fn sweep(&mut self, active: bool) -> f64 {
        dispatch(Sweep { descent: self, active })
    }
}

struct Sweep<'a, 'b, L> {
    descent: &'a mut Descent<'b, L>,
    active: bool,
}

impl<L: Slopes> WithSimd for Sweep<'_, '_, L> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Descent { model, steepness, values, slopes } = self.descent;
        let mut squares = 0.0_f64;
        let (mut batch, mut next) = ([0; BATCH], 0);
        loop {
            let mut count = 0;
            while next < values.len() && count < BATCH {
                if !(self.active && values[next] == 0.0) {
                    if count > 0 && model.places[next].0 != model.places[batch[0]].0 {
                        break;
                    }
                    batch[count] = next;
                    count += 1;
                }
                next += 1;
            }
            if count == 0 {
                return squares.sqrt();
            }
            slopes.look(simd, &batch[..count]);
            for (k, &t) in batch[..count].iter().enumerate() {
                let (slope, value, penalty) = (slopes.at(k), values[t], &model.penalties[t]);
                squares += penalty.kkt(&[value], &[slope]).powi(2);
                // The minimum along this coordinate.
                let Steepness { smooth, inverse } = steepness[t];
                let pull = smooth * value + slope;
                let beyond = (pull.abs() - penalty.level).max(0.0);
                let moved = beyond.copysign(pull) * inverse;
                let change = moved - value;
                if change != 0.0 {
                    values[t] = moved;
                    slopes.follow(simd, k, change);
                }
            }
            slopes.leave(simd);
        }
    }
}

/// By the second derivatives between the coordinates: for few of them among many variables.
struct BySecondDerivatives<'a> {
    places: &'a [(usize, usize)],
    xi: &'a [f64],
    matrices: &'a mut Curvature,
    /// By how much the slopes have changed.
    changes: Vec<f32>,
    /// Those that are looked at.
    batch: [usize; BATCH],
}

impl<'a> BySecondDerivatives<'a> {
    fn new(model: &GaussianQuadratic<'a>, matrices: &'a mut Curvature) -> Self {
        let count = model.places.len();
        if matrices.known.len() != count {
            matrices.known = vec![false; count];
            let room = matrices.second.len().max(count * count);
            matrices.second.resize(room, 0.0);
        }
        let changes = vec![0.0; count];
        Self { places: model.places, xi: model.xi, matrices, changes, batch: [0; BATCH] }
    }

    /// The second derivatives between coordinate t and all: `A_ik A_jl + A_il A_jk` over the terms.
    #[inline(always)]
    fn fill(&mut self, t: usize) {
        let Curvature { size, terms, stride, moments, second, .. } = &mut *self.matrices;
        let (i, j) = self.places[t];
        let row = &mut second[t * self.places.len()..][..self.places.len()];
        row.fill(0.0);
        for k in 0..*terms {
            let a = &moments[i * *stride + k * *size..][..*size];
            let b = &moments[j * *stride + k * *size..][..*size];
            for (value, (u, v)) in row.iter_mut().zip(self.places) {
                *value += a[*u] * b[*v] + a[*v] * b[*u];
            }
        }
    }
}

impl Slopes for BySecondDerivatives<'_> {
    #[inline(always)]
    fn look<S: Simd>(&mut self, _: S, batch: &[usize]) {
        self.batch[..batch.len()].copy_from_slice(batch);
    }

    #[inline(always)]
    fn at(&self, k: usize) -> f64 {
        let t = self.batch[k];
        self.xi[t] - f64::from(self.changes[t])
    }

    #[inline(always)]
    fn follow<S: Simd>(&mut self, simd: S, k: usize, change: f64) {
        let t = self.batch[k];
        if !self.matrices.known[t] {
            self.fill(t);
            self.matrices.known[t] = true;
        }
        let count = self.places.len();
        let second = &self.matrices.second[t * count..][..count];
        axpy(simd, change as f32, second, &mut self.changes);
    }

    #[inline(always)]
    fn leave<S: Simd>(&mut self, _: S) {}
}

/// By products with the `A_k`.
struct ByProducts<'a> {
    places: &'a [(usize, usize)],
    xi: &'a [f64],
    /// `A_k` and `delta A_k`.
    matrices: &'a mut Curvature,
    /// One column of all `delta A_k`, one after the other.
    column: Vec<f32>,
    /// Which one.
    at_hand: usize,
    /// Those that are looked at.
    batch: Batch,
}

/// Places (i, j) of one row i that are looked at.
#[derive(Default)]
struct Batch {
    count: usize,
    /// Their j.
    others: [usize; BATCH],
    /// Minus the slopes.
    slopes: [f64; BATCH],
    /// By what a step of one changes those after it: known before the step is.
    crosses: [[f64; BATCH]; BATCH],
    /// What has been added at (i, j) and (j, i) of delta; where these are the same place, twice.
    steps: [f32; BATCH],
}

impl<'a> ByProducts<'a> {
    fn new(model: &GaussianQuadratic<'a>, matrices: &'a mut Curvature) -> Self {
        matrices.images.clear();
        matrices.images.resize(matrices.moments.len(), 0.0);
        let column = vec![0.0; matrices.stride];
        let batch = Batch::default();
        Self { places: model.places, xi: model.xi, matrices, column, at_hand: usize::MAX, batch }
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
}

impl Slopes for ByProducts<'_> {
    /// `(A delta A)_ij` is row j of A times column i of delta A. A step at (i, j) and (j, i) of delta
    /// changes place (i, l) by `A_li A_ji + A_lj A_ii`.
    #[inline(always)]
    fn look<S: Simd>(&mut self, simd: S, batch: &[usize]) {
        let (i, _) = self.places[batch[0]];
        if i != self.at_hand {
            self.gather(i);
            self.at_hand = i;
        }
        let Self {
            matrices,
            column,
            places,
            xi,
            batch: Batch { count, others, slopes, crosses, steps },
            ..
        } = self;
        let Curvature { size, terms, stride, moments, .. } = &**matrices;
        (*count, *steps) = (batch.len(), [0.0; BATCH]);
        *others = [places[batch[0]].1; BATCH];
        others.iter_mut().zip(batch).for_each(|(j, t)| *j = places[*t].1);
        let rows = others.map(|j| &moments[j * stride..][..*stride]);
        let products = if batch.len() > 1 {
            dot_four(simd, rows, column)
        } else {
            [dot_of(simd, rows[0], column); BATCH]
        };
        let row_i = &moments[i * stride..][..*stride];
        for later in 1..*count {
            for k in 0..later {
                let mut cross = 0.0;
                for start in (0..*terms).map(|term| term * size) {
                    let (j, l) = (start + others[k], start + others[later]);
                    cross += row_i[l] * row_i[j] + rows[later][j] * row_i[start + i];
                }
                crosses[k][later] = f64::from(cross);
            }
        }
        for ((slope, product), t) in slopes.iter_mut().zip(&products).zip(batch) {
            *slope = xi[*t] - f64::from(*product);
        }
    }

    #[inline(always)]
    fn at(&self, k: usize) -> f64 {
        self.batch.slopes[k]
    }

    #[inline(always)]
    fn follow<S: Simd>(&mut self, _: S, k: usize, change: f64) {
        let Batch { slopes, crosses, steps, .. } = &mut self.batch;
        steps[k] = change as f32;
        for (slope, cross) in slopes.iter_mut().zip(&crosses[k]).skip(k + 1) {
            *slope -= change * cross;
        }
    }

    /// Let the column at hand and the rows of `delta A` follow.
    #[inline(always)]
    fn leave<S: Simd>(&mut self, simd: S) {
        let Self { matrices, column, batch: Batch { count, others, steps, .. }, .. } = self;
        let Curvature { size, terms, stride, moments, images, .. } = &mut **matrices;
        let (i, size, stride) = (self.at_hand, *size, *stride);
        if steps.iter().all(|step| *step == 0.0) {
            return;
        }
        let row = |u: usize| &moments[u * stride..][..stride];
        let row_i = row(i);
        // The column first: the next products wait for nothing else.
        for start in (0..*terms).map(|k| k * size) {
            let mut own = 0.0;
            for (step, &j) in steps[..*count].iter().zip(&*others) {
                own += step * row_i[start + j];
                column[start + j] += step * row_i[start + i];
            }
            column[start + i] += own;
        }
        axpy_four(simd, *steps, others.map(row), &mut images[i * stride..][..stride]);
        for (step, &j) in steps[..*count].iter().zip(&*others) {
            axpy(simd, *step, row_i, &mut images[j * stride..][..stride]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 7;
    /// Single precision leaves little more.
    const ENOUGH: Enough = Enough { norm: 1e-6, share: 0.0 };

    /// Two positive definite matrices.
    fn moments() -> [Vec<f64>; 2] {
        [0.3, 0.7].map(|link| {
            let entry = |k: usize| {
                let (i, j) = (k / SIZE, k % SIZE);
                let far = i.abs_diff(j) as i32;
                f64::powi(link, far) * (1.0 + ((i * j) % 3) as f64 * if i == j { 0.2 } else { 0.0 })
            };
            (0..SIZE * SIZE).map(entry).collect()
        })
    }

    /// The worst violation of the conditions of the minimum, by full matrices.
    fn worst(model: &GaussianQuadratic<'_>, theta: &[f64], at: &[f64]) -> f64 {
        let mut delta = vec![0.0; SIZE * SIZE];
        for ((&(i, j), to), from) in model.places.iter().zip(at).zip(theta) {
            delta[i * SIZE + j] += to - from;
            delta[j * SIZE + i] += to - from;
        }
        let image = |i: usize, j: usize| {
            let all = (0..SIZE).flat_map(|k| (0..SIZE).map(move |l| (k, l)));
            let of = |a: &[f64]| -> f64 {
                all.clone()
                    .map(|(k, l)| a[i * SIZE + k] * delta[k * SIZE + l] * a[l * SIZE + j])
                    .sum()
            };
            moments().iter().map(|a| of(a)).sum::<f64>()
        };
        let of = |t: usize| {
            let (i, j) = model.places[t];
            model.penalties[t].kkt(&[at[t]], &[model.xi[t] - image(i, j)])
        };
        (0..model.places.len()).map(of).fold(0.0, f64::max)
    }

    /// Whichever way the slopes are followed.
    #[test]
    fn the_minimum_satisfies_its_conditions_by_products_and_by_second_derivatives() {
        let places: Vec<(usize, usize)> =
            (0..SIZE).flat_map(|i| (0..=i).map(move |j| (i, j))).step_by(2).collect();
        let xi: Vec<f64> = (0..places.len()).map(|t| ((t * 5) % 7) as f64 / 4.0 - 0.8).collect();
        let theta: Vec<f64> =
            (0..places.len()).map(|t| if t % 3 == 0 { 0.2 } else { 0.0 }).collect();
        let penalties = vec![Penalty { lambda1: 0.1, level: 0.4 }; places.len()];
        let model = GaussianQuadratic { places: &places, xi: &xi, penalties: &penalties };
        let mut matrices = Curvature::default();
        let full = moments().map(Moments::Full);
        matrices.set(SIZE, &full);
        let steepness = || {
            model.steepness(&{
                let mut same = Curvature::default();
                same.set(SIZE, &full);
                same
            })
        };
        let values = || theta.clone();
        let slopes = BySecondDerivatives::new(&model, &mut matrices);
        let few = Descent { model: &model, steepness: steepness(), values: values(), slopes }
            .run(&ENOUGH);
        let slopes = ByProducts::new(&model, &mut matrices);
        let many = Descent { model: &model, steepness: steepness(), values: values(), slopes }
            .run(&ENOUGH);
        for at in [&few, &many] {
            assert!(worst(&model, &theta, at) < 10.0 * ENOUGH.norm);
            assert!(at.contains(&0.0) && at.iter().any(|value| *value != 0.0));
        }
        assert!(few.iter().zip(&many).all(|(a, b)| (a - b).abs() < 10.0 * ENOUGH.norm));
    }
}
