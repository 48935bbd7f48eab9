//! Policies that read well and mean something else than their author thinks, once they meet the
//! data.

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

/// Only numbers and dates can be close to one another.
#[test]
fn proximity_is_required_of_numbers_only() {
    let near = "{ model = \"delta-l-diversity\", delta = 1, l = 2 }";
    let refused = bind(DATA, "[\"?\"]", near).unwrap_err();
    assert!(refused.contains("policy.toml:9:1: rule[1].require: delta-l-diversity"), "{refused}");
    assert!(refused.contains("in `disease` \"HIV\" is not a finite number"), "{refused}");
    for odd in ["NaN", "nan", "inf", "-Infinity", "1e999", "0x10", "1,5", "00.5"] {
        let data = format!("sex,disease\nf,1\nm,\"{odd}\"\nf,2.5\n");
        let refused = bind(&data, "[\"?\"]", near).unwrap_err();
        assert!(refused.contains(&format!("{odd:?} is not a finite number")), "{refused}");
        assert!(refused.contains("hint: correct the value, or list it in `null`"), "{refused}");
        let missing = bind(&data, &format!("[{odd:?}]"), near);
        assert_eq!(missing, Ok(vec![]), "declared missing, {odd} is a value of its own");
    }
    assert_eq!(bind("sex,disease\nf,\nm,\n", "[\"\"]", near), Ok(vec![]), "nothing but missing values");
    assert_eq!(bind("sex,disease\nf,2024-02-29\nm,1999-12-31\n", "[\"\"]", near), Ok(vec![]));
    let relative = "{ model = \"epsilon-m-anonymity\", epsilon = 0.5, m = 2, relative = true }";
    assert!(bind(DATA, "[\"?\"]", relative).unwrap_err().contains("epsilon-m-anonymity measures how close"));
    let dates = bind("sex,disease\nf,2024-02-29\nm,1999-12-31\n", "[\"\"]", relative).unwrap_err();
    assert!(dates.contains("no size to take a share of") && dates.contains("in days"), "{dates}");
}

const DATA: &str = "sex,disease\nf,HIV\nm,flu\nf,?\n";

#[test]
fn a_limited_value_that_no_row_has_is_reported() {
    let limit = |values: &str| format!("{{ model = \"alpha-k-anonymity\", alpha = 0.5, k = 1, values = {values} }}");
    assert_eq!(bind(DATA, "[\"?\"]", &limit("[\"HIV\"]")), Ok(vec![]));
    let misspelled = bind(DATA, "[\"?\"]", &limit("[\"HIV\", \"hiv\"]")).unwrap();
    assert!(misspelled.len() == 1 && misspelled[0].contains("\"hiv\""), "{misspelled:?}");
    let having = "{ model = \"distinct-l-diversity\", l = 1, having = [\"hiv\"] }";
    let misspelled = bind(DATA, "[\"?\"]", having).unwrap();
    assert!(misspelled.iter().any(|warning| warning.contains("no row has \"hiv\"")), "{misspelled:?}");
    let missing = bind(DATA, "[\"?\"]", &limit("[\"?\"]")).unwrap_err();
    assert!(missing.contains("counts as missing"), "{missing}");
}
