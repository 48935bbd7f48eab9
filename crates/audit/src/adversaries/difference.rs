//! The disclosure by publishing a changed table again: composition with oneself (Byun, Sohn,
//! Bertino, Li: *Secure anonymization for incremental datasets*, 2006; Xiao, Tao: *m-invariance*,
//! 2007).
//!
//! A person in a cell of the older release is, in the newer one, in a cell that meets it; so people
//! never leave a *region*, the cells of both releases that are connected by meeting (and by
//! sharing a bucket). Where cells stayed as they were, each is a region of its own. Region by
//! region the adversary subtracts: if values only came, and of one kind, all people who appeared
//! have it; if values only went, all people who left had it; and where one went and another came, a
//! person changed, or was replaced. Arrivals and departures that cancel out are not seen.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use serde_json::json;

use crate::Adversary;
use crate::audit::has_counterfeits;
use crate::finding::{Exposure, Finding, ReleaseCells, Worst, named};
use crate::joint_cells::joint_cells;

/// Releases whose cells meet in more ways are not compared.
const OVERLAPS_MAX: usize = 5_000_000;

/// The change of one region: by value, how many rows more or fewer.
struct Change {
    /// A class of the newer release, or of the older one where nothing is left; and how many others
    /// there are.
    class: Result<usize, usize>,
    others: usize,
    came: Vec<(String, u64)>,
    went: Vec<(String, u64)>,
}

/// `None` when a release does not have this sensitive attribute, or no quasi-identifier of the
/// other.
pub(crate) fn run(older: (&str, &ReleasedClasses), newer: (&str, &ReleasedClasses), protect: &str) -> Option<Finding> {
    let shared = older.1.quasi.iter().any(|quasi| newer.1.quasi.iter().any(|other| other.name == quasi.name));
    if older.1.sensitive(protect).is_none() || newer.1.sensitive(protect).is_none() || !shared {
        return None;
    }
    let mut finding = Finding::new(Adversary::Difference, vec![older.0.to_owned(), newer.0.to_owned()], Some(protect));
    let counterfeit: Vec<&str> =
        [older, newer].into_iter().filter(|own| has_counterfeits(own.1)).map(|own| own.0).collect();
    if !counterfeit.is_empty() {
        finding.note(format!("counterfeits of {} look like people who came or left", counterfeit.join(" and ")));
        return Some(finding);
    }
    let joint = joint_cells(&[older.1, newer.1], OVERLAPS_MAX);
    if joint.cut {
        finding.note("the cells of the releases meet in too many ways to be compared");
        return Some(finding);
    }
    let regions = Regions::new(older.1, newer.1, &joint.combinations);
    let (mut appeared, mut left, mut changed) = (0u64, 0u64, 0u64);
    let mut worst = Worst::new();
    for change in regions.changes(older.1, newer.1, protect) {
        let sum = |rows: &[(String, u64)]| rows.iter().map(|(_, count)| count).sum::<u64>();
        let (came, went) = (sum(&change.came), sum(&change.went));
        let both = came.min(went);
        (appeared, left, changed) = (appeared + came - both, left + went - both, changed + both);
        finding.people += came + went;
        for (rows, people) in [(&change.came, came), (&change.went, went)].into_iter().filter(|(_, people)| *people > 0)
        {
            finding.leave(rows.len() as u64, people);
            finding.at_risk += if rows.len() == 1 { people } else { 0 };
            let top = rows.iter().map(|(_, count)| *count).max().unwrap_or(0) as f64;
            finding.max_confidence = finding.max_confidence.max(top / people as f64);
        }
        let fewest = [change.came.len(), change.went.len()].into_iter().filter(|kinds| *kinds > 0).min();
        worst.offer((fewest, change.others, u64::MAX - came - went), || Exposure {
            cells: vec![match change.class {
                Ok(class) => ReleaseCells::new(newer.0, newer.1.describe(class)),
                Err(class) => ReleaseCells::new(older.0, older.1.describe(class)),
            }],
            values: change.came.iter().map(|(value, count)| (value.clone(), *count as f64 / came as f64)).collect(),
            people: came + went,
            why: describe_change(&change),
        });
    }
    for (name, people) in [("appeared", appeared), ("left", left), ("changed", changed)] {
        finding.details.insert(name.to_owned(), json!(people));
    }
    finding.worst = worst.into_vec();
    Some(finding)
}

fn describe_change(change: &Change) -> String {
    let list = |rows: &[(String, u64)]| {
        let rows: Vec<String> = rows.iter().map(|(value, count)| format!("{count} × {}", named(value))).collect();
        rows.join(", ")
    };
    let here = match change.others {
        0 => "these cells".to_owned(),
        others => format!("these cells or {others} that hang together with them"),
    };
    match (change.came.is_empty(), change.went.is_empty()) {
        (false, true) => format!("who appeared in {here}: {}", list(&change.came)),
        (true, false) => format!("who left {here}: {}", list(&change.went)),
        _ => format!("{} went and {} came in {here}", list(&change.went), list(&change.came)),
    }
}

