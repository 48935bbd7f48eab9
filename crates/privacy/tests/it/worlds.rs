//! ρ₁-to-ρ₂ breaches, changes of belief and conditions held against every world: all ways to give
//! the people of a small table the protected values that each class shows, all alike likely. The
//! prior is that of who knows the values of the whole table alone, counted in the same way.

use hedgerow_privacy::models::{self, Context};
use hedgerow_privacy::{Change, Class, Distribution, Model};
use hedgerow_table::{Domain, Ratio};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const VALUES: [&str; 3] = ["HIV", "flu", "gout"];

/// People, each in a class and with a value.
struct Table {
    class: Vec<usize>,
    value: Vec<usize>,
}

impl Table {
    fn drawn(rng: &mut StdRng) -> Table {
        let (people, classes) = (rng.random_range(1..=7), rng.random_range(1..=3));
        let class = (0..people).map(|_| rng.random_range(0..classes)).collect();
        Table { class, value: (0..people).map(|_| rng.random_range(0..VALUES.len())).collect() }
    }

    fn counts(&self, value: &[usize], class: Option<usize>) -> [u32; 3] {
        let mut counts = [0; 3];
        let own = value.iter().zip(&self.class).filter(|(_, own)| class.is_none_or(|class| **own == class));
        own.for_each(|(&value, _)| counts[value] += 1);
        counts
    }

    /// By person and value, in how many worlds they have it; and how many worlds there are. Before
    /// the release, each person can have each value of the table.
    fn believed(&self, released: bool) -> (Vec<[u64; 3]>, u64) {
        let people = self.value.len();
        let classes: Vec<Option<usize>> = if released { (0..3).map(Some).collect() } else { vec![None] };
        let (mut believed, mut worlds) = (vec![[0; 3]; people], 0);
        for number in 0..3usize.pow(people as u32) {
            let world: Vec<usize> = (0..people as u32).map(|person| number / 3usize.pow(person) % 3).collect();
            if classes.iter().all(|&class| self.counts(&world, class) == self.counts(&self.value, class)) {
                worlds += 1;
                believed.iter_mut().zip(&world).for_each(|(believed, &value)| believed[value] += 1);
            }
        }
        (believed, worlds)
    }
}

/// Whether the beliefs keep the model, and how far they go: the largest posterior of a rare
/// value, or the largest change. `None` within rounding of a limit.
fn by_worlds(model: &Model, prior: &[f64; 3], posterior: &[f64; 3]) -> (f64, Option<bool>) {
    let limited = |values: &Option<Vec<String>>, value: usize| {
        values.as_ref().is_none_or(|values| values.iter().any(|one| one == VALUES[value]))
    };
    let near = |found: f64, limit: f64| (found - limit).abs() < 1e-9;
    match model {
        Model::RhoBreach { prior: rare, posterior: least, values } => {
            let counted = (0..3).filter(|&value| limited(values, value) && prior[value] <= rare.as_f64() + 1e-12);
            let found = counted.map(|value| posterior[value]).fold(0.0, f64::max);
            // One half exactly is a breach of one half, and shares of few people are exact enough.
            (found, Some(found < least.as_f64() - 1e-12))
        }
        Model::BeliefChange { b, change, values } => {
            let apart = |value: usize| (posterior[value] - prior[value]).abs();
            let looked_at: Vec<usize> = (0..3).filter(|&value| limited(values, value)).collect();
            let rest = |shares: &[f64; 3]| 1.0 - looked_at.iter().map(|&value| shares[value]).sum::<f64>();
            let others = if values.is_some() { (rest(posterior), rest(prior)) } else { (0.0, 0.0) };
            let nats = |(after, before): (f64, f64)| if after > 1e-12 { after * (after / before).ln() } else { 0.0 };
            let found = match change {
                Change::Variation => {
                    (looked_at.iter().map(|&value| apart(value)).sum::<f64>() + (others.0 - others.1).abs()) / 2.0
                }
                Change::Largest => looked_at.iter().map(|&value| apart(value)).fold(0.0, f64::max),
                Change::Relative => {
                    let known = looked_at.iter().filter(|&&value| prior[value] > 0.0);
                    known.map(|&value| apart(value) / prior[value]).fold(0.0, f64::max)
                }
                Change::Divergence => {
                    looked_at.iter().map(|&value| nats((posterior[value], prior[value]))).sum::<f64>() + nats(others)
                }
            };
            let float = *change == Change::Divergence && near(found, b.as_f64());
            (found, (!float).then_some(found <= b.as_f64() + 1e-9))
        }
        other => panic!("{other:?} is not among the models of these tests"),
    }
}

