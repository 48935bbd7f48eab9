//! How far off answers from the release are: random count queries, answered exactly from the source
//! and estimated from the release (the workload of Xiao, Tao: *Anatomy*, 2006).
//!
//! A query selects the rows with some values in 1 to `dimensions` quasi attributes and, when there
//! are sensitive ones, in one of these. Each attribute is given the same share of its values,
//! chosen so that all together would select `selectivity` of evenly spread rows: a run of
//! neighboring values for numbers and dates, any values for categories, where the missing value is
//! one of them.
//!
//! The estimate is that of `hedgerow query`; where labels leave shares unknown, that of a
//! reader who knows which values there are. It adds up, over the classes, the rows with the
//! selected sensitive values times, for each quasi attribute, the share of the class's cell
//! that the query covers; over buckets, the selected rows times the share of the selected
//! sensitive values; over sub-classes, the people times the shares that their micro-statistics
//! state. Suppressed rows contribute nothing. The relative error is `|estimate − true| /
//! max(true, sanity bound)`; the bound, a thousandth of the source's rows but at least one,
//! keeps queries that select almost no row from dominating the mean.
//!
//! Cost: 64 queries are answered in one pass over the rows and one over the classes; passes run in
//! parallel.

pub(crate) mod batch;
pub(crate) mod buckets;
pub(crate) mod clones;
mod predicate;

use hedgerow_table::{Domain, InputError, Progress, TableError, parallel};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;

use crate::attribute::{AuditedAttribute, Unchanged};
use crate::classes::QuasiClasses;
use crate::loss::mean;
use batch::{BATCH, Batch};
use predicate::Query;

const COUNT_MAX: usize = 1_000_000;

/// The workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryOptions {
    /// The number of queries; 0 measures no error.
    pub count: usize,
    /// The seed that queries are drawn with.
    pub seed: u64,
    /// The most quasi attributes in a query; `None` is all of them.
    pub dimensions: Option<usize>,
    /// The share of the rows that a query would select if values were spread evenly, above 0 and at
    /// most 1.
    pub selectivity: f64,
}

impl Default for QueryOptions {
    fn default() -> Self {
        QueryOptions { count: 1000, seed: 1, dimensions: None, selectivity: 0.1 }
    }
}

/// How far off the answers were.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "Report")]
pub struct QueryError {
    /// The queries that were drawn.
    pub options: QueryOptions,
    /// The least denominator of a relative error, in rows.
    pub sanity_bound: f64,
    /// The mean relative error.
    pub mean: f64,
    /// Half of the queries are off by no more.
    pub median: f64,
    /// Nineteen of twenty queries are off by no more.
    pub percentile_95: f64,
    /// The largest relative error.
    pub max: f64,
    /// The errors that 0, 1, …, 100 of 100 queries do not exceed, for a picture.
    pub percentiles: Vec<f64>,
}

/// A query error with the keys of `measure --json`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    options: QueryOptions,
    sanity_bound: f64,
    relative_error: RelativeError,
}

#[derive(Serialize)]
struct RelativeError {
    mean: f64,
    median: f64,
    #[serde(rename = "percentile_95")]
    percentile_95: f64,
    max: f64,
}

impl From<QueryError> for Report {
    fn from(error: QueryError) -> Report {
        let QueryError { options, sanity_bound, mean, median, percentile_95, max, percentiles: _ } = error;
        Report { options, sanity_bound, relative_error: RelativeError { mean, median, percentile_95, max } }
    }
}

/// `None` when no query was requested, or no attribute can be queried.
pub(crate) fn query_error(
    quasi: &[AuditedAttribute<'_>],
    sensitive: &[Unchanged<'_>],
    classes: &QuasiClasses,
    rows: usize,
    options: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Option<QueryError>, TableError> {
    check(options)?;
    if options.count == 0 || quasi.is_empty() && sensitive.is_empty() {
        return Ok(None);
    }
    let queries = draw(quasi, sensitive, options);
    progress.stage("answering count queries", Some(options.count as u64));
    let answers = parallel::map_ranges(queries.len(), BATCH, |range| {
        let answers = Batch::new(&queries[range.clone()], quasi, sensitive)?.answer(classes, rows);
        progress.advance(range.len() as u64);
        Ok(answers)
    });
    let answers = answers.into_iter().collect::<Result<_, TableError>>()?;
    Ok(Some(summed_up(answers, rows, options)))
}

/// How far off the estimates are from the true counts.
fn summed_up(answers: Vec<Vec<(u64, f64)>>, rows: usize, options: &QueryOptions) -> QueryError {
    let sanity_bound = (rows as f64 / 1000.0).max(1.0);
    let off = |(count, estimate): (u64, f64)| (estimate - count as f64).abs() / (count as f64).max(sanity_bound);
    let mut errors: Vec<f64> = answers.into_iter().flatten().map(off).collect();
    errors.sort_unstable_by(f64::total_cmp);
    let last = errors.len() - 1;
    QueryError {
        options: options.clone(),
        sanity_bound,
        mean: mean(&errors),
        median: (errors[last / 2] + errors[errors.len() / 2]) / 2.0,
        percentile_95: errors[(errors.len() * 19).div_ceil(20) - 1],
        max: errors[last],
        percentiles: (0..=100).map(|share| errors[(errors.len() * share).div_ceil(100).max(1) - 1]).collect(),
    }
}

fn draw(quasi: &[AuditedAttribute<'_>], sensitive: &[Unchanged<'_>], options: &QueryOptions) -> Vec<Query> {
    let quasi: Vec<_> = quasi.iter().map(|attribute| &attribute.source.domain).collect();
    let sensitive: Vec<_> = sensitive.iter().map(|attribute| &attribute.source.domain).collect();
    draw_from(&quasi, &sensitive, options)
}

fn draw_from(quasi: &[&Domain], sensitive: &[&Domain], options: &QueryOptions) -> Vec<Query> {
    let mut rng = StdRng::seed_from_u64(options.seed);
    (0..options.count).map(|_| Query::draw(&mut rng, quasi, sensitive, options)).collect()
}

fn check(options: &QueryOptions) -> Result<(), TableError> {
    let refuse = |problem: String, hint: &str| Err(InputError::new("count queries", problem, hint).into());
    if options.count > COUNT_MAX {
        return refuse(format!("{} queries; at most {COUNT_MAX} are answered", options.count), "request fewer");
    }
    if !(options.selectivity > 0.0 && options.selectivity <= 1.0) {
        return refuse(format!("a selectivity of {}", options.selectivity), "give a share above 0 and at most 1");
    }
    if options.dimensions == Some(0) {
        return refuse("no attribute may be queried".to_owned(), "allow at least one dimension");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
