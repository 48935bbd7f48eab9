//! Local recoding where rows belong to units: whole units are divided, each with all its rows.
//!
//! Units with the same number of rows form a group, and the rows of each are put in the order of
//! their values: first, second, and so on. A group is cut along one attribute of one of these
//! places, so that the units on either side have all their rows there. In the end the rows in one
//! place of one group are a class. All units of a group then have their rows in the same classes:
//! each fits the others, whether or not the release links the rows of a unit. Within a class a unit
//! has one row, and so one value of what is protected.
//!
//! Mondrian cuts at the median of the place and attribute on which the units lie farthest apart
//! (LeFevre, DeWitt, Ramakrishnan 2006); best-cut makes the cut that lowers the ncp the most;
//! cluster looks for near units within pieces ([`neighbors`]).
//! Groups that do not keep every rule as a whole, such as the one household with nine members, are
//! suppressed where `suppression` allows it.
//!
//! The readers' view, in which classes may have equal cells and rules may know fewer attributes, is
//! judged at the end, over units.

mod alike;
mod merging;
mod neighbors;

use hedgerow_cuts::decide::{self, Cut, Median};
use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::{PublishError, Unsatisfiable};
use hedgerow_draft::generalized;
use hedgerow_draft::options::PublishOptions;
use hedgerow_draft::units::{DraftUnits, Units};
use hedgerow_policy::{ClassLabels, Method, Summary};
use hedgerow_privacy::{BoundRule, Class, Distribution, Judge, UnitRows};
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::{Codes, Progress, with_words};
use serde_json::json;

use super::LocalRecoding;
use super::cells::cells;

/// Units with as many rows each, and the region of each place.
#[derive(Debug, Clone)]
struct UnitRegions {
    units: Vec<u32>,
    /// By place and attribute.
    regions: Vec<Vec<Span>>,
}

/// The rows of units in the order of their values.
struct Ordered<'a> {
    bound: &'a Bound<'a>,
    judge: &'a Judge,
    axes: &'a [Axis],
    /// By unit, its rows.
    rows: Vec<Vec<u32>>,
    /// By attribute, the rank of every row.
    ranks: Vec<Vec<u32>>,
    /// By rule, the values of what it protects.
    values: Vec<Option<&'a Codes>>,
    weights: Vec<f64>,
    method: Method,
    strict_minimum: u64,
}

pub(super) fn draft<'a>(
    bound: &'a Bound<'_>,
    units: &Units,
    options: &PublishOptions<'_>,
) -> Result<Draft<'a>, PublishError> {
    let judge = bound.judge()?;
    let publish = &bound.policy.publish;
    let axes = bound.axes_with(if publish.method == Method::Cluster { publish.labels } else { ClassLabels::Hierarchy });
    let ordered = Ordered::new(bound, &judge, &axes, units);
    let (mut parts, mut suppressed) = ordered.divide(options.progress)?;
    // In vain would classes be merged for these.
    while let Some(failing) = ordered.hidden_by_no_class(&parts, &ordered.without(&suppressed)) {
        suppress(&mut parts, &mut suppressed, &failing);
    }
    let (found, kept, gone, counted) = loop {
        options.progress.check()?;
        let kept = ordered.without(&suppressed);
        let gone = kept.iter().filter(|kept| !**kept).count() as u64;
        ordered.refuse_too_many(&judge, gone, suppressed.len() as u64)?;
        let found = match publish.method {
            Method::Cluster => ordered.recoding_of_neighbors(&parts, kept.len()),
            _ => ordered.recoding(&parts, &kept),
        };
        let kept = (gone > 0).then_some(kept);
        let columns = seen_columns(bound, &found);
        let failing = match judge_what_is_seen(bound, units, &columns, kept.as_deref())? {
            Seen::Holds(counted) => match units_too_few_fit(bound, units, &columns, kept.as_deref()) {
                Some(failing) => failing,
                None => break (found, kept, gone, counted),
            },
            Seen::Fails(failing) => failing,
        };
        // Larger classes may hold for them.
        if let Some(merged) = ordered.merged(&parts, &failing) {
            parts = merged;
            continue;
        }
        // Where a reader sees several classes as one, a unit may have several rows there. Without
        // the units for which a rule fails then, others may fail: until all that are left hold.
        suppress(&mut parts, &mut suppressed, &failing);
    };
    let source = bound.rows();
    let rows = RowTotals { source, out: source - gone, suppressed: gone };
    let (table, codebook) = generalized::table(bound, found.recoded(&bound.quasi), kept)?;
    let mut losses = found.losses(source - gone, bound.k());
    // A suppressed row has lost everything.
    for name in ["ncp", "granularity", "entropy"] {
        if let Some(loss) = losses.get(name).and_then(serde_json::Value::as_f64) {
            let all = (loss * (source - gone) as f64 + gone as f64) / source.max(1) as f64;
            losses.insert(name.to_owned(), json!((all * 1e12).round() / 1e12));
        }
    }
    Ok(Draft { units: Some(counted), ..Draft::new(vec![table], codebook, rows, losses) })
}

