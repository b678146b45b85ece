//! The penalty `lambda1/2 |theta_t|^2 + lambda2 w_t |theta_t|` of one factor, its prox and conjugate, and
//! the factor's share of a certificate.

/// The penalty of one factor; `level` is `lambda2 w_t`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    /// The ridge.
    pub lambda1: f64,
    /// The group penalty times the factor's own.
    pub level: f64,
}

/// `|v|_2`.
#[inline(always)]
pub fn norm(v: &[f64]) -> f64 {
    match v {
        [x] => x.abs(),
        _ => v.iter().map(|x| x * x).sum::<f64>().sqrt(),
    }
}

/// `lambda2 w_t`, with 0 times infinity (an excluded factor at lambda2 = 0) infinite.
#[inline(always)]
pub fn level(lambda2: f64, weight: f64) -> f64 {
    if weight.is_infinite() {
        f64::INFINITY
    } else {
        lambda2 * weight
    }
}

impl Penalty {
    /// The penalty's value.
    pub fn value(&self, theta: &[f64]) -> f64 {
        let size = norm(theta);
        // A zero costs nothing even where the level is infinite.
        if size == 0.0 {
            0.0
        } else {
            0.5 * self.lambda1 * size * size + self.level * size
        }
    }

    /// `argmin_z 1/(2 step) |z - point|^2 + penalty(z)`, in place.
    pub fn prox(&self, step: f64, point: &mut [f64]) {
        let size = norm(point);
        let threshold = step * self.level;
        let factor = if size > threshold {
            (1.0 - threshold / size) / (1.0 + step * self.lambda1)
        } else {
            0.0
        };
        point.iter_mut().for_each(|x| *x *= factor);
    }

    /// The conjugate at `|xi|`: `max(0, |xi| - level)^2 / (2 lambda1)`.
    pub fn conjugate(&self, xi_norm: f64) -> f64 {
        let excess = (xi_norm - self.level).max(0.0);
        if excess == 0.0 {
            0.0
        } else {
            excess * excess / (2.0 * self.lambda1)
        }
    }

    /// The factor by which `theta = shrink * xi` maximises `xi'theta - penalty(theta)`.
    #[inline(always)]
    pub fn shrink(&self, xi_norm: f64) -> f64 {
        if xi_norm > self.level {
            (1.0 - self.level / xi_norm) / self.lambda1
        } else {
            0.0
        }
    }

    /// The factor's share of the duality gap of (theta, xi): `penalty + conjugate - xi'theta >= 0`.
    ///
    /// With theta != 0 and u its direction the gap is written as a square over `2 lambda1` plus a
    /// term of first order, so that nothing cancels.
    #[inline(always)]
    pub fn gap(&self, theta: &[f64], xi: &[f64]) -> f64 {
        let size = norm(theta);
        let xi_norm = norm(xi);
        if size == 0.0 {
            return self.conjugate(xi_norm);
        }
        let inner: f64 = theta.iter().zip(xi).map(|(t, x)| t * x).sum();
        let excess = (xi_norm - self.level).max(0.0);
        let square = self.lambda1 * size - excess;
        // size (level - xi_norm + excess) is zero inside the support's region; the last term is the
        // angle between theta and xi, zero for b = 1 of equal signs.
        let slack = size * (self.level - xi_norm + excess);
        (square * square / (2.0 * self.lambda1) + slack + (size * xi_norm - inner)).max(0.0)
    }

    /// How far (theta, xi) is from stationarity: the violation of the factor's KKT condition.
    #[inline(always)]
    pub fn kkt(&self, theta: &[f64], xi: &[f64]) -> f64 {
        let size = norm(theta);
        if size == 0.0 {
            return (norm(xi) - self.level).max(0.0);
        }
        // One feature, by far the most common: no division and no root.
        if let ([t], [x]) = (theta, xi) {
            return (x - self.lambda1 * t - self.level.copysign(*t)).abs();
        }
        let factor = self.lambda1 + self.level / size;
        theta.iter().zip(xi).map(|(t, x)| (x - factor * t).powi(2)).sum::<f64>().sqrt()
    }
}

/// The two penalties of one fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lambda {
    /// Ridge.
    pub lambda1: f64,
    /// Group penalty.
    pub lambda2: f64,
}

impl Lambda {
    /// The penalty of a factor with penalty factor `weight`.
    pub fn penalty(&self, weight: f64) -> Penalty {
        Penalty { lambda1: self.lambda1, level: level(self.lambda2, weight) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PENALTY: Penalty = Penalty { lambda1: 0.3, level: 0.7 };

    /// A theta and an xi in general position.
    const POINTS: [([f64; 2], [f64; 2]); 4] = [
        ([0.4, -1.1], [0.9, -1.5]),
        ([0.0, 0.0], [0.9, -1.5]),
        ([0.4, -1.1], [0.1, 0.2]),
        ([0.0, 0.0], [0.1, 0.2]),
    ];

    #[test]
    fn gap_is_the_fenchel_gap() {
        for (theta, xi) in POINTS {
            let inner: f64 = theta.iter().zip(xi).map(|(t, x)| t * x).sum();
            let plain = PENALTY.value(&theta) + PENALTY.conjugate(norm(&xi)) - inner;
            assert!((PENALTY.gap(&theta, &xi) - plain).abs() < 1e-14);
        }
    }

    #[test]
    fn gap_and_kkt_vanish_at_the_maximiser() {
        for (_, xi) in POINTS {
            let theta = xi.map(|x| x * PENALTY.shrink(norm(&xi)));
            assert!(PENALTY.gap(&theta, &xi) < 1e-15);
            assert!(PENALTY.kkt(&theta, &xi) < 1e-15);
        }
    }

    #[test]
    fn prox_minimises() {
        let step = 0.4;
        for (point, _) in POINTS {
            let cost = |z: &[f64; 2]| {
                let far: f64 = z.iter().zip(point).map(|(a, b)| (a - b).powi(2)).sum();
                far / (2.0 * step) + PENALTY.value(z)
            };
            let mut best = point;
            PENALTY.prox(step, &mut best);
            for turn in 0..16 {
                let angle = f64::from(turn) * std::f64::consts::PI / 8.0;
                let near = [best[0] + 1e-3 * angle.cos(), best[1] + 1e-3 * angle.sin()];
                assert!(cost(&best) < cost(&near));
            }
        }
    }

    #[test]
    fn an_infinite_level_costs_nothing_at_zero() {
        let excluded = Penalty { lambda1: 0.0, level: level(0.0, f64::INFINITY) };
        assert_eq!(excluded.value(&[0.0]), 0.0);
        assert_eq!(excluded.conjugate(5.0), 0.0);
        assert_eq!(excluded.kkt(&[0.0], &[5.0]), 0.0);
    }
}
