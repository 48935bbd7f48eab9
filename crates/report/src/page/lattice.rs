//! Mitigation: the lattice, the node that was chosen, what one level less would break, and why
//! groups of rows were suppressed.

use std::collections::HashSet;

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::{facts_table, figure, internal};
use crate::pictures::{Lattice, LatticeNode};

pub(super) fn section(release: &At<'_>, index: usize) -> Option<Markup> {
    let (lattice, why) = (release.get("lattice"), release.get("why"));
    if lattice.is_none() && why.is_none() {
        return super::undivided::section(release);
    }
    Some(html! {
        @if let Some(lattice) = &lattice { (picture(lattice, release, index)) }
        @if let Some(why) = &why { (finer(why)) (suppressed(why)) }
    })
}

fn picture(lattice: &At<'_>, release: &At<'_>, index: usize) -> Markup {
    let attributes = lattice.items("attributes");
    let tops: Vec<usize> = attributes.iter().map(|attribute| attribute.number_of("top") as usize).collect();
    let levels = |at: &At<'_>| -> Vec<usize> { at.list().into_iter().map(|level| level as usize).collect() };
    let holding: HashSet<Vec<usize>> = lattice.items("holding").iter().map(levels).collect();
    let chosen = lattice.get("chosen").map(|at| levels(&at));
    let nodes =
        all_nodes(&tops).into_iter().map(|levels| LatticeNode { holds: holding.contains(&levels), loss: None, levels });
    let picture = Lattice {
        title: "The generalization lattice".to_owned(),
        description: "Every combination of levels: the coarsest on top, the source at the bottom. Filled: every rule holds. The heavy outline is the release.".to_owned(),
        attributes: attributes.iter().map(|attribute| attribute.text_of("name").to_owned()).collect(),
        nodes: nodes.collect(),
        tops,
        chosen,
    };
    html! {
        (figure(&picture.picture(), &format!("lattice-{index}"), lattice, true))
        p { (lattice.show_of("holding_count", Show::Plain)) " of " (lattice.show_of("nodes", Show::Plain)) " combinations of levels satisfy every rule." }
        @if release.path(&["measures", "loss", "ncp"]).is_none() { p.soft { "The loss of the chosen one was not measured." } }
    }
}

fn all_nodes(tops: &[usize]) -> Vec<Vec<usize>> {
    let mut nodes = vec![Vec::new()];
    for &top in tops {
        nodes = nodes
            .iter()
            .flat_map(|node: &Vec<usize>| (0..=top).map(move |level| [node.as_slice(), &[level]].concat()))
            .collect();
    }
    nodes
}

/// A guarantee that classes break: `k-anonymity k = 5: 12 rows`.
fn broken(at: &At<'_>) -> Markup {
    html! {
        (at.text_of("model"))
        @if let Some(protect) = at.get("protect") { " of " (protect.text()) }
        @if let Some(achieved) = at.get("achieved") {
            ": " @for (place, (name, value)) in achieved.entries().iter().enumerate() {
                @if place > 0 { ", " }
                (name) " = " (value.show(Show::Plain))
            }
        }
        @if let Some(rows) = at.get("rows") { " (" (rows.show(Show::Plain)) " rows)" }
    }
}

/// Guarantees that classes break, those of the most rows first; of many rules a few stand for all.
fn all_broken(mut breaks: Vec<At<'_>>) -> Markup {
    const SHOWN: usize = 4;
    breaks.sort_by(|one, other| other.number_of("rows").total_cmp(&one.number_of("rows")));
    let more = if breaks.len() > SHOWN + 1 { breaks.split_off(SHOWN).len() } else { 0 };
    html! {
        @for (place, at) in breaks.iter().enumerate() { @if place > 0 { br; } (broken(at)) }
        @if more > 0 { br; "and " (more) " other guarantees, for fewer rows" }
    }
}

fn finer(why: &At<'_>) -> Markup {
    let rows = why.items("finer").into_iter().map(|finer| {
        let breaks = finer.items("breaks");
        vec![
            html! { (finer.text_of("attribute")) },
            finer.show_of("level", Show::Plain),
            if finer.is("holds") {
                html! { "would hold, with " (finer.show_of("suppressed", Show::Plain)) " rows suppressed; the loss would be higher" }
            } else {
                html! { "fails" }
            },
            html! { (all_broken(breaks)) @if finer.items("breaks").is_empty() { "–" } },
        ]
    });
    let rows: Vec<Vec<Markup>> = rows.collect();
    let header = [
        ("Attribute", false),
        ("One level less", true),
        ("There, the policy", false),
        ("What classes break before suppression", false),
    ];
    html! {
        h3 { "Why each attribute is as coarse as it is" (internal()) }
        @if rows.is_empty() { p { "No attribute was generalized." } }
        @else { (facts_table("One level less, one attribute at a time", &header, rows)) }
    }
}

fn suppressed(why: &At<'_>) -> Markup {
    let groups = why.items("suppressed");
    let cells = |at: &At<'_>| {
        html! {
            @for (place, (name, label)) in at.get("cells").map(|cells| cells.entries()).unwrap_or_default().iter().enumerate() {
                @if place > 0 { ", " } (name) " " (super::named(label.text()))
            }
        }
    };
    let rows = groups.iter().map(|group| {
        let (breaks, nearest) = (group.items("breaks"), group.items("nearest"));
        vec![
            cells(group),
            group.show_of("rows", Show::Plain),
            html! {
                (all_broken(breaks))
                @if group.items("breaks").is_empty() { "broke a guarantee after other groups were suppressed" }
            },
            html! { @for (place, at) in nearest.iter().enumerate() {
                @if place > 0 { br; }
                "differs in " (at.texts_of("differs").join(", ")) " (" (at.show_of("rows", Show::Plain)) " rows)"
            } },
        ]
    });
    let header = [("Group", false), ("Rows", true), ("What it broke", false), ("Nearest released classes", false)];
    html! {
        h3 { "Why rows were suppressed" (internal()) }
        @if groups.is_empty() { p { "No row was suppressed." } }
        @else {
            p { (why.show_of("groups", Show::Plain)) @if why.number_of("groups") == 1.0 { " group" } @else { " groups" } " of rows that agree on every quasi-identifier; the largest are listed." }
            (facts_table("Suppressed groups", &header, rows.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_many_broken_guarantees_those_of_the_most_rows_are_shown() {
        let broken = |rules: u64| {
            let rule = |rows| json!({ "model": "distinct-l-diversity", "protect": format!("p{rows}"), "rows": rows });
            json!({ "breaks": (1..=rules).map(rule).collect::<Vec<_>>() })
        };
        let shown = |rules: u64| all_broken(At::root(&broken(rules)).items("breaks")).into_string();
        let many = shown(21);
        assert!(many.contains(" of p21 ") && many.contains(" of p18 ") && !many.contains(" of p17 "), "{many}");
        assert!(many.contains("and 17 other guarantees, for fewer rows"), "{many}");
        let few = shown(5);
        assert!(few.contains(" of p1 ") && !few.contains("other guarantees"), "{few}");
    }
}
