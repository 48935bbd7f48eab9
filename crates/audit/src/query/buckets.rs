//! Answers from a bucketized release: in each bucket, the quasi values of its rows are known and so
//! are its sensitive values, but not which belongs to which. Every pairing is taken as equally
//! likely.
//!
//! The estimate of a bucket is the mean over the pairings, Σ rows · values / size · share; the
//! bounds of COUNT and SUM are the least and the greatest over them (`transport`). Where the
//! condition is about rows and values separately, the bounds of COUNT have a closed form. The
//! bounds of AVG take rows one by one and values one by one, and may be wider than needed.

use std::ops::Range;

use hashbrown::HashMap;
use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_table::{Codes, Table, TableError, parallel};

use super::aggregate::What;
use super::diagram::ConditionTruth;
use super::generalized::{Groups, merged};
use super::plan::Plan;
use super::rows::Sizes;
use super::tally::{Choice, Contribution, Tally};
use super::transport;
use crate::estimate::regions::Portion;

/// Buckets answered at once; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 10;

/// Two tables that share the numbers of buckets.
#[derive(Debug)]
pub(crate) struct Buckets<'a> {
    pub(crate) quasi: &'a Table,
    pub(crate) sensitive: &'a Table,
    /// For each of the release's columns, the table (the second one: true) and the column there.
    pub(crate) columns: Vec<(bool, usize)>,
    /// The bucket of each row of `quasi`.
    pub(crate) of_row: Vec<u32>,
    /// The bucket of each row of `sensitive`, and how often the values there occur in it; one more
    /// for the rows without released values, which may have any.
    pub(crate) of_value: Vec<(u32, u64)>,
    pub(crate) count: usize,
}

/// The kind of a value of which nothing is known.
pub(crate) const UNKNOWN_VALUE: u32 = u32::MAX;

impl<'a> Buckets<'a> {
    pub(crate) fn new(quasi: &'a Table, sensitive: &'a Table, sizes: Sizes) -> Result<Buckets<'a>, TableError> {
        let damaged = |problem: &str| {
            TableError::input(
                "release",
                problem,
                "the two tables of this release do not belong together; publish it again",
            )
        };
        let (Some(group), Some(other)) = (quasi.column(GROUP), sensitive.column(GROUP)) else {
            return Err(damaged("a table has no column `group`"));
        };
        let counts = sensitive.column(COUNT).ok_or_else(|| damaged("the sensitive table has no column `count`"))?;
        let translate = |code: u32| group.domain.code_of(&other.domain.text(code));
        let translated: Vec<Option<u32>> = (0..other.domain.cardinality() as u32).map(translate).collect();
        let mut of_value = Vec::with_capacity(sensitive.rows);
        for row in 0..sensitive.rows {
            let bucket = translated[other.codes.get(row) as usize];
            let count =
                counts.domain.number(counts.codes.get(row)).filter(|count| *count >= 1.0 && count.fract() == 0.0);
            match (bucket, count) {
                (Some(bucket), Some(count)) => of_value.push((bucket, count as u64)),
                (None, _) => return Err(damaged("a group of the sensitive table has no rows in the quasi table")),
                (_, None) => return Err(damaged("a count of the sensitive table is not a whole number from 1")),
            }
        }
        let of_row: Vec<u32> = group.codes.iter().collect();
        let count = group.domain.cardinality();
        let mut rows = vec![0u64; count];
        of_row.iter().for_each(|bucket| rows[*bucket as usize] += 1);
        if let (Sizes::WithRowsWithoutValues, Some(none)) = (sizes, group.domain.missing_code()) {
            of_value.extend((rows[none as usize] > 0).then_some((none, rows[none as usize])));
        }
        let mut values = vec![0u64; count];
        of_value
            .iter()
            .for_each(|(bucket, rows)| values[*bucket as usize] = values[*bucket as usize].saturating_add(*rows));
        let apart = |(rows, values): (&u64, &u64)| {
            if sizes == Sizes::WithCounterfeits { rows > values } else { rows != values }
        };
        if rows.iter().zip(&values).any(apart) {
            return Err(damaged("a group has another number of rows than of sensitive values"));
        }
        let place = |table: &Table, side: bool| {
            let named = table.columns.iter().enumerate();
            named
                .filter(|(_, column)| column.name != GROUP && !(side && column.name == COUNT))
                .map(|(at, _)| (side, at))
                .collect::<Vec<_>>()
        };
        let columns = [place(quasi, false), place(sensitive, true)].concat();
        Ok(Buckets { quasi, sensitive, columns, of_row, of_value, count })
    }
}

