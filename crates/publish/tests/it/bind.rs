//! Policies that read well and mean something else than their author thinks, once they meet the data.

use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_table::NoProgress;

/// The warnings of a policy bound to `data.csv`, or the refusal.
fn bind(data: &str, null: &str, require: &str) -> Result<Vec<String>, String> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("data.csv"), data).unwrap();
    let text = format!(
        "[source]\npath = \"data.csv\"\nnull = {null}\n[attributes]\nsex = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"disease\"\nrequire = {require}\n"
    );
    let policy = Policy::parse(&text, &directory.path().join(Path::new("policy.toml"))).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    let bound = Bound::new(&policy, &table).map_err(|error| error.to_string())?;
    Ok(bound.warnings.iter().map(ToString::to_string).collect())
}

const DATA: &str = "sex,disease\nf,HIV\nm,flu\nf,?\n";

#[test]
fn a_limited_value_that_no_row_has_is_told() {
    let limit = |values: &str| format!("{{ model = \"alpha-k-anonymity\", alpha = 0.5, k = 1, values = {values} }}");
    assert_eq!(bind(DATA, "[\"?\"]", &limit("[\"HIV\"]")), Ok(vec![]));
    let misspelt = bind(DATA, "[\"?\"]", &limit("[\"HIV\", \"hiv\"]")).unwrap();
    assert!(misspelt.len() == 1 && misspelt[0].contains("\"hiv\""), "{misspelt:?}");
    let missing = bind(DATA, "[\"?\"]", &limit("[\"?\"]")).unwrap_err();
    assert!(missing.contains("counts as missing"), "{missing}");
}
