//! The input of the writer of a policy: the columns with all that was decided about them, and how
//! the table was read.

use std::collections::{HashMap, HashSet};

use super::described::Described;
use super::formats::{FoundDates, FoundFormats};
use super::hierarchies::Plan;
use super::profile::Facts;
use super::roles::ProposedRole;
use super::units::FoundUnits;
use crate::Format;
use hedgerow_config::Selection;

/// How the table was read, so that the policy reads it the same way, and what is wished for.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposeOptions {
    /// Whether the source is the address of a database, and what was read there.
    pub database: bool,
    pub selection: Option<Selection>,
    /// To be written when the file's suffix does not say.
    pub format: Option<Format>,
    /// To be written when it must not be detected.
    pub delimiter: Option<u8>,
    pub quote: Option<u8>,
    /// All texts that counted as missing.
    pub nulls: Vec<String>,
    /// How numbers and dates were read.
    pub formats: FoundFormats,
    /// The class size to require; less is proposed for tiny tables.
    pub k: u64,
    /// Where rows belong to units: an attacker is taken to know one row of a unit when a rule
    /// protects what a unit may have several values of.
    pub one_row: bool,
    /// Where rows belong to units: two values are to remain possible, and not three, of what a unit
    /// may have several values of, since it then counts with any of them.
    pub two_values: bool,
    /// An identifier that repeats is not proposed as a unit.
    pub no_unit: bool,
    /// Protected attributes to omit, because their rules cost too much beside the others: the loss
    /// (ncp) with the rule on a part of the rows, where a release was found at all.
    pub costly: Vec<(String, Option<f64>)>,
    /// Protected attributes to omit, because combinations of values that do not occur tell too much
    /// beside them: the people whom no release with them hides.
    pub telling: Vec<(String, u64)>,
    /// Protected attributes to omit, because beside the others too few rows fit someone in every
    /// release that keeps half of the data.
    pub unfitting: Vec<String>,
    /// Whether rules also hold for the rows that no impossible combination of values excludes.
    pub consistent: bool,
    /// The descriptions of the columns in a data dictionary, by name.
    pub described: HashMap<String, Described>,
}

impl Default for ProposeOptions {
    fn default() -> Self {
        ProposeOptions {
            database: false,
            selection: None,
            format: None,
            delimiter: None,
            quote: None,
            nulls: vec![String::new()],
            formats: FoundFormats::default(),
            k: 5,
            one_row: false,
            two_values: false,
            no_unit: false,
            costly: Vec::new(),
            telling: Vec::new(),
            unfitting: Vec::new(),
            consistent: false,
            described: HashMap::new(),
        }
    }
}

/// The rows of the table.
pub(super) struct TableRows<'u> {
    pub(super) rows: u64,
    /// Where they belong to units.
    pub(super) units: Option<&'u FoundUnits>,
    /// The attributes that are protected against an attacker who knows one row of a unit.
    pub(super) one_row_of: HashSet<String>,
    /// Those of which two values are to remain possible.
    pub(super) two_values_of: HashSet<String>,
}

impl TableRows<'_> {
    /// How many can hide among one another.
    pub(super) fn people(&self) -> u64 {
        self.units.map_or(self.rows, |units| units.units)
    }
}

/// A column with all that was decided about it.
pub(super) struct Proposed<'t> {
    pub(super) facts: Facts<'t>,
    pub(super) role: ProposedRole,
    /// For quasi attributes.
    pub(super) plan: Option<Plan>,
    /// The path of its hierarchy's file.
    pub(super) file: Option<String>,
    /// How its dates are written, when not as 2024-01-31.
    pub(super) dates: Option<FoundDates>,
}
