//! Whatever the samples: a solution with a certificate, or a status or an error with a name; finite
//! numbers, and an end in time.

#[path = "../../core/tests/suite/common/mod.rs"]
mod common;

use common::judge::Judge;
use common::Case;
use kliepnet_core::baselines::{dtrace, flasso, importance, Moments};
use kliepnet_core::data::{Samples, Standardize};
use kliepnet_core::error::{Error, Result};
use kliepnet_core::factors::{factor_index, PenaltyFactors};
use kliepnet_core::features::{Basis, Coefficients, Features, Products, Rbf, Table};
use kliepnet_core::inference::{self, EdgeStatus, Estimator};
use kliepnet_core::loss::{Direction, Loss};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::path::{fit, Grid, Method, Normalizer, Path, Settings, Step};
use kliepnet_core::problem::{Problem, Status};
use kliepnet_core::reweight::Shape;
use kliepnet_properties::{bases, directions, hard, in_time, Hard, Twist, Values};
use ndarray::{concatenate, Array2, Axis};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use std::sync::Arc;
use std::time::Duration;

/// Far more than any of these takes; a loop without an end takes longer.
const LIMIT: Duration = Duration::from_secs(60);
const TOLERANCE: f64 = 1e-6;
/// What sums of doubles lose, relative to the size of their terms.
const ROUNDING: f64 = 1e-10;

/// The same samples in every run, unless PROPTEST_CASES or PROPTEST_RNG_SEED ask for others. Failures
/// are told by their recipe, which is short: nothing is written beside the sources.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { 96 };
    let rng_seed = match asked.rng_seed {
        RngSeed::Random => RngSeed::Fixed(10),
        fixed => fixed,
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..asked }
}

/// A refusal that has a name; anything else is a failure.
fn assert_named(error: &Error) {
    assert!(matches!(error, Error::Argument(_) | Error::Overflow { .. }), "{error:?}");
    assert!(!error.to_string().is_empty());
}

fn finite(coefficients: &Coefficients) -> bool {
    coefficients.iter().all(|(_, values)| values.iter().all(|value| value.is_finite()))
}

fn case(recipe: &Hard, basis: Basis, direction: Direction) -> Case {
    Case { standardize: recipe.standardize, basis, direction, ..Case::new(recipe.samples()) }
}

fn problem(case: &Case) -> Result<Problem> {
    let samples = Samples::new(case.x.view(), case.y.view(), case.standardize)?;
    let features = Products::new(samples, case.basis.clone())?;
    let loss = Loss::density_ratio(case.direction, case.x.nrows(), case.y.nrows());
    Problem::new(features, loss, case.penalty.clone())
}

/// What holds for every path: numbers, in order, with an end that has a name.
fn assert_path(path: &Path, count: usize) {
    assert!(path.lambda_max.is_finite() && path.lambda_max >= 0.0, "{}", path.lambda_max);
    let ends_early = path.steps.last().is_some_and(|step| step.status == Status::Unbounded);
    assert!(path.steps.len() == count || ends_early, "{} steps", path.steps.len());
    for step in &path.steps {
        assert!(step.lambda2.is_finite() && finite(&step.coefficients), "{step:?}");
        if step.status == Status::Unbounded {
            assert_eq!(step.objective, f64::NEG_INFINITY);
            continue;
        }
        let numbers =
            [step.objective, step.residual, step.log_normalizer, step.mean_score, step.seconds];
        assert!(numbers.iter().all(|value| value.is_finite()), "{step:?}");
    }
}

/// The largest feature: what rounding errors of `xi` are relative to.
fn largest_feature(judge: &Judge) -> f64 {
    let (_, rows) = judge.affine();
    rows.iter().flatten().flatten().fold(0.0, |top: f64, value| top.max(value.abs()))
}

