//! The widest test of `worlds` and of the gate: small random settings of one to three releases, of
//! every kind and mix, against every table that fits them, one by one ([`crate::all_worlds`]).
//!
//! `HEDGEROW_WORLDS=20000` tries that many settings; `HEDGEROW_SEED=…` replays one, or begins there
//! where both are given.

use std::fmt::Write as _;
use std::path::Path;

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_any;
use hedgerow_publish::catalog::{Catalog, Gate, as_the_gate};
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::all_worlds::{Person, Worlds};
use crate::as_read::{Read, read, read_with};
use crate::cloning::scratch;

const SETTINGS: u64 = 150;

/// Counts of the outcomes, so that a test that stopped trying something is noticed.
#[derive(Debug, Default)]
struct Seen {
    passed: u32,
    refused: u32,
    exposed: u32,
    open: u32,
    partly: u32,
    foreign: u32,
    suppressed: u32,
    lacking: u32,
    stayed: u32,
    gone: u32,
    anyhow: u32,
    /// One group of releases that contradict the others is certain of a value.
    contradicting: u32,
}

#[test]
#[ignore = "wide: HEDGEROW_WORLDS=20000 cargo test -p hedgerow-publish --test it every_table -- --ignored --nocapture"]
fn every_table_that_fits_agrees_with_the_audit_and_the_gate() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (number("HEDGEROW_SEED"), number("HEDGEROW_WORLDS"));
    let count = count.unwrap_or(if first.is_some() { 1 } else { SETTINGS });
    let seeds = first.unwrap_or(0)..first.unwrap_or(0) + count;
    let mut seen = Seen::default();
    let all = seeds.end - seeds.start;
    seeds.for_each(|seed| examine(seed, &mut seen));
    println!("{seen:?}");
    if all >= SETTINGS {
        let releases = [seen.foreign, seen.suppressed, seen.lacking, seen.stayed, seen.gone];
        let counts = [&[seen.passed, seen.refused, seen.exposed, seen.partly][..], &releases].concat();
        assert!(counts.iter().all(|&count| count > 3), "{seen:?}");
    }
}

/// Two people who look alike, of whom each of two earlier releases has one.
#[test]
fn people_who_look_alike_need_not_have_stayed_in_the_same_releases() {
    let mut seen = Seen::default();
    examine(767, &mut seen);
    assert_eq!((seen.stayed, seen.exposed), (1, 1), "{seen:?}");
}

/// Three releases that contradict each other: one of them alone, with everyone in it, leaves a
/// person the value that is theirs.
///
/// No table fits all three, so that no table denies what is said, nor supports it: the question is
/// which attacker is meant. One who trusts the releases of one group that some table fits is right
/// about this person, and the releases that contradict these do not take that knowledge away. So
/// the conclusion is counted; to require that every group leads to it would miss this attacker.
/// [`Setting::hold`] allows it only where the finding says that no table fits and is not exact, and
/// the oracle only where the tables do contradict each other and the value is the true one.
#[test]
fn releases_that_contradict_each_other_are_of_one_group_of_people() {
    let mut seen = Seen::default();
    examine(12381, &mut seen);
    assert_eq!((seen.foreign, seen.refused, seen.exposed), (1, 1, 1), "{seen:?}");
    assert_eq!((seen.open, seen.contradicting), (1, 1), "{seen:?}");
}

fn person(rng: &mut StdRng, values: u32) -> Person {
    let or_missing = |rng: &mut StdRng, text: String| if rng.random_bool(0.08) { String::new() } else { text };
    let a = rng.random_range(0..4).to_string();
    let b = format!("x{}", rng.random_range(0..2));
    let s = format!("s{}", rng.random_range(0..values));
    [or_missing(rng, a), or_missing(rng, b), "0".to_owned(), or_missing(rng, s)]
}

/// A folder with the sources and releases of one setting.
struct Setting {
    seed: u64,
    folder: tempfile::TempDir,
    rng: StdRng,
    /// Whose all releases are, where they are of one custodian.
    custodian: Option<&'static str>,
}

