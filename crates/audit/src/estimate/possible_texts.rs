//! Which combinations of predicates hold for some text: for any text at all, or for one under a
//! mask.
//!
//! A label is a set of values and not its own text, and nothing lists the values under `*` or under
//! a mask. The predicates read a text character by character, each with a state of its own; all
//! states that they can come to together are visited. Of characters that no predicate names, one
//! between every two that are named stands for all.

use std::collections::VecDeque;

use hashbrown::HashSet;
use hedgerow_table::{InputError, Kind, TableError};

use super::like::{Like, LikePart};
use super::mask;
use super::predicate::{Comparison, Predicate};

/// The most states that are visited for one label.
const STATES_MAX: usize = 1 << 15;

/// The most steps, each counted with the words of its state.
const STEPS_MAX: usize = 1 << 24;

/// Of a comparison: the text is less, or greater, whatever follows.
const LESS: u32 = u32::MAX - 1;
const GREATER: u32 = u32::MAX;

/// The combinations that some text fulfils, in the order of the predicates; what a predicate
/// requires of a number is `false` here. `digits` says that the texts are numbers of this kind. And
/// how many steps it took.
pub(super) fn combinations(
    mask: Option<&str>,
    predicates: &[&Predicate],
    digits: Option<Kind>,
) -> Result<(Vec<Vec<bool>>, usize), TableError> {
    let readers: Vec<TextReader<'_>> = predicates.iter().map(|predicate| TextReader::new(predicate)).collect();
    if readers.iter().all(|reader| matches!(reader, TextReader::Always(_))) {
        return Ok((vec![readers.iter().map(|reader| reader.holds(&[])).collect()], 0));
    }
    let characters = match digits {
        Some(Kind::Integer) => "-0123456789".chars().collect(),
        Some(_) => "-.0123456789".chars().collect(),
        None => characters(predicates),
    };
    let mut walk = Walk { readers: &readers, characters, steps: 0, found: HashSet::new() };
    let mut start = Vec::new();
    readers.iter().for_each(|reader| reader.start(&mut start));
    match mask {
        None => walk.everywhere(start)?,
        Some(mask) => walk.along(start, mask)?,
    }
    let mut found: Vec<Vec<bool>> = walk.found.into_iter().collect();
    found.sort_unstable();
    Ok((found, walk.steps))
}

/// One character of every kind that the predicates distinguish.
fn characters(predicates: &[&Predicate]) -> Vec<char> {
    let mut named: Vec<char> = predicates.iter().flat_map(|predicate| mask::named(predicate)).collect();
    let cases: Vec<char> =
        named.iter().flat_map(|character| character.to_lowercase().chain(character.to_uppercase())).collect();
    named.extend(cases);
    named.sort_unstable();
    named.dedup();
    let mut all = vec!['\u{1}'];
    for (at, &character) in named.iter().enumerate() {
        all.push(character);
        let next = char::from_u32(character as u32 + 1).or((character < '\u{e000}').then_some('\u{e000}'));
        all.extend(next.filter(|next| named.get(at + 1).is_none_or(|following| next < following)));
    }
    all.sort_unstable();
    all.dedup();
    all
}

struct Walk<'a, 'p> {
    readers: &'a [TextReader<'p>],
    characters: Vec<char>,
    steps: usize,
    found: HashSet<Vec<bool>>,
}

impl Walk<'_, '_> {
    /// Over all texts but the empty one, which is the missing value.
    fn everywhere(&mut self, start: Vec<u32>) -> Result<(), TableError> {
        let mut seen: HashSet<Vec<u32>> = HashSet::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(state) = waiting.pop_front() {
            for at in 0..self.characters.len() {
                let next = self.step(&state, self.characters[at])?;
                if seen.contains(&next) {
                    continue;
                }
                self.note(&next);
                seen.insert(next.clone());
                waiting.push_back(next);
            }
            refuse_many(seen.len() > STATES_MAX)?;
        }
        Ok(())
    }

    /// Over the texts under a mask.
    fn along(&mut self, start: Vec<u32>, mask: &str) -> Result<(), TableError> {
        let mut states = HashSet::from([start]);
        for character in mask.chars() {
            let mut next = HashSet::new();
            for state in &states {
                if character != mask::STAR {
                    next.insert(self.step(state, character)?);
                    continue;
                }
                for at in 0..self.characters.len() {
                    next.insert(self.step(state, self.characters[at])?);
                }
            }
            refuse_many(next.len() > STATES_MAX)?;
            states = next;
        }
        states.iter().for_each(|state| self.note(state));
        Ok(())
    }

