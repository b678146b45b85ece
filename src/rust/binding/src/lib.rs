//! R binding of kliepnet-core: conversions, failures, interrupts, progress, threads. No arithmetic.
//!
//! Every exported function takes `Robj`s, runs its body inside `guard()` and returns a value or a
//! failure; extendr's own conversions and errors are not used, because they jump.

#![allow(missing_docs)] // What `extendr_module!` makes is public and has no documentation.

mod convert;
mod guard;
mod rapi;
mod run;

mod family;
mod settings;
mod steps;

mod compare;
mod fit;
mod inference;
mod probe;
mod refits;
mod score;
mod scores;
mod simulate;

use extendr_api::prelude::*;

extendr_module! {
    mod kliepnet;
    use compare;
    use fit;
    use inference;
    use probe;
    use refits;
    use score;
    use scores;
    use simulate;
}
