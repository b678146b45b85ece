//! Loops that all stages share: vector instructions, register tiles of cross-products, Cholesky.

pub mod simd;

pub mod tiles;

pub mod cholesky;
