//! The minimality attack (Wong, Fu, Wang, Pei: *Minimality attack in privacy preserving data publishing*, 2007): who knows that
//! an algorithm generalises only as far as it must, knows that everything finer breaks the rule, and that rules out some of
//! what a class could hide.
//!
//! Mondrian cuts a class wherever both sides keep the rules. So of a class that was left whole, every cut along a number
//! that leaves k rows on each side must leave one side with fewer than l sensitive values. Given everybody's quasi values,
//! the adversary goes through all ways to give the class's values to its people, keeps those in which every cut fails, and
//! counts. Classes with more ways than can be gone through, and classes whose people are not all known, are left alone.
//! Full-domain recoding tells less: that a finer node fails somewhere says nothing of one class.

use hedgerow_table::release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Column, Table, TableError};
use serde_json::json;

use super::linker::owned;
use crate::finding::{Exposure, Finding, Worst};
use crate::side_by_side::SideBySide;

/// The most ways to give out the values of one class.
const WAYS_MAX: f64 = 50_000.0;

/// What the algorithm was asked to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) k: u64,
    pub(crate) l: u64,
}

pub(crate) fn run(
    name: &str,
    classes: &ReleasedClasses,
    sensitive: &SensitiveCounts,
    people: &Table,
    asked: Asked,
) -> Result<Finding, TableError> {
    let mut finding = Finding::new("minimality", vec![name.to_owned()], Some(&sensitive.name));
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); classes.len()];
    let mut beside = SideBySide::new(&sensitive.name, &[(name, classes)]);
    let seen = beside.sides[0].see(people)?;
    for (row, &view) in seen.iter().enumerate() {
        if let [class] = beside.sides[0].views[view as usize].classes[..] {
            members[class as usize].push(row);
        }
    }
    let numbers: Vec<&Column> = classes
        .quasi
        .iter()
        .filter_map(|quasi| people.column(&quasi.name))
        .filter(|column| column.domain.number(0).is_some())
        .collect();
    let (mut worst, mut skipped) = (Worst::new(), 0u64);
    for (class, members) in members.iter().enumerate() {
        let values = sensitive.of_bucket(classes.bucket_of[class]);
        let size = u64::from(classes.sizes[class]);
        let cuts = cuts(&numbers, members, asked.k);
        if members.len() as u64 != size || members.len() > 64 || ways(values) > WAYS_MAX {
            skipped += size;
            continue;
        }
        finding.people += size;
        let Some(shares) = shares(values, members.len(), &cuts, asked.l) else { continue };
        for person in shares {
            let left = person.iter().filter(|share| **share > 0.0).count();
            let top = person.iter().copied().fold(0.0, f64::max);
            finding.leave(left as u64, 1);
            finding.at_risk += u64::from(left == 1);
            finding.max_confidence = finding.max_confidence.max(top);
            worst.offer((left, -top, class), || Exposure {
                cells: vec![(name.to_owned(), owned(classes.describe(class)))],
                values: told(sensitive, values, &person),
                people: 1,
                why: format!("every one of {} cuts of this class must have broken the rule", cuts.len()),
            });
        }
    }
    finding.details.insert("l".to_owned(), json!(asked.l));
    if skipped > 0 {
        finding
            .notes
            .push(format!("{skipped} rows are in classes too large to go through, or whose people are not all known"));
    }
    finding.worst = worst.into_vec();
    Ok(finding)
}

fn told(sensitive: &SensitiveCounts, values: &[(u32, u32)], shares: &[f64]) -> Vec<(String, f64)> {
    let left = values.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let mut told: Vec<(String, f64)> =
        left.map(|(&(value, _), &share)| (sensitive.values[value as usize].clone(), share)).collect();
    told.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    told
}

