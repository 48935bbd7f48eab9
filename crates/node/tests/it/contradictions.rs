//! Contradictions in the answers to questions: who is convicted, and who is not.

use hedgerow_node::Sent;
use hedgerow_node::journal::What;
use hedgerow_node::message::{Asking, Frame, FrameContent, Hex, Question, RosterEntry};
use hedgerow_node::statement::Proof;
use hedgerow_node::store::Store as _;
use sha2::{Digest as _, Sha256};

use crate::simulation::publish_one;
use crate::world::{World, member, signing};

const SQL: &str = "SELECT disease, COUNT(*) FROM data GROUP BY disease";

/// A site that signs two different messages for one place of a question's session is named with
/// both signatures, also where each of two others has one of them; silence names no culprit.
#[test]
fn a_site_that_contradicts_itself_in_an_answer_is_convicted() {
    let mut world = World::apart(11);
    world.step();
    publish_one(&mut world);
    let blamed = |world: &World, place: usize| {
        let kept = world.sites[place].memory.0.lock().unwrap();
        let found = kept.journal.iter().filter(|record| record.what == What::Blamed);
        found.map(|record| (record.who.clone(), record.detail.value())).collect::<Vec<_>>()
    };
    let run = world.sites[0].memory.part(1).unwrap().unwrap().common.run;
    let (id, by, analyst) = (Hex([0; 16]), "site-1".to_owned(), "ada".to_owned());
    let sql = SQL.to_owned();
    let question = Question { id, nonce: Hex([9; 16]), epoch: 1, run, sql, by, analyst }.named();
    for place in [0, 2] {
        world.inject(place, 1, FrameContent::Asking(Asking::Ask { question: question.clone() }));
    }
    // Its first message of the session, which is a key: another one for each site.
    let key = |byte: u8| {
        let session = Sha256::digest([&b"hedgerow answer session 1"[..], &question.id.0].concat());
        let header = [&[hedgerow_smc::PROTOCOL_VERSION, 1][..], &session[..16], &[0; 32], &[1, 0], &[0; 4]].concat();
        FrameContent::Step([header, vec![byte; 32]].concat())
    };
    let mut said = world.inject(0, 1, key(1));
    assert!(blamed(&world, 0).is_empty());
    said.extend(world.inject(2, 1, key(2)));
    // Both found that the question is another one, and show what they have.
    for (from, to) in [(0, 2), (2, 0)] {
        for (name, frame) in said.clone() {
            let by_site = frame.signed().verifies(&member(from).signing_key);
            if name == member(to).name && by_site {
                world.inject(to, from, frame.content);
            }
        }
    }
    for place in [0, 2] {
        let found = blamed(&world, place);
        let [(who, detail)] = found.as_slice() else { panic!("{found:?}") };
        let proof: Proof = serde_json::from_value(detail["proof"].clone()).unwrap();
        assert!(who == "site-1" && proof.holds() && proof.culprit.name == "site-1", "{who}");
        assert_eq!(detail["question"], question.id.to_string());
    }
    // An accusation with one of them proves nothing.
    let signed = Frame::sign(key(1), &signing(1)).signed();
    let culprit = RosterEntry::of(&member(1));
    let proof = Proof { run: question.id, culprit, one: signed.clone(), other: signed };
    world.inject(3, 2, FrameContent::Asking(Asking::Proved { id: question.id, proof: Box::new(proof) }));
    assert!(blamed(&world, 3).is_empty());
}

/// After a restart a site takes up no question again that it had heard: its messages would
/// contradict those from before.
#[test]
fn a_restarted_site_does_not_contradict_itself() {
    let mut world = World::apart(12);
    world.step();
    publish_one(&mut world);
    let run = world.sites[0].memory.part(1).unwrap().unwrap().common.run;
    let (id, by, analyst) = (Hex([0; 16]), "site-1".to_owned(), "ada".to_owned());
    let sql = SQL.to_owned();
    let question = Question { id, nonce: Hex([9; 16]), epoch: 1, run, sql, by, analyst }.named();
    let ask = FrameContent::Asking(Asking::Ask { question });
    let steps = |sent: &Sent| sent.iter().filter(|(_, frame)| matches!(frame.content, FrameContent::Step(_))).count();
    world.inject(0, 1, ask.clone());
    world.crash(0);
    for _ in 0..2000 {
        world.step();
    }
    let sent = world.inject(0, 1, ask);
    assert_eq!(steps(&sent), 0);
    let refused = |frame: &Frame| match &frame.content {
        FrameContent::Asking(Asking::Unanswered { why, .. }) => why.contains("restarted"),
        _ => false,
    };
    assert!(sent.iter().any(|(name, frame)| name == "site-1" && refused(frame)), "{sent:?}");
}