/// Which buckets of two releases are connected: those of the older one first, then those of the
/// newer.
struct Regions {
    /// Leads to the lowest bucket of the region.
    above: Vec<usize>,
    older: usize,
}

impl Regions {
    fn new(older: &ReleasedClasses, newer: &ReleasedClasses, meeting: &[Vec<u32>]) -> Regions {
        let buckets = older.buckets() + newer.buckets();
        let mut regions = Regions { above: (0..buckets).collect(), older: older.buckets() };
        for pair in meeting {
            let old = older.bucket_of[pair[0] as usize] as usize;
            let new = regions.older + newer.bucket_of[pair[1] as usize] as usize;
            let (one, other) = (regions.find(old), regions.find(new));
            regions.above[one.max(other)] = one.min(other);
        }
        for bucket in 0..buckets {
            regions.above[bucket] = regions.find(bucket);
        }
        regions
    }

    fn find(&mut self, mut bucket: usize) -> usize {
        while self.above[bucket] != bucket {
            self.above[bucket] = self.above[self.above[bucket]];
            bucket = self.above[bucket];
        }
        bucket
    }

    /// The regions in which some value occurs more or less often than before.
    fn changes(&self, older: &ReleasedClasses, newer: &ReleasedClasses, protect: &str) -> Vec<Change> {
        let mut rows: HashMap<(usize, &str), i64> = HashMap::new();
        let mut classes: HashMap<usize, (Result<usize, usize>, usize)> = HashMap::new();
        for (table, first, sign) in [(newer, self.older, 1), (older, 0, -1)] {
            let Some(sensitive) = table.sensitive(protect) else { continue };
            for bucket in 0..table.buckets() {
                let region = self.above[first + bucket];
                for &(value, count) in sensitive.of_bucket(bucket as u32) {
                    *rows.entry((region, &sensitive.values[value as usize])).or_default() += sign * i64::from(count);
                }
            }
            for class in 0..table.len() {
                let region = self.above[first + table.bucket_of[class] as usize];
                let named = if sign > 0 { Ok(class) } else { Err(class) };
                let known = classes.entry(region).or_insert((named, 0));
                // A class with the same cells in the older release is the same class.
                known.1 += usize::from(known.0 != named && !same_cells(older, newer, known.0, named));
            }
        }
        let mut changes: HashMap<usize, Change> = HashMap::new();
        for ((region, value), rows) in rows.into_iter().filter(|(_, rows)| *rows != 0) {
            let (class, others) = classes[&region];
            let change =
                changes.entry(region).or_insert_with(|| Change { class, others, came: Vec::new(), went: Vec::new() });
            let side = if rows > 0 { &mut change.came } else { &mut change.went };
            side.push((value.to_owned(), rows.unsigned_abs()));
        }
        let mut changes: Vec<(usize, Change)> = changes.into_iter().collect();
        changes.sort_unstable_by_key(|(region, _)| *region);
        for (_, change) in &mut changes {
            change.came.sort_unstable();
            change.went.sort_unstable();
        }
        changes.into_iter().map(|(_, change)| change).collect()
    }
}

