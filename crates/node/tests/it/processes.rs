//! Real processes: what they publish, and what becomes of runs when processes die or stall.

use std::fs;
use std::path::Path;

use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::operator::Request;
use hedgerow_node::terms::Terms;
use hedgerow_policy::Policy;
use hedgerow_publish::bind::{declared_table, read_source};
use hedgerow_publish::{PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::progress::NoProgress;
use hedgerow_table::{Codes, Column, Domain, Table};
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::federation::{Federation, POLICY, lines, people};
use crate::simulation::count;

const QUICK: &str = "deadlines = { silence-s = 4, handshake-s = 3 }\n";

pub(crate) fn adult_policy() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/hierarchies").canonicalize().unwrap();
    let names = ["sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"];
    let quasi = names
        .map(|name| format!("{name} = {{ role = \"quasi\", hierarchy = {:?} }}\n", folder.join(format!("{name}.csv"))));
    format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", range = [17, 90] }}\n{}\
         salary-class = {{ role = \"sensitive\", order = [\"<=50K\", \">50K\"] }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n\
         [[rule]]\nprotect = \"salary-class\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n\
         [publish]\nmethod = \"mondrian\"\n",
        quasi.concat()
    )
}

/// The first rows of Adult, as one table and as a file of lines.
pub(crate) fn adult(rows: usize) -> (String, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/policy.toml");
    let table = read_source(&Policy::load(&path).unwrap(), &NoProgress).unwrap();
    let row = |row: usize| table.columns.iter().map(|column| column.text(row)).collect::<Vec<_>>().join(";");
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    (names.join(";"), (0..rows.min(table.rows)).map(row).collect())
}

