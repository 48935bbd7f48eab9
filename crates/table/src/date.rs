//! Calendar dates as days since 1970-01-01, in the proleptic Gregorian calendar.
//!
//! The conversion works in 400-year eras that begin on the first of March, so that the leap day is
//! the last of its year.

use std::fmt;

/// Days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_SHIFT: i64 = 719_468;

impl Date {
    /// The first day that `YYYY-MM-DD` can write.
    pub const FIRST: Date = Date(-719_528);
    /// The last day that `YYYY-MM-DD` can write: often "no end".
    pub const LAST: Date = Date(2_932_896);

    /// `None` when the day does not exist (month 13, 30 February).
    pub fn from_ymd(year: i32, month: u32, day: u32) -> Option<Date> {
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        let shifted_year = i64::from(year) - i64::from(month <= 2);
        let era = shifted_year.div_euclid(400);
        let year_of_era = shifted_year.rem_euclid(400);
        let month_from_march = i64::from((month + 9) % 12);
        let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        i32::try_from(era * DAYS_PER_ERA + day_of_era - EPOCH_SHIFT).ok().map(Date)
    }

    /// Year, month and day of the month.
    pub fn ymd(self) -> (i32, u32, u32) {
        let days = i64::from(self.0) + EPOCH_SHIFT;
        let era = days.div_euclid(DAYS_PER_ERA);
        let day_of_era = days.rem_euclid(DAYS_PER_ERA);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u32;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year as i32, month, day)
    }

    /// Exactly `YYYY-MM-DD`, so that printing it gives back the same text.
    pub fn parse_iso(text: &str) -> Option<Date> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().try_fold(0u32, |sum, b| b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0')))
        };
        Date::from_ymd(number(0..4)? as i32, number(5..7)?, number(8..10)?)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.ymd();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A moment in nanoseconds of its day: `2024-01-31T09:30:00`, with as many decimals as the unit has
/// when they are not zero, and `Z` for an instant. `None` beyond the calendar's range.
pub fn moment(days: i64, nanos_of_day: i64, decimals: usize, zoned: bool) -> Option<String> {
    let (second, fraction) = (nanos_of_day / 1_000_000_000, nanos_of_day % 1_000_000_000);
    let day = Date(i32::try_from(days).ok()?);
    let mut text = format!("{day}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if fraction != 0 {
        text.push_str(&format!(".{fraction:09}")[..=decimals]);
    }
    if zoned {
        text.push('Z');
    }
    Some(text)
}

fn days_in_month(year: i32, month: u32) -> u32 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_the_decimals_it_needs() {
        assert_eq!(moment(0, 0, 3, false).unwrap(), "1970-01-01T00:00:00");
        assert_eq!(moment(-1, 86_399_999_000_000, 3, true).unwrap(), "1969-12-31T23:59:59.999Z");
        assert_eq!(moment(1, 1, 9, false).unwrap(), "1970-01-02T00:00:00.000000001");
        assert_eq!(moment(i64::MAX, 0, 3, false), None);
    }

    #[test]
    fn every_day_of_eight_centuries_round_trips_in_order() {
        let mut expected = Date::from_ymd(1600, 1, 1).unwrap();
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    let date = Date::from_ymd(year, month, day).unwrap();
                    assert_eq!(date, expected);
                    assert_eq!(date.ymd(), (year, month, day));
                    expected = Date(expected.0 + 1);
                }
            }
        }
        assert_eq!(Date::from_ymd(1970, 1, 1), Some(Date(0)));
        assert_eq!(Date::parse_iso("9999-12-31"), Some(Date::LAST));
        assert_eq!(Date::parse_iso("0000-01-01"), Some(Date::FIRST));
    }

    #[test]
    fn only_the_canonical_text_of_a_day_that_exists_is_a_date() {
        assert_eq!(Date::parse_iso("2024-02-29").unwrap().to_string(), "2024-02-29");
        for text in ["2023-02-29", "2023-13-01", "2023-1-01", "2023/01/01", "20230101", "", "2023-01-32", "+023-01-01"]
        {
            assert_eq!(Date::parse_iso(text), None, "{text}");
        }
    }
}
