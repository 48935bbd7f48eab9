//! The layers against every world, on small random problems.

use std::collections::BTreeMap;

use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::oracle::{enumerate, enumerate_cells};
use super::*;
use crate::testing::seeds;

/// How many settings are tried: `HEDGEROW_WORLDS`, or this many.
fn settings(count: u64) -> std::ops::Range<u64> {
    let wanted = std::env::var("HEDGEROW_WORLDS").ok().and_then(|count| count.parse().ok());
    seeds(wanted.unwrap_or(count))
}

/// One person of a random true world.
struct Person {
    profile: usize,
    value: u32,
    /// By side, the class; [`ABSENT`] of those who are not there.
    classes: Vec<u32>,
}

/// A problem with a world that is known to fit, unless something was changed afterwards.
fn random(rng: &mut StdRng) -> (WorldProblem, Truth) {
    let sides = rng.random_range(1..4usize);
    let values = rng.random_range(1..4u32);
    let profiles = rng.random_range(1..4usize);
    let most = [6, 5, 4][sides - 1];
    let classes: Vec<u32> = (0..sides).map(|_| rng.random_range(1..4)).collect();
    let suppressed: Vec<bool> = (0..sides).map(|_| rng.random_bool(0.25)).collect();
    let away: Vec<Vec<bool>> = (0..profiles).map(|_| (0..sides).map(|_| rng.random_bool(0.08)).collect()).collect();
    // Where labels do not overlap, a profile has one class.
    let overlapping: Vec<bool> = (0..sides).map(|_| rng.random_bool(0.5)).collect();
    let home: Vec<Vec<u32>> =
        (0..profiles).map(|_| classes.iter().map(|&count| rng.random_range(0..count)).collect()).collect();
    let people: Vec<Person> = (0..rng.random_range(1..=most))
        .map(|_| {
            let profile = rng.random_range(0..profiles);
            let class = |side: usize| match () {
                () if away[profile][side] => ABSENT,
                () if suppressed[side] && rng_bool(profile, side) => ABSENT,
                () => home[profile][side],
            };
            let chosen = (0..sides).map(class).collect();
            Person { profile, value: 0, classes: chosen }
        })
        .collect();
    let mut people = people;
    for person in &mut people {
        person.value = rng.random_range(0..values);
        for side in 0..sides {
            if person.classes[side] == ABSENT && !away[person.profile][side] && rng.random_bool(0.6) {
                person.classes[side] = home[person.profile][side];
            }
            if person.classes[side] != ABSENT && overlapping[side] && rng.random_bool(0.5) {
                person.classes[side] = rng.random_range(0..classes[side]);
            }
        }
    }
    let mut problem = WorldProblem { values, ..WorldProblem::default() };
    for (side, &count) in classes.iter().enumerate() {
        problem.sides.push(side_of(rng, &people, profiles, side, count, values));
    }
    for (number, away) in away.iter().enumerate() {
        let count = people.iter().filter(|person| person.profile == number).count() as u32;
        let presence = (0..sides).map(|side| match () {
            () if away[side] => Presence::Away,
            () if suppressed[side] => Presence::Either,
            () => Presence::Here,
        });
        let presence = presence.collect();
        problem.profiles.push(PeopleProfile { people: (count, count), places: vec![number as u32; sides], presence });
    }
    let mut truth: Truth = vec![Vec::new(); profiles];
    for person in &people {
        // Who is in no table may have any value.
        match truth[person.profile].iter_mut().find(|(value, _)| *value == person.value) {
            Some((_, count)) => *count += 1,
            None => truth[person.profile].push((person.value, 1)),
        }
    }
    (problem, truth)
}

/// Which profiles have people who may have been suppressed, without drawing anything.
fn rng_bool(profile: usize, side: usize) -> bool {
    (profile + side).is_multiple_of(2)
}

