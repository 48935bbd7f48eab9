//! The declarations of a manifest about its attributes: the knowledge of their values without the
//! data.

use hedgerow_release::Release;
use hedgerow_release::manifest::FieldDescriptor;
use hedgerow_table::{Bound, Kind};

use super::axis::{Extent, real};

/// The declaration of one attribute.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Declared {
    /// The kind of the values that its labels stand for. Released values do not show it:
    /// those of a column of floats may all be whole.
    pub(crate) kind: Option<Kind>,
    pub(crate) range: Option<Extent>,
    pub(crate) masks: Masks,
}

/// Whether a star in a label hides a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Masks {
    Always,
    Never,
    /// The label may be a value that has a star.
    Perhaps,
    /// In a table without a manifest: where a label is its own leaf.
    #[default]
    Unstated,
}

/// The declarations of the attributes of the tables in a folder.
pub(crate) fn declared(release: &Release, folder: &str) -> Vec<(String, Declared)> {
    let coarsened = release.manifest().map(|manifest| &manifest.hedgerow.coarsened);
    let declared = |field: &FieldDescriptor| {
        let labels = coarsened.and_then(|coarsened| coarsened.get(&field.name)?.get("labels")?.as_object());
        // A mask leaves no label without a star.
        let masks = match (labels, field.hierarchy.as_deref()) {
            (Some(labels), _) if !labels.is_empty() && labels.keys().all(|label| label.ends_with('*')) => Masks::Always,
            (_, Some("mask")) => Masks::Always,
            (Some(_), _) | (_, Some(_)) => Masks::Never,
            (None, None) => Masks::Perhaps,
        };
        // What the labels stand for is stated where it differs from what they are.
        let kind = field.values_kind().or(field.table_kind());
        (field.name.clone(), Declared { kind, range: range(field), masks })
    };
    fields(release, folder).map(declared).collect()
}

/// The manifest's declarations of the columns of the tables in a folder.
pub(crate) fn fields<'a>(release: &'a Release, folder: &'a str) -> impl Iterator<Item = &'a FieldDescriptor> {
    let resources = release.manifest().map_or(&[][..], |manifest| &manifest.resources);
    let here = resources.iter().filter(move |table| {
        folder.is_empty() || table.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    });
    here.flat_map(|table| &table.schema.fields)
}

/// The ranges of the tables in a folder, by attribute.
pub(crate) fn ranges(release: &Release, folder: &str) -> Vec<(String, Extent)> {
    fields(release, folder).filter_map(|field| Some((field.name.clone(), range(field)?))).collect()
}

/// An end that is open is infinite.
fn range(field: &FieldDescriptor) -> Option<Extent> {
    let [low, high] = field.declared_range()?;
    let end = |bound: Option<Bound>, open: f64| bound.and_then(real).unwrap_or(open);
    Some(Extent { low: end(low, f64::NEG_INFINITY), high: end(high, f64::INFINITY) })
}
