//! The types of Parquet columns, as far as cells of a table are concerned.
//!
//! Parquet stores a few physical types and states with them what they mean, in one of two
//! vocabularies of different age. Both are understood. A type that only an embedded Arrow schema
//! knows (a duration) reads as the number it is stored as.

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{BasicTypeInfo, Type};

use crate::Kind;

/// The digits that the widest decimals of other programs have.
const DECIMAL_SCALE_MAX: i32 = 76;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) enum CellType {
    /// A column that can hold nothing but nulls.
    Nothing,
    Boolean,
    Integer,
    Unsigned,
    Float,
    /// Two bytes: a float of half the single width.
    Half,
    Date,
    Timestamp {
        unit: TimeUnit,
        zoned: bool,
    },
    /// A whole number of which the last `scale` digits are decimals.
    Decimal {
        scale: usize,
    },
    Text,
}

impl CellType {
    /// The type of a column at the root of a file's schema, or the name of one that has no place in
    /// a table.
    pub(super) fn of(column: &Type) -> Result<CellType, &'static str> {
        let info = column.get_basic_info();
        let Type::PrimitiveType { physical_type, scale, type_length, .. } = column else {
            return Err(group_name(info));
        };
        if info.has_repetition() && info.repetition() == Repetition::REPEATED {
            return Err("List");
        }
        let decimal = |scale: i32| match usize::try_from(scale) {
            Ok(digits) if scale <= DECIMAL_SCALE_MAX => Ok(CellType::Decimal { scale: digits }),
            _ => Err("Decimal of negative or very large scale"),
        };
        let instant = |unit| Ok(CellType::Timestamp { unit, zoned: true });
        let older = info.converted_type();
        match (physical_type, info.logical_type_ref()) {
            (_, Some(LogicalType::Unknown)) => Ok(CellType::Nothing),
            (_, Some(LogicalType::Time(_))) => Err("Time"),
            (_, Some(LogicalType::Uuid)) => Err("Uuid"),
            (_, Some(LogicalType::Float16)) if *type_length == 2 => Ok(CellType::Half),
            (Physical::BOOLEAN, _) => Ok(CellType::Boolean),
            (Physical::FLOAT | Physical::DOUBLE, _) => Ok(CellType::Float),
            (Physical::INT96, _) => Ok(CellType::Timestamp { unit: TimeUnit::NANOS, zoned: false }),
            (_, Some(LogicalType::Decimal(description))) => decimal(description.scale),
            (Physical::INT32, Some(LogicalType::Date)) => Ok(CellType::Date),
            (Physical::INT64, Some(LogicalType::Timestamp(moment))) => {
                Ok(CellType::Timestamp { unit: moment.unit, zoned: moment.is_adjusted_to_u_t_c })
            }
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(integer))) => {
                Ok(if integer.is_signed { CellType::Integer } else { CellType::Unsigned })
            }
            (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Json | LogicalType::Enum)) => {
                Ok(CellType::Text)
            }
            (_, None) if older == ConvertedType::DECIMAL => decimal(*scale),
            (Physical::INT32 | Physical::INT64, None) => match older {
                ConvertedType::DATE => Ok(CellType::Date),
                ConvertedType::TIMESTAMP_MILLIS => instant(TimeUnit::MILLIS),
                ConvertedType::TIMESTAMP_MICROS => instant(TimeUnit::MICROS),
                ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS => Err("Time"),
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                    Ok(CellType::Unsigned)
                }
                _ => Ok(CellType::Integer),
            },
            (Physical::BYTE_ARRAY, None) => match older {
                ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM => Ok(CellType::Text),
                _ => Err("Binary"),
            },
            (_, None) if older == ConvertedType::INTERVAL => Err("Interval"),
            (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, _) => Err("Binary"),
            (Physical::INT32 | Physical::INT64, _) => Err("number of unknown meaning"),
        }
    }

    /// The kind that the type declares; `None` where the texts decide.
    pub(in crate::read) fn kind(self) -> Option<Kind> {
        match self {
            CellType::Float | CellType::Half => Some(Kind::Float),
            CellType::Boolean => Some(Kind::Category),
            _ => None,
        }
    }
}

fn group_name(info: &BasicTypeInfo) -> &'static str {
    match (info.logical_type_ref(), info.converted_type()) {
        (Some(LogicalType::List), _) | (None, ConvertedType::LIST) => "List",
        (Some(LogicalType::Map), _) | (None, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => "Map",
        _ => "Struct",
    }
}
