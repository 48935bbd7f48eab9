//! A few classes next to each other, small enough to be judged by exact differences: rows change
//! places or move, or all are grouped anew.
//!
//! For every class and attribute the rows of each value are counted, so that what a class would
//! cost without one row and with another is found in a few steps for each attribute.

use super::checked::Checked;
use super::piece::Piece;

/// Less is rounding, not an improvement.
const LEAST: f64 = 1e-9;

/// Exchanges between classes of a patch; more hardly find anything.
const CHANGES_MAX: u32 = 64;

#[derive(Debug)]
pub struct Patch<'p, const W: usize> {
    piece: &'p Piece<'p, W>,
    /// The rows of the piece that are in it.
    rows: Vec<u16>,
    columns: Vec<PatchColumn>,
    /// By row and attribute, the place of its value.
    codes: Vec<u16>,
    /// How many values all attributes have together.
    values: usize,
    groups: Vec<PatchClass>,
}

/// One attribute, with the values of these few rows numbered anew.
#[derive(Debug)]
struct PatchColumn {
    /// Where its counts begin.
    start: usize,
    /// The rank of every value, and the rows of the table that have it.
    ranks: Vec<u32>,
    rows: Vec<u64>,
    is_set: bool,
}

/// A class.
#[derive(Debug, Clone, Default)]
struct PatchClass {
    /// As places in the patch.
    rows: Vec<u16>,
    counts: Vec<u16>,
    cells: Vec<PatchCell>,
    /// The cost of all its rows.
    cost: f64,
    /// For each of its rows what they would pay at least with another in its place: as much as
    /// without it.
    at_least: Vec<f64>,
    /// How often it was changed.
    changes: u32,
}

/// The cover of a class for one attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PatchCell {
    first: u16,
    last: u16,
    values: u16,
    /// Rows of the table under a set.
    rows: u64,
    /// The cost of each row.
    cost: f64,
}

const NOTHING: PatchCell = PatchCell { first: u16::MAX, last: 0, values: 0, rows: 0, cost: 0.0 };

impl<'p, const W: usize> Patch<'p, W> {
    pub fn new(piece: &'p Piece<'p, W>, classes: &[&[u16]]) -> Self {
        let rows: Vec<u16> = classes.iter().flat_map(|class| class.iter().copied()).collect();
        let mut start = 0;
        let attributes = piece.columns.len();
        let mut codes = vec![0u16; rows.len() * attributes];
        let mut columns: Vec<PatchColumn> = Vec::with_capacity(attributes);
        for (attribute, (column, spread)) in piece.columns.iter().zip(piece.spreads).enumerate() {
            let mut found: Vec<u16> = rows.iter().map(|&row| column.codes[row as usize]).collect();
            found.sort_unstable();
            found.dedup();
            for (place, &row) in codes[attribute..].iter_mut().step_by(attributes).zip(&rows) {
                let code = column.codes[row as usize];
                *place = found.partition_point(|&other| other < code) as u16;
            }
            let ranks: Vec<u32> = found.iter().map(|&code| column.ranks[code as usize]).collect();
            let table_rows = ranks.iter().map(|&rank| spread.rows(rank)).collect();
            columns.push(PatchColumn { start, ranks, rows: table_rows, is_set: spread.is_set() });
            start += found.len();
        }
        let groups = Vec::with_capacity(classes.len());
        let mut patch = Patch { piece, rows, columns, codes, values: start, groups };
        let mut next = 0u16;
        for class in classes {
            let mut group = patch.empty_group();
            for _ in *class {
                patch.add(&mut group, next);
                next += 1;
            }
            patch.bound(&mut group);
            patch.groups.push(group);
        }
        patch
    }

    pub fn cost(&self) -> f64 {
        self.groups.iter().map(|group| group.cost).sum()
    }

    /// The classes, as rows of the piece.
    pub fn classes(&self) -> Vec<Vec<u16>> {
        self.groups.iter().map(|group| self.in_piece(&group.rows)).collect()
    }

    fn in_piece(&self, rows: &[u16]) -> Vec<u16> {
        rows.iter().map(|&row| self.rows[row as usize]).collect()
    }

