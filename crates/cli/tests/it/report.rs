//! `hedgerow report`: what a page shows, that it loads nothing, and that a report for publication
//! holds nothing private. That its numbers are those of the JSON is tested in `report_numbers`.

use std::path::Path;

use serde_json::Value;

use crate::report_numbers::{KINDS, numbers, reported, same};
use crate::running::{Folder, example};

#[test]
fn a_page_loads_nothing_and_names_and_describes_its_pictures() {
    let folder = Folder::new();
    for (policy, name) in KINDS {
        let (page, _) = reported(&folder, policy, name, false);
        for forbidden in ["<script", "<link", "<img", "src=", "@import", "url(", "<iframe", "onload", "NaN"] {
            assert!(!page.contains(forbidden), "{name}: {forbidden}");
        }
        assert!(page.len() < 1 << 20, "{name}: {} bytes", page.len());
        let pictures = page.matches("<svg").count();
        assert!(pictures >= 2, "{name}: {pictures} pictures");
        assert_eq!(page.matches("role=\"img\"").count(), pictures);
        assert_eq!(page.matches("<desc id=").count(), pictures);
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).map(|tag| tag.split('"').next().unwrap()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{name}: an id twice");
        for word in ["compliant", "anonymous"] {
            assert!(!page.to_lowercase().contains(word), "{name}: a report states facts, not that it is {word}");
        }
    }
}

#[test]
fn the_report_of_a_full_domain_release_has_every_panel() {
    let folder = Folder::new();
    let (page, _) = reported(&folder, "hospital/policy.toml", "release", false);
    for panel in [
        "All guarantees hold.",
        "Sizes of classes",
        "Risk of re-identification",
        "EMA 0.09 (1/11)",
        "k ≥ 11",
        "prosecutor",
        "journalist",
        "marketer",
        "Loss by attribute",
        "before and after",
        "Who pays for the privacy",
        "Error of count queries",
        "The generalization lattice",
        "Why each attribute is as coarse",
        "Why rows were suppressed",
        "Three questions (WP216)",
        "HIPAA Safe Harbor",
        "Governance: what is not promised",
        "not differential privacy",
    ] {
        assert!(page.contains(panel), "{panel}");
    }
    assert!(page.contains("<span class=\"tag\">internal</span>"));
}

