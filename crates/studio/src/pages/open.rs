//! Opening a table: dropped, chosen from the folder, or read from a database.

use maud::{Markup, html};

use crate::server::Server;
use crate::upload::UPLOAD_BYTES_MAX;

/// The suffixes of tables.
const SUFFIXES: &[&str] =
    &["csv", "tsv", "txt", "parquet", "ndjson", "jsonl", "xlsx", "xls", "ods", "dta", "gz", "zst"];
/// Files that are listed.
const FILES_MAX: usize = 200;

pub(crate) fn page(server: &Server) -> Markup {
    let folder = server.studio.confinement.folder();
    let (data, policies) = listed(folder);
    html! {
        div.drop #drop data-upload="data" data-limit=(UPLOAD_BYTES_MAX) {
            p.large { "Drop a file here" }
            p.soft { "CSV, Parquet, Excel, Stata or newline-delimited JSON, up to " (UPLOAD_BYTES_MAX >> 30) " GiB. It is copied into the working folder and goes nowhere else." }
            label.button for="file" { "Choose a file" }
            input #file.hidden-input type="file" data-upload="data" data-limit=(UPLOAD_BYTES_MAX);
            progress #upload-progress max="1" value="0" hidden aria-label="Upload" {}
        }
        h2 { "In the folder " code { (folder.display()) } }
        @if data.is_empty() && policies.is_empty() { p.soft { "No table and no policy." } }
        ul.files {
            @for name in &policies { li { button hx-post="/open" name="policy" value=(name) hx-target="#app" hx-swap="outerHTML" hx-push-url="/data" { code { (name) } span.soft { "policy" } } } }
            @for name in &data { li { button hx-post="/open" name="data" value=(name) hx-target="#app" hx-swap="outerHTML" hx-push-url="/data" { code { (name) } span.soft { "table" } } } }
        }
        h2 { "In a database" }
        form.row hx-post="/open" hx-target="#app" hx-swap="outerHTML" hx-push-url="/data" {
            label { span { "Address" } input type="text" name="address" size="44" placeholder="postgres://user@host/database?table=patients"; }
            button { "Read" }
        }
        p.soft { "The password of PostgreSQL comes from PGPASSWORD or a password file. A SQLite file must be in the folder: " code { "sqlite:people.db?table=patients" } }
    }
}

/// The tables and the policies of a folder.
pub(crate) fn listed(folder: &std::path::Path) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let data = names.iter().filter(|name| is_table(name)).take(FILES_MAX).cloned().collect();
    let policies = names.iter().filter(|name| has_suffix(name, &["toml"]) && *name != "release.toml").take(FILES_MAX);
    (data, policies.cloned().collect())
}

/// Whether a file is called as tables are.
pub(crate) fn is_table(name: &str) -> bool {
    has_suffix(name, SUFFIXES)
}

fn has_suffix(name: &str, known: &[&str]) -> bool {
    let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix.to_lowercase()).unwrap_or_default();
    known.contains(&suffix.as_str())
}
