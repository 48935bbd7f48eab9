//! Proposals, reasons and certificates that do not hold: each of them is well-formed and signed by
//! a custodian, and a node follows none.

use hedgerow_node::Command;
use hedgerow_node::certificate::Certificate;
use hedgerow_node::journal::What;
use hedgerow_node::message::{Because, FrameContent, Heads, Hex, Note, Proposal, RosterEntry, RunId};
use hedgerow_node::statement::{Proof, Signed, Statement};
use hedgerow_smc::SigningKey;

use crate::simulation::{calm_down, publish_one};
use crate::trust::{journaled, open_run, run_of, until_phase};
use crate::world::{SITES, World, member, signing};

fn sign(note: Note, by: usize) -> Signed {
    Statement::Note { note }.sign(&signing(by))
}

fn roster() -> Vec<RosterEntry> {
    (0..SITES).map(|site| RosterEntry::of(&member(site))).collect()
}

#[test]
fn a_proposal_that_is_not_of_this_federation_is_refused_by_its_reason() {
    let mut world = World::new(31);
    world.step();
    publish_one(&mut world);
    let first: Proposal = serde_json::from_value(journaled(&world, 0, What::Proposed).remove(0)).unwrap();
    let next = Proposal { epoch: 2, by: member(1).name, ..first };
    let stranger = RosterEntry { key: Hex([77; 32]), ..RosterEntry::of(&member(3)) };
    let of_stranger =
        RosterEntry { signing_key: Hex(SigningKey::from_bytes(&[78; 32]).public()), ..roster().remove(3) };
    let without = |place: usize| {
        let mut roster = roster();
        roster.remove(place);
        roster
    };
    let proposals = [
        (Proposal { by: member(2).name, ..next.clone() }, "in the name of another"),
        (Proposal { terms: Hex([9; 32]), ..next.clone() }, "its policy, promises, limits or version differ"),
        (
            Proposal { roster: [without(3), vec![stranger]].concat(), ..next.clone() },
            "does not know site-3 by these keys",
        ),
        (
            Proposal { roster: [without(3), vec![of_stranger]].concat(), ..next.clone() },
            "does not know site-3 by these keys",
        ),
        (Proposal { roster: without(0), ..next.clone() }, "it is not in the roster"),
        (Proposal { roster: without(1), ..next.clone() }, "the custodian that proposes it is not in the roster"),
        (Proposal { roster: roster().into_iter().rev().collect(), ..next.clone() }, "not in the order of names"),
        (Proposal { roster: roster().split_off(2), ..next.clone() }, "custodians"),
    ];
    for (number, (proposal, reason)) in (1u8..).zip(proposals) {
        let proposal = Proposal { run: Hex([number; 16]), ..proposal };
        world.inject(0, 1, FrameContent::Note(Note::Propose { proposal, previous: None }));
        assert!(open_run(&mut world).is_null(), "{reason}");
        let refused = journaled(&world, 0, What::Refused);
        assert_eq!(refused.len(), usize::from(number), "{reason}");
        let why = refused.last().unwrap()["why"].as_str().unwrap().to_owned();
        assert!(why.contains(reason), "{why}, expected {reason}");
    }
    let proposal = Proposal { run: Hex([99; 16]), ..next };
    world.inject(0, 1, FrameContent::Note(Note::Propose { proposal, previous: None }));
    assert!(!open_run(&mut world).is_null(), "and the one that fits is taken up");
}

#[test]
fn a_custodian_that_joins_another_proposal_ends_the_run() {
    let mut world = World::new(32);
    world.step();
    world.propose(0, &[]);
    let run = run_of(&open_run(&mut world));
    let (proposal, commitment, heads) = (Hex([1; 32]), Hex([2; 32]), Heads::default());
    world.inject(0, 1, FrameContent::Note(Note::Joined { run, proposal, commitment, heads }));
    assert!(open_run(&mut world).is_null(), "operators would approve what not all were shown");
    let ended = journaled(&world, 0, What::Aborted).remove(0);
    assert!(ended["why"].as_str().unwrap().contains("was proposed something else"), "{ended}");
}

