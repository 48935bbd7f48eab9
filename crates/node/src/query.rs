//! Answers over what is published. Where every custodian has the whole release of an epoch, a node
//! answers from its own copy, which any reader may have. Where rows stay apart, all custodians of
//! the epoch take part, and what they count together is all that an answer is made of.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use hedgerow_release::Release;
use hedgerow_table::progress::NoProgress;
use serde_json::{Value, json};

use crate::question::{Totals, Unanswered};

/// The reader of questions descends: this is enough of a stack for the longest that is taken.
pub(crate) const STACK_BYTES: usize = 128 << 20;
/// How often it is noticed that no client waits any longer.
const LOOK: Duration = Duration::from_millis(20);

/// A question to all custodians of an epoch, and where its answer goes.
#[derive(Debug)]
pub struct Asks {
    pub who: String,
    pub epoch: u64,
    pub sql: String,
    pub answer: ToAsker,
}

/// A statement that was answered from the release, for the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queried {
    pub who: String,
    pub epoch: u64,
    pub sql: String,
}

/// The way to the client that waits for an answer.
#[derive(Debug)]
pub struct ToAsker {
    answer: Sender<Result<Totals, Unanswered>>,
    waits: Weak<()>,
}

/// The client that waits for an answer, until this is dropped.
#[derive(Debug)]
pub struct Asker {
    answered: Receiver<Result<Totals, Unanswered>>,
    _waits: Arc<()>,
}

impl Asks {
    pub fn new(who: &str, epoch: u64, sql: &str) -> (Asks, Asker) {
        let ((answer, answered), waits) = (channel(), Arc::new(()));
        let answer = ToAsker { answer, waits: Arc::downgrade(&waits) };
        (Asks { who: who.to_owned(), epoch, sql: sql.to_owned(), answer }, Asker { answered, _waits: waits })
    }
}

impl ToAsker {
    pub fn is_gone(&self) -> bool {
        self.waits.strong_count() == 0
    }

    /// A client that has disconnected needs no answer.
    pub fn send(&self, answer: Result<Totals, Unanswered>) {
        let _ = self.answer.send(answer);
    }
}

impl Asker {
    /// The answer, unless the time is over or `stop` says so first.
    pub fn wait(self, time: Duration, stop: impl Fn() -> bool) -> Result<Totals, Unanswered> {
        let failed = |why: &str| Err(Unanswered::Failed { why: why.to_owned(), about: None });
        let until = Instant::now() + time;
        loop {
            match self.answered.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return failed("the node is ending"),
                Err(RecvTimeoutError::Timeout) if stop() || Instant::now() > until => {
                    return failed("the time for an answer is over");
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Where an epoch is.
pub fn folder(data: &Path, epoch: u64) -> PathBuf {
    data.join("epochs").join(epoch.to_string())
}

/// Where the release of an epoch is.
pub fn place(data: &Path, epoch: u64) -> PathBuf {
    folder(data, epoch).join("release")
}

/// Answers one SELECT over an epoch of a node's folder, as `hedgerow query` does. Every answer
/// names its epoch, and none mixes two.
pub fn answer(data: &Path, epoch: u64, sql: &str) -> Result<Value, String> {
    let release = Release::open(&place(data, epoch), &NoProgress).map_err(|error| error.to_string())?;
    answer_from(&release, epoch, sql)
}

/// The same from what all custodians counted.
pub fn answer_totals(totals: &Totals, epoch: u64, sql: &str) -> Result<Value, String> {
    let answered = totals.with_release(|release| answer_from(release, epoch, sql));
    answered.ok_or("the custodians counted what no rows have".to_owned())?
}

fn answer_from(release: &Release, epoch: u64, sql: &str) -> Result<Value, String> {
    let answer = hedgerow_audit::query::answer(release, sql).map_err(|error| error.to_string())?;
    Ok(json!({ "epoch": epoch, "answer": answer }))
}
