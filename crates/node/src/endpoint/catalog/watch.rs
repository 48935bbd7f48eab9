//! Ends a statement over the catalog when its time is over, a client canceled it, or it takes too
//! much memory.
//!
//! SQLite counts the memory of the whole process and not of one connection, so its own limit would
//! also fail writes of the journal. The growth of the process since the statement began is an upper
//! bound for the statement: when it is exceeded, the statement ends, whichever part of the process
//! has grown.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::super::refusal::{CANCELED, OUT_OF_MEMORY, StatementRefusal};

/// Memory is measured at one of this many looks: it takes longer than looking at the clock.
const LOOKS_PER_MEASUREMENT: u32 = 8;

/// When a statement has to end.
#[derive(Debug, Clone)]
pub(crate) struct Until {
    pub(crate) deadline: Instant,
    pub(crate) canceled: Arc<AtomicBool>,
}

impl Until {
    pub(crate) fn is_over(&self) -> bool {
        self.canceled.load(Ordering::SeqCst) || Instant::now() >= self.deadline
    }
}

/// Watches the statement that a connection is answering.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<State>);

#[derive(Debug, Default)]
struct State {
    statement: Mutex<Option<Statement>>,
    looks: AtomicU32,
    out_of_memory: AtomicBool,
}

#[derive(Debug)]
struct Statement {
    until: Until,
    /// The most memory that the process may have while the statement runs.
    bytes_max: Option<u64>,
}

impl Watch {
    /// A statement begins that may add this much memory.
    pub(super) fn begin(&self, until: &Until, bytes_max: usize) {
        let bytes_max = resident_bytes().map(|now| now.saturating_add(bytes_max as u64));
        self.set(Some(Statement { until: until.clone(), bytes_max }));
        self.0.out_of_memory.store(false, Ordering::SeqCst);
    }

    pub(super) fn end(&self) {
        self.set(None);
    }

    fn set(&self, statement: Option<Statement>) {
        *self.0.statement.lock().unwrap_or_else(PoisonError::into_inner) = statement;
    }

    /// Whether the statement has to end.
    pub(super) fn is_over(&self) -> bool {
        let statement = self.0.statement.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Statement { until, bytes_max }) = &*statement else { return false };
        let measures = self.0.looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOKS_PER_MEASUREMENT);
        if measures && bytes_max.zip(resident_bytes()).is_some_and(|(most, now)| now > most) {
            self.0.out_of_memory.store(true, Ordering::SeqCst);
        }
        self.0.out_of_memory.load(Ordering::SeqCst) || until.is_over()
    }

    /// Why the statement has ended early, if it has.
    pub(super) fn reason(&self) -> Option<StatementRefusal> {
        if self.0.out_of_memory.load(Ordering::SeqCst) {
            let problem = "the statement takes too much memory";
            return Some(StatementRefusal::new(OUT_OF_MEMORY, problem, "use LIMIT, or try again later"));
        }
        let statement = self.0.statement.lock().unwrap_or_else(PoisonError::into_inner);
        let over = statement.as_ref().is_some_and(|statement| statement.until.is_over());
        over.then(|| StatementRefusal::new(CANCELED, "the statement was canceled, or its time is over", ""))
    }
}

/// The memory of this process; `None` where the system does not say.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
