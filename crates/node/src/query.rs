//! Answers over what is published. Where every custodian has the whole release of an epoch, a node
//! answers from its own copy, which any reader may have. Where rows stay apart, all custodians of
//! the epoch take part, and what they count together is all that an answer is made of.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use hedgerow_release::Release;
use hedgerow_table::progress::NoProgress;
use serde_json::{Value, json};

use crate::question::{Totals, Unanswered};

/// A question to all custodians of an epoch, and where goes what becomes of it.
#[derive(Debug)]
pub struct Asks {
    pub who: String,
    pub epoch: u64,
    pub sql: String,
    pub answer: Sender<Result<Totals, Unanswered>>,
}

impl Asks {
    pub fn new(who: &str, epoch: u64, sql: &str) -> (Asks, Receiver<Result<Totals, Unanswered>>) {
        let (answer, answered) = channel();
        (Asks { who: who.to_owned(), epoch, sql: sql.to_owned(), answer }, answered)
    }
}

/// What became of a question; nothing is waited for any longer.
pub fn wait(answered: &Receiver<Result<Totals, Unanswered>>, time: Duration) -> Result<Totals, Unanswered> {
    let late = |_| Unanswered::Failed { why: "the time for an answer is over".to_owned(), blamed: None };
    answered.recv_timeout(time).map_err(late)?
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
