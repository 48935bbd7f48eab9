//! The catalog: a folder of releases, the community's memory. Each release is copied into a folder
//! of its name; `catalog.json` keeps whose it is and its digest, in the order in which they were
//! added.

mod adding;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, AuditOptions, Audited, Columns, audit};
use hedgerow_draft::community;
use hedgerow_draft::error::PublishError;
use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_release::bucketized::GROUP;
use hedgerow_release::decomposed::SubTable;
use hedgerow_release::{Release, ReleaseTables, Spelling};
use hedgerow_table::whole::{Partial, leftovers};
use hedgerow_table::{InputError, NoProgress, Progress, Table, TableError};
use hedgerow_verify::release_check::broken_claims;
use hedgerow_verify::verified::Verified;
use serde::Serialize;
use serde_json::{Value, json};

use crate::exposed_classes;
use crate::phase::Phase;
use adding::{Alone, Begun};

pub use hedgerow_draft::gate::Gate;

pub const FILE_NAME: &str = "catalog.json";

/// No catalog lists more.
const BYTES_MAX: u64 = 16 << 20;
const NAME_MAX: usize = 100;

/// A release in a catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogEntry {
    /// Its name, unique in the catalog.
    pub name: String,
    /// The publisher; releases of one custodian are about the same people but for those who came
    /// and went.
    pub custodian: Option<String>,
    /// `sha256:` and 64 hexadecimal digits.
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    pub folder: PathBuf,
    pub entries: Vec<CatalogEntry>,
}

impl Catalog {
    /// The releases of a catalog. While one is being added, waits until it is; one that a killed
    /// process began to add does not count.
    pub fn load(folder: &Path) -> Result<Catalog, TableError> {
        match Catalog::once_settled(folder)? {
            Some(catalog) => Ok(catalog),
            None => Catalog::read(folder),
        }
    }

    /// As [`Catalog::load`]; where nothing is there yet, a catalog without releases.
    pub fn load_or_new(folder: &Path) -> Result<Catalog, TableError> {
        if let Some(catalog) = Catalog::once_settled(folder)? {
            return Ok(catalog);
        }
        let is_other = |name: std::ffi::OsString| name.to_str().is_none_or(|name| !adding::is_own(name));
        let is_empty = || {
            leftovers::clear_folder(folder);
            fs::read_dir(folder).is_ok_and(|entries| !entries.flatten().any(|entry| is_other(entry.file_name())))
        };
        if !folder.exists() || is_empty() {
            return Ok(Catalog { folder: folder.to_path_buf(), entries: Vec::new() });
        }
        Catalog::read(folder)
    }

    /// Where something is being added, or was when a process was killed: the list after that.
    fn once_settled(folder: &Path) -> Result<Option<Catalog>, TableError> {
        if !adding::is_begun(folder) {
            return Ok(None);
        }
        let Some(_alone) = Alone::within(folder, &NoProgress)? else { return Ok(None) };
        let settled = Catalog::settled(folder)?;
        Ok(folder.join(FILE_NAME).exists().then_some(settled))
    }

    /// The list, for a process that has the catalog alone; without one, a catalog without releases.
    /// An addition that a killed process began is undone.
    fn settled(folder: &Path) -> Result<Catalog, TableError> {
        let mut catalog = match folder.join(FILE_NAME).exists() {
            true => Catalog::read(folder)?,
            false => Catalog { folder: folder.to_path_buf(), entries: Vec::new() },
        };
        adding::settle(&mut catalog);
        Ok(catalog)
    }

