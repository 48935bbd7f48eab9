//! Inference from an exact full-domain search: with one attribute a level lower, less is lost,
//! so if every group of that finer node had l values, it would have been published. Some group has
//! fewer.
//!
//! Groups that could have fewer are those whose size the l − 1 most frequent values of their class
//! can fill. If there is one, it did; if there are several, one or more of them did. With Π over
//! all classes, `P(person has s | some fail) = (P(s) − P(s, own class fine) · Π P(other classes
//! fine)) / (1 − Π P(class fine))`. Each finer node is looked at by itself: all of them together
//! may rule out more.

use hashbrown::HashMap;
use hedgerow_table::{Hierarchy, TableError};
use serde_json::json;

use super::exact::{self, Posterior};
use super::worlds::{PEOPLE_MAX, Worlds, kinds, worlds};
use super::{Hits, HowMade, Known, lower_bound, members, possible, remaining, truths};
use crate::finding::{Exposure, Finding, ReleaseCells, Worst};

/// The groups of one class under a finer node, as bits over its members; only those that can lack
/// values.
struct Suspect {
    class: usize,
    groups: Vec<u128>,
}

pub(super) fn attack(known: &Known<'_>, made: HowMade<'_>, finding: &mut Finding) -> Result<(), TableError> {
    let members = members(known)?;
    let sizes = known.classes.sizes.iter().map(|&size| size as usize);
    finding.people = known.classes.rows;
    if !members.iter().map(Vec::len).eq(sizes) {
        finding.note("the people are not all those of the release: nothing follows");
        return Ok(());
    }
    let levels = (0..known.classes.quasi.len()).map(|index| {
        let quasi = &known.classes.quasi[index];
        let (_, hierarchy) = made.hierarchies.iter().find(|(name, _)| *name == quasi.name)?;
        level_of(known, index, hierarchy, &members)
    });
    if let Some(levels) = levels.collect::<Option<Vec<usize>>>()
        && let Some(found) = exact::posterior(known, made, &levels, &members)
    {
        report(known, &members, &found, finding);
        return Ok(());
    }
    lower_bound(finding, "each finer node was examined by itself, and nodes that are not finer were not");
    let values = |class: usize| known.sensitive.of_bucket(known.classes.bucket_of[class]);
    let all =
        |(class, members): (usize, &Vec<usize>)| vec![(0..values(class).len()).collect::<Vec<_>>(); members.len()];
    let mut blamed = Blamed {
        least: members.iter().enumerate().map(all).collect(),
        confidence: vec![None; members.len()],
        worst: Worst::new(),
    };
    for (index, quasi) in known.classes.quasi.iter().enumerate() {
        let hierarchy = made.hierarchies.iter().find(|(name, _)| *name == quasi.name).map(|(_, hierarchy)| *hierarchy);
        let (Some(hierarchy), Some(column)) = (hierarchy, known.people.column(&quasi.name)) else { continue };
        let Some(level) = level_of(known, index, hierarchy, &members).filter(|level| *level > 0) else { continue };
        let finer = &hierarchy.levels()[level - 1].map;
        match suspects(known, &members, |row| finer[column.codes.get(row) as usize]) {
            NodeSuspects::TooSmall => {
                let note = format!("`{}` one level lower: groups would be too small, so nothing follows", quasi.name);
                finding.note(note);
            }
            NodeSuspects::Suspects(suspects) if suspects.is_empty() => {
                let note = format!("`{}` one level lower would have kept the rule: not the finest release", quasi.name);
                finding.note(note);
            }
            NodeSuspects::Suspects(suspects) => {
                let why = format!("some group with `{}` one level lower must have broken the rule", quasi.name);
                if !blamed.add(known, &members, &suspects, &why) {
                    let groups: usize = suspects.iter().map(|suspect| suspect.groups.len()).sum();
                    finding.note(format!(
                        "`{}` one level lower: any of {groups} groups may have broken the rule, too many to count",
                        quasi.name
                    ));
                }
            }
            NodeSuspects::TooLarge => finding.note(format!("`{}` one level lower: classes are too large", quasi.name)),
        }
    }
    let (truths, mut hits) = (truths(known), Hits::default());
    for (class, least) in blamed.least.iter().enumerate() {
        // Of classes that no node accuses, no more is known than they list.
        let most = values(class).iter().map(|&(_, count)| count).max().unwrap_or_default();
        let listed = f64::from(most) / members[class].len().max(1) as f64;
        finding.max_confidence = finding.max_confidence.max(blamed.confidence[class].unwrap_or(listed));
        for (left, &row) in least.iter().zip(&members[class]) {
            if left.len() == 1 {
                finding.people_at_risk.push(row as u32);
            }
            finding.leave(left.len() as u64, 1);
            finding.at_risk += u64::from(left.len() == 1);
            if let Some(truths) = &truths {
                hits.count(truths[row], values(class), left);
            }
        }
    }
    if truths.is_some() {
        hits.report(finding);
    }
    finding.people_at_risk.sort_unstable();
    finding.worst = blamed.worst.into_vec();
    Ok(())
}

