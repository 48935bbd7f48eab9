//! Local recoding: rows are divided into classes, and each class is described by its own region of
//! the space of quasi-identifiers, so that dense regions keep detail.
//!
//! A missing value is a value of its own. Among numbers and dates it is cut off before any other
//! cut along the attribute, and stays under `*` with the others where those who lack it are too few
//! for a class. Every row is released.

pub mod best_cut;
pub mod cells;
pub mod counted;
pub mod divided;
pub mod mondrian;
pub mod outline;
pub mod partition;
pub mod rules;
pub mod set_cells;
mod units;

pub mod cluster;

use std::borrow::Cow;

use hashbrown::HashMap;
use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_draft::broken::{broken_by_the_whole, inconsistent_as_a_whole};
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::{PublishError, Unsatisfiable};
use hedgerow_draft::generalized::{self, Recoded};
use hedgerow_draft::options::PublishOptions;
use hedgerow_draft::pieces::Pieces;
use hedgerow_draft::recoded_outside::RecodedOutside;
use hedgerow_policy::{Loss, Method, Summary};
use hedgerow_privacy::{BoundRule, Judge, OnMerge};
use hedgerow_release::known_values::may_stand_for_any;
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::{Codes, InputError, Kind, Progress, parallel, with_words};
use serde_json::{Map, Value, json};

use crate::cluster::Neighbors;
use crate::cluster::ends::Ends;
use best_cut::BestCut;
use cells::{AttributeCells, cells};
use counted::{Several, divide_counted};
use hedgerow_cuts::{Axis, Shape, Span};
use mondrian::Mondrian;
use partition::{Class, Fields, PackedKey, RegionRows, Scratch, class_of_rows, divide_all, pack};
use rules::Rules;
use set_cells::set_cells;

/// How to recode.
#[derive(Debug, Clone, Copy)]
pub struct Local {
    pub method: Method,
    pub strict: bool,
    pub tight: bool,
}

/// The classes of a table, and what is released of each.
#[derive(Debug)]
pub struct LocalRecoding {
    /// The class of every row; where equal rows are held once, of every piece.
    pub of_row: Vec<u32>,
    /// Where equal rows are held once, which pieces of them are apart.
    pub pieces: Option<Pieces>,
    /// Rows of every class. Classes whose cells are all the same are one.
    pub sizes: Vec<u64>,
    /// Per quasi attribute.
    pub cells: Vec<AttributeCells>,
}

pub fn draft<'a>(bound: &'a Bound<'_>, options: &PublishOptions<'_>) -> Result<Draft<'a>, PublishError> {
    let source = bound.rows();
    options.progress.stage("searching", Some(source));
    if let Some(units) = bound.units() {
        return units::draft(bound, units, options);
    }
    let publish = &bound.policy.publish;
    let local = Local { method: publish.method, strict: publish.strict, tight: publish.summarise == Summary::Tight };
    let judge = bound.judge()?;
    let found = match Neighbors::of(publish, options) {
        Some(neighbors) => cluster::recode(bound, &judge, local, neighbors, options.progress)?,
        None => recode(bound, &judge, local, options.progress)?,
    };
    let rows = RowTotals { source, out: source, suppressed: 0 };
    let (table, codebook) = generalized::table(bound, found.recoded(&bound.quasi), None)?;
    let mut losses = found.losses(source, bound.k());
    if !publish.weights.is_empty() {
        let weighted = |share: f64| json!((share * 1e12).round() / 1e12);
        losses.insert("weighted".to_owned(), weighted(found.weighted(publish.cluster_loss, &bound.weights())));
    }
    let recoded = bound.row_counts().is_some().then(|| found.into_recoded_outside(&bound.quasi));
    Ok(Draft { recoded, ..Draft::new(vec![table], codebook, rows, losses) })
}

/// Where every label is a value, the column is released as it was read, with its own type.
fn recoded_as<'a>(quasi: &'a Quasi<'_>, cells: &AttributeCells, codes: Codes) -> Recoded<'a> {
    if cells.values_only {
        let level = &quasi.hierarchy.levels()[0];
        let (labels, kind) = (level.labels.clone(), quasi.column.domain.kind());
        let (codes, map) = (Cow::Borrowed(&quasi.column.codes), Cow::Borrowed(level.map.as_slice()));
        return Recoded { codes, map, labels, kind };
    }
    let map = (0..cells.labels.len() as u32).collect();
    Recoded { codes: Cow::Owned(codes), map: Cow::Owned(map), labels: cells.labels.clone(), kind: Kind::Category }
}

