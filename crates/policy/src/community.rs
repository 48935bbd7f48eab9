//! `[community]`: what others have published already about the same people.

use hedgerow_privacy::Model;

use crate::rule::Rule;
use crate::words::COMMUNITY;
use hedgerow_config::Node;
use hedgerow_config::Reader;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Community {
    /// Directories or globs, as written: relative to the policy.
    pub releases: Vec<String>,
    /// Of `releases`.
    pub place: String,
}

pub(crate) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<Community> {
    let fields = reader.table(node, COMMUNITY, "[community]")?;
    let Some(field) = fields.get("releases") else { return Some(Community::default()) };
    let mut releases = Vec::new();
    for element in reader.list(field)? {
        let path = reader.text(element)?;
        if path.trim().is_empty() || path.contains('\0') {
            reader.refuse(&element.node.at, "names no release", field.hint());
            return None;
        }
        releases.push(path.to_owned());
    }
    Some(Community { releases, place: reader.place(&field.node.at) })
}

/// Releases that no rule looks at would be passed over in silence; a rule that looks at them needs some.
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
