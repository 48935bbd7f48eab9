//! A policy's declarations about an attribute's values, compared with the data: ranges and orders.

use hedgerow_policy::{Attribute, Policy, Range, Role, ValueOrder};
use hedgerow_table::date::Date;
use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Codes, Column, Domain, Hierarchy, InputError, Kind, Table, TableError, Values};

/// The most values of one declared attribute: as many cells of a vector custodians may have to sum.
const VALUES_MAX: i64 = 1 << 20;

/// A table without rows, whose columns have every value that the policy declares: what custodians
/// who may not show each other their rows can agree on. The missing value is always one of them.
///
/// A domain is declared by a `range` of whole numbers or dates, by an `order` of texts, or by the
/// leaves of a hierarchy file.
pub fn declared_table(policy: &Policy) -> Result<Table, TableError> {
    let judged = |attribute: &&Attribute| {
        let protected = || policy.rules.iter().any(|rule| rule.protect.as_deref() == Some(attribute.name.as_str()));
        attribute.role == Role::Quasi || protected()
    };
    let mut columns = Vec::new();
    for attribute in policy.attributes.iter().filter(judged) {
        if let Some(coarsening) = &attribute.coarsen {
            let problem = format!("`{}`: custodians who publish together do not coarsen values", attribute.name);
            let hint = "coarsen them in every custodian's source, and remove `coarsen`";
            return Err(InputError::new(coarsening.place.clone(), problem, hint).into());
        }
        let domain = declared_domain(attribute, &policy.source.nulls)?;
        let codes = Codes::from_iter(domain.cardinality(), []);
        columns.push(Column { name: attribute.name.clone(), domain, codes });
    }
    let header = policy.attributes.iter().map(|attribute| attribute.name.clone()).collect();
    Ok(Table { columns, rows: 0, header, warnings: Vec::new() })
}

fn declared_domain(attribute: &Attribute, nulls: &[String]) -> Result<Domain, TableError> {
    let name = &attribute.name;
    let refuse = |place: &str, problem: String, hint: &str| Err(InputError::new(place, problem, hint).into());
    if let Some(range) = &attribute.declared.range {
        let values = match (range.low, range.high, attribute.kind) {
            (Some(Bound::Integer(low)), Some(Bound::Integer(high)), None | Some(Kind::Integer))
                if high.saturating_sub(low) < VALUES_MAX =>
            {
                Values::Integer((low..=high).collect())
            }
            (Some(Bound::Date(low)), Some(Bound::Date(high)), _)
                if i64::from(high.0) - i64::from(low.0) < VALUES_MAX =>
            {
                Values::Date((low.0..=high.0).map(Date).collect())
            }
            _ => {
                let problem = format!("`{name}`: the range does not list its values");
                let hint = "custodians who publish together need whole numbers or dates, both ends given, and at most a \
                            million values";
                return refuse(&range.place, problem, hint);
            }
        };
        return Ok(Domain::new(values, true));
    }
    let texts = match (&attribute.declared.order, &attribute.hierarchy) {
        (Some(order), _) => Some(order.values.clone()),
        (None, Some((spec, place))) => Hierarchy::declared_leaves(spec, name, place, nulls)?,
        (None, None) => None,
    };
    let Some(mut texts) = texts else {
        let problem = format!("`{name}`: nothing says what values there can be");
        let hint = "give a `range` of whole numbers or dates, an `order` that lists all texts, or a hierarchy file: custodians \
                    must agree on values without looking at rows";
        return refuse(&attribute.place, problem, hint);
    };
    texts.sort_unstable();
    texts.dedup();
    match Domain::from_texts(&texts, true, attribute.kind.or(Some(Kind::Category))) {
        Ok((domain, _)) => Ok(domain),
        Err(place) => {
            let problem = format!("`{name}`: the declared value {:?} does not fit its type", texts[place]);
            refuse(&attribute.place, problem, "correct the value, or the `type`")
        }
    }
}

/// Refuses values outside the range or the order that the policy declares.
pub fn refuse_others(policy: &Policy, table: &Table) -> Result<(), InputError> {
    for attribute in &policy.attributes {
        let Some(column) = table.column(&attribute.name) else { continue };
        // Coarser values were compared with the range before they were coarsened.
        if attribute.coarsen.is_none() {
            refuse_outside_of(attribute, &column.domain)?;
        }
        if let Some(order) = &attribute.declared.order {
            refuse_unlisted(attribute, column, order)?;
        }
    }
    Ok(())
}

/// Refuses values outside the declared range, where there is one.
pub fn refuse_outside_of(attribute: &Attribute, domain: &Domain) -> Result<(), InputError> {
    attribute.declared.range.as_ref().map_or(Ok(()), |range| refuse_outside(attribute, domain, range))
}

fn refuse_outside(attribute: &Attribute, domain: &Domain, range: &Range) -> Result<(), InputError> {
    let name = &attribute.name;
    let outside = match domain.values() {
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
