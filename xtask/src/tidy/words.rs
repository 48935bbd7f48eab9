//! Words that do not come back: the vocabulary is the field's, defined in `docs/glossary.md`, in
//! American spelling.
//!
//! A line is read as a sequence of lower-case words. Identifiers are taken apart at underscores and
//! humps, so that one entry finds `left out`, `left_out` and `LeftOut`. A line that must keep a
//! word says so: `tidy: allow(word)`, in a comment.

use super::Finding;
use crate::repo::Repo;

/// Where an entry applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Everywhere,
    /// In Rust code outside comments and strings: the word is ordinary English and no name for a
    /// thing.
    Identifiers,
    /// In what the command prints, as the transcripts record it.
    Output,
}
use Scope::{Everywhere, Identifiers, Output};

/// A word that is refused, where, and what is written instead.
type WordRule = (&'static str, Scope, &'static str);

/// The words, separated by blanks; `*` at the end stands for any ending of the last one.
const BANNED: &[WordRule] = &[
    ("told", Everywhere, "released, stated, shown, described or listed"),
    ("untold", Everywhere, "rows without a sensitive value"),
    ("asked", Identifiers, "required, for a rule; requested, for a query"),
    ("asked k", Output, "required"),
    ("asked l", Output, "required"),
    ("reached", Output, "achieved"),
    ("left out", Everywhere, "suppressed, for rows; omitted, for all else"),
    ("made up", Everywhere, "counterfeit, synthetic or dummy"),
    ("found out", Everywhere, "disclosed or re-identified"),
    ("give away", Everywhere, "disclose"),
    ("gives away", Everywhere, "discloses"),
    ("side by side", Everywhere, "combined, or next to each other"),
    ("withstood", Everywhere, "passed"),
    ("hopeless", Everywhere, "unsatisfiable"),
    ("surer", Everywhere, "the confidence rises"),
    ("caution", Everywhere, "warning"),
    ("cautions", Everywhere, "warnings"),
    ("dues", Everywhere, "quotas"),
    ("crowd*", Everywhere, "dense region, or class"),
    ("stretch*", Everywhere, "interval, or span of codes"),
    ("rooms", Everywhere, "crates"),
    ("of the house", Everywhere, "of the workspace"),
    ("the wall", Everywhere, "the boundary"),
    ("walls", Everywhere, "boundaries"),
    ("anonymis*", Everywhere, "anonymiz…"),
    ("behaviour*", Everywhere, "behavior"),
    ("catalogue*", Everywhere, "catalog"),
    ("centre*", Everywhere, "center"),
    ("colour*", Everywhere, "color"),
    ("favour*", Everywhere, "favor"),
    ("generalis*", Everywhere, "generaliz…"),
    ("grey*", Everywhere, "gray"),
    ("initialis*", Everywhere, "initializ…"),
    ("licence*", Everywhere, "license"),
    ("maximis*", Everywhere, "maximiz…"),
    ("minimis*", Everywhere, "minimiz…"),
    ("modelled", Everywhere, "modeled"),
    ("neighbour*", Everywhere, "neighbor"),
    ("normalis*", Everywhere, "normaliz…"),
    ("optimis*", Everywhere, "optimiz…"),
    ("organis*", Everywhere, "organiz…"),
    ("randomis*", Everywhere, "randomiz…"),
    ("recognis*", Everywhere, "recogniz…"),
    ("serialis*", Everywhere, "serializ…"),
    ("summaris*", Everywhere, "summariz…; the policy key is `summarise`"),
];

/// Words that a stem above would catch and that are right: ordinary ones, and spellings that a
/// policy accepts.
const RIGHT: &[&str] = &["summarise", "anonymiser", "generalisation", "optimism", "optimistic", "optimistically"];

/// The characters that join the words of one phrase.
const JOINS: &[char] = &['_', '-', '\u{2011}'];

/// The output of the command.
const TRANSCRIPTS: &str = "crates/cli/tests/transcripts/";

/// Files that must name the words: this one, and the words that occur in the headers of people's
/// data.
const EXEMPT: &[&str] = &["xtask/src/tidy/words.rs", "crates/policy/src/propose/vocabulary.rs"];

/// Whether a word that came back fails the run. Until all names are changed it is noted.
const REFUSED: bool = true;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| is_read(&file.path)) {
        let text = file.text.as_deref().unwrap_or_default();
        // Most files have few of these letters, and most lines none: only the rest is taken apart.
        let small = text.to_lowercase();
        let entries: Vec<&WordRule> =
            BANNED.iter().filter(|(entry, ..)| small.contains(first_letters(entry))).collect();
        let in_line = |line: &str| entries.iter().any(|(entry, ..)| line.contains(first_letters(entry)));
        let lines = text.lines().enumerate();
        for (index, line) in lines.filter(|_| !entries.is_empty()).filter(|(_, line)| in_line(&line.to_lowercase())) {
            findings.extend(
                in_this(line, &entries, &file.path)
                    .map(|(entry, instead)| finding(&file.path, index + 1, entry.trim_end_matches('*'), instead)),
            );
        }
    }
    findings
}

