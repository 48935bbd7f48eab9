//! One attribute seen from both sides: the values in the source, the labels in the release, and, in
//! a full-domain release, the level of the hierarchy that leads from one to the other.
//!
//! The level is found, not believed: it is the finest one on which every released label stands for
//! the very values that the codebook says it covers. A release that was not made from this source
//! under this policy has no such level. Under local recoding one value can be released under
//! several labels, and the attribute has no single level.

use hashbrown::HashMap;
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Column, Cover, Hierarchy, Level, Table, TableError};

use crate::cell::{CellShape, SourceCell};
use crate::estimate::axis::{EstimateAxis, Extent, shown};
use crate::estimate::declared::{Declared, Masks};
use crate::rows::OTHER_SOURCE;

/// How the quasi-identifiers of a release were recoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recoding {
    /// Global recoding: all values of an attribute are on one level of its hierarchy.
    FullDomain,
    /// Local recoding: each equivalence class has cells of its own.
    Local,
}

/// A quasi-identifier of the source with its hierarchy.
#[derive(Debug, Clone, Copy)]
pub struct QuasiSource<'a> {
    pub name: &'a str,
    /// Bound to the domain of the source's column.
    pub hierarchy: &'a Hierarchy,
}

#[derive(Debug)]
pub(crate) struct AuditedAttribute<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a Column,
    pub(crate) released: &'a Column,
    pub(crate) hierarchy: &'a Hierarchy,
    /// By released code.
    pub(crate) cells: Vec<SourceCell>,
    /// The values under the labels, as `hedgerow query` sees them; where that leaves shares
    /// unknown, as a reader who knows the source's values sees them.
    pub(crate) axis: EstimateAxis,
    /// Whether each released label is the top, which covers everything.
    pub(crate) is_top: Vec<bool>,
    /// Released rows with each label.
    pub(crate) counts: Vec<u64>,
    /// `None` under local recoding.
    pub(crate) full_domain: Option<FullDomain>,
}

/// The recoding of an attribute whose values were all taken to one level.
#[derive(Debug)]
pub(crate) struct FullDomain {
    pub(crate) level: usize,
    /// How many leaves of the hierarchy lie under each released label.
    pub(crate) leaves: Vec<u64>,
    /// From the code in the source to the released code; one past the last when the label was not
    /// released.
    pub(crate) recoded: Vec<u32>,
}

