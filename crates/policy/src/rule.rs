//! `[[rule]]`: what the attacker knows, what must not be learnt, and which models must hold.

use std::collections::HashSet;

use hedgerow_privacy::{Distance, Model};

use crate::attribute::{Draft, Role};
use crate::model;
use crate::position::quoted;
use crate::reader::{Field, Fields, Reader};
use crate::tree::{Data, Node};
use crate::words::{RULE, listed, nearest};

#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What the attacker knows, never empty; every quasi attribute when the policy does not say.
    pub know: Vec<String>,
    pub protect: Option<String>,
    /// Never empty.
    pub require: Vec<Model>,
    /// The place of each requirement.
    pub require_places: Vec<String>,
    pub place: String,
}

/// With the limit on attributes, a bound on what the rules' `know` can grow to.
const RULES_MAX: usize = 256;

/// `drafts` is `None` when the attributes could not be read, so that names cannot be checked.
pub(crate) fn read_all(reader: &mut Reader<'_>, node: &Node, drafts: Option<&[Draft]>) -> Vec<Rule> {
    let Data::List(nodes) = &node.data else {
        let problem = format!("expected a list of rules, found {}", node.type_name());
        reader.refuse(&node.at, problem, "rules begin with two brackets: `[[rule]]`");
        return Vec::new();
    };
    if nodes.is_empty() {
        reader.refuse(&node.at, "no rule: nothing would be protected", NO_RULE_HINT);
    }
    if nodes.len() > RULES_MAX {
        let problem = format!("{} rules; at most {RULES_MAX} are possible", nodes.len());
        reader.refuse_key(&node.at, problem, "one rule may require several models: join rules with the same `know`");
        return Vec::new();
    }
    nodes.iter().filter_map(|node| read(reader, node, drafts)).collect()
}

pub(crate) const NO_RULE_HINT: &str =
    "say what must hold; for example `[[rule]]` with `require = { model = \"k-anonymity\", k = 5 }` below it";

fn read(reader: &mut Reader<'_>, node: &Node, drafts: Option<&[Draft]>) -> Option<Rule> {
    let fields = reader.table(node, RULE, "[[rule]]")?;
    let require = fields.get("require").and_then(|field| read_require(reader, field));
    let protect = fields.get("protect").map(|field| read_protect(reader, field, drafts));
    let know = match fields.get("know") {
        Some(field) => read_know(reader, field, drafts),
        None => drafts.map(|drafts| {
            drafts.iter().filter(|draft| draft.role == Some(Role::Quasi)).map(|draft| draft.name.clone()).collect()
        }),
    };
    if let Some(require) = &require {
        check_protect(reader, &fields, require, drafts);
    }
    let (require, require_places) = require?.into_iter().unzip();
    // A `protect` that was refused leaves no rule.
    let protect = protect.map_or(Some(None), |name| name.map(Some))?;
    Some(Rule { know: know?, protect, require, require_places, place: reader.place(&node.at) })
}

