//! Publishing where the rows are: another machine counts, recodes and writes them. The search sees
//! the distinct rows, and no row comes here.

use std::ops::Range;
use std::path::Path;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::community;
use hedgerow_draft::draft::{Draft, DraftContent};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::pieces::Pieces;
use hedgerow_draft::recoded_outside::RecodedOutside;
use hedgerow_policy::{Method, Policy};
use hedgerow_release::CountReleased;
use hedgerow_table::frequency::{LevelChange, pack};
use hedgerow_table::{Codes, Domain, Engine, InputError, Kind, Progress, TableError, with_words};

use crate::catalog::Gate;
pub use hedgerow_draft::pieces::EqualRows;

/// A cluster that holds the rows and can recode, write and count them.
pub trait Remote: Engine + CountReleased {
    /// Writes the rows of a recoded table, in random order, into one new Parquet file, and says how
    /// many there are.
    fn write(&self, table: &RecodedTable<'_>, path: &Path, progress: &dyn Progress) -> Result<u64, TableError>;
}

/// The recoding of the rows: of every released column a value for every code, or for every class.
#[derive(Debug)]
pub struct RecodedTable<'a> {
    /// In the order of the release.
    pub columns: Vec<RecodedColumn<'a>>,
    pub suppressed: Option<Suppressed>,
    /// Present where classes decide some columns.
    pub classes: Option<ClassOfRows<'a>>,
}

/// One released column.
#[derive(Debug)]
pub struct RecodedColumn<'a> {
    pub name: &'a str,
    /// A category once its values are generalized; else the kind of its domain.
    pub kind: Kind,
    /// The values of what is not generalized.
    pub domain: &'a Domain,
    /// The released text, by the code of a row's value; an empty text is missing.
    pub texts: &'a [String],
    /// Where not the value decides but the class: the position of every class's text.
    pub of_class: Option<&'a [u32]>,
}

/// Which rows are of which class.
#[derive(Debug)]
pub struct ClassOfRows<'a> {
    /// The key of rows: columns of the source by name, with the codes of the
    /// distinct rows.
    pub distinct: Vec<(&'a str, &'a Codes)>,
    pub by: ClassesBy<'a>,
}

/// The rule for the class of a row.
#[derive(Debug)]
pub enum ClassesBy<'a> {
    /// The distinct row that it is equal to.
    Value(ValuePieces<'a>),
    /// Its number. Rows of one kind have numbers one after the other, in any order of the rows.
    Number {
        /// For every distinct row the numbers, from 0 on, of the kind that it is of.
        kinds: Vec<Range<u32>>,
        /// For every number its class.
        classes: &'a [u32],
    },
}

/// Distinct rows with their classes.
#[derive(Debug)]
pub struct ValuePieces<'a> {
    counts: &'a [u32],
    pieces: &'a Pieces,
}

impl ValuePieces<'_> {
    /// Every distinct row with its class. Where equal rows are divided, each class takes its
    /// number of them in turn, in any order of the rows.
    pub fn each(&self) -> impl Iterator<Item = EqualRows> + '_ {
        self.pieces.each(self.counts)
    }

    /// Whether some equal rows are of different classes.
    pub fn part_equal_rows(&self) -> bool {
        self.pieces.part_equal_rows()
    }
}

impl<'a> ClassOfRows<'a> {
    fn of(bound: &'a Bound<'_>, recoded: &'a RecodedOutside) -> Result<ClassOfRows<'a>, PublishError> {
        let lost = || PublishError::Internal("internal error: rows of unknown kinds".to_owned());
        let pieces = &recoded.pieces;
        let Some(kinds) = &recoded.kinds else {
            let names = bound.judged_domains().into_iter().map(|(name, _)| name);
            let distinct = names.zip(bound.judged_codes()).collect();
            let counts = bound.row_counts().unwrap_or_default();
            return Ok(ClassOfRows { distinct, by: ClassesBy::Value(ValuePieces { counts, pieces }) });
        };
        if !pieces.are_rows() {
            return Err(lost());
        }
        let mut distinct = Vec::with_capacity(kinds.names.len());
        for name in &kinds.names {
            let column = bound.table.column(name).ok_or_else(lost)?;
            distinct.push((column.name.as_str(), &column.codes));
        }
        let codes: Vec<&Codes> = distinct.iter().map(|&(_, codes)| codes).collect();
        let kinds = (kinds.of_rows)(&codes)?;
        let kinds = kinds.into_iter().map(|kind| pieces.of(kind)).collect();
        Ok(ClassOfRows { distinct, by: ClassesBy::Number { kinds, classes: &pieces.class } })
    }
}

/// The rows that are not released.
#[derive(Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// Columns by name, each with a label for every code.
    pub labels: Vec<(String, Vec<u32>)>,
    /// Rows with these labels, in the order of the columns. None occurs twice.
    pub rows: Vec<Vec<u32>>,
}

