//! Buckets: which row has which sensitive value is not known.

use rand::SeedableRng;
use rand::seq::IndexedRandom;

use super::*;

const NAMES: [&str; 3] = ["age", "color", "salary"];

/// Rows of quasi values, and the sensitive values of each bucket.
pub(super) type Bucket = (Vec<[Value; 2]>, Vec<Value>);

/// The contribution of a row to an aggregate.
type Adds<'a> = &'a dyn Fn(&[Value]) -> f64;

pub(super) fn cell(value: &Value) -> String {
    match value {
        None => String::new(),
        Some(Known::Number(number)) => number.to_string(),
        Some(Known::Text(text)) => text.clone(),
    }
}

/// The two tables as they are published: `group` is shuffled, equal sensitive values of a bucket
/// are one row with a count.
pub(super) fn published(buckets: &[Bucket]) -> Release {
    let (mut quasi, mut sensitive): (Vec<Vec<String>>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    for (number, (rows, values)) in buckets.iter().enumerate() {
        let group = (7 - number).to_string();
        quasi.extend(rows.iter().map(|[age, color]| vec![cell(age), cell(color), group.clone()]));
        let mut texts: Vec<String> = values.iter().map(cell).collect();
        texts.sort();
        for run in texts.chunk_by(|a, b| a == b) {
            sensitive.push(vec![group.clone(), run[0].clone(), run.len().to_string()]);
        }
    }
    let table = |header: &[&str], rows: &[Vec<String>]| {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(header, &rows)
    };
    let quasi = table(&["age", "color", "group"], &quasi);
    let rows = QueriedRows::Buckets(
        Cow::Owned(quasi),
        Cow::Owned(table(&["group", "salary", "count"], &sensitive)),
        Sizes::Equal,
    );
    let kinds = vec![
        ("age".to_owned(), Kind::Integer),
        ("color".to_owned(), Kind::Category),
        ("salary".to_owned(), Kind::Integer),
    ];
    view(rows, Codebook::new(), kinds)
}

pub(super) fn random_buckets(rng: &mut StdRng) -> Vec<Bucket> {
    let number = |rng: &mut StdRng| (!rng.random_bool(0.1)).then(|| Known::Number(f64::from(rng.random_range(0..12))));
    (0..rng.random_range(1..3))
        .map(|_| {
            let size = rng.random_range(1..5);
            let color = |rng: &mut StdRng| {
                (!rng.random_bool(0.1)).then(|| Known::Text((*COLORS.choose(rng).unwrap()).to_owned()))
            };
            let rows = (0..size).map(|_| [number(rng), color(rng)]).collect();
            (
                rows,
                (0..size)
                    .map(|_| (!rng.random_bool(0.1)).then(|| Known::Number(f64::from(rng.random_range(0..4) * 3))))
                    .collect(),
            )
        })
        .collect()
}

fn permutations(of: usize) -> Vec<Vec<usize>> {
    if of == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(of - 1);
    shorter
        .iter()
        .flat_map(|order| {
            (0..of).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, of - 1);
                longer
            })
        })
        .collect()
}

/// Each way to pair the rows of a bucket with its values.
pub(super) fn pairings((rows, values): &Bucket) -> Vec<Vec<Vec<Value>>> {
    let paired = |order: &Vec<usize>| {
        rows.iter().zip(order).map(|([age, color], at)| vec![age.clone(), color.clone(), values[*at].clone()]).collect()
    };
    permutations(rows.len()).iter().map(paired).collect()
}

