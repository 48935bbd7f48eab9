//! Annealing (Kirkpatrick, Gelatt, Vecchi: *Optimization by simulated annealing*, 1983): rows near
//! each other change classes even where that costs a little, less and less so, until only what is
//! cheaper is done. Greedy classes are dear where the last of their rows had no choice left; no
//! single exchange mends that.
//!
//! A row goes to the class of a row near to it, for one that is there, or alone where its own class
//! can spare it. The sequence of trials is fixed, and who calls keeps the result only if it is
//! cheaper.

use super::checked::Checked;
use super::nearness::Nearness;
use super::patch::Patch;
use super::piece::{Piece, PieceCell};

/// Tuples near to a tuple that its rows try to join.
const NEAR: usize = 6;

/// Trials for each row.
const TRIALS: usize = 100;

/// How much dearer a change may make the two classes on average, at first and at last, as a share
/// of what a class costs.
const TEMPERATURE_FIRST: f64 = 0.07;
const TEMPERATURE_LAST: f64 = 0.012;

/// Trials between two temperatures.
const TRIALS_PER_TEMPERATURE: usize = 256;

/// One trial in this number moves a row alone, where the class can spare it.
const MOVES: usize = 3;

/// A sequence of numbers that is the same every time (xorshift: Marsaglia, 2003).
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 32
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as u64) >> 32) as usize
    }

    /// Exponentially distributed, 1 on average.
    fn patience(&mut self) -> f64 {
        -((self.next() as f64 + 0.5) / 4_294_967_296.0).ln()
    }
}

/// Which rows of a piece are near to which.
struct Neighbors<'p, const W: usize> {
    near: Nearness<'p, W>,
    /// By row.
    tuple_of: Vec<u16>,
    /// By tuple, `NEAR` others; fewer where there are fewer.
    nearest: Vec<Vec<u16>>,
}

impl<'p, const W: usize> Neighbors<'p, W> {
    fn new(piece: &'p Piece<'p, W>) -> Self {
        let mut near = Nearness::new(piece);
        let mut tuple_of = vec![0u16; piece.rows()];
        let mut nearest = Vec::with_capacity(near.tuples.len());
        let mut cells = vec![PieceCell::default(); piece.columns.len()];
        let mut order: Vec<u16> = Vec::new();
        for tuple in 0..near.tuples.len() {
            let (start, rows) = (usize::from(near.tuples[tuple].start), usize::from(near.tuples[tuple].rows));
            near.order[start..start + rows].iter().for_each(|&row| tuple_of[usize::from(row)] = tuple as u16);
            let row = usize::from(near.row(tuple));
            for ((cell, spread), column) in cells.iter_mut().zip(piece.spreads).zip(&piece.columns) {
                cell.clear();
                cell.add(column.codes[row], spread, column);
            }
            near.compare(&cells, 1);
            order.clear();
            // A tuple of several rows is near to itself.
            order.extend((0..near.tuples.len() as u16).filter(|&other| usize::from(other) != tuple || rows > 1));
            let by_increase = |&one: &u16, &other: &u16| {
                let increase = |tuple: u16| near.increases[usize::from(tuple)];
                increase(one).total_cmp(&increase(other)).then(one.cmp(&other))
            };
            if order.len() > NEAR {
                order.select_nth_unstable_by(NEAR, by_increase);
                order.truncate(NEAR);
            }
            order.sort_unstable_by(by_increase);
            nearest.push(order.clone());
        }
        Neighbors { near, tuple_of, nearest }
    }

    /// A row near to another.
    fn pick(&self, row: u16, sequence: &mut Sequence) -> Option<u16> {
        let nearest = &self.nearest[usize::from(self.tuple_of[usize::from(row)])];
        if nearest.is_empty() {
            return None;
        }
        let tuple = self.near.tuples[usize::from(nearest[sequence.below(nearest.len())])];
        let place = usize::from(tuple.start) + sequence.below(usize::from(tuple.rows));
        Some(self.near.order[place])
    }
}

/// The classes of a whole piece after annealing: not always cheaper. `dear` is what a class costs
/// on average beyond what is unavoidable.
pub fn anneal<const W: usize>(
    piece: &Piece<'_, W>,
    classes: &[Vec<u16>],
    dear: f64,
    round: usize,
    rules: &mut Checked<'_, W>,
    stopped: &dyn Fn() -> bool,
) -> Vec<Vec<u16>> {
    let neighbors = Neighbors::new(piece);
    let members: Vec<&[u16]> = classes.iter().map(Vec::as_slice).collect();
    let mut patch = Patch::new(piece, &members);
    let mut place = vec![0u16; piece.rows()];
    let mut class_of = vec![0u16; piece.rows()];
    let mut next = 0u16;
    for (number, class) in (0u16..).zip(classes) {
        for &row in class {
            place[usize::from(row)] = next;
            class_of[usize::from(next)] = number;
            next += 1;
        }
    }
    let mut sequence = Sequence(0x9e37_79b9_7f4a_7c15 ^ (round as u64 + 1).wrapping_mul(0xd134_2543_de82_ef95));
    let rows = piece.rows();
    let trials = rows * TRIALS;
    let mut warmth = TEMPERATURE_FIRST * dear;
    let colder = (TEMPERATURE_LAST / TEMPERATURE_FIRST).powf(TRIALS_PER_TEMPERATURE as f64 / trials.max(1) as f64);
    for trial in 0..trials {
        if trial % TRIALS_PER_TEMPERATURE == 0 {
            warmth *= colder;
            if stopped() {
                break;
            }
        }
        let row = sequence.below(rows) as u16;
        let Some(beside) = neighbors.pick(row, &mut sequence) else { continue };
        let (mine, beside) = (place[usize::from(row)], place[usize::from(beside)]);
        let (from, to) = (class_of[usize::from(mine)], class_of[usize::from(beside)]);
        if from == to {
            continue;
        }
        let dearer = warmth * sequence.patience();
        let (one, other) = (usize::from(from), usize::from(to));
        let theirs = if patch.size(one) as u64 > rules.minimum() && sequence.below(MOVES) == 0 {
            None
        } else {
            let theirs = patch.member(other, sequence.below(patch.size(other)));
            if theirs == beside {
                continue;
            }
            Some(theirs)
        };
        if patch.try_change((one, mine), (other, theirs), dearer, rules) {
            class_of[usize::from(mine)] = to;
            if let Some(theirs) = theirs {
                class_of[usize::from(theirs)] = from;
            }
        }
    }
    patch.classes()
}
