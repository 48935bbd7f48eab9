//! Built policies against the text that people write.

use hedgerow_privacy::{Change, Distance, NumberCloseness};
use hedgerow_table::hierarchy::{Bound, DateUnit};
use hedgerow_table::{Format, Kind};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::{Algorithm, Anonymizer, Assignment, ClassLabels, Loss, Method, RareValues, Role, Summary};

#[test]
fn a_built_policy_is_the_one_that_its_text_gives() {
    let built = PolicyBuilder::new()
        .source("patients.csv")
        .attribute("name", Attribute::identifier())
        .attribute("age", Attribute::quasi().hierarchy(Hierarchy::widths([5, 10, 20])).range(Some(0), Some(120)))
        .attribute("zip code", Attribute::quasi().hierarchy(Hierarchy::mask(5)))
        .attribute("disease", Attribute::sensitive())
        .rule(Rule::require(Model::k_anonymity(5)))
        .rule(Rule::require(Model::distinct_l_diversity(3)).and(Model::t_closeness(0.3)).protect("disease"))
        .publish(Publication::by(Method::FullDomain).suppression(0.02))
        .build()
        .unwrap();
    let text = r#"
        [source]
        path = "patients.csv"
        [attributes]
        name = { role = "identifier" }
        age = { role = "quasi", hierarchy = { widths = [5, 10, 20] }, range = [0, 120] }
        "zip code" = { role = "quasi", hierarchy = { mask = 5 } }
        disease = { role = "sensitive" }
        [[rule]]
        require = { model = "k-anonymity", k = 5 }
        [[rule]]
        protect = "disease"
        require = [{ model = "distinct-l-diversity", l = 3 }, { model = "t-closeness", t = 0.3 }]
        [publish]
        suppression = 0.02
    "#;
    let read = Policy::parse(text, PLACE.as_ref()).unwrap();
    assert_eq!(PolicyBuilder::from(&built), PolicyBuilder::from(&read));
    assert_eq!(built.source.path, read.source.path);
    assert_eq!(built.rules[1].require, read.rules[1].require);
    assert_eq!((built.rules[0].know.as_slice(), built.warnings.len()), (read.rules[0].know.as_slice(), 0));
}

#[test]
fn errors_are_refused_as_in_a_file() {
    let quasi = PolicyBuilder::new().attribute("age", Attribute::quasi());
    for (policy, place, problem) in [
        (quasi.clone(), "rule", "no rule"),
        (quasi.clone().rule(Model::k_anonymity(0).into()), "rule[1].require.k", "must be a whole number"),
        (quasi.clone().rule(Model::t_closeness(f64::NAN).into()), "rule[1].require.t", "must be a number"),
        (quasi.clone().rule(Model::t_closeness(0.5).into()), "rule[1]", "needs `protect`"),
        (quasi.clone().rule(Rule::require(Model::k_anonymity(2)).know(["agee"])), "rule[1].know", "unknown attribute"),
        (
            quasi.clone().rule(Model::k_anonymity(2).into()).publish(Publication::default().strict(false)),
            "publish.strict",
            "no meaning for the method full-domain",
        ),
        (quasi.attribute("age", Attribute::plain()), "", "age"),
    ] {
        let errors = policy.build().unwrap_err().to_string();
        assert!(errors.contains(place) && errors.contains(problem), "{place}: {errors}\n{}", policy.to_toml());
    }
}

/// A number that a float prints with few digits.
fn share(rng: &mut StdRng) -> f64 {
    f64::from(rng.random_range(1..=1000u32)) / 1000.0
}

fn maybe<T>(rng: &mut StdRng, value: impl FnOnce(&mut StdRng) -> T) -> Option<T> {
    rng.random_bool(0.4).then(|| value(rng))
}

fn text(rng: &mut StdRng) -> String {
    const PARTS: [&str; 10] = ["age", "zip", "\"", "\\", "é", " ", "\n", "\u{1}", ".", "#"];
    (0..rng.random_range(1..4)).map(|_| PARTS[rng.random_range(0..PARTS.len())]).collect()
}

fn texts(rng: &mut StdRng, least: usize) -> Vec<String> {
    let count = rng.random_range(least..least + 3);
    let mut texts: Vec<String> = (0..count).map(|index| format!("{}{index}", text(rng))).collect();
    texts.sort_unstable();
    texts
}

fn source(rng: &mut StdRng) -> DataSource {
    let mut source = DataSource {
        path: Some(format!("data/{}.csv", text(rng))),
        format: maybe(rng, |_| Format::Csv),
        delimiter: maybe(rng, |_| ';'),
        quote: maybe(rng, |_| '\''),
        nulls: maybe(rng, |rng| texts(rng, 1)),
        decimal: maybe(rng, |_| ','),
        thousands: maybe(rng, |_| ' '),
        date_format: maybe(rng, |_| "%d.%m.%Y".to_owned()),
        ..DataSource::default()
    };
    if rng.random_bool(0.2) {
        source = DataSource::database("sqlite:people.db");
        match rng.random_bool(0.5) {
            true => source.table = Some("people".to_owned()),
            false => source.query = Some(format!("select {}", "x")),
        }
    }
    source
}

