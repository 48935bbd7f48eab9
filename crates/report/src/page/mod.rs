//! The report as one page of HTML: no script, nothing loaded, readable on paper. It is a view of
//! the report's facts and of nothing else.
//!
//! Sections follow the steps of ISO/IEC 27559:2022 (context, data, identifiability, mitigation,
//! governance), terms ISO/IEC 20889:2018. The page states facts; whether they are enough is for the
//! person who signs.

pub(crate) mod cursor;
mod data;
mod governance;
mod identifiability;
mod lattice;
mod ledger;
pub mod part;
mod sentences;
mod together;
mod undivided;
mod utility;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::facts::{Named, ReportFacts};
use crate::pictures::{NumberCell, Picture, STYLE, short};
use cursor::{At, at};

/// How the title of every report begins.
pub const TITLE: &str = "Release report: ";

const PAGE_STYLE: &str = include_str!("style.css");

/// A part of the report under a heading of its own.
#[derive(Debug, Clone)]
pub struct Section {
    /// Unique in the page.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The HTML below it.
    pub body: Markup,
}

/// The sections of the report, for a page that has the styles of pictures and tables.
pub fn sections(report: &ReportFacts) -> Vec<Section> {
    let root = At::root(report);
    let releases = at!(root, releases).items();
    let several = releases.len() > 1;
    let mut sections: Vec<Section> = Vec::new();
    let mut add = |id: String, title: String, body: Markup| sections.push(Section { id, title, body });
    add("verdict".to_owned(), "Verdict".to_owned(), verdict::section(report, &releases));
    if several {
        add("together".to_owned(), "The releases together".to_owned(), together::section(&root));
    }
    for (index, release) in releases.iter().enumerate() {
        let of = if several { format!(": {}", release.name) } else { String::new() };
        let mut add = |name: &str, title: &str, body: Option<Markup>| {
            if let Some(body) = body {
                add(format!("{name}-{index}"), format!("{title}{of}"), body);
            }
        };
        add("data", "Data: what is released", Some(data::section(release)));
        add("risk", "Identifiability: who could be found", Some(identifiability::section(&root, release, index)));
        add("utility", "Utility: what was lost, and for whom", utility::section(release, index));
        add("lattice", "Mitigation: what was chosen, and why", lattice::section(release, index));
    }
    if let Some(body) = ledger::section(&root) {
        add("ledger".to_owned(), "The joint run: what was opened".to_owned(), body);
    }
    let attacks = together::adversaries(&at!(root, audit), report.people_named);
    add("adversaries".to_owned(), "Attacks: what adversaries learn".to_owned(), attacks);
    add("governance".to_owned(), "Governance: what is not promised".to_owned(), governance::section(report));
    sections
}

/// Renders the report.
pub fn page(report: &ReportFacts) -> String {
    let names: Vec<&str> = report.releases.iter().map(|release| release.name.as_str()).collect();
    let title = sentences::list(&names);
    let sections = sections(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (TITLE) (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(PAGE_STYLE)) }
            }
            body {
                header {
                    p.kicker { "Release report · hedgerow " (report.version) @if let Some(date) = &report.date { " · " time datetime=(date) { (date) } } }
                    h1 { (title) }
                    @if report.publishable {
                        p.soft { "From the released tables alone. Panels that need the private source are omitted." }
                    } @else {
                        p.soft.intro { "For the custodian. Panels marked " span.tag { "internal" } " show figures about the private source or about people; they must not be published." }
                    }
                }
                nav aria-label="Sections" {
                    ol { @for Section { id, title, .. } in &sections { li { a href={ "#" (id) } { (title) } } } }
                }
                main {
                    @for Section { id, title, body } in &sections {
                        section aria-labelledby=(id) { h2 id=(id) { (title) } (body) }
                    }
                }
                footer { p { "Every number is one of those that " code { "hedgerow report --json" } " prints for the same releases. Sections follow ISO/IEC 27559:2022, terms ISO/IEC 20889:2018." } }
            }
        }
    };
    page.into_string()
}

/// Marks what needs the private source.
fn internal() -> Markup {
    html! { span.tag { "internal" } }
}

/// A picture with its numbers. `source` is where in the JSON they are from.
fn figure<T>(picture: &Picture, id: &str, source: &At<'_, T>, is_internal: bool) -> Markup {
    html! {
        figure data-key=(source.key()) {
            figcaption { strong { (picture.title) } @if is_internal { (internal()) } br; span { (picture.description) } }
            div.plot.wide[picture.is_wide()] tabindex="0" role="group" aria-label={ (picture.title) ", picture" } { (PreEscaped(picture.inline(id))) }
            @if !picture.numbers.rows.is_empty() {
                details {
                    summary { "Numbers" span hidden { ": " (picture.title) } }
                    (numbers_table(picture))
                }
            }
        }
    }
}

fn numbers_table(picture: &Picture) -> Markup {
    let numbers = &picture.numbers;
    html! {
        div.scroll tabindex="0" role="group" aria-label={ (picture.title) ", numbers" } {
            table {
                thead { tr { @for (place, name) in numbers.columns.iter().enumerate() {
                    th scope="col" .n[place > 0] { (named(name)) }
                } } }
                tbody { @for row in &numbers.rows { tr { @for cell in row { (numbers_cell(cell)) } } } }
            }
        }
    }
}

fn numbers_cell(cell: &NumberCell) -> Markup {
    match cell {
        NumberCell::Text(text) => html! { td { (named(text)) } },
        NumberCell::Number(number) => html! { td.n { data value=(number) { (short(*number)) } } },
    }
}

/// A label or value for people: the missing value has no text of its own.
fn named(text: &str) -> &str {
    if text.is_empty() { "(missing)" } else { text }
}

/// The cells of a class: each attribute with its label.
fn cells(cells: &Named<String>) -> Markup {
    html! {
        @for (place, (name, label)) in cells.iter().enumerate() {
            @if place > 0 { ", " } (name) " " (named(label))
        }
    }
}

/// A text in which what stands between backticks is code.
pub fn with_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without a partner is a backtick.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! { @for (place, part) in parts.iter().enumerate() { @if place % 2 == 1 { code { (part) } } @else { (part) } } }
}

/// A table of facts that scrolls by itself on a narrow screen.
fn facts_table(name: &str, header: &[(&str, bool)], rows: Vec<Vec<Markup>>) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(name) {
            table {
                caption { (name) }
                thead { tr { @for (title, number) in header { th scope="col" .n[*number] { (title) } } } }
                tbody { @for row in &rows { tr {
                    @for (cell, (_, number)) in row.iter().zip(header) { td .n[*number] { (cell) } }
                } } }
            }
        }
    }
}
