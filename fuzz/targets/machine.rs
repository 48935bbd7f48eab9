//! Any messages to a custodian in the middle of a run: it goes on, concludes or gives up with a
//! fault, and never panics. The envelope is made to fit, so that the contents get past the first
//! checks.
#![no_main]

use std::sync::Arc;

use hedgerow_smc::baseline::{self, Chances, UnionInput};
use hedgerow_smc::{
    BurnBook, Coins, Extremes, Machine, Medians, Message, Question, Roster, Sums, Tally, Transition, masked,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let roster = Roster::numbered(3).unwrap();
    let question = Question::new("fuzz", b"");
    let permit = || BurnBook::default().permit([0; 16], question, &roster).unwrap();
    let coins = || Coins::danger_from_seed(1);
    let me = u16::from(which >> 4) % 3;
    let medians = || Medians::new(vec![(vec![1, 2], 9), (vec![], 3)]);
    let lanes = || Extremes::new(vec![Some((1, 4)), None], 9);
    let tally = || Tally::new(&[1, 2], 20, &[true, false]);
    match which % 10 {
        0 => feed(masked::start(permit(), me, Sums::new(vec![1, 2]), coins()).unwrap(), rest, question),
        1 => feed(masked::start(permit(), me, lanes(), coins()).unwrap(), rest, question),
        2 => feed(masked::start(permit(), me, medians(), coins()).unwrap(), rest, question),
        3 => feed(masked::start_shuffle(permit(), me, vec![vec![1]], 2, 3, coins()).unwrap(), rest, question),
        4 => feed(baseline::start(permit(), me, Sums::new(vec![1]), Chances::default(), coins()).unwrap(), rest, question),
        5 => feed(baseline::start(permit(), me, lanes(), Chances::default(), coins()).unwrap(), rest, question),
        6 => feed(baseline::start(permit(), me, medians(), Chances::default(), coins()).unwrap(), rest, question),
        7 => feed(masked::start(permit(), me, tally(), coins()).unwrap(), rest, question),
        8 => feed(baseline::start(permit(), me, tally(), Chances::default(), coins()).unwrap(), rest, question),
        _ => {
            let domain: Arc<[Vec<u8>]> = vec![vec![1], vec![2], vec![3]].into();
            let input = UnionInput { items: vec![vec![1]], domain, dummy_items: 2 };
            feed(baseline::start_union(permit(), me, input, Chances { passes: 1, ..Chances::default() }, coins()).unwrap(), rest, question);
        }
    }
});

/// Pieces of the input, each with its length in front, become messages of the run.
fn feed<M: Machine>(start: Transition<M>, mut rest: &[u8], question: Question) {
    let Transition::Continue(mut machine, _) = start else { return };
    while let Some((&length, after)) = rest.split_first() {
        let (piece, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        let [kind, sender, round, body @ ..] = piece else { return };
        let mut bytes = vec![2, *kind];
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(&question.digest());
        bytes.extend_from_slice(&[*sender % 4, 0, *round, 0, 0, 0]);
        bytes.extend_from_slice(body);
        let Ok(message) = Message::decode(&bytes) else { return };
        match machine.step(message.sender, message) {
            Ok(Transition::Continue(next, _)) => machine = next,
            Ok(Transition::Finish(..)) | Err(_) => return,
        }
    }
}
