//! The losses of a generalized release, and the remaining risks.
//!
//! Everything is computed from the released cells and what the codebook says they cover; only where
//! a measure is defined by the levels of hierarchies are these looked for.

use std::borrow::Cow;

use hedgerow_release::generalized::Generalized;
use hedgerow_release::{Codebook, Release};
use hedgerow_table::{Progress, Table, TableError};

use super::{Joinable, MeasureOptions, MeasuredKind, SourceTable, joinable_rows, rows_suppressed};
use crate::attribute::{AuditedAttribute, QuasiSource, Recoding, Unchanged};
use crate::class_sizes::SizeDistribution;
use crate::classes;
use crate::comparison::{self, Comparison};
use crate::estimate::axis::Extent;
use crate::estimate::declared;
use crate::loss::{
    AttributeLoss, Losses, average_class, discernibility, entropy, granularity, kl, mean, ncp, precision,
};
use crate::measures::{Measures, TableMeasures};
use crate::number_error;
use crate::query::rows::{QueriedRows, Queryable};
use crate::query_error::{self, QueryOptions};
use crate::risk::Risk;
use crate::rows::RowCounts;

impl MeasuredKind for Generalized {
    /// Full-domain recoding is recognized by the method; in a table without a manifest, by labels
    /// that are all on one level.
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError> {
        let input = |recoding: Recoding| GeneralizedPair {
            source: source.table,
            released: &self.table,
            codebook: release.codebook(),
            ranges: declared::ranges(release, ""),
            quasi: source.quasi.clone(),
            sensitive: source.sensitive.clone(),
            k: source.k,
            rows_suppressed: rows_suppressed(release, source),
            recoding,
        };
        let measured = match release.manifest().map(|_| release.method()) {
            Some("full-domain") => measure(&input(Recoding::FullDomain), &options.queries, progress),
            Some(_) => measure(&input(Recoding::Local), &options.queries, progress),
            None => match measure(&input(Recoding::FullDomain), &options.queries, progress) {
                Err(TableError::Input(_)) => measure(&input(Recoding::Local), &options.queries, progress),
                found => found,
            },
        };
        measured.map(Measures::Table)
    }

    fn compare(&self, release: &Release, source: &SourceTable<'_>) -> Result<Comparison, TableError> {
        comparison::generalized(release, self, source)
    }

    fn joinable(&self, release: &Release) -> Result<Joinable, TableError> {
        let classes = release.classes()?;
        let name = format!("{}/{}", release.name(), classes[0].name);
        Ok(joinable_rows(&name, &classes[0], &self.table, release.spelling()))
    }

    fn queryable(&self) -> Vec<Queryable<'_>> {
        Queryable::whole(QueriedRows::Labels(Cow::Borrowed(&self.table)))
    }
}

/// A generalized table with the one that it was made from.
#[derive(Debug)]
pub(crate) struct GeneralizedPair<'a> {
    /// The private table, as read under the policy: the domain of a column holds the values that
    /// occur and no others.
    pub(crate) source: &'a Table,
    /// The release's data table, as its manifest types it.
    pub(crate) released: &'a Table,
    pub(crate) codebook: &'a Codebook,
    /// The manifest's declarations of the values, by attribute.
    pub(crate) ranges: Vec<(String, Extent)>,
    /// Every quasi-identifier, in the order of the policy.
    pub(crate) quasi: Vec<QuasiSource<'a>>,
    /// The sensitive attributes; those among the quasi-identifiers are omitted.
    pub(crate) sensitive: Vec<&'a str>,
    /// The required k, or 1.
    pub(crate) k: u64,
    pub(crate) rows_suppressed: u64,
    pub(crate) recoding: Recoding,
}

pub(crate) fn measure(
    input: &GeneralizedPair<'_>,
    queries: &QueryOptions,
    progress: &dyn Progress,
) -> Result<TableMeasures, TableError> {
    let rows = RowCounts::checked(input.source.rows as u64, input.released.rows as u64, input.rows_suppressed)?;
    let bind = |quasi| {
        AuditedAttribute::bind(quasi, input.source, input.released, input.codebook, &input.ranges, input.recoding)
    };
    let quasi: Vec<AuditedAttribute<'_>> = input.quasi.iter().map(bind).collect::<Result<_, _>>()?;
    let sensitive: Vec<Unchanged<'_>> = input
        .sensitive
        .iter()
        .filter(|name| quasi.iter().all(|attribute| attribute.name != **name))
        .map(|name| Unchanged::bind(name, input.source, input.released))
        .collect::<Result<_, _>>()?;
    progress.stage("counting classes", None);
    let row_counts = [input.source.rows, input.released.rows];
    let (classes, kl) = match input.recoding {
        Recoding::FullDomain => {
            let (classes, sum) = classes::count(&quasi, &sensitive, row_counts, kl::term)?;
            (classes, Some(kl::of_sum(sum, rows.source)))
        }
        Recoding::Local => (classes::count_released(&quasi, &sensitive, row_counts)?, None),
    };
    let queries = query_error::query_error(&quasi, &sensitive, &classes, input.source.rows, queries, progress)?;
    let k = input.k.max(1);
    let attributes: Vec<AttributeLoss> = quasi.iter().map(|attribute| attribute_loss(attribute, rows)).collect();
    let mean_of = |loss: fn(&AttributeLoss) -> Option<f64>| {
        let shares: Option<Vec<f64>> = attributes.iter().map(loss).collect();
        shares.map(|shares| mean(&shares))
    };
    let losses = Losses {
        ncp: mean(&attributes.iter().map(|attribute| attribute.ncp).collect::<Vec<_>>()),
        precision: precision::of_release(&quasi, rows.source, rows.suppressed),
        discernibility: discernibility::of_classes(&classes.sizes, rows.source, rows.suppressed),
        average_class: average_class::of_classes(rows.released, classes.sizes.len() as u64, k),
        granularity: mean_of(|attribute| attribute.granularity),
        entropy: mean_of(|attribute| attribute.entropy),
        kl,
    };
    Ok(TableMeasures {
        rows,
        losses,
        attributes,
        classes: SizeDistribution::of(&classes.sizes),
        risk: Risk::of_classes(&classes.sizes, classes.population.as_deref(), k),
        queries,
        singled_out: Vec::new(),
        buckets: false,
        numbers: number_error::of_cells(&quasi, &sensitive, &classes),
    })
}

fn attribute_loss(attribute: &AuditedAttribute<'_>, rows: RowCounts) -> AttributeLoss {
    AttributeLoss {
        name: attribute.name.to_owned(),
        level: attribute.full_domain.as_ref().map(|found| found.level),
        top: attribute.hierarchy.top(),
        ncp: ncp::of_attribute(attribute, rows.source, rows.suppressed),
        granularity: Some(granularity::of_attribute(attribute, rows.source, rows.suppressed)),
        entropy: entropy::of_attribute(attribute, rows.suppressed),
    }
}

#[cfg(test)]
mod other_recodings;
#[cfg(test)]
mod tests;
