//! Tests of any features given a support, by logistic regression of which sample a row is from.
//!
//! `log p/q = theta'f + c` is such a regression (Qin, 1998). Features outside of the support are tested
//! by their score, after projection on the support; those inside by their estimate; both with the
//! variances of the information, and groups of coefficients together. Its weights are at most 1/4 and
//! cannot collapse as those of a ratio do.

use super::sample::check_shuffles;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::numerics::cholesky::Cholesky;
use crate::numerics::tiles::{product, Panels, COLS};
use ndarray::{s, ArrayView2};
use rayon::prelude::*;
use std::ops::Range;

/// No coefficient of a standardised feature moves further in one step.
const LONGEST_STEP: f64 = 5.0;
/// Columns looked at together.
const CHUNK: usize = 128;
/// Of the variance of a feature, at least this share must be left by the support.
const LEAST_LEFT: f64 = 1e-8;

/// How the regression on the support is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticSettings {
    /// Take the bias of maximum likelihood away, which counts where the support is above a tenth of
    /// the observations (Firth, 1993). Then there is a fit even where the samples can be separated.
    pub firth: bool,
    /// The fit has converged when no standardised coefficient moves by more.
    pub tolerance: f64,
    /// Newton's steps, at most.
    pub max_iter: usize,
}

/// The tests of all groups of features.
#[derive(Debug, Clone, Default)]
pub struct LogisticTests {
    /// Whether the fit on the support has converged.
    pub converged: bool,
    /// Newton's steps.
    pub iterations: usize,
    /// For each group its quadratic form, a chi-square with as many degrees of freedom as the group has
    /// columns; NaN where the group cannot be tested.
    pub statistic: Vec<f64>,
    /// For each column its coefficient: fitted on the support, elsewhere one step from there.
    pub estimate: Vec<f64>,
    /// For each column its standard error.
    pub error: Vec<f64>,
}

/// Test groups of adjacent columns of a table (both samples, `x_rows` of `x` first) given those in
/// `support`, by number; `sizes` are the columns of each group. With the `units` of all rows, variances
/// are those of sums over units. `None` where the support's columns depend on each other.
pub fn logistic_tests(
    table: ArrayView2<'_, f64>,
    x_rows: usize,
    sizes: &[usize],
    support: &[usize],
    units: Option<&[usize]>,
    settings: &LogisticSettings,
    monitor: &Monitor,
) -> Result<Option<LogisticTests>> {
    let groups = Groups::new(sizes, support)?;
    let rows = table.nrows();
    if groups.columns() != table.ncols() || x_rows == 0 || x_rows >= rows {
        return Err(Error::Argument("groups must cover the columns, and samples the rows".into()));
    }
    let units = units.map(|labels| RowUnits::new(labels, rows)).transpose()?;
    let table = Standardised::new(table)?;
    let chosen: Vec<usize> = groups.chosen.iter().flat_map(|g| groups.ranges[*g].clone()).collect();
    let Some(fit) = Fit::new(&table, &chosen, x_rows, settings, monitor)? else {
        return Ok(None);
    };
    let mut tests = LogisticTests {
        converged: fit.converged,
        iterations: fit.iterations,
        statistic: vec![f64::NAN; groups.ranges.len()],
        estimate: vec![f64::NAN; table.columns],
        error: vec![f64::NAN; table.columns],
    };
    let parts = groups.parts();
    monitor.start(parts.len());
    let outcomes: Vec<Vec<(usize, Outcome)>> = parts
        .par_iter()
        .map(|part| {
            monitor.check()?;
            let outcomes = fit.scores(&table, &groups, part.clone(), units.as_ref());
            monitor.advance();
            Ok(outcomes)
        })
        .collect::<Result<_>>()?;
    for (group, outcome) in
        outcomes.into_iter().flatten().chain(fit.estimates(&groups, units.as_ref()))
    {
        let range = groups.ranges[group].clone();
        tests.statistic[group] = outcome.statistic;
        for (k, column) in range.enumerate() {
            tests.estimate[column] = outcome.estimate[k] / table.scale[column];
            tests.error[column] = outcome.error[k] / table.scale[column];
        }
    }
    Ok(Some(tests))
}

