//! Fits along a falling sequence of lambda2, each started from the one before.
//!
//! The grid, the settings, the steps and the path are those of every method. `solver` has the ways to
//! fit one lambda2 after the other, `convex` makes one such fit, and the loops around it are in files of
//! their own: `trimmed` for outliers, `reweighted` for penalties that are not convex. `kliep` puts them
//! together, and `held_out` goes down several paths at once.

mod grid;

mod settings;

mod steps;

pub mod solver;

mod convex;

mod trim_weights;

mod trimmed;

mod reweighted;

mod kliep;

pub mod held_out;

pub use grid::{Grid, LambdaStep};
pub use kliep::{fit, DensityRatio, KliepPath, KliepStep};
pub use settings::{Normalizer, Settings, SolverChoice};
pub use steps::{along_grid, Path, Step};
