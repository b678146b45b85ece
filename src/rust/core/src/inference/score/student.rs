//! From Student's t to the normal number with the same tail, for many numbers of one distribution.

use super::special::{upper_normal_quantile, LN_ROOT_TWO_PI};

/// Between nodes of the table, on the scale of `asinh(t)`.
const STEP: f64 = 1.0 / 16.0;
/// Where tables end: at `asinh(11,000)`, or where a tail is too small for a double.
const LAST: f64 = 10.0;
const LN_SMALLEST: f64 = -720.0;
/// Its square is far from overflow.
const LARGEST_ROOT: f64 = 1e100;
/// Points and weights of Gauss and Legendre's rule on [-1, 1]; both come with either sign.
const POINTS: [f64; 4] = [
    0.183_434_642_495_649_8,
    0.525_532_409_916_329,
    0.796_666_477_413_626_7,
    0.960_289_856_497_536_3,
];
const WEIGHTS: [f64; 4] = [
    0.362_683_783_378_362,
    0.313_706_645_877_887_3,
    0.222_381_034_453_374_48,
    0.101_228_536_290_376_26,
];

/// `z(|t|)` at equally spaced `asinh |t|`, with two derivatives, and quintic polynomials between.
pub struct Normaliser {
    /// Value, first and second derivative, times powers of the step.
    nodes: Vec<[f64; 3]>,
}

impl Normaliser {
    /// For Student's distribution with these degrees of freedom.
    pub fn new(freedom: f64) -> Self {
        let student = Student { freedom };
        let mut last = 1;
        while (last as f64) * STEP < LAST
            && student.ln_density((last as f64 * STEP).sinh()) > LN_SMALLEST
        {
            last += 1;
        }
        // From the far end inwards all terms are positive: small tails keep their relative accuracy.
        let mut ln_tails = vec![student.ln_beyond((last as f64 * STEP).sinh()); last + 1];
        for k in (0..last).rev() {
            ln_tails[k] = ln_add(ln_tails[k + 1], student.ln_between(k as f64 * STEP, STEP));
        }
        // One half of the whole: no gamma function is needed.
        let ln_constant = 0.5f64.ln() - ln_tails[0];
        let mut guess = 0.0;
        let node = |k: usize| {
            let (t, root) = ((k as f64 * STEP).sinh(), (k as f64 * STEP).cosh());
            let z = upper_normal_quantile(ln_tails[k] + ln_constant, guess);
            guess = z;
            let ln_normal = -0.5 * z * z - LN_ROOT_TWO_PI;
            let first = (student.ln_density(t) + ln_constant - ln_normal).exp();
            let second = first * (student.slope(t) + z * first);
            // By asinh(t) in place of t.
            [z, first * root * STEP, (second * root * root + first * t) * STEP * STEP]
        };
        Self { nodes: (0..=last).map(node).collect() }
    }

    /// The normal number of a t.
    pub fn z(&self, t: f64) -> f64 {
        let place = asinh(t.abs()) / STEP;
        let last = self.nodes.len() - 1;
        let size = if place < last as f64 {
            let k = place as usize;
            between(&self.nodes[k], &self.nodes[k + 1], place - k as f64)
        } else {
            let [z, slope, _] = self.nodes[last];
            z + slope * (place - last as f64)
        };
        size.copysign(t)
    }
}

/// The inverse hyperbolic sine of a positive number. Where no square is too large a plain root does for
/// the length of a vector, which is most of what the function of the system takes.
fn asinh(t: f64) -> f64 {
    if t < LARGEST_ROOT {
        (t + t * t / (1.0 + (1.0 + t * t).sqrt())).ln_1p()
    } else {
        t.asinh()
    }
}

/// The polynomial of degree five with these values and derivatives at 0 and 1.
fn between(left: &[f64; 3], right: &[f64; 3], u: f64) -> f64 {
    let [a, b, c] = [left[0], left[1], 0.5 * left[2]];
    let value = right[0] - a - b - c;
    let first = right[1] - b - 2.0 * c;
    let second = 0.5 * (right[2] - 2.0 * c);
    let p3 = 10.0 * value - 4.0 * first + second;
    let p4 = -15.0 * value + 7.0 * first - 2.0 * second;
    let p5 = 6.0 * value - 3.0 * first + second;
    a + u * (b + u * (c + u * (p3 + u * (p4 + u * p5))))
}

/// `ln(exp(a) + exp(b))`.
fn ln_add(a: f64, b: f64) -> f64 {
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}

struct Student {
    freedom: f64,
}

impl Student {
    /// Without its constant.
    fn ln_density(&self, t: f64) -> f64 {
        -0.5 * (self.freedom + 1.0) * (t * t / self.freedom).ln_1p()
    }

    /// Of `ln_density`.
    fn slope(&self, t: f64) -> f64 {
        -(self.freedom + 1.0) * t / (self.freedom + t * t)
    }

    /// The integral beyond a far t, to leading order.
    fn ln_beyond(&self, t: f64) -> f64 {
        self.ln_density(t) - (-self.slope(t) - 1.0 / t).ln()
    }

    /// The integral from `sinh(start)` to `sinh(start + width)`.
    fn ln_between(&self, start: f64, width: f64) -> f64 {
        let ln_integrand = |s: f64| self.ln_density(s.sinh()) + s.cosh().ln();
        let top = ln_integrand(start).max(ln_integrand(start + width));
        // Where the integrand falls steeply one rule is not enough.
        let fall = (ln_integrand(start) - ln_integrand(start + width)).abs();
        let parts = 1 + (0.25 * fall) as usize;
        let half = 0.5 * width / parts as f64;
        let mut sum = 0.0;
        for part in 0..parts {
            let middle = start + (2 * part + 1) as f64 * half;
            for (point, weight) in POINTS.iter().zip(&WEIGHTS) {
                let both = (ln_integrand(middle - half * point) - top).exp()
                    + (ln_integrand(middle + half * point) - top).exp();
                sum += half * weight * both;
            }
        }
        top + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect(freedom: f64, t: f64, z: f64) {
        let got = Normaliser::new(freedom).z(t);
        assert!((got - z).abs() < 1e-9 * z.abs().max(1.0), "{got} for {z} at {t}, {freedom}");
    }

    #[test]
    fn t_becomes_the_normal_number_of_its_tail() {
        // Cauchy: the tail is 1/2 - atan(t) / pi.
        expect(1.0, 1.0, 0.674_489_750_196_081_7);
        // Two degrees of freedom: the tail is (1 - t / sqrt(2 + t^2)) / 2, here 0.025 and 0.0005.
        expect(2.0, 4.302_652_729_911_275, 1.959_963_984_540_054);
        expect(2.0, -31.599_054_576_443_62, -3.290_526_731_491_931);
        for t in [0.0, 0.7, 3.3, 20.0] {
            assert!((Normaliser::new(1e9).z(t) - t).abs() < 1e-4);
        }
    }

    #[test]
    fn asinh_is_that_of_the_system() {
        for t in [0.0, 1e-12, 1e-3, 0.3, 1.0, 4.7, 1e3, 1e99, 1e101, 1e300] {
            assert!((asinh(t) - t.asinh()).abs() <= 4.0 * f64::EPSILON * t.asinh(), "{t}");
        }
    }

    #[test]
    fn beyond_the_table_it_goes_on_upwards() {
        for freedom in [3.0, 50.0, 1e6] {
            let table = Normaliser::new(freedom);
            assert!(table.z(1e5) < table.z(1e6));
            assert!(table.z(-1e6).is_finite());
        }
    }
}
