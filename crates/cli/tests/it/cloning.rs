//! Cloned releases by the command line, as custodians and strangers use them.

use serde_json::Value;

use crate::running::{Folder, Ran};

fn hospitals() -> Folder {
    let folder = Folder::of_example("three-hospitals");
    for number in ["1", "2", "3"] {
        let ran = folder.run(&["publish", &format!("clone-{number}.toml"), "-o", &format!("release-{number}"), "-q"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    folder
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// After cloning, the adversary who found Nancy, David and Eliza out is left with what the tables
/// share. The third has suppressed tuples, so that it may lack a person, and is not used.
#[test]
fn cloned_hospitals_disclose_no_patient() {
    let folder = hospitals();
    for (first, second, person, left) in [("1", "2", "50,F", 3), ("1", "3", "15,M", 4), ("2", "3", "30,F", 4)] {
        folder.write("people.csv", format!("age,sex\n{person}\n"));
        let releases = [format!("release-{first}"), format!("release-{second}")];
        let ran = folder.run(&["audit", &releases[0], &releases[1], "--people", "people.csv", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let found = json(&ran);
        let composition =
            found["adversaries"].as_array().unwrap().iter().find(|one| one["name"] == "composition").unwrap();
        assert_eq!((&composition["at_risk"], &composition["effective_l"]), (&0.into(), &left.into()), "{composition}");
    }
    let all = folder.run(&["audit", "release-1", "release-2", "release-3", "--json"]);
    assert_eq!(json(&all)["breach"], false, "{all:?}");
}

#[test]
fn a_cloned_release_tells_its_promise_and_is_measured() {
    let folder = hospitals();
    let ran = folder.run(&["publish", "clone-3.toml", "-o", "again", "--json"]);
    let printed = json(&ran);
    assert_eq!((&printed["cloning"]["divided"], &printed["cloning"]["sub_classes"]["count"]), (&3.into(), &6.into()));
    let epsilon = printed["cloning"]["epsilon"].as_f64().unwrap();
    assert!((epsilon - 8.0 / 114.0).abs() < 1e-12);
    let manifest: Value = serde_json::from_str(&folder.read("again/datapackage.json")).unwrap();
    let public = &manifest["hedgerow"]["cloning"];
    assert!(public["beta"].as_f64().unwrap() >= 1.0 && public["theta"].as_f64().unwrap() >= 0.0, "{public}");
    assert!(public["broken-by"].as_str().unwrap().contains("distributed differently"), "{public}");
    assert!(public.get("values").is_none() && public.get("suppressed").is_none(), "the source's counts stay with it");
    let measured = json(&folder.run(&["measure", "again", "--policy", "clone-3.toml", "--json"]));
    assert_eq!((&measured["rows"]["out"], &measured["classes"]["count"]), (&17.into(), &6.into()));
    assert!(measured["queries"]["relative_error"]["median"].is_number(), "{measured}");
    let checked = folder.run(&["check", "again", "--json"]);
    assert_eq!((checked.code, &json(&checked)["holds"]), (Some(0), &true.into()));
    let parquet = folder.run(&["publish", "clone-3.toml", "-o", "columns", "--format", "parquet"]);
    assert_eq!(parquet.code, Some(2), "{parquet:?}");
    assert!(parquet.stderr.contains("written as CSV"), "{}", parquet.stderr);
}

#[test]
fn check_refuses_a_mean_outside_of_its_range() {
    let folder = hospitals();
    let checked = || folder.run(&["check", "release-1"]);
    assert_eq!(checked().code, Some(0));
    let text = folder.read("release-1/statistics.csv");
    let line = text.lines().find(|line| line.contains(",mean,")).unwrap();
    let cells: Vec<&str> = line.split(',').collect();
    let place = cells.iter().position(|cell| *cell == "mean").unwrap() + 1;
    for outside in ["-40", "4000"] {
        let mut moved = cells.clone();
        moved[place] = outside;
        folder.write("release-1/statistics.csv", text.replacen(line, &moved.join(","), 1));
        let refused = checked();
        assert_eq!(refused.code, Some(4), "{refused:?}");
        assert!(refused.stdout.contains("a mean lies outside of its indicative range"), "{}", refused.stdout);
    }
    folder.write("release-1/statistics.csv", text);
    assert_eq!(checked().code, Some(0));
}

/// Three of four values are frequent, so that the classes need counterfeits, which are not counted
/// as people.
#[test]
fn publish_and_measure_agree_on_discernibility() {
    let folder = hospitals();
    let mut counterfeits = 0;
    for number in ["1", "2", "3"] {
        let policy = format!("clone-{number}.toml");
        let printed = json(&folder.run(&["publish", &policy, "-o", &format!("again-{number}"), "--json"]));
        counterfeits += printed["cloning"]["counterfeits"].as_u64().unwrap_or_else(|| panic!("{printed}"));
        let measured = json(&folder.run(&["measure", &format!("again-{number}"), "--policy", &policy, "--json"]));
        let found = [&printed, &measured].map(|one| one["loss"]["discernibility"].as_f64());
        assert!(found[0].is_some() && found[0] == found[1], "{number}: {found:?}");
    }
    assert!(counterfeits > 0, "none of the releases has any");
}

/// Every class has the pays 10, 20 and 30: each error follows by hand.
#[test]
fn sensitive_numbers_are_measured_in_clones() {
    let folder = Folder::new();
    let people = [("30,f,10", 4), ("40,f,20", 2), ("30,m,20", 1), ("40,m,30", 3)];
    let rows: String = people.iter().map(|(person, count)| format!("{person}\n").repeat(*count)).collect();
    folder.write("people.csv", format!("age,sex,pay\n{rows}"));
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\" }\n\
         pay = { role = \"sensitive\" }\n[publish]\nmethod = \"clone\"\nk = 3\n",
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    // Three classes, so one of the four with 10 is suppressed: the mean is 20, the quartiles are
    // 10, 20 and 30.
    assert_eq!(json(&ran)["rows"]["suppressed"], 1, "{ran:?}");
    let measured = json(&folder.run(&["measure", "release", "--policy", "policy.toml", "--json"]));
    let pay = &measured["numbers"]["pay"];
    for (errors, expected) in [
        (&pay["by_class"], [7.0, 9.0, 7.0, 11.0]),
        (&pay["by_value"]["age"], [7.0, 5.0, 10.0, 10.0]),
        (&pay["by_value"]["sex"], [7.0, 4.0, 10.0, 6.0]),
    ] {
        for (name, expected) in ["mean", "lower_quartile", "median", "upper_quartile"].into_iter().zip(expected) {
            let error = errors[name].as_f64().unwrap_or_else(|| panic!("{name}: {measured}"));
            assert!((error - expected).abs() < 1e-9, "{name}: {error} is not {expected}: {measured}");
        }
    }
}

/// Four, three and three rows of a value: three classes suppress one row, two classes another, and
/// one class suppresses none.
#[test]
fn no_more_rows_are_suppressed_than_the_policy_allows() {
    let folder = Folder::new();
    folder
        .write("people.csv", format!("age,pay\n{}{}{}", "30,10\n".repeat(4), "40,20\n".repeat(3), "50,30\n".repeat(3)));
    for (key, suppressed, classes) in
        [("", 1, 3), ("suppression = 0.1\n", 1, 3), ("suppression = 0.09\n", 0, 1), ("suppression = 0\n", 0, 1)]
    {
        folder.write(
            "policy.toml",
            format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\n\
                 pay = {{ role = \"sensitive\" }}\n[publish]\nmethod = \"clone\"\nk = 3\n{key}"
            ),
        );
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
        assert_eq!(ran.code, Some(0), "{key}: {ran:?}");
        let found = json(&ran);
        let found = (&found["rows"]["suppressed"], &found["cloning"]["divided"]);
        assert_eq!(found, (&suppressed.into(), &classes.into()), "{key}: {ran:?}");
    }
}

/// Clones lack plain attributes, and none is said to be released as it is.
#[test]
fn a_plain_attribute_is_only_said_to_be_absent() {
    let folder = Folder::new();
    let row = |row: usize| {
        let extra = if row < 3 { format!("rare {row}") } else { "frequent".to_owned() };
        format!("{},{extra},{}\n", 20 + row % 40, ["flu", "cold", "ache"][row % 3])
    };
    folder.write("people.csv", format!("age,extra,illness\n{}", (0..90).map(row).collect::<String>()));
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\nextra = { role = \"plain\" }\n\
         illness = { role = \"sensitive\" }\n[publish]\nmethod = \"clone\"\nk = 5\n",
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("`extra` is plain, and a cloned release does not have it"), "{ran:?}");
    assert!(!ran.stderr.contains("released as it is"), "{ran:?}");
    // Coarser values of it are as absent.
    let coarse = folder.read("policy.toml").replace(
        "age = { role = \"quasi\" }\nextra = { role = \"plain\" }",
        "extra = { role = \"quasi\" }\nage = { role = \"plain\", coarsen = { round = 10 } }",
    );
    folder.write("coarse.toml", coarse);
    let ran = folder.run(&["publish", "coarse.toml", "-o", "coarse"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(folder.run(&["check", "coarse"]).code, Some(0));
}

#[test]
fn no_clones_is_an_answer_of_its_own() {
    let folder = hospitals();
    folder.write("large.toml", folder.read("clone-3.toml").replace("k = 3", "k = 30"));
    let ran = folder.run(&["publish", "large.toml", "-o", "large"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("no release in clones satisfies the policy"), "{}", ran.stderr);
    assert!(!folder.names().contains(&"large".to_owned()));
}
