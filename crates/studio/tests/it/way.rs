//! The whole way over HTTP: from a data file to a verified release, each change in the policy.

use crate::client::{Studio, hospital};

#[test]
fn a_data_file_becomes_a_verified_release() {
    let folder = hospital(false);
    let studio = Studio::start(folder.path(), &["patients.csv"]);
    let session = studio.enter();
    let data = studio.settled(&session, "/data");
    assert!(data.contains("Histogram of diagnosis") && data.contains("The policy is valid."), "{data}");
    let policy = || std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    assert!(policy().contains("[attributes]"));

    let reply = studio.post(&session, "/data/role", "name=sex&role=plain").body;
    let sex = policy().lines().find(|line| line.starts_with("sex")).map(str::to_owned).unwrap();
    assert!(sex.contains("\"plain\""), "{sex}");
    assert!(reply.contains("<ins>") && reply.contains("sex is plain"), "the change is shown");
    let before = policy();
    studio.post(&session, "/undo", "page=data");
    assert_ne!(policy(), before);

    let sets = studio.settled(&session, "/data");
    assert!(sets.contains("Two columns") && sets.contains("rows singled out"), "found without being asked for: {sets}");

    studio.post(&session, "/rules/preset", "preset=4&protect=diagnosis");
    assert!(policy().contains("distinct-l-diversity"));
    let implied = studio.settled(&session, "/rules");
    assert!(implied.contains("No rule contradicts") && implied.contains("<svg"), "the rules graph: {implied}");
    assert!(implied.contains("<td>1</td>") && !implied.contains("<td>3</td>"), "numbered as in the graph: {implied}");
    studio.post(&session, "/publish/suppression", "value=5");
    assert!(policy().contains("suppression = 0.05"));

    studio.post(&session, "/publish/run", "destination=first");
    let result = studio.settled(&session, "/publish");
    assert!(result.contains("class=\"verified\"") && result.contains("holds"), "{result}");
    assert!(folder.path().join("first/datapackage.json").is_file());
    let release = hedgerow::Release::open(folder.path().join("first")).unwrap();
    assert!(release.check().unwrap().holds());
    studio.post(&session, "/publish/compare", "");
    assert!(studio.settled(&session, "/publish").contains("Methods next to each other"));
}

#[test]
fn what_the_studio_publishes_is_what_the_command_would() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    studio.post(&session, "/publish/run", "destination=here");
    studio.settled(&session, "/publish");
    let policy = hedgerow::Policy::load(folder.path().join("policy.toml")).unwrap();
    let there = hedgerow::publish(&policy, folder.path().join("there")).unwrap();
    let rows = |name: &str| {
        let csv = std::fs::read_dir(folder.path().join(name)).unwrap().flatten().map(|entry| entry.path());
        let csv = csv.filter(|path| path.ends_with("data.csv"));
        let mut rows: Vec<String> = csv
            .flat_map(|path| std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(rows("here"), rows("there"));
    assert!(!rows("here").is_empty());
    assert!(there.search.unwrap().proven);
}

#[test]
fn a_policy_that_no_release_satisfies_is_explained() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    studio.post(&session, "/rules/set", "rule=0&place=0&key=k&value=5000");
    studio.post(&session, "/publish/run", "destination=never");
    let page = studio.settled(&session, "/publish");
    assert!(page.contains("ended without a result"), "{page}");
    assert!(!folder.path().join("never").exists());
    let page = studio.post(&session, "/rules/set", "rule=0&place=0&key=k&value=0").body;
    assert!(page.contains("One problem"), "{page}");
}

#[test]
fn a_contradiction_is_explained_as_it_arises() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    assert!(studio.settled(&session, "/rules").contains("No rule contradicts"));
    // Each class would have more values than the table has.
    studio.post(&session, "/rules/add", "model=frequency-l-diversity&protect=diagnosis");
    studio.post(&session, "/rules/set", "rule=2&place=0&key=l&value=90");
    let page = studio.settled(&session, "/rules");
    assert!(page.contains("impossible") && !page.contains("No rule contradicts"), "{page}");
    // What the attacker knows: from every quasi-identifier to a list.
    studio.post(&session, "/rules/know", "rule=0");
    let policy = std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    assert!(policy.contains("know = [\"age\", \"zip\", \"sex\", \"admitted\"]"), "{policy}");
    studio.post(&session, "/rules/know", "rule=0&know=age&know=zip");
    assert!(studio.settled(&session, "/rules").contains("age, zip</strong>"));
    studio.post(&session, "/rules/know", "rule=0&all=yes");
    assert!(!std::fs::read_to_string(folder.path().join("policy.toml")).unwrap().contains("know ="));
}

