//! Cross-validation: how well paths without some of the rows tell from which sample these are. All
//! paths go down the grid together, and end where it is clear that none of its rest is chosen.

use crate::error::Result;
use crate::features::{Coefficients, Features};
use crate::monitor::Monitor;
use crate::objective::certificate::Status;
use crate::objective::problem::Problem;
use crate::path::grid::LambdaStep;
use crate::path::kliep::KliepFits;
use crate::path::settings::Settings;
use rayon::prelude::*;

/// Steps in the search for the best intercept: halvings alone would need no more.
const INTERCEPT_STEPS: usize = 60;
/// How exact the intercept is, in units of itself or of one.
const INTERCEPT_TOLERANCE: f64 = 1e-12;

/// One of the divisions of the data: what is fitted, and what is held out.
pub struct Fold {
    /// The rows that are fitted to.
    pub problem: Problem,
    /// How; all folds have the same grid.
    pub settings: Settings,
    /// The others, of `x` and of `y`.
    pub held_out: [Features; 2],
}

/// How far the path of a fold went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoldPath {
    /// The penalties it got to.
    pub lambda2: Vec<f64>,
    /// How the fit at each of them ended.
    pub status: Vec<Status>,
    /// `f'theta` of the rows that were held out, of `x` and of `y`, one step after the other.
    pub scores: [Vec<f64>; 2],
}

/// How well scores tell both samples apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticScore {
    /// The `c` under which all rows together are the most likely.
    pub intercept: f64,
    /// `(mean_i log g(x_i) + mean_j log (1 - g(y_j))) / 2 + log 2`, `g(s) = 1 / (1 + exp(-s - c))`.
    pub score: f64,
    /// Its standard error; NaN for a single row.
    pub error: f64,
}

impl LogisticScore {
    /// Of the scores `f'theta` of rows of `x` and of `y`, up to the same constant.
    pub fn new(x: &[f64], y: &[f64]) -> Self {
        let intercept = best_intercept(x, y);
        // log (1 - g(s)) is log g with the other sign.
        let of_x: Vec<f64> = x.iter().map(|s| log_logistic(s + intercept)).collect();
        let of_y: Vec<f64> = y.iter().map(|s| log_logistic(-s - intercept)).collect();
        let score = (mean(&of_x) + mean(&of_y)) / 2.0 + std::f64::consts::LN_2;
        let error = (variance_of_mean(&of_x) + variance_of_mean(&of_y)).sqrt() / 2.0;
        Self { intercept, score, error }
    }
}

/// Where as much of `x` is taken for `y` as of `y` for `x`: mean g(x + c) + mean g(y + c) = 1. Newton
/// steps, and half of the range that must hold c where one leaves it: safe, whatever the scores are.
fn best_intercept(x: &[f64], y: &[f64]) -> f64 {
    let all = || x.iter().chain(y);
    let mut low = -all().fold(f64::NEG_INFINITY, |top: f64, s| top.max(*s));
    let mut high = -all().fold(f64::INFINITY, |least: f64, s| least.min(*s));
    let mut at = (low + high) / 2.0;
    for _ in 0..INTERCEPT_STEPS {
        let (mut excess, mut slope) = (-1.0, 0.0);
        for sample in [x, y] {
            let (mut share, mut spread) = (0.0, 0.0);
            for score in sample {
                let g = logistic(score + at);
                share += g;
                spread += g * (1.0 - g);
            }
            excess += share / sample.len() as f64;
            slope += spread / sample.len() as f64;
        }
        if excess < 0.0 {
            low = at;
        } else {
            high = at;
        }
        let mut next = at - excess / slope;
        // A NaN is not inside either.
        if !(next >= low && next <= high) {
            next = (low + high) / 2.0;
        }
        let done = (next - at).abs() < INTERCEPT_TOLERANCE * at.abs().max(1.0);
        at = next;
        if done {
            break;
        }
    }
    at
}

