//! The same edges tested by regressions of every variable on all others (Xia, Cai and Cai, 2015), with
//! variances that are estimated edge by edge and moderated.
//!
//! `b_ij` is the coefficient of i in the lasso of j, r the second moments of the residuals. The
//! debiased partial correlation is `-(r_ij + r_ii b_ij + r_jj b_ji) / sqrt(r_ii r_jj)`; its difference
//! between the samples is what is tested. It needs each network sparse, not only their difference.

use super::lasso::{lasso_path, Sparse};
use super::moderate::{freedom, moderate, Moderated, Statistics};
use super::moments::{fourth_moments, EdgeMoments};
use super::sample::{Pair, Sample, Scaled};
use super::special::{ln_upper_normal, upper_normal_quantile};
use super::units::Units;
use super::{edge_count, edge_index};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::numerics::simd::{axpy, dispatch};
use crate::numerics::tiles::COLS;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Below this a variance is rounding.
const LEAST_VARIANCE: f64 = 1e-6;
/// Points of the tail by which the penalty is chosen.
const TAIL_POINTS: usize = 10;

/// The tests of all edges at the penalty whose tails are most like those of the null.
#[derive(Debug, Clone)]
pub struct NeighbourTests {
    /// The tests before variances are moderated.
    pub statistics: Statistics,
    /// The moderated tests.
    pub moderated: Moderated,
    /// Which of the penalties.
    pub chosen: usize,
    /// How far the tails are from those of the null, for each.
    pub misfit: Vec<f64>,
    /// The debiased partial correlations of `x`.
    pub partial_x: Vec<f64>,
    /// Those of `y`.
    pub partial_y: Vec<f64>,
    /// Both samples in units of what the regressions leave of each variable: there, a difference of
    /// precision matrices is one of partial correlations, with the opposite sign.
    pub scaled: [Scaled; 2],
    /// How many others take part in the regression of each variable, in both samples.
    pub sizes: [Vec<usize>; 2],
}

/// Test every edge, with penalties `deltas` (decreasing) times `sqrt(log d / n)`, and variances between
/// `units` where there are any.
pub fn neighbour_tests(
    pair: &Pair,
    deltas: &[f64],
    units: Option<&Units>,
    monitor: &Monitor,
) -> Result<NeighbourTests> {
    let falling = deltas.windows(2).all(|two| two[0] > two[1]);
    let positive = deltas.iter().all(|delta| *delta > 0.0 && delta.is_finite());
    if deltas.is_empty() || !falling || !positive {
        return Err(Error::Argument("penalties must be positive and decreasing".into()));
    }
    monitor.start(2 * (pair.variables() + deltas.len()));
    let x = Regressions::new(&pair.x, deltas, monitor)?;
    let y = Regressions::new(&pair.y, deltas, monitor)?;
    let mut best = None;
    let mut misfit = Vec::with_capacity(deltas.len());
    for delta in 0..deltas.len() {
        let (x, y) = (x.partial(delta, monitor)?, y.partial(delta, monitor)?);
        let mut tests = difference(&x, &y, pair.rows());
        if let Some(units) = units {
            let residuals = [&x.residuals, &y.residuals];
            let (means, slopes) = ([&x.mean[..], &y.mean[..]], [&x.rho[..], &y.rho[..]]);
            let spread = units.products(residuals, means, slopes, monitor)?;
            (tests.variance, tests.freedom) = (spread.variance, spread.freedom);
        }
        let moderated = moderate(&tests);
        let now = tail_misfit(&moderated.z, pair.variables());
        let better = misfit.iter().all(|before| now < *before);
        misfit.push(now);
        if better || best.is_none() {
            best = Some((delta, tests, moderated, x.value, y.value));
        }
    }
    let (chosen, statistics, moderated, partial_x, partial_y) =
        best.ok_or_else(|| Error::Argument("there is no penalty".into()))?;
    let scaled = [x.scaled(chosen), y.scaled(chosen)];
    let sizes = [x.sizes(chosen), y.sizes(chosen)];
    Ok(NeighbourTests {
        statistics,
        moderated,
        chosen,
        misfit,
        partial_x,
        partial_y,
        scaled,
        sizes,
    })
}

