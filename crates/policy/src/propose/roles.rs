//! The role of every column: from its name, then from its values, then from what the table as a
//! whole can bear.
//!
//! In doubt a column is taken as known to others (quasi), since that is the safe side. But every
//! quasi-identifier makes all others coarser, so beyond a handful the doubtful ones are protected
//! instead, or omitted: an attribute that has not been reviewed is never released unchanged.

use hedgerow_table::{Kind, Values};

use super::profile::{Facts, share};
use super::vocabulary::{Concept, NEIGHBORS_KNOW, ends_as_key, meaning, numbers_are_codes};
use super::{codes, content, countries, keys};
use crate::Role;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProposedRole {
    /// `None`: omitted from the proposal.
    pub(super) role: Option<Role>,
    pub(super) concept: Concept,
    pub(super) reason: String,
    /// Neither name nor values decided.
    pub(super) doubtful: bool,
}

impl ProposedRole {
    pub(super) fn new(role: Role, concept: Concept, reason: impl Into<String>) -> ProposedRole {
        ProposedRole { role: Some(role), concept, reason: reason.into(), doubtful: false }
    }

    fn in_doubt(role: Role, reason: impl Into<String>) -> ProposedRole {
        ProposedRole { doubtful: true, ..ProposedRole::new(role, Concept::Open, reason) }
    }
}

/// Doubtful columns are quasi only while there are fewer quasi attributes than this.
const QUASI_MAX: usize = 10;
/// Doubtful columns are protected only while there are fewer protected ones than this.
const SENSITIVE_MAX: usize = 24;
/// No more rules than a policy can hold, with some to spare.
const RULES_MAX: usize = 200;
/// Below this many rows, that values agree or differ says little.
const ROWS_ENOUGH: u64 = 20;
/// Numbers with more values than this are quantities that few others know exactly.
const QUANTITY: u64 = 50;
/// Columns in which more rows than this agree say little, and point at those who differ.
const AGREEMENT_MAX: f64 = 0.98;

/// One role per column. At least one is quasi when there is a column.
pub(super) fn propose_roles(columns: &[Facts<'_>]) -> Vec<ProposedRole> {
    let mut roles: Vec<ProposedRole> = columns.iter().map(proposed).collect();
    find_person_numbers(columns, &mut roles);
    omit_agreeing(columns, &mut roles);
    settle_doubts(columns, &mut roles);
    limit_rules(columns, &mut roles);
    ensure_quasi(columns, &mut roles);
    roles
}

fn proposed(facts: &Facts<'_>) -> ProposedRole {
    if facts.distinct == 0 {
        return ProposedRole::new(Role::Plain, Concept::Open, "no row has a value");
    }
    if let Some(reason) = content::identifying_shape(facts.domain()).or_else(|| content::names_of_people(facts)) {
        return ProposedRole::new(Role::Identifier, Concept::Open, reason);
    }
    let by_name = by_name(facts);
    // What is generalized may be different in every row; what is released as it is may not number
    // the rows. A column called `household` may hold its size, which is known, or its number, which
    // is a key.
    let generalized =
        by_name.as_ref().is_some_and(|by_name| by_name.role == Some(Role::Quasi) && by_name.reason != NEIGHBORS_KNOW);
    let by_name = by_name.map(|proposed| match proposed.concept {
        Concept::Open | Concept::Quantity if facts.has_codes() => {
            ProposedRole { concept: Concept::Nominal, ..proposed }
        }
        _ => proposed,
    });
    let named_identifier = by_name.as_ref().is_some_and(|proposed| proposed.role == Some(Role::Identifier));
    let quantity = by_name.as_ref().is_some_and(|by_name| by_name.concept == Concept::Quantity);
    if !generalized
        && !named_identifier
        && !facts.has_codes()
        && let Some(reason) = keys::numbering(facts, quantity)
    {
        return ProposedRole::new(Role::Identifier, Concept::Open, reason);
    }
    if facts.cardinality() == 1 && facts.rows >= ROWS_ENOUGH && !named_identifier {
        return ProposedRole::new(Role::Plain, Concept::Open, "the same in every row: distinguishes no one");
    }
    by_name.unwrap_or_else(|| {
        let concept =
            if numbers_are_codes(&facts.column.name) || facts.has_codes() { Concept::Nominal } else { Concept::Open };
        ProposedRole { concept, ..by_values(facts) }
    })
}

/// The role by the name, unless the values contradict it.
fn by_name(facts: &Facts<'_>) -> Option<ProposedRole> {
    let by_label = || facts.described.and_then(|described| meaning(&described.label));
    let meaning = meaning(&facts.column.name).or_else(by_label)?;
    let enough = facts.rows >= ROWS_ENOUGH;
    let role = match meaning.role {
        Some(role) => role,
        None => {
            let proposed =
                ProposedRole { role: None, ..ProposedRole::new(Role::Plain, meaning.concept, meaning.because) };
            return Some(proposed);
        }
    };
    let identifier = |reason: &str| Some(ProposedRole::new(Role::Identifier, Concept::Open, reason));
    match role {
        Role::Identifier if meaning.weak && !has_many_values(facts) => return None,
        Role::Identifier if !meaning.weak && enough && facts.distinct <= 8 => return None,
        Role::Quasi | Role::Sensitive
            if ends_as_key(&facts.column.name) && has_many_values(facts) && meaning.concept != Concept::Code =>
        {
            return identifier("a key that leads back to a person");
        }
        Role::Quasi if enough && is_unique_text(facts) && meaning.concept != Concept::Code && !is_date_like(facts) => {
            return identifier("text that is different in nearly every row: identifies a person");
        }
        Role::Sensitive if content::is_free_text(facts) => return identifier("free text can name a person"),
        _ => {}
    }
    Some(ProposedRole::new(role, meaning.concept, meaning.because))
}

/// A key has many values; an `admission_type_id` has a few.
fn has_many_values(facts: &Facts<'_>) -> bool {
    facts.distinct_share() >= 0.5 || (facts.distinct_share() >= 0.1 && facts.distinct > QUANTITY)
}

fn is_unique_text(facts: &Facts<'_>) -> bool {
    facts.kind() == Kind::Category && facts.distinct_share() >= 0.95
}

/// Digits and separators only, as in a date of birth that is not written as YYYY-MM-DD.
fn is_date_like(facts: &Facts<'_>) -> bool {
    let Values::Category(values) = facts.domain().values() else { return false };
    content::spread(values).all(|text| {
        (6..=19).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit() || b".-/: T".contains(&b))
    })
}