/// The statistics of all groups with nothing in the support, where each shuffle names the rows that
/// become `x`: those of one shuffle side by side. All shuffles name as many rows.
pub fn logistic_shuffles(
    table: ArrayView2<'_, f64>,
    sizes: &[usize],
    shuffles: &[Vec<usize>],
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    let groups = Groups::new(sizes, &[])?;
    let (rows, x_rows) = (table.nrows(), shuffles.first().map_or(0, Vec::len));
    if groups.columns() != table.ncols() || x_rows == 0 || x_rows >= rows {
        return Err(Error::Argument("groups must cover the columns, and samples the rows".into()));
    }
    check_shuffles(shuffles, x_rows, rows)?;
    let share = x_rows as f64 / rows as f64;
    let residuals: Vec<Vec<f64>> = shuffles
        .iter()
        .map(|shuffle| {
            let mut residuals = vec![-share; rows];
            shuffle.iter().for_each(|row| residuals[*row] = 1.0 - share);
            residuals
        })
        .collect();
    let residuals = Panels::pack(shuffles.len(), rows, |k| &residuals[k], None);
    let parts = groups.parts();
    monitor.start(parts.len());
    let parts: Vec<Vec<f64>> = parts
        .par_iter()
        .map(|part| {
            monitor.check()?;
            let ranges = &groups.ranges[part.clone()];
            let statistics = shuffled_part(table, ranges, &residuals, (shuffles.len(), share))?;
            monitor.advance();
            Ok(statistics)
        })
        .collect::<Result<_>>()?;
    let by_group = parts.concat();
    let count = shuffles.len();
    let of = |shuffle: usize| by_group.iter().skip(shuffle).step_by(count).copied();
    Ok((0..count).flat_map(of).collect())
}

/// The statistics of some groups in all shuffles, those of one group side by side. With nothing in the
/// support, the information of a group is the same in all of them.
fn shuffled_part(
    table: ArrayView2<'_, f64>,
    ranges: &[Range<usize>],
    residuals: &Panels<COLS>,
    (count, share): (usize, f64),
) -> Result<Vec<f64>> {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
        return Ok(Vec::new());
    };
    let (start, end) = (first.start, last.end);
    let table = Standardised::new(table.slice(s![.., start..end]))?;
    let weights = vec![share * (1.0 - share); table.rows];
    let left = Panels::pack(table.columns, table.rows, |k| table.column(k), None);
    let gradients = product(table.columns, count, &left, residuals);
    let mut statistics = Vec::with_capacity(ranges.len() * count);
    for range in ranges {
        let own = range.start - start..range.end - start;
        let columns: Vec<&[f64]> = own.clone().map(|k| table.column(k)).collect();
        let factor = information(&columns, &weights);
        let one = |shuffle: usize| {
            let Some(factor) = &factor else { return f64::NAN };
            let mut scaled: Vec<f64> =
                own.clone().map(|k| gradients[k * count + shuffle]).collect();
            factor.solve_lower(&mut scaled);
            scaled.iter().map(|value| value * value).sum()
        };
        statistics.extend((0..count).map(one));
    }
    Ok(statistics)
}

/// The columns of each group, and which groups are in the support.
struct Groups {
    ranges: Vec<Range<usize>>,
    chosen: Vec<usize>,
    is_chosen: Vec<bool>,
}

impl Groups {
    fn new(sizes: &[usize], support: &[usize]) -> Result<Self> {
        let mut end = 0;
        let next = |size: &usize| {
            end += size;
            end - size..end
        };
        let ranges: Vec<_> = sizes.iter().map(next).collect();
        let mut is_chosen = vec![false; ranges.len()];
        for group in support {
            match is_chosen.get_mut(*group) {
                Some(mark) if !*mark => *mark = true,
                _ => return Err(Error::Argument("a support names each group once".into())),
            }
        }
        if ranges.iter().any(Range::is_empty) {
            return Err(Error::Argument("a group needs a column".into()));
        }
        Ok(Self { ranges, chosen: support.to_vec(), is_chosen })
    }

