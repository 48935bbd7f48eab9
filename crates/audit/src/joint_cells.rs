//! Which combinations of classes, one from each of some releases, a person could be in: those whose
//! cells leave some value to every attribute.
//!
//! Release after release is met with what the ones before leave. Three labels can meet two by two
//! and not all at once, so what is left under them is kept.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::Cover;

use crate::matching::{Fits, matching};
use crate::overlap::{meet, overlap};

/// One class of every release for each combination.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JointCells {
    pub(crate) combinations: Vec<Vec<u32>>,
    /// There are more than were listed.
    pub(crate) cut: bool,
}

/// At most `most` of them.
pub(crate) fn joint_cells(tables: &[&ReleasedClasses], most: usize) -> JointCells {
    let Some((first, others)) = tables.split_first() else {
        return JointCells { combinations: Vec::new(), cut: false };
    };
    let mut joint = Joint::of(first);
    for (index, table) in others.iter().enumerate() {
        let (from, cut) = joint.meeting(table, most);
        joint.cut |= cut;
        joint.advance(table, &from, index + 1 == others.len());
    }
    JointCells { combinations: joint.combinations, cut: joint.cut }
}

/// The combinations that the first releases leave.
struct Joint {
    combinations: Vec<Vec<u32>>,
    attributes: Vec<CoveredAttribute>,
    cut: bool,
}

struct CoveredAttribute {
    name: String,
    covers: Vec<Cover>,
    /// By combination, the position in `covers`.
    of: Vec<u32>,
}

impl Joint {
    fn of(table: &ReleasedClasses) -> Joint {
        let cells = |index: usize| (0..table.len()).map(|class| table.cells(class)[index]).collect();
        let quasi = table.quasi.iter().enumerate();
        let attributes = quasi
            .map(|(index, quasi)| CoveredAttribute {
                name: quasi.name.clone(),
                covers: quasi.covers.clone(),
                of: cells(index),
            })
            .collect();
        Joint { combinations: (0..table.len() as u32).map(|class| vec![class]).collect(), attributes, cut: false }
    }

    fn attribute(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|attribute| attribute.name == name)
    }

    /// For each combination the classes that meet it, and whether there were too many to list.
    fn meeting(&self, table: &ReleasedClasses, most: usize) -> (Vec<Vec<u32>>, bool) {
        let (mut fits, mut probes) = (Vec::new(), Vec::new());
        for (index, quasi) in table.quasi.iter().enumerate() {
            let Some(own) = self.attribute(&quasi.name) else { continue };
            let own = &self.attributes[own];
            let meeting = |cover| {
                (0..).zip(&own.covers).filter(|(_, other)| overlap(cover, other)).map(|(value, _)| value).collect()
            };
            fits.push(Fits::new(index, quasi.covers.iter().map(meeting)));
            probes.push(own.of.clone());
        }
        // Counted first: what will not be kept is not listed.
        let counts = match fits.is_empty() {
            true => vec![table.len(); self.combinations.len()],
            false => matching(table, &fits, &probes, |_, classes| classes.len()),
        };
        let mut capacity = most;
        let taken: Vec<usize> = counts
            .iter()
            .map(|&count| {
                let taken = count.min(capacity);
                capacity -= taken;
                taken
            })
            .collect();
        let cut = counts != taken;
        let last = taken.iter().rposition(|&taken| taken > 0).map_or(0, |last| last + 1);
        probes.iter_mut().for_each(|values: &mut Vec<u32>| values.truncate(last));
        let mut listed: Vec<Vec<u32>> = match fits.is_empty() {
            true => taken[..last].iter().map(|&taken| (0..taken as u32).collect()).collect(),
            false => matching(table, &fits, &probes, |probe, classes| classes[..taken[probe]].to_vec()),
        };
        listed.resize(self.combinations.len(), Vec::new());
        (listed, cut)
    }

    /// Every combination with each of the classes in `from` that meet it.
    fn advance(&mut self, table: &ReleasedClasses, from: &[Vec<u32>], last: bool) {
        let pairs =
            || from.iter().enumerate().flat_map(|(old, classes)| classes.iter().map(move |&class| (old, class)));
        if !last {
            for attribute in &mut self.attributes {
                let index = table.quasi.iter().position(|quasi| quasi.name == attribute.name);
                *attribute = match index {
                    None => {
                        CoveredAttribute { of: pairs().map(|(old, _)| attribute.of[old]).collect(), ..attribute.take() }
                    }
                    Some(index) => attribute.met(table, index, pairs()),
                };
            }
            let new = table.quasi.iter().enumerate().filter(|(_, quasi)| self.attribute(&quasi.name).is_none());
            let new: Vec<CoveredAttribute> = new
                .map(|(index, quasi)| CoveredAttribute {
                    name: quasi.name.clone(),
                    covers: quasi.covers.clone(),
                    of: pairs().map(|(_, class)| table.cells(class as usize)[index]).collect(),
                })
                .collect();
            self.attributes.extend(new);
        }
        let longer = pairs().map(|(old, class)| {
            let mut combination = Vec::with_capacity(self.combinations[old].len() + 1);
            combination.extend_from_slice(&self.combinations[old]);
            combination.push(class);
            combination
        });
        self.combinations = longer.collect();
    }
}

