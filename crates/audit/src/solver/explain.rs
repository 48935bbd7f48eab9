//! Why a value is certain: the fewest buckets from whose counts alone it follows.
//!
//! A bucket that is omitted counts nothing and holds anyone, so that fewer buckets allow more
//! worlds: what is certain with them is certain. Buckets are added around the person until the
//! value is certain, then every one without which it still is goes.

use hedgerow_table::{NoProgress, TableError};

use super::problem::{PeopleProfile, Presence, Side, WorldProblem};
use super::{Beside, Layers, solve};

/// An explanation of more buckets is not looked for.
const FACTS_MAX: usize = 48;

/// People of more profiles are not looked at together.
const PROFILES_MAX: usize = 200;

/// A bucket of a side whose counts are used.
pub(crate) type Fact = (u32, u32);

/// A person of `profile` has one of `values`, which are the same to a reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certainty<'a> {
    pub(crate) profile: usize,
    pub(crate) values: &'a [u32],
    /// Also if they were suppressed.
    pub(crate) anyhow: bool,
}

/// The buckets from which it follows; `None` when they are too many to be found.
pub(crate) fn explain(problem: &WorldProblem, of: Certainty<'_>) -> Result<Option<Vec<Fact>>, TableError> {
    let profile = of.profile;
    let near = Near::new(problem);
    let target = |side: usize| buckets(problem, &problem.profiles[profile], side);
    let mut facts: Vec<Fact> = Vec::new();
    for side in 0..problem.sides.len() {
        facts.extend(target(side).into_iter().map(|bucket| (side as u32, bucket)));
    }
    loop {
        if facts.len() > FACTS_MAX || near.of(&facts).len() > PROFILES_MAX {
            return Ok(None);
        }
        if is_certain(problem, &near, of, &facts)? {
            break;
        }
        let before = facts.len();
        for number in near.of(&facts) {
            for side in 0..problem.sides.len() {
                let more = buckets(problem, &problem.profiles[number], side);
                for fact in more.into_iter().map(|bucket| (side as u32, bucket)) {
                    if !facts.contains(&fact) {
                        facts.push(fact);
                    }
                }
            }
        }
        if facts.len() == before {
            return Ok(None);
        }
    }
    // The farthest were added last, and go first. The buckets of the person on one side go
    // together.
    for fact in facts.clone().into_iter().rev() {
        let own = target(fact.0 as usize);
        let fewer: Vec<Fact> = match own.contains(&fact.1) {
            true => facts.iter().copied().filter(|other| other.0 != fact.0 || !own.contains(&other.1)).collect(),
            false => facts.iter().copied().filter(|other| *other != fact).collect(),
        };
        if fewer.len() < facts.len() && is_certain(problem, &near, of, &fewer)? {
            facts = fewer;
        }
    }
    facts.reverse();
    Ok(Some(facts))
}

fn buckets(problem: &WorldProblem, profile: &PeopleProfile, side: usize) -> Vec<u32> {
    let classes = problem.classes(profile, side);
    let mut buckets: Vec<u32> = classes.iter().map(|&class| problem.sides[side].bucket_of[class as usize]).collect();
    buckets.sort_unstable();
    buckets.dedup();
    buckets
}

/// By side and bucket, the profiles that can be in it.
struct Near(Vec<Vec<Vec<u32>>>);

impl Near {
    fn new(problem: &WorldProblem) -> Near {
        let mut near: Vec<Vec<Vec<u32>>> = problem.sides.iter().map(|side| vec![Vec::new(); side.buckets()]).collect();
        for (number, profile) in problem.profiles.iter().enumerate() {
            for (side, near) in near.iter_mut().enumerate() {
                for bucket in buckets(problem, profile, side) {
                    near[bucket as usize].push(number as u32);
                }
            }
        }
        Near(near)
    }

    /// The profiles that can be in one of some buckets.
    fn of(&self, facts: &[Fact]) -> Vec<usize> {
        let found = facts.iter().flat_map(|&(side, bucket)| &self.0[side as usize][bucket as usize]);
        let mut found: Vec<usize> = found.map(|&profile| profile as usize).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn is_certain(problem: &WorldProblem, near: &Near, of: Certainty<'_>, facts: &[Fact]) -> Result<bool, TableError> {
    let mut near = near.of(facts);
    let Some(target) = near.iter().position(|&number| number == of.profile) else { return Ok(false) };
    near.swap(0, target);
    let part = restricted(problem, &near, facts);
    let solved = solve(&part, Layers::ALL, Beside::default(), &NoProgress)?;
    let own = solved.scenarios.iter().filter(|scenario| scenario.profile == 0 && scenario.shown.is_empty());
    // Where none of these tables can lack the person, it is asked once.
    let anyhow = of.anyhow && own.clone().any(|scenario| scenario.anyhow);
    let own = own.filter(|scenario| scenario.anyhow == anyhow);
    let left = own.flat_map(|scenario| scenario.left().map(|query| query.value));
    let mut left = left.flat_map(|value| part.alike(&part.profiles[0], value)).peekable();
    Ok(!solved.contradiction && left.peek().is_some() && left.all(|value| of.values.contains(&value)))
}

/// The problem with nothing but these buckets and the profiles that can be in them; the first of
/// these is the person looked for.
fn restricted(problem: &WorldProblem, profiles: &[usize], facts: &[Fact]) -> WorldProblem {
    let mut part = WorldProblem { values: problem.values, ..WorldProblem::default() };
    part.profiles = profiles
        .iter()
        .map(|&number| PeopleProfile {
            people: problem.profiles[number].people,
            places: Vec::new(),
            presence: Vec::new(),
        })
        .collect();
    for (number, side) in problem.sides.iter().enumerate() {
        let mut kept: Vec<u32> =
            facts.iter().filter(|(own, _)| *own as usize == number).map(|&(_, bucket)| bucket).collect();
        kept.sort_unstable();
        if kept.is_empty() {
            continue;
        }
        let mut new = Side {
            starts: vec![0],
            unlisted: side.unlisted,
            absent: u64::MAX >> 8,
            statements: side.statements.clone(),
            ..Side::default()
        };
        let mut class_of = vec![u32::MAX; side.sizes.len()];
        for (class, bucket) in side.bucket_of.iter().enumerate() {
            if let Ok(own) = kept.binary_search(bucket) {
                class_of[class] = new.sizes.len() as u32;
                new.sizes.push(side.sizes[class]);
                new.bucket_of.push(own as u32);
            }
        }
        for &bucket in &kept {
            new.counts.extend_from_slice(side.of_bucket(bucket));
            new.starts.push(new.counts.len() as u32);
        }
        for (own, &number_of) in profiles.iter().enumerate() {
            let profile = &problem.profiles[number_of];
            let classes = problem.classes(profile, number);
            let here: Vec<u32> =
                classes.iter().map(|&class| class_of[class as usize]).filter(|&c| c < u32::MAX).collect();
            let presence = match () {
                () if here.is_empty() => Presence::Away,
                // The person looked for has none or all of their buckets here.
                () if own == 0 => profile.presence[number],
                () if here.len() == classes.len() && profile.presence[number] == Presence::Here => Presence::Here,
                () => Presence::Either,
            };
            part.profiles[own].places.push(new.places.len() as u32);
            part.profiles[own].presence.push(presence);
            new.places.push(here);
        }
        part.sides.push(new);
    }
    part
}
