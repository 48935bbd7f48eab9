//! Earlier releases as cross-release l-diversity sees them: the sets of protected values of their
//! classes.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_release::{Release, ReleasedClasses};
use hedgerow_table::{Cover, TableError};

use hedgerow_privacy::models::{Community, EarlierRelease};

/// How many differing values an error names.
const NAMED_MAX: usize = 5;

/// An earlier release: its name, its digest and the classes of its tables.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    pub name: &'a str,
    pub digest: &'a str,
    pub tables: &'a [ReleasedClasses],
}

impl<'a> Earlier<'a> {
    pub fn of(release: &'a Release) -> Result<Earlier<'a>, TableError> {
        Ok(Earlier { name: release.name(), digest: release.digest()?, tables: release.classes()? })
    }
}

/// What earlier releases disclose about a protected attribute. A bucket of a bucketized release is
/// taken for a class: where the same quasi values occur in several, an adversary knows less than
/// this. A sub-table that has the attribute as a quasi attribute has a class for every combination
/// of the others.
pub fn community_of(protect: &str, earlier: &[Earlier<'_>]) -> Result<Community, TableError> {
    let mut found = Vec::new();
    for release in earlier {
        if release.tables.iter().all(|table| table.sensitive(protect).is_none()) {
            let problem = format!("the release has no sensitive attribute `{protect}`");
            let hint = "leave it out of the community, or protect what it has";
            return Err(TableError::input(release.name, problem, hint));
        }
        for table in release.tables {
            if let Some(classes) = sensitive_values(table, protect) {
                found.push((release, table.rows, classes));
            }
            if let Some(classes) = known_values(table, protect) {
                let classes = classes.map_err(|problem| {
                    let hint = "leave the release out of the community, or protect another attribute";
                    TableError::input(release.name, problem, hint)
                })?;
                found.push((release, table.rows, classes));
            }
        }
    }
    let values: BTreeSet<&String> = found.iter().flat_map(|(_, _, classes)| classes.keys().flatten()).collect();
    let vocabulary: Vec<String> = values.into_iter().cloned().collect();
    let releases = found.iter().map(|(release, rows, classes)| {
        let place = |values: &BTreeSet<String>| values.iter().map(|value| place(&vocabulary, value)).collect();
        EarlierRelease {
            name: release.name.to_owned(),
            digest: release.digest.to_owned(),
            rows: *rows,
            classes: classes.iter().map(|(values, class)| (place(values), class.clone())).collect(),
        }
    });
    let releases = releases.collect();
    Community::new(vocabulary, releases).map_err(|_| {
        let problem = "the classes of the earlier releases combine in too many ways to be kept";
        TableError::input("community", problem, "name fewer releases, or coarser ones")
    })
}

/// All releases are about the same people, so a value that one of them has and the source lacks, or
/// that a complete one lacks and the source has, is spelled differently or about others.
pub fn refuse_other_values(
    community: &Community,
    protect: &str,
    source: &[String],
    rows: u64,
) -> Result<(), TableError> {
    let own: BTreeSet<&str> = source.iter().map(String::as_str).collect();
    for release in &community.releases {
        let codes = release.classes.iter().flat_map(|(values, _)| values);
        let theirs: BTreeSet<&str> = codes.map(|&value| community.vocabulary[value as usize].as_str()).collect();
        let foreign: Vec<&str> = theirs.difference(&own).copied().collect();
        // Rows that it suppressed may have had the only such values.
        let lacking: Vec<&str> =
            if release.rows < rows { Vec::new() } else { own.difference(&theirs).copied().collect() };
        if foreign.is_empty() && lacking.is_empty() {
            continue;
        }
        let mut differences = Vec::new();
        if !foreign.is_empty() {
            differences.push(format!("only it has {}", named(&foreign)));
        }
        if !lacking.is_empty() {
            differences.push(format!("it lacks {}", named(&lacking)));
        }
        let problem = format!("the values of `{protect}` are not those of the source: {}", differences.join("; "));
        let hint = "releases about the same people have the same values: write them alike, or leave the release out";
        return Err(TableError::input(release.name.clone(), problem, hint));
    }
    Ok(())
}

/// The values of each different class, and what one such class is called.
type Classes = BTreeMap<BTreeSet<String>, String>;

fn described(cells: Vec<(&str, &str)>) -> String {
    cells.into_iter().map(|(name, label)| format!("{name} `{label}`")).collect::<Vec<_>>().join(", ")
}

/// `None` when the table does not have the attribute as a sensitive one.
fn sensitive_values(table: &ReleasedClasses, protect: &str) -> Option<Classes> {
    let sensitive = table.sensitive(protect)?;
    let mut classes = Classes::new();
    for (class, &bucket) in table.bucket_of.iter().enumerate() {
        let values = sensitive.of_bucket(bucket).iter().map(|&(value, _)| sensitive.values[value as usize].clone());
        classes.entry(values.collect()).or_insert_with(|| described(table.describe(class)));
    }
    Some(classes)
}

/// The values that occur with every combination of the other quasi attributes and the bucket; an
/// error where a label covers no list of values. `None` when the table does not have the attribute
/// as one that is known.
fn known_values(table: &ReleasedClasses, protect: &str) -> Option<Result<Classes, String>> {
    let own = table.quasi.iter().position(|quasi| quasi.name == protect)?;
    let mut occurring: BTreeMap<(Vec<u32>, u32), (BTreeSet<String>, usize)> = BTreeMap::new();
    for class in 0..table.len() {
        let cells = table.cells(class);
        let others = cells.iter().enumerate().filter(|(index, _)| *index != own).map(|(_, &cell)| cell).collect();
        // In a generalized table every class is a bucket of its own, and says nothing beyond its
        // cells.
        let bucket = if table.len() == table.buckets() { 0 } else { table.bucket_of[class] };
        let values = occurring.entry((others, bucket)).or_insert((BTreeSet::new(), class));
        let label = cells[own] as usize;
        match &table.quasi[own].covers[label] {
            Cover::Point(_) => drop(values.0.insert(table.quasi[own].labels[label].clone())),
            Cover::Missing => drop(values.0.insert(String::new())),
            Cover::Leaves(leaves) if leaves.iter().all(|leaf| !leaf.contains('*')) => {
                values.0.extend(leaves.iter().cloned())
            }
            _ => return Some(Err(format!("the release has `{protect}` in ranges in its table `{}`", table.name))),
        }
    }
    let mut classes = Classes::new();
    for (values, class) in occurring.into_values() {
        let mut cells = table.describe(class);
        cells.remove(own);
        classes.entry(values).or_insert_with(|| described(cells));
    }
    Some(Ok(classes))
}

fn place(vocabulary: &[String], value: &str) -> u32 {
    vocabulary.binary_search_by(|known| known.as_str().cmp(value)).expect("collected from all releases") as u32
}

fn named(values: &[&str]) -> String {
    let more = values.len().saturating_sub(NAMED_MAX);
    let first: Vec<String> = values.iter().take(NAMED_MAX).map(|value| format!("`{value}`")).collect();
    if more > 0 { format!("{} and {more} more", first.join(", ")) } else { first.join(", ") }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Table;

    use super::*;

    /// One table has the diagnosis as what is hidden, the other together with the age, as a quasi
    /// attribute.
    #[test]
    fn a_sub_table_that_has_the_attribute_with_others_counts() {
        let table = |name: &str, rows: &[[&str; 2]], quasi: [&str; 1], sensitive: &[String]| {
            let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
            let table = Table::from_texts(&["age", "icd"], &rows);
            let cover = |_: &str, label: &str| match label {
                "*" => Cover::Everything,
                label => Cover::Leaves(vec![label.to_owned()]),
            };
            let quasi = if sensitive.is_empty() {
                vec!["age".to_owned(), "icd".to_owned()]
            } else {
                quasi.map(str::to_owned).to_vec()
            };
            ReleasedClasses::of_generalized(name, &table, &quasi, sensitive, cover, "t").unwrap()
        };
        let hidden = table("one", &[["*", "flu"], ["*", "HIV"], ["*", "cold"]], ["age"], &["icd".to_owned()]);
        let known = table("two", &[["old", "flu"], ["old", "HIV"], ["young", "cold"]], ["age"], &[]);
        let community =
            |tables: &[ReleasedClasses]| community_of("icd", &[Earlier { name: "six", digest: "", tables }]);
        let alone = community(std::slice::from_ref(&hidden)).unwrap();
        assert_eq!(alone.least().unwrap().values.len(), 3);
        let both = community(&[hidden.clone(), known]).unwrap();
        let least = both.least().unwrap();
        assert_eq!((least.values, least.classes[1]), (vec!["cold"], ("six", "age `young`")));
        let ranges = table("two", &[["old", "*"], ["young", "*"]], ["age"], &[]);
        let refused = community(&[hidden, ranges]).unwrap_err().to_string();
        assert!(refused.contains("has `icd` in ranges in its table `two`"), "{refused}");
        assert!(community(&[]).is_err());
    }
}
