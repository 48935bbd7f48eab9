//! Algorithm 1 of the paper as it is printed: the attribute with the largest range of values is cut
//! at its median, items at the median are shared between both sides, and a side is divided again
//! while it has more than 2k items.
//!
//! Every site shares its own items at the median. The paper does not say how many of them go to
//! which side; here each site's part of them is such that both sides are halves. How many classes
//! there are, and how large, follows from the number of items and k alone.

/// The items to divide: by attribute the place of every row's value in the order of the attribute.
pub(super) struct Items<'a> {
    pub(super) ranks: &'a [Vec<u32>],
    /// How many places each attribute has.
    pub(super) domains: &'a [usize],
    /// Which site holds each row.
    pub(super) site_of: &'a [usize],
    pub(super) sites: usize,
}

/// A set that was divided, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DividedSet {
    pub(super) rows: Vec<u32>,
    pub(super) attribute: usize,
    pub(super) median: u32,
    /// By site, how many items it has on either side.
    pub(super) sizes: Vec<[u64; 2]>,
}

/// The classes, and how they came about.
#[derive(Debug, Default)]
pub(super) struct Divided {
    pub(super) classes: Vec<Vec<u32>>,
    pub(super) cuts: Vec<DividedSet>,
}

pub(super) fn divide(items: &Items<'_>, rows: Vec<u32>, k: usize) -> Divided {
    let mut divided = Divided::default();
    // The paper calls `split` on all items whatever their number.
    let mut sets = vec![rows];
    while let Some(set) = sets.pop() {
        if set.len() <= 2 * k {
            divided.classes.push(set);
            continue;
        }
        let attribute = widest(items, &set);
        let (median, sides) = halves(items, &set, attribute);
        let sizes = sizes(items, &sides);
        divided.cuts.push(DividedSet { rows: set, attribute, median, sizes });
        sets.extend(sides);
    }
    divided
}

fn sizes(items: &Items<'_>, sides: &[Vec<u32>; 2]) -> Vec<[u64; 2]> {
    let mut sizes = vec![[0; 2]; items.sites];
    for (side, rows) in sides.iter().enumerate() {
        rows.iter().for_each(|&row| sizes[items.site_of[row as usize]][side] += 1);
    }
    sizes
}

/// The least and the greatest value of an attribute.
pub(super) fn extremes(ranks: &[u32], rows: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
    rows.map(|row| ranks[row as usize]).fold(None, |found, rank| {
        Some(found.map_or((rank, rank), |(least, most): (u32, u32)| (least.min(rank), most.max(rank))))
    })
}

/// The attribute with the largest range, as a share of its domain; of equals the first.
fn widest(items: &Items<'_>, rows: &[u32]) -> usize {
    let share = |attribute: usize| {
        let found = extremes(&items.ranks[attribute], rows.iter().copied());
        let (least, most) = found.unwrap_or((0, 0));
        f64::from(most - least) / (items.domains[attribute].max(2) - 1) as f64
    };
    let mut best = (0, f64::NEG_INFINITY);
    for (attribute, share) in (0..items.ranks.len()).map(share).enumerate() {
        if share > best.1 {
            best = (attribute, share);
        }
    }
    best.0
}

fn halves(items: &Items<'_>, rows: &[u32], attribute: usize) -> (u32, [Vec<u32>; 2]) {
    let ranks = &items.ranks[attribute];
    let mut sorted: Vec<u32> = rows.iter().map(|&row| ranks[row as usize]).collect();
    sorted.sort_unstable();
    let median = sorted[(sorted.len() - 1) / 2];
    let of = |row: &u32| ranks[*row as usize].cmp(&median);
    let mut left: Vec<u32> = rows.iter().copied().filter(|row| of(row).is_lt()).collect();
    let mut right: Vec<u32> = rows.iter().copied().filter(|row| of(row).is_gt()).collect();
    let mut at_median: Vec<Vec<u32>> = vec![Vec::new(); items.sites];
    for &row in rows.iter().filter(|row| of(row).is_eq()) {
        at_median[items.site_of[row as usize]].push(row);
    }
    // Of the items at the median as many go to the left as make it half; each site's part of them
    // is as large as its part of the items, up to rounding.
    let all: usize = at_median.iter().map(Vec::len).sum();
    let wanted = rows.len() / 2 - left.len();
    let (mut seen, mut taken) = (0, 0);
    for own in at_median {
        seen += own.len();
        let upto = seen * wanted / all;
        let (to_left, to_right) = own.split_at(upto - taken);
        left.extend(to_left);
        right.extend(to_right);
        taken = upto;
    }
    (median, [left, right])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_sizes(divided: &Divided) -> Vec<usize> {
        let mut sizes: Vec<usize> = divided.classes.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn ten_equal_items_are_shared_between_both_sides() {
        let ranks = [vec![3; 10], vec![1; 10]];
        let items = Items { ranks: &ranks, domains: &[9, 2], site_of: &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1], sites: 2 };
        let divided = divide(&items, (0..10).collect(), 2);
        assert_eq!(class_sizes(&divided), [2, 2, 3, 3]);
        assert_eq!(divided.cuts[0].sizes, [[2, 3], [3, 2]], "each site's own, five on either side");
        assert_eq!(divide(&items, (0..10).collect(), 5).classes.len(), 1, "ten are not more than 2k");
        assert_eq!(divide(&items, Vec::new(), 5).classes, [Vec::<u32>::new()]);
    }

    #[test]
    fn sides_keep_the_order_of_the_widest_attribute_and_every_class_has_k_to_2k_items() {
        for seed in 0..50u32 {
            let value =
                |row: u32, salt: u32| (row.wrapping_mul(2_654_435_761).wrapping_add(salt * 97 + seed * 31)) >> 16;
            let ranks = [
                (0..100).map(|row| value(row, 1) % 7).collect::<Vec<u32>>(),
                (0..100).map(|row| value(row, 2) % 50).collect(),
            ];
            let site_of: Vec<usize> = (0..100).map(|row| row % 3).collect();
            let items = Items { ranks: &ranks, domains: &[7, 50], site_of: &site_of, sites: 3 };
            let k = 4 + (seed as usize % 5);
            let divided = divide(&items, (0..100).collect(), k);
            assert!(divided.classes.iter().all(|class| (k..=2 * k).contains(&class.len())), "seed {seed}");
            let mut rows: Vec<u32> = divided.classes.concat();
            rows.sort_unstable();
            assert_eq!(rows, (0..100).collect::<Vec<u32>>(), "seed {seed}");
            let alone = Items { site_of: &[0; 100], sites: 1, ..items };
            assert_eq!(class_sizes(&divide(&alone, (0..100).collect(), k)), class_sizes(&divided), "seed {seed}");
        }
    }
}
