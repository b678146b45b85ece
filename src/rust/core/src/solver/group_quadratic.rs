//! The minimum of a quadratic with a ridge and group penalties.
//!
//! `-xi'(t - theta) + (t - theta)'M(t - theta)/2 + sum_g penalty_g(t_g)`, by turns over the groups, each
//! brought to its own minimum with the others fixed. Turns say which groups are zero; where that stays
//! the same, Newton steps on the others do what turns would take thousands for.

use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch};
use crate::objective::penalty::{norm, Penalty};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Rounds of turns and Newton steps.
const ROUNDS: usize = 60;
/// Turns over the groups in one round.
const TURNS: usize = 3;
/// Newton steps in one round.
const NEWTON_STEPS: usize = 12;
/// A step with a factor from another point must bring the minimum closer by this share.
const CLOSER: f64 = 0.3;
/// Sweeps of Jacobi rotations, which converge in far fewer.
const ROTATIONS: usize = 40;

/// M, with what turns over its groups need of it.
pub struct GroupCurvature {
    size: usize,
    /// M, row by row, both triangles.
    matrix: Vec<f64>,
    spans: Vec<Range<usize>>,
    blocks: Vec<Block>,
}

/// The problem, with everything that does not change from turn to turn.
pub struct GroupQuadratic<'a> {
    curvature: &'a GroupCurvature,
    xi: Vec<f64>,
    theta: Vec<f64>,
    penalties: Vec<Penalty>,
}

/// The eigenvectors (in columns, row by row) and eigenvalues of one group's part of M.
struct Block {
    vectors: Vec<f64>,
    values: Vec<f64>,
}

/// The second derivative over some coefficients, factored: kept from one minimum to the next.
pub struct Factor {
    places: Vec<usize>,
    cholesky: Cholesky,
}

/// Where the turns are: t, and minus the gradient of the smooth part without the ridge there.
struct Iterate {
    t: Vec<f64>,
    r: Vec<f64>,
}

impl GroupCurvature {
    /// M by its lower triangle, positive definite, and where its groups are.
    pub fn new(mut matrix: Vec<f64>, spans: Vec<Range<usize>>) -> Self {
        let size = spans.last().map_or(0, |span| span.end);
        for row in 0..size {
            for column in 0..row {
                matrix[column * size + row] = matrix[row * size + column];
            }
        }
        let blocks = spans.iter().map(|span| Block::new(&matrix, size, span)).collect();
        Self { size, matrix, spans, blocks }
    }

    /// Add to the diagonal: the eigenvectors stay.
    pub fn raise(&mut self, by: f64) {
        self.matrix.iter_mut().step_by(self.size + 1).for_each(|value| *value += by);
        let values = self.blocks.iter_mut().flat_map(|block| block.values.iter_mut());
        values.for_each(|value| *value += by);
    }
}

impl<'a> GroupQuadratic<'a> {
    /// The problem at a theta and its `xi`, with the penalty of every group.
    pub fn new(
        curvature: &'a GroupCurvature,
        xi: Vec<f64>,
        theta: Vec<f64>,
        penalties: Vec<Penalty>,
    ) -> Self {
        Self { curvature, xi, theta, penalties }
    }

    /// The minimum, up to this violation of the optimality conditions; `kept` is from the one before.
    pub fn minimum(&self, enough: f64, kept: &mut Option<Factor>) -> Vec<f64> {
        let mut at = Iterate { t: self.theta.clone(), r: self.xi.clone() };
        let mut zeros = self.zeros(&at);
        for _ in 0..ROUNDS {
            if self.kkt(&at) <= enough {
                break;
            }
            for _ in 0..TURNS {
                dispatch(Turn { quadratic: self, at: &mut at });
            }
            let now = self.zeros(&at);
            if now == zeros {
                self.newton(&mut at, &now, enough, kept);
            }
            zeros = now;
        }
        at.t
    }

    fn zeros(&self, at: &Iterate) -> Vec<bool> {
        self.curvature
            .spans
            .iter()
            .map(|span| at.t[span.clone()].iter().all(|t| *t == 0.0))
            .collect()
    }

    fn kkt(&self, at: &Iterate) -> f64 {
        let of = |(span, penalty): (&Range<usize>, &Penalty)| {
            penalty.kkt(&at.t[span.clone()], &at.r[span.clone()])
        };
        self.curvature.spans.iter().zip(&self.penalties).map(of).fold(0.0, f64::max)
    }

