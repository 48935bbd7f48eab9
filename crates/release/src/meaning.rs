//! The meaning of a release's labels, and where its codebook or its ranges say otherwise.
//!
//! A release is written in one notation, so that all labels but those of a hierarchy's file say
//! themselves what they cover: a reader computes it and compares. A file's labels may be any text;
//! of these a reader can tell only that no label denies what it covers, and that labels of one
//! level cover nothing twice.

mod level;
mod ranges;
mod sets;
mod written;

use hedgerow_table::{Bound, Cover, Kind};

use crate::codebook::Codebook;
use crate::kinds::ReleaseTables;
use crate::kinds::bucketized::{COUNT, GROUP};
use crate::manifest::{FieldDescriptor, Manifest, Resource};
use crate::notation::{NOT_MISSING, misstates};
use crate::shape::CODEBOOK;

/// The hierarchies that a field can state that its labels come from.
pub(crate) const HIERARCHIES: [&str; 5] = ["file", "widths", "breaks", "mask", "dates"];

const FILE: &str = "file";
const MASK: &str = "mask";

/// How the values of the quasi-identifiers became labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recoding {
    /// Each label is a value.
    None,
    /// All values of an attribute are on one level of its hierarchy.
    FullDomain,
    /// Each class has cells of its own.
    Local,
}

/// The statements of a manifest about an attribute.
#[derive(Debug, Clone, Copy)]
struct AttributeMeaning<'a> {
    /// Of the values, not of the labels.
    kind: Kind,
    /// Whether some table has the values as numbers or dates, and not as texts.
    has_numbers: bool,
    hierarchy: Option<&'a str>,
    range: Option<[Option<Bound>; 2]>,
    recoding: Recoding,
}

/// Where the labels, the codebook and the declared ranges of a release contradict one another.
pub(crate) fn contradictions(manifest: &Manifest, tables: &ReleaseTables, codebook: &Codebook) -> Vec<String> {
    let recoding = match tables {
        ReleaseTables::Generalized(_) if manifest.hedgerow.method == "full-domain" => Recoding::FullDomain,
        ReleaseTables::Generalized(_) | ReleaseTables::Decomposed(_) => Recoding::Local,
        ReleaseTables::Bucketized(_) | ReleaseTables::Cloned(_) => Recoding::None,
    };
    let mut found = Vec::new();
    for name in codebook.attributes() {
        let attribute = match tables {
            // Its columns are not those of the source.
            ReleaseTables::Cloned(_) => AttributeMeaning { recoding, ..AttributeMeaning::TEXTS },
            _ => AttributeMeaning::of(name, manifest, recoding),
        };
        // Values that were made coarser are explained by the manifest, not by the codebook. Of a
        // number the declaration says what it stands for.
        let labels = codebook.labels(name);
        let is_coarse = |label: &str| codebook.is_coarse_value(name, label);
        let misstated = |&&(label, cover): &&(&str, &Cover)| {
            let is_coarse_number = is_coarse(label) && attribute.has_numbers;
            attribute.kind != Kind::Category && !is_coarse_number && misstates(label, cover, attribute.kind)
        };
        let less = labels.iter().filter(misstated).count();
        if less > 0 {
            found.push(format!("{less} labels of `{name}` say less than codebook.csv says that they cover"));
        }
        let means = |(label, cover): &(&str, &Cover)| is_coarse(label) || attribute.means(label, cover);
        let others = labels.iter().filter(|one| !misstated(one) && !means(one)).count();
        if others > 0 {
            found.push(format!(
                "{others} labels of `{name}` mean something else than codebook.csv says that they cover"
            ));
        }
        if recoding == Recoding::FullDomain && !codebook.is_coarse(name) && !attribute.is_one_level(&labels) {
            found.push(format!(
                "the manifest states the method `full-domain`, and the labels of `{name}` are not of one level"
            ));
        }
    }
    let cuts_itself = recoding == Recoding::Local;
    found.extend(ranges::contradictions(manifest, tables, codebook, cuts_itself));
    found
}

