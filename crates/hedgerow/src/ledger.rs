//! The ledger of a joint run as a file: JSON lines, one for each entry. A report sums it up.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use hedgerow_smc::{Ledger, OpenedValues};
use hedgerow_table::InputError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Error;

/// The largest file that is read.
const BYTES_MAX: u64 = 1 << 30;

/// The kinds whose values are numbers of rows: a small one is about few people.
const COUNTS_OF_ROWS: [hedgerow_smc::OpenedKind; 5] = [
    hedgerow_smc::OpenedKind::Totals,
    hedgerow_smc::OpenedKind::CountsAtProbe,
    hedgerow_smc::OpenedKind::Sizes,
    hedgerow_smc::OpenedKind::Histograms,
    hedgerow_smc::OpenedKind::ClippedSizes,
];

/// The ledger as JSON lines, one for each entry in order: `step`, `round`, `kind`, `about`,
/// `attribute`, `parts`, `at_least` and `values`, as many for each part. For the custodians of the
/// run, who have seen it all, and not for readers of the release.
///
/// ```
/// use hedgerow::federation::{Profile, ledger_lines, rehearse};
///
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy-local.toml")?;
/// let union = hedgerow::read_source(&policy)?;
/// let run = rehearse(&policy, &union, 3, |row| row % 3, Profile::Masked, 1)?;
/// let lines = ledger_lines(&run.ledger);
/// assert_eq!(lines.lines().count(), run.ledger.entries().len());
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn ledger_lines(ledger: &Ledger) -> String {
    let line = |entry: &OpenedValues| {
        let line = json!({
            "step": "classes",
            "round": entry.round,
            "kind": entry.kind.describe(),
            "about": entry.what,
            "attribute": entry.attribute,
            "parts": entry.parts,
            "at_least": entry.at_least,
            "values": entry.values,
        });
        format!("{line}\n")
    };
    ledger.entries().iter().map(line).collect()
}

/// A ledger in numbers.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LedgerTotals {
    pub(crate) entries: u64,
    pub(crate) rounds: u64,
    pub(crate) kinds: Vec<OpenedOfKind>,
}

/// The opened values of one kind.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct OpenedOfKind {
    pub(crate) kind: String,
    pub(crate) entries: u64,
    pub(crate) values: u64,
    /// Entries that were only compared with a threshold.
    pub(crate) compared: u64,
    /// The smallest number of rows above 0 that was opened; null for what counts no rows.
    pub(crate) least: Option<u64>,
}

/// A ledger file in numbers: how much was opened of every kind, and the smallest number of rows.
pub(crate) fn summed_up(path: &Path) -> Result<LedgerTotals, Error> {
    let failed = |source| Error::io(path, source);
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    if bytes > BYTES_MAX {
        let problem = format!("has {bytes} bytes, at most {BYTES_MAX} are read");
        return Err(InputError::new(path.display().to_string(), problem, "name the ledger of one run").into());
    }
    let mut kinds: BTreeMap<String, OpenedOfKind> = BTreeMap::new();
    let mut steps: Vec<(String, u64)> = Vec::new();
    let mut entries = 0u64;
    // The limit also holds for what grows while it is read.
    for (index, line) in BufReader::new(file.take(BYTES_MAX)).lines().enumerate() {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        let entry = LedgerEntry::read(&line).ok_or_else(|| {
            let place = format!("{}:{}", path.display(), index + 1);
            let problem =
                "malformed ledger entry, expected an object with `round`, `kind` and a list of whole numbers `values`";
            InputError::new(place, problem, "name the ledger that a joint run wrote")
        })?;
        entries += 1;
        match steps.iter_mut().find(|(step, _)| *step == entry.step) {
            Some((_, rounds)) => *rounds = (*rounds).max(entry.round + 1),
            None => steps.push((entry.step, entry.round + 1)),
        }
        let opened = kinds.entry(entry.kind.clone()).or_default();
        opened.entries += 1;
        opened.values += entry.values.len() as u64;
        opened.compared += u64::from(entry.compared);
        if COUNTS_OF_ROWS.iter().any(|kind| kind.describe() == entry.kind) {
            let least = entry.values.iter().copied().filter(|&value| value > 0).min();
            opened.least = opened.least.into_iter().chain(least).min();
        }
    }
    let kinds = kinds.into_iter().map(|(kind, opened)| OpenedOfKind { kind, ..opened }).collect();
    Ok(LedgerTotals { entries, rounds: steps.iter().map(|(_, rounds)| rounds).sum(), kinds })
}

/// One line of the file.
struct LedgerEntry {
    step: String,
    round: u64,
    kind: String,
    /// Whether only a comparison was asked for.
    compared: bool,
    values: Vec<u64>,
}

impl LedgerEntry {
    fn read(text: &str) -> Option<LedgerEntry> {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(LedgerEntry {
            step: value["step"].as_str().unwrap_or_default().to_owned(),
            round: u64::from(u32::try_from(value["round"].as_u64()?).ok()?),
            kind: value["kind"].as_str()?.to_owned(),
            compared: value["at_least"].as_array().is_some_and(|thresholds| !thresholds.is_empty()),
            values: value["values"].as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::federation::{Profile, rehearse};

    fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn what_a_run_opens_is_counted_as_the_ledger_counts_it() {
        let policy = crate::Policy::load("../../examples/hospital/policy-local.toml").unwrap();
        let union = crate::read_source(&policy).unwrap();
        let run = rehearse(&policy, &union, 3, |row| row % 3, Profile::Masked, 1).unwrap();
        let (_folder, path) = written(&ledger_lines(&run.ledger));
        let found = summed_up(&path).unwrap();
        assert_eq!(found.entries, run.ledger.entries().len() as u64);
        let counts = run.ledger.counts();
        assert_eq!(found.kinds.len(), counts.len());
        for (kind, values) in counts {
            let of_kind = found.kinds.iter().find(|one| one.kind == kind.describe()).unwrap();
            assert_eq!(of_kind.values, values, "{kind}");
        }
    }

    #[test]
    fn the_smallest_number_of_rows_is_found_and_zeros_are_skipped() {
        let sizes = hedgerow_smc::OpenedKind::Sizes.describe();
        let digits = hedgerow_smc::OpenedKind::Digits.describe();
        let text = format!(
            "{{\"round\":0,\"kind\":\"{sizes}\",\"at_least\":[[5]],\"values\":[0,7,9]}}\n\n\
             {{\"step\":\"rows\",\"round\":2,\"kind\":\"{digits}\",\"values\":[1]}}\n"
        );
        let (_folder, path) = written(&text);
        let found = summed_up(&path).unwrap();
        assert_eq!((found.entries, found.rounds), (2, 4));
        let of_kind = |name: &str| found.kinds.iter().find(|one| one.kind == name).unwrap();
        assert_eq!((of_kind(sizes).least, of_kind(sizes).compared), (Some(7), 1));
        assert_eq!(of_kind(digits).least, None, "a digit does not count rows");
    }

    #[test]
    fn a_malformed_ledger_is_refused_with_its_line() {
        for wrong in ["[]", "{\"round\":1}", "{\"round\":1,\"kind\":\"x\",\"values\":[-1]}", "text"] {
            let (_folder, path) = written(&format!("{{\"round\":0,\"kind\":\"x\",\"values\":[]}}\n{wrong}\n"));
            let problem = summed_up(&path).unwrap_err().to_string();
            assert!(problem.contains("ledger:2"), "{wrong}: {problem}");
        }
        let (_folder, path) = written("");
        assert_eq!(summed_up(&path).unwrap().entries, 0);
    }
}
