//! Publish: the method chosen by questions, the search under way, the verified release, and what
//! other methods would keep.

use hedgerow::{Claim, Published, Release};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{PageView, count, percent, waiting};

/// A method, and the case that it is for.
#[derive(Debug, Clone, Copy)]
struct Method {
    name: &'static str,
    what: &'static str,
}

const METHODS: &[Method] = &[
    Method { name: "full-domain", what: "every value of an attribute at one level; the loss is proven minimal" },
    Method { name: "mondrian", what: "regions by cuts at the median" },
    Method { name: "best-cut", what: "regions by the cuts that lower the loss the most" },
    Method { name: "cluster", what: "classes of rows that are near; loses least, nothing is suppressed" },
    Method { name: "anatomy", what: "cells stay exact; sensitive values in a table of their own, joined by bucket" },
    Method { name: "clone", what: "classes alike, so that releases that cannot be seen exclude next to nothing" },
    Method { name: "decompose", what: "several tables, each for its own rule" },
];

/// A loss with its meaning; the method cluster takes the first three.
const LOSSES: &[(&str, &str)] = &[
    ("ncp", "how much of its column’s range each cell covers; 0 is exact, 1 is *"),
    ("granularity", "how many of its column’s values each cell may stand for; 0 is exact, 1 is *"),
    ("entropy", "how much cells leave open about values, rare ones more; 0 is exact, 1 is *"),
    ("precision", "how high in its hierarchy each cell is; 0 is exact, 1 is the top"),
    ("discernibility", "how large classes are: the sum of their squares"),
    ("average-class", "rows in a class on average, over the required k"),
];
const CLUSTER_LOSSES: usize = 3;

/// Where the next release goes: where the last one went, or `release`.
pub(crate) fn destination(view: &PageView<'_>) -> String {
    let studio = &view.server.studio;
    studio.release().map_or_else(|| "release".to_owned(), |release| studio.confinement.shown(&release))
}

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    if view.data.is_none() {
        return waiting(view);
    }
    let is_busy = view.server.studio.job().is_some_and(|job| !job.is_done());
    let published = view.server.studio.found().published.clone();
    html! {
        (questions(view))
        (settings(view))
        h2 { "Publish" }
        @if view.policy().is_none() {
            div.notice.bad { p { "The policy has problems, listed under “Policy”. Mend them first." } }
        } @else {
            form.row hx-post="/publish/run" hx-target="#app" hx-swap="outerHTML" {
                label { span { "Folder of the release" } input #destination type="text" name="destination" value=(destination(view)) required; }
                button #publish.primary disabled[is_busy] { "Search, write and verify" }
                button #compare type="button" hx-post="/publish/compare" disabled[is_busy] { "Compare methods" }
            }
            p.soft { "A release that is in the folder is replaced once the new one is verified." }
        }
        @match published {
            Some((version, published)) => (result(view, &published, version != view.current.version)),
            None => (earlier(view)),
        }
        (compared(view))
    }
}

