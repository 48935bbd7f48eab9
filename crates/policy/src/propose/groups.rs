//! Groupings of categories, written as a hierarchy file: bands joined with their neighbors, other
//! texts by frequency.

use std::collections::HashMap;

use super::profile::{Facts, texts_of};
use super::way::Way;

/// A file longer than this is not written: it would not be read either.
const BYTES_MAX: usize = 16 << 20;
const LEAVES_MAX: usize = 500_000;
/// Names in a label are cut here.
const NAME_CHARS_MAX: usize = 24;

/// Leaves and, level by level, the label each belongs to.
pub(super) struct Tree {
    leaves: Vec<String>,
    levels: Vec<Vec<String>>,
}

impl Tree {
    pub(super) fn new(leaves: Vec<String>) -> Tree {
        Tree { leaves, levels: Vec::new() }
    }

    /// A level with the given label for each leaf, coarser than those before. A level that joins
    /// nothing or everything is omitted; a leaf alone keeps its own text; a label that is another
    /// group's, or a leaf's, is made different.
    pub(super) fn add(&mut self, labels: Vec<String>) {
        let groups = grouped(&labels);
        let below = self.levels.last().map_or(self.leaves.len(), |labels| grouped(labels).len());
        if groups.len() >= below || groups.len() < 2 {
            return;
        }
        let taken = self.covers();
        let mut names: HashMap<&str, String> = HashMap::with_capacity(groups.len());
        let mut chosen: HashMap<String, ()> = HashMap::new();
        for (label, members) in &groups {
            let cover = (members[0], members.len());
            let mut name =
                if let [only] = members.as_slice() { self.leaves[*only].clone() } else { (*label).to_owned() };
            let mut number = 2;
            while name.is_empty()
                || chosen.contains_key(&name)
                || taken.get(name.as_str()).is_some_and(|other| *other != cover)
            {
                name = format!("{label} ({number})");
                number += 1;
            }
            chosen.insert(name.clone(), ());
            names.insert(label, name);
        }
        let level = labels.iter().map(|label| names[label.as_str()].clone()).collect();
        self.levels.push(level);
    }

    /// The values that every text of the tree so far covers. Levels nest, so the first leaf and the
    /// number of leaves identify a group.
    fn covers(&self) -> HashMap<&str, (usize, usize)> {
        let mut covers: HashMap<&str, (usize, usize)> = HashMap::new();
        for labels in &self.levels {
            covers.extend(grouped(labels).iter().map(|(label, members)| (*label, (members[0], members.len()))));
        }
        covers.extend(self.leaves.iter().enumerate().map(|(index, leaf)| (leaf.as_str(), (index, 1))));
        covers
    }

    /// `None` when there is nothing to say beyond value and top, or too much.
    pub(super) fn file(self) -> Option<Way> {
        let star = self.leaves.iter().any(|leaf| leaf == "*");
        if (self.levels.is_empty() && !star) || self.leaves.is_empty() || self.leaves.len() > LEAVES_MAX {
            return None;
        }
        // A released `*` must mean everything, so data that holds one needs another top.
        let covers = self.covers();
        let top = ["*".to_owned(), "(any)".to_owned()].into_iter().chain((2..).map(|number| format!("(any {number})")));
        let top = top.into_iter().find(|top| !covers.contains_key(top.as_str()))?;
        let mut text = String::new();
        for (index, leaf) in self.leaves.iter().enumerate() {
            field(leaf, &mut text);
            for labels in self.levels.iter().map(|labels| &labels[index]).chain([&top]) {
                text.push(';');
                field(labels, &mut text);
            }
            text.push('\n');
            if text.len() > BYTES_MAX {
                return None;
            }
        }
        Some(Way::File { text, levels: self.levels.len() })
    }
}

