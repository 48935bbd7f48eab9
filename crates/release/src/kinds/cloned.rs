//! A cloned release in memory: statistics of small groups of people in one table, and in another
//! the sensitive values of the classes that the groups make up (Baig, Li, Liu, Wang: *Cloning for
//! privacy protection in multiple independent data publications*, 2011, section 6).
//!
//! `sensitive.csv` holds `class`, the sensitive attribute under its own name, and `count`.
//! `statistics.csv` is tidy, one row for each number: `class`, `sub-class`, `attribute`,
//! `statistic`, `value`, `count`.
//!
//! | statistic | attribute | value | count |
//! |---|---|---|---|
//! | `tuples` | | | tuples of the sub-class, counterfeits among them |
//! | `counterfeits` | | | counterfeit tuples, which have no quasi values |
//! | `category` | its name | the value | tuples that have it |
//! | `mean` | its name | the mean of its numbers, or the middle day | tuples that have a number |
//! | `low`, `high` | its name | ends of an indicative range around the mean | tuples within it |
//! | `missing` | its name | | tuples without a value |

use std::path::Path;

use hashbrown::HashMap;

use super::bucketized::COUNT;
use crate::classes::ReleasedClasses;
use crate::codebook::Codebook;
use crate::manifest::{Manifest, Resource};
use crate::read::read_released;
use crate::shape::Shape;
use hedgerow_table::{Bound, Column, Domain, Kind, Progress, Table, TableError, Values};

mod classes;
mod numbers;

use numbers::NumberRows;

pub const CLASS: &str = "class";
pub const SUB_CLASS: &str = "sub-class";
pub const STATISTICS: [&str; 6] = [CLASS, SUB_CLASS, "attribute", "statistic", "value", COUNT];

/// A row of `statistics.csv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Tuples,
    Counterfeits,
    Category,
    Mean,
    Low,
    High,
    Missing,
}

impl Statistic {
    pub const ALL: [Statistic; 7] = [
        Statistic::Tuples,
        Statistic::Counterfeits,
        Statistic::Category,
        Statistic::Mean,
        Statistic::Low,
        Statistic::High,
        Statistic::Missing,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Statistic::Tuples => "tuples",
            Statistic::Counterfeits => "counterfeits",
            Statistic::Category => "category",
            Statistic::Mean => "mean",
            Statistic::Low => "low",
            Statistic::High => "high",
            Statistic::Missing => "missing",
        }
    }
}

/// The statistics of one attribute in a sub-class.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OfAttribute {
    /// Values, by their position in [`Cloned::texts`], with how many tuples have each.
    pub categories: Vec<(u32, u64)>,
    pub number: Option<OfNumber>,
    pub missing: u64,
}

/// A mean of `count` numbers, and a range around it that `covered` of them lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfNumber {
    pub mean: Bound,
    pub count: u64,
    pub low: Bound,
    pub high: Bound,
    pub covered: u64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SubClass {
    pub number: i64,
    /// Counterfeits among them.
    pub tuples: u64,
    pub counterfeits: u64,
    /// In the order of [`Cloned::attributes`].
    pub attributes: Vec<OfAttribute>,
}

