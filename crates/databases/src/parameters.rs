//! The parameters after `?` in an address: what is read there, and for PostgreSQL what its own
//! library would take.

use std::path::PathBuf;

use hedgerow_config::{Address, Engine, Selection};
use hedgerow_table::{InputError, TableError};
use percent_encoding::percent_decode_str;

/// A parsed address. Its `Debug` shows no password, since it shows the address alone.
pub(crate) struct Parameters<'a> {
    address: &'a Address,
    /// Up to `?`.
    base: &'a str,
    /// After it.
    query: &'a str,
    pairs: Vec<(String, String)>,
}

impl std::fmt::Debug for Parameters<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Parameters").field(self.address).finish()
    }
}

impl<'a> Parameters<'a> {
    pub(crate) fn of(address: &'a Address) -> Result<Parameters<'a>, TableError> {
        let text = match address.engine() {
            Engine::Postgres => address.danger_text(),
            Engine::Sqlite => address.sqlite_path(),
        };
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decoded(name), decoded(value)) {
                (Some(name), Some(value)) => pairs.push((name, value)),
                _ => {
                    let hint = "write signs other than letters and digits as %20 and the like";
                    return Err(InputError::new(address.to_string(), "what follows `?` is not UTF-8", hint).into());
                }
            }
        }
        let parameters = Parameters { address, base, query, pairs };
        if address.engine() == Engine::Sqlite
            && let Some((name, _)) = parameters.pairs.iter().find(|(name, _)| name != "table" && name != "query")
        {
            let problem = format!("`{name}` means nothing in the address of a SQLite database");
            return Err(InputError::new(address.to_string(), problem, "known are `table` and `query`").into());
        }
        Ok(parameters)
    }

    /// The address without a password, for errors.
    pub(crate) fn shown(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn base(&self) -> &'a str {
        self.base
    }

    pub(crate) fn sqlite_path(&self) -> PathBuf {
        PathBuf::from(self.base)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All but those named, as they were written.
    pub(crate) fn others(&self, names: &[&str]) -> String {
        let is_other = |pair: &&str| {
            decoded(pair.split('=').next().unwrap_or_default()).is_some_and(|name| !names.contains(&name.as_str()))
        };
        self.query.split('&').filter(|pair| !pair.is_empty()).filter(is_other).collect::<Vec<_>>().join("&")
    }

    /// The selection that the address itself names.
    pub(crate) fn selection(&self) -> Option<Selection> {
        let table = self.get("table").map(|table| Selection::Table(table.to_owned()));
        table.or_else(|| self.get("query").map(|query| Selection::Query(query.to_owned())))
    }
}

pub(crate) fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}
