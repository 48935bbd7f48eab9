//! The studio's state: the document, the data that it names, the work under way and what was found.
//! Everything but the document can be computed again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hedgerow::{Error, ErrorKind, Monitor, Policy, Problem};

use crate::arguments::{NamedInput, is_address, is_release};
use crate::confine::Confinement;
use crate::delayed_parts::DelayedParts;
use crate::document::Document;
use crate::engine::{self, Computed, Data, Glimpse};
use crate::hierarchy_text::HierarchyText;
use crate::job::Job;
use crate::patience::Patience;
use crate::{atomic_file, reach};

/// Releases of one folder that are listed.
const RELEASES_MAX: usize = 200;

#[derive(Debug)]
pub(crate) struct Studio {
    pub(crate) confinement: Confinement,
    /// Releases that were named on the command line.
    pub(crate) releases: Vec<PathBuf>,
    document: Mutex<Option<Arc<Document>>>,
    job: Mutex<Option<Arc<Job>>>,
    found: Arc<Mutex<Computed>>,
    /// Parts of pages that are worked out by themselves.
    pub(crate) sides: DelayedParts,
    placing: Mutex<()>,
}

/// The document as it is on the disk now.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) document: Arc<Document>,
    pub(crate) text: String,
    /// The text, and the state of the hierarchy files that it names: results are about both.
    pub(crate) version: String,
    /// The policy, or its problems.
    pub(crate) policy: Result<Arc<Policy>, Vec<Trouble>>,
}

/// One thing that is wrong with the policy: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) place: String,
    pub(crate) problem: String,
    pub(crate) hint: String,
}

impl From<&Problem> for Trouble {
    fn from(found: &Problem) -> Trouble {
        Trouble { place: found.place.clone(), problem: found.problem.clone(), hint: found.hint.clone() }
    }
}

/// The entries of a folder. Hidden names are of releases that are not whole yet.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).map(|entry| entry.path())
}

