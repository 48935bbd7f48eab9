//! Whether two released labels can stand for the same value: the question behind every comparison
//! of two publishers. Each label says through its codebook what it covers, whatever hierarchy its
//! publisher used.

use std::cmp::Ordering;

use hedgerow_table::{Bound, Cover};

/// True when some value lies under both. Where a pattern meets numbers, nothing rules it out.
pub(crate) fn overlap(a: &Cover, b: &Cover) -> bool {
    match (a, b) {
        (Cover::Everything, _) | (_, Cover::Everything) => true,
        (Cover::Missing, other) | (other, Cover::Missing) => match other {
            Cover::Missing => true,
            Cover::Leaves(leaves) => leaves.iter().any(String::is_empty),
            _ => false,
        },
        (Cover::Leaves(a), Cover::Leaves(b)) => leaves_overlap(a, b),
        (Cover::Leaves(leaves), range) | (range, Cover::Leaves(leaves)) => {
            leaves.iter().any(|leaf| leaf.contains('*') || Bound::parse(leaf).is_some_and(|point| within(point, range)))
        }
        (Cover::Point(point), range) | (range, Cover::Point(point)) => within(*point, range),
        (Cover::Interval { low: from_a, high: to_a }, Cover::Interval { low: from_b, high: to_b }) => {
            let below = |low: &Option<Bound>, high: &Option<Bound>| match (low, high) {
                (Some(low), Some(high)) => low.partial_cmp(high) == Some(Ordering::Less),
                _ => true,
            };
            below(from_a, to_b) && below(from_b, to_a)
        }
    }
}

/// The values under both; `None` when [`overlap`] finds none.
pub(crate) fn meet(a: &Cover, b: &Cover) -> Option<Cover> {
    if !overlap(a, b) {
        return None;
    }
    Some(match (a, b) {
        (Cover::Everything, other) | (other, Cover::Everything) => other.clone(),
        (Cover::Missing, _) | (_, Cover::Missing) => Cover::Missing,
        (Cover::Leaves(a), Cover::Leaves(b)) => {
            let meeting = a.iter().flat_map(|a| b.iter().filter_map(move |b| patterns_in_both(a, b)));
            let mut leaves: Vec<String> = meeting.collect();
            leaves.sort_unstable();
            leaves.dedup();
            Cover::Leaves(leaves)
        }
        (Cover::Leaves(leaves), range) | (range, Cover::Leaves(leaves)) => {
            let meets = |leaf: &&String| overlap(&Cover::Leaves(vec![(*leaf).clone()]), range);
            Cover::Leaves(leaves.iter().filter(meets).cloned().collect())
        }
        (Cover::Point(point), _) | (_, Cover::Point(point)) => Cover::Point(*point),
        (Cover::Interval { low: from_a, high: to_a }, Cover::Interval { low: from_b, high: to_b }) => {
            let inner = |a: &Option<Bound>, b: &Option<Bound>, wanted: Ordering| match (*a, *b) {
                (Some(a), Some(b)) => Some(if a.partial_cmp(&b) == Some(wanted) { a } else { b }),
                (a, b) => a.or(b),
            };
            Cover::Interval { low: inner(from_a, from_b, Ordering::Greater), high: inner(to_a, to_b, Ordering::Less) }
        }
    })
}

fn within(point: Bound, range: &Cover) -> bool {
    match range {
        Cover::Point(other) => point == *other,
        Cover::Interval { low, high } => {
            low.is_none_or(|low| low <= point)
                && high.is_none_or(|high| point.partial_cmp(&high) == Some(Ordering::Less))
        }
        _ => false,
    }
}

fn leaves_overlap(a: &[String], b: &[String]) -> bool {
    let patterns = |leaves: &[String]| leaves.iter().any(|leaf| leaf.contains('*'));
    if !patterns(a) && !patterns(b) {
        let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        if small.len() <= 4 {
            return small.iter().any(|leaf| large.contains(leaf));
        }
        let known: hashbrown::HashSet<&String> = large.iter().collect();
        return small.iter().any(|leaf| known.contains(leaf));
    }
    a.iter().any(|a| b.iter().any(|b| patterns_meet(a, b)))
}

