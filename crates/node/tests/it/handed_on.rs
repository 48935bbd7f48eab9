//! The files that custodians hand on: the release of one publisher over the same rows, the same
//! bytes at every node, and nothing of what was opened on the way.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_node::disk::hash_of;
use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, RowSource, publish};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::federation::{Federation, POLICY, dealt, lines};
use crate::processes::comparable;

/// All files below a folder, by their place in it.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(below).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(found.insert(path.strip_prefix(folder).unwrap().to_owned())),
            }
        }
    }
    found
}

/// The files of an epoch are those of an ordinary release, and no line of the ledger is in them.
#[test]
fn the_ledger_is_not_beside_what_is_handed_on() {
    let (folder, header) = (tempfile::tempdir().unwrap(), "name,age,sex,disease");
    let mut rng = StdRng::seed_from_u64(4);
    let mut row = |number: usize| {
        let (sex, disease) = (["female", "male"][rng.random_range(0..2)], rng.random_range(0..4));
        let disease = ["asthma", "diabetes", "flu", "gout"][disease];
        format!("Canary-{number},{},{sex},{disease}", rng.random_range(20..30))
    };
    let rows: Vec<String> = (0..90).map(&mut row).collect();
    let parts = dealt(header, &rows, 3);
    fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    fs::write(folder.path().join("people.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let policy = Policy::load(&folder.path().join("policy.toml")).unwrap();
    publish(&policy, RowSource::Policy, &PublishOptions::to(folder.path().join("alone"))).unwrap();
    let ordinary = files(&folder.path().join("alone"));
    for apart in [false, true] {
        let federation = Federation::started(POLICY, &parts, if apart { "rows = \"apart\"\n" } else { "" });
        assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
        for place in 0..3 {
            let data = federation.data(place);
            let ledger = fs::read_to_string(data.join("ledgers/1")).unwrap();
            assert!(ledger.lines().count() > 3, "{ledger}");
            assert_eq!(files(&data.join("ledgers")).len(), 1, "one for an epoch, and none on its way");
            let epoch = data.join("epochs/1");
            let expected: BTreeSet<PathBuf> = match apart {
                true => ["outline.json", "part.json"].map(PathBuf::from).into(),
                false => ordinary.iter().map(|name| Path::new("release").join(name)).collect(),
            };
            assert_eq!(files(&epoch), expected);
            for name in &expected {
                let text = String::from_utf8_lossy(&fs::read(epoch.join(name)).unwrap()).into_owned();
                let opened = ledger.lines().find(|line| text.contains(*line));
                assert_eq!(opened, None, "{} has what was opened", name.display());
            }
        }
        let common = |place: usize| {
            let epoch = federation.data(place).join("epochs/1");
            hash_of(&epoch.join(if apart { "outline.json" } else { "release" })).unwrap()
        };
        assert!((1..3).all(|place| common(place) == common(0)), "the same bytes at all nodes");
    }
}

/// A policy over the values that occur in rows: a range for numbers, the hierarchies of the census
/// for some attributes, an order for the others. Also what a cell with all values of an order says.
fn census_policy(folder: &Path, header: &str, rows: &[String]) -> (String, Vec<String>) {
    let hierarchies = hedgerow_synth::census_hierarchies();
    let mut policy = "[source]\npath = \"people.csv\"\n[attributes]\n".to_owned();
    let mut all_values = Vec::new();
    for (place, name) in header.split(',').enumerate() {
        let cells = rows.iter().map(|row| row.split(',').nth(place).unwrap()).filter(|cell| !cell.is_empty());
        let values: BTreeSet<&str> = cells.collect();
        let hierarchy = hierarchies.iter().find(|(of, _)| *of == name && ["education", "occupation"].contains(of));
        let declared = match (name, hierarchy) {
            ("age" | "income", _) => {
                let numbers: Vec<u32> = values.iter().map(|number| number.parse().unwrap()).collect();
                format!("range = [{}, {}]", numbers.iter().min().unwrap(), numbers.iter().max().unwrap())
            }
            (_, Some((_, leaves))) => {
                let occurs = |line: &&str| values.contains(line.split(';').next().unwrap());
                let path = folder.join(format!("{name}.csv"));
                fs::write(&path, leaves.lines().filter(occurs).fold(String::new(), |text, line| text + line + "\n"))
                    .unwrap();
                format!("hierarchy = {path:?}")
            }
            _ => {
                all_values.push(format!("{} to {}", values.first().unwrap(), values.last().unwrap()));
                format!("order = {:?}", values.iter().collect::<Vec<_>>())
            }
        };
        let role = if name == "income" { "sensitive" } else { "quasi" };
        writeln!(policy, "{name} = {{ role = \"{role}\", {declared} }}").unwrap();
    }
    policy.push_str(
        "[[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n[[rule]]\nprotect = \"income\"\n\
         require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"mondrian\"\nstrict = true\n",
    );
    (policy, all_values)
}

/// The real publisher, over a file with all rows and its own domains, against three nodes: a
/// synthetic census with all kinds of attributes, where no row lacks a value and where some do.
#[test]
fn a_census_under_strict_cuts_is_what_hedgerow_publish_makes_of_the_same_policy() {
    for missing in [false, true] {
        let mut census = Vec::new();
        hedgerow_synth::census(1500, 8, &mut census).unwrap();
        let census = String::from_utf8(census).unwrap();
        let (header, rows) = census.split_once('\n').unwrap();
        let row = |(number, row): (usize, &str)| {
            let mut cells: Vec<&str> = row.split(',').collect();
            // One attribute of each kind: a range, a hierarchy, an order.
            for (every, place) in [(41, 0), (29, 2), (17, 5)] {
                if missing && number % every == 3 {
                    cells[place] = "";
                }
            }
            cells.join(",")
        };
        let rows: Vec<String> = rows.lines().enumerate().map(row).collect();
        let folder = tempfile::tempdir().unwrap();
        let (policy, all_values) = census_policy(folder.path(), header, &rows);
        fs::write(folder.path().join("policy.toml"), &policy).unwrap();
        fs::write(folder.path().join("people.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        let loaded = Policy::load(&folder.path().join("policy.toml")).unwrap_or_else(|error| panic!("{error}"));
        let alone = folder.path().join("alone");
        publish(&loaded, RowSource::Policy, &PublishOptions::to(alone.clone()))
            .unwrap_or_else(|error| panic!("{error}"));
        let expected = comparable(&lines(&alone.join("data.csv")), &all_values, "income");
        let federation = Federation::started(&policy, &dealt(header, &rows, 3), "");
        let endings = federation.run(0);
        assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:#?}");
        let found = comparable(&federation.released(0, 1), &all_values, "income");
        assert_eq!(found.len(), expected.len());
        let differ: Vec<_> = found.iter().zip(&expected).filter(|(found, expected)| found != expected).collect();
        assert!(
            differ.is_empty(),
            "missing values: {missing}: {} rows in other classes, such as {:#?}",
            differ.len(),
            &differ[..differ.len().min(20)]
        );
        let classes: BTreeSet<&String> = expected.iter().collect();
        assert!(classes.len() > 50, "{} classes", classes.len());
    }
}
