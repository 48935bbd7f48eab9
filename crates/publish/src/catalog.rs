//! The catalog: a folder of releases, the community's memory. Each release is copied into a folder
//! of its name; `catalog.json` keeps whose it is and its digest, in the order in which they were
//! added.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_release::{Release, ReleasedClasses, Spelling};
use hedgerow_table::{InputError, Progress, Table, TableError};
use hedgerow_verify::release_check::broken_claims;
use hedgerow_verify::verified::Verified;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::PublishError;
use crate::phase::Phase;

pub const FILE_NAME: &str = "catalog.json";

/// No catalog lists more.
const BYTES_MAX: u64 = 16 << 20;
const NAME_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub name: String,
    /// Who published it; releases of one custodian are about the same people but for those who came
    /// and went.
    pub custodian: Option<String>,
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    pub folder: PathBuf,
    pub entries: Vec<Entry>,
}

impl Catalog {
    pub fn load(folder: &Path) -> Result<Catalog, TableError> {
        let path = folder.join(FILE_NAME);
        let place = path.display().to_string();
        let size = fs::metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                TableError::input(place.clone(), "no catalog here", "`hedgerow catalog add` makes one")
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
    ) -> Result<Entry, PublishError> {
        let mut catalog = if folder.join(FILE_NAME).exists() {
            Catalog::load(folder)?
        } else {
            fs::create_dir_all(folder).map_err(|error| TableError::io(folder, error))?;
            Catalog { folder: folder.to_path_buf(), entries: Vec::new() }
        };
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
        catalog.refuse_name(&name)?;
        let entry = Entry { digest: opened.digest()?.to_owned(), custodian: custodian.map(str::to_owned), name };
        let partial = folder.join(format!(".{}.partial", entry.name));
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(|error| TableError::io(&partial, error))?;
        }
        copy(release, &partial)?;
        let place = folder.join(&entry.name);
        fs::rename(&partial, &place).map_err(|error| TableError::io(&place, error))?;
        catalog.entries.push(entry.clone());
        catalog.save()?;
        Ok(entry)
    }

    pub fn entry(&self, name: &str) -> Result<&Entry, TableError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
            let hint = format!("it has: {}", names.join(", "));
            TableError::input(self.folder.display().to_string(), format!("there is no release `{name}`"), hint)
        })
    }

    /// The name of a release's directory, with a number where that is taken.
    fn free_name(&self, release: &Path) -> String {
        let own = release.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let own = own.unwrap_or_else(|| "release".to_owned());
        let is_free = |name: &String| self.refuse_name(name).is_ok();
        let numbered = (2u32..).take(1 << 16).map(|number| format!("{own}-{number}"));
        std::iter::once(own.clone()).chain(numbered).find(is_free).unwrap_or(own)
    }

    pub fn path(&self, entry: &Entry) -> PathBuf {
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
            return Err(InputError::new(place, format!("`{name}` is there already"), "give another name"));
        }
        Ok(())
    }

    fn save(&self) -> Result<(), TableError> {
        let entries: Vec<Value> = self
            .entries
            .iter()
            .map(|entry| json!({ "name": entry.name, "custodian": entry.custodian, "digest": entry.digest }))
            .collect();
        let text = format!("{:#}\n", json!({ "releases": entries }));
        let (partial, path) = (self.folder.join(".catalog.json.partial"), self.folder.join(FILE_NAME));
        fs::write(&partial, text).map_err(|error| TableError::io(&partial, error))?;
        fs::rename(&partial, &path).map_err(|error| TableError::io(&path, error))
    }
}

fn entry(value: &Value) -> Option<Entry> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let name = text("name").filter(|name| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.'))?;
    Some(Entry { name, custodian: text("custodian"), digest: text("digest")? })
}

/// Files and folders, no links: what a release is made of.
fn copy(from: &Path, to: &Path) -> Result<(), TableError> {
    fs::create_dir(to).map_err(|error| TableError::io(to, error))?;
    for found in fs::read_dir(from).map_err(|error| TableError::io(from, error))? {
        let found = found.map_err(|error| TableError::io(from, error))?;
        let (source, target) = (found.path(), to.join(found.file_name()));
        let kind = found.file_type().map_err(|error| TableError::io(&source, error))?;
        if kind.is_dir() {
            copy(&source, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target).map_err(|error| TableError::io(&source, error))?;
        }
    }
    Ok(())
}

/// The catalog that a new release is audited with before it is placed.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    pub catalog: Option<PathBuf>,
    /// Who publishes; earlier releases of the same custodian are compared by difference too.
    pub custodian: Option<String>,
    /// Leaves the catalog as it is: the new release is audited and not added.
    pub no_add: bool,
}