/// `*` stands for one character on either side.
fn patterns_meet(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.chars(), b.chars());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) if x == y || x == '*' || y == '*' => {}
            _ => return false,
        }
    }
}

/// The pattern of the texts that fit both.
fn patterns_in_both(a: &str, b: &str) -> Option<String> {
    patterns_meet(a, b).then(|| a.chars().zip(b.chars()).map(|(x, y)| if x == '*' { y } else { x }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i64, high: i64) -> Cover {
        Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) }
    }

    fn leaves(leaves: &[&str]) -> Cover {
        Cover::Leaves(leaves.iter().map(|leaf| (*leaf).to_owned()).collect())
    }

    #[test]
    fn intervals_meet_when_they_share_a_number() {
        for (a, b, meet) in [
            (range(15, 25), range(20, 30), true),
            (range(15, 20), range(20, 30), false),
            (range(0, 100), range(20, 21), true),
            (range(20, 30), Cover::Point(Bound::Integer(29)), true),
            (range(20, 30), Cover::Point(Bound::Float(30.0)), false),
            (Cover::Interval { low: None, high: Some(Bound::Integer(40)) }, range(39, 80), true),
            (Cover::Interval { low: Some(Bound::Integer(40)), high: None }, range(0, 40), false),
        ] {
            assert_eq!((overlap(&a, &b), overlap(&b, &a)), (meet, meet), "{a:?} {b:?}");
        }
    }

    #[test]
    fn nodes_of_a_taxonomy_meet_their_ancestors_and_descendants() {
        let (all, some, one) = (leaves(&["a", "b", "c", "d", "e", "f"]), leaves(&["b", "c"]), leaves(&["d"]));
        assert!(overlap(&all, &some) && overlap(&one, &all) && !overlap(&some, &one));
        assert!(overlap(&Cover::Everything, &one) && overlap(&Cover::Missing, &Cover::Everything));
        assert!(overlap(&Cover::Missing, &leaves(&["x", ""])) && !overlap(&Cover::Missing, &one));
    }

    #[test]
    fn the_meet_of_several_labels_is_found_two_by_two() {
        assert_eq!(meet(&range(10, 30), &range(20, 40)), Some(range(20, 30)));
        assert_eq!(meet(&range(10, 20), &range(20, 40)), None);
        assert_eq!(meet(&Cover::Everything, &leaves(&["a"])), Some(leaves(&["a"])));
        assert_eq!(meet(&leaves(&["a", "b"]), &leaves(&["c", "b"])), Some(leaves(&["b"])));
        assert_eq!(meet(&leaves(&["17", "31"]), &range(18, 40)), Some(leaves(&["31"])));
        assert_eq!(meet(&leaves(&["0*1**"]), &leaves(&["02**5"])), Some(leaves(&["021*5"])));
        assert_eq!(meet(&leaves(&["x", ""]), &Cover::Missing), Some(Cover::Missing));
        let open = Cover::Interval { low: None, high: Some(Bound::Integer(40)) };
        assert_eq!(meet(&open, &range(30, 50)), Some(range(30, 40)));
        // Each two of these share a leaf, all three share none.
        let [a, b, c] = [["1", "2"], ["2", "3"], ["3", "1"]].map(|both| leaves(&both));
        let all = meet(&a, &b).and_then(|both| meet(&both, &c));
        assert!(overlap(&a, &b) && overlap(&b, &c) && overlap(&c, &a) && all.is_none());
    }

    #[test]
    fn patterns_meet_letter_by_letter_and_leaves_meet_numbers() {
        assert!(overlap(&leaves(&["021**"]), &leaves(&["0213*"])));
        assert!(!overlap(&leaves(&["021**"]), &leaves(&["022**"])));
        assert!(!overlap(&leaves(&["021*"]), &leaves(&["021**"])));
        assert!(overlap(&leaves(&["17", "18"]), &range(18, 30)));
        assert!(!overlap(&leaves(&["17", "x"]), &range(18, 30)));
    }
}
