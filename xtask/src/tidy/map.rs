//! The code map in ARCHITECTURE.md against the folders.
//!
//! Under `## Code map`, each crate is a heading `### crates/table` with one bullet for every file and folder directly in its
//! `src`: ``- `codes.rs`: what it is for``. The crate's own `lib.rs` has no bullet: the words under the heading are its entry.

use std::collections::BTreeSet;

use super::{ARCHITECTURE, Finding};
use crate::markdown;
use crate::repo::Repo;

const SECTION: &str = "## Code map";
const REPAIR: &str = "`cargo xtask map` repairs the map";

#[derive(Debug)]
struct Crate {
    line: usize,
    folder: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    line: usize,
    name: String,
    purpose: String,
}

pub(super) fn names_every_file(repo: &Repo) -> Vec<Finding> {
    let document = repo.text(ARCHITECTURE).unwrap_or_default();
    let Some(map) = read(document) else {
        let hint = format!("begin a section {SECTION:?} with a heading ### for each crate");
        return vec![Finding::new(ARCHITECTURE, 1, "the code map is missing", hint)];
    };
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for part in &map {
        if !seen.insert(&part.folder) {
            let problem = format!("{} has two headings in the code map", part.folder);
            findings.push(Finding::new(ARCHITECTURE, part.line, problem, "keep one"));
        } else if repo.packages.iter().any(|package| package.folder == part.folder) {
            findings.extend(compare(repo, part));
        } else {
            let problem = format!("the code map describes {}, which is no crate of the workspace", part.folder);
            findings.push(Finding::new(ARCHITECTURE, part.line, problem, REPAIR));
        }
    }
    for package in repo.packages.iter().filter(|package| !seen.contains(&package.folder)) {
        let problem = format!("{} is not in the code map", package.folder);
        findings.push(Finding::new(ARCHITECTURE, 1, problem, REPAIR));
    }
    findings
}

fn compare(repo: &Repo, part: &Crate) -> Vec<Finding> {
    let mut findings = Vec::new();
    let present = entries_of(repo, &part.folder);
    let mut named = BTreeSet::new();
    for entry in &part.entries {
        let path = format!("{}/src/{}", part.folder, entry.name);
        if !present.contains(&entry.name) {
            let problem = format!("the code map names {path}, which does not exist");
            findings.push(Finding::new(ARCHITECTURE, entry.line, problem, REPAIR));
        } else if !named.insert(&entry.name) {
            let problem = format!("the code map names {path} twice");
            findings.push(Finding::new(ARCHITECTURE, entry.line, problem, "keep one"));
        } else if entry.purpose.is_empty() {
            let problem = format!("the code map does not say what {path} is for");
            findings.push(Finding::new(ARCHITECTURE, entry.line, problem, "one sentence after a colon"));
        }
    }
    for name in present.iter().filter(|name| !named.contains(name)) {
        let problem = format!("{}/src/{name} is not in the code map", part.folder);
        let hint = format!("add {:?}; {REPAIR}", bullet(repo, &part.folder, name));
        findings.push(Finding::new(ARCHITECTURE, part.line, problem, hint));
    }
    findings
}

/// The files and folders directly under a crate's `src`, folders with a slash at the end. A folder beside a file of the same
/// name holds the parts of that file and has no entry of its own.
fn entries_of(repo: &Repo, folder: &str) -> BTreeSet<String> {
    let source = format!("{folder}/src/");
    let mut entries: BTreeSet<String> = repo
        .rust_files()
        .filter_map(|(path, _)| path.strip_prefix(&source))
        .map(|rest| rest.split_once('/').map_or(rest.to_owned(), |(folder, _)| format!("{folder}/")))
        .filter(|name| name != "lib.rs")
        .collect();
    let files = entries.clone();
    entries.retain(|name| name.strip_suffix('/').is_none_or(|folder| !files.contains(&format!("{folder}.rs"))));
    entries
}

