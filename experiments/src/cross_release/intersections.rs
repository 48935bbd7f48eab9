//! Tables 8 and 9: how many intersections of sensitive values a custodian looks at, and the domains
//! of the census.

use std::collections::BTreeSet;

use hedgerow_privacy::models::{Community, EarlierRelease};
use hedgerow_report::pictures::{Bar, Bars, NumberCell};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};

use super::{Census, DOMAINS, QUASI, SENSITIVE};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, counts};

/// Classes of the three tables of table 8.
const CLASSES: [usize; 3] = [3, 2, 2];

const VALUES: u32 = 8;

#[derive(Debug, Clone)]
struct Measured {
    /// Intersections of one class from each of three tables.
    product: u64,
    /// Intersections that the minimal sets leave to be looked at, over all cases.
    by_minimal_sets: f64,
    /// Cases in which both ways decide differently.
    different: u64,
    domains: [u64; 8],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let census = Census::new(scale)?;
    let domains = census.domains();
    let cases = scale.of(10_000, 1000);
    let measured = decided(cases, domains)?;
    let mut table = numbers(["what", "ours", "printed"]);
    let mut row = |what: &str, found: f64, printed: f64| {
        table.rows.push(vec![what.into(), NumberCell::Number(found), NumberCell::Number(printed)]);
    };
    row("intersections of every combination of classes", measured.product as f64, 12.0);
    row("intersections with minimal sets, mean", measured.by_minimal_sets, f64::NAN);
    for ((name, &found), printed) in QUASI.iter().chain([&SENSITIVE]).zip(&domains).zip(DOMAINS) {
        row(&format!("values of {name}"), found as f64, printed as f64);
    }
    let bar = |(name, value): (&str, f64)| Bar { name: name.to_owned(), value };
    let picture = Bars {
        title: "Intersections to look at before a third release".to_owned(),
        description: "For three, two and two classes: every combination, and minimal sets alone.".to_owned(),
        columns: ["way".to_owned(), "intersections".to_owned()],
        bars: [("every combination", measured.product as f64), ("minimal sets", measured.by_minimal_sets)]
            .map(bar)
            .to_vec(),
        full: None,
        limit: None,
    };
    let setting = format!(
        "Random classes of {VALUES} values in three tables of {CLASSES:?} classes as in table 8, {cases} cases; and, for table 9, a census. {}",
        census.setting()
    );
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

/// Decides for random classes whether the third release holds, by every combination of one class
/// from each table and by the community's minimal sets.
fn decided(cases: u64, domains: [u64; 8]) -> Result<Measured, Trouble> {
    let mut rng = StdRng::seed_from_u64(8);
    let (mut product, mut looked_at, mut different) = (0, 0, 0);
    for _ in 0..cases {
        let tables = CLASSES.map(|classes| (0..classes).map(|_| drawn(&mut rng)).collect::<Vec<BTreeSet<u32>>>());
        let l = rng.random_range(1..=4);
        product = 0;
        let mut holds = true;
        for one in &tables[0] {
            for two in &tables[1] {
                for three in &tables[2] {
                    product += 1;
                    holds &= one.iter().filter(|value| two.contains(value) && three.contains(value)).count() >= l;
                }
            }
        }
        let earlier = tables[..2].iter().map(|classes| EarlierRelease {
            name: String::new(),
            digest: String::new(),
            rows: 0,
            classes: classes.iter().map(|values| (values.iter().copied().collect(), String::new())).collect(),
        });
        let vocabulary = (0..VALUES).map(|value| value.to_string()).collect();
        let community =
            Community::new(vocabulary, earlier.collect()).map_err(|_| "more classes than can be compared")?;
        looked_at += (community.minimal_sets() * tables[2].len()) as u64;
        let by_sets = tables[2].iter().all(|three| {
            let texts: Vec<String> = three.iter().map(u32::to_string).collect();
            community.least_of(&texts).is_some_and(|least| least.values.len() >= l)
        });
        different += u64::from(by_sets != holds);
    }
    Ok(Measured { product, by_minimal_sets: looked_at as f64 / cases as f64, different, domains })
}

fn drawn(rng: &mut StdRng) -> BTreeSet<u32> {
    let size = rng.random_range(3..=VALUES as usize);
    index::sample(rng, VALUES as usize, size).into_iter().map(|value| value as u32).collect()
}

fn claims(Measured { product, by_minimal_sets, different, domains }: &Measured) -> Vec<Claim> {
    let fewer = match *by_minimal_sets < *product as f64 {
        true => Ok(()),
        false => Err(format!("{by_minimal_sets} intersections")),
    };
    vec![
        Claim::printed("table 8: a third release is held against 12 intersections", counts("they are", *product, 12)),
        Claim::improved("minimal sets leave fewer intersections to look at", fewer).at_any_size(),
        Claim::ours("minimal sets decide as all combinations do", same(*different)).at_any_size(),
        Claim::ours(
            "our census has as many birthplaces, occupations and incomes as table 9: 133, 509 and 50",
            all([2, 3, 7].map(|place| counts("values", domains[place], DOMAINS[place]))),
        ),
    ]
}

fn same(different: u64) -> ClaimOutcome {
    if different == 0 { Ok(()) } else { Err(format!("{different} cases are decided differently")) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cross_release) fn turned() -> Vec<String> {
        let mut domains = DOMAINS;
        domains[0] = 79;
        every_claim_can_fail(
            &decided(50, domains).unwrap(),
            claims,
            &[
                ("table 8", |of| of.product = 11),
                ("minimal sets leave", |of| of.by_minimal_sets = 12.0),
                ("minimal sets decide", |of| of.different = 1),
                ("our census", |of| of.domains[3] = 508),
            ],
        )
    }
}
