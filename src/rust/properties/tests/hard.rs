//! Whatever the samples: a solution with a certificate, or a status or an error with a name; finite
//! numbers, and an end in time.

#[path = "../../core/tests/suite/cases/mod.rs"]
mod cases;

use cases::reference::Reference;
use cases::Case;
use kliepnet_core::compare::dtrace::Entry;
use kliepnet_core::compare::{dtrace, flasso, importance, Moments};
use kliepnet_core::error::{Error, Result};
use kliepnet_core::features::factors::factor_index;
use kliepnet_core::features::{Basis, Coefficients, Features, Products, Rbf, Table};
use kliepnet_core::inference::debias::{infer, DebiasSettings, EdgeStatus, Estimator};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::objective::reweight::PenaltyShape;
use kliepnet_core::path::{
    fit, Grid, KliepPath, KliepStep, Normalizer, Settings, SolverChoice, Step,
};
use kliepnet_core::samples::{Samples, Standardize};
use kliepnet_properties::{bases, directions, hard, in_time, Hard, Twist, Values};
use ndarray::{concatenate, Array2, Axis};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use std::sync::Arc;
use std::time::Duration;

/// Far more than any of these takes; a loop without an end takes longer.
const LIMIT: Duration = Duration::from_secs(600);
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
    let case =
        Case { standardize: recipe.standardize, basis, direction, ..Case::new(recipe.samples()) };
    if case.basis.power < 1.0 {
        standardised(&case).unwrap_or(case)
    } else {
        case
    }
}

/// The same case with samples that are standardised beforehand. A tied value at its column's mean
/// becomes 0 or 1e-16, as the mean is rounded, and the roots of these are 1e-8 apart: who compares
/// roots must take them of the same doubles. None where the samples are refused.
fn standardised(case: &Case) -> Option<Case> {
    let samples = Samples::new(case.x.view(), case.y.view(), case.standardize).ok()?;
    let (rows, d) = (samples.rows(), case.x.ncols());
    let both = Array2::from_shape_vec((d, rows), samples.into_values()).ok()?.reversed_axes();
    let (x, y) = both.view().split_at(Axis(0), case.x.nrows());
    let pair = (x.to_owned(), y.to_owned());
    let (basis, direction) = (case.basis.clone(), case.direction);
    Some(Case { standardize: Standardize::None, basis, direction, ..Case::new(pair) })
}

fn problem(case: &Case) -> Result<Problem> {
    let samples = Samples::new(case.x.view(), case.y.view(), case.standardize)?;
    let features = Products::new(samples, case.basis.clone())?;
    let loss = Loss::density_ratio(case.direction, case.x.nrows(), case.y.nrows());
    Problem::new(features, loss, case.penalty.clone())
}

/// What holds for every path: numbers, in order, with an end that has a name.
fn assert_path(path: &KliepPath, count: usize) {
    assert!(path.lambda_max.is_finite() && path.lambda_max >= 0.0, "{}", path.lambda_max);
    let ends_early = path.steps.last().is_some_and(|step| step.status == Status::Unbounded);
    assert!(path.steps.len() == count || ends_early, "{} steps", path.steps.len());
    for step in &path.steps {
        assert!(step.lambda2.is_finite() && finite(&step.estimate.coefficients), "{step:?}");
        if step.status == Status::Unbounded {
            assert_eq!(step.certificate.objective, f64::NEG_INFINITY);
            continue;
        }
        let numbers = [
            step.certificate.objective,
            step.certificate.kkt,
            step.estimate.log_normalizer,
            step.estimate.mean_score,
            step.seconds,
        ];
        assert!(numbers.iter().all(|value| value.is_finite()), "{step:?}");
    }
}

/// The largest feature: what rounding errors of `xi` are relative to.
fn largest_feature(reference: &Reference) -> f64 {
    let (_, rows) = reference.affine();
    rows.iter().flatten().flatten().fold(0.0, |top: f64, value| top.max(value.abs()))
}