impl CoveredAttribute {
    fn take(&mut self) -> CoveredAttribute {
        CoveredAttribute {
            name: std::mem::take(&mut self.name),
            covers: std::mem::take(&mut self.covers),
            of: Vec::new(),
        }
    }

    /// The values of the attribute that the labels of another release leave.
    fn met(
        &self,
        table: &ReleasedClasses,
        index: usize,
        pairs: impl Iterator<Item = (usize, u32)>,
    ) -> CoveredAttribute {
        let mut covers: Vec<Cover> = Vec::new();
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        let labels = &table.quasi[index].covers;
        let of = pairs
            .map(|(old, class)| {
                let key = (self.of[old], table.cells(class as usize)[index]);
                *numbers.entry(key).or_insert_with(|| {
                    let own = &self.covers[key.0 as usize];
                    covers.push(meet(own, &labels[key.1 as usize]).unwrap_or_else(|| own.clone()));
                    covers.len() as u32 - 1
                })
            })
            .collect();
        CoveredAttribute { name: self.name.clone(), covers, of }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Bound, Table};
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    /// Labels are sets of digits, `135`, or intervals, `2..5`.
    fn cover(_: &str, label: &str) -> Cover {
        match label.split_once("..") {
            Some((low, high)) => Cover::Interval { low: Bound::parse(low), high: Bound::parse(high) },
            None => Cover::Leaves(label.chars().map(String::from).collect()),
        }
    }

    fn digits(label: &str) -> Vec<u32> {
        match label.split_once("..") {
            Some((low, high)) => (low.parse().unwrap()..high.parse().unwrap()).collect(),
            None => label.chars().map(|digit| digit.to_digit(10).unwrap()).collect(),
        }
    }

    fn random_release(rng: &mut StdRng) -> ReleasedClasses {
        let names: Vec<String> = ["a", "b"].into_iter().filter(|_| rng.random_bool(0.8)).map(str::to_owned).collect();
        let names = if names.is_empty() { vec!["a".to_owned()] } else { names };
        let label = |rng: &mut StdRng| {
            if rng.random_bool(0.5) {
                let low = rng.random_range(0..6);
                return format!("{low}..{}", low + rng.random_range(1..4));
            }
            let chosen: String = (0..8).filter(|_| rng.random_bool(0.3)).map(|digit| digit.to_string()).collect();
            if chosen.is_empty() { "3".to_owned() } else { chosen }
        };
        let rows: Vec<Vec<String>> =
            (0..rng.random_range(1..6)).map(|_| names.iter().map(|_| label(rng)).collect()).collect();
        let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let header: Vec<&str> = names.iter().map(String::as_str).collect();
        let table = Table::from_texts(&header, &cells);
        ReleasedClasses::of_generalized("data", &table, &names, &[], cover, "t").unwrap()
    }

    /// A person is in a combination when for every attribute one digit lies under all labels.
    #[test]
    fn combinations_are_those_that_a_value_of_each_attribute_lies_in() {
        for seed in seeds(500) {
            let mut rng = StdRng::seed_from_u64(seed);
            let releases: Vec<ReleasedClasses> =
                (0..rng.random_range(1..5)).map(|_| random_release(&mut rng)).collect();
            let tables: Vec<&ReleasedClasses> = releases.iter().collect();
            let mut expected: Vec<Vec<u32>> = vec![Vec::new()];
            for table in &releases {
                let longer = |c: &Vec<u32>| (0..table.len() as u32).map(|class| [&c[..], &[class]].concat()).collect();
                expected = expected.iter().flat_map(|c| -> Vec<Vec<u32>> { longer(c) }).collect();
            }
            expected.retain(|combination| {
                ["a", "b"].iter().all(|name| {
                    (0..10).any(|digit| {
                        releases.iter().zip(combination).all(|(table, &class)| {
                            let labels = table.describe(class as usize);
                            labels
                                .iter()
                                .filter(|(own, _)| own == name)
                                .all(|(_, label)| digits(label).contains(&digit))
                        })
                    })
                })
            });
            let found = joint_cells(&tables, usize::MAX);
            assert_eq!((&found.combinations, found.cut), (&expected, false), "seed {seed}");
            let most = rng.random_range(0..4);
            let few = joint_cells(&tables, most);
            let single = releases.len() == 1;
            assert!(single || few.combinations.len() <= most, "seed {seed}");
            assert!(few.combinations.iter().all(|kept| expected.contains(kept)), "seed {seed}");
            assert!(few.cut || few.combinations == expected, "seed {seed}");
        }
    }
}
