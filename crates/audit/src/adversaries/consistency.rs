//! Consistency: an adversary who knows which combinations of values cannot occur. No man is
//! pregnant, and no child has an income: the rows of a class that such a combination excludes are
//! not the person's, and the class is smaller than it looks.
//!
//! The combinations are counted among the people examined, for each attribute that the adversary
//! knows and each one that is released beside the class ([`Impossible`]).
//!
//! The rows that fit a person are those that no pair excludes. At risk is who has fewer of them
//! than k, or one protected value among them. That value must come from the release: the
//! combinations alone tell of a man that he is not pregnant, whatever is released. Such people are
//! counted as `known_before`, and the confidence and the number of values left are those of the
//! others.

mod kinds;

use std::borrow::Cow;

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_release::{Codebook, Release, ReleaseTables};
use hedgerow_table::{Column, Domain, Kind, Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::adversaries::worlds::written;
use crate::finding::{Exposure, Finding, Needs, ReleaseCells, Worst, likeliest_first};
use crate::impossible::Impossible;
use crate::overlap::overlap;
use crate::people::FoundPeople;
use kinds::{Kinds, RowKinds};

/// Comparisons of people with rows before the adversary gives up on the rest.
const COMPARISONS_MAX: u64 = 400_000_000;

/// The rows of a class: what is released beside it, as the people's codes, and how many there are.
type Entries = Vec<(Vec<Option<u32>>, u64)>;

/// The columns of a table beside its classes.
struct ShownColumns<'a> {
    /// The columns of the people's table that are released too.
    attributes: Vec<&'a Column>,
    by_bucket: Vec<Entries>,
}

pub(crate) fn run(
    name: &str,
    release: &Release,
    classes: &ReleasedClasses,
    people: Option<&Table>,
    k: u64,
) -> Result<Vec<Finding>, TableError> {
    let protected: Vec<Option<&str>> = match classes.sensitive.as_slice() {
        [] => vec![None],
        several => several.iter().map(|sensitive| Some(sensitive.name.as_str())).collect(),
    };
    let Some(people) = people else {
        let mut finding = Finding::new(Adversary::Consistency, vec![name.to_owned()], None);
        finding.note_needs(Needs::People, "which combinations do not occur is counted among the people");
        return Ok(vec![finding]);
    };
    let people = &*as_released(people, release.codebook());
    let found = FoundPeople::new(name, classes, people)?;
    let known: Vec<&Column> = classes.quasi.iter().filter_map(|quasi| people.column(&quasi.name)).collect();
    let attack = |shown: &ShownColumns<'_>, protected: &[Option<&str>]| -> Vec<Finding> {
        let impossible = Impossible::new(&known, &shown.attributes);
        let kinds = Kinds::new(&impossible, &known, &shown.attributes, people.rows);
        let attack =
            Attack { name, classes, found: &found, known: &known, shown, impossible: &impossible, kinds: &kinds, k };
        protected.iter().map(|protect| attack.run(*protect, people)).collect()
    };
    Ok(match release.tables() {
        ReleaseTables::Generalized(tables) => {
            attack(&of_rows(classes, &tables.table, tables.counts.as_deref(), people), &protected)
        }
        _ => protected.iter().flat_map(|protect| attack(&of_buckets(classes, *protect, people), &[*protect])).collect(),
    })
}

/// The people as the release shows them: where it made values coarser, combinations are of the
/// coarser ones. A list that has these already keeps them.
fn as_released<'a>(people: &'a Table, codebook: &Codebook) -> Cow<'a, Table> {
    let mut shown = Cow::Borrowed(people);
    for (at, column) in people.columns.iter().enumerate().filter(|(_, column)| codebook.is_coarse(&column.name)) {
        shown.to_mut().columns[at] = coarser(column, codebook);
    }
    shown
}

