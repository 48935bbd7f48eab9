//! The minimality attack (Wong, Fu, Wang, Pei: *Minimality attack in privacy preserving data
//! publishing*, 2007): who knows that an algorithm generalizes only as far as it must, knows that
//! everything finer breaks the rule, and that rules out some of what a class could hide.
//!
//! The adversary knows all quasi-identifiers, which method was used, and what was required.
//! Where k-anonymity alone explains why nothing finer was published, nothing is learned; where it
//! does not, too few sensitive values must be the reason, and the ways to give the values of a
//! class to its people are only those in which that is so.
//!
//! - Mondrian does not divide a class when every cut that it tries fails (`mondrian.rs`).
//! - An exact full-domain search without suppression passes over a finer node only when some class
//!   of it fails (`full_domain.rs`).
//! - `best-cut` does not say which cuts it tried, and buckets are dealt by chance: there nothing
//!   follows.
//!
//! Where all ways are examined together, the confidence is exact (`exact.rs`); elsewhere it is a
//! lower bound, and the finding says so.
//!
//! Other guarantees could be the reason as well, so the attack is made only where nothing but
//! k-anonymity and distinct l-diversity of one attribute was required.

use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_release::manifest::Claim;
use hedgerow_table::{Hierarchy, Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::finding::{Finding, Needs, likeliest_first};

mod exact;
mod full_domain;
mod mondrian;
mod worlds;

/// The requirements that the algorithm had to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Required {
    pub(crate) k: u64,
    pub(crate) l: u64,
}

/// Other knowledge of how a release was made: its policy.
#[derive(Debug, Clone, Copy, Default)]
pub struct HowMade<'a> {
    /// Over the people's columns.
    pub hierarchies: &'a [(String, &'a Hierarchy)],
    /// Rows could be suppressed: then a finer node may have been passed over for its loss.
    pub suppression: bool,
    /// The loss that was minimized, by its name in the policy: then nodes that are not finer
    /// compare as well.
    pub loss: Option<&'a str>,
}

/// A release of which the method is known, with the people in it.
pub(crate) struct Known<'a> {
    pub(crate) name: &'a str,
    pub(crate) classes: &'a ReleasedClasses,
    pub(crate) sensitive: &'a SensitiveCounts,
    pub(crate) people: &'a Table,
    pub(crate) required: Required,
}

pub(crate) fn run(
    name: &str,
    method: &str,
    claims: &[Claim],
    classes: &ReleasedClasses,
    sensitive: &SensitiveCounts,
    people: Option<&Table>,
    made: Option<HowMade<'_>>,
) -> Result<Finding, TableError> {
    let mut finding = Finding::new(Adversary::Minimality, vec![name.to_owned()], Some(&sensitive.name));
    let note = |mut finding: Finding, note: &str| {
        finding.note(note);
        Ok(finding)
    };
    let Some(people) = people else {
        finding.note_needs(Needs::People, "this adversary knows everybody's quasi-identifiers");
        return Ok(finding);
    };
    let Some(required) = required(claims, classes, &sensitive.name) else {
        let why = "more was required than k-anonymity and distinct l-diversity of this attribute, and any of it may be the reason";
        return note(finding, why);
    };
    if sensitive.values.iter().any(String::is_empty) {
        return note(finding, "some sensitive values are missing, and either reading of them may be the reason");
    }
    finding.details.insert("k".to_owned(), json!(required.k));
    finding.details.insert("l".to_owned(), json!(required.l));
    let known = Known { name, classes, sensitive, people, required };
    match (method, made) {
        ("mondrian", _) => mondrian::attack(&known, &mut finding)?,
        ("full-domain", Some(made)) if !made.suppression => full_domain::attack(&known, made, &mut finding)?,
        ("full-domain", Some(_)) => {
            return note(finding, "with suppression, a finer node may have been passed over for what it suppresses");
        }
        ("full-domain", None) => {
            finding.note_needs(Needs::Policy, "which nodes are finer follows from the hierarchies");
        }
        _ => return note(finding, "this method is not known to generalize only as far as needed"),
    }
    Ok(finding)
}

