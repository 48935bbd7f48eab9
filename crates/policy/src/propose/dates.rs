//! Dates: calendar units as the range warrants, and dates that are not written as YYYY-MM-DD
//! spelled out in a file.

use hedgerow_table::date::Date;
use hedgerow_table::hierarchy::DateUnit;
use hedgerow_table::{Kind, Values};

use super::groups::Tree;
use super::profile::Facts;
use super::way::Way;

/// Units that join something and leave something apart.
pub(super) fn units(facts: &Facts<'_>) -> Option<Vec<DateUnit>> {
    let Values::Date(dates) = facts.domain().values() else { return None };
    let (first, last) = (dates.first()?.ymd(), dates.last()?.ymd());
    let years = last.0 - first.0;
    let months = years * 12 + last.1 as i32 - first.1 as i32;
    let mut units = Vec::new();
    if months > 0 {
        units.push(DateUnit::Month);
    }
    // Over decades a quarter is a step too small to matter, and every level multiplies the search.
    if months > 3 && years <= 20 {
        units.push(DateUnit::Quarter);
    }
    if years > 0 {
        units.push(DateUnit::Year);
    }
    if years > 10 {
        units.push(DateUnit::Decade);
    }
    (!units.is_empty()).then_some(units)
}

/// Which of the first two numbers of a date is the day.
#[derive(Clone, Copy)]
enum Order {
    DayMonth,
    MonthDay,
}

/// `31.12.1999`, `12/31/1999`, `19991231`: a file from each date to its month, year and decade, and
/// whether day and month could be the other way round.
pub(super) fn written_out(facts: &Facts<'_>) -> Option<(Way, bool)> {
    let Values::Category(values) = facts.domain().values() else { return None };
    if facts.domain().kind() != Kind::Category || facts.length_max > 10 || facts.length_min < 6 {
        return None;
    }
    let read = |order: Order| values.iter().map(|text| parse(text, order)).collect::<Option<Vec<Date>>>();
    let (day_first, month_first) = (read(Order::DayMonth), read(Order::MonthDay));
    let ambiguous = day_first.is_some() && month_first.is_some() && day_first != month_first;
    let dates = day_first.or(month_first)?;
    let mut tree = Tree::new(values.iter().map(|value| value.to_string()).collect());
    let labels =
        |name: &dyn Fn((i32, u32, u32)) -> String| dates.iter().map(|date| name(date.ymd())).collect::<Vec<_>>();
    tree.add(labels(&|(year, month, _)| format!("{year:04}-{month:02}")));
    tree.add(labels(&|(year, _, _)| format!("{year:04}")));
    tree.add(labels(&|(year, _, _)| format!("{:04}s", year.div_euclid(10) * 10)));
    tree.file().map(|file| (file, ambiguous))
}

fn parse(text: &str, order: Order) -> Option<Date> {
    let numbers: Vec<&str> = text.split(['.', '/', '-']).collect();
    let digits = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    match numbers.as_slice() {
        [first, second, year] if year.len() == 4 => {
            let (first, second) = (digits(first)?, digits(second)?);
            let (day, month) = match order {
                Order::DayMonth => (first, second),
                Order::MonthDay => (second, first),
            };
            Date::from_ymd(digits(year)? as i32, month, day)
        }
        [year, month, day] if year.len() == 4 => Date::from_ymd(digits(year)? as i32, digits(month)?, digits(day)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::Table;

    fn units_of(first: &str, last: &str) -> Option<Vec<DateUnit>> {
        let table = Table::from_texts(&["d"], &[vec![first], vec![last]]);
        units(&Facts::of(&table.columns[0]))
    }

    #[test]
    fn units_follow_the_range() {
        use DateUnit::{Decade, Month, Quarter, Year};
        assert_eq!(units_of("2020-01-01", "2020-01-31"), None);
        assert_eq!(units_of("2020-01-01", "2020-02-01"), Some(vec![Month]));
        assert_eq!(units_of("2020-01-01", "2020-12-01"), Some(vec![Month, Quarter]));
        assert_eq!(units_of("2015-01-01", "2020-12-01"), Some(vec![Month, Quarter, Year]));
        assert_eq!(units_of("1920-01-01", "2020-12-01"), Some(vec![Month, Year, Decade]));
    }

    #[test]
    fn other_ways_of_writing_a_date_are_read_one_way_for_all() {
        let of = |texts: &[&str]| {
            let rows: Vec<Vec<&str>> = texts.iter().map(|text| vec![*text]).collect();
            written_out(&Facts::of(&Table::from_texts(&["d"], &rows).columns[0]))
        };
        let Some((Way::File { text, .. }, false)) =
            of(&["31.12.1999", "30.12.1999", "02.01.1999", "01.02.1991", "01.02.1987"])
        else {
            panic!("dates")
        };
        assert!(text.contains("31.12.1999;1999-12;1999;1990s;*\n"), "{text}");
        let Some((Way::File { text, .. }, false)) =
            of(&["12/31/1999", "01/03/1987", "01/02/1987", "05/05/1987", "05/05/1981"])
        else {
            panic!("dates")
        };
        assert!(text.contains("01/02/1987;1987-01;1987;1980s;*\n"), "{text}");
        assert_eq!(of(&["31.12.1999", "12/31/1999"]), None, "no order fits both");
        assert_eq!(of(&["1-2-3", "18-24", "25-34-45"]), None);
        let ambiguous = of(&["01.02.1999", "03.02.1999", "05.04.1998", "02.02.1987", "07.06.1987"]);
        assert!(matches!(ambiguous, Some((_, true))), "{ambiguous:?}");
    }
}
