//! The role of every column: from its name, then from its values, then from what the whole table can bear.
//!
//! In doubt a column is taken as known to others (quasi), since that is the safe side. But every quasi attribute
//! makes all others coarser, so beyond a handful the doubtful ones are protected instead, or left out: an attribute that
//! nobody has judged is never released as it is.

use hedgerow_table::{Kind, Values};

use super::content;
use super::profile::{Facts, share};
use super::vocabulary::{Concept, ends_as_key, meaning, numbers_are_codes};
use crate::Role;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Guess {
    /// `None`: left out of the proposal.
    pub(super) role: Option<Role>,
    pub(super) concept: Concept,
    pub(super) reason: String,
    /// Neither name nor values decided.
    doubtful: bool,
}

impl Guess {
    fn new(role: Role, concept: Concept, reason: impl Into<String>) -> Guess {
        Guess { role: Some(role), concept, reason: reason.into(), doubtful: false }
    }

    fn in_doubt(role: Role, reason: impl Into<String>) -> Guess {
        Guess { doubtful: true, ..Guess::new(role, Concept::Open, reason) }
    }
}

/// Doubtful columns are quasi only while there are fewer quasi attributes than this.
const QUASI_MAX: usize = 10;
/// Doubtful columns are protected only while there are fewer protected ones than this.
const SENSITIVE_MAX: usize = 24;
/// No more rules than a policy can hold, with room for others.
const RULES_MAX: usize = 200;
/// Below this many rows, that values agree or differ says little.
const ROWS_TELLING: u64 = 20;
/// Numbers with more values than this are quantities that few others know exactly.
const QUANTITY: u64 = 50;
/// Columns in which more rows than this agree say little, and point at those who differ.
const NEARLY_ALL: f64 = 0.98;

/// One guess per column. At least one is quasi when there is a column.
pub(super) fn guess_all(columns: &[Facts<'_>]) -> Vec<Guess> {
    let mut guesses: Vec<Guess> = columns.iter().map(guess).collect();
    settle_doubts(columns, &mut guesses);
    limit_rules(&mut guesses);
    ensure_quasi(columns, &mut guesses);
    guesses
}

fn guess(facts: &Facts<'_>) -> Guess {
    if facts.distinct == 0 {
        return Guess::new(Role::Plain, Concept::Open, "no row has a value");
    }
    if let Some(reason) = content::identifying_shape(facts.domain()) {
        return Guess::new(Role::Identifier, Concept::Open, reason);
    }
    let by_name = by_name(facts);
    let named_identifier = by_name.as_ref().is_some_and(|guess| guess.role == Some(Role::Identifier));
    if facts.cardinality() == 1 && facts.rows >= ROWS_TELLING && !named_identifier {
        return Guess::new(Role::Plain, Concept::Open, "the same in every row: tells nobody apart");
    }
    by_name.unwrap_or_else(|| {
        let concept = if numbers_are_codes(&facts.column.name) { Concept::Nominal } else { Concept::Open };
        Guess { concept, ..by_values(facts) }
    })
}

/// What the name says, unless the values contradict it.
fn by_name(facts: &Facts<'_>) -> Option<Guess> {
    let meaning = meaning(&facts.column.name)?;
    let telling = facts.rows >= ROWS_TELLING;
    let role = match meaning.role {
        Some(role) => role,
        None => {
            let guess = Guess { role: None, ..Guess::new(Role::Plain, meaning.concept, meaning.because) };
            return Some(guess);
        }
    };
    let identifier = |reason: &str| Some(Guess::new(Role::Identifier, Concept::Open, reason));
    match role {
        Role::Identifier if meaning.weak && !has_many_values(facts) => return None,
        Role::Identifier if !meaning.weak && telling && facts.distinct <= 8 => return None,
        Role::Quasi | Role::Sensitive
            if ends_as_key(&facts.column.name) && has_many_values(facts) && meaning.concept != Concept::Code =>
        {
            return identifier("a key that leads back to a person");
        }
        Role::Quasi if telling && is_unique_text(facts) && meaning.concept != Concept::Code && !is_date_like(facts) => {
            return identifier("text that is different in nearly every row: identifies a person");
        }
        Role::Sensitive if content::is_free_text(facts) => return identifier("free text can name a person"),
        _ => {}
    }
    Some(Guess::new(role, meaning.concept, meaning.because))
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

fn by_values(facts: &Facts<'_>) -> Guess {
    let identifier = |reason: &str| Guess::new(Role::Identifier, Concept::Open, reason);
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
            Guess::in_doubt(Role::Sensitive, "a quantity others rarely know; quasi if they may")
        }
        Kind::Date => Guess::in_doubt(Role::Quasi, "others may know when"),
        _ => Guess::in_doubt(Role::Quasi, "in doubt: taken as known to others"),
    }
}

