//! Blocks of factors that are penalised together: with the share s on blocks as wholes, a block B costs
//! `lambda1/2 |theta_B|^2 + lambda2 ((1 - s) sum_t w_t |theta_t| + s v_B |theta_B|)`, summed over its
//! factors t, where `v_B^2 = sum_t w_t^2`. A block of one factor is that factor by itself.

use crate::error::{Error, Result};
use crate::objective::certificate::Certificate;
use crate::objective::penalty::{norm, Lambda, Penalty};
use std::ops::Range;

/// Halvings of the interval in which a block enters: all that doubles resolve.
const HALVINGS: usize = 200;

/// Which factors form blocks, and the share of the penalty that is on blocks as wholes.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    members: Vec<Vec<usize>>,
    share: f64,
}

impl Blocks {
    /// From the number of every factor's block, counted from 1; 0 is none.
    pub fn new(block_of: &[usize], share: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::Argument("the share of blocks must be from 0 to 1".into()));
        }
        let count = block_of.iter().copied().max().unwrap_or(0);
        if count > block_of.len() {
            return Err(Error::Argument("blocks must be numbered one after the other".into()));
        }
        let mut members = vec![Vec::new(); count];
        for (factor, block) in block_of.iter().enumerate().filter(|(_, block)| **block > 0) {
            members[block - 1].push(factor);
        }
        Ok(Self { members, share })
    }

    /// Whether all members are among this many factors.
    pub fn validate(&self, factors: usize) -> Result<()> {
        if self.members.iter().flatten().all(|factor| *factor < factors) {
            return Ok(());
        }
        Err(Error::Argument("blocks: there are fewer factors than members".into()))
    }

    /// The penalties at both lambdas on a design with `factors` factors; `part` says where the
    /// coefficients of each stand, and `w_t`. One without a penalty, or kept out, is by itself.
    pub fn at(
        &self,
        lambda: Lambda,
        factors: usize,
        part: impl Fn(usize) -> (Range<usize>, f64),
    ) -> BlockPenalties {
        let mut alone = vec![true; factors];
        let mut blocks = Vec::with_capacity(self.members.len());
        for members in &self.members {
            let held = |factor: &&usize| {
                let weight = part(**factor).1;
                weight > 0.0 && weight.is_finite()
            };
            let members: Vec<usize> = members.iter().filter(held).copied().collect();
            if members.len() < 2 {
                continue;
            }
            members.iter().for_each(|factor| alone[*factor] = false);
            let members: Vec<_> = members.into_iter().map(&part).collect();
            let weight = members.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
            blocks.push(BlockPenalty { lambda, share: self.share, members, weight });
        }
        let alone = (0..factors).filter(|factor| alone[*factor]).collect();
        BlockPenalties { blocks, alone }
    }
}

/// The penalties of all blocks, and the factors that are in none.
pub struct BlockPenalties {
    /// Of two factors or more.
    pub blocks: Vec<BlockPenalty>,
    /// Each has its own penalty.
    pub alone: Vec<usize>,
}

/// The penalty of one block at both lambdas.
pub struct BlockPenalty {
    lambda: Lambda,
    share: f64,
    /// Where the coefficients of each factor stand, and its weight.
    members: Vec<(Range<usize>, f64)>,
    /// `v_B`.
    weight: f64,
}

impl BlockPenalty {
    /// What one factor of this weight pays by itself.
    fn own(&self, lambda2: f64, weight: f64) -> Penalty {
        Penalty { lambda1: 0.0, level: lambda2 * (1.0 - self.share) * weight }
    }

    /// What the block pays as a whole.
    fn common(&self, lambda2: f64) -> f64 {
        lambda2 * self.share * self.weight
    }

    fn norm(&self, theta: &[f64]) -> f64 {
        let square = |(span, _): &(Range<usize>, f64)| norm(&theta[span.clone()]).powi(2);
        self.members.iter().map(square).sum::<f64>().sqrt()
    }

    /// `(1 - s) sum_t w_t |theta_t| + s v_B |theta_B|`.
    pub fn size(&self, theta: &[f64]) -> f64 {
        let own = |(span, weight): &(Range<usize>, f64)| weight * norm(&theta[span.clone()]);
        (1.0 - self.share) * self.members.iter().map(own).sum::<f64>()
            + self.share * self.weight * self.norm(theta)
    }

