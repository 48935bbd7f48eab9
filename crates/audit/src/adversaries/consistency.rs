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
//! others. People whose own row was suppressed are not in the release, and at risk only where the
//! one value left to them is their own ([`Absent`]).

mod absent;
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
use crate::shown::{ShownColumns, of_buckets, of_rows};
use absent::Absent;
use kinds::{Kinds, RowKinds};

/// Comparisons of people with rows before the adversary gives up on the rest.
const COMPARISONS_MAX: u64 = 400_000_000;

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
    let attack = |shown: &ShownColumns<'_>, absent: &Absent, protected: &[Option<&str>]| -> Vec<Finding> {
        let impossible = Impossible::new(&known, &shown.attributes);
        let kinds = Kinds::new(&impossible, &known, &shown.attributes, people.rows);
        let (known, found) = (known.as_slice(), &found);
        let attack = Attack { name, classes, found, absent, known, shown, impossible: &impossible, kinds: &kinds, k };
        protected.iter().map(|protect| attack.run(*protect, people)).collect()
    };
    Ok(match release.tables() {
        ReleaseTables::Generalized(tables) => {
            let shown = of_rows(classes, tables, people);
            let absent = Absent::new(release, classes, &shown, &found, people.rows);
            attack(&shown, &absent, &protected)
        }
        _ => {
            let of_bucket = |protect| attack(&of_buckets(classes, protect, people), &Absent::default(), &[protect]);
            protected.iter().flat_map(|protect| of_bucket(*protect)).collect()
        }
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

struct Attack<'a> {
    name: &'a str,
    classes: &'a ReleasedClasses,
    found: &'a FoundPeople,
    absent: &'a Absent,
    known: &'a [&'a Column],
    shown: &'a ShownColumns<'a>,
    impossible: &'a Impossible,
    kinds: &'a Kinds,
    k: u64,
}

/// People who look alike to the adversary: the same classes, the same known values.
struct AlikePeople {
    place: u32,
    rows: Vec<u32>,
}

/// The conclusions about each person.
struct Conclusions {
    of_person: Vec<u32>,
    /// Whether people are at risk, and the confidence in their likeliest value.
    places: Vec<(bool, f64)>,
}

impl Conclusions {
    fn add(&mut self, people: &[u32], at_risk: bool, confidence: f64) {
        let number = self.places.len() as u32;
        people.iter().for_each(|&person| self.of_person[person as usize] = number);
        self.places.push((at_risk, confidence));
    }
}

