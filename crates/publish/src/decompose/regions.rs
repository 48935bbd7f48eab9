//! `anonymizer = "mondrian"`: a guardian's other attributes are generalized instead of its
//! sensitive values put into buckets. Its rows are divided into classes that keep what is required
//! of the sensitive attribute; each class is released as its region.
//!
//! To a rule a class is a bucket: within it every arrangement of the sensitive values agrees with
//! all that is published. So guardian normal form judges both alike.

use std::sync::Arc;

use hedgerow_policy::{Anonymizer, Attribute, KnownRows, Method, Policy, Role, Rule};
use hedgerow_table::{InputError, Progress};

use super::{DecompositionProblem, Groups, Rules, Subtable};
use crate::bind::Bound;
use crate::error::PublishError;
use crate::generalized::Recoded;
use crate::local::{Local, LocalRecoding, recode};

/// Rows of one table say nothing of how far all are: only whether to stop is passed on.
struct CancelOnly<'a>(&'a dyn Progress);

impl Progress for CancelOnly<'_> {
    fn is_canceled(&self) -> bool {
        self.0.is_canceled()
    }
}

/// The classes of one table and what is released of them.
#[derive(Debug)]
pub struct Regions {
    /// About the attributes of this table alone, the sensitive one protected from the others.
    policy: Policy,
    pub found: LocalRecoding,
}

impl Regions {
    /// ln of how many combinations of values each class covers.
    pub fn volumes(&self) -> Vec<f64> {
        let of = |class: usize| -> f64 {
            let ranks = self.found.cells.iter().map(|cells| cells.regions[cells.of_class[class] as usize].ranks());
            ranks.map(|ranks| (ranks as f64).ln()).sum()
        };
        (0..self.found.sizes.len()).map(of).collect()
    }

    /// Calls `each` with the table's own binding and what became of its generalized attributes.
    pub(super) fn with_recoded<T>(
        &self,
        table: &hedgerow_table::Table,
        each: impl FnOnce(&Bound<'_>, Vec<Recoded<'_>>) -> Result<T, PublishError>,
    ) -> Result<T, PublishError> {
        let bound = Bound::new(&self.policy, table)?;
        let recoded = self.found.recoded(&bound.quasi);
        each(&bound, recoded)
    }
}

/// The same tables, every guardian generalized that has no coarser values.
pub(super) fn generalized(
    bound: &Bound<'_>,
    rules: &Rules<'_>,
    problem: &DecompositionProblem<'_>,
    mut tables: Vec<Subtable>,
) -> Result<Vec<Subtable>, PublishError> {
    for table in tables.iter_mut().filter(|table| table.groups.is_some()) {
        let Some(sensitive) = table.sensitive.iter().next() else { continue };
        if !coarse(bound.policy, rules, table).is_empty() {
            continue;
        }
        let policy = policy_of(bound.policy, rules, problem, table, sensitive);
        let found = {
            let own = Bound::new(&policy, bound.table)?;
            let judge = own.judge()?;
            let local = Local { method: Method::Mondrian, strict: true, tight: false };
            recode(&own, &judge, local, &CancelOnly(problem.progress))?
        };
        let mut members: Vec<Vec<(u32, u32)>> = vec![Vec::new(); found.sizes.len()];
        let mut pairs: Vec<(u32, u32)> = found.of_row.iter().copied().zip(problem.columns[sensitive].iter()).collect();
        pairs.sort_unstable();
        for run in pairs.chunk_by(|one, other| one == other) {
            members[run[0].0 as usize].push((run[0].1, run.len() as u32));
        }
        table.groups = Some(Arc::new(Groups::of(found.of_row.clone(), members.into_iter())));
        table.regions = Some(Arc::new(Regions { policy, found }));
    }
    Ok(tables)
}

/// Attributes of a guardian that `coarsen` names. A label over values that were made coarser would
/// cover other values of the source than its text says (1000 stands for those from 500 on), so that
/// such a guardian keeps its buckets.
fn coarse<'p>(policy: &'p Policy, rules: &Rules<'_>, table: &Subtable) -> Vec<&'p str> {
    let open: Vec<&str> = table.open().iter().map(|attribute| rules.columns[attribute].name.as_str()).collect();
    let is_coarse = |attribute: &&Attribute| attribute.coarsen.is_some() && open.contains(&attribute.name.as_str());
    policy.attributes.iter().filter(is_coarse).map(|attribute| attribute.name.as_str()).collect()
}

/// A warning about guardians that were not generalized though the policy says so.
pub(super) fn warning_of_buckets(policy: &Policy, rules: &Rules<'_>, tables: &[Subtable]) -> Option<InputError> {
    let in_buckets = tables.iter().filter(|table| table.groups.is_some() && table.regions.is_none());
    let mut names: Vec<&str> = in_buckets.flat_map(|table| coarse(policy, rules, table)).collect();
    names.sort_unstable();
    names.dedup();
    if policy.publish.anonymizer != Anonymizer::Mondrian || names.is_empty() {
        return None;
    }
    let problem = format!(
        "a table with {} has its sensitive values in buckets: `anonymizer = \"mondrian\"` generalizes no value that \
         `coarsen` gave",
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    );
    let hint = "remove `coarsen` to have the values generalized";
    Some(InputError::new(policy.publish.place.clone(), problem, hint).about("policy", names, None))
}

fn policy_of(
    policy: &Policy,
    rules: &Rules<'_>,
    problem: &DecompositionProblem<'_>,
    table: &Subtable,
    sensitive: usize,
) -> Policy {
    let name = |attribute: usize| rules.columns[attribute].name.clone();
    let held: Vec<String> = table.attributes.iter().map(name).collect();
    let mut own = policy.clone();
    own.attributes.retain(|attribute| held.contains(&attribute.name));
    for attribute in &mut own.attributes {
        attribute.role = if attribute.name == name(sensitive) { Role::Sensitive } else { Role::Quasi };
    }
    let require = problem.require(sensitive).to_vec();
    own.rules = vec![Rule {
        know: table.open().iter().map(name).collect(),
        protect: Some(name(sensitive)),
        also_protect: Vec::new(),
        require_places: vec![policy.publish.place.clone(); require.len()],
        require,
        rows: KnownRows::default(),
        consistent: false,
        only_where: Default::default(),
        place: policy.publish.place.clone(),
    }];
    own.publish.method = Method::Mondrian;
    own
}
