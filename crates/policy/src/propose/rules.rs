//! The rules of the proposal. Everything required holds when all quasi attributes are at their
//! top, so there is always a release.

use hedgerow_table::Kind;

use super::profile::{Facts, share, texts_of};

/// The models for a protected attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Protection {
    /// Distinct l-diversity.
    Distinct { l: u64 },
    /// Two values in every class; and (α,k)-anonymity with α one half: these values, which are
    /// rare, may not fill a class.
    RareAtMostHalf { values: Vec<String> },
}

/// The class size to require: as wished, but small tables would otherwise become one class.
pub(super) fn class_size(rows: u64, wished: u64) -> u64 {
    if rows < 2 { 1 } else { (rows / 4).max(2).min(wished.max(1)) }
}

/// `None` when a column cannot be protected because all rows with a value agree.
pub(super) fn protection(facts: &Facts<'_>) -> Option<Protection> {
    /// Above this share of one value, two values in every class would cost more than they protect.
    const ONE_VALUE: f64 = 0.8;
    const VALUES_MAX: u64 = 12;
    let cardinality = facts.cardinality();
    // Two values must remain among the rows whose value is known.
    if cardinality < 2 || facts.distinct < 2 {
        return None;
    }
    if facts.most_share() > ONE_VALUE && cardinality <= VALUES_MAX && facts.kind() != Kind::Float {
        let most = facts.most.max(facts.missing);
        let texts = texts_of(facts.domain());
        // The missing value has no text to name it by, and discloses nothing.
        let rare = texts.into_iter().zip(facts.present_counts()).filter(|(_, count)| **count > 0 && **count != most);
        let values: Vec<String> = rare.map(|(text, _)| text).collect();
        if !values.is_empty() {
            return Some(Protection::RareAtMostHalf { values });
        }
    }
    let mut counts = facts.counts.clone();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let two = share(counts.iter().take(2).sum(), facts.rows);
    let l = if facts.distinct >= 5 && facts.most_share() <= 0.5 && two <= 0.8 { 3 } else { 2 };
    Some(Protection::Distinct { l })
}