/// Divides the rows of a bound policy into classes and tells what each is released as. What readers
/// see keeps every rule.
pub fn recode(
    bound: &Bound<'_>,
    judge: &Judge,
    local: Local,
    progress: &dyn Progress,
) -> Result<LocalRecoding, PublishError> {
    let axes: Vec<Axis> = bound.axes();
    let cardinalities = bound.judged_cardinalities();
    let fields = Fields::new(&cardinalities, bound.table.rows).ok_or_else(|| {
        let hint = "make some of them `plain` or `identifier`, or give fewer rules";
        InputError::new(bound.policy.path.display().to_string(), "too many attributes to divide by at once", hint)
    })?;
    let rules = Rules::new(judge, &fields, &cardinalities, axes.len());
    let found = with_words!(fields.words, W => {
        let divided = match bound.row_counts() {
            Some(counts) => divide_several::<W>(bound, &axes, &fields, &rules, local, counts, progress),
            None => divide::<W>(bound, &axes, &fields, &rules, local, progress)
                .map(|(of_row, classes)| (of_row, None, classes)),
        };
        let (of_row, pieces, classes) = divided.ok_or_else(|| Box::new(why_not(bound, judge)))?;
        progress.check()?;
        let sizes: Vec<u64> = classes.iter().map(|class| u64::from(class.rows)).collect();
        let rows_min = sizes.iter().copied().min().unwrap_or_default().max(2);
        let by_class = local.tight.then(|| ByClass::new(&of_row, classes.len(), pieces.as_ref()));
        let cells = parallel::map(axes.len(), |index| {
            let (quasi, axis, field) = (&bound.quasi[index], &axes[index], fields.judged[index]);
            let ordered = quasi.attribute.declared.order.is_some();
            if let Some(by_class) = by_class.as_ref().filter(|_| !ordered && matches!(axis.shape(), Shape::Order)) {
                let ranks = |code: u32| axis.ranks().map_or(code, |ranks| ranks[code as usize]);
                let of_row = |row: &u32| ranks(quasi.column.codes.get(*row as usize));
                let sets = by_class.iter().map(|class| class.iter().map(of_row));
                return set_cells(quasi, axis, bound.counts_of_quasi(index), sets);
            }
            let counts = bound.counts_of_quasi(index);
            // Both sides of a relaxed cut reach to the shared value, and the one beyond may be of
            // one person.
            let ends = match axis.shape() {
                Shape::Line(line) if !local.strict && !local.tight => Some((Ends::of(line, counts, rows_min), line)),
                _ => None,
            };
            let reached = |region: Span| match ends {
                Some((ends, line)) if region.last < line.present() => ends.reached(region),
                _ => region,
            };
            let regions = classes.iter().map(|class| Span::new(field.get(&class.low), field.get(&class.high)));
            cells(quasi, axis, counts, local.tight, regions.map(reached))
        });
        LocalRecoding { of_row, pieces, sizes, cells }.with_equal_classes_merged()
    });
    judge_what_is_seen(bound, judge, &found)?;
    Ok(found)
}

/// The rows, class after class; of equal rows that are held once, one.
struct ByClass {
    rows: Vec<u32>,
    starts: Vec<usize>,
}

impl ByClass {
    /// From the class of every row, or of every piece of equal rows.
    fn new(of_row: &[u32], classes: usize, pieces: Option<&Pieces>) -> ByClass {
        let mut starts = vec![0usize; classes + 1];
        of_row.iter().for_each(|&class| starts[class as usize + 1] += 1);
        (0..classes).for_each(|class| starts[class + 1] += starts[class]);
        let (mut next, mut rows) = (starts.clone(), vec![0u32; of_row.len()]);
        let distinct = pieces.map(Pieces::distinct_rows);
        for (place, &class) in of_row.iter().enumerate() {
            rows[next[class as usize]] = distinct.as_ref().map_or(place as u32, |distinct| distinct[place]);
            next[class as usize] += 1;
        }
        ByClass { rows, starts }
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|pair| &self.rows[pair[0]..pair[1]])
    }
}

