//! The promises of joint publishing beyond the rules themselves: rows of several custodians in
//! every class, rules that hold towards some of them, nothing opened that was not announced, and a
//! union with the rows of all. The oracle tries every coalition on the rows themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use hedgerow_joint::{Agreed, Joint, JointRow, Profile, rehearse, rehearse_release};
use hedgerow_publish::bind::Bound;
use hedgerow_smc::{Coins, Inquiry as _, OpenedKind, Operation, Turn};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::joint::{agree, classes_by_row, read, split};

/// People of one random case, and what is required for them.
pub(crate) struct People {
    /// Age, ward, disease.
    pub(crate) rows: Vec<(u32, u32, u32)>,
    pub(crate) k: u64,
    /// The least number of diseases in a class.
    pub(crate) distinct: u64,
    /// The most frequent disease has at most one row in this many; 1 requires nothing.
    pub(crate) frequency: u64,
    /// The most tenths by which distributions of diseases differ; 10 requires nothing.
    pub(crate) tenths: u64,
}

impl People {
    pub(crate) fn random(random: &mut StdRng) -> People {
        let (wide, wards, diseases) =
            (random.random_range(1..20), random.random_range(1..5), random.random_range(1..5));
        let person = |random: &mut StdRng| {
            (random.random_range(0..wide), random.random_range(0..wards), random.random_range(0..diseases))
        };
        let count = random.random_range(1..60usize);
        People {
            rows: (0..count).map(|_| person(random)).collect(),
            k: random.random_range(1..5),
            distinct: if random.random_bool(0.5) { random.random_range(1..3) } else { 1 },
            frequency: if random.random_bool(0.3) { random.random_range(1..3) } else { 1 },
            tenths: if random.random_bool(0.3) { random.random_range(3..10) } else { 10 },
        }
    }

