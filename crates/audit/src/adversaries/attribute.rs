//! The strongest inference about a sensitive attribute within one release, class by class.
//!
//! - *homogeneity*: a class with one value discloses it; the confidence is the largest share of a
//!   value in any class.
//! - *skew*: how many times likelier a value is in a class than in the table.
//! - *proximity*, for numbers: the narrowest class, as a share of the range of the table. Values
//!   that differ but lie close together disclose nearly as much as one value.
//!
//! Each comes with the class in which it is the strongest. With a list of people, a person's class
//! is what they can be in.

use hashbrown::HashMap;
use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::combined_view::{CombinedView, PersonView};
use crate::finding::{Exposure, Finding, ReleaseCells, Worst, likeliest_first, named};
use crate::linked::{Alike, Linked, UNITS_COUNTED};

/// The fact that is not used of people who are listed and not in the release.
const NOT_IN_THE_RELEASE: &str = "that a person who fits a class may not be in the release";

/// The released values of some people who look alike.
struct Described {
    view: PersonView,
    people: u64,
    truth: Option<u32>,
}

pub(crate) fn run(
    name: &str,
    classes: &ReleasedClasses,
    sensitive: &SensitiveCounts,
    people: Option<&Table>,
) -> Result<Finding, TableError> {
    let mut finding = Finding::new(Adversary::Attribute, vec![name.to_owned()], Some(&sensitive.name));
    let mut combined = CombinedView::new(&sensitive.name, &[(name, classes, false)]);
    let (described, of_person) = match people {
        None => (of_buckets(&combined), Vec::new()),
        Some(people) => of_people(&mut combined, people)?,
    };
    let Some(side) = combined.sides.first() else { return Ok(finding) };
    let rows: u64 = side.totals.iter().sum();
    let numbers = numbers(&combined.values);
    let range = numbers.as_ref().map(|numbers| spread(numbers.iter().copied())).filter(|range| *range > 0.0);
    let (mut worst, mut skewed, mut narrow) = (Worst::new(), Worst::new(), Worst::new());
    let (mut known, mut hits) = (0u64, 0u64);
    // The list has people who are not in the release, by their value.
    let mut has_others = false;
    let mut places: Vec<(bool, f64)> = Vec::with_capacity(described.len());
    for Described { view, people, truth } in &described {
        let Some(&class) = view.classes.first() else {
            finding.not_in_release(*people);
            places.push((false, 0.0));
            continue;
        };
        finding.people += people;
        finding.leave(view.values.len() as u64, *people);
        finding.at_risk += if view.values.len() == 1 { *people } else { 0 };
        finding.effective_k = Some(finding.effective_k.map_or(view.rows, |least| least.min(view.rows)));
        let shares = view.values.iter().map(|&(value, rows)| (value, rows / view.rows as f64));
        let (likeliest, top) = highest(shares.clone());
        finding.max_confidence = finding.max_confidence.max(top);
        places.push((view.values.len() == 1, top));
        if let Some(truth) = truth {
            known += people;
            hits += if likeliest == *truth { *people } else { 0 };
            has_others |= view.values.iter().all(|(value, _)| value != truth);
        }
        let exposure = |why: String| {
            let mut values: Vec<(String, f64)> =
                shares.clone().map(|(value, share)| (combined.text(value).to_owned(), share)).collect();
            likeliest_first(&mut values);
            let cells = vec![ReleaseCells::new(name, classes.describe(class as usize))];
            Exposure { cells, values, people: *people, why }
        };
        let least = (-top, view.values.len(), u64::MAX - people);
        worst.offer(least, || exposure("the values of this class".to_owned()));
        let lifts =
            shares.clone().map(|(value, share)| (value, share * rows as f64 / side.totals[value as usize] as f64));
        let (lifted, lift) = highest(lifts);
        skewed.offer((-lift, class), || {
            (lift, exposure(format!("{} is {lift:.1} times as likely as in the table", named(combined.text(lifted)))))
        });
        if let (Some(numbers), Some(range)) = (&numbers, range) {
            let share = spread(view.values.iter().map(|&(value, _)| numbers[value as usize])) / range;
            let why = || format!("all values of this class lie within {:.1} % of their range", share * 100.0);
            narrow.offer((share, class), || (share, exposure(why())));
        }
    }
    has_others |= people.is_some() && finding.people != rows;
    if has_others {
        finding.details.insert("ignores".to_owned(), json!(NOT_IN_THE_RELEASE));
    }
    finding.list_people(&of_person, &places);
    finding.worst = worst.into_vec();
    if let Some((lift, exposure)) = skewed.into_vec().into_iter().next() {
        finding.details.insert("skew".to_owned(), json!(lift));
        finding.also.push(exposure);
    }
    if let Some((share, exposure)) = narrow.into_vec().into_iter().next() {
        finding.details.insert("narrowest_share_of_range".to_owned(), json!(share));
        finding.also.push(exposure);
    }
    if known > 0 {
        finding.details.insert("correct_inferences".to_owned(), json!(hits));
    }
    Ok(finding)
}

