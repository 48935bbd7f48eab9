//! The cost that rows would add to a class, for all rows of a piece at once.
//!
//! Rows that agree in everything a rule looks at are one *tuple*. Attributes with few values are
//! read together: one number stands for a combination that occurs, so that a tuple is a few bytes
//! and what it would add is a sum of as many table entries.

use super::piece::{Piece, PieceCell};

/// Combinations of one merged column at most: its number is a byte.
const NARROW: usize = 256;

/// Merged columns that are read at once.
const LANES: usize = 4;

/// Products of columns that are looked at when these are merged.
const PRODUCT_MAX: usize = 1 << 12;

/// Rows that are alike.
#[derive(Debug, Clone, Copy)]
pub struct Tuple {
    /// Where its rows begin in the order of rows.
    pub start: u16,
    pub rows: u16,
}

#[derive(Debug)]
pub struct Nearness<'p, const W: usize> {
    piece: &'p Piece<'p, W>,
    /// The rows, tuple after tuple.
    pub order: Vec<u16>,
    pub tuples: Vec<Tuple>,
    /// Merged columns, four at a time, by tuple.
    lanes: Vec<Vec<[u8; LANES]>>,
    merged: Vec<Merged>,
    tables: Vec<[[f32; NARROW]; LANES]>,
    /// Attributes with more values than a byte can number, by tuple.
    wide: Vec<(usize, Vec<u16>)>,
    /// By attribute and value, what a row with it would add.
    of_value: Vec<Vec<f32>>,
    /// By tuple, what its rows would add.
    pub increases: Vec<f32>,
}

/// Attributes that are read together.
#[derive(Debug)]
struct Merged {
    attributes: Vec<usize>,
    /// Combination after combination, the value of each attribute.
    combinations: Vec<u16>,
    codes: Vec<u8>,
}

impl Merged {
    fn len(&self) -> usize {
        self.combinations.len() / self.attributes.len()
    }

    /// With another attribute, where the combinations that occur stay few.
    fn with(&self, attribute: usize, codes: &[u16], values: usize, most: usize) -> Option<Merged> {
        if self.len() * values > PRODUCT_MAX {
            return None;
        }
        let mut numbers = vec![u16::MAX; self.len() * values];
        let mut merged = Merged {
            attributes: self.attributes.iter().copied().chain([attribute]).collect(),
            combinations: Vec::new(),
            codes: Vec::with_capacity(codes.len()),
        };
        let old = self.attributes.len();
        for (&here, &code) in self.codes.iter().zip(codes) {
            let number = &mut numbers[usize::from(here) * values + usize::from(code)];
            if *number == u16::MAX {
                let next = merged.len();
                if next == most {
                    return None;
                }
                *number = next as u16;
                let start = usize::from(here) * old;
                merged.combinations.extend(&self.combinations[start..start + old]);
                merged.combinations.push(code);
            }
            merged.codes.push(*number as u8);
        }
        Some(merged)
    }
}

impl<'p, const W: usize> Nearness<'p, W> {
    pub fn new(piece: &'p Piece<'p, W>) -> Self {
        let (order, tuples) = tuples(piece);
        let first = |tuple: &Tuple| order[usize::from(tuple.start)] as usize;
        let codes = |attribute: usize| {
            let codes = &piece.columns[attribute].codes;
            tuples.iter().map(|tuple| codes[first(tuple)]).collect::<Vec<u16>>()
        };
        let values = |attribute: usize| piece.columns[attribute].ranks.len();
        // Tables of combinations are made anew for every comparison: they must be short beside it.
        let most = (tuples.len() / 8).clamp(64, NARROW);
        let mut narrow: Vec<usize> =
            (0..piece.columns.len()).filter(|&attribute| values(attribute) <= NARROW).collect();
        narrow.sort_by_key(|&attribute| values(attribute));
        let mut merged: Vec<Merged> = Vec::new();
        for attribute in narrow {
            let (codes, values) = (codes(attribute), values(attribute));
            let together = merged.iter_mut().find_map(|merged| {
                let more = merged.with(attribute, &codes, values, most)?;
                *merged = more;
                Some(())
            });
            if together.is_none() {
                let combinations = (0..values as u16).collect();
                let codes = codes.iter().map(|&code| code as u8).collect();
                merged.push(Merged { attributes: vec![attribute], combinations, codes });
            }
        }
        let wide = (0..piece.columns.len()).filter(|&attribute| values(attribute) > NARROW);
        let wide = wide.map(|attribute| (attribute, codes(attribute))).collect();
        let lanes = merged.chunks(LANES).map(|merged| {
            let lanes =
                |tuple: usize| std::array::from_fn(|lane| merged.get(lane).map_or(0, |merged| merged.codes[tuple]));
            (0..tuples.len()).map(lanes).collect()
        });
        Nearness {
            lanes: lanes.collect(),
            tables: vec![[[0.0; NARROW]; LANES]; merged.len().div_ceil(LANES)],
            of_value: vec![Vec::new(); piece.columns.len()],
            increases: vec![0.0; tuples.len()],
            piece,
            order,
            tuples,
            merged,
            wide,
        }
    }

