//! Sparse changes between two Markov networks by density-ratio estimation (KLIEP).
//!
//! Nothing here knows about R. A module uses only what stands above it.

// The version of pulp that has AVX-512, in the place of the one that an older rustc compiles.
#[cfg(feature = "avx512")]
extern crate pulp_avx512 as pulp;

pub mod error;
pub mod monitor;

pub mod dense;
pub mod kernel;
pub mod simd;

pub mod data;
pub mod factors;
pub mod features;
pub mod loss;
pub mod penalty;
pub mod problem;
pub mod reweight;
pub mod scan;

pub mod screen;
pub mod streamed;
pub mod whole;
pub mod working;

pub mod solver;

pub mod gaussian;
pub mod strategy;
pub mod trim;

pub mod path;

pub mod inference;

pub mod baselines;

pub mod simulate;
