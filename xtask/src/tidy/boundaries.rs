//! Which crate of the workspace may use which, and which outside crates any of them may use. Both
//! tables are read from ARCHITECTURE.md and compared with the manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::{ARCHITECTURE, Finding};
use crate::markdown::{self, Row};
use crate::repo::{Package, Repo};

const CRATES: &[&str] = &["crate", "may use"];
const TESTS: &[&str] = &["tests of", "may also use"];
const DEPENDENCIES: &[&str] = &["dependency", "why"];

/// The crates that one crate may use.
#[derive(Debug)]
enum AllowedCrates {
    /// Every crate that is not itself marked `any`, so that nothing comes to depend on those.
    Any,
    These(BTreeSet<String>),
}

pub(super) fn crates_use_what_they_may(repo: &Repo) -> Vec<Finding> {
    let document = repo.text(ARCHITECTURE).unwrap_or_default();
    let Some(table) = markdown::table(document, CRATES) else {
        let hint = "the header is | crate | may use | why |; one row for each crate";
        return vec![Finding::new(ARCHITECTURE, 1, "the table of crates is missing", hint)];
    };
    let exceptions = markdown::table(document, TESTS).map(|table| table.rows).unwrap_or_default();
    let mut findings = unknown_crates(repo, table.rows.iter().chain(&exceptions));

    let allowed = read_rows(&table.rows);
    let in_tests = read_rows(&exceptions);
    for package in &repo.packages {
        let Some(may_use) = allowed.get(package.short_name()) else {
            let hint = format!("add a row: | {} | … | … |", package.short_name());
            let problem = format!("the crate {} has no row in the table of crates", package.name);
            findings.push(Finding::new(ARCHITECTURE, table.line, problem, hint));
            continue;
        };
        for (used, only_for_tests) in used_crates(repo, package) {
            let permitted = match may_use {
                AllowedCrates::Any => !matches!(allowed.get(used), Some(AllowedCrates::Any)),
                AllowedCrates::These(crates) => crates.contains(used),
            };
            // A crate's own tests may turn on its features.
            let own = package.short_name();
            let excepted = only_for_tests
                && (used == own
                    || matches!(in_tests.get(own), Some(AllowedCrates::These(crates)) if crates.contains(used)));
            if !permitted && !excepted {
                findings.push(crossed_boundary(repo, package, used, only_for_tests));
            }
        }
    }
    findings
}

fn crossed_boundary(repo: &Repo, package: &Package, used: &str, only_for_tests: bool) -> Finding {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let whose = if only_for_tests { "the tests of " } else { "" };
    let hint = if only_for_tests {
        format!("move the test to a crate that may, or give a reason in the table of tests in {ARCHITECTURE}")
    } else {
        format!("move the code to where both may reach it; the boundaries and their reasons are in {ARCHITECTURE}")
    };
    let needle = format!("hedgerow-{used}");
    let line = line_of(repo, &manifest, |line| line.starts_with(&needle));
    Finding::new(&manifest, line, format!("{whose}{} may not use {used}", package.short_name()), hint)
}

/// A row for a crate that is gone, or permission to use one, is out of date.
fn unknown_crates<'a>(repo: &Repo, rows: impl Iterator<Item = &'a Row>) -> Vec<Finding> {
    let known: BTreeSet<&str> = repo.packages.iter().map(Package::short_name).collect();
    let mut findings = Vec::new();
    for row in rows {
        let targets = row.items(1).filter(|name| !["any", "none"].contains(name));
        for name in row.items(0).chain(targets).filter(|name| !known.contains(name)) {
            let hint = "write crate names without hedgerow-, or none, or any; take the row out if the crate is gone";
            findings.push(Finding::new(ARCHITECTURE, row.line, format!("no crate is called {name}"), hint));
        }
    }
    findings
}

/// A crate may have several rows; what they allow adds up.
fn read_rows(rows: &[Row]) -> BTreeMap<&str, AllowedCrates> {
    let mut allowed = BTreeMap::new();
    for row in rows {
        for name in row.items(0) {
            let so_far = allowed.entry(name).or_insert_with(|| AllowedCrates::These(BTreeSet::new()));
            if row.items(1).any(|item| item == "any") {
                *so_far = AllowedCrates::Any;
            } else if let AllowedCrates::These(crates) = so_far {
                crates.extend(row.items(1).map(str::to_owned));
            }
        }
    }
    allowed
}

/// The crates of the workspace that a crate's manifest names, and whether only its tests use them.
fn used_crates<'a>(repo: &'a Repo, package: &'a Package) -> impl Iterator<Item = (&'a str, bool)> {
    package.dependencies.iter().filter_map(|dependency| {
        let used = repo.packages.iter().find(|other| other.name == dependency.name)?;
        Some((used.short_name(), dependency.only_for_tests))
    })
}