fn coarser(column: &Column, codebook: &Codebook) -> Column {
    let mut labels = codebook.labels(&column.name);
    labels.retain(|(label, _)| codebook.is_coarse_value(&column.name, label));
    let missing = column.domain.missing_code();
    let of_code: Vec<Option<String>> = (0..column.domain.cardinality() as u32)
        .map(|code| {
            let text = (Some(code) != missing).then(|| column.domain.text(code))?;
            if codebook.is_coarse_value(&column.name, &text) {
                return Some(text);
            }
            let own = written(&text);
            let label = labels.iter().find(|(_, cover)| overlap(cover, &own));
            Some(label.map_or(text, |(label, _)| (*label).to_owned()))
        })
        .collect();
    let mut texts: Vec<&str> = of_code.iter().flatten().map(String::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    let Ok((domain, codes)) = Domain::from_texts(&texts, missing.is_some(), Some(Kind::Category)) else {
        return column.clone();
    };
    let numbers: HashMap<&str, u32> = texts.into_iter().zip(codes).collect();
    let number = |text: &Option<String>| match text {
        Some(text) => numbers[text.as_str()],
        None => domain.missing_code().unwrap_or_default(),
    };
    let map: Vec<u32> = of_code.iter().map(number).collect();
    let codes = column.codes.mapped(&map, domain.cardinality());
    Column { name: column.name.clone(), domain, codes }
}

/// Rows show every attribute that is not a quasi-identifier.
fn of_rows<'a>(
    classes: &ReleasedClasses,
    table: &Table,
    counts: Option<&[u32]>,
    people: &'a Table,
) -> ShownColumns<'a> {
    let is_quasi = |name: &str| classes.quasi.iter().any(|quasi| quasi.name == name);
    let released = table.columns.iter().filter(|column| !is_quasi(&column.name) && !column.codes.is_empty());
    let both: Vec<(&Column, &Column)> =
        released.filter_map(|column| Some((column, people.column(&column.name)?))).collect();
    let codes: Vec<Vec<Option<u32>>> = both.iter().map(|(column, person)| translated(column, &person.domain)).collect();
    let mut class_of: HashMap<&[u32], usize> = HashMap::new();
    (0..classes.len()).for_each(|class| {
        class_of.insert(classes.cells(class), class);
    });
    let labels: Vec<Vec<u32>> = classes
        .quasi
        .iter()
        .map(|quasi| {
            let numbers: HashMap<&str, u32> = quasi.labels.iter().map(String::as_str).zip(0..).collect();
            let number = |text: String| numbers.get(text.as_str()).copied().unwrap_or(u32::MAX);
            let domain = table.column(&quasi.name).map(|column| &column.domain);
            let codes = 0..domain.map_or(0, Domain::cardinality) as u32;
            codes.filter_map(|code| Some(number(domain?.text(code)))).collect()
        })
        .collect();
    let quasi: Vec<Option<&Column>> = classes.quasi.iter().map(|quasi| table.column(&quasi.name)).collect();
    let mut entries: Vec<HashMap<Vec<Option<u32>>, u64>> = vec![HashMap::new(); classes.buckets()];
    let mut key = vec![0u32; quasi.len()];
    for row in 0..table.rows {
        for ((cell, column), labels) in key.iter_mut().zip(&quasi).zip(&labels) {
            *cell = column.map_or(u32::MAX, |column| labels[column.codes.get(row) as usize]);
        }
        let Some(&class) = class_of.get(key.as_slice()) else { continue };
        let values =
            both.iter().zip(&codes).map(|((column, _), codes)| codes[column.codes.get(row) as usize]).collect();
        let rows = counts.map_or(1, |counts| u64::from(counts[row]));
        *entries[classes.bucket_of[class] as usize].entry(values).or_insert(0) += rows;
    }
    let sorted = |entries: HashMap<Vec<Option<u32>>, u64>| {
        let mut entries: Entries = entries.into_iter().collect();
        entries.sort_unstable();
        entries
    };
    ShownColumns {
        attributes: both.into_iter().map(|(_, person)| person).collect(),
        by_bucket: entries.into_iter().map(sorted).collect(),
    }
}

