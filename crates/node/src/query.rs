//! Answers over what is published: the release of one epoch, which every custodian has and any
//! reader may have. A question touches nobody's rows, so no answer tells more than the release.

use std::path::{Path, PathBuf};

use hedgerow_release::Release;
use hedgerow_table::progress::NoProgress;
use serde_json::{Value, json};

/// Where the release of an epoch is.
pub fn place(data: &Path, epoch: u64) -> PathBuf {
    data.join("epochs").join(epoch.to_string()).join("release")
}

/// Answers one SELECT over an epoch of a node's folder, as `hedgerow query` does. Every answer
/// names its epoch, and none mixes two.
pub fn answer(data: &Path, epoch: u64, sql: &str) -> Result<Value, String> {
    let release = Release::open(&place(data, epoch), &NoProgress).map_err(|error| error.to_string())?;
    let answer = hedgerow_audit::query::answer(&release, sql).map_err(|error| error.to_string())?;
    Ok(json!({ "epoch": epoch, "answer": answer }))
}
