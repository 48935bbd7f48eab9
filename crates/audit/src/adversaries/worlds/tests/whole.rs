//! The widest test of lists of people: tables in which a column is a quasi-identifier here, plain
//! or
//! sensitive there and absent elsewhere, with labels that overlap or cover no person, missing
//! values,
//! suppressed rows, people more, fewer or other, buckets; and lists that lack columns or have
//! sensitive ones. Against every way to give people rows, from the definition.
//!
//! `HEDGEROW_WORLDS=20000` tries that many settings.

use std::collections::BTreeSet;

use hedgerow_release::kinds::bucketized::GROUP;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

use super::*;
use crate::adversaries::testing::cover;
use crate::testing::seeds;

const COLUMNS: [&str; 5] = ["a", "b", "c", "s", "t"];
const S: usize = 3;

/// Every value that a person can have, by column.
fn domain(column: usize) -> &'static [&'static str] {
    [&["0", "1", "2", "3", ""][..], &["0", "1", "2", ""], &["0", "1", ""], &["s0", "s1", ""], &["t0", "t1", ""]][column]
}

type Person = [&'static str; 5];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Absent,
    Quasi,
    Plain,
    Sensitive,
    /// In buckets.
    Counted,
}

/// A released table: by row, the label of each column; of buckets, the number of each row's.
#[derive(Debug)]
struct Made {
    roles: [Role; 5],
    rows: Vec<[String; 5]>,
    buckets: Vec<usize>,
    suppressed: u64,
}

fn person(rng: &mut StdRng, missing: bool) -> Person {
    let mut value = |column: usize| {
        let all = domain(column);
        *all[..all.len() - usize::from(!missing || rng.random_bool(0.7))].choose(rng).unwrap()
    };
    [0, 1, 2, 3, 4].map(&mut value)
}

fn label(rng: &mut StdRng, value: &str) -> String {
    let Ok(number) = value.parse::<i64>() else {
        return if rng.random_bool(0.4) { "*".to_owned() } else { value.to_owned() };
    };
    match rng.random_range(0..5) {
        0 => "*".to_owned(),
        1 | 2 => value.to_owned(),
        _ => format!("{}..{}", number - rng.random_range(0..2), number + rng.random_range(1..3)),
    }
}

fn made(rng: &mut StdRng, people: &[Person], missing: bool) -> Made {
    let mut people = people.to_vec();
    if rng.random_bool(0.3) {
        match rng.random_range(0..3) {
            0 => people.push(person(rng, missing)),
            1 if people.len() > 1 => drop(people.remove(rng.random_range(0..people.len()))),
            _ => {
                let at = rng.random_range(0..people.len());
                people[at] = person(rng, missing);
            }
        }
    }
    let mut suppressed = 0;
    if people.len() > 1 && rng.random_bool(0.15) {
        people.remove(rng.random_range(0..people.len()));
        suppressed = 1;
    }
    people.shuffle(rng);
    let mut role = |column: usize| match (column, rng.random_range(0..10)) {
        (0 | 1, 0..6) => Role::Quasi,
        (0 | 1, 6) => Role::Plain,
        (2, 0..3) => Role::Quasi,
        (2, 3..6) => Role::Plain,
        (S, 0..7) => Role::Sensitive,
        (S, 7) => Role::Plain,
        (S, 8) if column == S => Role::Quasi,
        (4, 0..3) => Role::Sensitive,
        (4, 3) => Role::Plain,
        _ => Role::Absent,
    };
    let mut roles = [0, 1, 2, S, 4].map(&mut role);
    if roles[..3].iter().all(|role| *role != Role::Quasi) {
        roles[rng.random_range(0..2)] = Role::Quasi;
    }
    let mut buckets = Vec::new();
    if roles[S] == Role::Sensitive && roles[4] != Role::Sensitive && rng.random_bool(0.2) {
        roles[S] = Role::Counted;
        buckets = people.iter().map(|_| rng.random_range(0..2)).collect();
    }
    let rows = people.iter().map(|person| {
        [0, 1, 2, S, 4].map(|column| match roles[column] {
            Role::Quasi => label(rng, person[column]),
            _ => person[column].to_owned(),
        })
    });
    Made { roles, rows: rows.collect(), buckets, suppressed }
}

