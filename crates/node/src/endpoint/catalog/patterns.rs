//! LIKE and regular expressions in time that is bounded by the lengths of pattern and text.
//!
//! SQLite's own LIKE tries every way to place a `%`, and a pattern with many of them runs for
//! years. Here LIKE returns to the last `%` alone, which is enough. Regular expressions are matched
//! by simulating an automaton, whose number of states and whose text are limited.

use regex_lite::{Regex, RegexBuilder};

const PATTERN_BYTES_MAX: usize = 1000;
/// Of the compiled automaton: about two thousand states.
const AUTOMATON_BYTES_MAX: usize = 1 << 16;
/// The longest text that is matched with a regular expression.
const TEXT_BYTES_MAX: usize = 8 << 10;

/// Whether a regular expression finds something in a text; an error where one of them is too long.
pub(super) fn finds(pattern: &str, text: &str, any_case: bool) -> Result<bool, &'static str> {
    if text.len() > TEXT_BYTES_MAX {
        return Err("a text that is too long for a regular expression");
    }
    Ok(compile(pattern, any_case).ok_or("this regular expression cannot be read, or is too long")?.is_match(text))
}

fn compile(pattern: &str, any_case: bool) -> Option<Regex> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return None;
    }
    RegexBuilder::new(pattern).case_insensitive(any_case).size_limit(AUTOMATON_BYTES_MAX).build().ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternPiece {
    /// `%`
    Any,
    /// `_`
    One,
    Character(char),
}

/// Whether a text is like a pattern, as LIKE has it.
pub(super) fn is_like(text: &str, pattern: &str, escape: Option<char>, any_case: bool) -> Result<bool, &'static str> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err("a pattern that is too long");
    }
    let folded = |character: char| match any_case {
        true => character.to_lowercase().next().unwrap_or(character),
        false => character,
    };
    let mut pieces = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            escaped if Some(escaped) == escape => PatternPiece::Character(folded(characters.next().unwrap_or(escaped))),
            '%' => PatternPiece::Any,
            '_' => PatternPiece::One,
            other => PatternPiece::Character(folded(other)),
        });
    }
    let text: Vec<char> = text.chars().map(folded).collect();
    let (mut at, mut piece) = (0, 0);
    // Where the last `%` stands, and up to where it reaches.
    let mut last: Option<(usize, usize)> = None;
    while at < text.len() {
        match pieces.get(piece) {
            Some(PatternPiece::Any) => {
                last = Some((piece, at));
                piece += 1;
            }
            Some(PatternPiece::One) => (at, piece) = (at + 1, piece + 1),
            Some(PatternPiece::Character(character)) if *character == text[at] => (at, piece) = (at + 1, piece + 1),
            _ => match last {
                Some((any, reaches)) => {
                    last = Some((any, reaches + 1));
                    (at, piece) = (reaches + 1, any + 1);
                }
                None => return Ok(false),
            },
        }
    }
    Ok(pieces[piece..].iter().all(|piece| *piece == PatternPiece::Any))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rand::rngs::StdRng;
    use rand::{RngExt as _, SeedableRng as _};

    use super::*;

    /// By the definition: every way to divide the text.
    fn by_definition(text: &[char], pattern: &[char]) -> bool {
        match (pattern.first(), text.first()) {
            (None, _) => text.is_empty(),
            (Some('%'), _) => (0..=text.len()).any(|length| by_definition(&text[length..], &pattern[1..])),
            (Some('_'), Some(_)) => by_definition(&text[1..], &pattern[1..]),
            (Some(wanted), Some(found)) => wanted == found && by_definition(&text[1..], &pattern[1..]),
            (Some(_), None) => false,
        }
    }

    #[test]
    fn like_is_what_its_definition_says() {
        let seed = std::env::var("HEDGEROW_SEED").map_or(1, |seed| seed.parse().unwrap());
        let mut rng = StdRng::seed_from_u64(seed);
        for _ in 0..20_000 {
            let mut word = |letters: &[char], most: usize| -> Vec<char> {
                (0..rng.random_range(0..=most)).map(|_| letters[rng.random_range(0..letters.len())]).collect()
            };
            let (text, pattern) = (word(&['a', 'b', 'é'], 8), word(&['a', 'b', 'é', '%', '_'], 6));
            let joined = |characters: &[char]| characters.iter().collect::<String>();
            let found = is_like(&joined(&text), &joined(&pattern), Some('\\'), false).unwrap();
            assert_eq!(found, by_definition(&text, &pattern), "HEDGEROW_SEED={seed} {text:?} {pattern:?}");
        }
        assert_eq!(is_like("a_b", "a\\_b", Some('\\'), false), Ok(true));
        assert_eq!(is_like("axb", "a!_b", Some('!'), false), Ok(false));
        assert_eq!(is_like("A", "a", None, true), Ok(true));
    }

    #[test]
    fn the_worst_patterns_end_soon() {
        let began = Instant::now();
        assert_eq!(is_like(&"a".repeat(1 << 16), &format!("{}b", "%a".repeat(400)), None, false), Ok(false));
        let text = "a".repeat(TEXT_BYTES_MAX);
        for pattern in ["(a*)*b", "(a|a)*b", "((a{1,20}){1,20})b", "(a?){60}a{60}b"] {
            assert_ne!(finds(pattern, &text, true), Ok(true), "{pattern}");
        }
        assert!(finds("a", &"a".repeat(TEXT_BYTES_MAX + 1), false).is_err());
        assert!(finds(&"a".repeat(PATTERN_BYTES_MAX + 1), "a", false).is_err());
        assert!(finds("((((a{100}){100}){100}){100})", "a", false).is_err(), "an automaton that is too large");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
