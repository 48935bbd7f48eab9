//! The released rows as equivalence classes, with the source rows that fall into the same cells.
//!
//! Both tables are counted once, as frequency sets with one layout, so that a source row recoded to
//! the release's labels has the very key of the released rows it may have become.

use std::ops::Range;

use hashbrown::HashMap;
use hedgerow_table::frequency::WORDS_MAX;
use hedgerow_table::{Codes, FrequencySet, Layout, LevelChange, TableError, parallel, with_words};

use crate::attribute::{AuditedAttribute, Unchanged};
use crate::rows::OTHER_SOURCE;

/// Distinct rows summed at once; fixed, so that the sum does not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// Classes over all quasi-identifiers, and within each its rows by sensitive values.
#[derive(Debug, Default)]
pub(crate) struct QuasiClasses {
    /// Released rows of each class.
    pub(crate) sizes: Vec<u64>,
    /// Source rows in the cells of each class, where they were counted.
    pub(crate) population: Option<Vec<u64>>,
    /// For each quasi-identifier, the released code of each class.
    pub(crate) labels: Vec<Vec<u32>>,
    /// Where the entries of each class begin, and one more: where the last one ends.
    pub(crate) starts: Vec<usize>,
    /// Released rows of each entry, which is a class with one combination of sensitive values.
    pub(crate) entry_counts: Vec<u32>,
    /// For each sensitive attribute, the code in the source of each entry.
    pub(crate) entry_values: Vec<Vec<u32>>,
}

