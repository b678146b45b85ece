//! What is minimised: a loss over the rows of both samples, and a penalty on every factor.

pub mod loss;

pub mod penalty;

pub mod penalty_factor;

pub mod certificate;

pub mod blocks;

pub mod reweight;

pub mod problem;

pub mod gaussian;
