//! What can go wrong below the border, one variant for each thing a caller may want to tell apart.

use std::fmt;

/// A failure of the numeric core. The caller has validated shapes; what is left is numeric or asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// An argument the caller should have refused; the text names it.
    Argument(String),
    /// A feature of these columns (zero-based) is not a finite number on this sample.
    Overflow {
        /// First variable of the factor.
        first: usize,
        /// Second variable of the factor.
        second: usize,
    },
    /// The monitor was cancelled.
    Interrupted,
    /// A numeric routine failed in a way no input should cause.
    Numeric(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(what) => write!(out, "{what}"),
            Self::Overflow { first, second } => {
                write!(out, "a feature of columns {} and {} overflows", first + 1, second + 1)
            }
            Self::Interrupted => write!(out, "interrupted"),
            Self::Numeric(what) => write!(out, "{what}"),
        }
    }
}

impl std::error::Error for Error {}

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;
