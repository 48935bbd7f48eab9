//! A folder that is an older copy of itself, or that another version of the program wrote.

use std::fs;
use std::sync::Arc;

use hedgerow_node::disk::{Disk, read_signed_journal};
use hedgerow_node::journal::{Record, What, chain};
use hedgerow_node::keys::read_signing_key;
use hedgerow_node::message::{FrameContent, Heads, Hex, JournalMessage, Note};
use hedgerow_node::settings::Settings;
use hedgerow_node::statement::Statement;
use hedgerow_node::store::Store as _;
use hedgerow_node::terms::Terms;
use hedgerow_node::{Command, Node};
use serde_json::{Value, json};

use crate::federation::{Federation, POLICY, people};
use crate::memory::{Kept, Memory};
use crate::simulation::{calm_down, publish_one};
use crate::trust::{journaled, notes, run_of};
use crate::world::{SITES, World, signing};

fn copy_of(world: &World, place: usize) -> Kept {
    world.sites[place].memory.0.lock().unwrap().clone()
}

/// Puts a copy in the place of a site's folder, and starts its node.
fn restore(world: &mut World, place: usize, copy: Kept) {
    *world.sites[place].memory.0.lock().unwrap() = copy;
    world.start(place);
}

fn pass(world: &mut World, steps: usize) {
    (0..steps).for_each(|_| world.step());
}

fn status(world: &mut World, place: usize) -> Value {
    world.command(place, &Command::Status).unwrap().unwrap()
}

fn epoch(world: &World, place: usize) -> Option<u64> {
    world.sites[place].node.as_ref().and_then(Node::<Memory>::epoch)
}

/// One of the peers may be the one that replaced the folder: its word that it knows nothing later
/// does not let the node answer before the others have been heard.
#[test]
fn one_peer_alone_does_not_confirm_an_older_copy() {
    let mut world = World::new(31);
    world.step();
    publish_one(&mut world);
    let older = copy_of(&world, 2);
    publish_one(&mut world);
    assert_eq!(world.epochs(), [2; SITES]);
    let same = copy_of(&world, 3);
    restore(&mut world, 3, same);
    assert_eq!(epoch(&world, 3), None, "no peer was heard");
    pass(&mut world, 50);
    assert_eq!(epoch(&world, 3), Some(2), "all peers have confirmed the journal");

    restore(&mut world, 2, older);
    world.inject(2, 1, FrameContent::Standing(JournalMessage::Known { signed: None, further: None }));
    assert_eq!(epoch(&world, 2), None, "one peer alone confirmed an older copy");
    pass(&mut world, 50);
    let why = status(&mut world, 2)["replaced"].as_str().unwrap().to_owned();
    assert!(why.contains("older copy"), "{why}");
    // Nor when the time is over in which it waits for peers that are away.
    pass(&mut world, 1500);
    assert_eq!(epoch(&world, 2), None);
    let propose = Command::Propose { operator: "olga".to_owned(), without: Vec::new() };
    assert_eq!(world.command(2, &propose).unwrap(), Err(why));
    assert_eq!(journaled(&world, 2, What::Replaced).len(), 1, "it is journaled once");
    world.check_blame();
}

/// A world in which a site has signed that it is prepared in its second run, that run, and a copy
/// of the site's folder of before it. Whether the phase shows depends on the order of messages.
fn prepared(place: usize, seeds: std::ops::Range<u64>) -> (World, Value, Kept) {
    for seed in seeds {
        let mut world = World::new(seed);
        world.step();
        publish_one(&mut world);
        let older = copy_of(&world, place);
        world.propose(0, &[]);
        for step in 0..2000 {
            world.step();
            if step % 5 == 0 {
                world.approve_all();
            }
            let open = status(&mut world, place)["open"].take();
            if open["phase"] == "prepared" {
                return (world, open, older);
            }
            if open.is_null() && step > 100 {
                break;
            }
        }
    }
    panic!("no run was prepared and not yet published");
}

