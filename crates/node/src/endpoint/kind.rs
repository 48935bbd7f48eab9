//! The types of columns and parameters, and values of them as text and in binary.

use hedgerow_table::date::Date;

use super::refusal::{BAD_VALUE, NOT_UTF8, StatementRefusal};

/// Days from 1970 to 2000, where PostgreSQL's dates begin.
const DAYS_TO_2000: i32 = 10_957;
/// The most digits of a number in binary.
const DIGITS_MAX: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlType {
    Bool,
    Char,
    Name,
    Int2,
    Int4,
    Int8,
    Oid,
    Float8,
    Numeric,
    Text,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SqlValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl SqlType {
    /// The number under which `pg_type` has it.
    pub(super) fn oid(self) -> u32 {
        match self {
            SqlType::Bool => 16,
            SqlType::Char => 18,
            SqlType::Name => 19,
            SqlType::Int8 => 20,
            SqlType::Int2 => 21,
            SqlType::Int4 => 23,
            SqlType::Text => 25,
            SqlType::Oid => 26,
            SqlType::Float8 => 701,
            SqlType::Numeric => 1700,
        }
    }

    /// Bytes of a value, or -1 where they differ.
    pub(super) fn length(self) -> i16 {
        match self {
            SqlType::Bool | SqlType::Char => 1,
            SqlType::Int2 => 2,
            SqlType::Int4 | SqlType::Oid => 4,
            SqlType::Int8 | SqlType::Float8 => 8,
            SqlType::Name => 64,
            SqlType::Numeric | SqlType::Text => -1,
        }
    }

    /// By the name of a type. What has no type of its own here is text.
    pub(super) fn from_name(name: &str) -> SqlType {
        match name.to_lowercase().as_str() {
            "bool" | "boolean" => SqlType::Bool,
            "char" => SqlType::Char,
            "name" | "sql_identifier" => SqlType::Name,
            "int2" | "smallint" => SqlType::Int2,
            "int4" | "int" | "integer" | "cardinal_number" => SqlType::Int4,
            "int8" | "bigint" => SqlType::Int8,
            "oid" | "xid" => SqlType::Oid,
            "float4" | "float8" | "real" | "double precision" => SqlType::Float8,
            "numeric" | "decimal" => SqlType::Numeric,
            _ => SqlType::Text,
        }
    }

    pub(super) fn is_number(oid: u32) -> bool {
        matches!(oid, 20 | 21 | 23 | 26 | 700 | 701 | 1700)
    }
}

impl SqlValue {
    pub(super) fn text(&self, kind: SqlType) -> Option<String> {
        Some(match self {
            SqlValue::Null => return None,
            SqlValue::Bool(value) => if *value { "t" } else { "f" }.to_owned(),
            SqlValue::Int(value) if kind == SqlType::Bool => if *value != 0 { "t" } else { "f" }.to_owned(),
            SqlValue::Int(value) => value.to_string(),
            SqlValue::Float(value) => float(*value),
            SqlValue::Text(text) => text.clone(),
        })
    }

    pub(super) fn binary(&self, kind: SqlType) -> Result<Option<Vec<u8>>, StatementRefusal> {
        let Some(text) = self.text(kind) else { return Ok(None) };
        let wrong = || StatementRefusal::new(BAD_VALUE, "a value does not fit the type of its column", "request text");
        let whole = || match self {
            SqlValue::Int(value) => Ok(*value),
            SqlValue::Bool(value) => Ok(i64::from(*value)),
            SqlValue::Float(_) | SqlValue::Text(_) | SqlValue::Null => text.parse().map_err(|_| wrong()),
        };
        Ok(Some(match kind {
            SqlType::Bool => vec![u8::from(match self {
                SqlValue::Text(text) => matches!(text.as_str(), "t" | "true" | "1"),
                _ => text == "t",
            })],
            SqlType::Int2 => i16::try_from(whole()?).map_err(|_| wrong())?.to_be_bytes().to_vec(),
            SqlType::Int4 => i32::try_from(whole()?).map_err(|_| wrong())?.to_be_bytes().to_vec(),
            SqlType::Oid => u32::try_from(whole()?).map_err(|_| wrong())?.to_be_bytes().to_vec(),
            SqlType::Int8 => whole()?.to_be_bytes().to_vec(),
            SqlType::Float8 => text.parse::<f64>().map_err(|_| wrong())?.to_be_bytes().to_vec(),
            SqlType::Numeric => numeric(&text).ok_or_else(wrong)?,
            SqlType::Char | SqlType::Name | SqlType::Text => text.into_bytes(),
        }))
    }
}

/// As PostgreSQL writes it: the shortest text that is read back as the same number.
fn float(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        let (plain, scientific) = (format!("{value}"), format!("{value:e}"));
        if plain.len() > 24 { scientific } else { plain }
    }
}

