//! Publishes rows that are in memory: `cargo run -p hedgerow --example publish_rows -- DIRECTORY`.

use hedgerow::{Cells, Policy, Publish, ReadOptions, Table};

const POLICY: &str = r#"
    [source]
    path = "in memory"

    [attributes]
    age = { role = "quasi-identifier", hierarchy = { widths = [10, 20] } }
    sex = { role = "quasi-identifier" }
    disease = { role = "sensitive" }

    [[rule]]
    require = { model = "k-anonymity", k = 2 }
    [[rule]]
    protect = "disease"
    require = { model = "distinct-l-diversity", l = 2 }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a directory for the release")?;
    let policy = Policy::parse(POLICY, "policy.toml".as_ref())?;

    let columns = vec![
        ("age", Cells::Integers(vec![Some(31), Some(34), Some(52), Some(58)])),
        ("sex", Cells::from(vec!["f", "f", "m", "m"])),
        ("disease", Cells::from(vec!["flu", "cold", "flu", "asthma"])),
    ];
    let table = Table::from_columns(columns, &ReadOptions::default())?;
    let published = Publish::new(&policy, directory).source(&table).run()?;
    for guarantee in &published.guarantees {
        println!("{}: required {:?}, achieved {:?}", guarantee.model, guarantee.required, guarantee.achieved);
    }
    Ok(())
}
