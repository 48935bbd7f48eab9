//! The output of a node's commands, validated against the schemas in `docs/schemas`.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::federation::{Federation, POLICY, people};
use crate::schema::Schemas;

#[test]
fn outputs_are_what_their_schemas_say() {
    let schemas = Schemas::read();
    let mut used = BTreeSet::new();
    let mut hold = |schema: &str, value: &Value| {
        let problems = schemas.problems(schema, value);
        assert!(problems.is_empty(), "docs/schemas/{schema}: {problems:#?}: {value:#}");
        used.insert(schema.to_owned());
    };
    let federation = Federation::started(POLICY, &people(3), "");
    let settings = federation.home(&federation.names[0]).join("node.toml");
    let printed = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-node"));
        let output = command.arg(arguments[0]).arg(&settings).args(&arguments[1..]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let status = || serde_json::from_str::<Value>(&printed(&["status"])).unwrap();
    hold("node-status.json", &federation.status(0));
    let run = federation.propose(0);
    let plan = federation.plan(0, &run);
    let open = status();
    assert_eq!(open["open"]["plan"], plan.as_str());
    hold("node-status.json", &open);
    for place in 0..3 {
        let plan = federation.plan(place, &run);
        federation.approve(place, &plan).unwrap();
    }
    assert_eq!(federation.ending(0, &run)["ended"], "published");
    let run = federation.propose(0);
    federation.plan(0, &run);
    printed(&["withdraw", "--operator", "tester"]);
    assert_eq!(federation.ending(0, &run)["ended"], "aborted");
    let both = status();
    assert_eq!(both["ended"].as_array().unwrap().len(), 2);
    hold("node-status.json", &both);
    for sql in ["SELECT disease, COUNT(*) FROM data GROUP BY disease", "SELECT * FROM data LIMIT 3"] {
        hold("node-query.json", &serde_json::from_str(&printed(&["query", sql])).unwrap());
    }
    hold("node-reload.json", &serde_json::from_str(&printed(&["reload", "--operator", "tester"])).unwrap());
    hold("node-terms.json", &serde_json::from_str(&printed(&["terms"])).unwrap());
    let journal = printed(&["journal", "--values"]);
    assert!(journal.lines().count() > 10);
    journal.lines().for_each(|line| hold("node-journal.json", &serde_json::from_str(line).unwrap()));
    let own: BTreeSet<String> = schemas.names().filter(|name| name.starts_with("node-")).map(str::to_owned).collect();
    assert_eq!(used, own, "no output is validated against some schema");
}
