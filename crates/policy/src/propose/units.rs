//! The units that rows are about: an identifier that repeats, such as the number of a patient who
//! comes back or the key of a household.

use hedgerow_table::dependencies::{self, DependencySearch};
use hedgerow_table::engine::Embedded;
use hedgerow_table::{NoProgress, Ratio, Table};

use super::content;
use super::profile::Facts;
use super::roles::ProposedRole;
use super::vocabulary::Concept;
use crate::Role;

/// Fewer values are those of a group, not of individuals.
const UNITS_MIN: u64 = 10;
/// As dependencies are looked for elsewhere.
const TOLERANCE: Ratio = Ratio { numerator: 1, denominator: 100 };

/// The units of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundUnits {
    /// The position of the column that numbers them.
    pub(super) column: usize,
    pub(super) units: u64,
    /// Rows of every unit.
    sizes: Vec<u64>,
}

/// Gives the role `unit` to the identifier that repeats, where its rows belong together: they agree
/// on something else by more than chance. Of several, the one with the most values.
pub(super) fn find(table: &Table, facts: &[Facts<'_>], roles: &mut [ProposedRole]) -> Option<FoundUnits> {
    let column = repeating(table, facts, roles, |facts| facts.missing == 0)?;
    let sizes: Vec<u64> = facts[column].counts.iter().copied().filter(|&rows| rows > 0).collect();
    let units = sizes.len() as u64;
    let reason = format!(
        "repeats: {} rows about {units} units; guarantees count units, and it is never released",
        facts[column].rows
    );
    roles[column] = ProposedRole::new(Role::Unit, Concept::Open, reason);
    Some(FoundUnits { column, units, sizes })
}

/// An identifier whose rows belong together and that a proposal does not take as the unit: its
/// rules count rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatingIdentifier {
    pub name: String,
    pub rows: u64,
    pub values: u64,
    /// Rows without one, which belong to no unit.
    pub missing: u64,
}

