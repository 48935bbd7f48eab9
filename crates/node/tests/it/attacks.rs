//! Attacks on the endpoint: strangers who hold connections, guess passwords and look for names, and
//! analysts who take memory and time. The endpoint goes on for all others.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::NoTls;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::analysts::{Endpoint, assert_same, binary, code, simple};
use crate::raw::{Attempt, Raw, text};

/// Sockets that send a byte now and then, more of them than there are places: an analyst connects
/// all the same, and no such socket lives longer than the deadline of a handshake.
#[test]
fn dripping_connections_do_not_keep_analysts_out() {
    let endpoint = Endpoint::new(", connections = 4");
    let address = ("127.0.0.1", endpoint.port);
    let stop = Arc::new(AtomicBool::new(false));
    let dripping = Arc::clone(&stop);
    let attacker = thread::spawn(move || {
        // The beginning of a first message of 8000 bytes, then its content, byte after byte.
        let message = [0, 0, 0x1f, 0x40, 0, 3, 0, 0];
        let mut sockets: Vec<(Instant, usize, TcpStream)> = Vec::new();
        let (mut opened, mut longest) = (0, Duration::ZERO);
        while !dripping.load(Ordering::SeqCst) {
            while sockets.len() < 100 {
                let Ok(socket) = TcpStream::connect(address) else { break };
                sockets.push((Instant::now(), 0, socket));
                opened += 1;
            }
            sockets.retain_mut(|(began, sent, socket)| {
                let alive = socket.write_all(&[message.get(*sent).copied().unwrap_or(b'a')]).is_ok();
                *sent += 1;
                longest = longest.max(if alive { began.elapsed() } else { Duration::ZERO });
                alive
            });
            thread::sleep(Duration::from_millis(100));
        }
        (opened, longest)
    });
    thread::sleep(Duration::from_millis(500));
    for _ in 0..5 {
        // From the attacker's own address a connection may have to give way to newer ones.
        let began = Instant::now();
        let mut client = loop {
            match endpoint.config().connect(NoTls) {
                Ok(client) => break client,
                Err(error) => assert!(began.elapsed() < Duration::from_secs(10), "locked out: {error}"),
            }
        };
        assert_eq!(simple(&mut client, "SELECT COUNT(*) FROM data").unwrap().len(), 1);
        thread::sleep(Duration::from_millis(500));
    }
    assert!(endpoint.endpoint.load().unauthenticated <= 64);
    stop.store(true, Ordering::SeqCst);
    let (opened, longest) = attacker.join().unwrap();
    assert!(opened > 100, "{opened} sockets");
    // The deadline is two seconds.
    assert!(longest < Duration::from_secs(4), "a socket lived for {longest:?}");
}

/// Whether a name exists, and in which way it is known, shows in no answer; and a decoy
/// salt stays the same after a restart.
#[test]
fn names_cannot_be_distinguished() {
    let endpoint = Endpoint::new("");
    let attempt = |user: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", endpoint.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let parameters = format!("user\0{user}\0database\0hedgerow\0\0");
        let mut first = ((parameters.len() + 8) as u32).to_be_bytes().to_vec();
        first.extend([0, 3, 0, 0]);
        first.extend(parameters.as_bytes());
        stream.write_all(&first).unwrap();
        let message = |stream: &mut TcpStream| {
            let mut head = [0; 5];
            stream.read_exact(&mut head).unwrap();
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            (head[0], body)
        };
        let offered = message(&mut stream);
        let client = b"n,,n=,r=abcde";
        let mut answer = b"SCRAM-SHA-256\0".to_vec();
        answer.extend((client.len() as u32).to_be_bytes());
        answer.extend(client);
        stream.write_all(b"p").unwrap();
        stream.write_all(&((answer.len() + 4) as u32).to_be_bytes()).unwrap();
        stream.write_all(&answer).unwrap();
        let (kind, server) = message(&mut stream);
        assert_eq!(kind, b'R');
        let server = String::from_utf8(server[4..].to_vec()).unwrap();
        let salt = server.split(',').find(|part| part.starts_with("s=")).unwrap().to_owned();
        let iterations = server.split(',').find(|part| part.starts_with("i=")).unwrap().to_owned();
        stream.write_all(b"p\0\0\0\x0ac=b,p=").unwrap();
        (offered, salt.len(), iterations, salt, message(&mut stream))
    };
    let (offered, length, iterations, _, refused) = attempt("ada");
    // `bob` is known by a certificate, `mallory` is not known at all.
    for user in ["bob", "eve", "mallory"] {
        let found = attempt(user);
        assert_eq!((&found.0, found.1, &found.2, &found.4), (&offered, length, &iterations, &refused), "{user}");
        assert_eq!(attempt(user).3, found.3, "{user}: the same salt again");
    }
    let secret = fs::read_to_string(endpoint.data().join("decoy")).unwrap();
    assert_eq!(secret.len(), 64, "the salts' secret is kept");
}