/// The columns of all tables, but for those that join and count rows: an attribute may have the
/// same name as one of these.
fn fields(manifest: &Manifest) -> impl Iterator<Item = &FieldDescriptor> {
    let tables = manifest.resources.iter().filter(|table| table.name != CODEBOOK);
    let is_attribute = |table: &Resource, field: &FieldDescriptor| {
        let counts = [GROUP, COUNT].contains(&field.name.as_str());
        !(counts && (table.name == "sensitive" || table.name.ends_with("-sensitive")))
    };
    tables.flat_map(move |table| table.schema.fields.iter().filter(move |field| is_attribute(table, field)))
}

impl<'a> AttributeMeaning<'a> {
    const TEXTS: AttributeMeaning<'static> = AttributeMeaning {
        kind: Kind::Category,
        has_numbers: false,
        hierarchy: None,
        range: None,
        recoding: Recoding::None,
    };

    /// A decomposed release can have an attribute as it is in one table and as labels in another.
    fn of(name: &'a str, manifest: &'a Manifest, recoding: Recoding) -> AttributeMeaning<'a> {
        let own = || fields(manifest).filter(move |field| field.name == name);
        let kinds = || own().filter_map(|field| field.values_kind().or(field.table_kind()));
        AttributeMeaning {
            has_numbers: own().any(|field| field.values.is_none() && field.table_kind() != Some(Kind::Category)),
            kind: kinds().find(|kind| *kind != Kind::Category).unwrap_or(Kind::Category),
            hierarchy: own().find_map(|field| field.hierarchy.as_deref()),
            range: own().find_map(FieldDescriptor::declared_range),
            recoding,
        }
    }

    /// Whether a label can cover what the codebook says that it does.
    fn means(&self, label: &str, cover: &Cover) -> bool {
        let is_local = self.recoding == Recoding::Local;
        self.is_named(label, cover) || is_local && written::unmarked(label).any(|text| self.is_named(text, cover))
    }

    fn is_named(&self, text: &str, cover: &Cover) -> bool {
        let is_file = self.hierarchy == Some(FILE);
        match cover {
            _ if text.is_empty() || *cover == Cover::Missing => text.is_empty() && *cover == Cover::Missing,
            _ if self.recoding == Recoding::None => self.is_value(text, cover),
            Cover::Everything => text == "*" || is_file || self.recoding == Recoding::Local && text == NOT_MISSING,
            Cover::Leaves(leaves) => {
                let is_masked = self.hierarchy == Some(MASK) && text.ends_with('*') && leaves.as_slice() == [text];
                let is_set =
                    || self.kind == Kind::Category && self.recoding == Recoding::Local && sets::names(text, leaves);
                // A class with one value is described by it, whatever the hierarchy.
                let is_any = is_file && !(self.recoding == Recoding::Local && leaves.len() == 1);
                is_any || is_masked || self.is_value(text, cover) || is_set()
            }
            // Local recoding cuts numbers and dates by itself, whatever their hierarchy.
            _ if is_file && self.recoding == Recoding::FullDomain => self.kind != Kind::Category,
            _ => written::cover(text, self.kind).is_some_and(|meant| self.closed(meant) == *cover),
        }
    }

    /// Whether a label is the one value that it covers.
    fn is_value(&self, text: &str, cover: &Cover) -> bool {
        match cover {
            Cover::Point(point) => written::value(text, self.kind).is_some_and(|value| value == *point),
            Cover::Leaves(leaves) => self.kind == Kind::Category && leaves.as_slice() == [text],
            _ => false,
        }
    }

    /// An open end stops where the declared range does, unless both ends are open.
    fn closed(&self, cover: Cover) -> Cover {
        match (cover, self.range) {
            (Cover::Interval { low, high }, Some([least, most])) if low.is_some() || high.is_some() => {
                Cover::Interval {
                    low: low.or_else(|| least?.first_from(self.kind)),
                    high: high.or_else(|| most?.first_after(self.kind)),
                }
            }
            (cover, _) => cover,
        }
    }
}

#[cfg(test)]
mod tests;
