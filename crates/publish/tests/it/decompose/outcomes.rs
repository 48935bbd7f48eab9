//! The outcomes of publishing a decomposition, over thousands of tiny tables with every algorithm
//! and anonymizer: a release that checks, or a reason why there is none. Never an internal error,
//! and `best` never fails where another algorithm does not.

use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::seeds;

/// `best` last, to be compared with the others.
const ALGORITHMS: [&str; 5] = ["gd", "uad", "multi-sensitive", "single-attribute", "best"];
const ANONYMIZERS: [&str; 2] = ["anatomy", "mondrian"];

/// A source and the policy's rules.
struct Tiny {
    source: String,
    policy: String,
}

/// Publishes with one algorithm; whether there is a release. Panics on everything that must not
/// happen.
fn has_release(tiny: &Tiny, algorithm: &str, anonymizer: &str, folder: &Path, seed: u64) -> bool {
    let case = || format!("{algorithm}, {anonymizer}, HEDGEROW_SEED={seed}\n{}\n{}", tiny.source, tiny.policy);
    if (algorithm, anonymizer) == ("multi-sensitive", "mondrian") {
        return false; // The policy refuses it.
    }
    let text = format!("{}algorithm = \"{algorithm}\"\nanonymizer = \"{anonymizer}\"\n", tiny.policy);
    let policy = Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = PublishOptions { overwrite: true, seed: Some(seed), ..PublishOptions::to(folder.join("release")) };
    match publish(&policy, RowSource::Policy, &options) {
        Ok(published) => {
            let release = Release::open(&published.release, &NoProgress).unwrap();
            let checked = check_release(&release, &[]).unwrap();
            assert!(checked.holds(), "{checked:?}\n{}", case());
            true
        }
        Err(PublishError::Unsatisfiable(_) | PublishError::Ineligible(_)) => false,
        Err(error) => panic!("{error}\n{}", case()),
    }
}

/// Every algorithm with one anonymizer: where one of them has a release, `best` has one. How many
/// releases there are.
fn outcomes(tiny: &Tiny, anonymizer: &str, folder: &Path, seed: u64) -> usize {
    std::fs::write(folder.join("people.csv"), &tiny.source).unwrap();
    let found = ALGORITHMS.map(|algorithm| has_release(tiny, algorithm, anonymizer, folder, seed));
    let [others @ .., best] = found;
    assert!(
        best || !others.contains(&true),
        "{others:?}, best has none; {anonymizer}, HEDGEROW_SEED={seed}\n{}",
        tiny.source
    );
    found.iter().filter(|found| **found).count()
}

fn policy(attributes: &[&str], rules: &[String]) -> String {
    let attributes: String = attributes.iter().map(|name| format!("{name} = {{ role = \"quasi\" }}\n")).collect();
    let rules: String = rules.iter().map(|rule| format!("[[rule]]\n{rule}")).collect();
    format!("[source]\npath = \"people.csv\"\n[attributes]\n{attributes}{rules}[publish]\nmethod = \"decompose\"\n")
}

fn random(seed: u64) -> Tiny {
    let rng = &mut StdRng::seed_from_u64(seed);
    let attributes = &["a", "b", "c", "d"][..rng.random_range(2..=4)];
    let rows = rng.random_range(2..=7);
    let values = rng.random_range(2..=3);
    let mut source = attributes.join(",") + "\n";
    for _ in 0..rows {
        let row: Vec<String> = attributes.iter().map(|_| rng.random_range(1..=values).to_string()).collect();
        source.push_str(&(row.join(",") + "\n"));
    }
    let rules: Vec<String> = (0..rng.random_range(1..=3))
        .map(|_| {
            let protect = *attributes.choose(rng).unwrap();
            let mut know: Vec<&str> = attributes.iter().copied().filter(|name| *name != protect).collect();
            know.retain(|_| rng.random_bool(0.6));
            if know.is_empty() {
                know.extend(attributes.iter().copied().find(|name| *name != protect));
            }
            let model = match rng.random_range(0..8) {
                0..=3 => "{ model = \"distinct-l-diversity\", l = 2 }",
                4 => "{ model = \"frequency-l-diversity\", l = 1.5 }",
                5 => "{ model = \"frequency-l-diversity\", l = 2 }",
                6 => "{ model = \"entropy-l-diversity\", l = 1.5 }",
                _ => "{ model = \"recursive-l-diversity\", c = 2, l = 2 }",
            };
            format!("know = {know:?}\nprotect = \"{protect}\"\nrequire = {model}\n")
        })
        .collect();
    let mut policy = policy(attributes, &rules);
    if attributes.len() > 2 && rng.random_bool(0.2) {
        policy = policy.replace("[publish]", "[[dependency]]\nfrom = [\"a\"]\nto = \"b\"\n[publish]");
    }
    Tiny { source, policy }
}

/// Three rows whose guardians, generalized, once ended in an internal error.
#[test]
fn three_rows_whose_guardians_are_generalized() {
    let folder = super::super::cloning::scratch();
    let rule = |know: &str, protect: &str| {
        format!("know = {know}\nprotect = \"{protect}\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n")
    };
    let rules = [rule("[\"c\"]", "b"), rule("[\"b\", \"c\"]", "a")];
    let tiny = Tiny { source: "a,b,c\n1,1,2\n2,2,1\n1,2,1\n".to_owned(), policy: policy(&["a", "b", "c"], &rules) };
    for anonymizer in ANONYMIZERS {
        assert!(outcomes(&tiny, anonymizer, folder.path(), 1) > 1, "{anonymizer}");
    }
}

#[test]
fn no_decomposition_ends_in_an_internal_error() {
    let folder = super::super::cloning::scratch();
    let mut releases = 0;
    let cases = seeds(250);
    for &seed in &cases {
        let tiny = random(seed);
        releases +=
            ANONYMIZERS.map(|anonymizer| outcomes(&tiny, anonymizer, folder.path(), seed)).iter().sum::<usize>();
    }
    assert!(releases > cases.len() || cases.len() == 1, "{releases} releases");
}
