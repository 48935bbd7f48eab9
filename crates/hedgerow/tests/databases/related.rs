//! Quasi-identifiers of which one follows from the other (county and region), from a database: the
//! manifest lists them with the classes that their labels give together, as it does for rows in
//! memory.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow::{Policy, Publish};
use hedgerow_table::Table;
use hedgerow_table::read::ReadOptions;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::random::{from_engine, outcome};
use crate::server::Server;

const HEADER: [&str; 4] = ["age", "county", "region", "disease"];

/// Regions of five counties each; few live in the last ones.
fn people(seed: u64) -> Vec<[String; 4]> {
    let mut rng = StdRng::seed_from_u64(seed);
    let person = |rng: &mut StdRng| {
        let county = if rng.random_bool(0.7) { rng.random_range(0..10) } else { rng.random_range(0..20) };
        let disease = ["flu", "hiv", "none"][rng.random_range(0..3usize)];
        [rng.random_range(20..60).to_string(), format!("c{county:02}"), format!("r{}", county / 5), disease.to_owned()]
    };
    (0..rng.random_range(60..200)).map(|_| person(&mut rng)).collect()
}

fn policy(source: &str, method: &str, folder: &Path) -> Policy {
    let text = format!(
        "[source]\n{source}\n[attributes]\nage = {{ role = \"quasi\", type = \"integer\", hierarchy = {{ widths = [10, 20] }} }}\n\
         county = {{ role = \"quasi\", hierarchy = {{ mask = 2 }} }}\nregion = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\" }}\n{}\n[publish]\n{method}\n",
        crate::K2
    );
    Policy::parse(&text, folder.join("policy.toml")).unwrap()
}

/// The classes of rows that agree on the labels of county and region, counted by hand.
fn counted(files: &BTreeMap<String, Vec<u8>>) -> (u64, u64, u64) {
    let text = String::from_utf8(files["data.csv"].clone()).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    // Labels of ages may have commas: the last three columns have none.
    let from_end = |name: &str| header.len() - 1 - header.iter().position(|column| *column == name).unwrap();
    let places = ["county", "region"].map(from_end);
    let mut classes: BTreeMap<[&str; 2], u64> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.rsplit(',').collect();
        *classes.entry(places.map(|place| cells[place])).or_default() += 1;
    }
    let sizes = || classes.values().copied();
    (classes.len() as u64, sizes().min().unwrap(), sizes().max().unwrap())
}

#[test]
fn related_attributes_of_a_database_are_those_of_its_rows_in_memory() {
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    client.batch_execute("CREATE TABLE people (age int, county text, region text, disease text)").unwrap();
    let source = format!("url = \"{}\"\ntable = \"people\"", server.address(""));
    let (mut released, mut several) = (0, 0);
    for seed in 0..30 {
        let people = people(seed);
        client.batch_execute("TRUNCATE people").unwrap();
        let insert = client.prepare("INSERT INTO people VALUES ($1::text::int, $2, $3, $4)").unwrap();
        for [age, county, region, disease] in &people {
            client.execute(&insert, &[age, county, region, disease]).unwrap();
        }
        let rows = people.iter().map(|row| row.iter().map(Some));
        let table = Table::from_records(HEADER, rows, &ReadOptions::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let release = folder.path().join("release");
        let method = ["method = \"full-domain\"\nsuppression = 0.3", "method = \"mondrian\""][seed as usize % 2];
        let policy = policy(&source, method, folder.path());
        let expected = outcome(Publish::new(&policy, &release).source(&table), &release);
        assert_eq!(outcome(Publish::new(&policy, &release), &release), expected, "{seed}: read");
        assert_eq!(from_engine(&policy, folder.path()), expected, "{seed}: counted at the server");
        let Ok(files) = expected else { continue };
        released += 1;
        let manifest: Value = serde_json::from_slice(&files["datapackage.json"]).unwrap();
        let related = &manifest["hedgerow"]["related"];
        let of_county = related.as_array().into_iter().flatten().find(|related| related["to"] == "region");
        let Some(of_county) = of_county else { continue };
        assert_eq!(of_county["from"], serde_json::json!(["county"]), "{seed}: {related}");
        let classes = &of_county["classes"];
        let found = ["count", "min", "max"].map(|key| classes[key].as_u64().unwrap());
        assert_eq!(<(u64, u64, u64)>::from(found), counted(&files), "{seed}: {related}");
        several += u64::from(found[0] > 1);
    }
    assert!(released > 20 && several > 5, "{released} releases, {several} with several classes");
}
