//! A query that is not answered is refused by name, and no text makes the program panic.

use rand::SeedableRng;
use rand::seq::IndexedRandom;

use super::*;

fn people() -> Release {
    let (young, old, red, warm) =
        (range(20, 30), range(30, 40), colors("red", &["red"]), colors("warm", &["red", "amber"]));
    let mut release = release_of(
        &["age", "color", "home-town"],
        &[Kind::Integer, Kind::Category, Kind::Category],
        &[vec![&young, &red, &red], vec![&old, &warm, &red]],
    );
    release.declared.truncate(2);
    release
}

#[test]
fn every_refusal_names_what_it_refuses_and_helps() {
    let release = people();
    let cases = [
        ("SELECT COUNT(*) FROM data JOIN other ON 1 = 1", "JOIN", "one table"),
        ("SELECT COUNT(*) FROM data, other", "join", "FROM data"),
        ("SELECT COUNT(*) FROM (SELECT * FROM data)", "subquery in FROM", "FROM data"),
        ("SELECT COUNT(*) FROM data WHERE age IN (SELECT age FROM data)", "subquery", "IN"),
        ("SELECT COUNT(*) FROM data WHERE EXISTS (SELECT 1)", "subquery", "query twice"),
        ("SELECT color, COUNT(*) FROM data GROUP BY color HAVING color = 'red'", "column among aggregates", "WHERE"),
        ("SELECT color, COUNT(*) FROM data GROUP BY color HAVING COUNT(*)", "HAVING", "HAVING COUNT(*) >= 10"),
        ("SELECT age FROM data HAVING COUNT(*) > 1", "HAVING without groups", "GROUP BY"),
        ("SELECT DISTINCT color FROM data", "DISTINCT", "GROUP BY"),
        ("SELECT SUM(DISTINCT age) FROM data", "DISTINCT", "COUNT(DISTINCT column)"),
        ("SELECT COUNT(DISTINCT age + 1) FROM data", "DISTINCT", "COUNT(DISTINCT column)"),
        ("SELECT MAX(color) FROM data", "MAX(color)", "GROUP BY"),
        ("SELECT QUANTILE(age) FROM data", "a share", "0.9"),
        ("SELECT QUANTILE(age, 2) FROM data", "from 0 to 1", "0.9"),
        ("SELECT MODE(age) FROM data", "MODE", "MEDIAN"),
        ("SELECT SUM(age % 2) FROM data", "operator %", "+ - * and /"),
        ("SELECT SUM(color + 1) FROM data", "`color` holds no numbers", "COUNT(*)"),
        ("SELECT SUM(CASE age WHEN 3 THEN 1 END) FROM data", "CASE with an operand", "CASE WHEN"),
        ("SELECT age + 1 FROM data", "arithmetic", "over aggregates"),
        ("SELECT COUNT(*) + color FROM data", "column among aggregates", "within the aggregate"),
        ("SELECT CONT(age) FROM data", "CONT", "did you mean COUNT"),
        ("SELECT SUM(color) FROM data", "SUM(color)", "COUNT(*)"),
        ("SELECT COUNT(*) FROM data WHERE age + 1 > 3", "arithmetic", "columns are age, color"),
        ("SELECT COUNT(*) FROM data WHERE age = color", "two columns", "compare"),
        ("SELECT COUNT(*) FROM data WHERE 1 = 1", "two values", "column"),
        ("SELECT COUNT(*) FROM data WHERE age = NULL", "NULL", "IS NULL"),
        ("SELECT COUNT(*) FROM data WHERE ag = 30", "`ag`", "did you mean `age`"),
        ("SELECT COUNT(*) FROM data WHERE home-town = 'red'", "arithmetic", "\"home-town\""),
        ("SELECT COUNT(*) FROM data WHERE \"AGE\" = 30", "`AGE`", "did you mean `age`"),
        ("SELECT COUNT(*) FROM data WHERE age = 'thirty'", "'thirty'", "write a number"),
        ("SELECT COUNT(*) FROM data WHERE age LIKE '2%'", "LIKE", "BETWEEN"),
        ("SELECT COUNT(*) FROM data WHERE age > '20 to 29'", "label", "= or <>"),
        ("SELECT COUNT(*) FROM data WHERE UPPER(color) = 'RED'", "function", "column"),
        ("SELECT COUNT(*) FROM data WHERE CASE WHEN age > 3 THEN 1 END", "CASE", "AND, OR, NOT"),
        ("SELECT age, COUNT(*) FROM data", "`age`", "GROUP BY age"),
        ("SELECT \"home-town\", COUNT(*) FROM data", "`home-town`", "GROUP BY \"home-town\""),
        ("SELECT COUNT(*) FROM data GROUP BY age + 1", "arithmetic", "GROUP BY"),
        ("SELECT COUNT(*) FROM data ORDER BY color", "ORDER BY", "output column"),
        ("SELECT COUNT(*) FROM data LIMIT 5 OFFSET 2", "OFFSET", "LIMIT"),
        ("SELECT COUNT(*)", "FROM", "FROM data"),
        ("SELECT COUNT(*) FROM data UNION SELECT COUNT(*) FROM data", "UNION", "OR"),
        ("WITH a AS (SELECT 1) SELECT COUNT(*) FROM a", "WITH", "directly"),
        ("DELETE FROM data", "only SELECT", "SELECT"),
        ("SELECT 1; SELECT 2", "2 statements", "one"),
        ("", "0 statements", "one"),
        ("SELEC COUNT(*) FROM data", "SELEC", "SELECT COUNT(*) FROM data"),
        ("SELECT COUNT(*) OVER (PARTITION BY age) FROM data", "OVER", "GROUP BY"),
        ("SELECT COUNT(*) FROM data WHERE age", "`age` alone", "compare"),
        ("SELECT TOP 5 age FROM data", "TOP", "LIMIT"),
        ("SELECT * EXCEPT (age) FROM data", "a changed *", "name the columns"),
        ("SELECT age INTO other FROM data", "INTO", "redirect"),
        ("SELECT COUNT(*) FROM generate(5)", "only the release", "FROM data"),
        ("SELECT COUNT(*) FROM data LEFT JOIN other", "JOIN", "one table"),
        ("SELECT COUNT(*) FROM data GROUP BY ALL", "GROUP BY ALL", "name the columns"),
        ("SELECT COUNT(*) FROM data GROUP BY ROLLUP (age)", "ROLLUP", "GROUP BY"),
        ("SELECT age, COUNT(*) FROM data GROUP BY age WITH ROLLUP", "ROLLUP", "by itself"),
        ("SELECT age FROM data ORDER BY age NULLS FIRST", "NULLS FIRST", "output column"),
        ("SELECT age FROM data LIMIT 5, 2", "two numbers", "LIMIT 10"),
        ("SELECT age FROM data LIMIT 1.5", "whole number", "LIMIT 10"),
        ("SELECT age FROM data FETCH FIRST 5 ROWS ONLY", "FETCH", "LIMIT"),
        ("SELECT age FROM data WHERE age = 1 COLLATE x", "COLLATE", "SELECT COUNT(*)"),
        ("SELECT COUNT(age, color) FROM data", "one column", "COUNT(column)"),
        ("SELECT SUM(*) FROM data", "SUM(*)", "SUM(column)"),
        ("SELECT AVG() FROM data", "one column", "AVG(column)"),
        ("SELECT COUNT(*) FILTER (WHERE age > 3) FROM data", "FILTER", "WHERE"),
        ("SELECT COUNT(*) FROM data WHERE 20 < age < 30", "follow one another", "AND"),
        ("SELECT COUNT(*) FROM data WHERE age == 30", "operator ==", "use ="),
        ("SELECT COUNT(*) FROM data WHERE age IS TRUE", "IS TRUE", "AND, OR, NOT"),
        ("SELECT COUNT(*) FROM data WHERE age IS DISTINCT FROM 3", "IS DISTINCT FROM", "AND, OR, NOT"),
        ("SELECT COUNT(*) FROM data WHERE color SIMILAR TO 'r+'", "regular expression", "LIKE"),
        ("SELECT COUNT(*) FROM data WHERE color LIKE ANY ('r%', 'b%')", "LIKE", "OR"),
        ("SELECT COUNT(*) FROM data WHERE color = x'00'", "x before a text", "single quotes"),
        ("SELECT COUNT(*) FROM data WHERE color = 'red", "does not end", "'"),
        ("SELECT COUNT(*) FROM data WHERE age IN ()", "expected", "SELECT COUNT(*)"),
        ("SELECT COUNT(*) FROM data WHERE age NOT 3", "after NOT", "SELECT COUNT(*)"),
        ("SELECT COUNT(*) FROM data WHERE (age = 3", ") is expected where the text ends", "SELECT COUNT(*)"),
        ("SELECT COUNT(*) FROM data WHERE age = 30years", "after a number", "single quotes"),
        ("SELECT COUNT(*) FROM data WHERE a.b.age = 3", "two parts", "alone"),
        ("SELECT COUNT(*) FROM data WHERE CAST(age AS TEXT) = '3'", "CAST", "column"),
        ("SELECT FROM data", "column or a value", "SELECT COUNT(*)"),
    ];
    for (sql, problem, hint) in cases {
        let refused = answer(&release, sql).expect_err(sql).to_string();
        let (said, hinted) = refused.split_once("\nhint: ").unwrap_or_else(|| panic!("{sql}: no hint in {refused}"));
        assert!(said.starts_with("SQL: ") && said.contains(problem), "{sql}: {said}");
        assert!(hinted.contains(hint), "{sql}: {hinted}");
    }
}

