//! Planted breaches and safe cases, and random communities against looking at every person and
//! every row.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use hedgerow_release::Codebook;
use serde_json::{Value, json};

use super::*;
use crate::Adversary;
use crate::adversaries::testing::cover;
use crate::finding::WorstPair;
use crate::testing::seeds;

/// A release of rows with the columns `names`, the last of them sensitive. A label `low..high` is
/// an interval.
pub(super) fn release(name: &str, names: &[&str], rows: &[Vec<String>]) -> Release {
    let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(names, &cells);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let (sensitive, quasi) = names.split_last().unwrap();
    let sensitive = [sensitive.clone()];
    let mut codebook = Codebook::new();
    for column in table.columns.iter().filter(|column| quasi.contains(&column.name)) {
        for label in (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code)) {
            codebook.insert(&column.name, &label, &cover(&column.name, &label)).unwrap();
        }
    }
    Release::of_table(name, table, quasi.to_vec(), sensitive.to_vec(), codebook).unwrap()
}

fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
}

fn counted(counts: &[(&str, &str, usize)]) -> Vec<Vec<String>> {
    let row = |&(cell, value, count): &(&str, &str, usize)| vec![vec![cell.to_owned(), value.to_owned()]; count];
    counts.iter().flat_map(row).collect()
}

/// Tables 2 and 7 of the paper on twelve people.
fn departments() -> [Release; 2] {
    let age =
        [("40..", "High", 4), ("40..", "Middle", 2), ("40..", "Low", 2), ("..40", "Middle", 2), ("..40", "Low", 2)];
    let zip = [
        ("20000..", "High", 2),
        ("20000..", "Middle", 4),
        ("20000..", "Low", 2),
        ("..20000", "High", 2),
        ("..20000", "Low", 2),
    ];
    [release("revenue", &["age", "salary"], &counted(&age)), release("census", &["zip", "salary"], &counted(&zip))]
}

fn find<'a>(audited: &'a Audited, name: &str) -> &'a Finding {
    audited.findings.iter().find(|finding| finding.adversary.name() == name).unwrap()
}

#[test]
fn the_twelve_people_are_safe_in_each_table_and_not_in_both() {
    let both = departments();
    for one in &both {
        let alone = audit(std::slice::from_ref(one), &AuditOptions::default()).unwrap();
        assert!(!alone.breach);
        assert_eq!(find(&alone, "attribute").effective_l, Some(2));
    }
    let together = audit(&both, &AuditOptions { table: true, ..AuditOptions::default() }).unwrap();
    assert!(together.breach);
    let composition = find(&together, "composition");
    assert_eq!((composition.effective_l, composition.people, composition.at_risk), (Some(1), 24, 8));
    assert_eq!(composition.worst[0].values, [("Low".to_owned(), 1.0)]);
    let table = find(&together, "independence").details["table"].clone();
    let of = |age: &str, zip: &str| {
        let is = |row: &&Value| {
            let cells = row["cells"].to_string();
            cells.contains(&format!("\"{age}\"")) && cells.contains(&format!("\"{zip}\""))
        };
        let row = table.as_array().unwrap().iter().find(is).unwrap();
        ["High", "Middle", "Low"].map(|value| {
            let pairs = row["probabilities"].as_array().unwrap();
            pairs.iter().find(|pair| pair[0] == value).map_or(0.0, |pair| pair[1].as_f64().unwrap())
        })
    };
    for (age, zip, expected) in [
        ("40..", "20000..", [0.4, 0.4, 0.2]),
        ("40..", "..20000", [2.0 / 3.0, 0.0, 1.0 / 3.0]),
        ("..40", "20000..", [0.0, 2.0 / 3.0, 1.0 / 3.0]),
        ("..40", "..20000", [0.0, 0.0, 1.0]),
    ] {
        let found = of(age, zip);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{age} {zip}: {found:?}");
    }
    // Kate is 18 and lives in 15341; Eva is 48 and lives in 28544.
    let people = Table::from_texts(&["age", "zip"], &[vec!["18", "15341"], vec!["48", "28544"]]);
    let kate = audit(&both, &AuditOptions { people: Some(&people), ..AuditOptions::default() }).unwrap();
    let composition = find(&kate, "composition");
    assert_eq!((composition.people, composition.at_risk, composition.effective_l), (2, 1, Some(1)));
}

