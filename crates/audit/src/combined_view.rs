//! Releases combined, as an adversary combines them: one vocabulary of sensitive values, and the
//! combinations of classes that people are in, or could be in.
//!
//! A *view* is what an adversary sees of one person in one release: usually one class, several
//! where cells overlap or where the same quasi-identifiers are in several buckets. A *combination*
//! is one view from each of some releases.
//!
//! Not everyone who fits a release need have a row in it. A release whose manifest states
//! suppressed rows *may lack* people who fit it, unless those are accounted for by people who fit
//! nothing; what it leaves is used for no one. Of people whose true value is known, a release that
//! cannot give it to them does not have them.

use hashbrown::HashMap;
use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Table, TableError};

use crate::finding::Finding;
use crate::joint_cells::joint_cells;
use crate::people::{FoundPeople, most_absent};

/// More combinations than this are not listed without people to look for.
const COMBINATIONS_MAX: usize = 2_000_000;

/// A truth that none of the releases names.
pub(crate) const ELSEWHERE: u32 = u32::MAX;

/// One release among others.
#[derive(Debug)]
pub(crate) struct ReleaseSide<'a> {
    /// Its position among all tables.
    pub(crate) table: usize,
    pub(crate) name: &'a str,
    pub(crate) classes: &'a ReleasedClasses,
    pub(crate) sensitive: &'a SensitiveCounts,
    /// It states the attribute coarser than its source has it: true values are not among those that
    /// are released.
    pub(crate) is_coarse: bool,
    /// From the release's own codes to the common vocabulary.
    common: Vec<u32>,
    /// Rows per value of the common vocabulary.
    pub(crate) totals: Vec<u64>,
    /// The views of adversaries, each once.
    pub(crate) views: Vec<PersonView>,
}

/// An adversary's view of one person in one release.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PersonView {
    /// The classes that the person can be in.
    pub(crate) classes: Vec<u32>,
    /// Rows in them.
    pub(crate) rows: u64,
    /// The sensitive values behind them in the common vocabulary, ascending, with the rows that
    /// carry each. In a bucketized release a class has its share of the bucket's counts, so these
    /// need not be integers.
    pub(crate) values: Vec<(u32, f64)>,
    /// The counts are those of one bucket and no other.
    pub(crate) whole_bucket: bool,
}

impl PersonView {
    pub(crate) fn weight(&self, value: u32) -> f64 {
        self.values.binary_search_by_key(&value, |&(value, _)| value).map_or(0.0, |found| self.values[found].1)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Combination {
    /// One view for each of the sides of its [`CombinationGroup`].
    pub(crate) views: Vec<u32>,
    /// The number of people in it; 0 without a table of people.
    pub(crate) people: u64,
    /// Their true value, where the people's file has it.
    pub(crate) truth: Option<u32>,
}

/// Combinations over the same sides.
#[derive(Debug)]
pub(crate) struct CombinationGroup {
    pub(crate) sides: Vec<usize>,
    pub(crate) combinations: Vec<Combination>,
    /// By row of the people's table, which combination it is in; empty without such a table.
    pub(crate) of_person: Vec<u32>,
    /// Not all combinations are listed.
    pub(crate) cut: bool,
    /// By side, whether it may lack people who fit it.
    pub(crate) may_lack: Vec<bool>,
}

impl CombinationGroup {
    /// The true value of people, where it is known and can be compared with those that these
    /// releases show.
    pub(crate) fn truth_of(&self, combined: &CombinedView<'_>, combination: &Combination) -> Option<u32> {
        let is_coarse = || self.sides.iter().any(|&side| combined.sides[side].is_coarse);
        combination.truth.filter(|_| !is_coarse())
    }

    /// The views of some people in the releases that have them for sure, each with its side. `None`
    /// where they are not in every release.
    pub(crate) fn sure_views<'v>(
        &self,
        combined: &'v CombinedView<'_>,
        combination: &Combination,
    ) -> Option<Vec<(&'v ReleaseSide<'v>, &'v PersonView)>> {
        let truth = self.truth_of(combined, combination);
        let mut sure = Vec::with_capacity(self.sides.len());
        for ((&side, &view), may_lack) in self.sides.iter().zip(&combination.views).zip(&self.may_lack) {
            let side = &combined.sides[side];
            let view = &side.views[view as usize];
            if view.classes.is_empty() || truth.is_some_and(|truth| view.weight(truth) <= 0.0) {
                return None;
            }
            if !may_lack {
                sure.push((side, view));
            }
        }
        Some(sure)
    }

    /// Says of which people a finding leaves out what a release shows, and where it may be wrong
    /// since not all people can be in a release.
    pub(crate) fn note_lacking(&self, combined: &CombinedView<'_>, finding: &mut Finding) {
        let names = |chosen: &dyn Fn(usize) -> bool| -> Vec<&str> {
            (0..self.sides.len())
                .filter(|&position| chosen(position))
                .map(|position| combined.sides[self.sides[position]].name)
                .collect()
        };
        let lacking = names(&|position| self.may_lack[position]);
        if !lacking.is_empty() {
            finding.note(format!(
                "rows of {} were suppressed, and people who fit it may have none: what it leaves them is not used here, \
                 `worlds` uses it",
                lacking.join(" and ")
            ));
        }
        let is_true = self.combinations.iter().all(|own| self.truth_of(combined, own).is_some());
        let is_full = |position: usize| {
            !is_true
                && !self.may_lack[position]
                && self.people_who_fit(combined, position) > combined.sides[self.sides[position]].classes.rows
        };
        let full = names(&is_full);
        if !full.is_empty() {
            finding.note(format!(
                "more people fit {} than it has rows: each is taken to be in it, and what follows need not be true of \
                 those who are not",
                full.join(" and ")
            ));
        }
    }

    /// The people who fit some class of a side.
    fn people_who_fit(&self, combined: &CombinedView<'_>, position: usize) -> u64 {
        let views = &combined.sides[self.sides[position]].views;
        let fit = |combination: &&Combination| !views[combination.views[position] as usize].classes.is_empty();
        self.combinations.iter().filter(fit).map(|combination| combination.people).sum()
    }

    /// The views of the same people in two of the releases.
    pub(crate) fn only(&self, pair: [usize; 2]) -> CombinationGroup {
        let combinations = self.combinations.iter().map(|combination| Combination {
            views: pair.map(|position| combination.views[position]).to_vec(),
            people: combination.people,
            truth: combination.truth,
        });
        CombinationGroup {
            sides: pair.map(|p| self.sides[p]).to_vec(),
            combinations: combinations.collect(),
            of_person: self.of_person.clone(),
            cut: self.cut,
            may_lack: pair.map(|position| self.may_lack[position]).to_vec(),
        }
    }
}

/// Releases that hold one sensitive attribute.
#[derive(Debug)]
pub(crate) struct CombinedView<'a> {
    pub(crate) protect: &'a str,
    /// The common vocabulary.
    pub(crate) values: Vec<String>,
    pub(crate) sides: Vec<ReleaseSide<'a>>,
}

