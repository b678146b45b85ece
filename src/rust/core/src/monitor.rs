//! The one thing a running fit shares with whoever started it: how far it is, and whether to stop.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Progress out, cancellation in. Cheap enough to look at in every iteration.
#[derive(Debug, Default)]
pub struct Monitor {
    cancelled: AtomicBool,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Monitor {
    /// A monitor with nothing done and nothing cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ask the computation to end at the next look.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// `Err(Interrupted)` once cancelled: `monitor.check()?` in every loop that may run long.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Say how many steps there will be.
    pub fn start(&self, total: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// One step is done.
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Steps done, and steps in all (0 before `start`).
    pub fn progress(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}
