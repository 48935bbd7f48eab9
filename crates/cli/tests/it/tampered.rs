//! A release that was changed: `check` ends with 4 and says what is wrong.

use serde_json::{Value, json};

use crate::running::Folder;

/// Changes one file of a good release and checks it.
#[track_caller]
fn detected(case: &str, file: &str, change: impl FnOnce(String) -> String, words: &str) {
    let folder = Folder::with_release("release");
    let before = folder.read(&format!("release/{file}"));
    let after = change(before.clone());
    assert_ne!(before, after, "{case} changes nothing");
    folder.write(&format!("release/{file}"), after);
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{case}: {ran:?}");
    assert!(ran.stdout.contains(words), "{case}: {ran:?}");
    assert!(ran.stdout.ends_with("do not publish this: see above\n"), "{case}: {ran:?}");
    let json = folder.run(&["check", "release", "--json"]);
    assert_eq!(json.code, Some(4), "{case}: {json:?}");
    let object: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(object["holds"], json!(false), "{case}: {object}");
}

/// The manifest with one value replaced; the path is a JSON pointer.
fn with(pointer: &'static str, value: Value) -> impl FnOnce(String) -> String {
    move |text| {
        let mut manifest: Value = serde_json::from_str(&text).unwrap();
        *manifest.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        manifest.to_string()
    }
}

fn without_last_line(text: String) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[..lines.len() - 1].join("\n") + "\n"
}

#[test]
fn tables() {
    let data = "data.csv";
    detected("a row removed", data, without_last_line, "the manifest says 12 rows, the table has 11");
    let doubled = |text: String| format!("{text}{}\n", text.lines().last().unwrap());
    detected("a row doubled", data, doubled, "the manifest says 12 rows, the table has 13");
    detected("a label changed", data, |text| text.replacen("20 to 29", "21 to 29", 1), "FAILS");
    detected("a label for all", data, |text| text.replace("20 to 29", "20 to 28"), "no entry in codebook.csv");
    detected("a person moved", data, |text| text.replacen("20 to 29", "30 to 39", 1), "classes");
    let one_illness = |text: String| text.replace("Cough", "Flu").replace("Ache", "Flu");
    detected("one illness for all", data, one_illness, "FAILS");
    detected("the header changed", data, |text| text.replacen("age", "years", 1), "columns");
    detected("another table", data, |_| "a,b\n1,2\n".to_owned(), "columns");
    detected("no rows left", data, |text| text.lines().next().unwrap().to_owned() + "\n", "no rows");
    detected("no table left", data, |_| String::new(), "data.csv");
}

#[test]
fn manifests() {
    let manifest = "datapackage.json";
    let claim = "/hedgerow/guarantees/0/achieved/k";
    detected("a better claim", manifest, with(claim, json!(5)), "claims k = 5 for k-anonymity");
    detected("a claim of nothing", manifest, with("/hedgerow/guarantees/0/achieved", json!({})), "claims");
    detected("a claim not a number", manifest, with(claim, json!("many")), "claims");
    detected("a claim beyond numbers", manifest, with(claim, json!(1e308)), "claims");
    let required = "/hedgerow/guarantees/0/required/k";
    detected("a stricter rule", manifest, with(required, json!(9)), "FAILS");
    detected("a huge rule", manifest, with(required, json!(u64::MAX)), "FAILS");
    detected("a rule of nothing", manifest, with(required, json!(0)), "parameters");
    detected("a negative rule", manifest, with(required, json!(-2)), "parameters");
    detected("an unknown model", manifest, with("/hedgerow/guarantees/0/model", json!("k-secrecy")), "k-secrecy");
    detected("no guarantees", manifest, with("/hedgerow/guarantees", json!([])), "claims no guarantee");
    detected("no known attributes", manifest, with("/hedgerow/guarantees/0/know", json!([])), "which attributes");
    detected("known but absent", manifest, with("/hedgerow/guarantees/0/know", json!(["name"])), "`name`");
    detected("protects nothing", manifest, with("/hedgerow/guarantees/1/protect", json!(null)), "which attributes");
    detected("an admitted breach", manifest, with("/hedgerow/guarantees/0/holds", json!(false)), "does not hold");
    detected("fewer suppressed", manifest, with("/hedgerow/rows/in", json!(11)), "add up");
    detected("rows beyond numbers", manifest, with("/hedgerow/rows/suppressed", json!(u64::MAX)), "add up");
    detected("other classes", manifest, with("/hedgerow/classes/min", json!(7)), "classes of 7");
    detected("less loss", manifest, with("/hedgerow/rows/out", json!(-1)), "manifest");
    let known = "/hedgerow/guarantees/0/know";
    detected("an attacker who knows less", manifest, with(known, json!(["age"])), "");
    detected("cut short", manifest, |text| text[..text.len() / 2].to_owned(), "datapackage.json:");
    detected("nothing", manifest, |_| String::new(), "manifest");
    detected("not JSON", manifest, |_| "\u{1f600}".to_owned(), "manifest");
    detected("deep", manifest, |_| "[".repeat(1 << 20), "manifest");
    detected("no resources", manifest, with("/resources", json!([])), "make no release");
    detected("quasi as plain", manifest, with("/resources/0/schema/fields/0/role", json!("plain")), "");
    detected("an unknown type", manifest, with("/resources/0/schema/fields/0/type", json!("color")), "color");
}

