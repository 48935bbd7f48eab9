//! Full-domain recoding without some of its classes: what an audit found exposed is suppressed.

use std::borrow::Cow;
use std::collections::HashSet;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::loss::LossModel;
use hedgerow_privacy::Judge;
use hedgerow_table::{Codes, with_words};

use crate::full_domain::{codes_at, loss_models};
use crate::search::BestNode;

/// A release at its levels without the classes of some rows; `None` where a rule breaks without
/// them, or more rows would be suppressed than are allowed. Rows of units are not suppressed this
/// way, nor where rules are consistent.
pub fn without_classes(bound: &Bound<'_>, judge: &Judge, found: BestNode, rows: &[u32]) -> Option<BestNode> {
    if bound.units().is_some() || bound.consistent().is_some() || bound.row_counts().is_some() {
        return None;
    }
    with_words!(judge.layout().words(), W => remaining::<W>(bound, judge, found, rows))
}

fn remaining<const W: usize>(bound: &Bound<'_>, judge: &Judge, found: BestNode, rows: &[u32]) -> Option<BestNode> {
    let (minimized, measured) = loss_models(bound);
    let columns = codes_at(bound, &found.levels);
    let classes = RowClassCodes::new(&columns, bound.quasi.len());
    let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
    let without: HashSet<Vec<u32>> = rows.iter().map(|&row| classes.of(row as usize)).collect();
    let was_kept = |row: usize| found.kept_rows.as_ref().is_none_or(|kept| kept[row]);
    let kept: Vec<bool> =
        (0..bound.table.rows).map(|row| was_kept(row) && !without.contains(&classes.of(row))).collect();
    let suppressed = kept.iter().filter(|kept| !**kept).count() as u64;
    if suppressed > judge.allowed() || suppressed == bound.rows() {
        return None;
    }
    let counted = judge.count_rows::<W>(&columns, bound.table.rows, None).on_levels(&found.levels);
    // All rows of an entry are of one class.
    let mut among = vec![false; counted.set.len()];
    let entries = counted.set.places_of_rows(judge.layout(), &columns, bound.table.rows);
    entries.iter().zip(&kept).for_each(|(&entry, &kept)| among[entry as usize] |= kept);
    if !judge.achieved_among(&counted, &among).iter().flatten().all(|achieved| achieved.holds) {
        return None;
    }
    let quasi: Vec<usize> = (0..bound.quasi.len()).collect();
    let cost = |model: &LossModel| model.cost(judge.layout(), &quasi, &found.levels, &counted.set, &among);
    let losses = measured.iter().map(|model| model.loss(cost(model))).collect();
    Some(BestNode { cost: cost(&minimized), losses, suppressed, kept_rows: Some(kept), ..found })
}

/// Of each class that some rows are in, its first row.
pub fn first_rows(bound: &Bound<'_>, levels: &[u8], rows: &[u32]) -> Vec<u32> {
    let columns = codes_at(bound, levels);
    let classes = RowClassCodes::new(&columns, bound.quasi.len());
    let wanted: HashSet<Vec<u32>> = rows.iter().map(|&row| classes.of(row as usize)).collect();
    let mut seen: HashSet<Vec<u32>> = HashSet::new();
    let mut is_first = |row: &usize| {
        let class = classes.of(*row);
        wanted.contains(&class) && seen.insert(class)
    };
    (0..bound.table.rows).filter(|row| is_first(row)).map(|row| row as u32).collect()
}

/// The labels of the class that a row is in.
pub fn labels(bound: &Bound<'_>, levels: &[u8], row: u32) -> String {
    let labels = bound.quasi.iter().zip(levels).map(|(quasi, &level)| {
        let level = &quasi.hierarchy.levels()[usize::from(level)];
        let label = &level.labels[level.map[quasi.column.codes.get(row as usize) as usize] as usize];
        format!("{} `{}`", quasi.attribute.name, label.text)
    });
    labels.collect::<Vec<_>>().join(", ")
}

/// The class of each row, as the codes of its labels.
struct RowClassCodes<'a, 'c>(&'a [Cow<'c, Codes>]);

impl<'a, 'c> RowClassCodes<'a, 'c> {
    fn new(columns: &'a [Cow<'c, Codes>], quasi: usize) -> RowClassCodes<'a, 'c> {
        RowClassCodes(&columns[..quasi])
    }

    fn of(&self, row: usize) -> Vec<u32> {
        self.0.iter().map(|codes| codes.get(row)).collect()
    }
}