    /// The list as it stands.
    fn read(folder: &Path) -> Result<Catalog, TableError> {
        let path = folder.join(FILE_NAME);
        let place = path.display().to_string();
        let size = fs::metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                TableError::input(place.clone(), "no catalog here", "`hedgerow catalog add DIR RELEASE` makes one")
            }
            _ => TableError::io(&path, error),
        })?;
        let refuse = |problem: String| TableError::input(place.clone(), problem, "add the releases to a new catalog");
        if size.len() > BYTES_MAX {
            return Err(refuse("too large for a catalog".to_owned()));
        }
        let bytes = fs::read(&path).map_err(|error| TableError::io(&path, error))?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| refuse(format!("not a catalog: {error}")))?;
        let entries = value["releases"].as_array().and_then(|list| list.iter().map(entry).collect::<Option<Vec<_>>>());
        let entries = entries.ok_or_else(|| refuse("not a catalog: it lists no releases".to_owned()))?;
        Ok(Catalog { folder: folder.to_path_buf(), entries })
    }

    /// Copies a release into the catalog, which is made when it is not there. A release that
    /// contradicts itself is refused.
    pub fn add(
        folder: &Path,
        release: &Path,
        name: Option<&str>,
        custodian: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<CatalogEntry, PublishError> {
        let shown = release.display().to_string();
        let opened = Release::open(release, progress)?;
        if let Some(problem) = opened.contradictions().iter().chain(&broken_claims(&opened)).next() {
            let hint = "the community should remember only releases that are what they say";
            return Err(InputError::new(shown, format!("the release contradicts itself: {problem}"), hint).into());
        }
        if !release.is_dir() {
            let hint = "put the table, its hierarchies and its release.toml into one directory, and add that";
            return Err(InputError::new(shown, "not a directory", hint).into());
        }
        let own = release.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let name = name.map(str::to_owned).or(own).unwrap_or_default();
        let entry = CatalogEntry { digest: opened.digest()?.to_owned(), custodian: custodian.map(str::to_owned), name };
        Catalog::alone(folder, progress, |catalog| {
            catalog.refuse_name(&entry.name)?;
            Ok(catalog.place(release, &entry, None, || Ok(()))?)
        })?;
        Ok(entry)
    }

    /// Changes a catalog that no other process changes meanwhile. Its folder is made where there is
    /// none, and removed again when the change fails.
    fn alone<T>(
        folder: &Path,
        progress: &dyn Progress,
        change: impl FnOnce(&mut Catalog) -> Result<T, PublishError>,
    ) -> Result<T, PublishError> {
        let (alone, is_new) = Alone::in_new(folder, progress)?;
        let outcome = Catalog::settled(folder).map_err(PublishError::from).and_then(|mut catalog| change(&mut catalog));
        if outcome.is_err() && is_new {
            // Only where it is empty: a catalog that another program made meanwhile stays.
            let _ = fs::remove_dir(folder);
        }
        drop(alone);
        outcome
    }

    /// Copies a release into the folder of the catalog and lists it, then does what goes with it;
    /// nothing stays of it where one of them fails. Everything is on the disk before anything is
    /// moved into place: a disk that is full is full before there is a change. `published` is where
    /// what goes with it will put the release.
    fn place<T>(
        &mut self,
        release: &Path,
        entry: &CatalogEntry,
        published: Option<&Path>,
        then: impl FnOnce() -> Result<T, TableError>,
    ) -> Result<T, TableError> {
        let (place, list) = (self.folder.join(&entry.name), self.folder.join(FILE_NAME));
        let (at_place, at_list) = (|error| TableError::io(&place, error), |error| TableError::io(&list, error));
        let copied = Partial::folder(&place).map_err(at_place)?;
        copy(release, copied.path())?;
        copied.flush().map_err(at_place)?;
        let listed = Partial::file(&list).map_err(at_list)?;
        let begun = Begun::new(self, entry, published);
        self.entries.push(entry.clone());
        fs::write(listed.path(), self.text()).and_then(|()| listed.flush()).map_err(at_list)?;
        begun.note(&self.folder)?;
        let moved = copied.place_new().map_err(at_place);
        let outcome = moved.and_then(|()| listed.place().map_err(at_list)).and_then(|()| then());
        match &outcome {
            Ok(_) => adding::complete(&self.folder),
            // What was moved is undone as it is after a kill.
            Err(_) => drop(Catalog::settled(&self.folder)),
        }
        outcome
    }

    pub fn entry(&self, name: &str) -> Result<&CatalogEntry, TableError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
            let hint = format!("it has: {}", names.join(", "));
            TableError::input(self.folder.display().to_string(), format!("the catalog has no release `{name}`"), hint)
        })
    }

    /// The name of the directory where a release will be, with a number where that is taken.
    fn free_name(&self, release: &Path) -> String {
        let own = release.file_name().and_then(|name| Some(name.to_str()?.to_owned()));
        let own = own.unwrap_or_else(|| "release".to_owned());
        // The release itself may go into the folder of the catalog.
        let parent = release.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        let folder = |path: &Path| path.canonicalize().ok();
        let is_here = parent.and_then(folder).is_some_and(|parent| Some(parent) == folder(&self.folder));
        let is_free = |name: &String| self.refuse_name(name).is_ok() && !(is_here && *name == own);
        let numbered = (2u32..).take(1 << 16).map(|number| format!("{own}-{number}"));
        std::iter::once(own.clone()).chain(numbered).find(is_free).unwrap_or(own)
    }

    pub fn path(&self, entry: &CatalogEntry) -> PathBuf {
        self.folder.join(&entry.name)
    }

    fn refuse_name(&self, name: &str) -> Result<(), InputError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let place = self.folder.display().to_string();
        if name.is_empty() || name.len() > NAME_MAX || name.starts_with('.') || !name.chars().all(plain) {
            let hint = "name it with letters, digits, `-`, `_` and `.`, for example hospital-2026";
            return Err(InputError::new(place, format!("`{name}` cannot be the name of a folder here"), hint));
        }
        if name == FILE_NAME || self.entries.iter().any(|entry| entry.name == name) || self.folder.join(name).exists() {
            return Err(InputError::new(place, format!("the catalog has `{name}` already"), "choose another name"));
        }
        Ok(())
    }

    /// The file that lists the releases.
    fn text(&self) -> String {
        let entries: Vec<Value> = self
            .entries
            .iter()
            .map(|entry| json!({ "name": entry.name, "custodian": entry.custodian, "digest": entry.digest }))
            .collect();
        format!("{:#}\n", json!({ "releases": entries }))
    }
}

