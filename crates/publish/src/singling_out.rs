//! Attributes that are released as they are and single out rows. Whoever knows the values of such a
//! person finds the row, and with it everything else that is released there, whatever the rules
//! guarantee about the quasi-identifiers.

use hedgerow_policy::{Attribute, Method, Policy, Role};
use hedgerow_table::{Column, Counted, Engine, InputError, Progress, Table, TableError, uniqueness};

use crate::out_of_core::exact;

/// Rows that may be singled out before a release is refused: one in twenty, and in small tables
/// two.
fn rows_allowed(rows: u64) -> u64 {
    (rows / 20).max(2)
}

/// Refuses plain attributes that single out rows, alone or a few together, unless the policy allows
/// it for them. Returns warnings about sensitive ones.
pub(crate) fn examine(policy: &Policy, table: &Table) -> Result<Vec<InputError>, InputError> {
    let unique = |column: &Column| uniqueness::unique_rows(&[column]);
    let mut warnings = warn_of_sensitive(policy, table, table.rows as u64, unique);
    // A cloned release has no plain attributes.
    if policy.publish.method == Method::Clone {
        return Ok(warnings);
    }
    warnings.extend(examine_plain(policy, table, None, table.rows as u64)?);
    Ok(warnings)
}

/// The same for rows that are not in memory.
pub(crate) fn examine_outside(
    policy: &Policy,
    engine: &dyn Engine,
    counted: &Counted,
    progress: &dyn Progress,
) -> Result<Vec<InputError>, TableError> {
    let unique = |column: &Column| {
        let values = counted.values(&column.name).unwrap_or_default();
        values.iter().filter(|count| **count == 1).count() as u64
    };
    let mut warnings = warn_of_sensitive(policy, &counted.table, counted.rows, unique);
    let plain = policy.attributes.iter().filter(|attribute| is_unguarded(policy, attribute));
    let names: Vec<&str> = plain.map(|attribute| attribute.name.as_str()).collect();
    let combined = exact(Counted::of(engine, &names, progress)?)?;
    warnings.extend(examine_plain(policy, &combined.table, Some(&combined.counts), combined.rows)?);
    Ok(warnings)
}

/// Where `counts` is present, each row of the table stands for as many as it says.
fn examine_plain(
    policy: &Policy,
    table: &Table,
    counts: Option<&[u32]>,
    rows: u64,
) -> Result<Option<InputError>, InputError> {
    let unguarded = policy.attributes.iter().filter(|attribute| is_unguarded(policy, attribute));
    let (attributes, columns): (Vec<&Attribute>, Vec<&Column>) =
        unguarded.filter_map(|attribute| with_column(attribute, table)).unzip();
    let uniqueness = uniqueness::examine_counted(&columns, counts, rows_allowed(rows));
    if let Some(found) = uniqueness.found.first() {
        let named: Vec<&Attribute> = found.columns.iter().map(|index| attributes[*index]).collect();
        return Err(refusal(&named, found.rows, rows));
    }
    Ok((!uniqueness.complete).then(|| {
        let problem = "there are too many plain attributes to examine which of them single out rows together";
        let hint = "release fewer attributes as they are, or give those that others may know the role `quasi`";
        InputError::new(policy.path.display().to_string(), problem, hint)
    }))
}

fn refusal(attributes: &[&Attribute], unique: u64, rows: u64) -> InputError {
    let names: Vec<String> = attributes.iter().map(|attribute| format!("`{}`", attribute.name)).collect();
    let subject = match names.as_slice() {
        [name] => format!("{name} singles out"),
        [first @ .., last] => format!("{} and {last} together single out", first.join(", ")),
        [] => String::new(),
    };
    let problem = format!(
        "{subject} {unique} of {rows} rows: an attacker who knows the values of a person finds the row and learns everything \
         released in it"
    );
    let hint = "make it `identifier` so that it is not released, or `quasi` so that the rules protect it; \
                `allow-unique = true` releases it as it is";
    InputError::new(attributes.first().map_or("", |attribute| attribute.place.as_str()), problem, hint)
}

/// Plain, and in no rule that would protect against those who know it.
fn is_unguarded(policy: &Policy, attribute: &Attribute) -> bool {
    let mut named = policy.rules.iter().flat_map(|rule| rule.know.iter().chain(rule.protected()));
    attribute.role == Role::Plain && !attribute.declared.allow_unique && !named.any(|name| *name == attribute.name)
}

fn with_column<'p, 't>(attribute: &'p Attribute, table: &'t Table) -> Option<(&'p Attribute, &'t Column)> {
    table.column(&attribute.name).map(|column| (attribute, column))
}