/// Tables 1(b), 2(b) and 3(b) of the paper on cloning, with the classes that matter.
#[test]
fn nancy_david_and_eliza() {
    let one = [
        ("15..41", "M", "C", 1),
        ("15..41", "M", "G", 2),
        ("15..41", "M", "J", 2),
        ("15..51", "F", "C", 1),
        ("15..51", "F", "D", 3),
    ];
    let two = [
        ("10..39", "M", "A", 2),
        ("10..39", "M", "D", 1),
        ("10..39", "M", "G", 1),
        ("10..39", "M", "J", 2),
        ("10..51", "F", "A", 1),
        ("10..51", "F", "D", 2),
        ("10..51", "F", "G", 2),
        ("10..51", "F", "J", 1),
    ];
    let three = [
        ("10..19", "*", "B", 2),
        ("10..19", "*", "J", 2),
        ("10..19", "*", "L", 1),
        ("20..41", "*", "B", 1),
        ("20..41", "*", "G", 2),
        ("20..41", "*", "L", 1),
    ];
    let hospital = |name: &str, counts: &[(&str, &str, &str, usize)]| {
        let row = |&(age, sex, disease, count): &(&str, &str, &str, usize)| {
            vec![vec![age.to_owned(), sex.to_owned(), disease.to_owned()]; count]
        };
        release(name, &["age", "sex", "disease"], &counts.iter().flat_map(row).collect::<Vec<_>>())
    };
    let hospitals = [hospital("1", &one), hospital("2", &two), hospital("3", &three)];
    for (pair, age, sex, disease) in [([0, 1], "50", "F", "D"), ([0, 2], "15", "M", "J"), ([1, 2], "30", "F", "G")] {
        let people = Table::from_texts(&["age", "sex", "disease"], &[vec![age, sex, disease]]);
        let both = pair.map(|hospital| &hospitals[hospital]);
        let found = audit(&both, &AuditOptions { people: Some(&people), ..AuditOptions::default() }).unwrap();
        let composition = find(&found, "composition");
        assert_eq!((composition.at_risk, composition.effective_l), (1, Some(1)), "{disease}");
        assert_eq!(composition.worst[0].values, [(disease.to_owned(), 1.0)]);
        assert_eq!(composition.details["true_hits"], json!(1));
        assert!(found.breach);
    }
    // One class for all people is safe: three values remain, D with 3/7.
    let one_class = |name: &str, counts: &[(&str, &str, &str, usize)]| {
        let counts: Vec<_> = counts.iter().map(|&(_, _, disease, count)| ("*", "*", disease, count)).collect();
        hospital(name, &counts)
    };
    let people = Table::from_texts(&["age", "sex"], &[vec!["50", "F"]]);
    let found = audit(
        &[one_class("1", &one), one_class("2", &two)],
        &AuditOptions { people: Some(&people), ..Default::default() },
    );
    let found = found.unwrap();
    let composition = find(&found, "composition");
    assert_eq!((composition.at_risk, composition.effective_l), (0, Some(3)));
    assert!((composition.max_confidence - 3.0 / 7.0).abs() < 1e-12);
    assert!(!found.breach);
}

/// Of three people, one is left with a single salary, and one has 2/3 for High where the releases
/// are independent.
#[test]
fn people_at_risk_are_listed_by_row_and_a_confidence_limit_adds_to_them() {
    let both = departments();
    let people = Table::from_texts(&["age", "zip"], &[vec!["48", "28544"], vec!["18", "15341"], vec!["50", "15000"]]);
    let options = AuditOptions { people: Some(&people), l: Some(1), ..AuditOptions::default() };
    let found = audit(&both, &options).unwrap();
    assert!(!found.breach, "nobody is left without a value");
    for name in ["composition", "independence"] {
        assert_eq!(find(&found, name).people_at_risk, [1], "{name}");
    }
    assert!(find(&found, "attribute").people_at_risk.is_empty());
    let limited = audit(&both, &AuditOptions { confidence: Some(0.6), ..options.clone() }).unwrap();
    let independence = find(&limited, "independence");
    assert_eq!(independence.people_at_risk, [1, 2]);
    assert_eq!(independence.details["above_confidence"], json!({ "limit": 0.6, "people": 2 }));
    assert!(limited.breach && independence.breach && !find(&limited, "linker").breach);
    assert!(!audit(&both, &AuditOptions { confidence: Some(1.0), ..options }).unwrap().breach, "1 is not above 1");
    let written = serde_json::to_string(&limited).unwrap();
    assert!(!written.contains("people_at_risk") && !written.contains("confidences"), "{written}");
}