/// By how much the counts beyond points of the tail differ from those of the null, as shares.
fn tail_misfit(z: &[f64], variables: usize) -> f64 {
    let d = variables as f64;
    let ln_share = ln_upper_normal(d.ln().sqrt());
    let point = |l: usize| {
        let ln_tail = ln_share + (l as f64 / TAIL_POINTS as f64).ln();
        let cut = upper_normal_quantile(ln_tail, 2.0);
        let beyond = z.iter().filter(|z| z.abs() > cut).count() as f64;
        (beyond / (ln_tail.exp() * d * (d - 1.0)) - 1.0).powi(2)
    };
    (1..=TAIL_POINTS).map(point).sum()
}

/// One sample, and the regressions of each of its variables at every penalty.
struct Regressions<'a> {
    sample: &'a Sample,
    coefficients: Vec<Vec<Sparse>>,
}

/// The debiased partial correlations of one sample.
struct Partial {
    value: Vec<f64>,
    variance: Vec<f64>,
    model: Vec<f64>,
    /// The fourth powers of influences, summed, over n^4.
    fourth: Vec<f64>,
    /// What the regressions leave, the mean of its products, and by how much its scales count.
    residuals: Sample,
    mean: Vec<f64>,
    rho: Vec<f64>,
}

impl<'a> Regressions<'a> {
    fn new(sample: &'a Sample, deltas: &[f64], monitor: &Monitor) -> Result<Self> {
        let (d, n) = (sample.variables(), sample.rows() as f64);
        let stride = d.div_ceil(COLS) * COLS;
        let moments = sample.moments(stride);
        let unit = ((d as f64).ln() / n).sqrt();
        let grid: Vec<f64> = deltas.iter().map(|delta| delta * unit).collect();
        let coefficients = (0..d)
            .into_par_iter()
            .map(|target| {
                let path = lasso_path(&moments, stride, target, &grid, monitor)?;
                monitor.advance();
                Ok(path)
            })
            .collect::<Result<_>>()?;
        Ok(Self { sample, coefficients })
    }

    fn partial(&self, delta: usize, monitor: &Monitor) -> Result<Partial> {
        let (d, rows) = (self.sample.variables(), self.sample.rows());
        let n = rows as f64;
        let (residuals, variances) = self.residuals(delta);
        let moments = EdgeMoments::new(&residuals, monitor)?;
        let fourths = fourth_moments(&residuals);
        // What the coefficients add to the products of residuals.
        let mut value = moments.product.clone();
        for (j, by_penalty) in self.coefficients.iter().enumerate() {
            for (i, b) in &by_penalty[delta] {
                value[edge_index(j.min(*i), j.max(*i))] +=
                    b * (variances[*i] / variances[j]).sqrt();
            }
        }
        value.iter_mut().for_each(|value| *value = -*value);
        let threshold = 2.0 * ((d as f64).ln() / n).sqrt();
        let (mut variance, mut model) =
            (Vec::with_capacity(edge_count(d)), Vec::with_capacity(edge_count(d)));
        let mut rhos = Vec::with_capacity(edge_count(d));
        let mut e = 0;
        for j in 1..d {
            for i in 0..j {
                let rho = if value[e].abs() >= threshold { -value[e] } else { 0.0 };
                let (c, squares) = (moments.product[e], moments.squares[e]);
                let own = fourths[i] + fourths[j] + 2.0 * squares - 4.0;
                let v =
                    squares - c * c - rho * (moments.cubes[e] - 2.0 * c) + 0.25 * rho * rho * own;
                variance.push(v.max(LEAST_VARIANCE) / (n - 2.0));
                model.push((1.0 - rho * rho).powi(2) / n);
                rhos.push(rho);
                e += 1;
            }
        }
        let fourth = moments.fourths.iter().map(|value| value / n.powi(3)).collect();
        monitor.advance();
        let mean = moments.product;
        Ok(Partial { value, variance, model, fourth, residuals, mean, rho: rhos })
    }

