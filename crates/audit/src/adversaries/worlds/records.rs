//! Records: one statement of each table, or none, so that some values are under all of them. It is
//! all that the tables together can say of one person, and a world gives one to each.

use hashbrown::HashMap;

use super::statements::{ANY, AllContents, Contents, Labels};
use crate::solver::UNSAID;

/// More records, and more pairs of them and statements, are not looked at.
const RECORDS_MAX: usize = 2_000_000;
const PAIRS_MAX: usize = 60_000_000;

/// More records that can be true of one person are not distinguished, nor more to be chosen from.
const TRUE_MAX: usize = 256;
const DRAFTS_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Records {
    /// By table: by record, its statement or [`UNSAID`].
    pub(super) statements: Vec<Vec<u32>>,
    /// By record, the label of its protected value.
    pub(super) values: Vec<u32>,
    /// By the statements of all tables, the record.
    numbers: HashMap<Vec<u32>, u32>,
}

/// A record in the making.
#[derive(Debug, Clone)]
struct RecordDraft {
    said: Vec<u32>,
    /// A label for each column of all tables.
    labels: Vec<u32>,
}

/// The statements of one table, to be found by what is known of some columns.
struct Finder<'a> {
    contents: &'a Contents,
    /// By which columns are known: their labels with the statements that have them.
    by_known: HashMap<Vec<bool>, HashMap<Vec<u32>, Vec<u32>>>,
}

