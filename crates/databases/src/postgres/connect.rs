//! Connecting as libpq does: what the address leaves open comes from the environment.

use std::env;
use std::str::FromStr;
use std::time::Duration;

use hedgerow_table::TableError;
use postgres::config::SslMode;
use postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, Trust};
use super::{failure, password, with_causes};
use crate::parameters::{Parameters, decoded};

/// The parameters that this crate reads itself; all others are the client's.
const OWN: [&str; 5] = ["sslmode", "sslrootcert", "passfile", "table", "query"];
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct PostgresSession {
    pub(crate) client: Client,
    pub(crate) tls: MakeRustlsConnect,
    /// The schema after the database in the address: `postgres://host/database/schema`.
    pub(crate) schema: Option<String>,
}

impl std::fmt::Debug for PostgresSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl PostgresSession {
    pub(crate) fn open(parameters: &Parameters<'_>) -> Result<PostgresSession, TableError> {
        let place = parameters.shown();
        let (base, schema) = divided(parameters.base());
        let schema = match schema.map(decoded) {
            Some(None) => return Err(TableError::input(place, "the schema is not UTF-8", "check the address")),
            Some(Some(schema)) => Some(schema),
            None => None,
        };
        let others = parameters.others(&OWN);
        let mark = if others.is_empty() { "" } else { "?" };
        // The client's own complaints name the parameter and never its value.
        let mut config = Config::from_str(&format!("{base}{mark}{others}")).map_err(|error| {
            TableError::input(&place, with_causes(&error), "write it as postgres://user@host:5432/database")
        })?;
        complete(&mut config, &place)?;
        let (mode, trust) = trust(parameters, &place)?;
        config.ssl_mode(mode);
        if config.get_password().is_none()
            && let Some(found) = password::find(&config, parameters.get("passfile"))
        {
            config.password(found);
        }
        let tls = tls::connector(trust).map_err(|problem| {
            TableError::input(&place, problem, "check `sslmode` and `sslrootcert` in the address")
        })?;
        let client = config.connect(tls.clone()).map_err(|error| failure(&place, &error))?;
        Ok(PostgresSession { client, tls, schema })
    }
}

/// The address up to the database, and the schema after it.
pub(crate) fn divided(base: &str) -> (&str, Option<&str>) {
    let start = base.find("://").map_or(0, |at| at + 3);
    // A password may hold a slash that should have been written as %2F.
    let start = base.rfind('@').map_or(start, |at| at.max(start));
    let mut slashes = base[start..].match_indices('/').map(|(at, _)| start + at);
    let (_, Some(second)) = (slashes.next(), slashes.next()) else { return (base, None) };
    let schema = &base[second + 1..];
    (&base[..second], Some(schema).filter(|schema| !schema.is_empty()))
}

/// The variables that libpq reads from the environment.
fn complete(config: &mut Config, place: &str) -> Result<(), TableError> {
    if config.get_user().is_none()
        && let Ok(user) = env::var("PGUSER").or_else(|_| env::var("USER"))
    {
        config.user(&user);
    }
    if config.get_dbname().is_none()
        && let Ok(database) = env::var("PGDATABASE")
    {
        config.dbname(&database);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(&env::var("PGHOST").unwrap_or_else(|_| "localhost".to_owned()));
    }
    if config.get_ports().is_empty()
        && let Ok(port) = env::var("PGPORT")
    {
        let wrong = |_| TableError::input(place, "PGPORT is not a port", "set it to a number from 1 to 65535");
        config.port(port.parse().map_err(wrong)?);
    }
    if config.get_application_name().is_none() {
        config.application_name("hedgerow");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    Ok(())
}

/// `sslmode` and `sslrootcert`, from the address or the environment.
fn trust(parameters: &Parameters<'_>, place: &str) -> Result<(SslMode, Trust), TableError> {
    let given = |name: &str, variable: &str| {
        parameters.get(name).map(str::to_owned).or_else(|| env::var(variable).ok().filter(|value| !value.is_empty()))
    };
    let mode = given("sslmode", "PGSSLMODE").unwrap_or_else(|| "prefer".to_owned());
    let roots = given("sslrootcert", "PGSSLROOTCERT").or_else(|| {
        let path = password::home()?.join(".postgresql/root.crt");
        path.exists().then(|| path.display().to_string())
    });
    let verified = |trust: fn(String) -> Trust| {
        let hint = "name the file with `sslrootcert=FILE` in the address, or `sslrootcert=system` for the system's";
        let roots = roots.clone();
        let roots = roots.ok_or_else(|| TableError::input(place, "no certificates to verify the server by", hint))?;
        Ok::<Trust, TableError>(trust(roots))
    };
    Ok(match mode.as_str() {
        "disable" => (SslMode::Disable, Trust::Any),
        "allow" | "prefer" => (SslMode::Prefer, Trust::Any),
        // As libpq does: certificates in the default place are used.
        "require" if roots.is_some() => (SslMode::Require, verified(Trust::Authority)?),
        "require" => (SslMode::Require, Trust::Any),
        "verify-ca" => (SslMode::Require, verified(Trust::Authority)?),
        "verify-full" => (SslMode::Require, verified(Trust::Host)?),
        other => {
            let hint = "known are disable, allow, prefer, require, verify-ca and verify-full";
            return Err(TableError::input(place, format!("unknown sslmode `{other}`"), hint));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_follows_the_database() {
        for (base, expected) in [
            ("postgres://host/db", ("postgres://host/db", None)),
            ("postgres://host", ("postgres://host", None)),
            ("postgres://host/db/", ("postgres://host/db", None)),
            ("postgres://ann:a/b@host:1/db/study", ("postgres://ann:a/b@host:1/db", Some("study"))),
        ] {
            assert_eq!(divided(base), expected, "{base}");
        }
    }
}
