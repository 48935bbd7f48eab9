//! Text hygiene: what people write ends in one newline, without trailing blanks or tabs, and
//! nothing that is tracked names a folder of the machine it was written on, or is too large to be
//! tracked.

use super::Finding;
use crate::repo::{File, Repo};

/// How absolute paths of a developer's machine begin, in two parts so that this file does not
/// name one.
const MACHINE_ROOTS: &[(&str, &str)] =
    &[("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/Us", "ers/"), ("/tmp/ba", "sh")];

/// Every clone of the repository pays for every large file ever added.
const FILE_BYTES_MAX: u64 = 1 << 20;

const WRITTEN_BY_PEOPLE: &[&str] = &["rs", "toml", "md", "sh", "yml", "yaml", "py"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repo.files {
        findings.extend(too_large(file));
        let Some(text) = &file.text else { continue };
        findings.extend(machine_paths(&file.path, text));
        if is_written_by_people(file) {
            findings.extend(blanks(&file.path, text));
        }
    }
    findings
}

fn too_large(file: &File) -> Option<Finding> {
    let problem = format!("{} bytes; a tracked file has at most {FILE_BYTES_MAX}", file.bytes);
    let hint = "generate data where it is needed, and keep what was built out of the repository";
    (file.bytes > FILE_BYTES_MAX).then(|| Finding::new(&file.path, 1, problem, hint))
}

/// Sources and documents, and not what tests feed in or expect: that may be malformed on purpose.
fn is_written_by_people(file: &File) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_rust = extension == "rs";
    let is_test_data = file.path.split('/').any(|part| part == "tests" || part == "corpus") && !is_rust;
    let is_script_or_license = !name.contains('.') || name == ".gitignore";
    (WRITTEN_BY_PEOPLE.contains(&extension) || is_script_or_license) && !is_test_data
}

fn blanks(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(path, index + 1, "white space at the end of the line", "take it out"));
        }
        if path.ends_with(".rs") && line.contains('\t') {
            findings.push(Finding::new(path, index + 1, "a tab", "indent with spaces; write \\t inside a string"));
        }
    }
    if text.is_empty() || !text.ends_with('\n') || text.ends_with("\n\n") || text == "\n" {
        let last = text.lines().count().max(1);
        findings.push(Finding::new(path, last, "the file does not end in exactly one newline", "end it with one"));
    }
    findings
}

fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let roots: Vec<String> = MACHINE_ROOTS.iter().map(|(start, end)| format!("{start}{end}")).collect();
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for root in roots.iter().filter(|root| names_root(line, root)) {
            let hint = "use a path relative to the repository, or a temporary directory";
            findings.push(Finding::new(path, index + 1, format!("{root} is a folder of one machine"), hint));
        }
    }
    findings
}

/// The root begins a path here, and is not the middle of a longer one such as `example.org/x`.
fn names_root(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*>})".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check(&Repo::made_of(&[(path, text)]));
        findings.into_iter().map(|finding| (finding.line, finding.problem)).collect()
    }

    #[test]
    fn clean_text_passes() {
        assert_eq!(problems("a.rs", "//! X.\n\nfn f() {}\n"), []);
        assert_eq!(problems(".ci/run", "#!/usr/bin/env bash\n"), []);
    }

    #[test]
    fn blanks_tabs_and_line_endings_are_found_on_their_line() {
        assert_eq!(problems("a.md", "one\ntwo \n")[0].0, 2);
        assert_eq!(problems("a.rs", "a\n\tb\n"), [(2, "a tab".to_owned())]);
        assert_eq!(problems("a.toml", "a\r\nb\n")[0].0, 1);
        assert_eq!(problems("Makefile", "all:\n\ttrue\n"), []);
    }

    #[test]
    fn large_files_are_refused_whatever_they_hold() {
        let most = "x".repeat(FILE_BYTES_MAX as usize);
        assert_eq!(problems("data.csv", &most), []);
        assert_eq!(problems("data.csv", &format!("{most}x")).len(), 1);
        let unreadable = File { path: "model.bin".to_owned(), text: None, bytes: FILE_BYTES_MAX + 1 };
        let findings = check(&Repo { files: vec![unreadable], ..Repo::default() });
        assert_eq!(findings.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["model.bin"]);
    }

    #[test]
    fn one_newline_at_the_end() {
        for text in ["", "\n", "a", "a\n\n"] {
            assert_eq!(problems("a.md", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn what_tests_feed_in_may_be_malformed() {
        assert_eq!(problems("crates/cli/tests/bad/policy.toml", "x = 1 "), []);
        assert_eq!(problems("examples/data.csv", "a,b\r\n1,2"), []);
        assert_eq!(problems("crates/cli/tests/run.rs", "x").len(), 1);
    }

    #[test]
    fn folders_of_one_machine_are_found_everywhere_and_other_paths_are_not() {
        for (start, end) in MACHINE_ROOTS {
            let root = format!("{start}{end}");
            for line in [format!("{root}x"), format!("at \"{root}x\""), format!("file://{root}x")] {
                assert_eq!(problems("data.csv", &line).len(), 1, "{line}");
            }
            for line in [format!("example.org{root}x"), format!("..{root}x"), format!("$HOME{root}x")] {
                assert_eq!(problems("data.csv", &line), [], "{line}");
            }
        }
    }
}
