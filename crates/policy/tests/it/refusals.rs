//! Refusals of form: keys, types, what is missing, and the TOML syntax. One change to a good policy
//! each, with the exact place of the complaint and what its hint must offer.

use crate::good::{GOOD, line_refused, parse, refused};

#[test]
fn the_good_policy_is_good() {
    let policy = parse(GOOD).unwrap();
    assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);
}

#[test]
fn unknown_keys_anywhere() {
    line_refused(14, "[publich]", "14:2: publich", "unknown key", "did you mean `publish`?");
    line_refused(1, "[source]\npaht = 1", "2:1: source.paht", "unknown key", "`path`");
    line_refused(1, "[source]\ncolor = 1", "2:1: source.color", "unknown key", "known here: `path`, `format`");
    line_refused(8, "ward = { role = \"plain\", tipe = \"date\" }", "8:26: attributes.ward.tipe", "unknown", "`type`");
    line_refused(
        6,
        "zip = { role = \"quasi\", hierarchy = { masks = 5 } }",
        "6:39: attributes.zip.hierarchy.masks",
        "unknown key",
        "`mask`",
    );
    line_refused(
        6,
        "zip = { role = \"quasi\", hierarchy = \"mask\" }",
        "6:37: attributes.zip.hierarchy",
        "`mask` is a way to build a hierarchy",
        "hierarchy = { mask = 5 }",
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
    line_refused(
        7,
        "disease = \"sensitive\"",
        "7:11: attributes.disease",
        "a table, found a text",
        "{ role = \"sensitive\" }",
    );
    line_refused(
        7,
        "disease = 3\ns = { role = \"sensitive\" }",
        "7:11: attributes.disease",
        "a table, found a whole",
        "role",
    );
    line_refused(10, "require = \"k-anonymity\"", "10:11: rule[1].require", "expected a table with `model`", "k = 5");
    line_refused(
        10,
        "require = { model = \"k-anonymity\", k = \"5\" }",
        "10:40: rule[1].require.k",
        "a whole number, found a text",
        "k = 5",
    );
    line_refused(
        10,
        "require = { model = \"k-anonymity\", k = true }",
        "10:40: rule[1].require.k",
        "found true or false",
        "k = 5",
    );
    line_refused(12, "protect = [\"disease\"]", "12:11: rule[2].protect", "found a list", "one `[[rule]]` for each");
    line_refused(
        12,
        "protect = \"disease\"\nknow = \"age\"",
        "13:8: rule[2].know",
        "a list in brackets, found a text",
        "know = [",
    );
    line_refused(
        12,
        "protect = \"disease\"\nknow = [\"age\", 3]",
        "13:16: rule[2].know[2]",
        "found a whole number",
        "know = [",
    );
    line_refused(
        5,
        "age = { role = \"quasi\", hierarchy = 5 }",
        "5:37: attributes.age.hierarchy",
        "a file's path or a table",
        "widths",
    );
    line_refused(2, "path = \"a.csv\"\nnull = \"NA\"", "3:8: source.null", "a list in brackets", "null = [");
    line_refused(2, "path = \"a.csv\"\nnull = [-9]", "3:9: source.null[1]", "found a number", "write `\"-9\"`");
    line_refused(
        17,
        "max-nodes = 1.5",
        "17:13: publish.max-nodes",
        "a whole number of at least 1, found `1.5`",
        "max-nodes = ",
    );
    line_refused(
        17,
        "[community]\nreleases = \"x\"",
        "18:12: community.releases",
        "a list in brackets",
        "releases = [",
    );
    line_refused(9, "[rule]", "11:3", "`rule` is given twice", "[[rule]]");
}

#[test]
fn whole_sections_of_the_wrong_type() {
    let rest = GOOD.strip_prefix("[source]\npath = \"patients.csv\"\n").unwrap();
    refused(
        &format!("source = \"patients.csv\"\n{rest}"),
        "1:10: source",
        "expected a table, found a text",
        "[source]",
    );
    let text =
        "source = { path = \"a.csv\" }\nattributes = [1]\nrule = [{ require = { model = \"k-anonymity\", k = 2 } }]";
    refused(text, "2:14: attributes", "expected a table, found a list", "role = \"quasi\"");
}

#[test]
fn what_must_not_be_missing() {
    line_refused(2, "", "1:2: source.path", "`path` is missing", "path = \"patients.csv\"");
    line_refused(2, "path = \" \"", "2:8: source.path", "names no file", "path = ");
    line_refused(8, "ward = {}", "8:1: attributes.ward.role", "`role` is missing", "role = \"quasi\"");
    line_refused(10, "", "9:1: rule[1].require", "`require` is missing", "k-anonymity");
    line_refused(10, "require = []", "10:11: rule[1].require", "the list is empty", "k-anonymity");
    let no_model = |require: &str, hint: &str| {
        line_refused(10, require, "10:1: rule[1].require.model", "`model` is missing", hint);
    };
    no_model("require = {}", "one of `k-anonymity`, ");
    // The parameters say which it may be.
    no_model("require = { k = 5 }", "write `model = \"k-anonymity\"` beside `k`");
    no_model("require = { t = 0.2 }", "write `model = \"t-closeness\"` beside `t`");
    no_model("require = { l = 3 }", "one of `distinct-l-diversity`, `frequency-l-diversity`, `entropy-l-diversity` ");
    no_model("require = { k = 5, nothing = 1 }", "one of `k-anonymity`, ");
    let no_rule: String = GOOD
        .lines()
        .filter(|line| !line.contains("rule") && !line.contains("require"))
        .filter(|line| !line.contains("protect"))
        .map(|line| format!("{line}\n"))
        .collect();
    refused(&no_rule, "1:1: rule", "no rule: nothing would be protected", "[[rule]]");
    refused(&format!("rule = []\n{no_rule}"), "1:8: rule", "nothing would be protected", "[[rule]]");
    let empty = "[source]\npath = \"a.csv\"\n[attributes]\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n";
    refused(empty, "3:2: attributes", "no attribute is described", "role = \"quasi\"");
}

#[test]
fn an_empty_file_lacks_its_sections() {
    for text in ["", "\n\n", "# nothing\n", "\u{feff}"] {
        let errors = parse(text).unwrap_err();
        let places: Vec<&str> = errors.iter().map(|error| error.error.place.as_str()).collect();
        assert_eq!(places, ["policy.toml:1:1: attributes", "policy.toml:1:1: rule"]);
        assert!(errors.iter().all(|error| error.excerpt.is_none()), "no line to show");
    }
}

#[test]
fn the_toml_syntax() {
    line_refused(8, "age = { role = \"plain\" }", "8:1", "`age` is given twice", "keep one of the two");
    line_refused(14, "[source]", "14:2", "`source` is given twice", "keep one of the two");
    line_refused(
        7,
        "disease = { role = sensitive }",
        "7:20",
        "not valid TOML: string values must be quoted",
        "double quotes",
    );
    line_refused(5, "age = { role = \"quasi\"", "6:1", "not valid TOML: missing comma", "`}`");
    line_refused(2, "path = \"patients.csv", "2:21", "not valid TOML: invalid basic string", "double quote");
    line_refused(8, "date of birth = { role = \"plain\" }", "8:6", "not valid TOML", "\"date of birth\"");
    line_refused(8, "straße = { role = \"plain\" }", "8:5", "not valid TOML: invalid unquoted key", "double quotes");
    line_refused(16, "suppression 0.02", "16:13", "not valid TOML", "followed by `=`");
    line_refused(16, "suppression =", "16:14", "not valid TOML", "followed by `=`");
    line_refused(
        10,
        "require = { model = \"k-anonymity\", k = 99999999999999999999 }",
        "10:40",
        "overflowed",
        "9223372036854775807",
    );
    line_refused(17, "x = [1, 2", "17:10", "not valid TOML: unclosed array", "`]`");
    let deep = format!("x = {}", "[".repeat(500_000));
    line_refused(17, &deep, "17:85", "recursion", "nested this deep");
    // The parser does not say where.
    let dotted = format!("x{} = 1", ".x".repeat(100_000));
    line_refused(17, &dotted, "1:1", "recursion", "nested this deep");
    let header = format!("[x{}]", ".x".repeat(100_000));
    line_refused(17, &header, "1:1", "recursion", "nested this deep");
}