fn side_of(rng: &mut StdRng, people: &[Person], profiles: usize, side: usize, classes: u32, values: u32) -> Side {
    let mut rows: Vec<(u32, u32)> = people
        .iter()
        .filter(|person| person.classes[side] != ABSENT)
        .map(|person| (person.classes[side], person.value))
        .collect();
    let more = if rng.random_bool(0.3) { rng.random_range(1..3) } else { 0 };
    rows.extend((0..more).map(|_| (rng.random_range(0..classes), rng.random_range(0..values))));
    let is_bucketized = rng.random_bool(0.35);
    let bucket_of: Vec<u32> = match is_bucketized {
        true => (0..classes).map(|_| rng.random_range(0..classes.div_ceil(2))).collect(),
        false => (0..classes).collect(),
    };
    let buckets = bucket_of.iter().max().map_or(0, |&most| most + 1);
    // A table may say the same of several values.
    let said = |value: u32| value / 2;
    let statements = match rng.random_bool(0.3) {
        true => Statements::new((0..values).map(said).collect(), values as usize),
        false => Statements::default(),
    };
    let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut sizes = vec![0; classes as usize];
    for (class, value) in &rows {
        sizes[*class as usize] += 1;
        *counts.entry((bucket_of[*class as usize], statements.of(*value))).or_default() += 1;
    }
    let starts = (0..=buckets).map(|bucket| counts.range(..(bucket, 0)).count() as u32).collect();
    let counts = counts.iter().map(|(&(_, value), &rows)| (value, rows)).collect();
    let places = (0..profiles).map(|profile| {
        let fits = |class: &u32| {
            let has = people.iter().any(|person| person.profile == profile && person.classes[side] == *class);
            has || rng.random_bool(0.2)
        };
        (0..classes).filter(fits).collect()
    });
    let places = places.collect();
    let absent = people.iter().filter(|person| person.classes[side] == ABSENT).count() as u64;
    let shown = rng.random_bool(0.15);
    let slack = if rng.random_bool(0.1) { 1 } else { 0 };
    let (unlisted, absent) = (more as u64 + slack, absent + slack);
    Side { sizes, bucket_of, starts, counts, statements, unlisted, absent, places, shown, alike: Vec::new() }
}

/// Compares with every world: exactly the possible values are left, each with its share of them.
fn judge(problem: &WorldProblem, found: &Solved, seed: u64) {
    let worlds = enumerate(problem);
    let listed = problem.profiles.iter().any(|profile| profile.people.0 > 0);
    if worlds.is_empty() {
        // People who cannot all be there at once leave no scenario; otherwise no world exists.
        let left: usize = found.scenarios.iter().map(|scenario| scenario.left().count()).sum();
        let open = found.scenarios.iter().any(|scenario| !scenario.is_decided());
        assert!(!listed || found.contradiction || left == 0 || open, "seed {seed}: nothing fits, and values are left");
        return;
    }
    assert!(!found.contradiction, "seed {seed}: a world fits");
    for scenario in &found.scenarios {
        if problem.profiles[scenario.profile as usize].people.0 == 0 {
            continue;
        }
        let key = (scenario.profile, scenario.anyhow, scenario.shown.clone());
        let expected = worlds.get(&key).cloned().unwrap_or_default();
        let possible: Vec<u32> = expected.keys().copied().collect();
        let left: Vec<u32> = scenario.left().map(|query| query.value).collect();
        let place = format!("seed {seed}, profile {}, shown {:?}", scenario.profile, scenario.shown);
        assert!(possible.iter().all(|value| left.contains(value)), "{place}: {possible:?} are possible, left {left:?}");
        for query in scenario.queries.iter().filter(|query| query.answer == WorldAnswer::Possible) {
            assert!(possible.contains(&query.value), "{place}: {} is said to be possible", query.value);
        }
        if scenario.left().all(|query| query.answer == WorldAnswer::Possible) {
            assert_eq!(left, possible, "{place}");
        }
        let all: u128 = expected.values().sum();
        for query in scenario.left() {
            if let Some(share) = query.share {
                let exact = expected.get(&query.value).map_or(0.0, |&worlds| worlds as f64 / all as f64);
                assert!((share - exact).abs() < 1e-9, "{place}, value {}: {share} is not {exact}", query.value);
            }
        }
    }
    // Every shown bucket that occurs is among the scenarios.
    for (profile, anyhow, shown) in worlds.keys() {
        let is_there = |scenario: &Scenario| {
            (scenario.profile, scenario.anyhow) == (*profile, *anyhow) && shown_fits(&scenario.shown, shown)
        };
        assert!(found.scenarios.iter().any(is_there), "seed {seed}: {profile} {shown:?}");
    }
}