/// Takes units out of their parts.
fn suppress(parts: &mut Vec<UnitRegions>, suppressed: &mut Vec<u32>, failing: &[bool]) {
    for part in parts.iter_mut() {
        part.units.retain(|&unit| !failing[unit as usize]);
    }
    parts.retain(|part| !part.units.is_empty());
    suppressed.extend((0u32..).zip(failing).filter(|(_, failing)| **failing).map(|(unit, _)| unit));
}

impl<'a> Ordered<'a> {
    fn new(bound: &'a Bound<'a>, judge: &'a Judge, axes: &'a [Axis], units: &Units) -> Ordered<'a> {
        let ranks: Vec<Vec<u32>> = bound
            .quasi
            .iter()
            .zip(axes)
            .map(|(quasi, axis)| {
                let rank = |code: u32| axis.ranks().map_or(code, |ranks| ranks[code as usize]);
                quasi.column.codes.iter().map(rank).collect()
            })
            .collect();
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); units.count];
        (0u32..).zip(&units.of_row).for_each(|(row, &unit)| rows[unit as usize].push(row));
        for rows in &mut rows {
            rows.sort_by_key(|&row| (ranks.iter().map(|ranks| ranks[row as usize]).collect::<Vec<u32>>(), row));
        }
        let codes = bound.judged_codes();
        let values = judge.rules().iter().map(|rule| rule.protect.map(|protect| codes[protect])).collect();
        let (weights, method) = (bound.weights(), bound.policy.publish.method);
        let minimum = judge.rules().iter().map(BoundRule::units_needed).max().unwrap_or(1);
        Ordered { bound, judge, axes, rows, ranks, values, weights, method, strict_minimum: minimum }
    }

    /// The parts that keep every rule and cannot be cut, and the units of no such part.
    fn divide(&self, progress: &dyn Progress) -> Result<(Vec<UnitRegions>, Vec<u32>), PublishError> {
        let mut sizes: Vec<(usize, u32)> = (0u32..).zip(&self.rows).map(|(unit, rows)| (rows.len(), unit)).collect();
        sizes.sort_unstable();
        let (mut parts, mut suppressed) = (Vec::new(), Vec::new());
        for equal in sizes.chunk_by(|a, b| a.0 == b.0) {
            let whole: Vec<Span> = self.axes.iter().map(Axis::whole).collect();
            let units = equal.iter().map(|&(_, unit)| unit).collect();
            let part = UnitRegions { units, regions: vec![whole; equal[0].0] };
            if !self.holds(&part.units) {
                suppressed.extend(part.units);
                continue;
            }
            let mut open = vec![part];
            while let Some(part) = open.pop() {
                progress.check()?;
                if self.method == Method::Cluster && part.units.len() <= self.piece_units() {
                    progress.advance((part.units.len() * part.regions.len()) as u64);
                    parts.extend(self.classes_of_neighbors(part));
                    continue;
                }
                match self.cut(&part) {
                    Some(children) => open.extend(children),
                    None => {
                        progress.advance((part.units.len() * part.regions.len()) as u64);
                        parts.push(part);
                    }
                }
            }
        }
        Ok((parts, suppressed))
    }

    fn rank(&self, unit: u32, place: usize, attribute: usize) -> u32 {
        self.ranks[attribute][self.rows[unit as usize][place] as usize]
    }

    /// Whether every rule holds for the rows of these units in every place.
    fn holds(&self, units: &[u32]) -> bool {
        let places = units.first().map_or(0, |&unit| self.rows[unit as usize].len());
        let nothing = Distribution::default();
        self.judge.rules().iter().zip(&self.values).enumerate().all(|(number, (rule, values))| {
            self.whole_units_hold(number, values, units)
                && self.places_alike_hold(number, values, units)
                && (0..places).all(|place| {
                    let mut found: Vec<u32> = Vec::new();
                    if let Some(codes) = values {
                        found.extend(units.iter().map(|&unit| codes.get(self.rows[unit as usize][place] as usize)));
                        found.sort_unstable();
                    }
                    let counts: Vec<(u32, u32)> =
                        found.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)).collect();
                    let class = Class { rows: units.len() as u64, values: &counts };
                    let table = rule.source.as_ref().unwrap_or(&nothing);
                    rule.guarantees.iter().all(|guarantee| guarantee.holds(class, table))
                })
        })
    }

    /// Whether a rule holds for all that a link shows of these units.
    fn whole_units_hold(&self, number: usize, values: &Option<&Codes>, units: &[u32]) -> bool {
        let (Some(codes), Some(terms)) = (values, self.judge.unit_terms()) else { return true };
        if !terms.linked {
            return true;
        }
        let rows_of = |unit: &u32| self.rows[*unit as usize].iter();
        let values: Vec<Vec<u32>> =
            units.iter().map(|unit| rows_of(unit).map(|&row| codes.get(row as usize)).collect()).collect();
        self.judge.holds_for_whole_units(number, terms, &values)
    }

    /// The children of the first cut that leaves every rule intact, if any does.
    fn cut(&self, part: &UnitRegions) -> Option<Vec<UnitRegions>> {
        if !decide::can_divide(part.units.len() as u64, self.strict_minimum) {
            return None;
        }
        let mut tried: Vec<(f64, usize, usize)> = Vec::new();
        for place in 0..part.regions.len() {
            for (attribute, weight) in self.weights.iter().enumerate() {
                let extent = weight * self.axes[attribute].extent(self.people(part, place, attribute));
                if extent > 0.0 {
                    tried.push((extent, place, attribute));
                }
            }
        }
        tried.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut possible = tried.iter().filter_map(|&(_, place, attribute)| self.cut_along(part, place, attribute));
        if self.method == Method::Mondrian {
            return possible.next();
        }
        possible.min_by(|a, b| self.cost(a).total_cmp(&self.cost(b)))
    }

    fn cost(&self, parts: &[UnitRegions]) -> f64 {
        let cell = |(axis, (region, weight)): (&Axis, (&Span, &f64))| weight * axis.weight(*region);
        let row = |regions: &Vec<Span>| self.axes.iter().zip(regions.iter().zip(&self.weights)).map(cell).sum::<f64>();
        parts.iter().map(|part| part.units.len() as f64 * part.regions.iter().map(row).sum::<f64>()).sum()
    }

    fn people(&self, part: &UnitRegions, place: usize, attribute: usize) -> Span {
        self.reached(&part.units, place, attribute)
    }

    /// From the lowest to the highest rank of units in one place.
    fn reached(&self, units: &[u32], place: usize, attribute: usize) -> Span {
        let ranks = units.iter().map(|&unit| self.rank(unit, place, attribute));
        let (first, last) = ranks.fold((u32::MAX, 0), |(first, last), rank| (first.min(rank), last.max(rank)));
        Span::new(first, last)
    }

    /// The children of a cut along one attribute in one place.
    fn cut_along(&self, part: &UnitRegions, place: usize, attribute: usize) -> Option<Vec<UnitRegions>> {
        let axis = &self.axes[attribute];
        let people = self.people(part, place, attribute);
        if let Some(node) = axis.node(people) {
            return self.parted(part, place, attribute, &node.children);
        }
        let region = axis.clipped(part.regions[place][attribute], people);
        if let Shape::Line(line) = axis.shape()
            && people.last >= line.present()
            && people.first < line.present()
        {
            let (first, missing) = (region.first, line.present());
            return self.parted(part, place, attribute, &[Span::new(first, missing - 1), Span::new(missing, missing)]);
        }
        let mut ranks: Vec<u32> = part.units.iter().map(|&unit| self.rank(unit, place, attribute)).collect();
        ranks.sort_unstable();
        let values: Vec<(u32, u32)> =
            ranks.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)).collect();
        let cuts = decide::cuts_at(Median::of(&values)?, true, self.strict_minimum);
        cuts.into_iter().find_map(|cut| {
            let Cut::Before(rank) = cut else { return None };
            let sides = [Span::new(region.first, rank - 1), Span::new(rank, region.last)];
            self.parted(part, place, attribute, &sides)
        })
    }

    /// The units by the span that their row lies in, where every side keeps every rule.
    fn parted(&self, part: &UnitRegions, place: usize, attribute: usize, spans: &[Span]) -> Option<Vec<UnitRegions>> {
        let mut children: Vec<UnitRegions> = Vec::with_capacity(spans.len());
        for span in spans {
            let inside = |unit: &u32| (span.first..=span.last).contains(&self.rank(*unit, place, attribute));
            let units: Vec<u32> = part.units.iter().copied().filter(inside).collect();
            if units.is_empty() {
                continue;
            }
            if !self.holds(&units) {
                return None;
            }
            let mut regions = part.regions.clone();
            regions[place][attribute] = *span;
            children.push(UnitRegions { units, regions });
        }
        let whole: usize = children.iter().map(|child| child.units.len()).sum();
        (children.len() > 1 && whole == part.units.len()).then_some(children)
    }

    /// By row, whether it is released when these units are suppressed.
    fn without(&self, suppressed: &[u32]) -> Vec<bool> {
        let mut kept = vec![true; self.bound.table.rows];
        for &unit in suppressed {
            self.rows[unit as usize].iter().for_each(|&row| kept[row as usize] = false);
        }
        kept
    }

    fn refuse_too_many(&self, judge: &Judge, rows: u64, units: u64) -> Result<(), PublishError> {
        let allowed = judge.unit_terms().map_or(0, |terms| terms.allowed);
        let all = self.rows.len() as u64;
        if rows <= judge.allowed() && units <= allowed && units < all {
            return Ok(());
        }
        let summary = "no release was found: too few units are alike".to_owned();
        let reasons = vec![format!(
            "{units} of {all} units have a number of rows that too few others have, or too few others that fit all their \
             rows{}; at most {allowed} units and {} rows may be suppressed",
            if self.bound.consistent().is_some() { ", without those that combinations of values exclude" } else { "" },
            judge.allowed()
        )];
        let hint =
            "let more rows be suppressed (publish.suppression), leave out rows of large units, or use `method = \
                    \"full-domain\"` without links, where a unit may have more rows than another that it hides"
                .to_owned();
        Err(Box::new(Unsatisfiable { summary, reasons, hint }).into())
    }

    /// A class for every place of every part. Suppressed rows are of the first class, and not
    /// counted there.
    fn recoding(&self, parts: &[UnitRegions], kept: &[bool]) -> LocalRecoding {
        let mut of_row = vec![0u32; kept.len()];
        let (mut regions, mut sizes): (Vec<Vec<Span>>, Vec<u64>) = (Vec::new(), Vec::new());
        let tight = self.bound.policy.publish.summarise == Summary::Tight;
        for part in parts {
            for place in 0..part.regions.len() {
                for &unit in &part.units {
                    of_row[self.rows[unit as usize][place] as usize] = sizes.len() as u32;
                }
                let region = self.axes.iter().enumerate().map(|(attribute, axis)| match axis.is_narrowed(tight) {
                    true => axis.cell(self.people(part, place, attribute)),
                    false => part.regions[place][attribute],
                });
                regions.push(region.collect());
                sizes.push(part.units.len() as u64);
            }
        }
        let cells = self.axes.iter().enumerate().map(|(attribute, axis)| {
            let regions = regions.iter().map(|region| region[attribute]);
            let counts = self.bound.counts_of_quasi(attribute);
            cells(&self.bound.quasi[attribute], axis, counts, tight, regions)
        });
        let cells = cells.collect();
        LocalRecoding { of_row, pieces: None, sizes, cells }.with_equal_classes_merged()
    }
}

