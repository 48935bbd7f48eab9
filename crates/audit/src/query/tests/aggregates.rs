//! MIN, MAX, quantiles, deviations, distinct values, arithmetic, CASE and HAVING against every
//! table that could be behind a small release.

use rand::SeedableRng;
use rand::seq::IndexedRandom;

use super::*;

pub(super) const NAMES: [&str; 2] = ["age", "color"];
pub(super) const KINDS: [Kind; 2] = [Kind::Integer, Kind::Category];

pub(super) fn labels() -> [Vec<TestLabel>; 2] {
    let two_and_four = TestLabel {
        text: "even".to_owned(),
        cover: Cover::Leaves(["2", "4", ""].map(str::to_owned).to_vec()),
        likely: Vec::new(),
        possible: [Some(2.0), Some(4.0), None].map(|value| value.map(Known::Number)).to_vec(),
    };
    let ages = vec![range(0, 2), range(1, 3), point(4), point(7), missing(), two_and_four];
    let colors =
        vec![colors("cold", &["blue", "gray"]), colors("dull", &["gray", ""]), colors("red", &["red"]), missing()];
    [ages, colors]
}

type TestRow = Vec<Value>;

/// Every table behind some rows: each cell any value that its label covers.
pub(super) fn tables(rows: &[Vec<&TestLabel>]) -> Vec<Vec<TestRow>> {
    let mut tables: Vec<Vec<TestRow>> = vec![Vec::new()];
    for row in rows {
        let mut values: Vec<TestRow> = vec![Vec::new()];
        for label in row {
            values = values
                .iter()
                .flat_map(|row| {
                    label.possible.iter().map(|value| [row.as_slice(), std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        tables = tables
            .iter()
            .flat_map(|table| values.iter().map(|row| [table.as_slice(), std::slice::from_ref(row)].concat()))
            .collect();
    }
    tables
}

fn age(row: &TestRow) -> Option<f64> {
    match &row[0] {
        Some(Known::Number(age)) => Some(*age),
        _ => None,
    }
}

/// By SQL's definitions, over the rows that WHERE keeps; `None` is null.
fn truths(rows: &[&TestRow], case: &Test) -> Vec<(&'static str, Option<f64>)> {
    let mut ages: Vec<f64> = rows.iter().filter_map(|row| age(row)).collect();
    ages.sort_unstable_by(f64::total_cmp);
    let quantile = |share: f64| {
        let place = (ages.len().checked_sub(1)?) as f64 * share;
        let (low, high) = (ages[place.floor() as usize], ages[place.ceil() as usize]);
        Some(low + (high - low) * place.fract())
    };
    let sum = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>());
    let variance = || {
        let mean = sum(&ages)? / ages.len() as f64;
        Some(ages.iter().map(|age| (age - mean).powi(2)).sum::<f64>() / ages.len() as f64)
    };
    let sample =
        || variance().filter(|_| ages.len() > 1).map(|found| found * ages.len() as f64 / (ages.len() - 1) as f64);
    let count = |mut values: Vec<String>| {
        values.sort_unstable();
        values.dedup();
        Some(values.len() as f64)
    };
    let shown = |value: &Value| value.as_ref().map(|value| format!("{value:?}"));
    let of_case: Vec<f64> = rows
        .iter()
        .filter_map(|row| if truth(case, row) == Some(true) { age(row).map(|age| age * 2.0 + 1.0) } else { Some(-1.0) })
        .collect();
    let held = rows.iter().filter(|row| truth(case, row) == Some(true)).count() as f64;
    // Integers are divided without the fraction, toward zero; by zero, the result is missing.
    let each = |of: &dyn Fn(i64) -> Option<i64>| -> Vec<f64> {
        ages.iter().filter_map(|age| of(*age as i64)).map(|value| value as f64).collect()
    };
    let of_mixed = rows.iter().filter_map(|row| match truth(case, row) {
        Some(true) => age(row).map(|age| (age as i64 / 2) as f64),
        _ => Some(1.25),
    });
    let of_mixed: Vec<f64> = of_mixed.collect();
    let halves: Vec<f64> = ages.iter().map(|age| age / 2.0).collect();
    let sevenths = each(&|age| 7i64.checked_div(3 - age));
    let mean = |values: &[f64]| sum(values).map(|sum| sum / values.len() as f64);
    vec![
        ("MIN(age)", quantile(0.0)),
        ("MAX(age)", quantile(1.0)),
        ("MEDIAN(age)", quantile(0.5)),
        ("QUANTILE(age, 0.25)", quantile(0.25)),
        ("STDDEV_POP(age)", variance().map(f64::sqrt)),
        ("VAR_SAMP(age)", sample()),
        ("COUNT(DISTINCT age)", count(rows.iter().filter_map(|row| shown(&row[0])).collect())),
        ("COUNT(DISTINCT color)", count(rows.iter().filter_map(|row| shown(&row[1])).collect())),
        ("SUM((3 - age) * 2 / 4)", sum(&each(&|age| Some((3 - age) * 2 / 4)))),
        ("SUM(CASE … END)", sum(&of_case)),
        ("COUNT(CASE … END)", Some(held)),
        ("ratio", sum(&ages).map(|ages| (ages as i64 / rows.len() as i64) as f64 + 1.0)),
        ("AVG(age / -2)", mean(&each(&|age| Some(age / -2)))),
        ("AVG(age / 2.0)", mean(&halves)),
        ("sevenths", sum(&sevenths)),
        ("how_many", Some(sevenths.len() as f64)),
        ("mixed", sum(&of_mixed)),
        ("real_ratio", sum(&of_mixed).map(|mixed| mixed / 2.0)),
    ]
}

pub(super) fn random_rows<'l>(rng: &mut StdRng, labels: &'l [Vec<TestLabel>; 2]) -> Vec<Vec<&'l TestLabel>> {
    (0..rng.random_range(1..=3)).map(|_| labels.iter().map(|labels| labels.choose(rng).unwrap()).collect()).collect()
}

#[test]
fn every_table_lies_within_the_bounds() {
    for seed in seeds(500) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = labels();
        let rows = random_rows(&mut rng, &labels);
        let release = release_of(&NAMES, &KINDS, &rows);
        let (wanted, case) = (random_test(&mut rng, &[false, true], 2), random_test(&mut rng, &[false, true], 1));
        let (wanted_sql, case_sql) = (sql_of(&wanted, &NAMES), sql_of(&case, &NAMES));
        let sql = format!(
            "SELECT MIN(age), MAX(age), MEDIAN(age), QUANTILE(age, 0.25), STDDEV_POP(age), VAR_SAMP(age), \
             COUNT(DISTINCT age), COUNT(DISTINCT color), SUM((3 - age) * 2 / 4), \
             SUM(CASE WHEN {case_sql} THEN age * 2 + 1 ELSE -1 END), COUNT(CASE WHEN {case_sql} THEN 1 END), \
             SUM(age) / COUNT(*) + 1 AS ratio, AVG(age / -2), AVG(age / 2.0), SUM(7 / (3 - age)) AS sevenths, \
             COUNT(7 / (3 - age)) AS how_many, SUM(CASE WHEN {case_sql} THEN age ELSE 2.5 END / 2) AS mixed, \
             SUM(CASE WHEN {case_sql} THEN age ELSE 2.5 END / 2) / 2.0 AS real_ratio FROM data WHERE {wanted_sql}"
        );
        let found = run(&release, &sql);
        let line = &found["answer"][0];
        let mut ends: Vec<(f64, f64)> = vec![(f64::INFINITY, f64::NEG_INFINITY); 18];
        for table in tables(&rows) {
            let kept: Vec<&TestRow> = table.iter().filter(|row| truth(&wanted, row) == Some(true)).collect();
            for ((name, truth), ends) in truths(&kept, &case).into_iter().zip(&mut ends) {
                let Some(truth) = truth else { continue };
                let [_, low, high] = three(line, name);
                let within = low <= truth + 1e-9 && (truth <= high + 1e-9 || line[name]["possible"].is_null());
                let below = line[name]["certain"].is_null() || low <= truth + 1e-9;
                assert!(
                    within || (below && line[name]["possible"].is_null()),
                    "seed {seed}: {name} {truth} in {line}\n{sql}"
                );
                *ends = (ends.0.min(truth), ends.1.max(truth));
            }
        }
        // Of values that can be anything within their cells, the bounds of these are attained.
        for (place, name) in ["MIN(age)", "MAX(age)", "MEDIAN(age)", "QUANTILE(age, 0.25)"].iter().enumerate() {
            // A cell of two numbers and nothing between them is taken as an interval.
            let whole = rows.iter().all(|row| row[0].text != "even");
            if whole && wanted_sql.len() < 20 && ends[place].0.is_finite() {
                let [_, low, high] = three(line, name);
                close(low, ends[place].0, &format!("seed {seed}: the least {name}\n{sql}"));
                close(high, ends[place].1, &format!("seed {seed}: the greatest {name}\n{sql}"));
            }
        }
    }
}

/// Columns that are released as they are: the answer is that of SQL, to the digit.
#[test]
fn plain_columns_have_exact_answers() {
    let rows = [point(4), point(7), point(7), point(10)].map(|label| vec![label, colors("red", &["red"])]);
    let rows: Vec<Vec<&TestLabel>> = rows.iter().map(|row| row.iter().collect()).collect();
    let release = release_of(&NAMES, &KINDS, &rows);
    let sql = "SELECT MIN(age), MAX(age), MEDIAN(age), QUANTILE(age, 0.9), STDDEV(age), COUNT(DISTINCT age), \
               COUNT(DISTINCT color), SUM(age * 2), AVG(CASE WHEN age > 5 THEN 1 ELSE 0 END), \
               AVG(age / 2), SUM(age / -4), COUNT(age / (age - 7)), SUM(age) / COUNT(*), AVG(age) / 2 FROM data";
    let line = &run(&release, sql)["answer"][0];
    let expected = [4.0, 10.0, 7.0, 9.1, 6f64.sqrt(), 3.0, 1.0, 56.0, 0.75, 3.25, -5.0, 2.0, 7.0, 3.5];
    for ((name, found), expected) in line.as_object().unwrap().iter().zip(expected) {
        for part in ["estimate", "certain", "possible"] {
            let value = found[part].as_f64().unwrap_or_else(|| panic!("{name}: {found}"));
            assert!((value - expected).abs() < 1e-6, "{name} {part}: {value}, expected {expected}");
        }
    }
    let large = [point(i64::MAX), point(i64::MAX - 1)].map(|label| vec![label, missing()]);
    let large: Vec<Vec<&TestLabel>> = large.iter().map(|row| row.iter().collect()).collect();
    let found = run(&release_of(&NAMES, &KINDS, &large), "SELECT MIN(age), MAX(age) FROM data");
    assert_eq!(found["answer"][0]["MIN(age)"]["certain"], i64::MAX - 1);
    assert_eq!(found["answer"][0]["MAX(age)"]["possible"], i64::MAX);
}

/// Groups are kept where HAVING can hold, and say how it stands.
#[test]
fn having_says_how_it_stands() {
    let (young, old) = (range(0, 2), range(1, 3));
    let (red, cold) = (colors("red", &["red"]), colors("cold", &["blue", "gray"]));
    let rows = vec![vec![&young, &red], vec![&young, &red], vec![&old, &red], vec![&old, &cold], vec![&old, &cold]];
    let release = release_of(&NAMES, &KINDS, &rows);
    let standing = |having: &str| {
        let sql = format!("SELECT color, COUNT(*) FROM data WHERE age < 2 GROUP BY color HAVING {having}");
        let found = run(&release, &sql);
        let lines = found["answer"].as_array().unwrap();
        lines
            .iter()
            .map(|line| format!("{} {}", line["color"].as_str().unwrap(), line["having"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    // Of the red ones two are certain and three possible; of the cold ones none and two.
    assert_eq!(standing("COUNT(*) >= 2"), ["cold possible", "red certain"]);
    assert_eq!(standing("COUNT(*) > 2"), ["red likely"]);
    assert_eq!(standing("COUNT(*) BETWEEN 1 AND 2"), ["cold likely", "red possible"]);
    // A group without rows is not there.
    assert_eq!(standing("NOT COUNT(*) >= 1"), Vec::<String>::new());
    assert_eq!(standing("COUNT(*) < 100"), ["cold likely", "red certain"]);
    assert_eq!(standing("COUNT(*) * 2 + 1 > 3 AND COUNT(*) < 100"), ["cold possible", "red certain"]);
    assert_eq!(standing("COUNT(*) > 99"), Vec::<String>::new());
}

/// 1700000000123456789 and its neighbors share their nearest float.
#[test]
fn integers_above_two_to_the_53_are_distinguished() {
    let first = 1_700_000_000_123_456_789;
    let points = [first, first + 1, first + 2].map(|value| vec![point(value), missing()]);
    let mut rows: Vec<Vec<&TestLabel>> = points.iter().map(|row| row.iter().collect()).collect();
    rows.extend(rows.clone());
    let release = release_of(&NAMES, &KINDS, &rows);
    let count = |condition: &str| {
        three(&run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    for value in [first, first + 1, first + 2] {
        assert_eq!(count(&format!("age = {value}")), [2.0; 3], "{value}");
    }
    assert_eq!(count(&format!("age < {}", first + 1)), [2.0; 3]);
    assert_eq!(count(&format!("age > {}", first + 1)), [2.0; 3]);
    assert_eq!(count(&format!("age IN ({first}, {})", first + 2)), [4.0; 3]);
    assert_eq!(count(&format!("age = {}", first + 3)), [0.0; 3]);
    // Within a cell of three numbers, each is one of three.
    let cell = range(first, first + 3);
    let row = vec![&cell, &points[0][1]];
    let release = release_of(&NAMES, &KINDS, &[row.clone(), row.clone(), row]);
    let found = run(&release, &format!("SELECT COUNT(*) FROM data WHERE age = {}", first + 1));
    let [estimate, certain, possible] = three(&found["answer"][0], "COUNT(*)");
    close(estimate, 1.0, "one of three");
    assert_eq!((certain, possible), (0.0, 3.0));
}

/// Statements about their order, their mean and their spread are exact where the rows are, and
/// otherwise no bound is rounded inward.
#[test]
fn bounds_of_integers_above_two_to_the_53_hold() {
    let first = 1_700_000_000_123_456_789_i64;
    let gone = missing();
    let open = |low: Option<i64>, high: Option<i64>, text: &str| TestLabel {
        text: text.to_owned(),
        cover: interval(low, high),
        likely: Vec::new(),
        possible: Vec::new(),
    };
    let ask = |labels: &[TestLabel]| {
        let rows: Vec<Vec<&TestLabel>> = labels.iter().map(|label| vec![label, &gone]).collect();
        let release = release_of(&NAMES, &KINDS, &rows);
        let sql = "SELECT SUM(age), AVG(age), MIN(age), MAX(age), MEDIAN(age), STDDEV_POP(age), SUM(age + 0) FROM data";
        run(&release, sql)["answer"][0].clone()
    };
    let exact = |line: &Json, name: &str| {
        ["estimate", "certain", "possible"].map(|part| line[name][part].as_i64().unwrap_or_else(|| panic!("{line}")))
    };
    let points = [first, first + 1, first + 2].map(point);
    let line = ask(&points);
    assert_eq!(exact(&line, "AVG(age)"), [first + 1; 3]);
    assert_eq!(exact(&line, "MIN(age)"), [first; 3]);
    assert_eq!(exact(&line, "MAX(age)"), [first + 2; 3]);
    assert_eq!(exact(&line, "MEDIAN(age)"), [first + 1; 3]);
    for part in three(&line, "STDDEV_POP(age)") {
        close(part, (2.0f64 / 3.0).sqrt(), "the deviation");
    }
    // A cell of ten, and cells with one end.
    let line = ask(&[range(first, first + 10), point(first + 20)]);
    let [_, low, high] = exact(&line, "MIN(age)");
    assert_eq!((low, high), (first, first + 9));
    let [_, low, high] = exact(&line, "MAX(age)");
    assert_eq!((low, high), (first + 20, first + 20));
    // From half of what 20 more are to half of 29 more.
    assert_eq!(line["MEDIAN(age)"]["certain"].as_i64(), Some(first + 10), "{line}");
    assert!(line["MEDIAN(age)"]["possible"].as_f64().unwrap() as i64 >= first + 15, "{line}");
    let below = open(None, Some(first + 1), "below");
    let from = open(Some(first + 1), None, "from");
    let line = ask(&[below.clone(), below, from]);
    assert_eq!(line["MIN(age)"]["possible"].as_i64(), Some(first), "{line}");
    assert_eq!(line["MAX(age)"]["certain"].as_i64(), Some(first + 1), "{line}");
    assert_eq!(line["MEDIAN(age)"]["possible"].as_i64(), Some(first), "{line}");
    // Near and far numbers together: what no float holds is rounded outward.
    let line = ask(&[point(5), point(i64::MAX), point(i64::MAX - 1), range(i64::MAX - 9, i64::MAX - 4)]);
    assert_eq!(exact(&line, "MIN(age)"), [5; 3]);
    assert_eq!(exact(&line, "MAX(age)"), [i64::MAX; 3]);
    let [_, low, high] = three(&line, "MEDIAN(age)");
    let median = i128::from(i64::MAX - 3);
    assert!(low as i128 <= median && high as i128 >= median, "{line}");
    let sum = 5 + 2 * i128::from(i64::MAX) - 1 + i128::from(i64::MAX) - 7;
    for name in ["SUM(age)", "SUM(age + 0)"] {
        let [_, low, high] = three(&line, name);
        assert!(low as i128 <= sum && high as i128 >= sum, "{name}: {line}");
    }
}

/// Near and far numbers together, in cells and points, some of which need not be counted: no digit
/// of the least or the greatest is lost.
#[test]
fn the_least_and_the_greatest_of_large_integers_are_exact() {
    let large = (1_i64 << 60) + 1;
    let bounds = |labels: &[TestLabel], colors: &[&TestLabel], select: &str| {
        let rows: Vec<Vec<&TestLabel>> = labels.iter().zip(colors).map(|(age, color)| vec![age, *color]).collect();
        let found = run(&release_of(&NAMES, &KINDS, &rows), &format!("SELECT {select} AS m FROM data"));
        // Small ones are floats.
        let small = |found: &Json| found.as_f64().filter(|found| found.abs() < 100.0).map(|found| found as i64);
        ["certain", "possible"].map(|part| {
            let bound = &found["answer"][0]["m"][part];
            bound.as_i64().or_else(|| small(bound))
        })
    };
    let wide = |low: i64, high: i64| TestLabel {
        text: format!("{low} to {}", high - 1),
        cover: interval(Some(low), Some(high)),
        likely: Vec::new(),
        possible: Vec::new(),
    };
    let (red, cold) = (colors("red", &["red"]), colors("cold", &["blue", "gray"]));
    let all = [&red; 3];
    for low in [0, 5, -large] {
        let labels = [point(low), wide(low, large + 1), wide(large - 7, large + 3)];
        assert_eq!(bounds(&labels, &all, "MIN(age)"), [Some(low), Some(low)]);
        assert_eq!(bounds(&labels, &all, "MAX(age)"), [Some(large - 7), Some(large + 2)]);
    }
    // The second row is blue or not: its value need not be counted.
    let sql = "SELECT MAX(age) AS m FROM data WHERE color = 'red' OR color = 'blue'";
    let labels = [point(0), point(large), point(large - 1)];
    let rows: Vec<Vec<&TestLabel>> =
        labels.iter().zip([&red, &cold, &red]).map(|(age, color)| vec![age, color]).collect();
    let found = run(&release_of(&NAMES, &KINDS, &rows), sql);
    let found = ["certain", "possible"].map(|part| found["answer"][0]["m"][part].as_i64());
    assert_eq!(found, [Some(large - 1), Some(large)]);
}
