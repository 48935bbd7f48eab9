//! `[community]`: what others have published already about the same people.

use hedgerow_config::{Field, Node, Reader};
use hedgerow_privacy::Model;
use hedgerow_release::spelling::Spelling;

use crate::rule::{Context, Rule, find};
use crate::words::COMMUNITY;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Community {
    /// Directories or globs, as written: relative to the policy.
    pub releases: Vec<String>,
    /// What their texts mean in ours, by attribute, in the order of the policy.
    pub values: Vec<ValueMapping>,
    /// Of `releases`.
    pub place: String,
}

impl Community {
    /// How the others spell our values.
    pub fn spelling(&self) -> Spelling {
        let mut spelling = Spelling::default();
        for mapping in &self.values {
            for pair in &mapping.pairs {
                spelling.add(&mapping.attribute, &pair.theirs, &pair.ours);
            }
        }
        spelling
    }
}

/// Texts of an attribute that other publishers write differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueMapping {
    pub attribute: String,
    /// Several of theirs may mean one of ours.
    pub pairs: Vec<TextPair>,
}

/// A text of others, and ours that means the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPair {
    pub theirs: String,
    pub ours: String,
    pub place: String,
}

pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, context: Context<'_>) -> Option<Community> {
    let fields = reader.table(node, COMMUNITY, "[community]")?;
    let values = match fields.get("values") {
        Some(field) => read_values(reader, field, context),
        None => Vec::new(),
    };
    let Some(field) = fields.get("releases") else { return Some(Community { values, ..Community::default() }) };
    let mut releases = Vec::new();
    for element in reader.list(field)? {
        let path = reader.text(element)?;
        if path.trim().is_empty() || path.contains('\0') {
            reader.refuse(&element.node.at, "names no release", field.hint());
            return None;
        }
        releases.push(path.to_owned());
    }
    Some(Community { releases, values, place: reader.place(&field.node.at) })
}

/// `[community.values.disease]` with `"their text" = "our text"` below it.
fn read_values(reader: &mut Reader<'_>, field: Field<'_>, context: Context<'_>) -> Vec<ValueMapping> {
    let mut mappings = Vec::new();
    for (attribute, table) in reader.entries(field) {
        if let Some(drafts) = context.drafts
            && find(reader, table, attribute, drafts).is_none()
        {
            continue;
        }
        let mut pairs = Vec::new();
        for (theirs, field) in reader.entries(table) {
            if let Some(ours) = reader.text(field) {
                let (theirs, ours) = (theirs.to_owned(), ours.to_owned());
                pairs.push(TextPair { theirs, ours, place: reader.place(&field.node.at) });
            }
        }
        mappings.push(ValueMapping { attribute: attribute.to_owned(), pairs });
    }
    mappings
}

/// Releases that no rule looks at would be passed over in silence; a rule that looks at them needs
/// some.
pub(crate) fn hold_against_rules(reader: &mut Reader<'_>, community: &Community, rules: &[Rule], node: Option<&Node>) {
    let compares = |model: &Model| matches!(model, Model::CrossReleaseLDiversity { .. });
    let comparing =
        rules.iter().flat_map(|rule| rule.require.iter().zip(&rule.require_places)).find(|(m, _)| compares(m));
    match (comparing, node) {
        (None, Some(node)) if !community.releases.is_empty() => {
            let hint = "add `{ model = \"cross-release-l-diversity\", l = 2 }` to the `require` of a rule";
            reader.warn(&node.at, "no rule looks at these releases: the release is judged on its own", hint);
        }
        (Some((_, place)), _) if community.releases.is_empty() => {
            let hint = "name what is already published: `[community]` with `releases = [\"../neighbor/release\"]`";
            reader.refuse_place(place, "there is no release to compare with: `[community]` is missing or empty", hint);
        }
        _ => {}
    }
}
