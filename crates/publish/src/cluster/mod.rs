//! `method = "cluster"`: classes of rows that are near in all quasi-identifiers, each described by
//! what occurs in it. Cuts divide the space; neighbors need not be divided by it.
//!
//! First the cuts of best-cut, which keep every rule. Runs of their classes are pieces: within a
//! piece the classes are found anew, neighbor by neighbor (`greedy.rs`), and the cheaper ones stay.
//! Then classes are improved together with their neighbors (`improve.rs`), which can follow any
//! other local recoding too. O(n log n) in all: a piece has a bounded number of rows.
//!
//! Every class keeps every rule at every time. Guarantees must survive merging: a rule that knows
//! fewer attributes sees several classes as one, and rows that no class takes join others.
//!
//! Byun, Kamra, Bertino, Li: *Efficient k-anonymization using clustering techniques*, 2007; Xu et
//! al., 2006; Ghinita, Karras, Kalnis, Mamoulis: *Fast data anonymization with low information
//! loss*, 2007, for the pieces.

pub mod checked;
pub mod greedy;
pub mod improve;
pub mod log2;
pub mod objective;
pub mod patch;
pub mod piece;

use std::time::{Duration, Instant};

use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_policy::{Labels, Method, Publish};
use hedgerow_privacy::{Judge, OnMerge};
use hedgerow_table::frequency::Field;
use hedgerow_table::{InputError, Progress, parallel, with_words};

use crate::bind::Bound;
use crate::error::PublishError;
use crate::local::cells::{Cells, cells};
use crate::local::partition::{Fields, Key, Scratch};
use crate::local::rules::Rules;
use crate::local::set_cells::set_cells;
use crate::local::{Local, LocalRecoding, divide_keys, why_not};
use crate::publish::PublishOptions;
use checked::Checked;
pub use improve::Limit;
use improve::{Classes, Improving, piece_rows};
pub use objective::Objective;
use objective::Spread;
use piece::{Piece, ROWS_MAX};

/// Classes that are tried when no time is given: small tables until nothing improves, and large
/// ones as fast as they are read.
const TRIES: u64 = 4096;

/// Of rows that agree in everything, so many times the fewest of a class take part in the search
/// for neighbors; the others are classes already.
const ALIKE: usize = 4;

/// How neighbors are sought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbors {
    /// Whether classes are found anew; else those of the cuts are improved.
    pub anew: bool,
    pub labels: Labels,
    pub objective: Objective,
    pub limit: Limit,
}

impl Neighbors {
    /// What a policy requires; `None` for cuts alone.
    pub(crate) fn of(publish: &Publish, options: &PublishOptions<'_>) -> Option<Neighbors> {
        let anew = publish.method == Method::Cluster;
        if !anew && !publish.improve {
            return None;
        }
        let seconds = options.seconds_max.or(publish.max_seconds);
        let limit = match seconds {
            Some(seconds) => Limit::Until(Instant::now() + Duration::from_secs_f64(seconds)),
            None if publish.improve => Limit::None,
            None => Limit::Tries(TRIES),
        };
        // Cuts follow the hierarchies.
        let labels = if anew { publish.labels } else { Labels::Hierarchy };
        Some(Neighbors { anew, labels, objective: Objective::of(publish.cluster_loss)?, limit })
    }
}

