//! Every table that fits some releases, listed person by person from the definition, on what a
//! second reader sees of their files. It shares nothing with the adversary that it judges.

mod gone;

use std::collections::{BTreeMap, BTreeSet};

use crate::as_read::Read;

/// The values of `a`, `b`, `c` and `s`.
pub(crate) type Person = [String; 4];

const VALUES_OF_B: [&str; 3] = ["x0", "x1", ""];
const ALL_OF_B: u64 = (1 << VALUES_OF_B.len()) - 1;

/// One released table and the people who are looked for.
#[derive(Clone)]
struct Table {
    /// Rows and bucket of each class.
    classes: Vec<(u64, usize)>,
    /// By bucket, rows of each value.
    counts: Vec<Vec<u64>>,
    /// By person, the classes that fit.
    fits: Vec<Vec<usize>>,
    /// By value of `b`, the classes that cover it.
    covering: Vec<Vec<usize>>,
    rows: u64,
    suppressed: u64,
    /// The attacker knows the class of the person looked for, and the list of people does not.
    shown: bool,
}

/// The assumption about a table that has all people who fit it.
#[derive(Clone, Copy)]
struct Strong {
    absent: u64,
}

#[derive(Clone)]
pub(crate) struct Worlds<'a> {
    people: &'a [Person],
    values: Vec<String>,
    tables: Vec<Table>,
    strong: Vec<Option<Strong>>,
    /// By two tables, the classes that a person can be in at once, by what is not known of them.
    meeting: Vec<Vec<BTreeSet<(usize, usize)>>>,
    /// Of a way to be in the classes that the list lacks columns of, the tables.
    lacking: Vec<usize>,
}

/// The question about one person in one table.
#[derive(Clone, Copy)]
struct Query {
    person: usize,
    /// As bits: those that who knows all columns cannot tell apart.
    buckets: Option<u64>,
    /// The person may be among the suppressed ones.
    anyhow: bool,
}

/// A query about a person for each of some tables, and the values of `b` that lead to it, as bits.
#[derive(Clone)]
struct Question {
    of_b: u64,
    queries: Vec<Query>,
}

/// Values that are left to a person who has one of some values of `b`, as bits.
#[derive(Clone)]
struct Known {
    of_b: u64,
    values: BTreeSet<usize>,
}

impl Known {
    /// All of the values, and one that no table has.
    fn nothing(values: usize) -> Known {
        Known { of_b: ALL_OF_B, values: (0..=values).collect() }
    }
}

impl<'a> Worlds<'a> {
    /// `known` are the columns by which the people are known.
    pub(crate) fn new(people: &'a [Person], known: &[&str], releases: &[(Read, u64)]) -> Worlds<'a> {
        let counted: Vec<_> = releases.iter().map(|(read, _)| read.counts()).collect();
        let values: BTreeSet<String> =
            counted.iter().flat_map(|(_, counts)| counts).flat_map(|counts| counts.keys().cloned()).collect();
        let values: Vec<String> = values.into_iter().collect();
        let tables: Vec<Table> = releases
            .iter()
            .zip(counted)
            .map(|((read, suppressed), (classes, counts))| Table {
                rows: classes.iter().map(|(rows, _)| rows).sum(),
                counts: counts
                    .iter()
                    .map(|counts| values.iter().map(|value| counts.get(value).copied().unwrap_or(0)).collect())
                    .collect(),
                classes,
                fits: people.iter().map(|person| read.classes_by(person, known)).collect(),
                covering: by_b(read),
                suppressed: *suppressed,
                shown: read.tells_beyond(known),
            })
            .collect();
        let meeting = releases.iter().map(|(one, _)| {
            releases
                .iter()
                .map(|(two, _)| if known.contains(&"b") { BTreeSet::new() } else { meeting(one, two) })
                .collect()
        });
        let mut worlds =
            Worlds { people, values, tables, strong: Vec::new(), meeting: meeting.collect(), lacking: Vec::new() };
        worlds.strong = (0..worlds.tables.len()).map(|table| worlds.standing(table, true)).collect();
        worlds
    }

    /// The same to an attacker who does not know the true values.
    pub(crate) fn believed(&self) -> Worlds<'a> {
        let strong = (0..self.tables.len()).map(|table| self.standing(table, false)).collect();
        Worlds { strong, ..self.clone() }
    }

