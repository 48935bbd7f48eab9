//! The people and the tables, before anything was assumed: where each person can be, and what is
//! true of them.

use std::cell::RefCell;

use hashbrown::HashMap;
use hedgerow_release::classes::QuasiLabels;
use hedgerow_table::{Cover, Table, TableError};

use super::apart::buckets_alike;
use super::attacker::{Attacker, Columns};
use super::denied::denying_columns;
use super::group::Shown;
use super::hypothesis::Case;
use super::left::ValuesLeft;
use super::statements::{Contents, is_quasi};
use super::tables::{AttributeTables, KnownLabels};
use crate::overlap::meet;
use crate::people::FoundPeople;
use crate::solver::Side;

/// By table the place of some people, and the number of what is known of them.
type AlikePeople = (Vec<u32>, Option<u32>);

pub(super) struct Setting<'a> {
    pub(super) tables: &'a AttributeTables<'a>,
    pub(super) sides: Vec<Side>,
    pub(super) cases: Vec<Case>,
    pub(super) of_person: Vec<u32>,
    /// By case, the protected value that the list of people has, a label; empty where it has none.
    pub(super) values: Vec<u32>,
    /// The list has true values, and too many records can be true of people.
    pub(super) is_truth_cut: bool,
    /// Labels of columns that the list lacks overlap: who knows the columns may not know the class.
    pub(super) overlapping: bool,
    /// By table with suppressed rows, columns by which other releases may tell who is not in it,
    /// and which are not used.
    pub(super) denying: Vec<Vec<String>>,
    /// Earlier findings about classes that someone is shown together.
    meeting: Meeting,
}

/// Whether a person can be in classes of several tables, as far as columns tell it that the list of
/// people lacks.
struct Meeting {
    /// By table, the positions of these columns among its quasi-identifiers.
    columns: Vec<Vec<usize>>,
    known: RefCell<HashMap<Vec<Shown>, bool>>,
    /// The same of all classes of some places, by the record that they must have.
    of_places: RefCell<HashMap<RecordAt, bool>>,
}

/// A place of each table, and the record that its people must have.
type RecordAt = (Vec<(usize, u32)>, Option<u32>);

/// More combinations of the classes of such buckets are not compared.
const MEETING_MAX: usize = 10_000;