/// Divides the rows of a bound policy into classes of neighbors. What readers see keeps every rule.
pub fn recode(
    bound: &Bound<'_>,
    judge: &Judge,
    local: Local,
    neighbors: Neighbors,
    progress: &dyn Progress,
) -> Result<LocalRecoding, PublishError> {
    refuse(bound, judge)?;
    let axes = bound.axes_with(neighbors.labels);
    let cardinalities = bound.judged_cardinalities();
    let fields = Fields::new(&cardinalities, bound.table.rows).ok_or_else(|| {
        let hint = "make some of them `plain` or `identifier`, or give fewer rules";
        InputError::new(bound.policy.path.display().to_string(), "too many attributes to divide by at once", hint)
    })?;
    let rules = Rules::new(judge, &fields, &cardinalities, axes.len());
    let spreads = spreads(bound, &axes, neighbors.objective);
    let start = if neighbors.anew { Local { method: Method::BestCut, ..local } } else { local };
    let found = with_words!(fields.words, W => {
        let (keys, cut) = divide_keys::<W>(bound, &axes, &fields, &rules, start, progress)
            .ok_or_else(|| Box::new(why_not(bound, judge)))?;
        progress.check()?;
        let mut rows = 0..;
        let mut classes = Classes::default();
        cut.iter().for_each(|class| classes.push(rows.by_ref().take(class.rows as usize)));
        drop(cut);
        let improving = Improving { spreads: &spreads, fields: &fields.judged, keys: &keys, rules: &rules };
        if neighbors.anew {
            classes = find_anew(&improving, classes);
            progress.check()?;
        }
        classes = improving.run(classes, neighbors.limit, progress);
        progress.check()?;
        describe(bound, &axes, &fields, local.tight, &keys, &classes)
    });
    Ok(found.with_equal_classes_merged())
}

fn refuse(bound: &Bound<'_>, judge: &Judge) -> Result<(), InputError> {
    for (bound_rule, rule) in bound.policy.rules.iter().zip(judge.rules()) {
        for (guarantee, place) in rule.guarantees.iter().zip(&bound_rule.require_places) {
            if guarantee.on_merge() == OnMerge::Neither {
                let problem = format!(
                    "{} does not survive merging: classes that hold can make one that does not, and neighbors are \
                     merged",
                    guarantee.model().name()
                );
                let hint = "use `method = \"full-domain\"`, `\"mondrian\"` or `\"best-cut\"`, or another model";
                return Err(InputError::new(place.clone(), problem, hint));
            }
        }
    }
    Ok(())
}

fn spreads<'a>(bound: &Bound<'_>, axes: &'a [Axis], objective: Objective) -> Vec<Spread<'a>> {
    let weights = bound.weights();
    let attributes = axes.iter().zip(&bound.quasi).zip(weights);
    attributes.map(|((axis, quasi), weight)| Spread::new(axis, &quasi.column.counts(), objective, weight)).collect()
}

/// The classes of every piece, found neighbor by neighbor, where that is cheaper.
fn find_anew<const W: usize>(improving: &Improving<'_, W>, classes: Classes) -> Classes {
    let (classes, mut done) = without_alike(improving, classes);
    let mut classes = with_large_divided(improving, classes);
    // By values: classes that are next to each other in a few attributes share a piece.
    improving.order(&mut classes, 1);
    let rows = piece_rows(improving.keys.len());
    let found = parallel::map_items(classes.pieces(rows, rows), |_, cut| {
        if cut.rows.len() > ROWS_MAX {
            return cut;
        }
        let keys = cut.rows.iter().map(|&row| improving.keys[row as usize]).collect();
        let piece = Piece::new(improving.spreads, improving.fields, keys);
        let mut rules = Checked::new(improving.rules);
        let Some(anew) = greedy::greedy(&piece, &mut rules) else { return cut };
        let mut start = 0u16;
        let mut old = 0.0;
        for &size in &cut.sizes {
            old += piece.cost(&(start..start + size as u16).collect::<Vec<u16>>());
            start += size as u16;
        }
        if anew.iter().map(|class| piece.cost(class)).sum::<f64>() >= old {
            return cut;
        }
        let mut found = Classes::default();
        anew.iter().for_each(|class| found.push(class.iter().map(|&row| cut.rows[row as usize])));
        found
    });
    for piece in found {
        done.rows.extend(piece.rows);
        done.sizes.extend(piece.sizes);
    }
    done
}

