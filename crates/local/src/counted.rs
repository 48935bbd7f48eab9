//! Mondrian over rows of which equal ones are held once, with how often they occur: what it takes
//! grows with the distinct rows alone.
//!
//! It decides as over single rows, because values and counts are all that it decides by. A relaxed
//! cut can need some of several equal rows on each side; those that come first in the source then
//! go left, as they do over single rows. So equal rows can be of several classes, each of which
//! takes the next of them, as many as it needs.

use std::cmp::Ordering;
use std::ops::Range;

use hedgerow_cuts::Span;
use hedgerow_draft::pieces::Pieces;
use hedgerow_table::frequency::KeyField;
use hedgerow_table::{Progress, parallel};

use super::mondrian::{Mondrian, finish};
use super::partition::{Class, PARALLEL_ROWS, Packed, PackedKey, Pile, RegionRows, Scratch};

/// Equal rows, or some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Several<const W: usize> {
    /// In place of a row's number that of the distinct row.
    key: PackedKey<W>,
    times: u32,
    /// How many equal rows come before them.
    before: u32,
}

impl<const W: usize> Several<W> {
    /// From keys of distinct rows, and how often each occurs.
    pub fn all(keys: Vec<PackedKey<W>>, counts: &[u32]) -> Vec<Several<W>> {
        keys.into_iter().zip(counts).map(|(key, &times)| Several { key, times, before: 0 }).collect()
    }
}

impl<const W: usize> Packed<W> for Several<W> {
    fn key(&self) -> &PackedKey<W> {
        &self.key
    }

    fn times(&self) -> u32 {
        self.times
    }

    fn rows(packed: &[Self]) -> u64 {
        packed.iter().map(|several| u64::from(several.times)).sum()
    }

    fn holding(packed: &[Self], rows: u64) -> usize {
        let mut held = 0;
        let is_before = |several: &&Several<W>| {
            held += u64::from(several.times);
            held <= rows
        };
        packed.iter().take_while(is_before).count()
    }

    fn count(
        packed: &[Self],
        field: KeyField,
        region: Span,
        values: &mut Vec<(u32, u32)>,
        counts: &mut Vec<u32>,
        _: &mut Vec<u32>,
    ) {
        values.clear();
        if region.ranks() <= 2 * packed.len() + 16 {
            counts.clear();
            counts.resize(region.ranks(), 0);
            for several in packed {
                counts[(field.get(&several.key) - region.first) as usize] += several.times;
            }
            values.extend((region.first..).zip(counts.iter().copied()).filter(|&(_, count)| count > 0));
            return;
        }
        values.extend(packed.iter().map(|several| (field.get(&several.key), several.times)));
        values.sort_unstable();
        values.dedup_by(|next, first| {
            let equal = next.0 == first.0;
            first.1 += if equal { next.1 } else { 0 };
            equal
        });
    }
}

impl<const W: usize> Pile<W> for Vec<Several<W>> {
    type Packed = Several<W>;

    fn packed(&self) -> &[Several<W>] {
        self
    }

    fn packed_mut(&mut self) -> &mut [Several<W>] {
        self
    }

    fn move_least(
        &mut self,
        among: Range<usize>,
        rows: u64,
        order: impl Fn(&PackedKey<W>, &PackedKey<W>) -> Ordering,
    ) -> usize {
        let start = among.start;
        self[among.clone()].sort_unstable_by(|a, b| order(&a.key, &b.key).then(a.before.cmp(&b.before)));
        let whole = Several::holding(&self[among.clone()], rows);
        let missing = (rows - Several::rows(&self[start..start + whole])) as u32;
        if missing == 0 {
            return whole;
        }
        // The next ones are needed on both sides.
        let both = &mut self[start + whole];
        let right = Several { times: both.times - missing, before: both.before + missing, ..*both };
        both.times = missing;
        self.insert(start + whole + 1, right);
        whole + 1
    }
}