/// The classes of a full-domain release, and a sum over the distinct rows of the source, which
/// needs the same counts: of `term` applied to how often a row occurs and how often the release
/// lets one expect it.
pub(crate) fn count(
    quasi: &[AuditedAttribute<'_>],
    sensitive: &[Unchanged<'_>],
    rows: [usize; 2],
    term: fn(f64, f64) -> f64,
) -> Result<(QuasiClasses, f64), TableError> {
    let released = quasi.iter().map(|a| a.released).chain(sensitive.iter().map(|a| a.released));
    let source = quasi.iter().map(|a| a.source).chain(sensitive.iter().map(|a| a.source));
    // One more than the labels: values whose label was not released need a code too.
    let cardinalities: Vec<usize> = released
        .zip(source)
        .map(|(released, source)| source.domain.cardinality().max(released.domain.cardinality() + 1))
        .collect();
    let layout = layout(&cardinalities, rows)?;
    with_words!(layout.words(), W => count_wide::<W>(quasi, sensitive, rows, &layout, term))
}

/// The classes of a locally recoded release, from the release alone: no value of the source leads
/// to a single label.
pub(crate) fn count_released(
    quasi: &[AuditedAttribute<'_>],
    sensitive: &[Unchanged<'_>],
    [source_rows, released_rows]: [usize; 2],
) -> Result<QuasiClasses, TableError> {
    for attribute in sensitive {
        let there = attribute.source.counts();
        let released = attribute.released.counts();
        if released.iter().zip(&attribute.source_code).any(|(&rows, &code)| rows > there[code as usize]) {
            return Err(more_than_there());
        }
    }
    let released = quasi.iter().map(|a| a.released).chain(sensitive.iter().map(|a| a.released));
    let (domains, columns): (Vec<usize>, Vec<&Codes>) = released.map(|c| (c.domain.cardinality(), &c.codes)).unzip();
    let layout = layout(&domains, [source_rows, released_rows])?;
    let mut classes = with_words!(layout.words(), W => {
        let released = FrequencySet::<W>::of_rows(&layout, &columns, released_rows);
        arrange(quasi.len(), sensitive, &layout, &released)
    });
    // Without suppression, the people who fit a class's cells are its own rows.
    classes.population = (source_rows == released_rows).then(|| classes.sizes.clone());
    Ok(classes)
}

fn layout(cardinalities: &[usize], rows: [usize; 2]) -> Result<Layout, TableError> {
    if rows.iter().any(|&rows| rows > u32::MAX as usize) {
        let problem = format!("a table has more than {} rows", u32::MAX);
        return Err(TableError::input("data", problem, "measure a part of the table"));
    }
    Layout::new(cardinalities).ok_or_else(|| {
        let problem = format!("the quasi and sensitive attributes need more than {WORDS_MAX} words of 64 bits per row");
        TableError::input("policy", problem, "measure fewer attributes at once")
    })
}

fn more_than_there() -> TableError {
    let problem = "some combination of cells has more rows in the release than in the source";
    TableError::input("data.csv", problem, OTHER_SOURCE)
}

fn count_wide<const W: usize>(
    quasi: &[AuditedAttribute<'_>],
    sensitive: &[Unchanged<'_>],
    [source_rows, released_rows]: [usize; 2],
    layout: &Layout,
    term: fn(f64, f64) -> f64,
) -> Result<(QuasiClasses, f64), TableError> {
    let columns: Vec<&Codes> =
        quasi.iter().map(|a| &a.released.codes).chain(sensitive.iter().map(|a| &a.released.codes)).collect();
    let released = FrequencySet::<W>::of_rows(layout, &columns, released_rows);
    let columns: Vec<&Codes> =
        quasi.iter().map(|a| &a.source.codes).chain(sensitive.iter().map(|a| &a.source.codes)).collect();
    let source = FrequencySet::<W>::of_rows(layout, &columns, source_rows);
    let recoded = quasi.iter().map(recoded).collect::<Result<Vec<&[u32]>, TableError>>()?;
    let maps = recoded.iter().copied().chain(sensitive.iter().map(|a| a.released_code.as_slice()));
    let recoding = LevelChange::<W>::new(layout, maps.enumerate());
    let by_key: HashMap<[u64; W], u32> = released.keys().iter().copied().zip(0..).collect();
    let mut classes = arrange(quasi.len(), sensitive, layout, &released);
    let mask = layout.mask_of::<W>(0..quasi.len());
    let rolled_up = source.roll_up(&recoding);
    let people = rolled_up.classes(&mask);
    classes.population = Some(population(&released, &released.classes(&mask), &by_key, &rolled_up, &people)?);
    let cell_sizes: Vec<Vec<f64>> = quasi.iter().zip(&recoded).map(|(a, recoded)| cell_sizes(a, recoded)).collect();
    let domains = quasi.iter().map(|a| &a.source.domain).chain(sensitive.iter().map(|a| &a.source.domain));
    let estimate = Estimate {
        layout,
        recoding: &recoding,
        entries: &by_key,
        released: released.counts(),
        cell_sizes: &cell_sizes,
        combinations: domains.map(|domain| domain.cardinality() as f64).product(),
        suppressed: (source_rows - released_rows) as u64,
    };
    Ok((classes, estimate.sum(&source, term)))
}

/// The parts of an estimate that do not change from row to row.
struct Estimate<'a, const W: usize> {
    layout: &'a Layout,
    /// From the values of the source to the released labels.
    recoding: &'a LevelChange<W>,
    /// The position of released labels among all, and how many rows have them.
    entries: &'a HashMap<[u64; W], u32>,
    released: &'a [u32],
    /// For each attribute and each code of the source, the number of values in the cell it was
    /// released in.
    cell_sizes: &'a [Vec<f64>],
    /// The number of all combinations of values.
    combinations: f64,
    suppressed: u64,
}

impl<const W: usize> Estimate<'_, W> {
    /// The sum of `term` over the distinct rows of the source. A reader takes the values under a
    /// cell as equally likely, and suppressed rows as spread over all combinations of values.
    fn sum(&self, source: &FrequencySet<W>, term: fn(f64, f64) -> f64) -> f64 {
        let unknown = self.suppressed as f64 / self.combinations;
        let part = |range: Range<usize>| -> f64 {
            let rows = source.keys()[range.clone()].iter().zip(&source.counts()[range]);
            let of_row = |(key, &count): (&[u64; W], &u32)| {
                let entry = self.entries.get(&self.recoding.apply(key));
                let released = entry.map_or(0, |&entry| self.released[entry as usize]);
                let sizes = self.cell_sizes.iter().enumerate();
                let values: f64 = sizes.map(|(a, sizes)| sizes[self.layout.field(a).get(key) as usize]).product();
                term(f64::from(count), f64::from(released) / values + unknown)
            };
            rows.map(of_row).sum()
        };
        parallel::map_ranges(source.len(), CHUNK, part).iter().sum()
    }
}

fn recoded<'a>(attribute: &'a AuditedAttribute<'_>) -> Result<&'a [u32], TableError> {
    let found = attribute.full_domain.as_ref().map(|found| found.recoded.as_slice());
    found.ok_or_else(|| TableError::Internal(format!("`{}` is not on one level of its hierarchy", attribute.name)))
}

/// For each code in the source, how many values share its cell.
fn cell_sizes(attribute: &AuditedAttribute<'_>, recoded: &[u32]) -> Vec<f64> {
    let size = |&label: &u32| attribute.cells.get(label as usize).map_or(1.0, |cell| cell.codes.len() as f64);
    recoded.iter().map(size).collect()
}

fn arrange<const W: usize>(
    quasi: usize,
    sensitive: &[Unchanged<'_>],
    layout: &Layout,
    released: &FrequencySet<W>,
) -> QuasiClasses {
    let mask = layout.mask_of::<W>(0..quasi);
    let grouped = released.classes(&mask);
    let (starts, order) = by_class(&grouped);
    let keys = released.keys();
    let first_of_class: Vec<&[u64; W]> = starts[..grouped.sizes.len()].iter().map(|&s| &keys[order[s]]).collect();
    let label = |attribute: usize| first_of_class.iter().map(|key| layout.field(attribute).get(key)).collect();
    let value = |(index, attribute): (usize, &Unchanged<'_>)| {
        let field = layout.field(quasi + index);
        order.iter().map(|&entry| attribute.source_code[field.get(&keys[entry]) as usize]).collect()
    };
    QuasiClasses {
        sizes: grouped.sizes.iter().map(|&size| u64::from(size)).collect(),
        population: None,
        labels: (0..quasi).map(label).collect(),
        entry_counts: order.iter().map(|&entry| released.counts()[entry]).collect(),
        entry_values: sensitive.iter().enumerate().map(value).collect(),
        starts,
    }
}

/// The source rows in the cells of each class. A row cannot be released more often than it is
/// there.
fn population<const W: usize>(
    released: &FrequencySet<W>,
    grouped: &hedgerow_table::Classes,
    by_key: &HashMap<[u64; W], u32>,
    recoded: &FrequencySet<W>,
    people: &hedgerow_table::Classes,
) -> Result<Vec<u64>, TableError> {
    let mut population = vec![0u64; grouped.sizes.len()];
    let mut found = 0;
    for (position, (key, &there)) in recoded.keys().iter().zip(recoded.counts()).enumerate() {
        let Some(&entry) = by_key.get(key) else { continue };
        if released.counts()[entry as usize] <= there {
            found += 1;
            let class = grouped.of_entry[entry as usize];
            population[class as usize] = u64::from(people.sizes[people.of_entry[position] as usize]);
        }
    }
    if found < released.len() {
        return Err(more_than_there());
    }
    Ok(population)
}

/// Where the entries of each class begin, with the end at the end, and the entries in that order.
fn by_class(grouped: &hedgerow_table::Classes) -> (Vec<usize>, Vec<usize>) {
    let classes = grouped.sizes.len();
    let mut starts = vec![0usize; classes + 1];
    for &class in &grouped.of_entry {
        starts[class as usize + 1] += 1;
    }
    for class in 0..classes {
        starts[class + 1] += starts[class];
    }
    let mut next = starts.clone();
    let mut order = vec![0usize; grouped.of_entry.len()];
    for (entry, &class) in grouped.of_entry.iter().enumerate() {
        order[next[class as usize]] = entry;
        next[class as usize] += 1;
    }
    (starts, order)
}