    pub(crate) fn write(&self, folder: &Path) {
        let mut text = "age,ward,disease\n".to_owned();
        self.rows.iter().for_each(|(age, ward, disease)| text.push_str(&format!("{age},w{ward},d{disease}\n")));
        let mut models = vec![format!("{{ model = \"distinct-l-diversity\", l = {} }}", self.distinct)];
        if self.frequency > 1 {
            models.push(format!("{{ model = \"frequency-l-diversity\", l = {} }}", self.frequency));
        }
        if self.tenths < 10 {
            models.push(format!("{{ model = \"t-closeness\", t = 0.{}, distance = \"equal\" }}", self.tenths));
        }
        let policy = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nward = {{ role = \"quasi\" }}\n\
             disease = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {} }}\n\
             [[rule]]\nprotect = \"disease\"\nrequire = [{}]\n[publish]\nmethod = \"mondrian\"\n",
            self.k,
            models.join(", ")
        );
        std::fs::write(folder.join("people.csv"), text).unwrap();
        std::fs::write(folder.join("policy.toml"), policy).unwrap();
    }

    /// Whether these rows, as a class or what a coalition sees of one, keep everything that is
    /// required.
    fn fine(&self, rows: &[usize]) -> bool {
        let count = |rows: &mut dyn Iterator<Item = usize>| {
            let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
            rows.for_each(|row| *counts.entry(self.rows[row].2).or_default() += 1);
            counts
        };
        let (class, whole) = (count(&mut rows.iter().copied()), count(&mut (0..self.rows.len())));
        let (size, all) = (rows.len() as u64, self.rows.len() as u64);
        // Half the sum of differences of shares, times 2 · size · all.
        let apart: u64 = whole
            .iter()
            .map(|(disease, of_all)| (class.get(disease).unwrap_or(&0) * all).abs_diff(of_all * size))
            .sum();
        size >= self.k
            && class.len() as u64 >= self.distinct
            && class.values().all(|rows| rows * self.frequency <= size)
            && (self.tenths == 10 || apart * 10 <= 2 * self.tenths * size * all)
    }
}

/// All sets of at most `most` of these custodians.
fn coalitions(custodians: usize, most: u64) -> Vec<BTreeSet<usize>> {
    let members = |set: usize| (0..custodians).filter(|one| set >> one & 1 == 1).collect::<BTreeSet<_>>();
    (0..1usize << custodians).map(members).filter(|members| members.len() as u64 <= most).collect()
}

#[test]
fn every_class_has_rows_of_several_custodians_and_no_coalition_learns_too_much() {
    let (mut divided, mut refused) = ([0; 4], 0);
    for seed in 0..1200 {
        let mut random = StdRng::seed_from_u64(seed);
        let people = People::random(&mut random);
        let folder = tempfile::tempdir().unwrap();
        people.write(folder.path());
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let custodians = random.random_range(3..7usize);
        let owner = split(&mut random, people.rows.len(), custodians);
        let (sites, towards) = (random.random_range(1..4u64), seed % 4);
        let agreed = Arc::new(Agreed { sites, towards, ..agree(&bound, seed % 3 > 0, false).unwrap() });
        let shares = agreed.deal(&bound.judged_codes(), &owner, custodians);
        let profile = if random.random_bool(0.5) { Profile::Masked } else { Profile::Baseline };
        let rehearsed = rehearse(profile, &agreed, shares, seed).unwrap();
        let announced = agreed.announce(profile).remove(0).1;
        let unannounced = rehearsed.ledger.counts().into_iter().find(|(kind, _)| !announced.contains(kind));
        assert_eq!(unannounced, None, "seed {seed}");
        let Some(joined) = rehearsed.joined else {
            refused += 1;
            continue;
        };
        let classes = classes_by_row(&joined, &owner);
        for class in 0..joined[0].classes.len() {
            let members: Vec<usize> = (0..people.rows.len()).filter(|row| classes[*row] == class).collect();
            let owners: BTreeSet<usize> = members.iter().map(|row| owner[*row]).collect();
            assert!(owners.len() as u64 >= sites, "seed {seed}");
            for coalition in coalitions(custodians, towards) {
                let rest: Vec<usize> =
                    members.iter().copied().filter(|row| !coalition.contains(&owner[*row])).collect();
                assert!(
                    rest.is_empty() || people.fine(&rest),
                    "seed {seed}: {coalition:?} see {rest:?} of {members:?}"
                );
            }
        }
        divided[towards as usize] += usize::from(joined[0].classes.len() > 1);
    }
    // Towards many, most small tables cannot be divided; but some can, or nothing would have been
    // tried.
    assert!(divided.iter().zip([100, 40, 5, 1]).all(|(divided, least)| *divided >= least), "{divided:?}");
    assert!(refused > 50, "{refused}");
}

#[test]
fn histograms_open_only_where_shares_are_judged_and_sizes_hold_towards_custodians() {
    let (mut opened, mut none) = (0, 0);
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut people = People::random(&mut random);
        people.k = people.k.max(2);
        let folder = tempfile::tempdir().unwrap();
        people.write(folder.path());
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let custodians = random.random_range(3..6usize);
        let owner = split(&mut random, people.rows.len(), custodians);
        let towards = 1 + seed % 2;
        let agreed = Arc::new(Agreed { towards, ..agree(&bound, seed % 3 > 0, false).unwrap() });
        let shares = agreed.deal(&bound.judged_codes(), &owner, custodians);
        let ledger = rehearse(Profile::Masked, &agreed, shares, seed).unwrap().ledger;
        let histograms: Vec<_> = ledger.entries().iter().filter(|entry| entry.kind == OpenedKind::Histograms).collect();
        if people.frequency == 1 && people.tenths == 10 {
            assert!(histograms.is_empty(), "seed {seed}: rows and different values need no histogram");
            none += 1;
        }
        for entry in histograms {
            assert_eq!(entry.values.len() % agreed.cardinalities[0], 0);
            for histogram in entry.values.chunks(agreed.cardinalities[0]) {
                let rows: u64 = histogram.iter().sum();
                // Some custodians together have at least this number; without theirs, k are left.
                let theirs = (rows * towards).div_ceil(custodians as u64);
                assert!(
                    rows - theirs >= people.k,
                    "seed {seed}: {rows} rows among {custodians} towards {towards}: {entry}"
                );
                opened += 1;
            }
        }
    }
    assert!(opened > 50 && none > 50, "{opened} {none}");
}

