//! Addresses of databases, and what is read there. An address may hold a password, so it is shown
//! without it wherever it is shown.

use std::fmt;
use std::path::Path;

/// A database, and what is read there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    pub address: Address,
    /// `None` where the address itself says it, or the database has only one table.
    pub selection: Option<Selection>,
}

/// The part of a database that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// A table or a view, after its schema where it has one.
    Table(String),
    /// The rows of a `SELECT`.
    Query(String),
}

/// `postgres://…`, `postgresql://…` or `sqlite:…`.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Postgres,
    Sqlite,
}

const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];
const SQLITE: &str = "sqlite:";

impl Address {
    /// `None` when the text is not the address of a database.
    pub fn parse(text: &str) -> Option<Address> {
        engine_of(text).map(|_| Address(text.to_owned()))
    }

    pub fn engine(&self) -> Engine {
        engine_of(&self.0).unwrap_or(Engine::Sqlite)
    }

    /// As it was given, with a password if it has one: for those who connect, never to be shown.
    pub fn danger_text(&self) -> &str {
        &self.0
    }

    /// The file of a SQLite database, with what follows `?` in the address.
    pub fn sqlite_path(&self) -> &str {
        let path = self.0.strip_prefix(SQLITE).unwrap_or(&self.0);
        path.strip_prefix("//").unwrap_or(path)
    }

    pub fn holds_password(&self) -> bool {
        self.engine() == Engine::Postgres && hidden(&self.0) != self.0
    }

    fn without_password(&self) -> String {
        let hidden = hidden(&self.0);
        let (base, parameters) = hidden.split_once('?').unwrap_or((&hidden, ""));
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let host = match rest.rsplit_once('@') {
            Some((name, host)) => format!("{}@{host}", name.split(':').next().unwrap_or_default()),
            None => rest.to_owned(),
        };
        let kept: Vec<&str> =
            parameters.split('&').filter(|pair| !pair.is_empty() && !pair.contains("password=")).collect();
        let mark = if kept.is_empty() { "" } else { "?" };
        format!("{scheme}://{host}{mark}{}", kept.join("&"))
    }

    /// The same, with the path of a SQLite database taken from `folder`.
    pub fn within(self, folder: &Path) -> Address {
        match self.engine() {
            Engine::Postgres => self,
            Engine::Sqlite => Address(format!("{SQLITE}{}", folder.join(self.sqlite_path()).display())),
        }
    }
}

fn engine_of(text: &str) -> Option<Engine> {
    if POSTGRES.iter().any(|scheme| text.starts_with(scheme)) {
        Some(Engine::Postgres)
    } else {
        text.starts_with(SQLITE).then_some(Engine::Sqlite)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine() {
            Engine::Sqlite => f.write_str(&self.0),
            Engine::Postgres => f.write_str(&self.without_password()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// A text with each character of a password in an address of PostgreSQL replaced, so that it stays
/// as long as it is. What could be a password is taken for one: everything from the first colon of
/// the name to the last `@`, and what a parameter named like a password holds.
pub fn hidden(text: &str) -> String {
    let Some(start) = POSTGRES.iter().find_map(|scheme| Some(text.find(scheme)? + scheme.len())) else {
        return text.to_owned();
    };
    let stars = |password: &str| "*".repeat(password.chars().count());
    let (before, address) = text.split_at(start);
    let (name, mut rest) = address.split_at(address.rfind('@').unwrap_or(0));
    let mut shown = match name.split_once(':') {
        Some((user, password)) => format!("{before}{user}:{}", stars(password)),
        None => format!("{before}{name}"),
    };
    while let Some(place) = rest.find("password=") {
        let (kept, parameter) = rest.split_at(place + "password=".len());
        let length = parameter.find(['&', '"', '\'', ' ']).unwrap_or(parameter.len());
        shown.push_str(kept);
        shown.push_str(&stars(&parameter[..length]));
        rest = &parameter[length..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for given in [
            "postgres://ann:s3cret@host/db",
            "postgresql://ann:s3cret@host:5432,other/db?sslmode=require",
            "postgres://ann:s3cret/with@sign@host/db",
            "postgres://host/db?user=ann&password=s3cret&sslmode=disable",
            "postgres://host/db?sslpassword=s3cret",
        ] {
            let address = Address::parse(given).unwrap();
            assert!(address.holds_password(), "{given}");
            for shown in [address.to_string(), format!("{address:?}"), hidden(&format!("url = \"{given}\""))] {
                assert!(!shown.contains("s3cret") && !shown.contains("sign"), "{shown}");
            }
        }
        let address = Address::parse("postgres://ann@host/db?sslmode=require").unwrap();
        assert!(!address.holds_password());
        assert_eq!(address.to_string(), "postgres://ann@host/db?sslmode=require");
    }

    #[test]
    fn only_addresses_of_databases_are_addresses() {
        for path in ["people.csv", "postgres.csv", "./sqlite:x", "mysql://host/db", ""] {
            assert_eq!(Address::parse(path), None, "{path}");
        }
        let address = Address::parse("sqlite:people.db").unwrap();
        assert_eq!((address.engine(), address.sqlite_path()), (Engine::Sqlite, "people.db"));
        assert_eq!(address.within(Path::new("study")).to_string(), "sqlite:study/people.db");
        assert_eq!(Address::parse("sqlite:///data/people.db").unwrap().sqlite_path(), "/data/people.db");
    }
}
