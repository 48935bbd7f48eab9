//! The report that a person signs: one page about one release, or about several together.

use std::path::{Path, PathBuf};

use hedgerow_audit::{
    Measures, QuasiSource, SourceTable, compare, contingencies, narrowings, released_risk, safe_harbor,
};
use hedgerow_policy::{Method, Policy, Role};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::read_earlier;
use hedgerow_publish::explore::explore;
use hedgerow_publish::undivided::undivided;
use hedgerow_publish::why::why;
use hedgerow_release::Release;
use hedgerow_table::{InputError, Table};
use serde_json::{Map, Value, json};

use crate::ledger::summed_up;
use crate::{Audit, Error, MeasureOptions, Monitor, Source, check, check_combined, source};

/// The largest lattice, in nodes, and the most work, in nodes times rows, that is explored for a
/// report; beyond it the neighbors of the chosen node are described.
const NODES_MAX: u64 = 20_000;
const WORK_MAX: u64 = 100_000_000;

/// A report in the making.
#[derive(Debug)]
#[must_use = "nothing is reported before `run`"]
pub struct Report<'a> {
    releases: Vec<PathBuf>,
    policy: Option<&'a Policy>,
    source: Source<'a>,
    people: Option<PathBuf>,
    ledger: Option<PathBuf>,
    publishable: bool,
    queries: MeasureOptions,
}

/// A report: the page, and every number of it as JSON.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reported {
    /// What `hedgerow report --json` prints.
    pub json: Value,
    /// One self-contained page.
    pub html: String,
}

impl<'a> Report<'a> {
    /// A report about the releases in these directories.
    pub fn new<P: Into<PathBuf>>(releases: impl IntoIterator<Item = P>) -> Report<'a> {
        Report {
            releases: releases.into_iter().map(Into::into).collect(),
            policy: None,
            source: Source::Policy,
            people: None,
            ledger: None,
            publishable: false,
            queries: MeasureOptions::default(),
        }
    }

    /// The policy that a release was made from: adds what needs the private source.
    pub fn policy(mut self, policy: &'a Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Takes the private rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// The people to look for in the audit, as in [`Audit::people`].
    pub fn people(mut self, file: impl Into<PathBuf>) -> Self {
        self.people = Some(file.into());
        self
    }

    /// The ledger of the joint run that the release was found by, as
    /// [`crate::federation::ledger_lines`] writes it: adds what custodians opened to one another.
    pub fn ledger(mut self, file: impl Into<PathBuf>) -> Self {
        self.ledger = Some(file.into());
        self
    }

    /// Only what the released tables show: neither policy, people nor ledger are read.
    pub fn publishable(mut self, publishable: bool) -> Self {
        self.publishable = publishable;
        self
    }

    /// The queries by which releases are measured.
    pub fn queries(mut self, queries: MeasureOptions) -> Self {
        self.queries = queries;
        self
    }

    /// Makes the report.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml".as_ref())?;
    /// let published = hedgerow::publish(&policy, folder.path().join("release"))?;
    /// let report = hedgerow::Report::new([published.release]).policy(&policy);
    /// let reported = report.run(&hedgerow::Monitor::default())?;
    /// std::fs::write(folder.path().join("report.html"), reported.html)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(self, monitor: &Monitor<'_>) -> Result<Reported, Error> {
        let shown: Vec<PathBuf> = self.releases.iter().map(|path| PathBuf::from(source::shown(path))).collect();
        let names = short_names(&shown);
        let open = || {
            let opened = self.releases.iter().zip(&names);
            opened
                .map(|(path, name)| Ok(crate::open_with(path, monitor)?.named(name)))
                .collect::<Result<Vec<_>, Error>>()
        };
        let releases = open()?;
        let policy = self.policy.filter(|_| !self.publishable);
        let table = policy.map(|policy| self.source.read(policy, monitor)).transpose()?;
        let internal = policy.zip(table.as_deref());
        let mut parts = Vec::new();
        for (index, release) in releases.iter().enumerate() {
            let others: Vec<&Release> =
                releases.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other).collect();
            let mut part = from_release(release, &others)?;
            if let Some((policy, table)) = internal {
                match from_source(release, policy, table, &self.queries, monitor) {
                    Ok(found) => part.extend(found),
                    // Of several releases a policy has made one.
                    Err(Error::Input(_)) if releases.len() > 1 => {}
                    Err(error) => return Err(error),
                }
            }
            parts.push(part);
        }
        let people = self.people.as_deref().filter(|_| !self.publishable);
        let mut audit = Audit::new(open()?)?;
        if let Some(policy) = policy.filter(|_| people.is_some()) {
            audit = audit.policy(policy);
        }
        if let Some(people) = people {
            audit = audit.people(people, monitor)?;
        }
        let audited = audit.run()?;
        for (part, name) in parts.iter_mut().zip(&names) {
            let own = audited.findings.iter().filter(|finding| finding.releases == [name.as_str()]);
            part.insert("findings".to_owned(), value(&own.collect::<Vec<_>>())?);
        }
        let mut document = Map::new();
        document.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        document.insert("publishable".to_owned(), json!(self.publishable));
        document.insert("people_named".to_owned(), json!(audited.people_named));
        if self.publishable {
            document.insert("omitted".to_owned(), json!(OMITTED));
        }
        document.insert("releases".to_owned(), value(&parts)?);
        if let Some(ledger) = self.ledger.as_deref().filter(|_| !self.publishable) {
            document.insert("ledger".to_owned(), summed_up(ledger)?);
        }
        if releases.len() > 1 {
            document.extend(together(&releases, &audited)?);
        }
        document.insert("audit".to_owned(), value(&audited)?);
        let json = Value::Object(document);
        let html = hedgerow_report::page(&json);
        Ok(Reported { json, html })
    }
}

