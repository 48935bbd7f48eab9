//! The released rows as classes, beside the source rows that fall into the same cells.
//!
//! Both tables are counted once, as frequency sets with one layout, so that a source row recoded to the release's labels
//! has the very key of the released rows it may have become.

use hashbrown::HashMap;
use hedgerow_table::frequency::WORDS_MAX;
use hedgerow_table::{Codes, FrequencySet, Layout, Recoding, TableError, with_words};

use crate::attribute::{Attribute, Unchanged};
use crate::loss::kl;

/// Classes over all quasi attributes, and within each its rows by sensitive values.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// Released rows of each class.
    pub(crate) sizes: Vec<u64>,
    /// Source rows in the cells of each class, where they were counted.
    pub(crate) population: Option<Vec<u64>>,
    /// For each quasi attribute, the released code of each class.
    pub(crate) labels: Vec<Vec<u32>>,
    /// Where the entries of each class begin, and one more: where the last one ends.
    pub(crate) starts: Vec<usize>,
    /// Released rows of each entry, which is a class with one combination of sensitive values.
    pub(crate) entry_counts: Vec<u32>,
    /// For each sensitive attribute, the code in the source of each entry.
    pub(crate) entry_values: Vec<Vec<u32>>,
}

/// The classes of a full-domain release, and the Kullback–Leibler divergence, which needs the same counts.
pub(crate) fn count(
    quasi: &[Attribute<'_>],
    sensitive: &[Unchanged<'_>],
    rows: [usize; 2],
) -> Result<(Classes, f64), TableError> {
    let released = quasi.iter().map(|a| a.released).chain(sensitive.iter().map(|a| a.released));
    let source = quasi.iter().map(|a| a.source).chain(sensitive.iter().map(|a| a.source));
    // One more than the labels: values whose label was not released need a code too.
    let cardinalities: Vec<usize> = released
        .zip(source)
        .map(|(released, source)| source.domain.cardinality().max(released.domain.cardinality() + 1))
        .collect();
    let layout = layout(&cardinalities, rows)?;
    with_words!(layout.words(), W => count_wide::<W>(quasi, sensitive, rows, &layout))
}

/// The classes of a locally recoded release, from the release alone: no value of the source leads to a single label.
pub(crate) fn count_released(
    quasi: &[Attribute<'_>],
    sensitive: &[Unchanged<'_>],
    [source_rows, released_rows]: [usize; 2],
) -> Result<Classes, TableError> {
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
    // Nobody was left out: the people in a class's cells that the attacker may mean are its own rows.
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
    let hint = "measure a release with the policy and the data that it was published from";
    TableError::input("data.csv", problem, hint)
}

fn count_wide<const W: usize>(
    quasi: &[Attribute<'_>],
    sensitive: &[Unchanged<'_>],
    [source_rows, released_rows]: [usize; 2],
    layout: &Layout,
) -> Result<(Classes, f64), TableError> {
    let columns: Vec<&Codes> =
        quasi.iter().map(|a| &a.released.codes).chain(sensitive.iter().map(|a| &a.released.codes)).collect();
    let released = FrequencySet::<W>::of_rows(layout, &columns, released_rows);
    let columns: Vec<&Codes> =
        quasi.iter().map(|a| &a.source.codes).chain(sensitive.iter().map(|a| &a.source.codes)).collect();
    let source = FrequencySet::<W>::of_rows(layout, &columns, source_rows);
    let recoded = quasi.iter().map(recoded).collect::<Result<Vec<&[u32]>, TableError>>()?;
    let maps = recoded.iter().copied().chain(sensitive.iter().map(|a| a.released_code.as_slice()));
    let recoding = Recoding::<W>::new(layout, maps.enumerate());
    let by_key: HashMap<[u64; W], u32> = released.keys().iter().copied().zip(0..).collect();
    let mut classes = arrange(quasi.len(), sensitive, layout, &released);
    let mask = layout.mask_of::<W>(0..quasi.len());
    let rolled_up = source.roll_up(&recoding);
    let people = rolled_up.classes(&mask);
    classes.population = Some(population(&released, &released.classes(&mask), &by_key, &rolled_up, &people)?);
    let cell_sizes: Vec<Vec<f64>> = quasi.iter().zip(&recoded).map(|(a, recoded)| cell_sizes(a, recoded)).collect();
    let domains = quasi.iter().map(|a| &a.source.domain).chain(sensitive.iter().map(|a| &a.source.domain));
    let estimate = kl::Estimate {
        layout,
        recoding: &recoding,
        entries: &by_key,
        released: released.counts(),
        cell_sizes: &cell_sizes,
        combinations: domains.map(|domain| domain.cardinality() as f64).product(),
        suppressed: (source_rows - released_rows) as u64,
    };
    let kl = kl::of_rows(&source, &estimate);
    Ok((classes, kl))
}

fn recoded<'a>(attribute: &'a Attribute<'_>) -> Result<&'a [u32], TableError> {
    let found = attribute.full_domain.as_ref().map(|found| found.recoded.as_slice());
    found.ok_or_else(|| TableError::Internal(format!("`{}` was not recoded as a whole", attribute.name)))
}

/// For each code in the source, how many values share its cell.
fn cell_sizes(attribute: &Attribute<'_>, recoded: &[u32]) -> Vec<f64> {
    let size = |&label: &u32| attribute.cells.get(label as usize).map_or(1.0, |cell| cell.codes.len() as f64);
    recoded.iter().map(size).collect()
}

fn arrange<const W: usize>(
    quasi: usize,
    sensitive: &[Unchanged<'_>],
    layout: &Layout,
    released: &FrequencySet<W>,
) -> Classes {
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
    Classes {
        sizes: grouped.sizes.iter().map(|&size| u64::from(size)).collect(),
        population: None,
        labels: (0..quasi).map(label).collect(),
        entry_counts: order.iter().map(|&entry| released.counts()[entry]).collect(),
        entry_values: sensitive.iter().enumerate().map(value).collect(),
        starts,
    }
}

/// The source rows in the cells of each class. A row cannot be released more often than it is there.
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
