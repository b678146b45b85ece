//! lambda1 = 0 on both sides of the smallest solvable lambda2, which a linear programme finds.

use crate::cases::programme::Threshold;
use crate::cases::reference::Reference;
use crate::cases::{cubic, down, penalty_factors, random, samples_of, Case, DIRECTIONS};
use kliepnet_core::features::Basis;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::path::{Grid, KliepPath, KliepStep, SolverChoice};
use std::time::Instant;

/// A fit is never to take longer than this in all trials: what else the machine does can delay some.
const SECONDS: f64 = 10.0;
const TRIALS: usize = 6;

/// Small cases with their thresholds: both bases, all directions, few and many rows.
fn cases() -> Vec<(Case, Threshold)> {
    let mut cases = Vec::new();
    for (k, direction) in DIRECTIONS.into_iter().cycle().take(12).enumerate() {
        let d = 4 + k % 4;
        let case = Case {
            basis: if k % 2 == 0 { Basis::gaussian() } else { cubic() },
            direction,
            penalty: penalty_factors([0, 4][k / 6], d, &mut random(k as u64)),
            ..Case::new(samples_of(d, 12 + k % 3, 9 + k % 4, k as u64))
        };
        let threshold = Threshold::new(&case.reference(), 1e-5);
        cases.push((case, threshold));
    }
    cases
}

fn fit_one(case: &Case, lambda2: f64, solver: SolverChoice) -> KliepPath {
    for _ in 0..TRIALS {
        let begun = Instant::now();
        let path = case.fit(0.0, Grid::Given(vec![lambda2]), solver);
        if begun.elapsed().as_secs_f64() < SECONDS {
            return path;
        }
    }
    panic!("no fit of {TRIALS} within {SECONDS} s");
}

/// What a step with this status may hold.
fn assert_well_formed(step: &KliepStep) {
    assert!(step.certificate.gap.is_nan(), "there is no gap without a ridge");
    if step.status == Status::Unbounded {
        assert_eq!(step.certificate.objective, f64::NEG_INFINITY);
        assert!(step.certificate.kkt.is_nan() && step.estimate.log_normalizer.is_nan());
        assert!(step.estimate.coefficients.is_empty());
    } else {
        assert!(step.certificate.objective.is_finite() && step.certificate.kkt.is_finite());
        assert!(step.estimate.log_normalizer.is_finite());
        assert!(step
            .estimate
            .coefficients
            .iter()
            .all(|(_, theta)| theta.iter().all(|t| t.is_finite())));
    }
}

/// Converged, and the reference agrees.
fn assert_solved(reference: &Reference, path: &KliepPath, step: &KliepStep, what: &str) {
    assert_well_formed(step);
    assert_eq!(step.status, Status::Converged, "{what}: residual {}", step.certificate.kkt);
    let expected =
        reference.certify(&reference.theta(&step.estimate.coefficients), 0.0, step.lambda2);
    let rounding = 1e-12 * expected.scale;
    assert!((step.certificate.kkt - expected.kkt).abs() <= rounding, "{what}");
    assert!((step.certificate.objective - expected.objective).abs() <= rounding, "{what}");
    assert!(expected.kkt <= 1e-6 * path.lambda_max + rounding, "{what}: {}", expected.kkt);
}

#[test]
fn the_programmes_bounds_meet_within_lambda_max() {
    for (k, (case, threshold)) in cases().iter().enumerate() {
        let largest = case.fit(0.0, down(1, 1.0), SolverChoice::Auto).lambda_max;
        assert!(threshold.lower > 0.0 && threshold.lower <= threshold.upper, "case {k}");
        assert!(threshold.upper < largest, "case {k}");
    }
}

#[test]
fn above_it_fits_converge() {
    for (k, (case, threshold)) in cases().iter().enumerate() {
        for share in [1.02, 1.2] {
            let path = fit_one(case, share * threshold.upper, SolverChoice::Auto);
            assert_solved(
                &case.reference(),
                &path,
                &path.steps[0],
                &format!("case {k} at {share}"),
            );
        }
    }
}

#[test]
fn above_it_primal_fits_converge() {
    for (k, (case, threshold)) in cases().iter().enumerate() {
        let path = fit_one(case, 1.2 * threshold.upper, SolverChoice::Primal);
        assert_solved(&case.reference(), &path, &path.steps[0], &format!("case {k}"));
    }
}

