//! Content that a release does not describe, and statements of its manifest that its tables do not
//! show: `check` finds it, in files and in a database, for every kind of release.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::running::Folder;

/// A release of every kind, each under its own name.
pub(crate) fn releases() -> Folder {
    let folder = Folder::with_people();
    let publish = |name: &str, policy: &str| {
        folder.write("one.toml", policy);
        let ran = folder.run(&["publish", "one.toml", "-o", name, "-q"]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    };
    publish("generalized", crate::running::POLICY);
    let sensitive = |rest: &str| {
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nname = {{ role = \"identifier\" }}\nage = {{ role = \"quasi\" }}\n\
             city = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"illness\"\n{rest}\n"
        )
    };
    publish(
        "mondrian",
        &sensitive("require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"mondrian\""),
    );
    publish(
        "cluster",
        &sensitive("require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"cluster\""),
    );
    publish(
        "anatomy",
        &sensitive("require = { model = \"frequency-l-diversity\", l = 2 }\n[publish]\nmethod = \"anatomy\""),
    );
    publish(
        "clone",
        &sensitive(
            "require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"clone\"\nk = 2\nmax-epsilon = 1.0",
        ),
    );
    publish(
        "decompose",
        &sensitive("require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"decompose\""),
    );
    for name in ["generalized", "mondrian", "cluster", "anatomy", "clone", "decompose"] {
        let ran = folder.run(&["check", name]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    }
    folder
}

/// Puts a value where a JSON pointer leads, the last step of which may be new.
pub(crate) fn put(manifest: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match manifest.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}")) {
        Value::Object(object) => {
            object.insert(key.to_owned(), value);
        }
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
}

#[test]
fn every_false_statement_of_a_manifest_is_found() {
    let folder = releases();
    let claims = [
        ("generalized", "/hedgerow/method", json!("magic"), "magic"),
        ("generalized", "/hedgerow/method", json!("clone"), "clone"),
        ("generalized", "/resources/1/path", json!("nowhere.csv"), "nowhere.csv"),
        ("generalized", "/resources/0/mediatype", json!("text/html"), "format"),
        ("generalized", "/resources/0/schema/fields/2/role", json!("secret"), "secret"),
        ("generalized", "/resources/0/schema/fields/0/values", json!("color"), "`age`"),
        ("generalized", "/resources/0/schema/fields/0/range", json!([40, 20]), "`age`"),
        ("generalized", "/people", json!(["Ann has the flu"]), "`people`"),
        ("generalized", "/name", json!("Ann Smith"), "`name`"),
        ("generalized", "/hedgerow/loss/discernibility", json!(-1.0), "discernibility"),
        ("generalized", "/hedgerow/loss/average-class", json!(1.0), "average-class"),
        ("generalized", "/hedgerow/loss/ncp", json!(0.0), "ncp"),
        ("generalized", "/hedgerow/classes/mean", json!(99.0), "classes"),
        ("generalized", "/hedgerow/hierarchies", json!({"illness": [["Flu", "*"]]}), "hierarchy of `illness`"),
        ("generalized", "/hedgerow/cloning", json!({"epsilon": 0.0}), "cloning"),
        ("mondrian", "/hedgerow/rows", json!({"in": 14, "out": 12, "suppressed": 2}), "suppresses none"),
        ("mondrian", "/hedgerow/loss/discernibility", json!(12.0), "discernibility"),
        ("anatomy", "/hedgerow/method", json!("full-domain"), "full-domain"),
        ("anatomy", "/hedgerow/loss/discernibility", json!(1.0), "discernibility"),
        ("anatomy", "/hedgerow/loss/average-class", json!(0.5), "average-class"),
        ("clone", "/hedgerow/cloning/epsilon", json!(0.5), "epsilon"),
        ("clone", "/hedgerow/cloning/beta", json!(1.5), "beta"),
        ("clone", "/hedgerow/cloning/theta", json!(0.25), "theta"),
        ("clone", "/hedgerow/cloning/theta-at/0/theta", json!(0.0), "theta-at"),
        ("clone", "/hedgerow/cloning/broken-by", json!("nothing"), "broken-by"),
        ("clone", "/hedgerow/cloning/meaning", json!("nothing can be learned"), "meaning"),
        ("clone", "/hedgerow/cloning/k", json!(1), "k = 1"),
        ("clone", "/hedgerow/cloning/lambda", json!(9), "lambda"),
        ("clone", "/hedgerow/cloning/counterfeits", json!(77), "counterfeits"),
        ("clone", "/hedgerow/cloning/sub-classes", json!(1000), "sub-classes"),
        ("clone", "/hedgerow/cloning/note", json!("none"), "note"),
        (
            "clone",
            "/hedgerow/guarantees/0/know/0",
            json!("Ann has the flu"),
            "`Ann has the flu`, which has no statistics",
        ),
        ("clone", "/hedgerow/loss/discernibility", json!(0.0), "discernibility"),
        ("cluster", "/hedgerow/method", json!("full-domain"), "not of one level"),
        ("mondrian", "/hedgerow/method", json!("full-domain"), "not of one level"),
        ("generalized", "/resources/0/schema/fields/0/range", json!([40, 120]), "`age` has values or labels outside"),
        ("generalized", "/resources/0/schema/fields/0/range", json!(["2020-01-01", null]), "range of `age`"),
        ("anatomy", "/resources/0/schema/fields/0/range", json!([0, 30]), "`age` has values or labels outside"),
        ("generalized", "/resources/0/schema/fields/0/hierarchy", json!("magic"), "hierarchy of `age`"),
        ("generalized", "/resources/0/schema/fields/0/hierarchy", json!("dates"), "not of one level"),
        ("generalized", "/hedgerow/dependencies", json!([{"from": ["street"], "to": "city"}]), "`street`"),
        ("generalized", "/hedgerow/dependencies", json!([{"from": ["age"], "to": "street"}]), "`street`"),
        ("generalized", "/hedgerow/dependencies", json!([{"from": [], "to": "city"}]), "no policy can declare"),
        ("generalized", "/hedgerow/dependencies", json!([{"from": ["city"], "to": "city"}]), "no policy can declare"),
        ("anatomy", "/hedgerow/dependencies", json!([{"from": ["street"], "to": "city"}]), "`street`"),
        ("clone", "/hedgerow/dependencies", json!([{"from": ["street"], "to": "city"}]), "`street`"),
        ("decompose", "/hedgerow/dependencies", json!([{"from": ["street"], "to": "city"}]), "`street`"),
        (
            "generalized",
            "/hedgerow/dependencies",
            json!([{"from": ["age"], "to": "city", "accept": " "}]),
            "no policy can declare",
        ),
        (
            "generalized",
            "/hedgerow/units",
            json!({"in": 12, "out": 12, "suppressed": 0, "linked": false}),
            "not every guarantee counts them",
        ),
        ("generalized", "/hedgerow/guarantees/0/rows", json!("all"), "does not say how many there are"),
        ("anatomy", "/hedgerow/guarantees/0/rows", json!("one"), "does not say how many there are"),
        ("decompose", "/hedgerow/method", json!("anatomy"), "anatomy"),
        ("decompose", "/hedgerow/loss/kl", json!(0.0), "kl"),
    ];
    for (release, pointer, value, words) in claims {
        let file = format!("{release}/datapackage.json");
        let honest = folder.read(&file);
        let mut manifest: Value = serde_json::from_str(&honest).unwrap();
        put(&mut manifest, pointer, value.clone());
        folder.write(&file, manifest.to_string());
        let ran = folder.run(&["check", release]);
        assert_eq!(ran.code, Some(4), "{release} {pointer} = {value}: {ran:?}");
        let named = ran.stdout.lines().any(|line| line.contains("CONTRADICTION") && line.contains(words));
        assert!(named, "{release} {pointer} = {value}: {ran:?}");
        folder.write(&file, honest);
    }
}

#[test]
fn labels_of_a_codebook_that_are_not_used_or_not_true_are_found() {
    let folder = releases();
    let (codebook, data) = (folder.read("generalized/codebook.csv"), folder.read("generalized/data.csv"));
    folder.write("generalized/codebook.csv", format!("{codebook}city,West,,,Dd\n"));
    let ran = folder.run(&["check", "generalized"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("explains a label of `city` that no row has"), "{ran:?}");
    // The same label in both files, and what it covers as it was.
    folder.write("generalized/codebook.csv", codebook.replace("20 to 29", "20 to 28"));
    folder.write("generalized/data.csv", data.replace("20 to 29", "20 to 28"));
    let ran = folder.run(&["check", "generalized"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("1 labels of `age` say less than codebook.csv says"), "{ran:?}");
}

#[test]
fn other_contents_of_a_database_are_reported() {
    let changes = [
        ("ALTER TABLE data ADD COLUMN name TEXT; UPDATE data SET name = 'Ann'", "the table `data` is not declared"),
        ("CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('Ann')", "the table `people`"),
        ("CREATE VIEW names AS SELECT 'Ann' AS name", "the view `names`"),
        (
            "CREATE TRIGGER later AFTER UPDATE ON data BEGIN INSERT INTO codebook VALUES ('Ann', '', '', '', ''); END",
            "the trigger `later`",
        ),
        ("CREATE INDEX ann ON data (age)", "the index `ann`"),
        ("INSERT INTO datapackage VALUES ('Ann has the flu')", "`datapackage` has 2 rows"),
        ("ANALYZE", "the table `sqlite_stat1`"),
        ("CREATE TABLE gone (name TEXT); INSERT INTO gone VALUES (randomblob(9000)); DROP TABLE gone", "unused pages"),
        ("UPDATE data SET age = '20 to 28' WHERE age = '20 to 29'", "no entry in codebook.csv"),
        (
            "UPDATE data SET age = '20 to 28' WHERE age = '20 to 29'; UPDATE codebook SET label = '20 to 28' WHERE label = '20 to 29'",
            "say less than codebook.csv",
        ),
        ("UPDATE codebook SET high = '90' WHERE label = '20 to 29'", "say less than codebook.csv"),
        ("UPDATE datapackage SET json = replace(json, 'full-domain', 'magic')", "magic"),
        ("PRAGMA user_version = 21", "`user_version`"),
        ("PRAGMA application_id = 21", "`application_id`"),
        ("UPDATE data SET rowid = rowid + 1000", "the rows of `data` are not numbered from 1 to 12"),
        ("UPDATE data SET rowid = 77 WHERE rowid = 7", "the rows of `data` are not numbered"),
        ("UPDATE codebook SET rowid = -rowid", "the rows of `codebook` are not numbered"),
        ("UPDATE datapackage SET rowid = 21", "the rows of `datapackage` are not numbered"),
        ("UPDATE codebook SET leaf = '' WHERE leaf IS NULL AND label = '20 to 29'", "1 empty texts"),
    ];
    let folder = Folder::with_people();
    let ran = folder.run(&["publish", "policy.toml", "-o", "sqlite:honest.db", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(folder.run(&["check", "sqlite:honest.db"]).code, Some(0));
    for (change, words) in changes {
        std::fs::copy(folder.path("honest.db"), folder.path("changed.db")).unwrap();
        Connection::open(folder.path("changed.db")).unwrap().execute_batch(change).unwrap();
        let ran = folder.run(&["check", "sqlite:changed.db"]);
        assert_eq!(ran.code, Some(4), "{change}: {ran:?}");
        assert!(ran.stdout.contains(words), "{change}: {ran:?}");
    }
    let mut bytes = std::fs::read(folder.path("honest.db")).unwrap();
    bytes.extend(b"Ann has the flu");
    folder.write("changed.db", bytes);
    let ran = folder.run(&["check", "sqlite:changed.db"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("longer than its tables"), "{ran:?}");
}

/// Checked with a policy, a release must claim what the policy requires.
#[test]
fn a_release_that_does_not_claim_what_the_policy_requires_is_named() {
    let folder = Folder::new();
    let rows: String = (0..24).map(|row| format!("{},{}\n", 20 + row / 6 * 10, row % 3)).collect();
    folder.write("people.csv", format!("age,ward\n{rows}"));
    let policy = |k: u64| {
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nward = {{ role = \"plain\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n"
        )
    };
    folder.write("three.toml", policy(3));
    folder.write("five.toml", policy(5));
    assert_eq!(folder.run(&["publish", "three.toml", "-o", "release"]).code, Some(0));
    let ran = folder.run(&["check", "release", "--policy", "three.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["check", "release", "--policy", "five.toml"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.stdout.contains("requires k-anonymity with k = 5") && ran.stdout.contains("does not claim it"),
        "{ran:?}"
    );
}
