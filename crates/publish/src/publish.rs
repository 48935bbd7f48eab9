//! The main job: from a policy to a verified release.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hedgerow_policy::{Method, Policy};
use hedgerow_release::Release;
use hedgerow_release::manifest::{Manifest, Rows};
use hedgerow_table::{InputError, Progress};
use hedgerow_verify::check::Checked;
use hedgerow_verify::verified::Staged;
use serde_json::{Map, Value};

use crate::anatomy;
use crate::bind::{Bound, read_source};
use crate::catalog::{self, Beside};
use crate::cloning::{self, CloneReport};
use crate::community;
use crate::decompose;
use crate::draft::{self, Draft};
use crate::error::PublishError;
use crate::full_domain;
use crate::generalized;
use crate::local;
use crate::search::Explain;

/// What the caller chooses beside the policy.
#[derive(Clone)]
pub struct PublishOptions<'a> {
    pub destination: PathBuf,
    pub overwrite: bool,
    pub format: TableFormat,
    /// Makes the row order repeatable, for tests: such a release must not be published.
    pub seed: Option<u64>,
    pub candidates: bool,
    /// Before those of the policy.
    pub nodes_max: Option<u64>,
    pub seconds_max: Option<f64>,
    /// What the release is held against before it is written out.
    pub beside: Beside,
    pub progress: &'a dyn Progress,
}

impl std::fmt::Debug for PublishOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublishOptions").field("destination", &self.destination).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableFormat {
    #[default]
    Csv,
    Parquet,
}

/// What was published and how.
#[derive(Debug, Clone)]
pub struct Published {
    pub release: PathBuf,
    pub rows: Rows,
    pub checked: Checked,
    pub losses: Map<String, Value>,
    /// How the lattice was searched, by the methods that search one.
    pub searched: Option<Searched>,
    /// What cloning did, by the method that does.
    pub cloned: Option<CloneReport>,
    pub read_time: Duration,
    pub search_time: Duration,
    pub write_time: Duration,
    pub warnings: Vec<InputError>,
}

#[derive(Debug, Clone)]
pub struct Searched {
    /// Per quasi attribute, its level and the top one.
    pub levels: Vec<(String, usize, usize)>,
    pub candidates: Option<u64>,
    /// The least loss in the policy's measure is proved.
    pub proven: bool,
    pub explain: Explain,
}

/// A bound policy on its way to a release: what methods start from that do not return a [`Draft`] yet.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) bound: Bound<'a>,
    pub(crate) staged: Staged,
    pub(crate) options: &'a PublishOptions<'a>,
    pub(crate) read_time: Duration,
}

pub fn publish(policy: &Policy, options: &PublishOptions<'_>) -> Result<Published, PublishError> {
    let started = Instant::now();
    // First, so that a long search is not lost to a destination that was never possible.
    let staged = Staged::beside(&options.destination, options.overwrite)?;
    match policy.publish.method {
        Method::Anatomy => anatomy::refuse(policy)?,
        Method::Clone => cloning::refuse(policy)?,
        _ => {}
    }
    let table = read_source(policy, options.progress)?;
    let earlier = community::read_earlier(policy, &table, options.progress)?;
    let bound = Bound::with_earlier(policy, &table, earlier)?;
    let read_time = started.elapsed();
    let searching = Instant::now();
    let mut rng = generalized::rng(options)?;
    let draft = match policy.publish.method {
        Method::FullDomain => full_domain::draft(&bound, options)?,
        Method::Mondrian | Method::BestCut => local::draft(&bound, options)?,
        Method::Anatomy => anatomy::draft(&bound, options, &mut rng)?,
        Method::Clone => return cloning::publish(Job { bound, staged, options, read_time }),
        Method::Decompose => return decompose::publish(Job { bound, staged, options, read_time }),
    };
    let search_time = searching.elapsed();

    let writing = Instant::now();
    options.progress.stage("writing", Some(draft.rows_to_write()));
    let Draft { tables, codebook, rows, losses, searched, cloned, stated, rules, warnings } = draft;
    let written = draft::write(tables, &codebook, staged.path(), options.format, &mut rng, options.progress)?;
    let mut manifest = draft::manifest(&bound, written.resources.clone(), rows, &losses);
    manifest.hedgerow.cloning = stated.cloning;
    manifest.hedgerow.dependencies = stated.dependencies;
    manifest.hedgerow.intersection_attack = stated.intersection_attack;
    let named = |released: &Release| rules.unwrap_or_else(|| generalized::named_rules(&bound, released));
    let describe = |manifest: &mut Manifest, released: &Release| {
        manifest.hedgerow.hierarchies = generalized::hierarchies(&bound, released);
    };
    let (verified, checked) = staged.verify(manifest, named, describe, options.progress)?;
    written.wait()?;
    let release = catalog::place(verified, policy, &table, &options.beside, options.progress)?;
    let warnings = bound.warnings.iter().cloned().chain(warnings).collect();
    let write_time = writing.elapsed();
    Ok(Published { release, rows, checked, losses, searched, cloned, read_time, search_time, write_time, warnings })
}
