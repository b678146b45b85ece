//! Confidence in single changes.

pub mod sample;

mod bootstrap;

pub mod hessian;

pub mod inverse_row;

mod refit;

mod influence;

mod first_stage;

pub mod debias;
