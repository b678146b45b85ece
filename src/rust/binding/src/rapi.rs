//! The few things R's C interface does for us that extendr has not; written in C, in
//! src/entrypoint.c, because each has to stop R's long jumps before they reach a Rust frame.

use crate::guard::{Failure, Result};
use extendr_api::prelude::*;
use std::ffi::{c_char, c_int, c_void, CStr};

extern "C" {
    fn kliepnet_poll() -> c_int;
    fn kliepnet_poll_message() -> *const c_char;
    fn kliepnet_allocate_doubles(rows: f64, columns: f64) -> *mut c_void;
    fn kliepnet_leave_signals_to_r();
}

/// What R has to say to a computation that keeps it waiting.
pub enum Poll {
    /// Nothing.
    GoOn,
    /// Ctrl-C.
    Interrupted,
    /// An R error, such as a time limit that has passed.
    Error(String),
}

/// Give R a moment. On R's main thread only.
pub fn poll() -> Poll {
    // SAFETY: called from the thread R called us on; all R conditions are caught in C.
    match unsafe { kliepnet_poll() } {
        0 => Poll::GoOn,
        1 => Poll::Interrupted,
        _ => {
            // SAFETY: a static, NUL-terminated buffer that only `kliepnet_poll()` writes to.
            let message = unsafe { CStr::from_ptr(kliepnet_poll_message()) };
            Poll::Error(message.to_string_lossy().into_owned())
        }
    }
}

/// Keep R's signal handlers, which may jump, off the calling thread: for workers.
pub fn leave_signals_to_r() {
    // SAFETY: changes the signal mask of the calling thread and nothing else.
    unsafe { kliepnet_leave_signals_to_r() }
}

/// An R matrix of doubles, not filled in; R's "cannot allocate" becomes a failure.
pub fn allocate_doubles(rows: usize, columns: usize) -> Result<Robj> {
    // SAFETY: called from R's main thread; the R error is caught in C, and `from_sexp` protects
    // the new object before anything else is allocated.
    let matrix = unsafe {
        let object = kliepnet_allocate_doubles(rows as f64, columns as f64);
        Robj::from_sexp(object.cast())
    };
    if matrix.is_null() {
        Err(Failure::argument(format!("R has no memory for a {rows} x {columns} matrix")))
    } else {
        Ok(matrix)
    }
}