/// What a step says of itself is so by the definitions.
fn assert_certified(case: &Case, path: &Path, lambda1: f64) {
    let judge = case.judge();
    let unit = largest_feature(&judge);
    for step in path.steps.iter().filter(|step| step.status == Status::Converged) {
        let theta = judge.theta(&step.coefficients);
        let verdict = judge.verdict(&theta, lambda1, step.lambda2);
        if lambda1 > 0.0 {
            let enough = TOLERANCE * verdict.objective.abs().max(1e-3) + ROUNDING * verdict.scale;
            assert!(step.gap <= enough, "gap {} for {enough}: {step:?}", step.gap);
            // A solver in the dual may have better weights than the judge's to certify theta with.
            // Where scores are so large that their last digit moves weights, so do the judge's.
            let beyond = step.gap - verdict.gap;
            let size: f64 = theta.iter().map(|value| value.abs()).sum();
            let blur = f64::EPSILON * step.mean_score.abs() * unit * size;
            assert!(beyond <= ROUNDING * verdict.scale + blur, "gap {} {step:?}", verdict.gap);
        } else {
            let enough = TOLERANCE * path.lambda_max + ROUNDING * unit;
            assert!(verdict.residual <= enough, "{} for {enough}: {step:?}", verdict.residual);
        }
        let off = (step.objective - verdict.objective).abs();
        assert!(off <= ROUNDING * verdict.scale, "{off}: {step:?}");
    }
}

/// A valid gap bounds how far the objective is above anyone else's.
fn assert_gaps_bound(case: &Case, path: &Path, other: &Path, lambda1: f64) {
    let judge = case.judge();
    for (own, other) in path.steps.iter().zip(&other.steps) {
        let verdict = judge.verdict(&judge.theta(&own.coefficients), lambda1, own.lambda2);
        let beyond = own.objective - other.objective - own.gap;
        assert!(beyond <= ROUNDING * verdict.scale, "{beyond}: {own:?} {other:?}");
    }
}

fn ridges() -> impl Strategy<Value = f64> {
    select(vec![0.1, 1e-3, 10.0, 0.0])
}

fn methods() -> impl Strategy<Value = Method> {
    select(vec![Method::Auto, Method::Primal, Method::Dual])
}

fn grids() -> impl Strategy<Value = Grid> {
    let given = Grid::Given(vec![1.0, 0.1, 1e-3, 0.0]);
    select(vec![Grid::Geometric { count: 4, min_ratio: 0.05 }, given])
}

/// Settings that keep what does not converge short.
fn settings(case: &Case, lambda1: f64, grid: Grid, method: Method) -> Settings {
    let base = case.settings(lambda1, grid, method);
    Settings { tolerance: TOLERANCE, max_iter: 2000, ..base }
}