/// The entries that a line says and does not allow itself.
fn in_this<'e>(line: &str, entries: &[&'e WordRule], path: &str) -> impl Iterator<Item = (&'e str, &'e str)> {
    let (is_rust, is_output) = (path.ends_with(".rs"), path.starts_with(TRANSCRIPTS));
    let all = words(line);
    let names = if is_rust { words(&code(line)) } else { Vec::new() };
    let said = entries.iter().filter(|(entry, scope, _)| {
        let read: &[String] = match scope {
            Everywhere => &all,
            Identifiers => &names,
            Output if is_output => &all,
            Output => &[],
        };
        says(read, entry) && !line.contains(&format!("tidy: allow({entry})"))
    });
    said.map(|(entry, _, instead)| (*entry, *instead)).collect::<Vec<_>>().into_iter()
}

/// The letters that a text with the entry contains.
fn first_letters(entry: &str) -> &str {
    entry.split([' ', '*']).next().unwrap_or_default()
}

fn finding(path: &str, line: usize, entry: &str, instead: &str) -> Finding {
    let problem = format!("`{entry}` is not a word of the glossary");
    let hint = format!("write {instead}");
    if REFUSED { Finding::new(path, line, problem, hint) } else { Finding::note(path, line, problem, hint) }
}

/// Whether a file is written by people or printed by the command, not data.
fn is_read(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["rs", "md", "toml", "json"].contains(&extension) && !EXEMPT.contains(&path)
}

/// The lower-case words of a line. An identifier is several. A punctuation mark is an empty word,
/// so that no phrase reaches across it.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in line.chars() {
        let begins_hump = letter.is_uppercase() && was_lower;
        if !letter.is_alphabetic() || begins_hump {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        } else if !letter.is_whitespace() && !JOINS.contains(&letter) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// A line of Rust without comments and strings. A quotation mark in a character literal or a string
/// over several lines is read wrongly, which costs a word that is missed or a line that needs its
/// `allow`.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

fn says(words: &[String], entry: &str) -> bool {
    let entry: Vec<&str> = entry.split(' ').collect();
    words.windows(entry.len()).any(|window| window.iter().zip(&entry).all(|(word, wanted)| is(word, wanted)))
}

fn is(word: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(stem) => word.starts_with(stem) && !RIGHT.contains(&word),
        None => word == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check(&Repo::made_of(&[(path, text)]));
        findings.into_iter().map(|finding| (finding.line, finding.problem)).collect()
    }

    #[test]
    fn a_phrase_is_found_in_prose_and_in_identifiers() {
        for line in ["rows left out", "let left_out = 1;", "struct LeftOut;", "rows are left\u{2011}out"] {
            assert_eq!(found("a.rs", line).len(), 1, "{line}");
        }
        assert_eq!(found("a.md", "x\nleft out"), [(2, "`left out` is not a word of the glossary".to_owned())]);
        assert_eq!(found("a.rs", "what is left; out of it"), []);
        assert_eq!(found("a.md", "a household of three in stolduk"), []);
    }

    #[test]
    fn names_are_held_to_more_than_sentences() {
        assert_eq!(found("a.rs", "// what was asked\nlet asked = \"asked\"; // asked\n")[0].0, 2);
        assert_eq!(found("a.rs", "// what was asked\nprint(\"asked\");\n"), []);
        assert_eq!(found("a.md", "the caller asked"), []);
    }

    #[test]
    fn output_is_held_to_more_than_comments() {
        assert_eq!(found("crates/cli/tests/transcripts/a.md", "reached k = 3").len(), 1);
        assert_eq!(found("a.md", "reached k = 3"), []);
        assert_eq!(found("a.rs", "// every vertex reached"), []);
    }

    #[test]
    fn british_spellings_are_found_by_their_stem() {
        for word in ["generalised", "neighbours", "Colour", "minimise_loss"] {
            assert_eq!(found("a.md", word).len(), 1, "{word}");
        }
        for word in ["summarise", "generalized", "optimistic", "central"] {
            assert_eq!(found("a.md", word), [], "{word}");
        }
    }

    #[test]
    fn a_line_may_keep_a_word_that_it_names() {
        assert_eq!(found("a.rs", "let told = 1; // tidy: allow(told)"), []);
        assert_eq!(found("a.rs", "let told = 1; // tidy: allow(untold)").len(), 1);
    }

    #[test]
    fn data_is_not_read() {
        assert_eq!(found("a.csv", "told"), []);
    }
}