impl Made {
    fn has(&self, column: usize, role: Role) -> bool {
        self.roles[column] == role
    }

    /// Whether a row can be of a person, as far as one column tells it.
    fn says(&self, row: usize, column: usize, value: &str) -> bool {
        let label = self.rows[row][column].as_str();
        match self.roles[column] {
            Role::Absent | Role::Counted => true,
            Role::Quasi => match label.split_once("..") {
                _ if label == "*" => true,
                Some((low, high)) => {
                    let within = |value: i64| (low.parse().unwrap()..high.parse::<i64>().unwrap()).contains(&value);
                    value.parse().is_ok_and(within)
                }
                None => label == value,
            },
            Role::Plain | Role::Sensitive => label == value,
        }
    }

    /// The rows that can be of a person of whom some values are known.
    fn fitting(&self, known: &[Option<&str>; 5]) -> Vec<usize> {
        let is_so = |row: &usize, column: usize| {
            !self.has(column, Role::Quasi) || known[column].is_none_or(|value| self.says(*row, column, value))
        };
        (0..self.rows.len()).filter(|row| (0..5).all(|column| is_so(row, column))).collect()
    }
}

/// A row of a table with the value of `s` that it is given from its bucket.
type Place = (usize, Option<&'static str>);

/// By table, the place of a person or none.
type PersonOption = Vec<Option<Place>>;

/// How a table is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Everyone who fits is in it, but for those who were suppressed.
    Everyone,
    /// The person looked for is.
    Target,
    Not,
}

struct Oracle<'a> {
    tables: &'a [Made],
    /// By person, the values that are known.
    known: Vec<[Option<&'static str>; 5]>,
    uses: Vec<Use>,
    /// By table and person, whether some row fits them.
    fits: Vec<Vec<bool>>,
}

