//! The header of a Stata file: its release, its variables, and where its sections are.

use super::section::{Damage, Section};

/// The order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    BigEndian,
    LittleEndian,
}

impl Order {
    /// Of at most eight bytes.
    pub(super) fn unsigned(self, bytes: &[u8]) -> u64 {
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        match self {
            Order::BigEndian => bytes.iter().fold(0, add),
            Order::LittleEndian => bytes.iter().rev().fold(0, add),
        }
    }

    pub(super) fn signed(self, bytes: &[u8]) -> i64 {
        let unused = 64 - 8 * bytes.len() as u32;
        ((self.unsigned(bytes) << unused) as i64) >> unused
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Byte,
    Int,
    Long,
    Float,
    Double,
    Text(usize),
    LongText,
}

impl Type {
    pub(super) fn width(self) -> usize {
        match self {
            Type::Byte => 1,
            Type::Int => 2,
            Type::Long | Type::Float => 4,
            Type::Double | Type::LongText => 8,
            Type::Text(width) => width,
        }
    }

    fn of(code: u64, release: u8) -> Result<Type, Damage> {
        Ok(match (release, code) {
            (..117, 251) | (117.., 65_530) => Type::Byte,
            (..117, 252) | (117.., 65_529) => Type::Int,
            (..117, 253) | (117.., 65_528) => Type::Long,
            (..117, 254) | (117.., 65_527) => Type::Float,
            (..117, 255) | (117.., 65_526) => Type::Double,
            (117.., 32_768) => Type::LongText,
            (..117, 1..=244) | (117.., 1..=2045) => Type::Text(code as usize),
            _ => return Err(Damage("a variable has a type that is not known")),
        })
    }
}

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) kind: Type,
    /// How Stata shows it, such as `%td`.
    pub(super) format: String,
    /// The name of its value labels; empty when it has none.
    pub(super) labels: String,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) release: u8,
    pub(super) order: Order,
    pub(super) rows: u64,
    pub(super) variables: Vec<Variable>,
    /// Where the rows begin.
    pub(super) data: u64,
    pub(super) long_texts: Option<u64>,
    pub(super) value_labels: u64,
}

/// In bytes, by release: a name, a format, the label of a variable.
fn widths(release: u8) -> [usize; 3] {
    match release {
        113 => [33, 12, 81],
        114..=117 => [33, 49, 81],
        _ => [129, 57, 321],
    }
}

impl Header {
    pub(super) fn read(section: &mut Section) -> Result<Header, Damage> {
        let first = section.take(1)?[0];
        section.go_to(0)?;
        match first {
            b'<' => Header::tagged(section),
            113..=115 => Header::plain(section, first),
            102..=112 => Err(Damage("it was saved by Stata 7 or older, which is not read")),
            _ => Err(Damage("it does not begin as one")),
        }
    }

