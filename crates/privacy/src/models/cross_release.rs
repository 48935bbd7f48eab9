//! Cross-release l-diversity: whatever class of each earlier release an individual is in, together
//! with their class here at least l protected values remain.
//!
//! Cheong, Wu, Wong: *Non-centralized distinct l-diversity*, 2012, definitions 2 to 4. Only the
//! *sets* of values of the earlier classes matter, and of the intersections of one class from each
//! release only the inclusion-minimal ones: what leaves l values together with a smaller set leaves
//! them together with a larger one. These are kept as bit sets, once ([`Community`]); a class is
//! tested against them, and the product of classes is never walked.
//!
//! Absorbing: a union holds every value of each part, so its intersection with a set only grows. A
//! missing value is never left: a value that is not there protects no one. Cost per class:
//! one count of bits for each minimal set, fewest bits first.
//!
//! Worked example (the twelve people of the paper's table 1): age ≥40 {High, Middle, Low}, <40
//! {Middle, Low} was published. ZIP <20k {High, Low} leaves one value together with <40; ZIP *
//! leaves two.

use std::collections::HashSet;
use std::sync::Arc;

use hedgerow_table::Domain;

use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

/// More minimal sets than this would make every class slow to test.
const MINIMAL_MAX: usize = 200_000;

/// The values that the earlier releases allow, all together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Community {
    /// The protected values that occur in any of them; sets are over positions here.
    pub vocabulary: Vec<String>,
    pub releases: Vec<EarlierRelease>,
    /// Texts of the releases that were taken for others, as they stand there and in the vocabulary.
    pub spelled: Vec<(String, String)>,
    /// Further knowledge of how the releases go together, as the claim states it. The sets of
    /// values do not use it: an audit judges it.
    pub joint: Vec<String>,
    /// The inclusion-minimal intersections of one class from each release, fewest values first.
    minimal: Vec<Minimal>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierRelease {
    pub name: String,
    /// Says which bytes it had.
    pub digest: String,
    pub rows: u64,
    /// The values of each different class, and what the class is called.
    pub classes: Vec<(Vec<u32>, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Minimal {
    set: Box<[u64]>,
    /// Which class of each release leads to it.
    from: Vec<u32>,
}

/// Where the earlier releases leave the fewest values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Least<'a> {
    /// Each release by name, and its class.
    pub classes: Vec<(&'a str, &'a str)>,
    /// The values left together.
    pub values: Vec<&'a str>,
}

/// The minimal sets are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

impl Community {
    pub fn new(vocabulary: Vec<String>, releases: Vec<EarlierRelease>) -> Result<Community, TooMany> {
        let words = vocabulary.len().div_ceil(64).max(1);
        let mut minimal = vec![Minimal { set: full(vocabulary.len(), words), from: Vec::new() }];
        for release in &releases {
            let classes = release.classes.iter().zip(0..).map(|((values, _), class)| {
                let mut set = vec![0u64; words].into_boxed_slice();
                values.iter().for_each(|&value| set[value as usize / 64] |= 1 << (value % 64));
                Minimal { set, from: vec![class] }
            });
            let classes = antichain(classes.collect());
            if classes.len().saturating_mul(minimal.len()) > MINIMAL_MAX * 50 {
                return Err(TooMany);
            }
            let met = minimal.iter().flat_map(|earlier| {
                classes.iter().map(|class| Minimal {
                    set: earlier.set.iter().zip(&class.set).map(|(a, b)| a & b).collect(),
                    from: [earlier.from.as_slice(), &class.from].concat(),
                })
            });
            minimal = antichain(met.collect());
            if minimal.len() > MINIMAL_MAX {
                return Err(TooMany);
            }
        }
        Ok(Community { vocabulary, releases, spelled: Vec::new(), joint: Vec::new(), minimal })
    }

    /// States which texts of the releases were taken for others.
    pub fn with_spelled(self, spelled: Vec<(String, String)>) -> Community {
        Community { spelled, ..self }
    }

    /// States what else is known of how the releases go together.
    pub fn with_joint(self, joint: Vec<String>) -> Community {
        Community { joint, ..self }
    }

    /// How many inclusion-minimal sets there are.
    pub fn minimal_sets(&self) -> usize {
        self.minimal.len()
    }

    /// The fewest values that the earlier releases leave by themselves; `None` without
    /// earlier releases.
    pub fn least(&self) -> Option<Least<'_>> {
        self.least_by(|_| true)
    }

    /// The fewest of these values that the earlier releases leave: no class of theirs can have
    /// more.
    pub fn least_of(&self, values: &[String]) -> Option<Least<'_>> {
        let own: HashSet<&str> = values.iter().map(String::as_str).collect();
        self.least_by(|value| own.contains(value))
    }

    fn least_by(&self, counts: impl Fn(&str) -> bool) -> Option<Least<'_>> {
        let mut counted = full(self.vocabulary.len(), self.vocabulary.len().div_ceil(64).max(1));
        for (value, _) in self.vocabulary.iter().enumerate().filter(|(_, text)| !counts(text)) {
            counted[value / 64] &= !(1 << (value % 64));
        }
        let left = |least: &Minimal| least.set.iter().zip(&counted).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
        let least = self.minimal.iter().filter(|least| !least.from.is_empty()).min_by_key(|least| left(least))?;
        let classes = self.releases.iter().zip(&least.from);
        let classes =
            classes.map(|(release, &class)| (release.name.as_str(), release.classes[class as usize].1.as_str()));
        let is_left = |value: usize| least.set[value / 64] & counted[value / 64] & (1 << (value % 64)) != 0;
        let values = self.vocabulary.iter().enumerate().filter(|(value, _)| is_left(*value));
        Some(Least { classes: classes.collect(), values: values.map(|(_, text)| text.as_str()).collect() })
    }
}

