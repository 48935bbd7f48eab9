//! `[[rule]]`: what the attacker knows, what must not be learned, and which models must hold.

use std::collections::HashSet;

use hedgerow_config::{Data, Field, Fields, Reader, TomlNode, listed, quoted};
use hedgerow_privacy::{Distance, KnownRows, Model};
use hedgerow_release::KnownValues;
use hedgerow_table::spelling::nearest;

use crate::Role;
use crate::attribute::AttributeDraft;
use crate::model;
use crate::words::{KNOWN_ROWS, RULE};

#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The attributes that the attacker knows, never empty; every quasi-identifier when the policy
    /// does not list them.
    pub know: Vec<String>,
    pub protect: Option<String>,
    /// Further attributes on the right, for a decomposition alone: what is protected is the
    /// combination.
    pub also_protect: Vec<String>,
    /// Never empty.
    pub require: Vec<Model>,
    /// The place of each requirement.
    pub require_places: Vec<String>,
    /// Which rows of a unit the attacker knows, where rows belong to units.
    pub rows: KnownRows,
    /// Whether it also holds for the rows that fit a person by the combinations of values that can
    /// occur.
    pub consistent: bool,
    /// Of these known attributes the rule is about some values alone.
    pub only_where: KnownValues,
    pub place: String,
}

impl Rule {
    /// All attributes on the right.
    pub fn protected(&self) -> impl Iterator<Item = &String> {
        self.protect.iter().chain(&self.also_protect)
    }
}

/// The context in which rules are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'d> {
    /// `None` when the attributes could not be read, so that names cannot be checked.
    pub(crate) drafts: Option<&'d [AttributeDraft]>,
    /// Whether several tables are published, so that any attribute but an identifier may stand on
    /// either side.
    pub(crate) decomposed: bool,
}

/// With the limit on attributes, a bound on what the rules' `know` can grow to.
const RULES_MAX: usize = 256;

pub(crate) fn read_all(reader: &mut Reader<'_>, node: &TomlNode, context: Context<'_>) -> Vec<Rule> {
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
    nodes.iter().filter_map(|node| read(reader, node, context)).collect()
}

pub(crate) const NO_RULE_HINT: &str =
    "say what must hold; for example `[[rule]]` with `require = { model = \"k-anonymity\", k = 5 }` below it";

fn read(reader: &mut Reader<'_>, node: &TomlNode, context: Context<'_>) -> Option<Rule> {
    let drafts = context.drafts;
    let fields = reader.table(node, RULE, "[[rule]]")?;
    let require = fields.get("require").and_then(|field| read_require(reader, field));
    let protect = fields.get("protect").map(|field| read_protect(reader, field, context));
    let know = match fields.get("know") {
        Some(field) => read_know(reader, field, drafts),
        None => drafts.map(|drafts| {
            let quasi = drafts.iter().filter(|draft| draft.role == Some(Role::Quasi));
            let named = quasi.map(|draft| draft.name.clone());
            // What a rule protects is not known to its attacker, whatever role it has.
            named.filter(|name| !protect.iter().flatten().flatten().any(|protected| protected == name)).collect()
        }),
    };
    if let Some(require) = &require {
        check_protect(reader, &fields, require, drafts);
    }
    if context.decomposed {
        check_sides(reader, &fields, know.as_deref());
    }
    let rows = fields.get("rows").and_then(|field| reader.choice(field, KNOWN_ROWS.iter(), "number of rows"));
    let rows = rows.and_then(KnownRows::from_name).unwrap_or_default();
    let consistent = fields.get("consistent").and_then(|field| reader.flag(field)).unwrap_or(false);
    let only_where = match fields.get("where") {
        Some(field) => read_only_where(reader, field, know.as_deref(), require.as_deref()),
        None => KnownValues::new(),
    };
    let (mut require, require_places): (Vec<Model>, Vec<String>) = require?.into_iter().unzip();
    // A `protect` that was refused leaves no rule.
    let mut protect = protect.map_or(Some(Vec::new()), |names| names)?.into_iter();
    let (protect, also_protect): (Option<String>, Vec<String>) = (protect.next(), protect.collect());
    if let Some(protect) = protect.as_ref().filter(|_| also_protect.is_empty()) {
        compare_in_order(&mut require, protect, drafts);
    }
    let place = reader.place(&node.at);
    Some(Rule { know: know?, protect, also_protect, require, require_places, rows, consistent, only_where, place })
}

