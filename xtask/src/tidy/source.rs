//! The rules of every Rust file: it opens by saying what it is, stays short, has a name that means
//! something, and holds nothing left half done.

use super::Finding;
use crate::repo::Repo;

const LINES_MAX: usize = 600;
const LINES_TO_NOTE: usize = 400;

/// Longer comment lines are hard to read next to code, and rustfmt leaves them as they are.
const COMMENT_COLUMNS_MAX: usize = 100;

/// A thing with no better name than these has not been understood yet.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "core", "helper", "helpers", "misc", "types"];

/// Macros that mark work in progress.
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.rust_files() {
        findings.extend(opening(path, text));
        findings.extend(length(path, text));
        findings.extend(name(path));
        findings.extend(unfinished(path, text));
        findings.extend(long_comments(path, text));
    }
    findings
}

fn opening(path: &str, text: &str) -> Option<Finding> {
    let first = text.lines().next().unwrap_or_default();
    let says_something = first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty());
    let hint = "begin with //! and one sentence: what is here and why";
    (!says_something).then(|| Finding::new(path, 1, "the file does not open by saying what it is", hint))
}

fn length(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let hint = "one concept is one file: split where a second one begins";
    if lines > LINES_MAX {
        Some(Finding::new(path, lines, format!("{lines} lines, and at most {LINES_MAX} are allowed"), hint))
    } else if lines > LINES_TO_NOTE {
        Some(Finding::note(path, lines, format!("{lines} lines, over {LINES_TO_NOTE}"), hint))
    } else {
        None
    }
}

fn name(path: &str) -> Option<Finding> {
    let stem = path.trim_end_matches(".rs");
    let empty = stem.split('/').find(|part| EMPTY_NAMES.contains(part))?;
    let hint = "name it after what it holds";
    Some(Finding::new(path, 1, format!("{empty} is a name that says nothing"), hint))
}

fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for word in UNFINISHED.iter().filter(|word| calls_macro(line, word)) {
            let hint = "finish it, or return an error that says what is missing";
            findings.push(Finding::new(path, index + 1, format!("{word}! is left in"), hint));
        }
    }
    findings
}

fn long_comments(path: &str, text: &str) -> Vec<Finding> {
    let mut in_example = false;
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // Code in documentation is as wide as other code.
        let words = line.trim_start().trim_start_matches(['/', '!']).trim_start();
        in_example = line.trim_start().starts_with("//") && in_example != words.starts_with("```");
        if !in_example && is_wrappable_comment(line) && line.chars().count() > COMMENT_COLUMNS_MAX {
            let problem = format!("a comment line over {COMMENT_COLUMNS_MAX} columns");
            findings.push(Finding::new(path, index + 1, problem, "wrap it"));
        }
    }
    findings
}

/// A line that is all comment, and neither a row of a table nor an address, which cannot be broken.
fn is_wrappable_comment(line: &str) -> bool {
    let line = line.trim_start();
    let words = line.trim_start_matches(['/', '!']).trim_start();
    line.starts_with("//") && !words.starts_with('|') && !words.contains("://")
}

fn calls_macro(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].strip_prefix('!').and_then(|rest| rest.chars().next());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after.is_some_and(|c| "([{".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(&Repo::made_of(&[(path, text)])).iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_good_file_passes() {
        assert_eq!(problems("crates/a/src/hierarchy.rs", "//! Hierarchies.\n\nfn mastodon() {}\n"), [""; 0]);
    }

    #[test]
    fn a_file_opens_by_saying_what_it_is() {
        for text in ["", "\n//! Late.\n", "//!\n//! Late.\n", "fn main() {}\n"] {
            assert_eq!(problems("a.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn long_files_are_noted_and_longer_ones_refused() {
        let of_length = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
        assert_eq!(problems("a.rs", &of_length(400)), [""; 0]);
        assert!(problems("a.rs", &of_length(401))[0].contains("note: 401 lines"));
        assert!(problems("a.rs", &of_length(600))[0].contains("note: "));
        assert!(!problems("a.rs", &of_length(601))[0].contains("note: "));
    }

    #[test]
    fn long_comments_are_found_and_what_cannot_be_wrapped_is_not() {
        let long = "x ".repeat(50);
        for line in [format!("    // {long}"), format!("/// {long}"), format!("//! {long}é")] {
            assert_eq!(problems("a.rs", &format!("//! X.\n{line}\n")).len(), 1, "{line}");
        }
        for line in [format!("// | {long}"), format!("// https://{long}"), format!("//{}", &long[..98]), long] {
            assert_eq!(problems("a.rs", &format!("//! X.\n{line}\n")), [""; 0], "{line}");
        }
    }

    #[test]
    fn empty_names_are_refused_for_files_and_folders() {
        for path in ["src/utils.rs", "tests/common/mod.rs", "crates/core/src/lib.rs"] {
            assert_eq!(problems(path, "//! X.\n").len(), 1, "{path}");
        }
        assert_eq!(problems("src/uncommon.rs", "//! X.\n"), [""; 0]);
    }

    #[test]
    fn unfinished_work_is_found_outside_comments() {
        for (word, bracket) in [("todo", "()"), ("dbg", "(x)"), ("unimplemented", "{}")] {
            let text = format!("//! X.\n// {word}!()\nfn f() {{ {word}!{bracket} }}\n");
            let expected = format!("a.rs:3: {word}! is left in");
            assert!(problems("a.rs", &text)[0].starts_with(&expected));
        }
        assert_eq!(problems("a.rs", "//! X.\nfn todo() { if !dbg != x {} }\n"), [""; 0]);
    }
}
