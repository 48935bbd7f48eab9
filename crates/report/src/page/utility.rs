//! Utility: losses, distributions before and after, query error, and who pays for the privacy.

use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::data::breakable;
use super::{facts_table, figure, internal};
use crate::facts::{ComparedFacts, ComparisonFacts, MeasureFacts, PairFacts, QueryFacts, ReleaseFacts};
use crate::pictures::{Bar, Bars, BeforeAfter, BeforeAfterPair, Ecdf, HeatMap, Steps};

pub(super) fn section(release: &At<'_, ReleaseFacts>, index: usize) -> Option<Markup> {
    let measures = at!(release, measures).get();
    let pairs = at!(release, pairs).items();
    if measures.is_none() && pairs.is_empty() {
        return None;
    }
    Some(html! {
        @if let Some(measures) = &measures { (losses(measures)) (attributes(measures, index)) }
        @if let Some(comparison) = at!(release, comparison).get() {
            (before_after(&comparison, index))
            (subgroups(&comparison, index))
        }
        (queries(release, index))
        @for (place, pair) in pairs.iter().enumerate() { (contingency(pair, &format!("pair-{index}-{place}"))) }
    })
}

fn losses(measures: &At<'_, MeasureFacts>) -> Markup {
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
    let rows = at!(measures, loss)
        .entries()
        .into_iter()
        .map(|(name, value)| vec![html! { (name) }, value.show(Show::Plain), html! { span.soft { (meaning(name)) } }]);
    html! {
        h3 { "Loss" (internal()) }
        (facts_table("Loss measures; lower is better", &[("Measure", false), ("Value", true), ("Meaning", false)], rows.collect()))
    }
}

fn attributes(measures: &At<'_, MeasureFacts>, index: usize) -> Markup {
    if measures.attributes.is_empty() {
        return html! {};
    }
    let bars = measures.attributes.iter().map(|(name, lost)| {
        let level = lost.level.map_or_else(String::new, |level| format!(", level {level} of {}", lost.top));
        Bar { name: format!("{name}{level}"), value: lost.ncp }
    });
    let picture = Bars {
        title: "Loss by attribute".to_owned(),
        description: "Normalized certainty penalty of each quasi-identifier: 0 is untouched, 1 is all lost.".to_owned(),
        columns: ["quasi-identifier".to_owned(), "ncp".to_owned()],
        bars: bars.collect(),
        full: Some(1.0),
        limit: None,
    };
    figure(&picture.picture(), &format!("attributes-{index}"), &at!(measures, attributes), true)
}

fn before_after(comparison: &At<'_, ComparisonFacts>, index: usize) -> Markup {
    html! {
        @for (place, attribute) in at!(comparison, attributes).items().iter().enumerate() {
            (figure(&compared(attribute).picture(), &format!("before-{index}-{place}"), attribute, true))
        }
    }
}

fn compared(attribute: &ComparedFacts) -> BeforeAfter {
    let name = &attribute.name;
    let pairs = attribute.values.iter().map(|value| BeforeAfterPair {
        name: value.value.clone(),
        before: value.source as f64,
        after: value.released,
    });
    BeforeAfter {
        title: format!("Distribution of {name}, before and after"),
        description:
            "Rows in the source, and rows that a reader of the release expects: what hedgerow query estimates."
                .to_owned(),
        columns: [name.clone(), "source".to_owned(), "release".to_owned()],
        pairs: pairs.collect(),
    }
}

/// Loss by subgroup, one picture for each attribute.
fn subgroups(comparison: &At<'_, ComparisonFacts>, index: usize) -> Markup {
    let source = at!(comparison, subgroups);
    let groups = source.items();
    let by_attribute = groups.chunk_by(|a, b| a.attribute == b.attribute);
    let rows = groups.iter().map(|group| {
        vec![
            breakable(&group.attribute),
            html! { (super::named(&group.value)) },
            at!(group, source).show(Show::Plain),
            at!(group, suppressed).show(Show::Plain),
            at!(group, ncp).show(Show::Plain),
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
            @let attribute = &groups[0].attribute;
            @let picture = Bars {
                title: format!("Loss by {attribute}"),
                description: "Normalized certainty penalty over all quasi cells of the rows of each group.".to_owned(),
                columns: [attribute.clone(), "ncp".to_owned()],
                bars: groups.iter().map(|group| Bar { name: group.value.clone(), value: group.ncp }).collect(),
                full: Some(1.0),
                limit: None,
            };
            (figure(&picture.picture(), &format!("groups-{index}-{place}"), &source, true))
        }
        (facts_table("Loss by subgroup", &header, rows.collect()))
    }
}

fn queries(release: &At<'_, ReleaseFacts>, index: usize) -> Markup {
    let queries = at!(release, measures).get().and_then(|measures| at!(measures, queries).get());
    let Some(queries) = queries.filter(|_| !release.query_error.is_empty()) else { return html! {} };
    let source = at!(release, query_error);
    let points: Vec<(f64, f64)> = release.query_error.iter().map(|step| (step.error, step.share)).collect();
    let summary = at!(queries, relative_error);
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
        (drawn(&queries))
        p { "Mean error " (at!(summary, mean).show(Show::Percent)) ", median " (at!(summary, median).show(Show::Percent)) ", 95 of 100 queries within " (at!(summary, percentile_95).show(Show::Percent)) "." }
    }
}

/// How the queries were drawn: `hedgerow measure` draws the same.
fn drawn(queries: &At<'_, QueryFacts>) -> Markup {
    html! {
        p {
            (at!(queries, count).show(Show::Plain)) " random queries (seed " (at!(queries, seed).show(Show::Plain)) "). Each counts the rows with some values in one or more quasi-identifiers"
            " and, where there is a sensitive attribute, in one of these. As many values of each are selected that " (at!(queries, selectivity).show(Show::Percent)) " of evenly spread rows would be counted."
            " An error is relative to the true count, or to a thousandth of the rows where that is more. "
            code { "hedgerow measure" } " draws the same queries."
        }
    }
}

fn contingency(pair: &At<'_, PairFacts>, id: &str) -> Markup {
    let counts = pair.counts.iter().map(|row| row.iter().map(|&count| count as f64).collect());
    let picture = HeatMap {
        title: format!("{} and {}", pair.rows, pair.columns),
        description: "Released rows by both attributes; a stronger color is more.".to_owned(),
        axes: [pair.rows.clone(), pair.columns.clone()],
        rows: pair.row_labels.clone(),
        columns: pair.column_labels.clone(),
        counts: counts.collect(),
    };
    figure(&picture.picture(), id, pair, false)
}
