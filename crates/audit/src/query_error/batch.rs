//! Sixty-four queries answered together: each code of a column has a word with one bit per query
//! that accepts it, so a row is tested against all of them by one AND per column; each label has a
//! row of shares, one lane per query.

use hedgerow_table::{Codes, Column, TableError, with_codes};

use super::predicate::Query;
use crate::attribute::{AuditedAttribute, Unchanged};
use crate::classes::QuasiClasses;
use crate::estimate::axis::EstimateAxis;
use crate::estimate::predicate::Predicate;
use crate::estimate::regions::Regions;

pub(super) const BATCH: usize = 64;

/// Rows tested at once: their words stay in the nearest cache.
const BLOCK: usize = 2048;

pub(super) struct Batch<'a> {
    queries: usize,
    /// The columns some query is about: quasi attributes, then sensitive ones. By code in the
    /// source, the queries that accept it.
    pub(super) quasi_masks: Vec<(&'a Codes, Vec<u64>)>,
    /// The numbers of these quasi attributes.
    pub(super) quasi_used: Vec<usize>,
    pub(super) sensitive_masks: Vec<(usize, &'a Codes, Vec<u64>)>,
    /// For each quasi-identifier that a query is about, the share of each label that each query
    /// covers.
    shares: Vec<(usize, Vec<[f64; BATCH]>)>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        queries: &[Query],
        quasi: &[AuditedAttribute<'a>],
        sensitive: &[Unchanged<'a>],
    ) -> Result<Batch<'a>, TableError> {
        let mut batch = Batch::of_unchanged(queries, &[], sensitive);
        for (number, attribute) in quasi.iter().enumerate() {
            let domain = &attribute.source.domain;
            let (mut lanes, mut predicates) = (Vec::new(), Vec::new());
            let mut mask = vec![u64::MAX; domain.cardinality()];
            for (lane, query) in queries.iter().enumerate() {
                let Some((_, predicate)) = query.quasi.iter().find(|(attribute, _)| *attribute == number) else {
                    continue;
                };
                restrict(&mut mask, lane, predicate.codes());
                lanes.push(lane);
                predicates.push(predicate.on(domain, &attribute.axis));
            }
            if !lanes.is_empty() {
                batch.quasi_masks.push((&attribute.source.codes, mask));
                batch.quasi_used.push(number);
                batch.shares.push((number, shares(&attribute.axis, &lanes, &predicates)?));
            }
        }
        Ok(batch)
    }

    /// For attributes that are released as they are, which have no shares.
    pub(super) fn of_unchanged(queries: &[Query], quasi: &[Unchanged<'a>], sensitive: &[Unchanged<'a>]) -> Batch<'a> {
        let sources = |attributes: &[Unchanged<'a>]| attributes.iter().map(|known| known.source).collect::<Vec<_>>();
        Batch::of_sources(queries, &sources(quasi), &sources(sensitive))
    }

    /// For columns of the source, of which the release is described elsewhere.
    pub(super) fn of_sources(queries: &[Query], quasi: &[&'a Column], sensitive: &[&'a Column]) -> Batch<'a> {
        let (quasi_masks, quasi_used) = (Vec::new(), Vec::new());
        let mut batch =
            Batch { queries: queries.len(), quasi_masks, quasi_used, sensitive_masks: Vec::new(), shares: Vec::new() };
        for (number, attribute) in quasi.iter().enumerate() {
            let mut mask = vec![u64::MAX; attribute.domain.cardinality()];
            let mut used = false;
            for (lane, query) in queries.iter().enumerate() {
                let Some((_, predicate)) = query.quasi.iter().find(|(attribute, _)| *attribute == number) else {
                    continue;
                };
                restrict(&mut mask, lane, predicate.codes());
                used = true;
            }
            if used {
                batch.quasi_masks.push((&attribute.codes, mask));
                batch.quasi_used.push(number);
            }
        }
        for (number, attribute) in sensitive.iter().enumerate() {
            let mut mask = vec![u64::MAX; attribute.domain.cardinality()];
            let uses = |query: &Query| query.sensitive.as_ref().is_some_and(|(attribute, _)| *attribute == number);
            for (lane, query) in queries.iter().enumerate().filter(|(_, query)| uses(query)) {
                let Some((_, predicate)) = &query.sensitive else { continue };
                restrict(&mut mask, lane, predicate.codes());
            }
            if queries.iter().any(uses) {
                batch.sensitive_masks.push((number, &attribute.codes, mask));
            }
        }
        batch
    }

    /// For each query the true count and the estimate.
    pub(super) fn answer(&self, classes: &QuasiClasses, rows: usize) -> Vec<(u64, f64)> {
        let counts = self.counts(rows);
        let estimates = self.estimates(classes);
        counts.into_iter().zip(estimates).take(self.queries).collect()
    }

    pub(super) fn counts(&self, rows: usize) -> [u64; BATCH] {
        let mut counts = [0u64; BATCH];
        let mut words = [0u64; BLOCK];
        let all = u64::MAX >> (BATCH - self.queries);
        let quasi = self.quasi_masks.iter().map(|(codes, mask)| (*codes, mask));
        let columns: Vec<(&Codes, &Vec<u64>)> =
            quasi.chain(self.sensitive_masks.iter().map(|(_, codes, mask)| (*codes, mask))).collect();
        for start in (0..rows).step_by(BLOCK) {
            let end = (start + BLOCK).min(rows);
            let words = &mut words[..end - start];
            words.fill(all);
            for (codes, mask) in &columns {
                with_codes!(codes, codes => for (word, &code) in words.iter_mut().zip(&codes[start..end]) {
                    *word &= mask[code as usize];
                });
            }
            for &word in words.iter() {
                for_each_bit(word, |lane| counts[lane] += 1);
            }
        }
        counts
    }

    fn estimates(&self, classes: &QuasiClasses) -> [f64; BATCH] {
        let mut sums = [0.0; BATCH];
        let labels: Vec<(&[u32], &[[f64; BATCH]])> =
            self.shares.iter().map(|(a, shares)| (classes.labels[*a].as_slice(), shares.as_slice())).collect();
        for class in 0..classes.sizes.len() {
            let mut rows = self.rows_of(classes, class);
            for (labels, shares) in &labels {
                for (rows, share) in rows.iter_mut().zip(&shares[labels[class] as usize]) {
                    *rows *= share;
                }
            }
            for (sum, rows) in sums.iter_mut().zip(&rows) {
                *sum += rows;
            }
        }
        sums
    }

    /// The rows of a class whose sensitive values each query accepts.
    fn rows_of(&self, classes: &QuasiClasses, class: usize) -> [f64; BATCH] {
        if self.sensitive_masks.is_empty() {
            return [classes.sizes[class] as f64; BATCH];
        }
        let mut rows = [0.0; BATCH];
        let all = u64::MAX >> (BATCH - self.queries);
        for entry in classes.starts[class]..classes.starts[class + 1] {
            let count = f64::from(classes.entry_counts[entry]);
            let accepting =
                |(number, _, mask): &(usize, &Codes, Vec<u64>)| mask[classes.entry_values[*number][entry] as usize];
            let word = self.sensitive_masks.iter().map(accepting).fold(all, |word, mask| word & mask);
            for_each_bit(word, |lane| rows[lane] += count);
        }
        rows
    }
}