/// A side with one possible bucket need not be shown.
fn shown_fits(named: &[(u32, u32)], occurring: &[(u32, u32)]) -> bool {
    named.iter().all(|pair| occurring.contains(pair))
}

/// Sides on which one bucket is possible are not among the shown ones: the oracle's are reduced.
fn solve_shown(problem: &WorldProblem, layers: Layers, truth: Option<&Truth>) -> Solved {
    let beside = Beside { truth, ln_prior: &[] };
    let mut solved = solve(problem, layers, beside, &NoProgress).unwrap();
    for scenario in &mut solved.scenarios {
        let profile = &problem.profiles[scenario.profile as usize];
        for (side, table) in problem.sides.iter().enumerate().filter(|(_, table)| table.shown) {
            let is_shown = scenario.shown.iter().any(|&(shown, _)| shown as usize == side);
            let is_sure = !scenario.anyhow || profile.presence[side] == Presence::Here;
            if !is_shown && is_sure && profile.presence[side] != Presence::Away {
                // The one bucket that is left.
                let only = solved_bucket(problem, scenario.profile, side, table);
                scenario.shown.extend(only.map(|bucket| (side as u32, bucket)));
            }
        }
        scenario.shown.sort_unstable();
    }
    solved
}

fn solved_bucket(problem: &WorldProblem, profile: u32, side: usize, table: &Side) -> Option<u32> {
    let mut solved = Solved::default();
    let all = options(problem, Layers::ALL, &mut solved, &mut Done::new(&NoProgress)).unwrap()?;
    let class = all[side][profile as usize].iter().map(|place| place.class).find(|&class| class != ABSENT)?;
    Some(table.bucket_of[class as usize])
}

#[test]
fn every_world_of_random_settings_agrees() {
    let (mut decided, mut all) = (0, 0);
    for seed in settings(3000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut problem, truth) = random(&mut rng);
        let changed = rng.random_bool(0.1);
        if changed {
            // One row more than the people are, in the table as a whole: its counts still add up.
            let number = rng.random_range(0..problem.sides.len());
            let side = &mut problem.sides[number];
            let bucket = side.starts.iter().position(|&start| start > 0).map(|after| after as u32 - 1);
            if let Some(class) = bucket.and_then(|own| side.bucket_of.iter().position(|&bucket| bucket == own)) {
                side.counts[0].1 += 1;
                side.sizes[class] += 1;
            }
        }
        let found = solve_shown(&problem, Layers::ALL, (!changed).then_some(&truth));
        judge(&problem, &found, seed);
        all += found.scenarios.len();
        decided += found.scenarios.iter().filter(|scenario| scenario.is_decided()).count();
    }
    assert!(all == 0 || decided * 100 >= all * 95, "{decided} of {all} are decided");
}

#[test]
fn every_solution_of_random_cells_agrees() {
    for seed in settings(1500) {
        let mut rng = StdRng::seed_from_u64(seed);
        let sides = rng.random_range(1..4usize);
        let values = rng.random_range(1..4u32);
        let classes: Vec<u32> = (0..sides).map(|_| rng.random_range(1..3)).collect();
        let people: Vec<Person> = (0..rng.random_range(1..6))
            .map(|_| Person {
                profile: 0,
                value: rng.random_range(0..values),
                classes: classes.iter().map(|&count| rng.random_range(0..count)).collect(),
            })
            .collect();
        let mut problem = WorldProblem { values, ..WorldProblem::default() };
        for (side, &count) in classes.iter().enumerate() {
            let mut table = side_of(&mut rng, &people, 1, side, count, values);
            table.places = (0..count).map(|class| vec![class]).collect();
            (table.shown, table.absent) = (false, 0);
            problem.sides.push(table);
        }
        let mut tuples: Vec<Vec<u32>> = vec![Vec::new()];
        for &count in &classes {
            tuples =
                tuples.iter().flat_map(|tuple| (0..count).map(move |c| [tuple.as_slice(), &[c]].concat())).collect();
        }
        tuples.retain(|tuple| people.iter().any(|person| person.classes == *tuple) || rng.random_bool(0.4));
        for tuple in tuples {
            let rows = tuple.iter().enumerate().map(|(side, &class)| problem.sides[side].sizes[class as usize]);
            let most = rows.min().unwrap();
            problem.profiles.push(PeopleProfile {
                people: (0, most),
                places: tuple,
                presence: vec![Presence::Here; sides],
            });
        }
        let expected = enumerate_cells(&problem);
        let found = solve(&problem, Layers::ALL, Beside::default(), &NoProgress).unwrap();
        assert!(!found.contradiction, "seed {seed}");
        for scenario in &found.scenarios {
            let left: Vec<u32> = scenario.left().map(|query| query.value).collect();
            let possible = expected.get(&scenario.profile).cloned().unwrap_or_default();
            assert!(possible.iter().all(|value| left.contains(value)), "seed {seed}: {possible:?} {left:?}");
            if scenario.is_decided() && scenario.left().all(|query| query.answer == WorldAnswer::Possible) {
                assert_eq!(left, possible, "seed {seed}, profile {}", scenario.profile);
            }
        }
    }
}

