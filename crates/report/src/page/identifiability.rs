//! Identifiability: class sizes, and the risk of re-identification as a distribution next to the
//! limits that people cite.

use hedgerow_privacy::ModelName;
use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::data::breakable;
use super::{facts_table, figure, internal};
use crate::facts::{
    AdversaryKind, ReleaseFacts, ReleasedRiskFacts, ReportFacts, ScenarioFacts, SingledOutFacts, TableFacts,
};
use crate::pictures::{Bin, Ecdf, Histogram, Limit, Steps};

pub(super) fn section(report: &At<'_, ReportFacts>, release: &At<'_, ReleaseFacts>, index: usize) -> Markup {
    let tables = at!(release, tables).items();
    html! {
        @for (place, table) in tables.iter().enumerate() {
            @if tables.len() > 1 { h3 { "Table " (table.name) } }
            (sizes(table, &format!("sizes-{index}-{place}")))
            (risk(&at!(table, risk), &format!("risk-{index}-{place}")))
        }
        (related(release))
        (scenarios(release))
        (three_questions(report, release))
    }
}

/// The classes that the labels of related attributes give together.
fn related(release: &At<'_, ReleaseFacts>) -> Markup {
    let related = at!(release, related).items();
    html! {
        @if !related.is_empty() { h3 { "Labels that are read together" } }
        @for related in &related {
            p {
                (related.to) " follows from " (super::sentences::list(&related.from)) ". A reader of the labels of both sees "
                (at!(related, classes.count).show(Show::Plain)) " classes of " (at!(related, classes.min).show(Show::Plain))
                " to " (at!(related, classes.max).show(Show::Plain)) " rows, whatever each label says by itself."
            }
            @let names = related.from.iter().chain([&related.to]).map(|name| (name.as_str(), false));
            @let header: Vec<(&str, bool)> = names.chain([("Rows", true)]).collect();
            @let rows = at!(related, smallest).items().into_iter().map(|class| {
                let labels = class.labels.iter().map(|label| html! { (label) });
                labels.chain([at!(class, rows).show(Show::Plain)]).collect()
            });
            (facts_table("The smallest of these classes", &header, rows.collect()))
        }
    }
}

fn sizes(table: &At<'_, TableFacts>, id: &str) -> Markup {
    let what = if table.buckets { "buckets" } else { "classes" };
    let bins = table.classes.histogram.iter().map(|range| Bin {
        name: range.size.clone(),
        count: range.classes as f64,
        marked: range.to == Some(1),
    });
    let picture = Histogram {
        title: format!("Sizes of {what}"),
        description: format!(
            "How many {what} there are of each size. Rows in a small one are easier to attack; a row alone in its class is unique."
        ),
        columns: [format!("rows in a {}", if table.buckets { "bucket" } else { "class" }), what.to_owned()],
        bins: bins.collect(),
    };
    figure(&picture.picture(), id, &at!(table, classes), false)
}

fn risk(risk: &At<'_, ReleasedRiskFacts>, id: &str) -> Markup {
    let points = risk.distribution.iter().map(|step| (step.risk, step.share));
    let drawn = risk.limits.iter().filter(|limit| limit.is_drawn);
    let picture = Ecdf {
        title: "Risk of re-identification of the rows".to_owned(),
        description: "The share of rows whose risk is at most the value below. An adversary who knows that a person is in the release (prosecutor) picks among f matching rows: 1/f. Dashed: limits that people cite.".to_owned(),
        columns: ["risk".to_owned(), "share of rows".to_owned()],
        curves: vec![Steps { name: "prosecutor".to_owned(), points: points.collect() }],
        limits: drawn.map(|limit| Limit { at: limit.limit, name: limit.name.to_owned() }).collect(),
        until: Some(risk.highest.clamp(0.25, 1.0)),
    };
    let rows = at!(risk, limits).items().into_iter().map(|limit| {
        vec![html! { (limit.name) }, at!(limit, limit).show(Show::Plain), at!(limit, share_above).show(Show::Percent)]
    });
    let header = [("Limit", false), ("Highest risk allowed", true), ("Rows above it", true)];
    html! {
        (figure(&picture.picture(), id, risk, false))
        (facts_table("Rows above limits that people cite", &header, rows.collect()))
    }
}

/// The three scenarios; the journalist's needs the source.
fn scenarios(release: &At<'_, ReleaseFacts>) -> Markup {
    let measures = at!(release, measures).get();
    let Some(risk) = measures.and_then(|measures| at!(measures, risk).get()) else { return html! {} };
    let row = |name: &str, meaning: &str, at: At<'_, ScenarioFacts>| {
        vec![
            html! { (name) br; span.soft { (meaning) } },
            at!(at, max).show(Show::Percent),
            at!(at, mean).show(Show::Percent),
            at!(at, share_above_threshold).show(Show::Percent),
        ]
    };
    let marketer = vec![
        html! { "marketer" br; span.soft { "links every person; this share correctly" } },
        html! { "–" },
        at!(risk, marketer).show(Show::Percent),
        html! { "–" },
    ];
    let journalist = at!(risk, journalist).get();
    let rows = [
        Some(row("prosecutor", "knows that the person is in the release", at!(risk, prosecutor))),
        journalist.map(|at| row("journalist", "knows only that the person is in the source, its population", at)),
        Some(marketer),
    ];
    let header = [("Adversary", false), ("Highest risk", true), ("Mean risk", true), ("Rows above 1/k", true)];
    html! {
        h3 { "Three scenarios" (internal()) }
        (facts_table("Risk by scenario, with the required k", &header, rows.into_iter().flatten().collect()))
    }
}

