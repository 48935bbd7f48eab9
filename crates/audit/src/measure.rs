//! What a release lost and what it still gives away, measured against the table it was made from.
//!
//! Everything is computed from the released cells and what the codebook says they cover; only where a measure is defined
//! by the levels of hierarchies are these looked for.

use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Hierarchy, Progress, Table, TableError};
use serde_json::{Map, Value, json};

use crate::attribute::{Attribute, Unchanged};
use crate::class_sizes::SizeDistribution;
use crate::classes;
use crate::linker::{self, Risk, Scenario};
use crate::loss::{AttributeLoss, Losses, average_class, discernibility, granularity, mean, ncp, precision};
use crate::number_error::{self, NumberError};
use crate::query_error::{self, QueryError, QueryOptions};

/// A release beside the table that it was made from.
#[derive(Debug)]
pub struct Measured<'a> {
    /// The private table, as read under the policy: the domain of a column holds the values that occur and no others.
    pub source: &'a Table,
    /// The release's data table, as its manifest types it.
    pub released: &'a Table,
    pub codebook: &'a Codebook,
    /// Every quasi attribute, in the order of the policy.
    pub quasi: Vec<QuasiSource<'a>>,
    /// The sensitive attributes; those among the quasi ones are left out.
    pub sensitive: Vec<&'a str>,
    /// The required k, or 1.
    pub k: u64,
    pub rows_suppressed: u64,
    pub recoding: Recoding,
}

/// How the quasi attributes of a release were recoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recoding {
    /// All values of an attribute are on one level of its hierarchy.
    FullDomain,
    /// Each class has cells of its own.
    Local,
}

#[derive(Debug, Clone, Copy)]
pub struct QuasiSource<'a> {
    pub name: &'a str,
    /// Bound to the domain of the source's column.
    pub hierarchy: &'a Hierarchy,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    pub rows: RowCounts,
    pub losses: Losses,
    pub classes: SizeDistribution,
    pub risk: Risk,
    /// `None` when no query was asked.
    pub queries: Option<QueryError>,
    /// Whether the classes are buckets, whose rows and sensitive values are in two tables.
    pub buckets: bool,
    /// For every sensitive attribute that is a number or a date.
    pub numbers: Vec<NumberError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCounts {
    pub source: u64,
    pub released: u64,
    pub suppressed: u64,
}

pub fn measure(input: &Measured<'_>, queries: &QueryOptions, progress: &dyn Progress) -> Result<Measures, TableError> {
    let rows = row_counts(input)?;
    let quasi: Vec<Attribute<'_>> = input
        .quasi
        .iter()
        .map(|quasi| Attribute::bind(quasi, input.source, input.released, input.codebook, input.recoding))
        .collect::<Result<_, _>>()?;
    let sensitive: Vec<Unchanged<'_>> = input
        .sensitive
        .iter()
        .filter(|name| quasi.iter().all(|attribute| attribute.name != **name))
        .map(|name| Unchanged::bind(name, input.source, input.released))
        .collect::<Result<_, _>>()?;
    progress.stage("counting classes", None);
    let row_counts = [input.source.rows, input.released.rows];
    let (classes, kl) = match input.recoding {
        Recoding::FullDomain => classes::count(&quasi, &sensitive, row_counts).map(|(found, kl)| (found, Some(kl)))?,
        Recoding::Local => (classes::count_released(&quasi, &sensitive, row_counts)?, None),
    };
    let queries = query_error::query_error(&quasi, &sensitive, &classes, input.source.rows, queries, progress)?;
    Ok(Measures {
        rows,
        losses: losses(&quasi, &classes.sizes, rows, input.k.max(1), kl),
        classes: SizeDistribution::of(&classes.sizes),
        risk: linker::risk(&classes.sizes, classes.population.as_deref(), input.k.max(1)),
        queries,
        buckets: false,
        numbers: number_error::of_cells(&quasi, &sensitive, &classes),
    })
}

