//! Gaussian networks, whose normaliser is known in closed form: no weights on samples are needed.

mod loss;
mod model;

pub use loss::{Entry, GaussianLoss, Local};
pub use model::Model;