pub(super) fn dependencies_are_decisions(repo: &Repo) -> Vec<Finding> {
    let document = repo.text(ARCHITECTURE).unwrap_or_default();
    let Some(table) = markdown::table(document, DEPENDENCIES) else {
        let hint = "the header is | dependency | why | instead of |; one row for each outside crate";
        return vec![Finding::new(ARCHITECTURE, 1, "the table of dependencies is missing", hint)];
    };
    let mut used: BTreeMap<&str, &Package> = BTreeMap::new();
    for package in &repo.packages {
        for dependency in &package.dependencies {
            if !repo.packages.iter().any(|other| other.name == dependency.name) {
                used.entry(&dependency.name).or_insert(package);
            }
        }
    }
    let mut findings = Vec::new();
    let mut recorded = BTreeSet::new();
    for row in &table.rows {
        for name in row.items(0) {
            recorded.insert(name);
            if !used.contains_key(name) {
                let problem = format!("no crate depends on {name}");
                findings.push(Finding::new(ARCHITECTURE, row.line, problem, "take it out of the table"));
            }
        }
    }
    for (name, package) in used.iter().filter(|(name, _)| !recorded.contains(*name)) {
        let manifest = format!("{}/Cargo.toml", package.folder);
        let line = line_of(repo, &manifest, |line| line.starts_with(name));
        let hint =
            format!("a dependency is a decision: give its reason in the table of dependencies in {ARCHITECTURE}");
        findings.push(Finding::new(&manifest, line, format!("{name} is used and not recorded"), hint));
    }
    findings
}

fn line_of(repo: &Repo, path: &str, is_it: impl Fn(&str) -> bool) -> usize {
    let text = repo.text(path).unwrap_or_default();
    text.lines().position(is_it).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
| crate | may use | why |
|---|---|---|
| `table` | none | base |
| `audit` | `table` | a boundary |
| `publish` | `table` | |
| `cli`, `python` | any | nothing depends on them |

| tests of | may also use | why |
|---|---|---|
| `publish`, `cli` | `table` | data |
| `publish` | `audit` | an oracle |
| `publish` | `table` | both |

| dependency | why | instead of |
|---|---|---|
| `rayon`, `rand` | fast | |
";

    fn workspace() -> Repo {
        Repo::made_of(&[
            (ARCHITECTURE, DOCUMENT),
            ("crates/audit/Cargo.toml", "[dependencies]\nhedgerow-publish = 1\n"),
        ])
        .with_crate("table", &["rayon", "rand"])
        .with_crate("publish", &["hedgerow-table", "dev:hedgerow-audit"])
        .with_crate("python", &["hedgerow-table"])
    }

    fn lines(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.problem)).collect()
    }

    #[test]
    fn allowed_arrows_and_excepted_tests_pass() {
        let repo = workspace().with_crate("audit", &["hedgerow-table"]).with_crate("cli", &["hedgerow-audit"]);
        assert_eq!(lines(crates_use_what_they_may(&repo)), [""; 0]);
        assert_eq!(lines(dependencies_are_decisions(&repo)), [""; 0]);
    }

    #[test]
    fn an_attacker_may_not_share_the_defenders_code() {
        let repo = workspace().with_crate("audit", &["hedgerow-publish"]).with_crate("cli", &[]);
        let expected = ["crates/audit/Cargo.toml:2: audit may not use publish"];
        assert_eq!(lines(crates_use_what_they_may(&repo)), expected);
    }

    #[test]
    fn tests_need_an_exception_of_their_own() {
        let repo = workspace().with_crate("audit", &["dev:hedgerow-publish"]).with_crate("cli", &[]);
        let expected = ["crates/audit/Cargo.toml:2: the tests of audit may not use publish"];
        assert_eq!(lines(crates_use_what_they_may(&repo)), expected);
    }

    #[test]
    fn nothing_depends_on_a_crate_that_may_use_any() {
        let repo = workspace().with_crate("audit", &[]).with_crate("cli", &["hedgerow-python"]);
        assert_eq!(lines(crates_use_what_they_may(&repo)), ["crates/cli/Cargo.toml:1: cli may not use python"]);
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_both_found() {
        let repo = workspace().with_crate("cli", &[]).with_crate("engine", &[]);
        let expected = [
            "ARCHITECTURE.md:4: no crate is called audit",
            "ARCHITECTURE.md:11: no crate is called audit",
            "ARCHITECTURE.md:1: the crate hedgerow-engine has no row in the table of crates",
        ];
        assert_eq!(lines(crates_use_what_they_may(&repo))[..2], expected[..2]);
        assert!(lines(crates_use_what_they_may(&repo)).contains(&expected[2].to_owned()));
    }

    #[test]
    fn dependencies_are_recorded_and_records_are_used() {
        let repo = Repo::made_of(&[(ARCHITECTURE, DOCUMENT)]).with_crate("table", &["rayon", "left-pad"]);
        let expected = [
            "ARCHITECTURE.md:16: no crate depends on rand",
            "crates/table/Cargo.toml:1: left-pad is used and not recorded",
        ];
        assert_eq!(lines(dependencies_are_decisions(&repo)), expected);
    }
}
