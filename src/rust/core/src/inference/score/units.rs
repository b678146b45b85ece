//! Observations that belong together, such as the cells of one donor or both members of a pair: what
//! they add to a test is summed by unit before it is squared.
//!
//! The numerators of all tests stay those of single observations. Their influences are sums over
//! observations, so that the variance of a test is the sum over units of squared sums.

use super::edge_index;
use super::edges::{score_edges, ScoreTests};
use super::moderate::freedom;
use super::sample::{Sample, Scaled};
use super::support::{MomentPair, Solved};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::numerics::tiles::COLS;
use rayon::prelude::*;

/// Variances between units divide by their number less two.
const LEAST_UNITS: usize = 3;

/// The unit of every observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// Of `x` and of `y`; the same number in both is the same unit.
    labels: [Vec<usize>; 2],
    /// By what the square of each unit is multiplied: n / (n - 2) for the n units that it is one of.
    correction: Vec<f64>,
}

/// Variances of tests, and the degrees of freedom of each.
pub struct Spread {
    /// The variances.
    pub variance: Vec<f64>,
    /// Their degrees of freedom.
    pub freedom: Vec<f64>,
}

impl Units {
    /// From the units of both samples, numbered from zero. One that has observations in both samples
    /// is one of all units, any other one of its sample's.
    pub fn new(x: &[usize], y: &[usize]) -> Result<Self> {
        let count = x.iter().chain(y).max().map_or(0, |last| last + 1);
        if count > x.len() + y.len() {
            return Err(Error::Argument("units must be numbered one after the other".into()));
        }
        let mut seen = vec![[false; 2]; count];
        for (side, labels) in [x, y].into_iter().enumerate() {
            labels.iter().for_each(|unit| seen[*unit][side] = true);
        }
        let of_sample = |side: usize| seen.iter().filter(|unit| unit[side]).count();
        let sizes =
            [of_sample(0), of_sample(1), seen.iter().filter(|unit| unit[0] || unit[1]).count()];
        if sizes[0] < LEAST_UNITS || sizes[1] < LEAST_UNITS {
            return Err(Error::Argument("tests by unit need three units in each sample".into()));
        }
        let of = |n: usize| n as f64 / (n as f64 - 2.0);
        let correction = |unit: &[bool; 2]| match unit {
            [true, true] => of(sizes[2]),
            [true, false] => of(sizes[0]),
            [false, true] => of(sizes[1]),
            [false, false] => 0.0,
        };
        let correction = seen.iter().map(correction).collect();
        Ok(Self { labels: [x.to_vec(), y.to_vec()], correction })
    }

    /// Whether these are the units of samples of this size.
    pub fn check(&self, x_rows: usize, y_rows: usize) -> Result<()> {
        if [x_rows, y_rows] == [self.labels[0].len(), self.labels[1].len()] {
            return Ok(());
        }
        Err(Error::Argument("every observation needs a unit".into()))
    }

    fn count(&self) -> usize {
        self.correction.len()
    }

    /// Add the products of two columns of a sample to what there is of every unit.
    fn add_products(&self, side: usize, weight: f64, a: &[f64], b: &[f64], out: &mut [f64]) {
        for ((unit, a), b) in self.labels[side].iter().zip(a).zip(b) {
            out[*unit] += weight * a * b;
        }
    }

    /// How many observations of a sample each unit has.
    fn sizes(&self, side: usize) -> Vec<f64> {
        let mut sizes = vec![0.0; self.count()];
        self.labels[side].iter().for_each(|unit| sizes[*unit] += 1.0);
        sizes
    }

    /// The sums of every column of a table (column after column) over the rows of each unit.
    fn sums(&self, side: usize, table: &[f64]) -> Vec<f64> {
        let labels = &self.labels[side];
        let mut sums = Vec::new();
        for column in table.chunks_exact(labels.len()) {
            let start = sums.len();
            sums.resize(start + self.count(), 0.0);
            labels.iter().zip(column).for_each(|(unit, value)| sums[start + unit] += value);
        }
        sums
    }

