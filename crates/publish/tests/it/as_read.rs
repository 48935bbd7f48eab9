//! A release as a second reader sees it: files parsed as text, labels understood by the
//! codebook alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// By sensitive value, the rows that carry it.
pub(crate) type Weights = BTreeMap<String, f64>;

/// The same in whole rows.
pub(crate) type Counts = BTreeMap<String, u64>;

pub(crate) struct Read {
    pub(crate) path: PathBuf,
    quasi: Vec<String>,
    classes: Vec<Class>,
    /// By bucket, its rows and its values.
    buckets: Vec<(f64, Weights)>,
    /// By attribute and label: low, high and leaf as they are written.
    codebook: BTreeMap<(String, String), Vec<[String; 3]>>,
}

struct Class {
    cells: Vec<Cell>,
    /// People, without counterfeits.
    rows: f64,
    bucket: usize,
}

/// The label of a class for one attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    /// To be understood by the codebook.
    Label(String),
    OneOf(BTreeSet<String>),
    Anything,
}

/// A release of one sensitive attribute, `s`.
pub(crate) fn read(path: &Path) -> Read {
    if path.join("statistics.csv").exists() {
        return read_clones(path);
    }
    read_with(path, &path.join("codebook.csv"))
}

/// The same, with the labels explained elsewhere.
pub(crate) fn read_with(path: &Path, codebook_path: &Path) -> Read {
    let mut codebook: BTreeMap<(String, String), Vec<[String; 3]>> = BTreeMap::new();
    for row in csv(codebook_path).into_iter().skip(1) {
        let [attribute, label, low, high, leaf] = <[String; 5]>::try_from(row).unwrap();
        codebook.entry((attribute, label)).or_default().push([low, high, leaf]);
    }
    let bucketized = path.join("quasi.csv").exists();
    let mut rows = csv(&path.join(if bucketized { "quasi.csv" } else { "data.csv" })).into_iter();
    let header = rows.next().unwrap();
    let last = if bucketized { "group" } else { "s" };
    let place = header.iter().position(|name| name == last).unwrap();
    let quasi: Vec<String> = header.iter().filter(|name| *name != last).cloned().collect();
    let mut classes: BTreeMap<(Vec<String>, String), f64> = BTreeMap::new();
    let mut buckets: BTreeMap<String, (f64, Weights)> = BTreeMap::new();
    for mut row in rows {
        let last = row.remove(place);
        // Every class of a generalized table is a bucket of its own.
        let bucket = if bucketized { last.clone() } else { row.join("|") };
        let known = buckets.entry(bucket.clone()).or_default();
        known.0 += 1.0;
        if !bucketized {
            *known.1.entry(last).or_default() += 1.0;
        }
        *classes.entry((row, bucket)).or_default() += 1.0;
    }
    if bucketized {
        for row in csv(&path.join("sensitive.csv")).into_iter().skip(1) {
            let values = &mut buckets.get_mut(&row[0]).unwrap().1;
            *values.entry(row[1].clone()).or_default() += row[2].parse::<f64>().unwrap();
        }
    }
    let names: Vec<&String> = buckets.keys().collect();
    let number = |bucket: &String| names.iter().position(|name| *name == bucket).unwrap();
    let classes = classes.iter().map(|((cells, bucket), rows)| Class {
        cells: cells.iter().cloned().map(Cell::Label).collect(),
        rows: *rows,
        bucket: number(bucket),
    });
    Read {
        path: path.to_owned(),
        quasi,
        classes: classes.collect(),
        buckets: buckets.into_values().collect(),
        codebook,
    }
}

/// Sub-classes with the statistics of small groups, and the values of the classes that they make
/// up. Classes with the same shares of every value are one bucket.
fn read_clones(path: &Path) -> Read {
    let mut values: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for row in csv(&path.join("sensitive.csv")).into_iter().skip(1) {
        values.entry(row[0].clone()).or_default().insert(row[1].clone(), row[2].parse().unwrap());
    }
    let mut parts: BTreeMap<[String; 2], (f64, BTreeMap<String, Cell>)> = BTreeMap::new();
    for row in csv(&path.join("statistics.csv")).into_iter().skip(1) {
        let [class, part, attribute, statistic, value, count] = <[String; 6]>::try_from(row).unwrap();
        let (people, cells) = parts.entry([class, part]).or_default();
        let count: f64 = count.parse().unwrap();
        match statistic.as_str() {
            "tuples" => *people += count,
            "counterfeits" => *people -= count,
            "mean" | "low" | "high" => drop(cells.insert(attribute, Cell::Anything)),
            _ => match cells.entry(attribute).or_insert_with(|| Cell::OneOf(BTreeSet::new())) {
                Cell::OneOf(values) => drop(values.insert(value)),
                _ => panic!("a category among numbers"),
            },
        }
    }
    let shares = |class: &String| {
        let counts = &values[class];
        let smallest = *counts.values().min().unwrap();
        let common = (1..=smallest).rev().find(|d| counts.values().all(|count| count % d == 0)).unwrap();
        counts.iter().map(|(value, count)| (value.clone(), count / common)).collect::<Vec<_>>()
    };
    let mut buckets: BTreeMap<Vec<(String, u64)>, (f64, Weights)> = BTreeMap::new();
    for (class, counts) in &values {
        let (tuples, weights) = buckets.entry(shares(class)).or_default();
        for (value, &count) in counts {
            *tuples += count as f64;
            *weights.entry(value.clone()).or_default() += count as f64;
        }
    }
    let keys: Vec<&Vec<(String, u64)>> = buckets.keys().collect();
    let mut quasi: Vec<String> = Vec::new();
    let mut classes: BTreeMap<(Vec<Cell>, usize), f64> = BTreeMap::new();
    for ([class, _], (people, cells)) in parts.into_iter().filter(|(_, (people, _))| *people > 0.0) {
        quasi = cells.keys().cloned().collect();
        let bucket = keys.iter().position(|key| **key == shares(&class)).unwrap();
        *classes.entry((cells.into_values().collect(), bucket)).or_default() += people;
    }
    let classes = classes.into_iter().map(|((cells, bucket), rows)| Class { cells, rows, bucket });
    Read {
        path: path.to_owned(),
        quasi,
        classes: classes.collect(),
        buckets: buckets.into_values().collect(),
        codebook: BTreeMap::new(),
    }
}