impl Oracle<'_> {
    /// The values of s that are left to a person: `?` where no table says it. `None` where no world
    /// fits.
    fn left(&self, person: usize) -> Option<BTreeSet<&'static str>> {
        let own: Vec<PersonOption> = self.options(person, true);
        let is_everywhere = |option: &PersonOption| {
            option
                .iter()
                .enumerate()
                .all(|(table, place)| place.is_some() || self.uses[table] == Use::Not || !self.fits[table][person])
        };
        let others = (0..self.known.len()).filter(|&other| other != person);
        let others: Vec<(usize, Vec<PersonOption>)> = others.map(|other| (other, self.options(other, false))).collect();
        for anyhow in [false, true] {
            let mut left = BTreeSet::new();
            for option in own.iter().filter(|option| anyhow || is_everywhere(option)) {
                let values = self.values(person, option);
                if !values.is_subset(&left) && self.is_world(&others, &mut vec![(person, option)]) {
                    left.extend(values);
                }
            }
            if !left.is_empty() {
                return Some(left);
            }
        }
        None
    }

    /// Every place of a person in all tables, so that some value of each column is under all
    /// labels.
    fn options(&self, person: usize, is_target: bool) -> Vec<PersonOption> {
        let mut options: Vec<PersonOption> = vec![Vec::new()];
        for (table, made) in self.tables.iter().enumerate() {
            let mut places: Vec<Option<Place>> = Vec::new();
            if self.uses[table] == Use::Everyone || is_target && self.uses[table] == Use::Target {
                for row in made.fitting(&self.known[person]) {
                    match made.has(S, Role::Counted) {
                        true => places.extend(domain(S).iter().map(|value| Some((row, Some(*value))))),
                        false => places.push(Some((row, None))),
                    }
                }
            }
            let may_be_away = self.uses[table] == Use::Everyone && made.suppressed > 0;
            if places.is_empty() || may_be_away {
                places.push(None);
            }
            options = options
                .iter()
                .flat_map(|before| places.iter().map(move |&place| [&before[..], &[place]].concat()))
                .collect();
        }
        options.retain(|option| !self.values(person, option).is_empty());
        options
    }

    /// The values of s that a person in some places can have; none where the places contradict each
    /// other.
    fn values(&self, person: usize, option: &PersonOption) -> BTreeSet<&'static str> {
        let places = || option.iter().zip(self.tables).filter_map(|(place, made)| Some(((*place)?, made)));
        let can_have = |column: usize, value: &str| {
            let known = self.known[person][column];
            known.is_none_or(|known| known == value)
                && places().all(|((row, given), made)| {
                    made.says(row, column, value) && (column != S || given.is_none_or(|given| given == value))
                })
        };
        if !(0..5).all(|column| domain(column).iter().any(|value| can_have(column, value))) {
            return BTreeSet::new();
        }
        if places().all(|(_, made)| made.has(S, Role::Absent)) {
            return BTreeSet::from(["?"]);
        }
        domain(S).iter().copied().filter(|value| can_have(S, value)).collect()
    }

    /// Whether other people can be given places beside those that are taken.
    fn is_world<'o>(
        &self,
        others: &'o [(usize, Vec<PersonOption>)],
        taken: &mut Vec<(usize, &'o PersonOption)>,
    ) -> bool {
        if !self.are_apart(taken) {
            return false;
        }
        let Some((person, options)) = others.get(taken.len() - 1) else { return true };
        options.iter().any(|option| {
            taken.push((*person, option));
            let found = self.is_world(others, taken);
            taken.pop();
            found
        })
    }

    /// Whether no row is given twice, no value of a bucket more often than it counts, and no more
    /// people are absent than were suppressed.
    fn are_apart(&self, taken: &[(usize, &PersonOption)]) -> bool {
        self.tables.iter().enumerate().all(|(table, made)| {
            let mut rows: Vec<usize> = taken.iter().filter_map(|(_, option)| Some(option[table]?.0)).collect();
            let count = rows.len();
            rows.sort_unstable();
            rows.dedup();
            let given = taken.iter().filter_map(|(_, option)| option[table]);
            let given: Vec<(usize, &str)> =
                given.filter_map(|(row, value)| Some((*made.buckets.get(row)?, value?))).collect();
            let counted = |&(bucket, value): &(usize, &str)| {
                (0..made.rows.len()).filter(|&row| made.buckets[row] == bucket && made.rows[row][S] == value).count()
            };
            let is_counted = |own: &(usize, &str)| given.iter().filter(|other| *other == own).count() <= counted(own);
            let is_absent =
                |(person, option): &&(usize, &PersonOption)| option[table].is_none() && self.fits[table][*person];
            let absent = if self.uses[table] == Use::Everyone { taken.iter().filter(is_absent).count() } else { 0 };
            rows.len() == count && given.iter().all(is_counted) && absent as u64 <= self.most_absent(table)
        })
    }

    /// Where all people of the source are listed, those who fit nothing are suppressed ones.
    fn most_absent(&self, table: usize) -> u64 {
        let made = &self.tables[table];
        let matched = self.fits[table].iter().filter(|fits| **fits).count() as u64;
        let (all, source) = (self.known.len() as u64, made.rows.len() as u64 + made.suppressed);
        made.suppressed.saturating_sub(if all >= source { all - matched } else { 0 })
    }
}

/// A table as a release.
struct Opened {
    rows: Table,
    classes: ReleasedClasses,
    bucket_of_row: Vec<u32>,
    numbers: Vec<i64>,
}

