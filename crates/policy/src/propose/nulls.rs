//! Texts that probably stand for a missing value although the reader took them as values.
//!
//! A missing text is missing in every column. A text is therefore suspected only when no column
//! speaks against it: `NA` may be Namibia, `-` may be the opposite of `+`, `none` is often an
//! answer.

use std::collections::BTreeSet;

use hedgerow_table::date::Date;
use hedgerow_table::domain::parse_float;
use hedgerow_table::{Table, Values};

/// Hardly ever anything else, in whichever column.
const KNOWN_NULLS: &[&str] = &[
    "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "Null", "NaN", "nan", "NAN", "-", "--", ".", "..",
    "#NULL!", "\\N",
];
/// Missing only where they are all that keeps a column from being numbers or dates. A single letter
/// goes with these.
const POSSIBLE_NULLS: &[&str] = &[
    "none",
    "None",
    "NONE",
    "na",
    "unknown",
    "Unknown",
    "UNKNOWN",
    "missing",
    "Missing",
    "MISSING",
    "n.a.",
    "N.A.",
    "nil",
    "k.A.",
    "not available",
    "Not available",
    "*",
    "**",
    "***",
    "x",
    "nd",
    "ND",
];
/// A column with more different texts than this is not categorical, and no text in it is taken for
/// a missing value.
const TEXTS_MAX: usize = 1_000_000;

/// Texts to count as missing, apart from the empty one, before a policy is proposed for the table.
/// In order.
pub fn suspected_nulls(table: &Table) -> Vec<String> {
    let mut suspected: BTreeSet<&str> = BTreeSet::new();
    let mut cleared: BTreeSet<&str> = BTreeSet::new();
    for column in &table.columns {
        let Values::Category(values) = column.domain.values() else { continue };
        if values.len() > TEXTS_MAX {
            continue;
        }
        let found = values.iter().map(AsRef::as_ref).filter(|text| is_certain(text) || is_possible(text));
        let found: Vec<&str> = found.collect();
        let others = if found.is_empty() { Others::Texts } else { others(values, &found) };
        for text in found {
            let verdict = match others {
                _ if is_certain(text) => !has_meaning(text, values),
                Others::ManyNumbers => true,
                Others::FewNumbers => continue,
                Others::Texts => false,
            };
            if verdict { &mut suspected } else { &mut cleared }.insert(text);
        }
    }
    suspected.difference(&cleared).map(|text| (*text).to_owned()).collect()
}

fn is_certain(text: &str) -> bool {
    KNOWN_NULLS.contains(&text)
}

fn is_possible(text: &str) -> bool {
    let letter = text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
    letter || POSSIBLE_NULLS.contains(&text)
}

/// The other texts of a column.
#[derive(Clone, Copy)]
enum Others {
    /// Numbers or dates, so that the odd one out is not a category.
    ManyNumbers,
    /// Too few to decide.
    FewNumbers,
    Texts,
}

fn others(values: &[Box<str>], odd: &[&str]) -> Others {
    let rest: Vec<&str> = values.iter().map(AsRef::as_ref).filter(|text| !odd.contains(text)).collect();
    let uncertain = odd.iter().filter(|text| !is_certain(text)).count();
    // Codes with leading zeros are numbers enough for a letter among them to be odd.
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = rest.iter().all(|text| digits(text) || parse_float(text).is_some());
    let dates = rest.iter().all(|text| Date::parse_iso(text).is_some());
    match rest.len() {
        _ if uncertain > 1 || !(numbers || dates) => Others::Texts,
        0..3 => Others::FewNumbers,
        _ => Others::ManyNumbers,
    }
}

/// Whether the column gives the text a meaning of its own.
fn has_meaning(text: &str, values: &[Box<str>]) -> bool {
    let others = || values.iter().map(AsRef::as_ref).filter(move |other: &&str| *other != text);
    match text {
        // Namibia among the countries.
        "NA" => {
            others().count() >= 3
                && others().all(|other| other.len() == 2 && other.bytes().all(|b| b.is_ascii_uppercase()))
        }
        "-" | "--" => others().any(|other| other.starts_with('+')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspected(columns: &[&[&str]]) -> Vec<String> {
        let header: Vec<String> = (0..columns.len()).map(|index| format!("c{index}")).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let rows = (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect::<Vec<_>>());
        suspected_nulls(&Table::from_texts(&header, &rows.collect::<Vec<_>>()))
    }

    #[test]
    fn texts_for_missing_are_seen_in_numbers_dates_and_categories() {
        assert_eq!(suspected(&[&["1", "2", "?", "NA"]]), ["?", "NA"]);
        assert_eq!(suspected(&[&["2020-01-01", "2020-01-02", "2020-01-03", "none", "."]]), [".", "none"]);
        assert_eq!(suspected(&[&["red", "green", "?", "blue"]]), ["?"]);
        assert_eq!(suspected(&[&["1", "2", "N", "3"]]), ["N"], "not applicable");
        assert_eq!(suspected(&[&["1", "2", "N", "3"], &["1", "2", "N", "1"]]), ["N"], "too few numbers say nothing");
        assert_eq!(suspected(&[&["001", "102", "N", "023"]]), ["N"], "among codes");
        assert_eq!(suspected(&[&["1", "2", "", "3"]]), [""; 0]);
    }

    #[test]
    fn a_text_with_a_meaning_elsewhere_is_left_alone() {
        assert_eq!(suspected(&[&["1", "2", "N", "3"], &["Y", "N", "N", "Y"]]), [""; 0]);
        assert_eq!(suspected(&[&["DE", "FR", "NA", "US"]]), [""; 0], "Namibia");
        assert_eq!(suspected(&[&["DE", "FR", "NA", "US"], &["1", "2", "NA", "4"]]), [""; 0]);
        assert_eq!(suspected(&[&["+", "-", "+", "-"]]), [""; 0]);
        assert_eq!(suspected(&[&["none", "some", "all", "none"]]), [""; 0]);
        assert_eq!(suspected(&[&["A", "B", "1", "2"]]), [""; 0], "two letters are categories");
    }
}
