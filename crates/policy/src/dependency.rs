//! `[[dependency]]`: which attributes determine which. Whoever knows the ones knows the other, so a
//! rule that protects it must protect them too.

use hedgerow_config::{Data, Field, Node, Reader, quoted};

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
    pub place: String,
}

/// More than anyone writes by hand.
const DEPENDENCIES_MAX: usize = 256;

pub(crate) fn read_all(reader: &mut Reader<'_>, node: &Node, context: Context<'_>) -> Vec<Dependency> {
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
    if !context.decomposed {
        let hint = "remove it, or publish with `method = \"decompose\"`";
        reader.refuse_key(&node.at, "dependencies are for the method `decompose`", hint);
        return Vec::new();
    }
    nodes.iter().filter_map(|node| read(reader, node, context)).collect()
}

fn read(reader: &mut Reader<'_>, node: &Node, context: Context<'_>) -> Option<Dependency> {
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
    Some(Dependency { from, to, place: reader.place(&node.at) })
}

fn attribute(reader: &mut Reader<'_>, field: Field<'_>, context: Context<'_>) -> Option<String> {
    let name = reader.text(field)?;
    let draft = find(reader, field, name, context.drafts?)?;
    if draft.role == Some(Role::Identifier) {
        let problem = format!("{} is an identifier: it is never released", quoted(name));
        reader.refuse(&field.node.at, problem, "remove the dependency: nobody can use it on the release");
        return None;
    }
    Some(name.to_owned())
}
