//! Hierarchies: how far each quasi-identifier may be generalized. Cut points are dragged over the
//! histogram, categories between groups; each level shows what it does.

use hedgerow::{HierarchyView, HistogramBar, Policy, ProfiledColumn, Role};
use maud::{Markup, html};

use super::{PageView, count, cuts, percent, sketch, waiting};
use crate::form::Form;
use crate::groups::Groups;
use crate::hierarchy_text::HierarchyText;

/// Members and groups that are shown of a level.
const SHOWN_MAX: usize = 300;
/// Labels of a level that are drawn.
const LABELS_MAX: usize = 60;

const UNITS: &[(&str, &str)] =
    &[("day", "day"), ("month", "month"), ("quarter", "quarter"), ("year", "year"), ("decade", "decade")];

/// The quasi-identifier that a page or a form is about; the first one when none is named.
pub(crate) fn chosen<'p>(policy: &'p Policy, form: &Form) -> Option<&'p str> {
    let named = policy.quasi().find(|attribute| attribute.name == form.get("attribute"));
    named.or_else(|| policy.quasi().next()).map(|attribute| attribute.name.as_str())
}

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    let (Some(policy), Some(data)) = (view.policy(), &view.data) else { return waiting(view) };
    let Some(attribute) = chosen(policy, view.query) else {
        return html! { p { "There is no quasi-identifier: choose some under Data." } };
    };
    let column = data.columns.iter().find(|column| column.profile.name == attribute);
    let hierarchy = HierarchyText::of(&view.current.text, attribute);
    html! {
        div.tabs role="group" aria-label="Quasi-identifiers" {
            @for quasi in policy.attributes.iter().filter(|attribute| attribute.role == Role::Quasi) {
                @let path = format!("/hierarchies?attribute={}", encoded(&quasi.name));
                a href=(path) hx-get=(path) hx-target="#app" hx-swap="outerHTML" hx-push-url="true" aria-current=[(quasi.name == attribute).then_some("true")] { (quasi.name) }
            }
        }
        @if let Some(column) = column {
            (kinds(attribute, column, &hierarchy))
            @match &hierarchy {
                HierarchyText::None => p.soft { "Two levels: the value, and " code { "*" } "." },
                HierarchyText::Widths(widths) => (widths_form(attribute, widths)),
                HierarchyText::Cuts(points) => (cuts::editor(attribute, column, points)),
                HierarchyText::Mask(characters) => (mask_form(attribute, *characters, column)),
                HierarchyText::Dates(units) => (dates_form(attribute, units)),
                HierarchyText::File(path) => (groups(view, attribute, path)),
            }
        }
        h2 { "Level by level" }
        div #levels.part { (levels(view)) }
        div.row {
            button data-download={ "hierarchy:" (attribute) } { "Download as an ARX file" }
            label.button for="import" { "Import an ARX file" }
            input #import.hidden-input type="file" accept=".csv" data-upload="hierarchy" data-prefix="hierarchies/" data-limit=(crate::upload::UPLOAD_BYTES_MAX) data-attribute=(attribute);
        }
    }
}

pub(crate) fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// The kinds of hierarchy that a column can have.
pub(crate) fn kinds_of(column: &ProfiledColumn) -> Vec<(&'static str, &'static str)> {
    let mut kinds = vec![("none", "value or *")];
    match column.profile.kind.name() {
        "integer" | "float" => kinds.extend([("widths", "equal intervals"), ("breaks", "cut points")]),
        "date" => kinds.extend([("dates", "calendar units"), ("breaks", "cut points")]),
        _ => kinds.extend([("file", "groups"), ("mask", "masked characters")]),
    }
    kinds
}

fn kinds(attribute: &str, column: &ProfiledColumn, hierarchy: &HierarchyText) -> Markup {
    let mut kinds = kinds_of(column);
    if hierarchy.kind() == "file" && !kinds.iter().any(|(kind, _)| *kind == "file") {
        kinds.push(("file", "groups"));
    }
    html! {
        fieldset.roles {
            legend { "Coarser by" span.hidden { ": kind of hierarchy of " (attribute) } }
            @for (kind, title) in kinds {
                button #{ "kind-" (kind) } type="button" aria-pressed=(if kind == hierarchy.kind() { "true" } else { "false" })
                    hx-post="/hierarchies/kind" hx-target="#app" hx-swap="outerHTML"
                    hx-vals=(serde_json::json!({ "attribute": attribute, "kind": kind }).to_string()) { (title) }
            }
        }
    }
}

