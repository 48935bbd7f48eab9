//! The catalog as a gate: a new release is audited combined with what is published already, every
//! row of the source a person known by all columns that any release uses.

use std::path::Path;

use hedgerow_audit::{AuditOptions, Audited, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_any;
use hedgerow_publish::catalog::{Catalog, Gate};
use hedgerow_publish::{PublishError, PublishOptions, Published, Source, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

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
    let options = PublishOptions { seed: Some(1), gate, ..PublishOptions::to(destination.to_path_buf()) };
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

/// The audit that anybody can run afterwards: every release of the catalog, every adversary, every
/// row of the source a person.
fn audited(folder: &Path, own: bool) -> Audited {
    let catalog = Catalog::load(&folder.join("catalog")).unwrap();
    let releases: Vec<_> =
        catalog.entries.iter().map(|entry| Release::open(&catalog.path(entry), &NoProgress).unwrap()).collect();
    let everything = policy(folder, &["sex", "place", "age"], 1);
    let people = read_any(&everything, &folder.join("people.csv"), &NoProgress).unwrap();
    let own = if own { vec![(0..releases.len()).collect()] } else { Vec::new() };
    audit(&releases, &AuditOptions { people: Some(&people), own, ..AuditOptions::default() }).unwrap()
}

/// Random pairs of releases, of one custodian or of two, of the same people or after some came,
/// went or changed: the gate passes exactly where the audit finds nobody exposed.
///
/// A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish gate` replays it.
#[test]
fn what_passes_the_gate_exposes_nobody_in_the_audit() {
    let (mut passed, mut refused) = (0, 0);
    let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    for seed in only.map_or(0..150, |seed| seed..seed + 1) {
        match pass(seed) {
            Some(true) => passed += 1,
            Some(false) => refused += 1,
            None => {}
        }
    }
    assert!(only.is_some() || (passed > 20 && refused > 20), "{passed} passed, {refused} were refused");
}

/// Whether the second of two releases passes; nothing where one of them cannot be made.
fn pass(seed: u64) -> Option<bool> {
    let mut rng = StdRng::seed_from_u64(seed);
    let folder = scratch();
    let row = |rng: &mut StdRng| {
        let (place, age) = (rng.random_range(0..3), rng.random_range(2..4) * 10);
        let disease = ["A", "B", "C", ""].choose_weighted(rng, |text| if text.is_empty() { 1 } else { 5 }).unwrap();
        format!("{},p{place},{age},{disease}", ["M", "F"].choose(rng).unwrap())
    };
    let mut rows: Vec<String> = (0..rng.random_range(2..16)).map(|_| row(&mut rng)).collect();
    let write = |rows: &[String]| {
        let text = format!("sex,place,age,disease\n{}\n", rows.join("\n"));
        std::fs::write(folder.path().join("people.csv"), text).unwrap();
    };
    write(&rows);
    let made = |rng: &mut StdRng| {
        let known: Vec<&str> = ["sex", "place", "age"].into_iter().filter(|_| rng.random_bool(0.6)).collect();
        let known = if known.is_empty() { vec!["age"] } else { known };
        let method = *["full-domain", "mondrian", "anatomy"].choose(rng).unwrap();
        let rules = match method {
            "anatomy" => "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n",
            // Without a rule that protects it, a class may have one disease.
            _ if rng.random_bool(0.2) => "[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n",
            _ => "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n",
        };
        let suppression = if method == "full-domain" { "suppression = 0.2\n" } else { "" };
        let roles: String = known.iter().map(|name| format!("{name} = {{ role = \"quasi\" }}\n")).collect();
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\n{roles}disease = {{ role = \"sensitive\" }}\n{rules}\
             [publish]\nmethod = \"{method}\"\n{suppression}"
        );
        Policy::parse(&text, &folder.path().join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let own = rng.random_bool(0.5);
    let custodian = own.then(|| "us".to_owned());
    let first = folder.path().join("first");
    published(&made(&mut rng), &first, Gate::default()).ok()?;
    let catalog = folder.path().join("catalog");
    Catalog::add(&catalog, &first, None, custodian.as_deref(), &NoProgress).unwrap();
    if rng.random_bool(0.4) {
        let index = rng.random_range(0..rows.len());
        match rng.random_range(0..3) {
            0 => rows[index] = row(&mut rng),
            1 => rows.push(row(&mut rng)),
            _ => drop(rows.remove(index)),
        }
        write(&rows);
    }
    let (policy, second) = (made(&mut rng), folder.path().join("second"));
    let gate = Gate { catalog: Some(catalog.clone()), custodian: custodian.clone(), no_add: false };
    let breaches = |audited: &Audited| -> Vec<String> {
        let findings = audited.findings.iter().filter(|finding| finding.breach);
        findings.map(|finding| format!("{} of {:?}", finding.adversary, finding.releases)).collect()
    };
    match published(&policy, &second, gate) {
        Ok(release) => {
            assert!(!release.audited.unwrap().findings.is_empty(), "seed {seed}: what was audited is said");
            let found = audited(folder.path(), own);
            assert_eq!(breaches(&found), Vec::<String>::new(), "seed {seed}");
            Some(true)
        }
        Err(PublishError::Audit { audited: refused, .. }) => {
            // Published all the same, it is a breach.
            published(&policy, &second, Gate::default()).unwrap();
            Catalog::add(&catalog, &second, None, custodian.as_deref(), &NoProgress).unwrap();
            let found = audited(folder.path(), own);
            assert!(!breaches(&found).is_empty(), "seed {seed}: {refused:?}");
            Some(false)
        }
        Err(_) => None,
    }
}