fn logistic(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

/// `log g(s)`, without overflow.
fn log_logistic(s: f64) -> f64 {
    s.min(0.0) - (-s.abs()).exp().ln_1p()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance_of_mean(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: f64 = values.iter().map(|v| (v - center).powi(2)).sum();
    squares / ((values.len() - 1) as f64 * values.len() as f64)
}

/// Fit the paths of all folds, one step of all after the other, until the mean of their scores has
/// fallen by more than `most_fall` below the best so far, or a fold has no fit any more. A fold that
/// fails ends all of them, and gives its error.
pub fn fit_folds(folds: &[Fold], most_fall: f64, monitor: &Monitor) -> Vec<Result<FoldPath>> {
    let begun: Vec<Result<RunningFold<'_>>> =
        folds.par_iter().map(|fold| RunningFold::new(fold, monitor)).collect();
    if begun.iter().any(Result::is_err) {
        return begun.into_iter().map(|fold| fold.map(|fold| fold.path)).collect();
    }
    let mut running: Vec<RunningFold<'_>> = begun.into_iter().flatten().collect();
    let steps = running.iter().map(|fold| fold.steps.len()).min().unwrap_or(0);
    let mut best = f64::NEG_INFINITY;
    for step in 0..steps {
        let scores: Vec<Result<Option<f64>>> =
            running.par_iter_mut().map(|fold| fold.advance(step, monitor)).collect();
        if scores.iter().any(Result::is_err) {
            let paths = running.into_iter().map(|fold| fold.path);
            return paths.zip(scores).map(|(path, score)| score.map(|_| path)).collect();
        }
        if running.iter().any(|fold| fold.path.status[step] == Status::Unbounded) {
            break;
        }
        let known: Vec<f64> = scores.into_iter().flatten().flatten().collect();
        if known.len() == running.len() {
            let score = mean(&known);
            best = best.max(score);
            if best - score > most_fall {
                break;
            }
        }
    }
    running.into_iter().map(|fold| Ok(fold.path)).collect()
}

struct RunningFold<'a> {
    fold: &'a Fold,
    fits: KliepFits,
    steps: Vec<LambdaStep>,
    path: FoldPath,
}

impl<'a> RunningFold<'a> {
    fn new(fold: &'a Fold, monitor: &Monitor) -> Result<Self> {
        let fits = KliepFits::new(&fold.problem, &fold.settings, monitor)?;
        let steps = LambdaStep::through(&fits.grid(), fits.lambda_max).collect();
        Ok(Self { fold, fits, steps, path: FoldPath::default() })
    }

    /// Fit one step more; the score, unless the fit cannot be relied on.
    fn advance(&mut self, step: usize, monitor: &Monitor) -> Result<Option<f64>> {
        let at = self.steps[step];
        let fit = self.fits.fit(at, monitor)?;
        self.path.lambda2.push(at.current);
        self.path.status.push(fit.status);
        let none = Coefficients::default();
        let theta = if fit.status == Status::Unbounded { &none } else { &fit.coefficients };
        let of = |rows: &Features| rows.scores(0..rows.rows(), theta);
        let scores = self.fold.held_out.each_ref().map(of);
        let known = fit.status.is_reliable();
        let score = known.then(|| LogisticScore::new(&scores[0], &scores[1]).score);
        for (all, own) in self.path.scores.iter_mut().zip(scores) {
            all.extend(own);
        }
        Ok(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_likelihood(x: &[f64], y: &[f64], c: f64) -> f64 {
        let of = |values: &[f64], sign: f64| {
            let one = |s: &f64| (1.0 / (1.0 + (-sign * (s + c)).exp())).ln();
            values.iter().map(one).sum::<f64>() / values.len() as f64
        };
        (of(x, 1.0) + of(y, -1.0)) / 2.0 + 2_f64.ln()
    }

    #[test]
    fn no_intercept_is_better() {
        let x = [0.3, -1.2, 2.5, 0.7];
        let y = [1.9, -0.4, -2.2];
        let score = LogisticScore::new(&x, &y);
        let value = |c: f64| log_likelihood(&x, &y, c);
        assert!((score.score - value(score.intercept)).abs() < 1e-14);
        for by in [-0.1, -1e-3, 1e-3, 0.1] {
            assert!(value(score.intercept + by) < score.score);
        }
        // Only differences to the intercept count.
        let moved = |values: &[f64]| values.iter().map(|s| s + 30.0).collect::<Vec<f64>>();
        let far = LogisticScore::new(&moved(&x), &moved(&y));
        assert!((far.score - score.score).abs() < 1e-12);
        assert!((far.error - score.error).abs() < 1e-12);
    }

    #[test]
    fn scores_that_say_nothing_or_everything() {
        let none = LogisticScore::new(&[0.0; 3], &[0.0; 5]);
        assert!(none.score.abs() < 1e-15 && none.error == 0.0);
        let sure = LogisticScore::new(&[1e6, 2e6], &[-1e6, -3e6]);
        assert!((sure.score - 2_f64.ln()).abs() < 1e-12);
        let wrong = LogisticScore::new(&[-700.0, -800.0], &[700.0, 900.0]);
        assert!(wrong.score < -300.0 && wrong.score.is_finite());
        assert!(LogisticScore::new(&[1.0], &[0.0, 1.0]).error.is_nan());
    }
}