    fn columns(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// Groups with `CHUNK` columns or little more.
    fn parts(&self) -> Vec<Range<usize>> {
        let (mut parts, mut start) = (Vec::new(), 0);
        for (group, range) in self.ranges.iter().enumerate() {
            if range.end - self.ranges[start].start >= CHUNK || group + 1 == self.ranges.len() {
                parts.push(start..group + 1);
                start = group + 1;
            }
        }
        parts
    }
}

/// The columns, each with mean 0 and mean square 1 over both samples together.
struct Standardised {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    /// What they were divided by; infinite for a constant column, which becomes zero.
    scale: Vec<f64>,
}

impl Standardised {
    fn new(table: ArrayView2<'_, f64>) -> Result<Self> {
        let (rows, columns) = table.dim();
        let mut values = crate::error::room_for(rows, columns)?;
        let mut scale = Vec::with_capacity(columns);
        for column in table.columns() {
            let mean = column.sum() / rows as f64;
            let size = column.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
            let square = column.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / rows as f64;
            if !square.is_finite() {
                return Err(Error::Argument("features must be finite".into()));
            }
            let root = square.sqrt();
            let root = if root > 1e-12 * size { root } else { f64::INFINITY };
            values.extend(column.iter().map(|f| (f - mean) / root));
            scale.push(root);
        }
        Ok(Self { rows, columns, values, scale })
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.values[k * self.rows..][..self.rows]
    }
}

/// The unit of every row.
struct RowUnits<'a> {
    labels: &'a [usize],
    count: usize,
}

impl<'a> RowUnits<'a> {
    fn new(labels: &'a [usize], rows: usize) -> Result<Self> {
        let count = labels.iter().max().map_or(0, |last| last + 1);
        if labels.len() != rows || count < 2 || count > rows {
            return Err(Error::Argument("every row needs a unit, and there must be two".into()));
        }
        Ok(Self { labels, count })
    }

    /// `A^-1 V A^-1`, where V is the sum over units of the squares of their sums of columns times
    /// residuals: the covariance of estimates whose information is A.
    fn sandwich(&self, information: &Cholesky, columns: &[&[f64]], residuals: &[f64]) -> Vec<f64> {
        let size = columns.len();
        let mut sums = vec![0.0; self.count * size];
        for (k, column) in columns.iter().enumerate() {
            for ((unit, f), r) in self.labels.iter().zip(*column).zip(residuals) {
                sums[unit * size + k] += f * r;
            }
        }
        let correction = self.count as f64 / (self.count as f64 - 1.0);
        let mut covariance = vec![0.0; size * size];
        for own in sums.chunks_exact_mut(size) {
            information.solve(own);
            for (k, row) in covariance.chunks_exact_mut(size).enumerate() {
                row.iter_mut().zip(&*own).for_each(|(v, sum)| *v += correction * own[k] * sum);
            }
        }
        covariance
    }
}

/// What there is to say about one group.
struct Outcome {
    statistic: f64,
    estimate: Vec<f64>,
    error: Vec<f64>,
}

/// The regression on the support.
struct Fit {
    rows: usize,
    /// Ones, then the support's columns.
    design: Vec<f64>,
    beta: Vec<f64>,
    converged: bool,
    iterations: usize,
    /// `pi (1 - pi)`.
    weights: Vec<f64>,
    /// Observed less fitted.
    residuals: Vec<f64>,
    information: Cholesky,
}

/// What a step needs at some coefficients.
struct Here {
    weights: Vec<f64>,
    residuals: Vec<f64>,
    information: Cholesky,
}

impl Fit {
    fn new(
        table: &Standardised,
        chosen: &[usize],
        x_rows: usize,
        settings: &LogisticSettings,
        monitor: &Monitor,
    ) -> Result<Option<Self>> {
        let rows = table.rows;
        let mut design = vec![1.0; rows];
        chosen.iter().for_each(|k| design.extend_from_slice(table.column(*k)));
        let share = x_rows as f64 / rows as f64;
        let mut beta = vec![0.0; chosen.len() + 1];
        beta[0] = (share / (1.0 - share)).ln();
        let Some(mut here) = Here::new(&design, &beta, x_rows) else {
            return Ok(None);
        };
        let (mut converged, mut iterations) = (false, 0);
        while !converged && iterations < settings.max_iter {
            monitor.check()?;
            iterations += 1;
            let mut step = here.gradient(&design, settings.firth);
            here.information.solve(&mut step);
            let longest = step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            if !longest.is_finite() {
                break;
            }
            let shorten = (LONGEST_STEP / longest).min(1.0);
            beta.iter_mut().zip(&step).for_each(|(b, s)| *b += shorten * s);
            // Coefficients that run away leave no information.
            let Some(next) = Here::new(&design, &beta, x_rows) else { break };
            here = next;
            converged = longest <= settings.tolerance;
        }
        let Here { weights, residuals, information } = here;
        let fit =
            Self { rows, design, beta, converged, iterations, weights, residuals, information };
        Ok(Some(fit))
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.design[k * self.rows..][..self.rows]
    }

