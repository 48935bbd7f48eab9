//! A cloned release as an adversary combines it with others: which people a sub-class can hold, and
//! which sensitive values its class has.
//!
//! Counts of categories say who cannot be in a sub-class: people with a value that it does not
//! list. A mean and an indicative range exclude no one, so a cell of numbers covers everything.
//! Sub-classes with equal cells whose classes have the same shares of every value are listed as
//! one, since nothing that follows from them differs: the rows add up, and so do the counts behind
//! them.

use hashbrown::HashMap;

use super::{CloneClass, Cloned, OfAttribute};
use crate::classes::{QuasiLabels, ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Cover, gcd};

/// The label of a cell that excludes no one.
const ANY_VALUE: &str = "*";

/// The labels of one attribute, collected as they are met.
#[derive(Default)]
struct LabelCollector {
    known: HashMap<(Vec<u32>, bool, bool), u32>,
    labels: Vec<String>,
    covers: Vec<Cover>,
}

impl LabelCollector {
    fn of(&mut self, attribute: &OfAttribute, texts: &[String]) -> u32 {
        let mut categories: Vec<u32> = attribute.categories.iter().map(|&(text, _)| text).collect();
        categories.sort_unstable();
        let (numbers, missing) = (attribute.number.is_some(), attribute.missing > 0);
        let next = self.labels.len() as u32;
        *self.known.entry((categories, numbers, missing)).or_insert_with_key(|(categories, numbers, missing)| {
            let mut leaves: Vec<String> = categories.iter().map(|&text| texts[text as usize].clone()).collect();
            if *missing {
                leaves.push(String::new());
            }
            self.labels.push(if *numbers { ANY_VALUE.to_owned() } else { leaves.join(" or ") });
            self.covers.push(match leaves.as_slice() {
                _ if *numbers => Cover::Everything,
                [only] if only.is_empty() => Cover::Missing,
                _ => Cover::Leaves(leaves),
            });
            next
        })
    }
}

impl ReleasedClasses {
    pub fn of_cloned(name: &str, read: &Cloned) -> ReleasedClasses {
        let mut labels: Vec<LabelCollector> = read.attributes.iter().map(|_| LabelCollector::default()).collect();
        let (mut profiles, mut groups) = (HashMap::new(), HashMap::new());
        let (mut cells, mut sizes, mut bucket_of) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts: Vec<(u32, u32, u32)> = Vec::new();
        let mut bucket_sizes: Vec<u32> = Vec::new();
        for class in &read.classes {
            let next = profiles.len() as u32;
            let bucket = *profiles.entry(profile(class)).or_insert(next);
            if bucket == next {
                bucket_sizes.push(0);
            }
            bucket_sizes[bucket as usize] += class.tuples() as u32;
            counts.extend(class.values.iter().map(|&(value, count)| (bucket, value, count)));
            for part in class.sub_classes.iter().filter(|part| part.people() > 0) {
                let of_attribute = part.attributes.iter().zip(&mut labels);
                let row: Vec<u32> = of_attribute.map(|(attribute, labels)| labels.of(attribute, &read.texts)).collect();
                let next = sizes.len();
                let group = *groups.entry((row.clone(), bucket)).or_insert(next);
                if group == next {
                    cells.extend(row);
                    sizes.push(0);
                    bucket_of.push(bucket);
                }
                sizes[group] += part.people() as u32;
            }
        }
        let values = (0..read.domain.cardinality() as u32).map(|code| read.domain.text(code)).collect();
        let sensitive = SensitiveCounts::new(read.sensitive.clone(), values, bucket_sizes.len(), counts);
        let named = read.attributes.iter().zip(labels);
        let quasi = named.map(|(name, LabelCollector { labels, covers, .. })| QuasiLabels {
            name: name.clone(),
            labels,
            covers,
        });
        ReleasedClasses::of_parts(name, quasi.collect(), cells, sizes, (bucket_of, bucket_sizes), vec![sensitive])
    }
}

/// The values of a class with their counts in lowest terms: equal where the shares are.
fn profile(class: &CloneClass) -> Vec<(u32, u32)> {
    let common = class.values.iter().fold(0, |common, &(_, count)| gcd(common, count.into())).max(1);
    class.values.iter().map(|&(value, count)| (value, (u64::from(count) / common) as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloned::{OfNumber, SubClass};
    use hedgerow_table::{Bound, Domain, Table};

    fn part(people: u64, sex: &[(u32, u64)], counterfeits: u64) -> SubClass {
        let number = Some(OfNumber {
            mean: Bound::Integer(40),
            count: people,
            low: Bound::Integer(30),
            high: Bound::Integer(50),
            covered: 1,
        });
        let age = OfAttribute { number, ..OfAttribute::default() };
        let sex = OfAttribute { categories: sex.to_vec(), ..OfAttribute::default() };
        SubClass { number: 1, tuples: people + counterfeits, counterfeits, attributes: vec![age, sex] }
    }

    #[test]
    fn sub_classes_rule_out_by_categories_alone_and_alike_ones_are_one() {
        let class = |number: i64, values: &[(u32, u32)], sub_classes: Vec<SubClass>| CloneClass {
            number,
            values: values.to_vec(),
            sub_classes,
        };
        let read = Cloned {
            sensitive: "disease".to_owned(),
            domain: Domain::from_texts(&["G", "J"], false, None).unwrap().0,
            counted: Table::from_texts(&["class"], &[vec!["1"]]),
            attributes: vec!["age".to_owned(), "sex".to_owned()],
            texts: vec!["F".to_owned(), "M".to_owned()],
            classes: vec![
                class(1, &[(0, 1), (1, 2)], vec![part(3, &[(1, 3)], 0)]),
                class(2, &[(0, 2), (1, 4)], vec![part(3, &[(1, 3)], 0), part(2, &[(1, 1), (0, 1)], 1)]),
                class(3, &[(1, 3)], vec![part(3, &[(1, 3)], 0)]),
            ],
        };
        let found = ReleasedClasses::of_cloned("data", &read);
        assert_eq!((found.len(), found.buckets(), found.rows), (3, 2, 11));
        let covers: Vec<(&str, &Cover)> =
            found.quasi[1].labels.iter().map(String::as_str).zip(&found.quasi[1].covers).collect();
        let leaves = |leaves: &[&str]| Cover::Leaves(leaves.iter().map(|leaf| (*leaf).to_owned()).collect());
        assert_eq!(covers, [("M", &leaves(&["M"])), ("F or M", &leaves(&["F", "M"]))]);
        assert_eq!(found.quasi[0].covers, [Cover::Everything]);
        assert_eq!(found.sizes, [6, 2, 3], "the two classes with shares of a third and two thirds are alike");
        assert_eq!(found.bucket_sizes, [9, 3]);
        assert_eq!(found.sensitive[0].of_bucket(0), [(0, 3), (1, 6)]);
        assert_eq!(found.sensitive[0].of_bucket(1), [(1, 3)]);
    }
}
