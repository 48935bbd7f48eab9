//! Whatever the network and the machines do: a run is published by all or by none, no rows take
//! part in two plans, and when the trouble is over the next run succeeds.

use std::sync::atomic::Ordering;

use hedgerow_node::message::{FrameContent, Note};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::world::{SITES, Trouble, World};

/// Until nothing is open, with operators who approve.
pub(crate) fn calm_down(world: &mut World, what: &str) {
    for step in 0..12_000 {
        world.step();
        if step % 20 == 0 {
            world.approve_all();
            if world.is_quiet() {
                return;
            }
        }
    }
    panic!("{what}: a run is open after two minutes without trouble");
}

/// Runs are proposed until one is published; without trouble that takes one.
pub(crate) fn publish_one(world: &mut World) {
    let before = world.epochs()[0];
    for attempt in 0..3 {
        world.propose(attempt % SITES, &[]);
        calm_down(world, "the next run");
        world.check();
        if world.epochs().iter().all(|epochs| *epochs == before + 1) {
            return;
        }
    }
    panic!("three runs without trouble, and none was published");
}

/// One seed, or this number of them from the first one on: programs that run at once divide them.
pub(crate) fn seeds(number: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED") {
        Ok(seed) => vec![seed.parse().expect("HEDGEROW_SEED is a number")],
        Err(_) => {
            let first = count("HEDGEROW_FIRST_SEED", 0);
            (first..first + number).collect()
        }
    }
}

/// More than the usual count on request.
pub(crate) fn count(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |count| count.parse().expect("the count of runs is a number"))
}

/// Prints the seed when a case fails, and now and then how far a long run has come.
pub(crate) struct Case(u64);

impl Case {
    pub(crate) fn of(seed: u64) -> Case {
        if seed > 0 && seed.is_multiple_of(100) {
            eprintln!("seed {seed}");
        }
        Case(seed)
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with HEDGEROW_SEED={}", self.0);
        }
    }
}

#[test]
fn without_trouble_the_first_run_is_published_by_all_and_the_same_may_be_run_again() {
    let mut world = World::new(1);
    world.step();
    publish_one(&mut world);
    assert_eq!(world.epochs(), [1; SITES]);
    publish_one(&mut world);
    assert_eq!((world.epochs(), world.crashes), (vec![2; SITES], 0));
}

/// All have the signatures of all: that is the certificate.
#[test]
fn a_certificate_is_sent_to_a_site_that_lacks_signatures_and_asks_and_to_no_other() {
    let mut world = World::new(4);
    world.step();
    publish_one(&mut world);
    assert_eq!((world.epochs(), world.certificates), (vec![1; SITES], 0));
    world.loses = Some(|to, content| to == 3 && matches!(content, FrameContent::Note(Note::Prepared { .. })));
    publish_one(&mut world);
    assert_eq!((world.epochs(), world.certificates), (vec![2; SITES], SITES - 1), "one of each of the others");
}

#[test]
fn a_crash_at_any_write_leaves_no_half_published_run_and_the_next_one_succeeds() {
    // How many writes a site does in a run without trouble.
    let mut world = World::new(2);
    world.step();
    publish_one(&mut world);
    let writes: Vec<u32> = world.sites.iter().map(|site| site.memory.0.lock().unwrap().writes).collect();
    for site in [0, 2] {
        assert!(writes[site] > 10, "{writes:?}");
        for at in 0..writes[site] {
            for done in [false, true] {
                let _case = Case::of(2);
                let mut world = World::new(2);
                world.sites[site].memory.0.lock().unwrap().breaks_after = Some((at, done));
                world.step();
                world.propose(0, &[]);
                calm_down(&mut world, &format!("site {site} broke at write {at}"));
                world.check();
                publish_one(&mut world);
                world.check_blame();
                world.check_folders();
                assert!(world.crashes > 0, "site {site} did not break at write {at}");
            }
        }
    }
}

#[test]
fn losses_delays_repetitions_partitions_and_crashes() {
    let (mut crashes, mut held, mut published) = (0, 0, 0);
    let seeds = seeds(count("HEDGEROW_SIMULATIONS", 60));
    for seed in &seeds {
        let _case = Case::of(*seed);
        let mut world = World::new(*seed);
        let mut rng = StdRng::seed_from_u64(!*seed);
        let mut draw = |below: u32| rng.random_range(0..=below);
        world.trouble = Trouble { lost: draw(60), twice: draw(100), late: draw(30), crash: draw(6) };
        for step in 0..4000 {
            world.step();
            if step % 20 == 0 {
                world.approve_all();
            }
            if step % 300 == 0 {
                let tempted = world.all_burned() && rng.random_range(0..2) == 0;
                let place = rng.random_range(0..SITES);
                // Changed rows, or one custodian less, after something was opened.
                world.sites[place].changed.store(tempted, Ordering::SeqCst);
                let without = [(place + 1) % SITES];
                world.propose(place, if tempted && rng.random_range(0..2) == 0 { &without } else { &[] });
            }
        }
        world.end_trouble();
        world.sites.iter().for_each(|site| site.changed.store(false, Ordering::SeqCst));
        calm_down(&mut world, "after the trouble");
        world.check();
        published += world.epochs()[0];
        publish_one(&mut world);
        world.check_blame();
        world.check_folders();
        (crashes, held) = (crashes + world.crashes, held + world.held);
    }
    if seeds.len() > 1 {
        assert!(crashes > 50 && held > 20 && published > 10, "{crashes} crashes, {held} held, {published} published");
    }
}
