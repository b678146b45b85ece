//! Methods that the density ratio is compared with: on the second moments of both samples, or by the
//! likelihood of two networks with normalisers by importance sampling.

mod moments;

pub use moments::Moments;

pub mod dtrace;

mod fused_penalty;

pub mod flasso;

mod paired_design;

pub mod importance;
