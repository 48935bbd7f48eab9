//! Errors of the TOML syntax, with what people usually meant.

use toml_edit::TomlError;

use crate::position::quoted;
use crate::reader::Reader;
use crate::tree::At;

const UNQUOTED: &str = "string values must be quoted";

pub(crate) fn refuse(reader: &mut Reader<'_>, error: &TomlError) {
    let span = error.span().unwrap_or(0..0);
    let written = reader.slice(&span);
    let (problem, hint) = match error.message() {
        message if message.starts_with("duplicate key") => {
            let hint = match written {
                "rule" => "rules begin with two brackets, every one of them: `[[rule]]`",
                _ => "a key may appear once in its table, and a table once in the file: keep one of the two",
            };
            (format!("{} is given twice", quoted(written)), hint)
        }
        message => {
            // The parser takes nothing for a text whose quotes were forgotten.
            let message = match message {
                _ if message.starts_with(UNQUOTED) && written.trim().is_empty() => "missing value",
                _ if message.starts_with(UNQUOTED) => UNQUOTED,
                other => other,
            };
            (format!("not valid TOML: {message}"), hint(message))
        }
    };
    reader.refuse_span(span, &At::nowhere(), problem, hint);
}

fn hint(message: &str) -> &'static str {
    const HINTS: &[(&str, &str)] = &[
        (UNQUOTED, "put texts in double quotes, as in `role = \"quasi\"`"),
        ("missing assignment", "a key is followed by `=` and its value, as in `suppression = 0.02`"),
        (
            "key with no value",
            "a key is followed by `=` and its value; a name with blanks is written in quotes, as in `\"date of birth\"`",
        ),
        ("missing value", "a key is followed by `=` and its value, as in `suppression = 0.02`"),
        ("unclosed array", "close the list with `]`"),
        ("unclosed inline table", "close the table with `}`"),
        ("unclosed table", "close the table's name with `]`"),
        (
            "missing comma between key-value pairs",
            "separate with commas, as in `{ role = \"quasi\", type = \"integer\" }`, or close the table before with `}`",
        ),
        ("missing comma between array", "separate with commas, as in `[5, 10]`, or close the list before with `]`"),
        ("extra comma", "remove the comma"),
        ("invalid basic string", "close the text with a double quote; a backslash is written `\\\\`"),
        ("invalid literal string", "close the text with a single quote"),
        ("escape", "a backslash is written `\\\\`, or put the text in single quotes"),
        ("unquoted key", "names with blanks, dots or accents are written in double quotes, as in `\"date of birth\"`"),
        ("leading zero", "write numbers without leading zeros, and texts such as codes in double quotes"),
        ("integer number overflowed", "whole numbers reach up to 9223372036854775807"),
        ("floating-point number overflowed", "the number is too large"),
        ("recursion", "nothing here is nested this deep"),
    ];
    let known = HINTS.iter().find(|(part, _)| message.contains(part));
    known.map_or("see https://toml.io for how TOML is written", |(_, hint)| hint)
}
