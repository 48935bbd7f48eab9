//! A generalized table: quasi-identifiers as the labels that a method chose, everything else as it
//! is.

use std::borrow::Cow;

use hedgerow_privacy::{Distance, Model};
use hedgerow_release::Release;
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Codes, Kind, Label, TableError};
use hedgerow_verify::check::NamedRule;
use hedgerow_verify::release_check::tree_from_paths;
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};
use serde_json::{Map, Value};

use crate::bind::{Bound, Quasi};
use crate::declared_range::public_cover;
use crate::draft::{DraftTable, is_released};
use crate::error::PublishError;
use crate::options::PublishOptions;
use crate::rows::ReleasedColumn;

/// The recoding of one quasi attribute by a method.
#[derive(Debug)]
pub struct Recoded<'a> {
    /// One code per row of the source: the column's own, or new ones.
    pub codes: Cow<'a, Codes>,
    /// From codes to positions in `labels`.
    pub map: Cow<'a, [u32]>,
    /// As the codebook lists them. Labels that no released row carries are not listed.
    pub labels: Vec<Label>,
    /// The column's own kind when every label is one of its values; else a category.
    pub kind: Kind,
}

/// A label as readers of the release may understand it.
pub fn public(quasi: &Quasi<'_>, label: &Label) -> Label {
    Label { cover: public_cover(quasi.attribute, quasi.column.domain.kind(), label), ..label.clone() }
}

/// The recoding of an attribute whose values are all on one level of its hierarchy.
pub fn on_level<'a>(quasi: &'a Quasi<'_>, level: u8) -> Recoded<'a> {
    let kind = if level == 0 { quasi.column.domain.kind() } else { Kind::Category };
    let level = &quasi.hierarchy.levels()[level as usize];
    let labels = level.labels.iter().map(|label| public(quasi, label)).collect();
    let (codes, map) = (Cow::Borrowed(&quasi.column.codes), Cow::Borrowed(level.map.as_slice()));
    Recoded { codes, map, labels, kind }
}

/// The system's randomness, or a repeatable one for tests.
pub fn rng(options: &PublishOptions<'_>) -> Result<StdRng, PublishError> {
    match options.seed {
        Some(seed) => Ok(StdRng::seed_from_u64(seed)),
        None => StdRng::try_from_rng(&mut SysRng)
            .map_err(|error| PublishError::Internal(format!("the system gives no random numbers: {error}"))),
    }
}

/// The table `data`, and its labels in a codebook: one recoding for each quasi attribute, in the
/// order of [`Bound::quasi`].
pub fn table<'a>(
    bound: &'a Bound<'_>,
    recoded: Vec<Recoded<'a>>,
    kept: Option<Vec<bool>>,
) -> Result<(DraftTable<'a>, Codebook), TableError> {
    let codebook = codebook(bound, &recoded, kept.as_deref())?;
    let columns = released_columns(bound, recoded);
    Ok((DraftTable::of_columns("data", columns, kept, bound), codebook))
}

/// In the source's order: quasi attributes as their labels, the others as they are.
pub fn released_columns<'a>(bound: &'a Bound<'_>, recoded: Vec<Recoded<'a>>) -> Vec<ReleasedColumn<'a>> {
    let mut recoded: Vec<Option<Recoded<'a>>> = recoded.into_iter().map(Some).collect();
    let table = bound.table;
    let ordered = table.header.iter().filter_map(|name| table.column(name));
    let released = ordered.filter(|column| is_released(bound, &column.name));
    released
        .map(|column| {
            let quasi = bound.quasi.iter().position(|quasi| quasi.column.name == column.name);
            let Some(Recoded { codes, map, labels, kind }) = quasi.and_then(|index| recoded[index].take()) else {
                return ReleasedColumn::as_it_is(column);
            };
            let texts = map.iter().map(|&label| labels[label as usize].text.clone()).collect();
            ReleasedColumn { name: &column.name, codes, domain: Cow::Borrowed(&column.domain), kind, texts }
        })
        .collect()
}

pub fn codebook(bound: &Bound<'_>, recoded: &[Recoded<'_>], kept: Option<&[bool]>) -> Result<Codebook, TableError> {
    let mut codebook = Codebook::new();
    for (quasi, recoded) in bound.quasi.iter().zip(recoded) {
        add_labels(&mut codebook, quasi, recoded, kept)?;
    }
    Ok(codebook)
}

/// Only labels that are released: a label that only suppressed rows carry would disclose them.
pub fn add_labels(
    codebook: &mut Codebook,
    quasi: &Quasi<'_>,
    recoded: &Recoded<'_>,
    kept_rows: Option<&[bool]>,
) -> Result<(), TableError> {
    let mut released = vec![false; recoded.labels.len()];
    for (row, code) in recoded.codes.iter().enumerate() {
        released[recoded.map[code as usize] as usize] |= kept_rows.is_none_or(|kept| kept[row]);
    }
    for (label, _) in recoded.labels.iter().zip(&released).filter(|(_, released)| **released) {
        codebook.add(&quasi.attribute.name, label)?;
    }
    Ok(())
}

pub fn named_rules(bound: &Bound<'_>, released: &Release) -> Vec<NamedRule> {
    let paths = hierarchies(bound, released);
    let tree = |(name, paths): (&String, &Value)| Some((name.clone(), tree_from_paths(released.domain(name)?, paths)?));
    bound.named_rules(&paths.iter().filter_map(tree).collect())
}

/// The hierarchies that a reader needs to recompute a guarantee.
pub fn hierarchies(bound: &Bound<'_>, released: &Release) -> Map<String, Value> {
    let by_hierarchy =
        |model: &Model| matches!(model.unconditional(), Model::TCloseness { distance: Distance::Hierarchical, .. });
    let rules = bound.policy.rules.iter().filter(|rule| rule.require.iter().any(by_hierarchy));
    let names = rules.filter_map(|rule| rule.protect.as_ref());
    names.filter_map(|name| Some((name.clone(), bound.paths(name, released.domain(name)?)?))).collect()
}
