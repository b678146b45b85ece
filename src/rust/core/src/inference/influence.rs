//! What every observation contributes to an estimate: `estimate - truth` is about the sum of the
//! influences, which have mean zero in each sample.
//!
//! With v = omega'f and alpha the weights of `y` at theta, a row of `x` has `(v_i - mean v) / n_P` and
//! a row of `y` has `-alpha_i (v_i - sum alpha v)`. Variables that were divided by standard deviations
//! of their own sample add what the error of these does, see [`Scaled`].

use super::sample::Sample;
use crate::features::Coefficients;
use std::collections::BTreeMap;

/// The influence of every row of the stack on the estimate whose row of the inverse Hessian is
/// `omega`; `within` where each sample was standardised by itself.
pub fn influence(
    sample: &Sample<'_>,
    omega: &Coefficients,
    theta: &Coefficients,
    alpha: &[f64],
    within: bool,
) -> Vec<f64> {
    let mut values = sample.features.scores(0..sample.products.rows(), omega);
    let (x, y) = values.split_at_mut(sample.y.start);
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    x.iter_mut().for_each(|v| *v = (*v - mean) / n);
    sample.loss.centre(alpha, y);
    y.iter_mut().zip(alpha).for_each(|(v, a)| *v *= -a);
    if within {
        Scaled { sample, omega, theta, alpha }.add(&mut values);
    }
    values
}

/// The part of estimated scales.
///
/// With `l_u` the logarithm of the standard deviation of variable u in one sample, features of
/// standardised variables move by `-z_u df/dz_u` a unit of `l_u`, and the estimate of `l_u` has
/// influence `(z_u^2 - 1) / 2n`. A product of powers has `z_u df/dz_u = k_u f`, k_u its exponent. So
/// `omega'g` moves by `-A_u = -sum_t k_tu omega_t g_t`, and the mean of v under alpha by `-B_u`,
/// `B_u = sum_t k_tu (omega_t mu_t + theta_t cov(v, f_t))`.
struct Scaled<'a> {
    sample: &'a Sample<'a>,
    omega: &'a Coefficients,
    theta: &'a Coefficients,
    alpha: &'a [f64],
}

impl Scaled<'_> {
    fn add(&self, values: &mut [f64]) {
        let (x, y) = (self.sample.x.clone(), self.sample.y.clone());
        // `alpha (v - mean)` of the rows of `y`, which the influence has so far.
        let weighted: Vec<f64> = values[y.clone()].iter().map(|value| -value).collect();
        let (mut of_x, mut of_y) = (BTreeMap::new(), BTreeMap::new());
        for (factor, omega) in self.omega.iter() {
            let over_x = omega[0] * self.sample.mean_over_x(factor);
            let over_y = omega[0] * self.sample.moment(factor, y.clone(), self.alpha);
            self.spread(factor, over_x, &mut of_x);
            self.spread(factor, over_y, &mut of_y);
        }
        for (factor, theta) in self.theta.iter() {
            let covariance = self.sample.moment(factor, y.clone(), &weighted);
            self.spread(factor, theta[0] * covariance, &mut of_y);
        }
        for (u, slope) in of_x {
            self.add_variable(u, -slope, &mut values[x.clone()], x.start);
        }
        for (u, slope) in of_y {
            self.add_variable(u, slope, &mut values[y.clone()], y.start);
        }
    }

    /// Add the exponents of a factor's variables times `amount`.
    fn spread(&self, factor: usize, amount: f64, slopes: &mut BTreeMap<usize, f64>) {
        let basis = self.sample.products.basis();
        let (u, v) = self.sample.products.place(factor);
        let (p, q) = basis.exponents(u, v, 0);
        for (variable, exponent) in [(u, p), (v, q)] {
            if exponent > 0 {
                let share = basis.power * exponent as f64 * amount;
                *slopes.entry(variable).or_insert(0.0) += share;
            }
        }
    }

    /// Add `slope` times the influence on the logarithm of a variable's standard deviation.
    fn add_variable(&self, u: usize, slope: f64, values: &mut [f64], first: usize) {
        let n = values.len() as f64;
        let power = self.sample.products.basis().power;
        let column = &self.sample.products.column(1, u)[first..first + values.len()];
        let square = |s: &f64| s.abs().powf(2.0 / power);
        let mean = column.iter().map(square).sum::<f64>() / n;
        for (value, s) in values.iter_mut().zip(column) {
            *value += slope * (square(s) - mean) / (2.0 * n);
        }
    }
}