#[test]
fn below_it_fits_are_unbounded() {
    for (k, (case, threshold)) in cases().iter().enumerate() {
        for solver in [SolverChoice::Auto, SolverChoice::Primal] {
            for share in [0.98, 0.5, 0.01] {
                let path = fit_one(case, share * threshold.lower, solver);
                assert_well_formed(&path.steps[0]);
                let what = format!("case {k} {solver:?} at {share}");
                assert_eq!(path.steps[0].status, Status::Unbounded, "{what}");
            }
        }
    }
}

#[test]
fn without_any_penalty_fits_are_unbounded() {
    let none = PenaltyFactors::ByKind { single: 0.0, edge: 0.0 };
    for (case, _) in cases() {
        for penalty in [case.penalty.clone(), none.clone()] {
            let case = Case { penalty, ..case.clone() };
            let path = fit_one(&case, 0.0, SolverChoice::Auto);
            assert_eq!(path.steps[0].status, Status::Unbounded);
        }
    }
}

#[test]
fn close_to_it_fits_end_and_claim_nothing_false() {
    for (k, (case, threshold)) in cases().iter().enumerate() {
        for solver in [SolverChoice::Auto, SolverChoice::Primal] {
            for off in [1e-2, 1e-3, 1e-4, 1e-6, 0.0] {
                let what = format!("case {k} {solver:?} off by {off}");
                let above = fit_one(case, (1.0 + off) * threshold.upper, solver);
                let step = &above.steps[0];
                assert_well_formed(step);
                // The bounds are 1e-5 apart.
                assert!(step.status != Status::Unbounded || off < 1e-5, "{what} above");
                let below = fit_one(case, (1.0 - off) * threshold.lower, solver);
                let step = &below.steps[0];
                assert_well_formed(step);
                assert!(step.status != Status::Converged || off < 1e-4, "{what} below");
            }
        }
    }
}

/// A path across the threshold: solved above it, and one unbounded step below.
fn assert_ends_at_threshold(case: &Case, threshold: &Threshold, path: &KliepPath) {
    let reference = case.reference();
    let (last, before) = path.steps.split_last().unwrap();
    assert_well_formed(last);
    assert_eq!(last.status, Status::Unbounded);
    assert!(last.lambda2 <= threshold.upper, "{} {}", last.lambda2, threshold.upper);
    for step in before {
        assert_ne!(step.status, Status::Unbounded);
        let near = step.lambda2 < 1.01 * threshold.upper;
        if near {
            assert_well_formed(step);
        } else {
            assert_solved(&reference, path, step, &format!("lambda2 {}", step.lambda2));
        }
        assert!(step.lambda2 > 0.999 * threshold.lower, "went on below the threshold");
    }
}

#[test]
fn a_path_ends_with_one_unbounded_step() {
    for (case, threshold) in cases() {
        for count in [5, 30] {
            let path = case.fit(0.0, down(count, 1e-3), SolverChoice::Auto);
            assert_ends_at_threshold(&case, &threshold, &path);
        }
    }
}

#[test]
fn a_primal_path_ends_with_one_unbounded_step() {
    for (case, threshold) in cases() {
        let path = case.fit(0.0, down(5, 1e-2), SolverChoice::Primal);
        let (last, before) = path.steps.split_last().unwrap();
        assert_eq!(last.status, Status::Unbounded);
        assert!(last.lambda2 <= threshold.upper);
        before.iter().for_each(assert_well_formed);
        assert!(before.iter().all(|step| step.status != Status::Unbounded));
    }
}

#[test]
fn in_the_working_set() {
    for case in [Case::large(1), Case::large_cubic(1)] {
        let reference = case.reference();
        let threshold = Threshold::new(&reference, 1e-3);
        let above = fit_one(&case, 1.02 * threshold.upper, SolverChoice::Auto);
        assert!(above.passes > 0, "the working set was not used");
        assert_solved(&reference, &above, &above.steps[0], "above");
        let below = fit_one(&case, 0.98 * threshold.lower, SolverChoice::Auto);
        assert_eq!(below.steps[0].status, Status::Unbounded);
        let path = case.fit(0.0, down(8, 0.3), SolverChoice::Auto);
        assert_ends_at_threshold(&case, &threshold, &path);
    }
}
