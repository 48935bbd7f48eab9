//! `hedgerow catalog`: the community's memory.

use std::process::ExitCode;

use hedgerow_publish::catalog::{Catalog, Entry};
use hedgerow_publish::community::open_any;
use serde_json::{Value, json};

use super::{claims_text, print, print_json};
use crate::args::{CatalogWhat, Talk};
use crate::failure::{BREACH, Failure};
use crate::progress::Bars;

pub(crate) fn run(what: &CatalogWhat, talk: &Talk) -> Result<ExitCode, Failure> {
    let bars = Bars::new(talk);
    match what {
        CatalogWhat::Add { catalog, release, name, custodian } => {
            let entry = Catalog::add(catalog, release, name.as_deref(), custodian.as_deref(), &bars)?;
            drop(bars);
            if talk.json {
                print_json(&to_json(&entry))?;
            } else if !talk.quiet {
                print(&format!("added  {}\ndigest {}\n", entry.name, entry.digest))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        CatalogWhat::List { catalog } => {
            let catalog = Catalog::load(catalog)?;
            let mut listed = Vec::new();
            let mut text = String::new();
            for entry in &catalog.entries {
                let opened = open_any(&catalog.path(entry), &bars)?;
                let rows = opened.rows();
                let mut object = to_json(entry);
                object["method"] = json!(opened.method());
                object["rows"] = json!(rows);
                listed.push(object);
                let custodian = entry.custodian.as_deref().unwrap_or("-");
                text.push_str(&format!("{}  {}  {rows} rows  {custodian}\n", entry.name, opened.method()));
            }
            drop(bars);
            if talk.json {
                print_json(&json!({ "releases": listed }))?;
            } else {
                print(&text)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        CatalogWhat::Show { catalog, name } => {
            let catalog = Catalog::load(catalog)?;
            show(&catalog, catalog.entry(name)?, talk, &bars)
        }
    }
}

fn show(catalog: &Catalog, entry: &Entry, talk: &Talk, bars: &Bars) -> Result<ExitCode, Failure> {
    let path = catalog.path(entry);
    let opened = open_any(&path, bars)?;
    let changed = opened.digest()? != entry.digest;
    let claims = opened.manifest().map_or_else(Vec::new, |manifest| manifest.hedgerow.guarantees.clone());
    if talk.json {
        let mut object = to_json(entry);
        object["method"] = json!(opened.method());
        object["guarantees"] = json!(claims);
        object["changed"] = json!(changed);
        object["contradictions"] = json!(opened.contradictions());
        print_json(&object)?;
    } else {
        let custodian = entry.custodian.as_deref().unwrap_or("unknown");
        let mut text = format!(
            "release    {}\ncustodian  {custodian}\nmethod     {}\ndigest     {}\n",
            entry.name,
            opened.method(),
            entry.digest
        );
        for table in opened.classes()? {
            text.push_str(&format!("table      {}: {} rows in {} classes\n", table.name, table.rows, table.len()));
        }
        text.push_str("guarantees, as claimed\n");
        text.push_str(&claims_text(&claims));
        if changed {
            text.push_str("CHANGED      its files differ from those that were added\n");
        }
        for problem in opened.contradictions() {
            text.push_str(&format!("INCONSISTENT {problem}\n"));
        }
        print(&text)?;
    }
    let wrong = changed || !opened.contradictions().is_empty();
    Ok(if wrong { ExitCode::from(BREACH) } else { ExitCode::SUCCESS })
}

fn to_json(entry: &Entry) -> Value {
    json!({ "name": entry.name, "custodian": entry.custodian, "digest": entry.digest })
}