/// The attributes that single out the most people: the most telling attribute, the most telling
/// pair, and all released columns.
fn more_known<'a>(release: &At<'a, ReleaseFacts>) -> Vec<At<'a, SingledOutFacts>> {
    // Counted by unit where the source was read.
    let measured = at!(release, measures).get().map(|measures| at!(measures, singled_out).items());
    let measured = measured.filter(|measured| !measured.is_empty());
    let all = measured.unwrap_or_else(|| at!(release, singled_out).items());
    let of_size = |size: usize| all.iter().find(|found| found.attributes.len() == size).cloned();
    let everything = all.last().filter(|found| found.attributes.len() > 2).cloned();
    [of_size(1), of_size(2), everything].into_iter().flatten().collect()
}

/// The name of those who are alone: rows where nothing says that several are about one.
fn counted(more: &SingledOutFacts) -> &'static str {
    if more.counts_units { "units" } else { "rows" }
}

/// The number of those who have quasi-identifiers of their own. Where rows are about units and not
/// linked, the release shows rows alone, and the guarantee says how many units match.
fn unique(release: &At<'_, ReleaseFacts>, risk: &At<'_, ReleasedRiskFacts>) -> Markup {
    let unique = at!(risk, unique_rows).show(Show::Plain);
    let Some(units) = at!(release, units).get() else {
        return html! { (unique) " rows have quasi-identifiers that no other row has." };
    };
    if units.linked {
        return html! { (unique) " units have quasi-identifiers that no other unit has." };
    }
    let claims = at!(release, check).get().map(|check| at!(check, guarantees).items()).unwrap_or_default();
    let k = claims.iter().find(|claim| claim.known_model() == Some(ModelName::KAnonymity));
    let achieved = k.and_then(|claim| at!(claim, achieved).entries().into_iter().find(|(name, _)| *name == "k"));
    html! {
        (unique) " rows have quasi-identifiers that no other row has. The rows are about "
        (at!(units, out).show(Show::Plain)) " units, and the release does not say which are about one."
        @if let Some((_, k)) = achieved {
            " By the publisher's count at least " (k.show(Show::Plain)) " units match."
        }
    }
}

/// The questions of the Article 29 Working Party's opinion 05/2014 (WP216), answered with numbers.
fn three_questions(report: &At<'_, ReportFacts>, release: &At<'_, ReleaseFacts>) -> Markup {
    let tables = at!(release, tables).items();
    let Some(table) = tables.first() else { return html! {} };
    let findings = at!(release, findings).items().into_iter();
    let attribute = findings.filter(|found| found.name.kind == AdversaryKind::Infers);
    // What follows for a person who is in two releases, or in one table under two forms.
    let mut linking = at!(report, audit.adversaries).items();
    linking.retain(|found| found.name.kind == AdversaryKind::Links && found.releases.contains(&release.name));
    html! {
        h3 { "Three questions (WP216)" }
        dl {
            dt { strong { "Can a person be singled out?" } }
            dd { (unique(release, &at!(table, risk))) }
            @for more in more_known(release) {
                dd { "With " (breakable(&super::sentences::short_list(&more.attributes))) " known besides, " (at!(more, people).show(Show::Plain)) " " (counted(&more)) " are alone." }
            }
            dt { strong { "Can two records of a person be linked?" } }
            @for finding in &linking {
                @let protect = finding.protect.as_deref().unwrap_or_default();
                dd {
                    (finding.name.name) ", " (finding.releases.join(" + ")) ": "
                    @if finding.at_risk > 0 {
                        (at!(finding, at_risk).show(Show::Plain)) " of the " (at!(finding, people).show(Show::Plain)) " that were examined are left with one value of " (breakable(protect)) "."
                    } @else {
                        "at least " (at!(finding, effective_l).show(Show::Plain)) " values of " (breakable(protect)) " remain for every person."
                    }
                }
            }
            @if linking.is_empty() {
                dd { "No other release about the same people was named: nothing was linked here. Audit this release together with every other one about them." }
            }
            dt { strong { "Can something be inferred about a person?" } }
            @for finding in attribute {
                dd { "Of " (breakable(finding.protect.as_deref().unwrap_or_default())) ": at least " (at!(finding, effective_l).show(Show::Plain)) " values remain for every person; the likeliest has a share of at most " (at!(finding, max_confidence).show(Show::Percent)) "." }
            }
        }
    }
}
