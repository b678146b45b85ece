//! Orthonormal polynomials of every variable, which take the place of its powers.
//!
//! Over the rows that they are measured on, the mean of `p_j(s) p_k(s)` is one for j = k and zero
//! otherwise, whatever the distribution of the variable. So products `p_j(s_u) p_k(s_v)` of variables
//! that are independent are orthonormal, too, where powers differ in size by orders of magnitude. Each
//! polynomial is multiplied by a weight of its degree. They are kept by their recurrence,
//! `s p_k = b_(k+1) p_(k+1) + a_k p_k + b_k p_(k-1)`.

use crate::error::{Error, Result};
use crate::samples::Samples;

/// What is left of a polynomial, as a share of the largest value of its variable, where the variable
/// has no more values than the degree: rounding. There is no such polynomial, and zero in its place.
const VANISHING: f64 = 1e-10;

/// The polynomials of all variables, up to one degree.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomials {
    /// Of degree one, two, ...
    weights: Vec<f64>,
    /// `(a_k, b_(k+1))`, k = 0, 1, ..., of one variable after the other.
    recurrence: Vec<(f64, f64)>,
}

impl Polynomials {
    /// Orthonormal over all rows of the stack, with a weight for each degree.
    pub fn measure(samples: &Samples, weights: Vec<f64>) -> Result<Self> {
        let weights = validate(weights)?;
        let columns = (0..samples.variables()).map(|u| samples.column(u));
        let recurrence = columns.flat_map(|column| recurrence(column, weights.len())).collect();
        Ok(Self { weights, recurrence })
    }

    /// As measured before: `a_k` and `b_(k+1)` in turns.
    pub fn known(weights: Vec<f64>, recurrence: &[f64]) -> Result<Self> {
        let weights = validate(weights)?;
        if recurrence.iter().any(|value| !value.is_finite()) || recurrence.len() % 2 == 1 {
            return Err(Error::Argument("the recurrence needs pairs of finite numbers".into()));
        }
        let recurrence = recurrence.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(Self { weights, recurrence })
    }

    /// `a_k` and `b_(k+1)` in turns, for `known()`.
    pub fn recurrence(&self) -> Vec<f64> {
        self.recurrence.iter().flat_map(|(center, scale)| [*center, *scale]).collect()
    }

    /// `w_p p_p(s_u)` on the rows of a stack, degree after degree: one variable after the other.
    pub(super) fn columns(&self, samples: &Samples) -> Result<Vec<Vec<f64>>> {
        if self.recurrence.len() != self.weights.len() * samples.variables() {
            return Err(Error::Argument("the recurrence is that of other variables".into()));
        }
        let mut columns = vec![Vec::new(); self.weights.len()];
        for (u, recurrence) in self.recurrence.chunks_exact(self.weights.len()).enumerate() {
            let mut terms = Terms::new(samples.column(u));
            for (degree, (center, scale)) in recurrence.iter().enumerate() {
                let rest = terms.rest(*center);
                terms.push(rest, *scale);
                let weight = self.weights[degree];
                columns[degree].extend(terms.last.iter().map(|value| weight * value));
            }
        }
        Ok(columns)
    }
}

fn validate(weights: Vec<f64>) -> Result<Vec<f64>> {
    if weights.is_empty() || weights.iter().any(|weight| !(*weight > 0.0 && weight.is_finite())) {
        return Err(Error::Argument("the weights of polynomials must be positive".into()));
    }
    Ok(weights)
}

/// The recurrence over all values of a column.
fn recurrence(column: &[f64], degree: usize) -> Vec<(f64, f64)> {
    let count = column.len() as f64;
    let largest = column.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let mut terms = Terms::new(column);
    let mut recurrence = Vec::with_capacity(degree);
    for _ in 0..degree {
        let center = column.iter().zip(&terms.last).map(|(s, p)| s * p * p).sum::<f64>() / count;
        let rest = terms.rest(center);
        let scale = (rest.iter().map(|value| value * value).sum::<f64>() / count).sqrt();
        // What has overflown stays unfit for use, and is refused with the columns.
        let scale = match scale {
            scale if scale <= VANISHING * largest => 0.0,
            scale if scale.is_finite() => scale,
            _ => f64::NAN,
        };
        terms.push(rest, scale);
        recurrence.push((center, scale));
    }
    recurrence
}

