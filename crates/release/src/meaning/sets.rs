//! The labels that local recoding gives to sets of texts: they name the values, or some of them and
//! how many others there are, or the ends of a range where an order is declared.

/// The most characters of a name at the beginning of a short label.
const KEPT_MAX: usize = 14;
/// A label that does not name all values names this many.
const NAMED: usize = 3;

/// Whether a label is one that these leaves can have. A blank leaf is the missing value.
pub(super) fn names(label: &str, leaves: &[String]) -> bool {
    let present: Vec<&str> = leaves.iter().map(String::as_str).filter(|leaf| !leaf.is_empty()).collect();
    let Some(&first) = present.first() else { return false };
    let missing = present.len() < leaves.len();
    let mut all = present.clone();
    all.extend(missing.then_some("missing"));
    is_list(label, &all) || is_short(label, first, all.len() - 1) || {
        let without = if missing { label.strip_suffix(" or missing") } else { Some(label) };
        without.is_some_and(|text| is_range(text, &present)) || is_count(label, &present, missing)
    }
}

/// `a, b or c`
fn is_list(label: &str, all: &[&str]) -> bool {
    match all {
        [] => false,
        [only] => label == *only,
        [first @ .., last] => label == format!("{} or {last}", first.join(", ")),
    }
}

/// `a +2`
fn is_short(label: &str, first: &str, others: usize) -> bool {
    let kept: String = first.chars().take(KEPT_MAX).collect();
    let shown = if kept.len() < first.len() { format!("{}…", kept.trim_end()) } else { kept };
    others > 0 && label == format!("{shown} +{others}")
}

/// `a to c`
fn is_range(label: &str, present: &[&str]) -> bool {
    let is_last = |first: &&str| {
        let last = label.strip_prefix(*first).and_then(|rest| rest.strip_prefix(" to "));
        last.is_some_and(|last| last != *first && present.contains(&last))
    };
    present.iter().any(is_last)
}

/// `a, b, c or 4 others`
fn is_count(label: &str, present: &[&str], missing: bool) -> bool {
    let Some(others) = present.len().checked_sub(NAMED).filter(|others| *others > 1) else { return false };
    let end = if missing { format!(", {others} others or missing") } else { format!(" or {others} others") };
    label.strip_suffix(&end).is_some_and(|named| lists(named, present, NAMED))
}

/// Whether a text is this many of the names, with commas between them.
fn lists(text: &str, names: &[&str], count: usize) -> bool {
    if count == 1 {
        return names.contains(&text);
    }
    let rest = |name: &&str| text.strip_prefix(*name).and_then(|rest| rest.strip_prefix(", "));
    names.iter().filter_map(rest).any(|rest| lists(rest, names, count - 1))
}
