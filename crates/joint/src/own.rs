//! Counts of our own rows of a part along an attribute.

use std::fmt;

use hedgerow_cuts::Span;

use super::trial::{Ground, PartView};

/// Our ranks in order, so that a probe of a median need not read all rows. Never printed.
pub(super) struct Sorted(Vec<u32>);

impl Sorted {
    pub(super) fn new(attribute: usize, view: PartView<'_>, ground: &Ground) -> Sorted {
        let ranks = &view.share.ranks[attribute];
        let mut own: Vec<u32> = ground.rows.iter().map(|row| ranks[*row as usize]).collect();
        own.sort_unstable();
        Sorted(own)
    }

    pub(super) fn below(&self, rank: u32) -> u64 {
        self.0.partition_point(|own| *own < rank) as u64
    }

    pub(super) fn through(&self, rank: u32) -> u64 {
        self.0.partition_point(|own| *own <= rank) as u64
    }
}

impl fmt::Debug for Sorted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sorted({} rows)", self.0.len())
    }
}

/// The place of the child that has a rank, among children in order.
pub(super) fn child_of(children: &[Span], rank: u32) -> Option<usize> {
    let place = children.partition_point(|child| child.last < rank);
    children.get(place).filter(|child| child.first <= rank).map(|_| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_in_the_child_around_it_or_in_none() {
        let children = [Span::new(2, 4), Span::new(5, 5), Span::new(8, 9)];
        let found: Vec<Option<usize>> = (0..11).map(|rank| child_of(&children, rank)).collect();
        let expected = [None, None, Some(0), Some(0), Some(0), Some(1), None, None, Some(2), Some(2), None];
        assert_eq!(found, expected);
    }

    #[test]
    fn ranks_in_order_are_counted_and_never_printed() {
        let sorted = Sorted(vec![3, 3, 4711]);
        assert_eq!((sorted.below(3), sorted.through(3), sorted.below(5000)), (0, 2, 3));
        assert_eq!(format!("{sorted:?}"), "Sorted(3 rows)");
    }
}
