//! Rows in memory to a checked release: `cargo run -p hedgerow --example publish_rows --
//! DIRECTORY`.
use hedgerow::{Attribute, ColumnCells, Hierarchy, Model, Policy, Publish, ReadOptions, Rule, Table, audit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a directory for the release")?;
    let policy = Policy::builder()
        .attribute("age", Attribute::quasi().hierarchy(Hierarchy::widths([10, 20])))
        .attribute("disease", Attribute::sensitive())
        .rule(Rule::require(Model::k_anonymity(2)).and(Model::distinct_l_diversity(2)).protect("disease"))
        .build()?;
    let columns = [
        ("age", ColumnCells::from(vec![31i64, 34, 52, 58])),
        ("disease", ColumnCells::from(vec!["flu", "cold", "flu", "asthma"])),
    ];
    let table = Table::from_columns(columns, &ReadOptions::default())?;
    let release = Publish::new(&policy, directory).source(&table).run()?.open()?;
    for guarantee in release.check()?.guarantees {
        println!("{} holds: {}", guarantee.model, guarantee.holds);
    }
    println!("{:?}", release.query("SELECT COUNT(*) FROM data WHERE age < 40")?.lines);
    for finding in audit(&[release])?.findings {
        println!("{:?}: {} of {} people at risk", finding.adversary, finding.at_risk, finding.people);
    }
    Ok(())
}
