//! Tests of every edge for a change, given a set of factors that takes up what has changed.
//!
//! With `D = Omega_y - Omega_x`, the difference of the precision matrices of two standardised
//! samples, `G(D) = sym(S_x D S_y) - (S_x - S_y)` is zero at the truth. `edges` solves it on a
//! *support* and tests every edge given that; `moderate` lets the variances of all edges borrow from
//! each other; `shuffles` gives their null without tables. `neighbours` is another test of the same
//! edges, by regressions of every variable on the others. `units` adds the influences of observations
//! that belong together up before they are squared. `logistic` does for a table of any features what
//! `edges` does for products, and `beyond` makes such tables of what correlations do not show.

mod special;
mod student;

mod moderate;
mod sample;

mod moments;
mod support;

mod edges;
mod units;

mod shuffles;

mod lasso;
mod neighbours;

mod beyond;
mod logistic;

pub use beyond::{BeyondFeatures, Polynomials, BEYOND_TERMS};
pub use edges::{score_edges, ScoreTests};
pub use logistic::{logistic_shuffles, logistic_tests, LogisticSettings, LogisticTests};
pub use moderate::{moderate, Moderated, Statistics};
pub use neighbours::{neighbour_tests, Contrast, NeighbourTests, Neighbours};
pub use sample::{Pair, Sample, Scaled};
pub use shuffles::{shuffle_null, Null, Seen};
pub use units::{score_edges_by_unit, Units};

/// How many edges there are between this many variables.
pub fn edge_count(variables: usize) -> usize {
    variables * variables.saturating_sub(1) / 2
}

/// Where the edge of variables i < j stands among all: those of one j lie side by side.
pub fn edge_index(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}
