//! The main job: from a policy to a verified release.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hedgerow_policy::{Loss, Policy, Role};
use hedgerow_privacy::check::{Checked, claim};
use hedgerow_privacy::release_check::tree_from_paths;
use hedgerow_privacy::verified::{Staged, Verified};
use hedgerow_privacy::{Distance, Judge, Model};
use hedgerow_table::frequency::FrequencySet;
use hedgerow_table::release::codebook::Codebook;
use hedgerow_table::release::manifest::{Claim, Field, Manifest, Promise, Resource, Rows};
use hedgerow_table::{
    Codes, Column, Cover, Domain, HierarchySpec, InputError, Label, Progress, Table, TableError, with_words,
};
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};
use serde_json::{Map, Value, json};

use crate::bind::{Bound, Quasi, read_source};
use crate::error::{PublishError, Unsatisfiable};
use crate::loss::LossModel;
use crate::rows::{ReleasedColumn, Shuffled, write_csv, write_parquet};
use crate::search::{Budget, Explain, Found, FullDomain, Outcome, search};

pub const LOSSES: [(Loss, &str); 5] = [
    (Loss::Ncp, "ncp"),
    (Loss::Precision, "precision"),
    (Loss::Discernibility, "discernibility"),
    (Loss::AverageClass, "average-class"),
    (Loss::Granularity, "granularity"),
];

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
    /// Per quasi attribute, its level and the top one.
    pub levels: Vec<(String, usize, usize)>,
    pub candidates: Option<u64>,
    pub losses: Map<String, Value>,
    /// The least loss in the policy's measure is proved.
    pub proven: bool,
    pub explain: Explain,
    pub read_time: Duration,
    pub search_time: Duration,
    pub write_time: Duration,
    pub warnings: Vec<InputError>,
}

pub fn publish(policy: &Policy, options: &PublishOptions<'_>) -> Result<Published, PublishError> {
    let started = Instant::now();
    // First, so that a long search is not lost to a destination that was never possible.
    let staged = Staged::beside(&options.destination, options.overwrite)?;
    let table = read_source(policy, options.progress)?;
    let bound = Bound::new(policy, &table)?;
    let read_time = started.elapsed();

    let searching = Instant::now();
    let judge = bound.judge()?;
    let loss_model = |loss| LossModel::new(loss, &bound.loss_attributes(), table.rows as u64, bound.k());
    let told = LOSSES.map(|(loss, _)| loss_model(loss));
    let outcome = find(&bound, &judge, &loss_model(policy.publish.loss), &told, options);
    let Some(found) = &outcome.best else {
        return Err(Box::new(why_not(&bound, &judge, &outcome)).into());
    };
    let losses: Map<String, Value> =
        LOSSES.iter().zip(&found.told).map(|((_, name), loss)| ((*name).to_owned(), json!(loss))).collect();
    let search_time = searching.elapsed();

    let writing = Instant::now();
    options.progress.stage("writing", Some(table.rows as u64 - found.suppressed));
    let rows =
        Rows { source: table.rows as u64, out: table.rows as u64 - found.suppressed, suppressed: found.suppressed };
    let (verified, checked) = write(&bound, found, rows, &losses, staged, options)?;
    let release = verified.place()?;
    let levels = bound.quasi.iter().zip(&found.levels);
    let levels =
        levels.map(|(quasi, &level)| (quasi.attribute.name.clone(), level as usize, quasi.hierarchy.top())).collect();
    Ok(Published {
        release,
        rows,
        checked,
        levels,
        candidates: outcome.candidates,
        losses,
        proven: outcome.proven,
        explain: outcome.explain,
        read_time,
        search_time,
        write_time: writing.elapsed(),
        warnings: bound.warnings,
    })
}

fn find(
    bound: &Bound<'_>,
    judge: &Judge,
    loss: &LossModel,
    told: &[LossModel],
    options: &PublishOptions<'_>,
) -> Outcome {
    let publish = &bound.policy.publish;
    let seconds = options.seconds_max.or(publish.max_seconds);
    search(FullDomain {
        columns: &bound.judged_codes(),
        rows: bound.table.rows,
        hierarchies: &bound.hierarchies(),
        judge,
        loss,
        told,
        budget: Budget {
            nodes_max: options.nodes_max.or(publish.max_nodes),
            time_max: seconds.map(Duration::from_secs_f64),
        },
        candidates: options.candidates,
        progress: options.progress,
    })
}

