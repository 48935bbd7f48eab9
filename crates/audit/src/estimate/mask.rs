//! The texts under a masked label such as `021**`, in which every `*` stands for one character.
//!
//! A codebook does not name the values under a mask, since naming them would undo it. Without other
//! knowledge each star is taken as any character of the kinds that the attribute's labels show: a
//! digit where they show digits. The texts are not listed: a star is opened only while some
//! predicate still depends on it.

use super::declared::Masks;
use super::like::{Like, LikePart};
use super::masked_digits;
use super::predicate::{Comparison, Predicate};

pub(super) const STAR: char = '*';

/// The most partly opened labels looked at for one label. Beyond it the rest counts as not
/// fulfilling what is undecided.
const OPENED_MAX: usize = 200_000;

impl Like {
    /// The texts under a mask.
    pub(crate) fn of_mask(mask: &str) -> Like {
        let part = |character| if character == STAR { LikePart::AnyCharacter } else { LikePart::Character(character) };
        Like { parts: mask.chars().map(part).collect(), any_case: false }
    }
}

/// Whether a label stands for what a mask does: its only leaf, which hides characters. The label of
/// a class may name its level besides.
pub(crate) fn is_mask(masks: Masks, label: &str, leaves: &[String]) -> bool {
    let [leaf] = leaves else { return false };
    leaf.contains(STAR)
        && match masks {
            Masks::Always => true,
            Masks::Never => false,
            Masks::Perhaps | Masks::Unstated => leaf == label,
        }
}

pub(crate) fn matches(mask: &str, text: &str) -> bool {
    let mut characters = text.chars();
    mask.chars().all(|wanted| characters.next().is_some_and(|found| wanted == STAR || wanted == found))
        && characters.next().is_none()
}

/// The characters that a star may stand for, from those that are seen.
pub(crate) fn alphabet<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<char> {
    let mut seen: Vec<char> = Vec::new();
    for character in texts.flat_map(str::chars).filter(|character| *character != STAR) {
        match character {
            '0'..='9' => seen.extend('0'..='9'),
            'a'..='z' => seen.extend('a'..='z'),
            'A'..='Z' => seen.extend('A'..='Z'),
            other => seen.push(other),
        }
        if seen.len() > 1 << 12 {
            seen.sort_unstable();
            seen.dedup();
        }
    }
    seen.sort_unstable();
    seen.dedup();
    if seen.is_empty() { ('0'..='9').collect() } else { seen }
}

/// Passes to `found` groups of texts under a mask with the share of each, so that no predicate
/// changes within a group: the predicates that hold for it. A group that only characters outside
/// the alphabet lead to has the share 0.
pub(crate) fn open(mask: &str, alphabet: &[char], predicates: &[&Predicate], mut found: impl FnMut(f64, Vec<bool>)) {
    let mask: Vec<char> = mask.chars().collect();
    // Characters that make a difference although no label shows them.
    let mut others: Vec<char> = predicates.iter().flat_map(|predicate| named(predicate)).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|character| alphabet.binary_search(character).is_err());
    let mut waiting = vec![(mask, 1.0f64)];
    let mut opened = 0;
    while let Some((texts, share)) = waiting.pop() {
        let known = texts.iter().position(|character| *character == STAR).unwrap_or(texts.len());
        // A mask hides the end of a text; a star within it is opened like any other.
        let settled = texts[known..].iter().all(|character| *character == STAR);
        let more = texts.len() - known;
        let decided: Vec<Option<bool>> = predicates
            .iter()
            .map(|predicate| if settled { decide(predicate, &texts[..known], more) } else { None })
            .collect();
        opened += 1;
        if known == texts.len() || opened > OPENED_MAX || decided.iter().all(Option::is_some) {
            found(share, decided.into_iter().map(|decided| decided.unwrap_or(false)).collect());
            continue;
        }
        let with = |character: char| {
            let mut texts = texts.clone();
            texts[known] = character;
            texts
        };
        waiting.extend(others.iter().map(|character| (with(*character), 0.0)));
        waiting.extend(alphabet.iter().map(|character| (with(*character), share / alphabet.len() as f64)));
    }
}

/// The characters that a predicate names.
pub(super) fn named(predicate: &Predicate) -> Vec<char> {
    match predicate {
        Predicate::Like { pattern, .. } => pattern.characters().collect(),
        other => other.texts().iter().flat_map(|text| text.chars()).collect(),
    }
}

/// Whether a predicate holds for all texts, or for none, that begin with `known` and have `more`
/// characters after it.
fn decide(predicate: &Predicate, known: &[char], more: usize) -> Option<bool> {
    if more == 0 {
        return Some(predicate.holds_for_text(&known.iter().collect::<String>()));
    }
    let among = |texts: &[String]| (!texts.iter().any(|text| can_be(known, more, text))).then_some(false);
    match predicate {
        Predicate::Present => Some(true),
        Predicate::CompareText(comparison, with) => match comparison {
            Comparison::Equal => (!can_be(known, more, with)).then_some(false),
            Comparison::Different => (!can_be(known, more, with)).then_some(true),
            _ => {
                // Decided as soon as the known beginning differs from that of the text compared
                // with.
                let mut wanted = with.chars();
                for character in known {
                    match wanted.next() {
                        None => return Some(predicate.holds_for_text(&known.iter().collect::<String>())),
                        Some(other) if other != *character => {
                            return Some(predicate.holds_for_text(&known.iter().collect::<String>()));
                        }
                        Some(_) => {}
                    }
                }
                // Something follows, which makes it greater than a text that ends here.
                wanted
                    .next()
                    .is_none()
                    .then_some(matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual))
            }
        },
        Predicate::Texts { among: texts, negated } => among(texts).map(|held| held != *negated),
        Predicate::TextsOrMissing(texts) => among(texts),
        Predicate::Like { pattern, negated } => pattern.decided(known, more).map(|held| held != *negated),
        Predicate::OfDigits(kind, of) => {
            let (low, high) = masked_digits::hull(&known.iter().collect::<String>(), more, *kind);
            of.over(low, high)
        }
        _ => Some(false),
    }
}

fn can_be(known: &[char], more: usize, text: &str) -> bool {
    let mut characters = text.chars();
    known.iter().all(|wanted| characters.next() == Some(*wanted)) && characters.count() == more
}
