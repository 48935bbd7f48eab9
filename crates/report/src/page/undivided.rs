//! Mitigation, local recoding: which classes no method could divide, and because of which
//! guarantee.

use maud::{Markup, html};

use super::cursor::{At, Show};
use super::data::breakable;
use super::{facts_table, internal, named};

pub(super) fn section(release: &At<'_>) -> Option<Markup> {
    let undivided = release.get("undivided")?;
    Some(html! {
        h3 { "Why classes are as large as they are" (internal()) }
        p { "Two parts of a class must both keep every guarantee. A class that is too small for that, or has too few different values, cannot be divided, whatever its rows are." }
        (counted(&undivided))
        (guarantees(&undivided))
        (attributes(&undivided))
        (largest(&undivided))
    })
}

fn counted(undivided: &At<'_>) -> Markup {
    let groups = [
        ("settled", "A guarantee rules out any division"),
        ("single_valued", "Every cell is a single value: nothing was generalized"),
        ("open", "Could be divided as far as numbers go: no cut that the method tried left sides that hold"),
    ];
    let rows = groups.iter().filter_map(|(key, text)| {
        let at = undivided.get(key)?;
        Some(vec![html! { (text) }, at.show_of("classes", Show::Plain), at.show_of("rows", Show::Plain)])
    });
    let header = [("Classes", false), ("Number", true), ("Rows", true)];
    facts_table("Classes by why they were not divided", &header, rows.collect())
}

fn guarantees(undivided: &At<'_>) -> Markup {
    let rows = undivided.items("settled_by").into_iter().map(|settled| {
        let required = settled.get("required").map(|at| at.entries()).unwrap_or_default();
        vec![
            html! {
                (settled.text_of("model"))
                @if let Some(protect) = settled.get("protect") { " of " (protect.text()) }
                @for (name, value) in &required { ", " (name) " = " (value.show(Show::Plain)) }
            },
            settled.show_of("classes", Show::Plain),
            settled.show_of("rows", Show::Plain),
        ]
    });
    let rows: Vec<Vec<Markup>> = rows.collect();
    let header = [("Guarantee", false), ("Classes it keeps whole", true), ("Rows", true)];
    html! { @if !rows.is_empty() { (facts_table("Guarantees that keep classes whole", &header, rows)) } }
}

fn attributes(undivided: &At<'_>) -> Markup {
    let rows = undivided.items("attributes").into_iter().map(|attribute| {
        vec![
            breakable(attribute.text_of("attribute")),
            attribute.show_of("classes", Show::Plain),
            attribute.show_of("rows", Show::Plain),
            attribute.show_of("settled", Show::Plain),
        ]
    });
    let header = [
        ("Attribute", false),
        ("Classes that generalize it", true),
        ("Rows", true),
        ("Of these, not to be divided", true),
    ];
    facts_table("Generalized attributes", &header, rows.collect())
}

fn largest(undivided: &At<'_>) -> Markup {
    let classes = undivided.items("largest");
    let rows = classes.iter().map(|class| {
        let cells = class.get("cells").map(|cells| cells.entries()).unwrap_or_default();
        vec![
            html! { @for (place, (name, label)) in cells.iter().enumerate() {
                @if place > 0 { ", " } (name) " " (named(label.text()))
            } },
            class.show_of("rows", Show::Plain),
            html! { (class.texts_of("wide").join(", ")) },
        ]
    });
    let header = [("Class", false), ("Rows", true), ("Could be cut along", false)];
    html! {
        @if !classes.is_empty() {
            (facts_table("The largest classes that numbers alone would let be divided", &header, rows.collect()))
        }
    }
}
