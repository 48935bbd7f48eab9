//! The action of each request. A GET shows a page; a POST changes the document or starts work, and
//! shows the page it came from.

mod hierarchies;
mod results;

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow::Policy;
use maud::Markup;
use toml_edit::DocumentMut;

use crate::arguments::is_address;
use crate::edit;
use crate::engine::{self, Data};
use crate::form::Form;
use crate::pages::models::{PRESETS, text};
use crate::pages::{PageView, STEPS, frame, progress};
use crate::server::Server;
use crate::studio::Current;

/// A request of a browser that is inside.
#[derive(Debug)]
pub(crate) struct BrowserRequest {
    pub(crate) is_post: bool,
    pub(crate) path: String,
    pub(crate) query: Form,
    pub(crate) form: Form,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) enum RouteAnswer {
    Page(String),
    Text(String),
    /// A report: styles in the page, no script.
    Report(String),
    Download {
        name: String,
        bytes: Vec<u8>,
    },
    NotFound,
}

impl From<Markup> for RouteAnswer {
    fn from(markup: Markup) -> RouteAnswer {
        RouteAnswer::Page(markup.into_string())
    }
}

pub(crate) fn is_page(path: &str) -> bool {
    path == "/open" || STEPS.iter().any(|step| path.strip_prefix('/') == Some(step.path))
}

pub(crate) fn answer(server: &Server, requested: &BrowserRequest) -> RouteAnswer {
    let path = requested.path.as_str();
    if !requested.is_post {
        return match path {
            "/data/sets" => fragment(server, requested, crate::pages::data::sets),
            "/hierarchies/levels" => fragment(server, requested, crate::pages::hierarchies::levels),
            "/explore/preview" => fragment(server, requested, crate::pages::explore::preview),
            "/explore/why" => fragment(server, requested, crate::pages::explore::why),
            "/publish/checked" => fragment(server, requested, crate::pages::publish::checked),
            "/rules/implied" => fragment(server, requested, crate::pages::rules::implied),
            "/open" => frame::with_nothing_open(server, None).into(),
            "/job" => {
                let has_pictures = requested.query.get("pictures") != "no";
                progress::poll(server, known_page(requested.query.get("page")), has_pictures).into()
            }
            path if is_page(path) || path == "/" => {
                frame::app(server, known_page(&path[1..]), &requested.query, None).into()
            }
            _ => RouteAnswer::NotFound,
        };
    }
    let form = &requested.form;
    if path == "/link" {
        return RouteAnswer::Text(server.guard.new_link(form.get("what")).unwrap_or_else(|problem| problem));
    }
    let named = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    // A chosen node is published on the page of releases.
    let named = if path == "/explore/publish" { "publish" } else { named };
    let page = if form.has("page") { known_page(form.get("page")) } else { known_page(named) };
    let done = match path {
        "/job/cancel" | "/job/finish" => {
            if let Some(job) = server.studio.job() {
                if path == "/job/cancel" {
                    job.cancel.cancel()
                } else {
                    job.cancel.finish_early()
                }
                job.wait(server.patience.left());
            }
            return progress::poll(server, page, true).into();
        }
        _ => act(server, path, form),
    };
    match done {
        Some(done) => frame::app(server, page, form, done.err().as_deref()).into(),
        None => RouteAnswer::NotFound,
    }
}

/// A part of a page that takes longer than the rest, and is fetched by itself.
fn fragment(server: &Server, requested: &BrowserRequest, part: impl Fn(&PageView<'_>) -> Markup) -> RouteAnswer {
    let Ok(current) = document(server) else { return RouteAnswer::NotFound };
    let data = server.studio.found().data.clone();
    part(&PageView { server, current: &current, data, query: &requested.query }).into()
}

/// The name of a step; the first one for anything else.
fn known_page(name: &str) -> &'static str {
    STEPS.iter().find(|step| step.path == name).unwrap_or(&STEPS[0]).path
}

