//! Derivatives of the gamma function's logarithm, and tails of the normal distribution.

/// `ln sqrt(2 pi)`.
pub const LN_ROOT_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// From here on the asymptotic series are exact to the last digits.
const FAR: f64 = 12.0;

/// `d/dx ln gamma(x)`, x > 0.
pub fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < FAR {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y
        * (1.0 / 12.0
            - y * (1.0 / 120.0
                - y * (1.0 / 252.0
                    - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * 691.0 / 32_760.0)))));
    shift + x.ln() - 0.5 / x - series
}

/// The second derivative.
pub fn trigamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < FAR {
        shift += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = 1.0 / 6.0
        - y * (1.0 / 30.0
            - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0 - y * 691.0 / 2730.0))));
    shift + 1.0 / x + 0.5 * y + series * y / x
}

/// The third derivative.
pub fn tetragamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < FAR {
        shift -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = 0.5
        - y * (1.0 / 6.0
            - y * (1.0 / 6.0 - y * (3.0 / 10.0 - y * (5.0 / 6.0 - y * 691.0 / 210.0))));
    shift - y - y / x - series * y * y
}

/// The x > 0 with this trigamma, by Newton's steps on its reciprocal, which is convex (Smyth, 2004).
pub fn inverse_trigamma(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let here = trigamma(x);
        let change = here * (1.0 - here / value) / tetragamma(x);
        x += change;
        if -change / x < 1e-8 {
            break;
        }
    }
    x
}

/// From here on the upper tail comes from its continued fraction, below from the series of the rest.
const TAIL_FROM: f64 = 2.5;
/// Terms of the continued fraction: enough at `TAIL_FROM`.
const TAIL_TERMS: u32 = 120;

/// The logarithm of the probability of a standard normal number above z, z >= 0.
pub fn ln_upper_normal(z: f64) -> f64 {
    let ln_density = -0.5 * z * z - LN_ROOT_TWO_PI;
    if z >= TAIL_FROM {
        let mut below = z;
        for k in (1..=TAIL_TERMS).rev() {
            below = z + f64::from(k) / below;
        }
        return ln_density - below.ln();
    }
    let (mut term, mut sum, mut odd) = (z, z, 3.0);
    while term > 1e-17 * sum {
        term *= z * z / odd;
        sum += term;
        odd += 2.0;
    }
    (0.5 - ln_density.exp() * sum).ln()
}

/// The z >= 0 whose upper tail has this logarithm (at most that of one half), sought from a guess.
pub fn upper_normal_quantile(ln_tail: f64, guess: f64) -> f64 {
    let mut z = guess.max(0.0);
    for _ in 0..60 {
        let here = ln_upper_normal(z);
        let slope = -(-0.5 * z * z - LN_ROOT_TWO_PI - here).exp();
        let next = (z - (here - ln_tail) / slope).max(0.0);
        let moved = (next - z).abs();
        z = next;
        if moved <= 1e-15 * (1.0 + z) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-13 * want.abs().max(1.0), "{got} for {want}");
    }

    #[test]
    fn derivatives_of_ln_gamma_have_known_values() {
        let euler = 0.577_215_664_901_532_9;
        let square = std::f64::consts::PI.powi(2);
        close(digamma(1.0), -euler);
        close(digamma(0.5), -euler - 2.0 * 2f64.ln());
        close(digamma(1e6), 1e6f64.ln() - 0.5e-6 - 1e-12 / 12.0);
        close(trigamma(1.0), square / 6.0);
        close(trigamma(0.5), square / 2.0);
        close(tetragamma(1.0), -2.404_113_806_319_188_6);
        for x in [0.3, 2.0, 40.0, 5e5] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-7);
        }
    }

    #[test]
    fn normal_tails_have_known_values_and_invert() {
        close(ln_upper_normal(0.0), 0.5f64.ln());
        close(ln_upper_normal(1.0), 0.158_655_253_931_457_05f64.ln());
        close(ln_upper_normal(3.0), 1.349_898_031_630_094_6e-3f64.ln());
        close(ln_upper_normal(10.0), 7.619_853_024_160_525e-24f64.ln());
        for z in [0.0, 0.1, 1.0, 2.4999, 2.5, 4.0, 37.0] {
            close(upper_normal_quantile(ln_upper_normal(z), z + 0.3), z);
        }
    }
}
