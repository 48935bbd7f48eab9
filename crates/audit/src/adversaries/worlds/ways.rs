//! The people who stayed from an earlier release of a custodian to the newest: by numbers, since
//! nothing names them.

use hashbrown::HashMap;
use hedgerow_table::{Progress, TableError};

use super::hypothesis::{Assumption, Case, CasePeople, can_be_there, everyone, most_here};
use crate::solver::Side;

/// Of few people every way is tried, where there are no more than this.
const FEW_PEOPLE: u64 = 32;
const WAYS_OF_FEW: usize = 256;

/// Of more people, at most this many: in each, others come first of those who look alike to a table
/// and have the same value.
const WAYS_OF_MANY: usize = 8;

/// By way, what is assumed of each table; and whether these are all ways.
pub(super) struct Ways {
    pub(super) tried: Vec<Vec<Assumption>>,
    pub(super) all: bool,
}

/// The ways in which as many people as can have stayed, in each of some tables that cannot hold
/// everyone.
pub(super) fn ways_to_stay(
    sides: &[Side],
    cases: &[Case],
    own: &[usize],
    standings: &[Assumption],
    progress: &dyn Progress,
) -> Result<Ways, TableError> {
    let people: u64 = cases.iter().map(|case| u64::from(case.people)).sum();
    let every = if people <= FEW_PEOPLE { every_way(sides, cases, own) } else { None };
    let (ways, mut all) = match every {
        Some(ways) => (ways, true),
        None => (some_ways(sides, cases, own), false),
    };
    let mut tried = Vec::with_capacity(ways.len());
    for way in ways {
        let mut with = standings.to_vec();
        let mut is_possible = true;
        for (&table, people) in own.iter().zip(way) {
            let counts = people.counts(cases.len());
            is_possible &= can_be_there(&sides[table], table, cases, &counts, 0, progress)?;
            let unlisted = sides[table].rows() - counts.iter().map(|&count| u64::from(count)).sum::<u64>();
            with[table] = Assumption::Stayed { people, unlisted };
        }
        all &= is_possible;
        if is_possible {
            tried.push(with);
        }
    }
    Ok(Ways { tried, all })
}

/// By table, the people who are in it.
type Way = Vec<CasePeople>;

/// `None` where there are too many.
fn every_way(sides: &[Side], cases: &[Case], own: &[usize]) -> Option<Vec<Way>> {
    let mut counted: Vec<Vec<Vec<u32>>> = vec![Vec::new()];
    for &table in own {
        let of_table = every_stayed(&sides[table], table, cases, WAYS_OF_FEW / counted.len())?;
        let mut more = Vec::with_capacity(counted.len() * of_table.len());
        for way in &counted {
            more.extend(of_table.iter().map(|people| [way.as_slice(), std::slice::from_ref(people)].concat()));
        }
        counted = more;
    }
    let mut ways: Vec<Way> = Vec::new();
    for counts in &counted {
        let mut of_counts: Vec<Way> = vec![vec![CasePeople::default(); own.len()]];
        for (number, case) in cases.iter().enumerate() {
            let stay: Vec<u32> = counts.iter().map(|counts| counts[number]).collect();
            let parts = every_overlap(case.people, &stay);
            if parts.len() * of_counts.len() > WAYS_OF_FEW {
                return None;
            }
            of_counts = of_counts
                .iter()
                .flat_map(|way| parts.iter().map(|parts| with_parts(way.clone(), number as u32, parts)))
                .collect();
        }
        ways.extend(of_counts);
        if ways.len() > WAYS_OF_FEW {
            return None;
        }
    }
    Some(ways)
}

/// People of one case who are in the same tables: these, as bits, and how many people.
type Overlap = (usize, u32);

/// Every way in which given numbers of some people, who look alike, are in each of some tables: who
/// is in one may be in another or not.
fn every_overlap(people: u32, stay: &[u32]) -> Vec<Vec<Overlap>> {
    fn add(people: u32, stay: &[u32], tables: usize, parts: &mut Vec<Overlap>, found: &mut Vec<Vec<Overlap>>) {
        if people == 0 || tables == 0 {
            // Who is left is in no table.
            if stay.iter().all(|&left| left == 0) {
                found.push(parts.clone());
            }
            return;
        }
        let is_in = |table: &usize| tables >> table & 1 == 1;
        let most = (0..stay.len()).filter(is_in).map(|table| stay[table]).fold(people, u32::min);
        for count in 0..=most {
            let left: Vec<u32> =
                stay.iter().enumerate().map(|(table, &left)| left - if is_in(&table) { count } else { 0 }).collect();
            parts.push((tables, count));
            add(people - count, &left, tables - 1, parts, found);
            parts.pop();
        }
    }
    let mut found = Vec::new();
    add(people, stay, (1 << stay.len()) - 1, &mut Vec::new(), &mut found);
    found
}

