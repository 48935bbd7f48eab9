//! `docs/policy.md` is written from the tables of words, so that it lists every key and cannot
//! disagree with what is read. `HEDGEROW_WRITE_DOCS=1 cargo test -p hedgerow-policy
//! reference` (or `cargo xtask docs`) rewrites it.

use std::fmt::Write as _;
use std::path::Path;

use hedgerow_config::Word;
use hedgerow_policy::words::{
    ALGORITHMS, ANATOMY_ASSIGNMENTS, ANONYMIZERS, ATTRIBUTE, CHANGES, CLONE_ASSIGNMENTS, COARSEN, COMMUNITY,
    CONDITIONS, DATE_UNITS, DEPENDENCY, DISTANCES, FORMATS, HIERARCHY, KNOWN_ROWS, LABELS, LOSSES, METHODS, MODELS,
    PUBLISH, RARE, READINGS, ROLES, RULE, SECTIONS, SOURCE, SUMMARIES, TYPES,
};

/// The prose: everything between two `{{…}}` marks, each of which stands for a table of words.
const TEXT: &str = include_str!("reference.md");

#[test]
fn the_reference_lists_every_key_as_it_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    let expected = reference();
    if std::env::var_os("HEDGEROW_WRITE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(expected == found, "docs/policy.md is out of date: run `cargo xtask docs`; first difference: {differs:?}");
}

fn reference() -> String {
    let mut text = String::new();
    for (number, piece) in TEXT.split("{{").enumerate() {
        let Some((mark, prose)) = piece.split_once("}}") else {
            assert_eq!(number, 0, "a mark is not closed");
            text.push_str(piece);
            continue;
        };
        text.push_str(table(mark).trim_end());
        text.push_str(prose);
    }
    text
}

fn table(mark: &str) -> String {
    match mark {
        "sections" => keys(SECTIONS),
        "source" => keys(SOURCE),
        "formats" => names(FORMATS),
        "attribute" => keys(ATTRIBUTE),
        "roles" => names(ROLES),
        "types" => names(TYPES),
        "hierarchy" => keys(HIERARCHY),
        "coarsen" => keys(COARSEN),
        "date-units" => names(DATE_UNITS),
        "rule" => keys(RULE),
        "known-rows" => names(KNOWN_ROWS),
        "models" => models(),
        "distances" => names(DISTANCES),
        "readings" => names(READINGS),
        "changes" => names(CHANGES),
        "conditions" => keys(CONDITIONS),
        "publish" => publish(),
        "methods" => names(METHODS),
        "losses" => names(LOSSES),
        "summaries" => names(SUMMARIES),
        "labels" => names(LABELS),
        "anatomy-assignments" => names(ANATOMY_ASSIGNMENTS),
        "clone-assignments" => names(CLONE_ASSIGNMENTS),
        "rare" => names(RARE),
        "algorithms" => names(ALGORITHMS),
        "anonymizers" => names(ANONYMIZERS),
        "dependency" => keys(DEPENDENCY),
        "community" => keys(COMMUNITY),
        other => panic!("reference.md: unknown mark {other:?}"),
    }
}

fn keys(words: &[Word]) -> String {
    let mut text = String::from("| key | meaning | example |\n|---|---|---|\n");
    for word in words.iter().filter(|word| word.available) {
        let _ = writeln!(text, "| {} | {} | {} |", name(word), cell(word.about), code(word.example));
    }
    text
}

fn names(words: &[Word]) -> String {
    let mut text = String::from("| name | meaning |\n|---|---|\n");
    for word in words.iter().filter(|word| word.available) {
        let _ = writeln!(text, "| {} | {} |", name(word), cell(word.about));
    }
    text
}

/// The keys, with the methods that understand each, which the words name first.
fn publish() -> String {
    let mut text = String::from("| key | for | meaning | example |\n|---|---|---|---|\n");
    for word in PUBLISH {
        let (methods, about) = word
            .about
            .strip_prefix("for ")
            .and_then(|about| about.split_once(": "))
            .unwrap_or(("every method", word.about));
        let _ = writeln!(text, "| {} | {} | {} | {} |", name(word), cell(methods), cell(about), code(word.example));
    }
    text
}

fn models() -> String {
    let mut text = String::from("| model | it holds when | parameters |\n|---|---|---|\n");
    for model in MODELS {
        let own = model.keys.iter().filter(|key| key.name != "model" && !CONDITIONS.contains(key));
        let parameters = own.map(|key| {
            let optional = if key.required { "" } else { " (optional)" };
            format!("{}{optional}: {}", code(key.example), cell(key.about))
        });
        let parameters = parameters.collect::<Vec<_>>().join("; ");
        let _ = writeln!(text, "| {} | {} | {parameters} |", name(&model.model), cell(model.model.about));
    }
    text
}

/// With the spellings that are accepted as well, and whether its table must have it.
fn name(word: &Word) -> String {
    let mut text = code(word.name);
    if !word.accepted.is_empty() {
        let others: Vec<String> = word.accepted.iter().map(|other| code(other)).collect();
        let _ = write!(text, " (or {})", others.join(", "));
    }
    text.push_str(if word.required { ", required" } else { "" });
    text
}

fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