/// The same of a release that links the rows of a unit: every unit is a person, known by all its
/// rows, and the units whose rows are in the same classes are those that it can be. A value that
/// all of them have in a class is disclosed, also where some have others besides.
pub(crate) fn run_linked(name: &str, classes: &ReleasedClasses, linked: &Linked<'_>, protect: &str) -> Option<Finding> {
    let column = linked.table.column(protect)?;
    let values = linked.values(column);
    let mut finding = Finding::new(Adversary::Attribute, vec![name.to_owned()], Some(protect));
    let mut worst = Worst::new();
    for Alike { classes: in_classes, units } in linked.alike() {
        let people = units.len() as u64;
        let (mut top, mut left) = (0.0f64, u64::MAX);
        for class in in_classes.chunk_by(|a, b| a == b).map(|equal| equal[0]) {
            let mut having: HashMap<u32, u64> = HashMap::new();
            for unit in &units {
                values
                    .get(&(*unit, class))
                    .into_iter()
                    .flatten()
                    .for_each(|&value| *having.entry(value).or_default() += 1);
            }
            let most = having.values().copied().max().unwrap_or(0);
            // A value that every unit has leaves no choice.
            let here = if most == people { 1 } else { having.len() as u64 };
            let share = most as f64 / people.max(1) as f64;
            worst.offer((-share, here, u64::MAX - people, class), || {
                let share = |rows: u64| rows as f64 / people.max(1) as f64;
                let mut values: Vec<(String, f64)> =
                    having.iter().map(|(&value, &rows)| (column.domain.text(value), share(rows))).collect();
                likeliest_first(&mut values);
                let cells = vec![ReleaseCells::new(name, classes.describe(class as usize))];
                Exposure {
                    cells,
                    values,
                    people,
                    why: "the values of the units whose rows are in the same classes".to_owned(),
                }
            });
            (top, left) = (top.max(share), left.min(here));
        }
        finding.people += people;
        finding.leave(left, people);
        finding.at_risk += if left <= 1 { people } else { 0 };
        finding.effective_k = Some(finding.effective_k.map_or(people, |least| least.min(people)));
        finding.max_confidence = finding.max_confidence.max(top);
    }
    finding.worst = worst.into_vec();
    finding.note(UNITS_COUNTED);
    Some(finding)
}

/// Of each bucket, by its first class.
fn of_buckets(combined: &CombinedView<'_>) -> Vec<Described> {
    let Some(side) = combined.sides.first() else { return Vec::new() };
    let mut first = vec![None; side.classes.buckets()];
    for (class, &bucket) in side.classes.bucket_of.iter().enumerate().rev() {
        first[bucket as usize] = Some(class as u32);
    }
    let buckets = first.into_iter().zip(&side.classes.bucket_sizes);
    buckets
        .filter_map(|(class, &size)| {
            let mut view = side.view(vec![class?]);
            // All rows of the bucket, not only those of its first class.
            let scale = f64::from(size) / view.rows as f64;
            view.values.iter_mut().for_each(|(_, rows)| *rows *= scale);
            view.rows = u64::from(size);
            Some(Described { view, people: u64::from(size), truth: None })
        })
        .collect()
}

/// The released values of each combination, and the combination of each person.
fn of_people(combined: &mut CombinedView<'_>, people: &Table) -> Result<(Vec<Described>, Vec<u32>), TableError> {
    let group = combined.people(people)?;
    let views = &combined.sides[0].views;
    let described = group.combinations.iter().map(|combination| Described {
        view: views[combination.views[0] as usize].clone(),
        people: combination.people,
        truth: combination.truth,
    });
    Ok((described.collect(), group.of_person))
}

fn highest(values: impl Iterator<Item = (u32, f64)>) -> (u32, f64) {
    values.fold((u32::MAX, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// The values as numbers, when all of them are.
fn numbers(values: &[String]) -> Option<Vec<f64>> {
    values.iter().map(|value| value.parse().ok().filter(|number: &f64| number.is_finite())).collect()
}

fn spread(numbers: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    high - low
}

#[cfg(test)]
mod tests {
    use super::super::testing::classes;
    use super::*;

    const NAMES: [&str; 2] = ["age", "salary"];

    fn attack(rows: &[[&str; 2]], people: Option<&Table>) -> Finding {
        let classes = classes(&NAMES, rows);
        run("r", &classes, &classes.sensitive[0], people).unwrap()
    }

    #[test]
    fn a_class_of_one_value_is_found_and_close_numbers_are_reported() {
        let found = attack(&[["old", "50"], ["old", "50"], ["young", "10"], ["young", "110"]], None);
        assert_eq!((found.people, found.at_risk, found.effective_l), (4, 2, Some(1)));
        assert_eq!(found.max_confidence, 1.0);
        assert_eq!(found.worst[0].values, [("50".to_owned(), 1.0)]);
        assert_eq!(found.details["skew"], json!(2.0));
        assert_eq!(found.details["narrowest_share_of_range"], json!(0.0));
        let found = attack(&[["old", "50"], ["old", "60"], ["young", "10"], ["young", "110"]], None);
        assert_eq!((found.at_risk, found.effective_l, found.max_confidence), (0, Some(2), 0.5));
        assert_eq!(found.details["narrowest_share_of_range"], json!(0.1));
        let why: Vec<&str> = found.also.iter().map(|exposure| exposure.why.as_str()).collect();
        assert_eq!(why[1], "all values of this class lie within 10.0 % of their range");
        assert_eq!(found.also[1].cells[0].cells, [("age".to_owned(), "old".to_owned())]);
    }

    /// Three of four old people have the value 50, which is what the adversary infers for each of
    /// them.
    #[test]
    fn guesses_are_compared_with_the_truth() {
        let rows = [["old", "50"], ["old", "50"], ["old", "50"], ["old", "60"], ["young", "10"], ["young", "60"]];
        let people = Table::from_texts(
            &NAMES,
            &[vec!["old", "50"], vec!["old", "50"], vec!["old", "60"], vec!["ancient", "10"]],
        );
        let found = attack(&rows, Some(&people));
        assert_eq!((found.people, found.at_risk, found.effective_l), (4, 0, Some(2)));
        assert_eq!(found.max_confidence, 0.75);
        assert_eq!((&found.details["correct_inferences"], &found.details["not_in_release"]), (&json!(2), &json!(1)));
    }
}
