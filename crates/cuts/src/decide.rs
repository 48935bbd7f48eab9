//! The decisions of Mondrian, as functions of ranges, counts and medians alone.
//!
//! Whoever can tell how far a group of people lies apart on every attribute, and how many of them
//! lie below, at and above a median, can run the algorithm: one program over a table, or several
//! custodians who know these numbers only together.
//!
//! LeFevre, DeWitt, Ramakrishnan: *Mondrian multidimensional k-anonymity*, 2006, sections 3 and 4.
//! Beyond the paper: where the cut above the median is not allowed, the one below it is tried; and
//! ranges may be upper bounds until they are requested.

/// Whether people this few can be divided at all when every class needs `minimum` of them.
pub fn can_divide(rows: u64, minimum: u64) -> bool {
    rows >= 2 * minimum.max(1)
}

/// The attribute to cut next: the widest of those not tried yet, of equally wide ones the first.
/// `None` when people differ in none of the others.
///
/// Extents may be upper bounds. Then the one found is to be measured and requested again: when its
/// true extent is found to be the widest, it is so among the true ones.
pub fn widest(extents: &[f64], tried: &[bool]) -> Option<usize> {
    let mut widest: Option<usize> = None;
    for attribute in (0..extents.len()).filter(|&attribute| !tried[attribute] && extents[attribute] > 0.0) {
        if widest.is_none_or(|widest| extents[attribute] > extents[widest]) {
            widest = Some(attribute);
        }
    }
    widest
}

/// The median of a group on one attribute: the smallest value that half of them, rounded up, do not
/// exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Median {
    pub rank: u32,
    pub below: u64,
    pub at: u64,
    pub above: u64,
}

impl Median {
    /// From the values that occur, ascending, with how often each does.
    pub fn of(values: &[(u32, u32)]) -> Option<Median> {
        let rows: u64 = values.iter().map(|&(_, count)| u64::from(count)).sum();
        let mut below = 0;
        for &(rank, count) in values {
            let at = u64::from(count);
            if below + at >= rows.div_ceil(2) {
                return Some(Median { rank, below, at, above: rows - below - at });
            }
            below += at;
        }
        None
    }
}

/// A cut in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Values from this rank on go to the right.
    Before(u32),
    /// People at this rank are shared: the left takes them until it has so many people in all.
    Through { rank: u32, left: u64 },
}

/// The cuts to try at a median, best first. Strict cuts lie above or below the value, the more even
/// one first; a relaxed one goes through it where its people are needed on both sides. A side with
/// fewer than `minimum` is not tried.
pub fn cuts_at(median: Median, strict: bool, minimum: u64) -> Vec<Cut> {
    let Median { rank, below, at, above } = median;
    let rows = below + at + above;
    let enough = |left: u64| left.min(rows - left) >= minimum.max(1);
    let even = |left: u64| left.abs_diff(rows - left);
    let mut cuts = Vec::with_capacity(3);
    let half = rows.div_ceil(2);
    if !strict && at > 1 && half < below + at && enough(half) {
        cuts.push(Cut::Through { rank, left: half });
    }
    let mut between = [(below + at, Cut::Before(rank + 1)), (below, Cut::Before(rank))];
    if even(between[1].0) < even(between[0].0) {
        between.reverse();
    }
    cuts.extend(between.into_iter().filter(|&(left, _)| enough(left)).map(|(_, cut)| cut));
    cuts
}

/// Whether a node of a hierarchy may be cut by its children's sizes: a child that nobody is in
/// makes no class.
pub fn enough_in_children(children: &[u64], minimum: u64) -> bool {
    children.iter().all(|&rows| rows == 0 || rows >= minimum.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_comes_first_and_of_equals_the_first() {
        assert_eq!(widest(&[0.2, 0.5, 0.5], &[false; 3]), Some(1));
        assert_eq!(widest(&[0.2, 0.5, 0.5], &[false, true, false]), Some(2));
        assert_eq!(widest(&[0.0, 0.5], &[false, true]), None);
        assert_eq!(widest(&[], &[]), None);
    }

    #[test]
    fn the_median_of_an_even_number_is_the_lower_one() {
        let median = Median { rank: 4, below: 1, at: 2, above: 1 };
        assert_eq!(Median::of(&[(1, 1), (4, 2), (9, 1)]), Some(median));
        assert_eq!(Median::of(&[(1, 2), (4, 2)]).unwrap().rank, 1);
        assert_eq!(Median::of(&[]), None);
    }

    #[test]
    fn strict_cuts_leave_the_median_whole_and_relaxed_ones_share_it() {
        let median = Median { rank: 4, below: 3, at: 4, above: 1 };
        assert_eq!(cuts_at(median, true, 1), [Cut::Before(4), Cut::Before(5)], "3 and 5 are more even than 7 and 1");
        assert_eq!(cuts_at(median, true, 2), [Cut::Before(4)]);
        assert_eq!(cuts_at(median, true, 4), []);
        assert_eq!(cuts_at(median, false, 4), [Cut::Through { rank: 4, left: 4 }]);
        let even = Median { rank: 4, below: 3, at: 1, above: 4 };
        assert_eq!(cuts_at(even, false, 4), [Cut::Before(5)], "nobody at the median is needed on both sides");
    }

    #[test]
    fn children_are_empty_or_large_enough() {
        assert!(enough_in_children(&[0, 5, 7], 5));
        assert!(!enough_in_children(&[4, 5], 5));
        assert!(can_divide(10, 5) && !can_divide(9, 5) && !can_divide(1, 0));
    }
}