/// The line for a file that the map lacks, with the first sentence of the file's own documentation.
fn bullet(repo: &Repo, folder: &str, name: &str) -> String {
    let path = format!("{folder}/src/{name}");
    let path = if name.ends_with('/') { format!("{path}mod.rs") } else { path };
    let purpose = lowered(&first_sentence(repo.text(&path).unwrap_or_default()));
    format!("- `{name}`: {purpose}").trim_end().to_owned()
}

fn first_sentence(text: &str) -> String {
    let documentation: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = documentation.join(" ");
    let sentence = paragraph.split_once(". ").map_or(paragraph.as_str(), |(first, _)| first);
    sentence.trim_end_matches('.').to_owned()
}

/// A sentence that goes on after a colon. Only a plain word loses its capital: `CSV` and `K-anonymity` do not.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if letters.as_str().starts_with(|next: char| next.is_lowercase() || next == ' ') => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

fn read(document: &str) -> Option<Vec<Crate>> {
    let mut lines = markdown::prose(document).skip_while(|(_, line)| *line != SECTION);
    lines.next()?;
    let mut map: Vec<Crate> = Vec::new();
    for (line, text) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        if let Some(folder) = heading(text) {
            map.push(Crate { line, folder, entries: Vec::new() });
        } else if let (Some((name, purpose)), Some(part)) = (entry(text), map.last_mut()) {
            part.entries.push(Entry { line, name, purpose });
        }
    }
    Some(map)
}

fn heading(line: &str) -> Option<String> {
    Some(line.strip_prefix("### ")?.trim().trim_matches('`').to_owned())
}

fn entry(line: &str) -> Option<(String, String)> {
    let (name, rest) = line.strip_prefix("- `")?.split_once('`')?;
    Some((name.to_owned(), rest.trim_start_matches(':').trim().to_owned()))
}

/// The document with a map that matches the folders. What the map says of files that are still there is kept.
pub(super) fn updated(repo: &Repo, document: &str) -> Result<String, String> {
    let map = read(document).ok_or_else(|| format!("{ARCHITECTURE} has no section {SECTION:?}"))?;
    let lines: Vec<&str> = document.lines().collect();
    let start = lines.iter().position(|line| *line == SECTION).expect("read found the section") + 1;
    let end =
        lines[start..].iter().position(|line| line.starts_with("## ")).map_or(lines.len(), |length| start + length);
    let first_crate = map.first().map_or(end, |part| part.line - 1);

    let mut section: Vec<String> = Vec::new();
    for package in &repo.packages {
        let part = map.iter().find(|part| part.folder == package.folder);
        section.push(format!("### `{}`", package.folder));
        section.push(String::new());
        section.extend(crate_words(repo, &package.folder, part, &lines, end));
        for name in entries_of(repo, &package.folder) {
            let kept = part.and_then(|part| part.entries.iter().find(|entry| entry.name == name));
            match kept.filter(|entry| !entry.purpose.is_empty()) {
                Some(entry) => {
                    section.push(lines[entry.line - 1].to_owned());
                    // A purpose may run on over indented lines.
                    let more = lines[entry.line..end].iter().take_while(|line| line.starts_with("  "));
                    section.extend(more.map(|line| line.to_string()));
                }
                None => section.push(bullet(repo, &package.folder, &name)),
            }
        }
        if section.last().is_some_and(|line| !line.is_empty()) {
            section.push(String::new());
        }
    }
    let mut updated: Vec<&str> = lines[..first_crate].to_vec();
    updated.extend(section.iter().map(String::as_str));
    updated.extend(&lines[end..]);
    Ok(updated.join("\n").trim_end().to_owned() + "\n")
}

