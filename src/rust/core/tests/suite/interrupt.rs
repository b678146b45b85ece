//! A cancelled fit ends soon, as interrupted.

use crate::cases::{down, settings, Case, SOLVERS};
use kliepnet_core::error::Error;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, Settings, SolverChoice};
use std::thread;
use std::time::{Duration, Instant};

/// How long a fit may go on after it was cancelled, in one of so many trials: what else the machine
/// does can delay some of them, not all.
const PATIENCE: Duration = Duration::from_secs(1);
const TRIALS: usize = 6;

/// Settings under which no fit ends by itself while a test waits.
fn endless(lambda1: f64, solver: SolverChoice) -> Settings {
    let mut settings = settings(lambda1, down(20_000, 1e-3), solver);
    settings.tol = 1e-12;
    settings.max_iter = usize::MAX;
    settings
}

/// How long a fit goes on that is cancelled after the delay.
fn goes_on_for(problem: &Problem, settings: &Settings, delay: Duration) -> Duration {
    let monitor = Monitor::new();
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let result = fit(problem, settings, &monitor);
            (result.map(|path| path.steps.len()), Instant::now())
        });
        thread::sleep(delay);
        monitor.cancel();
        let cancelled = Instant::now();
        let (result, ended) = running.join().unwrap();
        assert_eq!(result, Err(Error::Interrupted));
        ended.saturating_duration_since(cancelled)
    })
}

fn assert_ends_soon(problem: &Problem, settings: &Settings, delay: Duration) {
    let mut trials = (0..TRIALS).map(|_| goes_on_for(problem, settings, delay));
    assert!(trials.any(|late| late < PATIENCE), "went on for more than {PATIENCE:?}");
}

/// Early and late: while the path starts, and in the middle of it.
fn assert_ends_soon_at_any_time(case: &Case, lambda1: f64, solver: SolverChoice) {
    let problem = case.problem();
    for milliseconds in [0, 20, 300] {
        let delay = Duration::from_millis(milliseconds);
        assert_ends_soon(&problem, &endless(lambda1, solver), delay);
    }
}

#[test]
fn a_fit_on_all_factors() {
    assert_ends_soon_at_any_time(&Case::gaussian(80, 60, 1), 0.01, SolverChoice::Auto);
}

#[test]
fn a_fit_on_a_working_set() {
    assert_ends_soon_at_any_time(&Case::gaussian(1500, 100, 2), 0.01, SolverChoice::Auto);
}

#[test]
fn a_fit_of_a_large_newton_system() {
    assert_ends_soon_at_any_time(&Case::gaussian(60, 1500, 3), 1e-3, SolverChoice::Auto);
}

#[test]
fn a_fit_without_ridge() {
    assert_ends_soon_at_any_time(&Case::gaussian(60, 400, 4), 0.0, SolverChoice::Auto);
}

#[test]
fn a_primal_fit() {
    assert_ends_soon_at_any_time(&Case::gaussian(300, 100, 5), 1e-3, SolverChoice::Primal);
}

#[test]
fn a_dual_fit() {
    assert_ends_soon_at_any_time(&Case::gaussian(300, 100, 6), 1e-3, SolverChoice::Dual);
}

#[test]
fn a_monitor_cancelled_before_the_start() {
    let case = Case::gaussian(5, 20, 7);
    let monitor = Monitor::new();
    monitor.cancel();
    for solver in SOLVERS {
        let result = fit(&case.problem(), &settings(0.1, down(3, 0.1), solver), &monitor);
        assert_eq!(result.map(|path| path.steps.len()), Err(Error::Interrupted));
    }
}

#[test]
fn progress_counts_the_steps() {
    let case = Case::gaussian(5, 20, 8);
    let monitor = Monitor::new();
    assert_eq!(monitor.progress(), (0, 0));
    fit(&case.problem(), &settings(0.1, down(7, 0.1), SolverChoice::Auto), &monitor).unwrap();
    assert_eq!(monitor.progress(), (7, 7));
}