fn hierarchy(rng: &mut StdRng) -> (Hierarchy, Option<Kind>) {
    match rng.random_range(0..5) {
        0 => (Hierarchy::widths([0.5, 1.0, 5.0]), maybe(rng, |_| Kind::Float)),
        1 => (Hierarchy::mask(rng.random_range(1..9)), maybe(rng, |_| Kind::Category)),
        2 => (Hierarchy::breaks([vec![Bound::Integer(18), Bound::Float(30.5)], vec![Bound::Integer(18)]]), None),
        3 => (Hierarchy::dates([DateUnit::Month, DateUnit::Year]), maybe(rng, |_| Kind::Date)),
        _ => (Hierarchy::file(format!("{}.csv", text(rng))), None),
    }
}

fn attribute(rng: &mut StdRng, role: Role) -> Attribute {
    let mut attribute = Attribute::new(role);
    if role == Role::Quasi && rng.random_bool(0.5) {
        let (hierarchy, kind) = hierarchy(rng);
        attribute = Attribute { hierarchy: Some(hierarchy), kind, ..attribute };
        return attribute;
    }
    match rng.random_range(0..5) {
        0 => attribute.kind = maybe(rng, |_| Kind::Integer),
        1 if role != Role::Identifier => {
            attribute.range = Some([maybe(rng, |_| Bound::Integer(-3)), Some(Bound::Float(120.5))]);
        }
        2 if role != Role::Identifier => attribute.order = Some(texts(rng, 2)),
        3 => attribute.date_format = Some("%d/%m/%Y".to_owned()),
        _ => {}
    }
    if matches!(role, Role::Plain | Role::Sensitive) && attribute == Attribute::new(role) && rng.random_bool(0.5) {
        attribute = match rng.random_range(0..4) {
            0 => attribute.coarsen(Coarsening::round(share(rng)).top(100)),
            1 => attribute.coarsen(Coarsening::significant(2).bottom(0.5)),
            2 => attribute.coarsen(Coarsening::dates(DateUnit::Month)),
            _ => attribute.hierarchy(Hierarchy::file("levels.csv")).coarsen(Coarsening::level(1)),
        };
    }
    attribute.allow_unique = matches!(role, Role::Plain | Role::Sensitive) && rng.random_bool(0.3);
    attribute
}

fn model(rng: &mut StdRng, protects: bool) -> Model {
    let whole = |rng: &mut StdRng| rng.random_range(2..9u64);
    if !protects {
        return Model::KAnonymity { k: whole(rng) };
    }
    let model = match rng.random_range(0..12) {
        0 => return Model::KAnonymity { k: whole(rng) },
        1 => Model::DistinctLDiversity { l: whole(rng) },
        2 => Model::FrequencyLDiversity { l: f64::from(rng.random_range(1001..=2000u32)) / 1000.0 },
        3 => Model::EntropyLDiversity { l: f64::from(rng.random_range(1001..=2000u32)) / 1000.0 },
        4 => Model::RecursiveLDiversity { c: share(rng), l: whole(rng) },
        5 => {
            Model::TCloseness { t: share(rng), distance: [Distance::Equal, Distance::Ordered][rng.random_range(0..2)] }
        }
        6 => Model::AlphaKAnonymity { alpha: share(rng), k: whole(rng), values: maybe(rng, |rng| texts(rng, 1)) },
        7 => Model::EpsilonMAnonymity { epsilon: share(rng), m: 2.5, relative: rng.random_bool(0.5) },
        8 => Model::DeltaLDiversity {
            delta: 7.5,
            l: 2.0,
            reading: [NumberCloseness::Window, NumberCloseness::Pairwise][rng.random_range(0..2)],
        },
        9 => {
            let (one, other) = (rng.random_range(1..999u32), rng.random_range(1..999u32));
            let share = |thousandths: u32| f64::from(thousandths) / 1000.0;
            let (prior, posterior) = (share(one.min(other)), share(one.max(other) + 1));
            Model::RhoBreach { prior, posterior, values: maybe(rng, |rng| texts(rng, 1)) }
        }
        10 => {
            let change = Change::ALL[rng.random_range(0..4)];
            let b = if change.is_share() { share(rng) } else { f64::from(rng.random_range(1..=3000u32)) / 1000.0 };
            Model::BeliefChange { b, change, values: maybe(rng, |rng| texts(rng, 1)) }
        }
        _ => return Model::EpsilonClone { epsilon: share(rng) },
    };
    match rng.random_range(0..4) {
        0 => model.having(texts(rng, 1)),
        1 => model.below(whole(rng)),
        2 => model.below(whole(rng)).having(texts(rng, 1)),
        _ => model,
    }
}

