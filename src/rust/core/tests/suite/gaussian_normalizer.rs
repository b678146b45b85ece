//! The closed-form normaliser: its derivatives, and fits checked by plain formulas on full matrices.

use crate::cases::{
    down, normals, penalty_factors, products, random, samples_of, settings, Case, DIRECTIONS,
};
use kliepnet_core::error::Error;
use kliepnet_core::features::factors::factor_index;
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::objective::gaussian::{Entry, GaussianLoss, Room};
use kliepnet_core::objective::loss::Direction;
use kliepnet_core::objective::penalty::Penalty;
use kliepnet_core::path::{fit, KliepPath, Normalizer, SolverChoice};
use ndarray::Array2;

/// Second moments of standardised samples, `x` and `y`.
fn moments(case: &Case) -> [Array2<f64>; 2] {
    let problem = case.problem();
    let all = products(&problem);
    let d = all.variables();
    let over = |rows: std::ops::Range<usize>| {
        let n = rows.len() as f64;
        Array2::from_shape_fn((d, d), |(u, v)| {
            rows.clone().map(|r| all.column(1, u)[r] * all.column(1, v)[r]).sum::<f64>() / n
        })
    };
    let n = case.x.nrows();
    [over(0..n), over(n..n + case.y.nrows())]
}

/// The inverse and the logarithm of the determinant, by elimination; `None` if that is negative.
fn inverse(matrix: &Array2<f64>) -> (Array2<f64>, f64) {
    let d = matrix.nrows();
    let (mut a, mut b, mut log) = (matrix.clone(), Array2::eye(d), 0.0);
    for k in 0..d {
        let best = (k..d).max_by(|i, j| a[[*i, k]].abs().total_cmp(&a[[*j, k]].abs())).unwrap();
        for j in 0..d {
            a.swap([k, j], [best, j]);
            b.swap([k, j], [best, j]);
        }
        let pivot = a[[k, k]];
        log += pivot.abs().ln();
        for j in 0..d {
            a[[k, j]] /= pivot;
            b[[k, j]] /= pivot;
        }
        for i in (0..d).filter(|i| *i != k) {
            let factor = a[[i, k]];
            for j in 0..d {
                a[[i, j]] -= factor * a[[k, j]];
                b[[i, j]] -= factor * b[[k, j]];
            }
        }
    }
    (b, log)
}

fn matrix_of(theta: &[f64], d: usize) -> Array2<f64> {
    Array2::from_shape_fn((d, d), |(u, v)| {
        let t = theta[factor_index(u.max(v), u.min(v))];
        if u == v {
            2.0 * t
        } else {
            t
        }
    })
}

/// The loss and `xi` by their formulas.
fn plain(case: &Case, theta: &[f64]) -> (f64, Vec<f64>) {
    let d = case.x.ncols();
    let [p, q] = moments(case);
    let e = matrix_of(theta, d);
    let mut terms = Vec::new();
    if case.direction != Direction::Backward {
        terms.push((1.0, q.clone(), p.clone()));
    }
    if case.direction != Direction::Forward {
        terms.push((-1.0, p, q));
    }
    let (mut value, mut xi) = (0.0, Array2::<f64>::zeros((d, d)));
    for (sign, weighted, other) in terms {
        let (inverse, log) = inverse(&(Array2::eye(d) - sign * weighted.dot(&e)));
        value += -0.5 * log - 0.5 * sign * (&e * &other).sum();
        xi = xi + sign * (other - inverse.dot(&weighted));
    }
    let lower = (0..d).flat_map(|u| (0..=u).map(move |v| (u, v)));
    (value, lower.map(|(u, v)| xi[[u, v]]).collect())
}

fn case(d: usize, n_x: usize, n_y: usize, direction: Direction) -> Case {
    Case { direction, ..Case::new(samples_of(d, n_x, n_y, 3)) }
}

fn solve(case: &Case, lambda1: f64, tolerance: f64) -> KliepPath {
    let mut settings = settings(lambda1, down(6, 0.1), SolverChoice::Auto);
    settings.normalizer = Normalizer::Gaussian;
    settings.tol = tolerance;
    fit(&case.problem(), &settings, &Monitor::new()).unwrap()
}

fn dense(path: &KliepPath, step: usize, factors: usize) -> Vec<f64> {
    let mut theta = vec![0.0; factors];
    for (factor, value) in path.steps[step].estimate.coefficients.iter() {
        theta[factor] = value[0];
    }
    theta
}

