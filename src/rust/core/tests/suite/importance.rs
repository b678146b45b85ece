//! Likelihoods with importance-sampled normalisers: two solvers agree, and each end of lambda2 is what
//! it has to be.

use crate::cases::{cubic, normals, random, samples};
use kliepnet_core::compare::importance::{flasso, glasso, NetworksPath, Stack};
use kliepnet_core::error::Error;
use kliepnet_core::features::{Basis, Coefficients, Features, Products, Table};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::Loss;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, Grid, Settings};
use kliepnet_core::samples::{Samples, Standardize};
use ndarray::{concatenate, Array2, Axis};

const POINTS: usize = 900;
const EDGES: PenaltyFactors = PenaltyFactors::ByKind { single: 0.0, edge: 1.0 };

fn stack(d: usize, n: usize, basis: Basis) -> Stack {
    let (x, y) = samples(d, n, 3);
    let both = concatenate(Axis(0), &[x.view(), y.view()]).unwrap();
    let points = normals(POINTS * d, 1.2, &mut random(4));
    let points = Array2::from_shape_vec((POINTS, d), points).unwrap();
    let log_base = points
        .rows()
        .into_iter()
        .map(|row| {
            let square: f64 = row.iter().map(|z| z * z).sum();
            let log_unit = (2.0 * std::f64::consts::PI * 1.44).ln();
            0.5 * (square / 1.44 + d as f64 * log_unit) - (POINTS as f64).ln()
        })
        .collect();
    let samples = Samples::new(both.view(), points.view(), Standardize::None).unwrap();
    let features = Products::new(samples, basis).unwrap().into();
    Stack { features, x_rows: n, y_rows: n, log_base }
}

fn settings(lambda1: f64) -> Settings {
    let lambda2 = Grid::Geometric { nlambda: 5, lambda_min_ratio: 0.1 };
    Settings { tol: 1e-10, max_iter: 1000, ..Settings::new(lambda1, lambda2) }
}

/// All coefficients, factor after factor.
fn dense(coefficients: &Coefficients, features: &Features) -> Vec<f64> {
    let sizes: Vec<usize> = (0..features.factors())
        .map(|factor| {
            let (u, v) = features.place(factor);
            features.size_of(u, v)
        })
        .collect();
    let mut out = vec![0.0; sizes.iter().sum()];
    for (factor, theta) in coefficients.iter() {
        let start: usize = sizes[..factor].iter().sum();
        out[start..start + sizes[factor]].copy_from_slice(theta);
    }
    out
}

fn assert_near(got: &[f64], want: &[f64], within: f64, what: &str) {
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= within, "{what}: {got} for {want}");
    }
}

#[test]
fn two_solvers_agree_on_one_network() {
    for (basis, lambda1) in [(Basis::gaussian(), 0.1), (cubic(), 0.1), (Basis::gaussian(), 0.0)] {
        let stack = stack(4, 40, basis);
        let path = glasso(&stack, &EDGES, &settings(lambda1), &Monitor::new()).unwrap();
        let grid = path.steps.iter().map(|step| step.lambda2).collect();
        for (network, rows) in [(0, 0..40), (1, 40..80)] {
            let loss = Loss::likelihood(rows, 80..80 + POINTS, stack.log_base.clone());
            let problem = Problem::new(stack.features.clone(), loss, EDGES).unwrap();
            let lambda2 = Grid::Given(Vec::clone(&grid));
            let peer = Settings { tol: 1e-10, max_iter: 10_000, ..Settings::new(lambda1, lambda2) };
            let peer = fit(&problem, &peer, &Monitor::new()).unwrap();
            for (ours, theirs) in path.steps.iter().zip(&peer.steps) {
                assert_eq!(ours.status, Status::Converged);
                let want = dense(&theirs.estimate.coefficients, &stack.features);
                let got = dense(&ours.estimate.networks[network], &stack.features);
                assert_near(&got, &want, 2e-4, "network");
                let log_z = ours.estimate.log_normalizers[network];
                assert!((log_z - theirs.estimate.log_normalizer).abs() < 1e-3);
            }
        }
        for step in &path.steps {
            let [p, q] =
                step.estimate.networks.each_ref().map(|network| dense(network, &stack.features));
            let change: Vec<f64> = p.iter().zip(&q).map(|(p, q)| p - q).collect();
            assert_eq!(dense(&step.estimate.change, &stack.features), change);
        }
    }
}