    /// The same where who fits no row of a table is among its suppressed rows, as far as that can
    /// be; `None` where no world fits then.
    pub(crate) fn with_suppressed(&self, by_truth: bool) -> Option<Worlds<'a>> {
        let of_table = |table: usize| {
            let own = self.strong[table]?;
            let matched = self.tables[table].fits.iter().filter(|fits| !fits.is_empty()).count();
            let others = (self.people.len() - matched) as u64;
            let absent = self.tables[table].suppressed.saturating_sub(others).min(own.absent);
            self.is_standing(table, Strong { absent }, by_truth).or(Some(own))
        };
        let strong: Vec<Option<Strong>> = (0..self.tables.len()).map(of_table).collect();
        let with = Worlds { strong, ..self.clone() };
        let tables: Vec<usize> = (0..with.tables.len()).filter(|&table| with.strong[table].is_some()).collect();
        (with.divided(&tables) == [tables]).then_some(with)
    }

    /// Where the list of people lacks a column: each way in which they can be in the classes of the
    /// tables that it tells apart, or in none. `None` where there are too many ways.
    pub(crate) fn every_known(&self) -> Option<Vec<Worlds<'a>>> {
        let lacking: Vec<usize> = (0..self.tables.len()).filter(|&table| self.tables[table].shown).collect();
        if lacking.is_empty() {
            return Some(vec![self.clone()]);
        }
        // Where labels overlap, to know the column is not to know the class.
        let is_known =
            |table: usize, person: usize| self.shown_to(table, person).iter().all(|set| set.count_ones() == 1);
        if !lacking.iter().all(|&table| (0..self.people.len()).all(|person| is_known(table, person))) {
            return None;
        }
        let mut all: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for person in 0..self.people.len() {
            // By lacking table the class, or none.
            let mut own: Vec<Vec<Option<usize>>> = vec![Vec::new()];
            for &table in &lacking {
                let classes = || self.tables[table].fits[person].iter().map(|&class| Some(class)).chain([None]);
                own = own.iter().flat_map(|own| classes().map(move |class| [&own[..], &[class]].concat())).collect();
            }
            own.retain(|own| {
                let pairs = (0..own.len()).flat_map(|one| (0..one).map(move |two| (one, two)));
                pairs.into_iter().all(|(one, two)| match (own[one], own[two]) {
                    (Some(a), Some(b)) => self.meeting[lacking[one]][lacking[two]].contains(&(a, b)),
                    _ => true,
                })
            });
            let fits =
                |own: &Vec<Option<usize>>| own.iter().map(|class| class.map_or(usize::MAX, |class| class)).collect();
            let own: Vec<Vec<usize>> = own.iter().map(fits).collect();
            all = all
                .iter()
                .flat_map(|all| own.iter().map(move |own| [&all[..], std::slice::from_ref(own)].concat()))
                .collect();
            if all.len() > 400 {
                return None;
            }
        }
        let known = |way: &Vec<Vec<usize>>| {
            let mut worlds = self.clone();
            worlds.lacking.clone_from(&lacking);
            for (at, &table) in lacking.iter().enumerate() {
                for (fits, classes) in worlds.tables[table].fits.iter_mut().zip(way) {
                    *fits = vec![classes[at]];
                    fits.retain(|&class| class != usize::MAX);
                }
                worlds.tables[table].shown = false;
                worlds.strong[table] = worlds.standing(table, true);
            }
            worlds
        };
        Some(all.iter().map(known).collect())
    }

    /// Whether true values allow people to be where they are taken to be.
    pub(crate) fn is_possible(&self) -> bool {
        let has_people = |table: usize| self.tables[table].fits.iter().any(|fits| !fits.is_empty());
        let is_lacking = |table: usize| self.lacking.contains(&table);
        (0..self.tables.len()).all(|table| !is_lacking(table) || !has_people(table) || self.strong[table].is_some())
    }

    /// A table is strong where all people who fit it can be in it, with their true values, but for
    /// those who were suppressed; where these are not known, with any values.
    fn standing(&self, number: usize, by_truth: bool) -> Option<Strong> {
        let table = &self.tables[number];
        let (all, source) = (self.people.len() as u64, table.rows + table.suppressed);
        let matched = table.fits.iter().filter(|fits| !fits.is_empty()).count() as u64;
        // Where all people of the source are listed, those who fit nothing are suppressed ones.
        let known = if all >= source { all - matched } else { 0 };
        let absent = table.suppressed.saturating_sub(known).min(matched);
        if matched - absent > table.rows || (all > source && matched > table.rows) {
            return None;
        }
        self.is_standing(number, Strong { absent }, by_truth)
    }

    fn is_standing(&self, number: usize, strong: Strong, by_truth: bool) -> Option<Strong> {
        let truth: Vec<usize> = self.people.iter().map(|person| self.code(&person[3])).collect();
        let is_possible = match by_truth {
            true => self.fit(number, strong, &truth, None),
            false => self.every_value(&[number]).any(|values| self.fit(number, strong, &values, None)),
        };
        is_possible.then_some(strong)
    }

    /// Every way in which the people can have values. Who is in none of some tables may have any,
    /// one that no table has among them.
    fn every_value(&self, tables: &[usize]) -> impl Iterator<Item = Vec<usize>> {
        let is_away = |person: usize| tables.iter().all(|&table| self.tables[table].fits[person].is_empty());
        let most: Vec<usize> =
            (0..self.people.len()).map(|person| self.values.len() + usize::from(is_away(person))).collect();
        let mut next = Some(vec![0; self.people.len()]);
        std::iter::from_fn(move || {
            let values = next.take()?;
            if let Some(person) = (0..values.len()).find(|&person| values[person] + 1 < most[person]) {
                let mut after = values.clone();
                after[person] += 1;
                after[..person].fill(0);
                next = Some(after);
            }
            Some(values)
        })
    }

    fn code(&self, value: &String) -> usize {
        self.values.iter().position(|known| known == value).unwrap_or(self.values.len())
    }

    /// Whether people with these values can be the rows of a table.
    fn fit(&self, number: usize, strong: Strong, values: &[usize], query: Option<Query>) -> bool {
        let table = &self.tables[number];
        let mut classes: Vec<u64> = table.classes.iter().map(|(rows, _)| *rows).collect();
        let mut counts = table.counts.clone();
        place(table, values, query, 0, strong.absent, &mut classes, &mut counts)
    }

    /// By person, the sets of values that are left: one for each class that the attacker can know.
    pub(crate) fn left(&self) -> Vec<Vec<BTreeSet<usize>>> {
        let strong: Vec<usize> = (0..self.tables.len()).filter(|&table| self.strong[table].is_some()).collect();
        let groups = self.divided(&strong);
        let mut left: Vec<Vec<Known>> = vec![vec![Known::nothing(self.values.len())]; self.people.len()];
        let mut seen = vec![false; self.people.len()];
        let mut used: Vec<usize> = Vec::new();
        for group in &groups {
            let Some(own) = self.group(group) else { continue };
            used.extend(group);
            for (person, own) in own.into_iter().enumerate() {
                seen[person] = true;
                left[person] = crossed(&left[person], &own);
            }
        }
        for table in (0..self.tables.len()).filter(|table| !used.contains(table)) {
            for person in 0..self.people.len() {
                if let Some(own) = self.weak(table, person) {
                    seen[person] = true;
                    left[person] = crossed(&left[person], &own);
                }
            }
        }
        let is_nowhere = |person: usize| self.tables.iter().all(|table| table.fits[person].is_empty());
        let sets = |(person, left): (usize, Vec<Known>)| match seen[person] && !is_nowhere(person) {
            true => left.into_iter().map(|known| known.values).collect(),
            false => Vec::new(),
        };
        left.into_iter().enumerate().map(sets).collect()
    }

    /// Tables that some world fits, together as far as they can be, the newest first.
    fn divided(&self, strong: &[usize]) -> Vec<Vec<usize>> {
        let own = |table: usize| self.strong[table].unwrap_or(Strong { absent: 0 });
        let fits = |tables: &[usize]| {
            let fit = |values: &Vec<usize>| tables.iter().all(|&table| self.fit(table, own(table), values, None));
            self.every_value(tables).any(|values| fit(&values))
        };
        if fits(strong) {
            return vec![strong.to_vec()];
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut left: Vec<usize> = strong.iter().rev().copied().filter(|&table| fits(&[table])).collect();
        while let Some(&first) = left.first() {
            let mut group = vec![first];
            for &table in &left[1..] {
                let with = [&group[..], &[table]].concat();
                group = if fits(&with) { with } else { group };
            }
            left.retain(|table| !group.contains(table));
            group.sort_unstable();
            groups.push(group);
        }
        groups
    }

    /// People of whom some knowledge of classes leaves one value.
    pub(crate) fn certain(&self) -> Vec<u32> {
        let left = self.left();
        let one = |sets: &Vec<BTreeSet<usize>>| sets.iter().any(|set| set.len() == 1);
        (0..).zip(&left).filter(|(_, sets)| one(sets)).map(|(person, _)| person).collect()
    }

    /// The same where releases contradict each other: to who takes the people to be in those of one
    /// group that some world fits, and of whom the others need not speak.
    pub(crate) fn certain_by_some(&self) -> Vec<u32> {
        let strong: Vec<usize> = (0..self.tables.len()).filter(|&table| self.strong[table].is_some()).collect();
        let groups = self.divided(&strong);
        if groups.len() < 2 {
            return Vec::new();
        }
        let one = |known: &Vec<Known>| known.iter().any(|known| known.values.len() == 1);
        let of_group = |left: Vec<Vec<Known>>| (0..).zip(left).filter(|(_, own)| one(own)).map(|(person, _)| person);
        groups.iter().filter_map(|group| self.group(group)).flat_map(of_group).collect()
    }

    /// The same to who knows which of the people stayed from earlier releases of one custodian,
    /// some of `own`, in which not all can be: each set of people who can have stayed. `None` where
    /// there are too many sets.
    pub(crate) fn every_stayed(&self, own: &[usize]) -> Option<Vec<Worlds<'a>>> {
        let own: Vec<usize> = own.iter().copied().filter(|&table| self.strong[table].is_none()).collect();
        if own.len() * self.people.len() > 8 {
            return None;
        }
        let truth: Vec<usize> = self.people.iter().map(|person| self.code(&person[3])).collect();
        let mut all = vec![self.clone()];
        for table in own {
            let mut with = Vec::new();
            for (worlds, set) in all.iter().flat_map(|worlds| (0..1u32 << self.people.len()).map(move |s| (worlds, s)))
            {
                let mut stayed = worlds.clone();
                for (person, fits) in stayed.tables[table].fits.iter_mut().enumerate() {
                    fits.retain(|_| set >> person & 1 == 1);
                }
                let strong = Strong { absent: 0 };
                let all_fit = |person: usize| set >> person & 1 == 0 || !stayed.tables[table].fits[person].is_empty();
                if (0..self.people.len()).all(all_fit) && stayed.fit(table, strong, &truth, None) {
                    stayed.strong[table] = Some(strong);
                    with.push(stayed);
                }
            }
            all = with;
        }
        Some(all)
    }

    /// The fewest values left for anyone.
    pub(crate) fn least(&self) -> Option<u64> {
        self.left().iter().flatten().map(|set| set.len() as u64).filter(|&count| count > 0).min()
    }

    /// The worlds of some tables; `None` when there is none.
    fn group(&self, tables: &[usize]) -> Option<Vec<Vec<Known>>> {
        // By person, each combination of buckets that can be shown, with the values found so far;
        // first of those who are in every table, then of those who may have been suppressed.
        let all = 0..self.people.len();
        let requested = |person: usize| [self.questions(tables, person, false), self.questions(tables, person, true)];
        let numbers: Vec<usize> = all.clone().map(|person| requested(person)[0].len()).collect();
        let questions: Vec<Vec<Question>> = all.map(|person| requested(person).concat()).collect();
        let unknown = |question: &Question| Known { of_b: question.of_b, values: BTreeSet::new() };
        let mut left: Vec<Vec<Known>> =
            questions.iter().map(|questions| questions.iter().map(unknown).collect()).collect();
        let mut any = false;
        let own = |table: usize| self.strong[table].unwrap_or(Strong { absent: 0 });
        for values in self.every_value(tables) {
            if !tables.iter().all(|&table| self.fit(table, own(table), &values, None)) {
                continue;
            }
            any = true;
            for (person, questions) in questions.iter().enumerate() {
                for (question, left) in questions.iter().zip(&mut left[person]) {
                    let new = !left.values.contains(&values[person]);
                    let mut each = tables.iter().zip(&question.queries);
                    if new && each.all(|(&table, &query)| self.fit(table, own(table), &values, Some(query))) {
                        left.values.insert(values[person]);
                    }
                }
            }
        }
        // What leaves out the true value is not so.
        let truth: Vec<usize> = self.people.iter().map(|person| self.code(&person[3])).collect();
        // Who cannot be in every table was suppressed in one.
        let left = left.into_iter().zip(numbers).zip(truth).map(|((mut in_all, number), truth)| {
            let mut anyhow = in_all.split_off(number);
            [&mut in_all, &mut anyhow].into_iter().for_each(|sets| sets.retain(|known| known.values.contains(&truth)));
            if in_all.is_empty() { anyhow } else { in_all }
        });
        any.then(|| left.collect())
    }

    /// One for each value of `b`: who knows it knows which buckets it leaves in every table.
    fn questions(&self, tables: &[usize], person: usize, anyhow: bool) -> Vec<Question> {
        let is_shown = |table: usize| {
            let own = &self.tables[table];
            let away = anyhow && self.strong[table].is_some_and(|strong| strong.absent > 0);
            own.shown && !own.fits[person].is_empty() && !away
        };
        let of_value = |value: usize| -> Option<Vec<Option<u64>>> {
            let of = |&table: &usize| match is_shown(table) {
                true => Some(self.of_value(table, person, value)).filter(|set| *set != 0).map(Some),
                false => Some(None),
            };
            tables.iter().map(of).collect()
        };
        let mut questions: BTreeMap<Vec<Option<u64>>, u64> = BTreeMap::new();
        for value in 0..VALUES_OF_B.len() {
            if let Some(own) = of_value(value) {
                *questions.entry(own).or_default() |= 1 << value;
            }
        }
        let query = |buckets: Option<u64>| Query { person, buckets, anyhow };
        let question =
            |(own, of_b): (Vec<Option<u64>>, u64)| Question { of_b, queries: own.into_iter().map(query).collect() };
        questions.into_iter().map(question).collect()
    }

    /// The buckets that a person with a value of `b` can be in, as bits.
    fn of_value(&self, table: usize, person: usize, value: usize) -> u64 {
        let own = &self.tables[table];
        let classes = own.fits[person].iter().filter(|class| own.covering[value].contains(class));
        classes.fold(0, |set, &class| set | 1 << own.classes[class].1)
    }

    /// The buckets that a person can be in, for each value of `b` that who knows it can know.
    fn shown_to(&self, table: usize, person: usize) -> Vec<u64> {
        let all = 0..VALUES_OF_B.len();
        let mut sets: Vec<u64> = all.map(|value| self.of_value(table, person, value)).filter(|set| *set != 0).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The statements of a table about one person and about no other; `None` where they are not in
    /// it.
    fn weak(&self, table: usize, person: usize) -> Option<Vec<Known>> {
        let own = &self.tables[table];
        let buckets: BTreeSet<usize> = own.fits[person].iter().map(|&class| own.classes[class].1).collect();
        let truth = self.code(&self.people[person][3]);
        let here = |bucket: &&usize| own.counts[**bucket].get(truth).is_some_and(|&rows| rows > 0);
        let true_ones: Vec<usize> = buckets.iter().filter(here).copied().collect();
        if true_ones.is_empty() {
            return None;
        }
        let of = |bucket: usize| (0..self.values.len()).filter(move |&value| own.counts[bucket][value] > 0);
        let left = |set: u64| -> BTreeSet<usize> {
            buckets.iter().filter(|bucket| set >> **bucket & 1 == 1).flat_map(|&bucket| of(bucket)).collect()
        };
        if !own.shown {
            return Some(vec![Known { of_b: ALL_OF_B, values: left(u64::MAX) }]);
        }
        let is_so = |set: &u64| true_ones.iter().any(|bucket| set >> bucket & 1 == 1);
        let sets = self.shown_to(table, person).into_iter().filter(is_so);
        let with = |set: u64| (0..VALUES_OF_B.len()).filter(move |&value| self.of_value(table, person, value) == set);
        let known = |set: u64| Known { of_b: with(set).fold(0, |all, value| all | 1 << value), values: left(set) };
        Some(sets.map(known).collect())
    }
}

