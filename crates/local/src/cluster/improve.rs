//! Makes classes cheaper, whatever made them. Those of a piece are annealed together (`anneal.rs`);
//! once that wins little, again and again a class with its neighbors is taken out, rows change
//! places between them or all are grouped anew (`patch.rs`). What is cheaper is put back.
//!
//! Classes are taken in pieces, all cores at once; in every round other ones share a piece. What
//! becomes of a piece depends on its rows alone, so that the result does not depend on the number
//! of threads. No step raises the loss: a run that stops earlier has a larger loss and a
//! sound one.

use std::time::Instant;

use hedgerow_policy::ClassLabels;
use hedgerow_table::frequency::KeyField;
use hedgerow_table::{Progress, parallel};

use super::anneal::anneal;
use super::checked::Checked;
use super::objective::Spread;
use super::patch::Patch;
use super::piece::{Piece, PieceCell, ROWS_MAX};
use crate::partition::PackedKey;
use crate::rules::Rules;

/// Rows of a piece, where no class has more: of many rows, there are near ones among fewer.
pub fn piece_rows(rows: usize) -> usize {
    if rows > MANY_ROWS { 512 } else { 1024 }
}

const MANY_ROWS: usize = 1 << 18;

/// Classes that are improved together, and how many rows they may have.
const CLASSES: usize = 8;
const PATCH_ROWS: usize = 40;

/// Larger classes are never the center of a patch: every row would be compared with every other.
const CENTER_ROWS_MAX: usize = 256;

/// Orders of classes, each of which decides who shares a piece.
const ORDERS: usize = 4;

/// A cost below this is treated as zero.
const NOTHING: f64 = 1e-9;

/// Where annealing wins less than this share of the cost in a round, classes are also taken with
/// their neighbors.
const RELATIVE_GAIN_SMALL: f64 = 3e-3;

/// A round that wins no more than this share of the cost is one that wins nothing.
const RELATIVE_GAIN_MIN: f64 = 1e-4;

/// When to stop although something could still be improved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImproveLimit {
    /// After this number of rows was tried; whole rounds.
    Tries(u64),
    Until(Instant),
    /// Never: until a round of every kind improves nothing.
    None,
}

impl ImproveLimit {
    /// Where neither a time nor `improve` is given.
    pub fn by_default(labels: ClassLabels) -> ImproveLimit {
        match labels {
            ClassLabels::Set => ImproveLimit::Tries(TRIES),
            ClassLabels::Hierarchy => ImproveLimit::Tries(HIERARCHY_TRIES),
        }
    }

    /// The limit for a number of rows among all: as many rounds as the whole would have.
    pub(super) fn of_part(self, part: Option<(u64, u64)>) -> ImproveLimit {
        match (self, part) {
            (ImproveLimit::Tries(most), Some((rows, whole))) => {
                ImproveLimit::Tries((u128::from(most) * u128::from(rows) / u128::from(whole.max(1))) as u64)
            }
            (limit, _) => limit,
        }
    }
}

/// Rows that are tried when no time is given: small tables until nothing improves, and large ones
/// as fast as they are read.
const TRIES: u64 = 20_000;

/// Neighbors are few among the parts of cuts, so that a first round wins much.
const HIERARCHY_TRIES: u64 = 40_000;

/// Rows in classes: places among the keys, class after class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowClasses {
    pub rows: Vec<u32>,
    pub sizes: Vec<u32>,
}

impl RowClasses {
    pub fn push(&mut self, class: impl Iterator<Item = u32>) {
        let before = self.rows.len();
        self.rows.extend(class);
        self.sizes.push((self.rows.len() - before) as u32);
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.rows.as_slice();
        self.sizes.iter().map(move |&size| {
            let (class, after) = rest.split_at(size as usize);
            rest = after;
            class
        })
    }

    /// Runs of neighboring classes that have `rows` rows at most, or are one class; the first has
    /// `first` at most.
    pub fn pieces(&self, first: usize, rows: usize) -> Vec<RowClasses> {
        let mut pieces = vec![RowClasses::default()];
        let mut most = first;
        for class in self.iter() {
            let last = pieces.last_mut().expect("never empty");
            if !last.sizes.is_empty() && last.rows.len() + class.len() > most {
                most = rows;
                pieces.push(RowClasses::default());
            }
            pieces.last_mut().expect("never empty").push(class.iter().copied());
        }
        pieces
    }
}

/// The classes to improve.
#[derive(Debug)]
pub struct Improving<'a, const W: usize> {
    pub spreads: &'a [Spread<'a>],
    pub fields: &'a [KeyField],
    pub keys: &'a [PackedKey<W>],
    pub rules: &'a Rules<'a>,
}

