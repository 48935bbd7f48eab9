//! An operator's work over the years: keys, comparing terms, backup and restore, the journal of
//! questions, the service.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hedgerow_node::Verifier;
use hedgerow_node::demo::free_ports;
use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::keys::read_signing_key;
use hedgerow_node::message::{Heads, Hex, Note};
use hedgerow_node::operator::Request;
use hedgerow_node::statement::Statement;
use postgres::SimpleQueryMessage;
use serde_json::Value;

use crate::federation::{Federation, POLICY, people};

fn node(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-node"));
    command.args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = node(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = node(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &place),
            // The socket of the operator's commands is no file.
            false if path.is_file() => drop(fs::copy(&path, &place).unwrap()),
            false => {}
        }
    }
}

/// As docs/operating.md has it: the folder of a stopped node is all that is needed.
#[test]
fn a_node_goes_on_from_a_copy_of_its_folder() {
    let mut federation = Federation::started(POLICY, &people(3), "deadlines = { silence-s = 10 }\n");
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    federation.stop(1);
    let (data, backup) = (federation.data(1), tempfile::tempdir().unwrap());
    copy(&data, backup.path());
    fs::remove_dir_all(&data).unwrap();
    copy(backup.path(), &data);
    federation.start(1);
    // It answers as soon as its peers have confirmed its journal.
    assert_eq!(federation.until(1, "its epoch", |status| status["epoch"].as_u64()), 1);
    let endings = federation.run(1);
    assert!(endings.iter().all(|ending| ending["ended"] == "published" && ending["epoch"] == 2), "{endings:#?}");
    assert_eq!(federation.released(1, 2), federation.released(0, 2));
    read_journal(&federation.data(1), |_| Ok(())).unwrap();
}

/// The backup of docs/operating.md: the folder of a running node, with a copy of the journal
/// that SQLite makes. It serves until the node starts again, since a start signs a new head.
#[test]
fn a_copy_of_a_running_node_is_a_backup_until_the_node_starts_again() {
    let mut federation = Federation::started(POLICY, &people(3), "deadlines = { silence-s = 10 }\n");
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    let (data, backup) = (federation.data(1), tempfile::tempdir().unwrap());
    let journal = backup.path().join("journal.copy");
    let running = rusqlite::Connection::open(data.join("journal.db")).unwrap();
    running.execute(&format!("VACUUM INTO '{}'", text(&journal)), []).unwrap();
    drop(running);
    copy(&data, backup.path());
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(backup.path().join(name));
    }
    fs::rename(&journal, backup.path().join("journal.db")).unwrap();
    let restore = || {
        fs::remove_dir_all(&data).unwrap();
        copy(backup.path(), &data);
    };

    // The machine is lost, and what the node wrote since with it.
    federation.kill(1);
    restore();
    federation.start(1);
    assert_eq!(federation.until(1, "its epoch", |status| status["epoch"].as_u64()), 1);
    assert!(federation.status(1)["replaced"].is_null());

    // The others have kept the head of this start: the same copy is of no use afterwards.
    let kept = || {
        let (mut rows, name) = (0, &federation.names[1]);
        let read = read_journal(&federation.data(0), |line| {
            let signed = line.record.detail.value()["signed"].take();
            let signed: Option<hedgerow_node::statement::Signed> = serde_json::from_value(signed).ok();
            match signed.map(|signed| signed.statement) {
                Some(Statement::Heads { heads }) if &line.record.who == name => rows = heads.rows,
                _ => {}
            }
            Ok(())
        });
        read.unwrap();
        rows
    };
    let mut started = 0;
    let read = read_journal(&data, |line| {
        started = if line.record.what == What::Opened { line.number } else { started };
        Ok(())
    });
    read.unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while kept() < started {
        assert!(std::time::Instant::now() < until, "no peer keeps the head of the start");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    federation.kill(1);
    restore();
    federation.start(1);
    let why = federation.until(1, "what its peers know", |status| status["replaced"].as_str().map(str::to_owned));
    assert!(why.contains("older copy"), "{why}");
}

