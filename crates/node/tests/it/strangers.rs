//! Who is not let in, and what is not taken: the node goes on.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::keys::{Authority, Issued, write_new};
use hedgerow_node::message::{Frame, Hex, Note, Proposal};
use hedgerow_node::settings::Settings;
use hedgerow_node::tls::Tls;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::federation::{Federation, POLICY, people};

const NARROW: &str = "deadlines = { silence-s = 4, handshake-s = 2 }\n\
                      limits = { connections = 24, message-bytes = 1048576 }\n";

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A connection to a site with the keys in a folder; an error when it is refused, also when that is
/// only seen at the first byte.
fn connect(settings: &Settings, port: u16) -> Result<Stream, String> {
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

fn settings(folder: &Path) -> Settings {
    Settings::load(&folder.join("node.toml")).unwrap()
}

fn wait_for_rejection(federation: &Federation, why: &str) {
    let until = Instant::now() + Duration::from_secs(20);
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

    // Somebody who says nothing.
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

    // An analyst who proposes a run.
    let home = federation.home("analyst");
    let analyst = Settings {
        certificate: home.join("certificate.pem"),
        key: home.join("private.key"),
        authority: home.join("authority.pem"),
        ..own.clone()
    };
    let mut stream = connect(&analyst, port).unwrap();
    let proposal =
        Proposal { run: Hex([9; 16]), epoch: 1, terms: Hex([0; 32]), roster: Vec::new(), by: "analyst".to_owned() };
    Frame::Note(Note::Propose { proposal: proposal.clone() }).write(&mut stream).unwrap();
    wait_for_rejection(&federation, "an analyst takes no part");

    // A peer that speaks of what there is not, and repeats it.
    let mut peer = connect(&own, port).unwrap();
    for _ in 0..3 {
        Frame::Note(Note::Propose { proposal: proposal.clone() }).write(&mut peer).unwrap();
        Frame::Note(Note::Published { run: Hex([8; 16]) }).write(&mut peer).unwrap();
        Frame::Step(vec![2; 500]).write(&mut peer).unwrap();
        Frame::Step(Vec::new()).write(&mut peer).unwrap();
    }
    // A message of 4 GiB, and one that is none.
    peer.write_all(&[0xff; 4]).unwrap();
    peer.flush().unwrap();
    wait_for_rejection(&federation, "a message of 4294967295 bytes, but at most");
    let mut peer = connect(&own, port).unwrap();
    peer.write_all(&[2, 0, 0, 0, 77, 77]).unwrap();
    peer.flush().unwrap();
    wait_for_rejection(&federation, "a message that is none of ours");

    // Ten thousand connections, more at a time than are taken.
    for _ in 0..50 {
        let many: Vec<TcpStream> = (0..200).filter_map(|_| TcpStream::connect(("127.0.0.1", port)).ok()).collect();
        assert!(!many.is_empty(), "the node no longer listens");
    }
    wait_for_rejection(&federation, "too many connections");

    let endings = federation.run(0);
    assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:#?}");
    let known = |ending: &serde_json::Value| ending["run"] == Hex([9u8; 16]).to_string();
    let ended = federation.status(0)["ended"].as_array().unwrap().clone();
    assert!(ended.iter().any(|ending| known(ending) && ending["ended"] == "aborted"), "{ended:?}");
    assert_eq!(ended.len(), 2, "a note about an unknown run leaves nothing behind: {ended:?}");
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
fn whoever_records_the_wire_has_nothing_to_read() {
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
