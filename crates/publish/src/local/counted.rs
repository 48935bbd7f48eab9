//! Mondrian over rows of which equal ones are held once, with how often they occur: what it takes
//! grows with the distinct rows alone.
//!
//! It decides as over single rows, because values and counts are all that it decides by. A relaxed
//! cut can need some of several equal rows on each side; those that come first in the source then
//! go left, as they do over single rows. So equal rows can be of several classes, each of which
//! takes the next of them, as many as it needs.

use std::cmp::Ordering;
use std::ops::Range;

use hashbrown::HashMap;
use hedgerow_cuts::Span;
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

/// The class of every row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces {
    /// For every distinct row where its pieces begin in `before` and `class`, and the end of all.
    starts: Vec<u32>,
    /// How many equal rows come before a piece; empty where every piece is one row.
    before: Vec<u32>,
    /// The class of every piece.
    pub class: Vec<u32>,
}

/// Some of the rows that are equal to a distinct one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EqualRows {
    pub distinct: u32,
    /// How many equal rows come before it, and how many up to its end.
    pub before: u32,
    pub until: u32,
    pub class: u32,
}

impl Pieces {
    /// From distinct rows, how many equal ones come before, and their classes.
    fn new(mut all: Vec<(u32, u32, u32)>, distinct: usize) -> Pieces {
        all.sort_unstable();
        all.dedup_by(|next, first| next.0 == first.0 && next.2 == first.2);
        let mut pieces = Pieces::default();
        for (distinct, before, class) in all {
            pieces.starts.resize(distinct as usize + 1, pieces.before.len() as u32);
            pieces.before.push(before);
            pieces.class.push(class);
        }
        pieces.starts.resize(distinct + 1, pieces.before.len() as u32);
        pieces
    }

    /// From the class of every row, equal ones as the source has them, and where those of each
    /// distinct row begin, with the end of all.
    pub(crate) fn of_rows(starts: Vec<u32>, class: Vec<u32>) -> Pieces {
        Pieces { starts, before: Vec::new(), class }
    }

    /// The distinct row that each piece is of.
    pub fn distinct_rows(&self) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.class.len());
        for (row, bounds) in (0..).zip(self.starts.windows(2)) {
            rows.resize(bounds[1] as usize, row);
        }
        rows
    }

    /// How many rows each piece is, by how often each distinct row occurs.
    pub fn sizes(&self, counts: &[u32]) -> Vec<u32> {
        if self.before.is_empty() {
            return vec![1; self.class.len()];
        }
        let mut sizes = Vec::with_capacity(self.class.len());
        for (&count, bounds) in counts.iter().zip(self.starts.windows(2)) {
            let before = &self.before[bounds[0] as usize..bounds[1] as usize];
            sizes.extend(before.iter().zip(before[1..].iter().chain([&count])).map(|(from, to)| to - from));
        }
        sizes
    }

    /// All pieces, by how often each distinct row occurs.
    pub(crate) fn each<'a>(&'a self, counts: &'a [u32]) -> impl Iterator<Item = EqualRows> + 'a {
        let rows = (0..).zip(counts.iter().zip(self.starts.windows(2)));
        rows.flat_map(move |(distinct, (&count, bounds))| {
            let (from, to) = (bounds[0] as usize, bounds[1] as usize);
            let before = move |piece: usize| self.before.get(piece).copied().unwrap_or((piece - from) as u32);
            (from..to).map(move |piece| {
                let until = if piece + 1 < to { before(piece + 1) } else { count };
                EqualRows { distinct, before: before(piece), until, class: self.class[piece] }
            })
        })
    }

    /// How many pieces come before those of a distinct row, and how many up to its last.
    pub(crate) fn of(&self, distinct: u32) -> Range<u32> {
        self.starts[distinct as usize]..self.starts[distinct as usize + 1]
    }

    /// Whether every piece is one row.
    pub(crate) fn are_rows(&self) -> bool {
        self.before.is_empty()
    }

    /// Whether some equal rows are of different classes.
    pub(crate) fn part_equal_rows(&self) -> bool {
        self.class.len() >= self.starts.len()
    }

    /// The class of the next rows of the source, whose distinct rows these are. `seen` has how many
    /// of each came before, where that matters.
    pub(crate) fn classes(&self, distinct: &mut [u32], seen: &mut HashMap<u32, u32>) {
        for row in distinct {
            let (from, to) = (self.starts[*row as usize] as usize, self.starts[*row as usize + 1] as usize);
            let mut piece = from;
            if to - from > 1 {
                let seen = seen.entry(*row).or_insert(0);
                piece += match self.before.get(from + 1..to) {
                    Some(before) => before.partition_point(|before| before <= seen),
                    None => (*seen as usize).min(to - from - 1),
                };
                *seen += 1;
            }
            *row = self.class[piece];
        }
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