fn by_values(facts: &Facts<'_>) -> ProposedRole {
    let identifier = |reason: &str| ProposedRole::new(Role::Identifier, Concept::Open, reason);
    if codes::are_diagnoses(facts) {
        return ProposedRole::new(Role::Sensitive, Concept::Open, "ICD codes of diagnoses: health is private");
    }
    if countries::are_codes(facts) {
        return ProposedRole::new(Role::Quasi, Concept::Country, "ISO codes of countries: others know it");
    }
    let present = facts.present_rows();
    if content::is_serial(facts) {
        return identifier("whole numbers, every one different: a serial number identifies a person");
    }
    match facts.kind() {
        Kind::Category if facts.distinct == present && present >= 3 => {
            identifier("every value is different: identifies a person")
        }
        Kind::Category if facts.distinct_share() >= 0.5 && facts.distinct > QUANTITY => {
            identifier("text that hardly ever repeats: identifies a person")
        }
        Kind::Category if content::is_free_text(facts) => identifier("free text can name a person"),
        Kind::Integer if facts.distinct_share() >= 0.9 && facts.distinct > QUANTITY && facts.length_min >= 6 => {
            identifier("long whole numbers that hardly ever repeat: likely a key")
        }
        Kind::Integer | Kind::Float if facts.distinct > QUANTITY && facts.most_share() <= 0.8 => {
            ProposedRole::in_doubt(Role::Sensitive, "a quantity others rarely know; quasi if they may")
        }
        Kind::Date => ProposedRole::in_doubt(Role::Quasi, "others may know when"),
        _ => ProposedRole::in_doubt(Role::Quasi, "in doubt: taken as known to others"),
    }
}

