//! Bucketized releases: published, read by hand, tampered with, refused.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::release::{Required, Texts, keys, quoted};
use crate::running::{Folder, PEOPLE, Ran};

const POLICY: &str = r#"[source]
path = "people.csv"
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { widths = [10] } }
city = { role = "quasi", hierarchy = "city.csv" }
illness = { role = "sensitive" }
[[rule]]
protect = "illness"
require = { model = "frequency-l-diversity", l = 2 }
[publish]
method = "anatomy"
"#;

/// Twelve people, six of whom have the flu.
fn with_policy(policy: &str) -> Folder {
    let folder = Folder::with_people();
    folder.write("policy.toml", policy);
    folder
}

fn with_release() -> Folder {
    let folder = with_policy(POLICY);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--seed", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

#[track_caller]
fn detected(case: &str, file: &str, change: impl FnOnce(String) -> String, code: i32, words: &str) {
    let folder = with_release();
    let before = folder.read(&format!("release/{file}"));
    let after = change(before.clone());
    assert_ne!(before, after, "{case} changes nothing");
    folder.write(&format!("release/{file}"), after);
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(code), "{case}: {ran:?}");
    let said = if code == 4 { &ran.stdout } else { &ran.stderr };
    assert!(said.contains(words), "{case}: {said}");
}

/// The text with one line changed: the first of `sensitive.csv` below its header, as group, value,
/// count.
fn first_value(change: impl Fn(&str, &str, u64) -> String) -> impl FnOnce(String) -> String {
    move |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let fields: Vec<&str> = lines[1].split(',').collect();
        lines[1] = change(fields[0], fields[1], fields[2].parse().unwrap());
        lines.join("\n") + "\n"
    }
}

fn with(pointer: &'static str, value: Value) -> impl FnOnce(String) -> String {
    move |text| {
        let mut manifest: Value = serde_json::from_str(&text).unwrap();
        *manifest.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        manifest.to_string()
    }
}

#[test]
fn a_changed_bucket_is_detected() {
    let table = "sensitive.csv";
    let more = first_value(|group, value, count| format!("{group},{value},{}", count + 1));
    detected("a count raised", table, more, 4, "1 groups differ in size");
    let nothing = first_value(|group, value, _| format!("{group},{value},0"));
    detected("a count of nothing", table, nothing, 4, "1 counts are missing or below 1");
    let negative = first_value(|group, value, _| format!("{group},{value},-1"));
    detected("a count below nothing", table, negative, 4, "1 counts are missing or below 1");
    let twice = first_value(|group, value, count| format!("{group},{value},{count}\n{group},{value},{count}"));
    detected("a value twice", table, twice, 4, "1 rows of sensitive.csv repeat a value of their group");
    let moved = first_value(|_, value, count| format!("99,{value},{count}"));
    detected("a group of its own", table, moved, 4, "2 groups differ in size");
    let nameless = first_value(|_, value, count| format!(",{value},{count}"));
    detected("no group", table, nameless, 4, "1 rows of sensitive.csv have no group");
    let one_illness = |text: String| text.replace("Cough", "Flu").replace("Ache", "Flu");
    detected("one illness for all", table, one_illness, 4, "FAILS");
    detected(
        "huge counts",
        table,
        first_value(|group, value, _| format!("{group},{value},{}", u64::MAX / 2)),
        4,
        "count",
    );
    detected("a count in words", table, first_value(|group, value, _| format!("{group},{value},one")), 4, "count");
    detected("no rows left", table, |text| text.lines().next().unwrap().to_owned() + "\n", 4, "no rows");
    let drop_last = |text: String| text.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n";
    detected("a row removed", "quasi.csv", drop_last, 4, "the manifest says 12 rows, the table has 11");
    detected("an age changed", "quasi.csv", |text| text.replacen("21,", "91,", 1), 4, "no entry in codebook.csv");
    detected("the header changed", "quasi.csv", |text| text.replacen("group", "grp", 1), 4, "columns");
    detected("the header changed", table, |text| text.replacen("count", "n", 1), 4, "columns");
}

