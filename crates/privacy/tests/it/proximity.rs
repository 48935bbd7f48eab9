//! Nearness of numbers against its definitions: (ε,m)-anonymity and (δ,l)-diversity over random
//! classes, judged pair by pair in decimal arithmetic of this file's own.
//!
//! `HEDGEROW_SEED=N` replays the case that a failure names.

use hedgerow_privacy::{Class, Context, Distribution, Guarantee, Model, NumberCloseness, models};
use hedgerow_table::{Domain, Kind, Ratio};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

const CASES: u64 = 30_000;
const UNIONS: usize = 100_000;

/// Thresholds as a policy may write them.
const WIDTHS: [&str; 9] = ["0", "0.05", "0.1", "0.15", "0.5", "1", "7.5", "15", "365.25"];

/// A decimal times 10^17: sign, digits, point, exponent.
fn exact(text: &str) -> i128 {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let shift = 17 + exponent.parse::<i32>().unwrap() - fraction.len() as i32;
    let digits: i128 = format!("{whole}{fraction}").parse().unwrap();
    let value = digits * 10i128.pow(u32::try_from(shift).expect("no smaller digits in these tests"));
    if negative { -value } else { value }
}

/// The value that the definitions see: a number times 10^17, a date's day times 10^17, `None` when
/// missing.
fn number(text: &str) -> Option<i128> {
    let parts: Vec<i128> = text.split('-').filter_map(|part| part.parse().ok()).collect();
    match parts[..] {
        _ if text.is_empty() => None,
        // Days by counting them: 365 a year, the leap days, the months before.
        [year, month, day] if !text.starts_with('-') => {
            let leap = |year: i128| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let years: i128 = (1900..year).map(|year| if leap(year) { 366 } else { 365 }).sum();
            let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            Some((years + lengths[..month as usize - 1].iter().sum::<i128>() + day) * 10i128.pow(17))
        }
        _ => Some(exact(text)),
    }
}

/// Rows in the largest set of close values, straight from the definitions.
fn largest_neighborhood(model: &Model, width: &str, texts: &[String]) -> usize {
    let width = exact(width);
    let values: Vec<Option<i128>> = texts.iter().map(|text| number(text)).collect();
    let count = |close: &dyn Fn(i128) -> bool| values.iter().flatten().filter(|&&y| close(y)).count();
    let neighborhoods = values.iter().flatten().flat_map(|&x| match model {
        Model::EpsilonMAnonymity { relative: false, .. } => vec![count(&|y| (y - x).abs() <= width)],
        Model::EpsilonMAnonymity { .. } => {
            // The whole part of size · share: what is apart by a whole number of units is within it
            // or beyond.
            let unit = 10i128.pow(17);
            let near = |y: i128| {
                let size = x.abs();
                (y - x).abs() <= size / unit * width + size % unit * width / unit
            };
            vec![count(&near)]
        }
        Model::DeltaLDiversity { reading: NumberCloseness::Pairwise, .. } => {
            vec![count(&|y| (y - x).abs() <= 2 * width)]
        }
        // Every interval between two values that is short enough.
        Model::DeltaLDiversity { .. } => {
            let ends = values.iter().flatten().filter(|&&end| end >= x && end - x <= 2 * width);
            ends.map(|&end| count(&|y| (x..=end).contains(&y))).collect()
        }
        other => unreachable!("{other:?} is not about nearness"),
    });
    let missing = values.iter().filter(|value| value.is_none()).count();
    neighborhoods.chain([missing]).max().unwrap()
}

/// Values of one kind, some of them missing: whole numbers, decimals that binary floats cannot
/// hold, dates.
fn random_texts(rng: &mut StdRng) -> Vec<String> {
    let count = *[1usize, 1, 2, 3, 4, 6, 9, 14, 25].choose(rng).unwrap();
    let kind = rng.random_range(0..5);
    let spread = *[1i64, 3, 10, 60].choose(rng).unwrap();
    let missing = *[0.0, 0.0, 0.15, 0.9].choose(rng).unwrap();
    let awkward =
        ["0.1", "0.2", "0.3", "0.30000000000000004", "0.6", "0.7", "0.8", "1e-7", "-0.1", "1.1", "0.15", "2.5e3"];
    let value = |rng: &mut StdRng| match kind {
        0 => (rng.random_range(-spread..=spread) * 5).to_string(),
        1 => format!("{}.{}", rng.random_range(0..=spread), rng.random_range(0..=9)),
        2 => (*awkward.choose(rng).unwrap()).to_owned(),
        3 => format!("20{:02}-{:02}-{:02}", rng.random_range(0..3), rng.random_range(1..=12), rng.random_range(1..=28)),
        _ => format!("{}.{:02}", rng.random_range(-spread..0), rng.random_range(0..=20) * 5),
    };
    (0..count).map(|_| if rng.random_bool(missing) { String::new() } else { value(rng) }).collect()
}