    /// `value(t)` up to a constant.
    fn value(&self, at: &Iterate) -> f64 {
        // (t - theta)'M(t - theta) = (t - theta)'(xi - r).
        let smooth: f64 = (0..self.curvature.size)
            .map(|k| (at.t[k] - self.theta[k]) * (-0.5 * (self.xi[k] + at.r[k])))
            .sum();
        let of = |(span, penalty): (&Range<usize>, &Penalty)| penalty.value(&at.t[span.clone()]);
        smooth + self.curvature.spans.iter().zip(&self.penalties).map(of).sum::<f64>()
    }

    /// Newton steps over the non-zero groups, as long as the value falls and none gets to zero. A factor
    /// that was made at another point, or for other penalties, serves as long as it brings them closer.
    fn newton(&self, at: &mut Iterate, zeros: &[bool], enough: f64, kept: &mut Option<Factor>) {
        let groups: Vec<usize> = (0..zeros.len()).filter(|group| !zeros[*group]).collect();
        let places: Vec<usize> =
            groups.iter().flat_map(|group| self.curvature.spans[*group].clone()).collect();
        for _ in 0..NEWTON_STEPS {
            let fresh = kept.as_ref().map_or(true, |factor| factor.places != places);
            if fresh {
                *kept = self.factor(at, &groups, &places);
            }
            let Some(factor) = kept else {
                return;
            };
            let mut step = self.downhill(at, &groups);
            factor.cholesky.solve(&mut step);
            let distance = self.distance(at, &groups);
            let Some(next) = self.lower(at, &places, &step) else {
                *kept = None;
                if fresh {
                    return;
                }
                continue;
            };
            *at = next;
            let left = self.distance(at, &groups);
            if left <= enough {
                return;
            }
            if !fresh && left > CLOSER * distance {
                *kept = None;
            }
        }
    }

    /// The first point on the way at which the value has not risen.
    fn lower(&self, at: &Iterate, places: &[usize], step: &[f64]) -> Option<Iterate> {
        if !step.iter().all(|value| value.is_finite()) {
            return None;
        }
        let before = self.value(at);
        let mut far = 1.0;
        while far >= 1e-4 {
            let next = self.moved(at, places, step, far);
            if self.value(&next) <= before {
                return Some(next);
            }
            far *= 0.25;
        }
        None
    }

    /// The worst violation of some groups.
    fn distance(&self, at: &Iterate, groups: &[usize]) -> f64 {
        let of = |group: &usize| {
            let span = self.curvature.spans[*group].clone();
            self.penalties[*group].kkt(&at.t[span.clone()], &at.r[span])
        };
        groups.iter().map(of).fold(0.0, f64::max)
    }

    /// Minus the gradient over some groups, which are not zero.
    fn downhill(&self, at: &Iterate, groups: &[usize]) -> Vec<f64> {
        let mut out = Vec::new();
        for group in groups {
            let (span, penalty) = (self.curvature.spans[*group].clone(), self.penalties[*group]);
            let pull = penalty.lambda1 + penalty.level / norm(&at.t[span.clone()]);
            out.extend(span.map(|k| at.r[k] - pull * at.t[k]));
        }
        out
    }

    /// The second derivative over some groups, factored.
    fn factor(&self, at: &Iterate, groups: &[usize], places: &[usize]) -> Option<Factor> {
        let (size, whole) = (places.len(), self.curvature.size);
        let mut matrix = vec![0.0; size * size];
        for (row, place) in matrix.chunks_exact_mut(size.max(1)).zip(places) {
            let source = &self.curvature.matrix[place * whole..][..whole];
            row.iter_mut().zip(places).for_each(|(value, other)| *value = source[*other]);
        }
        let mut start = 0;
        for group in groups {
            let (span, penalty) = (self.curvature.spans[*group].clone(), self.penalties[*group]);
            let t = &at.t[span];
            let length = norm(t);
            // level |t| has the gradient level u and the curvature level (I - uu')/|t|, u = t/|t|.
            let pull = penalty.level / length;
            for (i, a) in t.iter().enumerate() {
                let row = &mut matrix[(start + i) * size + start..][..t.len()];
                row[i] += penalty.lambda1 + pull;
                let scale = pull * a / (length * length);
                row.iter_mut().zip(t).for_each(|(value, b)| *value -= scale * b);
            }
            start += t.len();
        }
        let cholesky = Cholesky::new(&matrix, size)?;
        Some(Factor { places: places.to_vec(), cholesky })
    }