/// Three values, one of them in eight of ten rows, say more than two values in equal parts.
#[test]
fn the_worst_cell_is_the_one_with_the_highest_confidence() {
    let table =
        counted(&[("old", "flu", 8), ("old", "HIV", 1), ("old", "gout", 1), ("young", "flu", 1), ("young", "HIV", 1)]);
    let found = audit(&[release("r", &["age", "disease"], &table)], &AuditOptions::default()).unwrap();
    let attribute = find(&found, "attribute");
    assert_eq!((attribute.max_confidence, attribute.effective_l), (0.8, Some(2)));
    assert_eq!(attribute.worst[0].values[0], ("flu".to_owned(), 0.8));
}

#[test]
fn limits_decide_what_a_breach_is() {
    let table = rows(&[&["old", "flu"], &["old", "HIV"], &["young", "flu"], &["young", "HIV"]]);
    let one = [release("r", &["age", "disease"], &table)];
    let breach = |l, k| audit(&one, &AuditOptions { l, k, ..AuditOptions::default() }).unwrap().breach;
    assert!(!breach(None, None) && !breach(Some(2), Some(2)));
    assert!(breach(Some(3), None) && breach(None, Some(3)));
}

/// People who are in two releases of three are in no combination of all three.
#[test]
fn a_breach_by_two_of_several_releases_is_reported() {
    let mut finding = Finding::new(Adversary::Composition, Vec::new(), None);
    let options = AuditOptions { l: Some(3), ..AuditOptions::default() };
    finding.effective_l = Some(3);
    assert!(!is_breach(&finding, &options));
    for (effective_l, breach) in [(None, false), (Some(3), false), (Some(2), true)] {
        finding.worst_pair = Some(WorstPair { releases: Vec::new(), at_risk: 0, effective_l });
        assert_eq!(is_breach(&finding, &options), breach, "{effective_l:?}");
    }
}

/// A person, and what each release wrote for them.
struct Random {
    people: Vec<[String; 3]>,
    releases: Vec<Release>,
    /// By release: which attributes it has, and the rows.
    rows: Vec<(Vec<usize>, Vec<Vec<String>>)>,
}

const NAMES: [&str; 3] = ["a", "b", "s"];

fn random(rng: &mut StdRng) -> Random {
    let people: Vec<[String; 3]> = (0..rng.random_range(1..14))
        .map(|_| {
            [
                rng.random_range(0..10).to_string(),
                format!("x{}", rng.random_range(0..3)),
                format!("s{}", rng.random_range(0..4)),
            ]
        })
        .collect();
    let (mut releases, mut all) = (Vec::new(), Vec::new());
    for number in 0..rng.random_range(2..5) {
        let mut attributes: Vec<usize> = (0..2).filter(|_| rng.random_bool(0.7)).collect();
        if attributes.is_empty() {
            attributes.push(rng.random_range(0..2));
        }
        let (width, top) = (rng.random_range(1..8), rng.random_bool(0.4));
        let write = |attribute: usize, value: &str| match attribute {
            0 if width == 1 => value.to_owned(),
            0 => {
                let low = value.parse::<i32>().unwrap() / width * width;
                format!("{low}..{}", low + width)
            }
            _ if top => "*".to_owned(),
            _ => value.to_owned(),
        };
        let kept = people.iter().filter(|_| rng.random_bool(0.9)).collect::<Vec<_>>();
        let kept = if kept.is_empty() { people.iter().collect() } else { kept };
        let rows: Vec<Vec<String>> = kept
            .iter()
            .map(|person| {
                let cells = attributes.iter().map(|&attribute| write(attribute, &person[attribute]));
                cells.chain([person[2].clone()]).collect()
            })
            .collect();
        let names: Vec<&str> = attributes.iter().map(|&attribute| NAMES[attribute]).chain(["s"]).collect();
        releases.push(release(&number.to_string(), &names, &rows));
        all.push((attributes, rows));
    }
    Random { people, releases, rows: all }
}

