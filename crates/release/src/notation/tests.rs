//! Labels of other programs against the mathematical definition of what they write.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

fn bound(text: &str) -> Bound {
    Bound::parse(text).unwrap()
}

/// As an adversary asks: can an individual with this value have that label?
fn covers(cover: &Cover, value: Bound) -> bool {
    match cover {
        Cover::Point(point) => *point == value,
        Cover::Interval { low, high } => low.is_none_or(|low| low <= value) && high.is_none_or(|high| value < high),
        other => panic!("{other:?} is not an interval"),
    }
}

#[test]
fn labels_mean_what_people_write() {
    // A label, values in it, and values just outside.
    for (label, inside, outside) in [
        ("[20, 40[", "20 39.999", "19.999 40"),
        ("[20, 40)", "20 39.999", "19.999 40"),
        ("[20,40]", "20 40", "19.999 40.001"),
        ("]20, 40]", "20.001 40", "20 40.001"),
        ("(20,40]", "20.001 40", "20 40.001"),
        ("(20; 40)", "20.001 39.9", "20 40"),
        ("]20, 40[", "21 39.9", "20 40"),
        ("[20-40]", "20 40", "19 40.5"),
        ("[0-10)", "0 9", "-1 10"),
        ("(19.999, 40.0]", "20 40", "19 19.999 41"),
        ("[1e+03,2e+03)", "1000 1999", "999 2000"),
        ("(-Inf,20]", "-1000000 20", "20.5 21"),
        ("(65, inf)", "65.5 900", "65"),
        ("(-inf, -5.5]", "-6 -5.5", "-5"),
        ("]−∞; 3]", "-9 3", "4"),
        ("20-39", "20 39", "19 39.5 40"),
        ("20 - 39", "20 39", "19 40"),
        ("20 to 39", "20 39", "19 40"),
        ("20–39", "20 39", "19 40"),
        ("20 — 39", "20 39", "19 40"),
        ("20..39", "20 39", "19 40"),
        ("05-09", "5 9", "4 10"),
        ("00-04 years", "0 4", "5"),
        ("-5-5", "-5 5", "-6 6"),
        ("−5–−1", "-5 -1", "-6 0"),
        ("1e-3-2e-3", "0.001 0.002", "0.0021"),
        ("20-<40", "20 39.5", "40"),
        ("20<-40", "20.5 40", "20"),
        ("20 to under 40", "20 39.5", "40"),
        ("low-<18", "-3 17.5", "18"),
        ("65-high", "65 120", "64.5"),
        ("<=39", "-5 39", "39.5 40"),
        ("≤ 39", "39", "39.5 40"),
        ("<39", "38.9", "39"),
        (">=40", "40 41", "39.9"),
        ("≥40", "40", "39.9"),
        ("=>40", "40", "39.9"),
        (">39", "39.5", "39"),
        ("40+", "40 90", "39.5"),
        ("85 and over", "85", "84"),
        ("65 or older", "65", "64"),
        ("17 or less", "17", "17.5 18"),
        ("18 years and over", "18", "17"),
        ("Under 18", "17.9", "18"),
        ("over 65", "65.1", "65"),
        ("at least 3", "3", "2"),
        ("at most 3", "3", "4"),
        ("up to 3", "3", "3.5"),
        ("35", "35", "36"),
        ("35.0", "35", "35.5"),
        ("[2020-01-01, 2020-12-31]", "2020-01-01 2020-12-31", "2019-12-31 2021-01-01"),
        ("(2020-01-01, 2021-01-01]", "2020-01-02 2021-01-01", "2020-01-01 2021-01-02"),
        ("[2020-01-01 00:00:00, 2021-01-01 00:00:00)", "2020-01-01 2020-12-31", "2021-01-01"),
        ("2020-01-01-2020-06-30", "2020-01-01 2020-06-30", "2020-07-01"),
        ("2020-01-01 to 2020-06-30", "2020-06-30", "2020-07-01"),
        (">=2020-01-01", "2020-01-01", "2019-12-31"),
        ("2020-02", "2020-02-01 2020-02-29", "2020-01-31 2020-03-01"),
        ("2020-12", "2020-12-31", "2021-01-01"),
    ] {
        let cover = cover_of_label(label);
        for value in inside.split(' ') {
            assert!(covers(&cover, bound(value)), "`{label}` has {value}: {cover:?}");
        }
        for value in outside.split(' ') {
            assert!(!covers(&cover, bound(value)), "`{label}` lacks {value}: {cover:?}");
        }
    }
}

