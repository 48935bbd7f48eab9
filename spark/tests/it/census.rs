//! Many rows: a synthetic census, as a Parquet file.

use std::time::Instant;

use hedgerow::{Policy, Publish, TableFormat};

use crate::same::Twins;

const METHODS: [&str; 3] = [
    "method = \"full-domain\"\nsuppression = 0.02\nloss = \"ncp\"\n",
    "method = \"mondrian\"\n",
    "method = \"mondrian\"\nstrict = false\n",
];

/// As many rows as `HEDGEROW_SPARK_ROWS` says, by every method.
pub(crate) fn census(address: &str) {
    let rows = std::env::var("HEDGEROW_SPARK_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    for method in METHODS {
        let folder = tempfile::tempdir().unwrap();
        hedgerow::synthetic::write_example(folder.path(), rows, 1).unwrap();
        let text = std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
        // With k = 1 every row stays as it is, so this is the file in another format.
        let copied = text.replace("k = 5", "k = 1");
        let copied = Policy::parse(&copied, &folder.path().join("policy.toml")).unwrap();
        Publish::new(&copied, folder.path().join("copy")).format(TableFormat::Parquet).run().unwrap();
        let start = text.find("[attributes]").unwrap();
        let end = text.find("[publish]").unwrap();
        let rest = format!("{}[publish]\n{method}", &text[start..end]);
        let twins = Twins::new(folder, address, "path = \"copy/data.parquet\"", &rest);
        let started = Instant::now();
        let (here, there) = twins.publish().expect("a census can be published");
        println!(
            "{rows} rows: {:?} with all comparisons, {} classes; {method}",
            started.elapsed(),
            there.classes.count
        );
        assert_eq!((here.rows.source, there.rows.source), (rows, rows));
    }
}
