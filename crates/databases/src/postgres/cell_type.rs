//! Which types of PostgreSQL a table can hold, and the kind that each declares.

use hedgerow_table::Kind;
use postgres::types::{Kind as Family, Type};

/// How the bytes of a cell are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostgresType {
    Boolean,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    /// With the kind that its precision and scale declare.
    Numeric(Option<Kind>),
    Date,
    Timestamp {
        zoned: bool,
    },
    Text,
    /// `char(n)`: the spaces at its end are padding.
    Padded,
    Uuid,
}

impl PostgresType {
    /// The type, or the name of one that has no place in a table.
    pub(crate) fn of(found: &Type, modifier: i32) -> Result<PostgresType, String> {
        match found.kind() {
            Family::Enum(_) => return Ok(PostgresType::Text),
            Family::Domain(of) => return PostgresType::of(of, -1),
            Family::Array(of) => return Err(format!("{}[] (an array)", of.name())),
            _ => {}
        }
        Ok(match *found {
            Type::BOOL => PostgresType::Boolean,
            Type::INT2 => PostgresType::Int2,
            Type::INT4 => PostgresType::Int4,
            Type::INT8 => PostgresType::Int8,
            Type::OID => PostgresType::Oid,
            Type::FLOAT4 => PostgresType::Float4,
            Type::FLOAT8 => PostgresType::Float8,
            Type::NUMERIC => PostgresType::Numeric(numeric_kind(modifier)),
            Type::DATE => PostgresType::Date,
            Type::TIMESTAMP => PostgresType::Timestamp { zoned: false },
            Type::TIMESTAMPTZ => PostgresType::Timestamp { zoned: true },
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => PostgresType::Text,
            Type::BPCHAR => PostgresType::Padded,
            Type::UUID => PostgresType::Uuid,
            // An extension, so it has no number of its own.
            _ if found.name() == "citext" => PostgresType::Text,
            _ => return Err(found.name().to_owned()),
        })
    }

    /// The kind that the type declares; `None` where all texts together decide.
    pub(crate) fn kind(self) -> Option<Kind> {
        match self {
            PostgresType::Int2 | PostgresType::Int4 | PostgresType::Int8 | PostgresType::Oid => Some(Kind::Integer),
            PostgresType::Float4 | PostgresType::Float8 => Some(Kind::Float),
            PostgresType::Numeric(kind) => kind,
            PostgresType::Date => Some(Kind::Date),
            PostgresType::Boolean
            | PostgresType::Timestamp { .. }
            | PostgresType::Text
            | PostgresType::Padded
            | PostgresType::Uuid => Some(Kind::Category),
        }
    }
}

/// `numeric(10, 0)` holds integers and `numeric(10, 2)` numbers that a float keeps digit for digit.
/// One with more digits, or without a limit, may hold what neither can.
fn numeric_kind(modifier: i32) -> Option<Kind> {
    // Four bytes are the header of the type's other sizes.
    let modifier = u32::try_from(modifier - 4).ok()?;
    // The scale is signed and has eleven bits.
    let (precision, scale) = (modifier >> 16, modifier & 0x7ff);
    match (precision, scale) {
        (1..=18, 0) => Some(Kind::Integer),
        (1..=15, 1..=15) => Some(Kind::Float),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modifier(precision: i32, scale: i32) -> i32 {
        (precision << 16 | scale) + 4
    }

    #[test]
    fn a_numeric_is_what_its_digits_allow() {
        assert_eq!(numeric_kind(-1), None);
        assert_eq!(numeric_kind(modifier(10, 0)), Some(Kind::Integer));
        assert_eq!(numeric_kind(modifier(18, 0)), Some(Kind::Integer));
        assert_eq!(numeric_kind(modifier(19, 0)), None);
        assert_eq!(numeric_kind(modifier(10, 2)), Some(Kind::Float));
        assert_eq!(numeric_kind(modifier(16, 2)), None);
        assert_eq!(numeric_kind(modifier(5, 0x7ff)), None, "a negative scale");
    }

    #[test]
    fn types_without_a_place_in_a_table_are_refused_by_name() {
        for (found, name) in [
            (Type::INT4_ARRAY, "int4[] (an array)"),
            (Type::JSONB, "jsonb"),
            (Type::BYTEA, "bytea"),
            (Type::POINT, "point"),
            (Type::INTERVAL, "interval"),
        ] {
            assert_eq!(PostgresType::of(&found, -1), Err(name.to_owned()));
        }
        assert_eq!(PostgresType::of(&Type::TEXT, -1), Ok(PostgresType::Text));
    }
}
