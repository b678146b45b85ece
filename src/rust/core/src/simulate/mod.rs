//! Samples from known networks.

pub mod gaussian;
