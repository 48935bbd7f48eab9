//! Every `--json` output against its schema in `docs/schemas`: each verb, over each kind of
//! release.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::running::{Folder, example};
use crate::schema::Schemas;

/// Runs commands in one folder, and remembers which schemas were used.
struct Outputs {
    folder: Folder,
    schemas: Schemas,
    used: RefCell<BTreeSet<String>>,
    problems: RefCell<Vec<String>>,
}

impl Outputs {
    /// Runs with `--json`, expects the exit code, and holds what was printed against a schema.
    fn expect(&self, code: i32, schema: &str, arguments: &[&str]) -> Value {
        let ran = self.folder.run(&[arguments, &["--json", "--no-progress"]].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        for problem in self.schemas.problems(schema, &value) {
            self.problems.borrow_mut().push(format!("docs/schemas/{schema}: {arguments:?}: {problem}"));
        }
        self.used.borrow_mut().insert(schema.to_owned());
        value
    }

    /// Publishes an example's policy, checks it and measures it.
    fn published(&self, policy: &str, release: &str) -> Value {
        let policy = example(policy);
        let policy = policy.to_str().unwrap();
        let published = self.expect(0, "publish.json", &["publish", policy, "-o", release]);
        self.expect(0, "check.json", &["check", release]);
        self.expect(0, "measure.json", &["measure", release, "--policy", policy, "--queries", "5"]);
        let page = format!("{release}.html");
        self.expect(0, "report.json", &["report", release, "--policy", policy, "-o", &page]);
        self.expect(0, "report.json", &["report", release, "--publishable", "-o", &page]);
        published
    }
}

#[test]
fn every_output_keeps_its_schema() {
    let outputs = Outputs {
        folder: Folder::new(),
        schemas: Schemas::read(),
        used: RefCell::default(),
        problems: RefCell::default(),
    };
    every_kind_of_release(&outputs);
    queries(&outputs);
    audits(&outputs);
    catalogs(&outputs);
    other_verbs(&outputs);
    let problems = outputs.problems.take();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let parts = ["common.json".to_owned()].into();
    let used: BTreeSet<String> = outputs.used.borrow().union(&parts).cloned().collect();
    // The node's own tests validate its outputs against the others.
    let own = outputs.schemas.names().filter(|name| !name.starts_with("node-"));
    let written: BTreeSet<String> = own.map(str::to_owned).collect();
    assert_eq!(used, written, "no output is validated against some schema");
}

fn every_kind_of_release(outputs: &Outputs) {
    outputs.published("hospital/policy.toml", "generalized");
    outputs.published("hospital/policy-local.toml", "local");
    outputs.published("hospital/anatomy.toml", "bucketized");
    outputs.published("six-patients/decompose.toml", "decomposed");
    outputs.published("salaries/near.toml", "numbers");
    let cloned = outputs.published("three-hospitals/clone-1.toml", "cloned");
    assert!(cloned["cloning"]["epsilon"].is_number(), "{cloned}");
    let (hospital, patients) = (example("hospital/policy.toml"), example("hospital/patients.csv"));
    let (hospital, patients) = (hospital.to_str().unwrap(), patients.to_str().unwrap());
    let explained = ["publish", hospital, "-o", "explained", "--candidates", "--explain"];
    assert!(outputs.expect(0, "publish.json", &explained)["candidates"].is_u64());
    assert_eq!(outputs.expect(4, "check.json", &["check", "--policy", hospital, patients])["holds"], false);
}

fn queries(outputs: &Outputs) {
    let grouped = "SELECT sex, COUNT(*), SUM(age), AVG(age) FROM data WHERE age >= 25 GROUP BY sex";
    for release in ["generalized", "local", "bucketized"] {
        outputs.expect(0, "query.json", &["query", release, grouped]);
    }
    for release in ["decomposed", "cloned", "numbers"] {
        outputs.expect(0, "query.json", &["query", release, "SELECT COUNT(*) FROM data WHERE age < 30"]);
    }
    outputs.expect(0, "query.json", &["query", "generalized", "SELECT * FROM data WHERE age > 50 LIMIT 3"]);
    let empty = "SELECT COUNT(*), AVG(age) FROM data WHERE age > 500";
    outputs.expect(0, "query.json", &["query", "generalized", empty]);
}

fn audits(outputs: &Outputs) {
    for name in ["revenue", "census"] {
        let policy = example(&format!("departments/{name}.toml"));
        outputs.expect(0, "publish.json", &["publish", policy.to_str().unwrap(), "-o", name]);
    }
    let breach = outputs.expect(4, "audit.json", &["audit", "revenue", "census", "--table"]);
    assert_eq!(breach["breach"], true);
    outputs.expect(0, "report.json", &["report", "revenue", "census", "-o", "several.html"]);
    for release in ["generalized", "local", "bucketized", "decomposed", "cloned", "numbers"] {
        outputs.expect(0, "audit.json", &["audit", release]);
    }
    let (people, policy) = (example("hospital/patients.csv"), example("hospital/policy.toml"));
    let known = ["--people", people.to_str().unwrap(), "--policy", policy.to_str().unwrap()];
    for release in ["generalized", "local", "bucketized"] {
        outputs.expect(0, "audit.json", &[&["audit", release], known.as_slice()].concat());
    }
}

fn catalogs(outputs: &Outputs) {
    outputs.expect(0, "catalog-add.json", &["catalog", "add", "catalog", "revenue", "--custodian", "state"]);
    outputs.expect(0, "catalog-add.json", &["catalog", "add", "catalog", "bucketized"]);
    outputs.expect(0, "catalog-list.json", &["catalog", "list", "catalog"]);
    outputs.expect(0, "catalog-show.json", &["catalog", "show", "catalog", "revenue"]);
    outputs.expect(0, "audit.json", &["audit", "--catalog", "catalog"]);
    let policy = example("hospital/policy.toml");
    let with_catalog = ["publish", policy.to_str().unwrap(), "-o", "cataloged", "--catalog", "catalog-2"];
    outputs.expect(0, "catalog-add.json", &["catalog", "add", "catalog-2", "revenue"]);
    assert!(outputs.expect(0, "publish.json", &with_catalog)["catalog"].is_object());
}

fn other_verbs(outputs: &Outputs) {
    let (patients, six) = (example("hospital/patients.csv"), example("six-patients/decompose.toml"));
    outputs.expect(0, "init.json", &["init", patients.to_str().unwrap(), "-o", "policy.toml"]);
    let hospital = example("hospital/policy.toml");
    outputs.expect(0, "explore.json", &["explore", hospital.to_str().unwrap()]);
    outputs.expect(0, "rules.json", &["rules", six.to_str().unwrap()]);
    outputs.expect(0, "synth-census.json", &["synth", "census", "--rows", "50", "-o", "census"]);
    let ring = ["federation", "lop", "--custodians", "4", "--domain", "100", "--items", "20", "--dummy-items", "5"];
    outputs.expect(0, "federation-lop.json", &[&ring, ["--runs", "2", "--wanted", "0.1"].as_slice()].concat());
    for of in ["sum", "median", "least", "greatest"] {
        outputs.expect(0, "federation-lop.json", &[&ring, ["--runs", "2", "--of", of].as_slice()].concat());
    }
}