/// The tests below accept refusals and other ends than convergence: neither may be the rule.
#[test]
fn most_recipes_are_fitted() {
    let mut runner = TestRunner::new(config());
    let (mut refused, mut converged, mut steps) = (0, 0, 0);
    for _ in 0..200 {
        let recipe = hard().new_tree(&mut runner).unwrap().current();
        let case = case(&recipe, Basis::gaussian(), Direction::Symmetric);
        let grid = Grid::Geometric { count: 4, min_ratio: 0.05 };
        let settings = settings(&case, 0.1, grid, Method::Auto);
        let path = problem(&case).and_then(|problem| fit(&problem, &settings, &Monitor::new()));
        match path {
            Ok(path) => {
                steps += path.steps.len();
                let done = |step: &&Step| step.status == Status::Converged;
                converged += path.steps.iter().filter(done).count();
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused < 80, "{refused} of 200 refused");
    assert!(10 * converged > 9 * steps, "{converged} of {steps} steps converged");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn paths_are_certified(
        recipe in hard(),
        basis in bases(),
        direction in directions(),
        lambda1 in ridges(),
        method in methods(),
        grid in grids(),
        kind in 0_usize..6,
    ) {
        let mut case = case(&recipe, basis, direction);
        let mut rng = common::random(recipe.seed);
        case.penalty = common::penalty_factors(kind, recipe.variables, &mut rng);
        let settings = settings(&case, lambda1, grid, method);
        let problem = match problem(&case) {
            Ok(problem) => problem,
            Err(error) => {
                assert_named(&error);
                return Ok(());
            }
        };
        match in_time(LIMIT, |monitor| fit(&problem, &settings, monitor)) {
            Ok(path) => {
                assert_path(&path, 4);
                assert_certified(&case, &path, lambda1);
                if lambda1 > 0.0 {
                    let peer = if method == Method::Auto { Method::Dual } else { Method::Auto };
                    let peer = Settings { method: peer, ..settings };
                    let other = in_time(LIMIT, |monitor| fit(&problem, &peer, monitor)).unwrap();
                    assert_gaps_bound(&case, &path, &other, lambda1);
                    assert_gaps_bound(&case, &other, &path, lambda1);
                }
            }
            Err(error) => assert_named(&error),
        }
    }

    #[test]
    fn plain_samples_are_always_fitted(
        recipe in hard(),
        direction in directions(),
        method in methods(),
    ) {
        // What a user has who standardises: any scale and any tail, no column without values.
        prop_assume!(!matches!(recipe.twist, Twist::EqualRows | Twist::Constant));
        prop_assume!(matches!(recipe.values, Values::Normal | Values::Heavy));
        let recipe = Hard { standardize: Standardize::Within, ..recipe };
        let case = case(&recipe, Basis::gaussian(), direction);
        let grid = Grid::Geometric { count: 4, min_ratio: 0.05 };
        let settings = Settings { max_iter: 20_000, ..settings(&case, 0.1, grid, method) };
        let problem = problem(&case).unwrap();
        let path = in_time(LIMIT, |monitor| fit(&problem, &settings, monitor)).unwrap();
        assert_path(&path, 4);
        assert_certified(&case, &path, 0.1);
        for step in &path.steps {
            assert_eq!(step.status, Status::Converged, "{step:?}");
        }
    }

    #[test]
    fn other_penalties_and_normalizers_end(
        recipe in hard(),
        direction in directions(),
        lambda1 in ridges(),
        shape in select(vec![
            Shape::GroupLasso,
            Shape::Adaptive { gamma: 1.0, share: 0.1 },
            Shape::Mcp { gamma: 3.0 },
        ]),
        robust in select(vec![0.0, 0.1, 0.45]),
        normalizer in select(vec![Normalizer::Empirical, Normalizer::Gaussian]),
    ) {
        // Trimming is for normalisers by samples.
        let robust = if normalizer == Normalizer::Gaussian { 0.0 } else { robust };
        let case = case(&recipe, Basis::gaussian(), direction);
        let grid = Grid::Geometric { count: 4, min_ratio: 0.1 };
        let base = settings(&case, lambda1, grid, Method::Auto);
        let settings = Settings { shape, robust, normalizer, max_iter: 500, ..base };
        let path = problem(&case).and_then(|problem| {
            in_time(LIMIT, |monitor| fit(&problem, &settings, monitor))
        });
        match path {
            Ok(path) => assert_path(&path, 4),
            Err(error) => assert_named(&error),
        }
    }

    #[test]
    fn radial_functions_are_their_table(recipe in hard(), direction in directions()) {
        let (x, y) = recipe.samples();
        let Ok(samples) = Samples::new(x.view(), y.view(), recipe.standardize) else {
            return Ok(());
        };
        let (rows, d) = (samples.rows(), recipe.variables);
        let values = samples.clone().into_values();
        let (mut table, mut sizes) = (Vec::new(), Vec::new());
        for (u, v) in (0..d).flat_map(|u| (0..=u).map(move |v| (u, v))) {
            sizes.push(usize::from(u != v));
            let apart = |r: usize| values[u * rows + r] - values[v * rows + r];
            if u != v {
                table.extend((0..rows).map(|r| (-apart(r).powi(2) / 2.0).exp()));
            }
        }
        let table = Features::from(Table::new(rows, Arc::from(table), &sizes).unwrap());
        let radial = Features::from(Rbf::new(samples, 1.0).unwrap());
        let case = case(&recipe, Basis::gaussian(), direction);
        let grid = Grid::Geometric { count: 3, min_ratio: 0.1 };
        let settings = Settings { max_iter: 20_000, ..settings(&case, 0.1, grid, Method::Auto) };
        let [own, stored] = [radial, table].map(|features| {
            let penalty = PenaltyFactors::Each(vec![1.0; features.factors()]);
            let loss = Loss::density_ratio(direction, x.nrows(), y.nrows());
            let problem = Problem::new(features, loss, penalty).unwrap();
            in_time(LIMIT, |monitor| fit(&problem, &settings, monitor)).unwrap()
        });
        assert_path(&own, 3);
        for (one, other) in own.steps.iter().zip(&stored.steps) {
            assert_eq!((one.status, other.status), (Status::Converged, Status::Converged));
            // Each within its gap of the same minimum, at penalties equal up to rounding.
            let off = (one.objective - other.objective).abs();
            assert!(off <= one.gap.max(other.gap) + ROUNDING, "{off}: {one:?}");
        }
    }

    #[test]
    fn moment_baselines_end(recipe in hard(), lambda1 in ridges()) {
        let (x, y) = recipe.samples();
        let gram = |sample: &Array2<f64>| sample.t().dot(sample) / sample.nrows() as f64;
        let (s, t) = (gram(&x), gram(&y));
        let moments = Moments::new(s.view(), t.view()).unwrap();
        let grid = Grid::Geometric { count: 4, min_ratio: 0.1 };
        let limits = (TOLERANCE, 2000);
        let fused = flasso::Settings {
            lambda1,
            grid: grid.clone(),
            tolerance: limits.0,
            max_iter: limits.1,
        };
        let path = in_time(LIMIT, |monitor| flasso::fit(&moments, &fused, monitor)).unwrap();
        for step in &path.steps {
            let numbers = [step.objective, step.residual, step.lambda2];
            assert!(numbers.iter().all(|value| value.is_finite()), "{step:?}");
            assert!(step.coefficients.iter().all(|row| row.x.is_finite() && row.y.is_finite()));
            assert_ne!(step.status, Status::Unbounded, "sums of squares have a minimum");
        }
        let traced = dtrace::Settings { grid, tolerance: limits.0, max_iter: limits.1 };
        let path = in_time(LIMIT, |monitor| dtrace::fit(&moments, &traced, monitor)).unwrap();
        for step in &path.steps {
            assert!(step.entries.iter().all(|entry| entry.value.is_finite()), "{step:?}");
            if step.status == Status::Converged {
                let worst = dtrace_residual(&s, &t, step);
                let size = s.iter().chain(&t).fold(1.0, |top: f64, value| top.max(value.abs()));
                let theta = step.entries.iter().fold(1.0, |top: f64, e| top.max(e.value.abs()));
                let enough = TOLERANCE * path.lambda_max + 1e-12 * size * size * theta;
                assert!(worst <= enough, "{worst} for {enough}: {step:?}");
            }
        }
    }

    #[test]
    fn importance_sampled_likelihoods_end(recipe in hard(), lambda1 in ridges()) {
        let (x, y) = recipe.samples();
        let Some(stack) = importance_stack(&recipe, &x, &y) else {
            return Ok(());
        };
        let grid = Grid::Geometric { count: 3, min_ratio: 0.2 };
        let settings =
            importance::Settings { lambda1, grid, tolerance: 1e-6, max_iter: 200 };
        let edges = PenaltyFactors::ByKind { single: 0.0, edge: 1.0 };
        for method in [importance::glasso, importance::flasso] {
            let path = in_time(LIMIT, |monitor| method(&stack, &edges, &settings, monitor));
            match path {
                Ok(path) => {
                    for step in &path.steps {
                        assert!(step.networks.iter().all(finite), "{step:?}");
                        assert!(!step.objective.is_nan(), "{step:?}");
                    }
                }
                Err(error) => assert_named(&error),
            }
        }
    }

    #[test]
    fn estimates_are_numbers_or_have_a_status(
        recipe in hard(),
        estimator in select(vec![Estimator::OneStep, Estimator::DoubleSelection]),
        refit in any::<bool>(),
    ) {
        let case = case(&recipe, Basis::gaussian(), Direction::Forward);
        let d = recipe.variables;
        let factors: Vec<usize> =
            (1..d).flat_map(|u| (0..u).map(move |v| factor_index(u, v))).collect();
        let settings = inference::Settings {
            lambda: 1.1,
            row_lambda: 0.2,
            estimator,
            refit,
            within: case.standardize == Standardize::Within,
            tolerance: 1e-6,
            max_iter: 2000,
            draws: 50,
            seed: 1,
        };
        let outcome = problem(&case).and_then(|problem| {
            in_time(LIMIT, |monitor| inference::infer(problem, &factors, &settings, monitor))
        });
        match outcome {
            Ok(inference) => {
                assert!(finite(&inference.theta));
                assert!(inference.edges.len() == factors.len() || inference.edges.is_empty());
                for edge in &inference.edges {
                    let numbers = edge.estimate.is_finite() && edge.error.is_finite();
                    assert_eq!(numbers, edge.status == EdgeStatus::Estimated, "{edge:?}");
                    assert!(!numbers || edge.error >= 0.0, "{edge:?}");
                }
            }
            Err(error) => assert_named(&error),
        }
    }
}

/// The worst violation of the optimality condition of a D-trace fit, from its formula.
fn dtrace_residual(s: &Array2<f64>, t: &Array2<f64>, step: &dtrace::Step) -> f64 {
    let d = s.nrows();
    let mut delta = Array2::<f64>::zeros((d, d));
    for entry in &step.entries {
        delta[(entry.row, entry.column)] = entry.value;
        delta[(entry.column, entry.row)] = entry.value;
    }
    let product = s.dot(&delta).dot(t);
    let slope = (&product + &product.t()) * 0.5 - (s - t);
    let off = slope.iter().zip(&delta).map(|(g, value)| {
        if *value == 0.0 {
            g.abs() - step.lambda
        } else {
            (g + step.lambda * value.signum()).abs()
        }
    });
    off.fold(0.0, f64::max)
}

/// Both samples, standardised together, above normal points.
fn importance_stack(recipe: &Hard, x: &Array2<f64>, y: &Array2<f64>) -> Option<importance::Stack> {
    const POINTS: usize = 120;
    let d = recipe.variables;
    let pooled = Samples::new(x.view(), y.view(), Standardize::Pooled).ok()?;
    let rows = pooled.rows();
    let both = Array2::from_shape_vec((d, rows), pooled.into_values()).ok()?.reversed_axes();
    let points = common::normals(POINTS * d, 1.5, &mut common::random(recipe.seed));
    let points = Array2::from_shape_vec((POINTS, d), points).ok()?;
    let density = |row: ndarray::ArrayView1<'_, f64>| -> f64 {
        let unit = (2.0 * std::f64::consts::PI * 2.25_f64).ln();
        0.5 * row.iter().map(|z| z * z / 2.25 + unit).sum::<f64>() - (POINTS as f64).ln()
    };
    let log_base = points.rows().into_iter().map(density).collect();
    let all = concatenate(Axis(0), &[both.view(), points.view()]).ok()?;
    let (head, tail) = all.view().split_at(Axis(0), rows);
    let samples = Samples::new(head, tail, Standardize::None).ok()?;
    let features = Products::new(samples, Basis::gaussian()).ok()?.into();
    Some(importance::Stack { features, x_rows: x.nrows(), y_rows: y.nrows(), log_base })
}