/// What breaks on the coarsest levels, where as little as possible can break.
fn why_not(bound: &Bound<'_>, judge: &Judge, outcome: &Outcome) -> Unsatisfiable {
    let columns: Vec<Codes> = (bound.judged_codes().iter().enumerate())
        .map(|(index, codes)| match bound.quasi.get(index) {
            Some(_) => Codes::U8(vec![0; codes.len()]),
            None => (*codes).clone(),
        })
        .collect();
    let columns: Vec<&Codes> = columns.iter().collect();
    let achieved = with_words!(judge.layout().words(), W => {
        let set = FrequencySet::<W>::of_rows(judge.layout(), &columns, bound.table.rows);
        judge.achieved(&set, &vec![true; set.len()])
    });
    let mut reasons = Vec::new();
    for (rule, achieved) in bound.policy.rules.iter().zip(&achieved) {
        for (model, achieved) in rule.require.iter().zip(achieved).filter(|(_, achieved)| !achieved.holds) {
            let found = claim(model, &rule.know, rule.protect.as_ref(), achieved);
            reasons.push(format!(
                "{}: {} asks for {}{}; with every quasi attribute at its top the table reaches {} ({} rows in classes that break it)",
                rule.place,
                model.name(),
                pairs(&found.required),
                found.protect.map_or_else(String::new, |name| format!(" of `{name}`")),
                pairs(&found.achieved),
                achieved.failing_rows,
            ));
        }
    }
    Unsatisfiable {
        reasons,
        rows: bound.table.rows as u64,
        allowed: judge.allowed(),
        judged: outcome.explain.judged_first + outcome.explain.judged_proof,
        nodes: outcome.explain.nodes,
        proven: outcome.proven,
        hint: "ask for less in that rule, or let more rows be left out (publish.suppression)".to_owned(),
    }
}