impl<const W: usize> Improving<'_, W> {
    pub fn run(&self, mut classes: RowClasses, limit: ImproveLimit, progress: &dyn Progress) -> RowClasses {
        let (mut tries, mut quiet, mut little) = (0, 0, false);
        for round in 0.. {
            tries += classes.rows.len() as u64;
            let over = match limit {
                ImproveLimit::Tries(most) => tries > most,
                ImproveLimit::Until(end) => Instant::now() >= end,
                ImproveLimit::None => false,
            };
            if over || quiet == ORDERS || classes.sizes.len() < 2 || stopped(progress) {
                break;
            }
            self.order(&mut classes, round);
            let rows = piece_rows(self.keys.len());
            let first = if round / 2 % 2 == 0 { rows / 2 } else { rows };
            let improved = parallel::map_items(classes.pieces(first, rows), |_, piece| {
                self.improve(piece, round, little, limit, progress)
            });
            let won: f64 = improved.iter().map(|(_, won, _)| won).sum();
            let cost: f64 = improved.iter().map(|(_, _, cost)| cost).sum();
            little |= won < RELATIVE_GAIN_SMALL * cost;
            quiet = if won > RELATIVE_GAIN_MIN * cost { 0 } else { quiet + 1 };
            classes = RowClasses::default();
            for (piece, ..) in improved {
                classes.rows.extend(piece.rows);
                classes.sizes.extend(piece.sizes);
            }
        }
        classes
    }

    /// The attributes that may decide which rows are near: where rules are about sizes alone, only
    /// the quasi attributes.
    pub fn seen(&self) -> &[KeyField] {
        if self.rules.by_size_alone() { &self.fields[..self.spreads.len()] } else { self.fields }
    }

    /// In turn by where their rows lie and by their values, another attribute first each time.
    pub fn order(&self, classes: &mut RowClasses, round: usize) {
        let mut order: Vec<&[u32]> = classes.iter().collect();
        if round.is_multiple_of(2) {
            order.sort_by_key(|class| class.iter().min());
        } else {
            let attributes = self.spreads.len();
            let mut fewest: Vec<usize> = (0..attributes).collect();
            fewest.sort_by_key(|&attribute| self.spreads[attribute].size());
            fewest.rotate_left(round / 2 % attributes.max(1));
            let row = |row: &u32| {
                let key = &self.keys[*row as usize];
                let with = |order: u128, &attribute: &usize| {
                    let field: KeyField = self.fields[attribute];
                    let bits = field.values().ilog2();
                    if order.leading_zeros() < bits { order } else { (order << bits) | u128::from(field.get(key)) }
                };
                // A bit before all others counts them.
                fewest.iter().fold(1, with)
            };
            let key = |class: &&[u32]| class.iter().map(row).min();
            order.sort_by_cached_key(key);
        }
        let mut ordered = RowClasses::default();
        order.iter().for_each(|class| ordered.push(class.iter().copied()));
        *classes = ordered;
    }

    /// The classes of a piece, what was won, and what they cost before.
    fn improve(
        &self,
        classes: RowClasses,
        round: usize,
        little: bool,
        limit: ImproveLimit,
        progress: &dyn Progress,
    ) -> (RowClasses, f64, f64) {
        if classes.sizes.len() < 2 || classes.rows.len() > ROWS_MAX {
            return (classes, 0.0, 0.0);
        }
        let keys = classes.rows.iter().map(|&row| self.keys[row as usize]).collect();
        let piece = Piece::new(self.spreads, self.seen(), keys);
        let mut work = Work::new(&piece, Checked::new(self.rules), &classes.sizes);
        let cost = work.costs.iter().sum();
        let late = || matches!(limit, ImproveLimit::Until(end) if Instant::now() >= end) || stopped(progress);
        let mut won = work.anneal(round, &late);
        if little {
            won += work.run(round, &late);
        }
        let mut improved = RowClasses::default();
        for class in &work.classes {
            improved.push(class.iter().map(|&row| classes.rows[row as usize]));
        }
        (improved, won, cost)
    }
}

fn stopped(progress: &dyn Progress) -> bool {
    progress.finishes_early() || progress.is_canceled()
}

/// One piece at work.
struct Work<'p, const W: usize> {
    piece: &'p Piece<'p, W>,
    rules: Checked<'p, W>,
    classes: Vec<Vec<u16>>,
    costs: Vec<f64>,
    /// By row.
    class_of: Vec<u16>,
    distances: Vec<f32>,
    table: Vec<f32>,
}

impl<'p, const W: usize> Work<'p, W> {
    fn new(piece: &'p Piece<'p, W>, rules: Checked<'p, W>, sizes: &[u32]) -> Self {
        let mut next = 0u16;
        let class = |&size: &u32| {
            next += size as u16;
            (next - size as u16..next).collect::<Vec<u16>>()
        };
        let classes: Vec<Vec<u16>> = sizes.iter().map(class).collect();
        let costs = classes.iter().map(|class| piece.cost(class)).collect();
        let mut work = Work {
            piece,
            rules,
            classes,
            costs,
            class_of: vec![0; piece.rows()],
            distances: Vec::new(),
            table: Vec::new(),
        };
        for class in 0..work.classes.len() {
            work.number(class);
        }
        work
    }

    fn number(&mut self, class: usize) {
        for &row in &self.classes[class] {
            self.class_of[row as usize] = class as u16;
        }
    }

