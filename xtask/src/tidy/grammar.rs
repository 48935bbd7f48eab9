//! Patterns of grammar that hide who acts: pronouns without a person, amounts without a number, a
//! negated noun in place of a negated verb, and idioms in place of the field's word.
//!
//! "Whoever wanted to know has gone" is "the client disconnected"; "so many rows" is "the number of
//! rows"; "`x` is no number" is "`x` is not a number"; "held against the schema" is "validated
//! against the schema"; "the run it speaks of" is "the run it names". Some uses are natural, so
//! each pattern has a ceiling over all Rust files. A change that goes over it is refused; a change
//! that goes below may lower it.

use super::Finding;
use super::words::words;
use crate::repo::Repo;

/// A pattern, how many places may have it, and what is written instead.
struct Pattern {
    name: &'static str,
    most: usize,
    instead: &'static str,
    at: fn(&[String], usize) -> bool,
}

const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "whoever",
        most: 5,
        instead: "name the person or the program: the attacker, a reader, the client",
        at: |words, at| words[at] == "whoever",
    },
    Pattern {
        name: "nobody",
        most: 30,
        instead: "negate the verb, or name who does not: no row, no client, not published",
        at: |words, at| words[at] == "nobody",
    },
    Pattern {
        name: "everybody, anybody, somebody",
        most: 15,
        instead: "name the person: every person, any reader, an individual",
        at: |words, at| matches!(words[at].as_str(), "everybody" | "anybody" | "somebody"),
    },
    Pattern {
        name: "so many, so much, so long",
        most: 6,
        instead: "name the number: the number of rows, the most bytes, this long",
        at: |words, at| words[at] == "so" && is_amount(words.get(at + 1)) && !compares(words.get(at + 2)),
    },
    Pattern {
        name: "is no, are no + noun",
        most: 35,
        instead: "negate the verb: is not a number, does not exist",
        at: |words, at| {
            matches!(words[at].as_str(), "is" | "are")
                && words.get(at + 1).is_some_and(|word| word == "no")
                && !compares(words.get(at + 2))
        },
    },
    Pattern {
        name: "nothing where, nothing when",
        most: 8,
        instead: "name the value: `None` where, empty where, zero where",
        at: |words, at| {
            words[at] == "nothing" && words.get(at + 1).is_some_and(|word| matches!(word.as_str(), "where" | "when"))
        },
    },
    Pattern {
        name: "hold against",
        most: 10,
        instead: "write: compared with, tested with, validated against",
        at: |words, at| {
            matches!(words[at].as_str(), "hold" | "holds" | "held")
                && words[at + 1..].iter().take(3).any(|word| word == "against")
        },
    },
    Pattern {
        name: "hang together, hear of, speak of",
        most: 14,
        instead: "write the field's verb: are connected, receive, name or is about",
        at: |words, at| {
            let next = words.get(at + 1).map_or("", String::as_str);
            match words[at].as_str() {
                "hang" | "hangs" => next == "together",
                "hear" | "hears" | "heard" | "speak" | "speaks" => next == "of",
                _ => false,
            }
        },
    },
    Pattern {
        name: "documentation that begins with what, who",
        most: 44,
        instead: "begin with the thing's noun: the result of a check, the limits of a run",
        at: |words, at| {
            // A slash is a word without letters: `///` and `//!` are three of them.
            at == 3 && words[..3].iter().all(String::is_empty) && matches!(words[3].as_str(), "what" | "who" | "whom")
        },
    },
];

fn is_amount(word: Option<&String>) -> bool {
    word.is_some_and(|word| matches!(word.as_str(), "many" | "much" | "long"))
}

/// Whether a comparison or a consequence follows: "so many that", "is no longer".
fn compares(word: Option<&String>) -> bool {
    const WORDS: &[&str] =
        &["that", "as", "longer", "more", "less", "larger", "smaller", "better", "worse", "higher", "lower", "finer"];
    word.is_some_and(|word| WORDS.contains(&word.as_str()))
}

/// Where the check states its own patterns.
const EXEMPT: &str = "xtask/src/tidy/grammar.rs";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut places: Vec<Vec<(&str, usize)>> = vec![Vec::new(); PATTERNS.len()];
    for file in repo.files.iter().filter(|file| file.path.ends_with(".rs") && file.path != EXEMPT) {
        for (index, line) in file.text.as_deref().unwrap_or_default().lines().enumerate() {
            let words = words(line);
            for (pattern, places) in PATTERNS.iter().zip(&mut places) {
                let count = (0..words.len()).filter(|&at| (pattern.at)(&words, at)).count();
                places.extend(std::iter::repeat_n((file.path.as_str(), index + 1), count));
            }
        }
    }
    let over = PATTERNS.iter().zip(&places).filter(|(pattern, places)| places.len() > pattern.most);
    over.map(|(pattern, places)| {
        let (path, line) = *places.last().expect("more than a ceiling");
        let problem = format!("`{}` stands in {} places, over {}", pattern.name, places.len(), pattern.most);
        Finding::new(path, line, problem, pattern.instead)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> Vec<usize> {
        let words = words(text);
        let count = |pattern: &Pattern| (0..words.len()).filter(|&at| (pattern.at)(&words, at)).count();
        PATTERNS.iter().map(count).collect()
    }

    #[test]
    fn every_pattern_finds_what_it_names_and_not_its_natural_neighbors() {
        assert_eq!(counted("Whoever asks, nobody answers somebody"), [1, 1, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(counted("so many rows are no table"), [0, 0, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(counted("so many that it is no longer one, as so much as"), [0; 9]);
        assert_eq!(counted("nothing where it holds them against the rows"), [0, 0, 0, 0, 0, 1, 1, 0, 0]);
        assert_eq!(counted("what it speaks of hangs together"), [0, 0, 0, 0, 0, 0, 0, 2, 0]);
        assert_eq!(counted("    /// What a run opens."), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(counted("    // What a run opens, and what it does not."), [0; 9]);
        assert_eq!(counted("nothing holds here; together they speak"), [0; 9]);
    }

    #[test]
    fn a_pattern_is_refused_over_its_ceiling() {
        let text = "// nobody\n".repeat(PATTERNS[1].most);
        assert_eq!(check(&Repo::made_of(&[("a.rs", &text)])), []);
        let more = format!("{text}// nobody\n");
        let found = check(&Repo::made_of(&[("a.rs", &more)]));
        assert_eq!((found.len(), found[0].line), (1, PATTERNS[1].most + 1));
    }
}
