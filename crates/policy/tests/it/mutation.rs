//! A good policy, damaged at random many thousand times: reading never panics, and either gives a
//! policy or errors that all point into the file.

use std::path::Path;

use hedgerow_policy::Policy;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const POLICY: &str = r#"[source]
path = "patients.csv"
null = ["", "?"]
[attributes]
name = { role = "identifier" }
age = { role = "quasi", type = "integer", hierarchy = { widths = [5, 10, 20] } }
"zip code" = { role = "quasi", hierarchy = { mask = 5 } }
born = { role = "quasi", hierarchy = { breaks = [[1950-01-01, "2000-01-01"], ["2000-01-01"]] } }
came.role = "quasi"
came.hierarchy.dates = ["month", "year"]
disease = { role = "sensitive", hierarchy = "d.csv" }
[[rule]]
require = { model = "k-anonymity", k = 5 }
[[rule]]
know = ["age", "zip code"]
protect = "disease"
require = [{ model = "recursive-l-diversity", c = 0.5, l = 3 }, { model = "t-closeness", t = 0.3 }]
[publish]
suppression = 0.02 # é
max-seconds = 1e1
"#;

const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "=",
    ",",
    ".",
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "-",
    "0",
    "9",
    "e",
    "nan",
    "inf",
    "true",
    "é",
    "\u{1f600}",
    "\0",
    "\u{1b}",
    "\u{feff}",
    "\u{2028}",
    "\\",
    "\\u",
    "#",
    "[[",
    "]]",
    "\"\"\"",
    "'''",
    "1e400",
    "0x",
    "99999999999999999999",
    "role",
    "rule",
    "model",
    "[[rule]]",
    "[source]",
    "[attributes]",
    "mask = 5",
    "1979-05-27T07:32:00Z",
];

/// One to six random changes.
fn damaged(rng: &mut StdRng) -> String {
    let mut text: Vec<char> = POLICY.chars().collect();
    for _ in 0..rng.random_range(1..=6) {
        if text.is_empty() {
            break;
        }
        let at = rng.random_range(0..text.len());
        match rng.random_range(0..6) {
            0 => {
                text.remove(at);
            }
            1 => {
                let end = (at + rng.random_range(1..40)).min(text.len());
                text.drain(at..end);
            }
            2 => {
                let piece = PIECES[rng.random_range(0..PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            3 => {
                let piece = PIECES[rng.random_range(0..PIECES.len())];
                text.splice(at..=at, piece.chars());
            }
            4 => {
                let other = rng.random_range(0..text.len());
                text.swap(at, other);
            }
            _ => text.truncate(at.max(1)),
        }
    }
    text.into_iter().collect()
}

/// The replacements of a value.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1e30",
    "0.5",
    "nan",
    "-inf",
    "true",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "\"\"",
    "\"é\"",
    "\"disease\"",
    "\"mondrian\"",
    "[\"age\"]",
    "{ model = \"k-anonymity\" }",
    "{ mask = 3 }",
    "1979-05-27",
    "1979-05-27T07:32:00Z",
    "07:32:00",
];

/// Words, numbers and quoted texts exchanged for others: most of the outcomes are good TOML and bad
/// policies.
fn shuffled(rng: &mut StdRng) -> String {
    let mut pieces: Vec<String> = Vec::new();
    let mut quoted = false;
    let mut in_word = false;
    for character in POLICY.chars() {
        let word = quoted || character == '"' || character.is_alphanumeric() || "-._".contains(character);
        match pieces.last_mut() {
            Some(last) if word && in_word => last.push(character),
            _ => pieces.push(character.into()),
        }
        quoted ^= character == '"';
        in_word = word;
    }
    let is_word = |piece: &String| piece.starts_with(|c: char| c == '"' || c.is_alphanumeric());
    let words: Vec<usize> = (0..pieces.len()).filter(|&at| is_word(&pieces[at])).collect();
    for _ in 0..rng.random_range(1..=3) {
        let at = words[rng.random_range(0..words.len())];
        let other = words[rng.random_range(0..words.len())];
        pieces[at] = match rng.random_range(0..2) {
            0 => pieces[other].clone(),
            _ => VALUES[rng.random_range(0..VALUES.len())].to_owned(),
        };
    }
    pieces.concat()
}

#[test]
fn characters_lost_and_found() {
    check(0..15_000, damaged);
}

#[test]
fn words_in_the_wrong_place() {
    check(0..15_000, shuffled);
}

/// Every text is read, or refused with places in the file.
fn check(seeds: std::ops::Range<u64>, damage: fn(&mut StdRng) -> String) {
    let (mut read, mut refused, mut refused_after_parsing) = (0, 0, 0);
    for seed in seeds {
        let text = damage(&mut StdRng::seed_from_u64(seed));
        let outcome = std::panic::catch_unwind(|| Policy::parse(&text, Path::new("policy.toml")));
        let Ok(outcome) = outcome else { panic!("seed {seed} panics on:\n{text}") };
        let Err(errors) = outcome else {
            read += 1;
            continue;
        };
        refused += 1;
        refused_after_parsing += usize::from(!errors.to_string().contains("not valid TOML"));
        assert!(!errors.is_empty(), "seed {seed}");
        let lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(&text).split('\n').collect();
        for error in errors.iter() {
            let position = error.position.unwrap_or_else(|| panic!("seed {seed}: no position in {error}"));
            let line = lines.get(position.line - 1).unwrap_or_else(|| panic!("seed {seed}: no such line: {error}"));
            assert!(position.column <= line.chars().count() + 1, "seed {seed}: no such column: {error}");
            let place = format!("policy.toml:{}:{}", position.line, position.column);
            assert!(error.error.place.starts_with(&place), "seed {seed}: {error}");
            assert!(!error.error.hint.is_empty(), "seed {seed}: no hint in {error}");
            assert!(error.to_string().chars().all(|c| c == '\n' || !c.is_control()), "seed {seed}: {error:?}");
        }
    }
    let counts = format!("{read} read, {refused} refused, {refused_after_parsing} of them as policies");
    assert!(read > 100 && refused_after_parsing > 1_000, "the damage should be of every kind: {counts}");
    println!("{counts}");
}