    /// Variance and degrees of freedom of a sum over units.
    fn spread(&self, sums: &[f64]) -> (f64, f64) {
        let units = self.correction.iter().filter(|correction| **correction > 0.0).count();
        let squares = sums.iter().zip(&self.correction).map(|(sum, c)| c * sum * sum);
        let (variance, fourth) = (squares.sum(), sums.iter().map(|sum| sum.powi(4)).sum());
        (variance, freedom(variance, fourth, units))
    }

    /// Spread of all edges, whose sums over units are added to zeros by `add`.
    fn all(
        &self,
        variables: usize,
        monitor: &Monitor,
        add: impl Fn((usize, usize), &mut [f64]) + Sync,
    ) -> Result<Spread> {
        let columns: Vec<Vec<(f64, f64)>> = (0..variables)
            .into_par_iter()
            .map(|j| {
                monitor.check()?;
                let mut sums = vec![0.0; self.count()];
                let one = |i: usize| {
                    sums.fill(0.0);
                    add((i, j), &mut sums);
                    self.spread(&sums)
                };
                Ok((0..j).map(one).collect())
            })
            .collect::<Result<_>>()?;
        let (variance, freedom) = columns.into_iter().flatten().unzip();
        Ok(Spread { variance, freedom })
    }

    /// The difference of products of two variables: each sample has its columns, with mean square 1,
    /// and for all edges the mean of their product and by how much the scales count in it.
    pub fn products(
        &self,
        samples: [&Sample; 2],
        means: [&[f64]; 2],
        slopes: [&[f64]; 2],
        monitor: &Monitor,
    ) -> Result<Spread> {
        self.check(samples[0].rows(), samples[1].rows())?;
        let squares = [0, 1].map(|side| {
            let values = samples[side].values().iter();
            self.sums(side, &values.map(|a| a * a).collect::<Vec<f64>>())
        });
        let sizes = [0, 1].map(|side| self.sizes(side));
        let units = self.count();
        self.all(samples[0].variables(), monitor, |(i, j), sums| {
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let sample = samples[side];
                let weight = sign / sample.rows() as f64;
                self.add_products(side, weight, sample.variable(i), sample.variable(j), sums);
                let e = edge_index(i, j);
                let (mean, slope) = (means[side][e], 0.5 * slopes[side][e]);
                let (q_i, q_j) = (&squares[side][i * units..], &squares[side][j * units..]);
                for (unit, sum) in sums.iter_mut().enumerate() {
                    let size = sizes[side][unit];
                    *sum -= weight * (mean * size + slope * (q_i[unit] + q_j[unit] - 2.0 * size));
                }
            }
        })
    }
}

/// One sample and what its influences by unit are made of.
struct Side<'a> {
    side: usize,
    scaled: &'a Scaled,
    moments: &'a [f64],
    sign: f64,
    /// `D` times the other sample's moments, on the rows of the support's variables.
    lifted: Vec<f64>,
    /// The squares behind the scales, summed by unit.
    squares: Vec<f64>,
    /// `E` summed by unit, between each variable of the support and every variable.
    noise: Vec<f64>,
}

impl<'a> Side<'a> {
    fn new(
        side: usize,
        scaled: &'a Scaled,
        moments: &'a MomentPair,
        solved: &Solved,
        units: &Units,
    ) -> Self {
        let (own, other, sign) = match side {
            0 => (&moments.x, &moments.y, -1.0),
            _ => (&moments.y, &moments.x, 1.0),
        };
        let lifted = solved.times(other, moments.stride);
        let squares = units.sums(side, scaled.all_squares());
        let mut new = Self { side, scaled, moments: own, sign, lifted, squares, noise: Vec::new() };
        let (d, count) = (scaled.sample().variables(), units.count());
        let mut noise = vec![0.0; solved.variables.len() * d * count];
        noise.par_chunks_mut(count).enumerate().for_each(|(place, out)| {
            new.add_noise(units, 1.0, (solved.variables[place / d], place % d), out);
        });
        new.noise = noise;
        new
    }