/// For each label, the share of it that the query of each lane covers; lanes of other queries take
/// all.
pub(super) fn shares(
    axis: &EstimateAxis,
    lanes: &[usize],
    predicates: &[Predicate],
) -> Result<Vec<[f64; BATCH]>, TableError> {
    let mut shares = vec![[1.0; BATCH]; axis.under.len()];
    for (lane, of_lane) in lanes.iter().zip(selected(axis, predicates)?) {
        shares.iter_mut().zip(of_lane).for_each(|(shares, share)| shares[*lane] = share);
    }
    Ok(shares)
}

/// For each predicate the share of each label that it selects, as `hedgerow query` estimates it.
pub(crate) fn selected(axis: &EstimateAxis, predicates: &[Predicate]) -> Result<Vec<Vec<f64>>, TableError> {
    let regions = Regions::new(axis, &predicates.iter().collect::<Vec<_>>())?;
    let mut shares = vec![vec![0.0; axis.under.len()]; predicates.len()];
    for (label, cell) in regions.cells.iter().enumerate() {
        for part in cell.iter().filter(|part| part.mass != 0.0) {
            let holds = shares.iter_mut().zip(&regions.holds[part.region as usize]).filter(|(_, holds)| **holds);
            holds.for_each(|(shares, _)| shares[label] += part.mass);
        }
    }
    Ok(shares)
}

/// Only these codes are accepted by the query of this lane.
fn restrict(mask: &mut [u64], lane: usize, codes: impl Iterator<Item = u32>) {
    let bit = 1u64 << lane;
    for word in mask.iter_mut() {
        *word &= !bit;
    }
    for code in codes {
        mask[code as usize] |= bit;
    }
}

#[inline]
pub(super) fn for_each_bit(mut word: u64, mut visit: impl FnMut(usize)) {
    while word != 0 {
        visit(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}
