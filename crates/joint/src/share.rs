//! One custodian's rows, as they enter a run: every value as its place in the agreed domains.

use std::fmt;

use hedgerow_cuts::Axis;
use hedgerow_smc::Item;
use hedgerow_table::{Column, Domain, InputError, Table};

use crate::{Agreed, JointAttribute};

/// One custodian's rows: for each attribute the rank of every row, for each further attribute the
/// code. Never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Share {
    pub ranks: Vec<Vec<u32>>,
    pub codes: Vec<Vec<u32>>,
    /// The other released values of every row, where there are any.
    pub carried: Vec<Item>,
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({} rows)", self.rows())
    }
}

impl Share {
    pub fn rows(&self) -> usize {
        self.ranks.first().or(self.codes.first()).map_or(0, Vec::len)
    }

    /// The rows of a custodian's own table, each value looked up in the agreed domain. A column
    /// that is not there, or a value that was not agreed on, is refused with its place in `source`,
    /// since a row that is omitted without a word would not be missed.
    pub fn from_table(agreed: &Agreed, table: &Table, source: &str) -> Result<Share, InputError> {
        if agreed.attributes.len() != agreed.axes.len() + agreed.cardinalities.len() {
            let hint = "make the agreement from domains that are declared, not from a table";
            return Err(InputError::new(source, "the agreement does not say what values there can be", hint));
        }
        let mut share = Share::default();
        for (place, attribute) in agreed.attributes.iter().enumerate() {
            let codes = codes_of(attribute, table, source)?;
            match agreed.axes.get(place) {
                Some(axis) => share.ranks.push(ranks_of(axis, codes)),
                None => share.codes.push(codes),
            }
        }
        Ok(share)
    }

    /// Every row as bytes that are the same whenever its values are, whatever the order of domains:
    /// for fingerprints in the book of runs, which no other custodian sees.
    pub fn row_bytes(&self, agreed: &Agreed) -> Vec<Vec<u8>> {
        let text = |place: usize, row: usize| {
            let (code, attribute) = match agreed.axes.get(place) {
                Some(axis) => (axis.code(self.ranks[place][row]), &agreed.attributes[place]),
                None => (self.codes[place - agreed.axes.len()][row], &agreed.attributes[place]),
            };
            format!("{}\u{1f}{}\u{1e}", attribute.name, attribute.domain.text(code))
        };
        let row = |row: usize| {
            let mut bytes: Vec<u8> =
                (0..agreed.attributes.len()).flat_map(|place| text(place, row).into_bytes()).collect();
            bytes.extend(self.carried.get(row).into_iter().flatten());
            bytes
        };
        (0..self.rows()).map(row).collect()
    }
}

fn ranks_of(axis: &Axis, codes: Vec<u32>) -> Vec<u32> {
    match axis.ranks() {
        Some(ranks) => codes.into_iter().map(|code| ranks[code as usize]).collect(),
        None => codes,
    }
}

fn codes_of(attribute: &JointAttribute, table: &Table, source: &str) -> Result<Vec<u32>, InputError> {
    let JointAttribute { name, domain } = attribute;
    let Some(column) = table.column(name) else {
        let names = table.columns.iter().map(|column| column.name.as_str());
        let hint = match hedgerow_table::spelling::nearest(name, names) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "every custodian's table must have all agreed attributes".to_owned(),
        };
        return Err(InputError::new(source, format!("the table has no column `{name}`, which was agreed on"), hint));
    };
    let known: Vec<Option<u32>> =
        (0..column.domain.cardinality() as u32).map(|code| translate(column, code, domain)).collect();
    let code = |row: usize| known[column.codes.get(row) as usize].ok_or_else(|| unknown(column, row, source));
    (0..table.rows).map(code).collect()
}

/// The agreed code of a column's code.
fn translate(column: &Column, code: u32, domain: &Domain) -> Option<u32> {
    match column.domain.missing_code() {
        Some(missing) if missing == code => domain.missing_code(),
        _ => domain.code_of(&column.domain.text(code)),
    }
}

fn unknown(column: &Column, row: usize, source: &str) -> InputError {
    let place = format!("{source}: row {}, {}", row + 1, column.name);
    let text = column.text(row);
    let problem = match text.is_empty() {
        true => "no value, and missing values were not agreed on".to_owned(),
        false => format!("{text:?} is not among the values that were agreed on"),
    };
    InputError::new(place, problem, "correct the row, or agree with the other custodians on a wider domain")
}
