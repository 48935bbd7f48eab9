//! Writing a bucketized release: `quasi`, `sensitive`, codebook and manifest, verified from the written bytes.
//!
//! The group numbers are drawn at random, and the rows of both tables shuffled one without the other, so that nothing but
//! `group` joins them. Quasi attributes stand as they are, on level 0.

use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::manifest::{Field, Manifest, Resource, Rows};
use hedgerow_table::{Codes, Column, Domain, Kind, TableError, Values};
use hedgerow_verify::check::Checked;
use hedgerow_verify::kinds::Released;
use hedgerow_verify::verified::{Staged, Verified};
use rand::rngs::StdRng;
use serde_json::{Map, Value};

use crate::anatomy::Buckets;
use crate::bind::Bound;
use crate::error::PublishError;
use crate::full_domain::recoded;
use crate::generalized::{self, Generalized, hierarchies, named_rules, role_name};
use crate::publish::{PublishOptions, TableFormat};
use crate::rows::{Flushing, ReleasedColumn, Shuffled, shuffle, write_csv, write_parquet};

/// Writes both tables and the codebook into the staged directory and verifies them.
pub fn write(
    bound: &Bound<'_>,
    sensitive: &Column,
    buckets: &Buckets,
    losses: &Map<String, Value>,
    staged: Staged,
    options: &PublishOptions<'_>,
) -> Result<(Verified, Checked), PublishError> {
    let mut rng = generalized::rng(options)?;
    let mut numbers: Vec<u32> = (0..buckets.count).collect();
    shuffle(&mut numbers, &mut rng);
    let groups = Domain::new(Values::Integer((1..=i64::from(buckets.count)).collect()), false);
    let group_texts: Vec<String> = (1..=buckets.count).map(|number| number.to_string()).collect();
    let group_column =
        |codes| ReleasedColumn { name: GROUP, codes, domain: &groups, kind: Kind::Integer, texts: group_texts.clone() };

    let recoded = bound.quasi.iter().map(|quasi| recoded(quasi, 0)).collect();
    let made = Generalized { recoded, kept_rows: None, losses };
    let group_of_row = Codes::U32(buckets.of_row.iter().map(|&bucket| numbers[bucket as usize]).collect());
    let mut columns = generalized::released_columns(bound, &made);
    columns.retain(|column| column.name != sensitive.name);
    columns.push(group_column(&group_of_row));
    let role = |name: &str| role_name(bound, name);
    let (quasi, quasi_flushing) = write_table("quasi", &columns, role, &staged, &mut rng, options)?;

    let counted = Counted::new(sensitive, buckets, &numbers);
    let columns = [group_column(&counted.groups), counted.value_column(sensitive), counted.count_column()];
    let (values, values_flushing) = write_table("sensitive", &columns, role, &staged, &mut rng, options)?;

    generalized::write_codebook(bound, &made, &staged.path().join("codebook.csv"))?;
    let paths = [&quasi, &values].map(|resource| staged.path().join(&resource.path));
    let describe = |manifest: &mut Manifest, released: &dyn Released| {
        manifest.hedgerow.hierarchies = hierarchies(bound, released);
    };
    let rows = Rows { source: bound.table.rows as u64, out: bound.table.rows as u64, suppressed: 0 };
    let manifest = generalized::manifest(bound, vec![quasi, values], rows, losses);
    let verified = staged.verify(manifest, |released| named_rules(bound, released), describe, options.progress)?;
    for (flushing, path) in [quasi_flushing, values_flushing].into_iter().zip(&paths) {
        flushing.wait(path)?;
    }
    Ok(verified)
}

/// Writes one table of the release in random order.
fn write_table<'r>(
    name: &str,
    columns: &[ReleasedColumn<'_>],
    role: impl Fn(&str) -> Option<&'r str>,
    staged: &Staged,
    rng: &mut StdRng,
    options: &PublishOptions<'_>,
) -> Result<(Resource, Flushing), TableError> {
    let fields = columns.iter().map(|column| Field::new(column.name, column.kind, role(column.name))).collect();
    let rows = columns.first().map_or(0, |column| column.codes.len());
    let shuffled = Shuffled::new(rows, None, rng);
    match options.format {
        TableFormat::Csv => {
            let resource = Resource::csv(name, fields);
            let path = staged.path().join(&resource.path);
            Ok((resource, write_csv(&path, columns, &shuffled, options.progress)?))
        }
        TableFormat::Parquet => {
            let resource = Resource::parquet(name, fields);
            let path = staged.path().join(&resource.path);
            Ok((resource, write_parquet(&path, columns, &shuffled, options.progress)?))
        }
    }
}

/// The rows of `sensitive`: every value that occurs in a group, and how often.
struct Counted {
    groups: Codes,
    values: Codes,
    counts: Codes,
    /// The counts that occur, ascending.
    distinct: Domain,
}

impl Counted {
    fn new(sensitive: &Column, buckets: &Buckets, numbers: &[u32]) -> Counted {
        let bucket_of_row = buckets.of_row.iter();
        let mut pairs: Vec<u64> = bucket_of_row
            .zip(sensitive.codes.iter())
            .map(|(&bucket, code)| u64::from(numbers[bucket as usize]) << 32 | u64::from(code))
            .collect();
        pairs.sort_unstable();
        let runs: Vec<(u64, u32)> =
            pairs.chunk_by(|first, second| first == second).map(|run| (run[0], run.len() as u32)).collect();
        let mut distinct: Vec<i64> = runs.iter().map(|&(_, count)| i64::from(count)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |count: u32| distinct.binary_search(&i64::from(count)).expect("collected above") as u32;
        Counted {
            groups: Codes::U32(runs.iter().map(|&(pair, _)| (pair >> 32) as u32).collect()),
            values: Codes::U32(runs.iter().map(|&(pair, _)| pair as u32).collect()),
            counts: Codes::from_iter(distinct.len(), runs.iter().map(|&(_, count)| place(count))),
            distinct: Domain::new(Values::Integer(distinct.clone()), false),
        }
    }

    fn value_column<'a>(&'a self, sensitive: &'a Column) -> ReleasedColumn<'a> {
        let Column { name, domain, .. } = sensitive;
        let texts = (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect();
        ReleasedColumn { name, codes: &self.values, domain, kind: domain.kind(), texts }
    }

    fn count_column(&self) -> ReleasedColumn<'_> {
        let texts = (0..self.distinct.cardinality() as u32).map(|code| self.distinct.text(code)).collect();
        ReleasedColumn { name: COUNT, codes: &self.counts, domain: &self.distinct, kind: Kind::Integer, texts }
    }
}