/// The journal names who asked which question, whether the node answers alone or all custodians do.
#[test]
fn questions_are_journaled_in_both_modes() {
    for more in ["", "rows = \"apart\"\n"] {
        let federation = Federation::started(POLICY, &people(3), more);
        assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
        let sql = "SELECT disease, COUNT(*) AS n FROM data GROUP BY disease".to_owned();
        // The end of a long one tells what it asks.
        let long = format!("SELECT COUNT(*) FROM data WHERE {}disease = 'flu'", "age >= 0 AND ".repeat(300));
        for sql in [&sql, &long] {
            let question = Request::Query { operator: "alice".to_owned(), epoch: 1, sql: sql.clone() };
            let answer = federation.ask(0, &question).unwrap();
            assert_eq!(answer["epoch"], 1, "{answer}");
        }
        let mut found = Vec::new();
        // The row is written by the node's own thread, which may be a moment behind the answer.
        for _ in 0..100 {
            found.clear();
            read_journal(&federation.data(0), |line| {
                if line.record.what == What::Queried {
                    found.push((line.record.who.clone(), line.record.detail.value()["sql"].clone()));
                }
                Ok(())
            })
            .unwrap();
            if found.len() > 1 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let expected = [sql, long].map(|sql| ("alice".to_owned(), Value::from(sql)));
        assert_eq!(found, expected, "{more}");
    }
}

/// The quota of a day holds whether the node answers from its release or all custodians answer, and
/// a restart does not begin it anew.
#[test]
fn an_analyst_has_a_quota_in_both_modes() {
    for more in ["", "rows = \"apart\"\n"] {
        let mut federation = Federation::new(POLICY, &people(3), more);
        let port = free_ports(1).unwrap()[0];
        let (password, verifier) = Verifier::generate().unwrap();
        let path = federation.home("site-0").join("node.toml");
        let settings = fs::read_to_string(&path).unwrap();
        let endpoint = format!("endpoint = {{ listen = \"127.0.0.1:{port}\", statements-per-day = 3 }}\n");
        let analyst = format!("\n[[analyst]]\nname = \"ada\"\nverifier = \"{verifier}\"\n");
        fs::write(&path, endpoint + &settings + &analyst).unwrap();
        (0..3).for_each(|place| federation.start(place));
        assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
        let mut config = postgres::Config::new();
        config.host("127.0.0.1").port(port).user("ada").password(&password).dbname("hedgerow");
        // A node that was just started may not listen yet, or not know yet that it may answer.
        let knows = |client: &mut postgres::Client| {
            let rows = client.simple_query("SHOW hedgerow.epoch").unwrap_or_default();
            rows.iter().any(|row| matches!(row, SimpleQueryMessage::Row(row) if row.get(0) == Some("1")))
        };
        let ready = |federation: &Federation| {
            federation.until(0, "its epoch", |status| status["epoch"].as_u64());
            let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
            loop {
                assert!(std::time::Instant::now() < until, "the endpoint does not answer");
                if let Ok(mut client) = config.connect(postgres::NoTls)
                    && knows(&mut client)
                {
                    return client;
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        };
        let ask = |client: &mut postgres::Client| {
            let answer = client.simple_query("SELECT disease, COUNT(*) FROM data GROUP BY disease");
            answer.map(|_| ()).map_err(|error| error.code().unwrap().code().to_owned())
        };
        let mut client = ready(&federation);
        let answers: Vec<_> = (0..4).map(|_| ask(&mut client)).collect();
        assert_eq!(answers, [Ok(()), Ok(()), Ok(()), Err("53400".to_owned())], "{more}");
        drop(client);
        // The nodes' own threads write the questions.
        federation.stop(0);
        federation.start(0);
        let mut client = ready(&federation);
        assert_eq!(ask(&mut client), Err("53400".to_owned()), "after a restart; {more}");
        let queried = |place: usize| {
            let mut who = Vec::new();
            read_journal(&federation.data(place), |line| {
                who.extend((line.record.what == What::Queried).then(|| line.record.who.clone()));
                Ok(())
            })
            .unwrap();
            who
        };
        assert_eq!(queried(0), ["ada"; 3], "{more}");
        let elsewhere: &[&str] = if more.is_empty() { &[] } else { &["ada, at site-0"; 3] };
        assert_eq!(queried(1), elsewhere, "{more}");
    }
}

#[test]
fn keys_and_their_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let (key, request) = (folder.path().join("private.key"), folder.path().join("request.csr"));
    let made = printed(&["keys", "csr", "north", "--key", text(&key), "--out", text(&request), "--host", "n.example"]);
    let fingerprint = printed(&["keys", "fingerprint", text(&key)]);
    assert!(fingerprint.trim().len() == 64 && made.contains(fingerprint.trim()), "{made}{fingerprint}");
    assert!(fs::read_to_string(&request).unwrap().starts_with("-----BEGIN CERTIFICATE REQUEST-----"));
    assert!(refused(&["keys", "fingerprint", text(&request)]).contains("neither a certificate nor a private key"));
    let signs = folder.path().join("signing.key");
    let csr = ["keys", "csr", "north", "--key", text(&key), "--out", text(&request), "--signing-key", text(&signs)];
    assert_eq!(printed(&csr), printed(&csr), "keys that exist are kept");
    // A trial is made as before.
    let trial = folder.path().join("trial");
    printed(&["keys", text(&trial), "a=127.0.0.1:7401", "b=127.0.0.1:7402", "c=127.0.0.1:7403", "--analyst", "ada"]);
    let settings = trial.join("a/node.toml");
    let before = printed(&["keys", "fingerprint", text(&trial.join("a/certificate.pem"))]);
    assert!(fs::read_to_string(trial.join("b/node.toml")).unwrap().contains(before.trim()));
    let rotated = printed(&["keys", "rotate", text(&settings)]);
    assert!(rotated.contains("private.key.new") && !rotated.contains(before.trim()), "{rotated}");
    assert!(refused(&["keys", "rotate", text(&settings), "--install"]).contains("certificate.pem.new"));
    assert!(!refused(&["keys"]).is_empty());
}

/// As `hedgerow-node journal NODE.TOML | head` does it.
#[test]
fn a_reader_that_is_gone_ends_a_command_without_a_word() {
    let federation = Federation::new(POLICY, &people(3), "");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-node"));
    command.args(["terms", text(&federation.home("site-0").join("node.toml"))]).stdout(writer);
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(1), ""));
}

