//! All factors of a small problem as a design, by products of matrices instead of rows of H.
//!
//! `xi` of every pair comes from register tiles of the columns, `H'theta` from sums over columns:
//! nothing of H is stored, and both cost a tenth of going through stored rows one by one.

use crate::factors::factor_index;
use crate::kernel::{tile, Panels, COLS, ROWS};
use crate::penalty::norm;
use crate::problem::{Design, DualPoint, Lambda, Problem, RowDesign};
use crate::simd::{axpy, axpy4, dispatch, dot};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Every factor of a problem with product features.
pub struct Whole<'a> {
    problem: &'a Problem,
    /// The scored rows of each column power, with the variables one after the other.
    columns: Vec<Vec<f64>>,
    /// The same packed as right sides of products.
    right: Vec<Panels<COLS>>,
    /// The term's sign of every scored row.
    signs: Vec<f64>,
    weights: Vec<f64>,
    linear: Vec<f64>,
    /// Variables and feature of every coefficient.
    places: Vec<(usize, usize, usize)>,
    /// Where the coefficients of each factor start, and where the last end.
    starts: Vec<usize>,
}

impl<'a> Whole<'a> {
    /// Multiplications for one look at all factors: what decides whether a problem is small.
    pub fn cost(problem: &Problem) -> usize {
        let basis = problem.features.basis();
        problem.features.factors() * basis.pair.len() * problem.loss.scores()
    }

    /// Gather the scored rows.
    pub fn new(problem: &'a Problem) -> Self {
        let features = &problem.features;
        let variables = features.variables();
        let width = problem.loss.scores();
        let degree = features.basis().degree();
        let columns: Vec<Vec<f64>> = (0..=degree).map(|p| gather(problem, p)).collect();
        let pack = |column: &Vec<f64>| {
            Panels::pack(variables, width, |u| &column[u * width..][..width], None)
        };
        let right = columns.iter().map(pack).collect();
        let mut signs = vec![0.0; width];
        for term in problem.loss.terms() {
            signs[term.span.clone()].fill(term.sign);
        }
        let mut places = Vec::new();
        let mut weights = Vec::with_capacity(features.factors());
        let mut starts = vec![0];
        for (u, v) in (0..variables).flat_map(|u| (0..=u).map(move |v| (u, v))) {
            let size = features.size_of(u, v);
            places.extend((0..size).map(|k| (u, v, k)));
            weights.push(problem.penalty.of(u, v));
            starts.push(places.len());
        }
        let linear = dispatch(Linear { problem, places: &places });
        Self { problem, columns, right, signs, weights, linear, places, starts }
    }

    fn column(&self, p: usize, u: usize) -> &[f64] {
        let width = self.signs.len();
        &self.columns[p][u * width..][..width]
    }

    /// Where the coefficients of the factor (u, v) start: u singles and all earlier pairs precede.
    #[inline(always)]
    fn start(&self, u: usize, v: usize) -> usize {
        let basis = self.problem.features.basis();
        (factor_index(u, v) - u) * basis.pair.len() + u * basis.single.len()
    }
}

/// The scored rows of every variable to the power p.
fn gather(problem: &Problem, p: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(problem.features.variables() * problem.loss.scores());
    for u in 0..problem.features.variables() {
        for term in problem.loss.terms() {
            out.extend_from_slice(&problem.features.column(p, u)[term.rows.clone()]);
        }
    }
    out
}

struct Linear<'a> {
    problem: &'a Problem,
    places: &'a [(usize, usize, usize)],
}

impl WithSimd for Linear<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.places.len());
        for place in self.places {
            out.push(self.problem.linear_moment(simd, *place));
        }
        out
    }
}

impl Design for Whole<'_> {
    fn groups(&self) -> usize {
        self.weights.len()
    }

    fn span(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    fn weight(&self, group: usize) -> f64 {
        self.weights[group]
    }

    fn linear(&self) -> &[f64] {
        &self.linear
    }

    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        dispatch(Scores { design: self, theta })
    }

    fn moments(&self, alpha: &[f64]) -> Vec<f64> {
        dispatch(Moments { design: self, alpha })
    }
}

