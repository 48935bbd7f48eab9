//! Utility: losses, distributions before and after, query error, and who pays for the privacy.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::data::breakable;
use super::{facts_table, figure, internal};
use crate::pictures::{Bar, Bars, BeforeAfter, BeforeAfterPair, Ecdf, HeatMap, Steps};

pub(super) fn section(release: &At<'_>, index: usize) -> Option<Markup> {
    let measures = release.get("measures");
    let pairs = release.items("pairs");
    if measures.is_none() && pairs.is_empty() {
        return None;
    }
    Some(html! {
        @if let Some(measures) = &measures { (losses(measures)) (attributes(measures, index)) }
        @if let Some(comparison) = release.get("comparison") {
            (before_after(&comparison, index))
            (subgroups(&comparison, index))
        }
        (queries(release, index))
        @for (place, pair) in pairs.iter().enumerate() { (contingency(pair, &format!("pair-{index}-{place}"))) }
    })
}

fn losses(measures: &At<'_>) -> Markup {
    let Some(loss) = measures.get("loss") else { return html! {} };
    let meaning = |name: &str| match name {
        "ncp" => "how wide cells are, compared with all values; 0 untouched, 1 all lost",
        "precision" => "how far up the hierarchies cells were taken; 0 to 1",
        "granularity" => "how many leaves of the hierarchies cells cover; 0 to 1",
        "discernibility" => "rows that look like each row, summed",
        "average-class" => "class size over the required k; 1 is as small as k allows",
        "entropy" => "what cells leave open about values, by how frequent these are; 0 to 1",
        "entropy-bits" => "the same in bits, over all cells",
        "kl" => "nats between the source and its best estimate; 0 is the same",
        _ => "",
    };
    let rows = loss
        .entries()
        .into_iter()
        .map(|(name, value)| vec![html! { (name) }, value.show(Show::Plain), html! { span.soft { (meaning(name)) } }]);
    html! {
        h3 { "Loss" (internal()) }
        (facts_table("Loss measures; lower is better", &[("Measure", false), ("Value", true), ("Meaning", false)], rows.collect()))
    }
}

fn attributes(measures: &At<'_>, index: usize) -> Markup {
    let Some(attributes) = measures.get("attributes") else { return html! {} };
    let entries = attributes.entries();
    if entries.is_empty() {
        return html! {};
    }
    let bars = entries.iter().map(|(name, at)| {
        let level = at.get("level").and_then(|level| level.number());
        let level = level.map_or_else(String::new, |level| format!(", level {level} of {}", at.number_of("top")));
        Bar { name: format!("{name}{level}"), value: at.number_of("ncp") }
    });
    let picture = Bars {
        title: "Loss by attribute".to_owned(),
        description: "Normalized certainty penalty of each quasi-identifier: 0 is untouched, 1 is all lost.".to_owned(),
        columns: ["quasi-identifier".to_owned(), "ncp".to_owned()],
        bars: bars.collect(),
        full: Some(1.0),
        limit: None,
    };
    figure(&picture.picture(), &format!("attributes-{index}"), &attributes, true)
}

fn before_after(comparison: &At<'_>, index: usize) -> Markup {
    html! {
        @for (place, attribute) in comparison.items("attributes").iter().enumerate() {
            (figure(&compared(attribute).picture(), &format!("before-{index}-{place}"), attribute, true))
        }
    }
}

fn compared(attribute: &At<'_>) -> BeforeAfter {
    let name = attribute.text_of("name");
    let pairs = attribute.items("values").into_iter().map(|value| BeforeAfterPair {
        name: value.text_of("value").to_owned(),
        before: value.number_of("source"),
        after: value.number_of("released"),
    });
    BeforeAfter {
        title: format!("Distribution of {name}, before and after"),
        description:
            "Rows in the source, and rows that a reader of the release expects: what hedgerow query estimates."
                .to_owned(),
        columns: [name.to_owned(), "source".to_owned(), "release".to_owned()],
        pairs: pairs.collect(),
    }
}

