//! Cells that cover several values.

use rand::SeedableRng;
use rand::seq::IndexedRandom;

use super::*;

const NAMES: [&str; 3] = ["age", "weight", "color"];
const KINDS: [Kind; 3] = [Kind::Integer, Kind::Float, Kind::Category];

fn number(value: f64) -> Value {
    Some(Known::Number(value))
}

/// Labels of an integer column. Open ends and the top reach as far as the other labels do: from 0 to 11.
fn ages() -> Vec<TestLabel> {
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

/// A stretch of real numbers with whole ends: midpoints of quarters stand for it, since conditions change at whole numbers only.
fn weights() -> Vec<TestLabel> {
    let real = |low: i64, high: i64| {
        let likely = (low * 4..high * 4).map(|quarter| number(quarter as f64 / 4.0 + 0.125)).collect::<Vec<_>>();
        let possible = (low..high).map(|whole| number(whole as f64)).chain(likely.clone()).collect();
        TestLabel { text: format!("{low} to <{high}"), cover: interval(Some(low), Some(high)), likely, possible }
    };
    vec![real(0, 4), real(4, 12), real(2, 3), point(6), missing()]
}

fn fruits() -> Vec<TestLabel> {
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

/// So that the open ends reach as far as the labels say, and the missing value is known.
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
        let found = ask(&release, &sql);
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
        for (at, part) in ["estimate", "certain", "possible"].iter().enumerate() {
            close(three(line, "COUNT(*)")[at], count[at], &context(&format!("COUNT(*) {part}")));
            close(three(line, "COUNT(color)")[at], of_color[at], &context(&format!("COUNT(color) {part}")));
        }
        let sums = three(line, "SUM(age)");
        if sums[0].is_nan() {
            close(count[2].min(of_age), 0.0, &context("no sum"));
            continue;
        }
        close(sums[0], sum[0], &context("SUM(age)"));
        // The enumeration ends at −9 and 20 where cells are open: there the bound is no number.
        let open = rows.iter().any(|row| ["8+", "<4", "*"].contains(&row[0].text.as_str()));
        if !open {
            close(sums[1], sum[1], &context("SUM(age) at least"));
            close(sums[2], sum[2], &context("SUM(age) at most"));
        }
        if of_age > 0.0 {
            close(three(line, "AVG(age)")[0], sum[0] / of_age, &context("AVG(age)"));
        }
    }
}

