//! The handling of an interrupt (SIGINT, SIGTERM, SIGHUP): the work in progress is canceled, cleans
//! up after itself and leaves nothing; or, when that was requested, the search ends and the best
//! release found is written.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::Cancel;

use crate::failure::say;

static CANCEL: OnceLock<Cancel> = OnceLock::new();
static KEEPS_BEST: AtomicBool = AtomicBool::new(false);

/// The switch that an interrupt turns on.
pub(crate) fn cancel() -> &'static Cancel {
    CANCEL.get_or_init(Cancel::new)
}

/// From now on a first interrupt ends the search with the best found; a second one cancels.
pub(crate) fn keep_best() {
    KEEPS_BEST.store(true, Ordering::Relaxed);
}

/// Listens for interrupts from here on. A third one ends the process at once, as a kill would.
pub(crate) fn listen() {
    let interrupted = AtomicBool::new(false);
    let handler = move || {
        if cancel().is_canceled() {
            std::process::exit(crate::failure::FAILED.into());
        }
        if KEEPS_BEST.load(Ordering::Relaxed) && !interrupted.swap(true, Ordering::Relaxed) {
            say("interrupted: ending the search with the best found");
            cancel().finish_early();
        } else {
            cancel().cancel();
        }
    };
    // Without a handler an interrupt ends the process as it always did, and the next run clears up.
    let _ = ctrlc::set_handler(handler);
}
