//! The loss: log-sum-exp terms with base weights, minus a linear term.
//!
//! `loss(theta) = sum_k log sum_i base_ki exp(sign_k f(z_ki)'theta) - sum_r linear_r f(z_r)'theta`
//!
//! over rows z of the stacked samples. KLIEP is one term over `y` with base weights 1/n and linear
//! weights 1/n on `x`; the symmetric fit is two terms. With `alpha_k` the softmax of term k,
//! minus the gradient is `xi_t = sum_r c_r f_t(z_r)`, `c = linear - sum_k sign_k alpha_k`: one weighted
//! sum of features over all rows, whatever the loss.

use std::ops::Range;

/// Which density ratio is fitted. The change is theta_P - theta_Q for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// p/q: the normaliser is over `y`.
    Forward,
    /// q/p: the normaliser is over `x`.
    Backward,
    /// The sum of both losses.
    Symmetric,
}

/// One log-sum-exp over some rows of the stack.
#[derive(Debug, Clone)]
pub struct Term {
    /// The rows of the stack.
    pub rows: Range<usize>,
    /// +1 or -1: the sign with which theta enters.
    pub sign: f64,
    /// Logarithms of the base weights.
    pub log_base: Vec<f64>,
    /// Where the term's scores stand among the scores of all terms.
    pub span: Range<usize>,
}

/// A loss over the rows of a stack.
#[derive(Debug, Clone)]
pub struct Loss {
    linear: Vec<f64>,
    terms: Vec<Term>,
}

/// The softmax of every term at some scores.
#[derive(Debug, Clone, Default)]
pub struct Weights {
    /// `alpha`, term after term; each sums to one.
    pub alpha: Vec<f64>,
    /// `log sum_i base_i exp(score_i)` of each term.
    pub log_sum: Vec<f64>,
}

impl Weights {
    /// The sum of the log-sum-exps.
    pub fn log_sums(&self) -> f64 {
        self.log_sum.iter().sum()
    }
}

impl Loss {
    /// The density-ratio loss of samples with these numbers of rows, `x` before `y` in the stack.
    pub fn density_ratio(direction: Direction, x_rows: usize, y_rows: usize) -> Self {
        let mut loss = Self { linear: vec![0.0; x_rows + y_rows], terms: Vec::new() };
        let (x, y) = (0..x_rows, x_rows..x_rows + y_rows);
        if direction != Direction::Forward {
            loss.add_ratio(y.clone(), x.clone(), -1.0);
        }
        if direction != Direction::Backward {
            loss.add_ratio(x, y, 1.0);
        }
        loss
    }

    /// Minus the mean log-likelihood of `sample` in the model `exp(f(z)'theta) / Z(theta)`, with Z a sum
    /// over `points` with these base weights; both are rows of a stack.
    pub fn likelihood(sample: Range<usize>, points: Range<usize>, log_base: Vec<f64>) -> Self {
        let mut linear = vec![0.0; sample.end.max(points.end)];
        let share = 1.0 / sample.len() as f64;
        linear[sample].iter_mut().for_each(|weight| *weight = share);
        let mut loss = Self { linear, terms: Vec::new() };
        loss.add_term(points, 1.0, log_base);
        loss
    }

    /// The sum of two losses over the same stack, each with scores of its own.
    pub fn beside(&self, other: &Self) -> Self {
        let linear = self.linear.iter().zip(&other.linear).map(|(a, b)| a + b).collect();
        let mut both = Self { linear, terms: self.terms.clone() };
        for term in &other.terms {
            both.add_term(term.rows.clone(), term.sign, term.log_base.clone());
        }
        both
    }

    /// The loss of the ratio numerator/denominator, with theta entering by `sign`.
    fn add_ratio(&mut self, numerator: Range<usize>, denominator: Range<usize>, sign: f64) {
        let share = sign / numerator.len() as f64;
        self.linear[numerator].iter_mut().for_each(|weight| *weight += share);
        let base = -(denominator.len() as f64).ln();
        let log_base = vec![base; denominator.len()];
        self.add_term(denominator, sign, log_base);
    }