fn version(policy: Option<&Policy>, text: &str, folder: &Path) -> String {
    let mut version = text.to_owned();
    for attribute in policy.iter().flat_map(|policy| &policy.attributes) {
        if let HierarchyText::File(file) = HierarchyText::of(text, &attribute.name) {
            let known = std::fs::metadata(folder.join(&file)).ok();
            let written = known.map(|known| (known.len(), known.modified().ok()));
            version.push_str(&format!("\n{file} {written:?}"));
        }
    }
    version
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Studio {
    pub(crate) fn open(named: &NamedInput) -> Result<Studio, String> {
        let mut paths = named.releases.clone();
        paths.extend(named.data.clone().filter(|data| !is_address(data)));
        let failed = |error: std::io::Error| format!("{}: {error}", named.folder.display());
        let folder = named.folder.canonicalize().map_err(failed)?;
        let beside = folder.join("policy.toml");
        // The file may be a link: what it names is seen from where it lies.
        let policy = named.policy.as_ref().map(|policy| folder.join(policy.file_name().unwrap_or_default()));
        let policy = policy.or_else(|| (named.data.is_none() && beside.is_file()).then_some(beside));
        paths.extend(policy.clone());
        let confinement = Confinement::new(&folder, &reach::of_arguments(&paths, policy.as_deref())).map_err(failed)?;
        atomic_file::clear_left(&folder);
        if let Some(data) = &named.data {
            confinement.allow_database(data);
        }
        let studio = Studio {
            confinement,
            releases: named.releases.iter().filter_map(|release| release.canonicalize().ok()).collect(),
            document: Mutex::default(),
            job: Mutex::default(),
            found: Arc::default(),
            sides: DelayedParts::default(),
            placing: Mutex::default(),
        };
        match (&policy, &named.data) {
            (Some(policy), _) => studio.set_document(policy),
            (None, Some(data)) => studio.open_data(data, Patience::from_now())?,
            (None, None) => {}
        }
        Ok(studio)
    }

    fn set_document(&self, path: &Path) {
        *lock(&self.document) = Some(Arc::new(Document::new(path)));
        *lock(&self.found) = Computed::default();
    }

    /// Opens a policy of the working folder.
    pub(crate) fn open_policy(&self, path: &Path) -> Result<(), String> {
        self.cancel_and_wait();
        self.set_document(path);
        Ok(())
    }

    /// Opens a data file or a database: with the policy that is there for it, or with a new one.
    pub(crate) fn open_data(&self, data: &Path, patience: Patience) -> Result<(), String> {
        self.open_table(data, false, patience)
    }

    /// Opens a file that a browser sent. One that cannot be read is not kept, so that it can be
    /// mended and sent again.
    pub(crate) fn open_uploaded(&self, data: &Path, patience: Patience) -> Result<(), String> {
        self.open_table(data, true, patience)
    }

    fn open_table(&self, data: &Path, is_upload: bool, patience: Patience) -> Result<(), String> {
        self.cancel_and_wait();
        let folder = self.confinement.folder().to_path_buf();
        let stem =
            if is_address(data) { "database".into() } else { data.file_name().unwrap_or_default().to_string_lossy() };
        let stem = stem.split('.').next().unwrap_or("data");
        let names = ["policy.toml".to_owned(), format!("{stem}-policy.toml")];
        for path in names.iter().map(|name| folder.join(name)) {
            if !path.exists() {
                self.set_document(&path);
                let (data, policy) = (data.to_path_buf(), path);
                return self.start(patience, "Proposing a policy", "data", false, move |found, monitor| {
                    let see = |glimpse| lock(found).glimpse = Some(Arc::new(glimpse));
                    engine::propose(&data, &policy, see, monitor).inspect_err(|error| {
                        if is_upload && error.kind() != ErrorKind::Canceled {
                            let _ = std::fs::remove_file(&data);
                        }
                    })
                });
            }
            if engine::is_about(&path, data) {
                self.set_document(&path);
                return Ok(());
            }
        }
        Err(format!("{} and {} are policies of other data. Rename one of them first.", names[0], names[1]))
    }

    pub(crate) fn document(&self) -> Option<Arc<Document>> {
        lock(&self.document).clone()
    }

    /// The document with its problems; `None` while none is open or its proposal is being made.
    pub(crate) fn current(&self) -> Option<Result<Current, String>> {
        let document = self.document()?;
        let text = match document.text() {
            Ok(text) => text,
            Err(_) if document.last_text().is_none() => return None,
            Err(problem) => return Some(Err(problem)),
        };
        let policy = match Policy::parse(&text, &document.path) {
            Ok(policy) => Ok(Arc::new(policy)),
            Err(error) if error.exit_code() == 2 => Err(error.problems().iter().map(Trouble::from).collect()),
            Err(error) => return Some(Err(error.to_string())),
        };
        let policy = policy.and_then(|policy: Arc<Policy>| match self.outside(&policy, &text, &document) {
            Some(trouble) => Err(vec![trouble]),
            None => Ok(policy),
        });
        let version = version(policy.as_deref().ok(), &text, document.folder());
        Some(Ok(Current { document, text, version, policy }))
    }

    /// A policy can come from elsewhere: it is not followed out of the working folder, unless it
    /// was named on the command line.
    fn outside(&self, policy: &Policy, text: &str, document: &Document) -> Option<Trouble> {
        let (key, path) = reach::outside(&self.confinement, policy, text, document.folder())?;
        // An address is shown without its password.
        let path = if reach::server_of(&path).is_some() { policy.source.path.clone() } else { path };
        Some(Trouble {
            place: key,
            problem: format!("{} leads out of the folder {}", path.display(), self.confinement.folder().display()),
            hint: format!(
                "to allow it, end the studio and name the policy: hedgerow studio {}",
                document.path.display()
            ),
        })
    }

    /// The columns of the table that is read for the first time, while its policy is proposed.
    pub(crate) fn glimpse(&self) -> Option<Arc<Glimpse>> {
        self.job().filter(|job| !job.is_done())?;
        self.found().glimpse.clone()
    }

    pub(crate) fn found(&self) -> MutexGuard<'_, Computed> {
        lock(&self.found)
    }

    /// The data of a policy. It is read where it has not been or has changed; `None` until then.
    pub(crate) fn data(&self, policy: &Arc<Policy>, patience: Patience) -> Option<Arc<Data>> {
        let stamp = engine::stamp(policy);
        let known = self.found().data.clone();
        if let Some(data) = known.filter(|data| stamp.as_ref().is_none_or(|stamp| data.serves(policy, stamp))) {
            return Some(data);
        }
        let stamp = stamp.unwrap_or_default();
        if self.found().unreadable.as_ref().is_some_and(|(of, _)| *of == stamp) {
            return None;
        }
        let reading = Arc::clone(policy);
        let of = stamp.clone();
        let _ = self.start(patience, "Reading the data", "data", false, move |found, monitor| {
            // The old rows go first: there need not be memory for both. Giving them back takes a
            // while, in which pages are not kept waiting.
            let old = lock(found).data.take();
            drop(old);
            match engine::read(&reading, &of, monitor) {
                Ok(data) => {
                    let mut found = lock(found);
                    (found.data, found.unreadable, found.sets) = (Some(Arc::new(data)), None, None);
                    found.glimpse = None;
                    Ok(())
                }
                Err(error) => {
                    lock(found).unreadable = Some((of, error.to_string()));
                    Err(error)
                }
            }
        });
        self.found().data.clone().filter(|data| data.serves(policy, &stamp))
    }

    /// Held while a file is moved to its place.
    pub(crate) fn placing(&self) -> MutexGuard<'_, ()> {
        lock(&self.placing)
    }

    pub(crate) fn job(&self) -> Option<Arc<Job>> {
        lock(&self.job).clone()
    }

    /// Starts work, unless other work is under way, and waits for its end a little.
    pub(crate) fn start(
        &self,
        patience: Patience,
        name: &str,
        page: &'static str,
        can_finish_early: bool,
        work: impl FnOnce(&Mutex<Computed>, &Monitor<'_>) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), String> {
        let mut slot = lock(&self.job);
        if let Some(running) = slot.as_ref().filter(|job| !job.is_done()) {
            return Err(format!("{} is under way: wait for its end, or cancel it.", running.name));
        }
        let found = Arc::clone(&self.found);
        let job = Job::start(name, page, can_finish_early, move |monitor| work(&found, monitor));
        *slot = Some(Arc::clone(&job));
        drop(slot);
        job.wait(patience.left());
        Ok(())
    }

    /// Forgets a job that has ended, so that its problem is not shown any more.
    pub(crate) fn dismiss_job(&self) {
        let mut slot = lock(&self.job);
        if slot.as_ref().is_some_and(|job| job.is_done()) {
            *slot = None;
        }
    }

    fn cancel_and_wait(&self) {
        if let Some(job) = self.job() {
            job.cancel.cancel();
            job.wait(Duration::from_secs(30));
        }
    }

    /// The release that pages are about: the one that was published last, or the newest in the
    /// folder.
    pub(crate) fn release(&self) -> Option<PathBuf> {
        let published = self.found().published.as_ref().map(|(_, published)| published.release.clone());
        published.filter(|release| is_release(release)).or_else(|| self.own_releases().pop())
    }

    /// Releases that lie in the working folder itself, the oldest first.
    pub(crate) fn own_releases(&self) -> Vec<PathBuf> {
        let folder = self.confinement.folder();
        let made = |path: &Path| {
            let known = path.join("datapackage.json").metadata().ok()?;
            (known.is_file() && !path.is_symlink()).then(|| known.modified().ok()).flatten()
        };
        let mut own: Vec<_> = entries(folder).filter_map(|path| Some((made(&path)?, path))).collect();
        own.retain(|(_, path)| !self.releases.contains(path));
        own.sort();
        own.into_iter().map(|(_, path)| path).collect()
    }

    /// The releases that the community page offers: those named, and those in the working folder.
    pub(crate) fn known_releases(&self) -> Vec<PathBuf> {
        let mut known = self.releases.clone();
        let folder = self.confinement.folder();
        for parent in [folder.to_path_buf(), folder.join("community")] {
            let mut here: Vec<PathBuf> = entries(&parent).filter(|path| is_release(path)).collect();
            here.sort();
            known.extend(here.into_iter().take(RELEASES_MAX));
        }
        let mut seen = std::collections::HashSet::new();
        known.retain(|path| seen.insert(path.clone()));
        known
    }
}
