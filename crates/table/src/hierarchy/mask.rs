//! Masked characters: level j hides the j rightmost ones, `02139` → `0213*` → `021**`.
//!
//! Characters are Unicode scalar values, and a value is taken as its text whatever the column's
//! kind. A hidden value keeps its length, so two values share a label only when they are equally
//! long and begin alike; each level is then a coarsening of the one below.

use super::levels::{group, top};
use super::subject::{Subject, shown};
use super::{Cover, LEVELS_MAX, Level};
use crate::error::TableError;

const STAR: char = '*';

pub(super) fn build(characters: usize, subject: &Subject<'_>) -> Result<Vec<Level>, TableError> {
    if !(1..=LEVELS_MAX).contains(&characters) {
        let problem = format!("`mask` is {characters}");
        return subject.refuse(problem, format!("give the number of characters to mask, 1 to {LEVELS_MAX}"));
    }
    let texts: Vec<String> = (0..subject.domain.present() as u32).map(|code| subject.domain.text(code)).collect();
    if let Some(text) = texts.iter().find(|text| text.contains(STAR)) {
        let problem =
            format!("the value {} holds a `*`, which could not be distinguished from a masked character", shown(text));
        let hint = "list it in `null` of the source if it stands for a missing value; otherwise use a hierarchy file";
        return subject.refuse(problem, hint);
    }
    Ok(levels_of(characters, &texts, subject))
}

/// The same levels over values of which the last characters are masked already.
pub(super) fn build_above(characters: usize, subject: &Subject<'_>) -> Vec<Level> {
    let texts: Vec<String> = (0..subject.domain.present() as u32).map(|code| subject.domain.text(code)).collect();
    levels_of(characters, &texts, subject)
}

fn levels_of(characters: usize, texts: &[String], subject: &Subject<'_>) -> Vec<Level> {
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let hides_all = lengths.iter().all(|length| *length <= characters);
    let below_top = if hides_all { characters - 1 } else { characters };
    let mut levels: Vec<Level> = (1..=below_top).map(|hidden| level(hidden, texts, &lengths, subject)).collect();
    levels.push(top(subject.domain));
    levels
}

fn level(hidden: usize, texts: &[String], lengths: &[usize], subject: &Subject<'_>) -> Level {
    let keys = texts.iter().zip(lengths).map(|(text, length)| {
        let stars = hidden.min(*length);
        (prefix(text, stars), stars)
    });
    let mut level = group(subject.domain, keys, |(prefix, stars)| {
        let mut label = prefix.to_owned();
        label.extend(std::iter::repeat_n(STAR, stars));
        (label, Cover::Leaves(Vec::new()))
    });
    for (text, &label) in texts.iter().zip(&level.map) {
        if let Cover::Leaves(leaves) = &mut level.labels[label as usize].cover {
            leaves.push(text.clone());
        }
    }
    level
}

/// The text without its last `hidden` characters.
fn prefix(text: &str, hidden: usize) -> &str {
    let mut characters = text.chars();
    for _ in 0..hidden {
        characters.next_back();
    }
    characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::super::HierarchySpec;
    use super::super::testing::{build, check, domain, refusal, texts};
    use super::*;

    #[test]
    fn zip_codes_lose_a_character_per_level() {
        let domain = domain(&["02139", "02138", "02200", "94110", ""]);
        let hierarchy = build(&HierarchySpec::Mask(5), &domain);
        check(&hierarchy, &domain, "zips");
        assert_eq!(hierarchy.top(), 5, "five characters hidden of five are the top");
        assert_eq!(texts(&hierarchy, 1), ["0213*", "0213*", "0220*", "9411*", ""]);
        assert_eq!(texts(&hierarchy, 4), ["0****", "0****", "0****", "9****", ""]);
        assert_eq!(texts(&hierarchy, 5), ["*"; 5]);
        let cover = Cover::Leaves(vec!["02138".to_owned(), "02139".to_owned()]);
        assert_eq!(hierarchy.levels()[1].labels[0].cover, cover);
        assert_eq!(build(&HierarchySpec::Mask(3), &domain).top(), 4, "below the top, two characters still show");
    }

    #[test]
    fn a_short_value_keeps_its_length_in_stars() {
        let words = domain(&["é", "漢字", "ab", "abcd"]);
        let hierarchy = build(&HierarchySpec::Mask(3), &words);
        check(&hierarchy, &words, "words");
        assert_eq!(texts(&hierarchy, 1), ["a*", "abc*", "*", "漢*"]);
        assert_eq!(texts(&hierarchy, 2), ["**", "ab**", "*", "**"]);
        assert_eq!(texts(&hierarchy, 3), ["**", "a***", "*", "**"]);
        assert_eq!(hierarchy.top(), 4);
        let hierarchy = build(&HierarchySpec::Mask(64), &words);
        check(&hierarchy, &words, "words");
        assert_eq!(hierarchy.top(), 64);
        assert_eq!(texts(&hierarchy, 63), ["**", "****", "*", "**"]);
    }

    #[test]
    fn numbers_and_dates_are_masked_as_text() {
        let years = domain(&["1999", "1990", "-5"]);
        let hierarchy = build(&HierarchySpec::Mask(1), &years);
        check(&hierarchy, &years, "years");
        assert_eq!(texts(&hierarchy, 1), ["-*", "199*", "199*"]);
        assert_eq!(hierarchy.levels()[1].labels[1].cover, Cover::Leaves(vec!["1990".to_owned(), "1999".to_owned()]));
    }

    #[test]
    fn masks_that_cannot_be_are_refused() {
        let zips = domain(&["02139"]);
        assert!(refusal(&HierarchySpec::Mask(0), &zips).contains("1 to 64"));
        assert!(refusal(&HierarchySpec::Mask(65), &zips).contains("`mask` is 65"));
        let starred = refusal(&HierarchySpec::Mask(2), &domain(&["02139", "021**"]));
        assert!(starred.contains("the value `021**` holds a `*`"), "{starred}");
        let long = refusal(&HierarchySpec::Mask(2), &domain(&["x".repeat(100).as_str(), &"*".repeat(1000)]));
        assert!(long.len() < 400, "{long}");
    }
}
