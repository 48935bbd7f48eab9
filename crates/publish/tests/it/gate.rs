//! The catalog as a gate: a new release is audited combined with what is published already, every
//! row of the source a person known by all columns that any release uses.

use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::catalog::{Catalog, Gate};
use hedgerow_publish::{PublishError, PublishOptions, Published, Source, TableFormat, publish};
use hedgerow_table::NoProgress;

use crate::cloning::scratch;

/// By place or by age alone everybody is left with two diseases; by both, the first and the last
/// with one.
const PEOPLE: &str = "sex,place,age,disease\nM,p1,20,A\nM,p1,30,B\nM,p2,20,C\nM,p2,30,A\n";

fn policy(folder: &Path, quasi: &[&str], k: u64) -> Policy {
    let role = |name: &&str| format!("{name} = {{ role = \"quasi\" }}\n");
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\n{}disease = {{ role = \"sensitive\" }}\n[[rule]]\n\
         require = {{ model = \"k-anonymity\", k = {k} }}\n[[rule]]\nprotect = \"disease\"\n\
         require = {{ model = \"distinct-l-diversity\", l = 2 }}\n[publish]\nsuppression = 0.0\n",
        quasi.iter().map(role).collect::<String>()
    );
    Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn published(policy: &Policy, destination: &Path, gate: Gate) -> Result<Published, PublishError> {
    let options = PublishOptions {
        destination: destination.to_path_buf(),
        overwrite: false,
        format: TableFormat::Csv,
        seed: Some(1),
        candidates: false,
        nodes_max: None,
        seconds_max: None,
        gate,
        progress: &NoProgress,
    };
    publish(policy, Source::Policy, &options)
}

/// A catalog that holds a release by sex and place.
fn folder_with_catalog() -> tempfile::TempDir {
    let folder = scratch();
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    let first = folder.path().join("first");
    published(&policy(folder.path(), &["sex", "place"], 2), &first, Gate::default()).unwrap();
    Catalog::add(&folder.path().join("catalog"), &first, None, None, &NoProgress).unwrap();
    folder
}

fn gate(folder: &Path, no_add: bool) -> Gate {
    Gate { catalog: Some(folder.join("catalog")), custodian: None, no_add }
}

#[test]
fn the_adversary_knows_columns_that_only_other_releases_use() {
    let folder = folder_with_catalog();
    let by_age = policy(folder.path(), &["sex", "age"], 2);
    let destination = folder.path().join("second");
    let refused = published(&by_age, &destination, gate(folder.path(), false)).unwrap_err();
    let PublishError::Audit { audited, .. } = refused else { panic!("{refused}") };
    let finding = &audited.findings[0];
    assert_eq!((finding.adversary, finding.people, finding.at_risk), ("composition", 4, 2), "{finding:?}");
    assert_eq!(finding.effective_l, Some(1));
    assert!(!destination.exists(), "a release that was refused is not written");
    assert_eq!(Catalog::load(&folder.path().join("catalog")).unwrap().entries.len(), 1);
    assert!(published(&by_age, &destination, Gate::default()).is_ok(), "by itself it satisfies its rules");
}

#[test]
fn what_passes_is_reported_with_figures_and_added() {
    let folder = folder_with_catalog();
    let coarse = policy(folder.path(), &["sex", "age"], 4);
    let release = published(&coarse, &folder.path().join("second"), gate(folder.path(), false)).unwrap();
    let audited = release.audited.unwrap();
    assert_eq!(audited.releases, ["first"]);
    let mut known = audited.known.clone();
    known.sort();
    assert_eq!(known, ["age", "place", "sex"]);
    let finding = &audited.findings[0];
    assert_eq!((finding.people, finding.at_risk, finding.effective_l), (4, 0, Some(2)), "{finding:?}");
    assert_eq!(audited.added.as_deref(), Some("second"));
    let names = || -> Vec<String> {
        let catalog = Catalog::load(&folder.path().join("catalog")).unwrap();
        catalog.entries.iter().map(|entry| entry.name.clone()).collect()
    };
    assert_eq!(names(), ["first", "second"]);

    let kept_out = published(&coarse, &folder.path().join("third"), gate(folder.path(), true)).unwrap();
    assert_eq!(kept_out.audited.unwrap().added, None);
    assert_eq!(names(), ["first", "second"]);

    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    let again = published(&coarse, &folder.path().join("elsewhere/second"), gate(folder.path(), false)).unwrap();
    assert_eq!(again.audited.unwrap().added.as_deref(), Some("second-2"), "a name that is taken gets a number");
    assert_eq!(names(), ["first", "second", "second-2"]);
}
