//! The belief of who takes the most likely table behind the sub-tables for the true one: of all
//! tables with the published counts the one with the largest entropy, in closed form where the
//! sub-tables form a tree, and fitted where they form rings (`max_likelihood`).
//!
//! For each rule: an attacker who knows the rule's attributes of a person takes the shares of the
//! protected values among all who agree in them. Where the people are given, their combinations are
//! looked at, else those of the sub-table that shows the most of the known attributes. This is
//! belief and not knowledge: no value is ruled out by it.

use hashbrown::{HashMap, HashSet};
use hedgerow_table::Table;
use serde_json::{Value, json};

use super::SubTable;
use crate::max_likelihood::{Fit, MaxLikelihood, NoEstimate, PublishedBuckets, PublishedTable, Selected};

/// The most combinations of known values that are looked at for one rule, spread over all of them.
const COMBINATIONS_MAX: usize = 1 << 11;

/// The most values that are written into the queries of one rule.
const WORK_MAX: usize = 1 << 27;

/// Boxes that are estimated together.
const BATCH: usize = 1 << 9;

/// A rule: the attributes that are known, and the one that must not be learned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) know: Vec<String>,
    pub(crate) protect: String,
}

/// The surest belief about one rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Belief {
    pub(crate) question: Question,
    /// The combinations of known values that were looked at.
    pub(crate) combinations: usize,
    pub(crate) confidence: f64,
    pub(crate) value: String,
    pub(crate) cells: Vec<(String, String)>,
}

impl Belief {
    pub(super) fn to_json(&self) -> Value {
        let Belief { question: Question { know, protect }, combinations, confidence, value, cells } = self;
        let cells: serde_json::Map<String, Value> =
            cells.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        json!({
            "know": know, "protect": protect, "combinations": combinations,
            "confidence": confidence, "value": value, "cells": cells,
        })
    }
}

/// The beliefs about some rules, those about attributes that no table shows omitted; and how the
/// rings among the tables were fitted.
pub(crate) fn beliefs(
    tables: &[SubTable],
    questions: &[Question],
    people: Option<&Table>,
) -> Result<(Vec<Belief>, Vec<Fit>), NoEstimate> {
    let coded = Coded::new(tables);
    let cardinalities: Vec<usize> = coded.texts.iter().map(Vec::len).collect();
    let estimate = MaxLikelihood::new(&cardinalities, &coded.published)?;
    let found = questions.iter().filter_map(|question| believed(&coded, &estimate, tables, question, people));
    Ok((found.collect(), estimate.fits().to_vec()))
}

/// The sub-tables in codes: every attribute and every value has a number.
#[derive(Default)]
struct Coded {
    attributes: HashMap<String, usize>,
    codes: Vec<HashMap<String, u32>>,
    texts: Vec<Vec<String>>,
    published: Vec<PublishedTable>,
}