/// A decimal number in groups of four digits.
fn numeric(text: &str) -> Option<Vec<u8>> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + part.len() == 0 || !whole.bytes().chain(part.bytes()).all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = i32::try_from(part.len()).ok()? - exponent;
    let mut all = format!("{whole}{part}");
    if scale < 0 {
        all.extend(std::iter::repeat_n('0', usize::try_from(-scale).ok()?.min(DIGITS_MAX)));
    }
    let scale = usize::try_from(scale.max(0)).ok()?;
    if all.len() > DIGITS_MAX || scale > DIGITS_MAX {
        return None;
    }
    // The point stands between two groups.
    let before = format!("{:0>width$}", all, width = scale.max(all.len()));
    let (whole, part) = before.split_at(before.len() - scale);
    let whole = format!("{whole:0>width$}", width = whole.len().div_ceil(4) * 4);
    let part = format!("{part:0<width$}", width = part.len().div_ceil(4) * 4);
    let groups: Vec<u16> = (whole.as_bytes().chunks(4).chain(part.as_bytes().chunks(4)))
        .map(|group| group.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
        .collect();
    let mut weight = (whole.len() / 4) as i16 - 1;
    let first = groups.iter().position(|group| *group != 0).unwrap_or(groups.len());
    let last = groups.iter().rposition(|group| *group != 0).map_or(first, |last| last + 1);
    weight -= first as i16;
    let kept = &groups[first..last];
    let mut bytes = Vec::new();
    bytes.extend((kept.len() as u16).to_be_bytes());
    bytes.extend(if kept.is_empty() { 0 } else { weight }.to_be_bytes());
    bytes.extend(if negative && !kept.is_empty() { 0x4000u16 } else { 0 }.to_be_bytes());
    bytes.extend((scale as u16).to_be_bytes());
    kept.iter().for_each(|group| bytes.extend(group.to_be_bytes()));
    Some(bytes)
}

