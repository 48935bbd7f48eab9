//! Community: releases of others and of one's own, who is exposed by all together and why, and what
//! a catalog holds.

use std::path::{Path, PathBuf};

use hedgerow::Audited;
use maud::{Markup, html};

use super::PageView;

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    let studio = &view.server.studio;
    let known = studio.known_releases();
    let together = studio.found().audited.clone();
    let in_policy: Vec<PathBuf> = community_of(view);
    let own = together.as_ref().map_or_else(|| studio.own_releases(), |together| together.own.clone());
    html! {
        p { "Each release alone may keep its promise, and all together may not: an attacker keeps only the values that every release allows for a person." }
        form #releases hx-post="/community/audit" hx-target="#app" hx-swap="outerHTML" {
            fieldset {
                legend { "Releases" }
                @if known.is_empty() { p.soft { "None in the folder yet: publish one, or drop one below." } }
                @for (place, path) in known.iter().enumerate() {
                    @let name = studio.confinement.shown(path);
                    @let is_chosen = together.as_ref().is_none_or(|together| together.releases.contains(path));
                    div.release {
                        label { input #{ "release-" (place) } type="checkbox" name="release" value=(name) checked[is_chosen]; code { (name) } " " span.soft { (kind(path)) } }
                        label.soft { input #{ "own-" (place) } type="checkbox" name="own" value=(name) checked[own.contains(path)]; "of my own table" }
                        @if in_policy.contains(path) { span.tag { "in the policy’s community" } }
                        @else if !is_own(view, path) {
                            button.small type="button" hx-post="/community/add" hx-vals=(serde_json::json!({ "release": name }).to_string()) { "Count it in the policy" }
                        }
                    }
                }
            }
            @if known.len() > 1 { p.soft { "Releases of your own table are also compared with the one before each: who came, left or changed." } }
            @if !known.is_empty() { div.row { button #audit.primary { "Audit together" } } }
        }
        div.drop data-upload="release" data-prefix="community/" data-limit=(crate::upload::UPLOAD_BYTES_MAX) {
            p { "Drop a release here: a folder, or a table that another program made." }
            label.button for="release-file" { "Choose a table" }
            input #release-file.hidden-input type="file" data-upload="release" data-prefix="community/" data-limit=(crate::upload::UPLOAD_BYTES_MAX);
            " "
            label.button for="release-folder" { "Choose a folder" }
            input #release-folder.hidden-input type="file" webkitdirectory data-upload="release" data-prefix="community/" data-limit=(crate::upload::UPLOAD_BYTES_MAX);
        }
        @if let Some(together) = together {
            section #together-result {
                h2 { @if together.is_breach() { span.bad-text { "Breach: people are exposed by these releases" } } @else { span.good-text { "No breach was found" } } }
                @if let Some(differences) = &together.differences { (rereleases(differences)) }
                @for section in together.reported.sections() {
                    @if ["together", "adversaries", "verdict"].contains(&section.id.as_str()) {
                        section.report aria-labelledby=(section.id) { h3 id=(section.id) { (section.title) } (section.body) }
                    }
                }
            }
        }
        (catalogs(view))
    }
}

fn kind(path: &Path) -> &'static str {
    if path.join("datapackage.json").is_file() {
        "made by hedgerow"
    } else {
        "made elsewhere, described by its release.toml"
    }
}

/// The values that follow from how each release of one table differs from the one before.
fn rereleases(audited: &Audited) -> Markup {
    html! {
        section #differences {
            h3 { "From one release of your own to the next" }
            @if audited.findings.is_empty() { p.soft { "They share no sensitive attribute, or no quasi-identifier." } }
            @for finding in &audited.findings {
                div.notice.bad[finding.breach] {
                    p { strong { (finding.releases.join(" → ")) } @if let Some(protect) = &finding.protect { ", " (protect) } ": " (change_words(finding)) }
                    p { @if finding.at_risk > 0 { span.bad-text { (super::count(finding.at_risk)) " of them had or have a value that follows from the difference." } } @else { span.good-text { "No value follows from the difference." } } }
                    @if !finding.worst.is_empty() { ul { @for worst in &finding.worst { li { (worst.why) } } } }
                    @for note in &finding.notes { p.soft { (note.text) } }
                }
            }
        }
    }
}

/// The people who came, left or changed, in words.
fn change_words(finding: &hedgerow::finding::Finding) -> String {
    let number = |name: &str| finding.details.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0);
    let words = [("appeared", "appeared"), ("left", "left"), ("changed", "changed")];
    let parts: Vec<String> = words.iter().map(|(key, word)| format!("{} {word}", super::count(number(key)))).collect();
    parts.join(", ")
}

/// Whether this release lies in the working folder itself, where one's own are.
fn is_own(view: &PageView<'_>, path: &Path) -> bool {
    view.server.studio.own_releases().iter().any(|own| own == path)
}

fn community_of(view: &PageView<'_>) -> Vec<PathBuf> {
    let folder = view.current.document.folder();
    let releases = crate::rule_text::community_in(&view.current.text);
    releases.iter().filter_map(|name| folder.join(name).canonicalize().ok()).collect()
}

fn catalogs(view: &PageView<'_>) -> Markup {
    let studio = &view.server.studio;
    let folder = studio.confinement.folder();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("catalog.json").is_file()).collect();
    found.sort();
    let audited = studio.found().catalog.clone();
    html! {
        h2 { "Catalog" }
        @if found.is_empty() { p.soft { "There is no catalog in the folder. " code { "hedgerow catalog add" } " makes one; " code { "hedgerow publish --catalog" } " audits a release with all in it before it is published." } }
        @for path in &found {
            @let name = studio.confinement.shown(path);
            @match hedgerow::Catalog::load(path) {
                Err(error) => div.notice.bad { pre { (error) } },
                Ok(catalog) => {
                    div.scroll tabindex="0" role="group" aria-label="Catalog" { table.plain {
                        caption { "Catalog " code { (name) } }
                        thead { tr { th scope="col" { "release" } th scope="col" { "custodian" } th scope="col" { "digest" } } }
                        tbody { @for entry in catalog.entries() { tr { td { (entry.name) } td { (entry.custodian.as_deref().unwrap_or("–")) } td { code { (entry.digest.chars().take(12).collect::<String>()) "…" } } } } }
                    } }
                    button hx-post="/community/catalog" hx-vals=(serde_json::json!({ "catalog": name }).to_string()) hx-target="#app" hx-swap="outerHTML" { "Audit all of " (name) ", re-releases by their difference" }
                }
            }
        }
        @if let Some((name, audited)) = audited {
            h3 { "All of " (name) ": " @if audited.breach { span.bad-text { "breach" } } @else { span.good-text { "no breach" } } }
            ul { @for finding in audited.findings.iter().filter(|finding| finding.breach || finding.adversary == hedgerow::Adversary::Difference) {
                li { strong { (finding.adversary.name()) } " with " (finding.releases.join(" + ")) ": " (super::count(finding.at_risk)) " of " (super::count(finding.people)) " people at risk"
                    @if let Some(worst) = finding.worst.first() { span.soft { " – " (worst.why) } } }
            } }
        }
    }
}