#[test]
fn wrong_passwords_are_slowed_down() {
    let endpoint = Endpoint::new("");
    let wrong = || {
        let error = endpoint.config().password("guess").connect(NoTls).map(|_| ()).unwrap_err();
        error.as_db_error().unwrap().message().to_owned()
    };
    let answers: Vec<String> = (0..10).map(|_| wrong()).collect();
    assert!(answers[..3].iter().all(|message| message.contains("is wrong")), "{answers:?}");
    let waits = answers.iter().filter(|message| message.contains("too many wrong passwords")).count();
    assert!(waits >= 5, "{answers:?}");
    assert!(endpoint.rejections.take().iter().any(|rejected| rejected.why.contains("too soon")));
    // The right password waits as well, and is accepted afterwards.
    let began = Instant::now();
    while endpoint.config().connect(NoTls).is_err() {
        assert!(began.elapsed() < Duration::from_secs(20), "locked out");
        thread::sleep(Duration::from_millis(100));
    }
    assert!(endpoint.config().password("guess").connect(NoTls).is_err(), "the count begins anew");
    endpoint.connect();
}

#[test]
fn an_analyst_has_a_rate_and_memory_has_a_limit() {
    let endpoint = Endpoint::new(
        ", statements-per-minute = 40, connections-each = 2, answer-bytes = 1000000, connection-bytes = 1500000",
    );
    let mut client = endpoint.connect();
    let _second = endpoint.connect();
    assert_eq!(code(&endpoint.config().connect(NoTls).map(|_| ()).unwrap_err()), "53300", "a third connection");
    // A text of 50 kB times thirty is more than a megabyte.
    let large = format!("SELECT '{}' FROM generate_series(1, 30)", "x".repeat(50_000));
    assert_eq!(code(&simple(&mut client, &large).unwrap_err()), "54000");
    let fits = large.replace("1, 30", "1, 12");
    assert_eq!(simple(&mut client, &fits).unwrap().len(), 12);
    assert_eq!(simple(&mut client, &fits).unwrap().len(), 12, "memory is free again");
    // Suspended portals take the memory of their connection.
    let mut transaction = client.transaction().unwrap();
    let statement = transaction.prepare(&fits).unwrap();
    let mut portals = Vec::new();
    let refused = loop {
        let portal = transaction.bind(&statement, &[]).unwrap();
        match transaction.query_portal(&portal, 1) {
            Ok(rows) => assert_eq!(rows.len(), 1),
            Err(error) => break error,
        }
        portals.push(portal);
        assert!(portals.len() < 10, "memory without end");
    };
    assert_eq!(code(&refused), "53200", "{refused:?}");
    assert_eq!(portals.len(), 2);
    drop((portals, transaction));
    drop(statement);
    let refused = (0..100).find_map(|_| simple(&mut client, "SELECT COUNT(*) FROM data").err()).unwrap();
    assert_eq!(code(&refused), "53400");
    let load = endpoint.endpoint.load();
    assert!(load.answer_bytes < 200_000, "memory is not free again: {load:?}");
    assert!(
        endpoint.rejections.take().iter().any(|rejected| rejected.whom == "ada" && rejected.why.contains("minute"))
    );
}

