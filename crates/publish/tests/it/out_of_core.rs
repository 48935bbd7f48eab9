//! Rows on the disk lead to the same release as rows in memory, to the byte.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use hedgerow_policy::{Assignment, Method, Policy, Role, Summary};
use hedgerow_privacy::Model;
use hedgerow_publish::catalog::{Catalog, Gate};
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, RowStore, TableFormat, publish};
use hedgerow_release::quoting::quoted;
use hedgerow_table::read::{HeldTable, ReadOptions, read_within};
use hedgerow_table::{Engine, NoProgress, Spill, Table, TableError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::random_case::random_case;

const MEBIBYTE: u64 = 1 << 20;

fn options(destination: &Path, format: TableFormat) -> PublishOptions<'static> {
    PublishOptions { format, seed: Some(7), candidates: true, ..PublishOptions::to(destination.to_path_buf()) }
}

/// From the disk. `spilled` hears whether the rows went there.
fn publish_within(
    policy: &Policy,
    spill: &Spill,
    options: &PublishOptions<'_>,
) -> (Result<Published, PublishError>, bool) {
    let spilled = std::cell::Cell::new(false);
    let open = |options: &ReadOptions<'_>| {
        let held = read_within(&policy.source.path, options, spill)?;
        spilled.set(matches!(held, HeldTable::Outside(_)));
        Ok(RowStore::held(held, spill))
    };
    let published = publish(policy, RowSource::Open(&open), options);
    (published, spilled.get())
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

/// The result, without times; or why there is none.
fn outcome(published: &Result<Published, PublishError>, method: Method) -> String {
    match published {
        Ok(published) => {
            // What another method would lose, and which labels of classes narrow each other, is
            // computed only where all rows are in memory.
            let narrowed = |problem: &str| method != Method::FullDomain && problem.contains("follows from");
            let in_memory = |problem: &str| problem.contains("would lose") || narrowed(problem);
            let warnings = published.warnings.iter().filter(|warning| !in_memory(&warning.problem));
            format!(
                "{:?} {:?} {:?} {:?} {:?}",
                published.rows,
                published.checked,
                published.losses,
                published.searched,
                warnings.collect::<Vec<_>>()
            )
        }
        Err(error) => error.to_string(),
    }
}

fn write_csv(table: &Table, path: &Path) {
    let mut text = table.header.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..table.rows {
        let cells: Vec<String> = table.columns.iter().map(|column| column.text(row)).collect();
        let only = if cells.len() == 1 && cells[0].is_empty() { "\"\"".to_owned() } else { String::new() };
        text += &(cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + &only + "\n");
    }
    std::fs::write(path, text).unwrap();
}

/// Publishes twice, in memory and from the disk, and compares.
fn same_both_ways(policy: &Policy, folder: &Path, spill: &Spill, format: TableFormat, context: &str) -> bool {
    let (here, there) = (folder.join("here"), folder.join("there"));
    let in_memory = publish(policy, RowSource::Policy, &options(&here, format));
    let (from_disk, spilled) = publish_within(policy, spill, &options(&there, format));
    assert!(spilled, "{context}: nothing was spilled");
    let method = policy.publish.method;
    assert_eq!(outcome(&in_memory, method), outcome(&from_disk, method), "{context}");
    let Ok(from_disk) = from_disk else {
        assert!(!here.exists() && !there.exists(), "{context}");
        return false;
    };
    assert!(from_disk.spilled > 0, "{context}");
    let (here_files, there_files) = (files(&here), files(&there));
    assert!(here_files == there_files, "{context}: {:?} {:?}", here_files.keys(), there_files.keys());
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .filter(|name| name.starts_with('.'))
        .collect();
    names.sort_unstable();
    assert!(names.is_empty(), "{context}: {names:?}");
    std::fs::remove_dir_all(&here).unwrap();
    std::fs::remove_dir_all(&there).unwrap();
    true
}

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// Publishes random tables both ways, as `prepare` would have it: how many were compared, how many
/// released, and how many of these with rows that may be suppressed.
fn compare_random(count: u64, prepare: impl Fn(&mut Policy, u64)) -> [usize; 3] {
    let (mut compared, mut released, mut suppressed) = (0, 0, 0);
    for seed in seeds(count) {
        let mut case = random_case(seed);
        prepare(&mut case.policy, seed);
        let crosses = |model: &Model| matches!(model, Model::CrossReleaseLDiversity { .. });
        if case.policy.rules.iter().any(|rule| rule.require.iter().any(crosses)) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        case.policy.source.path = folder.path().join("table.csv");
        write_csv(&case.table, &case.policy.source.path);
        let spill = Spill::new(folder.path(), 4 * MEBIBYTE).with_held(seed % 3 * 40);
        if spill_is_needless(&case.table, seed % 3 * 40) {
            continue;
        }
        let format = if seed.is_multiple_of(5) { TableFormat::Parquet } else { TableFormat::Csv };
        compared += 1;
        if same_both_ways(&case.policy, folder.path(), &spill, format, &format!("HEDGEROW_SEED={seed}")) {
            released += 1;
            suppressed += usize::from(case.policy.publish.suppression.floor_of(case.table.rows as u64) > 0);
        }
    }
    [compared, released, suppressed]
}

