//! Classes by the nearest neighbor: a row, then again and again the row that makes its class dearer
//! by the least, until the class keeps every rule (k-member: Byun, Kamra, Bertino, Li: *Efficient
//! k-anonymization using clustering techniques*, 2007). The next class begins with the row that is
//! farthest from the last one, so that rows at the edge find neighbors while there are some.
//!
//! All rows of a piece are compared with a class at once: what a row would add is one number for
//! each of its values, read from a table by value.

use super::checked::Checked;
use super::piece::{Cell, Piece};

/// Classes that are tried for a row that is left, the nearest first, where rules can refuse it.
const TRIED: usize = 8;

/// Divides the rows of a piece into classes that keep every rule. `None` where even all of them
/// together keep not every rule.
pub fn greedy<const W: usize>(piece: &Piece<'_, W>, rules: &mut Checked<'_, W>) -> Option<Vec<Vec<u16>>> {
    let mut greedy = Greedy::new(piece);
    let mut classes: Vec<Vec<u16>> = Vec::new();
    let mut alone: Vec<u16> = Vec::new();
    while greedy.left.len() as u64 >= rules.minimum() {
        let class = greedy.grow(rules);
        if rules.hold(piece, &class) { classes.push(class) } else { alone.extend(class) }
    }
    alone.extend(&greedy.left);
    settle(piece, rules, &mut classes, alone)?;
    Some(classes)
}

struct Greedy<'p, const W: usize> {
    piece: &'p Piece<'p, W>,
    /// The rows that have no class yet, and by attribute their codes.
    left: Vec<u16>,
    codes: Vec<Vec<u16>>,
    /// What each of them would add to the class at hand.
    increases: Vec<f32>,
    tables: Vec<Vec<f32>>,
    cells: Vec<Cell>,
    size: usize,
}

impl<'p, const W: usize> Greedy<'p, W> {
    fn new(piece: &'p Piece<'p, W>) -> Self {
        let attributes = piece.columns.len();
        Greedy {
            piece,
            left: (0..piece.rows() as u16).collect(),
            codes: piece.columns.iter().map(|column| column.codes.clone()).collect(),
            increases: Vec::new(),
            tables: vec![Vec::new(); attributes],
            cells: vec![Cell::default(); attributes],
            size: 0,
        }
    }

    /// One class, until it keeps every rule or no row is left.
    fn grow(&mut self, rules: &mut Checked<'_, W>) -> Vec<u16> {
        let seed = if self.size == 0 { 0 } else { self.farthest() };
        self.cells.iter_mut().for_each(|cell| *cell = Cell::default());
        self.size = 0;
        let mut class = vec![self.take(seed)];
        while !self.left.is_empty() {
            let wanted = if (class.len() as u64) < rules.minimum() {
                None
            } else if let Some(wanted) = rules.wanted(self.piece, &class) {
                Some(wanted)
            } else {
                break;
            };
            self.compare();
            let helps = |&index: &usize| {
                wanted.as_ref().is_none_or(|wanted| wanted.is_helped_by(&self.piece.keys[self.left[index] as usize]))
            };
            let nearest = self.nearest(helps).or_else(|| self.nearest(|_| true)).unwrap_or(0);
            class.push(self.take(nearest));
        }
        class
    }

    /// Takes a row into the class.
    fn take(&mut self, index: usize) -> u16 {
        let row = self.left.swap_remove(index);
        for (attribute, codes) in self.codes.iter_mut().enumerate() {
            let code = codes.swap_remove(index);
            self.cells[attribute].add(code, &self.piece.spreads[attribute], &self.piece.columns[attribute]);
        }
        self.size += 1;
        row
    }

    /// What every row that is left would add to the class.
    fn compare(&mut self) {
        self.increases.clear();
        self.increases.resize(self.left.len(), 0.0);
        for (attribute, codes) in self.codes.iter().enumerate() {
            let table = &mut self.tables[attribute];
            let (spread, column) = (&self.piece.spreads[attribute], &self.piece.columns[attribute]);
            self.cells[attribute].increases(self.size, spread, column, table);
            for (increase, &code) in self.increases.iter_mut().zip(codes) {
                *increase += table[code as usize];
            }
        }
    }

    fn nearest(&self, helps: impl Fn(&usize) -> bool) -> Option<usize> {
        let mut nearest: Option<usize> = None;
        for index in 0..self.increases.len() {
            if nearest.is_none_or(|nearest| self.increases[index] < self.increases[nearest]) && helps(&index) {
                nearest = Some(index);
            }
        }
        nearest
    }

    /// From the last class.
    fn farthest(&mut self) -> usize {
        self.compare();
        let mut farthest = 0;
        for index in 1..self.increases.len() {
            if self.increases[index] > self.increases[farthest] {
                farthest = index;
            }
        }
        farthest
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
    for row in alone {
        let mut order: Vec<(f64, usize)> = Vec::with_capacity(classes.len());
        for (number, class) in classes.iter_mut().enumerate() {
            let old = piece.cost(class);
            class.push(row);
            order.push((piece.cost(class) - old, number));
            class.pop();
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let taken = order.into_iter().take(TRIED).any(|(_, number)| {
            classes[number].push(row);
            let holds = rules.hold(piece, &classes[number]);
            if !holds {
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
        let merged = |class: &Vec<u16>| piece.cost(&[refused.as_slice(), class].concat()) - piece.cost(class);
        let costs: Vec<f64> = classes.iter().map(merged).collect();
        let nearest = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]))?;
        refused.extend(classes.swap_remove(nearest));
    }
    Some(())
}
