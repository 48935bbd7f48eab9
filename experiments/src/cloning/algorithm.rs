//! Section 6.2 says that the minimality attack cannot succeed on clones: statistics do not show who
//! is in which class. Here an adversary who knows algorithm 1 counts: for few people of known age,
//! two values of which each person has one, and every way to deal them, how often algorithm 1
//! releases the means that were released.
//!
//! The algorithm takes the tuples of the first value in random order, one to a class; then each
//! class in turn takes the closest tuple of the second value, one of them at random where several
//! are as close. The paper's closeness is the number of generalization steps until both tuples are
//! the same, here of ages in intervals of 5, 10 and 20 years; beside it years are counted. Both
//! values are as frequent as each other in every class and in the table, so that an adversary who
//! does not know the algorithm gives each value one half.

use std::collections::BTreeMap;

use rand::rngs::StdRng;

/// The classes as they are released: the sums of their ages, ascending.
type Released = Vec<u32>;

/// How far two ages are from each other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Far {
    /// Generalization steps until both are the same.
    Steps,
    Years,
}

/// The intervals of each level above the ages; on the last level all are the same.
const WIDTHS: [u32; 3] = [5, 10, 20];

impl Far {
    fn between(self, one: u32, other: u32) -> u32 {
        match self {
            Far::Years => one.abs_diff(other),
            Far::Steps if one == other => 0,
            Far::Steps => {
                let level = WIDTHS.iter().position(|width| one / width == other / width).unwrap_or(WIDTHS.len());
                level as u32 + 1
            }
        }
    }
}

/// By release: how often it comes of all ways to deal the values, all orders and equally close
/// tuples alike, and of these how often each person has the first value. In units of which every
/// order has [`units`].
pub(super) fn counted(ages: &[u32], far: Far) -> BTreeMap<Released, (u64, Vec<u64>)> {
    let mut counted: BTreeMap<Released, (u64, Vec<u64>)> = BTreeMap::new();
    for dealt in 0u32..1 << ages.len() {
        if dealt.count_ones() as usize * 2 != ages.len() {
            continue;
        }
        let has_first = |person: &usize| dealt >> person & 1 == 1;
        let (first, second): (Vec<usize>, Vec<usize>) = (0..ages.len()).partition(has_first);
        for order in orders(&first) {
            let assignment = Assignment { ages, far, seeds: &order, left: &second, sums: &[] };
            assignment.released(units(ages.len()), &mut |release, weight| {
                let found = counted.entry(release).or_insert((0, vec![0; ages.len()]));
                found.0 += weight;
                first.iter().for_each(|&person| found.1[person] += weight);
            });
        }
    }
    counted
}

/// Every number of equally close tuples divides it, one class after the other.
fn units(people: usize) -> u64 {
    (1..=people as u64 / 2).product::<u64>().pow(2)
}

/// Classes that have a tuple of the second value, by the sums of their ages, and those that wait
/// for one.
#[derive(Debug, Clone, Copy)]
struct Assignment<'a> {
    ages: &'a [u32],
    far: Far,
    seeds: &'a [usize],
    left: &'a [usize],
    sums: &'a [u32],
}

impl Assignment<'_> {
    /// All releases that may come of it, each with its part of the weight.
    fn released(self, weight: u64, found: &mut impl FnMut(Released, u64)) {
        let Some((&seed, seeds)) = self.seeds.split_first() else {
            let mut sums = self.sums.to_vec();
            sums.sort_unstable();
            return found(sums, weight);
        };
        let far = |person: usize| self.far.between(self.ages[person], self.ages[seed]);
        let least = self.left.iter().map(|&person| far(person)).min();
        let closest: Vec<usize> = self.left.iter().copied().filter(|&person| Some(far(person)) == least).collect();
        for &person in &closest {
            let left: Vec<usize> = self.left.iter().copied().filter(|&other| other != person).collect();
            let sums = [self.sums, &[self.ages[seed] + self.ages[person]]].concat();
            let next = Assignment { seeds, left: &left, sums: &sums, ..self };
            next.released(weight / closest.len() as u64, found);
        }
    }
}

/// The largest confidence in a value, and the release that allows it.
pub(super) fn surest(ages: &[u32], far: Far) -> (f64, Released) {
    let mut surest = (0.0, Vec::new());
    for (release, (all, first)) in counted(ages, far) {
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

    /// By steps, 20 and 24 are one apart, 25 is two from both, and 40 four from all: of means 22
    /// and 32.5, the person of 40 has the first value three of five times. By years, three of the
    /// four ways that fit the means 22.5 and 32 give them, each in one of two orders: the first
    /// value at 20 and 24, at 24 and 25, or at 25 and 40. Counts are in units of four.
    #[test]
    fn knowing_algorithm_1_tells_more_of_four_people_than_their_classes_do() {
        let ages = [20, 24, 25, 40];
        let [by_steps, by_years] = [Far::Steps, Far::Years].map(|far| counted(&ages, far));
        assert_eq!(by_steps[&vec![44, 65]], (20, vec![10, 10, 8, 12]));
        assert_eq!(by_steps[&vec![45, 64]], (14, vec![6, 8, 8, 6]));
        assert_eq!(surest(&ages, Far::Steps), (0.6, vec![44, 65]));
        assert_eq!(by_years[&vec![45, 64]], (12, vec![4, 8, 8, 4]));
        assert_eq!(by_years[&vec![44, 65]], (20, vec![12, 8, 8, 12]));
        assert_eq!(surest(&ages, Far::Years), (2.0 / 3.0, vec![45, 64]));
    }

    #[test]
    fn without_the_algorithm_every_value_is_as_likely() {
        // All ways to pair the people, and to deal each pair both values.
        let ages = [20u32, 24, 25, 40];
        let pairs = [[[0usize, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];
        let fits = |pairs: &[[usize; 2]; 2], means: [u32; 2]| {
            let mut sums = pairs.map(|[one, other]| ages[one] + ages[other]);
            sums.sort_unstable();
            sums == means
        };
        for (means, expected) in [([44, 65], 0), ([45, 64], 1)] {
            let ways: Vec<usize> = (0..3).filter(|&way| fits(&pairs[way], means)).collect();
            assert_eq!(ways, [expected], "the means show who is with whom, and either may have either value");
        }
    }

    #[test]
    fn every_way_to_deal_and_every_order_counts_once() {
        let ages = [20, 21, 30, 31, 50, 52];
        for far in [Far::Steps, Far::Years] {
            let all: u64 = counted(&ages, far).values().map(|(all, _)| all).sum();
            assert_eq!((all, units(6)), (20 * 6 * 36, 36), "{far:?}");
        }
        assert_eq!(orders(&[1, 2, 3, 4]).len(), 24);
    }
}