    fn empty_group(&self) -> PatchClass {
        let (counts, cells) = (vec![0; self.values], vec![NOTHING; self.columns.len()]);
        PatchClass { rows: Vec::new(), counts, cells, cost: 0.0, at_least: Vec::new(), changes: 0 }
    }

    fn code(&self, row: u16, attribute: usize) -> u16 {
        self.codes[row as usize * self.columns.len() + attribute]
    }

    fn add(&self, group: &mut PatchClass, row: u16) {
        for attribute in 0..self.columns.len() {
            let code = self.code(row, attribute);
            group.cells[attribute] = self.cell(group, attribute, None, Some(code));
            group.counts[self.columns[attribute].start + usize::from(code)] += 1;
        }
        group.rows.push(row);
        self.weigh(group);
    }

    fn remove(&self, group: &mut PatchClass, row: u16) {
        for attribute in 0..self.columns.len() {
            let code = self.code(row, attribute);
            group.cells[attribute] = self.cell(group, attribute, Some(code), None);
            group.counts[self.columns[attribute].start + usize::from(code)] -= 1;
        }
        group.rows.retain(|&other| other != row);
        self.weigh(group);
    }

    fn weigh(&self, group: &mut PatchClass) {
        group.cost = group.rows.len() as f64 * group.cells.iter().map(|cell| cell.cost).sum::<f64>();
    }

    fn bound(&self, group: &mut PatchClass) {
        let size = group.rows.len() as f64;
        let scaled = size / (size - 1.0).max(1.0);
        let without = |&row: &u16| scaled * self.cost_after(group, Some(row), None, f64::INFINITY);
        group.at_least = group.rows.iter().map(without).collect();
        group.changes += 1;
    }

    /// The cost of a class without one row and with another; where that is `most` or more, any
    /// such number.
    fn cost_after(&self, group: &PatchClass, without: Option<u16>, with: Option<u16>, most: f64) -> f64 {
        let size = (group.rows.len() + usize::from(with.is_some()) - usize::from(without.is_some())) as f64;
        let codes = |row: Option<u16>| {
            let start = row.map_or(0, usize::from) * self.columns.len();
            &self.codes[start..start + self.columns.len()]
        };
        let (old, new) = (codes(without), codes(with));
        let mut cost = 0.0;
        for (attribute, (&old, &new)) in old.iter().zip(new).enumerate() {
            cost += size * self.cell(group, attribute, without.map(|_| old), with.map(|_| new)).cost;
            if cost >= most {
                return cost;
            }
        }
        cost
    }

    /// The cover of a class for an attribute without a row of one value and with one of another.
    #[inline]
    fn cell(&self, group: &PatchClass, attribute: usize, without: Option<u16>, with: Option<u16>) -> PatchCell {
        let column = &self.columns[attribute];
        let spread = &self.piece.spreads[attribute];
        let old = group.cells[attribute];
        if without == with {
            return old;
        }
        let counts = &group.counts[column.start..column.start + column.ranks.len()];
        let gone = without.filter(|&code| counts[usize::from(code)] == 1);
        let new = with.filter(|&code| counts[usize::from(code)] == 0);
        if gone.is_none() && new.is_none() {
            return old;
        }
        let mut cell = old;
        if let Some(code) = gone {
            cell.values -= 1;
            if cell.values == 0 {
                cell = NOTHING;
            } else if column.is_set {
                cell.rows -= column.rows[usize::from(code)];
            } else {
                while counts[usize::from(cell.first)] == 0 || cell.first == code {
                    cell.first += 1;
                }
                while counts[usize::from(cell.last)] == 0 || cell.last == code {
                    cell.last -= 1;
                }
            }
        }
        if let Some(code) = new {
            cell.values += 1;
            if column.is_set {
                cell.rows += column.rows[usize::from(code)];
            } else {
                cell.first = cell.first.min(code);
                cell.last = cell.last.max(code);
            }
        }
        cell.cost = match cell.values {
            0 => 0.0,
            _ if column.is_set => spread.of_set(u32::from(cell.values), cell.rows),
            _ => spread.of_span(column.ranks[usize::from(cell.first)], column.ranks[usize::from(cell.last)]),
        };
        cell
    }

