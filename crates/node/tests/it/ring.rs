//! Nodes that answer in the ring of the paper, as a trial for comparison may.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;

use crate::federation::{Federation, dealt};
use crate::processes::{adult, adult_policy, alone};
use crate::simulation::{Case, calm_down, count, publish_one, seeds};
use crate::world::{SITES, Trouble, World};

#[test]
fn in_the_ring_too_a_run_is_published_by_all_or_by_none() {
    let mut published = 0;
    let seeds = seeds(count("HEDGEROW_SIMULATIONS", 12));
    for seed in &seeds {
        let _case = Case::of(*seed);
        let mut world = World::ring(*seed);
        let mut rng = StdRng::seed_from_u64(!*seed);
        let mut draw = |below: u32| rng.random_range(0..=below);
        world.trouble = Trouble { lost: draw(30), twice: draw(100), late: draw(20), crash: draw(2) };
        for step in 0..3000 {
            world.step();
            if step % 20 == 0 {
                world.approve_all();
            }
            if step % 300 == 0 {
                world.propose(step / 300 % SITES, &[]);
            }
        }
        world.end_trouble();
        calm_down(&mut world, "after the trouble");
        world.check();
        published += world.epochs()[0];
        publish_one(&mut world);
        world.check_blame();
    }
    assert!(published > 0 || seeds.len() < 12, "no run was published under trouble");
}

#[test]
fn three_processes_in_the_ring_publish_what_one_who_holds_all_rows_does() {
    let (header, rows) = adult(600);
    let folder = tempfile::tempdir().unwrap();
    let expected = alone(folder.path(), &adult_policy(), &header, &rows);
    let federation = Federation::started(&adult_policy(), &dealt(&header, &rows, 3), "profile = \"baseline\"\n");
    for ending in federation.run(0) {
        assert_eq!(ending["ended"], "published", "{ending}");
    }
    for place in 0..3 {
        assert_eq!(federation.released(place, 1), expected, "at {place}");
        assert_eq!(federation.status(place)["profile"], "baseline");
        let mut passed_on = 0;
        let count = |line: &hedgerow_node::disk::JournalRow| {
            let of_ring = "what our predecessor passed on";
            passed_on +=
                usize::from(line.record.what == What::Disclosed && line.record.detail.text().contains(of_ring));
            Ok(())
        };
        read_journal(&federation.data(place), count).unwrap();
        assert!(passed_on > 10, "what a neighbor sees is in the journal: {passed_on}");
    }
}
