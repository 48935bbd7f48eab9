//! Identifiability: class sizes, and the risk of re-identification as a distribution next to the
//! limits that people cite.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::{facts_table, figure, internal};
use crate::pictures::{Bin, Ecdf, Histogram, Limit, Steps};

pub(super) fn section(release: &At<'_>, index: usize) -> Markup {
    let tables = release.items("tables");
    html! {
        @for (place, table) in tables.iter().enumerate() {
            @if tables.len() > 1 { h3 { "Table " (table.text_of("name")) } }
            (sizes(table, &format!("sizes-{index}-{place}")))
            (risk(table, &format!("risk-{index}-{place}")))
        }
        (scenarios(release))
        (three_questions(release))
    }
}

fn sizes(table: &At<'_>, id: &str) -> Markup {
    let Some(classes) = table.get("classes") else { return html! {} };
    let what = if table.is("buckets") { "buckets" } else { "classes" };
    let bins = classes.items("histogram").into_iter().map(|range| Bin {
        name: range.text_of("size").to_owned(),
        count: range.number_of("classes"),
        marked: range.number_of("to") == 1.0,
    });
    let picture = Histogram {
        title: format!("Sizes of {what}"),
        description: format!(
            "How many {what} there are of each size. Rows in a small one are easier to attack; a row alone in its class is unique."
        ),
        columns: [format!("rows in a {}", what.trim_end_matches("es").trim_end_matches('s')), what.to_owned()],
        bins: bins.collect(),
    };
    figure(&picture.picture(), id, &classes, false)
}

fn risk(table: &At<'_>, id: &str) -> Markup {
    let Some(risk) = table.get("risk") else { return html! {} };
    let points = risk.items("distribution").into_iter().map(|step| (step.number_of("risk"), step.number_of("share")));
    let limits = risk.items("limits");
    let highest = risk.number_of("highest");
    let picture = Ecdf {
        title: "Risk of re-identification of the rows".to_owned(),
        description: "The share of rows whose risk is at most the value below. An adversary who knows that a person is in the release (prosecutor) picks among f matching rows: 1/f. Dashed: limits that people cite.".to_owned(),
        columns: ["risk".to_owned(), "share of rows".to_owned()],
        curves: vec![Steps { name: "prosecutor".to_owned(), points: points.collect() }],
        limits: limits.iter().filter(|limit| ["EMA 0.09", "k ≥ 5"].contains(&limit.text_of("name"))).map(|limit| Limit { at: limit.number_of("limit"), name: limit.text_of("name").to_owned() }).collect(),
        until: Some(highest.clamp(0.25, 1.0)),
    };
    let rows = limits.iter().map(|limit| {
        vec![
            html! { (limit.text_of("name")) },
            limit.show_of("limit", Show::Plain),
            limit.show_of("share_above", Show::Percent),
        ]
    });
    let header = [("Limit", false), ("Highest risk allowed", true), ("Rows above it", true)];
    html! {
        (figure(&picture.picture(), id, &risk, false))
        (facts_table("Rows above limits that people cite", &header, rows.collect()))
    }
}

/// The three scenarios; the journalist's needs the source.
fn scenarios(release: &At<'_>) -> Markup {
    let Some(risk) = release.path(&["measures", "risk"]) else { return html! {} };
    let row = |name: &str, meaning: &str, at: Option<At<'_>>| {
        at.map(|at| {
            vec![
                html! { (name) br; span.soft { (meaning) } },
                at.show_of("max", Show::Percent),
                at.show_of("mean", Show::Percent),
                at.show_of("share_above_threshold", Show::Percent),
            ]
        })
    };
    let marketer = risk.get("marketer").map(|at| {
        vec![
            html! { "marketer" br; span.soft { "links everybody; this share correctly" } },
            html! { "–" },
            at.show(Show::Percent),
            html! { "–" },
        ]
    });
    let rows = [
        row("prosecutor", "knows that the person is in the release", risk.get("prosecutor")),
        row("journalist", "knows only that the person is in the source", risk.get("journalist")),
        marketer,
    ];
    let header = [("Adversary", false), ("Highest risk", true), ("Mean risk", true), ("Rows above 1/k", true)];
    html! {
        h3 { "Three scenarios" (internal()) }
        (facts_table("Risk by scenario, with the required k", &header, rows.into_iter().flatten().collect()))
    }
}

/// The questions of the Article 29 Working Party's opinion 05/2014 (WP216), answered with numbers.
fn three_questions(release: &At<'_>) -> Markup {
    let tables = release.items("tables");
    let Some(table) = tables.first() else { return html! {} };
    let risk = table.get("risk");
    let attribute = release.items("findings").into_iter().filter(|found| found.text_of("name") == "attribute");
    html! {
        h3 { "Three questions (WP216)" }
        dl {
            dt { strong { "Can a person be singled out?" } }
            dd { @if let Some(risk) = &risk { (risk.show_of("unique_rows", Show::Plain)) " rows have quasi-identifiers that no other row has." } }
            dt { strong { "Can records of a person be linked?" } }
            dd { @if let Some(risk) = &risk { "Who links everybody by the quasi-identifiers is right for " (risk.show_of("mean", Show::Percent)) " of the rows on average, for " (risk.show_of("highest", Show::Percent)) " at most." } }
            dt { strong { "Can something be inferred about a person?" } }
            @for finding in attribute {
                dd { "Of " (finding.text_of("protect")) ": at least " (finding.show_of("effective_l", Show::Plain)) " values remain for everybody; the likeliest has a share of at most " (finding.show_of("max_confidence", Show::Percent)) "." }
            }
        }
    }
}
