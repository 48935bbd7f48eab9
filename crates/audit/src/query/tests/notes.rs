//! The notes of an answer, and values that no label shows.

use super::*;

fn open(text: &str, low: Option<i64>, high: Option<i64>) -> TestLabel {
    TestLabel { text: text.to_owned(), cover: interval(low, high), likely: Vec::new(), possible: Vec::new() }
}

fn everything() -> TestLabel {
    TestLabel { text: "*".to_owned(), cover: Cover::Everything, likely: Vec::new(), possible: Vec::new() }
}

fn notes(found: &Json) -> Vec<String> {
    let notes = found["notes"].as_array().unwrap();
    notes.iter().map(|note| note.as_str().unwrap().split(':').next().unwrap().to_owned()).collect()
}

/// A note names the attributes whose bounds are missing in the answer, and no others.
#[test]
fn a_note_on_missing_bounds_names_only_unbounded_attributes() {
    let (old, young, four) = (open("60+", Some(60), None), range(20, 40), point(4));
    let red = colors("red", &["red"]);
    let rows = vec![vec![&old, &four, &red], vec![&young, &four, &red], vec![&young, &four, &red]];
    let release = release_of(&["age", "stay", "color"], &[Kind::Integer, Kind::Integer, Kind::Category], &rows);
    let noted = |select: &str| notes(&run(&release, &format!("SELECT {select}")));
    assert_eq!(noted("SUM(age), SUM(stay) FROM data"), ["`age` has no upper bound"]);
    assert_eq!(noted("MAX(age) FROM data"), ["`age` has no upper bound"]);
    assert_eq!(noted("SUM(stay * age) FROM data"), ["`age` has no bounds"]);
    assert_eq!(noted("SUM(CASE WHEN age > 70 THEN stay END) FROM data"), Vec::<String>::new());
    // Beside a sum without bounds that is not shown.
    assert_eq!(noted("SUM(stay) FROM data HAVING SUM(age) > 0"), Vec::<String>::new());
    assert_eq!(noted("SUM(age) FROM data WHERE age < 50"), Vec::<String>::new());
    assert_eq!(noted("age, MAX(age) FROM data GROUP BY age LIMIT 1"), Vec::<String>::new());
    let by_zero = noted("COUNT(*) / (COUNT(age) * 1.0) FROM data WHERE age > 70");
    assert_eq!(by_zero, ["a quotient has no bounds where it may divide by zero"]);
    // Of two integers, it is missing or no greater than what is divided.
    assert_eq!(noted("COUNT(*) / COUNT(age) FROM data WHERE age > 70"), Vec::<String>::new());
    assert_eq!(noted("COUNT(*) / COUNT(age) FROM data"), Vec::<String>::new());
}

/// With every color that is shown, and `*`: a color that no label names is not expected, and the
/// note says that only `*` can cover it.
#[test]
fn a_value_that_no_label_names_is_not_expected() {
    let (red, blue, star) = (colors("red", &["red"]), colors("blue", &["blue"]), everything());
    let rows: Vec<Vec<&TestLabel>> = [&red, &blue, &star, &star].map(|label| vec![label]).to_vec();
    let release = release_of(&["color"], &[Kind::Category], &rows);
    let ask = |release: &Release, condition: &str| {
        let found = run(release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"));
        (three(&found["answer"][0], "COUNT(*)"), found["notes"].to_string())
    };
    assert_eq!(ask(&release, "color = 'red'"), ([2.0, 1.0, 3.0], "[]".to_owned()));
    let (count, note) = ask(&release, "color = 'x'");
    assert_eq!(count, [0.0, 0.0, 2.0], "it may be what `*` hides");
    assert!(note.contains("the codebook names no value 'x' of `color`; only `*` may cover it"), "{note}");
    let (count, note) = ask(&release, "color IN ('x', 'red')");
    assert_eq!(count, [2.0, 1.0, 3.0]);
    assert!(note.contains("names no value 'x'"), "{note}");
    // Without `*` it is nowhere.
    let release = release_of(&["color"], &[Kind::Category], &rows[..2]);
    let (count, note) = ask(&release, "color = 'x'");
    assert_eq!(count, [0.0; 3]);
    assert!(note.contains("no value of `color` is 'x'"), "{note}");
}

/// A column of one value would not be covered by `*`: it has others, and nothing says which. No
/// answer gives half of the rows to whatever is asked for.
#[test]
fn one_value_and_the_top_do_not_say_what_there_is() {
    let (red, gone, star) = (colors("red", &["red"]), missing(), everything());
    for shown in [&red, &gone] {
        let rows: Vec<Vec<&TestLabel>> = [shown, &star, &star].map(|label| vec![label]).to_vec();
        let release = release_of(&["color"], &[Kind::Category], &rows);
        for condition in ["color = 'x'", "color = 'blue'", "color <> 'red'"] {
            let found = run(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}"));
            let [estimate, certain, possible] = three(&found["answer"][0], "COUNT(*)");
            assert!(estimate.is_nan() && certain == 0.0 && possible == 2.0, "{condition}: {found}");
            assert!(found["notes"].to_string().contains("an estimate is unknown"), "{found}");
        }
        let found = run(&release, "SELECT COUNT(*) FROM data");
        assert_eq!(three(&found["answer"][0], "COUNT(*)"), [3.0; 3]);
    }
}

/// Rows under `*` can be of any group: where HAVING keeps their group out, only a note says so.
#[test]
fn having_says_what_it_makes_of_rows_under_the_top() {
    let (red, blue, star) = (colors("red", &["red"]), colors("blue", &["blue"]), everything());
    let rows: Vec<Vec<&TestLabel>> = [&red, &red, &red, &blue, &star].map(|label| vec![label]).to_vec();
    let release = release_of(&["color"], &[Kind::Category], &rows);
    let noted = |having: &str| {
        let found = run(&release, &format!("SELECT color, COUNT(*) FROM data GROUP BY color {having}"));
        (found["answer"].as_array().unwrap().len(), found["notes"].clone())
    };
    let judged = "rows under `*` of `color` can be of any group: HAVING judges them as one of their own";
    assert_eq!(noted("HAVING COUNT(*) >= 2"), (1, Json::from(vec![format!("{judged}, which is not listed")])));
    assert_eq!(noted("HAVING COUNT(*) < 2"), (2, Json::from(vec![judged])));
    assert_eq!(noted(""), (3, Json::Array(Vec::new())), "its line says it");
    let release = release_of(&["color"], &[Kind::Category], &rows[..4]);
    let found = run(&release, "SELECT color FROM data GROUP BY color HAVING COUNT(*) >= 2");
    assert_eq!(found["notes"], Json::Array(Vec::new()));
}

/// A missing estimate is said also where only HAVING asks for it.
#[test]
fn an_unknown_estimate_that_having_asks_for_is_noted() {
    let (red, star, four) = (colors("red", &["red"]), everything(), point(4));
    let rows: Vec<Vec<&TestLabel>> = [&red, &star, &star].map(|label| vec![&four, label]).to_vec();
    let release = release_of(&["age", "color"], &[Kind::Integer, Kind::Category], &rows);
    let having = "FROM data WHERE color = 'blue' GROUP BY age HAVING COUNT(*) > 1";
    for shown in ["age", "age, COUNT(*)"] {
        let found = run(&release, &format!("SELECT {shown} {having}"));
        assert_eq!(found["answer"].as_array().unwrap().len(), 1, "{found}");
        assert!(found["notes"].to_string().contains("an estimate is unknown"), "{found}");
    }
}
