//! How dates are written, when not as `2024-02-29`: a pattern such as `%d.%m.%Y`, in the notation
//! of `strftime`.

use std::fmt;

use crate::date::Date;

/// A pattern that states the day, the month and the year of a date once each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DateFormat {
    pattern: String,
    parts: Vec<DateField>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum DateField {
    /// Four digits.
    Year,
    /// Two digits: 69 to 99 are 1969 to 1999, as POSIX has it.
    ShortYear,
    /// One or two digits.
    Month,
    /// `Jan` or `January`, in any case.
    MonthName,
    /// One or two digits.
    Day,
    /// Hours, minutes or seconds: read and dropped, since a date is a day.
    Time,
    Literal(char),
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Formats other than `2024-01-31` that are tried.
const COMMON: [&str; 21] = [
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%b %d, %Y",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
];

impl DateFormat {
    /// The problem, as a sentence, when the pattern does not describe a date.
    pub fn parse(pattern: &str) -> Result<DateFormat, String> {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            parts.push(match character {
                '%' => match characters.next() {
                    Some('Y') => DateField::Year,
                    Some('y') => DateField::ShortYear,
                    Some('m') => DateField::Month,
                    Some('b' | 'B' | 'h') => DateField::MonthName,
                    Some('d' | 'e') => DateField::Day,
                    Some('H' | 'M' | 'S') => DateField::Time,
                    Some('%') => DateField::Literal('%'),
                    Some(other) => return Err(format!("`%{other}` is not known")),
                    None => return Err("a `%` stands at the end".to_owned()),
                },
                other => DateField::Literal(other),
            });
        }
        for (wanted, name) in [
            (&[DateField::Year, DateField::ShortYear][..], "year, %Y"),
            (&[DateField::Month, DateField::MonthName], "month, %m"),
            (&[DateField::Day], "day, %d"),
        ] {
            match parts.iter().filter(|part| wanted.contains(part)).count() {
                1 => {}
                0 => return Err(format!("it lacks the {name}")),
                _ => return Err(format!("it has the {name} more than once")),
            }
        }
        Ok(DateFormat { pattern: pattern.to_owned(), parts })
    }

    /// The pattern as it was written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The day that a text names; `None` when the text is not written this way or the day does
    /// not exist.
    pub fn read(&self, text: &str) -> Option<Date> {
        let (mut year, mut month, mut day) = (0, 0, 0);
        let mut rest = text;
        for part in &self.parts {
            match part {
                DateField::Year => year = digits(&mut rest, 4, 4)? as i32,
                DateField::ShortYear => {
                    let short = digits(&mut rest, 2, 2)? as i32;
                    year = short + if short >= 69 { 1900 } else { 2000 };
                }
                DateField::Month => month = digits(&mut rest, 1, 2)?,
                DateField::MonthName => month = month_name(&mut rest)?,
                DateField::Day => day = digits(&mut rest, 1, 2)?,
                DateField::Time => drop(digits(&mut rest, 1, 2)?),
                DateField::Literal(character) => rest = rest.strip_prefix(*character)?,
            }
        }
        if rest.is_empty() { Date::from_ymd(year, month, day) } else { None }
    }

    /// The common formats in which every text is a date, when not all are written `2024-01-31`.
    /// Several when the texts leave it open, as `01/02/2024` leaves open which is the month.
    pub fn detect<T: AsRef<str>>(texts: &[T]) -> Vec<DateFormat> {
        if texts.is_empty() || texts.iter().all(|text| Date::parse_iso(text.as_ref()).is_some()) {
            return Vec::new();
        }
        let mut found: Vec<(DateFormat, Vec<Date>)> = Vec::new();
        for format in COMMON.iter().filter_map(|pattern| DateFormat::parse(pattern).ok()) {
            let days: Option<Vec<Date>> = texts.iter().map(|text| format.read(text.as_ref())).collect();
            if let Some(days) = days
                && found.iter().all(|(_, known)| *known != days)
            {
                found.push((format, days));
            }
        }
        found.into_iter().map(|(format, _)| format).collect()
    }
}

/// The day of a date or a moment as ISO 8601 writes them: `2024-01-31`, `2024-01-31T09:30:00Z`.
pub(crate) fn iso_day(text: &str) -> Option<Date> {
    let (day, time) = text.split_at_checked(10)?;
    let time_of_day = |time: &str| {
        time.starts_with(|c: char| c.is_ascii_digit())
            && time.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'+' | b'-' | b'Z'))
    };
    let fits = time.is_empty() || time.strip_prefix(['T', ' ']).is_some_and(time_of_day);
    if fits { Date::parse_iso(day) } else { None }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}

