//! Publishes one table by three methods and prints what each keeps: `cargo run -p hedgerow
//! --example measure_loss -- DIRECTORY`.

use std::path::PathBuf;

use hedgerow::{
    Attribute, ColumnCells, Hierarchy, Measure, Method, Model, Policy, Publication, Publish, ReadOptions, Rule, Table,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("name a directory for the releases")?);
    std::fs::create_dir_all(&directory)?;
    let ages = (0..60).map(|row| 18 + (row * 7) % 60).collect::<Vec<i64>>();
    let cities = (0..60).map(|row| ["Aalst", "Bruges", "Ghent"][row % 3]).collect::<Vec<_>>();
    let diseases = (0..60).map(|row| ["flu", "cold", "asthma", "gout"][row % 4]).collect::<Vec<_>>();
    let columns = [
        ("age", ColumnCells::from(ages)),
        ("city", ColumnCells::from(cities)),
        ("disease", ColumnCells::from(diseases)),
    ];
    let table = Table::from_columns(columns, &ReadOptions::default())?;

    for method in [Method::FullDomain, Method::Mondrian, Method::Cluster] {
        let policy = Policy::builder()
            .attribute("age", Attribute::quasi().hierarchy(Hierarchy::widths([5, 10, 20, 40])))
            .attribute("city", Attribute::quasi())
            .attribute("disease", Attribute::sensitive())
            .rule(Rule::require(Model::k_anonymity(5)))
            .publish(Publication::by(method))
            .build()?;
        let published = Publish::new(&policy, directory.join(method.name())).source(&table).run()?;
        let measures = Measure::new(&published.open()?, &policy).source(&table).run()?;
        let losses = measures.table().map(|measures| measures.losses.ncp);
        println!("{:<12} {} classes, ncp {losses:.3?}", method.name(), published.classes.count);
    }
    Ok(())
}