impl<'a> CombinedView<'a> {
    /// Those of the tables that hold `protect` as a sensitive attribute, each with its name and
    /// whether it states the attribute coarser than its source.
    pub(crate) fn new(protect: &'a str, tables: &[(&'a str, &'a ReleasedClasses, bool)]) -> CombinedView<'a> {
        let holding = tables.iter().enumerate();
        let holding: Vec<_> =
            holding.filter_map(|(at, &(_, classes, _))| Some((at, classes.sensitive(protect)?))).collect();
        let mut values: Vec<String> =
            holding.iter().flat_map(|(_, sensitive)| sensitive.values.iter().cloned()).collect();
        values.sort_unstable();
        values.dedup();
        let sides = holding.into_iter().map(|(table, sensitive)| {
            let (name, classes, is_coarse) = tables[table];
            let code = |value: &String| values.binary_search(value).expect("collected above") as u32;
            let common: Vec<u32> = sensitive.values.iter().map(code).collect();
            let mut totals = vec![0u64; values.len()];
            for (&code, total) in common.iter().zip(sensitive.totals()) {
                totals[code as usize] += total;
            }
            ReleaseSide { table, name, classes, sensitive, is_coarse, common, totals, views: Vec::new() }
        });
        let sides = sides.collect();
        CombinedView { protect, values, sides }
    }

    /// Finds the releases that may lack people who fit them, by the suppressed rows of each.
    pub(crate) fn mark_lacking(&self, group: &mut CombinationGroup, suppressed: impl Fn(&ReleaseSide<'_>) -> u64) {
        let all = group.combinations.iter().map(|combination| combination.people).sum();
        let may_lack = |(position, &side): (usize, &usize)| {
            let side = &self.sides[side];
            let people = (all, group.people_who_fit(self, position));
            most_absent(people, (side.classes.rows, suppressed(side))) > 0
        };
        group.may_lack = group.sides.iter().enumerate().map(may_lack).collect();
    }

    pub(crate) fn names(&self, sides: &[usize]) -> Vec<String> {
        sides.iter().map(|&side| self.sides[side].name.to_owned()).collect()
    }

    pub(crate) fn text(&self, value: u32) -> &str {
        &self.values[value as usize]
    }

    /// The combinations that these people are in, each person taken to be in every release.
    pub(crate) fn people(&mut self, people: &Table) -> Result<CombinationGroup, TableError> {
        let truth = people.column(self.protect).map(|column| {
            let code = |code| match self.values.binary_search(&column.domain.text(code)) {
                Ok(found) => found as u32,
                Err(_) => ELSEWHERE,
            };
            let codes: Vec<u32> = (0..column.domain.cardinality() as u32).map(code).collect();
            (0..people.rows).map(|row| codes[column.codes.get(row) as usize]).collect::<Vec<u32>>()
        });
        let mut seen: Vec<Vec<u32>> = Vec::new();
        for side in &mut self.sides {
            seen.push(side.see(people)?);
        }
        let mut numbers: HashMap<(Vec<u32>, Option<u32>), u32> = HashMap::new();
        let mut of_person = Vec::with_capacity(people.rows);
        for row in 0..people.rows {
            let views = seen.iter().map(|views| views[row]).collect();
            let next = numbers.len() as u32;
            of_person.push(*numbers.entry((views, truth.as_ref().map(|truth| truth[row]))).or_insert(next));
        }
        let mut found: Vec<(Vec<u32>, Option<u32>, u32)> =
            numbers.into_iter().map(|((views, truth), number)| (views, truth, number)).collect();
        found.sort_unstable();
        let mut place = vec![0u32; found.len()];
        (0..).zip(&found).for_each(|(sorted, (_, _, number))| place[*number as usize] = sorted);
        of_person.iter_mut().for_each(|number| *number = place[*number as usize]);
        let combination = |(views, truth, _)| Combination { views, people: 0, truth };
        let mut combinations: Vec<Combination> = found.into_iter().map(combination).collect();
        of_person.iter().for_each(|&number| combinations[number as usize].people += 1);
        let sides: Vec<usize> = (0..self.sides.len()).collect();
        let may_lack = vec![false; sides.len()];
        Ok(CombinationGroup { sides, combinations, of_person, cut: false, may_lack })
    }

    /// The combinations that a person could be in: cells that meet in every attribute they share.
    /// Of all releases together, and of each two when there are more.
    pub(crate) fn cells(&mut self) -> (CombinationGroup, Vec<CombinationGroup>) {
        for side in &mut self.sides {
            side.views = (0..side.classes.len() as u32).map(|class| side.view(vec![class])).collect();
        }
        let group = |sides: Vec<usize>| {
            let tables: Vec<&ReleasedClasses> = sides.iter().map(|&side| self.sides[side].classes).collect();
            let joint = joint_cells(&tables, COMBINATIONS_MAX);
            let combinations = joint.combinations.into_iter();
            let combinations = combinations.map(|views| Combination { views, people: 0, truth: None }).collect();
            let may_lack = vec![false; sides.len()];
            CombinationGroup { sides, combinations, of_person: Vec::new(), cut: joint.cut, may_lack }
        };
        let pairs = if self.sides.len() > 2 {
            pairs(self.sides.len()).map(|pair| group(pair.to_vec())).collect()
        } else {
            Vec::new()
        };
        (group((0..self.sides.len()).collect()), pairs)
    }
}

/// Each two of some, once.
pub(crate) fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| [first, second]))
}

