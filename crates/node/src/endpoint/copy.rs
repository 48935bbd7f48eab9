//! COPY … TO STDOUT: the rows of an answer as text, CSV, or in binary.

use sqlparser::tokenizer::Token;

use super::kind::{SqlType, SqlValue};
use super::refusal::{SYNTAX, StatementRefusal};
use super::tokens::{value, word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Text,
    Csv,
    Binary,
}

/// How rows are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyFormat {
    pub(super) style: Style,
    header: bool,
    delimiter: u8,
    null: String,
}

impl CopyFormat {
    /// The options after STDOUT.
    pub(super) fn read(tokens: &[Token]) -> Result<CopyFormat, StatementRefusal> {
        let mut format = CopyFormat { style: Style::Text, header: false, delimiter: 0, null: String::new() };
        let mut null = None;
        let kept = |token: &&Token| !matches!(token, Token::LParen | Token::RParen | Token::Comma | Token::Eq);
        let tokens: Vec<&Token> = tokens.iter().filter(kept).collect();
        let mut at = 0;
        while let Some(option) = tokens.get(at) {
            at += 1;
            let name = word(Some(option));
            let mut next = || {
                at += 1;
                tokens.get(at - 1).and_then(|token| value(token)).unwrap_or_default()
            };
            match name.as_str() {
                "WITH" | "AS" => {}
                "CSV" => format.style = Style::Csv,
                "BINARY" => format.style = Style::Binary,
                "FORMAT" => {
                    format.style = match next().to_lowercase().as_str() {
                        "text" => Style::Text,
                        "csv" => Style::Csv,
                        "binary" => Style::Binary,
                        _ => return Err(StatementRefusal::unsupported("this format of COPY", "text, csv or binary")),
                    };
                }
                "HEADER" => {
                    let given = tokens.get(at).and_then(|token| value(token)).unwrap_or_default().to_lowercase();
                    let stated = matches!(given.as_str(), "on" | "true" | "1" | "off" | "false" | "0");
                    format.header = !matches!(given.as_str(), "off" | "false" | "0");
                    at += usize::from(stated);
                }
                "DELIMITER" | "DELIMITERS" => match next().as_bytes() {
                    [one] if !matches!(one, b'"' | b'\\' | b'\n' | b'\r') => format.delimiter = *one,
                    _ => return Err(StatementRefusal::new(SYNTAX, "DELIMITER takes one character", "DELIMITER ','")),
                },
                "NULL" => null = Some(next()),
                "ENCODING" => match next().to_lowercase().as_str() {
                    "utf8" | "utf-8" | "unicode" => {}
                    _ => return Err(StatementRefusal::unsupported("this ENCODING", "everything is sent in UTF8")),
                },
                _ => {
                    return Err(StatementRefusal::unsupported(
                        "this option of COPY",
                        "FORMAT, HEADER, DELIMITER, NULL",
                    ));
                }
            }
        }
        let csv = format.style == Style::Csv;
        if format.delimiter == 0 {
            format.delimiter = if csv { b',' } else { b'\t' };
        }
        format.null = null.unwrap_or_else(|| if csv { String::new() } else { "\\N".to_owned() });
        Ok(format)
    }

    /// The header before the first row.
    pub(super) fn begin(&self, names: &[&str]) -> Vec<u8> {
        match self.style {
            Style::Binary => b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec(),
            _ if self.header => self.line(names.iter().map(|name| Some((*name).to_owned()))),
            _ => Vec::new(),
        }
    }

    pub(super) fn row(&self, row: &[SqlValue], kinds: &[SqlType]) -> Result<Vec<u8>, StatementRefusal> {
        if self.style != Style::Binary {
            return Ok(self.line(row.iter().zip(kinds).map(|(value, kind)| value.text(*kind))));
        }
        let mut bytes = (row.len() as u16).to_be_bytes().to_vec();
        for (value, kind) in row.iter().zip(kinds) {
            super::wire::put_value(&mut bytes, value.binary(*kind)?.as_deref());
        }
        Ok(bytes)
    }

    pub(super) fn end(&self) -> &'static [u8] {
        if self.style == Style::Binary { &[0xff, 0xff] } else { &[] }
    }

    fn line(&self, cells: impl Iterator<Item = Option<String>>) -> Vec<u8> {
        let mut line = String::new();
        for (place, cell) in cells.enumerate() {
            if place > 0 {
                line.push(char::from(self.delimiter));
            }
            match cell {
                None => line.push_str(&self.null),
                Some(text) if self.style == Style::Csv => self.put_csv(&mut line, &text),
                Some(text) => self.put_text(&mut line, &text),
            }
        }
        line.push('\n');
        line.into_bytes()
    }

    /// In quotes where a reader would take it for something else.
    fn put_csv(&self, line: &mut String, text: &str) {
        let odd = |character: char| matches!(character, '"' | '\n' | '\r') || character == char::from(self.delimiter);
        if text == self.null || text == "\\." || text.contains(odd) || text.starts_with(' ') {
            line.push('"');
            line.push_str(&text.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(text);
        }
    }

    fn put_text(&self, line: &mut String, text: &str) {
        for character in text.chars() {
            match character {
                '\\' => line.push_str("\\\\"),
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\t' => line.push_str("\\t"),
                other if other == char::from(self.delimiter) => {
                    line.push('\\');
                    line.push(other);
                }
                other => line.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::statements;
    use super::*;

    fn format(options: &str) -> Result<CopyFormat, StatementRefusal> {
        CopyFormat::read(&statements(options)?.into_iter().next().unwrap_or_default())
    }

    #[test]
    fn rows_are_written_so_that_they_are_read_back() {
        let kinds = [SqlType::Text, SqlType::Text, SqlType::Float8];
        let row = [SqlValue::Text("a\tb\\\n".to_owned()), SqlValue::Null, SqlValue::Float(0.5)];
        let written = |format: &CopyFormat| String::from_utf8(format.row(&row, &kinds).unwrap()).unwrap();
        assert_eq!(written(&format("").unwrap()), "a\\tb\\\\\\n\t\\N\t0.5\n");
        let csv = format("WITH (FORMAT csv, HEADER true, DELIMITER ';')").unwrap();
        assert_eq!(written(&csv), "\"a\tb\\\n\";;0.5\n");
        assert_eq!(csv.begin(&["x", "a;b"]), b"x;\"a;b\"\n");
        assert_eq!(written(&format("CSV NULL 'none'").unwrap()), "\"a\tb\\\n\",none,0.5\n");
        assert_eq!(
            format("csv header").unwrap().row(&[SqlValue::Text(String::new())], &kinds[..1]).unwrap(),
            b"\"\"\n"
        );
        let binary = format("(FORMAT binary)").unwrap();
        let bytes = binary.row(&[SqlValue::Int(7), SqlValue::Null], &[SqlType::Int4, SqlType::Text]).unwrap();
        assert_eq!(bytes, [0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 255, 255, 255, 255]);
        assert_eq!(binary.begin(&[]).len(), 19);
        assert!(
            format("(FORMAT xml)").is_err() && format("(FORCE_QUOTE *)").is_err() && format("DELIMITER 'ab'").is_err()
        );
    }
}
