//! The tables of a decomposed release, read from its directory and told in codes of the source.

use std::path::Path;

use hedgerow_release::bucketized::{Bucketized, GROUP};
use hedgerow_release::combined::Combined;
use hedgerow_release::manifest::Manifest;
use hedgerow_release::read::read_released;
use hedgerow_release::shape::Shape;
use hedgerow_table::{Column, Progress, Table, TableError};
use serde_json::{Value, json};

use super::{CountQueries, CountQueryError, Joint, PublishedBuckets, PublishedTable};

/// What several tables lost.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTables {
    pub rows: usize,
    pub tables: usize,
    /// In nats.
    pub kl: f64,
    /// `None` when nothing was asked or nobody answered.
    pub queries: Option<CountQueryError>,
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
    let told = |attribute: usize| tables.iter().any(|table| table.attributes().any(|told| told == attribute));
    if let Some(absent) = (0..source.columns.len()).find(|&attribute| !told(attribute)) {
        let problem = format!("no table tells `{}`", source.columns[absent].name);
        return Err(refuse(&problem, "was it published under this policy?"));
    }
    progress.stage("measuring", None);
    let joint = Joint::new(&cardinalities, &tables).ok_or_else(|| {
        refuse("the tables form a ring: what they tell together has no closed form", "publish it again")
    })?;
    let kl = joint.divergence(&codes).max(0.0);
    let queries = (queries.count > 0).then(|| joint.query_error(&codes, queries)).flatten();
    Ok(MeasuredTables { rows: source.rows, tables: tables.len(), kl, queries })
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
            let hint = "only tables that tell values as they are can be measured together; the manifest tells what is known of others";
            TableError::input(&self.place, problem, hint)
        })?;
        Ok((own, column.codes.iter().map(|code| map[code as usize]).collect()))
    }

    fn refuse_contradiction(&self, problems: &[String]) -> Result<(), TableError> {
        let hint = "the tables do not belong together; `hedgerow check` tells everything that is wrong";
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
            Ok(PublishedTable { open: source.open(&table, false)?, buckets: None })
        }
        Shape::Bucketized { quasi, sensitive } if Combined::is(sensitive) => {
            let (read, problems) = Combined::examine(directory, quasi, sensitive, progress)?;
            source.refuse_contradiction(&problems)?;
            let values = read.sensitive.iter().filter_map(|name| read.values.column(name));
            let buckets = PublishedBuckets {
                of_row: read.bucket_of_row.iter().map(|bucket| bucket.unwrap_or(PublishedBuckets::UNTOLD)).collect(),
                sensitive: values.map(|column| source.codes(column)).collect::<Result<_, _>>()?,
                of_entry: read.bucket_of_value.clone(),
                counts: read.counts.clone(),
            };
            Ok(PublishedTable { open: source.open(&read.quasi, true)?, buckets: Some(buckets) })
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
            Ok(PublishedTable { open: source.open(&read.quasi, true)?, buckets: Some(buckets) })
        }
        Shape::Cloned { .. } | Shape::Decomposed { .. } => Err(TableError::input(
            &source.place,
            "a sub-table is neither of rows nor of buckets",
            "publish the release again",
        )),
    }
}

impl MeasuredTables {
    pub fn to_json(&self) -> Value {
        let queries = self.queries.map(|found| {
            json!({
                "count": found.answered,
                "seed": found.asked.seed,
                "dimension": found.asked.dimension,
                "share": found.asked.share,
                "relative-error": { "mean": found.mean, "median": found.median },
            })
        });
        json!({
            "rows": { "in": self.rows, "out": self.rows, "suppressed": 0 },
            "tables": self.tables,
            "loss": { "kl": self.kl },
            "queries": queries,
        })
    }
}

impl std::fmt::Display for MeasuredTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "rows     {} in {} tables", self.rows, self.tables)?;
        writeln!(
            f,
            "kl       {:.6} nats from the source to the most likely table behind all of them; 0 is nothing lost",
            self.kl
        )?;
        if let Some(found) = &self.queries {
            let CountQueries { dimension, share, .. } = found.asked;
            writeln!(
                f,
                "queries  {} random counts over {dimension} attributes, {:.0} % of the values of each",
                found.answered,
                100.0 * share
            )?;
            writeln!(
                f,
                "         off by {:.1} % on average, half of them by at most {:.1} %",
                100.0 * found.mean,
                100.0 * found.median
            )?;
        }
        Ok(())
    }
}