    /// Moves and exchanges rows between every two classes while something is won.
    pub fn exchange(&mut self, rules: &mut Checked<'_, W>) {
        let groups = self.groups.len();
        // As which two classes they were looked at last.
        let mut tried = vec![(0, 0); groups * groups];
        let mut left = CHANGES_MAX;
        loop {
            let mut improved = false;
            for one in 0..groups {
                for other in 0..one {
                    let now = |patch: &Self| (patch.groups[one].changes, patch.groups[other].changes);
                    if tried[one * groups + other] == now(self) {
                        continue;
                    }
                    while left > 0 && self.change_once(one, other, rules) {
                        (improved, left) = (true, left - 1);
                    }
                    tried[one * groups + other] = now(self);
                }
            }
            if !improved || left == 0 {
                return;
            }
        }
    }

    /// The first pair of rows, or row, that wins something.
    fn change_once(&mut self, one: usize, other: usize, rules: &mut Checked<'_, W>) -> bool {
        self.exchange_once(one, other, rules) || self.move_once(one, other, rules) || self.move_once(other, one, rules)
    }

    fn exchange_once(&mut self, one: usize, other: usize, rules: &mut Checked<'_, W>) -> bool {
        let (left, right) = (&self.groups[one], &self.groups[other]);
        let most = left.cost + right.cost - LEAST;
        let least_right = right.at_least.iter().copied().fold(f64::INFINITY, f64::min);
        let mut found = None;
        'search: for (&mine, &without_mine) in left.rows.iter().zip(&left.at_least) {
            if without_mine + least_right >= most {
                continue;
            }
            for (&theirs, &without_theirs) in right.rows.iter().zip(&right.at_least) {
                if without_mine + without_theirs >= most {
                    continue;
                }
                let new = self.cost_after(left, Some(mine), Some(theirs), most - without_theirs);
                if new + without_theirs >= most
                    || new + self.cost_after(right, Some(theirs), Some(mine), most - new) >= most
                {
                    continue;
                }
                if self.holds_after(left, Some(mine), Some(theirs), rules)
                    && self.holds_after(right, Some(theirs), Some(mine), rules)
                {
                    found = Some((mine, theirs));
                    break 'search;
                }
            }
        }
        let Some((mine, theirs)) = found else { return false };
        self.change(one, |patch, group| {
            patch.remove(group, mine);
            patch.add(group, theirs);
        });
        self.change(other, |patch, group| {
            patch.remove(group, theirs);
            patch.add(group, mine);
        });
        true
    }

    fn move_once(&mut self, from: usize, to: usize, rules: &mut Checked<'_, W>) -> bool {
        let (source, target) = (&self.groups[from], &self.groups[to]);
        if source.rows.len() as u64 <= rules.minimum() {
            return false;
        }
        let most = source.cost + target.cost - LEAST;
        let wins = |row: u16| {
            let rest = self.cost_after(source, Some(row), None, most);
            rest + target.cost < most && rest + self.cost_after(target, None, Some(row), most - rest) < most
        };
        let moved = source.rows.iter().copied().find(|&row| {
            wins(row)
                && self.holds_after(source, Some(row), None, rules)
                && self.holds_after(target, None, Some(row), rules)
        });
        let Some(row) = moved else { return false };
        self.change(from, |patch, group| patch.remove(group, row));
        self.change(to, |patch, group| patch.add(group, row));
        true
    }

    fn change(&mut self, group: usize, change: impl FnOnce(&Self, &mut PatchClass)) {
        let mut changed = self.groups.swap_remove(group);
        change(self, &mut changed);
        self.bound(&mut changed);
        self.groups.push(changed);
        let last = self.groups.len() - 1;
        self.groups.swap(group, last);
    }

    fn holds_after(
        &self,
        group: &PatchClass,
        without: Option<u16>,
        with: Option<u16>,
        rules: &mut Checked<'_, W>,
    ) -> bool {
        if rules.by_size_alone() {
            let size = group.rows.len() + usize::from(with.is_some()) - usize::from(without.is_some());
            return size as u64 >= rules.minimum();
        }
        let rows = group.rows.iter().copied().filter(|&row| Some(row) != without).chain(with);
        rules.hold(self.piece, &self.in_piece(&rows.collect::<Vec<u16>>()))
    }

    /// How many rows a class has.
    pub fn size(&self, group: usize) -> usize {
        self.groups[group].rows.len()
    }

    /// A row of a class, as a place in the patch.
    pub fn member(&self, group: usize, index: usize) -> u16 {
        self.groups[group].rows[index]
    }

    /// Moves a row to another class, for one that is there if one is given, where both together
    /// get dearer by `dearer` at most and keep every rule. The bounds of the two are not kept.
    pub fn try_change(
        &mut self,
        (from, mine): (usize, u16),
        (to, theirs): (usize, Option<u16>),
        dearer: f64,
        rules: &mut Checked<'_, W>,
    ) -> bool {
        let (source, target) = (&self.groups[from], &self.groups[to]);
        let most = source.cost + target.cost + dearer;
        let new = self.cost_after(target, theirs, Some(mine), most);
        if new > most || new + self.cost_after(source, Some(mine), theirs, most - new) > most {
            return false;
        }
        if !self.holds_after(target, theirs, Some(mine), rules) || !self.holds_after(source, Some(mine), theirs, rules)
        {
            return false;
        }
        let mut source = std::mem::take(&mut self.groups[from]);
        let mut target = std::mem::take(&mut self.groups[to]);
        self.remove(&mut source, mine);
        if let Some(theirs) = theirs {
            self.remove(&mut target, theirs);
            self.add(&mut source, theirs);
        }
        self.add(&mut target, mine);
        (self.groups[from], self.groups[to]) = (source, target);
        true
    }

    /// Groups all rows anew, from one of them on: every class begins with the row farthest from the
    /// one before. Whether all classes then keep every rule.
    pub fn regroup(&mut self, first: u16, rules: &mut Checked<'_, W>) -> bool {
        let mut left: Vec<u16> = (0..self.rows.len() as u16).collect();
        self.groups.clear();
        let mut seed = usize::from(first) % left.len().max(1);
        while left.len() as u64 >= rules.minimum() {
            let mut group = self.empty_group();
            self.add(&mut group, left.swap_remove(seed));
            while !left.is_empty() {
                let wanted = if (group.rows.len() as u64) < rules.minimum() {
                    None
                } else if let Some(wanted) = rules.wanted(self.piece, &self.in_piece(&group.rows)) {
                    Some(wanted)
                } else {
                    break;
                };
                let helps = |row: u16| {
                    let key = &self.piece.keys[self.rows[row as usize] as usize];
                    wanted.as_ref().is_none_or(|wanted| wanted.is_helped_by(key))
                };
                let all = || left.iter().enumerate().map(|(index, &row)| (index, row));
                let cost = |row: u16, most: f64| self.cost_after(&group, None, Some(row), most);
                let nearest = nearest(all().filter(|&(_, row)| helps(row)), cost);
                let nearest = nearest.or_else(|| self::nearest(all(), cost));
                let Some(nearest) = nearest else { break };
                let row = left.swap_remove(nearest);
                self.add(&mut group, row);
            }
            let away = |&row: &u16| -self.cost_after(&group, None, Some(row), f64::INFINITY);
            seed = least(left.iter().map(away).enumerate()).unwrap_or(0);
            self.bound(&mut group);
            self.groups.push(group);
        }
        for row in left {
            let costs =
                self.groups.iter().map(|group| self.cost_after(group, None, Some(row), f64::INFINITY) - group.cost);
            let Some(nearest) = least(costs.enumerate()) else { return false };
            self.change(nearest, |patch, group| patch.add(group, row));
        }
        self.groups.iter().all(|group| self.holds_after(group, None, None, rules))
    }
}

/// The row that costs the least, of several the first. The cost of others need not be known.
fn nearest(rows: impl Iterator<Item = (usize, u16)>, cost: impl Fn(u16, f64) -> f64) -> Option<usize> {
    let mut nearest = None;
    let mut most = f64::INFINITY;
    for (index, row) in rows {
        let cost = cost(row, most);
        if nearest.is_none() || cost < most {
            (nearest, most) = (Some(index), cost);
        }
    }
    nearest
}

/// Which has the least; of several the first.
fn least(costs: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
    costs.reduce(|least, next| if next.1 < least.1 { next } else { least }).map(|(index, _)| index)
}
