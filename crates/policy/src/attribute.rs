//! `[attributes]`: what each column is, in the order of the policy.

use std::path::Path;
use std::rc::Rc;

use hedgerow_config::{At, Data, Field, Reader, TomlNode, key_text, quoted};
use hedgerow_table::{Coarsening, HierarchySpec, Kind, Way};

use crate::Role;
use crate::coarsen;
use crate::declared::{self, Declared};
use crate::hierarchy;
use crate::words::{ATTRIBUTE, ROLES, TYPES};

#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub role: Role,
    /// As declared by `type`; `None` means inferred.
    pub kind: Option<Kind>,
    /// With its place. A quasi attribute without one has the value, then `*`.
    pub hierarchy: Option<(HierarchySpec, String)>,
    /// Range, order and date format, and whether values may single out rows.
    pub declared: Declared,
    /// How its values become coarser before anything else is done with them.
    pub coarsen: Option<Coarsening>,
    pub place: String,
}

/// More columns than any table we were shown, and a bound on the work that rules can require.
const ATTRIBUTES_MAX: usize = 4096;

/// An attribute as far as it could be read, so that rules can be checked against it even when
/// something is wrong.
#[derive(Debug)]
pub(crate) struct AttributeDraft {
    pub(crate) name: String,
    /// `None` when it was given wrongly.
    pub(crate) role: Option<Role>,
    kind: Option<Kind>,
    hierarchy: Option<(HierarchySpec, String)>,
    pub(crate) hierarchy_given: bool,
    pub(crate) declared: Declared,
    pub(crate) coarsen: Option<Coarsening>,
    pub(crate) at: Rc<At>,
}

impl AttributeDraft {
    pub(crate) fn finish(self, reader: &Reader<'_>) -> Option<Attribute> {
        let AttributeDraft { name, role, kind, hierarchy, declared, coarsen, at, .. } = self;
        Some(Attribute { name, role: role?, kind, hierarchy, declared, coarsen, place: reader.place(&at) })
    }
}

/// `None` when there is nothing that rules could be checked against.
///
/// `decomposed`: the rules alone say what is known and what is protected, so that no role need be
/// quasi.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    node: &TomlNode,
    folder: &Path,
    decomposed: bool,
) -> Option<Vec<AttributeDraft>> {
    let Data::Table(entries) = &node.data else {
        let problem = format!("expected a table, found {}", node.type_name());
        reader.refuse(&node.at, problem, "for example `[attributes]` with `age = { role = \"quasi\" }` below it");
        return None;
    };
    if entries.is_empty() {
        let hint = "describe every column to be read; for example `age = { role = \"quasi\" }`";
        reader.refuse_key(&node.at, "no attribute is described", hint);
        return None;
    }
    if entries.len() > ATTRIBUTES_MAX {
        let problem = format!("{} attributes; at most {ATTRIBUTES_MAX} are possible", entries.len());
        reader.refuse_key(&node.at, problem, "omit the columns that are not to be released");
        return None;
    }
    let drafts: Vec<AttributeDraft> = entries.iter().map(|(name, node)| read_one(reader, name, node, folder)).collect();
    if !decomposed && drafts.iter().all(|draft| draft.role.is_some_and(|role| role != Role::Quasi)) {
        let problem = "no attribute has the role `quasi`: an attacker would know nothing to look people up by";
        let hint = "give the role `quasi` to what others may know of a person, such as age, sex and place";
        reader.refuse_key(&node.at, problem, hint);
    }
    Some(drafts)
}

fn read_one(reader: &mut Reader<'_>, name: &str, node: &TomlNode, folder: &Path) -> AttributeDraft {
    let mut draft = AttributeDraft {
        name: name.to_owned(),
        role: None,
        kind: None,
        hierarchy: None,
        hierarchy_given: false,
        declared: Declared::default(),
        coarsen: None,
        at: node.at.clone(),
    };
    if let Data::Text(text) = &node.data {
        let role = Role::from_name(text).unwrap_or(Role::Quasi);
        let hint = format!("write `{} = {{ role = \"{}\" }}`", key_text(name), role.name());
        reader.refuse(&node.at, "expected a table, found a text", hint);
        return draft;
    }
    if let Some(inner) = dotted_name(node) {
        let hint = format!("a name with a dot is written in quotes: `\"{name}.{inner}\"`");
        reader.refuse_key(&node.at, "expected the description of an attribute, found another table", hint);
        return draft;
    }
    let Some(fields) = reader.table(node, ATTRIBUTE, &format!("{} = {{ role = \"quasi\" }}", key_text(name))) else {
        return draft;
    };
    let role = fields.get("role").and_then(|field| reader.choice(field, ROLES.iter(), "role"));
    draft.role = role.and_then(Role::from_name);
    let kind = fields.get("type").and_then(|field| reader.choice(field, TYPES.iter(), "type"));
    draft.kind = kind.and_then(Kind::from_name);
    draft.declared = declared::read(reader, &fields, draft.role, &mut draft.kind);
    if let Some(field) = fields.get("hierarchy") {
        draft.hierarchy_given = true;
        let spec = hierarchy::read(reader, field, draft.kind, folder);
        draft.hierarchy = spec.map(|spec| (spec, reader.place(&field.node.at)));
    }
    if let Some(field) = fields.get("coarsen") {
        let spec = draft.hierarchy.as_ref().map(|(spec, _)| spec);
        draft.coarsen = coarsen::read(reader, field, draft.role, draft.kind, spec);
        if matches!(draft.coarsen, Some(Coarsening { way: Way::Level(..), .. })) {
            // The hierarchy has done its work: what is left has the values of the level.
            draft.hierarchy = None;
            draft.hierarchy_given = false;
        }
    }
    if let Some(field) = fields.get("hierarchy").filter(|_| draft.hierarchy.is_some()) {
        check_role(reader, field, draft.role);
    }
    draft
}

/// `capital.gain = { role = … }` is a table `capital` with a key `gain` in TOML; the user meant a
/// column's name.
fn dotted_name(node: &TomlNode) -> Option<&str> {
    let Data::Table(entries) = &node.data else { return None };
    let known = |name: &str| ATTRIBUTE.iter().any(|word| word.name == name);
    let is_table = |node: &TomlNode| matches!(node.data, Data::Table(_));
    match entries.as_slice() {
        [(name, inner), ..] if is_table(inner) && !entries.iter().any(|(name, _)| known(name)) => Some(name),
        _ => None,
    }
}

fn check_role(reader: &mut Reader<'_>, field: Field<'_>, role: Option<Role>) {
    let why = match role {
        Some(Role::Identifier) => "is never released",
        Some(Role::Plain) => "is released as it is",
        Some(Role::Unit) => "is never released as it is",
        Some(Role::Quasi | Role::Sensitive) | None => return,
    };
    let role = role.map(Role::name).unwrap_or_default();
    let problem = format!("an attribute with the role {} {why}, so it has no use for a hierarchy", quoted(role));
    let hint = "remove the hierarchy; or give the role `quasi` to generalize it, or `coarsen = { level = 1 }` to release a level of it";
    reader.refuse_key(&field.node.at, problem, hint);
}