    fn step(&mut self, state: &[u32], character: char) -> Result<Vec<u32>, TableError> {
        self.steps += state.len().max(1);
        refuse_many(self.steps > STEPS_MAX)?;
        let mut next = Vec::with_capacity(state.len());
        let mut rest = state;
        for reader in self.readers {
            let (own, others) = rest.split_at(reader.words());
            reader.step(own, character, &mut next);
            rest = others;
        }
        Ok(next)
    }

    fn note(&mut self, state: &[u32]) {
        let mut rest = state;
        let holds = self.readers.iter().map(|reader| {
            let (own, others) = rest.split_at(reader.words());
            rest = others;
            reader.holds(own)
        });
        self.found.insert(holds.collect());
    }
}

fn refuse_many(many: bool) -> Result<(), TableError> {
    if many {
        let problem = "the condition distinguishes too many texts of one column";
        return Err(InputError::new("SQL", problem, "use fewer or shorter patterns after LIKE").into());
    }
    Ok(())
}

/// A predicate that reads a text character by character.
enum TextReader<'p> {
    Always(bool),
    /// The places of the pattern that the text so far can have come to, as bits.
    Like(&'p Like, bool),
    /// How long the text so far agrees with the other, or how it compares.
    Order(Comparison, Vec<char>),
    /// The first and the last text that begin with the text so far, and its length.
    Among(Vec<Vec<char>>, bool),
}

impl<'p> TextReader<'p> {
    fn new(predicate: &'p Predicate) -> TextReader<'p> {
        let among = |texts: &[String], negated: bool| {
            TextReader::Among(texts.iter().map(|text| text.chars().collect()).collect(), negated)
        };
        match predicate {
            Predicate::Present => TextReader::Always(true),
            Predicate::CompareText(by, with) => TextReader::Order(*by, with.chars().collect()),
            Predicate::Texts { among: texts, negated } => among(texts, *negated),
            Predicate::TextsOrMissing(texts) => among(texts, false),
            Predicate::Like { pattern, negated } => TextReader::Like(pattern, *negated),
            _ => TextReader::Always(false),
        }
    }

    fn words(&self) -> usize {
        match self {
            TextReader::Always(_) => 0,
            TextReader::Like(pattern, _) => pattern.parts.len() / 32 + 1,
            TextReader::Order(..) => 1,
            TextReader::Among(..) => 3,
        }
    }

    fn start(&self, state: &mut Vec<u32>) {
        match self {
            TextReader::Always(_) => {}
            TextReader::Like(pattern, _) => {
                let mut places = vec![0u32; self.words()];
                reach(pattern, &mut places, 0);
                state.extend(places);
            }
            TextReader::Order(..) => state.push(0),
            TextReader::Among(texts, _) => state.extend([0, texts.len() as u32, 0]),
        }
    }

    fn step(&self, state: &[u32], character: char, next: &mut Vec<u32>) {
        match self {
            TextReader::Always(_) => {}
            TextReader::Like(pattern, _) => {
                let mut places = vec![0u32; state.len()];
                for (place, part) in pattern.parts.iter().enumerate() {
                    if state[place / 32] >> (place % 32) & 1 == 0 {
                        continue;
                    }
                    match part {
                        LikePart::AnyText => reach(pattern, &mut places, place),
                        part if pattern.takes(*part, character) => reach(pattern, &mut places, place + 1),
                        _ => {}
                    }
                }
                next.extend(places);
            }
            TextReader::Order(_, with) => next.push(match state[0] {
                decided @ (LESS | GREATER) => decided,
                agrees => match with.get(agrees as usize) {
                    Some(other) if character == *other => agrees + 1,
                    Some(other) if character < *other => LESS,
                    _ => GREATER,
                },
            }),
            TextReader::Among(texts, _) => {
                let (first, last, length) = (state[0] as usize, state[1] as usize, state[2] as usize);
                // Texts are sorted: those that end here come first.
                let from = texts[first..last].partition_point(|text| text.get(length).copied() < Some(character));
                let to = texts[first..last].partition_point(|text| text.get(length).copied() <= Some(character));
                next.extend(match from < to {
                    true => [(first + from) as u32, (first + to) as u32, length as u32 + 1],
                    false => [0; 3],
                });
            }
        }
    }

    fn holds(&self, state: &[u32]) -> bool {
        match self {
            TextReader::Always(holds) => *holds,
            TextReader::Like(pattern, negated) => {
                let last = pattern.parts.len();
                (state[last / 32] >> (last % 32) & 1 == 1) != *negated
            }
            TextReader::Order(by, with) => by.holds(match state[0] {
                GREATER => std::cmp::Ordering::Greater,
                agrees if agrees as usize == with.len() => std::cmp::Ordering::Equal,
                _ => std::cmp::Ordering::Less,
            }),
            TextReader::Among(texts, negated) => {
                let is_one = state[0] < state[1] && texts[state[0] as usize].len() == state[2] as usize;
                is_one != *negated
            }
        }
    }
}

/// A place of a pattern, and those that follow when `%` stands for nothing.
fn reach(pattern: &Like, places: &mut [u32], mut place: usize) {
    loop {
        places[place / 32] |= 1 << (place % 32);
        if pattern.parts.get(place) != Some(&LikePart::AnyText) {
            return;
        }
        place += 1;
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn random_text(rng: &mut StdRng, letters: &str, lengths: std::ops::Range<usize>) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..rng.random_range(lengths)).map(|_| letters[rng.random_range(0..letters.len())]).collect()
    }