pub(super) fn fits(label: &str, value: &str) -> bool {
    match label.split_once("..") {
        Some((low, high)) => {
            let [low, high, value] = [low, high, value].map(|text| text.parse::<i32>().unwrap());
            low <= value && value < high
        }
        None => label == "*" || label == value,
    }
}

#[test]
fn random_communities_agree_with_looking_at_every_row() {
    for seed in seeds(400) {
        let mut rng = StdRng::seed_from_u64(seed);
        let random = random(&mut rng);
        let texts: Vec<Vec<&str>> =
            random.people.iter().map(|person| person[..2].iter().map(String::as_str).collect()).collect();
        let people = Table::from_texts(&["a", "b"], &texts);
        let found =
            audit(&random.releases, &AuditOptions { people: Some(&people), ..AuditOptions::default() }).unwrap();
        let values: BTreeSet<&String> =
            random.rows.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.last().unwrap())).collect();
        let (mut at_risk, mut least, mut certain, mut confident, mut likely) = (0, None, 0, 0.0f64, 0.0f64);
        for person in &random.people {
            let matching: Vec<Vec<&String>> = random
                .rows
                .iter()
                .map(|(attributes, rows)| {
                    let fit = |row: &&Vec<String>| {
                        attributes.iter().zip(row.iter()).all(|(&a, label)| fits(label, &person[a]))
                    };
                    rows.iter().filter(fit).map(|row| row.last().unwrap()).collect()
                })
                .collect();
            let count =
                |release: usize, value: &String| matching[release].iter().filter(|v| ***v == *value).count() as f64;
            let left: Vec<&&String> =
                values.iter().filter(|value| (0..matching.len()).all(|r| count(r, value) > 0.0)).collect();
            if left.is_empty() {
                continue;
            }
            at_risk += u64::from(left.len() == 1);
            least = Some(least.map_or(left.len(), |least: usize| least.min(left.len())));
            let smallest = |value: &String| (0..matching.len()).map(|r| count(r, value)).fold(f64::INFINITY, f64::min);
            let sum: f64 = left.iter().map(|value| smallest(value)).sum();
            confident = left.iter().map(|value| smallest(value) / sum).fold(confident, f64::max);
            let all = |release: usize, value: &String| {
                random.rows[release].1.iter().filter(|row| row.last() == Some(value)).count() as f64
            };
            let weight = |value: &String| {
                let releases = random.rows.len();
                let prior = (0..releases).map(|r| all(r, value) / random.rows[r].1.len() as f64).sum::<f64>();
                (0..releases).map(|r| count(r, value) / all(r, value)).fold(prior, |product, share| product * share)
            };
            let sum: f64 = left.iter().map(|value| weight(value)).sum();
            likely = left.iter().map(|value| weight(value) / sum).fold(likely, f64::max);
            certain += u64::from(left.len() == 1);
        }
        let composition = find(&found, "composition");
        assert_eq!(composition.people, random.people.len() as u64, "seed {seed}");
        assert_eq!((composition.at_risk, composition.effective_l), (at_risk, least.map(|l| l as u64)), "seed {seed}");
        assert!((composition.max_confidence - confident).abs() < 1e-9, "seed {seed}");
        let independence = find(&found, "independence");
        assert_eq!((independence.at_risk, independence.effective_l), (certain, least.map(|l| l as u64)), "seed {seed}");
        assert!((independence.max_confidence - likely).abs() < 1e-9, "seed {seed}: {likely}");
    }
}

