//! Random communities of releases, each made by another method from the same small table, then read
//! back from their files by a second reader that shares nothing with the product: does the
//! guarantee across releases hold, are all candidates counted, and does the audit find every
//! posterior and every person at risk?
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish random_communities`
//! replays that case alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_audit::adversaries::correlation;
use hedgerow_audit::adversaries::minimality::HowMade;
use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_source;
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::{Hierarchy, HierarchySpec, NoProgress};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use tempfile::TempDir;

use crate::as_read::{Read, Weights, read};

const CASES: u64 = 120;

/// Name and hierarchy of each quasi attribute.
const QUASI: [(&str, &str); 3] =
    [("a", ", hierarchy = { widths = [3, 6] }"), ("b", ""), ("c", ", hierarchy = { widths = [2, 4] }")];

#[test]
fn random_communities_agree_with_a_second_reader() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let mut outcomes = BTreeMap::new();
    for seed in 0..CASES {
        *outcomes.entry(examine(seed)).or_insert(0) += 1;
    }
    let seen = |outcome: Outcome| outcomes.get(&outcome).copied().unwrap_or(0);
    assert!(seen(Outcome::BrokenBefore) > 10 && seen(Outcome::Published) > 30, "{outcomes:?}");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    NothingEarlier,
    BrokenBefore,
    ExposedBefore,
    Refused,
    Published,
}

struct Case {
    seed: u64,
    folder: TempDir,
    /// The values of a, b, c and s.
    people: Vec<[String; 4]>,
}

fn examine(seed: u64) -> Outcome {
    let mut rng = StdRng::seed_from_u64(seed);
    let values = rng.random_range(2..6);
    let people: Vec<[String; 4]> = (0..rng.random_range(2..30))
        .map(|_| {
            [
                rng.random_range(0..12).to_string(),
                format!("x{}", rng.random_range(0..3)),
                rng.random_range(0..8).to_string(),
                format!("s{}", rng.random_range(0..values)),
            ]
        })
        .collect();
    let case = Case { seed, folder: tempfile::tempdir().unwrap(), people };
    let lines: String = case.people.iter().map(|person| person.join(",") + "\n").collect();
    std::fs::write(case.folder.path().join("people.csv"), format!("a,b,c,s\n{lines}")).unwrap();
    let mut earlier = 0;
    for number in 0..rng.random_range(1..4) {
        let method = *["full-domain", "mondrian", "best-cut", "cluster", "anatomy", "clone"].choose(&mut rng).unwrap();
        let quasi = subset(&mut rng);
        let require = format!("{{ model = \"distinct-l-diversity\", l = {} }}", rng.random_range(1..3));
        match case.publish(&format!("r{number}"), &quasi, method, &require, "") {
            Ok(_) => earlier += 1,
            Err(PublishError::Unsatisfiable(_) | PublishError::Ineligible(_)) => {}
            Err(error) => panic!("seed {seed}, {method}: {error}"),
        }
    }
    if earlier == 0 {
        return Outcome::NothingEarlier;
    }
    case.publish_beside(&mut rng)
}

fn subset(rng: &mut StdRng) -> Vec<usize> {
    let chosen: Vec<usize> = (0..QUASI.len()).filter(|_| rng.random_bool(0.5)).collect();
    if chosen.is_empty() { vec![rng.random_range(0..QUASI.len())] } else { chosen }
}

impl Case {
    fn publish(
        &self,
        name: &str,
        quasi: &[usize],
        method: &str,
        require: &str,
        community: &str,
    ) -> Result<Published, PublishError> {
        let attributes: String =
            quasi.iter().map(|&q| format!("{} = {{ role = \"quasi\"{} }}\n", QUASI[q].0, QUASI[q].1)).collect();
        let (rule, required) = match method {
            "clone" => (String::new(), "k = 2\n"),
            "full-domain" => (format!("[[rule]]\nprotect = \"s\"\nrequire = {require}\n"), "suppression = 0.0\n"),
            _ => (format!("[[rule]]\nprotect = \"s\"\nrequire = {require}\n"), ""),
        };
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\n{attributes}s = {{ role = \"sensitive\" }}\n{rule}[publish]\nmethod = \
             \"{method}\"\n{required}{community}"
        );
        let policy = Policy::parse(&text, &self.folder.path().join("policy.toml"))
            .unwrap_or_else(|errors| panic!("seed {}\n{text}\n{errors}", self.seed));
        publish(
            &policy,
            RowSource::Policy,
            &PublishOptions {
                seed: Some(self.seed),
                candidates: true,
                ..PublishOptions::to(self.folder.path().join(name))
            },
        )
    }

    fn releases(&self) -> Vec<Read> {
        let folders = ["r0", "r1", "r2", "new"].map(|name| self.folder.path().join(name));
        folders.iter().filter(|folder| folder.is_dir()).map(|folder| read(folder)).collect()
    }

    fn publish_beside(&self, rng: &mut StdRng) -> Outcome {
        let seed = self.seed;
        let (l, quasi) = (rng.random_range(1..4u64), subset(rng));
        let method = if rng.random_bool(0.6) { "full-domain" } else { "mondrian" };
        let left = combinations(&self.releases());
        let require = format!("{{ model = \"cross-release-l-diversity\", l = {l} }}");
        let made = self.publish("new", &quasi, method, &require, "[community]\nreleases = [\"r*\"]\n");
        let holds = |classes: &[BTreeSet<String>]| {
            let enough = |class: &BTreeSet<String>| left.iter().all(|set| set.intersection(class).count() as u64 >= l);
            classes.iter().all(enough)
        };
        let broken = left.iter().any(|set| (set.len() as u64) < l);
        match made {
            Err(PublishError::Community(why)) => {
                assert!(broken, "seed {seed}: {why}");
                return Outcome::BrokenBefore;
            }
            // The sets of values hold, and the sizes of joint cells expose people.
            Err(PublishError::Audit { by_new, .. }) => {
                assert!(l > 1 && !broken, "seed {seed}");
                return if by_new { Outcome::Refused } else { Outcome::ExposedBefore };
            }
            // All values together leave what the community leaves, so that one class of all people
            // always holds.
            Err(error) => panic!("seed {seed}: {error}"),
            Ok(published) => {
                assert!(!broken, "seed {seed}");
                let new = read(&self.folder.path().join("new"));
                let classes: Vec<BTreeSet<String>> = new.sets();
                assert!(holds(&classes), "seed {seed}: {classes:?} beside {left:?}");
                if let Some(searched) = published.searched {
                    let nodes = self.nodes(&quasi);
                    let holding = nodes.iter().filter(|classes| holds(classes)).count() as u64;
                    assert_eq!(searched.candidates, Some(holding), "seed {seed}");
                }
            }
        }
        self.audit();
        Outcome::Published
    }

    /// For every combination of levels, the values of each class.
    fn nodes(&self, quasi: &[usize]) -> Vec<Vec<BTreeSet<String>>> {
        let width = |value: &str, width: u32| (value.parse::<u32>().unwrap() / width).to_string();
        let label = |attribute: usize, level: usize, value: &str| match (attribute, level) {
            (_, 0) => value.to_owned(),
            (0, 1 | 2) => width(value, [3, 6][level - 1]),
            (2, 1 | 2) => width(value, [2, 4][level - 1]),
            _ => "*".to_owned(),
        };
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
        for &attribute in quasi {
            let tops = if attribute == 1 { 2 } else { 4 };
            nodes = nodes.iter().flat_map(|node| (0..tops).map(move |level| [&node[..], &[level]].concat())).collect();
        }
        let classes = |node: &Vec<usize>| {
            let mut classes: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
            for person in &self.people {
                let cells = quasi.iter().zip(node).map(|(&q, &level)| label(q, level, &person[q])).collect();
                classes.entry(cells).or_default().insert(person[3].clone());
            }
            classes.into_values().collect()
        };
        nodes.iter().map(classes).collect()
    }

    fn audit(&self) {
        let seed = self.seed;
        let policy = "[source]\npath = \"people.csv\"\n[attributes]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 1 }\n";
        let policy = Policy::parse(policy, &self.folder.path().join("people.toml")).unwrap();
        let people = read_source(&policy, &NoProgress).unwrap();
        let releases = self.releases();
        let paths = releases.iter().map(|release| Release::open(&release.path, &NoProgress).unwrap());
        let opened: Vec<_> = paths.collect();
        let hierarchies: Vec<(String, Hierarchy)> = people
            .columns
            .iter()
            .filter_map(|column| {
                let spec = match column.name.as_str() {
                    "a" => HierarchySpec::Widths(vec![3.0, 6.0]),
                    "b" => HierarchySpec::None,
                    "c" => HierarchySpec::Widths(vec![2.0, 4.0]),
                    _ => return None,
                };
                let built = Hierarchy::build(&spec, &column.name, "here", &column.domain, &[]);
                Some((column.name.clone(), built.unwrap()))
            })
            .collect();
        let hierarchies: Vec<(String, &Hierarchy)> =
            hierarchies.iter().map(|(name, built)| (name.clone(), built)).collect();
        let made = Some(HowMade { hierarchies: &hierarchies, suppression: false, loss: None });
        let options = AuditOptions { people: Some(&people), table: true, made, ..AuditOptions::default() };
        let found = audit(&opened, &options).unwrap();
        assert!(found.contradictions.is_empty(), "seed {seed}: {:?}", found.contradictions);
        let seen: Vec<Vec<Weights>> =
            self.people.iter().map(|person| releases.iter().map(|release| release.see(person)).collect()).collect();
        let of = |name: &'static str| found.findings.iter().filter(move |finding| finding.adversary.name() == name);
        let all_people = releases.iter().all(|release| release.is_about(self.people.len()));
        self.composed(&seen, of("composition").next().unwrap(), all_people);
        // Clones leave people out and make some up.
        if !all_people {
            return;
        }
        self.single(&releases, of("linker").chain(of("attribute")));
        self.posteriors(&seen, of("independence").next().unwrap());
        self.joint(&releases, of("correlation"), Uniform::No);
        let adversaries = vec![Adversary::Correlation];
        let uniform = AuditOptions { weights: correlation::Weights::Uniform, adversaries, ..options };
        self.joint(&releases, audit(&opened, &uniform).unwrap().findings.iter(), Uniform::Yes);
        for finding in of("minimality") {
            // What knowing the method rules out must not be the truth.
            assert!(finding.notes.iter().all(|note| !note.text.contains("ruled out")), "seed {seed}: {finding:?}");
            let hits = finding.details.get("true_hits").and_then(Value::as_u64).unwrap_or(finding.at_risk);
            assert_eq!(finding.at_risk, hits, "seed {seed}: {finding:?}");
        }
    }

    /// Checks the findings about each release by itself.
    fn single<'f>(&self, releases: &[Read], findings: impl Iterator<Item = &'f Finding>) {
        for finding in findings {
            let release = releases.iter().find(|release| release.path == Path::new(&finding.releases[0])).unwrap();
            let rows: Vec<f64> = self.people.iter().map(|person| release.rows(person)).collect();
            let seen: Vec<Weights> = self.people.iter().map(|person| release.see(person)).collect();
            let context = format!("seed {}, {} of {}", self.seed, finding.adversary, release.path.display());
            let fewest = rows.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(finding.effective_k, Some(fewest as u64), "{context}");
            assert_eq!(finding.people, self.people.len() as u64, "{context}");
            if finding.adversary == Adversary::Linker {
                let alone = rows.iter().filter(|rows| **rows < 2.0).count() as u64;
                assert_eq!(finding.at_risk, alone, "{context}");
                let same = |place: &[usize]| self.people.iter().filter(|p| release.classes_of(p) == place).count();
                let candidates =
                    |person: &[String; 4]| release.rows(person).max(same(&release.classes_of(person)) as f64);
                let journalist = self.people.iter().map(|person| 1.0 / candidates(person)).fold(0.0, f64::max);
                close(finding.details["journalist"].as_f64().unwrap(), journalist, &context);
            } else {
                assert_eq!(finding.at_risk, seen.iter().filter(|values| values.len() == 1).count() as u64, "{context}");
                let least = seen.iter().map(|values| values.len() as u64).min();
                assert_eq!(finding.effective_l, least, "{context}");
                let tops = seen
                    .iter()
                    .zip(&rows)
                    .map(|(values, rows)| values.values().fold(0.0, |a: f64, b| a.max(*b)) / rows);
                close(finding.max_confidence, tops.fold(0.0, f64::max), &context);
            }
        }
    }

    /// Checks the values left for every person, and their confidence by equation 3.
    fn composed(&self, seen: &[Vec<Weights>], finding: &Finding, all_people: bool) {
        let (mut at_risk, mut hits, mut least, mut sure) = (0, 0, None, 0.0f64);
        for (person, seen) in self.people.iter().zip(seen) {
            let left: BTreeMap<&String, f64> = seen[0]
                .keys()
                .filter(|value| seen.iter().all(|values| values.contains_key(*value)))
                .map(|value| (value, seen.iter().map(|values| values[value]).fold(f64::INFINITY, f64::min)))
                .collect();
            at_risk += u64::from(left.len() == 1);
            hits += u64::from(left.len() == 1 && left.contains_key(&person[3]));
            if left.is_empty() {
                continue;
            }
            least = Some(least.map_or(left.len() as u64, |least: u64| least.min(left.len() as u64)));
            sure = left.values().map(|rows| rows / left.values().sum::<f64>()).fold(sure, f64::max);
        }
        let context = format!("seed {}", self.seed);
        assert_eq!((finding.at_risk, finding.effective_l), (at_risk, least), "{context}");
        if least.is_some() {
            assert_eq!(finding.details["true_hits"], Value::from(hits), "{context}");
        }
        assert!(at_risk == hits || !all_people, "{context}: what alone is left is true");
        close(finding.max_confidence, sure, &context);
    }

    /// Equation 5 for every person, against the whole table that the audit tells.
    fn posteriors(&self, seen: &[Vec<Weights>], finding: &Finding) {
        let round = |share: f64| (share * 1e9).round() as i64;
        let mut expected: BTreeSet<Vec<(String, i64)>> = BTreeSet::new();
        let values: BTreeSet<&String> = self.people.iter().map(|person| &person[3]).collect();
        for seen in seen {
            let weight = |value: &String| {
                let all = self.people.iter().filter(|person| person[3] == *value).count() as f64;
                let shares = seen.iter().map(|values| values.get(value).copied().unwrap_or_default() / all);
                shares.fold(all / self.people.len() as f64, |product, share| product * share)
            };
            let sum: f64 = values.iter().map(|value| weight(value)).sum();
            let shares = values.iter().map(|value| ((*value).clone(), round(weight(value) / sum)));
            expected.insert(shares.filter(|(_, share)| *share > 0).collect());
        }
        let found: BTreeSet<Vec<(String, i64)>> = finding.details["table"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let pairs = row["probabilities"].as_array().unwrap().iter();
                let pairs = pairs.map(|pair| (pair[0].as_str().unwrap().to_owned(), round(pair[1].as_f64().unwrap())));
                let mut pairs: Vec<(String, i64)> = pairs.collect();
                pairs.sort();
                pairs
            })
            .collect();
        assert_eq!(found, expected, "seed {}", self.seed);
    }

    /// The adversary who knows joint sizes, by listing every way, where both releases tell whole
    /// classes.
    fn joint<'f>(&self, releases: &[Read], findings: impl Iterator<Item = &'f Finding>, uniform: Uniform) {
        for finding in findings {
            let pair: Vec<&Read> = finding
                .releases
                .iter()
                .map(|name| releases.iter().find(|release| release.path == Path::new(name)).unwrap())
                .collect();
            let mut cells: BTreeMap<[Vec<usize>; 2], u64> = BTreeMap::new();
            for person in &self.people {
                *cells.entry([pair[0].classes_of(person), pair[1].classes_of(person)]).or_default() += 1;
            }
            // A person who fits two classes of a release may be in a joint cell that is not theirs,
            // so that the rows outside a cell say nothing of those inside it.
            let in_one_class = cells.keys().flatten().all(|classes| classes.len() == 1);
            let (mut at_risk, mut sure) = (0, 0.0f64);
            for (places, people) in cells {
                let whole: Option<Vec<Weights>> =
                    places.iter().zip(&pair).map(|(place, release)| release.whole_bucket(place)).collect();
                let Some(whole) = whole else { continue };
                let values: Vec<[u64; 3]> = whole[0]
                    .iter()
                    .filter_map(|(value, first)| {
                        let (first, second) = (*first as u64, *whole[1].get(value)? as u64);
                        let all = self.people.iter().filter(|person| person[3] == *value).count() as u64;
                        Some([first, second, if in_one_class { all } else { first + second }])
                    })
                    .collect();
                let (ways, sums) = listed(&values, people, uniform);
                assert!(ways > 0.0, "seed {}: what is true is possible", self.seed);
                let shares: Vec<f64> = sums.iter().map(|sum| sum / ways / people as f64).collect();
                at_risk += if shares.iter().filter(|share| **share > 0.0).count() == 1 { people } else { 0 };
                sure = shares.into_iter().fold(sure, f64::max);
            }
            assert_eq!(finding.at_risk, at_risk, "seed {}: {finding:?}", self.seed);
            close(finding.max_confidence, sure, &format!("seed {}: {finding:?}", self.seed));
        }
    }
}

fn close(found: f64, expected: f64, context: &str) {
    assert!((found - expected).abs() < 1e-9, "{context}: {found} is not {expected}");
}

/// The values that one class of each release leaves together, for every combination of classes.
fn combinations(releases: &[Read]) -> BTreeSet<BTreeSet<String>> {
    let mut left: Option<BTreeSet<BTreeSet<String>>> = None;
    for release in releases {
        let sets = release.sets();
        left = Some(match left {
            None => sets.into_iter().collect(),
            Some(left) => {
                left.iter().flat_map(|a| sets.iter().map(move |b| a.intersection(b).cloned().collect())).collect()
            }
        });
    }
    left.unwrap_or_default()
}

/// Whether all ways are taken to be equally likely.
#[derive(Clone, Copy)]
enum Uniform {
    Yes,
    No,
}

/// The weight of all ways to fill a joint cell, and for every value the rows that have it, weighed.
/// Each value has its rows in the first class, in the second, and in all.
fn listed(values: &[[u64; 3]], people: u64, uniform: Uniform) -> (f64, Vec<f64>) {
    let choose = |of: u64, chosen: u64| (0..chosen).map(|i| (of - i) as f64 / (i + 1) as f64).product::<f64>();
    let Some(([first, second, all], rest)) = values.split_first() else {
        return (if people == 0 { 1.0 } else { 0.0 }, Vec::new());
    };
    let (mut whole, mut sums) = (0.0, vec![0.0; values.len()]);
    for both in 0..=people.min(*first).min(*second) {
        if second - both > all - first {
            continue;
        }
        let ways = match uniform {
            Uniform::Yes => 1.0,
            Uniform::No => choose(*first, both) * choose(all - first, second - both),
        };
        let (others, of_others) = listed(rest, people - both, uniform);
        whole += ways * others;
        sums[0] += ways * others * both as f64;
        sums[1..].iter_mut().zip(of_others).for_each(|(sum, rows)| *sum += ways * rows);
    }
    (whole, sums)
}
