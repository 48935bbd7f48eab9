//! Why a combination of levels is as coarse as it is.

use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::read_earlier;

use crate::{Error, Monitor, Policy, Source};

pub use hedgerow_publish::why::{Broken, Finer, NearClass, SuppressedGroup, Why};

/// Explains a release at these levels of the quasi-identifiers, in the order of the policy: what
/// one level less would break, and which rows are suppressed. It describes private rows and is for
/// the custodian alone.
///
/// ```
/// use hedgerow::{Monitor, Policy, Source};
///
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// let why = hedgerow::why(&policy, Source::of_policy(), &[3, 2, 0, 2], &Monitor::default())?;
/// assert!(why.finer.iter().all(|finer| !finer.holds));
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn why(policy: &Policy, source: Source<'_>, levels: &[u8], monitor: &Monitor<'_>) -> Result<Why, Error> {
    let policy = policy.inner();
    let table = source.read(policy, monitor)?;
    let earlier = read_earlier(policy, &table, monitor)?;
    let closed = hedgerow_publish::closed_policy(policy, &table)?;
    let bound = Bound::with_earlier(closed.as_ref().unwrap_or(policy), &table, earlier)?;
    let tops: Vec<usize> = bound.quasi.iter().map(|quasi| quasi.hierarchy.top()).collect();
    if levels.len() != tops.len() || levels.iter().zip(&tops).any(|(&level, &top)| usize::from(level) > top) {
        let problem = format!("{levels:?} are not levels of the quasi-identifiers, whose tops are {tops:?}");
        return Err(hedgerow_table::InputError::new("levels", problem, "name a level for each, up to its top").into());
    }
    Ok(hedgerow_publish::why::why(&bound, levels, monitor)?)
}