impl Records {
    /// `None` where there are too many.
    pub(super) fn new(all: &mut AllContents) -> Option<Records> {
        let contents = all.of_table.clone();
        let mut finders: Vec<Finder<'_>> =
            contents.iter().map(|contents| Finder { contents, by_known: HashMap::new() }).collect();
        let mut drafts = vec![RecordDraft { said: Vec::new(), labels: vec![ANY; all.names.len()] }];
        let mut pairs = 0;
        for table in 0..finders.len() {
            let mut next = Vec::new();
            for draft in drafts {
                let found = finders[table].fitting(&draft.labels, &mut all.labels, &mut pairs)?;
                let is_point = |&column: &usize| all.labels[column].is_point(draft.labels[column]);
                let is_listed = !found.is_empty() && contents[table].columns.iter().all(is_point);
                for (statement, labels) in found {
                    let said = [draft.said.as_slice(), &[statement]].concat();
                    let draft = RecordDraft { said, labels };
                    if may_be_silent(&draft, &mut finders, &contents, &mut all.labels, &mut pairs)? {
                        next.push(draft);
                    }
                }
                if !is_listed {
                    let said = [draft.said.as_slice(), &[UNSAID]].concat();
                    next.push(RecordDraft { said, labels: draft.labels });
                }
                if next.len() > RECORDS_MAX {
                    return None;
                }
            }
            drafts = next;
        }
        // Of people in no table nothing is said: the number after all records stands for it.
        drafts.retain(|draft| draft.said.iter().any(|&statement| statement != UNSAID));
        let text = |draft: &RecordDraft| all.labels[0].text(draft.labels[0]).to_owned();
        drafts.sort_by_cached_key(|draft| (draft.labels[0] == ANY, text(draft), draft.said.clone()));
        let mut records = Records { statements: vec![Vec::new(); contents.len()], ..Records::default() };
        for (number, draft) in (0..).zip(drafts) {
            for (statements, &said) in records.statements.iter_mut().zip(&draft.said) {
                statements.push(said);
            }
            records.values.push(draft.labels[0]);
            records.numbers.insert(draft.said, number);
        }
        Some(records)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// By people of whom some labels are known, the records that can be true of them, ascending;
    /// the number of records where none fits. `is_there` says whether people can be where a table
    /// has a statement: those records count for which they are in the first table where they can be
    /// in it, then in the second, and so on; tables with suppressed rows (`is_reduced`) come last,
    /// since they lack people. `None` where it leaves too many.
    pub(super) fn of_people(
        &self,
        all: &mut AllContents,
        people: &[&[u32]],
        is_reduced: &[bool],
        is_there: impl Fn(usize, usize, &Contents, u32) -> bool,
    ) -> Option<Vec<Vec<u32>>> {
        let contents = all.of_table.clone();
        let mut finders: Vec<Finder<'_>> =
            contents.iter().map(|contents| Finder { contents, by_known: HashMap::new() }).collect();
        let mut pairs = 0;
        let mut records: Vec<Vec<u32>> = Vec::with_capacity(people.len());
        let mut count = 0;
        // What does not depend on where people can be.
        let mut sure: HashMap<&[u32], usize> = HashMap::new();
        for (person, &labels) in people.iter().enumerate() {
            let own = match sure.get(labels) {
                Some(&other) => records[other].clone(),
                None => {
                    let is_there = |table: usize, statement| is_there(person, table, &contents[table], statement);
                    let found = self.of_person(labels, &mut finders, &mut all.labels, &mut pairs, is_reduced, is_there);
                    let (own, is_sure) = found?;
                    if is_sure {
                        sure.insert(labels, person);
                    }
                    own
                }
            };
            count += own.len();
            if count > RECORDS_MAX {
                return None;
            }
            records.push(own);
        }
        Some(records)
    }

    /// The same of one person, and whether it is so wherever they are.
    fn of_person(
        &self,
        known: &[u32],
        finders: &mut [Finder<'_>],
        labels: &mut [Labels],
        pairs: &mut usize,
        is_reduced: &[bool],
        is_there: impl Fn(usize, u32) -> bool,
    ) -> Option<(Vec<u32>, bool)> {
        let first = RecordDraft { said: Vec::new(), labels: known.to_vec() };
        // Each with the tables that the person is in, if it is their record.
        let mut drafts: Vec<(RecordDraft, Vec<bool>)> = vec![(first, Vec::new())];
        let mut is_sure = true;
        for (table, finder) in finders.iter_mut().enumerate() {
            let mut next = Vec::new();
            for (draft, there) in drafts {
                let found = finder.fitting(&draft.labels, labels, pairs)?;
                let is_point = finder.contents.columns.iter().all(|&at| labels[at].is_point(draft.labels[at]));
                // What is known leaves one statement, or none, whether or not they are in the
                // table.
                if found.is_empty() || is_point && found.len() == 1 {
                    let (statement, labels) = found.into_iter().next().unwrap_or((UNSAID, draft.labels));
                    let is_there = statement != UNSAID && is_there(table, statement);
                    let said = [draft.said.as_slice(), &[statement]].concat();
                    next.push((RecordDraft { said, labels }, [there.as_slice(), &[is_there]].concat()));
                    continue;
                }
                is_sure = false;
                let mut is_narrower = true;
                for (statement, labels) in found.into_iter().filter(|(statement, _)| is_there(table, *statement)) {
                    is_narrower &= labels != draft.labels;
                    let said = [draft.said.as_slice(), &[statement]].concat();
                    next.push((RecordDraft { said, labels }, [there.as_slice(), &[true]].concat()));
                }
                // What they say there may not be what other tables say of them.
                if is_narrower {
                    let said = [draft.said.as_slice(), &[UNSAID]].concat();
                    next.push((RecordDraft { said, labels: draft.labels }, [there.as_slice(), &[false]].concat()));
                }
            }
            drafts = next;
            if drafts.len() > DRAFTS_MAX {
                return None;
            }
        }
        let mut tables: Vec<usize> = (0..is_reduced.len()).collect();
        tables.sort_by_key(|&table| is_reduced[table]);
        let in_order = |there: &[bool]| -> Vec<bool> { tables.iter().map(|&table| there[table]).collect() };
        let most = drafts.iter().map(|(_, there)| in_order(there)).max();
        let mut own: Vec<u32> = Vec::new();
        for (mut draft, _) in drafts.into_iter().filter(|(_, there)| Some(in_order(there)) == most) {
            speak(&mut draft, finders, labels, pairs)?;
            own.extend(self.numbers.get(&draft.said));
        }
        own.sort_unstable();
        own.dedup();
        if own.len() > TRUE_MAX {
            return None;
        }
        if own.is_empty() {
            own.push(self.len() as u32);
        }
        Some((own, is_sure))
    }
}

/// Gives a record the statements of tables that cannot be silent about it.
fn speak(draft: &mut RecordDraft, finders: &mut [Finder<'_>], labels: &mut [Labels], pairs: &mut usize) -> Option<()> {
    for (said, finder) in draft.said.iter_mut().zip(finders).filter(|(said, _)| **said == UNSAID) {
        if finder.contents.columns.iter().all(|&column| labels[column].is_point(draft.labels[column])) {
            let found = finder.fitting(&draft.labels, labels, pairs)?;
            *said = found.first().map_or(UNSAID, |(statement, _)| *statement);
        }
    }
    Some(())
}

/// A table cannot be silent about a record that leaves one value of each of its columns where it
/// has a row with them.
fn may_be_silent(
    draft: &RecordDraft,
    finders: &mut [Finder<'_>],
    contents: &[Contents],
    labels: &mut [Labels],
    pairs: &mut usize,
) -> Option<bool> {
    for table in (0..draft.said.len()).filter(|&table| draft.said[table] == UNSAID) {
        let is_point = contents[table].columns.iter().all(|&column| labels[column].is_point(draft.labels[column]));
        if is_point && !finders[table].fitting(&draft.labels, labels, pairs)?.is_empty() {
            return Some(false);
        }
    }
    Some(true)
}

impl Finder<'_> {
    /// The statements that fit some labels, each with the labels of both; `None` when there was too
    /// much to compare.
    fn fitting(&mut self, own: &[u32], labels: &mut [Labels], pairs: &mut usize) -> Option<Vec<(u32, Vec<u32>)>> {
        let contents = self.contents;
        let is_known = |&column: &usize| labels[column].are_values() && own[column] != ANY;
        let known: Vec<bool> = contents.columns.iter().map(is_known).collect();
        let chosen = |of: &dyn Fn(usize, usize) -> u32| -> Vec<u32> {
            let columns = contents.columns.iter().enumerate().filter(|(at, _)| known[*at]);
            columns.map(|(at, &column)| of(at, column)).collect()
        };
        let index = self.by_known.entry(known.clone()).or_insert_with(|| {
            let mut index: HashMap<Vec<u32>, Vec<u32>> = HashMap::new();
            for (number, statement) in (0..).zip(&contents.statements) {
                index.entry(chosen(&|at, _| statement[at])).or_default().push(number);
            }
            index
        });
        let candidates = index.get(&chosen(&|_, column| own[column])).map_or(&[][..], Vec::as_slice);
        *pairs += candidates.len();
        if *pairs > PAIRS_MAX {
            return None;
        }
        let met = |&number: &u32| Some((number, met(contents, number, own, labels)?));
        Some(candidates.iter().filter_map(met).collect())
    }
}

/// The labels of what a statement and some labels cover both.
fn met(contents: &Contents, statement: u32, own: &[u32], labels: &mut [Labels]) -> Option<Vec<u32>> {
    let mut both = own.to_vec();
    for (&column, &label) in contents.columns.iter().zip(&contents.statements[statement as usize]) {
        both[column] = labels[column].meet(both[column], label)?;
    }
    Some(both)
}