/// A node that has staged the release follows another that gives up where that one has a reason,
/// and a reason is signed by somebody else.
#[test]
fn a_reason_that_no_other_custodian_signed_is_not_followed() {
    let mut world = World::new(33);
    world.step();
    world.propose(0, &[]);
    let open = until_phase(&mut world, 0, "staged");
    let run = run_of(&open);
    let withdraw = Command::Withdraw { operator: "operator".to_owned() };
    let Some(Err(refused)) = world.command(0, &withdraw) else { panic!("withdrawn after it was staged") };
    assert!(refused.contains("has staged the release"), "{refused}");
    let gave_up = |run: RunId| Note::Aborted { run, why: "as I like".to_owned(), because: None };
    let staged = |release: u8| Note::Staged { run, epoch: 1, plan: Hex([1; 32]), release: Hex([release; 32]) };
    let said = |by: usize, signed: Signed| Because::Statement { by: member(by).name, signed };
    let culprit = RosterEntry::of(&member(2));
    let proof = Proof { run, culprit, one: sign(staged(1), 1), other: sign(staged(2), 1) };
    let reasons = [
        ("another's word under the own key", said(2, sign(gave_up(run), 1))),
        ("the own word", said(1, sign(gave_up(run), 1))),
        ("a word about another run", said(2, sign(gave_up(Hex([5; 16])), 2))),
        ("a proof that convicts no custodian", Because::Proof { proof: Box::new(proof) }),
    ];
    for (what, because) in reasons {
        let before = journaled(&world, 0, What::Rejected).len();
        let because = Some(Box::new(because));
        world.inject(0, 1, FrameContent::Note(Note::Aborted { run, why: "as I like".to_owned(), because }));
        assert_eq!(open_run(&mut world)["phase"], "staged", "{what}");
        let rejected = journaled(&world, 0, What::Rejected);
        assert_eq!(rejected.len(), before + 1, "{what}");
        assert!(rejected[before]["why"].as_str().unwrap().contains("for a reason that no custodian signed"));
    }
    assert!(journaled(&world, 0, What::Blamed).is_empty(), "no custodian is convicted by that");
    world.inject(0, 1, FrameContent::Note(gave_up(run)));
    // Without a reason it contradicts that it staged, where that is known already.
    let blamed = journaled(&world, 0, What::Blamed);
    assert!(open_run(&mut world).is_null() && blamed.len() <= 1, "{blamed:?}");
}

/// Operators who give up after their nodes have signed do not take back the signatures: with those
/// the others may have published.
#[test]
fn custodians_that_were_prepared_and_give_up_do_not_end_the_run_for_others() {
    let mut world = World::new(34);
    world.step();
    world.propose(0, &[]);
    let run = run_of(&until_phase(&mut world, 0, "prepared"));
    let resolved = |prepared: bool| {
        let because = Some(Box::new(Because::Resolved { prepared }));
        FrameContent::Note(Note::Aborted { run, why: "its operator likes to".to_owned(), because })
    };
    world.inject(0, 1, resolved(true));
    world.inject(0, 2, resolved(true));
    assert_eq!(open_run(&mut world)["phase"], "prepared", "a certificate may exist");
    // One that says that it was not prepared, or lies about it.
    world.inject(0, 3, resolved(false));
    assert_eq!(open_run(&mut world)["phase"], "prepared", "one alone");
}

/// Every signature holds, and it is about something else.
#[test]
fn a_certificate_about_something_else_publishes_nothing() {
    let mut world = World::new(35);
    world.step();
    world.propose(0, &[]);
    let run = run_of(&until_phase(&mut world, 0, "prepared"));
    let staged = journaled(&world, 0, What::Staged).remove(0);
    let hash = |key: &str| serde_json::from_value::<Hex<32>>(staged[key].clone()).unwrap();
    let proposal: Proposal = serde_json::from_value(journaled(&world, 0, What::Proposed).remove(0)).unwrap();
    let (committed, release) = (hash("committed"), hash("release"));
    let right = Certificate { proposal, committed, release, signatures: Vec::new() };
    let signed = |certificate: Certificate, keys: &[usize]| {
        let Proposal { run, epoch, .. } = certificate.proposal;
        let note = Note::Prepared { run, epoch, plan: certificate.approved(), release: certificate.release };
        let signatures = keys.iter().map(|by| sign(note.clone(), *by).signature).collect();
        let certificate = Certificate { signatures, ..certificate };
        assert_eq!(certificate.holds(), keys.windows(2).all(|pair| pair[0] < pair[1]));
        certificate
    };
    let all: Vec<usize> = (0..SITES).collect();
    let other_run = Proposal { run: Hex([6; 16]), ..right.proposal.clone() };
    let later = Proposal { epoch: 2, ..right.proposal.clone() };
    for (what, certificate) in [
        ("one signs for all", signed(right.clone(), &[1; SITES])),
        ("another release", signed(Certificate { release: Hex([3; 32]), ..right.clone() }, &all)),
        ("other rows", signed(Certificate { committed: Hex([3; 32]), ..right.clone() }, &all)),
        ("another run", signed(Certificate { proposal: other_run, ..right.clone() }, &all)),
        ("another epoch", signed(Certificate { proposal: later, ..right.clone() }, &all)),
    ] {
        world.inject(0, 1, FrameContent::Note(Note::Published { run, certificate: Box::new(certificate) }));
        assert_eq!(open_run(&mut world)["phase"], "prepared", "{what}");
        assert_eq!(world.epochs()[0], 0, "{what}");
    }
    let certificate = Box::new(signed(right, &all));
    world.inject(0, 1, FrameContent::Note(Note::Published { run, certificate }));
    assert_eq!(world.epochs()[0], 1, "the right one does");
    calm_down(&mut world, "after the certificate");
}

