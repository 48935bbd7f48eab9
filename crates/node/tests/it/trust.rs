//! Attacks of one custodian on the others, and of someone with access to a node's folder.

use std::fs;

use hedgerow_node::certificate::Certificate;
use hedgerow_node::journal::What;
use hedgerow_node::message::{
    Asking, Because, Frame, FrameContent, Heads, Hex, NOTE_BYTES_MAX, Note, Proposal, Question, RosterEntry, RunId,
};
use hedgerow_node::statement::Proof;
use hedgerow_node::store::Store as _;
use hedgerow_node::{Command, Sent};
use serde_json::Value;

use crate::federation::{Federation, POLICY, people};
use crate::simulation::{calm_down, publish_one};
use crate::world::{SITES, World, member, signing};

pub(crate) fn open_run(world: &mut World) -> Value {
    let Some(Ok(status)) = world.command(0, &Command::Status) else { panic!() };
    status["open"].clone()
}

pub(crate) fn run_of(open: &Value) -> RunId {
    serde_json::from_value(open["run"].clone()).unwrap()
}

/// Steps until a site's run has a phase.
pub(crate) fn until_phase(world: &mut World, place: usize, phase: &str) -> Value {
    for step in 0..3000 {
        world.step();
        if step % 5 == 0 {
            world.approve_all();
        }
        if let Some(Ok(status)) = world.command(place, &Command::Status)
            && status["open"]["phase"] == phase
        {
            return status["open"].clone();
        }
    }
    panic!("no run was {phase}");
}

pub(crate) fn journaled(world: &World, place: usize, what: What) -> Vec<Value> {
    let kept = world.sites[place].memory.0.lock().unwrap();
    let found = kept.journal.iter().filter(|record| record.what == what);
    found.map(|record| record.detail.value()).collect()
}

pub(crate) fn notes(sent: &Sent, wanted: impl Fn(&Note) -> bool) -> usize {
    let is = |frame: &Frame| matches!(&frame.content, FrameContent::Note(note) if wanted(note));
    sent.iter().filter(|(_, frame)| is(frame)).count()
}

#[test]
fn two_false_notes_neither_publish_a_run_nor_end_one_that_is_prepared() {
    let mut world = World::new(5);
    world.step();
    world.propose(0, &[]);
    let open = until_phase(&mut world, 0, "prepared");
    let run = run_of(&open);
    // Site 1 says that it gave up: it had signed that it staged, so that convicts it.
    let why = "none".to_owned();
    let sent = world.inject(0, 1, FrameContent::Note(Note::Aborted { run, why, because: None }));
    assert_eq!(open_run(&mut world)["phase"], "prepared", "a word ends nothing");
    assert_eq!(notes(&sent, |note| matches!(note, Note::Proved { .. })), SITES - 1);
    let blamed = journaled(&world, 0, What::Blamed);
    let proof: Proof = serde_json::from_value(blamed[0]["proof"].clone()).unwrap();
    assert!(proof.holds() && proof.culprit.name == "site-1", "{proof:?}");
    calm_down(&mut world, "after the false note");
    // The others may have given up before they were prepared: then all give up.
    let epochs = world.epochs();
    assert!(epochs.iter().all(|epoch| *epoch == epochs[0]), "half-published: {epochs:?}");
}

#[test]
fn a_certificate_that_lacks_a_signature_publishes_nothing() {
    let mut world = World::new(6);
    world.step();
    world.propose(0, &[]);
    let open = until_phase(&mut world, 0, "staged");
    let run = run_of(&open);
    let staged = journaled(&world, 0, What::Staged).remove(0);
    let hash = |key: &str| serde_json::from_value::<Hex<32>>(staged[key].clone()).unwrap();
    let (plan, committed, release) = (hash("plan"), hash("committed"), hash("release"));
    let proposal: Proposal = serde_json::from_value(journaled(&world, 0, What::Proposed).remove(0)).unwrap();
    let prepared = Note::Prepared { run, epoch: 1, plan, release };
    let statement = hedgerow_node::statement::Statement::Note { note: prepared };
    // Site 1 signs in everyone's place.
    let signatures = (0..SITES).map(|_| statement.clone().sign(&signing(1)).signature).collect();
    let certificate = Certificate { proposal, committed, release, signatures };
    assert_eq!(certificate.approved(), plan);
    world.inject(0, 1, FrameContent::Note(Note::Published { run, certificate: Box::new(certificate) }));
    assert_eq!(world.epochs()[0], 0);
    assert!(!open_run(&mut world).is_null());
}

