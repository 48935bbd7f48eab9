//! Policies that custodians who publish together cannot keep, refused by name: no custodian has the
//! rows of all, and classes are counted by rows.

use hedgerow_policy::Policy;
use hedgerow_table::InputError;

use hedgerow_draft::{consistent, only_where, units};

/// The name of such a release in refusals.
const WHO: &str = "a joint release";

/// Refuses a policy with units, with `consistent` or `where`, or with a dependency that is not
/// accepted.
pub fn refuse(policy: &Policy) -> Result<(), InputError> {
    units::refuse_elsewhere(policy, WHO)?;
    consistent::refuse_elsewhere(policy, WHO)?;
    only_where::refuse_elsewhere(policy, WHO)?;
    let Some(dependency) = policy.dependencies.iter().find(|dependency| dependency.accept.is_none()) else {
        return Ok(());
    };
    let from: Vec<String> = dependency.from.iter().map(|name| format!("`{name}`")).collect();
    let problem = format!(
        "{WHO} does not judge dependencies, and `{}` is declared to follow from {}: no custodian has the values of all rows, \
         which would have to be divided by it",
        dependency.to,
        from.join(", "),
    );
    let hint = format!(
        "give `{}` the role `identifier`, so that it is not released; or accept the dependency with a reason (`accept`), which \
         the manifest then states",
        dependency.to
    );
    Err(InputError::new(dependency.place.clone(), problem, hint))
}