    /// Stata 13 and later.
    fn tagged(section: &mut Section) -> Result<Header, Damage> {
        section.expect(b"<stata_dta><header><release>")?;
        let release = match section.take(3)? {
            b"117" => 117,
            b"118" => 118,
            b"119" => 119,
            _ => return Err(Damage("its release of the format is not known: 113 to 119 are")),
        };
        section.expect(b"</release><byteorder>")?;
        let order = match section.take(3)? {
            b"MSF" => Order::BigEndian,
            b"LSF" => Order::LittleEndian,
            _ => return Err(Damage("its order of bytes is not stated")),
        };
        section.expect(b"</byteorder><K>")?;
        let count = order.unsigned(section.take(if release == 119 { 4 } else { 2 })?);
        section.expect(b"</K><N>")?;
        let rows = order.unsigned(section.take(if release == 117 { 4 } else { 8 })?);
        section.expect(b"</N><label>")?;
        let length = order.unsigned(section.take(if release == 117 { 1 } else { 2 })?);
        section.skip(length)?;
        section.expect(b"</label><timestamp>")?;
        let length = order.unsigned(section.take(1)?);
        section.skip(length)?;
        section.expect(b"</timestamp></header><map>")?;
        let map: Vec<u64> = section.take(14 * 8)?.chunks_exact(8).map(|place| order.unsigned(place)).collect();
        let begin = |section: &mut Section, index: usize, mark: &'static [u8]| {
            section.go_to(map[index])?;
            section.expect(mark)
        };
        let [name, format, _] = widths(release);
        begin(section, 2, b"<variable_types>")?;
        let types = codes(section, order, count, 2)?;
        begin(section, 3, b"<varnames>")?;
        let names = texts(section, release, count, name)?;
        begin(section, 5, b"<formats>")?;
        let formats = texts(section, release, count, format)?;
        begin(section, 6, b"<value_label_names>")?;
        let labels = texts(section, release, count, name)?;
        begin(section, 9, b"<data>")?;
        let variables = variables(release, types, names, formats, labels)?;
        let (data, long_texts, value_labels) = (section.at(), Some(map[10]), map[11]);
        Ok(Header { release, order, rows, variables, data, long_texts, value_labels })
    }

    /// Stata 8 to 12.
    fn plain(section: &mut Section, release: u8) -> Result<Header, Damage> {
        let order = match section.take(4)?[1] {
            1 => Order::BigEndian,
            2 => Order::LittleEndian,
            _ => return Err(Damage("its order of bytes is not stated")),
        };
        let count = order.unsigned(section.take(2)?);
        let rows = order.unsigned(section.take(4)?);
        // The label of the data and when it was written.
        section.skip(81 + 18)?;
        let [name, format, label] = widths(release);
        let types = codes(section, order, count, 1)?;
        let names = texts(section, release, count, name)?;
        section.skip(2 * (count + 1))?;
        let formats = texts(section, release, count, format)?;
        let labels = texts(section, release, count, name)?;
        section.skip(count * label as u64)?;
        // Notes, each with its length; one without length is the last.
        loop {
            let kind = section.take(1)?[0];
            let length = order.unsigned(section.take(4)?);
            if kind == 0 && length == 0 {
                break;
            }
            section.skip(length)?;
        }
        let variables = variables(release, types, names, formats, labels)?;
        let data = section.at();
        let width: u64 = variables.iter().map(|variable| variable.kind.width() as u64).sum();
        let value_labels = rows.checked_mul(width).and_then(|bytes| data.checked_add(bytes));
        let value_labels = value_labels.ok_or(Damage("it states an impossible number of rows"))?;
        Ok(Header { release, order, rows, variables, data, long_texts: None, value_labels })
    }

    /// A text up to its end mark.
    pub(super) fn text(&self, bytes: &[u8]) -> Result<String, Damage> {
        text(bytes, self.release)
    }

    /// Which long text a cell has: by variable and row.
    pub(super) fn long_text_at(&self, bytes: &[u8]) -> (u64, u64) {
        let variable_bytes = match self.release {
            117 => 4,
            118 => 2,
            _ => 3,
        };
        let (variable, row) = bytes.split_at(variable_bytes);
        (self.order.unsigned(variable), self.order.unsigned(row))
    }

    /// The bytes that a name takes.
    pub(super) fn name_width(&self) -> usize {
        widths(self.release)[0]
    }
}

fn variables(
    release: u8,
    types: Vec<u64>,
    names: Vec<String>,
    formats: Vec<String>,
    labels: Vec<String>,
) -> Result<Vec<Variable>, Damage> {
    let rest = names.into_iter().zip(formats).zip(labels);
    let of = |(code, ((name, format), labels))| Ok(Variable { name, kind: Type::of(code, release)?, format, labels });
    types.into_iter().zip(rest).map(of).collect()
}

fn codes(section: &mut Section, order: Order, count: u64, width: usize) -> Result<Vec<u64>, Damage> {
    let bytes = section.take(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(width))?;
    Ok(bytes.chunks_exact(width).map(|code| order.unsigned(code)).collect())
}

fn texts(section: &mut Section, release: u8, count: u64, width: usize) -> Result<Vec<String>, Damage> {
    let bytes = section.take(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(width))?;
    bytes.chunks_exact(width).map(|bytes| text(bytes, release)).collect()
}

/// From release 118 on texts are UTF-8. Before, they are as the computer had them, which mostly was
/// Windows-1252.
fn text(bytes: &[u8], release: u8) -> Result<String, Damage> {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) if release < 118 => Ok(bytes.iter().map(|byte| windows_1252(*byte)).collect()),
        Err(_) => Err(Damage("a text is not UTF-8")),
    }
}

fn windows_1252(byte: u8) -> char {
    // What Latin-1 has no characters for; five are not assigned.
    const FROM_80: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    match byte {
        0x80..=0x9f => FROM_80.chars().nth(usize::from(byte - 0x80)).unwrap_or(char::from(byte)),
        _ => char::from(byte),
    }
}
