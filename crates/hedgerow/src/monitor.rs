//! Watching long work, and canceling it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far long work has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// The stage, such as `reading` or `searching`.
    pub phase: &'a str,
    /// The share of this phase that is done, from 0 to 1, where it can be known. It never falls
    /// within a phase.
    pub fraction: Option<f64>,
}

/// Cancels work from another thread. Clones share one switch, which stays on once it is on.
///
/// ```
/// let cancel = hedgerow::Cancel::new();
/// let other = cancel.clone();
/// std::thread::spawn(move || other.cancel()).join().unwrap();
/// assert!(cancel.is_canceled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    canceled: Arc<AtomicBool>,
    finishing: Arc<AtomicBool>,
}

impl Cancel {
    /// A switch that is off.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops the work: it ends with [`ErrorKind::Canceled`](crate::ErrorKind::Canceled) and leaves
    /// nothing.
    pub fn cancel(&self) {
        self.canceled.store(true, Ordering::Relaxed);
    }

    /// Stops the search: it ends with the best release found so far, when there is one.
    pub fn finish_early(&self) {
        self.finishing.store(true, Ordering::Relaxed);
    }

    /// Whether it was canceled.
    pub fn is_canceled(&self) -> bool {
        self.canceled.load(Ordering::Relaxed)
    }

    fn finishes_early(&self) -> bool {
        self.finishing.load(Ordering::Relaxed)
    }
}

type Listener<'a> = Box<dyn Fn(Progress<'_>) + Sync + 'a>;
type Finds<'a> = Box<dyn Fn(&str) + Sync + 'a>;

/// Listens to long work and can cancel it; [`Monitor::default`] does neither.
///
/// ```
/// let cancel = hedgerow::Cancel::new();
/// let monitor = hedgerow::Monitor::default()
///     .on_progress(|progress| eprintln!("{} {:?}", progress.phase, progress.fraction))
///     .cancel_by(&cancel);
/// # drop(monitor);
/// ```
#[derive(Default)]
pub struct Monitor<'a> {
    listener: Option<Listener<'a>>,
    finds: Option<Finds<'a>>,
    cancel: Cancel,
    phase: Mutex<Phase>,
    /// Of the current phase, in its own unit.
    done: AtomicU64,
}

#[derive(Debug, Default)]
struct Phase {
    name: String,
    total: Option<u64>,
    /// The last permille that was reported: the listener is called for changes, not for every row.
    reported: u64,
}

impl std::fmt::Debug for Monitor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl<'a> Monitor<'a> {
    /// Calls `listener` when a phase begins and whenever its share done has changed noticeably.
    /// Calls come from any thread, one at a time.
    pub fn on_progress(mut self, listener: impl Fn(Progress<'_>) + Sync + 'a) -> Monitor<'a> {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Calls `listener` whenever a search has found something better, with what it is in words:
    /// what [`Cancel::finish_early`] would end with.
    pub fn on_found(mut self, listener: impl Fn(&str) + Sync + 'a) -> Monitor<'a> {
        self.finds = Some(Box::new(listener));
        self
    }

    /// Lets `cancel` stop the work.
    pub fn cancel_by(mut self, cancel: &Cancel) -> Monitor<'a> {
        self.cancel = cancel.clone();
        self
    }
}

impl hedgerow_table::Progress for Monitor<'_> {
    fn stage(&self, name: &str, total: Option<u64>) {
        let Some(listener) = &self.listener else { return };
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *phase = Phase { name: name.to_owned(), total: total.filter(|&total| total > 0), reported: 0 };
        self.done.store(0, Ordering::Relaxed);
        listener(Progress { phase: name, fraction: phase.total.map(|_| 0.0) });
    }

    fn advance(&self, amount: u64) {
        let Some(listener) = &self.listener else { return };
        let done = self.done.fetch_add(amount, Ordering::Relaxed) + amount;
        // A thread that finds the lock taken leaves the report to the next one.
        let Ok(mut phase) = self.phase.try_lock() else { return };
        let Some(total) = phase.total else { return };
        let permille = (u128::from(done.min(total)) * 1000 / u128::from(total)) as u64;
        if permille > phase.reported {
            phase.reported = permille;
            listener(Progress { phase: &phase.name, fraction: Some(permille as f64 / 1000.0) });
        }
    }

    fn found(&self, what: &str) {
        if let Some(listener) = &self.finds {
            listener(what);
        }
    }

    fn is_canceled(&self) -> bool {
        self.cancel.is_canceled()
    }

    fn finishes_early(&self) -> bool {
        self.cancel.finishes_early()
    }
}
