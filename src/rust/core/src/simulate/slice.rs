//! Slice sampling of one variable (Neal, Annals of Statistics 31, 2003, figures 3 and 5).

use rand::Rng;
use rand_distr::{Distribution, Exp1};

/// One update of `x` that leaves `exp(log_density)` invariant: a level under the density at `x`,
/// an interval around `x` stepped out by `width` until both ends are below the level, and uniform
/// draws from it, shrinking it towards `x`, until one is above. `log_density` falls off on both
/// sides, and `width` does not depend on `x`.
pub fn update(x: f64, width: f64, log_density: impl Fn(f64) -> f64, rng: &mut impl Rng) -> f64 {
    let below: f64 = Exp1.sample(rng);
    let level = log_density(x) - below;
    let mut left = x - width * rng.random::<f64>();
    let mut right = left + width;
    while log_density(left) > level {
        left -= width;
    }
    while log_density(right) > level {
        right += width;
    }
    loop {
        let candidate = left + rng.random::<f64>() * (right - left);
        if log_density(candidate) >= level {
            return candidate;
        }
        if candidate < x {
            left = candidate;
        } else {
            right = candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Share of 40,000 draws below `at`, from chains thinned by five.
    fn share_below(at: f64, width: f64, log_density: impl Fn(f64) -> f64) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut x, mut below) = (0.0, 0);
        for _ in 0..40_000 {
            for _ in 0..5 {
                x = update(x, width, &log_density, &mut rng);
            }
            below += u32::from(x < at);
        }
        f64::from(below) / 40_000.0
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_distribution_is_kept_at_any_width() {
        // Five standard errors of a share of 40,000 nearly independent draws.
        let tolerance = 5.0 * (0.25f64 / 40_000.0).sqrt();
        for width in [0.3, 3.0, 30.0] {
            let normal = share_below(1.0, width, |x| -0.5 * x * x);
            assert!((normal - 0.841_345).abs() < tolerance, "{width}: {normal}");
            let laplace = share_below(-1.0, width, |x| -x.abs());
            assert!((laplace - 0.5 * (-1.0f64).exp()).abs() < tolerance, "{width}: {laplace}");
        }
    }
}
