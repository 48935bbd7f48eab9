//! A disk that breaks: what a node wrote before survives, and the write that broke may have been
//! done or not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hedgerow_node::journal::Record;
use hedgerow_node::message::RunId;
use hedgerow_node::part::Part;
use hedgerow_node::store::{Found, Store, StoreError};

#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) journal: Vec<Record>,
    pub(crate) book: Option<Vec<u8>>,
    pub(crate) staged: BTreeMap<RunId, Found>,
    pub(crate) placed: BTreeMap<u64, (RunId, Found)>,
    /// How many more writes are done; and whether the one that breaks is done.
    pub(crate) breaks_after: Option<(u32, bool)>,
    pub(crate) writes: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(pub(crate) Arc<Mutex<Kept>>);

impl Memory {
    fn write(&self, change: impl FnOnce(&mut Kept)) -> Result<(), StoreError> {
        let mut kept = self.0.lock().unwrap();
        kept.writes += 1;
        match kept.breaks_after {
            Some((0, done)) => {
                kept.breaks_after = None;
                if done {
                    change(&mut kept);
                }
                return Err(StoreError("the disk broke".to_owned()));
            }
            Some((more, done)) => kept.breaks_after = Some((more - 1, done)),
            None => {}
        }
        change(&mut kept);
        Ok(())
    }
}

impl Store for Memory {
    fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        self.write(|kept| kept.journal.extend_from_slice(records))
    }

    fn history(&self) -> Result<Vec<Record>, StoreError> {
        Ok(self.0.lock().unwrap().journal.clone())
    }

    fn book(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.lock().unwrap().book.clone())
    }

    fn save_book(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.write(|kept| kept.book = Some(bytes.to_vec()))
    }

    fn stage(&mut self, run: RunId, _: u64, found: &Found) -> Result<Result<(), String>, StoreError> {
        self.write(|kept| {
            kept.staged.insert(run, found.clone());
        })?;
        Ok(Ok(()))
    }

    fn publish(&mut self, run: RunId, epoch: u64) -> Result<(), StoreError> {
        if self.0.lock().unwrap().placed.contains_key(&epoch) {
            return Ok(());
        }
        self.write(|kept| {
            let found = kept.staged.remove(&run).expect("what is published was prepared");
            kept.placed.insert(epoch, (run, found));
        })
    }

    fn part(&self, epoch: u64) -> Result<Option<Part>, StoreError> {
        match self.0.lock().unwrap().placed.get(&epoch) {
            Some((_, Found::Part(part))) => Ok(Some(part.clone())),
            _ => Ok(None),
        }
    }

    fn discard(&mut self, run: RunId) -> Result<(), StoreError> {
        self.write(|kept| {
            kept.staged.remove(&run);
        })
    }
}
