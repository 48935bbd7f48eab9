//! Utility and risk: the report's pictures before and after, and SQL with estimates, bounds and the
//! truth next to each other.

use hedgerow::{Answer, AnswerCell, Estimate};
use maud::{Markup, html};

use super::{PageView, waiting};

/// Lines of an answer that are shown.
const LINES_MAX: usize = 200;

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    if view.data.is_none() {
        return waiting(view);
    }
    let Some(current) = view.server.studio.release() else {
        return html! { p { "There is no release yet: make one under Publish." } };
    };
    let reported = view.server.studio.found().reported.clone();
    let of_this = reported.filter(|(release, _)| *release == current);
    html! {
        p.soft { "Of the release in " code { (view.server.studio.confinement.shown(&current)) } "." }
        (sql(view))
        @match of_this {
            None => {
                h2 { "Before and after" }
                p { "Losses, distributions before and after, errors of count queries, and the risk of re-identification, measured on the release." }
                button #measure.primary hx-post="/utility/measure" hx-target="#app" hx-swap="outerHTML" { "Measure" }
            }
            Some((_, reported)) => {
                @for section in reported.internal.sections() {
                    @if ["utility", "risk", "lattice", "adversaries"].iter().any(|known| section.id.starts_with(known)) {
                        section.report aria-labelledby=(section.id) { h2 id=(section.id) { (section.title) } (section.body) }
                    }
                }
            }
        }
    }
}

fn sql(view: &PageView<'_>) -> Markup {
    let last = view.server.studio.found().query.clone();
    let first = first_query(view);
    html! {
        h2 { "Ask the release" }
        form #sql-form hx-post="/utility/query" hx-target="#app" hx-swap="outerHTML" {
            label { span { "SQL; the table is called " code { "data" } } textarea #sql name="sql" rows="3" spellcheck="false" { (last.as_ref().map_or(first, |(sql, _)| sql.clone())) } }
            button #ask { "Ask" }
        }
        @if let Some((_, outcome)) = last {
            @match &*outcome {
                Ok((answer, truth)) => (answered(answer, truth.as_ref())),
                Err(problem) => div.notice.bad role="alert" { pre { (problem) } },
            }
        }
    }
}

/// A query that the policy's own attributes can answer.
fn first_query(view: &PageView<'_>) -> String {
    let quasi = view.policy().and_then(|policy| policy.quasi().next().map(|attribute| attribute.name.clone()));
    match quasi {
        Some(name) => format!("SELECT COUNT(*) FROM data WHERE \"{name}\" IS NOT NULL"),
        None => "SELECT COUNT(*) FROM data".to_owned(),
    }
}

fn answered(answer: &Answer, truth: Option<&Answer>) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Answer" { table.plain #answer {
            thead { tr {
                @for (place, column) in answer.columns.iter().enumerate() {
                    @if is_estimate(answer, place) { th.n scope="col" { (column.name) " (estimate)" } th.n scope="col" { "certain" } th.n scope="col" { "possible" } th.n scope="col" { "truth " span.tag { "internal" } } }
                    @else { th scope="col" { (column.name) } }
                }
            } }
            tbody { @for (place, line) in answer.lines.iter().take(LINES_MAX).enumerate() { tr {
                @for (at, cell) in line.iter().enumerate() {
                    @match cell {
                        AnswerCell::Label(label) => td { (label.as_deref().unwrap_or("(missing)")) },
                        AnswerCell::Estimate(estimate) => {
                            td.n { (number(estimate.estimate)) } td.n { (number(estimate.certain)) } td.n { (number(estimate.possible)) }
                            td.n { (true_value(answer, truth, place, at)) }
                        }
                        AnswerCell::Share { share, .. } => td.n { (format!("{share:.2}")) },
                    }
                }
            } } }
        } }
        @for note in &answer.notes { p.soft { (note) } }
    }
}

fn is_estimate(answer: &Answer, place: usize) -> bool {
    answer.lines.first().is_some_and(|line| matches!(line.get(place), Some(AnswerCell::Estimate(_))))
}

/// The same number from the source: for the whole table, or for the group with the same labels.
fn true_value(answer: &Answer, truth: Option<&Answer>, line: usize, at: usize) -> String {
    let Some(truth) = truth else { return "–".to_owned() };
    let labels = |line: &[AnswerCell]| -> Vec<Option<String>> {
        line.iter()
            .filter_map(|cell| if let AnswerCell::Label(label) = cell { Some(label.clone()) } else { None })
            .collect()
    };
    let own = labels(&answer.lines[line]);
    let same = truth.lines.iter().find(|line| labels(line) == own);
    match same.and_then(|line| line.get(at)) {
        Some(AnswerCell::Estimate(Estimate { estimate, .. })) => number(*estimate),
        _ => "–".to_owned(),
    }
}

fn number(value: f64) -> String {
    if value.is_nan() {
        return "unknown".to_owned();
    }
    if value.is_infinite() {
        return "unbounded".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:.1}") }
}
