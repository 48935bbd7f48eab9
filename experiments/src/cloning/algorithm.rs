//! Section 6.2 says that the minimality attack cannot succeed on clones: statistics do not show who
//! is in which class. Here an adversary who knows algorithm 1 counts: for few people of known age,
//! two values of which each person has one, and every way to deal them, how often algorithm 1
//! releases the means that were released.
//!
//! The algorithm takes the tuples of the first value in random order, one to a class; then each
//! class in turn takes the tuple of the second value whose age is closest. Both values are as
//! frequent as each other in every class and in the table, so that an adversary who does not know
//! the algorithm gives each value one half.

use std::collections::BTreeMap;

use rand::rngs::StdRng;

/// The classes as they are released: the sums of their ages, ascending.
type Released = Vec<u32>;

/// By release: how often it comes of all ways to deal the values, all orders alike, and of these
/// how often each person has the first value.
pub(super) fn counted(ages: &[u32]) -> BTreeMap<Released, (u64, Vec<u64>)> {
    let mut counted: BTreeMap<Released, (u64, Vec<u64>)> = BTreeMap::new();
    for dealt in 0u32..1 << ages.len() {
        if dealt.count_ones() as usize * 2 != ages.len() {
            continue;
        }
        let has_first = |person: &usize| dealt >> person & 1 == 1;
        let (first, second): (Vec<usize>, Vec<usize>) = (0..ages.len()).partition(has_first);
        for order in orders(&first) {
            let found = counted.entry(released(ages, &order, &second)).or_insert((0, vec![0; ages.len()]));
            found.0 += 1;
            first.iter().for_each(|&person| found.1[person] += 1);
        }
    }
    counted
}

/// The largest confidence in a value, and the release that allows it.
pub(super) fn surest(ages: &[u32]) -> (f64, Released) {
    let mut surest = (0.0, Vec::new());
    for (release, (all, first)) in counted(ages) {
        let share = first.iter().map(|&first| first.max(all - first)).max().unwrap_or(0) as f64 / all as f64;
        if share > surest.0 {
            surest = (share, release);
        }
    }
    surest
}

/// Different ages, ascending.
pub(super) fn drawn(people: usize, rng: &mut StdRng) -> Vec<u32> {
    let mut ages: Vec<u32> = rand::seq::index::sample(rng, 60, people).into_iter().map(|age| age as u32 + 20).collect();
    ages.sort_unstable();
    ages
}

fn released(ages: &[u32], first: &[usize], second: &[usize]) -> Released {
    let mut left = second.to_vec();
    let mut sums: Released = Vec::new();
    for &seed in first {
        let far = |person: usize| ages[person].abs_diff(ages[seed]);
        let place = (0..left.len()).min_by_key(|&place| far(left[place])).unwrap_or(0);
        sums.push(ages[seed] + ages[left.remove(place)]);
    }
    sums.sort_unstable();
    sums
}

fn orders(people: &[usize]) -> Vec<Vec<usize>> {
    if people.is_empty() {
        return vec![Vec::new()];
    }
    let from = |place: usize| {
        let mut left = people.to_vec();
        let next = left.remove(place);
        orders(&left).into_iter().map(move |rest| [vec![next], rest].concat())
    };
    (0..people.len()).flat_map(from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three of the four ways that fit the means 22.5 and 32 give them, each in one of two orders:
    /// the first value at 20 and 24, at 24 and 25, or at 25 and 40. Of the means 22 and 32.5 all
    /// four do, that at 20 and 40 in both orders.
    #[test]
    fn knowing_algorithm_1_tells_more_of_four_people_than_their_classes_do() {
        let ages = [20, 24, 25, 40];
        let counted = counted(&ages);
        assert_eq!(counted[&vec![45, 64]], (3, vec![1, 2, 2, 1]));
        assert_eq!(counted[&vec![44, 65]], (5, vec![3, 2, 2, 3]));
        assert_eq!(surest(&ages), (2.0 / 3.0, vec![45, 64]));
    }

    #[test]
    fn without_the_algorithm_every_value_is_as_likely() {
        // All ways to pair the people, and to deal each pair both values.
        let ages = [20u32, 24, 25, 40];
        let pairs = [[[0usize, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];
        let fits = |pairs: &[[usize; 2]; 2]| {
            let mut sums = pairs.map(|[one, other]| ages[one] + ages[other]);
            sums.sort_unstable();
            sums == [45, 64]
        };
        let ways: Vec<&[[usize; 2]; 2]> = pairs.iter().filter(|pairs| fits(pairs)).collect();
        assert_eq!(ways, [&[[0, 2], [1, 3]]], "the means show who is with whom, and either may have either value");
    }

    #[test]
    fn every_way_to_deal_and_every_order_counts_once() {
        let ages = [20, 21, 30, 31, 50, 52];
        let all: u64 = counted(&ages).values().map(|(all, _)| all).sum();
        assert_eq!(all, 20 * 6);
        assert_eq!(orders(&[1, 2, 3, 4]).len(), 24);
    }
}
