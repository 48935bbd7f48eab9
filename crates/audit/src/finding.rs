//! The findings of an adversary: numbers to compare, and for the worst cells the reason.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::adversary::Adversary;
use crate::linked::UNITS_COUNTED;

/// Keys are those of the contract; what only one adversary measures stands among them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The adversary that it is about.
    #[serde(rename = "name")]
    pub adversary: Adversary,
    /// The releases that were combined.
    pub releases: Vec<String>,
    /// The sensitive attribute, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protect: Option<String>,
    /// People examined; without a list of people, released rows or combinations of cells, as
    /// `notes` says.
    pub people: u64,
    /// Of these, how many are certain to the adversary: one value left, or one row.
    pub at_risk: u64,
    /// The largest confidence in a value, or in a row.
    pub max_confidence: f64,
    /// The largest confidence in a belief beside what is certain; 0 without one.
    #[serde(skip)]
    pub(crate) believed: f64,
    /// The fewest sensitive values left for anyone.
    pub effective_l: Option<u64>,
    /// The fewest rows left for anyone.
    pub effective_k: Option<u64>,
    /// Whether this is less than the caller requires.
    pub breach: bool,
    /// People left with few values, by how many: `below[l]` have fewer than l.
    #[serde(skip)]
    pub below: Vec<u64>,
    /// The worst cells, worst first.
    #[serde(flatten, serialize_with = "worst_first")]
    pub worst: Vec<Exposure>,
    /// Cells that are the worst in another way, which their `why` says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Exposure>,
    /// How values follow, step by step: the shortest explanation first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
    /// Of more than two releases, the two that leave the fewest values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_pair: Option<WorstPair>,
    /// The figures that only this adversary measures.
    #[serde(flatten)]
    pub details: Map<String, Value>,
    /// The people at risk, as rows of the people's table from 0, ascending. Never part of a
    /// report: who may see it is the caller's decision.
    #[serde(skip)]
    pub people_at_risk: Vec<u32>,
    /// By row of the people's table, the adversary's confidence in the value that is likeliest for
    /// them.
    #[serde(skip)]
    pub(crate) confidences: Vec<f32>,
    /// Notes on what was not examined, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// A note on what was not examined, or on how a finding is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Note {
    /// The note in words.
    pub text: String,
    /// The input that the caller would have to give for more to be examined.
    #[serde(skip)]
    pub needs: Option<Needs>,
}

/// The input that an adversary needs beyond the releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// The people to look for.
    People,
    /// The policy that a release was published under.
    Policy,
}

/// Why some people have a value in every table that fits, as a reader can check it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// How many people look alike and have the value for the same reason.
    pub people: u64,
    /// The sensitive value.
    pub value: String,
    /// The argument, one sentence after the other.
    pub steps: Vec<String>,
    /// Some of these people, as rows of their table from 0. Only an internal report shows them.
    #[serde(skip)]
    pub rows: Vec<u32>,
}

/// Two of several releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorstPair {
    /// Their names.
    pub releases: Vec<String>,
    /// People who are certain to the adversary.
    pub at_risk: u64,
    /// The fewest sensitive values left for anyone.
    pub effective_l: Option<u64>,
}

/// One combination of cells, and the sensitive values that remain possible there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exposure {
    /// Each release with the cells that were combined.
    pub cells: Vec<ReleaseCells>,
    /// The sensitive values that remain, likeliest first, each with the adversary's confidence.
    #[serde(flatten, serialize_with = "likeliest")]
    pub values: Vec<(String, f64)>,
    /// People in these cells.
    pub people: u64,
    /// The reason in words.
    pub why: String,
}

/// The cells of one release: each quasi-identifier with its label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseCells {
    /// The release's name.
    pub release: String,
    /// Each quasi-identifier with its label.
    #[serde(serialize_with = "as_object")]
    pub cells: Vec<(String, String)>,
}

impl ReleaseCells {
    pub(crate) fn new(release: &str, cells: Vec<(&str, &str)>) -> ReleaseCells {
        let owned = |(name, label): (&str, &str)| (name.to_owned(), label.to_owned());
        ReleaseCells { release: release.to_owned(), cells: cells.into_iter().map(owned).collect() }
    }
}

/// How many exposures a finding keeps.
pub(crate) const WORST_MAX: usize = 5;

/// How many values of one exposure are named.
const VALUES_MAX: usize = 12;

/// A value as sentences name it; the missing one has no text of its own.
pub(crate) fn named(value: &str) -> String {
    if value.is_empty() { "the missing value".to_owned() } else { format!("`{value}`") }
}