/// The release of one publisher with all rows under the same agreement.
pub(crate) fn alone(folder: &Path, policy: &str, header: &str, rows: &[String]) -> Vec<String> {
    fs::write(folder.join("policy.toml"), policy).unwrap();
    fs::write(folder.join("people.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let policy = Policy::load(&folder.join("policy.toml")).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    let declared = declared_table(&policy).unwrap();
    let column = |Column { name, domain, .. }: &Column| {
        let own = table.column(name).unwrap();
        // The missing value counts where a row lacks its value.
        let missing = own.domain.missing_code().is_some();
        let domain = &Domain::new(domain.values().clone(), missing);
        let code = |row: usize| match own.text(row) {
            text if text.is_empty() => domain.missing_code().unwrap(),
            text => domain.code_of(&text).unwrap(),
        };
        let codes = Codes::from_iter(domain.cardinality(), (0..table.rows).map(code));
        Column { name: name.clone(), domain: domain.clone(), codes }
    };
    let columns = declared.columns.iter().map(column).collect();
    let union = Table { columns, rows: table.rows, header: declared.header.clone(), warnings: Vec::new() };
    let options = PublishOptions::to(folder.join("alone"));
    publish(&policy, RowSource::Table(&union), &options).unwrap();
    lines(&folder.join("alone").join("data.csv"))
}

#[test]
fn adult_at_three_and_at_five_nodes_is_what_one_who_holds_all_rows_publishes() {
    let (header, rows) = adult(2000);
    let policy = adult_policy();
    let folder = tempfile::tempdir().unwrap();
    let expected = alone(folder.path(), &policy, &header, &rows);
    assert!(expected.len() > 2000);
    for sites in [3, 5] {
        let part = |site: usize| {
            // The last one has a single row.
            let owner = |row: usize| if row == 11 { sites - 1 } else { row % (sites - 1) };
            let own = rows.iter().enumerate().filter(|(row, _)| owner(*row) == site).map(|(_, text)| text.as_str());
            std::iter::once(header.as_str()).chain(own).map(|line| format!("{line}\n")).collect::<String>()
        };
        let parts: Vec<String> = (0..sites).map(part).collect();
        let federation = Federation::started(&policy, &parts, "");
        for ending in federation.run(0) {
            assert_eq!(ending["ended"], "published", "{ending}");
            assert_eq!(ending["epoch"], 1);
        }
        for place in 0..sites {
            assert_eq!(federation.released(place, 1), expected, "{sites} sites, at {place}");
        }
        let path = federation.data(0).join("epochs").join("1").join("release");
        let checked = check_release(&Release::open(&path, &NoProgress).unwrap(), &[]).unwrap();
        assert!(checked.holds() && checked.contradictions.is_empty(), "{checked:?}");
        assert_eq!(checked.checked.claims.len(), 2);
    }
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

/// Every released row with the size of its class and without the bounds of its age, which one
/// publisher rounds where no row is. A cell with all values is `*` at one publisher; custodians
/// declare the missing value too, and write from the first value to the last.
pub(crate) fn comparable(lines: &[String], all_values: &[String], protected: &str) -> Vec<String> {
    let header = cells(&lines[0]);
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let (age, protected) = (place("age"), place(protected));
    let cell = |cell: String| if all_values.contains(&cell) { "*".to_owned() } else { cell };
    let rows: Vec<Vec<String>> = lines[1..].iter().map(|line| cells(line).into_iter().map(cell).collect()).collect();
    let class = |row: &Vec<String>| {
        let quasi = row.iter().enumerate().filter(|(column, _)| *column != protected);
        quasi.map(|(_, cell)| cell.clone()).collect::<Vec<_>>()
    };
    let mut sizes = std::collections::BTreeMap::<Vec<String>, usize>::new();
    rows.iter().for_each(|row| *sizes.entry(class(row)).or_default() += 1);
    let shown = |row: &Vec<String>| {
        let others = row.iter().enumerate().filter(|(column, _)| *column != age).map(|(_, cell)| cell.as_str());
        format!("{} of {}", others.collect::<Vec<_>>().join("|"), sizes[&class(row)])
    };
    let mut shown: Vec<String> = rows.iter().map(shown).collect();
    shown.sort_unstable();
    shown
}

/// The real publisher, over a file with all rows and its own domains, against three nodes.
#[test]
fn adult_under_strict_cuts_and_declared_orders_is_what_hedgerow_publish_makes_of_the_same_policy() {
    let (header, rows) = adult(3000);
    let names: Vec<&str> = header.split(';').collect();
    let column = |place: usize| rows.iter().map(move |row| row.split(';').nth(place).unwrap());
    let mut policy = "[source]\npath = \"people.csv\"\n[attributes]\n".to_owned();
    let mut all_values = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let values: std::collections::BTreeSet<&str> = column(place).collect();
        all_values.push(format!("{} to {}", values.first().unwrap(), values.last().unwrap()));
        let role = if *name == "salary-class" { "sensitive" } else { "quasi" };
        let declared = match *name {
            "age" => {
                let ages: Vec<u32> = values.iter().map(|age| age.parse().unwrap()).collect();
                format!("range = [{}, {}]", ages.iter().min().unwrap(), ages.iter().max().unwrap())
            }
            _ => format!("order = {:?}", values.iter().collect::<Vec<_>>()),
        };
        policy.push_str(&format!("{name} = {{ role = \"{role}\", {declared} }}\n"));
    }
    policy.push_str(
        "[[rule]]\nrequire = { model = \"k-anonymity\", k = 10 }\n[publish]\nmethod = \"mondrian\"\nstrict = true\n\
         [[rule]]\nprotect = \"salary-class\"\nrequire = { model = \"distinct-l-diversity\", l = 1 }\n",
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.toml"), &policy).unwrap();
    fs::write(folder.path().join("people.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let loaded = Policy::load(&folder.path().join("policy.toml")).unwrap_or_else(|error| panic!("{error}"));
    publish(&loaded, RowSource::Policy, &PublishOptions::to(folder.path().join("alone"))).unwrap();
    let expected = comparable(&lines(&folder.path().join("alone").join("data.csv")), &all_values, "salary-class");
    let federation = Federation::started(&policy, &crate::federation::dealt(&header, &rows, 3), "");
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    let found = comparable(&federation.released(0, 1), &all_values, "salary-class");
    assert_eq!(found.len(), expected.len());
    let differ: Vec<_> = found.iter().zip(&expected).filter(|(found, expected)| found != expected).collect();
    assert!(
        differ.is_empty(),
        "{} rows in other classes, such as {:#?}",
        differ.len(),
        &differ[..differ.len().min(40)]
    );
}

#[test]
fn nodes_that_are_killed_at_any_moment_publish_together_after_a_restart() {
    let seed = std::env::var("HEDGEROW_SEED").map_or(5, |seed| seed.parse().unwrap());
    eprintln!("HEDGEROW_SEED={seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    let mut federation = Federation::started(POLICY, &people(5), QUICK);
    for _ in 0..count("HEDGEROW_KILLS", 6) {
        let run = federation.propose(0);
        for place in 0..5 {
            let plan = federation.plan(place, &run);
            federation.approve(place, &plan).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(rng.random_range(0..250)));
        let place = rng.random_range(0..5);
        federation.kill(place);
        federation.start(place);
        let endings: Vec<_> = (0..5).map(|place| federation.ending(place, &run)).collect();
        let first = &endings[0]["ended"];
        assert!(endings.iter().all(|ending| ending["ended"] == *first), "half-published: {endings:#?}");
        for place in 0..5 {
            federation.until(place, "quiet", |status| status["open"].is_null().then_some(()));
        }
    }
    let endings = federation.run(1);
    assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:#?}");
    let epoch = endings[0]["epoch"].as_u64().unwrap();
    for place in 1..5 {
        assert_eq!(federation.released(place, epoch), federation.released(0, epoch));
        assert_eq!(federation.status(place)["epoch"], epoch);
    }
}

#[test]
fn a_node_that_stalls_is_named_by_the_others_and_nothing_is_published() {
    let federation = Federation::started(POLICY, &people(3), QUICK);
    let run = federation.propose(0);
    let plan = federation.plan(0, &run);
    for place in [2, 1] {
        federation.plan(place, &run);
        federation.approve(place, &plan).unwrap();
    }
    federation.until(0, "approvals", |status| (status["open"]["not_approved"].as_array()?.len() == 1).then_some(()));
    federation.signal(2, "-STOP");
    federation.approve(0, &plan).unwrap();
    for place in [0, 1] {
        let ending = federation.ending(place, &run);
        assert_eq!(ending["ended"], "aborted", "{ending}");
        // Silence proves nothing: the reason names the site, and no custodian is blamed.
        assert!(ending["why"].as_str().unwrap().contains("site-2"), "{ending}");
        assert!(ending["blamed"].is_null(), "{ending}");
    }
    federation.signal(2, "-CONT");
    assert_eq!(federation.ending(2, &run)["ended"], "aborted");
    for place in 0..3 {
        assert_eq!(fs::read_dir(federation.data(place).join("epochs")).unwrap().count(), 0);
    }
    assert!(federation.run(2).iter().all(|ending| ending["ended"] == "published"));
}

#[test]
fn nothing_runs_that_not_all_have_approved_or_that_rows_were_burned_for() {
    let mut federation = Federation::started(POLICY, &people(3), QUICK);
    let run = federation.propose(0);
    let plan = federation.plan(0, &run);
    let wrong = federation.approve(0, "0123456789abcdef").unwrap_err();
    assert!(wrong.contains("not the digest"), "{wrong}");
    federation.approve(0, &plan).unwrap();
    federation.approve(1, &federation.plan(1, &run)).unwrap();
    federation.until(0, "approvals", |status| (status["open"]["not_approved"].as_array()?.len() == 1).then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(federation.status(0)["open"]["phase"], "proposed");
    federation.ask(2, &Request::Withdraw { operator: "tester".to_owned() }).unwrap();
    for place in 0..3 {
        let ending = federation.ending(place, &run);
        assert_eq!(ending["ended"], "aborted", "{ending}");
        let why = ending["why"].as_str().unwrap();
        assert!(why.contains("withdrawn by tester") && (place == 2 || why.contains("site-2 gave up")), "{ending}");
        assert!(ending["blamed"].is_null(), "{ending}");
    }
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    // A row more at one of them: the totals of both runs would differ by that row.
    let path = federation.home("site-1").join("people.csv");
    let rows = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{rows}Somebody,33,male,flu\n")).unwrap();
    let run = federation.propose(0);
    let plan = federation.plan(1, &run);
    let refused = federation.approve(1, &plan).unwrap_err();
    assert!(refused.contains("1 new and 0 removed rows of our own"), "{refused}");
    federation.plan(2, &run);
    assert!(federation.approve(2, &plan).unwrap_err().contains("what has changed at site-1"));
    federation.ask(0, &Request::Withdraw { operator: "tester".to_owned() }).unwrap();
    federation.ending(1, &run);
    // The book outlives the process, and an older copy of it is found.
    federation.stop(1);
    fs::write(&path, rows).unwrap();
    let book = fs::read(federation.data(1).join("book")).unwrap();
    federation.start(1);
    assert!(federation.run(1).iter().all(|ending| ending["ended"] == "published"));
    federation.stop(1);
    fs::write(federation.data(1).join("book"), book).unwrap();
    federation.start(1);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !federation.log(1).contains("the book of runs is older than the journal") {
        assert!(std::time::Instant::now() < until, "{}", federation.log(1));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn the_journal_tells_what_happened_and_shows_when_it_was_changed() {
    let mut federation = Federation::started(POLICY, &people(3), QUICK);
    federation.run(0);
    (0..3).for_each(|place| federation.stop(place));
    let mut opened = Vec::new();
    for place in 0..3 {
        let (mut what, mut values) = (Vec::new(), Vec::new());
        read_journal(&federation.data(place), |line| {
            match line.record.what {
                What::Disclosed => values.push(line.record.detail.to_string()),
                other => what.push(other),
            }
            Ok(())
        })
        .unwrap();
        let count = |kind: What| what.iter().filter(|what| **what == kind).count();
        assert_eq!((count(What::Joined), count(What::Approved)), (3, 3), "{what:?}");
        let once = [What::Proposed, What::Staged, What::Prepared, What::Published, What::Closed];
        assert_eq!(once.map(count), [1; 5]);
        assert_eq!(count(What::Burned), 2, "classes and rows");
        assert!(!values.is_empty());
        let ledger = fs::read_to_string(federation.data(place).join("ledgers/1")).unwrap();
        let rounds: Vec<serde_json::Value> = values.iter().map(|round| serde_json::from_str(round).unwrap()).collect();
        let entries: usize = rounds.iter().map(|round| round["entries"].as_array().unwrap().len()).sum();
        assert!(entries >= rounds.len(), "a round without entries");
        assert_eq!(ledger.lines().count(), entries);
        for entry in ledger.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            assert!(entry["step"].is_string() && entry["round"].is_u64() && entry["values"].is_array(), "{entry}");
        }
        opened.push(values);
    }
    assert!(opened.iter().all(|values| *values == opened[0]), "all saw the same");
    for place in 0..3 {
        federation.assert_no_canary(place);
    }
    let path = federation.data(1).join("journal.db");
    let changed = |sql: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        read_journal(&federation.data(1), |_| Ok(())).unwrap_err().to_string()
    };
    let sql = "UPDATE journal SET detail = replace(detail, 'tester', 'nobody') WHERE what = 'approved'";
    assert!(changed(sql).contains("was changed"));
    assert!(changed("DELETE FROM journal WHERE number = 3").contains("row 3 was changed, removed"));
    let settings = hedgerow_node::settings::Settings::load(&federation.home("site-1").join("node.toml")).unwrap();
    let terms = std::sync::Arc::new(Terms::load(&settings).unwrap());
    let signing = std::sync::Arc::new(hedgerow_node::keys::read_signing_key(&settings.signing_key).unwrap());
    let refused = hedgerow_node::disk::Disk::open(&federation.data(1), terms, signing, false).unwrap_err().to_string();
    assert!(refused.contains("row 3"), "a node does not go on with a changed journal: {refused}");
}

#[test]
fn the_demo_publishes_shows_what_was_seen_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut counted = Vec::new();
    for apart in [&[][..], &["--apart"]] {
        let mut demo = std::process::Command::new(env!("CARGO_BIN_EXE_hedgerow-node"));
        let output = demo.arg("demo").args(apart).env("TMPDIR", folder.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for line in ["published by all; 120 rows", "west has seen", "  flu | "] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(text.contains("stays at its custodian"), !apart.is_empty(), "{text}");
        assert!(!text.contains("patient "), "an identifier is printed: {text}");
        // Sums of shares round in the order in which they are added.
        let rounded = |cell: &str| cell.parse::<f64>().map_or(cell.to_owned(), |number| format!("{number:.9}"));
        let cells = |line: &str| line.split(" | ").map(|cell| rounded(cell.trim())).collect::<Vec<_>>();
        counted.push(text.lines().filter(|line| line.contains(" | ")).map(cells).collect::<Vec<_>>());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    assert_eq!(counted[0], counted[1], "answers from the release, and by all custodians");
}
