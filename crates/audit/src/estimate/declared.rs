//! The ranges that a manifest declares of its attributes: what is known of their values without the
//! data.

use hedgerow_release::Release;
use hedgerow_release::manifest::Field;
use hedgerow_table::Bound;

use super::axis::{Extent, real};

/// The manifest's declarations of the columns of the tables in a folder.
pub(crate) fn fields<'a>(release: &'a Release, folder: &'a str) -> impl Iterator<Item = &'a Field> {
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
fn range(field: &Field) -> Option<Extent> {
    let [low, high] = field.declared_range()?;
    let end = |bound: Option<Bound>, open: f64| bound.and_then(real).unwrap_or(open);
    Some(Extent { low: end(low, f64::NEG_INFINITY), high: end(high, f64::INFINITY) })
}