    /// The row that stands for a tuple.
    pub fn row(&self, tuple: usize) -> u16 {
        self.order[usize::from(self.tuples[tuple].start)]
    }

    /// Takes some of the rows of a tuple out. A tuple without rows gives its place to the last one.
    pub fn take(&mut self, tuple: usize, rows: u16) -> &[u16] {
        let taken = &mut self.tuples[tuple];
        taken.rows -= rows;
        let start = usize::from(taken.start + taken.rows);
        if taken.rows == 0 {
            self.tuples.swap_remove(tuple);
            self.lanes.iter_mut().for_each(|lanes| {
                lanes.swap_remove(tuple);
            });
            self.wide.iter_mut().for_each(|(_, codes)| {
                codes.swap_remove(tuple);
            });
            self.increases.pop();
        }
        &self.order[start..start + usize::from(rows)]
    }

    /// The cost that a row of every tuple would add to a class of the given size.
    pub fn compare(&mut self, cells: &[PieceCell], size: usize) {
        let attributes = cells.iter().zip(self.piece.spreads).zip(&self.piece.columns);
        for ((cell, (spread, column)), table) in
            attributes.map(|((cell, spread), column)| (cell, (spread, column))).zip(&mut self.of_value)
        {
            cell.increases(size, spread, column, table);
        }
        for (number, merged) in self.merged.iter().enumerate() {
            let table = &mut self.tables[number / LANES][number % LANES];
            for (sum, combination) in table.iter_mut().zip(merged.combinations.chunks_exact(merged.attributes.len())) {
                let of_each = merged.attributes.iter().zip(combination);
                *sum = of_each.map(|(&attribute, &code)| self.of_value[attribute][usize::from(code)]).sum();
            }
        }
        self.increases.fill(0.0);
        for (lanes, tables) in self.lanes.iter().zip(&self.tables) {
            let [a, b, c, d] = tables;
            for (increase, lane) in self.increases.iter_mut().zip(lanes) {
                let [i, j, k, l] = lane.map(usize::from);
                *increase += (a[i] + b[j]) + (c[k] + d[l]);
            }
        }
        for (attribute, codes) in &self.wide {
            let table = &self.of_value[*attribute];
            for (increase, &code) in self.increases.iter_mut().zip(codes) {
                *increase += table[usize::from(code)];
            }
        }
    }

    /// The tuple that would add the least; of several the first.
    pub fn nearest(&self, helps: impl Fn(usize) -> bool) -> Option<usize> {
        let mut nearest: Option<usize> = None;
        let mut least = f32::INFINITY;
        for (tuple, &increase) in self.increases.iter().enumerate() {
            if (increase < least || nearest.is_none()) && helps(tuple) {
                (nearest, least) = (Some(tuple), increase);
            }
        }
        nearest
    }

    /// The tuple that would add the most; of several the first.
    pub fn farthest(&self) -> usize {
        let mut farthest = 0;
        for (tuple, &increase) in self.increases.iter().enumerate() {
            if increase > self.increases[farthest] {
                farthest = tuple;
            }
        }
        farthest
    }
}

/// The rows of a piece, those that are alike together.
fn tuples<const W: usize>(piece: &Piece<'_, W>) -> (Vec<u16>, Vec<Tuple>) {
    let mut order: Vec<u16> = (0..piece.rows() as u16).collect();
    let values = |row: u16| {
        let quasi = piece.columns.iter().map(move |column| u32::from(column.codes[usize::from(row)]));
        quasi.chain(piece.others.iter().map(move |field| field.get(&piece.keys[usize::from(row)])))
    };
    order.sort_by(|&one, &other| values(one).cmp(values(other)));
    let mut tuples: Vec<Tuple> = Vec::new();
    for (place, &row) in (0u16..).zip(&order) {
        match tuples.last_mut() {
            Some(last) if values(order[usize::from(last.start)]).eq(values(row)) => last.rows += 1,
            _ => tuples.push(Tuple { start: place, rows: 1 }),
        }
    }
    (order, tuples)
}
