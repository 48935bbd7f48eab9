//! How other publishers spell values: their texts, and what each is in ours.

use std::collections::BTreeMap;

use hedgerow_table::{Bound, Cover};

use crate::classes::{QuasiLabels, ReleasedClasses, SensitiveCounts};

/// By attribute, texts of others and ours. Several of theirs may mean one of ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spelling {
    attributes: BTreeMap<String, BTreeMap<String, String>>,
}

impl Spelling {
    /// Adds that `theirs` means `ours`.
    pub fn add(&mut self, attribute: &str, theirs: &str, ours: &str) {
        let texts = self.attributes.entry(attribute.to_owned()).or_default();
        texts.insert(theirs.to_owned(), ours.to_owned());
    }

    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Our text for a text of theirs: the same, unless another is known.
    pub fn ours<'a>(&'a self, attribute: &str, theirs: &'a str) -> &'a str {
        self.known(attribute, theirs).unwrap_or(theirs)
    }

    /// Every text of an attribute that is spelled differently, with ours.
    pub fn pairs(&self, attribute: &str) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.attributes.get(attribute).into_iter().flatten();
        texts.map(|(theirs, ours)| (theirs.as_str(), ours.as_str()))
    }

    fn known(&self, attribute: &str, theirs: &str) -> Option<&str> {
        self.attributes.get(attribute)?.get(theirs).map(String::as_str)
    }

    fn cover(&self, attribute: &str, label: &str, cover: &Cover) -> Cover {
        match cover {
            Cover::Leaves(leaves) => {
                let mut ours: Vec<String> = Vec::with_capacity(leaves.len());
                for leaf in leaves {
                    let leaf = self.ours(attribute, leaf);
                    if !ours.iter().any(|known| known == leaf) {
                        ours.push(leaf.to_owned());
                    }
                }
                Cover::Leaves(ours)
            }
            // Others may write a number for what is a text to us.
            Cover::Point(_) => match self.known(attribute, label) {
                Some(ours) => Bound::parse(ours).map_or_else(|| Cover::Leaves(vec![ours.to_owned()]), Cover::Point),
                None => cover.clone(),
            },
            Cover::Everything | Cover::Missing | Cover::Interval { .. } => cover.clone(),
        }
    }

    fn labels(&self, quasi: &QuasiLabels) -> QuasiLabels {
        let name = quasi.name.as_str();
        let labels = quasi.labels.iter().zip(&quasi.covers).map(|(label, cover)| match cover {
            Cover::Leaves(leaves) if leaves.len() == 1 && leaves[0] == *label => self.ours(name, label).to_owned(),
            Cover::Point(_) => self.ours(name, label).to_owned(),
            _ => label.clone(),
        });
        let covers = quasi.labels.iter().zip(&quasi.covers).map(|(label, cover)| self.cover(name, label, cover));
        QuasiLabels { name: quasi.name.clone(), labels: labels.collect(), covers: covers.collect() }
    }

    fn counts(&self, sensitive: &SensitiveCounts, buckets: usize) -> SensitiveCounts {
        let mut values: Vec<String> = Vec::with_capacity(sensitive.values.len());
        let mut places: BTreeMap<&str, u32> = BTreeMap::new();
        let renamed: Vec<u32> = sensitive
            .values
            .iter()
            .map(|value| {
                let ours = self.ours(&sensitive.name, value);
                *places.entry(ours).or_insert_with(|| {
                    values.push(ours.to_owned());
                    values.len() as u32 - 1
                })
            })
            .collect();
        let cells = (0..buckets as u32).flat_map(|bucket| {
            let counts = sensitive.of_bucket(bucket).iter();
            counts.map(move |&(value, count)| (bucket, value, count))
        });
        let cells = cells.map(|(bucket, value, count)| (bucket, renamed[value as usize], count)).collect();
        SensitiveCounts::new(sensitive.name.clone(), values, buckets, cells)
    }
}

impl ReleasedClasses {
    /// The same classes in our texts: values that mean one of ours are counted together.
    pub fn spelled(mut self, spelling: &Spelling) -> ReleasedClasses {
        let buckets = self.buckets();
        for quasi in self.quasi.iter_mut().filter(|quasi| spelling.attributes.contains_key(&quasi.name)) {
            *quasi = spelling.labels(quasi);
        }
        for counts in self.sensitive.iter_mut().filter(|counts| spelling.attributes.contains_key(&counts.name)) {
            *counts = spelling.counts(counts, buckets);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Table;

    use super::*;

    #[test]
    fn texts_that_mean_one_of_ours_are_counted_together() {
        let rows = [["1", "Flu"], ["1", "Grippe"], ["1", "HIV"], ["2", "influenza"]].map(|row| row.to_vec());
        let table = Table::from_texts(&["sex", "disease"], &rows);
        let (quasi, sensitive) = (["sex".to_owned()], ["disease".to_owned()]);
        let cover = |_: &str, label: &str| Cover::Point(Bound::parse(label).unwrap());
        let classes = ReleasedClasses::of_generalized("data", &table, &quasi, &sensitive, cover, "t").unwrap();
        let mut spelling = Spelling::default();
        assert_eq!(classes.clone().spelled(&spelling), classes);
        for (attribute, theirs, ours) in
            [("disease", "Flu", "influenza"), ("disease", "Grippe", "influenza"), ("sex", "1", "F")]
        {
            spelling.add(attribute, theirs, ours);
        }
        let ours = classes.spelled(&spelling);
        let women = (0..2).find(|&class| ours.describe(class) == [("sex", "F")]).unwrap();
        assert!(ours.quasi[0].covers.contains(&Cover::Leaves(vec!["F".to_owned()])));
        let disease = ours.sensitive("disease").unwrap();
        let counted = disease.of_bucket(ours.bucket_of[women]).iter();
        let mut counted: Vec<(&str, u32)> =
            counted.map(|&(value, count)| (disease.values[value as usize].as_str(), count)).collect();
        counted.sort_unstable();
        assert_eq!(counted, [("HIV", 1), ("influenza", 2)]);
        assert_eq!(disease.values.len(), 2);
        assert_eq!(spelling.ours("disease", "asthma"), "asthma");
        assert_eq!(spelling.pairs("disease").count(), 2);
    }
}
