//! A pin stays: the key of a peer or an auditor, and the epoch of a transaction.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_node::Verifier;
use hedgerow_node::demo::free_ports;
use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::settings::Settings;
use hedgerow_node::tls::Tls;
use postgres::{Client, NoTls, SimpleQueryMessage};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::federation::{Federation, POLICY, people};

const QUICK: &str = "deadlines = { silence-s = 6, handshake-s = 3 }\n";

/// Another node of the same authority answers at the address: it is not the one that was pinned.
#[test]
fn a_node_does_not_speak_to_a_peer_with_another_key_than_the_pinned_one() {
    let mut federation = Federation::new(POLICY, &people(3), QUICK);
    let path = federation.home("site-0").join("node.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let at = settings.find("name = \"site-1\"").unwrap();
    let key = settings[at..].find("key = \"").unwrap() + at + "key = \"".len();
    let wrong = format!("{}{}{}", &settings[..key], "ab".repeat(32), &settings[key + 64..]);
    fs::write(&path, wrong).unwrap();
    (0..3).for_each(|place| federation.start(place));
    let connected = |name: &str| {
        let status = federation.status(0);
        let peers = status["peers"].as_array().unwrap().clone();
        peers.iter().any(|peer| peer["name"] == name && peer["connected"] == true)
    };
    let until = Instant::now() + Duration::from_secs(60);
    while !connected("site-2") {
        assert!(Instant::now() < until, "site 2 is not reached");
        std::thread::sleep(Duration::from_millis(50));
    }
    while !federation.log(0).contains("another key than the one that is pinned") {
        assert!(Instant::now() < until, "site 1 is not tried");
        assert!(!connected("site-1"), "a peer with another key");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!connected("site-1"), "a peer with another key");
}

fn first(client: &mut Client, sql: &str) -> String {
    let rows = client.simple_query(sql).unwrap();
    let cell = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    cell.unwrap_or_default()
}

/// The epochs of all statements in a node's journal.
fn queried(federation: &Federation) -> Vec<u64> {
    let mut epochs = Vec::new();
    read_journal(&federation.data(0), |line| {
        if line.record.what == What::Queried {
            epochs.push(line.record.detail.value()["epoch"].as_u64().unwrap());
        }
        Ok(())
    })
    .unwrap();
    epochs
}

#[test]
fn a_transaction_sees_one_epoch_and_a_chosen_epoch_is_the_one_that_answers() {
    let mut federation = Federation::new(POLICY, &people(3), QUICK);
    let port = free_ports(1).unwrap()[0];
    let (password, verifier) = Verifier::generate().unwrap();
    let path = federation.home("site-0").join("node.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let analyst = format!("[[analyst]]\nname = \"ada\"\nverifier = \"{verifier}\"\n");
    fs::write(&path, format!("endpoint = {{ listen = \"127.0.0.1:{port}\" }}\n{settings}\n{analyst}")).unwrap();
    (0..3).for_each(|place| federation.start(place));
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    federation.until(0, "the first epoch", |status| (status["epoch"] == 1).then_some(()));
    let mut config = postgres::Config::new();
    config.host("127.0.0.1").port(port).user("ada").password(&password).dbname("hedgerow");
    let mut client = config.connect(NoTls).unwrap();
    let count = "SELECT COUNT(*) FROM data";
    client.simple_query("BEGIN").unwrap();
    first(&mut client, count);
    assert!(federation.run(1).iter().all(|ending| ending["ended"] == "published"));
    federation.until(0, "the second epoch", |status| (status["epoch"] == 2).then_some(()));
    first(&mut client, count);
    assert_eq!(first(&mut client, "SHOW hedgerow.epoch"), "1");
    client.simple_query("COMMIT").unwrap();
    first(&mut client, count);
    client.simple_query("SET hedgerow.epoch = 1").unwrap();
    first(&mut client, count);
    assert!(client.simple_query("SET hedgerow.epoch = 3").and_then(|_| client.simple_query(count)).is_err());
    drop(client);
    federation.stop(0);
    assert_eq!(queried(&federation), [1, 1, 2, 1]);
}

/// The first answer of the endpoint to a client that names itself `user`, plain or with the
/// certificate in a folder: the kind of the message, and the first number in it.
fn first_answer(port: u16, user: &str, certified: Option<&Settings>) -> (u8, u32) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let parameters = format!("user\0{user}\0database\0hedgerow\0\0");
    let mut startup = (8 + parameters.len() as u32).to_be_bytes().to_vec();
    startup.extend(196_608u32.to_be_bytes());
    startup.extend(parameters.as_bytes());
    let answer = |stream: &mut dyn ReadWrite| {
        stream.write_all(&startup).unwrap();
        stream.flush().unwrap();
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        (head[0], u32::from_be_bytes([head[5], head[6], head[7], head[8]]))
    };
    let Some(settings) = certified else { return answer(&mut stream) };
    stream.write_all(&[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]).unwrap();
    let mut agreed = [0];
    stream.read_exact(&mut agreed).unwrap();
    assert_eq!(&agreed, b"S");
    let tls = Tls::new(settings).unwrap();
    let name = ServerName::try_from("site-0").unwrap();
    let conn = ClientConnection::new(Arc::clone(&tls.client), name).unwrap();
    answer(&mut StreamOwned::new(conn, stream))
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

const AUTHENTICATION: u8 = b'R';

#[test]
fn another_partys_certificate_under_the_auditors_name_and_plain_text_from_afar_open_nothing() {
    let mut federation = Federation::new(POLICY, &people(3), QUICK);
    let ports = free_ports(2).unwrap();
    for (site, listen) in [("site-0", format!("127.0.0.1:{}", ports[0])), ("site-1", format!("0.0.0.0:{}", ports[1]))] {
        let path = federation.home(site).join("node.toml");
        let settings = fs::read_to_string(&path).unwrap().replace("role = \"analyst\"", "role = \"auditor\"");
        fs::write(&path, format!("endpoint = {{ listen = \"{listen}\" }}\n{settings}")).unwrap();
    }
    (0..2).for_each(|place| federation.start(place));
    (0..2).for_each(|place| drop(federation.status(place)));
    let custodian = Settings::load(&federation.home("site-2").join("node.toml")).unwrap();
    let home = federation.home("analyst");
    let auditor = Settings {
        certificate: home.join("certificate.pem"),
        key: home.join("private.key"),
        authority: home.join("authority.pem"),
        ..custodian.clone()
    };
    assert_eq!(first_answer(ports[0], "analyst", Some(&auditor)), (AUTHENTICATION, 0), "its own certificate");
    let other = first_answer(ports[0], "analyst", Some(&custodian));
    assert_ne!(other, (AUTHENTICATION, 0), "the certificate of another party");
    // On this machine plain text is answered; where the endpoint listens to others, it is refused.
    assert_eq!(first_answer(ports[0], "stranger", None).0, AUTHENTICATION);
    assert_eq!(first_answer(ports[1], "stranger", None).0, b'E', "plain text");
}
