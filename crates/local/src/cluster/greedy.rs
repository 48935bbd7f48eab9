//! Classes by the nearest neighbor: a row, then again and again the row that makes its class dearer
//! by the least, until the class keeps every rule (k-member: Byun, Kamra, Bertino, Li: *Efficient
//! k-anonymization using clustering techniques*, 2007). The next class begins with the row that is
//! farthest from the last one, so that rows at the edge find neighbors while there are some.
//!
//! All rows of a piece are compared with a class at once (`nearness.rs`).

use super::checked::Checked;
use super::nearness::{Nearness, Tuple};
use super::piece::{GrowingClass, Piece, PieceCell};

/// Classes that are tried for a row that is left, the nearest first, where rules can refuse it.
const TRIED: usize = 8;

/// Divides the rows of a piece into classes that keep every rule. `None` where even all of them
/// together keep not every rule.
pub fn greedy<const W: usize>(piece: &Piece<'_, W>, rules: &mut Checked<'_, W>) -> Option<Vec<Vec<u16>>> {
    let mut greedy = Greedy::new(piece);
    let mut classes: Vec<Vec<u16>> = Vec::new();
    let mut alone: Vec<u16> = Vec::new();
    while greedy.left as u64 >= rules.minimum() {
        let class = greedy.grow(rules);
        if rules.hold(piece, &class) { classes.push(class) } else { alone.extend(class) }
    }
    let near = &greedy.near;
    let rows = |tuple: &Tuple| &near.order[usize::from(tuple.start)..usize::from(tuple.start + tuple.rows)];
    alone.extend(near.tuples.iter().flat_map(rows));
    settle(piece, rules, &mut classes, alone)?;
    Some(classes)
}

struct Greedy<'p, const W: usize> {
    piece: &'p Piece<'p, W>,
    /// The rows that have no class yet.
    near: Nearness<'p, W>,
    left: usize,
    /// The class at hand.
    cells: Vec<PieceCell>,
    size: usize,
}

impl<'p, const W: usize> Greedy<'p, W> {
    fn new(piece: &'p Piece<'p, W>) -> Self {
        let cells = vec![PieceCell::default(); piece.columns.len()];
        Greedy { piece, near: Nearness::new(piece), left: piece.rows(), cells, size: 0 }
    }

    /// One class, until it keeps every rule or no row is left.
    fn grow(&mut self, rules: &mut Checked<'_, W>) -> Vec<u16> {
        let mut next = 0;
        if self.size > 0 {
            self.near.compare(&self.cells, self.size);
            next = self.near.farthest();
        }
        self.cells.iter_mut().for_each(PieceCell::clear);
        self.size = 0;
        let fewest = rules.minimum() as usize;
        let mut class: Vec<u16> = Vec::with_capacity(fewest);
        loop {
            // What sizes alone decide takes alike rows at once.
            let most = if rules.by_size_alone() { fewest - class.len() } else { 1 };
            self.take(next, most, &mut class);
            if self.left == 0 {
                return class;
            }
            let wanted = if class.len() < fewest {
                None
            } else if let Some(wanted) = rules.wanted(self.piece, &class) {
                Some(wanted)
            } else {
                return class;
            };
            self.near.compare(&self.cells, self.size);
            let helps = |tuple: usize| {
                let key = &self.piece.keys[usize::from(self.near.row(tuple))];
                wanted.as_ref().is_none_or(|wanted| wanted.is_helped_by(key))
            };
            next = self.near.nearest(helps).or_else(|| self.near.nearest(|_| true)).unwrap_or(0);
        }
    }

    /// Takes rows of a tuple into the class.
    fn take(&mut self, tuple: usize, most: usize, class: &mut Vec<u16>) {
        let row = usize::from(self.near.row(tuple));
        for ((cell, spread), column) in self.cells.iter_mut().zip(self.piece.spreads).zip(&self.piece.columns) {
            cell.add(column.codes[row], spread, column);
        }
        let rows = usize::from(self.near.tuples[tuple].rows).min(most);
        class.extend(self.near.take(tuple, rows as u16));
        self.size += rows;
        self.left -= rows;
    }
}

/// Rows without a class join the nearest one that keeps every rule with them. Those that none takes
/// are one class with the nearest others, as many as it needs.
fn settle<const W: usize>(
    piece: &Piece<'_, W>,
    rules: &mut Checked<'_, W>,
    classes: &mut Vec<Vec<u16>>,
    alone: Vec<u16>,
) -> Option<()> {
    let mut refused: Vec<u16> = Vec::new();
    let mut covered: Vec<GrowingClass> = classes.iter().map(|class| GrowingClass::of(piece, class)).collect();
    for row in alone {
        let increases = covered.iter().enumerate().map(|(number, class)| (class.increase(piece, row), number));
        let mut order: Vec<(f64, usize)> = increases.collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let taken = order.into_iter().take(TRIED).any(|(_, number)| {
            classes[number].push(row);
            let holds = rules.hold(piece, &classes[number]);
            if holds {
                covered[number].add(piece, row);
            } else {
                classes[number].pop();
            }
            holds
        });
        if !taken {
            refused.push(row);
        }
    }
    while !refused.is_empty() {
        if rules.hold(piece, &refused) {
            classes.push(std::mem::take(&mut refused));
            break;
        }
        let lone = GrowingClass::of(piece, &refused);
        let costs: Vec<f64> = covered.iter().map(|class| class.increase_with(piece, &lone)).collect();
        let nearest = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]))?;
        refused.extend(classes.swap_remove(nearest));
        covered.swap_remove(nearest);
    }
    Some(())
}