    fn random_predicate(rng: &mut StdRng) -> Predicate {
        let comparisons = [Comparison::Equal, Comparison::Less, Comparison::GreaterOrEqual, Comparison::Different];
        match rng.random_range(0..4) {
            0 => Predicate::CompareText(comparisons[rng.random_range(0..4)], random_text(rng, "bd", 1..4)),
            1 => {
                let mut among: Vec<String> = (0..3).map(|_| random_text(rng, "bd", 1..4)).collect();
                among.sort_unstable();
                among.dedup();
                Predicate::Texts { among, negated: rng.random_bool(0.5) }
            }
            _ => {
                let pattern = Like::new(&random_text(rng, "bd__%", 1..4), None, false).unwrap();
                Predicate::Like { pattern, negated: rng.random_bool(0.5) }
            }
        }
    }

    /// All texts of up to six characters, of which two are named and three are not: longer ones
    /// decide nothing more between two short patterns.
    #[test]
    fn every_text_there_can_be_has_its_combination() {
        let mut rng = StdRng::seed_from_u64(7);
        let mut texts = vec![String::new()];
        let mut all: Vec<String> = Vec::new();
        for _ in 0..6 {
            texts = texts.iter().flat_map(|text| "abcde".chars().map(move |next| format!("{text}{next}"))).collect();
            all.extend(texts.iter().cloned());
        }
        for case in 0..150 {
            let own: Vec<Predicate> = (0..rng.random_range(1..3)).map(|_| random_predicate(&mut rng)).collect();
            let predicates: Vec<&Predicate> = own.iter().collect();
            let holds = |text: &String| own.iter().map(|predicate| predicate.holds_for_text(text)).collect::<Vec<_>>();
            let masked = random_text(&mut rng, "bd**", 1..5);
            for mask in [None, Some(masked.as_str())] {
                let under = all.iter().filter(|text| mask.is_none_or(|mask| mask::matches(mask, text)));
                let mut expected: Vec<Vec<bool>> = under.map(holds).collect();
                expected.sort_unstable();
                expected.dedup();
                let found = combinations(mask, &predicates, None).unwrap().0;
                assert_eq!(found, expected, "case {case}: {mask:?} {own:?}");
            }
        }
    }

    #[test]
    fn too_many_states_are_refused() {
        let pattern = |start: usize| format!("%{}{}", char::from(b'a' + start as u8), "_".repeat(12));
        let own: Vec<Predicate> = (0..6)
            .map(|start| Predicate::Like { pattern: Like::new(&pattern(start), None, false).unwrap(), negated: false })
            .collect();
        let error = combinations(None, &own.iter().collect::<Vec<_>>(), None).unwrap_err();
        assert!(error.to_string().contains("too many texts"), "{error}");
    }
}
