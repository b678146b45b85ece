//! Which factors are above a level, with few passes over all of them.
//!
//! One pass at some row weights keeps the factors with the largest `|xi|` and the level tau that all
//! others stay below. At other weights a pair that was left out can be above a level only if the
//! drift bound `a_u a_v` makes up the difference to tau: those few pairs are looked at, and a new
//! pass is made when they become many.

use crate::design::drift::Drift;
use crate::design::scan::{listed, Hits, Query, Scanner};
use crate::error::Result;
use crate::features::factors::factor_index;
use crate::features::Products;
use crate::monitor::Monitor;
use crate::objective::penalty_factor::PenaltyFactors;
use std::sync::Arc;

/// Up to this many multiplications a full pass costs less than the bookkeeping to avoid it.
const SMALL_PASS: usize = 1 << 24;
/// Factors looked at to guess where the largest `|xi|` begin.
const SAMPLE: usize = 8192;
/// The share of factors a reference keeps: one in this many.
const KEEP: usize = 128;
/// A new pass is due when one in this many factors would have to be looked at singly.
const RESCAN: usize = 64;
/// A reference keeps everything above this share of the level in question.
const MARGIN: f64 = 0.9;

/// Answers "which factors are above" along a path.
pub struct Screen {
    penalty_factor: Arc<PenaltyFactors>,
    /// The same without exceptions: passes go by it, and exceptions are looked at one by one.
    common: Arc<PenaltyFactors>,
    exceptions: Vec<usize>,
    products: Products,
    scanner: Scanner,
    reference: Option<Reference>,
    singles: Vec<usize>,
    /// The smallest penalty factor of a pair that is no exception.
    least: f64,
    passes: usize,
}

/// What one pass left behind.
struct Reference {
    /// Row weights of the pass.
    weights: Vec<f64>,
    /// No pair outside `hits` had `|xi_t| > level * w_t`.
    level: f64,
    hits: Hits,
}

impl Screen {
    /// Pack the features once for all passes.
    pub fn new(products: &Products, penalty_factor: &Arc<PenaltyFactors>) -> Self {
        let variables = products.variables();
        let common = penalty_factor.without_exceptions();
        Self {
            penalty_factor: penalty_factor.clone(),
            least: common.smallest_edge(variables),
            common,
            exceptions: penalty_factor.exceptions(),
            products: products.clone(),
            scanner: Scanner::new(products),
            reference: None,
            singles: (0..variables).map(|u| factor_index(u, u)).collect(),
            passes: 0,
        }
    }

    /// Full passes made so far.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Other exceptions to the same penalty factors: what the last pass found of all others holds.
    pub fn set_penalty_factor(&mut self, penalty_factor: &Arc<PenaltyFactors>) {
        self.penalty_factor = penalty_factor.clone();
        self.exceptions = penalty_factor.exceptions();
    }

    fn query<'b>(&'b self, weights: &'b [f64], level: f64) -> Query<'b> {
        Query { weights, penalty_factor: &self.penalty_factor, level }
    }

    fn small(&self) -> bool {
        self.products.factors() * self.products.rows() <= SMALL_PASS
    }

    /// The factors with the largest `|xi_t| / w_t`, among them certainly the largest of all.
    pub fn top(&mut self, weights: &[f64], monitor: &Monitor) -> Result<Hits> {
        let level = if self.small() { 0.0 } else { self.sampled_level(weights, monitor)? };
        self.pass(weights, level, monitor)
    }

    /// All penalised factors with `|xi_t| > level w_t`, and of those above the lower `hint` as many as
    /// are known without another pass.
    pub fn above(
        &mut self,
        weights: &[f64],
        level: f64,
        hint: f64,
        monitor: &Monitor,
    ) -> Result<Hits> {
        let hint = hint.min(level);
        if self.small() {
            return self.pass(weights, hint, monitor);
        }
        if let Some(candidates) = self.candidates(weights, level, hint) {
            let mut hits = listed(&self.products, self.query(weights, hint), &candidates, monitor)?;
            // A pair may be both kept and within reach.
            hits.sort_unstable_by_key(|hit| hit.variables);
            hits.dedup_by_key(|hit| hit.variables);
            return Ok(hits);
        }
        let keep = self.sampled_level(weights, monitor)?.min(MARGIN * level);
        let hits = self.pass(weights, keep, monitor)?;
        Ok(hits.into_iter().filter(|hit| hit.ratio() > hint).collect())
    }

    /// The factors that have to be looked at, or `None` if a full pass is due.
    fn candidates(&self, weights: &[f64], level: f64, hint: f64) -> Option<Vec<usize>> {
        let reference = self.reference.as_ref()?;
        let delta: Vec<f64> =
            weights.iter().zip(&reference.weights).map(|(now, then)| now - then).collect();
        let drift = Drift::new(&self.products, &delta);
        let room = (level - reference.level) * self.least;
        if room.is_nan() || room <= 0.0 {
            return None;
        }
        let mut candidates = drift.pairs_beyond(room, self.products.factors() / RESCAN)?;
        for hit in &reference.hits {
            let (u, v) = (hit.variables.0 as usize, hit.variables.1 as usize);
            if u != v && hit.norm + drift.bound(u, v) > hint * hit.weight {
                candidates.push(hit.factor());
            }
        }
        // Few, and not covered by the bound over pairs.
        candidates.extend(&self.singles);
        candidates.extend(&self.exceptions);
        Some(candidates)
    }

    /// One pass over all factors, which becomes the reference.
    fn pass(&mut self, weights: &[f64], level: f64, monitor: &Monitor) -> Result<Hits> {
        self.passes += 1;
        let common = Query { weights, penalty_factor: &self.common, level };
        let mut hits = self.scanner.all(&self.products, common, monitor)?;
        if !self.small() {
            let weights = weights.to_vec();
            self.reference = Some(Reference { weights, level, hits: hits.clone() });
        }
        if !self.exceptions.is_empty() {
            hits.retain(|hit| self.exceptions.binary_search(&hit.factor()).is_err());
            let query = self.query(weights, level);
            hits.extend(listed(&self.products, query, &self.exceptions, monitor)?);
        }
        Ok(hits)
    }

    /// The level above which about one factor in `KEEP` stands, from a sample spread over all.
    fn sampled_level(&self, weights: &[f64], monitor: &Monitor) -> Result<f64> {
        let factors = self.products.factors();
        // Multiples of an irrational share of the whole fall evenly and hit no pattern of the index.
        let share = (factors as f64 * 0.618_033_988_749_895) as usize;
        let sample: Vec<usize> = (0..SAMPLE).map(|i| i * share % factors).collect();
        // Below every level, so that every penalised factor of the sample is reported.
        let query = self.query(weights, -1.0);
        let mut ratios: Vec<f64> = listed(&self.products, query, &sample, monitor)?
            .iter()
            .map(|hit| hit.ratio())
            .collect();
        ratios.sort_unstable_by(|a, b| b.total_cmp(a));
        // Just below it: factors that tie with it must be among those kept.
        Ok(ratios.get(ratios.len() / KEEP).map_or(0.0, |ratio| ratio * (1.0 - 1e-9)))
    }
}