#[test]
fn every_entry_of_the_ledger_names_its_part_and_comparisons_their_thresholds() {
    let mut random = StdRng::seed_from_u64(3);
    let mut people = People::random(&mut random);
    people.rows = (0..80).map(|row| (row % 13, row % 3, row % 4)).collect();
    (people.k, people.distinct, people.frequency, people.tenths) = (3, 2, 1, 9);
    let folder = tempfile::tempdir().unwrap();
    people.write(folder.path());
    let (policy, table) = read(&folder.path().join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let agreed = Arc::new(Agreed { sites: 2, towards: 1, ..agree(&bound, false, false).unwrap() });
    let owner: Vec<usize> = (0..80).map(|row| row % 3).collect();
    let ledger = rehearse(Profile::Masked, &agreed, agreed.deal(&bound.judged_codes(), &owner, 3), 1).unwrap().ledger;
    let mut compared = BTreeSet::new();
    for entry in ledger.entries() {
        assert!(!entry.parts.is_empty(), "{entry}");
        let whole = matches!(entry.what, "all rows" | "a released class");
        assert!(whole || entry.attribute.is_some(), "{entry}");
        assert_eq!(entry.values.len() % entry.parts.len(), 0, "{entry}");
        if !entry.at_least.is_empty() {
            assert_eq!(entry.at_least.len() * entry.parts.len(), entry.values.len(), "{entry}");
            compared.insert(entry.kind);
        }
    }
    let expected = [
        OpenedKind::CountsAtProbe,
        OpenedKind::Sizes,
        OpenedKind::Sites,
        OpenedKind::Holders,
        OpenedKind::ClippedSizes,
    ];
    assert_eq!(compared, BTreeSet::from(expected));
}

#[test]
fn sixty_rows_of_each_of_six_can_be_divided_towards_any_four() {
    let mut random = StdRng::seed_from_u64(1);
    let person =
        |random: &mut StdRng| (random.random_range(0..20), random.random_range(0..5), random.random_range(0..3));
    let rows: Vec<_> = (0..360).map(|_| person(&mut random)).collect();
    let people = People { rows, k: 5, distinct: 2, frequency: 1, tenths: 10 };
    let folder = tempfile::tempdir().unwrap();
    people.write(folder.path());
    let (policy, table) = read(&folder.path().join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let owner: Vec<usize> = (0..360).map(|row| row % 6).collect();
    let mut classes = Vec::new();
    for towards in 0..=6 {
        let agreed = Arc::new(Agreed { towards, ..agree(&bound, true, false).unwrap() });
        let found = rehearse(Profile::Masked, &agreed, agreed.deal(&bound.judged_codes(), &owner, 6), 1).unwrap();
        classes.push(found.joined.map_or(0, |joined| joined[0].classes.len()));
    }
    assert!(classes[4] > 1 && classes[4] < classes[0], "{classes:?}");
    assert_eq!(classes[6], 0, "rules cannot hold towards all custodians together");
}

#[test]
fn everybodys_rows_arrive_and_nothing_opens_that_was_not_announced() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let people = People { distinct: 1, frequency: 1, tenths: 10, ..People::random(&mut random) };
        let folder = tempfile::tempdir().unwrap();
        people.write(folder.path());
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let custodians = random.random_range(3..6usize);
        let owner = split(&mut random, people.rows.len(), custodians);
        let carries = seed % 2 == 0;
        let agreed = Arc::new(Agreed { carries, ..agree(&bound, true, false).unwrap() });
        let mut shares = agreed.deal(&bound.judged_codes(), &owner, custodians);
        if carries {
            for (row, owner) in owner.iter().enumerate() {
                shares[*owner].carried.push(format!("note {}", row % 7).into_bytes());
            }
        }
        let profile = if seed % 4 < 2 { Profile::Masked } else { Profile::Baseline };
        let Some(found) = rehearse_release(profile, &agreed, &shares, seed).unwrap() else { continue };
        let classes = classes_by_row(&found.joined, &owner);
        let row = |row: usize| JointRow {
            class: classes[row] as u32,
            codes: vec![shares_code(&shares, &owner, row)],
            carried: if carries { format!("note {}", row % 7).into_bytes() } else { Vec::new() },
        };
        let mut expected: Vec<JointRow> = (0..people.rows.len()).map(row).collect();
        let mut rows = found.rows;
        expected.sort();
        rows.sort();
        assert_eq!(rows, expected, "seed {seed}");
        let announced: BTreeSet<OpenedKind> =
            agreed.announce(profile).into_iter().flat_map(|(_, kinds)| kinds).collect();
        let opened: BTreeSet<OpenedKind> = found.ledger.counts().into_iter().map(|(kind, _)| kind).collect();
        assert!(opened.is_subset(&announced), "seed {seed}: {opened:?} of {announced:?}");
        assert_eq!(opened.contains(&OpenedKind::Rows), carries, "seed {seed}: what can be counted does not travel");
        assert!(
            !announced.contains(&OpenedKind::Sites) && !announced.contains(&OpenedKind::Objections),
            "no rule requires these"
        );
    }
}

