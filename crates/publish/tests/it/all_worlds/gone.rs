//! People who are in another release than the newest and not listed: those who left one's own
//! earlier release, and people of others.

use std::collections::BTreeSet;

use super::{Table, Worlds};

impl Worlds<'_> {
    /// For who is in another release alone, by table and bucket that they can have been in: the
    /// values that are left together with the newest release, where the bucket has more.
    pub(crate) fn gone(&self) -> Vec<BTreeSet<usize>> {
        let strong: Vec<usize> = (0..self.tables.len()).filter(|&table| self.strong[table].is_some()).collect();
        let newest = self.tables.len() - 1;
        let Some(group) = self.divided(&strong).into_iter().find(|group| group.contains(&newest)) else {
            return Vec::new();
        };
        let truth: Vec<usize> = self.people.iter().map(|person| self.code(&person[3])).collect();
        let mut found = Vec::new();
        for &table in group.iter().filter(|table| **table != newest) {
            let (of, absent) = (&self.tables[table], self.strong[table].unwrap().absent);
            let here = of.fits.iter().filter(|fits| !fits.is_empty()).count() as u64;
            if of.rows + absent <= here {
                continue;
            }
            let nothing = || vec![BTreeSet::new(); of.counts.len()];
            let (mut left, mut left_in_truth) = (nothing(), nothing());
            let mut rows = Rows::new(of);
            for values in self.every_value(&group) {
                let fits = |&other: &usize| self.fit(other, self.strong[other].unwrap(), &values, None);
                if group.iter().all(fits) {
                    rows.leave(&values, 0, absent, &mut left);
                }
            }
            rows.leave(&truth, 0, absent, &mut left_in_truth);
            for (bucket, (left, in_truth)) in left.into_iter().zip(left_in_truth).enumerate() {
                let all = of.counts[bucket].iter().filter(|rows| **rows > 0).count();
                if left.len() < all && left.intersection(&in_truth).next().is_some() {
                    found.push(left);
                }
            }
        }
        found
    }
}

/// The rows of a table that no person has yet.
struct Rows<'a> {
    table: &'a Table,
    classes: Vec<u64>,
    counts: Vec<Vec<u64>>,
}

impl<'a> Rows<'a> {
    fn new(table: &'a Table) -> Rows<'a> {
        let classes = table.classes.iter().map(|(rows, _)| *rows).collect();
        Rows { table, classes, counts: table.counts.clone() }
    }

    /// Adds, by bucket, the values of the rows that are left in any way to place people.
    fn leave(&mut self, values: &[usize], person: usize, absent: u64, left: &mut [BTreeSet<usize>]) {
        let table = self.table;
        if person == values.len() {
            for (class, _) in table.classes.iter().enumerate().filter(|(class, _)| self.classes[*class] > 0) {
                let bucket = table.classes[class].1;
                let has = self.counts[bucket].iter().enumerate().filter(|(_, rows)| **rows > 0);
                left[bucket].extend(has.map(|(value, _)| value));
            }
            return;
        }
        if table.fits[person].is_empty() {
            return self.leave(values, person + 1, absent, left);
        }
        for &class in &table.fits[person] {
            let bucket = table.classes[class].1;
            let has = self.counts[bucket].get(values[person]).is_some_and(|&rows| rows > 0);
            if has && self.classes[class] > 0 {
                self.classes[class] -= 1;
                self.counts[bucket][values[person]] -= 1;
                self.leave(values, person + 1, absent, left);
                self.classes[class] += 1;
                self.counts[bucket][values[person]] += 1;
            }
        }
        if absent > 0 {
            self.leave(values, person + 1, absent - 1, left);
        }
    }
}