/// What a report for publication lacks.
const OMITTED: [&str; 8] = [
    "losses and their distribution over attributes",
    "distributions before and after",
    "loss by subgroup",
    "errors of count queries",
    "the journalist's risk",
    "the lattice, and why attributes were generalized and rows suppressed",
    "the audit of named people",
    "what custodians opened to one another in a joint run",
];

fn value(of: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(of).map_err(|error| Error::Internal(format!("internal error: a report is no JSON: {error}")))
}

/// The names of the directories, without what leads to them; the same name again gets a number.
fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let resolved = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let name =
            resolved.file_name().map_or_else(|| "release".to_owned(), |name| name.to_string_lossy().into_owned());
        let mut unique = name.clone();
        let mut number = 2;
        while names.contains(&unique) {
            unique = format!("{name} ({number})");
            number += 1;
        }
        names.push(unique);
    }
    names
}

/// What the released tables show by themselves.
fn from_release(release: &Release, others: &[&Release]) -> Result<Map<String, Value>, Error> {
    let mut part = Map::new();
    part.insert("name".to_owned(), json!(release.name()));
    part.insert("method".to_owned(), json!(release.method()));
    part.insert("digest".to_owned(), json!(release.digest()?));
    let Some(manifest) = release.manifest() else {
        part.insert("rows".to_owned(), json!({ "out": release.rows() }));
        part.insert("tables".to_owned(), value(&released_risk(release)?)?);
        part.insert("pairs".to_owned(), value(&contingencies(release)?)?);
        return Ok(part);
    };
    part.insert("rows".to_owned(), value(&manifest.hedgerow.rows)?);
    let mut columns = Vec::new();
    for resource in manifest.resources.iter().filter(|resource| resource.name != hedgerow_release::shape::CODEBOOK) {
        for field in &resource.schema.fields {
            columns.push(json!({
                "name": field.name, "type": field.kind, "role": field.role, "values": field.values, "file": resource.path,
            }));
        }
    }
    part.insert("columns".to_owned(), json!(columns));
    // Where the other releases are those that a guarantee was judged with, it is recomputed too.
    let alone = check(release)?;
    let checked = if alone.unchecked.is_empty() || others.is_empty() {
        alone
    } else {
        let combined = check_combined(release, others)?;
        if combined.contradictions.len() > alone.contradictions.len() { alone } else { combined }
    };
    part.insert("check".to_owned(), value(&checked)?);
    part.insert("tables".to_owned(), value(&released_risk(release)?)?);
    part.insert("pairs".to_owned(), value(&contingencies(release)?)?);
    part.insert("safe_harbor".to_owned(), value(&safe_harbor(release))?);
    Ok(part)
}

/// What needs the private source.
fn from_source(
    release: &Release,
    policy: &Policy,
    table: &Table,
    options: &MeasureOptions,
    monitor: &Monitor<'_>,
) -> Result<Map<String, Value>, Error> {
    refuse_other_method(release, policy)?;
    let bound = Bound::with_earlier(policy, table, read_earlier(policy, table, monitor)?)?;
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let quasi = bound.quasi.iter();
    let source = SourceTable {
        table,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: sensitive.map(|attribute| attribute.name.as_str()).collect(),
        k: bound.k(),
    };
    let measures = hedgerow_audit::measure(release, &source, options, monitor)?;
    let mut part = Map::new();
    part.insert("comparison".to_owned(), value(&compare(release, &source)?)?);
    if let Measures::Table(measures) = &measures {
        if let Some(queries) = &measures.queries {
            let steps = queries.percentiles.iter().zip(0u32..);
            let steps = steps.map(|(error, percent)| json!({ "error": error, "share": f64::from(percent) / 100.0 }));
            part.insert("query_error".to_owned(), steps.collect());
        }
        let levels: Option<Vec<u8>> = measures
            .attributes
            .iter()
            .map(|attribute| attribute.level.and_then(|level| u8::try_from(level).ok()))
            .collect();
        if let Some(levels) = levels.filter(|_| policy.publish.method == Method::FullDomain) {
            part.insert("why".to_owned(), value(&why(&bound, &levels)?)?);
            part.extend(lattice(&bound, &levels, monitor)?);
        }
    }
    let is_local = matches!(policy.publish.method, Method::Mondrian | Method::BestCut | Method::Cluster);
    if let Some(found) = is_local.then(|| undivided(&bound, release)).transpose()?.flatten() {
        part.insert("undivided".to_owned(), value(&found)?);
    }
    part.insert("measures".to_owned(), value(&measures)?);
    Ok(part)
}