fn same_cells(
    older: &ReleasedClasses,
    newer: &ReleasedClasses,
    one: Result<usize, usize>,
    other: Result<usize, usize>,
) -> bool {
    let cells = |class: Result<usize, usize>| match class {
        Ok(class) => newer.describe(class),
        Err(class) => older.describe(class),
    };
    cells(one) == cells(other)
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::super::testing::classes;
    use super::*;
    use crate::testing::seeds;

    fn table(rows: &[[&str; 2]]) -> ReleasedClasses {
        classes(&["age", "disease"], rows)
    }

    fn differ(older: &[[&str; 2]], newer: &[[&str; 2]]) -> Finding {
        run(("1", &table(older)), ("2", &table(newer)), "disease").unwrap()
    }

    const FIRST: [[&str; 2]; 4] = [["old", "flu"], ["old", "HIV"], ["young", "flu"], ["young", "cold"]];

    #[test]
    fn a_single_arrival_is_disclosed_by_the_difference() {
        let second = [FIRST.as_slice(), &[["old", "HIV"]]].concat();
        let found = differ(&FIRST, &second);
        assert_eq!((found.people, found.at_risk, found.effective_l), (1, 1, Some(1)));
        assert_eq!(found.worst[0].why, "who appeared in these cells: 1 × `HIV`");
        assert_eq!((&found.details["appeared"], &found.details["left"]), (&json!(1), &json!(0)));
        let gone = differ(&second, &FIRST);
        assert_eq!(gone.worst[0].why, "who left these cells: 1 × `HIV`");
        let changed = differ(&FIRST, &[["old", "flu"], ["old", "cold"], ["young", "flu"], ["young", "cold"]]);
        assert_eq!(changed.worst[0].why, "1 × `HIV` went and 1 × `cold` came in these cells");
        assert_eq!((&changed.details["changed"], &changed.details["left"]), (&json!(1), &json!(0)));
        let nothing_came = differ(&FIRST, &FIRST[2..]);
        assert_eq!(nothing_came.worst[0].why, "who left these cells: 1 × `HIV`, 1 × `flu`");
    }

    #[test]
    fn unchanged_releases_and_several_arrivals_disclose_no_one() {
        let same = differ(&FIRST, &FIRST);
        assert_eq!((same.people, same.at_risk, same.effective_l), (0, 0, None));
        let second = [FIRST.as_slice(), &[["old", "HIV"], ["old", "flu"]]].concat();
        let found = differ(&FIRST, &second);
        assert_eq!((found.people, found.at_risk, found.effective_l), (2, 0, Some(2)));
        assert!(run(("1", &table(&FIRST)), ("2", &table(&FIRST)), "salary").is_none());
    }

    /// The second release has other cells: those that meet are compared together.
    #[test]
    fn cells_that_were_cut_otherwise_are_compared_as_one_region() {
        let older = [["0..20", "flu"], ["0..20", "HIV"], ["20..40", "cold"], ["40..60", "ache"], ["40..60", "flu"]];
        let newer = [
            ["0..10", "flu"],
            ["10..30", "HIV"],
            ["30..40", "cold"],
            ["30..40", "gout"],
            ["40..60", "ache"],
            ["40..60", "flu"],
        ];
        let found = differ(&older, &newer);
        assert_eq!((found.people, found.at_risk, found.effective_l), (1, 1, Some(1)));
        assert_eq!(found.worst[0].why, "who appeared in these cells or 4 that hang together with them: 1 × `gout`");
    }

    /// People with ages below 60 in cells of random widths: by region, what a count of all values
    /// shows.
    #[test]
    fn random_changes_agree_with_counting_people_by_region() {
        let values = ["a", "b", "c"];
        for seed in seeds(300) {
            let mut rng = StdRng::seed_from_u64(seed);
            let widths = [rng.random_range(1..4u32) * 10, rng.random_range(1..4u32) * 10];
            let mut people: Vec<(u32, &str)> = (0..rng.random_range(1..12))
                .map(|_| (rng.random_range(0..60), values[rng.random_range(0..3)]))
                .collect();
            let released = |people: &[(u32, &'static str)], width: u32| -> Vec<(String, &'static str)> {
                let label = |age: u32| format!("{}..{}", age / width * width, age / width * width + width);
                people.iter().map(|&(age, value)| (label(age), value)).collect()
            };
            let older_people = people.clone();
            if rng.random_bool(0.5) && people.len() > 1 {
                people.swap_remove(0);
            }
            people
                .extend((0..rng.random_range(0..3)).map(|_| (rng.random_range(0..60), values[rng.random_range(0..3)])));
            let (older, newer) = (released(&older_people, widths[0]), released(&people, widths[1]));
            let rows = |released: &[(String, &'static str)]| -> ReleasedClasses {
                let rows: Vec<[&str; 2]> = released.iter().map(|(label, value)| [label.as_str(), *value]).collect();
                table(&rows)
            };
            let found = run(("1", &rows(&older)), ("2", &rows(&newer)), "disease").unwrap();
            // Regions by walking: two ages are connected when one nonempty cell of either release
            // holds both.
            let filled = |released: &[(String, &str)], width: u32, age: u32| {
                released
                    .iter()
                    .any(|(label, _)| *label == format!("{}..{}", age / width * width, age / width * width + width))
            };
            let mut region: Vec<u32> = (0..60).collect();
            for _ in 0..60 {
                for (released, width) in [(&older, widths[0]), (&newer, widths[1])] {
                    for age in (0..60).filter(|&age| filled(released, width, age)) {
                        let cell = (age / width * width..(age / width * width + width).min(60))
                            .map(|age| region[age as usize]);
                        region[age as usize] = cell.min().unwrap();
                    }
                }
            }
            let (mut at_risk, mut all) = (0, 0);
            for number in 0..60 {
                let count = |people: &[(u32, &str)], value: &str| {
                    people.iter().filter(|(age, own)| region[*age as usize] == number && *own == value).count() as i64
                };
                let change: Vec<i64> =
                    values.iter().map(|value| count(&people, value) - count(&older_people, value)).collect();
                for sign in [1, -1] {
                    let moved: Vec<i64> = change.iter().map(|rows| rows * sign).filter(|rows| *rows > 0).collect();
                    all += moved.iter().sum::<i64>();
                    at_risk += if moved.len() == 1 { moved[0] } else { 0 };
                }
            }
            assert_eq!((found.people as i64, found.at_risk as i64), (all, at_risk), "seed {seed}: {older:?} {newer:?}");
        }
    }
}