fn models() -> Vec<Model> {
    let ratio = |value: f64| Ratio::from_decimal(value).unwrap();
    let mut models = Vec::new();
    for values in [None, Some(vec!["HIV".to_owned()])] {
        for (prior, posterior) in [(0.2, 0.5), (0.34, 0.5), (0.5, 1.0)] {
            let (prior, posterior) = (ratio(prior), ratio(posterior));
            models.push(Model::RhoBreach { prior, posterior, values: values.clone() });
        }
        for change in Change::ALL {
            let b = [0.0, 0.25, 0.6].map(|b| Model::BeliefChange { b: ratio(b), change, values: values.clone() });
            models.extend(b);
        }
    }
    models
}

#[test]
fn models_hold_exactly_where_no_belief_in_any_world_breaks_them() {
    let domain = Domain::from_texts(&VALUES, false, None).unwrap().0;
    let place: Vec<usize> =
        (0..3).map(|code| VALUES.iter().position(|text| *text == domain.text(code)).unwrap()).collect();
    let context = Context { protect: Some(&domain), ..Context::default() };
    let conditions =
        [(None, None), (None, Some(3)), (Some(vec!["HIV".to_owned()]), None), (Some(vec!["HIV".to_owned()]), Some(4))];
    let (mut held, mut broken) = (0, 0);
    for seed in 0..150u64 {
        let table = Table::drawn(&mut StdRng::seed_from_u64(seed));
        let [(before, all), (after, worlds)] = [false, true].map(|released| table.believed(released));
        let coded = |counts: [u32; 3]| place.iter().map(|&value| u64::from(counts[value])).collect::<Vec<u64>>();
        let whole = Distribution::new(coded(table.counts(&table.value, None)), None);
        for (number, model) in models().into_iter().enumerate() {
            let (having, below) = conditions[(number + seed as usize) % conditions.len()].clone();
            let conditional = match (&having, below) {
                (None, None) => model.clone(),
                _ => Model::Conditional { model: Box::new(model.clone()), having: having.clone(), below },
            };
            let guarantee = models::guarantee(&conditional, &context).unwrap();
            for class in 0..3 {
                let counts = table.counts(&table.value, Some(class));
                let rows = counts.iter().map(|&count| u64::from(count)).sum::<u64>();
                let Some(person) = table.class.iter().position(|&own| own == class) else { continue };
                let values: Vec<(u32, u32)> = (0u32..)
                    .zip(&place)
                    .map(|(code, &value)| (code, counts[value]))
                    .filter(|(_, count)| *count > 0)
                    .collect();
                let found = guarantee.holds(Class { rows, values: &values }, &whole);
                let shares = |believed: &[u64; 3], worlds: u64| believed.map(|count| count as f64 / worlds as f64);
                let (prior, posterior) = (shares(&before[person], all), shares(&after[person], worlds));
                let is_about = below.is_none_or(|below| rows < below) && (having.is_none() || counts[0] > 0);
                let (reached, holds) = by_worlds(&model, &prior, &posterior);
                let case = || format!("seed {seed}, {conditional:?}, class {class}: {prior:?} and {posterior:?}");
                if !is_about {
                    assert!(found, "{}", case());
                    continue;
                }
                if let Some(holds) = holds {
                    assert_eq!(found, holds, "{}", case());
                    *if holds { &mut held } else { &mut broken } += 1;
                }
                let measured = guarantee.measure(Class { rows, values: &values }, &whole)[0].value;
                assert!((measured - reached).abs() < 1e-9, "{}: {measured} and {reached}", case());
            }
        }
    }
    assert!(held > 1000 && broken > 1000, "{held} held, {broken} broken");
}
