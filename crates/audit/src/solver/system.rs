//! The worlds of a [`WorldProblem`] as integers within bounds and sums of them.
//!
//! Variables are how many people of a profile have a value (`w`), how many of these are in a bucket
//! of a side where several are possible (`z`; where one is, it is `w` itself), and how many are in
//! a class of a bucket that has several (`y`). The number of worlds behind one solution is `Π m! /
//! Πw! · Π w! / Πz! · Π Y! / Πy!`, with m people of a profile and Y of them in a bucket.

use super::membership::{Options, ProfilePlace};
use super::problem::{ABSENT, Presence, WorldProblem};

/// A problem with more variables is not built.
pub(crate) const VARIABLES_MAX: usize = 12_000_000;

/// A sum of variables, some of them subtracted, lies within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// A variable in a sum: its number, and whether it is subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SumMember(u32);

impl SumMember {
    pub(crate) fn plus(variable: u32) -> SumMember {
        SumMember(variable << 1)
    }

    pub(crate) fn minus(variable: u32) -> SumMember {
        SumMember(variable << 1 | 1)
    }

    pub(crate) fn variable(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_subtracted(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Where people of a profile with several possible buckets are, on one side.
#[derive(Debug, Clone)]
pub(crate) struct ProfileSpread {
    pub(crate) side: u32,
    /// Each bucket, or [`ABSENT`], with the variables of the values that it has.
    pub(crate) buckets: Vec<(u32, Vec<(u32, u32)>)>,
}

/// The variables of one profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProfileVariables {
    /// Each possible value with its `w`.
    pub(crate) values: Vec<(u32, u32)>,
    /// By side, the one bucket that is possible; `None` where there are several.
    pub(crate) only: Vec<Option<u32>>,
    pub(crate) spread: Vec<ProfileSpread>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    pub(crate) low: Vec<u32>,
    pub(crate) high: Vec<u32>,
    /// How often ln(x!) of each variable counts in the logarithm of the number of worlds.
    pub(crate) weight: Vec<i8>,
    /// Sums whose factorial counts once more.
    pub(crate) factorials: Vec<Vec<u32>>,
    pub(crate) sums: Vec<Sum>,
    /// Where the members of each sum begin, and the end.
    pub(crate) starts: Vec<u32>,
    pub(crate) members: Vec<SumMember>,
    pub(crate) profiles: Vec<ProfileVariables>,
    /// By side, which sum is that of each count of a bucket.
    pub(crate) first_count: Vec<u32>,
}

/// The sums while they are built: members come in any order.
#[derive(Default)]
struct SystemBuilder {
    system: System,
    entries: Vec<(u32, SumMember)>,
}

impl SystemBuilder {
    fn variable(&mut self, low: u32, high: u32, weight: i8) -> u32 {
        self.system.low.push(low);
        self.system.high.push(high);
        self.system.weight.push(weight);
        self.system.low.len() as u32 - 1
    }

    fn sum(&mut self, low: i64, high: i64) -> u32 {
        self.system.sums.push(Sum { low, high });
        self.system.sums.len() as u32 - 1
    }

    fn add(&mut self, sum: u32, variable: u32) {
        self.entries.push((sum, SumMember::plus(variable)));
    }

    fn subtract(&mut self, sum: u32, variable: u32) {
        self.entries.push((sum, SumMember::minus(variable)));
    }

    fn finish(mut self) -> System {
        let sums = self.system.sums.len();
        let mut starts = vec![0u32; sums + 1];
        self.entries.iter().for_each(|&(sum, _)| starts[sum as usize + 1] += 1);
        for sum in 0..sums {
            starts[sum + 1] += starts[sum];
        }
        let mut next = starts.clone();
        let mut members = vec![SumMember(0); self.entries.len()];
        for (sum, member) in self.entries {
            members[next[sum as usize] as usize] = member;
            next[sum as usize] += 1;
        }
        (self.system.starts, self.system.members) = (starts, members);
        self.system
    }
}

/// Sums that belong to one side.
struct SideSums {
    /// The sum of the first count.
    counts: u32,
    /// People who are absent.
    absent: u32,
    /// All people who are here, where their number is not known.
    all: Option<u32>,
    /// By class, where the members of a bucket are not fixed.
    classes: Option<u32>,
}

/// The system of a problem in which `options` are left on each side; `None` when it would be too
/// large.
pub(crate) fn build(problem: &WorldProblem, options: &[Options]) -> Option<System> {
    let mut builder = SystemBuilder::default();
    let counted = problem.profiles.iter().all(|profile| profile.people.0 == profile.people.1);
    let mut sides: Vec<SideSums> = Vec::new();
    for (number, (side, options)) in problem.sides.iter().zip(options).enumerate() {
        let counts = builder.system.sums.len() as u32;
        let unlisted = side.unlisted.min(i64::MAX as u64) as i64;
        for &(_, rows) in &side.counts {
            builder.sum((i64::from(rows) - unlisted).max(0), i64::from(rows));
        }
        let absent = builder.sum(0, most_absent(problem, number, counted));
        let all = (!counted).then(|| builder.sum((side.rows() as i64 - unlisted).max(0), side.rows() as i64));
        let open = |place: &ProfilePlace| place.low != place.high;
        let is_open = side.buckets() < side.sizes.len() && options.iter().flatten().any(open);
        let classes = is_open.then(|| {
            let first = builder.system.sums.len() as u32;
            for &size in &side.sizes {
                builder.sum((i64::from(size) - unlisted).max(0), i64::from(size));
            }
            first
        });
        sides.push(SideSums { counts, absent, all, classes });
    }
    builder.system.first_count = sides.iter().map(|side| side.counts).collect();
    for number in 0..problem.profiles.len() {
        let variables = add_profile(&mut builder, problem, options, &sides, number);
        builder.system.profiles.push(variables);
        if builder.system.low.len() > VARIABLES_MAX {
            return None;
        }
    }
    for known in &problem.known {
        let most = known.people.1.min(i64::MAX as u64) as i64;
        let sum = builder.sum(known.people.0.min(i64::MAX as u64) as i64, most);
        for &number in &known.profiles {
            for at in 0..builder.system.profiles[number as usize].values.len() {
                let (_, w) = builder.system.profiles[number as usize].values[at];
                builder.add(sum, w);
            }
        }
    }
    Some(builder.finish())
}

/// At most this many of the people who may be absent from a side are: no more than it says, and no
/// more than leave its rows to those who are there and to the unlisted.
fn most_absent(problem: &WorldProblem, number: usize, counted: bool) -> i64 {
    let side = &problem.sides[number];
    let stated = side.absent.min(i64::MAX as u64) as i64;
    if !counted {
        return stated;
    }
    let may_be_here = problem.profiles.iter().filter(|profile| profile.presence[number] != Presence::Away);
    let people: i64 = may_be_here.map(|profile| i64::from(profile.people.0)).sum();
    stated.min((side.unlisted.min(1 << 48) as i64 + people - side.rows() as i64).max(-1))
}

/// The possible buckets of a profile on a side, each with its classes; absence last.
fn buckets_of(problem: &WorldProblem, side: usize, options: &[ProfilePlace]) -> Vec<(u32, Vec<ProfilePlace>)> {
    let bucket = |place: &ProfilePlace| match place.class {
        ABSENT => ABSENT,
        class => problem.sides[side].bucket_of[class as usize],
    };
    let mut buckets: Vec<(u32, Vec<ProfilePlace>)> = Vec::new();
    for place in options {
        let own = bucket(place);
        match buckets.iter_mut().find(|(bucket, _)| *bucket == own) {
            Some((_, places)) => places.push(*place),
            None => buckets.push((own, vec![*place])),
        }
    }
    buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
    buckets
}

/// The values that some bucket of every side has.
fn domain(problem: &WorldProblem, buckets: &[Vec<(u32, Vec<ProfilePlace>)>]) -> Vec<u32> {
    let mut domain: Option<Vec<u32>> = None;
    for (side, buckets) in problem.sides.iter().zip(buckets) {
        if buckets.iter().any(|(bucket, _)| *bucket == ABSENT) {
            continue;
        }
        let mut values: Vec<u32> = buckets.iter().flat_map(|(bucket, _)| side.values_of(*bucket)).collect();
        if buckets.len() > 1 {
            values.sort_unstable();
            values.dedup();
        }
        match &mut domain {
            None => domain = Some(values),
            Some(domain) => domain.retain(|value| values.binary_search(value).is_ok()),
        }
    }
    domain.unwrap_or_else(|| (0..=problem.values).collect())
}

fn add_profile(
    builder: &mut SystemBuilder,
    problem: &WorldProblem,
    options: &[Options],
    sides: &[SideSums],
    number: usize,
) -> ProfileVariables {
    let profile = &problem.profiles[number];
    let (least, most) = profile.people;
    let buckets: Vec<Vec<(u32, Vec<ProfilePlace>)>> =
        (0..sides.len()).map(|side| buckets_of(problem, side, &options[side][number])).collect();
    let several = buckets.iter().filter(|buckets| buckets.len() > 1).count() as i8;
    let total = builder.sum(i64::from(least), i64::from(most));
    let mut variables = ProfileVariables::default();
    for value in problem.first_of_alike(profile, domain(problem, &buckets)) {
        let w = builder.variable(0, most, several - 1);
        builder.add(total, w);
        variables.values.push((value, w));
    }
    for (index, (side, buckets)) in sides.iter().zip(&buckets).enumerate() {
        let table = &problem.sides[index];
        if let [(bucket, places)] = buckets.as_slice() {
            variables.only.push(Some(*bucket));
            for &(value, w) in &variables.values {
                match (*bucket, profile.presence[index]) {
                    (ABSENT, Presence::Away) => {}
                    (ABSENT, _) => builder.add(side.absent, w),
                    _ => {
                        let position = table.position(*bucket, value).expect("in the domain");
                        builder.add(side.counts + position as u32, w);
                    }
                }
                if let Some(all) = side.all.filter(|_| *bucket != ABSENT) {
                    builder.add(all, w);
                }
            }
            add_classes(builder, side, places, &variables.values);
            continue;
        }
        variables.only.push(None);
        variables.spread.push(add_spread(builder, problem, (index, side), buckets, &variables.values));
    }
    variables
}

fn add_spread(
    builder: &mut SystemBuilder,
    problem: &WorldProblem,
    (index, side): (usize, &SideSums),
    buckets: &[(u32, Vec<ProfilePlace>)],
    values: &[(u32, u32)],
) -> ProfileSpread {
    let table = &problem.sides[index];
    // By value: what is in the buckets is what there is.
    let equal: Vec<u32> = values
        .iter()
        .map(|&(_, w)| {
            let sum = builder.sum(0, 0);
            builder.subtract(sum, w);
            sum
        })
        .collect();
    let mut spread = ProfileSpread { side: index as u32, buckets: Vec::new() };
    for (bucket, places) in buckets {
        let most: u64 = places.iter().map(|place| u64::from(place.high)).sum();
        let least: u64 = places.iter().map(|place| u64::from(place.low)).sum();
        let here = builder.sum(least as i64, most as i64);
        let mut own = Vec::new();
        for (&(value, _), &equal) in values.iter().zip(&equal) {
            let count = match *bucket {
                ABSENT => side.absent,
                bucket => match table.position(bucket, value) {
                    Some(position) => side.counts + position as u32,
                    None => continue,
                },
            };
            let z = builder.variable(0, most.min(u64::from(u32::MAX)) as u32, -1);
            own.push((value, z));
            [equal, here, count].into_iter().for_each(|sum| builder.add(sum, z));
            if let Some(all) = side.all.filter(|_| *bucket != ABSENT) {
                builder.add(all, z);
            }
        }
        add_classes(builder, side, places, &own);
        spread.buckets.push((*bucket, own));
    }
    spread
}

/// Where a bucket has several classes, how many of `people` are in each.
fn add_classes(builder: &mut SystemBuilder, side: &SideSums, places: &[ProfilePlace], people: &[(u32, u32)]) {
    let Some(classes) = side.classes.filter(|_| places.iter().all(|place| place.class != ABSENT)) else { return };
    if let [only] = places {
        people.iter().for_each(|&(_, variable)| builder.add(classes + only.class, variable));
        return;
    }
    let equal = builder.sum(0, 0);
    people.iter().for_each(|&(_, variable)| builder.subtract(equal, variable));
    for place in places {
        let y = builder.variable(place.low, place.high, -1);
        builder.add(equal, y);
        builder.add(classes + place.class, y);
    }
    builder.system.factorials.push(people.iter().map(|&(_, variable)| variable).collect());
}

impl System {
    pub(crate) fn members_of(&self, sum: usize) -> &[SumMember] {
        &self.members[self.starts[sum] as usize..self.starts[sum + 1] as usize]
    }

    /// For each variable, the sums that it is in: where they begin, and the sums.
    pub(crate) fn sums_of_variables(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0u32; self.low.len() + 1];
        self.members.iter().for_each(|member| starts[member.variable() + 1] += 1);
        for variable in 0..self.low.len() {
            starts[variable + 1] += starts[variable];
        }
        let mut next = starts.clone();
        let mut sums = vec![0u32; self.members.len()];
        for sum in 0..self.sums.len() {
            for member in self.members_of(sum) {
                sums[next[member.variable()] as usize] = sum as u32;
                next[member.variable()] += 1;
            }
        }
        (starts, sums)
    }

    /// The profile of each variable that counts people of a value; `u32::MAX` of others.
    pub(crate) fn profiles_of_variables(&self) -> Vec<u32> {
        let mut of = vec![u32::MAX; self.low.len()];
        for (number, variables) in self.profiles.iter().enumerate() {
            let spread = variables.spread.iter().flat_map(|spread| &spread.buckets).flat_map(|(_, values)| values);
            for &(_, variable) in variables.values.iter().chain(spread) {
                of[variable as usize] = number as u32;
            }
        }
        of
    }
}
