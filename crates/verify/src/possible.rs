//! Statements that only the source can confirm, and that must at least be possible: how many units
//! there are, which dependencies attackers know, and that the numbers of classes are random.

use std::collections::HashSet;

use hedgerow_privacy::KnownRows;
use hedgerow_release::bucketized::GROUP;
use hedgerow_release::manifest::{Claim, Manifest, UnitCounts};
use hedgerow_release::shape::CODEBOOK;
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::{Domain, Values};
use serde_json::Value;

/// Where the numbers of units cannot be those of any source.
pub(crate) fn units(manifest: &Manifest, release: &Release, claims: &[&Claim]) -> Vec<String> {
    let promise = &manifest.hedgerow;
    let counting = claims.iter().filter(|claim| claim.rows.is_some()).count();
    let Some(units) = promise.units else {
        let problem = "a guarantee counts units, and the manifest does not say how many there are".to_owned();
        return if counting > 0 { vec![problem] } else { Vec::new() };
    };
    let mut found = Vec::new();
    let mut check = |holds: bool, problem: &str| {
        if !holds {
            found.push(problem.to_owned());
        }
    };
    let rows = promise.rows;
    check(
        matches!(release.tables(), ReleaseTables::Generalized(_)),
        "the manifest states units, and only the rows of a generalized release belong to units",
    );
    check(counting == claims.len(), "the manifest states units, and not every guarantee counts them");
    check(
        units.out.checked_add(units.suppressed) == Some(units.source),
        "the manifest's units out and suppressed do not add up to units in",
    );
    check(units.out <= rows.out && units.source <= rows.source, "the manifest says more units than rows");
    check(units.out > 0, "the manifest says that no unit is released");
    // Units are suppressed whole: each with a row at least, and no row without its unit.
    check(units.suppressed <= rows.suppressed, "the manifest says more suppressed units than suppressed rows");
    check(
        units.suppressed > 0 || rows.suppressed == 0,
        "the manifest says that rows are suppressed and no unit is, and a unit is suppressed with all its rows",
    );
    for claim in claims {
        if let Some(fewest) = fewest_units(claim).filter(|fewest| !fit(units, rows.out, claim, *fewest)) {
            check(false, &format!("{} units in {} rows cannot be such that {fewest} fit each", units.out, rows.out));
        }
    }
    found
}

/// How many units a guarantee claims that fit each one, at the least: each has one row among those
/// that look alike, and counts with one value.
fn fewest_units(claim: &Claim) -> Option<u64> {
    let name = match claim.model.as_str() {
        "k-anonymity" => "k",
        "distinct-l-diversity" => "l",
        _ => return None,
    };
    claim.rows.as_ref()?;
    claim.achieved.get(name).and_then(Value::as_u64)
}

/// Whether some division of the rows into units lets this many fit each. Who knows all rows of the
/// unit with the most, m, finds only units with as many: `fewest` units have m rows, the others at
/// least one and at most m.
fn fit(units: UnitCounts, rows: u64, claim: &Claim, fewest: u64) -> bool {
    if units.out == 0 || fewest > units.out {
        return false;
    }
    let all = claim.rows.as_deref().and_then(KnownRows::from_name) == Some(KnownRows::All);
    let most = rows.div_ceil(units.out);
    !all || u128::from(fewest) * u128::from(most.saturating_sub(1)) <= u128::from(rows.saturating_sub(units.out))
}

