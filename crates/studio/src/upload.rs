//! Files that a browser sends: written next to their destination as they come, moved into place
//! when they are whole. Only this user can read them.

use std::path::PathBuf;

use axum::body::Body;
use http_body_util::BodyExt as _;

use crate::atomic_file::PartFile;
use crate::form::Form;
use crate::pages::open::is_table;
use crate::studio::Studio;

/// The largest file that a browser may send. Larger ones are named on the command line.
pub(crate) const UPLOAD_BYTES_MAX: u64 = 1 << 30;

/// Where files of each kind go: a table beside the policy, everything else into its own folder.
fn is_placed(kind: &str, name: &str) -> bool {
    let folder = name.split_once('/').map(|(folder, _)| folder);
    match kind {
        "data" => folder.is_none() && is_table(name),
        "release" => folder == Some("community"),
        "hierarchy" => folder == Some("hierarchies") && name.ends_with(".csv"),
        _ => false,
    }
}

/// Receives a file; `name` of the query is its path in the working folder.
pub(crate) async fn receive(studio: &Studio, query: &Form, length: Option<u64>, body: Body) -> Result<PathBuf, String> {
    let name = query.get("name");
    let too_large = || {
        let limit = UPLOAD_BYTES_MAX >> 20;
        format!("{name}: larger than {limit} MiB. Put the file into the folder and name it: hedgerow studio {name}")
    };
    if length.is_none_or(|length| length > UPLOAD_BYTES_MAX) {
        return Err(too_large());
    }
    let path = studio.confinement.new_path(name)?;
    if !is_placed(query.get("as"), name) {
        return Err(format!(
            "{name}: not a file that is expected here. A table is CSV, Parquet, Excel, Stata or JSON; a hierarchy is CSV."
        ));
    }
    let path = if query.get("as") == "hierarchy" { free(path) } else { path };
    let taken = || {
        format!("{name}: a file of this name is in the folder already. Choose it from the list, or rename the new one.")
    };
    if path.exists() {
        return Err(taken());
    }
    let failed = |error: std::io::Error| format!("{name}: {error}; nothing was kept");
    std::fs::create_dir_all(path.parent().ok_or("no folder")?).map_err(failed)?;
    let part = write(PartFile::beside(&path).map_err(failed)?, body, name).await?;
    // Two tabs may send files of one name.
    let _one_at_a_time = studio.placing();
    if path.exists() {
        return Err(taken());
    }
    part.into_place(&path).map_err(failed)?;
    Ok(path)
}

/// The path, or the same with a number where it is taken: a hierarchy is imported as often as it is
/// changed elsewhere.
fn free(path: PathBuf) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2..1000).map(|number| path.with_file_name(format!("{stem}-{number}.csv")));
    std::iter::once(path.clone()).chain(numbered).find(|path| !path.exists()).unwrap_or(path)
}

async fn write(mut part: PartFile, mut body: Body, name: &str) -> Result<PartFile, String> {
    let failed = |error: std::io::Error| format!("{name}: {error}; nothing was kept");
    let mut bytes = 0u64;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| format!("{name}: the upload was interrupted; nothing was kept"))?;
        let Ok(data) = frame.into_data() else { continue };
        bytes += data.len() as u64;
        if bytes > UPLOAD_BYTES_MAX {
            return Err(format!("{name}: larger than {} MiB", UPLOAD_BYTES_MAX >> 20));
        }
        part.write(&data).map_err(failed)?;
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_where_their_kind_belongs() {
        for (kind, name) in [("data", "a.csv"), ("data", "A.Parquet"), ("release", "community/x/datapackage.json")] {
            assert!(is_placed(kind, name), "{kind} {name}");
        }
        assert!(is_placed("hierarchy", "hierarchies/age.csv"));
        let refused = [
            ("data", "policy.toml"),
            ("data", "release/data.csv"),
            ("release", "policy.toml"),
            ("release", "x/release.toml"),
            ("hierarchy", "age.csv"),
            ("hierarchy", "hierarchies/policy.toml"),
            ("", "a.csv"),
            ("other", "community/a.csv"),
        ];
        for (kind, name) in refused {
            assert!(!is_placed(kind, name), "{kind} {name}");
        }
    }
}
