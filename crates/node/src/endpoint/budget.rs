//! Memory of answers and portals, with limits for one answer, one connection, one analyst and the
//! whole node. A limit on rows alone would not do, since one row can be a megabyte.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::answer_rows::Heading;
use super::kind::SqlValue;
use super::refusal::{OUT_OF_MEMORY, StatementRefusal, TOO_MUCH};

/// Bytes in use, and the most that may be.
#[derive(Debug)]
pub(super) struct Pool {
    used: AtomicUsize,
    max: usize,
}

impl Pool {
    fn new(max: usize) -> Arc<Pool> {
        Arc::new(Pool { used: AtomicUsize::new(0), max })
    }

    fn take(&self, bytes: usize) -> bool {
        let fits = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.max);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::SeqCst);
    }

    fn used(&self) -> usize {
        self.used.load(Ordering::SeqCst)
    }
}

/// The memory of a node, and of each analyst: one alone, over many connections that fetch nothing,
/// takes at most half.
#[derive(Debug)]
pub(super) struct Memory {
    node: Arc<Pool>,
    analysts: Mutex<BTreeMap<String, Arc<Pool>>>,
}

impl Memory {
    pub(super) fn new(max: usize) -> Memory {
        Memory { node: Pool::new(max), analysts: Mutex::default() }
    }

    /// The pools of a connection before it is known whose it is.
    pub(super) fn connection(&self, answer_max: usize, connection_max: usize) -> Budget {
        let analyst = Pool::new(connection_max);
        Budget { answer_max, connection: Pool::new(connection_max), analyst, node: Arc::clone(&self.node) }
    }

    /// The pool of an analyst. Names are those of the settings, so that there are few.
    pub(super) fn of_analyst(&self, name: &str) -> Arc<Pool> {
        let mut analysts = self.analysts.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = analysts.entry(name.to_owned()).or_insert_with(|| Pool::new(self.node.max.div_ceil(2)));
        Arc::clone(pool)
    }

    pub(super) fn used(&self) -> usize {
        self.node.used()
    }
}

/// The pools of one connection.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    pub(super) answer_max: usize,
    connection: Arc<Pool>,
    pub(super) analyst: Arc<Pool>,
    node: Arc<Pool>,
}

impl Budget {
    /// Nothing yet, of an answer or a portal.
    pub(super) fn hold(&self) -> HeldBytes {
        HeldBytes { budget: self.clone(), bytes: 0 }
    }
}

/// Bytes of one answer or portal, which are free again when this is dropped.
#[derive(Debug)]
pub(super) struct HeldBytes {
    budget: Budget,
    bytes: usize,
}

impl HeldBytes {
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), StatementRefusal> {
        let Budget { answer_max, connection, analyst, node } = &self.budget;
        if self.bytes.saturating_add(bytes) > *answer_max {
            let problem = format!("an answer of more than {answer_max} bytes");
            return Err(StatementRefusal::new(TOO_MUCH, problem, "use LIMIT, GROUP BY or fewer columns"));
        }
        if !connection.take(bytes) {
            let problem = "the answers of this connection that are not fetched yet take too much memory";
            return Err(StatementRefusal::new(OUT_OF_MEMORY, problem, "fetch or close portals first"));
        }
        if !analyst.take(bytes) {
            connection.give_back(bytes);
            let problem = "the answers of this analyst that are not fetched yet take too much memory";
            return Err(StatementRefusal::new(
                OUT_OF_MEMORY,
                problem,
                "fetch or close portals of other connections first",
            ));
        }
        if !node.take(bytes) {
            connection.give_back(bytes);
            analyst.give_back(bytes);
            let problem = "answers of all connections take too much memory";
            return Err(StatementRefusal::new(OUT_OF_MEMORY, problem, "try again later"));
        }
        self.bytes += bytes;
        Ok(())
    }

    pub(super) fn add_row(&mut self, row: &[SqlValue]) -> Result<(), StatementRefusal> {
        self.add(row_bytes(row))
    }

    /// The names of columns: a client gives them, and a portal keeps them.
    pub(super) fn add_headings(&mut self, headings: &[Heading]) -> Result<(), StatementRefusal> {
        self.add(headings_bytes(headings))
    }

    /// Takes as many bytes out, for what leaves this answer.
    pub(super) fn split_off(&mut self, bytes: usize) -> HeldBytes {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        HeldBytes { budget: self.budget.clone(), bytes }
    }

    /// Gives back everything but the names of columns.
    pub(super) fn keep_headings(&mut self, headings: &[Heading]) {
        drop(self.split_off(self.bytes.saturating_sub(headings_bytes(headings))));
    }

    /// The bytes that may still be added before the answer is too large.
    pub(super) fn left(&self) -> usize {
        self.budget.answer_max - self.bytes
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.budget.connection.give_back(self.bytes);
        self.budget.analyst.give_back(self.bytes);
        self.budget.node.give_back(self.bytes);
    }
}

fn headings_bytes(headings: &[Heading]) -> usize {
    headings.iter().map(|heading| size_of::<Heading>() + heading.name.capacity()).sum()
}

/// The memory of a row: its cells and their texts.
pub(super) fn row_bytes(row: &[SqlValue]) -> usize {
    let cell = |value: &SqlValue| match value {
        SqlValue::Text(text) => size_of::<SqlValue>() + text.capacity(),
        _ => size_of::<SqlValue>(),
    };
    size_of::<Vec<SqlValue>>() + row.iter().map(cell).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_connections_and_the_node_have_limits() {
        let memory = Memory::new(250);
        let connection = |analyst: &str| {
            let analyst = memory.of_analyst(analyst);
            Budget { analyst, ..memory.connection(100, 150) }
        };
        let (first, second) = (connection("ada"), connection("bob"));
        let code = |held: &mut HeldBytes, bytes: usize| held.add(bytes).map_err(|refusal| refusal.code);
        let mut one = first.hold();
        assert_eq!(code(&mut one, 100), Ok(()));
        assert_eq!(code(&mut one, 1), Err(TOO_MUCH), "one answer");
        let mut two = first.hold();
        assert_eq!(code(&mut two, 51), Err(OUT_OF_MEMORY), "one connection");
        assert_eq!(code(&mut two, 25), Ok(()));
        let again = connection("ada");
        assert_eq!(code(&mut again.hold(), 1), Err(OUT_OF_MEMORY), "one analyst takes half, over all connections");
        let mut other = second.hold();
        assert_eq!(code(&mut other, 100), Ok(()), "what is left is for others");
        assert_eq!(code(&mut connection("bob").hold(), 26), Err(OUT_OF_MEMORY));
        assert_eq!(code(&mut connection("eve").hold(), 26), Err(OUT_OF_MEMORY), "the node");
        drop(one);
        assert_eq!(code(&mut connection("eve").hold(), 100), Ok(()));
        assert_eq!(code(&mut again.hold(), 100), Ok(()));
        drop((two, other));
        assert_eq!(memory.used(), 0, "everything is given back");
        // Rows that leave an answer take their memory along.
        let mut whole = first.hold();
        assert_eq!(code(&mut whole, 90), Ok(()));
        let part = whole.split_off(60);
        assert_eq!((memory.used(), code(&mut whole, 30)), (90, Ok(())));
        drop(part);
        assert_eq!(memory.used(), 60);
        drop(whole.split_off(1000));
        assert_eq!(memory.used(), 0);
        assert_eq!(memory.of_analyst("ada").used() + memory.of_analyst("bob").used(), 0);
    }
}
