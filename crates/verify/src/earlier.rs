//! Earlier releases as cross-release l-diversity sees them: the sets of protected values of their
//! classes.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_release::{Release, ReleasedClasses};
use hedgerow_table::{Bound, Cover, InputError, TableError};

use hedgerow_privacy::models::{Community, EarlierRelease};

/// How many differing values a warning names.
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

/// The disclosure of a protected attribute by earlier releases. A bucket of a bucketized release is
/// taken for a class: where the same quasi values occur in several, an adversary knows less than
/// this. A sub-table that has the attribute as a quasi attribute has a class for every combination
/// of the others.
///
/// `own` has the values of the new release: a label that covers a range covers those of them that
/// lie in it. A release without the attribute rules out no value.
pub fn community_of(protect: &str, earlier: &[Earlier<'_>], own: &[String]) -> Result<Community, TableError> {
    let mut found: Vec<(&Earlier<'_>, u64, PossibleClasses<'_>)> = Vec::new();
    for release in earlier {
        for table in release.tables {
            if let Some(classes) = sensitive_values(table, protect) {
                found.push((release, table.rows, classes));
            }
            if let Some(classes) = known_values(table, protect) {
                found.push((release, table.rows, classes));
            }
        }
    }
    if found.is_empty() && !earlier.is_empty() {
        let mut names: Vec<&str> = earlier.iter().flat_map(|release| sensitive_names(release)).collect();
        names.sort_unstable();
        names.dedup();
        let problem = format!("no earlier release has a sensitive attribute `{protect}`");
        let hint = match names.is_empty() {
            true => {
                "they have no sensitive attribute, so that a requirement together with them requires nothing".to_owned()
            }
            false => format!("they have: {}; one attribute needs one name in all releases", names.join(", ")),
        };
        return Err(TableError::input(earlier[0].name, problem, hint));
    }
    let exact = found.iter().flat_map(|(_, _, classes)| classes).flat_map(|(possible, _)| &possible.values);
    let known: BTreeSet<&str> = exact.map(String::as_str).chain(own.iter().map(String::as_str)).collect();
    let found: Vec<(&Earlier<'_>, u64, ClassValues)> = found
        .iter()
        .map(|(release, rows, classes)| {
            let mut different = ClassValues::new();
            for (possible, name) in classes {
                different.entry(possible.among(&known)).or_insert_with(|| name.clone());
            }
            (*release, *rows, different)
        })
        .collect();
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
        let hint = "audit the new release together with them instead: publish it without this requirement, and with a catalog of all";
        TableError::input("community", problem, hint)
    })
}

fn sensitive_names<'a>(release: &Earlier<'a>) -> impl Iterator<Item = &'a str> {
    release.tables.iter().flat_map(|table| &table.sensitive).map(|sensitive| sensitive.name.as_str())
}

/// Where the values of an earlier release are not those of the source. Publishers have different
/// values for many reasons, and a value that one of them lacks is never left; but one that is
/// spelled differently would be left.
pub fn warn_of_other_values(community: &Community, protect: &str, source: &[String], rows: u64) -> Vec<InputError> {
    let own: BTreeSet<&str> = source.iter().map(String::as_str).filter(|value| !value.is_empty()).collect();
    let mut warnings = Vec::new();
    for release in &community.releases {
        let codes = release.classes.iter().flat_map(|(values, _)| values);
        let theirs: BTreeSet<&str> =
            codes.map(|&value| community.vocabulary[value as usize].as_str()).filter(|text| !text.is_empty()).collect();
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
        let hint = format!(
            "no individual is left with such a value; if it is only spelled differently, state that under [community.values.{protect}]"
        );
        warnings.push(InputError::new(release.name.clone(), problem, hint));
    }
    warnings
}

/// Releases that do not have the attribute, which rule out no value of it.
pub fn warn_of_absent(protect: &str, earlier: &[Earlier<'_>]) -> Vec<InputError> {
    let lacks = |release: &&Earlier<'_>| {
        let quasi = |table: &ReleasedClasses| table.quasi.iter().any(|quasi| quasi.name == protect);
        release.tables.iter().all(|table| table.sensitive(protect).is_none() && !quasi(table))
    };
    let warning = |release: &Earlier<'_>| {
        let problem = format!("the release has no attribute `{protect}`, so it rules out no value of it");
        let names: Vec<&str> = sensitive_names(release).collect();
        let hint = format!("one attribute needs one name in all releases; it has: {}", names.join(", "));
        InputError::new(release.name, problem, hint)
    };
    earlier.iter().filter(lacks).map(warning).collect()
}

/// The values that a class allows for the protected attribute: those that it lists, and labels that
/// cover more than they list.
#[derive(Debug, Default)]
struct Possible<'a> {
    values: BTreeSet<String>,
    covers: Vec<&'a Cover>,
}

