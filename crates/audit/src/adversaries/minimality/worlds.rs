//! The ways to give the sensitive values of a class to its people: gone through one by one where
//! they are few, drawn by chance where they are many.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// The most ways that are gone through.
const ASSIGNMENTS_MAX: f64 = 50_000.0;

/// People are bits.
pub(super) const PEOPLE_MAX: usize = 128;

const DRAWN: usize = 4_000;
/// Of fewer draws that fit, no share is reported.
const FITTING_MIN: u64 = 200;

/// In how many of the ways that fit each person has each value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worlds {
    /// Ways that fit.
    pub(super) fitting: u64,
    /// By person, then by value.
    pub(super) having: Vec<Vec<u64>>,
    /// All ways were gone through.
    pub(super) exact: bool,
}

impl Worlds {
    pub(super) fn shares(&self, person: usize) -> Vec<f64> {
        self.having[person].iter().map(|&having| having as f64 / self.fitting as f64).collect()
    }
}

/// `fits` sees, by value, who has it. `None` when the ways are too many and too few of those drawn
/// fit.
pub(super) fn worlds(values: &[(u32, u32)], people: usize, fits: impl Fn(&[u128]) -> bool) -> Option<Worlds> {
    let exact = ways(values) <= ASSIGNMENTS_MAX;
    let mut worlds = Worlds { fitting: 0, having: vec![vec![0; values.len()]; people], exact };
    let mut look = |given: &[u128]| {
        if fits(given) {
            worlds.fitting += 1;
            for (value, holders) in given.iter().enumerate() {
                let having = worlds.having.iter_mut().enumerate();
                having.for_each(|(person, having)| having[value] += (holders >> person & 1) as u64);
            }
        }
    };
    if exact {
        let mut left: Vec<u32> = values.iter().map(|&(_, count)| count).collect();
        go(&mut left, &mut vec![0; values.len()], 0, people, &mut look);
        return Some(worlds);
    }
    // The same draws for the same class: the audit of a release does not change from run to run.
    let mut rng = StdRng::seed_from_u64(people as u64);
    let mut given_to: Vec<usize> =
        values.iter().enumerate().flat_map(|(value, &(_, count))| std::iter::repeat_n(value, count as usize)).collect();
    for _ in 0..DRAWN {
        given_to.shuffle(&mut rng);
        let mut given = vec![0u128; values.len()];
        given_to.iter().enumerate().for_each(|(person, &value)| given[value] |= 1 << person);
        look(&given);
    }
    (worlds.fitting >= FITTING_MIN).then_some(worlds)
}

/// In how many ways the values can be given to people.
pub(super) fn ways(values: &[(u32, u32)]) -> f64 {
    let (mut ways, mut placed) = (1.0, 0u32);
    for &(_, count) in values {
        for step in 1..=count {
            placed += 1;
            ways *= f64::from(placed) / f64::from(step);
        }
    }
    ways
}

/// Gives values to one person after the other.
fn go(left: &mut [u32], given: &mut [u128], person: usize, people: usize, look: &mut dyn FnMut(&[u128])) {
    if person == people {
        look(given);
        return;
    }
    for value in 0..left.len() {
        if left[value] > 0 {
            left[value] -= 1;
            given[value] |= 1 << person;
            go(left, given, person + 1, people, look);
            given[value] &= !(1 << person);
            left[value] += 1;
        }
    }
}

/// The number of values that the people of `side` have.
pub(super) fn kinds(given: &[u128], side: u128) -> u64 {
    given.iter().filter(|holders| *holders & side != 0).count() as u64
}