fn joint(stack: &Stack, grid: Vec<f64>, lambda1: f64) -> NetworksPath {
    let settings = Settings { lambda2: Grid::Given(grid), ..settings(lambda1) };
    flasso(stack, &PenaltyFactors::equal(), &settings, &Monitor::new()).unwrap()
}

#[test]
fn without_a_penalty_on_the_difference_there_are_two_networks() {
    for basis in [Basis::gaussian(), cubic()] {
        let stack = stack(4, 40, basis);
        let both = joint(&stack, vec![100.0, 0.0], 0.1);
        let alone = Settings { lambda2: Grid::Given(vec![0.0]), ..settings(0.1) };
        let apart = glasso(&stack, &EDGES, &alone, &Monitor::new()).unwrap();
        assert!(both.steps[0].estimate.change.is_empty());
        assert_eq!(both.steps[0].estimate.networks[0], both.steps[0].estimate.networks[1]);
        for network in 0..2 {
            let got = dense(&both.steps[1].estimate.networks[network], &stack.features);
            let want = dense(&apart.steps[0].estimate.networks[network], &stack.features);
            assert_near(&got, &want, 2e-4, "network");
        }
    }
}

#[test]
fn a_table_of_the_same_features_gives_the_same() {
    let products = stack(3, 30, Basis::gaussian());
    let rows = products.features.rows();
    let mut values = Vec::new();
    for factor in 0..products.features.factors() {
        let mut one = Coefficients::default();
        one.push(factor, &[1.0]);
        values.extend(products.features.scores(0..rows, &one));
    }
    let sizes = vec![1; products.features.factors()];
    let features = Table::new(rows, values.into(), &sizes).unwrap().into();
    let table = Stack { features, ..products.clone() };
    let each = PenaltyFactors::Each(vec![1.0; sizes.len()]);
    let one = flasso(&products, &PenaltyFactors::equal(), &settings(0.2), &Monitor::new()).unwrap();
    let other = flasso(&table, &each, &settings(0.2), &Monitor::new()).unwrap();
    for (a, b) in one.steps.iter().zip(&other.steps) {
        let got = dense(&b.estimate.change, &table.features);
        assert_near(&got, &dense(&a.estimate.change, &products.features), 1e-6, "change");
        assert!((a.estimate.effective_size[0] - b.estimate.effective_size[0]).abs() < 1e-3);
    }
}

#[test]
fn effective_sizes_are_between_one_and_all() {
    let stack = stack(4, 40, cubic());
    let path = glasso(&stack, &EDGES, &settings(0.1), &Monitor::new()).unwrap();
    for step in &path.steps {
        assert!(step
            .estimate
            .effective_size
            .iter()
            .all(|size| (1.0..=POINTS as f64).contains(size)));
        assert!(step.seconds >= 0.0);
    }
    assert!(path.steps[0].estimate.change.iter().all(|(factor, _)| [0, 2, 5, 9].contains(&factor)));
}

#[test]
fn wrong_sizes_and_interrupts_are_seen() {
    let stack = stack(3, 30, Basis::gaussian());
    let short = Stack { x_rows: 20, ..stack.clone() };
    let run = |stack: &Stack, monitor: &Monitor| flasso(stack, &EDGES, &settings(0.1), monitor);
    assert!(matches!(run(&short, &Monitor::new()), Err(Error::Argument(_))));
    let cancelled = Monitor::new();
    cancelled.cancel();
    assert!(matches!(run(&stack, &cancelled), Err(Error::Interrupted)));
}
