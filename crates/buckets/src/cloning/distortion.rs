//! How far apart the tuples of a class lie, so that ways to assign them can be compared.

use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_draft::clone_report::Distortion;
use hedgerow_table::parallel;

use super::assignment::Assigned;

pub(super) fn of_classes(bound: &Bound<'_>, classes: &[Assigned]) -> Distortion {
    let of_class = |class: &Assigned| -> (u64, f64) {
        let rows = class.rows.len();
        let cells = bound.quasi.iter().map(|quasi| of_cell(quasi, &class.rows));
        cells.fold((0, 0.0), |(steps, ncp), (level, width)| (steps + (level * rows) as u64, ncp + width * rows as f64))
    };
    // Added up in the order of the classes, whichever thread is first.
    let each: Vec<(u64, f64)> = parallel::map(classes.len(), |class| of_class(&classes[class]));
    let cells: usize = classes.iter().map(|class| class.rows.len() * bound.quasi.len()).sum();
    let ncp: f64 = each.iter().map(|&(_, ncp)| ncp).sum();
    Distortion { steps: each.iter().map(|&(steps, _)| steps).sum(), ncp: ncp / cells.max(1) as f64 }
}

/// The level on which all have one label, and how much of the attribute their smallest cell covers.
fn of_cell(quasi: &Quasi<'_>, rows: &[u32]) -> (usize, f64) {
    let levels = quasi.hierarchy.levels();
    let domain = &quasi.column.domain;
    let mut seen = vec![false; domain.cardinality()];
    rows.iter().for_each(|&row| seen[quasi.column.codes.get(row as usize) as usize] = true);
    let codes = || (0..seen.len()).filter(|&code| seen[code]);
    let (Some(first), Some(last)) = (codes().next(), codes().next_back()) else { return (0, 0.0) };
    let together = |level: &usize| {
        let map = &levels[*level].map;
        codes().all(|code| map[code] == map[first])
    };
    let level = (0..levels.len()).find(together).unwrap_or(levels.len() - 1);
    if level == 0 {
        return (0, 0.0);
    }
    let number = |code: usize| domain.number(code as u32);
    let (Some(low), Some(high)) = (number(first), number(last)) else {
        let under = levels[level].map.iter().filter(|&&label| label == levels[level].map[first]).count();
        return (level, under as f64 / domain.cardinality() as f64);
    };
    let width = number(domain.present() - 1).unwrap_or(high) - number(0).unwrap_or(low);
    (level, if width > 0.0 { (high - low) / width } else { 0.0 })
}
