//! Names that were probably meant when another was written, for hints.

/// The closest name, if it is close enough to be meant: a third of its letters may differ, and no
/// more than four.
pub fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// The comparison takes time quadratic in the length, and longer names are rarely mistyped.
    const BYTES_MAX: usize = 100;
    const EDITS_MAX: usize = 4;
    let plain = folded(given);
    if given.len() > BYTES_MAX || plain.is_empty() {
        return None;
    }
    let scored = names.filter(|name| name.len() <= BYTES_MAX).map(|name| {
        let other = folded(name);
        let length = plain.chars().count().max(other.chars().count());
        (strsim::damerau_levenshtein(&plain, &other), length, name)
    });
    let (distance, length, name) = scored.min_by_key(|&(distance, ..)| distance)?;
    (distance <= length.div_ceil(3).min(EDITS_MAX) && distance < length).then_some(name)
}

/// Case, underscores and blanks are the commonest slips and weigh nothing.
pub fn folded(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_name_does_not() {
        assert_eq!(nearest("x", ["y"].into_iter()), None, "one letter for another is a different name");
        assert_eq!(nearest("agee", ["zip", "age"].into_iter()), Some("age"));
        assert_eq!(nearest("Date_of birth", ["date-of-birth", "date"].into_iter()), Some("date-of-birth"));
        assert_eq!(nearest(&"a".repeat(1_000_000), ["a"].into_iter()), None);
    }
}