fn losses(quasi: &[Attribute<'_>], sizes: &[u64], rows: RowCounts, k: u64, kl: Option<f64>) -> Losses {
    let RowCounts { source, released, suppressed } = rows;
    let attributes: Vec<AttributeLoss> = quasi
        .iter()
        .map(|attribute| AttributeLoss {
            name: attribute.name.to_owned(),
            level: attribute.full_domain.as_ref().map(|found| found.level),
            top: attribute.hierarchy.top(),
            ncp: ncp::of_attribute(attribute, source, suppressed),
            granularity: granularity::of_attribute(attribute, source, suppressed),
        })
        .collect();
    let granularities: Option<Vec<f64>> = attributes.iter().map(|attribute| attribute.granularity).collect();
    Losses {
        ncp: mean(&attributes.iter().map(|attribute| attribute.ncp).collect::<Vec<_>>()),
        precision: precision::of_release(quasi, source, suppressed),
        discernibility: discernibility::of_classes(sizes, source, suppressed),
        average_class: average_class::of_classes(released, sizes.len() as u64, k),
        granularity: granularities.map(|shares| mean(&shares)),
        kl,
        attributes,
    }
}

fn row_counts(input: &Measured<'_>) -> Result<RowCounts, TableError> {
    counted(input.source.rows as u64, input.released.rows as u64, input.rows_suppressed)
}

/// Rows that are released and those that are suppressed must be those of the source.
pub(crate) fn counted(source: u64, released: u64, suppressed: u64) -> Result<RowCounts, TableError> {
    if released == 0 {
        let hint = "a release without rows is no release; publish again";
        return Err(TableError::input("data.csv", "the released table has no rows", hint));
    }
    if released.checked_add(suppressed) != Some(source) {
        let problem = format!("{released} rows were released and {suppressed} suppressed, but the source has {source}");
        let hint = "measure a release with the policy and the data that it was published from";
        return Err(TableError::input("datapackage.json", problem, hint));
    }
    Ok(RowCounts { source, released, suppressed })
}

impl Measures {
    /// One object; names that the contract fixes are spelled as there.
    pub fn to_json(&self) -> Value {
        let attributes: Map<String, Value> = self.losses.attributes.iter().map(attribute_json).collect();
        json!({
            "rows": {
                "in": self.rows.source,
                "out": self.rows.released,
                "suppressed": self.rows.suppressed,
            },
            "loss": {
                "ncp": self.losses.ncp,
                "precision": self.losses.precision,
                "discernibility": self.losses.discernibility,
                "average-class": self.losses.average_class,
                "granularity": self.losses.granularity,
                "kl": self.losses.kl,
            },
            "attributes": attributes,
            "classes": self.classes_json(),
            "risk": {
                "threshold": 1.0 / self.risk.k as f64,
                "prosecutor": scenario_json(&self.risk.prosecutor),
                "journalist": self.risk.journalist.as_ref().map(scenario_json),
                "marketer": self.risk.marketer,
                "unique-rows": self.risk.unique_rows,
            },
            "queries": self.queries,
            "numbers": self.numbers.iter().map(|error| (error.attribute.clone(), json!(error))).collect::<Map<_, _>>(),
        })
    }

    fn classes_json(&self) -> Value {
        let buckets: Vec<Value> = self
            .classes
            .buckets
            .iter()
            .map(|bucket| {
                json!({"size": bucket.name(), "from": bucket.from, "to": bucket.to, "classes": bucket.classes,
                    "rows": bucket.rows})
            })
            .collect();
        json!({
            "count": self.classes.count,
            "min": self.classes.min,
            "lower-quartile": self.classes.lower_quartile,
            "median": self.classes.median,
            "upper-quartile": self.classes.upper_quartile,
            "max": self.classes.max,
            "mean": self.classes.mean,
            "histogram": buckets,
        })
    }
}

fn attribute_json(attribute: &AttributeLoss) -> (String, Value) {
    let AttributeLoss { name, level, top, ncp, granularity } = attribute;
    (name.clone(), json!({"level": level, "top": top, "ncp": ncp, "granularity": granularity}))
}

fn scenario_json(scenario: &Scenario) -> Value {
    json!({
        "max": scenario.max,
        "mean": scenario.mean,
        "share-at-max": scenario.share_at_max,
        "share-above-threshold": scenario.share_above,
    })
}

#[cfg(test)]
mod other_recodings;
#[cfg(test)]
mod tests;