/// Each label with the leaves under it, in the order of the first.
fn grouped(labels: &[String]) -> Vec<(&str, Vec<usize>)> {
    let mut position: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let at = *position.entry(label).or_insert_with(|| {
            groups.push((label, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(index);
    }
    groups
}

fn field(text: &str, line: &mut String) {
    if text.contains([';', ',', '\t', '"', '\n', '\r', '\u{feff}']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

/// Bands such as `18-24`, `[70-80)`, `65+`: sorted by their first number, neighbors joined two by
/// two.
pub(super) fn in_order(facts: &Facts<'_>) -> Option<Way> {
    const BANDS_MIN: usize = 5;
    const BANDS_MAX: usize = 1_000;
    let leaves = texts_of(facts.domain());
    if !(BANDS_MIN..=BANDS_MAX).contains(&leaves.len()) {
        return None;
    }
    let keys: Vec<Option<(u64, i8)>> = leaves.iter().map(|leaf| band(leaf)).collect();
    let mut bands: Vec<usize> = (0..leaves.len()).filter(|index| keys[*index].is_some()).collect();
    bands.sort_by_key(|index| keys[*index]);
    let different = bands.windows(2).all(|pair| keys[pair[0]] != keys[pair[1]]);
    if !different || bands.len() < BANDS_MIN || leaves.len() - bands.len() > 1 {
        return None;
    }
    let mut tree = Tree::new(leaves);
    let mut size = 2;
    while bands.len().div_ceil(size) >= 2 {
        let mut labels = tree.leaves.clone();
        for group in bands.chunks(size) {
            let (first, last) = (tree.leaves[group[0]].clone(), tree.leaves[group[group.len() - 1]].clone());
            for index in group {
                labels[*index] = format!("{} to {}", short(&first), short(&last));
            }
        }
        tree.add(labels);
        size *= 2;
    }
    tree.file()
}

/// The bands from the lowest to the highest, when every text is one and there are at least three.
pub(super) fn bands_in_order(facts: &Facts<'_>) -> Vec<String> {
    const BANDS_MAX: usize = 200;
    let texts = texts_of(facts.domain());
    let mut bands: Vec<((u64, i8), String)> =
        texts.iter().filter_map(|text| Some((band(text)?, text.clone()))).collect();
    bands.sort();
    let different = bands.windows(2).all(|pair| pair[0].0 != pair[1].0);
    if bands.len() < texts.len() || !(3..=BANDS_MAX).contains(&bands.len()) || !different {
        return Vec::new();
    }
    bands.into_iter().map(|(_, text)| text).collect()
}

/// The first number of a band, and whether the band lies below or above it.
fn band(text: &str) -> Option<(u64, i8)> {
    const BELOW: &[&str] = &["<", "≤", "under ", "below ", "less than ", "up to "];
    const ABOVE: &[&str] = &[">", "≥", "over ", "above ", "more than "];
    let small = text.to_lowercase();
    let trimmed = small.trim_start_matches(['[', '(', ']', ' ', '~']);
    let after = |marks: &[&str]| marks.iter().find_map(|mark| trimmed.strip_prefix(mark));
    let (side, rest) = match (after(BELOW), after(ABOVE)) {
        (Some(rest), _) => (-1, rest),
        (None, Some(rest)) => (1, rest),
        (None, None) => (0, trimmed),
    };
    let rest = rest.trim_start_matches(['=', ' ', '$', '€']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    // A bare number is a code, not a band.
    let bare = end == text.len();
    rest[..end].parse().ok().filter(|_| !bare && end <= 12).map(|number| (number, side))
}

/// Rare values joined, frequent ones alone for as long as they outweigh the groups.
pub(super) fn by_frequency(facts: &Facts<'_>) -> Option<Way> {
    let leaves = texts_of(facts.domain());
    let counts = facts.present_counts();
    if leaves.is_empty() || leaves.len() > LEAVES_MAX {
        return None;
    }
    let targets: &[usize] = match leaves.len() {
        0..=8 => &[],
        9..=12 => &[6, 3],
        13..=24 => &[8, 4],
        25..=400 => &[16, 8, 4],
        _ => &[100, 32, 10, 3],
    };
    let mut groups: Vec<Vec<usize>> = (0..leaves.len()).map(|index| vec![index]).collect();
    let mut tree = Tree::new(leaves);
    for target in targets {
        groups = joined(groups, counts, *target);
        for group in &mut groups {
            group.sort_unstable_by(|a, b| counts[*b].cmp(&counts[*a]).then(a.cmp(b)));
        }
        let mut labels = vec![String::new(); tree.leaves.len()];
        for group in &groups {
            let label = label(group, &tree.leaves);
            for index in group {
                labels[*index].clone_from(&label);
            }
        }
        // Two labels can be cut to the same text; the tree must not take their groups for one.
        apart(&mut labels, &groups);
        tree.add(labels);
    }
    tree.file()
}

fn apart(labels: &mut [String], groups: &[Vec<usize>]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for group in groups {
        let times = seen.entry(labels[group[0]].clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            let label = format!("{} ·{times}", labels[group[0]]);
            for index in group {
                labels[*index].clone_from(&label);
            }
        }
    }
}

/// At most `target` groups. Going down by frequency, a group stays alone while it has its fair
/// share of the rows that are left; smaller ones are filled up to that share.
fn joined(mut groups: Vec<Vec<usize>>, counts: &[u64], target: usize) -> Vec<Vec<usize>> {
    let mass = |group: &[usize]| group.iter().map(|index| counts[*index]).sum::<u64>();
    let mut sized: Vec<(u64, Vec<usize>)> = groups.drain(..).map(|group| (mass(&group), group)).collect();
    sized.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1[0].cmp(&b.1[0])));
    let mut left: u64 = sized.iter().map(|(mass, _)| mass).sum();
    let mut result: Vec<Vec<usize>> = Vec::new();
    let mut filling: Option<(u64, Vec<usize>)> = None;
    let mut fair = 0;
    for (mass, group) in sized {
        let (filled, members) = filling.get_or_insert_with(|| {
            fair = left / (target.saturating_sub(result.len()).max(1) as u64);
            (0, Vec::new())
        });
        *filled += mass;
        members.extend(group);
        left -= mass;
        let last = result.len() + 1 >= target;
        if *filled >= fair && !last {
            result.extend(filling.take().map(|(_, members)| members));
        }
    }
    result.extend(filling.map(|(_, members)| members));
    result
}

/// The most frequent members name a group; its members are in the order of their frequency.
fn label(group: &[usize], leaves: &[String]) -> String {
    match group {
        [only] => leaves[*only].clone(),
        [first, second] => format!("{}, {}", short(&leaves[*first]), short(&leaves[*second])),
        [first, second, rest @ ..] => {
            format!("{}, {} + {} more", short(&leaves[*first]), short(&leaves[*second]), rest.len())
        }
        [] => String::new(),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
