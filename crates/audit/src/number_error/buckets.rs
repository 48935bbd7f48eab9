//! Errors of a bucketized release: quasi values are untouched, and which sensitive value belongs to
//! a row is known only up to its bucket.

use hashbrown::HashMap;
use hedgerow_table::{Layout, TableError, with_words};

use super::{Gathered, NumberError, Pairs, by_value, deviation, key, numbers};
use crate::attribute::Unchanged;
use crate::query_error::buckets::Bucketized;

/// For every sensitive attribute that is a number or a date.
pub(crate) fn of_buckets(release: &Bucketized<'_>) -> Result<Vec<NumberError>, TableError> {
    let classes = PeopleGroups::by_all(&release.quasi)?;
    let by_attribute: Vec<PeopleGroups> = release.quasi.iter().map(PeopleGroups::by_one).collect();
    let measured = release.sensitive.iter().filter_map(|attribute| {
        let numbers = numbers(&attribute.source.domain)?;
        let mut gathered = Gathered::new(&numbers);
        for &(row, count) in release.buckets.iter().flat_map(|bucket| &bucket.values) {
            gathered.add(value(attribute, row), count as f64);
        }
        let everyone = gathered.take()?;
        let names = release.quasi.iter().map(|quasi| quasi.source.name.clone());
        Some(NumberError {
            attribute: attribute.source.name.clone(),
            deviation: deviation(&numbers, &attribute.source.counts()),
            by_class: errors(&classes, release, attribute, &numbers, everyone),
            by_value: names
                .zip(by_attribute.iter().map(|people| errors(people, release, attribute, &numbers, everyone)))
                .collect(),
        })
    });
    Ok(measured.collect())
}

/// The code in the source of a row of the sensitive table.
fn value(attribute: &Unchanged<'_>, row: u32) -> u32 {
    attribute.source_code[attribute.released.codes.get(row as usize) as usize]
}

/// People grouped by quasi values: the group of every row, in the source and in the release.
struct PeopleGroups {
    groups: usize,
    of_source: Vec<u32>,
    of_released: Vec<u32>,
}

impl PeopleGroups {
    /// Those with the same value of one attribute.
    fn by_one(quasi: &Unchanged<'_>) -> PeopleGroups {
        let (source, released) = (&quasi.source.codes, &quasi.released.codes);
        PeopleGroups {
            groups: quasi.source.domain.cardinality(),
            of_source: (0..source.len()).map(|row| source.get(row)).collect(),
            of_released: (0..released.len()).map(|row| quasi.source_code[released.get(row) as usize]).collect(),
        }
    }

    /// Those with the same values of all attributes.
    fn by_all(quasi: &[Unchanged<'_>]) -> Result<PeopleGroups, TableError> {
        let cardinalities: Vec<usize> = quasi.iter().map(|quasi| quasi.source.domain.cardinality()).collect();
        let layout = Layout::new(&cardinalities).ok_or_else(|| {
            TableError::input("policy", "too many quasi-identifiers", "measure fewer attributes at once")
        })?;
        Ok(with_words!(layout.words(), W => PeopleGroups::by_key::<W>(quasi, &layout)))
    }

    fn by_key<const W: usize>(quasi: &[Unchanged<'_>], layout: &Layout) -> PeopleGroups {
        let mut numbers: HashMap<[u64; W], u32> = HashMap::new();
        let mut group = |code: &dyn Fn(&Unchanged<'_>) -> u32| {
            let mut key = [0u64; W];
            quasi.iter().enumerate().for_each(|(index, quasi)| layout.field(index).set(&mut key, code(quasi)));
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        };
        let rows = |released: bool| {
            quasi
                .first()
                .map_or(0, |quasi| if released { quasi.released.codes.len() } else { quasi.source.codes.len() })
        };
        let of_source = (0..rows(false)).map(|row| group(&|quasi| quasi.source.codes.get(row))).collect();
        let of_released = (0..rows(true))
            .map(|row| group(&|quasi| quasi.source_code[quasi.released.codes.get(row) as usize]))
            .collect();
        PeopleGroups { groups: numbers.len(), of_source, of_released }
    }
}

fn errors(
    people: &PeopleGroups,
    release: &Bucketized<'_>,
    sensitive: &Unchanged<'_>,
    numbers: &[Option<f64>],
    everyone: [f64; 4],
) -> [f64; 4] {
    let pairs = people.of_source.iter().enumerate().map(|(row, &group)| key(group, sensitive.source.codes.get(row)));
    let truth = Pairs::of_keys(pairs.collect(), people.groups);
    // The released rows of each group, by bucket.
    let mut within: Vec<Vec<(usize, u32)>> = vec![Vec::new(); people.groups];
    for (number, bucket) in release.buckets.iter().enumerate() {
        for &row in &bucket.rows {
            let own = &mut within[people.of_released[row as usize] as usize];
            match own.last_mut() {
                Some((last, rows)) if *last == number => *rows += 1,
                _ => own.push((number, 1)),
            }
        }
    }
    let estimate = |group: usize, gathered: &mut Gathered<'_>| {
        for &(number, rows) in &within[group] {
            let bucket = &release.buckets[number];
            let share = f64::from(rows) / bucket.rows.len() as f64;
            bucket.values.iter().for_each(|&(row, count)| gathered.add(value(sensitive, row), count as f64 * share));
        }
    };
    by_value(numbers, &truth, everyone, |group| group, estimate)
}
