//! The records of the project: lints inherited by every crate, a short ARCHITECTURE.md, a changelog
//! that is open, an index of papers whose paths exist, and links that lead somewhere.

use super::{ARCHITECTURE, Finding};
use crate::markdown;
use crate::repo::Repo;

const CHANGELOG: &str = "CHANGELOG.md";

/// A newcomer reads this much in one sitting. Details go to `docs/`.
const ARCHITECTURE_BYTES_MAX: usize = 13_000;

const PAPERS: &str = "PAPERS.md";

pub(super) fn lints_are_inherited(repo: &Repo) -> Vec<Finding> {
    let manifests = repo.packages.iter().map(|package| format!("{}/Cargo.toml", package.folder));
    manifests
        .filter(|path| !inherits_lints(repo.text(path).unwrap_or_default()))
        .map(|path| {
            let hint = "add [lints] with workspace = true";
            Finding::new(&path, 1, "the crate does not inherit the lints of the workspace", hint)
        })
        .collect()
}

fn inherits_lints(manifest: &str) -> bool {
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let words: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        if (section == "[lints]" && words == "workspace=true")
            || (section.is_empty() && words == "lints.workspace=true")
        {
            return true;
        }
    }
    false
}

pub(super) fn architecture_is_short(repo: &Repo) -> Vec<Finding> {
    let bytes = repo.text(ARCHITECTURE).map_or(0, str::len);
    let problem = format!("{bytes} bytes, and at most {ARCHITECTURE_BYTES_MAX} are allowed");
    let hint = "move details to docs/, and what a file is for into its own documentation";
    let is_long = bytes > ARCHITECTURE_BYTES_MAX;
    is_long.then(|| Finding::new(ARCHITECTURE, 1, problem, hint)).into_iter().collect()
}

pub(super) fn changelog_is_open(repo: &Repo) -> Vec<Finding> {
    let text = repo.text(CHANGELOG).unwrap_or_default();
    let is_open = text.lines().any(|line| matches!(line.trim(), "## Unreleased" | "## [Unreleased]"));
    if is_open {
        return Vec::new();
    }
    let hint = "add a section ## [Unreleased]";
    vec![Finding::new(CHANGELOG, 1, "the section for unreleased changes is missing", hint)]
}

/// Every code span that looks like a path must be one; `path#name` also asks for a function of that
/// name in the file.
pub(super) fn papers_name_what_exists(repo: &Repo) -> Vec<Finding> {
    let Some(text) = repo.text(PAPERS) else {
        return vec![Finding::new(
            PAPERS,
            1,
            "the index of papers is missing",
            "paper and section, file, test, figure",
        )];
    };
    let mut findings = Vec::new();
    for (line, words) in markdown::prose(text) {
        for span in markdown::code_spans(words).filter(|span| looks_like_a_path(span)) {
            let (path, function) = span.split_once('#').map_or((span, None), |(path, name)| (path, Some(name)));
            if !repo.has(path) {
                let hint = "name the file as it is called now, or take the row out";
                findings.push(Finding::new(PAPERS, line, format!("{path} does not exist"), hint));
            } else if let Some(name) = function.filter(|name| !has_function(repo, path, name)) {
                let problem = format!("{path} has no function {name}");
                findings.push(Finding::new(PAPERS, line, problem, "name the test as it is called now"));
            }
        }
    }
    findings
}

fn looks_like_a_path(span: &str) -> bool {
    let is_pathlike = |c: char| c.is_ascii_alphanumeric() || "/._-#".contains(c);
    // A ratio such as `1/l` is not a path: folders have names of a few letters at least.
    let folder = span.split('/').next().unwrap_or_default();
    span.contains('/') && span.chars().all(is_pathlike) && folder.len() >= 3
}

fn has_function(repo: &Repo, path: &str, name: &str) -> bool {
    repo.text(path).is_some_and(|text| text.contains(&format!("fn {name}(")))
}

/// Links between documents that lie in the repository.
pub(super) fn links_lead_somewhere(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| file.path.ends_with(".md") && !file.path.contains("/tests/")) {
        for (line, words) in markdown::prose(file.text.as_deref().unwrap_or_default()) {
            for target in markdown::link_targets(words).filter(|target| !target.contains("://")) {
                let path = target.split('#').next().unwrap_or_default();
                let is_elsewhere = path.is_empty() || path.starts_with("mailto:");
                if !is_elsewhere && !resolve(&file.path, path).is_some_and(|path| repo.has(&path)) {
                    let problem = format!("the link leads to {path}, which does not exist");
                    findings.push(Finding::new(&file.path, line, problem, "links are relative to the document"));
                }
            }
        }
    }
    findings
}

/// A link's target as a path from the root; none when it leads out of the repository.
fn resolve(document: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.problem)).collect()
    }

    #[test]
    fn lints_are_inherited_in_either_spelling_and_in_the_right_section() {
        assert!(inherits_lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"));
        assert!(inherits_lints("lints.workspace = true\n[package]\n"));
        assert!(!inherits_lints("[lints]\n[dependencies]\nworkspace = true\n"));
        let repo = Repo::made_of(&[("crates/a/Cargo.toml", "[package]\n")]).with_crate("a", &[]);
        assert_eq!(problems(lints_are_inherited(&repo)).len(), 1);
    }

    #[test]
    fn the_architecture_is_read_in_one_sitting() {
        let of_length = |bytes: usize| Repo::made_of(&[(ARCHITECTURE, "x".repeat(bytes).as_str())]);
        assert_eq!(architecture_is_short(&of_length(ARCHITECTURE_BYTES_MAX)), []);
        assert_eq!(architecture_is_short(&of_length(ARCHITECTURE_BYTES_MAX + 1)).len(), 1);
    }

    #[test]
    fn the_changelog_has_a_place_for_what_comes() {
        let open = Repo::made_of(&[(CHANGELOG, "# Changelog\n\n## [Unreleased]\n")]);
        assert_eq!(changelog_is_open(&open), []);
        let closed = Repo::made_of(&[(CHANGELOG, "# Changelog\n\n## 0.1.0\nUnreleased\n")]);
        assert_eq!(changelog_is_open(&closed).len(), 1);
        assert_eq!(changelog_is_open(&Repo::default()).len(), 1);
    }

    #[test]
    fn papers_name_files_and_tests_that_exist() {
        let text = "`crates/a.rs#works`\n`crates/b.rs`\n`crates/a.rs#fails` `a` `1/l` and `(c, l)`\n";
        let repo = Repo::made_of(&[(PAPERS, text), ("crates/a.rs", "#[test]\nfn works() {}\n")]);
        let expected = ["PAPERS.md:2: crates/b.rs does not exist", "PAPERS.md:3: crates/a.rs has no function fails"];
        assert_eq!(problems(papers_name_what_exists(&repo)), expected);
    }

    #[test]
    fn links_are_followed_from_where_the_document_lies() {
        let text = "[a](../README.md#top) [b](gone.md) [c](https://example.org/x) [d](#here) [e](../../out.md)\n";
        let repo = Repo::made_of(&[("docs/a.md", text), ("README.md", "")]);
        let expected = [
            "docs/a.md:1: the link leads to gone.md, which does not exist",
            "docs/a.md:1: the link leads to ../../out.md, which does not exist",
        ];
        assert_eq!(problems(links_lead_somewhere(&repo)), expected);
    }
}