/// What the audit with a catalog's releases found: no breach, or there would be no release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CatalogAudit {
    /// The names of the catalog's releases that the new one was combined with.
    pub releases: Vec<String>,
    /// The source's columns by which the adversary knows the people.
    pub known: Vec<String>,
    #[serde(rename = "adversaries")]
    pub findings: Vec<Finding>,
    /// The name of the new release in the catalog, unless it was not added.
    pub added: Option<String>,
}

/// The releases of a gate's catalog, opened once. Without a catalog there are none.
#[derive(Debug, Default)]
pub(crate) struct OpenedCatalog {
    others: Vec<(Release, Entry)>,
}

impl OpenedCatalog {
    pub(crate) fn open(gate: &Gate, policy: &Policy, progress: &dyn Progress) -> Result<OpenedCatalog, PublishError> {
        let mut others = Vec::new();
        if let Some(folder) = &gate.catalog {
            let catalog = Catalog::load(folder)?;
            for entry in &catalog.entries {
                let release = Release::open(&catalog.path(entry), progress)?.named(&entry.name);
                // A custodian spells its own releases as it spells the new one.
                let own = gate.custodian.is_some() && gate.custodian == entry.custodian;
                let spelling = if own { Spelling::default() } else { policy.community.spelling() };
                others.push((release.spelled(spelling), entry.clone()));
            }
        }
        Ok(OpenedCatalog { others })
    }

    /// The columns by which these releases describe people. A source that has them is read with
    /// them, whatever the policy says of them: the adversary may know all.
    pub(crate) fn known_columns(&self) -> Result<HashSet<String>, PublishError> {
        let mut names = HashSet::new();
        for (release, _) in &self.others {
            names.extend(release.classes()?.iter().flat_map(|table| &table.quasi).map(|quasi| quasi.name.clone()));
        }
        Ok(names)
    }

    /// Moves a verified release into place, after an audit of it combined with everything in the
    /// catalog, and adds it there. Every row of the source is a person.
    pub(crate) fn place(
        &self,
        verified: Verified,
        policy: &Policy,
        people: &Table,
        gate: &Gate,
        progress: &dyn Progress,
    ) -> Result<(PathBuf, Option<CatalogAudit>), PublishError> {
        let Some(folder) = &gate.catalog else { return Ok((verified.place()?, None)) };
        let phase = Phase::new(progress, "auditing");
        let mut audited = self.audit(gate, verified.release(), policy, people, &phase)?;
        phase.finish();
        progress.check()?;
        let catalog = Catalog::load(folder)?;
        if catalog.entries.iter().ne(self.others.iter().map(|(_, entry)| entry)) {
            let problem = "the catalog changed while the release was made: not all of it was audited";
            return Err(InputError::new(folder.display().to_string(), problem, "publish again").into());
        }
        let release = verified.place()?;
        if !gate.no_add {
            let name = catalog.free_name(&release);
            let entry = Catalog::add(folder, &release, Some(&name), gate.custodian.as_deref(), progress)?;
            audited.added = Some(entry.name);
        }
        Ok((release, Some(audited)))
    }

    /// The audit that anybody can run once the release is out: every certain adversary, over all
    /// releases that describe people by columns of the source. Releases that do not are combined
    /// with the new one cell by cell.
    fn audit(
        &self,
        gate: &Gate,
        new: &Release,
        policy: &Policy,
        people: &Table,
        progress: &dyn Progress,
    ) -> Result<CatalogAudit, PublishError> {
        let others = self
            .others
            .iter()
            .map(|(other, entry)| Cataloged { release: other, custodian: entry.custodian.as_deref() });
        let new = Cataloged { release: new, custodian: gate.custodian.as_deref() };
        let all: Vec<Cataloged<'_>> = others.chain([new]).collect();
        let mut findings = Vec::new();
        let (mut known, mut unknown): (Vec<Cataloged<'_>>, Vec<Cataloged<'_>>) = (Vec::new(), Vec::new());
        for one in &all {
            if one.is_known_by(people)? { known.push(*one) } else { unknown.push(*one) }
        }
        if !known.is_empty() {
            findings.extend(refuse_breach(&known, policy, Some(people))?);
        }
        for other in &unknown {
            progress.check()?;
            let pair = if std::ptr::eq(other.release, new.release) { vec![new] } else { vec![*other, new] };
            findings.extend(refuse_breach(&pair, policy, None)?);
        }
        if !unknown.is_empty() && all.len() > 2 {
            progress.check()?;
            findings.extend(refuse_breach(&all, policy, None)?);
        }
        let mut columns: Vec<String> = Vec::new();
        for one in &all {
            let quasi = one.release.classes()?.iter().flat_map(|table| &table.quasi).map(|quasi| &quasi.name);
            for name in quasi.filter(|name| people.column(name).is_some()) {
                if !columns.contains(name) {
                    columns.push(name.clone());
                }
            }
        }
        let releases = self.others.iter().map(|(_, entry)| entry.name.clone()).collect();
        Ok(CatalogAudit { releases, known: columns, findings, added: None })
    }
}

