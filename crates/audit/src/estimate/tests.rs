//! `LIKE` and masks against slow ways to say the same.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::declared::Masks;
use super::like::Like;
use super::mask::{is_mask, matches, open};
use super::predicate::{Comparison, Predicate};

/// `LIKE` by its definition: try every place where `%` could end.
fn alike(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], rest) => rest.is_empty(),
        (['%', pattern @ ..], text) => (0..=text.len()).any(|from| alike(pattern, &text[from..])),
        ([wanted, pattern @ ..], [found, text @ ..]) => (*wanted == '_' || wanted == found) && alike(pattern, text),
        (_, []) => false,
    }
}

fn random_text(rng: &mut StdRng, letters: &str, longest: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    (0..rng.random_range(0..=longest)).map(|_| letters[rng.random_range(0..letters.len())]).collect()
}

#[test]
fn like_agrees_with_its_definition() {
    let mut rng = StdRng::seed_from_u64(1);
    for case in 0..20_000 {
        let (pattern, text) = (random_text(&mut rng, "ab%_", 6), random_text(&mut rng, "ab", 6));
        let expected = alike(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
        assert_eq!(Like::new(&pattern, None, false).unwrap().matches(&text), expected, "{case}: {pattern} {text}");
    }
    let like = |pattern, escape, any_case| Like::new(pattern, escape, any_case).unwrap();
    assert!(like("100!%", Some('!'), false).matches("100%") && !like("100!%", Some('!'), false).matches("1000"));
    assert!(like("ÉT%", None, true).matches("été") && !like("ÉT%", None, false).matches("été"));
    assert!(Like::new("50!", Some('!'), false).is_none(), "ends in its escape character");
}

/// Masks over a small alphabet, opened text by text.
#[test]
fn an_opened_mask_agrees_with_every_text_under_it() {
    let mut rng = StdRng::seed_from_u64(2);
    let alphabet = ['0', '1', '2'];
    for case in 0..2000 {
        let stars = rng.random_range(1..4);
        let mask = format!("{}{}", random_text(&mut rng, "012", 2), "*".repeat(stars));
        let predicates: Vec<Predicate> = (0..rng.random_range(1..4))
            .map(|_| {
                let text = random_text(&mut rng, "012", 5);
                let comparisons =
                    [Comparison::Equal, Comparison::Different, Comparison::Less, Comparison::GreaterOrEqual];
                match rng.random_range(0..3) {
                    0 => Predicate::CompareText(comparisons[rng.random_range(0..4)], text),
                    1 => Predicate::Texts { among: vec![text], negated: rng.random_bool(0.5) },
                    _ => {
                        let pattern = Like::new(&random_text(&mut rng, "012%_", 5), None, false).unwrap();
                        Predicate::Like { pattern, negated: rng.random_bool(0.5) }
                    }
                }
            })
            .collect();
        let mut texts = vec![mask.trim_end_matches('*').to_owned()];
        for _ in 0..stars {
            texts = texts.iter().flat_map(|text| alphabet.map(|next| format!("{text}{next}"))).collect();
        }
        let mut shares = std::collections::BTreeMap::new();
        open(&mask, &alphabet, &predicates.iter().collect::<Vec<_>>(), |share, holds| {
            *shares.entry(holds).or_insert(0.0) += share;
        });
        for text in &texts {
            assert!(matches(&mask, text), "{case}: {mask} {text}");
            let holds: Vec<bool> = predicates.iter().map(|predicate| predicate.holds_for_text(text)).collect();
            let share = shares.get_mut(&holds).unwrap_or_else(|| panic!("{case}: {mask}: {text} is not found"));
            *share -= 1.0 / texts.len() as f64;
        }
        assert!(shares.values().all(|share| share.abs() < 1e-9), "{case}: {mask} {predicates:?} {shares:?}");
    }
    let is = |masks: Masks, label: &str, leaf: &str| is_mask(masks, label, &[leaf.to_owned()]);
    assert!(is(Masks::Always, "02**", "02**") && is(Masks::Unstated, "02**", "02**"));
    assert!(is(Masks::Always, "* (level 1)", "*") && !is(Masks::Perhaps, "u", "*"), "the leaf is the mask");
    assert!(!is(Masks::Always, "02**", "0200") && !is(Masks::Never, "a*", "a*"));
}
