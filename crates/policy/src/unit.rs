//! Units: which rows are about one individual, household or firm.
//!
//! A unit is declared in one of two ways: an attribute with the role `unit`, or a column named by
//! `unit` of `[source]`. Several columns together tell units apart.

use hedgerow_config::{Reader, SourceSettings, quoted};
use hedgerow_privacy::KnownRows;

use crate::attribute::Attribute;
use crate::declared::Declared;
use crate::publish::PublishSettings;
use crate::rule::Rule;
use crate::{Policy, Role};

/// Gives the role `unit` to what `[source]` names, and refuses what has no meaning with units or
/// without.
pub(crate) fn settle(
    reader: &mut Reader<'_>,
    source: &SourceSettings,
    attributes: &mut Vec<Attribute>,
    rules: &[Rule],
    publish: &PublishSettings,
) {
    for column in &source.unit {
        match attributes.iter_mut().find(|attribute| attribute.name == column.name) {
            Some(attribute) if attribute.role.is_released() => {
                let problem = format!(
                    "{} has the role {}: a column that says whom a row is about is never released as it is",
                    quoted(&column.name),
                    quoted(attribute.role.name())
                );
                let hint = format!("give it the role `unit` under [attributes], and remove {}", quoted("unit"));
                reader.refuse_place(&column.place, problem, hint);
            }
            Some(attribute) => attribute.role = Role::Unit,
            None => attributes.push(Attribute {
                name: column.name.clone(),
                role: Role::Unit,
                kind: None,
                hierarchy: None,
                declared: Declared::default(),
                coarsen: None,
                place: column.place.clone(),
            }),
        }
    }
    let has_units = attributes.iter().any(|attribute| attribute.role == Role::Unit);
    if has_units && publish.method.is_local() {
        // Units that no others are like are suppressed by these methods too.
        reader.warnings.retain(|warning| !warning.place.ends_with("publish.suppression"));
    }
    if publish.link && !has_units {
        let hint = "give the column that says whom a row is about the role `unit`, or remove `link`";
        reader.refuse_place(&publish.place, "`link = true` has no meaning without a unit", hint);
    }
    for rule in rules.iter().filter(|rule| rule.rows == KnownRows::One) {
        if has_units {
            let problem = "the attacker is taken to know one row of a unit: an attacker who knows several may find fewer \
                           units than the rule requires";
            let hint = "remove `rows = \"one\"` unless no attacker can know two rows of the same unit";
            reader.warn_place(&rule.place, problem, hint);
        } else {
            let hint = "give the column that says whom a row is about the role `unit`, or remove `rows`";
            reader.refuse_place(&rule.place, "`rows` has no meaning without a unit", hint);
        }
    }
}

impl Policy {
    /// The columns that together say whom a row is about; empty where every row is about another.
    pub fn units(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.role == Role::Unit)
    }

    /// Whether some rule holds for the rows that fit each person.
    pub fn is_consistent(&self) -> bool {
        self.rules.iter().any(|rule| rule.consistent)
    }

    pub fn has_units(&self) -> bool {
        self.units().next().is_some()
    }
}
