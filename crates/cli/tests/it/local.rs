//! Local recoding as its users meet it: published, checked, refused.

use crate::release::Texts;
use crate::running::{Folder, Ran, example};

fn policy(publish: &str) -> String {
    format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nname = {{ role = \"identifier\" }}\nage = {{ role = \"quasi\" }}\n\
         city = {{ role = \"quasi\", hierarchy = \"city.csv\" }}\nillness = {{ role = \"sensitive\" }}\n[[rule]]\n\
         protect = \"illness\"\nrequire = [{{ model = \"k-anonymity\", k = 3 }}, {{ model = \"distinct-l-diversity\", l = 2 }}]\n\
         [publish]\n{publish}\n"
    )
}

fn publish(publish: &str) -> (Folder, Ran) {
    let folder = Folder::with_people();
    folder.write("policy.toml", policy(publish));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    (folder, ran)
}

#[test]
fn the_shipped_example_is_published_and_checked() {
    let text = std::fs::read_to_string(example("hospital/policy-local.toml")).unwrap();
    for method in ["mondrian", "best-cut", "cluster"] {
        let folder = Folder::new();
        std::fs::copy(example("hospital/patients.csv"), folder.path("patients.csv")).unwrap();
        folder.write("policy.toml", text.replace("\"mondrian\"", &format!("{method:?}")));
        for format in ["csv", "parquet"] {
            let ran = folder.run(&["publish", "policy.toml", "-o", format, "--format", format, "--json"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let printed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(printed["rows"]["out"], 96, "every row is released");
            assert!(printed["classes"]["min"].as_u64() >= Some(3));
            let names: Vec<&String> = printed["loss"].as_object().unwrap().keys().collect();
            assert_eq!(names, ["ncp", "discernibility", "average-class", "granularity", "entropy"]);
            assert!(printed.get("levels").is_none() && printed.get("proven").is_none());
            let ran = folder.run(&["check", format]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    }
}

#[test]
fn every_way_of_dividing_twelve_people_is_checked() {
    for way in [
        "method = \"mondrian\"",
        "method = \"mondrian\"\nstrict = false",
        "method = \"mondrian\"\nsummarise = \"region\"",
        "method = \"best-cut\"",
        "method = \"best-cut\"\nsummarise = \"tight\"",
        "method = \"best-cut\"\nimprove = true",
        "method = \"mondrian\"\nimprove = true\nloss = \"entropy\"\nweights = { age = 2 }",
        "method = \"cluster\"",
        "method = \"cluster\"\nlabels = \"hierarchy\"\nloss = \"ncp\"",
        "method = \"cluster\"\nmax-seconds = 0.1\nsummarise = \"tight\"\nloss = \"granularity\"",
    ] {
        let (folder, ran) = publish(way);
        assert_eq!(ran.code, Some(0), "{way}: {ran:?}");
        assert_eq!(ran.stderr.contains("values of individuals"), way.contains("tight"), "{way}: {}", ran.stderr);
        let ran = folder.run(&["check", "release"]);
        assert_eq!(ran.code, Some(0), "{way}: {ran:?}");
        assert_eq!(Texts::read(&folder.path("release/data.csv")).rows.len(), 12);
    }
}

/// The values that each method would keep, beside those of the release, which is one of them.
#[test]
fn the_loss_of_other_methods_is_compared() {
    let (folder, ran) = publish("method = \"cluster\"");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["measure", "release", "--policy", "policy.toml", "--compare", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let printed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let compared = printed["compare"].as_array().unwrap();
    let methods: Vec<&str> = compared.iter().map(|compared| compared["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["full-domain", "mondrian", "best-cut", "cluster"]);
    for compared in compared {
        let error =
            |name: &str| compared["queries"]["relative_error"][name].as_f64().unwrap_or_else(|| panic!("{compared}"));
        assert!(error("median") <= error("percentile_95"), "{compared}");
        assert!(compared["loss"]["granularity"].as_f64() <= Some(1.0), "{compared}");
    }
    // But for the last digit: sums follow the order of the rows, which is random.
    assert_eq!(compared[3]["loss"], printed["loss"], "the same method keeps the same");
    for name in ["mean", "median", "percentile_95", "max"] {
        let error = |of: &serde_json::Value| of["queries"]["relative_error"][name].as_f64().unwrap();
        assert!((error(&compared[3]) - error(&printed)).abs() < 1e-9, "{name}: {printed}");
    }
}

#[test]
fn meaningless_keys_are_refused_or_reported() {
    for (way, key) in [
        ("method = \"full-domain\"\nstrict = true", "publish.strict"),
        ("summarise = \"tight\"", "publish.summarise"),
        ("method = \"best-cut\"\nstrict = false", "publish.strict"),
        ("method = \"mondrian\"\nstrict = 1", "publish.strict"),
        ("method = \"mondrian\"\nsummarise = \"mean\"", "publish.summarise"),
        ("method = \"mondrian\"\nlabels = \"set\"", "publish.labels"),
        ("method = \"cluster\"\nlabels = \"names\"", "publish.labels"),
        ("method = \"cluster\"\nloss = \"precision\"", "publish.loss"),
        ("method = \"anatomy\"\nimprove = true", "publish.improve"),
        ("method = \"anatomy\"\nweights = { age = 2 }", "publish.weights"),
        ("method = \"clone\"\nweights = { age = 2 }", "publish.weights"),
        ("weights = { age = 0 }", "publish.weights.age"),
        ("weights = { illness = 2 }", "publish.weights.illness"),
        ("loss = \"discernibility\"\nweights = { age = 2 }", "publish.weights"),
    ] {
        let (folder, ran) = publish(way);
        assert_eq!(ran.code, Some(2), "{way}: {ran:?}");
        assert!(ran.stderr.contains(key), "{way}: {}", ran.stderr);
        assert!(!folder.path("release").exists());
    }
    let (_, ran) = publish("method = \"mondrian\"\nsuppression = 0.1");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("every row is released"), "{}", ran.stderr);
}

#[test]
fn a_table_that_fails_as_a_whole_has_no_release() {
    for method in ["mondrian", "best-cut"] {
        let folder = Folder::with_people();
        folder.write("policy.toml", policy(&format!("method = {method:?}")).replace("k = 3", "k = 13"));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        for said in
            ["even the whole table as one class breaks a rule", "k-anonymity requires k = 13", "achieves k = 12"]
        {
            assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        }
        assert!(!folder.path("release").exists());
    }
}

/// Pay is measured by class and by value: whole classes are released, so what each shows of its own
/// people is exact.
#[test]
fn sensitive_numbers_are_measured_in_classes_with_cells_of_their_own() {
    let folder = Folder::new();
    let people: Vec<String> = (0..40).map(|person| format!("{},{}", 20 + person, 1000 + 7 * (person % 9))).collect();
    folder.write("people.csv", format!("age,pay\n{}\n", people.join("\n")));
    for method in ["mondrian", "best-cut", "anatomy"] {
        let rule = if method == "anatomy" {
            "protect = \"pay\"\nrequire = { model = \"distinct-l-diversity\", l = 3 }"
        } else {
            "require = { model = \"k-anonymity\", k = 4 }"
        };
        folder.write(
            &format!("{method}.toml"),
            format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\n\
                 pay = {{ role = \"sensitive\" }}\n[[rule]]\n{rule}\n[publish]\nmethod = \"{method}\"\n"
            ),
        );
        let ran = folder.run(&["publish", &format!("{method}.toml"), "-o", method]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = folder.run(&["measure", method, "--policy", &format!("{method}.toml"), "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let printed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let pay = &printed["numbers"]["pay"];
        let mean =
            |errors: &serde_json::Value| errors["mean"].as_f64().unwrap_or_else(|| panic!("{method}: {printed}"));
        assert!(mean(&pay["by_value"]["age"]) > 0.0, "{method}: {printed}");
        // Ages are untouched in buckets: there a class is the people of one age.
        let by_class = if method == "anatomy" { mean(&pay["by_value"]["age"]) } else { 0.0 };
        assert!((mean(&pay["by_class"]) - by_class).abs() < 1e-9, "{method}: {printed}");
    }
}

/// Classes of neighbors carry short labels: the sets stand in the codebook. What has an order is
/// labeled along it.
#[test]
fn labels_of_sets_are_short_and_follow_the_order() {
    let folder = Folder::new();
    let ages = ["0 to 17", "18 to 29", "30 to 49", "50 to 69", "70 or Older"];
    let counties =
        ["Albany County", "Allegany County", "Bronx County", "Broome County", "Cattaraugus County", "Cayuga County"];
    let mut rows = String::from("age,county,sex,illness\n");
    for row in 0..600_usize {
        let mixed = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 24;
        let illness = ["flu", "cold", "ache"][mixed / 60 % 3];
        rows.push_str(&format!(
            "{},{},{},{illness}\n",
            ages[mixed % 5],
            counties[mixed / 5 % 6],
            ["F", "M"][mixed / 30 % 2]
        ));
    }
    folder.write("people.csv", &rows);
    let order = format!("{ages:?}");
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", order = {order} }}\n\
             county = {{ role = \"quasi\" }}\nsex = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\" }}\n[[rule]]\n\
             require = {{ model = \"k-anonymity\", k = 25 }}\n[publish]\nmethod = \"cluster\"\n"
        ),
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // However many values a set has, its label names two at most and counts the others.
    for line in folder.read("release/data.csv").lines().skip(1) {
        let named = counties.iter().filter(|county| line.contains(**county)).count();
        assert!(named <= 2, "{line}");
    }
    // What a label of an age covers is a run of the order, and the label says so.
    let codebook = folder.read("release/codebook.csv");
    let mut covered: std::collections::BTreeMap<String, Vec<usize>> = std::collections::BTreeMap::new();
    for line in codebook.lines().filter(|line| line.starts_with("age,")) {
        let mut fields = line.rsplit(',');
        let leaf = fields.next().unwrap();
        let label = line.trim_start_matches("age,").rsplitn(4, ',').last().unwrap().to_owned();
        covered.entry(label).or_default().extend(ages.iter().position(|age| *age == leaf));
    }
    let mut runs = 0;
    for (label, mut places) in covered {
        places.sort_unstable();
        if places.len() < 2 {
            continue;
        }
        let (first, last) = (places[0], places[places.len() - 1]);
        assert_eq!(last - first + 1, places.len(), "`{label}` covers {places:?}");
        assert!(label.starts_with(ages[first]) && label.ends_with(ages[last]), "`{label}` covers {places:?}");
        runs += 1;
    }
    assert!(runs > 0, "{codebook}");
}

/// Where one level for all rows loses more than half, the method that would lose less is named, and
/// loses as much as was said.
#[test]
fn a_method_that_loses_less_is_named() {
    let folder = Folder::new();
    let mut rows = String::from("a,b,c,d,e,f,illness\n");
    for row in 0..300_u64 {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let cells: Vec<String> = (0..6).map(|place| (mixed >> (6 * place) & 31).to_string()).collect();
        rows.push_str(&format!("{},{}\n", cells.join(","), ["flu", "cold"][(row.count_ones() & 1) as usize]));
    }
    folder.write("people.csv", rows);
    let quasi = "abcdef".chars().map(|name| format!("{name} = {{ role = \"quasi\" }}\n")).collect::<String>();
    let policy = |method: &str| {
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\n{quasi}illness = {{ role = \"sensitive\" }}\n[[rule]]\n\
             require = {{ model = \"k-anonymity\", k = 3 }}\n[publish]\nmethod = \"{method}\"\n"
        )
    };
    folder.write("policy.toml", policy("full-domain"));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = ran.stderr.lines().find(|line| line.contains("would lose")).unwrap_or_else(|| panic!("{ran:?}"));
    let named = line.split('"').nth(1).unwrap();
    let said: f64 = line.split("would lose ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    folder.write("policy.toml", policy(named));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
    let published: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let ncp = published["loss"]["ncp"].as_f64().unwrap();
    assert!((ncp - said).abs() < 0.02, "{line}; {ncp}");
    assert!(!ran.stderr.contains("was not tried with it"), "{ran:?}");

    // Beside releases of others, an audit decides that the other method has not passed.
    let beside = policy("full-domain") + "[community]\nreleases = [\"release\"]\n";
    folder.write("beside.toml", beside);
    let ran = folder.run(&["publish", "beside.toml", "-o", "second"]);
    assert!(ran.stderr.contains("The audit together with the other releases was not tried with it"), "{ran:?}");
}