    /// The groups outside of the support, each by its score.
    fn scores(
        &self,
        table: &Standardised,
        groups: &Groups,
        part: Range<usize>,
        units: Option<&RowUnits<'_>>,
    ) -> Vec<(usize, Outcome)> {
        let (rows, width) = (self.rows, self.beta.len());
        let wanted: Vec<usize> = part.filter(|group| !groups.is_chosen[*group]).collect();
        let columns: Vec<usize> =
            wanted.iter().flat_map(|group| groups.ranges[*group].clone()).collect();
        let count = columns.len();
        if count == 0 {
            return Vec::new();
        }
        let left = Panels::pack(width, rows, |k| self.column(k), Some(&self.weights));
        let right = Panels::pack(count, rows, |k| table.column(columns[k]), None);
        let cross = product(width, count, &left, &right);
        let mut onto = vec![0.0; width * count];
        for k in 0..count {
            let mut column: Vec<f64> = (0..width).map(|row| cross[row * count + k]).collect();
            self.information.solve(&mut column);
            (0..width).for_each(|row| onto[row * count + k] = column[row]);
        }
        let left = Panels::pack_rows(rows, width, |k| self.column(k), |_| 1.0);
        let right = Panels::pack_rows(count, width, |k| &onto[k * count..][..count], |_| 1.0);
        let fitted = product(rows, count, &left, &right);
        let project = |k: usize| -> Vec<f64> {
            let column = table.column(columns[k]).iter().enumerate();
            column.map(|(row, f)| f - fitted[row * count + k]).collect()
        };
        let mut start = 0;
        let one = |group: usize| {
            let size = groups.ranges[group].len();
            let projected: Vec<Vec<f64>> = (start..start + size).map(project).collect();
            start += size;
            let columns: Vec<&[f64]> = projected.iter().map(|column| &column[..]).collect();
            (group, score(&columns, &self.weights, &self.residuals, units))
        };
        wanted.into_iter().map(one).collect()
    }

    /// The groups of the support, each by its estimate.
    fn estimates<'a>(
        &'a self,
        groups: &'a Groups,
        units: Option<&RowUnits<'_>>,
    ) -> impl Iterator<Item = (usize, Outcome)> + 'a {
        let width = self.beta.len();
        let design: Vec<&[f64]> = (0..width).map(|k| self.column(k)).collect();
        let robust = units.map(|units| units.sandwich(&self.information, &design, &self.residuals));
        let mut start = 1;
        groups.chosen.iter().map(move |group| {
            let size = groups.ranges[*group].len();
            let own = start..start + size;
            start += size;
            let mut covariance = vec![0.0; size * size];
            for k in 0..size {
                let mut column = vec![0.0; width];
                match &robust {
                    Some(all) => {
                        column.copy_from_slice(&all[(own.start + k) * width..][..width]);
                    }
                    None => {
                        column[own.start + k] = 1.0;
                        self.information.solve(&mut column);
                    }
                }
                (0..size).for_each(|l| covariance[k * size + l] = column[own.start + l]);
            }
            let estimate = self.beta[own].to_vec();
            let error = (0..size).map(|k| covariance[k * size + k].sqrt()).collect();
            (*group, Outcome { statistic: quadratic(&covariance, &estimate), estimate, error })
        })
    }
}

/// One group by its columns, which are projected on the support: one step from zero.
fn score(
    projected: &[&[f64]],
    weights: &[f64],
    residuals: &[f64],
    units: Option<&RowUnits<'_>>,
) -> Outcome {
    let size = projected.len();
    let gradient: Vec<f64> = projected.iter().map(|f| inner(f, residuals)).collect();
    let Some(factor) = information(projected, weights) else {
        return Outcome::unknown(size);
    };
    let mut estimate = gradient.clone();
    factor.solve(&mut estimate);
    if let Some(units) = units {
        let covariance = units.sandwich(&factor, projected, residuals);
        let error = (0..size).map(|k| covariance[k * size + k].sqrt()).collect();
        return Outcome { statistic: quadratic(&covariance, &estimate), estimate, error };
    }
    let statistic = inner(&estimate, &gradient);
    let error = |k: usize| {
        let mut column = vec![0.0; size];
        column[k] = 1.0;
        factor.solve(&mut column);
        column[k].sqrt()
    };
    Outcome { statistic, estimate, error: (0..size).map(error).collect() }
}

