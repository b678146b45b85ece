//! How a path is computed, in the words of R's arguments.

use crate::objective::reweight::PenaltyShape;
use crate::path::grid::Grid;

/// Which solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverChoice {
    /// A growing working set, and on it the solver that fits its shape.
    Auto,
    /// Proximal gradient on all factors.
    Primal,
    /// L-BFGS in the dual on all factors; needs lambda1 > 0.
    Dual,
}

/// Where the normaliser of the density ratio comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalizer {
    /// The mean over the sample in the denominator.
    Empirical,
    /// The closed form of zero-mean Gaussians with the samples' second moments.
    Gaussian,
}

/// What a path is asked for. Methods to compare with have no choice of `penalty`, `robust`, `solver` and
/// `normalizer`, and do not read these.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Ridge (in fused-lasso regressions the lasso), the same along the path.
    pub lambda1: f64,
    /// The penalties that fall along the path.
    pub lambda2: Grid,
    /// Relative duality gap (lambda1 > 0), or violation of the optimality conditions relative to
    /// lambda_max (lambda1 = 0, and methods without a gap).
    pub tol: f64,
    /// Iterations for one lambda2.
    pub max_iter: usize,
    /// How the group penalty grows with a factor.
    pub penalty: PenaltyShape,
    /// The share of the numerators' rows that may be outliers: below one half.
    pub robust: f64,
    /// Which solver.
    pub solver: SolverChoice,
    /// Which normaliser; the Gaussian one has one solver.
    pub normalizer: Normalizer,
    /// The path ends with the step at which so many edges have been non-zero, here or before; factors
    /// must be those of pairs of variables.
    pub most_edges: Option<usize>,
}

impl Settings {
    /// The plain estimator at these penalties, to a tolerance of 1e-6.
    pub fn new(lambda1: f64, lambda2: Grid) -> Self {
        Self {
            lambda1,
            lambda2,
            tol: 1e-6,
            max_iter: 20_000,
            penalty: PenaltyShape::GroupLasso,
            robust: 0.0,
            solver: SolverChoice::Auto,
            normalizer: Normalizer::Empirical,
            most_edges: None,
        }
    }
}
