//! Data: what each column is, and which single people out.

use std::sync::Arc;

use hedgerow::{ProfiledColumn, Role, UNIQUENESS_ATTRIBUTES_MAX, UniqueSet};
use maud::{Markup, html};

use super::{PageView, count, percent, sketch, waiting};
use crate::engine::{self, Glimpse};

/// Sets of attributes that are listed.
const SETS_MAX: usize = 12;
/// Sets times rows that are counted without being asked for.
const UNASKED_WORK_MAX: u64 = 50_000_000;

/// A role with its name in a policy and its meaning.
const ROLES: &[(&str, &str, &str)] = &[
    ("identifier", "Identifier", "names a person; never released"),
    ("quasi", "Quasi-identifier", "an attacker may know it; generalized"),
    ("sensitive", "Sensitive", "what an attacker must not learn"),
    ("plain", "Plain", "released as it is"),
    ("", "Omit", "not released"),
];

/// A role as a policy names it.
pub(crate) fn role_name(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Identifier) => "identifier",
        Some(Role::Quasi) => "quasi",
        Some(Role::Sensitive) => "sensitive",
        Some(Role::Plain) => "plain",
        #[allow(unreachable_patterns)]
        Some(_) => "unit",
        None => "",
    }
}

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    let Some(data) = &view.data else {
        return match view.server.studio.glimpse() {
            Some(seen) => glimpse(&seen),
            None => waiting(view),
        };
    };
    let rows = data.table.rows as u64;
    let missing: u64 = data.columns.iter().map(|column| column.profile.missing).sum();
    let quasi = data.columns.iter().filter(|column| role_of(view, column) == "quasi").count();
    html! {
        dl.facts {
            div { dt { "Rows" } dd { (count(rows)) } }
            div { dt { "Columns" } dd { (data.columns.len()) } }
            div { dt { "Quasi-identifiers" } dd { (quasi) } }
            div { dt { "Cells without a value" } dd { (percent(missing, rows * data.columns.len() as u64)) } }
        }
        p.soft { "Click a role to change it. The proposed role has a dot, with the reason below the name." }
        div.cards {
            @for (place, column) in data.columns.iter().enumerate() { (card(column, place, Some(role_of(view, column)))) }
        }
        (together(view))
    }
}

