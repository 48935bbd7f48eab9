//! Cells that cover several values.

use rand::SeedableRng;
use rand::seq::IndexedRandom;

use super::*;

const NAMES: [&str; 3] = ["age", "weight", "color"];
const KINDS: [Kind; 3] = [Kind::Integer, Kind::Float, Kind::Category];

fn number(value: f64) -> Value {
    Some(Known::Number(value))
}

/// Labels of an integer column.
pub(super) fn ages() -> Vec<TestLabel> {
    let whole = |from: i64, to: i64| -> Vec<Value> { (from..=to).map(|value| number(value as f64)).collect() };
    let with_missing = |mut values: Vec<Value>| {
        values.push(None);
        values
    };
    vec![
        range(0, 5),
        range(3, 6),
        range(5, 12),
        point(4),
        point(7),
        missing(),
        TestLabel {
            text: "8+".to_owned(),
            cover: interval(Some(8), None),
            likely: whole(8, 11),
            possible: whole(8, 20),
        },
        TestLabel {
            text: "<4".to_owned(),
            cover: interval(None, Some(4)),
            likely: whole(0, 3),
            possible: whole(-9, 3),
        },
        TestLabel {
            text: "even".to_owned(),
            cover: Cover::Leaves(["2", "4", ""].map(str::to_owned).to_vec()),
            likely: vec![number(2.0), number(4.0), None],
            possible: vec![number(2.0), number(4.0), None],
        },
        TestLabel {
            text: "*".to_owned(),
            cover: Cover::Everything,
            likely: with_missing(whole(0, 11)),
            possible: with_missing(whole(-9, 20)),
        },
    ]
}

/// An interval of real numbers with whole ends: midpoints of quarters stand for it, since
/// conditions change at whole numbers only.
fn weights() -> Vec<TestLabel> {
    let real = |low: i64, high: i64| {
        let likely = (low * 4..high * 4).map(|quarter| number(quarter as f64 / 4.0 + 0.125)).collect::<Vec<_>>();
        let possible = (low..high).map(|whole| number(whole as f64)).chain(likely.clone()).collect();
        TestLabel { text: format!("{low} to <{high}"), cover: interval(Some(low), Some(high)), likely, possible }
    };
    vec![real(0, 4), real(4, 12), real(2, 3), point(6), missing()]
}

pub(super) fn fruits() -> Vec<TestLabel> {
    vec![
        colors("warm", &["red", "amber", "beige"]),
        colors("cold", &["blue", "gray"]),
        colors("dull", &["gray", ""]),
        colors("red", &["red"]),
        missing(),
    ]
}

/// Every combination of the values of some cells.
fn combinations(cells: Vec<&Vec<Value>>) -> Vec<Vec<Value>> {
    cells.into_iter().fold(vec![Vec::new()], |rows, cell| {
        rows.iter().flat_map(|row| cell.iter().map(|value| [row.clone(), vec![value.clone()]].concat())).collect()
    })
}

/// So that some cells have two ends, and the missing value is known.
fn anchors(labels: &[Vec<TestLabel>; 3]) -> Vec<Vec<&TestLabel>> {
    vec![
        vec![&labels[0][0], &labels[1][0], &labels[2][0]],
        vec![&labels[0][2], &labels[1][1], &labels[2][1]],
        vec![&labels[0][5], &labels[1][4], &labels[2][4]],
    ]
}