/// Too many doubtful quasi attributes would leave nothing of the others.
fn settle_doubts(columns: &[Facts<'_>], guesses: &mut [Guess]) {
    let count =
        |guesses: &[Guess], role| guesses.iter().filter(|guess| guess.role == Some(role) && !guess.doubtful).count();
    let mut quasi = count(guesses, Role::Quasi);
    let mut sensitive = count(guesses, Role::Sensitive);
    for (facts, guess) in columns.iter().zip(guesses.iter_mut()).filter(|(_, guess)| guess.doubtful) {
        if guess.role == Some(Role::Quasi) && quasi < QUASI_MAX {
            quasi += 1;
            continue;
        }
        if facts.most_share() > NEARLY_ALL {
            guess.role = None;
            let agree = (share(facts.most.max(facts.missing), facts.rows) * 1000.0).floor() / 10.0;
            guess.reason = format!("{agree} % of the rows agree; it would point at the others");
        } else if sensitive < SENSITIVE_MAX && facts.cardinality() >= 2 {
            sensitive += 1;
            if guess.role == Some(Role::Quasi) {
                guess.reason = "in doubt: taken as unknown to others".to_owned();
            }
            guess.role = Some(Role::Sensitive);
        } else {
            guess.role = None;
            guess.reason = "in doubt, and there is much to protect already".to_owned();
        }
    }
}

fn limit_rules(guesses: &mut [Guess]) {
    let sensitive = guesses.iter_mut().filter(|guess| guess.role == Some(Role::Sensitive));
    for guess in sensitive.skip(RULES_MAX) {
        guess.role = None;
        guess.reason = "more protected attributes than rules are possible".to_owned();
    }
}

/// Without a quasi attribute there is no policy: the least telling column becomes one.
fn ensure_quasi(columns: &[Facts<'_>], guesses: &mut [Guess]) {
    if guesses.iter().any(|guess| guess.role == Some(Role::Quasi)) {
        return;
    }
    let rank = |role: Option<Role>| match role {
        Some(Role::Plain) => 0,
        Some(Role::Sensitive) | None => 1,
        Some(Role::Quasi | Role::Identifier) => 2,
    };
    let candidates = columns.iter().zip(guesses.iter()).enumerate();
    // The one sensitive attribute among identifiers is worth more as it is than as the only quasi attribute.
    let only_sensitive = guesses.iter().filter(|guess| guess.role == Some(Role::Sensitive)).count() == 1;
    let best = candidates.min_by_key(|(_, (facts, guess))| {
        let spared = only_sensitive && guess.role == Some(Role::Sensitive) && guesses.len() > 1;
        (spared, rank(guess.role), facts.cardinality())
    });
    if let Some((index, _)) = best {
        let reason = match guesses[index].role {
            Some(Role::Identifier) => "the least identifying column: a policy needs one that others know",
            _ => "a policy needs a column that others know: this one tells the least",
        };
        guesses[index] = Guess { concept: guesses[index].concept, ..Guess::new(Role::Quasi, Concept::Open, reason) };
    }
}