#[test]
fn means_lie_within_the_means_of_every_table_and_reach_them() {
    for seed in seeds(600) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = [vec![range(0, 2), range(1, 4), point(4), missing(), range(6, 8)], weights(), fruits()];
        let rows: Vec<Vec<&TestLabel>> = (0..rng.random_range(1..4))
            .map(|_| vec![labels[0].choose(&mut rng).unwrap(), &labels[1][3], labels[2].choose(&mut rng).unwrap()])
            .collect();
        let release = release_of(&NAMES, &KINDS, &rows);
        let test = random_test(&mut rng, &[false, false, true], 2);
        let condition = sql_of(&test, &NAMES);
        let found = ask(&release, &format!("SELECT AVG(age) FROM data WHERE {condition}"));
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
fn groups_are_labels_and_add_up_to_the_whole() {
    for seed in seeds(200) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = [ages(), weights(), fruits()];
        let mut rows = anchors(&labels);
        rows.extend((0..6).map(|_| labels.iter().map(|labels| labels.choose(&mut rng).unwrap()).collect()));
        let release = release_of(&NAMES, &KINDS, &rows);
        let condition = sql_of(&random_test(&mut rng, &[false, false, true], 3), &NAMES);
        let whole = ask(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"));
        let groups = ask(&release, &format!("SELECT color, COUNT(*) FROM data WHERE {condition} GROUP BY color"));
        let lines = groups["answer"].as_array().unwrap();
        for (at, expected) in three(&whole["answer"][0], "COUNT(*)").iter().enumerate() {
            let sum = lines.iter().map(|line| three(line, "COUNT(*)")[at]).sum();
            close(sum, *expected, &format!("seed {seed}: part {at} WHERE {condition}"));
        }
        let rows = ask(&release, &format!("SELECT color FROM data WHERE {condition}"));
        let rows = rows["rows"].as_array().unwrap();
        let [estimate, certain, possible] = three(&whole["answer"][0], "COUNT(*)");
        close(
            rows.iter().map(|row| row["share"].as_f64().unwrap()).sum(),
            estimate,
            &format!("seed {seed}: shares of rows"),
        );
        assert_eq!(rows.len() as f64, possible, "seed {seed}");
        assert_eq!(rows.iter().filter(|row| row["certain"] == true).count() as f64, certain, "seed {seed}");
    }
}

/// Twenty people of 20 to 29, ten of 30 to 39: of those over 24, half of the first and all of the second.
#[test]
fn thirty_people_by_hand() {
    let (young, old) = (range(20, 30), range(30, 40));
    let rows: Vec<Vec<&TestLabel>> = (0..30).map(|row| vec![if row < 20 { &young } else { &old }]).collect();
    let release = release_of(&["age"], &[Kind::Integer], &rows);
    let found = ask(&release, "SELECT COUNT(*), SUM(age), AVG(age) FROM data WHERE age > 24");
    let line = &found["answer"][0];
    assert_eq!(three(line, "COUNT(*)"), [20.0, 10.0, 30.0]);
    assert_eq!(three(line, "SUM(age)"), [10.0 * 27.0 + 10.0 * 34.5, 300.0, 20.0 * 29.0 + 10.0 * 39.0]);
    assert_eq!(three(line, "AVG(age)")[0], 30.75);
    let text = answer(
        &release,
        "SELECT age, COUNT(*) AS people FROM release WHERE age > 24 GROUP BY age ORDER BY people DESC, 1",
    )
    .unwrap();
    assert_eq!(
        text.to_string(),
        "age       people  certain  possible\n20 to 29      10        0        20\n30 to 39      10       10        10\n"
    );
    // A label stands for what it covers.
    assert_eq!(
        three(&ask(&release, "SELECT COUNT(*) FROM data WHERE age = '20 to 29'")["answer"][0], "COUNT(*)"),
        [20.0; 3]
    );
    assert_eq!(
        three(&ask(&release, "SELECT COUNT(*) FROM data WHERE age <> '20 to 29' OR age = 25")["answer"][0], "COUNT(*)"),
        [12.0, 10.0, 30.0]
    );
}

/// Under a top that no other label explains nothing is estimated, but what does not depend on it is.
#[test]
fn nothing_is_invented_under_the_top() {
    let top = TestLabel { text: "*".to_owned(), cover: Cover::Everything, likely: vec![], possible: vec![] };
    let red = colors("red", &["red"]);
    let rows: Vec<Vec<&TestLabel>> = vec![vec![&top, &red]; 4];
    let release = release_of(&["sex", "color"], &[Kind::Category; 2], &rows);
    let count = |condition: &str| {
        three(&ask(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    let unknown = count("sex = 'F'");
    assert!(unknown[0].is_nan() && unknown[1..] == [0.0, 4.0], "{unknown:?}");
    assert_eq!(count("sex = 'F' AND color = 'blue'"), [0.0; 3]);
    assert_eq!(count("sex = 'F' OR color = 'red'"), [4.0; 3]);
    assert_eq!(count("sex IS NOT NULL")[1..], [0.0, 4.0]);
    let note = ask(&release, "SELECT COUNT(*) FROM data WHERE sex = 'F'")["notes"][0].to_string();
    assert!(note.contains("unknown"), "{note}");
    let open = TestLabel { text: "60+".to_owned(), cover: interval(Some(60), None), likely: vec![], possible: vec![] };
    let release = release_of(&["age"], &[Kind::Integer], &[vec![&open], vec![&range(40, 60)]]);
    let found = ask(&release, "SELECT COUNT(*), SUM(age) FROM data WHERE age >= 70");
    assert_eq!(three(&found["answer"][0], "COUNT(*)"), [0.5, 0.0, 1.0], "as wide as 40 to 59");
    let sum = three(&found["answer"][0], "SUM(age)");
    assert!(sum[0] == 0.5 * 74.5 && sum[1] == 0.0 && sum[2].is_nan(), "{sum:?}");
}

/// `021**` covers a hundred codes; `0213*` is ten of them.
#[test]
fn masked_codes_are_counted_by_their_stars() {
    let mask = |text: &str| colors(text, &[text]);
    let (short, long) = (mask("021**"), mask("0214*"));
    let release = release_of(&["zip"], &[Kind::Category], &[vec![&short], vec![&long]]);
    let count = |condition: &str| {
        three(&ask(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
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