    fn add_term(&mut self, rows: Range<usize>, sign: f64, log_base: Vec<f64>) {
        let start = self.scores();
        self.terms.push(Term { span: start..start + rows.len(), rows, sign, log_base });
    }

    /// Other weights of some rows in the linear term.
    pub fn set_linear(&mut self, rows: Range<usize>, weights: impl Iterator<Item = f64>) {
        self.linear[rows].iter_mut().zip(weights).for_each(|(target, weight)| *target = weight);
    }

    /// The rows of `x` and of `y` in the stack of a density ratio.
    pub fn samples(&self) -> [Range<usize>; 2] {
        match self.terms.last() {
            Some(term) if term.sign > 0.0 => [0..term.rows.start, term.rows.clone()],
            Some(term) => [term.rows.clone(), term.rows.end..self.linear.len()],
            None => [0..0, 0..0],
        }
    }

    /// How many scores (rows in log-sum-exps) there are.
    pub fn scores(&self) -> usize {
        self.terms.last().map_or(0, |term| term.span.end)
    }

    /// The log-sum-exp terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// `linear`, the weights of the rows in the linear term.
    pub fn linear(&self) -> &[f64] {
        &self.linear
    }

    /// Whether the linear term is the mean over these rows.
    pub fn is_mean_over(&self, rows: &Range<usize>) -> bool {
        let share = 1.0 / rows.len() as f64;
        let mut weights = self.linear.iter().enumerate();
        weights.all(|(row, weight)| *weight == if rows.contains(&row) { share } else { 0.0 })
    }

    /// Softmax and log-sum-exp of every term.
    pub fn weights(&self, scores: &[f64]) -> Weights {
        let mut alpha = vec![0.0; scores.len()];
        let log_sum = self.softmax_into(scores, &mut alpha);
        Weights { alpha, log_sum }
    }

    fn softmax_into(&self, scores: &[f64], alpha: &mut [f64]) -> Vec<f64> {
        let softmax = |term: &Term, alpha: &mut [f64]| {
            let terms = scores[term.span.clone()].iter().zip(&term.log_base);
            // Shift by the maximum: exp() overflows once scores leave the unit scale.
            let top = terms.clone().fold(f64::NEG_INFINITY, |top, (s, b)| top.max(s + b));
            let mut total = 0.0;
            for (target, (s, b)) in alpha.iter_mut().zip(terms) {
                *target = (s + b - top).exp();
                total += *target;
            }
            alpha.iter_mut().for_each(|a| *a /= total);
            top + total.ln()
        };
        self.terms.iter().map(|term| softmax(term, &mut alpha[term.span.clone()])).collect()
    }

    /// `1 / sum_i alpha_i^2`, the number of rows that equal weights would take to be as precise; the
    /// smallest of all terms.
    pub fn effective_size(&self, alpha: &[f64]) -> f64 {
        let one = |term: &Term| alpha[term.span.clone()].iter().map(|a| a * a).sum::<f64>().recip();
        self.terms.iter().map(one).fold(f64::INFINITY, f64::min)
    }

    /// `c`: the row weights that make `xi_t = sum_r c_r f_t(r)`.
    pub fn row_weights(&self, alpha: &[f64]) -> Vec<f64> {
        let mut weights = self.linear.clone();
        for term in &self.terms {
            let rows = weights[term.rows.clone()].iter_mut();
            rows.zip(&alpha[term.span.clone()]).for_each(|(c, a)| *c -= term.sign * a);
        }
        weights
    }

    /// `c` at theta = 0.
    pub fn row_weights_at_zero(&self) -> Vec<f64> {
        self.row_weights(&self.weights(&vec![0.0; self.scores()]).alpha)
    }

