//! The people who can be in each class of one table: a bipartite problem with capacities. A pair
//! that is in no assignment of all people to all rows goes.

use super::flow::{Moves, Network};
use super::problem::{ABSENT, Presence, WorldProblem};

/// More pairs of a profile and a class are not examined together.
const PAIRS_MAX: usize = 6_000_000;

/// A class that people of a profile can be in, or [`ABSENT`]; and how many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProfilePlace {
    pub(crate) class: u32,
    pub(crate) low: u32,
    pub(crate) high: u32,
}

/// By profile, what is left.
pub(crate) type Options = Vec<Vec<ProfilePlace>>;

/// The classes that fit by their labels alone.
pub(crate) fn by_labels(problem: &WorldProblem, side: usize) -> Options {
    let table = &problem.sides[side];
    let of = |profile: &super::problem::PeopleProfile| {
        let (least, most) = profile.people;
        let classes = problem.classes(profile, side);
        let away = profile.presence[side] != Presence::Here;
        let only = classes.len() + usize::from(away) == 1;
        let option = |class: u32, rows: u64| ProfilePlace {
            class,
            low: if only { least } else { 0 },
            high: u64::from(most).min(rows) as u32,
        };
        let here = classes.iter().map(|&class| option(class, u64::from(table.sizes[class as usize])));
        let absent = match profile.presence[side] {
            Presence::Here => None,
            Presence::Either => Some(option(ABSENT, table.absent)),
            Presence::Away => Some(option(ABSENT, u64::MAX)),
        };
        here.chain(absent).filter(|option| option.high > 0 || option.low > 0).collect()
    };
    problem.profiles.iter().map(of).collect()
}

/// Removes the options that no assignment has. `None` when no assignment exists; `Some(false)`
/// when there were too many pairs to look at.
pub(crate) fn filter(problem: &WorldProblem, side: usize, options: &mut Options) -> Option<bool> {
    let table = &problem.sides[side];
    if options.iter().map(Vec::len).sum::<usize>() > PAIRS_MAX {
        return Some(false);
    }
    let classes = table.sizes.len();
    // Sink, source, one for the absent, one for the unlisted; then classes; then profiles.
    const SOURCE: u32 = 0;
    const SINK: u32 = 1;
    const AWAY: u32 = 2;
    const UNLISTED: u32 = 3;
    let mut network = Network::new(4 + classes);
    network.add_edge(SINK, SOURCE, 0, u64::from(u32::MAX) * 4);
    network.add_edge(AWAY, SINK, 0, table.absent);
    network.add_edge(SOURCE, UNLISTED, 0, table.unlisted);
    // People of whom only one place is possible take up its rows beforehand.
    let mut taken = vec![(0u64, 0u64); classes];
    let mut edges: Vec<(usize, usize, usize)> = Vec::new();
    for (number, (profile, options)) in problem.profiles.iter().zip(options.iter()).enumerate() {
        if profile.presence[side] == Presence::Away {
            continue;
        }
        let (least, most) = (u64::from(profile.people.0), u64::from(profile.people.1));
        match options.as_slice() {
            [] if least > 0 => return None,
            [] => {}
            [only] if only.class != ABSENT => {
                let taken = &mut taken[only.class as usize];
                *taken = (taken.0 + least, taken.1 + most);
            }
            several => {
                let node = network.add_node();
                network.add_edge(SOURCE, node, least, most);
                for (place, option) in several.iter().enumerate() {
                    let to = if option.class == ABSENT { AWAY } else { 4 + option.class };
                    let edge = network.add_edge(node, to, u64::from(option.low), u64::from(option.high));
                    edges.push((number, place, edge));
                }
            }
        }
    }
    for (class, &size) in table.sizes.iter().enumerate() {
        let (least, most) = taken[class];
        let node = 4 + class as u32;
        if least > u64::from(size) {
            return None;
        }
        network.add_edge(SOURCE, node, least, most.min(u64::from(size)));
        network.add_edge(UNLISTED, node, 0, u64::from(size).min(table.unlisted));
        network.add_edge(node, SINK, u64::from(size), u64::from(size));
    }
    if !network.circulate() {
        return None;
    }
    for (number, place, edge) in edges {
        let option = &mut options[number][place];
        match network.moves(edge) {
            Moves::AtLow => option.high = option.low,
            Moves::AtHigh => option.low = option.high,
            Moves::Free => {}
        }
    }
    options.iter_mut().for_each(|options| options.retain(|option| option.high > 0));
    Some(true)
}
