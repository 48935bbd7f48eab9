//! A draft whose rules also hold among the rows that combinations of values leave, where that keeps
//! half of the data. Attributes that tell people apart however the rows are divided are omitted.

use hedgerow_policy::Method;
use hedgerow_policy::propose::{self, ProposeOptions};
use hedgerow_table::Table;

use super::trial::{HALF, PolicyTrial, all_lose_more_than_half};
use super::with_best_method;
use crate::{Compared, Error, Monitor};

/// All rows are needed to see that rules hold for everyone among the rows that combinations of
/// values leave; of more rows than these it would take too long.
const ROWS_MAX: usize = 200_000;

/// A draft, and what the methods that keep it lose.
type Kept = (propose::Proposal, Vec<Compared>);

/// The draft with as many protected attributes as its rules can be kept for, the one that is worth
/// the least omitted first; `None` where none can. `kept` is what methods lose without it.
pub(super) fn draft(
    table: &Table,
    source: &str,
    options: ProposeOptions,
    kept: Option<&[Compared]>,
    monitor: &Monitor<'_>,
) -> Result<Option<Kept>, Error> {
    if table.rows > ROWS_MAX {
        return Ok(None);
    }
    let options = ProposeOptions { consistent: true, ..options };
    let proposed = propose::propose(table, source, &options);
    let trial = PolicyTrial::of_rows(table, &proposed, table.rows)?;
    // Units whom no class hides are suppressed.
    let spared = if proposed.unit.is_some() { table.rows as u64 / SPARED } else { 0 };
    let telling = trial.as_ref().and_then(|trial| trial.telling(&proposed.protected, spared)).unwrap_or_default();
    let left: Vec<String> =
        proposed.protected.into_iter().filter(|name| telling.iter().all(|(other, _)| other != name)).collect();
    let options = ProposeOptions { telling, ..options };
    let attempt = |protected: usize| {
        let unfitting = left[protected..].to_vec();
        attempt(table, source, &ProposeOptions { unfitting, ..options.clone() }, kept, monitor)
    };
    if let Some(found) = attempt(left.len())? {
        return Ok(Some(found));
    }
    // More attributes need not be kept where fewer are.
    let (mut enough, mut too_many, mut best) = (0, left.len(), None);
    while enough + 1 < too_many {
        let tried = enough.midpoint(too_many);
        match attempt(tried)? {
            Some(found) => (enough, best) = (tried, Some(found)),
            None => too_many = tried,
        }
    }
    Ok(best)
}

/// One part of the rows in this many may be of units that no class hides.
const SPARED: u64 = 50;

/// `None` where no method keeps half of the data, or an audit of the release finds someone: units
/// that were suppressed can match a class all the same.
fn attempt(
    table: &Table,
    source: &str,
    options: &ProposeOptions,
    kept: Option<&[Compared]>,
    monitor: &Monitor<'_>,
) -> Result<Option<Kept>, Error> {
    let proposed = propose::propose(table, source, options);
    let Some(trial) = PolicyTrial::of_rows(table, &proposed, table.rows)? else { return Ok(None) };
    let methods = if proposed.unit.is_some() { &[Method::Cluster] } else { methods(kept) };
    let found = trial.compared(&trial.policy, Some(methods), monitor)?;
    let Some(losses) = found.filter(|found| !all_lose_more_than_half(found)) else { return Ok(None) };
    if proposed.unit.is_some() {
        let exposed = trial.exposed(&with_best_method(&proposed.policy, &losses), monitor)?;
        if exposed.is_none_or(|exposed| exposed.people > 0) {
            return Ok(None);
        }
    }
    Ok(Some((proposed, losses)))
}

/// The methods that keep `consistent`; the first is tried only where it is of use without it.
fn methods(kept: Option<&[Compared]>) -> &'static [Method] {
    let name = Method::FullDomain.name();
    let of_use = |found: &Compared| found.method == name && found.loss.as_ref().is_some_and(|loss| loss.ncp <= HALF);
    match kept.is_some_and(|kept| kept.iter().any(of_use)) {
        true => &[Method::FullDomain, Method::Cluster],
        false => &[Method::Cluster],
    }
}
