//! The Hessian of the loss at one theta, `H = sum_i alpha_i f_i f_i' - mu mu'`, over all factors: stored
//! where many of its rows are wanted, otherwise looked at without storing any.

use super::sample::Sample;
use crate::design::scan::{Query, Scanner};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::tiles::{add_gram, Panels};
use crate::objective::penalty_factor::PenaltyFactors;
use rayon::prelude::*;

/// The most entries of a stored Hessian: 128 megabytes.
const MOST_STORED: usize = 1 << 24;
/// A row passes over all factors this often: storing pays where one row in this many is wanted.
const PASSES: usize = 8;
/// Factors without a place in a stored Hessian.
const NOWHERE: usize = usize::MAX;

/// The Hessian at some weights of `y`.
pub struct Hessian<'a> {
    sample: &'a Sample<'a>,
    /// The weights of `y`.
    pub alpha: &'a [f64],
    kind: Kind<'a>,
}

/// Looks at all factors, at any weights.
pub struct FactorScan {
    scanner: Scanner,
    /// For passes that weigh all factors alike.
    equal: PenaltyFactors,
}

impl FactorScan {
    /// Pack the features once for all looks.
    pub fn new(sample: &Sample<'_>) -> Self {
        Self { scanner: Scanner::new(sample.products), equal: PenaltyFactors::equal() }
    }
}

enum Kind<'a> {
    Stored {
        /// Where a factor stands.
        places: Vec<usize>,
        factors: Vec<usize>,
        /// All entries, row by row.
        matrix: Vec<f64>,
    },
    Streamed(&'a FactorScan),
}

/// Some coordinates of a vector, with what it takes to multiply it by the Hessian.
#[derive(Debug, Default)]
pub struct Part {
    /// The factors.
    pub factors: Vec<usize>,
    /// `H` between them, row by row.
    rows: Vec<Vec<f64>>,
    /// Their features on `y`, centred under alpha; none where the Hessian is stored.
    centred: Vec<Vec<f64>>,
}

impl Part {
    /// `H` between one of the factors and all of them.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[index]
    }

    /// `H omega` on the part.
    pub fn product(&self, omega: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| inner(row, omega)).collect()
    }

    /// The part of the Hessian between listed coordinates of the part, row by row.
    pub fn block(&self, chosen: &[usize]) -> Vec<f64> {
        chosen.iter().flat_map(|i| chosen.iter().map(|j| self.rows[*i][*j])).collect()
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<'a> Hessian<'a> {
    /// Whether to store a Hessian of which `wanted` rows will be inverted.
    pub fn worth_storing(sample: &Sample<'_>, wanted: usize) -> bool {
        let count = sample.factors().count();
        count * count <= MOST_STORED && wanted * PASSES >= count
    }

    /// With every entry in memory.
    pub fn stored(sample: &'a Sample<'a>, alpha: &'a [f64], monitor: &Monitor) -> Result<Self> {
        let factors: Vec<usize> = sample.factors().collect();
        let mut places = vec![NOWHERE; sample.products.factors()];
        factors.iter().enumerate().for_each(|(place, factor)| places[*factor] = place);
        let rows: Vec<Vec<f64>> = factors
            .par_iter()
            .map(|factor| {
                monitor.check()?;
                let mut row = centred(sample, alpha, *factor);
                row.iter_mut().zip(alpha).for_each(|(f, a)| *f *= a.sqrt());
                Ok(row)
            })
            .collect::<Result<_>>()?;
        let count = factors.len();
        let variable = |place: usize| &rows[place][..];
        let left = Panels::pack(count, alpha.len(), variable, None);
        let right = Panels::pack(count, alpha.len(), variable, None);
        let mut matrix = vec![0.0; count * count];
        add_gram(count, &left, &right, &mut matrix);
        for i in 0..count {
            for j in 0..i {
                matrix[j * count + i] = matrix[i * count + j];
            }
        }
        Ok(Self { sample, alpha, kind: Kind::Stored { places, factors, matrix } })
    }

    /// With no entry in memory.
    pub fn streamed(sample: &'a Sample<'a>, alpha: &'a [f64], scan: &'a FactorScan) -> Self {
        Self { sample, alpha, kind: Kind::Streamed(scan) }
    }

    /// `sum_i alpha_i f_i^2` of a feature: what its variance is to be compared with.
    pub fn square(&self, factor: usize) -> f64 {
        let feature = self.sample.feature(factor, self.sample.y.clone());
        feature.iter().zip(self.alpha).map(|(f, a)| a * f * f).sum()
    }

    /// Add a factor to a part.
    pub fn extend(&self, part: &mut Part, factor: usize) {
        part.factors.push(factor);
        let row: Vec<f64> = match &self.kind {
            Kind::Stored { places, factors, matrix } => {
                let row = &matrix[places[factor] * factors.len()..][..factors.len()];
                part.factors.iter().map(|other| row[places[*other]]).collect()
            }
            Kind::Streamed(_) => {
                let new = centred(self.sample, self.alpha, factor);
                let weighted: Vec<f64> = new.iter().zip(self.alpha).map(|(f, a)| f * a).collect();
                part.centred.push(new);
                part.centred.iter().map(|other| inner(other, &weighted)).collect()
            }
        };
        for (earlier, entry) in part.rows.iter_mut().zip(&row) {
            earlier.push(*entry);
        }
        part.rows.push(row);
    }

    /// The factors outside a part with `|(H omega)_t| > level`, and that size.
    pub fn beyond(
        &self,
        part: &Part,
        omega: &[f64],
        level: f64,
        monitor: &Monitor,
    ) -> Result<Vec<(usize, f64)>> {
        let outside = |factor: &usize| !part.factors.contains(factor);
        match &self.kind {
            Kind::Stored { places, factors, matrix } => {
                let mut product = vec![0.0; factors.len()];
                for (factor, value) in part.factors.iter().zip(omega) {
                    if *value != 0.0 {
                        let row = &matrix[places[*factor] * factors.len()..][..factors.len()];
                        product.iter_mut().zip(row).for_each(|(sum, h)| *sum += value * h);
                    }
                }
                let found = factors.iter().zip(&product).map(|(factor, sum)| (*factor, sum.abs()));
                Ok(found.filter(|(factor, size)| *size > level && outside(factor)).collect())
            }
            Kind::Streamed(FactorScan { scanner, equal }) => {
                let mut weights = vec![0.0; self.sample.products.rows()];
                let target = &mut weights[self.sample.y.clone()];
                for (feature, value) in part.centred.iter().zip(omega) {
                    target.iter_mut().zip(feature).for_each(|(sum, f)| *sum += value * f);
                }
                target.iter_mut().zip(self.alpha).for_each(|(sum, a)| *sum *= a);
                let query = Query { weights: &weights, penalty_factor: equal, level };
                let hits = scanner.all(self.sample.products, query, monitor)?;
                let found = hits.iter().map(|hit| (hit.factor(), hit.norm));
                Ok(found.filter(|(factor, _)| outside(factor)).collect())
            }
        }
    }
}

/// A feature on `y`, less its mean under alpha.
fn centred(sample: &Sample<'_>, alpha: &[f64], factor: usize) -> Vec<f64> {
    let mut feature = sample.feature(factor, sample.y.clone());
    sample.loss.centre(alpha, &mut feature);
    feature
}
