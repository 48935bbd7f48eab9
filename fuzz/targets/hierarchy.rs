//! Any bytes as a hierarchy file, against any column: every level covers every value and coarsens
//! the one below, with one label at the top, or the file is refused.
//!
//! The first line of the input holds the column's values between commas (an empty one is the
//! missing value); the file is what follows.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use hedgerow_table::{Domain, Hierarchy, HierarchySpec};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a temporary folder"));
static FILE: LazyLock<PathBuf> = LazyLock::new(|| FOLDER.path().join("hierarchy.csv"));

fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let (Ok(values), file) = (std::str::from_utf8(&bytes[..end]), &bytes[end + 1..]) else { return };
    let mut texts: Vec<&str> = values.split(',').collect();
    let missing = texts.contains(&"");
    texts.retain(|text| !text.is_empty());
    texts.sort_unstable();
    texts.dedup();
    let (domain, _) = Domain::from_texts(&texts, missing, None).expect("an inferred kind takes every text");

    std::fs::write(&*FILE, file).expect("the temporary folder can be written");
    let spec = HierarchySpec::File(FILE.clone());
    match Hierarchy::build(&spec, "attribute", "policy.toml:1", &domain, &[String::new()]) {
        Ok(hierarchy) => check(&hierarchy, &domain),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});

fn check(hierarchy: &Hierarchy, domain: &Domain) {
    let levels = hierarchy.levels();
    assert_eq!(levels[hierarchy.top()].labels.len(), 1, "one top");
    for (number, level) in levels.iter().enumerate() {
        assert_eq!(level.map.len(), domain.cardinality(), "level {number} covers every value");
        assert!(level.map.iter().all(|label| (*label as usize) < level.labels.len()));
    }
    for pair in levels.windows(2) {
        let mut parent = vec![None; pair[0].labels.len()];
        for (fine, coarse) in pair[0].map.iter().zip(&pair[1].map) {
            let known = parent[*fine as usize].get_or_insert(*coarse);
            assert_eq!(known, coarse, "a label is split by the level above it");
        }
    }
}