/// `None` when something else than k-anonymity and distinct l-diversity of `protect` was required,
/// or not of all quasi attributes.
fn required(claims: &[Claim], classes: &ReleasedClasses, protect: &str) -> Option<Required> {
    let mut required = Required { k: 1, l: 1 };
    for claim in claims {
        let number = |key: &str| claim.required.get(key)?.as_u64();
        // Another parameter is a condition, such as that only small classes are looked at.
        if claim.required.len() != 1 || !claim.only_where.is_empty() {
            return None;
        }
        let knows_all = classes.quasi.iter().all(|quasi| claim.know.contains(&quasi.name));
        match claim.model.as_str() {
            "k-anonymity" if knows_all => required.k = required.k.max(number("k")?),
            "distinct-l-diversity" if knows_all && claim.protect.as_deref() == Some(protect) => {
                required.l = required.l.max(number("l")?);
            }
            _ => return None,
        }
    }
    Some(required)
}

/// The people of each class, where they can be in no other.
fn members(known: &Known<'_>) -> Result<Vec<Vec<usize>>, TableError> {
    let found = crate::people::FoundPeople::new(known.name, known.classes, known.people)?;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); known.classes.len()];
    for (row, &place) in found.of_person.iter().enumerate() {
        if let [class] = found.places[place as usize][..] {
            members[class as usize].push(row);
        }
    }
    Ok(members)
}

/// By person, their true value among those of the release, where the people's table has it.
fn truths(known: &Known<'_>) -> Option<Vec<Option<u32>>> {
    let column = known.people.column(&known.sensitive.name)?;
    let code = |code: u32| {
        let text = column.domain.text(code);
        known.sensitive.values.iter().position(|value| *value == text).map(|position| position as u32)
    };
    let codes: Vec<Option<u32>> = (0..column.domain.cardinality() as u32).map(code).collect();
    Some((0..known.people.rows).map(|row| codes[column.codes.get(row) as usize]).collect())
}

/// The result of the attack for people whose true value is known.
#[derive(Debug, Default)]
struct Hits {
    /// One value is left, and it is theirs.
    right: u64,
    /// Their value is not among those left.
    ruled_out: u64,
}

impl Hits {
    /// `left` are the positions in `values` that are possible.
    fn count(&mut self, truth: Option<u32>, values: &[(u32, u32)], left: &[usize]) {
        let Some(truth) = truth else { return };
        let is_left = left.iter().any(|&position| values[position].0 == truth);
        self.right += u64::from(is_left && left.len() == 1);
        self.ruled_out += u64::from(!is_left);
    }

    fn report(&self, finding: &mut Finding) {
        finding.details.insert("true_hits".to_owned(), json!(self.right));
        if self.ruled_out > 0 {
            let people = self.ruled_out;
            finding
                .note(format!("the true value of {people} people is ruled out: the release was not made as it says"));
        }
    }
}

/// Says that more may be known than was counted.
fn lower_bound(finding: &mut Finding, why: &str) {
    finding.details.insert("exact".to_owned(), json!(false));
    finding.note(format!("the confidence is a lower bound: {why}"));
}

fn possible(shares: &[f64]) -> Vec<usize> {
    shares.iter().enumerate().filter(|(_, share)| **share > 0.0).map(|(position, _)| position).collect()
}

fn remaining(sensitive: &SensitiveCounts, values: &[(u32, u32)], shares: &[f64]) -> Vec<(String, f64)> {
    let left = values.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let mut remaining: Vec<(String, f64)> =
        left.map(|(&(value, _), &share)| (sensitive.values[value as usize].clone(), share)).collect();
    likeliest_first(&mut remaining);
    remaining
}

#[cfg(test)]
mod tests;
