//! Earlier releases as cross-release l-diversity sees them: the sets of protected values of their classes.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_table::TableError;
use hedgerow_table::release::open::Opened;

use crate::models::{Community, EarlierRelease};

/// How many differing values an error names.
const NAMED_MAX: usize = 5;

impl Community {
    /// What opened releases, each with its digest, tell about a protected attribute. A bucket of a bucketized release is
    /// taken for a class: where the same quasi values stand in several, an adversary knows less than this.
    pub fn of(protect: &str, opened: &[(Opened, String)]) -> Result<Community, TableError> {
        let mut vocabulary: BTreeSet<&str> = BTreeSet::new();
        for (release, _) in opened {
            let holding: Vec<_> = release.tables.iter().filter_map(|table| table.sensitive(protect)).collect();
            if holding.is_empty() {
                let problem = format!("the release tells nothing of `{protect}` as a sensitive attribute");
                let hint = "leave it out of the community, or protect what it has";
                return Err(TableError::input(release.name.clone(), problem, hint));
            }
            vocabulary.extend(holding.iter().flat_map(|sensitive| sensitive.values.iter().map(String::as_str)));
        }
        let vocabulary: Vec<String> = vocabulary.into_iter().map(str::to_owned).collect();
        let mut releases = Vec::new();
        for (release, digest) in opened {
            for table in &release.tables {
                let Some(sensitive) = table.sensitive(protect) else { continue };
                let own: Vec<u32> = sensitive.values.iter().map(|value| place(&vocabulary, value)).collect();
                let mut classes: BTreeMap<Vec<u32>, String> = BTreeMap::new();
                for (class, &bucket) in table.bucket_of.iter().enumerate() {
                    let mut values: Vec<u32> =
                        sensitive.of_bucket(bucket).iter().map(|&(value, _)| own[value as usize]).collect();
                    values.sort_unstable();
                    classes.entry(values).or_insert_with(|| {
                        let cells = table.describe(class).into_iter().map(|(name, label)| format!("{name} `{label}`"));
                        cells.collect::<Vec<_>>().join(", ")
                    });
                }
                releases.push(EarlierRelease {
                    name: release.name.clone(),
                    digest: digest.clone(),
                    rows: table.rows,
                    classes: classes.into_iter().collect(),
                });
            }
        }
        Community::new(vocabulary, releases).map_err(|_| {
            let problem = "the classes of the earlier releases combine in too many ways to be kept";
            TableError::input("community", problem, "name fewer releases, or coarser ones")
        })
    }

    /// All releases are about the same people, so a value that one of them has and the source lacks, or that a complete
    /// one lacks and the source has, is spelt differently or about others.
    pub fn refuse_other_values(&self, protect: &str, source: &[String], rows: u64) -> Result<(), TableError> {
        let own: BTreeSet<&str> = source.iter().map(String::as_str).collect();
        for release in &self.releases {
            let codes = release.classes.iter().flat_map(|(values, _)| values);
            let theirs: BTreeSet<&str> = codes.map(|&value| self.vocabulary[value as usize].as_str()).collect();
            let foreign: Vec<&str> = theirs.difference(&own).copied().collect();
            // Rows that it left out may have had the only such values.
            let lacking: Vec<&str> =
                if release.rows < rows { Vec::new() } else { own.difference(&theirs).copied().collect() };
            if foreign.is_empty() && lacking.is_empty() {
                continue;
            }
            let mut told = Vec::new();
            if !foreign.is_empty() {
                told.push(format!("only it has {}", named(&foreign)));
            }
            if !lacking.is_empty() {
                told.push(format!("it lacks {}", named(&lacking)));
            }
            let problem = format!("the values of `{protect}` are not those of the source: {}", told.join("; "));
            let hint =
                "releases about the same people have the same values: write them alike, or leave the release out";
            return Err(TableError::input(release.name.clone(), problem, hint));
        }
        Ok(())
    }
}

fn place(vocabulary: &[String], value: &str) -> u32 {
    vocabulary.binary_search_by(|known| known.as_str().cmp(value)).expect("collected from all releases") as u32
}

fn named(values: &[&str]) -> String {
    let more = values.len().saturating_sub(NAMED_MAX);
    let first: Vec<String> = values.iter().take(NAMED_MAX).map(|value| format!("`{value}`")).collect();
    if more > 0 { format!("{} and {more} more", first.join(", ")) } else { first.join(", ") }
}