/// The words between a crate's heading and its first bullet; a crate new to the map brings its own first sentence.
fn crate_words(repo: &Repo, folder: &str, part: Option<&Crate>, lines: &[&str], end: usize) -> Vec<String> {
    let written: Vec<String> = part.map_or(Vec::new(), |part| {
        let body =
            lines[part.line..end].iter().take_while(|line| !line.starts_with("- `") && !line.starts_with("### "));
        body.map(|line| line.to_string()).collect()
    });
    let text = written.join("\n").trim().to_owned();
    let text = if text.is_empty() {
        let root = ["lib.rs", "main.rs"].iter().find_map(|name| repo.text(&format!("{folder}/src/{name}")));
        root.map(first_sentence)
            .filter(|sentence| !sentence.is_empty())
            .map_or(String::new(), |sentence| sentence + ".")
    } else {
        text
    };
    if text.is_empty() { Vec::new() } else { vec![text, String::new()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
# House

## Code map

Preface.

### `crates/table`

What data is.

- `codes.rs`: cells as positions,
  in narrow integers
- `gone.rs`: something

### `crates/old`

- `lib.rs`: was here

## After

- `not/in/map.rs`
";

    fn house() -> Repo {
        Repo::made_of(&[
            (ARCHITECTURE, DOCUMENT),
            ("crates/table/src/lib.rs", "//! Data.\n"),
            ("crates/table/src/codes.rs", "//! Codes.\n"),
            ("crates/table/src/read/mod.rs", "//! Reading files. And more.\n//! Still more.\n"),
            ("crates/table/src/read/csv.rs", "//! CSV.\n"),
            ("crates/audit/src/lib.rs", "//! How it fails: measures and\n//! adversaries.\n"),
        ])
        .with_room("audit", &[])
        .with_room("table", &[])
    }

    #[test]
    fn missing_and_stale_entries_are_found_with_a_line_to_paste() {
        let findings = names_every_file(&house());
        let problems: Vec<(usize, &str)> =
            findings.iter().map(|finding| (finding.line, finding.problem.as_str())).collect();
        let expected = [
            (13, "the code map names crates/table/src/gone.rs, which does not exist"),
            (7, "crates/table/src/read/ is not in the code map"),
            (15, "the code map describes crates/old, which is no crate of the workspace"),
            (1, "crates/audit is not in the code map"),
        ];
        assert_eq!(problems, expected);
        assert!(findings[1].hint.contains("- `read/`: reading files"), "{}", findings[1].hint);
    }

    #[test]
    fn the_repaired_map_passes_and_keeps_what_was_written() {
        let mut repo = house();
        let updated = updated(&repo, DOCUMENT).unwrap();
        let expected = "\
# House

## Code map

Preface.

### `crates/audit`

How it fails: measures and adversaries.

### `crates/table`

What data is.

- `codes.rs`: cells as positions,
  in narrow integers
- `read/`: reading files

## After

- `not/in/map.rs`
";
        assert_eq!(updated, expected);
        repo.files[0].text = Some(updated.clone());
        assert_eq!(names_every_file(&repo), []);
        assert_eq!(super::updated(&repo, &updated).unwrap(), updated);
    }

    #[test]
    fn an_entry_needs_a_purpose_and_stands_once() {
        let document = "## Code map\n### `crates/table`\n- `codes.rs`\n- `codes.rs`: again\n";
        let repo =
            Repo::made_of(&[(ARCHITECTURE, document), ("crates/table/src/codes.rs", "")]).with_room("table", &[]);
        let lines: Vec<usize> = names_every_file(&repo).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3, 4]);
    }

    #[test]
    fn a_folder_belongs_to_the_file_of_its_name() {
        let repo = Repo::made_of(&[("a/src/search.rs", ""), ("a/src/search/tests.rs", ""), ("a/src/read/mod.rs", "")]);
        assert_eq!(entries_of(&repo, "a").into_iter().collect::<Vec<_>>(), ["read/", "search.rs"]);
    }

    #[test]
    fn acronyms_keep_their_capitals() {
        assert_eq!(lowered(&first_sentence("//! CSV in parts. More.\n")), "CSV in parts");
        assert_eq!(lowered(&first_sentence("//! A column.\n")), "a column");
        assert_eq!(first_sentence("fn main() {}\n"), "");
    }
}
