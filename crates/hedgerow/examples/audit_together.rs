//! Audits releases together and prints who could be disclosed:
//! `cargo run -p hedgerow --example audit_together -- RELEASE…`.

use hedgerow::Release;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut releases = Vec::new();
    for path in std::env::args().skip(1) {
        releases.push(Release::open(path)?);
    }
    let audited = hedgerow::audit(&releases)?;
    for finding in &audited.findings {
        println!("{}: {} of {} at risk", finding.adversary, finding.at_risk, finding.people);
    }
    println!("{}", if audited.breach { "breach" } else { "no breach" });
    Ok(())
}
