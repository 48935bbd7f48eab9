//! The words a file may use: the keys of its tables, and the names that stand as values.

use hedgerow_table::spelling::{folded, nearest};

use crate::position::quoted;

/// A key of a table, or a name that stands as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    pub name: &'static str,
    /// One line that explains it.
    pub about: &'static str,
    /// How it may be written, for hints; empty for names that stand as values.
    pub example: &'static str,
    /// Other spellings that mean the same and are accepted.
    pub accepted: &'static [&'static str],
    /// Synonyms from other programs; never accepted, but the error names this word.
    pub also: &'static [&'static str],
    /// Whether this version can do it. A known word that it cannot do is refused as such, not as a
    /// mistake.
    pub available: bool,
    /// Whether its table must have it.
    pub required: bool,
}

impl Word {
    pub const fn key(name: &'static str, example: &'static str, about: &'static str) -> Word {
        Word { name, about, example, accepted: &[], also: &[], available: true, required: false }
    }

    pub const fn value(name: &'static str, about: &'static str) -> Word {
        Word::key(name, "", about)
    }

    pub const fn accepts(self, accepted: &'static [&'static str]) -> Word {
        Word { accepted, ..self }
    }

    pub const fn also(self, also: &'static [&'static str]) -> Word {
        Word { also, ..self }
    }

    pub const fn later(self) -> Word {
        Word { available: false, ..self }
    }

    pub const fn required(self) -> Word {
        Word { required: true, ..self }
    }

    /// Whether the text is this word, in one of its spellings.
    pub fn is(&self, text: &str) -> bool {
        self.name == text || self.accepted.contains(&text)
    }

    /// Every text that leads to this word.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.accepted.iter().chain(self.also).copied())
    }
}

/// The word meant by a text that is not one: by a synonym, or as a misspelling.
pub fn nearest_word<'w>(given: &str, words: impl Iterator<Item = &'w Word>) -> Option<&'w str> {
    let words: Vec<&Word> = words.collect();
    let plain = folded(given);
    let known_as = words.iter().find(|word| word.spellings().any(|spelling| folded(spelling) == plain));
    known_as.map(|word| word.name).or_else(|| nearest(given, words.iter().map(|word| word.name)))
}

/// `a`, `b` and `c`; long lists are cut.
pub fn listed<'w>(names: impl Iterator<Item = &'w str>) -> String {
    const NAMES_MAX: usize = 12;
    let mut rest = names;
    let mut names: Vec<String> = rest.by_ref().take(NAMES_MAX).map(quoted).collect();
    let more = rest.count();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[Word] = &[
        Word::value("suppression", ""),
        Word::value("max-nodes", ""),
        Word::value("quasi", "").accepts(&["quasi-identifier"]),
        Word::value("sensitive", ""),
        Word::value("plain", "").also(&["insensitive"]),
    ];

    #[test]
    fn slips_and_other_names_find_their_word() {
        assert_eq!(nearest_word("supression", WORDS.iter()), Some("suppression"));
        assert_eq!(nearest_word("max_nodes", WORDS.iter()), Some("max-nodes"));
        assert_eq!(nearest_word("Quasi Identifier", WORDS.iter()), Some("quasi"));
        assert_eq!(nearest_word("insensitive", WORDS.iter()), Some("plain"), "not `sensitive`, though it looks alike");
        assert_eq!(nearest_word("color", WORDS.iter()), None);
        assert_eq!(nearest_word("", WORDS.iter()), None);
    }

    #[test]
    fn accepted_spellings_are_the_word_and_others_are_not() {
        assert!(WORDS[2].is("quasi") && WORDS[2].is("quasi-identifier"));
        assert!(!WORDS[4].is("insensitive"));
    }

    #[test]
    fn lists_read_as_sentences_and_end() {
        assert_eq!(listed(["a"].into_iter()), "`a`");
        assert_eq!(listed(["a", "b", "c"].into_iter()), "`a`, `b` and `c`");
        assert!(listed((0..100).map(|_| "name")).ends_with("and 88 more"));
    }
}
