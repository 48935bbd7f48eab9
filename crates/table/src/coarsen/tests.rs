//! Covers against the values themselves: a source value becomes a coarser one exactly when the
//! coarser one's cover holds it.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::engine::{Counted, Embedded};
use crate::{Engine, EngineAnswer, NoProgress, Table};

fn coarsening(way: Way, bottom: Option<Bound>, top: Option<Bound>) -> Coarsening {
    Coarsening { way, bottom, top, place: "policy.toml".to_owned() }
}

fn holds(cover: &Cover, value: Bound) -> bool {
    match cover {
        Cover::Everything => true,
        Cover::Point(point) => *point == value,
        Cover::Interval { low, high } => low.is_none_or(|low| low <= value) && high.is_none_or(|high| value < high),
        Cover::Missing | Cover::Leaves(_) => false,
    }
}

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

#[test]
fn a_value_becomes_the_one_number_whose_cover_holds_it() {
    for seed in seeds(3000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let whole = rng.random_bool(0.5);
        let way = match rng.random_range(0..3) {
            0 => Way::Clip,
            1 if whole => Way::Round(Ratio::integer(rng.random_range(1..300))),
            1 => Way::Round(Ratio::parse(["0.1", "0.25", "3", "0.7", "100", "1e3"][rng.random_range(0..6)]).unwrap()),
            _ => Way::Significant(rng.random_range(1..4)),
        };
        let end = |rng: &mut StdRng, from: i64| {
            let value = rng.random_range(from..from + 900);
            let bound = if whole { Bound::Integer(value) } else { Bound::Float(value as f64 / 4.0) };
            rng.random_bool(0.3).then_some(bound)
        };
        let coarsening = coarsening(way, end(&mut rng, -1000), end(&mut rng, 0));
        let scale = [30, 2000, 2_000_000][rng.random_range(0..3)];
        let mut numbers: Vec<i64> = (0..40).map(|_| rng.random_range(-scale..scale)).chain([0]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let values = match whole {
            true => Values::Integer(numbers),
            false => Values::Float(numbers.into_iter().map(|number| number as f64 / 20.0).collect()),
        };
        let domain = Domain::new(values, rng.random_bool(0.5));
        let coarser = coarsening.apply("x", &domain, &[]).unwrap();
        assert_eq!(coarser.map.len(), domain.cardinality(), "seed {seed}");
        assert_eq!(domain.missing_code().map(|code| coarser.map[code as usize]), coarser.domain.missing_code());
        let bound = |domain: &Domain, code: u32| Bound::parse(&domain.text(code)).unwrap();
        for label in 0..coarser.domain.present() as u32 {
            let number = bound(&coarser.domain, label);
            let cover = coarsening.cover(number, domain.kind());
            let cover = cover.unwrap_or_else(|| panic!("seed {seed}: {coarsening:?} gives {number} and denies it"));
            for code in 0..domain.present() as u32 {
                let value = bound(&domain, code);
                let becomes = coarser.map[code as usize] == label;
                assert_eq!(
                    holds(&cover, value),
                    becomes,
                    "seed {seed}: {coarsening:?}: {value} under {number}: {cover:?}"
                );
            }
        }
        // Coarser values stay as they are, unless an end is rounded away.
        if coarsening.bottom.is_some() || coarsening.top.is_some() {
            continue;
        }
        let again = coarsening.apply("x", &coarser.domain, &[]).unwrap();
        assert_eq!(again.domain, coarser.domain, "seed {seed}: {coarsening:?}");
    }
}

#[test]
fn numbers_are_rounded_as_one_rounds_by_hand() {
    let becomes = |way: Way, values: &[&str]| -> Vec<String> {
        let (domain, codes) = Domain::from_texts(values, false, None).unwrap();
        let coarser = coarsening(way, None, None).apply("x", &domain, &[]).unwrap();
        codes.iter().map(|&code| coarser.domain.text(coarser.map[code as usize])).collect()
    };
    assert_eq!(
        becomes(Way::Round(Ratio::integer(100)), &["149", "150", "-150", "-151"]),
        ["100", "200", "-100", "-200"]
    );
    assert_eq!(becomes(Way::Round(Ratio::parse("0.1").unwrap()), &["0.31", "2.5501", "-0.04"]), ["0.3", "2.6", "0"]);
    assert_eq!(becomes(Way::Significant(2), &["0", "7", "994", "995", "123456"]), ["0", "7", "990", "1000", "120000"]);
    assert_eq!(becomes(Way::Significant(1), &["0.00123", "-96.5"]), ["0.001", "-100"]);
}

#[test]
fn values_that_cannot_be_coarsened_are_refused() {
    let refused = |coarsening: &Coarsening, values: &[&str]| {
        let domain = Domain::from_texts(values, false, None).unwrap().0;
        coarsening.apply("x", &domain, &[]).unwrap_err().to_string()
    };
    let round = coarsening(Way::Round(Ratio::integer(10)), None, None);
    assert!(refused(&round, &["a", "b"]).contains("has texts"));
    assert!(refused(&round, &["2020-01-01"]).contains("has dates"));
    let halves = coarsening(Way::Round(Ratio::parse("0.5").unwrap()), None, None);
    assert!(refused(&halves, &["1", "2"]).contains("whole numbers"));
    let level = coarsening(Way::Level(HierarchySpec::Mask(1), 1), None, None);
    assert!(level.apply("x", &Domain::from_texts(&["12", "13"], false, None).unwrap().0, &[]).is_ok());
    let top = coarsening(Way::Level(HierarchySpec::None, 1), None, None);
    assert!(refused(&top, &["a", "b"]).contains("no level 1 below the top"));
    for way in [round.way.clone(), Way::Dates(DateUnit::Month), level.way.clone()] {
        let empty = Domain::new(Values::Category(Vec::new()), true);
        assert_eq!(coarsening(way, None, None).apply("x", &empty, &[]).unwrap().domain, empty);
    }
}

/// Rows outside of memory are coarsened as they pass by, and counted as a coarser table would be.
#[test]
fn an_engine_counts_what_a_coarser_table_has() {
    for seed in seeds(50) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows: Vec<[String; 3]> = (0..rng.random_range(1..60))
            .map(|_| {
                let amount = if rng.random_bool(0.1) { String::new() } else { rng.random_range(0..400).to_string() };
                [rng.random_range(0..3).to_string(), amount, rng.random_range(0..2).to_string()]
            })
            .collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["a", "b", "c"], &rows);
        let round = coarsening(Way::Round(Ratio::integer(100)), None, None);
        let Ok((column, coarser)) = round.column(&table.columns[1], &[]) else { continue };
        let mut expected = table.clone();
        expected.columns[1] = column;
        let engine = CoarsenedEngine::new(Box::new(Embedded::new(&table)), vec![None, Some(coarser), None]);
        for names in [&["a", "b"][..], &["b"], &["c", "b", "a"], &["a", "c"]] {
            let of = |engine: &dyn Engine| match Counted::of(engine, names, &NoProgress).unwrap() {
                EngineAnswer::Exact(counted) => counted,
                EngineAnswer::Unsupported(why) => panic!("{why}"),
            };
            assert_eq!(of(&engine), of(&Embedded::new(&expected)), "seed {seed}");
        }
    }
}