impl<'a> Setting<'a> {
    pub(super) fn new(
        tables: &'a AttributeTables<'a>,
        people: &Table,
        attacker: Attacker<'_>,
    ) -> Result<Setting<'a>, TableError> {
        let mut sides = Vec::new();
        let mut seen: Vec<Vec<u32>> = Vec::new();
        let mut overlapping = false;
        let mut columns = Vec::new();
        let placing = without_protected(tables, people);
        let (known_by, is_less) = (placing.as_ref().unwrap_or(people), placing.is_some());
        for (number, table) in tables.tables.iter().enumerate() {
            attacker.progress.check()?;
            let telling = table.classes.quasi.iter();
            let mut telling = telling.filter(|quasi| quasi.covers.iter().any(|cover| *cover != Cover::Everything));
            let is_unknown =
                |quasi: &QuasiLabels| people.column(&quasi.name).is_none() && quasi.name != tables.columns[0];
            let lacks = telling.any(is_unknown);
            let all = attacker.columns == Columns::All;
            let found = match all || is_less {
                true => FoundPeople::anywhere(table.name, table.classes, known_by)?,
                false => FoundPeople::new(table.name, table.classes, known_by)?,
            };
            let mut side = tables.side(number);
            side.places = found.places;
            side.shown = all && lacks;
            if side.shown {
                let unknown = |quasi: &&QuasiLabels| is_unknown(quasi);
                let (alike, is_exact) = buckets_alike(table.classes, &side.places, unknown);
                overlapping |= !is_exact;
                side.alike = alike;
            }
            let quasi = table.classes.quasi.iter().enumerate();
            columns.push(quasi.filter(|(_, quasi)| is_unknown(quasi)).map(|(at, _)| at).collect());
            sides.push(side);
            seen.push(found.of_person);
        }
        // The bucket of a row of the list in a table, where it can be in no other.
        let bucket = |table: usize, row: usize| {
            let of_class = tables.tables[table].group?.of_class;
            let side: &Side = &sides[table];
            let mut own = side.places[seen[table][row] as usize].iter().map(|&class| of_class[class as usize]);
            let first = own.next()?;
            own.all(|other| other == first).then_some(first)
        };
        let known = tables.known(people, bucket);
        let mut numbers: HashMap<AlikePeople, u32> = HashMap::new();
        let mut alike: Vec<AlikePeople> = Vec::new();
        let mut of_person = Vec::with_capacity(people.rows);
        for row in 0..people.rows {
            let places = seen.iter().map(|places| places[row]).collect();
            let own = (places, known.as_ref().map(|known| known.of_row[row]));
            let number = *numbers.entry(own).or_insert_with_key(|own| {
                alike.push(own.clone());
                alike.len() as u32 - 1
            });
            of_person.push(number);
        }
        let setting = Setting {
            tables,
            sides,
            cases: Vec::new(),
            of_person,
            values: Vec::new(),
            is_truth_cut: false,
            overlapping,
            denying: denying_columns(tables, people),
            meeting: Meeting { columns, known: RefCell::default(), of_places: RefCell::default() },
        };
        Ok(setting.with_truth(alike, known))
    }

    /// The same with cases, each of people of whom the same can be true.
    fn with_truth(mut self, alike: Vec<AlikePeople>, known: Option<KnownLabels>) -> Setting<'a> {
        let truths = known.as_ref().and_then(|known| {
            let labels: Vec<&[u32]> =
                alike.iter().map(|(_, number)| known.labels[number.unwrap_or(0) as usize].as_slice()).collect();
            let is_there = |person: usize, table: usize, contents: &Contents, statement: u32| {
                let side = &self.sides[table];
                let place = &side.places[alike[person].0[table] as usize];
                place.iter().any(|&class| contents.has(side.bucket_of[class as usize], statement))
            };
            let is_reduced: Vec<bool> = self.tables.tables.iter().map(|table| table.suppressed > 0).collect();
            self.tables.records.of_people(&mut self.tables.contents.borrow_mut(), &labels, &is_reduced, is_there)
        });
        // By places, what can be true of them, and their value.
        type Alike = (Vec<u32>, Option<Vec<u32>>, Option<u32>);
        let mut numbers: HashMap<Alike, u32> = HashMap::new();
        let mut of_alike = Vec::with_capacity(alike.len());
        for (at, (places, number)) in alike.into_iter().enumerate() {
            let truth = truths.as_ref().map(|truths| truths[at].clone());
            let value = known.as_ref().zip(number);
            let value = value.map(|(known, number)| known.labels[number as usize][0]);
            let case = *numbers.entry((places, truth, value)).or_insert_with_key(|(places, truth, value)| {
                self.cases.push(Case { places: places.clone(), truth: truth.clone(), people: 0 });
                self.values.extend(value);
                self.cases.len() as u32 - 1
            });
            of_alike.push(case);
        }
        self.is_truth_cut = known.is_some() && truths.is_none();
        for case in &mut self.of_person {
            *case = of_alike[*case as usize];
            self.cases[*case as usize].people += 1;
        }
        self
    }

    /// The same with other places, and people in them.
    pub(super) fn with_cases(&self, sides: Vec<Side>, cases: Vec<Case>, values: Vec<u32>) -> Setting<'a> {
        let columns = self.meeting.columns.clone();
        let meeting = Meeting { columns, known: RefCell::default(), of_places: RefCell::default() };
        let denying = self.denying.clone();
        Setting { tables: self.tables, sides, cases, of_person: Vec::new(), values, denying, meeting, ..*self }
    }

    /// Whether a record can be true of the people of a case; `None` where nothing is known of it.
    /// An attacker without the true values, who takes people to be where these deny it, is right
    /// about the value all the same where it is theirs: `by_value` asks for nothing else.
    pub(super) fn is_true(&self, case: usize, by_value: bool) -> Option<Box<dyn Fn(u32) -> bool + '_>> {
        if by_value {
            let &own = self.values.get(case)?;
            return Some(Box::new(move |record| self.tables.is_compatible(self.tables.value(record, |_| true), own)));
        }
        let truth = self.cases[case].truth.as_deref()?;
        Some(Box::new(move |record| truth.contains(&record)))
    }

    /// Whether a person can be in some classes of several tables at once.
    pub(super) fn can_meet(&self, shown: &[Shown]) -> bool {
        if let Some(&known) = self.meeting.known.borrow().get(shown) {
            return known;
        }
        let classes: Vec<Vec<u32>> = shown
            .iter()
            .map(|shown| {
                let side = &self.sides[shown.table];
                let own = side.places[shown.place as usize].iter().copied();
                own.filter(|&class| shown.buckets.contains(&side.bucket_of[class as usize])).collect()
            })
            .collect();
        let tables: Vec<usize> = shown.iter().map(|shown| shown.table).collect();
        let found = self.do_meet(&tables, &classes);
        self.meeting.known.borrow_mut().insert(shown.to_vec(), found);
        found
    }

    /// Whether a person of a case can be in some tables at once, in classes that have a record.
    pub(super) fn can_be_in(&self, case: &Case, tables: &[usize], record: Option<u32>) -> bool {
        let lacking = tables.iter().copied().filter(|&table| !self.meeting.columns[table].is_empty());
        let places: Vec<(usize, u32)> = lacking.map(|table| (table, case.places[table])).collect();
        if places.len() < 2 {
            return true;
        }
        let key = (places, record);
        if let Some(&known) = self.meeting.of_places.borrow().get(&key) {
            return known;
        }
        let classes: Vec<Vec<u32>> = key
            .0
            .iter()
            .map(|&(table, place)| {
                let side = &self.sides[table];
                let has = |class: u32, record: u32| side.rows_of(side.bucket_of[class as usize], record) > 0;
                let own = side.places[place as usize].iter().copied();
                own.filter(|&class| record.is_none_or(|record| has(class, record))).collect()
            })
            .collect();
        let tables: Vec<usize> = key.0.iter().map(|(table, _)| *table).collect();
        let found = self.do_meet(&tables, &classes);
        self.meeting.of_places.borrow_mut().insert(key, found);
        found
    }

    /// Whether some classes of tables, one of each, meet; or they are too many to be compared.
    fn do_meet(&self, tables: &[usize], classes: &[Vec<u32>]) -> bool {
        let is_too_much = classes.iter().fold(1usize, |all, own| all.saturating_mul(own.len())) > MEETING_MAX;
        is_too_much || self.is_meeting(tables, classes, &mut Vec::new(), &HashMap::new())
    }

    /// Whether some class of each further table meets those that were chosen of the first; `left`
    /// are the values that these leave, by column.
    fn is_meeting(
        &self,
        tables: &[usize],
        classes: &[Vec<u32>],
        chosen: &mut Vec<u32>,
        left: &HashMap<&'a str, Cover>,
    ) -> bool {
        let Some(&table) = tables.get(chosen.len()) else { return true };
        let released = &self.tables.tables[table];
        classes[chosen.len()].iter().any(|&class| {
            // Parts of one bucketized table have the same classes.
            let mut parts = tables.iter().zip(chosen.iter());
            if parts.any(|(&other, &of)| self.tables.tables[other].name == released.name && of != class) {
                return false;
            }
            let mut left = left.clone();
            for &at in &self.meeting.columns[table] {
                let quasi = &released.classes.quasi[at];
                let own = &quasi.covers[released.classes.cells(class as usize)[at] as usize];
                let both = match left.get(quasi.name.as_str()) {
                    None => Some(own.clone()),
                    Some(other) => meet(own, other),
                };
                let Some(both) = both else { return false };
                left.insert(&quasi.name, both);
            }
            chosen.push(class);
            let found = self.is_meeting(tables, classes, chosen, &left);
            chosen.pop();
            found
        })
    }

    /// Whether the people of a case have another value than the one that is left to them.
    pub(super) fn is_left_a_false_value(&self, case: usize, left: &ValuesLeft) -> bool {
        match (left.values.as_slice(), self.values.get(case)) {
            (&[(value, _)], Some(&truth)) => !self.tables.is_compatible(value, truth),
            _ => false,
        }
    }
}

/// The list of people as they are known, where some table describes people by the attribute that
/// another one protects: the attacker looks for it, and does not know it. `None` where no table
/// does, or the list lacks it.
fn without_protected(tables: &AttributeTables<'_>, people: &Table) -> Option<Table> {
    let name = &tables.columns[0];
    people.column(name).filter(|_| tables.tables.iter().any(|table| is_quasi(table, name)))?;
    let mut known = people.clone();
    known.columns.retain(|column| column.name != *name);
    Some(known)
}