fn role_of(view: &PageView<'_>, column: &ProfiledColumn) -> &'static str {
    let known = view.policy().map(|policy| policy.attribute(&column.profile.name).map(|attribute| attribute.role));
    role_name(known.unwrap_or(column.profile.role))
}

/// Columns whose roles cannot be changed yet.
pub(crate) fn glimpse(glimpse: &Glimpse) -> Markup {
    html! {
        dl.facts {
            div { dt { "Rows" } dd { (count(glimpse.rows)) } }
            div { dt { "Columns" } dd { (glimpse.columns.len()) } }
        }
        p.soft { "Roles can be changed once the policy is there." }
        div.cards { @for (place, column) in glimpse.columns.iter().enumerate() { (card(column, place, None)) } }
    }
}

/// A column, with its role where it can be changed.
fn card(column: &ProfiledColumn, place: usize, role: Option<&str>) -> Markup {
    let profile = &column.profile;
    html! {
        section.card aria-labelledby={ "column-" (place) } {
            div.what {
                h3 #{ "column-" (place) } { (profile.name) " " span.kind { (profile.kind.name()) } }
                @if !profile.reason.is_empty() { p.soft { (profile.reason) } }
            }
            div.shape { (sketch::histogram(&column.histogram, &profile.name)) }
            dl.numbers {
                @if let Some(more_than) = column.more_than {
                    div { dt { "values" } dd { "> " (count(more_than)) } }
                } @else {
                    div { dt { "values" } dd { (count(profile.distinct)) } }
                    div { dt { "missing" } dd { (percent(profile.missing, profile.rows)) } }
                    div { dt { "unique rows" } dd { (percent((profile.unique_share * profile.rows as f64).round() as u64, profile.rows)) } }
                }
            }
            @if let Some(role) = role { (roles(column, place, role)) }
        }
    }
}

fn roles(column: &ProfiledColumn, place: usize, role: &str) -> Markup {
    let (profile, proposed) = (&column.profile, role_name(column.profile.role));
    html! {
        fieldset.roles {
            legend.hidden { "Role of " (profile.name) }
            @for (name, title, meaning) in ROLES {
                button #{ "role-" (place) "-" (if name.is_empty() { "omit" } else { name }) } type="button" title=(meaning)
                    aria-pressed=(if role == *name { "true" } else { "false" }) .proposed[proposed == *name]
                    hx-post="/data/role" hx-target="#app" hx-swap="outerHTML"
                    hx-vals=(serde_json::json!({ "name": profile.name, "role": name }).to_string()) {
                    (title) @if proposed == *name { span.hidden { " (proposed)" } }
                }
            }
        }
    }
}

/// Which attributes single people out together.
fn together(view: &PageView<'_>) -> Markup {
    html! {
        h2 { "Which columns single people out together" }
        p { "A set of columns singles a person out when no other row has the same values. Sets that do so for many people are what an attacker can use: make their columns quasi-identifiers, or omit one." }
        div #sets.part { (sets(view)) }
    }
}

/// The sets, once they are counted. They are counted without being asked for where that is quick.
pub(crate) fn sets(view: &PageView<'_>) -> Markup {
    let (Some(policy), Some(data)) = (view.policy(), view.data.clone()) else { return html! {} };
    let quasi: Vec<String> = policy.quasi().map(|attribute| attribute.name.clone()).collect();
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let sensitive: Vec<String> = sensitive.map(|attribute| attribute.name.clone()).collect();
    let rows = data.table.rows as u64;
    if let Some(sets) = view.server.studio.found().sets.clone() {
        return listed(&sets, rows, &quasi, &sensitive);
    }
    let names = engine::candidates(policy, &data.table);
    if engine::sets_work(names.len(), data.table.rows) > UNASKED_WORK_MAX {
        return html! {
            button.primary hx-post="/data/sets" hx-target="#app" hx-swap="outerHTML" { "Count all sets of up to three of " (names.len()) " columns" }
            @if names.len() == UNIQUENESS_ATTRIBUTES_MAX { p.soft { "The first " (UNIQUENESS_ATTRIBUTES_MAX) " columns that are not identifiers." } }
        };
    }
    // Another role of a column changes nothing that is counted.
    let mut of = names.clone();
    of.sort();
    let studio = Arc::clone(&view.server.studio);
    view.part_of("Counting sets of columns", "/data/sets", &of.join("\n"), move |monitor| {
        let sets = engine::sets(&data, &names, monitor)?;
        let list = listed(&sets, rows, &quasi, &sensitive);
        studio.found().sets = Some(Arc::new(sets));
        Ok(list)
    })
}

fn listed(sets: &[UniqueSet], rows: u64, quasi: &[String], sensitive: &[String]) -> Markup {
    // A sensitive column stays one: it is protected, not generalized.
    let is_open = |set: &UniqueSet| {
        set.unique > 0
            && set.attributes.iter().any(|name| !quasi.contains(name))
            && !set.attributes.iter().any(|name| sensitive.contains(name))
    };
    html! {
        p.soft { "Omitted are sets of which a part singles out nearly every row by itself, and those that single out none." }
        @for size in 1..=3usize {
            @let of_size = telling(sets, size, rows);
            @if !of_size.is_empty() {
                h3 { (["One column", "Two columns", "Three columns"][size - 1]) }
                div.scroll tabindex="0" role="group" aria-label="Sets of columns" { table.sets {
                    thead { tr { th scope="col" { "columns" } th.n scope="col" { "rows singled out" } th.share scope="col" { "share" } th.todo scope="col" { span.hidden { "what to do" } } } }
                    tbody { @for set in of_size { tr {
                        td { (set.attributes.join(", ")) }
                        td.n { (count(set.unique)) }
                        td.share { meter min="0" max="1" low="0.05" high="0.33" optimum="0" value=(set.unique as f64 / rows.max(1) as f64) title=(percent(set.unique, rows)) {} " " (percent(set.unique, rows)) }
                        td { @if is_open(set) {
                            button.small hx-post="/data/quasi" hx-target="#app" hx-swap="outerHTML" hx-vals=(serde_json::json!({ "names": set.attributes.join("\n") }).to_string()) { "Make quasi-identifiers" }
                        } }
                    } } }
                } }
            }
        }
    }
}

/// The sets of a size that single out the most rows. A set is omitted where a part of it singles
/// out nearly every row already: the others in it add nothing.
fn telling(sets: &[UniqueSet], size: usize, rows: u64) -> Vec<&UniqueSet> {
    let is_enough = |set: &&UniqueSet| set.unique * 10 >= rows.max(1) * 9;
    let enough: Vec<&UniqueSet> = sets.iter().filter(|set| set.attributes.len() < size).filter(is_enough).collect();
    let has_part =
        |set: &UniqueSet| enough.iter().any(|part| part.attributes.iter().all(|name| set.attributes.contains(name)));
    let is_telling = |set: &&UniqueSet| set.attributes.len() == size && (size == 1 || set.unique > 0) && !has_part(set);
    sets.iter().filter(is_telling).take(SETS_MAX).collect()
}
