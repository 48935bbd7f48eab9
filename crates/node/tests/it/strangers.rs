//! Clients that are rejected, and messages that are refused: the node goes on.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::keys::{Authority, Issued, read_signing_key, write_new};
use hedgerow_node::message::{FRAME_VERSION, Frame, FrameContent, Hex, Note, Proposal};
use hedgerow_node::operator::Request;
use hedgerow_node::settings::Settings;
use hedgerow_node::tls::Tls;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::federation::{Federation, POLICY, people};

const NARROW: &str = "deadlines = { silence-s = 4, handshake-s = 2 }\n\
                      limits = { connections = 24, message-bytes = 1048576 }\n";

pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A connection to a site with the keys in a folder; an error when it is refused, also when that is
/// only seen at the first byte.
pub(crate) fn connect(settings: &Settings, port: u16) -> Result<Stream, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let tls = Tls::new(settings).map_err(|error| text(&error))?;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| text(&error))?;
    stream.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
    let name = ServerName::try_from("site-0").unwrap();
    let mut conn = ClientConnection::new(Arc::clone(&tls.client), name).map_err(|error| text(&error))?;
    while conn.is_handshaking() {
        conn.complete_io(&mut stream).map_err(|error| text(&error))?;
    }
    let mut stream = StreamOwned::new(conn, stream);
    // The server judges our certificate after we have finished: silence means that it is content.
    match stream.read(&mut [0]) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            Ok(stream)
        }
        Ok(_) => Err("closed".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn settings(folder: &Path) -> Settings {
    Settings::load(&folder.join("node.toml")).unwrap()
}

fn wait_for_rejection(federation: &Federation, why: &str) {
    // A sender that is idle notices the end of its connection after two signs of life.
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let mut found = false;
        read_journal(&federation.data(0), |line| {
            let rejected = line.record.what == What::Rejected;
            found |= rejected && line.record.detail.value()["why"].as_str().is_some_and(|text| text.contains(why));
            Ok(())
        })
        .unwrap();
        if found {
            return;
        }
        assert!(Instant::now() < until, "no rejection for: {why}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn strangers_and_garbage_are_turned_away_and_the_node_goes_on() {
    let federation = Federation::started(POLICY, &people(3), NARROW);
    federation.status(0);
    let port = federation.ports[0];

    // Plain text.
    let mut plain = TcpStream::connect(("127.0.0.1", port)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let _ = plain.read_to_end(&mut Vec::new());
    wait_for_rejection(&federation, "no handshake");

    // A client that sends nothing.
    let _silent = TcpStream::connect(("127.0.0.1", port)).unwrap();
    wait_for_rejection(&federation, "no handshake");

    // A certificate of another authority, with the right name.
    let own = settings(&federation.home("site-1"));
    let folder = tempfile::tempdir().unwrap();
    let forged = Authority::new().unwrap().issue("site-1").unwrap();
    write_new(&folder.path().join("certificate"), &forged.certificate, false).unwrap();
    write_new(&folder.path().join("key"), &forged.key, true).unwrap();
    let (certificate, key) = (folder.path().join("certificate"), folder.path().join("key"));
    let stranger = Settings { certificate, key, ..own.clone() };
    assert!(connect(&stranger, port).is_err());

    // An analyst's certificate: the connection ends before a frame is read.
    let home = federation.home("analyst");
    let analyst = Settings {
        certificate: home.join("certificate.pem"),
        key: home.join("private.key"),
        authority: home.join("authority.pem"),
        ..own.clone()
    };
    assert!(connect(&analyst, port).is_err());
    wait_for_rejection(&federation, "an analyst takes no part");
    let proposal =
        Proposal { run: Hex([9; 16]), epoch: 1, terms: Hex([0; 32]), roster: Vec::new(), by: "analyst".to_owned() };
    let signing = read_signing_key(&own.signing_key).unwrap();
    let signed = |content: FrameContent| Frame::sign(content, &signing);
    let propose = Note::Propose { proposal: proposal.clone(), previous: None };

    // A peer that names unknown runs and questions, repeatedly.
    let mut peer = connect(&own, port).unwrap();
    for _ in 0..3 {
        signed(FrameContent::Note(propose.clone())).write(&mut peer).unwrap();
        signed(FrameContent::Note(Note::Approved { run: Hex([8; 16]), plan: Hex([0; 32]) })).write(&mut peer).unwrap();
        signed(FrameContent::Step(vec![2; 500])).write(&mut peer).unwrap();
        signed(FrameContent::Step(Vec::new())).write(&mut peer).unwrap();
    }
    // A message of 4 GiB, and a malformed one.
    peer.write_all(&[0xff; 4]).unwrap();
    peer.flush().unwrap();
    wait_for_rejection(&federation, "a message of 4294967295 bytes, but at most");
    let mut peer = connect(&own, port).unwrap();
    // Of a later version, on a connection that stays: its node was upgraded before the others.
    let mut later = signed(FrameContent::Note(propose)).encode();
    later[4] = FRAME_VERSION + 1;
    peer.write_all(&later).unwrap();
    peer.flush().unwrap();
    let versions = format!("messages of version {}, and this node speaks version {FRAME_VERSION}", FRAME_VERSION + 1);
    wait_for_rejection(&federation, &versions);
    let proposal = Proposal { run: Hex([7; 16]), ..proposal };
    signed(FrameContent::Note(Note::Propose { proposal, previous: None })).write(&mut peer).unwrap();
    federation.until(0, "a refusal", |status| {
        let refused = |ending: &serde_json::Value| ending["run"] == Hex([7u8; 16]).to_string();
        status["ended"].as_array().is_some_and(|ended| ended.iter().any(refused)).then_some(())
    });
    peer.write_all(&[2, 0, 0, 0, FRAME_VERSION, 77]).unwrap();
    peer.flush().unwrap();
    wait_for_rejection(&federation, "a malformed message");

    // Ten thousand connections, more at a time than are taken.
    for _ in 0..50 {
        let many: Vec<TcpStream> = (0..200).filter_map(|_| TcpStream::connect(("127.0.0.1", port)).ok()).collect();
        assert!(!many.is_empty(), "the node no longer listens");
    }
    wait_for_rejection(&federation, "too many connections without a handshake");

    let endings = federation.run(0);
    assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:#?}");
    let known = |ending: &serde_json::Value| ending["run"] == Hex([9u8; 16]).to_string();
    let ended = federation.status(0)["ended"].as_array().unwrap().clone();
    assert!(ended.iter().any(|ending| known(ending) && ending["ended"] == "aborted"), "{ended:?}");
    assert_eq!(ended.len(), 3, "a note about an unknown run leaves nothing behind: {ended:?}");
}

/// Sockets that send one byte of a handshake now and then, many more than there are places: peers
/// connect and a run is published, and every such socket ends by the deadline.
#[test]
fn dripping_connections_do_not_keep_peers_out() {
    let more = "deadlines = { silence-s = 20, handshake-s = 2 }\nlimits = { connections = 16 }\n";
    let mut federation = Federation::new(POLICY, &people(3), more);
    let port = federation.ports[0];
    federation.start(0);
    federation.status(0);
    let stop = Arc::new(AtomicBool::new(false));
    let dripping = Arc::clone(&stop);
    let attacker = std::thread::spawn(move || {
        // The beginning of a TLS record of 16 kB.
        let record = [0x16, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb, 3, 3];
        let mut sockets: Vec<(Instant, usize, TcpStream)> = Vec::new();
        let mut longest = Duration::ZERO;
        while !dripping.load(Ordering::SeqCst) {
            while sockets.len() < 64 {
                let Ok(socket) = TcpStream::connect(("127.0.0.1", port)) else { break };
                sockets.push((Instant::now(), 0, socket));
            }
            sockets.retain_mut(|(began, sent, socket)| {
                let alive = socket.write_all(&[record.get(*sent).copied().unwrap_or(0)]).is_ok();
                *sent += 1;
                longest = longest.max(if alive { began.elapsed() } else { Duration::ZERO });
                alive
            });
            std::thread::sleep(Duration::from_millis(150));
        }
        longest
    });
    std::thread::sleep(Duration::from_millis(500));
    // The others have to connect while all places are contested.
    federation.start(1);
    federation.start(2);
    let endings = federation.run(1);
    assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:#?}");
    std::thread::sleep(Duration::from_millis(2500));
    stop.store(true, Ordering::SeqCst);
    let longest = attacker.join().unwrap();
    assert!(longest < Duration::from_secs(5), "a socket lived for {longest:?}");
    wait_for_rejection(&federation, "handshake");
}

/// A peer is added, a certificate revoked and a key replaced while the node runs.
#[test]
fn settings_certificates_and_revocations_are_reloaded() {
    let mut federation = Federation::new(POLICY, &people(4), "deadlines = { silence-s = 10, handshake-s = 3 }\n");
    let mut authority = Authority::new().unwrap();
    let names = ["site-0", "site-1", "site-2", "site-3", "analyst"];
    let mut issued: Vec<Issued> = names.iter().map(|name| authority.issue(name).unwrap()).collect();
    for (name, own) in names.iter().zip(&issued) {
        install(&federation.home(name), &authority.pem(), own);
    }
    // At first the fourth site is not known to the others.
    for place in 0..4 {
        let known = if place < 3 { &names[..3] } else { &names[..4] };
        pin(&federation, place, known, &names, &issued);
    }
    (0..3).for_each(|place| federation.start(place));
    assert!(federation.run_at(0, 3).iter().all(|ending| ending["ended"] == "published"));

    // Added between two epochs.
    for place in 0..3 {
        pin(&federation, place, &names[..4], &names, &issued);
        let changes = federation.reload(place).unwrap();
        assert_eq!(changes["added"][0], "site-3", "{changes}");
    }
    federation.start(3);
    // Another plan over the same rows: every operator is shown what both answers tell, and insists.
    let endings = federation.run_insisting(1, 4, true);
    assert_eq!(endings.len(), 4);
    assert!(endings.iter().all(|ending| ending["ended"] == "published" && ending["epoch"] == 2), "{endings:#?}");

    // A new key, while no run is open.
    issued[2] = authority.issue("site-2").unwrap();
    install(&federation.home("site-2"), &authority.pem(), &issued[2]);
    for place in 0..4 {
        pin(&federation, place, &names[..4], &names, &issued);
        federation.reload(place).unwrap();
    }
    assert!(federation.run_insisting(2, 4, true).iter().all(|ending| ending["ended"] == "published"));

    // Custodians do not change while a run is open.
    let run = federation.propose(0);
    federation.plan(0, &run);
    pin(&federation, 0, &names[..3], &names, &issued);
    let refused = federation.reload(0).unwrap_err();
    assert!(refused.contains("between runs"), "{refused}");
    federation.ask(0, &Request::Withdraw { operator: "tester".to_owned() }).unwrap();
    federation.ending(0, &run);

    // A certificate is revoked: its connection ends, and no other does.
    let home = federation.home("site-0");
    fs::write(home.join("revoked.pem"), authority.revoke(&[&issued[3]]).unwrap()).unwrap();
    let text = fs::read_to_string(home.join("node.toml")).unwrap();
    fs::write(home.join("node.toml"), format!("revoked = \"revoked.pem\"\n{text}")).unwrap();
    pin(&federation, 0, &names[..4], &names, &issued);
    federation.reload(0).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let peers = federation.status(0)["peers"].as_array().unwrap().clone();
        let up = |name: &str| peers.iter().any(|peer| peer["name"] == name && peer["connected"] == true);
        if up("site-1") && up("site-2") && !up("site-3") {
            break;
        }
        assert!(Instant::now() < until, "{peers:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    // It notices when it has something to say, and is not let in again.
    let request = |request: Request| federation.ask(3, &request);
    let _ = request(Request::Propose { operator: "tester".to_owned(), without: Vec::new() });
    wait_for_rejection(&federation, "Revoked");
    let _ = request(Request::Withdraw { operator: "tester".to_owned() });

    // Removed between two epochs: the next one is published without it.
    for place in 0..3 {
        federation.until(place, "quiet", |status| status["open"].is_null().then_some(()));
        pin(&federation, place, &names[..3], &names, &issued);
        let changes = federation.reload(place).unwrap();
        assert_eq!(changes["removed"][0], "site-3", "{changes}");
    }
    let endings = federation.run_insisting(1, 3, true);
    assert!(endings.iter().all(|ending| ending["ended"] == "published" && ending["epoch"] == 4), "{endings:#?}");
    assert_eq!(federation.status(3)["epoch"], 3, "it keeps the epochs that it took part in");

    // Settings that cannot be read, or that change what was agreed on, leave everything as it is.
    let text = fs::read_to_string(home.join("node.toml")).unwrap();
    fs::write(home.join("node.toml"), format!("nonsense = 1\n{text}")).unwrap();
    assert!(federation.reload(0).unwrap_err().contains("nonsense"));
    fs::write(home.join("node.toml"), format!("rows = \"apart\"\n{text}")).unwrap();
    assert!(federation.reload(0).unwrap_err().contains("`rows` cannot change"));
    federation.status(0);
}

/// The files of a party.
fn install(home: &Path, authority: &str, own: &Issued) {
    for (file, text) in [("authority.pem", authority), ("certificate.pem", &own.certificate), ("private.key", &own.key)]
    {
        fs::write(home.join(file), text).unwrap();
    }
}

/// Rewrites the peers in a site's settings.
fn pin(federation: &Federation, place: usize, known: &[&str], names: &[&str], issued: &[Issued]) {
    let path = federation.home(names[place]).join("node.toml");
    let text = fs::read_to_string(&path).unwrap();
    let (own, _) = text.split_once("[[peer]]").unwrap();
    let mut text = own.to_owned();
    for (other, name) in names.iter().enumerate().filter(|(other, name)| *other != place && known.contains(name)) {
        let key = hedgerow_node::hex::encode(&issued[other].fingerprint);
        let signing = read_signing_key(&federation.home(name).join("signing.key")).unwrap();
        let (port, signing) = (federation.ports[other], hedgerow_node::hex::encode(&signing.public()));
        text.push_str(&format!(
            "[[peer]]\nname = \"{name}\"\nkey = \"{key}\"\nsigning-key = \"{signing}\"\naddress = \"127.0.0.1:{port}\"\n"
        ));
    }
    fs::write(&path, text).unwrap();
}

#[test]
fn a_revoked_certificate_and_one_without_a_pinned_key_are_refused() {
    let mut federation =
        Federation::new(POLICY, &people(3), "revoked = \"revoked.pem\"\ndeadlines = { handshake-s = 2 }\n");
    // The authority of a trial is not kept: here another one issues everything anew.
    let mut authority = Authority::new().unwrap();
    let names = ["site-0", "site-1", "site-2", "analyst"];
    let issued: Vec<_> = names.iter().map(|name| authority.issue(name).unwrap()).collect();
    let revoked = authority.revoke(&[&issued[2]]).unwrap();
    let unknown = authority.issue("site-1").unwrap();
    for (name, own) in names.iter().zip(&issued) {
        let home = federation.home(name);
        let files = [("authority.pem", authority.pem()), ("certificate.pem", own.certificate.clone())];
        let files = files.into_iter().chain([("private.key", own.key.clone()), ("revoked.pem", revoked.clone())]);
        files.for_each(|(file, text)| fs::write(home.join(file), text).unwrap());
        if home.join("node.toml").exists() {
            let text = fs::read_to_string(home.join("node.toml")).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut named = None;
            for line in &mut lines {
                if let Some(peer) = named.filter(|_| line.starts_with("key")) {
                    let issued: &Issued = &issued[peer];
                    *line = format!("key = \"{}\"", hedgerow_node::hex::encode(&issued.fingerprint));
                }
                named = names.iter().position(|other| *line == format!("name = \"{other}\""));
            }
            fs::write(home.join("node.toml"), lines.join("\n")).unwrap();
        }
    }
    federation.start(0);
    federation.status(0);
    let port = federation.ports[0];
    assert!(connect(&settings(&federation.home("site-1")), port).is_ok());
    assert!(connect(&settings(&federation.home("site-2")), port).is_err(), "revoked");
    wait_for_rejection(&federation, "Revoked");
    let folder = tempfile::tempdir().unwrap();
    write_new(&folder.path().join("certificate"), &unknown.certificate, false).unwrap();
    write_new(&folder.path().join("key"), &unknown.key, true).unwrap();
    let (certificate, key) = (folder.path().join("certificate"), folder.path().join("key"));
    let other = Settings { certificate, key, ..settings(&federation.home("site-1")) };
    assert!(connect(&other, port).is_err(), "the authority's, with the right name, but not the pinned key");
    wait_for_rejection(&federation, "not the key of any peer");
}

#[test]
fn a_private_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let federation = Federation::new(POLICY, &people(3), "");
    let key = federation.home("site-0").join("private.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = Tls::new(&settings(&federation.home("site-0"))).unwrap_err().to_string();
    assert!(refused.contains("chmod 600"), "{refused}");
}

/// Passes on what goes between two nodes, and keeps a copy.
fn tap(to: u16) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let copy = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&copy);
    let pass = |mut from: TcpStream, mut to: TcpStream, copy: Arc<Mutex<Vec<u8>>>| {
        std::thread::spawn(move || {
            let mut bytes = [0; 1 << 14];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                copy.lock().unwrap().extend_from_slice(&bytes[..read]);
                if to.write_all(&bytes[..read]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(std::net::Shutdown::Both);
        });
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(other) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            pass(stream.try_clone().unwrap(), other.try_clone().unwrap(), Arc::clone(&kept));
            pass(other, stream, Arc::clone(&kept));
        }
    });
    (port, copy)
}

#[test]
fn a_recording_of_the_wire_has_no_readable_text() {
    let mut federation = Federation::new(POLICY, &people(3), "");
    let (port, copy) = tap(federation.ports[0]);
    let path = federation.home("site-1").join("node.toml");
    let text = fs::read_to_string(&path).unwrap();
    let direct = format!("127.0.0.1:{}", federation.ports[0]);
    assert!(text.contains(&direct));
    fs::write(&path, text.replace(&direct, &format!("127.0.0.1:{port}"))).unwrap();
    (0..3).for_each(|place| federation.start(place));
    let endings = federation.run(1);
    assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:#?}");
    let copy = copy.lock().unwrap();
    assert!(copy.len() > 10_000, "{} bytes were recorded", copy.len());
    for word in ["Canary", "female", "asthma", "propose", "commitment"] {
        assert!(!copy.windows(word.len()).any(|window| window == word.as_bytes()), "{word}");
    }
}
