//! Mitigation, local recoding: which classes no method could divide, and because of which
//! guarantee.

use maud::{Markup, html};

use super::cursor::{At, Show, at};
use super::data::breakable;
use super::{cells, facts_table, internal};
use crate::facts::{CountedFacts, ReleaseFacts, UndividedFacts};

pub(super) fn section(release: &At<'_, ReleaseFacts>) -> Option<Markup> {
    let undivided = at!(release, undivided).get()?;
    Some(html! {
        h3 { "Why classes are as large as they are" (internal()) }
        p { "Two parts of a class must both keep every guarantee. A class that is too small for that, or has too few different values, cannot be divided, whatever its rows are." }
        (counted(&undivided))
        (guarantees(&undivided))
        (attributes(&undivided))
        (largest(&undivided))
    })
}

fn counted(undivided: &At<'_, UndividedFacts>) -> Markup {
    let row = |at: At<'_, CountedFacts>, text: &str| {
        vec![html! { (text) }, at!(at, classes).show(Show::Plain), at!(at, rows).show(Show::Plain)]
    };
    let rows = vec![
        row(at!(undivided, settled), "A guarantee rules out any division"),
        row(at!(undivided, single_valued), "Every cell is a single value: nothing was generalized"),
        row(
            at!(undivided, open),
            "Could be divided as far as numbers go: no cut that the method tried left sides that hold",
        ),
    ];
    let header = [("Classes", false), ("Number", true), ("Rows", true)];
    facts_table("Classes by why they were not divided", &header, rows)
}

fn guarantees(undivided: &At<'_, UndividedFacts>) -> Markup {
    let rows = at!(undivided, settled_by).items().into_iter().map(|settled| {
        vec![
            html! {
                (settled.model)
                @if let Some(protect) = &settled.protect { " of " (protect) }
                @for (name, value) in &at!(settled, required).entries() { ", " (name) " = " (value.show(Show::Plain)) }
            },
            at!(settled, classes).show(Show::Plain),
            at!(settled, rows).show(Show::Plain),
        ]
    });
    let rows: Vec<Vec<Markup>> = rows.collect();
    let header = [("Guarantee", false), ("Classes it keeps whole", true), ("Rows", true)];
    html! { @if !rows.is_empty() { (facts_table("Guarantees that keep classes whole", &header, rows)) } }
}

fn attributes(undivided: &At<'_, UndividedFacts>) -> Markup {
    let rows = at!(undivided, attributes).items().into_iter().map(|attribute| {
        vec![
            breakable(&attribute.attribute),
            at!(attribute, classes).show(Show::Plain),
            at!(attribute, rows).show(Show::Plain),
            at!(attribute, settled).show(Show::Plain),
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

fn largest(undivided: &At<'_, UndividedFacts>) -> Markup {
    let classes = at!(undivided, largest).items();
    let rows = classes
        .iter()
        .map(|class| vec![cells(&class.cells), at!(class, rows).show(Show::Plain), html! { (class.wide.join(", ")) }]);
    let header = [("Class", false), ("Rows", true), ("Could be cut along", false)];
    html! {
        @if !classes.is_empty() {
            (facts_table("The largest classes that numbers alone would let be divided", &header, rows.collect()))
        }
    }
}
