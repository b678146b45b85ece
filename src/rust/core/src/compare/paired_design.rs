//! Two networks at once, by half their sum and half their difference.
//!
//! With `theta_P = (a + b) / sqrt 2` and `theta_Q = (a - b) / sqrt 2` the ridge of both networks is that
//! of (a, b), and a group penalty on `theta_P - theta_Q` is one on b: a problem like any other, with
//! twice the factors. Both networks have the same features on the same scored rows.

use crate::design::{Design, DualPoint, RowDesign};
use crate::objective::loss::Term;
use crate::objective::penalty::{norm, Lambda};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::ops::Range;

/// First all factors of a, which no penalty but the ridge holds, then those of b.
pub struct PairedDesign<D> {
    base: D,
    linear: Vec<f64>,
}

/// `(first + second) / sqrt 2` and `(first - second) / sqrt 2`: its own inverse.
pub fn rotate(first: &[f64], second: &[f64]) -> [Vec<f64>; 2] {
    let mix = |sign: f64| {
        let pairs = first.iter().zip(second);
        pairs.map(|(a, b)| FRAC_1_SQRT_2 * (a + sign * b)).collect()
    };
    [mix(1.0), mix(-1.0)]
}

impl<D: RowDesign> PairedDesign<D> {
    /// A design that holds the features of one network, and the linear terms of both.
    pub fn new(base: D, linear_p: &[f64], linear_q: &[f64]) -> Self {
        let linear = rotate(linear_p, linear_q).concat();
        Self { base, linear }
    }

    /// `theta_P` and `theta_Q` of (a, b), or moments under the weights of both as moments of (a, b).
    pub fn networks(&self, theta: &[f64]) -> [Vec<f64>; 2] {
        let (a, b) = theta.split_at(self.linear.len() / 2);
        rotate(a, b)
    }

    /// The factors that some groups are halves of, in order.
    fn factors_of(&self, groups: &[usize]) -> Vec<usize> {
        let mut factors: Vec<usize> = groups.iter().map(|group| group % self.factors()).collect();
        factors.sort_unstable();
        factors.dedup();
        factors
    }

    fn half(&self) -> usize {
        self.linear.len() / 2
    }

    fn factors(&self) -> usize {
        self.base.groups()
    }
}

impl<D: RowDesign> Design for PairedDesign<D> {
    fn groups(&self) -> usize {
        2 * self.factors()
    }

    fn span(&self, group: usize) -> Range<usize> {
        let span = self.base.span(group % self.factors());
        let shift = if group < self.factors() { 0 } else { self.half() };
        span.start + shift..span.end + shift
    }

    fn weight(&self, group: usize) -> f64 {
        if group < self.factors() {
            0.0
        } else {
            // theta_P - theta_Q = sqrt 2 b.
            SQRT_2 * self.base.weight(group - self.factors())
        }
    }

    fn linear(&self) -> &[f64] {
        &self.linear
    }

    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        let [p, q] = self.networks(theta);
        [self.base.scores(&p), self.base.scores(&q)].concat()
    }

    fn moments(&self, alpha: &[f64]) -> Vec<f64> {
        let (p, q) = alpha.split_at(self.base.width());
        rotate(&self.base.moments(p), &self.base.moments(q)).concat()
    }
}

impl<D: RowDesign> RowDesign for PairedDesign<D> {
    fn width(&self) -> usize {
        2 * self.base.width()
    }

    fn row_ids(&self, group: usize) -> Range<usize> {
        let rows = self.base.row_ids(group % self.factors());
        let shift = if group < self.factors() { 0 } else { self.base.row_count() };
        rows.start + shift..rows.end + shift
    }

    fn row_count(&self) -> usize {
        2 * self.base.row_count()
    }

    fn single(&self) -> bool {
        self.base.single()
    }

    fn pass_cost(&self) -> usize {
        2 * self.base.pass_cost()
    }

    fn generation(&self) -> usize {
        self.base.generation()
    }

