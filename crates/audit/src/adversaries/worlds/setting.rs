//! The people and the tables, before anything was assumed: where each person can be, and what is
//! true of them.

use hashbrown::HashMap;
use hedgerow_release::classes::QuasiLabels;
use hedgerow_table::{Cover, Table, TableError};

use super::apart::buckets_alike;
use super::attacker::{Attacker, Columns};
use super::hypothesis::Case;
use super::left::ValuesLeft;
use super::statements::Contents;
use super::tables::{AttributeTables, KnownLabels};
use crate::people::FoundPeople;
use crate::solver::Side;

/// By table the place of some people, and the number of what is known of them.
type AlikePeople = (Vec<u32>, Option<u32>);

pub(super) struct Setting<'a> {
    pub(super) tables: &'a AttributeTables<'a>,
    pub(super) sides: Vec<Side>,
    pub(super) cases: Vec<Case>,
    pub(super) of_person: Vec<u32>,
    /// By case, the protected value that the list of people has, a label, where other things that
    /// can be true of them are not known; else empty.
    pub(super) values: Vec<u32>,
    /// Labels of columns that the list lacks overlap: who knows the columns may not know the class.
    pub(super) overlapping: bool,
}

impl<'a> Setting<'a> {
    pub(super) fn new(
        tables: &'a AttributeTables<'a>,
        people: &Table,
        attacker: Attacker<'_>,
    ) -> Result<Setting<'a>, TableError> {
        let mut sides = Vec::new();
        let mut seen: Vec<Vec<u32>> = Vec::new();
        let mut overlapping = false;
        for (number, table) in tables.tables.iter().enumerate() {
            attacker.progress.check()?;
            let telling = table.classes.quasi.iter();
            let mut telling = telling.filter(|quasi| quasi.covers.iter().any(|cover| *cover != Cover::Everything));
            let lacks = telling.any(|quasi| people.column(&quasi.name).is_none());
            let all = attacker.columns == Columns::All;
            let found = match all {
                true => FoundPeople::anywhere(table.name, table.classes, people)?,
                false => FoundPeople::new(table.name, table.classes, people)?,
            };
            let mut side = tables.side(number);
            side.places = found.places;
            side.shown = all && lacks;
            if side.shown {
                let unknown = |quasi: &&QuasiLabels| people.column(&quasi.name).is_none();
                let (alike, is_exact) = buckets_alike(table.classes, &side.places, unknown);
                overlapping |= !is_exact;
                side.alike = alike;
            }
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
        let setting = Setting { tables, sides, cases: Vec::new(), of_person, values: Vec::new(), overlapping };
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
            self.tables.records.of_people(&mut self.tables.contents.borrow_mut(), &labels, is_there)
        });
        // By places, what can be true of them, and their value.
        type Alike = (Vec<u32>, Option<Vec<u32>>, Option<u32>);
        let mut numbers: HashMap<Alike, u32> = HashMap::new();
        let mut of_alike = Vec::with_capacity(alike.len());
        for (at, (places, number)) in alike.into_iter().enumerate() {
            let truth = truths.as_ref().map(|truths| truths[at].clone());
            let value = known.as_ref().filter(|_| truth.is_none()).zip(number);
            let value = value.map(|(known, number)| known.labels[number as usize][0]);
            let case = *numbers.entry((places, truth, value)).or_insert_with_key(|(places, truth, value)| {
                self.cases.push(Case { places: places.clone(), truth: truth.clone(), people: 0 });
                self.values.extend(value);
                self.cases.len() as u32 - 1
            });
            of_alike.push(case);
        }
        for case in &mut self.of_person {
            *case = of_alike[*case as usize];
            self.cases[*case as usize].people += 1;
        }
        self
    }

    /// Whether the people of a case have another value than the one that is left to them. Where it
    /// is known what can be true of them, what is left has it.
    pub(super) fn is_left_a_false_value(&self, case: usize, left: &ValuesLeft) -> bool {
        match (left.values.as_slice(), self.values.get(case)) {
            (&[(value, _)], Some(&truth)) => !self.tables.is_compatible(value, truth),
            _ => false,
        }
    }
}
