//! A good policy, and how to check what one change to it is answered with.

use std::path::Path;

use hedgerow_policy::{ConfigErrors, Policy};

/// Line numbers matter below.
pub(crate) const GOOD: &str = r#"[source]
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

pub(crate) fn parse(text: &str) -> Result<Policy, ConfigErrors> {
    Policy::parse(text, Path::new("policy.toml"))
}

/// The good policy with one line replaced (which may add lines).
pub(crate) fn changed(line: usize, by: &str) -> String {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    lines[line - 1] = by;
    lines.join("\n") + "\n"
}

/// Exactly one complaint, at `place`, with these words in problem and hint.
#[track_caller]
pub(crate) fn refused(text: &str, place: &str, problem: &str, hint: &str) {
    let errors = parse(text).expect_err(text);
    assert_eq!(errors.len(), 1, "{errors}\n{text}");
    let error = &errors[0].error;
    assert_eq!(error.place, format!("policy.toml:{place}"), "{errors}");
    assert!(error.problem.contains(problem), "{errors}");
    assert!(error.hint.contains(hint), "{errors}");
}

#[track_caller]
pub(crate) fn line_refused(line: usize, by: &str, place: &str, problem: &str, hint: &str) {
    refused(&changed(line, by), place, problem, hint);
}