/// Of the columns of one group. What the support or the rest of the group explains has nothing left to
/// test: `None`.
fn information(projected: &[&[f64]], weights: &[f64]) -> Option<Cholesky> {
    let size = projected.len();
    let mut information = vec![0.0; size * size];
    for (k, f) in projected.iter().enumerate() {
        let weighted: Vec<f64> = f.iter().zip(weights).map(|(f, w)| f * w).collect();
        for (l, g) in projected[..=k].iter().enumerate() {
            information[k * size + l] = inner(&weighted, g);
        }
    }
    let least = LEAST_LEFT * weights.iter().sum::<f64>();
    let own = |k: usize| information[k * size + k];
    Cholesky::new(&information, size).filter(|factor| {
        (0..size).all(|k| factor.pivot(k).powi(2) > least.max(LEAST_LEFT * own(k)))
    })
}

fn inner(f: &[f64], g: &[f64]) -> f64 {
    f.iter().zip(g).map(|(f, g)| f * g).sum()
}

impl Outcome {
    fn unknown(size: usize) -> Self {
        let nothing = vec![f64::NAN; size];
        Self { statistic: f64::NAN, estimate: nothing.clone(), error: nothing }
    }
}

/// `v' A^-1 v`; NaN where A is not positive definite.
fn quadratic(matrix: &[f64], vector: &[f64]) -> f64 {
    let Some(factor) = Cholesky::new(matrix, vector.len()) else {
        return f64::NAN;
    };
    let mut solved = vector.to_vec();
    factor.solve_lower(&mut solved);
    solved.iter().map(|value| value * value).sum()
}

impl Here {
    fn new(design: &[f64], beta: &[f64], x_rows: usize) -> Option<Self> {
        let rows = design.len() / beta.len();
        let mut scores = vec![0.0; rows];
        for (column, b) in design.chunks_exact(rows).zip(beta) {
            scores.iter_mut().zip(column).for_each(|(score, f)| *score += b * f);
        }
        let share: Vec<f64> = scores.iter().map(|score| 1.0 / (1.0 + (-score).exp())).collect();
        let weights: Vec<f64> = share.iter().map(|pi| pi * (1.0 - pi)).collect();
        let observed = |row: usize| if row < x_rows { 1.0 } else { 0.0 };
        let residuals = share.iter().enumerate().map(|(row, pi)| observed(row) - pi).collect();
        let size = beta.len();
        let left = Panels::pack(size, rows, |k| &design[k * rows..][..rows], Some(&weights));
        let right = Panels::pack(size, rows, |k| &design[k * rows..][..rows], None);
        let matrix = product(size, size, &left, &right);
        let information = Cholesky::new(&matrix, size)?;
        let alone = |k: usize| information.pivot(k).powi(2) / matrix[k * size + k];
        let sound = (0..size).all(|k| alone(k) > LEAST_LEFT);
        sound.then_some(Self { weights, residuals, information })
    }

