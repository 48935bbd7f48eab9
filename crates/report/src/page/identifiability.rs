//! Identifiability: class sizes, and the risk of re-identification as a distribution next to the
//! limits that people cite.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::data::breakable;
use super::{facts_table, figure, internal};
use crate::pictures::{Bin, Ecdf, Histogram, Limit, Steps};

pub(super) fn section(root: &At<'_>, release: &At<'_>, index: usize) -> Markup {
    let tables = release.items("tables");
    html! {
        @for (place, table) in tables.iter().enumerate() {
            @if tables.len() > 1 { h3 { "Table " (table.text_of("name")) } }
            (sizes(table, &format!("sizes-{index}-{place}")))
            (risk(table, &format!("risk-{index}-{place}")))
        }
        (scenarios(release))
        (three_questions(root, release))
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
        columns: [format!("rows in a {}", if table.is("buckets") { "bucket" } else { "class" }), what.to_owned()],
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
        limits: limits.iter().filter(|limit| ["EMA 0.09 (1/11)", "k ≥ 5"].contains(&limit.text_of("name"))).map(|limit| Limit { at: limit.number_of("limit"), name: limit.text_of("name").to_owned() }).collect(),
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
            html! { "marketer" br; span.soft { "links every person; this share correctly" } },
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

/// The attributes that single out the most people: the most telling attribute, the most telling
/// pair, and all released columns.
fn more_known<'a>(release: &At<'a>) -> Vec<At<'a>> {
    // Counted by unit where the source was read.
    let measured = release.path(&["measures"]).map(|measures| measures.items("singled_out")).unwrap_or_default();
    let all = if measured.is_empty() { release.items("singled_out") } else { measured };
    let of_size = |size: usize| all.iter().find(|found| found.texts_of("attributes").len() == size).cloned();
    let everything = all.last().filter(|found| found.texts_of("attributes").len() > 2).cloned();
    [of_size(1), of_size(2), everything].into_iter().flatten().collect()
}

/// The name of those who are alone: rows where nothing says that several are about one.
fn counted<'a>(more: &At<'a>) -> &'a str {
    if more.text_of("counted") == "units" { "units" } else { "rows" }
}

/// The number of those who have quasi-identifiers of their own. Where rows are about units and not
/// linked, the release shows rows alone, and the guarantee says how many units match.
fn unique(release: &At<'_>, risk: &At<'_>) -> Markup {
    let unique = risk.show_of("unique_rows", Show::Plain);
    let Some(units) = release.get("units") else {
        return html! { (unique) " rows have quasi-identifiers that no other row has." };
    };
    if units.is("linked") {
        return html! { (unique) " units have quasi-identifiers that no other unit has." };
    }
    let claims = release.path(&["check"]).map(|check| check.items("guarantees")).unwrap_or_default();
    let k = claims.iter().find(|claim| claim.text_of("model") == "k-anonymity");
    html! {
        (unique) " rows have quasi-identifiers that no other row has. The rows are about "
        (units.show_of("out", Show::Plain)) " units, and the release does not say which are about one."
        @if let Some(achieved) = k.and_then(|claim| claim.get("achieved")) {
            " By the publisher's count at least " (achieved.show_of("k", Show::Plain)) " units match."
        }
    }
}

/// The questions of the Article 29 Working Party's opinion 05/2014 (WP216), answered with numbers.
fn three_questions(root: &At<'_>, release: &At<'_>) -> Markup {
    let tables = release.items("tables");
    let Some(table) = tables.first() else { return html! {} };
    let risk = table.get("risk");
    let attribute = release.items("findings").into_iter().filter(|found| found.text_of("name") == "attribute");
    // What follows for a person who is in two releases, or in one table under two forms.
    let all = root.get("audit").map(|audit| audit.items("adversaries")).unwrap_or_default();
    let is_linking = |name: &str| ["composition", "intersection", "difference"].contains(&name);
    let own = release.text_of("name");
    let linking: Vec<At<'_>> = all
        .into_iter()
        .filter(|found| is_linking(found.text_of("name")) && found.texts_of("releases").contains(&own))
        .collect();
    html! {
        h3 { "Three questions (WP216)" }
        dl {
            dt { strong { "Can a person be singled out?" } }
            dd { @if let Some(risk) = &risk { (unique(release, risk)) } }
            @for more in more_known(release) {
                dd { "With " (breakable(&super::sentences::short_list(&more.texts_of("attributes")))) " known besides, " (more.show_of("people", Show::Plain)) " " (counted(&more)) " are alone." }
            }
            dt { strong { "Can two records of a person be linked?" } }
            @for finding in &linking {
                dd {
                    (finding.text_of("name")) ", " (finding.texts_of("releases").join(" + ")) ": "
                    @if finding.number_of("at_risk") > 0.0 {
                        (finding.show_of("at_risk", Show::Plain)) " of the " (finding.show_of("people", Show::Plain)) " that were examined are left with one value of " (breakable(finding.text_of("protect"))) "."
                    } @else {
                        "at least " (finding.show_of("effective_l", Show::Plain)) " values of " (breakable(finding.text_of("protect"))) " remain for every person."
                    }
                }
            }
            @if linking.is_empty() {
                dd { "No other release about the same people was named: nothing was linked here. Audit this release together with every other one about them." }
            }
            dt { strong { "Can something be inferred about a person?" } }
            @for finding in attribute {
                dd { "Of " (breakable(finding.text_of("protect"))) ": at least " (finding.show_of("effective_l", Show::Plain)) " values remain for every person; the likeliest has a share of at most " (finding.show_of("max_confidence", Show::Percent)) "." }
            }
        }
    }
}
