//! The deFinetti attack on buckets (Kifer: *Attacks on privacy and deFinetti's theorem*, 2009): a
//! bucket hides which of its rows has which value, but all buckets together show how
//! quasi-identifiers and sensitive values go together, and that sorts the values of each bucket out
//! again.
//!
//! Iterated naive Bayes. To begin with, every row of a bucket has each of its values as often as
//! the bucket does. Then in turn: learn P(q | s) of every quasi-identifier from the rows so
//! weighed; weigh the values of each row anew by Π P(q | s), and scale each bucket until its rows
//! and its values add up again. The baseline is the adversary who infers each bucket's most
//! frequent value. Cost per round: rows × values of a bucket × attributes.

use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Column, Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::finding::{Exposure, Finding, ReleaseCells, Worst, likeliest_first};
use crate::people::FoundPeople;

const ROUNDS: usize = 20;
const SCALINGS: usize = 20;

/// The beliefs about one bucket: by class, then by value, how many rows of the class have the
/// value.
struct Belief {
    classes: Vec<u32>,
    values: Vec<(u32, u32)>,
    rows: Vec<f64>,
}

/// With people whose true value is known, the inferences about them are compared with it.
pub(crate) fn run(
    name: &str,
    classes: &ReleasedClasses,
    sensitive: &SensitiveCounts,
    people: Option<&Table>,
) -> Result<Finding, TableError> {
    let mut finding = Finding::new(Adversary::Definetti, vec![name.to_owned()], Some(&sensitive.name));
    if classes.len() == classes.buckets() {
        finding.note("every class lists its own values, so the attack has no bucket to sort out");
        return Ok(finding);
    }
    let beliefs = learn(classes, sensitive);
    let (mut worst, mut learned, mut baseline) = (Worst::new(), 0.0, 0.0);
    for belief in &beliefs {
        let size: u64 = belief.values.iter().map(|&(_, count)| u64::from(count)).sum();
        let most = belief.values.iter().map(|&(_, count)| count).max().unwrap_or_default();
        finding.people += size;
        baseline += f64::from(most);
        for (row, &class) in belief.classes.iter().enumerate() {
            let believed = &belief.rows[row * belief.values.len()..(row + 1) * belief.values.len()];
            let rows = f64::from(classes.sizes[class as usize]);
            let top = believed.iter().copied().fold(0.0, f64::max) / rows;
            learned += top * rows;
            finding.max_confidence = finding.max_confidence.max(top);
            worst.offer((-top, class), || {
                let values = belief.values.iter().zip(believed);
                let values =
                    values.map(|(&(value, _), share)| (sensitive.values[value as usize].clone(), share / rows));
                let mut values: Vec<(String, f64)> = values.collect();
                likeliest_first(&mut values);
                Exposure {
                    cells: vec![ReleaseCells::new(name, classes.describe(class as usize))],
                    values,
                    people: rows as u64,
                    why: format!("a bucket of {size} rows, where the most frequent value is right in {most}"),
                }
            });
        }
    }
    let examined = finding.people.max(1) as f64;
    finding.effective_l = beliefs.iter().map(|belief| belief.values.len() as u64).min();
    finding.details.insert("expected_accuracy".to_owned(), json!(learned / examined));
    finding.details.insert("baseline".to_owned(), json!(baseline / examined));
    if let Some((people, truth)) = people.and_then(|people| Some((people, people.column(&sensitive.name)?))) {
        let inferred = infer(name, classes, sensitive, &beliefs, people, truth)?;
        let share = |right: u64| right as f64 / inferred.people.max(1) as f64;
        finding.details.insert("inferred".to_owned(), json!(inferred.people));
        finding.details.insert("true_accuracy".to_owned(), json!(share(inferred.by_belief)));
        finding.details.insert("true_baseline".to_owned(), json!(share(inferred.by_bucket)));
    }
    finding.note("what the adversary believes: likely, not certain");
    finding.worst = worst.into_vec();
    Ok(finding)
}

/// People for whom both adversaries inferred a value, and how often each was right.
struct Inferred {
    people: u64,
    by_belief: u64,
    by_bucket: u64,
}

