//! Coefficients of a few factors, all others zero.

/// The coefficients of the non-zero factors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coefficients {
    factors: Vec<usize>,
    starts: Vec<usize>,
    theta: Vec<f64>,
}

impl Coefficients {
    /// Add a factor with one coefficient for each of its features.
    pub fn push(&mut self, factor: usize, theta: &[f64]) {
        self.factors.push(factor);
        self.starts.push(self.theta.len());
        self.theta.extend_from_slice(theta);
    }

    /// How many factors.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// How many coefficients these have.
    pub fn values(&self) -> usize {
        self.theta.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Each factor with its coefficients.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let ends = self.starts.iter().skip(1).copied().chain([self.theta.len()]);
        let spans = self.starts.iter().copied().zip(ends);
        self.factors
            .iter()
            .zip(spans)
            .map(|(factor, (start, end))| (*factor, &self.theta[start..end]))
    }
}