/// A parameter as its client sent it, as text.
pub(super) fn parameter(oid: u32, binary: bool, bytes: Option<&[u8]>) -> Result<Option<String>, StatementRefusal> {
    let Some(bytes) = bytes else { return Ok(None) };
    let wrong = || StatementRefusal::new(BAD_VALUE, "a parameter does not fit its type", "send it as text");
    let fixed = |length: usize| {
        let mut wide = [0; 8];
        if bytes.len() != length {
            return Err(wrong());
        }
        wide[8 - length..].copy_from_slice(bytes);
        Ok(u64::from_be_bytes(wide))
    };
    if !binary || matches!(oid, 0 | 18 | 19 | 25 | 114 | 705 | 1042 | 1043) {
        let broken = |_| StatementRefusal::new(NOT_UTF8, "a parameter is not UTF-8", "send everything in UTF-8");
        return String::from_utf8(bytes.to_vec()).map(Some).map_err(broken);
    }
    Ok(Some(match oid {
        16 => (fixed(1)? != 0).to_string(),
        20 => (fixed(8)? as i64).to_string(),
        21 => (fixed(2)? as i16).to_string(),
        23 => (fixed(4)? as i32).to_string(),
        26 => fixed(4)?.to_string(),
        700 => f32::from_bits(fixed(4)? as u32).to_string(),
        701 => f64::from_bits(fixed(8)?).to_string(),
        1082 => {
            let days = (fixed(4)? as i32).checked_add(DAYS_TO_2000).ok_or_else(wrong)?;
            let (year, month, day) = Date(days).ymd();
            format!("{year:04}-{month:02}-{day:02}")
        }
        _ => {
            let problem = format!("a parameter of type {oid} in binary is not read");
            return Err(StatementRefusal::new(super::refusal::UNSUPPORTED, problem, "send it as text"));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a number back by the definition: groups times powers of 10,000.
    fn read_back(bytes: &[u8]) -> String {
        let at = |place: usize| i16::from_be_bytes([bytes[2 * place], bytes[2 * place + 1]]);
        let (count, weight, negative, scale) = (at(0) as usize, at(1), at(2) == 0x4000, at(3) as usize);
        let group = |power: i16| match usize::try_from(weight - power) {
            Ok(place) if place < count => at(4 + place),
            _ => 0,
        };
        let whole: String = (0..=weight.max(0)).rev().map(|power| format!("{:04}", group(power))).collect();
        let part: String = (1..=scale.div_ceil(4) as i16).map(|power| format!("{:04}", group(-power))).collect();
        let whole = whole.trim_start_matches('0');
        let sign = if negative { "-" } else { "" };
        let point = if scale > 0 { "." } else { "" };
        format!("{sign}{}{point}{}", if whole.is_empty() { "0" } else { whole }, &part[..scale])
    }

    #[test]
    fn numbers_in_binary_are_what_they_are_as_text() {
        for text in ["0", "1", "-1", "42", "9999", "10000", "10001", "123456789012345678901234567890", "0.5", "-0.0001"]
        {
            assert_eq!(read_back(&numeric(text).unwrap()), text, "{text}");
        }
        for (text, plain) in [("1e3", "1000"), ("1.50", "1.50"), ("2.5e-3", "0.0025"), ("00012.3400", "12.3400")] {
            assert_eq!(read_back(&numeric(text).unwrap()), plain, "{text}");
        }
        for text in ["", "-", ".", "1x", "20-29", "*", "1e9999", "NaN"] {
            assert_eq!(numeric(text), None, "{text}");
        }
    }

    #[test]
    fn parameters_in_binary_are_read_and_strange_ones_refused() {
        let read = |oid, bytes: &[u8]| parameter(oid, true, Some(bytes)).map(Option::unwrap);
        assert_eq!(read(23, &(-7i32).to_be_bytes()).unwrap(), "-7");
        assert_eq!(read(21, &300i16.to_be_bytes()).unwrap(), "300");
        assert_eq!(read(20, &i64::MIN.to_be_bytes()).unwrap(), i64::MIN.to_string());
        assert_eq!(read(701, &2.5f64.to_be_bytes()).unwrap(), "2.5");
        assert_eq!(read(1082, &1i32.to_be_bytes()).unwrap(), "2000-01-02");
        assert_eq!(read(25, "é".as_bytes()).unwrap(), "é");
        assert_eq!(parameter(23, true, None).unwrap(), None);
        assert!(read(23, &[1]).is_err() && read(2950, &[0; 16]).is_err() && read(25, &[0xff]).is_err());
    }

    #[test]
    fn values_have_both_forms() {
        assert_eq!(SqlValue::Float(0.1).text(SqlType::Float8).unwrap(), "0.1");
        assert_eq!(SqlValue::Float(1e300).text(SqlType::Float8).unwrap(), "1e300");
        assert_eq!(SqlValue::Int(1).text(SqlType::Bool).unwrap(), "t");
        assert_eq!(SqlValue::Int(70_000).binary(SqlType::Int4).unwrap().unwrap(), 70_000i32.to_be_bytes());
        assert!(SqlValue::Int(70_000).binary(SqlType::Int2).is_err());
        assert_eq!(SqlValue::Null.binary(SqlType::Int2).unwrap(), None);
        assert_eq!(SqlValue::Text("12".to_owned()).binary(SqlType::Int8).unwrap().unwrap(), 12i64.to_be_bytes());
    }
}
