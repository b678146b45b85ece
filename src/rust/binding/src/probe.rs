//! Two functions that only fail and wait: the tests check the border with them.

use crate::convert;
use crate::guard::{guard, Failure};
use crate::run::run;
use extendr_api::prelude::*;
use rayon::prelude::*;
use std::panic::panic_any;
use std::time::{Duration, Instant};

/// Panic with this message: on R's thread ("main"), on the thread that `run()` starts ("worker"),
/// or in a parallel loop there ("pool").
#[extendr]
fn probe_panic(message: Robj, place: Robj) -> Robj {
    guard(|| {
        let message = convert::string(&message, "message")?.to_string();
        let quiet = Robj::from(());
        match convert::string(&place, "place")? {
            "main" => panic_any(message),
            "worker" => run(1, &quiet, |_| panic_any(message))?,
            "pool" => run(2, &quiet, |_| {
                (0..8).into_par_iter().for_each(|_| panic_any(message.clone()));
                Ok(())
            })?,
            _ => return Err(Failure::argument("`place` must be main, worker or pool")),
        }
        Ok(quiet)
    })
}

/// Wait for so many seconds in steps of a hundredth, then return the steps done.
#[extendr]
fn probe_wait(seconds: Robj, on_progress: Robj) -> Robj {
    const STEP: Duration = Duration::from_millis(10);
    guard(|| {
        let seconds = Duration::try_from_secs_f64(convert::double(&seconds, "seconds")?)
            .map_err(|error| Failure::argument(error.to_string()))?;
        let steps = run(1, &on_progress, |monitor| {
            let end = Instant::now() + seconds;
            monitor.start(seconds.div_duration_f64(STEP) as usize);
            while Instant::now() < end {
                monitor.check()?;
                std::thread::sleep(STEP);
                monitor.advance();
            }
            Ok(monitor.progress().0)
        })?;
        convert::counts(std::iter::once(steps))
    })
}

extendr_module! {
    mod probe;
    fn probe_panic;
    fn probe_wait;
}
