//! The rows of a table as packed keys that are moved in place, and parts of them that are divided
//! until none can be.
//!
//! A key holds the ranks of the quasi attributes, the codes of what else the rules look at, and the
//! row's number, so that one array is all that is moved. A region is kept as the two keys of its
//! lowest and highest ranks.
//!
//! Parts are divided on all cores. What is made of a part depends on its rows and their order
//! alone, and that on how the parts above it were divided, never on who did it: the result does not
//! depend on the number of threads.

use std::cmp;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use hedgerow_table::frequency::{KeyField, Layout};
use hedgerow_table::{Codes, Progress, parallel, with_codes};

use hedgerow_cuts::{Axis, Span};

pub type PackedKey<const W: usize> = [u64; W];

/// Parts smaller than this are divided by one thread to the end.
pub(super) const PARALLEL_ROWS: usize = 1 << 14;

/// Rows packed at once.
const CHUNK_ROWS: usize = 1 << 15;

/// Where things are in a key.
#[derive(Debug)]
pub struct Fields {
    /// All judged attributes, the quasi ones first.
    pub judged: Vec<KeyField>,
    pub row: KeyField,
    pub words: usize,
}

impl Fields {
    /// `None` when the attributes do not fit the widest key.
    pub fn new(cardinalities: &[usize], rows: usize) -> Option<Fields> {
        let all: Vec<usize> = cardinalities.iter().copied().chain([rows]).collect();
        let layout = Layout::new(&all)?;
        let judged = (0..cardinalities.len()).map(|attribute| layout.field(attribute)).collect();
        Some(Fields { judged, row: layout.field(cardinalities.len()), words: layout.words() })
    }

    /// The row of the source that a key was made of.
    pub fn row<const W: usize>(&self, key: &PackedKey<W>) -> usize {
        self.row.get(key) as usize
    }
}

/// Packs all rows: ranks for the columns that have an axis, codes for the others.
pub fn pack<const W: usize>(fields: &Fields, axes: &[Axis], columns: &[&Codes], rows: usize) -> Vec<PackedKey<W>> {
    let mut keys = vec![[0u64; W]; rows];
    parallel::map_items(keys.chunks_mut(CHUNK_ROWS), |chunk, keys| {
        let start = chunk * CHUNK_ROWS;
        for (row, key) in (start as u32..).zip(keys.iter_mut()) {
            fields.row.set(key, row);
        }
        for (attribute, codes) in columns.iter().enumerate() {
            let field = fields.judged[attribute];
            let ranks = axes.get(attribute).and_then(Axis::ranks);
            with_codes!(codes, codes => {
                let cells = codes[start..start + keys.len()].iter().zip(keys.iter_mut());
                match ranks {
                    Some(ranks) => cells.for_each(|(&code, key)| field.set(key, ranks[code as usize])),
                    #[allow(clippy::useless_conversion)] // One of the three widths is 32 bits already.
                    None => cells.for_each(|(&code, key)| field.set(key, u32::from(code))),
                }
            });
        }
    });
    keys
}

/// Rows that lie together, the region they were cut to, and how far they lie apart at most on each
/// axis.
#[derive(Debug, Clone)]
pub struct RegionRows<const W: usize> {
    pub rows: usize,
    pub low: PackedKey<W>,
    pub high: PackedKey<W>,
    /// Upper bounds of the extents.
    pub extents: Vec<f64>,
}

/// A part that is not divided further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class<const W: usize> {
    pub rows: u32,
    pub low: PackedKey<W>,
    pub high: PackedKey<W>,
}

impl<const W: usize> RegionRows<W> {
    /// All rows, in the whole space.
    pub fn whole(fields: &Fields, axes: &[Axis], rows: usize) -> RegionRows<W> {
        let mut part = RegionRows { rows, low: [0; W], high: [0; W], extents: Vec::with_capacity(axes.len()) };
        for (axis, field) in axes.iter().zip(&fields.judged) {
            field.set(&mut part.high, axis.whole().last);
            part.extents.push(axis.extent(axis.whole()));
        }
        part
    }

    pub fn region(&self, field: KeyField) -> Span {
        Span::new(field.get(&self.low), field.get(&self.high))
    }

    /// The part of it that lies in a span of one axis. `extents` are what is known of the whole by
    /// now.
    pub fn within(
        &self,
        extents: &[f64],
        axis: usize,
        field: KeyField,
        span: Span,
        extent: f64,
        rows: usize,
    ) -> RegionRows<W> {
        let mut part = RegionRows { rows, low: self.low, high: self.high, extents: extents.to_vec() };
        field.set(&mut part.low, span.first);
        field.set(&mut part.high, span.last);
        part.extents[axis] = extent.min(part.extents[axis]);
        part
    }
}

/// Memory that one thread uses again and again.
#[derive(Debug, Default)]
pub struct Scratch {
    counts: Vec<u32>,
    ranks: Vec<u32>,
    /// Per attribute, the values that occur in the part at hand and how often, ascending.
    pub values: Vec<Vec<(u32, u32)>>,
    /// Per attribute, how far the people of the part at hand lie apart, as far as it is known.
    pub extents: Vec<f64>,
    /// The extents, by how much attributes count.
    pub weighted: Vec<f64>,
    pub class: Vec<(u32, u32)>,
    pub tuples: Vec<Vec<u32>>,
}

