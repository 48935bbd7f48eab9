//! `[[dependency]]`: which attributes determine which. An attacker who knows the ones knows the
//! other, so rules are judged with what is known closed under dependencies.

use hedgerow_config::{Data, Field, Reader, TomlNode, quoted};

use crate::Role;
use crate::rule::{Context, find};
use crate::words::DEPENDENCY;

/// `from → to`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// Never empty.
    pub from: Vec<String>,
    /// Not among `from`.
    pub to: String,
    /// Why it may be released all the same, where the publisher accepts that.
    pub accept: Option<String>,
    pub place: String,
}

/// More than anyone writes by hand.
const DEPENDENCIES_MAX: usize = 256;

pub(crate) fn read_all(reader: &mut Reader<'_>, node: &TomlNode, context: Context<'_>) -> Vec<Dependency> {
    let Data::List(nodes) = &node.data else {
        let problem = format!("expected a list of dependencies, found {}", node.type_name());
        reader.refuse(&node.at, problem, "dependencies begin with two brackets: `[[dependency]]`");
        return Vec::new();
    };
    if nodes.len() > DEPENDENCIES_MAX {
        let problem = format!("{} dependencies; at most {DEPENDENCIES_MAX} are possible", nodes.len());
        reader.refuse_key(&node.at, problem, "name those that an attacker knows and that a rule is about");
        return Vec::new();
    }
    nodes.iter().filter_map(|node| read(reader, node, context)).collect()
}

fn read(reader: &mut Reader<'_>, node: &TomlNode, context: Context<'_>) -> Option<Dependency> {
    let fields = reader.table(node, DEPENDENCY, "[[dependency]]")?;
    let from_field = fields.get("from")?;
    let elements = match from_field.node.data {
        Data::List(_) => reader.list(from_field)?,
        _ => vec![from_field],
    };
    if elements.is_empty() {
        reader.refuse(&from_field.node.at, "the list is empty: nothing determines nothing", from_field.hint());
        return None;
    }
    let mut from = Vec::new();
    for element in elements {
        from.push(attribute(reader, element, context)?);
    }
    let to_field = fields.get("to")?;
    let to = attribute(reader, to_field, context)?;
    if from.contains(&to) {
        let problem = format!("{} stands on both sides", quoted(&to));
        reader.refuse(&to_field.node.at, problem, "an attribute determines itself anyway: remove it from `from`");
        return None;
    }
    let accept = match fields.get("accept") {
        Some(field) => Some(reason(reader, field)?),
        None => None,
    };
    Some(Dependency { from, to, accept, place: reader.place(&node.at) })
}

/// The manifest and the report show it, so it says something, and not too much.
fn reason(reader: &mut Reader<'_>, field: Field<'_>) -> Option<String> {
    let reason = reader.text(field)?.trim();
    if reason.is_empty() || reason.len() > REASON_MAX {
        let problem = format!("expected a reason of 1 to {REASON_MAX} bytes, found {}", reason.len());
        reader.refuse(&field.node.at, problem, field.hint());
        return None;
    }
    Some(reason.to_owned())
}

const REASON_MAX: usize = 1000;

fn attribute(reader: &mut Reader<'_>, field: Field<'_>, context: Context<'_>) -> Option<String> {
    let name = reader.text(field)?;
    let draft = find(reader, field, name, context.drafts?)?;
    if let Some(role @ (Role::Identifier | Role::Unit)) = draft.role {
        let what = if role == Role::Unit { "a unit" } else { "an identifier" };
        let problem = format!("{} is {what}: it is never released", quoted(name));
        reader.refuse(&field.node.at, problem, "remove the dependency: it does not apply to the release");
        return None;
    }
    Some(name.to_owned())
}