#[test]
fn another_table_can_be_opened() {
    let folder = hospital(true);
    std::fs::write(folder.path().join("other.csv"), "age,ill\n30,a\n31,b\n32,a\n33,b\n").unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    assert!(studio.settled(&session, "/data").contains("Open another"));
    let page = studio.get(&session, "/open").body;
    assert!(page.contains("other.csv") && page.contains("Back to"), "{page}");
    studio.post(&session, "/open", "data=other.csv");
    assert!(studio.settled(&session, "/data").contains("Histogram of ill"));
    assert!(folder.path().join("other-policy.toml").is_file(), "beside the policy of the other table");
}

#[test]
fn a_value_that_others_use_changes_the_rule_that_is_there() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let policy = || std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    let rules = policy().matches("[[rule]]").count();
    let page = studio.post(&session, "/rules/preset", "preset=1&protect=diagnosis").body;
    assert!(policy().contains("k = 11") && policy().matches("[[rule]]").count() == rules, "{}", policy());
    assert!(page.contains("Undo: k = 11 in rule 1") && page.contains("in the policy"), "{page}");
    // One that no rule has becomes a rule.
    studio.post(&session, "/rules/preset", "preset=6&protect=diagnosis");
    assert!(policy().contains("t = 0.3") && policy().matches("[[rule]]").count() == rules + 1, "{}", policy());
}

#[test]
fn a_method_without_levels_leads_to_the_lattice_in_one_click() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    studio.post(&session, "/publish/set", "key=method&value=cluster");
    let page = studio.get(&session, "/publish").body;
    assert!(page.contains("granularity, a little entropy") && !page.contains("value=\"discernibility\""), "{page}");
    assert!(studio.get(&session, "/explore").body.contains("id=\"use-full-domain\""));
    studio.post(&session, "/explore/use", "");
    let page = studio.settled(&session, "/explore");
    assert!(page.contains("combinations of levels satisfy every rule"), "{page}");
    assert!(page.contains("Undo: method = full-domain"), "{page}");
}

#[test]
fn pictures_are_there_before_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    // With fourteen columns, looking for a method takes a while.
    let names: Vec<String> = (0..14).map(|place| format!("a{place}")).collect();
    let mut state = 1u64;
    let mut text = names.join(",") + ",illness\n";
    for _ in 0..3000 {
        for _ in &names {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&format!("{},", (state >> 33) % 60));
        }
        text.push_str(["flu\n", "gout\n", "cold\n"][(state >> 40) as usize % 3]);
    }
    std::fs::write(folder.path().join("people.csv"), text).unwrap();
    let studio = Studio::start(folder.path(), &["people.csv"]);
    let session = studio.enter();
    let started = std::time::Instant::now();
    let mut page = String::new();
    while !page.contains("Histogram of illness") {
        page = studio.get(&session, "/data").body;
        assert!(started.elapsed().as_secs() < 60, "{page}");
    }
    assert!(!folder.path().join("policy.toml").exists(), "the method is still looked for");
    assert!(page.contains("id=\"cancel-job\"") && page.contains("<dd>3,000</dd>"), "{page}");
    assert!(!page.contains("hx-post=\"/data/role\""), "there is nothing to change yet");
    // A page from before the rows were read has to fetch them; one that has them goes on.
    assert!(studio.get(&session, "/job?page=data&pictures=no").body.contains("hx-trigger=\"load\""));
    assert!(studio.get(&session, "/job?page=data").body.contains("every 250ms"));
    studio.post(&session, "/job/cancel", "page=data");
    let page = studio.settled(&session, "/data");
    assert!(page.contains("Canceled: nothing was written.") && page.contains("Drop a file here"), "{page}");
    assert!(!folder.path().join("policy.toml").exists());
}
