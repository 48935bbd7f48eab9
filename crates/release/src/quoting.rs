//! How a field is written in CSV (RFC 4180): quoted when it must be, and only then.

use std::borrow::Cow;
use std::io;

/// The field as it stands in a file with commas and line feeds.
pub fn quoted(field: &str) -> Cow<'_, str> {
    let special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    // A field that begins with a byte order mark would lose it at the beginning of a file.
    if field.bytes().any(special) || field.starts_with('\u{feff}') {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

/// One record and its line feed. A single empty field is quoted, or the record would be a blank
/// line.
pub fn write_record<W: io::Write>(out: &mut W, fields: &[&str]) -> io::Result<()> {
    if let [""] = fields {
        return out.write_all(b"\"\"\n");
    }
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(quoted(field).as_bytes())?;
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::records::Records;

    #[test]
    fn a_field_is_quoted_when_it_must_be_and_only_then() {
        assert_eq!(quoted("20 to 24"), "20 to 24");
        assert_eq!(quoted(""), "");
        assert_eq!(quoted("a;b"), "a;b");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("5\" pipe"), "\"5\"\" pipe\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
        assert_eq!(quoted("\r"), "\"\r\"");
    }

    #[test]
    fn a_record_reads_back_as_it_was() {
        for fields in [vec![""], vec!["", ""], vec!["a", "b,c", "d\"e", "f\r\ng", "é", " h "], vec!["\u{feff}x"]] {
            let mut bytes = Vec::new();
            write_record(&mut bytes, &fields).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let records: Vec<_> = Records::new(&text, b',').map(|record| record.unwrap().fields).collect();
            assert_eq!(records, vec![fields]);
        }
    }
}