/// Buckets show how often each value of an attribute occurs in them.
fn of_buckets<'a>(classes: &ReleasedClasses, protect: Option<&str>, people: &'a Table) -> ShownColumns<'a> {
    let sensitive = protect.and_then(|name| classes.sensitive(name));
    let (Some(sensitive), Some(column)) = (sensitive, protect.and_then(|name| people.column(name))) else {
        return ShownColumns { attributes: Vec::new(), by_bucket: vec![Vec::new(); classes.buckets()] };
    };
    let codes: Vec<Option<u32>> = sensitive.values.iter().map(|text| code_of(text, &column.domain)).collect();
    let entries = |bucket: u32| {
        let values = sensitive.of_bucket(bucket).iter();
        values.map(|&(value, rows)| (vec![codes[value as usize]], u64::from(rows))).collect()
    };
    ShownColumns { attributes: vec![column], by_bucket: (0..classes.buckets() as u32).map(entries).collect() }
}

fn translated(released: &Column, domain: &Domain) -> Vec<Option<u32>> {
    (0..released.domain.cardinality() as u32).map(|code| code_of(&released.domain.text(code), domain)).collect()
}

fn code_of(text: &str, domain: &Domain) -> Option<u32> {
    if text.is_empty() { domain.missing_code() } else { domain.code_of(text) }
}

struct Attack<'a> {
    name: &'a str,
    classes: &'a ReleasedClasses,
    found: &'a FoundPeople,
    known: &'a [&'a Column],
    shown: &'a ShownColumns<'a>,
    impossible: &'a Impossible,
    kinds: &'a Kinds,
    k: u64,
}

