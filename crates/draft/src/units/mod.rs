//! The unit that each row is about: the columns with the role `unit`, read once and never released.

mod drafted;

use hedgerow_policy::{Method, Policy};
use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::units::{allows_several_values, numbered};
use hedgerow_privacy::{Judge, Model, UnitRows, UnitTerms};
use hedgerow_table::frequency::FrequencySet;
use hedgerow_table::{Codes, Column, Counted, InputError, Table};

pub use drafted::{DraftUnits, link};

/// The units of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    /// The number of the unit that each row is about.
    pub of_row: Vec<u32>,
    /// All numbers are below it, and each has a row.
    pub count: usize,
}

impl Units {
    /// The units that a policy declares; refused where a method or a model cannot count them.
    pub fn bind(policy: &Policy, table: &Table, counted: Option<&Counted>) -> Result<Option<Units>, InputError> {
        let Some(place) = policy.units().next().map(|attribute| attribute.place.clone()) else { return Ok(None) };
        refuse_method(policy)?;
        if counted.is_some() {
            let problem = "units are counted from the rows themselves, and only distinct rows are in memory";
            return Err(InputError::new(place, problem, "allow more memory"));
        }
        let mut columns: Vec<&Column> = Vec::new();
        for attribute in policy.units() {
            let column = table.column(&attribute.name).ok_or_else(|| {
                let problem = format!("the table has no column `{}`", attribute.name);
                InputError::new(attribute.place.clone(), problem, "name the column that says whom a row is about")
            })?;
            refuse_missing(column, &attribute.place)?;
            columns.push(column);
        }
        let units = Units::of_columns(&columns, table.rows);
        units.refuse_models(policy, table)?;
        Ok(Some(units))
    }

    /// Rows that agree on all columns are about one unit.
    pub fn of_columns(columns: &[&Column], rows: usize) -> Units {
        let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
        let (of_row, count) = numbered(&codes, rows);
        Units { of_row, count }
    }

    /// By the columns that a policy names, where the table has them.
    pub fn of_policy(policy: &Policy, table: &Table) -> Units {
        let columns: Vec<&Column> = policy.units().filter_map(|unit| table.column(&unit.name)).collect();
        Units::of_columns(&columns, table.rows)
    }

    /// One row of each unit.
    pub fn first_rows(&self) -> Vec<u32> {
        let mut seen = vec![false; self.count];
        let rows = (0u32..).zip(&self.of_row);
        rows.filter(|(_, unit)| !std::mem::replace(&mut seen[**unit as usize], true)).map(|(row, _)| row).collect()
    }

    /// How the rules of a policy are judged over these units.
    pub fn terms(&self, policy: &Policy, table: &Table) -> UnitTerms {
        let protected = |rule: &hedgerow_policy::Rule| rule.protect.as_ref().and_then(|name| table.column(name));
        let rules = policy.rules.iter();
        UnitTerms {
            rows: rules.clone().map(|rule| rule.rows).collect(),
            missing: rules.clone().map(|rule| protected(rule)?.domain.missing_code()).collect(),
            several_values: rules
                .map(|rule| protected(rule).is_some_and(|column| self.vary_in(&column.codes)))
                .collect(),
            linked: policy.publish.link,
            allowed: policy.publish.suppression.floor_of(self.count as u64),
        }
    }

    /// The units of which every row is kept.
    pub fn kept(&self, rows: Option<&[bool]>) -> Vec<bool> {
        let mut kept = vec![true; self.count];
        for (row, &unit) in self.of_row.iter().enumerate() {
            kept[unit as usize] &= rows.is_none_or(|rows| rows[row]);
        }
        kept
    }