/// The values that all assignments together leave.
fn report(known: &Known<'_>, members: &[Vec<usize>], found: &Posterior, finding: &mut Finding) {
    if found.complete {
        finding.details.insert("exact".to_owned(), json!(true));
    } else {
        lower_bound(finding, "which loss was minimized is not known, so that only finer nodes were examined");
    }
    if found.remaining == 0 {
        finding.note("a node with less loss would have kept the rule: not the least loss");
        return;
    }
    if found.nodes == 0 {
        finding.note("every node with less loss has groups that are too small: nothing follows");
    }
    let (truths, mut hits, mut worst) = (truths(known), Hits::default(), Worst::new());
    finding.confidences = vec![0.0; known.people.rows];
    for (class, members) in members.iter().enumerate() {
        let values = known.sensitive.of_bucket(known.classes.bucket_of[class]);
        for &row in members {
            let share = |&(value, _): &(u32, u32)| found.having[row][value as usize] as f64 / found.remaining as f64;
            let shares: Vec<f64> = values.iter().map(share).collect();
            let (possible, top) = (possible(&shares), shares.iter().copied().fold(0.0, f64::max));
            finding.leave(possible.len() as u64, 1);
            finding.max_confidence = finding.max_confidence.max(top);
            finding.confidences[row] = top as f32;
            if possible.len() == 1 {
                finding.at_risk += 1;
                finding.people_at_risk.push(row as u32);
            }
            if let Some(truths) = &truths {
                hits.count(truths[row], values, &possible);
            }
            worst.offer((-top, possible.len(), class), || Exposure {
                cells: vec![ReleaseCells::new(known.name, known.classes.describe(class))],
                values: remaining(known.sensitive, values, &shares),
                people: 1,
                why: format!("{} nodes with less loss must have broken the rule", found.nodes),
            });
        }
    }
    finding.people_at_risk.sort_unstable();
    if truths.is_some() {
        hits.report(finding);
    }
    finding.worst = worst.into_vec();
}

/// The level on which every person's value has the label of their class.
fn level_of(known: &Known<'_>, index: usize, hierarchy: &Hierarchy, members: &[Vec<usize>]) -> Option<usize> {
    let quasi = &known.classes.quasi[index];
    let column = known.people.column(&quasi.name)?;
    let is = |level: &hedgerow_table::Level| {
        members.iter().enumerate().all(|(class, members)| {
            let label = &quasi.labels[known.classes.cells(class)[index] as usize];
            members.iter().all(|&row| level.labels[level.map[column.codes.get(row) as usize] as usize].text == *label)
        })
    };
    hierarchy.levels().iter().position(is)
}

enum NodeSuspects {
    /// A group is smaller than k: reason enough.
    TooSmall,
    TooLarge,
    Suspects(Vec<Suspect>),
}

