//! The sizes and places in a footer of Apache Spark, compared with the pages: no reader of the
//! cells looks at most of them, so that each could be any number.

use super::compact::{Compact, CompactValue};
use super::page_headers::ColumnPages;

/// Whether a footer states the sizes and places that the columns have, group by group.
pub(super) fn are_true(footer: &[u8], groups: &[Vec<ColumnPages>]) -> bool {
    let rows = |group: &[ColumnPages]| group.first().map_or(0, ColumnPages::cells);
    let all_rows: u64 = groups.iter().map(|group| rows(group)).sum();
    // Of the group and the column that are being read; before the first, there is none.
    let (mut group, mut column) = (None::<usize>, None::<usize>);
    let mut counted: Vec<Vec<u64>> = groups.iter().map(|group| vec![0; group.len()]).collect();
    let mut are_true = true;
    let next = |place: Option<usize>| Some(place.map_or(0, |place| place + 1));
    let rest = Compact::new(footer).each_field(&mut |path, found| {
        let number = match (path, found) {
            ([4], CompactValue::Struct) => return (group, column) = (next(group), None),
            ([4, 1], CompactValue::Struct) => return column = next(column),
            (_, CompactValue::Number(number)) => number,
            _ => return,
        };
        let found = u64::try_from(number).ok();
        let of_group = group.and_then(|group| groups.get(group));
        let of_column = of_group.zip(column).and_then(|(group, column)| group.get(column));
        let sum = |of: fn(&ColumnPages) -> u64| of_group.map(|group| group.iter().map(of).sum::<u64>());
        let is = |stated: Option<u64>| stated.is_some() && found == stated;
        let dictionary = of_column.filter(|column| column.dictionaries > 0).map(|column| column.start);
        are_true &= match path {
            [1] => matches!(number, 1 | 2),
            [3] => is(Some(all_rows)),
            [4, 2] => is(sum(|column| column.plain_bytes)),
            [4, 3] => is(of_group.map(|group| rows(group))),
            [4, 5] => is(of_group.and_then(|group| group.first()).map(|column| column.start)),
            [4, 6] => is(sum(|column| column.bytes)),
            [4, 7] => is(group.map(|group| group as u64)),
            [4, 1, 2] => number == 0 || is(of_column.map(|column| column.start)),
            [4, 1, 3, 5] => is(of_column.map(ColumnPages::cells)),
            [4, 1, 3, 6] => is(of_column.map(|column| column.plain_bytes)),
            [4, 1, 3, 7] => is(of_column.map(|column| column.bytes)),
            [4, 1, 3, 9] => is(of_column.and_then(|column| column.of_cells.first()).map(|page| page.place)),
            [4, 1, 3, 11] => is(dictionary),
            [4, 1, 3, 13, 3] => {
                let of_pages = group.zip(column).and_then(|(group, column)| counted.get_mut(group)?.get_mut(column));
                of_pages.zip(found).is_some_and(|(pages, found)| {
                    *pages = pages.saturating_add(found);
                    true
                })
            }
            _ => true,
        };
    });
    let pages = |column: &ColumnPages| column.of_cells.len() as u64 + column.dictionaries;
    let mut counted = groups.iter().flatten().zip(counted.iter().flatten());
    are_true && rest == Some(0) && counted.all(|(column, &stated)| stated == 0 || stated == pages(column))
}
