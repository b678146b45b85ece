//! The smallest solvable lambda2 at lambda1 = 0 by linear programmes, with both certificates.
//!
//! `lambda2* = min_alpha max_t |xi_t(alpha)| / w_t`. A norm is the largest of `u'xi_t` over unit vectors
//! u, so with finitely many u this is a matrix game; those of the norms that its solution
//! violates are added until both bounds meet. For single features u is a sign and the end is exact.

use super::reference::{length, Reference};
use std::ops::Range;

/// `lower <= lambda2* <= upper`, each with its certificate.
pub struct Threshold {
    /// From a direction theta: `(g'theta - sum_k max_i h_ki'theta) / sum_t w_t |theta_t|`.
    pub lower: f64,
    /// From an alpha: `max_t |xi_t(alpha)| / w_t`.
    pub upper: f64,
}

/// A half-space `u'xi_t / w_t <= level` of one factor.
struct Cut {
    span: Range<usize>,
    /// `u / w_t`.
    direction: Vec<f64>,
}

impl Threshold {
    /// Bounds within this share of each other; every factor must be penalised.
    pub fn new(reference: &Reference, precision: f64) -> Self {
        let columns = pure_choices(reference);
        let uniform = vec![1.0 / columns.len() as f64; columns.len()];
        let mut cuts = violated(reference, &mix(&columns, &uniform), 0.0);
        let mut found = Self { lower: 0.0, upper: f64::INFINITY };
        for _ in 0..500 {
            let payoff = |cut: &Cut| -> Vec<f64> {
                columns.iter().map(|xi| dot(&cut.direction, &xi[cut.span.clone()])).collect()
            };
            let game = solve_game(&cuts.iter().map(payoff).collect::<Vec<_>>());
            let xi = mix(&columns, &game.columns);
            found.upper = found.upper.min(reference.largest_ratio(&xi));
            found.lower = found.lower.max(direction_bound(reference, &columns, &cuts, &game.rows));
            if found.upper - found.lower <= precision * found.upper {
                return found;
            }
            cuts.extend(violated(reference, &xi, found.lower));
        }
        panic!("bounds {} and {} do not meet", found.lower, found.upper);
    }
}

/// `xi` where each alpha puts all its weight on one row.
fn pure_choices(reference: &Reference) -> Vec<Vec<f64>> {
    let (linear, ratios) = reference.affine();
    let minus = |xi: &Vec<f64>, row: &Vec<f64>| xi.iter().zip(row).map(|(a, b)| a - b).collect();
    let mut choices = vec![linear];
    for rows in &ratios {
        choices =
            choices.iter().flat_map(|xi| rows.iter().map(move |row| minus(xi, row))).collect();
    }
    choices
}

fn mix(columns: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; columns[0].len()];
    for (column, weight) in columns.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
        sum.iter_mut().zip(column).for_each(|(s, x)| *s += weight * x);
    }
    sum
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Cuts along `xi` for the factors furthest above the level.
fn violated(reference: &Reference, xi: &[f64], level: f64) -> Vec<Cut> {
    let norms = reference.norms(xi);
    let ratio = |t: &usize| norms[*t] / reference.weight(*t);
    let mut above: Vec<usize> = (0..reference.factors()).filter(|t| ratio(t) > level).collect();
    above.sort_unstable_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let cut = |t: &usize| {
        let span = reference.span(*t);
        let scale = norms[*t] * reference.weight(*t);
        Cut { direction: xi[span.clone()].iter().map(|x| x / scale).collect(), span }
    };
    above.iter().take(30).map(cut).collect()
}

/// The certificate of the direction that these weights of the cuts make.
fn direction_bound(
    reference: &Reference,
    columns: &[Vec<f64>],
    cuts: &[Cut],
    weights: &[f64],
) -> f64 {
    let mut theta = vec![0.0; reference.size()];
    for (cut, weight) in cuts.iter().zip(weights) {
        theta[cut.span.clone()].iter_mut().zip(&cut.direction).for_each(|(t, u)| *t += weight * u);
    }
    let escape = columns.iter().map(|xi| dot(&theta, xi)).fold(f64::INFINITY, f64::min);
    let size = |t: usize| {
        let size = length(&theta[reference.span(t)]);
        if size > 0.0 {
            reference.weight(t) * size
        } else {
            0.0
        }
    };
    escape / (0..reference.factors()).map(size).sum::<f64>()
}

/// Optimal mixed strategies of both sides.
struct Game {
    rows: Vec<f64>,
    columns: Vec<f64>,
}

/// The matrix game in which the columns' side pays, by the simplex solver: with every payoff made
/// positive, maximise `sum p` subject to `payoff p <= 1`.
fn solve_game(payoff: &[Vec<f64>]) -> Game {
    let (rows, columns) = (payoff.len(), payoff[0].len());
    let least = payoff.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let width = columns + rows + 1;
    let mut tableau: Vec<Vec<f64>> = Vec::with_capacity(rows + 1);
    for (r, values) in payoff.iter().enumerate() {
        let mut row: Vec<f64> = values.iter().map(|value| value - least + 1.0).collect();
        row.extend((0..rows).map(|slack| if slack == r { 1.0 } else { 0.0 }));
        row.push(1.0);
        tableau.push(row);
    }
    let mut objective = vec![-1.0; columns];
    objective.resize(width, 0.0);
    tableau.push(objective);
    let mut basis: Vec<usize> = (columns..columns + rows).collect();
    for _ in 0..10_000 {
        let entering =
            (0..width - 1).min_by(|a, b| tableau[rows][*a].total_cmp(&tableau[rows][*b]));
        let entering = entering.unwrap();
        if tableau[rows][entering] > -1e-11 {
            return strategies(&tableau, &basis, columns);
        }
        let ratio = |r: &usize| tableau[*r][width - 1] / tableau[*r][entering];
        let leaving = (0..rows)
            .filter(|r| tableau[*r][entering] > 1e-11)
            .min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
            .expect("a game has a value");
        pivot(&mut tableau, leaving, entering);
        basis[leaving] = entering;
    }
    panic!("the simplex solver does not end");
}

fn pivot(tableau: &mut [Vec<f64>], row: usize, column: usize) {
    let factor = tableau[row][column];
    tableau[row].iter_mut().for_each(|value| *value /= factor);
    let source = tableau[row].clone();
    for (_, target) in tableau.iter_mut().enumerate().filter(|(r, _)| *r != row) {
        let factor = target[column];
        if factor != 0.0 {
            target.iter_mut().zip(&source).for_each(|(value, s)| *value -= factor * s);
        }
    }
}

/// Read both sides' strategies off the last tableau: the basic values, and the prices of the slacks.
fn strategies(tableau: &[Vec<f64>], basis: &[usize], columns: usize) -> Game {
    let rows = basis.len();
    let last = tableau[0].len() - 1;
    let mut choice = vec![0.0; columns];
    for (r, variable) in basis.iter().enumerate().filter(|(_, variable)| **variable < columns) {
        choice[*variable] = tableau[r][last].max(0.0);
    }
    let price = |r: usize| tableau[rows][columns + r].max(0.0);
    let share = |values: Vec<f64>| -> Vec<f64> {
        let total: f64 = values.iter().sum();
        values.iter().map(|value| value / total).collect()
    };
    Game { rows: share((0..rows).map(price).collect()), columns: share(choice) }
}
