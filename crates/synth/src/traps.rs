//! Shared parts of the tables with traps: counties, names, and even draws.

use crate::chance::Random;

pub(crate) const COUNTIES: u64 = 24;

const FIRST: [&str; 24] = [
    "Ann", "Bob", "Carla", "David", "Elena", "Frank", "Grace", "Henry", "Ines", "Jack", "Karen", "Luis", "Mary",
    "Nils", "Olga", "Paul", "Rosa", "Sam", "Tina", "Umar", "Vera", "Walter", "Yara", "Zoe",
];

const LAST: [&str; 24] = [
    "Adler", "Brown", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Hansen", "Ito", "Jones", "Klein", "Lopez",
    "Meyer", "Novak", "Olsen", "Peters", "Quinn", "Rossi", "Smith", "Torres", "Unger", "Vogel", "Weber", "Young",
];

/// A number from 0 to below `bound`, all equally likely.
pub(crate) fn even(random: &mut Random, bound: u64) -> u64 {
    ((u128::from(random.next()) * u128::from(bound)) >> 64) as u64
}

pub(crate) fn name_of(random: &mut Random) -> String {
    format!("{} {}", FIRST[even(random, 24) as usize], LAST[even(random, 24) as usize])
}
