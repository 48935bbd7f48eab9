//! Explore: every combination of levels, which of them hold, what each costs, and the trade between
//! risk and loss.

use hedgerow::{Exploration, ExploredNode, Why};
use maud::{Markup, html};

use super::publish::numbers;
use super::{PageView, count, percent, tradeoff, waiting};
use crate::form::Form;

/// Up to this many nodes, each is drawn.
const DRAWN_MAX: u64 = 3000;
/// Nodes that are listed where they are too many to draw.
const LISTED_MAX: usize = 100;
/// Rows that are shown before and after.
const PREVIEWED_ROWS: usize = 5;
const WIDTH: f64 = 760.0;

/// The measures by which nodes are colored.
const COLORS: &[(&str, &str)] = &[("loss", "loss"), ("suppression", "suppressed rows"), ("risk", "highest risk")];

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    let Some(policy) = view.policy().filter(|_| view.data.is_some()) else { return waiting(view) };
    if policy.publish.method.name() != "full-domain" {
        let method = policy.publish.method.name();
        return html! {
            p { "Every column at one level, and every combination of levels evaluated: that is the method full-domain. The policy says " strong { (method) } ", which has no levels to choose from; its loss is compared with others under Publish." }
            button #use-full-domain.primary hx-post="/explore/use" hx-target="#app" hx-swap="outerHTML" { "Use full-domain and explore" }
        };
    }
    let known = view.server.studio.found().explored.clone();
    let Some((version, found)) = known else {
        return html! {
            p { "Evaluates every combination of levels: which satisfy all rules, what each loses, and how high the risk is." }
            button #explore.primary hx-post="/explore/run" hx-target="#app" hx-swap="outerHTML" { "Explore" }
        };
    };
    let chosen = chosen(&found, view.query);
    html! {
        @if version != view.current.version {
            div.notice { p { "The policy has changed since." } button hx-post="/explore/run" hx-target="#app" hx-swap="outerHTML" { "Explore again" } }
        }
        p { strong { (count(found.holding.len() as u64)) " of " (count(found.nodes)) } " combinations of levels satisfy every rule." }
        div.split {
            div { (lattice(view, &found, &chosen)) }
            div.details { (details(view, &found, &chosen)) }
            div #preview.part { (preview(view)) }
        }
        h2 { "Risk against loss" }
        (tradeoff::picture(view, &found, &chosen))
    }
}

/// The levels of a node, in the order of the attributes.
pub(crate) fn levels_of(node: &ExploredNode) -> Vec<usize> {
    node.levels.values().collect()
}

