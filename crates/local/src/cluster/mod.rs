//! `method = "cluster"`: classes of rows that are near in all quasi-identifiers, each described by
//! what occurs in it. Cuts divide the space; neighbors need not be divided by it.
//!
//! Rows are put into an order, and runs of them are pieces (`anew.rs`): within a piece the classes
//! are found neighbor by neighbor (`greedy.rs`). Then classes are improved together with their
//! neighbors (`improve.rs`), which can follow any other local recoding too. O(n log n) in all: a
//! piece has a bounded number of rows.
//!
//! Every class keeps every rule at every time. Guarantees must survive merging: a rule that knows
//! fewer attributes sees several classes as one, and rows that no class takes join others.
//!
//! Byun, Kamra, Bertino, Li: *Efficient k-anonymization using clustering techniques*, 2007; Xu et
//! al., 2006; Ghinita, Karras, Kalnis, Mamoulis: *Fast data anonymization with low information
//! loss*, 2007, for the pieces.

pub mod anew;
pub mod anneal;
pub mod checked;
mod consistent;
pub(crate) mod ends;
pub mod greedy;
pub mod improve;
pub mod log2;
pub mod nearness;
pub mod objective;
pub mod patch;
pub mod piece;

use std::time::{Duration, Instant};

use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_draft::broken::inconsistent_as_a_whole;
use hedgerow_draft::consistent::Consistent;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::PublishOptions;
use hedgerow_policy::{ClassLabels, Method, PublishSettings};
use hedgerow_privacy::{Judge, OnMerge};
use hedgerow_table::frequency::KeyField;
use hedgerow_table::{InputError, Progress, parallel, with_words};

use crate::cells::{AttributeCells, cells};
use crate::partition::{Fields, PackedKey, Scratch, pack};
use crate::rules::Rules;
use crate::set_cells::set_cells;
use crate::{Local, LocalRecoding, divide_keys, why_not};
use ends::Ends;
pub use improve::ImproveLimit;
use improve::{Improving, RowClasses};
pub use objective::Objective;
use objective::Spread;

/// How neighbors are sought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbors {
    /// Whether classes are found anew; else those of the cuts are improved.
    pub anew: bool,
    pub labels: ClassLabels,
    pub objective: Objective,
    pub limit: ImproveLimit,
}

impl Neighbors {
    /// The search for neighbors that a policy requires; `None` for cuts alone.
    pub(crate) fn of(publish: &PublishSettings, options: &PublishOptions<'_>) -> Option<Neighbors> {
        let anew = publish.method == Method::Cluster;
        if !anew && !publish.improve {
            return None;
        }
        let seconds = options.seconds_max.or(publish.max_seconds);
        // Cuts follow the hierarchies.
        let labels = if anew { publish.labels } else { ClassLabels::Hierarchy };
        let limit = match seconds {
            Some(seconds) => ImproveLimit::Until(Instant::now() + Duration::from_secs_f64(seconds)),
            None if publish.improve => ImproveLimit::None,
            None => ImproveLimit::by_default(labels).of_part(options.part),
        };
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
    // Classes are merged until everyone has enough rows: in vain, where all rows are too few.
    let is_final = bound.consistent().is_some_and(Consistent::fails_in_parts_of_what_fails);
    if is_final && inconsistent_as_a_whole(bound).is_some() {
        return Err(Box::new(why_not(bound, judge)).into());
    }
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
        let mut keys: Vec<PackedKey<W>> = pack(&fields, &axes, &bound.judged_codes(), bound.table.rows);
        if keys.is_empty() || !rules.hold_for_all(&keys, &mut Scratch::new(0)) {
            return Err(Box::new(why_not(bound, judge)).into());
        }
        // Nodes of hierarchies are parts of the space, and so are the classes of cuts.
        let sought = neighbors.anew && neighbors.labels == ClassLabels::Set;
        let in_order =
            if sought { anew::in_order(&mut keys, &spreads, &fields.judged, fields.row, &rules) } else { None };
        let mut of_cuts = RowClasses::default();
        if in_order.is_none() {
            let cut = divide_keys::<W>(bound, &axes, &fields, &rules, start, &mut keys, progress);
            let mut rows = 0..;
            cut.iter().for_each(|class| of_cuts.push(rows.by_ref().take(class.rows as usize)));
        }
        progress.check()?;
        let improving = Improving { spreads: &spreads, fields: &fields.judged, keys: &keys, rules: &rules };
        let classes = match in_order {
            Some(classes) => classes,
            None if neighbors.anew => anew::in_cuts(&improving, of_cuts),
            None => of_cuts,
        };
        progress.check()?;
        let mut classes = improving.run(classes, neighbors.limit, progress);
        progress.check()?;
        loop {
            let found =
                describe(bound, &axes, &fields, local.tight, &keys, &classes).with_equal_classes_merged();
            let Some(consistent) = bound.consistent() else { break found };
            let failing = consistent::failing_rows(bound, consistent, &found);
            if !failing.contains(&true) {
                break found;
            }
            progress.check()?;
            let rank = |attribute: usize, key: u32| fields.judged[attribute].get(&keys[key as usize]);
            let row = |key: u32| fields.row(&keys[key as usize]) as u32;
            classes = match consistent::merged(bound, consistent, &axes, rank, row, &classes, &failing) {
                Some(merged) => merged,
                None => return Err(Box::new(why_not(bound, judge)).into()),
            };
        }
    });
    Ok(found)
}