#[test]
fn several_releases_are_shown_together_with_the_way_to_the_breach() {
    let folder = Folder::new();
    for name in ["revenue", "census"] {
        let policy = example(&format!("departments/{name}.toml"));
        assert_eq!(folder.run(&["publish", policy.to_str().unwrap(), "-o", name]).code, Some(0));
    }
    let ran = folder.run(&["report", "revenue", "census", "-o", "report.html", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (page, json) = (folder.read("report.html"), serde_json::from_str::<Value>(&ran.stdout).unwrap());
    assert_eq!(json["audit"]["breach"], true);
    for panel in [
        "The releases together",
        "Values left, by people and release",
        "release by release",
        "What would have to change",
        "An adversary is certain",
    ] {
        assert!(page.contains(panel), "{panel}");
    }
    let chain = &json["narrowings"][0];
    assert_eq!(chain["left_count"], 1, "{chain}");
    // The chain's end is what the composition adversary found.
    let composition =
        json["audit"]["adversaries"].as_array().unwrap().iter().find(|found| found["name"] == "composition");
    let worst = &composition.unwrap()["worst"];
    assert_eq!(chain["left"][0], worst["values"][0]["value"], "{worst}");
    for step in chain["steps"].as_array().unwrap() {
        assert!(step["values"].as_array().unwrap().contains(&chain["left"][0]), "{step}");
    }
    for (value, key, _) in numbers(&page) {
        assert!(json.pointer(&key).is_some_and(|there| same(there, value)), "{key}: on the page {value}");
    }
}

/// The rows of people whose value follows are in the internal report, and nowhere else.
#[test]
fn rows_of_exposed_people_are_only_in_the_internal_report() {
    let folder = Folder::new();
    folder.write("one/data.csv", "a,s\n0 to 1,p\n0 to 1,q\n2 to 3,q\n2 to 3,r\n");
    folder.write("two/data.csv", "b,s\nx,p\nx,r\ny,q\ny,q\n");
    for (name, quasi) in [("one", "a"), ("two", "b")] {
        let sidecar = format!(
            "[source]\npath = \"data.csv\"\n[attributes]\n{quasi} = {{ role = \"quasi\" }}\n\
             s = {{ role = \"sensitive\" }}\n"
        );
        folder.write(&format!("{name}/release.toml"), sidecar);
    }
    folder.write("people.csv", "a,b\n0,x\n1,y\n2,x\n3,y\n");
    let of_worlds = |json: &str| -> Value {
        let json: Value = serde_json::from_str(json).unwrap();
        let audit = json.get("audit").unwrap_or(&json);
        let mut findings = audit["adversaries"].as_array().unwrap().iter();
        findings.find(|found| found["name"] == "worlds").unwrap()["explanations"].clone()
    };
    let people = ["one", "two", "--people", "people.csv", "--json"];
    let audited = folder.run(&[&["audit"], &people[..]].concat());
    let reported = folder.run(&[&["report", "-o", "internal.html"], &people[..]].concat());
    assert_eq!((audited.code, reported.code), (Some(4), Some(0)), "{audited:?} {reported:?}");
    let printed = of_worlds(&audited.stdout);
    assert!(printed.as_array().unwrap().iter().all(|explanation| explanation.get("rows").is_none()), "{printed}");
    let shown = of_worlds(&reported.stdout);
    let mut rows: Vec<u64> = Vec::new();
    for explanation in shown.as_array().unwrap() {
        rows.extend(explanation["rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()));
    }
    rows.sort_unstable();
    assert_eq!(rows, [1, 2, 3, 4], "{shown}");
    assert!(folder.read("internal.html").contains("Rows of the list, from 1"));
    let published = folder.run(&[&["report", "--publishable", "-o", "public.html"], &people[..]].concat());
    assert_eq!(published.code, Some(0), "{published:?}");
    assert!(!folder.read("public.html").contains("Rows of the list") && !published.stdout.contains("\"rows\":[1]"));
}

/// Names, people and folders that only the source or the policy have. Each kind of release is made
/// from a table with rows that cannot be released as they are.
const CANARIES: [&str; 6] = ["canaryname", "canaryplace", "canarydisease", "98765", "canaryfolder", "canarypolicy"];

fn canary_source() -> String {
    let mut text = "name,age,place,sex,disease\n".to_owned();
    for row in 0..48 {
        let disease = ["flu", "cold", "ache", "gout"][(row * 7 + row / 4) % 4];
        let (age, place, sex) = (20 + (row * 5) % 40, ["Aa", "Bb"][row % 2], ["f", "m"][(row / 2) % 2]);
        text.push_str(&format!("canaryname{row},{age},{place},{sex},{disease}\n"));
    }
    text.push_str("canarynameX,98765,canaryplace,f,canarydisease\n");
    text
}

fn canary_policy(method: &str, rules: &str) -> String {
    let more = match method {
        "full-domain" => "suppression = 0.1\n",
        "clone" => "max-epsilon = 0.9\n",
        _ => "",
    };
    format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nname = {{ role = \"identifier\" }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [10, 20, 40] }} }}\nplace = {{ role = \"quasi\" }}\n\
         sex = {{ role = \"quasi\" }}\ndisease = {{ role = \"sensitive\" }}\n{rules}\n[publish]\nmethod = \"{method}\"\n{more}"
    )
}

#[test]
fn nothing_private_is_in_a_report_for_publication() {
    let k = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n";
    let l = "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n";
    for (method, rules) in [
        ("full-domain", format!("{k}{l}")),
        ("mondrian", k.to_owned()),
        ("best-cut", k.to_owned()),
        ("cluster", k.to_owned()),
        ("anatomy", l.to_owned()),
        ("decompose", l.to_owned()),
        ("clone", String::new()),
    ] {
        let folder = Folder::new();
        folder.write("canaryfolder/people.csv", canary_source());
        folder.write("canaryfolder/canarypolicy.toml", canary_policy(method, &rules));
        let policy = "canaryfolder/canarypolicy.toml";
        let ran = folder.run(&["publish", policy, "-o", "canaryfolder/out"]);
        assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
        let people = ["--people", "canaryfolder/people.csv"];
        let arguments = ["report", "canaryfolder/out", "--policy", policy, "--publishable", "-o", "p.html", "--json"];
        let ran = folder.run(&[arguments.as_slice(), &people].concat());
        assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
        let released = everything_in(&folder.path("canaryfolder/out"));
        let page = folder.read("p.html");
        for text in [&page, &ran.stdout] {
            for canary in CANARIES.into_iter().filter(|canary| !released.contains(canary)) {
                assert!(!text.contains(canary), "{method}: {canary}");
            }
        }
        assert!(page.contains("Omitted here") && !page.contains("class=\"tag\">internal"), "{method}");
        assert!(!released.contains("canaryname"), "{method}: a release has no identifiers");
        // The test can fail: the internal report of the same release shows private counts.
        if method == "full-domain" {
            let ran = folder.run(&["report", "canaryfolder/out", "--policy", policy, "-o", "i.html", "--json"]);
            assert!(!released.contains("canarydisease"), "the row is suppressed");
            assert!(ran.stdout.contains("canarydisease"), "{ran:?}");
        }
    }
}

/// All files of a release as text.
fn everything_in(folder: &Path) -> String {
    let mut text = String::new();
    for found in std::fs::read_dir(folder).unwrap() {
        let path = found.unwrap().path();
        if path.is_dir() {
            text.push_str(&everything_in(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
        }
    }
    text
}

#[test]
fn the_report_of_a_local_recoding_says_which_classes_cannot_be_divided() {
    let folder = Folder::new();
    let (page, json) = reported(&folder, "hospital/policy-local.toml", "release", false);
    let undivided = &json["releases"][0]["undivided"];
    let classes = |group: &str| undivided[group]["classes"].as_u64().unwrap();
    assert_eq!(classes("settled") + classes("single_valued") + classes("open"), undivided["classes"].as_u64().unwrap());
    assert!(undivided["settled_by"][0]["model"].is_string(), "{undivided}");
    assert!(page.contains("Why classes are as large as they are"));
    let (page, json) = reported(&folder, "hospital/policy-local.toml", "release", true);
    assert!(json["releases"][0].get("undivided").is_none() && !page.contains("Why classes are as large"));
}

#[test]
fn the_ledger_of_a_joint_run_is_summed_up_and_never_published() {
    let folder = Folder::with_release("release");
    let sizes = "how many rows a group has over all custodians";
    let entry = |round: u32, values: &str| format!("{{\"round\":{round},\"kind\":\"{sizes}\",\"values\":{values}}}\n");
    folder.write("ledger", entry(0, "[120,0]") + &entry(3, "[41,79]"));
    let ran = folder.run(&["report", "release", "--ledger", "ledger", "-o", "report.html", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ledger = &json["ledger"];
    assert_eq!((&ledger["entries"], &ledger["rounds"]), (&Value::from(2), &Value::from(4)));
    assert_eq!((&ledger["kinds"][0]["values"], &ledger["kinds"][0]["least"]), (&Value::from(4), &Value::from(41)));
    let page = folder.read("report.html");
    assert!(page.contains("The joint run: what was opened") && page.contains(sizes));
    for (value, key, _) in numbers(&page) {
        assert!(json.pointer(&key).is_some_and(|there| same(there, value)), "{key}: on the page {value}");
    }
    let ran = folder.run(&["report", "release", "--ledger", "ledger", "-o", "public.html", "--publishable", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains("\"ledger\"") && !folder.read("public.html").contains("The joint run"));
    folder.write("ledger", "no entry\n");
    let ran = folder.run(&["report", "release", "--ledger", "ledger", "-o", "other.html"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("ledger:1"), "{ran:?}");
}

#[test]
fn a_report_replaces_a_report_and_nothing_else() {
    let folder = Folder::with_release("release");
    folder.write("notes.html", "<p>mine</p>");
    let refused = folder.run(&["report", "release", "-o", "notes.html"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("exists already and is not a report") && refused.stderr.contains("--force"));
    assert_eq!(folder.read("notes.html"), "<p>mine</p>");
    for _ in 0..2 {
        assert_eq!(folder.run(&["report", "release", "-o", "report.html"]).code, Some(0));
    }
    assert_eq!(folder.run(&["report", "release", "-o", "notes.html", "--force"]).code, Some(0));
}

#[test]
fn the_policy_of_another_release_is_refused() {
    let folder = Folder::with_release("release");
    let other = example("hospital/policy.toml");
    let ran = folder.run(&["report", "release", "--policy", other.to_str().unwrap(), "-o", "report.html"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(!folder.path("report.html").exists());
}

#[test]
fn a_tampered_release_is_reported_as_failing() {
    let folder = Folder::with_release("release");
    let data = folder.read("release/data.csv");
    let fewer: Vec<&str> = data.lines().take(3).collect();
    folder.write("release/data.csv", fewer.join("\n") + "\n");
    assert_eq!(folder.run(&["report", "release", "-o", "report.html"]).code, Some(0));
    let page = folder.read("report.html");
    assert!(page.contains("class=\"verdict fails\"") && page.contains("contradict"), "{page}");
}

/// With the policy, a page says what is wrong too. Of a cell that fits the release and not the
/// source, only the source can tell.
#[test]
fn a_tampered_release_is_reported_with_its_policy() {
    let folder = Folder::of_example("hospital");
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "release", "-q"]).code, Some(0));
    let honest = folder.read("release/data.csv");
    let lines: Vec<&str> = honest.lines().collect();
    let first = lines[1].rsplit_once(',').unwrap().0;
    let plague = format!("{first},Plague");
    let other_age = format!("7 to 9,{}", lines[1].split_once(',').unwrap().1);
    for (changed, said) in [
        ([&[lines[0], plague.as_str()], &lines[2..]].concat(), "the released value `Plague` of `diagnosis` is not in"),
        ([&[lines[0], other_age.as_str()], &lines[2..]].concat(), "no row for the label `7 to 9`"),
        ([&[lines[0], lines[2]], &lines[2..]].concat(), "has more rows in the release than in the source"),
        ([&lines[..1], &lines[2..]].concat(), "92 rows were released"),
    ] {
        folder.write("release/data.csv", changed.join("\n") + "\n");
        let ran = folder.run(&["report", "release", "--policy", "policy.toml", "-o", "page.html", "--force", "--json"]);
        assert_eq!(ran.code, Some(0), "{said}: {ran:?}");
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let contradictions = report["releases"][0]["check"]["contradictions"].to_string();
        assert!(contradictions.contains(said), "{contradictions}");
        assert_eq!(report["releases"][0]["check"]["holds"], false, "{said}");
        assert!(report["releases"][0].get("measures").is_none(), "{said}");
        let page = folder.read("page.html");
        assert!(page.contains("class=\"verdict fails\"") && page.contains("not what the policy makes"), "{said}");
    }
}

#[test]
fn report_and_measure_draw_the_same_queries() {
    let folder = Folder::of_example("hospital");
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "release", "-q"]).code, Some(0));
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&folder.run(arguments).stdout).unwrap() };
    let measured = json(&["measure", "release", "--policy", "policy.toml", "--json"]);
    let reported = json(&["report", "release", "--policy", "policy.toml", "-o", "page.html", "--json"]);
    assert!(measured["queries"]["relative_error"]["mean"].as_f64().unwrap() > 0.0, "{measured}");
    assert_eq!(reported["releases"][0]["measures"]["queries"], measured["queries"]);
    assert!(folder.read("page.html").contains("draws the same queries"));
}

/// Facts that the source alone has, such as the units of a class, are counted where it is read.
#[test]
fn a_report_with_the_policy_counts_units_in_the_source() {
    let folder = Folder::of_example("returning-patients");
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "release", "-q"]).code, Some(0));
    let page = |arguments: &[&str]| {
        let all = [&["report", "release", "-o", "page.html", "--force"], arguments].concat();
        assert_eq!(folder.run(&all).code, Some(0));
        folder.read("page.html")
    };
    assert!(page(&[]).contains("Not recomputed:"));
    assert!(!page(&["--policy", "policy.toml"]).contains("Not recomputed:"));
}

/// Where every guarantee holds and the files contradict the manifest, the first line says so.
#[test]
fn a_contradiction_is_the_headline() {
    let folder = Folder::with_release("release");
    let manifest = folder.read("release/datapackage.json");
    let changed = manifest.replace("\"full-domain\"", "\"magic\"");
    assert_ne!(manifest, changed);
    folder.write("release/datapackage.json", changed);
    assert_eq!(folder.run(&["report", "release", "-o", "report.html"]).code, Some(0));
    let page = folder.read("report.html");
    assert!(page.contains("class=\"verdict fails\""), "{page}");
    assert!(page.contains("The files contradict what the release says of itself."), "{page}");
    assert!(!page.contains("guarantees hold.") && !page.contains("values are disclosed."), "{page}");
}

/// Benefits in dollars have five digits, as ZIP codes have: alone, beside labels, and where some
/// are coarser.
#[test]
fn amounts_of_five_digits_are_not_places() {
    let folder = Folder::new();
    let mix = |row: u64, salt: u64| {
        (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(salt | 1) >> 33
    };
    let amount = |row: u64, salt: u64| if mix(row, salt + 1) % 3 == 0 { 0 } else { 10_000 + mix(row, salt) % 15_000 };
    let row = |row: u64| {
        let area = ["02139", "10001", "94110"][(mix(row, 41) % 3) as usize];
        format!("{},{},{},{area},{}\n", amount(row, 11), amount(row, 21), amount(row, 31), 20 + mix(row, 51) % 40)
    };
    let rows: String = (0..120).map(row).collect();
    folder.write("people.csv", format!("mcaid_ben,mcare_ben,vet_ben,area,age\n{rows}"));
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nmcaid_ben = { role = \"plain\", allow-unique = true }\n\
         mcare_ben = { role = \"quasi\" }\nvet_ben = { role = \"plain\", allow-unique = true, \
         hierarchy = { widths = [1, 5000] }, coarsen = { level = 1 } }\narea = { role = \"plain\", type = \"category\" }\n\
         age = { role = \"quasi\" }\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n\
         [publish]\nmethod = \"mondrian\"\n",
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["report", "release", "-o", "report.html", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let items = report["releases"][0]["safe_harbor"].as_array().unwrap();
    let places = items.iter().find(|item| item["item"] == "B").unwrap();
    assert_eq!(places["columns"], serde_json::json!(["area"]), "{places}");
}

/// Whether two records of a person can be linked is answered by what releases tell together, not by
/// how many people one release lets an attacker find.
#[test]
fn linking_two_records_is_a_question_about_several_releases() {
    let folder = Folder::new();
    for name in ["revenue", "census"] {
        let policy = example(&format!("departments/{name}.toml"));
        assert_eq!(folder.run(&["publish", policy.to_str().unwrap(), "-o", name]).code, Some(0));
    }
    let question = "Can two records of a person be linked?";
    let answer = |page: &str| {
        let (_, after) = page.split_once(question).unwrap_or_else(|| panic!("{page}"));
        after.split("<dt>").next().unwrap().to_owned()
    };
    assert_eq!(folder.run(&["report", "revenue", "-o", "one.html"]).code, Some(0));
    let alone = answer(&folder.read("one.html"));
    assert!(alone.contains("No other release about the same people was named"), "{alone}");
    assert_eq!(folder.run(&["report", "revenue", "census", "-o", "two.html"]).code, Some(0));
    let together = answer(&folder.read("two.html"));
    assert!(together.contains("composition, revenue + census: "), "{together}");
    for answer in [alone, together] {
        assert!(!answer.contains("marketer") && !answer.contains("correctly"), "{answer}");
    }
}
