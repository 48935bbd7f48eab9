//! A phase of publishing as its listener sees it: one name and one total, whatever smaller steps
//! report inside; a share that never falls and ends at 1.

use std::sync::Mutex;

use hedgerow_table::Progress;

/// The phases of publishing, in order.
pub const PHASES: [&str; 5] = ["reading", "searching", "writing", "verifying", "auditing"];

pub(crate) struct Phase<'a> {
    progress: &'a dyn Progress,
    name: &'static str,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_open: bool,
    total: Option<u64>,
    done: u64,
}

impl std::fmt::Debug for Phase<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Phase").field(&self.name).finish()
    }
}

impl<'a> Phase<'a> {
    /// The first step that reports a total opens the phase with it; later steps change neither.
    pub(crate) fn new(progress: &'a dyn Progress, name: &'static str) -> Phase<'a> {
        debug_assert!(PHASES.contains(&name));
        Phase { progress, name, state: Mutex::default() }
    }

    /// A phase whose total is known from the start.
    pub(crate) fn of(progress: &'a dyn Progress, name: &'static str, total: u64) -> Phase<'a> {
        let phase = Phase::new(progress, name);
        phase.stage(name, Some(total));
        phase
    }

    /// Counts the rest as done.
    pub(crate) fn finish(self) {
        self.stage(self.name, Some(1));
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match state.total {
            Some(total) if total > state.done => self.progress.advance(total - state.done),
            Some(_) => {}
            // What had no share until now is done.
            None => {
                self.progress.stage(self.name, Some(1));
                self.progress.advance(1);
            }
        }
    }
}

impl Progress for Phase<'_> {
    fn stage(&self, _step: &str, total: Option<u64>) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !state.is_open {
            *state = State { is_open: true, total, done: 0 };
            self.progress.stage(self.name, total);
        }
    }

    fn advance(&self, amount: u64) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let left = state.total.map_or(u64::MAX, |total| total - state.done);
        let amount = amount.min(left);
        if amount > 0 {
            state.done += amount;
            self.progress.advance(amount);
        }
    }

    fn found(&self, what: &str) {
        self.progress.found(what);
    }

    fn is_canceled(&self) -> bool {
        self.progress.is_canceled()
    }

    fn finishes_early(&self) -> bool {
        self.progress.finishes_early()
    }
}
