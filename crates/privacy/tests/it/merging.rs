//! A search prunes by what a guarantee says of unions and of its absorbing core. Were one claim
//! wrong, the search would pass over nodes that hold, so each is tried on random classes: every
//! model, tight and loose parameters, skewed and even counts, classes far smaller than others.
//!
//! `HEDGEROW_SEED=N` replays the run that a failure names.

use hedgerow_privacy::{
    Change, Class, Context, Distance, Distribution, Guarantee, Model, NumberCloseness, OnMerge, Tree, models,
};
use hedgerow_table::{Domain, Ratio};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Pairs of classes with a true premise, tried per model (and distance), shared among its
/// parameters.
const PAIRS: usize = 30_000;

/// Gives up on parameters that hardly any class meets.
const ATTEMPTS_PER_PAIR: usize = 20;

/// Codes of the protected attribute; the last one is the missing value, or one more value.
const CODES: usize = 7;

/// The protected values: some close together, some far apart.
const VALUES: [&str; CODES - 1] = ["0", "0.5", "3.5", "4", "6", "12"];

fn seed() -> u64 {
    std::env::var("HEDGEROW_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261)
}

fn ratio(value: f64) -> Ratio {
    Ratio::from_decimal(value).expect("a short decimal")
}

/// The guarantees tried: every model with tight and loose parameters, over an attribute with or
/// without missing values.
fn guarantees(missing: bool) -> Vec<Box<dyn Guarantee>> {
    let tree = tree();
    let mut models: Vec<Model> = Vec::new();
    for k in [1, 2, 5, 9] {
        models.push(Model::KAnonymity { k });
        for alpha in [0.2, 0.25, 0.3, 0.5, 0.7, 1.0] {
            for limited in [None, Some(&["absent"][..]), Some(&["3.5"]), Some(&["12", "0"])] {
                let values = limited.map(|values| values.iter().map(|value| (*value).to_owned()).collect());
                models.push(Model::AlphaKAnonymity { alpha: ratio(alpha), k, values });
            }
        }
    }
    for l in [1, 2, 3, 5] {
        models.push(Model::DistinctLDiversity { l });
        // Of six known values, the two rarest are never twice as frequent as the most frequent one.
        let possible = |c: &f64| !missing || l < 5 || *c > 0.5;
        for c in [0.4, 0.5, 1.0, 2.5, 10.0].into_iter().filter(possible) {
            models.push(Model::RecursiveLDiversity { c: ratio(c), l });
        }
    }
    for l in [1.0, 1.001, 1.5, 2.0, 2.5, 3.0, 4.0] {
        models.push(Model::FrequencyLDiversity { l: ratio(l) });
        models.push(Model::EntropyLDiversity { l: ratio(l) });
        for width in [0.0, 0.25, 0.75, 1.0] {
            for reading in NumberCloseness::ALL {
                models.push(Model::DeltaLDiversity { delta: ratio(width), l: ratio(l), reading });
            }
            let relative = width < 1.0;
            models.push(Model::EpsilonMAnonymity { epsilon: ratio(width), m: ratio(l), relative });
        }
    }
    for distance in Distance::ALL {
        for t in [0.0, 0.1, 0.25, 0.5, 0.123_456_789_012_345] {
            models.push(Model::TCloseness { t: ratio(t), distance, order: None });
        }
    }
    models.extend([0.0, 0.05, 0.1, 0.3, 1.0].map(|epsilon| Model::EpsilonClone { epsilon: ratio(epsilon) }));
    let named = |values: &[&str]| Some(values.iter().map(|value| (*value).to_owned()).collect());
    for values in [None, named(&["3.5"]), named(&["12", "0"])] {
        for (prior, posterior) in [(0.01, 0.02), (0.1, 0.3), (0.3, 0.5), (0.5, 1.0)] {
            let (prior, posterior) = (ratio(prior), ratio(posterior));
            models.push(Model::RhoBreach { prior, posterior, values: values.clone() });
        }
        for change in Change::ALL {
            let values = || values.clone();
            models.extend([0.0, 0.1, 0.25, 0.6, 1.0].map(|b| Model::BeliefChange {
                b: ratio(b),
                change,
                values: values(),
            }));
        }
    }
    // Every model about some classes alone.
    let conditional = models.iter().filter(|model| model.takes_conditions()).enumerate().map(|(number, model)| {
        let below = [None, Some(1), Some(4), Some(30)][number % 4];
        let having = if below.is_none() || number % 5 == 0 { named(&["3.5", "6"]) } else { None };
        Model::Conditional { model: Box::new(model.clone()), having, below }
    });
    let conditional: Vec<Model> = conditional.collect();
    models.extend(conditional);
    let texts: Vec<&str> = if missing { VALUES.to_vec() } else { [&VALUES[..], &["30"]].concat() };
    let (domain, _) = Domain::from_texts(&texts, missing, None).unwrap();
    models
        .iter()
        .map(|model| {
            models::guarantee(
                model,
                &Context { protect: Some(&domain), tree: Some(&tree), community: None, missing: None },
            )
            .unwrap()
        })
        .collect()
}

fn tree() -> Tree {
    Tree { levels: vec![vec![0, 0, 1, 1, 2, 2, 3], vec![0, 0, 0, 0, 1, 1, 1], vec![0; CODES]] }
}

type Counts = [u32; CODES];

/// Skewed or even, with few or many values, small or large.
fn random_counts(rng: &mut StdRng) -> Counts {
    let values = rng.random_range(1..=CODES);
    let most = [1, 2, 3, 8, 40, 1_000_000][rng.random_range(0..6usize)];
    let even = rng.random_bool(0.2).then(|| rng.random_range(1..=most));
    let mut counts = [0; CODES];
    for _ in 0..values {
        counts[rng.random_range(0..CODES)] = even.unwrap_or_else(|| rng.random_range(1..=most));
    }
    counts
}

/// Two classes and the rest of their table: independent of one another, or multiples of one pattern
/// but for a cell each, which is what close distributions and ties are made of.
fn random_parts(rng: &mut StdRng) -> [Counts; 3] {
    if rng.random_bool(0.5) {
        return std::array::from_fn(|_| random_counts(rng));
    }
    let pattern = random_counts(rng);
    std::array::from_fn(|_| {
        let times = rng.random_range(1..20);
        let mut counts = pattern.map(|count| count * times);
        if rng.random_bool(0.5) {
            counts[rng.random_range(0..CODES)] += rng.random_range(0..3);
        }
        counts
    })
}

fn union(one: &Counts, other: &Counts) -> Counts {
    std::array::from_fn(|code| one[code] + other[code])
}

/// Runs `judge` on the class with these counts.
fn with_class<T>(counts: &Counts, judge: impl FnOnce(Class<'_>) -> T) -> T {
    let values: Vec<(u32, u32)> = (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect();
    judge(Class { rows: counts.iter().map(|&count| u64::from(count)).sum(), values: &values })
}

/// Tries one guarantee until this many pairs had a premise to conclude from; says how many had.
fn try_claims(guarantee: &dyn Guarantee, pairs: usize, rng: &mut StdRng, seed: u64) -> usize {
    let tree = tree();
    let mut tried = 0;
    for _ in 0..pairs * ATTEMPTS_PER_PAIR {
        let [one, other, rest] = random_parts(rng);
        let whole = if guarantee.compares_with_table() {
            let all = union(&union(&one, &other), &rest);
            Distribution::new(all.map(u64::from).to_vec(), Some(&tree))
        } else {
            Distribution::default()
        };
        let holds = |counts: &Counts| with_class(counts, |class| guarantee.holds(class, &whole));
        let context = || format!("{:?} with {one:?}, {other:?}, {rest:?}; HEDGEROW_SEED={seed}", guarantee.model());
        if !holds(&one) {
            continue;
        }
        assert!(with_class(&one, |class| guarantee.core().holds(class)), "holds without its core: {}", context());
        let premise = match guarantee.on_merge() {
            OnMerge::Neither => false,
            OnMerge::Merging => holds(&other),
            OnMerge::Absorbing => true,
        };
        if premise {
            assert!(holds(&union(&one, &other)), "the union fails: {}", context());
            tried += 1;
        }
        if tried == pairs {
            break;
        }
    }
    tried
}

/// The model's name, with the distance where there is one.
fn family(model: &Model) -> String {
    match model {
        Model::TCloseness { distance, .. } => format!("{} {}", model.name(), distance.name()),
        Model::DeltaLDiversity { reading, .. } => format!("{} {}", model.name(), reading.name()),
        Model::BeliefChange { change, .. } => format!("{} {}", model.name(), change.name()),
        Model::Conditional { model, .. } => format!("conditional {}", model.name()),
        _ => model.name().to_owned(),
    }
}

#[test]
fn unions_and_cores_are_as_every_guarantee_claims() {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let guarantees: Vec<_> = [false, true].into_iter().flat_map(guarantees).collect();
    for guarantee in &guarantees {
        let name = family(guarantee.model());
        let in_family = guarantees.iter().filter(|other| family(other.model()) == name).count();
        let tried = try_claims(guarantee.as_ref(), PAIRS.div_ceil(in_family), &mut rng, seed);
        assert!(
            tried > 0 || guarantee.on_merge() == OnMerge::Neither,
            "no pair to conclude from for {:?}; HEDGEROW_SEED={seed}",
            guarantee.model()
        );
    }
}

/// For an absorbing guarantee the core is the guarantee itself, so a class that fails must fail it
/// too.
#[test]
fn the_core_of_an_absorbing_guarantee_is_the_guarantee() {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let guarantees: Vec<_> = [false, true].into_iter().flat_map(guarantees).collect();
    #[allow(clippy::borrowed_box)] // The element type of the list that is filtered.
    let absorbing = |guarantee: &&Box<dyn Guarantee>| guarantee.on_merge() == OnMerge::Absorbing;
    for guarantee in guarantees.iter().filter(absorbing).filter(|guarantee| !guarantee.core_is_more()) {
        for _ in 0..PAIRS / 10 {
            let counts = random_counts(&mut rng);
            let (core, holds) = with_class(&counts, |class| {
                (guarantee.core().holds(class), guarantee.holds(class, &Distribution::default()))
            });
            assert_eq!(core, holds, "{:?} with {counts:?}; HEDGEROW_SEED={seed}", guarantee.model());
        }
    }
}