impl<'a> RecodedTable<'a> {
    /// The one table of a draft over distinct rows that has the rows of the source.
    pub(crate) fn of(bound: &'a Bound<'_>, draft: &'a Draft<'_>) -> Result<RecodedTable<'a>, PublishError> {
        let mut tables = draft.tables.iter().filter(|table| !table.of_other_rows);
        let (Some(table), None) = (tables.next(), tables.next()) else {
            return Err(PublishError::Internal("internal error: several tables from one recoding".to_owned()));
        };
        let DraftContent::Columns { columns, kept } = &table.content else {
            return Err(PublishError::Internal("internal error: a recoding without columns".to_owned()));
        };
        let suppressed = kept.as_ref().map(|kept| suppressed(bound, draft, kept)).transpose()?;
        let of_class = |name: &str| {
            let labels = draft.recoded.iter().flat_map(|recoded| &recoded.labels);
            labels.filter(|(decided, ..)| decided == name).map(|(_, of_class, _)| of_class.as_slice()).next()
        };
        let columns = columns.iter().map(|column| RecodedColumn {
            name: column.name,
            kind: column.kind,
            domain: &column.domain,
            texts: &column.texts,
            of_class: of_class(column.name),
        });
        let columns = columns.collect();
        let classes = draft.recoded.as_ref().map(|recoded| ClassOfRows::of(bound, recoded)).transpose()?;
        Ok(RecodedTable { columns, suppressed, classes })
    }
}

/// Rows stay or go with their labels on the levels of the draft, and with what else rules know.
/// Attributes that are only protected decide nothing and are not in the keys.
fn suppressed(bound: &Bound<'_>, draft: &Draft<'_>, kept: &[bool]) -> Result<Suppressed, PublishError> {
    let searched = draft.searched.iter().flat_map(|searched| &searched.levels);
    let levels: Vec<usize> = searched.map(|&(_, level, _)| level).collect();
    let judge = bound.judge()?;
    let layout = judge.layout();
    let (mut places, mut labels) = (Vec::new(), Vec::new());
    for (place, (name, domain)) in
        bound.judged_domains().into_iter().enumerate().filter(|(place, _)| layout.has(*place))
    {
        let map = match (bound.quasi.get(place), levels.get(place)) {
            (Some(quasi), Some(&level)) => quasi.hierarchy.levels()[level].map.clone(),
            _ => (0..domain.cardinality() as u32).collect(),
        };
        places.push(place);
        labels.push((name.to_owned(), map));
    }
    let rows = with_words!(layout.words(), W => {
        let changes = places.iter().zip(&labels).map(|(&place, (_, map))| (place, map.as_slice()));
        let recoding = LevelChange::<W>::new(layout, changes);
        let mut keys = vec![[0u64; W]; kept.len()];
        pack(layout, &bound.judged_codes(), 0..kept.len(), &mut keys);
        let gone = keys.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(key, _)| recoding.apply(key));
        let mut gone: Vec<[u64; W]> = gone.collect();
        gone.sort_unstable();
        gone.dedup();
        let row = |key: &[u64; W]| places.iter().map(|&place| layout.field(place).get(key)).collect::<Vec<u32>>();
        gone.iter().map(row).collect()
    });
    Ok(Suppressed { labels, rows })
}

/// Refuses a policy that needs the rows themselves, with a hint.
pub(crate) fn refuse(policy: &Policy, gate: &Gate) -> Result<(), PublishError> {
    hedgerow_draft::units::refuse_elsewhere(policy, "publishing where the rows are")?;
    hedgerow_draft::consistent::refuse_elsewhere(policy, "publishing where the rows are")?;
    let (what, hint) = match policy.publish.method {
        _ if gate.catalog.is_some() => ("an audit with a catalog", "publish first, and audit the releases afterwards"),
        _ if !community::releases(policy)?.is_empty() => {
            ("a guarantee across releases", "publish from a file or a database")
        }
        Method::Mondrian if policy.publish.improve => {
            ("`improve = true`", "remove it, or publish from a file or a database")
        }
        Method::FullDomain | Method::Mondrian | Method::Anatomy => return Ok(()),
        method => (
            method.name(),
            "use `method = \"full-domain\"`, \"mondrian\" or \"anatomy\", or publish from a file or a database",
        ),
    };
    let problem = format!("{what} needs the rows on this machine, and they do not leave the cluster");
    Err(InputError::new(format!("{}: publish.method", policy.path.display()), problem, hint).into())
}

/// Rows that were written must be those that were searched.
pub(crate) fn refuse_other_rows(policy: &Policy, written: u64, expected: u64) -> Result<(), TableError> {
    if written == expected {
        return Ok(());
    }
    let place = policy.source.path.display().to_string();
    let problem = format!("the data changed while it was published: {written} rows were written, expected {expected}");
    Err(TableError::input(place, problem, "publish again while no program writes to it"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A cluster counts rows, and which combinations of values occur is counted in memory.
    #[test]
    fn what_needs_the_rows_themselves_is_refused_by_name() {
        let refused = |attribute: &str, rule: &str| {
            let text = format!(
                "[source]\npath = \"people.csv\"\n[attributes]\n{attribute}age = {{ role = \"quasi\" }}\n[[rule]]\n\
                 require = {{ model = \"k-anonymity\", k = 2 }}\n{rule}"
            );
            let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
            refuse(&policy, &Gate::default()).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refused("", ""), "");
        let units = refused("patient = { role = \"unit\" }\n", "");
        assert!(units.contains("publishing where the rows are counts rows, not units"), "{units}");
        let consistent = refused("", "consistent = true\n");
        assert!(consistent.contains("publishing where the rows are does not keep `consistent`"), "{consistent}");
    }
}
