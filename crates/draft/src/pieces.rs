//! The class of every row, where equal rows are held once: rows that are equal can be of several
//! classes, each of which takes the next of them.

use std::ops::Range;

use hashbrown::HashMap;

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
    pub fn new(mut all: Vec<(u32, u32, u32)>, distinct: usize) -> Pieces {
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
    pub fn of_rows(starts: Vec<u32>, class: Vec<u32>) -> Pieces {
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
    pub fn each<'a>(&'a self, counts: &'a [u32]) -> impl Iterator<Item = EqualRows> + 'a {
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
    pub fn of(&self, distinct: u32) -> Range<u32> {
        self.starts[distinct as usize]..self.starts[distinct as usize + 1]
    }

    /// Whether every piece is one row.
    pub fn are_rows(&self) -> bool {
        self.before.is_empty()
    }

    /// Whether some equal rows are of different classes.
    pub fn part_equal_rows(&self) -> bool {
        self.class.len() >= self.starts.len()
    }

    /// The class of the next rows of the source, whose distinct rows these are. `seen` has how many
    /// of each came before, where that matters.
    pub fn classes(&self, distinct: &mut [u32], seen: &mut HashMap<u32, u32>) {
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
