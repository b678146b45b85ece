//! The same edges tested by regressions of every variable on all others (Xia, Cai and Cai, 2015), with
//! variances that are estimated edge by edge and moderated.
//!
//! `b_ij` is the coefficient of i in the lasso of j, r the second moments of the residuals. The
//! debiased partial correlation is `-(r_ij + r_ii b_ij + r_jj b_ji) / sqrt(r_ii r_jj)`; its difference
//! between the samples is what is tested. It needs each network sparse, not only their difference.
//!
//! All of this but the difference belongs to one sample. So several samples are regressed once, however
//! many of their contrasts are tested.

use super::lasso::{lasso_path, Sparse};
use super::moderate::{freedom, moderate, Moderated, Statistics};
use super::moments::{fourth_moments, EdgeMoments};
use super::sample::{Sample, Scaled};
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

/// Two of several samples that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// The numerator, by its place among the samples.
    pub x: usize,
    /// The denominator.
    pub y: usize,
    /// The units of both, where variances are those between units.
    pub units: Option<Units>,
}

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
    /// Where `Neighbours::scaled` has both samples.
    pub scaled: [usize; 2],
    /// How many others take part in the regression of each variable, in both samples.
    pub sizes: [Vec<usize>; 2],
}

/// The tests of several contrasts.
#[derive(Debug, Clone)]
pub struct Neighbours {
    /// One for each contrast.
    pub tests: Vec<NeighbourTests>,
    /// Samples in units of what the regressions leave of each variable: there, a difference of precision
    /// matrices is one of partial correlations, with the opposite sign. Contrasts of one sample that
    /// choose the same penalty share it.
    pub scaled: Vec<Scaled>,
}

/// Test every edge in all `contrasts` of `samples`, with penalties `deltas` (decreasing) times
/// `sqrt(log d / n)`.
pub fn neighbour_tests(
    samples: &[Sample],
    contrasts: &[Contrast],
    deltas: &[f64],
    monitor: &Monitor,
) -> Result<Neighbours> {
    let variables = check_contrasts(samples, contrasts)?;
    let falling = deltas.windows(2).all(|two| two[0] > two[1]);
    let positive = deltas.iter().all(|delta| *delta > 0.0 && delta.is_finite());
    if deltas.is_empty() || !falling || !positive {
        return Err(Error::Argument("penalties must be positive and decreasing".into()));
    }
    monitor.start(samples.len() * (variables + deltas.len()));
    let regressions = samples
        .iter()
        .map(|sample| Regressions::new(sample, deltas, monitor))
        .collect::<Result<Vec<_>>>()?;
    let mut choices: Vec<Choice> = contrasts.iter().map(|_| Choice::default()).collect();
    for delta in 0..deltas.len() {
        // Those of one penalty at a time: of many samples they are large.
        let partials =
            regressions.iter().map(|of| of.partial(delta, monitor)).collect::<Result<Vec<_>>>()?;
        choices.par_iter_mut().zip(contrasts).try_for_each(|(choice, contrast)| {
            choice.offer(delta, contrast, [&partials[contrast.x], &partials[contrast.y]], monitor)
        })?;
    }
    let mut places = Places { regressions: &regressions, known: Vec::new(), scaled: Vec::new() };
    let tests = choices
        .into_iter()
        .zip(contrasts)
        .map(|(choice, contrast)| choice.finish(contrast, &mut places))
        .collect::<Result<_>>()?;
    Ok(Neighbours { tests, scaled: places.scaled })
}

/// How many variables all samples have.
fn check_contrasts(samples: &[Sample], contrasts: &[Contrast]) -> Result<usize> {
    let variables = samples.first().map_or(0, Sample::variables);
    if samples.iter().any(|sample| sample.variables() != variables) {
        return Err(Error::Argument("all samples must have the same variables".into()));
    }
    for contrast in contrasts {
        let (Some(x), Some(y)) = (samples.get(contrast.x), samples.get(contrast.y)) else {
            return Err(Error::Argument("a contrast has samples that are not there".into()));
        };
        if let Some(units) = &contrast.units {
            units.check(x.rows(), y.rows())?;
        }
    }
    Ok(variables)
}

/// The best penalty of a contrast so far.
#[derive(Default)]
struct Choice {
    best: Option<Best>,
    misfit: Vec<f64>,
}

struct Best {
    delta: usize,
    statistics: Statistics,
    moderated: Moderated,
    partial_x: Vec<f64>,
    partial_y: Vec<f64>,
}

impl Choice {
    fn offer(
        &mut self,
        delta: usize,
        contrast: &Contrast,
        [x, y]: [&Partial; 2],
        monitor: &Monitor,
    ) -> Result<()> {
        let residuals = [&x.residuals, &y.residuals];
        let mut statistics = difference(x, y, residuals.map(Sample::rows).iter().sum());
        if let Some(units) = &contrast.units {
            let (means, slopes) = ([&x.mean[..], &y.mean[..]], [&x.rho[..], &y.rho[..]]);
            let spread = units.products(residuals, means, slopes, monitor)?;
            (statistics.variance, statistics.freedom) = (spread.variance, spread.freedom);
        }
        let moderated = moderate(&statistics);
        let now = tail_misfit(&moderated.z, x.residuals.variables());
        let better = self.misfit.iter().all(|before| now < *before);
        self.misfit.push(now);
        if better || self.best.is_none() {
            let (partial_x, partial_y) = (x.value.clone(), y.value.clone());
            self.best = Some(Best { delta, statistics, moderated, partial_x, partial_y });
        }
        Ok(())
    }