/// Warnings about sensitive attributes whose values single out rows, where values and rows are
/// released together.
fn warn_of_sensitive(
    policy: &Policy,
    table: &Table,
    rows: u64,
    unique_rows: impl Fn(&Column) -> u64,
) -> Vec<InputError> {
    if !matches!(policy.publish.method, Method::FullDomain | Method::Mondrian | Method::BestCut) {
        return Vec::new();
    }
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let sensitive = sensitive.filter(|attribute| !attribute.declared.allow_unique);
    let found = sensitive.filter_map(|attribute| with_column(attribute, table));
    found
        .filter_map(|(attribute, column)| {
            let unique = unique_rows(column);
            (unique > rows_allowed(rows)).then(|| about_sensitive(&attribute.place, &attribute.name, unique, rows))
        })
        .collect()
}

/// What an attacker who knows one exact value learns.
fn about_sensitive(place: &str, name: &str, unique: u64, rows: u64) -> InputError {
    let problem = format!(
        "`{name}`: {unique} of {rows} rows have a value that no other row has: an attacker who knows the exact value of a \
         person finds the row and learns everything else released in it"
    );
    let hint =
        "round the values or group them before publishing; `allow-unique = true` when nobody can know them exactly";
    InputError::new(place, problem, hint)
}

/// The same, for the sensitive columns of a table that is released already.
pub fn warn_of_released<'n>(
    place: &str,
    table: &Table,
    sensitive: impl IntoIterator<Item = &'n str>,
) -> Vec<InputError> {
    let columns = sensitive.into_iter().filter_map(|name| table.column(name));
    columns
        .filter_map(|column| {
            let (unique, rows) = (uniqueness::unique_rows(&[column]), table.rows as u64);
            (unique > rows_allowed(rows)).then(|| about_sensitive(place, &column.name, unique, rows))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn policy(attributes: &str) -> Policy {
        let text = format!(
            "[source]\npath = \"p.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\n{attributes}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 3 }}\n"
        );
        Policy::parse(&text, Path::new("policy.toml")).unwrap()
    }

    /// A record number, a household and the person in it, a ward that many share, an exact income.
    fn people() -> Table {
        let rows: Vec<Vec<String>> = (0..100)
            .map(|row: usize| {
                [40, row, row / 4, row % 4, row % 5, 1000 + row * row].iter().map(usize::to_string).collect()
            })
            .collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(&["age", "record", "household", "person", "ward", "income"], &rows)
    }

    #[test]
    fn a_plain_record_number_is_refused_and_a_ward_is_not() {
        let error = examine(&policy("record = { role = \"plain\" }"), &people()).unwrap_err();
        assert_eq!(error.place, "policy.toml:5:1: attributes.record");
        assert!(error.problem.starts_with("`record` singles out 100 of 100 rows"), "{}", error.problem);
        assert!(error.hint.contains("allow-unique = true"), "{}", error.hint);
        assert_eq!(examine(&policy("ward = { role = \"plain\" }"), &people()), Ok(Vec::new()));
    }

    #[test]
    fn plain_keys_that_single_out_together_are_refused_together() {
        let keys = "household = { role = \"plain\" }\nperson = { role = \"plain\" }\nward = { role = \"plain\" }";
        let error = examine(&policy(keys), &people()).unwrap_err();
        let expected = "`household` and `person` together single out 100 of 100 rows";
        assert!(error.problem.starts_with(expected), "{}", error.problem);
        let allowed =
            keys.replace("household = { role = \"plain\"", "household = { role = \"plain\", allow-unique = true");
        assert_eq!(examine(&policy(&allowed), &people()), Ok(Vec::new()));
    }

    #[test]
    fn what_a_rule_knows_is_the_rules_business() {
        let text = "[source]\npath = \"p.csv\"\n[attributes]\nage = { role = \"quasi\" }\nrecord = { role = \"plain\" }\n\
                    [[rule]]\nknow = [\"age\", \"record\"]\nrequire = { model = \"k-anonymity\", k = 1 }\n";
        let policy = Policy::parse(text, Path::new("policy.toml")).unwrap();
        assert_eq!(examine(&policy, &people()), Ok(Vec::new()));
    }

    #[test]
    fn exact_sensitive_values_are_warned_about_unless_allowed() {
        let warnings = examine(&policy("income = { role = \"sensitive\" }"), &people()).unwrap();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].problem.contains("100 of 100 rows have a value that no other row has"));
        assert!(warnings[0].problem.contains("learns everything else released in it"));
        let allowed = policy("income = { role = \"sensitive\", allow-unique = true }");
        assert_eq!(examine(&allowed, &people()), Ok(Vec::new()));
        assert_eq!(examine(&policy("ward = { role = \"sensitive\" }"), &people()), Ok(Vec::new()));
    }
}