fn opened(made: &Made) -> Opened {
    let shown: Vec<usize> =
        (0..5).filter(|&column| ![Role::Absent, Role::Counted].contains(&made.roles[column])).collect();
    let of = |role: Role| -> Vec<String> {
        (0..5).filter(|&column| made.roles[column] == role).map(|column| COLUMNS[column].to_owned()).collect()
    };
    let is_counted = made.has(S, Role::Counted);
    let names: Vec<&str> = shown.iter().map(|&column| COLUMNS[column]).chain(is_counted.then_some(GROUP)).collect();
    let groups: Vec<String> = made.buckets.iter().map(usize::to_string).collect();
    let rows: Vec<Vec<&str>> = made
        .rows
        .iter()
        .enumerate()
        .map(|(row, cells)| {
            let group = groups.get(row).map(String::as_str);
            shown.iter().map(|&column| cells[column].as_str()).chain(group).collect()
        })
        .collect();
    let rows = Table::from_texts(&names, &rows);
    if !is_counted {
        let classes =
            ReleasedClasses::of_generalized("t", &rows, &of(Role::Quasi), &of(Role::Sensitive), cover, "t").unwrap();
        return Opened { rows, classes, bucket_of_row: Vec::new(), numbers: Vec::new() };
    }
    let mut used = made.buckets.clone();
    used.sort_unstable();
    used.dedup();
    let place = |bucket: usize| used.iter().position(|own| *own == bucket).unwrap() as u32;
    let mut cells: Vec<(u32, u32, u32)> = Vec::new();
    for (&bucket, row) in made.buckets.iter().zip(&made.rows) {
        let value = domain(S).iter().position(|value| *value == row[S]).unwrap() as u32;
        match cells.iter_mut().find(|(own, other, _)| (*own, *other) == (place(bucket), value)) {
            Some((.., count)) => *count += 1,
            None => cells.push((place(bucket), value, 1)),
        }
    }
    let values = domain(S).iter().map(|value| (*value).to_owned()).collect();
    let counts = SensitiveCounts::new("s".to_owned(), values, used.len(), cells);
    let classes = ReleasedClasses::of_bucketized("t", &rows, &of(Role::Quasi), vec![counts], cover, "t").unwrap();
    let bucket_of_row = made.buckets.iter().map(|&bucket| place(bucket)).collect();
    Opened { rows, classes, bucket_of_row, numbers: used.iter().map(|&bucket| bucket as i64).collect() }
}

/// The outcomes, so that a test that stopped trying something is noticed.
#[derive(Debug, Default)]
struct Seen {
    exact: u32,
    exposed: u32,
    exact_and_exposed: u32,
    lacked: u32,
    suppressed: u32,
    counted: u32,
    contradicting: u32,
}

struct Setting {
    seed: u64,
    people: Vec<Person>,
    tables: Vec<Made>,
    listed: Vec<usize>,
    columns: Columns,
}

impl Setting {
    fn new(seed: u64) -> Setting {
        let mut rng = StdRng::seed_from_u64(seed);
        let missing = rng.random_bool(0.4);
        let people: Vec<Person> = (0..rng.random_range(1..4)).map(|_| person(&mut rng, missing)).collect();
        let tables = (0..rng.random_range(1..4)).map(|_| made(&mut rng, &people, missing)).collect();
        let mut listed: Vec<usize> = (0..5).filter(|_| rng.random_bool(0.65)).collect();
        if listed.is_empty() {
            listed.push(0);
        }
        let columns = if rng.random_bool(0.5) { Columns::All } else { Columns::Listed };
        Setting { seed, people, tables, listed, columns }
    }

    fn is_quasi(&self, column: usize) -> bool {
        self.tables.iter().any(|made| made.has(column, Role::Quasi))
    }

    /// Columns by which some table describes people, and which the list lacks.
    fn lacked(&self) -> Vec<usize> {
        (0..5).filter(|column| *column != S && self.is_quasi(*column) && !self.listed.contains(column)).collect()
    }

