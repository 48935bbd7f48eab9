//! From a policy whose rows are on a cluster to a verified release.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hedgerow::{Error, Monitor, Policy, Published};
use hedgerow_config::{Cluster, Selection};
use hedgerow_publish::catalog::Gate;
use hedgerow_publish::{PublishOptions, RowSource, RowStore, TableFormat};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Format, InputError, TableError};

use crate::column::Strings;
use crate::engine::{SparkTable, absolute_pattern};
use crate::session::Session;
use crate::sql;

/// Publishes the policy's source into a new directory, with the default options.
pub fn publish(policy: &Policy, destination: impl AsRef<Path>) -> Result<Published, Error> {
    Publish::new(policy, destination).run()
}

/// Publishing with options. No manifest is written unless every guarantee was recomputed by the
/// cluster from what it wrote, and holds.
#[derive(Debug)]
#[must_use = "nothing is published before `run`"]
pub struct Publish<'a> {
    policy: &'a Policy,
    destination: PathBuf,
    overwrite: bool,
    seed: Option<u64>,
    candidates: bool,
}

impl<'a> Publish<'a> {
    /// A release in the directory `destination`, which must not exist yet, in a folder that this
    /// machine and the cluster share under one path.
    pub fn new(policy: &'a Policy, destination: impl AsRef<Path>) -> Publish<'a> {
        let destination = destination.as_ref().to_path_buf();
        Publish { policy, destination, overwrite: false, seed: None, candidates: false }
    }

    /// Replaces a release that is there already; never anything else.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Makes what is dealt at random here repeatable, for tests: such a release must not be
    /// published.
    pub fn danger_seed(mut self, seed: Option<u64>) -> Self {
        self.seed = seed;
        self
    }

    /// Also counts all lattice nodes that satisfy every rule.
    pub fn candidates(mut self, candidates: bool) -> Self {
        self.candidates = candidates;
        self
    }

    /// Publishes.
    pub fn run(self) -> Result<Published, Error> {
        self.run_with(&Monitor::default())
    }

    /// Publishes, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Published, Error> {
        let policy = self.policy.as_ref();
        let cluster = policy.source.cluster.as_ref().ok_or_else(|| {
            let hint = "write `engine = \"sc://host:15002\"`, or publish without a cluster: `hedgerow publish`";
            let place = format!("{}: source", policy.path.display());
            InputError::new(place, "`engine` is missing: no cluster holds the rows", hint)
        })?;
        let session = Session::open(&cluster.address)?;
        let rows = |options: &ReadOptions<'_>| -> Result<RowStore<'_>, TableError> {
            Ok(RowStore::Remote(Box::new(open(&session, &policy.source, cluster, options)?)))
        };
        let options = PublishOptions {
            destination: self.destination,
            overwrite: self.overwrite,
            format: TableFormat::Parquet,
            seed: self.seed,
            candidates: self.candidates,
            nodes_max: None,
            seconds_max: None,
            levels: Vec::new(),
            without: Vec::new(),
            metadata: Vec::new(),
            gate: Gate::default(),
            memory: None,
            part: None,
            progress: monitor,
        };
        Ok(hedgerow_publish::publish(policy, RowSource::Open(&rows), &options)?.into())
    }
}

/// The table that a policy names, on its cluster.
fn open<'s>(
    session: &'s Session,
    source: &hedgerow_config::SourceSettings,
    cluster: &Cluster,
    options: &ReadOptions<'_>,
) -> Result<SparkTable<'s>, TableError> {
    let place = source.path.display().to_string();
    let progress = options.progress;
    let (view, strings) = match &cluster.selection {
        Some(Selection::Table(name)) => {
            let statement = format!("SELECT * FROM {}", sql::table_name(name));
            (session.view_of_statement(&statement, progress)?, Strings::Declared)
        }
        Some(Selection::Query(query)) => {
            let query = query.trim_end().trim_end_matches(';');
            (session.view_of_statement(query, progress)?, Strings::Declared)
        }
        None => {
            let (format, how) = files(&source.path, options)?;
            let strings = if format == "csv" { Strings::Written } else { Strings::Undeclared };
            (session.view_of_files(format, how, &absolute_pattern(&source.path)?, progress)?, strings)
        }
    };
    SparkTable::of(session, view, &place, strings, options)
}

/// How a cluster reads files.
fn files(path: &Path, options: &ReadOptions<'_>) -> Result<(&'static str, HashMap<String, String>), TableError> {
    let found = options.format.or_else(|| {
        let name = path.to_string_lossy();
        Format::of(path).ok().or(name.contains("csv").then_some(Format::Csv))
    });
    match found.unwrap_or(Format::Parquet) {
        Format::Parquet => Ok(("parquet", HashMap::new())),
        format @ (Format::Csv | Format::Tsv) => {
            let own = if format == Format::Tsv { b'\t' } else { b',' };
            let character = |byte: u8| char::from(byte).to_string();
            let quote = character(options.quote.unwrap_or(b'"'));
            let how = [
                ("header", "true".to_owned()),
                ("sep", character(options.delimiter.unwrap_or(own))),
                // RFC 4180: a quote within quotes is doubled, and a field may have several lines.
                ("escape", quote.clone()),
                ("quote", quote),
                ("multiLine", "true".to_owned()),
                ("mode", "FAILFAST".to_owned()),
            ];
            Ok(("csv", how.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
        }
        format => {
            let problem = format!("a cluster does not read {} data", format.name());
            Err(TableError::input(path.display().to_string(), problem, "store it as Parquet or CSV"))
        }
    }
}
