//! A release, as any reader opens it: the tables are read once and compared with one another and
//! against the manifest. Nothing is believed that the tables do not show.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hashbrown::{HashMap, HashSet};
use hedgerow_config::ConfigErrors;
use hedgerow_table::{Domain, Progress, Table, TableError};

use crate::classes::ReleasedClasses;
use crate::coarsened;
use crate::codebook::Codebook;
use crate::digest;
use crate::foreign::{ForeignTable, description_of};
use crate::kinds::generalized::{Generalized, Within};
use crate::kinds::{ReleaseTables, ReleasedKind};
use crate::known_values::LabelReader;
use crate::manifest::{FILE_NAME, Manifest};
use crate::meaning;
use crate::read::read_codebook;
use crate::shape::Shape;
use crate::spelling::Spelling;

/// A release in memory. It is opened once and handed on to whatever judges, attacks, measures or
/// queries it. A clone shares the tables.
#[derive(Debug, Clone)]
pub struct Release {
    name: String,
    /// The directory, or the file of a foreign table; empty for a table in memory.
    path: PathBuf,
    manifest: Option<Manifest>,
    codebook: Arc<Codebook>,
    tables: Arc<ReleaseTables>,
    contradictions: Vec<String>,
    warnings: Vec<String>,
    spelling: Spelling,
    classes: OnceLock<Arc<[ReleasedClasses]>>,
    digest: OnceLock<String>,
    /// A guard that keeps its files in place, such as a temporary folder.
    held: Option<Arc<ReleaseGuard>>,
}

