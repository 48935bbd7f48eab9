//! Releases laid side by side, as an adversary lays them: one vocabulary of sensitive values, and the combinations of
//! classes that people are in, or could be in.
//!
//! A *view* is what an adversary sees of one person in one release: usually one class, several where cells overlap or
//! where the same quasi values stand in several buckets. A *combination* is one view from each of some releases.

use hashbrown::HashMap;
use hedgerow_table::release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Cover, Table, TableError};

use crate::cell::Cell;
use crate::matching::{Fits, matching};
use crate::overlap::overlap;

/// More combinations than this are not listed without people to look for.
const COMBINATIONS_MAX: usize = 4_000_000;

/// A truth that none of the releases names.
pub(crate) const ELSEWHERE: u32 = u32::MAX;

/// One release among others.
#[derive(Debug)]
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) classes: &'a ReleasedClasses,
    sensitive: &'a SensitiveCounts,
    /// From the release's own codes to the common vocabulary.
    common: Vec<u32>,
    /// Rows per value of the common vocabulary.
    pub(crate) totals: Vec<u64>,
    /// What adversaries see, each view once.
    pub(crate) views: Vec<View>,
}

/// What an adversary sees of one person in one release.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View {
    /// The classes that the person can be in.
    pub(crate) classes: Vec<u32>,
    /// Rows in them.
    pub(crate) rows: u64,
    /// The sensitive values behind them in the common vocabulary, ascending, with the rows that carry each. In a
    /// bucketized release a class has its share of the bucket's counts, so these need not be whole.
    pub(crate) values: Vec<(u32, f64)>,
    /// The counts are those of one bucket and no other.
    pub(crate) whole_bucket: bool,
}

impl View {
    pub(crate) fn weight(&self, value: u32) -> f64 {
        self.values.binary_search_by_key(&value, |&(value, _)| value).map_or(0.0, |found| self.values[found].1)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Combination {
    /// One view for each of the sides of its [`Group`].
    pub(crate) views: Vec<u32>,
    /// How many people are in it; 0 where nobody was named.
    pub(crate) people: u64,
    /// Their true value, where the people's file tells it.
    pub(crate) truth: Option<u32>,
}

/// Combinations over the same sides.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) sides: Vec<usize>,
    pub(crate) combinations: Vec<Combination>,
    /// Not all combinations are listed.
    pub(crate) cut: bool,
}

/// Releases that hold one sensitive attribute.
#[derive(Debug)]
pub(crate) struct SideBySide<'a> {
    pub(crate) protect: &'a str,
    /// The common vocabulary.
    pub(crate) values: Vec<String>,
    pub(crate) sides: Vec<Side<'a>>,
}

