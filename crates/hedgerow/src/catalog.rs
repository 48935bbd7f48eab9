//! The catalog: the community's memory of published releases.

use std::path::{Path, PathBuf};

use hedgerow_publish::catalog;
use hedgerow_release::Release;

use crate::{Error, Monitor, source};

pub use hedgerow_publish::catalog::Entry;

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
    /// contradicts itself is refused.
    pub fn add(
        folder: impl AsRef<Path>,
        release: impl AsRef<Path>,
        name: Option<&str>,
        custodian: Option<&str>,
        monitor: &Monitor<'_>,
    ) -> Result<Entry, Error> {
        let release = release.as_ref();
        if source::address(release).is_none() {
            return Ok(catalog::Catalog::add(folder.as_ref(), release, name, custodian, monitor)?);
        }
        // The release lies in a folder for as long as it is open.
        let opened = crate::open_with(release, monitor)?;
        let shown = source::shown(release);
        let base = Path::new(shown.split('?').next().unwrap_or_default());
        let name = name.or_else(|| base.file_stem()?.to_str()?.rsplit(':').next());
        Ok(catalog::Catalog::add(folder.as_ref(), opened.path(), name, custodian, monitor)?)
    }

    /// The releases, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.inner.entries
    }

    /// The release of this name.
    pub fn entry(&self, name: &str) -> Result<&Entry, Error> {
        Ok(self.inner.entry(name)?)
    }

    /// Where a release lies.
    pub fn path(&self, entry: &Entry) -> PathBuf {
        self.inner.path(entry)
    }

    /// Opens a release, and whether its files are still those that were added.
    pub fn open(&self, entry: &Entry, monitor: &Monitor<'_>) -> Result<(Release, bool), Error> {
        let release = Release::open(&self.path(entry), monitor)?;
        let unchanged = release.digest()? == entry.digest;
        Ok((release, unchanged))
    }
}