/// The code of a row's disease, as its owner has it.
fn shares_code(shares: &[hedgerow_joint::Share], owner: &[usize], row: usize) -> u32 {
    let place = owner[..row].iter().filter(|other| **other == owner[row]).count();
    shares[owner[row]].codes[0][place]
}

/// Answers that no rows add up to, as a custodian who lies could bring about: the run ends
/// without a panic.
#[test]
fn answers_that_make_no_sense_lead_to_some_end() {
    let mut ends = [0; 4];
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed);
        let people = People::random(&mut random);
        let folder = tempfile::tempdir().unwrap();
        people.write(folder.path());
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let (sites, towards) = (random.random_range(1..3u64), seed % 4);
        let agreed = Arc::new(Agreed { sites, towards, ..agree(&bound, seed % 3 > 0, false).unwrap() });
        let share = agreed.deal(&bound.judged_codes(), &vec![0; table.rows], 1).remove(0);
        let mut joint = Joint::new(Arc::clone(&agreed), share, Coins::danger_from_seed(seed));
        let mut answer: Vec<u64> = Vec::new();
        let mut rounds = 0;
        ends[loop {
            let ask = match joint.next(&answer) {
                Turn::Done(joined) => break usize::from(joined.is_some()),
                Turn::Impossible(_) | Turn::Exceeds { .. } => break 3,
                Turn::Ask(next, ask) => {
                    joint = next;
                    ask
                }
            };
            rounds += 1;
            if rounds > 200 {
                break 2;
            }
            let Operation::Tally { bits, compared, flags } = ask.operation else { panic!("asked otherwise") };
            answer = ask.words;
            let counts = answer.len() - flags - compared;
            for (place, word) in answer.iter_mut().enumerate() {
                let lies = random.random_bool(0.1);
                if place < counts {
                    *word = if lies { random.random_range(0..1 << bits) } else { *word };
                } else if place < counts + compared {
                    let thresholds = &ask.thresholds[place - counts];
                    let reached = thresholds.iter().filter(|threshold| *word >= **threshold).count() as u64;
                    *word = if lies { random.random_range(0..=thresholds.len() as u64) } else { reached };
                } else {
                    *word = if lies { random.random_range(0..2) } else { u64::from(*word > 0) };
                }
            }
        }] += 1;
    }
    assert!(ends[0] > 10 && ends[1] + ends[3] > 10, "no release, a release, still going, impossible: {ends:?}");
}