/// What a step says of itself is so by the definitions.
fn assert_certified(case: &Case, path: &KliepPath, lambda1: f64) {
    let reference = case.reference();
    let unit = largest_feature(&reference);
    for step in path.steps.iter().filter(|step| step.status == Status::Converged) {
        let theta = reference.theta(&step.estimate.coefficients);
        let expected = reference.certify(&theta, lambda1, step.lambda2);
        if lambda1 > 0.0 {
            let enough = TOLERANCE * expected.objective.abs().max(1e-3) + ROUNDING * expected.scale;
            assert!(
                step.certificate.gap <= enough,
                "gap {} for {enough}: {step:?}",
                step.certificate.gap
            );
            // No weights that add up to one have a dual objective above the primal one.
            assert!(expected.gap >= -ROUNDING * expected.scale, "{}: {step:?}", expected.gap);
            // A solver in the dual may have better weights to certify theta with than the reference.
            let beyond = step.certificate.gap - expected.gap;
            assert!(beyond <= ROUNDING * expected.scale, "gap {} {step:?}", expected.gap);
        } else {
            let enough = TOLERANCE * path.lambda_max + ROUNDING * unit;
            assert!(expected.kkt <= enough, "{} for {enough}: {step:?}", expected.kkt);
        }
        let off = (step.certificate.objective - expected.objective).abs();
        assert!(off <= ROUNDING * expected.scale, "{off}: {step:?}");
    }
}

/// A valid gap bounds how far the objective is above anyone else's.
fn assert_gaps_bound(case: &Case, path: &KliepPath, other: &KliepPath, lambda1: f64) {
    let reference = case.reference();
    for (own, other) in path.steps.iter().zip(&other.steps) {
        let expected =
            reference.certify(&reference.theta(&own.estimate.coefficients), lambda1, own.lambda2);
        let beyond = own.certificate.objective - other.certificate.objective - own.certificate.gap;
        assert!(beyond <= ROUNDING * expected.scale, "{beyond}: {own:?} {other:?}");
    }
}

fn ridges() -> impl Strategy<Value = f64> {
    select(vec![0.1, 1e-3, 10.0, 0.0])
}

fn solvers() -> impl Strategy<Value = SolverChoice> {
    select(vec![SolverChoice::Auto, SolverChoice::Primal, SolverChoice::Dual])
}

fn grids() -> impl Strategy<Value = Grid> {
    let given = Grid::Given(vec![1.0, 0.1, 1e-3, 0.0]);
    select(vec![Grid::Geometric { nlambda: 4, lambda_min_ratio: 0.05 }, given])
}

/// Settings that keep what does not converge short.
fn settings(lambda1: f64, grid: Grid, solver: SolverChoice) -> Settings {
    let base = cases::settings(lambda1, grid, solver);
    Settings { tol: TOLERANCE, max_iter: 2000, ..base }
}

