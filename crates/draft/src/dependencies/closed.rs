//! Rules whose attacker knows some of the quasi-identifiers: who knows a county knows its region.
//! The quasi-identifiers that follow are added to `know`, so that the search counts them, the
//! manifest states them and readers check them.

use hedgerow_policy::{Method, Policy, Role};
use hedgerow_table::engine::Embedded;
use hedgerow_table::{InputError, NoProgress, Table, TableError};

use super::{Dependencies, Known, listed};
use crate::units::Units;

impl Dependencies {
    /// The policy with what each rule takes as known closed by the quasi-identifiers that follow;
    /// `None` where none does. Other attributes that follow divide the classes of a draft.
    pub fn closed(&self, policy: &Policy) -> Option<Policy> {
        let added: Vec<Vec<&Known>> =
            (0..policy.rules.len()).map(|rule| self.quasi_that_follow(policy, rule)).collect();
        if added.iter().all(Vec::is_empty) {
            return None;
        }
        let mut closed = policy.clone();
        for (rule, added) in closed.rules.iter_mut().zip(added) {
            rule.know.extend(added.iter().map(|known| known.to.clone()));
        }
        Some(closed)
    }

    fn quasi_that_follow(&self, policy: &Policy, rule: usize) -> Vec<&Known> {
        let method = policy.publish.method;
        if method != Method::FullDomain && !method.is_local() {
            return Vec::new();
        }
        let rule = &policy.rules[rule];
        let is_quasi = |name: &str| policy.attribute(name).is_some_and(|attribute| attribute.role == Role::Quasi);
        let is_protected = |name: &String| rule.protected().any(|protected| protected == name);
        let follows = self.closure(&rule.know).into_iter();
        follows.filter(|known| is_quasi(&known.to) && !is_protected(&known.to)).collect()
    }

    /// Warnings of the attributes that were added to the rules of a policy.
    pub fn closing_warnings(&self, policy: &Policy) -> Vec<InputError> {
        let mut warnings: Vec<InputError> = Vec::new();
        for (place, rule) in policy.rules.iter().enumerate() {
            for known in self.quasi_that_follow(policy, place) {
                let problem = format!(
                    "`{to}` follows from {}: the rule is judged as if its attacker knew `{to}` too, and the manifest says so",
                    listed(&known.from),
                    to = known.to,
                );
                let hint = format!(
                    "add `{to}` to `know`; or accept the dependency, if attackers do not know it: `[[dependency]]` with \
                     `from = {from:?}`, `to = {to:?}` and `accept = \"why\"`",
                    to = known.to,
                    from = known.from,
                );
                let names = known.from.iter().chain([&known.to]);
                warnings.push(InputError::new(rule.place.clone(), problem, hint).about("dependency", names, None));
            }
        }
        warnings
    }
}

/// The policy as its rules are judged over a table in memory: `None` where that is the policy as it
/// is.
pub fn closed_policy(policy: &Policy, table: &Table) -> Result<Option<Policy>, TableError> {
    let knows_all = |rule: &hedgerow_policy::Rule| policy.quasi().all(|quasi| rule.know.contains(&quasi.name));
    if policy.rules.iter().all(knows_all) {
        return Ok(None);
    }
    Ok(Dependencies::of_table(policy, table, &NoProgress)?.closed(policy))
}

impl Dependencies {
    /// Of rows in memory. The rows of one unit agree on much that does not follow: one of each is
    /// looked at.
    pub fn of_table(
        policy: &Policy,
        table: &Table,
        progress: &dyn hedgerow_table::Progress,
    ) -> Result<Dependencies, TableError> {
        if !policy.has_units() {
            return Dependencies::examine(policy, &Embedded::new(table), progress);
        }
        let first = Units::of_policy(policy, table).first_rows();
        Dependencies::examine(policy, &Embedded::new(&table.of_rows(&first)), progress)
    }
}
