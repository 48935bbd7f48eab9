//! Where a password comes from that the address does not hold: `PGPASSWORD`, or a password file in
//! libpq's format, one line of `host:port:database:user:password` for each.

use std::env;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use postgres::Config;
use postgres::config::Host;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// Never shown, never kept beyond connecting.
pub(crate) fn find(config: &Config, file: Option<&str>) -> Option<String> {
    if let Ok(password) = env::var("PGPASSWORD")
        && !password.is_empty()
    {
        return Some(password);
    }
    let file = file.map(PathBuf::from).or_else(|| env::var_os("PGPASSFILE").map(PathBuf::from));
    let text = read(&file.or_else(|| Some(home()?.join(".pgpass")))?)?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    text.lines().find_map(|line| fitting(line, [&host, &port, database, user]))
}

pub(crate) fn home() -> Option<PathBuf> {
    env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// A file that others may read is not used, as libpq does not use it.
fn read(path: &Path) -> Option<String> {
    let file = fs::File::open(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata().ok()?.permissions().mode() & 0o077 != 0 {
            return None;
        }
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

fn fitting(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => fields.last_mut()?.extend(characters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    let fits = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
    (fields.len() == 5 && fields.iter().zip(wanted).all(fits)).then(|| fields.swap_remove(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_password_file_fits_by_all_four_fields() {
        let wanted = ["host", "5432", "db", "ann"];
        assert_eq!(fitting("host:5432:db:ann:secret", wanted), Some("secret".to_owned()));
        assert_eq!(fitting("*:*:*:ann:with\\:colon:and more", wanted), Some("with:colon:and more".to_owned()));
        assert_eq!(fitting("host:5433:db:ann:secret", wanted), None);
        assert_eq!(fitting("#host:5432:db:ann:secret", wanted), None);
        assert_eq!(fitting("host:5432:db", wanted), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        fs::write(&path, "*:*:*:*:secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(read(&path), None);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&path).as_deref(), Some("*:*:*:*:secret\n"));
    }
}
