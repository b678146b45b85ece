//! The null of the tests at the empty support, from shuffles of the two samples.
//!
//! At the empty support the tests are those of correlations and cost a few products of matrices. They
//! are nearly pivotal, so the same null serves the tests given any support.

use super::edge_count;
use super::moderate::{freedom, moderate, Statistics};
use super::moments::{fourth_moments, EdgeMoments};
use super::sample::{Pair, Pool, Sample};
use super::units::Units;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// Up to this many values are kept as they are.
const MOST_EXACT: usize = 1 << 20;
/// With more, those below this are counted in bins; all p-values of interest are above.
const TAIL_FROM: f64 = 2.0;
/// Bins for each unit of |z|: between them p-values are off by less than a millionth.
const BINS: f64 = 4096.0;

/// Values for each part of those that are sorted, on average.
const SORT_SHARE: usize = 8;
/// Where the last part begins, about: it has all larger values.
const SORT_END: f64 = 8.0;

/// What one set of z has to say about all edges together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// The largest |z|.
    pub largest: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// The values of |z| over all edges and shuffles.
#[derive(Debug, Clone, PartialEq)]
pub struct Null {
    /// How many there are.
    pub count: usize,
    /// Those of at least `tail_from`, in order.
    pub tail: Vec<f64>,
    /// Zero where all are kept.
    pub tail_from: f64,
    /// How many there are in each of equal bins from 0 to `tail_from`.
    pub bins: Vec<usize>,
    /// Each shuffle.
    pub shuffles: Vec<Seen>,
    /// The samples as they are.
    pub observed: Seen,
}

/// Test the samples as they are, and shuffles of them: each is the rows of both samples together (`x`
/// first) that become `x`. `units` has the unit of each of these rows, where they have one.
pub fn shuffle_null<'a>(
    x: ArrayView2<'a, f64>,
    y: ArrayView2<'a, f64>,
    shuffles: &[Vec<usize>],
    units: Option<&[usize]>,
    monitor: &Monitor,
) -> Result<Null> {
    let pair = Pair::new(x, y)?;
    let pool = Pool::new(x, y)?;
    if !shuffles.iter().all(|shuffle| pool.can_divide(shuffle)) {
        return Err(Error::Argument(
            "a shuffle must name different rows, and four or more for each sample".into(),
        ));
    }
    let count = edge_count(pair.variables()) * shuffles.len();
    let tail_from = if count > MOST_EXACT { TAIL_FROM } else { 0.0 };
    monitor.start(shuffles.len() + 1);
    let one = |pair: &Pair, x_rows: &[usize]| -> Result<Vec<f64>> {
        let units = units.map(|units| divided_units(units, x_rows)).transpose()?;
        let z = moderate(&empty_tests(pair, units.as_ref(), monitor)?).z;
        monitor.advance();
        Ok(z)
    };
    let first: Vec<usize> = (0..x.nrows()).collect();
    let observed = see(&one(&pair, &first)?);
    let parts: Vec<Part> = shuffles
        .par_iter()
        .map(|shuffle| Ok(Part::new(&one(&pool.divided(shuffle), shuffle)?, tail_from)))
        .collect::<Result<_>>()?;
    let mut null = Null {
        count,
        tail: Vec::new(),
        tail_from,
        bins: vec![0; bin_count(tail_from)],
        shuffles: parts.iter().map(|part| part.seen).collect(),
        observed,
    };
    for part in parts {
        null.tail.extend(part.tail);
        null.bins.iter_mut().zip(&part.bins).for_each(|(all, more)| *all += more);
    }
    sort_sizes(&mut null.tail);
    Ok(null)
}

