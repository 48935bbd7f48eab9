//! From byte offsets in a file's text to what a person sees: line, column, and the line with carets
//! below it.

use std::fmt;
use std::ops::Range;

use crate::{cluster, database};

/// Where in the file, both counted from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// One line of the file and the part of it that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    line: usize,
    shown: String,
    caret_from: usize,
    caret_count: usize,
}

/// Lines longer than this are shown around the carets only.
const SHOWN_CHARS_MAX: usize = 110;
const SHOWN_CHARS_BEFORE: usize = 40;

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = number.len().max(2);
        writeln!(f, "{:margin$} |", "")?;
        writeln!(f, "{number:>margin$} | {}", self.shown)?;
        writeln!(f, "{:margin$} | {:from$}{:^<count$}", "", "", "^", from = self.caret_from, count = self.caret_count)
    }
}

/// The text with the beginning of every line at hand.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// Where the last thing written ends; only blanks follow.
    written: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts, written: text.trim_end().len() }
    }

    /// The text as it was written.
    pub(crate) fn slice(&self, span: &Range<usize>) -> &'a str {
        self.text.get(span.clone()).unwrap_or("")
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = self.visible(offset);
        let (line, start) = self.line_of(offset);
        Position { line: line + 1, column: self.text[start..offset].chars().count() + 1 }
    }

    pub(crate) fn excerpt(&self, span: &Range<usize>) -> Excerpt {
        let from = self.visible(span.start);
        let (line, start) = self.line_of(from);
        let whole = self.text[start..].split('\n').next().unwrap_or("").trim_end_matches('\r');
        // As long as before, so that the carets stay where they are.
        let hidden = cluster::hidden(&database::hidden(whole));
        let end = self.boundary(span.end).clamp(from, (start + whole.len()).max(from));
        let before = self.text[start..from].chars().count();
        let count = self.text[from..end].chars().count().max(1);

        let length = whole.chars().count();
        let skipped = if length > SHOWN_CHARS_MAX { before.saturating_sub(SHOWN_CHARS_BEFORE) } else { 0 };
        let mut shown = String::new();
        if skipped > 0 {
            shown.push('…');
        }
        shown.extend(hidden.chars().skip(skipped).take(SHOWN_CHARS_MAX).map(printable));
        if length > skipped + SHOWN_CHARS_MAX {
            shown.push('…');
        }
        let caret_from = before - skipped + usize::from(skipped > 0);
        let caret_count = count.min((skipped + SHOWN_CHARS_MAX).saturating_sub(before).max(1));
        Excerpt { line: line + 1, shown: shown.trim_end().to_owned(), caret_from, caret_count }
    }

    /// The line number from 0 and where the line begins.
    fn line_of(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        (line, self.starts[line])
    }

    /// An error at the very end of the file is shown behind the last thing written there, not on an
    /// empty line.
    fn visible(&self, offset: usize) -> usize {
        self.boundary(offset).min(self.written)
    }

    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// Tabs would push the carets aside, and control characters could steer a terminal.
fn printable(character: char) -> char {
    match character {
        '\t' => ' ',
        other if other.is_control() => '\u{fffd}',
        other => other,
    }
}

/// A text of the user's between backticks: cut when long, control characters escaped.
pub fn quoted(text: &str) -> String {
    const QUOTED_CHARS_MAX: usize = 60;
    let mut shown = String::from("`");
    for character in text.chars().take(QUOTED_CHARS_MAX) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("a\né = 1\r\nlast");
        assert_eq!(lines.position(0), Position { line: 1, column: 1 });
        assert_eq!(lines.position(5), Position { line: 2, column: 3 }, "é takes two bytes");
        assert_eq!(lines.position(3), Position { line: 2, column: 1 }, "inside é is at é");
        assert_eq!(lines.position(999), Position { line: 3, column: 5 });
    }

    #[test]
    fn the_end_of_the_file_is_behind_the_last_thing_written() {
        assert_eq!(Lines::new("a = [\n\n\n").position(8), Position { line: 1, column: 6 });
        assert_eq!(Lines::new("").position(0), Position { line: 1, column: 1 });
        assert_eq!(Lines::new("\n\n").position(2), Position { line: 1, column: 1 });
    }

    #[test]
    fn carets_lie_under_the_span() {
        let text = "x = 1\n\tname = \"va\u{1b}lue\" # why\r\n";
        let from = text.find('"').unwrap();
        let excerpt = Lines::new(text).excerpt(&(from..from + 8)).to_string();
        assert_eq!(excerpt, "   |\n 2 |  name = \"va\u{fffd}lue\" # why\n   |         ^^^^^^^^\n");
    }

    #[test]
    fn a_span_over_several_lines_shows_its_first() {
        let excerpt = Lines::new("a = [1,\n2]\n").excerpt(&(4..10)).to_string();
        assert_eq!(excerpt, "   |\n 1 | a = [1,\n   |     ^^^\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_carets() {
        let text = format!("{}HERE{}", "é".repeat(5000), "z".repeat(5000));
        let excerpt = Lines::new(&text).excerpt(&(10_000..10_004)).to_string();
        let rows: Vec<Vec<char>> = excerpt.lines().map(|row| row.chars().collect()).collect();
        assert!(rows.iter().all(|row| row.len() < 130));
        let under: String =
            rows[1].iter().zip(&rows[2]).filter(|(_, caret)| **caret == '^').map(|(shown, _)| shown).collect();
        assert_eq!(under, "HERE");
    }

    #[test]
    fn quoting_cuts_and_escapes() {
        assert_eq!(quoted("a\u{1b}[1m"), "`a\\u{1b}[1m`");
        assert_eq!(quoted(&"é".repeat(100)).chars().count(), 63);
    }
}