fn entry(value: &Value) -> Option<CatalogEntry> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let name = text("name").filter(|name| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.'))?;
    Some(CatalogEntry { name, custodian: text("custodian"), digest: text("digest")? })
}

/// Files and folders, no links: what a release is made of. Whichever of two files failed is named.
fn copy(from: &Path, to: &Path) -> Result<(), TableError> {
    for found in fs::read_dir(from).map_err(|error| TableError::io(from, error))? {
        let found = found.map_err(|error| TableError::io(from, error))?;
        let (source, target) = (found.path(), to.join(found.file_name()));
        let kind = found.file_type().map_err(|error| TableError::io(&source, error))?;
        if kind.is_dir() {
            fs::create_dir(&target).map_err(|error| TableError::io(&target, error))?;
            copy(&source, &target)?;
        } else if kind.is_file() {
            let mut from = fs::File::open(&source).map_err(|error| TableError::io(&source, error))?;
            let failed = |error| TableError::io(&target, error);
            let mut to = fs::File::create_new(&target).map_err(failed)?;
            std::io::copy(&mut from, &mut to).map_err(failed)?;
        }
    }
    Ok(())
}

/// The result of the audit with the releases of a catalog or a community: no breach, or there would
/// be no release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CatalogAudit {
    /// The names of the releases that the new one was combined with.
    pub releases: Vec<String>,
    /// The source's columns by which the adversary knows the people.
    pub known: Vec<String>,
    /// The finding of each adversary.
    #[serde(rename = "adversaries")]
    pub findings: Vec<Finding>,
    /// The name of the new release in the catalog, unless it was not added.
    pub added: Option<String>,
    /// Whether a catalog was named; else the releases are those of the policy's community.
    #[serde(skip)]
    pub by_catalog: bool,
}

impl CatalogAudit {
    /// A warning where it was not decided that the findings say all that can be learned.
    pub(crate) fn undecided(&self, policy: &Policy) -> Option<InputError> {
        let is_open = |finding: &&Finding| {
            finding.details.get("exact") == Some(&Value::Bool(false)) && !finding.details.contains_key("lacking")
        };
        let open: Vec<&Finding> = self.findings.iter().filter(is_open).collect();
        let finding = open.first()?;
        let why = finding.notes.iter().find(|note| note.text.contains("fewer values may be possible"));
        let why = why.map_or_else(String::new, |note| format!(": {}", note.text));
        let mut names: Vec<String> = open.iter().filter_map(|finding| finding.protect.clone()).collect();
        names.dedup();
        let problem = format!("the audit did not decide everything about `{}`{why}", names.join("`, `"));
        let hint =
            "an attacker may be certain of more: omit what other releases also show, or publish it in less detail";
        let warning = InputError::new(policy.path.display().to_string(), problem, hint);
        Some(warning.about("undecided", names, None))
    }