/// Sort values from 0 on, most of them small: first by parts that a few share, then each part, which is
/// then in the level-1 cache.
fn sort_sizes(sizes: &mut [f64]) {
    let parts = sizes.len() / SORT_SHARE + 1;
    let scale = parts as f64 / SORT_END;
    let part = |size: f64| ((size * scale) as usize).min(parts - 1);
    let mut ends = vec![0; parts];
    sizes.iter().for_each(|size| ends[part(*size)] += 1);
    let mut starts = Vec::with_capacity(parts);
    let mut before = 0;
    for end in &mut ends {
        starts.push(before);
        before += *end;
        *end = before;
    }
    let mut places = starts.clone();
    let mut moved = vec![0.0; sizes.len()];
    for size in &*sizes {
        let place = &mut places[part(*size)];
        moved[*place] = *size;
        *place += 1;
    }
    sizes.copy_from_slice(&moved);
    for (start, end) in starts.iter().zip(&ends) {
        sizes[*start..*end].sort_unstable_by(f64::total_cmp);
    }
}

/// The units of the two samples that a shuffle makes: rows keep their order in both.
fn divided_units(units: &[usize], x_rows: &[usize]) -> Result<Units> {
    let mut is_x = vec![false; units.len()];
    for row in x_rows {
        match is_x.get_mut(*row) {
            Some(mark) => *mark = true,
            None => return Err(Error::Argument("every observation needs a unit".into())),
        }
    }
    let pick = |wanted: bool| -> Vec<usize> {
        let kept = units.iter().zip(&is_x).filter(|(_, is_x)| **is_x == wanted);
        kept.map(|(unit, _)| *unit).collect()
    };
    Units::new(&pick(true), &pick(false))
}

fn bin_count(tail_from: f64) -> usize {
    (tail_from * BINS) as usize
}

fn see(z: &[f64]) -> Seen {
    Seen {
        largest: z.iter().fold(0.0, |largest: f64, z| largest.max(z.abs())),
        squares: z.iter().map(|z| z * z).sum(),
    }
}

/// What is kept of one shuffle.
struct Part {
    seen: Seen,
    tail: Vec<f64>,
    bins: Vec<usize>,
}

impl Part {
    fn new(z: &[f64], tail_from: f64) -> Self {
        let mut part = Self { seen: see(z), tail: Vec::new(), bins: vec![0; bin_count(tail_from)] };
        for size in z.iter().map(|z| z.abs()) {
            if size >= tail_from {
                part.tail.push(size);
            } else if let Some(bin) = part.bins.get_mut((size * BINS) as usize) {
                *bin += 1;
            }
        }
        part
    }
}