/// A way in which the people of a case are in the tables of their parts, one part after the other.
fn with_parts(mut way: Way, case: u32, parts: &[Overlap]) -> Way {
    let mut from = 0;
    for &(tables, count) in parts.iter().filter(|(_, count)| *count > 0) {
        for (_, people) in way.iter_mut().enumerate().filter(|(table, _)| tables >> table & 1 == 1) {
            people.0.push((case, from, from + count));
        }
        from += count;
    }
    way
}

/// Some ways: of those whom a table does not tell apart and who have the same value, each case is
/// once the first to have stayed, in all groups at once. In every second way those of a case who
/// are in one table are, as far as they can, not those who are in the next.
fn some_ways(sides: &[Side], cases: &[Case], own: &[usize]) -> Vec<Way> {
    let turns: Vec<Vec<(u32, u32)>> = own.iter().map(|&table| turns(cases, table)).collect();
    let most = turns.iter().flatten().map(|&(_, of)| of as usize).max().unwrap_or(1);
    let way = |number: usize| {
        let mut ends = vec![0; cases.len()];
        let tables = own.iter().zip(&turns).map(|(&table, turns)| {
            let mut order: Vec<u32> = (0..cases.len() as u32).collect();
            order.sort_by_key(|&case| {
                let (turn, of) = turns[case as usize];
                (turn + number as u32) % of
            });
            let counts = stayed(&sides[table], table, cases, &order);
            if number.is_multiple_of(2) {
                ends.fill(0);
            }
            from_there_on(cases, &counts, &mut ends)
        });
        tables.collect()
    };
    (0..most.clamp(2, WAYS_OF_MANY)).map(way).collect()
}

/// As many people of each case, from the one on that `ends` says and around; which becomes the one
/// after the last.
fn from_there_on(cases: &[Case], counts: &[u32], ends: &mut [u32]) -> CasePeople {
    let mut people = CasePeople::default();
    for (number, ((case, &count), end)) in (0..).zip(cases.iter().zip(counts).zip(ends)) {
        let last = *end + count;
        let around = last.saturating_sub(case.people);
        let runs = [(0, around), (*end, last.min(case.people))];
        people.0.extend(runs.into_iter().filter(|(from, to)| from < to).map(|(from, to)| (number, from, to)));
        *end = if around > 0 { around } else { last % case.people.max(1) };
    }
    people
}

/// By case, which one it is of those whom a table does not tell apart and who have the same value;
/// and how many there are.
fn turns(cases: &[Case], table: usize) -> Vec<(u32, u32)> {
    let mut sizes: HashMap<(u32, Option<&[u32]>), u32> = HashMap::new();
    let mut turns: Vec<(u32, u32)> = Vec::with_capacity(cases.len());
    for case in cases {
        let size = sizes.entry((case.places[table], case.truth.as_deref())).or_default();
        turns.push((*size, 0));
        *size += 1;
    }
    for (turn, case) in turns.iter_mut().zip(cases) {
        turn.1 = sizes[&(case.places[table], case.truth.as_deref())];
    }
    turns
}

/// As many people as can be in a table with their true values, by case. The cases that come first
/// in `order` are preferred.
fn stayed(side: &Side, table: usize, cases: &[Case], order: &[u32]) -> Vec<u32> {
    let ordered: Vec<Case> = order.iter().map(|&case| cases[case as usize].clone()).collect();
    let best = largest(side, table, &ordered);
    let mut people = vec![0; cases.len()];
    order.iter().zip(best).for_each(|(&case, count)| people[case as usize] = count);
    people
}

/// By case, the most people for whom there is a flow.
fn largest(side: &Side, table: usize, cases: &[Case]) -> Vec<u32> {
    let all = everyone(cases);
    let (mut low, mut high) = (0u64, side.rows());
    let mut best = vec![0; cases.len()];
    while low < high {
        let middle = (low + high).div_ceil(2);
        match most_here(side, table, cases, &all, |matched| middle.min(matched.saturating_add(1))) {
            Some(found) => {
                best = found;
                low = middle;
            }
            None => high = middle - 1,
        }
    }
    best
}

/// Every largest set of people who can be in a table with their true values, as numbers by case;
/// `None` where there are more than `most`. Every smaller set is part of one of these: the sets
/// that can be are those of a matroid.
fn every_stayed(side: &Side, table: usize, cases: &[Case], most: usize) -> Option<Vec<Vec<u32>>> {
    let rank: u64 = largest(side, table, cases).iter().map(|&count| u64::from(count)).sum();
    let mut sets = LargestSets { side, table, cases, rank, most, found: Vec::new() };
    let fits = |case: &Case| !side.places[case.places[table] as usize].is_empty();
    let mut chosen: Vec<u32> = cases.iter().map(|case| if fits(case) { case.people } else { 0 }).collect();
    sets.decide(0, &mut chosen).then_some(sets.found)
}

