//! Assumptions about the people in each table: everyone, as far as that is possible; else the
//! person looked for and nothing is known of others; else, in an earlier release of the same
//! custodian, those who can have stayed.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use hedgerow_table::{Progress, TableError};

use crate::people::most_absent;
use crate::solver::{Beside, Layers, Network, PeopleProfile, Presence, Side, WorldProblem, solve};

/// People who fit the same classes of all tables, and of whom the same is known to be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    /// By table, the place.
    pub(super) places: Vec<u32>,
    /// The values of which one is true of them, ascending: several where the list of people says
    /// less than the tables do. The number of values stands for one that no table has.
    pub(super) truth: Option<Vec<u32>>,
    pub(super) people: u32,
}

impl Case {
    /// The statements of a table about the values that can be true of them.
    pub(super) fn said_of(&self, side: &Side) -> Option<Vec<u32>> {
        let mut said: Vec<u32> = self.truth.as_ref()?.iter().map(|&value| side.statements.of(value)).collect();
        said.sort_unstable();
        said.dedup();
        Some(said)
    }
}

/// An assumption about the people in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Assumption {
    /// All people who fit it, but for some who were suppressed.
    Everyone { absent: u64, unlisted: u64 },
    /// The person looked for; of others nothing is known.
    Target,
    /// These people, and no other who is listed.
    Stayed { people: CasePeople, unlisted: u64 },
}

/// Some people of each case, in runs: the case, its first person and the one after the last,
/// ascending. The people of a case look alike, but not to who knows that one of them is in two
/// tables and the other in none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CasePeople(pub(super) Vec<(u32, u32, u32)>);

impl CasePeople {
    /// The runs of a case.
    pub(super) fn of_case(&self, case: usize) -> impl Iterator<Item = (u32, u32)> {
        let first = self.0.partition_point(|&(other, ..)| (other as usize) < case);
        let own = self.0[first..].iter().take_while(move |(other, ..)| *other as usize == case);
        own.map(|&(_, from, to)| (from, to))
    }

    pub(super) fn contains(&self, case: usize, person: u32) -> bool {
        self.of_case(case).any(|(from, to)| (from..to).contains(&person))
    }

    /// By case, how many there are.
    pub(super) fn counts(&self, cases: usize) -> Vec<u32> {
        let mut counts = vec![0; cases];
        self.0.iter().for_each(|&(case, from, to)| counts[case as usize] += to - from);
        counts
    }
}

/// People whom no row of a table fits, where it says that rows were suppressed and has more people
/// than are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhoFitsNothing {
    /// They may not be in it at all.
    MayBeElsewhere,
    /// They are in it, as everyone who is listed, and so among the suppressed rows.
    WasSuppressed,
}

/// The standing of a table before anyone tried to combine it with others.
pub(super) fn standing(
    side: &Side,
    table: usize,
    cases: &[Case],
    suppressed: u64,
    others: WhoFitsNothing,
) -> Assumption {
    let fits = |case: &&Case| !side.places[case.places[table] as usize].is_empty();
    let all: u64 = cases.iter().map(|case| u64::from(case.people)).sum();
    let matched: u64 = cases.iter().filter(fits).map(|case| u64::from(case.people)).sum();
    // Classes hold people; a counterfeit has a value and no class.
    let rows = side.rows();
    let source = rows + suppressed;
    let absent = match others {
        WhoFitsNothing::MayBeElsewhere => most_absent((all, matched), (rows, suppressed)),
        WhoFitsNothing::WasSuppressed => suppressed.saturating_sub(all - matched).min(matched),
    };
    let Some(unlisted) = rows.checked_sub(matched - absent) else { return Assumption::Target };
    let unlisted = unlisted + side.counterfeits();
    if all > source && matched > rows {
        return Assumption::Target;
    }
    match most_here(side, table, cases, &everyone(cases), |matched| matched - absent) {
        Some(_) => Assumption::Everyone { absent, unlisted },
        None => Assumption::Target,
    }
}

/// By case, all of its people.
pub(super) fn everyone(cases: &[Case]) -> Vec<u32> {
    cases.iter().map(|case| case.people).collect()
}