    fn moved(&self, at: &Iterate, places: &[usize], step: &[f64], far: f64) -> Iterate {
        let mut next = Iterate { t: at.t.clone(), r: at.r.clone() };
        dispatch(Move { quadratic: self, at: &mut next, places, step, far });
        next
    }
}

struct Move<'a> {
    quadratic: &'a GroupQuadratic<'a>,
    at: &'a mut Iterate,
    places: &'a [usize],
    step: &'a [f64],
    far: f64,
}

impl WithSimd for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { quadratic, at, places, step, far } = self;
        let size = quadratic.curvature.size;
        for (place, by) in places.iter().zip(step) {
            at.t[*place] += far * by;
            axpy(simd, -far * by, &quadratic.curvature.matrix[place * size..][..size], &mut at.r);
        }
    }
}

/// One turn over all groups.
struct Turn<'a> {
    quadratic: &'a GroupQuadratic<'a>,
    at: &'a mut Iterate,
}

impl WithSimd for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { quadratic, at } = self;
        let size = quadratic.curvature.size;
        for (group, span) in quadratic.curvature.spans.iter().enumerate() {
            let block = &quadratic.curvature.blocks[group];
            let next =
                block.minimum(&at.t[span.clone()], &at.r[span.clone()], quadratic.penalties[group]);
            for (k, value) in span.clone().zip(next) {
                let by = value - at.t[k];
                if by != 0.0 {
                    at.t[k] = value;
                    axpy(simd, -by, &quadratic.curvature.matrix[k * size..][..size], &mut at.r);
                }
            }
        }
    }
}

impl Block {
    fn new(matrix: &[f64], size: usize, span: &Range<usize>) -> Self {
        let order = span.len();
        let mut part: Vec<f64> =
            span.clone().flat_map(|row| matrix[row * size..][span.clone()].to_vec()).collect();
        let vectors = jacobi(&mut part, order);
        let values = (0..order).map(|k| part[k * order + k].max(0.0)).collect();
        Self { vectors, values }
    }

    /// The minimum over one group: with `b = r + A t`, `(A + lambda1) t + level t/|t| = b`.
    fn minimum(&self, t: &[f64], r: &[f64], penalty: Penalty) -> Vec<f64> {
        let order = t.len();
        // Along the eigenvectors the equations part.
        let turned = |values: &[f64], k: usize| -> f64 {
            (0..order).map(|i| self.vectors[i * order + k] * values[i]).sum()
        };
        let b: Vec<f64> =
            (0..order).map(|k| turned(r, k) + self.values[k] * turned(t, k)).collect();
        if norm(&b) <= penalty.level {
            return vec![0.0; order];
        }
        let pull = penalty.level * self.inverse_length(&b, penalty);
        let z: Vec<f64> = b
            .iter()
            .zip(&self.values)
            .map(|(b, value)| b / (value + penalty.lambda1 + pull))
            .collect();
        (0..order).map(|i| (0..order).map(|k| self.vectors[i * order + k] * z[k]).sum()).collect()
    }

    /// `1 / |t|` at the minimum: the root of `sum_k (b_k / ((v_k + lambda1) s + level))^2 = 1` in
    /// s = |t|, by Newton on the inverse square root, which is nearly linear in s.
    fn inverse_length(&self, b: &[f64], penalty: Penalty) -> f64 {
        if penalty.level == 0.0 {
            return 0.0;
        }
        let mut s = 0.0;
        for _ in 0..100 {
            let (mut sum, mut slope) = (0.0, 0.0);
            for (b, value) in b.iter().zip(&self.values) {
                let curvature = value + penalty.lambda1;
                let ratio = b / (curvature * s + penalty.level);
                sum += ratio * ratio;
                slope -= 2.0 * ratio * ratio * curvature / (curvature * s + penalty.level);
            }
            if slope == 0.0 {
                break;
            }
            // h(s) = sum^(-1/2) - 1 rises and is concave: Newton from the left never overshoots.
            let by = (1.0 - sum.powf(-0.5)) / (-0.5 * sum.powf(-1.5) * slope);
            s += by;
            if by.abs() <= 1e-15 * s {
                break;
            }
        }
        1.0 / s
    }
}

