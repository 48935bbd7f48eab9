//! What an adversary found: numbers to compare, and for the worst cells the reason.

use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub adversary: &'static str,
    /// The releases that were laid side by side.
    pub releases: Vec<String>,
    /// The sensitive attribute, where there is one.
    pub protect: Option<String>,
    /// People examined; without a list of people, released rows.
    pub people: u64,
    /// Of these, how many are certain to the adversary: one value left, or one row.
    pub at_risk: u64,
    pub max_confidence: f64,
    /// The fewest rows left for anyone.
    pub effective_k: Option<u64>,
    /// The fewest sensitive values left for anyone.
    pub effective_l: Option<u64>,
    /// People left with few values, by how many: `below[l]` have fewer than l.
    pub below: Vec<u64>,
    /// The worst cells, worst first.
    pub worst: Vec<Exposure>,
    /// Cells that are the worst in another way, which their `why` says.
    pub also: Vec<Exposure>,
    /// Of more than two releases, the two that leave the fewest values.
    pub worst_pair: Option<WorstPair>,
    /// What only this adversary measures.
    pub details: Map<String, Value>,
    /// What was not examined, and why.
    pub notes: Vec<String>,
    /// Whether this is less than the caller asked for.
    pub breach: bool,
}

/// Two of several releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorstPair {
    pub releases: Vec<String>,
    pub at_risk: u64,
    pub effective_l: Option<u64>,
}

/// One combination of cells and what is left of the sensitive values there.
#[derive(Debug, Clone, PartialEq)]
pub struct Exposure {
    /// Each release with the cells that were combined.
    pub cells: Vec<(String, Vec<(String, String)>)>,
    /// The sensitive values that remain, likeliest first, each with the adversary's confidence.
    pub values: Vec<(String, f64)>,
    pub people: u64,
    pub why: String,
}

/// How many exposures a finding keeps.
pub(crate) const WORST_MAX: usize = 5;

/// How many values of one exposure are named.
const VALUES_MAX: usize = 12;

impl Finding {
    pub(crate) fn new(adversary: &'static str, releases: Vec<String>, protect: Option<&str>) -> Finding {
        Finding {
            adversary,
            releases,
            protect: protect.map(str::to_owned),
            people: 0,
            at_risk: 0,
            max_confidence: 0.0,
            effective_k: None,
            effective_l: None,
            below: vec![0; LEFT_MAX + 1],
            worst: Vec::new(),
            also: Vec::new(),
            worst_pair: None,
            details: Map::new(),
            notes: Vec::new(),
            breach: false,
        }
    }

    /// Notes that `people` have `left` values left; nobody can have none.
    pub(crate) fn leave(&mut self, left: u64, people: u64) {
        self.effective_l = Some(self.effective_l.map_or(left, |least| least.min(left)));
        for l in (left as usize + 1).min(LEFT_MAX + 1)..=LEFT_MAX {
            self.below[l] += people;
        }
    }

    /// Notes people who were looked for and fit nothing in the release.
    pub(crate) fn strangers(&mut self, people: u64) {
        self.people += people;
        if people > 0 {
            let before = self.details.get("not_in_release").and_then(Value::as_u64).unwrap_or_default();
            self.details.insert("not_in_release".to_owned(), json!(before + people));
        }
    }

    /// How many people have fewer than `l` values left, as far as that was counted.
    pub fn people_below(&self, l: u64) -> u64 {
        self.below[(l as usize).min(LEFT_MAX)]
    }

    /// Tells how many people have fewer values left than the caller asked for.
    pub(crate) fn count_below(&mut self, l: Option<u64>) {
        if let Some(l) = l.filter(|l| *l > 2 && *l <= LEFT_MAX as u64) {
            self.details.insert("below".to_owned(), json!({ "l": l, "people": self.people_below(l) }));
        }
    }

    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "name": self.adversary,
            "releases": self.releases,
            "people": self.people,
            "at_risk": self.at_risk,
            "max_confidence": self.max_confidence,
            "effective_l": self.effective_l,
            "effective_k": self.effective_k,
            "breach": self.breach,
            "worst": self.worst.first().map_or_else(|| json!({}), Exposure::to_json),
        });
        if let Some(protect) = &self.protect {
            object["protect"] = json!(protect);
        }
        if self.worst.len() > 1 {
            object["next_worst"] = self.worst[1..].iter().map(Exposure::to_json).collect();
        }
        if !self.also.is_empty() {
            object["also"] = self.also.iter().map(Exposure::to_json).collect();
        }
        if let Some(WorstPair { releases, at_risk, effective_l }) = &self.worst_pair {
            object["worst_pair"] = json!({ "releases": releases, "at_risk": at_risk, "effective_l": effective_l });
        }
        for (name, value) in &self.details {
            object[name] = value.clone();
        }
        if !self.notes.is_empty() {
            object["notes"] = json!(self.notes);
        }
        object
    }
}

/// Up to this l, people with fewer values left are counted.
pub(crate) const LEFT_MAX: usize = 64;

impl Exposure {
    fn to_json(&self) -> Value {
        let cells = self.cells.iter().map(|(release, cells)| {
            let cells: Map<String, Value> = cells.iter().map(|(name, label)| (name.clone(), json!(label))).collect();
            json!({ "release": release, "cells": cells })
        });
        let values = self.values.iter().take(VALUES_MAX);
        let values = values.map(|(value, confidence)| json!({ "value": value, "confidence": confidence }));
        json!({
            "cells": cells.collect::<Vec<_>>(),
            "values": values.collect::<Vec<_>>(),
            "left": self.values.len(),
            "people": self.people,
            "why": self.why,
        })
    }
}

/// Keeps the worst few of a stream, by a key that is smaller for worse; ties by what came first.
#[derive(Debug)]
pub(crate) struct Worst<K, T> {
    kept: Vec<(K, T)>,
}

impl<K: PartialOrd, T> Worst<K, T> {
    pub(crate) fn new() -> Self {
        Worst { kept: Vec::new() }
    }

    pub(crate) fn offer(&mut self, key: K, make: impl FnOnce() -> T) {
        if self.kept.len() == WORST_MAX && self.kept.last().is_some_and(|(last, _)| key >= *last) {
            return;
        }
        let place = self.kept.partition_point(|(other, _)| *other <= key);
        self.kept.insert(place, (key, make()));
        self.kept.truncate(WORST_MAX);
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        self.kept.into_iter().map(|(_, value)| value).collect()
    }
}
