//! How numbers and dates are written where the reader took them for texts: decimal commas, marks
//! between thousands, days before months.
//!
//! The marks of numbers are those of the whole source, the format of dates is that of a column.
//! Where the texts leave it open, one is chosen, and the policy says so.

use hedgerow_table::date::Date;
use hedgerow_table::read::{NumberFormat, ReadOptions};
use hedgerow_table::{DateFormat, Table, Values};

/// A column with more different texts than this is not tried for other formats of numbers and
/// dates: reading them all again would take long.
const TEXTS_MAX: usize = 5_000_000;

/// The options to read the source again with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundFormats {
    /// When it is not the decimal point alone.
    pub numbers: Option<NumberFormat>,
    /// Another format of numbers that fits as well.
    pub other_numbers: Option<NumberFormat>,
    pub dates: Vec<FoundDates>,
}

/// How the dates of a column are written.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundDates {
    pub column: String,
    pub format: DateFormat,
    /// Another format that fits all texts as well, and means other days.
    pub other: Option<DateFormat>,
}

impl FoundFormats {
    pub fn is_empty(&self) -> bool {
        self.numbers.is_none() && self.dates.is_empty()
    }

    /// The options with which the source is read so.
    pub fn apply(&self, options: &mut ReadOptions<'_>) {
        options.numbers = self.numbers.unwrap_or(options.numbers);
        options.date_formats.extend(self.dates.iter().map(|found| (found.column.clone(), found.format.clone())));
    }

    pub(super) fn dates_of(&self, column: &str) -> Option<&FoundDates> {
        self.dates.iter().find(|found| found.column == column)
    }
}

/// The formats of columns that were read as texts.
pub fn detected_formats(table: &Table) -> FoundFormats {
    let mut found = FoundFormats::default();
    let mut numbers: Vec<Vec<NumberFormat>> = Vec::new();
    for column in &table.columns {
        let Values::Category(values) = column.domain.values() else { continue };
        if values.is_empty() || values.len() > TEXTS_MAX || is_code(values) {
            continue;
        }
        let mut dates = DateFormat::detect(values).into_iter().filter(|format| in_our_time(format, values));
        if let Some(format) = dates.next() {
            found.dates.push(FoundDates { column: column.name.clone(), format, other: dates.next() });
            continue;
        }
        let fitting = NumberFormat::detect(values);
        if !fitting.is_empty() {
            numbers.push(fitting);
        }
    }
    (found.numbers, found.other_numbers) = common(&numbers, table);
    found
}

/// The format that fits the most columns, and another that fits as many. Where thousands and
/// fractions cannot be distinguished, `1,234` is a thousand: people seldom write three digits of a
/// fraction throughout.
fn common(columns: &[Vec<NumberFormat>], table: &Table) -> (Option<NumberFormat>, Option<NumberFormat>) {
    // With a decimal comma, a column that was read as numbers with a point would be text.
    let points = table.columns.iter().any(|column| matches!(column.domain.values(), Values::Float(_)));
    let allowed = |format: &NumberFormat| !points || format.decimal() == '.';
    // A column without thousands is also one of numbers that are written with marks between them.
    let fits = |format: NumberFormat, column: &Vec<NumberFormat>| {
        let same = |known: &NumberFormat| {
            known.decimal() == format.decimal() && known.thousands().is_none_or(|mark| Some(mark) == format.thousands())
        };
        column.iter().any(same)
    };
    let mut counted: Vec<(usize, NumberFormat)> = Vec::new();
    for &format in columns.iter().flatten().filter(|format| allowed(format)) {
        if counted.iter().all(|(_, known)| *known != format) {
            counted.push((columns.iter().filter(|column| fits(format, column)).count(), format));
        }
    }
    let Some(most) = counted.iter().map(|(count, _)| *count).max() else { return (None, None) };
    let best: Vec<NumberFormat> = counted.into_iter().filter(|(count, _)| *count == most).map(|(_, f)| f).collect();
    let grouped = best.iter().position(|format| format.thousands().is_some()).unwrap_or(0);
    let other = (0..best.len()).find(|&index| index != grouped).map(|index| best[index]);
    (Some(best[grouped]), other)
}

/// Two texts of one number, or digits with leading zeros: no number was meant.
fn is_code(values: &[Box<str>]) -> bool {
    let leading_zero = |text: &str| text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    values.iter().all(|text| digits(text)) && values.iter().any(|text| leading_zero(text))
}

/// Versions and article numbers are seldom days between 1850 and 2150.
fn in_our_time(format: &DateFormat, values: &[Box<str>]) -> bool {
    let ours = |date: Date| (1850..=2150).contains(&date.ymd().0);
    values.iter().all(|text| format.read(text).is_some_and(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &[(&str, &[&str])]) -> FoundFormats {
        let header: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let rows: Vec<Vec<&str>> =
            (0..columns[0].1.len()).map(|row| columns.iter().map(|(_, cells)| cells[row]).collect()).collect();
        detected_formats(&Table::from_texts(&header, &rows))
    }

    fn format(decimal: char, thousands: Option<char>) -> Option<NumberFormat> {
        NumberFormat::new(decimal, thousands)
    }

    #[test]
    fn decimal_commas_and_thousands_are_found_over_all_columns() {
        let german = found(&[("a", &["1,5", "2"]), ("b", &["1.234,5", "7"]), ("c", &["x", "y"])]);
        assert_eq!((german.numbers, german.other_numbers), (format(',', Some('.')), None));
        let open = found(&[("a", &["1,234", "56,789"])]);
        assert_eq!((open.numbers, open.other_numbers), (format('.', Some(',')), format(',', None)));
        let settled = found(&[("a", &["1,234", "56,789"]), ("b", &["1.5", "2.25"])]);
        assert_eq!((settled.numbers, settled.other_numbers), (format('.', Some(',')), None));
        assert!(found(&[("a", &["1.5", "2"]), ("b", &["007", "010"]), ("c", &["1,2,3", "4"])]).is_empty());
    }

    #[test]
    fn dates_are_found_by_column_and_doubt_is_kept() {
        let dates = found(&[("a", &["31.01.2024", "1.2.2024"]), ("b", &["01/02/2024", "03/04/2024"])]);
        let of = |name: &str| {
            let found = dates.dates_of(name).unwrap();
            (found.format.pattern().to_owned(), found.other.as_ref().map(|other| other.pattern().to_owned()))
        };
        assert_eq!(of("a"), ("%d.%m.%Y".to_owned(), None));
        assert_eq!(of("b"), ("%d/%m/%Y".to_owned(), Some("%m/%d/%Y".to_owned())));
        assert!(found(&[("version", &["1.2.3001", "4.5.3002"])]).is_empty());
        assert!(found(&[("a", &["2024-01-31", "2024-02-01"])]).is_empty(), "read without a format");
    }
}