/// Gives the ordered distance the order that the protected attribute declares.
fn compare_in_order(require: &mut [Model], protect: &str, drafts: Option<&[AttributeDraft]>) {
    let draft = drafts.into_iter().flatten().find(|draft| draft.name == protect);
    let Some(declared) = draft.and_then(|draft| draft.declared.order.as_ref()) else { return };
    for model in require {
        let model = match model {
            Model::Conditional { model, .. } => model,
            model => model,
        };
        if let Model::TCloseness { distance: Distance::Ordered, order, .. } = model {
            *order = Some(declared.values.clone());
        }
    }
}

/// A decomposition needs something on both sides of every rule.
fn check_sides(reader: &mut Reader<'_>, fields: &Fields<'_>, know: Option<&[String]>) {
    if fields.get("protect").is_none() {
        let hint = "say what must not be learned: `protect = \"disease\"`";
        reader.refuse_key(fields.at, "under `decompose` a rule must protect something", hint);
    }
    if fields.get("know").is_none() && know.is_some_and(<[String]>::is_empty) {
        let hint = "list what the attacker knows, `know = [\"age\"]`, or give these attributes the role `quasi`";
        let problem = "the rule names nothing that the attacker knows: no attribute is quasi, and `know` is absent";
        reader.refuse_key(fields.at, problem, hint);
    }
}