/// The identifier that repeats in a table for which no unit is proposed, with the reason said of
/// its role.
pub(super) fn not_counted(
    table: &Table,
    facts: &[Facts<'_>],
    roles: &mut [ProposedRole],
) -> Option<RepeatingIdentifier> {
    let column = repeating(table, facts, roles, |_| true)?;
    let Facts { rows, distinct: values, missing, .. } = facts[column];
    let reason = format!("repeats: {rows} rows have {values} values, and guarantees count rows; never released");
    roles[column] = ProposedRole::new(Role::Identifier, Concept::Open, reason);
    Some(RepeatingIdentifier { name: facts[column].column.name.clone(), rows, values, missing })
}

/// The identifier that repeats and whose rows agree on something else by more than chance.
fn repeating(
    table: &Table,
    facts: &[Facts<'_>],
    roles: &[ProposedRole],
    is_possible: impl Fn(&Facts<'_>) -> bool,
) -> Option<usize> {
    let is_released = |role: &ProposedRole| matches!(role.role, Some(Role::Quasi | Role::Sensitive | Role::Plain));
    let to: Vec<usize> = (0..roles.len()).filter(|&column| is_released(&roles[column])).collect();
    let repeats = |facts: &Facts<'_>| {
        is_possible(facts)
            && facts.distinct >= UNITS_MIN
            && facts.distinct * 50 <= facts.rows * 49
            && facts.most * 4 <= facts.rows
    };
    let mut candidates: Vec<usize> = (0..roles.len())
        .filter(|&column| roles[column].role == Some(Role::Identifier) && repeats(&facts[column]))
        .collect();
    // Names repeat by chance, and those of one person are spelled in several ways.
    let is_name = |column: usize| content::names_of_people(&facts[column]).is_some();
    candidates.sort_by_key(|&column| (is_name(column), std::cmp::Reverse(facts[column].distinct), column));
    let engine = Embedded::new(table);
    candidates.into_iter().find(|&column| {
        let wanted = DependencySearch { from: &[column], to: &to, tolerance: TOLERANCE };
        dependencies::find(&engine, &wanted, &NoProgress)
            .is_ok_and(|found| found.is_some_and(|found| !found.is_empty()))
    })
}

impl FoundUnits {
    /// The share of rows or units, in hundredths, that have a number of rows that fewer than `k`
    /// units have: no class of whole units hides them.
    pub(super) fn hardly_hidden(&self, k: u64) -> u64 {
        let mut by_size: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
        self.sizes.iter().for_each(|&rows| *by_size.entry(rows).or_insert(0) += 1);
        let rare = by_size.iter().filter(|(_, units)| **units < k);
        let (rows, units) = rare.fold((0, 0), |(rows, sum), (&size, &units)| (rows + size * units, sum + units));
        let all: u64 = self.sizes.iter().sum();
        let hundredths = |part: u64, all: u64| (part * 100).div_ceil(all.max(1));
        hundredths(rows, all).max(hundredths(units, self.units))
    }

    /// One row of each unit.
    pub(super) fn first_rows(&self, table: &Table) -> Table {
        let mut seen = vec![false; table.columns[self.column].domain.cardinality()];
        let codes = table.columns[self.column].codes.iter();
        let first = (0u32..).zip(codes).filter(|(_, unit)| !std::mem::replace(&mut seen[*unit as usize], true));
        table.of_rows(&first.map(|(row, _)| row).collect::<Vec<u32>>())
    }

    /// Whether some unit has several values of a column.
    pub(super) fn vary_in(&self, table: &Table, column: usize) -> bool {
        let mut first: Vec<Option<u32>> = vec![None; table.columns[self.column].domain.cardinality()];
        let mut pairs = table.columns[self.column].codes.iter().zip(table.columns[column].codes.iter());
        pairs.any(|(unit, code)| *first[unit as usize].get_or_insert(code) != code)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProposeOptions, propose};
    use super::*;

    fn stays(key: impl Fn(usize) -> String) -> Table {
        let rows: Vec<Vec<String>> = (0..240)
            .map(|row| {
                let patient = row / 3;
                let sex = ["f", "m"][patient * 7 % 2].to_owned();
                vec![key(row), sex, (20 + patient * 13 % 60).to_string(), format!("ward {}", row * 5 % 7)]
            })
            .collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(&["patient_id", "sex", "age", "ward"], &rows)
    }

    #[test]
    fn an_identifier_whose_rows_belong_together_is_the_unit() {
        let options = ProposeOptions::default();
        let found = propose(&stays(|row| format!("R{:05}", row / 3)), "stays.csv", &options);
        assert_eq!(found.unit.as_deref(), Some("patient_id"));
        assert!(found.policy.contains("patient_id = { role = \"unit\" }"), "{}", found.policy);
        assert!(found.policy.contains("240 rows about 80 units"), "{}", found.policy);
        // As often, but at random.
        let random = propose(&stays(|row| format!("R{:05}", row * 7 % 80)), "stays.csv", &options);
        assert_eq!(random.unit, None, "{}", random.policy);
        assert_eq!(random.repeating, None, "{}", random.policy);
        let unique = propose(&stays(|row| format!("R{row:05}")), "stays.csv", &options);
        assert_eq!((unique.unit, unique.repeating), (None, None), "{}", unique.policy);
    }

    /// Rules count rows then, which a draft must say.
    #[test]
    fn an_identifier_that_repeats_and_is_not_the_unit_is_named() {
        let key = |row: usize| if row < 2 { String::new() } else { format!("R{:05}", row / 3) };
        for (table, no_unit, missing) in [(stays(key), false, 2), (stays(|row| format!("R{:05}", row / 3)), true, 0)] {
            let found = propose(&table, "stays.csv", &ProposeOptions { no_unit, ..ProposeOptions::default() });
            let expected = RepeatingIdentifier { name: "patient_id".to_owned(), rows: 240, values: 80, missing };
            assert_eq!((found.unit, found.repeating), (None, Some(expected)), "{}", found.policy);
            assert!(found.policy.contains("240 rows have 80 values"), "{}", found.policy);
        }
    }

    /// A unit with several values counts with any of them, so that three rarely remain.
    #[test]
    fn two_values_are_required_of_what_a_unit_has_several_of() {
        let rows: Vec<Vec<String>> = (0..600)
            .map(|row| {
                let (patient, age) = (format!("P{:04}", row / 5), (20 + row / 5 * 13 % 60).to_string());
                // One diagnosis for each stay, which does not follow from the age.
                let diagnosis =
                    ["flu", "gout", "ulcer", "angina", "asthma", "copd"][(row * 7 + row * row / 11) % 6].to_owned();
                vec![patient, age, diagnosis]
            })
            .collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["patient_id", "age", "diagnosis"], &rows);
        let rule = |two_values: bool, name: &str| {
            let found = propose(&table, "stays.csv", &ProposeOptions { two_values, ..ProposeOptions::default() });
            assert_eq!(found.unit.as_deref(), Some("patient_id"), "{}", found.policy);
            let (_, rule) = found.policy.split_once(&format!("protect = \"{name}\"\n")).unwrap();
            rule.lines().next().unwrap().to_owned()
        };
        assert!(rule(false, "diagnosis").contains("l = 3") && rule(true, "diagnosis").contains("l = 2"));
    }

    #[test]
    fn units_with_a_number_of_rows_of_their_own_are_counted() {
        let found = FoundUnits { column: 0, units: 12, sizes: vec![1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 9, 7] };
        assert_eq!(found.hardly_hidden(5), 52, "16 of 31 rows");
        assert_eq!(found.hardly_hidden(1), 0);
    }
}