/// A number within the household and the household's key single out everyone together.
fn find_person_numbers(columns: &[Facts<'_>], roles: &mut [ProposedRole]) {
    let is_key = |role: &ProposedRole| role.role == Some(Role::Identifier);
    let keys: Vec<&Facts<'_>> =
        columns.iter().zip(roles.iter()).filter(|(_, role)| is_key(role)).map(|(facts, _)| facts).collect();
    for (facts, role) in columns.iter().zip(roles).filter(|(_, role)| !is_key(role)) {
        if keys.iter().any(|key| keys::numbers_persons(key, facts)) {
            let reason = "numbers the persons of a household: with the household's key it identifies a person";
            *role = ProposedRole::new(Role::Identifier, Concept::Open, reason);
        }
    }
}

/// A value that nearly all rows share costs more to protect than it tells: every class needs one of
/// the few rows that differ.
fn omit_agreeing(columns: &[Facts<'_>], roles: &mut [ProposedRole]) {
    let protected = columns.iter().zip(roles).filter(|(_, role)| role.role == Some(Role::Sensitive));
    for (facts, role) in protected.filter(|(facts, _)| facts.most_share() > AGREEMENT_MAX) {
        omit_as_agreeing(facts, role);
    }
}

fn omit_as_agreeing(facts: &Facts<'_>, role: &mut ProposedRole) {
    let agree = (share(facts.most.max(facts.missing), facts.rows) * 1000.0).floor() / 10.0;
    role.role = None;
    role.reason = format!("{agree} % of the rows agree; it would point at the others");
}

/// Omits protected attributes whose rules cost too much beside the other rules.
pub(super) fn omit_costly(columns: &[Facts<'_>], roles: &mut [ProposedRole], costly: &[(String, Option<f64>)]) {
    for (facts, role) in columns.iter().zip(roles) {
        let Some((_, loss)) = costly.iter().find(|(name, _)| *name == facts.column.name) else { continue };
        role.role = None;
        role.reason = match loss {
            Some(ncp) => format!("with its rule beside the others, the release would lose {:.0} %", ncp * 100.0),
            None => "no release was found that keeps its rule beside the others".to_owned(),
        };
    }
}

/// Omits protected attributes beside which no release hides some people.
pub(super) fn omit_telling(columns: &[Facts<'_>], roles: &mut [ProposedRole], telling: &[(String, u64)]) {
    for (facts, role) in columns.iter().zip(roles) {
        let Some((_, people)) = telling.iter().find(|(name, _)| *name == facts.column.name) else { continue };
        let people = if *people == 1 { "1 person".to_owned() } else { format!("{people} people") };
        role.role = None;
        role.reason =
            format!("combinations of values that do not occur would tell {people} apart in any release with it");
    }
}

/// Omits protected attributes that exclude too many rows beside the others.
pub(super) fn omit_unfitting(columns: &[Facts<'_>], roles: &mut [ProposedRole], unfitting: &[String]) {
    for (_, role) in columns.iter().zip(roles).filter(|(facts, _)| unfitting.contains(&facts.column.name)) {
        role.role = None;
        role.reason =
            "beside the others, combinations of values that do not occur leave someone too few rows in every \
                       release found that keeps half of the data"
                .to_owned();
    }
}

/// The protected attributes, from the one that should rather stay to the one that should rather go:
/// what name or values decided before what is in doubt, and what differs before what agrees.
pub(super) fn by_worth(columns: &[Facts<'_>], roles: &[ProposedRole]) -> Vec<String> {
    let protected = |index: &usize| roles[*index].role == Some(Role::Sensitive);
    let mut order: Vec<usize> = by_size(columns).into_iter().filter(protected).collect();
    let agreement = |index: usize| (columns[index].most_share() * 1000.0) as u32;
    order.sort_by_key(|&index| (roles[index].doubtful, agreement(index)));
    order.into_iter().map(|index| columns[index].column.name.clone()).collect()
}

/// Positions from the column with the fewest values to the one with the most, so that roles do not
/// depend on the order of the columns.
fn by_size(columns: &[Facts<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|index| (columns[*index].cardinality(), &columns[*index].column.name));
    order
}

/// Too many doubtful quasi-identifiers would leave nothing of the others.
fn settle_doubts(columns: &[Facts<'_>], roles: &mut [ProposedRole]) {
    let count = |roles: &[ProposedRole], wanted| {
        roles.iter().filter(|role| role.role == Some(wanted) && !role.doubtful).count()
    };
    let mut quasi = count(roles, Role::Quasi);
    let mut sensitive = count(roles, Role::Sensitive);
    for index in by_size(columns) {
        let (facts, role) = (&columns[index], &mut roles[index]);
        if !role.doubtful {
            continue;
        }
        if role.role == Some(Role::Quasi) && quasi < QUASI_MAX {
            quasi += 1;
            continue;
        }
        if facts.most_share() > AGREEMENT_MAX {
            omit_as_agreeing(facts, role);
        } else if sensitive < SENSITIVE_MAX && facts.cardinality() >= 2 {
            sensitive += 1;
            if role.role == Some(Role::Quasi) {
                role.reason = "in doubt: taken as unknown to others".to_owned();
            }
            role.role = Some(Role::Sensitive);
        } else {
            role.role = None;
            role.reason = "in doubt, and there is much to protect already".to_owned();
        }
    }
}

fn limit_rules(columns: &[Facts<'_>], roles: &mut [ProposedRole]) {
    let sensitive = by_size(columns).into_iter().filter(|index| roles[*index].role == Some(Role::Sensitive));
    for index in sensitive.skip(RULES_MAX).collect::<Vec<_>>() {
        roles[index].role = None;
        roles[index].reason = "more protected attributes than rules are possible".to_owned();
    }
}

/// A policy needs a quasi attribute: without one, the least identifying column becomes one. An
/// identifier is never proposed as anything else.
fn ensure_quasi(columns: &[Facts<'_>], roles: &mut [ProposedRole]) {
    if roles.iter().any(|proposed| proposed.role == Some(Role::Quasi)) {
        return;
    }
    let candidates = columns.iter().zip(roles.iter()).enumerate();
    let candidates =
        candidates.filter(|(_, (_, proposed))| !matches!(proposed.role, Some(Role::Identifier | Role::Unit)));
    // The one sensitive attribute is worth more as it is than as the only quasi attribute.
    let only_sensitive = roles.iter().filter(|proposed| proposed.role == Some(Role::Sensitive)).count() == 1;
    let best = candidates.min_by_key(|(_, (facts, proposed))| {
        let spared = only_sensitive && proposed.role == Some(Role::Sensitive);
        (spared, proposed.role != Some(Role::Plain), facts.cardinality(), &facts.column.name)
    });
    if let Some((index, _)) = best {
        let reason = "a policy needs a column that others know: this one identifies the least";
        roles[index] =
            ProposedRole { concept: roles[index].concept, ..ProposedRole::new(Role::Quasi, Concept::Open, reason) };
    }
}
