//! Columns that follow from others: columns that quasi-identifiers determine are known too, and a
//! column that another one determines is a level above it.

use hedgerow_table::dependencies::{self, DependencySearch};
use hedgerow_table::engine::Embedded;
use hedgerow_table::{NoProgress, Ratio, Table};

use super::profile::{Facts, texts_of};
use super::roles::ProposedRole;
use super::vocabulary::Concept;
use super::way::Way;
use crate::Role;

/// As publishing looks for them.
const TOLERANCE: Ratio = Ratio { numerator: 1, denominator: 100 };

/// Makes quasi what follows from quasi-identifiers, and what shows them, until there is nothing
/// new: publishing would refuse it otherwise.
pub(super) fn make_known(table: &Table, roles: &mut [ProposedRole]) {
    let of = |roles: &[ProposedRole], wanted: &[Role]| -> Vec<usize> {
        (0..roles.len()).filter(|&index| roles[index].role.is_some_and(|role| wanted.contains(&role))).collect()
    };
    let engine = Embedded::new(table);
    // Each round makes at least one more column known.
    for _ in 0..roles.len() {
        let (from, to) = (of(roles, &[Role::Quasi]), of(roles, &[Role::Sensitive, Role::Plain]));
        let wanted = DependencySearch { from: &from, to: &to, tolerance: TOLERANCE };
        let Ok(Some(found)) = dependencies::find(&engine, &wanted, &NoProgress) else { return };
        // A tract that is released as it is shows the county that was generalized.
        let wanted = DependencySearch { from: &to, to: &from, tolerance: TOLERANCE };
        let Ok(Some(showing)) = dependencies::find(&engine, &wanted, &NoProgress) else { return };
        if found.is_empty() && showing.is_empty() {
            return;
        }
        for dependency in showing {
            let reason = format!("shows {}: who knows the one finds the other", table.columns[dependency.to].name);
            for &column in &dependency.from {
                let concept = roles[column].concept;
                roles[column] = ProposedRole { concept, ..ProposedRole::known(reason.clone()) };
            }
        }
        for dependency in found {
            let names: Vec<&str> = dependency.from.iter().map(|&column| table.columns[column].name.as_str()).collect();
            let reason = format!("follows from {}: who knows the one knows the other", names.join(" and "));
            let concept = roles[dependency.to].concept;
            roles[dependency.to] = ProposedRole { concept, ..ProposedRole::known(reason) };
        }
    }
}

/// A column joined by the columns that it determines: county, area, region. `None` where there is
/// none that joins several values.
pub(super) fn levels_above(facts: &Facts<'_>, others: &[&Facts<'_>]) -> Option<Way> {
    const VALUES_MIN: u64 = 9;
    const LEVELS_MAX: usize = 3;
    if facts.distinct < VALUES_MIN || facts.distinct_share() > 0.2 {
        return None;
    }
    let mut above: Vec<(&Facts<'_>, Vec<u32>)> = Vec::new();
    for other in others {
        let joins = other.distinct >= 2 && other.distinct * 2 <= facts.distinct && other.missing == 0;
        let is_text = other.column.domain.kind() == hedgerow_table::Kind::Category;
        if joins
            && is_text
            && other.column.name != facts.column.name
            && let Some(map) = determined(facts, other)
        {
            above.push((*other, map));
        }
    }
    above.sort_by_key(|(other, _)| (std::cmp::Reverse(other.distinct), &other.column.name));
    // Each level joins those of the one below.
    let mut chain: Vec<(&Facts<'_>, Vec<u32>)> = Vec::new();
    for (other, map) in above {
        let nested = chain.last().is_none_or(|(below, of_below)| {
            let mut seen: Vec<Option<u32>> = vec![None; below.counts.len()];
            other.distinct < below.distinct
                && of_below.iter().zip(&map).all(|(&below, &above)| *seen[below as usize].get_or_insert(above) == above)
        });
        if nested && chain.len() < LEVELS_MAX {
            chain.push((other, map));
        }
    }
    if chain.is_empty() {
        return None;
    }
    let leaves = texts_of(facts.domain());
    let texts: Vec<Vec<String>> = chain.iter().map(|(other, _)| texts_of(other.domain())).collect();
    // A label must not be the leaf of another value, nor need quotes that ARX does not know.
    let odd = |text: &String| leaves.contains(text) || text.contains([';', '"', '\n', '*']);
    if texts.iter().flatten().any(odd) || leaves.iter().any(|leaf| leaf.contains([';', '"', '\n', '*'])) {
        return None;
    }
    let mut text = String::new();
    for (code, leaf) in leaves.iter().enumerate() {
        text.push_str(leaf);
        for ((_, map), labels) in chain.iter().zip(&texts) {
            text.push(';');
            text.push_str(labels.get(map[code] as usize)?);
        }
        text.push_str(";*\n");
    }
    Some(Way::File { text, levels: chain.len() })
}

/// For every value of a column the value of another one that always goes with it.
fn determined(from: &Facts<'_>, to: &Facts<'_>) -> Option<Vec<u32>> {
    let mut seen: Vec<Option<u32>> = vec![None; from.counts.len()];
    for (from, to) in from.column.codes.iter().zip(to.column.codes.iter()) {
        if *seen[from as usize].get_or_insert(to) != to {
            return None;
        }
    }
    Some(seen.into_iter().take(from.domain().present()).map(Option::unwrap_or_default).collect())
}

/// The concept of what became known is kept; numbers stay numbers.
impl ProposedRole {
    fn known(reason: String) -> ProposedRole {
        ProposedRole::new(Role::Quasi, Concept::Open, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str], cell: impl Fn(usize, &str) -> String) -> Table {
        let rows: Vec<Vec<String>> = (0..240).map(|row| names.iter().map(|name| cell(row, name)).collect()).collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(names, &rows)
    }

    #[test]
    fn counties_are_joined_by_the_areas_that_they_lie_in() {
        let table = table(&["county", "area", "region", "ward"], |row, name| match name {
            "county" => format!("county {:02}", row % 24),
            "area" => format!("area {}", row % 24 / 4),
            "region" => format!("region {}", row % 24 / 12),
            _ => format!("ward {}", row % 7),
        });
        let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
        let others: Vec<&Facts<'_>> = facts.iter().collect();
        let Some(Way::File { text, levels }) = levels_above(&facts[0], &others) else { panic!("no levels") };
        assert_eq!(levels, 2);
        assert!(
            text.starts_with("county 00;area 0;region 0;*\n") && text.contains("county 13;area 3;region 1;*\n"),
            "{text}"
        );
        assert_eq!(levels_above(&facts[3], &others), None);
    }
}
