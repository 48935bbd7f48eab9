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
    table.columns.iter().filter_map(|column| odd(&column.name, column.domain.values(), place)).collect()
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
