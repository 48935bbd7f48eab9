//! The gate: a release is built next to its destination, verified from the very bytes that will be
//! published, and only then moved into place. A [`Verified`] can be made in no other way, and
//! nothing else can be placed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_release::manifest::{self, Manifest};
use hedgerow_release::metadata::Metadata;
use hedgerow_release::{Release, Within};
use hedgerow_table::{Progress, TableError};

use crate::check::{Checked, NamedRule};
use crate::kinds::judged;
use crate::leftovers;

/// A release under construction, in a directory of its own next to the destination. Removed when
/// dropped.
#[derive(Debug)]
pub struct Staged {
    directory: PathBuf,
    destination: PathBuf,
    /// Where a release that is replaced waits until the new one is in place.
    aside: PathBuf,
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
        let Some(name) = destination.file_name() else {
            let hint = "name a new directory";
            return Err(TableError::input(format!("`{shown}`"), "not a name for a directory", hint));
        };
        let parent = match destination.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            let problem = format!("the directory {} does not exist", parent.display());
            return Err(TableError::input(shown, problem, "create it first, or name another directory"));
        }
        leftovers::clear(parent, name);
        refuse_existing(destination, overwrite)?;
        let directory = parent.join(leftovers::name(name, leftovers::PARTIAL));
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(|error| TableError::io(&directory, error))?;
        }
        fs::create_dir(&directory).map_err(|error| TableError::io(&directory, error))?;
        let aside = parent.join(leftovers::name(name, leftovers::REPLACED));
        Ok(Staged { directory, destination: destination.to_path_buf(), aside, overwrite })
    }

    /// Where the release is being built.
    pub fn path(&self) -> &Path {
        &self.directory
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
        let release = Release::with_manifest_within(&self.directory, manifest, within, progress)?;
        let mut release = release.named("the new release");
        let tables = judged(&release);
        let contradictions = tables.contradictions(&release);
        if let Some(contradiction) = release.contradictions().iter().chain(&contradictions).next() {
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
        describe(&mut manifest, &release);
        let path = self.directory.join(manifest::FILE_NAME);
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
        return Err(TableError::input(shown, "exists already", hint));
    }
    // Other programs write data packages too, and keep sources in them.
    let manifest = Manifest::read(destination).ok().filter(|_| found.is_dir());
    if let Some(foreign) = manifest.as_ref().and_then(|manifest| foreign_file(destination, Path::new(""), manifest)) {
        let problem = format!("holds `{}`, which is no file of the release there", foreign.display());
        let hint = "replacing the release would delete it: move it elsewhere first, or name another directory";
        return Err(TableError::input(shown, problem, hint));
    }
    let is_release = manifest.is_some();
    let is_empty = || fs::read_dir(destination).is_ok_and(|mut entries| entries.next().is_none());
    if !found.is_dir() || !(is_release || is_empty()) {
        let hint = "only a release or an empty directory can be replaced; name another directory";
        return Err(TableError::input(shown, "exists and is not a release", hint));
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

impl Drop for Staged {
    fn drop(&mut self) {
        // Already moved into place, or never to be: either way nothing half-made stays behind.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl Verified {
    /// Where the release waits to be moved into place.
    pub fn path(&self) -> &Path {
        self.staged.path()
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
        let staged = &self.staged;
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| TableError::Io { path, source: error }
        };
        sync_all(&staged.directory)?;
        let destination = &staged.destination;
        // What is replaced moves aside first: a directory cannot be renamed onto one that holds
        // files.
        let aside = &staged.aside;
        let replacing = staged.overwrite && destination.exists();
        if replacing {
            // Something may have been put there while the release was made.
            refuse_existing(destination, true)?;
            fs::rename(destination, aside).map_err(failed(destination))?;
        }
        if let Err(error) = fs::rename(&staged.directory, destination) {
            if replacing {
                let _ = fs::rename(aside, destination);
            }
            return Err(failed(destination)(error));
        }
        if replacing {
            fs::remove_dir_all(aside).map_err(failed(aside))?;
        }
        if let Some(parent) = destination.parent() {
            // Best effort: some file systems do not let a directory be opened for syncing.
            let _ = sync(if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        }
        Ok(destination.clone())
    }
}

/// Everything in a directory, then the directory itself.
fn sync_all(directory: &Path) -> Result<(), TableError> {
    let failed = |error| TableError::io(directory, error);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            sync(&path).map_err(|error| TableError::io(&path, error))?;
        }
    }
    sync(directory).map_err(failed)
}

fn sync(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}
