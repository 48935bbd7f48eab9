//! Blocks shared among workers. Each takes the next block under a lock, then reads it on its own:
//! reading cannot run ahead of the work, and memory is bounded by one block per worker.

use std::sync::Mutex;

use super::blocks::{Block, Blocks};
use crate::TableError;

/// Runs `work` on every block, on as many workers as the pool has threads, and gives the workers
/// back.
///
/// The error of the earliest block wins: blocks are handed out in order, and those handed out
/// before the one that failed are finished, so the answer is the same whatever the number of
/// threads.
pub(super) fn share<W: Send>(
    blocks: Blocks,
    new_worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &Block) -> Result<(), TableError> + Sync,
) -> Result<Vec<W>, TableError> {
    let queue = Mutex::new(Queue { blocks, closed: false, first_error: None });
    let finished = Mutex::new(Vec::new());
    let lock = || queue.lock().expect("no worker panics while it holds the queue");
    let run = || {
        let mut worker = None;
        let mut block = Block::default();
        while lock().take(&mut block) {
            if let Err(error) = work(worker.get_or_insert_with(&new_worker), &block) {
                lock().fail(block.index, error);
            }
        }
        finished.lock().expect("no worker panics here").extend(worker);
    };
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| run());
        }
    });
    let queue = queue.into_inner().expect("no worker panics while it holds the queue");
    match queue.first_error {
        Some((_, error)) => Err(error),
        None => Ok(finished.into_inner().expect("no worker panics here")),
    }
}

struct Queue<'a> {
    blocks: Blocks<'a>,
    closed: bool,
    first_error: Option<(usize, TableError)>,
}

impl Queue<'_> {
    fn take(&mut self, block: &mut Block) -> bool {
        if self.closed {
            return false;
        }
        match self.blocks.next_into(block) {
            Ok(true) => true,
            Ok(false) => {
                self.closed = true;
                false
            }
            Err(error) => {
                self.fail(self.blocks.cut(), error);
                false
            }
        }
    }

    fn fail(&mut self, index: usize, error: TableError) {
        self.closed = true;
        if self.first_error.as_ref().is_none_or(|(first, _)| index < *first) {
            self.first_error = Some((index, error));
        }
    }
}
