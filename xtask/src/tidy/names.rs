//! Names of types. A name that several crates define for several things tells a reader nothing:
//! `Part` was a range of rows here, a file that is not whole there, and an epoch's rows elsewhere.
//! The field's noun goes before it: `PartFile`, `EpochPart`.

use std::collections::BTreeMap;

use super::Finding;
use crate::repo::Repo;

/// In how many places a name may be defined: a concept that crates see from two sides, such as a
/// rule in a policy and the same rule bound to columns, keeps its name in both.
const PLACES_MAX: usize = 3;

/// Names that may have more places, how many, and why.
const EXEMPT: &[(&str, usize, &str)] = &[
    ("Measured", 22, "what an experiment measured: each of its files judges its own, and imports no other"),
    ("Arguments", 5, "what a program's command line holds: one for each program"),
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (path, text) in repo.rust_files().filter(|(path, _)| !is_test(path)) {
        for (line, name) in defined(text) {
            places.entry(name).or_default().push((path, line));
        }
    }
    let most = |name: &str| EXEMPT.iter().find(|exempt| exempt.0 == name).map_or(PLACES_MAX, |exempt| exempt.1);
    let over = places.iter().filter(|(name, places)| places.len() > most(name));
    over.map(|(name, places)| {
        let (path, line) = places[places.len() - 1];
        let others: Vec<String> = places.iter().rev().skip(1).map(|(path, line)| format!("{path}:{line}")).collect();
        let problem = format!("a type `{name}` is defined in {} places, over {}", places.len(), most(name));
        Finding::new(path, line, problem, format!("give it the field's noun; also in {}", others.join(", ")))
    })
    .collect()
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.split('/').any(|folder| matches!(folder, "tests" | "benches" | "fuzz"))
}

/// The types that a file defines outside its tests, each with its line. Types of an `impl` or a
/// trait have the trait's meaning and do not count.
fn defined(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().enumerate().filter_map(|(index, line)| definition(line).map(|name| (index + 1, name)))
}

fn definition(line: &str) -> Option<&str> {
    let indented = line.starts_with(char::is_whitespace);
    let mut words = line.split_whitespace().peekable();
    if words.peek()?.starts_with("pub") {
        // `pub(in crate::read)` is two words.
        let restricted = words.next()? == "pub(in";
        restricted.then(|| words.next());
    }
    match words.next()? {
        "struct" | "enum" | "trait" | "union" => {}
        "type" if !indented => {}
        _ => return None,
    }
    let rest = words.next()?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    rest.starts_with(char::is_uppercase).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&str> {
        defined(text).map(|(_, name)| name).collect()
    }

    #[test]
    fn definitions_are_found_in_every_form_and_uses_are_not() {
        let text = "struct A;\npub enum B<T> {\n    pub(crate) struct C(u8);\npub(in crate::read) trait D: E {}\n";
        assert_eq!(names(text), ["A", "B", "C", "D"]);
        assert_eq!(names("type F = u8;\n    type Output = u8;\n    type Value<'a> = u8;\n"), ["F"]);
        assert_eq!(names("use x::G;\n// struct H is gone\nlet type_of = structure;\nfn i() -> struct_ {}\n"), [""; 0]);
        assert_eq!(names("struct I;\n#[cfg(test)]\nmod tests {\n    struct J;\n}\n"), ["I"]);
    }

    #[test]
    fn a_name_is_refused_in_more_places_than_allowed() {
        let line = "struct Twin;\n";
        let files: Vec<String> = (0..=PLACES_MAX).map(|file| format!("crates/a/src/{file}.rs")).collect();
        let all: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), line)).collect();
        assert_eq!(check(&Repo::made_of(&all[1..])), []);
        let found = check(&Repo::made_of(&all));
        assert_eq!((found.len(), found[0].line), (1, 1));
        assert!(found[0].problem.contains("`Twin`"), "{}", found[0]);
    }

    #[test]
    fn tests_and_exempt_names_may_repeat() {
        let files: Vec<String> = (0..9).map(|file| format!("crates/a/tests/it/{file}.rs")).collect();
        let tests: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "struct Twin;\n")).collect();
        assert_eq!(check(&Repo::made_of(&tests)), []);
        let files: Vec<String> = (0..9).map(|file| format!("experiments/src/{file}.rs")).collect();
        let measured: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "struct Measured;\n")).collect();
        assert_eq!(check(&Repo::made_of(&measured)), []);
    }
}