impl Coded {
    fn new(tables: &[SubTable]) -> Coded {
        let mut coded = Coded::default();
        for table in tables {
            let quasi: Vec<usize> = table.quasi.iter().map(|name| coded.attribute(name)).collect();
            let sensitive = table.sensitive.as_ref().map(|name| coded.attribute(name));
            let mut by_row: Vec<(usize, Vec<u32>)> = quasi.iter().map(|&own| (own, Vec::new())).collect();
            let (mut of_row, mut values, mut of_entry, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (number, bucket) in (0u32..).zip(&table.buckets) {
                let number_of_row = if bucket.values.is_empty() { PublishedBuckets::NO_BUCKET } else { number };
                for (texts, rows) in &bucket.rows {
                    for ((attribute, column), text) in by_row.iter_mut().zip(texts) {
                        let code = coded.code(*attribute, text);
                        column.extend(std::iter::repeat_n(code, *rows as usize));
                    }
                    of_row.extend(std::iter::repeat_n(number_of_row, *rows as usize));
                }
                let Some(sensitive) = sensitive else { continue };
                for (value, count) in &bucket.values {
                    values.push(coded.code(sensitive, value));
                    of_entry.push(number);
                    counts.push(*count as u32);
                }
            }
            let buckets =
                sensitive.map(|own| PublishedBuckets { of_row, sensitive: vec![(own, values)], of_entry, counts });
            coded.published.push(PublishedTable { by_row, buckets });
        }
        coded
    }

    fn attribute(&mut self, name: &str) -> usize {
        if let Some(&known) = self.attributes.get(name) {
            return known;
        }
        self.attributes.insert(name.to_owned(), self.texts.len());
        self.codes.push(HashMap::new());
        self.texts.push(Vec::new());
        self.texts.len() - 1
    }

    fn code(&mut self, attribute: usize, text: &str) -> u32 {
        if let Some(&known) = self.codes[attribute].get(text) {
            return known;
        }
        let code = self.texts[attribute].len() as u32;
        self.codes[attribute].insert(text.to_owned(), code);
        self.texts[attribute].push(text.to_owned());
        code
    }
}

fn believed(
    coded: &Coded,
    estimate: &MaxLikelihood<'_>,
    tables: &[SubTable],
    question: &Question,
    people: Option<&Table>,
) -> Option<Belief> {
    let &protect = coded.attributes.get(&question.protect)?;
    let known = question.know.iter().filter_map(|name| Some((name.as_str(), *coded.attributes.get(name)?)));
    let known: Vec<(&str, usize)> = known.filter(|(_, attribute)| *attribute != protect).collect();
    let (known, combinations) = combinations(coded, tables, known, people)?;
    let size = |attribute: usize| coded.texts[attribute].len();
    if size(protect) == 0 {
        return None;
    }
    let sizes: usize = known.iter().map(|&own| size(own)).sum::<usize>() + size(protect);
    let most = (WORK_MAX / (sizes * size(protect))).clamp(1, COMBINATIONS_MAX);
    let step = combinations.len().div_ceil(most).max(1);
    let examined: Vec<&Vec<u32>> = combinations.iter().step_by(step).collect();
    let only = |attribute: usize, code: u32| -> (usize, Vec<bool>) {
        (attribute, (0..size(attribute) as u32).map(|own| own == code).collect())
    };
    let mut surest: Option<(f64, u32, &Vec<u32>)> = None;
    for batch in examined.chunks((BATCH / size(protect)).max(1)) {
        let boxes: Vec<Selected> = batch
            .iter()
            .flat_map(|combination| {
                let cells: Selected = known.iter().zip(*combination).map(|(&own, &code)| only(own, code)).collect();
                (0..size(protect) as u32).map(move |value| [cells.as_slice(), &[only(protect, value)]].concat())
            })
            .collect();
        let expected = estimate.expected_each(&boxes);
        for (&combination, rows) in batch.iter().zip(expected.chunks(size(protect))) {
            let all: f64 = rows.iter().sum();
            let Some((value, most)) = (0u32..).zip(rows).max_by(|one, other| one.1.total_cmp(other.1)) else {
                continue;
            };
            let share = most / all;
            // A combination that the tables rule out has no rows.
            if all > 0.0 && surest.is_none_or(|(before, ..)| share > before) {
                surest = Some((share, value, combination));
            }
        }
    }
    let (confidence, value, combination) = surest?;
    let name = |attribute: &usize| {
        let found = coded.attributes.iter().find(|(_, own)| *own == attribute);
        found.map_or(String::new(), |(name, _)| name.clone())
    };
    let text = |attribute: usize, code: u32| coded.texts[attribute][code as usize].clone();
    Some(Belief {
        question: question.clone(),
        combinations: examined.len(),
        confidence,
        value: text(protect, value),
        cells: known.iter().zip(combination).map(|(own, &code)| (name(own), text(*own, code))).collect(),
    })
}

/// The combinations of known values that there are people with, ascending, and which attributes
/// these are.
fn combinations(
    coded: &Coded,
    tables: &[SubTable],
    known: Vec<(&str, usize)>,
    people: Option<&Table>,
) -> Option<(Vec<usize>, Vec<Vec<u32>>)> {
    let columns = people.and_then(|people| {
        let columns: Option<Vec<_>> = known.iter().map(|(name, _)| people.column(name)).collect();
        Some((people, columns?))
    });
    if let Some((people, columns)) = columns {
        let code = |row: usize| -> Option<Vec<u32>> {
            let cells = columns.iter().zip(&known);
            cells.map(|(column, (_, own))| coded.codes[*own].get(column.text(row).as_str()).copied()).collect()
        };
        // People with a value that no table shows are in none.
        let distinct: HashSet<Vec<u32>> = (0..people.rows).filter_map(code).collect();
        return Some((known.iter().map(|(_, own)| *own).collect(), ascending(distinct)));
    }
    let shows = |table: &SubTable| known.iter().filter(|(name, _)| table.quasi.iter().any(|own| own == name)).count();
    let most = (0..tables.len()).max_by_key(|&table| (shows(&tables[table]), usize::MAX - table))?;
    let own: Vec<(usize, usize)> = known
        .iter()
        .filter_map(|(name, own)| Some((tables[most].quasi.iter().position(|quasi| quasi == name)?, *own)))
        .collect();
    let rows = tables[most].buckets.iter().flat_map(|bucket| &bucket.rows);
    let code = |(texts, _): &(Vec<String>, u64)| -> Option<Vec<u32>> {
        own.iter().map(|(place, own)| coded.codes[*own].get(&texts[*place]).copied()).collect()
    };
    let distinct: HashSet<Vec<u32>> = rows.filter_map(code).collect();
    Some((own.into_iter().map(|(_, own)| own).collect(), ascending(distinct)))
}

fn ascending(distinct: HashSet<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut distinct: Vec<Vec<u32>> = distinct.into_iter().collect();
    distinct.sort_unstable();
    distinct
}

#[cfg(test)]
mod tests;
