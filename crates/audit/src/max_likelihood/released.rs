//! The tables of a decomposed release, read from its directory in codes of the source.

use std::path::Path;

use hedgerow_release::bucketized::{Bucketized, GROUP};
use hedgerow_release::combined::Combined;
use hedgerow_release::manifest::Manifest;
use hedgerow_release::read::read_released;
use hedgerow_release::shape::Shape;
use hedgerow_table::{Column, Progress, Table, TableError};
use serde::{Serialize, Serializer};

use super::{CountQueries, CountQueryError, MaxLikelihood, PublishedBuckets, PublishedTable};

/// What a decomposed release lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredTables {
    /// Of the source, and of every table.
    #[serde(serialize_with = "all_released")]
    pub rows: u64,
    pub tables: usize,
    pub loss: Divergence,
    /// `None` when no query was requested or none selected a row.
    pub queries: Option<CountQueryError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Divergence {
    /// Kullback–Leibler, in nats.
    pub kl: f64,
}

/// No table suppresses rows.
fn all_released<S: Serializer>(rows: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("in", *rows), ("out", *rows), ("suppressed", 0)])
}

/// Measures the decomposed release in a directory against the table that it was made from.
pub fn measure_tables(
    directory: &Path,
    source: &Table,
    queries: CountQueries,
    progress: &dyn Progress,
) -> Result<MeasuredTables, TableError> {
    let manifest = Manifest::read(directory)?;
    let parts = Shape::parts(&manifest.resources).unwrap_or_default();
    let mut tables = Vec::with_capacity(parts.len());
    for (folder, shape) in parts {
        let place = directory.join(folder).display().to_string();
        tables.push(read_part(directory, shape, &Source { table: source, place }, progress)?);
    }
    let refuse = |problem: &str, hint: &str| TableError::input(directory.display().to_string(), problem, hint);
    if tables.iter().any(|table| table.rows() != source.rows) {
        let hint = "measure a release with the policy and the data that it was published from";
        return Err(refuse("the release and the source have different numbers of rows", hint));
    }
    let columns = source.columns.iter();
    let cardinalities: Vec<usize> = columns.clone().map(|column| column.domain.cardinality()).collect();
    let codes: Vec<Vec<u32>> = columns.map(|column| column.codes.iter().collect()).collect();
    let released = |attribute: usize| tables.iter().any(|table| table.attributes().any(|own| own == attribute));
    if let Some(absent) = (0..source.columns.len()).find(|&attribute| !released(attribute)) {
        let problem = format!("no table of the release has `{}`", source.columns[absent].name);
        return Err(refuse(&problem, "was it published under this policy?"));
    }
    progress.stage("measuring", None);
    let estimate = MaxLikelihood::new(&cardinalities, &tables).ok_or_else(|| {
        refuse("the tables form a cycle: their maximum-likelihood estimate has no closed form", "publish it again")
    })?;
    let kl = estimate.kl_divergence(&codes).max(0.0);
    let queries = (queries.count > 0).then(|| estimate.query_error(&codes, queries)).flatten();
    Ok(MeasuredTables { rows: source.rows as u64, tables: tables.len(), loss: Divergence { kl }, queries })
}

/// The source, and which table is being read.
struct Source<'a> {
    table: &'a Table,
    place: String,
}

impl Source<'_> {
    /// A released column in the source's codes.
    fn codes(&self, column: &Column) -> Result<(usize, Vec<u32>), TableError> {
        let own = self.table.columns.iter().position(|own| own.name == column.name).ok_or_else(|| {
            let problem = format!("the source has no column `{}`", column.name);
            TableError::input(&self.place, problem, "measure a release with the policy that it was published from")
        })?;
        let domain = &self.table.columns[own].domain;
        let in_source = |code: u32| {
            if column.domain.missing_code() == Some(code) {
                return domain.missing_code();
            }
            domain.code_of(&column.domain.text(code))
        };
        let map: Option<Vec<u32>> = (0..column.domain.cardinality() as u32).map(in_source).collect();
        let map = map.ok_or_else(|| {
            let problem = format!("`{}` has labels that are no values of the source", column.name);
            let hint =
                "only tables of ungeneralized values can be measured together; the manifest states the loss of others";
            TableError::input(&self.place, problem, hint)
        })?;
        Ok((own, column.codes.iter().map(|code| map[code as usize]).collect()))
    }

    fn refuse_contradiction(&self, problems: &[String]) -> Result<(), TableError> {
        let hint = "the tables do not belong together; `hedgerow check` lists every problem";
        problems.first().map_or(Ok(()), |problem| Err(TableError::input(&self.place, problem.clone(), hint)))
    }

    fn open(&self, table: &Table, group: bool) -> Result<Vec<(usize, Vec<u32>)>, TableError> {
        let columns = table.columns.iter().filter(|column| !group || column.name != GROUP);
        columns.map(|column| self.codes(column)).collect()
    }
}

fn read_part(
    directory: &Path,
    shape: Shape<'_>,
    source: &Source<'_>,
    progress: &dyn Progress,
) -> Result<PublishedTable, TableError> {
    match shape {
        Shape::Generalized { data } => {
            let table = read_released(directory, data, progress)?;
            Ok(PublishedTable { by_row: source.open(&table, false)?, buckets: None })
        }
        Shape::Bucketized { quasi, sensitive } if Combined::is(sensitive) => {
            let (read, problems) = Combined::examine(directory, quasi, sensitive, progress)?;
            source.refuse_contradiction(&problems)?;
            let values = read.sensitive.iter().filter_map(|name| read.values.column(name));
            let buckets = PublishedBuckets {
                of_row: read.bucket_of_row.iter().map(|bucket| bucket.unwrap_or(PublishedBuckets::NO_BUCKET)).collect(),
                sensitive: values.map(|column| source.codes(column)).collect::<Result<_, _>>()?,
                of_entry: read.bucket_of_value.clone(),
                counts: read.counts.clone(),
            };
            Ok(PublishedTable { by_row: source.open(&read.quasi, true)?, buckets: Some(buckets) })
        }
        Shape::Bucketized { quasi, sensitive } => {
            let (read, problems) = Bucketized::examine(directory, quasi, sensitive, progress)?;
            source.refuse_contradiction(&problems)?;
            let entries =
                (0..read.len()).flat_map(|bucket| read.values(bucket).iter().map(move |value| (bucket, value)));
            let (mut codes, mut of_entry, mut counts) = (Vec::new(), Vec::new(), Vec::new());
            for (bucket, &(code, count)) in entries {
                codes.push(code);
                of_entry.push(bucket as u32);
                counts.push(count);
            }
            let codes = hedgerow_table::Codes::from_iter(read.domain.cardinality(), codes);
            let column = Column { name: read.sensitive.clone(), domain: read.domain.clone(), codes };
            let sensitive = vec![source.codes(&column)?];
            let buckets = PublishedBuckets { of_row: read.bucket_of_row.clone(), sensitive, of_entry, counts };
            Ok(PublishedTable { by_row: source.open(&read.quasi, true)?, buckets: Some(buckets) })
        }
        Shape::Cloned { .. } | Shape::Decomposed { .. } => Err(TableError::input(
            &source.place,
            "a sub-table is neither of rows nor of buckets",
            "publish the release again",
        )),
    }
}
