//! Two publishers whose values differ: each has values that the other lacks, and one spells some
//! differently. What cross-release l-diversity, the check and the audit find together is held
//! against a second reader of the files, which translates texts by itself.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish other_values` replays
//! that case alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::{NoProgress, Table};
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::as_read::{Read, read};

const CASES: u64 = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    NothingEarlier,
    BrokenBefore,
    Refused,
    Published,
}

#[test]
fn publishers_with_different_values_agree_with_a_second_reader() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let mut outcomes = BTreeMap::new();
    for seed in 0..CASES {
        *outcomes.entry(examine(seed)).or_insert(0) += 1;
    }
    let seen = |outcome: Outcome| outcomes.get(&outcome).copied().unwrap_or(0);
    assert!(seen(Outcome::BrokenBefore) > 20 && seen(Outcome::Published) > 50, "{outcomes:?}");
}

struct Case {
    seed: u64,
    folder: TempDir,
    /// The values of a, b and s; `c` is nothing.
    people: Vec<[String; 4]>,
    /// Their text and ours.
    spelled: BTreeMap<String, String>,
}

fn examine(seed: u64) -> Outcome {
    let mut rng = StdRng::seed_from_u64(seed);
    let values = rng.random_range(2..5usize);
    let people: Vec<[String; 4]> = (0..rng.random_range(1..25))
        .map(|_| {
            let value = if rng.random_bool(0.05) { String::new() } else { format!("v{}", rng.random_range(0..values)) };
            [rng.random_range(0..6).to_string(), rng.random_range(0..8).to_string(), String::new(), value]
        })
        .collect();
    // Some of our values are one or two texts of theirs.
    let own: BTreeSet<&String> = people.iter().map(|person| &person[3]).filter(|value| !value.is_empty()).collect();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for value in &own {
        let count = *[0, 0, 1, 1, 2].choose(&mut rng).unwrap();
        let theirs = (0..count).map(|number| format!("t{number} {value}")).collect::<Vec<_>>();
        texts.insert((*value).clone(), if theirs.is_empty() { vec![(*value).clone()] } else { theirs });
    }
    let spelled = texts.iter().flat_map(|(ours, theirs)| theirs.iter().map(|their| (their.clone(), ours.clone())));
    let spelled = spelled.filter(|(theirs, ours)| theirs != ours).collect();
    // They have values that we lack, and lack some that we have.
    let dropped = rng.random_bool(0.3).then(|| format!("v{}", rng.random_range(0..values)));
    let mut lines = String::from("a,s\n");
    for person in people.iter().filter(|person| Some(&person[3]) != dropped.as_ref()) {
        let value = match texts.get(&person[3]) {
            Some(_) if rng.random_bool(0.1) => "only theirs".to_owned(),
            Some(texts) => texts.choose(&mut rng).unwrap().clone(),
            None => String::new(),
        };
        lines.push_str(&format!("{},{value}\n", person[0]));
    }
    let case = Case { seed, folder: tempfile::tempdir().unwrap(), people, spelled };
    std::fs::write(case.folder.path().join("theirs.csv"), lines).unwrap();
    let ours: String = case.people.iter().map(|person| format!("{},{}\n", person[1], person[3])).collect();
    std::fs::write(case.folder.path().join("ours.csv"), format!("b,s\n{ours}")).unwrap();
    let method = *["full-domain", "mondrian", "anatomy"].choose(&mut rng).unwrap();
    let require = format!("{{ model = \"distinct-l-diversity\", l = {} }}", rng.random_range(1..3));
    let earlier = "a = { role = \"quasi\", hierarchy = { widths = [2, 4] } }";
    match case.publish("theirs", earlier, method, &require, "") {
        Ok(_) => case.publish_beside(rng.random_range(1..4)),
        Err(PublishError::Unsatisfiable(_) | PublishError::Ineligible(_) | PublishError::Table(_)) => {
            Outcome::NothingEarlier
        }
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

impl Case {
    fn policy(&self, source: &str, attribute: &str, method: &str, require: &str, community: &str) -> Policy {
        let text = format!(
            "[source]\npath = \"{source}.csv\"\n[attributes]\n{attribute}\ns = {{ role = \"sensitive\", type = \"category\" }}\n\
             [[rule]]\nprotect = \"s\"\nrequire = {require}\n[publish]\nmethod = \"{method}\"\n{community}"
        );
        Policy::parse(&text, &self.folder.path().join("policy.toml"))
            .unwrap_or_else(|errors| panic!("seed {}\n{text}\n{errors}", self.seed))
    }

    fn publish(
        &self,
        source: &str,
        attribute: &str,
        method: &str,
        require: &str,
        community: &str,
    ) -> Result<Published, PublishError> {
        let options = PublishOptions {
            seed: Some(self.seed),
            candidates: true,
            ..PublishOptions::to(self.folder.path().join(source))
        };
        publish(&self.policy(source, attribute, method, require, community), RowSource::Policy, &options)
    }

    fn translated(&self, texts: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        let ours = |text: String| self.spelled.get(&text).cloned().unwrap_or(text);
        texts.into_iter().map(ours).filter(|text| !text.is_empty()).collect()
    }

    fn publish_beside(&self, l: u64) -> Outcome {
        let seed = self.seed;
        let theirs: Read = read(&self.folder.path().join("theirs"));
        let sets: Vec<BTreeSet<String>> = theirs.sets().into_iter().map(|set| self.translated(set)).collect();
        let own: BTreeSet<String> = self.translated(self.people.iter().map(|person| person[3].clone()));
        let mapping: String =
            self.spelled.iter().map(|(theirs, ours)| format!("\"{theirs}\" = \"{ours}\"\n")).collect();
        let community = format!("[community]\nreleases = [\"theirs\"]\n[community.values.s]\n{mapping}");
        let attribute = "b = { role = \"quasi\", hierarchy = { widths = [2, 4] } }";
        let require = format!("{{ model = \"cross-release-l-diversity\", l = {l} }}");
        let holds = |class: &BTreeSet<String>| sets.iter().all(|set| set.intersection(class).count() as u64 >= l);
        match self.publish("ours", attribute, "full-domain", &require, &community) {
            Err(PublishError::Community(why)) => {
                assert!(!holds(&own), "seed {seed}: {why}");
                Outcome::BrokenBefore
            }
            // The sets of values hold, and the sizes of joint cells expose people.
            Err(PublishError::Audit { .. }) => {
                assert!(l > 1 && holds(&own), "seed {seed}");
                Outcome::Refused
            }
            // One class of all rows leaves the most.
            Err(error) => panic!("seed {seed}: {error}"),
            Ok(published) => {
                assert!(holds(&own), "seed {seed}");
                let classes = read(&self.folder.path().join("ours")).sets();
                let classes: Vec<BTreeSet<String>> = classes.into_iter().map(|set| self.translated(set)).collect();
                assert!(classes.iter().all(holds), "seed {seed}: {classes:?} beside {sets:?}");
                let holding = self.nodes().iter().filter(|classes| classes.iter().all(holds)).count() as u64;
                assert_eq!(published.searched.unwrap().candidates, Some(holding), "seed {seed}");
                self.check_and_audit(&self.policy("ours", attribute, "full-domain", &require, &community));
                Outcome::Published
            }
        }
    }

    /// For every level of `b`, the values of each class.
    fn nodes(&self) -> Vec<Vec<BTreeSet<String>>> {
        let level = |width: u32| {
            let mut classes: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
            for person in &self.people {
                let class = classes.entry(person[1].parse::<u32>().unwrap() / width).or_default();
                class.extend(Some(person[3].clone()).filter(|value| !value.is_empty()));
            }
            classes.into_values().collect()
        };
        [1, 2, 4, u32::MAX].map(level).to_vec()
    }

    fn check_and_audit(&self, policy: &Policy) {
        let seed = self.seed;
        let open = |name: &str| Release::open(&self.folder.path().join(name), &NoProgress).unwrap();
        let checked = check_release(&open("ours"), &[&open("theirs")]).unwrap();
        assert!(checked.holds() && checked.unchecked.is_empty(), "seed {seed}: {checked:?}");
        let rows: Vec<Vec<&str>> =
            self.people.iter().map(|person| vec![person[0].as_str(), person[1].as_str()]).collect();
        let people = Table::from_texts(&["a", "b"], &rows);
        let releases = ["theirs", "ours"].map(|name| open(name).spelled(policy.community.spelling()));
        let adversaries = vec![Adversary::Composition];
        let options = AuditOptions { people: Some(&people), adversaries, ..AuditOptions::default() };
        let found = audit(&releases, &options).unwrap();
        let finding = &found.findings[0];
        let [theirs, ours] = ["theirs", "ours"].map(|name| read(&self.folder.path().join(name)));
        let (mut least, mut at_risk) = (None, 0);
        for person in &self.people {
            let of = |release: &Read| -> BTreeSet<String> {
                let texts = release.see(person).into_keys();
                texts.map(|text| self.spelled.get(&text).cloned().unwrap_or(text)).collect()
            };
            let left = of(&theirs).intersection(&of(&ours)).count() as u64;
            at_risk += u64::from(left == 1);
            if left > 0 {
                least = Some(least.map_or(left, |least: u64| least.min(left)));
            }
        }
        assert_eq!((finding.effective_l, finding.at_risk), (least, at_risk), "seed {seed}: {finding:?}");
    }
}

/// A text of ours that the source lacks is refused where it stands, also without a rule that
/// compares releases.
#[test]
fn a_text_of_ours_must_be_a_value() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), "b,s\n1,influenza\n2,HIV\n").unwrap();
    let refused = |text: &str, declared: &str| {
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nb = {{ role = \"quasi\" }}\ns = {{ role = \"sensitive\"{declared} }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 1 }}\n[community.values.s]\nFlu = \"{text}\"\n"
        );
        let policy = Policy::parse(&text, &folder.path().join("policy.toml")).unwrap();
        let options =
            PublishOptions { overwrite: true, seed: Some(1), ..PublishOptions::to(folder.path().join("release")) };
        publish(&policy, RowSource::Policy, &options).err().map(|error| error.to_string())
    };
    assert_eq!(refused("influenza", ""), None);
    assert_eq!(refused("", ""), None, "the missing value");
    let why = refused("influenca", "").unwrap();
    assert!(why.contains(&format!("{}:", folder.path().join("policy.toml").display())), "{why}");
    assert!(why.contains("community.values.s.Flu"), "{why}");
    assert!(!why.contains("influenza"), "a value of the private source: {why}");
    let why = refused("influenca", ", order = [\"influenza\", \"HIV\"]").unwrap();
    assert!(why.contains("did you mean \"influenza\"?"), "the policy declares it: {why}");
    assert!(Path::new(&folder.path().join("release")).exists());
}
