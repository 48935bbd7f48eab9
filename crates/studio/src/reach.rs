//! The files that a policy or the description of a table has the program read. Both can come from
//! elsewhere, and must not lead out of the working folder.

use std::path::{Path, PathBuf};

use hedgerow::Policy;
use toml_edit::{DocumentMut, Item};

use crate::arguments::is_release;
use crate::confine::Confinement;
use crate::hierarchy_text::HierarchyText;

/// Entries of a release that are looked at.
const ENTRIES_MAX: usize = 2000;

/// A file, folder or pattern, with the key that names it.
pub(crate) type NamedPath = (String, PathBuf);

/// Everything that a policy names, as seen from its folder.
pub(crate) fn of_policy(policy: &Policy, text: &str, folder: &Path) -> Vec<NamedPath> {
    let mut named = Vec::new();
    let source = policy.source.path.to_string_lossy();
    match (&policy.source.database, source.strip_prefix("sqlite:")) {
        (None, _) => named.push(("source.path".to_owned(), folder.join(&policy.source.path))),
        (Some(_), Some(rest)) => {
            let file = rest.split('?').next().unwrap_or(rest).trim_start_matches("//");
            named.push(("source.path".to_owned(), folder.join(file)));
        }
        // As it is, with a password: what is shown without one may look like another.
        (Some(database), None) => {
            named.push(("source.url".to_owned(), PathBuf::from(database.address.danger_text())));
        }
    }
    for attribute in &policy.attributes {
        if let HierarchyText::File(file) = HierarchyText::of(text, &attribute.name) {
            named.push((format!("attributes.{}.hierarchy", attribute.name), folder.join(file)));
        }
    }
    let releases = policy.community.releases.iter();
    named.extend(releases.map(|release| ("community.releases".to_owned(), folder.join(release))));
    named
}