/// The same in a list of values or labels.
pub(crate) fn shown_in_list(value: &str) -> String {
    if value.is_empty() { "(missing)".to_owned() } else { format!("`{value}`") }
}

impl Finding {
    pub(crate) fn new(adversary: Adversary, releases: Vec<String>, protect: Option<&str>) -> Finding {
        let ignored = adversary.ignores().map(|what| ("ignores".to_owned(), Value::from(what)));
        Finding {
            adversary,
            releases,
            protect: protect.map(str::to_owned),
            people: 0,
            at_risk: 0,
            max_confidence: 0.0,
            believed: 0.0,
            effective_k: None,
            effective_l: None,
            below: vec![0; LEFT_MAX + 1],
            worst: Vec::new(),
            also: Vec::new(),
            explanations: Vec::new(),
            worst_pair: None,
            details: ignored.into_iter().collect(),
            people_at_risk: Vec::new(),
            confidences: Vec::new(),
            notes: Vec::new(),
            breach: false,
        }
    }

    /// Records who is at risk: `of_person` says for each person where they were found, `places` for
    /// each such place whether they are at risk there and how confident the adversary is.
    pub(crate) fn list_people(&mut self, of_person: &[u32], places: &[(bool, f64)]) {
        let at_risk = (0..).zip(of_person).filter(|(_, place)| places[**place as usize].0);
        self.people_at_risk = at_risk.map(|(person, _)| person).collect();
        self.confidences = of_person.iter().map(|&place| places[place as usize].1 as f32).collect();
    }

    /// Counts the people whose confidence exceeds the limit as at risk, too.
    pub(crate) fn limit_confidence(&mut self, limit: Option<f64>) {
        let confidences = std::mem::take(&mut self.confidences);
        let Some(limit) = limit.filter(|_| !confidences.is_empty()) else { return };
        // Confidences are kept in single precision: one that is exactly the limit does not exceed
        // it.
        let above = (0..).zip(&confidences).filter(|(_, confidence)| **confidence > limit as f32);
        let above: Vec<u32> = above.map(|(person, _)| person).collect();
        self.details.insert("above_confidence".to_owned(), json!({ "limit": limit, "people": above.len() }));
        self.people_at_risk.extend(above);
        self.people_at_risk.sort_unstable();
        self.people_at_risk.dedup();
    }

    /// Whether units are counted, and not rows: the release links the rows of each.
    pub fn counts_units(&self) -> bool {
        self.notes.iter().any(|note| note.text == UNITS_COUNTED)
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(Note { text: text.into(), needs: None });
    }

    /// Adds a note about something that was not given.
    pub(crate) fn note_needs(&mut self, needs: Needs, text: impl Into<String>) {
        self.notes.push(Note { text: text.into(), needs: Some(needs) });
    }

    /// Counts `people` who have `left` values left, at least one.
    pub(crate) fn leave(&mut self, left: u64, people: u64) {
        self.effective_l = Some(self.effective_l.map_or(left, |least| least.min(left)));
        for l in (left as usize + 1).min(LEFT_MAX + 1)..=LEFT_MAX {
            self.below[l] += people;
        }
    }

    /// Counts people who were looked for and match nothing in the release.
    pub(crate) fn not_in_release(&mut self, people: u64) {
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

    /// Counts how many people have fewer values left than the caller requires.
    pub(crate) fn count_below(&mut self, l: Option<u64>) {
        if let Some(l) = l.filter(|l| *l > 2 && *l <= LEFT_MAX as u64) {
            self.details.insert("below".to_owned(), json!({ "l": l, "people": self.people_below(l) }));
        }
    }
}

/// Up to this l, people with fewer values left are counted.
pub(crate) const LEFT_MAX: usize = 64;

/// The worst exposure by itself, an empty object where there is none, and the others after it.
fn worst_first<S: Serializer>(worst: &[Exposure], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    match worst.split_first() {
        None => map.serialize_entry("worst", &Map::new())?,
        Some((first, others)) => {
            map.serialize_entry("worst", first)?;
            if !others.is_empty() {
                map.serialize_entry("next_worst", others)?;
            }
        }
    }
    map.end()
}

/// The likeliest values, and how many there are in all.
fn likeliest<S: Serializer>(values: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    let named = values.iter().take(VALUES_MAX);
    let named: Vec<Value> =
        named.map(|(value, confidence)| json!({ "value": value, "confidence": confidence })).collect();
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("values", &named)?;
    map.serialize_entry("left", &values.len())?;
    map.end()
}

fn as_object<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, label)| (name, label)))
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

/// Values by falling confidence; those of equal confidence by name, so that no run differs from
/// another.
pub(crate) fn likeliest_first(values: &mut [(String, f64)]) {
    values.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}
