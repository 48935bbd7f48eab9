//! Whether a class of the union may stand, by its opened counts.

use hedgerow_privacy::{Class, Distribution, Guarantee, OnMerge, Tree};
use hedgerow_smc::Kind;

use crate::{Agreed, Share};

/// A rule that looks at classes over all quasi attributes.
#[derive(Debug)]
pub struct JointRule {
    /// The place of the protected attribute among those beside the quasi ones.
    pub protect: Option<usize>,
    pub guarantees: Vec<Box<dyn Guarantee>>,
    /// The protected attribute's hierarchy.
    pub tree: Option<Tree>,
}

/// The counts of one class, of our own rows or of everybody's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) rows: u64,
    /// How many custodians have rows in it, where that is required.
    pub(super) sites: u64,
    /// For every rule with a protected attribute, how many rows have each value.
    pub(super) histograms: Vec<Vec<u64>>,
    /// The same, but how many custodians have it: where rules must hold towards several.
    pub(super) holders: Vec<Vec<u64>>,
    /// Rows, when of each custodian's only so many are counted: one for each of [`Agreed::clips`].
    pub(super) clipped: Vec<u64>,
}

impl Agreed {
    /// The fewest rows that a class can have.
    pub(super) fn minimum(&self) -> u64 {
        let cores = self.guarantees().map(|guarantee| guarantee.core());
        cores.map(|core| core.rows.max(core.distinct)).max().unwrap_or(1).max(self.sites).max(1)
    }

    pub(super) fn guarantees(&self) -> impl Iterator<Item = &dyn Guarantee> + '_ {
        self.rules.iter().flat_map(|rule| &rule.guarantees).map(|guarantee| guarantee.as_ref())
    }

    /// Whether sizes alone decide.
    pub(super) fn by_size_alone(&self) -> bool {
        let by_size = |guarantee: &dyn Guarantee| by_core(guarantee) && guarantee.core().distinct <= 1;
        let nothing_besides = self.sites <= 1 && !self.asks_for_objections() && self.clips().is_empty();
        nothing_besides && self.guarantees().all(by_size)
    }

    /// The protected attributes, rule by rule.
    fn protected(&self) -> impl Iterator<Item = usize> + '_ {
        self.rules.iter().filter_map(|rule| rule.protect)
    }

    /// What our own rows of a class count.
    pub(super) fn own_counts(&self, share: &Share, rows: &[u32]) -> Counts {
        let histogram = |place: usize| {
            let mut counts = vec![0; self.cardinalities[place]];
            rows.iter().for_each(|row| counts[share.codes[place][*row as usize] as usize] += 1);
            counts
        };
        let histograms: Vec<Vec<u64>> = self.protected().map(histogram).collect();
        let holders =
            if self.counts_holders() { histograms.iter().map(|counts| held(counts)).collect() } else { Vec::new() };
        let clipped = self.clips().into_iter().map(|most| most.min(rows.len() as u64)).collect();
        Counts { rows: rows.len() as u64, sites: u64::from(!rows.is_empty()), histograms, holders, clipped }
    }

    /// What is summed to judge a class whose size is known. [`Agreed::read`] takes the sums apart
    /// again.
    pub(super) fn summed(&self, own: &Counts) -> Vec<(Kind, Vec<u64>)> {
        let mut words = vec![
            (Kind::Histograms, own.histograms.concat()),
            (Kind::Holders, own.holders.concat()),
            (Kind::ClippedSizes, own.clipped.clone()),
            (Kind::Sites, vec![own.sites; usize::from(self.sites > 1)]),
        ];
        words.retain(|(_, words)| !words.is_empty());
        words
    }

    /// The counts of a class with so many rows, and the words after them.
    pub(super) fn read<'a>(&self, rows: u64, words: &'a [u64]) -> (Counts, &'a [u64]) {
        let mut words = words;
        let mut take = |count: usize| {
            let (taken, rest) = words.split_at(count);
            words = rest;
            taken.to_vec()
        };
        let histograms: Vec<Vec<u64>> = self.protected().map(|place| take(self.cardinalities[place])).collect();
        let holders = if self.counts_holders() {
            self.protected().map(|place| take(self.cardinalities[place])).collect()
        } else {
            Vec::new()
        };
        let clipped = take(self.clips().len());
        let sites = if self.sites > 1 { take(1)[0] } else { 1 };
        (Counts { rows, sites, histograms, holders, clipped }, words)
    }

    /// The distributions of the protected attributes over all rows.
    pub(super) fn wholes(&self, all: &Counts) -> Vec<Distribution> {
        let mut histograms = all.histograms.iter();
        let whole = |rule: &JointRule| match rule.protect.and_then(|_| histograms.next()) {
            Some(histogram) => Distribution::new(histogram.clone(), rule.tree.as_ref()),
            None => Distribution::default(),
        };
        self.rules.iter().map(whole).collect()
    }

    /// Whether a class with these counts keeps every rule, objections aside.
    pub(super) fn holds(&self, counts: &Counts, wholes: &[Distribution]) -> bool {
        let large_enough = counts.rows >= self.minimum() && counts.sites >= self.sites;
        large_enough && self.rules_hold(counts, wholes, |_| true) && self.holds_towards_several(counts)
    }

    /// Whether a class keeps those guarantees of every rule that are `requested`.
    pub(super) fn rules_hold(
        &self,
        counts: &Counts,
        wholes: &[Distribution],
        requested: fn(&dyn Guarantee) -> bool,
    ) -> bool {
        let mut histograms = counts.histograms.iter();
        self.rules.iter().zip(wholes).all(|(rule, whole)| {
            let values: Vec<(u32, u32)> = match rule.protect.and_then(|_| histograms.next()) {
                Some(histogram) => {
                    let present = (0u32..).zip(histogram).filter(|(_, count)| **count > 0);
                    present.map(|(code, &count)| (code, u32::try_from(count).unwrap_or(u32::MAX))).collect()
                }
                None => Vec::new(),
            };
            let class = Class { rows: counts.rows, values: &values };
            let mut guarantees = rule.guarantees.iter().filter(|guarantee| requested(guarantee.as_ref()));
            guarantees.all(|guarantee| guarantee.holds(class, whole))
        })
    }
}

/// Whether a guarantee is nothing but enough rows and enough different values.
pub(super) fn by_core(guarantee: &dyn Guarantee) -> bool {
    guarantee.on_merge() == OnMerge::Absorbing && !guarantee.core_is_more()
}

/// 1 where there is a row.
fn held(counts: &[u64]) -> Vec<u64> {
    counts.iter().map(|count| u64::from(*count > 0)).collect()
}
