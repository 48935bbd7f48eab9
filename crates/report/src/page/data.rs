//! Data: the released tables with their columns, and the identifiers of the Safe Harbor list.

use maud::{Markup, html};

use super::facts_table;
use crate::facts::{ColumnFacts, ReleaseFacts, SafeHarborFacts};

pub(super) fn columns(columns: &[ColumnFacts]) -> Markup {
    let rows = columns.iter().map(|column| {
        vec![
            breakable(&column.name),
            html! { span.role { (role(column.role.as_deref().unwrap_or_default())) } },
            html! { (column.kind) @if let Some(values) = &column.values { ", labels of " (values) } },
            html! { span.file { (column.file) } },
        ]
    });
    let header = [("Column", false), ("Role", false), ("Type", false), ("File", false)];
    facts_table("Released columns", &header, rows.collect())
}

/// A long name may go on in the next line behind its signs, and not within a word.
pub(super) fn breakable(name: &str) -> Markup {
    const LONG: usize = 16;
    if name.chars().count() <= LONG {
        return html! { (name) };
    }
    html! { @for part in name.split_inclusive(['_', '.', '-', ' ']) { (part) wbr; } }
}

pub(super) fn section(release: &ReleaseFacts) -> Markup {
    let found: Vec<&SafeHarborFacts> = release.safe_harbor.iter().filter(|item| !item.columns.is_empty()).collect();
    html! {
        p { "Method: " (release.method) ". Who receives the release, under which agreement and for what purpose is not recorded in it: the custodian states that (context, ISO/IEC 27559 clause 6)." }
        (columns(&release.columns))
        @if !release.safe_harbor.is_empty() {
            h3 { "HIPAA Safe Harbor list, as far as a machine can look" }
            @if found.is_empty() {
                p { "None of the eighteen items was found by the names of columns or the form of their values." }
            } @else {
                p { "Columns that look like an item of the list (45 CFR 164.514(b)(2)). A person decides whether they are." }
                ul { @for item in &found { li { "(" (item.item) ") " (item.what) ": " (item.columns.join(", ")) } } }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_break_behind_their_signs() {
        assert_eq!(breakable("zip_code").into_string(), "zip_code");
        let long = breakable("answer_to_question_of_the_long.questionnaire").into_string();
        assert!(long.contains("question_<wbr>of_<wbr>the_<wbr>long.<wbr>questionnaire"), "{long}");
    }
}
