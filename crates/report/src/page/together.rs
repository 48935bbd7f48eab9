//! Releases together: what each leaves alone and all leave combined, and how a person's value is
//! narrowed down, release by release.

use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::data::breakable;
use super::{cells, facts_table, figure};
use crate::facts::{AuditFacts, NarrowingFacts, ReportFacts};
use crate::pictures::{Matrix, NarrowedRelease, NarrowingChain};

/// Explanations that are shown.
const EXPLANATIONS_MAX: usize = 5;

/// Chains that are drawn.
const CHAINS_MAX: usize = 2;

pub(super) fn section(report: &At<'_, ReportFacts>) -> Markup {
    let protected = |protect: &Option<String>| html! { @if let Some(protect) = protect { (breakable(protect)) } };
    let alone = at!(report, alone).items().into_iter().map(|at| {
        vec![
            html! { (at.release) },
            protected(&at.protect),
            at!(at, effective_k).show(Show::Plain),
            at!(at, effective_l).show(Show::Plain),
            at!(at, max_confidence).show(Show::Percent),
        ]
    });
    let together = at!(report, combined).items().into_iter().map(|at| {
        vec![
            html! { span.pair { strong { "all together" } br; span.soft { (at.name.name) } } },
            protected(&at.protect),
            at!(at, effective_k).show(Show::Plain),
            at!(at, effective_l).show(Show::Plain),
            at!(at, max_confidence).show(Show::Percent),
        ]
    });
    let header = [
        ("Release", false),
        ("Sensitive", false),
        ("Fewest rows", true),
        ("Fewest values", true),
        ("Highest confidence", true),
    ];
    let narrowings = at!(report, narrowings);
    let chains = narrowings.items();
    html! {
        p { "What every person is left with at least: rows among which nothing distinguishes them (effective k), and sensitive values (effective l). People are taken to be in every release." }
        (facts_table("Alone and together", &header, alone.chain(together).collect()))
        @if chains.is_empty() {
            p { "No sensitive attribute is in two of the releases: there is nothing to narrow down." }
        } @else {
            (matrix(&narrowings))
            h3 { "How a value is narrowed down" }
            p { "From the released tables alone: the classes that one group of people matches, and the values that remain after each release." }
            @for (place, chain) in chains.iter().take(CHAINS_MAX).enumerate() { (narrowing(chain, &format!("chain-{place}"))) }
            (change(&narrowings))
        }
    }
}

fn matrix(chains: &At<'_, Vec<NarrowingFacts>>) -> Markup {
    let mut columns: Vec<&str> = Vec::new();
    for step in chains.iter().flat_map(|chain| &chain.steps) {
        if !columns.contains(&step.release.as_str()) {
            columns.push(&step.release);
        }
    }
    let left = chains.iter().map(|chain| {
        let alone = columns.iter().map(|column| {
            let step = chain.steps.iter().find(|step| step.release == *column)?;
            Some(step.values_count as f64)
        });
        alone.chain([Some(chain.left_count as f64)]).collect()
    });
    let picture = Matrix {
        title: "Values left, by people and release".to_owned(),
        description: "For the most exposed groups of people: how many sensitive values each release leaves by itself, and all together. Marked: fewer than two.".to_owned(),
        rows: (1..=chains.len()).map(|number| format!("group {number}")).collect(),
        columns: columns.iter().map(|&name| name.to_owned()).chain(["together".to_owned()]).collect(),
        left: left.collect(),
        required: 2.0,
    };
    figure(&picture.picture(), "matrix", chains, false)
}

