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
    /// The memory for what was asked for cannot be had.
    Memory {
        /// How much that would be.
        bytes: f64,
    },
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
            Self::Memory { bytes } => {
                write!(out, "this takes {bytes:.3e} bytes of memory, which cannot be had")
            }
        }
    }
}

impl std::error::Error for Error {}

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;

/// An empty vector with room for `rows` times `columns` numbers. Asked for in this way, memory that
/// is not there is an error; otherwise it ends the process.
pub fn room_for(rows: usize, columns: usize) -> Result<Vec<f64>> {
    let mut room = Vec::new();
    let reserved = rows.checked_mul(columns).map(|count| room.try_reserve_exact(count));
    match reserved {
        Some(Ok(())) => Ok(room),
        _ => Err(Error::Memory { bytes: 8.0 * rows as f64 * columns as f64 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory does")]
    fn room_that_is_not_there_is_an_error() {
        assert!(room_for(3, 4).unwrap().capacity() >= 12);
        let bytes = 8.0 * 2f64.powi(50);
        assert_eq!(room_for(1 << 25, 1 << 25), Err(Error::Memory { bytes }));
        assert!(room_for(usize::MAX, 2).is_err());
    }
}