/// Does what a POST asks for; `None` for what does not exist.
fn act(server: &Server, path: &str, form: &Form) -> Option<Result<(), String>> {
    let studio = &server.studio;
    Some(match path {
        "/undo" => document(server).and_then(|current| current.document.undo()),
        "/restore" => {
            studio.document().ok_or_else(|| "No policy is open.".to_owned()).and_then(|document| document.restore())
        }
        "/job/dismiss" => {
            studio.dismiss_job();
            studio.found().unreadable = None;
            Ok(())
        }
        "/open" => open(server, form),
        "/data/role" => {
            let (name, role) = (form.get("name"), form.get("role"));
            let what = if role.is_empty() { format!("omit {name}") } else { format!("{name} is {role}") };
            change(server, &what, |doc| edit::set_role(doc, name, Some(role).filter(|role| !role.is_empty())))
        }
        "/data/quasi" => {
            let names: Vec<&str> = form.get("names").lines().collect();
            change(server, &format!("{} are quasi-identifiers", names.join(", ")), |doc| {
                names.iter().try_for_each(|name| edit::set_role(doc, name, Some("quasi")))
            })
        }
        "/data/sets" => count_sets(server),
        path if path.starts_with("/rules/") => return rules(server, &path["/rules/".len()..], form),
        path if path.starts_with("/hierarchies/") => {
            return hierarchies::act(server, &path["/hierarchies/".len()..], form);
        }
        path if path.starts_with("/explore/") => return results::explore(server, &path["/explore/".len()..], form),
        path if path.starts_with("/utility/") => return results::utility(server, &path["/utility/".len()..], form),
        path if path.starts_with("/community/") => {
            return results::community(server, &path["/community/".len()..], form);
        }
        path if path.starts_with("/publish/") => return publish(server, &path["/publish/".len()..], form),
        _ => return None,
    })
}

fn rules(server: &Server, what: &str, form: &Form) -> Option<Result<(), String>> {
    let (rule, place) = (form.number("rule").unwrap_or(usize::MAX), form.number("place").unwrap_or(0));
    let number = rule.saturating_add(1);
    // A tab that was left open shows rules that may have moved since.
    if form.has("of") && !document(server).is_ok_and(|current| is_rule(&current.text, rule, form.get("of"))) {
        let problem =
            format!("Rule {number} is another one by now: the policy was changed meanwhile. This is how it is.");
        return Some(Err(problem));
    }
    Some(match what {
        "set" => {
            let (key, value) = (form.get("key"), form.get("value"));
            change(server, &format!("{key} = {value} in rule {number}"), |doc| {
                edit::set_parameter(doc, (rule, place), key, value)
            })
        }
        "know" => {
            let mut names = form.all("know");
            // From every quasi-identifier to a list: the list starts with all of them.
            let current = document(server);
            if let (true, Ok(Ok(policy))) = (names.is_empty(), current.as_ref().map(|current| current.policy.as_ref()))
            {
                names = policy.quasi().map(|attribute| attribute.name.as_str()).collect();
            }
            let known = if form.has("all") { None } else { Some(names.as_slice()) };
            change(server, &format!("what the attacker of rule {number} knows"), |doc| edit::set_know(doc, rule, known))
        }
        "protect" => {
            let name = Some(form.get("protect")).filter(|name| !name.is_empty());
            change(server, &format!("rule {number} protects {}", name.unwrap_or("nothing")), |doc| {
                edit::set_protect(doc, rule, name)
            })
        }
        "add" | "preset" => {
            let preset = form.number("preset").and_then(|place| PRESETS.get(place));
            let name = preset.map_or(form.get("model"), |preset| preset.model);
            let Some(model) = text(name) else { return Some(Err(format!("{name:?} is not a model"))) };
            let first: Vec<(&str, &str)> =
                model.parameters.iter().map(|(parameter, _)| (parameter.key, parameter.first)).collect();
            let parameters = preset.map_or(first.as_slice(), |preset| preset.parameters);
            let protect = Some(form.get("protect")).filter(|name| !name.is_empty() && model.needs_protected);
            let there = preset.and_then(|_| {
                let current = document(server).ok()?;
                crate::rule_text::place_of(&current.text, name, protect)
            });
            if let Some(at) = there {
                let words: Vec<String> = parameters.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                return Some(change(server, &format!("{} in rule {}", words.join(", "), at.0 + 1), |doc| {
                    parameters.iter().try_for_each(|(key, value)| edit::set_parameter(doc, at, key, value))
                }));
            }
            change(server, &format!("add {}", model.title), |doc| {
                edit::add_rule(doc, protect, edit::model_table(name, parameters))
            })
        }
        "add-model" => {
            let Some(model) = text(form.get("model")) else { return Some(Err("No such model.".to_owned())) };
            let first: Vec<(&str, &str)> =
                model.parameters.iter().map(|(parameter, _)| (parameter.key, parameter.first)).collect();
            change(server, &format!("{} in rule {number}", model.title), |doc| {
                edit::add_model(doc, rule, edit::model_table(model.name, &first))
            })
        }
        "remove-model" => {
            change(server, &format!("a model less in rule {number}"), |doc| edit::remove_model(doc, rule, place))
        }
        "remove" => change(server, &format!("remove rule {number}"), |doc| edit::remove_rule(doc, rule)),
        _ => return None,
    })
}