#[test]
fn counts_and_sums_agree_with_every_completion() {
    for seed in seeds(1500) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = [ages(), weights(), fruits()];
        let mut rows = anchors(&labels);
        rows.extend(
            (0..rng.random_range(0..5)).map(|_| labels.iter().map(|labels| labels.choose(&mut rng).unwrap()).collect()),
        );
        let release = release_of(&NAMES, &KINDS, &rows);
        let test = random_test(&mut rng, &[false, false, true], 3);
        let condition = sql_of(&test, &NAMES);
        let sql = format!("SELECT COUNT(*), COUNT(color), SUM(age), AVG(age) FROM data WHERE {condition}");
        let found = run(&release, &sql);
        let line = &found["answer"][0];
        let holds = |row: &Vec<Value>| truth(&test, row) == Some(true);
        let (mut count, mut of_color, mut sum, mut of_age) = ([0.0; 3], [0.0; 3], [0.0; 3], 0.0);
        for row in &rows {
            let likely = combinations(row.iter().map(|label| &label.likely).collect());
            let possible = combinations(row.iter().map(|label| &label.possible).collect());
            let age = |row: &Vec<Value>| match (&row[0], holds(row)) {
                (Some(Known::Number(age)), true) => *age,
                _ => 0.0,
            };
            let share = |accept: &dyn Fn(&Vec<Value>) -> bool| {
                likely.iter().filter(|row| accept(row)).count() as f64 / likely.len() as f64
            };
            let add = |into: &mut [f64; 3], accept: &dyn Fn(&Vec<Value>) -> bool| {
                into[0] += share(accept);
                into[1] += f64::from(u8::from(possible.iter().all(accept)));
                into[2] += f64::from(u8::from(possible.iter().any(accept)));
            };
            add(&mut count, &holds);
            add(&mut of_color, &|row| holds(row) && row[2].is_some());
            of_age += share(&|row| holds(row) && row[0].is_some());
            sum[0] += likely.iter().map(age).sum::<f64>() / likely.len() as f64;
            sum[1] += possible.iter().map(age).fold(f64::INFINITY, f64::min);
            sum[2] += possible.iter().map(age).fold(f64::NEG_INFINITY, f64::max);
        }
        let context = |what: &str| format!("seed {seed}: {what} WHERE {condition}");
        // The enumeration ends at −9 and 20 where cells are open: there the bound is infinite, and
        // the estimate is that of `shape`.
        let open = rows.iter().any(|row| ["8+", "<4", "*"].contains(&row[0].text.as_str()));
        for name in ["COUNT(*)", "COUNT(color)", "SUM(age)", "AVG(age)"] {
            let [estimate, certain, possible] = three(line, name);
            assert!(!(estimate < certain || estimate > possible), "{}", context(name));
        }
        if open {
            count[0] = three(line, "COUNT(*)")[0];
            of_color[0] = three(line, "COUNT(color)")[0];
        }
        for (at, part) in ["estimate", "certain", "possible"].iter().enumerate() {
            close(three(line, "COUNT(*)")[at], count[at], &context(&format!("COUNT(*) {part}")));
            close(three(line, "COUNT(color)")[at], of_color[at], &context(&format!("COUNT(color) {part}")));
        }
        if open {
            continue;
        }
        let sums = three(line, "SUM(age)");
        if sums[0].is_nan() {
            close(count[2].min(of_age), 0.0, &context("no sum"));
            continue;
        }
        close(sums[0], sum[0], &context("SUM(age)"));
        close(sums[1], sum[1], &context("SUM(age) at least"));
        close(sums[2], sum[2], &context("SUM(age) at most"));
        if of_age > 0.0 {
            close(three(line, "AVG(age)")[0], sum[0] / of_age, &context("AVG(age)"));
        }
    }
}