    /// Of the likelihood, with Firth's term or without.
    fn gradient(&self, design: &[f64], firth: bool) -> Vec<f64> {
        let rows = self.residuals.len();
        let size = design.len() / rows;
        let mut pull = self.residuals.clone();
        if firth {
            for (row, pull) in pull.iter_mut().enumerate() {
                let mut leverage: Vec<f64> = (0..size).map(|k| design[k * rows + row]).collect();
                self.information.solve_lower(&mut leverage);
                let weight = self.weights[row] * leverage.iter().map(|v| v * v).sum::<f64>();
                // Observed less fitted is 1 - pi for `x` and -pi for `y`.
                let pi = if *pull > 0.0 { 1.0 - *pull } else { -*pull };
                *pull += weight * (0.5 - pi);
            }
        }
        let inner = |column: &[f64]| column.iter().zip(&pull).map(|(f, r)| f * r).sum();
        design.chunks_exact(rows).map(inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    const PLAIN: LogisticSettings =
        LogisticSettings { firth: false, tolerance: 1e-10, max_iter: 50 };

    fn table() -> Array2<f64> {
        Array2::from_shape_fn((60, 9), |(r, u)| {
            let noise = (((r * 9 + u) * 389 + r * r * 31 + u * u * r * 7) % 997) as f64 / 500.0;
            noise + if r < 25 { 0.1 * u as f64 } else { 0.0 }
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn a_group_of_one_is_its_estimate_over_its_error() {
        let table = table();
        let monitor = Monitor::new();
        let got = logistic_tests(table.view(), 25, &[1; 9], &[1, 4], None, &PLAIN, &monitor);
        let got = got.unwrap().unwrap();
        assert!(got.converged);
        for k in 0..9 {
            let z = got.estimate[k] / got.error[k];
            assert!((z * z - got.statistic[k]).abs() < 1e-9);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn groups_do_not_depend_on_the_scale_of_columns() {
        let (table, monitor) = (table(), Monitor::new());
        let mut scaled = table.clone();
        scaled.column_mut(3).mapv_inplace(|f| 1e3 * f + 5.0);
        for firth in [false, true] {
            let settings = LogisticSettings { firth, ..PLAIN };
            let run = |table: &Array2<f64>| {
                logistic_tests(table.view(), 25, &[2, 3, 4], &[1], None, &settings, &monitor)
                    .unwrap()
                    .unwrap()
            };
            let (one, other) = (run(&table), run(&scaled));
            for (a, b) in one.statistic.iter().zip(&other.statistic) {
                assert!((a - b).abs() < 1e-6 * a.abs());
            }
            assert!((one.estimate[3] - 1e3 * other.estimate[3]).abs() < 1e-6);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_first_rows_as_x_are_no_shuffle() {
        let (table, monitor) = (table(), Monitor::new());
        let sizes = [2, 3, 4];
        let want = logistic_tests(table.view(), 25, &sizes, &[], None, &PLAIN, &monitor);
        let want = want.unwrap().unwrap().statistic;
        let run =
            |shuffles: &[Vec<usize>]| logistic_shuffles(table.view(), &sizes, shuffles, &monitor);
        let got = run(&[(0..25).collect(), (35..60).collect()]).unwrap();
        assert_eq!(got.len(), 6);
        for (a, b) in got.iter().zip(&want) {
            assert!((a - b).abs() < 1e-9 * b);
        }
        assert!((got[3] - want[0]).abs() > 1e-3);
        assert!(run(&[]).is_err() && run(&[vec![0, 0]]).is_err() && run(&[vec![60]]).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn rows_that_repeat_tell_no_more_than_one_of_them() {
        let (table, monitor) = (table(), Monitor::new());
        let twice = Array2::from_shape_fn((120, 9), |(r, u)| table[(r / 2, u)]);
        let single: Vec<usize> = (0..60).collect();
        let double: Vec<usize> = (0..120).map(|row| row / 2).collect();
        let run = |table: &Array2<f64>, x_rows: usize, units: &[usize]| {
            let sizes = [2, 3, 4];
            let units = Some(units);
            logistic_tests(table.view(), x_rows, &sizes, &[1], units, &PLAIN, &monitor)
        };
        let one = run(&table, 25, &single).unwrap().unwrap();
        let other = run(&twice, 50, &double).unwrap().unwrap();
        for (a, b) in one.statistic.iter().zip(&other.statistic) {
            assert!((a - b).abs() < 1e-8 * a, "{a} for {b}");
        }
        for (a, b) in one.error.iter().zip(&other.error) {
            assert!((a - b).abs() < 1e-8 * a, "{a} for {b}");
        }
        assert!(run(&table, 25, &double).is_err());
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let (mut table, monitor) = (table(), Monitor::new());
        let first = table.column(0).to_owned();
        table.column_mut(1).assign(&first);
        table.column_mut(2).fill(7.0);
        let run = |support: &[usize]| {
            logistic_tests(table.view(), 25, &[1; 9], support, None, &PLAIN, &monitor)
        };
        assert!(run(&[0, 1]).unwrap().is_none());
        let got = run(&[0]).unwrap().unwrap();
        assert!(got.statistic[1].is_nan() && got.statistic[2].is_nan());
        assert!(got.statistic[3].is_finite());
        assert!(run(&[0, 0]).is_err() && run(&[9]).is_err());
    }
}