    /// A warning where other releases use columns that the source lacks, and who knows them may
    /// rule out more.
    pub(crate) fn lacking(&self, policy: &Policy) -> Option<InputError> {
        let lacking = |finding: &Finding| finding.details.get("lacking").filter(|of| of["all"] == false).cloned();
        let found: Vec<Value> = self.findings.iter().filter_map(lacking).collect();
        let mut columns: Vec<String> = Vec::new();
        let texts = found.iter().filter_map(|of| of["columns"].as_array()).flatten().filter_map(|name| name.as_str());
        for name in texts {
            if !columns.iter().any(|known| known == name) {
                columns.push(name.to_owned());
            }
        }
        if columns.is_empty() {
            return None;
        }
        let names = columns.join("`, `");
        let problem = format!(
            "other releases use `{names}`, which the source lacks: the audit knows the class of one person at a time, \
             and an attacker who knows `{names}` of everyone may be certain of more"
        );
        let hint = format!("publish from a source that has `{names}`");
        let warning = InputError::new(policy.path.display().to_string(), problem, hint);
        Some(warning.about("lacking", columns, None))
    }
}

/// The releases of a gate's catalog and of the policy's community, opened once. Without either
/// there are none.
#[derive(Debug, Default)]
pub(crate) struct OpenedCatalog {
    others: Vec<(Release, Option<CatalogEntry>)>,
}

impl OpenedCatalog {
    pub(crate) fn open(gate: &Gate, policy: &Policy, progress: &dyn Progress) -> Result<OpenedCatalog, PublishError> {
        let mut others: Vec<(Release, Option<CatalogEntry>)> = Vec::new();
        if let Some(folder) = &gate.catalog {
            let catalog = Catalog::load_or_new(folder)?;
            for entry in &catalog.entries {
                let release = Release::open(&catalog.path(entry), progress)?.named(&entry.name);
                // A custodian spells its own releases as it spells the new one.
                let own = gate.custodian.is_some() && gate.custodian == entry.custodian;
                let spelling = if own { Spelling::default() } else { policy.community.spelling() };
                others.push((release.spelled(spelling), Some(entry.clone())));
            }
        }
        if community::is_judged(policy) {
            for path in community::releases(policy)? {
                let release = Release::open(&path, progress)?;
                let digest = release.digest()?;
                let is_there = |(_, entry): &(Release, Option<CatalogEntry>)| {
                    entry.as_ref().is_some_and(|entry| entry.digest == digest)
                };
                if !others.iter().any(is_there) {
                    others.push((release.spelled(policy.community.spelling()), None));
                }
            }
        }
        Ok(OpenedCatalog { others })
    }

    /// Whether a new release is audited with others.
    pub(crate) fn is_gated(&self, gate: &Gate) -> bool {
        gate.catalog.is_some() || !self.others.is_empty()
    }

    /// The columns by which these releases describe people, and those that they show beside them. A
    /// source that has them is read with them, whatever the policy says of them: the adversary may
    /// know the ones, and the others tell which rows of several releases are a person's.
    pub(crate) fn known_columns(&self) -> Result<HashSet<String>, PublishError> {
        let mut names = HashSet::new();
        for (release, _) in &self.others {
            names.extend(columns_of(release)?);
        }
        Ok(names)
    }

