//! Attributes that are released as they are and single out people. An attacker who knows the values
//! of such a person finds the row, and with it everything else that is released there, whatever the
//! rules guarantee about the quasi-identifiers. Where rows belong to units, a value that only the
//! rows of one unit have finds that unit, and links its rows.

use hedgerow_draft::units::Units;
use hedgerow_policy::{Attribute, Method, Policy, Role};
use hedgerow_table::uniqueness::{self, People, UniqueColumns};
use hedgerow_table::{Column, Counted, Engine, InputError, Kind, Progress, Table, TableError};

use crate::out_of_core::exact;

/// People who may be singled out before a release is refused: one in twenty, and in small tables
/// two. All below that are warned of.
fn people_allowed(people: u64) -> u64 {
    (people / 20).max(2)
}

/// Refuses plain attributes that single out many people, alone or a few together, unless the policy
/// allows it for them. Returns warnings about those that single out fewer, and about sensitive
/// ones.
pub fn examine(policy: &Policy, table: &Table) -> Result<Vec<InputError>, InputError> {
    let units = policy.has_units().then(|| Units::of_policy(policy, table));
    let (people, all) = match &units {
        Some(units) => (People::Units(&units.of_row, units.count), units.count as u64),
        None => (People::Rows, table.rows as u64),
    };
    let unique = |column: &Column| uniqueness::singled_out(&[column], people);
    let mut warnings = warn_of_sensitive(policy, table, all, unique, Column::counts);
    // A cloned release has no plain attributes.
    if policy.publish.method == Method::Clone {
        return Ok(warnings);
    }
    warnings.extend(examine_plain(policy, table, people, all)?);
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
    let counts = |column: &Column| counted.values(&column.name).unwrap_or_default().to_vec();
    let mut warnings = warn_of_sensitive(policy, &counted.table, counted.rows, unique, counts);
    let plain = policy.attributes.iter().filter(|attribute| is_unguarded(policy, attribute));
    let names: Vec<&str> = plain.map(|attribute| attribute.name.as_str()).collect();
    let combined = exact(Counted::of(engine, &names, progress)?)?;
    warnings.extend(examine_plain(policy, &combined.table, People::Counts(&combined.counts), combined.rows)?);
    Ok(warnings)
}

fn examine_plain(policy: &Policy, table: &Table, people: People<'_>, all: u64) -> Result<Vec<InputError>, InputError> {
    let unguarded = policy.attributes.iter().filter(|attribute| is_unguarded(policy, attribute));
    let (attributes, columns): (Vec<&Attribute>, Vec<&Column>) =
        unguarded.filter_map(|attribute| with_column(attribute, table)).unzip();
    let about = |found: &UniqueColumns| {
        let named: Vec<&Attribute> = found.columns.iter().map(|index| attributes[*index]).collect();
        refusal(&named, found.people, all, matches!(people, People::Units(..)))
    };
    let many = uniqueness::examine(&columns, people, people_allowed(all));
    if let Some(found) = many.found.first() {
        return Err(about(found));
    }
    let few = uniqueness::most_telling(&columns, people);
    let mut warnings: Vec<InputError> = few.found.iter().map(about).collect();
    if !many.complete || !few.complete {
        let problem = "there are too many plain attributes to examine which of them single out people together";
        let hint = "release fewer attributes as they are, or give those that others may know the role `quasi`";
        let warning = InputError::new(policy.path.display().to_string(), problem, hint);
        let names = attributes.iter().map(|attribute| attribute.name.as_str());
        warnings.push(warning.about("singles-out", names, None));
    }
    Ok(warnings)
}

fn refusal(attributes: &[&Attribute], unique: u64, all: u64, units: bool) -> InputError {
    let names: Vec<String> = attributes.iter().map(|attribute| format!("`{}`", attribute.name)).collect();
    let subject = match names.as_slice() {
        [name] => format!("{name} singles out"),
        [first @ .., last] => format!("{} and {last} together single out", first.join(", ")),
        [] => String::new(),
    };
    let problem = match units {
        false => format!(
            "{subject} {unique} of {all} rows: an attacker who knows the values of a person finds the row and learns everything \
             released in it"
        ),
        true => format!(
            "{subject} {unique} of {all} units: an attacker who knows the values of a unit finds its rows and learns everything \
             released in them"
        ),
    };
    let hint = "make it `identifier` so that it is not released, or `quasi` so that the rules protect it; \
                or release coarser values: `coarsen = { round = 100 }`; \
                `allow-unique = true` releases it as it is";
    let place = attributes.first().map_or("", |attribute| attribute.place.as_str());
    let names = attributes.iter().map(|attribute| attribute.name.as_str());
    InputError::new(place, problem, hint).about("singles-out", names, Some(unique))
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
    counts: impl Fn(&Column) -> Vec<u64>,
) -> Vec<InputError> {
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let sensitive = sensitive.filter(|attribute| !attribute.declared.allow_unique);
    let found = sensitive.filter_map(|attribute| with_column(attribute, table));
    let units = policy.has_units();
    found
        .filter_map(|(attribute, column)| {
            let unique = unique_rows(column);
            (unique > 0).then(|| about_sensitive(&attribute.place, column, &counts(column), unique, rows, units))
        })
        .collect()
}