#[test]
fn tables_outside_of_the_release() {
    for path in ["../people.csv", "/etc/passwd", "./../people.csv", "sub/../../people.csv", "", "."] {
        detected(path, "datapackage.json", with("/resources/0/path", json!(path)), "");
    }
    #[cfg(unix)]
    {
        let folder = Folder::with_release("release");
        std::fs::remove_file(folder.path("release/data.csv")).unwrap();
        std::os::unix::fs::symlink(folder.path("people.csv"), folder.path("release/data.csv")).unwrap();
        let ran = folder.run(&["check", "release"]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(!ran.stderr.contains("Ann"), "{ran:?}");
    }
}

#[test]
fn codebooks() {
    let codebook = "codebook.csv";
    detected("a row removed", codebook, without_last_line, "no entry in codebook.csv");
    detected("the header changed", codebook, |text| text.replacen("low", "from", 1), "header");
    detected("only the header", codebook, |_| "attribute,label,low,high,leaf\n".to_owned(), "no entry");
    detected("nothing", codebook, |_| String::new(), "header");
    detected("bounds that are not numbers", codebook, |text| text.replacen(",20,30,", ",x,30,", 1), "codebook.csv:");
    let folder = Folder::with_release("release");
    std::fs::remove_file(folder.path("release/codebook.csv")).unwrap();
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
}

#[test]
fn a_table_of_another_release() {
    let folder = Folder::with_release("release");
    folder.write("policy.toml", crate::running::POLICY.replace("k = 2", "k = 12"));
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "other"]).code, Some(0));
    std::fs::copy(folder.path("other/data.csv"), folder.path("release/data.csv")).unwrap();
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("CONTRADICTION"), "{ran:?}");
}

#[test]
fn a_file_that_the_manifest_does_not_list() {
    let folder = Folder::with_release("release");
    folder.write("release/raw.csv", "name,illness\nAnn,Flu\n");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("the file `raw.csv` is not in the manifest"), "{ran:?}");
}

#[test]
fn a_masked_label_does_not_name_the_values_under_it() {
    let folder = Folder::new();
    folder.write("zips.csv", "zip\n02138\n02139\n94110\n94110\n");
    let policy = "[source]\npath = \"zips.csv\"\n[attributes]\nzip = { role = \"quasi\", hierarchy = { mask = 5 } }\n\
                  [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
    folder.write("policy.toml", policy);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let codebook = folder.read("release/codebook.csv");
    assert_eq!(codebook, "attribute,label,low,high,leaf\nzip,0213*,,,0213*\nzip,9411*,,,9411*\n");
}