    /// Moves a verified release into place, after an audit of it combined with everything in the
    /// catalog and the community, and adds it to the catalog. Every row of the source is a person:
    /// where rows are not in memory, a catalog or a community was refused before the search.
    pub(crate) fn place(
        &self,
        verified: Verified,
        policy: &Policy,
        people: Option<&Table>,
        gate: &Gate,
        progress: &dyn Progress,
    ) -> Result<(PathBuf, Option<CatalogAudit>), PublishError> {
        if !self.is_gated(gate) {
            return Ok((verified.place()?, None));
        }
        let Some(people) = people else {
            let problem = "internal error: a release was to be audited with others without its rows";
            return Err(PublishError::Internal(problem.to_owned()));
        };
        let phase = Phase::new(progress, "auditing");
        let mut audited = self.audit(gate, verified.release(), policy, people, &phase)?;
        phase.finish();
        progress.check()?;
        let Some(folder) = &gate.catalog else { return Ok((verified.place()?, Some(audited))) };
        if gate.no_add {
            self.refuse_changed(&Catalog::load_or_new(folder)?)?;
            return Ok((verified.place()?, Some(audited)));
        }
        // A folder with other contents does not become a catalog.
        Catalog::load_or_new(folder)?;
        let (custodian, digest) = (gate.custodian.clone(), verified.release().digest()?.to_owned());
        let (built, destination) = (verified.path().to_path_buf(), verified.destination().to_path_buf());
        let (release, name) = Catalog::alone(folder, progress, |catalog| {
            self.refuse_changed(catalog)?;
            let entry = CatalogEntry { name: catalog.free_name(&destination), custodian, digest };
            catalog.refuse_name(&entry.name)?;
            let mut is_listed = false;
            let placed = catalog.place(&built, &entry, Some(&destination), || {
                is_listed = true;
                verified.place()
            });
            Ok((placed.map_err(|error| if is_listed { error } else { unlisted(error) })?, entry.name))
        })?;
        audited.added = Some(name);
        Ok((release, Some(audited)))
    }

    /// All that the catalog lists was audited.
    fn refuse_changed(&self, catalog: &Catalog) -> Result<(), InputError> {
        if catalog.entries.iter().eq(self.others.iter().filter_map(|(_, entry)| entry.as_ref())) {
            return Ok(());
        }
        let problem = "the catalog changed while the release was made: not all of it was audited";
        Err(InputError::new(catalog.folder.display().to_string(), problem, "publish again"))
    }

    /// The audit that any reader can run once the release is out: every certain adversary over all
    /// releases.
    fn audit(
        &self,
        gate: &Gate,
        new: &Release,
        policy: &Policy,
        people: &Table,
        progress: &dyn Progress,
    ) -> Result<CatalogAudit, PublishError> {
        let releases: Vec<&Release> = self.others.iter().map(|(other, _)| other).chain([new]).collect();
        let custodians = self.others.iter().map(|(_, entry)| entry.as_ref()?.custodian.as_deref());
        let custodians: Vec<Option<&str>> = custodians.chain([gate.custodian.as_deref()]).collect();
        let options =
            AuditOptions { certain_only: true, progress, ..as_the_gate(Some(policy), &custodians, Some(people)) };
        let findings = refuse_breach(audit(&releases, &options)?, new.name())?;
        let mut known: Vec<String> = Vec::new();
        for release in releases {
            let quasi = release.classes()?.iter().flat_map(|table| &table.quasi).map(|quasi| &quasi.name);
            for name in quasi.filter(|name| people.column(name).is_some()) {
                if !known.contains(name) {
                    known.push(name.clone());
                }
            }
        }
        let releases = self.others.iter().map(|(release, _)| release.name().to_owned()).collect();
        Ok(CatalogAudit { releases, known, findings, added: None, by_catalog: gate.catalog.is_some() })
    }
}

/// The columns of a release, by class, row or bucket; without those that it numbers itself.
fn columns_of(release: &Release) -> Result<Vec<String>, TableError> {
    let mut names: Vec<String> = Vec::new();
    for table in release.classes()? {
        names.extend(table.quasi.iter().map(|quasi| quasi.name.clone()));
        names.extend(table.sensitive.iter().map(|sensitive| sensitive.name.clone()));
    }
    match release.tables() {
        ReleaseTables::Generalized(tables) => {
            let columns = tables.table.columns.iter().map(|column| &column.name);
            names.extend(columns.filter(|name| !tables.units.contains(name)).cloned());
        }
        ReleaseTables::Bucketized(tables) => {
            let columns = tables.quasi.columns.iter().map(|column| &column.name);
            names.extend(columns.filter(|name| *name != GROUP).cloned());
        }
        ReleaseTables::Decomposed(tables) => {
            names.extend(tables.tables.iter().flat_map(SubTable::attributes).map(str::to_owned));
        }
        ReleaseTables::Cloned(_) => {}
    }
    Ok(names)
}

