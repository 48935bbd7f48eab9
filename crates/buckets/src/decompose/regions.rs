//! `anonymizer = "mondrian"`: a guardian's other attributes are generalized instead of its
//! sensitive values put into buckets. Its rows are divided into classes that keep what is required
//! of the sensitive attribute; each class is released as its region.
//!
//! To a rule a class is a bucket: within it every arrangement of the sensitive values agrees with
//! all that is published. So guardian normal form judges both alike.

use std::sync::Arc;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::coarse_hulls::CoarseAttribute;
use hedgerow_draft::coarsen::Coarsened;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::generalized::Recoded;
use hedgerow_local::{Local, LocalRecoding, recode};
use hedgerow_policy::{KnownRows, Method, Policy, Role, Rule};
use hedgerow_table::{Column, Progress, Table};

use super::{DecompositionProblem, Groups, Rules, Subtable};

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
    coarse: CoarseColumns,
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
        table: &Table,
        each: impl FnOnce(&Bound<'_>, Vec<Recoded<'_>>) -> Result<T, PublishError>,
    ) -> Result<T, PublishError> {
        let bound = self.coarse.bind(&self.policy, table)?;
        let recoded = self.found.recoded(&bound.quasi);
        each(&bound, recoded)
    }
}

/// The known attributes of a guardian whose values were made coarser.
#[derive(Debug)]
struct CoarseColumns {
    /// The table with these on a line, where they lie on one.
    table: Option<Table>,
    of: Vec<CoarseAttribute>,
    coarsened: Coarsened,
}

impl CoarseColumns {
    fn of(bound: &Bound<'_>, policy: &Policy) -> Result<CoarseColumns, PublishError> {
        let mut of = Vec::new();
        for attribute in policy.quasi() {
            let Some((coarsening, coarser)) = bound.coarsened.of(&attribute.name) else { continue };
            let Some(column) = bound.table.column(&attribute.name) else { continue };
            of.extend(CoarseAttribute::of(column, attribute, coarsening, coarser, &policy.source.nulls)?);
        }
        let own = |column: &Column| {
            let coarse = of.iter().find(|coarse| coarse.column.name == column.name);
            coarse.map_or(column, |coarse| &coarse.column).clone()
        };
        let held = |column: &&Column| policy.attribute(&column.name).is_some();
        let table = (!of.is_empty()).then(|| Table {
            columns: bound.table.columns.iter().filter(held).map(own).collect(),
            rows: bound.table.rows,
            header: bound.table.header.clone(),
            warnings: Vec::new(),
        });
        Ok(CoarseColumns { table, of, coarsened: bound.coarsened.clone() })
    }

    fn bind<'a>(&'a self, policy: &'a Policy, table: &'a Table) -> Result<Bound<'a>, PublishError> {
        let mut bound = Bound::new(policy, self.table.as_ref().unwrap_or(table))?;
        for quasi in &mut bound.quasi {
            let Some(coarse) = self.of.iter().find(|coarse| coarse.column.name == quasi.column.name) else { continue };
            quasi.hulls = Some(coarse.hulls.clone());
            if let Some(hierarchy) = &coarse.hierarchy {
                quasi.hierarchy = hierarchy.clone();
            }
        }
        bound.coarsened = self.coarsened.clone();
        Ok(bound)
    }
}

/// The same tables, every guardian generalized.
pub(super) fn generalized(
    bound: &Bound<'_>,
    rules: &Rules<'_>,
    problem: &DecompositionProblem<'_>,
    mut tables: Vec<Subtable>,
) -> Result<Vec<Subtable>, PublishError> {
    for table in tables.iter_mut().filter(|table| table.groups.is_some()) {
        let Some(sensitive) = table.sensitive.iter().next() else { continue };
        let policy = policy_of(bound.policy, rules, problem, table, sensitive);
        let coarse = CoarseColumns::of(bound, &policy)?;
        let found = {
            let own = coarse.bind(&policy, bound.table)?;
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
        table.regions = Some(Arc::new(Regions { policy, coarse, found }));
    }
    Ok(tables)
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
