//! A joint run of all custodians in one process, with known randomness.

use std::sync::Arc;

use hedgerow_publish::bind::Bound;
use hedgerow_smc::Ledger;
use hedgerow_table::{InputError, Table};

use super::{Profile, agree};
use crate::{Error, Policy};

/// The result of a joint run in rehearsal: what it would find, open and send.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rehearsal {
    /// Rows of every equivalence class, over all custodians.
    pub class_sizes: Vec<u64>,
    /// For every custodian, the class of each of its rows.
    pub class_of_row: Vec<Vec<u32>>,
    /// Every value that the run opens to all custodians.
    pub ledger: Ledger,
    /// Rounds of messages.
    pub rounds: u64,
    /// Messages that all custodians send together.
    pub messages: u64,
    /// Bytes that all custodians send together.
    pub bytes: u64,
}

/// Rehearses Mondrian among custodians in one process: the rows of `union` are dealt to
/// `custodians` by `owner`, and the classes are those that one custodian with all rows would find.
/// Randomness is seeded: this is for trials, never for rows that must be kept secret.
///
/// ```
/// use hedgerow::Policy;
/// use hedgerow::federation::{Profile, rehearse};
///
/// let policy = Policy::load("../../examples/hospital/policy-local.toml")?;
/// let union = hedgerow::read_source(&policy)?;
/// let run = rehearse(&policy, &union, 3, |row| row % 3, Profile::Masked, 1)?;
/// assert_eq!(run.class_sizes.iter().sum::<u64>(), union.rows as u64);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn rehearse(
    policy: &Policy,
    union: &Table,
    custodians: usize,
    owner: impl Fn(usize) -> usize,
    profile: Profile,
    seed: u64,
) -> Result<Rehearsal, Error> {
    let policy = policy.inner();
    let refuse = |problem: &str, hint: &str| -> Error {
        InputError::new(policy.path.display().to_string(), problem, hint).into()
    };
    let owner: Vec<usize> = (0..union.rows).map(owner).collect();
    if owner.iter().any(|&owner| owner >= custodians) {
        return Err(refuse("a row belongs to no custodian", "let `owner` return a number below `custodians`"));
    }
    let bound = Bound::new(policy, union)?;
    let agreed = Arc::new(agree(policy, &bound)?);
    let shares = agreed.deal(&bound.judged_codes(), &owner, custodians);
    let found = hedgerow_joint::rehearse(profile.into(), &agreed, shares, seed)
        .map_err(|fault| refuse(&fault.to_string(), "three or more custodians are needed"))?;
    let joined = found.joined.ok_or_else(|| {
        let summary = "no release satisfies the policy: even all rows of all custodians as one class violate a rule";
        Error::unsatisfiable(summary, Vec::new(), "require less in that rule")
    })?;
    let classes = joined.first().map_or(&[][..], |joined| joined.classes.as_slice());
    Ok(Rehearsal {
        class_sizes: classes.iter().map(|class| class.rows).collect(),
        class_of_row: joined.into_iter().map(|joined| joined.of_row).collect(),
        ledger: found.ledger,
        rounds: found.traffic.rounds,
        messages: found.traffic.messages,
        bytes: found.traffic.bytes,
    })
}
