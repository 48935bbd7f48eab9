//! Heads for an auditor: what this node signed about its own journal, and the last that each peer
//! signed about its own. An auditor who has the exports of all custodians sees whether any journal
//! lost rows or was rewritten; a custodian looks its own journal up in the exports of the others.

use std::fs;
use std::path::Path;

use hedgerow_smc::SigningKey;
use serde_json::{Value, json};

use crate::disk::read_signed_journal;
use crate::heads::{heads_of, joined_run, sign_heads};
use crate::journal::What;
use crate::message::{Heads, Hex};
use crate::statement::Signed;
use crate::store::StoreError;

/// The longest export that is read.
const EXPORT_BYTES_MAX: u64 = 1 << 24;

fn text(error: StoreError) -> String {
    error.to_string()
}

/// The heads of a journal, signed, with the last that peers signed.
pub fn heads(data: &Path, name: &str, key: &SigningKey) -> Result<Value, String> {
    let (mut peers, mut book) = (serde_json::Map::new(), (0, Hex([0; 32])));
    let each = |line: &crate::disk::JournalRow| {
        let mut detail = line.record.detail.value();
        match line.record.what {
            What::Joined | What::Kept => {
                let rows = |signed: &Value| {
                    let signed: Option<Signed> = serde_json::from_value(signed.clone()).ok();
                    signed.as_ref().and_then(heads_of).map(|heads| heads.rows)
                };
                let signed = detail["signed"].take();
                // A message that was late may be about an earlier row.
                if rows(&signed).is_some() && rows(&signed) >= peers.get(&line.record.who).and_then(rows) {
                    peers.insert(line.record.who.clone(), signed);
                }
            }
            What::Burned => {
                let entries = detail["entries"].as_u64().unwrap_or_default();
                book = (entries, serde_json::from_value(detail["head"].take()).unwrap_or(Hex([0; 32])));
            }
            _ => {}
        }
        Ok(())
    };
    let (rows, journal) = read_signed_journal(data, &key.public(), each).map_err(text)?;
    let own = sign_heads(Heads { rows, journal, entries: book.0, book: book.1 }, key);
    Ok(json!({ "name": name, "signing_key": Hex(key.public()), "own": own, "peers": peers }))
}

/// Looks a journal up in what another custodian exported; an error where it is not the one that was
/// signed.
pub fn look_up(data: &Path, name: &str, signing_key: &[u8; 32], export: &Path) -> Result<String, String> {
    let place = export.display();
    let size = fs::metadata(export).map_err(|error| format!("{place}: {error}"))?.len();
    if size > EXPORT_BYTES_MAX {
        return Err(format!("{place}: larger than {EXPORT_BYTES_MAX} bytes"));
    }
    let bytes = fs::read(export).map_err(|error| format!("{place}: {error}"))?;
    let mut exported: Value = serde_json::from_slice(&bytes).map_err(|_| format!("{place}: not exported heads"))?;
    let by = exported["name"].as_str().unwrap_or("its owner").to_owned();
    let signed: Option<Signed> = serde_json::from_value(exported["peers"][name].take()).ok();
    let Some(signed) = signed else { return Ok(format!("{place}: {by} has no heads of {name}")) };
    let heads = heads_of(&signed).filter(|_| signed.verifies(signing_key));
    let heads = heads.ok_or_else(|| format!("{place}: heads of {name} that it did not sign"))?;
    let (mut found, mut lacked) = (None, joined_run(&signed));
    let each = |line: &crate::disk::JournalRow| {
        if line.number == heads.rows {
            found = Some(line.hash);
        }
        lacked = lacked.filter(|run| line.record.run != Some(*run));
        Ok(())
    };
    let (rows, _) = read_signed_journal(data, signing_key, each).map_err(text)?;
    match (found, lacked) {
        (Some(hash), _) if hash != heads.journal => {
            Err(format!("{place}: row {} is another one than {name} signed towards {by}", heads.rows))
        }
        (None, _) if heads.rows > 0 => {
            Err(format!("{place}: {by} knows row {}, and the journal ends at {rows}", heads.rows))
        }
        (_, Some(run)) => Err(format!("{place}: {by} knows run {run}, which {name} joined and the journal lacks")),
        (Some(_), None) => Ok(format!("{place}: row {} of {rows} is the one that {by} knows", heads.rows)),
        (None, None) => Ok(format!("{place}: {by} knows {name} from before its first row")),
    }
}