impl ReleaseSide<'_> {
    /// The view of every person.
    pub(crate) fn see(&mut self, people: &Table) -> Result<Vec<u32>, TableError> {
        let found = FoundPeople::new(self.name, self.classes, people)?;
        self.views = found.places.into_iter().map(|classes| self.view(classes)).collect();
        Ok(found.of_person)
    }

    /// Rows of a bucket with a value of the common vocabulary.
    pub(crate) fn rows_of(&self, bucket: u32, value: u32) -> u64 {
        let of_value = |(own, _): &&(u32, u32)| self.common[*own as usize] == value;
        self.sensitive.of_bucket(bucket).iter().filter(of_value).map(|&(_, rows)| u64::from(rows)).sum()
    }

    pub(crate) fn view(&self, classes: Vec<u32>) -> PersonView {
        let table = self.classes;
        let rows = classes.iter().map(|&class| u64::from(table.sizes[class as usize])).sum();
        let mut values: Vec<(u32, f64)> = Vec::new();
        for &class in &classes {
            let bucket = table.bucket_of[class as usize];
            let share = f64::from(table.sizes[class as usize]) / f64::from(table.bucket_sizes[bucket as usize]);
            let counts = self.sensitive.of_bucket(bucket).iter();
            values.extend(counts.map(|&(value, count)| (self.common[value as usize], f64::from(count) * share)));
        }
        values.sort_unstable_by_key(|&(value, _)| value);
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let whole_bucket = matches!(classes.as_slice(), [class] if {
            let bucket = table.bucket_of[*class as usize];
            table.sizes[*class as usize] == table.bucket_sizes[bucket as usize]
        });
        PersonView { classes, rows, values, whole_bucket }
    }
}