/// The server that an address of PostgreSQL leads to, with every parameter that could lead
/// elsewhere; `None` for anything but such an address. A policy from elsewhere must not have the
/// program connect, with the user's password, where the user does not want to.
pub(crate) fn server_of(address: &Path) -> Option<String> {
    let text = address.to_str()?;
    let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"))?;
    let (base, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let after_user = base.split_once('@').map_or(base, |(_, host)| host);
    if after_user.contains('@') {
        return Some(text.to_owned());
    }
    let host = after_user.split('/').next().unwrap_or_default();
    let is_harmless =
        |pair: &str| pair.is_empty() || ["table=", "query=", "password="].iter().any(|key| pair.starts_with(key));
    let others: Vec<&str> = parameters.split('&').filter(|pair| !is_harmless(pair)).collect();
    Some(format!("{host}?{}", others.join("&")))
}

/// The files that the `release.toml` of a table made elsewhere names.
fn of_description(folder: &Path) -> Vec<NamedPath> {
    let text = crate::document::read(&folder.join("release.toml")).unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let path_of = |item: &Item| item.as_str().map(str::to_owned);
    let source = document.get("source").and_then(|source| path_of(source.get("path")?));
    let mut named: Vec<NamedPath> =
        source.into_iter().map(|path| ("source.path".to_owned(), folder.join(path))).collect();
    let attributes = document.get("attributes").and_then(Item::as_table_like);
    for (name, attribute) in attributes.into_iter().flat_map(|attributes| attributes.iter()) {
        let hierarchy = attribute.get("hierarchy");
        let file = hierarchy.and_then(|hierarchy| {
            path_of(hierarchy).or_else(|| path_of(hierarchy.get("file").or_else(|| hierarchy.get("path"))?))
        });
        named.extend(file.map(|file| (format!("attributes.{name}.hierarchy"), folder.join(file))));
    }
    named
}

/// The files of the command line, and those that they name in turn.
pub(crate) fn of_arguments(named: &[PathBuf], policy: Option<&Path>) -> Vec<PathBuf> {
    let mut all = named.to_vec();
    if let Some(path) = policy {
        let folder = path.parent().unwrap_or(Path::new("."));
        let text = crate::document::read(path).unwrap_or_default();
        if let Ok(policy) = Policy::parse(&text, path) {
            all.extend(of_policy(&policy, &text, folder).into_iter().map(|(_, path)| fixed_part(&path)));
        }
    }
    let described: Vec<PathBuf> = all.iter().flat_map(|path| of_description(path)).map(|(_, path)| path).collect();
    all.extend(described);
    all
}

/// The first file of a policy that the studio may not read: its key and its path.
pub(crate) fn outside(confinement: &Confinement, policy: &Policy, text: &str, folder: &Path) -> Option<NamedPath> {
    of_policy(policy, text, folder).into_iter().find(|(key, path)| {
        let fixed = fixed_part(path);
        if !confinement.allows(&fixed) {
            return true;
        }
        let is_folder = key == "community.releases" || fixed != *path;
        is_folder && folders(&fixed).iter().any(|folder| leads_out(confinement, folder))
    })
}

/// Whether a release has a file that is a link out of where the studio may read, or describes one.
pub(crate) fn leads_out(confinement: &Confinement, release: &Path) -> bool {
    if !confinement.allows(release) {
        return true;
    }
    let described = of_description(release);
    let entries = std::fs::read_dir(release).into_iter().flatten().flatten().take(ENTRIES_MAX);
    described.into_iter().any(|(_, path)| !confinement.allows(&fixed_part(&path)))
        || entries.map(|entry| entry.path()).any(|path| path.is_symlink() && !confinement.allows(&path))
}

/// A folder that is a release, or the folders in one that is not.
fn folders(folder: &Path) -> Vec<PathBuf> {
    if is_release(folder) {
        return vec![folder.to_path_buf()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let inner = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    std::iter::once(folder.to_path_buf()).chain(inner).collect()
}

/// The folder in which a pattern begins; a path without a pattern as it is.
fn fixed_part(path: &Path) -> PathBuf {
    if server_of(path).is_some() {
        return path.to_path_buf();
    }
    let is_fixed = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?']);
    path.components().take_while(is_fixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "[source]\npath = \"SOURCE\"\n[attributes]\nage = { role = \"quasi\", hierarchy = \"AGE\" }\n\
                          [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n[community]\nreleases = [\"OTHERS\"]\n";

    #[test]
    fn the_server_of_an_address_is_what_follows_the_user() {
        let server = |address: &str| server_of(Path::new(address));
        assert_eq!(server("postgres://ann:secret@host:5432/study?table=t"), server("postgresql://host:5432/other"));
        for other in ["evil", "host:5433", "host?host=evil", "host?%68ost=evil", "ann@evil/x@host", "ann@host@evil"] {
            assert_ne!(server(&format!("postgres://{other}")), server("postgres://host"), "{other}");
        }
        for none in ["sqlite:people.db", "people.csv", "/postgres://host", ""] {
            assert_eq!(server(none), None, "{none}");
        }
    }

    #[test]
    fn what_a_policy_names_stays_in_the_folder() {
        let (inside, outside_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = inside.path().canonicalize().unwrap();
        let secret = outside_folder.path().join("secret.csv");
        std::fs::write(&secret, "age\n1\n").unwrap();
        std::fs::create_dir(folder.join("others")).unwrap();
        let judged = |confinement: &Confinement, source: &str, age: &str, others: &str| {
            let text = POLICY.replace("SOURCE", source).replace("AGE", age).replace("OTHERS", others);
            let path = folder.join("policy.toml");
            std::fs::write(&path, &text).unwrap();
            let policy = Policy::parse(&text, &path).unwrap();
            outside(confinement, &policy, &text, &folder).map(|(key, _)| key)
        };
        let confinement = Confinement::new(&folder, &[]).unwrap();
        let secret = secret.to_str().unwrap();
        assert_eq!(judged(&confinement, "a.csv", "age.csv", "others/*"), None);
        assert_eq!(judged(&confinement, secret, "age.csv", "others/*").as_deref(), Some("source.path"));
        assert_eq!(judged(&confinement, "../a.csv", "age.csv", "others/*").as_deref(), Some("source.path"));
        assert_eq!(judged(&confinement, "a.csv", secret, "others/*").as_deref(), Some("attributes.age.hierarchy"));
        assert_eq!(judged(&confinement, "a.csv", "age.csv", "../*").as_deref(), Some("community.releases"));
        let description = format!("[source]\npath = \"{secret}\"\n[attributes]\nage = {{ role = \"quasi\" }}\n");
        std::fs::create_dir(folder.join("others/one")).unwrap();
        std::fs::write(folder.join("others/one/release.toml"), description).unwrap();
        assert_eq!(judged(&confinement, "a.csv", "age.csv", "others/*").as_deref(), Some("community.releases"));
        assert!(leads_out(&confinement, &folder.join("others/one")));

        // What was named on the command line may name others.
        judged(&confinement, secret, "age.csv", "others/one");
        let named = of_arguments(&[], Some(&folder.join("policy.toml")));
        let named = Confinement::new(&folder, &named).unwrap();
        assert_eq!(judged(&named, secret, "age.csv", "others/one"), None);
        assert!(!leads_out(&named, &folder.join("others/one")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(secret, folder.join("a.csv")).unwrap();
            assert_eq!(judged(&confinement, "a.csv", "age.csv", "others/two").as_deref(), Some("source.path"));
            assert_eq!(
                judged(&confinement, "sqlite:a.csv?table=t", "age.csv", "others/two").as_deref(),
                Some("source.path")
            );
        }
    }
}