fn full(values: usize, words: usize) -> Box<[u64]> {
    let bits = |word: usize| match values.saturating_sub(word * 64) {
        0 => 0,
        left if left >= 64 => u64::MAX,
        left => (1 << left) - 1,
    };
    (0..words).map(bits).collect()
}

fn size(set: &[u64]) -> u64 {
    set.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The inclusion-minimal sets, fewest values first.
fn antichain(mut sets: Vec<Minimal>) -> Vec<Minimal> {
    sets.sort_unstable_by(|a, b| size(&a.set).cmp(&size(&b.set)).then_with(|| a.set.cmp(&b.set)));
    sets.dedup_by(|next, kept| next.set == kept.set);
    let mut kept: Vec<Minimal> = Vec::new();
    for set in sets {
        let covered = kept.iter().any(|smaller| smaller.set.iter().zip(&set.set).all(|(a, b)| a & !b == 0));
        if !covered {
            kept.push(set);
        }
    }
    kept
}

#[derive(Debug, Clone)]
pub struct CrossRelease {
    model: Model,
    l: u64,
    community: Arc<Community>,
    /// By code of the protected attribute, the position in the vocabulary; `u32::MAX` for a value
    /// that no earlier release has.
    position: Vec<u32>,
}

impl CrossRelease {
    /// `protect` holds the values of the protected attribute; those that no earlier release has,
    /// and the missing one, are never left.
    pub fn new(model: &Model, community: Arc<Community>, protect: Option<&Domain>) -> Self {
        let Model::CrossReleaseLDiversity { l } = *model else { unreachable!("dispatched by model") };
        let mut position = vec![u32::MAX; protect.map_or(0, Domain::cardinality)];
        for (place, value) in (0..).zip(&community.vocabulary) {
            let code = protect.and_then(|domain| domain.code_of(value));
            code.into_iter().for_each(|code| position[code as usize] = place);
        }
        CrossRelease { model: model.clone(), l, community, position }
    }

    fn set(&self, class: Class<'_>) -> Box<[u64]> {
        let mut set = vec![0u64; self.community.vocabulary.len().div_ceil(64).max(1)].into_boxed_slice();
        for &(code, _) in class.values {
            if let Some(&place) = self.position.get(code as usize).filter(|&&place| place != u32::MAX) {
                set[place as usize / 64] |= 1 << (place % 64);
            }
        }
        set
    }

    /// The fewest values left together with any combination of earlier classes; with `enough`, any
    /// number of at least that once it is certain.
    fn left(&self, class: Class<'_>, enough: Option<u64>) -> u64 {
        let set = self.set(class);
        let lacking = (self.community.vocabulary.len() as u64) - size(&set);
        let mut least = size(&set);
        for minimal in &self.community.minimal {
            let bits = size(&minimal.set);
            // A set of this size loses at most what the class lacks, and the sets that follow have
            // more.
            if bits.saturating_sub(lacking) >= enough.unwrap_or(least).min(least) {
                break;
            }
            let left = minimal.set.iter().zip(&set).map(|(a, b)| u64::from((a & b).count_ones())).sum();
            least = least.min(left);
            if enough.is_some_and(|enough| least < enough) {
                break;
            }
        }
        least
    }
}

impl Guarantee for CrossRelease {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Absorbing
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: 1, distinct: self.l }
    }

    fn core_is_more(&self) -> bool {
        true
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        self.left(class, Some(self.l)) >= self.l
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        vec![ClassMeasure::at_least("l", self.left(class, None) as f64)]
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use hedgerow_table::Kind;

    fn release(name: &str, classes: &[&[u32]]) -> EarlierRelease {
        let classes = classes.iter().enumerate().map(|(n, values)| (values.to_vec(), format!("class {n}"))).collect();
        EarlierRelease { name: name.to_owned(), digest: String::new(), rows: 0, classes }
    }

    fn left(community: &Community, class: &[u32]) -> (u64, bool) {
        let (domain, codes) = Domain::from_texts(&community.vocabulary, false, Some(Kind::Category)).unwrap();
        let guarantee =
            CrossRelease::new(&Model::CrossReleaseLDiversity { l: 2 }, Arc::new(community.clone()), Some(&domain));
        let mut values: Vec<(u32, u32)> = class.iter().map(|&value| (codes[value as usize], 1)).collect();
        values.sort_unstable();
        let class = Class { rows: values.len() as u64, values: &values };
        (guarantee.left(class, None), guarantee.holds(class, &Distribution::default()))
    }

    /// High, Middle, Low.
    #[test]
    fn the_twelve_people_of_the_paper() {
        let vocabulary = ["High", "Middle", "Low"].map(str::to_owned).to_vec();
        let community = Community::new(vocabulary, vec![release("age", &[&[0, 1, 2], &[1, 2]])]).unwrap();
        assert_eq!(community.minimal_sets(), 1);
        assert_eq!(left(&community, &[0, 2]), (1, false), "ZIP below 20k with age below 40 leaves Low");
        assert_eq!(left(&community, &[0, 1, 2]), (2, true));
        let least = community.least().unwrap();
        assert_eq!((least.classes, least.values), (vec![("age", "class 1")], vec!["Middle", "Low"]));
        let own = ["High", "Low", "None"].map(str::to_owned);
        assert_eq!(community.least_of(&own).unwrap().values, ["Low"], "no row here has Middle");
    }

    #[test]
    fn values_that_no_earlier_release_has_do_not_count() {
        let community = Community::new(vec!["a".to_owned()], vec![release("r", &[&[0]])]).unwrap();
        let domain = Domain::from_texts(&["A", "B", "a", "b"], false, None).unwrap().0;
        let model = Model::CrossReleaseLDiversity { l: 1 };
        let guarantee = CrossRelease::new(&model, Arc::new(community), Some(&domain));
        let class = |values: &'static [(u32, u32)]| Class { rows: 2, values };
        assert!(guarantee.holds(class(&[(2, 1), (3, 1)]), &Distribution::default()));
        assert!(!guarantee.holds(class(&[(0, 1), (3, 1)]), &Distribution::default()));
    }

    /// The product of classes, walked.
    #[test]
    fn the_antichain_agrees_with_every_combination_of_classes() {
        let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
        for seed in only.map_or(0..3000, |seed| seed..seed + 1) {
            let mut rng = StdRng::seed_from_u64(seed);
            let values = if rng.random_bool(0.1) { 70u32 } else { rng.random_range(1..8) };
            let share = rng.random_range(0.2..1.0);
            let subset = |rng: &mut StdRng| -> Vec<u32> { (0..values).filter(|_| rng.random_bool(share)).collect() };
            let releases: Vec<Vec<Vec<u32>>> = (0..rng.random_range(0..4))
                .map(|_| (0..rng.random_range(1..5)).map(|_| subset(&mut rng)).collect())
                .collect();
            let class = subset(&mut rng);
            let mut combinations: Vec<Vec<u32>> = vec![class.clone()];
            for classes in &releases {
                let meet =
                    |set: &Vec<u32>, class: &Vec<u32>| set.iter().copied().filter(|v| class.contains(v)).collect();
                combinations =
                    combinations.iter().flat_map(|set| classes.iter().map(move |class| meet(set, class))).collect();
            }
            let expected = combinations.iter().map(Vec::len).min().unwrap() as u64;
            let earlier = releases.iter().enumerate().map(|(number, classes)| {
                release(&number.to_string(), &classes.iter().map(Vec::as_slice).collect::<Vec<_>>())
            });
            let vocabulary = (0..values).map(|value| value.to_string()).collect();
            let community = Community::new(vocabulary, earlier.collect()).unwrap();
            assert_eq!(left(&community, &class), (expected, expected >= 2), "seed {seed}");
        }
    }
}
