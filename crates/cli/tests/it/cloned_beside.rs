//! Cloned releases among others: in a community, in an audit, in a catalog.

use serde_json::{Value, json};

use crate::community::{adversary, json, publish};
use crate::running::{Folder, POLICY, Ran};

fn run(folder: &Folder, arguments: &[&str], code: i32) -> Ran {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    ran
}

/// Twelve people, cloned: three classes of two with flu, one with a cough, one with an ache.
fn cloned() -> Folder {
    let folder = Folder::with_people();
    let (attributes, _) = POLICY.split_once("[[rule]]").unwrap();
    let write = |name: &str, rest: &str| folder.write(name, format!("{attributes}{rest}"));
    write("clone.toml", "[publish]\nmethod = \"clone\"\nk = 2\nlambda = 1\n");
    let rule = |model: &str| format!("[[rule]]\nprotect = \"illness\"\nrequire = {{ model = {model} }}\n");
    let published = "[publish]\nsuppression = 0.0\n";
    let beside = "[community]\nreleases = [\"cloned\"]\n";
    for l in [3, 4] {
        let rule = rule(&format!("\"cross-release-l-diversity\", l = {l}"));
        write(&format!("beside-{l}.toml"), &format!("{rule}{published}{beside}"));
    }
    write("bare.toml", &format!("{}{published}", rule("\"k-anonymity\", k = 1")));
    publish(&folder, "clone.toml", "cloned");
    folder
}

#[test]
fn the_next_release_keeps_to_what_a_cloned_one_leaves() {
    let folder = cloned();
    let arguments = ["publish", "beside-3.toml", "-o", "new", "--candidates", "--json", "--seed", "1"];
    let made = json(&run(&folder, &arguments, 0));
    // Of six combinations of levels, those with both attributes above their values, and one more
    // for each at its top.
    assert_eq!((&made["candidates"], &made["levels"]), (&json!(4), &json!({ "age": 1, "city": 1 })));
    assert_eq!(made["guarantees"][0]["achieved"]["l"], 3);
    let checked = json(&run(&folder, &["check", "new", "--community", "cloned", "--json"], 0));
    assert_eq!(checked["holds"], true);
    let refused = run(&folder, &["publish", "beside-4.toml", "-o", "more"], 3);
    let said = "what is published already leaves 3 of the values of `illness` to somebody";
    assert!(refused.stderr.contains(said) && refused.stderr.contains("  cloned: age `*`, city `"), "{refused:?}");
    assert!(!folder.names().contains(&"more".to_owned()));
}

#[test]
fn a_cloned_release_is_audited_beside_others() {
    let folder = cloned();
    publish(&folder, "beside-3.toml", "new");
    let found = json(&run(&folder, &["audit", "cloned", "new", "--people", "people.csv", "--json"], 0));
    assert_eq!(found.get("contradictions"), None, "{found}");
    let composition = adversary(&found, "composition");
    let printed = ["people", "at_risk", "effective_l", "effective_k"].map(|name| composition[name].clone());
    assert_eq!(printed, [12, 0, 3, 4].map(Value::from), "{composition}");
    publish(&folder, "bare.toml", "bare");
    let text = run(&folder, &["audit", "cloned", "new", "bare"], 4).stdout;
    assert!(text.contains("BREACH  composition of `illness`: cloned + new + bare"), "{text}");
    assert!(text.contains("cloned: age `*`, city `Aa"), "{text}");
    folder.write("cloned/sensitive.csv", folder.read("cloned/sensitive.csv").replacen(",1\n", ",3\n", 1));
    let wrong = run(&folder, &["audit", "cloned", "new"], 4).stdout;
    assert!(wrong.contains("WRONG  cloned: the sub-classes of a class have other tuples"), "{wrong}");
}

#[test]
fn a_catalog_remembers_cloned_releases() {
    let folder = cloned();
    run(&folder, &["catalog", "add", "catalog", "cloned", "--custodian", "us"], 0);
    assert!(run(&folder, &["catalog", "list", "catalog"], 0).stdout.contains("clone "));
    let shown = json(&run(&folder, &["catalog", "show", "catalog", "cloned", "--json"], 0));
    assert_eq!((&shown["method"], &shown["changed"]), (&json!("clone"), &json!(false)));
    assert_eq!(shown["guarantees"][0]["model"], "epsilon-clone");
    // A release that leaves three values everywhere goes beside it, and so does the clone of the
    // same people.
    for (policy, release) in [("beside-3.toml", "new"), ("clone.toml", "again")] {
        run(
            &folder,
            &["publish", policy, "-o", release, "--catalog", "catalog", "--custodian", "us", "--seed", "2"],
            0,
        );
    }
    // Beside a table that hides nothing, a clone is refused.
    publish(&folder, "bare.toml", "bare");
    run(&folder, &["catalog", "add", "catalog", "bare", "--custodian", "them"], 0);
    let refused = run(&folder, &["publish", "clone.toml", "-o", "third", "--catalog", "catalog"], 4);
    assert!(refused.stderr.contains("combined with the catalog, this release breaks the policy"), "{}", refused.stderr);
    assert!(refused.stderr.contains("the new release: age `*`, city `Aa"), "{}", refused.stderr);
    assert!(!folder.names().contains(&"third".to_owned()), "{:?}", folder.names());
}

/// Three people in a clone of three tuples, and a release that suppressed one of them: it has the
/// values of the other two, so the third has the value that is left.
#[test]
fn a_clone_beside_a_suppressed_row_is_refused_at_the_gate() {
    let folder = Folder::new();
    folder.write("people.csv", "x,y,d\na,e,p\na,e,q\nb,f,r\n");
    let policy = |quasi: &str, rest: &str| {
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\n{quasi} = {{ role = \"quasi\" }}\nd = {{ role = \"sensitive\" }}\n\
             [[rule]]\nprotect = \"d\"\nrequire = {rest}\n"
        )
    };
    let clone =
        "{ model = \"epsilon-clone\", epsilon = 1.0 }\n[publish]\nmethod = \"clone\"\nk = 3\nmax-distorted = 0.0";
    folder.write("clone.toml", policy("y", clone));
    let levels = "{ model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"full-domain\"\nsuppression = 0.34";
    folder.write("levels.toml", policy("x", levels));
    let publish = |policy: &str, release: &str, custodian: &str, more: &[&str]| {
        let arguments = ["publish", policy, "-o", release, "--catalog", "catalog", "--custodian", custodian];
        folder.run(&[&arguments[..], more].concat())
    };
    let ran = publish("clone.toml", "one", "first", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = publish("levels.toml", "two", "second", &["--levels", "x=0"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let audited = folder.run(&["audit", "--catalog", "catalog", "--people", "people.csv", "--adversary", "worlds"]);
    assert!(audited.stdout.contains("every person who fits one is in it"), "{audited:?}");
}