fn questions(view: &PageView<'_>) -> Markup {
    let (others, cells) = (view.query.get("others"), view.query.get("cells"));
    let advised = match (others, cells) {
        ("unseen", _) => {
            Some(("clone", "Others publish and you cannot see what: cloning bounds what any similar release can add."))
        }
        (_, "exact") => Some(("anatomy", "Cells stay exact when sensitive values move into a table of their own.")),
        (_, "regions") => Some(("cluster", "Classes of near rows lose the least.")),
        (_, "levels") => {
            Some(("full-domain", "One level for each column is easiest to analyze, and the loss is proven minimal."))
        }
        _ => None,
    };
    let option = |name: &str, value: &str, chosen: &str, words: &str| {
        html! { label { input #{ (name) "-" (value) } type="radio" name=(name) value=(value) checked[chosen == value]; (words) } }
    };
    let method = view.policy().map(|policy| policy.publish.method.name()).unwrap_or_default();
    html! {
        h2 { "Which method" }
        form.questions hx-get="/publish" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
            fieldset {
                legend { "Do others publish about the same people?" }
                (option("others", "no", others, "no, or not that matters"))
                (option("others", "seen", others, "yes, and I have their releases"))
                (option("others", "unseen", others, "yes, and I cannot see what"))
            }
            fieldset {
                legend { "May cells become coarser?" }
                (option("cells", "levels", cells, "yes, every row in the same way"))
                (option("cells", "regions", cells, "yes, as little as each region allows"))
                (option("cells", "exact", cells, "no, they must stay exact"))
            }
        }
        @if let Some((name, why)) = advised {
            div.notice data-announce { p { strong { (name) } ": " (why) }
                @if name != method { button.primary hx-post="/publish/set" hx-vals={ "{\"key\":\"method\",\"value\":\"" (name) "\"}" } hx-target="#app" hx-swap="outerHTML" { "Use " (name) } }
                @else { p.soft { "The policy says so already." } }
            }
        }
        @if others == "seen" {
            div.notice { p { "List their releases under Community, and add a rule of cross-release l-diversity under Rules." } }
        }
    }
}

fn settings(view: &PageView<'_>) -> Markup {
    let Some(policy) = view.policy() else { return html! {} };
    let suppression = &policy.publish.suppression;
    let share = 100.0 * suppression.numerator as f64 / suppression.denominator.max(1) as f64;
    let method = policy.publish.method.name();
    let is_cluster = method == "cluster";
    let offered = if is_cluster { &LOSSES[..CLUSTER_LOSSES] } else { LOSSES };
    let of_cluster = policy.publish.cluster_loss.map_or("", |loss| loss.name());
    let chosen = if is_cluster { of_cluster } else { policy.publish.loss.name() };
    html! {
        div.settings {
            form hx-post="/publish/set" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
                input type="hidden" name="key" value="method";
                label { span { "Method" } select #method name="value" { @for known in METHODS { option value=(known.name) selected[known.name == method] { (known.name) } } } }
                p.soft { (METHODS.iter().find(|known| known.name == method).map_or("", |known| known.what)) }
            }
            @if ["full-domain", "clone"].contains(&method) {
                form hx-post="/publish/suppression" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
                    label { span { "Suppressed rows, at most %" }
                        span.parameter {
                            input #suppression-number type="number" name="value" min="0" max="100" step="any" value=(share) data-twin="suppression-slider";
                            input #suppression-slider type="range" min="0" max="20" step="0.5" value=(share) data-twin="suppression-number" aria-label="Suppressed rows, slider";
                        }
                    }
                }
            }
            @if ["full-domain", "cluster"].contains(&method) {
                form hx-post="/publish/set" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
                    input type="hidden" name="key" value="loss";
                    label { span { "Loss that is minimized" } select #loss name="value" {
                        @if is_cluster { option value="" selected[chosen.is_empty()] { "granularity, a little entropy" } }
                        @for (loss, _) in offered { option value=(loss) selected[*loss == chosen] { (loss) } }
                    } }
                    p.soft { (LOSSES.iter().find(|(loss, _)| *loss == chosen).map_or("", |(_, what)| *what)) }
                }
            }
        }
    }
}

/// Numbers by name: `k = 5, l = 2`.
pub(crate) fn numbers(map: &Map<String, Value>) -> String {
    let number = |value: &Value| match value.as_f64() {
        Some(number) if number.fract() != 0.0 => hedgerow_report::pictures::short(number),
        _ => value.to_string().trim_matches('"').to_owned(),
    };
    map.iter().map(|(name, value)| format!("{name} = {}", number(value))).collect::<Vec<_>>().join(", ")
}

/// A release that is in the folder from before, checked again.
fn earlier(view: &PageView<'_>) -> Markup {
    let Some(release) = view.server.studio.release() else { return html! {} };
    let name = view.server.studio.confinement.shown(&release);
    html! { section #result.result aria-label="The release" { h2 { "The release in " code { (name) } } div.part { (checked(view)) } } }
}

pub(crate) fn checked(view: &PageView<'_>) -> Markup {
    let Some(release) = view.server.studio.release() else { return html! {} };
    // What is checked depends on the release and not on the policy, which changes at every click.
    let written = std::fs::metadata(release.join("datapackage.json")).and_then(|known| known.modified()).ok();
    let of = format!("{} {written:?}", release.display());
    view.part_of("Checking the release in the folder", "/publish/checked", &of, move |monitor| {
        let release = Release::open_with(&release, monitor)?;
        let check = release.check()?;
        Ok(html! {
            p { (count(release.rows())) " rows, by the method " (release.method()) ". "
                @if check.holds() { span.good-text { "Every guarantee that was recomputed holds." } }
                @else { span.bad-text { "It does not keep what it promises: publish again." } } }
            (claims(&check.guarantees))
        })
    })
}

fn result(view: &PageView<'_>, published: &Published, is_old: bool) -> Markup {
    let holds = published.guarantees.iter().all(|claim| claim.holds);
    let minimized = view.policy().map(|policy| policy.publish.loss.name()).unwrap_or_default();
    html! {
        section #result.result aria-label="The release" data-announce={ "Release written: " (count(published.rows.out)) " rows" } {
            h2 { "The release " @if holds { span.verified { "verified" } } }
            @if is_old { p.soft { "The policy has changed since." } }
            dl.facts {
                div { dt { "Rows released" } dd { (count(published.rows.out)) } }
                div { dt { "Suppressed" } dd { (count(published.rows.suppressed)) " · " (percent(published.rows.suppressed, published.rows.source)) } }
                div { dt { "Classes" } dd { (count(published.classes.count)) } }
                div { dt { "Smallest class" } dd { (count(published.classes.min)) } }
                @for (name, value) in published.loss.iter().filter(|(name, _)| name.replace('_', "-") == minimized) { div { dt { "Loss: " (name) } dd { (hedgerow_report::pictures::short(value)) } } }
            }
            @if let Some(search) = &published.search {
                p { "Levels: " (search.levels.iter().map(|(name, level)| format!("{name} = {level}")).collect::<Vec<_>>().join(", ")) ". " @if search.proven { "No other combination of levels loses less: proven." } @else { "The search ended early: a combination that loses less may exist." } }
            }
            (claims(&published.guarantees))
            @for warning in &published.warnings { div.notice { p { (warning.problem) } @if !warning.hint.is_empty() { p.soft { (warning.hint) } } } }
            p.soft { "Read " (format!("{:.1} s", published.seconds.read)) ", searched " (format!("{:.1} s", published.seconds.search)) ", written and verified " (format!("{:.1} s", published.seconds.write)) "." }
        }
    }
}

