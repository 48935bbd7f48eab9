//! The ranges that a manifest declares of its attributes, compared with the released values and
//! labels: each row has a value in the range, so that every label covers one.

use hedgerow_table::{Bound, Cover, Domain, Kind, Values};

use super::fields;
use crate::codebook::Codebook;
use crate::kinds::ReleaseTables;
use crate::manifest::Manifest;

/// `cuts_itself` says that the ends of labels are values, cuts between them, or ends of the range:
/// then a label covers nothing beyond the range.
pub(super) fn contradictions(
    manifest: &Manifest,
    tables: &ReleaseTables,
    codebook: &Codebook,
    cuts_itself: bool,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for field in fields(manifest) {
        let Some([low, high]) = field.declared_range() else { continue };
        let (name, kind) = (field.name.as_str(), field.values_kind().or(field.table_kind()));
        let is_date = |bound: Bound| matches!(bound, Bound::Date(_));
        let fits = |bound: Bound| kind.is_none_or(|kind| is_date(bound) == (kind == Kind::Date));
        let problem = if ![low, high].into_iter().flatten().all(fits) {
            Some(format!("the manifest states a range of `{name}` that is not one of its values"))
        } else {
            let after = high.and_then(|high| high.first_after(kind?));
            // What a coarser value stands for ends where its neighbors begin.
            let outside = |label: &str, cover: &Cover| {
                let cuts_itself = cuts_itself && !codebook.is_coarse_value(name, label);
                is_outside(cover, low, high) || cuts_itself && reaches_beyond(cover, low, after)
            };
            let labels = codebook.labels(name);
            let values =
                if labels.is_empty() { tables.kind().domain(name).map_or_else(Vec::new, ends) } else { Vec::new() };
            let count = labels.iter().filter(|(label, cover)| outside(label, cover)).count()
                + values.iter().filter(|value| is_outside(value, low, high)).count();
            (count > 0).then(|| format!("`{name}` has values or labels outside of the range that the manifest states"))
        };
        found.extend(problem.filter(|problem| !found.contains(problem)));
    }
    found
}

/// The lowest and the highest value.
fn ends(domain: &Domain) -> Vec<Cover> {
    fn both<T: Copy>(values: &[T], bound: impl Fn(T) -> Bound) -> Vec<Cover> {
        values.first().into_iter().chain(values.last()).map(|value| Cover::Point(bound(*value))).collect()
    }
    match domain.values() {
        Values::Integer(values) => both(values, Bound::Integer),
        Values::Float(values) => both(values, Bound::Float),
        Values::Date(values) => both(values, Bound::Date),
        Values::Category(_) => Vec::new(),
    }
}

/// Whether an interval has an end beyond the least value or the first after the greatest.
fn reaches_beyond(cover: &Cover, least: Option<Bound>, after: Option<Bound>) -> bool {
    let Cover::Interval { low, high } = cover else { return false };
    low.zip(least).is_some_and(|(low, least)| low < least) || high.zip(after).is_some_and(|(high, after)| high > after)
}

/// Whether nothing that is covered lies between the ends, both inclusive.
fn is_outside(cover: &Cover, least: Option<Bound>, most: Option<Bound>) -> bool {
    let is_below = |value: Bound| least.is_some_and(|least| value < least);
    let is_above = |value: Bound| most.is_some_and(|most| value > most);
    match cover {
        Cover::Everything | Cover::Missing => false,
        Cover::Point(point) => is_below(*point) || is_above(*point),
        Cover::Interval { low, high } => {
            let ends_below = high.zip(least).is_some_and(|(high, least)| high <= least);
            ends_below || low.is_some_and(is_above)
        }
        Cover::Leaves(leaves) => {
            let values: Vec<Bound> = leaves.iter().filter_map(|leaf| Bound::parse(leaf)).collect();
            let is_listed = values.len() == leaves.iter().filter(|leaf| !leaf.is_empty()).count();
            is_listed && !values.is_empty() && values.iter().all(|value| is_below(*value) || is_above(*value))
        }
    }
}