fn refuse_other_method(release: &Release, policy: &Policy) -> Result<(), Error> {
    if release.manifest().is_none_or(|_| release.method() == policy.publish.method.name()) {
        return Ok(());
    }
    let problem =
        format!("the release was made by `{}`, the policy says `{}`", release.method(), policy.publish.method.name());
    Err(InputError::new(release.name(), problem, "name the policy that the release was made from").into())
}

/// The whole lattice, where it is small.
fn lattice(bound: &Bound<'_>, chosen: &[u8], monitor: &Monitor<'_>) -> Result<Map<String, Value>, Error> {
    let nodes = bound.quasi.iter().try_fold(1u64, |nodes, quasi| nodes.checked_mul(quasi.hierarchy.top() as u64 + 1));
    let small = nodes.filter(|&nodes| nodes <= NODES_MAX && nodes.saturating_mul(bound.table.rows as u64) <= WORK_MAX);
    if small.is_none() {
        return Ok(Map::new());
    }
    let found = explore(bound, monitor)?;
    let attributes = found.attributes.iter().map(|(name, top)| json!({ "name": name, "top": top }));
    let holding_of = |sum: usize| {
        let sums = found.holding.iter().map(|node| node.levels.iter().map(|&level| usize::from(level)).sum::<usize>());
        sums.filter(|&of_node| of_node == sum).count()
    };
    let tops: Vec<usize> = bound.quasi.iter().map(|quasi| quasi.hierarchy.top()).collect();
    let heights = nodes_by_sum(&tops).into_iter().enumerate().rev();
    let heights = heights.map(|(sum, nodes)| json!({ "levels": sum, "nodes": nodes, "holding": holding_of(sum) }));
    let lattice = json!({
        "attributes": attributes.collect::<Vec<_>>(),
        "nodes": found.nodes,
        "holding_count": found.holding.len(),
        "holding": found.holding.iter().map(|node| &node.levels).collect::<Vec<_>>(),
        "heights": heights.collect::<Vec<_>>(),
        "chosen": chosen,
    });
    Ok([("lattice".to_owned(), lattice)].into_iter().collect())
}

/// How many nodes have each sum of levels, from 0 on.
fn nodes_by_sum(tops: &[usize]) -> Vec<u64> {
    let mut counts = vec![1];
    for &top in tops {
        let mut more = vec![0; counts.len() + top];
        for (sum, count) in counts.iter().enumerate() {
            (0..=top).for_each(|level| more[sum + level] += count);
        }
        counts = more;
    }
    counts
}

/// What each release leaves alone, what all leave together, and how values are narrowed down.
fn together(releases: &[Release], audited: &hedgerow_audit::Audited) -> Result<Map<String, Value>, Error> {
    let mut alone = Vec::new();
    for finding in audited.findings.iter().filter(|finding| finding.adversary == "attribute") {
        let linker =
            audited.findings.iter().find(|other| other.adversary == "linker" && other.releases == finding.releases);
        alone.push(json!({
            "release": finding.releases.join(" + "),
            "protect": finding.protect,
            "effective_k": linker.and_then(|linker| linker.effective_k),
            "effective_l": finding.effective_l,
            "max_confidence": finding.max_confidence,
        }));
    }
    let combined =
        audited.findings.iter().filter(|finding| ["composition", "independence"].contains(&finding.adversary));
    let mut chains = Vec::new();
    for finding in audited.findings.iter().filter(|finding| finding.adversary == "composition") {
        chains.extend(narrowings(releases, finding)?);
    }
    let mut chains = value(&chains)?;
    for chain in chains.as_array_mut().into_iter().flatten() {
        let left = chain["left"].as_array().map_or(0, Vec::len);
        chain["left_count"] = json!(left);
        for step in chain["steps"].as_array_mut().into_iter().flatten() {
            step["values_count"] = json!(step["values"].as_array().map_or(0, Vec::len));
        }
    }
    let entries = [
        ("alone".to_owned(), json!(alone)),
        ("combined".to_owned(), value(&combined.collect::<Vec<_>>())?),
        ("narrowings".to_owned(), chains),
    ];
    Ok(entries.into_iter().collect())
}

/// Writes a report whole or not at all, next to its destination first.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source: std::io::Error| Error::Io { path: path.to_path_buf(), source };
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    std::fs::write(&partial, text).map_err(failed)?;
    std::fs::rename(&partial, path).map_err(failed)
}

impl Reported {
    /// Writes the page to a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_whole(path, &self.html)
    }
}
