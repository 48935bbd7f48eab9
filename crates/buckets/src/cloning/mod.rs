//! `method = "clone"`: publishing while others publish about the same people and their releases
//! cannot be seen.
//!
//! M. M. Baig, J. Li, J. Liu, H. Wang: *Cloning for privacy protection in multiple independent data
//! publications*, CIKM 2011. Every class holds every sensitive value with nearly the table's
//! frequency, so that combining it with another publisher's class rules out no value that the two
//! tables' distributions would not; and instead of cells, statistics of small sub-classes are
//! released.
//!
//! - `division`: how many classes, and how many tuples of every value each takes; the true ε.
//! - `assignment`: which tuples, close ones together, in O(n log n): those that agree in labels by
//!   `packing`, the others by where they lie in `space`; `quotas` says how many of every value.
//!   `scan` is the paper's way.
//! - `statistics`: what is released of every sub-class.

mod assignment;
mod counting;
mod distortion;
pub mod division;
mod eligible;
mod lowest;
mod packing;
mod quotas;
mod report;
mod scan;
mod space;
mod statistics;
mod tables;

use std::time::Instant;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::{Ineligible, PublishError};
use hedgerow_draft::options::{PublishOptions, TableFormat};
use hedgerow_policy::{Assignment, Attribute, Method, RareValues, Role};
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::{Column, InputError};
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use assignment::{ClassCut, cut_all};
use division::{Division, rare_values};
use space::Space;

pub use eligible::refuse;
pub use hedgerow_draft::clone_report::{CloneReport, ClonedValue, Epsilons, RareValue, SubClasses};
pub use hedgerow_verify::clone_promise::{ClonePromise, ThetaAt};

pub fn draft<'a>(
    bound: &'a Bound<'_>,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<Draft<'a>, PublishError> {
    debug_assert_eq!(bound.policy.publish.method, Method::Clone);
    if options.format != TableFormat::Csv {
        let problem = "a cloned release is written as CSV";
        return Err(InputError::new("format", problem, "choose CSV").into());
    }
    let sensitive = sensitive_column(bound)?;
    let sizes = Sizes::of(bound);
    let (division, rare) = divide(bound, sensitive)?;
    let units = unite(&division, &sizes)?;
    let rows = rows_by_value(sensitive, &division);
    let space = Space::new(bound);
    options.progress.stage("assigning", Some(2 * rows.iter().map(|rows| rows.len() as u64).sum::<u64>().max(1)));
    let assigning = Instant::now();
    let assigned = match bound.policy.publish.assignment {
        Assignment::Order | Assignment::Random => {
            assignment::assign(bound, &division, &units, rows, &space, options.progress)
        }
        Assignment::Scan => {
            let share = bound.policy.publish.cloning.rho;
            scan::assign(bound, &division, &units, rows, share, rng, options.progress)
        }
    };
    // A canceled run has no assignment.
    options.progress.check()?;
    let assign_time = assigning.elapsed();
    let distortion = distortion::of_classes(bound, &assigned);
    let cut = cut_all(assigned, sizes.tuples as usize, sizes.people as usize, &space);
    let released: u64 = cut.iter().map(|(class, _)| class.rows.len() as u64).sum();
    let source = bound.table.rows as u64;
    let rows = RowTotals { source, out: released, suppressed: source - released };
    let report = report::report(sensitive, &division, &cut, rare, (distortion, assign_time), &sizes);
    let losses = losses(&cut, source);
    let (tables, codebook) = tables::tables(bound, sensitive, &division, cut, &sizes, rng)?;
    let mut draft = Draft::new(tables, codebook, rows, losses);
    draft.cloned = Some(report);
    draft.warnings = warnings_of_plain(bound);
    Ok(draft)
}

/// The smallest sub-classes that are allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// k of the paper: counterfeits count.
    pub(crate) tuples: u64,
    /// k of the rules' k-anonymity: counterfeits do not count.
    pub(crate) people: u64,
    /// λ of the paper.
    pub(crate) lambda: u64,
}

impl Sizes {
    fn of(bound: &Bound<'_>) -> Sizes {
        let cloning = &bound.policy.publish.cloning;
        let tuples = cloning.k.unwrap_or(hedgerow_policy::Cloning::K);
        Sizes { tuples, people: bound.k(), lambda: cloning.lambda.unwrap_or(tuples.div_ceil(2)).min(tuples) }
    }
}

fn sensitive_column<'a>(bound: &Bound<'a>) -> Result<&'a Column, PublishError> {
    let attribute = bound.policy.attributes.iter().find(|attribute| attribute.role == Role::Sensitive);
    let column = attribute.and_then(|attribute| bound.table.column(&attribute.name));
    column.ok_or_else(|| PublishError::Internal("internal error: the sensitive attribute was not read".to_owned()))
}