fn examine(seed: u64, seen: &mut Seen) {
    let mut rng = StdRng::seed_from_u64(seed);
    let custodian = rng.random_bool(0.3).then_some("us");
    let mut setting = Setting { seed, folder: scratch(), rng, custodian };
    let rng = &mut setting.rng;
    let values = rng.random_range(1..4);
    let people: Vec<Person> = (0..rng.random_range(1..6)).map(|_| person(rng, values)).collect();
    let earlier = rng.random_range(0..3);
    let (mut partly, mut reads) = (false, Vec::new());
    let catalog = setting.folder.path().join("catalog");
    for number in 0..earlier {
        let others = setting.others(&people, values);
        let different = others != people;
        let Some((read, foreign)) = setting.make(&others, &format!("r{number}")) else { continue };
        seen.foreign += u32::from(foreign);
        seen.suppressed += u32::from(read.1 > 0);
        partly |= different;
        let path = setting.folder.path().join(format!("r{number}"));
        Catalog::add(&catalog, &path, None, custodian, &NoProgress).unwrap();
        reads.push(read);
    }
    seen.partly += u32::from(partly);
    setting.newest(&people, reads, partly, seen);
}

impl Setting {
    /// The same people, or some who came, went or changed.
    fn others(&mut self, people: &[Person], values: u32) -> Vec<Person> {
        let rng = &mut self.rng;
        let mut others = people.to_vec();
        if rng.random_bool(0.3) {
            match rng.random_range(0..3) {
                0 => others.push(person(rng, values)),
                1 if others.len() > 1 => drop(others.remove(rng.random_range(0..others.len()))),
                _ => {
                    let index = rng.random_range(0..others.len());
                    others[index] = person(rng, values);
                }
            }
        }
        others
    }

    /// A release of any kind; with its suppressed rows, and whether it was made elsewhere.
    fn make(&mut self, people: &[Person], name: &str) -> Option<((Read, u64), bool)> {
        if self.rng.random_bool(0.25) {
            return Some(((self.foreign(people, name), 0), true));
        }
        let (policy, _) = self.policy(people, &[]);
        let path = self.folder.path().join(name);
        let made = self.publish(&policy, name, Gate::default()).ok()?;
        Some(((read(&path), made.rows.suppressed), false))
    }

    /// A table with labels that overlap, as another program writes it.
    fn foreign(&mut self, people: &[Person], name: &str) -> Read {
        let rng = &mut self.rng;
        let folder = self.folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let mut codebook = String::from("attribute,label,low,high,leaf\na,,,,\nb,,,,\na,*,,,\nb,*,,,\n");
        let mut rows: Vec<String> = Vec::new();
        let mut known: Vec<String> = Vec::new();
        for [a, b, _, s] in people {
            let a = match a.parse::<i32>() {
                Ok(number) if rng.random_bool(0.8) => {
                    let low = number - rng.random_range(0..2);
                    let high = number + rng.random_range(1..3);
                    let label = format!("[{low};{high})");
                    if !known.contains(&label) {
                        known.push(label.clone());
                        writeln!(codebook, "a,{label},{low},{high},").unwrap();
                    }
                    label
                }
                Ok(_) => "*".to_owned(),
                Err(_) => String::new(),
            };
            let b = if rng.random_bool(0.4) { "*".to_owned() } else { b.clone() };
            rows.push(format!("{a},{b},{s}"));
        }
        writeln!(codebook, "b,x0,,,x0\nb,x1,,,x1").unwrap();
        rows.shuffle(rng);
        std::fs::write(folder.join("data.csv"), format!("a,b,s\n{}\n", rows.join("\n"))).unwrap();
        let sidecar = "[source]\npath = \"data.csv\"\ndelimiter = \",\"\n[attributes]\na = { role = \"quasi\" }\n\
                       b = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n";
        std::fs::write(folder.join("release.toml"), sidecar).unwrap();
        let path = self.folder.path().join(format!("{name}.codebook.csv"));
        std::fs::write(&path, codebook).unwrap();
        read_with(&folder, &path)
    }