/// A release that the new one is audited with, or the new one.
#[derive(Debug, Clone, Copy)]
struct Cataloged<'a> {
    release: &'a Release,
    custodian: Option<&'a str>,
}

impl Cataloged<'_> {
    /// Others may describe people by nothing that this custodian has: then every combination of
    /// cells counts that somebody could be in.
    fn is_known_by(&self, people: &Table) -> Result<bool, TableError> {
        let is_known = |table: &ReleasedClasses| {
            table.quasi.is_empty() || table.quasi.iter().any(|quasi| people.column(&quasi.name).is_some())
        };
        Ok(self.release.classes()?.iter().all(is_known))
    }
}

/// Releases of one custodian that are compared by difference: each with the one before it, and the
/// last with every one.
fn own_releases(releases: &[Cataloged<'_>]) -> Vec<Vec<usize>> {
    let Some(last) = releases.len().checked_sub(1) else { return Vec::new() };
    let is_own = |one: usize, other: usize| {
        releases[one].custodian.is_some() && releases[one].custodian == releases[other].custodian
    };
    let before =
        |later: usize| (0..later).rev().find(|&earlier| is_own(earlier, later)).map(|earlier| vec![earlier, later]);
    let with_last = (0..last).filter(|&earlier| is_own(earlier, last)).map(|earlier| vec![earlier, last]);
    (0..last).filter_map(before).chain(with_last).collect()
}

/// What the adversaries find, unless it is a breach or fewer values than the policy requires for
/// somebody.
fn refuse_breach(
    releases: &[Cataloged<'_>],
    policy: &Policy,
    people: Option<&Table>,
) -> Result<Vec<Finding>, PublishError> {
    let options = AuditOptions { people, certain_only: true, own: own_releases(releases), ..AuditOptions::default() };
    let opened: Vec<&Release> = releases.iter().map(|one| one.release).collect();
    let mut audited = audit(&opened, &options)?;
    let breaks = |finding: &Finding| {
        let required = finding.protect.as_ref().map_or(2, |protect| values_required(policy, protect));
        let few = |least: Option<u64>| least.is_some_and(|least| least < required);
        let pair = finding.worst_pair.as_ref().and_then(|pair| pair.effective_l);
        few(finding.effective_l) || few(pair)
    };
    // Composition first: it names the cells of all releases.
    audited.findings.sort_by_key(|finding| finding.adversary != "composition");
    if !audited.findings.iter().any(breaks) {
        return Ok(audited.findings);
    }
    audited.findings.retain(breaks);
    // Both rule out the same values; one of them is enough to read.
    let is_composed = audited.findings.iter().any(|finding| finding.adversary == "composition");
    audited.findings.retain(|finding| !is_composed || finding.adversary != "independence");
    audited.findings.iter_mut().for_each(|finding| finding.breach = true);
    let newest = releases.last().map(|one| one.release.name());
    let without_new =
        |finding: &Finding| finding.releases.iter().all(|name| newest.is_none_or(|new| !name.starts_with(new)));
    let hint = match audited.findings.iter().all(without_new) {
        true => "what the catalog holds exposes people already, without this release; nothing was written",
        false => "require more with cross-release-l-diversity and [community], or publish less; nothing was written",
    };
    Err(PublishError::Audit { audited: Box::new(audited), hint })
}

/// The most values of a protected attribute that some rule requires; at least two.
fn values_required(policy: &Policy, protect: &str) -> u64 {
    let rules = policy.rules.iter().filter(|rule| rule.protect.as_deref() == Some(protect));
    let required = rules.flat_map(|rule| &rule.require).map(|model| match model {
        Model::DistinctLDiversity { l } | Model::CrossReleaseLDiversity { l } => *l,
        Model::RecursiveLDiversity { l, .. } => *l,
        Model::FrequencyLDiversity { l } | Model::EntropyLDiversity { l } => l.numerator.div_ceil(l.denominator.max(1)),
        _ => 2,
    });
    required.max().unwrap_or(2).max(2)
}