fn read_require(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Vec<(Model, String)>> {
    let nodes: Vec<&Node> = match &field.node.data {
        Data::List(nodes) => nodes.iter().collect(),
        _ => vec![field.node],
    };
    if nodes.is_empty() {
        reader.refuse(&field.node.at, "the list is empty: the rule would require nothing", field.hint());
        return None;
    }
    let models: Vec<Option<(Model, String)>> =
        nodes.iter().map(|node| model::read(reader, node).map(|model| (model, reader.place(&node.at)))).collect();
    models.into_iter().collect()
}

fn read_protect(reader: &mut Reader<'_>, field: Field<'_>, drafts: Option<&[Draft]>) -> Option<String> {
    if let Data::List(_) = field.node.data {
        let hint = "a rule protects one attribute; write one `[[rule]]` for each";
        reader.refuse(&field.node.at, "expected a text in quotes, found a list", hint);
        return None;
    }
    let name = reader.text(field)?;
    let draft = find(reader, field, name, drafts?)?;
    match draft.role {
        Some(Role::Identifier) => {
            let problem = format!("{} is an identifier: it is never released", quoted(name));
            reader.refuse(&field.node.at, problem, "protect an attribute with the role `sensitive` or `plain`");
        }
        // The model counts the released values, so they must be those of the source.
        Some(Role::Quasi) => {
            let problem = format!("{} has the role `quasi`: generalised, it cannot be protected as well", quoted(name));
            reader.refuse(&field.node.at, problem, format!("give {} the role `sensitive`", quoted(name)));
        }
        Some(Role::Sensitive | Role::Plain) | None => {}
    }
    Some(name.to_owned())
}

fn read_know(reader: &mut Reader<'_>, field: Field<'_>, drafts: Option<&[Draft]>) -> Option<Vec<String>> {
    let elements = reader.list(field)?;
    if elements.is_empty() {
        let hint = "leave `know` out for every quasi attribute, or list what the attacker knows";
        reader.refuse(&field.node.at, "the list is empty: an attacker who knows nothing is no attacker", hint);
        return None;
    }
    let mut know = Vec::new();
    let mut seen = HashSet::new();
    for element in elements {
        let Some(name) = reader.text(element) else { continue };
        if !seen.insert(name) {
            reader.refuse(&element.node.at, format!("{} is listed twice", quoted(name)), "list every attribute once");
            continue;
        }
        let Some(draft) = drafts.and_then(|drafts| find(reader, element, name, drafts)) else { continue };
        if draft.role == Some(Role::Identifier) {
            let problem = format!("{} is an identifier: it is never released", quoted(name));
            let hint = "a rule looks at classes over released attributes; remove it, or give it the role `quasi`";
            reader.refuse(&element.node.at, problem, hint);
        }
        know.push(name.to_owned());
    }
    Some(know)
}

/// What the models and `know` ask of the protected attribute.
fn check_protect(reader: &mut Reader<'_>, fields: &Fields<'_>, require: &[(Model, String)], drafts: Option<&[Draft]>) {
    let Some(field) = fields.get("protect") else {
        if let Some((model, _)) = require.iter().find(|(model, _)| model.needs_protect()) {
            let sensitive = drafts.into_iter().flatten().find(|draft| draft.role == Some(Role::Sensitive));
            let name = sensitive.map_or("disease", |draft| draft.name.as_str());
            let problem = format!("{} needs `protect`: the attribute whose values it counts", quoted(model.name()));
            reader.refuse_key(fields.at, problem, format!("for example `protect = {name:?}`"));
        }
        return;
    };
    let Data::Text(name) = &field.node.data else { return };
    if let Some(Data::List(known)) = fields.get("know").map(|field| &field.node.data)
        && let Some(node) = known.iter().find(|node| matches!(&node.data, Data::Text(text) if text == name))
    {
        let problem = format!("{} is known and protected in the same rule", quoted(name));
        reader.refuse(&node.at, problem, "what the attacker knows cannot be kept from them: remove it from `know`");
    }
    let draft = drafts.into_iter().flatten().find(|draft| draft.name == *name);
    let by_hierarchy = |model: &Model| matches!(model, Model::TCloseness { distance: Distance::Hierarchical, .. });
    if draft.is_some_and(|draft| !draft.hierarchy_given) && require.iter().any(|(model, _)| by_hierarchy(model)) {
        let problem = format!("the hierarchical distance needs a hierarchy, and {} has none", quoted(name));
        let hint = format!(
            "add one in `[attributes]`: `{} = {{ role = \"sensitive\", hierarchy = \"FILE.csv\" }}`",
            crate::tree::key_text(name)
        );
        reader.refuse(&field.node.at, problem, hint);
    }
}

fn find<'d>(reader: &mut Reader<'_>, field: Field<'_>, name: &str, drafts: &'d [Draft]) -> Option<&'d Draft> {
    let found = drafts.iter().find(|draft| draft.name == name);
    if found.is_none() {
        let names = || drafts.iter().map(|draft| draft.name.as_str());
        let near = if reader.is_full() { None } else { nearest(name, names()) };
        let hint = match near {
            Some(near) => format!("did you mean {}?", quoted(near)),
            None if reader.is_full() => String::new(),
            None => format!("attributes of this policy: {}", listed(names())),
        };
        reader.refuse(&field.node.at, format!("unknown attribute {}", quoted(name)), hint);
    }
    found
}