    /// The penalty's value.
    pub fn value(&self, theta: &[f64]) -> f64 {
        let size = self.size(theta);
        if size == 0.0 {
            return 0.0;
        }
        0.5 * self.lambda.lambda1 * self.norm(theta).powi(2) + self.lambda.lambda2 * size
    }

    /// `argmin_z 1/(2 step) |z - point|^2 + penalty(z)` over the block, in place: first every factor by
    /// itself, then all of them together, which is exact for norms that are nested.
    pub fn prox(&self, step: f64, point: &mut [f64]) {
        let Lambda { lambda1, lambda2 } = self.lambda;
        for (span, weight) in &self.members {
            self.own(lambda2, *weight).prox(step, &mut point[span.clone()]);
        }
        let (size, threshold) = (self.norm(point), step * self.common(lambda2));
        let factor =
            if size > threshold { (1.0 - threshold / size) / (1.0 + step * lambda1) } else { 0.0 };
        for (span, _) in &self.members {
            point[span.clone()].iter_mut().for_each(|x| *x *= factor);
        }
    }

    /// The norm of what the thresholds of single factors leave of xi.
    fn left(&self, lambda2: f64, xi: &[f64]) -> f64 {
        let excess = |(span, weight): &(Range<usize>, f64)| {
            (norm(&xi[span.clone()]) - self.own(lambda2, *weight).level).max(0.0).powi(2)
        };
        self.members.iter().map(excess).sum::<f64>().sqrt()
    }

    /// The block's share of the duality gap of (theta, xi). The norms are positively homogeneous: the
    /// conjugate is the square of what all thresholds leave of xi, over `2 lambda1`.
    pub fn gap(&self, theta: &[f64], xi: &[f64]) -> f64 {
        let Lambda { lambda1, lambda2 } = self.lambda;
        let excess = (self.left(lambda2, xi) - self.common(lambda2)).max(0.0);
        let inner = |(span, _): &(Range<usize>, f64)| -> f64 {
            span.clone().map(|at| theta[at] * xi[at]).sum()
        };
        let inner: f64 = self.members.iter().map(inner).sum();
        (self.value(theta) + excess * excess / (2.0 * lambda1) - inner).max(0.0)
    }

    /// How far (theta, xi) is from stationarity.
    pub fn kkt(&self, theta: &[f64], xi: &[f64]) -> f64 {
        let Lambda { lambda1, lambda2 } = self.lambda;
        let size = self.norm(theta);
        if size == 0.0 {
            return (self.left(lambda2, xi) - self.common(lambda2)).max(0.0);
        }
        // The norm of a block that is not zero has a gradient: a ridge, as far as one factor sees it.
        let ridge = lambda1 + self.common(lambda2) / size;
        let one = |(span, weight): &(Range<usize>, f64)| {
            let penalty = Penalty { lambda1: ridge, ..self.own(lambda2, *weight) };
            penalty.kkt(&theta[span.clone()], &xi[span.clone()])
        };
        self.members.iter().map(one).fold(0.0, f64::max)
    }