fn narrowing(chain: &At<'_, NarrowingFacts>, id: &str) -> Markup {
    const VALUES_MAX: usize = 12;
    let mut values: Vec<&String> = chain.left.iter().take(VALUES_MAX).collect();
    for value in chain.steps.iter().flat_map(|step| &step.values) {
        if !values.contains(&value) && values.len() < VALUES_MAX {
            values.push(value);
        }
    }
    let mut left: Option<Vec<&String>> = None;
    let mut drawn_steps = Vec::with_capacity(chain.steps.len());
    for step in &chain.steps {
        let after: Vec<&String> = match left {
            Some(before) => before.into_iter().filter(|value| step.values.contains(value)).collect(),
            None => step.values.iter().collect(),
        };
        drawn_steps.push(NarrowedRelease {
            name: step.release.clone(),
            possible: values.iter().map(|value| step.values.contains(value)).collect(),
            left: after.len(),
        });
        left = Some(after);
    }
    let picture = NarrowingChain {
        title: format!("{} of one group, release by release", chain.protect),
        description: if drawn_steps.iter().any(|step| step.left > values.len()) {
            format!(
                "A dot: the value is still possible. A cross: this release, or one before it, excludes it. {} of the values are drawn.",
                values.len()
            )
        } else {
            "A dot: the value is still possible. A cross: this release, or one before it, excludes it.".to_owned()
        },
        steps: drawn_steps,
        values: values.into_iter().cloned().collect(),
    };
    html! {
        (figure(&picture.picture(), id, chain, false))
        ol { @for step in at!(chain, steps).items() { li {
            (step.release) ": " (cells(&step.cells))
            ". " (at!(step, rows).show(Show::Plain)) " rows, " (at!(step, values_count).show(Show::Plain)) " values."
        } } }
    }
}

/// The necessary change, in words: one more value in the classes that meet.
fn change(chains: &[NarrowingFacts]) -> Markup {
    let is_exposed = chains.iter().any(|chain| chain.left_count < 2);
    html! {
        h3 { "What would have to change" }
        @if !is_exposed {
            p { "No person is left with a single value. To keep it so, audit every further release together with these before it is placed." }
        } @else {
            p { "Some people are left with a single value. One of the releases would have to be made coarser for them, so that the classes that meet share at least two values: publish it again with the others under [community] and a rule of cross-release l-diversity, or withdraw it." }
        }
    }
}

/// The findings of every adversary, about one release or several.
pub(super) fn adversaries(audit: &At<'_, AuditFacts>, people_named: bool) -> Markup {
    let findings = at!(audit, adversaries).items();
    let rows = findings.iter().map(|finding| {
        vec![
            html! { (finding.name.name) br; span.soft { (finding.name.does) } },
            html! { (finding.releases.join(" + ")) @if let Some(protect) = &finding.protect { br; span.soft { "about " (breakable(protect)) } } },
            at!(finding, people).show(Show::Plain),
            at!(finding, at_risk).show(Show::Plain),
            at!(finding, max_confidence).show(Show::Percent),
            html! { (at!(finding, effective_k).show(Show::Plain)) " / " (at!(finding, effective_l).show(Show::Plain)) },
            if finding.breach { html! { span.fails-text { "breach" } } } else { html! { "no" } },
        ]
    });
    let unit = if people_named { "People" } else { "Rows" };
    let header = [
        ("Adversary", false),
        ("Against", false),
        (unit, true),
        ("Certain", true),
        ("Highest confidence", true),
        ("k / l left", true),
        ("Breach", false),
    ];
    let explanations = findings.iter().flat_map(|finding| at!(finding, explanations).items());
    html! {
        @if people_named { p { "The people of a private list were looked for." (super::internal()) } }
        (facts_table("What each adversary learns", &header, rows.collect()))
        @if let Some(assumed) = &audit.assumed {
            p.soft { "Assumed: " (assumed) "." }
        }
        @for explanation in explanations.take(EXPLANATIONS_MAX) {
            h3 { "Why " code { (super::named(&explanation.value)) } " is certain" }
            @if explanation.people > 0 { p { (at!(explanation, people).show(Show::Plain)) " people." } }
            ol { @for step in &explanation.steps { li { (super::with_code(step)) } } }
            @if people_named && !explanation.rows.is_empty() {
                p.soft {
                    "Rows of the list, from 1: "
                    @for (at, row) in at!(explanation, rows).items().iter().enumerate() { @if at > 0 { ", " } (row.show(Show::Plain)) }
                    (super::internal())
                }
            }
        }
        @for problem in &audit.contradictions {
            p.fails-text { (problem.release) ": " (problem.problem) }
        }
    }
}