#[test]
fn a_lying_manifest_is_detected() {
    let manifest = "datapackage.json";
    let claim = "/hedgerow/guarantees/0";
    detected("a better claim", manifest, with("/hedgerow/guarantees/0/achieved/l", json!(7)), 4, "claims l = 7");
    detected("a stricter rule", manifest, with("/hedgerow/guarantees/0/required/l", json!(9)), 4, "FAILS");
    detected("other buckets", manifest, with("/hedgerow/classes/count", json!(5)), 4, "5 classes");
    detected("other rows", manifest, with("/hedgerow/rows/out", json!(11)), 4, "11 rows");
    let k = json!({ "model": "k-anonymity", "required": { "k": 2 }, "achieved": { "k": 2 }, "know": ["age"],
                    "protect": null, "holds": true });
    detected("k rows that look alike", manifest, with(claim, k), 4, "cannot promise k-anonymity");
    let alpha = json!({ "model": "alpha-k-anonymity", "required": { "alpha": 0.5, "k": 2 }, "holds": true,
                        "achieved": { "alpha": 0.5, "k": 2 }, "know": ["age"], "protect": "illness" });
    detected("both", manifest, with(claim, alpha), 4, "cannot promise alpha-k-anonymity");
    detected("another protected", manifest, with("/hedgerow/guarantees/0/protect", json!("city")), 4, "`city`");
    detected("the bucket known", manifest, with("/hedgerow/guarantees/0/know", json!(["group"])), 4, "`group`");
    detected("the value known", manifest, with("/hedgerow/guarantees/0/know", json!(["illness"])), 4, "`illness`");
    detected("one table less", manifest, with("/resources/1/name", json!("data")), 4, "make no release");
    detected("a third table", manifest, with("/resources/2/name", json!("extra")), 4, "make no release");
    detected("one table twice", manifest, with("/resources/1/path", json!("quasi.csv")), 4, "columns");
    detected("text for counts", manifest, with("/resources/1/schema/fields/2/type", json!("string")), 4, "columns");
}

#[test]
fn a_file_beside_the_tables_is_reported() {
    let folder = with_release();
    folder.write("release/data.csv", "name,illness\nAnn,Flu\n");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("the file `data.csv` is not in the manifest"), "{ran:?}");
}

#[track_caller]
fn refused(changes: &[(&str, &str)], code: i32, words: &[&str]) {
    let mut policy = POLICY.to_owned();
    for (from, to) in changes {
        assert!(policy.contains(from), "{from}");
        policy = policy.replace(from, to);
    }
    let folder = with_policy(&policy);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(code), "{policy}\n{ran:?}");
    for words in words.iter().chain(&["hint: "]) {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(!folder.path("release").exists());
}

#[test]
fn unsupported_policies_of_buckets_are_refused() {
    let l = "{ model = \"frequency-l-diversity\", l = 2 }";
    refused(&[(l, "{ model = \"k-anonymity\", k = 2 }")], 2, &["cannot keep k-anonymity", "policy.toml:10"]);
    refused(&[(l, "{ model = \"alpha-k-anonymity\", alpha = 0.5, k = 2 }")], 2, &["cannot keep alpha-k-anonymity"]);
    refused(&[("city = { role = \"quasi\"", "city = { role = \"sensitive\"")], 2, &["and the policy has 2"]);
    refused(
        &[
            ("protect = \"illness\"", "protect = \"city\""),
            ("role = \"quasi\", hierarchy = \"city.csv\"", "role = \"plain\""),
        ],
        2,
        &["protects `illness` alone"],
    );
    refused(&[(l, "{ model = \"epsilon-m-anonymity\", epsilon = 1, m = 2 }")], 2, &["cannot keep epsilon-m-anonymity"]);
    let pairwise = "{ model = \"delta-l-diversity\", delta = 1, l = 2, reading = \"pairwise\" }";
    refused(&[(l, pairwise)], 2, &["cannot keep delta-l-diversity", "several buckets"]);
    // Six of twelve have the flu: 2 is the largest l that can be required.
    refused(&[("l = 2 }", "l = 3 }")], 3, &["requires l = 3 of `illness`", "achieves l = 2", "is in 6 of them"]);
    refused(&[("l = 2 }", "l = 13 }")], 3, &["3 values in 12 rows"]);
    refused(&[(l, "{ model = \"distinct-l-diversity\", l = 4 }")], 3, &["achieves l = 3"]);
}

