//! An identifier that repeats where no attribute has the role `unit`: rules count the rows of one
//! individual as if they were about several.
//!
//! Files are read with their identifiers as far as these have few values; no database sends them.

use std::collections::HashSet;

use hedgerow_policy::{Attribute, Policy, Role};
use hedgerow_table::dependencies::{self, DependencySearch};
use hedgerow_table::{Engine, InputError, Progress, Ratio, Table, TableError};

/// Fewer values are those of a group, not of individuals.
const VALUES_MIN: u64 = 10;

/// As dependencies are looked for elsewhere.
const TOLERANCE: Ratio = Ratio { numerator: 1, denominator: 100 };

/// The identifiers that may repeat.
pub(crate) fn identifiers(policy: &Policy) -> impl Iterator<Item = &Attribute> {
    let counts_rows = !policy.has_units();
    policy.attributes.iter().filter(move |attribute| counts_rows && attribute.role == Role::Identifier)
}

/// Their names.
pub(crate) fn names(policy: &Policy) -> HashSet<String> {
    identifiers(policy).map(|attribute| attribute.name.clone()).collect()
}

/// Whether a table has an identifier that repeats, from what its domain alone tells.
pub(crate) fn may_repeat(policy: &Policy, table: &Table) -> bool {
    let mut columns = identifiers(policy).filter_map(|attribute| table.column(&attribute.name));
    columns.any(|column| is_often(column.domain.present() as u64, table.rows as u64))
}

fn is_often(values: u64, rows: u64) -> bool {
    values >= VALUES_MIN && values * 50 <= rows * 49
}

/// A warning about the identifier that repeats and whose rows agree on something that is released,
/// by more than chance: they belong together. Of several, the one with the most values.
pub(crate) fn examine(
    policy: &Policy,
    engine: &dyn Engine,
    progress: &dyn Progress,
) -> Result<Option<InputError>, TableError> {
    let profile = engine.profile();
    let position = |name: &str| profile.columns.iter().position(|column| column.name == name);
    let released = policy.attributes.iter().filter(|attribute| attribute.role.is_released());
    let to: Vec<usize> = released.filter_map(|attribute| position(&attribute.name)).collect();
    let candidates = identifiers(policy).filter_map(|attribute| {
        let place = position(&attribute.name)?;
        let (domain, counts) = (&profile.columns[place].domain, &profile.columns[place].counts);
        let missing = domain.missing_code().and_then(|code| counts.get(code as usize)).copied().unwrap_or(0);
        let (values, rows) = (domain.present() as u64, (profile.rows as u64).saturating_sub(missing));
        let most = counts[..counts.len().min(domain.present())].iter().copied().max().unwrap_or(0);
        (is_often(values, rows) && most * 4 <= rows).then_some((attribute, place, values, rows))
    });
    let mut candidates: Vec<(&Attribute, usize, u64, u64)> = candidates.collect();
    candidates.sort_by_key(|&(_, place, values, _)| (std::cmp::Reverse(values), place));
    for (attribute, place, values, rows) in candidates {
        let wanted = DependencySearch { from: &[place], to: &to, tolerance: TOLERANCE };
        let found = dependencies::find(engine, &wanted, progress)?.unwrap_or_default();
        if let Some(found) = found.first() {
            return Ok(Some(warning(attribute, &profile.columns[found.to].name, values, rows)));
        }
    }
    Ok(None)
}

fn warning(attribute: &Attribute, same: &str, values: u64, rows: u64) -> InputError {
    let Attribute { name, place, .. } = attribute;
    let problem = format!(
        "`{name}` repeats: {rows} rows have {values} values of it, and those of one value mostly agree in `{same}`. \
         The rules count rows, so that a class of k rows may be about fewer than k people"
    );
    let hint = format!("give `{name}` the role `unit`, so that rules count individuals; or publish one row for each");
    InputError::new(place.clone(), problem, hint).about("units", [name], Some(values))
}
