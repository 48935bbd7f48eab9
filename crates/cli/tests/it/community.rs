//! Releases beside one another, as users meet them: the audit, publishing beside a community, the
//! catalog.

use serde_json::Value;

use crate::running::{Folder, Ran};

pub(crate) fn publish(folder: &Folder, policy: &str, release: &str) {
    let ran = folder.run(&["publish", policy, "-o", release, "--seed", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

pub(crate) fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

pub(crate) fn adversary<'a>(audit: &'a Value, name: &str) -> &'a Value {
    audit["adversaries"].as_array().unwrap().iter().find(|found| found["name"] == name).unwrap()
}

pub(crate) fn departments() -> Folder {
    let folder = Folder::of_example("departments");
    publish(&folder, "revenue.toml", "revenue-release");
    publish(&folder, "census.toml", "census-release");
    folder
}

#[test]
fn the_departments_are_breached_and_then_publish_safely() {
    let folder = departments();
    let ran = folder.run(&["audit", "revenue-release", "census-release", "--json"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let found = json(&ran);
    assert_eq!(found["breach"], true);
    let composition = adversary(&found, "composition");
    assert_eq!(composition["effective_l"], 1);
    assert_eq!(composition["worst"]["values"][0]["value"], "Low");
    let both = "age,zip\n18,15341\n48,28544\n60,25434\n";
    folder.write("both.csv", both);
    let people = folder.run(&["audit", "revenue-release", "census-release", "--people", "both.csv", "--json"]);
    let composition = adversary(&json(&people), "composition").clone();
    assert_eq!((&composition["people"], &composition["at_risk"]), (&3.into(), &1.into()));
    let text = folder.run(&["audit", "revenue-release", "census-release", "--people", "both.csv"]).stdout;
    assert!(text.contains("left: `Low` 1.000") && !text.contains("15341"), "{text}");

    let ran = folder.run(&["publish", "census-beside.toml", "-o", "safe", "--candidates", "--json", "--seed", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let published = json(&ran);
    assert_eq!((&published["candidates"], &published["levels"]["zip"]), (&1.into(), &2.into()));
    assert_eq!(published["guarantees"][0]["achieved"]["l"], 2);
    let ran = folder.run(&["audit", "revenue-release", "safe"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_guarantee_across_releases_is_checked_beside_them() {
    let folder = departments();
    publish(&folder, "census-beside.toml", "safe");
    let alone = folder.run(&["check", "safe"]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    assert!(alone.stdout.contains("unchecked  cross-release-l-diversity"), "{}", alone.stdout);
    let beside = folder.run(&["check", "safe", "--community", "revenue-release", "--json"]);
    assert_eq!(beside.code, Some(0), "{beside:?}");
    let claim = json(&beside)["guarantees"][0].clone();
    assert_eq!((&claim["model"], &claim["holds"]), (&"cross-release-l-diversity".into(), &true.into()));
    let other = folder.run(&["check", "safe", "--community", "census-release"]);
    assert_eq!(other.code, Some(4), "{other:?}");
    assert!(other.stdout.contains("1 of 1 releases"), "{}", other.stdout);
}

#[test]
fn a_community_that_is_broken_or_about_others_is_refused_before_any_search() {
    let folder = departments();
    let with = |releases: &str, l: u64| {
        let text = folder.read("census-beside.toml");
        let text = text.replace("l = 2", &format!("l = {l}")).replace("\"revenue-release\"", releases);
        folder.write("beside.toml", text);
        folder.run(&["publish", "beside.toml", "-o", "beside"])
    };
    let broken = with("\"*-release\"", 2);
    assert_eq!(broken.code, Some(3), "{broken:?}");
    for words in [
        "leaves 1 of the values of `salary-class`",
        "revenue-release: age",
        "census-release: zip",
        "left together: `Low`",
    ] {
        assert!(broken.stderr.contains(words), "{words}: {}", broken.stderr);
    }
    let nothing = with("\"no-such-*\"", 2);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.stderr.contains("matches nothing"), "{}", nothing.stderr);
    let text = folder.read("revenue-release/data.csv").replace("Middle", "Average");
    folder.write("revenue-release/data.csv", text);
    let foreign = with("\"revenue-release\"", 2);
    assert_eq!(foreign.code, Some(3), "{foreign:?}");
    for words in ["left together: `Low`", "only it has `Average`; it lacks `Middle`", "[community.values.salary-class]"]
    {
        assert!(foreign.stderr.contains(words), "{words}: {}", foreign.stderr);
    }
    assert!(!folder.names().contains(&"beside".to_owned()));
}

/// The revenue office calls the middle class average, and has people more, of a class that the
/// census lacks. Beside the census' release a single one of them is known by what the others have.
#[test]
fn publishers_with_other_values_and_spellings_publish_beside_one_another() {
    let folder = departments();
    let other = folder.read("revenue-release/data.csv").replace("Middle", "Average");
    folder.write("revenue-release/data.csv", format!("{other}40+,Top\n"));
    let policy = folder.read("census-beside.toml");
    let with = |pair: &str| {
        folder.write("beside.toml", format!("{policy}\n[community.values.salary-class]\n{pair}\n"));
        folder.run(&["publish", "beside.toml", "-o", "beside", "--seed", "1"])
    };
    let slip = with("Average = \"Midle\"");
    assert_eq!(slip.code, Some(2), "{slip:?}");
    for words in ["beside.toml:", "community.values.salary-class.Average", "no value \"Midle\""] {
        assert!(slip.stderr.contains(words), "{words}: {}", slip.stderr);
    }
    assert!(!slip.stderr.contains("Middle"), "a value of the private source: {}", slip.stderr);
    let exposed = with("Average = \"Middle\"\nMedium = \"Middle\"");
    assert_eq!(exposed.code, Some(4), "{exposed:?}");
    assert!(exposed.stderr.contains("are of people who are not listed"), "{}", exposed.stderr);
    // Several of them hide one another.
    folder.write("revenue-release/data.csv", format!("{other}40+,Top\n40+,Average\n<40,Average\n<40,Low\n"));
    let published = with("Average = \"Middle\"\nMedium = \"Middle\"");
    assert_eq!(published.code, Some(0), "{published:?}");
    assert!(published.stderr.contains("no release has the value \"Medium\""), "{}", published.stderr);
    assert!(published.stderr.contains("only it has `Top`"), "{}", published.stderr);
    let manifest: Value = serde_json::from_str(&folder.read("beside/datapackage.json")).unwrap();
    let required = &manifest["hedgerow"]["guarantees"][0]["required"];
    assert_eq!(required["values"]["Average"], "Middle", "{required}");
    let checked = folder.run(&["check", "beside", "--community", "revenue-release"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");

    // The same mapping makes the audit see what is left together.
    let left = |policy: &[&str]| {
        let arguments = [&["audit", "revenue-release", "beside", "--people", "both.csv", "--json"], policy].concat();
        let ran = folder.run(&arguments);
        adversary(&json(&ran), "composition")["effective_l"].clone()
    };
    folder.write("both.csv", "age,zip\n18,15341\n");
    assert_eq!(left(&["--policy", "beside.toml"]), 2);
    assert_eq!(left(&[]), 1, "spelled differently, only Low is left");
}

/// Hospitals that know nothing of one another, in pairs: Nancy has D, David J, Eliza G.
#[test]
fn three_hospitals_give_three_people_away() {
    let folder = Folder::of_example("three-hospitals");
    for number in ["1", "2", "3"] {
        publish(&folder, &format!("hospital-{number}.toml"), &format!("release-{number}"));
    }
    for (first, second, person, disease) in
        [("1", "2", "50,F,", "D"), ("1", "3", "15,M,Never-married", "J"), ("2", "3", "30,F,CIV-spouse", "G")]
    {
        folder.write("people.csv", format!("age,sex,marital-status,disease\n{person},{disease}\n"));
        let releases = [format!("release-{first}"), format!("release-{second}")];
        let arguments = ["audit", &releases[0], &releases[1], "--people", "people.csv", "--json"];
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        let composition = adversary(&json(&ran), "composition").clone();
        assert_eq!((&composition["at_risk"], &composition["true_hits"]), (&1.into(), &1.into()), "{composition}");
        assert_eq!(composition["worst"]["values"][0]["value"], disease);
    }
}

/// Ages from 20 to 40 and above as pandas, R, ARX and people write them: every person is found.
#[test]
fn people_are_found_under_the_labels_of_other_programs() {
    let folder = Folder::new();
    let sidecar = "[source]\npath = \"data.csv\"\ndelimiter = \"|\"\n[attributes]\nage = { role = \"quasi\" }\n\
                   disease = { role = \"sensitive\" }\n";
    folder.write("r/release.toml", sidecar);
    // 40 is in the first interval, and 39.5 is not above 39.
    folder.write("people.csv", "age\n40\n");
    let audit = |labels: [&str; 2], people: &str| {
        let rows = labels.map(|label| format!("{label}|flu\n{label}|cold\n"));
        folder.write("r/data.csv", format!("age|disease\n{}{}{}|HIV\n", rows[0], rows[1], labels[1]));
        folder.write("people.csv", format!("age\n{people}\n"));
        folder.run(&["audit", "r", "--people", "people.csv", "--json"])
    };
    for (labels, people, rows) in [
        (["(20, 40]", "(40, 60]"], "40", 2),
        (["]20, 40]", "]40, 60]"], "40", 2),
        (["[20,40)", "[40,60)"], "40", 3),
        (["(19.999, 40.0]", "(40.0, 60.0]"], "20", 2),
        (["20-39", "40+"], "41", 3),
        (["<=39", ">39"], "39.5", 3),
        (["<40", "40 and over"], "39.5", 2),
        (["[1e+01,4e+01)", "[4e+01,1e+02]"], "100", 3),
    ] {
        let ran = audit(labels, people);
        let found = json(&ran);
        let linker = adversary(&found, "linker");
        assert_eq!((&linker["people"], &linker["effective_k"]), (&1.into(), &rows.into()), "{labels:?}: {ran:?}");
        assert_eq!(found["warnings"], serde_json::json!([]), "{labels:?}: {ran:?}");
    }
    let ran = audit(["<40", "(40 : 60)"], "30");
    assert!(json(&ran)["warnings"][0]["message"].as_str().unwrap().contains("1 of 2 labels of `age`"), "{ran:?}");
    let ran = audit(["[20 : 40]", "(40 : 60]"], "30");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("2 of 2 labels of `age` cannot be read, such as `(40 : 60]`"), "{ran:?}");
    let ran = audit(["young", "old"], "30");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("cannot stand for any of the numbers that the people have"), "{ran:?}");
}

#[test]
fn a_table_made_elsewhere_joins_by_a_sidecar() {
    let folder = departments();
    folder.write("arx/data.csv", "zip;salary-class\n<20000;High\n<20000;Low\n>=20000;High\n>=20000;Middle\n");
    let sidecar = "[source]\npath = \"data.csv\"\n[attributes]\nzip = { role = \"quasi\" }\nsalary-class = { role = \"sensitive\" }\n";
    folder.write("arx/release.toml", sidecar);
    folder.write("both.csv", "age,zip\n18,15341\n");
    let ran = folder.run(&["audit", "revenue-release", "arx", "--people", "both.csv", "--json"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let found = json(&ran);
    let composition = adversary(&found, "composition");
    assert_eq!((&composition["at_risk"], &composition["worst"]["values"][0]["value"]), (&1.into(), &"Low".into()));
    folder.write("arx/release.toml", sidecar.replace("zip = ", "zap = "));
    let ran = folder.run(&["audit", "arx"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the table has no column `zap`"), "{}", ran.stderr);
}

#[test]
fn garbage_is_named_and_claims_are_not_believed() {
    let damaged = |file: &str, change: &dyn Fn(String) -> String| {
        let folder = Folder::with_release("release");
        let text = folder.read(&format!("release/{file}"));
        folder.write(&format!("release/{file}"), change(text));
        folder.run(&["audit", "release"])
    };
    let fewer = damaged("data.csv", &|text| text.lines().take(12).collect::<Vec<_>>().join("\n") + "\n");
    assert_eq!(fewer.code, Some(4), "{fewer:?}");
    assert!(fewer.stdout.contains("WRONG  release: the manifest says 12 rows"), "{}", fewer.stdout);
    let label = damaged("data.csv", &|text| text.replace("20 to 29", "20 to 28"));
    assert!(label.stdout.contains("labels of `age` have no entry in codebook.csv"), "{}", label.stdout);
    let lying = damaged("datapackage.json", &|text| text.replace("\"l\": 2", "\"l\": 3"));
    assert_eq!(lying.code, Some(4), "{lying:?}");
    assert!(lying.stdout.contains("WRONG  release: "), "{}", lying.stdout);
    let folder = Folder::with_release("release");
    std::fs::remove_file(folder.path("release/codebook.csv")).unwrap();
    let ran = folder.run(&["audit", "release"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the codebook is missing"), "{}", ran.stderr);
    let ran = folder.run(&["audit", "nowhere"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = folder.run(&["audit", "release", "--adversary", "unknown"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn the_catalog_keeps_releases_and_audits_new_ones_with_them() {
    let folder = departments();
    let run = |arguments: &[&str], code: i32| {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        ran
    };
    run(&["catalog", "list", "catalog"], 2);
    run(&["catalog", "add", "catalog", "revenue-release", "--name", "revenue", "--custodian", "revenue office"], 0);
    run(&["catalog", "add", "catalog", "revenue-release", "--name", "revenue"], 2);
    let listed = json(&run(&["catalog", "list", "catalog", "--json"], 0));
    assert_eq!((&listed["releases"][0]["name"], &listed["releases"][0]["rows"]), (&"revenue".into(), &12.into()));
    let shown = json(&run(&["catalog", "show", "catalog", "revenue", "--json"], 0));
    assert_eq!(shown["guarantees"][0]["model"], "distinct-l-diversity");
    assert!(shown["digest"].as_str().unwrap().starts_with("sha256:"));
    run(&["catalog", "show", "catalog", "census"], 2);

    // Safe by itself: High and Low in both classes. But below 40 the revenue office has Middle and
    // Low.
    let other = "name,age,salary-class\nAlice,60,High\nBob,50,Low\nCarlo,18,High\nDiana,20,Low\n";
    folder.write("own.csv", other);
    let policy = folder.read("revenue.toml").replace("revenue.csv", "own.csv");
    let policy = policy.replace("gender = { role = \"identifier\" }", "# gender is not in it:");
    folder.write("own.toml", policy);
    let refused = run(&["publish", "own.toml", "-o", "own", "--catalog", "catalog"], 4);
    assert!(refused.stderr.contains("combined with the catalog, this release breaks the policy"), "{}", refused.stderr);
    assert!(!folder.names().contains(&"own".to_owned()) && !folder.names().iter().any(|name| name.contains("partial")));
    publish(&folder, "own.toml", "own");

    let tampered = folder.read("catalog/revenue/data.csv").replacen("High", "Low", 1);
    folder.write("catalog/revenue/data.csv", tampered);
    let shown = json(&run(&["catalog", "show", "catalog", "revenue", "--json"], 4));
    assert_eq!(shown["changed"], true);
}

#[test]
fn publishing_a_changed_table_again_tells_who_came() {
    let folder = Folder::with_release("first");
    let ran = folder.run(&["catalog", "add", "catalog", "first", "--custodian", "us"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder.write("people.csv", folder.read("people.csv") + "Moe,25,Aa,Ache\n");
    let again = ["publish", "policy.toml", "-o", "second", "--catalog", "catalog", "--custodian", "us"];
    let ran = folder.run(&again);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("who appeared in these cells: 1 × `Ache`"), "{}", ran.stderr);
}

/// A catalog that is not there yet is made by the first release that passes it.
#[test]
fn publishing_with_a_new_catalog_makes_it() {
    let folder = Folder::with_people();
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--catalog", "new"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["catalog", "list", "new"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("release"), "{ran:?}");
    // Reading one that is not there names the command that makes it.
    let ran = folder.run(&["catalog", "list", "nowhere"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("catalog add"), "{ran:?}");
}

/// Several processes at once: each waits for the others, and all releases are listed.
#[test]
fn releases_that_are_added_at_once_are_all_listed() {
    let folder = Folder::with_release("release");
    let add = |number: usize| {
        let name = format!("release-{number}");
        folder.command(&["catalog", "add", "catalog", "release", "--name", &name]).spawn().unwrap()
    };
    let runs: Vec<_> = (0..8).map(add).collect();
    for mut run in runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let ran = folder.run(&["catalog", "list", "catalog", "--json"]);
    let mut names: Vec<String> =
        json(&ran)["releases"].as_array().unwrap().iter().map(|entry| entry["name"].to_string()).collect();
    names.sort_unstable();
    assert_eq!(names, (0..8).map(|number| format!("\"release-{number}\"")).collect::<Vec<_>>());
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path("catalog")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left.len(), 9, "{left:?}");
}
