//! Relations between columns: one determines another (county and area), or is the sum
//! of two (total and parts). An adversary who knows the one knows the other, whatever role it has.

use super::profile::Facts;

/// A relation that holds in every row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// Rows that agree in `from` agree in `to`.
    Determines { from: String, to: String },
    /// `total` is the sum of the two parts.
    Sum { total: String, parts: [String; 2] },
}

/// More would not be read by anyone.
const RELATIONS_MAX: usize = 100;
/// A column with more different values per row than this determines others by chance.
const DISTINCT_SHARE_MAX: f64 = 0.2;
/// Pairs of more columns than this are not examined, nor triples of more numbers.
const COLUMNS_MAX: usize = 400;
const NUMBERS_MAX: usize = 120;
/// Fewer rows would agree by chance.
const ROWS_MIN: u64 = 20;
/// Numbers with fewer different values add up by chance.
const DISTINCT_MIN: u64 = 5;

/// In the order of the columns' names, so that the order of the columns does not matter.
pub(super) fn find(columns: &[&Facts<'_>]) -> Vec<Relation> {
    if columns.first().is_none_or(|facts| facts.rows < ROWS_MIN) {
        return Vec::new();
    }
    let mut columns: Vec<&Facts<'_>> = columns.to_vec();
    columns.sort_by(|a, b| a.column.name.cmp(&b.column.name));
    columns.truncate(COLUMNS_MAX);
    let mut found = determined(&columns);
    found.extend(sums(&columns));
    found.truncate(RELATIONS_MAX);
    found
}

fn determined(columns: &[&Facts<'_>]) -> Vec<Relation> {
    let mut found = Vec::new();
    for from in columns.iter().filter(|from| from.distinct >= 2 && from.distinct_share() <= DISTINCT_SHARE_MAX) {
        for to in columns.iter().filter(|to| to.cardinality() >= 2 && to.distinct <= from.distinct) {
            // Of two columns that determine each other, which name the same thing, one direction is
            // enough.
            let twin = to.distinct == from.distinct && to.column.name <= from.column.name;
            if !twin && to.column.name != from.column.name && determines(from, to) {
                let (from, to) = (from.column.name.clone(), to.column.name.clone());
                found.push(Relation::Determines { from, to });
            }
        }
    }
    found
}

/// Whether rows that agree in the one agree in the other. Most pairs fail within the first rows.
fn determines(from: &Facts<'_>, to: &Facts<'_>) -> bool {
    let mut seen: Vec<Option<u32>> = vec![None; from.counts.len()];
    let pairs = from.column.codes.iter().zip(to.column.codes.iter());
    pairs.into_iter().all(|(from, to)| *seen[from as usize].get_or_insert(to) == to)
}

fn sums(columns: &[&Facts<'_>]) -> Vec<Relation> {
    /// Rows on which most triples fail.
    const TRIED: usize = 64;
    let numeric = columns.iter().filter(|facts| facts.kind().is_number() && facts.missing == 0);
    let numeric: Vec<&&Facts<'_>> = numeric.filter(|facts| facts.distinct >= DISTINCT_MIN).take(NUMBERS_MAX).collect();
    let rows = columns.first().map_or(0, |facts| facts.rows as usize);
    let step = (rows / TRIED).max(1);
    let number = |facts: &Facts<'_>, row: usize| facts.domain().number(facts.column.codes.get(row)).unwrap_or(f64::NAN);
    let sample: Vec<Vec<f64>> =
        numeric.iter().map(|facts| (0..rows).step_by(step).map(|row| number(facts, row)).collect()).collect();
    let equal = |sum: f64, total: f64| (sum - total).abs() <= 1e-9 * total.abs().max(1.0);
    let mut found = Vec::new();
    for total in 0..numeric.len() {
        for first in 0..numeric.len() {
            for second in first + 1..numeric.len() {
                let different = first != total && second != total;
                let parts = || sample[first].iter().zip(&sample[second]).map(|(a, b)| a + b);
                if !different || !parts().zip(&sample[total]).all(|(sum, total)| equal(sum, *total)) {
                    continue;
                }
                let holds = (0..rows).all(|row| {
                    let sum = number(numeric[first], row) + number(numeric[second], row);
                    equal(sum, number(numeric[total], row))
                });
                if holds && found.len() < RELATIONS_MAX {
                    let name = |index: usize| numeric[index].column.name.clone();
                    found.push(Relation::Sum { total: name(total), parts: [name(first), name(second)] });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::Table;

    #[test]
    fn places_within_places_and_totals_are_found_whatever_the_order_of_columns() {
        let cell = |name: &str, row: usize| match name {
            "county" => format!("county {}", row % 12),
            "area" => format!("area {}", row % 12 / 4),
            "wages" => (row * 37 % 500).to_string(),
            "rents" => (row * row % 300).to_string(),
            "total" => (row * 37 % 500 + row * row % 300).to_string(),
            _ => (row % 7).to_string(),
        };
        let found = |names: &[&str]| {
            let rows: Vec<Vec<String>> =
                (0..200).map(|row| names.iter().map(|name| cell(name, row)).collect()).collect();
            let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let table = Table::from_texts(names, &rows);
            let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
            find(&facts.iter().collect::<Vec<_>>())
        };
        let names = ["county", "area", "wages", "rents", "total", "ward"];
        let expected = [
            Relation::Determines { from: "county".to_owned(), to: "area".to_owned() },
            Relation::Sum { total: "total".to_owned(), parts: ["rents".to_owned(), "wages".to_owned()] },
        ];
        assert_eq!(found(&names), expected);
        assert_eq!(found(&["total", "ward", "rents", "area", "wages", "county"]), expected);
    }
}