fn publication(rng: &mut StdRng, quasi: &str) -> Publication {
    let by = Publication::by(Method::ALL[rng.random_range(0..Method::ALL.len())]);
    let local = |by: Publication, rng: &mut StdRng| {
        let by = Publication { summarise: maybe(rng, |_| Summary::Tight), improve: rng.random_bool(0.5), ..by };
        if by.improve { Publication { loss: maybe(rng, |_| Loss::Granularity), ..by } } else { by }
    };
    match by.method {
        Method::FullDomain => Publication {
            suppression: maybe(rng, share),
            loss: maybe(rng, |_| Loss::Precision),
            weights: maybe(rng, |rng| vec![(quasi.to_owned(), share(rng))]).unwrap_or_default(),
            max_nodes: maybe(rng, |rng| rng.random_range(1..1000)),
            max_seconds: maybe(rng, share),
            ..by
        },
        Method::Mondrian => Publication { strict: maybe(rng, |_| false), ..local(by, rng) },
        Method::BestCut => local(by, rng),
        Method::Cluster => {
            let by = Publication { labels: maybe(rng, |_| ClassLabels::Hierarchy), ..local(by, rng) };
            Publication { loss: maybe(rng, |_| Loss::Ncp), ..by }
        }
        Method::Anatomy => Publication { assignment: maybe(rng, |_| Assignment::Random), ..by },
        Method::Clone => Publication {
            k: maybe(rng, |_| 50),
            lambda: maybe(rng, |_| 2),
            max_epsilon: maybe(rng, share),
            max_distorted: maybe(rng, share),
            assignment: maybe(rng, |_| Assignment::Scan),
            rho: maybe(rng, |_| 0.75),
            rare: maybe(rng, |_| RareValues::Suppress),
            suppression: maybe(rng, share),
            ..by
        },
        Method::Decompose => Publication {
            algorithm: maybe(rng, |_| Algorithm::Uad),
            anonymizer: maybe(rng, |_| Anonymizer::Mondrian),
            ..by
        },
    }
}

fn random_policy(rng: &mut StdRng) -> PolicyBuilder {
    let mut policy = PolicyBuilder { source: maybe(rng, source), ..PolicyBuilder::default() };
    let names: Vec<String> = (0..rng.random_range(3..8)).map(|index| format!("{}{index}", text(rng))).collect();
    let (quasi, other, sensitive) = (&names[0], &names[1], &names[2]);
    for (index, name) in names.iter().enumerate() {
        let role = match index {
            0 | 1 => Role::Quasi,
            2 => Role::Sensitive,
            _ => [Role::Identifier, Role::Quasi, Role::Plain][rng.random_range(0..3)],
        };
        policy = policy.attribute(name.clone(), attribute(rng, role));
    }
    policy.publication = publication(rng, quasi);
    let decomposes = policy.publication.method == Method::Decompose;
    for _ in 0..rng.random_range(1..4) {
        let protects = decomposes || rng.random_bool(0.6);
        let mut rule = Rule { know: maybe(rng, |_| vec![other.clone()]), ..Rule::require(model(rng, protects)) };
        if rng.random_bool(0.3) {
            rule = rule.and(model(rng, protects));
        }
        if rng.random_bool(0.3) && rule.require.iter().all(|model| !matches!(model, Model::EpsilonClone { .. })) {
            let values = texts(rng, 1);
            rule = rule.only_where(other.clone(), values);
        }
        policy = policy.rule(if protects { rule.protect(sensitive.clone()) } else { rule });
    }
    if rng.random_bool(0.5) {
        let dependency = Dependency::new([quasi.clone()], sensitive.clone());
        policy = policy.dependency(if rng.random_bool(0.5) { dependency.accept("public") } else { dependency });
    }
    if rng.random_bool(0.3) {
        policy = policy.community("../others/*").spelling(sensitive, &text(rng), &text(rng));
    }
    policy
}

#[test]
fn a_policy_that_is_written_and_read_again_is_built_from_the_same_values() {
    let seeds = match std::env::var("HEDGEROW_SEED") {
        Ok(seed) => seed.parse::<u64>().unwrap()..=seed.parse::<u64>().unwrap(),
        Err(_) => 0..=3000,
    };
    for seed in seeds {
        let policy = random_policy(&mut StdRng::seed_from_u64(seed));
        let text = policy.to_toml();
        let built = policy.build().unwrap_or_else(|errors| panic!("HEDGEROW_SEED={seed}: {errors}\n{text}"));
        let again = PolicyBuilder::from(&built);
        assert_eq!(again, policy, "HEDGEROW_SEED={seed}\n{text}");
        assert_eq!(again.build().unwrap(), built, "HEDGEROW_SEED={seed}");
    }
}