impl<'a> AuditedAttribute<'a> {
    pub(crate) fn bind(
        quasi: &QuasiSource<'a>,
        source: &'a Table,
        released: &'a Table,
        codebook: &Codebook,
        ranges: &[(String, Extent)],
        recoding: Recoding,
    ) -> Result<AuditedAttribute<'a>, TableError> {
        let name = quasi.name;
        let declared = ranges.iter().find(|(declared, _)| declared == name).map(|(_, range)| *range);
        let (source, released) = both_columns(name, source, released)?;
        let texts: Vec<String> = (0..released.domain.cardinality() as u32).map(|c| released.domain.text(c)).collect();
        let mut cells = Vec::with_capacity(texts.len());
        let mut listed = Vec::with_capacity(texts.len());
        for text in &texts {
            let Some(cover) = codebook.cover(name, text) else {
                let problem =
                    format!("no row for the label {} of `{name}`, which is in the released table", shown(text));
                let hint = "the files of this release do not belong together; publish it again";
                return Err(TableError::input("codebook.csv", problem, hint));
            };
            cells.push(SourceCell::new(cover, &source.domain));
            listed.push(matches!(cover, Cover::Leaves(_)));
        }
        if quasi.hierarchy.levels()[0].map.len() != source.domain.cardinality() {
            return Err(TableError::Internal(format!("the hierarchy of `{name}` is bound to another column")));
        }
        let full_domain = match recoding {
            Recoding::FullDomain => Some(full_domain(name, &texts, &mut cells, &listed, quasi.hierarchy)?),
            Recoding::Local => {
                refuse_empty(name, &texts, &cells)?;
                None
            }
        };
        let top_text = &quasi.hierarchy.levels()[quasi.hierarchy.top()].labels[0].text;
        // A short value can be masked to the same text, but then there are other values; and a
        // value may be called as the top is, which is then no top.
        let values = source.domain.cardinality();
        let above_values =
            |text: &str| full_domain.as_ref().map_or(source.domain.code_of(text).is_none(), |found| found.level > 0);
        let is_top =
            |(text, cell): (&String, &SourceCell)| above_values(text) && text == top_text && cell.codes.len() == values;
        // As a reader sees it, and where that leaves shares unknown, as a reader who knows which
        // values there are.
        let stated = Declared { kind: Some(source.domain.kind()), range: declared, masks: Masks::Unstated };
        let mut axis = EstimateAxis::bind(released, codebook, stated, None)?;
        if axis.leaves_unknown() {
            let ends = |last: u32| Some(Extent { low: source.domain.number(0)?, high: source.domain.number(last)? });
            let last = (source.domain.present() as u32).checked_sub(1);
            let range = declared.or(last.filter(|_| full_domain.is_none()).and_then(ends));
            axis = EstimateAxis::bind(released, codebook, Declared { range, ..stated }, Some(&source.domain))?;
        }
        Ok(AuditedAttribute {
            name,
            source,
            released,
            hierarchy: quasi.hierarchy,
            is_top: texts.iter().zip(&cells).map(is_top).collect(),
            counts: released.counts(),
            axis,
            cells,
            full_domain,
        })
    }
}

/// The level of a full-domain release; cells get back the values that the codebook was silent
/// about.
fn full_domain(
    name: &str,
    texts: &[String],
    cells: &mut [SourceCell],
    listed: &[bool],
    hierarchy: &Hierarchy,
) -> Result<FullDomain, TableError> {
    let (level, labels) = find_level(name, texts, cells, listed, hierarchy)?;
    let found = &hierarchy.levels()[level];
    widen(cells, found, &labels);
    let mut released_code = vec![texts.len() as u32; found.labels.len()];
    for (code, &label) in labels.iter().enumerate() {
        released_code[label as usize] = code as u32;
    }
    Ok(FullDomain {
        level,
        leaves: labels.iter().map(|&label| found.labels[label as usize].leaves).collect(),
        recoded: found.map.iter().map(|&label| released_code[label as usize]).collect(),
    })
}

/// A label that covers no value of the source was not made from it.
fn refuse_empty(name: &str, texts: &[String], cells: &[SourceCell]) -> Result<(), TableError> {
    match cells.iter().position(|cell| cell.codes.is_empty()) {
        None => Ok(()),
        Some(label) => {
            let problem = format!("the label {} of `{name}` covers no value of the source", shown(&texts[label]));
            Err(TableError::input("codebook.csv", problem, OTHER_SOURCE))
        }
    }
}

/// An attribute that is released as it is: a sensitive one.
#[derive(Debug)]
pub(crate) struct Unchanged<'a> {
    pub(crate) source: &'a Column,
    pub(crate) released: &'a Column,
    /// From the released code to the code in the source.
    pub(crate) source_code: Vec<u32>,
    /// The other way round; one past the last when the value was not released.
    pub(crate) released_code: Vec<u32>,
}

impl<'a> Unchanged<'a> {
    pub(crate) fn bind(name: &str, source: &'a Table, released: &'a Table) -> Result<Unchanged<'a>, TableError> {
        let (source, released) = both_columns(name, source, released)?;
        let cardinality = released.domain.cardinality() as u32;
        let mut released_code = vec![cardinality; source.domain.cardinality()];
        let mut source_code = Vec::with_capacity(cardinality as usize);
        for code in 0..cardinality {
            let text = released.domain.text(code);
            let missing = Some(code) == released.domain.missing_code();
            let found = if missing { source.domain.missing_code() } else { source.domain.code_of(&text) };
            let Some(found) = found else {
                let problem = format!("the released value {} of `{name}` is not in the source", shown(&text));
                return Err(TableError::input("data.csv", problem, OTHER_SOURCE));
            };
            released_code[found as usize] = code;
            source_code.push(found);
        }
        Ok(Unchanged { source, released, source_code, released_code })
    }
}

