//! The gate: a release is built next to its destination, verified from the very bytes that will be
//! published, and only then moved into place. A [`Verified`] can be made in no other way, and
//! nothing else can be placed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_release::manifest::{self, Manifest};
use hedgerow_release::metadata::Metadata;
use hedgerow_release::{Release, Within};
use hedgerow_table::whole::Partial;
use hedgerow_table::{InputError, Progress, Refusal, TableError};

use crate::check::{Checked, NamedRule};
use crate::kinds::judged;
use crate::stated;

/// A release under construction, in a directory of its own next to the destination. Removed when
/// dropped.
#[derive(Debug)]
pub struct Staged {
    partial: Partial,
    destination: PathBuf,
    overwrite: bool,
}

/// A release whose tables were read back and found to keep every rule.
#[derive(Debug)]
pub struct Verified {
    staged: Staged,
    release: Release,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Table(#[from] TableError),
    /// The tables do not keep a rule: never the user's fault.
    #[error("internal error: the release that was built breaks {0}; nothing was published (this is a bug in hedgerow)")]
    Breach(String),
}

impl Staged {
    /// Refuses a destination that exists, unless it may be overwritten and is a release (or empty).
    pub fn next_to(destination: &Path, overwrite: bool) -> Result<Staged, TableError> {
        let shown = destination.display().to_string();
        if destination.file_name().is_none() {
            let hint = "name a new directory";
            let error = InputError::new(format!("`{shown}`"), "not a name for a directory", hint);
            return Err(error.refusing(Refusal::NotADirectoryName).into());
        }
        let parent = match destination.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            let problem = format!("the directory {} does not exist", parent.display());
            return Err(TableError::input(shown, problem, "create it first, or name another directory"));
        }
        // First, since a killed run may have left an old release aside.
        let partial = Partial::folder(destination).map_err(|error| TableError::io(destination, error))?;
        refuse_existing(destination, overwrite)?;
        Ok(Staged { partial, destination: destination.to_path_buf(), overwrite })
    }

    /// Where the release is being built.
    pub fn path(&self) -> &Path {
        self.partial.path()
    }

    /// Reads the released tables back as `manifest` lists them, judges them by the rules that
    /// `rules` binds to them, and writes the manifest, completed by what they achieve and by what
    /// `describe` adds. Where `within` is present, tables that do not fit in memory are judged from
    /// the disk.
    pub fn verify(
        self,
        manifest: Manifest,
        rules: impl FnOnce(&Release) -> Vec<NamedRule>,
        describe: impl FnOnce(&mut Manifest, &Release),
        within: Option<Within<'_>>,
        progress: &dyn Progress,
    ) -> Result<(Verified, Checked), VerifyError> {
        let release = Release::with_manifest_within(self.path(), manifest, within, progress)?;
        let mut release = release.named("the new release");
        let tables = judged(&release);
        if let Some(contradiction) = release.contradictions().first() {
            return Err(VerifyError::Breach(format!("its own tables ({contradiction})")));
        }
        let mut rules = rules(&release);
        rules.iter_mut().for_each(|rule| state_released_values(rule, &release));
        let checked = tables.judge(&release, &rules)?;
        if let Some(broken) = checked.claims.iter().find(|claim| !claim.holds) {
            return Err(VerifyError::Breach(broken.model.clone()));
        }
        let mut manifest = release
            .manifest()
            .cloned()
            .ok_or_else(|| TableError::Internal("a release that was read with a manifest has none".to_owned()))?;
        manifest.hedgerow.guarantees.clone_from(&checked.claims);
        manifest.hedgerow.classes = checked.classes;
        stated::state(&mut manifest.hedgerow, &release, &checked);
        describe(&mut manifest, &release);
        let path = self.path().join(manifest::FILE_NAME);
        fs::write(&path, manifest.to_json()).map_err(|error| TableError::io(&path, error))?;
        release.set_manifest(manifest);
        Ok((Verified { staged: self, release }, checked))
    }
}