#[test]
fn other_labels_are_sets_patterns_or_themselves() {
    assert_eq!(cover_of_label("*"), Cover::Everything);
    assert_eq!(cover_of_label("NA"), Cover::Everything);
    assert_eq!(cover_of_label(""), Cover::Missing);
    assert_eq!(cover_of_label("{a, b}"), Cover::Leaves(vec!["a".to_owned(), "b".to_owned()]));
    for text in [
        "021**",
        "Never-married",
        "to",
        "-",
        "[a, b[",
        "<",
        "40-20",
        "[40, 20]",
        "(20, 20]",
        "1-2-3",
        "V57",
        "+",
        "[,]",
        "()",
        "[.,.]",
        "C1-INH",
        "under",
        "é",
        "2020-13",
        "[1,000, 2,000)",
        "a+",
        "x or more",
        "[2020-01-01, 5]",
        "low-high x",
    ] {
        assert_eq!(cover_of_label(text), Cover::Leaves(vec![text.to_owned()]), "{text}");
    }
    assert!(Notation::default().read("021**").is_some() && Notation::default().read("V57").is_none());
}

#[test]
fn decimal_commas_and_declared_dates_are_read_within_labels() {
    let numbers = NumberFormat::new(',', Some('.')).unwrap();
    let notation = Notation { numbers, dates: DateFormat::parse("%d.%m.%Y").ok() };
    let read = |label: &str| notation.read(label);
    let cover = |label: &str| cover_of_label(label);
    assert_eq!(read("[1,5; 2,5["), Some(cover("[1.5; 2.5[")));
    assert_eq!(read("[1,5, 2,5["), Some(cover("[1.5; 2.5[")));
    assert_eq!(read("1.000-2.000"), Some(cover("1000-2000")));
    assert_eq!(read("1.234"), Some(cover("1234")));
    assert_eq!(read("[1,2,3]"), None, "1 to 2.3, or 1.2 to 3");
    assert_eq!(read("31.01.2020 - 28.02.2020"), Some(cover("[2020-01-31, 2020-02-28]")));
    assert_eq!(read("< 31.01.2020"), Some(cover("<2020-01-31")));
}

/// An interval by its definition.
#[derive(Debug, Clone, Copy)]
struct Meant {
    low: f64,
    high: f64,
    closed_below: bool,
    closed_above: bool,
}

impl Meant {
    fn has(self, value: f64) -> bool {
        let above = if self.closed_below { value >= self.low } else { value > self.low };
        let below = if self.closed_above { value <= self.high } else { value < self.high };
        above && below
    }
}

/// The notations that can express the two ends, each with what it then means.
fn written(low: &str, high: &str, meant: Meant) -> Vec<(String, Meant)> {
    let both = |closed_below: bool, closed_above: bool| Meant { closed_below, closed_above, ..meant };
    let from = |closed_below: bool| Meant { closed_below, high: f64::INFINITY, ..meant };
    let to = |closed_above: bool| Meant { closed_above, low: f64::NEG_INFINITY, ..meant };
    vec![
        (format!("[{low}, {high}["), both(true, false)),
        (format!("[{low},{high})"), both(true, false)),
        (format!("({low},{high}]"), both(false, true)),
        (format!("({low}, {high}]"), both(false, true)),
        (format!("]{low}, {high}]"), both(false, true)),
        (format!("]{low}; {high}["), both(false, false)),
        (format!("[{low};{high}]"), both(true, true)),
        (format!("[{low}-{high}]"), both(true, true)),
        (format!("[{low}-{high}["), both(true, false)),
        (format!("{low}-{high}"), both(true, true)),
        (format!("{low} – {high}"), both(true, true)),
        (format!("{low}–{high}"), both(true, true)),
        (format!("{low} to {high}"), both(true, true)),
        (format!("{low}..{high}"), both(true, true)),
        (format!("{low}-<{high}"), both(true, false)),
        (format!("{low}<-{high}"), both(false, true)),
        (format!("<{high}"), to(false)),
        (format!("< {high}"), to(false)),
        (format!("<={high}"), to(true)),
        (format!("≤{high}"), to(true)),
        (format!("(-Inf,{high}]"), to(true)),
        (format!(">{low}"), from(false)),
        (format!(">= {low}"), from(true)),
        (format!("≥{low}"), from(true)),
        (format!("{low}+"), from(true)),
        (format!("{low} and over"), from(true)),
        (format!("[{low},Inf)"), from(true)),
        (format!("({low}, inf]"), from(false)),
    ]
}

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

#[test]
fn whole_numbers_lie_where_the_definition_says() {
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let low: i64 = rng.random_range(-50..100);
        let high = low + rng.random_range(1..40);
        let meant = Meant { low: low as f64, high: high as f64, closed_below: true, closed_above: true };
        for (label, meant) in written(&low.to_string(), &high.to_string(), meant) {
            let cover = cover_of_label(&label);
            for value in low - 3..=high + 3 {
                assert_eq!(
                    covers(&cover, Bound::Integer(value)),
                    meant.has(value as f64),
                    "seed {seed}: `{label}`, {value}"
                );
            }
        }
    }
}