/// The people on the lower side of every cut that leaves k on each, as bits.
fn cuts(numbers: &[&Column], members: &[usize], k: u64) -> Vec<u64> {
    let mut cuts = Vec::new();
    for column in numbers.iter().filter(|_| members.len() <= 64) {
        let codes: Vec<u32> = members.iter().map(|&row| column.codes.get(row)).collect();
        let mut different = codes.clone();
        different.sort_unstable();
        different.dedup();
        for at in different.into_iter().skip(1) {
            let below =
                codes.iter().enumerate().filter(|(_, code)| **code < at).fold(0u64, |bits, (i, _)| bits | 1 << i);
            let count = u64::from(below.count_ones());
            if count >= k && members.len() as u64 - count >= k {
                cuts.push(below);
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// In how many ways the values can be given to people.
fn ways(values: &[(u32, u32)]) -> f64 {
    let mut ways = 1.0;
    let mut placed = 0u32;
    for &(_, count) in values {
        for step in 1..=count {
            placed += 1;
            ways *= f64::from(placed) / f64::from(step);
        }
    }
    ways
}

/// By person and value, the share of the ways in which no cut keeps the rule; `None` when there is no such way.
fn shares(values: &[(u32, u32)], people: usize, cuts: &[u64], l: u64) -> Option<Vec<Vec<f64>>> {
    let mut search = Search { left: values.iter().map(|&(_, count)| count).collect(), given: vec![0; values.len()] };
    let mut counts = vec![vec![0u64; values.len()]; people];
    let everybody = if people == 64 { u64::MAX } else { (1 << people) - 1 };
    let mut total = 0u64;
    search.go(0, people, &mut |given| {
        let kinds = |side: u64| given.iter().filter(|holders| *holders & side != 0).count() as u64;
        if cuts.iter().any(|&below| kinds(below) >= l && kinds(everybody & !below) >= l) {
            return;
        }
        total += 1;
        for (value, holders) in given.iter().enumerate() {
            for (person, counts) in counts.iter_mut().enumerate() {
                counts[value] += holders >> person & 1;
            }
        }
    });
    let share = |count: u64| count as f64 / total as f64;
    (total > 0).then(|| counts.into_iter().map(|counts| counts.into_iter().map(share).collect()).collect())
}

/// Gives values to one person after the other.
struct Search {
    left: Vec<u32>,
    /// By value, who has it, as bits.
    given: Vec<u64>,
}

impl Search {
    fn go(&mut self, person: usize, people: usize, found: &mut dyn FnMut(&[u64])) {
        if person == people {
            found(&self.given);
            return;
        }
        for value in 0..self.left.len() {
            if self.left[value] > 0 {
                self.left[value] -= 1;
                self.given[value] |= 1 << person;
                self.go(person + 1, people, found);
                self.given[value] &= !(1 << person);
                self.left[value] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Bound, Cover};

    use super::*;

    fn attack(ages: &[&str], values: &[&str], asked: Asked) -> Finding {
        let rows: Vec<Vec<&str>> = values.iter().map(|value| vec!["20 to 39", *value]).collect();
        let table = Table::from_texts(&["age", "disease"], &rows);
        let cover =
            |_: &str, _: &str| Cover::Interval { low: Some(Bound::Integer(20)), high: Some(Bound::Integer(40)) };
        let names = ["age".to_owned(), "disease".to_owned()];
        let classes = ReleasedClasses::of_generalised("data", &table, &names[..1], &names[1..], cover, "t").unwrap();
        let people: Vec<Vec<&str>> = ages.iter().map(|age| vec![*age]).collect();
        let people = Table::from_texts(&["age"], &people);
        run("r", &classes, &classes.sensitive[0], &people, asked).unwrap()
    }

    /// Two of 20 and three of 30 in one class: between them lies a cut that would have been made, had the two not
    /// the same value; and only HIV is there twice.
    #[test]
    fn a_class_left_whole_for_the_sake_of_two_people_tells_their_value() {
        let ages = ["20", "20", "30", "30", "30"];
        let found = attack(&ages, &["HIV", "HIV", "flu", "cold", "ache"], Asked { k: 2, l: 2 });
        assert_eq!((found.people, found.at_risk, found.effective_l), (5, 2, Some(1)));
        assert_eq!(found.worst[0].values, [("HIV".to_owned(), 1.0)]);
    }

    #[test]
    fn a_class_that_could_not_be_cut_anyway_tells_nothing_more() {
        let found = attack(&["20", "20", "20", "30"], &["HIV", "HIV", "flu", "cold"], Asked { k: 2, l: 2 });
        assert_eq!((found.people, found.at_risk, found.effective_l), (4, 0, Some(3)));
        assert_eq!(found.max_confidence, 0.5, "two of four have HIV");
        let unknown = attack(&["20", "30"], &["HIV", "HIV", "flu", "cold"], Asked { k: 2, l: 2 });
        assert_eq!((unknown.people, unknown.notes.len()), (0, 1));
    }
}
