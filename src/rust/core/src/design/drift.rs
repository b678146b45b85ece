//! How far the `xi` of any pair can be from where a pass over all factors has seen it.

use crate::features::factors::factor_index;
use crate::features::Products;
use crate::numerics::simd::{dispatch, dot3};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Variables in one task.
const TASK_VARIABLES: usize = 512;

/// How far `xi` of any pair may have moved since other row weights: `|delta xi_uv| <= a_u a_v`.
#[derive(Debug, Clone)]
pub struct Drift {
    reach: Vec<f64>,
    /// Variables by falling reach.
    order: Vec<usize>,
}

impl Drift {
    /// The bound for weights that changed by `delta`.
    ///
    /// Cauchy-Schwarz: `|sum_r delta_r s_u^p s_v^q| <= a_pu a_qv`, `a_pu^2 = sum_r |delta_r| s_u^2p`,
    /// and over the features of a pair the squares add up to at most `sum_p a_pu^2 sum_q a_qv^2`.
    pub fn new(features: &Products, delta: &[f64]) -> Self {
        let size: Vec<f64> = delta.iter().map(|x| x.abs()).collect();
        let mut exponents: Vec<usize> =
            features.basis().pair.iter().flat_map(|(p, q)| [*p, *q]).collect();
        exponents.sort_unstable();
        exponents.dedup();
        let variables: Vec<usize> = (0..features.variables()).collect();
        let parts: Vec<Vec<f64>> = variables
            .par_chunks(TASK_VARIABLES)
            .map(|part| {
                dispatch(Reach { features, variables: part, size: &size, exponents: &exponents })
            })
            .collect();
        let reach = parts.concat();
        let mut order: Vec<usize> = (0..reach.len()).collect();
        order.sort_by(|a, b| reach[*b].total_cmp(&reach[*a]));
        Self { reach, order }
    }

    /// The bound for any pair, and for a single whose features are squares of a pair's.
    pub fn largest(&self) -> f64 {
        self.order.first().map_or(0.0, |u| self.bound(*u, *u))
    }

    /// The bound for one pair.
    pub fn bound(&self, u: usize, v: usize) -> f64 {
        self.reach[u] * self.reach[v]
    }

    /// The pairs whose bound exceeds `limit`, or `None` when there are more than `most`.
    pub fn pairs_beyond(&self, limit: f64, most: usize) -> Option<Vec<usize>> {
        let mut pairs = Vec::new();
        for (rank, &u) in self.order.iter().enumerate() {
            let partners = self.order[rank + 1..].iter();
            let near = partners.take_while(|v| self.bound(u, **v) > limit);
            let before = pairs.len();
            for &v in near {
                pairs.push(factor_index(u.max(v), u.min(v)));
                if pairs.len() > most {
                    return None;
                }
            }
            if pairs.len() == before {
                break;
            }
        }
        Some(pairs)
    }
}

struct Reach<'a> {
    features: &'a Products,
    variables: &'a [usize],
    size: &'a [f64],
    exponents: &'a [usize],
}

impl WithSimd for Reach<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut reach = Vec::with_capacity(self.variables.len());
        for &u in self.variables {
            let mut square = 0.0;
            for &p in self.exponents {
                let column = self.features.column(p, u);
                square += dot3(simd, self.size, column, column);
            }
            reach.push(square.sqrt());
        }
        reach
    }
}