fn pairs(map: &Map<String, Value>) -> String {
    map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn write(
    bound: &Bound<'_>,
    found: &Found,
    rows: Rows,
    losses: &Map<String, Value>,
    staged: Staged,
    options: &PublishOptions<'_>,
) -> Result<(Verified, Checked), PublishError> {
    let mut rng = match options.seed {
        Some(seed) => StdRng::seed_from_u64(seed),
        None => StdRng::try_from_rng(&mut SysRng)
            .map_err(|error| PublishError::Internal(format!("the system gives no random numbers: {error}")))?,
    };
    let columns = released_columns(bound, found);
    let fields =
        columns.iter().map(|column| Field::new(column.name, column.kind, role_name(bound, column.name))).collect();
    let shuffled = Shuffled::new(bound.table.rows, found.kept_rows.as_deref(), &mut rng);
    let resource = match options.format {
        TableFormat::Csv => Resource::csv("data", fields),
        TableFormat::Parquet => Resource::parquet("data", fields),
    };
    let path = staged.path().join(&resource.path);
    let flushing = match options.format {
        TableFormat::Csv => write_csv(&path, &columns, &shuffled, options.progress)?,
        TableFormat::Parquet => write_parquet(&path, &columns, &shuffled, options.progress)?,
    };
    drop(shuffled);
    write_codebook(bound, found, &staged.path().join("codebook.csv"))?;
    let mut kept = None;
    let describe = |checked: &Checked, released: &Table| {
        kept = Some(checked.clone());
        let mut manifest = manifest(bound, &resource, checked, rows, losses);
        manifest.hedgerow.hierarchies = hierarchies(bound, released);
        manifest
    };
    let verified = staged.verify(&resource, |released| named_rules(bound, released), describe, options.progress)?;
    flushing.wait(&path)?;
    let checked = kept.ok_or_else(|| PublishError::Internal("the release was not described".to_owned()))?;
    Ok((verified, checked))
}

fn role_name(bound: &Bound<'_>, name: &str) -> Option<&'static str> {
    bound.policy.attribute(name).map(|attribute| attribute.role.name())
}

/// In the source's order: quasi attributes as their labels, the others as they are.
fn released_columns<'a>(bound: &'a Bound<'_>, found: &Found) -> Vec<ReleasedColumn<'a>> {
    let table = bound.table;
    let ordered = table.header.iter().filter_map(|name| table.column(name));
    ordered
        .filter(|column| {
            bound.policy.attribute(&column.name).is_some_and(|attribute| attribute.role != Role::Identifier)
        })
        .map(|column| {
            let quasi = bound.quasi.iter().position(|quasi| quasi.column.name == column.name);
            let codes = 0..column.domain.cardinality() as u32;
            let own_texts = || codes.clone().map(|code| column.domain.text(code)).collect();
            let (kind, texts) = match quasi.map(|index| (&bound.quasi[index], found.levels[index] as usize)) {
                Some((quasi, level)) if level > 0 => {
                    let level = &quasi.hierarchy.levels()[level];
                    let texts = level.map.iter().map(|&label| level.labels[label as usize].text.clone()).collect();
                    (hedgerow_table::Kind::Category, texts)
                }
                _ => (column.domain.kind(), own_texts()),
            };
            ReleasedColumn { name: &column.name, codes: &column.codes, domain: &column.domain, kind, texts }
        })
        .collect()
}

/// Only labels that are released: a label that only left-out rows carry would betray them.
fn write_codebook(bound: &Bound<'_>, found: &Found, path: &Path) -> Result<(), TableError> {
    let mut codebook = Codebook::new();
    for (quasi, &level) in bound.quasi.iter().zip(&found.levels) {
        let level = &quasi.hierarchy.levels()[level as usize];
        let mut released = vec![false; level.labels.len()];
        for (row, code) in quasi.column.codes.iter().enumerate() {
            released[level.map[code as usize] as usize] |= found.kept_rows.as_ref().is_none_or(|kept| kept[row]);
        }
        for (label, _) in level.labels.iter().zip(&released).filter(|(_, released)| **released) {
            codebook.add(&quasi.attribute.name, &public(quasi, label))?;
        }
    }
    let failed = |error| TableError::io(path, error);
    let mut out = std::io::BufWriter::new(std::fs::File::create_new(path).map_err(failed)?);
    codebook.write(&mut out).map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
}

/// A masked label has no other leaves than the values of the people under it, and where it has one, naming it would undo
/// the mask. So its only leaf is the pattern itself.
fn public(quasi: &Quasi<'_>, label: &Label) -> Label {
    let masked = matches!(quasi.attribute.hierarchy, Some((HierarchySpec::Mask(_), _)));
    let cover = match &label.cover {
        Cover::Leaves(_) if masked => Cover::Leaves(vec![label.text.clone()]),
        cover => cover.clone(),
    };
    Label { cover, ..label.clone() }
}

fn named_rules(bound: &Bound<'_>, released: &Table) -> Vec<hedgerow_privacy::check::NamedRule> {
    let paths = hierarchies(bound, released);
    let domain = |name: &String| -> Option<&Domain> { released.column(name).map(|column: &Column| &column.domain) };
    let trees: HashMap<_, _> =
        paths.iter().filter_map(|(name, paths)| Some((name.clone(), tree_from_paths(domain(name)?, paths)?))).collect();
    bound.named_rules(&trees)
}

/// The hierarchies that a reader needs to recompute a guarantee.
fn hierarchies(bound: &Bound<'_>, released: &Table) -> Map<String, Value> {
    let by_hierarchy = |model: &Model| matches!(model, Model::TCloseness { distance: Distance::Hierarchical, .. });
    let rules = bound.policy.rules.iter().filter(|rule| rule.require.iter().any(by_hierarchy));
    let names = rules.filter_map(|rule| rule.protect.as_ref());
    names.filter_map(|name| Some((name.clone(), bound.paths(name, released.column(name)?)?))).collect()
}

fn manifest(
    bound: &Bound<'_>,
    resource: &Resource,
    checked: &Checked,
    rows: Rows,
    losses: &Map<String, Value>,
) -> Manifest {
    let codebook = ["attribute", "label", "low", "high", "leaf"];
    let codebook = codebook.map(|name| Field::new(name, hedgerow_table::Kind::Category, None)).to_vec();
    let guarantees: Vec<Claim> = checked.claims.clone();
    Manifest {
        name: "release".to_owned(),
        resources: vec![resource.clone(), Resource::csv("codebook", codebook)],
        hedgerow: Promise {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: bound.policy.publish.method.name().to_owned(),
            guarantees,
            rows,
            classes: checked.classes,
            loss: losses.clone(),
            hierarchies: Map::new(),
        },
    }
}