fn read_require(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Vec<(Model, String)>> {
    let nodes: Vec<&TomlNode> = match &field.node.data {
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

fn read_protect(reader: &mut Reader<'_>, field: Field<'_>, context: Context<'_>) -> Option<Vec<String>> {
    let elements = match field.node.data {
        Data::List(_) if context.decomposed => reader.list(field)?,
        Data::List(_) => {
            let hint = "a rule protects one attribute; write one `[[rule]]` for each";
            reader.refuse(&field.node.at, "expected a text in quotes, found a list", hint);
            return None;
        }
        Data::Table(_) => {
            let hint =
                "name the attribute; values of it that matter alone stand beside the model, as `having = [\"HIV\"]`";
            reader.refuse(&field.node.at, "expected a text in quotes, found a table", hint);
            return None;
        }
        _ => vec![field],
    };
    if elements.is_empty() {
        reader.refuse(&field.node.at, "the list is empty: nothing would be protected", field.hint());
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for element in elements {
        let name = reader.text(element)?;
        if names.iter().any(|known| known == name) {
            reader.refuse(&element.node.at, format!("{} is listed twice", quoted(name)), "list every attribute once");
        }
        let draft = find(reader, element, name, context.drafts?)?;
        check_role(reader, element, draft, context.decomposed);
        names.push(name.to_owned());
    }
    Some(names)
}

fn check_role(reader: &mut Reader<'_>, field: Field<'_>, draft: &AttributeDraft, decomposed: bool) {
    let name = &draft.name;
    match draft.role {
        Some(Role::Identifier) => {
            let problem = format!("{} is an identifier: it is never released", quoted(name));
            reader.refuse(&field.node.at, problem, "protect an attribute with the role `sensitive` or `plain`");
        }
        Some(Role::Unit) => {
            let problem = format!("{} says whom a row is about: it is never released", quoted(name));
            reader.refuse(&field.node.at, problem, "protect an attribute with the role `sensitive` or `plain`");
        }
        // The model counts the released values, so they must be those of the source.
        Some(Role::Quasi) if !decomposed => {
            let problem = format!("{} has the role `quasi`: generalized, it cannot be protected as well", quoted(name));
            reader.refuse(&field.node.at, problem, format!("give {} the role `sensitive`", quoted(name)));
        }
        Some(Role::Quasi | Role::Sensitive | Role::Plain) | None => {}
    }
}

fn read_know(reader: &mut Reader<'_>, field: Field<'_>, drafts: Option<&[AttributeDraft]>) -> Option<Vec<String>> {
    let elements = reader.list(field)?;
    if elements.is_empty() {
        let hint = "omit `know` for every quasi-identifier, or list what the attacker knows";
        reader.refuse(&field.node.at, "the list is empty: an attacker knows at least one attribute", hint);
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
        if let Some(role @ (Role::Identifier | Role::Unit)) = draft.role {
            let what = if role == Role::Unit { "a unit" } else { "an identifier" };
            let problem = format!("{} is {what}: it is never released", quoted(name));
            let hint = "a rule looks at classes over released attributes; remove it, or give it the role `quasi`";
            reader.refuse(&element.node.at, problem, hint);
        }
        know.push(name.to_owned());
    }
    Some(know)
}

/// The known values that the rule is about. Only what the attacker knows can be among them.
fn read_only_where(
    reader: &mut Reader<'_>,
    field: Field<'_>,
    know: Option<&[String]>,
    require: Option<&[(Model, String)]>,
) -> KnownValues {
    let mut found = KnownValues::new();
    for (name, entry) in reader.entries(field) {
        if know.is_some_and(|know| know.iter().all(|known| known != name)) {
            let problem = format!("{} is not among what the attacker of this rule knows", quoted(name));
            reader.refuse_key(&entry.node.at, problem, format!("add {} to `know`, or remove it here", quoted(name)));
            continue;
        }
        if let Some(values) = model::read_values(reader, entry) {
            found.insert(name.to_owned(), values);
        }
    }
    if found.is_empty() && matches!(&field.node.data, Data::Table(entries) if entries.is_empty()) {
        reader.refuse(&field.node.at, "no attribute: the rule would be about nothing", field.hint());
    }
    if let Some((model, _)) = require.into_iter().flatten().find(|(model, _)| !model.takes_known_values()) {
        let problem =
            format!("{} is about all classes together, and not about some known values", quoted(model.name()));
        reader.refuse_key(&field.node.at, problem, "remove `where`, or require it in a rule of its own");
    }
    found
}

/// The requirements of the models and of `know` on the protected attribute.
fn check_protect(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    require: &[(Model, String)],
    drafts: Option<&[AttributeDraft]>,
) {
    let Some(field) = fields.get("protect") else {
        if let Some((model, _)) = require.iter().find(|(model, _)| model.needs_protect()) {
            let sensitive = drafts.into_iter().flatten().find(|draft| draft.role == Some(Role::Sensitive));
            let name = sensitive.map_or("disease", |draft| draft.name.as_str());
            let problem = format!("{} needs `protect`: the attribute whose values it counts", quoted(model.name()));
            reader.refuse_key(fields.at, problem, format!("for example `protect = {name:?}`"));
        }
        return;
    };
    let protected: Vec<&str> = match &field.node.data {
        Data::List(nodes) => nodes.iter().filter_map(text).collect(),
        _ => text(field.node).into_iter().collect(),
    };
    let known = match fields.get("know").map(|field| &field.node.data) {
        Some(Data::List(nodes)) => nodes.as_slice(),
        _ => &[],
    };
    for node in known.iter().filter(|node| text(node).is_some_and(|name| protected.contains(&name))) {
        let problem = format!("{} is known and protected in the same rule", quoted(text(node).unwrap_or_default()));
        reader.refuse(&node.at, problem, "what the attacker knows cannot be kept from them: remove it from `know`");
    }
    let Data::Text(name) = &field.node.data else { return };
    let draft = drafts.into_iter().flatten().find(|draft| draft.name == *name);
    let by_hierarchy =
        |model: &Model| matches!(model.unconditional(), Model::TCloseness { distance: Distance::Hierarchical, .. });
    if draft.is_some_and(|draft| !draft.hierarchy_given) && require.iter().any(|(model, _)| by_hierarchy(model)) {
        let problem = format!("the hierarchical distance needs a hierarchy, and {} has none", quoted(name));
        let hint = format!(
            "add one in `[attributes]`: `{} = {{ role = \"sensitive\", hierarchy = \"FILE.csv\" }}`",
            hedgerow_config::key_text(name)
        );
        reader.refuse(&field.node.at, problem, hint);
    }
}

fn text(node: &TomlNode) -> Option<&str> {
    match &node.data {
        Data::Text(text) => Some(text),
        _ => None,
    }
}

pub(crate) fn find<'d>(
    reader: &mut Reader<'_>,
    field: Field<'_>,
    name: &str,
    drafts: &'d [AttributeDraft],
) -> Option<&'d AttributeDraft> {
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