#[test]
fn mean_bounds_are_the_least_and_greatest_mean_of_every_table() {
    for seed in seeds(600) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = [vec![range(0, 2), range(1, 4), point(4), missing(), range(6, 8)], weights(), fruits()];
        let rows: Vec<Vec<&TestLabel>> = (0..rng.random_range(1..4))
            .map(|_| vec![labels[0].choose(&mut rng).unwrap(), &labels[1][3], labels[2].choose(&mut rng).unwrap()])
            .collect();
        let release = release_of(&NAMES, &KINDS, &rows);
        let test = random_test(&mut rng, &[false, false, true], 2);
        let condition = sql_of(&test, &NAMES);
        let found = run(&release, &format!("SELECT AVG(age) FROM data WHERE {condition}"));
        // Sum and count of every table behind the release.
        let mut tables = vec![(0.0, 0.0)];
        for row in &rows {
            let possible = combinations(row.iter().map(|label| &label.possible).collect());
            let adds: Vec<(f64, f64)> = possible
                .iter()
                .map(|row| match (&row[0], truth(&test, row)) {
                    (Some(Known::Number(age)), Some(true)) => (*age, 1.0),
                    _ => (0.0, 0.0),
                })
                .collect();
            tables = tables
                .iter()
                .flat_map(|(sum, count)| adds.iter().map(move |(age, one)| (sum + age, count + one)))
                .collect();
            tables.sort_by(|a: &(f64, f64), b| a.partial_cmp(b).unwrap());
            tables.dedup();
        }
        let means: Vec<f64> = tables.iter().filter(|(_, count)| *count > 0.0).map(|(sum, count)| sum / count).collect();
        let [_, low, high] = three(&found["answer"][0], "AVG(age)");
        if means.is_empty() {
            assert!(low.is_nan() && high.is_nan(), "seed {seed}: {condition}");
            continue;
        }
        close(
            low,
            means.iter().copied().fold(f64::INFINITY, f64::min),
            &format!("seed {seed}: least mean WHERE {condition}"),
        );
        close(
            high,
            means.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            &format!("seed {seed}: greatest mean WHERE {condition}"),
        );
    }
}

#[test]
fn groups_are_labels_and_add_up_to_the_total() {
    for seed in seeds(200) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = [ages(), weights(), fruits()];
        let mut rows = anchors(&labels);
        rows.extend((0..6).map(|_| labels.iter().map(|labels| labels.choose(&mut rng).unwrap()).collect()));
        let release = release_of(&NAMES, &KINDS, &rows);
        let condition = sql_of(&random_test(&mut rng, &[false, false, true], 3), &NAMES);
        let total = run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"));
        let groups = run(&release, &format!("SELECT color, COUNT(*) FROM data WHERE {condition} GROUP BY color"));
        let lines = groups["answer"].as_array().unwrap();
        for (at, expected) in three(&total["answer"][0], "COUNT(*)").iter().enumerate() {
            let sum = lines.iter().map(|line| three(line, "COUNT(*)")[at]).sum();
            close(sum, *expected, &format!("seed {seed}: part {at} WHERE {condition}"));
        }
        let rows = run(&release, &format!("SELECT color FROM data WHERE {condition}"));
        let rows = rows["rows"].as_array().unwrap();
        let [estimate, certain, possible] = three(&total["answer"][0], "COUNT(*)");
        close(
            rows.iter().map(|row| row["share"].as_f64().unwrap()).sum(),
            estimate,
            &format!("seed {seed}: shares of rows"),
        );
        assert_eq!(rows.len() as f64, possible, "seed {seed}");
        assert_eq!(rows.iter().filter(|row| row["certain"] == true).count() as f64, certain, "seed {seed}");
    }
}

