//! The source and the release compared attribute by attribute and group by group. It shows private
//! counts and is for the custodian alone.
//!
//! A value's rows in the release are what a reader would expect: what `hedgerow query` estimates,
//! and where that is unknown, what a reader expects who knows which values there are.
//! The loss of a subgroup is the normalized certainty penalty over all quasi cells of its rows, a
//! suppressed row counting as 1: who pays for the privacy.

use hedgerow_release::Release;
use hedgerow_release::generalized::Generalized;
use hedgerow_table::date::Date;
use hedgerow_table::{Bound, Domain, Kind, Table, TableError, Values};
use serde::Serialize;

use crate::attribute::{AuditedAttribute, Recoding, Unchanged};
use crate::estimate::declared;
use crate::estimate::predicate::Predicate;
use crate::kinds::{SourceTable, kind};
use crate::loss::{mean, ncp};
use crate::query_error::batch::selected;

/// Values, or ranges of values, that an attribute is shown by.
const VALUES_MAX: usize = 14;
/// An attribute with more values has no subgroups of its own.
const SUBGROUPS_MAX: usize = 12;

/// Values that are shown together, by their codes, under a name.
type ValueGroup = (String, Vec<u32>);

/// A release next to its source.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Comparison {
    pub attributes: Vec<ComparedAttribute>,
    pub subgroups: Vec<Subgroup>,
}

/// One attribute, value by value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedAttribute {
    pub name: String,
    pub values: Vec<ComparedValue>,
}

/// One value or range: rows in the source, and rows to be expected from the release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedValue {
    pub value: String,
    pub source: u64,
    pub released: f64,
}

/// The rows with one value, or label, of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subgroup {
    pub attribute: String,
    pub value: String,
    pub source: u64,
    pub suppressed: u64,
    pub ncp: f64,
}

/// Compares a release with the source that it was made from. Where no row can be compared,
/// the comparison is empty.
pub fn compare(release: &Release, source: &SourceTable<'_>) -> Result<Comparison, TableError> {
    kind(release).compare(release, source)
}

/// Rows whose quasi-identifiers are released as they are.
pub(crate) fn unchanged(rows: &Table, quasi: &[String], source: &SourceTable<'_>) -> Result<Comparison, TableError> {
    let mut attributes = Vec::new();
    for name in quasi {
        let own = Unchanged::bind(name, source.table, rows)?;
        let counts = own.released.counts();
        let released = exact(&own, &counts);
        attributes.push(compared(name, &own.source.domain, &own.source.counts(), added_up(&released))?);
    }
    Ok(Comparison { attributes, subgroups: Vec::new() })
}