/// A node that had signed that it is prepared comes back with a folder of before the run. To deny
/// the run would contradict its signature, and would be blamed; it says nothing. The others publish
/// on what it had signed.
#[test]
fn an_older_copy_does_not_deny_a_run_that_it_has_forgotten() {
    // The second time no peer is heard for longer than the node waits for those that are away.
    for away in [false, true] {
        let (mut world, open, older) = prepared(2, 32..60);
        let run = run_of(&open);
        let staged = journaled(&world, 0, What::Staged).pop().unwrap();
        let hash = |key: &str| serde_json::from_value::<Hex<32>>(staged[key].clone()).unwrap();
        let (plan, release) = (hash("plan"), hash("release"));
        if away {
            world.trouble.lost = 1000;
        }
        restore(&mut world, 2, older);
        pass(&mut world, if away { 1000 } else { 0 });
        for note in [
            Note::Inquire { run },
            Note::Staged { run, epoch: 2, plan, release },
            Note::Prepared { run, epoch: 2, plan, release },
        ] {
            let sent = world.inject(2, 0, FrameContent::Note(note));
            let denied = notes(&sent, |note| matches!(note, Note::Aborted { .. }));
            assert_eq!(denied, 0, "it denies a run that it had signed; peers away: {away}");
        }
        world.end_trouble();
        pass(&mut world, 1500);
        assert!(status(&mut world, 2)["replaced"].is_string());
        assert_eq!(world.epochs(), [2, 2, 1, 2], "peers away: {away}");
        assert!(journaled(&world, 2, What::Refused).is_empty());
        world.check_blame();
    }
}

/// A copy of while a run was executed has the row that the node joined with. What it lacks are the
/// rows after, whose heads peers have kept, also over a restart. It would give the run up, since
/// its keys and masks are gone, and contradict itself.
#[test]
fn a_copy_from_within_a_run_is_noticed_and_gives_up_nothing_that_went_on() {
    for restarted in [false, true] {
        let mut world = World::new(33);
        world.step();
        publish_one(&mut world);
        world.propose(0, &[]);
        while status(&mut world, 2)["open"]["phase"] != "executing" {
            world.step();
            world.approve_all();
        }
        let older = copy_of(&world, 2);
        calm_down(&mut world, "the second run");
        assert_eq!(world.epochs(), [2; SITES]);
        for place in [0, 1, 3].into_iter().filter(|_| restarted) {
            let same = copy_of(&world, place);
            restore(&mut world, place, same);
        }
        world.stale = Some(2);
        restore(&mut world, 2, older);
        pass(&mut world, 1500);
        let why = status(&mut world, 2)["replaced"].as_str().unwrap().to_owned();
        assert!(why.contains("older copy"), "{why}");
        assert_eq!(epoch(&world, 2), None);
        assert!([0, 1, 3].iter().all(|place| epoch(&world, *place) == Some(2)), "restarted: {restarted}");
        world.check_blame();
    }
}

/// A copy of while a run was proposed or executed has the row that the node joined with, and no
/// peer has heads from after the run. Its messages of the run show that it came further: what it
/// took part in, which its book has forgotten, and what it staged and is prepared for.
#[test]
fn a_copy_from_within_a_run_is_noticed_although_its_heads_reached_no_peer() {
    for (phase, restarted) in [("proposed", false), ("proposed", true), ("executing", false), ("executing", true)] {
        let (mut world, older) = within_a_run(phase);
        calm_down(&mut world, "the second run");
        assert_eq!(world.epochs(), [2; SITES]);
        notices(&mut world, older, restarted, phase);
    }
}

/// The same where the run was given up after it had begun: it has opened totals over the rows.
#[test]
fn a_copy_from_before_a_run_that_was_given_up_is_noticed_too() {
    for restarted in [false, true] {
        let (mut world, older) = within_a_run("proposed");
        let opened = journaled(&world, 2, What::Disclosed).len();
        while journaled(&world, 2, What::Disclosed).len() == opened {
            world.step();
            world.approve_all();
        }
        world.command(1, &Command::Withdraw { operator: "olga".to_owned() }).unwrap().unwrap();
        calm_down(&mut world, "the second run");
        assert_eq!(world.epochs(), [1; SITES]);
        notices(&mut world, older, restarted, "given up");
    }
}

/// A world in which no heads from after a run arrive, and a copy of a site's folder from its second
/// run.
fn within_a_run(phase: &str) -> (World, Kept) {
    let mut world = World::new(37);
    world.step();
    publish_one(&mut world);
    world.loses = Some(|_, content| matches!(content, FrameContent::Standing(JournalMessage::After { .. })));
    world.propose(0, &[]);
    let known = |open: &Value| open["phase"] == phase && open["plan"].is_string();
    while !known(&status(&mut world, 2)["open"]) {
        world.step();
        if phase != "proposed" {
            world.approve_all();
        }
    }
    let older = copy_of(&world, 2);
    (world, older)
}

