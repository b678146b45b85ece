//! Samples from known networks.

pub mod gaussian;

mod couplings;
mod slice;

pub mod chains;
pub mod diamond;
pub mod ising;