impl Scratch {
    pub fn new(attributes: usize) -> Scratch {
        Scratch { values: vec![Vec::new(); attributes], ..Scratch::default() }
    }

    /// Counts the values of an attribute within a region: into `values`, ascending.
    pub fn count<const W: usize, P: Packed<W>>(&mut self, keys: &[P], field: KeyField, region: Span, attribute: usize) {
        let Scratch { counts, ranks, values, .. } = self;
        P::count(keys, field, region, &mut values[attribute], counts, ranks);
    }

    /// Counts the values of a protected attribute: into `class`, ascending.
    pub fn count_class<const W: usize, P: Packed<W>>(&mut self, keys: &[P], field: KeyField, cardinality: usize) {
        let Scratch { counts, ranks, class, .. } = self;
        let region = Span::new(0, cardinality.saturating_sub(1) as u32);
        P::count(keys, field, region, class, counts, ranks);
    }
}

/// One row as a key, or several equal ones.
pub trait Packed<const W: usize>: Copy + Send {
    fn key(&self) -> &PackedKey<W>;

    /// How many rows it stands for.
    fn times(&self) -> u32;

    /// How many rows all of them are.
    fn rows(packed: &[Self]) -> u64;

    /// How many of them are needed for the given number of rows.
    fn holding(packed: &[Self], rows: u64) -> usize;

    /// The values of a field that occur, which lie within `region`, and how often: ascending.
    fn count(
        packed: &[Self],
        field: KeyField,
        region: Span,
        values: &mut Vec<(u32, u32)>,
        counts: &mut Vec<u32>,
        ranks: &mut Vec<u32>,
    );
}

impl<const W: usize> Packed<W> for PackedKey<W> {
    #[inline]
    fn key(&self) -> &PackedKey<W> {
        self
    }

    #[inline]
    fn times(&self) -> u32 {
        1
    }

    #[inline]
    fn rows(packed: &[Self]) -> u64 {
        packed.len() as u64
    }

    #[inline]
    fn holding(_: &[Self], rows: u64) -> usize {
        rows as usize
    }

    fn count(
        packed: &[Self],
        field: KeyField,
        region: Span,
        values: &mut Vec<(u32, u32)>,
        counts: &mut Vec<u32>,
        ranks: &mut Vec<u32>,
    ) {
        count(packed, field, region, values, counts, ranks);
    }
}

/// Rows of one part, which are moved within it.
pub trait Pile<const W: usize> {
    type Packed: Packed<W>;

    fn packed(&self) -> &[Self::Packed];

    fn packed_mut(&mut self) -> &mut [Self::Packed];

    /// Moves the least of some neighbors to the front of these, until enough rows are there.
    /// Returns the number of keys moved.
    fn move_least(
        &mut self,
        among: Range<usize>,
        rows: u64,
        order: impl Fn(&PackedKey<W>, &PackedKey<W>) -> cmp::Ordering,
    ) -> usize;
}

impl<const W: usize> Pile<W> for [PackedKey<W>] {
    type Packed = PackedKey<W>;

    #[inline]
    fn packed(&self) -> &[PackedKey<W>] {
        self
    }

    #[inline]
    fn packed_mut(&mut self) -> &mut [PackedKey<W>] {
        self
    }

    fn move_least(
        &mut self,
        among: Range<usize>,
        rows: u64,
        order: impl Fn(&PackedKey<W>, &PackedKey<W>) -> cmp::Ordering,
    ) -> usize {
        let need = rows as usize;
        if need < among.len() {
            self[among].select_nth_unstable_by(need, order);
        }
        need
    }
}

/// By counters where these are few, else by sorting.
fn count<const W: usize>(
    keys: &[PackedKey<W>],
    field: KeyField,
    region: Span,
    values: &mut Vec<(u32, u32)>,
    counts: &mut Vec<u32>,
    ranks: &mut Vec<u32>,
) {
    values.clear();
    if region.ranks() <= 2 * keys.len() + 16 {
        counts.clear();
        // Two counters for each rank: neighbors often agree, and an increment waits for the one
        // before it.
        let size = region.ranks();
        counts.resize(2 * size, 0);
        let (even, odd) = counts.split_at_mut(size);
        let mut pairs = keys.chunks_exact(2);
        for pair in &mut pairs {
            even[(field.get(&pair[0]) - region.first) as usize] += 1;
            odd[(field.get(&pair[1]) - region.first) as usize] += 1;
        }
        for key in pairs.remainder() {
            even[(field.get(key) - region.first) as usize] += 1;
        }
        let all = (region.first..).zip(even.iter().zip(odd.iter()).map(|(even, odd)| even + odd));
        values.extend(all.filter(|&(_, count)| count > 0));
    } else {
        ranks.clear();
        ranks.extend(keys.iter().map(|key| field.get(key)));
        ranks.sort_unstable();
        values.extend(ranks.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)));
    }
}

