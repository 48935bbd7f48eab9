//! UCI Adult under k-anonymity by Mondrian, dealt to custodians in turn.

use std::path::Path;
use std::sync::Arc;

use hedgerow_joint::Agreed;
use hedgerow_policy::{Method, Policy};
use hedgerow_privacy::Model;
use hedgerow_publish::bind::{Bound, Quasi, read_source};
use hedgerow_publish::local::{Local, LocalRecoding, recode};
use hedgerow_table::{Column, NoProgress, Table};

use crate::experiment::{Scale, Trouble};

/// The paper's records, of a file that has one more.
const RECORDS: u64 = 30_161;

/// The quasi-identifiers are the eight attributes of LeFevre and others, without the income.
const NOT_KNOWN: &str = "salary-class";

pub(super) struct Adult {
    policy: Policy,
    pub(super) table: Table,
}

impl Adult {
    pub(super) fn new(scale: Scale) -> Result<Adult, Trouble> {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/adult/policy.toml"));
        let mut policy = Policy::load(path).map_err(|errors| errors.to_string())?;
        policy.attributes.retain(|attribute| attribute.name != NOT_KNOWN);
        policy.rules.iter_mut().for_each(|rule| rule.know.retain(|name| name != NOT_KNOWN));
        let table = read_source(&policy, &NoProgress)?;
        let every = scale.of(1, 10);
        let rows: Vec<u32> = (0..table.rows as u32).filter(|row| row % every == 0).collect();
        Ok(Adult { policy, table: part(&table, &rows) })
    }

    /// The rows that each of some custodians holds.
    pub(super) fn dealt(&self, custodians: usize) -> Vec<Table> {
        let of = |owner: usize| (0..self.table.rows as u32).filter(|row| *row as usize % custodians == owner).collect();
        (0..custodians).map(|owner| part(&self.table, &of(owner) as &Vec<u32>)).collect()
    }

    pub(super) fn policy(&self, k: u64) -> Policy {
        let mut policy = self.policy.clone();
        policy.rules[0].require = vec![Model::KAnonymity { k }];
        policy
    }
}

impl Adult {
    /// Which quasi attribute that is, and where the value lies in the order that it is cut by.
    pub(super) fn place(&self, name: &str, value: &str) -> Result<(usize, u32), Trouble> {
        let bound = Bound::new(&self.policy, &self.table)?;
        let attribute =
            bound.quasi.iter().position(|quasi| quasi.attribute.name == name).ok_or("an attribute of Adult")?;
        let code = bound.quasi[attribute].column.domain.code_of(value).ok_or("a value of Adult")?;
        let axis = &bound.axes()[attribute];
        Ok((attribute, axis.ranks().map_or(code, |ranks| ranks[code as usize])))
    }
}

impl Adult {
    /// The first sentence of every section.
    pub(super) fn setting(&self) -> Result<String, Trouble> {
        Ok(format!(
            "UCI Adult, the paper's data: {} people without missing values (the paper counts {RECORDS}), the eight quasi attributes of \
             LeFevre and others with domains {:?}",
            self.table.rows,
            self.ranks()?.1
        ))
    }

    /// By quasi attribute the place of every row's value in the order that it is cut by, and how
    /// many places there are.
    pub(super) fn ranks(&self) -> Result<(Vec<Vec<u32>>, Vec<usize>), Trouble> {
        let bound = Bound::new(&self.policy, &self.table)?;
        let axes = bound.axes();
        let of = |(quasi, axis): (&Quasi<'_>, &hedgerow_cuts::Axis)| -> Vec<u32> {
            quasi.column.codes.iter().map(|code| axis.ranks().map_or(code, |ranks| ranks[code as usize])).collect()
        };
        let ranks = bound.quasi.iter().zip(axes.iter()).map(of).collect();
        Ok((ranks, bound.quasi.iter().map(|quasi| quasi.column.domain.cardinality()).collect()))
    }
}

/// Classes of a table that one custodian holds.
pub(super) fn alone(policy: &Policy, table: &Table) -> Result<LocalRecoding, Trouble> {
    let bound = Bound::new(policy, table)?;
    let local = Local { method: Method::Mondrian, strict: true, tight: false };
    Ok(recode(&bound, &bound.judge()?, local, &NoProgress)?)
}

/// The agreement of custodians, from a table that has all values.
pub(super) fn agreed(bound: &Bound<'_>) -> Result<Arc<Agreed>, Trouble> {
    let rules = bound.judge()?.into_rules();
    let agreed = Agreed::new(bound.axes(), &bound.judged_cardinalities(), rules, true, false);
    let agreed = agreed.and_then(|agreed| agreed.weighted(bound.weights()));
    Ok(Arc::new(agreed.ok_or("custodians can keep k-anonymity together")?))
}

/// Some rows of a table, over the same domains.
fn part(table: &Table, rows: &[u32]) -> Table {
    let column = |column: &Column| Column { codes: column.codes.of_rows(rows), ..column.clone() };
    Table { columns: table.columns.iter().map(column).collect(), rows: rows.len(), ..table.clone() }
}
