//! Files that import each other in a circle. A small circle is one concept in a few files; a large
//! one means that no file of it can be understood, moved or tested without the others.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::repo::Repo;

/// The most files of a circle.
const CIRCLE_MAX: usize = 5;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, BTreeMap<Vec<String>, &str>> = BTreeMap::new();
    let mut texts: BTreeMap<&str, &str> = BTreeMap::new();
    for file in repo.files.iter().filter(|file| file.path.ends_with(".rs")) {
        let Some((root, inner)) = file.path.split_once("/src/") else { continue };
        crates.entry(root).or_default().insert(module(inner), &file.path);
        texts.insert(&file.path, file.text.as_deref().unwrap_or_default());
    }
    let mut findings = Vec::new();
    for modules in crates.values() {
        let graph: BTreeMap<&str, BTreeSet<&str>> =
            modules.iter().map(|(own, path)| (*path, imports(texts[path], own, modules, path))).collect();
        for circle in circles(&graph).into_iter().filter(|circle| circle.len() > CIRCLE_MAX) {
            let problem = format!("{} files import each other in a circle: {}", circle.len(), circle.join(", "));
            let hint =
                format!("move what they share into a file that imports none of them; at most {CIRCLE_MAX} are allowed");
            findings.push(Finding::new(circle[0], 1, problem, hint));
        }
    }
    findings
}

/// `query/mod.rs` and `query.rs` are both the module `query`; the root has no name.
fn module(inner: &str) -> Vec<String> {
    let path = inner.trim_end_matches(".rs");
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// The files of the same crate that a file names in its imports, without its tests.
fn imports<'a>(
    text: &str,
    own: &[String],
    modules: &BTreeMap<Vec<String>, &'a str>,
    own_path: &str,
) -> BTreeSet<&'a str> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for statement in code.split(';') {
        let Some(tree) = statement.rsplit_once("use ").map(|(_, tree)| tree) else { continue };
        for path in paths(tree) {
            let Some(full) = absolute(&path, own) else { continue };
            // The longest prefix that is a file; a name in the crate's root imports no file.
            let file = (1..=full.len()).rev().find_map(|length| modules.get(&full[..length]));
            found.extend(file.filter(|file| **file != own_path).copied());
        }
    }
    found
}

/// Every path of an import such as `crate::a::{b, c::d}`.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|part| part.trim().to_owned()).collect()];
    };
    let prefix: Vec<String> =
        prefix.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let (mut items, mut depth) = (vec![String::new()], 0);
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().expect("one from the start").push(letter);
    }
    let inner = items.iter().filter(|item| !item.trim().is_empty()).flat_map(|item| paths(item));
    inner.map(|path| prefix.iter().cloned().chain(path).collect()).collect()
}

/// The path from the crate's root; `None` for a path into another crate.
fn absolute(path: &[String], own: &[String]) -> Option<Vec<String>> {
    let mut base = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => own.to_vec(),
        _ => return None,
    };
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => drop(base.pop()),
            _ => base.push(part.clone()),
        }
    }
    Some(base)
}

/// Sets of files that all reach each other. Files are few, so reachability is computed for each.
fn circles<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|from| (*from, reach(graph, from))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for from in graph.keys().copied() {
        if seen.contains(from) {
            continue;
        }
        let circle: Vec<&str> = reached[from]
            .iter()
            .copied()
            .filter(|to| reached.get(to).is_some_and(|back| back.contains(from)))
            .collect();
        if circle.len() > 1 {
            seen.extend(circle.iter().copied());
            circles.push(circle);
        }
    }
    circles
}

/// Every file that is reached from `from` by at least one import.
fn reach<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = graph[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(graph.get(next).into_iter().flatten().copied());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Repo::made_of(files)).into_iter().map(|finding| finding.problem).collect()
    }

    /// A ring in which each file imports the next, by each way to write it.
    fn ring(length: usize) -> Vec<(String, String)> {
        let write = |index: usize| match (index % 3, (index + 1) % length) {
            (0, next) => format!("use crate::m{next}::Thing;"),
            (1, next) => format!("use super::{{m{next}::{{A, B}}, other}};"),
            (_, next) => format!("pub(crate) use crate::{{std_like, m{next} as renamed}};"),
        };
        (0..length).map(|index| (format!("crates/a/src/m{index}.rs"), write(index))).collect()
    }

    #[test]
    fn a_circle_is_refused_above_its_limit() {
        for (length, findings) in [(CIRCLE_MAX, 0), (CIRCLE_MAX + 1, 1)] {
            let files = ring(length);
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            assert_eq!(found(&files).len(), findings, "{length} files");
        }
    }

    #[test]
    fn tests_comments_and_other_crates_do_not_close_a_circle() {
        let mut files = ring(CIRCLE_MAX + 1);
        for text in
            ["#[cfg(test)]\nmod tests { use crate::m0::Thing; }", "// use crate::m0::Thing;", "use other::m0::Thing;"]
        {
            files[CIRCLE_MAX].1 = text.to_owned();
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            assert_eq!(found(&files), Vec::<String>::new(), "{text}");
        }
    }
}