/// Shares are of numbers only: a date has no size.
fn random_model(rng: &mut StdRng, dates: bool) -> (Model, &'static str) {
    let ratio = |text: &str| Ratio::from_decimal(text.parse().unwrap()).unwrap();
    let l = ratio(["1", "1.5", "2", "2.5", "3", "1.3333"].choose(rng).unwrap());
    let width = *WIDTHS.choose(rng).unwrap();
    match rng.random_range(0..4) {
        0 => (Model::EpsilonMAnonymity { epsilon: ratio(width), m: l, relative: false }, width),
        1 if !dates => {
            let share = *["0", "0.05", "0.1", "0.5", "1"].choose(rng).unwrap();
            (Model::EpsilonMAnonymity { epsilon: ratio(share), m: l, relative: true }, share)
        }
        2 => (Model::DeltaLDiversity { delta: ratio(width), l, reading: NumberCloseness::Pairwise }, width),
        _ => (Model::DeltaLDiversity { delta: ratio(width), l, reading: NumberCloseness::Window }, width),
    }
}

/// The codes of texts in a domain, counted.
fn counted(domain: &Domain, texts: &[String]) -> Vec<(u32, u32)> {
    let mut counts = vec![0u32; domain.cardinality()];
    for text in texts {
        let code = if text.is_empty() { domain.missing_code() } else { domain.code_of(text) };
        counts[code.unwrap() as usize] += 1;
    }
    (0..).zip(counts).filter(|(_, count)| *count > 0).collect()
}

fn domain_of(texts: &[String]) -> Domain {
    let present: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    // Declared, since texts such as `1` and `1.0` are one number.
    let kind =
        [Kind::Integer, Kind::Date, Kind::Float].into_iter().find(|kind| present.iter().all(|text| kind.takes(text)));
    Domain::from_texts(&present, present.len() < texts.len(), kind).unwrap().0
}

fn required(model: &Model) -> f64 {
    match model {
        Model::EpsilonMAnonymity { m: l, .. } | Model::DeltaLDiversity { l, .. } => l.as_f64(),
        other => unreachable!("{other:?}"),
    }
}

fn seeds() -> Vec<u64> {
    let replayed = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok());
    replayed.map_or_else(|| (0..CASES).collect(), |seed| vec![seed])
}

#[test]
fn close_values_are_those_of_the_definitions() {
    let mut held = 0;
    for seed in seeds() {
        let mut rng = StdRng::seed_from_u64(seed);
        let texts = random_texts(&mut rng);
        let dates = texts.iter().any(|text| text.len() == 10 && text.starts_with("20"));
        let (model, width) = random_model(&mut rng, dates);
        // The class is part of a larger table, whose other values must not matter.
        let class: Vec<String> = texts.iter().take(rng.random_range(1..=texts.len())).cloned().collect();
        let domain = domain_of(&texts);
        let guarantee = models::guarantee(&model, &Context { protect: Some(&domain), ..Context::default() }).unwrap();
        let values = counted(&domain, &class);
        let judged = Class { rows: class.len() as u64, values: &values };
        // All rows, and the rows whose value is known.
        let known: Vec<String> = class.iter().filter(|text| !text.is_empty()).cloned().collect();
        let halves = [&class, &known].into_iter().filter(|rows| !rows.is_empty());
        let (rows, close) = halves
            .map(|rows| (rows.len() as f64, largest_neighborhood(&model, width, rows) as f64))
            .min_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)))
            .unwrap();
        let context = format!("seed {seed}: {model:?} of {class:?} among {texts:?}");
        let measured = guarantee.measure(judged, &Distribution::default())[0].value;
        assert_eq!(measured, rows / close, "{context}");
        let holds = close * required(&model) <= rows + 1e-9;
        assert_eq!(guarantee.holds(judged, &Distribution::default()), holds, "{context}");
        assert!(!holds || guarantee.core().holds(judged), "holds without its core, {context}");
        held += usize::from(holds);
    }
    assert!(seeds().len() == 1 || held > 5_000, "only {held} classes held: too few");
}

fn holds(guarantee: &dyn Guarantee, domain: &Domain, texts: &[String]) -> bool {
    let values = counted(domain, texts);
    guarantee.holds(Class { rows: texts.len() as u64, values: &values }, &Distribution::default())
}