impl Attack<'_> {
    fn run(&self, protect: Option<&str>, people: &Table) -> Finding {
        let mut finding = Finding::new(Adversary::Consistency, vec![self.name.to_owned()], protect);
        let place = protect.and_then(|name| self.shown.attributes.iter().position(|column| column.name == name));
        // People who look alike to the adversary are looked for once.
        let mut alike: HashMap<(u32, Vec<u32>), (Vec<u32>, u64)> = HashMap::new();
        for row in 0..people.rows {
            let values = self.known.iter().map(|column| column.codes.get(row)).collect();
            let key = (self.found.of_person[row], values);
            let (rows, count) = alike.entry(key).or_insert_with(|| (Vec::new(), 0));
            rows.push(row as u32);
            *count += 1;
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_unstable();
        let mut worst = Worst::new();
        let mut of_person = vec![0u32; people.rows];
        let mut places = Vec::with_capacity(alike.len());
        let (mut compared, mut excluded_from, mut decided) = (0u64, 0u64, 0u64);
        let by_kind = self.kinds.of_rows(&self.shown.by_bucket, place);
        // Whom the same values exclude from, in the same classes, the same rows fit.
        let mut last_place = None;
        let mut of_kinds: HashMap<u32, FittingRows> = HashMap::new();
        for (number, ((place_of, _), (rows, count))) in (0u32..).zip(&alike) {
            rows.iter().for_each(|&row| of_person[row as usize] = number);
            let classes = &self.found.places[*place_of as usize];
            if classes.is_empty() || compared > COMPARISONS_MAX {
                if classes.is_empty() {
                    finding.not_in_release(*count);
                }
                places.push((false, 0.0));
                continue;
            }
            if last_place != Some(*place_of) {
                of_kinds.clear();
                last_place = Some(*place_of);
            }
            let kind = self.kinds.of_person(rows[0]);
            let found = of_kinds.entry(kind).or_insert_with(|| {
                let found = self.fitting(classes, kind, &by_kind, place);
                compared += found.compared;
                found
            });
            let FittingRows { rows, fit, values: left, open, .. } = &*found;
            let (rows, fit, open) = (*rows, *fit, *open);
            excluded_from += if fit < rows { *count } else { 0 };
            finding.people += count;
            let values_left = left.len() as u64;
            finding.effective_k = Some(finding.effective_k.map_or(fit, |least| least.min(fit)));
            let one_value = fit < rows && values_left <= 1;
            let known_before = one_value && open.is_some_and(|open| open < 2);
            decided += if known_before { *count } else { 0 };
            if place.is_some() && !known_before {
                finding.leave(values_left, *count);
            }
            let at_risk = fit < rows && (fit < self.k || (place.is_some() && one_value && !known_before));
            finding.at_risk += if at_risk { *count } else { 0 };
            let confidence = left.iter().map(|(_, rows)| *rows).max().unwrap_or(0) as f64 / fit.max(1) as f64;
            let confidence = if place.is_some() { confidence } else { 1.0 / fit.max(1) as f64 };
            if !known_before {
                finding.max_confidence = finding.max_confidence.max(confidence);
            }
            places.push((at_risk, confidence));
            if fit < rows && (at_risk || !known_before) {
                worst.offer((!at_risk, values_left, fit, number), || {
                    let cells = vec![ReleaseCells::new(self.name, self.classes.describe(classes[0] as usize))];
                    let text = |code: Option<u32>| match (code, place) {
                        (Some(code), Some(place)) => self.shown.attributes[place].domain.text(code),
                        _ => String::new(),
                    };
                    let mut values: Vec<(String, f64)> =
                        left.iter().map(|&(code, rows)| (text(code), rows as f64 / fit.max(1) as f64)).collect();
                    likeliest_first(&mut values);
                    let why = format!("{fit} of {rows} rows fit; the others have combinations that do not occur");
                    Exposure { cells, values, people: *count, why }
                });
            }
        }
        finding.list_people(&of_person, &places);
        finding.worst = worst.into_vec();
        finding.details.insert("combinations".to_owned(), json!(self.impossible.count()));
        finding.details.insert("excluded_from".to_owned(), json!(excluded_from));
        if place.is_some() {
            finding.details.insert("known_before".to_owned(), json!(decided));
        }
        finding.details.insert("k".to_owned(), json!(self.k));
        if compared > COMPARISONS_MAX {
            let examined = finding.people;
            let note = format!("too many rows to compare with every person: only {examined} people were examined");
            finding.note(note);
        }
        if protect.is_some() && place.is_none() {
            finding.note("the people's table lacks the protected attribute, so that its combinations are not known");
        }
        finding
    }

    /// The rows of some classes that fit a kind of person.
    fn fitting(&self, classes: &[u32], kind: u32, rows: &RowKinds, protect: Option<usize>) -> FittingRows {
        let open = protect.map(|place| self.kinds.open_values(kind, place));
        let mut fitting = FittingRows { rows: 0, fit: 0, values: Vec::new(), open, compared: 0 };
        let mut left: HashMap<Option<u32>, u64> = HashMap::new();
        for &class in classes {
            let bucket = self.classes.bucket_of[class as usize] as usize;
            // In a bucket of several classes any of its values may be the person's.
            for (value, rows, fits) in self.kinds.fitting(kind, rows, bucket) {
                fitting.rows += rows;
                fitting.compared += self.shown.attributes.len() as u64;
                if fits {
                    fitting.fit += rows;
                    *left.entry(value).or_insert(0) += rows;
                }
            }
        }
        fitting.values = left.into_iter().collect();
        fitting.values.sort_unstable();
        fitting
    }
}

struct FittingRows {
    rows: u64,
    fit: u64,
    /// The protected values among the rows that fit.
    values: Vec<(Option<u32>, u64)>,
    /// How many protected values are left without a release.
    open: Option<usize>,
    compared: u64,
}

#[cfg(test)]
mod tests;