#[test]
fn value_and_gradient_are_those_of_the_formula() {
    for direction in DIRECTIONS {
        for n in [12, 30] {
            let case = case(5, n, n + 3, direction);
            let problem = case.problem();
            let loss = GaussianLoss::new(products(&problem), &problem.loss);
            let theta = normals(15, 0.03, &mut random(n as u64));
            let places: Vec<(usize, usize)> =
                (0..5).flat_map(|u| (0..=u).map(move |v| (u, v))).collect();
            let entries: Vec<Entry> =
                places.iter().zip(&theta).map(|(&(u, v), t)| Entry::new(u, v, *t)).collect();
            let active = loss.restrict_to((0..5).collect());
            let at = loss.evaluate(&active, &entries).unwrap();
            let moments = loss.moments(&active, &at);
            let all = loss.xi(&active, &entries, (&at, &moments), Room::default());
            let mut rough = vec![f32::NAN; 25];
            all.rough(&mut rough, |_, _| ());
            let (plain_value, plain_xi) = plain(&case, &theta);
            assert!((at.value - plain_value).abs() < 1e-12);
            for (t, &(u, v)) in places.iter().enumerate() {
                assert!((all.exact(&[(u, v)])[0] - plain_xi[t]).abs() < 1e-11);
                let off = f64::from(rough[u * 5 + v]) - plain_xi[t];
                assert!(off.abs() <= all.rounding + 1e-7 * plain_xi[t].abs());
                // And by central differences.
                let at = |shift: f64| {
                    let mut moved = theta.clone();
                    moved[t] += shift;
                    plain(&case, &moved).0
                };
                let slope = (at(-1e-5) - at(1e-5)) / 2e-5;
                assert!((plain_xi[t] - slope).abs() < 1e-7, "{t}: {} {slope}", plain_xi[t]);
            }
        }
    }
}

/// Entries among a few of the variables, with more and with fewer observations than there are.
#[test]
fn the_gradient_of_all_variables_comes_from_those_at_work() {
    for n in [3, 6, 40] {
        let case = case(7, n, n + 1, Direction::Symmetric);
        let problem = case.problem();
        let loss = GaussianLoss::new(products(&problem), &problem.loss);
        let mut theta = vec![0.0; 28];
        let entries: Vec<Entry> = [(4, 1, 0.05), (4, 4, -0.04), (6, 4, 0.03)]
            .into_iter()
            .map(|(u, v, value)| {
                theta[factor_index(u, v)] = value;
                let place = |u: usize| [1, 4, 5, 6].iter().position(|k| *k == u).unwrap();
                Entry::new(place(u), place(v), value)
            })
            .collect();
        // 5 is at work and has no entry.
        let active = loss.restrict_to(vec![1, 4, 5, 6]);
        let at = loss.evaluate(&active, &entries).unwrap();
        let moments = loss.moments(&active, &at);
        let all = loss.xi(&active, &entries, (&at, &moments), Room::default());
        let mut rough = vec![f32::NAN; 49];
        all.rough(&mut rough, |_, _| ());
        let (value, plain_xi) = plain(&case, &theta);
        assert!((at.value - value).abs() < 1e-12);
        for u in 0..7 {
            for v in 0..=u {
                let plain = plain_xi[factor_index(u, v)];
                assert!((all.exact(&[(u, v)])[0] - plain).abs() < 1e-11, "{n} {u} {v}");
                // Single precision is off by no more than it says.
                let off = f64::from(rough[u * 7 + v]) - plain;
                assert!(off.abs() <= all.rounding + 1e-7 * plain.abs() && all.rounding < 1e-5);
            }
        }
    }
}

/// With more observations than variables and with fewer.
#[test]
fn entries_of_moments_are_those_of_the_matrix() {
    let places = [(3, 0), (2, 2), (3, 1), (0, 0)];
    let mut kinds = [false; 2];
    for n in [3, 9, 40] {
        let case = case(4, n, n + 1, Direction::Symmetric);
        let problem = case.problem();
        let loss = GaussianLoss::new(products(&problem), &problem.loss);
        let active = loss.restrict_to((0..4).collect());
        let at = loss.evaluate(&active, &[Entry::new(3, 1, 0.05)]).unwrap();
        for moments in loss.moments(&active, &at) {
            kinds[usize::from(moments.is_gram())] = true;
            let full = moments.full();
            for ((i, j), entry) in places.iter().zip(moments.at(4, &places)) {
                assert!((entry - full[i * 4 + j]).abs() < 1e-14);
                assert_eq!(full[i * 4 + j], full[j * 4 + i]);
            }
            let mut single = vec![7.0; 30];
            moments.single(4, &mut single);
            assert_eq!(single.len(), 16);
            assert!(single.iter().zip(&*full).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5));
        }
    }
    assert_eq!(kinds, [true, true]);
}

