//! Memory of answers and portals, with limits for one answer, one connection and the whole node. A
//! limit on rows alone would not do, since one row can be a megabyte.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::kind::Value;
use super::refusal::{OUT_OF_MEMORY, Refusal, TOO_MUCH};

/// Bytes in use, and the most that may be.
#[derive(Debug)]
pub(super) struct Pool {
    used: AtomicUsize,
    max: usize,
}

impl Pool {
    pub(super) fn new(max: usize) -> Arc<Pool> {
        Arc::new(Pool { used: AtomicUsize::new(0), max })
    }

    fn take(&self, bytes: usize) -> bool {
        let fits = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.max);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::SeqCst);
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::SeqCst)
    }
}

/// The pools of one connection.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    pub(super) answer_max: usize,
    pub(super) connection: Arc<Pool>,
    pub(super) node: Arc<Pool>,
}

impl Budget {
    /// Nothing yet, of an answer or a portal.
    pub(super) fn hold(&self) -> Held {
        Held { budget: self.clone(), bytes: 0 }
    }
}

/// Bytes of one answer or portal, which are free again when this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    budget: Budget,
    bytes: usize,
}

impl Held {
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), Refusal> {
        let Budget { answer_max, connection, node } = &self.budget;
        if self.bytes.saturating_add(bytes) > *answer_max {
            let problem = format!("an answer of more than {answer_max} bytes");
            return Err(Refusal::new(TOO_MUCH, problem, "use LIMIT, GROUP BY or fewer columns"));
        }
        if !connection.take(bytes) {
            let problem = "the answers of this connection that are not fetched yet take too much memory";
            return Err(Refusal::new(OUT_OF_MEMORY, problem, "fetch or close portals first"));
        }
        if !node.take(bytes) {
            connection.give_back(bytes);
            let problem = "answers of all connections take too much memory";
            return Err(Refusal::new(OUT_OF_MEMORY, problem, "try again later"));
        }
        self.bytes += bytes;
        Ok(())
    }

    pub(super) fn add_row(&mut self, row: &[Value]) -> Result<(), Refusal> {
        self.add(row_bytes(row))
    }

    /// The bytes that may still be added before the answer is too large.
    pub(super) fn left(&self) -> usize {
        self.budget.answer_max - self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.connection.give_back(self.bytes);
        self.budget.node.give_back(self.bytes);
    }
}

/// The memory of a row: its cells and their texts.
fn row_bytes(row: &[Value]) -> usize {
    let cell = |value: &Value| match value {
        Value::Text(text) => size_of::<Value>() + text.capacity(),
        _ => size_of::<Value>(),
    };
    size_of::<Vec<Value>>() + row.iter().map(cell).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_connections_and_the_node_have_limits() {
        let node = Pool::new(250);
        let connection = || Budget { answer_max: 100, connection: Pool::new(150), node: Arc::clone(&node) };
        let (first, second) = (connection(), connection());
        let code = |held: &mut Held, bytes: usize| held.add(bytes).map_err(|refusal| refusal.code);
        let mut one = first.hold();
        assert_eq!(code(&mut one, 100), Ok(()));
        assert_eq!(code(&mut one, 1), Err(TOO_MUCH), "one answer");
        let mut two = first.hold();
        assert_eq!(code(&mut two, 51), Err(OUT_OF_MEMORY), "one connection");
        assert_eq!(code(&mut two, 50), Ok(()));
        let mut other = second.hold();
        assert_eq!(code(&mut other, 100), Ok(()));
        assert_eq!(code(&mut second.hold(), 1), Err(OUT_OF_MEMORY), "the node");
        drop(one);
        assert_eq!(code(&mut second.hold(), 50), Ok(()));
        drop((two, other));
        assert_eq!(node.used(), 0, "everything is given back");
    }
}