/// One generalized table for each list of counts, value by value; every profile is of one person.
fn tables(sides: &[&[&[u32]]], places: &[&[&[u32]]]) -> WorldProblem {
    let values = sides.iter().flat_map(|side| side.iter()).map(|counts| counts.len()).max().unwrap() as u32;
    let mut problem = WorldProblem { values, ..WorldProblem::default() };
    for (number, side) in sides.iter().enumerate() {
        let mut table = Side { starts: vec![0], ..Side::default() };
        for (class, counts) in side.iter().enumerate() {
            table.sizes.push(counts.iter().sum());
            table.bucket_of.push(class as u32);
            table.counts.extend((0..).zip(counts.iter().copied()).filter(|&(_, rows)| rows > 0));
            table.starts.push(table.counts.len() as u32);
        }
        table.places = places.iter().map(|places| places[number].to_vec()).collect();
        problem.sides.push(table);
    }
    for number in 0..places.len() as u32 {
        let presence = vec![Presence::Here; sides.len()];
        problem.profiles.push(PeopleProfile { people: (1, 1), places: vec![number; sides.len()], presence });
    }
    problem
}

fn left(problem: &WorldProblem, layers: Layers) -> Vec<usize> {
    let found = solve(problem, layers, Beside::default(), &NoProgress).unwrap();
    found.scenarios.iter().map(|scenario| scenario.left().count()).collect()
}

const NOTHING: Layers =
    Layers { membership: false, bounds: false, values: false, pairs: false, exact: false, swaps: false };

#[test]
fn membership_alone_finds_who_fills_a_class() {
    let problem = tables(&[&[&[2, 0, 0], &[0, 1, 1]]], &[&[&[0, 1]], &[&[0, 1]], &[&[1]], &[&[1]]]);
    assert_eq!(left(&problem, NOTHING), [3, 3, 2, 2]);
    assert_eq!(left(&problem, Layers { membership: true, ..NOTHING }), [1, 1, 2, 2]);
}

/// Two people of a class must have what a smaller class of the other table counts.
#[test]
fn bounds_alone_find_what_others_leave() {
    let problem = tables(
        &[&[&[1, 1], &[1, 1], &[1, 1]], &[&[1, 2], &[2, 1]]],
        &[&[&[0], &[0]], &[&[0], &[0]], &[&[1], &[1]], &[&[1], &[0]], &[&[2], &[1]], &[&[2], &[1]]],
    );
    // People who look alike are one profile.
    let mut alike = problem.clone();
    alike.profiles.remove(5);
    alike.profiles.remove(1);
    (alike.profiles[0].people, alike.profiles[3].people) = ((2, 2), (2, 2));
    assert_eq!(left(&alike, NOTHING), [2, 2, 2, 2]);
    assert_eq!(left(&alike, Layers { bounds: true, ..NOTHING }), [2, 1, 1, 2]);
}

