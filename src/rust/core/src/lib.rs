//! Sparse changes between two Markov networks by density-ratio estimation (KLIEP).
//!
//! Nothing here knows about R. The modules are the stages that the data pass, in this order; a stage
//! uses only those declared before it, and `tests/suite/stages.rs` checks that.

pub mod error;
pub mod monitor;

pub mod numerics;

pub mod samples;

pub mod features;

pub mod objective;

pub mod design;

pub mod solver;

pub mod path;

pub mod inference;

pub mod compare;

pub mod simulate;