#[test]
fn a_column_named_like_one_of_ours_is_refused() {
    for (name, words) in [("group", "a column `group` of its own"), ("count", "a column `count` of its own")] {
        let folder = with_policy(&POLICY.replace("illness", name));
        folder.write("people.csv", PEOPLE.replace("illness", name));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
}

fn tiny(data: &str, require: &str) -> (Folder, Ran) {
    let folder = Folder::new();
    folder.write("t.csv", data);
    let attributes = "q = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n";
    let rule = format!("[[rule]]\nprotect = \"s\"\nrequire = {require}\n[publish]\nmethod = \"anatomy\"\n");
    folder.write("policy.toml", format!("[source]\npath = \"t.csv\"\n[attributes]\n{attributes}{rule}"));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    (folder, ran)
}

#[test]
fn degenerate_tables() {
    let l = |l: u32| format!("{{ model = \"frequency-l-diversity\", l = {l} }}");
    for (data, l, code) in [
        ("q,s\na,x\nb,x\nc,x\n", l(2), 3),
        ("q,s\na,x\nb,x\nc,x\n", l(1), 0),
        ("q,s\na,x\nb,y\n", l(3), 3),
        ("q,s\na,x\n", l(1), 0),
        ("q,s\na,x\n", l(2), 3),
        ("q,s\na,x\na,x\na,x\na,x\n", l(2), 3),
        ("q,s\na,x\na,y\na,x\na,y\n", l(2), 0),
        ("q,s\na,\nb,\nc,x\nd,y\n", l(2), 0),
        ("q,s\na,\nb,\nc,\nd,y\n", l(2), 3),
        ("q,s\n,x\n,y\n,z\n", l(3), 0),
        ("q,s\na,1.5\nb,2.5\nc,1.50\nd,7\n", l(2), 0),
        ("q,s\n", l(1), 2),
    ] {
        let (folder, ran) = tiny(data, &l);
        assert_eq!(ran.code, Some(code), "{data:?}, {l}: {ran:?}");
        assert_eq!(folder.path("release").exists(), code == 0);
        if code == 0 {
            let parquet = folder.run(&["publish", "policy.toml", "-o", "parquet", "--format", "parquet"]);
            assert_eq!(parquet.code, Some(0), "{parquet:?}");
            assert!(folder.path("parquet/quasi.parquet").exists() && folder.path("parquet/sensitive.parquet").exists());
            for release in ["release", "parquet"] {
                let ran = folder.run(&["check", release]);
                assert_eq!(ran.code, Some(0), "{data:?}, {l}, {release}: {ran:?}");
            }
        }
    }
}

/// Close numbers stay out of one bucket exactly when no window of 2δ holds more than n/l of them:
/// the deal sees to it.
#[test]
fn close_numbers_are_kept_apart() {
    let window = "{ model = \"delta-l-diversity\", delta = 1, l = 2 }";
    for (numbers, code) in [(&[1, 2, 10, 11][..], 0), (&[1, 2, 3, 10], 3), (&[1, 2, 4, 5, 7, 8], 0), (&[4, 4, 9, 9], 0)]
    {
        let data: String = numbers.iter().enumerate().map(|(row, number)| format!("{row},{number}\n")).collect();
        let (folder, ran) = tiny(&format!("q,s\n{data}"), window);
        assert_eq!(ran.code, Some(code), "{numbers:?}: {ran:?}");
        if code == 0 {
            assert_eq!(folder.run(&["check", "release"]).code, Some(0), "{numbers:?}");
            let sensitive = Texts::read(&folder.path("release/sensitive.csv"));
            let mut groups: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
            for row in &sensitive.rows {
                assert_eq!(row[2], "1", "{numbers:?}");
                groups.entry(&row[0]).or_default().push(row[1].parse().unwrap());
            }
            for group in groups.values_mut() {
                group.sort_unstable();
                assert!(group.windows(2).all(|pair| pair[1] - pair[0] > 2), "{numbers:?}: {group:?}");
            }
        }
    }
}

/// `HEDGEROW_SEED=… cargo test -p hedgerow-cli random_buckets` replays one case.
#[test]
fn random_buckets_keep_their_rules_and_the_table() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let published = (0..150).filter(|&seed| examine(seed)).count();
    assert!((40..140).contains(&published), "{published} of 150 policies could be met");
}

