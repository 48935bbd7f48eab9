//! The repository as a plain value, read once: its text files and its crates. The checks take this
//! value and nothing else, so that each can be tried on a repository built in a test.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Data files beyond this size are listed but not read.
const TEXT_BYTES_MAX: u64 = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct Repo {
    pub(crate) files: Vec<File>,
    pub(crate) packages: Vec<Package>,
}

/// A file that git tracks, or would if it were added.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/` between the parts.
    pub(crate) path: String,
    /// Absent when the file is not UTF-8 or too large to be a text that people wrote.
    pub(crate) text: Option<String>,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder of its manifest, relative to the root.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<CrateDependency>,
}

#[derive(Debug)]
pub(crate) struct CrateDependency {
    pub(crate) name: String,
    pub(crate) only_for_tests: bool,
}

impl Repo {
    pub(crate) fn read() -> Result<Repo, String> {
        let root = root();
        let files = list_files(&root)?
            .into_iter()
            .map(|path| {
                let bytes = std::fs::metadata(root.join(&path)).map_or(0, |metadata| metadata.len());
                File { text: read_text(&root.join(&path)), bytes, path }
            })
            .collect::<Vec<_>>();
        Ok(Repo { files, packages: read_packages(&root)? })
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text.as_deref()
    }

    /// Whether a file of that name exists, or a folder with a file in it.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.iter().any(|file| {
            file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) || path.is_empty()
        })
    }

    /// The files written in Rust, with their text.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(|file| file.path.ends_with(".rs"))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }
}

impl Package {
    /// The crate without the prefix `hedgerow-`, as the documents name it.
    pub(crate) fn short_name(&self) -> &str {
        self.name.strip_prefix("hedgerow-").unwrap_or(&self.name)
    }
}

/// Where cargo runs this program from, rather than where it was built: a build may be kept and used
/// in another checkout.
pub(crate) fn root() -> PathBuf {
    let built_in = || env!("CARGO_MANIFEST_DIR").into();
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(built_in));
    here.parent().expect("xtask lies in a folder of the workspace").to_path_buf()
}

/// Writes a file of the repository.
pub(crate) fn write(path: &str, text: &str) -> Result<(), String> {
    std::fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))
}

/// Cargo tells its children which cargo they run under, and of which package they are. Some build
/// scripts read the latter, so that their crates would be built again whenever a build by hand
/// follows one of ours: it is removed.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    let names = std::env::vars_os().map(|(name, _)| name);
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for name in names.filter(|name| name.to_str().is_some_and(is_of_package)) {
        command.env_remove(name);
    }
    command
}

fn read_text(path: &Path) -> Option<String> {
    if std::fs::metadata(path).ok()?.len() > TEXT_BYTES_MAX {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

fn list_files(root: &Path) -> Result<Vec<String>, String> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let mut files = match listing {
        Ok(listing) if listing.status.success() => {
            let names = String::from_utf8(listing.stdout).map_err(|_| "a file name is not UTF-8")?;
            // A file deleted but not yet committed is still listed.
            names.split('\0').filter(|name| !name.is_empty() && root.join(name).is_file()).map(str::to_owned).collect()
        }
        // An unpacked archive has no history: then every file counts, but for what building leaves
        // behind.
        _ => {
            let mut files = Vec::new();
            walk(root, "", &mut files).map_err(|cause| format!("{}: {cause}", root.display()))?;
            files
        }
    };
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(root: &Path, folder: &str, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && name != "target" && name != ".git" {
            walk(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn read_packages(root: &Path) -> Result<Vec<Package>, String> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .map_err(|cause| format!("cargo could not be started: {cause}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata = serde_json::from_slice(&output.stdout).map_err(|cause| format!("cargo metadata: {cause}"))?;
    parse_packages(&metadata, root).ok_or_else(|| "cargo metadata has a shape this program does not know".to_owned())
}

fn parse_packages(metadata: &Value, root: &Path) -> Option<Vec<Package>> {
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array()? {
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
        let mut dependencies = Vec::new();
        for dependency in package["dependencies"].as_array()? {
            dependencies.push(CrateDependency {
                name: dependency["name"].as_str()?.to_owned(),
                only_for_tests: dependency["kind"] == "dev",
            });
        }
        packages.push(Package {
            name: package["name"].as_str()?.to_owned(),
            folder: folder.strip_prefix(root).ok()?.to_str()?.replace('\\', "/"),
            dependencies,
        });
    }
    packages.sort_by(|a, b| a.folder.cmp(&b.folder));
    Some(packages)
}

#[cfg(test)]
impl Repo {
    /// A repository for a test: each file is a path and its text.
    pub(crate) fn made_of(files: &[(&str, &str)]) -> Repo {
        let file = |(path, text): &(&str, &str)| {
            let bytes = text.len() as u64;
            File { path: path.to_string(), text: Some(text.to_string()), bytes }
        };
        Repo { files: files.iter().map(file).collect(), packages: Vec::new() }
    }

    /// Adds a crate under `crates/` with these dependencies; a name after `dev:` is for tests only.
    pub(crate) fn with_crate(mut self, name: &str, dependencies: &[&str]) -> Repo {
        let dependencies = dependencies
            .iter()
            .map(|name| CrateDependency {
                name: name.trim_start_matches("dev:").to_owned(),
                only_for_tests: name.starts_with("dev:"),
            })
            .collect();
        self.packages.push(Package {
            name: format!("hedgerow-{name}"),
            folder: format!("crates/{name}"),
            dependencies,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_come_out_of_metadata_with_their_folder_and_the_kind_of_each_dependency() {
        let metadata: Value = serde_json::from_str(
            r#"{"packages": [{"name": "hedgerow-audit", "manifest_path": "/somewhere/crates/audit/Cargo.toml",
                "dependencies": [{"name": "rand", "kind": null}, {"name": "tempfile", "kind": "dev"}]}]}"#,
        )
        .unwrap();
        let packages = parse_packages(&metadata, Path::new("/somewhere")).unwrap();
        assert_eq!((packages[0].short_name(), packages[0].folder.as_str()), ("audit", "crates/audit"));
        let kinds: Vec<bool> = packages[0].dependencies.iter().map(|dependency| dependency.only_for_tests).collect();
        assert_eq!(kinds, [false, true]);
        assert!(parse_packages(&serde_json::json!({"packages": 3}), Path::new("/")).is_none());
    }

    #[test]
    fn folders_exist_when_something_lies_in_them() {
        let repo = Repo::made_of(&[("crates/table/src/lib.rs", "")]);
        assert!(repo.has("crates/table/src/lib.rs"));
        assert!(repo.has("crates/table/"));
        assert!(!repo.has("crates/tab"));
        assert!(!repo.has("crates/table/src/lib"));
    }
}
