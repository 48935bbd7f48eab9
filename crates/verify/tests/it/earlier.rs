//! Sub-tables of earlier releases that tell the protected attribute, hidden in buckets or beside
//! others, against every world that they allow: a value for each cell of each row, and a value of
//! its bucket for each row.
//!
//! `HEDGEROW_SEED=N` replays the case that a failure names.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Cover, Table};
use hedgerow_verify::earlier::{Earlier, community_of};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

const VALUES: [&str; 4] = ["ache", "cold", "flu", "HIV"];

/// Labels that the attribute may have where it is known, and what each stands for.
const LABELS: [(&str, &[&str]); 6] = [
    ("ache", &["ache"]),
    ("cold", &["cold"]),
    ("flu", &["flu"]),
    ("HIV", &["HIV"]),
    ("light", &["ache", "cold"]),
    ("heavy", &["flu", "HIV"]),
];

/// A row: its age, its label of the attribute where that is known, and its bucket.
type Row = (String, Option<&'static str>, usize);

/// One sub-table as it is published: rows, and where the buckets hide something, the values of
/// each.
#[derive(Debug)]
struct SubTable {
    rows: Vec<Row>,
    /// The hidden attribute is the protected one, or another.
    hides: Option<&'static str>,
    /// By bucket.
    hidden: Vec<Vec<&'static str>>,
}

fn random(rng: &mut StdRng, known: bool) -> SubTable {
    let (count, buckets) = (rng.random_range(1..6usize), rng.random_range(1..3usize).min(2));
    let ages = rng.random_range(1..4);
    let coarse = rng.random_bool(0.5);
    let rows: Vec<Row> = (0..count)
        .map(|row| {
            let labels = if coarse { &LABELS[..] } else { &LABELS[..4] };
            let label = known.then(|| labels.choose(rng).unwrap().0);
            (format!("age {}", rng.random_range(0..ages)), label, row.min(buckets - 1))
        })
        .collect();
    let hides = if known { rng.random_bool(0.5).then_some("race") } else { Some("icd") };
    let mut hidden = vec![Vec::new(); rows.iter().map(|row| row.2).max().unwrap() + 1];
    for (_, _, bucket) in &rows {
        hidden[*bucket].push(*VALUES.choose(rng).unwrap());
    }
    SubTable { rows, hides, hidden }
}

impl SubTable {
    fn released(&self, name: &str) -> ReleasedClasses {
        let known = self.rows[0].1.is_some();
        let header: Vec<&str> = if known { vec!["age", "icd", "group"] } else { vec!["age", "group"] };
        let groups: Vec<String> = self.rows.iter().map(|row| row.2.to_string()).collect();
        let cells: Vec<Vec<&str>> = self
            .rows
            .iter()
            .zip(&groups)
            .map(|((age, label, _), group)| [Some(age.as_str()), *label, Some(group)].into_iter().flatten().collect())
            .collect();
        let table = Table::from_texts(&header, &cells);
        let quasi: Vec<String> = header[..header.len() - 1].iter().map(|name| (*name).to_owned()).collect();
        let cover = |_: &str, label: &str| {
            let leaves = LABELS.iter().find(|(text, _)| *text == label).map_or(vec![label], |(_, of)| of.to_vec());
            Cover::Leaves(leaves.into_iter().map(str::to_owned).collect())
        };
        let Some(hides) = self.hides else {
            return ReleasedClasses::of_generalized(name, &table, &quasi, &[], cover, "t").unwrap();
        };
        let code = |value: &str| VALUES.iter().position(|known| *known == value).unwrap() as u32;
        let counts = self.hidden.iter().enumerate();
        let counts = counts.flat_map(|(bucket, values)| values.iter().map(move |v| (bucket as u32, code(v), 1)));
        let values = VALUES.map(str::to_owned).to_vec();
        let counts = SensitiveCounts::new(hides.to_owned(), values, self.hidden.len(), counts.collect());
        ReleasedClasses::of_bucketized(name, &table, &quasi, vec![counts], cover, "t").unwrap()
    }

    /// The values that an individual in each place (an age and a bucket) can have, over all worlds.
    fn places(&self) -> Vec<BTreeSet<&'static str>> {
        // A world gives every row a value of the protected attribute.
        let mut worlds: Vec<Vec<&'static str>> = vec![Vec::new()];
        for (_, label, bucket) in &self.rows {
            let possible: Vec<&'static str> = match label {
                Some(label) => LABELS.iter().find(|(text, _)| text == label).unwrap().1.to_vec(),
                None => self.hidden[*bucket].clone(),
            };
            worlds = worlds
                .iter()
                .flat_map(|world| possible.iter().map(move |value| [&world[..], &[*value]].concat()))
                .collect();
        }
        if self.rows[0].1.is_none() {
            // The rows of a bucket share out its values, each once.
            let fits = |world: &Vec<&'static str>| {
                self.hidden.iter().enumerate().all(|(bucket, values)| {
                    let of = self.rows.iter().zip(world).filter(|(row, _)| row.2 == bucket);
                    let (mut given, mut values) = (of.map(|(_, value)| *value).collect::<Vec<_>>(), values.clone());
                    given.sort_unstable();
                    values.sort_unstable();
                    given == values
                })
            };
            worlds.retain(fits);
        }
        // A bucket of one combination is a generalized class: it says nothing beyond its cells.
        let combinations: BTreeSet<&Row> = self.rows.iter().collect();
        let hidden_there = self.rows[0].1.is_none();
        let buckets_differ = hidden_there || self.hides.is_some() && combinations.len() > self.hidden.len();
        let mut places: BTreeMap<(&str, usize), BTreeSet<&'static str>> = BTreeMap::new();
        for world in &worlds {
            for ((age, _, bucket), value) in self.rows.iter().zip(world) {
                places.entry((age, if buckets_differ { *bucket } else { 0 })).or_default().insert(value);
            }
        }
        places.into_values().collect()
    }
}

