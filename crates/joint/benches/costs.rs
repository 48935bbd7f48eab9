//! The traffic of custodians who find classes together, over their number, the rows and k: `cargo
//! bench -p hedgerow-joint --bench costs -- POLICY…`, one policy for each size of table.
//!
//! Rounds and vectors are found by running the inquiry over all rows at once, without any protocol;
//! messages and bytes follow for any number of custodians by the formula of `smc/src/forecast.rs`,
//! which tests compare with simulated runs byte for byte. Rules but k-anonymity are omitted.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_cuts::Axis;
use hedgerow_joint::{Agreed, Joint, JointRule};
use hedgerow_policy::Policy;
use hedgerow_privacy::{Context, Model, models};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_smc::{Coins, Forecast, baseline};
use hedgerow_table::progress::NoProgress;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| rows | k | classes | depth | rounds | 3·depth·log₂ domain | opened values | custodians | messages | MB in all | MB sent by each | ring: rounds | messages | MB in all |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for path in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let policy = Policy::load(Path::new(&path)).map_err(|errors| errors.to_string())?;
        let table = read_source(&policy, &NoProgress)?;
        let bound = Bound::new(&policy, &table)?;
        for k in [5, 50, 500] {
            let began = Instant::now();
            let mut agreed = agree(&bound, true, false).ok_or("rules that custodians cannot keep together")?;
            let guarantee =
                models::guarantee(&Model::KAnonymity { k }, &Context::default()).map_err(|_| "k-anonymity")?;
            agreed.rules = vec![JointRule { protect: None, guarantees: vec![guarantee], tree: None }];
            let largest = agreed.axes.iter().map(Axis::size).max().unwrap_or(2);
            let agreed = Arc::new(agreed);
            let all = agreed.deal(&bound.judged_codes(), &vec![0; table.rows], 1).remove(0);
            let (joined, forecast) = Forecast::of(Joint::new(Arc::clone(&agreed), all, Coins::danger_from_seed(1)))?;
            let joined = joined.ok_or("no release")?;
            let most = 3.0 * f64::from(joined.depth) * f64::from(largest).log2();
            let mega = |bytes: u64| bytes as f64 / 1e6;
            for custodians in [3, 10, 30, 100] {
                let masked = forecast.masked(custodians);
                let ring = forecast.baseline(custodians, baseline::Chances::default());
                println!(
                    "| {} | {k} | {} | {} | {} | {most:.0} | {} | {custodians} | {} | {:.1} | {:.2} | {} | {} | {:.1} |",
                    table.rows,
                    joined.classes.len(),
                    joined.depth,
                    masked.rounds,
                    forecast.opened(),
                    masked.messages,
                    mega(masked.bytes),
                    mega(masked.bytes) / custodians as f64,
                    ring.rounds,
                    ring.messages,
                    mega(ring.bytes),
                );
            }
            eprintln!("{path}, k = {k}: {:.1} s", began.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

/// A policy bound to a table that has all values.
fn agree(bound: &Bound<'_>, strict: bool, tight: bool) -> Option<Agreed> {
    Agreed::new(bound.axes(), &bound.judged_cardinalities(), bound.judge().ok()?.into_rules(), strict, tight)
}