#[test]
fn a_thousand_random_tables_are_published_from_the_disk_as_from_memory() {
    let [compared, released, suppressed] = compare_random(1800, |_, _| {});
    if std::env::var("HEDGEROW_SEED").is_err() {
        assert!(compared >= 1000 && released >= 300 && suppressed >= 100, "{compared} {released} {suppressed}");
    }
}

/// Strict and relaxed cuts, which can part equal rows; cells as they are cut and tight ones.
#[test]
fn a_thousand_random_tables_are_divided_from_the_disk_as_from_memory() {
    let [compared, released, _] = compare_random(1800, |policy, seed| {
        policy.publish.method = Method::Mondrian;
        policy.publish.strict = !seed.is_multiple_of(2);
        policy.publish.summarise = if seed.is_multiple_of(3) { Summary::Tight } else { Summary::Region };
    });
    if std::env::var("HEDGEROW_SEED").is_err() {
        assert!(compared >= 1000 && released >= 300, "{compared} {released}");
    }
}

/// The rules over buckets: by value, and of numbers by window, for which rows are exchanged.
const IN_BUCKETS: [&str; 5] = [
    "{ model = \"frequency-l-diversity\", l = 2 }",
    "{ model = \"distinct-l-diversity\", l = 3 }",
    "{ model = \"entropy-l-diversity\", l = 1.5 }",
    "{ model = \"t-closeness\", t = 0.4 }",
    "{ model = \"delta-l-diversity\", delta = 1, l = 2, reading = \"window\" }",
];

