//! Releases that a cluster wrote, checked by a cluster.

use std::path::Path;
use std::process::Command;

use crate::same::{Twins, adult_file, adult_policy, adult_source};

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

pub(crate) fn a_release_is_checked_by_the_cluster(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, k) in [("weak", 2), ("strong", 40)] {
        let twins = Twins::new(tempfile::tempdir().unwrap(), address, &adult_source(), &adult_policy(k));
        hedgerow_spark::publish(&twins.there, at(name)).unwrap();
        let (here, there) = (
            hedgerow::Release::open(at(name)).unwrap().check().unwrap(),
            hedgerow_spark::check(&at(name), address).unwrap(),
        );
        assert!(there.holds());
        assert_eq!((here.guarantees, here.classes, here.rows), (there.guarantees, there.classes, there.rows));
    }
    // The rows of the weak release under the claims of the strong one.
    copy(&at("strong"), &at("forged"));
    let (table, forged) = (at("weak/data.parquet"), at("forged/data.parquet"));
    if forged.is_dir() {
        std::fs::remove_dir_all(&forged).unwrap()
    } else {
        std::fs::remove_file(&forged).unwrap()
    }
    copy(&table, &forged);
    let found = hedgerow_spark::check(&at("forged"), address).unwrap();
    assert!(!found.holds());
    assert!(found.guarantees.iter().any(|claim| !claim.holds));
}

/// Equal texts, texts that statistics cut, missing values and zeros with a sign: what a cluster
/// states of them is true, and a changed statement is found.
pub(crate) fn the_files_of_a_cluster_are_compared_with_their_cells(address: &str) {
    let rest = "[attributes]\nage = { role = \"quasi\", hierarchy = { widths = [10] } }\nland = { role = \"plain\" }\n\
                note = { role = \"plain\" }\npaid = { role = \"plain\" }\nsince = { role = \"plain\" }\n\
                [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
    let query = "SELECT CAST(id % 30 AS INT) AS age, 'here' AS land, \
                 CASE WHEN id % 3 = 0 THEN repeat('a long label ', 6) WHEN id % 3 = 1 THEN repeat('é', 40) END AS note, \
                 IF(id % 4 = 0, NULL, CAST(id % 2 AS DOUBLE) * -0.5) AS paid, \
                 DATE '2024-01-01' + CAST(id % 5 AS INT) AS since FROM range(300)";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), "age\n1\n").unwrap();
    let there = format!("engine = \"{address}\"\nquery = \"{query}\"");
    let twins = Twins::with_sources(folder, "path = \"people.csv\"", &there, rest);
    hedgerow_spark::publish(&twins.there, twins.at("release")).unwrap();
    let check = || hedgerow::Release::open(twins.at("release")).unwrap().check().unwrap();
    let found = check();
    assert!(found.holds(), "{:?}", found.contradictions);
    let table = twins.at("release/data.parquet");
    let file = match std::fs::read_dir(&table) {
        Ok(mut parts) => parts.next().unwrap().unwrap().path(),
        Err(_) => table,
    };
    let mut bytes = std::fs::read(&file).unwrap();
    let place = bytes.windows(4).rposition(|window| window == b"here").unwrap();
    bytes[place..place + 4].copy_from_slice(b"Anna");
    std::fs::write(&file, bytes).unwrap();
    let found = check();
    assert!(
        found.contradictions.iter().any(|problem| problem.contains("that their cells contradict")),
        "{:?}",
        found.contradictions
    );
}

pub(crate) fn the_command_publishes_and_checks(address: &str) {
    let twins = Twins::new(tempfile::tempdir().unwrap(), address, &adult_source(), &adult_policy(5));
    // A path relative to the policy's folder, which the server does not know.
    std::fs::copy(adult_file(), twins.at("adult.csv.gz")).unwrap();
    let source = "path = \"adult.csv.gz\"\ndelimiter = \";\"";
    let text = format!("[source]\nengine = \"{address}\"\n{source}\n{}", adult_policy(5));
    std::fs::write(twins.at("policy.toml"), text).unwrap();
    let command = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hedgerow-spark"))
            .args(arguments)
            .current_dir(twins.folder.path())
            .output();
        let output = output.unwrap();
        let texts = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), texts.concat())
    };
    let (code, said) = command(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("guarantees, recomputed by the cluster"), "{said}");
    let (code, said) = command(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("exists already"), "{said}");
    let (code, said) = command(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = command(&["check", "release", "--engine", address]);
    assert_eq!((code, said.contains("every guarantee holds")), (Some(0), true), "{said}");
    // Claims that the tables do not keep.
    let manifest = twins.at("release/datapackage.json");
    let claims = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, claims.replacen("\"k\": 5", "\"k\": 500", 1)).unwrap();
    let (code, said) = command(&["check", "release", "--engine", address]);
    assert_eq!((code, said.contains("BROKEN")), (Some(4), true), "{said}");
}