fn both_columns<'a>(
    name: &str,
    source: &'a Table,
    released: &'a Table,
) -> Result<(&'a Column, &'a Column), TableError> {
    let Some(source) = source.column(name) else {
        return Err(TableError::input("source", format!("the source has no column `{name}`"), OTHER_SOURCE));
    };
    let Some(released) = released.column(name) else {
        return Err(TableError::input("data.csv", format!("the table has no column `{name}`"), OTHER_SOURCE));
    };
    Ok((source, released))
}

/// The finest level whose labels contain all released ones with the same meaning, and each released
/// code's label there.
fn find_level(
    name: &str,
    texts: &[String],
    cells: &[SourceCell],
    listed: &[bool],
    hierarchy: &Hierarchy,
) -> Result<(usize, Vec<u32>), TableError> {
    let mut known = vec![false; texts.len()];
    let mut same_text = false;
    for (number, level) in hierarchy.levels().iter().enumerate() {
        let by_text: HashMap<&str, u32> =
            level.labels.iter().zip(0..).map(|(label, index)| (label.text.as_str(), index)).collect();
        let labels: Vec<Option<u32>> = texts.iter().map(|text| by_text.get(text.as_str()).copied()).collect();
        for (known, label) in known.iter_mut().zip(&labels) {
            *known |= label.is_some();
        }
        let Some(labels) = labels.into_iter().collect::<Option<Vec<u32>>>() else { continue };
        same_text = true;
        if stand_for(level, &labels, cells, listed) {
            return Ok((number, labels));
        }
    }
    let (place, problem) = if let Some(unknown) = known.iter().position(|known| !known) {
        ("data.csv", format!("the label {} of `{name}` is on no level of its hierarchy", shown(&texts[unknown])))
    } else if same_text {
        ("codebook.csv", format!("the labels of `{name}` cover other values there than in its hierarchy"))
    } else {
        ("data.csv", format!("the labels of `{name}` come from different levels of its hierarchy"))
    };
    Err(TableError::input(place, problem, OTHER_SOURCE))
}

/// Whether each cell holds exactly the values that the level puts under its label, and at least
/// one. Where leaves are `listed`, a codebook may leave out those that only suppressed rows had:
/// naming them would betray these rows.
fn stand_for(level: &Level, labels: &[u32], cells: &[SourceCell], listed: &[bool]) -> bool {
    let sizes = sizes(level);
    labels.iter().zip(cells).zip(listed).all(|((&label, cell), &listed)| {
        let (size, held) = (sizes[label as usize], cell.codes.len());
        held > 0 && (held == size || listed) && cell.codes.iter().all(|&code| level.map[code as usize] == label)
    })
}

/// Gives each cell back the values that the codebook was silent about: a row with one of them would
/// carry the label too.
fn widen(cells: &mut [SourceCell], level: &Level, labels: &[u32]) {
    let sizes = sizes(level);
    for (cell, &label) in cells.iter_mut().zip(labels) {
        if cell.codes.len() < sizes[label as usize] {
            let under = |code: &u32| level.map[*code as usize] == label;
            *cell = SourceCell { codes: (0..level.map.len() as u32).filter(under).collect(), shape: CellShape::Listed };
        }
    }
}

/// How many values lie under each label.
fn sizes(level: &Level) -> Vec<usize> {
    let mut sizes = vec![0usize; level.labels.len()];
    for &label in &level.map {
        sizes[label as usize] += 1;
    }
    sizes
}