/// Rows of one table as far as the query distinguishes them.
struct Profiles {
    /// For each row of the table.
    of_row: Vec<u32>,
    /// For each profile, the kinds of the used columns on its side, by place; others are 0.
    kinds: Vec<Vec<u32>>,
}

impl Profiles {
    fn new(plan: &Plan, buckets: &Buckets<'_>, side: bool) -> Profiles {
        let table = if side { buckets.sensitive } else { buckets.quasi };
        let mut of_row = vec![0u32; table.rows];
        let mut kinds = vec![vec![0u32; plan.used.len()]];
        for (place, used) in plan.used.iter().enumerate() {
            let (there, column) = buckets.columns[used.column];
            if there != side {
                continue;
            }
            let codes: Codes = plan.codes(used, &table.columns[column].codes);
            let mut known: HashMap<(u32, u32), u32> = HashMap::new();
            let mut next: Vec<Vec<u32>> = Vec::new();
            for (profile, kind) in of_row.iter_mut().zip(codes.iter()) {
                *profile = *known.entry((*profile, kind)).or_insert_with(|| {
                    let mut extended = kinds[*profile as usize].clone();
                    extended[place] = kind;
                    next.push(extended);
                    next.len() as u32 - 1
                });
            }
            kinds = next;
        }
        if side && buckets.of_value.len() > table.rows {
            of_row.push(kinds.len() as u32);
            kinds.push(vec![UNKNOWN_VALUE; plan.used.len()]);
        }
        Profiles { of_row, kinds }
    }
}

/// Each bucket's profiles with how many there are of each.
fn gather(count: usize, entries: impl Iterator<Item = (u32, u32, u64)>) -> Vec<Vec<(u32, u64)>> {
    let mut buckets: Vec<Vec<(u32, u64)>> = vec![Vec::new(); count];
    for (bucket, profile, rows) in entries {
        let bucket = &mut buckets[bucket as usize];
        match bucket.iter_mut().find(|(known, _)| *known == profile) {
            Some((_, known)) => *known += rows,
            None => bucket.push((profile, rows)),
        }
    }
    buckets.iter_mut().for_each(|bucket| bucket.sort_unstable());
    buckets
}

struct Sides {
    rows: Profiles,
    values: Profiles,
    rows_in: Vec<Vec<(u32, u64)>>,
    values_in: Vec<Vec<(u32, u64)>>,
}

fn sides(plan: &Plan, buckets: &Buckets<'_>) -> Sides {
    let (rows, values) = (Profiles::new(plan, buckets, false), Profiles::new(plan, buckets, true));
    let row_entries = buckets.of_row.iter().zip(&rows.of_row).map(|(bucket, profile)| (*bucket, *profile, 1));
    let value_entries = buckets.of_value.iter().zip(&values.of_row);
    let value_entries = value_entries.map(|((bucket, count), profile)| (*bucket, *profile, *count));
    let rows_in = gather(buckets.count, row_entries);
    let values_in = gather(buckets.count, value_entries);
    Sides { rows_in, values_in, rows, values }
}

pub(crate) fn groups(plan: &Plan, buckets: &Buckets<'_>) -> Groups {
    let sides = sides(plan, buckets);
    merged(parallel::map_ranges(buckets.count, CHUNK, |numbers| part(plan, buckets, &sides, numbers)))
}

fn part(plan: &Plan, buckets: &Buckets<'_>, sides: &Sides, numbers: Range<usize>) -> Groups {
    let mut groups = Groups::new();
    let mut known: HashMap<(u32, u32), Vec<Contribution>> = HashMap::new();
    let mut buffer = Vec::new();
    for number in numbers {
        let (rows, values) = (&sides.rows_in[number], &sides.values_in[number]);
        let mut pairs: HashMap<Vec<u32>, Vec<(usize, usize)>> = HashMap::new();
        for (r, (row, _)) in rows.iter().enumerate() {
            for (v, (value, _)) in values.iter().enumerate() {
                known
                    .entry((*row, *value))
                    .or_insert_with(|| contributions(plan, buckets, sides, (*row, *value), &mut buffer));
                pairs.entry(group(plan, buckets, sides, (*row, *value))).or_default().push((r, v));
            }
        }
        for (group, pairs) in pairs {
            let tallies = groups.entry(group).or_insert_with(|| vec![Tally::default(); plan.aggregates.len()]);
            for (number, (what, tally)) in plan.aggregates.iter().zip(tallies).enumerate() {
                let mut bucket = Bucket::new(rows, values);
                for &(r, v) in &pairs {
                    bucket.pairs[r * values.len() + v] = Some(known[&(rows[r].0, values[v].0)][number]);
                }
                bucket.add_to(tally, *what);
            }
        }
    }
    groups
}