#[test]
fn a_site_that_sends_two_commitments_is_named_with_both_signatures_and_an_accusation_names_no_site() {
    let mut world = World::new(7);
    world.step();
    world.propose(0, &[]);
    for _ in 0..20 {
        world.step();
    }
    let open = open_run(&mut world);
    let run = run_of(&open);
    let joined = |commitment: u8, proposal: Hex<32>| Note::Joined {
        run,
        proposal,
        commitment: Hex([commitment; 32]),
        heads: Heads::default(),
    };
    // Another commitment than the one that site 1 has sent to site 0 already.
    let sent = world.inject(0, 1, FrameContent::Note(joined(9, Hex([1; 32]))));
    assert_eq!(notes(&sent, |note| matches!(note, Note::Aborted { .. })), SITES - 1);
    let blamed = journaled(&world, 0, What::Blamed);
    assert_eq!(blamed.len(), 1);
    let proof: Proof = serde_json::from_value(blamed[0]["proof"].clone()).unwrap();
    assert!(proof.holds() && proof.culprit.name == "site-1");
    calm_down(&mut world, "after the conviction");
    // All hear the proof, and site 1 itself does too.
    assert!([0, 2, 3].iter().all(|place| journaled(&world, *place, What::Blamed).len() == 1));

    // The next run: site 2 accuses site 3 of what it did not do, with statements that prove
    // nothing.
    world.propose(0, &[]);
    for _ in 0..20 {
        world.step();
    }
    let run = run_of(&open_run(&mut world));
    let signed = |note: Note, by: usize| hedgerow_node::statement::Statement::Note { note }.sign(&signing(by));
    let approved = |plan: u8| Note::Approved { run, plan: Hex([plan; 32]) };
    let culprit = RosterEntry::of(&member(3));
    let false_proof = Proof { run, culprit, one: signed(approved(1), 2), other: signed(approved(2), 2) };
    world.inject(0, 2, FrameContent::Note(Note::Proved { run, proof: Box::new(false_proof) }));
    assert!(!open_run(&mut world).is_null(), "nothing happens");
    let why = "site-3 lies".to_owned();
    world.inject(0, 2, FrameContent::Note(Note::Aborted { run, why, because: None }));
    let Some(Ok(status)) = world.command(0, &Command::Status) else { panic!() };
    let ending = status["ended"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(ending["ended"], "aborted", "{ending}");
    assert!(ending["blamed"].is_null(), "{ending}");
    assert_eq!(journaled(&world, 0, What::Blamed).len(), 1, "of the first run");
}

/// The transport says who sent a message; what counts is whose key signed it.
#[test]
fn a_message_under_another_signature_is_not_heard() {
    let mut world = World::new(17);
    world.step();
    world.propose(0, &[]);
    for _ in 0..20 {
        world.step();
    }
    let run = run_of(&open_run(&mut world));
    let gives_up = FrameContent::Note(Note::Aborted { run, why: "as I like".to_owned(), because: None });
    let before = journaled(&world, 0, What::Rejected).len();
    let mut changed = Frame::sign(gives_up.clone(), &signing(1));
    changed.signature[7] ^= 1;
    for forged in [Frame::sign(gives_up.clone(), &signing(2)), changed] {
        world.receive(0, 1, forged);
        assert!(!open_run(&mut world).is_null());
    }
    let rejected = journaled(&world, 0, What::Rejected).split_off(before);
    assert!(rejected.iter().all(|detail| detail["why"] == "a message that is not signed with its key"), "{rejected:?}");
    assert_eq!(rejected.len(), 2);
    world.receive(0, 1, Frame::sign(gives_up, &signing(1)));
    assert!(open_run(&mut world).is_null(), "under its own it is");
}

/// Statements may be long: what is shown to others still has to reach them. Site 1 hides behind
/// half a megabyte of names, and behind a reason that is longer still.
#[test]
fn long_statements_convict_their_signer_before_all_and_longer_ones_are_not_taken() {
    let mut world = World::new(16);
    world.step();
    world.propose(0, &[]);
    for _ in 0..20 {
        world.step();
    }
    let run = run_of(&open_run(&mut world));
    let why = "x".repeat(700_000);
    world.inject(0, 1, FrameContent::Note(Note::Aborted { run, why, because: None }));
    assert!(!open_run(&mut world).is_null(), "no custodian that follows the protocol writes that much");
    let proposal: Proposal = serde_json::from_value(journaled(&world, 0, What::Proposed).remove(0)).unwrap();
    let roster = vec![RosterEntry::of(&member(1)); 2500];
    let (committed, release, signatures) = (Hex([0; 32]), Hex([0; 32]), Vec::new());
    let long = Certificate { proposal: Proposal { roster, ..proposal.clone() }, committed, release, signatures };
    for epoch in [1, 2] {
        let (proposal, previous) = (Proposal { epoch, ..proposal.clone() }, Some(Box::new(long.clone())));
        let said = FrameContent::Note(Note::Propose { proposal, previous });
        let length = Frame::sign(said.clone(), &signing(1)).encode().len();
        assert!(length > NOTE_BYTES_MAX / 3 && length < NOTE_BYTES_MAX / 2, "{length} bytes");
        let sent = world.inject(0, 1, said);
        world.post(0, sent);
    }
    calm_down(&mut world, "after the conviction");
    for place in [0, 2, 3] {
        let blamed = journaled(&world, place, What::Blamed);
        assert_eq!(blamed.len(), 1, "site {place}");
        let proof: Proof = serde_json::from_value(blamed[0]["proof"].clone()).unwrap();
        assert!(proof.holds() && proof.culprit.name == "site-1");
    }
    publish_one(&mut world);
}

/// For each proposal a node reads all its rows and writes into its journal, and its proposer can
/// give it up at once. A custodian that does so without end fills no disk, and keeps no other from
/// proposing.
#[test]
fn a_custodian_that_proposes_without_end_fills_no_journal() {
    let mut world = World::new(15);
    world.step();
    publish_one(&mut world);
    let mut proposal: Proposal = serde_json::from_value(journaled(&world, 0, What::Proposed).remove(0)).unwrap();
    (proposal.by, proposal.epoch) = (member(1).name, 2);
    let size = |world: &World| journaled(world, 0, What::Proposed).len() + journaled(world, 0, What::Refused).len();
    let mut last = 0;
    for round in 0..600u32 {
        proposal.run = Hex([&round.to_le_bytes()[..], &[7; 12]].concat().try_into().unwrap());
        let (run, why) = (proposal.run, "again".to_owned());
        let previous = None;
        world.inject(0, 1, FrameContent::Note(Note::Propose { proposal: proposal.clone(), previous }));
        world.inject(0, 1, FrameContent::Note(Note::Aborted { run, why, because: None }));
        if round == 300 {
            last = size(&world);
        }
    }
    assert_eq!(size(&world), last, "the journal grows");
    assert!(last <= 1 + 60 + 60, "{last}");
    world.propose(2, &[]);
    calm_down(&mut world, "a run of another site");
    assert_eq!(world.epochs(), [2; SITES]);
    world.check_blame();
}

#[test]
fn two_epochs_under_one_name_and_epochs_out_of_order_are_refused() {
    let mut world = World::new(8);
    world.step();
    publish_one(&mut world);
    let terms = {
        let Some(Ok(status)) = world.command(0, &Command::Status) else { panic!() };
        serde_json::from_value::<Hex<32>>(status["terms"].clone()).unwrap()
    };
    let roster: Vec<RosterEntry> = (0..SITES).map(|site| RosterEntry::of(&member(site))).collect();
    let propose = |run: u8, epoch: u64| {
        let (roster, by) = (roster.clone(), "site-1".to_owned());
        FrameContent::Note(Note::Propose {
            proposal: Proposal { run: Hex([run; 16]), epoch, terms, roster, by },
            previous: None,
        })
    };
    for (run, epoch) in [(1, u64::MAX), (2, 1), (3, 0), (4, 3)] {
        world.inject(0, 1, propose(run, epoch));
        assert!(open_run(&mut world).is_null(), "epoch {epoch} is taken after epoch 1");
    }
    // One run with two epochs: site 0 receives one, site 2 the other, and neither begins.
    world.inject(0, 1, propose(5, 2));
    assert!(!open_run(&mut world).is_null());
    let sent = world.inject(0, 1, propose(5, 3));
    assert_eq!(notes(&sent, |note| matches!(note, Note::Proved { .. })), SITES - 1);
    assert!(open_run(&mut world).is_null());
    calm_down(&mut world, "after two epochs");
    publish_one(&mut world);
    assert_eq!(world.epochs(), [2; SITES]);
    assert_eq!(journaled(&world, 0, What::Blamed).len(), 1);
}

#[test]
fn a_later_epoch_is_not_taken_on_a_certificate_that_was_changed() {
    let mut world = World::new(9);
    world.step();
    publish_one(&mut world);
    // What the last epoch was published on is shown to a site that lost it.
    let previous = journaled(&world, 1, What::Published).remove(0)["certificate"].clone();
    let previous: Certificate = serde_json::from_value(previous).unwrap();
    assert!(previous.holds() && previous.proposal.epoch == 1);
    let mut forged = previous.clone();
    forged.proposal.epoch = 8;
    let terms = {
        let Some(Ok(status)) = world.command(0, &Command::Status) else { panic!() };
        serde_json::from_value::<Hex<32>>(status["terms"].clone()).unwrap()
    };
    let roster: Vec<RosterEntry> = (0..SITES).map(|site| RosterEntry::of(&member(site))).collect();
    let proposal = Proposal { run: Hex([3; 16]), epoch: 9, terms, roster, by: "site-1".to_owned() };
    let note = Note::Propose { proposal, previous: Some(Box::new(forged)) };
    world.inject(0, 1, FrameContent::Note(note));
    assert!(open_run(&mut world).is_null(), "a certificate that was changed");
}

/// A newcomer is shown what the epoch before was published on. One custodian alone cannot make such
/// a certificate, and neither does one fit that a custodian did not sign.
#[test]
fn a_newcomer_joins_a_later_epoch_on_a_certificate_of_all_and_on_no_other() {
    let mut world = World::new(19);
    world.step();
    world.propose(0, &[3]);
    for step in 0..3000 {
        world.step();
        if step % 10 == 0 {
            world.approve_all();
        }
    }
    assert_eq!(world.epochs(), [1, 1, 1, 0]);
    let certificate = journaled(&world, 1, What::Published).remove(0)["certificate"].clone();
    let whole: Certificate = serde_json::from_value(certificate).unwrap();
    let all: Vec<RosterEntry> = (0..SITES).map(|site| RosterEntry::of(&member(site))).collect();
    let (terms, by) = (whole.proposal.terms, "site-1".to_owned());
    let mut number = 0;
    let mut taken = |world: &mut World, epoch: u64, previous: Option<Certificate>| {
        number += 1;
        let run = Hex([number; 16]);
        let proposal = Proposal { run, epoch, terms, roster: all.clone(), by: by.clone() };
        let note = Note::Propose { proposal, previous: previous.map(Box::new) };
        let sent = world.inject(3, 1, FrameContent::Note(note));
        notes(&sent, |note| matches!(note, Note::Joined { run: of, .. } if *of == run)) > 0
    };
    assert!(!taken(&mut world, 2, None), "no certificate is shown");
    // Site 1 signs alone, for the last epoch that a number can have.
    for epoch in [1, u64::MAX - 1] {
        let roster = vec![RosterEntry::of(&member(1))];
        let mut alone = whole.clone();
        (alone.proposal.roster, alone.proposal.epoch) = (roster, epoch);
        let plan = alone.approved();
        let prepared = Note::Prepared { run: alone.proposal.run, epoch, plan, release: alone.release };
        alone.signatures =
            vec![hedgerow_node::statement::Statement::Note { note: prepared }.sign(&signing(1)).signature];
        assert!(!taken(&mut world, epoch + 1, Some(alone)), "a roster of one, before epoch {}", epoch + 1);
    }
    let mut shorter = whole.clone();
    shorter.proposal.roster.pop();
    shorter.signatures.pop();
    assert!(!taken(&mut world, 2, Some(shorter)), "without the one that did not sign");
    let mut unsigned = whole.clone();
    unsigned.signatures[0].0[5] ^= 1;
    assert!(!taken(&mut world, 2, Some(unsigned)));
    assert!(!taken(&mut world, 3, Some(whole.clone())), "an epoch later");
    assert!(taken(&mut world, 2, Some(whole)));
}

/// Site 1 gives up because site 2 has staged a release, which is the very one that site 0 has
/// staged too. Were site 0 to give that as its own reason, it would contradict itself.
#[test]
fn a_reason_that_holds_for_another_convicts_no_custodian_that_follows() {
    let mut world = World::new(14);
    world.step();
    world.propose(0, &[]);
    let open = until_phase(&mut world, 0, "staged");
    let run = run_of(&open);
    let staged = journaled(&world, 0, What::Staged).remove(0);
    let hash = |key: &str| serde_json::from_value::<Hex<32>>(staged[key].clone()).unwrap();
    let same = Note::Staged { run, epoch: 1, plan: hash("plan"), release: hash("release") };
    for by in [2, 0] {
        let signed = hedgerow_node::statement::Statement::Note { note: same.clone() }.sign(&signing(by));
        let because = Some(Box::new(Because::Statement { by: member(by).name, signed }));
        let said = Note::Aborted { run, why: "as I like".to_owned(), because };
        let sent = world.inject(0, 1, FrameContent::Note(said));
        world.post(0, sent);
    }
    assert!(open_run(&mut world).is_null(), "it had signed nothing yet, and follows");
    calm_down(&mut world, "after the reason");
    for place in 0..SITES {
        let kept = world.sites[place].memory.0.lock().unwrap();
        let blamed = kept.journal.iter().filter(|record| record.what == What::Blamed);
        assert!(blamed.clone().all(|record| record.who == "site-1"), "site {place} blames an honest one");
    }
    let epochs = world.epochs();
    assert!(epochs.iter().all(|epoch| *epoch == epochs[0]), "half-published: {epochs:?}");
}

#[test]
fn an_operator_ends_a_run_in_doubt_and_the_journal_has_who_why_and_what_the_others_signed() {
    // Whether the last site gets as far as its signature depends on the order of messages.
    for seed in 10..40 {
        let mut world = World::new(seed);
        world.step();
        world.propose(0, &[]);
        until_phase(&mut world, 0, "staged");
        let resolve = |why: &str| Command::Resolve { operator: "olga".to_owned(), why: why.to_owned() };
        let Some(Err(early)) = world.command(0, &resolve("too early")) else { panic!() };
        assert!(early.contains("goes on"), "{early}");
        // The last site is away for good.
        for _ in 0..1500 {
            world.crash(SITES - 1);
            world.step();
        }
        if open_run(&mut world).is_null() {
            continue;
        }
        assert_eq!(open_run(&mut world)["in_doubt"], true);
        let Some(Err(silent)) = world.command(0, &resolve("  ")) else { panic!() };
        assert!(silent.contains("why"), "{silent}");
        world.command(0, &resolve("site 3 burned down")).unwrap().unwrap();
        let resolved = journaled(&world, 0, What::Resolved).remove(0);
        assert_eq!(resolved["why"], "site 3 burned down");
        assert_eq!(resolved["custodians"].as_array().unwrap().len(), SITES - 1);
        assert!(open_run(&mut world).is_null());
        // The others hear that it was an operator's decision, and blame no site for it.
        for _ in 0..200 {
            world.crash(SITES - 1);
            world.step();
        }
        world.check_blame();
        return;
    }
    panic!("no run stayed in doubt");
}

const QUICK: &str = "deadlines = { silence-s = 6, handshake-s = 3 }\n";

fn wait_for(federation: &Federation, place: usize, what: &str, found: impl Fn(&Value) -> bool) -> Value {
    federation.until(place, what, |status| found(status).then(|| status.clone()))
}

#[test]
fn a_journal_that_was_cut_rewritten_or_replaced_is_noticed() {
    let mut federation = Federation::started(POLICY, &people(3), QUICK);
    let endings = federation.run(0);
    let same = |ending: &Value| ending["ended"] == "published" && ending["release"] == endings[0]["release"];
    assert!(endings[0]["release"].is_string() && endings.iter().all(same), "{endings:#?}");
    let release =
        |place: usize| hedgerow_node::disk::hash_of(&federation.data(place).join("epochs/1/release")).unwrap();
    assert!((0..3).all(|place| release(place) == release(0)), "releases are the same bytes");
    federation.stop(1);
    let data = federation.data(1);
    let copy = federation.home("site-1").join("copy");
    copy_folder(&data, &copy);
    federation.start(1);
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    federation.stop(1);

    // Rows removed from the end, and the chain computed anew: the head does not fit.
    let path = data.join("journal.db");
    let whole = fs::read(&path).unwrap();
    let key = hedgerow_node::keys::read_signing_key(&federation.home("site-1").join("signing.key")).unwrap();
    let read = || hedgerow_node::disk::read_signed_journal(&data, &key.public(), |_| Ok(()));
    let last = read().unwrap().0;
    let sql = |text: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(text).unwrap();
    sql(&format!("DELETE FROM journal WHERE number > {}", last - 3));
    assert!(read().unwrap_err().to_string().contains("is not the one that this node signed"));
    fs::write(&path, &whole).unwrap();
    sql("DELETE FROM journal");
    assert!(read().unwrap_err().to_string().contains("all rows were removed"));
    fs::write(&path, &whole).unwrap();
    // A time that people read, and the hash does not have.
    sql("UPDATE journal SET at = '2001-01-01T00:00:00.000Z' WHERE number = 2");
    assert!(read().unwrap_err().to_string().contains("row 2"), "the text of the time");
    fs::write(&path, &whole).unwrap();
    assert!(read().is_ok());

    // The whole folder of yesterday: book, journal and head fit each other.
    fs::remove_dir_all(&data).unwrap();
    copy_folder(&copy, &data);
    assert!(read().is_ok());
    federation.start(1);
    let status = wait_for(&federation, 1, "the peers' heads", |status| status["replaced"].is_string());
    assert!(status["epoch"].is_null(), "an old epoch is not answered: {status}");
    assert!(status["replaced"].as_str().unwrap().contains("older copy"), "{status}");
    let refused = federation
        .ask(1, &hedgerow_node::operator::Request::Propose { operator: "tester".to_owned(), without: Vec::new() });
    assert!(refused.unwrap_err().contains("not the one that"), "it proposes nothing");
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else if path.is_file() {
            fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn a_site_that_took_no_part_in_an_epoch_is_not_answered() {
    let mut world = World::apart(3);
    world.step();
    world.propose(0, &[3]);
    for step in 0..3000 {
        world.step();
        if step % 10 == 0 {
            world.approve_all();
        }
    }
    assert_eq!(world.epochs(), [1, 1, 1, 0]);
    let run = world.sites[0].memory.part(1).unwrap().unwrap().common.run;
    let ask = |world: &mut World, from: usize| {
        let (id, nonce) = (Hex([from as u8; 16]), Hex([from as u8; 16]));
        let sql = "SELECT disease, COUNT(*) FROM data GROUP BY disease".to_owned();
        let (by, analyst) = (member(from).name, "ada".to_owned());
        let question = Question { id, nonce, epoch: 1, run, sql, by, analyst }.named();
        let sent = world.inject(0, from, FrameContent::Asking(Asking::Ask { question }));
        let refused = |frame: &Frame| match &frame.content {
            FrameContent::Asking(Asking::Unanswered { why, .. }) => Some(why.clone()),
            _ => None,
        };
        sent.iter().find_map(|(_, frame)| refused(frame))
    };
    assert!(ask(&mut world, 3).unwrap().contains("took no part in the epoch"));
    assert_eq!(ask(&mut world, 1), None);
}
