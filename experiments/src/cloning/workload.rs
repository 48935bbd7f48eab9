//! The count queries of figures 4 and 5: each selects a share δ of the values of every attribute,
//! as in the paper. There are 10,000 in all, the same number for each publisher; the paper can be
//! read as 10,000 for each.
//!
//! Every class of a cloned release has the same sensitive values, so none can show how these go
//! with the other attributes: *floor* is the error of exact counts of the others times the share of
//! the sensitive values, which no cloned release can beat but by chance.
//!
//! Estimates are those of `hedgerow query`, added up here for speed; the first of each workload are
//! compared with what `query` answers, and where these differ `query` answers all.

use std::path::Path;

use hedgerow_audit::query::answer;
use hedgerow_release::Release;
use hedgerow_release::cloned::{Cloned, OfNumber};
use hedgerow_release::kinds::ReleaseTables;
use hedgerow_table::{Bound, Column, NoProgress, Table};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};

use super::PUBLISHERS;
use super::folder::Folder;
use crate::experiment::{Scale, Trouble, median};
use crate::sample::Sample;

/// The paper's workload.
const QUERIES: usize = 10_000;

/// Queries to each publisher.
pub(super) fn queries(scale: Scale) -> usize {
    scale.of(QUERIES, 150) / PUBLISHERS
}

/// Median relative errors; repetitions are publishers.
pub(super) struct Errors {
    /// Of queries over all attributes.
    pub(super) with: Sample,
    /// Of queries over all but the sensitive one.
    pub(super) without: Sample,
    /// Of exact counts of the others times the share of the sensitive values.
    pub(super) floor: Sample,
}

impl Errors {
    /// Of what each publisher found: with, without, floor.
    pub(super) fn of(found: &[[f64; 3]]) -> Errors {
        let [with, without, floor] =
            [0, 1, 2].map(|place| Sample::of(&found.iter().map(|found| found[place]).collect::<Vec<_>>()));
        Errors { with, without, floor }
    }
}

/// The statistics of a sub-class: of each attribute, in the order of the columns.
struct SubClass {
    people: f64,
    class: usize,
    /// The interval that ages fill.
    ages: (f64, f64),
    /// By attribute after the age: codes of the source with their shares.
    categories: [Vec<(u32, f64)>; 3],
}

/// Rows, a bit for each: many queries are counted, each with about a hundred values.
#[derive(Debug, Clone, PartialEq)]
struct RowSet(Vec<u64>);

impl RowSet {
    fn none(rows: usize) -> RowSet {
        RowSet(vec![0; rows.div_ceil(64)])
    }

    fn add(&mut self, row: usize) {
        self.0[row / 64] |= 1 << (row % 64);
    }

