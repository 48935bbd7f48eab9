//! Columns that were read as texts though nearly all of their texts are numbers or dates: what
//! keeps them from being so.

use hedgerow_table::date::Date;
use hedgerow_table::{DateFormat, InputError, Kind, Table, Values};

use super::content::spread;

/// The share of the values that must be numbers, or dates, for the others to be odd.
const TYPED_SHARE_MIN: f64 = 0.8;

/// How dates are often written.
const DATES: [&str; 7] = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y"];

/// Warnings about the draft.
pub fn odd_texts(table: &Table, place: &str) -> Vec<InputError> {
    let odd = table.columns.iter().filter_map(|column| odd(&column.name, column.domain.values(), place));
    spaced(table, place).into_iter().chain(odd).collect()
}

/// One warning for all columns of numbers that have spaces beside them: a file with them has them
/// in many columns.
fn spaced(table: &Table, place: &str) -> Option<InputError> {
    const NAMED: usize = 5;
    let has_spaces = |values: &Values| {
        let Values::Category(values) = values else { return false };
        let sample: Vec<&str> = spread(values).map(AsRef::as_ref).collect();
        sample.iter().any(|text| text.trim() != *text) && sample.iter().all(|text| Kind::Float.takes(text.trim()))
    };
    let found = table.columns.iter().filter(|column| has_spaces(column.domain.values()));
    let names: Vec<&str> = found.map(|column| column.name.as_str()).collect();
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let (have, they_are) = if names.len() == 1 { ("has", "it is") } else { ("have", "they are") };
    let listed = match (shown.as_slice(), names.len() - shown.len()) {
        ([], _) => return None,
        (shown, 1) => format!("{} and 1 other column", shown.join(", ")),
        (shown, more) if more > 1 => format!("{} and {more} other columns", shown.join(", ")),
        ([only], _) => only.clone(),
        ([first @ .., last], _) => format!("{} and {last}", first.join(", ")),
    };
    let problem = format!("{listed} {have} numbers with spaces beside them, so that {they_are} read as text");
    let hint = "remove the spaces around values, such as those behind delimiters";
    Some(InputError::new(place, problem, hint).about("odd-texts", names, None))
}

fn odd(name: &str, values: &Values, place: &str) -> Option<InputError> {
    let Values::Category(values) = values else { return None };
    let sample: Vec<&str> = spread(values).map(AsRef::as_ref).collect();
    let enough =
        |count: usize| count >= 2 && count as f64 >= TYPED_SHARE_MIN * sample.len() as f64 && count < sample.len();
    let about =
        |problem: String, hint: String| Some(InputError::new(place, problem, hint).about("odd-texts", [name], None));
    let numbers = sample.iter().filter(|text| Kind::Float.takes(text)).count();
    let infinite = |text: &&&str| {
        let text = text.trim_start_matches(['-', '+']).to_ascii_lowercase();
        ["inf", "infinity", "nan"].contains(&text.as_str())
    };
    if enough(numbers)
        && let Some(text) = sample.iter().find(|text| infinite(text))
        && sample.iter().filter(|text| infinite(text)).count() + numbers == sample.len()
    {
        let problem = format!("`{name}` has numbers and the text {text:?}, so that it is read as text");
        let hint = format!("correct the data, or list {text:?} in `null` of the source to have it count as missing");
        return about(problem, hint);
    }
    let formats: Vec<DateFormat> = DATES.iter().filter_map(|pattern| DateFormat::parse(pattern).ok()).collect();
    let reads = |format: &DateFormat, text: &str| format.read(text).is_some();
    let is_date = |text: &&&str| Date::parse_iso(text).is_some() || formats.iter().any(|format| reads(format, text));
    let dates = sample.iter().filter(is_date).count();
    let one_fits = formats.iter().any(|format| sample.iter().all(|text| reads(format, text)));
    if dates == sample.len() && dates >= 2 && !one_fits {
        let problem = format!("`{name}` has dates in more than one format, so that it is read as text");
        let hint = "write all of them one way, such as 2024-02-29, so that they are dates and have an order";
        return about(problem, hint.to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(texts: &[&str]) -> Option<String> {
        let rows: Vec<Vec<&str>> = texts.iter().map(|text| vec![*text]).collect();
        odd_texts(&Table::from_texts(&["x"], &rows), "data.csv").pop().map(|warning| warning.problem)
    }

    #[test]
    fn numbers_with_spaces_are_named_once() {
        let rows = vec![vec!["1", " 2", " 30", "a b"], vec!["2", " 4", " 5.5", " x"], vec!["3", " 4", "7", "y"]];
        let found = odd_texts(&Table::from_texts(&["id", "a", "b", "text"], &rows), "data.csv");
        let problems: Vec<&str> = found.iter().map(|warning| warning.problem.as_str()).collect();
        assert_eq!(problems, ["`a` and `b` have numbers with spaces beside them, so that they are read as text"]);
        assert!(problem(&[" 1", " 2"]).unwrap().starts_with("`x` has numbers with spaces"));
    }

    #[test]
    fn infinite_numbers_and_mixed_dates_are_named() {
        assert!(problem(&["1", "2.5", "3", "4", "5", "6", "inf"]).unwrap().contains("the text \"inf\""));
        assert!(problem(&["2024-01-31", "31.01.2024", "2024-02-01"]).unwrap().contains("more than one format"));
        for texts in [
            &["1", "2", "x"][..],
            &["a", "b"],
            &["2024-01-31", "2024-02-01"],
            &["31.01.2024", "01.02.2024"],
            &["1", "inf"],
        ] {
            assert_eq!(problem(texts), None, "{texts:?}");
        }
    }
}