/// The values that each class allows, and the name of the class.
type PossibleClasses<'a> = Vec<(Possible<'a>, String)>;

impl Possible<'_> {
    fn among(&self, known: &BTreeSet<&str>) -> BTreeSet<String> {
        let covered = known.iter().filter(|value| self.covers.iter().any(|cover| covers(cover, value)));
        self.values.iter().cloned().chain(covered.map(|value| (*value).to_owned())).collect()
    }
}

fn covers(cover: &Cover, value: &str) -> bool {
    let point = || Bound::parse(value);
    match cover {
        Cover::Everything => true,
        Cover::Missing => value.is_empty(),
        Cover::Point(own) => point() == Some(*own),
        Cover::Interval { low, high } => {
            point().is_some_and(|point| low.is_none_or(|low| low <= point) && high.is_none_or(|high| point < high))
        }
        Cover::Leaves(leaves) => leaves.iter().any(|leaf| fits(leaf, value)),
    }
}

/// A `*` in a masked label stands for one character.
fn fits(leaf: &str, value: &str) -> bool {
    let alike = |(mask, character): (char, char)| mask == '*' || mask == character;
    leaf == value || (leaf.chars().count() == value.chars().count() && leaf.chars().zip(value.chars()).all(alike))
}

/// The values of each different class, and what one such class is called.
type ClassValues = BTreeMap<BTreeSet<String>, String>;

fn described(cells: Vec<(&str, &str)>) -> String {
    cells.into_iter().map(|(name, label)| format!("{name} `{label}`")).collect::<Vec<_>>().join(", ")
}

/// `None` when the table does not have the attribute as a sensitive one.
fn sensitive_values<'a>(table: &'a ReleasedClasses, protect: &str) -> Option<PossibleClasses<'a>> {
    let sensitive = table.sensitive(protect)?;
    let mut classes = ClassValues::new();
    for (class, &bucket) in table.bucket_of.iter().enumerate() {
        let values = sensitive.of_bucket(bucket).iter().map(|&(value, _)| sensitive.values[value as usize].clone());
        classes.entry(values.collect()).or_insert_with(|| described(table.describe(class)));
    }
    let possible = |(values, name)| (Possible { values, covers: Vec::new() }, name);
    Some(classes.into_iter().map(possible).collect())
}

/// The values that occur with every combination of the other quasi attributes and the bucket.
/// `None` when the table does not have the attribute as one that is known.
fn known_values<'a>(table: &'a ReleasedClasses, protect: &str) -> Option<PossibleClasses<'a>> {
    let own = table.quasi.iter().position(|quasi| quasi.name == protect)?;
    let mut occurring: BTreeMap<(Vec<u32>, u32), (Possible<'a>, usize)> = BTreeMap::new();
    for class in 0..table.len() {
        let cells = table.cells(class);
        let others = cells.iter().enumerate().filter(|(index, _)| *index != own).map(|(_, &cell)| cell).collect();
        // In a generalized table every class is a bucket of its own, and says nothing beyond its
        // cells.
        let bucket = if table.len() == table.buckets() { 0 } else { table.bucket_of[class] };
        let (possible, _) = occurring.entry((others, bucket)).or_insert((Possible::default(), class));
        let label = cells[own] as usize;
        match &table.quasi[own].covers[label] {
            Cover::Point(_) => drop(possible.values.insert(table.quasi[own].labels[label].clone())),
            Cover::Missing => drop(possible.values.insert(String::new())),
            Cover::Leaves(leaves) if leaves.iter().all(|leaf| !leaf.contains('*')) => {
                possible.values.extend(leaves.iter().cloned())
            }
            cover => possible.covers.push(cover),
        }
    }
    let name = |class: usize| {
        let mut cells = table.describe(class);
        cells.remove(own);
        described(cells)
    };
    Some(occurring.into_values().map(|(possible, class)| (possible, name(class))).collect())
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
            |tables: &[ReleasedClasses]| community_of("icd", &[Earlier { name: "six", digest: "", tables }], &[]);
        let alone = community(std::slice::from_ref(&hidden)).unwrap();
        assert_eq!(alone.least().unwrap().values.len(), 3);
        let both = community(&[hidden.clone(), known]).unwrap();
        let least = both.least().unwrap();
        assert_eq!((least.values, least.classes[1]), (vec!["cold"], ("six", "age `young`")));
        let ranges = table("two", &[["old", "*"], ["young", "*"]], ["age"], &[]);
        let anything = community(&[hidden, ranges]).unwrap();
        assert_eq!(anything.least().unwrap().values.len(), 3, "a label that covers everything rules nothing out");
        assert!(community(&[]).is_err());
    }
}
