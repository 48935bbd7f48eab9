//! The people who are alone in a release: rows that no other row equals in the quasi-identifiers
//! and in one or two further released values.
//!
//! A guarantee counts the rows that agree on what an attacker is taken to know. An attacker who
//! also knows one more released value of a person, such as an exact amount, finds the row where no
//! other row of its class has it. Where it is known which rows are of one unit, since the release
//! links them or from its source, a unit is alone when no other one has such a row.

use hashbrown::{HashMap, HashSet};
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::{Codes, Column};
use serde::Serialize;

/// Attributes that, known besides the quasi-identifiers, leave people alone in the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SingledOut {
    /// The attributes that are known besides the quasi-identifiers.
    pub attributes: Vec<String>,
    /// Rows that no other row equals; units that have a row which no other unit has.
    pub people: u64,
    /// The things that `people` counts.
    pub counted: CountedAlone,
}

/// The things that those who are alone are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedAlone {
    /// Every row is about another person.
    People,
    /// Rows, though several may be about one unit: which are is not known.
    Rows,
    /// Individuals, households or firms, each with all of its rows.
    Units,
}

impl CountedAlone {
    /// The name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            CountedAlone::People => "people",
            CountedAlone::Rows => "rows",
            CountedAlone::Units => "units",
        }
    }
}

/// Pairs of at most this many attributes are looked at: those that single out the most people.
const PAIRED_MAX: usize = 12;

/// Pairs that are reported.
const PAIRS_MAX: usize = 5;

/// Each sensitive and plain attribute of a table whose rows show them beside their labels, the most
/// telling first; then the pairs that single out more people than each of the two; then all
/// together, where they are more than two.
pub fn singled_out(release: &Release) -> Vec<SingledOut> {
    singled_out_among(release, None)
}

/// The same, where the unit of every released row is known from elsewhere.
pub fn singled_out_among(release: &Release, of_row: Option<&[u32]>) -> Vec<SingledOut> {
    let ReleaseTables::Generalized(tables) = release.tables() else { return Vec::new() };
    let (table, counts) = (&tables.table, tables.counts.as_deref());
    let others: Vec<&Column> = (table.columns.iter())
        .filter(|column| !tables.quasi.contains(&column.name) && !tables.units.contains(&column.name))
        .filter(|column| column.codes.len() == table.rows)
        .collect();
    let linked = tables.units.iter().filter_map(|name| table.column(name));
    let units = linked.fold(None, |units: Option<Vec<u32>>, column| {
        Some(refined(&units.unwrap_or_else(|| vec![0; table.rows]), &column.codes))
    });
    let units = units.or_else(|| of_row.filter(|units| units.len() == table.rows).map(<[u32]>::to_vec));
    let alone = |ids: &[u32]| match &units {
        Some(units) => units_alone(ids, units),
        None => rows_alone(ids, counts),
    };
    let counted = match (&units, release.manifest().is_some_and(|manifest| manifest.hedgerow.units.is_some())) {
        (Some(_), _) => CountedAlone::Units,
        (None, true) => CountedAlone::Rows,
        (None, false) => CountedAlone::People,
    };
    let quasi = table.columns.iter().filter(|column| tables.quasi.contains(&column.name));
    let classes = quasi.fold(vec![0u32; table.rows], |classes, column| refined(&classes, &column.codes));
    let mut singles: Vec<(usize, u64, Vec<u32>)> = Vec::new();
    for (index, column) in others.iter().enumerate() {
        let ids = refined(&classes, &column.codes);
        singles.push((index, alone(&ids), ids));
    }
    singles.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let named = |places: &[usize], people: u64| SingledOut {
        attributes: places.iter().map(|&place| others[place].name.clone()).collect(),
        people,
        counted,
    };
    let mut found: Vec<SingledOut> = singles.iter().map(|(place, people, _)| named(&[*place], *people)).collect();
    let mut pairs: Vec<SingledOut> = Vec::new();
    let paired = &singles[..singles.len().min(PAIRED_MAX)];
    for (first, (place, people, ids)) in paired.iter().enumerate() {
        for (other, other_people, _) in &paired[first + 1..] {
            let both = alone(&refined(ids, &others[*other].codes));
            if both > *people.max(other_people) {
                pairs.push(named(&[*place, *other], both));
            }
        }
    }
    pairs.sort_by(|a, b| b.people.cmp(&a.people).then_with(|| a.attributes.cmp(&b.attributes)));
    pairs.truncate(PAIRS_MAX);
    found.extend(pairs);
    if others.len() > 2 {
        let all = others.iter().fold(classes, |ids, column| refined(&ids, &column.codes));
        found.push(named(&(0..others.len()).collect::<Vec<_>>(), alone(&all)));
    }
    found
}

