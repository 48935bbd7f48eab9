//! The measures of a release, compared with the table that it was made from.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::class_sizes::SizeDistribution;
use crate::loss::{AttributeLoss, Losses};
use crate::max_likelihood::MeasuredTables;
use crate::number_error::NumberError;
use crate::query_error::QueryError;
use crate::risk::Risk;
use crate::rows::RowCounts;
use crate::singled_out::SingledOut;

/// The measures of a release, by what its kind allows to be measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant)] // One value per measurement: a box would save nothing.
pub enum Measures {
    /// One table, or one pair of tables, about every person.
    Table(TableMeasures),
    /// Sub-tables about the same people, measured by the most likely table behind them.
    Decomposed(MeasuredTables),
}

/// Names that the contract fixes are spelled as there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableMeasures {
    /// Rows in the source, released and suppressed.
    pub rows: RowCounts,
    /// Every loss measure.
    #[serde(rename = "loss")]
    pub losses: Losses,
    /// The contribution of each quasi-identifier, in the order of the policy.
    #[serde(serialize_with = "by_name")]
    pub attributes: Vec<AttributeLoss>,
    /// The sizes of the classes.
    pub classes: SizeDistribution,
    /// The risk of re-identification.
    pub risk: Risk,
    /// `None` when no query was requested.
    pub queries: Option<QueryError>,
    /// For every sensitive attribute that is a number or a date.
    #[serde(serialize_with = "by_name")]
    pub numbers: Vec<NumberError>,
    /// The rows that are alone when a further released value is known.
    pub singled_out: Vec<SingledOut>,
    /// Whether the classes are buckets, whose rows and sensitive values are in two tables.
    #[serde(skip)]
    pub buckets: bool,
}

impl Measures {
    /// The measures of a release that is not decomposed.
    pub fn table(&self) -> Option<&TableMeasures> {
        match self {
            Measures::Table(table) => Some(table),
            Measures::Decomposed(_) => None,
        }
    }
}

/// A list that becomes an object whose keys are names.
pub(crate) trait NamedMeasure {
    fn name(&self) -> &str;
}

impl NamedMeasure for AttributeLoss {
    fn name(&self) -> &str {
        &self.name
    }
}

impl NamedMeasure for NumberError {
    fn name(&self) -> &str {
        &self.attribute
    }
}

fn by_name<S: Serializer, T: NamedMeasure + Serialize>(list: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(list.len()))?;
    for item in list {
        map.serialize_entry(item.name(), item)?;
    }
    map.end()
}
