//! A vacuous model holds for every class, and no other model does: every small class in every small
//! table, and classes that are a tiny part of a large one.

use std::sync::Arc;

use hedgerow_privacy::models::EarlierRelease;
use hedgerow_privacy::{
    Change, Class, Community, Context, Distance, Distribution, Model, NumberCloseness, Tree, models,
};
use hedgerow_table::{Domain, Ratio};

const VALUES: [&str; 3] = ["0", "1", "8"];

fn ratio(value: f64) -> Ratio {
    Ratio::from_decimal(value).expect("a short decimal")
}

/// On both sides of where each model stops to say anything.
fn models() -> Vec<Model> {
    let mut models = Vec::new();
    for whole in [1, 2] {
        models.push(Model::KAnonymity { k: whole });
        models.push(Model::DistinctLDiversity { l: whole });
        models.push(Model::CrossReleaseLDiversity { l: whole });
        models.extend([0.5, 1.0, 1.001, 2.0].map(|c| Model::RecursiveLDiversity { c: ratio(c), l: whole }));
        models.extend([0.999, 1.0].map(|alpha| Model::AlphaKAnonymity { alpha: ratio(alpha), k: whole, values: None }));
    }
    for l in [1.0, 1.001].map(ratio) {
        models.push(Model::FrequencyLDiversity { l });
        models.push(Model::EntropyLDiversity { l });
        models.push(Model::EpsilonMAnonymity { epsilon: ratio(0.5), m: l, relative: false });
        models.extend(NumberCloseness::ALL.map(|reading| Model::DeltaLDiversity { delta: ratio(0.5), l, reading }));
    }
    for distance in Distance::ALL {
        models.extend([0.999, 1.0].map(|t| Model::TCloseness { t: ratio(t), distance, order: None }));
    }
    models.extend([0.999, 1.0].map(|epsilon| Model::EpsilonClone { epsilon: ratio(epsilon) }));
    models.extend([0.001, 0.999].map(|prior| Model::RhoBreach {
        prior: ratio(prior),
        posterior: ratio(1.0),
        values: None,
    }));
    for change in Change::ALL {
        for values in [None, Some(vec!["8".to_owned()])] {
            let change = |b: f64| Model::BeliefChange { b: ratio(b), change, values: values.clone() };
            models.extend([0.999, 1.0].map(change));
        }
    }
    let conditional = models.iter().filter(|model| model.takes_conditions()).flat_map(|model| {
        [(None, Some(1)), (None, Some(3)), (Some("8"), None), (Some("8"), Some(3))].map(|(having, below)| {
            let having = having.map(|value: &str| vec![value.to_owned()]);
            Model::Conditional { model: Box::new(model.clone()), having, below }
        })
    });
    let conditional: Vec<Model> = conditional.collect();
    models.extend(conditional);
    models
}

/// Counts of three values and the missing one.
type Counts = [u32; 4];

fn small_counts() -> Vec<Counts> {
    (0..81u32).map(|number| std::array::from_fn(|place| number / 3u32.pow(place as u32) % 3)).collect()
}

#[test]
fn vacuous_models_hold_for_every_class_and_others_do_not() {
    let (domain, _) = Domain::from_texts(&VALUES, true, None).unwrap();
    let tree = Tree { levels: vec![vec![0, 0, 1, 1], vec![0; 4]] };
    let values = ["", "0", "1", "8"].map(str::to_owned).to_vec();
    let classes = vec![(vec![0, 1], String::new()), (vec![2, 3], String::new())];
    let earlier = EarlierRelease { name: String::new(), digest: String::new(), rows: 4, classes };
    let community = Arc::new(Community::new(values, vec![earlier]).unwrap());
    let context = Context { protect: Some(&domain), tree: Some(&tree), community: Some(&community), missing: None };
    let mut tables: Vec<(Counts, Counts)> = Vec::new();
    for class in small_counts().into_iter().filter(|class| class.iter().any(|&count| count > 0)) {
        tables.extend(small_counts().into_iter().map(|rest| (class, rest)));
        tables.extend((0..4).map(|code| (class, std::array::from_fn(|at| if at == code { 1_000_000 } else { 0 }))));
    }
    for model in models() {
        let guarantee = models::guarantee(&model, &context).unwrap();
        let fails = |(class, rest): &(Counts, Counts)| {
            let whole = class.iter().zip(rest).map(|(one, other)| u64::from(one + other)).collect();
            let whole = Distribution::new(whole, Some(&tree));
            let values: Vec<(u32, u32)> = (0..).zip(class.iter().copied()).filter(|(_, count)| *count > 0).collect();
            !guarantee.holds(Class { rows: class.iter().map(|&count| u64::from(count)).sum(), values: &values }, &whole)
        };
        let failing = tables.iter().find(|table| fails(table));
        assert_eq!(failing.is_none(), model.is_vacuous(), "{model:?}: {failing:?}");
    }
}
