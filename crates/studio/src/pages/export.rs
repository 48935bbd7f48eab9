//! Export: the release, the report, the policy, the hierarchies and the commands that make them.

use maud::{Markup, html};

use super::{PageView, quoted};

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    let studio = &view.server.studio;
    let release = studio.release();
    let is_reported = studio.found().reported.as_ref().is_some_and(|(of, _)| Some(of) == release.as_ref());
    let is_explored = studio.found().explored.is_some();
    html! {
        h2 { "The policy" }
        p { "It is in " code { (view.current.document.path.display()) } ", with every change." }
        div.row { button data-download="policy:" { "Download the policy" } }
        h2 { "The release" }
        @match &release {
            None => p.soft { "There is none yet: make one under Publish." },
            Some(release) => {
                p { "It is in " code { (release.display()) } ". These are its files; all of them together can be checked by anyone with " code { "hedgerow check" } "." }
                ul.files { @for name in release_files(release) { li { button data-download={ "release:" (name) } { code { (name) } span.soft { "download" } } } } }
            }
        }
        h2 { "The report" }
        @if is_reported {
            p { "With the private source: for the custodian. The other one has only what the release shows by itself, and may be published." }
            div.row {
                button data-download="report:internal" data-open="yes" { "Show the report" }
                button data-download="report-file:internal" { "Download the report" }
                button data-download="report-file:publishable" { "Download the report for readers" }
            }
        } @else if release.is_some() {
            p { "The report is made from the measured release." }
            button #measure hx-post="/utility/measure" hx-vals="{\"page\":\"export\"}" hx-target="#app" hx-swap="outerHTML" { "Measure the release" }
        } @else { p.soft { "It is made from a release." } }
        h2 { "Hierarchies" }
        div.row { @if let Some(policy) = view.policy() { @for attribute in policy.quasi() { button data-download={ "hierarchy:" (attribute.name) } { (attribute.name) ".csv" } } } }
        @if is_explored {
            h2 { "The exploration" }
            div.row { button data-download="nodes:csv" { "Nodes as a table" } button data-download="nodes:svg" { "Lattice as a picture" } }
        }
        h2 { "The whole way by command" }
        pre.command #way tabindex="0" role="group" aria-label="Commands" { (commands(view).join("\n")) }
        button.small data-copy="way" { "Copy" }
    }
}

/// The plain files of a release.
pub(crate) fn release_files(release: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(release).into_iter().flatten().flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn commands(view: &PageView<'_>) -> Vec<String> {
    let policy = view.policy_name();
    let release = quoted(&super::publish::destination(view));
    let at = super::aside::levels(view);
    vec![
        format!("hedgerow publish {policy} -o {release}{at}"),
        format!("hedgerow check {release}"),
        format!("hedgerow measure {release} --policy {policy}"),
        format!("hedgerow audit {release}"),
        format!("hedgerow report {release} --policy {policy} -o report.html"),
    ]
}
