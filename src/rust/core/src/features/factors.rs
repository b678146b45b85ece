//! Factors by number: pairs of variables, and single ones.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Index of the factor of variables u >= v: pairs are numbered row by row, (u, u) last in its row.
pub fn factor_index(u: usize, v: usize) -> usize {
    u * (u + 1) / 2 + v
}

/// How many factors there are of this many variables: pairs and singles.
pub fn pairwise_factors(variables: usize) -> usize {
    factor_index(variables, 0)
}

/// The variables u >= v of a factor.
pub fn factor_variables(factor: usize) -> (usize, usize) {
    let mut u = (((8.0 * factor as f64 + 1.0).sqrt() - 1.0) / 2.0) as usize;
    // The square root may be off by one once 8 t exceeds 2^53.
    while factor_index(u, 0) > factor {
        u -= 1;
    }
    while factor_index(u + 1, 0) <= factor {
        u += 1;
    }
    (u, factor - factor_index(u, 0))
}

/// The same where the first of them is likely to be `u`: factors often come in order.
#[inline(always)]
pub fn factor_variables_near(factor: usize, u: usize) -> (usize, usize) {
    let before = factor_index(u, 0);
    if (before..=before + u).contains(&factor) {
        (u, factor - before)
    } else {
        factor_variables(factor)
    }
}

/// A hash by one multiplication: factor numbers are our own, so that nobody can choose colliding
/// ones.
#[derive(Debug, Default, Clone, Copy)]
pub struct FactorHasher(u64);

impl Hasher for FactorHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, factor: usize) {
        let mixed = (self.0 ^ factor as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Something for each of some factors.
pub type FactorMap<V> = HashMap<usize, V, BuildHasherDefault<FactorHasher>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_goes_both_ways() {
        let mut expected = 0;
        for u in 0..60 {
            for v in 0..=u {
                assert_eq!(factor_index(u, v), expected);
                assert_eq!(factor_variables(expected), (u, v));
                for near in [0, u.saturating_sub(1), u, u + 1] {
                    assert_eq!(factor_variables_near(expected, near), (u, v));
                }
                expected += 1;
            }
        }
    }

    #[test]
    fn numbering_survives_where_doubles_do_not_resolve_it() {
        for u in [92_681, 2_000_003, 94_906_265] {
            for v in [0, u - 1, u] {
                assert_eq!(factor_variables(factor_index(u, v)), (u, v));
            }
        }
    }
}
