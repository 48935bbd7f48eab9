//! Some rows that lie near each other, with their values numbered anew: small enough that all of
//! them are compared with a class.

use hedgerow_table::frequency::Field;

use super::objective::Spread;
use crate::local::partition::Key;

/// One attribute of the rows of a piece.
#[derive(Debug)]
pub struct Column {
    /// The ranks that occur, ascending.
    pub ranks: Vec<u32>,
    /// By row, the place of its rank among these.
    pub codes: Vec<u16>,
}

/// The most rows of a piece, so that codes are short.
pub const ROWS_MAX: usize = 1 << 13;

#[derive(Debug)]
pub struct Piece<'a, const W: usize> {
    pub spreads: &'a [Spread<'a>],
    pub columns: Vec<Column>,
    /// The whole rows, for the rules, and what these look at beside the quasi attributes.
    pub keys: Vec<Key<W>>,
    pub others: &'a [Field],
}

impl<'a, const W: usize> Piece<'a, W> {
    pub fn new(spreads: &'a [Spread<'a>], fields: &'a [Field], keys: Vec<Key<W>>) -> Self {
        debug_assert!(keys.len() <= ROWS_MAX);
        let column = |field: &Field| {
            let mut ranks: Vec<u32> = keys.iter().map(|key| field.get(key)).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let place = |key: &Key<W>| ranks.partition_point(|&rank| rank < field.get(key)) as u16;
            Column { codes: keys.iter().map(place).collect(), ranks }
        };
        let (quasi, others) = fields.split_at(spreads.len());
        let columns = quasi.iter().map(column).collect();
        Piece { spreads, columns, keys, others }
    }

    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// What the rows of a class pay, beyond what they would pay alone: 0 where all are alike.
    pub fn cost(&self, rows: &[u16]) -> f64 {
        let attributes = self.spreads.iter().zip(&self.columns);
        let of_attribute = |(spread, column): (&Spread<'_>, &Column)| {
            let mut cell = Cell::default();
            let mut own = 0.0;
            for &row in rows {
                let code = column.codes[row as usize];
                cell.add(code, spread, column);
                own += spread.of_value(column.ranks[code as usize]);
            }
            (rows.len() as f64 * cell.cost(spread, column) - own).max(0.0)
        };
        if rows.is_empty() { 0.0 } else { attributes.map(of_attribute).sum() }
    }
}

/// What the rows of a class cover of one attribute.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// The values, ascending; of a span the first and the last.
    codes: Vec<u16>,
    /// The rows of the table that have one of them; of a set only.
    rows: u64,
}

impl Cell {
    pub fn clear(&mut self) {
        self.codes.clear();
        self.rows = 0;
    }

    pub fn add(&mut self, code: u16, spread: &Spread<'_>, column: &Column) {
        if spread.is_set() {
            if let Err(place) = self.codes.binary_search(&code) {
                self.codes.insert(place, code);
                self.rows += spread.rows(column.ranks[code as usize]);
            }
        } else if self.codes.is_empty() {
            self.codes.extend([code, code]);
        } else {
            self.codes[0] = self.codes[0].min(code);
            self.codes[1] = self.codes[1].max(code);
        }
    }

    /// What each row pays for it.
    pub fn cost(&self, spread: &Spread<'_>, column: &Column) -> f64 {
        if spread.is_set() {
            return spread.of_set(self.codes.len() as u32, self.rows);
        }
        spread.of_span(column.ranks[self.codes[0] as usize], column.ranks[self.codes[1] as usize])
    }

    /// For every value of the attribute what a class of `size` rows with this cell pays more with a
    /// row that has it.
    pub fn increases(&self, size: usize, spread: &Spread<'_>, column: &Column, increases: &mut Vec<f32>) {
        increases.clear();
        let (old, size) = (self.cost(spread, column), size as f64);
        let increase = |new: f64| ((size + 1.0) * new - size * old) as f32;
        if spread.is_set() {
            let values = self.codes.len() as u32 + 1;
            let with = |&rank: &u32| increase(spread.of_set(values, self.rows + spread.rows(rank)));
            increases.extend(column.ranks.iter().map(with));
            for &code in &self.codes {
                increases[code as usize] = old as f32;
            }
            return;
        }
        let (first, last) = (self.codes[0], self.codes[1]);
        let with = |code: u16| {
            let (first, last) = (first.min(code), last.max(code));
            increase(spread.of_span(column.ranks[first as usize], column.ranks[last as usize]))
        };
        increases.extend((0..column.ranks.len() as u16).map(with));
    }
}