    fn sizes(&self, delta: usize) -> Vec<usize> {
        self.coefficients.iter().map(|by_penalty| by_penalty[delta].len()).collect()
    }

    /// The sample in units of its residuals. One that the others explain entirely keeps its own units.
    fn scaled(&self, delta: usize) -> Scaled {
        let (residuals, variances) = self.residuals(delta);
        let deviation = |v: &f64| if *v > LEAST_VARIANCE { v.sqrt() } else { 1.0 };
        let deviations: Vec<f64> = variances.iter().map(deviation).collect();
        Scaled::by_residual(self.sample, &residuals, &deviations)
    }

    /// The residuals of all variables in units of their root mean square, and its squares. They are not
    /// centred: the variables are, and so are they but for rounding.
    fn residuals(&self, delta: usize) -> (Sample, Vec<f64>) {
        let (d, rows) = (self.sample.variables(), self.sample.rows());
        let mut values = vec![0.0; d * rows];
        values.par_chunks_mut(rows).enumerate().for_each(|(j, residual)| {
            residual.copy_from_slice(self.sample.variable(j));
            let coefficients = &self.coefficients[j][delta];
            dispatch(TakeOff { sample: self.sample, coefficients, residual });
        });
        let square = |column: &[f64]| column.iter().map(|e| e * e).sum::<f64>() / rows as f64;
        let variances = values.chunks_exact(rows).map(square).collect();
        (Sample::new(values, rows), variances)
    }
}

/// Take what the coefficients explain off a variable.
struct TakeOff<'a> {
    sample: &'a Sample,
    coefficients: &'a Sparse,
    residual: &'a mut [f64],
}

impl WithSimd for TakeOff<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (u, b) in self.coefficients {
            axpy(simd, -b, self.sample.variable(*u), self.residual);
        }
    }
}

fn difference(x: &Partial, y: &Partial, rows: usize) -> Statistics {
    let sum = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
    let variance = sum(&x.variance, &y.variance);
    let fourth = sum(&x.fourth, &y.fourth);
    Statistics {
        numerator: x.value.iter().zip(&y.value).map(|(x, y)| x - y).collect(),
        freedom: variance.iter().zip(&fourth).map(|(v, f)| freedom(*v, *f, rows)).collect(),
        model: sum(&x.model, &y.model),
        variance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn swapping_the_samples_turns_the_signs() {
        let sample = |rows: usize, step: usize| {
            Array2::from_shape_fn((rows, 10), |(r, u)| {
                (((r * 10 + u) * step + r * r * 31 + u * u * r * 7) % 997) as f64
            })
        };
        let (x, y) = (sample(25, 389), sample(31, 613));
        let deltas = [2.0, 1.0, 0.5];
        let test = |x: &Array2<f64>, y: &Array2<f64>| {
            let pair = Pair::new(x.view(), y.view()).unwrap();
            neighbour_tests(&pair, &deltas, None, &Monitor::new()).unwrap()
        };
        let (one, other) = (test(&x, &y), test(&y, &x));
        assert_eq!(one.chosen, other.chosen);
        for (a, b) in one.moderated.z.iter().zip(&other.moderated.z) {
            assert!((a + b).abs() < 1e-9);
        }
        // Residuals have mean square one: the units are theirs.
        for scaled in &one.scaled {
            for u in 0..10 {
                let squares = scaled.squares(u);
                assert!((squares.iter().sum::<f64>() / squares.len() as f64 - 1.0).abs() < 1e-12);
            }
        }
        let pair = Pair::new(x.view(), y.view()).unwrap();
        assert!(neighbour_tests(&pair, &[1.0, 2.0], None, &Monitor::new()).is_err());
    }
}
