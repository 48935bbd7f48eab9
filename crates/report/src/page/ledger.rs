//! The ledger of a joint run: what was opened to all custodians on the way to the release.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::{facts_table, figure, internal};
use crate::pictures::{Bar, Bars};

pub(super) fn section(root: &At<'_>) -> Option<Markup> {
    let ledger = root.get("ledger")?;
    let kinds = ledger.items("kinds");
    let picture = Bars {
        title: "Values that were opened".to_owned(),
        description: "Numbers that became known to all custodians, by kind. They are about all rows together; who contributed what is not among them.".to_owned(),
        columns: ["kind".to_owned(), "values".to_owned()],
        bars: kinds.iter().map(|kind| Bar { name: kind.text_of("kind").to_owned(), value: kind.number_of("values") }).collect(),
        full: None,
        limit: None,
    };
    let rows = kinds.iter().map(|kind| {
        vec![
            html! { (kind.text_of("kind")) },
            kind.show_of("entries", Show::Plain),
            kind.show_of("values", Show::Plain),
            kind.show_of("compared", Show::Plain),
            kind.show_of("least", Show::Plain),
        ]
    });
    let header = [
        ("What was opened", false),
        ("Entries", true),
        ("Values", true),
        ("Only compared with a threshold", true),
        ("Smallest number of rows", true),
    ];
    Some(html! {
        p { "Custodians found this release together. On the way they opened these values to one another and nothing else" (internal()) ": " (ledger.show_of("entries", Show::Plain)) " entries in " (ledger.show_of("rounds", Show::Plain)) " rounds." }
        p { "The guarantees are promised to readers of the release. What custodians saw meanwhile is not covered: a custodian who takes its own rows out of a small total may learn about the others." }
        @if !kinds.is_empty() { (figure(&picture.picture(), "ledger", &ledger, true)) }
        (facts_table("Opened values, by kind", &header, rows.collect()))
    })
}
