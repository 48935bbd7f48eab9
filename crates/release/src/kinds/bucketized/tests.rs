//! Tables that belong together, tables that do not, and what cannot be read at all.

use std::fs;

use super::*;
use crate::kinds::generalized::CountReleased;
use crate::manifest::FieldDescriptor;
use hedgerow_table::engine::Embedded;
use hedgerow_table::{Counted, EngineAnswer, NoProgress, Spill};

fn resources() -> (Resource, Resource) {
    let group = || FieldDescriptor::new(GROUP, Kind::Integer, None);
    let quasi = Resource::csv("quasi", vec![FieldDescriptor::new("age", Kind::Integer, Some("quasi")), group()]);
    let disease = FieldDescriptor::new("disease", Kind::Category, Some("sensitive"));
    (quasi, Resource::csv("sensitive", vec![group(), disease, FieldDescriptor::new(COUNT, Kind::Integer, None)]))
}

fn examine(quasi: &str, sensitive: &str) -> Result<(Bucketized, Vec<String>), TableError> {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("quasi.csv"), format!("age,group\n{quasi}")).unwrap();
    fs::write(directory.path().join("sensitive.csv"), format!("group,disease,count\n{sensitive}")).unwrap();
    let (first, second) = resources();
    let here = Bucketized::examine(directory.path(), &first, &second, &NoProgress);
    let spill = Spill::new(directory.path(), 1 << 20).with_held(0);
    for by in [ReadBy::Spill(&spill), ReadBy::Counter(&Elsewhere)] {
        let outside = Bucketized::examine_within(directory.path(), &first, &second, Some(by), &NoProgress);
        same_from_outside(&here, &outside);
    }
    here
}

/// Another machine.
struct Elsewhere;

impl CountReleased for Elsewhere {
    fn count(
        &self,
        directory: &Path,
        table: &Resource,
        names: &[&str],
        progress: &dyn Progress,
    ) -> Result<Counted, TableError> {
        let table = read_released(directory, table, progress)?;
        match Counted::of(&Embedded::new(&table), names, progress)? {
            EngineAnswer::Exact(counted) => Ok(counted),
            EngineAnswer::Unsupported(why) => panic!("{why}"),
        }
    }
}

/// Whether the rows are in memory changes nothing in what is found.
#[track_caller]
fn same_from_outside(
    here: &Result<(Bucketized, Vec<String>), TableError>,
    outside: &Result<(Bucketized, Vec<String>), TableError>,
) {
    match (here, outside) {
        (Ok((here, problems)), Ok((outside, others))) => {
            assert!(here.in_memory && outside.bucket_of_row.is_empty() && !outside.in_memory);
            assert_eq!(problems, others);
            let judged = |read: &Bucketized| (read.numbers.clone(), read.sizes.clone(), read.quasi.rows, read.counts());
            assert_eq!(judged(here), judged(outside));
            assert_eq!((&here.starts, &here.values), (&outside.starts, &outside.values));
            assert!(outside.classes_named("quasi", &Codebook::new(), "").is_err());
        }
        (Err(here), Err(outside)) => assert_eq!(here.to_string(), outside.to_string()),
        _ => panic!("{here:?} {outside:?}"),
    }
}

#[track_caller]
fn contradicts(quasi: &str, sensitive: &str, words: &[&str]) {
    let (_, contradictions) = examine(quasi, sensitive).unwrap();
    assert_eq!(contradictions.len(), words.len(), "{contradictions:?}");
    for (contradiction, words) in contradictions.iter().zip(words) {
        assert!(contradiction.contains(words), "{contradictions:?}");
    }
}

const QUASI: &str = "23,7\n27,7\n35,2\n59,2\n61,2\n";
const SENSITIVE: &str = "2,flu,2\n7,pneumonia,1\n2,,1\n7,dyspepsia,1\n";

#[test]
fn both_tables_become_one_view() {
    let (read, contradictions) = examine(QUASI, SENSITIVE).unwrap();
    assert_eq!(contradictions, Vec::<String>::new());
    assert_eq!((read.numbers.as_slice(), read.sizes.as_slice()), (&[2, 7][..], &[3, 2][..]));
    assert_eq!(read.bucket_of_row, [1, 1, 0, 0, 0]);
    let texts = |bucket: usize| -> Vec<(String, u32)> {
        read.values(bucket).iter().map(|&(code, count)| (read.domain.text(code), count)).collect()
    };
    assert_eq!(texts(0), [("flu".to_owned(), 2), (String::new(), 1)], "a missing value is a value");
    assert_eq!(texts(1), [("dyspepsia".to_owned(), 1), ("pneumonia".to_owned(), 1)]);
    assert_eq!(read.rows_by_bucket(), (vec![2, 3, 4, 0, 1], vec![0, 3, 5]));
    assert_eq!(read.counts().iter().sum::<u64>(), 5);
    assert_eq!(read.sensitive, "disease");
}

#[test]
fn tables_that_do_not_belong_together_are_reported() {
    contradicts("23,7\n27,7\n35,2\n59,2\n", SENSITIVE, &["1 groups differ in size"]);
    contradicts(
        &format!("{QUASI}70,9\n"),
        SENSITIVE,
        &["the first is group 9, with 1 rows and counts that add up to 0"],
    );
    contradicts(QUASI, &format!("{SENSITIVE}9,flu,1\n"), &["group 9, with 0 rows and counts that add up to 1"]);
    contradicts(QUASI, "2,flu,1\n2,flu,1\n2,,1\n7,pneumonia,1\n7,dyspepsia,1\n", &["1 rows of sensitive.csv repeat"]);
    contradicts(QUASI, &format!("{SENSITIVE}2,gastritis,0\n"), &["1 counts are missing or below 1"]);
    contradicts(QUASI, &format!("{SENSITIVE}2,gastritis,-1\n2,cold,\n"), &["2 counts are missing or below 1"]);
    contradicts(&QUASI.replace("23,7", "23,"), SENSITIVE, &["1 rows of quasi.csv have no group", "2 groups differ"]);
    contradicts("23,\n", ",flu,1\n", &["quasi.csv have no group", "sensitive.csv have no group"]);
}

#[test]
fn unreadable_tables_are_refused() {
    assert!(examine(QUASI, "2,flu,4294967296\n").unwrap_err().to_string().contains("a count of 4294967296"));
    assert!(examine("23,first\n", SENSITIVE).is_err());
    assert!(examine(QUASI, "2,flu,1.5\n").is_err());
    let directory = tempfile::tempdir().unwrap();
    let (quasi, sensitive) = resources();
    for (quasi, sensitive) in [(sensitive.clone(), sensitive.clone()), (quasi.clone(), quasi)] {
        let error = Bucketized::examine(directory.path(), &quasi, &sensitive, &NoProgress).unwrap_err().to_string();
        assert!(error.contains("hint: expected the"), "{error}");
    }
}