impl RowDesign for Whole<'_> {
    fn width(&self) -> usize {
        self.signs.len()
    }

    fn row_ids(&self, group: usize) -> Range<usize> {
        self.span(group)
    }

    fn row_count(&self) -> usize {
        self.places.len()
    }

    fn generation(&self) -> usize {
        0
    }

    fn copy_row(&self, id: usize, out: &mut [f64]) {
        let (u, v, k) = self.places[id];
        let (p, q) = self.problem.features.basis().exponents(u, v, k);
        let products = self.column(p, u).iter().zip(self.column(q, v)).zip(&self.signs);
        out.iter_mut().zip(products).for_each(|(t, ((a, b), sign))| *t = sign * a * b);
    }

    fn dual_point(&self, lambda: Lambda, linear: &[f64], alpha: &[f64]) -> DualPoint {
        let mut xi = self.moments(alpha);
        xi.iter_mut().zip(linear).for_each(|(h, g)| *h = g - *h);
        let mut theta = vec![0.0; xi.len()];
        let mut conjugate = 0.0;
        for (group, weight) in self.weights.iter().enumerate() {
            let span = self.span(group);
            let size = norm(&xi[span.clone()]);
            let penalty = lambda.penalty(*weight);
            let shrink = penalty.shrink(size);
            if shrink > 0.0 {
                conjugate += penalty.conjugate(size);
                let targets = theta[span.clone()].iter_mut();
                targets.zip(&xi[span]).for_each(|(t, x)| *t = shrink * x);
            }
        }
        let fitted = self.scores(&theta);
        DualPoint { xi, theta, fitted, conjugate }
    }
}

/// `H alpha` of all features: tiles for products, sums for powers of one variable.
struct Moments<'a> {
    design: &'a Whole<'a>,
    alpha: &'a [f64],
}

impl WithSimd for Moments<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let design = self.design;
        let basis = design.problem.features.basis();
        let width = design.signs.len();
        let variables = design.problem.features.variables();
        let mut signed = Vec::with_capacity(width);
        for (a, sign) in self.alpha.iter().zip(&design.signs) {
            signed.push(a * sign);
        }
        let mut out = vec![0.0; design.places.len()];
        for u in 0..variables {
            for (k, &p) in basis.single.iter().enumerate() {
                out[design.start(u, u) + k] = dot(simd, &signed, design.column(p, u));
            }
        }
        let mut sums = [0.0; ROWS * COLS];
        let mut left: Option<(usize, Panels<ROWS>)> = None;
        for (k, &(p, q)) in basis.pair.iter().enumerate() {
            let packed = match left.take() {
                Some((exponent, panels)) if exponent == p => panels,
                _ => Panels::pack(variables, width, |u| design.column(p, u), Some(&signed)),
            };
            for row in 0..packed.len() {
                let end = ((row + 1) * ROWS).min(variables);
                for col in 0..end.div_ceil(COLS) {
                    tile(simd, packed.panel(row), design.right[q].panel(col), &mut sums);
                    for (c, column) in sums.chunks_exact(ROWS).enumerate() {
                        let v = col * COLS + c;
                        for u in (row * ROWS).max(v + 1)..end {
                            out[design.start(u, v) + k] = column[u - row * ROWS];
                        }
                    }
                }
            }
            left = Some((p, packed));
        }
        out
    }
}

/// `H'theta`: for each u and power p, `s_u^p` times the sum over v of `theta s_v^q`.
struct Scores<'a> {
    design: &'a Whole<'a>,
    theta: &'a [f64],
}

impl WithSimd for Scores<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let design = self.design;
        let basis = design.problem.features.basis();
        let width = design.signs.len();
        let size = basis.pair.len();
        let mut scores = vec![0.0; width];
        let mut sum = vec![0.0; width];
        // The coefficients off zero of one u and one feature, four at a time.
        let mut waiting: Vec<(f64, &[f64])> = Vec::with_capacity(4);
        for u in 0..design.problem.features.variables() {
            for (k, &(p, q)) in basis.pair.iter().enumerate() {
                let start = design.start(u, 0) + k;
                sum.fill(0.0);
                let mut any = false;
                for v in 0..u {
                    let theta = self.theta[start + v * size];
                    if theta == 0.0 {
                        continue;
                    }
                    any = true;
                    waiting.push((theta, design.column(q, v)));
                    if let [a, b, c, d] = waiting[..] {
                        axpy4(simd, [a.0, b.0, c.0, d.0], [a.1, b.1, c.1, d.1], &mut sum);
                        waiting.clear();
                    }
                }
                for (theta, column) in waiting.drain(..) {
                    axpy(simd, theta, column, &mut sum);
                }
                if any {
                    for ((s, x), y) in scores.iter_mut().zip(design.column(p, u)).zip(&sum) {
                        *s += x * y;
                    }
                }
            }
            for (k, &p) in basis.single.iter().enumerate() {
                axpy(simd, self.theta[design.start(u, u) + k], design.column(p, u), &mut scores);
            }
        }
        for (s, sign) in scores.iter_mut().zip(&design.signs) {
            *s *= sign;
        }
        scores
    }
}
