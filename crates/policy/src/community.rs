//! `[community]`: what others have published already. Publishing beside others is not available in this version, and
//! passing over their releases in silence would promise a protection that nobody checked.

use crate::reader::Reader;
use crate::tree::Node;
use crate::words::COMMUNITY;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Community {
    /// Directories or globs, as written.
    pub releases: Vec<String>,
}

pub(crate) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<Community> {
    let fields = reader.table(node, COMMUNITY, "[community]")?;
    let Some(field) = fields.get("releases") else { return Some(Community::default()) };
    let mut releases = Vec::new();
    for element in reader.list(field)? {
        releases.extend(reader.text(element).map(str::to_owned));
    }
    if !releases.is_empty() {
        let problem = "publishing beside other releases is not available in this version";
        let hint = "remove the list; the release will then be judged on its own, not together with these";
        reader.refuse(&field.node.at, problem, hint);
    }
    Some(Community { releases })
}
