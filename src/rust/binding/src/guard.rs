//! The one way out to R: a value, or a failure as a tagged list. Never a panic, never an R error.
//!
//! An R error is a long jump and would skip the destructors of every Rust frame it crosses, so
//! failures travel as ordinary values; R/fit-rust.R turns them into conditions once Rust has unwound.

use extendr_api::prelude::*;
use kliepnet_core::error::Error as CoreError;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

/// What R may want to tell apart; `name()` is the `kind` it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An argument R should have refused.
    Argument,
    /// A feature is not a finite number on this sample.
    Overflow,
    /// Ctrl-C.
    Interrupted,
    /// R raised an error of its own while it waited: a time limit.
    Limit,
    /// A numeric routine failed in a way no input should cause.
    Numeric,
    /// The memory for what was asked for cannot be had.
    Memory,
    /// A panic: a bug.
    Panic,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Overflow => "overflow",
            Self::Interrupted => "interrupted",
            Self::Limit => "limit",
            Self::Numeric => "numeric",
            Self::Memory => "memory",
            Self::Panic => "panic",
        }
    }
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    kind: Kind,
    message: String,
}

/// The binding's result.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of this kind with a text for the user.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// An argument that R should have refused.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Kind::Argument, message)
    }

    /// Ctrl-C.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted")
    }

    /// What `catch_unwind` caught, with the place it was raised at.
    pub fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let what = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_string())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_string());
        let message = match take_panic_place() {
            Some(place) => format!("{what} (at {place})"),
            None => what,
        };
        Self::new(Kind::Panic, message)
    }

    /// `structure(list(kind = , message = ), class = "kliep_failure")`.
    pub fn into_robj(self) -> Robj {
        // R ends a string at its first NUL, and raises an error about it.
        let message = self.message.replace('\0', " ");
        let values = [Robj::from(self.kind.name()), Robj::from(message)];
        List::from_names_and_values(["kind", "message"], values)
            .and_then(|mut list| {
                list.set_class(["kliep_failure"])?;
                Ok(Robj::from(list))
            })
            // Setting two attributes on a fresh list only fails when R is out of memory.
            .unwrap_or_else(|_| Robj::from(()))
    }
}

impl From<CoreError> for Failure {
    fn from(error: CoreError) -> Self {
        let kind = match error {
            CoreError::Argument(_) => Kind::Argument,
            CoreError::Overflow { .. } => Kind::Overflow,
            CoreError::Interrupted => Kind::Interrupted,
            CoreError::Numeric(_) => Kind::Numeric,
            CoreError::Memory { .. } => Kind::Memory,
        };
        Self::new(kind, error.to_string())
    }
}

/// Where the last panic was raised. Global, not per thread: a panic in a pool's worker is raised
/// again, without a place, on the thread that waits for it.
static PANIC_PLACE: Mutex<Option<String>> = Mutex::new(None);

fn take_panic_place() -> Option<String> {
    PANIC_PLACE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Note the place and print nothing: what a panic has to say reaches R as a failure.
fn note_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
    *PANIC_PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
}

/// Run the body of an exported function: its value, or the failure R/fit-rust.R knows how to read.
pub fn guard(body: impl FnOnce() -> Result<Robj>) -> Robj {
    // The standard library is linked into this library alone, so the hook is nobody else's.
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| panic::set_hook(Box::new(note_panic)));
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => failure.into_robj(),
        Err(payload) => Failure::from_panic(payload.as_ref()).into_robj(),
    }
}
