//! Jobs that fail and servers that go away: an error, no release, nothing left behind.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use hedgerow::{ErrorKind, Monitor, Progress};

use crate::same::{Twins, adult_policy, adult_source};
use crate::servers::Server;

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

pub(crate) fn a_failing_job_discloses_nothing(address: &str) {
    let rest = "[attributes]\nage = { role = \"quasi\" }\nname = { role = \"plain\" }\n\
                [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), "age,name\n1,x\n").unwrap();
    // The job fails on a value of a row.
    let query = "SELECT 1 AS age, CASE WHEN id > 5 THEN CAST(raise_error(concat('Ann Smi', 'th')) AS STRING) ELSE 'x' END \
                 AS name FROM range(10)";
    let there = format!("engine = \"{address}\"\nquery = \"{query}\"");
    let twins = Twins::with_sources(folder, "path = \"people.csv\"", &there, rest);
    let error = hedgerow_spark::publish(&twins.there, twins.at("release")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("Ann Smith"), "{error}");
    assert_eq!(names(twins.folder.path()), ["people.csv"]);
    // What the user can mend is said.
    let there = format!("engine = \"{address}\"\ntable = \"no_such_table\"");
    let folder = tempfile::tempdir().unwrap();
    let twins = Twins::with_sources(folder, "path = \"people.csv\"", &there, rest);
    let error = hedgerow_spark::publish(&twins.there, twins.at("release")).unwrap_err();
    assert_eq!(names(twins.folder.path()), Vec::<String>::new());
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    assert!(error.to_string().contains("no_such_table"), "{error}");
}

pub(crate) fn a_lost_server_leaves_nothing(server: Server) {
    let address = server.address();
    let twins = Twins::new(tempfile::tempdir().unwrap(), &address, &adult_source(), &adult_policy(5));
    let server = Mutex::new(Some(server));
    let started = Instant::now();
    let publish = hedgerow_spark::Publish::new(&twins.there, twins.at("release"));
    let ends = |progress: Progress<'_>| {
        if progress.phase == "writing" {
            drop(server.lock().unwrap().take());
        }
    };
    let error = publish.run_with(&Monitor::default().on_progress(ends)).unwrap_err();
    assert!(server.lock().unwrap().is_none(), "the server was ended");
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains("connection"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(180), "{:?}", started.elapsed());
    assert_eq!(names(twins.folder.path()), Vec::<String>::new());
    // A server that was never there is not waited for.
    let error = hedgerow_spark::publish(&twins.there, twins.at("release")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
}
