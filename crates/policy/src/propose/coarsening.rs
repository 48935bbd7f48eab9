//! Coarser values for what is released as it is.

use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Coarsening, Kind, Way};

use super::profile::Facts;
use super::proposed::Proposed;
use super::way::number;
use crate::Role;

/// Exact amounts and days find one row among many: what is released as it is becomes coarser.
pub(super) fn coarsening(column: &Proposed<'_>, role: Option<Role>, kind: Option<Kind>) -> Option<String> {
    if !matches!(role, Some(Role::Sensitive | Role::Plain)) || column.plan.is_some() {
        return None;
    }
    match kind? {
        Kind::Integer | Kind::Float => significant_digits(&column.facts).map(|digits| match top(&column.facts) {
            Some(top) => format!("{{ significant = {digits}, top = {} }}", number(top)),
            None => format!("{{ significant = {digits} }}"),
        }),
        Kind::Date if column.facts.distinct > 100 => Some("{ dates = \"month\" }".to_owned()),
        _ => None,
    }
}

/// Numbers that stay coarse enough to be shared, for what is released as it is: the digits to keep.
fn significant_digits(facts: &Facts<'_>) -> Option<u32> {
    const VALUES_MIN: usize = 10;
    if !facts.kind().is_number() || facts.distinct <= 50 {
        return None;
    }
    (2..=3).find(|&digits| {
        let way = Way::Significant(digits);
        let coarsening = Coarsening { way, bottom: None, top: None, place: String::new() };
        let Ok(coarser) = coarsening.apply(&facts.column.name, facts.domain(), &[]) else { return false };
        let mut counts = vec![0u64; coarser.domain.cardinality()];
        for (&code, &count) in coarser.map.iter().zip(&facts.counts) {
            counts[code as usize] += count;
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let before = facts.counts.iter().copied().max().unwrap_or(0);
        coarser.domain.present() >= VALUES_MIN && most <= before.max(facts.rows / 4)
    })
}

/// The number above which amounts are one, where the largest are far from the others: the
/// largest salary of a town names a person, however few of its digits are kept. Round, and exceeded
/// by one row in two hundred.
fn top(facts: &Facts<'_>) -> Option<Bound> {
    const ROWS_MIN: u64 = 400;
    const ABOVE: u64 = 200;
    const FAR: f64 = 1.5;
    let rows = facts.present_rows();
    if rows < ROWS_MIN {
        return None;
    }
    let mut below = 0;
    let last = facts.present_counts().iter().position(|count| {
        below += count;
        below >= rows - rows / ABOVE
    })?;
    let domain = facts.domain();
    let (high, largest) = (domain.number(last as u32)?, domain.number(domain.present().checked_sub(1)? as u32)?);
    if high <= 0.0 || largest < high * FAR {
        return None;
    }
    // Two digits, downwards, so that no fewer rows are above.
    let unit = 10f64.powi(high.log10().floor() as i32 - 1);
    let round = (high / unit).floor() * unit;
    match facts.kind() {
        Kind::Integer if (1.0..9e15).contains(&round) => Some(Bound::Integer(round as i64)),
        Kind::Float => {
            format!("{}e{}", (high / unit).floor(), high.log10().floor() as i32 - 1).parse().ok().map(Bound::Float)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::Table;

    fn top_of(values: impl IntoIterator<Item = String>) -> Option<Bound> {
        let values: Vec<String> = values.into_iter().collect();
        let rows: Vec<Vec<&str>> = values.iter().map(|value| vec![value.as_str()]).collect();
        top(&Facts::of(&Table::from_texts(&["x"], &rows).columns[0]))
    }

    #[test]
    fn the_largest_amounts_are_one_where_they_are_far_from_the_others() {
        let salaries = |director: i64| (0..999).map(|x| 30_000 + 50 * x).chain([director]);
        let texts = |director| salaries(director).map(|x| x.to_string());
        assert_eq!(top_of(texts(900_000)), Some(Bound::Integer(79_000)));
        assert!(salaries(900_000).filter(|&x| x > 79_000).count() >= 5, "no fewer than one in two hundred");
        assert_eq!(top_of(texts(80_000)), None, "no one stands out");
        assert_eq!(top_of((0..300).map(|x| (x * x * x).to_string())), None, "too few rows to tell");
        assert_eq!(top_of((0..1000).map(|x| (-x * x).to_string())), None, "debts have no top");
        assert_eq!(top_of(salaries(900_000).map(|x| format!("{}.5", x / 100))), Some(Bound::Float(790.0)));
        assert_eq!(top_of((0..1000).map(|x| (x / 999).to_string())), None, "one is the only amount above none");
    }

    #[test]
    fn amounts_keep_the_digits_that_many_share() {
        let rows: Vec<[String; 2]> =
            (0..240).map(|row| [(20_000 + row * row * 7 % 90_000).to_string(), (row % 5).to_string()]).collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["income", "code"], &rows);
        let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
        assert_eq!(significant_digits(&facts[0]), Some(2));
        assert_eq!(significant_digits(&facts[1]), None);
    }
}
