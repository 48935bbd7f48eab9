//! A draft whose rules also hold among the rows that combinations of values leave, where that keeps
//! half of the data. Attributes that tell people apart however the rows are divided are omitted.

use hedgerow_policy::Method;
use hedgerow_policy::propose::{self, ProposeOptions};
use hedgerow_table::Table;

use super::trial::{HALF, PolicyTrial, all_lose_more_than_half};
use crate::{Compared, Error, Monitor};

/// All rows are needed to see that rules hold for everyone among the rows that combinations of
/// values leave; of more rows than these it would take too long.
const ROWS_MAX: usize = 200_000;

/// The draft and what the methods that keep it lose; `None` where none keeps half. `kept` is what
/// methods lose without it.
pub(super) fn draft(
    table: &Table,
    source: &str,
    options: ProposeOptions,
    kept: Option<&[Compared]>,
    monitor: &Monitor<'_>,
) -> Result<Option<(propose::Proposal, Vec<Compared>)>, Error> {
    if table.rows > ROWS_MAX {
        return Ok(None);
    }
    let options = ProposeOptions { consistent: true, ..options };
    let mut proposed = propose::propose(table, source, &options);
    let mut trial = PolicyTrial::of_rows(table, &proposed, table.rows)?;
    let telling = trial.as_ref().and_then(|trial| trial.telling(&proposed.protected));
    if let Some(telling) = telling.filter(|telling| !telling.is_empty()) {
        proposed = propose::propose(table, source, &ProposeOptions { telling, ..options });
        trial = PolicyTrial::of_rows(table, &proposed, table.rows)?;
    }
    let Some(trial) = trial else { return Ok(None) };
    let found = trial.compared(&trial.policy, Some(methods(kept)), monitor)?;
    Ok(found.filter(|found| !all_lose_more_than_half(found)).map(|found| (proposed, found)))
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
