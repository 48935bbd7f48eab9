//! Calendar units: a day becomes its month, quarter, year, decade. Every unit begins where a finer
//! one does, so each level is a coarsening of the one below.

use super::levels::{group, top};
use super::subject::{Subject, shown};
use super::{Bound, Cover, DateUnit, Level};
use crate::date::Date;
use crate::domain::{Kind, Values};
use crate::error::TableError;

pub(super) fn build(units: &[DateUnit], subject: &Subject<'_>) -> Result<Vec<Level>, TableError> {
    if !subject.is_of(&[Kind::Date]) {
        return refuse_not_a_date(subject);
    }
    if units.is_empty() {
        let hint = "name units, finest first: day, month, quarter, year, decade";
        return subject.refuse("`dates` is empty", hint);
    }
    for (index, pair) in units.windows(2).enumerate() {
        if pair[0] >= pair[1] {
            let (fine, coarse) = (pair[0].name(), pair[1].name());
            let level = index + 1 + usize::from(units[0] != DateUnit::Day);
            let problem = format!("level {level} would not be a coarsening: `{coarse}` is not coarser than `{fine}`");
            return subject.refuse(problem, "name each unit once, finest first: day, month, quarter, year, decade");
        }
    }
    let dates: &[Date] = match subject.domain.values() {
        Values::Date(dates) => dates,
        _ => &[],
    };
    // The day is level 0, whether or not it is named.
    let mut levels: Vec<Level> =
        units.iter().filter(|unit| **unit != DateUnit::Day).map(|unit| level(*unit, dates, subject)).collect();
    levels.push(top(subject.domain));
    Ok(levels)
}

fn refuse_not_a_date(subject: &Subject<'_>) -> Result<Vec<Level>, TableError> {
    let domain = subject.domain;
    let found = match domain.kind() {
        Kind::Category => "text",
        kind => kind.name(),
    };
    let odd = (0..domain.present() as u32).map(|code| domain.text(code)).find(|text| Date::parse_iso(text).is_none());
    let Some(odd) = odd else {
        return subject.refuse("`dates` needs a column of dates", "declare the column as date");
    };
    let problem = format!("`dates` needs a column of dates, but this one was read as {found}: {}", shown(&odd));
    let hint = "write dates as YYYY-MM-DD, and list what stands for a missing value in `null` of the source";
    subject.refuse(problem, hint)
}

fn level(unit: DateUnit, dates: &[Date], subject: &Subject<'_>) -> Level {
    group(subject.domain, dates.iter().map(|date| unit.number(*date)), |number| {
        (unit.label(number), unit.cover(number))
    })
}