fn kind(plan: &Plan, buckets: &Buckets<'_>, sides: &Sides, pair: (u32, u32), place: usize) -> u32 {
    let (side, _) = buckets.columns[plan.used[place].column];
    if side { sides.values.kinds[pair.1 as usize][place] } else { sides.rows.kinds[pair.0 as usize][place] }
}

/// The parts of a pair's cell in a column.
fn cell<'p>(plan: &'p Plan, buckets: &Buckets<'_>, sides: &Sides, pair: (u32, u32), column: usize) -> &'p [Portion] {
    let place = plan.place[column].unwrap_or_default();
    match kind(plan, buckets, sides, pair, place) {
        UNKNOWN_VALUE => &plan.used[place].anything,
        kind => &plan.used[place].cells[kind as usize],
    }
}

fn group(plan: &Plan, buckets: &Buckets<'_>, sides: &Sides, pair: (u32, u32)) -> Vec<u32> {
    plan.groups.iter().map(|&place| kind(plan, buckets, sides, pair, place)).collect()
}

fn contributions(
    plan: &Plan,
    buckets: &Buckets<'_>,
    sides: &Sides,
    pair: (u32, u32),
    buffer: &mut Vec<ConditionTruth>,
) -> Vec<Contribution> {
    let cell = |column: usize| cell(plan, buckets, sides, pair, column);
    plan.aggregates.iter().map(|what| Contribution::of(*what, plan, &cell, buffer)).collect()
}

/// One bucket and what each pair of a row and a value would contribute to one aggregate of one
/// group.
struct Bucket<'a> {
    rows: &'a [(u32, u64)],
    values: &'a [(u32, u64)],
    /// The number of values, and the number by which they exceed the rows: these belong to no row.
    size: u64,
    spare: u64,
    pairs: Vec<Option<Contribution>>,
}

