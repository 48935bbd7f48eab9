//! Where the data of a built policy is.

use std::path::Path;

use hedgerow_table::Format;

/// Where the data is, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataSource {
    pub(crate) path: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) engine: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) query: Option<String>,
    pub(crate) format: Option<Format>,
    pub(crate) delimiter: Option<char>,
    pub(crate) quote: Option<char>,
    pub(crate) nulls: Option<Vec<String>>,
    pub(crate) decimal: Option<char>,
    pub(crate) thousands: Option<char>,
    pub(crate) date_format: Option<String>,
}

impl DataSource {
    /// A file, or several as a pattern such as `parts/*.parquet`.
    pub fn file(path: impl AsRef<Path>) -> DataSource {
        DataSource { path: Some(path.as_ref().to_string_lossy().into_owned()), ..DataSource::default() }
    }

    /// A database: `postgres://host/study` or `sqlite:people.db`.
    pub fn database(url: impl Into<String>) -> DataSource {
        DataSource { url: Some(url.into()), ..DataSource::default() }
    }

    /// A Spark cluster that reads the files, the table or the query: `sc://host:15002`.
    pub fn engine(mut self, address: impl Into<String>) -> Self {
        self.engine = Some(address.into());
        self
    }

    /// The table or view of a database or cluster.
    pub fn table(mut self, table: impl Into<String>) -> Self {
        self.table = Some(table.into());
        self
    }

    /// A query on the database or cluster instead of a table.
    pub fn query(mut self, query: impl Into<String>) -> Self {
        self.query = Some(query.into());
        self
    }

    /// The format of the file, where its name does not say it.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// The delimiter between fields; detected by default.
    pub fn delimiter(mut self, delimiter: char) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// The quotation mark around a field; `"` by default.
    pub fn quote(mut self, quote: char) -> Self {
        self.quote = Some(quote);
        self
    }

    /// The texts that count as missing, all of them; only the empty text by default.
    pub fn nulls<T: Into<String>>(mut self, nulls: impl IntoIterator<Item = T>) -> Self {
        self.nulls = Some(nulls.into_iter().map(Into::into).collect());
        self
    }

    /// The decimal mark of numbers; a point by default.
    pub fn decimal(mut self, decimal: char) -> Self {
        self.decimal = Some(decimal);
        self
    }

    /// The mark between thousands; none by default.
    pub fn thousands(mut self, thousands: char) -> Self {
        self.thousands = Some(thousands);
        self
    }

    /// How dates are written, such as `%d.%m.%Y`; as `2024-02-29` by default.
    pub fn date_format(mut self, pattern: impl Into<String>) -> Self {
        self.date_format = Some(pattern.into());
        self
    }
}

impl From<&str> for DataSource {
    fn from(path: &str) -> DataSource {
        DataSource::file(path)
    }
}

impl From<&Path> for DataSource {
    fn from(path: &Path) -> DataSource {
        DataSource::file(path)
    }
}
