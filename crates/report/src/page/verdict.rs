//! The verdict: each guarantee in a sentence and in symbols, required against achieved, and whether
//! it was recomputed from the released bytes.

use hedgerow_privacy::KnownRows;
use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::facts_table;
use super::sentences::{list, sentence, symbols};
use crate::facts::{CheckFacts, GuaranteeFacts, ModelParameter, Named, PolicyFacts, ReleaseFacts, ReportFacts};

pub(super) fn section(report: &ReportFacts, releases: &[At<'_, ReleaseFacts>]) -> Markup {
    let checks: Vec<&CheckFacts> = releases.iter().filter_map(|release| release.check.as_ref()).collect();
    let all = checks.iter().map(|check| check.guarantees.len()).sum::<usize>();
    let broken = checks.iter().flat_map(|check| &check.guarantees).filter(|claim| !claim.holds).count();
    let contradictions: usize = checks.iter().map(|check| check.contradictions.len()).sum();
    // An audit also counts manifests that are contradicted; here each has its own words.
    let breach = report.audit.adversaries.iter().any(|finding| finding.breach);
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
            @else { p { "No adversary that was tried is certain of a person's sensitive value." } }
        }
        @for release in releases {
            @if releases.len() > 1 { h3 { (release.name) } }
            (of_release(release, RECOMPUTED))
        }
    }
}

/// The heading over verdicts that were computed from the released bytes.
pub(super) const RECOMPUTED: &str = "Recomputed";

/// The guarantees of a release; `verdict` is the heading over whether they hold.
pub(super) fn of_release(release: &At<'_, ReleaseFacts>, verdict: &str) -> Markup {
    let Some(check) = at!(release, check).get() else {
        return html! { p { "This table has no manifest: it claims no guarantee, and none was checked." } };
    };
    let claims = &check.guarantees;
    let shared = shared(claims);
    let rows = at!(check, guarantees).items().into_iter().map(|claim| {
        vec![
            said(&claim, shared.is_some()),
            parameters(&at!(claim, required)),
            parameters(&at!(claim, achieved)),
            if claim.holds {
                html! { "holds" }
            } else {
                html! { span.fails-text { "fails" } }
            },
        ]
    });
    let header = [("Guarantee", false), ("Required", false), ("Achieved", false), (verdict, false)];
    html! {
        @if let Some(known) = &shared {
            p { "The attacker of every guarantee knows " (list(known)) " of " (whom(claims)) "." }
        }
        (facts_table("Guarantees, required and achieved", &header, rows.collect()))
        @for problem in &check.contradictions { p.fails-text { (super::with_code(problem)) } }
        @for problem in &check.unchecked { p { "Not recomputed: " (problem) } }
        @for problem in &check.warnings { p { "Warning: " (super::with_code(&problem.message)) } }
        (numbers(release))
    }
}

/// The requirements of a policy, before there is a release.
pub(super) fn required(policy: &At<'_, PolicyFacts>) -> Markup {
    let claims = &policy.guarantees;
    let shared = shared(claims);
    let guarantees = at!(policy, guarantees).items().into_iter();
    let rows = guarantees.map(|claim| vec![said(&claim, shared.is_some()), parameters(&at!(claim, required))]);
    html! {
        @if let Some(known) = &shared {
            p { "The attacker of every guarantee knows " (list(known)) " of " (whom(claims)) "." }
        }
        (facts_table("Guarantees, required", &[("Guarantee", false), ("Required", false)], rows.collect()))
    }
}

/// The individual that the attacker of all guarantees knows something of.
fn whom(claims: &[GuaranteeFacts]) -> &'static str {
    let all = |rows: KnownRows| claims.iter().all(|claim| claim.rows == Some(rows));
    if all(KnownRows::All) {
        "every row of a unit"
    } else if all(KnownRows::One) {
        "one row of a unit"
    } else {
        "a person"
    }
}

/// The attributes that every guarantee takes as known, to be stated once.
fn shared(claims: &[GuaranteeFacts]) -> Option<&[String]> {
    let first = claims.first().filter(|_| claims.len() > 1)?;
    claims.iter().all(|claim| claim.rows == first.rows && claim.know == first.know).then_some(first.know.as_slice())
}

fn said(claim: &GuaranteeFacts, stated: bool) -> Markup {
    let symbols = claim.known_model().map_or("", symbols);
    html! { (sentence(claim, stated)) br; span.soft { (claim.model) " · " span.math { (symbols) } } }
}

fn parameters(parameters: &At<'_, Named<ModelParameter>>) -> Markup {
    html! {
        @for (place, (name, value)) in parameters.entries().iter().filter(|(name, _)| *name != "releases").enumerate() {
            @if place > 0 { br; }
            @let shown = value.show(Show::Plain);
            // A number stays beside its name; a list of values may break.
            span.pair[shown.0.starts_with("<data")] { (name) " = " (shown) }
        }
    }
}

/// Rows and classes at a glance.
fn numbers(release: &At<'_, ReleaseFacts>) -> Markup {
    let fact = |name: &str, value: Markup| html! { div { div.value { (value) } div.name { (name) } } };
    html! {
        div.facts {
            @if let Some(rows) = at!(release, rows).get() {
                (fact("rows released", at!(rows, out).show(Show::Plain)))
                (fact("rows suppressed", at!(rows, suppressed).show(Show::Plain)))
            }
            @if let [table] = &at!(release, tables).items()[..] {
                (fact(if table.buckets { "buckets" } else { "classes" }, at!(table, classes.count).show(Show::Plain)))
                (fact("rows in the smallest", at!(table, classes.min).show(Show::Plain)))
                (fact("highest risk", at!(table, risk.highest).show(Show::Percent)))
            }
        }
    }
}