/// Moves the rows that go to the left before the others; returns how many they are. Every row is
/// moved by the same few instructions, whichever way it goes: half of all guesses at the way would
/// be wrong.
#[inline]
pub fn move_left<const W: usize, P: Packed<W>>(keys: &mut [P], goes_left: impl Fn(&PackedKey<W>) -> bool) -> usize {
    let mut left = 0;
    for index in 0..keys.len() {
        let key = keys[index];
        keys.swap(index, left);
        left += usize::from(goes_left(key.key()));
    }
    left
}

/// Brings rows into the order of the spans they lie in; spans ascend.
pub fn move_apart<const W: usize, P: Packed<W>>(keys: &mut [P], field: KeyField, spans: &[(Span, u64)]) {
    if spans.len() < 2 {
        return;
    }
    let (left, right) = spans.split_at(spans.len() / 2);
    let border = right[0].0.first;
    let rows = move_left(keys, |key| field.get(key) < border);
    let (left_keys, right_keys) = keys.split_at_mut(rows);
    move_apart(left_keys, field, left);
    move_apart(right_keys, field, right);
}

/// Divides a part in place: the children's rows lie one after the other. `None` when it stays
/// whole.
pub trait Divide<const W: usize>: Sync {
    fn divide(
        &self,
        keys: &mut [PackedKey<W>],
        part: &RegionRows<W>,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>>;

    /// The region that is released for a part that is not divided.
    fn finish(&self, keys: &[PackedKey<W>], part: &RegionRows<W>) -> Class<W>;
}

/// Divides until nothing can be divided; classes come in the order of their rows.
///
/// Reports rows that are in a class as progress. Once canceled it divides nothing further, and what
/// it returns is of no use.
pub fn divide_all<const W: usize>(
    divide: &impl Divide<W>,
    keys: &mut [PackedKey<W>],
    whole: RegionRows<W>,
    progress: &dyn Progress,
) -> Vec<Class<W>> {
    let mut scratch = Scratch::new(whole.extents.len());
    if whole.rows < PARALLEL_ROWS {
        let mut classes = Vec::new();
        let rows = whole.rows as u64;
        divide_alone(divide, keys, whole, &mut scratch, &mut classes, progress);
        progress.advance(rows);
        return classes;
    }
    if progress.is_canceled() {
        return Vec::new();
    }
    let Some(parts) = divide.divide(keys, &whole, &mut scratch) else {
        progress.advance(whole.rows as u64);
        return vec![divide.finish(keys, &whole)];
    };
    drop((scratch, whole));
    let mut pieces = Vec::with_capacity(parts.len());
    let mut rest = keys;
    for part in parts {
        let (piece, after) = rest.split_at_mut(part.rows);
        pieces.push((piece, part));
        rest = after;
    }
    let divided: Vec<Vec<Class<W>>> =
        parallel::map_items(pieces, |_, (keys, part)| divide_all(divide, keys, part, progress));
    divided.concat()
}

/// With a list of what waits in place of recursion: a chain of uneven cuts can be long.
fn divide_alone<const W: usize>(
    divide: &impl Divide<W>,
    keys: &mut [PackedKey<W>],
    whole: RegionRows<W>,
    scratch: &mut Scratch,
    classes: &mut Vec<Class<W>>,
    progress: &dyn Progress,
) {
    let mut waiting = vec![whole];
    let mut start = 0;
    while let Some(part) = waiting.pop().filter(|_| !progress.is_canceled()) {
        let rows = &mut keys[start..start + part.rows];
        match divide.divide(rows, &part, scratch) {
            Some(parts) => waiting.extend(parts.into_iter().rev()),
            None => {
                classes.push(divide.finish(rows, &part));
                start += part.rows;
            }
        }
    }
}

/// The class of every row of the source.
pub fn class_of_rows<const W: usize>(fields: &Fields, keys: &[PackedKey<W>], classes: &[Class<W>]) -> Vec<u32> {
    let of_row: Vec<AtomicU32> = std::iter::repeat_with(|| AtomicU32::new(0)).take(keys.len()).collect();
    let mut pieces = Vec::with_capacity(classes.len() / CLASSES_AT_ONCE + 1);
    let mut rest = keys;
    for (index, some) in classes.chunks(CLASSES_AT_ONCE).enumerate() {
        let rows: usize = some.iter().map(|class| class.rows as usize).sum();
        let (piece, after) = rest.split_at(rows);
        pieces.push((index * CLASSES_AT_ONCE, some, piece));
        rest = after;
    }
    parallel::map_items(pieces, |_, (first, classes, mut keys)| {
        for (number, class) in (first as u32..).zip(classes) {
            let (of_class, after) = keys.split_at(class.rows as usize);
            for key in of_class {
                of_row[fields.row.get(key) as usize].store(number, Ordering::Relaxed);
            }
            keys = after;
        }
    });
    of_row.into_iter().map(AtomicU32::into_inner).collect()
}

const CLASSES_AT_ONCE: usize = 1 << 12;
