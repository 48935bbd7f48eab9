//! Two departments publish about the same people. The second takes the first release into account,
//! and the audit of both finds no one: `cargo run -p hedgerow --example beside_another_release --
//! DIRECTORY`.

use std::path::PathBuf;

use hedgerow::{Attribute, ColumnCells, Hierarchy, Model, Policy, Publish, ReadOptions, Release, Rule, Table, audit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("name a directory for both releases")?);
    std::fs::create_dir_all(&directory)?;
    let (first, second) = (directory.join("revenue"), directory.join("census"));
    let people = people()?;

    let revenue = Policy::builder()
        .attribute("age", Attribute::quasi().hierarchy(Hierarchy::widths([10, 20])))
        .attribute("zip", Attribute::identifier())
        .attribute("salary", Attribute::sensitive())
        .rule(two_salaries())
        .build()?;
    Publish::new(&revenue, &first).source(&people).run()?;

    let census = Policy::builder()
        .attribute("age", Attribute::identifier())
        .attribute("zip", Attribute::quasi().hierarchy(Hierarchy::widths([10, 100])))
        .attribute("salary", Attribute::sensitive())
        .rule(two_salaries())
        .community(first.display().to_string())
        .build()?;
    Publish::new(&census, &second).source(&people).run()?;

    let audited = audit(&[Release::open(&first)?, Release::open(&second)?])?;
    for finding in &audited.findings {
        println!("{}: {} of {} at risk", finding.adversary, finding.at_risk, finding.people);
    }
    println!("{}", if audited.breach { "breach" } else { "no breach" });
    Ok(())
}

fn two_salaries() -> Rule {
    Rule::require(Model::distinct_l_diversity(2)).protect("salary")
}

fn people() -> Result<Table, hedgerow::Error> {
    let columns = [
        ("age", ColumnCells::from(vec![31i64, 34, 36, 38, 52, 54, 57, 58])),
        ("zip", ColumnCells::from(vec![101i64, 104, 112, 118, 103, 107, 115, 119])),
        ("salary", ColumnCells::from(vec!["low", "high", "low", "high", "high", "low", "high", "low"])),
    ];
    Ok(Table::from_columns(columns, &ReadOptions::default())?)
}