/// Publishes a random table and examines its files; false when no buckets can meet the policy.
fn examine(seed: u64) -> bool {
    let mut rng = StdRng::seed_from_u64(seed);
    let count = *[1, 4, 11, 40, 200].choose(&mut rng).unwrap();
    let distinct = *[1, 3, 8, 20].choose(&mut rng).unwrap();
    let missing = if rng.random_bool(0.3) { 0.1 } else { 0.0 };
    let cell = |rng: &mut StdRng, distinct: u32| {
        if rng.random_bool(missing) { String::new() } else { format!("v,{}", rng.random_range(0..distinct)) }
    };
    let header = ["p", "q", "s", "r"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        (0..count).map(|_| [3, 9, distinct, 4].map(|distinct| cell(&mut rng, distinct)).to_vec()).collect();
    let require: Vec<Required> = (0..rng.random_range(1..=2))
        .map(|_| match rng.random_range(0..6) {
            0 => Required::Distinct(rng.random_range(1..=4)),
            1 | 2 => Required::Frequency(*[1.0, 1.5, 2.0, 2.5, 3.0, 5.0].choose(&mut rng).unwrap()),
            3 => Required::Entropy(*[1.0, 1.5, 2.0, 2.5].choose(&mut rng).unwrap()),
            4 => Required::Recursive(*[0.5, 1.5, 3.0].choose(&mut rng).unwrap(), rng.random_range(1..=3)),
            _ => Required::Close(*[0.1, 0.3, 0.6].choose(&mut rng).unwrap()),
        })
        .collect();
    let know = if rng.random_bool(0.3) { "know = [\"q\"]\n" } else { "" };
    let policy = format!(
        "[source]\npath = \"t.csv\"\n[attributes]\nq = {{ role = \"quasi\" }}\np = {{ role = \"plain\", allow-unique = true }}\n\
         r = {{ role = \"quasi\" }}\ns = {{ role = \"sensitive\" }}\n[[rule]]\n{know}protect = \"s\"\nrequire = [{}]\n\
         [publish]\nmethod = \"anatomy\"\n",
        require.iter().map(Required::toml).collect::<Vec<_>>().join(", ")
    );
    let folder = Folder::new();
    let record = |fields: &[String]| fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n";
    folder.write("t.csv", std::iter::once(&header).chain(&rows).map(|fields| record(fields)).collect::<String>());
    folder.write("policy.toml", &policy);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    let context = || format!("seed {seed}\n{policy}{ran:?}");
    let all: Vec<&str> = rows.iter().map(|row| row[2].as_str()).collect();
    // What holds for no bucket of all rows holds for no buckets; what holds there must be
    // published.
    let possible = require.iter().all(|required| required.holds(count, &all, std::slice::from_ref(&all)));
    assert_eq!(ran.code, Some(if possible { 0 } else { 3 }), "{}", context());
    if !possible {
        return false;
    }
    buckets_hold(&folder, &rows, &require, &context());
    let check = folder.run(&["check", "release"]);
    assert_eq!(check.code, Some(0), "{check:?}\n{}", context());
    true
}

fn buckets_hold(folder: &Folder, source: &[Vec<String>], require: &[Required], context: &str) {
    let quasi = Texts::read(&folder.path("release/quasi.csv"));
    let sensitive = Texts::read(&folder.path("release/sensitive.csv"));
    assert_eq!(quasi.header, ["p", "q", "r", "group"], "{context}");
    assert_eq!(sensitive.header, ["group", "s", "count"], "{context}");
    let mut expected: Vec<[&str; 3]> =
        source.iter().map(|row| [&row[0], &row[1], &row[3]].map(String::as_str)).collect();
    let mut found: Vec<[&str; 3]> =
        quasi.rows.iter().map(|row| [&row[0], &row[1], &row[2]].map(String::as_str)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected, "{context}");
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &quasi.rows {
        *sizes.entry(&row[3]).or_default() += 1;
    }
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for row in &sensitive.rows {
        assert!(seen.insert((&row[0], &row[1])), "a value twice in a group\n{context}");
        let count: usize = row[2].parse().unwrap();
        assert!(count >= 1, "{context}");
        values.entry(&row[0]).or_default().extend(vec![row[1].as_str(); count]);
    }
    let mut all: Vec<&str> = source.iter().map(|row| row[2].as_str()).collect();
    for required in require {
        for (group, values) in &values {
            assert!(
                required.holds(values.len(), values, std::slice::from_ref(&all)),
                "{required:?}, group {group}\n{context}"
            );
        }
    }
    assert_eq!(sizes, values.iter().map(|(group, values)| (*group, values.len())).collect(), "{context}");
    let mut released: Vec<&str> = values.into_values().flatten().collect();
    all.sort_unstable();
    released.sort_unstable();
    assert_eq!(released, all, "{context}");
    let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    assert_eq!(manifest["hedgerow"]["classes"]["count"], json!(sizes.len()), "{context}");
    let squares: usize = sizes.values().map(|size| size * size).sum();
    assert_eq!(manifest["hedgerow"]["loss"]["discernibility"].as_f64(), Some(squares as f64), "{context}");
    let mut named = BTreeSet::new();
    keys(&manifest, &mut named);
    assert!(["seed", "path_source", "host", "ncp"].iter().all(|key| !named.contains(*key)), "{context}");
}

/// Twenty thousand different quasi values and twenty sensitive ones, in no order.
fn with_many_people() -> Folder {
    let folder = Folder::new();
    let mut rng = StdRng::seed_from_u64(5);
    let rows: String = (0..20_000).map(|row| format!("{},v{}\n", row * 7 % 20_000, rng.random_range(0..20))).collect();
    folder.write("people.csv", format!("q,s\n{rows}"));
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n[[rule]]\n\
         protect = \"s\"\nrequire = { model = \"frequency-l-diversity\", l = 4 }\n[publish]\nmethod = \"anatomy\"\n",
    );
    folder
}