    fn copy_row(&self, id: usize, span: Range<usize>, out: &mut [f64]) {
        let (rows, width) = (self.base.row_count(), self.base.width());
        let sign = if id < rows { 1.0 } else { -1.0 };
        let first = span.start.min(width)..span.end.min(width);
        let second = span.start.max(width) - width..span.end.max(width) - width;
        let (p, q) = out[..span.len()].split_at_mut(first.len());
        if !p.is_empty() {
            self.base.copy_row(id % rows, first, p);
        }
        if !q.is_empty() {
            self.base.copy_row(id % rows, second, q);
        }
        p.iter_mut().for_each(|value| *value *= FRAC_1_SQRT_2);
        q.iter_mut().for_each(|value| *value *= sign * FRAC_1_SQRT_2);
    }

    /// Both halves of every factor: they share its features.
    fn curvature_groups(&self, groups: &[usize]) -> Vec<usize> {
        let factors = self.factors_of(groups);
        let second: Vec<usize> = factors.iter().map(|factor| factor + self.factors()).collect();
        [factors, second].concat()
    }

    /// From the curvatures of both networks, which have half as many rows as this design.
    fn curvature(&self, groups: &[usize], terms: &[Term], alpha: &[f64]) -> Vec<f64> {
        let factors = self.factors_of(groups);
        let (p, q) = alpha.split_at(self.base.width());
        // The terms of both networks are alike, and those of the first stand where the base has them.
        let terms = &terms[..terms.len() / 2];
        let [of_p, of_q] = [p, q].map(|alpha| self.base.curvature(&factors, terms, alpha));
        let mut starts = vec![0];
        starts.extend(factors.iter().scan(0, |end, factor| {
            *end += self.base.span(*factor).len();
            Some(*end)
        }));
        let size = starts[factors.len()];
        // For each coefficient, its place among those of one network, and the sign of its half.
        let place = |group: &usize| {
            let at = factors.binary_search(&(group % self.factors())).unwrap_or_default();
            let sign = if *group < self.factors() { 1.0 } else { -1.0 };
            (starts[at]..starts[at + 1]).map(move |place| (place, sign))
        };
        let places: Vec<(usize, f64)> = groups.iter().flat_map(place).collect();
        let mut matrix = Vec::with_capacity(places.len() * places.len());
        for (row, sign) in &places {
            for (column, other) in &places {
                // The base matrices have lower triangles only.
                let at = row.max(column) * size + row.min(column);
                matrix.push(0.5 * (of_p[at] + sign * other * of_q[at]));
            }
        }
        matrix
    }