#[test]
fn values_left_by_sub_tables_agree_with_every_world() {
    let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let (mut narrowed, mut single) = (0, 0);
    for seed in only.map_or(0..500, |seed| seed..seed + 1) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut tables = vec![random(&mut rng, false)];
        tables.extend((0..rng.random_range(1..3)).map(|_| random(&mut rng, true)));
        let classes: Vec<ReleasedClasses> =
            tables.iter().enumerate().map(|(number, table)| table.released(&number.to_string())).collect();
        let community = community_of("icd", &[Earlier { name: "six", digest: "", tables: &classes }], &[]).unwrap();
        let mut left: BTreeSet<BTreeSet<&'static str>> = tables[0].places().into_iter().collect();
        let alone = left.iter().map(BTreeSet::len).min().unwrap();
        for (sub_table, release) in tables.iter().zip(&community.releases) {
            let names = |values: &[u32]| values.iter().map(|&v| community.vocabulary[v as usize].clone()).collect();
            let found: BTreeSet<BTreeSet<String>> = release.classes.iter().map(|(values, _)| names(values)).collect();
            let expected: BTreeSet<BTreeSet<String>> = sub_table
                .places()
                .iter()
                .map(|values| values.iter().map(|value| (*value).to_owned()).collect())
                .collect();
            assert_eq!(found, expected, "HEDGEROW_SEED={seed}: {sub_table:?}");
        }
        for sub_table in &tables[1..] {
            let places = sub_table.places();
            left = left.iter().flat_map(|one| places.iter().map(move |other| one & other)).collect();
        }
        let least = left.iter().map(BTreeSet::len).min().unwrap();
        assert_eq!(community.least().unwrap().values.len(), least, "HEDGEROW_SEED={seed}: {tables:?}");
        narrowed += usize::from(least < alone);
        single += usize::from(least == 1);
    }
    assert!(only.is_some() || narrowed > 60 && single > 15, "{narrowed} and {single}");
}
