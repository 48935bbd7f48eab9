//! Rows that fit each person, counted again from the source of a release.

use std::path::PathBuf;

use hashbrown::HashMap;
use hedgerow_draft::bind::Bound;
use hedgerow_draft::dependencies::closed_policy;
use hedgerow_draft::draft::{Draft, DraftContent};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::PublishOptions;
use hedgerow_lattice::explore;
use hedgerow_lattice::full_domain::codes_at;
use hedgerow_local as local;
use hedgerow_policy::Policy;
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::{Codes, InputError, NoProgress, Table};

use super::units::{Fingerprints, combinations};

/// The released rows for which some rule with `consistent = true` fails, in a release made from
/// `source`. Refused where the release is not what the policy makes of this source.
pub fn recount(policy: &Policy, source: &Table, release: &Release) -> Result<u64, PublishError> {
    let closed = closed_policy(policy, source)?;
    let policy = closed.as_ref().unwrap_or(policy);
    let mut bound = Bound::new(policy, source)?;
    let other = || {
        let problem = "the release does not have the rows that the policy makes of its source";
        let hint = "name the policy and the source that it was made from";
        InputError::new(release.name(), problem, hint)
    };
    let ReleaseTables::Generalized(tables) = release.tables() else { return Err(other().into()) };
    let released = Fingerprints::of_release(&tables.table, &[]);
    let count = |failing: Vec<bool>| failing.into_iter().filter(|failing| *failing).count() as u64;
    if policy.publish.method.is_local() {
        let draft = local::draft(&bound, &PublishOptions::to(PathBuf::new()))?;
        let made = Fingerprints::of_draft(&draft, &tables.table, &[]);
        let (Some(made), Some(consistent)) = (made, bound.consistent()) else { return Err(other().into()) };
        let (columns, kept) = drafted(&bound, &draft).filter(|_| made == released).ok_or_else(other)?;
        let codes: Vec<&Codes> = columns.iter().collect();
        return Ok(count(consistent.failing(&codes, kept)));
    }
    // Which rows stay on some levels is decided without it: it only refuses levels.
    let Some(consistent) = bound.take_consistent() else { return Err(other().into()) };
    for levels in combinations(&bound, &tables.table).ok_or_else(other)? {
        let named = bound.quasi.iter().zip(&levels);
        let named: Vec<(String, u64)> =
            named.map(|(quasi, &level)| (quasi.attribute.name.clone(), u64::from(level))).collect();
        let found = match explore::find_with(&bound, &named, &NoProgress) {
            Ok(found) => found,
            Err(PublishError::Unsatisfiable(_)) => continue,
            Err(error) => return Err(error),
        };
        let kept = found.kept_rows.unwrap_or_else(|| vec![true; source.rows]);
        if Fingerprints::of_source(&bound, &tables.table, &[], &levels, &kept).as_ref() == Some(&released) {
            let columns = codes_at(&bound, &levels);
            let codes: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
            return Ok(count(consistent.failing(&codes, Some(&kept))));
        }
    }
    Err(other().into())
}

/// The columns that rules look at, as a draft has them: equal labels have equal codes. And which
/// rows it keeps.
fn drafted<'d>(bound: &Bound<'_>, draft: &'d Draft<'_>) -> Option<(Vec<Codes>, Option<&'d [bool]>)> {
    let DraftContent::Columns { columns, kept } = &draft.tables.first()?.content else { return None };
    let mut judged: Vec<Codes> = bound.judged_codes().into_iter().cloned().collect();
    for (place, quasi) in judged.iter_mut().zip(&bound.quasi) {
        let column = columns.iter().find(|column| column.name == quasi.attribute.name)?;
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut number: Vec<u32> = Vec::with_capacity(column.values());
        for code in 0..column.values() {
            let next = numbers.len() as u32;
            number.push(*numbers.entry(column.text(code).into_owned()).or_insert(next));
        }
        *place = Codes::from_iter(numbers.len(), column.codes.iter().map(|code| number[code as usize]));
    }
    Some((judged, kept.as_deref()))
}