    /// The known values of everyone, and of one person more; or the true ones of these columns of
    /// all.
    fn known(&self, more: &[usize], of: Option<(usize, &[&'static str])>) -> Vec<[Option<&'static str>; 5]> {
        let is_known = |column: usize| column != S && self.is_quasi(column) && self.listed.contains(&column);
        let mut known: Vec<[Option<&'static str>; 5]> = self
            .people
            .iter()
            .map(|person| [0, 1, 2, 3, 4].map(|column| is_known(column).then_some(person[column])))
            .collect();
        match of {
            None => known.iter_mut().zip(&self.people).for_each(|(known, person)| {
                more.iter().for_each(|&column| known[column] = Some(person[column]));
            }),
            Some((person, values)) => {
                more.iter().zip(values).for_each(|(&column, value)| known[person][column] = Some(*value));
            }
        }
        known
    }

    fn oracle(&self, known: Vec<[Option<&'static str>; 5]>, uses: Vec<Use>) -> Oracle<'_> {
        let fits = |made: &Made| known.iter().map(|person| !made.fitting(person).is_empty()).collect();
        let fits = self.tables.iter().map(fits).collect();
        Oracle { tables: &self.tables, known, uses, fits }
    }

    /// Whether one value is left to a person, and theirs where the list has it.
    fn is_exposed(&self, person: usize, left: Option<&BTreeSet<&'static str>>) -> bool {
        let is_true = |value: &&str| *value != "?" && (!self.listed.contains(&S) || *value == self.people[person][S]);
        left.is_some_and(|left| left.len() == 1 && left.iter().all(is_true))
    }

    fn attack(&self, tables: &[usize]) -> Option<(bool, Vec<u32>, Vec<Finding>)> {
        let opened: Vec<Opened> = tables.iter().map(|&table| opened(&self.tables[table])).collect();
        let released: Vec<Released<'_>> = opened
            .iter()
            .zip(tables)
            .map(|(opened, &table)| {
                let Opened { rows, classes, bucket_of_row, numbers } = opened;
                let own =
                    Released { suppressed: self.tables[table].suppressed, ..released(["0", "1", "2"][table], classes) };
                match numbers.is_empty() {
                    true => Released { rows: Some(rows), ..own },
                    false => Released { by_bucket: Some(BucketRows { rows, bucket_of_row, numbers }), ..own },
                }
            })
            .collect();
        let names: Vec<&str> = self.listed.iter().map(|&column| COLUMNS[column]).collect();
        let people: Vec<Vec<&str>> =
            self.people.iter().map(|person| self.listed.iter().map(|&column| person[column]).collect()).collect();
        let people = Table::from_texts(&names, &people);
        let attacker =
            Attacker { people: Some(&people), columns: self.columns, prior: &[], joint: &[], progress: &NoProgress };
        let findings = run("s", &released, attacker).ok()?;
        let mut at_risk: Vec<u32> = findings.iter().flat_map(|finding| finding.people_at_risk.clone()).collect();
        at_risk.sort_unstable();
        at_risk.dedup();
        Some((findings.first()?.details["exact"] == true, at_risk, findings))
    }

    /// Whether some use of the tables, and some value of what the list lacks, leaves one value to a
    /// person.
    fn can_follow(&self, person: usize) -> bool {
        let more = if self.columns == Columns::All { self.lacked() } else { Vec::new() };
        let mut values: Vec<Vec<&'static str>> = vec![Vec::new()];
        for &column in &more {
            values = values
                .iter()
                .flat_map(|own| domain(column).iter().map(move |value| [&own[..], &[*value]].concat()))
                .collect();
        }
        let mut uses: Vec<Vec<Use>> = vec![Vec::new()];
        for _ in &self.tables {
            let all = [Use::Everyone, Use::Target, Use::Not];
            uses = uses.iter().flat_map(|own| all.map(|next| [&own[..], &[next]].concat())).collect();
        }
        uses.iter().any(|uses| {
            values.iter().any(|values| {
                let known = self.known(&more, Some((person, values)));
                self.is_exposed(person, self.oracle(known, uses.clone()).left(person).as_ref())
            })
        })
    }

    fn examine(&self, seen: &mut Seen) {
        let all: Vec<usize> = (0..self.tables.len()).collect();
        let Some((is_exact, at_risk, findings)) = self.attack(&all) else { return };
        let say = || {
            format!(
                "seed {}: {:?} {:?} {:?} {:?}\n{findings:#?}",
                self.seed, self.people, self.tables, self.listed, self.columns
            )
        };
        let people = 0..self.people.len();
        let lacked = if self.columns == Columns::All { self.lacked() } else { Vec::new() };
        let oracle = self.oracle(self.known(&lacked, None), vec![Use::Everyone; all.len()]);
        let left: Vec<Option<BTreeSet<&str>>> = people.clone().map(|person| oracle.left(person)).collect();
        let exposed: Vec<u32> = people
            .filter(|&person| self.is_exposed(person, left[person].as_ref()))
            .map(|person| person as u32)
            .collect();
        let is_found = exposed.iter().all(|person| at_risk.contains(person));
        assert!(is_found || !is_exact, "{exposed:?} are exposed, {at_risk:?} found: {}", say());
        // Of buckets that not all people can be in, rows and counts are not used together.
        let is_sound = is_exact || !self.tables.iter().any(|made| made.has(S, Role::Counted));
        for &person in at_risk.iter().filter(|person| is_sound && !exposed.contains(person)) {
            assert!(self.can_follow(person as usize), "nothing leaves one value to {person}: {}", say());
        }
        // A release more hides no person whom the others expose.
        for without in all.iter().filter(|_| is_exact && all.len() > 1) {
            let others: Vec<usize> = all.iter().copied().filter(|table| table != without).collect();
            let Some((_, fewer, _)) = self.attack(&others) else { continue };
            let is_found = fewer.iter().all(|person| at_risk.contains(person));
            assert!(is_found, "without {without} {fewer:?} are at risk, else {at_risk:?}: {}", say());
        }
        let is_whole = left.iter().all(Option::is_some);
        let sizes = left.iter().flatten().filter(|left| !left.contains("?")).map(|left| left.len() as u64);
        if is_exact && is_whole && lacked.is_empty() && !self.listed.contains(&S) {
            assert_eq!(at_risk, exposed, "{}", say());
            let is_said = left.iter().flatten().all(|left| !left.contains("?"));
            assert!(!is_said || findings[0].effective_l == sizes.min(), "{left:?}: {}", say());
        }
        seen.exact += u32::from(is_exact);
        seen.exposed += u32::from(!exposed.is_empty());
        seen.exact_and_exposed += u32::from(is_exact && !exposed.is_empty());
        seen.lacked += u32::from(!self.lacked().is_empty());
        seen.suppressed += u32::from(self.tables.iter().any(|made| made.suppressed > 0));
        seen.counted += u32::from(self.tables.iter().any(|made| made.has(S, Role::Counted)));
        seen.contradicting += u32::from(!is_whole);
    }
}

#[test]
fn every_table_that_fits_agrees_where_columns_have_several_roles() {
    let wanted = std::env::var("HEDGEROW_WORLDS").ok().and_then(|count| count.parse().ok());
    let mut seen = Seen::default();
    let seeds = seeds(wanted.unwrap_or(1000));
    let all = seeds.end - seeds.start;
    seeds.for_each(|seed| Setting::new(seed).examine(&mut seen));
    println!("{all} settings, {seen:?}");
    let counts = [seen.exact, seen.exposed, seen.exact_and_exposed, seen.lacked, seen.suppressed, seen.counted];
    assert!(all < 1000 || counts.iter().all(|&count| count > 30), "{seen:?}");
}
