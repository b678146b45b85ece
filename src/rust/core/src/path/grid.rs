//! The lambda2 values of a path.

/// Which values.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// These, falling.
    Given(Vec<f64>),
    /// From lambda_max down by equal factors.
    Geometric {
        /// How many.
        nlambda: usize,
        /// The last as a share of lambda_max.
        lambda_min_ratio: f64,
    },
}

impl Grid {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Self::Given(values) => values.len(),
            Self::Geometric { nlambda, .. } => *nlambda,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, for this lambda_max.
    pub fn values(&self, lambda_max: f64) -> Vec<f64> {
        match self {
            Self::Given(values) => values.clone(),
            Self::Geometric { nlambda, lambda_min_ratio } => {
                let gaps = nlambda.saturating_sub(1) as f64;
                let step = if *nlambda > 1 { lambda_min_ratio.ln() / gaps } else { 0.0 };
                (0..*nlambda).map(|k| lambda_max * (step * k as f64).exp()).collect()
            }
        }
    }
}

/// One lambda2 and its neighbours on the path.
#[derive(Debug, Clone, Copy)]
pub struct LambdaStep {
    /// The value before, or lambda_max.
    pub previous: f64,
    /// The value to fit at.
    pub current: f64,
    /// The value after, or the same.
    pub next: f64,
}

impl LambdaStep {
    /// The steps through a grid that starts at lambda_max.
    pub fn through(grid: &[f64], lambda_max: f64) -> impl Iterator<Item = Self> + '_ {
        grid.iter().enumerate().map(move |(k, lambda2)| Self {
            previous: if k == 0 { lambda_max.max(*lambda2) } else { grid[k - 1] },
            current: *lambda2,
            next: grid.get(k + 1).copied().unwrap_or(*lambda2),
        })
    }
}