/// Takes at most `most` digits off the front, and at least `least`.
fn digits(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(count);
    *rest = after;
    if count < least { None } else { number.parse().ok() }
}

fn month_name(rest: &mut &str) -> Option<u32> {
    let count = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, after) = rest.split_at(count);
    *rest = after;
    let name = name.to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| *month == name || (name.len() == 3 && month.starts_with(&name)))?;
    Some(month as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str) -> Option<String> {
        DateFormat::parse(pattern).unwrap().read(text).map(|date| date.to_string())
    }

    #[test]
    fn a_text_is_read_as_the_pattern_has_it() {
        for (pattern, text) in [
            ("%d.%m.%Y", "29.02.2024"),
            ("%m/%d/%Y", "2/29/2024"),
            ("%Y%m%d", "20240229"),
            ("%d-%b-%y", "29-FEB-24"),
            ("%e %B %Y", "29 February 2024"),
            ("%Y-%m-%dT%H:%M:%S", "2024-02-29T23:59:59"),
            ("100%% %Y-%m-%d", "100% 2024-02-29"),
        ] {
            assert_eq!(read(pattern, text).as_deref(), Some("2024-02-29"), "{pattern} {text}");
        }
        assert_eq!(read("%d.%m.%y", "01.01.69").as_deref(), Some("1969-01-01"));
        assert_eq!(read("%d.%m.%y", "01.01.68").as_deref(), Some("2068-01-01"));
    }

    #[test]
    fn other_texts_and_days_that_do_not_exist_are_refused() {
        for text in ["30.02.2024", "1.13.2024", "29.02.24", "29.02.2024 ", " 29.02.2024", "29/02/2024", "", "é.02.2024"]
        {
            assert_eq!(read("%d.%m.%Y", text), None, "{text}");
        }
        assert_eq!(read("%d %b %Y", "1 Januar 2024"), None);
    }

    #[test]
    fn a_pattern_states_every_part_once() {
        for (pattern, problem) in [
            ("%m.%Y", "lacks the day"),
            ("%d.%Y", "lacks the month"),
            ("%d.%m", "lacks the year"),
            ("%d.%m.%b.%Y", "month, %m more than once"),
            ("%d.%m.%Q", "`%Q` is not known"),
            ("%d.%m.%Y%", "at the end"),
            ("dd.mm.yyyy", "lacks the year"),
        ] {
            let found = DateFormat::parse(pattern).unwrap_err();
            assert!(found.contains(problem), "{pattern}: {found}");
        }
    }

    #[test]
    fn the_format_is_detected_and_doubt_is_stated() {
        let patterns =
            |texts: &[&str]| -> Vec<String> { DateFormat::detect(texts).iter().map(ToString::to_string).collect() };
        assert_eq!(patterns(&["31.01.2024", "1.2.2024"]), ["%d.%m.%Y"]);
        assert_eq!(patterns(&["01/02/2024", "03/04/2024"]), ["%d/%m/%Y", "%m/%d/%Y"]);
        assert_eq!(patterns(&["01/02/2024", "13/04/2024"]), ["%d/%m/%Y"]);
        assert_eq!(patterns(&["01/02/2024", "03/14/2024"]), ["%m/%d/%Y"]);
        assert_eq!(patterns(&["01/01/2024"]), ["%d/%m/%Y"], "either way it is the same day");
        assert_eq!(patterns(&["2024-01-31T09:30:00"]), ["%Y-%m-%dT%H:%M:%S"]);
        assert_eq!(patterns(&["2024-01-31"]), Vec::<String>::new(), "read without a format");
        assert_eq!(patterns(&["31.01.2024", "x"]), Vec::<String>::new());
    }

    #[test]
    fn a_moment_is_of_its_day() {
        let expected = Date::parse_iso("2024-01-31");
        for text in ["2024-01-31", "2024-01-31T09:30:00", "2024-01-31 09:30", "2024-01-31T09:30:00.5+01:00"] {
            assert_eq!(iso_day(text), expected, "{text}");
        }
        for text in ["2024-01-31T", "2024-01-31 noon", "2024-01-31x", "2024-02-30T09:30:00", "2024-01-3"] {
            assert_eq!(iso_day(text), None, "{text}");
        }
    }
}