/// The tests below accept refusals and other ends than convergence: neither may be the rule.
#[test]
fn most_recipes_are_fitted() {
    let mut runner = TestRunner::new(config());
    let (mut refused, mut converged, mut steps) = (0, 0, 0);
    for _ in 0..200 {
        let recipe = hard().new_tree(&mut runner).unwrap().current();
        let case = case(&recipe, Basis::gaussian(), Direction::Symmetric);
        let grid = Grid::Geometric { nlambda: 4, lambda_min_ratio: 0.05 };
        let settings = settings(0.1, grid, SolverChoice::Auto);
        let path = problem(&case).and_then(|problem| fit(&problem, &settings, &Monitor::new()));
        match path {
            Ok(path) => {
                steps += path.steps.len();
                let done = |step: &&KliepStep| step.status == Status::Converged;
                converged += path.steps.iter().filter(done).count();
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused < 80, "{refused} of 200 refused");
    assert!(10 * converged > 9 * steps, "{converged} of {steps} steps converged");
}

/// A refusal with a name, or a path that is what it says, and so by another solver.
fn assert_path_certified(
    recipe: &Hard,
    basis: Basis,
    direction: Direction,
    settings: Settings,
    kind: usize,
) {
    let lambda1 = settings.lambda1;
    let mut case = case(recipe, basis, direction);
    let mut rng = cases::random(recipe.seed);
    case.penalty = cases::penalty_factors(kind, recipe.variables, &mut rng);
    let problem = match problem(&case) {
        Ok(problem) => problem,
        Err(error) => return assert_named(&error),
    };
    match in_time(LIMIT, |monitor| fit(&problem, &settings, monitor)) {
        Ok(path) => {
            assert_path(&path, 4);
            assert_certified(&case, &path, lambda1);
            if lambda1 > 0.0 {
                let peer = match settings.solver {
                    SolverChoice::Auto => SolverChoice::Dual,
                    _ => SolverChoice::Auto,
                };
                let peer = Settings { solver: peer, ..settings };
                let other = in_time(LIMIT, |monitor| fit(&problem, &peer, monitor)).unwrap();
                assert_gaps_bound(&case, &path, &other, lambda1);
                assert_gaps_bound(&case, &other, &path, lambda1);
            }
        }
        Err(error) => assert_named(&error),
    }
}

/// Scores of 1e12, whose softmax adds up to one only if it is taken from the largest: the reference
/// once had a gap of -1e6 here.
#[test]
fn huge_scores_are_certified() {
    let recipe = Hard {
        variables: 3,
        rows: (16, 4),
        values: Values::Heavy,
        twist: Twist::DuplicateRows,
        scales: (2, 2),
        standardize: Standardize::None,
        seed: 1492,
    };
    let pairs = Basis { power: 1.0, pair: vec![(1, 1)], single: vec![] };
    let grid = Grid::Geometric { nlambda: 4, lambda_min_ratio: 0.05 };
    let settings = settings(0.1, grid, SolverChoice::Auto);
    assert_path_certified(&recipe, pairs, Direction::Symmetric, settings, 0);
}

/// Features of 1e14, where the search for a step of the dual once had no end.
#[test]
fn dual_ends_where_slopes_are_rounding() {
    let recipe = Hard {
        variables: 5,
        rows: (15, 10),
        values: Values::Ties,
        twist: Twist::SameSamples,
        scales: (7, 7),
        standardize: Standardize::None,
        seed: 47567,
    };
    let pairs = Basis { power: 1.0, pair: vec![(1, 1)], single: vec![] };
    let grid = Grid::Given(vec![1.0, 0.1, 1e-3, 0.0]);
    let settings = settings(10.0, grid, SolverChoice::Dual);
    assert_path_certified(&recipe, pairs, Direction::Forward, settings, 0);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn paths_are_certified(
        recipe in hard(),
        basis in bases(),
        direction in directions(),
        lambda1 in ridges(),
        solver in solvers(),
        grid in grids(),
        kind in 0_usize..6,
    ) {
        assert_path_certified(&recipe, basis, direction, settings(lambda1, grid, solver), kind);
    }

    #[test]
    fn plain_samples_are_always_fitted(
        recipe in hard(),
        direction in directions(),
        solver in solvers(),
    ) {
        // What a user has who standardises: any scale and any tail, no column without values.
        prop_assume!(!matches!(recipe.twist, Twist::EqualRows | Twist::Constant));
        prop_assume!(matches!(recipe.values, Values::Normal | Values::Heavy));
        let recipe = Hard { standardize: Standardize::Within, ..recipe };
        let case = case(&recipe, Basis::gaussian(), direction);
        let grid = Grid::Geometric { nlambda: 4, lambda_min_ratio: 0.05 };
        let settings = Settings { max_iter: 20_000, ..settings(0.1, grid, solver) };
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
        penalty in select(vec![
            PenaltyShape::GroupLasso,
            PenaltyShape::Adaptive { gamma: 1.0, first_share: 0.1 },
            PenaltyShape::Mcp { gamma: 3.0 },
        ]),
        robust in select(vec![0.0, 0.1, 0.45]),
        normalizer in select(vec![Normalizer::Empirical, Normalizer::Gaussian]),
    ) {
        // Trimming is for normalisers by samples.
        let robust = if normalizer == Normalizer::Gaussian { 0.0 } else { robust };
        let case = case(&recipe, Basis::gaussian(), direction);
        let grid = Grid::Geometric { nlambda: 4, lambda_min_ratio: 0.1 };
        let base = settings(lambda1, grid, SolverChoice::Auto);
        let settings = Settings { penalty, robust, normalizer, max_iter: 500, ..base };
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
        let grid = Grid::Geometric { nlambda: 3, lambda_min_ratio: 0.1 };
        let settings = Settings { max_iter: 20_000, ..settings(0.1, grid, SolverChoice::Auto) };
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
            let off = (one.certificate.objective - other.certificate.objective).abs();
            let gap = one.certificate.gap.max(other.certificate.gap);
            assert!(off <= gap + ROUNDING, "{off}: {one:?}");
        }
    }

    #[test]
    fn moment_baselines_end(recipe in hard(), lambda1 in ridges()) {
        let (x, y) = recipe.samples();
        let gram = |sample: &Array2<f64>| sample.t().dot(sample) / sample.nrows() as f64;
        let (s, t) = (gram(&x), gram(&y));
        let moments = Moments::new(s.view(), t.view()).unwrap();
        let grid = Grid::Geometric { nlambda: 4, lambda_min_ratio: 0.1 };
        let settings = settings(lambda1, grid, SolverChoice::Auto);
        let path = in_time(LIMIT, |monitor| flasso::fit(&moments, &settings, monitor)).unwrap();
        for step in &path.steps {
            let numbers = [step.certificate.objective, step.certificate.kkt, step.lambda2];
            assert!(numbers.iter().all(|value| value.is_finite()), "{step:?}");
            let rows = &step.estimate.coefficients;
            assert!(rows.iter().all(|row| row.x.is_finite() && row.y.is_finite()));
            assert_ne!(step.status, Status::Unbounded, "sums of squares have a minimum");
        }
        let path = in_time(LIMIT, |monitor| dtrace::fit(&moments, &settings, monitor)).unwrap();
        for step in &path.steps {
            assert!(step.estimate.iter().all(|entry| entry.value.is_finite()), "{step:?}");
            if step.status == Status::Converged {
                let worst = dtrace_kkt(&s, &t, step);
                let size = s.iter().chain(&t).fold(1.0, |top: f64, value| top.max(value.abs()));
                let theta = step.estimate.iter().fold(1.0, |top: f64, e| top.max(e.value.abs()));
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
        let grid = Grid::Geometric { nlambda: 3, lambda_min_ratio: 0.2 };
        let settings = Settings { max_iter: 200, ..Settings::new(lambda1, grid) };
        let edges = PenaltyFactors::ByKind { single: 0.0, edge: 1.0 };
        for method in [importance::glasso, importance::flasso] {
            let path = in_time(LIMIT, |monitor| method(&stack, &edges, &settings, monitor));
            match path {
                Ok(path) => {
                    for step in &path.steps {
                        assert!(step.estimate.networks.iter().all(finite), "{step:?}");
                        assert!(!step.certificate.objective.is_nan(), "{step:?}");
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
        let settings = DebiasSettings {
            lambda: 1.1,
            row_lambda: 0.2,
            estimator,
            refit,
            within: case.standardize == Standardize::Within,
            tol: 1e-6,
            max_iter: 2000,
            n_boot: 50,
            seed: 1,
        };
        let outcome = problem(&case).and_then(|problem| {
            in_time(LIMIT, |monitor| infer(problem, &factors, &settings, monitor))
        });
        match outcome {
            Ok(inference) => {
                assert!(finite(&inference.theta));
                assert!(inference.edges.len() == factors.len() || inference.edges.is_empty());
                for edge in &inference.edges {
                    let numbers = edge.estimate.is_finite() && edge.error.is_finite();
                    let has = matches!(edge.status, EdgeStatus::Estimated | EdgeStatus::OneStep);
                    assert_eq!(numbers, has, "{edge:?}");
                    assert!(!numbers || edge.error >= 0.0, "{edge:?}");
                }
            }
            Err(error) => assert_named(&error),
        }
    }
}

/// The worst violation of the optimality condition of a D-trace fit, from its formula.
fn dtrace_kkt(s: &Array2<f64>, t: &Array2<f64>, step: &Step<Vec<Entry>>) -> f64 {
    let d = s.nrows();
    let mut delta = Array2::<f64>::zeros((d, d));
    for entry in &step.estimate {
        delta[(entry.row, entry.column)] = entry.value;
        delta[(entry.column, entry.row)] = entry.value;
    }
    let product = s.dot(&delta).dot(t);
    let slope = (&product + &product.t()) * 0.5 - (s - t);
    let off = slope.iter().zip(&delta).map(|(g, value)| {
        if *value == 0.0 {
            g.abs() - step.lambda2
        } else {
            (g + step.lambda2 * value.signum()).abs()
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
    let points = cases::normals(POINTS * d, 1.5, &mut cases::random(recipe.seed));
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
