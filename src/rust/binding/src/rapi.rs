//! The few things R's C interface does for us that extendr has not; written in C, in
//! src/entrypoint.c, because each has to stop R's long jumps before they reach a Rust frame.

#![allow(unsafe_code)] // The one file that calls C.

use crate::guard::{Failure, Kind, Result};
use extendr_api::prelude::*;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;

extern "C" {
    fn kliepnet_poll() -> c_int;
    fn kliepnet_failure_message() -> *const c_char;
    fn kliepnet_allocate_doubles(rows: f64, columns: f64, value: *mut *mut c_void) -> c_int;
    fn kliepnet_leave_signals_to_r();
}

/// The member of `enum answer` in src/entrypoint.c with this name.
const NO_MEMORY: c_int = 3;

/// The other members of `enum answer`.
fn read_answer(answer: c_int) -> Result<()> {
    match answer {
        0 => Ok(()),
        1 => Err(Failure::interrupted()),
        _ => Err(Failure::new(Kind::Limit, failure_message())),
    }
}

fn failure_message() -> String {
    // SAFETY: takes nothing and returns the address of a static.
    let text = unsafe { kliepnet_failure_message() };
    // SAFETY: that static ends in a NUL, and only calls from this thread write to it.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// Give R a moment: a failure is Ctrl-C, or an R error such as a time limit that has passed. On
/// R's main thread only.
pub fn poll() -> Result<()> {
    // SAFETY: called from the thread R called us on; whatever R throws is caught in C.
    read_answer(unsafe { kliepnet_poll() })
}

/// Keep R's signal handlers, which may jump, off the calling thread: for workers.
pub fn leave_signals_to_r() {
    // SAFETY: changes the signal mask of the calling thread and nothing else.
    unsafe { kliepnet_leave_signals_to_r() }
}

/// An R matrix of doubles, not filled in; R's "cannot allocate" becomes a failure.
pub fn allocate_doubles(rows: usize, columns: usize) -> Result<Robj> {
    let mut object = ptr::null_mut();
    // SAFETY: called from R's main thread; whatever R throws is caught in C, which writes to
    // `object` and keeps no address of it.
    let answer = unsafe { kliepnet_allocate_doubles(rows as f64, columns as f64, &mut object) };
    if answer == NO_MEMORY {
        let message = format!("R has no memory for a {rows} x {columns} matrix");
        return Err(Failure::new(Kind::Memory, message));
    }
    read_answer(answer)?;
    // SAFETY: the answer says that `object` is an R matrix; `from_sexp` protects it before
    // anything else is allocated.
    Ok(unsafe { Robj::from_sexp(object.cast()) })
}