    /// A policy of any method over the source, which it writes; and the columns that the source
    /// has. `lacking` columns are omitted from the source.
    fn policy(&mut self, people: &[Person], lacking: &[&str]) -> (Policy, Vec<&'static str>) {
        let columns: Vec<(usize, &'static str)> =
            [(0, "a"), (1, "b")].into_iter().filter(|(_, name)| !lacking.contains(name)).collect();
        let line = |person: &Person| {
            let own: Vec<&str> =
                columns.iter().map(|&(at, _)| person[at].as_str()).chain([person[3].as_str()]).collect();
            own.join(",")
        };
        let names: Vec<&str> = columns.iter().map(|(_, name)| *name).collect();
        let mut text = format!("{},s\n", names.join(","));
        people.iter().for_each(|person| writeln!(text, "{}", line(person)).unwrap());
        std::fs::write(self.folder.path().join("people.csv"), text).unwrap();
        let rng = &mut self.rng;
        let mut quasi: Vec<&str> = names.iter().copied().filter(|_| rng.random_bool(0.7)).collect();
        if quasi.is_empty() {
            quasi.push(names[0]);
        }
        let method = *["full-domain", "mondrian", "best-cut", "cluster", "anatomy"].choose(rng).unwrap();
        let rule = match method {
            "anatomy" => format!(
                "protect = \"s\"\nrequire = {{ model = \"distinct-l-diversity\", l = {} }}",
                rng.random_range(1..3)
            ),
            _ if rng.random_bool(0.5) => {
                "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }".to_owned()
            }
            _ => format!("require = {{ model = \"k-anonymity\", k = {} }}", rng.random_range(1..4)),
        };
        let suppression = if method == "full-domain" { "suppression = 0.4\n" } else { "" };
        let role = |name: &&str| match *name {
            "a" => "a = { role = \"quasi\", hierarchy = { widths = [2] } }\n".to_owned(),
            name => format!("{name} = {{ role = \"quasi\" }}\n"),
        };
        let roles: String = quasi.iter().map(role).collect();
        let text = format!(
            "[source]\npath = \"people.csv\"\ndelimiter = \",\"\nnull = [\"\"]\n[attributes]\n{roles}s = {{ role = \"sensitive\" }}\n\
             [[rule]]\n{rule}\n[publish]\nmethod = \"{method}\"\n{suppression}"
        );
        let policy = Policy::parse(&text, &self.folder.path().join("policy.toml"));
        (policy.unwrap_or_else(|errors| panic!("seed {}: {errors}", self.seed)), names)
    }

    fn publish(&self, policy: &Policy, name: &str, gate: Gate) -> Result<Published, PublishError> {
        let destination = self.folder.path().join(name);
        let options = PublishOptions { seed: Some(self.seed), gate, ..PublishOptions::to(destination) };
        publish(policy, RowSource::Policy, &options)
    }

    /// Publishes the newest release through the gate, and holds gate and audit against every table.
    fn newest(&mut self, people: &[Person], mut reads: Vec<(Read, u64)>, partly: bool, seen: &mut Seen) {
        let lacking: &[&str] = if self.rng.random_bool(0.2) { &["b"] } else { &[] };
        let (policy, known) = self.policy(people, lacking);
        let catalog = self.folder.path().join("catalog");
        let own = self.custodian.map(str::to_owned);
        let gate = Gate { catalog: Some(catalog.clone()), custodian: own, ..Gate::default() };
        let verdict = match self.publish(&policy, "new", gate) {
            Ok(_) => true,
            Err(PublishError::Audit { .. }) => {
                self.publish(&policy, "new", Gate::default()).unwrap();
                Catalog::add(&catalog, &self.folder.path().join("new"), None, self.custodian, &NoProgress).unwrap();
                false
            }
            Err(PublishError::Unsatisfiable(_) | PublishError::Ineligible(_)) => return,
            Err(error) => panic!("seed {}: {error}", self.seed),
        };
        let path = self.folder.path().join("new");
        let suppressed = suppressed(&path);
        reads.push((read(&path), suppressed));
        seen.suppressed += u32::from(suppressed > 0);
        seen.lacking += u32::from(!lacking.is_empty() && reads.len() > 1);
        if verdict {
            seen.passed += 1
        } else {
            seen.refused += 1
        }
        let worlds = Worlds::new(people, &known, &reads);
        let is_suppressed = reads.iter().any(|(_, suppressed)| *suppressed > 0);
        let earlier: Vec<usize> = (0..reads.len() - 1).filter(|_| self.custodian.is_some()).collect();
        let Some(stayed) = worlds.every_stayed(&earlier) else { return };
        seen.stayed += u32::from(stayed.len() > 1);
        let left = Left::of(&worlds, &stayed);
        seen.exposed += u32::from(!left.certain.is_empty());
        seen.gone += u32::from(left.is_gone_exposed);
        let (seed, certain) = (self.seed, &left.certain);
        assert!(!verdict || !left.is_gone_exposed, "seed {seed}: the gate passes, and who is not listed is exposed");
        // To who knows the column that the source lacks: in each way in which people can be in its
        // classes.
        let known = if lacking.is_empty() { None } else { worlds.every_known() };
        let known = known.and_then(|known| {
            let possible = known.iter().filter(|way| way.is_possible());
            possible.map(|way| of_way(way, &earlier)).collect::<Option<Vec<_>>>()
        });
        let is_anyhow =
            known.as_ref().is_some_and(|known| !known.is_empty() && known.iter().all(|certain| !certain.is_empty()));
        seen.anyhow += u32::from(is_anyhow && certain.is_empty());
        assert!(!verdict || !is_anyhow, "seed {seed}: the gate passes, and in every way someone is exposed");

        let opened = Catalog::load(&catalog).unwrap();
        let open = |name: &str| Release::open(&catalog.join(name), &NoProgress).unwrap();
        let releases: Vec<Release> = opened.entries.iter().map(|entry| open(&entry.name)).collect();
        let listed = read_any(&policy, &self.folder.path().join("people.csv"), &NoProgress).unwrap();
        let custodians = vec![self.custodian; releases.len()];
        let found = audit(&releases, &as_the_gate(Some(&policy), &custodians, Some(&listed))).unwrap();
        assert_eq!(verdict, !found.breach, "seed {seed}: gate and audit give one verdict");
        // Who knows a column of which labels overlap may know more: that is said.
        let mut worlds = found.findings.iter().filter(|finding| finding.adversary == Adversary::Worlds);
        let is_said = !lacking.is_empty() && worlds.any(|finding| finding.details["exact"] == false);
        let is_hidden = verdict && !certain.is_empty() && !is_said;
        assert!(!is_hidden, "seed {seed}: the gate passes, and {certain:?} are exposed");
        // A list with every column, where the source lacks one.
        let full = match lacking {
            [] => Vec::new(),
            _ => self.with_every_column(&releases, people, &custodians),
        };
        for finding in &found.findings {
            match finding.adversary {
                Adversary::Worlds => {
                    self.hold(finding, &left, seen);
                    let is_more = |of: &u32| !left.certain.contains(of);
                    let more = known.iter().flatten().flatten().any(is_more);
                    assert!(!more || finding.details["exact"] == false, "seed {seed}: {known:?}, {finding:?}");
                    let is_known = full.iter().all(|person| finding.people_at_risk.contains(person));
                    assert!(is_known || finding.details["exact"] == false, "seed {seed}: {full:?}, {finding:?}");
                }
                // What these are certain of is so in every table that fits, also beside suppressed
                // rows and releases in which people are missing.
                Adversary::Independence | Adversary::Correlation | Adversary::Composition => {
                    let is_true = finding.people_at_risk.iter().all(|person| certain.contains(person));
                    assert!(is_true, "seed {seed}: {finding:?}, every table of {certain:?}");
                }
                // Each person who fits a class is taken to be in it.
                Adversary::Attribute if !partly && !is_suppressed => {
                    let is_true = finding.people_at_risk.iter().all(|person| certain.contains(person));
                    assert!(is_true, "seed {seed}: {finding:?}, every table of {certain:?}");
                }
                _ => {}
            }
        }
    }

    /// The people at risk to who has a list with `b`.
    fn with_every_column(&self, releases: &[Release], people: &[Person], custodians: &[Option<&str>]) -> Vec<u32> {
        let path = self.folder.path().join("full.csv");
        let rows: String = people.iter().map(|[a, b, _, s]| format!("{a},{b},{s}\n")).collect();
        std::fs::write(&path, format!("a,b,s\n{rows}")).unwrap();
        let text = "[source]\npath = \"full.csv\"\ndelimiter = \",\"\nnull = [\"\"]\n[attributes]\n\
                    a = { role = \"quasi\" }\nb = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n\
                    [[rule]]\nrequire = { model = \"k-anonymity\", k = 1 }\n";
        let policy = Policy::parse(text, &self.folder.path().join("full.toml")).unwrap();
        let listed = read_any(&policy, &path, &NoProgress).unwrap();
        let found = audit(releases, &as_the_gate(None, custodians, Some(&listed))).unwrap();
        let found = found.findings.iter().find(|finding| finding.adversary == Adversary::Worlds);
        found.map_or_else(Vec::new, |finding| finding.people_at_risk.clone())
    }

    fn hold(&self, finding: &Finding, left: &Left, seen: &mut Seen) {
        let (seed, certain) = (self.seed, &left.certain);
        // No table fits releases that contradict each other: the finding says so.
        let is_said = finding.notes.iter().any(|note| note.text.contains("no table fits all releases"));
        let by_some: &[u32] = if is_said { &left.certain_by_some } else { &[] };
        let is_so = |person: &u32| certain.contains(person) || by_some.contains(person);
        let is_true = finding.people_at_risk.iter().all(is_so);
        let is_by_some = finding.people_at_risk.iter().any(|person| !certain.contains(person));
        seen.contradicting += u32::from(is_by_some);
        assert!(is_true, "seed {seed}: certain of {:?}, every table of {certain:?}", finding.people_at_risk);
        match finding.details["exact"] == true {
            true => {
                assert_eq!(finding.people_at_risk, *certain, "seed {seed}: {finding:?}");
                assert_eq!(finding.effective_l, left.least, "seed {seed}: {finding:?}");
            }
            false => seen.open += 1,
        }
    }
}

/// The values that every table leaves, also to an attacker who knows which people stayed, or who
/// takes people to be where their true values do not fit; and those of people who are in other
/// releases alone.
struct Left {
    certain: Vec<u32>,
    /// Where releases contradict each other, by those of one group.
    certain_by_some: Vec<u32>,
    least: Option<u64>,
    /// One value is left to a person who is in another release than the newest, and not listed.
    is_gone_exposed: bool,
}

impl Left {
    fn of(worlds: &Worlds<'_>, stayed: &[Worlds<'_>]) -> Left {
        let believed = worlds.believed();
        let all_in = [worlds.with_suppressed(true), believed.with_suppressed(false)];
        let mut left = Left { certain: Vec::new(), certain_by_some: Vec::new(), least: None, is_gone_exposed: false };
        for each in stayed.iter().chain([worlds, &believed]).chain(all_in.iter().flatten()) {
            left.certain.extend(each.certain());
            left.certain_by_some.extend(each.certain_by_some());
            left.least = left.least.into_iter().chain(each.least()).min();
        }
        for each in stayed.iter().chain([worlds]).chain(&all_in[0]) {
            for values in each.gone() {
                left.is_gone_exposed |= values.len() == 1;
                left.least = left.least.into_iter().chain([values.len() as u64]).min();
            }
        }
        left.certain.sort_unstable();
        left.certain.dedup();
        left
    }
}

/// The people of whom one value is left where it is known of everyone in which classes they are;
/// `None` where too many can have stayed.
fn of_way(way: &Worlds<'_>, earlier: &[usize]) -> Option<Vec<u32>> {
    let stayed = way.every_stayed(earlier)?;
    let mut certain: Vec<u32> = stayed.iter().chain([way]).flat_map(Worlds::certain).collect();
    certain.sort_unstable();
    certain.dedup();
    Some(certain)
}

/// The number of suppressed rows in the manifest.
fn suppressed(release: &Path) -> u64 {
    let manifest = std::fs::read_to_string(release.join("datapackage.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    manifest["hedgerow"]["rows"]["suppressed"].as_u64().unwrap()
}
