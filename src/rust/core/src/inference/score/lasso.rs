//! The lasso of one variable on all others, from their second moments.
//!
//! `b = argmin b'S b / 2 - s'b + lambda |b|_1` along decreasing lambda, by coordinate descent over a
//! part of the coefficients that grows by those that violate the optimality conditions.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::cholesky::Cholesky;
use crate::numerics::simd::{axpy, dispatch};
use pulp::{Simd, WithSimd};

/// Sweeps of coordinate descent before it gives up: its place is then as good as any.
const MAX_SWEEPS: usize = 2000;
/// Sweeps between jumps to the minimum of the present signs.
const SWEEPS_BETWEEN: usize = 8;
/// Coefficients that move by less stand still.
const TOLERANCE: f64 = 1e-10;
/// The conditions of coefficients outside the part may fail by this share of lambda.
const SLACK: f64 = 1e-7;

/// The coefficients of one lambda that are not zero, by variable.
pub type Sparse = Vec<(usize, f64)>;

/// Regress variable `target` on all others along a decreasing grid. `moments` is a full matrix with
/// rows of `stride` entries.
pub fn lasso_path(
    moments: &[f64],
    stride: usize,
    target: usize,
    grid: &[f64],
    monitor: &Monitor,
) -> Result<Vec<Sparse>> {
    let d = moments.len() / stride;
    let mut part = Part { moments, stride, target, active: vec![], gram: vec![], b: vec![] };
    let mut outside = vec![true; d];
    outside[target] = false;
    let mut path = Vec::with_capacity(grid.len());
    let mut gradient = vec![0.0; d];
    for lambda in grid {
        loop {
            monitor.check()?;
            part.settle(*lambda);
            dispatch(Gradient { part: &part, out: &mut gradient });
            let limit = lambda * (1.0 + SLACK);
            let new: Vec<usize> =
                (0..d).filter(|u| outside[*u] && gradient[*u].abs() > limit).collect();
            if new.is_empty() {
                break;
            }
            for u in &new {
                outside[*u] = false;
            }
            part.extend(&new);
        }
        let on = part.active.iter().zip(&part.b).filter(|(_, b)| **b != 0.0);
        path.push(on.map(|(u, b)| (*u, *b)).collect());
    }
    Ok(path)
}

/// The coefficients that may move.
struct Part<'a> {
    moments: &'a [f64],
    stride: usize,
    target: usize,
    active: Vec<usize>,
    /// The moments between them, row by row.
    gram: Vec<f64>,
    b: Vec<f64>,
}

/// `s - S b` over all variables.
struct Gradient<'a> {
    part: &'a Part<'a>,
    out: &'a mut [f64],
}

impl WithSimd for Gradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Part { moments, stride, target, active, b, .. } = self.part;
        let d = self.out.len();
        self.out.copy_from_slice(&moments[target * stride..][..d]);
        for (u, b) in active.iter().zip(b) {
            if *b != 0.0 {
                axpy(simd, -b, &moments[u * stride..][..d], self.out);
            }
        }
    }
}

impl Part<'_> {
    fn extend(&mut self, new: &[usize]) {
        self.active.extend(new);
        self.b.resize(self.active.len(), 0.0);
        self.gram.clear();
        for u in &self.active {
            let row = &self.moments[u * self.stride..][..self.stride];
            self.gram.extend(self.active.iter().map(|v| row[*v]));
        }
    }

    fn row(&self, k: usize) -> &[f64] {
        &self.gram[k * self.active.len()..][..self.active.len()]
    }

    /// The minimum over the part.
    fn settle(&mut self, lambda: f64) {
        let size = self.active.len();
        let goal: Vec<f64> =
            self.active.iter().map(|u| self.moments[self.target * self.stride + u]).collect();
        let mut gradient = goal.clone();
        dispatch(Restart { part: self, gradient: &mut gradient });
        for sweep in 1..=MAX_SWEEPS {
            let moved = dispatch(Sweep {
                lambda,
                gram: &self.gram,
                b: &mut self.b,
                gradient: &mut gradient,
            });
            if moved <= TOLERANCE || size == 0 {
                return;
            }
            if sweep % SWEEPS_BETWEEN == 0 && self.jump(lambda, &goal) {
                gradient.copy_from_slice(&goal);
                dispatch(Restart { part: self, gradient: &mut gradient });
            }
        }
    }

    /// Straight to the minimum with the present signs; false, and nothing moves, where a sign would
    /// change.
    fn jump(&mut self, lambda: f64, goal: &[f64]) -> bool {
        let on: Vec<usize> = (0..self.b.len()).filter(|k| self.b[*k] != 0.0).collect();
        let mut matrix = Vec::with_capacity(on.len() * on.len());
        for k in &on {
            let row = self.row(*k);
            matrix.extend(on.iter().map(|l| row[*l]));
        }
        let Some(factor) = Cholesky::new(&matrix, on.len()) else {
            return false;
        };
        let mut to: Vec<f64> = on.iter().map(|k| goal[*k] - lambda.copysign(self.b[*k])).collect();
        factor.solve(&mut to);
        let kept = on.iter().zip(&to).all(|(k, to)| self.b[*k] * to > 0.0);
        if kept {
            on.iter().zip(&to).for_each(|(k, to)| self.b[*k] = *to);
        }
        kept
    }
}

/// Take what the coefficients explain off the gradient.
struct Restart<'a, 'b> {
    part: &'a Part<'b>,
    gradient: &'a mut [f64],
}

impl WithSimd for Restart<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (k, b) in self.part.b.iter().enumerate() {
            if *b != 0.0 {
                axpy(simd, -b, self.part.row(k), self.gradient);
            }
        }
    }
}

/// Each coefficient once; by how much the one that moved the most did. The moments of a standardised
/// variable with itself are one.
struct Sweep<'a> {
    lambda: f64,
    gram: &'a [f64],
    b: &'a mut [f64],
    gradient: &'a mut [f64],
}

impl WithSimd for Sweep<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let size = self.b.len();
        let mut moved = 0.0f64;
        for k in 0..size {
            let old = self.b[k];
            let free = self.gradient[k] + old;
            let new = (free.abs() - self.lambda).max(0.0).copysign(free);
            let change = new - old;
            if change != 0.0 {
                axpy(simd, -change, &self.gram[k * size..][..size], self.gradient);
                self.b[k] = new;
                moved = moved.max(change.abs());
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_optimality_conditions_hold() {
        let (d, rows) = (19, 12);
        let values: Vec<f64> =
            (0..rows * d).map(|k| ((k * k * 31 + k * 7919 + 13) % 997) as f64).collect();
        let sample = crate::inference::score::Sample::new(values, rows);
        let stride = 24;
        let moments = sample.moments(stride);
        let grid = [0.6, 0.3, 0.1, 0.05];
        for target in [0, 7, 18] {
            let path = lasso_path(&moments, stride, target, &grid, &Monitor::new()).unwrap();
            for (lambda, b) in grid.iter().zip(&path) {
                for u in (0..d).filter(|u| *u != target) {
                    let fitted: f64 = b.iter().map(|(v, b)| moments[u * stride + v] * b).sum();
                    let gradient = moments[u * stride + target] - fitted;
                    match b.iter().find(|(v, _)| *v == u) {
                        Some((_, b)) => assert!((gradient - lambda.copysign(*b)).abs() < 1e-6),
                        None => assert!(gradient.abs() <= lambda + 1e-6),
                    }
                }
            }
        }
    }
}