/// The people whom one exact value discloses to an attacker; `counts` are the rows of each value.
fn about_sensitive(place: &str, column: &Column, counts: &[u64], unique: u64, rows: u64, units: bool) -> InputError {
    let (row, rows_found) = if units { ("unit", "its rows") } else { ("row", "the row") };
    let have = if unique == 1 { "has" } else { "have" };
    let name = &column.name;
    let problem = format!(
        "`{name}`: {unique} of {rows} {row}s {have} a value that no other {row} has: an attacker who knows the exact value \
         of a person finds {rows_found} and learns everything else released in {}",
        if units { "them" } else { "it" }
    );
    let coarser = match column.domain.kind() {
        Kind::Integer | Kind::Float => coarser_numbers(column, counts),
        Kind::Date => "`coarsen = { dates = \"month\" }`".to_owned(),
        Kind::Category => "`coarsen = { level = 1 }` with a `hierarchy` in which rare values share a label".to_owned(),
    };
    let hint =
        format!("release coarser values, by {coarser}; `allow-unique = true` when no attacker can know them exactly");
    InputError::new(place, problem, hint).about("singles-out", [name], Some(unique))
}

/// Where only the greatest numbers are alone, a top for them; rounding small counts would lose
/// more.
fn coarser_numbers(column: &Column, counts: &[u64]) -> String {
    let present = &counts[..column.domain.present().min(counts.len())];
    let shared = present.iter().rposition(|&rows| rows > 1);
    match shared.filter(|&last| present[..last].iter().all(|&rows| rows != 1)) {
        Some(last) => format!("`coarsen = {{ top = {} }}`", column.domain.text(last as u32)),
        None => format!("`coarsen = {{ round = {} }}` or `{{ significant = 2 }}`", round_to(column)),
    }
}

/// A power of ten that divides the range of the values into a hundred parts or fewer, so that the
/// proposal changes values of any unit.
fn round_to(column: &Column) -> String {
    let present = column.domain.present();
    let end = |code: usize| column.domain.number(code as u32).unwrap_or(0.0);
    let range = if present == 0 { 0.0 } else { end(present - 1) - end(0) };
    let least = if column.domain.kind() == Kind::Integer { 1 } else { -6 };
    let digits = if range > 0.0 { (range / 100.0).log10().ceil().clamp(-6.0, 15.0) as i32 } else { least };
    let digits = digits.max(least);
    match usize::try_from(-digits) {
        Ok(decimals) => format!("{:.decimals$}", 10f64.powi(digits)),
        Err(_) => format!("{:.0}", 10f64.powi(digits)),
    }
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
            let (unique, rows) = (uniqueness::singled_out(&[column], People::Rows), table.rows as u64);
            (unique > 0).then(|| about_sensitive(place, column, &column.counts(), unique, rows, false))
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

    /// One person in a hundred is not too many to publish, and is still counted.
    #[test]
    fn few_who_are_singled_out_are_warned_of() {
        let rows: Vec<Vec<String>> = (0..100usize)
            .map(|row| vec!["40".to_owned(), (row % 5).to_string(), usize::from(row == 7).to_string()])
            .collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["age", "ward", "rare"], &rows);
        let warnings = examine(&policy("ward = { role = \"plain\" }\nrare = { role = \"plain\" }"), &table).unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let about = warnings[0].about.as_ref().unwrap();
        assert_eq!((about.code, about.people), ("singles-out", Some(1)));
        assert_eq!(about.attributes, ["rare"]);
    }

    /// Counts of visits, of which a few are large, and amounts of which any may be alone.
    #[test]
    fn a_top_is_proposed_where_only_the_greatest_numbers_are_alone() {
        let rows: Vec<Vec<String>> = (0..100usize)
            .map(|row| vec![if row < 3 { 20 + row } else { row % 5 }.to_string(), (1000 + row * row).to_string()])
            .collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["visits", "income"], &rows);
        let found = warn_of_released("release", &table, ["visits", "income"]);
        assert!(found[0].hint.contains("by `coarsen = { top = 4 }`;"), "{}", found[0].hint);
        assert!(found[1].hint.contains("`coarsen = { round = 100 }` or `{ significant = 2 }`"), "{}", found[1].hint);
    }

    /// Salaries in thousands and rates below one: rounding to thousands would leave one value.
    #[test]
    fn the_proposed_rounding_fits_the_range_of_the_values() {
        let rows: Vec<Vec<String>> =
            (0..10).map(|row| vec![(490 + 51 * row).to_string(), format!("0.{row}5")]).collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["salary", "rate"], &rows);
        let found = warn_of_released("release", &table, ["salary", "rate"]);
        assert!(found[0].hint.contains("`coarsen = { round = 10 }`"), "{}", found[0].hint);
        assert!(found[1].hint.contains("`coarsen = { round = 0.01 }`"), "{}", found[1].hint);
    }

    /// Four rows for each unit, and a doctor who sees no one else: no row is alone, every unit is.
    #[test]
    fn a_value_of_one_unit_alone_is_refused() {
        let rows: Vec<Vec<String>> =
            (0..100usize).map(|row| vec!["40".to_owned(), (row / 4).to_string(), format!("d{}", row / 4)]).collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["age", "patient", "doctor"], &rows);
        let doctor = "doctor = { role = \"plain\" }";
        let error = examine(&policy(&format!("patient = {{ role = \"unit\" }}\n{doctor}")), &table).unwrap_err();
        assert!(error.problem.starts_with("`doctor` singles out 25 of 25 units"), "{}", error.problem);
        let alone = policy(&format!("patient = {{ role = \"identifier\" }}\n{doctor}"));
        assert_eq!(examine(&alone, &table), Ok(Vec::new()));
        let sensitive = policy("patient = { role = \"unit\" }\ndoctor = { role = \"sensitive\" }");
        let warnings = examine(&sensitive, &table).unwrap();
        assert!(warnings[0].problem.contains("25 of 25 units have a value that no other unit has"), "{warnings:?}");
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
    fn attributes_that_rules_know_are_not_examined() {
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