#[test]
fn terms_are_compared_field_by_field_and_check_warns() {
    let federation = Federation::new(POLICY, &people(3), "");
    let path = |name: &str| federation.home(name).join("node.toml");
    let [first, second] = ["site-0", "site-1"].map(path);
    assert!(printed(&["diff", text(&first), text(&second)]).contains("the terms are the same"));
    let policy = federation.home("site-1").join("policy.toml");
    fs::write(&policy, POLICY.replace("k = 3", "k = 4").replace("\"flu\", ", "")).unwrap();
    let differences = refused(&["diff", text(&first), text(&second)]);
    for line in ["rule[1]", "attributes.disease.values: only in the first: flu"] {
        assert!(differences.contains(line), "{differences}");
    }
    // The other custodian sends a file in place of its settings.
    let terms = federation.home("site-1").join("terms.json");
    fs::write(&terms, printed(&["terms", text(&second)])).unwrap();
    assert_eq!(refused(&["diff", text(&first), text(&terms)]), differences);
    assert!(!fs::read_to_string(&terms).unwrap().contains("Canary"), "nothing of the rows");
    let checked = node(&["check", text(&first)]);
    assert!(String::from_utf8_lossy(&checked.stdout).contains("12 rows fit"), "{checked:?}");
    assert!(!String::from_utf8_lossy(&checked.stderr).contains("not released"), "{checked:?}");
    // A column that the policy does not know.
    let source = federation.home("site-0").join("people.csv");
    let wider: String = people(3)[0].lines().map(|line| format!("{line},shoe\n")).collect();
    fs::write(&source, wider).unwrap();
    let warned = String::from_utf8(node(&["check", text(&first)]).stderr).unwrap();
    assert!(warned.contains("warning: ") && warned.contains("not in the policy, so not released: `shoe`"), "{warned}");
    assert!(warned.contains("hint: "), "{warned}");
    let settings = fs::read_to_string(&first).unwrap();
    fs::write(&first, format!("{settings}\nmetrics = \"127.0.0.1:9401\"\n")).unwrap();
    let misplaced = refused(&["check", text(&first)]);
    assert!(misplaced.contains("belongs at the top of the file"), "{misplaced}");
}