    fn finish(self, contrast: &Contrast, places: &mut Places<'_>) -> Result<NeighbourTests> {
        let best = self.best.ok_or_else(|| Error::Argument("there is no penalty".into()))?;
        let both = [contrast.x, contrast.y];
        Ok(NeighbourTests {
            statistics: best.statistics,
            moderated: best.moderated,
            chosen: best.delta,
            misfit: self.misfit,
            partial_x: best.partial_x,
            partial_y: best.partial_y,
            scaled: both.map(|sample| places.find(sample, best.delta)),
            sizes: both.map(|sample| places.regressions[sample].sizes(best.delta)),
        })
    }
}

/// Samples in units of their residuals, each made when it is first asked for.
struct Places<'a> {
    regressions: &'a [Regressions<'a>],
    /// Which sample and penalty.
    known: Vec<(usize, usize)>,
    scaled: Vec<Scaled>,
}

impl Places<'_> {
    fn find(&mut self, sample: usize, delta: usize) -> usize {
        if let Some(place) = self.known.iter().position(|known| *known == (sample, delta)) {
            return place;
        }
        self.known.push((sample, delta));
        self.scaled.push(self.regressions[sample].scaled(delta));
        self.known.len() - 1
    }
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

    fn sample(rows: usize, step: usize) -> Sample {
        let observed = Array2::from_shape_fn((rows, 10), |(r, u)| {
            (((r * 10 + u) * step + r * r * 31 + u * u * r * 7) % 997) as f64
        });
        Sample::standardized(observed.view()).unwrap()
    }

    fn contrast(x: usize, y: usize) -> Contrast {
        Contrast { x, y, units: None }
    }

    const DELTAS: [f64; 3] = [2.0, 1.0, 0.5];

    fn test(samples: &[Sample], contrasts: &[Contrast]) -> Neighbours {
        neighbour_tests(samples, contrasts, &DELTAS, &Monitor::new()).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn swapping_the_samples_turns_the_signs() {
        let samples = [sample(25, 389), sample(31, 613)];
        let both = test(&samples, &[contrast(0, 1), contrast(1, 0)]);
        let (one, other) = (&both.tests[0], &both.tests[1]);
        assert_eq!(one.chosen, other.chosen);
        for (a, b) in one.moderated.z.iter().zip(&other.moderated.z) {
            assert!((a + b).abs() < 1e-9);
        }
        // Residuals have mean square one: the units are theirs.
        assert_eq!(both.scaled.len(), 2);
        for scaled in &both.scaled {
            for u in 0..10 {
                let squares = scaled.squares(u);
                assert!((squares.iter().sum::<f64>() / squares.len() as f64 - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn a_contrast_among_others_is_the_same_as_alone() {
        let samples = [sample(25, 389), sample(31, 613), sample(28, 211)];
        let rows = |count: usize, first: usize| -> Vec<usize> {
            (0..count).map(|row| first + row / 3).collect()
        };
        let units = Units::new(&rows(31, 0), &rows(28, 11)).unwrap();
        let contrasts =
            [contrast(0, 1), contrast(2, 0), Contrast { x: 1, y: 2, units: Some(units) }];
        let all = test(&samples, &contrasts);
        for (got, asked) in all.tests.iter().zip(&contrasts) {
            let pair = [samples[asked.x].clone(), samples[asked.y].clone()];
            let alone = test(&pair, &[Contrast { x: 0, y: 1, units: asked.units.clone() }]);
            let own = &alone.tests[0];
            assert_eq!(got.moderated.z, own.moderated.z);
            assert_eq!(got.statistics.variance, own.statistics.variance);
            assert_eq!((&got.misfit, got.chosen), (&own.misfit, own.chosen));
            assert_eq!((&got.partial_x, &got.partial_y), (&own.partial_x, &own.partial_y));
            for (a, b) in got.scaled.iter().zip(&alone.scaled) {
                assert_eq!(all.scaled[*a].sample().values(), b.sample().values());
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn a_sample_is_regressed_once_for_all_of_its_contrasts() {
        let samples = [sample(25, 389), sample(31, 613), sample(28, 211)];
        let monitor = Monitor::new();
        let contrasts = [contrast(0, 1), contrast(0, 2), contrast(1, 2), contrast(2, 1)];
        neighbour_tests(&samples, &contrasts, &DELTAS, &monitor).unwrap();
        // Every regression is a step, and so is every penalty of a sample.
        let steps = 3 * (10 + DELTAS.len());
        assert_eq!(monitor.progress(), (steps, steps));
    }

    #[test]
    fn contrasts_and_penalties_are_checked() {
        let samples = [sample(25, 389), sample(31, 613)];
        let of = |contrast: Contrast, deltas: &[f64]| {
            neighbour_tests(&samples, &[contrast], deltas, &Monitor::new())
        };
        assert!(of(contrast(0, 1), &[1.0, 2.0]).is_err());
        assert!(of(contrast(0, 1), &[]).is_err());
        assert!(of(contrast(0, 2), &[1.0]).is_err());
        let units = Units::new(&[0, 1, 2], &[3, 4, 5]).unwrap();
        assert!(of(Contrast { x: 0, y: 1, units: Some(units) }, &[1.0]).is_err());
    }
}
