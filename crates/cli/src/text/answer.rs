//! The answer to a query as a table.

use hedgerow::{Answer, AnswerCell, ColumnKind, Estimate, day_of};

pub(crate) fn answer(answer: &Answer) -> String {
    let mut table: Vec<Vec<String>> = vec![Vec::new()];
    let mut right: Vec<bool> = Vec::new();
    for column in &answer.columns {
        table[0].push(column.name.clone());
        right.push(column.kind != (ColumnKind::Label { number: false }));
        if matches!(column.kind, ColumnKind::Count | ColumnKind::Amount | ColumnKind::Day) {
            table[0].extend(["certain".to_owned(), "possible".to_owned()]);
            right.extend([true, true]);
        }
    }
    for cells in &answer.lines {
        let mut line = Vec::new();
        for (cell, column) in cells.iter().zip(&answer.columns) {
            match cell {
                AnswerCell::Label(text) => line.push(one_line(text.as_deref().unwrap_or(""))),
                AnswerCell::Share { share, .. } => line.push(number(*share)),
                AnswerCell::Estimate(found) if column.kind == ColumnKind::Day => line.extend(days(found)),
                AnswerCell::Estimate(found) => line.extend(three(found)),
            }
        }
        table.push(line);
    }
    let width = |column: usize| table.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..right.len()).map(width).collect();
    let mut text = String::new();
    for line in &table {
        let mut aligned = String::new();
        for ((cell, width), right) in line.iter().zip(&widths).zip(&right) {
            let fill = " ".repeat(width - cell.chars().count());
            aligned.push_str(&if *right { format!("{fill}{cell}  ") } else { format!("{cell}{fill}  ") });
        }
        text.push_str(aligned.trim_end());
        text.push('\n');
    }
    text
}

fn three(found: &Estimate) -> [String; 3] {
    let floats = [found.estimate, found.certain, found.possible];
    std::array::from_fn(|place| found.whole[place].map_or_else(|| number(floats[place]), |whole| whole.to_string()))
}

/// Dates; what no date can say is as for numbers.
fn days(found: &Estimate) -> [String; 3] {
    [found.estimate, found.certain, found.possible].map(|day| day_of(day).unwrap_or_else(|| number(day)))
}

/// A label that would break the table's lines is shown escaped.
fn one_line(text: &str) -> String {
    if text.chars().any(char::is_control) { text.escape_debug().to_string() } else { text.to_owned() }
}

/// Six significant digits, and at most four after the point.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "unknown".to_owned();
    }
    if value.is_infinite() {
        return "unbounded".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let places = (5 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 4) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_significant_digits() {
        let shown = [0.5, 12.0, 12.34567, 123_456.7, 1.0e-7, 1.0 / 3.0, f64::NAN, f64::INFINITY].map(number);
        assert_eq!(shown, ["0.5", "12", "12.3457", "123457", "0", "0.3333", "unknown", "unbounded"]);
    }
}
