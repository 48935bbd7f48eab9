//! Binary `COPY`: rows as the server sends and takes them.
//!
//! A signature, flags and the length of an extension; then for every row the number of its fields
//! and each field after its length, -1 for NULL; then -1 instead of a number of fields (PostgreSQL
//! documentation, COPY, Binary Format). All numbers have their highest byte first.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use hedgerow_table::date::moment;
use hedgerow_table::read::Cell;
use hedgerow_table::{Kind, TableError};

use super::cell_type::PostgresType;

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// A longer field is refused.
const FIELD_BYTES_MAX: usize = 16 << 20;
/// Days from 1970-01-01 to 2000-01-01, from which PostgreSQL counts.
const EPOCH_DAYS: i32 = 10_957;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Why reading rows ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    Stream(io::Error),
    /// The stream is not what the server promises.
    Malformed,
    /// A value that has no place in a table, and its column.
    Cell(usize, &'static str),
    Table(TableError),
}

impl Stop {
    pub(crate) fn explain(self, place: &str, rows: usize, names: &[&str]) -> TableError {
        match self {
            Stop::Stream(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>()) {
                Some(error) => super::failure(place, error),
                None => TableError::Io { path: PathBuf::from(place), source: error },
            },
            Stop::Malformed => {
                let problem = io::Error::new(io::ErrorKind::InvalidData, "the server sent rows in an unknown form");
                TableError::Io { path: PathBuf::from(place), source: problem }
            }
            Stop::Cell(column, problem) => {
                let place = format!("{place}: row {}, column {}", rows + 1, names.get(column).unwrap_or(&""));
                TableError::input(place, problem, "store a value that is unknown as NULL, or leave it out by a query")
            }
            Stop::Table(error) => error,
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        if error.kind() == io::ErrorKind::UnexpectedEof { Stop::Malformed } else { Stop::Stream(error) }
    }
}

/// The rows of a `COPY … TO STDOUT`.
pub(crate) struct CopyRows<R> {
    stream: R,
    types: Vec<PostgresType>,
    begun: bool,
    /// Received bytes that are not used yet, from `start` on.
    received: Vec<u8>,
    start: usize,
    bytes: u64,
    /// Texts that were made from other fields, one after the other.
    made: String,
    decoded: Vec<Decoded>,
}

/// A cell whose text lies in one of the buffers.
#[derive(Debug, Clone, Copy)]
enum Decoded {
    Missing,
    Integer(i64),
    Float(f64),
    Date(i32),
    Received(usize, usize),
    Made(usize, usize),
    Truth(bool),
}

/// Cells of a row that need no room of their own on the heap.
const FEW_CELLS: usize = 24;

impl<R: BufRead> CopyRows<R> {
    pub(crate) fn new(stream: R, types: Vec<PostgresType>) -> CopyRows<R> {
        let decoded = Vec::with_capacity(types.len());
        CopyRows { stream, types, begun: false, received: Vec::new(), start: 0, bytes: 0, made: String::new(), decoded }
    }