/// Two of three people have one of two values, each of which occurs once: the third has the third.
#[test]
fn flows_of_values_alone_find_what_a_set_of_people_needs() {
    let problem =
        tables(&[&[&[1, 1, 1]], &[&[1, 1, 0], &[0, 0, 1]]], &[&[&[0], &[0]], &[&[0], &[0]], &[&[0], &[0, 1]]]);
    assert_eq!(left(&problem, NOTHING), [2, 2, 3]);
    assert_eq!(left(&problem, Layers { values: true, ..NOTHING }), [2, 2, 1]);
}

/// No people are listed: only the rows of one value, from one table to the other, rule a pair out.
#[test]
fn flows_of_rows_alone_find_cells_that_cannot_meet() {
    let mut problem =
        tables(&[&[&[1, 1, 0], &[1, 0, 1]], &[&[1, 1, 0], &[1, 0, 1]]], &[&[&[0], &[0]], &[&[1], &[0]], &[&[1], &[1]]]);
    problem.profiles.iter_mut().for_each(|profile| profile.people = (0, 2));
    assert_eq!(left(&problem, NOTHING), [2, 1, 2]);
    assert_eq!(left(&problem, Layers { pairs: true, ..NOTHING }), [2, 0, 2]);
}

/// One of three people and a fourth has the second value, in each of three classes: the three
/// cannot share it, so the fourth has it. Every two tables allow more.
#[test]
fn only_solutions_one_by_one_rule_out_what_bounds_and_flows_allow() {
    let side: &[&[u32]] = &[&[2, 1], &[2, 1]];
    let problem = tables(
        &[side, side, side],
        &[
            &[&[0], &[1], &[0]],
            &[&[0], &[0], &[1]],
            &[&[1], &[0], &[0]],
            &[&[0], &[0], &[0]],
            &[&[1], &[1], &[1]],
            &[&[1], &[1], &[1]],
        ],
    );
    assert_eq!(left(&problem, Layers { exact: false, ..Layers::ALL }), [2; 6]);
    assert_eq!(left(&problem, Layers::ALL), [1, 1, 1, 1, 2, 2]);
}

/// Six people in each two classes of two tables, with three values that each class has equally
/// often: too many tables fit to be counted, and each value is shown to be possible by one of them.
#[test]
fn values_that_cannot_be_counted_through_are_tried_one_by_one() {
    let side: &[&[u32]] = &[&[8, 8, 8], &[8, 8, 8], &[8, 8, 8], &[8, 8, 8]];
    let places: Vec<[Vec<u32>; 2]> = (0..16).map(|number| [vec![number / 4], vec![number % 4]]).collect();
    let places: Vec<Vec<&[u32]>> = places.iter().map(|own| own.iter().map(Vec::as_slice).collect()).collect();
    let mut problem = tables(&[side, side], &places.iter().map(Vec::as_slice).collect::<Vec<_>>());
    problem.profiles.iter_mut().for_each(|profile| profile.people = (6, 6));
    let found = solve(&problem, Layers::ALL, Beside::default(), &NoProgress).unwrap();
    let queries = || found.scenarios.iter().flat_map(|scenario| &scenario.queries);
    assert_eq!(queries().count(), 48);
    assert!(queries().all(|query| query.answer == WorldAnswer::Possible && query.share.is_none()), "{found:?}");
    assert!(found.limits.is_empty(), "{found:?}");
}

/// A class of two tables in which exchanges show both values possible, where nothing is counted
/// through.
#[test]
fn exchanges_in_the_true_world_show_what_is_possible() {
    let problem = tables(
        &[&[&[1, 1], &[1, 1]], &[&[1, 1], &[1, 1]]],
        &[&[&[0], &[0]], &[&[0], &[1]], &[&[1], &[0]], &[&[1], &[1]]],
    );
    let truth: Truth = vec![vec![(0, 1)], vec![(1, 1)], vec![(1, 1)], vec![(0, 1)]];
    let decided = |swaps: bool| {
        let layers = Layers { swaps, exact: false, ..Layers::ALL };
        let beside = Beside { truth: Some(&truth), ln_prior: &[] };
        let found = solve(&problem, layers, beside, &NoProgress).unwrap();
        found.scenarios.iter().all(Scenario::is_decided)
    };
    assert!(decided(true) && !decided(false));
}

