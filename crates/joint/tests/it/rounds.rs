//! The traffic of a joint run: as many messages, bytes and rounds as were forecast, and no more
//! rounds than three times the depth of the tree times the binary digits of the largest domain,
//! whatever is required; four times where something is promised about custodians.

use std::path::Path;
use std::sync::Arc;

use hedgerow_cuts::Axis;
use hedgerow_joint::{Agreed, Joint, JointRule, Profile, rehearse};
use hedgerow_privacy::{Context, Distance, Model, models};
use hedgerow_publish::bind::Bound;
use hedgerow_smc::{Coins, Forecast, baseline};
use hedgerow_table::exact::Ratio;

use crate::joint::{agree, read, splits};

/// Rows of several custodians in a class, and rules that hold towards some of them.
const PROMISES: [(u64, u64); 2] = [(3, 1), (1, 2)];

fn agreed(bound: &Bound<'_>, model: &Model, strict: bool, (sites, towards): (u64, u64)) -> Agreed {
    let by_values = !matches!(model, Model::KAnonymity { .. });
    let guarantee = |model: &Model| models::guarantee(model, &Context::default()).unwrap();
    let k = JointRule { protect: None, guarantees: vec![guarantee(&Model::KAnonymity { k: 5 })], tree: None };
    let values = JointRule { protect: Some(0), guarantees: vec![guarantee(model)], tree: None };
    let rules = if by_values { vec![k, values] } else { vec![k] };
    Agreed { rules, sites, towards, ..agree(bound, strict, false).unwrap() }
}

fn most_rounds(agreed: &Agreed, depth: u32) -> f64 {
    let largest = agreed.axes.iter().map(Axis::size).max().unwrap();
    // Promises are asked about after the sizes, in rounds of their own.
    let each = if agreed.sites > 1 || agreed.towards > 0 { 4.0 } else { 3.0 };
    each * f64::from(depth) * f64::from(largest).log2()
}

#[test]
fn rounds_grow_with_depth_and_digits_whatever_is_required() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/policy-t.toml");
    let (policy, table) = read(&policy);
    let bound = Bound::new(&policy, &table).unwrap();
    let models = [
        Model::KAnonymity { k: 5 },
        Model::DistinctLDiversity { l: 3 },
        Model::FrequencyLDiversity { l: Ratio::integer(3) },
        Model::TCloseness { t: Ratio::from_decimal(0.2).unwrap(), distance: Distance::Equal, order: None },
    ];
    for (model, strict) in models.iter().flat_map(|model| [(model, true), (model, false)]) {
        let agreed = |promises| Arc::new(agreed(&bound, model, strict, promises));
        let check = |agreed: &Agreed, depth: u32, rounds: u64, promises: (u64, u64)| {
            let most = most_rounds(agreed, depth);
            assert!(rounds as f64 <= most, "{model:?}, strict {strict}, {promises:?}: {rounds} rounds of {most:.0}");
        };
        // Without promises about custodians, rounds do not depend on who holds which row: one holds
        // all.
        let plain = agreed((1, 0));
        let all = plain.deal(&bound.judged_codes(), &vec![0; table.rows], 1).remove(0);
        let (whole, forecast) = Forecast::of(Joint::new(Arc::clone(&plain), all, Coins::danger_from_seed(1))).unwrap();
        let depth = whole.unwrap().depth;
        check(&plain, depth, forecast.masked(3).rounds, (1, 0));
        check(&plain, depth, forecast.baseline(3, baseline::Chances::default()).rounds, (1, 0));
        for promises in PROMISES {
            let agreed = agreed(promises);
            // Every fourth row is enough where trees are deep: no custodian holds the others.
            let every = if matches!(model, Model::TCloseness { .. }) { 1 } else { 4 };
            let owner = |row: usize| if row.is_multiple_of(every) { row / every % 4 } else { 4 };
            let owner: Vec<usize> = (0..table.rows).map(owner).collect();
            let found = rehearse(Profile::Masked, &agreed, agreed.deal(&bound.judged_codes(), &owner, 4), 2).unwrap();
            check(&agreed, found.joined.unwrap()[0].depth, found.traffic.rounds, promises);
        }
    }
}

#[test]
fn sent_bytes_agree_with_the_forecast() {
    let adult = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult");
    for (policy, strict) in [("policy.toml", true), ("policy.toml", false), ("policy-t.toml", true)] {
        let (policy, table) = read(&adult.join(policy));
        let bound = Bound::new(&policy, &table).unwrap();
        let agreed = Arc::new(agree(&bound, strict, false).unwrap());
        let all = agreed.deal(&bound.judged_codes(), &vec![0; table.rows], 1).remove(0);
        let (whole, forecast) = Forecast::of(Joint::new(Arc::clone(&agreed), all, Coins::danger_from_seed(1))).unwrap();
        let whole = whole.unwrap();
        let (_, owner) = &splits(4, table.rows)[1];
        for profile in [Profile::Masked, Profile::Baseline] {
            let found = rehearse(profile, &agreed, agreed.deal(&bound.judged_codes(), owner, 4), 2).unwrap();
            let classes = found.joined.unwrap()[0].classes.len();
            // Lots are drawn anew in every run: other people are in other classes.
            assert!(!strict || classes == whole.classes.len(), "{profile:?}");
            let forecast = match profile {
                Profile::Masked => forecast.masked(4),
                Profile::Baseline => forecast.baseline(4, baseline::Chances::default()),
            };
            // Lots are drawn anew in every run, and how many rounds they take is chance.
            if strict {
                assert_eq!(found.traffic, forecast, "{profile:?}");
            }
            let most = most_rounds(&agreed, whole.depth);
            assert!(found.traffic.rounds as f64 <= most, "{profile:?}: {} of {most:.0}", found.traffic.rounds);
        }
    }
}