/// For each person the likeliest value over the classes that they can be in, by belief and by the
/// buckets' counts alone.
fn infer(
    name: &str,
    classes: &ReleasedClasses,
    sensitive: &SensitiveCounts,
    beliefs: &[Belief],
    people: &Table,
    truth: &Column,
) -> Result<Inferred, TableError> {
    let found = FoundPeople::new(name, classes, people)?;
    let mut places = vec![(0u32, 0u32); classes.len()];
    for (number, belief) in (0..).zip(beliefs) {
        (0..).zip(&belief.classes).for_each(|(row, &class)| places[class as usize] = (number, row));
    }
    let likeliest = |place: &Vec<u32>| -> Option<[u32; 2]> {
        let mut weights = [vec![0.0; sensitive.values.len()], vec![0.0; sensitive.values.len()]];
        for &class in place {
            let (belief, row) = places[class as usize];
            let belief = &beliefs[belief as usize];
            let share =
                f64::from(classes.sizes[class as usize]) / f64::from(belief.values.iter().map(|v| v.1).sum::<u32>());
            let believed = &belief.rows[row as usize * belief.values.len()..];
            for (&(value, count), rows) in belief.values.iter().zip(believed) {
                weights[0][value as usize] += rows;
                weights[1][value as usize] += f64::from(count) * share;
            }
        }
        let best = |weights: &[f64]| {
            let (value, weight) =
                (0..).zip(weights).fold((0, 0.0), |best, (v, &w)| if w > best.1 { (v, w) } else { best });
            (weight > 0.0).then_some(value)
        };
        Some([best(&weights[0])?, best(&weights[1])?])
    };
    let inferences: Vec<Option<[u32; 2]>> = found.places.iter().map(likeliest).collect();
    let code =
        |code: u32| sensitive.values.iter().position(|value| *value == truth.domain.text(code)).map(|at| at as u32);
    let truths: Vec<Option<u32>> = (0..truth.domain.cardinality() as u32).map(code).collect();
    let mut inferred = Inferred { people: 0, by_belief: 0, by_bucket: 0 };
    for (row, &place) in found.of_person.iter().enumerate() {
        let Some([by_belief, by_bucket]) = inferences[place as usize] else { continue };
        let truth = truths[truth.codes.get(row) as usize];
        inferred.people += 1;
        inferred.by_belief += u64::from(truth == Some(by_belief));
        inferred.by_bucket += u64::from(truth == Some(by_bucket));
    }
    Ok(inferred)
}

fn learn(classes: &ReleasedClasses, sensitive: &SensitiveCounts) -> Vec<Belief> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); classes.buckets()];
    for (class, &bucket) in classes.bucket_of.iter().enumerate() {
        members[bucket as usize].push(class as u32);
    }
    let mut beliefs: Vec<Belief> = (0..)
        .zip(members)
        .map(|(bucket, members)| {
            let values = sensitive.of_bucket(bucket).to_vec();
            let size = f64::from(classes.bucket_sizes[bucket as usize]);
            let rows = members.iter().flat_map(|&class| {
                let share = f64::from(classes.sizes[class as usize]) / size;
                values.iter().map(move |&(_, count)| f64::from(count) * share)
            });
            Belief { rows: rows.collect(), classes: members, values }
        })
        .collect();
    for _ in 0..ROUNDS {
        let likelihoods = likelihoods(classes, sensitive, &beliefs);
        for belief in &mut beliefs {
            reweigh(classes, belief, &likelihoods, sensitive.values.len());
        }
    }
    beliefs
}

/// ln P(label | value) of every attribute, by label and then by value, smoothed by as many rows as
/// there are labels. These have the labels as often as the whole table: with each label once,
/// values of few rows would seem to go with rare labels, where nothing goes with anything.
fn likelihoods(classes: &ReleasedClasses, sensitive: &SensitiveCounts, beliefs: &[Belief]) -> Vec<Vec<f64>> {
    let values = sensitive.values.len();
    let totals = sensitive.totals();
    let all = classes.sizes.iter().map(|&size| f64::from(size)).sum::<f64>();
    let of_attribute = |(attribute, quasi): (usize, &hedgerow_release::classes::QuasiLabels)| {
        let mut rows = vec![0.0; quasi.labels.len() * values];
        for belief in beliefs {
            for (row, &class) in belief.classes.iter().enumerate() {
                let label = classes.cells(class as usize)[attribute] as usize;
                let believed = &belief.rows[row * belief.values.len()..];
                for (&(value, _), share) in belief.values.iter().zip(believed) {
                    rows[label * values + value as usize] += share;
                }
            }
        }
        let mut of_label = vec![0.0; quasi.labels.len()];
        for (class, &size) in classes.sizes.iter().enumerate() {
            of_label[classes.cells(class)[attribute] as usize] += f64::from(size) / all;
        }
        let labels = quasi.labels.len() as f64;
        for (index, rows) in rows.iter_mut().enumerate() {
            let smoothing = labels * of_label[index / values];
            *rows = ((*rows + smoothing) / (totals[index % values] as f64 + labels)).ln();
        }
        rows
    };
    classes.quasi.iter().enumerate().map(of_attribute).collect()
}

