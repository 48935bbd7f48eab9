//! `[community]`: what others have published already about the same people.

use hedgerow_config::{Field, Reader, TomlNode};
use hedgerow_privacy::Model;
use hedgerow_release::JointShare;
use hedgerow_release::spelling::Spelling;

use crate::rule::{Context, Rule, find};
use crate::words::COMMUNITY;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Community {
    /// Directories or globs, as written: relative to the policy.
    pub releases: Vec<String>,
    /// The mapping of their texts to ours, by attribute, in the order of the policy.
    pub values: Vec<ValueMapping>,
    /// Shares of people that relate attributes of several releases.
    pub joint: Vec<JointShare>,
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

pub(crate) fn read(reader: &mut Reader<'_>, node: &TomlNode, context: Context<'_>) -> Option<Community> {
    let fields = reader.table(node, COMMUNITY, "[community]")?;
    let values = match fields.get("values") {
        Some(field) => read_values(reader, field, context),
        None => Vec::new(),
    };
    let joint = match fields.get("joint") {
        Some(field) => read_joint(reader, field),
        None => Vec::new(),
    };
    let Some(field) = fields.get("releases") else { return Some(Community { values, joint, ..Community::default() }) };
    let mut releases = Vec::new();
    for element in reader.list(field)? {
        let path = reader.text(element)?;
        if path.trim().is_empty() || path.contains('\0') {
            reader.refuse(&element.node.at, "names no release", field.hint());
            return None;
        }
        releases.push(path.to_owned());
    }
    Some(Community { releases, values, joint, place: reader.place(&field.node.at) })
}

/// `joint = ["P(age >= 40 | zip >= 20000) = 4/9"]`: each a share of people.
fn read_joint(reader: &mut Reader<'_>, field: Field<'_>) -> Vec<JointShare> {
    let mut joint = Vec::new();
    for element in reader.list(field).unwrap_or_default() {
        let Some(text) = reader.text(element) else { continue };
        match JointShare::parse(text) {
            Ok(share) => joint.push(share),
            Err(problem) => reader.refuse(&element.node.at, &problem, field.hint()),
        }
    }
    joint
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

/// Refuses releases that no rule compares with, which would be ignored silently, and a rule that
/// compares with releases where none is named.
pub(crate) fn validate(reader: &mut Reader<'_>, community: &Community, rules: &[Rule], node: Option<&TomlNode>) {
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
            reader.refuse_place(place, "no release to compare with: `[community]` is missing or empty", hint);
        }
        _ => {}
    }
}