/// Divides until nothing can be divided.
pub(super) fn divide_counted<const W: usize>(
    mondrian: &Mondrian<'_>,
    rows: Vec<Several<W>>,
    whole: RegionRows<W>,
    progress: &dyn Progress,
) -> (Pieces, Vec<Class<W>>) {
    let distinct = rows.len();
    let mut divided = DividedCounts::default();
    divide_all(mondrian, rows, whole, progress, &mut divided);
    (Pieces::new(divided.rows, distinct), divided.classes)
}

#[derive(Debug)]
struct DividedCounts<const W: usize> {
    classes: Vec<Class<W>>,
    /// Distinct rows, how many equal ones come before, and their classes.
    rows: Vec<(u32, u32, u32)>,
}

impl<const W: usize> Default for DividedCounts<W> {
    fn default() -> Self {
        DividedCounts { classes: Vec::new(), rows: Vec::new() }
    }
}

impl<const W: usize> DividedCounts<W> {
    fn finish(&mut self, mondrian: &Mondrian<'_>, rows: Vec<Several<W>>, part: &RegionRows<W>) {
        let number = self.classes.len() as u32;
        self.classes.push(finish(mondrian.axes, mondrian.fields, mondrian.tight, &rows, part));
        let distinct = |several: &Several<W>| mondrian.fields.row(&several.key) as u32;
        self.rows.extend(rows.iter().map(|several| (distinct(several), several.before, number)));
    }

    fn append(&mut self, other: DividedCounts<W>) {
        let first = self.classes.len() as u32;
        self.rows.extend(other.rows.into_iter().map(|(row, before, class)| (row, before, first + class)));
        self.classes.extend(other.classes);
    }
}

/// As `partition::divide_all` does; the children take their rows with them.
fn divide_all<const W: usize>(
    mondrian: &Mondrian<'_>,
    mut rows: Vec<Several<W>>,
    whole: RegionRows<W>,
    progress: &dyn Progress,
    divided: &mut DividedCounts<W>,
) {
    let mut scratch = Scratch::new(whole.extents.len());
    if rows.len() < PARALLEL_ROWS {
        let all = whole.rows as u64;
        let mut waiting = vec![(rows, whole)];
        while let Some((mut rows, part)) = waiting.pop().filter(|_| !progress.is_canceled()) {
            match mondrian.divide_pile(&mut rows, &part, &mut scratch) {
                Some(parts) => waiting.extend(apart(rows, parts).into_iter().rev()),
                None => divided.finish(mondrian, rows, &part),
            }
        }
        return progress.advance(all);
    }
    if progress.is_canceled() {
        return;
    }
    let Some(parts) = mondrian.divide_pile(&mut rows, &whole, &mut scratch) else {
        progress.advance(whole.rows as u64);
        return divided.finish(mondrian, rows, &whole);
    };
    drop((scratch, whole));
    let children = parallel::map_items(apart(rows, parts), |_, (rows, part)| {
        let mut divided = DividedCounts::default();
        divide_all(mondrian, rows, part, progress, &mut divided);
        divided
    });
    children.into_iter().for_each(|child| divided.append(child));
}

/// Every part with its own rows, which lie one after the other.
fn apart<const W: usize>(
    mut rows: Vec<Several<W>>,
    parts: Vec<RegionRows<W>>,
) -> Vec<(Vec<Several<W>>, RegionRows<W>)> {
    let mut children = Vec::with_capacity(parts.len());
    for part in parts.into_iter().rev() {
        let (mut start, mut own) = (rows.len(), 0);
        while own < part.rows as u64 && start > 0 {
            start -= 1;
            own += u64::from(rows[start].times);
        }
        let own = if start == 0 { std::mem::take(&mut rows) } else { rows.split_off(start) };
        rows.shrink_to_fit();
        children.push((own, part));
    }
    children.reverse();
    children
}
