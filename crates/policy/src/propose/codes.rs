//! Codes: values that belong together when they begin alike, as postal codes, diagnoses and
//! industries do.

use std::collections::HashSet;

use hedgerow_table::{Kind, Values};

use super::content::spread;
use super::groups::Tree;
use super::profile::{Facts, texts_of};
use super::way::Way;

const LENGTH_MAX: usize = 20;
const SEPARATORS: [char; 5] = ['.', '-', '/', '_', ':'];

/// Letters and digits without spaces, a digit in nearly every one.
pub(super) fn look_like_codes(facts: &Facts<'_>) -> bool {
    let Values::Category(values) = facts.domain().values() else { return false };
    let is_code = |text: &str| {
        (2..=LENGTH_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-/_:".contains(&byte))
            && !text.as_bytes().windows(3).any(|three| three.iter().all(u8::is_ascii_lowercase))
            && text.bytes().any(|byte| byte.is_ascii_digit())
    };
    let (mut codes, mut all) = (0, 0);
    for value in spread(values) {
        codes += usize::from(is_code(value));
        all += 1;
    }
    facts.kind() == Kind::Category && all > 0 && codes * 10 >= all * 9
}

/// Diagnoses of ICD-10, as `E11.9` and `I10`: a letter and two digits, most with a point behind
/// them.
pub(super) fn are_diagnoses(facts: &Facts<'_>) -> bool {
    const DISTINCT_MIN: u64 = 5;
    let Values::Category(values) = facts.domain().values() else { return false };
    let is_diagnosis = |text: &str| {
        let (category, detail) = text.split_once('.').unwrap_or((text, ""));
        let category = category.as_bytes();
        category.len() == 3
            && category[0].is_ascii_uppercase()
            && category[1].is_ascii_digit()
            && category[2].is_ascii_alphanumeric()
            && detail.len() <= 4
            && detail.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let sample: Vec<&str> = spread(values).map(AsRef::as_ref).collect();
    let matching = sample.iter().filter(|text| is_diagnosis(text)).count();
    let pointed = sample.iter().filter(|text| text.contains('.')).count();
    facts.distinct >= DISTINCT_MIN && matching * 10 >= sample.len() * 9 && pointed * 2 >= sample.len()
}

/// Long enough to have a beginning, and nearly all of one length.
pub(super) fn are_equally_long(facts: &Facts<'_>) -> bool {
    facts.length_min >= 3 && facts.length_max - facts.length_min <= 1
}

/// A file of beginnings: from long to short, wherever a shorter one leaves at most a third of the
/// groups, and where a separator ends what the codes begin with.
pub(super) fn prefixes(facts: &Facts<'_>) -> Option<Way> {
    const LEVELS_MAX: usize = 4;
    let leaves = texts_of(facts.domain());
    let longest = facts.length_max.min(LENGTH_MAX);
    let mut tree = Tree::new(leaves.clone());
    let separated = separated_at(&leaves);
    let (mut groups, mut levels) = (leaves.len(), 0);
    for length in (1..longest).rev() {
        let heads: Vec<&str> = leaves.iter().map(|leaf| head(leaf, length)).collect();
        let count = heads.iter().collect::<HashSet<_>>().len();
        if count < 2 || levels == LEVELS_MAX {
            break;
        }
        let at_separator = separated == Some(length);
        if count * 3 <= groups || (at_separator && count < groups) {
            tree.add(heads.iter().map(|head| format!("{head}*")).collect());
            groups = count;
            levels += 1;
        }
        // A number before a separator is one thing, such as a state: its first digit means nothing.
        if at_separator && heads.iter().all(|head| head.bytes().all(|byte| byte.is_ascii_digit())) {
            break;
        }
    }
    if levels == 0 { None } else { tree.file() }
}

/// How many characters stand before the first separator, when that is the same for all.
fn separated_at(leaves: &[String]) -> Option<usize> {
    let position = |leaf: &String| leaf.chars().position(|c| SEPARATORS.contains(&c));
    let first = position(leaves.first()?)?;
    leaves.iter().all(|leaf| position(leaf) == Some(first)).then_some(first)
}

/// The first characters of a code, without a separator at their end.
fn head(text: &str, length: usize) -> &str {
    let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
    let head = text[..end].trim_end_matches(SEPARATORS);
    if head.is_empty() { &text[..end] } else { head }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::Table;

    fn prefixes_of(texts: &[String]) -> Option<String> {
        let rows: Vec<Vec<&str>> = texts.iter().map(|text| vec![text.as_str()]).collect();
        match prefixes(&Facts::of(&Table::from_texts(&["c"], &rows).columns[0])) {
            Some(Way::File { text, .. }) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn diagnoses_are_grouped_by_how_they_begin() {
        let codes: Vec<String> =
            (0..90).map(|n| format!("{}{:02}.{}", ['E', 'I', 'J'][n / 30], n / 5, n % 5)).collect();
        let text = prefixes_of(&codes).unwrap();
        assert!(text.contains("E00.0;E00*;"), "{text}");
        assert!(text.lines().all(|line| line.ends_with(";*")), "{text}");
        assert_eq!(text.lines().next().unwrap().split(';').count(), 4, "leaf, category, chapter, top: {text}");
    }

    #[test]
    fn a_number_before_a_separator_is_kept_whole() {
        let codes: Vec<String> = (0..30).map(|n| format!("{:02}-{:05}", n / 2, n * 37)).collect();
        let text = prefixes_of(&codes).unwrap();
        assert!(text.contains("14-01036;14*;*"), "{text}");
    }

    #[test]
    fn codes_that_share_no_beginning_have_no_prefixes() {
        assert_eq!(prefixes_of(&(b'A'..=b'Z').map(|c| format!("{}1", char::from(c))).collect::<Vec<_>>()), None);
    }
}
