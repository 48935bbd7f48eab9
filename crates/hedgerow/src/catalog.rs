//! The catalog: the community's memory of published releases.

use std::path::{Path, PathBuf};

use crate::{Error, Monitor, Release, source};
use hedgerow_publish::catalog;

pub use hedgerow_publish::catalog::CatalogEntry;

/// A folder of published releases, each with its custodian and its digest, in the order in which
/// they were added.
#[derive(Debug, Clone)]
pub struct Catalog {
    inner: catalog::Catalog,
}

impl Catalog {
    /// Reads the catalog in a folder.
    pub fn load(folder: impl AsRef<Path>) -> Result<Catalog, Error> {
        Ok(Catalog { inner: catalog::Catalog::load(folder.as_ref())? })
    }

    /// Copies a release into a catalog, which is made when it does not exist. A release that
    /// contradicts itself is refused. [`AddToCatalog`] has options.
    pub fn add(folder: impl AsRef<Path>, release: impl AsRef<Path>) -> Result<CatalogEntry, Error> {
        AddToCatalog::new(folder, release).run()
    }

    /// The releases, oldest first.
    pub fn entries(&self) -> &[CatalogEntry] {
        &self.inner.entries
    }

    /// The release of this name.
    pub fn entry(&self, name: &str) -> Result<&CatalogEntry, Error> {
        Ok(self.inner.entry(name)?)
    }

    /// Where a release lies.
    pub fn path(&self, entry: &CatalogEntry) -> PathBuf {
        self.inner.path(entry)
    }

    /// Opens a release, and says whether its files are still those that were added.
    pub fn open(&self, entry: &CatalogEntry) -> Result<(Release, bool), Error> {
        self.open_with(entry, &Monitor::default())
    }

    /// As [`Catalog::open`], watched by a monitor that can also cancel.
    pub fn open_with(&self, entry: &CatalogEntry, monitor: &Monitor<'_>) -> Result<(Release, bool), Error> {
        let release = Release::open_with(self.path(entry), monitor)?;
        let unchanged = release.digest()? == entry.digest;
        Ok((release, unchanged))
    }
}

/// Adding a release to a catalog, with options.
#[derive(Debug, Clone)]
#[must_use = "nothing is added before `run`"]
pub struct AddToCatalog {
    folder: PathBuf,
    release: PathBuf,
    name: Option<String>,
    custodian: Option<String>,
}

impl AddToCatalog {
    /// Adds `release` to the catalog in `folder`.
    pub fn new(folder: impl AsRef<Path>, release: impl AsRef<Path>) -> AddToCatalog {
        let (folder, release) = (folder.as_ref().to_path_buf(), release.as_ref().to_path_buf());
        AddToCatalog { folder, release, name: None, custodian: None }
    }

    /// The name in the catalog. `None`, the default, is the name of the release's directory.
    pub fn name(mut self, name: Option<String>) -> Self {
        self.name = name;
        self
    }

    /// The publisher. `None`, the default, means unknown.
    pub fn custodian(mut self, custodian: Option<String>) -> Self {
        self.custodian = custodian;
        self
    }

    /// Adds the release.
    pub fn run(self) -> Result<CatalogEntry, Error> {
        self.run_with(&Monitor::default())
    }

    /// Adds the release, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<CatalogEntry, Error> {
        let AddToCatalog { folder, release, name, custodian } = &self;
        let (name, custodian) = (name.as_deref(), custodian.as_deref());
        if source::address(release).is_none() {
            return Ok(catalog::Catalog::add(folder, release, name, custodian, monitor)?);
        }
        // The release lies in a folder for as long as it is open.
        let opened = Release::open_with(release, monitor)?;
        let shown = source::shown(release);
        let base = Path::new(shown.split('?').next().unwrap_or_default());
        let name = name.or_else(|| base.file_stem()?.to_str()?.rsplit(':').next());
        Ok(catalog::Catalog::add(folder, opened.path(), name, custodian, monitor)?)
    }
}