/// Weighs by likelihood, then scales rows and values in turn until the bucket adds up.
fn reweigh(classes: &ReleasedClasses, belief: &mut Belief, likelihoods: &[Vec<f64>], values: usize) {
    let width = belief.values.len();
    for (row, &class) in belief.classes.iter().enumerate() {
        let cells = classes.cells(class as usize);
        let ln = |value: u32| -> f64 {
            let of_labels = likelihoods.iter().zip(cells);
            of_labels.map(|(likelihood, &label)| likelihood[label as usize * values + value as usize]).sum()
        };
        let lns: Vec<f64> = belief.values.iter().map(|&(value, _)| ln(value)).collect();
        let top = lns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (column, ln) in lns.iter().enumerate() {
            belief.rows[row * width + column] = (ln - top).exp();
        }
    }
    for _ in 0..SCALINGS {
        for (column, &(_, count)) in belief.values.iter().enumerate() {
            let sum: f64 = belief.rows.iter().skip(column).step_by(width).sum();
            belief.rows.iter_mut().skip(column).step_by(width).for_each(|rows| *rows *= f64::from(count) / sum);
        }
        for (row, &class) in belief.rows.chunks_exact_mut(width).zip(&belief.classes) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|rows| *rows *= f64::from(classes.sizes[class as usize]) / sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_release::cloned::{CloneClass, Cloned, OfAttribute, SubClass};
    use hedgerow_table::{Cover, Domain};

    use super::*;

    /// Buckets of two rows, one with each value. `habit` determines the value in all buckets but
    /// the first.
    fn buckets(count: usize, planted: bool) -> ReleasedClasses {
        let mut quasi: Vec<Vec<String>> = Vec::new();
        let mut cells = Vec::new();
        for bucket in 0..count as u32 {
            for member in 0..2u32 {
                // Where nothing is planted, some buckets have two of a kind, and no kind has one
                // value more often.
                let habit = if planted || bucket % 4 > 1 { member } else { bucket % 4 };
                quasi.push(vec![["smokes", "does not"][habit as usize].to_owned(), format!("{bucket:03}")]);
                cells.push((bucket, member, 1));
            }
        }
        // One bucket in five has two smokers: there the values show more than the habit does.
        if planted {
            for bucket in (0..count).step_by(5) {
                quasi[2 * bucket][0] = "smokes".to_owned();
                quasi[2 * bucket + 1][0] = "smokes".to_owned();
                cells[2 * bucket + 1].1 = 0;
            }
        }
        let rows: Vec<Vec<&str>> = quasi.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["habit", "group"], &rows);
        let values = vec!["cancer".to_owned(), "flu".to_owned()];
        let counts = SensitiveCounts::new("disease".to_owned(), values, count, cells);
        let covers = |_: &str, label: &str| Cover::Leaves(vec![label.to_owned()]);
        ReleasedClasses::of_bucketized("data", &table, &["habit".to_owned()], vec![counts], covers, "t").unwrap()
    }

    #[test]
    fn shares_over_all_buckets_separate_the_rows_of_each() {
        let planted = buckets(100, true);
        let found = run("r", &planted, &planted.sensitive[0], None).unwrap();
        let (learned, baseline) = (&found.details["expected_accuracy"], &found.details["baseline"]);
        assert_eq!(baseline, &json!(0.6));
        assert!(learned.as_f64().unwrap() > 0.9, "{learned}");
        let worst = &found.worst[0];
        assert!(worst.values[0].1 > 0.9, "{worst:?}");
    }

    /// Six smokers of ten have cancer in truth, and four of the five who do not smoke have flu;
    /// buckets alone show neither.
    #[test]
    fn inferences_are_compared_with_the_truth() {
        let planted = buckets(100, true);
        let mut people = vec![vec!["smokes", "cancer"]; 6];
        people.extend(vec![vec!["smokes", "flu"]; 4]);
        people.extend(vec![vec!["does not", "flu"]; 4]);
        people.push(vec!["does not", "cancer"]);
        people.push(vec!["chews", "flu"]);
        let people = Table::from_texts(&["habit", "disease"], &people);
        let found = run("r", &planted, &planted.sensitive[0], Some(&people)).unwrap();
        assert_eq!(found.details["inferred"], json!(15));
        assert_eq!(found.details["true_accuracy"], json!(10.0 / 15.0));
        let baseline = found.details["true_baseline"].as_f64().unwrap();
        assert!(baseline < 10.0 / 15.0, "{baseline}");
    }

    /// A class of men, a class of women and one of as many of both, by their counts of three
    /// values.
    fn clones(men: [u32; 3], women: [u32; 3]) -> ReleasedClasses {
        let part = |men: u64, women: u64| {
            let categories = [(0, women), (1, men)].into_iter().filter(|&(_, count)| count > 0).collect();
            let sex = OfAttribute { categories, ..OfAttribute::default() };
            SubClass { number: 1, tuples: men + women, counterfeits: 0, attributes: vec![sex] }
        };
        let values = |counts: [u32; 3]| (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
        let both: Vec<u32> = men.iter().zip(&women).map(|(men, women)| men + women).collect();
        let [of_men, of_women]: [u64; 2] =
            [men, women].map(|counts| counts.iter().map(|&count| u64::from(count)).sum());
        let class = |number: i64, values: Vec<(u32, u32)>, sub_classes: Vec<SubClass>| CloneClass {
            number,
            values,
            sub_classes,
        };
        let both = values([both[0], both[1], both[2]]);
        let classes = vec![
            class(1, values(men), vec![part(of_men, 0)]),
            class(2, values(women), vec![part(0, of_women)]),
            class(3, both, vec![part(of_men, 0), part(0, of_women)]),
        ];
        let cloned = Cloned {
            sensitive: "disease".to_owned(),
            domain: Domain::from_texts(&["cancer", "cold", "flu"], false, None).unwrap().0,
            counted: Table::from_texts(&["class"], &[vec!["1"]]),
            attributes: vec!["sex".to_owned()],
            texts: vec!["F".to_owned(), "M".to_owned()],
            classes,
        };
        ReleasedClasses::of_cloned("data", &cloned)
    }

    /// Section 6.2 of the paper about clones says that the attack succeeds where shares differ by
    /// much between classes and table.
    #[test]
    fn clones_with_equal_shares_teach_nothing_and_classes_with_other_shares_do() {
        let learned = |classes: &ReleasedClasses| {
            let found = run("r", classes, &classes.sensitive[0], None).unwrap();
            let number = |key: &str| found.details[key].as_f64().unwrap();
            (number("expected_accuracy"), number("baseline"), found.max_confidence)
        };
        for [men, women] in [[[6, 3, 1], [6, 3, 1]], [[6, 3, 1], [18, 9, 3]], [[60, 3, 1], [180, 9, 3]]] {
            let (accuracy, baseline, most) = learned(&clones(men, women));
            assert!((accuracy - baseline).abs() < 1e-9, "{men:?}, {women:?}: {accuracy} and {baseline}");
            assert!((most - baseline).abs() < 1e-9, "{men:?}, {women:?}: {most} and {baseline}");
        }
        let (accuracy, baseline, _) = learned(&clones([6, 3, 1], [1, 3, 6]));
        assert!(accuracy > baseline + 0.05, "{accuracy} and {baseline}");
    }

    #[test]
    fn where_nothing_correlates_nothing_is_learned() {
        let safe = buckets(100, false);
        let found = run("r", &safe, &safe.sensitive[0], None).unwrap();
        assert_eq!(found.people, 200);
        assert!(found.max_confidence < 0.5 + 1e-9, "{}", found.max_confidence);
    }
}