/// The columns that rules use, as they are released.
fn seen_columns(bound: &Bound<'_>, found: &LocalRecoding) -> Vec<Codes> {
    let mut columns = found.columns();
    columns.extend(bound.judged_codes().into_iter().skip(columns.len()).cloned());
    columns
}

/// The verdict about the released table.
enum Seen {
    Holds(DraftUnits),
    /// By unit, whether a rule fails for it.
    Fails(Vec<bool>),
}

/// By unit, whether too few rows fit one of its own by the combinations of values that occur;
/// `None` where enough fit all.
fn units_too_few_fit(bound: &Bound<'_>, units: &Units, columns: &[Codes], kept: Option<&[bool]>) -> Option<Vec<bool>> {
    let columns: Vec<&Codes> = columns.iter().collect();
    let failing_rows = bound.consistent()?.failing(&columns, kept);
    let mut failing = vec![false; units.count];
    units.of_row.iter().zip(&failing_rows).for_each(|(&unit, &fails)| failing[unit as usize] |= fails);
    failing.contains(&true).then_some(failing)
}

/// Judges what readers see, over rows and units.
fn judge_what_is_seen(
    bound: &Bound<'_>,
    units: &Units,
    columns: &[Codes],
    kept: Option<&[bool]>,
) -> Result<Seen, PublishError> {
    let cardinalities = columns
        .iter()
        .zip(bound.judged_cardinalities())
        .map(|(codes, own)| codes.iter().max().map_or(own, |most| own.max(most as usize + 1)));
    let judge = Judge::new(cardinalities.collect(), bound.quasi.len(), bound.judge()?.into_rules(), 0)
        .ok_or_else(|| PublishError::Internal("the labels need a wider key than the values".to_owned()))?
        .over_units(units.terms(bound.policy, bound.table));
    let codes: Vec<&Codes> = columns.iter().collect();
    let terms = judge.unit_terms().ok_or_else(|| PublishError::Internal("rules count no units".to_owned()))?;
    let failing = with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(&codes, bound.table.rows, None);
        let rows = UnitRows::new(&judge, &counted.set, &codes, &units.of_row, units.count);
        judge.failing_units(terms, &counted.set, &rows, &units.kept(kept))
    });
    if failing.contains(&true) {
        return Ok(Seen::Fails(failing));
    }
    let counted = DraftUnits::of_columns(units, &judge, &codes, bound.table.rows, kept);
    counted.map(Seen::Holds).ok_or_else(|| PublishError::Internal("units could not be counted".to_owned()))
}