/// The class of every row, and the classes; `None` when even the whole table keeps not every rule.
pub fn divide<const W: usize>(
    bound: &Bound<'_>,
    axes: &[Axis],
    fields: &Fields,
    rules: &Rules<'_>,
    local: Local,
    progress: &dyn Progress,
) -> Option<(Vec<u32>, Vec<Class<W>>)> {
    let rows = bound.table.rows;
    let mut keys: Vec<PackedKey<W>> = pack(fields, axes, &bound.judged_codes(), rows);
    if rows == 0 || !rules.hold_for_all(&keys, &mut Scratch::new(axes.len())) {
        return None;
    }
    let classes = divide_keys(bound, axes, fields, rules, local, &mut keys, progress);
    Some((class_of_rows(fields, &keys, &classes), classes))
}

/// The same where equal rows are held once: the class of every piece, and the pieces.
fn divide_several<const W: usize>(
    bound: &Bound<'_>,
    axes: &[Axis],
    fields: &Fields,
    rules: &Rules<'_>,
    local: Local,
    counts: &[u32],
    progress: &dyn Progress,
) -> Option<(Vec<u32>, Option<Pieces>, Vec<Class<W>>)> {
    let rows = Several::all(pack::<W>(fields, axes, &bound.judged_codes(), bound.table.rows), counts);
    if rows.is_empty() || !rules.hold_for_all(&rows, &mut Scratch::new(axes.len())) {
        return None;
    }
    let whole = RegionRows::whole(fields, axes, bound.rows() as usize);
    let Local { strict, tight, .. } = local;
    let mondrian = Mondrian { axes, fields, rules, weights: &bound.weights(), strict, tight };
    let (mut pieces, classes) = divide_counted(&mondrian, rows, whole, progress);
    Some((std::mem::take(&mut pieces.class), Some(pieces), classes))
}

/// Divides rows that keep every rule together: brings them into an order class after class.
pub(crate) fn divide_keys<const W: usize>(
    bound: &Bound<'_>,
    axes: &[Axis],
    fields: &Fields,
    rules: &Rules<'_>,
    local: Local,
    keys: &mut [PackedKey<W>],
    progress: &dyn Progress,
) -> Vec<Class<W>> {
    let weights = &bound.weights();
    let whole = RegionRows::whole(fields, axes, keys.len());
    let Local { method, strict, tight } = local;
    match method {
        Method::BestCut => divide_all(&BestCut { axes, fields, rules, weights, tight }, keys, whole, progress),
        _ => divide_all(&Mondrian { axes, fields, rules, weights, strict, tight }, keys, whole, progress),
    }
}

impl LocalRecoding {
    /// Relaxed cuts can leave two classes with the same cells: readers see one.
    pub(crate) fn with_equal_classes_merged(mut self) -> LocalRecoding {
        let mut first_of: HashMap<Vec<u32>, u32> = HashMap::with_capacity(self.sizes.len());
        let mut sizes: Vec<u64> = Vec::with_capacity(self.sizes.len());
        let mut kept: Vec<usize> = Vec::with_capacity(self.sizes.len());
        let mut merged: Vec<u32> = Vec::with_capacity(self.sizes.len());
        for (class, &rows) in self.sizes.iter().enumerate() {
            let labels: Vec<u32> = self.cells.iter().map(|cells| cells.of_class[class]).collect();
            let number = *first_of.entry(labels).or_insert_with(|| {
                sizes.push(0);
                kept.push(class);
                sizes.len() as u32 - 1
            });
            sizes[number as usize] += rows;
            merged.push(number);
        }
        if sizes.len() == self.sizes.len() {
            return self;
        }
        self.of_row.iter_mut().for_each(|class| *class = merged[*class as usize]);
        for cells in &mut self.cells {
            cells.of_class = kept.iter().map(|&class| cells.of_class[class]).collect();
        }
        self.sizes = sizes;
        self
    }

