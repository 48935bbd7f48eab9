//! The verdict: each guarantee in a sentence and in symbols, required against achieved, and whether
//! it was recomputed from the released bytes.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::data::with_breakable_names;
use super::facts_table;
use super::sentences::{list, sentence, symbols};

pub(super) fn section(root: &At<'_>, releases: &[At<'_>]) -> Markup {
    let checks: Vec<At<'_>> = releases.iter().filter_map(|release| release.get("check")).collect();
    let all = checks.iter().map(|check| check.items("guarantees").len()).sum::<usize>();
    let broken: usize = checks.iter().map(|check| failing(check)).sum();
    let contradictions: usize = checks.iter().map(|check| check.items("contradictions").len()).sum();
    // An audit also counts manifests that are contradicted; here each has its own words.
    let findings = root.get("audit").map(|audit| audit.items("adversaries")).unwrap_or_default();
    let breach = findings.iter().any(|finding| finding.is("breach"));
    let fails = broken > 0 || contradictions > 0 || breach || checks.len() < releases.len();
    html! {
        div.verdict .fails[fails] {
            @if all == 0 {
                p.large { "Nothing is guaranteed." }
            } @else if breach && broken == 0 {
                p.large { "Sensitive values are disclosed." }
                p { @if all == 1 { "The guarantee holds" } @else { "The guarantees hold" } ", and an adversary learns a sensitive value all the same." }
            } @else if contradictions > 0 && broken == 0 {
                p.large { "The files contradict what the release says of itself." }
            } @else if broken == 0 {
                p.large { @if all == 1 { "The guarantee holds." } @else { "All guarantees hold." } }
            } @else {
                p.large { "Some guarantees do not hold." }
            }
            p { "Recomputed from the released files; the statements of the release were not trusted." }
            @if contradictions > 0 { p.fails-text { "The files contradict the manifest: see below." } }
            @if breach { p.fails-text { "An adversary is certain of a person's sensitive value: see the attacks." } }
            @else if root.get("audit").is_some() { p { "No adversary that was tried is certain of a person's sensitive value." } }
        }
        @for release in releases {
            @if releases.len() > 1 { h3 { (release.text_of("name")) } }
            (of_release(release, RECOMPUTED))
        }
    }
}

fn failing(check: &At<'_>) -> usize {
    check.items("guarantees").iter().filter(|claim| !claim.is("holds")).count()
}

/// The heading over verdicts that were computed from the released bytes.
pub(super) const RECOMPUTED: &str = "Recomputed";

/// The guarantees of a release; `verdict` is the heading over whether they hold.
pub(super) fn of_release(release: &At<'_>, verdict: &str) -> Markup {
    let Some(check) = release.get("check") else {
        return html! { p { "This table has no manifest: it claims no guarantee, and none was checked." } };
    };
    let claims = check.items("guarantees");
    let shared = shared(&claims);
    let rows = claims.iter().map(|claim| {
        vec![
            said(claim, shared.is_some()),
            parameters(claim, "required"),
            parameters(claim, "achieved"),
            if claim.is("holds") {
                html! { "holds" }
            } else {
                html! { span.fails-text { "fails" } }
            },
        ]
    });
    let header = [("Guarantee", false), ("Required", false), ("Achieved", false), (verdict, false)];
    html! {
        @if let Some(known) = &shared {
            p { "The attacker of every guarantee knows " (with_breakable_names(&list(known))) " of " (whom(&claims)) "." }
        }
        (facts_table("Guarantees, required and achieved", &header, rows.collect()))
        @for problem in check.items("contradictions") { p.fails-text { (super::with_code(problem.text())) } }
        @for problem in check.items("unchecked") { p { "Not recomputed: " (problem.text()) } }
        @for problem in check.items("warnings") { p { "Warning: " (super::with_code(problem.text_of("message"))) } }
        (numbers(release))
    }
}

/// The requirements of a policy, before there is a release.
pub(super) fn required(policy: &At<'_>) -> Markup {
    let claims = policy.items("guarantees");
    let shared = shared(&claims);
    let rows = claims.iter().map(|claim| vec![said(claim, shared.is_some()), parameters(claim, "required")]);
    html! {
        @if let Some(known) = &shared {
            p { "The attacker of every guarantee knows " (with_breakable_names(&list(known))) " of " (whom(&claims)) "." }
        }
        (facts_table("Guarantees, required", &[("Guarantee", false), ("Required", false)], rows.collect()))
    }
}

/// The individual that the attacker of all guarantees knows something of.
fn whom(claims: &[At<'_>]) -> &'static str {
    let of_units = |claim: &At<'_>, rows: &str| claim.text_of("rows") == rows;
    if claims.iter().all(|claim| of_units(claim, "all")) {
        "every row of a unit"
    } else if claims.iter().all(|claim| of_units(claim, "one")) {
        "one row of a unit"
    } else {
        "a person"
    }
}

/// The attributes that every guarantee takes as known, to be stated once.
fn shared<'a>(claims: &[At<'a>]) -> Option<Vec<&'a str>> {
    let mut known = claims.iter().map(|claim| claim.texts_of("know"));
    let first = known.next().filter(|_| claims.len() > 1)?;
    let same_rows = claims.windows(2).all(|two| two[0].text_of("rows") == two[1].text_of("rows"));
    (same_rows && known.all(|known| known == first)).then_some(first)
}

fn said(claim: &At<'_>, stated: bool) -> Markup {
    let model = claim.text_of("model");
    html! { (with_breakable_names(&sentence(claim, stated))) br; span.soft { (model) " · " span.math { (symbols(model)) } } }
}

fn parameters(claim: &At<'_>, which: &str) -> Markup {
    let entries = claim.get(which).map(|at| at.entries()).unwrap_or_default();
    html! {
        @for (place, (name, value)) in entries.iter().filter(|(name, _)| *name != "releases").enumerate() {
            @if place > 0 { br; }
            @let shown = value.show(Show::Plain);
            // A number stays beside its name; a list of values may break.
            span.pair[shown.0.starts_with("<data")] { (name) " = " (shown) }
        }
    }
}

/// Rows and classes at a glance.
fn numbers(release: &At<'_>) -> Markup {
    let fact = |name: &str, value: Markup| html! { div { div.value { (value) } div.name { (name) } } };
    html! {
        div.facts {
            @if let Some(rows) = release.get("rows") {
                (fact("rows released", rows.show_of("out", Show::Plain)))
                (fact("rows suppressed", rows.show_of("suppressed", Show::Plain)))
            }
            @if let [table] = &release.items("tables")[..] {
                @if let Some(classes) = table.get("classes") {
                    (fact(if table.is("buckets") { "buckets" } else { "classes" }, classes.show_of("count", Show::Plain)))
                    (fact("rows in the smallest", classes.show_of("min", Show::Plain)))
                }
                @if let Some(risk) = table.get("risk") {
                    (fact("highest risk", risk.show_of("highest", Show::Percent)))
                }
            }
        }
    }
}