fn notices(world: &mut World, older: Kept, restarted: bool, what: &str) {
    for place in [0, 1, 3].into_iter().filter(|_| restarted) {
        let same = copy_of(world, place);
        restore(world, place, same);
    }
    pass(world, 100);
    world.stale = Some(2);
    restore(world, 2, older);
    pass(world, 1500);
    let why = status(world, 2)["replaced"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("run ") && why.contains("missing here"), "{what}, restarted: {restarted}: {why}");
    assert_eq!(epoch(world, 2), None);
    world.check_blame();
}

/// Answers of peers may be lost. What an older copy asks changes nothing of what they know.
#[test]
fn an_older_copy_is_noticed_although_its_first_questions_stay_without_an_answer() {
    let mut world = World::new(34);
    world.step();
    publish_one(&mut world);
    let older = copy_of(&world, 2);
    publish_one(&mut world);
    world.loses = Some(|to, content| to == 2 && matches!(content, FrameContent::Standing(_)));
    restore(&mut world, 2, older);
    pass(&mut world, 350);
    assert!(status(&mut world, 2)["replaced"].is_null());
    assert_eq!(epoch(&world, 2), None);
    world.loses = None;
    pass(&mut world, 250);
    assert!(status(&mut world, 2)["replaced"].is_string());
    // Nor does it forget that by restarts, each of which makes its journal longer.
    for _ in 0..40 {
        let same = copy_of(&world, 2);
        restore(&mut world, 2, same);
        assert!(status(&mut world, 2)["replaced"].is_string());
        pass(&mut world, 20);
    }
    assert_eq!(journaled(&world, 2, What::Replaced).len(), 1, "it is journaled once");
    assert_eq!(epoch(&world, 2), None);
}

/// The book of an older copy would permit what was refused since.
#[test]
fn no_step_begins_before_all_of_the_run_have_confirmed_the_journal() {
    let mut world = World::new(35);
    world.loses =
        Some(|to, content| to == 2 && matches!(content, FrameContent::Standing(JournalMessage::Known { .. })));
    world.step();
    world.propose(2, &[]);
    for _ in 0..300 {
        world.step();
        world.approve_all();
    }
    let open = status(&mut world, 2)["open"].take();
    assert_eq!((&open["phase"], &open["not_approved"]), (&json!("proposed"), &json!([])));
    assert!(journaled(&world, 2, What::Burned).is_empty());
    world.loses = None;
    calm_down(&mut world, "after the answers");
    assert_eq!(world.epochs(), [1; SITES]);
}

/// Only what the node itself has signed is looked up in its journal, and what peers sign of their
/// own does not fill it.
#[test]
fn invented_heads_lock_no_node_out_and_fill_no_journal() {
    let mut world = World::new(36);
    world.step();
    publish_one(&mut world);
    for rows in 1000..1300 {
        let heads = Heads { rows, journal: Hex([1; 32]), entries: 9, book: Hex([2; 32]) };
        let signed = Some(Box::new(Statement::Heads { heads }.sign(&signing(1))));
        world.inject(0, 1, FrameContent::Standing(JournalMessage::Known { signed, further: None }));
        world.inject(0, 1, FrameContent::Standing(JournalMessage::After { heads }));
    }
    assert!(status(&mut world, 0)["replaced"].is_null());
    assert_eq!(epoch(&world, 0), Some(1));
    let kept = world.sites[0].memory.0.lock().unwrap();
    let heads = kept.journal.iter().filter(|record| record.what == What::Kept && record.run.is_none());
    let of_one = heads.filter(|record| record.who == "site-1");
    assert_eq!(of_one.count(), 60, "in an hour");
}

/// A node's folder without its node.
struct Folder {
    federation: Federation,
    settings: Settings,
}

impl Folder {
    fn new() -> Folder {
        let federation = Federation::new(POLICY, &people(3), "");
        let settings = Settings::load(&federation.home("site-0").join("node.toml")).unwrap();
        Folder { federation, settings }
    }

    fn open(&self) -> Result<Disk, String> {
        let terms = Arc::new(Terms::load(&self.settings).unwrap());
        let signing = Arc::new(read_signing_key(&self.settings.signing_key).unwrap());
        Disk::open(&self.federation.data(0), terms, signing, false).map_err(|error| error.to_string())
    }

    fn sql(&self, text: &str) {
        let path = self.federation.data(0).join("journal.db");
        rusqlite::Connection::open(path).unwrap().execute_batch(text).unwrap();
    }