/// Without people: rows of different releases are a combination when some person could be all of
/// them.
#[test]
fn random_cells_agree_with_looking_at_every_combination_of_rows() {
    for seed in seeds(120) {
        let mut rng = StdRng::seed_from_u64(seed);
        let random = random(&mut rng);
        let found = audit(&random.releases, &AuditOptions { l: Some(3), ..AuditOptions::default() }).unwrap();
        let everything: Vec<usize> = (0..random.rows.len()).collect();
        let all = every_combination(&random, &everything);
        let composition = find(&found, "composition");
        assert_eq!(composition.effective_l, all.least, "seed {seed}");
        assert_eq!((composition.at_risk, composition.people_below(3)), (all.exposed, all.below_three), "seed {seed}");
        assert_eq!(find(&found, "independence").effective_l, all.least, "seed {seed}");
        let mut fewest = composition.effective_l;
        match &composition.worst_pair {
            None => assert_eq!(random.rows.len(), 2, "seed {seed}"),
            Some(pair) => {
                let pairs = everything.iter().flat_map(|&a| (a + 1..random.rows.len()).map(move |b| [a, b]));
                let pairs: Vec<Left> = pairs.map(|pair| every_combination(&random, &pair)).collect();
                let worst =
                    pairs.iter().filter(|pair| pair.least.is_some()).map(|pair| (pair.least, u64::MAX - pair.exposed));
                assert_eq!(Some((pair.effective_l, u64::MAX - pair.at_risk)), worst.min(), "seed {seed}");
                fewest = [fewest, pair.effective_l].into_iter().flatten().min();
            }
        }
        let alone = found.findings.iter().filter(|finding| finding.adversary == Adversary::Attribute);
        let fewest = alone.filter_map(|finding| finding.effective_l).chain(fewest).min();
        assert_eq!(found.breach, fewest < Some(3), "seed {seed}");
    }
}

struct Left {
    least: Option<u64>,
    exposed: u64,
    below_three: u64,
}

/// Walks the product of all rows.
fn every_combination(random: &Random, releases: &[usize]) -> Left {
    let class = |release: usize, row: &[String]| -> BTreeSet<&String> {
        let (attributes, rows) = &random.rows[release];
        let same = |other: &&Vec<String>| other[..attributes.len()] == row[..attributes.len()];
        rows.iter().filter(same).map(|row| row.last().unwrap()).collect()
    };
    let values = [(0..10).map(|a| a.to_string()).collect::<Vec<_>>(), (0..3).map(|b| format!("x{b}")).collect()];
    let sets = |&release: &usize| random.rows[release].1.iter().map(|row| class(release, row)).collect();
    let sets: Vec<Vec<BTreeSet<&String>>> = releases.iter().map(sets).collect();
    let mut fewest: Vec<Vec<usize>> = sets.iter().map(|rows| vec![usize::MAX; rows.len()]).collect();
    let mut chosen = vec![0; releases.len()];
    loop {
        let rows: Vec<&Vec<String>> = releases.iter().zip(&chosen).map(|(&r, &row)| &random.rows[r].1[row]).collect();
        let possible = (0..2).all(|attribute| {
            values[attribute].iter().any(|value| {
                releases.iter().zip(&rows).all(|(&release, row)| {
                    let place = random.rows[release].0.iter().position(|own| *own == attribute);
                    place.is_none_or(|place| fits(&row[place], value))
                })
            })
        });
        let sets: Vec<&BTreeSet<&String>> = sets.iter().zip(&chosen).map(|(sets, &row)| &sets[row]).collect();
        let left = sets[0].iter().filter(|value| sets.iter().all(|set| set.contains(*value))).count();
        if possible && left > 0 {
            fewest.iter_mut().zip(&chosen).for_each(|(fewest, &row)| fewest[row] = fewest[row].min(left));
        }
        let Some(next) = (0..chosen.len()).find(|&r| chosen[r] + 1 < fewest[r].len()) else { break };
        chosen[..next].fill(0);
        chosen[next] += 1;
    }
    let all: Vec<usize> = fewest.into_iter().flatten().filter(|left| *left < usize::MAX).collect();
    let count = |few: usize| all.iter().filter(|left| **left < few).count() as u64;
    Left { least: all.iter().min().map(|&left| left as u64), exposed: count(2), below_three: count(3) }
}