    /// `E_ij` of every unit, over the number of observations: `x x' - (q S + S q) / 2`.
    fn add_noise(&self, units: &Units, weight: f64, (i, j): (usize, usize), out: &mut [f64]) {
        let sample = self.scaled.sample();
        let stride = self.moments.len() / sample.variables();
        let weight = weight / sample.rows() as f64;
        units.add_products(self.side, weight, sample.variable(i), sample.variable(j), out);
        let half = 0.5 * weight * self.moments[i * stride + j];
        let (q_i, q_j) = (&self.squares[i * out.len()..], &self.squares[j * out.len()..]);
        for (unit, out) in out.iter_mut().enumerate() {
            *out -= half * (q_i[unit] + q_j[unit]);
        }
    }

    /// `sym(E M)_ij` of every unit.
    fn add_influence(&self, units: &Units, (i, j): (usize, usize), out: &mut [f64]) {
        self.add_noise(units, self.sign, (i, j), out);
        let (d, count) = (self.scaled.sample().variables(), units.count());
        let stride = self.moments.len() / d;
        for (k, lifted) in self.lifted.chunks_exact(stride).enumerate() {
            for (at, weight) in [(i, 0.5 * lifted[j]), (j, 0.5 * lifted[i])] {
                let noise = &self.noise[(k * d + at) * count..][..count];
                out.iter_mut().zip(noise).for_each(|(out, e)| *out += weight * e);
            }
        }
    }
}

/// `score_edges()` with the variances of units in the place of those of observations.
pub fn score_edges_by_unit(
    samples: &[Scaled; 2],
    support: &[(usize, usize)],
    units: &Units,
    monitor: &Monitor,
) -> Result<Option<ScoreTests>> {
    let [x, y] = samples;
    units.check(x.sample().rows(), y.sample().rows())?;
    let Some(mut tests) = score_edges(samples, support, monitor)? else {
        return Ok(None);
    };
    let d = x.sample().variables();
    let stride = d.div_ceil(COLS) * COLS;
    let moments =
        MomentPair { stride, x: x.sample().moments(stride), y: y.sample().moments(stride) };
    let Some(solved) = Solved::new(support, &moments) else {
        return Ok(None);
    };
    let sides = [0, 1].map(|side| Side::new(side, &samples[side], &moments, &solved, units));
    let influence = |pair: (usize, usize), out: &mut [f64]| {
        sides.iter().for_each(|side| side.add_influence(units, pair, out));
    };
    let onto = project(&solved, units.count(), influence);
    let member = |pair: (usize, usize)| support.iter().position(|other| *other == pair);
    let spread = units.all(d, monitor, |pair, sums| {
        if let Some(s) = member(pair) {
            sums.copy_from_slice(&onto[s * units.count()..][..units.count()]);
            return;
        }
        influence(pair, sums);
        for (other, onto) in support.iter().zip(onto.chunks_exact(units.count())) {
            let weight = moments.information(pair, *other);
            sums.iter_mut().zip(onto).for_each(|(sum, taken)| *sum -= weight * taken);
        }
    })?;
    tests.statistics.variance = spread.variance;
    tests.statistics.freedom = spread.freedom;
    Ok(Some(tests))
}

/// The inverse information times the influences on the support, factor after factor.
fn project(
    solved: &Solved,
    units: usize,
    influence: impl Fn((usize, usize), &mut [f64]),
) -> Vec<f64> {
    let size = solved.pairs.len();
    let mut own = vec![0.0; size * units];
    for (pair, out) in solved.pairs.iter().zip(own.chunks_exact_mut(units)) {
        influence(*pair, out);
    }
    let mut onto = vec![0.0; size * units];
    for (s, out) in onto.chunks_exact_mut(units).enumerate() {
        for (t, own) in own.chunks_exact(units).enumerate() {
            let weight = solved.inverse[s * size + t];
            out.iter_mut().zip(own).for_each(|(out, own)| *out += weight * own);
        }
    }
    onto
}