    /// The smallest lambda2 at which the block is zero where minus the gradient there is `xi`.
    pub fn entry(&self, xi: &[f64]) -> f64 {
        let zero = |lambda2: f64| self.left(lambda2, xi) <= self.common(lambda2);
        // At twice this, the larger of both shares alone makes it zero.
        let least = self.members.iter().map(|(_, w)| *w).fold(f64::INFINITY, f64::min);
        let (mut low, mut high) = (0.0, 2.0 * self.norm(xi) / least);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if zero(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// Add the block to a certificate.
    pub fn certify(&self, certificate: &mut Certificate, theta: &[f64], xi: &[f64]) {
        certificate.objective += self.value(theta);
        certificate.kkt = certificate.kkt.max(self.kkt(theta, xi));
        if self.lambda.lambda1 > 0.0 {
            certificate.gap += self.gap(theta, xi);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Factors of one, two and one coefficients, the first two and the last in one block.
    fn block(share: f64) -> BlockPenalty {
        let spans = [0..1, 1..3, 3..4];
        let weights = [1.0, 1.4, 0.8];
        let lambda = Lambda { lambda1: 0.3, lambda2: 0.5 };
        let blocks = Blocks::new(&[1, 1, 1], share).unwrap();
        blocks.at(lambda, 3, |t| (spans[t].clone(), weights[t])).blocks.remove(0)
    }

    const POINTS: [[f64; 4]; 4] = [
        [0.9, -1.5, 0.4, 0.1],
        [0.2, -0.1, 0.1, 0.05],
        [2.0, 0.1, 0.0, -3.0],
        [0.0, 0.0, 4.0, 0.0],
    ];
    const SHARES: [f64; 4] = [0.0, 0.3, 0.7, 1.0];

    /// What maximises `xi'theta - penalty(theta)`: the prox of xi without the ridge, over lambda1.
    fn maximiser(block: &BlockPenalty, xi: &[f64; 4]) -> [f64; 4] {
        let lambda = Lambda { lambda1: 0.0, ..block.lambda };
        let members = block.members.clone();
        let plain = BlockPenalty { lambda, share: block.share, members, weight: block.weight };
        let mut theta = *xi;
        plain.prox(1.0, &mut theta);
        theta.map(|x| x / block.lambda.lambda1)
    }

    #[test]
    fn prox_minimises() {
        let step = 0.4;
        for (point, share) in POINTS.iter().flat_map(|p| SHARES.map(|share| (p, share))) {
            let block = block(share);
            let cost = |z: &[f64; 4]| {
                let far: f64 = z.iter().zip(point).map(|(a, b)| (a - b).powi(2)).sum();
                far / (2.0 * step) + block.value(z)
            };
            let mut best = *point;
            block.prox(step, &mut best);
            for turn in 0..81 {
                let near: Vec<f64> = (0..4)
                    .map(|k| best[k] + 1e-3 * (f64::from(turn / 3i32.pow(k as u32) % 3) - 1.0))
                    .collect();
                let near = [near[0], near[1], near[2], near[3]];
                assert!(cost(&best) <= cost(&near) + 1e-15, "{share} {point:?}");
            }
        }
    }

    #[test]
    fn gap_and_kkt_vanish_at_the_maximiser_alone() {
        for (xi, share) in POINTS.iter().flat_map(|p| SHARES.map(|share| (p, share))) {
            let block = block(share);
            let theta = maximiser(&block, xi);
            assert!(block.gap(&theta, xi) < 1e-13, "{share} {xi:?}");
            assert!(block.kkt(&theta, xi) < 1e-13, "{share} {xi:?}");
            let other = theta.map(|x| x + 0.1);
            assert!(block.gap(&other, xi) > 1e-4 && block.kkt(&other, xi) > 1e-3);
        }
    }

    #[test]
    fn a_block_enters_where_it_stops_being_zero() {
        for (xi, share) in POINTS.iter().flat_map(|p| SHARES.map(|share| (p, share))) {
            let mut block = block(share);
            let entry = block.entry(xi);
            block.lambda.lambda2 = entry * (1.0 + 1e-9);
            assert_eq!(block.norm(&maximiser(&block, xi)), 0.0, "{share} {xi:?}");
            block.lambda.lambda2 = entry * (1.0 - 1e-9);
            assert!(block.norm(&maximiser(&block, xi)) > 0.0, "{share} {xi:?}");
        }
    }

    #[test]
    fn factors_without_a_penalty_or_kept_out_are_by_themselves() {
        let blocks = Blocks::new(&[1, 1, 1, 2, 0], 0.5).unwrap();
        let weights = [1.0, 0.0, f64::INFINITY, 1.0, 1.0];
        let lambda = Lambda { lambda1: 0.1, lambda2: 1.0 };
        let at = blocks.at(lambda, 5, |t| (t..t + 1, weights[t]));
        assert!(at.blocks.is_empty() && at.alone == [0, 1, 2, 3, 4]);
        assert!(Blocks::new(&[9], 0.5).is_err() && Blocks::new(&[1], 1.5).is_err());
        assert!(blocks.validate(3).is_err() && blocks.validate(4).is_ok());
    }
}