/// A release that the catalog cannot list is not published: the next one would not be audited with
/// it.
fn unlisted(error: TableError) -> TableError {
    match error {
        TableError::Io { path, source } => {
            let problem = format!("{source}; nothing was published, since the catalog could not list the release");
            TableError::Io { path, source: std::io::Error::new(source.kind(), problem) }
        }
        other => other,
    }
}

/// The part that the gate shares with an audit of a catalog, and that decides their verdict: each
/// row of the people's table is a person who is known by all columns that any release uses, also by
/// those that the table lacks; releases of one custodian are compared; no fewer values may be left
/// than the policy requires.
pub fn as_the_gate<'a>(
    policy: Option<&Policy>,
    custodians: &[Option<&str>],
    people: Option<&'a Table>,
) -> AuditOptions<'a> {
    AuditOptions {
        people,
        own: own_releases(custodians),
        columns: Columns::All,
        required: policy.map_or_else(Vec::new, values_required),
        joint: policy.map_or_else(Vec::new, |policy| policy.community.joint.clone()),
        ..AuditOptions::default()
    }
}

/// Releases of one custodian that are compared by difference, by the custodian of each: each with
/// the one before it, and the last with every one.
fn own_releases(custodians: &[Option<&str>]) -> Vec<Vec<usize>> {
    let Some(last) = custodians.len().checked_sub(1) else { return Vec::new() };
    let is_own = |one: usize, other: usize| custodians[one].is_some() && custodians[one] == custodians[other];
    let before =
        |later: usize| (0..later).rev().find(|&earlier| is_own(earlier, later)).map(|earlier| vec![earlier, later]);
    let with_last = (0..last).filter(|&earlier| is_own(earlier, last)).map(|earlier| vec![earlier, last]);
    (0..last).filter_map(before).chain(with_last).collect()
}

/// The findings of the adversaries, unless they are a breach.
fn refuse_breach(mut audited: Audited, newest: &str) -> Result<Vec<Finding>, PublishError> {
    // Composition first: it names the cells of all releases.
    audited.findings.sort_by_key(|finding| finding.adversary != Adversary::Composition);
    if !audited.findings.iter().any(|finding| finding.breach) {
        return Ok(audited.findings);
    }
    audited.findings.retain(|finding| finding.breach);
    audited.breach = true;
    // Both rule out the same values; one of them is enough to read.
    let is_composed = audited.findings.iter().any(|finding| finding.adversary == Adversary::Composition);
    audited.findings.retain(|finding| !is_composed || finding.adversary != Adversary::Independence);
    let without_new = |finding: &Finding| finding.releases.iter().all(|name| !name.starts_with(newest));
    let by_new = !audited.findings.iter().any(without_new);
    let hint = match by_new {
        true => exposed_classes::hint(&audited.findings, newest),
        false => "what is published already exposes people, without this release; nothing was written".to_owned(),
    };
    Err(PublishError::Audit { audited: Box::new(audited), hint, by_new })
}

/// By protected attribute, the most values that some rule requires, where that is more than two.
fn values_required(policy: &Policy) -> Vec<(String, u64)> {
    let mut required: Vec<(String, u64)> = Vec::new();
    for rule in &policy.rules {
        let Some(protect) = &rule.protect else { continue };
        let own = rule.require.iter().map(|model| match model {
            Model::DistinctLDiversity { l } | Model::CrossReleaseLDiversity { l } => *l,
            Model::RecursiveLDiversity { l, .. } => *l,
            Model::FrequencyLDiversity { l } | Model::EntropyLDiversity { l } => {
                l.numerator.div_ceil(l.denominator.max(1))
            }
            _ => 2,
        });
        required.extend(own.filter(|l| *l > 2).map(|l| (protect.clone(), l)));
    }
    required
}
