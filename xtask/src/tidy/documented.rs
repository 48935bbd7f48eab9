//! Documentation of the types that programs see. The facade denies `missing_docs`, but the compiler
//! does not look at what it re-exports from other crates: fields, variants and methods of such a
//! type are looked up where it is defined.

use std::collections::BTreeSet;

use super::Finding;
use crate::repo::Repo;

const FACADE: &str = "crates/hedgerow/src/";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let files: Vec<(&str, &str)> = repo.rust_files().filter(|(path, _)| path.contains("/src/")).collect();
    let facade = files.iter().filter(|(path, _)| path.starts_with(FACADE));
    let exported: BTreeSet<(&str, &str)> = facade.flat_map(|(_, text)| exported(text)).collect();
    let mut findings = Vec::new();
    for (krate, name) in exported {
        let own = format!("crates/{krate}/src/");
        let module = format!("{own}{name}.rs");
        let in_crate = |prefix: &str| {
            let defining = files.iter().filter(|(path, _)| path.starts_with(prefix));
            let found = defining.map(|(path, text)| (*path, undocumented(text, |of| of == name)));
            found.filter_map(|(path, found)| Some((path, found?))).collect::<Vec<_>>()
        };
        // A crate hands on what others define.
        let mut found = in_crate(&own);
        if found.is_empty() {
            found = in_crate("crates/");
        }
        if let Some((path, text)) = files.iter().find(|(path, _)| *path == module) {
            found = undocumented(text, |_| true).map(|found| (*path, found)).into_iter().collect();
        }
        for (path, items) in found {
            findings.extend(items.into_iter().map(|(line, item)| {
                let problem = format!("`{item}` is exported by the facade and has no documentation");
                Finding::new(path, line, problem, "say in a sentence what it is")
            }));
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

/// The names that a file of the facade re-exports, each with the crate that it names.
fn exported(text: &str) -> Vec<(&str, &str)> {
    let statements = text.split("pub use hedgerow_").skip(1).filter_map(|rest| rest.split(';').next());
    let names = |statement: &'_ str| -> Option<(usize, usize)> {
        let start = statement.find('{').or_else(|| statement.rfind("::").map(|at| at + 1))? + 1;
        Some((statement.find("::")?, start))
    };
    let mut found = Vec::new();
    for statement in statements {
        let Some((of, start)) = names(statement) else { continue };
        let listed = statement[start..].trim_end_matches('}').split(',');
        let listed = listed.filter_map(|name| name.split_whitespace().next()).filter(|name| !name.is_empty());
        found.extend(listed.map(|name| (&statement[..of], name)));
    }
    found
}

/// The public parts without documentation of the types that are meant; `None` where a file defines
/// none of them.
fn undocumented(text: &str, is_meant: impl Fn(&str) -> bool) -> Option<Vec<(usize, String)>> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut defined = BTreeSet::new();
    let mut inside: Option<(&str, &str)> = None;
    // An attribute may stand between documentation and item, and take several lines.
    let (mut is_documented, mut is_attribute) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        // The message of an error says what it is.
        is_documented |= trimmed.starts_with("///") || trimmed.starts_with("#[error(");
        is_attribute |= trimmed.starts_with("#[");
        if is_attribute || trimmed.starts_with("///") {
            is_attribute &= !trimmed.ends_with(']');
            continue;
        }
        if !line.starts_with([' ', '}']) {
            inside = None;
            if let Some((kind, name)) = opened(line).filter(|(_, name)| is_meant(name)) {
                inside = Some((kind, name));
                if kind != "impl" {
                    defined.insert(name);
                    found.extend((!is_documented).then(|| (name, index + 1, name.to_owned())));
                }
            }
        } else if let Some((kind, name)) = inside.filter(|_| is_indented_once(line)) {
            let part = part(trimmed, kind).filter(|_| !is_documented);
            found.extend(part.map(|part| (name, index + 1, format!("{name}::{part}"))));
        }
        is_documented = false;
    }
    // Methods in another file than the type belong to a type of the same name, perhaps another one.
    let own = found.into_iter().filter(|(name, ..)| defined.contains(name)).map(|(_, line, item)| (line, item));
    (!defined.is_empty()).then(|| own.collect())
}

fn is_indented_once(line: &str) -> bool {
    line.starts_with("    ") && !line.starts_with("     ")
}

/// The type that a line begins to define, or whose own methods follow.
fn opened(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '!').filter(|word| !word.is_empty());
    match (words.next()?, words.next()?) {
        ("pub", kind @ ("struct" | "enum")) => Some((kind, words.next()?)),
        ("impl", name) if !line.contains(" for ") && !line.starts_with("impl<") => Some(("impl", name)),
        ("impl", _) if !line.contains(" for ") => {
            let name = line.split_once("> ")?.1.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            Some(("impl", name))
        }
        _ => None,
    }
}

/// The public part of a type that a line begins: a field, a variant, a method or a constant.
fn part<'t>(line: &'t str, kind: &str) -> Option<&'t str> {
    let name = |text: &'t str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    match kind {
        "enum" => name(line).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())),
        "struct" => name(line.strip_prefix("pub ")?).filter(|name| !name.is_empty()),
        _ => {
            let rest = line.strip_prefix("pub ")?;
            let rest = rest.strip_prefix("const fn ").or(rest.strip_prefix("fn ")).or(rest.strip_prefix("const "))?;
            name(rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(facade: &str, inner: &str) -> Vec<String> {
        let files = [("crates/hedgerow/src/lib.rs", facade), ("crates/audit/src/finding.rs", inner)];
        check(&Repo::made_of(&files)).iter().map(ToString::to_string).collect()
    }

    const UNDOCUMENTED: &str = "/// A thing.\n#[derive(Debug)]\npub struct Thing {\n    /// Documented.\n    pub a: u64,\n    pub b: u64,\n    c: u64,\n}\n\nimpl Thing {\n    pub fn of(self) {}\n\n    fn own(self) {}\n}\n\nimpl Clone for Thing {\n    fn clone(&self) {}\n}\n\npub enum Kind {\n    One,\n}\n";

    #[test]
    fn fields_and_methods_of_an_exported_type_are_found() {
        let found = found("pub use hedgerow_audit::{Other, Thing};", UNDOCUMENTED);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/audit/src/finding.rs:6: `Thing::b`"), "{found:?}");
        assert!(found[1].starts_with("crates/audit/src/finding.rs:11: `Thing::of`"), "{found:?}");
    }

    #[test]
    fn variants_and_the_type_itself_are_found() {
        let found = found("pub use hedgerow_audit::kinds::Kind;", UNDOCUMENTED);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|found| found.contains("`Kind`")) && found[1].contains("`Kind::One`"), "{found:?}");
    }

    #[test]
    fn the_message_of_an_error_is_its_documentation_also_over_several_lines() {
        let inner = "/// Why.\npub enum Fault {\n    #[error(\n        \"lost\"\n    )]\n    Lost,\n    #[error(\"late\")]\n    Late,\n    Other,\n}\n";
        let found = found("pub use hedgerow_audit::Fault;", inner);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("finding.rs:9: `Fault::Other`"), "{found:?}");
    }

    #[test]
    fn of_an_exported_module_every_type_is_meant() {
        assert_eq!(found("pub use hedgerow_audit::finding;", UNDOCUMENTED).len(), 4);
    }

    #[test]
    fn what_is_not_exported_may_do_without() {
        assert_eq!(found("pub use hedgerow_audit::Other;\nuse hedgerow_audit::Thing;", UNDOCUMENTED), [""; 0]);
    }
}
