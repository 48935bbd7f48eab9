//! `hedgerow catalog`: the community's memory.

use std::process::ExitCode;

use hedgerow::{AddToCatalog, Catalog, CatalogEntry, Claim};
use serde::Serialize;

use super::{claims_text, print, print_json};
use crate::args::{CatalogWhat, Talk};
use crate::failure::{BREACH, Failure};
use crate::progress::ProgressDisplay;

#[derive(Serialize)]
struct Listed<'a> {
    releases: Vec<ListedRelease<'a>>,
}

#[derive(Serialize)]
struct ListedRelease<'a> {
    #[serde(flatten)]
    entry: &'a CatalogEntry,
    method: String,
    /// Released rows.
    rows: u64,
}

#[derive(Serialize)]
struct ShownRelease<'a> {
    #[serde(flatten)]
    entry: &'a CatalogEntry,
    method: &'a str,
    guarantees: &'a [Claim],
    /// Whether its files differ from those that were added.
    changed: bool,
    contradictions: &'a [String],
}

pub(crate) fn run(what: &CatalogWhat, talk: &Talk) -> Result<ExitCode, Failure> {
    let shown = ProgressDisplay::new(talk);
    let monitor = shown.monitor();
    match what {
        CatalogWhat::Add { catalog, release, name, custodian } => {
            let add = AddToCatalog::new(catalog, release).name(name.clone()).custodian(custodian.clone());
            let entry = add.run_with(&monitor)?;
            if talk.json {
                print_json(&entry)?;
            } else if !talk.quiet {
                print(&format!("added  {}\ndigest {}\n", entry.name, entry.digest))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        CatalogWhat::List { catalog } => {
            let catalog = Catalog::load(catalog)?;
            let mut listed = Vec::new();
            let mut text = String::new();
            for entry in catalog.entries() {
                let (release, _) = catalog.open_with(entry, &monitor)?;
                let (method, rows) = (release.method(), release.rows());
                let custodian = entry.custodian.as_deref().unwrap_or("-");
                text.push_str(&format!("{}  {method}  {rows} rows  {custodian}\n", entry.name));
                listed.push(ListedRelease { entry, method: method.to_owned(), rows });
            }
            if talk.json {
                print_json(&Listed { releases: listed })?;
            } else {
                print(&text)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        CatalogWhat::Show { catalog, name } => {
            let catalog = Catalog::load(catalog)?;
            show(&catalog, catalog.entry(name)?, talk, &monitor)
        }
    }
}

fn show(
    catalog: &Catalog,
    entry: &CatalogEntry,
    talk: &Talk,
    monitor: &hedgerow::Monitor<'_>,
) -> Result<ExitCode, Failure> {
    let (release, unchanged) = catalog.open_with(entry, monitor)?;
    let claims = release.guarantees();
    let contradictions = release.contradictions();
    if talk.json {
        let method = release.method();
        print_json(&ShownRelease { entry, method, guarantees: claims, changed: !unchanged, contradictions })?;
    } else {
        let custodian = entry.custodian.as_deref().unwrap_or("unknown");
        let mut text = format!(
            "release    {}\ncustodian  {custodian}\nmethod     {}\ndigest     {}\n",
            entry.name,
            release.method(),
            entry.digest
        );
        for table in release.classes()? {
            text.push_str(&format!("table      {}: {} rows in {} classes\n", table.name, table.rows, table.len()));
        }
        text.push_str("guarantees, as claimed\n");
        text.push_str(&claims_text(claims));
        if !unchanged {
            text.push_str("CHANGED       its files differ from those that were added\n");
        }
        for problem in contradictions {
            text.push_str(&format!("CONTRADICTION {problem}\n"));
        }
        print(&text)?;
    }
    let wrong = !unchanged || !contradictions.is_empty();
    Ok(if wrong { ExitCode::from(BREACH) } else { ExitCode::SUCCESS })
}
