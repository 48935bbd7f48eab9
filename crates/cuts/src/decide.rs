//! The decisions of Mondrian, as functions of ranges, counts and medians alone.
//!
//! The algorithm needs the extent of a group of people on every attribute, and how many of them lie
//! below, at and above a median. One program computes these from a table; several custodians
//! compute them together, without showing each other their rows.
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
    /// People at this rank are shared: the left side takes them until it has this number of people.
    Through { rank: u32, left: u64 },
}

/// Where a cut lies that is tried at a median.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutSide {
    /// The median's people are shared, so that the left has half of all, rounded up.
    Through,
    /// They go left.
    After,
    /// They go right.
    Before,
}

/// The facts that decide which cuts are tried at a median: comparisons alone, without any count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Around {
    /// Whether both sides of a cut after the median's people have enough, and of one before them.
    pub after: bool,
    pub before: bool,
    /// Whether at least as many lie above the median as below it.
    pub as_many_above: bool,
    /// Whether a half, rounded up, is less than all up to the median, so that its people are needed
    /// on both sides; never for strict cuts.
    pub more_than_half_through: bool,
}

/// The cuts to try at a median, best first, for people who can be divided. A relaxed cut goes
/// through the value where its people are needed on both sides; strict ones lie above or below it,
/// the more even one first.
pub fn cuts_around(around: Around) -> Vec<CutSide> {
    let mut cuts = Vec::with_capacity(3);
    cuts.extend(around.more_than_half_through.then_some(CutSide::Through));
    let mut between = [(around.after, CutSide::After), (around.before, CutSide::Before)];
    // Cut after it, the left has `below + at`, and the right `above`: as even as the other cut or
    // more so exactly when `below` is at most `above`.
    if !around.as_many_above {
        between.reverse();
    }
    cuts.extend(between.into_iter().filter(|(enough, _)| *enough).map(|(_, cut)| cut));
    cuts
}

/// The same by counts: a side with fewer than `minimum` is not tried.
pub fn cuts_at(median: Median, strict: bool, minimum: u64) -> Vec<Cut> {
    let Median { rank, below, at, above } = median;
    let rows = below + at + above;
    let enough = |left: u64| left.min(rows - left) >= minimum.max(1);
    let half = rows.div_ceil(2);
    let around = Around {
        after: enough(below + at),
        before: enough(below),
        as_many_above: above >= below,
        more_than_half_through: !strict && at > 1 && half < below + at && enough(half),
    };
    let cut = |side: CutSide| match side {
        CutSide::Through => Cut::Through { rank, left: half },
        CutSide::After => Cut::Before(rank + 1),
        CutSide::Before => Cut::Before(rank),
    };
    cuts_around(around).into_iter().map(cut).collect()
}

/// Whether a node of a hierarchy may be cut by its children's sizes: an empty child
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
        assert_eq!(cuts_at(even, false, 4), [Cut::Before(5)], "no individual at the median is needed on both sides");
    }

    #[test]
    fn comparisons_choose_the_more_even_cut() {
        for (below, at, above) in (0..400_u64).map(|code| (code % 7, 1 + code / 7 % 8, code / 56)) {
            if below >= (below + at + above).div_ceil(2) || below + at < (below + at + above).div_ceil(2) {
                continue;
            }
            let median = Median { rank: 4, below, at, above };
            let rows = below + at + above;
            let even = |cut: &Cut| match cut {
                Cut::Before(4) => below.abs_diff(rows - below),
                _ => (below + at).abs_diff(above),
            };
            let cuts = cuts_at(median, true, 1);
            assert!(cuts.is_sorted_by_key(even), "{median:?}: {cuts:?}");
            assert_eq!(cuts.len(), usize::from(below > 0) + usize::from(above > 0));
        }
    }

    #[test]
    fn children_are_empty_or_large_enough() {
        assert!(enough_in_children(&[0, 5, 7], 5));
        assert!(!enough_in_children(&[4, 5], 5));
        assert!(can_divide(10, 5) && !can_divide(9, 5) && !can_divide(1, 0));
    }
}