    fn unite(&mut self, other: &RowSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    fn intersect(&mut self, other: &RowSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// By code, the rows that have it.
    fn by_code(column: &Column, rows: usize) -> Vec<RowSet> {
        let mut sets = vec![RowSet::none(rows); column.domain.cardinality()];
        column.codes.iter().enumerate().for_each(|(row, code)| sets[code as usize].add(row));
        sets
    }
}

/// Queries of a workload that are compared with what `query` answers.
const COMPARED: usize = 2;

/// One publisher's release and its source.
pub(super) struct Published {
    release: Release,
    parts: Vec<SubClass>,
    /// By class the codes of the sensitive values with their shares.
    values: Vec<Vec<(u32, f64)>>,
    /// The attributes, the sensitive one last.
    columns: Vec<Column>,
    /// By attribute and code, the rows that have it.
    rows_of: Vec<Vec<RowSet>>,
    rows: usize,
}

impl Published {
    pub(super) fn new(folder: &Folder, source: &Path, sensitive: &str, settings: &str) -> Result<Published, Trouble> {
        let (release, _) = folder.publish(source, sensitive, "", settings)?;
        let table: Table = folder.read(source, sensitive)?;
        let names = ["age", "sex", "education", "birthplace", sensitive];
        let columns = names.iter().filter_map(|name| table.column(name));
        let columns: Vec<Column> = columns.cloned().collect();
        let rows_of = columns.iter().map(|column| RowSet::by_code(column, table.rows)).collect();
        let release = Release::open(&release, &NoProgress)?;
        let ReleaseTables::Cloned(cloned) = release.tables() else { return Err("a cloned release".into()) };
        let (parts, values) = (parts(cloned, &columns)?, values(cloned, &columns[4])?);
        Ok(Published { release, parts, values, columns, rows_of, rows: table.rows })
    }

    /// The median errors of [`Errors`], in its order.
    pub(super) fn errors(&self, share: f64, queries: usize, seed: u64) -> Result<[f64; 3], Trouble> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut errors = [const { Vec::new() }; 3];
        let mut is_answered = false;
        for query in 0..queries {
            let drawn: Vec<Condition> =
                self.columns.iter().map(|column| Condition::draw(column, share, &mut rng)).collect();
            let [others, chosen, whole] = self.counted(&drawn);
            let alike = others * chosen / self.rows as f64;
            let (mut estimated_others, mut estimated) = self.estimated(&drawn);
            if query < COMPARED || is_answered {
                let (others, whole) = (self.answered(&drawn[..4])?, self.answered(&drawn)?);
                is_answered |= !agree(estimated, whole) || !agree(estimated_others, others);
                (estimated_others, estimated) = (others, whole);
            }
            let found = [(estimated, whole), (estimated_others, others), (alike, whole)];
            for (errors, (estimated, counted)) in errors.iter_mut().zip(found) {
                errors.push((estimated - counted).abs() / counted.max(1.0));
            }
        }
        Ok(errors.map(median))
    }

    /// Rows that the quasi attributes select, that the sensitive one selects, and that both do.
    fn counted(&self, drawn: &[Condition]) -> [f64; 3] {
        let selected = drawn.iter().zip(&self.rows_of).map(|(condition, rows_of)| {
            let mut rows = RowSet::none(self.rows);
            let chosen = rows_of.iter().zip(&condition.codes).filter(|(_, is_chosen)| **is_chosen);
            chosen.for_each(|(of_code, _)| rows.unite(of_code));
            rows
        });
        let mut selected: Vec<RowSet> = selected.collect();
        let sensitive = selected.pop().unwrap_or_else(|| RowSet::none(self.rows));
        let together = selected.into_iter().reduce(|mut all, one| {
            all.intersect(&one);
            all
        });
        let mut together = together.unwrap_or_else(|| RowSet::none(self.rows));
        let others = together.count();
        together.intersect(&sensitive);
        [others, sensitive.count(), together.count()].map(|rows| rows as f64)
    }

    /// Rows that the quasi attributes select, and of these the ones that the sensitive one selects,
    /// estimated from the release.
    fn estimated(&self, drawn: &[Condition]) -> (f64, f64) {
        let chosen = |shares: &[(u32, f64)], place: usize| -> f64 {
            shares.iter().filter(|(code, _)| drawn[place].codes[*code as usize]).map(|(_, share)| share).sum()
        };
        let of_class: Vec<f64> = self.values.iter().map(|values| chosen(values, 4)).collect();
        let (mut others, mut whole) = (0.0, 0.0);
        for part in &self.parts {
            let (low, high) = part.ages;
            let (from, to) = drawn[0].between;
            let ages = ((high.min(to + 0.5) - low.max(from - 0.5)) / (high - low)).clamp(0.0, 1.0);
            let shares = part.categories.iter().enumerate().map(|(place, shares)| chosen(shares, place + 1));
            let people = part.people * shares.fold(ages, |all, share| all * share);
            others += people;
            whole += people * of_class[part.class];
        }
        (others, whole)
    }

    fn answered(&self, drawn: &[Condition]) -> Result<f64, Trouble> {
        let conditions: Vec<&str> = drawn.iter().map(|condition| condition.sql.as_str()).collect();
        let sql = format!("SELECT COUNT(*) FROM data WHERE {}", conditions.join(" AND "));
        let found = serde_json::to_value(answer(&self.release, &sql)?)?;
        Ok(found["answer"][0]["COUNT(*)"]["estimate"].as_f64().ok_or("a count is a number")?)
    }
}

fn agree(estimated: f64, answered: f64) -> bool {
    // Answers are rounded for readers.
    (estimated - answered).abs() <= 1e-3 * answered.max(1.0)
}

/// The sub-classes, with codes of the source for categories.
fn parts(cloned: &Cloned, columns: &[Column]) -> Result<Vec<SubClass>, Trouble> {
    let place = |name: &str| cloned.attributes.iter().position(|one| one == name);
    let places: Vec<usize> = columns[..4]
        .iter()
        .map(|column| place(&column.name).ok_or("an attribute of the release"))
        .collect::<Result<_, _>>()?;
    let mut parts = Vec::new();
    for (class, of_class) in cloned.classes.iter().enumerate() {
        for part in &of_class.sub_classes {
            let people = part.people() as f64;
            let ages = part.attributes[places[0]].number.as_ref().and_then(filled);
            let mut categories = [const { Vec::new() }; 3];
            for (shares, (&place, column)) in categories.iter_mut().zip(places[1..].iter().zip(&columns[1..])) {
                for &(text, count) in &part.attributes[place].categories {
                    let code = column.domain.code_of(&cloned.texts[text as usize]).ok_or("a value of the source")?;
                    shares.push((code, count as f64 / people.max(1.0)));
                }
            }
            // Without an age there is nobody but counterfeits.
            parts.extend(ages.map(|ages| SubClass { people, class, ages, categories }));
        }
    }
    Ok(parts)
}

/// As much longer around the mean than the range as there are more ages than it covers.
fn filled(number: &OfNumber) -> Option<(f64, f64)> {
    let real = |bound: &Bound| match bound {
        Bound::Integer(value) => Some(*value as f64),
        Bound::Float(value) => Some(*value),
        _ => None,
    };
    let (mean, low, high) = (real(&number.mean)?, real(&number.low)?, real(&number.high)?);
    let length = ((high - low).max(0.0) + 1.0) * number.count as f64 / number.covered.max(1) as f64;
    Some((mean - length / 2.0, mean + length / 2.0))
}

fn values(cloned: &Cloned, sensitive: &Column) -> Result<Vec<Vec<(u32, f64)>>, Trouble> {
    let mut values = Vec::new();
    for class in &cloned.classes {
        let tuples = class.tuples().max(1) as f64;
        let mut shares = Vec::new();
        for &(code, count) in &class.values {
            let code = sensitive.domain.code_of(&cloned.domain.text(code)).ok_or("a value of the source")?;
            shares.push((code, f64::from(count) / tuples));
        }
        values.push(shares);
    }
    Ok(values)
}

/// The condition of a query on one attribute.
struct Condition {
    codes: Vec<bool>,
    /// The least and the greatest number, for an attribute of numbers.
    between: (f64, f64),
    sql: String,
}

impl Condition {
    fn draw(column: &Column, share: f64, rng: &mut StdRng) -> Condition {
        let values = column.domain.cardinality();
        let some = ((share * values as f64).round() as usize).clamp(1, values);
        let mut codes = vec![false; values];
        if column.domain.number(0).is_some() {
            let first = rng.random_range(0..=values - some);
            codes[first..first + some].fill(true);
            let [low, high] = [first, first + some - 1].map(|code| column.domain.text(code as u32));
            let [from, to] =
                [first, first + some - 1].map(|code| column.domain.number(code as u32).unwrap_or(f64::NAN));
            return Condition { codes, between: (from, to), sql: format!("{} BETWEEN {low} AND {high}", column.name) };
        }
        let chosen = index::sample(rng, values, some).into_vec();
        chosen.iter().for_each(|&code| codes[code] = true);
        let texts: Vec<String> =
            chosen.iter().map(|&code| format!("'{}'", column.domain.text(code as u32).replace('\'', "''"))).collect();
        Condition { codes, between: (f64::NAN, f64::NAN), sql: format!("{} IN ({})", column.name, texts.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloning::folder::CLONE;
    use crate::cloning::{Census, SENSITIVE};

    /// More rows than fit into one word, and every query row by row.
    #[test]
    fn queries_are_counted_as_row_by_row() {
        let (census, folder) = (Census::sized(1500).unwrap(), Folder::new().unwrap());
        let source = census.source(&folder, 0, 1).unwrap();
        let published = Published::new(&folder, &source, SENSITIVE[0], CLONE).unwrap();
        let mut rng = StdRng::seed_from_u64(1);
        let mut selected = 0.0;
        for share in [0.3, 0.5, 0.9].repeat(20) {
            let drawn: Vec<Condition> =
                published.columns.iter().map(|column| Condition::draw(column, share, &mut rng)).collect();
            let mut expected = [0.0; 3];
            for row in 0..published.rows {
                let holds = |place: usize| drawn[place].codes[published.columns[place].codes.get(row) as usize];
                let (others, sensitive) = ((0..4).all(holds), holds(4));
                let held = [others, sensitive, others && sensitive];
                expected.iter_mut().zip(held).for_each(|(sum, held)| *sum += f64::from(u8::from(held)));
            }
            assert_eq!(published.counted(&drawn), expected);
            selected += expected[2];
        }
        assert!(published.rows == 1800 && selected > 1000.0, "{selected}");
    }
}
