//! How dates are written, when not as `2024-02-29`: a pattern such as `%d.%m.%Y`, in the notation of `strftime`.

use std::fmt;

use crate::date::Date;

/// A pattern that states the day, the month and the year of a date once each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DateFormat {
    pattern: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
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

impl DateFormat {
    /// The problem, as a sentence, when the pattern does not describe a date.
    pub fn parse(pattern: &str) -> Result<DateFormat, String> {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            parts.push(match character {
                '%' => match characters.next() {
                    Some('Y') => Part::Year,
                    Some('y') => Part::ShortYear,
                    Some('m') => Part::Month,
                    Some('b' | 'B' | 'h') => Part::MonthName,
                    Some('d' | 'e') => Part::Day,
                    Some('H' | 'M' | 'S') => Part::Time,
                    Some('%') => Part::Literal('%'),
                    Some(other) => return Err(format!("`%{other}` is not known")),
                    None => return Err("a `%` stands at the end".to_owned()),
                },
                other => Part::Literal(other),
            });
        }
        for (wanted, name) in [
            (&[Part::Year, Part::ShortYear][..], "year, %Y"),
            (&[Part::Month, Part::MonthName], "month, %m"),
            (&[Part::Day], "day, %d"),
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

    /// The day that a text names; `None` when the text is not written this way or there is no such day.
    pub fn read(&self, text: &str) -> Option<Date> {
        let (mut year, mut month, mut day) = (0, 0, 0);
        let mut rest = text;
        for part in &self.parts {
            match part {
                Part::Year => year = digits(&mut rest, 4, 4)? as i32,
                Part::ShortYear => {
                    let short = digits(&mut rest, 2, 2)? as i32;
                    year = short + if short >= 69 { 1900 } else { 2000 };
                }
                Part::Month => month = digits(&mut rest, 1, 2)?,
                Part::MonthName => month = month_name(&mut rest)?,
                Part::Day => day = digits(&mut rest, 1, 2)?,
                Part::Time => drop(digits(&mut rest, 1, 2)?),
                Part::Literal(character) => rest = rest.strip_prefix(*character)?,
            }
        }
        if rest.is_empty() { Date::from_ymd(year, month, day) } else { None }
    }
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
    fn other_texts_and_days_that_do_not_exist_are_no_dates() {
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
}
