//! The ledger of a joint run: what was opened to all custodians on the way to the release.

use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::{facts_table, figure, internal};
use crate::facts::ReportFacts;
use crate::pictures::{Bar, Bars};

pub(super) fn section(report: &At<'_, ReportFacts>) -> Option<Markup> {
    let ledger = at!(report, ledger).get()?;
    let kinds = at!(ledger, kinds).items();
    let picture = Bars {
        title: "Values that were opened".to_owned(),
        description: "Numbers that became known to all custodians, by kind. They are about all rows together; who contributed what is not among them.".to_owned(),
        columns: ["kind".to_owned(), "values".to_owned()],
        bars: kinds.iter().map(|kind| Bar { name: kind.kind.clone(), value: kind.values as f64 }).collect(),
        full: None,
        limit: None,
    };
    let rows = kinds.iter().map(|kind| {
        vec![
            html! { (kind.kind) },
            at!(kind, entries).show(Show::Plain),
            at!(kind, values).show(Show::Plain),
            at!(kind, compared).show(Show::Plain),
            at!(kind, least).show(Show::Plain),
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
        p { "Custodians found this release together. On the way they opened these values to one another and nothing else" (internal()) ": " (at!(ledger, entries).show(Show::Plain)) " entries in " (at!(ledger, rounds).show(Show::Plain)) " rounds." }
        p { "The guarantees are promised to readers of the release. What custodians saw meanwhile is not covered: a custodian who takes its own rows out of a small total may learn about the others." }
        @if !kinds.is_empty() { (figure(&picture.picture(), "ledger", &ledger, true)) }
        (facts_table("Opened values, by kind", &header, rows.collect()))
    })
}
