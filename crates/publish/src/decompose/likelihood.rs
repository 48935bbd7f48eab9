//! How likely a bucketized table makes its own rows: those that it tells apart are as likely as their value is in their
//! bucket; those that look alike share what all their buckets say.
//!
//! Which bucket a row is in has nothing to do with where the row stands, so that looking it up is what costs, and the more rows the
//! more. So what is told of the rows that look alike is laid out once in their order ([`Own::lines`]); whatever divides them further is
//! measured from there. A few rows that look alike ask each other's buckets for their own value; where there are many, all buckets are
//! asked at once if rows are dealt to them round and round ([`super::groups::Round`]), and else their values added up.

use super::divergence::sensitive_values;
use super::groups::Round;
use super::partition::Partition;
use super::{Groups, Problem, Subtable};

/// So many rows that look alike ask each other's buckets.
const FEW: usize = 8;

/// What a bucketized table tells, whatever stands beside it.
#[derive(Debug)]
pub struct Own {
    rows: usize,
    /// Of ln of the share that each row's sensitive value has in its bucket.
    sum: f64,
    value_of: Vec<u32>,
    values: usize,
    /// What each value of a row counts that tells none.
    untold: f64,
}

/// What a bucketized table tells of one row.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    group: u32,
    value: u32,
    /// The value's share in the bucket.
    own: f64,
}

impl Own {
    pub fn new(problem: &Problem<'_>, table: &Subtable, groups: &Groups) -> Own {
        let combinations: f64 =
            table.sensitive.iter().map(|attribute| problem.cardinalities[attribute] as f64).product();
        let (value_of, values) = sensitive_values(problem, table.sensitive);
        let untold = groups.of_row.iter().filter(|&&group| group == Groups::NONE).count();
        let mut sum = -(untold as f64) * combinations.ln();
        for group in 0..groups.len() as u32 {
            let size = f64::from(groups.size(group));
            let told = groups.values(group).iter().map(|&(_, count)| f64::from(count));
            sum += told.map(|count| count * (count / size).ln()).sum::<f64>();
        }
        Own { rows: problem.rows, sum, value_of, values, untold: 1.0 / combinations }
    }

    /// What is told of some rows, in their order.
    pub fn lines(&self, groups: &Groups, rows: &[u32]) -> Vec<Line> {
        let line = |&row: &u32| {
            let (group, value) = (groups.of_row[row as usize], self.value_of[row as usize]);
            Line { group, value, own: self.share(groups, group, value) }
        };
        rows.iter().map(line).collect()
    }

    /// Of a value in a bucket.
    fn share(&self, groups: &Groups, group: u32, value: u32) -> f64 {
        if group == Groups::NONE {
            return self.untold;
        }
        match groups.count(group, value) {
            0 => 0.0,
            count => f64::from(count) / f64::from(groups.size(group)),
        }
    }

    /// The mean of −ln of what a bucketized table says of its own rows; `alike` are the places of lines that it does not tell apart.
    pub fn bucket_loss(&self, groups: &Groups, lines: &[Line], alike: &Partition) -> f64 {
        let mut more = Logarithms::default();
        let mut weights = Weights { of_value: vec![0.0; self.values], touched: Vec::new(), groups: Vec::new() };
        for class in alike.classes() {
            if class.len() > FEW {
                match groups.round() {
                    Some(round) => weights.ask(round, lines, class, &mut more),
                    None => weights.add_up(self, groups, lines, class, &mut more),
                }
                continue;
            }
            for &place in class {
                let Line { value, own, .. } = lines[place as usize];
                let others = class.iter().filter(|&&other| other != place);
                let others: f64 = others.map(|&other| self.share(groups, lines[other as usize].group, value)).sum();
                more.add(1.0 + others / own);
            }
        }
        let rows = self.rows as f64;
        rows.ln() - (self.sum + more.sum()) / rows.max(1.0)
    }

    /// The same of a generalised table: within a class all combinations of what its region covers are equally likely, and the
    /// sensitive values as frequent as they are. Regions do not overlap.
    pub fn region_loss(&self, groups: &Groups, volumes: &[f64]) -> f64 {
        let rows = self.rows as f64;
        let class = |&group: &u32| (f64::from(groups.size(group)) / rows).ln() - volumes[group as usize];
        -(self.sum + groups.of_row.iter().map(class).sum::<f64>()) / rows.max(1.0)
    }
}

/// What many buckets say of each value together.
struct Weights {
    of_value: Vec<f64>,
    touched: Vec<u32>,
    groups: Vec<u32>,
}

impl Weights {
    fn ask(&mut self, round: &Round, lines: &[Line], class: &[u32], more: &mut Logarithms) {
        self.groups.clear();
        self.groups.extend(class.iter().map(|&place| lines[place as usize].group));
        self.groups.sort_unstable();
        for &place in class {
            let Line { value, own, .. } = lines[place as usize];
            let weight = &mut self.of_value[value as usize];
            if *weight == 0.0 {
                *weight = round.share(&self.groups, value);
                self.touched.push(value);
            }
            more.add(*weight / own);
        }
        self.touched.drain(..).for_each(|value| self.of_value[value as usize] = 0.0);
    }

    fn add_up(&mut self, own: &Own, groups: &Groups, lines: &[Line], class: &[u32], more: &mut Logarithms) {
        let mut untold = 0.0;
        for &place in class {
            let group = lines[place as usize].group;
            if group == Groups::NONE {
                untold += own.untold;
                continue;
            }
            let size = f64::from(groups.size(group));
            for &(value, count) in groups.values(group) {
                let weight = &mut self.of_value[value as usize];
                if *weight == 0.0 {
                    self.touched.push(value);
                }
                *weight += f64::from(count) / size;
            }
        }
        for &place in class {
            let Line { value, own, .. } = lines[place as usize];
            more.add((self.of_value[value as usize] + untold) / own);
        }
        self.touched.drain(..).for_each(|value| self.of_value[value as usize] = 0.0);
    }
}

/// A sum of logarithms, most of which are taken together.
struct Logarithms {
    sum: f64,
    product: f64,
}

impl Default for Logarithms {
    fn default() -> Logarithms {
        Logarithms { sum: 0.0, product: 1.0 }
    }
}

impl Logarithms {
    /// Of a number that is not less than one, but for rounding.
    fn add(&mut self, number: f64) {
        self.product *= number;
        if self.product > 1e200 {
            self.sum += self.product.ln();
            self.product = 1.0;
        }
    }

    fn sum(&self) -> f64 {
        self.sum + self.product.ln()
    }
}