#[test]
fn cursors_give_their_rows_in_pieces() {
    let endpoint = Endpoint::new("");
    let mut client = endpoint.connect();
    let refused = simple(&mut client, "DECLARE c CURSOR FOR SELECT * FROM data").unwrap_err();
    assert_eq!(code(&refused), "25P01", "outside a transaction");
    simple(&mut client, "BEGIN; DECLARE \"c 1\" NO SCROLL CURSOR FOR SELECT * FROM data LIMIT 10").unwrap();
    let expected = endpoint.expected("SELECT * FROM data LIMIT 10");
    let mut found = simple(&mut client, "FETCH FORWARD 3 FROM \"c 1\"").unwrap();
    assert_eq!(found.len(), 3);
    simple(&mut client, "MOVE 2 IN \"c 1\"").unwrap();
    found.extend(binary(&mut client, "FETCH FORWARD ALL FROM \"c 1\"", &[]));
    assert_same(&found, &[&expected[..3], &expected[5..]].concat(), "the cursor");
    assert!(simple(&mut client, "FETCH NEXT FROM \"c 1\"").unwrap().is_empty());
    simple(&mut client, "DECLARE h CURSOR WITH HOLD FOR SELECT 1 AS n; COMMIT").unwrap();
    assert_eq!(simple(&mut client, "FETCH ALL FROM h").unwrap(), [[Some("1".to_owned())]], "it outlives COMMIT");
    assert_eq!(code(&simple(&mut client, "FETCH ALL FROM \"c 1\"").unwrap_err()), "34000", "this one does not");
    simple(&mut client, "CLOSE h").unwrap();
    assert_eq!(code(&simple(&mut client, "FETCH ALL FROM h").unwrap_err()), "34000");
    assert_eq!(code(&simple(&mut client, "DECLARE d CURSOR WITH HOLD FOR DELETE FROM data").unwrap_err()), "25006");
}

#[test]
fn a_text_that_is_not_utf8_is_an_error_of_its_statement() {
    let endpoint = Endpoint::new("");
    let mut client = endpoint.connect();
    // The client library sends UTF-8 only; a value of a parameter is bytes.
    let statement = client.prepare("SELECT COUNT(*) FROM data WHERE disease = $1").unwrap();
    let broken = Bytes(vec![0xff, 0xfe]);
    assert_eq!(code(&client.query(&statement, &[&broken]).unwrap_err()), "22021");
    assert_eq!(simple(&mut client, "SELECT COUNT(*) FROM data").unwrap().len(), 1, "the connection goes on");
}

/// Bytes in the place of a text.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl postgres::types::ToSql for Bytes {
    fn to_sql(
        &self,
        _: &postgres::types::Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> Result<postgres::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(postgres::types::IsNull::No)
    }

    fn accepts(_: &postgres::types::Type) -> bool {
        true
    }

    postgres::types::to_sql_checked!();
}

/// After a reload an analyst who was removed is disconnected, and the others stay.
#[test]
fn a_reload_ends_the_connections_of_removed_analysts() {
    let endpoint = Endpoint::new("");
    let mut client = endpoint.connect();
    let path = endpoint.folder.path().join("site-0/node.toml");
    let text = fs::read_to_string(&path).unwrap();
    let reload = |text: &str| {
        fs::write(&path, text).unwrap();
        let before = endpoint.configured.get();
        endpoint.configured.set(before.reload(&path).unwrap());
        endpoint.endpoint.reloaded(&before);
    };
    reload(&text);
    assert_eq!(simple(&mut client, "SELECT 1").unwrap().len(), 1, "nothing has changed");
    let (without, _) = text.split_once("[[analyst]]").unwrap();
    reload(without);
    assert!(simple(&mut client, "SELECT 1").is_err());
    assert_eq!(code(&endpoint.config().connect(NoTls).map(|_| ()).unwrap_err()), "28P01");
    reload(&text);
    endpoint.connect();
    let moved = text.replace("listen = \"127.0.0.1:", "listen = \"127.0.0.2:");
    fs::write(&path, moved).unwrap();
    let refused = endpoint.configured.get().reload(&path).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("`listen` cannot change"), "{refused}");
}

/// As many attempts as there are places, all of them let in before the first one has failed.
#[test]
fn concurrent_password_attempts_give_no_more_guesses() {
    let endpoint = Endpoint::new("");
    let mut attempts: Vec<Attempt> =
        (0..40).map(|number| Raw::attempt(endpoint.port, "ada", &format!("guess {number}"))).collect();
    attempts.push(Raw::attempt(endpoint.port, "ada", &endpoint.password));
    attempts.iter_mut().for_each(Attempt::prove);
    let answers: Vec<String> = attempts.iter_mut().filter_map(Attempt::outcome).collect();
    let wrong = answers.iter().filter(|message| message.contains("is wrong")).count();
    let waits = answers.iter().filter(|message| message.contains("too many wrong passwords")).count();
    // Those that are free, and one for each second that this takes.
    assert!((1..=8).contains(&wrong) && wrong + waits >= 40, "{wrong} were judged, {waits} have to wait");
}

