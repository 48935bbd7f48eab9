//! Every way a policy can be wrong that we could think of: one change to a good policy each, the exact place of the
//! complaint, and what its hint must offer.

use std::path::Path;

use hedgerow_policy::{Policy, PolicyErrors};

/// Line numbers matter below.
const GOOD: &str = r#"[source]
path = "patients.csv"
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = 5 } }
disease = { role = "sensitive" }
ward = { role = "plain" }
[[rule]]
require = { model = "k-anonymity", k = 5 }
[[rule]]
protect = "disease"
require = { model = "t-closeness", t = 0.3 }
[publish]
method = "full-domain"
suppression = 0.02
loss = "ncp"
"#;

fn parse(text: &str) -> Result<Policy, PolicyErrors> {
    Policy::parse(text, Path::new("policy.toml"))
}

/// The good policy with one line replaced (which may add lines).
fn changed(line: usize, by: &str) -> String {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    lines[line - 1] = by;
    lines.join("\n") + "\n"
}

/// Exactly one complaint, at `place`, with these words in problem and hint.
#[track_caller]
fn refused(text: &str, place: &str, problem: &str, hint: &str) {
    let errors = parse(text).expect_err(text);
    assert_eq!(errors.len(), 1, "{errors}\n{text}");
    let error = &errors[0].error;
    assert_eq!(error.place, format!("policy.toml:{place}"), "{errors}");
    assert!(error.problem.contains(problem), "{errors}");
    assert!(error.hint.contains(hint), "{errors}");
}

#[track_caller]
fn line_refused(line: usize, by: &str, place: &str, problem: &str, hint: &str) {
    refused(&changed(line, by), place, problem, hint);
}

#[test]
fn the_good_policy_is_good() {
    let policy = parse(GOOD).unwrap();
    assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);
}

#[test]
fn unknown_keys_anywhere() {
    line_refused(14, "[publich]", "14:2: publich", "unknown key", "did you mean `publish`?");
    line_refused(1, "[source]\npaht = 1", "2:1: source.paht", "unknown key", "`path`");
    line_refused(1, "[source]\ncolour = 1", "2:1: source.colour", "unknown key", "known here: `path`, `format`");
    line_refused(8, "ward = { role = \"plain\", tipe = \"date\" }", "8:26: attributes.ward.tipe", "unknown", "`type`");
    line_refused(
        6,
        "zip = { role = \"quasi\", hierarchy = { masks = 5 } }",
        "6:39: attributes.zip.hierarchy.masks",
        "unknown key",
        "`mask`",
    );
    line_refused(12, "protect = \"disease\"\nknows = [\"age\"]", "13:1: rule[2].knows", "unknown key", "`know`");
    line_refused(
        10,
        "require = { model = \"k-anonymity\", k = 5, l = 3 }",
        "10:43: rule[1].require.l",
        "unknown key",
        "known here: `model` and `k`",
    );
    line_refused(16, "supression = 0.02", "16:1: publish.supression", "unknown key", "did you mean `suppression`?");
    line_refused(16, "max_nodes = 5", "16:1: publish.max_nodes", "unknown key", "did you mean `max-nodes`?");
    line_refused(17, "[community]\nrelease = []", "18:1: community.release", "unknown key", "`releases`");
    line_refused(1, "top = 1\n[source]", "1:1: top", "unknown key", "known here: `source`");
}

