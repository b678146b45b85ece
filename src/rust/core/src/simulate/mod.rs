//! Samples from known networks.

pub mod gaussian;

mod components;
mod couplings;
mod slice;

pub mod chains;
pub mod diamond;
pub mod genes;
pub mod ising;
