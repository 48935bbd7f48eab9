//! Mitigation: the lattice, the node that was chosen, what one level less would break, and why
//! groups of rows were suppressed.

use std::collections::HashSet;

use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::{cells, facts_table, figure, internal};
use crate::facts::{BrokenFacts, LatticeFacts, ReleaseFacts, WhyFacts};
use crate::pictures::{Lattice, LatticeNode};

pub(super) fn section(release: &At<'_, ReleaseFacts>, index: usize) -> Option<Markup> {
    let (lattice, why) = (at!(release, lattice).get(), at!(release, why).get());
    if lattice.is_none() && why.is_none() {
        return super::undivided::section(release);
    }
    Some(html! {
        @if let Some(lattice) = &lattice { (picture(lattice, release, index)) }
        @if let Some(why) = &why { (finer(why)) (suppressed(why)) }
    })
}

fn picture(lattice: &At<'_, LatticeFacts>, release: &ReleaseFacts, index: usize) -> Markup {
    let tops: Vec<usize> = lattice.attributes.iter().map(|attribute| attribute.top).collect();
    let holding: HashSet<&Vec<usize>> = lattice.holding.iter().collect();
    let losses = release.measures.as_ref().map(|measures| measures.loss.as_slice()).unwrap_or_default();
    let nodes =
        all_nodes(&tops).into_iter().map(|levels| LatticeNode { holds: holding.contains(&levels), loss: None, levels });
    let picture = Lattice {
        title: "The generalization lattice".to_owned(),
        description: "Every combination of levels: the coarsest on top, the source at the bottom. Filled: every rule holds. The heavy outline is the release.".to_owned(),
        attributes: lattice.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        nodes: nodes.collect(),
        tops,
        chosen: Some(lattice.chosen.clone()),
    };
    html! {
        (figure(&picture.picture(), &format!("lattice-{index}"), lattice, true))
        p { (at!(lattice, holding_count).show(Show::Plain)) " of " (at!(lattice, nodes).show(Show::Plain)) " combinations of levels satisfy every rule." }
        @if !losses.iter().any(|(name, _)| name == "ncp") { p.soft { "The loss of the chosen one was not measured." } }
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
fn broken(at: &At<'_, BrokenFacts>) -> Markup {
    html! {
        (at.model)
        @if let Some(protect) = &at.protect { " of " (protect) }
        ": " @for (place, (name, value)) in at!(at, achieved).entries().iter().enumerate() {
            @if place > 0 { ", " }
            (name) " = " (value.show(Show::Plain))
        }
        " (" (at!(at, rows).show(Show::Plain)) " rows)"
    }
}

/// Guarantees that classes break, those of the most rows first; of many rules a few stand for all.
fn all_broken(mut breaks: Vec<At<'_, BrokenFacts>>) -> Markup {
    const SHOWN: usize = 4;
    breaks.sort_by_key(|broken| std::cmp::Reverse(broken.rows));
    let more = if breaks.len() > SHOWN + 1 { breaks.split_off(SHOWN).len() } else { 0 };
    html! {
        @for (place, at) in breaks.iter().enumerate() { @if place > 0 { br; } (broken(at)) }
        @if more > 0 { br; "and " (more) " other guarantees, for fewer rows" }
    }
}

fn finer(why: &At<'_, WhyFacts>) -> Markup {
    let rows = at!(why, finer).items().into_iter().map(|finer| {
        let breaks = at!(finer, breaks).items();
        vec![
            html! { (finer.attribute) },
            at!(finer, level).show(Show::Plain),
            if finer.holds {
                html! { "would hold, with " (at!(finer, suppressed).show(Show::Plain)) " rows suppressed; the loss would be higher" }
            } else {
                html! { "fails" }
            },
            html! { (all_broken(breaks)) @if finer.breaks.is_empty() { "–" } },
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

fn suppressed(why: &At<'_, WhyFacts>) -> Markup {
    let groups = at!(why, suppressed).items();
    let rows = groups.iter().map(|group| {
        let (breaks, nearest) = (at!(group, breaks).items(), at!(group, nearest).items());
        vec![
            cells(&group.cells),
            at!(group, rows).show(Show::Plain),
            html! {
                (all_broken(breaks))
                @if group.breaks.is_empty() { "broke a guarantee after other groups were suppressed" }
            },
            html! { @for (place, at) in nearest.iter().enumerate() {
                @if place > 0 { br; }
                "differs in " (at.differs.join(", ")) " (" (at!(at, rows).show(Show::Plain)) " rows)"
            } },
        ]
    });
    let header = [("Group", false), ("Rows", true), ("What it broke", false), ("Nearest released classes", false)];
    html! {
        h3 { "Why rows were suppressed" (internal()) }
        @if groups.is_empty() { p { "No row was suppressed." } }
        @else {
            p { (at!(why, groups).show(Show::Plain)) @if why.groups == 1 { " group" } @else { " groups" } " of rows that agree on every quasi-identifier; the largest are listed." }
            (facts_table("Suppressed groups", &header, rows.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_broken_guarantees_those_of_the_most_rows_are_shown() {
        let broken = |rows| BrokenFacts {
            model: "distinct-l-diversity".to_owned(),
            protect: Some(format!("p{rows}")),
            achieved: Vec::new(),
            rows,
        };
        let shown = |rules: u64| {
            let breaks: Vec<BrokenFacts> = (1..=rules).map(broken).collect();
            all_broken(At::root(&breaks).items()).into_string()
        };
        let many = shown(21);
        assert!(many.contains(" of p21:") && many.contains(" of p18:") && !many.contains(" of p17:"), "{many}");
        assert!(many.contains("and 17 other guarantees, for fewer rows"), "{many}");
        let few = shown(5);
        assert!(few.contains(" of p1:") && !few.contains("other guarantees"), "{few}");
    }
}
