//! The same site in answers over rows that are apart: it changes questions and what it adds to
//! them, repeats what others signed under other names, and gives up. The others end questions, give
//! wrong blame to no site, and go on.

use hedgerow_node::Command;
use hedgerow_node::message::Asking;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::Byzantine;
use crate::simulation::{Case, count, seeds};
use crate::world::{SITES, World};

const QUESTIONS: [&str; 3] = [
    "SELECT disease, COUNT(*) FROM data GROUP BY disease",
    "SELECT COUNT(*) FROM data WHERE disease = 'flu'",
    "SELECT disease, MIN(age), MAX(age) FROM data GROUP BY disease",
];

impl Byzantine {
    pub(super) fn distorted_asking(&mut self, asking: Asking) -> Asking {
        let id = match &asking {
            Asking::Ask { question } => question.id,
            Asking::Unanswered { id, .. } | Asking::Shown { id, .. } => *id,
            Asking::Proved { id, .. } | Asking::Again { id } => *id,
        };
        match (self.rng.random_range(0..7), asking) {
            // Under the name of another question, and under its own.
            (0, Asking::Ask { mut question }) => {
                question.sql = QUESTIONS[1].to_owned();
                Asking::Ask { question }
            }
            (1, Asking::Ask { mut question }) => {
                question.sql = QUESTIONS[2].to_owned();
                Asking::Ask { question: question.named() }
            }
            (2, Asking::Ask { mut question }) => {
                (question.epoch, question.by) = (question.epoch.wrapping_add(1), "site-0".to_owned());
                Asking::Ask { question: question.named() }
            }
            (3, _) => {
                let statements = (0..9).filter_map(|_| self.any_heard()).collect();
                Asking::Shown { id, statements }
            }
            (4, _) => match self.proof(id) {
                Some(proof) => Asking::Proved { id, proof: Box::new(proof) },
                None => Asking::Again { id },
            },
            (5, _) => Asking::Again { id },
            _ => Asking::Unanswered { id, why: "it likes to".to_owned() },
        }
    }
}

#[test]
fn one_site_that_lies_in_answers_ends_questions_and_nothing_else() {
    let (mut answered, mut failed, mut distorted) = (0, 0, 0);
    let seeds = seeds(count("HEDGEROW_SIMULATIONS", 12));
    for seed in &seeds {
        let _case = Case::of(*seed);
        let mut rng = StdRng::seed_from_u64(!*seed);
        let place = rng.random_range(0..SITES);
        let (changes, invents) = ([3, 20, 100][rng.random_range(0..3)], [0, 5, 30][rng.random_range(0..3)]);
        let mut world = World::apart_with_byzantine(*seed, Byzantine::new(place, *seed, changes, invents));
        for step in 0..2000 {
            world.step();
            if step % 20 == 0 {
                world.approve_all();
            }
            if step % 400 == 0 {
                world.propose(rng.random_range(0..SITES), &[]);
            }
            let asks = rng.random_range(0..SITES);
            if step % 40 == 0 && asks != place {
                let _ = world.ask(asks, QUESTIONS[rng.random_range(0..QUESTIONS.len())]);
            }
        }
        let byzantine = world.byzantine.as_mut().unwrap();
        distorted += byzantine.distorted;
        byzantine.fall_silent();
        world.calm_honest();
        let honest = world.honest();
        let open = |world: &mut World| {
            let questions = honest.iter().map(|place| world.command(*place, &Command::Status).unwrap().unwrap());
            questions.filter(|status| status["questions"] != 0).count()
        };
        for _ in 0..3000 {
            world.step();
            if open(&mut world) == 0 {
                break;
            }
        }
        assert_eq!(open(&mut world), 0, "questions stay open");
        world.check_honest();
        for (_, sql, answer) in &world.answers {
            match answer {
                Ok(_) => answered += 1,
                Err(why) => {
                    assert!(!why.to_string().contains("internal"), "{sql}: {why}");
                    failed += 1;
                }
            }
        }
    }
    eprintln!("{} seeds: {distorted} messages distorted, {answered} answers, {failed} failed", seeds.len());
    if seeds.len() > 1 {
        // The seeds are always the same: some questions are answered, and some fail.
        assert!(answered > seeds.len() && distorted > 0 && failed > 0, "{answered}, {distorted}, {failed}");
    }
}