#[test]
fn answers_agree_with_every_pairing() {
    for seed in seeds(2000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let buckets = random_buckets(&mut rng);
        let release = published(&buckets);
        let test = random_test(&mut rng, &[false, true, false], 3);
        let condition = sql_of(&test, &NAMES);
        let sql =
            format!("SELECT COUNT(*), COUNT(salary), SUM(salary), SUM(age), AVG(salary) FROM data WHERE {condition}");
        let found = run(&release, &sql);
        let line = &found["answer"][0];
        let context = |what: &str| format!("seed {seed}: {what} WHERE {condition}");
        // What one row adds to each aggregate; a missing number adds nothing.
        let holds = |row: &[Value]| truth(&test, row) == Some(true);
        let value = |row: &[Value], column: usize| match &row[column] {
            Some(Known::Number(number)) if holds(row) => *number,
            _ => 0.0,
        };
        let adds: [(&str, Adds<'_>); 4] = [
            ("COUNT(*)", &|row| f64::from(u8::from(holds(row)))),
            ("COUNT(salary)", &|row| f64::from(u8::from(holds(row) && row[2].is_some()))),
            ("SUM(salary)", &|row| value(row, 2)),
            ("SUM(age)", &|row| value(row, 0)),
        ];
        for (name, add) in adds {
            let mut expected = [0.0; 3];
            for bucket in &buckets {
                let totals: Vec<f64> =
                    pairings(bucket).iter().map(|rows| rows.iter().map(|row| add(row)).sum()).collect();
                expected[0] += totals.iter().sum::<f64>() / totals.len() as f64;
                expected[1] += totals.iter().copied().fold(f64::INFINITY, f64::min);
                expected[2] += totals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            }
            let found = three(line, name);
            if found[0].is_nan() {
                assert_eq!(expected, [0.0; 3], "{}", context(name));
                continue;
            }
            expected.iter().zip(found).for_each(|(expected, found)| close(found, *expected, &context(name)));
        }
        // Bounds of a mean are certain, if not always attained.
        let [_, low, high] = three(line, "AVG(salary)");
        let mut tables = vec![(0.0, 0.0)];
        for bucket in &buckets {
            let totals: Vec<(f64, f64)> = pairings(bucket)
                .iter()
                .map(|rows| {
                    (
                        rows.iter().map(|row| value(row, 2)).sum(),
                        rows.iter().filter(|row| holds(row) && row[2].is_some()).count() as f64,
                    )
                })
                .collect();
            tables = tables
                .iter()
                .flat_map(|(sum, count)| totals.iter().map(move |(more, rows)| (sum + more, count + rows)))
                .collect();
        }
        for (sum, count) in tables.iter().filter(|(_, count)| *count > 0.0) {
            assert!(
                low - 1e-9 <= sum / count && sum / count <= high + 1e-9,
                "{} from {low} to {high}, but {sum}/{count}",
                context("AVG")
            );
        }
    }
}

#[test]
fn groups_of_sensitive_values_agree_with_every_pairing() {
    for seed in seeds(500) {
        let mut rng = StdRng::seed_from_u64(seed);
        let buckets = random_buckets(&mut rng);
        let release = published(&buckets);
        let test = random_test(&mut rng, &[false, true, false], 2);
        let condition = sql_of(&test, &NAMES);
        let found = run(
            &release,
            &format!("SELECT salary, color, COUNT(*) FROM data WHERE {condition} GROUP BY salary, color"),
        );
        let lines = found["answer"].as_array().unwrap();
        let mut seen = 0;
        for salary in [None, Some(0), Some(3), Some(6), Some(9)] {
            for color in std::iter::once(None).chain(COLORS.map(Some)) {
                let ours = |row: &Vec<Value>| {
                    row[2] == salary.map(|salary| Known::Number(f64::from(salary)))
                        && row[1] == color.map(|color| Known::Text(color.to_owned()))
                        && truth(&test, row) == Some(true)
                };
                let mut expected = [0.0; 3];
                for bucket in &buckets {
                    let totals: Vec<f64> = pairings(bucket)
                        .iter()
                        .map(|rows| rows.iter().filter(|row| ours(row)).count() as f64)
                        .collect();
                    expected[0] += totals.iter().sum::<f64>() / totals.len() as f64;
                    expected[1] += totals.iter().copied().fold(f64::INFINITY, f64::min);
                    expected[2] += totals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                }
                let line = lines
                    .iter()
                    .find(|line| line["salary"].as_i64() == salary.map(i64::from) && line["color"].as_str() == color);
                let found = line.map_or([0.0; 3], |line| three(line, "COUNT(*)"));
                seen += usize::from(line.is_some());
                let context = format!("seed {seed}: {salary:?}, {color:?} WHERE {condition}");
                expected.iter().zip(found).for_each(|(expected, found)| close(found, *expected, &context));
            }
        }
        assert_eq!(seen, lines.len(), "seed {seed}: groups that no row can be in");
    }
}

/// Two men and two women, two of the four ill: of the women, one is ill on average, none at the
/// least, two at the most.
#[test]
fn four_people_by_hand() {
    let row = |age: f64, color: &str| [Some(Known::Number(age)), Some(Known::Text(color.to_owned()))];
    let salaries = [0.0, 0.0, 9.0, 9.0].map(|salary| Some(Known::Number(salary))).to_vec();
    let release = published(&[(vec![row(1.0, "red"), row(2.0, "red"), row(3.0, "blue"), row(4.0, "blue")], salaries)]);
    let count = |condition: &str| {
        three(&run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    assert_eq!(count("color = 'red' AND salary = 9"), [1.0, 0.0, 2.0]);
    assert_eq!(count("color = 'red' OR salary = 9"), [3.0, 2.0, 4.0]);
    assert_eq!(count("age > 1 AND salary = 9"), [1.5, 1.0, 2.0]);
    assert_eq!(count("color = 'red'"), [2.0; 3]);
    let rows = run(&release, "SELECT age FROM data WHERE salary = 9 AND age < 3 ORDER BY age DESC");
    assert_eq!(
        rows["rows"].to_string(),
        r#"[{"age":2,"certain":false,"share":0.5},{"age":1,"certain":false,"share":0.5}]"#
    );
    let refused = answer(&release, "SELECT age, salary FROM data").unwrap_err().to_string();
    assert!(refused.contains("no released row has a value of `salary`") && refused.contains("GROUP BY"), "{refused}");
}

#[test]
fn tables_that_do_not_belong_together_are_refused() {
    let row = |age: f64| [Some(Known::Number(age)), Some(Known::Text("red".to_owned()))];
    let good = published(&[(vec![row(1.0), row(2.0)], vec![None, Some(Known::Number(3.0))])]);
    let QueriedRows::Buckets(quasi, ..) = good.rows else { panic!("two tables") };
    let with = |header: &[&str], rows: &[Vec<&str>]| {
        let rows = QueriedRows::Buckets(quasi.clone(), Cow::Owned(Table::from_texts(header, rows)), Sizes::Equal);
        let release = view(rows, Codebook::new(), Vec::new());
        answer(&release, "SELECT COUNT(*) FROM data").unwrap_err().to_string()
    };
    let header = ["group", "salary", "count"];
    assert!(with(&header, &[vec!["7", "3", "1"]]).contains("another number of rows"));
    assert!(with(&header, &[vec!["6", "3", "2"]]).contains("has no rows in the quasi table"));
    assert!(with(&header, &[vec!["7", "3", "0"]]).contains("whole number"));
    assert!(with(&["group", "salary"], &[vec!["7", "3"]]).contains("no column `count`"));
}

/// A row without a bucket has no released salary: it may be any, those that occur equally likely.
#[test]
fn rows_without_a_bucket_may_have_any_value() {
    let quasi = Table::from_texts(&["age", "group"], &[vec!["1", "7"], vec!["2", "7"], vec!["3", ""]]);
    let values = [vec!["7", "red", "x", "1"], vec!["7", "blue", "y", "1"]];
    let values = Table::from_texts(&["group", "color", "shape", "count"], &values);
    let rows = QueriedRows::Buckets(Cow::Owned(quasi), Cow::Owned(values), Sizes::WithRowsWithoutValues);
    let release = view(rows, Codebook::new(), Vec::new());
    let count = |condition: &str| {
        three(&run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    assert_eq!(count("color = 'red'"), [1.5, 1.0, 2.0]);
    assert_eq!(count("color = 'red' AND age = 3"), [0.5, 0.0, 1.0]);
    assert_eq!(count("color = 'green'"), [0.0, 0.0, 1.0]);
    assert_eq!(count("age >= 2"), [2.0; 3]);
    let groups = run(&release, "SELECT color, COUNT(*) FROM data GROUP BY color");
    let labels: Vec<&Json> = groups["answer"].as_array().unwrap().iter().map(|line| &line["color"]).collect();
    assert_eq!(labels, ["blue", "red", "*"]);
}
