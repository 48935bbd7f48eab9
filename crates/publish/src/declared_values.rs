//! What a policy declares of an attribute's values, held against the data: ranges and orders.

use hedgerow_policy::{Attribute, Policy, Range, ValueOrder};
use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Column, InputError, Table, Values};

/// Refuses values outside the range or the order that the policy declares.
pub(crate) fn refuse_others(policy: &Policy, table: &Table) -> Result<(), InputError> {
    for attribute in &policy.attributes {
        let Some(column) = table.column(&attribute.name) else { continue };
        if let Some(range) = &attribute.declared.range {
            refuse_outside(attribute, column, range)?;
        }
        if let Some(order) = &attribute.declared.order {
            refuse_unlisted(attribute, column, order)?;
        }
    }
    Ok(())
}

fn refuse_outside(attribute: &Attribute, column: &Column, range: &Range) -> Result<(), InputError> {
    let name = &attribute.name;
    let outside = match column.domain.values() {
        Values::Integer(values) => {
            values.iter().map(|value| Bound::Integer(*value)).find(|value| !range.contains(*value))
        }
        Values::Float(values) => values.iter().map(|value| Bound::Float(*value)).find(|value| !range.contains(*value)),
        Values::Date(values) => values.iter().map(|value| Bound::Date(*value)).find(|value| !range.contains(*value)),
        Values::Category(_) => {
            let problem = format!("`{name}` holds texts, which have no range");
            let hint = "declare its `type`, or give its texts an `order` instead";
            return Err(InputError::new(range.place.clone(), problem, hint));
        }
    };
    match outside {
        Some(value) => {
            let problem = format!("`{name}` has the value {value}, which is outside its range");
            Err(InputError::new(range.place.clone(), problem, "correct the data, or widen the range"))
        }
        None => Ok(()),
    }
}

fn refuse_unlisted(attribute: &Attribute, column: &Column, order: &ValueOrder) -> Result<(), InputError> {
    let mut texts = (0..column.domain.present() as u32).map(|code| column.domain.text(code));
    match texts.find(|text| !order.values.contains(text)) {
        Some(text) => {
            let problem = format!("`{}` has the value {text:?}, which its order does not list", attribute.name);
            let hint = "list every value of the data, lowest first, exactly as it stands there";
            Err(InputError::new(order.place.clone(), problem, hint))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn refused(declared: &str, cells: &[&str]) -> Option<String> {
        let text = format!(
            "[source]\npath = \"p.csv\"\n[attributes]\nx = {{ role = \"quasi\", {declared} }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 3 }}\n"
        );
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
        let rows: Vec<Vec<&str>> = cells.iter().map(|cell| vec![*cell]).collect();
        refuse_others(&policy, &Table::from_texts(&["x"], &rows)).err().map(|error| error.problem)
    }

    #[test]
    fn values_lie_within_their_range() {
        assert_eq!(refused("range = [0, 120]", &["0", "120", ""]), None);
        assert!(refused("range = [0, 120]", &["0", "121"]).unwrap().contains("the value 121, which is outside"));
        assert!(refused("range = [0, inf]", &["-0.5", "1e9"]).unwrap().contains("-0.5"));
        assert!(refused("range = [2020-01-01, 2020-12-31]", &["2021-01-01"]).unwrap().contains("2021-01-01"));
        assert!(refused("range = [0, 9]", &["a", "b"]).unwrap().contains("holds texts"));
        assert!(refused("range = [0, 9]", &["2021-01-01"]).is_some(), "a date is not a number");
    }

    #[test]
    fn texts_are_listed_in_their_order() {
        assert_eq!(refused("order = [\"low\", \"mid\", \"high\"]", &["high", "low", ""]), None);
        assert!(
            refused("order = [\"low\", \"high\"]", &["mid"])
                .unwrap()
                .contains("\"mid\", which its order does not list")
        );
    }
}
