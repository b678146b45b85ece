//! The covariance of features under weights of the scores, from the rows of any design.

use crate::design::RowDesign;
use crate::numerics::tiles::{add_gram, Panels};

/// Scores whose features are gathered at a time.
const BLOCK: usize = 512;

/// The covariance matrix of some factors' features under weights of the scores that sum to one; what
/// stands above the diagonal is left undefined.
pub fn covariance<D: RowDesign + ?Sized>(design: &D, groups: &[usize], alpha: &[f64]) -> Vec<f64> {
    let rows: Vec<usize> = groups.iter().flat_map(|group| design.row_ids(*group)).collect();
    let count = rows.len();
    let mut matrix = vec![0.0; count * count];
    let mut means = vec![0.0; count];
    let mut values = vec![0.0; count * BLOCK];
    for start in (0..alpha.len()).step_by(BLOCK) {
        let span = start..alpha.len().min(start + BLOCK);
        let width = span.len();
        for (row, out) in rows.iter().zip(values.chunks_exact_mut(width)) {
            design.copy_row(*row, span.clone(), out);
        }
        let weights = &alpha[span];
        for (mean, row) in means.iter_mut().zip(values.chunks_exact(width)) {
            *mean += row.iter().zip(weights).map(|(h, a)| h * a).sum::<f64>();
        }
        let variable = |u: usize| &values[u * width..][..width];
        let left = Panels::pack(count, width, variable, Some(weights));
        let right = Panels::pack(count, width, variable, None);
        add_gram(count, &left, &right, &mut matrix);
    }
    for (u, row) in matrix.chunks_exact_mut(count.max(1)).enumerate() {
        let mean = means[u];
        row.iter_mut().zip(&means).for_each(|(value, other)| *value -= mean * other);
    }
    matrix
}