/// The tests of all edges at the empty support.
pub fn empty_tests(pair: &Pair, units: Option<&Units>, monitor: &Monitor) -> Result<Statistics> {
    let one = |sample: &Sample| -> Result<(EdgeMoments, Vec<f64>)> {
        Ok((EdgeMoments::new(sample, monitor)?, fourth_moments(sample)))
    };
    let (x, x_fourth) = one(&pair.x)?;
    let (y, y_fourth) = one(&pair.y)?;
    let (n_x, n_y) = (pair.x.rows() as f64, pair.y.rows() as f64);
    let variance = |moments: &EdgeMoments, fourth: &[f64], e: usize, i: usize, j: usize| {
        let (r, squares) = (moments.product[e], moments.squares[e]);
        let own = fourth[i] + fourth[j] + 2.0 * squares;
        squares - r * moments.cubes[e] + 0.25 * r * r * own
    };
    let mut tests = Statistics::default();
    let mut e = 0;
    for j in 1..pair.variables() {
        for i in 0..j {
            let v = variance(&x, &x_fourth, e, i, j) / (n_x - 2.0)
                + variance(&y, &y_fourth, e, i, j) / (n_y - 2.0);
            let fourth = x.fourths[e] / n_x.powi(3) + y.fourths[e] / n_y.powi(3);
            tests.numerator.push(x.product[e] - y.product[e]);
            tests.variance.push(v);
            tests.model.push((1.0 + x.product[e] * y.product[e]) * (1.0 / n_x + 1.0 / n_y));
            tests.freedom.push(freedom(v, fourth, pair.rows()));
            e += 1;
        }
    }
    if let Some(units) = units {
        let means = [&x.product[..], &y.product[..]];
        let spread = units.products([&pair.x, &pair.y], means, means, monitor)?;
        (tests.variance, tests.freedom) = (spread.variance, spread.freedom);
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn samples(d: usize) -> [Array2<f64>; 2] {
        let sample = |rows: usize, step: usize| {
            Array2::from_shape_fn((rows, d), |(r, u)| {
                (((r * d + u) * step + r * r * 31 + u * u * r * 7) % 997) as f64
            })
        };
        [sample(17, 389), sample(14, 613)]
    }

    fn null_of(samples: &[Array2<f64>; 2], shuffles: &[Vec<usize>]) -> Result<Null> {
        shuffle_null(samples[0].view(), samples[1].view(), shuffles, None, &Monitor::new())
    }

    fn close(one: Seen, other: Seen) -> bool {
        (one.largest - other.largest).abs() < 1e-10 && (one.squares - other.squares).abs() < 1e-8
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_first_rows_as_x_are_no_shuffle() {
        let samples = samples(9);
        let null = null_of(&samples, &[(0..17).collect()]).unwrap();
        assert!(close(null.shuffles[0], null.observed));
        assert_eq!(null.tail.len(), 36);
        // Nor are the others as x: both are treated alike.
        let turned = null_of(&samples, &[(17..31).collect()]).unwrap();
        assert!(close(turned.shuffles[0], null.observed));
        for wrong in [vec![0], vec![0; 17], (15..32).collect(), (0..28).collect()] {
            assert!(null_of(&samples, &[wrong]).is_err());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn rows_move_as_they_are() {
        let samples = samples(6);
        let shuffle = [(0..31).filter(|row| row % 2 == 0).collect()];
        let before = null_of(&samples, &shuffle).unwrap();
        // What is common to both samples makes no difference, what is not does.
        let both = samples.clone().map(|sample| 3.0 * sample + 100.0);
        assert!(close(null_of(&both, &shuffle).unwrap().shuffles[0], before.shuffles[0]));
        let apart = [samples[0].clone(), &samples[1] + 5000.0];
        let after = null_of(&apart, &shuffle).unwrap();
        assert!(close(after.observed, before.observed));
        assert!(!close(after.shuffles[0], before.shuffles[0]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn units_move_with_their_rows() {
        let samples = samples(6);
        let null = |shuffle: Vec<usize>, units: &[usize]| {
            let (x, y) = (samples[0].view(), samples[1].view());
            shuffle_null(x, y, &[shuffle], Some(units), &Monitor::new())
        };
        let units: Vec<usize> =
            (0..31).map(|row| if row < 17 { row / 3 } else { row / 2 }).collect();
        let same = null((0..17).collect(), &units).unwrap();
        assert!(close(same.shuffles[0], same.observed));
        // Turned around, units are as they were.
        let turned = null((17..31).collect(), &units).unwrap();
        assert!(close(turned.shuffles[0], same.observed));
        let plain = null_of(&samples, &[(0..17).collect()]).unwrap();
        assert!(!close(same.observed, plain.observed));
        assert!(null((0..17).collect(), &units[..20]).is_err());
        assert!(null((0..17).collect(), &[0; 31]).is_err());
    }

    #[test]
    fn sizes_are_sorted_wherever_they_lie() {
        let mut sizes: Vec<f64> =
            (0..997).map(|k| f64::from(k * 7919 % 1009).powi(2) / 5e4).chain([0.0, 0.0]).collect();
        let mut plain = sizes.clone();
        plain.sort_unstable_by(f64::total_cmp);
        sort_sizes(&mut sizes);
        assert_eq!(sizes, plain);
        sort_sizes(&mut []);
    }

    #[test]
    fn bins_and_tail_hold_every_value() {
        let z: Vec<f64> = (0..1000).map(|k| f64::from(k) / 250.0 - 1.0).collect();
        let part = Part::new(&z, TAIL_FROM);
        assert_eq!(part.tail.len() + part.bins.iter().sum::<usize>(), z.len());
        assert!(part.tail.iter().all(|size| *size >= TAIL_FROM));
        assert_eq!(Part::new(&z, 0.0).tail.len(), z.len());
    }
}