    /// The recoding of rows outside of memory.
    fn into_recoded_outside(self, quasi: &[Quasi<'_>]) -> RecodedOutside {
        let changed = quasi.iter().zip(self.cells).filter(|(_, cells)| !cells.values_only);
        let labels = changed.map(|(quasi, cells)| (quasi.attribute.name.clone(), cells.of_class, cells.labels.len()));
        let labels = labels.collect();
        let mut pieces = self.pieces.unwrap_or_default();
        pieces.class = self.of_row;
        RecodedOutside { pieces, kinds: None, labels }
    }

    /// Per quasi attribute, the number of its label for every row or piece.
    pub fn columns(&self) -> Vec<Codes> {
        let column = |cells: &AttributeCells| {
            let labels = self.of_row.iter().map(|&class| cells.of_class[class as usize]);
            match Codes::with_capacity(cells.labels.len(), 0) {
                Codes::U8(_) => Codes::U8(labels.map(|label| label as u8).collect()),
                Codes::U16(_) => Codes::U16(labels.map(|label| label as u16).collect()),
                Codes::U32(_) => Codes::U32(labels.collect()),
            }
        };
        parallel::map(self.cells.len(), |index| column(&self.cells[index]))
    }

    /// The recoding of every quasi attribute.
    pub fn recoded<'a>(&self, quasi: &'a [Quasi<'_>]) -> Vec<Recoded<'a>> {
        let cells = quasi.iter().zip(&self.cells).zip(self.columns());
        cells.map(|((quasi, cells), codes)| recoded_as(quasi, cells, codes)).collect()
    }

    /// The normalized certainty penalty over all cells.
    pub fn ncp(&self) -> f64 {
        self.mean(|cells, label| cells.weights[label])
    }

    /// The share of the source's values under a cell, over all cells: 0 for one value, 1 for all.
    pub fn granularity(&self) -> f64 {
        self.mean(granularity)
    }

    /// Non-uniform entropy: what cells leave open about values, over what one `*` would.
    pub fn entropy(&self) -> f64 {
        self.cells.iter().map(|cells| self.entropy_of(cells)).sum::<f64>() / self.cells.len().max(1) as f64
    }

    /// The loss to minimize, with the weights of attributes.
    fn weighted(&self, loss: Option<Loss>, weights: &[f64]) -> f64 {
        let of_cells = |cells: &AttributeCells| match loss {
            Some(Loss::Entropy) => self.entropy_of(cells),
            Some(Loss::Granularity) => self.mean_of(cells, &granularity),
            _ => self.mean_of(cells, &|cells, label| cells.weights[label]),
        };
        let sum: f64 = self.cells.iter().zip(weights).map(|(cells, weight)| weight * of_cells(cells)).sum();
        sum / weights.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The mean over all cells of what each label costs.
    fn mean(&self, cost: impl Fn(&AttributeCells, usize) -> f64) -> f64 {
        self.cells.iter().map(|cells| self.mean_of(cells, &cost)).sum::<f64>() / self.cells.len().max(1) as f64
    }

    fn mean_of(&self, cells: &AttributeCells, cost: &impl Fn(&AttributeCells, usize) -> f64) -> f64 {
        let rows = self.rows_of_labels(cells);
        let sum: f64 = rows.iter().enumerate().map(|(label, &rows)| rows as f64 * cost(cells, label)).sum();
        sum / self.rows().max(1) as f64
    }

    fn entropy_of(&self, cells: &AttributeCells) -> f64 {
        let bits = |rows: u64, among: u64| if rows == 0 { 0.0 } else { rows as f64 * (among as f64).log2() };
        let own: f64 = cells.counts.iter().map(|&rows| bits(rows, rows)).sum();
        let covered = self.rows_of_labels(cells).into_iter().zip(&cells.covered);
        let left: f64 = covered.map(|(rows, covered)| bits(rows, covered.rows)).sum();
        let all = bits(self.rows(), self.rows()) - own;
        if all > 0.0 { ((left - own) / all).max(0.0) } else { 0.0 }
    }

    fn rows(&self) -> u64 {
        self.sizes.iter().sum()
    }

    fn rows_of_labels(&self, cells: &AttributeCells) -> Vec<u64> {
        let mut rows = vec![0u64; cells.labels.len()];
        for (&label, &size) in cells.of_class.iter().zip(&self.sizes) {
            rows[label as usize] += size;
        }
        rows
    }

    /// The losses of a local recoding: `precision` is defined by levels, which it does not have.
    fn losses(&self, rows: u64, k: u64) -> Map<String, Value> {
        let squares: u128 = self.sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
        let mean = rows as f64 / self.sizes.len().max(1) as f64;
        let rounded = |value: f64| json!((value * 1e12).round() / 1e12);
        let losses = [
            ("ncp", rounded(self.ncp())),
            ("discernibility", json!(squares as f64)),
            ("average-class", rounded(mean / k.max(1) as f64)),
            ("granularity", rounded(self.granularity())),
            ("entropy", rounded(self.entropy())),
        ];
        losses.into_iter().map(|(name, loss)| (name.to_owned(), loss)).collect()
    }
}

fn granularity(cells: &AttributeCells, label: usize) -> f64 {
    let others = cells.counts.len().max(2) - 1;
    (cells.covered[label].values.max(1) - 1) as f64 / others as f64
}

pub(crate) fn why_not(bound: &Bound<'_>, judge: &Judge) -> Unsatisfiable {
    let summary = match judge.on_merge() {
        OnMerge::Neither => {
            "no release was found: the whole table as one class breaks a rule, and no part of it was looked at \
             (a guarantee that does not survive merging could still hold for parts)"
        }
        _ => "no release can meet the policy: even the whole table as one class breaks a rule",
    };
    let hint = "require less in that rule, or use `method = \"full-domain\"`, which may suppress rows";
    let mut reasons = broken_by_the_whole(bound, judge);
    reasons.extend(inconsistent_as_a_whole(bound));
    Unsatisfiable { summary: summary.to_owned(), reasons, hint: hint.to_owned() }
}

/// A rule that knows fewer attributes sees unions of classes. Guarantees that survive merging hold
/// for these; others are judged again over what is released.
pub(crate) fn judge_what_is_seen(bound: &Bound<'_>, judge: &Judge, found: &LocalRecoding) -> Result<(), PublishError> {
    if judge.on_merge() != OnMerge::Neither {
        return Ok(());
    }
    let columns = found.columns();
    let mut cardinalities = bound.judged_cardinalities();
    for (cardinality, cells) in cardinalities.iter_mut().zip(&found.cells) {
        *cardinality = cells.labels.len();
    }
    let mut codes = bound.judged_codes();
    for (place, column) in codes.iter_mut().zip(&columns) {
        *place = column;
    }
    let counts = match (&found.pieces, bound.row_counts()) {
        (Some(pieces), Some(counts)) => Some((pieces.distinct_rows(), pieces.sizes(counts))),
        _ => None,
    };
    let (distinct, counts) = counts.unzip();
    let of_pieces: Vec<Codes> = match &distinct {
        Some(distinct) => codes[columns.len()..].iter().map(|codes| codes.of_rows(distinct)).collect(),
        None => Vec::new(),
    };
    codes[columns.len()..].iter_mut().zip(&of_pieces).for_each(|(place, codes)| *place = codes);
    let mut rules = bound.judge()?.into_rules();
    over_labels(bound, &mut rules, found);
    let seen = Judge::new(cardinalities, bound.quasi.len(), rules, 0)
        .ok_or_else(|| PublishError::Internal("the labels need a wider key than the values".to_owned()))?;
    let rows = found.of_row.len();
    let achieved = with_words!(seen.layout().words(), W => {
        seen.achieved(&seen.count_rows::<W>(&codes, rows, counts.as_deref()))
    });
    let mut reasons = Vec::new();
    for (rule, achieved) in bound.policy.rules.iter().zip(&achieved) {
        for (model, achieved) in rule.require.iter().zip(achieved).filter(|(_, achieved)| !achieved.holds) {
            reasons.push(format!("{}: {} breaks for {} rows", rule.place, model.name(), achieved.failing_rows));
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let summary = "no release was found: every class keeps every rule, but a rule that knows fewer attributes sees several \
                   classes as one, and its guarantee does not survive merging";
    let hint = "leave `know` out of that rule, or use `method = \"full-domain\"`";
    Err(Box::new(Unsatisfiable { summary: summary.to_owned(), reasons, hint: hint.to_owned() }).into())
}

/// The rules of a policy over the labels of a local recoding in place of the values.
fn over_labels(bound: &Bound<'_>, rules: &mut [BoundRule], found: &LocalRecoding) {
    for (rule, stated) in rules.iter_mut().zip(&bound.policy.rules) {
        for concerned in &mut rule.concerned {
            let Some(quasi) = bound.quasi.get(concerned.attribute) else { continue };
            let values = stated.only_where.get(&quasi.attribute.name).map_or(&[][..], Vec::as_slice);
            let labels = found.cells[concerned.attribute].labels.iter();
            concerned.by_level = vec![labels.map(|label| may_stand_for_any(&label.cover, values)).collect()];
        }
    }
}