/// Whether some people, all but `absent` of them, can be in the classes of a table with their true
/// values. Where every class is a bucket of its own, [`most_here`] has decided that; elsewhere
/// classes have rows of their own beside the values of their buckets.
pub(super) fn can_be_there<'c>(
    side: &Side,
    table: usize,
    cases: &'c [Case],
    people: &[u32],
    absent: u64,
    progress: &dyn Progress,
) -> Result<bool, TableError> {
    if side.buckets() == side.sizes.len() {
        return Ok(true);
    }
    // True values as a second table, of which every class has one; or several, of which its people
    // leave rows over.
    let mut rows: BTreeMap<&[u32], u32> = BTreeMap::new();
    let fits = |case: &Case| !side.places[case.places[table] as usize].is_empty();
    let here = cases.iter().zip(people).filter(|(case, people)| fits(case) && **people > 0);
    let truth = |case: &'c Case| case.truth.as_deref().unwrap_or(&[0]);
    for (case, &people) in here.clone() {
        *rows.entry(truth(case)).or_default() += people;
    }
    let mut values = Side { starts: vec![0], ..Side::default() };
    for (number, (&own, &rows)) in (0..).zip(&rows) {
        values.sizes.push(rows * own.len() as u32);
        values.unlisted += u64::from(rows) * (own.len() as u64 - 1);
        values.bucket_of.push(number);
        values.counts.extend(own.iter().map(|&value| (value, rows)));
        values.starts.push(values.counts.len() as u32);
        values.places.push(vec![number]);
    }
    let count: u64 = here.clone().map(|(_, &people)| u64::from(people)).sum();
    let unlisted = (side.rows() + absent).saturating_sub(count) + side.counterfeits();
    let own = Side { absent, unlisted, shown: false, ..side.clone() };
    let said = (0..side.buckets() as u32).flat_map(|bucket| side.values_of(bucket));
    let largest = rows.keys().flat_map(|own| own.iter().copied()).chain(said).max().unwrap_or(0);
    let is_true = cases.iter().all(|case| case.truth.is_some());
    let presence = if absent > 0 { Presence::Either } else { Presence::Here };
    let mut numbers: HashMap<(u32, &[u32]), usize> = HashMap::new();
    let mut problem = WorldProblem { values: largest + 1, ..WorldProblem::default() };
    for (case, &people) in here {
        let (place, truth) = (case.places[table], truth(case));
        let at = *numbers.entry((place, truth)).or_insert_with(|| {
            let class = rows.keys().position(|&own| own == truth).unwrap_or(0) as u32;
            let (mut places, mut presences) = (vec![place], vec![presence]);
            if is_true {
                places.push(class);
                presences.push(Presence::Here);
            }
            problem.profiles.push(PeopleProfile { people: (0, 0), places, presence: presences });
            problem.profiles.len() - 1
        });
        let own = &mut problem.profiles[at].people;
        *own = (own.0 + people, own.1 + people);
    }
    problem.sides = if is_true { vec![own, values] } else { vec![own] };
    let layers = Layers { swaps: false, ..Layers::ALL };
    Ok(!solve(&problem, layers, Beside::default(), progress)?.contradiction)
}

/// Cases that agree in what matters for one table.
struct CaseNode {
    place: u32,
    /// The statements of the table about the values that can be true of them.
    said: Option<Vec<u32>>,
    node: u32,
    people: u64,
    cases: Vec<usize>,
}

/// By case, the people in a table when at least `wanted` of those of `people` who match are in it
/// with their true values; `None` when that is impossible. Where no truth is known any value will
/// do.
pub(super) fn most_here(
    side: &Side,
    table: usize,
    cases: &[Case],
    people: &[u32],
    wanted: impl Fn(u64) -> u64,
) -> Option<Vec<u32>> {
    const SOURCE: u32 = 0;
    const SINK: u32 = 1;
    let mut network = Network::new(2 + side.counts.len());
    let mut numbers: HashMap<(u32, Option<&[u32]>), usize> = HashMap::new();
    let mut nodes: Vec<CaseNode> = Vec::new();
    let mut matched = 0;
    for (number, (case, &people)) in cases.iter().zip(people).enumerate() {
        let place = case.places[table];
        if side.places[place as usize].is_empty() || people == 0 {
            continue;
        }
        matched += u64::from(people);
        let at = *numbers.entry((place, case.truth.as_deref())).or_insert_with(|| {
            let (said, node) = (case.said_of(side), network.add_node());
            nodes.push(CaseNode { place, said, node, people: 0, cases: Vec::new() });
            nodes.len() - 1
        });
        nodes[at].people += u64::from(people);
        nodes[at].cases.push(number);
    }
    let wanted = wanted(matched);
    network.add_edge(SINK, SOURCE, wanted, wanted.max(side.rows()));
    let mut into: Vec<usize> = Vec::new();
    for CaseNode { place, said, node, people, .. } in &nodes {
        into.push(network.add_edge(SOURCE, *node, 0, *people));
        let mut buckets: Vec<u32> =
            side.places[*place as usize].iter().map(|&class| side.bucket_of[class as usize]).collect();
        buckets.sort_unstable();
        buckets.dedup();
        for bucket in buckets {
            let counts = side.starts[bucket as usize] as usize..side.starts[bucket as usize + 1] as usize;
            let is_said = |at: &usize| said.as_ref().is_none_or(|said| said.contains(&side.counts[*at].0));
            for position in counts.filter(is_said) {
                network.add_edge(*node, 2 + position as u32, 0, *people);
            }
        }
    }
    for (position, &(_, rows)) in side.counts.iter().enumerate() {
        network.add_edge(2 + position as u32, SINK, 0, u64::from(rows));
    }
    if !network.circulate() {
        return None;
    }
    let mut here = vec![0; cases.len()];
    for (node, edge) in nodes.iter().zip(into) {
        let mut left = network.flow(edge);
        for &number in &node.cases {
            let own = left.min(u64::from(people[number]));
            here[number] = own as u32;
            left -= own;
        }
    }
    Some(here)
}