/// Rows whose quasi-identifiers carry labels.
pub(crate) fn generalized(
    release: &Release,
    tables: &Generalized,
    source: &SourceTable<'_>,
) -> Result<Comparison, TableError> {
    let recoding = if release.method() == "full-domain" { Recoding::FullDomain } else { Recoding::Local };
    let ranges = declared::ranges(release, "");
    let bind =
        |quasi| AuditedAttribute::bind(quasi, source.table, &tables.table, release.codebook(), &ranges, recoding);
    let quasi: Vec<AuditedAttribute<'_>> = source.quasi.iter().map(bind).collect::<Result<_, _>>()?;
    let others = source.sensitive.iter().filter(|name| quasi.iter().all(|attribute| attribute.name != **name));
    let sensitive: Vec<(&str, Unchanged<'_>)> = others
        .map(|name| Ok((*name, Unchanged::bind(name, source.table, &tables.table)?)))
        .collect::<Result<_, TableError>>()?;
    let mut attributes = Vec::new();
    for attribute in &quasi {
        let domain = &attribute.source.domain;
        let expected = |groups: &[ValueGroup]| expected(attribute, groups);
        attributes.push(compared(attribute.name, domain, &attribute.source.counts(), expected)?);
    }
    for (name, own) in &sensitive {
        let released = exact(own, &own.released.counts());
        attributes.push(compared(name, &own.source.domain, &own.source.counts(), added_up(&released))?);
    }
    Ok(Comparison { attributes, subgroups: subgroups(release, &quasi, &sensitive)? })
}

/// The released rows of each value of the source.
fn exact(own: &Unchanged<'_>, counts: &[u64]) -> Vec<f64> {
    let of = |&code: &u32| counts.get(code as usize).copied().unwrap_or(0) as f64;
    own.released_code.iter().map(of).collect()
}

/// The rows of each group of values, where the rows of each value are known.
fn added_up(released: &[f64]) -> impl Fn(&[ValueGroup]) -> Result<Vec<f64>, TableError> {
    |groups| {
        let sum = |codes: &[u32]| codes.iter().map(|&code| released[code as usize]).sum();
        Ok(groups.iter().map(|(_, codes)| sum(codes)).collect())
    }
}

/// The rows of each group of values that `hedgerow query` estimates.
fn expected(attribute: &AuditedAttribute<'_>, groups: &[ValueGroup]) -> Result<Vec<f64>, TableError> {
    let domain = &attribute.source.domain;
    let firsts: Vec<Option<Bound>> = groups.iter().map(|(_, codes)| bound(domain, *codes.first()?)).collect();
    let predicate = |(place, (_, codes)): (usize, &ValueGroup)| {
        let next = firsts.get(place + 1).copied().flatten();
        predicate(domain, attribute.axis.kind, codes, next)
    };
    let predicates: Vec<Predicate> = groups.iter().enumerate().map(predicate).collect();
    let shares = selected(&attribute.axis, &predicates)?;
    let rows = |shares: &Vec<f64>| shares.iter().zip(&attribute.counts).map(|(share, &rows)| share * rows as f64).sum();
    Ok(shares.iter().map(rows).collect())
}

fn bound(domain: &Domain, code: u32) -> Option<Bound> {
    match domain.values() {
        Values::Integer(values) => values.get(code as usize).copied().map(Bound::Integer),
        Values::Float(values) => values.get(code as usize).copied().map(Bound::Float),
        Values::Date(values) => values.get(code as usize).copied().map(Bound::Date),
        Values::Category(_) => None,
    }
}

/// The predicate of a group of values. A range of numbers extends to the next one.
fn predicate(domain: &Domain, kind: Kind, codes: &[u32], next: Option<Bound>) -> Predicate {
    let ends = |first: u32, last: u32| Some((bound(domain, first)?, bound(domain, last)?));
    match codes {
        [code] if Some(*code) == domain.missing_code() => return Predicate::Missing,
        [first, .., last] if kind != Kind::Category => {
            if let Some((first, last)) = ends(*first, *last) {
                let last = next.and_then(just_below).unwrap_or(last);
                return Predicate::Between(first, last);
            }
        }
        [code] if kind != Kind::Category => {
            if let Some(value) = bound(domain, *code) {
                return Predicate::Between(value, value);
            }
        }
        _ => {}
    }
    let missing = codes.iter().any(|code| Some(*code) == domain.missing_code());
    let present = codes.iter().filter(|code| Some(**code) != domain.missing_code());
    let mut among: Vec<String> = present.map(|&code| domain.text(code)).collect();
    among.sort_unstable();
    if missing { Predicate::TextsOrMissing(among) } else { Predicate::Texts { among, negated: false } }
}

fn just_below(bound: Bound) -> Option<Bound> {
    Some(match bound {
        Bound::Integer(value) => Bound::Integer(value.checked_sub(1)?),
        Bound::Float(value) => Bound::Float(value.next_down()),
        Bound::Date(Date(day)) => Bound::Date(Date(day.checked_sub(1)?)),
    })
}

fn compared(
    name: &str,
    domain: &Domain,
    source: &[u64],
    released: impl Fn(&[ValueGroup]) -> Result<Vec<f64>, TableError>,
) -> Result<ComparedAttribute, TableError> {
    let groups = shown_values(domain, source);
    let released = released(&groups)?;
    let values = groups.into_iter().zip(released).map(|((value, codes), released)| {
        let source = codes.iter().map(|&code| source[code as usize]).sum();
        ComparedValue { value, source, released }
    });
    Ok(ComparedAttribute { name: name.to_owned(), values: values.collect() })
}

/// The groups of an attribute: its values, ranges of equal width, or its most frequent values
/// and the others together.
fn shown_values(domain: &Domain, counts: &[u64]) -> Vec<ValueGroup> {
    let all = 0..domain.cardinality() as u32;
    if domain.cardinality() <= VALUES_MAX {
        return all.map(|code| (domain.text(code), vec![code])).collect();
    }
    let present = domain.present() as u32;
    let missing = domain.missing_code().map(|code| (String::new(), vec![code]));
    let ends = domain.number(0).zip(domain.number(present.saturating_sub(1)));
    let mut shown: Vec<ValueGroup> = match ends.filter(|(low, high)| low < high) {
        Some((low, high)) => {
            let mut ranges = vec![Vec::new(); VALUES_MAX];
            for code in 0..present {
                let share = (domain.number(code).unwrap_or(low) - low) / (high - low);
                ranges[((share * VALUES_MAX as f64) as usize).min(VALUES_MAX - 1)].push(code);
            }
            ranges.retain(|codes| !codes.is_empty());
            ranges.into_iter().map(|codes| (range_text(domain, &codes), codes)).collect()
        }
        None => {
            let mut order: Vec<u32> = (0..present).collect();
            order.sort_by_key(|&code| std::cmp::Reverse(counts[code as usize]));
            let others = order.split_off(VALUES_MAX.min(order.len()));
            let mut shown: Vec<_> = order.into_iter().map(|code| (domain.text(code), vec![code])).collect();
            if !others.is_empty() {
                shown.push((format!("{} others", others.len()), others));
            }
            shown
        }
    };
    shown.extend(missing);
    shown
}

fn range_text(domain: &Domain, codes: &[u32]) -> String {
    match codes {
        [only] => domain.text(*only),
        [first, .., last] => format!("{} to {}", domain.text(*first), domain.text(*last)),
        [] => String::new(),
    }
}

/// The loss of the rows with each label of a quasi-identifier, where the source's rows with it are
/// known, and with each sensitive value.
fn subgroups(
    release: &Release,
    quasi: &[AuditedAttribute<'_>],
    sensitive: &[(&str, Unchanged<'_>)],
) -> Result<Vec<Subgroup>, TableError> {
    let classes = &release.classes()?[0];
    // The labels of the classes are those of the released columns, in the same order.
    let mut position = Vec::with_capacity(quasi.len());
    for attribute in quasi {
        let found = classes.quasi.iter().position(|labels| labels.name == attribute.name);
        position.push(found.ok_or_else(|| TableError::Internal("a quasi-identifier has no labels".to_owned()))?);
    }
    let penalties: Vec<Vec<f64>> = quasi.iter().map(ncp::of_labels).collect();
    let loss = |class: usize| {
        let cells = classes.cells(class);
        let own = penalties.iter().zip(&position).map(|(penalties, &at)| penalties[cells[at] as usize]);
        mean(&own.collect::<Vec<_>>())
    };
    let losses: Vec<f64> = (0..classes.len()).map(loss).collect();
    let mut all = Vec::new();
    for (attribute, &at) in quasi.iter().zip(&position) {
        let labels = &classes.quasi[at].labels;
        let Some(source) = source_rows(attribute).filter(|_| (2..=SUBGROUPS_MAX).contains(&labels.len())) else {
            continue;
        };
        let mut sums = vec![(0u64, 0.0); labels.len()];
        for (class, &loss) in losses.iter().enumerate() {
            let (rows, sum) = &mut sums[classes.cells(class)[at] as usize];
            *rows += u64::from(classes.sizes[class]);
            *sum += loss * f64::from(classes.sizes[class]);
        }
        let groups = labels.iter().zip(&source).zip(&sums);
        all.extend(groups.map(|((label, &source), sum)| subgroup(attribute.name, label, source, *sum)));
    }
    for (name, own) in sensitive {
        let Some(counts) = classes.sensitive(name).filter(|counts| (2..=SUBGROUPS_MAX).contains(&counts.values.len()))
        else {
            continue;
        };
        let mut sums = vec![(0u64, 0.0); counts.values.len()];
        for (class, &loss) in losses.iter().enumerate() {
            for &(value, count) in counts.of_bucket(classes.bucket_of[class]) {
                sums[value as usize].0 += u64::from(count);
                sums[value as usize].1 += loss * f64::from(count);
            }
        }
        let source = own.source.counts();
        let groups = counts.values.iter().zip(&own.source_code).zip(&sums);
        all.extend(groups.map(|((value, &code), sum)| subgroup(name, value, source[code as usize], *sum)));
    }
    Ok(all)
}

fn subgroup(attribute: &str, value: &str, source: u64, (released, loss): (u64, f64)) -> Subgroup {
    let suppressed = source.saturating_sub(released);
    let ncp = (loss + suppressed as f64) / source.max(1) as f64;
    Subgroup { attribute: attribute.to_owned(), value: value.to_owned(), source, suppressed, ncp }
}

/// Rows of the source under each released label, where a row has one label only.
fn source_rows(attribute: &AuditedAttribute<'_>) -> Option<Vec<u64>> {
    let counts = attribute.source.counts();
    let mut rows = vec![0u64; attribute.cells.len()];
    match &attribute.full_domain {
        Some(found) => {
            for (&label, &count) in found.recoded.iter().zip(&counts) {
                if let Some(rows) = rows.get_mut(label as usize) {
                    *rows += count;
                }
            }
        }
        None => {
            for (cell, rows) in attribute.cells.iter().zip(&mut rows) {
                let [code] = cell.codes[..] else { return None };
                *rows = counts[code as usize];
            }
        }
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::{Table, Values};

    #[test]
    fn many_numbers_are_shown_by_ranges_and_add_up() {
        let domain = Domain::new(Values::Integer((0..100).collect()), true);
        let counts = vec![1u64; 101];
        let shown = shown_values(&domain, &counts);
        assert_eq!(shown.len(), VALUES_MAX + 1);
        assert_eq!(shown[0].0, "0 to 7");
        assert_eq!(shown.last().unwrap().0, "", "the missing value");
        let mut codes: Vec<u32> = shown.into_iter().flat_map(|(_, codes)| codes).collect();
        codes.sort_unstable();
        assert_eq!(codes, (0..101).collect::<Vec<u32>>(), "every value once");
    }

    #[test]
    fn many_texts_are_shown_by_the_most_frequent_and_the_others() {
        let texts: Vec<String> = (0..30).map(|text| format!("t{text:02}")).collect();
        let rows: Vec<Vec<&str>> =
            texts.iter().enumerate().flat_map(|(n, text)| vec![vec![text.as_str()]; n + 1]).collect();
        let table = Table::from_texts(&["x"], &rows);
        let shown = shown_values(&table.columns[0].domain, &table.columns[0].counts());
        assert_eq!(shown[0].0, "t29");
        assert_eq!(shown.last().unwrap().0, "16 others");
        assert_eq!(shown.iter().map(|(_, codes)| codes.len()).sum::<usize>(), 30);
    }

    #[test]
    fn one_value_and_no_value_are_shown_as_they_are() {
        for rows in [vec![vec!["a"]], vec![vec![""]]] {
            let table = Table::from_texts(&["x"], &rows);
            assert_eq!(shown_values(&table.columns[0].domain, &[1]).len(), 1);
        }
    }

    #[test]
    fn a_suppressed_row_of_a_subgroup_loses_everything() {
        let group = subgroup("a", "x", 4, (3, 0.6));
        assert_eq!(group.suppressed, 1);
        assert!((group.ncp - 0.4).abs() < 1e-12);
        assert_eq!(subgroup("a", "x", 0, (0, 0.0)).ncp, 0.0);
    }
}
