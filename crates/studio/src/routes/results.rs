//! Work on what was published: exploring, measuring, asking, auditing; and the files that links
//! stand for.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{RouteAnswer, change, document, run};
use crate::engine::{self, Computed};
use crate::form::Form;
use crate::groups::Groups;
use crate::pages::explore::{chosen, named};
use crate::pages::export::release_files;
use crate::server::Server;

/// The largest file of a release that is downloaded; larger ones are in the folder.
const DOWNLOAD_BYTES_MAX: u64 = 1 << 30;
/// Characters of a query.
const SQL_CHARS_MAX: usize = 10_000;

fn lock(found: &Mutex<Computed>) -> MutexGuard<'_, Computed> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn explore(server: &Server, what: &str, form: &Form) -> Option<Result<(), String>> {
    Some(match what {
        "run" => run_explore(server),
        "use" => change(server, "method = full-domain", |doc| {
            crate::edit::set_section_key(doc, "publish", "method", Some("full-domain".into()))
        })
        .and_then(|()| run_explore(server)),
        "publish" => {
            let Some((_, found)) = server.studio.found().explored.clone() else {
                return Some(Err("Explore first.".to_owned()));
            };
            super::publish_release(server, form.get("destination"), named(&found, &chosen(&found, form)))
        }
        _ => return None,
    })
}

fn run_explore(server: &Server) -> Result<(), String> {
    run(server, "Exploring", "explore", false, |policy, data, version, found, monitor| {
        let explored = engine::explore(policy, data, monitor)?;
        lock(found).explored = Some((version, Arc::new(explored)));
        Ok(())
    })
}

pub(super) fn utility(server: &Server, what: &str, form: &Form) -> Option<Result<(), String>> {
    let Some(release) = server.studio.release() else {
        return Some(Err("There is no release yet.".to_owned()));
    };
    Some(match what {
        "measure" => run(server, "Measuring", "utility", false, move |policy, data, _, found, monitor| {
            let reported = engine::report(policy, data, &release, monitor)?;
            lock(found).reported = Some((release, Arc::new(reported)));
            Ok(())
        }),
        "query" => {
            let sql = form.get("sql").to_owned();
            if sql.chars().count() > SQL_CHARS_MAX {
                return Some(Err("The query is too long.".to_owned()));
            }
            run(server, "Asking", "utility", false, move |policy, data, _, found, _| {
                let outcome = engine::ask(policy, data, &release, &sql).map_err(|error| error.to_string());
                lock(found).query = Some((sql, Arc::new(outcome)));
                Ok(())
            })
        }
        _ => return None,
    })
}

pub(super) fn community(server: &Server, what: &str, form: &Form) -> Option<Result<(), String>> {
    let studio = &server.studio;
    Some(match what {
        "audit" => {
            let named = form.all("release").into_iter().map(|name| release_named(server, name));
            let named = match named.collect::<Result<Vec<PathBuf>, String>>() {
                Ok(named) if !named.is_empty() => named,
                Ok(_) => return Some(Err("Choose at least one release.".to_owned())),
                Err(problem) => return Some(Err(problem)),
            };
            let of_own = form.all("own").into_iter().filter_map(|name| studio.confinement.existing(name).ok());
            let of_own: Vec<PathBuf> = of_own.filter(|path| named.contains(path)).collect();
            // In the order in which they were made.
            let mut own: Vec<PathBuf> = studio.own_releases();
            own.retain(|path| of_own.contains(path));
            own.splice(0..0, of_own.into_iter().filter(|path| !studio.own_releases().contains(path)));
            studio.start(server.patience, "Auditing", "community", false, move |found, monitor| {
                let audited = engine::audit(&named, &own, monitor)?;
                lock(found).audited = Some(Arc::new(audited));
                Ok(())
            })
        }
        "catalog" => {
            let name = form.get("catalog").to_owned();
            let path = match catalog_named(server, &name) {
                Ok(path) => path,
                Err(problem) => return Some(Err(problem)),
            };
            studio.start(server.patience, "Auditing the catalog", "community", false, move |found, monitor| {
                let audited = engine::audit_catalog(&path, monitor)?;
                lock(found).catalog = Some((name, Arc::new(audited)));
                Ok(())
            })
        }
        "add" => add_to_community(server, form.get("release")),
        _ => return None,
    })
}

/// A release that a browser names, none of whose files leads out of the folder.
fn release_named(server: &Server, name: &str) -> Result<PathBuf, String> {
    let confinement = &server.studio.confinement;
    let path = confinement.existing(name)?;
    if crate::reach::leads_out(confinement, &path) {
        return Err(format!("{name}: a file of the release lies outside of {}", confinement.folder().display()));
    }
    Ok(path)
}