/// Rows of one class that have different values are in different classes.
fn refined(classes: &[u32], codes: &Codes) -> Vec<u32> {
    let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
    let pairs = classes.iter().copied().zip(codes.iter());
    pairs
        .map(|pair| {
            let next = numbers.len() as u32;
            *numbers.entry(pair).or_insert(next)
        })
        .collect()
}

/// Units with a row in a class that no other unit has rows in.
fn units_alone(classes: &[u32], units: &[u32]) -> u64 {
    let mut owners: HashMap<u32, Option<u32>> = HashMap::new();
    for (&class, &unit) in classes.iter().zip(units) {
        let owner = owners.entry(class).or_insert(Some(unit));
        *owner = owner.filter(|owner| *owner == unit);
    }
    let alone: HashSet<u32> = owners.into_values().flatten().collect();
    alone.len() as u64
}

fn rows_alone(classes: &[u32], counts: Option<&[u32]>) -> u64 {
    let mut sizes = vec![0u64; classes.iter().max().map_or(0, |&last| last as usize + 1)];
    for (row, &class) in classes.iter().enumerate() {
        sizes[class as usize] += counts.map_or(1, |counts| u64::from(counts[row]));
    }
    sizes.iter().filter(|size| **size == 1).count() as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use hedgerow_release::Codebook;
    use hedgerow_table::Table;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    /// A patient with two equal stays is as alone as one with a single stay.
    #[test]
    fn units_with_several_equal_rows_are_alone() {
        let rows = [["30", "7"], ["30", "7"], ["30", "8"], ["30", "8"], ["30", "9"]];
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(&["age", "ward"], &rows);
        let release = Release::of_table("r", table, vec!["age".to_owned()], Vec::new(), Codebook::new()).unwrap();
        assert_eq!((singled_out(&release)[0].people, singled_out(&release)[0].counted), (1, CountedAlone::People));
        // Rows 1 and 2 are of one patient, 3 and 4 of two, 5 of one who also has row 3.
        let among = singled_out_among(&release, Some(&[0, 0, 1, 2, 1]));
        assert_eq!((among[0].people, among[0].counted), (2, CountedAlone::Units));
    }

    /// Against a count of texts by hand.
    #[test]
    fn rows_are_alone_as_counted_by_hand() {
        for seed in seeds(200) {
            let mut rng = StdRng::seed_from_u64(seed);
            let header = ["q", "r", "a", "b", "c"];
            let rows: Vec<Vec<String>> = (0..rng.random_range(1..40))
                .map(|_| [2, 2, 9, 4, 2].iter().map(|&values| rng.random_range(0..values).to_string()).collect())
                .collect();
            let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let table = Table::from_texts(&header, &texts);
            let quasi = vec!["q".to_owned(), "r".to_owned()];
            let release = Release::of_table("r", table, quasi, vec!["a".to_owned()], Codebook::new()).unwrap();
            let found = singled_out(&release);
            assert!(found.len() >= 4, "seed {seed}");
            for SingledOut { attributes, people, .. } in found {
                let place = |name: &String| header.iter().position(|known| known == name).unwrap();
                let mut equal: HashMap<Vec<&str>, u64> = HashMap::new();
                for row in &texts {
                    let key = [0, 1].into_iter().chain(attributes.iter().map(place)).map(|place| row[place]).collect();
                    *equal.entry(key).or_default() += 1;
                }
                let by_hand = equal.values().filter(|rows| **rows == 1).count() as u64;
                assert_eq!(people, by_hand, "seed {seed}: {attributes:?}");
            }
        }
    }
}
