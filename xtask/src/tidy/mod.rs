//! The checks of `cargo xtask tidy`, one line for each finding: `path:line: problem (hint)`.
//!
//! A document that no program reads is wrong within a month. Here the boundaries of the crates, the
//! dependency decisions and the index of papers are read from the documents themselves and held
//! against the code.

mod boundaries;
mod circles;
mod documented;
mod experiments;
mod grammar;
mod names;
mod records;
mod report;
mod seeds;
mod source;
mod text;
mod words;

use std::fmt;

use crate::repo::Repo;
use crate::schemas;

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Every check, by what it looks at.
const CHECKS: &[fn(&Repo) -> Vec<Finding>] = &[
    boundaries::crates_use_what_they_may,
    boundaries::dependencies_are_decisions,
    source::check,
    text::check,
    words::check,
    grammar::check,
    names::check,
    circles::check,
    documented::check,
    seeds::the_daemon_names_none,
    records::architecture_is_short,
    records::lints_are_inherited,
    records::changelog_is_open,
    records::papers_name_what_exists,
    records::links_lead_somewhere,
    experiments::check,
    report::check,
    schemas::check,
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    problem: String,
    hint: String,
    /// A note is printed and does not fail the run.
    is_note: bool,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, problem: impl Into<String>, hint: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, problem: problem.into(), hint: hint.into(), is_note: false }
    }

    fn note(path: &str, line: usize, problem: impl Into<String>, hint: impl Into<String>) -> Finding {
        Finding { is_note: true, ..Finding::new(path, line, problem, hint) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let note = if self.is_note { "note: " } else { "" };
        write!(f, "{}:{}: {note}{} ({})", self.path, self.line, self.problem, self.hint)
    }
}

pub(crate) fn run() -> Result<(), String> {
    let findings = findings(&Repo::read()?);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.iter().filter(|finding| !finding.is_note).count() {
        0 => Ok(()),
        1 => Err("tidy found 1 thing out of place".to_owned()),
        count => Err(format!("tidy found {count} things out of place")),
    }
}

fn findings(repo: &Repo) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(repo)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_one_line_an_editor_can_follow() {
        let finding = Finding::new("a/b.rs", 7, "a tab", "use spaces");
        assert_eq!(finding.to_string(), "a/b.rs:7: a tab (use spaces)");
        assert_eq!(Finding::note("a", 1, "long", "split").to_string(), "a:1: note: long (split)");
    }

    #[test]
    fn an_empty_repository_lacks_its_documents_and_nothing_else() {
        let paths: Vec<String> = findings(&Repo::default()).into_iter().map(|finding| finding.path).collect();
        let documents = ["ARCHITECTURE.md", "CHANGELOG.md", "PAPERS.md", "docs/schemas"];
        assert!(paths.iter().all(|path| documents.contains(&path.as_str())), "{paths:?}");
        assert!(paths.contains(&"CHANGELOG.md".to_owned()));
    }
}
