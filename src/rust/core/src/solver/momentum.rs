//! Nesterov's momentum with restarts, for accelerated gradient steps.

/// Grows from step to step, and starts again where a step overshoots.
#[derive(Debug, Clone, Copy)]
pub struct Momentum(f64);

impl Default for Momentum {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Momentum {
    /// How far beyond the new point, in units of the way from the last one, to go on from; `None` to
    /// go on from the new point itself. `turn` is positive where the step turned back against the
    /// momentum that led to it.
    pub fn advance(&mut self, turn: f64) -> Option<f64> {
        if turn > 0.0 {
            self.0 = 1.0;
            return None;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * self.0 * self.0).sqrt());
        let beyond = (self.0 - 1.0) / grown;
        self.0 = grown;
        Some(beyond)
    }
}