/// Diagonalise a symmetric matrix by rotations, in place; the eigenvectors, in columns, row by row.
fn jacobi(matrix: &mut [f64], order: usize) -> Vec<f64> {
    let mut vectors = vec![0.0; order * order];
    vectors.iter_mut().step_by(order + 1).for_each(|value| *value = 1.0);
    for _ in 0..ROTATIONS {
        let mut off = 0.0;
        for p in 0..order {
            for q in 0..p {
                let (a, b) = (matrix[p * order + p], matrix[q * order + q]);
                let c = matrix[p * order + q];
                if c.abs() <= f64::EPSILON * (a.abs() * b.abs()).sqrt() {
                    continue;
                }
                off += c.abs();
                let ratio = (a - b) / (2.0 * c);
                let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                rotate(matrix, &mut vectors, order, (p, q), (cosine, tangent * cosine));
            }
        }
        if off == 0.0 {
            break;
        }
    }
    vectors
}

/// Turn rows and columns p and q so that their entry becomes zero.
fn rotate(
    matrix: &mut [f64],
    vectors: &mut [f64],
    order: usize,
    (p, q): (usize, usize),
    (cosine, sine): (f64, f64),
) {
    for k in 0..order {
        let (a, b) = (matrix[k * order + p], matrix[k * order + q]);
        matrix[k * order + p] = cosine * a + sine * b;
        matrix[k * order + q] = cosine * b - sine * a;
    }
    for k in 0..order {
        let (a, b) = (matrix[p * order + k], matrix[q * order + k]);
        matrix[p * order + k] = cosine * a + sine * b;
        matrix[q * order + k] = cosine * b - sine * a;
    }
    for k in 0..order {
        let (a, b) = (vectors[k * order + p], vectors[k * order + q]);
        vectors[k * order + p] = cosine * a + sine * b;
        vectors[k * order + q] = cosine * b - sine * a;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix of general entries.
    fn matrix(size: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17 + i * j * 7) % 13) as f64 / 13.0 - 0.5;
        let mut out = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..size {
                out[i * size + j] = (0..size).map(|k| entry(i, k) * entry(j, k)).sum();
            }
            out[i * size + i] += 0.05;
        }
        out
    }

    #[test]
    fn rotations_diagonalise() {
        for order in [1, 2, 5, 14] {
            let full = matrix(order);
            let mut part = full.clone();
            let vectors = jacobi(&mut part, order);
            for i in 0..order {
                for j in 0..order {
                    let back: f64 = (0..order)
                        .map(|k| {
                            let pair = vectors[i * order + k] * vectors[j * order + k];
                            pair * part[k * order + k]
                        })
                        .sum();
                    assert!((back - full[i * order + j]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_group_alone_is_at_its_minimum() {
        let full = matrix(4);
        let block = Block::new(&full, 4, &(0..4));
        let (t, r) = ([0.3, -0.2, 0.0, 1.0], [0.9, -0.4, 0.2, 0.1]);
        for (lambda1, level) in [(0.1, 0.3), (0.0, 0.2), (0.2, 0.0), (0.0, 50.0)] {
            let penalty = Penalty { lambda1, level };
            let best = block.minimum(&t, &r, penalty);
            // r moves with t: r - A (best - t).
            let moved: Vec<f64> = (0..4)
                .map(|i| r[i] - (0..4).map(|j| full[i * 4 + j] * (best[j] - t[j])).sum::<f64>())
                .collect();
            assert!(penalty.kkt(&best, &moved) < 1e-12, "{lambda1} {level}");
        }
    }

    #[test]
    fn the_minimum_satisfies_its_conditions() {
        let size = 12;
        let spans: Vec<Range<usize>> = vec![0..3, 3..4, 4..8, 8..12];
        for (lambda1, levels) in
            [(0.1, [0.0, 0.2, 0.3, 5.0]), (0.0, [0.1; 4]), (0.01, [0.0; 4]), (0.0, [0.4; 4])]
        {
            let xi: Vec<f64> = (0..size).map(|k| (k as f64 * 0.7).sin()).collect();
            let theta: Vec<f64> = (0..size).map(|k| (k as f64 * 1.3).cos() * 0.2).collect();
            let penalties: Vec<Penalty> =
                levels.iter().map(|level| Penalty { lambda1, level: *level }).collect();
            let curvature = GroupCurvature::new(matrix(size), spans.clone());
            let problem =
                GroupQuadratic::new(&curvature, xi.clone(), theta.clone(), penalties.clone());
            let t = problem.minimum(1e-10, &mut None);
            let full = matrix(size);
            let r: Vec<f64> = (0..size)
                .map(|i| {
                    let by = (0..size).map(|j| full[i * size + j] * (t[j] - theta[j]));
                    xi[i] - by.sum::<f64>()
                })
                .collect();
            for (span, penalty) in spans.iter().zip(&penalties) {
                assert!(penalty.kkt(&t[span.clone()], &r[span.clone()]) < 1e-9);
            }
        }
    }
}