/// By value of `b`, the classes that cover it.
fn by_b(read: &Read) -> Vec<Vec<usize>> {
    VALUES_OF_B.map(|b| read.classes_by(&["", b, "", ""].map(str::to_owned), &["b"])).to_vec()
}

/// The classes of two tables that have a value of `b` in common.
fn meeting(one: &Read, two: &Read) -> BTreeSet<(usize, usize)> {
    let values = by_b(one).into_iter().zip(by_b(two));
    values
        .flat_map(|(ones, twos)| {
            ones.into_iter().flat_map(move |one| twos.clone().into_iter().map(move |two| (one, two)))
        })
        .collect()
}

/// Every two that some value of `b` leads to.
fn crossed(before: &[Known], own: &[Known]) -> Vec<Known> {
    let met = |one: &Known, two: &Known| {
        let both = Known { of_b: one.of_b & two.of_b, values: one.values.intersection(&two.values).copied().collect() };
        (both.of_b != 0 && !both.values.is_empty()).then_some(both)
    };
    before.iter().flat_map(|one| own.iter().filter_map(move |two| met(one, two))).collect()
}

/// Places people one after the other, each in a class that fits or, as often as `absent` says,
/// nowhere.
fn place(
    table: &Table,
    values: &[usize],
    query: Option<Query>,
    person: usize,
    absent: u64,
    classes: &mut [u64],
    counts: &mut [Vec<u64>],
) -> bool {
    if person == values.len() {
        return true;
    }
    if table.fits[person].is_empty() {
        return place(table, values, query, person + 1, absent, classes, counts);
    }
    let wanted_here = query.filter(|query| query.person == person);
    for &class in &table.fits[person] {
        let bucket = table.classes[class].1;
        let wanted = wanted_here.and_then(|query| query.buckets).is_none_or(|wanted| wanted >> bucket & 1 == 1);
        let has = counts[bucket].get(values[person]).is_some_and(|&rows| rows > 0);
        if !wanted || !has || classes[class] == 0 {
            continue;
        }
        classes[class] -= 1;
        counts[bucket][values[person]] -= 1;
        let found = place(table, values, query, person + 1, absent, classes, counts);
        classes[class] += 1;
        counts[bucket][values[person]] += 1;
        if found {
            return true;
        }
    }
    // The person looked for is in every table, if that can be.
    let may_be_away = wanted_here.is_none_or(|query| query.anyhow);
    absent > 0 && may_be_away && place(table, values, query, person + 1, absent - 1, classes, counts)
}