fn suspects(known: &Known<'_>, members: &[Vec<usize>], label: impl Fn(usize) -> u32) -> NodeSuspects {
    let mut suspects = Vec::new();
    for (class, members) in members.iter().enumerate() {
        let mut groups: HashMap<u32, Vec<usize>> = HashMap::new();
        for (person, &row) in members.iter().enumerate() {
            groups.entry(label(row)).or_default().push(person);
        }
        if groups.values().any(|group| (group.len() as u64) < known.required.k) {
            return NodeSuspects::TooSmall;
        }
        let values = known.sensitive.of_bucket(known.classes.bucket_of[class]);
        let mut counts: Vec<usize> = values.iter().map(|&(_, count)| count as usize).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let most: usize = counts.iter().take(known.required.l.saturating_sub(1) as usize).sum();
        let can_lack = groups.into_values().filter(|group| group.len() <= most).collect::<Vec<_>>();
        if can_lack.is_empty() {
            continue;
        }
        if members.len() > PEOPLE_MAX {
            return NodeSuspects::TooLarge;
        }
        let bits = |group: &Vec<usize>| group.iter().fold(0u128, |bits, person| bits | 1 << person);
        let mut groups: Vec<u128> = can_lack.iter().map(bits).collect();
        groups.sort_unstable();
        suspects.push(Suspect { class, groups });
    }
    NodeSuspects::Suspects(suspects)
}

/// The values ruled out so far.
struct Blamed {
    /// By class and person, what all finer nodes leave, as positions among the values of the class.
    least: Vec<Vec<Vec<usize>>>,
    /// By class that a node accuses, the highest confidence.
    confidence: Vec<Option<f64>>,
    worst: Worst<(f64, usize, usize), Exposure>,
}

impl Blamed {
    /// Applies the inference to the people of the suspect classes; false when that cannot be
    /// counted through.
    fn add(&mut self, known: &Known<'_>, members: &[Vec<usize>], suspects: &[Suspect], why: &str) -> bool {
        let (classes, sensitive) = (known.classes, known.sensitive);
        let values = |suspect: &Suspect| sensitive.of_bucket(classes.bucket_of[suspect.class]);
        let fine = |suspect: &Suspect, given: &[u128]| {
            suspect.groups.iter().all(|&group| kinds(given, group) >= known.required.l)
        };
        let counted: Option<Vec<(Worlds, Worlds)>> = suspects
            .iter()
            .map(|suspect| {
                let people = members[suspect.class].len();
                let all = worlds(values(suspect), people, |_| true).filter(|all| all.exact)?;
                Some((all, worlds(values(suspect), people, |given| fine(suspect, given))?))
            })
            .collect();
        let Some(counted) = counted else { return false };
        let share_fine: Vec<f64> = counted.iter().map(|(all, fine)| fine.fitting as f64 / all.fitting as f64).collect();
        let all_fine: f64 = share_fine.iter().product();
        if all_fine >= 1.0 {
            return false;
        }
        for (number, (suspect, (all, fine))) in suspects.iter().zip(&counted).enumerate() {
            let others: f64 =
                share_fine.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, s)| s).product();
            for (person, least) in self.least[suspect.class].iter_mut().enumerate() {
                let shares: Vec<f64> = all.having[person]
                    .iter()
                    .zip(&fine.having[person])
                    .map(|(&having, &having_fine)| match suspects.len() {
                        // In whole numbers, so that what is impossible comes out as nothing.
                        1 => (having - having_fine) as f64 / (all.fitting - fine.fitting) as f64,
                        _ => (having as f64 - having_fine as f64 * others) / all.fitting as f64 / (1.0 - all_fine),
                    })
                    .collect();
                let possible = possible(&shares);
                let left = possible.len();
                let top = shares.iter().copied().fold(0.0, f64::max);
                least.retain(|value| possible.contains(value));
                let highest = &mut self.confidence[suspect.class];
                *highest = Some(highest.unwrap_or(0.0).max(top));
                self.worst.offer((-top, left, suspect.class), || Exposure {
                    cells: vec![ReleaseCells::new(known.name, classes.describe(suspect.class))],
                    values: remaining(sensitive, values(suspect), &shares),
                    people: 1,
                    why: why.to_owned(),
                });
            }
        }
        true
    }
}