    /// The verification by `hedgerow-node journal`.
    fn read(&self) -> Result<u64, String> {
        let key = read_signing_key(&self.settings.signing_key).unwrap().public();
        let read = read_signed_journal(&self.federation.data(0), &key, |_| Ok(()));
        read.map(|(rows, _)| rows).map_err(|error| error.to_string())
    }
}

fn opened() -> Record {
    let (who, detail) = ("site-0".to_owned(), json!({}).into());
    Record { at: 1_700_000_000_000, what: What::Opened, run: None, who, detail }
}

/// The journal as it was before its head was signed: without the table `head`. One with rows is
/// refused, and the message says what it is; an empty one goes on.
#[test]
fn a_journal_of_before_signatures_is_refused_by_that_name() {
    let folder = Folder::new();
    drop(folder.open().unwrap());
    folder.sql("DROP TABLE head");
    folder.open().unwrap().append(&[opened(), opened()]).unwrap();
    assert_eq!(folder.read(), Ok(2));
    folder.sql("DROP TABLE head");
    for refused in [folder.read().unwrap_err(), folder.open().unwrap_err(), folder.open().unwrap_err()] {
        assert!(refused.contains("2 rows without a signed head: a version of before signatures"), "{refused}");
        assert!(refused.contains("operating.md"), "{refused}");
    }
}

/// A program that was put back to an older version meets an event that it does not know.
#[test]
fn a_journal_of_a_later_version_is_refused_by_that_name() {
    let folder = Folder::new();
    folder.open().unwrap().append(&[opened()]).unwrap();
    let insert = |what: &str, detail: &str| {
        // A later version hashes its rows as this one does.
        let first = chain(&Hex([0; 32]), 1, &opened());
        let mut hash = <sha2::Sha256 as sha2::Digest>::new();
        let mut add = |bytes: &[u8]| sha2::Digest::update(&mut hash, bytes);
        add(b"hedgerow journal 1");
        add(&first.0);
        add(&2u64.to_le_bytes());
        add(&1_700_000_000_000u64.to_le_bytes());
        for text in [what, "", "site-0", "{}"] {
            add(&(text.len() as u64).to_le_bytes());
            add(text.as_bytes());
        }
        let hash = Hex::<32>(sha2::Digest::finalize(hash).into());
        folder.sql(&format!(
            "DELETE FROM journal WHERE number = 2; INSERT INTO journal SELECT 2, at_ms, at, '{what}', run, who, \
             '{detail}', '{hash}' FROM journal WHERE number = 1"
        ));
        folder.open().unwrap_err()
    };
    let later = insert("remembered", "{}");
    assert!(later.contains("row 2 is of a kind that this version does not know (`remembered`)"), "{later}");
    assert!(later.contains("a later version of the program wrote it"), "{later}");
    let changed = insert("remembered", "{ }");
    assert!(changed.contains("row 2 was changed, removed or inserted"), "{changed}");
}

/// The journal is gone and a release of former times is still there: the run ends before any
/// custodian publishes, and the former release stays as it was.
#[test]
fn a_release_that_the_journal_does_not_know_is_not_taken_for_the_next_epoch() {
    let mut federation = Federation::new(POLICY, &people(3), "deadlines = { silence-s = 6, handshake-s = 3 }\n");
    let former = federation.data(1).join("epochs/1/release");
    fs::create_dir_all(&former).unwrap();
    fs::write(former.join("data.csv"), "of former times").unwrap();
    (0..3).for_each(|place| federation.start(place));
    for (place, ending) in federation.run(0).iter().enumerate() {
        assert_eq!(ending["ended"], "aborted", "{ending}");
        let why = ending["why"].as_str().unwrap();
        assert!(place != 1 || why.contains("an epoch 1 already, which its journal does not know"), "{ending}");
        assert!(ending["blamed"].is_null(), "{ending}");
    }
    let epochs = |place: usize| fs::read_dir(federation.data(place).join("epochs")).unwrap().count();
    assert_eq!([epochs(0), epochs(1), epochs(2)], [0, 1, 0]);
    assert_eq!(fs::read_to_string(former.join("data.csv")).unwrap(), "of former times");
    fs::rename(federation.data(1).join("epochs/1"), federation.home("site-1").join("former")).unwrap();
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    assert_ne!(fs::read_to_string(former.join("data.csv")).unwrap(), "of former times");
}