/// Dependencies that no policy declares: about columns that are not released, or about none.
pub(crate) fn dependencies(manifest: &Manifest, release: &Release) -> Vec<String> {
    let tables = manifest.resources.iter().filter(|table| table.name != CODEBOOK);
    let released: HashSet<&str> = match release.tables() {
        // The statistics say which attributes there are.
        ReleaseTables::Cloned(tables) => {
            tables.attributes.iter().map(String::as_str).chain([tables.sensitive.as_str()]).collect()
        }
        _ => tables.flat_map(|table| &table.schema.fields).map(|field| field.name.as_str()).collect(),
    };
    let mut found = Vec::new();
    for dependency in &manifest.hedgerow.dependencies {
        let absent = dependency.from.iter().chain([&dependency.to]).filter(|name| !released.contains(name.as_str()));
        found.extend(absent.map(|name| format!("the manifest states a dependency about `{name}`, which no table has")));
        let reason = dependency.accept.as_deref();
        let is_blank = reason.is_some_and(|reason| reason.is_empty() || reason.trim() != reason);
        if dependency.from.is_empty() || dependency.from.contains(&dependency.to) || is_blank {
            found.push(format!("the manifest states a dependency of `{}` that no policy can declare", dependency.to));
        }
    }
    found.dedup();
    found
}

/// Classes, buckets and units that are not numbered from 1 on. Such a number joins rows and says
/// nothing else; any other could be that of a person.
pub(crate) fn numbering(release: &Release) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, numbers: &[i64]| {
        let from_one = (1..).zip(numbers).all(|(expected, &number)| number == expected);
        let problem = format!("the numbers of {what} are not those from 1 to {}", numbers.len());
        if !from_one && !found.contains(&problem) {
            found.push(problem);
        }
    };
    match release.tables() {
        ReleaseTables::Generalized(tables) => {
            let columns = tables.units.iter().filter_map(|name| tables.table.column(name));
            columns.for_each(|column| check("units", integers(&column.domain)));
        }
        ReleaseTables::Bucketized(tables) => check("groups", &tables.numbers),
        ReleaseTables::Decomposed(tables) => {
            let bucketized = tables.tables.iter().filter(|table| !table.sensitive().is_empty());
            let groups = bucketized.filter_map(|table| table.rows().column(GROUP));
            groups.for_each(|column| check("groups", integers(&column.domain)));
        }
        ReleaseTables::Cloned(tables) => {
            check("classes", &tables.classes.iter().map(|class| class.number).collect::<Vec<_>>());
            let mut parts: Vec<i64> = tables.sub_classes().map(|part| part.number).collect();
            parts.sort_unstable();
            check("sub-classes", &parts);
        }
    }
    found
}

fn integers(domain: &Domain) -> &[i64] {
    match domain.values() {
        Values::Integer(values) => values,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every way to give rows to a few units, by brute force.
    #[test]
    fn units_fit_exactly_where_some_division_of_the_rows_lets_them() {
        fn divisions(units: u64, rows: u64, most: u64) -> Vec<Vec<u64>> {
            if units == 0 {
                return if rows == 0 { vec![Vec::new()] } else { Vec::new() };
            }
            let with = |first: u64| {
                let rest = divisions(units - 1, rows - first, first);
                rest.into_iter().map(move |rest| [vec![first], rest].concat()).collect::<Vec<_>>()
            };
            (1..=most.min(rows)).flat_map(with).collect()
        }
        for (units, rows, fewest) in
            (1..=5u64).flat_map(|units| (units..=14).flat_map(move |rows| (1..=6).map(move |k| (units, rows, k))))
        {
            // One class: a unit fits another that has at most as many rows.
            let fits = |sizes: &Vec<u64>| {
                sizes.iter().all(|own| sizes.iter().filter(|other| *other >= own).count() as u64 >= fewest)
            };
            let possible = divisions(units, rows, rows).iter().any(fits);
            let counts = UnitCounts { source: units, out: units, suppressed: 0, linked: false };
            let claim = |known: &str| Claim {
                model: "k-anonymity".to_owned(),
                required: Default::default(),
                achieved: json!({ "k": fewest }).as_object().unwrap().clone(),
                know: Vec::new(),
                protect: None,
                rows: Some(known.to_owned()),
                consistent: false,
                only_where: Default::default(),
                holds: true,
            };
            assert_eq!(fit(counts, rows, &claim("all"), fewest), possible, "{fewest} of {units} units, {rows} rows");
            assert_eq!(fit(counts, rows, &claim("one"), fewest), fewest <= units);
        }
    }
}
