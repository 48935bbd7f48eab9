//! A disk that breaks: what a node wrote before survives, and the write that broke may have been
//! done or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use hedgerow_joint::JointClass;
use hedgerow_node::journal::{Record, What, chain};
use hedgerow_node::message::{Hex, QuestionId, RunId};
use hedgerow_node::part::EpochPart;
use hedgerow_node::store::{RunResult, Store, StoreError};
use sha2::{Digest as _, Sha256};

use crate::world::K;

#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) journal: Vec<Record>,
    /// The hash of every row.
    pub(crate) chain: Vec<Hex<32>>,
    pub(crate) book: Option<Vec<u8>>,
    pub(crate) staged: BTreeMap<RunId, RunResult>,
    pub(crate) placed: BTreeMap<u64, (RunId, RunResult)>,
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
        self.write(|kept| {
            for record in records {
                let before = kept.chain.last().copied().unwrap_or(Hex([0; 32]));
                let hash = chain(&before, kept.journal.len() as u64 + 1, record);
                kept.journal.push(record.clone());
                kept.chain.push(hash);
            }
        })
    }

    fn head(&self) -> (u64, Hex<32>) {
        let kept = self.0.lock().unwrap();
        (kept.chain.len() as u64, kept.chain.last().copied().unwrap_or(Hex([0; 32])))
    }

    fn hash_at(&self, number: u64) -> Result<Option<Hex<32>>, StoreError> {
        let kept = self.0.lock().unwrap();
        Ok(usize::try_from(number).ok().and_then(|number| kept.chain.get(number.checked_sub(1)?).copied()))
    }

    fn history(&self) -> Result<Vec<Record>, StoreError> {
        Ok(self.0.lock().unwrap().journal.clone())
    }

    fn questions(&self, unix_ms: u64) -> Result<BTreeSet<QuestionId>, StoreError> {
        let kept = self.0.lock().unwrap();
        let since = kept.journal.iter().filter(|record| record.what == What::Queried && record.at >= unix_ms);
        Ok(since.filter_map(|record| serde_json::from_value(record.detail.value()["question"].take()).ok()).collect())
    }

    fn book(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.lock().unwrap().book.clone())
    }

    fn save_book(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.write(|kept| kept.book = Some(bytes.to_vec()))
    }

    fn stage(&mut self, run: RunId, _: u64, found: &RunResult) -> Result<Result<Hex<32>, String>, StoreError> {
        // The gate, as it is for the rules of the example.
        if let RunResult::Whole { classes, rows } = found {
            let different = |class: usize| {
                let of_class = rows.iter().filter(|row| row.class as usize == class);
                of_class.map(|row| row.codes[0]).collect::<BTreeSet<_>>().len()
            };
            let breaks = |(number, class): (usize, &JointClass)| class.rows < K || different(number) < 2;
            if classes.iter().enumerate().any(breaks) {
                return Ok(Err("a class breaks a rule".to_owned()));
            }
        }
        self.write(|kept| {
            kept.staged.insert(run, found.clone());
        })?;
        let common = match found {
            RunResult::Whole { classes, rows } => format!("{classes:?} {rows:?}"),
            RunResult::Part(part) => format!("{:?}", part.common),
        };
        Ok(Ok(Hex(Sha256::digest(common).into())))
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

    fn part(&self, epoch: u64) -> Result<Option<EpochPart>, StoreError> {
        match self.0.lock().unwrap().placed.get(&epoch) {
            Some((_, RunResult::Part(part))) => Ok(Some(part.clone())),
            _ => Ok(None),
        }
    }

    fn discard(&mut self, run: RunId) -> Result<(), StoreError> {
        self.write(|kept| {
            kept.staged.remove(&run);
        })
    }
}
