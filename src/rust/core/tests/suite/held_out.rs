//! Folds that go down the grid together have the paths that they have alone, and end where they should.

use crate::cases::{cubic, settings, Case, DIRECTIONS};
use kliepnet_core::features::{Features, Products};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::objective::reweight::PenaltyShape;
use kliepnet_core::path::held_out::{fit_folds, Fold, FoldPath, LogisticScore};
use kliepnet_core::path::{fit, Grid, Normalizer, Settings, SolverChoice};
use kliepnet_core::samples::Samples;
use ndarray::{Array2, Axis};

const FOLDS: usize = 3;

fn grid() -> Grid {
    Grid::Given((0..25).map(|k| 0.8 * 0.85_f64.powi(k)).collect())
}

/// Every third row, or the others.
fn rows(sample: &Array2<f64>, fold: usize, held_out: bool) -> Array2<f64> {
    let of = |row: &usize| (row % FOLDS == fold) == held_out;
    sample.select(Axis(0), &(0..sample.nrows()).filter(of).collect::<Vec<_>>())
}

fn folds(case: &Case, settings: &Settings) -> Vec<Fold> {
    let one = |fold: usize| {
        let (x, y) = (rows(&case.x, fold, false), rows(&case.y, fold, false));
        let scaled = Samples::new(x.view(), y.view(), case.standardize).unwrap();
        let features = |sample: &Array2<f64>, scaling| -> Features {
            let new = Samples::single(rows(sample, fold, true).view(), scaling);
            Products::new(new, case.basis.clone()).unwrap().into()
        };
        Fold {
            problem: Case { x: x.clone(), y: y.clone(), ..case.clone() }.problem(),
            settings: settings.clone(),
            held_out: [
                features(&case.x, scaled.x_scaling.clone()),
                features(&case.y, scaled.y_scaling.clone()),
            ],
        }
    };
    (0..FOLDS).map(one).collect()
}

fn paths(folds: &[Fold], most_fall: f64) -> Vec<FoldPath> {
    fit_folds(folds, most_fall, &Monitor::new()).into_iter().map(Result::unwrap).collect()
}

/// What a path by itself makes of the rows.
fn alone(fold: &Fold) -> FoldPath {
    let path = fit(&fold.problem, &fold.settings, &Monitor::new()).unwrap();
    let scores = fold.held_out.each_ref().map(|rows| {
        let of_step = |step: &kliepnet_core::path::KliepStep| {
            rows.scores(0..rows.rows(), &step.estimate.coefficients)
        };
        path.steps.iter().flat_map(of_step).collect()
    });
    FoldPath {
        lambda2: path.steps.iter().map(|step| step.lambda2).collect(),
        status: path.steps.iter().map(|step| step.status).collect(),
        scores,
    }
}

/// The mean over folds of the score of a step.
fn score(paths: &[FoldPath], step: usize) -> f64 {
    let one = |path: &FoldPath| {
        let part = |scores: &Vec<f64>| {
            let rows = scores.len() / path.lambda2.len();
            scores[step * rows..][..rows].to_vec()
        };
        let [x, y] = path.scores.each_ref().map(part);
        LogisticScore::new(&x, &y).score
    };
    paths.iter().map(one).sum::<f64>() / paths.len() as f64
}

fn beginning(path: &FoldPath, steps: usize) -> FoldPath {
    let part = |scores: &Vec<f64>| scores[..steps * scores.len() / path.lambda2.len()].to_vec();
    FoldPath {
        lambda2: path.lambda2[..steps].to_vec(),
        status: path.status[..steps].to_vec(),
        scores: path.scores.each_ref().map(part),
    }
}

/// The paths that go together, with a limit and without, are those of every fold alone.
fn assert_like_alone(case: &Case, settings: &Settings) {
    let folds = folds(case, settings);
    let whole: Vec<FoldPath> = folds.iter().map(alone).collect();
    assert_eq!(paths(&folds, f64::INFINITY), whole);
    let scores: Vec<f64> = (0..whole[0].lambda2.len()).map(|k| score(&whole, k)).collect();
    let mut best = f64::NEG_INFINITY;
    let mut fallen = |score: &f64| {
        best = best.max(*score);
        best - score > 0.1
    };
    let last = scores.iter().position(&mut fallen).unwrap();
    assert!(last > 2 && last + 4 < scores.len(), "too easy: {scores:?}");
    let expected: Vec<FoldPath> = whole.iter().map(|path| beginning(path, last + 1)).collect();
    assert_eq!(paths(&folds, 0.1), expected);
    for threads in [2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| paths(&folds, 0.1)), expected);
    }
}

#[test]
fn with_every_direction_and_normaliser() {
    for direction in DIRECTIONS {
        let case = Case { direction, ..Case::gaussian(8, 45, 3) };
        let empirical = settings(0.1, grid(), SolverChoice::Auto);
        assert_like_alone(&case, &empirical);
        assert_like_alone(&case, &Settings { normalizer: Normalizer::Gaussian, ..empirical });
    }
}

#[test]
fn with_penalties_in_two_stages_groups_and_outliers() {
    let case = Case { basis: cubic(), ..Case::gaussian(5, 45, 5) };
    let plain = settings(0.1, grid(), SolverChoice::Auto);
    let penalty = PenaltyShape::Adaptive { gamma: 1.0, first_share: 0.2 };
    assert_like_alone(&case, &Settings { penalty, ..plain.clone() });
    let case = Case { direction: Direction::Symmetric, ..Case::gaussian(6, 45, 6) };
    assert_like_alone(&case, &Settings { robust: 0.05, ..plain });
}

#[test]
fn all_end_where_one_has_no_fit() {
    let case = Case::gaussian(12, 24, 4);
    let folds = folds(&case, &settings(0.0, grid(), SolverChoice::Auto));
    let ended = paths(&folds, f64::INFINITY);
    let steps = ended[0].lambda2.len();
    assert!(steps > 1 && steps < 25, "{steps} steps");
    assert!(ended.iter().all(|path| path.lambda2.len() == steps));
    assert!(ended.iter().any(|path| path.status[steps - 1] == Status::Unbounded));
    assert!(ended.iter().all(|path| !path.status[..steps - 1].contains(&Status::Unbounded)));
}

#[test]
fn the_fold_that_fails_says_so() {
    let case = Case::gaussian(5, 30, 1);
    let mut folds = folds(&case, &settings(0.1, grid(), SolverChoice::Auto));
    folds[1].settings = settings(0.0, grid(), SolverChoice::Dual);
    let failed: Vec<bool> =
        fit_folds(&folds, 0.1, &Monitor::new()).iter().map(Result::is_err).collect();
    assert_eq!(failed, [false, true, false]);
    let monitor = Monitor::new();
    monitor.cancel();
    let stopped = fit_folds(&folds[..1], 0.1, &monitor);
    assert!(stopped[0].is_err());
}