/// Tries unions of random classes that hold, drawn from one random column: how many there were, and
/// how many unions failed.
fn try_unions(rng: &mut StdRng, reading: NumberCloseness) -> (usize, usize) {
    let texts = random_texts(rng);
    let ratio = |text: &str| Ratio::from_decimal(text.parse().unwrap()).unwrap();
    let (delta, l) = (ratio(WIDTHS.choose(rng).unwrap()), ratio(["1.25", "1.5", "2", "2.5", "3"].choose(rng).unwrap()));
    let domain = domain_of(&texts);
    let model = Model::DeltaLDiversity { delta, l, reading };
    let guarantee = models::guarantee(&model, &Context { protect: Some(&domain), ..Context::default() }).unwrap();
    let codes = domain.cardinality();
    let holds = |counts: &[u32]| {
        let values: Vec<(u32, u32)> = (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect();
        let rows = counts.iter().map(|&count| u64::from(count)).sum();
        guarantee.holds(Class { rows, values: &values }, &Distribution::default())
    };
    let (mut tried, mut failed) = (0, 0);
    for _ in 0..100 {
        let [one, other] = [0, 1].map(|_| {
            let mut counts = vec![0u32; codes];
            (0..rng.random_range(2..8)).for_each(|_| counts[rng.random_range(0..codes)] += 1);
            counts
        });
        if holds(&one) && holds(&other) {
            let union: Vec<u32> = one.iter().zip(&other).map(|(one, other)| one + other).collect();
            let fails = !holds(&union);
            assert!(!fails || reading == NumberCloseness::Pairwise, "{model:?}: {one:?} and {other:?} over {domain:?}");
            tried += 1;
            failed += usize::from(fails);
        }
    }
    (tried, failed)
}

#[test]
fn by_window_no_union_of_classes_that_hold_fails_and_pairwise_some_do() {
    let mut rng = StdRng::seed_from_u64(20_262);
    let (mut by_window, mut pairwise_failed) = (0, 0);
    while by_window < UNIONS {
        by_window += try_unions(&mut rng, NumberCloseness::Window).0;
        pairwise_failed += try_unions(&mut rng, NumberCloseness::Pairwise).1;
    }
    assert!(pairwise_failed > 100, "definition 5 survived all but {pairwise_failed} unions");
}

/// One such case of whole days, so that it is not about rounding.
#[test]
fn two_pairs_of_dates_hold_pairwise_and_their_union_does_not() {
    let texts = |days: &[&str]| days.iter().map(|day| (*day).to_owned()).collect::<Vec<_>>();
    let (one, other) = (texts(&["2024-02-01", "2024-03-10"]), texts(&["2024-02-20", "2024-04-20"]));
    let all = [one.clone(), other.clone()].concat();
    let domain = domain_of(&all);
    let model = |reading| Model::DeltaLDiversity { delta: Ratio::integer(15), l: Ratio::integer(2), reading };
    let pairwise =
        models::guarantee(&model(NumberCloseness::Pairwise), &Context { protect: Some(&domain), ..Context::default() })
            .unwrap();
    assert!(holds(pairwise.as_ref(), &domain, &one) && holds(pairwise.as_ref(), &domain, &other));
    assert!(!holds(pairwise.as_ref(), &domain, &all), "19 days before and 19 days after the 20th of February");
    let window =
        models::guarantee(&model(NumberCloseness::Window), &Context { protect: Some(&domain), ..Context::default() })
            .unwrap();
    assert!(holds(window.as_ref(), &domain, &all));
}

/// A search concludes from it what finer levels suppress: tried on every way to divide small
/// classes into parts that hold and rows that are suppressed.
#[test]
fn no_parts_keep_more_of_a_class_than_the_bound_says() {
    const CLASSES: u64 = 6_000;
    let (mut less, mut exact) = (0, 0);
    for seed in 0..CLASSES {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut texts = random_texts(&mut rng);
        texts.truncate(8);
        let dates = texts.iter().any(|text| text.len() == 10 && text.starts_with("20"));
        let (model, _) = random_model(&mut rng, dates);
        let domain = domain_of(&texts);
        let guarantee = models::guarantee(&model, &Context { protect: Some(&domain), ..Context::default() }).unwrap();
        let part = |mask: usize| -> Vec<String> {
            (0..texts.len()).filter(|row| mask >> row & 1 == 1).map(|row| texts[row].clone()).collect()
        };
        let masks = 1usize << texts.len();
        let held: Vec<bool> =
            (0..masks).map(|mask| mask > 0 && holds(guarantee.as_ref(), &domain, &part(mask))).collect();
        // The most rows that parts of a set keep: of one part that holds, and of what is left.
        let mut kept = vec![0u32; masks];
        for mask in 1..masks {
            let mut sub = mask;
            while sub > 0 {
                if held[sub] {
                    kept[mask] = kept[mask].max(sub.count_ones() + kept[mask & !sub]);
                }
                sub = (sub - 1) & mask;
            }
        }
        let largest = (0..masks).filter(|&mask| held[mask]).map(usize::count_ones).max().unwrap_or(0);
        let values = counted(&domain, &texts);
        let bound = guarantee.kept_at_most(Class { rows: texts.len() as u64, values: &values });
        let most = u64::from(kept[masks - 1]);
        let context = format!("seed {seed}: {model:?} of {texts:?}: {most} are kept, {bound} is the bound");
        assert!(most <= bound && bound <= texts.len() as u64, "{context}");
        let missing = texts.iter().any(String::is_empty);
        if matches!(model, Model::DeltaLDiversity { reading: NumberCloseness::Window, .. }) && !missing {
            assert_eq!((most, u64::from(largest)), (bound, bound), "by window it is exact, {context}");
            exact += 1;
        }
        less += u64::from(bound < texts.len() as u64);
    }
    assert!(less > CLASSES / 5 && exact > CLASSES / 10, "{less} bounds said something, {exact} were exact");
}