#[test]
fn things_of_the_wrong_type() {
    line_refused(2, "path = 5", "2:8: source.path", "expected a text in quotes, found a whole number", "path = ");
    line_refused(16, "suppression = \"2%\"", "16:15: publish.suppression", "a number, found a text", "2 % is 0.02");
    line_refused(15, "method = [\"full-domain\"]", "15:10: publish.method", "found a list", "full-domain");
    line_refused(7, "disease = \"sensitive\"", "7:11: attributes.disease", "a table, found a text", "{ role = \"sensitive\" }");
    line_refused(7, "disease = 3\ns = { role = \"sensitive\" }", "7:11: attributes.disease", "a table, found a whole", "role");
    line_refused(
        10,
        "require = \"k-anonymity\"",
        "10:11: rule[1].require",
        "expected a table with `model`",
        "k = 5",
    );
    line_refused(10, "require = { model = \"k-anonymity\", k = \"5\" }", "10:40: rule[1].require.k", "a whole number, found a text", "k = 5");
    line_refused(10, "require = { model = \"k-anonymity\", k = true }", "10:40: rule[1].require.k", "found true or false", "k = 5");
    line_refused(12, "protect = [\"disease\"]", "12:11: rule[2].protect", "found a list", "one `[[rule]]` for each");
    line_refused(12, "protect = \"disease\"\nknow = \"age\"", "13:8: rule[2].know", "a list in brackets, found a text", "know = [");
    line_refused(12, "protect = \"disease\"\nknow = [\"age\", 3]", "13:16: rule[2].know[2]", "found a whole number", "know = [");
    line_refused(5, "age = { role = \"quasi\", hierarchy = 5 }", "5:37: attributes.age.hierarchy", "a file's path or a table", "widths");
    line_refused(2, "path = \"a.csv\"\nnull = \"NA\"", "3:8: source.null", "a list in brackets", "null = [");
    line_refused(2, "path = \"a.csv\"\nnull = [-9]", "3:9: source.null[1]", "found a number", "write `\"-9\"`");
    line_refused(17, "max-nodes = 1.5", "17:13: publish.max-nodes", "a whole number of at least 1, found `1.5`", "max-nodes = ");
    line_refused(17, "[community]\nreleases = \"x\"", "18:12: community.releases", "a list in brackets", "releases = [");
    line_refused(9, "[rule]", "9:1: rule", "expected a list of rules, found a table", "[[rule]]");
}

#[test]
fn whole_sections_of_the_wrong_type() {
    let rest = GOOD.strip_prefix("[source]\npath = \"patients.csv\"\n").unwrap();
    refused(&format!("source = \"patients.csv\"\n{rest}"), "1:10: source", "expected a table, found a text", "[source]");
    let text = "source = { path = \"a.csv\" }\nattributes = [1]\nrule = [{ require = { model = \"k-anonymity\", k = 2 } }]";
    refused(text, "2:14: attributes", "expected a table, found a list", "role = \"quasi\"");
}

#[test]
fn what_must_not_be_missing() {
    refused("", "1:1: source", "", "").then_is_three();
    line_refused(2, "", "1:2: source.path", "`path` is missing", "path = \"patients.csv\"");
    line_refused(2, "path = \" \"", "2:8: source.path", "names no file", "path = ");
    line_refused(8, "ward = {}", "8:1: attributes.ward.role", "`role` is missing", "role = \"quasi\"");
    line_refused(10, "", "9:1: rule[1].require", "`require` is missing", "k-anonymity");
    line_refused(10, "require = []", "10:11: rule[1].require", "the list is empty", "k-anonymity");
    line_refused(10, "require = {}", "10:1: rule[1].require.model", "`model` is missing", "one of `k-anonymity`, ");
    let no_rule: String = GOOD.lines().filter(|line| !line.contains("rule") && !line.contains("require"))
        .filter(|line| !line.contains("protect")).map(|line| format!("{line}\n")).collect();
    refused(&no_rule, "1:1: rule", "no rule: nothing would be protected", "[[rule]]");
    refused(&format!("rule = []\n{no_rule}"), "1:8: rule", "nothing would be protected", "[[rule]]");
    let empty = "[source]\npath = \"a.csv\"\n[attributes]\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n";
    refused(empty, "3:2: attributes", "no attribute is described", "role = \"quasi\"");
}

trait Also {
    fn then_is_three(self);
}