/// Whether the rule at a place is the one that a page showed there.
fn is_rule(text: &str, place: usize, shown: &str) -> bool {
    crate::rule_text::rules_in(text).get(place).is_some_and(|rule| rule.stamp() == shown)
}

fn publish(server: &Server, what: &str, form: &Form) -> Option<Result<(), String>> {
    Some(match what {
        "set" => {
            let (key, value) = (form.get("key").to_owned(), form.get("value").to_owned());
            if !["method", "loss"].contains(&key.as_str()) {
                return None;
            }
            let what = if value.is_empty() { format!("no {key}") } else { format!("{key} = {value}") };
            change(server, &what, |doc| {
                let value = Some(value.as_str().into()).filter(|_| !value.is_empty());
                edit::set_section_key(doc, "publish", &key, value)
            })
        }
        "suppression" => match form.get("value").parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => {
                let share = format!("{}", (percent * 1e4).round() / 1e6);
                change(server, &format!("suppression = {share}"), |doc| {
                    edit::set_section_key(doc, "publish", "suppression", Some(edit::number_or_text(&share)))
                })
            }
            _ => Err("The share of rows that may be suppressed is from 0 to 100 %.".to_owned()),
        },
        "run" => publish_release(server, form.get("destination"), Vec::new()),
        "compare" => run(server, "Comparing methods", "publish", false, |policy, data, version, found, monitor| {
            let compared = engine::compare(policy, data, monitor)?;
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).compared =
                Some((version, Arc::new(compared)));
            Ok(())
        }),
        _ => return None,
    })
}

/// Publishes into a folder of the working folder, at chosen levels where some are given.
pub(crate) fn publish_release(server: &Server, destination: &str, levels: Vec<(String, u64)>) -> Result<(), String> {
    let destination = server.studio.confinement.new_path(destination)?;
    let word = results::levels_word(&levels);
    run(server, "Publishing", "publish", true, move |policy, data, version, found, monitor| {
        let published = engine::publish(policy, data, &destination, levels, monitor)?;
        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (found.published, found.levels) = (Some((version, Arc::new(published))), word);
        (found.reported, found.query) = (None, None);
        Ok(())
    })
}

