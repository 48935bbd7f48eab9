//! Shared parts of the tests of the hierarchy families.

use super::{Bound, Cover, Hierarchy, HierarchySpec};
use crate::domain::{Domain, Kind, Values};

/// A domain from texts, an empty one standing for missing; the kind is inferred.
pub(super) fn domain(texts: &[&str]) -> Domain {
    domain_of(texts, None)
}

pub(super) fn domain_of(texts: &[&str], kind: Option<Kind>) -> Domain {
    let present: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    Domain::from_texts(&present, present.len() < texts.len(), kind).unwrap().0
}

pub(super) fn nulls() -> Vec<String> {
    vec![String::new(), "?".to_owned()]
}

pub(super) fn build(spec: &HierarchySpec, domain: &Domain) -> Hierarchy {
    Hierarchy::build(spec, "age", "policy.toml:9: attributes.age.hierarchy", domain, &nulls())
        .unwrap_or_else(|error| panic!("{spec:?}: {error}"))
}

/// The refusal as the user sees it. All of them have a place, the attribute and a hint.
pub(super) fn refusal(spec: &HierarchySpec, domain: &Domain) -> String {
    let error = Hierarchy::build(spec, "age", "policy.toml:9: attributes.age.hierarchy", domain, &nulls())
        .expect_err("this hierarchy must be refused");
    assert!(matches!(error, crate::TableError::Input(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("attribute `age`: ") && text.contains("\nhint: "), "{text}");
    if !matches!(spec, HierarchySpec::File(_)) {
        assert!(text.starts_with("policy.toml:9: attributes.age.hierarchy: "), "{text}");
    }
    text
}

/// The texts of the labels of the values on a level, in the order of the codes.
pub(super) fn texts(hierarchy: &Hierarchy, level: usize) -> Vec<String> {
    let level = &hierarchy.levels()[level];
    level.map.iter().map(|label| level.labels[*label as usize].text.clone()).collect()
}

/// Whether a cover holds the value behind a code, worked out from the codebook's meaning alone.
pub(super) fn covers(cover: &Cover, domain: &Domain, code: u32) -> bool {
    let missing = domain.missing_code() == Some(code);
    let index = code as usize;
    let value = || match domain.values() {
        Values::Integer(values) => Bound::Integer(values[index]),
        Values::Float(values) => Bound::Float(values[index]),
        Values::Date(values) => Bound::Date(values[index]),
        Values::Category(_) => panic!("a category lies on no axis"),
    };
    match cover {
        Cover::Everything => true,
        Cover::Missing => missing,
        Cover::Leaves(leaves) => leaves.contains(&domain.text(code)),
        Cover::Point(point) => !missing && value() == *point,
        Cover::Interval { low, high } => {
            !missing && low.is_none_or(|low| low <= value()) && high.is_none_or(|high| value() < high)
        }
    }
}

/// Asserts what holds for every hierarchy, whatever it was built from. `context` names the case
/// when it fails.
pub(super) fn check(hierarchy: &Hierarchy, domain: &Domain, context: &str) {
    let cardinality = domain.cardinality();
    let levels = hierarchy.levels();
    assert_eq!(levels[hierarchy.top()].labels.len(), 1, "{context}: one top");
    assert_eq!(levels[hierarchy.top()].labels[0].leaves, hierarchy.leaves(), "{context}");
    assert_eq!(levels[0].map, (0..cardinality as u32).collect::<Vec<_>>(), "{context}: level 0 is the values");
    for (number, level) in levels.iter().enumerate() {
        assert_eq!(level.map.len(), cardinality, "{context}: level {number}");
        let mut seen = 0;
        for &label in &level.map {
            assert!(label <= seen, "{context}: level {number} numbers its labels by first value");
            seen = seen.max(label + 1);
        }
        assert_eq!(seen.max(1) as usize, level.labels.len().max(1), "{context}: level {number} has unused labels");
        let occurring = hierarchy.occurring(number);
        assert_eq!(occurring.iter().sum::<u64>(), cardinality as u64, "{context}");
        for (index, label) in level.labels.iter().enumerate() {
            assert!(occurring[index] <= label.leaves, "{context}: level {number}, {label:?}");
            for code in 0..cardinality as u32 {
                let inside = level.map[code as usize] == index as u32;
                assert_eq!(covers(&label.cover, domain, code), inside, "{context}: level {number}, {label:?}, {code}");
            }
        }
        let mut names: Vec<&str> = level.labels.iter().map(|label| label.text.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), level.labels.len(), "{context}: level {number} has two labels of one text");
    }
    for from in 0..levels.len() {
        for to in from..levels.len() {
            let between = hierarchy.between(from, to);
            for code in 0..cardinality {
                let by_way = between[levels[from].map[code] as usize];
                assert_eq!(by_way, levels[to].map[code], "{context}: {from} to {to} is not a coarsening");
            }
        }
    }
}