/// A client that asks for much and never synchronizes is sent its answers all the same: they are
/// not collected for it.
#[test]
fn answers_are_not_collected_for_a_client_that_never_synchronizes() {
    let endpoint = Endpoint::new("");
    let mut raw = Raw::analyst(&endpoint);
    raw.parse("long", &format!("SELECT 1 AS \"{}\"", "x".repeat(60_000)));
    for _ in 0..5 {
        raw.send(b'D', &[vec![b'S'], text("long")].concat()).unwrap();
    }
    let described = (0..16).map_while(|_| raw.read().ok()).filter(|(kind, _)| *kind == b'T').take(4).count();
    assert_eq!(described, 4, "what is more than a buffer is sent at once");
}

/// The names of columns, which a client chooses, and rows that a cursor has handed over but that
/// are not sent yet, count as memory of the connection.
#[test]
fn names_of_columns_and_fetched_rows_are_memory_too() {
    let endpoint = Endpoint::new(", connection-bytes = 60000000, answer-bytes = 50000000");
    let mut raw = Raw::analyst(&endpoint);
    let columns = vec![format!("1 AS \"{}\"", "x".repeat(60_000)); 15].join(", ");
    raw.parse("long", &format!("SELECT {columns} UNION ALL SELECT {}", ["2"; 15].join(", ")));
    // Each portal is suspended after its first row, and half of them have ended.
    for number in 0..100 {
        raw.bind(&format!("p{number}"), "long");
        raw.execute(&format!("p{number}"), 1 + number % 2 * 9);
    }
    raw.send(b'S', &[]).unwrap();
    let answered = raw.read_to(b'Z').unwrap();
    let refused =
        answered.iter().filter(|(kind, body)| *kind == b'E' && String::from_utf8_lossy(body).contains("53200"));
    assert_eq!(refused.count(), 1, "a hundred portals with 90 MB of names");
    drop(raw);

    let mut raw = Raw::analyst(&endpoint);
    let rows = format!("SELECT '{}' FROM generate_series(1, 600)", "x".repeat(50_000));
    raw.send(b'Q', &text(&format!("BEGIN; DECLARE c CURSOR FOR {rows}"))).unwrap();
    raw.read_to(b'Z').unwrap();
    // All rows, of which this client reads none: most of them wait at the node.
    raw.send(b'Q', &text("FETCH ALL FROM c")).unwrap();
    thread::sleep(Duration::from_secs(1));
    let held = endpoint.endpoint.load().answer_bytes;
    assert!(held > 25_000_000, "{held} bytes are counted");
    let sent = raw.read_to(b'Z').unwrap();
    assert_eq!(sent.iter().filter(|(kind, _)| *kind == b'D').count(), 600);
    raw.send(b'Q', &text("FETCH ALL FROM c")).unwrap();
    assert!(raw.read_to(b'Z').unwrap().iter().all(|(kind, _)| *kind != b'D'));
    let held = endpoint.endpoint.load().answer_bytes;
    assert!(held < 1_000_000, "{held} bytes are still counted");
}

/// A client chooses the names of its statements and portals, and each may be a megabyte.
#[test]
fn names_of_statements_and_portals_are_memory_too() {
    let endpoint = Endpoint::new(", connection-bytes = 60000000, answer-bytes = 50000000");
    let long = |number: usize| format!("{number}{}", "n".repeat(900_000));
    let refused = |raw: &mut Raw| {
        raw.send(b'S', &[]).unwrap();
        let answered = raw.read_to(b'Z').unwrap();
        let refused =
            answered.iter().filter(|(kind, body)| *kind == b'E' && String::from_utf8_lossy(body).contains("53200"));
        refused.count()
    };
    let mut raw = Raw::analyst(&endpoint);
    (0..100).for_each(|number| raw.parse(&long(number), "SELECT 1"));
    assert_eq!(refused(&mut raw), 1, "a hundred statements with 90 MB of names");
    let mut raw = Raw::analyst(&endpoint);
    raw.parse("one", "SELECT 1");
    (0..100).for_each(|number| raw.bind(&long(number), "one"));
    assert_eq!(refused(&mut raw), 1, "a hundred portals with 90 MB of names");
    let mut raw = Raw::analyst(&endpoint);
    let mut errors = 0;
    for number in 0..100 {
        let cursor = format!("DECLARE \"{}\" CURSOR WITH HOLD FOR SELECT 1", long(number));
        raw.send(b'Q', &text(&cursor)).unwrap();
        errors += raw.read_to(b'Z').unwrap().iter().filter(|(kind, _)| *kind == b'E').count();
    }
    assert!((30..40).contains(&errors), "{errors} of a hundred cursors with 90 MB of names were refused");
}