    /// Bytes read since the last call.
    pub(crate) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Hands the next row on; `false` when there is none.
    pub(crate) fn next(&mut self, take: impl FnOnce(&[Cell<'_>]) -> Result<(), TableError>) -> Result<bool, Stop> {
        if !self.begun {
            self.begin()?;
        }
        let count = i16::from_be_bytes(self.array(0)?);
        if count == -1 {
            self.used(2);
            // Only after the end does the server say whether all went well.
            let is_end = self.start == self.received.len() && self.stream.fill_buf()?.is_empty();
            return if is_end { Ok(false) } else { Err(Stop::Malformed) };
        }
        if usize::try_from(count) != Ok(self.types.len()) {
            return Err(Stop::Malformed);
        }
        self.made.clear();
        self.decoded.clear();
        let mut length = 2;
        for column in 0..self.types.len() {
            let (cell, field) = self.field(column, length)?;
            self.decoded.push(cell);
            length += field;
        }
        let (row, made) = (&self.received[self.start..self.start + length], &self.made);
        let cell = |decoded: &Decoded| match *decoded {
            Decoded::Missing => Cell::Missing,
            Decoded::Integer(value) => Cell::Integer(value),
            Decoded::Float(value) => Cell::Float(value),
            Decoded::Date(day) => Cell::Date(day),
            Decoded::Truth(truth) => Cell::Text(if truth { "true" } else { "false" }),
            Decoded::Made(from, to) => Cell::Text(&made[from..to]),
            Decoded::Received(from, to) => Cell::Bytes(&row[from..to]),
        };
        let cells = self.decoded.iter().map(cell);
        if self.types.len() <= FEW_CELLS {
            let mut few = [Cell::Missing; FEW_CELLS];
            for (place, cell) in few.iter_mut().zip(cells) {
                *place = cell;
            }
            take(&few[..self.types.len()]).map_err(Stop::Table)?;
        } else {
            take(&cells.collect::<Vec<_>>()).map_err(Stop::Table)?;
        }
        self.used(length);
        Ok(true)
    }

    fn begin(&mut self) -> Result<(), Stop> {
        if self.array::<11>(0)? != *SIGNATURE {
            return Err(Stop::Malformed);
        }
        let _flags: [u8; 4] = self.array(11)?;
        let extension = u32::from_be_bytes(self.array(15)?) as usize;
        if extension > FIELD_BYTES_MAX {
            return Err(Stop::Malformed);
        }
        self.receive(19 + extension)?;
        self.used(19 + extension);
        self.begun = true;
        Ok(())
    }

    fn used(&mut self, bytes: usize) {
        self.start += bytes;
        self.bytes += bytes as u64;
    }

    /// Waits until this number of bytes has arrived.
    fn receive(&mut self, length: usize) -> Result<(), Stop> {
        while self.received.len() - self.start < length {
            self.received.drain(..self.start);
            self.start = 0;
            let more = self.stream.fill_buf()?;
            if more.is_empty() {
                return Err(Stop::Malformed);
            }
            let bytes = more.len();
            self.received.extend_from_slice(more);
            self.stream.consume(bytes);
        }
        Ok(())
    }

    /// The bytes that lie `at` bytes after the first that is not used up.
    fn array<const N: usize>(&mut self, at: usize) -> Result<[u8; N], Stop> {
        self.receive(at + N)?;
        exact(&self.received[self.start + at..self.start + at + N])
    }

    /// The field that lies `at` bytes after the start of its row, and how many bytes it takes.
    fn field(&mut self, column: usize, at: usize) -> Result<(Decoded, usize), Stop> {
        let length = i32::from_be_bytes(self.array(at)?);
        if length == -1 {
            return Ok((Decoded::Missing, 4));
        }
        let length = usize::try_from(length).map_err(|_| Stop::Malformed)?;
        if length > FIELD_BYTES_MAX {
            return Err(Stop::Cell(column, "a value of over 16 MiB"));
        }
        let (from, to) = (at + 4, at + 4 + length);
        self.receive(to)?;
        let bytes = &self.received[self.start + from..self.start + to];
        let decoded = match self.types[column] {
            PostgresType::Boolean => Decoded::Truth(exact::<1>(bytes)?[0] != 0),
            PostgresType::Int2 => Decoded::Integer(i64::from(i16::from_be_bytes(exact(bytes)?))),
            PostgresType::Int4 => Decoded::Integer(i64::from(i32::from_be_bytes(exact(bytes)?))),
            PostgresType::Int8 => Decoded::Integer(i64::from_be_bytes(exact(bytes)?)),
            PostgresType::Oid => Decoded::Integer(i64::from(u32::from_be_bytes(exact(bytes)?))),
            PostgresType::Float8 => Decoded::Float(f64::from_be_bytes(exact(bytes)?)),
            PostgresType::Float4 => {
                // The shortest text of the narrow number is what people see; its bits say more
                // digits than it has.
                let narrow = f32::from_be_bytes(exact(bytes)?);
                Decoded::Float(narrow.to_string().parse().map_err(|_| Stop::Malformed)?)
            }
            PostgresType::Date => match i32::from_be_bytes(exact(bytes)?) {
                i32::MAX | i32::MIN => return Err(Stop::Cell(column, "a date that is infinity")),
                day => Decoded::Date(day.checked_add(EPOCH_DAYS).ok_or(Stop::Malformed)?),
            },
            PostgresType::Timestamp { zoned } => {
                let micros = match i64::from_be_bytes(exact(bytes)?) {
                    i64::MAX | i64::MIN => return Err(Stop::Cell(column, "a timestamp that is infinity")),
                    micros => micros,
                };
                let day = micros.div_euclid(MICROS_PER_DAY) + i64::from(EPOCH_DAYS);
                let text = moment(day, micros.rem_euclid(MICROS_PER_DAY) * 1000, 6, zoned).ok_or(Stop::Malformed)?;
                self.made(&text)
            }
            PostgresType::Numeric(kind) => {
                let text = numeric(bytes).ok_or(Stop::Malformed)?;
                let text = text.ok_or(Stop::Cell(column, "a numeric that is not a number (NaN or infinity)"))?;
                match kind {
                    Some(Kind::Integer) => text.parse().map_or_else(|_| self.made(&text), Decoded::Integer),
                    Some(Kind::Float) => text.parse().map_or_else(|_| self.made(&text), Decoded::Float),
                    _ => self.made(&text),
                }
            }
            PostgresType::Uuid => {
                let hex: String = exact::<16>(bytes)?.iter().map(|byte| format!("{byte:02x}")).collect();
                let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
                self.made(&parts.join("-"))
            }
            PostgresType::Text => Decoded::Received(from, to),
            PostgresType::Padded => {
                let padding = bytes.iter().rev().take_while(|byte| **byte == b' ').count();
                Decoded::Received(from, to - padding)
            }
        };
        Ok((decoded, 4 + length))
    }

    fn made(&mut self, text: &str) -> Decoded {
        let start = self.made.len();
        self.made.push_str(text);
        Decoded::Made(start, self.made.len())
    }
}

fn exact<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Stop> {
    bytes.try_into().map_err(|_| Stop::Malformed)
}

/// A decimal number, without zeros at the end of its fraction: with them, one number would have
/// several texts. `Some(None)` for NaN and infinity, `None` for malformed bytes.
fn numeric(bytes: &[u8]) -> Option<Option<String>> {
    let word = |index: usize| Some(u16::from_be_bytes(bytes.get(index * 2..index * 2 + 2)?.try_into().ok()?));
    let (count, weight, sign) = (usize::from(word(0)?), word(1)? as i16, word(2)?);
    let _scale = word(3)?;
    let negative = match sign {
        0x0000 => false,
        0x4000 => true,
        _ => return Some(None),
    };
    if bytes.len() != 8 + 2 * count {
        return None;
    }
    // Groups of four digits; the first one counts 10000 to the power of the weight.
    let group = |position: i32| {
        let index = i32::from(weight) - position;
        match usize::try_from(index) {
            Ok(index) if index < count => word(4 + index).filter(|group| *group < 10_000),
            _ => Some(0),
        }
    };
    let mut whole = String::new();
    for position in (0..=i32::from(weight).max(0)).rev() {
        whole.push_str(&format!("{:04}", group(position)?));
    }
    let mut fraction = String::new();
    let last = i32::from(weight) - count as i32 + 1;
    for position in (last.min(0)..0).rev() {
        fraction.push_str(&format!("{:04}", group(position)?));
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let fraction = fraction.trim_end_matches('0');
    let minus = if negative { "-" } else { "" };
    Some(Some(if fraction.is_empty() { format!("{minus}{whole}") } else { format!("{minus}{whole}.{fraction}") }))
}

/// Writes rows for a `COPY … FROM STDIN`.
pub(crate) struct RowWriter<W> {
    out: W,
}

impl<W: Write> RowWriter<W> {
    pub(crate) fn new(mut out: W) -> io::Result<RowWriter<W>> {
        out.write_all(SIGNATURE)?;
        out.write_all(&[0; 8])?;
        Ok(RowWriter { out })
    }

    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.out.write_all(&(cells.len() as i16).to_be_bytes())?;
        for cell in cells {
            match cell {
                Cell::Missing => self.out.write_all(&(-1i32).to_be_bytes())?,
                Cell::Integer(value) => self.field(&value.to_be_bytes())?,
                Cell::Float(value) => self.field(&value.to_be_bytes())?,
                Cell::Date(day) => self.field(&(day.saturating_sub(EPOCH_DAYS)).to_be_bytes())?,
                Cell::Text(text) => self.field(text.as_bytes())?,
                Cell::Bytes(text) => self.field(text)?,
            }
        }
        Ok(())
    }

    fn field(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = i32::try_from(bytes.len()).map_err(|_| io::Error::other("a value of over 2 GiB"))?;
        self.out.write_all(&length.to_be_bytes())?;
        self.out.write_all(bytes)
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&(-1i16).to_be_bytes())?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(weight: i16, sign: u16, scale: u16, groups: &[u16]) -> Vec<u8> {
        let words = [groups.len() as u16, weight as u16, sign, scale];
        words.iter().chain(groups).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_keep_every_digit() {
        for (weight, sign, scale, groups, expected) in [
            (0, 0, 0, vec![], "0"),
            (0, 0, 2, vec![1, 5000], "1.5"),
            (0, 0x4000, 2, vec![12, 3400], "-12.34"),
            (1, 0, 0, vec![1], "10000"),
            (1, 0, 0, vec![12, 345], "120345"),
            (-1, 0, 4, vec![1], "0.0001"),
            (-2, 0, 8, vec![7], "0.00000007"),
            (4, 0, 1, vec![1, 0, 0, 0, 0, 1000], "10000000000000000.1"),
        ] {
            assert_eq!(numeric(&encoded(weight, sign, scale, &groups)), Some(Some(expected.to_owned())), "{expected}");
        }
        assert_eq!(numeric(&encoded(0, 0xc000, 0, &[])), Some(None), "NaN");
        assert_eq!(numeric(&encoded(0, 0, 0, &[10_000])), None);
        assert_eq!(numeric(&[0, 1]), None);
    }

    fn read(bytes: &[u8], types: &[PostgresType]) -> Result<Vec<String>, Stop> {
        let mut rows = CopyRows::new(bytes, types.to_vec());
        let mut found = Vec::new();
        while rows.next(|cells| {
            found.push(format!("{cells:?}"));
            Ok(())
        })? {}
        Ok(found)
    }

    #[test]
    fn written_rows_read_back_and_truncated_ones_do_not() {
        let mut writer = RowWriter::new(Vec::new()).unwrap();
        writer.row(&[Cell::Integer(-7), Cell::Text("é"), Cell::Date(0)]).unwrap();
        writer.row(&[Cell::Missing, Cell::Missing, Cell::Date(-1)]).unwrap();
        let bytes = writer.finish().unwrap();
        let types = [PostgresType::Int8, PostgresType::Text, PostgresType::Date];
        let expected = ["[Integer(-7), Bytes([195, 169]), Date(0)]", "[Missing, Missing, Date(-1)]"];
        assert_eq!(read(&bytes, &types).unwrap(), expected);
        for length in 0..bytes.len() {
            assert!(matches!(read(&bytes[..length], &types), Err(Stop::Malformed)), "{length}");
        }
        let longer = [bytes.as_slice(), b"x"].concat();
        assert!(matches!(read(&longer, &types), Err(Stop::Malformed)));
        assert!(matches!(read(&bytes, &types[..2]), Err(Stop::Malformed)));
    }

    #[test]
    fn cells_that_no_table_holds_are_refused() {
        let one = |field: &[u8], cells: PostgresType| {
            let mut bytes = [SIGNATURE.as_slice(), &[0; 8], &1i16.to_be_bytes()].concat();
            bytes.extend((field.len() as i32).to_be_bytes());
            bytes.extend(field);
            bytes.extend((-1i16).to_be_bytes());
            read(&bytes, &[cells])
        };
        assert_eq!(one(b"ab  ", PostgresType::Padded).unwrap(), ["[Bytes([97, 98])]"]);
        assert_eq!(one(&[1], PostgresType::Boolean).unwrap(), ["[Text(\"true\")]"]);
        assert_eq!(one(&0.1f32.to_be_bytes(), PostgresType::Float4).unwrap(), ["[Float(0.1)]"]);
        let moment = PostgresType::Timestamp { zoned: true };
        assert_eq!(one(&(-1i64).to_be_bytes(), moment).unwrap(), ["[Text(\"1999-12-31T23:59:59.999999Z\")]"]);
        assert!(matches!(one(&i32::MAX.to_be_bytes(), PostgresType::Date), Err(Stop::Cell(0, _))));
        assert!(matches!(one(&[0, 1], PostgresType::Int4), Err(Stop::Malformed)));
    }
}
