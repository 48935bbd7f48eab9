//! Looking for people in a release: the classes whose cells cover all that is known of each.

use hashbrown::HashMap;
use hedgerow_release::classes::{QuasiLabels, ReleasedClasses};
use hedgerow_release::cover_of_label;
use hedgerow_table::{Codes, Cover, Domain, Table, TableError, Values};

use crate::cell::SourceCell;
use crate::matching::{Fits, matching};
use crate::overlap::overlap;

/// Where the people of a table can be in a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundPeople {
    /// Sets of classes, each once. The empty one is that of people who are not in the release.
    pub(crate) places: Vec<Vec<u32>>,
    /// By row of the people's table, which of `places` it is.
    pub(crate) of_person: Vec<u32>,
}

impl FoundPeople {
    /// Attributes that the people's table lacks are unknown to the adversary.
    pub(crate) fn new(name: &str, classes: &ReleasedClasses, people: &Table) -> Result<FoundPeople, TableError> {
        let quasi = classes.quasi.iter().enumerate();
        let mut known: Vec<_> =
            quasi.filter_map(|(index, quasi)| Some((index, quasi, people.column(&quasi.name)?))).collect();
        if known.is_empty() && !classes.quasi.is_empty() {
            let names: Vec<&str> = classes.quasi.iter().map(|quasi| quasi.name.as_str()).collect();
            let problem = format!("has none of the quasi-identifiers of {name}");
            return Err(TableError::input("the people's table", problem, format!("it needs: {}", names.join(", "))));
        }
        // Attributes whose labels cover every value exclude no row and are skipped; people who
        // agree in all others are looked up once.
        known.retain(|(_, quasi, _)| quasi.covers.iter().any(|cover| *cover != Cover::Everything));
        let fits: Vec<Fits> = known
            .iter()
            .map(|(index, quasi, column)| Fits::new(*index, fitting(quasi, &column.domain).into_iter()))
            .collect();
        let (probes, of_row) =
            distinct(&known.iter().map(|(_, _, column)| &column.codes).collect::<Vec<_>>(), people.rows);
        let found = match fits.is_empty() {
            // Every person can be any row.
            true => vec![(0..classes.len() as u32).collect()],
            false => matching(classes, &fits, &probes, |_, classes| classes.to_vec()),
        };
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut of_probe = Vec::with_capacity(found.len());
        for classes in found {
            let next = numbers.len() as u32;
            of_probe.push(*numbers.entry(classes).or_insert(next));
        }
        let mut places: Vec<(Vec<u32>, u32)> = numbers.into_iter().collect();
        places.sort_unstable_by_key(|&(_, number)| number);
        Ok(FoundPeople {
            places: places.into_iter().map(|(classes, _)| classes).collect(),
            of_person: of_row.into_iter().map(|probe| of_probe[probe as usize]).collect(),
        })
    }

    /// As [`FoundPeople::new`]; where nothing of the table is known of anyone, everyone can be any
    /// row.
    pub(crate) fn anywhere(name: &str, classes: &ReleasedClasses, people: &Table) -> Result<FoundPeople, TableError> {
        if is_known(classes, people) {
            return FoundPeople::new(name, classes, people);
        }
        let places = vec![(0..classes.len() as u32).collect()];
        Ok(FoundPeople { places, of_person: vec![0; people.rows] })
    }

    /// How many people are in each of the places.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0u64; self.places.len()];
        self.of_person.iter().for_each(|&place| counts[place as usize] += 1);
        counts
    }
}

/// Whether anything is known of people that a table describes them by.
pub(crate) fn is_known(classes: &ReleasedClasses, people: &Table) -> bool {
    classes.quasi.is_empty() || classes.quasi.iter().any(|quasi| people.column(&quasi.name).is_some())
}

/// For each label of an attribute, the values that it can stand for, ascending.
pub(crate) fn fitting(quasi: &QuasiLabels, domain: &Domain) -> Vec<Vec<u32>> {
    let mut labels: Vec<Vec<u32>> = quasi.covers.iter().map(|cover| SourceCell::new(cover, domain).codes).collect();
    let Values::Category(values) = domain.values() else { return labels };
    // Texts have no place on an axis, but may be written as one: `02139` below 3000, `30 to 39`
    // within `20 to 59`.
    let on_axis = |cover: &Cover| matches!(cover, Cover::Point(_) | Cover::Interval { .. });
    if quasi.covers.iter().any(on_axis) {
        let read: Vec<Cover> = values.iter().map(|value| cover_of_label(without_leading_zeros(value))).collect();
        for ((codes, label), cover) in labels.iter_mut().zip(&quasi.labels).zip(&quasi.covers) {
            if on_axis(cover) {
                let fits = |code: u32| {
                    let (value, read) = (&values[code as usize], &read[code as usize]);
                    **value == **label || (*read != Cover::Everything && overlap(read, cover))
                };
                *codes = (0..values.len() as u32).filter(|&code| fits(code)).collect();
            }
        }
    }
    labels
}

/// A code such as `02139` as the number that a range of codes counts it as; other texts unchanged.
fn without_leading_zeros(text: &str) -> &str {
    match text.trim_start_matches('0') {
        rest if !text.bytes().all(|byte| byte.is_ascii_digit()) || rest.len() == text.len() => text,
        "" => "0",
        rest => rest,
    }
}

/// The different rows of some columns, column by column, and which of them each row is.
fn distinct(columns: &[&Codes], rows: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut probes: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
    let mut of_row = Vec::with_capacity(rows);
    let mut key = vec![0u32; columns.len()];
    for row in 0..rows {
        key.iter_mut().zip(columns).for_each(|(cell, codes)| *cell = codes.get(row));
        let number = match numbers.get(&key) {
            Some(&number) => number,
            None => {
                let next = numbers.len() as u32;
                numbers.insert(key.clone(), next);
                probes.iter_mut().zip(&key).for_each(|(values, &value)| values.push(value));
                next
            }
        };
        of_row.push(number);
    }
    (probes, of_row)
}

/// At most this many of the people who fit a table have no row in it, by the rows that its manifest
/// says were suppressed: `people` are all who are listed and those who fit, `rows` those released
/// and suppressed.
pub(crate) fn most_absent((all, matched): (u64, u64), (rows, suppressed): (u64, u64)) -> u64 {
    // Where all people are the rows of the source, those who match nothing are the suppressed ones.
    let known = if all >= rows + suppressed { all - matched } else { 0 };
    suppressed.saturating_sub(known).min(matched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_labels_by_what_they_are_written_as() {
        let labels: Vec<String> = ["30 to 39", "20 to 59", "[2000, 3000)", "*", "x"].map(str::to_owned).to_vec();
        let covers = labels.iter().map(|label| cover_of_label(label)).collect();
        let quasi = QuasiLabels { name: "q".to_owned(), labels, covers };
        let (domain, codes) = Domain::from_texts(&["30 to 39", "02139", "x", "y"], false, None).unwrap();
        let fits = fitting(&quasi, &domain);
        let [band, zip, x] = [codes[0], codes[1], codes[2]];
        assert_eq!(fits, [vec![band], vec![band], vec![zip], vec![0, 1, 2, 3], vec![x]]);
    }
}