/// The quasi values of every group, whatever its number.
fn partners(folder: &Folder, release: &str) -> BTreeSet<Vec<u32>> {
    let quasi = Texts::read(&folder.path(&format!("{release}/quasi.csv")));
    let mut groups: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for row in &quasi.rows {
        groups.entry(&row[1]).or_default().push(row[0].parse().unwrap());
    }
    groups.values_mut().for_each(|group| group.sort_unstable());
    groups.into_values().collect()
}

/// The same table twice: other groups, other numbers, other orders; with a seed the same bytes, on
/// one core as on two.
#[test]
fn chance_decides_and_threads_do_not() {
    let folder = with_many_people();
    for (name, seed, threads) in
        [("a", &[][..], "2"), ("b", &[], "2"), ("c", &["--seed", "7"], "1"), ("d", &["--seed", "7"], "2")]
    {
        let mut command = folder.command(&[&["publish", "policy.toml", "-q", "-o", name], seed].concat());
        let ran = Ran::of(command.env("RAYON_NUM_THREADS", threads).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    for table in ["quasi.csv", "sensitive.csv"] {
        let read = |name: &str| folder.read(&format!("{name}/{table}"));
        assert_ne!(read("a"), read("b"), "{table}");
        assert_eq!(read("c"), read("d"), "{table}");
        let texts = Texts::read(&folder.path(&format!("a/{table}")));
        let groups: Vec<u32> = texts.column("group").iter().map(|group| group.parse().unwrap()).collect();
        assert!(!groups.is_sorted(), "{table}");
        assert_eq!((groups.iter().min(), groups.iter().max()), (Some(&1), Some(&5000)), "{table}");
    }
    let (first, second) = (partners(&folder, "a"), partners(&folder, "b"));
    // Most blocks are one bucket and leave nothing to chance; the others are dealt anew.
    assert!(
        first.intersection(&second).count() < first.len() * 99 / 100,
        "rows are dealt at random within their blocks"
    );
}

/// With neighbors in a bucket its values lie within a few dozen places; strangers would lie
/// thousands apart.
#[test]
fn people_who_are_alike_share_a_bucket() {
    let folder = with_many_people();
    assert_eq!(folder.run(&["publish", "policy.toml", "-q", "-o", "release"]).code, Some(0));
    let groups = partners(&folder, "release");
    let spread: u32 = groups.iter().map(|group| group[group.len() - 1] - group[0]).sum();
    let mean = f64::from(spread) / groups.len() as f64;
    assert!(mean < 40.0, "{mean}");
}