/// Twenty people of 20 to 29, ten of 30 to 39: of those over 24, half of the first and all of the
/// second.
#[test]
fn thirty_people_by_hand() {
    let (young, old) = (range(20, 30), range(30, 40));
    let rows: Vec<Vec<&TestLabel>> = (0..30).map(|row| vec![if row < 20 { &young } else { &old }]).collect();
    let release = release_of(&["age"], &[Kind::Integer], &rows);
    let found = run(&release, "SELECT COUNT(*), SUM(age), AVG(age) FROM data WHERE age > 24");
    let line = &found["answer"][0];
    assert_eq!(three(line, "COUNT(*)"), [20.0, 10.0, 30.0]);
    assert_eq!(three(line, "SUM(age)"), [10.0 * 27.0 + 10.0 * 34.5, 300.0, 20.0 * 29.0 + 10.0 * 39.0]);
    assert_eq!(three(line, "AVG(age)")[0], 30.75);
    let sql = "SELECT age, COUNT(*) AS people FROM release WHERE age > 24 GROUP BY age ORDER BY people DESC, 1";
    let groups = run(&release, sql);
    assert_eq!([&groups["answer"][0]["age"], &groups["answer"][1]["age"]], ["20 to 29", "30 to 39"]);
    assert_eq!(three(&groups["answer"][0], "people"), [10.0, 0.0, 20.0]);
    assert_eq!(three(&groups["answer"][1], "people"), [10.0; 3]);
    // A label stands for what it covers.
    assert_eq!(
        three(&run(&release, "SELECT COUNT(*) FROM data WHERE age = '20 to 29'")["answer"][0], "COUNT(*)"),
        [20.0; 3]
    );
    assert_eq!(
        three(&run(&release, "SELECT COUNT(*) FROM data WHERE age <> '20 to 29' OR age = 25")["answer"][0], "COUNT(*)"),
        [12.0, 10.0, 30.0]
    );
}