fn widths_form(attribute: &str, widths: &[String]) -> Markup {
    html! {
        form.row hx-post="/hierarchies/widths" hx-target="#app" hx-swap="outerHTML" {
            input type="hidden" name="attribute" value=(attribute);
            label { span { "Widths, level by level; each a multiple of the one before" } input #widths type="text" name="widths" size="30" value=(widths.join(", ")); }
            button { "Set" }
            button type="button" hx-post="/hierarchies/kind" hx-vals=(serde_json::json!({ "attribute": attribute, "kind": "breaks" }).to_string()) { "Turn into cut points" }
        }
    }
}

fn mask_form(attribute: &str, characters: usize, column: &ProfiledColumn) -> Markup {
    let most = column.profile.length_max.clamp(1, 64).max(characters);
    html! {
        form.row hx-post="/hierarchies/mask" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
            input type="hidden" name="attribute" value=(attribute);
            label { span { "Characters that are hidden from the right, one per level" }
                span.parameter {
                    input #mask-number type="number" name="mask" min="1" max=(most) value=(characters) data-twin="mask-slider";
                    input #mask-slider type="range" min="1" max=(most) value=(characters) data-twin="mask-number" aria-label="Hidden characters, slider";
                }
            }
        }
    }
}

fn dates_form(attribute: &str, units: &[String]) -> Markup {
    html! {
        form hx-post="/hierarchies/dates" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
            input type="hidden" name="attribute" value=(attribute);
            fieldset.checks {
                legend { "Calendar units, one per level" }
                @for (unit, title) in UNITS { label { input #{ "unit-" (unit) } type="checkbox" name="unit" value=(unit) checked[units.iter().any(|known| known == unit)]; (title) } }
            }
        }
    }
}

fn groups(view: &PageView<'_>, attribute: &str, path: &str) -> Markup {
    let file = view.current.document.folder().join(path);
    let read = crate::document::read(&file).and_then(|text| Groups::parse(&text));
    let groups = match read {
        Ok(groups) => groups,
        Err(problem) => return html! { div.notice.bad { p { code { (path) } ": " (problem) } } },
    };
    let level = view.query.number("level").unwrap_or(1).clamp(1, groups.levels().max(1));
    let rows = groups.at(level);
    let values = |more: serde_json::Value| {
        let mut all = serde_json::json!({ "attribute": attribute, "level": level });
        if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        all.to_string()
    };
    html! {
        div.row.middle {
            div.tabs role="group" aria-label="Levels" {
                @for known in 1..=groups.levels() {
                    @let path = format!("/hierarchies?attribute={}&level={known}", encoded(attribute));
                    a href=(path) hx-get=(path) hx-target="#app" hx-swap="outerHTML" hx-push-url="true" aria-current=[(known == level).then_some("true")] { "level " (known) }
                }
            }
            button.small hx-post="/hierarchies/add-level" hx-vals=(values(serde_json::json!({}))) hx-target="#app" hx-swap="outerHTML" { "Add a level above" }
            @if groups.levels() > 1 { button.small hx-post="/hierarchies/remove-level" hx-vals=(values(serde_json::json!({}))) hx-target="#app" hx-swap="outerHTML" { "Remove this level" } }
        }
        p.soft { "Drag a value into another group. With the keyboard: choose a value with Enter, then “Move here” in its new group." }
        div.groups #groups data-attribute=(attribute) data-level=(level) {
            @for (place, group) in rows.iter().take(SHOWN_MAX).enumerate() {
                section.group data-group=(group.label) aria-label={ "Group " (group.label) } {
                    form hx-post="/hierarchies/rename" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" hx-vals=(values(serde_json::json!({ "from": group.label }))) {
                        input #{ "group-" (place) } type="text" name="to" value=(group.label) aria-label={ "Name of group " (group.label) };
                    }
                    div.chips { @for (at, member) in group.members.iter().take(SHOWN_MAX).enumerate() {
                        button.chip #{ "chip-" (place) "-" (at) } type="button" draggable="true" aria-pressed="false" data-member=(member) { (if member.is_empty() { "(missing)" } else { member }) }
                    } @if group.members.len() > SHOWN_MAX { span.soft { "and " (group.members.len() - SHOWN_MAX) " more" } } }
                    button.small.here type="button" data-here=(group.label) { "Move here" }
                }
            }
            section.group.new data-group=(new_name(&rows.iter().map(|group| group.label.as_str()).collect::<Vec<_>>())) aria-label="A new group" {
                p.soft { "A new group" }
                button.small.here type="button" data-here=(new_name(&rows.iter().map(|group| group.label.as_str()).collect::<Vec<_>>())) { "Move to a new group" }
            }
        }
    }
}

