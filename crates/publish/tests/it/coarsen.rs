//! Coarser values from the source to the release: by every method, in memory and outside, and in
//! what is stated to readers of the release.

use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, RowSource, RowStore, publish};
use hedgerow_release::Release;
use hedgerow_table::read::{HeldTable, ReadOptions, read_within};
use hedgerow_table::{Bound, Cover, NoProgress, Spill};
use hedgerow_verify::release_check::check_release;

/// Exact incomes, days and diagnoses of people who differ in age.
fn people(folder: &Path, method: &str, attributes: &str) -> Policy {
    let mut text = "age,income,day,ward\n".to_owned();
    for row in 0..240u32 {
        let income = if row % 40 == 7 { String::new() } else { (20_000 + row * row * 13 % 90_000).to_string() };
        // Nothing but the income depends on the row's place, so that nothing follows from the age.
        let mixed = row.wrapping_mul(2_654_435_761) >> 7;
        let day = format!("2024-{:02}-{:02}", 1 + mixed % 4, 1 + mixed / 4 % 27);
        text += &format!(
            "{},{income},{day},{}\n",
            20 + row % 40,
            ["icu-1", "icu-2", "er-1", "er-2"][(mixed / 108 % 4) as usize]
        );
    }
    std::fs::write(folder.join("people.csv"), text).unwrap();
    std::fs::write(folder.join("wards.csv"), "icu-1;icu;*\nicu-2;icu;*\ner-1;er;*\ner-2;er;*\n").unwrap();
    // Buckets show the quasi-identifiers of every row as they are.
    let k = match method {
        "anatomy" | "clone" | "decompose" => "",
        _ => "[[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n",
    };
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n{attributes}\n\
         {k}\
         [[rule]]\nprotect = \"income\"\nrequire = {{ model = \"frequency-l-diversity\", l = 2 }}\n\
         [publish]\nmethod = \"{method}\"\n"
    );
    Policy::parse(&policy, &folder.join("policy.toml")).unwrap()
}

const COARSE: &str = "income = { role = \"sensitive\", coarsen = { round = 10000, top = 80000 } }\n\
                      day = { role = \"plain\", coarsen = { dates = \"month\" } }\n\
                      ward = { role = \"plain\", hierarchy = \"wards.csv\", coarsen = { level = 1 } }";

fn options(folder: &Path, name: &str) -> PublishOptions<'static> {
    PublishOptions { seed: Some(1), ..PublishOptions::to(folder.join(name)) }
}

fn values(release: &Release, attribute: &str) -> Vec<String> {
    let domain = release.domain(attribute).unwrap();
    (0..domain.present() as u32).map(|code| domain.text(code)).collect()
}

fn holds_coarse_values(release: &Release, plain: bool) {
    let found = check_release(release, &[]).unwrap();
    assert!(found.holds(), "{:?}", found.contradictions);
    let thousands: Vec<String> = (2..=8).map(|tens| (tens * 10_000).to_string()).collect();
    assert_eq!(values(release, "income"), thousands);
    let top = Cover::Interval { low: Some(Bound::Integer(75_000)), high: None };
    assert_eq!(release.codebook().cover("income", "80000"), Some(&top));
    if plain {
        assert_eq!(values(release, "day"), ["2024-01", "2024-02", "2024-03", "2024-04"]);
        assert_eq!(values(release, "ward"), ["er", "icu"]);
        let leaves = Cover::Leaves(vec!["icu-1".to_owned(), "icu-2".to_owned()]);
        assert_eq!(release.codebook().cover("ward", "icu"), Some(&leaves));
    }
}

#[test]
fn every_method_releases_coarser_values_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for method in ["full-domain", "mondrian", "best-cut", "cluster", "anatomy", "decompose"] {
        let policy = people(folder.path(), method, COARSE);
        publish(&policy, RowSource::Policy, &options(folder.path(), method)).unwrap();
        let release = Release::open(&folder.path().join(method), &NoProgress).unwrap();
        holds_coarse_values(&release, method != "decompose");
    }
}

#[test]
fn rows_outside_of_memory_become_as_coarse() {
    let folder = tempfile::tempdir().unwrap();
    for method in ["full-domain", "mondrian", "anatomy"] {
        let policy = people(folder.path(), method, COARSE);
        let spill = Spill::new(folder.path(), 1 << 20).with_held(0);
        let read = |options: &ReadOptions<'_>| {
            let held = read_within(&policy.source.path, options, &spill)?;
            assert!(matches!(held, HeldTable::Outside(_)), "nothing was spilled");
            Ok(RowStore::held(held, &spill))
        };
        publish(&policy, RowSource::Open(&read), &options(folder.path(), method)).unwrap();
        let release = Release::open(&folder.path().join(method), &NoProgress).unwrap();
        holds_coarse_values(&release, true);
    }
}

#[test]
fn a_changed_value_is_found_by_the_declaration() {
    let folder = tempfile::tempdir().unwrap();
    let policy = people(folder.path(), "full-domain", COARSE);
    publish(&policy, RowSource::Policy, &options(folder.path(), "release")).unwrap();
    let path = folder.path().join("release/data.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen(",30000,", ",30001,", 1)).unwrap();
    let release = Release::open(&folder.path().join("release"), &NoProgress).unwrap();
    let found = release.contradictions().join("\n");
    assert!(found.contains("`income` has 1 values that its coarsening does not give"), "{found}");
}

#[test]
fn the_range_is_that_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let declared =
        |range: &str| COARSE.replace("role = \"sensitive\"", &format!("role = \"sensitive\", range = {range}"));
    let policy = people(folder.path(), "full-domain", &declared("[0, 109999]"));
    publish(&policy, RowSource::Policy, &options(folder.path(), "release")).unwrap();
    let policy = people(folder.path(), "full-domain", &declared("[0, 70000]"));
    let refused = publish(&policy, RowSource::Policy, &options(folder.path(), "other")).unwrap_err();
    assert!(refused.to_string().contains("outside its range"), "{refused}");
}