/// Classes that are too large for a piece, because rules forbade every cut, in parts that are each
/// like the whole, where all of these keep every rule.
fn with_large_divided<const W: usize>(improving: &Improving<'_, W>, classes: Classes) -> Classes {
    let mut divided = Classes::default();
    let mut scratch = Scratch::new(0);
    for class in classes.iter() {
        let parts = class.len() / piece_rows(improving.keys.len());
        if parts < 2 {
            divided.push(class.iter().copied());
            continue;
        }
        let mut alone = Classes::default();
        class.iter().for_each(|&row| alone.push(std::iter::once(row)));
        improving.order(&mut alone, 1);
        let part = |part: usize| alone.rows.iter().copied().skip(part).step_by(parts);
        let holds = (0..parts).all(|number| {
            let keys: Vec<Key<W>> = part(number).map(|row| improving.keys[row as usize]).collect();
            improving.rules.hold(&keys, &mut scratch)
        });
        match holds {
            true => (0..parts).for_each(|number| divided.push(part(number))),
            false => divided.push(class.iter().copied()),
        }
    }
    divided
}

/// Sets aside what has enough rows that agree in everything: it loses nothing as it is.
fn without_alike<const W: usize>(improving: &Improving<'_, W>, classes: Classes) -> (Classes, Classes) {
    let (mut rest, mut alike) = (Classes::default(), Classes::default());
    let few = ALIKE * improving.rules.minimum().max(1) as usize;
    let mut scratch = Scratch::new(0);
    let quasi = &improving.fields[..improving.spreads.len()];
    let values = |row: u32| quasi.iter().map(move |field| field.get(&improving.keys[row as usize]));
    for class in classes.iter() {
        let same = |&row: &u32| values(row).eq(values(class[0]));
        if class.len() > 2 * few && class.iter().all(same) {
            let (taking_part, done) = class.split_at(few);
            let keys = |rows: &[u32]| rows.iter().map(|&row| improving.keys[row as usize]).collect::<Vec<Key<W>>>();
            if improving.rules.hold(&keys(done), &mut scratch) && improving.rules.hold(&keys(taking_part), &mut scratch)
            {
                alike.push(done.iter().copied());
                rest.push(taking_part.iter().copied());
                continue;
            }
        }
        rest.push(class.iter().copied());
    }
    (rest, alike)
}

/// What every class is released as.
fn describe<const W: usize>(
    bound: &Bound<'_>,
    axes: &[Axis],
    fields: &Fields,
    tight: bool,
    keys: &[Key<W>],
    classes: &Classes,
) -> LocalRecoding {
    let mut of_row = vec![0u32; keys.len()];
    for (number, class) in (0u32..).zip(classes.iter()) {
        for &row in class {
            of_row[fields.row(&keys[row as usize])] = number;
        }
    }
    let cells = parallel::map(axes.len(), |index| {
        cells_of(bound, index, &axes[index], fields.judged[index], tight, keys, classes)
    });
    LocalRecoding { of_row, pieces: None, sizes: classes.sizes.iter().map(|&size| u64::from(size)).collect(), cells }
}

fn cells_of<const W: usize>(
    bound: &Bound<'_>,
    index: usize,
    axis: &Axis,
    field: Field,
    tight: bool,
    keys: &[Key<W>],
    classes: &Classes,
) -> Cells {
    let rank = |row: &u32| field.get(&keys[*row as usize]);
    if matches!(axis.shape(), Shape::Order) {
        let sets = classes.iter().map(|class| {
            let mut ranks: Vec<u32> = class.iter().map(rank).collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks
        });
        return set_cells(&bound.quasi[index], axis, &sets.collect::<Vec<_>>());
    }
    let region = |class: &[u32]| {
        let ends = class.iter().map(rank).fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
        let found = Span::new(ends.0, ends.1);
        match axis.shape() {
            // No interval holds the missing value.
            Shape::Line(line) if found.last >= line.present() && found.first < line.present() => axis.whole(),
            _ => axis.cell(found),
        }
    };
    cells(&bound.quasi[index], axis, bound.counts_of_quasi(index), tight, classes.iter().map(region))
}
