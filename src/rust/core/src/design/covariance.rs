//! The covariance of features under weights of the scores, from the rows of any design.

use crate::design::RowDesign;
use crate::numerics::tiles::{add_gram, Panels};
use crate::objective::loss::Term;
use rayon::prelude::*;
use std::ops::Range;

/// Scores whose features are gathered at a time.
const BLOCK: usize = 512;

/// The sum over terms of the covariance matrix of some factors' features under the weights of the term's
/// scores, which sum to one; what stands above the diagonal is left undefined.
pub fn covariance<D: RowDesign + ?Sized>(
    design: &D,
    groups: &[usize],
    terms: &[Term],
    alpha: &[f64],
) -> Vec<f64> {
    let rows: Vec<usize> = groups.iter().flat_map(|group| design.row_ids(*group)).collect();
    let count = rows.len();
    let mut matrix = vec![0.0; count * count];
    let mut values = vec![0.0; count * BLOCK];
    for term in terms {
        let mut means = vec![0.0; count];
        for start in term.span.clone().step_by(BLOCK) {
            let span = start..term.span.end.min(start + BLOCK);
            gather(design, &rows, &span, &alpha[span.clone()], &mut values, &mut means);
            let width = span.len();
            let variable = |u: usize| &values[u * width..][..width];
            let left = Panels::pack(count, width, variable, Some(&alpha[span.clone()]));
            let right = Panels::pack(count, width, variable, None);
            add_gram(count, &left, &right, &mut matrix);
        }
        for (u, row) in matrix.chunks_exact_mut(count.max(1)).enumerate() {
            let mean = means[u];
            row.iter_mut().zip(&means).for_each(|(value, other)| *value -= mean * other);
        }
    }
    matrix
}

/// The features on some scores, and their share in the means.
fn gather<D: RowDesign + ?Sized>(
    design: &D,
    rows: &[usize],
    span: &Range<usize>,
    weights: &[f64],
    values: &mut [f64],
    means: &mut [f64],
) {
    let targets = values.par_chunks_exact_mut(span.len()).zip(means.par_iter_mut());
    rows.par_iter().zip(targets).with_min_len(64).for_each(|(row, (out, mean))| {
        design.copy_row(*row, span.clone(), out);
        *mean += out.iter().zip(weights).map(|(h, a)| h * a).sum::<f64>();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::by_products::ProductDesign;
    use crate::design::Design;
    use crate::features::{Basis, Features, Products};
    use crate::objective::loss::{Direction, Loss};
    use crate::objective::penalty_factor::PenaltyFactors;
    use crate::objective::problem::Problem;
    use crate::samples::{Samples, Standardize};
    use ndarray::Array2;

    /// The second derivative of a loss of two terms is what its gradient changes by.
    #[test]
    fn it_is_the_derivative_of_the_gradient() {
        let value =
            |(i, j): (usize, usize)| ((i * 13 + j * 29 + i * j * 7) % 31) as f64 / 15.0 - 1.0;
        let x = Array2::from_shape_fn((17, 3), value);
        let y = Array2::from_shape_fn((23, 3), |(i, j)| value((i + 40, j)));
        let samples = Samples::new(x.view(), y.view(), Standardize::Within).unwrap();
        let basis = Basis { power: 1.0, pair: vec![(1, 1), (2, 1)], single: vec![2] };
        let loss = Loss::density_ratio(Direction::Symmetric, 17, 23);
        let products = Products::new(samples, basis).unwrap();
        let problem = Problem::new(products, loss, PenaltyFactors::equal()).unwrap();
        let Features::Products(products) = &problem.features else {
            panic!("products");
        };
        let design = ProductDesign::new(&problem, products);
        let size = design.linear().len();
        let theta: Vec<f64> = (0..size).map(|k| (k as f64 * 1.7).sin() * 0.2).collect();
        let alpha = |theta: &[f64]| problem.loss.weights(&design.scores(theta)).alpha;
        let groups: Vec<usize> = (0..design.groups()).collect();
        let matrix = design.curvature(&groups, problem.loss.terms(), &alpha(&theta));
        for column in 0..size {
            let moved = |by: f64| {
                let mut theta = theta.clone();
                theta[column] += by;
                design.xi(&alpha(&theta))
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            for row in column..size {
                let slope = (down[row] - up[row]) / 2e-5;
                assert!((matrix[row * size + column] - slope).abs() < 1e-7, "{row} {column}");
            }
        }
    }
}
