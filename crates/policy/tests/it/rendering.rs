//! Errors as a user sees them, whole.

use std::path::Path;

use hedgerow_policy::Policy;

const HEAD: &str =
    "[source]\npath = \"a.csv\"\n[attributes]\nage = { role = \"quasi\" }\ndisease = { role = \"sensitive\" }\n";

#[track_caller]
fn prints(text: &str, expected: &str) {
    let errors = Policy::parse(text, Path::new("policy.toml")).unwrap_err();
    assert_eq!(errors.to_string(), expected.trim_start_matches('\n').trim_end_matches('\n'));
}

#[test]
fn an_unknown_key() {
    let text = format!(
        "{HEAD}[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n\n\n\n\n[publish]\nmax-nodes = 5\nsupression = 0.02\n"
    );
    prints(
        &text,
        r#"
error: policy.toml:14:1: publish.supression: unknown key
   |
14 | supression = 0.02
   | ^^^^^^^^^^
hint: did you mean `suppression`?
"#,
    );
}

#[test]
fn a_parameter_out_of_range() {
    prints(
        &format!("{HEAD}[[rule]]\nprotect = \"disease\"\n\trequire = [{{ model = \"t-closeness\", t = 1.5 }}]\n"),
        r#"
error: policy.toml:8:42: rule[1].require[1].t: must be a number from 0 to 1, found `1.5`
   |
 8 |  require = [{ model = "t-closeness", t = 1.5 }]
   |                                          ^^^
hint: how far a class's distribution may be from the table's, from 0 to 1; for example `t = 0.3`
"#,
    );
}

#[test]
fn a_wrong_name_and_a_missing_parameter_together() {
    prints(
        &format!("{HEAD}[[rule]]\nprotect = \"diseas\"\nrequire = {{ model = \"distinct-l-diversity\" }}\n"),
        r#"
error: policy.toml:7:11: rule[1].protect: unknown attribute `diseas`
   |
 7 | protect = "diseas"
   |           ^^^^^^^^
hint: did you mean `disease`?

error: policy.toml:8:1: rule[1].require.l: `l` is missing
   |
 8 | require = { model = "distinct-l-diversity" }
   | ^^^^^^^
hint: how many values at least, a whole number of at least 1; for example `l = 3`
"#,
    );
}

#[test]
fn a_missing_section() {
    prints(
        HEAD,
        r#"
error: policy.toml:1:1: rule: no rule: nothing would be protected
hint: say what must hold; for example `[[rule]]` with `require = { model = "k-anonymity", k = 5 }` below it
"#,
    );
}

#[test]
fn the_toml_syntax() {
    prints(
        "[source]\npath = patients.csv\n",
        r#"
error: policy.toml:2:8: not valid TOML: string values must be quoted
   |
 2 | path = patients.csv
   |        ^^^^^^^^^^^^
hint: put texts in double quotes, as in `role = "quasi"`
"#,
    );
}

#[test]
fn nothing_in_the_file_can_steer_the_terminal() {
    let text = format!("{HEAD}[[rule]]\nprotect = \"\\u001b[31mred\"\nrequire = {{ \u{1b} }}");
    let errors = Policy::parse(&text, Path::new("policy.toml")).unwrap_err().to_string();
    assert!(!errors.contains('\u{1b}'), "{errors:?}");
    let text = format!("{HEAD}[[rule]]\nprotect = \"\\u001b[31mred\"\nrequire = {{ model = \"k-anonymity\", k = 1 }}");
    let errors = Policy::parse(&text, Path::new("policy.toml")).unwrap_err().to_string();
    assert!(errors.contains("unknown attribute `\\u{1b}[31mred`") && !errors.contains('\u{1b}'), "{errors:?}");
}
