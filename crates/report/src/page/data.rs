//! Data: the released tables with their columns, and the identifiers of the Safe Harbor list.

use maud::{Markup, html};

use super::cursor::At;
use super::facts_table;

pub(super) fn columns(release: &At<'_>) -> Markup {
    let rows = release.items("columns").into_iter().map(|column| {
        vec![
            html! { (column.text_of("name")) },
            html! { (role(column.text_of("role"))) },
            html! { (column.text_of("type")) @if let Some(values) = column.get("values") { ", labels of " (values.text()) } },
            html! { span.file { (column.text_of("file")) } },
        ]
    });
    let header = [("Column", false), ("Role", false), ("Type", false), ("File", false)];
    facts_table("Released columns", &header, rows.collect())
}

pub(super) fn section(release: &At<'_>) -> Markup {
    let found: Vec<At<'_>> =
        release.items("safe_harbor").into_iter().filter(|item| !item.items("columns").is_empty()).collect();
    html! {
        p { "Method: " (release.text_of("method")) ". Who receives the release, under which agreement and for what purpose is not recorded in it: the custodian states that (context, ISO/IEC 27559 clause 6)." }
        (columns(release))
        @if !release.items("safe_harbor").is_empty() {
            h3 { "HIPAA Safe Harbor list, as far as a machine can look" }
            @if found.is_empty() {
                p { "None of the eighteen items was found by the names of columns or the form of their values." }
            } @else {
                p { "Columns that look like an item of the list (45 CFR 164.514(b)(2)). A person decides whether they are." }
                ul { @for item in &found { li { "(" (item.text_of("item")) ") " (item.text_of("what")) ": " (item.texts_of("columns").join(", ")) } } }
            }
            p.soft { "Photographs and biometric identifiers cannot be looked for in a table of text. What is under an unexpected name is not found." }
        }
    }
}

/// A role in words.
pub(super) fn role(role: &str) -> &'static str {
    match role {
        "identifier" => "identifier, never released",
        "unit" => "unit: whose row it is",
        "quasi" => "quasi-identifier",
        "sensitive" => "sensitive",
        "plain" => "released as it is",
        _ => "",
    }
}
