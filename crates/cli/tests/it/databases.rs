//! Databases in place of files, as the command takes them.

use crate::running::Folder;

const PEOPLE: &str = "
    CREATE TABLE patients (age INTEGER, zip TEXT, disease TEXT);
    INSERT INTO patients VALUES (31, '10001', 'flu'), (34, '10002', 'cold'), (52, '20001', 'flu'), (58, '20002', 'asthma');";

const POLICY: &str = "[source]\nurl = \"sqlite:people.db\"\n[attributes]\n\
                      age = { role = \"quasi\", hierarchy = { widths = [10, 20] } }\n\
                      zip = { role = \"quasi\", hierarchy = { mask = 5 } }\ndisease = { role = \"sensitive\" }\n\
                      [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";

fn folder() -> Folder {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.path("people.db")).unwrap();
    connection.execute_batch(PEOPLE).unwrap();
    folder.write("policy.toml", POLICY);
    folder
}

#[test]
fn every_command_takes_addresses() {
    let folder = folder();
    let ran = folder.run(&["init", "sqlite:people.db?table=patients", "-o", "proposed.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "sqlite:release.db", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("\"release\":\"sqlite:release.db\"")
            || ran.stdout.contains("\"release\": \"sqlite:release.db\""),
        "{ran:?}"
    );
    for arguments in [
        &["check", "sqlite:release.db"][..],
        &["measure", "sqlite:release.db", "--policy", "policy.toml", "--queries", "5"],
        &["query", "sqlite:release.db", "SELECT COUNT(*) FROM data"],
        &[
            "audit",
            "sqlite:release.db",
            "--people",
            "sqlite:people.db",
            "--policy",
            "policy.toml",
            "--fail-under",
            "l=1",
        ],
        &["report", "sqlite:release.db", "--policy", "policy.toml", "-o", "report.html"],
        &["catalog", "add", "catalog", "sqlite:release.db"],
        &["explore", "policy.toml"],
        &["publish", "policy.toml", "-o", "sqlite:release.db", "--force"],
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        assert!(!ran.stdout.contains("hedgerow-") && !ran.stderr.contains("/tmp/hedgerow-"), "{ran:?}");
    }
    let ran = folder.run(&["publish", "policy.toml", "-o", "sqlite:release.db"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("exists already"), "{ran:?}");
}

#[test]
fn a_server_that_is_not_there_is_a_failure_with_its_cause() {
    let folder = folder();
    let text = POLICY.replace("sqlite:people.db", "postgres://ann:s3cret@127.0.0.1:1/study");
    folder.write("policy.toml", &text);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("postgres://ann@127.0.0.1:1/study") && ran.stderr.contains("refused"), "{ran:?}");
    assert!(!ran.stderr.contains("s3cret"), "{ran:?}");
    assert!(!folder.path("release").exists());
}
