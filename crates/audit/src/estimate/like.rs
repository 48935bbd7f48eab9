//! Patterns of SQL's `LIKE`.

/// A pattern of `LIKE`: `%` is any text, `_` any character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Like {
    pub(super) parts: Vec<LikePart>,
    pub(super) any_case: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LikePart {
    Character(char),
    AnyCharacter,
    AnyText,
}

impl Like {
    /// `None` when the pattern ends in its escape character.
    pub(crate) fn new(text: &str, escape: Option<char>, any_case: bool) -> Option<Like> {
        let mut parts = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            parts.push(match character {
                found if Some(found) == escape => LikePart::Character(characters.next()?),
                '%' => LikePart::AnyText,
                '_' => LikePart::AnyCharacter,
                found => LikePart::Character(found),
            });
        }
        Some(Like { parts, any_case })
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        // Which places of the text the parts so far can have come to.
        let mut matched = vec![false; text.len() + 1];
        let mut next = matched.clone();
        matched[0] = true;
        for part in &self.parts {
            next.fill(false);
            match part {
                LikePart::AnyText => {
                    let first = matched.iter().position(|here| *here).unwrap_or(matched.len());
                    next[first..].fill(true);
                }
                part => {
                    for (place, character) in text.iter().enumerate() {
                        next[place + 1] = matched[place] && self.takes(*part, *character);
                    }
                }
            }
            std::mem::swap(&mut matched, &mut next);
        }
        matched[text.len()]
    }

    pub(super) fn takes(&self, part: LikePart, character: char) -> bool {
        match part {
            LikePart::Character(wanted) if self.any_case => wanted.to_lowercase().eq(character.to_lowercase()),
            LikePart::Character(wanted) => wanted == character,
            LikePart::AnyCharacter | LikePart::AnyText => true,
        }
    }

    /// The characters it names.
    pub(super) fn characters(&self) -> impl Iterator<Item = char> {
        self.parts.iter().filter_map(|part| match part {
            LikePart::Character(character) => Some(*character),
            _ => None,
        })
    }

    /// Whether all texts, or none, that begin with these characters and have as many more match;
    /// `None` when it depends.
    pub(super) fn decided(&self, known: &[char], more: usize) -> Option<bool> {
        for (place, part) in self.parts.iter().enumerate() {
            match part {
                LikePart::AnyText if place + 1 == self.parts.len() => return Some(true),
                LikePart::AnyText => return None,
                part => match known.get(place) {
                    Some(character) if !self.takes(*part, *character) => return Some(false),
                    Some(_) => {}
                    None if place >= known.len() + more => return Some(false),
                    None => return None,
                },
            }
        }
        if known.len() + more > self.parts.len() { Some(false) } else { (more == 0).then_some(true) }
    }
}
