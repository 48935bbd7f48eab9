//! Rows that show a column which is known of everyone, though the list of people lacks it.
//!
//! By a column that some release describes people by, the attacker knows everyone. A list that
//! lacks it is the auditor's and not the attacker's: to who knows the column it is a
//! quasi-identifier of every table that shows it, and so it is read as one. Which class of these a
//! person is in is then asked as of every column that the list lacks.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Cover, Table};

use super::attacker::Released;
use super::statements::{is_beside, written};
use crate::overlap::overlap;

/// More pairs of labels are not compared.
const COMPARED_MAX: usize = 1_000_000;

/// The columns by which some release describes people, and which the list of people lacks.
pub(super) fn lacked(protect: &str, released: &[Released<'_>], people: &Table) -> Vec<String> {
    let quasi = released.iter().flat_map(|table| &table.classes.quasi).map(|quasi| &quasi.name);
    let mut names: Vec<String> =
        quasi.filter(|name| *name != protect && people.column(name).is_none()).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The classes of a table where such columns are quasi-identifiers of it; `None` where it shows
/// none of them row by row.
pub(super) fn by_known_columns(table: &Released<'_>, lacked: &[String]) -> Option<ReleasedClasses> {
    let rows = table.rows?;
    let own: Vec<String> = lacked.iter().filter(|name| is_beside(table, name)).cloned().collect();
    if own.is_empty() {
        return None;
    }
    let classes = table.classes;
    let quasi: Vec<String> = classes.quasi.iter().map(|quasi| quasi.name.clone()).chain(own.iter().cloned()).collect();
    let sensitive = classes.sensitive.iter().map(|sensitive| sensitive.name.clone());
    let sensitive: Vec<String> = sensitive.filter(|name| !own.contains(name)).collect();
    let mut labels: HashMap<(&str, &str), &Cover> = HashMap::new();
    for quasi in &classes.quasi {
        labels.extend(quasi.labels.iter().zip(&quasi.covers).map(|(label, own)| ((&*quasi.name, &**label), own)));
    }
    let cover = |name: &str, text: &str| {
        let coarse = || table.codebook.filter(|codebook| codebook.is_coarse(name))?.cover(name, text);
        let ours = || written(table.spelling.map_or(text, |spelling| spelling.ours(name, text)));
        labels.get(&(name, text)).copied().or_else(coarse).cloned().unwrap_or_else(ours)
    };
    ReleasedClasses::of_generalized(&classes.name, rows, &quasi, &sensitive, cover, table.name).ok()
}

/// Whether the labels that two tables have of one column rule some of their classes out together.
pub(super) fn tells_apart(released: &[Released<'_>], name: &str) -> bool {
    let of = |table: &Released<'_>| table.classes.quasi.iter().position(|quasi| quasi.name == *name);
    let covers: Vec<&[Cover]> =
        released.iter().filter_map(|table| Some(table.classes.quasi[of(table)?].covers.as_slice())).collect();
    let is_apart = |one: &[Cover], two: &[Cover]| {
        one.len() * two.len() > COMPARED_MAX || one.iter().any(|a| two.iter().any(|b| !overlap(a, b)))
    };
    (0..covers.len()).any(|two| covers[..two].iter().any(|one| is_apart(one, covers[two])))
}