/// A table with many equal rows, and with a number that tells them apart, since it matters which of
/// them goes where; one or two quasi attributes.
fn to_bucketize(seed: u64, folder: &Path) -> Policy {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = [1, 2, 5, 20, 60, 200, 900][rng.random_range(0..7usize)];
    let (ages, zips) = ([1, 2, 7, 60][rng.random_range(0..4usize)], [1, 3, 40][rng.random_range(0..3usize)]);
    let values = [1, 2, 3, 9, 40][rng.random_range(0..5usize)];
    let missing = [0.0, 0.1][rng.random_range(0..2usize)];
    let mut text = String::from("id,age,zip,value,name\n");
    for row in 0..rows {
        let age = if rng.random_bool(missing) { String::new() } else { rng.random_range(0..ages).to_string() };
        let zip: u32 = rng.random_range(0..zips);
        let value: u32 = if seed.is_multiple_of(11) { 0 } else { rng.random_range(0..values) };
        text += &format!("{row},{age},z{zip:02},{},x\n", value * 2);
    }
    std::fs::write(folder.join("people.csv"), text).unwrap();
    let quasi = [
        "age = { role = \"quasi\", hierarchy = { widths = [5, 20] } }\n",
        "age = { role = \"quasi\" }\nzip = { role = \"quasi\", hierarchy = { mask = 3 } }\n",
    ];
    let quasi = quasi[rng.random_range(0..2usize)];
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nid = {{ role = \"plain\", allow-unique = true }}\n{quasi}\
         value = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"value\"\nrequire = {}\n\
         [publish]\nmethod = \"anatomy\"\nassignment = \"{}\"\n",
        IN_BUCKETS[rng.random_range(0..IN_BUCKETS.len())],
        ["order", "random"][usize::from(rng.random_bool(0.3))],
    );
    let parsed = Policy::parse(&policy, &folder.join("policy.toml"));
    parsed.unwrap_or_else(|errors| panic!("HEDGEROW_SEED={seed}: {errors}\n{policy}"))
}

/// Every row gets the bucket that it has in memory, also where others are equal to it.
#[test]
fn a_thousand_random_tables_are_bucketized_from_the_disk_as_from_memory() {
    let (mut released, mut refused) = (0, 0);
    for seed in seeds(1200) {
        let folder = tempfile::tempdir().unwrap();
        let policy = to_bucketize(seed, folder.path());
        let spill = Spill::new(folder.path(), 4 * MEBIBYTE).with_held(0);
        let format = if seed.is_multiple_of(5) { TableFormat::Parquet } else { TableFormat::Csv };
        match same_both_ways(&policy, folder.path(), &spill, format, &format!("HEDGEROW_SEED={seed}")) {
            true => released += 1,
            false => refused += 1,
        }
    }
    assert!(std::env::var("HEDGEROW_SEED").is_ok() || released >= 500 && refused >= 50, "{released} {refused}");
}

/// So small that all of it is held.
fn spill_is_needless(table: &Table, held: u64) -> bool {
    table.columns.iter().map(|column| column.codes.bytes() as u64).sum::<u64>() <= held
}

/// Several chunks, groups of buckets and blocks of a group; rules over a protected attribute and a
/// plain one besides.
#[test]
fn large_tables_are_published_from_the_disk_as_from_memory() {
    for (seed, format) in [(1, TableFormat::Csv), (2, TableFormat::Parquet), (3, TableFormat::Csv)] {
        let mut rng = StdRng::seed_from_u64(seed);
        let folder = tempfile::tempdir().unwrap();
        let rows = [700_000, 330_000, 65_536][seed as usize - 1];
        let mut text = String::from("age,zip,sex,disease,ward\n");
        for _ in 0..rows {
            let age: u32 = rng.random_range(0..90);
            let zip: u32 = rng.random_range(0..40) + 10_000;
            let disease: u32 = rng.random_range(0..if age > 88 { 2 } else { 12 });
            text += &format!("{age},{zip},{},d{disease},{}\n", ["f", "m"][age as usize % 2], rng.random_range(0..300));
        }
        std::fs::write(folder.path().join("people.csv"), text).unwrap();
        let policy = "[source]\npath = \"people.csv\"\n[attributes]\n\
            age = { role = \"quasi\", hierarchy = { widths = [5, 20] } }\n\
            zip = { role = \"quasi\", hierarchy = { mask = 5 } }\nsex = { role = \"quasi\" }\n\
            disease = { role = \"sensitive\" }\nward = { role = \"plain\" }\n\
            [[rule]]\nrequire = { model = \"k-anonymity\", k = 60 }\n\
            [[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 5 }\n\
            [publish]\nsuppression = 0.05\n";
        let mut policy = Policy::parse(policy, &folder.path().join("policy.toml")).unwrap();
        let spill = Spill::new(folder.path(), 24 * MEBIBYTE).with_held(100_000);
        assert!(same_both_ways(&policy, folder.path(), &spill, format, &format!("seed {seed}")));
        policy.publish.method = Method::Mondrian;
        policy.publish.strict = seed == 2;
        assert!(same_both_ways(&policy, folder.path(), &spill, format, &format!("mondrian, seed {seed}")));
        policy.publish.method = Method::Anatomy;
        policy.publish.assignment = if seed == 2 { Assignment::Random } else { Assignment::Order };
        policy.rules.remove(0);
        assert!(same_both_ways(&policy, folder.path(), &spill, format, &format!("anatomy, seed {seed}")));
    }
}

#[test]
fn adult_is_published_from_the_disk_as_from_memory() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/policy-l.toml");
    let mut policy = Policy::load(&example).unwrap();
    let ways = [Method::FullDomain, Method::Mondrian, Method::Anatomy].map(|method| (method, Assignment::Order));
    for (method, assignment) in ways.into_iter().chain([(Method::Anatomy, Assignment::Random)]) {
        policy.publish.method = method;
        policy.publish.assignment = assignment;
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path(), 64 * MEBIBYTE).with_held(0);
        let context = format!("{method:?}, {assignment:?}");
        assert!(same_both_ways(&policy, folder.path(), &spill, TableFormat::Csv, &context), "{context}");
    }
}

/// A policy over four columns of a few thousand rows.
fn small(folder: &Path) -> Policy {
    let mut rng = StdRng::seed_from_u64(5);
    let row = |_| format!("{},{},x\n", rng.random_range(0..50), ["f", "m"][rng.random_range(0..2usize)]);
    let text: String = std::iter::once("age,sex,job\n".to_owned()).chain((0..4000).map(row)).collect();
    std::fs::write(folder.join("people.csv"), text).unwrap();
    let policy = "[source]\npath = \"people.csv\"\n[attributes]\n\
        age = { role = \"quasi\", hierarchy = { widths = [5, 20] } }\nsex = { role = \"quasi\" }\njob = { role = \"plain\" }\n\
        [[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n";
    Policy::parse(policy, &folder.join("policy.toml")).unwrap()
}

