//! Custodians together against one who holds everything, on a table of your choice: `cargo
//! bench -p hedgerow-joint --bench adult -- [POLICY] [custodians …]`.
//! Prints, for every split, profile and kind of cuts, whether the classes are the same (of strict
//! cuts row by row), and what traveled.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_cuts::{Axis, Span};
use hedgerow_joint::{Agreed, Profile, rehearse};
use hedgerow_policy::{Method, Policy};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::local::{Local, recode};
use hedgerow_table::progress::NoProgress;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adult/policy.toml");
    let path = arguments.first().map_or(shipped, String::as_str);
    let counts: Vec<usize> = arguments.iter().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let counts = if counts.is_empty() { vec![3, 5, 10] } else { counts };
    let policy = Policy::load(Path::new(path)).map_err(|errors| errors.to_string())?;
    let table = read_source(&policy, &NoProgress)?;
    let bound = Bound::new(&policy, &table)?;
    let judge = bound.judge()?;
    println!(
        "{:>10} {:>9} {:>11} {:>8} {:>8} {:>6} {:>7} {:>9} {:>10} {:>12} {:>7} {:>8}",
        "custodians",
        "profile",
        "split",
        "cuts",
        "classes",
        "depth",
        "rounds",
        "3·d·log₂",
        "messages",
        "bytes",
        "same",
        "seconds"
    );
    for strict in [true, false] {
        let alone = recode(&bound, &judge, Local { method: Method::Mondrian, strict, tight: false }, &NoProgress)?;
        let region = |class: usize| -> Vec<Span> {
            alone.cells.iter().map(|cells| cells.regions[cells.of_class[class] as usize]).collect()
        };
        let expected: BTreeMap<Vec<Span>, u64> =
            alone.sizes.iter().enumerate().map(|(class, size)| (region(class), *size)).collect();
        let agreed = agree(&bound, strict, false).ok_or("rules that custodians cannot keep together")?;
        let largest = agreed.axes.iter().map(Axis::size).max().unwrap_or(2);
        let agreed = Arc::new(agreed);
        for &custodians in &counts {
            let round_robin = |row: usize| row % custodians;
            let skewed = |row: usize| match row {
                0 => 1,
                _ => 2 + (row.trailing_zeros() as usize).min(custodians - 3),
            };
            let splits: [(&str, &dyn Fn(usize) -> usize); 2] = [("round robin", &round_robin), ("skewed", &skewed)];
            for (name, split) in splits {
                let owner: Vec<usize> = (0..table.rows).map(split).collect();
                for profile in [Profile::Masked, Profile::Baseline] {
                    let began = Instant::now();
                    let found = rehearse(profile, &agreed, agreed.deal(&bound.judged_codes(), &owner, custodians), 1)?;
                    let joined = found.joined.ok_or("no release")?;
                    let mut sizes: BTreeMap<Vec<Span>, u64> = BTreeMap::new();
                    for class in &joined[0].classes {
                        *sizes.entry(class.region.clone()).or_default() += class.rows;
                    }
                    // Strict cuts leave nothing to chance: every row lies in the same region.
                    let mut next = vec![0; custodians];
                    let mut class = |owner: usize| {
                        next[owner] += 1;
                        joined[owner].of_row[next[owner] - 1] as usize
                    };
                    let by_row = owner.iter().zip(&alone.of_row);
                    let rows_agree = !strict
                        || by_row
                            .map(|(owner, apart)| (class(*owner), *apart as usize))
                            .all(|(joint, apart)| joined[0].classes[joint].region == region(apart));
                    let bound = 3.0 * f64::from(joined[0].depth) * f64::from(largest).log2();
                    println!(
                        "{custodians:>10} {:>9} {name:>11} {:>8} {:>8} {:>6} {:>7} {bound:>9.0} {:>10} {:>12} {:>7} {:>8.1}",
                        format!("{profile:?}").to_lowercase(),
                        if strict { "strict" } else { "relaxed" },
                        joined[0].classes.len(),
                        joined[0].depth,
                        found.traffic.rounds,
                        found.traffic.messages,
                        found.traffic.bytes,
                        rows_agree && sizes == expected,
                        began.elapsed().as_secs_f64(),
                    );
                }
            }
        }
    }
    Ok(())
}

/// A policy bound to a table that has all values.
fn agree(bound: &Bound<'_>, strict: bool, tight: bool) -> Option<Agreed> {
    Agreed::new(bound.axes(), &bound.judged_cardinalities(), bound.judge().ok()?.into_rules(), strict, tight)
}