/// Messages that are random or broken, from an analyst who is let in: no thread panics, and the
/// endpoint goes on.
#[test]
fn random_messages_of_an_analyst_end_no_thread() {
    let seed = std::env::var("HEDGEROW_SEED").map_or(7, |seed| seed.parse().unwrap());
    eprintln!("HEDGEROW_SEED={seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name().is_some_and(|name| matches!(name, "analyst" | "answer")) {
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
        before(panic);
    }));
    let endpoint = Endpoint::new("");
    let words = [
        "SELECT",
        "COUNT(*)",
        "FROM",
        "data",
        "WHERE",
        "age",
        "disease",
        "=",
        "'flu'",
        "$1",
        "$2",
        "$8000",
        "(",
        ")",
        ",",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "0",
        "-1",
        "1e400",
        "9223372036854775808",
        "NULL",
        "BETWEEN",
        "AND",
        "NOT",
        "LIKE",
        "'%'",
        "DECLARE",
        "c",
        "CURSOR FOR",
        "FETCH",
        "ALL",
        "MOVE",
        "CLOSE",
        "BEGIN",
        "COMMIT",
        ";",
        "COPY",
        "TO STDOUT",
        "SET",
        "hedgerow.epoch",
        "SHOW",
        "pg_class",
        "::regclass",
        "[1]",
        "ARRAY",
        "~",
        "'['",
        "AVG(age)",
        "generate_series(1, 3)",
        "WITH",
        "AS",
        "UNION",
        "\"",
        "'",
        "/*",
        "--",
        "E'\\",
        "U&'\\0041'",
        "\u{1f333}",
        "*",
        "OVER",
        "CASE",
        "WHEN",
        "END",
        "CAST",
        "HAVING",
        "DISTINCT",
        "public.data.age",
        "hedgerow.public.data",
    ];
    let deadline = Instant::now() + Duration::from_secs(6);
    let (mut connections, mut messages) = (0, 0);
    while Instant::now() < deadline {
        let mut raw = Raw::analyst(&endpoint);
        raw.0.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        connections += 1;
        for _ in 0..rng.random_range(1..60) {
            let mut sql = String::new();
            for _ in 0..rng.random_range(0..14) {
                sql.push_str(words[rng.random_range(0..words.len())]);
                sql.push(' ');
            }
            let name = ["", "a", "b"][rng.random_range(0..3)];
            let kind = b"QPBDECSHdXF?"[rng.random_range(0..12)];
            let mut body = match kind {
                b'Q' => text(&sql),
                b'P' => [text(name), text(&sql), vec![0, 1, 0, 0, 0, rng.random()]].concat(),
                b'B' => [text(name), text(name), vec![0, 0, 0, 1, 0, 0, 0, 2, b'4', b'2', 0, 0]].concat(),
                b'D' | b'C' => [vec![b"SPx"[rng.random_range(0..3)]], text(name)].concat(),
                b'E' => [text(name), rng.random_range(0..4u32).to_be_bytes().to_vec()].concat(),
                _ => Vec::new(),
            };
            match rng.random_range(0..12) {
                0 if !body.is_empty() => {
                    let place = rng.random_range(0..body.len());
                    body[place] = rng.random();
                }
                1 => body.truncate(rng.random_range(0..=body.len())),
                _ => {}
            }
            messages += 1;
            if raw.send(kind, &body).is_err() {
                break;
            }
            let mut bytes = [0; 4096];
            while let Ok(1..) = raw.0.read(&mut bytes) {}
        }
        endpoint.rejections.take();
        endpoint.queried.try_iter().for_each(drop);
    }
    assert!(connections > 10 && messages > 200, "{connections} connections, {messages} messages");
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a thread of the endpoint panicked");
    assert_eq!(simple(&mut endpoint.connect(), "SELECT COUNT(*) FROM data").unwrap().len(), 1);
}
