//! Beside every page: what is wrong with the policy, what was changed, and the command line that
//! does the same.

use hedgerow_report::with_code;
use maud::{Markup, html};

use super::PageView;
use crate::history::Change;
use crate::line_diff::DiffLine;

/// Older changes that are listed.
const LISTED_MAX: usize = 20;
/// Lines of a difference that are shown of one file: a hierarchy can have one for each value.
const LINES_MAX: usize = 120;

pub(crate) fn aside(view: &PageView<'_>, page: &str) -> Markup {
    let (last, words) = view.current.document.changes();
    html! {
        aside aria-label="Policy" {
            h2 { "Policy" }
            (problems(view))
            @match last {
                Some(last) => {
                    h3 { "Last change" }
                    (change(&last))
                    button #undo hx-post="/undo" hx-vals={ "{\"page\":\"" (page) "\"}" } hx-target="#app" hx-swap="outerHTML" { "Undo: " (last.what) }
                }
                None => p.soft { "Every change is written to " code { (view.policy_name()) } " at once and shown here." },
            }
            @if words.len() > 1 {
                details #earlier-changes {
                    summary { (words.len() - 1) " earlier " @if words.len() == 2 { "change" } @else { "changes" } }
                    ol reversed start=(words.len() - 1) { @for what in words.iter().skip(1).take(LISTED_MAX) { li { (what) } } }
                }
            }
            h3 { "The same by command" }
            pre.command #command tabindex="0" role="group" aria-label="Command line" { (commands(view, page).join("\n")) }
            button.small data-copy="command" { "Copy" }
            details #policy-text {
                summary { code { (view.policy_name()) } " as it is" }
                pre.text tabindex="0" role="group" aria-label="Policy text" { (view.current.text) }
            }
        }
    }
}

fn problems(view: &PageView<'_>) -> Markup {
    let Err(problems) = &view.current.policy else {
        return html! { p.good { "The policy is valid." } };
    };
    let shortened = |text: &str| view.server.studio.confinement.shortened(text);
    html! {
        div.notice.bad role="alert" {
            p { strong { @if problems.len() == 1 { "One problem" } @else { (problems.len()) " problems" } } }
            ul.problems {
                @for problem in problems {
                    li { code { (shortened(&problem.place)) } p { (with_code(&shortened(&problem.problem))) } @if !problem.hint.is_empty() { p.soft { (with_code(&problem.hint)) } } }
                }
            }
        }
    }
}

fn change(change: &Change) -> Markup {
    html! {
        div.diff tabindex="0" role="group" aria-label="Last change" {
            @for (path, lines) in change.diffs() {
                @if change.files.len() > 1 { p.soft { code { (path.file_name().unwrap_or_default().to_string_lossy()) } } }
                @for line in &lines[..lines.len().min(LINES_MAX)] {
                    @match line {
                        DiffLine::Same(text) => div { span.mark aria-hidden="true" { " " } (text) },
                        DiffLine::Removed(text) => del { span.mark { "−" } (text) },
                        DiffLine::Added(text) => ins { span.mark { "+" } (text) },
                        DiffLine::Skipped => div.soft { "…" },
                    }
                }
                @if lines.len() > LINES_MAX { div.soft { "and " (super::count((lines.len() - LINES_MAX) as u64)) " more lines" } }
            }
        }
    }
}

fn commands(view: &PageView<'_>, page: &str) -> Vec<String> {
    let (policy, release) = (view.policy_name(), super::quoted(&super::publish::destination(view)));
    let source = view.policy().map(|policy| view.server.studio.confinement.shown(&policy.source.path));
    match page {
        "data" | "hierarchies" => match source.filter(|source| !source.is_empty()) {
            Some(source) => {
                vec![format!("hedgerow init {} -o {policy}", super::quoted(&source)), format!("$EDITOR {policy}")]
            }
            None => vec![format!("$EDITOR {policy}")],
        },
        "rules" => vec![format!("$EDITOR {policy}"), format!("hedgerow rules {policy}")],
        "explore" => vec![format!("hedgerow explore {policy}")],
        "utility" => vec![
            format!("hedgerow measure {release} --policy {policy}"),
            format!("hedgerow report {release} --policy {policy} -o report.html"),
        ],
        "community" => vec![audit_command(view, &release)],
        _ => {
            vec![format!("hedgerow publish {policy} -o {release}{}", levels(view)), format!("hedgerow check {release}")]
        }
    }
}

/// The levels that were chosen by hand for the last release.
pub(crate) fn levels(view: &PageView<'_>) -> String {
    let levels = view.server.studio.found().levels.clone();
    levels.map(|levels| format!(" --levels {}", super::quoted(&levels))).unwrap_or_default()
}

/// The audit of the releases that were audited last.
fn audit_command(view: &PageView<'_>, release: &str) -> String {
    let studio = &view.server.studio;
    let Some(together) = studio.found().audited.clone() else { return format!("hedgerow audit {release}") };
    let names = |paths: &[std::path::PathBuf]| {
        let name = |path: &std::path::PathBuf| super::quoted(&studio.confinement.shown(path));
        paths.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let all = format!("hedgerow audit {}", names(&together.releases));
    match together.differences {
        Some(_) => format!("{all}\nhedgerow audit {} --adversary difference", names(&together.own)),
        None => all,
    }
}