/// Loss by subgroup, one picture for each attribute.
fn subgroups(comparison: &At<'_>, index: usize) -> Markup {
    let groups = comparison.items("subgroups");
    let by_attribute = groups.chunk_by(|a, b| a.text_of("attribute") == b.text_of("attribute"));
    let rows = groups.iter().map(|group| {
        vec![
            breakable(group.text_of("attribute")),
            html! { (super::named(group.text_of("value"))) },
            group.show_of("source", Show::Plain),
            group.show_of("suppressed", Show::Plain),
            group.show_of("ncp", Show::Plain),
        ]
    });
    if groups.is_empty() {
        return html! {};
    }
    let header = [
        ("Attribute", false),
        ("Group", false),
        ("Rows in the source", true),
        ("Suppressed", true),
        ("Loss (ncp)", true),
    ];
    html! {
        h3 { "Who pays for the privacy" (internal()) }
        p { "Loss by subgroup: the same measure, over the rows of each group alone. A suppressed row counts as lost entirely." }
        @for (place, groups) in by_attribute.enumerate() {
            @let attribute = groups[0].text_of("attribute");
            @let picture = Bars {
                title: format!("Loss by {attribute}"),
                description: "Normalized certainty penalty over all quasi cells of the rows of each group.".to_owned(),
                columns: [attribute.to_owned(), "ncp".to_owned()],
                bars: groups.iter().map(|group| Bar { name: group.text_of("value").to_owned(), value: group.number_of("ncp") }).collect(),
                full: Some(1.0),
                limit: None,
            };
            @if let Some(source) = comparison.get("subgroups") { (figure(&picture.picture(), &format!("groups-{index}-{place}"), &source, true)) }
        }
        (facts_table("Loss by subgroup", &header, rows.collect()))
    }
}

fn queries(release: &At<'_>, index: usize) -> Markup {
    let errors = release.items("query_error");
    let (Some(source), Some(summary)) =
        (release.get("query_error"), release.path(&["measures", "queries", "relative_error"]))
    else {
        return html! {};
    };
    if errors.is_empty() {
        return html! {};
    }
    let points: Vec<(f64, f64)> =
        errors.iter().map(|step| (step.number_of("error"), step.number_of("share"))).collect();
    let last = points.iter().rev().find(|(_, share)| *share <= 0.95).map_or(1.0, |point| point.0);
    let picture = Ecdf {
        title: "Error of count queries".to_owned(),
        description: "The share of random count queries whose relative error is at most the value below. The axis ends where 95 of 100 queries lie.".to_owned(),
        columns: ["relative error".to_owned(), "share of queries".to_owned()],
        curves: vec![Steps { name: "this release".to_owned(), points }],
        limits: Vec::new(),
        until: Some(if last > 0.0 { last } else { 1.0 }),
    };
    html! {
        (figure(&picture.picture(), &format!("queries-{index}"), &source, true))
        (drawn(release))
        p { "Mean error " (summary.show_of("mean", Show::Percent)) ", median " (summary.show_of("median", Show::Percent)) ", 95 of 100 queries within " (summary.show_of("percentile_95", Show::Percent)) "." }
    }
}

/// How the queries were drawn: `hedgerow measure` draws the same.
fn drawn(release: &At<'_>) -> Markup {
    let Some(queries) = release.path(&["measures", "queries"]) else { return html! {} };
    html! {
        p {
            (queries.show_of("count", Show::Plain)) " random queries (seed " (queries.show_of("seed", Show::Plain)) "). Each counts the rows with some values in one or more quasi-identifiers"
            " and, where there is a sensitive attribute, in one of these. As many values of each are selected that " (queries.show_of("selectivity", Show::Percent)) " of evenly spread rows would be counted."
            " An error is relative to the true count, or to a thousandth of the rows where that is more. "
            code { "hedgerow measure" } " draws the same queries."
        }
    }
}

fn contingency(pair: &At<'_>, id: &str) -> Markup {
    let counts = pair.items("counts").into_iter().map(|row| row.list());
    let picture = HeatMap {
        title: format!("{} and {}", pair.text_of("rows"), pair.text_of("columns")),
        description: "Released rows by both attributes; a stronger color is more.".to_owned(),
        axes: [pair.text_of("rows").to_owned(), pair.text_of("columns").to_owned()],
        rows: pair.texts_of("row_labels").into_iter().map(str::to_owned).collect(),
        columns: pair.texts_of("column_labels").into_iter().map(str::to_owned).collect(),
        counts: counts.collect(),
    };
    figure(&picture.picture(), id, pair, false)
}