impl Read {
    /// The values of each bucket.
    pub(crate) fn sets(&self) -> Vec<BTreeSet<String>> {
        self.buckets.iter().map(|(_, values)| values.keys().cloned().collect()).collect()
    }

    /// Each class with its rows and its bucket; and the rows of each value of each bucket.
    pub(crate) fn counts(&self) -> (Vec<(u64, usize)>, Vec<Counts>) {
        let classes = self.classes.iter().map(|class| (class.rows as u64, class.bucket)).collect();
        let whole = |values: &Weights| values.iter().map(|(value, &rows)| (value.clone(), rows as u64)).collect();
        (classes, self.buckets.iter().map(|(_, values)| whole(values)).collect())
    }

    /// Whether it is about exactly this number of people.
    pub(crate) fn is_about(&self, people: usize) -> bool {
        let tuples: f64 = self.buckets.iter().map(|(rows, _)| *rows).sum();
        let rows: f64 = self.classes.iter().map(|class| class.rows).sum();
        tuples == people as f64 && rows == people as f64
    }

    /// The classes that cover a person's values of `a`, `b` and `c`.
    pub(crate) fn classes_of(&self, person: &[String; 4]) -> Vec<usize> {
        self.classes_by(person, &["a", "b", "c"])
    }

    /// The same for who knows only some of them.
    pub(crate) fn classes_by(&self, person: &[String; 4], known: &[&str]) -> Vec<usize> {
        let covers = |class: &Class| {
            self.quasi.iter().zip(&class.cells).filter(|(name, _)| known.contains(&name.as_str())).all(
                |(name, cell)| {
                    let value = &person[["a", "b", "c"].iter().position(|own| own == name).unwrap()];
                    match cell {
                        Cell::Label(label) => self.covers(name, label, value),
                        Cell::OneOf(values) => values.contains(value),
                        Cell::Anything => true,
                    }
                },
            )
        };
        (0..self.classes.len()).filter(|&class| covers(&self.classes[class])).collect()
    }

    fn covers(&self, name: &str, label: &str, value: &str) -> bool {
        let Some(rows) = self.codebook.get(&(name.to_owned(), label.to_owned())) else {
            panic!("{}: no entry for {name} {label}", self.path.display());
        };
        let (blank, several) = (["", "", ""], rows.len() > 1);
        // A blank row, as that of everything: docs/release-format.md says what the label means.
        if label == "not missing" {
            return !value.is_empty();
        }
        if value.is_empty() || label.is_empty() {
            // A blank leaf among several is the missing value; one that is all blank is everything.
            return label == value || rows.iter().any(|row| *row == blank && (several || !label.is_empty()));
        }
        rows.iter().filter(|row| !several || **row != blank).any(|[low, high, leaf]| {
            let number = |text: &String| text.parse::<f64>().ok();
            let Some(value_number) = number(&value.to_owned()) else {
                return leaf == value || (low.is_empty() && high.is_empty() && leaf.is_empty());
            };
            if !leaf.is_empty() {
                return leaf == value;
            }
            let point = low == high && !low.is_empty();
            let above = number(low).is_none_or(|low| low <= value_number);
            let below = number(high).is_none_or(|high| value_number < high || (point && value_number == high));
            above && below
        })
    }

    pub(crate) fn rows(&self, person: &[String; 4]) -> f64 {
        self.classes_of(person).iter().map(|&class| self.classes[class].rows).sum()
    }

    /// How many rows with each value the person could be: a class has its share of its bucket's.
    pub(crate) fn see(&self, person: &[String; 4]) -> Weights {
        let mut seen = Weights::new();
        for class in self.classes_of(person).into_iter().map(|class| &self.classes[class]) {
            let (rows, values) = &self.buckets[class.bucket];
            for (value, count) in values {
                *seen.entry(value.clone()).or_default() += count * class.rows / rows;
            }
        }
        seen
    }

    /// Whether some class depends on an attribute that is not among `known`.
    pub(crate) fn tells_beyond(&self, known: &[&str]) -> bool {
        let is_top = |name: &String, cell: &Cell| match cell {
            Cell::Label(label) => !label.is_empty() && self.codebook[&(name.clone(), label.clone())] == [["", "", ""]],
            Cell::OneOf(_) => false,
            Cell::Anything => true,
        };
        let tells = |class: &Class| {
            let unknown = self.quasi.iter().zip(&class.cells).filter(|(name, _)| !known.contains(&name.as_str()));
            unknown.clone().any(|(name, cell)| !is_top(name, cell))
        };
        self.classes.iter().any(tells)
    }

    /// The values of a place that is one whole bucket.
    pub(crate) fn whole_bucket(&self, place: &[usize]) -> Option<Weights> {
        let [class] = place else { return None };
        let (rows, values) = &self.buckets[self.classes[*class].bucket];
        (self.classes[*class].rows == *rows).then(|| values.clone())
    }
}

/// Cells in quotes may hold commas, quotes and line ends.
fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            _ => cell.push(letter),
        }
    }
    rows
}