/// A certificate of others, however many of them signed it, says nothing about this federation's
/// epochs.
#[test]
fn a_newcomer_does_not_follow_a_certificate_of_strangers() {
    let mut world = World::new(36);
    world.step();
    publish_one(&mut world);
    let previous = journaled(&world, 1, What::Published).remove(0)["certificate"].clone();
    let previous: Certificate = serde_json::from_value(previous).unwrap();
    let keys: Vec<SigningKey> = (0..3u8).map(|seed| SigningKey::from_bytes(&[seed + 90; 32])).collect();
    let named = |(place, key): (usize, &SigningKey)| RosterEntry {
        name: format!("stranger-{place}"),
        key: Hex([place as u8 + 90; 32]),
        signing_key: Hex(key.public()),
    };
    let mut forged = previous.clone();
    forged.proposal.roster = keys.iter().enumerate().map(named).collect();
    forged.proposal.epoch = 7;
    let note = Note::Prepared { run: forged.proposal.run, epoch: 7, plan: forged.approved(), release: forged.release };
    forged.signatures = keys.iter().map(|key| Statement::Note { note: note.clone() }.sign(key).signature).collect();
    assert!(forged.holds(), "among themselves");
    let terms = previous.proposal.terms;
    let proposal = Proposal { run: Hex([3; 16]), epoch: 8, terms, roster: roster(), by: member(1).name };
    world.inject(0, 1, FrameContent::Note(Note::Propose { proposal, previous: Some(Box::new(forged)) }));
    assert!(open_run(&mut world).is_null());
}

/// The release that one custodian has staged is not that of the others: no custodian signs for it,
/// and the run ends with the name of that custodian.
#[test]
fn a_node_is_not_prepared_while_another_has_staged_another_release() {
    let mut world = World::new(37);
    world.loses = Some(|to, content| to == 0 && matches!(content, FrameContent::Note(Note::Staged { .. })));
    world.step();
    world.propose(0, &[]);
    let run = run_of(&until_phase(&mut world, 0, "staged"));
    let own = journaled(&world, 0, What::Staged).remove(0);
    let hash = |key: &str| serde_json::from_value::<Hex<32>>(own[key].clone()).unwrap();
    let staged = |release| FrameContent::Note(Note::Staged { run, epoch: 1, plan: hash("plan"), release });
    for place in [2, 3] {
        world.inject(0, place, staged(hash("release")));
        assert_eq!(open_run(&mut world)["phase"], "staged");
    }
    world.inject(0, 1, staged(Hex([4; 32])));
    assert!(open_run(&mut world).is_null());
    assert!(journaled(&world, 0, What::Prepared).is_empty());
    let ended = journaled(&world, 0, What::Aborted).remove(0);
    assert!(ended["why"].as_str().unwrap().contains("site-1 has another release"), "{ended}");
}

/// Others may have published a later epoch: until that is known, none is the last one.
#[test]
fn a_node_that_is_prepared_has_no_last_epoch_to_answer_from() {
    let mut world = World::new(38);
    world.step();
    publish_one(&mut world);
    let epoch = |world: &World| world.sites[0].node.as_ref().unwrap().epoch();
    assert_eq!(epoch(&world), Some(1));
    world.propose(0, &[]);
    until_phase(&mut world, 0, "prepared");
    assert_eq!(epoch(&world), None);
    calm_down(&mut world, "after the run");
    assert_eq!(epoch(&world), Some(2));
}