/// The manifest states how others spell the values that are released, and no other value of the
/// source.
fn state_released_values(rule: &mut NamedRule, release: &Release) {
    let Some(community) = rule.community.as_ref().filter(|community| !community.spelled.is_empty()) else { return };
    let domain = rule.protect.as_ref().and_then(|protect| release.domain(protect));
    let is_released = |text: &str| domain.is_some_and(|domain| domain.code_of(text).is_some());
    let released = community.spelled.iter().filter(|(_, ours)| is_released(ours)).cloned().collect();
    rule.community = Some(Arc::new((**community).clone().with_spelled(released)));
}

fn refuse_existing(destination: &Path, overwrite: bool) -> Result<(), TableError> {
    let shown = destination.display().to_string();
    let Ok(found) = fs::symlink_metadata(destination) else { return Ok(()) };
    if !overwrite {
        let hint = "name another directory, or allow that a release is replaced";
        return Err(InputError::new(shown, "exists already", hint).refusing(Refusal::ReleaseExists).into());
    }
    // Other programs write data packages too, and keep sources in them.
    let manifest = Manifest::read(destination).ok().filter(|_| found.is_dir());
    if let Some(foreign) = manifest.as_ref().and_then(|manifest| foreign_file(destination, Path::new(""), manifest)) {
        let problem = format!("holds `{}`, which is not a file of the release there", foreign.display());
        let hint = "replacing the release would delete it: move it elsewhere first, or name another directory";
        return Err(TableError::input(shown, problem, hint));
    }
    let is_release = manifest.is_some();
    let is_empty = || fs::read_dir(destination).is_ok_and(|mut entries| entries.next().is_none());
    if !found.is_dir() || !(is_release || is_empty()) {
        let hint = "only a release or an empty directory can be replaced; name another directory";
        let error = InputError::new(shown, "exists and is not a release", hint);
        return Err(error.refusing(Refusal::NotARelease).into());
    }
    Ok(())
}

/// Something below a release's directory that its manifest does not list, relative to it. Folders
/// count only by what they hold, unless nothing of the release lies in them.
fn foreign_file(root: &Path, below: &Path, manifest: &Manifest) -> Option<PathBuf> {
    // A table may be a folder of Parquet files.
    let is_part = |path: &Path| path.extension().is_some_and(|extension| extension == "parquet");
    let is_listed = |path: &Path| {
        let mut tables = manifest.resources.iter().map(|resource| Path::new(&resource.path));
        tables.any(|table| table == path || path.parent() == Some(table) && is_part(path))
    };
    let leads_to_listed =
        |path: &Path| manifest.resources.iter().any(|resource| Path::new(&resource.path).starts_with(path));
    for entry in fs::read_dir(root.join(below)).ok()?.flatten() {
        let path = below.join(entry.file_name());
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let foreign = if is_dir && leads_to_listed(&path) {
            foreign_file(root, &path, manifest)
        } else {
            let is_known = path == Path::new(manifest::FILE_NAME)
                || Metadata::ALL.iter().any(|kind| path == Path::new(kind.file_name()));
            (is_dir || !(is_listed(&path) || is_known)).then_some(path)
        };
        if foreign.is_some() {
            return foreign;
        }
    }
    None
}

impl Verified {
    /// Where the release waits to be moved into place.
    pub fn path(&self) -> &Path {
        self.staged.path()
    }

    /// Where the release will be.
    pub fn destination(&self) -> &Path {
        &self.staged.destination
    }

    /// The release as it was read back and judged.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// Writes further descriptions of the release, each made from its manifest alone.
    pub fn describe(&self, kinds: &[Metadata]) -> Result<(), TableError> {
        for kind in kinds {
            let manifest = self.release.manifest();
            let text = manifest.map(|manifest| kind.describe(manifest)).unwrap_or_default();
            let path = self.path().join(kind.file_name());
            fs::write(&path, text).map_err(|error| TableError::io(&path, error))?;
        }
        Ok(())
    }

    /// Flushes all files and moves the release into place, whole or not at all.
    pub fn place(self) -> Result<PathBuf, TableError> {
        let Staged { partial, destination, overwrite } = self.staged;
        if overwrite {
            // Something may have been put there while the release was made.
            refuse_existing(&destination, true)?;
        }
        let placed = if overwrite { partial.place() } else { partial.place_new() };
        placed.map_err(|error| TableError::io(&destination, error))?;
        Ok(destination)
    }
}