fn new_name(taken: &[&str]) -> String {
    (1..).map(|number| format!("Group {number}")).find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
}

/// The histogram and the unique rows of each level. Counting may take a while.
pub(crate) fn levels(view: &PageView<'_>) -> Markup {
    let (Some(policy), Some(data)) = (view.policy().cloned(), view.data.clone()) else { return html! {} };
    let Some(attribute) = chosen(&policy, view.query).map(str::to_owned) else { return html! {} };
    let path = format!("/hierarchies/levels?attribute={}", encoded(&attribute));
    view.part("Counting rows that are singled out", &path, move |monitor| {
        let hierarchy = match hedgerow::hierarchy(&policy, &data.table, &attribute) {
            Ok(hierarchy) => hierarchy,
            Err(error) => return Ok(html! { div.notice.bad role="alert" { pre { (error) } } }),
        };
        let unique = hedgerow::unique_by_level(&policy, &data.table, &attribute, monitor)?;
        Ok(levels_table(&attribute, &hierarchy, &unique, data.table.rows as u64))
    })
}

fn levels_table(attribute: &str, hierarchy: &HierarchyView, unique: &[u64], rows: u64) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Levels" { table.plain.levels {
            caption { "Rows singled out: by all quasi-identifiers together, with " (attribute) " at this level and the others as they are." }
            thead { tr { th scope="col" { "level" } th.n scope="col" { "labels" } th scope="col" { "rows by label" } th scope="col" { "the most frequent labels" } th.n scope="col" { "rows singled out" } th scope="col" { "share" } } }
            tbody { @for (place, level) in hierarchy.levels.iter().enumerate() {
                @let bars = bars(&level.labels);
                @let most = most_frequent(&level.labels);
                @let alone = unique.get(place).copied().unwrap_or_default();
                tr {
                    td { (place) }
                    td.n { (count(level.labels.len() as u64)) }
                    td { (sketch::labeled(&bars, &format!("level {place}"))) }
                    td { (most.join(", ")) @if level.labels.len() > most.len() { ", …" } }
                    td.n { (count(alone)) }
                    td.share { meter min="0" max="1" low="0.05" high="0.33" optimum="0" value=(alone as f64 / rows.max(1) as f64) title=(percent(alone, rows)) {} " " (percent(alone, rows)) }
                }
            } }
        } }
    }
}

fn bars(labels: &[(String, u64)]) -> Vec<(&str, u64)> {
    let mut bars: Vec<(&str, u64)> = labels.iter().map(|(label, rows)| (label.as_str(), *rows)).collect();
    if bars.len() > LABELS_MAX {
        bars.sort_by_key(|bar| std::cmp::Reverse(bar.1));
        bars.truncate(LABELS_MAX);
    }
    bars
}

fn most_frequent(labels: &[(String, u64)]) -> Vec<&str> {
    let mut sorted: Vec<&(String, u64)> = labels.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sorted.into_iter().take(4).map(|(label, _)| if label.is_empty() { "(missing)" } else { label.as_str() }).collect()
}

/// Where the numbers of a column begin and end.
pub(crate) fn span(bars: &[HistogramBar]) -> Option<(f64, f64)> {
    let ranges = || bars.iter().filter_map(|bar| bar.range);
    let low = ranges().map(|(low, _)| low).reduce(f64::min)?;
    let high = ranges().map(|(_, high)| high).reduce(f64::max)?;
    Some((low, high))
}