impl SubClass {
    /// Tuples of real people, without counterfeits.
    pub fn people(&self) -> u64 {
        self.tuples.saturating_sub(self.counterfeits)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CloneClass {
    pub number: i64,
    /// Sensitive codes with how often each occurs, ascending by code.
    pub values: Vec<(u32, u32)>,
    pub sub_classes: Vec<SubClass>,
}

impl CloneClass {
    /// Tuples by the sensitive values, counterfeits among them.
    pub fn tuples(&self) -> u64 {
        self.values.iter().map(|&(_, count)| u64::from(count)).sum()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cloned {
    /// The name of the sensitive attribute.
    pub sensitive: String,
    pub domain: Domain,
    /// `sensitive.csv` as it stands.
    pub counted: Table,
    /// The quasi attributes that have statistics, in the order of their names.
    pub attributes: Vec<String>,
    /// All that stands in the column `value` of the statistics.
    pub texts: Vec<String>,
    /// In the order of their numbers.
    pub classes: Vec<CloneClass>,
}

impl Cloned {
    /// Reads the tables of a cloned release and refuses them where they contradict one another.
    pub fn read(directory: &Path, manifest: &Manifest, progress: &dyn Progress) -> Result<Cloned, TableError> {
        let place = directory.display().to_string();
        let Shape::Cloned { statistics, sensitive } = Shape::of_release(directory, manifest)? else {
            let problem = "this release has no tables `statistics` and `sensitive`";
            return Err(TableError::input(place, problem, "name a cloned release"));
        };
        let (read, contradictions) = Cloned::examine(directory, statistics, sensitive, progress)?;
        match contradictions.into_iter().next() {
            None => Ok(read),
            Some(problem) => {
                let hint = "the tables do not belong together; a check reports everything that is wrong";
                Err(TableError::input(place, problem, hint))
            }
        }
    }

    /// Reads both tables as they stand, and says where they contradict one another. What cannot be
    /// read at all is refused.
    pub fn examine(
        directory: &Path,
        statistics: &Resource,
        sensitive: &Resource,
        progress: &dyn Progress,
    ) -> Result<(Cloned, Vec<String>), TableError> {
        let name = sensitive_attribute(directory, statistics, sensitive)?;
        let counted = read_released(directory, sensitive, progress)?;
        let table = read_released(directory, statistics, progress)?;
        let mut contradictions = Contradictions::default();
        let mut classes = values_of_classes(&counted, &name, &mut contradictions);
        let [_, _, attribute, _, value, _] = columns(&table);
        let present =
            |column: &Column| (0..column.domain.present() as u32).map(|code| column.domain.text(code)).collect();
        let (attributes, texts): (Vec<String>, Vec<String>) = (present(attribute), present(value));
        read_statistics(&table, &mut classes, &texts, attributes.len(), &mut contradictions);
        let domain = counted.column(&name).expect("the header was compared with the manifest").domain.clone();
        let mut classes: Vec<CloneClass> = classes.into_values().collect();
        classes.sort_unstable_by_key(|class| class.number);
        let mut read = Cloned { sensitive: name, domain, counted, attributes, texts, classes };
        read.hold_together(&mut contradictions);
        Ok((read, contradictions.listed()))
    }

    /// How many tuples carry each sensitive value.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0u64; self.domain.cardinality()];
        for &(code, count) in self.classes.iter().flat_map(|class| &class.values) {
            counts[code as usize] += u64::from(count);
        }
        counts
    }

    pub fn sub_classes(&self) -> impl Iterator<Item = &SubClass> + Clone {
        self.classes.iter().flat_map(|class| &class.sub_classes)
    }

    /// Rows of the source that were released.
    pub fn people(&self) -> u64 {
        self.sub_classes().map(SubClass::people).sum()
    }

    fn hold_together(&mut self, contradictions: &mut Contradictions) {
        for attribute in 0..self.attributes.len() {
            let mut kinds = self.sub_classes().filter_map(|part| part.attributes[attribute].kind());
            let first = kinds.next();
            if kinds.any(|kind| Some(kind) != first) {
                contradictions.note("an attribute has texts, numbers and dates in different sub-classes");
            }
        }
        for class in &mut self.classes {
            class.values.sort_unstable();
            if class.values.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                contradictions.note("a class counts a sensitive value twice");
            }
            let tuples = class.sub_classes.iter().fold(0u64, |sum, part| sum.saturating_add(part.tuples));
            if class.tuples() != tuples || class.sub_classes.is_empty() {
                contradictions.note("the sub-classes of a class have other tuples than its sensitive values count");
            }
            for part in &class.sub_classes {
                if part.tuples == 0 || part.counterfeits > part.tuples {
                    contradictions.note("a sub-class has no tuples, or fewer than counterfeits");
                }
                for attribute in &part.attributes {
                    let numbers = attribute.number.map_or(0, |number| number.count);
                    let counts = attribute.categories.iter().map(|&(_, count)| count);
                    let described = counts.chain([numbers, attribute.missing]).fold(0u64, u64::saturating_add);
                    if described != part.people() {
                        contradictions
                            .note("the statistics of a sub-class describe another number of tuples than it has");
                    }
                    if attribute.number.is_some_and(|number| !(number.low <= number.mean && number.mean <= number.high))
                    {
                        contradictions.note("a mean lies outside of its indicative range");
                    }
                    if attribute.number.is_some_and(|number| number.covered > number.count) {
                        contradictions.note("an indicative range covers more tuples than there are");
                    }
                    if attribute.number.is_some_and(|number| !number.is_around_its_mean()) {
                        contradictions
                            .note("an indicative range does not extend equally far to both sides of its mean");
                    }
                    if attribute.number.is_some_and(|number| !number.has_a_possible_mean()) {
                        contradictions.note("a mean is not one of as many whole numbers");
                    }
                }
            }
        }
    }
}

impl super::ReleasedKind for Cloned {
    fn rows(&self) -> u64 {
        self.people()
    }

    fn domain(&self, attribute: &str) -> Option<&Domain> {
        (attribute == self.sensitive).then_some(&self.domain)
    }

    /// Only categories have labels: a mean and a range are explained by themselves.
    fn labels(&self) -> Vec<(&str, Vec<String>)> {
        let mut seen = vec![vec![false; self.texts.len()]; self.attributes.len()];
        for part in self.sub_classes() {
            for (attribute, seen) in part.attributes.iter().zip(&mut seen) {
                attribute.categories.iter().for_each(|&(text, _)| seen[text as usize] = true);
            }
        }
        let labels = |seen: Vec<bool>| {
            self.texts.iter().zip(seen).filter(|(_, seen)| *seen).map(|(text, _)| text.clone()).collect()
        };
        self.attributes.iter().map(String::as_str).zip(seen.into_iter().map(labels)).collect()
    }

    fn classes(&self, _: &Codebook, _: &str) -> Result<Vec<ReleasedClasses>, TableError> {
        Ok(vec![ReleasedClasses::of_cloned("statistics", self)])
    }
}

/// Checks the columns; the sensitive attribute is the one between class and count.
fn sensitive_attribute(directory: &Path, statistics: &Resource, sensitive: &Resource) -> Result<String, TableError> {
    let refuse = |resource: &Resource, expected: String| {
        let place = directory.join(&resource.path).display().to_string();
        let names: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
        TableError::input(place, format!("the manifest says the columns {}", names.join(", ")), expected)
    };
    let fields = &statistics.schema.fields;
    let expected = |(field, name): (&crate::manifest::FieldDescriptor, &str)| {
        field.name == name && field.table_kind() == Some(kind_of(name))
    };
    if fields.len() != STATISTICS.len() || !fields.iter().zip(STATISTICS).all(expected) {
        return Err(refuse(statistics, format!("expected {}", STATISTICS.join(", "))));
    }
    let integer = |field: &crate::manifest::FieldDescriptor, name: &str| {
        field.name == name && field.table_kind() == Some(Kind::Integer)
    };
    match sensitive.schema.fields.as_slice() {
        [class, value, count] if integer(class, CLASS) && integer(count, COUNT) => Ok(value.name.clone()),
        _ => Err(refuse(sensitive, format!("expected {CLASS}, the sensitive attribute, {COUNT}"))),
    }
}

/// Each kind of contradiction is listed once, with how often it was met.
#[derive(Debug, Default)]
struct Contradictions(Vec<(&'static str, u64)>);

impl Contradictions {
    fn note(&mut self, problem: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, times)) => *times += 1,
            None => self.0.push((problem, 1)),
        }
    }

    fn listed(self) -> Vec<String> {
        let listed = |(problem, times): (&str, u64)| {
            if times == 1 { problem.to_owned() } else { format!("{problem} ({times} times)") }
        };
        self.0.into_iter().map(listed).collect()
    }
}

type ClassesById = HashMap<i64, CloneClass>;

/// The integer in a cell, when it is one.
fn integer(column: &Column, row: usize) -> Option<i64> {
    match column.domain.values() {
        Values::Integer(values) => values.get(column.codes.get(row) as usize).copied(),
        _ => None,
    }
}

fn values_of_classes(counted: &Table, value: &str, contradictions: &mut Contradictions) -> ClassesById {
    let column = |name: &str| counted.column(name).expect("the header was compared with the manifest");
    let (class, value, count) = (column(CLASS), column(value), column(COUNT));
    let mut classes = ClassesById::new();
    for row in 0..counted.rows {
        let there = integer(count, row).and_then(|count| u32::try_from(count).ok()).filter(|&count| count > 0);
        let (Some(number), Some(there)) = (integer(class, row), there) else {
            contradictions.note("a row of the sensitive values has no class, or no count of at least 1");
            continue;
        };
        let class = classes.entry(number).or_insert_with(|| CloneClass { number, ..CloneClass::default() });
        class.values.push((value.codes.get(row), there));
    }
    classes
}

fn columns(table: &Table) -> [&Column; 6] {
    STATISTICS.map(|name| table.column(name).expect("the header was compared with the manifest"))
}

/// Enters what every row states.
fn read_statistics(
    table: &Table,
    classes: &mut ClassesById,
    texts: &[String],
    attributes: usize,
    contradictions: &mut Contradictions,
) {
    let [class, sub_class, attribute, statistic, value, count] = columns(table);
    let kinds: Vec<Option<Statistic>> = (0..statistic.domain.cardinality() as u32)
        .map(|code| Statistic::ALL.into_iter().find(|known| known.name() == statistic.domain.text(code)))
        .collect();
    let bounds: Vec<Option<Bound>> = texts.iter().map(|text| Bound::parse(text)).collect();
    let mut places: HashMap<i64, (i64, usize)> = HashMap::new();
    let mut numbers: HashMap<(i64, usize), NumberRows> = HashMap::new();
    for row in 0..table.rows {
        let amount = integer(count, row).and_then(|count| u32::try_from(count).ok()).map(u64::from);
        let (Some(number), Some(part), Some(kind), Some(amount)) =
            (integer(class, row), integer(sub_class, row), kinds[statistic.codes.get(row) as usize], amount)
        else {
            contradictions.note("a row of the statistics cannot be read");
            continue;
        };
        let home = classes.entry(number).or_insert_with(|| CloneClass { number, ..CloneClass::default() });
        let (owner, index) = *places.entry(part).or_insert_with(|| {
            let attributes = vec![OfAttribute::default(); attributes];
            home.sub_classes.push(SubClass { number: part, attributes, ..SubClass::default() });
            (number, home.sub_classes.len() - 1)
        });
        if owner != number {
            contradictions.note("a sub-class is in two classes");
            continue;
        }
        let (number, part) = (part, &mut home.sub_classes[index]);
        let name = Some(attribute.codes.get(row) as usize).filter(|&name| name < attributes);
        let text = Some(value.codes.get(row)).filter(|&text| (text as usize) < texts.len());
        let bound = text.and_then(|text| bounds[text as usize]);
        let entered = match (kind, name) {
            (Statistic::Mean | Statistic::Low | Statistic::High, Some(name)) => {
                bound.and_then(|bound| numbers.entry((number, name)).or_default().enter(kind, (bound, amount)))
            }
            _ => enter(part, kind, name, text, amount),
        };
        if entered.is_none() {
            contradictions.note("a row of the statistics states nothing that can be read, or something twice");
        }
    }
    for ((part, attribute), rows) in numbers {
        let Some(&(class, index)) = places.get(&part) else { continue };
        let Some(class) = classes.get_mut(&class) else { continue };
        match rows.number() {
            Some(number) => class.sub_classes[index].attributes[attribute].number = Some(number),
            None => contradictions.note("a mean, or an end of its indicative range, is absent or covers other tuples"),
        }
    }
}

/// `None` for a row that makes no sense.
fn enter(part: &mut SubClass, kind: Statistic, name: Option<usize>, text: Option<u32>, amount: u64) -> Option<()> {
    let once = |into: &mut u64| (*into == 0).then(|| *into = amount);
    match (kind, name) {
        (Statistic::Tuples, None) if text.is_none() => return once(&mut part.tuples),
        (Statistic::Counterfeits, None) if text.is_none() => return once(&mut part.counterfeits),
        (Statistic::Tuples | Statistic::Counterfeits, _) | (_, None) => return None,
        _ => {}
    }
    let attribute = &mut part.attributes[name?];
    match kind {
        Statistic::Category => {
            let text = text?;
            if attribute.categories.iter().any(|&(known, _)| known == text) {
                return None;
            }
            attribute.categories.push((text, amount));
        }
        Statistic::Missing if text.is_none() => return once(&mut attribute.missing),
        _ => return None,
    }
    Some(())
}

/// The kind of each column of `statistics.csv`.
pub fn kind_of(column: &str) -> Kind {
    if [CLASS, SUB_CLASS, COUNT].contains(&column) { Kind::Integer } else { Kind::Category }
}
