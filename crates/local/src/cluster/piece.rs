//! Some rows that lie near each other, with their values numbered anew: small enough that all of
//! them are compared with a class.

use hedgerow_table::frequency::KeyField;

use super::objective::Spread;
use crate::partition::PackedKey;

/// One attribute of the rows of a piece.
#[derive(Debug)]
pub struct PieceColumn {
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
    pub columns: Vec<PieceColumn>,
    /// The whole rows, for the rules, and what these look at beside the quasi attributes.
    pub keys: Vec<PackedKey<W>>,
    pub others: &'a [KeyField],
}

impl<'a, const W: usize> Piece<'a, W> {
    pub fn new(spreads: &'a [Spread<'a>], fields: &'a [KeyField], keys: Vec<PackedKey<W>>) -> Self {
        debug_assert!(keys.len() <= ROWS_MAX);
        let column = |field: &KeyField| {
            let mut ranks: Vec<u32> = keys.iter().map(|key| field.get(key)).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let place = |key: &PackedKey<W>| ranks.partition_point(|&rank| rank < field.get(key)) as u16;
            PieceColumn { codes: keys.iter().map(place).collect(), ranks }
        };
        let (quasi, others) = fields.split_at(spreads.len());
        let columns = quasi.iter().map(column).collect();
        Piece { spreads, columns, keys, others }
    }

    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// The cost of the rows of a class, beyond their cost alone: 0 where all are alike.
    pub fn cost(&self, rows: &[u16]) -> f64 {
        let attributes = self.spreads.iter().zip(&self.columns);
        let of_attribute = |(spread, column): (&Spread<'_>, &PieceColumn)| {
            let mut cell = PieceCell::default();
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

/// The cover of a class's rows for one attribute.
#[derive(Debug, Clone, Default)]
pub struct PieceCell {
    /// The values, ascending; of a span the first and the last.
    codes: Vec<u16>,
    /// The rows of the table that have one of them; of a set only.
    rows: u64,
}

impl PieceCell {
    pub fn clear(&mut self) {
        self.codes.clear();
        self.rows = 0;
    }

    pub fn add(&mut self, code: u16, spread: &Spread<'_>, column: &PieceColumn) {
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

    /// The cost of each row for it.
    pub fn cost(&self, spread: &Spread<'_>, column: &PieceColumn) -> f64 {
        if spread.is_set() {
            return spread.of_set(self.codes.len() as u32, self.rows);
        }
        spread.of_span(column.ranks[self.codes[0] as usize], column.ranks[self.codes[1] as usize])
    }

    /// The cost that a row with a value adds to a class of `size` rows with this cell.
    pub fn increase(&self, code: u16, size: usize, spread: &Spread<'_>, column: &PieceColumn) -> f64 {
        let old = self.cost(spread, column);
        let rank = column.ranks[code as usize];
        let new = if !spread.is_set() {
            let (first, last) = (self.codes[0].min(code), self.codes[1].max(code));
            spread.of_span(column.ranks[first as usize], column.ranks[last as usize])
        } else if self.codes.binary_search(&code).is_ok() {
            old
        } else {
            spread.of_set(self.codes.len() as u32 + 1, self.rows + spread.rows(rank))
        };
        (size as f64 + 1.0) * new - size as f64 * old
    }

    /// The cover of this and another one together.
    pub fn with(&self, other: &PieceCell, spread: &Spread<'_>, column: &PieceColumn) -> PieceCell {
        let mut both = self.clone();
        other.codes.iter().for_each(|&code| both.add(code, spread, column));
        both
    }

    /// For every value of the attribute what a class of `size` rows with this cell pays more with a
    /// row that has it.
    pub fn increases(&self, size: usize, spread: &Spread<'_>, column: &PieceColumn, increases: &mut Vec<f32>) {
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

/// A class that rows join: what it covers of every attribute.
#[derive(Debug, Clone)]
pub struct GrowingClass {
    cells: Vec<PieceCell>,
    size: usize,
}

impl GrowingClass {
    pub fn of<const W: usize>(piece: &Piece<'_, W>, rows: &[u16]) -> GrowingClass {
        let mut covered = GrowingClass { cells: vec![PieceCell::default(); piece.columns.len()], size: 0 };
        rows.iter().for_each(|&row| covered.add(piece, row));
        covered
    }

    pub fn add<const W: usize>(&mut self, piece: &Piece<'_, W>, row: u16) {
        for ((cell, spread), column) in self.cells.iter_mut().zip(piece.spreads).zip(&piece.columns) {
            cell.add(column.codes[row as usize], spread, column);
        }
        self.size += 1;
    }

    /// The cost that another row adds to the class.
    pub fn increase<const W: usize>(&self, piece: &Piece<'_, W>, row: u16) -> f64 {
        let attributes = self.cells.iter().zip(piece.spreads).zip(&piece.columns);
        let of_attribute = |((cell, spread), column): ((&PieceCell, &Spread<'_>), &PieceColumn)| {
            cell.increase(column.codes[row as usize], self.size, spread, column)
        };
        attributes.map(of_attribute).sum()
    }

    /// The cost that all rows of another class add to the class.
    pub fn increase_with<const W: usize>(&self, piece: &Piece<'_, W>, other: &GrowingClass) -> f64 {
        let attributes = self.cells.iter().zip(&other.cells).zip(piece.spreads.iter().zip(&piece.columns));
        let of_attribute =
            |((cell, other_cell), (spread, column)): ((&PieceCell, &PieceCell), (&Spread<'_>, &PieceColumn))| {
                let both = cell.with(other_cell, spread, column).cost(spread, column);
                (self.size + other.size) as f64 * both - self.size as f64 * cell.cost(spread, column)
            };
        attributes.map(of_attribute).sum()
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_cuts::Axis;
    use hedgerow_policy::Loss;
    use hedgerow_table::frequency::Layout;
    use hedgerow_table::{Domain, Hierarchy, HierarchySpec};

    use super::super::objective::Objective;
    use super::*;

    fn axis(texts: &[&str]) -> Axis {
        let (domain, _) = Domain::from_texts(texts, false, None).unwrap();
        let hierarchy = Hierarchy::build(&HierarchySpec::None, "a", "policy.toml", &domain, &[]).unwrap();
        Axis::new(&domain, &hierarchy, false, || (0..domain.cardinality() as u32).collect())
    }

    /// The added cost, row by row and class by class, is the difference of the costs.
    #[test]
    fn increases_are_differences_of_costs() {
        let axes = [axis(&["20", "21", "40", "60"]), axis(&["a", "b", "c", "d", "e"])];
        let layout = Layout::new(&[4, 5]).unwrap();
        let fields = [layout.field(0), layout.field(1)];
        let rows = [(0, 1), (3, 4), (2, 0), (1, 1), (2, 2), (0, 3), (3, 0), (2, 1)];
        let keys: Vec<PackedKey<1>> = rows
            .iter()
            .map(|&(age, town)| {
                let mut key = [0u64; 1];
                fields[0].set(&mut key, age);
                fields[1].set(&mut key, town);
                key
            })
            .collect();
        for loss in [None, Some(Loss::Granularity), Some(Loss::Entropy), Some(Loss::Ncp)] {
            let objective = Objective::of(loss).unwrap();
            let spreads = [
                Spread::new(&axes[0], false, &[2, 1, 3, 2], objective, 1.0),
                Spread::new(&axes[1], false, &[2, 3, 1, 1, 1], objective, 2.0),
            ];
            let piece = Piece::new(&spreads, &fields, keys.clone());
            let own = |rows: &[u16]| -> f64 {
                let of_row = |&row: &u16| -> f64 {
                    let columns = spreads.iter().zip(&piece.columns);
                    columns
                        .map(|(spread, column)| spread.of_value(column.ranks[column.codes[row as usize] as usize]))
                        .sum()
                };
                rows.iter().map(of_row).sum()
            };
            let pays = |rows: &[u16]| piece.cost(rows) + own(rows);
            let (one, other) = ([0u16, 3, 5], [2u16, 4]);
            let covered = GrowingClass::of(&piece, &one);
            for row in [1u16, 2, 4, 6, 7] {
                let more = pays(&[0, 3, 5, row]) - pays(&one);
                assert!((covered.increase(&piece, row) - more).abs() < 1e-9, "{loss:?}, row {row}");
            }
            let more = pays(&[0, 3, 5, 2, 4]) - pays(&one);
            assert!((covered.increase_with(&piece, &GrowingClass::of(&piece, &other)) - more).abs() < 1e-9, "{loss:?}");
        }
    }
}