    /// Anneals all classes together; what is dearer after that is not kept.
    fn anneal(&mut self, round: usize, late: &dyn Fn() -> bool) -> f64 {
        let old: f64 = self.costs.iter().sum();
        if old < NOTHING || late() {
            return 0.0;
        }
        let dear = old / self.classes.len() as f64;
        let classes = anneal(self.piece, &self.classes, dear, round, &mut self.rules, late);
        let costs: Vec<f64> = classes.iter().map(|class| self.piece.cost(class)).collect();
        let won = old - costs.iter().sum::<f64>();
        if won < NOTHING {
            return 0.0;
        }
        (self.classes, self.costs) = (classes, costs);
        for class in 0..self.classes.len() {
            self.number(class);
        }
        won
    }

    /// Tries every class with its neighbors once.
    fn run(&mut self, round: usize, late: &dyn Fn() -> bool) -> f64 {
        let mut won = 0.0;
        for center in 0..self.classes.len() {
            if late() {
                break;
            }
            let rows = self.classes[center].len();
            if rows == 0 || rows > CENTER_ROWS_MAX || self.costs[center] < NOTHING {
                continue;
            }
            won += self.improve_around(center, round);
        }
        // Classes that others took all rows of.
        self.classes.retain(|class| !class.is_empty());
        won
    }

    fn improve_around(&mut self, center: usize, round: usize) -> f64 {
        let chosen = self.neighborhood(center);
        if chosen.len() < 2 && self.classes[center].len() as u64 <= self.rules.minimum() {
            return 0.0;
        }
        let members: Vec<&[u16]> = chosen.iter().map(|&class| self.classes[class].as_slice()).collect();
        let mut kept = Patch::new(self.piece, &members);
        let old = kept.cost();
        kept.exchange(&mut self.rules);
        let mut anew = Patch::new(self.piece, &members);
        // Another row each round.
        if anew.regroup(round as u16 * 7, &mut self.rules) {
            anew.exchange(&mut self.rules);
            if anew.cost() < kept.cost() {
                kept = anew;
            }
        }
        let won = old - kept.cost();
        if won < NOTHING {
            return 0.0;
        }
        let mut classes = kept.classes();
        classes.resize_with(classes.len().max(chosen.len()), Vec::new);
        let more = classes.split_off(chosen.len());
        let mut places = chosen;
        for (&place, class) in places.iter().zip(classes) {
            self.classes[place] = class;
        }
        for class in more {
            places.push(self.classes.len());
            self.classes.push(class);
            self.costs.push(0.0);
        }
        for place in places {
            self.costs[place] = self.piece.cost(&self.classes[place]);
            self.number(place);
        }
        won
    }

    /// A class and those with the rows nearest to it.
    fn neighborhood(&mut self, center: usize) -> Vec<usize> {
        let size = self.classes[center].len();
        self.distances.clear();
        self.distances.resize(self.piece.rows(), 0.0);
        for (spread, column) in self.piece.spreads.iter().zip(&self.piece.columns) {
            let mut cell = PieceCell::default();
            self.classes[center].iter().for_each(|&row| cell.add(column.codes[row as usize], spread, column));
            cell.increases(size, spread, column, &mut self.table);
            for (distance, &code) in self.distances.iter_mut().zip(&column.codes) {
                *distance += self.table[code as usize];
            }
        }
        let mut nearest = vec![f32::INFINITY; self.classes.len()];
        for (&distance, &class) in self.distances.iter().zip(&self.class_of) {
            let nearest = &mut nearest[class as usize];
            *nearest = nearest.min(distance);
        }
        nearest[center] = f32::NEG_INFINITY;
        let mut order: Vec<usize> = (0..self.classes.len()).filter(|&class| !self.classes[class].is_empty()).collect();
        let near = order.len().min(CLASSES);
        let by_distance = |&a: &usize, &b: &usize| nearest[a].total_cmp(&nearest[b]).then(a.cmp(&b));
        if near < order.len() {
            order.select_nth_unstable_by(near, by_distance);
            order.truncate(near);
        }
        order.sort_unstable_by(by_distance);
        let mut rows = 0;
        let mut chosen = Vec::with_capacity(near);
        for class in order {
            rows += self.classes[class].len();
            if rows > PATCH_ROWS.max(3 * size) && (chosen.len() >= 2 || rows > 3 * CENTER_ROWS_MAX) {
                break;
            }
            chosen.push(class);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole of more rows than are tried has no round, and neither has a part of it, however few
    /// rows that has.
    #[test]
    fn a_part_is_improved_as_often_as_the_whole() {
        let limit = ImproveLimit::by_default(ClassLabels::Set);
        for (rows, whole) in [(1000, 1000), (1000, 3000), (1000, 10_001), (1000, 27_000), (20, 1 << 40)] {
            let ImproveLimit::Tries(tries) = limit.of_part(Some((rows, whole))) else { panic!("{limit:?}") };
            assert_eq!(tries / rows, TRIES / whole, "{rows} of {whole}");
        }
        assert_eq!(limit.of_part(None), limit);
        assert_eq!(ImproveLimit::None.of_part(Some((1, 2))), ImproveLimit::None);
    }
}
