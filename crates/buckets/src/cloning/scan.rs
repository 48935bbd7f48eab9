//! The paper's assignment, kept for comparison: class after class, from ρ tuples of every value
//! those that cost the fewest generalization steps (Baig et al. 2011, algorithm 1). Quadratic:
//! every class looks at a share of the table.

use hedgerow_draft::bind::Bound;
use hedgerow_table::{Progress, Ratio};
use rand::RngExt;
use rand::rngs::StdRng;

use super::assignment::Assigned;
use super::division::Division;

/// The state of a class, attribute by attribute: some value under its label, and the
/// label's level.
struct Grown<'a> {
    bound: &'a Bound<'a>,
    cells: Vec<Option<(u32, usize)>>,
}

impl Grown<'_> {
    /// The level on which an attribute of the class and of the tuple have the same label.
    fn level_with(&self, attribute: usize, row: u32) -> (u32, usize) {
        let quasi = &self.bound.quasi[attribute];
        let code = quasi.column.codes.get(row as usize);
        let Some((inside, level)) = self.cells[attribute] else { return (code, 0) };
        let levels = quasi.hierarchy.levels();
        let meets = |level: &usize| levels[*level].map[code as usize] == levels[*level].map[inside as usize];
        (inside, (level..levels.len()).find(meets).unwrap_or(levels.len() - 1))
    }

    /// Generalization steps over all attributes if the tuple joined.
    fn steps_with(&self, row: u32) -> usize {
        (0..self.cells.len()).map(|attribute| self.level_with(attribute, row).1).sum()
    }

    fn take(&mut self, row: u32) {
        for attribute in 0..self.cells.len() {
            self.cells[attribute] = Some(self.level_with(attribute, row));
        }
    }
}

/// As [`super::assignment::assign`], looking at this share of all tuples for every class and value.
pub(super) fn assign(
    bound: &Bound<'_>,
    division: &Division,
    units: &[u64],
    mut rows: Vec<Vec<u32>>,
    share: Ratio,
    rng: &mut StdRng,
    progress: &dyn Progress,
) -> Vec<Assigned> {
    let looked_at = (share.as_f64() * bound.table.rows as f64).ceil() as usize;
    let tuples: Vec<u64> = rows.iter().map(|rows| rows.len() as u64).collect();
    let all: u64 = units.iter().sum();
    let mut before = 0;
    let mut assigned = Vec::with_capacity(units.len());
    for &units in units {
        if progress.is_canceled() {
            break;
        }
        let mut grown = Grown { bound, cells: vec![None; bound.quasi.len()] };
        let mut class = Assigned { rows: Vec::new(), counterfeits: Vec::new(), units };
        for ((share, left), &tuples) in division.shares.iter().zip(&mut rows).zip(&tuples) {
            let wanted = (share.per_class * units) as usize;
            // Where there are too few, every class does with its part of them, not the last ones
            // with none.
            let part = (tuples * (before + units) / all - tuples * before / all) as usize;
            let taken = if tuples >= share.per_class * all { wanted } else { wanted.min(part) };
            for row in closest(&grown, left, looked_at, taken, rng) {
                grown.take(row);
                class.rows.push(row);
            }
            class.counterfeits.push((wanted - taken) as u64);
        }
        before += units;
        // Twice, as where rows are packed first.
        progress.advance(2 * class.rows.len() as u64);
        assigned.push(class);
    }
    assigned
}

/// Takes the closest tuples out of those looked at, from a random place on.
fn closest(grown: &Grown<'_>, left: &mut Vec<u32>, looked_at: usize, taken: usize, rng: &mut StdRng) -> Vec<u32> {
    if taken == 0 {
        return Vec::new();
    }
    let most = looked_at.max(taken).min(left.len());
    let start = if most == left.len() { 0 } else { rng.random_range(0..left.len()) };
    let places = (0..most).map(|step| (start + step) % left.len());
    let mut costs: Vec<(usize, u32, usize)> =
        places.map(|place| (grown.steps_with(left[place]), left[place], place)).collect();
    if taken < costs.len() {
        costs.select_nth_unstable(taken);
        costs.truncate(taken);
    }
    // From the back, so that places before stay what they were.
    costs.sort_unstable_by_key(|&(_, _, place)| std::cmp::Reverse(place));
    costs.into_iter().map(|(_, _, place)| left.swap_remove(place)).collect()
}
