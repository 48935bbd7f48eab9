//! Releases together: what each leaves alone and all leave combined, and how a person's value is
//! narrowed down, release by release.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::data::breakable;
use super::sentences::adversary;
use super::{facts_table, figure};
use crate::pictures::{Matrix, NarrowedRelease, NarrowingChain};

/// Explanations that are shown.
const EXPLANATIONS_MAX: usize = 5;

/// Chains that are drawn.
const CHAINS_MAX: usize = 2;

pub(super) fn section(root: &At<'_>) -> Markup {
    let alone = root.items("alone").into_iter().map(|at| {
        vec![
            html! { (at.text_of("release")) },
            html! { (breakable(at.text_of("protect"))) },
            at.show_of("effective_k", Show::Plain),
            at.show_of("effective_l", Show::Plain),
            at.show_of("max_confidence", Show::Percent),
        ]
    });
    let together = root.items("combined").into_iter().map(|at| {
        vec![
            html! { span.pair { strong { "all together" } br; span.soft { (at.text_of("name")) } } },
            html! { (breakable(at.text_of("protect"))) },
            at.show_of("effective_k", Show::Plain),
            at.show_of("effective_l", Show::Plain),
            at.show_of("max_confidence", Show::Percent),
        ]
    });
    let header = [
        ("Release", false),
        ("Sensitive", false),
        ("Fewest rows", true),
        ("Fewest values", true),
        ("Highest confidence", true),
    ];
    let chains = root.items("narrowings");
    html! {
        p { "What every person is left with at least: rows among which nothing distinguishes them (effective k), and sensitive values (effective l). People are taken to be in every release." }
        (facts_table("Alone and together", &header, alone.chain(together).collect()))
        @if chains.is_empty() {
            p { "No sensitive attribute is in two of the releases: there is nothing to narrow down." }
        } @else {
            (matrix(root, &chains))
            h3 { "How a value is narrowed down" }
            p { "From the released tables alone: the classes that one group of people matches, and the values that remain after each release." }
            @for (place, chain) in chains.iter().take(CHAINS_MAX).enumerate() { (narrowing(chain, &format!("chain-{place}"))) }
            (change(&chains))
        }
    }
}

fn matrix(root: &At<'_>, chains: &[At<'_>]) -> Markup {
    let mut columns: Vec<&str> = Vec::new();
    for step in chains.iter().flat_map(|chain| chain.items("steps")) {
        if !columns.contains(&step.text_of("release")) {
            columns.push(step.text_of("release"));
        }
    }
    let left = chains.iter().map(|chain| {
        let steps = chain.items("steps");
        let alone = columns.iter().map(|column| {
            let step = steps.iter().find(|step| step.text_of("release") == *column)?;
            step.get("values_count").and_then(|at| at.number())
        });
        alone.chain([chain.get("left_count").and_then(|at| at.number())]).collect()
    });
    let picture = Matrix {
        title: "Values left, by people and release".to_owned(),
        description: "For the most exposed groups of people: how many sensitive values each release leaves by itself, and all together. Marked: fewer than two.".to_owned(),
        rows: (1..=chains.len()).map(|number| format!("group {number}")).collect(),
        columns: columns.iter().map(|&name| name.to_owned()).chain(["together".to_owned()]).collect(),
        left: left.collect(),
        required: 2.0,
    };
    root.get("narrowings").map_or_else(|| html! {}, |source| figure(&picture.picture(), "matrix", &source, false))
}

