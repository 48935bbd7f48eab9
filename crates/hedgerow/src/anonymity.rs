//! The privacy models that a table satisfies unchanged, without a policy.

use hedgerow_table::read::ReadOptions;

use crate::{Error, Monitor, Source};

pub use hedgerow_audit::{Anonymity, SensitiveDiversity};

/// Measures any table by its quasi-identifiers: k, and with a sensitive attribute also l, t, α, δ
/// and β.
///
/// ```
/// use hedgerow::MeasureAnonymity;
///
/// let measure = MeasureAnonymity::new("../../examples/hospital/patients.csv").quasi(["sex"]);
/// let found = measure.sensitive("diagnosis").run()?;
/// assert!(found.k >= 1 && found.sensitive.is_some());
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is measured before `run`"]
pub struct MeasureAnonymity<'a> {
    rows: Source<'a>,
    quasi: Vec<String>,
    sensitive: Option<String>,
}

impl<'a> MeasureAnonymity<'a> {
    /// Measures these rows: a file, the address of a database, or rows in memory.
    pub fn new(rows: impl Into<Source<'a>>) -> MeasureAnonymity<'a> {
        MeasureAnonymity { rows: rows.into(), quasi: Vec::new(), sensitive: None }
    }

    /// The attributes that an attacker knows. Without any, all rows are one class.
    pub fn quasi<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.quasi = names.into_iter().map(Into::into).collect();
        self
    }

    /// The attributes that an attacker must not learn.
    pub fn sensitive(mut self, name: impl Into<String>) -> Self {
        self.sensitive = Some(name.into());
        self
    }

    /// Measures.
    pub fn run(self) -> Result<Anonymity, Error> {
        self.run_with(&Monitor::default())
    }

    /// Measures, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Anonymity, Error> {
        let table = self.rows.read_as(None, &ReadOptions { progress: monitor, ..ReadOptions::default() })?;
        Ok(hedgerow_audit::anonymity(&table, &self.quasi, self.sensitive.as_deref())?)
    }
}
