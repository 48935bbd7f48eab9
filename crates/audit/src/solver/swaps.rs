//! Values that are possible because people can exchange them: from one world that is known, the
//! true one, to others.
//!
//! Two people of one profile can exchange their values. On two sides, people with one of two values
//! are edges between their buckets; an exchange along a cycle on which the values alternate leaves
//! every count as it is. With the edges of one value turned round, such a cycle is a directed one,
//! so every edge within a strongly connected component is on one. Of more sides, some together are
//! one and the others the second: who agrees in all of the first is in one bucket of it. Each way
//! to divide the sides shows more. Cost: for each way and each two values, the people who have one
//! of them.

use hashbrown::HashMap;

use super::flow::strong_components;
use super::query::{Scenario, WorldAnswer, WorldQuery};
use super::system::System;

/// Edges looked at over all ways and pairs of values.
const EDGES_MAX: u64 = 120_000_000;

/// Ways to divide the sides that are tried.
const DIVISIONS_MAX: usize = 64;

/// A true value with the people of a profile who have it.
pub(crate) type Truth = Vec<Vec<(u32, u32)>>;

/// Marks what the truth and exchanges show to be possible.
pub(crate) fn mark(system: &System, truth: &Truth, sides: usize, scenarios: &mut [Scenario]) {
    let is_requested = |query: &WorldQuery| query.factors.is_empty() && query.answer == WorldAnswer::Open;
    let mut open = scenarios.iter().filter(|scenario| scenario.shown.is_empty()).flat_map(|scenario| &scenario.queries);
    if !open.any(is_requested) {
        return;
    }
    let mut possible: Vec<Vec<u32>> =
        truth.iter().map(|values| values.iter().map(|&(value, _)| value).collect()).collect();
    exchange(system, truth, sides, &mut possible);
    for scenario in scenarios.iter_mut().filter(|scenario| scenario.shown.is_empty()) {
        let known = &possible[scenario.profile as usize];
        for query in scenario.queries.iter_mut().filter(|query| is_requested(query)) {
            if known.contains(&query.value) {
                query.answer = WorldAnswer::Possible;
            }
        }
    }
}

/// Ways to divide the sides in two: whether each is among the first. All of them where they are
/// few; else each side against the others, and some that are drawn, always the same.
fn divisions(sides: usize) -> Vec<Vec<bool>> {
    let of = |mask: u64| (0..sides).map(|side| mask >> (side % 64) & 1 == 1).collect::<Vec<bool>>();
    if sides <= 6 {
        // The last side is always among the second, unless it is the only one.
        return (1..1u64 << (sides.max(2) - 1)).map(of).collect();
    }
    let alone = (0..sides).map(|own| (0..sides).map(|side| side == own).collect());
    let drawn = (1u64..).map(|number| of(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7));
    alone.chain(drawn).take(DIVISIONS_MAX.max(sides)).collect()
}

/// The profiles that have one bucket on each side, each with the two that a division makes of them.
fn joined(system: &System, truth: &Truth, division: &[bool]) -> HashMap<u32, Vec<(u32, [u32; 2])>> {
    let mut numbers: HashMap<(bool, Vec<u32>), u32> = HashMap::new();
    let mut holders: HashMap<u32, Vec<(u32, [u32; 2])>> = HashMap::new();
    for (number, values) in truth.iter().enumerate() {
        let only = &system.profiles[number].only;
        if only.iter().any(Option::is_none) {
            continue;
        }
        let ends = [true, false].map(|first| {
            let own = only.iter().zip(division).filter(|(_, is_first)| **is_first == first);
            let own: Vec<u32> = own.filter_map(|(bucket, _)| *bucket).collect();
            let next = numbers.len() as u32;
            *numbers.entry((first, own)).or_insert(next)
        });
        for &(value, _) in values {
            holders.entry(value).or_default().push((number as u32, ends));
        }
    }
    holders
}

fn exchange(system: &System, truth: &Truth, sides: usize, possible: &mut [Vec<u32>]) {
    let mut work = 0;
    for division in divisions(sides) {
        let holders = joined(system, truth, &division);
        let mut values: Vec<u32> = holders.keys().copied().collect();
        values.sort_unstable();
        for (at, first) in values.iter().enumerate() {
            for second in &values[at + 1..] {
                let (one, two) = (&holders[first], &holders[second]);
                work += (one.len() + two.len()) as u64;
                if work > EDGES_MAX {
                    return;
                }
                exchange_two((*first, one), (*second, two), possible);
            }
        }
    }
}

/// The people of two values, each value with its profiles and their buckets.
fn exchange_two(one: (u32, &[(u32, [u32; 2])]), two: (u32, &[(u32, [u32; 2])]), possible: &mut [Vec<u32>]) {
    let mut nodes: HashMap<u32, u32> = HashMap::new();
    let mut node = |bucket: u32| {
        let next = nodes.len() as u32;
        *nodes.entry(bucket).or_insert(next)
    };
    let mut edges: Vec<(u32, u32)> = Vec::with_capacity(one.1.len() + two.1.len());
    edges.extend(one.1.iter().map(|(_, [left, right])| (node(*left), node(*right))));
    edges.extend(two.1.iter().map(|(_, [left, right])| (node(*right), node(*left))));
    let component = strong_components(nodes.len(), &edges);
    for (index, &(from, to)) in edges.iter().enumerate() {
        if component[from as usize] != component[to as usize] {
            continue;
        }
        let (profile, new) = match index.checked_sub(one.1.len()) {
            None => (one.1[index].0, two.0),
            Some(index) => (two.1[index].0, one.0),
        };
        let known = &mut possible[profile as usize];
        if !known.contains(&new) {
            known.push(new);
        }
    }
}
