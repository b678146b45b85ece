//! Long work: on a pool of its own, while R's main thread looks out for Ctrl-C and draws progress.
//!
//! R is single-threaded. Only the thread that called in may touch it; the workers see plain Rust
//! data and the monitor.

use crate::guard::{Failure, Kind, Result};
use crate::rapi;
use extendr_api::prelude::*;
use kliepnet_core::error::Result as CoreResult;
use kliepnet_core::monitor::Monitor;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often R looks for an interrupt: often enough for a user, seldom enough to cost nothing.
const POLL_EVERY: Duration = Duration::from_millis(50);
/// More than any machine has use for, and fewer than would exhaust it.
const MOST_THREADS: usize = 1024;
/// How often progress may be drawn: drawing is R code, and slower than looking.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// Run `work` on `threads` threads. Ctrl-C cancels the monitor; `work` is expected to end soon
/// after. `on_progress` is NULL or an R `function(done, total)` that returns TRUE to go on.
pub fn run<T, W>(threads: usize, on_progress: &Robj, work: W) -> Result<T>
where
    T: Send,
    W: FnOnce(&Monitor) -> CoreResult<T> + Send,
{
    let pool = pool(threads)?;
    let mut progress = Progress::new(on_progress)?;
    let monitor = Monitor::new();
    let (sender, receiver) = mpsc::channel();
    pool.in_place_scope(|scope| {
        // Leaving this closure by a panic would wait for the worker: tell it to stop first.
        let _cancel_on_drop = CancelOnDrop(&monitor);
        let monitor = &monitor;
        scope.spawn(move |_| {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| work(monitor)));
            // Sending fails only if nobody waits any more, and then nobody needs the result.
            let _ = sender.send(match outcome {
                Ok(result) => result.map_err(Failure::from),
                Err(payload) => Err(Failure::from_panic(payload.as_ref())),
            });
        });
        wait(&receiver, monitor, &mut progress)
    })
}

/// A pool for this call alone: the global one would outlive it, and a fork of R would inherit it
/// without its threads.
fn pool(threads: usize) -> Result<ThreadPool> {
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(Failure::argument(format!("`threads` must be from 1 to {MOST_THREADS}")));
    }
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("kliepnet-{index}"))
        .start_handler(|_| rapi::leave_signals_to_r())
        .build()
        .map_err(|error| Failure::argument(format!("cannot start {threads} threads: {error}")))
}

struct CancelOnDrop<'a>(&'a Monitor);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Wait for the outcome. An interrupt or an error of R meanwhile wins over what the worker brings.
fn wait<T>(outcome: &Receiver<Result<T>>, monitor: &Monitor, progress: &mut Progress) -> Result<T> {
    let mut stopped: Option<Failure> = None;
    loop {
        match outcome.recv_timeout(POLL_EVERY) {
            Ok(result) => {
                return match stopped {
                    Some(failure) => Err(failure),
                    None => {
                        if result.is_ok() {
                            progress.finish(monitor)?;
                        }
                        result
                    }
                };
            }
            Err(RecvTimeoutError::Timeout) if stopped.is_none() => {
                stopped = match look_around(monitor, progress) {
                    Ok(()) => None,
                    Err(failure) => {
                        monitor.cancel();
                        Some(failure)
                    }
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::new(Kind::Panic, "the worker ended without an answer"));
            }
        }
    }
}

fn look_around(monitor: &Monitor, progress: &mut Progress) -> Result<()> {
    rapi::poll()?;
    progress.draw(monitor)
}

/// The R function that draws, called when there is something new and not too often.
struct Progress {
    draw: Option<Function>,
    drawn: (usize, usize),
    at: Instant,
}

impl Progress {
    fn new(on_progress: &Robj) -> Result<Self> {
        let draw = match on_progress.as_function() {
            Some(function) => Some(function),
            None if on_progress.is_null() => None,
            None => return Err(Failure::argument("`on_progress` must be NULL or a function")),
        };
        Ok(Self { draw, drawn: (0, 0), at: Instant::now() })
    }

    fn draw(&mut self, monitor: &Monitor) -> Result<()> {
        if self.at.elapsed() < DRAW_EVERY {
            return Ok(());
        }
        self.finish(monitor)
    }

    /// Draw where things stand now, unless that is what was drawn last.
    fn finish(&mut self, monitor: &Monitor) -> Result<()> {
        let now = monitor.progress();
        let Some(function) = &self.draw else {
            return Ok(());
        };
        if now.1 == 0 || now == self.drawn {
            return Ok(());
        }
        self.drawn = now;
        self.at = Instant::now();
        let arguments = Pairlist::from_pairs([("done", now.0), ("total", now.1)]);
        // R/fit-rust.R wraps the function: FALSE is a Ctrl-C that arrived while it drew. An R error
        // here is one that the wrapper could not catch, and has been reported by R.
        match function.call(arguments) {
            Ok(go_on) if go_on.as_bool() == Some(true) => Ok(()),
            _ => Err(Failure::interrupted()),
        }
    }
}