/// Starts work that needs the policy and the data.
pub(crate) fn run(
    server: &Server,
    name: &str,
    page: &'static str,
    can_finish_early: bool,
    work: impl FnOnce(
        &Policy,
        &Data,
        String,
        &std::sync::Mutex<engine::Computed>,
        &hedgerow::Monitor<'_>,
    ) -> Result<(), hedgerow::Error>
    + Send
    + 'static,
) -> Result<(), String> {
    let current = document(server)?;
    let policy = current.policy.map_err(|_| "The policy has problems: mend them first.".to_owned())?;
    let data = server.studio.data(&policy, server.patience).ok_or("The data is not read yet, or cannot be read.")?;
    if engine::stamp(&policy).is_none() {
        return Err(format!("{}: the data file does not exist any more.", policy.source.path.display()));
    }
    let version = current.version;
    server.studio.start(server.patience, name, page, can_finish_early, move |found, monitor| {
        work(&policy, &data, version, found, monitor)
    })
}

fn count_sets(server: &Server) -> Result<(), String> {
    let current = document(server)?;
    let policy = current.policy.as_ref().map_err(|_| "The policy has problems: mend them first.".to_owned())?;
    let data = server.studio.data(policy, server.patience).ok_or("The data is not read yet.")?;
    let names = engine::candidates(policy, &data.table);
    server.studio.start(server.patience, "Counting sets of columns", "data", false, move |found, monitor| {
        let sets = engine::sets(&data, &names, monitor)?;
        found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).sets = Some(Arc::new(sets));
        Ok(())
    })
}

pub(crate) fn document(server: &Server) -> Result<Current, String> {
    server.studio.current().ok_or_else(|| "No policy is open.".to_owned())?
}

pub(crate) fn change(
    server: &Server,
    what: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), String>,
) -> Result<(), String> {
    document(server)?.document.change(what, |doc| edit(doc).map(|()| Vec::new()))
}

fn open(server: &Server, form: &Form) -> Result<(), String> {
    let studio = &server.studio;
    if form.has("policy") {
        return studio.open_policy(&studio.confinement.existing(form.get("policy"))?);
    }
    if form.has("address") {
        return studio.open_data(&database(server, form.get("address"))?, server.patience);
    }
    studio.open_data(&studio.confinement.existing(form.get("data"))?, server.patience)
}

/// The address of a database; a SQLite file must be one that the studio may read.
fn database(server: &Server, address: &str) -> Result<PathBuf, String> {
    let address = address.trim();
    if let Some(rest) = address.strip_prefix("sqlite:") {
        let (file, parameters) = rest.split_once('?').map_or((rest, ""), |(file, parameters)| (file, parameters));
        let path = server.studio.confinement.existing(file.trim_start_matches("//"))?;
        let parameters = if parameters.is_empty() { String::new() } else { format!("?{parameters}") };
        return Ok(format!("sqlite:{}{parameters}", path.display()).into());
    }
    let path = PathBuf::from(address);
    if is_address(&path) {
        server.studio.confinement.allow_database(&path);
        Ok(path)
    } else {
        Err("The address of a database begins with postgres:// or sqlite:".to_owned())
    }
}

/// After a file was received.
pub(crate) fn uploaded(server: &Server, query: &Form, received: Result<PathBuf, String>) -> RouteAnswer {
    let done = received.and_then(|path| match query.get("as") {
        "data" => server.studio.open_uploaded(&path, server.patience),
        "release" => results::describe(server, &path),
        "hierarchy" => hierarchies::use_file(server, query.get("attribute"), &path).map_err(|problem| {
            let _ = std::fs::remove_file(&path);
            format!("{problem}; nothing was kept")
        }),
        _ => Ok(()),
    });
    match done {
        Ok(()) => RouteAnswer::Text(String::new()),
        Err(problem) => RouteAnswer::Text(problem),
    }
}

/// The answer to a one-time link.
pub(crate) fn once(server: &Server, what: &str) -> RouteAnswer {
    let (kind, name) = what.split_once(':').unwrap_or((what, ""));
    results::linked(server, kind, name).unwrap_or(RouteAnswer::NotFound)
}
