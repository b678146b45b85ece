//! The penalty `lambda1 (|a| + |b|) + lambda2 |a - b|` of one pair of coefficients.

/// The two penalties.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusedPenalty {
    /// On each coefficient.
    pub lambda1: f64,
    /// On their difference; may be infinite.
    pub lambda2: f64,
}

/// `sign(value) (|value| - threshold)_+`.
#[inline(always)]
fn soft(value: f64, threshold: f64) -> f64 {
    if value > threshold {
        value - threshold
    } else if value < -threshold {
        value + threshold
    } else {
        0.0
    }
}

/// How far apart two intervals are.
#[inline(always)]
fn apart(first: (f64, f64), second: (f64, f64)) -> f64 {
    (second.0 - first.1).max(first.0 - second.1).max(0.0)
}

impl FusedPenalty {
    /// The penalty's value; a difference of zero costs nothing even where lambda2 is infinite.
    pub fn value(&self, a: f64, b: f64) -> f64 {
        let split = if a == b { 0.0 } else { self.lambda2 * (a - b).abs() };
        self.lambda1 * (a.abs() + b.abs()) + split
    }

    /// `argmin_(a,b) p/2 a^2 - u a + q/2 b^2 - v b + penalty`, p and q positive.
    ///
    /// Either a > b, where the penalty is that of two single coefficients with shifted `u` and `v`,
    /// or a < b, or neither candidate stands on its own side, and then a = b.
    #[inline(always)]
    pub fn minimum(&self, (u, v): (f64, f64), (p, q): (f64, f64)) -> (f64, f64) {
        let Self { lambda1, lambda2 } = *self;
        let (a, b) = (soft(u - lambda2, lambda1) / p, soft(v + lambda2, lambda1) / q);
        if a > b {
            return (a, b);
        }
        let (a, b) = (soft(u + lambda2, lambda1) / p, soft(v - lambda2, lambda1) / q);
        if a < b {
            return (a, b);
        }
        let both = soft(u + v, 2.0 * lambda1) / (p + q);
        (both, both)
    }

    /// Where `r - z` may lie in the subdifferential of `lambda1 |.|` at a, as an interval of z.
    #[inline(always)]
    fn reach(&self, a: f64, r: f64) -> (f64, f64) {
        if a == 0.0 {
            (r - self.lambda1, r + self.lambda1)
        } else {
            let z = r - self.lambda1.copysign(a);
            (z, z)
        }
    }

    /// How far (a, b) is from stationarity where minus the gradient of the loss is (r, s): the least
    /// e for which a subgradient is within e of it in both coordinates.
    ///
    /// A subgradient is `(lambda1 sigma + z, lambda1 tau - z)`, z that of `lambda2 |a - b|`.
    #[inline(always)]
    pub fn kkt(&self, (a, b): (f64, f64), (r, s): (f64, f64)) -> f64 {
        let first = self.reach(a, r);
        let mirrored = self.reach(b, s);
        let second = (-mirrored.1, -mirrored.0);
        if a != b {
            let z = self.lambda2.copysign(a - b);
            return apart(first, (z, z)).max(apart(second, (z, z)));
        }
        // Three intervals meet where each two of them do; the first two may be widened by e.
        let allowed = (-self.lambda2, self.lambda2);
        let widened = apart(first, allowed).max(apart(second, allowed));
        widened.max(0.5 * apart(first, second))
    }

    /// The least lambda2 at which a = b = `both` is stationary, where minus the gradient is (r, s).
    #[inline(always)]
    pub fn least_lambda2(&self, both: f64, (r, s): (f64, f64)) -> f64 {
        let first = self.reach(both, r);
        let mirrored = self.reach(both, s);
        // They meet at the minimum over a = b; up to its accuracy, the middle will do.
        let (low, high) = (first.0.max(-mirrored.1), first.1.min(-mirrored.0));
        if low > high {
            (0.5 * (low + high)).abs()
        } else {
            apart((low, high), (0.0, 0.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Curvatures, slopes and penalties in general position and on every border.
    fn cases() -> impl Iterator<Item = (FusedPenalty, (f64, f64), (f64, f64))> {
        let slopes = [-2.3, -1.0, -0.4, 0.0, 0.3, 0.7, 1.9];
        let penalties = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.4), (0.3, 0.5), (0.6, 0.2), (0.2, 9.0)];
        penalties.into_iter().flat_map(move |(lambda1, lambda2)| {
            slopes.into_iter().flat_map(move |u| {
                slopes.into_iter().flat_map(move |v| {
                    [(1.0, 1.0), (0.5, 2.0)].into_iter().map(move |curvature| {
                        (FusedPenalty { lambda1, lambda2 }, (u, v), curvature)
                    })
                })
            })
        })
    }

    fn cost(
        fused: FusedPenalty,
        (u, v): (f64, f64),
        (p, q): (f64, f64),
        (a, b): (f64, f64),
    ) -> f64 {
        0.5 * p * a * a - u * a + 0.5 * q * b * b - v * b + fused.value(a, b)
    }

    #[test]
    fn nothing_near_the_minimum_is_lower() {
        for (fused, slope, curvature) in cases() {
            let best = fused.minimum(slope, curvature);
            let least = cost(fused, slope, curvature, best);
            for turn in 0..32 {
                let angle = f64::from(turn) * std::f64::consts::PI / 16.0;
                for far in [1e-4, 0.1] {
                    let near = (best.0 + far * angle.cos(), best.1 + far * angle.sin());
                    assert!(cost(fused, slope, curvature, near) > least - 1e-15);
                }
            }
        }
    }

    #[test]
    fn the_violation_vanishes_at_the_minimum_and_nowhere_else() {
        for (fused, (u, v), (p, q)) in cases() {
            let gradient = |(a, b): (f64, f64)| (u - p * a, v - q * b);
            let best = fused.minimum((u, v), (p, q));
            assert!(fused.kkt(best, gradient(best)) < 1e-15);
            for near in
                [(best.0 + 0.1, best.1), (best.0, best.1 - 0.1), (best.0 - 0.2, best.1 - 0.2)]
            {
                assert!(fused.kkt(near, gradient(near)) > 1e-3);
            }
        }
    }

    #[test]
    fn an_infinite_lambda2_keeps_both_equal() {
        let fused = FusedPenalty { lambda1: 0.2, lambda2: f64::INFINITY };
        let (a, b) = fused.minimum((3.0, -1.0), (1.0, 1.0));
        assert_eq!(a, b);
        assert!((a - 0.8).abs() < 1e-15);
        assert!(fused.kkt((a, b), (3.0 - a, -1.0 - b)) < 1e-15);
        assert!(fused.value(a, b).is_finite());
    }

    #[test]
    fn just_below_the_least_lambda2_both_split() {
        for (fused, (u, v), (p, q)) in cases() {
            let joined = FusedPenalty { lambda2: f64::INFINITY, ..fused };
            let (both, _) = joined.minimum((u, v), (p, q));
            let least = joined.least_lambda2(both, (u - p * both, v - q * both));
            let at = |lambda2: f64| FusedPenalty { lambda2, ..fused }.minimum((u, v), (p, q));
            let (a, b) = at(least + 1e-12);
            assert!((a - b).abs() < 1e-11);
            if least > 1e-6 {
                let (a, b) = at(0.99 * least);
                assert!(a != b);
            }
        }
    }
}