fn warnings_of_plain(bound: &Bound<'_>) -> Vec<InputError> {
    let plain = bound.policy.attributes.iter().filter(|attribute| attribute.role == Role::Plain);
    let warning = |attribute: &Attribute| {
        let problem = format!(
            "`{}` is plain, and a cloned release does not have it: statistics have no rows that could carry it",
            attribute.name
        );
        InputError::new(attribute.place.clone(), problem, "make it `quasi` to have its statistics released")
    };
    plain.map(warning).collect()
}

/// The division into the most classes that keep every rule about their composition, and the rare
/// values with what each costs.
fn divide(bound: &Bound<'_>, sensitive: &Column) -> Result<(Division, RareReport), PublishError> {
    let counts: Vec<(u32, u64)> = (0..).zip(sensitive.counts()).filter(|&(_, rows)| rows > 0).collect();
    let cloning = &bound.policy.publish.cloning;
    let rare = rare_values(&counts, cloning.rare_rows.floor_of(bound.table.rows as u64));
    let is_rare = |&(code, _): &(u32, u64)| rare.iter().any(|rare| rare.code == code);
    let (rare_counts, frequent): (Vec<_>, Vec<_>) = counts.iter().partition(|count| is_rare(count));
    let suppresses = cloning.rare == RareValues::Suppress;
    let division = match suppresses {
        true => eligible::division(bound, sensitive, &frequent, &rare_counts)?,
        false => eligible::division(bound, sensitive, &counts, &[])?,
    };
    let classes_without = match suppresses || rare.is_empty() {
        true => None,
        false => eligible::division(bound, sensitive, &frequent, &rare_counts).ok().map(|division| division.classes),
    };
    let described = |rare: &division::Rare| RareValue {
        value: sensitive.domain.text(rare.code),
        rows: rare.rows,
        classes_without: rare.classes_without,
        suppressed: suppresses,
    };
    Ok((division, RareReport { values: rare.iter().map(described).collect(), classes_without }))
}

/// The rare values, and how many classes there would be if those that were kept were suppressed.
struct RareReport {
    values: Vec<RareValue>,
    /// `None` where that would leave no release, or was done.
    classes_without: Option<u64>,
}

/// How many classes of the division every class of the release unites: as few as give it a
/// sub-class.
fn unite(division: &Division, sizes: &Sizes) -> Result<Vec<u64>, PublishError> {
    let united = |each: u64| -> Vec<u64> {
        let classes = division.classes / each;
        (0..classes)
            .map(|class| division.classes * (class + 1) / classes - division.classes * class / classes)
            .collect()
    };
    let all = division.classes * division.class_size();
    let real = division.shares.iter().map(|share| share.rows.min(share.per_class * division.classes)).sum::<u64>();
    if all < sizes.tuples || real < sizes.people {
        let required = sizes.tuples.max(sizes.people);
        let reason = format!("sub-classes need at least {required} tuples, and {real} can be released in all");
        return Err(Ineligible::clones(vec![reason], "require a smaller k").into());
    }
    let mut each = sizes.tuples.div_ceil(division.class_size());
    // A class lacks less than one tuple of a value more than its part of what is missing
    // (`quotas`).
    let people = |each: u64| {
        let fewest = |share: &division::Share| match share.counterfeit(division.classes) {
            0 => share.per_class * each,
            missing => share.per_class * each - (missing * each / division.classes + 1).min(each),
        };
        division.shares.iter().map(fewest).sum::<u64>()
    };
    while each < division.classes && people(each) < sizes.people {
        each += 1;
    }
    Ok(united(each.min(division.classes)))
}

fn rows_by_value(sensitive: &Column, division: &Division) -> Vec<Vec<u32>> {
    let mut place = vec![usize::MAX; sensitive.domain.cardinality()];
    for (index, share) in division.shares.iter().enumerate() {
        place[share.code as usize] = index;
    }
    let mut rows: Vec<Vec<u32>> = division.shares.iter().map(|share| Vec::with_capacity(share.rows as usize)).collect();
    for (row, code) in (0..).zip(sensitive.codes.iter()) {
        if let Some(rows) = rows.get_mut(place[code as usize]) {
            rows.push(row);
        }
    }
    rows
}

/// Discernibility of the sub-classes: each released row is charged the rows of its sub-class, where
/// counterfeits are none, and each suppressed one those of the table. Measures of cells have no
/// meaning where there are none.
fn losses(cut: &[ClassCut], source: u64) -> Map<String, Value> {
    let sizes = cut.iter().flat_map(|(_, parts)| parts.iter().map(|(rows, _)| rows.len() as u64));
    let released: u64 = cut.iter().map(|(class, _)| class.rows.len() as u64).sum();
    let discernibility = sizes.map(|size| size * size).sum::<u64>() + source * (source - released);
    Map::from_iter([("discernibility".to_owned(), json!(discernibility as f64))])
}
