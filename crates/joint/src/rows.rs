//! The rows of the union, each with its class and without its owner: what is released in the
//! end.
//!
//! Where a row carries nothing besides its class but values of agreed attributes, its possible
//! contents can be counted: the union is a sum over classes and values, and no row travels. Rows
//! that carry more (plain attributes, whose values were not agreed on), or too many combinations to
//! count, go through the shuffle, in which every custodian strips one layer of encryption. The
//! shuffle serves both profiles: the ring's own union hides rows among dummy items from the rows'
//! domain, and here there is none.
//!
//! All custodians hand in as many rows of the same length, padding included: as many as the one
//! with most has, rounded up to a power of two.

use hedgerow_smc::masked::Shuffle;
use hedgerow_smc::{Ask, Inquiry, Item, OpenedKind, Operation, Turn, UnionCounts};

use crate::{Agreed, JointResult, Profile, Share};

/// The most words in one sum: class × values.
const CELLS_MAX: usize = 1 << 20;
/// Rows are padded to a multiple of this number of bytes.
const PADDING_BYTES: u64 = 32;

/// A row of the union.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointRow {
    pub class: u32,
    /// The codes of the agreed attributes beside the quasi ones.
    pub codes: Vec<u32>,
    /// The other released values.
    pub carried: Item,
}

impl std::fmt::Debug for JointRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JointRow(class {})", self.class)
    }
}

impl Agreed {
    /// The kinds of values that a whole run can open, step by step: to be agreed on before it
    /// starts. Runs open nothing else.
    pub fn announce(&self, profile: Profile) -> Vec<(&'static str, Vec<OpenedKind>)> {
        let with = |kinds: Vec<OpenedKind>| match profile {
            Profile::Masked if kinds == [OpenedKind::Largest] => vec![OpenedKind::Largest, OpenedKind::Digits],
            Profile::Masked => kinds,
            Profile::Baseline => [kinds, vec![OpenedKind::PassedOn]].concat(),
        };
        let mut steps = vec![("the classes", with(self.may_open()))];
        if self.apart {
            // The question decides whether it can be counted.
            steps.push(("every question, counted", with(vec![OpenedKind::Histograms])));
            steps.push(("every question, shuffled", Shuffle::MAY_OPEN.to_vec()));
            return steps;
        }
        // Only when the classes are known it is known whether rows can be counted.
        if !self.carries {
            steps.push(("the rows, counted", with(vec![OpenedKind::Histograms])));
        }
        steps.push(("the size of the shuffle", with(vec![OpenedKind::Largest])));
        steps.push(("the rows, shuffled", Shuffle::MAY_OPEN.to_vec()));
        steps
    }

    /// How many combinations of values the rows of a class can have, when they can all be counted
    /// in one sum.
    pub fn countable(&self, classes: usize) -> Option<usize> {
        let product = |all: usize, values: &usize| all.checked_mul(*values).filter(|all| *all <= CELLS_MAX);
        let values = self.cardinalities.iter().try_fold(1, product)?;
        (!self.carries && values.saturating_mul(classes) <= CELLS_MAX).then_some(values)
    }

    /// Our rows as counts over class and values; `total` is how many rows there are in all.
    pub fn count_rows(&self, share: &Share, joined: &JointResult, values: usize, total: u64) -> UnionCounts {
        let cell = |row: usize| {
            let digit = |all: usize, (codes, values): (&Vec<u32>, &usize)| all * values + codes[row] as usize;
            (joined.of_row[row] as usize, share.codes.iter().zip(&self.cardinalities).fold(0, digit))
        };
        let bits = (u64::BITS - total.leading_zeros()).max(1) as u8;
        UnionCounts::new((0..share.rows()).map(cell), joined.classes.len(), values).below(bits)
    }

    /// The rows that counts stand for, in order; `None` where they are not as many as the classes
    /// have, so that no count makes room for more.
    pub fn counted_rows(&self, counts: Vec<(usize, usize, u64)>, joined: &JointResult) -> Option<Vec<JointRow>> {
        let mut sizes = vec![0u64; joined.classes.len()];
        for (class, _, count) in &counts {
            let size = sizes.get_mut(*class)?;
            *size = size.checked_add(*count)?;
        }
        if sizes.iter().zip(&joined.classes).any(|(size, class)| *size != class.rows) {
            return None;
        }
        let mut rows = Vec::new();
        for (class, mut value, count) in counts {
            let mut codes = vec![0; self.cardinalities.len()];
            for (code, values) in codes.iter_mut().zip(&self.cardinalities).rev() {
                *code = (value % values) as u32;
                value /= values;
            }
            let row = JointRow { class: class as u32, codes, carried: Item::new() };
            rows.extend(std::iter::repeat_n(row, count as usize));
        }
        Some(rows)
    }

    /// Our rows as they travel: class, codes, and what they carry.
    pub fn pack_rows(&self, share: &Share, joined: &JointResult) -> Vec<Item> {
        let pack = |row: usize| {
            let mut item = joined.of_row[row].to_le_bytes().to_vec();
            share.codes.iter().for_each(|codes| item.extend(codes[row].to_le_bytes()));
            item.extend(share.carried.get(row).into_iter().flatten());
            item
        };
        (0..share.rows()).map(pack).collect()
    }

    /// Decodes a packed row; `None` where it is not a row of these classes and attributes.
    pub fn unpack_row(&self, item: &[u8], classes: usize) -> Option<JointRow> {
        let mut rest = item;
        let mut number = |below: usize| {
            let (bytes, after) = rest.split_first_chunk()?;
            rest = after;
            let number = u32::from_le_bytes(*bytes);
            ((number as usize) < below).then_some(number)
        };
        let class = number(classes)?;
        let codes = self.cardinalities.iter().map(|values| number(*values)).collect::<Option<_>>()?;
        Some(JointRow { class, codes, carried: rest.to_vec() })
    }
}

/// How many rows each hands in, and how long each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    pub rows: usize,
    pub row_bytes: usize,
}

/// Finds the batch that fits the rows of all.
pub struct BatchFitting(Option<[u64; 2]>);

impl std::fmt::Debug for BatchFitting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fitting(…)")
    }
}

impl BatchFitting {
    pub fn new(items: &[Item]) -> BatchFitting {
        let longest = items.iter().map(Vec::len).max().unwrap_or(0) as u64;
        BatchFitting(Some([(items.len() as u64).next_power_of_two(), longest.next_multiple_of(PADDING_BYTES)]))
    }
}

impl Inquiry for BatchFitting {
    type Output = Batch;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Largest]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match self.0.take() {
            Some(own) => {
                let about = "the largest number and length of a custodian's rows, rounded up";
                Turn::Ask(self, Ask::one(Operation::Max { bits: 32 }, own.to_vec(), OpenedKind::Largest, about))
            }
            None => {
                let size = |place: usize| answer.get(place).copied().unwrap_or(0) as usize;
                Turn::Done(Batch { rows: size(0), row_bytes: size(1) })
            }
        }
    }

    fn shared(batch: &Batch) -> Vec<u8> {
        [batch.rows.to_le_bytes(), batch.row_bytes.to_le_bytes()].concat()
    }
}
