//! Many rows: a synthetic census, as a Parquet file.

use std::time::Instant;

use hedgerow::{Policy, Publish, TableFormat};

use crate::same::compare;
use crate::servers::Server;

const METHODS: [&str; 5] = [
    "method = \"full-domain\"\nsuppression = 0.02\nloss = \"ncp\"\n",
    "method = \"mondrian\"\n",
    "method = \"anatomy\"\n",
    "method = \"mondrian\"\nstrict = false\n",
    "method = \"anatomy\"\nassignment = \"random\"\n",
];

/// The rule for anatomy.
const PROTECTED: &str = "[[rule]]\nprotect = \"income\"\nrequire = { model = \"frequency-l-diversity\", l = 4 }\n";

/// As many rows as `HEDGEROW_SPARK_ROWS` says, by every method, in memory and on every server.
pub(crate) fn census(servers: &[(&str, Server)]) {
    let rows = std::env::var("HEDGEROW_SPARK_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    hedgerow::synthetic::write_example(folder.path(), rows, 1).unwrap();
    let text = std::fs::read_to_string(at("policy.toml")).unwrap();
    let parse = |text: &str| Policy::parse(text, at("policy.toml")).unwrap_or_else(|error| panic!("{error}"));
    // With k = 1 every row stays as it is, so this is the file in another format.
    Publish::new(&parse(&text.replace("k = 5", "k = 1")), at("copy")).format(TableFormat::Parquet).run().unwrap();
    let bytes = std::fs::metadata(at("copy/data.parquet")).unwrap().len();
    println!("{rows} rows, {bytes} bytes as Parquet");
    let rest = &text[text.find("[attributes]").unwrap()..text.find("[publish]").unwrap()];
    for (number, method) in METHODS.into_iter().enumerate() {
        let mut rest = rest.to_owned();
        if method.contains("anatomy") {
            rest.replace_range(rest.find("[[rule]]").unwrap().., PROTECTED);
            rest = rest.replace("role = \"plain\", allow-unique = true", "role = \"sensitive\"");
        }
        // The same places in all, so that warnings can be compared.
        let policy = |engine: &str| {
            parse(&format!("[source]\n{engine}\npath = \"copy/data.parquet\"\n{rest}[publish]\n{method}"))
        };
        let started = Instant::now();
        let own = policy("# here");
        let here = Publish::new(&own, at(&format!("here-{number}"))).candidates(true);
        let here = here.danger_seed(Some(7)).run().unwrap();
        let candidates = here.search.as_ref().and_then(|search| search.candidates);
        println!(
            "{method}  in memory {:?}: {} classes, {:?}, holding nodes: {candidates:?}",
            started.elapsed(),
            here.classes.count,
            here.loss
        );
        assert_eq!(here.rows.source, rows);
        for (name, server) in servers {
            let policy = policy(&format!("engine = \"{}\"", server.address()));
            let started = Instant::now();
            let there = hedgerow_spark::Publish::new(&policy, at(&format!("{name}-{number}")));
            let there = there.candidates(true).danger_seed(Some(7)).run().unwrap();
            println!("  {name} {:?}", started.elapsed());
            compare(&here, &there);
        }
    }
}
