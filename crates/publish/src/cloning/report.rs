//! What was done to a table, for the custodian who published it; and the part of it that the manifest tells everybody.

use std::time::Duration;

use hedgerow_table::Column;
use serde_json::{Map, Value, json};

use super::Sizes;
use super::assignment::Cut;
use super::distortion::Distortion;
use super::division::Division;
use super::promise::ClonePromise;

/// For the custodian alone: it says how many tuples of every value the source has.
#[derive(Debug, Clone, PartialEq)]
pub struct CloneReport {
    /// Classes of the release, and b of the paper: those of the division, before small ones were united.
    pub classes: u64,
    pub divided: u64,
    pub sub_classes: u64,
    /// Tuples of the smallest and the largest sub-class, counterfeits among them.
    pub smallest: u64,
    pub largest: u64,
    /// The true ε of the class that is farthest from the source, and of the one that is nearest.
    pub epsilon: f64,
    pub epsilon_least: f64,
    /// Tuples left out because classes take equal numbers; those of rare values come on top.
    pub suppressed: u64,
    pub counterfeits: u64,
    pub values: Vec<ClonedValue>,
    pub rare: Vec<RareValue>,
    pub promise: ClonePromise,
    pub distortion: Distortion,
    /// How long it took to say which tuples make up a class.
    pub assign_time: Duration,
    pub k: u64,
    pub lambda: u64,
}

/// What became of one sensitive value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClonedValue {
    pub value: String,
    pub rows: u64,
    /// γ of the paper.
    pub per_class: u64,
    pub suppressed: u64,
    pub counterfeits: u64,
}

/// A value so rare that it holds the number of classes down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RareValue {
    pub value: String,
    pub rows: u64,
    /// Classes there could be without it and the rarer ones.
    pub classes_without: u64,
    pub left_out: bool,
}

impl CloneReport {
    pub(super) fn new(
        sensitive: &Column,
        division: &Division,
        cut: &[Cut],
        rare: Vec<RareValue>,
        (distortion, assign_time): (Distortion, Duration),
        sizes: &Sizes,
    ) -> CloneReport {
        let values = division.shares.iter().map(|share| ClonedValue {
            value: sensitive.domain.text(share.code),
            rows: share.rows,
            per_class: share.per_class,
            suppressed: share.suppressed(division.classes),
            counterfeits: share.counterfeit(division.classes),
        });
        let parts =
            || cut.iter().flat_map(|(_, parts)| parts.iter().map(|(rows, made_up)| (rows.len() + made_up) as u64));
        let (least, most) = epsilons(sensitive, division, cut);
        CloneReport {
            classes: cut.len() as u64,
            divided: division.classes,
            sub_classes: parts().count() as u64,
            smallest: parts().min().unwrap_or(0),
            largest: parts().max().unwrap_or(0),
            epsilon: most,
            epsilon_least: least,
            suppressed: division.suppressed(),
            counterfeits: division.counterfeits(),
            values: values.collect(),
            rare,
            promise: ClonePromise::of(&division.distributions()),
            distortion,
            assign_time,
            k: sizes.tuples,
            lambda: sizes.lambda,
        }
    }

    /// What everybody may know: nothing here counts rows of the source.
    pub(super) fn to_manifest(&self, protect: &str) -> Map<String, Value> {
        let Value::Object(mut told) = self.promise.to_json(protect) else { return Map::new() };
        told.insert("epsilon".to_owned(), json!((self.epsilon * 1e6).ceil() / 1e6));
        told.insert("k".to_owned(), json!(self.k));
        told.insert("lambda".to_owned(), json!(self.lambda));
        told.insert("counterfeits".to_owned(), json!(self.counterfeits));
        told.insert("sub-classes".to_owned(), json!(self.sub_classes));
        told.insert("meaning".to_owned(), json!(MEANING));
        told
    }

    /// For `publish --json`.
    pub fn to_json(&self, protect: &str) -> Value {
        let values = self.values.iter().map(|value| {
            json!({ "value": value.value, "rows": value.rows, "per-class": value.per_class,
                "suppressed": value.suppressed, "counterfeits": value.counterfeits })
        });
        let rare = self.rare.iter().map(|rare| {
            json!({ "value": rare.value, "rows": rare.rows, "classes-without": rare.classes_without,
                "left-out": rare.left_out })
        });
        json!({
            "classes": self.classes,
            "divided": self.divided,
            "sub-classes": { "count": self.sub_classes, "min": self.smallest, "max": self.largest },
            "epsilon": self.epsilon,
            "epsilon-of-classes": { "min": self.epsilon_least, "max": self.epsilon },
            "suppressed": self.suppressed,
            "counterfeits": self.counterfeits,
            "values": values.collect::<Vec<_>>(),
            "rare": rare.collect::<Vec<_>>(),
            "promise": self.promise.to_json(protect),
            "distortion": { "steps": self.distortion.steps, "ncp": self.distortion.ncp },
            "k": self.k,
            "lambda": self.lambda,
        })
    }
}

const MEANING: &str = "every tuple of a sub-class goes with all sensitive values of its class; statistics.csv tells for every \
     sub-class its tuples, counterfeits among them, how many have each value of a category, and of numbers and dates the mean \
     and a range around it with how many lie within; counterfeits have no quasi values; epsilon is how far a value's share in a \
     class is from its share in the source, at most; an adversary who finds somebody in another release as well, of which one \
     over the overlap with this one's distribution is beta, gains at most theta in confidence";

/// The least and the largest ε of the classes, from what they hold.
fn epsilons(sensitive: &Column, division: &Division, cut: &[Cut]) -> (f64, f64) {
    let source = sensitive.counts();
    let rows: u64 = source.iter().sum();
    let mut counts = vec![0u64; source.len()];
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for (class, _) in cut {
        counts.fill(0);
        class.rows.iter().for_each(|&row| counts[sensitive.codes.get(row as usize) as usize] += 1);
        for (share, made_up) in division.shares.iter().zip(&class.counterfeits) {
            counts[share.code as usize] += made_up;
        }
        let tuples: u64 = counts.iter().sum();
        let off = |(&here, &there): (&u64, &u64)| (here as f64 / tuples as f64 - there as f64 / rows as f64).abs();
        let epsilon = counts.iter().zip(&source).map(off).fold(0.0, f64::max);
        (least, most) = (least.min(epsilon), most.max(epsilon));
    }
    (least, most)
}
