//! Errors of the TOML syntax, with what people usually meant.

use toml_edit::TomlError;

use crate::position::quoted;
use crate::reader::Reader;
use crate::tree::At;

pub(crate) fn refuse(reader: &mut Reader<'_>, error: &TomlError) {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    if message.starts_with("duplicate key") {
        let key = reader.slice(&span);
        let hint = "a key may appear once in its table, and a table once in the file: keep one of the two";
        reader.refuse_span(span, &At::nowhere(), format!("{} is given twice", quoted(key)), hint);
        return;
    }
    reader.refuse_span(span, &At::nowhere(), format!("not valid TOML: {message}"), hint(message));
}

fn hint(message: &str) -> &'static str {
    const HINTS: &[(&str, &str)] = &[
        ("string values must be quoted", "put texts in double quotes, as in `role = \"quasi\"`"),
        ("missing assignment", "a key is followed by `=` and its value, as in `suppression = 0.02`"),
        ("key with no value", "a key is followed by `=` and its value, as in `suppression = 0.02`"),
        ("missing value", "a key is followed by `=` and its value, as in `suppression = 0.02`"),
        ("unclosed array", "close the list with `]`"),
        ("unclosed inline table", "close the table with `}`"),
        ("unclosed table", "close the table's name with `]`"),
        ("missing comma", "separate with commas, as in `{ role = \"quasi\", type = \"integer\" }`"),
        ("extra comma", "remove the comma"),
        ("invalid basic string", "close the text with a double quote; a backslash is written `\\\\`"),
        ("invalid literal string", "close the text with a single quote"),
        ("escape", "a backslash is written `\\\\`, or put the text in single quotes"),
        ("unquoted key", "names with blanks, dots or accents are written in double quotes, as in `\"date of birth\"`"),
        ("leading zero", "write numbers without leading zeros, and texts such as codes in double quotes"),
        ("integer number overflowed", "whole numbers reach up to 9223372036854775807"),
        ("floating-point number overflowed", "the number is too large"),
        ("recursion", "no part of a policy is nested this deep"),
    ];
    let known = HINTS.iter().find(|(part, _)| message.contains(part));
    known.map_or("see https://toml.io for how TOML is written", |(_, hint)| hint)
}