/// `approve` without digits shows what waits, and takes `yes` for an answer and nothing else.
#[test]
fn an_operator_confirms_what_is_shown_or_names_enough_digits() {
    let federation = Federation::started(POLICY, &people(3), "");
    let run = federation.propose(0);
    let plan = federation.plan(0, &run);
    let settings = federation.home("site-0").join("node.toml");
    let approve = |typed: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-node"));
        command.args(["approve", text(&settings), "--operator", "olga"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut approval = command.spawn().unwrap();
        approval.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        approval.wait_with_output().unwrap()
    };
    for typed in ["", "no\n", "y\n", "yes please\n"] {
        let output = approve(typed);
        assert!(!output.status.success(), "{typed}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("not approved"), "{output:?}");
    }
    let few = refused(&["approve", text(&settings), &plan[..31], "--operator", "olga"]);
    assert!(few.contains("32 digits"), "{few}");
    assert_eq!(federation.status(0)["open"]["not_approved"].as_array().unwrap().len(), 3);
    let output = approve("yes\n");
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    for part in [plan.as_str(), "\"epoch\": 1", "\"proposed_by\": \"site-0\"", "opens_to_all", "\"limits\""] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for place in [1, 2] {
        let plan = federation.plan(place, &run);
        printed(&[
            "approve",
            text(&federation.home(&format!("site-{place}")).join("node.toml")),
            &plan[..32],
            "--operator",
            "olga",
        ]);
    }
    assert_eq!(federation.ending(0, &run)["ended"], "published");
}

/// Heads for an auditor: a journal is looked up in what another custodian has of it.
#[test]
fn heads_are_exported_and_a_journal_is_looked_up_in_them() {
    let mut federation = Federation::started(POLICY, &people(3), "deadlines = { silence-s = 10 }\n");
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    federation.stop(1);
    let old = tempfile::tempdir().unwrap();
    copy(&federation.data(1), old.path());
    federation.start(1);
    assert!(federation.run(2).iter().all(|ending| ending["ended"] == "published"));
    let settings = ["site-0", "site-1"].map(|name| federation.home(name).join("node.toml"));
    let export = federation.home("site-0").join("heads.json");
    fs::write(&export, printed(&["journal", text(&settings[0]), "--heads"])).unwrap();
    let exported: Value = serde_json::from_str(&fs::read_to_string(&export).unwrap()).unwrap();
    assert_eq!(exported["name"], "site-0");
    assert_eq!(exported["peers"].as_object().unwrap().len(), 2, "{exported}");
    let against = |export: &Path| node(&["journal", text(&settings[1]), "--against", text(export)]);
    let known = against(&export);
    assert!(known.status.success(), "{known:?}");
    assert!(String::from_utf8_lossy(&known.stdout).contains("is the one that site-0 knows"), "{known:?}");
    // Heads that another one signed under the name.
    let mut forged = exported.clone();
    forged["peers"]["site-1"] = exported["peers"]["site-2"].clone();
    let place = federation.home("site-0").join("forged.json");
    fs::write(&place, forged.to_string()).unwrap();
    let forged = against(&place);
    assert!(String::from_utf8_lossy(&forged.stderr).contains("that it did not sign"), "{forged:?}");
    // The row is there, and the run is not that the node has joined with it.
    let statement = &exported["peers"]["site-1"]["statement"];
    let heads = statement.get("heads").unwrap_or(&statement["note"]["heads"]);
    let heads: Heads = serde_json::from_value(heads.clone()).unwrap();
    let key = read_signing_key(&federation.home("site-1").join("signing.key")).unwrap();
    let (run, proposal, commitment) = (Hex([7; 16]), Hex([1; 32]), Hex([2; 32]));
    let joined = Statement::Note { note: Note::Joined { run, proposal, commitment, heads } }.sign(&key);
    let mut lacking = exported.clone();
    lacking["peers"]["site-1"] = serde_json::to_value(joined).unwrap();
    fs::write(&place, lacking.to_string()).unwrap();
    let lacking = against(&place);
    assert!(String::from_utf8_lossy(&lacking.stderr).contains("which site-1 joined"), "{lacking:?}");
    // The folder of before the second run.
    federation.stop(1);
    fs::remove_dir_all(federation.data(1)).unwrap();
    copy(old.path(), &federation.data(1));
    let older = against(&export);
    assert!(!older.status.success());
    assert!(String::from_utf8_lossy(&older.stderr).contains("and the journal ends at"), "{older:?}");
}

/// The commands of the unit for systemd and of the recipe for a container, with paths of this
/// machine in place of theirs: the node starts over settings as both describe them, writes into
/// its `data` folder and nowhere else, reloads, and ends in good order.
#[test]
fn the_service_and_the_container_start_reload_and_stop_a_node() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/node");
    let unit = fs::read_to_string(examples.join("hedgerow-node.service")).unwrap();
    let of_unit = |key: &str| -> Vec<String> {
        let line = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let recipe = fs::read_to_string(examples.join("Containerfile")).unwrap();
    let of_recipe = |key: &str| -> Vec<String> {
        let line = recipe.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        serde_json::from_str(line).unwrap()
    };
    assert!(recipe.contains("listen = \"0.0.0.0:7401\" and data = \"/var/lib/hedgerow\""), "{recipe}");
    assert!(unit.contains("StateDirectory=hedgerow\n") && unit.contains("KillSignal=SIGTERM\n"), "{unit}");
    let federation = Federation::new(POLICY, &people(3), "");
    let (home, state) = (federation.home("site-0"), tempfile::tempdir().unwrap());
    let settings = home.join("node.toml");
    let described = fs::read_to_string(&settings).unwrap();
    let (listen, data) = (format!("listen = \"127.0.0.1:{}\"", federation.ports[0]), "data = \"data\"");
    assert!(described.contains(&listen) && described.contains(data), "{described}");
    let described = described.replace(&listen, &listen.replace("127.0.0.1", "0.0.0.0"));
    fs::write(&settings, described.replace(data, &format!("data = {:?}", state.path()))).unwrap();
    let here = |command: &[String]| -> Vec<String> {
        assert_eq!(Path::new(&command[0]).file_name().unwrap(), "hedgerow-node", "{command:?}");
        assert!(command.iter().any(|word| word == "/etc/hedgerow/node.toml"), "{command:?}");
        command[1..].iter().map(|word| word.replace("/etc/hedgerow/node.toml", text(&settings))).collect()
    };
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names
    };
    let (before, reload) = (names(), here(&of_unit("ExecReload")));
    for serve in [of_unit("ExecStart"), [of_recipe("ENTRYPOINT "), of_recipe("CMD ")].concat()] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-node"));
        let service = command.args(here(&serve)).stderr(Stdio::piped()).spawn().unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !node(&["status", text(&settings)]).status.success() {
            assert!(std::time::Instant::now() < until, "the node does not answer: {serve:?}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        printed(&reload.iter().map(String::as_str).collect::<Vec<_>>());
        let stopped = Command::new("sh").args(["-c", &format!("kill -TERM {}", service.id())]).status();
        assert!(stopped.unwrap().success());
        let output = service.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let log = String::from_utf8(output.stderr).unwrap();
        let is_event = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|event| event.is_object());
        assert!(log.lines().count() > 1 && log.lines().all(is_event), "{log}");
    }
    assert_eq!(names(), before, "nothing is written beside the settings");
    let mut reloaded = Vec::new();
    read_journal(state.path(), |line| {
        reloaded.extend((line.record.what == What::Reloaded).then(|| line.record.who.clone()));
        Ok(())
    })
    .unwrap();
    assert_eq!(reloaded, ["systemd", "systemd"]);
    // Where systemd is there, it reads the unit.
    let known = Command::new("systemd-analyze").arg("--version").output();
    if known.is_ok_and(|output| output.status.success()) {
        let copy = state.path().join("hedgerow-node.service");
        let program = env!("CARGO_BIN_EXE_hedgerow-node");
        fs::write(&copy, unit.replace("/usr/local/bin/hedgerow-node", program)).unwrap();
        let verified = Command::new("systemd-analyze").args(["verify", text(&copy)]).output().unwrap();
        assert!(verified.status.success(), "{verified:?}");
        let said = String::from_utf8_lossy(&verified.stderr);
        assert!(!said.contains("hedgerow-node.service"), "{said}");
    }
}