/// Three tables: no two people agree in all of them, and an exchange of four leaves every count as
/// it is.
#[test]
fn exchanges_over_three_tables_show_what_is_possible() {
    let side: &[&[u32]] = &[&[1, 1], &[1, 1]];
    let problem = tables(
        &[side, side, side],
        &[&[&[0], &[0], &[0]], &[&[0], &[1], &[0]], &[&[1], &[0], &[1]], &[&[1], &[1], &[1]]],
    );
    let truth: Truth = vec![vec![(0, 1)], vec![(1, 1)], vec![(1, 1)], vec![(0, 1)]];
    let layers = Layers { exact: false, ..Layers::ALL };
    let beside = Beside { truth: Some(&truth), ln_prior: &[] };
    let found = solve(&problem, layers, beside, &NoProgress).unwrap();
    assert!(found.scenarios.iter().all(Scenario::is_decided), "{found:?}");
    assert_eq!(left(&problem, Layers::ALL), [2; 4]);
}

/// Some world has every value that exchanges show to be possible; values that only they decide are
/// left.
#[test]
fn exchanges_show_nothing_that_no_world_has() {
    let mut shown = 0;
    for seed in settings(1500) {
        let (problem, truth) = random(&mut StdRng::seed_from_u64(seed));
        let layers = Layers { swaps: true, ..NOTHING };
        let found = solve_shown(&problem, layers, Some(&truth));
        let worlds = enumerate(&problem);
        let requested = found.scenarios.iter().filter(|scenario| scenario.shown.is_empty());
        for scenario in requested.filter(|scenario| problem.profiles[scenario.profile as usize].people.0 > 0) {
            let possible = worlds.get(&(scenario.profile, scenario.anyhow, Vec::new()));
            for query in scenario.queries.iter().filter(|query| query.answer == WorldAnswer::Possible) {
                shown += 1;
                let is_possible = possible.is_some_and(|values| values.contains_key(&query.value));
                assert!(is_possible, "seed {seed}, profile {}: {}", scenario.profile, query.value);
            }
        }
    }
    assert!(shown > 0);
}

/// Progress is a share that ends at 1; who cancels is heard.
#[test]
fn the_share_that_is_done_ends_at_one_and_work_can_be_canceled() {
    use std::sync::atomic::{AtomicU64, Ordering};
    #[derive(Default)]
    struct Listener {
        total: AtomicU64,
        done: AtomicU64,
        checks_left: Option<AtomicU64>,
    }
    impl Progress for Listener {
        fn stage(&self, _name: &str, total: Option<u64>) {
            self.total.store(total.unwrap(), Ordering::Relaxed);
        }
        fn advance(&self, amount: u64) {
            self.done.fetch_add(amount, Ordering::Relaxed);
        }
        fn is_canceled(&self) -> bool {
            let Some(left) = &self.checks_left else { return false };
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        }
    }
    for seed in seeds(50) {
        let (problem, _) = random(&mut StdRng::seed_from_u64(seed));
        let listener = Listener::default();
        solve(&problem, Layers::ALL, Beside::default(), &listener).unwrap();
        let [total, done] = [&listener.total, &listener.done].map(|number| number.load(Ordering::Relaxed));
        assert_eq!(done, total, "seed {seed}");
        for checks in 0..3 {
            let listener = Listener { checks_left: Some(AtomicU64::new(checks)), ..Listener::default() };
            let canceled = solve(&problem, Layers::ALL, Beside::default(), &listener);
            assert!(matches!(canceled, Err(TableError::Canceled)), "seed {seed}: after {checks} checks");
        }
    }
}

/// With a prior, worlds with likely values count more.
#[test]
fn a_prior_weighs_worlds() {
    let mut problem = tables(&[&[&[1, 1]]], &[&[&[0]]]);
    problem.sides[0].unlisted = 1;
    let ln_prior = [3f64.ln(), 0.0];
    let beside = Beside { truth: None, ln_prior: &ln_prior };
    let found = solve(&problem, Layers::ALL, beside, &NoProgress).unwrap();
    let shares: Vec<f64> = found.scenarios[0].queries.iter().map(|query| query.share.unwrap()).collect();
    assert!((shares[0] - 0.75).abs() < 1e-12 && (shares[1] - 0.25).abs() < 1e-12, "{shares:?}");
}