#[test]
fn a_disk_that_is_full_at_any_time_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let policy = small(folder.path());
    let destination = folder.path().join("release");
    let unlimited = Spill::new(folder.path(), MEBIBYTE).with_held(0);
    publish_within(&policy, &unlimited, &options(&destination, TableFormat::Csv)).0.unwrap();
    std::fs::remove_dir_all(&destination).unwrap();
    let needed = unlimited.written();
    assert!(needed > 12_000, "{needed}");
    for bytes in [0, needed / 3, needed / 2, needed * 2 / 3, needed - 1] {
        let spill = Spill::new(folder.path(), MEBIBYTE).with_held(0).with_disk(bytes);
        let error = publish_within(&policy, &spill, &options(&destination, TableFormat::Csv)).0.unwrap_err();
        let full = |error: &PublishError| matches!(error, PublishError::Table(TableError::Io { source, .. }) if source.kind() == ErrorKind::StorageFull);
        assert!(full(&error), "{bytes}: {error}");
        assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), ["people.csv"], "{bytes}");
    }
}

#[test]
fn methods_that_need_all_rows_are_refused_with_the_memory_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut policy = small(folder.path());
    let spill = Spill::new(folder.path(), MEBIBYTE).with_held(0);
    let destination = folder.path().join("release");
    for method in [Method::BestCut, Method::Cluster] {
        policy.publish.method = method;
        let (refused, _) = publish_within(&policy, &spill, &options(&destination, TableFormat::Csv));
        let error = refused.unwrap_err().to_string();
        let expected = format!("{} needs all 4000 rows in memory: ", method.name());
        assert!(error.contains(&expected) && error.contains("\nhint: allow at least "), "{error}");
    }
    policy.publish.method = Method::Mondrian;
    policy.publish.improve = true;
    let (refused, _) = publish_within(&policy, &spill, &options(&destination, TableFormat::Csv));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("`improve = true` needs all 4000 rows in memory: "), "{error}");
    policy.publish.improve = false;
    policy.publish.method = Method::FullDomain;
    let (first, catalog) = (folder.path().join("first"), folder.path().join("catalog"));
    publish(&policy, RowSource::Policy, &options(&first, TableFormat::Csv)).unwrap();
    Catalog::add(&catalog, &first, None, None, &NoProgress).unwrap();
    let gate = Gate { catalog: Some(catalog), ..Gate::default() };
    let options = PublishOptions { gate, ..options(&destination, TableFormat::Csv) };
    let error = publish_within(&policy, &spill, &options).0.unwrap_err().to_string();
    assert!(error.contains("an audit with a catalog needs all 4000 rows in memory"), "{error}");
    // The same with a community.
    policy.community.releases = vec![first.display().to_string()];
    let options = PublishOptions { gate: Gate::default(), ..options };
    let error = publish_within(&policy, &spill, &options).0.unwrap_err().to_string();
    assert!(error.contains("a guarantee across releases needs all 4000 rows in memory"), "{error}");
    assert!(!destination.exists(), "nothing is written that was not audited");
}

/// Rows on the disk are counted one by one, not by whom they are about, nor by who they can be.
#[test]
fn units_and_rows_that_fit_are_refused_by_name_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::new(folder.path(), MEBIBYTE).with_held(0);
    let destination = folder.path().join("release");
    let small = small(folder.path());
    for method in [Method::FullDomain, Method::Mondrian] {
        let mut policy = small.clone();
        policy.publish.method = method;
        policy.attributes.iter_mut().find(|attribute| attribute.name == "job").unwrap().role = Role::Unit;
        let (refused, spilled) = publish_within(&policy, &spill, &options(&destination, TableFormat::Csv));
        let error = refused.unwrap_err().to_string();
        let why = "publishing within a limit of memory that the rows exceed counts rows, not units, and `job` has the role `unit`";
        assert!(spilled && error.contains(why), "{spilled} {error}");
    }
    let mut policy = small;
    policy.rules.iter_mut().for_each(|rule| rule.consistent = true);
    let error = publish_within(&policy, &spill, &options(&destination, TableFormat::Csv)).0.unwrap_err().to_string();
    assert!(error.contains("`consistent`"), "{error}");
    assert!(!destination.exists());
}

#[test]
fn more_distinct_rows_than_a_search_has_memory_for_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let policy = small(folder.path());
    let spill = Spill::new(folder.path(), 600).with_held(0);
    let error = publish_within(&policy, &spill, &options(&folder.path().join("release"), TableFormat::Csv)).0;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the table has more than 8 distinct rows") && error.contains("allow more memory"),
        "{error}"
    );
}

/// A table on the disk says of itself what it would say in memory.
#[test]
fn a_table_on_the_disk_has_the_profile_of_one_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    let (path, options) = (folder.path().join("people.csv"), ReadOptions::default());
    let table = hedgerow_table::read::read_table(&path, &options).unwrap();
    let held = read_within(&path, &options, &Spill::new(folder.path(), MEBIBYTE).with_held(0)).unwrap();
    let HeldTable::Outside(spilled) = held else { panic!("nothing was spilled") };
    assert_eq!(spilled.profile(), hedgerow_table::engine::Embedded::new(&table).profile());
}