    /// Units with a value that fewer than `k` units have.
    pub fn with_rare_values(&self, column: &Column, k: u64) -> u64 {
        let mut pairs: Vec<(u32, u32)> = column.codes.iter().zip(self.of_row.iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut rare = vec![false; self.count];
        for equal in pairs.chunk_by(|a, b| a.0 == b.0).filter(|equal| (equal.len() as u64) < k) {
            equal.iter().for_each(|&(_, unit)| rare[unit as usize] = true);
        }
        rare.into_iter().filter(|rare| *rare).count() as u64
    }

    /// Whether some unit has several values.
    fn vary_in(&self, codes: &Codes) -> bool {
        UnitRows::has_several_values(&self.of_row, self.count, codes)
    }

    /// Models that need one value for each unit, where a unit has several.
    fn refuse_models(&self, policy: &Policy, table: &Table) -> Result<(), InputError> {
        for rule in &policy.rules {
            let Some(column) = rule.protect.as_ref().and_then(|name| table.column(name)) else { continue };
            let mut varies = None;
            for (model, place) in rule.require.iter().zip(&rule.require_places) {
                if matches!(model, Model::CrossReleaseLDiversity { .. }) {
                    let problem = format!("{} is not judged over units: other releases have rows", model.name());
                    let hint = "publish one row for each unit, or require another model";
                    return Err(InputError::new(place.clone(), problem, hint));
                }
                let allowed = allows_several_values(model);
                if !allowed && *varies.get_or_insert_with(|| self.vary_in(&column.codes)) {
                    let problem = format!(
                        "{} needs one value for each unit, and some unit has several values of `{}`",
                        model.name_with_conditions(),
                        column.name
                    );
                    let hint = "require `frequency-l-diversity` or `entropy-l-diversity` instead, which hold for every \
                                choice of one value for each unit";
                    return Err(InputError::new(place.clone(), problem, hint));
                }
            }
        }
        Ok(())
    }
}

impl Units {
    /// Takes the worse of what rows and units achieve.
    pub fn add_achieved<const W: usize>(
        &self,
        judge: &Judge,
        set: &FrequencySet<W>,
        columns: &[&Codes],
        achieved: &mut [Vec<Achieved>],
    ) {
        let Some(terms) = judge.unit_terms() else { return };
        let rows = UnitRows::new(judge, set, columns, &self.of_row, self.count);
        let over_units = judge.achieved_over_units(terms, set, &rows, &vec![true; self.count]);
        for (achieved, over_units) in achieved.iter_mut().flatten().zip(over_units.iter().flatten()) {
            achieved.take_worse(over_units);
        }
    }
}

/// Methods that cannot count units say so.
fn refuse_method(policy: &Policy) -> Result<(), InputError> {
    let why = match policy.publish.method {
        Method::Mondrian | Method::BestCut if policy.publish.improve => {
            let problem = "`improve` exchanges rows between classes, and the rows of a unit belong together";
            return Err(InputError::new(policy.publish.place.clone(), problem, "remove `improve`"));
        }
        Method::Cluster if policy.publish.max_seconds.is_some() => {
            let problem = "`max-seconds` exchanges rows between classes, and the rows of a unit belong together";
            return Err(InputError::new(policy.publish.place.clone(), problem, "remove `max-seconds`"));
        }
        Method::FullDomain | Method::Mondrian | Method::BestCut | Method::Cluster => return Ok(()),
        Method::Anatomy => "its buckets count rows",
        Method::Clone => "its classes count tuples",
        Method::Decompose => "its tables are shuffled apart, row by row",
    };
    let problem = format!("{} does not count units: {why}", policy.publish.method.name());
    let hint = "use `method = \"full-domain\"`, \"mondrian\", \"best-cut\" or \"cluster\", or give the column the role `identifier` if every \
                row is about another unit";
    Err(InputError::new(policy.publish.place.clone(), problem, hint))
}

/// Custodians who publish together, and engines that hold the rows elsewhere, count rows.
pub fn refuse_elsewhere(policy: &Policy, who: &str) -> Result<(), InputError> {
    let Some(attribute) = policy.units().next() else { return Ok(()) };
    let problem = format!("{who} counts rows, not units, and `{}` has the role `unit`", attribute.name);
    let hint = "publish from a file or a database that fits in memory, or give the column the role `identifier` if every \
                row is about another unit";
    Err(InputError::new(attribute.place.clone(), problem, hint))
}

/// A row about an unknown unit could be about any.
fn refuse_missing(column: &Column, place: &str) -> Result<(), InputError> {
    let Some(missing) = column.domain.missing_code() else { return Ok(()) };
    let rows = column.codes.iter().filter(|&code| code == missing).count();
    if rows == 0 {
        return Ok(());
    }
    let problem = format!("`{}` is missing in {rows} rows, so that nothing says whom they are about", column.name);
    Err(InputError::new(place, problem, "fill it in, or remove these rows from the source"))
}
