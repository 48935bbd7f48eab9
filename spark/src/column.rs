//! Which types of Spark a table can hold, and the kind that each declares.

use hedgerow_table::Kind;
use hedgerow_table::date::Date;
use hedgerow_table::read::Cell;
use spark_connect::DataType;

/// How the text of a cell is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SparkType {
    Integer,
    Float,
    Date,
    /// With the kind that its precision and scale declare.
    Decimal(Option<Kind>),
    /// Texts whose kind all of them together decide.
    Undeclared,
    /// The same in a file of texts, where NULL is a field without a text.
    Written,
    Text,
}

/// The kind of strings in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// Texts, as a table declares them.
    Declared,
    /// Anything, as in a file.
    Undeclared,
    /// Anything, in a file that has no other type.
    Written,
}

impl SparkType {
    /// The type, or the name of one that has no place in a table.
    pub(crate) fn of(found: &DataType, strings: Strings) -> Result<SparkType, String> {
        Ok(match found {
            DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => SparkType::Integer,
            DataType::Float | DataType::Double => SparkType::Float,
            DataType::Decimal { precision, scale } => SparkType::Decimal(decimal_kind(*precision, *scale)),
            DataType::Date => SparkType::Date,
            DataType::String { .. } | DataType::Varchar { .. } | DataType::Char { .. } => match strings {
                Strings::Declared => SparkType::Text,
                Strings::Undeclared => SparkType::Undeclared,
                Strings::Written => SparkType::Written,
            },
            DataType::Boolean | DataType::Timestamp | DataType::TimestampNtz => SparkType::Text,
            DataType::Array { .. } => return Err("array".to_owned()),
            DataType::Map { .. } => return Err("map".to_owned()),
            DataType::Struct { .. } => return Err("struct".to_owned()),
            DataType::Binary => return Err("binary".to_owned()),
            DataType::Null => return Err("void: it has no values".to_owned()),
            _ => return Err("of an interval, a variant or a time".to_owned()),
        })
    }

    /// The kind that the type declares; `None` where all texts together decide.
    pub(crate) fn kind(self) -> Option<Kind> {
        match self {
            SparkType::Integer => Some(Kind::Integer),
            SparkType::Float => Some(Kind::Float),
            SparkType::Date => Some(Kind::Date),
            SparkType::Decimal(kind) => kind,
            SparkType::Undeclared | SparkType::Written => None,
            SparkType::Text => Some(Kind::Category),
        }
    }

    /// A cell from its text. A text that is not of its type stays a text, which is refused later
    /// with its column.
    pub(crate) fn cell(self, text: Option<&str>) -> Cell<'_> {
        let Some(text) = text else { return Cell::Missing };
        let typed = match self.kind() {
            Some(Kind::Integer) => text.parse().ok().map(Cell::Integer),
            Some(Kind::Float) => text.parse().ok().map(Cell::Float),
            Some(Kind::Date) => Date::parse_iso(text).map(|date| Cell::Date(date.0)),
            _ => None,
        };
        typed.unwrap_or(Cell::Text(text))
    }
}

/// A decimal without a fraction is an integer, one of few digits a number that a float keeps digit
/// for digit. One with more digits may hold what neither can.
fn decimal_kind(precision: i32, scale: i32) -> Option<Kind> {
    match (precision, scale) {
        (1..=18, 0) => Some(Kind::Integer),
        (1..=15, 1..=15) => Some(Kind::Float),
        _ => None,
    }
}

/// The type of a released column.
pub(crate) fn sql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "bigint",
        Kind::Float => "double",
        Kind::Date => "date",
        Kind::Category => "string",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_declares_a_kind_or_is_refused_by_name() {
        let string = DataType::String { collation: "UTF8_BINARY".to_owned() };
        assert_eq!(SparkType::of(&string, Strings::Declared).unwrap().kind(), Some(Kind::Category));
        assert_eq!(SparkType::of(&string, Strings::Undeclared).unwrap().kind(), None);
        let decimal = |precision, scale| {
            SparkType::of(&DataType::Decimal { precision, scale }, Strings::Declared).unwrap().kind()
        };
        assert_eq!((decimal(10, 0), decimal(10, 2), decimal(38, 6)), (Some(Kind::Integer), Some(Kind::Float), None));
        assert_eq!(SparkType::of(&DataType::Binary, Strings::Declared), Err("binary".to_owned()));
    }

    #[test]
    fn texts_become_cells_of_their_type() {
        assert_eq!(SparkType::Integer.cell(Some("-7")), Cell::Integer(-7));
        assert_eq!(SparkType::Float.cell(Some("1.0E10")), Cell::Float(1e10));
        assert_eq!(SparkType::Date.cell(Some("1970-01-02")), Cell::Date(1));
        assert_eq!(SparkType::Text.cell(Some("7")), Cell::Text("7"));
        assert_eq!(SparkType::Decimal(Some(Kind::Float)).cell(Some("1.50")), Cell::Float(1.5));
        assert_eq!(SparkType::Integer.cell(None), Cell::Missing);
    }
}
