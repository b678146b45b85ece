//! How strongly each factor is penalised: the `w_t` of `lambda2 sum_t w_t |theta_t|`.

use crate::error::{Error, Result};
use crate::features::factors::{factor_index, factor_variables, FactorMap};
use std::sync::Arc;

/// The penalty factors `w_t >= 0`: zero is not penalised, infinity is never let in.
#[derive(Debug, Clone, PartialEq)]
pub enum PenaltyFactors {
    /// One for single variables, one for pairs.
    ByKind {
        /// `w_t` of a factor (u, u).
        single: f64,
        /// `w_t` of a factor (u, v), u > v.
        edge: f64,
    },
    /// One for each factor, in the order of their index.
    Each(Vec<f64>),
    /// Those of `base`, each `times` as large, but for a few factors that have their own.
    Except {
        /// What most factors have.
        base: Arc<PenaltyFactors>,
        /// A positive multiple.
        times: f64,
        /// `w_t` of the others.
        own: FactorMap<f64>,
    },
}

/// A multiple of a penalty factor: zero stays zero, also if the multiple is infinite.
fn multiple(times: f64, weight: f64) -> f64 {
    if weight == 0.0 {
        0.0
    } else {
        times * weight
    }
}

impl PenaltyFactors {
    /// Every factor alike.
    pub fn equal() -> Self {
        Self::ByKind { single: 1.0, edge: 1.0 }
    }

    /// No NaN, nothing negative, one for each of `factors`.
    pub fn validate(&self, factors: usize) -> Result<()> {
        let valid = match self {
            Self::ByKind { single, edge } => *single >= 0.0 && *edge >= 0.0,
            Self::Each(values) => values.len() == factors && values.iter().all(|w| *w >= 0.0),
            Self::Except { base, times, own } => {
                base.validate(factors)?;
                *times > 0.0 && own.iter().all(|(factor, w)| *factor < factors && *w >= 0.0)
            }
        };
        if valid {
            Ok(())
        } else {
            Err(Error::Argument(format!("penalty factors: {factors} numbers >= 0 are needed")))
        }
    }

    /// `w_t` of the factor of variables u >= v.
    #[inline(always)]
    pub fn of(&self, u: usize, v: usize) -> f64 {
        match self {
            Self::ByKind { single, edge } => {
                if u == v {
                    *single
                } else {
                    *edge
                }
            }
            Self::Each(values) => values[factor_index(u, v)],
            Self::Except { .. } => self.at(factor_index(u, v)),
        }
    }

    /// `w_t` of a factor by its number.
    pub fn at(&self, factor: usize) -> f64 {
        match self {
            Self::ByKind { .. } => {
                let (u, v) = factor_variables(factor);
                self.of(u, v)
            }
            Self::Each(values) => values[factor],
            Self::Except { base, times, own } => match own.get(&factor) {
                Some(weight) => *weight,
                None => multiple(*times, base.at(factor)),
            },
        }
    }

    /// The same without exceptions: what a pass over all factors can go by.
    pub fn without_exceptions(self: &Arc<Self>) -> Arc<Self> {
        match self.as_ref() {
            Self::Except { base, times, own } if !own.is_empty() => {
                let own = FactorMap::default();
                Arc::new(Self::Except { base: base.clone(), times: *times, own })
            }
            _ => self.clone(),
        }
    }

    /// The factors that are exceptions, in order.
    pub fn exceptions(&self) -> Vec<usize> {
        match self {
            Self::Except { own, .. } => {
                let mut factors: Vec<usize> = own.keys().copied().collect();
                factors.sort_unstable();
                factors
            }
            _ => Vec::new(),
        }
    }

    /// The smallest positive `w_t` of a pair: what a bound over pairs may divide by.
    pub fn smallest_edge(&self, variables: usize) -> f64 {
        match self {
            Self::ByKind { edge, .. } if *edge > 0.0 => *edge,
            Self::ByKind { .. } => f64::INFINITY,
            Self::Each(values) => (0..variables)
                .flat_map(|u| &values[factor_index(u, 0)..factor_index(u, u)])
                .filter(|w| **w > 0.0)
                .fold(f64::INFINITY, |least, w| least.min(*w)),
            Self::Except { base, times, own } => {
                let edge = |factor: usize| {
                    let (u, v) = factor_variables(factor);
                    u != v
                };
                own.iter()
                    .filter(|(factor, w)| **w > 0.0 && edge(**factor))
                    .fold(times * base.smallest_edge(variables), |least, (_, w)| least.min(*w))
            }
        }
    }

    /// The smallest positive `w_t` of any factor.
    pub fn smallest(&self) -> f64 {
        let given: &[f64] = match self {
            Self::ByKind { single, edge } => &[*single, *edge],
            Self::Each(values) => values,
            Self::Except { base, times, own } => {
                let own = own.values().filter(|w| **w > 0.0);
                return own.fold(times * base.smallest(), |least, w| least.min(*w));
            }
        };
        given.iter().filter(|w| **w > 0.0).fold(f64::INFINITY, |least, w| least.min(*w))
    }

    /// Those of `factors` factors that carry no penalty.
    pub fn unpenalised(&self, factors: usize) -> Vec<usize> {
        match self {
            Self::ByKind { single, edge } if *single > 0.0 && *edge > 0.0 => Vec::new(),
            // Singles are numbered (u, u): no need to look at all pairs.
            Self::ByKind { edge, .. } if *edge > 0.0 => {
                (0..).map(|u| factor_index(u, u)).take_while(|factor| *factor < factors).collect()
            }
            Self::Except { base, own, .. } => {
                let mut free = base.unpenalised(factors);
                free.retain(|factor| !own.contains_key(factor));
                free.extend(own.iter().filter(|(_, w)| **w == 0.0).map(|(factor, _)| *factor));
                free.sort_unstable();
                free
            }
            _ => (0..factors).filter(|factor| self.at(*factor) == 0.0).collect(),
        }
    }
}
