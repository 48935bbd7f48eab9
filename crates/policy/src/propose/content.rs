//! The content of a column by its values, whatever its name: keys, addresses of all kinds, serial
//! numbers, free text.

use hedgerow_table::{Domain, Kind, Values};

use super::profile::Facts;

/// How many values are looked at: enough to know, also in a column of millions.
const SAMPLE_MAX: usize = 2_000;
/// The share of the values that must have a shape for the column to have it.
const MOST: f64 = 0.8;

/// Why the values identify people by their very shape, if they do.
pub(super) fn identifying_shape(domain: &Domain) -> Option<&'static str> {
    let Values::Category(values) = domain.values() else { return None };
    let sample: Vec<&str> = spread(values).map(AsRef::as_ref).collect();
    let most = |shape: &dyn Fn(&str) -> bool| {
        let count = sample.iter().filter(|text| shape(text)).count();
        !sample.is_empty() && count as f64 >= MOST * sample.len() as f64
    };
    if most(&is_email) {
        Some("email addresses: they reach a person")
    } else if most(&is_uuid) {
        Some("universal keys: they lead back to a person")
    } else if most(&is_web_address) {
        Some("web addresses: they lead to a person")
    } else if most(&is_ip) {
        Some("network addresses: they lead to a person")
    } else if most(&is_iban) {
        Some("account numbers: they name a person")
    } else if most(&is_social_security) {
        Some("social security numbers: they name a person")
    } else if most(&is_phone) {
        Some("telephone numbers: they reach a person")
    } else {
        None
    }
}

/// Names by their form, whatever the header: nearly all values are two or three capitalized words
/// (`Ann Smith`, `Smith, Ann`, `Ann B. Smith`), there are many of them, and both first and last
/// words come again with others. Places and diagnoses are seldom all of two words.
pub(super) fn names_of_people(facts: &Facts<'_>) -> Option<&'static str> {
    const NAMES_MIN: u64 = 20;
    const NEARLY_ALL: f64 = 0.95;
    let Values::Category(values) = facts.domain().values() else { return None };
    if facts.distinct < NAMES_MIN {
        return None;
    }
    let sample: Vec<&str> = spread(values).map(AsRef::as_ref).collect();
    let named = sample.iter().filter(|text| is_full_name(text)).count();
    if (named as f64) < NEARLY_ALL * sample.len() as f64 {
        return None;
    }
    let ends = |last: bool| -> usize {
        let mut words: Vec<&str> = sample
            .iter()
            .filter_map(|text| if last { text.split(' ').next_back() } else { text.split(' ').next() })
            .collect();
        words.sort_unstable();
        words.dedup();
        words.len()
    };
    let repeats = ends(false) < sample.len() && ends(true) < sample.len();
    (repeats || facts.distinct_share() > 0.5).then_some("two capitalized words: names of people")
}

fn is_full_name(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let is_word = |word: &str| {
        let word = word.trim_end_matches(',');
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase)
            && word.chars().count() >= 2
            && letters.all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '’' | '-'))
            && word.chars().any(char::is_lowercase)
    };
    let is_initial = |word: &str| {
        let mut letters = word.trim_end_matches('.').chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
    };
    match words.as_slice() {
        [first, last] => is_word(first) && is_word(last),
        [first, middle, last] => {
            is_word(first) && (is_initial(middle) || is_initial(last)) && (is_word(middle) || is_word(last))
        }
        _ => false,
    }
}

/// Whole numbers that count rows or persons: all different, and either without large gaps or all
/// equally long.
pub(super) fn is_serial(facts: &Facts<'_>) -> bool {
    let Values::Integer(values) = facts.domain().values() else { return false };
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    if facts.distinct_share() < 1.0 || values.len() < 3 {
        return false;
    }
    let span = i128::from(*last) - i128::from(*first) + 1;
    let dense = span <= 2 * values.len() as i128;
    let long = facts.length_min >= 6 && facts.length_min == facts.length_max;
    dense || long
}

/// Sentences rather than values.
pub(super) fn is_free_text(facts: &Facts<'_>) -> bool {
    facts.kind() == Kind::Category && facts.length_mean > 40.0 && facts.distinct_share() > 0.3
}

/// Some of the values, from all over the domain.
pub(super) fn spread<T>(values: &[T]) -> impl Iterator<Item = &T> {
    values.iter().step_by(values.len().div_ceil(SAMPLE_MAX).max(1))
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && !text.contains(char::is_whitespace) && host.contains('.') && !host.contains('@')
    })
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(|group| hex(group))
        || (matches!(text.len(), 32 | 40 | 64) && hex(text))
}

fn is_web_address(text: &str) -> bool {
    ["http://", "https://", "www."].iter().any(|start| text.starts_with(start))
}

fn is_ip(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok() || (text.contains(':') && text.parse::<std::net::Ipv6Addr>().is_ok())
}

fn is_iban(text: &str) -> bool {
    let compact: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    (15..=34).contains(&compact.len())
        && compact[..2].iter().all(u8::is_ascii_uppercase)
        && compact[2..4].iter().all(u8::is_ascii_digit)
        && compact[4..].iter().all(u8::is_ascii_alphanumeric)
}

fn is_social_security(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([3, 2, 4])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let allowed = text.bytes().all(|byte| byte.is_ascii_digit() || b" +-()/.".contains(&byte));
    // Dates have eight digits too, so a plus sign or nine digits are required.
    allowed && ((text.starts_with('+') && digits >= 8) || (9..=15).contains(&digits)) && text.len() > digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(texts: &[&str]) -> Option<&'static str> {
        identifying_shape(&Domain::from_texts(texts, false, Some(Kind::Category)).unwrap().0)
    }

    #[test]
    fn shapes_that_identify_are_seen_and_others_are_not_taken_for_them() {
        for texts in [
            vec!["ann@example.org", "bob.b@mail.example.com"],
            vec!["123e4567-e89b-12d3-a456-426614174000"],
            vec!["https://example.org/ann", "www.example.org"],
            vec!["10.0.0.1", "fe80::1"],
            vec!["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"],
            vec!["078-05-1120"],
            vec!["+41 44 668 18 00", "(212) 555-0199-00", "044/668 18 00"],
        ] {
            assert!(shape(&texts).is_some(), "{texts:?}");
        }
        for texts in [
            vec!["12.03.1999", "31/12/2001"],
            vec!["02139", "10001"],
            vec!["E11.9", "I10"],
            vec!["18-24", "25-34"],
            vec!["01-01301"],
            vec!["Sales", "Craft-repair"],
            vec![],
        ] {
            assert_eq!(shape(&texts), None, "{texts:?}");
        }
    }
}