#[cfg(test)]
mod tests {
    use super::super::{edge_count, Pair};
    use super::*;
    use ndarray::Array2;

    fn sample(rows: usize, d: usize, step: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, d), |(r, u)| {
            (((r * d + u) * step + r * r * 31 + u * u * r * 7) % 997) as f64 / 500.0 - 1.0
        })
    }

    fn pair() -> Pair {
        Pair::new(sample(30, 9, 389).view(), sample(30, 9, 613).view()).unwrap()
    }

    const SUPPORT: [(usize, usize); 3] = [(0, 3), (2, 2), (3, 8)];

    fn by_unit(units: &Units) -> ScoreTests {
        score_edges_by_unit(&pair().scaled(), &SUPPORT, units, &Monitor::new()).unwrap().unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn observations_as_units_are_no_units() {
        let plain = score_edges(&pair().scaled(), &SUPPORT, &Monitor::new()).unwrap().unwrap();
        let x: Vec<usize> = (0..30).collect();
        let y: Vec<usize> = (30..60).collect();
        let got = by_unit(&Units::new(&x, &y).unwrap());
        assert_eq!(got.statistics.numerator, plain.statistics.numerator);
        assert_eq!(got.statistics.variance.len(), edge_count(9));
        for (a, b) in got.statistics.variance.iter().zip(&plain.statistics.variance) {
            assert!((a - b).abs() < 1e-12 * b, "{a} for {b}");
        }
        for (a, b) in got.statistics.freedom.iter().zip(&plain.statistics.freedom) {
            assert!((a - b).abs() < 1e-8 * b, "{a} for {b}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn rows_that_repeat_add_up_before_they_are_squared() {
        // Every row three times over: with units the variance is that of one copy, times what the
        // correction says; without, a third of it.
        let thrice = |table: Array2<f64>| {
            Array2::from_shape_fn((3 * table.nrows(), table.ncols()), |(r, u)| table[(r / 3, u)])
        };
        let (x, y) = (thrice(sample(30, 9, 389)), thrice(sample(30, 9, 613)));
        let copies = Pair::new(x.view(), y.view()).unwrap();
        let labels = |first: usize| -> Vec<usize> { (0..90).map(|r| first + r / 3).collect() };
        let units = Units::new(&labels(0), &labels(30)).unwrap();
        let got = score_edges_by_unit(&copies.scaled(), &SUPPORT, &units, &Monitor::new());
        let got = got.unwrap().unwrap();
        let plain = score_edges(&pair().scaled(), &SUPPORT, &Monitor::new()).unwrap().unwrap();
        for (a, b) in got.statistics.variance.iter().zip(&plain.statistics.variance) {
            assert!((a - b).abs() < 1e-10 * b, "{a} for {b}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn a_unit_of_both_samples_is_added_over_both() {
        let labels: Vec<usize> = (0..30).map(|r| r / 2).collect();
        let units = Units::new(&labels, &labels).unwrap();
        // The same rows in both samples: nothing differs, and nothing can.
        let same = Pair::new(sample(30, 9, 389).view(), sample(30, 9, 389).view()).unwrap();
        let got = score_edges_by_unit(&same.scaled(), &[], &units, &Monitor::new());
        assert!(got.unwrap().unwrap().statistics.variance.iter().all(|v| *v < 1e-25));
        assert!(by_unit(&units).statistics.variance.iter().all(|v| *v > 1e-6));
    }

    #[test]
    fn units_are_checked() {
        assert!(Units::new(&[0, 1, 2], &[3, 4, 9]).is_err());
        assert!(Units::new(&[0, 1, 1], &[2, 3, 4]).is_err());
        let units = Units::new(&[0, 1, 2], &[3, 4, 5, 5]).unwrap();
        assert!(units.check(3, 4).is_ok() && units.check(4, 3).is_err());
    }
}