/// Lives as long as a release.
struct ReleaseGuard(#[allow(dead_code)] Box<dyn Send + Sync>);

impl std::fmt::Debug for ReleaseGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

/// Why a release cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The `release.toml` that describes a foreign table has errors.
    #[error(transparent)]
    Description(#[from] ConfigErrors),
    /// Its files.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl Release {
    /// Opens any release: a directory with a manifest, a directory with a `release.toml`, or such a
    /// file itself.
    pub fn open(path: &Path, progress: &dyn Progress) -> Result<Release, OpenError> {
        match description_of(path) {
            None => Ok(Release::with_manifest(path, Manifest::read(path)?, progress)?),
            Some(file) => {
                let foreign = ForeignTable::load(&file)?;
                Ok(Release::of_foreign(&foreign, progress)?.named(&path.display().to_string()))
            }
        }
    }

    /// Reads the tables in a directory that a manifest lists, which need not have been written yet.
    pub fn with_manifest(directory: &Path, manifest: Manifest, progress: &dyn Progress) -> Result<Release, TableError> {
        Release::with_manifest_within(directory, manifest, None, progress)
    }

    /// The same within a limit of memory: what does not fit can be judged, and nothing else.
    pub fn with_manifest_within(
        directory: &Path,
        manifest: Manifest,
        within: Option<Within<'_>>,
        progress: &dyn Progress,
    ) -> Result<Release, TableError> {
        let shape = Shape::of_release(directory, &manifest)?;
        let (tables, mut contradictions) = ReleaseTables::read(directory, shape, within, progress)?;
        let mut codebook = read_codebook(directory)?;
        let listed: Vec<String> = codebook.attributes().map(str::to_owned).collect();
        let domains = |name: &str| tables.kind().domains(name);
        let coarser = coarsened::explain(&manifest.hedgerow.coarsened, domains, &mut codebook);
        contradictions.extend(tables.kind().contradictions_with(&codebook));
        for (attribute, labels) in tables.kind().labels() {
            let unknown = labels.iter().filter(|label| codebook.cover(attribute, label).is_none()).count();
            if unknown > 0 {
                contradictions.push(format!("{unknown} labels of `{attribute}` have no entry in codebook.csv"));
            }
        }
        contradictions.extend(unused_labels(tables.kind(), &codebook));
        contradictions.extend(manifest.contradictions());
        let explainable = tables.kind().explainable();
        for attribute in listed.iter().filter(|name| !explainable.contains(&name.as_str())) {
            contradictions
                .push(format!("codebook.csv explains `{attribute}`, which is not a released quasi-identifier"));
        }
        drop(explainable);
        contradictions.extend(coarser);
        Release::new(directory.to_path_buf(), Some(manifest), codebook, tables, contradictions)
    }

    /// Opens a table that has no manifest.
    pub fn of_foreign(foreign: &ForeignTable, progress: &dyn Progress) -> Result<Release, TableError> {
        let (table, codebook, warnings) = foreign.read(progress)?;
        let quasi = foreign.quasi.iter().map(|(name, _)| name.clone()).collect();
        let sensitive = foreign.sensitive.clone();
        let tables =
            ReleaseTables::Generalized(Generalized { table, quasi, sensitive, units: Vec::new(), counts: None });
        let release = Release::new(foreign.path.clone(), None, codebook, tables, Vec::new())?;
        Ok(Release { warnings, ..release })
    }

    /// A generalized table in memory. Labels without an entry in the codebook are read by their own
    /// text.
    pub fn of_table(
        name: &str,
        table: Table,
        quasi: Vec<String>,
        sensitive: Vec<String>,
        codebook: Codebook,
    ) -> Result<Release, TableError> {
        if let Some(absent) = quasi.iter().chain(&sensitive).find(|name| table.column(name).is_none()) {
            let hint = format!("the table has: {}", table.header.join(", "));
            return Err(TableError::input(name, format!("the table has no column `{absent}`"), hint));
        }
        let tables =
            ReleaseTables::Generalized(Generalized { table, quasi, sensitive, units: Vec::new(), counts: None });
        Ok(Release::new(PathBuf::new(), None, codebook, tables, Vec::new())?.named(name))
    }

    fn new(
        path: PathBuf,
        manifest: Option<Manifest>,
        codebook: Codebook,
        tables: ReleaseTables,
        contradictions: Vec<String>,
    ) -> Result<Release, TableError> {
        let name = path.display().to_string();
        if tables.kind().rows() == 0 {
            return Err(TableError::input(
                name,
                "the table has no rows",
                "publish again: a release has at least one row",
            ));
        }
        let (spelling, classes, digest) = (Spelling::default(), OnceLock::new(), OnceLock::new());
        let warnings = Vec::new();
        let held = None;
        Ok(Release {
            name,
            path,
            manifest,
            codebook: Arc::new(codebook),
            tables: Arc::new(tables),
            contradictions,
            warnings,
            spelling,
            classes,
            digest,
            held,
        })
    }

    /// The same release, its classes in our texts. Its tables stay as they are.
    pub fn spelled(self, spelling: Spelling) -> Release {
        Release { spelling, classes: OnceLock::new(), ..self }
    }

    /// How its publisher spells values that we spell differently.
    pub fn spelling(&self) -> &Spelling {
        &self.spelling
    }

    /// The same release under another name, such as the one that a catalog gives it.
    pub fn named(self, name: &str) -> Release {
        Release { name: name.to_owned(), ..self }
    }

    /// The same release, whose files were fetched from elsewhere: `folder` goes with it.
    pub fn fetched(self, from: &str, folder: impl Send + Sync + 'static) -> Release {
        Release { held: Some(Arc::new(ReleaseGuard(Box::new(folder)))), ..self.named(from) }
    }

    /// The manifest as messages name it.
    pub fn manifest_place(&self) -> String {
        match self.held {
            Some(_) => self.name.clone(),
            None => self.path.join(FILE_NAME).display().to_string(),
        }
    }

    /// Its path, unless the caller chose another name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory, or the file of a foreign table.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As the manifest has it; `table` for a table without a manifest.
    pub fn method(&self) -> &str {
        self.manifest.as_ref().map_or("table", |manifest| &manifest.hedgerow.method)
    }

    /// `None` for a foreign table.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The same release, its manifest completed.
    pub fn set_manifest(&mut self, manifest: Manifest) {
        self.manifest = Some(manifest);
    }

    /// The cover of every label. That of a foreign table is read from its labels and hierarchy
    /// files.
    pub fn codebook(&self) -> &Codebook {
        &self.codebook
    }

    /// How its readers understand its labels.
    pub fn label_reader(&self) -> LabelReader<'_> {
        match self.manifest {
            Some(_) => LabelReader::Codebook(&self.codebook),
            None => LabelReader::Notation(Some(&self.codebook)),
        }
    }

    pub fn tables(&self) -> &ReleaseTables {
        &self.tables
    }

    /// Whether each attribute is either known or protected: not where one rule protects what
    /// another takes as known.
    pub fn has_roles(&self) -> bool {
        self.tables.kind().has_roles()
    }

    /// The table and its sensitive attributes, where rows show them beside their labels.
    pub fn sensitive_in_rows(&self) -> Option<(&Table, &[String])> {
        self.tables.kind().sensitive_in_rows()
    }

    /// Released rows; counterfeits are not among them.
    pub fn rows(&self) -> u64 {
        self.tables.kind().rows()
    }

    /// The values that a released attribute takes.
    pub fn domain(&self, attribute: &str) -> Option<&Domain> {
        self.tables.kind().domain(attribute)
    }

    /// The values or labels of an attribute in every table that has it.
    pub fn domains(&self, attribute: &str) -> Vec<&Domain> {
        self.tables.kind().domains(attribute)
    }

    /// The classes of every table: one table, or several for a decomposed release. Counted when
    /// first requested.
    pub fn classes(&self) -> Result<&[ReleasedClasses], TableError> {
        if let Some(classes) = self.classes.get() {
            return Ok(classes);
        }
        let mut classes = self.tables.kind().classes(&self.codebook, &self.name)?;
        if !self.spelling.is_empty() {
            classes = classes.into_iter().map(|table| table.spelled(&self.spelling)).collect();
        }
        Ok(self.classes.get_or_init(|| classes.into()))
    }

    /// Where the release contradicts itself.
    pub fn contradictions(&self) -> &[String] {
        &self.contradictions
    }

    /// Where labels, codebook and declared ranges contradict one another: a label that means
    /// something else than the codebook says that it covers, labels of several levels where there
    /// can be one, values outside of a range.
    pub fn misstated_labels(&self) -> Vec<String> {
        let manifest = self.manifest.as_ref();
        manifest.map_or_else(Vec::new, |manifest| meaning::contradictions(manifest, &self.tables, &self.codebook))
    }

    /// Labels of a foreign table that could not be read.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Notes a contradiction that was found by comparing the release with something else.
    pub fn contradict(&mut self, problem: String) {
        if !self.contradictions.contains(&problem) {
            self.contradictions.push(problem);
        }
    }

    /// Which bytes its files have.
    pub fn digest(&self) -> Result<&str, TableError> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let digest = match &self.manifest {
            Some(manifest) => digest::of_release(&self.path, manifest)?,
            None => digest::of_file(&self.path)?,
        };
        Ok(self.digest.get_or_init(|| digest))
    }
}

/// A label that no row has describes nothing that is released.
fn unused_labels(tables: &dyn ReleasedKind, codebook: &Codebook) -> Vec<String> {
    let mut used: HashMap<&str, HashSet<String>> = HashMap::new();
    for (attribute, labels) in tables.occurring() {
        used.entry(attribute).or_default().extend(labels);
    }
    let mut problems = Vec::new();
    for attribute in codebook.attributes() {
        let Some(used) = used.get(attribute) else { continue };
        let unused = codebook.labels(attribute).iter().filter(|(label, _)| !used.contains(*label)).count();
        if unused > 0 {
            let labels = if unused == 1 { "a label".to_owned() } else { format!("{unused} labels") };
            problems.push(format!("codebook.csv explains {labels} of `{attribute}` that no row has"));
        }
    }
    problems
}
