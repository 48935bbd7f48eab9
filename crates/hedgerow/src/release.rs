//! A release as programs hold it: opened once, then checked, measured, queried and reported.

use std::path::Path;

use hedgerow_release::manifest::{Claim, Manifest};
use hedgerow_release::{ReleaseTables, ReleasedClasses};
use hedgerow_table::read::read_table;
use hedgerow_table::{InputError, Table};

use crate::folder::Folder;
use crate::{
    Answer, Check, Error, Measure, Measures, Monitor, Policy, Problem, Report, Reported, check, databases, source,
};

/// A release in memory. A clone shares the tables.
///
/// ```
/// use hedgerow::{Policy, Release};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("release");
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// hedgerow::publish(&policy, &path)?;
///
/// let release = Release::open(&path)?;
/// assert!(release.check()?.holds());
/// let answer = release.query("SELECT COUNT(*) FROM data WHERE age < 40")?;
/// println!("{}", serde_json::to_string(&answer)?);
/// let measures = release.measure(&policy)?;
/// println!("{}", serde_json::to_string(&measures)?);
/// release.report()?.write(folder.path().join("report.html"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Release {
    inner: hedgerow_release::Release,
}

/// One table of a release, as its file has it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NamedTable {
    /// Its name in the manifest, such as `data`, `quasi` or `sensitive`.
    pub name: String,
    /// Its columns: labels where cells are generalized, values elsewhere.
    pub table: Table,
}

impl Release {
    /// Opens a release: a directory with a manifest, a table made elsewhere that a `release.toml`
    /// describes, or a release in a database (`postgres://host/database/schema`,
    /// `sqlite:release.db`). It is read once.
    pub fn open(path: impl AsRef<Path>) -> Result<Release, Error> {
        Release::open_with(path, &Monitor::default())
    }

    /// As [`Release::open`], watched by a monitor that can also cancel.
    pub fn open_with(path: impl AsRef<Path>, monitor: &Monitor<'_>) -> Result<Release, Error> {
        let path = path.as_ref();
        let Some(address) = source::address(path) else {
            return Ok(Release { inner: hedgerow_release::Release::open(path, monitor)? });
        };
        let folder = Folder::new()?;
        let place = address.to_string();
        let fetched = databases::fetch(&address, folder.path(), monitor).map_err(Error::from);
        // The manifest comes first.
        let is_release = folder.path().join(hedgerow_release::manifest::FILE_NAME).exists();
        let undescribed = fetched.map_err(|error| match is_release {
            true => error.placed(folder.path(), &place).of_release(),
            false => error,
        })?;
        let opened = hedgerow_release::Release::open(folder.path(), monitor).map_err(Error::from);
        let release = opened.map_err(|error| error.placed(folder.path(), &place).of_release())?;
        let mut inner = release.fetched(&place, folder);
        undescribed.into_iter().for_each(|problem| inner.contradict(problem));
        Ok(Release { inner })
    }

    /// Its path, unless it was given another name.
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// The same release under another name in findings and reports.
    pub fn named(self, name: &str) -> Release {
        Release { inner: self.inner.named(name) }
    }

    /// The directory, or the file of a table made elsewhere.
    pub fn path(&self) -> &Path {
        self.inner.path()
    }

    /// The method by which it was made, as a policy names it; `table` for a table made elsewhere.
    pub fn method(&self) -> &str {
        self.inner.method()
    }

    /// Released rows; counterfeits are not among them.
    pub fn rows(&self) -> u64 {
        self.inner.rows()
    }

