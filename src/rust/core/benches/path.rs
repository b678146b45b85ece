//! Seconds for whole paths, by solver and penalty: `cargo bench -p kliepnet-core --bench path`.
//!
//! Words after `--` keep the cases whose name has one of them; `SOLVER=Auto` keeps one solver,
//! `THREADS=2` uses two threads instead of one, `STEPS=1` prints every step.

use kliepnet_core::features::{Basis, Products};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, Grid, Settings, SolverChoice};
use kliepnet_core::samples::{Samples, Standardize};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::error::Error;
use std::time::Instant;

struct Case {
    name: &'static str,
    d: usize,
    n: usize,
    basis: Basis,
    grid: Grid,
    solvers: &'static [SolverChoice],
}

fn problem(case: &Case) -> Result<Problem, Box<dyn Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut normal =
        || Array2::from_shape_simple_fn((case.n, case.d), || StandardNormal.sample(&mut rng));
    let (x, y): (Array2<f64>, Array2<f64>) = (normal(), normal());
    let samples = Samples::new(x.view(), y.view(), Standardize::Within)?;
    let features = Products::new(samples, case.basis.clone())?;
    let loss = Loss::density_ratio(Direction::Forward, case.n, case.n);
    Ok(Problem::new(features, loss, PenaltyFactors::equal())?)
}

fn run(case: &Case, solver: SolverChoice) -> Result<(), Box<dyn Error>> {
    let problem = problem(case)?;
    let settings = Settings { solver, max_iter: 10_000, ..Settings::new(0.1, case.grid.clone()) };
    let mut best = f64::INFINITY;
    let mut path = fit(&problem, &settings, &Monitor::new())?;
    let started = Instant::now();
    while started.elapsed().as_secs_f64() < 1.0 {
        let start = Instant::now();
        path = fit(&problem, &settings, &Monitor::new())?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    if std::env::var("STEPS").is_ok() {
        for step in &path.steps {
            println!(
                "  lambda2 {:.5} {} {} iterations {} detected {:.6} s",
                step.lambda2,
                step.status.name(),
                step.iterations,
                step.estimate.coefficients.len(),
                step.seconds
            );
        }
    }
    let failed = path.steps.iter().filter(|step| step.status != Status::Converged).count();
    let iterations: usize = path.steps.iter().map(|step| step.iterations).sum();
    let detected = path.steps.last().map_or(0, |step| step.estimate.coefficients.len());
    println!(
        "{:<22} {:<8} {:>8.4} s  {} steps, {} not converged, {} iterations, {} detected, {} passes",
        case.name,
        format!("{solver:?}"),
        best,
        path.steps.len(),
        failed,
        iterations,
        detected,
        path.passes
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let threads = std::env::var("THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?
        .install(|| run_all().map_err(|error| error.to_string()))?;
    Ok(())
}

fn run_all() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let paper: Vec<f64> = (0..20).map(|k| 10_f64.powf(-4.0 * f64::from(k) / 19.0)).collect();
    let all: &[SolverChoice] = &[SolverChoice::Auto, SolverChoice::Primal, SolverChoice::Dual];
    let auto: &[SolverChoice] = &[SolverChoice::Auto];
    let quartic = Basis {
        power: 1.0,
        pair: (0..=4)
            .flat_map(|p| (0..=4 - p).map(move |q| (p, q)))
            .filter(|(p, q)| p + q > 0)
            .collect(),
        single: vec![1, 2, 3, 4],
    };
    let gaussian = Basis::gaussian();
    let down = |nlambda, lambda_min_ratio| Grid::Geometric { nlambda, lambda_min_ratio };
    let case = |name, d, n, basis: &Basis, grid, solvers| Case {
        name,
        d,
        n,
        basis: basis.clone(),
        grid,
        solvers,
    };
    let cases = [
        case("paper d=40", 40, 150, &gaussian, Grid::Given(paper.clone()), all),
        case("paper d=80", 80, 150, &gaussian, Grid::Given(paper.clone()), all),
        case("d=1000 n=100", 1000, 100, &gaussian, down(50, 0.5), auto),
        case("d=5000 n=100", 5000, 100, &gaussian, down(20, 0.7), auto),
        case("d=10000 n=100", 10_000, 100, &gaussian, down(20, 0.7), auto),
        case("d=50 n=5000", 50, 5000, &gaussian, down(50, 0.1), auto),
        case("quartic d=9 n=5000", 9, 5000, &quartic, down(50, 0.1), auto),
        case("quartic d=100 n=200", 100, 200, &quartic, down(20, 0.5), auto),
    ];
    for case in &cases {
        if wanted.is_empty() || wanted.iter().any(|name| case.name.contains(name.as_str())) {
            for solver in case.solvers {
                if std::env::var("SOLVER").map_or(true, |name| format!("{solver:?}") == name) {
                    run(case, *solver)?;
                }
            }
        }
    }
    Ok(())
}