/// The last two polynomials on the values of a column.
struct Terms<'a> {
    column: &'a [f64],
    before: Vec<f64>,
    last: Vec<f64>,
    /// `b_k` of the last.
    scale: f64,
}

impl<'a> Terms<'a> {
    fn new(column: &'a [f64]) -> Self {
        let (before, last) = (vec![0.0; column.len()], vec![1.0; column.len()]);
        Self { column, before, last, scale: 0.0 }
    }

    /// `(s - a_k) p_k - b_k p_(k-1)`, which is `b_(k+1) p_(k+1)`.
    fn rest(&self, center: f64) -> Vec<f64> {
        let terms = self.last.iter().zip(&self.before);
        let next = |(s, (p, before)): (&f64, (&f64, &f64))| (s - center) * p - self.scale * before;
        self.column.iter().zip(terms).map(next).collect()
    }

    fn push(&mut self, mut rest: Vec<f64>, scale: f64) {
        rest.iter_mut().for_each(|value| *value = if scale == 0.0 { 0.0 } else { *value / scale });
        self.before = std::mem::replace(&mut self.last, rest);
        self.scale = scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Samples, Standardize};
    use ndarray::{array, Array2};

    fn stack(x: &Array2<f64>, y: &Array2<f64>) -> Samples {
        Samples::new(x.view(), y.view(), Standardize::None).unwrap()
    }

    fn skewed(rows: usize, shift: f64) -> Array2<f64> {
        Array2::from_shape_fn((rows, 2), |(r, u)| {
            ((r * (u + 3) % 17) as f64 / 5.0 + shift).exp() - 2.0 * u as f64
        })
    }

    #[test]
    fn polynomials_are_orthonormal_over_both_samples() {
        let samples = stack(&skewed(40, 0.0), &skewed(25, -0.3));
        let polynomials = Polynomials::measure(&samples, vec![1.0; 4]).unwrap();
        let columns = polynomials.columns(&samples).unwrap();
        let rows = samples.rows();
        let of = |column: &Vec<f64>, u: usize| column[u * rows..][..rows].to_vec();
        for u in 0..2 {
            for (j, p) in columns.iter().map(|column| of(column, u)).enumerate() {
                assert!(p.iter().sum::<f64>().abs() < 1e-8 * rows as f64);
                for (k, q) in columns.iter().map(|column| of(column, u)).enumerate() {
                    let mean = p.iter().zip(q).map(|(a, b)| a * b).sum::<f64>() / rows as f64;
                    assert!((mean - f64::from(u8::from(j == k))).abs() < 1e-8);
                }
            }
        }
    }

    #[test]
    fn known_polynomials_are_those_that_were_measured() {
        let samples = stack(&skewed(40, 0.0), &skewed(25, -0.3));
        let measured = Polynomials::measure(&samples, vec![1.0, 0.5, 0.25]).unwrap();
        let known = Polynomials::known(vec![1.0, 0.5, 0.25], &measured.recurrence()).unwrap();
        assert_eq!(known, measured);
        assert_eq!(known.columns(&samples).unwrap(), measured.columns(&samples).unwrap());
    }

    #[test]
    fn a_variable_of_two_values_has_one_polynomial() {
        let (x, y) = (array![[0.0], [1.0], [1.0]], array![[1.0], [0.0]]);
        let samples = stack(&x, &y);
        let polynomials = Polynomials::measure(&samples, vec![1.0; 3]).unwrap();
        let columns = polynomials.columns(&samples).unwrap();
        assert!((columns[0].iter().map(|p| p * p).sum::<f64>() - 5.0).abs() < 1e-12);
        assert!(columns[1..].iter().flatten().all(|p| *p == 0.0));
    }

    #[test]
    fn what_is_not_a_recurrence_is_refused() {
        let samples = stack(&skewed(4, 0.0), &skewed(4, 1.0));
        assert!(Polynomials::measure(&samples, vec![]).is_err());
        assert!(Polynomials::measure(&samples, vec![1.0, 0.0]).is_err());
        assert!(Polynomials::known(vec![1.0], &[0.0]).is_err());
        assert!(Polynomials::known(vec![1.0], &[0.0, f64::NAN]).is_err());
        let short = Polynomials::known(vec![1.0], &[0.0, 1.0]).unwrap();
        assert!(short.columns(&samples).is_err());
    }
}