#[test]
fn the_hessian_is_the_slope_of_the_gradient() {
    let case = case(4, 30, 25, Direction::Symmetric);
    let problem = case.problem();
    let loss = GaussianLoss::new(products(&problem), &problem.loss);
    let theta = normals(10, 0.03, &mut random(5));
    let places: Vec<(usize, usize)> = (0..4).flat_map(|u| (0..=u).map(move |v| (u, v))).collect();
    let entries: Vec<Entry> =
        places.iter().zip(&theta).map(|(&(u, v), t)| Entry::new(u, v, *t)).collect();
    let active = loss.restrict_to((0..4).collect());
    let moments = loss.moments(&active, &loss.evaluate(&active, &entries).unwrap());
    let a: Vec<Vec<f64>> = moments.iter().map(|a| a.full().into_owned()).collect();
    for s in 0..10 {
        let mut direction = vec![0.0; 10];
        direction[s] = 1.0;
        let de = matrix_of(&direction, 4);
        let mut image = Array2::<f64>::zeros((4, 4));
        for a in &a {
            let a = Array2::from_shape_vec((4, 4), a.clone()).unwrap();
            image = image + a.dot(&de).dot(&a);
        }
        let at = |shift: f64| {
            let mut moved = theta.clone();
            moved[s] += shift;
            plain(&case, &moved).1
        };
        let (up, low) = (at(1e-5), at(-1e-5));
        for (t, &(u, v)) in places.iter().enumerate() {
            let slope = (low[t] - up[t]) / 2e-5;
            assert!((image[[u, v]] - slope).abs() < 1e-6, "{s} {t}");
        }
    }
}

#[test]
fn fits_satisfy_the_conditions_over_all_factors() {
    // Fewer observations than variables make both covariances singular.
    for (d, n_x, n_y) in [(6, 40, 50), (12, 8, 9)] {
        for (kind, direction) in DIRECTIONS.into_iter().enumerate() {
            let penalty = penalty_factors(kind + 3, d, &mut random(2));
            let case = Case { penalty, ..case(d, n_x, n_y, direction) };
            let path = solve(&case, 0.1, 1e-8);
            for (k, step) in path.steps.iter().enumerate() {
                assert_eq!(step.status, Status::Converged);
                let theta = dense(&path, k, d * (d + 1) / 2);
                let (value, xi) = plain(&case, &theta);
                let (mut objective, mut kkt, mut gap) = (value, 0.0_f64, 0.0);
                for t in 0..theta.len() {
                    let level =
                        kliepnet_core::objective::penalty::level(step.lambda2, case.penalty.at(t));
                    let penalty = Penalty { lambda1: 0.1, level };
                    objective += penalty.value(&[theta[t]]);
                    kkt = kkt.max(penalty.kkt(&[theta[t]], &[xi[t]]));
                    gap += penalty.gap(&[theta[t]], &[xi[t]]);
                }
                assert!(
                    (step.certificate.objective - objective).abs()
                        < 1e-10 * objective.abs().max(1.0)
                );
                assert!(
                    (step.certificate.kkt - kkt).abs() < 1e-9,
                    "{} {kkt}",
                    step.certificate.kkt
                );
                assert!(gap <= 1e-8 * objective.abs().max(1e-3) + 1e-13);
            }
            assert!(path.steps.last().unwrap().estimate.coefficients.len() > 2);
        }
    }
}

#[test]
fn without_a_ridge_large_samples_have_a_solution_and_small_ones_are_refused() {
    for direction in DIRECTIONS {
        let path = solve(&case(6, 60, 60, direction), 0.0, 1e-8);
        assert!(path.steps.iter().all(|step| step.status == Status::Converged));
        let small = case(12, 5, 5, direction);
        let mut settings = settings(0.0, down(6, 0.1), SolverChoice::Auto);
        settings.normalizer = Normalizer::Gaussian;
        let refused = fit(&small.problem(), &settings, &Monitor::new());
        assert!(matches!(refused, Err(Error::Argument(_))));
    }
}

#[test]
fn equal_samples_do_not_differ() {
    let (x, _) = samples_of(5, 20, 20, 1);
    let case = Case { direction: Direction::Symmetric, ..Case::new((x.clone(), x)) };
    let path = solve(&case, 0.1, 1e-6);
    assert!(path.steps.iter().all(|step| step.estimate.coefficients.is_empty()));
}