#[test]
fn names_and_notes() {
    let release = people();
    let count = |sql: &str| three(&run(&release, sql)["answer"][0], "COUNT(*)");
    assert_eq!(
        count("select count(*) from anything where AGE between 20 and 24 and data.color = 'red'"),
        [0.5, 0.0, 1.0]
    );
    assert_eq!(count("SELECT COUNT(1) FROM data WHERE \"home-town\" = 'red' AND TRUE"), [2.0; 3]);
    assert_eq!(count("SELECT COUNT(*) FROM data WHERE 25 <= age AND -5 < age AND age < 1e2"), [1.5, 1.0, 2.0]);
    let notes = run(&release, "SELECT COUNT(*) FROM data WHERE color = 'rde'")["notes"].to_string();
    assert!(notes.contains("no value of `color` is 'rde'; the nearest is 'red'"), "{notes}");
    let rows = run(&release, "SELECT * FROM data LIMIT 1");
    assert_eq!(rows["rows"][0]["age"], "20 to 29");
}

/// NOT binds tighter than AND, AND tighter than OR, and the AND of BETWEEN does not combine
/// conditions.
#[test]
fn operators_bind_as_in_sql() {
    let release = people();
    let count = |condition: &str| {
        three(&run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"))["answer"][0], "COUNT(*)")
    };
    let (red, young, odd) = ("color = 'red'", "age < 24", "age IN (21, 25, 33)");
    for (bare, grouped) in [
        (format!("{red} OR {young} AND {odd}"), format!("{red} OR ({young} AND {odd})")),
        (format!("{red} AND {young} OR {odd}"), format!("({red} AND {young}) OR {odd}")),
        (format!("NOT {red} AND {young}"), format!("(NOT {red}) AND ({young})")),
        (format!("NOT {red} OR {young}"), format!("(NOT ({red})) OR {young}")),
        (format!("NOT NOT {odd} AND {red}"), format!("{odd} AND {red}")),
        (format!("age BETWEEN 22 AND 31 AND {red}"), format!("(age >= 22 AND age <= 31) AND {red}")),
        (format!("NOT age BETWEEN 22 AND 31 OR {odd}"), format!("(age < 22 OR age > 31) OR ({odd})")),
        ("age NOT IN (21) AND color NOT LIKE 'r%'".to_owned(), "age <> 21 AND NOT (color LIKE 'r%')".to_owned()),
        ("data.age != - 5 AND +22 <= (age)".to_owned(), "age >= 22".to_owned()),
    ] {
        assert_eq!(count(&bare), count(&grouped), "{bare}");
    }
    let apart = format!("{red} OR {young} AND {odd}");
    assert_ne!(count(&apart), count(&format!("({red} OR {young}) AND {odd}")), "the two readings differ at all");
    let all = |sql: &str| run(&release, sql)["rows"].clone();
    assert_eq!(all("SELECT data.* FROM data -- every column\n;"), all("select * from \"data\" as d limit all"));
}

#[test]
fn queries_that_are_too_long_or_deep_or_wide_are_refused() {
    let release = people();
    let refused = |sql: &str| answer(&release, sql).expect_err("too much").to_string();
    let long = format!("SELECT COUNT(*) FROM data WHERE age IN ({})", vec!["12345"; 4000].join(","));
    assert!(refused(&long).contains("longer than"));
    let deep = format!("SELECT COUNT(*) FROM data WHERE {}age = 1{}", "(".repeat(3000), ")".repeat(3000));
    assert!(refused(&deep).contains("deep"), "{}", refused(&deep));
    // Chains are not deep.
    let chain = format!("SELECT COUNT(*) FROM data WHERE {}", vec!["age=1"; 1500].join(" OR "));
    assert_eq!(three(&run(&release, &chain)["answer"][0], "COUNT(*)"), [0.0; 3]);
    let sum = format!("SELECT COUNT(*) FROM data WHERE age = {}", vec!["1"; 7000].join("+"));
    assert!(refused(&sum).contains("arithmetic"));
    let names: Vec<String> = (0..30).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cell = range(0, 40);
    let wide = release_of(&names, &[Kind::Integer; 30], &[vec![&cell; 30]]);
    // Pairs far apart in the order of columns: every set of values of the first half must be
    // remembered.
    let pairs: Vec<String> =
        (0..15).flat_map(|c| (0..8).map(move |v| format!("(c{c}={v} AND c{}={v})", c + 15))).collect();
    let sql = format!("SELECT COUNT(*) FROM data WHERE {}", pairs.join(" OR "));
    let refused = answer(&wide, &sql).expect_err("explodes").to_string();
    assert!(refused.contains("too many combinations"), "{refused}");
}

#[test]
fn no_text_makes_it_panic() {
    let release = people();
    let whole = [
        "SELECT color, COUNT(*) AS n, SUM(age), AVG(age) FROM data WHERE NOT (age >= 25 AND color IN ('red', 'amber')) OR color LIKE 'r%' AND age IS NOT NULL GROUP BY color ORDER BY n DESC, 1 LIMIT 5",
        "SELECT * FROM \"release\" WHERE age BETWEEN -3.5 AND 1e3 OR \"home-town\" <> '20 to 29' AND color NOT LIKE '%\\_x' ESCAPE '\\'",
    ];
    let words = [
        "SELECT",
        "FROM",
        "WHERE",
        "NOT",
        "AND",
        "OR",
        "(",
        ")",
        "*",
        ",",
        "age",
        "color",
        "'",
        "\"",
        "`",
        "1e999",
        "-",
        "--",
        "/*",
        "NULL",
        "IN",
        "IS",
        "BETWEEN",
        "LIKE",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "9223372036854775808",
        "'20 to 29'",
        "é",
        "\u{0}",
        "%",
        "_",
        ";",
        "CASE",
        "INTERVAL",
        "DATE '2024-01-31'",
        "COUNT(*)",
        "SUM(",
        "<>",
        "<",
        ">=",
        "\\",
        "x'",
        "N'",
        "E'",
        "$$",
        "[",
        "]",
        "{",
        "}",
        "?",
        ":a",
        "::",
        "@",
        "#",
        "!",
        "~",
        "^",
        "|",
        "&",
    ];
    let (mut refused, mut answered) = (0, 0);
    for seed in seeds(3000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut text: Vec<char> = whole.choose(&mut rng).unwrap().chars().collect();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..=text.len());
            match rng.random_range(0..4) {
                0 => text.truncate(at.max(1)),
                1 if at < text.len() => drop(text.drain(at..(at + rng.random_range(1..12)).min(text.len()))),
                2 if at < text.len() => text[at] = char::from(rng.random_range(32..127u8)),
                _ => {
                    let word: Vec<char> = format!(" {} ", words.choose(&mut rng).unwrap()).chars().collect();
                    text.splice(at..at, word);
                }
            }
        }
        let sql: String = text.into_iter().collect();
        match answer(&release, &sql) {
            Ok(found) => {
                answered += 1;
                assert!(serde_json::to_value(&found).unwrap().is_object());
            }
            Err(hedgerow_table::TableError::Input(_)) => refused += 1,
            Err(other) => panic!("seed {seed}: {sql}: {other}"),
        }
    }
    // Neither side is trivial.
    assert!(
        std::env::var("HEDGEROW_SEED").is_ok() || refused > 500 && answered > 60,
        "{refused} refused, {answered} answered"
    );
}