    /// `sum_k KL(alpha_k || base_k)` of softmax weights at `scores`.
    pub fn divergence_from_base(&self, scores: &[f64], weights: &Weights) -> f64 {
        let mean: f64 = scores.iter().zip(&weights.alpha).map(|(s, a)| s * a).sum();
        mean - weights.log_sums()
    }

    /// Subtract from each term's values their mean under `alpha`.
    pub fn centre(&self, alpha: &[f64], values: &mut [f64]) {
        for term in &self.terms {
            let (alpha, values) = (&alpha[term.span.clone()], &mut values[term.span.clone()]);
            let mean: f64 = alpha.iter().zip(values.iter()).map(|(a, v)| a * v).sum();
            values.iter_mut().for_each(|v| *v -= mean);
        }
    }

    /// `sum_k KL(alpha_k || softmax(scores + shift)_k)` where alpha is the softmax at `scores` and
    /// `shift` is centred: `log sum alpha exp(shift)`, term by term.
    pub fn divergence(&self, alpha: &[f64], shift: &[f64]) -> f64 {
        let one = |term: &Term| {
            let pairs = || alpha[term.span.clone()].iter().zip(&shift[term.span.clone()]);
            let top = pairs().fold(0.0, |top: f64, (_, e)| top.max(*e));
            if top < 1.0 {
                // Small shifts: the logarithm of a sum near one, without cancellation.
                pairs().map(|(a, e)| a * (e.exp_m1() - e)).sum::<f64>().ln_1p()
            } else {
                // Large ones: exp() overflows unless shifted, and a weight of zero is an underflow.
                let logs = || pairs().map(|(a, e)| a.max(f64::MIN_POSITIVE).ln() + e);
                let top = logs().fold(f64::NEG_INFINITY, f64::max);
                top + logs().map(|log| (log - top).exp()).sum::<f64>().ln()
            }
        };
        self.terms.iter().map(one).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergence_holds_from_tiny_to_huge_shifts() {
        let loss = Loss::density_ratio(Direction::Forward, 2, 3);
        let alpha = [0.2, 0.3, 0.5];
        for scale in [1e-6, 1e-2, 0.3, 3.0, 50.0] {
            let mut shift = [scale, -2.0 * scale, 0.5 * scale];
            loss.centre(&alpha, &mut shift);
            let plain: f64 = alpha.iter().zip(shift).map(|(a, e)| a * e.exp()).sum::<f64>().ln();
            let got = loss.divergence(&alpha, &shift);
            assert!((got - plain).abs() <= 1e-9 * plain.max(1e-6), "{scale}: {got} {plain}");
        }
        let mut huge = [1e5, 0.0, -1e5];
        loss.centre(&alpha, &mut huge);
        let got = loss.divergence(&alpha, &huge);
        assert!((got - (huge[0] + 0.2_f64.ln())).abs() < 1e-9 * got);
    }

    #[test]
    fn the_linear_term_of_one_ratio_is_the_mean_over_its_numerator() {
        let linear = |direction| Loss::density_ratio(direction, 2, 3);
        assert!(linear(Direction::Forward).is_mean_over(&(0..2)));
        assert!(!linear(Direction::Forward).is_mean_over(&(2..5)));
        assert!(!linear(Direction::Backward).is_mean_over(&(0..2)));
        assert!(!linear(Direction::Symmetric).is_mean_over(&(0..2)));
    }

    #[test]
    fn softmax_survives_scores_that_overflow() {
        let loss = Loss::density_ratio(Direction::Symmetric, 2, 3);
        let weights = loss.weights(&[1e4, -1e4, 800.0, 800.0, -1e300]);
        assert_eq!(weights.alpha, vec![1.0, 0.0, 0.5, 0.5, 0.0]);
        assert!(weights.log_sum.iter().all(|value| value.is_finite()));
    }
}