/// A catalog that a browser names, none of whose releases leads out of the folder.
fn catalog_named(server: &Server, name: &str) -> Result<PathBuf, String> {
    let confinement = &server.studio.confinement;
    let path = confinement.existing(name)?;
    let catalog = hedgerow::Catalog::load(&path).map_err(|error| error.to_string())?;
    for entry in catalog.entries() {
        if crate::reach::leads_out(confinement, &catalog.path(entry)) {
            return Err(format!("{name}: a file of {} lies outside of the folder", entry.name));
        }
    }
    Ok(path)
}

fn add_to_community(server: &Server, name: &str) -> Result<(), String> {
    let path = release_named(server, name)?;
    let current = document(server)?;
    let name = path.strip_prefix(current.document.folder()).unwrap_or(&path).display().to_string();
    change(server, &format!("{name} is in the community"), |doc| {
        let mut releases = crate::rule_text::community_in(&doc.to_string());
        releases.push(name.clone());
        let list = toml_edit::Value::Array(releases.iter().map(String::as_str).collect());
        crate::edit::set_section_key(doc, "community", "releases", Some(list))
    })
}

/// A table that another program made, uploaded by itself: it gets a folder and a description with
/// the roles that its columns seem to have.
pub(super) fn describe(server: &Server, path: &Path) -> Result<(), String> {
    let community = server.studio.confinement.folder().join("community");
    if path.parent() != Some(community.as_path()) {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = community.join(format!("{}-table", name.split('.').next().unwrap_or_default()));
    if folder.exists() {
        let _ = std::fs::remove_file(path);
        let shown = server.studio.confinement.shown(&folder);
        return Err(format!("{shown}: there already. Rename the table, and drop it again."));
    }
    let table = path.to_path_buf();
    let started = server.studio.start(server.patience, "Reading the table", "community", false, move |_, monitor| {
        let text = engine::description(&table, &name, monitor).inspect_err(|_| drop(std::fs::remove_file(&table)))?;
        let put = || {
            std::fs::create_dir(&folder)?;
            std::fs::rename(&table, folder.join(&name))?;
            std::fs::write(folder.join("release.toml"), text)
        };
        put().map_err(|error| {
            let _ = std::fs::remove_file(&table);
            let _ = std::fs::remove_dir_all(&folder);
            hedgerow::Error::io(&folder, error)
        })
    });
    started.inspect_err(|_| drop(std::fs::remove_file(path)))?;
    // A small table is read by now: what is wrong with it is the answer to the drop.
    let problem = server.studio.job().and_then(|job| job.standing().problem);
    problem.map_or(Ok(()), |problem| {
        server.studio.dismiss_job();
        Err(format!("{problem}; nothing was kept"))
    })
}

/// The file or page that a one-time link stands for.
pub(super) fn linked(server: &Server, kind: &str, name: &str) -> Option<RouteAnswer> {
    let studio = &server.studio;
    let download = |name: &str, bytes: Vec<u8>| Some(RouteAnswer::Download { name: name.to_owned(), bytes });
    let published = || studio.release();
    match kind {
        "policy" => {
            let current = document(server).ok()?;
            download(&current.document.path.file_name()?.to_string_lossy(), current.text.into_bytes())
        }
        "hierarchy" => {
            let policy = document(server).ok()?.policy.ok()?;
            let data = studio.found().data.clone()?;
            let hierarchy = hedgerow::hierarchy(&policy, &data.table, name).ok()?;
            download(&format!("{name}.csv"), Groups::from_rows(hierarchy.rows)?.text().into_bytes())
        }
        "release" => {
            let release = published()?;
            let name = release_files(&release).into_iter().find(|known| known == name)?;
            let path = release.join(&name);
            studio.confinement.allows(&path).then_some(())?;
            (std::fs::metadata(&path).ok()?.len() <= DOWNLOAD_BYTES_MAX).then_some(())?;
            download(&name, std::fs::read(path).ok()?)
        }
        "report" | "report-file" => {
            let (of, reports) = studio.found().reported.clone()?;
            // Another release may have been published since.
            (of == published()?).then_some(())?;
            match (kind, name) {
                ("report", _) => Some(RouteAnswer::Report(reports.internal.html.clone())),
                (_, "publishable") => download("report-for-readers.html", reports.publishable.clone().into_bytes()),
                _ => download("report.html", reports.internal.html.clone().into_bytes()),
            }
        }
        "nodes" => {
            let (_, found) = studio.found().explored.clone()?;
            match name {
                "svg" => download("lattice.svg", found.svg().into_bytes()),
                _ => download("nodes.csv", found.csv().into_bytes()),
            }
        }
        _ => None,
    }
}

/// The levels of a node as the command line takes them.
pub(super) fn levels_word(levels: &[(String, u64)]) -> Option<String> {
    (!levels.is_empty())
        .then(|| levels.iter().map(|(name, level)| format!("{name}={level}")).collect::<Vec<_>>().join(","))
}