    /// The manifest; `None` for a table made elsewhere.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.inner.manifest()
    }

    /// A warning that numbers of rows are not numbers of people: where rows belong to units that
    /// the release does not link.
    pub fn units_warning(&self) -> Option<Problem> {
        let units = self.inner().manifest()?.hedgerow.units.filter(|units| !units.linked)?;
        let problem = format!(
            "the rows are about {} units, and the release does not say which rows are about one: class sizes and risks are \
             numbers of rows, and so are those who are singled out where they are not called units; the guarantees count \
             units",
            units.out
        );
        let hint = "take the k of the guarantees for the risk, and check the release with its policy";
        let warning = InputError::new(self.inner().name(), problem, hint);
        Some(Problem::warning(warning.about("units", [""; 0], Some(units.out))))
    }

    /// The guarantees that the manifest claims; [`Release::check`] recomputes them.
    pub fn guarantees(&self) -> &[Claim] {
        self.inner.manifest().map_or(&[], |manifest| &manifest.hedgerow.guarantees)
    }

    /// The equivalence classes of every table: one table, or several for a decomposed release.
    pub fn classes(&self) -> Result<&[ReleasedClasses], Error> {
        Ok(self.inner.classes()?)
    }

    /// Where the release contradicts itself: its manifest, its codebook, its tables.
    pub fn contradictions(&self) -> &[String] {
        self.inner.contradictions()
    }

    /// A digest of its files, by which a catalog recognizes it.
    pub fn digest(&self) -> Result<&str, Error> {
        Ok(self.inner.digest()?)
    }

    /// The values that every label covers, as the text of `codebook.csv`:
    /// `attribute,label,low,high,leaf`.
    pub fn codebook(&self) -> Result<String, Error> {
        let path = self.inner.path().join("codebook.csv");
        std::fs::read_to_string(&path).map_err(|source| Error::io(path, source))
    }

    /// Its tables, without the codebook: one for generalized cells, two for buckets and clones, all
    /// of a decomposition.
    pub fn tables(&self) -> Result<Vec<NamedTable>, Error> {
        if let ReleaseTables::Generalized(only) = self.inner.tables() {
            let name = self.resources().next().map_or_else(|| "data".to_owned(), |resource| resource.name.clone());
            return Ok(vec![NamedTable { name, table: only.table.clone() }]);
        }
        let read = |resource: &hedgerow_release::manifest::Resource| {
            let monitor = Monitor::default();
            let (path, options) = hedgerow_release::read::released_options(self.inner.path(), resource, &monitor)?;
            Ok(NamedTable { name: resource.name.clone(), table: read_table(&path, &options)? })
        };
        self.resources().map(read).collect()
    }

    /// Its tables as Arrow record batches, each with its name: numbers and dates with their type,
    /// labels and other texts as dictionaries, missing cells as nulls.
    #[cfg(feature = "arrow")]
    pub fn to_arrow(&self) -> Result<Vec<(String, arrow_array::RecordBatch)>, Error> {
        let tables = self.tables()?.into_iter();
        tables.map(|named| Ok((named.name, hedgerow_table::to_arrow(&named.table)?))).collect()
    }

    /// The same with the types of the table that was published: a column of decimals, moments,
    /// truths or small integers that was released as it is has its type again.
    #[cfg(feature = "arrow")]
    pub fn to_arrow_as(
        &self,
        published: &arrow_schema::Schema,
    ) -> Result<Vec<(String, arrow_array::RecordBatch)>, Error> {
        let tables = self.tables()?.into_iter();
        tables.map(|named| Ok((named.name, crate::as_published::to_arrow_as(&named.table, published)?))).collect()
    }

    fn resources(&self) -> impl Iterator<Item = &hedgerow_release::manifest::Resource> {
        let resources = self.inner.manifest().map_or(&[][..], |manifest| &manifest.resources);
        resources.iter().filter(|resource| resource.name != hedgerow_release::shape::CODEBOOK)
    }

    /// Recomputes every guarantee from the tables.
    pub fn check(&self) -> Result<Check, Error> {
        self.check_among(&[])
    }

    /// As [`Release::check`]; a guarantee across releases is recomputed with the `earlier` ones.
    ///
    /// ```
    /// # use hedgerow::{Policy, Release};
    /// # let folder = tempfile::tempdir()?;
    /// # for file in std::fs::read_dir("../../examples/departments")?.flatten() {
    /// #     std::fs::copy(file.path(), folder.path().join(file.file_name()))?;
    /// # }
    /// # let at = |name: &str| folder.path().join(name);
    /// # hedgerow::publish(&Policy::load(at("revenue.toml"))?, at("revenue-release"))?;
    /// # hedgerow::publish(&Policy::load(at("census-beside.toml"))?, at("census-release"))?;
    /// let revenue = Release::open(at("revenue-release"))?;
    /// let census = Release::open(at("census-release"))?;
    /// assert!(!census.check()?.unchecked.is_empty());
    /// assert!(census.check_among(&[revenue])?.unchecked.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_among(&self, earlier: &[Release]) -> Result<Check, Error> {
        check::check_release(&self.inner, &earlier.iter().map(Release::inner).collect::<Vec<_>>())
    }

    /// As [`Release::check`], of the release that was made from a policy: the manifest must claim
    /// all that it requires. Where rows belong to units or rules are `consistent`: units, and the
    /// rows that fit each person, are counted again from the source that `policy` names, where the
    /// release does not show them.
    pub fn check_units(&self, policy: &Policy) -> Result<Check, Error> {
        self.check_units_with(policy, &Monitor::default())
    }

    /// As [`Release::check_units`], watched by a monitor that can also cancel.
    pub fn check_units_with(&self, policy: &Policy, monitor: &Monitor<'_>) -> Result<Check, Error> {
        check::check_units(&self.inner, policy, monitor)
    }

    /// The losses of the release compared with the source that `policy` names, and the remaining
    /// risk. [`Measure`] has options, such as rows in memory.
    pub fn measure(&self, policy: &Policy) -> Result<Measures, Error> {
        Measure::new(self, policy).run()
    }

    /// Answers one SELECT. Counts, sums and means are estimated within generalized cells and
    /// buckets; `certain` and `possible` bound the answer that the source would give.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
    /// let published = hedgerow::publish(&policy, folder.path().join("release"))?;
    /// let answer = published.open()?.query("SELECT sex, COUNT(*) FROM data WHERE age >= 25 GROUP
    /// BY sex")?; assert_eq!(answer.columns.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn query(&self, sql: &str) -> Result<Answer, Error> {
        Ok(hedgerow_audit::query::answer(&self.inner, sql)?)
    }

    /// The page about this release that a person signs. [`Report`] has options, such as several
    /// releases or the policy.
    pub fn report(&self) -> Result<Reported, Error> {
        Report::new(std::slice::from_ref(self)).run()
    }

    pub(crate) fn inner(&self) -> &hedgerow_release::Release {
        &self.inner
    }
}

/// For the other crates of this workspace, such as the command that checks on a cluster.
impl From<hedgerow_release::Release> for Release {
    fn from(inner: hedgerow_release::Release) -> Release {
        Release { inner }
    }
}