fn refuse(bound: &Bound<'_>, judge: &Judge) -> Result<(), InputError> {
    for (bound_rule, rule) in bound.policy.rules.iter().zip(judge.rules()) {
        for (guarantee, place) in rule.guarantees.iter().zip(&bound_rule.require_places) {
            if guarantee.on_merge() == OnMerge::Neither {
                let problem = format!(
                    "{} does not survive merging: classes that hold can make one that does not, and neighbors are \
                     merged",
                    guarantee.model().name_with_conditions()
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
    let spread = |((axis, quasi), weight): ((&'a Axis, &Quasi<'_>), f64)| {
        Spread::new(axis, is_ordered(quasi), &quasi.column.counts(), objective, weight)
    };
    attributes.map(spread).collect()
}

/// Whether the policy declares an order of its texts.
fn is_ordered(quasi: &Quasi<'_>) -> bool {
    quasi.attribute.declared.order.is_some()
}

/// The released cells of every class.
fn describe<const W: usize>(
    bound: &Bound<'_>,
    axes: &[Axis],
    fields: &Fields,
    tight: bool,
    keys: &[PackedKey<W>],
    classes: &RowClasses,
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
    field: KeyField,
    tight: bool,
    keys: &[PackedKey<W>],
    classes: &RowClasses,
) -> AttributeCells {
    let rank = |row: &u32| field.get(&keys[*row as usize]);
    if matches!(axis.shape(), Shape::Order) && !is_ordered(&bound.quasi[index]) {
        return set_cells(
            &bound.quasi[index],
            axis,
            bound.counts_of_quasi(index),
            classes.iter().map(|class| class.iter().map(rank)),
        );
    }
    let rows_min = classes.sizes.iter().copied().min().unwrap_or_default().max(2);
    let counts = bound.counts_of_quasi(index);
    let ends = match axis.shape() {
        Shape::Line(line) if !tight => Some(Ends::of(line, counts, u64::from(rows_min))),
        _ => None,
    };
    let region = |class: &[u32]| {
        let span = class.iter().map(rank).fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
        let found = Span::new(span.0, span.1);
        match axis.shape() {
            // No interval holds the missing value.
            Shape::Line(line) if found.last >= line.present() && found.first < line.present() => axis.whole(),
            Shape::Line(line) if found.last < line.present() => ends.map_or(found, |ends| ends.reached(found)),
            _ => axis.cell(found),
        }
    };
    cells(&bound.quasi[index], axis, counts, tight, classes.iter().map(region))
}