#[test]
fn real_numbers_lie_where_the_definition_says() {
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut draw = |digits: u32| {
            let unit = 10f64.powi(digits as i32);
            let number = (rng.random_range(-50.0..100.0f64) * unit).round() / unit;
            // As pandas, as R with few digits, and as a whole number.
            let text = match rng.random_range(0..3) {
                0 => format!("{number:?}"),
                1 if number != 0.0 => format!("{number:e}"),
                _ => number.to_string(),
            };
            (number, text)
        };
        let (digits, more) = (seed as u32 % 4, (seed as u32 / 4) % 3);
        let (mut low, mut high) = (draw(digits), draw(more));
        if low.0 == high.0 {
            continue;
        }
        if low.0 > high.0 {
            std::mem::swap(&mut low, &mut high);
        }
        let meant = Meant { low: low.0, high: high.0, closed_below: true, closed_above: true };
        for (label, meant) in written(&low.1, &high.1, meant) {
            let cover = cover_of_label(&label);
            let span = high.0 - low.0;
            let mut values: Vec<f64> = (0..19).map(|step| low.0 + span * (f64::from(step) / 9.0 - 0.5)).collect();
            for end in [low.0, high.0] {
                values.extend([end, end.next_up(), end.next_down(), end + 0.5, end - 0.5, end.floor(), end.ceil()]);
            }
            for value in values {
                let found = covers(&cover, Bound::Float(value));
                assert_eq!(found, meant.has(value), "seed {seed}: `{label}`, {value}: {cover:?}");
            }
        }
    }
}

#[test]
fn days_lie_where_the_definition_says() {
    for seed in seeds(200) {
        let mut rng = StdRng::seed_from_u64(seed);
        let low: i32 = rng.random_range(-4000..20000);
        let high = low + rng.random_range(1..900);
        let meant = Meant { low: f64::from(low), high: f64::from(high), closed_below: true, closed_above: true };
        for (label, meant) in written(&Date(low).to_string(), &Date(high).to_string(), meant) {
            let cover = cover_of_label(&label);
            for day in (low - 2..low + 3).chain(high - 2..high + 3) {
                let found = covers(&cover, Bound::Date(Date(day)));
                assert_eq!(found, meant.has(f64::from(day)), "seed {seed}: `{label}`, {}", Date(day));
            }
        }
    }
}

#[test]
fn a_cover_holds_values_of_its_own_axis() {
    for (label, kind, holds) in [
        ("20-39", Kind::Integer, true),
        ("20-39", Kind::Date, false),
        ("2020-01", Kind::Date, true),
        ("twenty", Kind::Float, false),
        ("twenty", Kind::Category, true),
        ("2*", Kind::Integer, true),
        ("{1, 2}", Kind::Integer, true),
        ("*", Kind::Date, true),
    ] {
        assert_eq!(can_hold(&cover_of_label(label), kind), holds, "{label}");
    }
}

#[test]
fn a_label_that_says_less_than_it_covers_misstates() {
    let interval = |low: Option<i64>, high: Option<i64>| Cover::Interval {
        low: low.map(Bound::Integer),
        high: high.map(Bound::Integer),
    };
    let twenties = interval(Some(20), Some(30));
    let misstated = |label: &str, cover: &Cover| misstates(label, cover, Kind::Integer);
    for label in ["20 to 29", "20-29", "[20, 30[", "<30", "20+", "18 to 30", "twenties", "*", "20 to 29 (level 1)"] {
        assert!(!misstated(label, &twenties), "{label}");
    }
    for label in ["20 to 28", "21 to 29", "25", "60 to 69", "<29", "21+"] {
        assert!(misstated(label, &twenties), "{label}");
    }
    assert!(misstated("20 to 29", &interval(Some(20), None)) && !misstated("20+", &interval(Some(20), None)));
    let day = |text: &str| Bound::Date(Date::parse_iso(text).unwrap());
    let month = Cover::Interval { low: Some(day("2020-03-01")), high: Some(day("2020-04-01")) };
    assert!(!misstates("2020-03", &month, Kind::Date) && misstates("2020-02", &month, Kind::Date));
    assert!(!misstates("2020", &month, Kind::Date), "a year is not a number of days");
    let last = Cover::Interval { low: Bound::parse("9999-12-01"), high: None };
    assert!(!misstates("9999-12", &last, Kind::Date), "no day after the last one can be written");
}