/// Under a top that no other label explains nothing is estimated, but what does not depend on it
/// is.
#[test]
fn nothing_is_invented_under_the_top() {
    let top = TestLabel { text: "*".to_owned(), cover: Cover::Everything, likely: vec![], possible: vec![] };
    let red = colors("red", &["red"]);
    let rows: Vec<Vec<&TestLabel>> = vec![vec![&top, &red]; 4];
    let release = release_of(&["sex", "color"], &[Kind::Category; 2], &rows);
    let count = |condition: &str| {
        three(&run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    let unknown = count("sex = 'F'");
    assert!(unknown[0].is_nan() && unknown[1..] == [0.0, 4.0], "{unknown:?}");
    assert_eq!(count("sex = 'F' AND color = 'blue'"), [0.0; 3]);
    assert_eq!(count("sex = 'F' OR color = 'red'"), [4.0; 3]);
    assert_eq!(count("sex IS NOT NULL")[1..], [0.0, 4.0]);
    let note = run(&release, "SELECT COUNT(*) FROM data WHERE sex = 'F'")["notes"][0].to_string();
    assert!(note.contains("unknown"), "{note}");
    let open = TestLabel { text: "60+".to_owned(), cover: interval(Some(60), None), likely: vec![], possible: vec![] };
    let release = release_of(&["age"], &[Kind::Integer], &[vec![&open], vec![&range(40, 60)]]);
    let found = run(&release, "SELECT COUNT(*), SUM(age) FROM data WHERE age >= 70");
    // One row on twenty years below 60: beyond, the density falls off by e in twenty years.
    let beyond = (-0.5f64).exp();
    close(three(&found["answer"][0], "COUNT(*)")[0], beyond, "COUNT of the open cell");
    assert_eq!(three(&found["answer"][0], "COUNT(*)")[1..], [0.0, 1.0]);
    let sum = three(&found["answer"][0], "SUM(age)");
    assert!((sum[0] / (beyond * 89.5) - 1.0).abs() < 1e-4, "{sum:?}");
    assert!(sum[1] == 0.0 && sum[2].is_nan(), "{sum:?}");
    let alone = release_of(&["age"], &[Kind::Integer], &[vec![&open]]);
    let found = run(&alone, "SELECT AVG(age), COUNT(*) FROM data WHERE age >= 70");
    assert!(three(&found["answer"][0], "AVG(age)")[0].is_nan() && three(&found["answer"][0], "COUNT(*)")[0].is_nan());
    assert!(found["notes"][0].to_string().contains("unknown"), "an estimate without data is unknown");
    let hidden = release_of(&["age"], &[Kind::Integer], &[vec![&top], vec![&top]]);
    let found = run(&hidden, "SELECT STDDEV(age), VAR_POP(age) FROM data");
    for deviation in ["STDDEV(age)", "VAR_POP(age)"] {
        let [estimate, certain, possible] = three(&found["answer"][0], deviation);
        assert!(estimate.is_nan() && certain == 0.0 && possible.is_nan(), "{deviation}: {found}");
    }
}

/// Rows are dropped from a release: what was true of the source stays within the bounds.
#[test]
fn bounds_allow_for_suppressed_rows() {
    for seed in seeds(800) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = [ages(), weights(), fruits()];
        let rows: Vec<Vec<&TestLabel>> = (0..rng.random_range(2..8))
            .map(|_| labels.iter().map(|labels| labels.choose(&mut rng).unwrap()).collect())
            .collect();
        let people: Vec<Vec<Value>> = rows
            .iter()
            .map(|row| row.iter().map(|label| label.possible.choose(&mut rng).unwrap().clone()).collect())
            .collect();
        let suppressed = rng.random_range(0..rows.len());
        let release = Release { suppressed: suppressed as u64, ..release_of(&NAMES, &KINDS, &rows[suppressed..]) };
        let test = random_test(&mut rng, &[false, false, true], 2);
        let condition = sql_of(&test, &NAMES);
        let found = run(&release, &format!("SELECT COUNT(*), SUM(age), AVG(age) FROM data WHERE {condition}"));
        let selected: Vec<&Vec<Value>> = people.iter().filter(|row| truth(&test, row) == Some(true)).collect();
        let ages: Vec<f64> = selected
            .iter()
            .filter_map(|row| match row[0] {
                Some(Known::Number(age)) => Some(age),
                _ => None,
            })
            .collect();
        let sum: f64 = ages.iter().sum();
        let inside = |name: &str, truth: f64| {
            let [_, certain, possible] = three(&found["answer"][0], name);
            // What is null is without bound.
            let outside = truth < certain - 1e-9 || truth > possible + 1e-9;
            assert!(!outside, "seed {seed}: {name} is {truth}, not in {certain} to {possible} WHERE {condition}");
        };
        inside("COUNT(*)", selected.len() as f64);
        if !ages.is_empty() {
            inside("SUM(age)", sum);
            inside("AVG(age)", sum / ages.len() as f64);
        }
        let noted = found["notes"].to_string().contains("suppressed");
        assert_eq!(noted, suppressed > 0, "seed {seed}");
    }
}

/// Mondrian leaves a cell open at either end: most stays are of one day, some of two, few of more.
#[test]
fn open_cells_are_estimated_from_the_shape_inside() {
    let open = |text: &str, low, high| TestLabel {
        text: text.to_owned(),
        cover: interval(low, high),
        likely: Vec::new(),
        possible: Vec::new(),
    };
    let (short, middle, long) = (open("<2", None, Some(2)), range(2, 5), open("5+", Some(5), None));
    let rows = [(&short, 40), (&middle, 45), (&long, 30)];
    let rows: Vec<Vec<&TestLabel>> = rows.iter().flat_map(|(label, count)| vec![vec![*label]; *count]).collect();
    let release = release_of(&["los"], &[Kind::Integer], &rows);
    let found = run(&release, "SELECT COUNT(*) FROM data WHERE los < 0");
    assert_eq!(three(&found["answer"][0], "COUNT(*)")[0], 0.0, "no cell crosses zero");
    let mean = three(&run(&release, "SELECT AVG(los) FROM data")["answer"][0], "AVG(los)")[0];
    // 0 or 1 for forty; 3 for 45; thirty rows at fifteen a day: two days beyond 5 on average, less
    // the half of a unit.
    assert!((mean - (40.0 * 0.5 + 45.0 * 3.0 + 30.0 * 6.5) / 115.0).abs() < 0.1, "{mean}");
}

/// Whole numbers too large for a float are added without rounding.
#[test]
fn sums_of_large_whole_numbers_are_exact() {
    let large = [point(i64::MAX), point(i64::MAX - 1), point(1)];
    let release = release_of(&["n"], &[Kind::Integer], &large.iter().map(|label| vec![label]).collect::<Vec<_>>());
    let found = run(&release, "SELECT SUM(n) FROM data");
    let expected = u64::try_from(2 * i128::from(i64::MAX)).unwrap();
    for part in ["estimate", "certain", "possible"] {
        assert_eq!(found["answer"][0]["SUM(n)"][part].as_u64(), Some(expected), "{part}");
    }
    let found = run(&release, "SELECT SUM(n) FROM data WHERE n > 1");
    assert_eq!(found["answer"][0]["SUM(n)"]["estimate"].as_u64(), Some(expected - 1));
}

/// `021**` covers a hundred codes; `0213*` is ten of them.
#[test]
fn masked_codes_are_counted_by_their_stars() {
    let mask = |text: &str| colors(text, &[text]);
    let (short, long) = (mask("021**"), mask("0214*"));
    let release = release_of(&["zip"], &[Kind::Category], &[vec![&short], vec![&long]]);
    let count = |condition: &str| {
        three(&run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    let about = |condition: &str, expected: [f64; 3]| {
        count(condition).iter().zip(expected).for_each(|(found, expected)| close(*found, expected, condition));
    };
    about("zip LIKE '0213%'", [0.1, 0.0, 1.0]);
    about("zip LIKE '021%'", [2.0; 3]);
    about("zip = '02145'", [0.11, 0.0, 2.0]);
    about("zip = 02145 OR zip LIKE '%9'", [0.1 + 0.01 + 0.2, 0.0, 2.0]);
    about("zip < '0214'", [0.4, 0.0, 1.0]);
    about("zip BETWEEN '02140' AND '02144'", [0.05 + 0.5, 0.0, 2.0]);
    about("zip = '0214*'", [0.1 + 1.0, 1.0, 2.0]);
    about("zip = '03000'", [0.0; 3]);
    about("zip = '021x5'", [0.0, 0.0, 1.0]);
    about("NOT zip LIKE '0214_'", [0.9, 0.0, 1.0]);
}

/// Each bound ends an answer that exceeds it, and changes no answer that does not.
#[test]
fn answers_keep_to_their_bounds() {
    let labels: Vec<TestLabel> = (0..200).map(point).collect();
    let release = release_of(&["n"], &[Kind::Integer], &labels.iter().map(|label| vec![label]).collect::<Vec<_>>());
    let within = |sql: &str, lines_max: usize, bytes_max: usize, canceled: bool| {
        let bounds = Bounds { lines_max, bytes_max, canceled: &|| canceled };
        answer_view(&release, &Columns::bind(&release).unwrap(), &Select::parse(sql).unwrap(), &bounds)
    };
    let means = format!("SELECT {} FROM data", vec!["AVG(n)"; 50].join(", "));
    for sql in ["SELECT n FROM data", "SELECT n, COUNT(*) FROM data GROUP BY n", &means] {
        let free = answer(&release, sql).unwrap();
        // Estimates may be unknown, and are then equal to nothing.
        let same = |found: Answer| format!("{found:?}") == format!("{free:?}");
        assert!(same(within(sql, 200, 1 << 20, false).unwrap()), "{sql}");
        assert!(matches!(within(sql, 200, 1000, false), Err(AnswerError::TooManyBytes(1000))), "{sql}");
        let canceled = within(sql, 200, 1 << 20, true);
        assert!(matches!(canceled, Err(AnswerError::Table(hedgerow_table::TableError::Canceled))), "{sql}");
    }
    assert!(matches!(within("SELECT n FROM data", 199, 1 << 20, false), Err(AnswerError::TooManyLines(199))));
    assert!(within("SELECT n FROM data LIMIT 5", 5, 1 << 20, false).is_ok());
}