pub(crate) fn name_of(levels: &[usize]) -> String {
    levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

/// The node that the page is about: the one named, or the one with the least loss.
pub(crate) fn chosen(found: &Exploration, form: &Form) -> Vec<usize> {
    let named: Vec<usize> = form.get("node").split('.').filter_map(|level| level.parse().ok()).collect();
    let is_node = named.len() == found.attributes.len()
        && named.iter().zip(&found.attributes).all(|(&level, attribute)| level <= attribute.top);
    if is_node {
        named
    } else {
        found.holding.first().map(levels_of).unwrap_or_else(|| vec![0; found.attributes.len()])
    }
}

pub(crate) fn link(view: &PageView<'_>, levels: &[usize]) -> String {
    format!("/explore?node={}&color={}", name_of(levels), color_of(view))
}

fn color_of(view: &PageView<'_>) -> &'static str {
    COLORS.iter().find(|(name, _)| *name == view.query.get("color")).unwrap_or(&COLORS[0]).0
}

pub(crate) fn loss_of(found: &Exploration, node: &ExploredNode) -> f64 {
    node.loss.get(found.loss).unwrap_or(0.0)
}

fn lattice(view: &PageView<'_>, found: &Exploration, chosen: &[usize]) -> Markup {
    if found.nodes > DRAWN_MAX {
        return list(view, found);
    }
    let color = color_of(view);
    let measure = |node: &ExploredNode| match color {
        "suppression" => node.suppressed as f64,
        "risk" => node.risk.highest,
        _ => loss_of(found, node),
    };
    let (low, high) = found
        .holding
        .iter()
        .map(measure)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let shade = |value: f64| if high > low { (5.0 * (value - low) / (high - low)).round() as usize } else { 0 };
    let holding: std::collections::HashMap<Vec<usize>, &ExploredNode> =
        found.holding.iter().map(|node| (levels_of(node), node)).collect();
    let tops: Vec<usize> = found.attributes.iter().map(|attribute| attribute.top).collect();
    let rows = by_height(&tops);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let radius = (WIDTH / widest / 2.6).clamp(3.0, 10.0);
    let step = (radius * 2.9).max(13.0);
    html! {
        form.row hx-get="/explore" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
            input type="hidden" name="node" value=(name_of(chosen));
            label { "Color by " select #color name="color" { @for (name, title) in COLORS { option value=(name) selected[*name == color] { (title) } } } }
            span.soft { "pale is low, strong is high; a hollow node breaks a rule; the coarsest is on top" }
        }
        div.plot.wide { svg.picture viewBox={ "0 0 " (WIDTH) " " (step * rows.len() as f64 + 8.0) } width=(WIDTH) height=(step * rows.len() as f64 + 8.0) role="group" aria-label="Lattice" {
            @for (height, row) in rows.iter().enumerate() { @for (place, levels) in row.iter().enumerate() {
                @let x = WIDTH / 2.0 + (place as f64 - (row.len() as f64 - 1.0) / 2.0) * (WIDTH / widest).min(radius * 3.2);
                @let y = step * (height as f64 + 0.5) + 4.0;
                @let node = holding.get(levels);
                @let class = node.map_or("blank".to_owned(), |node| format!("heat-{} held", shade(measure(node))));
                @let path = link(view, levels);
                a href=(path) hx-get=(path) hx-target="#app" hx-swap="outerHTML" hx-push-url="true" aria-label={ "Levels " (name_of(levels)) (if node.is_some() { ", holds" } else { ", breaks a rule" }) } tabindex=(if levels == chosen || node.is_some() { "0" } else { "-1" }) {
                    circle class={ (class) @if levels == chosen { " picked" } } cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r=(format!("{radius:.1}")) { title { (name_of(levels)) } }
                }
            } }
        } }
        p.soft { "Levels of " (found.attributes.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>().join(", ")) "." }
    }
}

/// All nodes by the sum of their levels, the coarsest first.
fn by_height(tops: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let highest: usize = tops.iter().sum();
    let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
    for &top in tops {
        nodes =
            nodes.iter().flat_map(|node| (0..=top).map(move |level| [node.as_slice(), &[level]].concat())).collect();
    }
    let mut rows = vec![Vec::new(); highest + 1];
    for node in nodes {
        rows[highest - node.iter().sum::<usize>()].push(node);
    }
    rows
}

fn list(view: &PageView<'_>, found: &Exploration) -> Markup {
    html! {
        p.soft { "The lattice is too large to draw: these are the " (LISTED_MAX) " nodes that hold with the least loss." }
        div.scroll tabindex="0" role="group" aria-label="Nodes" { table.plain {
            thead { tr { th scope="col" { "levels" } th.n scope="col" { (found.loss) } th.n scope="col" { "suppressed" } th.n scope="col" { "highest risk" } } }
            tbody { @for node in found.holding.iter().take(LISTED_MAX) {
                @let levels = levels_of(node);
                @let path = link(view, &levels);
                tr {
                    td { a href=(path) hx-get=(path) hx-target="#app" hx-swap="outerHTML" hx-push-url="true" { (name_of(&levels)) } }
                    td.n { (hedgerow_report::pictures::short(loss_of(found, node))) } td.n { (count(node.suppressed)) } td.n { (format!("{:.3}", node.risk.highest)) }
                }
            } }
        } }
    }
}

/// The level of each attribute by its name.
pub(crate) fn named(found: &Exploration, levels: &[usize]) -> Vec<(String, u64)> {
    let names = found.attributes.iter().map(|attribute| attribute.name.clone());
    names.zip(levels.iter().map(|&level| level as u64)).collect()
}

fn details(view: &PageView<'_>, found: &Exploration, chosen: &[usize]) -> Markup {
    let node = found.holding.iter().find(|node| levels_of(node) == chosen);
    let named = named(found, chosen);
    let rows = view.data.as_ref().map_or(0, |data| data.table.rows as u64);
    html! {
        section.card #node aria-label="The chosen node" {
            h2 { "Levels " (name_of(chosen)) }
            p { (named.iter().map(|(name, level)| format!("{name} {level}")).collect::<Vec<_>>().join(", ")) }
            @match node {
                Some(node) => {
                    dl.facts {
                        div { dt { (found.loss) } dd { (hedgerow_report::pictures::short(loss_of(found, node))) } }
                        div { dt { "Suppressed" } dd { (percent(node.suppressed, rows)) } }
                        div { dt { "Classes" } dd { (count(node.classes.count)) } }
                        div { dt { "Highest risk" } dd { (format!("{:.3}", node.risk.highest)) } }
                        div { dt { "Mean risk" } dd { (format!("{:.3}", node.risk.mean)) } }
                    }
                    form.row hx-post="/explore/publish" hx-target="#app" hx-swap="outerHTML" {
                        input type="hidden" name="node" value=(name_of(chosen));
                        label { span { "Folder of the release" } input #destination type="text" name="destination" value=(super::publish::destination(view)) required; }
                        button #publish-node.primary { "Publish this one" }
                    }
                }
                None => p.bad-text { "A rule breaks here." },
            }
            div #why.part { (why(view)) }
        }
    }
}

/// Some rows at the levels of the chosen node. A column with very many values takes a while.
pub(crate) fn preview(view: &PageView<'_>) -> Markup {
    let (Some(policy), Some(data)) = (view.policy().cloned(), view.data.clone()) else { return html! {} };
    let Some((_, found)) = view.server.studio.found().explored.clone() else { return html! {} };
    let chosen = chosen(&found, view.query);
    let path = format!("/explore/preview?node={}", name_of(&chosen));
    view.part("Recoding some rows", &path, move |_| {
        let preview = hedgerow::preview(&policy, &data.table, &named(&found, &chosen), PREVIEWED_ROWS)?;
        Ok(previewed(&preview))
    })
}

fn previewed(preview: &hedgerow::Preview) -> Markup {
    html! {
        h3 { "Some rows at these levels" }
        div.scroll tabindex="0" role="group" aria-label="Preview" { table.plain.preview {
            thead { tr { @for name in &preview.columns { th scope="col" { (name) } } } }
            tbody { @for row in &preview.rows { tr { @for (before, after) in row { td { @if before == after { (after) } @else { del { (before) } " " strong { (after) } } } } } } }
        } }
    }
}

/// The rules that one level less would break, for the chosen node.
pub(crate) fn why(view: &PageView<'_>) -> Markup {
    let (Some(policy), Some(data)) = (view.policy().cloned(), view.data.clone()) else { return html! {} };
    let Some((_, found)) = view.server.studio.found().explored.clone() else { return html! {} };
    let chosen = chosen(&found, view.query);
    let path = format!("/explore/why?node={}", name_of(&chosen));
    view.part("Working out what would break", &path, move |monitor| {
        let levels: Vec<u8> = chosen.into_iter().filter_map(|level| u8::try_from(level).ok()).collect();
        Ok(breaks(&crate::engine::why(&policy, &data, &levels, monitor)?))
    })
}

fn breaks(why: &Why) -> Markup {
    html! {
        h3 { "One level less" }
        @if why.finer.is_empty() { p.soft { "Nothing is generalized." } }
        ul.why { @for finer in &why.finer {
            li { strong { (finer.attribute) " " (finer.level) } ": "
                @if finer.holds { "every rule holds, with " (count(finer.suppressed.unwrap_or(0))) " rows suppressed" }
                @else { @for (place, broken) in finer.breaks.iter().enumerate() {
                    @if place > 0 { "; " }
                    (broken.model) @if let Some(protect) = &broken.protect { " of " (protect) } " breaks for " (count(broken.rows)) " rows (" (numbers(&broken.achieved)) ")"
                } }
            }
        } }
        @if why.groups > 0 { p.soft { (count(why.groups)) " groups of rows are suppressed." } }
    }
}