impl<'a> SideBySide<'a> {
    /// Those of the tables that hold `protect` as a sensitive attribute.
    pub(crate) fn new(protect: &'a str, tables: &[(&'a str, &'a ReleasedClasses)]) -> SideBySide<'a> {
        let holding = tables.iter().filter_map(|&(name, classes)| Some((name, classes, classes.sensitive(protect)?)));
        let holding: Vec<_> = holding.collect();
        let mut values: Vec<String> =
            holding.iter().flat_map(|(_, _, sensitive)| sensitive.values.iter().cloned()).collect();
        values.sort_unstable();
        values.dedup();
        let sides = holding.into_iter().map(|(name, classes, sensitive)| {
            let code = |value: &String| values.binary_search(value).expect("collected above") as u32;
            let common: Vec<u32> = sensitive.values.iter().map(code).collect();
            let mut totals = vec![0u64; values.len()];
            for (&code, total) in common.iter().zip(sensitive.totals()) {
                totals[code as usize] += total;
            }
            Side { name, classes, sensitive, common, totals, views: Vec::new() }
        });
        let sides = sides.collect();
        SideBySide { protect, values, sides }
    }

    pub(crate) fn text(&self, value: u32) -> &str {
        &self.values[value as usize]
    }

    /// The combinations that these people are in, each person taken to be in every release.
    pub(crate) fn people(&mut self, people: &Table) -> Result<Group, TableError> {
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
        let mut counts: HashMap<(Vec<u32>, Option<u32>), u64> = HashMap::new();
        for row in 0..people.rows {
            let views = seen.iter().map(|views| views[row]).collect();
            *counts.entry((views, truth.as_ref().map(|truth| truth[row]))).or_default() += 1;
        }
        let combinations = counts.into_iter().map(|((views, truth), people)| Combination { views, people, truth });
        let mut combinations: Vec<Combination> = combinations.collect();
        combinations.sort_unstable_by(|a, b| (&a.views, a.truth).cmp(&(&b.views, b.truth)));
        Ok(Group { sides: (0..self.sides.len()).collect(), combinations, cut: false })
    }

    /// The combinations of two releases each that somebody could be in: cells that overlap in every shared attribute.
    pub(crate) fn pairs(&mut self) -> Vec<Group> {
        for side in &mut self.sides {
            side.views = (0..side.classes.len() as u32).map(|class| side.view(vec![class])).collect();
        }
        let mut groups = Vec::new();
        for first in 0..self.sides.len() {
            for second in first + 1..self.sides.len() {
                let (combinations, cut) = overlapping(self.sides[first].classes, self.sides[second].classes);
                groups.push(Group { sides: vec![first, second], combinations, cut });
            }
        }
        groups
    }
}

impl Side<'_> {
    /// The view of every person. Attributes that the people's file lacks are unknown to the adversary.
    pub(crate) fn see(&mut self, people: &Table) -> Result<Vec<u32>, TableError> {
        let quasi = self.classes.quasi.iter().enumerate();
        let mut known: Vec<_> =
            quasi.filter_map(|(index, quasi)| Some((index, quasi, people.column(&quasi.name)?))).collect();
        if known.is_empty() && !self.classes.quasi.is_empty() {
            let names: Vec<&str> = self.classes.quasi.iter().map(|quasi| quasi.name.as_str()).collect();
            let problem = format!("has none of the quasi attributes of {}", self.name);
            return Err(TableError::input("the people's table", problem, format!("it needs: {}", names.join(", "))));
        }
        // What rules nobody out need not be looked at, and people who differ in nothing else are looked for once.
        known.retain(|(_, quasi, _)| quasi.covers.iter().any(|cover| *cover != Cover::Everything));
        let fits: Vec<Fits> = known
            .iter()
            .map(|(index, quasi, column)| {
                Fits::new(*index, quasi.covers.iter().map(|cover| Cell::new(cover, &column.domain).codes))
            })
            .collect();
        let (probes, of_row) =
            distinct(&known.iter().map(|(_, _, column)| &column.codes).collect::<Vec<_>>(), people.rows);
        let found = match fits.as_slice() {
            [] => vec![(0..self.classes.len() as u32).collect()],
            fits => matching(self.classes, fits, &probes, |_, classes| classes.to_vec()),
        };
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut of_probe = Vec::with_capacity(found.len());
        for classes in found {
            let next = numbers.len() as u32;
            of_probe.push(*numbers.entry(classes).or_insert(next));
        }
        let mut views: Vec<(Vec<u32>, u32)> = numbers.into_iter().collect();
        views.sort_unstable_by_key(|&(_, number)| number);
        self.views = views.into_iter().map(|(classes, _)| self.view(classes)).collect();
        Ok(of_row.into_iter().map(|probe| of_probe[probe as usize]).collect())
    }

    fn view(&self, classes: Vec<u32>) -> View {
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
        View { classes, rows, values, whole_bucket }
    }
}

/// The different rows of some columns, column by column, and which of them each row is.
fn distinct(columns: &[&hedgerow_table::Codes], rows: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut probes: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
    let mut of_row = Vec::with_capacity(rows);
    let mut key = vec![0u32; columns.len()];
    for row in 0..rows {
        key.iter_mut().zip(columns).for_each(|(cell, codes)| *cell = codes.get(row));
        let number = match numbers.get(&key) {
            Some(&number) => number,
            None => {
                let next = numbers.len() as u32;
                numbers.insert(key.clone(), next);
                probes.iter_mut().zip(&key).for_each(|(values, &value)| values.push(value));
                next
            }
        };
        of_row.push(number);
    }
    (probes, of_row)
}

/// Which classes of two releases overlap in every attribute that they share.
fn overlapping(first: &ReleasedClasses, second: &ReleasedClasses) -> (Vec<Combination>, bool) {
    let mut fits = Vec::new();
    let mut probes: Vec<Vec<u32>> = Vec::new();
    for (index, quasi) in second.quasi.iter().enumerate() {
        let Some(own) = first.quasi.iter().position(|own| own.name == quasi.name) else { continue };
        let meeting = |cover| {
            (0..)
                .zip(&first.quasi[own].covers)
                .filter(|(_, other)| overlap(cover, other))
                .map(|(value, _)| value)
                .collect()
        };
        fits.push(Fits::new(index, quasi.covers.iter().map(meeting)));
        probes.push((0..first.len()).map(|class| first.cells(class)[own]).collect());
    }
    let listed: Vec<Vec<u32>> = if fits.is_empty() {
        let everything: Vec<u32> = (0..second.len() as u32).collect();
        let enough = COMBINATIONS_MAX / second.len().max(1) + 1;
        (0..first.len().min(enough)).map(|_| everything.clone()).collect()
    } else {
        matching(second, &fits, &probes, |_, classes| classes.to_vec())
    };
    let whole: usize =
        if fits.is_empty() { first.len().saturating_mul(second.len()) } else { listed.iter().map(Vec::len).sum() };
    let pairs = listed.iter().enumerate().flat_map(|(class, others)| others.iter().map(move |&other| (class, other)));
    let combinations = pairs.take(COMBINATIONS_MAX);
    let combination =
        |(class, other): (usize, u32)| Combination { views: vec![class as u32, other], people: 0, truth: None };
    (combinations.map(combination).collect(), whole > COMBINATIONS_MAX)
}