impl<'a> Bucket<'a> {
    fn new(rows: &'a [(u32, u64)], values: &'a [(u32, u64)]) -> Bucket<'a> {
        let count = |side: &[(u32, u64)]| side.iter().map(|(_, count)| count).sum::<u64>();
        let (size, people) = (count(values), count(rows));
        Bucket { rows, values, size, spare: size.saturating_sub(people), pairs: vec![None; rows.len() * values.len()] }
    }

    fn add_to(&self, tally: &mut Tally, what: What) {
        for (place, pair) in self.pairs.iter().enumerate() {
            let Some(pair) = pair else { continue };
            let (row, value) = (self.rows[place / self.values.len()], self.values[place % self.values.len()]);
            let weight = row.1 as f64 * value.1 as f64 / self.size as f64;
            tally.count += super::diagram::times(weight, pair.share);
            tally.sum += super::diagram::times(weight, pair.sum);
            tally.square += super::diagram::times(weight, pair.square);
            tally.expect(what, weight, pair);
        }
        let can: Vec<bool> = self.pairs.iter().map(|pair| pair.is_some_and(|pair| pair.can)).collect();
        let must: Vec<bool> = self.pairs.iter().map(|pair| pair.is_some_and(|pair| pair.must)).collect();
        tally.possible += self.most(&can);
        tally.certain += match self.separate(&must) {
            Some((rows, values)) => (rows + values).saturating_sub(self.size),
            None => self.size - self.spare - self.most(&must.iter().map(|must| !must).collect::<Vec<_>>()),
        };
        match what {
            What::Sum(_) => {
                let range = |pair: &Option<Contribution>| pair.map_or((0.0, 0.0), |pair| pair.range());
                tally.high += self.largest(self.pairs.iter().map(|pair| range(pair).1).collect());
                tally.low -= self.largest(self.pairs.iter().map(|pair| -range(pair).0).collect());
                match self.exact_sum() {
                    Some(sum) => tally.exact += sum,
                    None => tally.inexact = true,
                }
            }
            _ if what.is_of_rows() => {
                tally.inexact = true;
                let (rows, values) = (self.rows.len(), self.values.len());
                for (row, (_, count)) in self.rows.iter().enumerate() {
                    tally.choices.extend(self.choice(*count, (0..values).map(|value| row * values + value)));
                }
                for (value, (_, count)) in self.values.iter().enumerate() {
                    let choice = self.choice(*count, (0..rows).map(|row| row * values + value));
                    // A value that may belong to no row need not be counted.
                    let may_be_spare = self.spare > 0;
                    tally.others.extend(choice.map(|choice| Choice { must: choice.must && !may_be_spare, ..choice }));
                }
            }
            _ => {}
        }
    }

    /// The sum over the bucket where every pairing gives the same: each pair counts, with a whole
    /// number that its row alone or its value alone decides.
    fn exact_sum(&self) -> Option<i128> {
        if self.pairs.iter().all(|pair| pair.is_none_or(|pair| !pair.can)) {
            return Some(0);
        }
        let exact = |pair: &Option<Contribution>| pair.filter(|pair| pair.must).and_then(|pair| pair.exact());
        let numbers: Vec<i64> = self.pairs.iter().map(exact).collect::<Option<_>>()?;
        let (rows, values) = (self.rows.len(), self.values.len());
        let total = |counts: &[(u32, u64)], number: &dyn Fn(usize) -> i64| -> i128 {
            counts.iter().enumerate().map(|(at, (_, count))| i128::from(*count) * i128::from(number(at))).sum()
        };
        let by_row = (0..rows)
            .all(|row| numbers[row * values..][..values].iter().all(|number| *number == numbers[row * values]));
        if by_row {
            return Some(total(self.rows, &|row| numbers[row * values]));
        }
        let by_value = numbers.chunks(values).all(|row| *row == numbers[..values]);
        (by_value && self.spare == 0).then(|| total(self.values, &|value| numbers[value]))
    }

    /// The certain outcome of one row, or of one value, whichever it is paired with.
    fn choice(&self, rows: u64, places: impl Iterator<Item = usize>) -> Option<Choice> {
        let mut choice = Choice { rows, must: true, low: f64::INFINITY, high: f64::NEG_INFINITY, whole: None };
        let mut can = false;
        for pair in places.map(|place| self.pairs[place]) {
            choice.must &= pair.is_some_and(|pair| pair.must);
            if let Some(pair) = pair.filter(|pair| pair.can) {
                choice.whole = match can {
                    true => choice.whole.zip(pair.whole).map(|(one, other)| one.or(other)),
                    false => pair.whole,
                };
                (choice.low, choice.high, can) = (choice.low.min(pair.low), choice.high.max(pair.high), true);
            }
        }
        can.then_some(choice)
    }

    /// When every row has the same partners or none: how many such rows there are, and how many
    /// partners.
    fn separate(&self, related: &[bool]) -> Option<(u64, u64)> {
        let width = self.values.len();
        let mut partners: Option<&[bool]> = None;
        let mut rows = 0;
        for (row, related) in self.rows.iter().zip(related.chunks(width)) {
            if related.contains(&true) {
                if *partners.get_or_insert(related) != related {
                    return None;
                }
                rows += row.1;
            }
        }
        let partners = partners.unwrap_or_default().iter().zip(self.values).filter(|(related, _)| **related);
        Some((rows, partners.map(|(_, (_, count))| count).sum()))
    }

    /// The most rows that can have a partner at once.
    fn most(&self, related: &[bool]) -> u64 {
        match self.separate(related) {
            Some((rows, values)) => rows.min(values),
            None => self.largest(related.iter().map(|related| f64::from(u8::from(*related))).collect()) as u64,
        }
    }

    fn largest(&self, weights: Vec<f64>) -> f64 {
        if let Some(&infinite) = weights.iter().find(|weight| weight.is_infinite()) {
            return infinite;
        }
        let mut rows: Vec<u64> = self.rows.iter().map(|(_, count)| *count).collect();
        let values: Vec<u64> = self.values.iter().map(|(_, count)| *count).collect();
        let mut weights = weights;
        if self.spare > 0 {
            // A row that is not counted takes the remaining values.
            rows.push(self.spare);
            weights.resize(rows.len() * values.len(), 0.0);
        }
        transport::largest(&rows, &values, &weights)
    }
}

/// For each row of the quasi table, how the condition stands.
pub(crate) fn outcomes(plan: &Plan, buckets: &Buckets<'_>) -> Vec<ConditionTruth> {
    let sides = sides(plan, buckets);
    let mut known: HashMap<(u32, u32), ConditionTruth> = HashMap::new();
    let mut buffer = Vec::new();
    let mut outcomes = Vec::with_capacity(buckets.of_row.len());
    for (&bucket, &row) in buckets.of_row.iter().zip(&sides.rows.of_row) {
        let values = &sides.values_in[bucket as usize];
        let size: u64 = values.iter().map(|(_, count)| count).sum();
        let mut found = ConditionTruth { share: 0.0, possible: false, certain: true };
        for &(value, count) in values {
            let pair = *known.entry((row, value)).or_insert_with(|| {
                let cell = |column: usize| cell(plan, buckets, &sides, (row, value), column);
                let Contribution { share, must, can, .. } = Contribution::of(What::Count, plan, &cell, &mut buffer);
                ConditionTruth { share, possible: can, certain: must }
            });
            found.share += super::diagram::times(count as f64 / size as f64, pair.share);
            found.possible |= pair.possible;
            found.certain &= pair.certain;
        }
        if found.certain {
            found.share = 1.0;
        }
        outcomes.push(found);
    }
    outcomes
}