/// Guarantees, as they were recomputed from the written bytes.
pub(crate) fn claims(claims: &[Claim]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Guarantees" { table.plain {
            caption { "Guarantees, recomputed from the written bytes" }
            thead { tr { th scope="col" { "guarantee" } th scope="col" { "required" } th scope="col" { "achieved" } th scope="col" { "against an attacker who knows" } th scope="col" { "" span.hidden { "verdict" } } } }
            tbody { @for claim in claims { tr {
                td { (claim.model) @if let Some(protect) = &claim.protect { " of " (protect) } }
                td { (numbers(&claim.required)) }
                td { (numbers(&claim.achieved)) }
                td { (claim.know.join(", ")) }
                td { @if claim.holds { span.good-text { "holds" } } @else { span.bad-text { "fails" } } }
            } } }
        } }
    }
}

fn compared(view: &PageView<'_>) -> Markup {
    let Some((version, all)) = view.server.studio.found().compared.clone() else { return html! {} };
    let method = view.policy().map(|policy| policy.publish.method.name()).unwrap_or_default();
    html! {
        section #compared aria-label="Methods compared" {
            h2 { "Methods next to each other" }
            @if version != view.current.version { p.soft { "The policy has changed since." } }
            div.scroll tabindex="0" role="group" aria-label="Methods" { table.plain {
                thead { tr { th scope="col" { "method" } th.n scope="col" { "suppressed" } th.n scope="col" { "ncp" } th.n scope="col" { "granularity" } th.n scope="col" { "entropy" } th.n scope="col" { "median error of counts" } th.n scope="col" { "seconds" } th scope="col" { span.hidden { "choose" } } } }
                tbody { @for compared in all.iter() { tr {
                    td { (compared.method) }
                    @match &compared.loss {
                        Some(loss) => {
                            td.n { (compared.suppressed.map(count).unwrap_or_default()) }
                            @for name in ["ncp", "granularity", "entropy"] { td.n { (loss_of(loss, name)) } }
                            td.n { (query_error(compared)) }
                            td.n { (compared.seconds.map(|seconds| format!("{seconds:.1}")).unwrap_or_default()) }
                        }
                        None => td colspan="6" { (compared.problem.as_deref().unwrap_or("no release")) },
                    }
                    td { @if compared.method == method { span.soft { "chosen" } } @else { button.small hx-post="/publish/set" hx-vals={ "{\"key\":\"method\",\"value\":\"" (compared.method) "\"}" } hx-target="#app" hx-swap="outerHTML" { "Use" span.hidden { " " (compared.method) } } } }
                } } }
            } }
        }
    }
}

fn loss_of(loss: &impl serde::Serialize, name: &str) -> String {
    let value = serde_json::to_value(loss).ok().and_then(|value| value.get(name)?.as_f64());
    value.map(hedgerow_report::pictures::short).unwrap_or_default()
}

fn query_error(compared: &hedgerow::Compared) -> String {
    let median = compared.queries.as_ref().map(|queries| queries.median);
    median.map_or_else(|| "–".to_owned(), |median| format!("{:.1} %", 100.0 * median))
}