struct LargestSets<'a> {
    side: &'a Side,
    table: usize,
    cases: &'a [Case],
    rank: u64,
    most: usize,
    found: Vec<Vec<u32>>,
}

impl LargestSets<'_> {
    /// Decides the cases from `at` on; those before are decided. `false` when there are too many.
    fn decide(&mut self, at: usize, chosen: &mut [u32]) -> bool {
        if at == chosen.len() {
            self.found.push(chosen.to_vec());
            return self.found.len() <= self.most;
        }
        let all = chosen[at];
        for count in (0..=all).rev() {
            chosen[at] = count;
            // Those who are decided can be there, and the others fill up what is left.
            let mut decided = chosen.to_vec();
            decided[at + 1..].fill(0);
            let size: u64 = decided.iter().map(|&count| u64::from(count)).sum();
            if self.can_be(&decided, size) && self.can_be(chosen, self.rank) && !self.decide(at + 1, chosen) {
                return false;
            }
        }
        chosen[at] = all;
        true
    }

    /// Whether at least `wanted` of some people can be there.
    fn can_be(&self, people: &[u32], wanted: u64) -> bool {
        most_here(self.side, self.table, self.cases, people, |_| wanted).is_some()
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    /// Whether people, each with the classes that fit and a value, can be rows of a table.
    fn can_be(side: &Side, people: &[(u32, u32)], rows: &mut [u32]) -> bool {
        let Some((&(place, value), others)) = people.split_first() else { return true };
        for &class in &side.places[place as usize] {
            let Some(at) = side.position(class, value).filter(|&at| rows[at] > 0) else { continue };
            rows[at] -= 1;
            let found = can_be(side, others, rows);
            rows[at] += 1;
            if found {
                return true;
            }
        }
        false
    }

    /// Every set of people that no larger one contains, against listing all sets.
    #[test]
    fn every_largest_set_of_people_who_stayed_is_found() {
        let mut several = 0;
        for seed in seeds(400) {
            let mut rng = StdRng::seed_from_u64(seed);
            let (classes, values) = (rng.random_range(1..4u32), rng.random_range(1..4u32));
            let mut side = Side { starts: vec![0], ..Side::default() };
            for class in 0..classes {
                side.bucket_of.push(class);
                let counts: Vec<(u32, u32)> = (0..values).map(|value| (value, rng.random_range(0..3))).collect();
                side.sizes.push(counts.iter().map(|&(_, rows)| rows).sum());
                side.counts.extend(counts.into_iter().filter(|&(_, rows)| rows > 0));
                side.starts.push(side.counts.len() as u32);
            }
            side.places = (0..3).map(|_| (0..classes).filter(|_| rng.random_bool(0.6)).collect()).collect();
            let cases: Vec<Case> = (0..rng.random_range(1..5))
                .map(|_| Case {
                    places: vec![rng.random_range(0..3)],
                    truth: Some(vec![rng.random_range(0..=values)]),
                    people: rng.random_range(1..3),
                })
                .collect();
            let mut sets: Vec<Vec<u32>> = vec![Vec::new()];
            for case in &cases {
                let more =
                    |set: &Vec<u32>| (0..=case.people).map(|n| [set.as_slice(), &[n]].concat()).collect::<Vec<_>>();
                sets = sets.iter().flat_map(more).collect();
            }
            let mut rows: Vec<u32> = side.counts.iter().map(|&(_, rows)| rows).collect();
            sets.retain(|set| {
                let each = cases.iter().zip(set).flat_map(|(case, &n)| {
                    std::iter::repeat_n((case.places[0], case.truth.as_ref().unwrap()[0]), n as usize)
                });
                can_be(&side, &each.collect::<Vec<_>>(), &mut rows)
            });
            let within = |one: &Vec<u32>, other: &Vec<u32>| one != other && one.iter().zip(other).all(|(a, b)| a <= b);
            let mut largest: Vec<Vec<u32>> =
                sets.iter().filter(|set| !sets.iter().any(|other| within(set, other))).cloned().collect();
            largest.sort_unstable();
            let mut found = every_stayed(&side, 0, &cases, usize::MAX).unwrap();
            found.sort_unstable();
            assert_eq!(found, largest, "seed {seed}");
            several += usize::from(largest.len() > 1);
            assert!(every_stayed(&side, 0, &cases, largest.len() - 1).is_none(), "seed {seed}");
        }
        assert!(several > 20 || seeds(400).count() == 1);
    }
}