    fn dual_point(&self, lambda: Lambda, linear: &[f64], alpha: &[f64]) -> DualPoint {
        let moments = self.moments(alpha);
        let xi: Vec<f64> = linear.iter().zip(moments).map(|(g, h)| g - h).collect();
        let mut theta = vec![0.0; xi.len()];
        let mut conjugate = 0.0;
        for group in 0..self.groups() {
            let penalty = lambda.penalty(self.weight(group));
            let span = self.span(group);
            let size = norm(&xi[span.clone()]);
            conjugate += penalty.conjugate(size);
            let shrink = penalty.shrink(size);
            theta[span.clone()].iter_mut().zip(&xi[span]).for_each(|(t, x)| *t = shrink * x);
        }
        let fitted = self.scores(&theta);
        DualPoint { xi, theta, fitted, conjugate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::by_products::ProductDesign;
    use crate::design::covariance::covariance;
    use crate::features::{Basis, Products};
    use crate::objective::loss::Loss;
    use crate::objective::penalty_factor::PenaltyFactors;
    use crate::objective::problem::Problem;
    use crate::samples::{Samples, Standardize};
    use ndarray::Array2;

    const ROWS: usize = 30;

    /// One network's problem: a sample of five rows, and the points.
    fn problem() -> Problem {
        let value =
            |(i, j): (usize, usize)| ((i * 13 + j * 29 + i * j * 7) % 31) as f64 / 15.0 - 1.0;
        let (sample, points) = (
            Array2::from_shape_fn((5, 3), value),
            Array2::from_shape_fn((ROWS, 3), |(i, j)| value((i + 40, j))),
        );
        let samples = Samples::new(sample.view(), points.view(), Standardize::None).unwrap();
        let basis = Basis { power: 1.0, pair: vec![(1, 1), (2, 1)], single: vec![2] };
        let products = Products::new(samples, basis).unwrap();
        let loss = Loss::likelihood(0..5, 5..5 + ROWS, vec![-(ROWS as f64).ln(); ROWS]);
        Problem::new(products, loss, PenaltyFactors::equal()).unwrap()
    }

    fn with_design(work: impl Fn(&PairedDesign<ProductDesign>)) {
        let problem = problem();
        let crate::features::Features::Products(products) = &problem.features else {
            panic!("products");
        };
        let base = ProductDesign::new(&problem, products);
        let linear = base.linear().to_vec();
        let other: Vec<f64> = linear.iter().map(|g| 0.5 - g).collect();
        work(&PairedDesign::new(base, &linear, &other));
    }

    fn numbers(count: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 17 + 5) % 23) as f64 / 23.0 - 0.4).collect()
    }

    #[test]
    fn rows_scores_and_moments_are_one_matrix() {
        with_design(|design| {
            let (size, width) = (design.linear().len(), design.width());
            assert_eq!(width, 2 * ROWS);
            let mut rows = Vec::new();
            for group in 0..design.groups() {
                for id in design.row_ids(group) {
                    let mut row = vec![0.0; width];
                    // In two parts, so that the seam between the networks is crossed both ways.
                    design.copy_row(id, 0..20, &mut row[..20]);
                    design.copy_row(id, 20..width, &mut row[20..]);
                    rows.push(row);
                }
            }
            let (theta, alpha) = (numbers(size), numbers(width));
            for (i, score) in design.scores(&theta).iter().enumerate() {
                let plain: f64 = rows.iter().zip(&theta).map(|(row, t)| row[i] * t).sum();
                assert!((score - plain).abs() < 1e-12);
            }
            for (row, moment) in rows.iter().zip(design.moments(&alpha)) {
                let plain: f64 = row.iter().zip(&alpha).map(|(h, a)| h * a).sum();
                assert!((moment - plain).abs() < 1e-12);
            }
        });
    }

    #[test]
    fn the_ridge_and_the_difference_are_those_of_the_networks() {
        with_design(|design| {
            let theta = numbers(design.linear().len());
            let [p, q] = design.networks(&theta);
            let square = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
            assert!((square(&theta) - square(&p) - square(&q)).abs() < 1e-12);
            for group in 0..design.groups() / 2 {
                let b = design.span(group + design.groups() / 2);
                let span = design.span(group);
                let way: Vec<f64> =
                    p[span.clone()].iter().zip(&q[span]).map(|(p, q)| p - q).collect();
                let weight = design.weight(group + design.groups() / 2);
                assert!((weight * norm(&theta[b]) - norm(&way)).abs() < 1e-12);
                assert_eq!(design.weight(group), 0.0);
            }
        });
    }

    #[test]
    fn the_curvature_is_the_sum_of_both_covariances() {
        with_design(|design| {
            let uneven: Vec<f64> = (1..=ROWS).map(|k| k as f64).collect();
            let total: f64 = uneven.iter().sum();
            let p: Vec<f64> = uneven.iter().map(|a| a / total).collect();
            let q = vec![1.0 / ROWS as f64; ROWS];
            let groups = [0, 2, 3, 7, 8];
            assert_eq!(design.curvature_groups(&groups), [0, 1, 2, 3, 6, 7, 8, 9]);
            let nothing = vec![0.0; ROWS];
            // Weights on one network alone leave the other one's rows out.
            let loss = problem().loss;
            let both = loss.beside(&loss);
            let terms = both.terms();
            let of_p = covariance(design, &groups, terms, &[p.clone(), nothing.clone()].concat());
            let of_q = covariance(design, &groups, terms, &[nothing, q.clone()].concat());
            let both = design.curvature(&groups, terms, &[p, q].concat());
            let size = groups.iter().map(|group| design.span(*group).len()).sum::<usize>();
            for row in 0..size {
                for column in 0..=row {
                    let at = row * size + column;
                    assert!((both[at] - of_p[at] - of_q[at]).abs() < 1e-12);
                }
            }
        });
    }
}
