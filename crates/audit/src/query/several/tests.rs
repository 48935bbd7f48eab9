//! Bounds against every table that could be behind some published ones.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

const ROWS: usize = 4;

/// All tables of four rows over three attributes of two values; the order of rows does not count.
fn tables() -> Vec<[u32; ROWS]> {
    let mut all = Vec::new();
    for code in 0..8u32.pow(ROWS as u32) {
        let rows = [code % 8, code / 8 % 8, code / 64 % 8, code / 512];
        if rows.is_sorted() {
            all.push(rows);
        }
    }
    all
}

fn value(row: u32, attribute: usize) -> u32 {
    row >> attribute & 1
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list
}

/// Whether the rows in some order are those of a published table.
fn may_be_behind(rows: &[u32; ROWS], table: &PublishedTable) -> bool {
    let open = |place: usize| table.by_row.iter().map(|(_, codes)| codes[place]).collect::<Vec<u32>>();
    let own = |row: u32| table.by_row.iter().map(|(attribute, _)| value(row, *attribute)).collect::<Vec<u32>>();
    let Some(buckets) = &table.buckets else {
        return sorted(rows.iter().map(|&row| own(row)).collect()) == sorted((0..ROWS).map(open).collect());
    };
    let attribute = buckets.sensitive[0].0;
    let orders = (0..256).map(|code| [code % 4, code / 4 % 4, code / 16 % 4, code / 64]);
    let mut orders = orders.filter(|order| (0..ROWS).all(|place| order.contains(&place)));
    orders.any(|order| {
        let in_bucket = |bucket: u32| {
            let members = (0..ROWS).filter(|&place| buckets.of_row[order[place]] == bucket);
            sorted(members.map(|place| value(rows[place], attribute)).collect::<Vec<u32>>())
        };
        let listed = |bucket: u32| {
            let entries = (0..buckets.of_entry.len()).filter(|&entry| buckets.of_entry[entry] == bucket);
            sorted(entries.map(|entry| buckets.sensitive[0].1[entry]).collect::<Vec<u32>>())
        };
        (0..ROWS).all(|place| own(rows[place]) == open(order[place])) && in_bucket(0) == listed(0)
    })
}

#[test]
fn no_table_behind_the_published_ones_is_outside_of_the_bounds() {
    let all = tables();
    let (mut certain, mut attained) = (0, 0);
    for seed in 0..60 {
        let rng = &mut StdRng::seed_from_u64(seed);
        let source: Vec<Vec<u32>> = (0..3).map(|_| (0..ROWS).map(|_| rng.random_range(0..2)).collect()).collect();
        let plain = |attributes: &[usize]| PublishedTable {
            by_row: attributes.iter().map(|&own| (own, source[own].clone())).collect(),
            buckets: None,
        };
        let published = if seed % 2 == 0 {
            vec![plain(&[0, 1]), plain(&[1, 2]), plain(&[2, 0])]
        } else {
            // One bucket of three rows, and a row without its value.
            let of_row = vec![0, 0, 0, PublishedBuckets::NO_BUCKET];
            let sensitive = vec![(2, source[2][..3].to_vec())];
            let buckets = PublishedBuckets { of_row, sensitive, of_entry: vec![0; 3], counts: vec![1; 3] };
            vec![plain(&[0, 1]), PublishedTable { buckets: Some(buckets), ..plain(&[1]) }]
        };
        let possible: Vec<&[u32; ROWS]> =
            all.iter().filter(|rows| published.iter().all(|table| may_be_behind(rows, table))).collect();
        assert!(!possible.is_empty());
        for wanted in 1..27u32 {
            // Each attribute is 0, 1 or anything.
            let choice = [wanted % 3, wanted / 3 % 3, wanted / 9];
            let selected: Selected = (0..3usize)
                .filter(|&own| choice[own] < 2)
                .map(|own| (own, vec![choice[own] == 0, choice[own] == 1]))
                .collect();
            let [(least, most)] = bounds_of(std::slice::from_ref(&selected), &published, &[2; 3])[..] else { panic!() };
            let inside = |row: &&u32| selected.iter().all(|(own, wanted)| wanted[value(**row, *own) as usize]);
            let counts: Vec<u64> = possible.iter().map(|rows| rows.iter().filter(inside).count() as u64).collect();
            let (low, high) = (*counts.iter().min().unwrap(), *counts.iter().max().unwrap());
            assert!(least <= low && high <= most, "seed {seed}, {choice:?}: {least}..{most}, not {low}..{high}");
            certain += u32::from(least > 0);
            attained += u32::from((least, most) == (low, high));
        }
    }
    assert!(certain > 300 && attained > 700, "{certain} certain, {attained} attained of 1560");
}
