//! The tables of a decomposed release in codes of the source.

use hedgerow_release::Release;
use hedgerow_release::bucketized::GROUP;
use hedgerow_release::decomposed::{Decomposed, Form, SubTable};
use hedgerow_table::{Column, Progress, Table, TableError};
use serde::{Serialize, Serializer};

use super::{CountQueries, CountQueryError, Fit, MaxLikelihood, PublishedBuckets, PublishedTable};

/// The losses of a decomposed release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredTables {
    /// Of the source, and of every table.
    #[serde(serialize_with = "all_released")]
    pub rows: u64,
    /// The number of sub-tables.
    pub tables: usize,
    /// How far the most likely table is from the source.
    pub loss: Divergence,
    /// Tables whose estimate has no closed form and was fitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rings: Vec<FittedRing>,
    /// `None` when no query was requested or none selected a row.
    pub queries: Option<CountQueryError>,
}

/// A ring of tables: the attributes that it connects, and how close fitting came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedRing {
    /// The attributes that the tables share.
    pub attributes: Vec<String>,
    /// How close fitting came.
    #[serde(flatten)]
    pub fit: Fit,
}

/// How far an estimate is from the source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Divergence {
    /// Kullback–Leibler, in nats.
    pub kl: f64,
}

/// No table suppresses rows.
fn all_released<S: Serializer>(rows: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("in", *rows), ("out", *rows), ("suppressed", 0)])
}

/// Measures a decomposed release against the table that it was made from.
pub(crate) fn measure_tables(
    release: &Release,
    decomposed: &Decomposed,
    source: &Table,
    queries: CountQueries,
    progress: &dyn Progress,
) -> Result<MeasuredTables, TableError> {
    let refuse = |problem: &str, hint: &str| TableError::input(release.name(), problem, hint);
    if let Some(problem) = release.contradictions().first() {
        return Err(refuse(problem, "the tables do not belong together; a check lists everything that is wrong"));
    }
    let tables = tables_in(decomposed, source, release.name())?;
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
    let estimate = MaxLikelihood::new(&cardinalities, &tables).map_err(|problem| {
        let hint = "tables that form a tree are measured whatever their size: `gd` and `uad` choose such tables";
        refuse(&problem.to_string(), hint)
    })?;
    let names = |fit: &Fit| fit.attributes.iter().map(|&own| source.columns[own].name.clone()).collect();
    let rings = estimate.fits().iter().map(|fit| FittedRing { attributes: names(fit), fit: fit.clone() }).collect();
    let kl = estimate.kl_divergence(&codes).max(0.0);
    let queries = (queries.count > 0).then(|| estimate.query_error(&codes, queries)).flatten();
    Ok(MeasuredTables { rows: source.rows as u64, tables: tables.len(), loss: Divergence { kl }, rings, queries })
}

/// The tables of a decomposed release in codes of `source`, of whose columns only names and values
/// matter.
pub(crate) fn tables_in(
    decomposed: &Decomposed,
    source: &Table,
    release: &str,
) -> Result<Vec<PublishedTable>, TableError> {
    let table = |table: &SubTable| {
        published(&table.form, &SourceCodes { table: source, place: format!("{release}/{}", table.name) })
    };
    decomposed.tables.iter().map(table).collect()
}

/// The source, and which table is being read.
struct SourceCodes<'a> {
    table: &'a Table,
    place: String,
}

impl SourceCodes<'_> {
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
            let problem = format!("`{}` has labels that are not values of the source", column.name);
            let hint =
                "only tables of ungeneralized values can be measured together; the manifest states the loss of others";
            TableError::input(&self.place, problem, hint)
        })?;
        Ok((own, column.codes.iter().map(|code| map[code as usize]).collect()))
    }

    fn open(&self, table: &Table, group: bool) -> Result<Vec<(usize, Vec<u32>)>, TableError> {
        let columns = table.columns.iter().filter(|column| !group || column.name != GROUP);
        columns.map(|column| self.codes(column)).collect()
    }
}

/// One sub-table in codes of the source.
fn published(form: &Form, source: &SourceCodes<'_>) -> Result<PublishedTable, TableError> {
    match form {
        Form::Rows(read) => Ok(PublishedTable { by_row: source.open(&read.table, false)?, buckets: None }),
        Form::Combined(read) => {
            let values = read.sensitive.iter().filter_map(|name| read.values.column(name));
            let buckets = PublishedBuckets {
                of_row: read.bucket_of_row.iter().map(|bucket| bucket.unwrap_or(PublishedBuckets::NO_BUCKET)).collect(),
                sensitive: values.map(|column| source.codes(column)).collect::<Result<_, _>>()?,
                of_entry: read.bucket_of_value.clone(),
                counts: read.counts.clone(),
            };
            Ok(PublishedTable { by_row: source.open(&read.quasi, true)?, buckets: Some(buckets) })
        }
        Form::Buckets(read) => {
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
    }
}