impl DateUnit {
    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            DateUnit::Day => "day",
            DateUnit::Month => "month",
            DateUnit::Quarter => "quarter",
            DateUnit::Year => "year",
            DateUnit::Decade => "decade",
        }
    }

    /// The unit with a name.
    pub fn from_name(name: &str) -> Option<DateUnit> {
        DateUnit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// All of them, the finest first.
    pub const ALL: [DateUnit; 5] =
        [DateUnit::Day, DateUnit::Month, DateUnit::Quarter, DateUnit::Year, DateUnit::Decade];

    /// Units of this size counted from the year 0 (days: from 1970).
    fn number(self, date: Date) -> i64 {
        let (year, month, _) = date.ymd();
        let (year, month) = (i64::from(year), i64::from(month) - 1);
        match self {
            DateUnit::Day => i64::from(date.0),
            DateUnit::Month => year * 12 + month,
            DateUnit::Quarter => year * 4 + month / 3,
            DateUnit::Year => year,
            DateUnit::Decade => year.div_euclid(10),
        }
    }

    fn first_day(self, number: i64) -> Option<Date> {
        let (year, month) = match self {
            DateUnit::Day => return i32::try_from(number).ok().map(Date),
            DateUnit::Month => (number.div_euclid(12), number.rem_euclid(12)),
            DateUnit::Quarter => (number.div_euclid(4), number.rem_euclid(4) * 3),
            DateUnit::Year => (number, 0),
            DateUnit::Decade => (number * 10, 0),
        };
        Date::from_ymd(i32::try_from(year).ok()?, month as u32 + 1, 1)
    }

    /// A unit that reaches beyond the calendar has an open end: nothing lies there. After the last
    /// day that can be written, an end would be one that no reader can parse.
    fn cover(self, number: i64) -> Cover {
        let high = self.first_day(number + 1).filter(|date| *date <= Date::LAST);
        Cover::Interval { low: self.first_day(number).map(Bound::Date), high: high.map(Bound::Date) }
    }

    /// The unit that a text names as labels do, and what it covers: `2020-03`, `2020-Q1`, `2020`,
    /// `2020s`. `None` for any other text, and for a day.
    pub fn read(text: &str) -> Option<(DateUnit, Cover)> {
        let (year, rest) = text.split_at_checked(4).filter(|(year, _)| year.bytes().all(|b| b.is_ascii_digit()))?;
        let year: i64 = year.parse().ok()?;
        let (unit, number) = match rest {
            "" => (DateUnit::Year, year),
            "s" => (DateUnit::Decade, year.div_euclid(10)),
            _ => match rest.strip_prefix("-Q") {
                Some(quarter) => (DateUnit::Quarter, year * 4 + quarter.parse::<u8>().map(i64::from).ok()? - 1),
                None => (DateUnit::Month, year * 12 + rest.strip_prefix('-')?.parse::<u8>().map(i64::from).ok()? - 1),
            },
        };
        // Only as it is written: not `2020-3`, nor a thirteenth month or the decade of 2021.
        (unit.label(number) == text).then(|| (unit, unit.cover(number)))
    }

    fn label(self, number: i64) -> String {
        match self {
            DateUnit::Day => self.first_day(number).map_or_else(String::new, |date| date.to_string()),
            DateUnit::Month => format!("{:04}-{:02}", number.div_euclid(12), number.rem_euclid(12) + 1),
            DateUnit::Quarter => format!("{:04}-Q{}", number.div_euclid(4), number.rem_euclid(4) + 1),
            DateUnit::Year => format!("{number:04}"),
            DateUnit::Decade => format!("{:04}s", number * 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::HierarchySpec;
    use super::super::testing::{build, check, domain, refusal, texts};
    use super::*;
    use crate::domain::Domain;
    use DateUnit::{Day, Decade, Month, Quarter, Year};

    #[test]
    fn a_day_becomes_its_month_quarter_year_and_decade() {
        let days = domain(&["2019-12-31", "2020-01-01", "2020-02-29", "2020-03-31", "2020-04-01", ""]);
        let hierarchy = build(&HierarchySpec::Dates(vec![Month, Quarter, Year, Decade]), &days);
        check(&hierarchy, &days, "days");
        assert_eq!(hierarchy.top(), 5);
        assert_eq!(texts(&hierarchy, 1), ["2019-12", "2020-01", "2020-02", "2020-03", "2020-04", ""]);
        assert_eq!(texts(&hierarchy, 2), ["2019-Q4", "2020-Q1", "2020-Q1", "2020-Q1", "2020-Q2", ""]);
        assert_eq!(texts(&hierarchy, 3), ["2019", "2020", "2020", "2020", "2020", ""]);
        assert_eq!(texts(&hierarchy, 4), ["2010s", "2020s", "2020s", "2020s", "2020s", ""]);
        let date = |text| Some(Bound::Date(Date::parse_iso(text).unwrap()));
        let quarter = &hierarchy.levels()[2].labels[1];
        assert_eq!(quarter.cover, Cover::Interval { low: date("2020-01-01"), high: date("2020-04-01") });
        assert_eq!(quarter.leaves, 3);
    }

    #[test]
    fn the_day_adds_no_level() {
        let days = domain(&["2020-01-01", "2020-01-02"]);
        assert_eq!(build(&HierarchySpec::Dates(vec![Day]), &days).top(), 1);
        let hierarchy = build(&HierarchySpec::Dates(vec![Day, Year]), &days);
        assert_eq!((hierarchy.top(), texts(&hierarchy, 1)), (2, vec!["2020".to_owned(); 2]));
    }

    #[test]
    fn the_ends_of_the_calendar_are_open() {
        let days = Domain::new(Values::Date(vec![Date(i32::MIN), Date(-800_000), Date(0), Date(i32::MAX)]), false);
        let hierarchy = build(&HierarchySpec::Dates(vec![Month, Quarter, Year, Decade]), &days);
        check(&hierarchy, &days, "extremes");
        assert!(matches!(hierarchy.levels()[1].labels[0].cover, Cover::Interval { low: None, .. }));
        assert!(matches!(hierarchy.levels()[1].labels[3].cover, Cover::Interval { high: None, .. }));
    }

    /// The last day that can be written has no day after it, whatever the unit.
    #[test]
    fn labels_are_read_back_as_what_they_cover() {
        let days = domain(&["0000-01-01", "1999-12-31", "2020-02-29", "9989-12-31", "9999-12-31"]);
        for unit in [Month, Quarter, Year, Decade] {
            let hierarchy = build(&HierarchySpec::Dates(vec![unit]), &days);
            let labels = &hierarchy.levels()[1].labels;
            for label in labels {
                assert_eq!(DateUnit::read(&label.text), Some((unit, label.cover.clone())), "{}", label.text);
            }
            let open = |label: &&super::super::Label| matches!(label.cover, Cover::Interval { high: None, .. });
            assert_eq!(labels.iter().filter(open).count(), 1, "{unit:?}");
            assert!(open(&&labels[4]), "{unit:?}");
        }
        let others =
            ["2020-13", "2020-00", "2020-3", "2020-Q5", "2020-Q0", "2021s", "20200", "2020-03-01", "x", "2020-+3"];
        for text in others {
            assert_eq!(DateUnit::read(text), None, "{text}");
        }
    }

    #[test]
    fn units_that_cannot_be_are_refused() {
        let days = domain(&["2020-01-01"]);
        let refused = |units: &[DateUnit], domain: &Domain, expected: &str| {
            let error = refusal(&HierarchySpec::Dates(units.to_vec()), domain);
            assert!(error.contains(expected), "{units:?} gave {error}");
        };
        refused(&[], &days, "`dates` is empty");
        refused(&[Year, Month], &days, "level 2 would not be a coarsening: `month` is not coarser than `year`");
        refused(&[Day, Month, Month], &days, "level 2 would not be a coarsening");
        refused(&[Month, Day], &days, "`day` is not coarser than `month`");
        refused(&[Year], &domain(&["2020-01-01", "unknown"]), "read as text: `unknown`");
        refused(&[Year], &domain(&["2020"]), "read as integer: `2020`");
        let declared = super::super::testing::domain_of(&["2020-01-01"], Some(Kind::Category));
        refused(&[Year], &declared, "needs a column of dates");
    }

    #[test]
    fn units_go_by_their_names() {
        for unit in DateUnit::ALL {
            assert_eq!(DateUnit::from_name(unit.name()), Some(unit));
        }
        assert_eq!(DateUnit::from_name("week"), None);
    }
}