fn narrowing(chain: &At<'_>, id: &str) -> Markup {
    const VALUES_MAX: usize = 12;
    let steps = chain.items("steps");
    let mut values: Vec<&str> = chain.texts_of("left");
    values.truncate(VALUES_MAX);
    for value in steps.iter().flat_map(|step| step.texts_of("values")) {
        if !values.contains(&value) && values.len() < VALUES_MAX {
            values.push(value);
        }
    }
    let mut left: Option<Vec<&str>> = None;
    let drawn = |step: &At<'_>| {
        let possible = step.texts_of("values");
        values.iter().map(|value| possible.contains(value)).collect::<Vec<bool>>()
    };
    let mut drawn_steps = Vec::with_capacity(steps.len());
    for step in &steps {
        let possible = step.texts_of("values");
        let after = match &left {
            Some(before) => before.iter().copied().filter(|value| possible.contains(value)).collect(),
            None => possible,
        };
        drawn_steps.push(NarrowedRelease {
            name: step.text_of("release").to_owned(),
            possible: drawn(step),
            left: after.len(),
        });
        left = Some(after);
    }
    let picture = NarrowingChain {
        title: format!("{} of one group, release by release", chain.text_of("protect")),
        description: if drawn_steps.iter().any(|step| step.left > values.len()) {
            format!(
                "A dot: the value is still possible. A cross: this release, or one before it, excludes it. {} of the values are drawn.",
                values.len()
            )
        } else {
            "A dot: the value is still possible. A cross: this release, or one before it, excludes it.".to_owned()
        },
        steps: drawn_steps,
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    html! {
        (figure(&picture.picture(), id, chain, false))
        ol { @for step in &steps { li {
            (step.text_of("release")) ": "
            @for (place, (name, label)) in step.get("cells").map(|cells| cells.entries()).unwrap_or_default().iter().enumerate() {
                @if place > 0 { ", " } (name) " " (super::named(label.text()))
            }
            ". " (step.show_of("rows", Show::Plain)) " rows, " (step.show_of("values_count", Show::Plain)) " values."
        } } }
    }
}

/// The necessary change, in words: one more value in the classes that meet.
fn change(chains: &[At<'_>]) -> Markup {
    let exposed: Vec<&At<'_>> = chains.iter().filter(|chain| chain.number_of("left_count") < 2.0).collect();
    html! {
        h3 { "What would have to change" }
        @if exposed.is_empty() {
            p { "No person is left with a single value. To keep it so, audit every further release together with these before it is placed." }
        } @else {
            p { "Some people are left with a single value. One of the releases would have to be made coarser for them, so that the classes that meet share at least two values: publish it again with the others under [community] and a rule of cross-release l-diversity, or withdraw it." }
        }
    }
}

/// The findings of every adversary, about one release or several.
pub(super) fn adversaries(root: &At<'_>) -> Option<Markup> {
    let findings = root.get("audit")?.items("adversaries");
    let rows = findings.iter().map(|finding| {
        let name = finding.text_of("name");
        vec![
            html! { (name) br; span.soft { (adversary(name)) } },
            html! { (finding.texts_of("releases").join(" + ")) @if let Some(protect) = finding.get("protect") { br; span.soft { "about " (breakable(protect.text())) } } },
            finding.show_of("people", Show::Plain),
            finding.show_of("at_risk", Show::Plain),
            finding.show_of("max_confidence", Show::Percent),
            html! { (finding.show_of("effective_k", Show::Plain)) " / " (finding.show_of("effective_l", Show::Plain)) },
            if finding.is("breach") { html! { span.fails-text { "breach" } } } else { html! { "no" } },
        ]
    });
    let unit = if root.is("people_named") { "People" } else { "Rows" };
    let header = [
        ("Adversary", false),
        ("Against", false),
        (unit, true),
        ("Certain", true),
        ("Highest confidence", true),
        ("k / l left", true),
        ("Breach", false),
    ];
    let internal = root.is("people_named");
    Some(html! {
        @if internal { p { "The people of a private list were looked for." (super::internal()) } }
        (facts_table("What each adversary learns", &header, rows.collect()))
        @if let Some(assumed) = root.get("audit").and_then(|audit| audit.get("assumed")) {
            p.soft { "Assumed: " (assumed.text()) "." }
        }
        @for explanation in findings.iter().flat_map(|finding| finding.items("explanations")).take(EXPLANATIONS_MAX) {
            h3 { "Why " code { (super::named(explanation.text_of("value"))) } " is certain" }
            @if explanation.number_of("people") > 0.0 { p { (explanation.show_of("people", Show::Plain)) " people." } }
            ol { @for step in explanation.texts_of("steps") { li { (super::with_code(step)) } } }
            @if internal && !explanation.items("rows").is_empty() {
                p.soft {
                    "Rows of the list, from 1: "
                    @for (at, row) in explanation.items("rows").iter().enumerate() { @if at > 0 { ", " } (row.show(Show::Plain)) }
                    (super::internal())
                }
            }
        }
        @for problem in root.get("audit").map(|audit| audit.items("contradictions")).unwrap_or_default() {
            p.fails-text { (problem.text_of("release")) ": " (problem.text_of("problem")) }
        }
    })
}