impl Attack<'_> {
    fn run(&self, protect: Option<&str>, people: &Table) -> Finding {
        let mut finding = Finding::new(Adversary::Consistency, vec![self.name.to_owned()], protect);
        let place = protect.and_then(|name| self.shown.attributes.iter().position(|column| column.name == name));
        let mut worst = Worst::new();
        let mut conclusions = Conclusions { of_person: vec![0; people.rows], places: Vec::new() };
        let (mut compared, mut excluded_from, mut decided) = (0u64, 0u64, 0u64);
        let by_kind = self.kinds.of_rows(&self.shown.by_bucket, place);
        // Whom the same values exclude from, in the same classes, the same rows fit.
        let mut last_place = None;
        let mut of_kinds: HashMap<u32, FittingRows> = HashMap::new();
        for alike in self.alike(people.rows) {
            let classes = &self.found.places[alike.place as usize];
            if classes.is_empty() || compared > COMPARISONS_MAX {
                if classes.is_empty() {
                    finding.not_in_release(alike.rows.len() as u64);
                }
                conclusions.add(&alike.rows, false, 0.0);
                continue;
            }
            if last_place.replace(alike.place) != Some(alike.place) {
                of_kinds.clear();
            }
            let kind = self.kinds.of_person(alike.rows[0]);
            let fitting = &*of_kinds.entry(kind).or_insert_with(|| {
                let found = self.fitting(classes, kind, &by_kind, place);
                compared += found.compared;
                found
            });
            let known_before = fitting.is_known_before();
            let tells = place.is_some() && fitting.only_value().is_some() && !known_before;
            let (found, absent) = self.divided(alike.rows, fitting, place.filter(|_| tells));
            finding.not_in_release(absent.len() as u64);
            conclusions.add(&absent, false, 0.0);
            let count = found.len() as u64;
            if count == 0 {
                continue;
            }
            let FittingRows { rows, fit, ref values, .. } = *fitting;
            let values_left = values.len() as u64;
            excluded_from += if fit < rows { count } else { 0 };
            finding.people += count;
            finding.effective_k = Some(finding.effective_k.map_or(fit, |least| least.min(fit)));
            decided += if known_before { count } else { 0 };
            if place.is_some() && !known_before {
                finding.leave(values_left, count);
            }
            let at_risk = fit < rows && (fit < self.k || tells);
            finding.at_risk += if at_risk { count } else { 0 };
            let likeliest = values.iter().map(|(_, rows)| *rows).max().unwrap_or(0);
            let confidence = if place.is_some() { likeliest } else { 1 } as f64 / fit.max(1) as f64;
            if !known_before {
                finding.max_confidence = finding.max_confidence.max(confidence);
            }
            let number = conclusions.places.len();
            conclusions.add(&found, at_risk, confidence);
            if fit < rows && (at_risk || !known_before) {
                let exposure = || self.exposure(classes[0], fitting, place, count);
                worst.offer((!at_risk, values_left, fit, number), exposure);
            }
        }
        finding.list_people(&conclusions.of_person, &conclusions.places);
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

    /// People who look alike to the adversary are looked for once.
    fn alike(&self, people: usize) -> Vec<AlikePeople> {
        let mut alike: HashMap<(u32, Vec<u32>), Vec<u32>> = HashMap::new();
        for row in 0..people {
            let values = self.known.iter().map(|column| column.codes.get(row)).collect();
            alike.entry((self.found.of_person[row], values)).or_default().push(row as u32);
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_unstable();
        alike.into_iter().map(|((place, _), rows)| AlikePeople { place, rows }).collect()
    }

    /// Those of whom something is concluded, and those who are not in the release: whom no row
    /// fits, and whose own row is not there. `telling` is the place of the protected attribute,
    /// where one value is left: it is disclosed of those who have it, released or not.
    fn divided(&self, people: Vec<u32>, fitting: &FittingRows, telling: Option<usize>) -> (Vec<u32>, Vec<u32>) {
        let only = fitting.only_value();
        let is_disclosed = |person: u32| {
            telling.is_some_and(|place| only == Some(Some(self.shown.attributes[place].codes.get(person as usize))))
        };
        let is_found = |&person: &u32| fitting.fit > 0 && (!self.absent.is_absent(person) || is_disclosed(person));
        people.into_iter().partition(is_found)
    }

    fn exposure(&self, class: u32, fitting: &FittingRows, place: Option<usize>, people: u64) -> Exposure {
        let FittingRows { rows, fit, .. } = fitting;
        let cells = vec![ReleaseCells::new(self.name, self.classes.describe(class as usize))];
        let text = |code: Option<u32>| match (code, place) {
            (Some(code), Some(place)) => self.shown.attributes[place].domain.text(code),
            _ => String::new(),
        };
        let share = |rows: u64| rows as f64 / (*fit).max(1) as f64;
        let mut values: Vec<(String, f64)> =
            fitting.values.iter().map(|&(code, rows)| (text(code), share(rows))).collect();
        likeliest_first(&mut values);
        let why = format!("{fit} of {rows} rows fit; the others have combinations that do not occur");
        Exposure { cells, values, people, why }
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

impl FittingRows {
    /// The only value among the rows that fit, where others were excluded.
    fn only_value(&self) -> Option<Option<u32>> {
        match self.values.as_slice() {
            [(value, _)] if self.fit < self.rows => Some(*value),
            _ => None,
        }
    }

    /// Whether the combinations alone leave that value.
    fn is_known_before(&self) -> bool {
        self.only_value().is_some() && self.open.is_some_and(|open| open < 2)
    }
}

#[cfg(test)]
mod tests;
