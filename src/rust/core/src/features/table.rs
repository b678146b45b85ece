//! Features evaluated beforehand: any functions of any sets of variables.

use super::Place;
use crate::error::{Error, Result};
use crate::numerics::simd::{axpy, dot};
use pulp::Simd;
use std::ops::Range;
use std::sync::Arc;

/// One column for each feature, the features of a factor side by side.
#[derive(Debug, Clone)]
pub struct Table {
    rows: usize,
    /// Shared with whoever made them: a table may be most of the memory there is.
    values: Arc<[f64]>,
    /// Where the columns of each factor start, and where the last end.
    starts: Vec<usize>,
}

impl Table {
    /// A table of `rows` rows, column after column, with this many columns for each factor.
    pub fn new(rows: usize, values: Arc<[f64]>, sizes: &[usize]) -> Result<Self> {
        let mut starts = vec![0];
        let mut columns = 0;
        for size in sizes {
            columns += size;
            starts.push(columns);
        }
        if columns == 0 || rows == 0 || values.len() != columns * rows {
            return Err(Error::Argument("features: the table has the wrong size".into()));
        }
        let table = Self { rows, values, starts };
        table.check_overflow()?;
        Ok(table)
    }

    /// A feature and the sum of its squares over rows must stay finite.
    fn check_overflow(&self) -> Result<()> {
        let limit = (f64::MAX / self.rows as f64).sqrt();
        // Written so that a NaN fails, too.
        match self.values.iter().position(|value| !value.abs().lt(&limit)) {
            Some(at) => Err(Error::Overflow { first: at / self.rows, second: at / self.rows }),
            None => Ok(()),
        }
    }

    /// The largest value of any feature.
    pub fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |top: f64, value| top.max(value.abs()))
    }

    /// Rows of the stack.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many factors there are.
    pub fn factors(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first column of a factor, and how many it has.
    pub fn place(&self, factor: usize) -> Place {
        let start = self.starts[factor];
        (start, self.starts[factor + 1] - start)
    }

    /// How many features the factor at a place has.
    #[inline(always)]
    pub fn size_of(&self, _: usize, size: usize) -> usize {
        size
    }

    #[inline(always)]
    fn column(&self, (start, _, k): (usize, usize, usize)) -> &[f64] {
        &self.values[(start + k) * self.rows..][..self.rows]
    }

    /// `sum_r weights_r f_tk(r)` over some rows, with a weight for each.
    #[inline(always)]
    pub fn moment<S: Simd>(
        &self,
        simd: S,
        at: (usize, usize, usize),
        rows: Range<usize>,
        weights: &[f64],
    ) -> f64 {
        dot(simd, weights, &self.column(at)[rows])
    }

    /// Add `scale f_tk(r)` on some rows to `out`.
    #[inline(always)]
    pub fn add_feature<S: Simd>(
        &self,
        simd: S,
        at: (usize, usize, usize),
        rows: Range<usize>,
        scale: f64,
        out: &mut [f64],
    ) {
        axpy(simd, scale, &self.column(at)[rows], out);
    }
}
